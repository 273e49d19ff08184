//! Source of the kernels: an engine, a distribution and an element type put together.

use crate::carg::CType;
use std::fmt::Write;

/// Threads of a block of every kernel here.
pub const COUNTER_THREADS: u32 = 256;

/// A generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Engine {
    Philox,
    Threefry,
    Xorwow,
    Mrg32k3a,
    Sobol32,
    Sobol64,
}

impl Engine {
    /// Whether the number at any place can be computed by itself.
    pub fn is_counter_based(self) -> bool {
        matches!(self, Engine::Philox | Engine::Threefry)
    }

    /// Whether the numbers fill space evenly rather than being independent.
    pub fn is_quasi(self) -> bool {
        matches!(self, Engine::Sobol32 | Engine::Sobol64)
    }

    /// Bits of a number.
    pub fn bits(self) -> u32 {
        if self == Engine::Sobol64 { 64 } else { 32 }
    }

    /// Bytes of a state on the device.
    pub fn state_bytes(self) -> usize {
        match self {
            Engine::Philox | Engine::Threefry => 0,
            Engine::Xorwow | Engine::Mrg32k3a => 24,
            // Index, current word, scramble and direction vectors.
            Engine::Sobol32 => 8 * 2 + 4 * 32,
            Engine::Sobol64 => 8 * 2 + 8 * 64,
        }
    }
}

/// What is made of the random bits. `p` and `q` are the kernel's parameters of type double.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Draw {
    /// Random bits of the whole type.
    Bits,
    /// Uniform in (0, 1], cuRAND's convention.
    Uniform,
    /// Uniform in [p, q), NumPy's convention.
    HalfOpen,
    /// Uniform in [0, 1): the numbers of `HalfOpen` for p = 0 and q = 1; counter-based engines only.
    Unit,
    /// Normal with mean p and standard deviation q.
    Normal,
    /// The exponential of a normal variable of mean p and standard deviation q.
    LogNormal,
    /// Exponential with mean p.
    Exponential,
    /// Poisson with mean p.
    Poisson,
    /// Poisson with the mean that the element holds.
    PoissonInPlace,
    /// Integers from `low` on, `range` of them (two parameters of 64 bits in place of p and q); range 0
    /// means all of 64 bits.
    Integers,
}

impl Draw {
    /// Elements that one counter of a counter-based engine makes.
    pub fn per_counter(self, itemsize: usize) -> usize {
        match self {
            Draw::Poisson | Draw::PoissonInPlace => 1,
            Draw::Integers => 2,
            _ if itemsize <= 4 => 4,
            _ => 2,
        }
    }

    /// Whether each element takes the same few operations, so that a thread may make several at once.
    fn is_plain(self) -> bool {
        !matches!(self, Draw::Poisson | Draw::PoissonInPlace | Draw::Integers)
    }
}

/// How the threads of a counter-based engine share counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterShape {
    /// Counters that a thread computes side by side.
    pub at_once: u32,
    /// Sines and cosines of single precision by the device's fast functions (errors of 2^-21), as
    /// cuRAND takes them, else by polynomials (2^-23).
    pub fast: bool,
}

impl CounterShape {
    /// What is used.
    pub const DEFAULT: CounterShape = CounterShape { at_once: 4, fast: true };
}

/// Counters that one launch may have: their places fit 32 bits, with room for a step behind the end.
pub const MOST_COUNTERS: u64 = 1 << 31;

/// The kernel `fill`. Parameters: the array, `unsigned long n`, then p and q (or low and range), then
/// for counter-based engines `unsigned long first, key; unsigned stream`, for others the states and their
/// number. A launch has at most [`MOST_COUNTERS`] counters, the upper 32 bits of which are alike.
pub fn source(engine: Engine, draw: Draw, element: &CType) -> String {
    source_in(engine, draw, element, CounterShape::DEFAULT)
}

/// [`source`] in another shape.
pub fn source_in(engine: Engine, draw: Draw, element: &CType, shape: CounterShape) -> String {
    let mut out = String::new();
    if let Some(header) = element.header() {
        let _ = writeln!(out, "#include <{header}>");
    }
    let _ = writeln!(out, "typedef {} element;\ntypedef unsigned long u64;", element.name);
    out.push_str(CONVERSIONS);
    if matches!(draw, Draw::Normal | Draw::LogNormal) {
        out.push_str(BOX_MULLER);
        out.push_str(if shape.fast { FAST_TURN } else { TURN });
    }
    out.push_str(match engine {
        Engine::Philox => PHILOX,
        Engine::Threefry => THREEFRY,
        Engine::Xorwow => XORWOW,
        Engine::Mrg32k3a => MRG,
        Engine::Sobol32 => SOBOL32,
        Engine::Sobol64 => SOBOL64,
    });
    if engine.is_counter_based() {
        out.push_str(COUNTER);
    }
    let wide = element.itemsize == 8;
    if matches!(draw, Draw::Poisson | Draw::PoissonInPlace) {
        out.push_str(if engine.is_quasi() { POISSON_BY_INVERSION } else { POISSON });
    }
    let parameters =
        if draw == Draw::Integers { "const u64 low, const u64 range" } else { "const double p, const double q" };
    if engine.is_counter_based() {
        put_counter_kernel(&mut out, draw, element.itemsize, wide, parameters, shape);
    } else {
        put_sequential_kernel(&mut out, engine, draw, wide, parameters);
    }
    out
}

/// Statements that put `per_counter` elements into `v` from the words `w`.
fn counter_values(draw: Draw, wide: bool) -> String {
    let each = |count: usize, value: &str| {
        format!("#pragma unroll\n    for (int k = 0; k < {count}; ++k) v[k] = (element)({value});\n")
    };
    let shape = |value: &str| match draw {
        Draw::LogNormal => format!("exp({value})"),
        _ => value.to_owned(),
    };
    match (draw, wide) {
        (Draw::Bits, false) => each(4, "w[k]"),
        (Draw::Bits, true) => each(2, "(u64)w[2 * k + 1] << 32 | w[2 * k]"),
        (Draw::Uniform, false) => each(4, "above_zero(w[k])"),
        (Draw::Uniform, true) => each(2, "above_zero(w[2 * k], w[2 * k + 1])"),
        (Draw::Unit, false) => each(4, "below_one(w[k])"),
        (Draw::Unit, true) => each(2, "below_one(w[2 * k], w[2 * k + 1])"),
        (Draw::HalfOpen, false) => each(4, "between(below_one(w[k]), (float)p, (float)q)"),
        (Draw::HalfOpen, true) => each(2, "between(below_one(w[2 * k], w[2 * k + 1]), p, q)"),
        (Draw::Exponential, false) => each(4, "-(float)p * logf(above_zero(w[k]))"),
        (Draw::Exponential, true) => each(2, "-p * log(above_zero(w[2 * k], w[2 * k + 1]))"),
        (Draw::Normal | Draw::LogNormal, false) => {
            let line = |k: usize, part: &str| format!("v[{k}] = (element)({});\n", shape(&format!("(float)p + (float)q * {part}")));
            format!(
                "float2 a = box_muller(w[0], w[1]), b = box_muller(w[2], w[3]);\n{}{}{}{}",
                line(0, "a.x"),
                line(1, "a.y"),
                line(2, "b.x"),
                line(3, "b.y")
            )
        }
        (Draw::Normal | Draw::LogNormal, true) => format!(
            "double2 a = box_muller(w[0], w[1], w[2], w[3]);\nv[0] = (element)({});\nv[1] = (element)({});\n",
            shape("p + q * a.x"),
            shape("p + q * a.y")
        ),
        (Draw::Poisson, _) => "words e(c, key, stream, w); v[0] = (element)poisson(e, p);\n".into(),
        (Draw::PoissonInPlace, _) => "words e(c, key, stream, w); v[0] = (element)poisson(e, (double)out[at]);\n".into(),
        (Draw::Integers, _) => {
            "#pragma unroll\n    for (int k = 0; k < 2; ++k)\n    {\n      u64 x = (u64)w[2 * k + 1] << 32 | w[2 * k];\n\
             \x20     if (range)\n      {\n\
             \x20       // D. Lemire, \"Fast Random Integer Generation in an Interval\" (2019): what would come too often is drawn again.\n\
             \x20       u64 high = __umul64hi(x, range), low_bits = x * range;\n\
             \x20       if (low_bits < range)\n        {\n\
             \x20         const u64 limit = (0 - range) % range;\n\
             \x20         for (unsigned again = 1; low_bits < limit; ++again)\n          {\n\
             \x20           unsigned r[4];\n            draw(c, key, stream, again, r);\n\
             \x20           x = (u64)r[2 * k + 1] << 32 | r[2 * k];\n\
             \x20           high = __umul64hi(x, range); low_bits = x * range;\n          }\n        }\n        x = high;\n      }\n\
             \x20     v[k] = (element)(low + x);\n    }\n"
                .into()
        }
    }
}

/// The upper half of the counters is the same for all, and where they are plain, a thread makes several
/// side by side while all of their elements lie in the array.
fn put_counter_kernel(
    out: &mut String,
    draw: Draw,
    itemsize: usize,
    wide: bool,
    parameters: &str,
    shape: CounterShape,
) {
    let per = draw.per_counter(itemsize);
    let bytes = per * itemsize;
    let store = match bytes {
        16 => "int4",
        8 => "int2",
        4 => "int",
        _ => "",
    };
    let values = counter_values(draw, wide);
    let one = |at: &str, v: &str| {
        format!(
            "const unsigned at = {at};\n    const u64 c = (u64)upper << 32 | (lower + at);\n    unsigned w[4];\n\
             \x20   draw(c, key, stream, 0, w);\n    element *const v = {v};\n    {values}"
        )
    };
    let _ = write!(
        out,
        "extern \"C\" __global__ void __launch_bounds__({COUNTER_THREADS}) fill(element *out, const u64 n, {parameters}, const u64 first, const u64 key, const unsigned stream)\n\
         {{\n  const unsigned total = gridDim.x * blockDim.x, upper = (unsigned)(first >> 32), lower = (unsigned)first;\n\
         \x20 const unsigned count = (unsigned)((n + {per} - 1) / {per});\n\
         \x20 unsigned next = blockIdx.x * blockDim.x + threadIdx.x;\n"
    );
    if draw.is_plain() && !store.is_empty() {
        let at_once = shape.at_once.max(1);
        let _ = write!(
            out,
            "  const unsigned whole = (u64)out % {bytes} == 0 ? (unsigned)(n / {per}) : 0;\n\
             \x20 for (; next + {ahead} * total < whole; next += {at_once} * total)\n  {{\n\
             \x20   alignas({bytes}) element all[{at_once}][{per}];\n    #pragma unroll\n\
             \x20   for (int u = 0; u < {at_once}; ++u)\n    {{\n    {one}    }}\n    #pragma unroll\n\
             \x20   for (int u = 0; u < {at_once}; ++u) *({store} *)(out + (u64)(next + u * total) * {per}) = *(const {store} *)all[u];\n  }}\n",
            ahead = at_once - 1,
            one = one("next + u * total", "all[u]"),
        );
    }
    let _ = write!(
        out,
        "  for (; next < count; next += total)\n  {{\n    alignas({bytes}) element all[{per}];\n    {one}\
         \x20   #pragma unroll\n    for (int k = 0; k < {per}; ++k) if ((u64)at * {per} + k < n) out[(u64)at * {per} + k] = v[k];\n  }}\n}}\n",
        one = one("next", "all")
    );
}

fn put_sequential_kernel(out: &mut String, engine: Engine, draw: Draw, wide: bool, parameters: &str) {
    let uniform = if wide { "e.wide()" } else { "e.narrow()" };
    let (scale, exp) = if wide { ("p + q * ", "exp") } else { ("(float)p + (float)q * ", "expf") };
    let shape = |value: &str| match draw {
        Draw::LogNormal => format!("{exp}({scale}{value})"),
        _ => format!("{scale}{value}"),
    };
    let normal = matches!(draw, Draw::Normal | Draw::LogNormal);
    let _ = write!(
        out,
        "extern \"C\" __global__ void __launch_bounds__({COUNTER_THREADS}) fill(element *out, const u64 n, {parameters}, unsigned char *states, const u64 count)\n\
         {{\n  const u64 id = (u64)blockIdx.x * blockDim.x + threadIdx.x;\n  if (id >= count || id >= n) return;\n\
         \x20 engine e(states, id);\n"
    );
    if normal && !engine.is_quasi() {
        // Each state makes the two numbers of a pair one after the other.
        let (pair, u) = if wide { ("double2", "e.wide()") } else { ("float2", "e.narrow()") };
        let _ = write!(
            out,
            "  for (u64 k = id; k < n; k += 2 * count)\n  {{\n\
             \x20   const {real} u = {u}, v = {u};\n    const {pair} z = box_muller_of(u, v);\n\
             \x20   out[k] = (element)({first});\n    if (k + count < n) out[k + count] = (element)({second});\n  }}\n",
            real = if wide { "double" } else { "float" },
            first = shape("z.x"),
            second = shape("z.y"),
        );
    } else {
        let value = match draw {
            Draw::Bits if wide => "e.bits64()".to_owned(),
            Draw::Bits => "e.next()".to_owned(),
            Draw::Uniform => uniform.to_owned(),
            Draw::HalfOpen | Draw::Unit => format!("between(1 - {uniform}, p, q)"),
            Draw::Normal | Draw::LogNormal if wide => shape("normcdfinv(e.wide())"),
            Draw::Normal | Draw::LogNormal => shape("normcdfinvf(e.narrow())"),
            Draw::Exponential => format!("-p * log((double){uniform})"),
            Draw::Poisson => "poisson(e, p)".to_owned(),
            Draw::PoissonInPlace => "poisson(e, (double)out[k])".to_owned(),
            Draw::Integers => "low + (range ? __umul64hi(e.bits64(), range) : e.bits64())".to_owned(),
        };
        out.push_str("  u64 k = id;\n");
        if matches!(draw, Draw::Bits | Draw::Uniform | Draw::HalfOpen) {
            // Elements that are there for certain, so that what follows a number overlaps the next one.
            let _ = write!(
                out,
                "  for (; k + 3 * count < n; k += 4 * count)\n  {{\n    element v[4];\n    #pragma unroll\n\
                 \x20   for (int j = 0; j < 4; ++j) v[j] = (element)({value});\n    #pragma unroll\n\
                 \x20   for (int j = 0; j < 4; ++j) out[k + j * count] = v[j];\n  }}\n"
            );
        }
        let _ = writeln!(out, "  for (; k < n; k += count) out[k] = (element)({value});");
    }
    out.push_str("  e.save(states, id);\n}\n");
}

const CONVERSIONS: &str = "\
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
const BOX_MULLER: &str = "\
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
const TURN: &str = "\
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

const FAST_TURN: &str = "\
__device__ __forceinline__ void turn(float v, float *s, float *c)
{
  // Symmetric about zero, where the device's functions are most accurate.
  const float x = (v - 0.5f) * 6.28318531f;
  *s = -__sinf(x);
  *c = -__cosf(x);
}
";

const PHILOX: &str = "\
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

const THREEFRY: &str = "\
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
const COUNTER: &str = "\
struct words
{
  u64 c, key; unsigned stream, again, at, w[4];
  __device__ words(u64 c, u64 key, unsigned stream, const unsigned *first) : c(c), key(key), stream(stream), again(0), at(0)
  { for (int k = 0; k < 4; ++k) w[k] = first[k]; }
  __device__ unsigned next()
  {
    if (at == 4) { draw(c, key, stream, ++again, w); at = 0; }
    return at == 0 ? w[at++] : at == 1 ? w[at++] : at == 2 ? w[at++] : w[at++];
  }
  __device__ double wide() { const unsigned x = next(), y = next(); return above_zero(x, y); }
};
typedef words engine;
";

const XORWOW: &str = "\
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

const MRG: &str = "\
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

const SOBOL32: &str = "\
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

const SOBOL64: &str = "\
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
const POISSON: &str = "\
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
const POISSON_BY_INVERSION: &str = "\
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

/// The kernel `permute`: element `i` of the result is place `i` of a random permutation of `0..n`.
/// Parameters: the array, `unsigned long n, key; unsigned stream, half` with `n <= 4^half`.
///
/// A Feistel network over `2 * half` bits is a bijection; it is walked until the value lies below `n`
/// (R. Mitchell, D. Stokes, E. Frank and G. Holmes, "Bandwidth-Optimal Random Shuffling for GPUs", 2022,
/// use the same idea). Twenty-four rounds with Philox's multiplier mix the halves.
pub fn permutation_source(element: &CType) -> String {
    format!(
        "typedef {} element;\ntypedef unsigned long u64;\n{PHILOX}\
extern \"C\" __global__ void __launch_bounds__({COUNTER_THREADS}) permute(element *out, const u64 n, const u64 key, const unsigned stream, const unsigned half)
{{
  __shared__ unsigned keys[24];
  if (threadIdx.x < 6) draw(threadIdx.x, key, stream, 0x80000000u, keys + 4 * threadIdx.x);
  __syncthreads();
  const unsigned mask = half < 32 ? (1u << half) - 1 : 0xffffffffu;
  const u64 total = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += total)
  {{
    u64 x = i;
    do
    {{
      unsigned left = (unsigned)(x >> half), right = (unsigned)x & mask;
      #pragma unroll 4
      for (int round = 0; round < 24; ++round)
      {{
        const u64 product = (u64)0xD2511F53u * (right ^ keys[round]);
        const unsigned mixed = left ^ (((unsigned)(product >> 32) ^ (unsigned)product * 0x9E3779B9u >> (32 - half)) & mask);
        left = right;
        right = mixed;
      }}
      x = (u64)left << half | right;
    }} while (x >= n);
    out[i] = (element)x;
  }}
}}
",
        element.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn four_floats_of_a_counter_are_stored_at_once() {
        let text = source(Engine::Philox, Draw::HalfOpen, &CType::from(DType::F32));
        assert!(text.contains("*(int4 *)(out + (u64)(next + u * total) * 4) = *(const int4 *)all[u];"), "{text}");
        assert_eq!(Draw::Normal.per_counter(8), 2);
    }
}
