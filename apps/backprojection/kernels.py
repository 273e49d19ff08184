"""CUDA C of radar backprojection. Sizes, bin spacing, carrier and pulses per stage are literals of the source.

One block makes a tile of the image, one thread `items` pixels of a column. Pulses come in stages: what a pulse needs is
prepared in shared memory, then every thread adds the stage's pulses to its pixels. The range of a pixel is needed to a
small part of a wavelength, at tens of kilometres; the methods differ in how they get it:

double        all of it in float64; a third-order step makes the square root from one in float32
mixed         range in float64, with a square root in float32 and a Newton step; phase and place among the bins as
              integers; the rest in float32
float-float   range as the sum of two float32
taylor        polynomial of second order about the middle of the tile, made in float64; phase in float32
fixed         the same; the phase is an integer, in units of 2^-32 cycles, that wraps around as phases do
float         all of it in float32: too coarse, as its error shows
"""

import math

from rtcg import template, tune

METHODS = ("double", "mixed", "float-float", "taylor", "fixed", "float")
FETCHES = ("global", "shared", "slopes", "texture", "filtered")
PHASES = ("fast", "exact", "table")

TEXT = """
enum { WIDTH = {{ width }}, HEIGHT = {{ height }}, BINS = {{ bins }}, PULSES = {{ pulses }} };
enum { BX = {{ bx }}, BY = {{ by }}, ITEMS = {{ items }}, STAGE = {{ stage }}, THREADS = BX * BY };
enum { WINDOW = {{ window }} };                  // bins that the pixels of a tile may need, of one pulse
#define DX {{ dx|literal('float64') }}           // pixel spacing, metres
#define DY {{ dy|literal('float64') }}
#define X0 {{ x0|literal('float64') }}           // pixel (0, 0), metres
#define Y0 {{ y0|literal('float64') }}
#define CYCLES {{ cycles|literal('float64') }}   // of phase for a metre of range
#define BINS_OF_METRE {{ bins_of_metre|literal('float64') }}
#define MIDDLE {{ (bins // 2)|literal('float64') }}            // the bin of range 0, that of the scene's centre
#define MAGIC 12582912.0f                        // 1.5 * 2^23: sums with it have no fraction
#define BIN_MAGIC {{ (1.5 * 2**(52 - bin_bits))|literal('float64') }}
{% set integers = method in ["fixed", "mixed"] %}
{% set polynomial = method in ["taylor", "fixed"] %}
{% set real = "double" if method == "double" else "float" %}
{% set windowed = fetch in ["shared", "slopes"] %}
{% set relative = polynomial or method == "mixed" %}   {# bins are counted from the first that a tile needs #}

struct Pulse {
{% if method in ["double", "mixed"] %}
  double x, y, z, r0{{ ", bin_magic" if method == "mixed" }};
{% elif method == "float" %}
  float x, y, z, r0;
{% elif method == "float-float" %}
  float2 x, y, z, r0;
{% else %}
  float bin0, bin_x, bin_y, bin_xx, bin_xy, bin_yy;
  {{ "unsigned" if method == "fixed" else "float" }} turn0, turn_x, turn_y, turn_xx, turn_xy, turn_yy;
{% endif %}
  int first_bin;
};

{% if method == "float-float" %}
__device__ __forceinline__ float2 pair(double x)
{
  const float high = (float)x;
  return make_float2(high, (float)(x - high));
}

__device__ __forceinline__ float2 quick_sum(float a, float b)  // |a| >= |b|
{
  const float s = __fadd_rn(a, b);
  return make_float2(s, __fsub_rn(b, __fsub_rn(s, a)));
}

__device__ __forceinline__ float2 sum(float a, float b)
{
  const float s = __fadd_rn(a, b), c = __fsub_rn(s, a);
  return make_float2(s, __fadd_rn(__fsub_rn(a, __fsub_rn(s, c)), __fsub_rn(b, c)));
}

__device__ __forceinline__ float2 add(float2 a, float2 b)
{
  const float2 s = sum(a.x, b.x);
  return quick_sum(s.x, __fadd_rn(s.y, __fadd_rn(a.y, b.y)));
}

__device__ __forceinline__ float2 square(float2 a)
{
  const float p = __fmul_rn(a.x, a.x);
  return quick_sum(p, __fmaf_rn(2.0f * a.x, a.y, __fmaf_rn(a.x, a.x, -p)));
}
{% endif %}
{% if method == "fixed" %}

// Cycles without their whole part, in units of 2^-32.
__device__ unsigned fixed_point(double cycles)
{
  return (unsigned)(long long)rint((cycles - rint(cycles)) * 4294967296.0);
}
{% endif %}

// What a pulse needs for a tile whose middle is (x, y).
__device__ Pulse prepare(const double *position, double x, double y)
{
  Pulse pulse;
  const double px = position[0], py = position[1], pz = position[2];
  const double r0 = sqrt(px * px + py * py + pz * pz);
{% if relative or windowed %}
  const double ux = x - px, uy = y - py, r = sqrt(ux * ux + uy * uy + pz * pz);
  const double bin = (r - r0) * BINS_OF_METRE + MIDDLE;
  pulse.first_bin = (int)floor(bin - {{ reach|literal('float64') }}) - 1;
{% else %}
  pulse.first_bin = 0;
{% endif %}
{% if method in ["double", "mixed", "float"] %}
  pulse.x = px, pulse.y = py, pulse.z = pz, pulse.r0 = r0;
{% if method == "mixed" %}
  pulse.bin_magic = BIN_MAGIC + (MIDDLE - pulse.first_bin);
{% endif %}
{% elif method == "float-float" %}
  pulse.x = pair(px), pulse.y = pair(py), pulse.z = pair(pz), pulse.r0 = pair(r0);
{% else %}
  const double gx = ux / r * DX, gy = uy / r * DY;
  const double hxx = (1 - ux * ux / (r * r)) / r * (DX * DX / 2), hxy = -ux * uy / (r * r) / r * (DX * DY);
  const double hyy = (1 - uy * uy / (r * r)) / r * (DY * DY / 2);
  pulse.bin0 = bin - pulse.first_bin;
  pulse.bin_x = gx * BINS_OF_METRE, pulse.bin_y = gy * BINS_OF_METRE;
  pulse.bin_xx = hxx * BINS_OF_METRE, pulse.bin_xy = hxy * BINS_OF_METRE, pulse.bin_yy = hyy * BINS_OF_METRE;
  const double turn = (r - r0) * CYCLES;
{% if method == "taylor" %}
  pulse.turn0 = turn - rint(turn);
  pulse.turn_x = gx * CYCLES, pulse.turn_y = gy * CYCLES;
  pulse.turn_xx = hxx * CYCLES, pulse.turn_xy = hxy * CYCLES, pulse.turn_yy = hyy * CYCLES;
{% else %}
  // About the tile's first pixel, so that offsets are integers; half a cycle more, as `cycles_of` expects.
  const double mx = (BX - 1) / 2.0, my = (BY * ITEMS - 1) / 2.0;
  const double to_first = hxx * mx * mx + hxy * mx * my + hyy * my * my - gx * mx - gy * my;
  pulse.turn0 = fixed_point(turn + CYCLES * to_first) + 0x80000000u;
  pulse.turn_x = fixed_point(CYCLES * (gx - 2 * hxx * mx - hxy * my));
  pulse.turn_y = fixed_point(CYCLES * (gy - 2 * hyy * my - hxy * mx));
  pulse.turn_xx = fixed_point(CYCLES * hxx), pulse.turn_xy = fixed_point(CYCLES * hxy);
  pulse.turn_yy = fixed_point(CYCLES * hyy);
{% endif %}
{% endif %}
  return pulse;
}
{% if integers %}

// A phase in units of 2^-32 cycles as 1 to 2 cycles; it is half a cycle ahead, so that 1.5 less are in [-0.5, 0.5).
__device__ __forceinline__ float cycles_of(unsigned phase) { return __uint_as_float(phase >> 9 | 0x3f800000u); }
{% endif %}

__global__ __launch_bounds__(THREADS) void backproject(
  {{ real }}2 *image, const float2 *__restrict__ data, cudaTextureObject_t texture,
  const double *__restrict__ positions)
{
  __shared__ Pulse stage[STAGE];
  const int thread = threadIdx.y * BX + threadIdx.x;
  const int column = blockIdx.x * BX + threadIdx.x, row = (blockIdx.y * BY + threadIdx.y) * ITEMS;
  const double tile_x = X0 + (blockIdx.x * BX + (BX - 1) / 2.0) * DX;
  const double tile_y = Y0 + (blockIdx.y * (BY * ITEMS) + (BY * ITEMS - 1) / 2.0) * DY;
{% if windowed %}
  __shared__ {{ "float4" if fetch == "slopes" else "float2" }} windows[STAGE][WINDOW];
{% endif %}
{% if phase == "table" and method != "double" %}
  __shared__ float2 table[{{ table }}];
  for (int i = thread; i < {{ table }}; i += THREADS) sincospif(2.0f * i / {{ table }}, &table[i].y, &table[i].x);
{% endif %}
{% if method in ["double", "mixed"] %}
  const double x = X0 + column * DX, y = Y0 + row * DY;
{% elif method == "float" %}
  const float x = (float)X0 + column * (float)DX, y = (float)Y0 + row * (float)DY;
{% elif method == "float-float" %}
  const float2 x = pair(X0 + column * DX);
  float2 y[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) y[i] = pair(Y0 + (row + i) * DY);
{% else %}
  const float x = (int)threadIdx.x - (BX - 1) / 2.0f, y = (int)threadIdx.y * ITEMS - (BY * ITEMS - 1) / 2.0f;
{% endif %}
  {{ real }}2 total[ITEMS] = {};
  for (int first = 0; first < PULSES; first += STAGE) {
    const int count = min(STAGE, PULSES - first);
    __syncthreads();
    for (int p = thread; p < count; p += THREADS) stage[p] = prepare(positions + 3 * (first + p), tile_x, tile_y);
    __syncthreads();
{% if windowed %}
    for (int p = thread / 32; p < count; p += THREADS / 32) {
      const float2 *from = data + (size_t)(first + p) * BINS, zero = make_float2(0.0f, 0.0f);
      for (int k = thread % 32; k < WINDOW; k += 32) {
        const unsigned bin = stage[p].first_bin + k;
        const float2 here = bin < BINS ? from[bin] : zero;
{% if fetch == "slopes" %}
        const float2 next = bin + 1 < BINS ? from[bin + 1] : zero;
        windows[p][k] = make_float4(here.x, here.y, next.x - here.x, next.y - here.y);
{% else %}
        windows[p][k] = here;
{% endif %}
      }
    }
    __syncthreads();
{% endif %}
    if (column < WIDTH && row < HEIGHT)
      for (int p = 0; p < count; ++p) {
        const Pulse pulse = stage[p];
{% if fetch == "global" %}
        const float2 *samples = data + (size_t)(first + p) * BINS{{ " + pulse.first_bin" if relative }};
{% elif windowed %}
        const auto *samples = windows[p];
{% endif %}
{% if method in ["double", "mixed", "float"] %}
        const auto dx = x - pulse.x, dy0 = y - pulse.y, across = dx * dx + pulse.z * pulse.z;
{% elif method == "float-float" %}
        const float2 across = add(square(add(x, make_float2(-pulse.x.x, -pulse.x.y))), square(pulse.z));
{% else %}
        const float bin_1 = pulse.bin_y + x * pulse.bin_xy, bin_first_1 = bin_1 + 2.0f * y * pulse.bin_yy;
        const float bin_first_0 = pulse.bin0 + x * (pulse.bin_x + x * pulse.bin_xx) + y * (bin_1 + y * pulse.bin_yy);
{% if method == "taylor" %}
        const float turn_0 = pulse.turn0 + x * (pulse.turn_x + x * pulse.turn_xx);
        const float turn_1 = pulse.turn_y + x * pulse.turn_xy;
{% else %}
        const unsigned ix = threadIdx.x, iy = threadIdx.y * ITEMS;
        const unsigned step_0 = pulse.turn_y + ix * pulse.turn_xy;
        unsigned phase = pulse.turn0 + ix * (pulse.turn_x + ix * pulse.turn_xx) + iy * (step_0 + iy * pulse.turn_yy);
        unsigned step = step_0 + (2 * iy + 1) * pulse.turn_yy;
{% endif %}
{% endif %}
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
{% if height % items %}
          if (row + i >= HEIGHT) break;
{% endif %}
          // The place among the bins: a whole number n and a weight in [0, 1); the phase in cycles, in [-0.5, 0.5].
{% if method == "double" %}
          const double dy = dy0 + i * DY, square = across + dy * dy, inverse = rsqrtf((float)square);
          const double root = square * inverse, error = 1.0 - root * inverse;
          const double delta = root + root * error * (0.5 + 0.375 * error) - pulse.r0;
          const double bin = delta * BINS_OF_METRE + MIDDLE, shifted = __dadd_rd(bin, 6755399441055744.0);
          const double weight = bin - (shifted - 6755399441055744.0);
          const int n = __double2loint(shifted){{ " - pulse.first_bin" if windowed }};
          double c, s;
          sincospi(delta * (2 * CYCLES), &s, &c);
{% else %}
{% if method == "mixed" %}
          const double dy = dy0 + i * DY, square = across + dy * dy;
          const float inverse = rsqrtf((float)square);
          const double root = (float)square * inverse;
          const double delta = (square - root * root) * (double)(0.5f * inverse) + (root - pulse.r0);
          // Low words of sums with 1.5 * 2^(52 - k) are numbers with k bits of fraction.
          const unsigned at = __double2loint(delta * BINS_OF_METRE + pulse.bin_magic);
          const float weight = __uint_as_float(at << {{ 32 - bin_bits }} >> 9 | 0x3f800000u) - 1.0f;
          const int n = (int)(at >> {{ bin_bits }});
          const float ahead = cycles_of(__double2loint(delta * CYCLES + (1572864.0 + 0.5)));
{% elif method == "float-float" %}
          const float2 square_of_range = add(across, square(add(y[i], make_float2(-pulse.y.x, -pulse.y.y))));
          const float inverse = rsqrtf(square_of_range.x), root = __fmul_rn(square_of_range.x, inverse);
          const float rest = (__fmaf_rn(-root, root, square_of_range.x) + square_of_range.y) * (0.5f * inverse);
          const float high = __fsub_rn(root, pulse.r0.x), low = __fsub_rn(rest, pulse.r0.y);
{% macro product(name, factor) %}
          const float {{ name }}_factor = {{ factor }}, {{ name }}_rest = {{ factor }} - (float){{ factor }};
          const float {{ name }}_high = __fmul_rn(high, {{ name }}_factor);
          const float {{ name }}_low = __fmaf_rn(high, {{ name }}_factor, -{{ name }}_high)
                                       + high * {{ name }}_rest + low * {{ name }}_factor;
{% endmacro %}
{{ product("bin", "BINS_OF_METRE") }}
{{ product("turn", "CYCLES") }}
          const float fraction = bin_high - floorf(bin_high) + bin_low, carry = floorf(fraction);
          const float weight = fraction - carry;
          const int n = (int)floorf(bin_high) + (int)carry + (BINS / 2){{ " - pulse.first_bin" if windowed }};
          const float in_cycle = turn_high - rintf(turn_high) + turn_low, turn = in_cycle - rintf(in_cycle);
{% elif method == "float" %}
          const float dy = dy0 + i * (float)DY, delta = sqrtf(across + dy * dy) - pulse.r0;
          const float bin = fminf(fmaxf(delta * (float)BINS_OF_METRE + (float)MIDDLE, 0.0f), BINS - 2.0f);
          const float whole = floorf(bin), weight = bin - whole;
          const float cycles = delta * (float)CYCLES, turn = cycles - rintf(cycles);
          const int n = {{ "min(max((int)whole - pulse.first_bin, 0), WINDOW - 2)" if windowed else "(int)whole" }};
{% else %}
          const float bin = bin_first_0 + i * (bin_first_1 + i * pulse.bin_yy);
          const float shifted = __fadd_rd(bin, MAGIC), weight = bin - (shifted - MAGIC);
          const int n = __float_as_int(shifted) - __float_as_int(MAGIC);
{% if method == "taylor" %}
          const float yi = y + i, cycles = turn_0 + yi * (turn_1 + yi * pulse.turn_yy), turn = cycles - rintf(cycles);
{% else %}
          const float ahead = cycles_of(phase);
          phase += step;
          step += 2 * pulse.turn_yy;
{% endif %}
{% endif %}
{% if integers and phase != "fast" %}
          const float turn = ahead - 1.5f;
{% endif %}
          float c, s;
{% if phase == "exact" %}
          sincospif(2 * turn, &s, &c);
{% elif phase == "fast" %}
          const float angle = {{ "ahead * 6.2831853f - 9.4247780f" if integers else "turn * 6.2831853f" }};
          __sincosf(angle, &s, &c);
{% else %}
          const float place = __fadd_rn(turn * {{ table }}, MAGIC);
          const float2 near = table[__float_as_int(place) & {{ table - 1 }}];
          const float angle = (turn - (place - MAGIC) * (1.0f / {{ table }})) * 6.2831853f;
          c = near.x - angle * near.y, s = near.y + angle * near.x;
{% endif %}
{% endif %}
{% if fetch in ["filtered", "texture"] %}
          const float at_bin = n{{ " + pulse.first_bin" if relative }} + 0.5f, at_pulse = first + p + 0.5f;
{% endif %}
{% if fetch == "filtered" %}
          const float2 value = tex2D<float2>(texture, at_bin + (float)weight, at_pulse);
{% else %}
{% if fetch == "slopes" %}
          const float4 both = samples[n];
          const float2 a = make_float2(both.x, both.y), slope = make_float2(both.z, both.w);
{% elif fetch == "texture" %}
          const float2 a = tex2D<float2>(texture, at_bin, at_pulse);
          const float2 b = tex2D<float2>(texture, at_bin + 1, at_pulse);
{% else %}
          const float2 a = samples[n], b = samples[n + 1];
{% endif %}
{% if fetch != "slopes" %}
          const {{ real }}2 slope = make_{{ real }}2(({{ real }})b.x - a.x, ({{ real }})b.y - a.y);
{% endif %}
          const {{ real }}2 value = make_{{ real }}2(a.x + weight * slope.x, a.y + weight * slope.y);
{% endif %}
          total[i].x += value.x * c;
          total[i].x -= value.y * s;
          total[i].y += value.x * s;
          total[i].y += value.y * c;
        }
      }
  }
  if (column < WIDTH)
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      if (row + i < HEIGHT) image[(size_t)(row + i) * WIDTH + column] = total[i];
}
"""

SIMULATION = """
enum { BINS = {{ bins }}, TARGETS = {{ targets }}, STAGE = 128 };

// Echoes of point targets after range compression: a sinc about the target's range, times the phase of that range.
__global__ __launch_bounds__(STAGE) void simulate(
  float2 *data, const double *positions, const double2 *targets, const float2 *amplitudes)
{
  __shared__ double places[STAGE];
  __shared__ float2 echoes[STAGE];
  const int bin = blockIdx.y * STAGE + threadIdx.x, pulse = blockIdx.x;
  const double px = positions[3 * pulse], py = positions[3 * pulse + 1], pz = positions[3 * pulse + 2];
  const double r0 = sqrt(px * px + py * py + pz * pz);
  float2 total = make_float2(0.0f, 0.0f);
  for (int first = 0; first < TARGETS; first += STAGE) {
    const int target = first + threadIdx.x;
    __syncthreads();
    if (target < TARGETS) {
      const double dx = targets[target].x - px, dy = targets[target].y - py;
      const double delta = sqrt(dx * dx + dy * dy + pz * pz) - r0;
      const double cycles = -delta * {{ cycles|literal('float64') }};
      const float2 amplitude = amplitudes[target];
      float c, s;
      sincospif((float)(2 * (cycles - rint(cycles))), &s, &c);
      places[threadIdx.x] = delta * {{ bins_of_metre|literal('float64') }} + {{ (bins // 2)|literal('float64') }};
      echoes[threadIdx.x] = make_float2(amplitude.x * c - amplitude.y * s, amplitude.x * s + amplitude.y * c);
    }
    __syncthreads();
    for (int t = 0; t < min(STAGE, TARGETS - first); ++t) {
      const float x = (float)((bin - places[t]) * {{ (1 / oversampling)|literal('float64') }});
      const float sinc = fabsf(x) < 1e-4f ? 1.0f : sinpif(x) / (3.14159265f * x);
      total.x += sinc * echoes[t].x;
      total.y += sinc * echoes[t].y;
    }
  }
  if (bin < BINS) data[(size_t)pulse * BINS + bin] = total;
}
"""

_TEMPLATE = template.Template(TEXT, "backprojection.cu.j2")
_SIMULATION = template.Template(SIMULATION, "simulation.cu.j2")
TABLE = 1024


def space(radar, grid, method):
    """What is tuned: tile, pixels of a thread, pulses of a stage, where samples and phases come from."""

    def fits(config):
        words = {"shared": 2, "slopes": 4}.get(config["fetch"], 0)
        table = 8 * TABLE if config["phase"] == "table" else 0
        return config["stage"] * (4 * words * _window(radar, grid, config)[1] + 64) + table <= 48 << 10

    return tune.Space(
        bx=[32, 16, 64], by=[8, 4, 16, 2], items=[4, 8, 2, 1, 16], stage=[32, 8, 16, 64, 4],
        fetch=["global", "shared", "slopes"], phase=["exact"] if method == "double" else ["fast", "table", "exact"],
    ).require("64 <= bx * by <= 512", fits)  # fmt: skip


def _window(radar, grid, config):
    """How far, in bins, a pixel of a tile can be from its middle; how many bins a tile can need of a pulse."""
    height = config["by"] * config["items"]
    reach = math.hypot(config["bx"] * grid.dx, height * grid.dy) / 2 * radar.bins_of_metre
    return reach, math.ceil(2 * reach) + 5


def source(radar, grid, bins, pulses, method, **config):
    """The source of a configuration."""
    reach, window = _window(radar, grid, config)
    x0, y0 = map(float, grid.places(0, 0))
    return _TEMPLATE.render(
        width=grid.width, height=grid.height, dx=grid.dx, dy=grid.dy, x0=x0, y0=y0, bins=bins, pulses=pulses,
        method=method, cycles=radar.cycles_of_metre, bins_of_metre=radar.bins_of_metre, reach=reach, window=window,
        bin_bits=31 - window.bit_length(), table=TABLE, **config,
    )  # fmt: skip


def simulation_source(radar, bins, targets):
    """The source of the simulator."""
    return _SIMULATION.render(
        bins=bins, targets=targets, cycles=radar.cycles_of_metre, bins_of_metre=radar.bins_of_metre,
        oversampling=float(radar.oversampling),
    )  # fmt: skip
