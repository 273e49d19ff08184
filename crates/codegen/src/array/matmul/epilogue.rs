//! Epilogues of matrix products: a CUDA C expression that is applied to each sum before it is stored.

use super::super::c_types::{compute_type, helper_preamble, storage_type};
use super::accumulator_type;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Threads of the kernel that applies an epilogue to sums in memory.
pub const EPILOGUE_THREADS: u32 = 256;

/// An array that an epilogue reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EpilogueOperand {
    /// Its name in the expression.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// Whether it has no axes: its name then stands for its value.
    pub is_scalar: bool,
}

impl EpilogueOperand {
    /// The type of operands in structures of the kernel.
    pub(crate) const TEMPLATE: &str = "template <class rt_t, class rt_c> struct rt_operand {\n  const rt_t *at;\n  __device__ __forceinline__ rt_c operator[](long long i) const { return rt_cast<rt_c>(rt_load(at[i])); }\n};\n";

    /// It as a member of a structure.
    pub(crate) fn member(&self) -> String {
        format!("  rt_operand<{}, {}> {};\n", storage_type(self.dtype), compute_type(self.dtype), self.name)
    }

    /// In a method of the structure: its value under its name, if it is one.
    pub(crate) fn local(&self) -> String {
        let name = &self.name;
        if self.is_scalar {
            format!("    const {} {name} = this->{name}[0];\n", compute_type(self.dtype))
        } else {
            String::new()
        }
    }
}

/// An epilogue, described by everything that determines its source.
///
/// The expression may use the sum `acc`, its row `i` and column `j`, the index `batch` of the matrix in a stack, the
/// lengths `m`, `n`, `k`, and the operands by name, indexed flat: `bias[j]`, `other[i * n + j]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatmulEpilogue {
    /// The dtype of the matrices.
    pub dtype: DType,
    /// The dtype of the result.
    pub result: DType,
    /// The expression.
    pub expression: String,
    /// The operands that it reads.
    pub operands: Vec<EpilogueOperand>,
    /// Whether the kernel computes the transposed product.
    pub is_transposed: bool,
    /// Whether the result takes the place of elements that the expression reads as `old`, in a matrix whose rows may be
    /// further apart than they are long. Kernels that copy tiles while others are multiplied can do it.
    pub is_in_place: bool,
}

/// Reserved names, which operands must not have.
pub const EPILOGUE_NAMES: [&str; 7] = ["acc", "i", "j", "m", "n", "k", "batch"];

impl MatmulEpilogue {
    /// The dtype in which sums are stored if the epilogue is applied to sums in memory.
    pub fn sums_dtype(&self) -> DType {
        if matches!(self.dtype, DType::F16 | DType::BF16) { DType::F32 } else { self.dtype }
    }

    /// Definitions for a kernel of `E`, whose sums are of `sum` in C: what `rt_finish` and its parameter are.
    fn source(&self, sum: &str) -> String {
        let dtypes = [self.dtype, self.result].into_iter().chain(self.operands.iter().map(|operand| operand.dtype));
        let dtypes: Vec<DType> = dtypes.collect();
        let mut text = helper_preamble(dtypes.iter().copied(), false);
        let value = compute_type(self.dtype);
        let _ = writeln!(text, "typedef {} O;\ntypedef {value} rt_value;", storage_type(self.result));
        text.push_str(EpilogueOperand::TEMPLATE);
        text.push_str("struct rt_epilogue {\n  long long m, n, k, first_batch;\n");
        if self.is_in_place {
            text.push_str("  const O *target;\n  long long pitch;\n");
        }
        self.operands.iter().for_each(|operand| text.push_str(&operand.member()));
        let (i, j) = if self.is_transposed { ("j", "i") } else { ("i", "j") };
        let _ = writeln!(
            text,
            "  __device__ __forceinline__ O finish(rt_value acc, long long {i}, long long {j}, long long batch) const\n  {{"
        );
        if self.is_in_place {
            text.push_str("    const rt_value old = rt_cast<rt_value>(rt_load(target[i * pitch + j]));\n");
        }
        self.operands.iter().for_each(|operand| text.push_str(&operand.local()));
        let _ = writeln!(
            text,
            "    return rt_cast<O>(\n#line 1 \"epilogue\"\n{}\n    );\n  }}\n}};\n#define RT_EPILOGUE_PARAMETER , const rt_epilogue epilogue\n#define RT_EPILOGUE_ARGUMENT , epilogue",
            self.expression
        );
        text.push_str("#define RT_ALWAYS_FINISHES 0\n");
        text.push_str(if self.is_in_place { "#define RT_OUT_ROW epilogue.pitch\n" } else { "#define RT_OUT_ROW n\n" });
        // Tiles have complex numbers as pairs, integers without a sign, and sums of bools as integers.
        let to_value = match self.dtype {
            DType::C64 | DType::C128 if sum.ends_with('2') => "rt_value(sum.x, sum.y)".to_owned(),
            DType::C64 | DType::C128 => "sum".to_owned(),
            DType::Bool => "sum != 0".to_owned(),
            _ => "(rt_value)sum".to_owned(),
        };
        let _ = writeln!(
            text,
            "template <class S> __device__ __forceinline__ O rt_finish(const rt_epilogue &epilogue, S sum, long long i, long long j, long long batch)\n\
             {{\n  return epilogue.finish({to_value}, i, j, epilogue.first_batch + batch);\n}}\n#define RT_FINISH(sum, i, j, batch) rt_finish(epilogue, sum, i, j, batch)"
        );
        text
    }
}

/// What kernels of products need where sums are stored as they are: `store` is an expression of `sum`.
fn plain_source(store: &str) -> String {
    format!(
        "#define RT_EPILOGUE_PARAMETER\n#define RT_EPILOGUE_ARGUMENT\n#define RT_OUT_ROW n\n#define RT_ALWAYS_FINISHES 1\n\
         #define RT_FINISH(sum, i, j, batch) {store}\n"
    )
}

/// The type `O` of the result, what a kernel does with sums of the C type `sum`, and helpers for `dtype`, unless these are
/// wanted without an epilogue only.
pub(super) fn finish_source(
    epilogue: Option<&MatmulEpilogue>,
    dtype: DType,
    sum: &str,
    (result, store, needs_helpers): (&str, &str, bool),
) -> String {
    let Some(epilogue) = epilogue else {
        let helpers = if needs_helpers { helper_preamble([dtype].into_iter(), false) } else { String::new() };
        return format!("{helpers}typedef {result} O;\n{}", plain_source(store));
    };
    epilogue.source(sum)
}

/// A matrix product kernel to which an epilogue can be added.
pub trait MatmulKernel: KernelSpec {
    /// The source with an epilogue, whose operands are passed as the last parameter.
    fn source_with(&self, epilogue: Option<&MatmulEpilogue>) -> String;
}

/// A matrix product with an epilogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FusedMatmul<K> {
    /// The product.
    pub kernel: K,
    /// The epilogue.
    pub epilogue: Arc<MatmulEpilogue>,
}

impl<K: MatmulKernel> KernelSpec for FusedMatmul<K> {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.kernel.kernel_name()
    }

    fn source(&self) -> String {
        self.kernel.source_with(Some(&self.epilogue))
    }
}

/// A kernel that applies an epilogue to sums in memory. Parameters: the result, the sums, their number, the epilogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EpilogueKernel(pub Arc<MatmulEpilogue>);

impl KernelSpec for EpilogueKernel {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_matmul_epilogue".into()
    }

    fn source(&self) -> String {
        let epilogue = &self.0;
        let sums = epilogue.sums_dtype();
        let mut text = epilogue.source(&accumulator_type(sums));
        let _ = writeln!(text, "typedef {} E;\nenum {{ THREADS = {EPILOGUE_THREADS} }};", storage_type(sums));
        text.push_str(KERNEL_BODY_SOURCE);
        text
    }
}

const KERNEL_BODY_SOURCE: &str = "\
extern \"C\" __global__ void array_matmul_epilogue(O *out, const E *sums, unsigned long long size RT_EPILOGUE_PARAMETER)
{
  for (unsigned long long at = blockIdx.x * (unsigned long long)THREADS + threadIdx.x; at < size; at += gridDim.x * (unsigned long long)THREADS) {
    const unsigned long long row = at / epilogue.n;
    out[at] = RT_FINISH(rt_load(sums[at]), row % epilogue.m, at % epilogue.n, row / epilogue.m);
  }
}
";
