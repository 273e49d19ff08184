//! Values on the host: scalars and arrays of any dtype, with elements as plain numbers.
//!
//! Each element is exactly a value of the dtype: an integer in its range, a real number that the type represents.

use super::cast::cast;
use crate::ir::{Number, VarType};
use rtcg_hal::{DType, DTypeKind, WeakScalar};
use std::sync::Arc;

/// A scalar or an array.
#[derive(Debug, Clone, PartialEq)]
pub enum HostValue {
    /// A number of a dtype.
    Scalar(Number, DType),
    /// An array; shared, since programs pass arrays on more often than they make them.
    Array(Arc<HostArray>),
}

/// An array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct HostArray {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The length of each axis, of which there is one at least.
    pub shape: Vec<usize>,
    /// As many as the lengths multiplied.
    pub elements: Vec<Number>,
}

impl HostValue {
    /// A scalar; the number is converted to the dtype as `astype` does it.
    pub fn scalar(number: Number, dtype: DType) -> Self {
        HostValue::Scalar(cast(number, dtype_of(number), dtype), dtype)
    }

    /// An array, or a scalar if there are no axes; elements are converted to the dtype as `astype` does it.
    ///
    /// # Panics
    /// When the number of elements is not that of the shape.
    pub fn array(dtype: DType, shape: Vec<usize>, elements: impl IntoIterator<Item = Number>) -> Self {
        let convert = |number| cast(number, dtype_of(number), dtype);
        Self::of_elements(dtype, shape, elements.into_iter().map(convert).collect())
    }

    /// [`HostValue::array`] of elements that are values of the dtype already.
    pub(super) fn of_elements(dtype: DType, shape: Vec<usize>, elements: Vec<Number>) -> Self {
        assert_eq!(elements.len(), shape.iter().product::<usize>(), "elements for the shape {shape:?}");
        match &elements[..] {
            [only] if shape.is_empty() => HostValue::Scalar(*only, dtype),
            _ => HostValue::Array(Arc::new(HostArray { dtype, shape, elements })),
        }
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        match self {
            HostValue::Scalar(_, dtype) => *dtype,
            HostValue::Array(array) => array.dtype,
        }
    }

    /// The length of each axis; none for a scalar.
    pub fn shape(&self) -> &[usize] {
        match self {
            HostValue::Scalar(..) => &[],
            HostValue::Array(array) => &array.shape,
        }
    }

    /// The elements in row-major order; one for a scalar.
    pub fn elements(&self) -> &[Number] {
        match self {
            HostValue::Scalar(number, _) => std::slice::from_ref(number),
            HostValue::Array(array) => &array.elements,
        }
    }

    /// The type of a variable that holds it.
    pub fn var_type(&self) -> VarType {
        VarType { dtype: self.dtype(), ndim: self.shape().len() }
    }

    /// The elements as they lie in memory; `None` for records.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.elements().len() * self.dtype().itemsize());
        for element in self.elements() {
            bytes.extend_from_slice(&self.dtype().convert_number(weak_scalar(*element)).ok()?);
        }
        Some(bytes)
    }

    /// The value whose elements lie in memory so; `None` if their number is not that of the shape, and for records.
    pub fn from_bytes(dtype: DType, shape: Vec<usize>, bytes: &[u8]) -> Option<Self> {
        let n_elements = shape.iter().product::<usize>();
        if bytes.len() != n_elements * dtype.itemsize() {
            return None;
        }
        let read = |bytes| {
            Some(match dtype.read_number(bytes)? {
                WeakScalar::Bool(value) => Number::Bool(value),
                WeakScalar::Int(value) => Number::Int(value),
                WeakScalar::Float(value) => Number::Float(value),
                WeakScalar::Complex(re, im) => Number::Complex(re, im),
            })
        };
        let elements = bytes.chunks_exact(dtype.itemsize()).map(read).collect::<Option<Vec<_>>>()?;
        Some(Self::of_elements(dtype, shape, elements))
    }

    /// Where a value differs from an expected one, as text; `None` if they agree.
    ///
    /// Floating-point numbers agree if their difference is at most `tolerance` times the larger of 1 and the expected
    /// number; with a tolerance of 0 they are equal, including the sign of zero. NaN agrees with NaN.
    pub fn difference(&self, expected: &HostValue, tolerance: f64) -> Option<String> {
        if (self.dtype(), self.shape()) != (expected.dtype(), expected.shape()) {
            let (dtype, shape) = (expected.dtype(), expected.shape());
            return Some(format!(
                "found {} of shape {:?}, expected {dtype} of shape {shape:?}",
                self.dtype(),
                self.shape()
            ));
        }
        let mut pairs = self.elements().iter().zip(expected.elements()).enumerate();
        pairs.find(|(_, (found, expected))| !agrees(**found, **expected, tolerance)).map(|(at, (found, expected))| {
            format!("element {at} of shape {:?} is {found:?}, expected {expected:?}", self.shape())
        })
    }
}

/// The dtype that holds all numbers of a kind.
fn dtype_of(number: Number) -> DType {
    weak_scalar(number).dtype()
}

fn weak_scalar(number: Number) -> WeakScalar {
    match number {
        Number::Bool(value) => WeakScalar::Bool(value),
        Number::Int(value) => WeakScalar::Int(value),
        Number::Float(value) => WeakScalar::Float(value),
        Number::Complex(re, im) => WeakScalar::Complex(re, im),
    }
}

/// What an element is where there is none: zero.
pub(super) fn zero(dtype: DType) -> Number {
    match dtype.kind() {
        DTypeKind::Bool => Number::Bool(false),
        DTypeKind::Float => Number::Float(0.0),
        DTypeKind::Complex => Number::Complex(0.0, 0.0),
        _ => Number::Int(0),
    }
}

fn agrees(found: Number, expected: Number, tolerance: f64) -> bool {
    let real = |found: f64, expected: f64| {
        let is_close = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        let is_same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        is_same || (tolerance > 0.0 && (found == expected || is_close))
    };
    match (found, expected) {
        (Number::Float(found), Number::Float(expected)) => real(found, expected),
        (Number::Complex(re, im), Number::Complex(expected_re, expected_im)) => {
            real(re, expected_re) && real(im, expected_im)
        }
        _ => found == expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_elements() {
        for dtype in DType::all_dtypes() {
            let value = HostValue::array(dtype, vec![2, 2], [0, 1, 1, 0].map(Number::Int));
            let bytes = value.to_bytes().unwrap();
            assert_eq!(bytes.len(), 4 * dtype.itemsize());
            assert_eq!(HostValue::from_bytes(dtype, vec![2, 2], &bytes), Some(value));
            assert_eq!(HostValue::from_bytes(dtype, vec![3], &bytes), None);
        }
        let value = HostValue::array(DType::I16, vec![2], [-2, 300].map(Number::Int));
        assert_eq!(value.to_bytes(), Some([(-2i16).to_ne_bytes(), 300i16.to_ne_bytes()].concat()));
    }

    #[test]
    fn values_agree_within_the_tolerance() {
        let floats = |values: [f64; 2]| HostValue::array(DType::F64, vec![2], values.map(Number::Float));
        let difference = |found, expected, tolerance| floats(found).difference(&floats(expected), tolerance).is_some();
        assert!(!difference([f64::NAN, 1.0], [f64::NAN, 1.0], 0.0));
        assert!(difference([0.0, 1.0], [-0.0, 1.0], 0.0));
        assert!(difference([1.0, f64::NAN], [1.0, 1.0], 0.1));
        assert!(!difference([1.0, f64::INFINITY], [1.05, f64::INFINITY], 0.1));
        assert!(difference([1.0, 2.0], [1.3, 2.0], 0.1));
        let wrong_dtype =
            floats([0.0, 0.0]).difference(&HostValue::array(DType::F32, vec![2], [Number::Int(0); 2]), 1.0);
        assert_eq!(wrong_dtype.unwrap(), "found float64 of shape [2], expected float32 of shape [2]");
    }
}
