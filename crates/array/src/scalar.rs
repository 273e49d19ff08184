//! Scalar operands: Python scalars, which adapt to the array, and NumPy scalars, which do not.

use crate::error::{ArrayError, Result};
use crate::runtime::KernelArg;
use rtcg_codegen::{DType, Kind, WeakScalar};

/// A scalar operand of an array operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A Python `bool`, `int`, `float` or `complex`.
    Weak(WeakScalar),
    /// A NumPy scalar of a dtype; the value is held in the widest type of its kind.
    Strong(DType, WeakScalar),
}

impl Scalar {
    /// The type of an operation of an array of `dtype` with this scalar.
    pub fn promote(&self, dtype: DType) -> DType {
        match *self {
            Scalar::Weak(value) => dtype.promote_weak(value),
            Scalar::Strong(own, _) => dtype.promote(own),
        }
    }

    fn value(&self) -> WeakScalar {
        match *self {
            Scalar::Weak(value) | Scalar::Strong(_, value) => value,
        }
    }

    /// The scalar as a kernel argument of `dtype`.
    ///
    /// # Errors
    /// Overflow when a Python integer lies outside the integer type `dtype`.
    pub fn to_arg(&self, dtype: DType) -> Result<KernelArg> {
        let (re, im) = self.as_complex();
        let mut bytes = [0; 16];
        let mut put = |at: usize, src: &[u8]| bytes[at..at + src.len()].copy_from_slice(src);
        match dtype {
            DType::F16 => put(0, &half::f16::from_f64(re).to_le_bytes()),
            DType::F32 => put(0, &(re as f32).to_le_bytes()),
            DType::F64 => put(0, &re.to_le_bytes()),
            DType::C64 => {
                put(0, &(re as f32).to_le_bytes());
                put(4, &(im as f32).to_le_bytes());
            }
            DType::C128 => {
                put(0, &re.to_le_bytes());
                put(8, &im.to_le_bytes());
            }
            DType::Bool => put(0, &[u8::from(re != 0.0 || im != 0.0)]),
            _ => put(0, &self.as_integer_of(dtype)?.to_le_bytes()[..dtype.itemsize()]),
        }
        Ok(KernelArg::Value { bytes, len: dtype.itemsize() as u8 })
    }

    fn as_complex(&self) -> (f64, f64) {
        match self.value() {
            WeakScalar::Bool(b) => (f64::from(u8::from(b)), 0.0),
            WeakScalar::Int(i) => (i as f64, 0.0),
            WeakScalar::Float(x) => (x, 0.0),
            WeakScalar::Complex(re, im) => (re, im),
        }
    }

    fn as_integer_of(&self, dtype: DType) -> Result<i128> {
        let value = match self.value() {
            WeakScalar::Bool(b) => i128::from(b),
            WeakScalar::Int(i) => i,
            WeakScalar::Float(x) => x as i128,
            WeakScalar::Complex(re, _) => re as i128,
        };
        let bits = 8 * dtype.itemsize() as u32;
        let range = match dtype.kind() {
            Kind::Unsigned => 0..=(1i128 << bits) - 1,
            _ => -(1i128 << (bits - 1))..=(1i128 << (bits - 1)) - 1,
        };
        if range.contains(&value) {
            Ok(value)
        } else {
            Err(ArrayError::overflow(format!("Python integer {value} out of bounds for {dtype}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(scalar: Scalar, dtype: DType) -> Vec<u8> {
        match scalar.to_arg(dtype).unwrap() {
            KernelArg::Value { bytes, len } => bytes[..len as usize].to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_are_little_endian_of_the_dtype() {
        assert_eq!(bytes(Scalar::Weak(WeakScalar::Int(-2)), DType::I16), (-2i16).to_le_bytes());
        assert_eq!(bytes(Scalar::Weak(WeakScalar::Int(3)), DType::F32), 3f32.to_le_bytes());
        assert_eq!(bytes(Scalar::Weak(WeakScalar::Float(0.5)), DType::F16), 0x3800u16.to_le_bytes());
        let complex = bytes(Scalar::Weak(WeakScalar::Complex(1.0, -1.0)), DType::C64);
        assert_eq!(complex, [1f32.to_le_bytes(), (-1f32).to_le_bytes()].concat());
    }

    #[test]
    fn integers_out_of_range_are_refused_as_numpy_does() {
        let error = Scalar::Weak(WeakScalar::Int(300)).to_arg(DType::U8).unwrap_err();
        assert_eq!(error.to_string(), "Python integer 300 out of bounds for uint8");
    }
}
