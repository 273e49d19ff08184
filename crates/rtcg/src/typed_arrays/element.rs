//! Element types of typed arrays, and the operations that each has.

#![allow(unsafe_code, reason = "slices of plain numbers are viewed as bytes")]

use half::{bf16, f16};
#[cfg(feature = "num-complex")]
use num_complex::Complex;
use rtcg_array::Scalar;
use rtcg_hal::{DType, WeakScalar};
use std::borrow::Cow;

mod sealed {
    pub trait Sealed {}
}

/// An element type of arrays: `bool`, the integers of 8 to 64 bits, `f16`, `bf16`, `f32`, `f64`, and (with the feature
/// `num-complex`) `Complex<f32>` and `Complex<f64>`.
pub trait ArrayElement: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + PartialEq + 'static {
    /// The dtype on the device.
    const DTYPE: DType;
    /// A placeholder for elements that are not known yet.
    const ZERO: Self;
    /// The type of sums and products: 64 bits for integers, the type itself for others.
    type SumElement: ArrayElement;
    /// The type of means: `f64` for integers, the type itself for others.
    type MeanElement: ArrayElement;

    /// Converts this value to a scalar operand.
    fn to_scalar(self) -> Scalar;

    /// The bytes of a slice, in the device's representation.
    fn to_bytes(slice: &[Self]) -> Cow<'_, [u8]>;

    /// Makes elements from their bytes in the device's representation; `fill` must write all of them.
    ///
    /// # Errors
    /// Those of `fill`.
    fn vec_from_bytes<E>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E>;
}

/// Numbers, which can be added, subtracted and multiplied.
pub trait Arithmetic: ArrayElement {}
/// Numbers with a sign.
pub trait Signed: Arithmetic {}
/// Ordered types: real numbers and truth values.
pub trait Ordered: ArrayElement {}
/// Floating-point and complex numbers, which are closed under division.
pub trait Inexact: Signed {}
/// Real floating-point numbers.
pub trait Float: Inexact + Ordered {}
/// Elements of matrices that can be factorised: `f32`, `f64` and their complex types.
pub trait MatrixElement: Inexact {
    /// The type of absolute values.
    type Real: Float + MatrixElement<Real = Self::Real>;
}
/// Integers and truth values, which have bitwise operations.
pub trait Bitwise: Ordered {}
/// Integers.
pub trait Integer: Bitwise + Arithmetic {}

/// Elements whose bytes are the same on host and device, and of which every pattern of bytes is one.
macro_rules! impl_plain_elements {
    ($($t:ty: $dtype:ident, $zero:expr, $sum:ty, $mean:ty, |$x:ident| $value:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl ArrayElement for $t {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = $zero;
            type SumElement = $sum;
            type MeanElement = $mean;

            fn to_scalar(self) -> Scalar {
                let $x = self;
                Scalar::Strong(DType::$dtype, $value)
            }

            fn to_bytes(slice: &[Self]) -> Cow<'_, [u8]> {
                // SAFETY: the type is a number, or two, without padding.
                Cow::Borrowed(unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) })
            }

            fn vec_from_bytes<E>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E> {
                let mut elements = vec![Self::ZERO; len];
                // SAFETY: as in `to_bytes`; every pattern of bytes is a number.
                fill(unsafe {
                    std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(&elements[..]))
                })?;
                Ok(elements)
            }
        }
    )*};
}

impl_plain_elements! {
    i8: I8, 0, i64, f64, |x| WeakScalar::Int(x.into());
    i16: I16, 0, i64, f64, |x| WeakScalar::Int(x.into());
    i32: I32, 0, i64, f64, |x| WeakScalar::Int(x.into());
    i64: I64, 0, i64, f64, |x| WeakScalar::Int(x.into());
    u8: U8, 0, u64, f64, |x| WeakScalar::Int(x.into());
    u16: U16, 0, u64, f64, |x| WeakScalar::Int(x.into());
    u32: U32, 0, u64, f64, |x| WeakScalar::Int(x.into());
    u64: U64, 0, u64, f64, |x| WeakScalar::Int(x.into());
    f16: F16, f16::ZERO, f16, f16, |x| WeakScalar::Float(x.to_f64());
    bf16: BF16, bf16::ZERO, bf16, bf16, |x| WeakScalar::Float(x.to_f64());
    f32: F32, 0.0, f32, f32, |x| WeakScalar::Float(x.into());
    f64: F64, 0.0, f64, f64, |x| WeakScalar::Float(x);
}

#[cfg(feature = "num-complex")]
impl_plain_elements! {
    Complex<f32>: C64, Complex { re: 0.0, im: 0.0 }, Self, Self, |z| WeakScalar::Complex(z.re.into(), z.im.into());
    Complex<f64>: C128, Complex { re: 0.0, im: 0.0 }, Self, Self, |z| WeakScalar::Complex(z.re, z.im);
}

impl sealed::Sealed for bool {}
impl ArrayElement for bool {
    const DTYPE: DType = DType::Bool;
    const ZERO: Self = false;
    type SumElement = i64;
    type MeanElement = f64;

    fn to_scalar(self) -> Scalar {
        Scalar::Strong(DType::Bool, WeakScalar::Bool(self))
    }

    fn to_bytes(slice: &[Self]) -> Cow<'_, [u8]> {
        Cow::Owned(slice.iter().map(|&truth| u8::from(truth)).collect())
    }

    fn vec_from_bytes<E>(len: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E> {
        // Kernels of users may leave any byte; only 0 and 1 would be truth values of Rust.
        let mut bytes = vec![0; len];
        fill(&mut bytes)?;
        Ok(bytes.into_iter().map(|byte| byte != 0).collect())
    }
}

macro_rules! impl_marker_traits {
    ($($mark:ident: $($t:ty)*;)*) => {$($(impl $mark for $t {})*)*};
}

impl_marker_traits! {
    Arithmetic: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64;
    Signed: i8 i16 i32 i64 f16 bf16 f32 f64;
    Ordered: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64;
    Inexact: f16 bf16 f32 f64;
    Float: f16 bf16 f32 f64;
    Bitwise: bool i8 i16 i32 i64 u8 u16 u32 u64;
    Integer: i8 i16 i32 i64 u8 u16 u32 u64;
}

macro_rules! impl_matrix_elements {
    ($($t:ty: $real:ty;)*) => {$(impl MatrixElement for $t {
        type Real = $real;
    })*};
}

impl_matrix_elements! {
    f32: f32;
    f64: f64;
}

#[cfg(feature = "num-complex")]
impl_matrix_elements! {
    Complex<f32>: f32;
    Complex<f64>: f64;
}

#[cfg(feature = "num-complex")]
impl_marker_traits! {
    Arithmetic: Complex<f32> Complex<f64>;
    Signed: Complex<f32> Complex<f64>;
    Inexact: Complex<f32> Complex<f64>;
}
