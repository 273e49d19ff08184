"""The kernels of the CPU benchmark, each written once and compiled as CUDA C and as OpenCL C,
and the loops that a C programmer would write instead, parallel with OpenMP.
"""

CUDA_PRELUDE = r"""
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define LOCAL __shared__
#define LID0 threadIdx.x
#define LID1 threadIdx.y
#define GROUP0 blockIdx.x
#define GROUP1 blockIdx.y
#define SIZE0 blockDim.x
#define SIZE1 blockDim.y
#define GROUPS0 gridDim.x
#define BARRIER __syncthreads()
#define ATOMIC_INC(p) atomicAdd(p, 1)
#define SIN sinf
#define EXP expf
#define POW powf
"""

OPENCL_PRELUDE = r"""
#define KERNEL __kernel void
#define GLOBAL __global
#define LOCAL __local
#define LID0 ((int)get_local_id(0))
#define LID1 ((int)get_local_id(1))
#define GROUP0 ((int)get_group_id(0))
#define GROUP1 ((int)get_group_id(1))
#define SIZE0 ((int)get_local_size(0))
#define SIZE1 ((int)get_local_size(1))
#define GROUPS0 ((int)get_num_groups(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define ATOMIC_INC(p) atomic_inc(p)
#define SIN sin
#define EXP exp
#define POW pow
"""

COMMON = r"""
KERNEL saxpy(GLOBAL float *z, GLOBAL const float *x, GLOBAL const float *y, float a, int n)
{ int i = GROUP0 * SIZE0 + LID0; if (i < n) z[i] = a * x[i] + y[i]; }

KERNEL lin_comb(GLOBAL float *z, GLOBAL const float *x, GLOBAL const float *y, float a, float b, int n)
{ for (int i = GROUP0 * SIZE0 + LID0; i < n; i += GROUPS0 * SIZE0) z[i] = a * x[i] + b * y[i]; }

KERNEL el_sin(GLOBAL float *z, GLOBAL const float *x, int n)
{ int i = GROUP0 * SIZE0 + LID0; if (i < n) z[i] = SIN(x[i]); }

KERNEL el_exp(GLOBAL float *z, GLOBAL const float *x, int n)
{ int i = GROUP0 * SIZE0 + LID0; if (i < n) z[i] = EXP(x[i]); }

KERNEL el_pow(GLOBAL float *z, GLOBAL const float *x, GLOBAL const float *y, int n)
{ int i = GROUP0 * SIZE0 + LID0; if (i < n) z[i] = POW(x[i], y[i]); }

KERNEL mm_tiled(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, int n)
{
  LOCAL float as[32][32], bs[32][32];
  int tx = LID0, ty = LID1, row = GROUP1 * 32 + ty, col = GROUP0 * 32 + tx;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    BARRIER;
    for (int k = 0; k < 32; k++) sum += as[ty][k] * bs[k][tx];
    BARRIER;
  }
  c[row * n + col] = sum;
}

KERNEL mm_naive(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, int n)
{
  int row = GROUP1 * SIZE1 + LID1, col = GROUP0 * SIZE0 + LID0;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

// The value of which a fraction q of a row of 2048 numbers in [0, 1) is not above, by bisection.
KERNEL percentile(GLOBAL float *out, GLOBAL const float *in, float q)
{
  LOCAL float row[2048], lo, hi;
  LOCAL int counts[1024];
  for (int i = LID0; i < 2048; i += SIZE0) row[i] = in[GROUP0 * 2048 + i];
  if (LID0 == 0) { lo = 0; hi = 1; }
  BARRIER;
  for (int step = 0; step < 24; step++) {
    float mid = 0.5f * (lo + hi);
    int below = 0;
    for (int i = LID0; i < 2048; i += SIZE0) below += row[i] < mid;
    counts[LID0] = below;
    BARRIER;
    for (int s = SIZE0 / 2; s > 0; s /= 2) {
      if (LID0 < s) counts[LID0] += counts[LID0 + s];
      BARRIER;
    }
    if (LID0 == 0) { if (counts[0] <= q * 2048) lo = mid; else hi = mid; }
    BARRIER;
  }
  if (LID0 == 0) out[GROUP0] = lo;
}

KERNEL reduce_shared(GLOBAL float *out, GLOBAL const float *in)
{
  LOCAL float s[256];
  int t = LID0, i = GROUP0 * 512 + t;
  s[t] = in[i] + in[i + 256];
  BARRIER;
  for (int k = 128; k > 0; k >>= 1) { if (t < k) s[t] += s[t + k]; BARRIER; }
  if (t == 0) out[GROUP0] = s[0];
}

KERNEL transpose_tiled(GLOBAL float *out, GLOBAL const float *in, int n)
{
  LOCAL float tile[32][33];
  int x = GROUP0 * 32 + LID0, y = GROUP1 * 32 + LID1;
  for (int j = 0; j < 32; j += 8) tile[LID1 + j][LID0] = in[(y + j) * n + x];
  BARRIER;
  x = GROUP1 * 32 + LID0; y = GROUP0 * 32 + LID1;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[LID0][LID1 + j];
}

KERNEL hist_shared(GLOBAL int *out, GLOBAL const unsigned char *in, int n)
{
  LOCAL int bins[256];
  bins[LID0] = 0;
  BARRIER;
  for (int i = GROUP0 * 256 + LID0; i < n; i += GROUPS0 * 256) ATOMIC_INC(&bins[in[i]]);
  BARRIER;
  out[GROUP0 * 256 + LID0] = bins[LID0];
}

KERNEL mandel(GLOBAL int *out, int n, int limit)
{
  int px = GROUP0 * SIZE0 + LID0, py = GROUP1 * SIZE1 + LID1;
  float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n, x = 0, y = 0;
  int it = 0;
  while (it < limit && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; it++; }
  out[py * n + px] = it;
}

KERNEL stencil(GLOBAL float *out, GLOBAL const float *in, int n)
{
  int x = GROUP0 * SIZE0 + LID0, y = GROUP1 * SIZE1 + LID1;
  float sum = in[y * n + x];
  if (x > 0) sum += in[y * n + x - 1];
  if (x < n - 1) sum += in[y * n + x + 1];
  if (y > 0) sum += in[(y - 1) * n + x];
  if (y < n - 1) sum += in[(y + 1) * n + x];
  out[y * n + x] = 0.2f * sum;
}
"""

# Warps and unsigned thread indices exist in CUDA alone.
CUDA_ONLY = r"""
KERNEL reduce_shuffle(float *out, const float *in, int n)
{
  float sum = 0;
  for (int i = GROUP0 * SIZE0 + LID0; i < n; i += GROUPS0 * SIZE0) sum += in[i];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (LID0 % 32 == 0) out[(GROUP0 * SIZE0 + LID0) / 32] = sum;
}

// The same loop as lin_comb with the other spelling of thread indices: the compiler unrolls this one.
KERNEL lin_comb_signed(float *z, const float *x, const float *y, float a, float b, int n)
{
  int step = (int)gridDim.x * (int)blockDim.x;
  for (int i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x; i < n; i += step) z[i] = a * x[i] + b * y[i];
}

KERNEL empty(void) {}
"""

C = r"""
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define EACH for (int i = 0; i < n; i++)
#define PARALLEL _Pragma("omp parallel for")
void saxpy(float *restrict z, const float *x, const float *y, float a, int n) { PARALLEL EACH z[i] = a * x[i] + y[i]; }
void lin_comb(float *restrict z, const float *x, const float *y, float a, float b, int n) { PARALLEL EACH z[i] = a * x[i] + b * y[i]; }
void el_sin(float *restrict z, const float *x, int n) { PARALLEL EACH z[i] = sinf(x[i]); }
void el_exp(float *restrict z, const float *x, int n) { PARALLEL EACH z[i] = expf(x[i]); }
void el_pow(float *restrict z, const float *x, const float *y, int n) { PARALLEL EACH z[i] = powf(x[i], y[i]); }
void mm_tiled(float *restrict c, const float *a, const float *b, int n)
{
  PARALLEL for (int r = 0; r < n; r++) {
    memset(c + r * n, 0, n * sizeof *c);
    for (int k = 0; k < n; k++) for (int q = 0; q < n; q++) c[r * n + q] += a[r * n + k] * b[k * n + q];
  }
}
void mm_naive(float *restrict c, const float *a, const float *b, int n)
{ PARALLEL for (int r = 0; r < n; r++) for (int q = 0; q < n; q++) { float s = 0; for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + q]; c[r * n + q] = s; } }
void reduce_shared(float *restrict out, const float *in, int n)
{
  PARALLEL for (int b = 0; b < n / 512; b++) {
    float s[256];
    for (int t = 0; t < 256; t++) s[t] = in[b * 512 + t] + in[b * 512 + t + 256];
    for (int k = 128; k > 0; k >>= 1) for (int t = 0; t < k; t++) s[t] += s[t + k];
    out[b] = s[0];
  }
}
void transpose_tiled(float *restrict out, const float *in, int n)
{ PARALLEL for (int y = 0; y < n; y += 32) for (int x = 0; x < n; x += 32) for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) out[(x + i) * n + y + j] = in[(y + j) * n + x + i]; }
void hist_shared(int *restrict out, const unsigned char *in, int n)
{
  PARALLEL for (int b = 0; b < 64; b++) {
    int bins[256] = {0};
    for (int i = n / 64 * b; i < n / 64 * (b + 1); i++) bins[in[i]]++;
    memcpy(out + 256 * b, bins, sizeof bins);
  }
}
void mandel(int *restrict out, int n, int limit)
{
  PARALLEL for (int py = 0; py < n; py++) for (int px = 0; px < n; px++) {
    float cx = -2.0f + 3.0f * px / n, cy = -1.5f + 3.0f * py / n, x = 0, y = 0; int it = 0;
    while (it < limit && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; it++; }
    out[py * n + px] = it;
  }
}
void stencil(float *restrict out, const float *in, int n)
{
  PARALLEL for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {
    float sum = in[y * n + x];
    if (x > 0) sum += in[y * n + x - 1];
    if (x < n - 1) sum += in[y * n + x + 1];
    if (y > 0) sum += in[(y - 1) * n + x];
    if (y < n - 1) sum += in[(y + 1) * n + x];
    out[y * n + x] = 0.2f * sum;
  }
}
"""
