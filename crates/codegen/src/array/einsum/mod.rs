//! Einsum kernels, specialised for their axes: short lengths and small strides are literals.

mod block;
mod direct;
mod mma;

use super::c_types::{compute_type, helper_preamble, storage_type};
use super::matmul::accumulator_type;
pub use block::{BlockArray, BlockEinsum, BlockStep, ELEMENT_DIM};
pub use direct::DirectEinsum;
pub use mma::fragment_pitch;
use rtcg_hal::DType;
use smallvec::SmallVec;
use std::fmt::Write;

/// The number of bytes from one element to the next along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EinsumStride {
    /// The operand does not have the axis.
    Zero,
    /// A literal in the source.
    Literal(i32),
    /// An argument of the launch.
    Argument,
}

/// An axis of an einsum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EinsumAxis {
    /// Its length if it is a literal in the source; otherwise it is an argument.
    pub length: Option<u32>,
    /// The strides of the result and of each operand.
    pub strides: SmallVec<[EinsumStride; 4]>,
}

/// The dtypes of computation, result and operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EinsumTypes {
    /// The dtype in which products are summed; 16-bit floats are summed in 32 bits.
    pub compute: DType,
    /// The dtype of the result.
    pub out: DType,
    /// The dtypes of the operands.
    pub operands: SmallVec<[DType; 4]>,
}

impl EinsumTypes {
    /// Helpers; the types `T` of sums, `E` of rounded ones, `O` of the result, `X0`, `X1`, .. of operands; and the
    /// functions `element0`, `load0`, .. of operands, rounded and as they are summed, `rounded` and `store`, which convert.
    fn preamble(&self) -> String {
        let dtypes = [self.compute, self.out].into_iter().chain(self.operands.iter().copied());
        let mut text = helper_preamble(dtypes, false);
        let [sum, rounded, out] = [accumulator_type(self.compute), storage_type(self.compute), storage_type(self.out)];
        let through = compute_type(self.compute);
        let _ = writeln!(text, "typedef {sum} T; typedef {rounded} E; typedef {out} O;");
        for (k, dtype) in self.operands.iter().enumerate() {
            let element = if *dtype == self.compute { "x" } else { "rt_cast<E>(rt_load(x))" };
            let ty = storage_type(*dtype);
            let _ = writeln!(
                text,
                "typedef {ty} X{k};\n\
                 __device__ __forceinline__ E element{k}(const char *from) {{ const X{k} x = *(const X{k} *)from; return {element}; }}\n\
                 __device__ __forceinline__ T load{k}(const char *from) {{ return (T)rt_load(element{k}(from)); }}"
            );
        }
        let rounded = format!("rt_cast<E>(({through})sum)");
        let value = if self.out == self.compute { rounded } else { format!("rt_cast<O>(rt_load({rounded}))") };
        let _ = writeln!(
            text,
            "__device__ __forceinline__ O rounded(T sum) {{ return {value}; }}\n\
             __device__ __forceinline__ void store(char *to, T sum) {{ *(O *)to = rounded(sum); }}"
        );
        text
    }

    /// Adds a product to a sum. Booleans are combined as NumPy does it: "and" for the product, "or" for the sum.
    fn accumulate(&self, sum: &str, factors: &[String]) -> String {
        let (plus, times) = if self.compute == DType::Bool { (" | ", " & ") } else { (" + ", " * ") };
        format!("{sum} = T({sum}{plus}{});", factors.join(times))
    }
}

/// How axes are named in source.
struct AxisNames<'a> {
    axes: Vec<&'a EinsumAxis>,
    n_operands: usize,
    wide: bool,
}

impl<'a> AxisNames<'a> {
    fn new(axes: Vec<&'a EinsumAxis>, n_operands: usize, wide: bool) -> Self {
        Self { axes, n_operands, wide }
    }

    /// The C type of an index, and that of an offset in bytes.
    fn types(&self) -> [&'static str; 2] {
        if self.wide { ["unsigned long long", "long long"] } else { ["unsigned int", "int"] }
    }

    /// The structure that a launch passes: lengths, and strides by operands.
    fn dims_struct(&self) -> String {
        let ([index, offset], n) = (self.types(), self.axes.len().max(1));
        format!("struct einsum_dims {{ {index} size[{n}]; {offset} stride[{}][{n}]; }};\n", self.n_operands + 1)
    }

    fn length(&self, axis: usize) -> String {
        self.axes[axis].length.map_or_else(|| format!("dims.size[{axis}]"), |length| format!("{length}u"))
    }

    /// `value * stride` of the result (0) or of an operand; none where the stride is 0.
    fn offset(&self, value: &str, axis: usize, operand: usize) -> Option<String> {
        let [_, offset] = self.types();
        match self.axes[axis].strides[operand] {
            EinsumStride::Zero => None,
            EinsumStride::Literal(stride) => Some(format!("({offset}){value} * {stride}")),
            EinsumStride::Argument => Some(format!("({offset}){value} * dims.stride[{operand}][{axis}]")),
        }
    }
}
