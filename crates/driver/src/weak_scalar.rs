//! Numbers without a type of their own, as Python has them, made into the type that a kernel wants.
//!
//! Establishes: a conversion gives the same number, or an error. The one exception are floating
//! point numbers, which are rounded to the nearest of the wanted type as a C compiler rounds a
//! literal; one that is too large for it is an error.

use crate::signature::{Number, ParamKind};
use half::{bf16, f16};

/// A number without a size.
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

/// Why a number cannot be of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// A number of this kind has no such type.
    Kind,
    /// It is outside of the type's range, or the type has no such value.
    Value,
}

/// The bytes of a converted number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Converted {
    bytes: [u8; 16],
    nbytes: usize,
}

impl std::ops::Deref for Converted {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.nbytes]
    }
}

impl From<&[u8]> for Converted {
    /// At most 16 bytes.
    #[inline]
    fn from(value: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..value.len()].copy_from_slice(value);
        Self { bytes, nbytes: value.len() }
    }
}

impl WeakScalar {
    /// The bytes of this number as a parameter of this kind.
    ///
    /// # Errors
    /// When the kind has no such number. A parameter of unknown kind has none, and an address is
    /// no number: who means one says so by its type.
    pub fn convert(self, kind: ParamKind) -> Result<Converted, Unfit> {
        match kind {
            ParamKind::Value(number) => self.to_number(number),
            _ => Err(Unfit::Kind),
        }
    }

    fn to_number(self, number: Number) -> Result<Converted, Unfit> {
        match number {
            Number::Bool => match self.to_integer()? {
                value @ (0 | 1) => integer(value, 1, false),
                _ => Err(Unfit::Value),
            },
            Number::Int { nbytes, signed } => integer(self.to_integer()?, nbytes.into(), signed),
            Number::Half | Number::BFloat16 | Number::Float | Number::Double => self.to_real(number),
            Number::Complex64 => self.to_complex(Number::Float),
            Number::Complex128 => self.to_complex(Number::Double),
        }
    }

    fn to_integer(self) -> Result<i128, Unfit> {
        match self {
            Self::Bool(value) => Ok(value.into()),
            Self::Int(value) => Ok(value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 1e20 => Ok(value as i128),
            Self::Float(_) => Err(Unfit::Value),
            Self::Complex(..) => Err(Unfit::Kind),
        }
    }

    fn to_real(self, number: Number) -> Result<Converted, Unfit> {
        let (value, integer) = match self {
            Self::Float(value) => (value, None),
            Self::Bool(value) => (f64::from(u8::from(value)), None),
            Self::Int(value) => (value as f64, Some(value)),
            Self::Complex(..) => return Err(Unfit::Kind),
        };
        let (converted, back) = match number {
            Number::Half => (Converted::from(&f16::from_f64(value).to_ne_bytes()[..]), f16::from_f64(value).to_f64()),
            Number::BFloat16 => {
                (Converted::from(&bf16::from_f64(value).to_ne_bytes()[..]), bf16::from_f64(value).to_f64())
            }
            Number::Float => (Converted::from(&(value as f32).to_ne_bytes()[..]), f64::from(value as f32)),
            _ => (Converted::from(&value.to_ne_bytes()[..]), value),
        };
        let is_same = match integer {
            Some(integer) => back.is_finite() && back as i128 == integer,
            None => back.is_finite() || !value.is_finite(),
        };
        if is_same { Ok(converted) } else { Err(Unfit::Value) }
    }

    fn to_complex(self, part: Number) -> Result<Converted, Unfit> {
        let (re, im) = match self {
            Self::Complex(re, im) => (Self::Float(re), Self::Float(im)),
            other => (other, Self::Float(0.0)),
        };
        let (re, im) = (re.to_real(part)?, im.to_real(part)?);
        Ok(Converted::from(&[&re[..], &im[..]].concat()[..]))
    }
}

fn integer(value: i128, nbytes: usize, signed: bool) -> Result<Converted, Unfit> {
    let bits = 8 * nbytes as u32 - u32::from(signed);
    let low = if signed { -(1i128 << bits) } else { 0 };
    if value < low || value >= 1i128 << bits {
        return Err(Unfit::Value);
    }
    Ok(Converted::from(&value.to_le_bytes()[..nbytes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(value: WeakScalar, c_type: &str) -> Result<Vec<u8>, Unfit> {
        value.convert(ParamKind::from_c(c_type.trim_end_matches('*'), c_type.matches('*').count())).map(|c| c.to_vec())
    }

    #[test]
    fn numbers_stay_what_they_are() {
        use WeakScalar::{Bool, Complex, Float, Int};
        for (value, c_type, expected) in [
            (Int(-5), "int", Ok((-5i32).to_le_bytes().to_vec())),
            (Int(1 << 31), "int", Err(Unfit::Value)),
            (Int(-1), "unsigned", Err(Unfit::Value)),
            (Int((1 << 32) - 1), "unsigned", Ok(vec![255; 4])),
            (Int((1 << 64) - 1), "size_t", Ok(vec![255; 8])),
            (Int(1 << 64), "size_t", Err(Unfit::Value)),
            (Float(3.0), "short", Ok(vec![3, 0])),
            (Float(3.5), "int", Err(Unfit::Value)),
            (Float(f64::NAN), "int", Err(Unfit::Value)),
            (Bool(true), "long long", Ok(1i64.to_le_bytes().to_vec())),
            (Int(2), "bool", Err(Unfit::Value)),
            (Float(0.1), "float", Ok(0.1f32.to_le_bytes().to_vec())),
            (Float(1e300), "float", Err(Unfit::Value)),
            (Float(f64::INFINITY), "float", Ok(f32::INFINITY.to_le_bytes().to_vec())),
            (Int(1 << 24), "float", Ok(16777216f32.to_le_bytes().to_vec())),
            (Int((1 << 24) + 1), "float", Err(Unfit::Value)),
            (Int((1 << 24) + 1), "double", Ok(16777217f64.to_le_bytes().to_vec())),
            (Int(65505), "half", Err(Unfit::Value)),
            (Float(70000.0), "half", Err(Unfit::Value)),
            (Int(2), "__nv_bfloat16", Ok(0x4000u16.to_le_bytes().to_vec())),
            (Int(1), "float2", Ok([1f32.to_le_bytes(), [0; 4]].concat())),
            (Complex(1.0, -2.0), "double2", Ok([1f64.to_le_bytes(), (-2f64).to_le_bytes()].concat())),
            (Complex(1.0, 0.0), "float", Err(Unfit::Kind)),
            (Int(4096), "float*", Err(Unfit::Kind)),
            (Float(1.0), "float*", Err(Unfit::Kind)),
            (Int(1), "my_struct", Err(Unfit::Kind)),
        ] {
            assert_eq!(convert(value, c_type), expected, "{value:?} as {c_type}");
        }
    }
}
