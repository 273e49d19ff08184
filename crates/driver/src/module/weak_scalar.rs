//! Converts numbers without a fixed type, such as Python's, to the type that a kernel expects.
//!
//! Establishes: a conversion yields the same number or an error. The one exception is floating-point numbers, which are
//! rounded to the nearest value of the type, as a C compiler rounds a literal; one that is too large is an error.

use crate::module::signature::{NumberType, ParamKind};
use half::{bf16, f16};
use rtcg_hal::WeakScalar;

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

impl NumberType {
    /// Reads a number of this type from its bytes; `None` if their number is wrong.
    pub fn read_number(self, bytes: &[u8]) -> Option<WeakScalar> {
        if bytes.len() != self.nbytes() {
            return None;
        }
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let float = |bytes: &[u8]| Some(f32::from_ne_bytes(*bytes.first_chunk()?).into());
        let double = |bytes: &[u8]| Some(f64::from_ne_bytes(*bytes.first_chunk()?));
        Some(match self {
            NumberType::Bool => WeakScalar::Bool(bytes[0] != 0),
            NumberType::Int { signed, .. } => {
                let is_negative = signed && bytes[bytes.len() - 1] >= 0x80;
                let mut wide = [if is_negative { 0xff } else { 0 }; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                WeakScalar::Int(i128::from_le_bytes(wide))
            }
            NumberType::Half => WeakScalar::Float(f16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            NumberType::BFloat16 => WeakScalar::Float(bf16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            NumberType::Float => WeakScalar::Float(float(bytes)?),
            NumberType::Double => WeakScalar::Float(double(bytes)?),
            NumberType::Complex64 => WeakScalar::Complex(float(first)?, float(second)?),
            NumberType::Complex128 => WeakScalar::Complex(double(first)?, double(second)?),
        })
    }
}

impl ParamKind {
    /// Converts a number to a parameter of this kind.
    ///
    /// # Errors
    /// When the number cannot be converted. It never converts to a parameter of unknown kind, nor to an address: to
    /// pass one, give it its own type.
    pub fn convert_number(self, value: WeakScalar) -> Result<ConvertedScalar, ConversionError> {
        match self {
            ParamKind::Value(number) => to_number_type(value, number),
            _ => Err(ConversionError::Kind),
        }
    }
}

fn to_number_type(value: WeakScalar, number: NumberType) -> Result<ConvertedScalar, ConversionError> {
    match number {
        NumberType::Bool => match to_integer(value)? {
            value @ (0 | 1) => integer_bytes(value, 1, false),
            _ => Err(ConversionError::Value),
        },
        NumberType::Int { nbytes, signed } => integer_bytes(to_integer(value)?, nbytes.into(), signed),
        NumberType::Half | NumberType::BFloat16 | NumberType::Float | NumberType::Double => to_real(value, number),
        NumberType::Complex64 => to_complex(value, NumberType::Float),
        NumberType::Complex128 => to_complex(value, NumberType::Double),
    }
}

fn to_integer(value: WeakScalar) -> Result<i128, ConversionError> {
    match value {
        WeakScalar::Bool(value) => Ok(value.into()),
        WeakScalar::Int(value) => Ok(value),
        WeakScalar::Float(value) if value.fract() == 0.0 && value.abs() < 1e20 => Ok(value as i128),
        WeakScalar::Float(_) => Err(ConversionError::Value),
        WeakScalar::Complex(..) => Err(ConversionError::Kind),
    }
}

fn to_real(value: WeakScalar, number: NumberType) -> Result<ConvertedScalar, ConversionError> {
    let (value, integer) = match value {
        WeakScalar::Float(value) => (value, None),
        WeakScalar::Bool(value) => (f64::from(u8::from(value)), None),
        WeakScalar::Int(value) => (value as f64, Some(value)),
        WeakScalar::Complex(..) => return Err(ConversionError::Kind),
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

fn to_complex(value: WeakScalar, part: NumberType) -> Result<ConvertedScalar, ConversionError> {
    let (re, im) = match value {
        WeakScalar::Complex(re, im) => (WeakScalar::Float(re), WeakScalar::Float(im)),
        other => (other, WeakScalar::Float(0.0)),
    };
    let (re, im) = (to_real(re, part)?, to_real(im, part)?);
    Ok(ConvertedScalar::from(&[&re[..], &im[..]].concat()[..]))
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
        ParamKind::from_c_type(c_type.trim_end_matches('*'), c_type.matches('*').count())
            .convert_number(value)
            .map(|c| c.to_vec())
    }

    #[test]
    fn bytes_are_read_by_their_number_type() {
        use WeakScalar::{Bool, Complex, Float, Int};
        let int = |nbytes, signed| NumberType::Int { nbytes, signed };
        assert_eq!(int(2, true).read_number(&(-3i16).to_ne_bytes()), Some(Int(-3)));
        assert_eq!(int(8, false).read_number(&u64::MAX.to_ne_bytes()), Some(Int(u64::MAX.into())));
        assert_eq!(NumberType::Float.read_number(&1.5f32.to_ne_bytes()), Some(Float(1.5)));
        assert_eq!(NumberType::Half.read_number(&f16::from_f32(0.5).to_ne_bytes()), Some(Float(0.5)));
        assert_eq!(NumberType::Bool.read_number(&[1]), Some(Bool(true)));
        let both = [2.0f64.to_ne_bytes(), (-1.0f64).to_ne_bytes()].concat();
        assert_eq!(NumberType::Complex128.read_number(&both), Some(Complex(2.0, -1.0)));
        assert_eq!(int(4, true).read_number(&[0; 3]), None);
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
