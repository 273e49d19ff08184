//! Operators of arrays and numbers, and the methods that return errors where operators panic.

use super::element::{Arithmetic, ArrayElement, Bitwise, Inexact, Integer, Ordered, Signed};
use super::gpu_array::GpuArray;
use rtcg_array::{Arg, Op, Scalar};
use rtcg_cuda::Result;
use rtcg_hal::WeakScalar;
use std::ops;

/// The right-hand side of an operation: an array, which is broadcast, or a number.
#[derive(Clone, Copy)]
pub enum Operand<'a, T> {
    /// An array.
    Array(&'a GpuArray<T>),
    /// A number.
    Number(T),
}

impl<'a, T> From<&'a GpuArray<T>> for Operand<'a, T> {
    fn from(array: &'a GpuArray<T>) -> Self {
        Operand::Array(array)
    }
}

impl<T: ArrayElement> From<T> for Operand<'_, T> {
    fn from(number: T) -> Self {
        Operand::Number(number)
    }
}

impl<'a, T: ArrayElement> Operand<'a, T> {
    fn as_dyn_arg(&self) -> Arg<'a> {
        match self {
            Operand::Array(array) => Arg::Array(array.as_dyn()),
            Operand::Number(number) => Arg::Scalar(number.to_scalar()),
        }
    }
}

fn compute_binary<T: ArrayElement, U: ArrayElement>(op: Op, x: &GpuArray<T>, y: Operand<'_, T>) -> Result<GpuArray<U>> {
    let arrays = x.factory();
    arrays.typed_from_dyn(rtcg_array::binary_with_power_shortcuts(
        arrays.array_context(),
        op,
        x.as_dyn().into(),
        y.as_dyn_arg(),
        None,
    )?)
}

fn compute_scalar_left<T: ArrayElement>(op: Op, number: T, x: &GpuArray<T>) -> Result<GpuArray<T>> {
    let arrays = x.factory();
    let number = Arg::Scalar(number.to_scalar());
    arrays.typed_from_dyn(rtcg_array::binary_with_power_shortcuts(
        arrays.array_context(),
        op,
        number,
        x.as_dyn().into(),
        None,
    )?)
}

fn compute_in_place<T: ArrayElement>(op: Op, x: &GpuArray<T>, y: Operand<'_, T>) -> Result<()> {
    Ok(x.as_dyn().binary_in_place(op, y.as_dyn_arg())?)
}

/// What an operator does with an error: it has no other way to report one.
#[track_caller]
fn unwrap_or_panic<T>(result: Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

macro_rules! impl_binary_methods {
    ($($bound:ident { $($(#[$doc:meta])* $name:ident $op:ident $result:ty;)*})*) => {$(
        impl<T: $bound> GpuArray<T> {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// When the shapes do not broadcast, the operands belong to different contexts, or the device is out of
            /// memory.
            pub fn $name<'a>(&self, other: impl Into<Operand<'a, T>>) -> Result<GpuArray<$result>> {
                compute_binary(Op::$op, self, other.into())
            }
        )*}
    )*};
}

impl_binary_methods! {
    Arithmetic {
        /// The sum.
        try_add Add T;
        /// The difference.
        try_sub Subtract T;
        /// The product.
        try_mul Multiply T;
        /// The power; for negative integer exponents, the integer part of the quotient.
        power Power T;
    }
    Inexact {
        /// The quotient.
        try_div TrueDivide T;
    }
    Integer {
        /// The quotient rounded down, 0 where the divisor is 0.
        floor_divide FloorDivide T;
        /// The remainder of [`GpuArray::floor_divide`], which has the divisor's sign.
        remainder Remainder T;
        /// The bits shifted to the left.
        try_shl LeftShift T;
        /// The bits shifted to the right.
        try_shr RightShift T;
        /// The quotient as a floating-point number.
        true_divide TrueDivide f64;
    }
    Bitwise {
        /// The bitwise and.
        try_bitand BitAnd T;
        /// The bitwise or.
        try_bitor BitOr T;
        /// The bitwise exclusive or.
        try_bitxor BitXor T;
    }
    Ordered {
        /// Whether each element is less than the other operand's.
        less Less bool;
        /// Whether each element is less than or equal to the other operand's.
        less_equal LessEqual bool;
        /// Whether each element is greater than the other operand's.
        greater Greater bool;
        /// Whether each element is greater than or equal to the other operand's.
        greater_equal GreaterEqual bool;
        /// The greater of each pair of elements, NaN if either is NaN.
        maximum Maximum T;
        /// The lesser of each pair of elements, NaN if either is NaN.
        minimum Minimum T;
    }
    ArrayElement {
        /// Whether the elements of each pair are equal.
        equal Equal bool;
        /// Whether the elements of each pair differ.
        not_equal NotEqual bool;
    }
}

/// Implements an operator for arrays and references to them on both sides, and for a number on the right.
macro_rules! impl_binary_operators {
    ($($bound:ident $trait:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => {$(
        impl<T: $bound> ops::$trait<&GpuArray<T>> for &GpuArray<T> {
            type Output = GpuArray<T>;
            /// # Panics
            /// Where the method that gives an error would.
            #[track_caller]
            fn $method(self, other: &GpuArray<T>) -> GpuArray<T> {
                unwrap_or_panic(compute_binary(Op::$op, self, other.into()))
            }
        }
        impl<T: $bound> ops::$trait<GpuArray<T>> for &GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self, other: GpuArray<T>) -> GpuArray<T> {
                ops::$trait::$method(self, &other)
            }
        }
        impl<T: $bound> ops::$trait<&GpuArray<T>> for GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self, other: &GpuArray<T>) -> GpuArray<T> {
                ops::$trait::$method(&self, other)
            }
        }
        impl<T: $bound> ops::$trait<GpuArray<T>> for GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self, other: GpuArray<T>) -> GpuArray<T> {
                ops::$trait::$method(&self, &other)
            }
        }
        impl<T: $bound> ops::$trait<T> for &GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self, number: T) -> GpuArray<T> {
                unwrap_or_panic(compute_binary(Op::$op, self, Operand::Number(number)))
            }
        }
        impl<T: $bound> ops::$trait<T> for GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self, number: T) -> GpuArray<T> {
                ops::$trait::$method(&self, number)
            }
        }
        impl<T: $bound> ops::$assign<&GpuArray<T>> for GpuArray<T> {
            /// Writes to the memory, which clones and views share.
            ///
            /// # Panics
            /// When the other array does not broadcast to this one's shape, or the device fails.
            #[track_caller]
            fn $assign_method(&mut self, other: &GpuArray<T>) {
                unwrap_or_panic(compute_in_place(Op::$op, self, other.into()));
            }
        }
        impl<T: $bound> ops::$assign<T> for GpuArray<T> {
            #[track_caller]
            fn $assign_method(&mut self, number: T) {
                unwrap_or_panic(compute_in_place(Op::$op, self, Operand::Number(number)));
            }
        }
    )*};
}

impl_binary_operators! {
    Arithmetic Add add AddAssign add_assign Add;
    Arithmetic Sub sub SubAssign sub_assign Subtract;
    Arithmetic Mul mul MulAssign mul_assign Multiply;
    Inexact Div div DivAssign div_assign TrueDivide;
    Bitwise BitAnd bitand BitAndAssign bitand_assign BitAnd;
    Bitwise BitOr bitor BitOrAssign bitor_assign BitOr;
    Bitwise BitXor bitxor BitXorAssign bitxor_assign BitXor;
    Integer Shl shl ShlAssign shl_assign LeftShift;
    Integer Shr shr ShrAssign shr_assign RightShift;
}

/// Implements an operator with a number on the left, which has to be written for each number type separately.
macro_rules! impl_scalar_left_operators {
    ($($t:ty: $($trait:ident $method:ident $op:ident),*;)*) => {$($(
        impl ops::$trait<&GpuArray<$t>> for $t {
            type Output = GpuArray<$t>;
            #[track_caller]
            fn $method(self, array: &GpuArray<$t>) -> GpuArray<$t> {
                unwrap_or_panic(compute_scalar_left(Op::$op, self, array))
            }
        }
        impl ops::$trait<GpuArray<$t>> for $t {
            type Output = GpuArray<$t>;
            #[track_caller]
            fn $method(self, array: GpuArray<$t>) -> GpuArray<$t> {
                ops::$trait::$method(self, &array)
            }
        }
    )*)*};
}

macro_rules! impl_scalar_left_arithmetic {
    ($($t:ty)*) => { impl_scalar_left_operators! { $($t: Add add Add, Sub sub Subtract, Mul mul Multiply;)* } };
}

macro_rules! impl_scalar_left_division {
    ($($t:ty)*) => { impl_scalar_left_operators! { $($t: Div div TrueDivide;)* } };
}

impl_scalar_left_arithmetic!(i8 i16 i32 i64 u8 u16 u32 u64 half::f16 half::bf16 f32 f64);
impl_scalar_left_division!(half::f16 half::bf16 f32 f64);
#[cfg(feature = "num-complex")]
impl_scalar_left_arithmetic!(num_complex::Complex<f32> num_complex::Complex<f64>);
#[cfg(feature = "num-complex")]
impl_scalar_left_division!(num_complex::Complex<f32> num_complex::Complex<f64>);

/// Implements operators of one operand.
macro_rules! impl_unary_operators {
    ($($bound:ident $trait:ident $method:ident $try:ident $op:ident $doc:literal;)*) => {$(
        impl<T: $bound> ops::$trait for &GpuArray<T> {
            type Output = GpuArray<T>;
            /// # Panics
            /// When the device is out of memory.
            #[track_caller]
            fn $method(self) -> GpuArray<T> {
                unwrap_or_panic(self.$try())
            }
        }
        impl<T: $bound> ops::$trait for GpuArray<T> {
            type Output = GpuArray<T>;
            #[track_caller]
            fn $method(self) -> GpuArray<T> {
                unwrap_or_panic(self.$try())
            }
        }
        impl<T: $bound> GpuArray<T> {
            #[doc = $doc]
            ///
            /// # Errors
            /// When the device is out of memory.
            pub fn $try(&self) -> Result<GpuArray<T>> {
                self.typed_result(self.as_dyn().unary(Op::$op)?)
            }
        }
    )*};
}

impl_unary_operators! {
    Signed Neg neg try_neg Negative "The negation.";
    Bitwise Not not try_not Invert "The bitwise complement.";
}

impl GpuArray<bool> {
    /// Selects `yes` where this is true and `no` elsewhere; all three are broadcast.
    ///
    /// # Errors
    /// When the shapes do not broadcast.
    pub fn where_cond<'a, T: ArrayElement>(
        &self,
        yes: impl Into<Operand<'a, T>>,
        no: impl Into<Operand<'a, T>>,
    ) -> Result<GpuArray<T>> {
        let args = [Arg::Array(self.as_dyn()), yes.into().as_dyn_arg(), no.into().as_dyn_arg()];
        let arrays = self.factory();
        arrays.typed_from_dyn(rtcg_array::apply_elementwise(
            arrays.array_context(),
            Op::Where,
            &args,
            Default::default(),
        )?)
    }

    /// Counts the elements that are true; waits.
    ///
    /// # Errors
    /// When the device fails.
    pub fn count_true(&self) -> Result<usize> {
        let count = self.as_dyn().reduce(rtcg_array::ReductionOp::CountNonzero, Default::default())?;
        Ok(self.typed_result::<i64>(count)?.item()? as usize)
    }
}

impl<T: Inexact> GpuArray<T> {
    /// Computes `self + x * y` in one kernel, rounding the product and the sum separately.
    ///
    /// # Errors
    /// When the shapes do not broadcast.
    pub fn add_scaled(&self, x: &GpuArray<T>, y: T) -> Result<GpuArray<T>> {
        let one = Arg::Scalar(Scalar::Weak(WeakScalar::Int(1)));
        let args = [Arg::Array(self.as_dyn()), one, Arg::Array(x.as_dyn()), Arg::Scalar(y.to_scalar())];
        let arrays = self.factory();
        arrays.typed_from_dyn(rtcg_array::apply_elementwise(
            arrays.array_context(),
            Op::Axpby,
            &args,
            Default::default(),
        )?)
    }
}
