"""A tuned matrix product, which ``python -m rtcg tune demo`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rtcg.tune._kernel import Kernel

SOURCE = """
// A block computes a tile of bm x bn; each thread tm x tn elements of it. Tiles of a and b are staged in shared memory.
__global__ void multiply(float *c, const float *a, const float *b, int n)
{
  __shared__ float as[bk][bm + pad], bs[bk][bn + pad];
  const int tx = threadIdx.x, ty = threadIdx.y, threads = (bm / tm) * (bn / tn), thread = ty * (bn / tn) + tx;
  float sums[tm][tn] = {};
  for (int k0 = 0; k0 < n; k0 += bk) {
    for (int i = thread; i < bm * bk; i += threads) {
      const int row = blockIdx.y * bm + i / bk, k = k0 + i % bk;
      as[i % bk][i / bk] = row < n && k < n ? a[row * n + k] : 0;
    }
    for (int i = thread; i < bk * bn; i += threads) {
      const int k = k0 + i / bn, column = blockIdx.x * bn + i % bn;
      bs[i / bn][i % bn] = k < n && column < n ? b[k * n + column] : 0;
    }
    __syncthreads();
    #pragma unroll unroll
    for (int k = 0; k < bk; ++k)
      for (int i = 0; i < tm; ++i)
        for (int j = 0; j < tn; ++j) sums[i][j] += as[k][ty + i * (bm / tm)] * bs[k][tx + j * (bn / tn)];
    __syncthreads();
  }
  for (int i = 0; i < tm; ++i)
    for (int j = 0; j < tn; ++j) {
      const int row = blockIdx.y * bm + ty + i * (bm / tm), column = blockIdx.x * bn + tx + j * (bn / tn);
      if (row < n && column < n) c[row * n + column] = sums[i][j];
    }
}
"""


def product_kernel() -> Kernel:
    """The tuned matrix product of square matrices: ``kernel(c, a, b, n)``."""
    from rtcg import tune

    space = tune.Space(
        bm=[16, 32, 64, 128], bn=[16, 32, 64, 128], bk=[16, 8, 32], tm=[1, 2, 4, 8], tn=[1, 2, 4, 8], pad=[0, 1],
        unroll=[1, 4, 8],
    )  # fmt: skip
    space = space.require(
        "32 <= (bm // tm) * (bn // tn) <= 1024", "bn // tn >= 8", "4 * bk * (bm + bn + 2 * pad) <= 48 * 1024"
    )
    return tune.Kernel(
        SOURCE, "multiply", space, block=("bn // tn", "bm // tm"), grid=("ceil_div(n, bn)", "ceil_div(n, bm)"),
        problem=("n",), default={"bm": 64, "bn": 64, "tm": 4, "tn": 4},
    )  # fmt: skip


def main(size: int, budget: str, picture: str) -> None:
    """Tune the product for matrices with `size` rows, print the report and save the plot."""
    import rtcg.autoinit  # noqa: F401
    import rtcg.numpy as xp
    from rtcg import driver

    kernel = product_kernel()
    print(f"{len(kernel.space.configurations())} configurations, on {driver.Context.get_device().name()}, {budget}")
    random = np.random.default_rng(0)
    a, b = (random.random((size, size), np.float32) for _ in range(2))
    c = xp.zeros((size, size), np.float32)
    report = kernel.tune(
        c, xp.asarray(a), xp.asarray(b), size, budget=budget, verify=lambda c, a, b, n: a @ b, rtol=1e-3,
        flops=2 * size**3, bytes=12 * size**2, progress=True,
    )  # fmt: skip
    print(report)
    print(kernel.explain(c, xp.asarray(a), xp.asarray(b), size))
    try:
        report.plot(picture)
        print(f"the search as a picture: {picture}")
    except ImportError as error:
        print(f"no picture: {error}")
