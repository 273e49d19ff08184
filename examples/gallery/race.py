"""A race found by checked mode

The kernel sums a block's elements in shared memory, and lacks a barrier. Its result is often right. Checked mode of the
virtual GPU names both accesses; with the barrier it finds nothing. The picture is the report.
"""

import os
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PROGRAM = '''
import sys
import numpy as np
import rtcg.autoinit
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

BARRIER = sys.argv[1]
total = SourceModule(f"""
__global__ void total(const int *a, int *sum)
{{
    __shared__ int part[128];
    part[threadIdx.x] = a[threadIdx.x];
    {BARRIER}
    if (threadIdx.x == 0) {{
        int s = 0;
        for (int k = 0; k < 128; ++k) s += part[k];
        *sum = s;
    }}
}}
""").get_function("total")
result = rnp.zeros(1, np.int32)
total(rnp.to_gpu(np.arange(128, dtype=np.int32)), result, block=(128, 1, 1))
print(result.get())
'''


def run_checked(barrier):
    """Run the program in checked mode; the exit code and what it wrote."""
    # On the virtual GPU, also where there is a real one.
    env = {**os.environ, "RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": "1", "RTCG_CHECK": "1"}
    command = [sys.executable, "-c", PROGRAM, barrier]
    result = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    return result.returncode, result.stdout + result.stderr


def main(picture):
    """Run with and without the barrier, and draw the report."""
    _, report = run_checked("")
    assert "race" in report.lower() and "total" in report
    code, clean = run_checked("__syncthreads();")
    assert code == 0 and "race" not in clean.lower() and "8128" in clean
    lines = [line for line in report.splitlines() if line.strip()]
    # From the finding on, and not longer than a picture.
    first = next(i for i, line in enumerate(lines) if "race" in line.lower())
    text = "\n".join(line[:110] for line in lines[first : first + 14])
    figure = plt.figure(figsize=(9, 3))
    figure.text(0.01, 0.97, text, family="monospace", size=8, va="top")
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "race.png")
