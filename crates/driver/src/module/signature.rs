//! The types of a kernel's parameters, and checks of arguments against them.
//!
//! The driver knows only sizes; the types are parsed from the source elsewhere and passed to
//! [`crate::Module::set_signatures`]. A type that cannot be parsed accepts everything: only arguments that are
//! certainly wrong are refused, because a program that worked must go on working. Integers of equal size are
//! interchangeable, bytes fit any parameter, and a pointer may be passed as an integer.

use crate::error::Error;
use crate::module::{Function, Param};
use rtcg_cuda_sys::CUresult;

/// The type of a number in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberType {
    /// `bool`.
    Bool,
    /// An integer of `nbytes` bytes.
    Int {
        /// Bytes.
        nbytes: u8,
        /// Whether it has negative values.
        signed: bool,
    },
    /// `__half`.
    Half,
    /// `__nv_bfloat16`.
    BFloat16,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// Two `float`, also `float2`.
    Complex64,
    /// Two `double`, also `double2`.
    Complex128,
}

/// The kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A number by value.
    Value(NumberType),
    /// A pointer to such numbers; `None` is `void` or unknown.
    Pointer(Option<NumberType>),
    /// A structure, or a type that cannot be parsed.
    Unknown,
}

/// A parameter as the source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamDeclaration {
    /// Its kind, as far as the type can be parsed.
    pub kind: ParamKind,
    /// Its type as written, such as `const float *`.
    pub c_type: String,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// The parameters of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// The parameters, in order.
    pub params: Vec<ParamDeclaration>,
    /// The texture references that the kernel reads.
    pub textures: Vec<String>,
}

impl NumberType {
    /// Parses a C number type; its words may be in any usual order.
    pub fn from_c_type(name: &str) -> Option<Self> {
        let int = |nbytes, signed| Some(Self::Int { nbytes, signed });
        match name {
            "bool" => return Some(Self::Bool),
            "float" => return Some(Self::Float),
            "double" => return Some(Self::Double),
            "half" | "__half" => return Some(Self::Half),
            "nv_bfloat16" | "__nv_bfloat16" => return Some(Self::BFloat16),
            "float2" | "cuComplex" | "cuFloatComplex" | "pycuda::complex<float>" | "complex<float>" => {
                return Some(Self::Complex64);
            }
            "double2" | "cuDoubleComplex" | "pycuda::complex<double>" | "complex<double>" => {
                return Some(Self::Complex128);
            }
            "int8_t" => return int(1, true),
            "uint8_t" | "uchar" | "byte" => return int(1, false),
            "int16_t" => return int(2, true),
            "uint16_t" | "ushort" => return int(2, false),
            "int32_t" => return int(4, true),
            "uint32_t" | "uint" => return int(4, false),
            "int64_t" | "ptrdiff_t" | "intptr_t" => return int(8, true),
            "uint64_t" | "size_t" | "uintptr_t" => return int(8, false),
            "cudaTextureObject_t" | "cudaSurfaceObject_t" => return int(8, false),
            _ => {}
        }
        Self::from_integer_keywords(name)
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
            (None | Some("int"), 1) => size_of::<std::ffi::c_long>() as u8,
            (None | Some("int"), 2) => 8,
            _ => return None,
        };
        Some(Self::Int { nbytes, signed: signed.unwrap_or(true) })
    }

    /// The size in bytes.
    pub fn nbytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int { nbytes, .. } => nbytes.into(),
            Self::Half | Self::BFloat16 => 2,
            Self::Float => 4,
            Self::Double | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// The usual name in C.
    pub fn c_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { nbytes: 1, signed: true } => "signed char",
            Self::Int { nbytes: 1, .. } => "unsigned char",
            Self::Int { nbytes: 2, signed: true } => "short",
            Self::Int { nbytes: 2, .. } => "unsigned short",
            Self::Int { nbytes: 4, signed: true } => "int",
            Self::Int { nbytes: 4, .. } => "unsigned int",
            Self::Int { signed: true, .. } => "long long",
            Self::Int { .. } => "unsigned long long",
            Self::Half => "half",
            Self::BFloat16 => "bfloat16",
            Self::Float => "float",
            Self::Double => "double",
            Self::Complex64 => "complex of float",
            Self::Complex128 => "complex of double",
        }
    }

    /// The NumPy name.
    pub fn dtype_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { nbytes: 1, signed: true } => "int8",
            Self::Int { nbytes: 1, .. } => "uint8",
            Self::Int { nbytes: 2, signed: true } => "int16",
            Self::Int { nbytes: 2, .. } => "uint16",
            Self::Int { nbytes: 4, signed: true } => "int32",
            Self::Int { nbytes: 4, .. } => "uint32",
            Self::Int { signed: true, .. } => "int64",
            Self::Int { .. } => "uint64",
            Self::Half => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float => "float32",
            Self::Double => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
        }
    }

    /// Whether it stands for an integer of this many bytes, or for bits that are kept in one:
    /// programs pass half precision as 16-bit integers.
    fn fits_integer_bytes(self, nbytes: usize) -> bool {
        match self {
            Self::Int { nbytes: n, .. } => usize::from(n) == nbytes,
            Self::Bool => nbytes == 1,
            Self::Half | Self::BFloat16 => nbytes == 2,
            _ => false,
        }
    }

    /// Whether a scalar of type `given` may be passed for a parameter of this type.
    pub fn accepts_value(self, given: Self) -> bool {
        self == given
            || (self.fits_integer_bytes(given.nbytes())
                && given.fits_integer_bytes(self.nbytes())
                && !self.is_other_16_bit_float(given))
    }

    fn is_other_16_bit_float(self, given: Self) -> bool {
        matches!((self, given), (Self::Half, Self::BFloat16) | (Self::BFloat16, Self::Half))
    }

    /// Whether an array of `given` may be passed for a pointer to this type.
    pub fn accepts_elements(self, given: Self) -> bool {
        let component = |number| match number {
            Self::Complex64 => Self::Float,
            Self::Complex128 => Self::Double,
            other => other,
        };
        self.nbytes() == 1 || given.nbytes() == 1 || component(self).accepts_value(component(given))
    }
}

impl ParamKind {
    /// The kind of the C type `base` with `pointers` levels of indirection.
    pub fn from_c_type(base: &str, pointers: usize) -> Self {
        match (pointers, NumberType::from_c_type(base)) {
            (0, Some(number)) => Self::Value(number),
            (0, None) => Self::Unknown,
            (1, number) => Self::Pointer(number),
            _ => Self::Pointer(Some(NumberType::Int { nbytes: 8, signed: false })),
        }
    }

    /// The size in bytes, if known.
    pub fn nbytes(self) -> Option<usize> {
        match self {
            Self::Value(number) => Some(number.nbytes()),
            Self::Pointer(_) => Some(8),
            Self::Unknown => None,
        }
    }

    /// Whether a scalar of type `given` may be passed.
    pub fn accepts_value(self, given: NumberType) -> bool {
        match self {
            Self::Value(number) => number.accepts_value(given),
            Self::Pointer(_) => given.fits_integer_bytes(8),
            Self::Unknown => true,
        }
    }

    /// Whether an address may be passed.
    pub fn accepts_pointer(self) -> bool {
        match self {
            Self::Value(number) => number.fits_integer_bytes(8),
            Self::Pointer(_) | Self::Unknown => true,
        }
    }

    /// Whether the address of an array of `given` may be passed.
    pub fn accepts_array(self, given: NumberType) -> bool {
        match self {
            Self::Pointer(Some(number)) => number.accepts_elements(given),
            _ => self.accepts_pointer(),
        }
    }
}

/// The type of an argument that is passed for a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivenArgument {
    /// A number of this type by value.
    Value(NumberType),
    /// An address, and the type of numbers stored there, if known.
    Pointer(Option<NumberType>),
    /// Bytes of unknown type.
    Bytes,
}

impl ParamKind {
    /// Whether the argument may be passed. Sizes are checked elsewhere.
    #[inline]
    pub fn accepts_argument(self, given: GivenArgument) -> bool {
        match given {
            GivenArgument::Value(number) => self.accepts_value(number),
            GivenArgument::Pointer(Some(number)) => self.accepts_array(number),
            GivenArgument::Pointer(None) => self.accepts_pointer(),
            GivenArgument::Bytes => true,
        }
    }
}

impl Function {
    /// The declaration of a parameter, if known.
    #[inline]
    pub fn param_declaration(&self, index: usize) -> Option<&ParamDeclaration> {
        self.signature()?.params.get(index)
    }

    /// Checks the type of an argument against the kernel's source.
    ///
    /// # Errors
    /// When it certainly does not fit; the message names the kernel and the parameter.
    #[inline]
    pub fn check_argument_type(&self, index: usize, given: GivenArgument) -> crate::Result<()> {
        match self.param_declaration(index) {
            Some(declared) if !declared.kind.accepts_argument(given) => Err(self.wrong_type_error(index, given)),
            _ => Ok(()),
        }
    }

    /// How to reinterpret `given` if its size is right but its type contradicts the kernel's source: an array of other
    /// elements as an address, a number as raw bytes.
    pub fn reinterpret_mismatched(&self, index: usize, given: GivenArgument) -> Option<GivenArgument> {
        match (self.param_declaration(index)?.kind, given) {
            (ParamKind::Pointer(_), GivenArgument::Pointer(Some(_))) => Some(GivenArgument::Pointer(None)),
            (ParamKind::Value(declared), GivenArgument::Value(number)) if declared.nbytes() == number.nbytes() => {
                Some(GivenArgument::Bytes)
            }
            _ => None,
        }
    }

    /// `argument #1 (0-based) of kernel 'axpy', declared as 'float a',`
    pub fn describe_parameter(&self, index: usize) -> String {
        let declared =
            self.param_declaration(index).map_or_else(String::new, |declared| format!(", declared as '{declared}',"));
        format!("argument #{index} (0-based) of kernel '{}'{declared}", self.name())
    }

    #[cold]
    fn wrong_type_error(&self, index: usize, given: GivenArgument) -> Error {
        let given = match given {
            GivenArgument::Value(number) => format!("a value of type {}", number.c_name()),
            GivenArgument::Pointer(Some(number)) => format!("an array of {}", number.c_name()),
            GivenArgument::Pointer(None) => "an address".to_owned(),
            GivenArgument::Bytes => "bytes".to_owned(),
        };
        let detail = format!("{} cannot be {given}", self.describe_parameter(index));
        Error::new("cuLaunchKernel", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    }
}

impl ParamDeclaration {
    /// Makes a declaration from its parts.
    pub fn new(base: &str, pointers: usize, c_type: &str, name: Option<&str>) -> Self {
        let kind = ParamKind::from_c_type(base, pointers);
        Self { kind, c_type: c_type.to_owned(), name: name.map(str::to_owned) }
    }
}

impl std::fmt::Display for ParamDeclaration {
    /// As it is written: `const float *x`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) if self.c_type.ends_with(['*', '&']) => write!(f, "{}{name}", self.c_type),
            Some(name) => write!(f, "{} {name}", self.c_type),
            None => f.write_str(&self.c_type),
        }
    }
}

impl Signature {
    /// Whether number and sizes agree with what the driver says about the kernel: a declaration
    /// that does not was misread (a macro, a type of the same name in another place).
    pub(crate) fn matches_driver_params(&self, params: Option<&[Param]>) -> bool {
        let Some(params) = params else { return true };
        let agrees = |(declared, param): (&ParamDeclaration, &Param)| {
            declared.kind.nbytes().is_none_or(|nbytes| nbytes == param.nbytes)
        };
        self.params.len() == params.len() && self.params.iter().zip(params).all(agrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_type_names_give_number_types() {
        let int = |nbytes, signed| Some(NumberType::Int { nbytes, signed });
        for (name, expected) in [
            ("int", int(4, true)),
            ("unsigned", int(4, false)),
            ("long long unsigned int", int(8, false)),
            ("short int", int(2, true)),
            ("signed char", int(1, true)),
            ("unsigned short", int(2, false)),
            ("size_t", int(8, false)),
            ("float2", Some(NumberType::Complex64)),
            ("long double", None),
            ("my_struct", None),
            ("char int", None),
            ("", None),
        ] {
            assert_eq!(NumberType::from_c_type(name), expected, "{name}");
        }
    }

    #[test]
    fn only_certain_type_mismatches_are_refused() {
        let kind = ParamKind::from_c_type;
        let number = |name| NumberType::from_c_type(name).unwrap();
        assert!(kind("int", 0).accepts_value(number("unsigned")));
        assert!(!kind("int", 0).accepts_value(number("float")));
        assert!(!kind("float", 0).accepts_value(number("int")));
        assert!(kind("half", 0).accepts_value(number("ushort")));
        assert!(!kind("half", 0).accepts_value(number("__nv_bfloat16")));
        assert!(!kind("double", 0).accepts_value(number("long long")));
        assert!(kind("float", 1).accepts_value(number("size_t")));
        assert!(!kind("float", 1).accepts_value(number("double")));
        assert!(kind("float", 1).accepts_array(number("float")));
        assert!(kind("float", 1).accepts_array(number("float2")));
        assert!(kind("double2", 1).accepts_array(number("double")));
        assert!(!kind("float", 1).accepts_array(number("double")));
        assert!(!kind("float", 1).accepts_array(number("int")));
        assert!(kind("unsigned", 1).accepts_array(number("int")));
        assert!(kind("char", 1).accepts_array(number("double")) && kind("double", 1).accepts_array(number("uchar")));
        assert!(kind("void", 1).accepts_array(number("double")) && kind("T", 1).accepts_array(number("int")));
        assert!(kind("size_t", 0).accepts_pointer() && !kind("double", 0).accepts_pointer());
        assert!(kind("T", 0).accepts_pointer() && kind("T", 0).accepts_value(number("double")));
    }
}
