//! Kernels of discrete Fourier transforms: Stockham's algorithm with mixed radices, in registers and shared memory.
//!
//! A block computes several transforms of one length. A thread loads the elements of a butterfly into registers,
//! transforms them, and exchanges them with other threads through shared memory, stage by stage; the first stage reads
//! and the last one writes global memory. Long transforms take several such passes (the "four-step" scheme of W. M.
//! Gentleman and G. Sande, 1966), and the store of a pass applies twiddles and transposes. Kernels compute the forward
//! transform; swapping real and imaginary parts before and after gives the inverse.
//!
//! Short transforms are staged: threads read adjacent elements into shared memory and take those of a butterfly from
//! there, and the same on the way back. A pass that convolves (after L. I. Bluestein, 1970) transforms its elements,
//! multiplies them by a table, and transforms them again by the same butterflies in reverse order, so that the last stage
//! of the first transform and the first stage of the second one have the same elements in registers.
//!
//! Where memory is fast, instructions are what a transform is short of. So a thread computes one address for the
//! elements of a butterfly, and reaches them by offsets that the compiler knows: in shared memory because padding is the
//! same behind each of them ([`FftExchange`]), in global memory where elements are adjacent.

mod butterfly;
mod exchange;
mod expressions;
mod helper_kernels;

pub use exchange::FftExchange;
pub use expressions::{FFT_EXPRESSION_NAMES, FftExpressions, FusedFftPass};
pub use helper_kernels::{FftHelper, FftHelperKernel};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Maximum number of stages in a pass.
pub const FFT_STAGES: usize = 8;
/// Largest radix of a butterfly.
pub const MAX_FFT_RADIX: usize = 49;
/// Primes whose butterflies write results as they compute them, for lack of registers.
const LARGE_PRIME_RADICES: [usize; 9] = [17, 19, 23, 29, 31, 37, 41, 43, 47];
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
    /// Whether the elements of a transform are adjacent in memory.
    pub is_dense: bool,
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
    /// Whether the elements of a transform are adjacent in memory.
    pub is_dense: bool,
}

/// A pass, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FftPassSpec {
    /// `C64` or `C128`.
    pub dtype: DType,
    /// Radices of the butterflies, 2 to [`MAX_FFT_RADIX`]; 0 after the last one.
    pub radices: [u8; FFT_STAGES],
    /// Threads per transform.
    pub threads: u16,
    /// Transforms per block.
    pub columns: u16,
    /// Indices of transforms, 1 to 4: a block has several of the first one.
    pub dims: u8,
    /// Blocks of a multiprocessor that registers must suffice for; 0 if that does not matter.
    pub resident_blocks: u8,
    /// Whether most twiddles of a butterfly are products of two that are read, rather than read themselves.
    pub multiplies_twiddles: bool,
    /// Whether all elements of a thread are read before the first butterfly. Compilers read those of long butterflies
    /// late to save registers, and threads of a GPU then wait for memory again and again.
    pub reads_first: bool,
    /// Of a pass that convolves, the elements of a transform that are read and written, fewer than the butterflies have:
    /// behind the last stage, all are multiplied by a table, and transformed again by the same butterflies in reverse
    /// order. The table takes the place of the twiddles of a longer transform. 0 for other passes.
    pub convolved: u16,
    /// Where elements lie in shared memory between two stages: of a pass that convolves, of all its stages.
    pub exchanges: [FftExchange; FFT_STAGES - 1],
    /// Where elements lie in shared memory before the first stage if threads read adjacent ones: of transforms that are
    /// adjacent in memory.
    pub staged_load: Option<FftExchange>,
    /// Where results lie in shared memory behind the last stage if threads write adjacent ones, likewise.
    pub staged_store: Option<FftExchange>,
    /// How elements are read.
    pub load: FftLoad,
    /// How elements are written.
    pub store: FftStore,
}

impl FftPassSpec {
    fn stage_radices(&self) -> impl Iterator<Item = usize> + Clone {
        self.radices.into_iter().take_while(|&radix| radix != 0).map(usize::from)
    }

    /// Elements of a transform that are read and written.
    fn used_length(&self) -> usize {
        if self.convolved > 0 { self.convolved.into() } else { self.transform_length() }
    }

    /// Elements per transform.
    pub fn transform_length(&self) -> usize {
        self.stage_radices().product()
    }

    /// Threads per block, in whole warps.
    pub fn block_threads(&self) -> u32 {
        (u32::from(self.threads) * u32::from(self.columns)).next_multiple_of(32)
    }

    /// The threads of a block, and how many blocks a multiprocessor should have.
    fn launch_bounds(&self) -> String {
        match self.resident_blocks {
            0 => "THREADS".into(),
            blocks => format!("THREADS, {blocks}"),
        }
    }

    /// The stages of the pass, those of the second transform of a convolution too.
    fn stages(&self) -> Vec<FftStage> {
        let there: Vec<usize> = self.stage_radices().collect();
        let back = there.iter().rev().copied().skip(1).filter(|_| self.convolved > 0);
        let (count, last) = (there.len() + back.clone().count(), there.len() - 1);
        let (mut before, mut table) = (1, 0);
        let stage_of = |(stage, radix): (usize, usize)| {
            let reads = stage.checked_sub(1).map_or(self.staged_load, |last| Some(self.exchanges[last]));
            let writes = if stage + 1 == count { self.staged_store } else { Some(self.exchanges[stage]) };
            let by_columns = if stage == 0 && count > 1 { self.load.by_columns } else { self.store.by_columns };
            let convolves = self.convolved > 0 && stage == last;
            let (is_first, is_last) = (stage == 0, stage + 1 == count);
            let of_stage = FftStage { radix, before, table, reads, writes, by_columns, convolves, is_first, is_last };
            if before > 1 {
                table += (radix - 1) * before;
            }
            // The butterflies that convolve are the first ones of the second transform.
            before = if convolves { radix } else { before * radix };
            of_stage
        };
        there.iter().copied().chain(back).enumerate().map(stage_of).collect()
    }

    /// Of each stage with twiddles, in their order in the table, the product of the radices before it, and its radix.
    pub fn twiddled_stages(&self) -> Vec<(usize, usize)> {
        let stages = self.stages();
        stages.iter().filter(|stage| stage.before > 1).map(|stage| (stage.before, stage.radix)).collect()
    }

    /// Shared memory per block in bytes.
    pub fn shared_bytes(&self) -> usize {
        let (length, columns) = (self.transform_length(), usize::from(self.columns));
        let stages = self.stages();
        let exchanges = stages.iter().flat_map(|stage| [stage.reads, stage.writes]).flatten();
        let allocated = exchanges.map(|exchange| exchange.allocated(length, columns));
        allocated.max().unwrap_or(0) * self.dtype.itemsize()
    }

    /// The dynamic part of [`FftPassSpec::shared_bytes`]: all of it if a kernel cannot declare that much statically.
    pub fn dynamic_smem_bytes(&self) -> u32 {
        let bytes = self.shared_bytes();
        if bytes > MAX_STATIC_SMEM_BYTES { bytes as u32 } else { 0 }
    }

    /// `user` is a statement for elements that exist, of the index `INDEX`.
    fn write_load(&self, text: &mut String, user: &str) {
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
        let index = if load.source == FftSource::Hermitian { "near" } else { "at" };
        let body = match user {
            "" => body,
            _ => {
                let guard = if load.is_limited { format!("if ({index} < p.in_limit) ") } else { String::new() };
                let applied = format!("  {guard}{}\n", user.replace("INDEX", index));
                let (read, rest) = body.split_at(
                    body.find("C z").and_then(|at| Some(at + body[at..].find('\n')? + 1)).unwrap_or(body.len()),
                );
                format!("{read}{applied}{rest}")
            }
        };
        text.push_str("__device__ __forceinline__ C load(const char *from, I at, I row, const Plan &p, const C *__restrict__ factors USER_PARAMETER)\n{\n");
        // What lies behind the elements of a transform that is a longer one's part is not there to be read.
        if load.has_factors && self.convolved == 0 {
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

    /// `user` is a statement before an element is written.
    fn write_store(&self, text: &mut String, user: &str) {
        let store = self.store;
        text.push_str(
            "__device__ __forceinline__ void store(char *to, C z, I at, I row, unsigned long long twiddle_exponent, const Plan &p, const C *__restrict__ factors, const C *__restrict__ twiddles USER_PARAMETER)\n{\n",
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
        text.push_str(user);
        text.push_str(match store.result {
            FftResult::Complex => "  *(C *)to = z;\n}\n",
            FftResult::Real => "  *(R *)to = z.x;\n}\n",
            FftResult::Pair => "  *(R *)to = z.x;\n  *(R *)(to + p.out_half) = z.y;\n}\n",
        });
    }

    fn write_kernel(&self, text: &mut String) {
        text.push_str(KERNEL_PROLOGUE_SOURCE);
        let shared_bytes = self.shared_bytes();
        if self.dynamic_smem_bytes() > 0 {
            text.push_str("  extern __shared__ C room[];\n");
        } else if shared_bytes > 0 {
            let _ = writeln!(text, "  __shared__ C room[{}];", shared_bytes / self.dtype.itemsize());
        }
        if let Some(exchange) = self.staged_load {
            self.write_staged_load(text, exchange);
        }
        self.stages().iter().for_each(|stage| self.write_stage(text, stage));
        if let Some(exchange) = self.staged_store {
            self.write_staged_store(text, exchange);
        }
        text.push_str("}\n");
    }

    /// A loop of each thread over adjacent elements `i` of the transforms `c`.
    fn write_staged_loop(text: &mut String, body: &str) {
        let _ = write!(
            text,
            "    #pragma unroll\n    for (int b = 0; b < EACH; b++) {{\n\
             \x20     const unsigned int e = t + b * THREADS, c = e / USED, i = e % USED;\n\
             \x20     const I column = first + c;\n      {body}\n    }}\n"
        );
    }

    fn write_staged_block(&self, text: &mut String, what: &str) {
        let elements = self.used_length() * usize::from(self.columns);
        let each = elements.div_ceil(self.block_threads() as usize);
        let _ = write!(
            text,
            "  {{ // Adjacent elements.\n    enum {{ EACH = {each} }};\n\
             \x20   const unsigned int there = p.size[0] - first < COLUMNS ? (unsigned int)(p.size[0] - first) * USED : COLUMNS * USED;\n\
             \x20   {what}\n"
        );
    }

    /// Copies elements as they are; the first stage converts them.
    fn write_staged_load(&self, text: &mut String, exchange: FftExchange) {
        self.write_staged_block(
            text,
            "const char *const from = in + in_start + first * p.in_stride[0] + (I)t * IN_STEP;",
        );
        let place = exchange.place_source("i", "c");
        let copy = format!("if (e < there) copy_async(room + {place}, from + b * (THREADS * IN_STEP));");
        Self::write_staged_loop(text, &copy);
        text.push_str("  }\n  wait_for_copies();\n  __syncthreads();\n");
    }

    fn write_staged_store(&self, text: &mut String, exchange: FftExchange) {
        self.write_staged_block(text, "char *const to = out + out_start + first * p.out_stride[0] + (I)t * OUT_STEP;");
        let place = exchange.place_source("i", "c");
        Self::write_staged_loop(
            text,
            &format!(
                "if (e < there) store(to + b * (THREADS * OUT_STEP), room[{place}], to_start + column * p.to[0] + i * p.to_step, row_start + column * p.row[0], i * (unsigned long long)(at_start + column * p.at[0]), p, out_factors, twiddles USER_ARGUMENT);"
            ),
        );
        text.push_str("  }\n");
    }

    /// A stage: butterflies whose elements are `M / radix` apart, and are written `before` apart.
    fn write_stage(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, before, by_columns, .. } = *stage;
        let butterflies = self.transform_length() / radix;
        let each = butterflies.div_ceil(usize::from(self.threads));
        let (c, u) = if by_columns { ("t % COLUMNS", "t / COLUMNS") } else { ("t / T", "t % T") };
        let _ = write!(
            text,
            "  {{ // Radix {radix}, behind {before}.\n\
             \x20   enum {{ RADIX = {radix}, BEFORE = {before}, EACH = {each}, STEP = {butterflies} }};\n\
             \x20   const unsigned int c = {c}, u = {u};\n\
             \x20   C v[EACH][RADIX];\n"
        );
        if stage.is_first || stage.writes.is_none() {
            text.push_str("    const I column = first + c;\n    const bool is_there = column < p.size[0];\n");
        }
        self.write_stage_loads(text, stage);
        if stage.convolves {
            self.write_stage_loop(
                text,
                radix,
                &format!(
                    "          const C *const near = twiddles + i;\n\
                     \x20         #pragma unroll\n          for (int r = 0; r < RADIX; r++) {{\n\
                     \x20           const C z = times(v[b][r], near[r * STEP]);\n\
                     \x20           v[b][r] = C{{z.y, z.x}};\n          }}\n\
                     \x20         dft{radix}(v[b]);\n"
                ),
            );
        }
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

    /// Reads the elements of a stage's butterflies, from global memory in the first stage, and computes them.
    fn write_stage_loads(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, before, .. } = *stage;
        let place_and_step =
            stage.reads.map(|reads| (reads.place_source("i", "c"), reads.place(self.transform_length() / radix, 0)));
        if stage.is_first {
            // Transforms behind the last one are read as the last one, so that warps stay together.
            text.push_str(
                "    const I nearest = is_there ? column : p.size[0] - 1;\n\
                 \x20   const I at = at_start + nearest * p.at[0], in_row = row_start + nearest * p.row[0];\n",
            );
            let (near, step) = match &place_and_step {
                Some((place, step)) => (format!("(const char *)(room + {place})"), format!("({step} * (I)sizeof(C))")),
                None => {
                    text.push_str("    const char *const from = in + in_start + nearest * p.in_stride[0];\n");
                    ("from + (I)i * IN_STEP".into(), "(STEP * IN_STEP)".into())
                }
            };
            // Of a convolution, elements behind those that are read are zero.
            let used = if self.convolved > 0 { ("i + r * STEP < USED ? ", " : C{0, 0}") } else { ("", "") };
            let read = format!(
                "          const char *const near = {near};\n\
                 \x20         #pragma unroll\n          for (int r = 0; r < RADIX; r++)\n\
                 \x20           v[b][r] = {}load(near + r * {step}, at + (i + r * STEP) * p.at_step, in_row, p, in_factors USER_ARGUMENT){};\n",
                used.0, used.1
            );
            self.write_stage_loop(text, radix, &read);
        }
        let Some((place, step)) = place_and_step else {
            if self.reads_first {
                text.push_str("    __syncwarp();\n");
            }
            return self.write_stage_loop(text, radix, &format!("          dft{radix}(v[b]);\n"));
        };
        if !stage.is_first {
            let read = format!(
                "          const C *const near = room + {place};\n\
                 \x20         #pragma unroll\n          for (int r = 0; r < RADIX; r++) v[b][r] = near[r * {step}];\n"
            );
            self.write_stage_loop(text, radix, &read);
        }
        if stage.writes_at_once() {
            text.push_str("    __syncthreads();\n");
        }
        let compute = if before > 1 { self.twiddles_source(stage) } else { format!("          dft{radix}(v[b]);\n") };
        self.write_stage_loop(text, radix, &compute);
    }

    /// Multiplies the elements of a butterfly by twiddles, and computes it.
    fn twiddles_source(&self, stage: &FftStage) -> String {
        let FftStage { radix, before, table, .. } = *stage;
        // All butterflies of a thread have the same twiddles if they are whole rounds apart.
        let index = if usize::from(self.threads).is_multiple_of(before) { "u" } else { "i" };
        let twiddle = match self.multiplies_twiddles {
            true => "r < 4 || r % 4 == 0 ? near[(r - 1) * BEFORE] : times(w[r % 4], w[r - r % 4])",
            false => "near[(r - 1) * BEFORE]",
        };
        format!(
            "          const C *const near = stages + {table} + {index} % BEFORE;\n\
             \x20         C w[RADIX];\n\
             \x20         #pragma unroll\n          for (int r = 1; r < RADIX; r++) {{\n\
             \x20           w[r] = {twiddle};\n\
             \x20           v[b][r] = times(v[b][r], w[r]);\n          }}\n\
             \x20         dft{radix}(v[b]);\n"
        )
    }

    /// Writes the results of a stage, to global memory in the last stage.
    fn write_stage_stores(&self, text: &mut String, stage: &FftStage) {
        let FftStage { radix, before, .. } = *stage;
        // Behind a convolution, results are those of a first stage.
        let before = if stage.convolves { 1 } else { before };
        let Some(writes) = stage.writes else {
            text.push_str(
                "    char *const to = out + out_start + column * p.out_stride[0];\n\
                 \x20   const I to_place = to_start + column * p.to[0], out_row = row_start + column * p.row[0];\n\
                 \x20   const unsigned long long twiddle_exponent = at_start + column * p.at[0];\n",
            );
            let used = if self.convolved > 0 { " && k < USED" } else { "" };
            return self.write_stage_loop(
                text,
                radix,
                &format!(
                    "          char *const near = to + (I)i * OUT_STEP;\n\
                     \x20         #pragma unroll\n          for (int r = 0; r < RADIX; r++) {{\n            const unsigned int k = i + r * STEP;\n\
                     \x20           if (is_there{used}) store(near + r * (STEP * OUT_STEP), v[b][r], to_place + k * p.to_step, out_row, k * twiddle_exponent, p, out_factors, twiddles USER_ARGUMENT);\n          }}\n"
                ),
            );
        };
        if stage.reads.is_some() && !stage.writes_at_once() {
            text.push_str("    __syncthreads();\n");
        }
        let place = writes.row_source(radix, before);
        let step = usize::from(writes.element_stride) * before;
        let used = if stage.is_last && self.convolved > 0 { "if (i + r * STEP < USED) " } else { "" };
        let write = format!(
            "          C *const near = room + {place};\n\
             \x20         #pragma unroll\n          for (int r = 0; r < RADIX; r++) {used}near[r * {step}] = v[b][r];\n"
        );
        self.write_stage_loop(text, radix, &write);
        text.push_str("    __syncthreads();\n");
    }
}

impl KernelSpec for FftPassSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_fft".into()
    }

    fn source(&self) -> String {
        format!("#define USER_PARAMETER\n#define USER_ARGUMENT\n{}", self.source_with("", ""))
    }
}

impl FftPassSpec {
    /// The source behind definitions of `USER_PARAMETER` and `USER_ARGUMENT`, with statements that are applied to the
    /// elements that are read, and that are written.
    fn source_with(&self, load: &str, store: &str) -> String {
        let mut text = fft_preamble(self.dtype);
        let mut written = [false; MAX_FFT_RADIX + 1];
        for radix in self.stage_radices() {
            if !std::mem::replace(&mut written[radix], true) {
                text.push_str(&butterfly::dft_function_source(radix));
            }
        }
        let flags = [
            ("M", self.transform_length()),
            ("USED", self.used_length()),
            ("T", self.threads.into()),
            ("COLUMNS", self.columns.into()),
            ("THREADS", self.block_threads() as usize),
            ("DIMS", self.dims.into()),
        ];
        for (name, value) in flags {
            let _ = writeln!(text, "#define {name} {value}");
        }
        let _ = writeln!(text, "#define LAUNCH_BOUNDS {}", self.launch_bounds());
        let step = |is_dense: bool, is_real: bool, known: &'static str| match (is_dense, is_real) {
            (true, true) => "(I)sizeof(R)",
            (true, false) => "(I)sizeof(C)",
            (false, _) => known,
        };
        let from = step(self.load.is_dense, self.load.source == FftSource::Real, "p.in_step");
        let to = step(self.store.is_dense, self.store.result == FftResult::Real, "p.out_step");
        let _ = writeln!(text, "#define IN_STEP {from}\n#define OUT_STEP {to}");
        text.push_str(PASS_PLAN_SOURCE);
        if self.staged_load.is_some() {
            let element = if self.load.source == FftSource::Real { "R" } else { "C" };
            text.push_str(&COPY_ASYNC_SOURCE.replace("ELEMENT", element));
        }
        self.write_load(&mut text, load);
        self.write_store(&mut text, store);
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
    /// Where its elements are read; `None` for global memory.
    reads: Option<FftExchange>,
    /// Where its results are written; `None` for global memory.
    writes: Option<FftExchange>,
    /// Whether adjacent threads are at the same element of adjacent transforms.
    by_columns: bool,
    /// Whether it ends the first transform of a convolution, and begins the second one.
    convolves: bool,
    is_first: bool,
    is_last: bool,
}

impl FftStage {
    /// Whether threads wait for each other before they compute, and not between computing and writing: then no thread has
    /// all results in registers.
    fn writes_at_once(&self) -> bool {
        self.reads.is_some() && self.writes.is_some() && LARGE_PRIME_RADICES.contains(&self.radix)
    }
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
/// indices of its transform and its own one in it: `at` for what is read, `to` for what is written. `row` weighs the
/// indices in the number of a transform.
const PASS_PLAN_SOURCE: &str = "\
struct Plan {
  I size[4], in_stride[4], out_stride[4], at[4], to[4], row[4];
  I in_step, out_step, at_step, to_step, in_half, out_half, in_element, in_limit, out_limit, length;
  double scale;
  I bits;
};
";

/// Copies to shared memory without registers, which leaves a multiprocessor more bytes under way: with registers, threads
/// of 31 elements took 1.5 times as long on an H200.
const COPY_ASYNC_SOURCE: &str = "\
__device__ __forceinline__ void copy_async(C *to, const char *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\" :: \"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from), \"n\"(sizeof(ELEMENT)) : \"memory\");
#else
  *(ELEMENT *)to = *(const ELEMENT *)from;
#endif
}
__device__ __forceinline__ void wait_for_copies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");
#endif
}
";

/// Parameters: what is read and written, twiddles of the stages, factors of what is read and written, twiddles of the
/// longer transform (low parts of the exponents, then high ones) or the table of a convolution, the plan.
const KERNEL_PROLOGUE_SOURCE: &str = "\
extern \"C\" __global__ void __launch_bounds__(LAUNCH_BOUNDS) array_fft(const char *in, char *out, const C *__restrict__ stages, const C *__restrict__ in_factors, const C *__restrict__ out_factors, const C *__restrict__ twiddles, const Plan p USER_PARAMETER)
{
  const unsigned int t = threadIdx.x, tiles = DIMS > 1 ? (unsigned int)((p.size[0] + COLUMNS - 1) / COLUMNS) : 1;
  unsigned int rest = blockIdx.x / tiles;
  const I first = (I)(DIMS > 1 ? blockIdx.x % tiles : blockIdx.x) * COLUMNS;
  I in_start = 0, out_start = 0, at_start = 0, to_start = 0, row_start = 0;
  #pragma unroll
  for (int d = 1; d < DIMS; d++) {
    const I index = d + 1 < DIMS ? rest % (unsigned int)p.size[d] : rest;
    if (d + 1 < DIMS) rest /= (unsigned int)p.size[d];
    in_start += index * p.in_stride[d];
    out_start += index * p.out_stride[d];
    at_start += index * p.at[d];
    to_start += index * p.to[d];
    row_start += index * p.row[d];
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
            is_dense: true,
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
            is_dense: true,
        };
        let length = radices.iter().map(|&radix| u32::from(radix)).product::<u32>();
        let exchange = FftExchange { element_stride: 1, column_stride: length + length / 16, interval: 16, padding: 1 };
        FftPassSpec {
            dtype: DType::C64,
            radices: all,
            threads,
            columns,
            dims: 1,
            resident_blocks: 0,
            multiplies_twiddles: false,
            reads_first: true,
            convolved: 0,
            exchanges: [exchange; FFT_STAGES - 1],
            staged_load: None,
            staged_store: None,
            load,
            store,
        }
    }

    #[test]
    fn a_stage_is_guarded_where_threads_are_left_over() {
        assert!(!pass_spec(&[16, 8, 8], 64, 4).source().contains("if (i <"));
        assert!(pass_spec(&[15, 14], 15, 4).source().contains("if (i < 14)"));
        assert!(pass_spec(&[7, 7], 7, 4).source().contains("if (t < T * COLUMNS)"));
    }

    #[test]
    fn a_convolution_transforms_forth_and_back() {
        let spec = FftPassSpec { convolved: 100, ..pass_spec(&[4, 8, 7], 28, 2) };
        // Behind 4 and 4 * 8; then the stage of 7 begins the second transform.
        assert_eq!(spec.twiddled_stages(), [(4, 8), (32, 7), (7, 8), (56, 4)]);
        let tables: Vec<usize> = spec.stages().iter().map(|stage| stage.table).collect();
        assert_eq!(tables, [0, 0, 28, 220, 269]);
        let source = spec.source();
        assert_eq!(source.matches("RADIX = 8").count(), 2);
        assert_eq!(source.matches("dft7(v[b])").count(), 2);
        assert!(source.contains("i + r * STEP < USED ? load(") && source.contains("is_there && k < USED"));
    }

    #[test]
    fn staged_elements_are_copied_before_they_are_converted() {
        let exchange = FftExchange { element_stride: 1, column_stride: 31, interval: 1, padding: 0 };
        let spec = FftPassSpec { staged_load: Some(exchange), ..pass_spec(&[31], 1, 64) };
        assert_eq!(spec.shared_bytes(), 64 * 31 * 8);
        let source = spec.source();
        assert!(source.contains("copy_async(room + c * 31u") && source.contains("cp.async.ca.shared.global"));
        assert!(source.contains("load(near + r * (1 * (I)sizeof(C))"));
        let spec = FftPassSpec { staged_load: None, staged_store: Some(exchange), ..spec };
        assert!(!spec.source().contains("copy_async") && spec.source().contains("store(to + b"));
    }

    #[test]
    fn a_short_transform_needs_no_shared_memory() {
        let short = pass_spec(&[16], 1, 64);
        assert_eq!((short.shared_bytes(), short.block_threads(), short.transform_length()), (0, 64, 16));
        assert!(!short.source().contains("__shared__"));
        assert_eq!(pass_spec(&[16, 8, 8], 64, 4).shared_bytes(), (4096 + 255) * 8);
    }
}
