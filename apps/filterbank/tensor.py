"""Filter banks by tensor cores: three products of TF32 for one of float32, or float16 with sums in float32.

With channels last, what a place of the result multiplies with a row of a filter lies in one piece, and that of the
next place begins D numbers later. So a row of the image is the first matrix of a product as it is, and a row of all
filters the second. Needs compute capability 8.0.
"""

import math

from rtcg import template, tune

from .kernels import SHARED_BYTES

TEXT = """
enum { H = {{ h }}, W = {{ w }}, D = {{ d }}, F = {{ f }}, FH = {{ fh }}, FW = {{ fw }} };
enum { OH = H - FH + 1, OW = W - FW + 1, K = FW * D, STEP = {{ 16 if half else 8 }} };
enum { WARPS = {{ warps }}, MT = {{ mt }}, NT = {{ nt }}, THREADS = 32 * WARPS };
enum { COLUMNS = 16 * MT, FILTERS = 8 * NT, LINES = WARPS + FH - 1 };
// Numbers that are copied at once, of an image and of filters.
enum { VX = {{ x_vector }}, VW = {{ w_vector }}, LINE = ((COLUMNS + FW - 1) * D + VX - 1) / VX * VX };
// Rows of filters have 16 bytes more than whole steps, so that loads have no bank conflicts.
enum { KS = (K + STEP - 1) / STEP * STEP, PITCH = KS + {{ 8 if half else 4 }} };
{% if half %}
typedef unsigned short T;   // the bits of a float16

__device__ __forceinline__ T store(float x)
{
  T value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value) : "f"(x));
  return value;
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, "
               "{ %0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two adjacent numbers of a row, from k on, which is even; 0 from `end` on.
__device__ __forceinline__ unsigned two(const T *row, int k, int end)
{
{% if d % 2 %}
  return (k < end ? row[k] : 0u) | (k + 1 < end ? (unsigned)row[k + 1] : 0u) << 16;
{% else %}
  return k < end ? *(const unsigned *)(row + k) : 0u;
{% endif %}
}
{% else %}
typedef float T;

__device__ __forceinline__ float store(float x) { return x; }

__device__ __forceinline__ unsigned tf32(float x)
{
  unsigned value;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(value) : "f"(x));
  return value;
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 { %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, "
               "{ %0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A number of a row as the sum of two of TF32; 0 from `end` on.
__device__ __forceinline__ void split(unsigned &high, unsigned &low, const float *row, int k, int end)
{
  const float x = k < end ? row[k] : 0.0f;
  high = tf32(x);
  low = tf32(x - __uint_as_float(high));
}
{% endif %}

extern "C" __global__ __launch_bounds__(THREADS) void filter_bank(T *out, const T *x, const T *w)
{
  struct __align__(VX * sizeof(T)) Pixels { T at[VX]; };
  struct __align__(VW * sizeof(T)) Taps { T at[VW]; };
  __shared__ __align__(16) T tile[LINES][LINE];
  __shared__ __align__(16) T bank[FILTERS][PITCH];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = lane / 4, along = lane % 4;
  const int row0 = blockIdx.y * WARPS, column0 = blockIdx.x * COLUMNS, f0 = blockIdx.z * FILTERS;
  for (int e = threadIdx.x * VX; e < LINES * LINE; e += THREADS * VX) {
    const int i = e / LINE, at = column0 * D + e % LINE;
    const bool is_inside = row0 + i < H && at < W * D;
    *(Pixels *)&tile[i][e % LINE] = is_inside ? *(const Pixels *)(x + (row0 + i) * (W * D) + at) : Pixels{};
  }
  float sum[MT][NT][4] = {};
#pragma unroll 1
  for (int i = 0; i < FH; i++) {
    __syncthreads();
    for (int e = threadIdx.x * VW; e < FILTERS * KS; e += THREADS * VW) {
      const int f = e / KS, k = e % KS;
      const bool is_inside = f0 + f < F && k < K;
      *(Taps *)&bank[f][k] = is_inside ? *(const Taps *)(w + ((f0 + f) * FH + i) * K + k) : Taps{};
    }
    __syncthreads();
    const T *const pixels = tile[warp + i];
    // Written out, only the last step has an end to look for.
#pragma unroll {{ "" if unrolls else 2 }}
    for (int k = 0; k < KS; k += STEP) {
{% if half %}
      unsigned b[NT][2];
#pragma unroll
      for (int n = 0; n < NT; n++)
#pragma unroll
        for (int v = 0; v < 2; v++) b[n][v] = two(bank[n * 8 + across], k + along * 2 + v * 8, KS);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        unsigned a[4];
#pragma unroll
        for (int v = 0; v < 4; v++)
          a[v] = two(pixels + (m * 16 + across + v % 2 * 8) * D, k + along * 2 + v / 2 * 8, K);
#pragma unroll
        for (int n = 0; n < NT; n++) multiply_add(sum[m][n], a, b[n]);
      }
{% else %}
      unsigned b[NT][2], b_low[NT][2];
#pragma unroll
      for (int n = 0; n < NT; n++)
#pragma unroll
        for (int v = 0; v < 2; v++) split(b[n][v], b_low[n][v], bank[n * 8 + across], k + along + v * 4, KS);
#pragma unroll
      for (int m = 0; m < MT; m++) {
        unsigned a[4], a_low[4];
#pragma unroll
        for (int v = 0; v < 4; v++)
          split(a[v], a_low[v], pixels + (m * 16 + across + v % 2 * 8) * D, k + along + v / 2 * 4, K);
#pragma unroll
        for (int n = 0; n < NT; n++) {
          // Small products first.
          multiply_add(sum[m][n], a_low, b[n]);
          multiply_add(sum[m][n], a, b_low[n]);
          multiply_add(sum[m][n], a, b[n]);
        }
      }
{% endif %}
    }
  }
  const int row = row0 + warp;
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
      for (int v = 0; v < 4; v += 2) {
        const int column = column0 + m * 16 + across + v / 2 * 8, f = f0 + n * 8 + along * 2;
        if (row >= OH || column >= OW) continue;
        T *const to = out + (row * OW + column) * F + f;
{% if f % 2 %}
        if (f < F) to[0] = store(sum[m][n][v]);
        if (f + 1 < F) to[1] = store(sum[m][n][v + 1]);
{% else %}
        struct __align__(2 * sizeof(T)) Pair { T at[2]; };
        if (f < F) *(Pair *)to = {store(sum[m][n][v]), store(sum[m][n][v + 1])};
{% endif %}
      }
}
"""

_TEMPLATE = template.Template(TEXT, "filter_bank_tensor.cu.j2")


def space(bank, half):
    """What is tuned: warps, each with a row of the result; columns and filters of a warp."""
    f, fh, fw, d = bank

    def fits(config):
        line, pitch = (16 * config["mt"] + fw - 1) * d + 8, fw * d + 24
        items = (config["warps"] + fh - 1) * line + 8 * config["nt"] * pitch
        return items * (2 if half else 4) <= SHARED_BYTES and config["nt"] < 2 * -(-f // 8)

    return tune.Space(warps=[4, 2, 8, 16], mt=[2, 1, 4], nt=[1, 2, 4, 8]).require("mt * nt <= 32", fits)


def source(shape, bank, half, **config):
    """The source of a configuration."""
    (h, w, d), (f, fh, fw, _), most = shape, bank, 8 if half else 4
    return _TEMPLATE.render(
        h=h, w=w, d=d, f=f, fh=fh, fw=fw, half=half, x_vector=math.gcd(w * d, 16 * d, most),
        w_vector=math.gcd(fw * d, most), unrolls=fw * d <= (128 if half else 64), **config,
    )  # fmt: skip
