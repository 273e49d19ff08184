"""A tuner's search

Blocks of many shapes for a blur, and one to four rows for each thread. `rtcg.tune` tries some, checks that each
computes the right result, and remembers the fastest. The picture has every trial, and the best time so far.
"""

import os
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg import tune

WIDTH, HEIGHT = 300, 200

SOURCE = """
__global__ void blur(float *out, const float *in, int width, int height)
{
    for (int r = 0; r < rows; ++r) {
        int x = blockIdx.x * bx + threadIdx.x, y = (blockIdx.y * by + threadIdx.y) * rows + r;
        if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) continue;
        float sum = 0;
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) sum += in[(y + j) * width + x + i];
        out[y * width + x] = sum / 9;
    }
}
"""


def on_the_host(a):
    """The same with NumPy."""
    shifted = [a[1 + j : HEIGHT - 1 + j, 1 + i : WIDTH - 1 + i] for j in (-1, 0, 1) for i in (-1, 0, 1)]
    return np.pad(sum(shifted) / 9, 1)


def main(picture):
    """Search, run the winner and draw the search."""
    image = np.random.default_rng(0).random((HEIGHT, WIDTH), np.float32)
    arguments = rnp.zeros((HEIGHT, WIDTH), np.float32), rnp.to_gpu(image)
    space = tune.Space(bx=[8, 16, 32, 64], by=[1, 2, 4, 8], rows=[1, 2, 4]).require("bx * by >= 32")
    with tempfile.TemporaryDirectory() as results:
        os.environ["RTCG_TUNING_DIR"] = results
        blur = tune.Kernel(
            SOURCE, "blur", space, block=("bx", "by"), grid=("ceil_div(width, bx)", "ceil_div(height, by * rows)")
        )
        report = blur.tune(*arguments, width=WIDTH, height=HEIGHT, budget="16 evaluations")
        blur(*arguments, width=WIDTH, height=HEIGHT)
    assert np.allclose(arguments[0].get(), on_the_host(image), atol=1e-5)
    assert not report.failures and len({str(trial["config"]) for trial in report.trials}) >= 12
    times_us = np.array([trial["score"] for trial in report.trials]) * 1e6
    numbers = np.arange(1, len(times_us) + 1)
    figure, axes = plt.subplots(figsize=(7, 4))
    axes.plot(numbers, times_us, "o", label="a configuration")
    axes.step(numbers, np.minimum.accumulate(times_us), where="post", label="the best so far")
    axes.set(xlabel="trial", ylabel="us", title=", ".join(f"{name} = {value}" for name, value in report.best.items()))
    axes.legend()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "tuner_search.png")
