//! Steps of a block by tensor cores: warps multiply fragments of the two arrays wherever their elements lie. Doubles by
//! `mma` of doubles; singles by three products of TF32 numbers, the larger and the smaller half of each factor but for the
//! product of the smaller ones (H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores while
//! surpassing the FP32 theoretical peak performance", 2022). From compute capability 8.0 on.

use super::AxisNames;
use super::block::{BlockEinsum, BlockStep, ELEMENT_DIM, index_name, sum_or_zero};
use crate::DType;
use std::fmt::Write;

/// A fragment of `mma` of m x 8 sums of k products: and of which row, from a thread's first one, and of which product the
/// thread's numbers are.
struct Fragment {
    m: usize,
    k: usize,
    a: &'static [[usize; 2]],
    b: &'static [usize],
}

const DOUBLES: Fragment = Fragment { m: 8, k: 4, a: &[[0, 0]], b: &[0] };
const SINGLES: Fragment = Fragment { m: 16, k: 8, a: &[[0, 0], [8, 0], [0, 4], [8, 4]], b: &[0, 4] };

const DOUBLES_SOURCE: &str = "\
__device__ __forceinline__ void multiply(double (&c)[2], const double (&a)[1], const double (&b)[1]) {
  asm(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\" : \"+d\"(c[0]), \"+d\"(c[1]) : \"d\"(a[0]), \"d\"(b[0]));
}
";
const SINGLES_SOURCE: &str = "\
__device__ __forceinline__ unsigned tf32(float x) { unsigned bits; asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits) : \"f\"(x)); return bits; }
__device__ __forceinline__ void multiply_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"
      : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3]) : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));
}
__device__ __forceinline__ void multiply(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
  unsigned a_large[4], a_small[4], b_large[2], b_small[2];
  #pragma unroll
  for (int k = 0; k < 4; k++) { a_large[k] = tf32(a[k]); a_small[k] = tf32(a[k] - __uint_as_float(a_large[k])); }
  #pragma unroll
  for (int k = 0; k < 2; k++) { b_large[k] = tf32(b[k]); b_small[k] = tf32(b[k] - __uint_as_float(b_large[k])); }
  multiply_tf32(c, a_small, b_large);
  multiply_tf32(c, a_large, b_small);
  multiply_tf32(c, a_large, b_large);
}
";

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
    fn fragment(&self) -> &'static Fragment {
        if self.types.compute == DType::F64 { &DOUBLES } else { &SINGLES }
    }

    /// What multiplies fragments, if tensor cores do.
    pub(super) fn fragment_functions(&self) -> &'static str {
        match self.types.compute {
            DType::F64 if self.tensor_cores => DOUBLES_SOURCE,
            DType::F32 if self.tensor_cores => SINGLES_SOURCE,
            _ => "",
        }
    }

    /// The step as a product of matrices, if it is one for tensor cores.
    pub(super) fn matrix_dims(&self, step: &BlockStep) -> Option<MatrixDims> {
        let b = step.b.filter(|_| self.tensor_cores && !self.fragment_functions().is_empty())?;
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
    pub(super) fn step_by_fragments(
        &self,
        names: &AxisNames<'_>,
        dims: &MatrixDims,
        result: usize,
        starts: &[usize],
    ) -> String {
        let ([_, offset], fragment) = (names.types(), self.fragment());
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
        let _ = writeln!(text, "      #pragma unroll {}", self.unroll);
        let _ = writeln!(text, "      for (int k0 = 0; k0 < {k}; k0 += {}) {{", fragment.k);
        let steps = fragment.k / 4;
        let _ = writeln!(
            text,
            "        {offset} a_k[{steps}], b_k[{steps}]; bool has_k[{steps}];\n        #pragma unroll\n        for (int s = 0; s < {steps}; s++) {{ const int at = k0 + s * 4 + lane % 4; has_k[s] = at < {k}; {} a_k[s] = {}; b_k[s] = {}; }}",
            self.decode(&dims.k, &format!("at < {k} ? at : {}", k - 1)),
            self.offset_of(names, dims.a, &dims.k),
            self.offset_of(names, dims.b, &dims.k),
        );
        let value = |array: usize, at: &str| match self.arrays[array].is_shared {
            true => format!("smem[{} + {at}]", starts[array]),
            false => format!("load{array}(x_{} + ({at}))", array + 1),
        };
        let _ = writeln!(text, "        T a[{down}][{}], b[{across}][{}];", fragment.a.len(), fragment.b.len());
        let _ = writeln!(text, "        #pragma unroll\n        for (int t = 0; t < {down}; t++) {{");
        for (number, [row, term]) in fragment.a.iter().enumerate() {
            let at = format!("a_line[t * {lines} + {}] + a_k[{}]", row / 8, term / 4);
            let _ = writeln!(text, "          a[t][{number}] = has_k[{}] ? {} : T(0);", term / 4, value(dims.a, &at));
        }
        let _ = writeln!(text, "        }}\n        #pragma unroll\n        for (int t = 0; t < {across}; t++) {{");
        for (number, term) in fragment.b.iter().enumerate() {
            let at = format!("b_line[t] + b_k[{}]", term / 4);
            let _ = writeln!(text, "          b[t][{number}] = has_k[{}] ? {} : T(0);", term / 4, value(dims.b, &at));
        }
        let _ = writeln!(
            text,
            "        }}\n        #pragma unroll\n        for (int r = 0; r < {down}; r++)\n          #pragma unroll\n          for (int c = 0; c < {across}; c++) multiply(sum[r][c], a[r], b[c]);\n      }}"
        );
        // Where a result of a thread goes: rows and columns of its fragments.
        let all: Vec<u8> = dims.batch.iter().chain(&dims.m).chain(&dims.n).copied().collect();
        let is_last = !self.arrays[result].is_shared;
        let at = self.offset_of(names, result, &all);
        let guard = if is_last && all.contains(&ELEMENT_DIM) { "if (first + e < n) " } else { "" };
        let store = match is_last {
            true => format!("store(out + ({at}), sum[r][c][s]);"),
            false => format!("smem[{} + {at}] = sum[r][c][s];", starts[result]),
        };
        let _ = writeln!(
            text,
            "      #pragma unroll\n      for (int r = 0; r < {down}; r++)\n        #pragma unroll\n        for (int c = 0; c < {across}; c++)\n          #pragma unroll\n          for (int s = 0; s < {sums}; s++) {{\n\
             \x20           const int row = m0 + r * {} + s / 2 * 8 + lane / 4, column = n0 + c * 8 + lane % 4 * 2 + s % 2;\n\
             \x20           if (row < {m} && column < {n}) {{ {} {} {guard}{store} }}\n          }}\n    }}",
            fragment.m,
            self.decode(&dims.m, "row").replace("rest", "row_rest"),
            self.decode(&dims.n, "column"),
        );
        text
    }
}
