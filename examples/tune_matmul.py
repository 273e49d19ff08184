"""Multiply matrices of any size with a template that is tuned per device and per shape.

The template has what a matrix product can vary: the size of the tiles and the work of a thread (granularity),
unrolling, prefetching of the next tile into registers, and a bound on registers, beyond which they spill. The program
tunes it for three shapes, each compared with NumPy's product, and prints what each winner needs: registers, spilled
bytes, occupancy, time. Then every shape runs with its own configuration, found by itself.

    python examples/tune_matmul.py "20 s"        # the budget of each shape
"""

import sys

import numpy as np

import rtcg.numpy as xp
from rtcg import template, tune

TEXT = """
// One block computes a tile of TILE x TILE * WORK elements; a thread has WORK of them, one below the other.
__global__ void
{% if blocks %}__launch_bounds__({{ tile * tile }}, {{ blocks }}){% endif %}

matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
  __shared__ float a_tile[{{ tile * work }}][{{ tile }} + {{ pad }}];
  __shared__ float b_tile[{{ tile }}][{{ tile }}];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * {{ tile }} + tx, first_row = blockIdx.y * {{ tile * work }};
  float sum[{{ work }}] = {};
{% if prefetch %}
  float a_next[{{ work }}], b_next;
{% endif %}
{% macro load(start, to_a, to_b) %}
{% for w in range(work) %}
  {
    const int row = first_row + {{ w * tile }} + ty, place = {{ start }} + tx;
    {{ to_a(w) }} = row < m && place < k ? a[row * k + place] : 0.0f;
  }
{% endfor %}
  {
    const int row = {{ start }} + ty;
    {{ to_b() }} = row < k && column < n ? b[row * n + column] : 0.0f;
  }
{% endmacro %}
{% macro register_of_a(w) %}a_next[{{ w }}]{% endmacro %}
{% macro register_of_b() %}b_next{% endmacro %}
{% macro tile_of_a(w) %}a_tile[{{ w * tile }} + ty][tx]{% endmacro %}
{% macro tile_of_b() %}b_tile[ty][tx]{% endmacro %}
{% if prefetch %}
{{ load("0", register_of_a, register_of_b) }}
{% endif %}
  for (int start = 0; start < k; start += {{ tile }}) {
{% if prefetch %}
{% for w in range(work) %}
    {{ tile_of_a(w) }} = a_next[{{ w }}];
{% endfor %}
    {{ tile_of_b() }} = b_next;
    __syncthreads();
{{ load("start + " ~ tile, register_of_a, register_of_b) }}
{% else %}
{{ load("start", tile_of_a, tile_of_b) }}
    __syncthreads();
{% endif %}
#pragma unroll {{ unroll }}
    for (int i = 0; i < {{ tile }}; ++i) {
{% for w in range(work) %}
      sum[{{ w }}] += a_tile[{{ w * tile }} + ty][i] * b_tile[i][tx];
{% endfor %}
    }
    __syncthreads();
  }
{% for w in range(work) %}
  {
    const int row = first_row + {{ w * tile }} + ty;
    if (row < m && column < n) c[row * n + column] = sum[{{ w }}];
  }
{% endfor %}
}
"""

SPACE = tune.Space(
    tile=[16, 8, 32], work=[1, 2, 4, 8], unroll=[1, 4, 16], prefetch=[False, True], pad=[0, 1], blocks=[0, 2, 8]
).require("unroll <= tile", "tile * tile * max(blocks, 1) <= 2048")


def make_kernel(**options):
    """The tuned kernel: its problem is the shape, so that each shape has a result of its own."""
    return tune.Kernel(
        template.Template(TEXT), "matmul", SPACE, block=("tile", "tile"),
        grid=("ceil_div(n, tile)", "ceil_div(m, tile * work)"), problem=("m", "n", "k"), **options,
    )  # fmt: skip


def make_operands(m, n, k):
    """Two matrices on the device and room for their product."""
    random = np.random.default_rng(m + n + k)
    a, b = random.random((m, k), np.float32), random.random((k, n), np.float32)
    return xp.asarray(a), xp.asarray(b), xp.zeros((m, n), np.float32)


def product(a, b, c, m, n, k):
    """What the kernel should write."""
    return (a.astype(np.float64) @ b).astype(np.float32)


def tune_shape(kernel, shape, **options):
    """Tune for a shape; candidates whose occupancy is below half of the best one seen are not timed."""
    a, b, c = make_operands(*shape)
    m, n, k = shape
    return kernel.tune(
        a, b, c, *shape, verify=product, flops=2 * m * n * k, bytes=4 * (m * k + k * n + m * n), occupancy_slack=0.5,
        **options,
    )  # fmt: skip


def describe(report):
    """What the best configuration is and needs."""
    best = report.best_trial
    return {
        "configuration": report.best, "registers": best["registers"], "spilled bytes": best["spill_bytes"],
        "occupancy": best["occupancy"], "seconds": best["score"], "speedup": report.speedup,
    }  # fmt: skip


def main(budget="5 s", shapes=((256, 256, 256), (500, 40, 300), (32, 1000, 64))):
    kernel = make_kernel()
    for shape in shapes:
        report = tune_shape(kernel, shape, budget=budget, progress=False)
        print(f"{shape}:", *(f"{name}: {value}" for name, value in describe(report).items()), sep="\n  ")
        a, b, c = make_operands(*shape)
        kernel(a, b, c, *shape)
        assert np.allclose(c.get(), product(a.get(), b.get(), None, *shape), rtol=1e-4)
        print("  " + kernel.explain(a, b, c, *shape))


if __name__ == "__main__":
    import rtcg.autoinit  # noqa: F401

    main(*sys.argv[1:])
