//! Kernels of discrete Fourier transforms: Stockham's algorithm with mixed radices, in registers and shared memory.
//!
//! A block computes several transforms of one length. A thread loads the elements of a butterfly into registers,
//! transforms them, and exchanges them with other threads through shared memory, stage by stage; the first stage reads
//! and the last one writes global memory. Long transforms take several such passes (the "four-step" scheme of W. M.
//! Gentleman and G. Sande, 1966), and the store of a pass applies twiddles and transposes. Kernels compute the forward
//! transform; swapping real and imaginary parts before and after gives the inverse.

mod butterfly;
mod helper_kernels;

pub use helper_kernels::{FftHelper, FftHelperKernel};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Maximum number of stages in a pass.
pub const FFT_STAGES: usize = 8;
/// Shared memory that a kernel can declare.
const MAX_STATIC_SMEM_BYTES: usize = 48 << 10;

/// The form of the elements that a pass reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FftSource {
    /// Complex numbers.
    Complex,
    /// Real numbers.
    Real,
    /// Two adjacent real numbers as one complex number.
    Pair,
    /// The first half of a Hermitian sequence of complex numbers.
    Hermitian,
}

/// The form of the elements that a pass writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FftResult {
    /// Complex numbers.
    Complex,
    /// Real parts.
    Real,
    /// Complex numbers as two adjacent real numbers.
    Pair,
}

/// How a pass reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FftLoad {
    /// The form of an element.
    pub source: FftSource,
    /// Whether elements beyond a limit are zero.
    pub is_limited: bool,
    /// Whether real and imaginary parts are swapped.
    pub is_swapped: bool,
    /// Whether elements are multiplied by those of a table.
    pub has_factors: bool,
    /// Whether adjacent threads read the same element of adjacent transforms.
    pub by_columns: bool,
}

/// How a pass writes; its operations run in the order of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FftStore {
    /// Whether elements are multiplied by the twiddles of a longer transform.
    pub applies_twiddles: bool,
    /// Whether real and imaginary parts are swapped.
    pub is_swapped: bool,
    /// Whether elements are multiplied by those of a table.
    pub has_factors: bool,
    /// Whether elements are multiplied by a scale factor.
    pub is_scaled: bool,
    /// Whether real and imaginary parts are swapped at the end.
    pub is_swapped_last: bool,
    /// The form of an element.
    pub result: FftResult,
    /// Whether elements beyond a limit are not written.
    pub is_limited: bool,
    /// Whether adjacent threads write the same element of adjacent transforms.
    pub by_columns: bool,
}

/// A pass, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FftPassSpec {
    /// `C64` or `C128`.
    pub dtype: DType,
    /// Radices of the butterflies, 2 to 16 without prime factors above 13; 0 after the last one.
    pub radices: [u8; FFT_STAGES],
    /// Threads per transform.
    pub threads: u16,
    /// Transforms per block.
    pub columns: u16,
    /// Elements between padding elements in shared memory, which avoid bank conflicts; 0 for none.
    pub pad_interval: u16,
    /// How elements are read.
    pub load: FftLoad,
    /// How elements are written.
    pub store: FftStore,
}

impl FftPassSpec {
    fn stage_radices(&self) -> impl Iterator<Item = usize> + Clone {
        self.radices.into_iter().take_while(|&radix| radix != 0).map(usize::from)
    }

    /// Elements per transform.
    pub fn transform_length(&self) -> usize {
        self.stage_radices().product()
    }

    /// Threads per block, in whole warps.
    pub fn block_threads(&self) -> u32 {
        (u32::from(self.threads) * u32::from(self.columns)).next_multiple_of(32)
    }

    /// The threads of a block; of many that have 16 elements in registers, a multiprocessor should have two blocks.
    fn launch_bounds(&self) -> &'static str {
        let has_few = self.dtype == DType::C64 && self.transform_length() <= 16 * usize::from(self.threads);
        if has_few && self.block_threads() == 512 { "THREADS, 2" } else { "THREADS" }
    }

    /// Shared memory per block in bytes.
    pub fn shared_bytes(&self) -> usize {
        if self.stage_radices().count() == 1 {
            return 0;
        }
        let elements = self.transform_length() * usize::from(self.columns);
        (elements + elements.checked_div(self.pad_interval.into()).unwrap_or(0)) * self.dtype.itemsize()
    }

    /// The dynamic part of [`FftPassSpec::shared_bytes`]: all of it if a kernel cannot declare that much statically.
    pub fn dynamic_smem_bytes(&self) -> u32 {
        let bytes = self.shared_bytes();
        if bytes > MAX_STATIC_SMEM_BYTES { bytes as u32 } else { 0 }
    }

    fn write_load(&self, text: &mut String) {
        let load = self.load;
        let limited = |index: &str, value: &str| match load.is_limited {
            true => format!("{index} < p.in_limit ? {value} : C{{0, 0}}"),
            false => value.into(),
        };
        let body = match load.source {
            FftSource::Complex => format!("  C z = {};\n", limited("at", "*(const C *)from")),
            FftSource::Real => format!("  C z = {};\n", limited("at", "C{*(const R *)from, 0}")),
            FftSource::Pair => format!(
                "  C z = {};\n  {} z.y = *(const R *)(from + p.in_half);\n",
                limited("2 * at", "C{*(const R *)from, 0}"),
                if load.is_limited { "if (2 * at + 1 < p.in_limit)" } else { "" }
            ),
            // The address is that of the element if it were there.
            FftSource::Hermitian => format!(
                "  const bool back = 2 * at > p.length;\n\
                 \x20 const I near = back ? p.length - at : at;\n\
                 \x20 from += (near - at) * p.in_element;\n\
                 \x20 C z = {};\n\
                 \x20 if (near == 0 || 2 * near == p.length) z.y = 0;\n\
                 \x20 if (back) z.y = -z.y;\n",
                limited("near", "*(const C *)from")
            ),
        };
        text.push_str("__device__ __forceinline__ C load(const char *from, I at, const Plan &p, const C *__restrict__ factors)\n{\n");
        // What lies behind the elements of a transform that is a longer one's part is not there to be read.
        if load.has_factors {
            text.push_str("  if (at >= p.length) return C{0, 0};\n");
        }
        text.push_str(&body);
        if load.is_swapped {
            text.push_str("  z = C{z.y, z.x};\n");
        }
        if load.has_factors {
            text.push_str("  z = times(z, factors[at]);\n");
        }
        text.push_str("  return z;\n}\n");
    }

    fn write_store(&self, text: &mut String) {
        let store = self.store;
        text.push_str(
            "__device__ __forceinline__ void store(char *to, C z, I at, unsigned long long twiddle_exponent, const Plan &p, const C *__restrict__ factors, const C *__restrict__ twiddles)\n{\n",
        );
        if store.is_limited {
            text.push_str("  if (at >= p.out_limit) return;\n");
        }
        let swap = "  z = C{z.y, z.x};\n";
        let lines = [
            (
                store.applies_twiddles,
                "  z = times(z, times(twiddles[twiddle_exponent & ((1ull << p.bits) - 1)], twiddles[(1ull << p.bits) + (twiddle_exponent >> p.bits)]));\n",
            ),
            (store.is_swapped, swap),
            (store.has_factors, "  z = times(z, factors[at]);\n"),
            (store.is_scaled, "  z = C{z.x * (R)p.scale, z.y * (R)p.scale};\n"),
            (store.is_swapped_last, swap),
        ];
        lines.iter().filter(|line| line.0).for_each(|line| text.push_str(line.1));
        text.push_str(match store.result {
            FftResult::Complex => "  *(C *)to = z;\n}\n",
            FftResult::Real => "  *(R *)to = z.x;\n}\n",
            FftResult::Pair => "  *(R *)to = z.x;\n  *(R *)(to + p.out_half) = z.y;\n}\n",
        });
    }

    fn write_kernel(&self, text: &mut String) {
        text.push_str(KERNEL_PROLOGUE_SOURCE);
        let count = self.stage_radices().count();
        if self.dynamic_smem_bytes() > 0 {
            text.push_str("  extern __shared__ C room[];\n");
        } else if count > 1 {
            text.push_str("  __shared__ C room[PAD_INTERVAL ? M * COLUMNS + M * COLUMNS / (PAD_INTERVAL + !PAD_INTERVAL) : M * COLUMNS];\n");
        }
        let (mut before, mut table) = (1, 0);
        for (stage, radix) in self.stage_radices().enumerate() {
            let stage = FftStage { radix, before, table, is_first: stage == 0, is_last: stage + 1 == count };
            if !stage.is_first {
                table += (radix - 1) * before;
            }
            self.write_stage(text, &stage);
            before *= radix;
        }
        text.push_str("}\n");
    }

    /// A stage: butterflies whose elements are `M / radix` apart, and are written `before` apart.
    fn write_stage(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, before, is_first, is_last, .. } = *stage;
        let butterflies = self.transform_length() / radix;
        let each = butterflies.div_ceil(usize::from(self.threads));
        let by_columns =
            if is_first && self.stage_radices().count() > 1 { self.load.by_columns } else { self.store.by_columns };
        let (c, u) = if by_columns { ("t % COLUMNS", "t / COLUMNS") } else { ("t / T", "t % T") };
        let _ = write!(
            text,
            "  {{ // Radix {radix}, behind {before}.\n\
             \x20   enum {{ RADIX = {radix}, BEFORE = {before}, EACH = {each}, STEP = {butterflies} }};\n\
             \x20   const unsigned int c = {c}, u = {u};\n\
             \x20   C v[EACH][RADIX];\n"
        );
        if is_first || is_last {
            text.push_str("    const I column = first + c;\n    const bool is_there = column < p.size[0];\n");
        }
        self.write_stage_loads(text, stage);
        self.write_stage_stores(text, stage);
        text.push_str("  }\n");
    }

    /// A loop of each thread over its butterflies of a stage.
    fn write_stage_loop(&self, text: &mut String, radix: usize, body: &str) {
        let (butterflies, threads) = (self.transform_length() / radix, usize::from(self.threads));
        let some = if butterflies.is_multiple_of(threads) { String::new() } else { format!(" if (i < {butterflies})") };
        let has_all_threads = self.block_threads() == u32::from(self.threads) * u32::from(self.columns);
        let guard = if has_all_threads { "" } else { "if (t < T * COLUMNS) " };
        let _ = write!(
            text,
            "    {guard}{{\n      #pragma unroll\n      for (int b = 0; b < EACH; b++) {{\n        const unsigned int i = u + b * T;\n       {some} {{\n{body}        }}\n      }}\n    }}\n"
        );
    }

    /// An element of the transforms of a block in shared memory.
    fn shared_element(&self, at: &str) -> String {
        let shares_columns = self.load.by_columns || self.store.by_columns;
        let place = if shares_columns { format!("({at}) * COLUMNS + c") } else { format!("c * M + ({at})") };
        format!("room[padded_index({place})]")
    }

    /// Reads the elements of a stage's butterflies, from global memory in the first stage, and computes them.
    fn write_stage_loads(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, table, is_first, .. } = *stage;
        let mut read = String::new();
        if is_first {
            // Transforms behind the last one are read as the last one, so that warps stay together.
            text.push_str(
                "    const I nearest = is_there ? column : p.size[0] - 1;\n\
                 \x20   const char *const from = in + in_start + nearest * p.in_stride[0];\n\
                 \x20   const I at = at_start + nearest * p.at[0];\n",
            );
            read.push_str(
                "          #pragma unroll\n          for (int r = 0; r < RADIX; r++) {\n            const unsigned int j = i + r * STEP;\n\
                 \x20           v[b][r] = load(from + j * p.in_step, at + j * p.at_step, p, in_factors);\n          }\n",
            );
        } else {
            let _ = write!(
                read,
                "          #pragma unroll\n          for (int r = 0; r < RADIX; r++) v[b][r] = {};\n\
                 \x20         #pragma unroll\n          for (int r = 1; r < RADIX; r++) v[b][r] = times(v[b][r], stages[{table} + (r - 1) * BEFORE + i % BEFORE]);\n",
                self.shared_element("i + r * STEP")
            );
        }
        let _ = writeln!(read, "          dft{radix}(v[b]);");
        self.write_stage_loop(text, radix, &read);
    }

    /// Writes the results of a stage, to global memory in the last stage.
    fn write_stage_stores(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, is_first, is_last, .. } = *stage;
        if is_last {
            text.push_str(
                "    char *const to = out + out_start + column * p.out_stride[0];\n\
                 \x20   const I to_place = to_start + column * p.to[0];\n\
                 \x20   const unsigned long long twiddle_exponent = at_start + column * p.at[0];\n",
            );
            self.write_stage_loop(
                text,
                radix,
                "          #pragma unroll\n          for (int r = 0; r < RADIX; r++) {\n            const unsigned int k = i + r * STEP;\n\
                 \x20           if (is_there) store(to + k * p.out_step, v[b][r], to_place + k * p.to_step, k * twiddle_exponent, p, out_factors, twiddles);\n          }\n",
            );
        } else {
            if !is_first {
                text.push_str("    __syncthreads();\n");
            }
            let write = format!(
                "          #pragma unroll\n          for (int r = 0; r < RADIX; r++) {} = v[b][r];\n",
                self.shared_element("i / BEFORE * (BEFORE * RADIX) + i % BEFORE + r * BEFORE")
            );
            self.write_stage_loop(text, radix, &write);
            text.push_str("    __syncthreads();\n");
        }
    }
}

impl KernelSpec for FftPassSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_fft".into()
    }

    fn source(&self) -> String {
        let mut text = fft_preamble(self.dtype);
        let mut written = [false; 17];
        for radix in self.stage_radices() {
            if !std::mem::replace(&mut written[radix], true) {
                text.push_str(&butterfly::dft_function_source(radix));
            }
        }
        let flags = [
            ("M", self.transform_length()),
            ("T", self.threads.into()),
            ("COLUMNS", self.columns.into()),
            ("THREADS", self.block_threads() as usize),
            ("PAD_INTERVAL", self.pad_interval.into()),
        ];
        for (name, value) in flags {
            let _ = writeln!(text, "#define {name} {value}");
        }
        let _ = writeln!(text, "#define LAUNCH_BOUNDS {}", self.launch_bounds());
        text.push_str(PASS_PLAN_SOURCE);
        self.write_load(&mut text);
        self.write_store(&mut text);
        self.write_kernel(&mut text);
        text
    }
}

/// A stage of a pass.
struct FftStage {
    radix: usize,
    /// The product of the radices before.
    before: usize,
    /// Where its twiddles begin.
    table: usize,
    is_first: bool,
    is_last: bool,
}

/// Types and products.
fn fft_preamble(dtype: DType) -> String {
    let real = if dtype == DType::C128 { "double" } else { "float" };
    format!(
        "typedef {real} R;\ntypedef {real}2 C;\ntypedef long long I;\n\
         __device__ __forceinline__ C times(C a, C b) {{ return C{{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}}; }}\n"
    )
}

/// Strides are in bytes. The index of an element that limits, factors and twiddles are about is a weighted sum of the
/// indices of its transform and its own one in it: `at` for what is read, `to` for what is written.
const PASS_PLAN_SOURCE: &str = "\
struct Plan {
  I size[4], in_stride[4], out_stride[4], at[4], to[4];
  I in_step, out_step, at_step, to_step, in_half, out_half, in_element, in_limit, out_limit, length;
  double scale;
  I bits;
};
__device__ __forceinline__ unsigned int padded_index(unsigned int at) { return PAD_INTERVAL ? at + at / (PAD_INTERVAL + !PAD_INTERVAL) : at; }
";

/// Parameters: what is read and written, twiddles of the stages, factors of what is read and written, twiddles of the
/// longer transform (low parts of the exponents, then high ones), the plan.
const KERNEL_PROLOGUE_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(LAUNCH_BOUNDS) array_fft(const char *in, char *out, const C *__restrict__ stages, const C *__restrict__ in_factors, const C *__restrict__ out_factors, const C *__restrict__ twiddles, const Plan p)
{
  const unsigned int t = threadIdx.x, tiles = (unsigned int)((p.size[0] + COLUMNS - 1) / COLUMNS);
  unsigned int rest = blockIdx.x / tiles;
  const I first = (I)(blockIdx.x % tiles) * COLUMNS;
  I in_start = 0, out_start = 0, at_start = 0, to_start = 0;
  #pragma unroll
  for (int d = 1; d < 4; d++) {
    const I index = d < 3 ? rest % (unsigned int)p.size[d] : rest;
    if (d < 3) rest /= (unsigned int)p.size[d];
    in_start += index * p.in_stride[d];
    out_start += index * p.out_stride[d];
    at_start += index * p.at[d];
    to_start += index * p.to[d];
  }
";

#[cfg(test)]
mod tests {
    use super::*;

    fn pass_spec(radices: &[u8], threads: u16, columns: u16) -> FftPassSpec {
        let mut all = [0; FFT_STAGES];
        all[..radices.len()].copy_from_slice(radices);
        let load = FftLoad {
            source: FftSource::Complex,
            is_limited: false,
            is_swapped: false,
            has_factors: false,
            by_columns: false,
        };
        let store = FftStore {
            applies_twiddles: false,
            is_swapped: false,
            has_factors: false,
            is_scaled: false,
            is_swapped_last: false,
            result: FftResult::Complex,
            is_limited: false,
            by_columns: false,
        };
        FftPassSpec { dtype: DType::C64, radices: all, threads, columns, pad_interval: 16, load, store }
    }

    #[test]
    fn a_stage_is_guarded_where_threads_are_left_over() {
        assert!(!pass_spec(&[16, 8, 8], 64, 4).source().contains("if (i <"));
        assert!(pass_spec(&[15, 14], 15, 4).source().contains("if (i < 14)"));
        assert!(pass_spec(&[7, 7], 7, 4).source().contains("if (t < T * COLUMNS)"));
    }

    #[test]
    fn a_short_transform_needs_no_shared_memory() {
        let short = pass_spec(&[16], 1, 64);
        assert_eq!((short.shared_bytes(), short.block_threads(), short.transform_length()), (0, 64, 16));
        assert!(!short.source().contains("__shared__"));
        assert_eq!(pass_spec(&[16, 8, 8], 64, 4).shared_bytes(), (4096 + 256) * 8);
    }
}
