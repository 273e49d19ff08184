"""What checked mode costs: usual kernels with and without checks, each in a process of its own.

Run `python benches/check_cost.py`; prints a table of milliseconds and factors.
"""

import os
import subprocess
import sys

SOURCE = """
__global__ void saxpy(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.5f * x[i] + y[i];
}
__global__ void matmul(float *c, const float *a, const float *b, int n) {
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
__global__ void reduce(float *out, const float *x, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += x[i];
    s[t] = sum;
    __syncthreads();
    for (int w = 128; w > 0; w /= 2) {
        if (t < w) s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void stencil(float *out, const float *in, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        int i = y * n + x;
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    }
}
__global__ void gather(float *out, const float *in, const int *index, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}
"""


def measure(n_small):
    """Print the milliseconds of each kernel with the checks of the environment."""
    import time

    import numpy as np

    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    module = SourceModule(SOURCE)
    n, side, edge = (1 << 16, 64, 256) if n_small else (1 << 22, 512, 2048)
    x = cuda.to_device(np.ones(n, np.float32))
    y = cuda.to_device(np.ones(n, np.float32))
    index = cuda.to_device(np.random.default_rng(1).permutation(n).astype(np.int32))
    i32 = np.int32
    runs = {
        "saxpy": ((y, x, i32(n)), (n // 256, 1), (256, 1, 1)),
        "matmul": ((y, x, x, i32(side)), (side // 16, side // 16), (16, 16, 1)),
        "reduce": ((y, x, i32(n)), (64, 1), (256, 1, 1)),
        "stencil": ((y, x, i32(edge)), (edge // 32, edge // 8), (32, 8, 1)),
        "gather": ((y, x, index, i32(n)), (n // 256, 1), (256, 1, 1)),
    }
    for name, (args, grid, block) in runs.items():
        function = module.get_function(name)
        times = []
        for _ in range(3 if n_small else 7):
            start = time.perf_counter()
            function(*args, grid=grid, block=block)
            cuda.Context.synchronize()
            times.append(time.perf_counter() - start)
        print(name, min(times) * 1e3)


def table(n_small, settings):
    """Run [`measure`] with each setting and print times and factors."""
    rows = {}
    for checks in settings:
        env = {**os.environ, "RTCG_CHECK": checks}
        env.setdefault("RTCG_VIRTUAL_DEVICES", "1")
        command = [sys.executable, __file__, "small" if n_small else "large"]
        result = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        if result.stderr:
            print(result.stderr, file=sys.stderr)
        for line in result.stdout.splitlines():
            name, ms = line.split()
            rows.setdefault(name, []).append(float(ms))
    print("| kernel | " + " | ".join(settings) + " |")
    print("|---" * (len(settings) + 1) + "|")
    for name, times in rows.items():
        cells = [f"{t:.2f} ms ({t / times[0]:.1f}x)" for t in times]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1] == "small")
    else:
        table(False, ["none", "memory", "memory,init,sync"])
        table(True, ["none", "memory,init,sync", "all"])
