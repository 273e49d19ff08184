//! Converts numbers without a fixed type, such as Python's, to the type that a kernel expects.
//!
//! Establishes: a conversion yields the same number or an error. The one exception is floating-point numbers, which are
//! rounded to the nearest value of the type, as a C compiler rounds a literal; one that is too large is an error.

use crate::dtype::{DType, DTypeKind, WeakScalar};
use half::{bf16, f16};

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

impl DType {
    /// Reads a number of this type from its bytes; `None` if their number is wrong, and for records.
    pub fn read_number(self, bytes: &[u8]) -> Option<WeakScalar> {
        if bytes.len() != self.itemsize() {
            return None;
        }
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let float = |bytes: &[u8]| Some(f32::from_ne_bytes(*bytes.first_chunk()?).into());
        let double = |bytes: &[u8]| Some(f64::from_ne_bytes(*bytes.first_chunk()?));
        Some(match self {
            DType::Bool => WeakScalar::Bool(bytes[0] != 0),
            DType::F16 => WeakScalar::Float(f16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            DType::BF16 => WeakScalar::Float(bf16::from_ne_bytes(*bytes.first_chunk()?).to_f64()),
            DType::F32 => WeakScalar::Float(float(bytes)?),
            DType::F64 => WeakScalar::Float(double(bytes)?),
            DType::C64 => WeakScalar::Complex(float(first)?, float(second)?),
            DType::C128 => WeakScalar::Complex(double(first)?, double(second)?),
            DType::Void(_) => return None,
            integer => {
                let is_negative = integer.kind() == DTypeKind::Signed && bytes[bytes.len() - 1] >= 0x80;
                let mut wide = [if is_negative { 0xff } else { 0 }; 16];
                wide[..bytes.len()].copy_from_slice(bytes);
                WeakScalar::Int(i128::from_le_bytes(wide))
            }
        })
    }

    /// Converts a number to this type.
    ///
    /// # Errors
    /// When the type cannot represent the number.
    pub fn convert_number(self, value: WeakScalar) -> Result<ConvertedScalar, ConversionError> {
        match self {
            DType::Bool => match to_integer(value)? {
                value @ (0 | 1) => integer_bytes(value, 1, false),
                _ => Err(ConversionError::Value),
            },
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => to_real(value, self),
            DType::C64 | DType::C128 => to_complex(value, self.real_part()),
            DType::Void(_) => Err(ConversionError::Kind),
            integer => integer_bytes(to_integer(value)?, integer.itemsize(), integer.kind() == DTypeKind::Signed),
        }
    }
}

/// What kernels' parameters take.
impl DType {
    /// Parses a C number type; its words may be in any usual order.
    pub fn from_c_type(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => DType::Bool,
            "float" => DType::F32,
            "double" => DType::F64,
            "half" | "__half" => DType::F16,
            "nv_bfloat16" | "__nv_bfloat16" => DType::BF16,
            "float2" | "cuComplex" | "cuFloatComplex" | "pycuda::complex<float>" | "complex<float>" => DType::C64,
            "double2" | "cuDoubleComplex" | "pycuda::complex<double>" | "complex<double>" => DType::C128,
            "int8_t" => DType::I8,
            "uint8_t" | "uchar" | "byte" => DType::U8,
            "int16_t" => DType::I16,
            "uint16_t" | "ushort" => DType::U16,
            "int32_t" => DType::I32,
            "uint32_t" | "uint" => DType::U32,
            "int64_t" | "ptrdiff_t" | "intptr_t" => DType::I64,
            "uint64_t" | "size_t" | "uintptr_t" => DType::U64,
            "cudaTextureObject_t" | "cudaSurfaceObject_t" => DType::U64,
            _ => return Self::from_integer_keywords(name),
        })
    }

    /// `unsigned long long int` and its like.
    fn from_integer_keywords(name: &str) -> Option<Self> {
        let (mut signed, mut longs, mut base) = (None, 0, None);
        for word in name.split_whitespace() {
            match word {
                "signed" | "unsigned" if signed.is_none() => signed = Some(word == "signed"),
                "long" => longs += 1,
                "short" | "char" if base.is_none() => base = Some(word),
                "int" if matches!(base, None | Some("short")) => base = base.or(Some("int")),
                _ => return None,
            }
        }
        let nbytes = match (base, longs) {
            (Some("char"), 0) => 1,
            (Some("short"), 0) => 2,
            (Some("int"), 0) => 4,
            (None, 0) if signed.is_some() => 4,
            // As on the host, which CUDA follows; a contradiction is found by comparing sizes.
            (None | Some("int"), 1) => size_of::<std::ffi::c_long>(),
            (None | Some("int"), 2) => 8,
            _ => return None,
        };
        DType::from_numpy(if signed.unwrap_or(true) { 'i' } else { 'u' }, nbytes).ok()
    }

    /// Its name in messages: that of C, or what the type is where C has none.
    pub fn c_name(self) -> &'static str {
        match self {
            DType::F16 => "half",
            DType::BF16 => "bfloat16",
            DType::C64 => "complex of float",
            DType::C128 => "complex of double",
            other => other.c_type(),
        }
    }

    /// Whether it stands for an integer of this many bytes, or for bits that are kept in one:
    /// programs pass half precision as 16-bit integers.
    pub fn fits_integer_bytes(self, nbytes: usize) -> bool {
        (self.is_integral() || matches!(self, DType::F16 | DType::BF16)) && self.itemsize() == nbytes
    }

    /// Whether a scalar of type `given` may be passed for a parameter of this type.
    pub fn accepts_value(self, given: Self) -> bool {
        let are_other_16_bit_floats = matches!((self, given), (DType::F16, DType::BF16) | (DType::BF16, DType::F16));
        self == given
            || (self.fits_integer_bytes(given.itemsize())
                && given.fits_integer_bytes(self.itemsize())
                && !are_other_16_bit_floats)
    }

    /// Whether an array of `given` may be passed for a pointer to this type.
    pub fn accepts_elements(self, given: Self) -> bool {
        let component = DType::real_part;
        self.itemsize() == 1 || given.itemsize() == 1 || component(self).accepts_value(component(given))
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

fn to_real(value: WeakScalar, dtype: DType) -> Result<ConvertedScalar, ConversionError> {
    let (value, integer) = match value {
        WeakScalar::Float(value) => (value, None),
        WeakScalar::Bool(value) => (f64::from(u8::from(value)), None),
        WeakScalar::Int(value) => (value as f64, Some(value)),
        WeakScalar::Complex(..) => return Err(ConversionError::Kind),
    };
    let (converted, back) = match dtype {
        DType::F16 => (ConvertedScalar::from(&f16::from_f64(value).to_ne_bytes()[..]), f16::from_f64(value).to_f64()),
        DType::BF16 => {
            (ConvertedScalar::from(&bf16::from_f64(value).to_ne_bytes()[..]), bf16::from_f64(value).to_f64())
        }
        DType::F32 => (ConvertedScalar::from(&(value as f32).to_ne_bytes()[..]), f64::from(value as f32)),
        _ => (ConvertedScalar::from(&value.to_ne_bytes()[..]), value),
    };
    let is_same = match integer {
        Some(integer) => back.is_finite() && back as i128 == integer,
        None => back.is_finite() || !value.is_finite(),
    };
    if is_same { Ok(converted) } else { Err(ConversionError::Value) }
}

fn to_complex(value: WeakScalar, part: DType) -> Result<ConvertedScalar, ConversionError> {
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
    use WeakScalar::{Bool, Complex, Float, Int};

    #[test]
    fn bytes_are_read_by_their_dtype() {
        assert_eq!(DType::I16.read_number(&(-3i16).to_ne_bytes()), Some(Int(-3)));
        assert_eq!(DType::U64.read_number(&u64::MAX.to_ne_bytes()), Some(Int(u64::MAX.into())));
        assert_eq!(DType::F32.read_number(&1.5f32.to_ne_bytes()), Some(Float(1.5)));
        assert_eq!(DType::F16.read_number(&f16::from_f32(0.5).to_ne_bytes()), Some(Float(0.5)));
        assert_eq!(DType::Bool.read_number(&[1]), Some(Bool(true)));
        let both = [2.0f64.to_ne_bytes(), (-1.0f64).to_ne_bytes()].concat();
        assert_eq!(DType::C128.read_number(&both), Some(Complex(2.0, -1.0)));
        assert_eq!(DType::I32.read_number(&[0; 3]), None);
        assert_eq!(DType::Void(3).read_number(&[0; 3]), None);
    }

    #[test]
    fn numbers_convert_only_without_loss() {
        for (value, dtype, expected) in [
            (Int(-5), DType::I32, Ok((-5i32).to_le_bytes().to_vec())),
            (Int(1 << 31), DType::I32, Err(ConversionError::Value)),
            (Int(-1), DType::U32, Err(ConversionError::Value)),
            (Int((1 << 32) - 1), DType::U32, Ok(vec![255; 4])),
            (Int((1 << 64) - 1), DType::U64, Ok(vec![255; 8])),
            (Int(1 << 64), DType::U64, Err(ConversionError::Value)),
            (Float(3.0), DType::I16, Ok(vec![3, 0])),
            (Float(3.5), DType::I32, Err(ConversionError::Value)),
            (Float(f64::NAN), DType::I32, Err(ConversionError::Value)),
            (Bool(true), DType::I64, Ok(1i64.to_le_bytes().to_vec())),
            (Int(2), DType::Bool, Err(ConversionError::Value)),
            (Float(0.1), DType::F32, Ok(0.1f32.to_le_bytes().to_vec())),
            (Float(1e300), DType::F32, Err(ConversionError::Value)),
            (Float(f64::INFINITY), DType::F32, Ok(f32::INFINITY.to_le_bytes().to_vec())),
            (Int(1 << 24), DType::F32, Ok(16777216f32.to_le_bytes().to_vec())),
            (Int((1 << 24) + 1), DType::F32, Err(ConversionError::Value)),
            (Int((1 << 24) + 1), DType::F64, Ok(16777217f64.to_le_bytes().to_vec())),
            (Int(65505), DType::F16, Err(ConversionError::Value)),
            (Float(70000.0), DType::F16, Err(ConversionError::Value)),
            (Int(2), DType::BF16, Ok(0x4000u16.to_le_bytes().to_vec())),
            (Int(1), DType::C64, Ok([1f32.to_le_bytes(), [0; 4]].concat())),
            (Complex(1.0, -2.0), DType::C128, Ok([1f64.to_le_bytes(), (-2f64).to_le_bytes()].concat())),
            (Complex(1.0, 0.0), DType::F32, Err(ConversionError::Kind)),
            (Int(1), DType::Void(4), Err(ConversionError::Kind)),
        ] {
            assert_eq!(dtype.convert_number(value).map(|c| c.to_vec()), expected, "{value:?} as {dtype:?}");
        }
    }
}
