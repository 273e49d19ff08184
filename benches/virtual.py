"""The virtual GPU beside NumPy and gcc on the same cores, in one run.

Run it with `make bench`. gcc compiles each C function with -O3 -march=native; times are for one
thread of gcc and NumPy and for all workers of the virtual GPU, as each is normally used.
"""

import ctypes
import os
import tempfile
import time

import numpy as np
from common import attempt, build_c, in_new_process, median_ms, per_call_us, show

os.environ.setdefault("PYCUDA_CACHE_DIR", tempfile.mkdtemp(prefix="rtcg-bench-cache-"))

import pycuda.driver as drv  # noqa: E402
from pycuda.compiler import SourceModule  # noqa: E402

N = 1 << 20

KERNELS = r"""
__global__ void saxpy(float *z, const float *x, const float *y, float a, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = a * x[i] + y[i]; }

__global__ void lin_comb(float *z, const float *x, const float *y, float a, float b, int n)
{ for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = a * x[i] + b * y[i]; }

__global__ void el_sin(float *z, const float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = sinf(x[i]); }

__global__ void el_exp(float *z, const float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = expf(x[i]); }

__global__ void mm_naive(float *c, const float *a, const float *b, int n)
{
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

__global__ void mm_tiled(float *c, const float *a, const float *b, int n)
{
  __shared__ float as[32][32], bs[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

__global__ void reduce_shared(float *out, const float *in)
{
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  s[t] = in[i] + in[i + 256];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void transpose_tiled(float *out, const float *in, int n)
{
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void mandel(int *out, int n, int limit)
{
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n, x = 0, y = 0;
  int it = 0;
  while (it < limit && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; it++; }
  out[py * n + px] = it;
}

__global__ void stencil(float *out, const float *in, int n)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = in[y * n + x];
  if (x > 0) sum += in[y * n + x - 1];
  if (x < n - 1) sum += in[y * n + x + 1];
  if (y > 0) sum += in[(y - 1) * n + x];
  if (y < n - 1) sum += in[(y + 1) * n + x];
  out[y * n + x] = 0.2f * sum;
}
"""

C_TWINS = r"""
#include <math.h>
void saxpy(float *restrict z, const float *x, const float *y, float a, int n) { for (int i = 0; i < n; i++) z[i] = a * x[i] + y[i]; }
void lin_comb(float *restrict z, const float *x, const float *y, float a, float b, int n) { for (int i = 0; i < n; i++) z[i] = a * x[i] + b * y[i]; }
void el_sin(float *restrict z, const float *x, int n) { for (int i = 0; i < n; i++) z[i] = sinf(x[i]); }
void el_exp(float *restrict z, const float *x, int n) { for (int i = 0; i < n; i++) z[i] = expf(x[i]); }
void mm_naive(float *restrict c, const float *a, const float *b, int n)
{ for (int r = 0; r < n; r++) for (int q = 0; q < n; q++) { float s = 0; for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + q]; c[r * n + q] = s; } }
void mandel(int *out, int n, int limit)
{
  for (int py = 0; py < n; py++) for (int px = 0; px < n; px++) {
    float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n, x = 0, y = 0; int it = 0;
    while (it < limit && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; it++; }
    out[py * n + px] = it;
  }
}
"""

FIRST_RESULT = """
import time; start = time.perf_counter()
import numpy as np, pycuda.autoinit, pycuda.driver as drv
from pycuda.compiler import SourceModule
a = np.arange(1000, dtype=np.float32)
ready = time.perf_counter()
f = SourceModule("__global__ void twice(float *a) { a[threadIdx.x + blockIdx.x * blockDim.x] *= 2; } // " + str(start), cache_dir=False).get_function("twice")
f(drv.InOut(a), block=(250, 1, 1), grid=(4, 1))
assert a[999] == 1998
print((time.perf_counter() - %s) * 1e3)
"""


def best_seconds(action, rounds=7):
    """Shortest time of `action()`; the others were disturbed by something."""
    action()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


class Twin:
    """The C functions by name, or nothing when there is no C compiler."""

    def __init__(self):
        path = build_c(C_TWINS, "-march=native")
        self.library = ctypes.CDLL(str(path)) if path else None

    def seconds(self, name, *args):
        function = getattr(self.library, name)
        return best_seconds(lambda: function(*args))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def rates(module, twin):
    rng = np.random.default_rng(0)
    x, y = rng.random(N, np.float32), rng.random(N, np.float32)
    z = np.empty_like(x)
    dx, dy, dz = drv.to_device(x), drv.to_device(y), drv.mem_alloc(4 * N)
    n, a, b = np.int32(N), np.float32(3), np.float32(5)
    cf = ctypes.c_float

    def run(name, *args, grid, block=(256, 1, 1)):
        function = module.get_function(name)

        def once():
            function(*args, grid=grid, block=block)
            drv.Context.synchronize()

        return best_seconds(once)

    def rate(work, seconds):
        return work / seconds / 1e9

    full = (N // 256, 1)
    side = np.int32(512)
    square, mm_work, big = (32, 32, 1), 2 * 512**3, np.int32(1024)
    a2, b2, c2 = (v[: 512 * 512].reshape(512, 512) for v in (x, y, z))
    entries = [
        ("saxpy, 2^20", "Gel/s", N, run("saxpy", dz, dx, dy, a, n, grid=full),
         lambda: best_seconds(lambda: np.add(a * x, y, out=z)), lambda: twin.seconds("saxpy", pointer(z), pointer(x), pointer(y), cf(3), N)),
        ("a*x+b*y, grid stride 64 x 256", "Gel/s", N, run("lin_comb", dz, dx, dy, a, b, n, grid=(64, 1)),
         lambda: best_seconds(lambda: np.add(a * x, b * y, out=z)), lambda: twin.seconds("lin_comb", pointer(z), pointer(x), pointer(y), cf(3), cf(5), N)),
        ("sin", "Gel/s", N, run("el_sin", dz, dx, n, grid=full),
         lambda: best_seconds(lambda: np.sin(x, out=z)), lambda: twin.seconds("el_sin", pointer(z), pointer(x), N)),
        ("exp", "Gel/s", N, run("el_exp", dz, dx, n, grid=full),
         lambda: best_seconds(lambda: np.exp(x, out=z)), lambda: twin.seconds("el_exp", pointer(z), pointer(x), N)),
        ("naive matrix product 512^3", "GF/s", mm_work, run("mm_naive", dz, dx, dy, side, grid=(32, 32), block=(16, 16, 1)),
         lambda: best_seconds(lambda: np.matmul(a2, b2, out=c2)), lambda: twin.seconds("mm_naive", pointer(z), pointer(x), pointer(y), 512)),
        ("tiled matrix product 512^3", "GF/s", mm_work, run("mm_tiled", dz, dx, dy, side, grid=(16, 16), block=square),
         lambda: best_seconds(lambda: np.matmul(a2, b2, out=c2)), lambda: twin.seconds("mm_naive", pointer(z), pointer(x), pointer(y), 512)),
        ("shared-memory tree reduction", "Gel/s", N, run("reduce_shared", dz, dx, grid=(N // 512, 1)),
         lambda: best_seconds(x.sum), None),
        ("tiled transpose 1024^2", "Gel/s", N, run("transpose_tiled", dz, dx, big, grid=(32, 32), block=(32, 8, 1)),
         lambda: best_seconds(lambda: np.copyto(z.reshape(1024, 1024), x.reshape(1024, 1024).T)), None),
        ("Mandelbrot 512^2, 256 iterations", "Gpixel/s", 512 * 512, run("mandel", dz, side, np.int32(256), grid=(32, 32), block=(16, 16, 1)),
         None, lambda: twin.seconds("mandel", pointer(z), 512, 256)),
        ("5-point stencil 1024^2", "Gel/s", N, run("stencil", dz, dx, big, grid=(32, 128), block=(32, 8, 1)), None, None),
    ]  # fmt: skip
    print(f"\n{'kernel':<34} {'unit':<16} {'virtual':>9} {'NumPy':>9} {'gcc 1t':>9}")
    for name, unit, work, ours, numpy_seconds, gcc_seconds in entries:
        cells = [f"{rate(work, ours):9.3f}"]
        for peer in (numpy_seconds, gcc_seconds):
            figure = attempt(name, lambda work=work, peer=peer: rate(work, peer())) if peer else "-"
            cells.append(f"{figure:9.3f}" if isinstance(figure, float) else f"{figure:>9}")
        print(f"{name:<34} {unit:<16} " + " ".join(cells))


def latencies():
    empty = SourceModule("__global__ void empty() {}").get_function("empty").prepare("")
    block, grid = (256, 1, 1), (1, 1)
    fresh = lambda number: f"__global__ void f(float *z) {{ z[threadIdx.x] = {number + 0.5}f + {os.getpid()}; }}"  # noqa: E731
    buffer = drv.mem_alloc(4096)

    def compile_and_run(number):
        SourceModule(fresh(number), cache_dir=False).get_function("f")(buffer, block=(32, 1, 1))
        drv.Context.synchronize()

    def gcc(number):
        assert build_c(f"void f(float *z) {{ for (int i = 0; i < 32; i++) z[i] = {number}.5f + {os.getpid()}; }}")

    show(
        "Latencies",
        [
            (
                "prepared launch of one empty block",
                per_call_us(lambda: empty.prepared_call(grid, block), drv.Context.synchronize),
                "us",
            ),
            ("source -> result, fresh kernel, this process", median_ms(compile_and_run), "ms"),
            ("the same by gcc -O3 -shared (compile only)", attempt("gcc", lambda: median_ms(gcc)), "ms"),
            ("source -> result in a new process, after import", in_new_process(FIRST_RESULT % "ready"), "ms"),
            ("import pycuda.autoinit to first result in a new process", in_new_process(FIRST_RESULT % "start"), "ms"),
        ],
    )


def main():
    import pycuda.autoinit

    print(f"device: {pycuda.autoinit.device.name()}, NumPy {np.__version__}")
    latencies()
    rates(SourceModule(KERNELS), Twin())


if __name__ == "__main__":
    main()
