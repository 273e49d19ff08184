//! Element types under NumPy's names, and their names in C and OpenCL C.

use std::fmt;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// Signed integers of 8 bits.
    Int8,
    /// Signed integers of 16 bits.
    Int16,
    /// Signed integers of 32 bits.
    Int32,
    /// Signed integers of 64 bits.
    Int64,
    /// Unsigned integers of 8 bits.
    Uint8,
    /// Unsigned integers of 16 bits.
    Uint16,
    /// Unsigned integers of 32 bits.
    Uint32,
    /// Unsigned integers of 64 bits.
    Uint64,
    /// Floats of 32 bits.
    Float32,
    /// Floats of 64 bits.
    Float64,
    /// Two `Float32` numbers, real part first.
    Complex64,
    /// Two `Float64` numbers, real part first.
    Complex128,
}

/// A type without a name in C or OpenCL C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDtype(pub String);

impl fmt::Display for UnknownDtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unable to map dtype '{}'", self.0)
    }
}

impl std::error::Error for UnknownDtype {}

use Dtype::*;

/// Type, NumPy's code, name in C, name in OpenCL C, bytes.
type Row = (Dtype, &'static str, &'static str, Option<&'static str>, usize);

const LONG: &str = if cfg!(windows) { "long long" } else { "long" };
const UNSIGNED_LONG: &str = if cfg!(windows) { "unsigned long long" } else { "unsigned long" };

const ROWS: [Row; 14] = [
    (Void, "V0", "void", None, 0),
    (Bool, "b1", "bool", None, 1),
    (Int8, "i1", "signed char", Some("char"), 1),
    (Int16, "i2", "short int", Some("short"), 2),
    (Int32, "i4", "int", Some("int"), 4),
    (Int64, "i8", LONG, Some("long"), 8),
    (Uint8, "u1", "unsigned char", Some("uchar"), 1),
    (Uint16, "u2", "short unsigned int", Some("ushort"), 2),
    (Uint32, "u4", "unsigned int", Some("uint"), 4),
    (Uint64, "u8", UNSIGNED_LONG, Some("ulong"), 8),
    (Float32, "f4", "float", Some("float"), 4),
    (Float64, "f8", "double", Some("double"), 8),
    (Complex64, "c8", "std::complex<float>", None, 8),
    (Complex128, "c16", "std::complex<double>", None, 16),
];

impl Dtype {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Parses NumPy's type code, e.g. `<f4` or `|u1`; fails for byte orders other than the host's.
    pub fn from_numpy(code: &str) -> Result<Self, UnknownDtype> {
        let native = if cfg!(target_endian = "little") { "<=|" } else { ">=|" };
        let bare = code.strip_prefix(|c| native.contains(c)).unwrap_or(code);
        let found = ROWS.iter().find(|row| row.1 == bare);
        found.map(|row| row.0).ok_or_else(|| UnknownDtype(code.to_owned()))
    }

    /// The name in C and C++.
    pub fn ctype(self) -> &'static str {
        self.row().2
    }

    /// The name in OpenCL C, if vectors can have this element type.
    pub fn cltype(self) -> Result<&'static str, UnknownDtype> {
        self.row().3.ok_or_else(|| UnknownDtype(format!("{self:?}").to_lowercase()))
    }

    /// Size of an element in bytes.
    pub fn size(self) -> usize {
        self.row().4
    }

    /// Alignment in bytes; for complex numbers, that of the components.
    pub fn alignment(self) -> usize {
        match self {
            Complex64 | Complex128 => self.size() / 2,
            _ => self.size().max(1),
        }
    }

    /// Whether values are real floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, Float32 | Float64)
    }

    /// Whether values are integers or truth values.
    pub fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Void | Complex64 | Complex128)
    }

    /// The type of `a + b` in C: the usual arithmetic conversions on a machine with 32-bit `int`.
    pub fn promoted(self, other: Self) -> Self {
        let rank = |t: Self| match t {
            Complex128 => 7,
            Complex64 => 6,
            Float64 => 5,
            Float32 => 4,
            Uint64 => 3,
            Int64 => 2,
            Uint32 => 1,
            _ => 0,
        };
        let (a, b) = (rank(self), rank(other));
        if a.max(b) == 0 {
            Int32
        } else if a >= b {
            self
        } else {
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_enumeration() {
        for (position, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0 as usize, position);
            assert_eq!(Dtype::from_numpy(row.1), Ok(row.0));
        }
    }

    #[test]
    fn promotion_is_that_of_c() {
        assert_eq!(Int8.promoted(Uint8), Int32);
        assert_eq!(Int32.promoted(Uint32), Uint32);
        assert_eq!(Int64.promoted(Float32), Float32);
        assert_eq!(Float32.promoted(Float64), Float64);
    }

    #[test]
    fn foreign_byte_order_is_unknown() {
        assert!(Dtype::from_numpy(if cfg!(target_endian = "little") { ">i4" } else { "<i4" }).is_err());
    }
}
