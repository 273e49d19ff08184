"""A sunset of array operations

Twenty operations of arrays, written with NumPy's functions. By itself each is a kernel that reads and writes memory;
under `rtcg.fuse` they are one kernel. The pixels are the same, bit by bit.
"""

import json
import sys
import tempfile
from pathlib import Path

import matplotlib.image
import numpy as np

import rtcg
import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg import tracing

WIDTH, HEIGHT = 480, 320


def sky(x, y):
    """Red, green and blue of the sky at (x, y), as arithmetic of arrays."""
    distance = np.sqrt((x - 0.55) ** 2 + (y - 0.35) ** 2)
    glow = np.exp(-5 * distance)
    sun = np.clip((0.09 - distance) * 120, 0, 1)
    waves = 0.06 * np.sin(90 * y + 7 * np.sin(9 * x)) * np.where(y < 0.3, 1.0, 0.0).astype(np.float32)
    shade = 0.9 - 0.6 * y + waves
    return (np.clip(shade * c + glow * g + sun, 0, 1) for c, g in ((0.65, 0.6), (0.35, 0.4), (0.45, 0.05)))


def traced(function):
    """The result of a function, and how many kernels it launched."""
    function()  # what is compiled and allocated at first is not counted
    with tempfile.TemporaryDirectory() as folder:
        with tracing.trace(Path(folder, "trace.json")):
            result = function()
        events = json.loads(Path(folder, "trace.json").read_text())
    return result, sum("cuLaunchKernel" in event["name"] for event in events if event.get("ph") == "X")


def main(picture):
    """Compute both ways, compare bits and numbers of launches, and save the picture."""
    x, y = rnp.linspace(0, 1, WIDTH, dtype=np.float32), rnp.linspace(1, 0, HEIGHT, dtype=np.float32)[:, None]

    @rtcg.fuse
    def fused():
        return tuple(sky(x, y))

    one_by_one, n_kernels = traced(lambda: tuple(sky(x, y)))
    together, n_fused = traced(fused)
    assert all((a.get() == b.get()).all() for a, b in zip(one_by_one, together, strict=True))
    assert n_fused < n_kernels / 5
    expected = np.stack(list(sky(x.get(), y.get())), -1)
    pixels = np.stack([channel.get() for channel in together], -1)
    assert np.allclose(pixels, expected, atol=1e-4)
    matplotlib.image.imsave(picture, pixels)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "fused_sunset.png")
