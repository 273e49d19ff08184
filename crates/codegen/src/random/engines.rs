//! The device code of engines and distributions, from which kernels are assembled. An `engine` keeps its state in
//! registers; `next` returns 32 bits, `narrow` and `wide` return uniform numbers in (0, 1].

pub(super) const CONVERSIONS_SOURCE: &str = "\
// (0, 1]
__device__ float above_zero(unsigned x) { return x * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
__device__ double above_zero(unsigned x, unsigned y)
{ return ((u64)x ^ (u64)y << 21) * 1.1102230246251565e-16 + 5.5511151231257827e-17; }
// [0, 1)
__device__ float below_one(unsigned x) { return (x >> 8) * 5.9604644775390625e-8f; }
__device__ double below_one(unsigned x, unsigned y) { return (((u64)y << 32 | x) >> 11) * 1.1102230246251565e-16; }
// Rounding must not reach the end that is excluded.
template <class T> __device__ T between(T u, T p, T q) { const T x = p + (q - p) * u; return x < q || !(p < q) ? x : p; }
__device__ double between(float u, double p, double q) { return between((double)u, p, q); }
";

/// G. E. P. Box and M. E. Muller, "A Note on the Generation of Random Normal Deviates" (1958). In single
/// precision the functions take only what uniform numbers can be: the logarithm is a minimax polynomial
/// on 2/3..4/3 (relative error 2^-24), the square root the device's approximate one (2^-23), which need not
/// care for the smallest numbers.
pub(super) const BOX_MULLER_SOURCE: &str = "\
__device__ __forceinline__ float minus_two_log(float u)
{
  const int bits = __float_as_int(u), shift = (bits - 0x3f2aaaab) & 0xff800000;
  const float f = __int_as_float(bits - shift) - 1.0f;
  float p = -0.287452779f;
  p = fmaf(p, f, 0.307413832f);
  p = fmaf(p, f, -0.278425990f);
  p = fmaf(p, f, 0.328395542f);
  p = fmaf(p, f, -0.400320575f);
  p = fmaf(p, f, 0.500151447f);
  p = fmaf(p, f, -0.666662142f);
  p = fmaf(p, f, 0.999998812f);
  // The exponent as a float: an integer in the lowest bits of 1.5 * 2^23.
  const float exponent = __int_as_float(0x4b400000 + (shift >> 23)) - 12582912.0f;
  return fmaf(exponent, -1.38629436f, f * fmaf(p, f, -2.0f));
}
__device__ __forceinline__ float root(float x)
{
  float y;
  asm(\"sqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));
  return y;
}
__device__ void turn(float v, float *s, float *c);
__device__ __forceinline__ float2 box_muller_of(float u, float v)
{
  float s, c;
  turn(v, &s, &c);
  const float r = root(minus_two_log(u));
  return make_float2(r * s, r * c);
}
__device__ double2 box_muller_of(double u, double v)
{
  double s, c;
  sincospi(2.0 * v, &s, &c);
  const double r = sqrt(-2.0 * log(u));
  return make_double2(r * s, r * c);
}
__device__ float2 box_muller(unsigned x, unsigned y) { return box_muller_of(above_zero(x), above_zero(y)); }
__device__ double2 box_muller(unsigned x, unsigned y, unsigned z, unsigned w)
{ return box_muller_of(above_zero(x, y), above_zero(z, w)); }
";

/// Sine and cosine of v turns, 0 <= v <= 1: minimax polynomials on an eighth of a turn to either side of
/// the nearest quarter (errors of 2^-23).
pub(super) const SINCOS_SOURCE: &str = "\
__device__ __forceinline__ void turn(float v, float *s, float *c)
{
  // Adding 1.5 * 2^23 rounds to an integer, which stands in the lowest bits.
  const float shifted = fmaf(v, 4.0f, 12582912.0f);
  const unsigned quarter = __float_as_uint(shifted);
  const float t = fmaf(shifted - 12582912.0f, -0.5f, 2.0f * v), x = t * t;
  float a = fmaf(-0.589078656f, x, 2.54976730f), b = fmaf(-1.30613456f, x, 4.05757831f);
  a = fmaf(a, x, -5.16770783f);
  b = fmaf(b, x, -4.93478806f);
  a = fmaf(a, x, 3.14159264f) * t;
  b = fmaf(b, x, 1.0f);
  const float sine = quarter & 1 ? b : a, cosine = quarter & 1 ? a : b;
  *s = __uint_as_float(__float_as_uint(sine) ^ (quarter & 2) << 30);
  *c = __uint_as_float(__float_as_uint(cosine) ^ (quarter + 1 & 2) << 30);
}
";

pub(super) const FAST_SINCOS_SOURCE: &str = "\
__device__ __forceinline__ void turn(float v, float *s, float *c)
{
  // Symmetric about zero, where the device's functions are most accurate.
  const float x = (v - 0.5f) * 6.28318531f;
  *s = -__sinf(x);
  *c = -__cosf(x);
}
";

pub(super) const PHILOX_SOURCE: &str = "\
__device__ void draw(u64 c, u64 key, unsigned stream, unsigned again, unsigned *w)
{
  unsigned x0 = (unsigned)c, x1 = (unsigned)(c >> 32), x2 = stream, x3 = again, k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
  #pragma unroll
  for (int round = 0; round < 10; ++round)
  {
    const u64 a = (u64)0xD2511F53u * x0, b = (u64)0xCD9E8D57u * x2;
    x0 = (unsigned)(b >> 32) ^ x1 ^ k0;
    x2 = (unsigned)(a >> 32) ^ x3 ^ k1;
    x1 = (unsigned)b;
    x3 = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  w[0] = x0; w[1] = x1; w[2] = x2; w[3] = x3;
}
";

pub(super) const THREEFRY_SOURCE: &str = "\
__device__ unsigned turn(unsigned x, int n) { return x << n | x >> (32 - n); }
__device__ void draw(u64 c, u64 key, unsigned stream, unsigned again, unsigned *w)
{
  const unsigned k[5] = {(unsigned)key, (unsigned)(key >> 32), 0, 0, 0x1BD11BDAu ^ (unsigned)key ^ (unsigned)(key >> 32)};
  const int r0[8] = {10, 11, 13, 23, 6, 17, 25, 18}, r1[8] = {26, 21, 27, 5, 20, 11, 10, 20};
  w[0] = (unsigned)c + k[0]; w[1] = (unsigned)(c >> 32) + k[1]; w[2] = stream + k[2]; w[3] = again + k[3];
  #pragma unroll
  for (int round = 0; round < 20; ++round)
  {
    const int f = round % 2 ? 3 : 1, s = 4 - f;
    w[0] += w[f]; w[f] = turn(w[f], r0[round % 8]) ^ w[0];
    w[2] += w[s]; w[s] = turn(w[s], r1[round % 8]) ^ w[2];
    if (round % 4 == 3)
    {
      const int j = round / 4 + 1;
      #pragma unroll
      for (int i = 0; i < 4; ++i) w[i] += k[(i + j) % 5];
      w[3] += j;
    }
  }
}
";

/// A stream of words for one element, for distributions that need an unknown number of them.
pub(super) const COUNTER_STREAM_SOURCE: &str = "\
struct counter_stream
{
  u64 c, key; unsigned stream, again, at, w[4];
  __device__ counter_stream(u64 c, u64 key, unsigned stream, const unsigned *first) : c(c), key(key), stream(stream), again(0), at(0)
  { for (int k = 0; k < 4; ++k) w[k] = first[k]; }
  __device__ unsigned next()
  {
    if (at == 4) { draw(c, key, stream, ++again, w); at = 0; }
    return at == 0 ? w[at++] : at == 1 ? w[at++] : at == 2 ? w[at++] : w[at++];
  }
  __device__ double wide() { const unsigned x = next(), y = next(); return above_zero(x, y); }
};
typedef counter_stream engine;
";

pub(super) const XORWOW_SOURCE: &str = "\
struct engine
{
  unsigned v0, v1, v2, v3, v4, d;
  __device__ engine(const unsigned char *states, u64 id)
  {
    const uint2 *s = (const uint2 *)(states + id * 24);
    const uint2 a = s[0], b = s[1], c = s[2];
    v0 = a.x; v1 = a.y; v2 = b.x; v3 = b.y; v4 = c.x; d = c.y;
  }
  __device__ void save(unsigned char *states, u64 id) const
  {
    uint2 *s = (uint2 *)(states + id * 24);
    s[0] = make_uint2(v0, v1); s[1] = make_uint2(v2, v3); s[2] = make_uint2(v4, d);
  }
  __device__ unsigned next()
  {
    const unsigned t = v0 ^ v0 >> 2;
    v0 = v1; v1 = v2; v2 = v3; v3 = v4;
    v4 = v4 ^ v4 << 4 ^ t ^ t << 1;
    d += 362437u;
    return v4 + d;
  }
  __device__ u64 bits64() { const u64 x = next(); return (u64)next() << 32 | x; }
  __device__ float narrow() { return above_zero(next()); }
  __device__ double wide() { const unsigned x = next(), y = next(); return above_zero(x, y); }
};
";

pub(super) const MRG32K3A_SOURCE: &str = "\
struct engine
{
  unsigned a0, a1, a2, b0, b1, b2;
  __device__ engine(const unsigned char *states, u64 id)
  {
    const uint2 *s = (const uint2 *)(states + id * 24);
    const uint2 a = s[0], b = s[1], c = s[2];
    a0 = a.x; a1 = a.y; a2 = b.x; b0 = b.y; b1 = c.x; b2 = c.y;
  }
  __device__ void save(unsigned char *states, u64 id) const
  {
    uint2 *s = (uint2 *)(states + id * 24);
    s[0] = make_uint2(a0, a1); s[1] = make_uint2(a2, b0); s[2] = make_uint2(b1, b2);
  }
  // 2^32 is 209 modulo the first and 22853 modulo the second modulus: folds and a subtraction reduce 64 bits.
  // The first sum has less than 54 bits, so that one fold leaves less than twice its modulus.
  __device__ static unsigned mod1(u64 x)
  {
    x = (x & 0xffffffffu) + (x >> 32) * 209;
    return (unsigned)(x >= 4294967087ul ? x - 4294967087ul : x);
  }
  __device__ static unsigned mod2(u64 x)
  {
    x = (x & 0xffffffffu) + (x >> 32) * 22853;
    x = (x & 0xffffffffu) + (x >> 32) * 22853;
    return (unsigned)(x >= 4294944443ul ? x - 4294944443ul : x);
  }
  // 1..4294967087
  __device__ unsigned step()
  {
    const unsigned p = mod1((u64)1403580u * a1 + (u64)810728u * (4294967087u - a0));
    const unsigned q = mod2((u64)527612u * b2 + (u64)1370589u * (4294944443u - b0));
    a0 = a1; a1 = a2; a2 = p;
    b0 = b1; b1 = b2; b2 = q;
    return p > q ? p - q : p + (4294967087u - q);
  }
  __device__ unsigned next() { return (unsigned)(step() * 1.000000048662); }
  __device__ u64 bits64() { const u64 x = next(); return (u64)next() << 32 | x; }
  __device__ float narrow() { return (float)(step() * 2.3283065498378288e-10); }
  __device__ double wide() { return step() * 2.3283065498378288e-10; }
};
";

pub(super) const SOBOL32_SOURCE: &str = "\
struct engine
{
  const unsigned *v; unsigned i, x, s;
  __device__ engine(const unsigned char *states, u64 id)
  {
    const unsigned *m = (const unsigned *)(states + id * 144);
    i = m[0]; x = m[1]; s = m[2]; v = m + 4;
  }
  __device__ void save(unsigned char *states, u64 id) const
  {
    unsigned *m = (unsigned *)(states + id * 144);
    m[0] = i; m[1] = x;
  }
  __device__ unsigned next()
  {
    const unsigned result = x ^ s, bit = __ffs(~i);
    ++i;
    if (bit) x ^= v[bit - 1]; else x = 0;
    return result;
  }
  __device__ u64 bits64() { return (u64)next() << 32; }
  __device__ float narrow() { return above_zero(next()); }
  __device__ double wide() { return next() * 2.3283064365386963e-10 + 1.1641532182693481e-10; }
};
";

pub(super) const SOBOL64_SOURCE: &str = "\
struct engine
{
  const u64 *v; u64 i, x, s;
  __device__ engine(const unsigned char *states, u64 id)
  {
    const u64 *m = (const u64 *)(states + id * 528);
    v = m + 2; i = m[0]; s = m[1];
    x = 0;
    for (u64 gray = i ^ i >> 1, k = 0; gray; gray >>= 1, ++k) if (gray & 1) x ^= v[k];
  }
  __device__ void save(unsigned char *states, u64 id) const { *(u64 *)(states + id * 528) = i; }
  __device__ u64 next()
  {
    const u64 result = x ^ s;
    const int bit = __ffsll(~i);
    ++i;
    if (bit) x ^= v[bit - 1]; else x = 0;
    return result;
  }
  __device__ u64 bits64() { return next(); }
  __device__ float narrow() { return (float)(next() * 5.4210108624275222e-20 + 2.7105054312137611e-20); }
  __device__ double wide() { return (next() >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17; }
};
";

/// Means below ten by products of uniform numbers (D. E. Knuth, TAOCP 2, 3.4.1), larger ones by W. Hoermann, "The
/// transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS.
pub(super) const POISSON_SOURCE: &str = "\
__device__ double poisson(engine &e, double mean)
{
  if (!(mean > 0)) return 0;
  if (mean < 10)
  {
    const double limit = exp(-mean);
    double product = e.wide();
    unsigned k = 0;
    for (; product > limit; ++k) product *= e.wide();
    return k;
  }
  const double s = sqrt(mean), l = log(mean), b = 0.931 + 2.53 * s, a = -0.059 + 0.02483 * b;
  const double inverse = 1.1239 + 1.1328 / (b - 3.4), r = 0.9277 - 3.6224 / (b - 2);
  for (;;)
  {
    const double u = e.wide() - 0.5, v = e.wide(), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <= -mean + k * l - lgamma(k + 1)) return k;
  }
}
";

/// One number of the sequence makes one element, as quasirandom numbers need; means above 500 are rounded normal
/// variables.
pub(super) const POISSON_BY_INVERSION_SOURCE: &str = "\
__device__ double poisson(engine &e, double mean)
{
  const double u = 1 - e.wide();
  if (!(mean > 0)) return 0;
  if (mean > 500) return fmax(0.0, floor(mean + sqrt(mean) * normcdfinv(u) + 0.5));
  double p = exp(-mean), sum = p;
  unsigned k = 0;
  while (u >= sum && k < 2000) { p *= mean / ++k; sum += p; }
  return k;
}
";
