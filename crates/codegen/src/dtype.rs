//! Element types: their C names, their NumPy names, and NumPy's rules for combining them.
//!
//! The rules are those of NumPy 2 (NEP 50): two arrays promote to the smallest type that holds
//! both, and a Python scalar is *weak*, it adapts to the array unless its kind is higher.

use std::fmt;

/// An element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    C64,
    C128,
}

/// The kind of a dtype, in NumPy's order of promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Unsigned,
    Signed,
    Float,
    Complex,
}

/// A Python scalar, whose kind but not whose size takes part in promotion.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum WeakScalar {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

/// A type that NumPy knows and no kernel can be generated for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dtype {} is not supported on a device; expected bool, an integer of 1 to 8 bytes, float16/32/64 or complex64/128",
            self.0
        )
    }
}

impl std::error::Error for UnknownDType {}

/// dtype, NumPy's kind letter, size in bytes, NumPy's name, C type.
const TABLE: [(DType, char, usize, &str, &str); 14] = [
    (DType::Bool, 'b', 1, "bool", "bool"),
    (DType::I8, 'i', 1, "int8", "signed char"),
    (DType::I16, 'i', 2, "int16", "short"),
    (DType::I32, 'i', 4, "int32", "int"),
    (DType::I64, 'i', 8, "int64", "long long"),
    (DType::U8, 'u', 1, "uint8", "unsigned char"),
    (DType::U16, 'u', 2, "uint16", "unsigned short"),
    (DType::U32, 'u', 4, "uint32", "unsigned int"),
    (DType::U64, 'u', 8, "uint64", "unsigned long long"),
    (DType::F16, 'f', 2, "float16", "__half"),
    (DType::F32, 'f', 4, "float32", "float"),
    (DType::F64, 'f', 8, "float64", "double"),
    (DType::C64, 'c', 8, "complex64", "pycuda::complex<float>"),
    (DType::C128, 'c', 16, "complex128", "pycuda::complex<double>"),
];

impl DType {
    /// The dtype with NumPy's kind letter (`dtype.kind`) and item size in bytes.
    pub fn from_numpy(kind: char, itemsize: usize) -> Result<DType, UnknownDType> {
        TABLE
            .iter()
            .find(|row| row.1 == kind && row.2 == itemsize)
            .map(|row| row.0)
            .ok_or_else(|| UnknownDType(format!("of kind '{kind}' and {itemsize} bytes")))
    }

    /// Every dtype.
    pub fn all() -> impl Iterator<Item = DType> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (DType, char, usize, &'static str, &'static str) {
        // The table lists the variants in declaration order.
        &TABLE[self as usize]
    }

    /// Bytes per element.
    pub fn itemsize(self) -> usize {
        self.row().2
    }

    /// NumPy's name, such as `float32`.
    pub fn name(self) -> &'static str {
        self.row().3
    }

    /// The type in CUDA C++ source.
    pub fn c_type(self) -> &'static str {
        self.row().4
    }

    /// The `typestr` of the array interface, such as `<f4`.
    pub fn typestr(self) -> String {
        let order = if self.itemsize() == 1 { '|' } else { '<' };
        format!("{order}{}{}", self.row().1, self.itemsize())
    }

    /// What family it belongs to.
    pub fn kind(self) -> Kind {
        match self.row().1 {
            'b' => Kind::Bool,
            'u' => Kind::Unsigned,
            'i' => Kind::Signed,
            'f' => Kind::Float,
            _ => Kind::Complex,
        }
    }

    fn with(kind: char, itemsize: usize) -> DType {
        DType::from_numpy(kind, itemsize).unwrap_or(DType::F64)
    }

    /// The type NumPy gives to an operation on arrays of `self` and `other`.
    pub fn promote(self, other: DType) -> DType {
        let (low, high) = if self.kind() <= other.kind() { (self, other) } else { (other, self) };
        match (low.kind(), high.kind()) {
            (Kind::Bool, _) => high,
            (a, b) if a == b => {
                if low.itemsize() > high.itemsize() {
                    low
                } else {
                    high
                }
            }
            (Kind::Unsigned, Kind::Signed) => promote_mixed_integers(low, high),
            (_, Kind::Float) => promote_floats(float_for(low), high),
            (_, Kind::Complex) => DType::with('c', high.itemsize().max(2 * float_for(low).itemsize())),
            _ => high,
        }
    }

    /// The type NumPy gives to an operation of an array of `self` with a Python scalar.
    pub fn promote_weak(self, scalar: WeakScalar) -> DType {
        let kind = self.kind();
        match scalar {
            WeakScalar::Bool(_) => self,
            WeakScalar::Int(_) if kind == Kind::Bool => DType::I64,
            WeakScalar::Int(_) => self,
            WeakScalar::Float(_) if kind < Kind::Float => DType::F64,
            WeakScalar::Float(_) => self,
            WeakScalar::Complex(..) if kind == Kind::Complex => self,
            WeakScalar::Complex(..) if kind == Kind::Float => DType::with('c', (2 * self.itemsize()).max(8)),
            WeakScalar::Complex(..) => DType::C128,
        }
    }

    /// The result type of true division of operands that promote to `self`.
    pub fn true_divide(self) -> DType {
        if self.kind() < Kind::Float { DType::F64 } else { self }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn promote_mixed_integers(unsigned: DType, signed: DType) -> DType {
    if signed.itemsize() > unsigned.itemsize() {
        return signed;
    }
    match unsigned.itemsize() {
        8 => DType::F64,
        n => DType::with('i', 2 * n),
    }
}

/// The smallest float that holds every value of `dtype` (float64 for 64-bit integers, as NumPy).
fn float_for(dtype: DType) -> DType {
    match (dtype.kind(), dtype.itemsize()) {
        (Kind::Float, _) => dtype,
        (_, 1) => DType::F16,
        (_, 2) => DType::F32,
        _ => DType::F64,
    }
}

fn promote_floats(a: DType, b: DType) -> DType {
    if a.itemsize() > b.itemsize() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_declaration_order() {
        for (position, dtype) in DType::all().enumerate() {
            assert_eq!(dtype as usize, position);
        }
    }

    #[test]
    fn promotes_arrays_as_numpy() {
        use DType::*;
        // Read from numpy.promote_types of NumPy 2.4.
        for (a, b, expected) in [
            (U8, I8, I16),
            (U16, I16, I32),
            (U32, I32, I64),
            (U64, I64, F64),
            (U8, I32, I32),
            (I32, F32, F64),
            (I16, F32, F32),
            (I8, F16, F16),
            (I16, F16, F32),
            (U64, F16, F64),
            (Bool, U8, U8),
            (Bool, Bool, Bool),
            (F32, C64, C64),
            (F64, C64, C128),
            (I32, C64, C128),
            (I16, C64, C64),
            (F16, C64, C64),
            (C64, C128, C128),
            (F32, F64, F64),
        ] {
            assert_eq!(a.promote(b), expected, "{a} with {b}");
            assert_eq!(b.promote(a), expected, "{b} with {a}");
        }
    }

    #[test]
    fn python_scalars_are_weak() {
        use DType::*;
        assert_eq!(F32.promote_weak(WeakScalar::Float(2.5)), F32);
        assert_eq!(I32.promote_weak(WeakScalar::Float(2.5)), F64);
        assert_eq!(F16.promote_weak(WeakScalar::Complex(0.0, 1.0)), C64);
        assert_eq!(F64.promote_weak(WeakScalar::Complex(0.0, 1.0)), C128);
        assert_eq!(Bool.promote_weak(WeakScalar::Int(1)), I64);
        assert_eq!(U8.promote_weak(WeakScalar::Int(3)), U8);
    }

    #[test]
    fn unknown_types_are_named() {
        let message = DType::from_numpy('f', 16).unwrap_err().to_string();
        assert!(message.contains("kind 'f' and 16 bytes"), "{message}");
    }
}
