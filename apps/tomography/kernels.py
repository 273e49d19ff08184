"""CUDA C of tomographic backprojection. Sizes and views per stage are literals of the source.

One block makes a tile of the image, one thread `items` pixels of a column. Views come in stages: what a view needs is
prepared in shared memory, then every thread adds the stage's views to its pixels, interpolated linearly:

slopes     value and slope of each bin that a tile needs, in shared memory
shared     values in shared memory
global     values where they are
filtered   by the texture units, whose weights have 8 fractional bits
"""

import math

from rtcg import template, tune

FETCHES = ("slopes", "shared", "global", "filtered")

TEXT = """
enum { WIDTH = {{ width }}, HEIGHT = {{ height }}, BINS = {{ bins }}, VIEWS = {{ views }} };
enum { BX = {{ bx }}, BY = {{ by }}, ITEMS = {{ items }}, STAGE = {{ stage }}, THREADS = BX * BY };
enum { ROWS = BY * ITEMS, WINDOW = {{ window }} };  // rows of a tile; bins that it may need, of one view
#define AXIS_X {{ axis[0]|literal('float64') }}     // the pixel of the rotation's axis, and its bin
#define AXIS_Y {{ axis[1]|literal('float64') }}
#define MIDDLE {{ middle|literal('float64') }}
#define MAGIC 12582912.0f                           // 1.5 * 2^23: sums with it have no fraction
{% set windowed = fetch in ["slopes", "shared"] %}

struct View {
  float bin0, cosine, sine;
  int first_bin;
};

// Where a view's bins are for a tile whose first pixel is (x, y), counted from the axis, y upwards.
__device__ View prepare(double2 direction, double x, double y)
{
  const double c = direction.x, s = direction.y, bin = MIDDLE + x * c + y * s;
  View view;
  view.first_bin = (int)floor(bin + fmin(0.0, c * (BX - 1)) + fmin(0.0, -s * (ROWS - 1))) - 1;
  view.bin0 = bin - view.first_bin, view.cosine = c, view.sine = s;
  return view;
}

__global__ __launch_bounds__(THREADS) void backproject(
  float *image, const float *__restrict__ data, cudaTextureObject_t texture, const double2 *__restrict__ directions)
{
  __shared__ View stage[STAGE];
{% if windowed %}
  __shared__ {{ "float2" if fetch == "slopes" else "float" }} windows[STAGE][WINDOW];
{% endif %}
  const int thread = threadIdx.y * BX + threadIdx.x;
  const int column = blockIdx.x * BX + threadIdx.x, row = (blockIdx.y * BY + threadIdx.y) * ITEMS;
  const double tile_x = (int)(blockIdx.x * BX) - AXIS_X, tile_y = AXIS_Y - (int)(blockIdx.y * ROWS);
  float total[ITEMS] = {};
  for (int first = 0; first < VIEWS; first += STAGE) {
    const int count = min(STAGE, VIEWS - first);
    __syncthreads();
    for (int v = thread; v < count; v += THREADS) stage[v] = prepare(directions[first + v], tile_x, tile_y);
    __syncthreads();
{% if windowed %}
    for (int v = thread / 32; v < count; v += THREADS / 32) {
      const float *from = data + (size_t)(first + v) * BINS;
      for (int k = thread % 32; k < WINDOW; k += 32) {
        const unsigned bin = stage[v].first_bin + k;
        const float here = bin < BINS ? from[bin] : 0.0f;
{% if fetch == "slopes" %}
        windows[v][k] = make_float2(here, (bin + 1 < BINS ? from[bin + 1] : 0.0f) - here);
{% else %}
        windows[v][k] = here;
{% endif %}
      }
    }
    __syncthreads();
{% endif %}
    if (column < WIDTH && row < HEIGHT)
      for (int v = 0; v < count; ++v) {
        const View view = stage[v];
        const float bin0 = view.bin0 + (int)threadIdx.x * view.cosine - (int)threadIdx.y * ITEMS * view.sine;
{% if windowed %}
        const auto *samples = windows[v];
{% elif fetch == "global" %}
        const float *samples = data + (size_t)(first + v) * BINS + view.first_bin;
{% else %}
        const float at_bin = view.first_bin + 0.5f, at_view = first + v + 0.5f;
{% endif %}
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
{% if height % items %}
          if (row + i >= HEIGHT) break;
{% endif %}
          const float bin = bin0 - i * view.sine;
{% if fetch == "filtered" %}
          total[i] += tex2D<float>(texture, at_bin + bin, at_view);
{% else %}
          const float shifted = __fadd_rd(bin, MAGIC), weight = bin - (shifted - MAGIC);
          const int n = __float_as_int(shifted) - __float_as_int(MAGIC);
{% if fetch == "slopes" %}
          const float2 both = samples[n];
          total[i] += both.x + weight * both.y;
{% else %}
          total[i] += samples[n] + weight * (samples[n + 1] - samples[n]);
{% endif %}
{% endif %}
        }
      }
  }
  if (column < WIDTH)
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (row + i < HEIGHT) image[(size_t)(row + i) * WIDTH + column] = total[i] * {{ scale|literal('float32') }};
}
"""

_TEMPLATE = template.Template(TEXT, "tomography.cu.j2")


def _window(config):
    return math.ceil(math.hypot(config["bx"], config["by"] * config["items"])) + 5


def _fits(config):
    words = {"slopes": 2, "shared": 1}.get(config["fetch"], 0)
    return config["stage"] * (4 * words * _window(config) + 16) <= 48 << 10


def _space(fetches):
    return tune.Space(
        bx=[32, 16, 64], by=[8, 4, 16, 2], items=[4, 8, 2, 1, 16], stage=[32, 8, 16, 64, 128], fetch=fetches,
    ).require("64 <= bx * by <= 512", _fits)  # fmt: skip


SPACE = _space(["slopes", "shared", "global"])
"""What is tuned: tile, pixels of a thread, views of a stage, where samples come from."""
FILTERED_SPACE = _space(["filtered"])
"""The same for the texture units, whose images differ by their weights."""


def source(problem, **config):
    """The source of a configuration, with the literals of a problem."""
    return _TEMPLATE.render(window=_window(config), **problem, **config)
