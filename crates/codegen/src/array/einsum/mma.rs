//! Contraction steps by tensor cores: warps multiply fragments of the two arrays, whose items along the common
//! dimensions are adjacent in shared memory. Doubles use `mma` of doubles; 16-bit floats use `mma` with 32-bit sums;
//! singles are split into larger and smaller TF32 halves, of which all products are added but that of the smaller
//! halves (H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
//! theoretical peak performance", 2022). A 16-bit float is a TF32 number, so steps that combine singles with 16-bit
//! floats need two products. Needs compute capability 8.0 or later.

use super::AxisNames;
use super::block::{BlockEinsum, BlockStep, ELEMENT_DIM, index_name, sum_or_zero};
use rtcg_hal::DType;
use std::fmt::Write;

/// A fragment of `mma` of m x 8 sums of some products: four lanes have adjacent ones of a group. And of which row, from a
/// thread's first one, and of which group a thread's registers are.
struct Fragment {
    m: usize,
    groups: usize,
    /// Items of a register.
    pack: usize,
    a: &'static [[usize; 2]],
}

const DOUBLES: Fragment = Fragment { m: 8, groups: 1, pack: 1, a: &[[0, 0]] };
const SINGLES: Fragment = Fragment { m: 16, groups: 2, pack: 1, a: &[[0, 0], [8, 0], [0, 1], [8, 1]] };
const HALVES: Fragment = Fragment { pack: 2, ..SINGLES };

impl Fragment {
    /// Products of a group.
    fn group(&self) -> usize {
        4 * self.pack
    }

    fn k(&self) -> usize {
        self.groups * self.group()
    }
}

const DOUBLES_SOURCE: &str = "\
__device__ __forceinline__ void multiply(double (&c)[2], const double (&a)[1], const double (&b)[1]) {
  asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\" : \"+d\"(c[0]), \"+d\"(c[1]) : \"d\"(a[0]), \"d\"(b[0]));
}
";
/// `mma` of fragments of two groups and of one: of TF32 numbers, or of 16-bit floats in place of their names.
const PRODUCTS_SOURCE: &str = "\
__device__ __forceinline__ void multiply_TYPE(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm(\"mma.sync.aligned.m16n8kLONG.row.col.f32.TYPE.TYPE.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"
      : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));
}
__device__ __forceinline__ void multiply_TYPE(float (&c)[4], const unsigned (&a)[2], const unsigned (&b)[1]) {
  asm(\"mma.sync.aligned.m16n8kSHORT.row.col.f32.TYPE.TYPE.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\"
      : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(b[0]));
}
";
const SINGLES_SOURCE: &str = "\
__device__ __forceinline__ unsigned tf32(float x) { unsigned bits; asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits) : \"f\"(x)); return bits; }
// Numbers as sums of two of TF32. Only the product of the larger ones has infinities and NaN, of which `finite` has 0.
template <bool EXACT, int N> __device__ __forceinline__ void split(const float (&x)[N], unsigned (&large)[N], unsigned (&finite)[N], unsigned (&small)[N]) {
  #pragma unroll
  for (int k = 0; k < N; k++) {
    large[k] = EXACT ? __float_as_uint(x[k]) : tf32(x[k]);
    const bool is_finite = (large[k] & 0x7f800000u) != 0x7f800000u;
    finite[k] = is_finite ? large[k] : 0u;
    small[k] = EXACT || !is_finite ? 0u : tf32(x[k] - __uint_as_float(large[k]));
  }
}
template <bool EXACT_A, bool EXACT_B, int N, int M> __device__ __forceinline__ void multiply(float (&c)[4], const float (&a)[N], const float (&b)[M]) {
  unsigned a_large[N], a_finite[N], a_small[N], b_large[M], b_finite[M], b_small[M];
  split<EXACT_A>(a, a_large, a_finite, a_small);
  split<EXACT_B>(b, b_large, b_finite, b_small);
  if (!EXACT_A) multiply_tf32(c, a_small, b_finite);
  if (!EXACT_B) multiply_tf32(c, a_finite, b_small);
  multiply_tf32(c, a_large, b_large);
}
";
const HALVES_SOURCE: &str = "\
__device__ __forceinline__ unsigned pack(E x, E y) { return x.bits | (unsigned)y.bits << 16; }
";

/// Items from one line of an array to the next, for fragments: eight adjacent lines begin in different banks if that
/// costs little memory.
pub fn fragment_pitch(products: usize, itemsize: usize) -> usize {
    let per_word = (4 / itemsize).max(1);
    let words = products.div_ceil(per_word);
    let spread = (words + 3) / 8 * 8 + 4;
    per_word * if 2 * spread <= 3 * words { spread } else { words }
}

/// The dimensions of a step's arrays by their part in products of m x k by k x n matrices.
pub(super) struct MatrixDims {
    a: usize,
    b: usize,
    batch: Vec<u8>,
    m: Vec<u8>,
    n: Vec<u8>,
    k: Vec<u8>,
}

impl BlockEinsum {
    /// Whether an array is an operand of 16-bit floats for tensor cores.
    pub(super) fn is_half(&self, array: usize) -> bool {
        self.tensor_cores && matches!(self.types.compute, DType::F16 | DType::BF16) && array < self.types.operands.len()
    }

    fn fragment(&self, dims: &MatrixDims) -> &'static Fragment {
        match self.types.compute {
            DType::F64 => &DOUBLES,
            _ if self.is_half(dims.a) && self.is_half(dims.b) => &HALVES,
            _ => &SINGLES,
        }
    }

    /// What multiplies fragments, if tensor cores do.
    pub(super) fn fragment_functions(&self) -> String {
        let products = |name: &str, [long, short]: [&str; 2]| {
            PRODUCTS_SOURCE.replace("TYPE", name).replace("LONG", long).replace("SHORT", short)
        };
        let singles = || products("tf32", ["8", "4"]) + SINGLES_SOURCE;
        let halves = |name| singles() + &products(name, ["16", "8"]) + HALVES_SOURCE;
        match self.types.compute {
            _ if !self.tensor_cores => String::new(),
            DType::F64 => DOUBLES_SOURCE.into(),
            DType::F32 => singles(),
            DType::F16 => halves("f16"),
            DType::BF16 => halves("bf16"),
            _ => String::new(),
        }
    }

    /// The step as a product of matrices, if it is one for tensor cores.
    pub(super) fn matrix_dims(&self, step: &BlockStep) -> Option<MatrixDims> {
        let has_fragments = matches!(self.types.compute, DType::F64 | DType::F32 | DType::F16 | DType::BF16);
        let b = step.b.filter(|_| self.tensor_cores && has_fragments)?;
        let (x, y) = (&self.arrays[step.a], &self.arrays[b]);
        let is_there = |dim: &u8| x.dims.contains(dim) || y.dims.contains(dim);
        step.kept.iter().all(is_there).then_some(())?;
        let kept = |in_x: bool, in_y: bool| {
            let fits = move |dim: &u8| x.dims.contains(dim) == in_x && y.dims.contains(dim) == in_y;
            step.kept.iter().copied().filter(fits).collect::<Vec<u8>>()
        };
        let mut k: Vec<u8> = x.dims.iter().copied().filter(|dim| !step.kept.contains(dim)).collect();
        k.extend(y.dims.iter().copied().filter(|dim| !step.kept.contains(dim) && !x.dims.contains(dim)));
        let dims = MatrixDims { a: step.a, b, batch: kept(true, true), m: kept(true, false), n: kept(false, true), k };
        let is_matrix = self.count(&dims.m) >= 4 && self.count(&dims.n) >= 4 && self.count(&dims.k) >= 2;
        is_matrix.then_some(dims)
    }

    fn count(&self, dims: &[u8]) -> usize {
        dims.iter().map(|&dim| self.length(dim)).product()
    }

    /// The dimensions of an array in shared memory with their strides in items if tensor cores multiply it: lines of the
    /// products that are summed.
    pub(super) fn fragment_strides(&self, array: usize, itemsize: usize) -> Option<Vec<(u8, usize)>> {
        let step = self.steps.iter().find(|step| step.a == array || step.b == Some(array))?;
        let dims = self.matrix_dims(step)?;
        let own = &self.arrays[array].dims;
        let (mut stride, mut strides) = (1, Vec::new());
        for &dim in dims.k.iter().rev().filter(|dim| own.contains(dim)) {
            strides.push((dim, stride));
            stride *= self.length(dim);
        }
        stride = fragment_pitch(stride, itemsize);
        for &dim in [&dims.n, &dims.m, &dims.batch].into_iter().flat_map(|dims| dims.iter().rev()) {
            if own.contains(&dim) {
                strides.push((dim, stride));
                stride *= self.length(dim);
            }
        }
        Some(strides)
    }

    /// Whether the items of an array that are multiplied and summed are adjacent, in the order of the dimensions.
    fn is_line(&self, array: usize, dims: &MatrixDims) -> bool {
        self.arrays[array].is_shared && dims.k.iter().all(|dim| self.arrays[array].dims.contains(dim))
    }

    /// Declares the indices of dimensions, the last one the fastest, by the number `flat`, which is used up.
    fn decode(&self, dims: &[u8], flat: &str) -> String {
        let mut text = format!("int rest = {flat};");
        for (k, &dim) in dims.iter().enumerate().rev() {
            let (name, length) = (index_name(dim), self.length(dim));
            let _ = match k {
                0 => write!(text, " const int {name} = rest;"),
                _ => write!(text, " const int {name} = rest % {length}; rest /= {length};"),
            };
        }
        text
    }

    fn offset_of(&self, names: &AxisNames<'_>, array: usize, dims: &[u8]) -> String {
        sum_or_zero(
            &dims.iter().filter_map(|&dim| self.offset(names, array, dim, &index_name(dim))).collect::<Vec<_>>(),
        )
    }

    /// The code of a step by tensor cores, whose result is array `result`.
    pub(super) fn step_by_fragments(&self, names: &AxisNames<'_>, dims: &MatrixDims, result: usize) -> String {
        let ([_, offset], fragment) = (names.types(), self.fragment(dims));
        let [m, n, k] = [&dims.m, &dims.n, &dims.k].map(|dims| self.count(dims));
        // Each warp has some fragments down and across, no more than there are.
        let share = |length: usize, side: usize, most: u8| {
            let fragments = length.div_ceil(side);
            fragments.div_ceil(fragments.div_ceil(usize::from(most)))
        };
        let (down, across) = (share(m, fragment.m, self.tile[0]), share(n, 8, self.tile[1]));
        let (groups_m, groups_n) = (m.div_ceil(fragment.m * down), n.div_ceil(8 * across));
        let work = self.count(&dims.batch) * groups_m * groups_n;
        let (lines, sums) = (fragment.m / 8, 2 * fragment.m / 8);
        let mut text = format!(
            "    for (int w = threadIdx.x / 32; w < {work}; w += THREADS / 32) {{\n\
             \x20     const int lane = threadIdx.x % 32, m0 = w / {groups_n} % {groups_m} * {}, n0 = w % {groups_n} * {};\n\
             \x20     {}\n",
            fragment.m * down,
            8 * across,
            self.decode(&dims.batch, &format!("w / {}", groups_m * groups_n)).replace("rest", "batch_rest"),
        );
        let line = |name: &str, array: usize, along: &[u8], count: usize, from: &str, length: usize| {
            let batch = self.offset_of(names, array, &dims.batch);
            format!(
                "      {offset} {name}[{count}];\n      #pragma unroll\n      for (int t = 0; t < {count}; t++) {{ const int at = {from} + t * 8 + lane / 4; {} {name}[t] = {batch} + {}; }}\n",
                self.decode(along, &format!("at < {length} ? at : {}", length - 1)),
                self.offset_of(names, array, along),
            )
        };
        text.push_str(&line("a_line", dims.a, &dims.m, down * lines, "m0", m));
        text.push_str(&line("b_line", dims.b, &dims.n, across, "n0", n));
        let _ = writeln!(text, "      T sum[{down}][{across}][{sums}] = {{}};");
        let rest = k % fragment.k();
        let whole = k - rest;
        if whole > 0 {
            let (unroll, step) = (self.unroll, fragment.k());
            let _ =
                writeln!(text, "      #pragma unroll {unroll}\n      for (int k0 = 0; k0 < {whole}; k0 += {step}) {{");
            text.push_str(&self.products(names, dims, fragment.groups, [down, across], None));
            text.push_str("      }\n");
        }
        if rest > 0 {
            let _ = writeln!(text, "      {{\n        const int k0 = {whole};");
            let groups = rest.div_ceil(fragment.group());
            text.push_str(&self.products(names, dims, groups, [down, across], Some(rest)));
            text.push_str("      }\n");
        }
        // Where a result of a thread goes: rows and columns of its fragments.
        let all: Vec<u8> = dims.batch.iter().chain(&dims.m).chain(&dims.n).copied().collect();
        let is_last = !self.arrays[result].is_shared;
        let at = self.offset_of(names, result, &all);
        let guard = if is_last && all.contains(&ELEMENT_DIM) { "if (first + e < n) " } else { "" };
        // A thread has adjacent columns, and writes both where they are adjacent in memory.
        let of_result = &self.arrays[result].dims;
        let is_pair = is_last && self.packs[0] > 1 && dims.n.last() == of_result.last();
        let pair = if is_pair { 2 } else { 1 };
        let store = match is_last {
            true if is_pair => format!(
                "*(rt_pack<O, 2> *)(out + ({at})) = rt_pack<O, 2>{{{{rounded(sum[r][c][s]), rounded(sum[r][c][s + 1])}}}};"
            ),
            true => format!("store(out + ({at}), sum[r][c][s]);"),
            false => format!("s_{result}[{at}] = sum[r][c][s];"),
        };
        let _ = writeln!(
            text,
            "      #pragma unroll\n      for (int r = 0; r < {down}; r++)\n        #pragma unroll\n        for (int c = 0; c < {across}; c++)\n          #pragma unroll\n          for (int s = 0; s < {sums}; s += {pair}) {{\n\
             \x20           const int row = m0 + r * {} + s / 2 * 8 + lane / 4, column = n0 + c * 8 + lane % 4 * 2 + s % 2;\n\
             \x20           if (row < {m} && column < {n}) {{ {} {} {guard}{store} }}\n          }}\n    }}",
            fragment.m,
            self.decode(&dims.m, "row").replace("rest", "row_rest"),
            self.decode(&dims.n, "column"),
        );
        text
    }

    /// Reads fragments of some groups from product `k0` on and multiplies them; only `left` products are left, if any
    /// are missing.
    fn products(
        &self,
        names: &AxisNames<'_>,
        dims: &MatrixDims,
        groups: usize,
        [down, across]: [usize; 2],
        left: Option<usize>,
    ) -> String {
        let ([_, offset], fragment) = (names.types(), self.fragment(dims));
        let (pack, group, k) = (fragment.pack, fragment.group(), self.count(&dims.k));
        let term = |array: usize| match self.is_line(array, dims) {
            true => "at".into(),
            false => self.offset_of(names, array, &dims.k),
        };
        let mut text = format!(
            "        {offset} a_k[{groups}][{pack}], b_k[{groups}][{pack}]; bool has_k[{groups}][{pack}];\n        #pragma unroll\n        for (int g = 0; g < {groups}; g++)\n          #pragma unroll\n          for (int p = 0; p < {pack}; p++) {{ const int at = k0 + g * {group} + lane % 4 * {pack} + p; has_k[g][p] = at < {k}; {} a_k[g][p] = {}; b_k[g][p] = {}; }}\n",
            self.decode(&dims.k, &format!("at < {k} ? at : {}", k - 1)),
            term(dims.a),
            term(dims.b),
        );
        let is_whole = |g: usize| left.is_none_or(|left| (g + 1) * group <= left);
        let value = |array: usize, name: &str, line: &str, g: usize| {
            let at = |p: usize| format!("{line} + {name}_k[{g}][{p}]");
            let guarded = |p: usize, value: String, zero: &str| match is_whole(g) {
                true => value,
                false => format!("has_k[{g}][{p}] ? {value} : {zero}"),
            };
            let element = |p: usize| {
                let at = at(p);
                let value = match self.arrays[array].is_shared {
                    true => format!("s_{array}[{at}]"),
                    false => format!("element{array}(x_{} + ({at}))", array + 1),
                };
                guarded(p, value, "E()")
            };
            match pack {
                1 => guarded(0, self.value(array, &at(0)), "T(0)"),
                // Behind an odd number of items is a zero.
                _ if self.is_line(array, dims) => {
                    guarded(0, format!("*(const unsigned *)(s_{array} + {})", at(0)), "0u")
                }
                _ => format!("pack({}, {})", element(0), element(1)),
            }
        };
        let register = if pack == 1 { "T" } else { "unsigned" };
        let registers: Vec<[usize; 2]> = fragment.a.iter().copied().filter(|[_, g]| *g < groups).collect();
        let _ = writeln!(
            text,
            "        {register} a[{down}][{}], b[{across}][{groups}];\n        #pragma unroll\n        for (int t = 0; t < {down}; t++) {{",
            registers.len()
        );
        for (number, &[row, g]) in registers.iter().enumerate() {
            let line = format!("a_line[t * {} + {}]", fragment.m / 8, row / 8);
            let _ = writeln!(text, "          a[t][{number}] = {};", value(dims.a, "a", &line, g));
        }
        let _ = writeln!(text, "        }}\n        #pragma unroll\n        for (int t = 0; t < {across}; t++) {{");
        for g in 0..groups {
            let _ = writeln!(text, "          b[t][{g}] = {};", value(dims.b, "b", "b_line[t]", g));
        }
        let multiply = match (pack, self.types.compute) {
            (_, DType::F64) => "multiply".into(),
            (1, _) => format!("multiply<{}, {}>", self.is_half(dims.a), self.is_half(dims.b)),
            (_, DType::F16) => "multiply_f16".into(),
            _ => "multiply_bf16".into(),
        };
        let _ = writeln!(
            text,
            "        }}\n        #pragma unroll\n        for (int r = 0; r < {down}; r++)\n          #pragma unroll\n          for (int c = 0; c < {across}; c++) {multiply}(sum[r][c], a[r], b[c]);"
        );
        text
    }
}
