"""CUDA C of filter banks, as two templates: ours, and the one of 2011 replayed.

`x` has the shape (H, W, D), the bank (F, FH, FW, D), the result (H - FH + 1, W - FW + 1, F). All sizes are literals.
Filters may be, too: as initialised constant memory, or as numbers in the instructions.
"""

import math

import numpy as np

from rtcg import template, tune

TEXT = """
enum { H = {{ h }}, W = {{ w }}, D = {{ d }}, F = {{ f }}, FH = {{ fh }}, FW = {{ fw }} };
enum { OH = H - FH + 1, OW = W - FW + 1 };
enum { BX = {{ bx }}, BY = {{ by }}, PX = {{ px }}, PY = {{ py }}, FILTERS = {{ filters }}, CHANNELS = {{ channels }} };
enum { GROUPS = {{ groups }}, BANK = FILTERS * GROUPS, THREADS = BX * BY * GROUPS };
enum { STAGES = {{ stages }}, STEPS = (D + CHANNELS - 1) / CHANNELS, DEPTH = STEPS * CHANNELS };
// Quarters of warps read vectors of four columns of a tile from banks that differ.
enum { QUADS = (BX * PX + FW - 1 + 3) / 4, TILE_W = 4 * (QUADS + (PX > 4 && QUADS % 2 == 0)) };
enum { TILE_H = BY * PY + FH - 1, ROW = (PX + FW - 1 + 3) / 4 };
enum { ROW_STEP = PX > 4 ? BY : 1, FIRST_STEP = PX > 4 ? 1 : PY };
// Channels that are read together, and filters that are stored together.
enum { IN = {{ read }}, OUT = {{ stored }}, PARTS = CHANNELS / IN };
{% set in_source = taps in ["constant", "literal"] %}
{% set real = "half" if half else "float" %}
{% if half %}
struct half { unsigned short bits; };
__device__ __forceinline__ float load(const half *x)
{
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x->bits));
  return value;
}
__device__ __forceinline__ half store(float x)
{
  half value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
  return value;
}
{% else %}
__device__ __forceinline__ float load(const float *x) { return *x; }
__device__ __forceinline__ float store(float x) { return x; }
{% endif %}
{% if in_source %}

// Filters by channel and tap; padded to whole groups.
__device__ {{ "constexpr" if taps == "literal" else "__constant__" }} float bank[] = { {{ numbers }} };
{% endif %}
{% if stages > 1 %}

__device__ __forceinline__ void copy_async(float *to, const float *from, bool is_inside)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::
               "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)), "r"(is_inside ? 4 : 0)
               : "memory");
}
{% endif %}

__device__ __forceinline__ float activation(float acc) { return {{ activation }}; }

struct __align__(16) Four { float at[4]; };

typedef {{ real }} T;
struct alignas(sizeof(T) * IN) Read { T at[IN]; };
struct alignas(sizeof(T) * OUT) Stored { T at[OUT]; };

__device__ __forceinline__ Read read(const T *from, bool is_inside)
{
  Read found = {};
  if (is_inside) found = *(const Read *)from;
  return found;
}

extern "C" __global__ __launch_bounds__(THREADS, {{ blocks }}) void filter_bank(T *out, const T *x, const T *w)
{
  __shared__ __align__(16) float tile[STAGES][CHANNELS][TILE_H][TILE_W];
{% if taps in ["shared", "stage"] %}
  __shared__ __align__(16) float bank[{{ "DEPTH" if taps == "shared" else "CHANNELS" }}][FH * FW][BANK];
{% endif %}
  const int t = (threadIdx.z * BY + threadIdx.y) * BX + threadIdx.x;
  const int group = blockIdx.z * GROUPS + threadIdx.z, f0 = group * FILTERS;
  const int row0 = blockIdx.y * (BY * PY), column0 = blockIdx.x * (BX * PX);
  const int row = threadIdx.y * FIRST_STEP, column = threadIdx.x * PX;
  float sum[PY][PX][FILTERS] = {};

  auto stage = [&](int step, int slot) {
    for (int e = t; e < PARTS * TILE_H * TILE_W; e += THREADS) {
      const int c = e % PARTS * IN, j = e / PARTS % TILE_W, i = e / PARTS / TILE_W, depth = step * CHANNELS + c;
      const bool is_inside = row0 + i < H && column0 + j < W && depth < D;
      const T *const from = x + (is_inside ? ((row0 + i) * W + column0 + j) * D + depth : 0);
{% if stages > 1 %}
      copy_async(&tile[slot][c][i][j], from, is_inside);
{% else %}
      const Read found = read(from, is_inside);
#pragma unroll
      for (int k = 0; k < IN; k++) tile[slot][c + k][i][j] = load(&found.at[k]);
{% endif %}
    }
{% if stages > 1 %}
    asm volatile("cp.async.commit_group;" ::: "memory");
{% endif %}
  };
{% if taps in ["shared", "stage"] %}
  // Filters of a block, from a channel on.
  auto take = [&](int first, int count) {
    const int parts = count / IN, b0 = blockIdx.z * BANK;
    for (int e = t; e < parts * FH * FW * BANK; e += THREADS) {
      const int f = e % BANK, c = e / BANK % parts * IN, tap = e / BANK / parts, depth = first + c;
      const Read found = read(w + ((b0 + f) * (FH * FW) + tap) * D + depth, b0 + f < F && depth < D);
#pragma unroll
      for (int k = 0; k < IN; k++) bank[c + k][tap][f] = load(&found.at[k]);
    }
  };
{% endif %}
{% if taps == "shared" %}
  take(0, DEPTH);
{% endif %}
{% if stages > 1 %}
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < STEPS) stage(s, s);
    else asm volatile("cp.async.commit_group;" ::: "memory");
  }
{% endif %}
{% if unroll == "all" %}
#pragma unroll
{% else %}
#pragma unroll 1
{% endif %}
  for (int step = 0; step < STEPS; step++) {
    const int slot = step % STAGES;
{% if stages > 1 %}
    asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
    __syncthreads();
    if (step + STAGES - 1 < STEPS) stage(step + STAGES - 1, (step + STAGES - 1) % STAGES);
    else asm volatile("cp.async.commit_group;" ::: "memory");
{% else %}
    __syncthreads();
    stage(step, 0);
{% if taps == "stage" %}
    take(step * CHANNELS, CHANNELS);
{% endif %}
    __syncthreads();
{% endif %}
{% if unroll == "all" %}
#pragma unroll
{% else %}
#pragma unroll 1
{% endif %}
    for (int c = 0; c < CHANNELS; c++)
{% if unroll == "taps" or unroll == "all" %}
#pragma unroll
{% else %}
#pragma unroll {{ 2 if unroll == "pair" else 1 }}
{% endif %}
      for (int i = 0; i < FH; i++) {
        // A row of pixels in registers serves all taps of a row.
        Four pixels[PY][ROW];
#pragma unroll
        for (int p = 0; p < PY; p++)
#pragma unroll
          for (int v = 0; v < ROW; v++)
            pixels[p][v] = *(const Four *)&tile[slot][c][row + p * ROW_STEP + i][column + 4 * v];
#pragma unroll
        for (int j = 0; j < FW; j++)
#pragma unroll
          for (int f = 0; f < FILTERS; f++) {
{% if taps in ["shared", "stage"] %}
            const int first = {{ "step * CHANNELS" if taps == "shared" else "0" }};
            const float tap = bank[first + c][i * FW + j][threadIdx.z * FILTERS + f];
{% elif taps == "global" %}
            const int depth = step * CHANNELS + c;
            const bool is_real = depth < D && f0 + f < F;
            const float tap = is_real ? load(w + ((f0 + f) * (FH * FW) + i * FW + j) * D + depth) : 0.0f;
{% else %}
            const int padded = {{ "0" if f <= filters else "group * " ~ per_group }};
            const float tap = bank[padded + ((step * CHANNELS + c) * (FH * FW) + i * FW + j) * FILTERS + f];
{% endif %}
#pragma unroll
            for (int p = 0; p < PY; p++)
#pragma unroll
              for (int q = 0; q < PX; q++) sum[p][q][f] += pixels[p][(q + j) / 4].at[(q + j) % 4] * tap;
          }
      }
  }
#pragma unroll
  for (int p = 0; p < PY; p++)
#pragma unroll
    for (int q = 0; q < PX; q++)
      if (row0 + row + p * ROW_STEP < OH && column0 + column + q < OW)
#pragma unroll
        for (int f = 0; f < FILTERS; f += OUT) {
          Stored found;
#pragma unroll
          for (int k = 0; k < OUT; k++) found.at[k] = store(activation(sum[p][q][f + k]));
          T *const to = out + ((row0 + row + p * ROW_STEP) * OW + column0 + column + q) * F + f0 + f;
          if (f0 + f < F) *(Stored *)to = found;
        }
}
"""

# The kernel of 2011 in its own terms: a thread has a pixel and whole groups of four filters; a block's pixels come to
# shared memory for one row of filters or two, four channels at a time; filters are in constant memory.
TEXT_2011 = """
enum { H = {{ h }}, W = {{ w }}, D = {{ d }}, F = {{ f }}, FH = {{ fh }}, FW = {{ fw }} };
enum { OH = H - FH + 1, OW = W - FW + 1 };
enum { BLOCK_W = {{ block_w }}, BLOCK_H = {{ block_h }}, ROWS = {{ rows }}, THREADS = BLOCK_W * BLOCK_H };
enum { WIDTH = BLOCK_W + FW - 1{% if pad_shared %} + 1{% endif %}, HEIGHT = BLOCK_H + ROWS - 1, GROUPS = {{ groups }} };
#define PRODUCT(a, b) {{ "__umul24(a, b)" if fast_product else "((a) * (b))" }}
{% if fast_math %}
#define MULTIPLY_ADD(x, y, z) __fmaf_rn(x, y, z)
{% else %}
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
{% endif %}

__device__ __constant__ float bank[] = { {{ numbers }} };

extern "C" __global__
{% if registers %}
__maxnreg__({{ registers }})
{% endif %}
void filter_bank(float *out, const float *x, cudaTextureObject_t texels)
{
  __shared__ float4 pixels[HEIGHT][WIDTH];
{% if spill %}
  __shared__ unsigned places[THREADS];
{% endif %}
  const unsigned t = PRODUCT(threadIdx.y, BLOCK_W) + threadIdx.x;
  const unsigned row = PRODUCT(blockIdx.y, BLOCK_H) + threadIdx.y, column = PRODUCT(blockIdx.x, BLOCK_W) + threadIdx.x;
{% if spill %}
  places[t] = (PRODUCT(row, OW) + column) * F;
{% endif %}
  float4 sum[GROUPS];
  for (int g = 0; g < GROUPS; g++) sum[g] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int d = 0; d < D; d += 4)
    for (int i0 = 0; i0 < FH; i0 += ROWS) {
      __syncthreads();
      for (unsigned e = t; e < HEIGHT * (BLOCK_W + FW - 1); e += THREADS) {
        const unsigned i = e / (BLOCK_W + FW - 1), j = e % (BLOCK_W + FW - 1);
        const unsigned r = PRODUCT(blockIdx.y, BLOCK_H) + i0 + i, c = PRODUCT(blockIdx.x, BLOCK_W) + j;
        const bool is_inside = r < H && c < W;
{% if texture %}
        const float4 pixel = tex2D<float4>(texels, c * (D / 4) + d / 4 + 0.5f, r + 0.5f);
{% else %}
        const float4 pixel = is_inside ? *(const float4 *)(x + (PRODUCT(r, W) + c) * D + d) : float4();
{% endif %}
        pixels[i][j] = is_inside ? pixel : make_float4(0, 0, 0, 0);
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < ROWS; i++)
        if (i0 + i < FH)
#pragma unroll
          for (int j = 0; j < FW; j++) {
            const float4 pixel = pixels[threadIdx.y + i][threadIdx.x + j];
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
              const float *tap = bank + (((g * D + d) * FH + i0 + i) * FW + j) * 4;
{% for axis in ["x", "y", "z", "w"] %}
              sum[g].x = MULTIPLY_ADD(pixel.{{ axis }}, tap[{{ loop.index0 }} * FH * FW * 4], sum[g].x);
              sum[g].y = MULTIPLY_ADD(pixel.{{ axis }}, tap[{{ loop.index0 }} * FH * FW * 4 + 1], sum[g].y);
              sum[g].z = MULTIPLY_ADD(pixel.{{ axis }}, tap[{{ loop.index0 }} * FH * FW * 4 + 2], sum[g].z);
              sum[g].w = MULTIPLY_ADD(pixel.{{ axis }}, tap[{{ loop.index0 }} * FH * FW * 4 + 3], sum[g].w);
{% endfor %}
            }
          }
    }
  if (row >= OH || column >= OW) return;
{% if spill %}
  float *const to = out + places[t] + {{ first }};
{% else %}
  float *const to = out + (PRODUCT(row, OW) + column) * F + {{ first }};
{% endif %}
  for (int g = 0; g < GROUPS; g++) {
{% if float4_outputs %}
    ((float4 *)to)[g] = sum[g];
{% else %}
    to[4 * g] = sum[g].x, to[4 * g + 1] = sum[g].y, to[4 * g + 2] = sum[g].z, to[4 * g + 3] = sum[g].w;
{% endif %}
  }
}
"""

_TEMPLATE = template.Template(TEXT, "filter_bank.cu.j2")
_TEMPLATE_2011 = template.Template(TEXT_2011, "filter_bank_2011.cu.j2")

CONSTANT_BYTES = 64 << 10
SHARED_BYTES = 48 << 10
# Multiplications that are written out, at most; more do not fit in the cache of instructions.
UNROLLED = 24_576


def _sizes(shape, bank):
    (h, w, d), (f, fh, fw, _) = shape, bank
    return {"h": h, "w": w, "d": d, "f": f, "fh": fh, "fw": fw}


def shared_bytes(config, shape, bank):
    """The shared memory of a configuration."""
    (_, _, d), (_, fh, fw, _) = shape, bank
    quads = -(-(config["bx"] * config["px"] + fw - 1) // 4)
    height, width = config["by"] * config["py"] + fh - 1, 4 * (quads + (config["px"] > 4 and quads % 2 == 0))
    tile = config["stages"] * config["channels"] * height * width
    depth = -(-d // config["channels"]) * config["channels"]
    depth = {"shared": depth, "stage": config["channels"]}.get(config["taps"], 0)
    return 4 * (tile + depth * fh * fw * config["filters"] * config["groups"])


def _default(shape, bank):
    """What is often near the best: 64 sums or 32 of a thread, and channels that leave room for several blocks."""
    (_, _, d), (f, _, fw, _) = shape, bank
    few = f <= 4
    config = dict(bx=8 if few else 4, by=16, groups=1 if few else 2, px=4 if few else 8, py=2, filters=4, channels=1,
                  taps="stage", unroll="row", stages=1)  # fmt: skip
    config["unroll"] = "pair" if 2 * fw * (32 if few else 64) <= 1300 else "row"
    for channels in [2, 4, 8]:
        more = config | {"channels": channels}
        if channels <= d and shared_bytes(more, shape, bank) <= SHARED_BYTES:
            config = more
    return config


def space(shape, bank, half=False):
    """What is tuned: threads, groups of filters, outputs of a thread, where taps are, unrolling, stages of copies."""
    (_, _, d), (f, fh, fw, _) = shape, bank

    def fits(config):
        depth = -(-d // config["channels"]) * config["channels"]
        groups = -(-f // (config["filters"] * config["groups"])) * config["groups"]
        in_source = 4 * groups * config["filters"] * depth * fh * fw
        return shared_bytes(config, shape, bank) <= SHARED_BYTES and (
            config["taps"] != "constant" or in_source <= CONSTANT_BYTES
        )

    values = dict(
        bx=[4, 8, 16, 32], by=[2, 4, 8, 16], groups=[1, 2, 4], px=[4, 8], py=[1, 2, 4], filters=[1, 2, 4, 8, 16],
        channels=[1, 2, 4, 8], taps=["global", "shared", "stage", "constant", "literal"],
        unroll=["row", "pair", "taps", "all"], stages=[1, 2, 3],
    )  # fmt: skip
    default = _default(shape, bank)
    values = {name: [default[name], *(v for v in some if v != default[name])] for name, some in values.items()}
    outputs = "px * py * filters"
    return tune.Space(**values).require(
        "32 <= bx * by * groups <= 512", f"16 <= {outputs} <= 96", f"groups == 1 or filters * groups < {2 * f}",
        f"filters < {max(2, 2 * f)}", f"channels <= {max(1, d)}",
        # A warp has one group of filters.
        "groups == 1 or bx * by % 32 == 0",
        f"unroll != 'row' or {outputs} * {fw} <= {UNROLLED}", f"unroll != 'pair' or {outputs} * {2 * fw} <= {UNROLLED}",
        f"unroll != 'taps' or {outputs} * {fh * fw} <= {UNROLLED}",
        f"unroll != 'all' or {outputs} * {fh * fw} * (({d} + channels - 1) // channels) * channels <= {UNROLLED}",
        f"taps != 'literal' or (unroll == 'all' and {f} <= filters and groups == 1)",
        f"stages == 1 or (taps != 'stage' and {d} > channels and {int(not half)} == 1)",
        fits,
    )  # fmt: skip


def _numbers(array):
    return ", ".join(f"{number!r}f" for number in array.astype(np.float32).ravel().tolist())


def source(shape, filters_of, activation="acc", half=False, **config):
    """The source of a configuration; `filters_of` is the bank, an array (F, FH, FW, D)."""
    group, step = config["filters"], config["channels"]
    f, fh, fw, d = filters_of.shape
    groups, depth = -(-f // (group * config["groups"])) * config["groups"], -(-d // step) * step
    threads, outputs = config["bx"] * config["by"] * config["groups"], config["px"] * config["py"] * group
    # Registers for 24 warps, 16 or 8, by the sums of a thread.
    blocks = max(1, 32 * (24 if outputs <= 32 else 16 if outputs <= 64 else 8) // threads)
    numbers = ""
    if config["taps"] in ("constant", "literal"):
        padded = np.zeros((groups * group, fh, fw, depth), np.float32)
        padded[:f, ..., :d] = filters_of
        numbers = _numbers(padded.reshape(groups, group, fh * fw, depth).transpose(0, 3, 2, 1))
    return _TEMPLATE.render(
        **_sizes(shape, filters_of.shape), activation=activation, half=half, numbers=numbers,
        per_group=depth * fh * fw * group, stored=math.gcd(f, group, 4), blocks=blocks,
        read=math.gcd(d, step, 4) if config["stages"] == 1 else 1, **config,
    )  # fmt: skip


def space_2011(bank):
    """The space of 2011."""
    fw = bank[2]

    def fits(config):
        height, width = config["block_h"] + config["rows"] - 1, config["block_w"] + fw - 1 + config["pad_shared"]
        threads = config["block_w"] * config["block_h"]
        return 16 * height * width + 4 * threads * config["spill"] <= SHARED_BYTES

    sides = [4, 8, 16, 32, 64, 128]
    return tune.Space(
        block_w=[8, *(side for side in sides if side != 8)], block_h=[8, *(side for side in sides if side != 8)],
        rows=[1, 2], float4_outputs=[True, False], spill=[False, True], pad_shared=[True, False],
        registers=[0, 8, 16, 20, 24, 28, 32], fast_product=[True, False], fast_math=[False, True],
        texture=[False, True],
    ).require("32 <= block_w * block_h <= 512", fits)  # fmt: skip


def passes_2011(bank):
    """Filters of each launch of 2011: as many groups of four as constant memory has room for."""
    f, fh, fw, d = bank
    most = max(4, CONSTANT_BYTES // (4 * fh * fw * d) // 4 * 4)
    return [(first, min(most, f - first)) for first in range(0, f, most)]


def source_2011(shape, filters_of, first, count, **config):
    """The source of a configuration of 2011 for `count` filters from `first` on."""
    _, fh, fw, d = filters_of.shape
    part = filters_of[first : first + count].reshape(count // 4, 4, fh, fw, d)
    config = config | {"registers": config["registers"] or None}
    return _TEMPLATE_2011.render(
        **_sizes(shape, filters_of.shape), numbers=_numbers(part.transpose(0, 4, 2, 3, 1)), first=first,
        groups=count // 4, **config,
    )  # fmt: skip
