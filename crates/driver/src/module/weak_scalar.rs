//! Converts numbers without a fixed type, such as Python's, to the type that a kernel expects.
//!
//! Establishes: a conversion yields the same number or an error. The one exception is floating-point numbers, which are
//! rounded to the nearest value of the type, as a C compiler rounds a literal; one that is too large is an error.

use crate::module::signature::{NumberType, ParamKind};
use half::{bf16, f16};

/// A number without a fixed size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WeakScalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl std::fmt::Display for WeakScalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:e}"),
            Self::Complex(re, im) => write!(f, "{re:e}{im:+e}i"),
        }
    }
}

/// Why a number cannot be converted to a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConversionError {
    /// The type cannot represent numbers of this kind.
    Kind,
    /// The value is outside of the type's range, or not representable.
    Value,
}

/// The bytes of a converted number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConvertedScalar {
    bytes: [u8; 16],
    nbytes: usize,
}

impl std::ops::Deref for ConvertedScalar {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.nbytes]
    }
}

impl From<&[u8]> for ConvertedScalar {
    /// At most 16 bytes.
    #[inline]
    fn from(value: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..value.len()].copy_from_slice(value);
        Self { bytes, nbytes: value.len() }
    }
}

impl WeakScalar {
    /// Reads a number of this type from its bytes; `None` if their number is wrong.
    pub fn from_bytes(bytes: &[u8], number: NumberType) -> Option<Self> {
        if bytes.len() != number.nbytes() {
            return None;
        }
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let float = |bytes: &[u8]| Some(f32::from_ne_bytes(*bytes.first_chunk()?).into());
        let double = |bytes: &[u8]| Some(f64::from_ne_bytes(*bytes.first_chunk()?));
        Some(match number {
            NumberType::Bool => Self::Bool(bytes[0] != 0),
            NumberType::Int { signed, .. } => {
                let is_negative = signed && bytes[bytes.len() - 1] >= 0x80;
                let mut wide = [if is_negative { 0xff } else { 0 }; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                Self::Int(i128::from_le_bytes(wide))
            }
            NumberType::Half => Self::Float(f16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            NumberType::BFloat16 => Self::Float(bf16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            NumberType::Float => Self::Float(float(bytes)?),
            NumberType::Double => Self::Float(double(bytes)?),
            NumberType::Complex64 => Self::Complex(float(first)?, float(second)?),
            NumberType::Complex128 => Self::Complex(double(first)?, double(second)?),
        })
    }

    /// Converts this number to a parameter of this kind.
    ///
    /// # Errors
    /// When the number cannot be converted. It never converts to a parameter of unknown kind, nor to an address: to
    /// pass one, give it its own type.
    pub fn convert_to_param(self, kind: ParamKind) -> Result<ConvertedScalar, ConversionError> {
        match kind {
            ParamKind::Value(number) => self.convert_to_number_type(number),
            _ => Err(ConversionError::Kind),
        }
    }

    fn convert_to_number_type(self, number: NumberType) -> Result<ConvertedScalar, ConversionError> {
        match number {
            NumberType::Bool => match self.to_integer()? {
                value @ (0 | 1) => integer_bytes(value, 1, false),
                _ => Err(ConversionError::Value),
            },
            NumberType::Int { nbytes, signed } => integer_bytes(self.to_integer()?, nbytes.into(), signed),
            NumberType::Half | NumberType::BFloat16 | NumberType::Float | NumberType::Double => self.to_real(number),
            NumberType::Complex64 => self.to_complex(NumberType::Float),
            NumberType::Complex128 => self.to_complex(NumberType::Double),
        }
    }

    fn to_integer(self) -> Result<i128, ConversionError> {
        match self {
            Self::Bool(value) => Ok(value.into()),
            Self::Int(value) => Ok(value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 1e20 => Ok(value as i128),
            Self::Float(_) => Err(ConversionError::Value),
            Self::Complex(..) => Err(ConversionError::Kind),
        }
    }

    fn to_real(self, number: NumberType) -> Result<ConvertedScalar, ConversionError> {
        let (value, integer) = match self {
            Self::Float(value) => (value, None),
            Self::Bool(value) => (f64::from(u8::from(value)), None),
            Self::Int(value) => (value as f64, Some(value)),
            Self::Complex(..) => return Err(ConversionError::Kind),
        };
        let (converted, back) = match number {
            NumberType::Half => {
                (ConvertedScalar::from(&f16::from_f64(value).to_ne_bytes()[..]), f16::from_f64(value).to_f64())
            }
            NumberType::BFloat16 => {
                (ConvertedScalar::from(&bf16::from_f64(value).to_ne_bytes()[..]), bf16::from_f64(value).to_f64())
            }
            NumberType::Float => (ConvertedScalar::from(&(value as f32).to_ne_bytes()[..]), f64::from(value as f32)),
            _ => (ConvertedScalar::from(&value.to_ne_bytes()[..]), value),
        };
        let is_same = match integer {
            Some(integer) => back.is_finite() && back as i128 == integer,
            None => back.is_finite() || !value.is_finite(),
        };
        if is_same { Ok(converted) } else { Err(ConversionError::Value) }
    }

    fn to_complex(self, part: NumberType) -> Result<ConvertedScalar, ConversionError> {
        let (re, im) = match self {
            Self::Complex(re, im) => (Self::Float(re), Self::Float(im)),
            other => (other, Self::Float(0.0)),
        };
        let (re, im) = (re.to_real(part)?, im.to_real(part)?);
        Ok(ConvertedScalar::from(&[&re[..], &im[..]].concat()[..]))
    }
}

fn integer_bytes(value: i128, nbytes: usize, signed: bool) -> Result<ConvertedScalar, ConversionError> {
    let bits = 8 * nbytes as u32 - u32::from(signed);
    let low = if signed { -(1i128 << bits) } else { 0 };
    if value < low || value >= 1i128 << bits {
        return Err(ConversionError::Value);
    }
    Ok(ConvertedScalar::from(&value.to_le_bytes()[..nbytes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert_to_c_type(value: WeakScalar, c_type: &str) -> Result<Vec<u8>, ConversionError> {
        value
            .convert_to_param(ParamKind::from_c_type(c_type.trim_end_matches('*'), c_type.matches('*').count()))
            .map(|c| c.to_vec())
    }

    #[test]
    fn bytes_are_read_by_their_number_type() {
        use WeakScalar::{Bool, Complex, Float, Int};
        let int = |nbytes, signed| NumberType::Int { nbytes, signed };
        assert_eq!(WeakScalar::from_bytes(&(-3i16).to_ne_bytes(), int(2, true)), Some(Int(-3)));
        assert_eq!(WeakScalar::from_bytes(&u64::MAX.to_ne_bytes(), int(8, false)), Some(Int(u64::MAX.into())));
        assert_eq!(WeakScalar::from_bytes(&1.5f32.to_ne_bytes(), NumberType::Float), Some(Float(1.5)));
        assert_eq!(WeakScalar::from_bytes(&f16::from_f32(0.5).to_ne_bytes(), NumberType::Half), Some(Float(0.5)));
        assert_eq!(WeakScalar::from_bytes(&[1], NumberType::Bool), Some(Bool(true)));
        let both = [2.0f64.to_ne_bytes(), (-1.0f64).to_ne_bytes()].concat();
        assert_eq!(WeakScalar::from_bytes(&both, NumberType::Complex128), Some(Complex(2.0, -1.0)));
        assert_eq!(WeakScalar::from_bytes(&[0; 3], int(4, true)), None);
    }

    #[test]
    fn numbers_convert_only_without_loss() {
        use WeakScalar::{Bool, Complex, Float, Int};
        for (value, c_type, expected) in [
            (Int(-5), "int", Ok((-5i32).to_le_bytes().to_vec())),
            (Int(1 << 31), "int", Err(ConversionError::Value)),
            (Int(-1), "unsigned", Err(ConversionError::Value)),
            (Int((1 << 32) - 1), "unsigned", Ok(vec![255; 4])),
            (Int((1 << 64) - 1), "size_t", Ok(vec![255; 8])),
            (Int(1 << 64), "size_t", Err(ConversionError::Value)),
            (Float(3.0), "short", Ok(vec![3, 0])),
            (Float(3.5), "int", Err(ConversionError::Value)),
            (Float(f64::NAN), "int", Err(ConversionError::Value)),
            (Bool(true), "long long", Ok(1i64.to_le_bytes().to_vec())),
            (Int(2), "bool", Err(ConversionError::Value)),
            (Float(0.1), "float", Ok(0.1f32.to_le_bytes().to_vec())),
            (Float(1e300), "float", Err(ConversionError::Value)),
            (Float(f64::INFINITY), "float", Ok(f32::INFINITY.to_le_bytes().to_vec())),
            (Int(1 << 24), "float", Ok(16777216f32.to_le_bytes().to_vec())),
            (Int((1 << 24) + 1), "float", Err(ConversionError::Value)),
            (Int((1 << 24) + 1), "double", Ok(16777217f64.to_le_bytes().to_vec())),
            (Int(65505), "half", Err(ConversionError::Value)),
            (Float(70000.0), "half", Err(ConversionError::Value)),
            (Int(2), "__nv_bfloat16", Ok(0x4000u16.to_le_bytes().to_vec())),
            (Int(1), "float2", Ok([1f32.to_le_bytes(), [0; 4]].concat())),
            (Complex(1.0, -2.0), "double2", Ok([1f64.to_le_bytes(), (-2f64).to_le_bytes()].concat())),
            (Complex(1.0, 0.0), "float", Err(ConversionError::Kind)),
            (Int(4096), "float*", Err(ConversionError::Kind)),
            (Float(1.0), "float*", Err(ConversionError::Kind)),
            (Int(1), "my_struct", Err(ConversionError::Kind)),
        ] {
            assert_eq!(convert_to_c_type(value, c_type), expected, "{value:?} as {c_type}");
        }
    }
}
