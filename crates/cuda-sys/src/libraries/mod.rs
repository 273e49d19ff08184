//! NVIDIA's libraries of linear algebra and transforms: cuBLAS, cuBLASLt, cuFFT and cuSOLVER.
//!
//! One declaration list for each library generates its [lazily resolved table](crate::cublas::CublasTable), and what a
//! caller that knows functions only by name needs: their [`Signature`]s, and [`NamedFunctions::call`]. Pointers to device
//! memory are declared as [`CUdeviceptr`], and those to host memory as what they are in C, so that a declaration says
//! where an argument lives.
//!
//! A table is found by the first call that needs it, never before: these libraries are used when asked for only.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

pub mod cublas;
pub mod cublaslt;
pub mod cufft;
pub mod cusolver;

use crate::types::*;

cuda_enum! {
    /// The type of an element.
    cudaDataType {
        CUDA_R_32F = 0,
        CUDA_R_64F = 1,
        CUDA_R_16F = 2,
        CUDA_R_8I = 3,
        CUDA_C_32F = 4,
        CUDA_C_64F = 5,
        CUDA_C_16F = 6,
        CUDA_R_8U = 8,
        CUDA_R_32I = 10,
        CUDA_R_16BF = 14,
        CUDA_C_16BF = 15,
    }
}

/// A number with two float32 parts.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
#[repr(C)]
pub struct cuComplex {
    pub x: f32,
    pub y: f32,
}

/// A number with two float64 parts.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
#[repr(C)]
pub struct cuDoubleComplex {
    pub x: f64,
    pub y: f64,
}

/// A pointer to a host number that a function reads and writes.
#[derive(Debug)]
#[repr(transparent)]
pub struct InOut<T>(pub *mut T);

impl<T> Clone for InOut<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InOut<T> {}

/// The type of numbers in host memory that a parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostNumber {
    /// `int` and enumerations.
    I32,
    /// `int64_t` and `long long`.
    I64,
    /// `size_t`.
    Usize,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// `cuComplex`.
    C64,
    /// `cuDoubleComplex`.
    C128,
    /// A handle.
    Pointer,
}

/// What a function takes in one place of its argument list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// An integer or a value of an enumeration, of so many bytes.
    Integer(u8),
    /// A `double`.
    Double,
    /// A handle that another function made.
    Handle,
    /// An address of device memory.
    Device,
    /// An address of host memory of no declared type.
    Host,
    /// Host numbers that are read.
    Input(HostNumber),
    /// So many host numbers that are written.
    Output(HostNumber, u8),
    /// A host number that is read and written.
    InOut(HostNumber),
}

/// A type of parameters, and how a 64-bit word becomes its value.
pub(crate) trait Parameter: Copy {
    const KIND: ParameterKind;

    /// The value in a word: integers and addresses in two's complement, `double` by its bits.
    fn from_word(word: u64) -> Self;
}

macro_rules! integer_parameters {
    ($($ty:ty)*) => {$(
        impl Parameter for $ty {
            const KIND: ParameterKind = ParameterKind::Integer(size_of::<$ty>() as u8);
            fn from_word(word: u64) -> Self {
                word as $ty
            }
        }
    )*};
}
integer_parameters!(c_schar c_int i64 usize);

macro_rules! enum_parameters {
    ($($ty:ty)*) => {$(
        impl crate::libraries::Parameter for $ty {
            const KIND: crate::libraries::ParameterKind = crate::libraries::ParameterKind::Integer(4);
            fn from_word(word: u64) -> Self {
                Self(word as u32)
            }
        }
        impl crate::libraries::HostValue for $ty {
            const NUMBER: crate::libraries::HostNumber = crate::libraries::HostNumber::I32;
        }
    )*};
}
pub(crate) use enum_parameters;
enum_parameters!(cudaDataType);

macro_rules! handle_parameters {
    ($($ty:ty)*) => {$(
        impl crate::libraries::Parameter for $ty {
            const KIND: crate::libraries::ParameterKind = crate::libraries::ParameterKind::Handle;
            fn from_word(word: u64) -> Self {
                Self(std::ptr::with_exposed_provenance_mut(word as usize))
            }
        }
        impl crate::libraries::HostValue for $ty {
            const NUMBER: crate::libraries::HostNumber = crate::libraries::HostNumber::Pointer;
        }
    )*};
}
pub(crate) use handle_parameters;
handle_parameters!(CUstream);

impl Parameter for CUdeviceptr {
    const KIND: ParameterKind = ParameterKind::Device;
    fn from_word(word: u64) -> Self {
        word
    }
}

impl Parameter for f64 {
    const KIND: ParameterKind = ParameterKind::Double;
    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }
}

/// A type of numbers in host memory.
pub(crate) trait HostValue {
    const NUMBER: HostNumber;
    const COUNT: u8 = 1;
}

macro_rules! host_values {
    ($($ty:ty = $number:ident,)*) => {$(impl HostValue for $ty { const NUMBER: HostNumber = HostNumber::$number; })*};
}
host_values! { c_int = I32, i64 = I64, usize = Usize, f32 = F32, f64 = F64, cuComplex = C64, cuDoubleComplex = C128, }

impl<T: HostValue, const N: usize> HostValue for [T; N] {
    const NUMBER: HostNumber = T::NUMBER;
    const COUNT: u8 = N as u8;
}

impl<T: HostValue> Parameter for *const T {
    const KIND: ParameterKind = ParameterKind::Input(T::NUMBER);
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance(word as usize)
    }
}

impl<T: HostValue> Parameter for *mut T {
    const KIND: ParameterKind = ParameterKind::Output(T::NUMBER, T::COUNT);
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}

impl<T: HostValue> Parameter for InOut<T> {
    const KIND: ParameterKind = ParameterKind::InOut(T::NUMBER);
    fn from_word(word: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(word as usize))
    }
}

impl Parameter for *mut c_void {
    const KIND: ParameterKind = ParameterKind::Host;
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}

impl Parameter for *const c_void {
    const KIND: ParameterKind = ParameterKind::Host;
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance(word as usize)
    }
}

/// A declared function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The C name.
    pub name: &'static str,
    /// The CUDA version that introduced it, `1000 * major + 10 * minor`.
    pub since: u32,
    /// The parameters: their names, Rust types and kinds.
    pub parameters: &'static [(&'static str, &'static str, ParameterKind)],
}

/// A library whose functions are called by name.
pub trait NamedFunctions: Send + Sync + 'static {
    /// All declared functions.
    fn signatures(&self) -> &'static [Signature];

    /// The functions that the library has, of those declared: the coverage report.
    fn resolved_functions(&self) -> Vec<&'static str>;

    /// Calls a function: one word for each argument, in which integers are sign-extended, `double` are their bits, and
    /// addresses are exposed. Returns its status code; `None` if no such function is declared.
    ///
    /// # Safety
    /// As for the function in C.
    unsafe fn call(&self, name: &str, words: &[u64]) -> Option<u32>;

    /// The C name of a status code.
    fn status_name(&self, status: u32) -> Option<&'static str>;

    /// The version, `1000 * major + 10 * minor` of this library's own numbers.
    fn version(&self) -> Option<u32>;

    /// The file of the library.
    fn path(&self) -> &std::path::Path;
}

/// Declares a table with [`library_table`](crate::compiler_libraries::library_table), and its functions by name.
macro_rules! named_library_table {
    (
        $(#[$doc:meta])*
        $table:ident of $result:ident else $missing:ident, searched as $search:ident by $variable:literal,
        version by $property:ident {
            $($name:ident since $since:literal ($($arg:ident: $ty:ty),*);)*
        }
    ) => {
        crate::compiler_libraries::library_table! {
            $(#[$doc])*
            $table of $result else $missing {
                $($name since $since ($($arg: $ty),*);)*
            }
        }

        impl $table {
            /// The declared functions with their parameters.
            pub const SIGNATURES: &'static [crate::libraries::Signature] = &[$(crate::libraries::Signature {
                name: stringify!($name),
                since: $since,
                parameters: &[$((
                    stringify!($arg),
                    stringify!($ty),
                    <$ty as crate::libraries::Parameter>::KIND,
                )),*],
            }),*];

            /// The library of this process, found and opened by the first call that succeeds.
            ///
            #[doc = concat!("Searches, in this order, the file named by the environment variable `", $variable, "` (then")]
            /// nothing else is tried; `none` means "no library"), NVIDIA's wheels, toolkits, and the loader's own path, as
            /// [`NvrtcTable::load`](crate::NvrtcTable::load) does.
            pub fn load() -> Result<&'static Self, crate::load::LoadError> {
                static LOADED_TABLE: crate::compiler_libraries::LazyFunctionTable<$table> =
                    crate::compiler_libraries::LazyFunctionTable::new();
                LOADED_TABLE.get_or_load(|| {
                    $search.find_library(|library, path| {
                        Some(Self::resolve_functions(library, path))
                            .filter(|table| crate::libraries::NamedFunctions::version(table).is_some())
                    })
                })
            }

            /// The table of the functions that `resolve` finds, each of which must have the type that [`fn_type`] declares
            /// for its name: of a stand-in for the library.
            pub fn from_functions(resolve: impl Fn(&str) -> Option<*const c_void>) -> Self {
                Self::from_resolver(resolve, "a stand-in".into())
            }
        }

        impl crate::libraries::NamedFunctions for $table {
            fn signatures(&self) -> &'static [crate::libraries::Signature] {
                Self::SIGNATURES
            }

            fn resolved_functions(&self) -> Vec<&'static str> {
                Self::FUNCTIONS.iter().map(|(name, _)| *name).filter(|name| self.has_function(name)).collect()
            }

            unsafe fn call(&self, name: &str, words: &[u64]) -> Option<u32> {
                let mut words = words.iter().copied();
                let _ = &mut words;
                let result = match name {
                    $(stringify!($name) => {
                        $(let $arg = <$ty as crate::libraries::Parameter>::from_word(words.next()?);)*
                        // SAFETY: the arguments are the caller's promise.
                        unsafe { self.$name($($arg),*) }
                    })*
                    _ => return None,
                };
                Some(result.0)
            }

            fn status_name(&self, status: u32) -> Option<&'static str> {
                $result(status).name()
            }

            fn version(&self) -> Option<u32> {
                let mut numbers = [0; 2];
                for (property, number) in numbers.iter_mut().enumerate() {
                    // SAFETY: writes one int.
                    let code = unsafe { self.$property(property as c_int, std::ptr::from_mut(number)) };
                    if code.0 != 0 {
                        return None;
                    }
                }
                Some((1000 * numbers[0] + 10 * numbers[1]) as u32)
            }

            fn path(&self) -> &std::path::Path {
                self.library_path()
            }
        }
    };
}
pub(crate) use named_library_table;

/// What to install, for the message of a library that was not found: the wheel for the newest CUDA that the driver
/// supports.
pub(crate) fn wheel_hint(name: &str, variable: &str) -> String {
    format!(
        "`pip install nvidia-{name}` (CUDA 13) or `nvidia-{name}-cu12` installs it, beside rtcg; {variable} names the \
         library file"
    )
}
