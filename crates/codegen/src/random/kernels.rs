//! Sources of the kernels, assembled from an engine, a distribution and an element type.

use super::engines::{
    BOX_MULLER_SOURCE, CONVERSIONS_SOURCE, COUNTER_STREAM_SOURCE, FAST_SINCOS_SOURCE, MRG32K3A_SOURCE, PHILOX_SOURCE,
    POISSON_BY_INVERSION_SOURCE, POISSON_SOURCE, SINCOS_SOURCE, SOBOL32_SOURCE, SOBOL64_SOURCE, THREEFRY_SOURCE,
    XORWOW_SOURCE,
};
use crate::c_declarations::CType;
use rtcg_hal::{CompileSettings, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Threads per block of all kernels here.
pub const RANDOM_BLOCK_THREADS: u32 = 256;

/// A random number generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RandomEngine {
    /// Philox4x32-10 (Salmon et al. 2011): a function of key and counter.
    Philox,
    /// Threefry (Salmon et al. 2011): a function of key and counter.
    Threefry,
    /// Marsaglia's XORWOW, with cuRAND's sequence.
    Xorwow,
    /// L'Ecuyer's combined multiple recursive generator, with cuRAND's sequence.
    Mrg32k3a,
    /// Sobol's quasi-random sequence in 32 bits.
    Sobol32,
    /// Sobol's quasi-random sequence in 64 bits.
    Sobol64,
}

impl RandomEngine {
    /// Whether the number at any position can be computed independently.
    pub fn is_counter_based(self) -> bool {
        matches!(self, RandomEngine::Philox | RandomEngine::Threefry)
    }

    /// Whether the numbers are quasi-random: they fill space evenly rather than being independent.
    pub fn is_quasi(self) -> bool {
        matches!(self, RandomEngine::Sobol32 | RandomEngine::Sobol64)
    }

    /// Bits per number.
    pub fn output_bits(self) -> u32 {
        if self == RandomEngine::Sobol64 { 64 } else { 32 }
    }

    /// Size of a state on the device in bytes.
    pub fn state_bytes(self) -> usize {
        match self {
            RandomEngine::Philox | RandomEngine::Threefry => 0,
            RandomEngine::Xorwow | RandomEngine::Mrg32k3a => 24,
            // Index, current word, scramble and direction vectors.
            RandomEngine::Sobol32 => 8 * 2 + 4 * 32,
            RandomEngine::Sobol64 => 8 * 2 + 8 * 64,
        }
    }
}

/// The distribution of the numbers. `p` and `q` are the kernel's parameters of type double.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Random bits in all bits of the type.
    Bits,
    /// Uniform in (0, 1], cuRAND's convention.
    Uniform,
    /// Uniform in [p, q), NumPy's convention.
    HalfOpen,
    /// Uniform in [0, 1): equal to `HalfOpen` with p = 0 and q = 1; counter-based engines only.
    Unit,
    /// Normal with mean p and standard deviation q.
    Normal,
    /// Normal with mean 0 and standard deviation 1: equal to `Normal` with p = 0 and q = 1 except for the sign of
    /// zeros; counter-based engines only.
    StandardNormal,
    /// Log-normal: the exponential of a normal variable with mean p and standard deviation q.
    LogNormal,
    /// Exponential with mean p.
    Exponential,
    /// Poisson with mean p.
    Poisson,
    /// Poisson, with the mean given by the element's previous value.
    PoissonInPlace,
    /// Uniform integers in `low..low + range` (two 64-bit parameters instead of p and q); range 0 means all 64-bit
    /// numbers.
    Integers,
}

impl Distribution {
    /// Elements that one counter of a counter-based engine yields.
    pub fn elements_per_counter(self, itemsize: usize) -> usize {
        match self {
            Distribution::Poisson | Distribution::PoissonInPlace => 1,
            Distribution::Integers => 2,
            _ if itemsize <= 4 => 4,
            _ => 2,
        }
    }

    /// Whether each element takes the same few operations, so that a thread may make several at once.
    fn is_branch_free(self) -> bool {
        !matches!(self, Distribution::Poisson | Distribution::PoissonInPlace | Distribution::Integers)
    }
}

/// How the threads of a counter-based engine share counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterKernelOptions {
    /// Counters that a thread computes at a time.
    pub at_once: u32,
    /// Whether single-precision sines and cosines use the device's fast functions (errors of 2^-21), as in cuRAND,
    /// rather than polynomials (2^-23).
    pub fast: bool,
}

impl CounterKernelOptions {
    /// The options in use.
    pub const DEFAULT_OPTIONS: CounterKernelOptions = CounterKernelOptions { at_once: 4, fast: true };
}

/// Maximum number of counters per launch: their positions fit in 32 bits, with room for a step beyond the end.
pub const MAX_COUNTERS_PER_LAUNCH: u64 = 1 << 31;

/// The source of the kernel `fill`. Parameters: the array, `unsigned long n`, then p and q (or low and range), then for
/// counter-based engines `unsigned long first, key; unsigned stream`, for others the states and their number. A launch
/// has at most [`MAX_COUNTERS_PER_LAUNCH`] counters, which share their upper 32 bits.
pub fn source(engine: RandomEngine, draw: Distribution, element: &CType) -> String {
    source_with_options(engine, draw, element, CounterKernelOptions::DEFAULT_OPTIONS)
}

/// [`source`] with other options.
pub fn source_with_options(
    engine: RandomEngine,
    draw: Distribution,
    element: &CType,
    shape: CounterKernelOptions,
) -> String {
    let mut out = String::new();
    if let Some(header) = element.declaring_header() {
        let _ = writeln!(out, "#include <{header}>");
    }
    let _ = writeln!(out, "typedef {} element;\ntypedef unsigned long u64;", element.name);
    out.push_str(CONVERSIONS_SOURCE);
    if matches!(draw, Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal) {
        out.push_str(BOX_MULLER_SOURCE);
        out.push_str(if shape.fast { FAST_SINCOS_SOURCE } else { SINCOS_SOURCE });
    }
    out.push_str(match engine {
        RandomEngine::Philox => PHILOX_SOURCE,
        RandomEngine::Threefry => THREEFRY_SOURCE,
        RandomEngine::Xorwow => XORWOW_SOURCE,
        RandomEngine::Mrg32k3a => MRG32K3A_SOURCE,
        RandomEngine::Sobol32 => SOBOL32_SOURCE,
        RandomEngine::Sobol64 => SOBOL64_SOURCE,
    });
    if engine.is_counter_based() {
        out.push_str(COUNTER_STREAM_SOURCE);
    }
    let wide = element.itemsize == 8;
    if matches!(draw, Distribution::Poisson | Distribution::PoissonInPlace) {
        out.push_str(if engine.is_quasi() { POISSON_BY_INVERSION_SOURCE } else { POISSON_SOURCE });
    }
    let parameters = if draw == Distribution::Integers {
        "const u64 low, const u64 range"
    } else {
        "const double p, const double q"
    };
    if engine.is_counter_based() {
        emit_counter_kernel(&mut out, draw, element.itemsize, wide, parameters, shape);
    } else {
        emit_sequential_kernel(&mut out, engine, draw, wide, parameters);
    }
    out
}

/// Statements that put `elements_per_counter` elements into `v` from the words `w`.
fn counter_value_statements(draw: Distribution, wide: bool) -> String {
    let each = |count: usize, value: &str| {
        format!("#pragma unroll\n    for (int k = 0; k < {count}; ++k) v[k] = (element)({value});\n")
    };
    let shape = |value: &str| match draw {
        Distribution::LogNormal => format!("exp({value})"),
        _ => value.to_owned(),
    };
    let (narrow, broad) = match draw {
        Distribution::StandardNormal => ("", ""),
        _ => ("(float)p + (float)q * ", "p + q * "),
    };
    match (draw, wide) {
        (Distribution::Bits, false) => each(4, "w[k]"),
        (Distribution::Bits, true) => each(2, "(u64)w[2 * k + 1] << 32 | w[2 * k]"),
        (Distribution::Uniform, false) => each(4, "above_zero(w[k])"),
        (Distribution::Uniform, true) => each(2, "above_zero(w[2 * k], w[2 * k + 1])"),
        (Distribution::Unit, false) => each(4, "below_one(w[k])"),
        (Distribution::Unit, true) => each(2, "below_one(w[2 * k], w[2 * k + 1])"),
        (Distribution::HalfOpen, false) => each(4, "between(below_one(w[k]), (float)p, (float)q)"),
        (Distribution::HalfOpen, true) => each(2, "between(below_one(w[2 * k], w[2 * k + 1]), p, q)"),
        (Distribution::Exponential, false) => each(4, "-(float)p * logf(above_zero(w[k]))"),
        (Distribution::Exponential, true) => each(2, "-p * log(above_zero(w[2 * k], w[2 * k + 1]))"),
        (Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal, false) => {
            let line = |k: usize, part: &str| format!("v[{k}] = (element)({});\n", shape(&format!("{narrow}{part}")));
            format!(
                "float2 a = box_muller(w[0], w[1]), b = box_muller(w[2], w[3]);\n{}{}{}{}",
                line(0, "a.x"),
                line(1, "a.y"),
                line(2, "b.x"),
                line(3, "b.y")
            )
        }
        (Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal, true) => format!(
            "double2 a = box_muller(w[0], w[1], w[2], w[3]);\nv[0] = (element)({});\nv[1] = (element)({});\n",
            shape(&format!("{broad}a.x")),
            shape(&format!("{broad}a.y"))
        ),
        (Distribution::Poisson, _) => "counter_stream e(c, key, stream, w); v[0] = (element)poisson(e, p);\n".into(),
        (Distribution::PoissonInPlace, _) => "counter_stream e(c, key, stream, w); v[0] = (element)poisson(e, (double)out[at]);\n".into(),
        (Distribution::Integers, _) => {
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
fn emit_counter_kernel(
    out: &mut String,
    draw: Distribution,
    itemsize: usize,
    wide: bool,
    parameters: &str,
    shape: CounterKernelOptions,
) {
    let per = draw.elements_per_counter(itemsize);
    let bytes = per * itemsize;
    let store = match bytes {
        16 => "int4",
        8 => "int2",
        4 => "int",
        _ => "",
    };
    let values = counter_value_statements(draw, wide);
    let one = |at: &str, v: &str| {
        format!(
            "const unsigned at = {at};\n    const u64 c = (u64)upper << 32 | (lower + at);\n    unsigned w[4];\n\
             \x20   draw(c, key, stream, 0, w);\n    element *const v = {v};\n    {values}"
        )
    };
    let _ = write!(
        out,
        "extern \"C\" __global__ void __launch_bounds__({RANDOM_BLOCK_THREADS}) fill(element *out, const u64 n, {parameters}, const u64 first, const u64 key, const unsigned stream)\n\
         {{\n  const unsigned total = gridDim.x * blockDim.x, upper = (unsigned)(first >> 32), lower = (unsigned)first;\n\
         \x20 const unsigned count = (unsigned)((n + {per} - 1) / {per});\n\
         \x20 unsigned next = blockIdx.x * blockDim.x + threadIdx.x;\n"
    );
    if draw.is_branch_free() && !store.is_empty() {
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

fn emit_sequential_kernel(out: &mut String, engine: RandomEngine, draw: Distribution, wide: bool, parameters: &str) {
    let uniform = if wide { "e.wide()" } else { "e.narrow()" };
    let (scale, exp) = if wide { ("p + q * ", "exp") } else { ("(float)p + (float)q * ", "expf") };
    let shape = |value: &str| match draw {
        Distribution::LogNormal => format!("{exp}({scale}{value})"),
        _ => format!("{scale}{value}"),
    };
    let normal = matches!(draw, Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal);
    let _ = write!(
        out,
        "extern \"C\" __global__ void __launch_bounds__({RANDOM_BLOCK_THREADS}) fill(element *out, const u64 n, {parameters}, unsigned char *states, const u64 count)\n\
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
            Distribution::Bits if wide => "e.bits64()".to_owned(),
            // The low bits of a sequence of 64 change only after as many numbers.
            Distribution::Bits if engine == RandomEngine::Sobol64 => "(unsigned)(e.next() >> 32)".to_owned(),
            Distribution::Bits => "e.next()".to_owned(),
            Distribution::Uniform => uniform.to_owned(),
            Distribution::HalfOpen | Distribution::Unit => format!("between(1 - {uniform}, p, q)"),
            Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal if wide => {
                shape("normcdfinv(e.wide())")
            }
            Distribution::Normal | Distribution::StandardNormal | Distribution::LogNormal => {
                shape("normcdfinvf(e.narrow())")
            }
            Distribution::Exponential => format!("-p * log((double){uniform})"),
            Distribution::Poisson => "poisson(e, p)".to_owned(),
            Distribution::PoissonInPlace => "poisson(e, (double)out[k])".to_owned(),
            Distribution::Integers => "low + (range ? __umul64hi(e.bits64(), range) : e.bits64())".to_owned(),
        };
        out.push_str("  u64 k = id;\n");
        if matches!(draw, Distribution::Bits | Distribution::Uniform | Distribution::HalfOpen) {
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

/// The source of the kernel `permute`: element `i` of the result is element `i` of a random permutation of `0..n`.
/// Parameters: the array, `unsigned long n, key; unsigned stream, half` with `n <= 4^half`.
///
/// A Feistel network over `2 * half` bits is a bijection; it is iterated until the value is below `n` (R. Mitchell, D.
/// Stokes, E. Frank and G. Holmes, "Bandwidth-Optimal Random Shuffling for GPUs", 2022, use the same idea). Twenty-four
/// rounds with Philox's multiplier mix the halves.
pub fn permutation_source(element: &CType) -> String {
    format!(
        "typedef {} element;\ntypedef unsigned long u64;\n{PHILOX_SOURCE}\
extern \"C\" __global__ void __launch_bounds__({RANDOM_BLOCK_THREADS}) permute(element *out, const u64 n, const u64 key, const unsigned stream, const unsigned half)
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

/// A kernel of random numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RandomKernel {
    /// [`source`].
    Fill(RandomEngine, Distribution, CType),
    /// [`permutation_source`].
    Permute(CType),
}

impl KernelSpec for RandomKernel {
    fn kernel_name(&self) -> Cow<'static, str> {
        if let Self::Permute(_) = self { "permute".into() } else { "fill".into() }
    }

    fn source(&self) -> String {
        match self {
            Self::Fill(engine, draw, element) => source(*engine, *draw, element),
            Self::Permute(element) => permutation_source(element),
        }
    }

    /// Whatever options the environment has: they could change the numbers.
    fn settings(&self) -> Option<&CompileSettings> {
        static WITHOUT_OPTIONS: CompileSettings = CompileSettings { options: Some(Vec::new()), keep: false };
        Some(&WITHOUT_OPTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::DType;

    #[test]
    fn four_floats_per_counter_use_one_vector_store() {
        let text = source(RandomEngine::Philox, Distribution::HalfOpen, &CType::from(DType::F32));
        assert!(text.contains("*(int4 *)(out + (u64)(next + u * total) * 4) = *(const int4 *)all[u];"), "{text}");
        assert_eq!(Distribution::Normal.elements_per_counter(8), 2);
    }
}
