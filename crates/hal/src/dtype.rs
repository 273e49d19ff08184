//! Element types: their C names, their NumPy names, and NumPy's rules for combining them.
//!
//! The rules are those of NumPy 2 (NEP 50): two arrays promote to the smallest type that holds both, and a Python
//! scalar is *weak*: it adapts to the array unless its kind is higher.

use std::fmt;

/// An element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integer of 8 bits.
    I8,
    /// Signed integer of 16 bits.
    I16,
    /// Signed integer of 32 bits.
    I32,
    /// Signed integer of 64 bits.
    I64,
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// IEEE half precision, `half` in CUDA C.
    F16,
    /// The upper half of a single-precision number, `__nv_bfloat16` in CUDA C.
    BF16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Two [`DType::F32`], real part first.
    C64,
    /// Two [`DType::F64`], real part first.
    C128,
    /// A record of this many bytes: it can be copied and indexed, but not computed with.
    Void(u32),
}

/// The kind of a dtype, in NumPy's order of promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DTypeKind {
    /// [`DType::Bool`].
    Bool,
    /// Unsigned integers.
    Unsigned,
    /// Signed integers.
    Signed,
    /// Real floating-point numbers.
    Float,
    /// Complex numbers.
    Complex,
    /// [`DType::Void`].
    Record,
}

/// A Python scalar, which takes part in promotion by its kind but not its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeakScalar {
    /// `bool`.
    Bool(bool),
    /// `int`, within the range of the dtypes.
    Int(i128),
    /// `float`.
    Float(f64),
    /// `complex`: real and imaginary part.
    Complex(f64, f64),
}

impl WeakScalar {
    /// The dtype of an array made from it.
    pub fn dtype(self) -> DType {
        match self {
            WeakScalar::Bool(_) => DType::Bool,
            WeakScalar::Int(_) => DType::I64,
            WeakScalar::Float(_) => DType::F64,
            WeakScalar::Complex(..) => DType::C128,
        }
    }
}

impl fmt::Display for WeakScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:e}"),
            Self::Complex(re, im) => write!(f, "{re:e}{im:+e}i"),
        }
    }
}

/// An operand as promotion sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperandType {
    /// An array or a NumPy scalar.
    Strong(DType),
    /// A Python scalar.
    Weak(WeakScalar),
}

impl OperandType {
    /// The dtype; for a Python scalar, that of an array made from it.
    pub fn dtype(self) -> DType {
        match self {
            OperandType::Strong(dtype) => dtype,
            OperandType::Weak(value) => value.dtype(),
        }
    }

    /// The lowest kind of dtype that it can be converted to without losing its own: a Python `int` becomes any integer.
    pub fn kind(self) -> DTypeKind {
        match self {
            OperandType::Weak(WeakScalar::Int(_)) => DTypeKind::Unsigned,
            _ => self.dtype().kind(),
        }
    }
}

/// NumPy's common type of operands; Python scalars adapt to the others.
pub fn promote_operands(operands: impl Iterator<Item = OperandType> + Clone) -> DType {
    let strong = operands.clone().filter_map(|operand| match operand {
        OperandType::Strong(dtype) => Some(dtype),
        OperandType::Weak(_) => None,
    });
    let weak = operands.filter_map(|operand| match operand {
        OperandType::Weak(value) => Some(value),
        OperandType::Strong(_) => None,
    });
    // The highest kind first: int8 and uint8 beside float16 need no int16.
    match strong.clone().max_by_key(|dtype| dtype.kind()).map(|highest| strong.fold(highest, DType::promote)) {
        Some(dtype) => weak.fold(dtype, DType::promote_weak),
        None => weak.map(WeakScalar::dtype).reduce(DType::promote).unwrap_or(DType::F64),
    }
}

/// A NumPy type for which no kernel can be generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dtype {} is not supported on a device; expected bool, an integer of 1 to 8 bytes, float16/32/64, bfloat16, complex64/128 or a record",
            self.0
        )
    }
}

impl std::error::Error for UnknownDType {}

/// One row of the table: dtype, NumPy's kind letter, size in bytes, NumPy's name, C type.
type DTypeRow = (DType, char, usize, &'static str, &'static str);

const DTYPE_TABLE: [DTypeRow; 15] = [
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
    // The letter is ours: to NumPy the type of ml_dtypes is of kind 'V'.
    (DType::BF16, 'E', 2, "bfloat16", "__nv_bfloat16"),
    (DType::F32, 'f', 4, "float32", "float"),
    (DType::F64, 'f', 8, "float64", "double"),
    (DType::C64, 'c', 8, "complex64", "pycuda::complex<float>"),
    (DType::C128, 'c', 16, "complex128", "pycuda::complex<double>"),
];

impl DType {
    /// Finds the dtype with NumPy's kind letter (`dtype.kind`) and item size in bytes. Records have the letter `V`;
    /// bfloat16 has the same letter and is found by its name ([`DType::from_name`]).
    pub fn from_numpy(kind: char, itemsize: usize) -> Result<DType, UnknownDType> {
        let unknown = || UnknownDType(format!("of kind '{kind}' and {itemsize} bytes"));
        if kind == 'V' && itemsize > 0 {
            return u32::try_from(itemsize).map(DType::Void).map_err(|_| unknown());
        }
        DTYPE_TABLE.iter().find(|row| row.1 == kind && row.2 == itemsize).map(|row| row.0).ok_or_else(unknown)
    }

    /// Finds the dtype with NumPy's name, such as `float32`.
    pub fn from_name(name: &str) -> Option<DType> {
        DTYPE_TABLE.iter().find(|row| row.3 == name).map(|row| row.0)
    }

    /// Lists every dtype that supports computation.
    pub fn all_dtypes() -> impl Iterator<Item = DType> {
        DTYPE_TABLE.iter().map(|row| row.0)
    }

    /// A small number that identifies the dtype; for records it follows from the size.
    #[inline]
    pub fn table_index(self) -> u32 {
        match self {
            DType::Bool => 0,
            DType::I8 => 1,
            DType::I16 => 2,
            DType::I32 => 3,
            DType::I64 => 4,
            DType::U8 => 5,
            DType::U16 => 6,
            DType::U32 => 7,
            DType::U64 => 8,
            DType::F16 => 9,
            DType::BF16 => 10,
            DType::F32 => 11,
            DType::F64 => 12,
            DType::C64 => 13,
            DType::C128 => 14,
            DType::Void(nbytes) => nbytes.saturating_add(15),
        }
    }

    fn table_row(self) -> Option<&'static DTypeRow> {
        DTYPE_TABLE.get(self.table_index() as usize)
    }

    /// Bytes per element.
    #[inline]
    pub fn itemsize(self) -> usize {
        use DType::*;
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | C64 => 8,
            C128 => 16,
            Void(nbytes) => nbytes as usize,
        }
    }

    /// NumPy's name, such as `float32`; `void` for records.
    pub fn name(self) -> &'static str {
        self.table_row().map_or("void", |row| row.3)
    }

    /// The type in CUDA C++ source. `void` for records, whose C names only their users know.
    pub fn c_type(self) -> &'static str {
        self.table_row().map_or("void", |row| row.4)
    }

    /// The `typestr` of the array interface, such as `<f4`.
    pub fn typestr(self) -> String {
        let letter = match self {
            DType::Void(nbytes) => return format!("|V{nbytes}"),
            DType::BF16 => 'V',
            _ => self.table_row().map_or('V', |row| row.1),
        };
        let order = if self.itemsize() == 1 { '|' } else { '<' };
        format!("{order}{letter}{}", self.itemsize())
    }

    /// The kind of the dtype.
    #[inline]
    pub fn kind(self) -> DTypeKind {
        use DType::*;
        match self {
            Bool => DTypeKind::Bool,
            U8 | U16 | U32 | U64 => DTypeKind::Unsigned,
            I8 | I16 | I32 | I64 => DTypeKind::Signed,
            F16 | BF16 | F32 | F64 => DTypeKind::Float,
            C64 | C128 => DTypeKind::Complex,
            Void(_) => DTypeKind::Record,
        }
    }

    /// This dtype; `None` for records, which are no numbers.
    #[inline]
    pub fn number(self) -> Option<Self> {
        (self.kind() != DTypeKind::Record).then_some(self)
    }

    /// Whether it is bool or an integer.
    pub fn is_integral(self) -> bool {
        self.kind() <= DTypeKind::Signed
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), DTypeKind::Unsigned | DTypeKind::Signed)
    }

    /// Whether it is a complex type.
    pub fn is_complex(self) -> bool {
        self.kind() == DTypeKind::Complex
    }

    /// The dtype of the real and imaginary parts; `self` unless complex.
    pub fn real_part(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype whose parts have this dtype, if there is one.
    pub fn complex_of_parts(self) -> Option<DType> {
        match self {
            DType::F32 => Some(DType::C64),
            DType::F64 => Some(DType::C128),
            _ => None,
        }
    }

    fn from_kind_and_size(kind: char, itemsize: usize) -> DType {
        DType::from_numpy(kind, itemsize).unwrap_or(DType::F64)
    }

    /// The dtype that NumPy gives an operation on arrays of `self` and `other`.
    pub fn promote(self, other: DType) -> DType {
        if self == other {
            return self;
        }
        let (low, high) = if self.kind() <= other.kind() { (self, other) } else { (other, self) };
        match (low.kind(), high.kind()) {
            (_, DTypeKind::Record) => high,
            (DTypeKind::Bool, _) => high,
            (DTypeKind::Float, DTypeKind::Float) => promote_floats(low, high),
            (a, b) if a == b => {
                if low.itemsize() > high.itemsize() {
                    low
                } else {
                    high
                }
            }
            (DTypeKind::Unsigned, DTypeKind::Signed) => promote_mixed_integers(low, high),
            (_, DTypeKind::Float) if high == DType::BF16 && low.itemsize() == 1 => high,
            (_, DTypeKind::Float) => promote_floats(smallest_float_holding(low), high),
            (_, DTypeKind::Complex) => {
                DType::from_kind_and_size('c', high.itemsize().max(2 * smallest_float_holding(low).itemsize()))
            }
            _ => high,
        }
    }

    /// The dtype that NumPy gives an operation on an array of `self` and a Python scalar.
    pub fn promote_weak(self, scalar: WeakScalar) -> DType {
        let kind = self.kind();
        match scalar {
            WeakScalar::Bool(_) => self,
            WeakScalar::Int(_) if kind == DTypeKind::Bool => DType::I64,
            WeakScalar::Int(_) => self,
            WeakScalar::Float(_) if kind < DTypeKind::Float => DType::F64,
            WeakScalar::Float(_) => self,
            WeakScalar::Complex(..) if kind == DTypeKind::Complex => self,
            _ if kind == DTypeKind::Record => self,
            WeakScalar::Complex(..) if kind == DTypeKind::Float => {
                DType::from_kind_and_size('c', (2 * self.itemsize()).max(8))
            }
            WeakScalar::Complex(..) => DType::C128,
        }
    }

    /// The result dtype of true division of operands that promote to `self`.
    pub fn true_divide_dtype(self) -> DType {
        if self.kind() < DTypeKind::Float { DType::F64 } else { self }
    }

    /// The dtype in which mathematical functions of integers are computed: the smallest float that holds them. Other
    /// dtypes stay the same.
    pub fn float_dtype_for_unary(self) -> DType {
        if self.is_integral() { smallest_float_holding(self) } else { self }
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
        n => DType::from_kind_and_size('i', 2 * n),
    }
}

/// The smallest float that holds every value of `dtype` (float64 for 64-bit integers, as NumPy).
fn smallest_float_holding(dtype: DType) -> DType {
    match (dtype.kind(), dtype.itemsize()) {
        (DTypeKind::Float, _) => dtype,
        (_, 1) => DType::F16,
        (_, 2) => DType::F32,
        _ => DType::F64,
    }
}

/// ml_dtypes refuses bfloat16 with float16 and with integers of more than a byte; the smallest type
/// that holds both is taken instead.
fn promote_floats(a: DType, b: DType) -> DType {
    if a != b && a.itemsize() == 2 && b.itemsize() == 2 {
        return DType::F32;
    }
    if a.itemsize() > b.itemsize() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_its_own_table_row() {
        for dtype in DType::all_dtypes() {
            assert_eq!(dtype.table_row().map(|row| (row.0, row.2)), Some((dtype, dtype.itemsize())));
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DType::from_numpy('V', 12), Ok(DType::Void(12)));
        assert_eq!(DType::Void(12).typestr(), "|V12");
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
            (Bool, BF16, BF16),
            (U8, BF16, BF16),
            (BF16, F32, F32),
            (BF16, C64, C64),
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
    fn floats_among_three_operands_keep_integers_from_widening() {
        use DType::*;
        for (operands, common) in
            [([I8, U8, F16], F16), ([I16, U16, F32], F32), ([I8, U16, C64], C64), ([I8, U8, I8], I16)]
        {
            let strong = operands.iter().map(|dtype| OperandType::Strong(*dtype));
            assert_eq!(promote_operands(strong), common, "{operands:?}");
        }
    }

    #[test]
    fn unknown_types_are_named() {
        let message = DType::from_numpy('f', 16).unwrap_err().to_string();
        assert!(message.contains("kind 'f' and 16 bytes"), "{message}");
    }
}
