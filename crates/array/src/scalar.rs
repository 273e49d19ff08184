//! Scalar operands: Python scalars, which adapt to the array, and NumPy scalars, which do not.

use rtcg_hal::{ArrayError, DType, DTypeKind, Result, WeakScalar};

/// A scalar operand of an array operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A Python `bool`, `int`, `float` or `complex`.
    Weak(WeakScalar),
    /// A NumPy scalar of a dtype; the value is stored in the widest type of its kind.
    Strong(DType, WeakScalar),
}

impl Scalar {
    /// The dtype of an operation on an array of `dtype` and this scalar.
    pub fn promoted_dtype(&self, dtype: DType) -> DType {
        match *self {
            Scalar::Weak(value) => dtype.promote_weak(value),
            Scalar::Strong(own, _) => dtype.promote(own),
        }
    }

    /// The dtype of an array made from this scalar.
    pub fn dtype(&self) -> DType {
        match *self {
            Scalar::Weak(value) => value.dtype(),
            Scalar::Strong(dtype, _) => dtype,
        }
    }

    /// The value, in the widest type of its kind.
    pub fn value(&self) -> WeakScalar {
        match *self {
            Scalar::Weak(value) | Scalar::Strong(_, value) => value,
        }
    }

    /// Whether it is a Python integer outside the integer type `dtype`, and on which side.
    pub(crate) fn compare_to_integer_range(&self, dtype: DType) -> std::cmp::Ordering {
        match *self {
            Scalar::Weak(WeakScalar::Int(value)) if matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned) => {
                let (low, high) = integer_range(dtype);
                if value < low {
                    std::cmp::Ordering::Less
                } else if value > high {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            }
            _ => std::cmp::Ordering::Equal,
        }
    }

    /// Converts the value to an element of `dtype`.
    ///
    /// # Errors
    /// Overflow when a Python integer is outside of the integer type `dtype`; and for records, which have no scalars.
    pub fn to_element(&self, dtype: DType) -> Result<ScalarElement> {
        let (re, im) = self.as_complex();
        let mut bytes = [0; 16];
        let mut put = |at: usize, src: &[u8]| bytes[at..at + src.len()].copy_from_slice(src);
        match dtype {
            DType::F16 => put(0, &half::f16::from_f64(re).to_le_bytes()),
            DType::BF16 => put(0, &half::bf16::from_f32(re as f32).to_le_bytes()),
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
            DType::Void(nbytes) => {
                return Err(ArrayError::type_error(format!("a number is no element of a record of {nbytes} bytes")));
            }
            _ => put(0, &self.integer_in_range(dtype)?.to_le_bytes()[..dtype.itemsize()]),
        }
        Ok(ScalarElement { bytes, dtype })
    }

    fn as_complex(&self) -> (f64, f64) {
        match self.value() {
            WeakScalar::Bool(b) => (f64::from(u8::from(b)), 0.0),
            WeakScalar::Int(i) => (i as f64, 0.0),
            WeakScalar::Float(x) => (x, 0.0),
            WeakScalar::Complex(re, im) => (re, im),
        }
    }

    fn integer_in_range(&self, dtype: DType) -> Result<i128> {
        match (self, self.value()) {
            (_, WeakScalar::Bool(b)) => Ok(i128::from(b)),
            // NumPy's own scalars wrap, Python's integers must fit.
            (Scalar::Strong(..), WeakScalar::Int(value)) => Ok(value),
            (Scalar::Weak(_), WeakScalar::Int(value)) if self.compare_to_integer_range(dtype).is_eq() => Ok(value),
            (_, WeakScalar::Int(value)) => {
                Err(ArrayError::overflow_error(format!("Python integer {value} out of bounds for {dtype}")))
            }
            (_, WeakScalar::Float(re) | WeakScalar::Complex(re, _)) => Ok(re as i128),
        }
    }
}

/// One element on the host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalarElement {
    bytes: [u8; 16],
    dtype: DType,
}

impl ScalarElement {
    /// Makes an element from its bytes.
    pub fn from_bytes(bytes: &[u8], dtype: DType) -> Option<ScalarElement> {
        let mut element = ScalarElement { bytes: [0; 16], dtype };
        if bytes.len() != dtype.itemsize() || bytes.len() > 16 {
            return None;
        }
        element.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(element)
    }

    /// The bytes in memory order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.dtype.itemsize()]
    }

    /// The alignment in C.
    pub(crate) fn alignment(&self) -> usize {
        match self.dtype {
            DType::Void(_) => 1,
            dtype => dtype.real_part().itemsize(),
        }
    }
}

/// The smallest and the largest value of an integer type.
pub(crate) fn integer_range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.itemsize() as u32;
    match dtype.kind() {
        DTypeKind::Unsigned => (0, (1i128 << bits) - 1),
        _ => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element_bytes(scalar: Scalar, dtype: DType) -> Vec<u8> {
        scalar.to_element(dtype).unwrap().bytes().to_vec()
    }

    #[test]
    fn values_are_little_endian_of_the_dtype() {
        assert_eq!(element_bytes(Scalar::Weak(WeakScalar::Int(-2)), DType::I16), (-2i16).to_le_bytes());
        assert_eq!(element_bytes(Scalar::Weak(WeakScalar::Int(3)), DType::F32), 3f32.to_le_bytes());
        assert_eq!(element_bytes(Scalar::Weak(WeakScalar::Float(0.5)), DType::F16), 0x3800u16.to_le_bytes());
        let complex = element_bytes(Scalar::Weak(WeakScalar::Complex(1.0, -1.0)), DType::C64);
        assert_eq!(complex, [1f32.to_le_bytes(), (-1f32).to_le_bytes()].concat());
    }

    #[test]
    fn integers_out_of_range_are_refused_as_numpy_does() {
        let error = Scalar::Weak(WeakScalar::Int(300)).to_element(DType::U8).unwrap_err();
        assert_eq!(error.to_string(), "Python integer 300 out of bounds for uint8");
    }
}
