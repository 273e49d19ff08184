//! The types of a kernel's parameters, and checks of arguments against them.
//!
//! The driver knows only sizes; the types are parsed from the source elsewhere and passed to
//! [`crate::Module::set_signatures`]. A type that cannot be parsed accepts everything: only arguments that are
//! certainly wrong are refused, because a program that worked must go on working. Integers of equal size are
//! interchangeable, bytes fit any parameter, and a pointer may be passed as an integer.

use crate::error::Error;
use crate::module::{Function, Param};
use rtcg_cuda_sys::CUresult;
use rtcg_hal::{ConversionError, ConvertedScalar, DType, WeakScalar};

/// The kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamKind {
    /// A number by value.
    Value(DType),
    /// A pointer to such numbers; `None` is `void` or unknown.
    Pointer(Option<DType>),
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

impl ParamKind {
    /// The kind of the C type `base` with `pointers` levels of indirection.
    pub fn from_c_type(base: &str, pointers: usize) -> Self {
        match (pointers, DType::from_c_type(base)) {
            (0, Some(number)) => Self::Value(number),
            (0, None) => Self::Unknown,
            (1, number) => Self::Pointer(number),
            _ => Self::Pointer(Some(DType::U64)),
        }
    }

    /// The size in bytes, if known.
    pub fn nbytes(self) -> Option<usize> {
        match self {
            Self::Value(number) => Some(number.itemsize()),
            Self::Pointer(_) => Some(8),
            Self::Unknown => None,
        }
    }

    /// Converts a number to a parameter of this kind.
    ///
    /// # Errors
    /// When the number cannot be converted. It never converts to a parameter of unknown kind, nor to an address: to
    /// pass one, give it its own type.
    pub fn convert_number(self, value: WeakScalar) -> Result<ConvertedScalar, ConversionError> {
        match self {
            Self::Value(number) => number.convert_number(value),
            _ => Err(ConversionError::Kind),
        }
    }

    /// Whether a scalar of type `given` may be passed.
    pub fn accepts_value(self, given: DType) -> bool {
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
    pub fn accepts_array(self, given: DType) -> bool {
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
    Value(DType),
    /// An address, and the type of numbers stored there, if known.
    Pointer(Option<DType>),
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
            (ParamKind::Value(declared), GivenArgument::Value(number)) if declared.itemsize() == number.itemsize() => {
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
        let some = Some::<DType>;
        for (name, expected) in [
            ("int", some(DType::I32)),
            ("unsigned", some(DType::U32)),
            ("long long unsigned int", some(DType::U64)),
            ("short int", some(DType::I16)),
            ("signed char", some(DType::I8)),
            ("unsigned short", some(DType::U16)),
            ("size_t", some(DType::U64)),
            ("float2", Some(DType::C64)),
            ("long double", None),
            ("my_struct", None),
            ("char int", None),
            ("", None),
        ] {
            assert_eq!(DType::from_c_type(name), expected, "{name}");
        }
    }

    #[test]
    fn only_certain_type_mismatches_are_refused() {
        let kind = ParamKind::from_c_type;
        let number = |name| DType::from_c_type(name).unwrap();
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
