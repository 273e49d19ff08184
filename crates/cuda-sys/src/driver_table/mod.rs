//! The driver table: one lazily filled slot per function of the declaration list.
//!
//! A call loads its slot and the trace switch (two atomic loads, two compares) and jumps; an empty slot asks the
//! table's resolver once. Tables live as long as the process, so every object built on them can hold a
//! `&'static DriverTable`.

mod libcuda;
mod timed_launch;
mod traced_call;

pub use libcuda::external_work_of_libcuda;

use crate::load::LoadError;
use crate::trace;
use crate::types::*;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The kind of driver behind a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DriverKind {
    /// NVIDIA's `libcuda`.
    Real,
    /// The virtual GPU: built in, or as a library in place of NVIDIA's.
    Virtual,
}

/// Finds the address of a function.
pub(crate) type SymbolResolver = Box<dyn Fn(&FunctionInfo) -> Option<*const c_void> + Send + Sync>;

/// One entry of the declaration list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionInfo {
    /// The name in the documentation and in users' code.
    pub name: &'static str,
    /// The symbol that `libcuda` exports.
    pub symbol: &'static str,
    /// The CUDA version that introduced the symbol, `1000 * major + 10 * minor`.
    pub since: u32,
}

/// One line of the coverage report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionCoverage {
    /// The function.
    pub name: &'static str,
    /// The CUDA version that introduced it.
    pub since: u32,
    /// Whether this table has it.
    pub resolved: bool,
}

/// A function that the current driver lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingSymbol {
    /// The function.
    pub name: &'static str,
    /// The symbol that was looked up.
    pub symbol: &'static str,
    /// The CUDA version that introduced it.
    pub since: u32,
    /// The CUDA version of the current driver, if it reports one.
    pub driver_version: Option<u32>,
    /// The kind of driver that lacks it.
    pub kind: DriverKind,
}

impl std::fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = (self.since / 1000, self.since % 1000 / 10);
        match self.kind {
            DriverKind::Virtual => {
                return write!(f, "the virtual GPU does not implement {}", self.name);
            }
            DriverKind::Real => {
                write!(f, "{} is not in the installed driver", self.symbol)?;
            }
        }
        match self.driver_version {
            Some(v) if v < self.since => {
                write!(f, " (CUDA {}.{}); it needs a driver for CUDA {major}.{minor} or newer", v / 1000, v % 1000 / 10)
            }
            Some(v) => write!(f, " (CUDA {}.{})", v / 1000, v % 1000 / 10),
            None => write!(f, "; CUDA {major}.{minor} introduced it"),
        }
    }
}

macro_rules! define_table {
    ($($name:ident = $symbol:literal since $since:literal ($($arg:ident: $ty:ty),*);)*) => {
        /// Every function of the declaration list, by name.
        #[allow(non_camel_case_types, reason = "named as the functions")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(usize)]
        pub enum DriverFn { $(#[doc = concat!("`", $symbol, "`")] $name,)* }

        /// The type of each function, by name: `fn_type::cuInit`.
        #[allow(non_camel_case_types, reason = "named as the functions")]
        pub mod fn_type {
            use crate::types::*;
            $(#[doc = concat!("The type of `", $symbol, "`.")] pub type $name = unsafe extern "C" fn($($ty),*) -> CUresult;)*
        }

        const FUNCTION_INFOS: &[FunctionInfo] = &[
            $(FunctionInfo { name: stringify!($name), symbol: $symbol, since: $since },)*
        ];

        /// The functions while a trace is made.
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
        mod traced_functions {
            use super::traced_call::{TraceArgument, TracedCall};
            use super::{DriverFn, DriverTable, fn_type};
            use crate::types::*;
            $(
                #[cold]
                #[inline(never)]
                pub(super) unsafe fn $name(
                    table: &DriverTable, function: fn_type::$name $(, $arg: $ty)*
                ) -> CUresult {
                    let arguments: &[(&'static str, &dyn TraceArgument)] = &[$((stringify!($arg), &$arg)),*];
                    let call = TracedCall::begin_call(table, DriverFn::$name, arguments);
                    // SAFETY: the arguments are the caller's promise.
                    let code = unsafe { function($($arg),*) };
                    call.end_call(code, arguments);
                    code
                }
            )*
        }

        impl DriverFn {
            /// All functions, in the order of the declaration list.
            pub const ALL_FUNCTIONS: &'static [DriverFn] = &[$(DriverFn::$name,)*];
        }

        /// The functions, under the names of the documentation. The caller must pass valid pointers and handles, as in
        /// C.
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
        #[allow(clippy::missing_safety_doc, reason = "said once, above")]
        impl DriverTable {
            $(
                #[doc = concat!("`", stringify!($name), "`: the driver's `", $symbol, "`.")]
                #[inline]
                pub unsafe fn $name(&self, $($arg: $ty),*) -> CUresult {
                    let Some(pointer) = self.function_pointer(DriverFn::$name) else {
                        return CUresult::CUDA_ERROR_NOT_SUPPORTED;
                    };
                    // SAFETY: the slot of a function only ever holds a pointer that the
                    // resolver gave for that name, and the list states the name's signature.
                    let function: fn_type::$name = unsafe { std::mem::transmute(pointer) };
                    if trace::is_tracing() {
                        // SAFETY: the arguments are the caller's promise.
                        return unsafe { traced_functions::$name(self, function, $($arg),*) };
                    }
                    // SAFETY: the arguments are the caller's promise.
                    unsafe { function($($arg),*) }
                }
            )*
        }
    };
}
crate::for_each_driver_function!(define_table);

impl DriverFn {
    /// Number of functions in the list.
    pub const FUNCTION_COUNT: usize = Self::ALL_FUNCTIONS.len();

    /// The name, symbol and version of this function.
    pub fn function_info(self) -> &'static FunctionInfo {
        &FUNCTION_INFOS[self as usize]
    }

    /// Looks up a function by name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL_FUNCTIONS.iter().copied().find(|f| f.function_info().name == name)
    }
}

/// A driver: its functions, each resolved on first use.
pub struct DriverTable {
    kind: DriverKind,
    origin: String,
    resolver: SymbolResolver,
    slots: [AtomicPtr<c_void>; DriverFn::FUNCTION_COUNT],
    missing: [AtomicBool; DriverFn::FUNCTION_COUNT],
}

impl std::fmt::Debug for DriverTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DriverTable({:?}, {:?})", self.kind, self.origin)
    }
}

impl PartialEq for DriverTable {
    /// Two tables are equal when they are the same table.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for DriverTable {}

impl DriverTable {
    /// The table of the real `libcuda`, loaded by the first call; later calls return the same result.
    ///
    /// Searches, in this order, the file named by the environment variable `RTCG_LIBCUDA` (then nothing else is tried;
    /// `none` means "no real driver"), and the names under which the loader knows the driver.
    pub fn real_driver() -> Result<&'static DriverTable, &'static LoadError> {
        static REAL_DRIVER: OnceLock<Result<DriverTable, LoadError>> = OnceLock::new();
        REAL_DRIVER
            .get_or_init(|| {
                let (resolver, origin, kind) = libcuda::open_libcuda()?;
                Ok(DriverTable::new(kind, origin, resolver))
            })
            .as_ref()
    }

    /// Makes a table filled by `resolver`, which is asked once for each function of the declaration list that is
    /// called, by name (`cuMemAlloc`) and never by symbol, because the symbol of an earlier form may be the name of the
    /// present one.
    ///
    /// The resolver must return a pointer to a function of the type that [`fn_type`] gives for the name, or `None`.
    pub fn from_resolver(kind: DriverKind, resolver: fn(&str) -> Option<*const c_void>) -> DriverTable {
        let resolver: SymbolResolver = Box::new(move |info| resolver(info.name));
        Self::new(kind, "built in".to_owned(), resolver)
    }

    fn new(kind: DriverKind, origin: String, resolver: SymbolResolver) -> DriverTable {
        trace::call_before_stop(|| timed_launch::write_finished_launches(timed_launch::LaunchWait::All));
        trace::start_if_env_set();
        DriverTable {
            kind,
            origin,
            resolver,
            slots: [const { AtomicPtr::new(std::ptr::null_mut()) }; DriverFn::FUNCTION_COUNT],
            missing: [const { AtomicBool::new(false) }; DriverFn::FUNCTION_COUNT],
        }
    }

    /// The kind of driver behind this table.
    pub fn driver_kind(&self) -> DriverKind {
        self.kind
    }

    /// The library name or path of the driver, for messages.
    pub fn library_name(&self) -> &str {
        &self.origin
    }

    /// The address of a function; `None` if this driver lacks it.
    #[inline]
    pub fn function_pointer(&self, function: DriverFn) -> Option<*const c_void> {
        let pointer = self.slots[function as usize].load(Ordering::Acquire);
        if pointer.is_null() {
            return self.resolve_function(function);
        }
        Some(pointer)
    }

    /// Whether this driver has the function.
    pub fn has_function(&self, function: DriverFn) -> bool {
        self.function_pointer(function).is_some()
    }

    /// Two threads may resolve the same slot at once; they store the same pointer.
    #[cold]
    #[inline(never)]
    fn resolve_function(&self, function: DriverFn) -> Option<*const c_void> {
        let index = function as usize;
        if self.missing[index].load(Ordering::Relaxed) {
            return None;
        }
        match (self.resolver)(function.function_info()).filter(|p| !p.is_null()) {
            Some(pointer) => {
                self.slots[index].store(pointer.cast_mut(), Ordering::Release);
                Some(pointer)
            }
            None => {
                self.missing[index].store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// Explains why a call of this function returned `CUDA_ERROR_NOT_SUPPORTED`: `Some` if the driver lacks the
    /// function, `None` if it has it (or no such function is declared).
    pub fn missing_symbol(&self, name: &str) -> Option<MissingSymbol> {
        let function = DriverFn::from_name(name)?;
        if self.has_function(function) {
            return None;
        }
        let info = function.function_info();
        Some(MissingSymbol {
            name: info.name,
            symbol: info.symbol,
            since: info.since,
            driver_version: self.driver_version(),
            kind: self.kind,
        })
    }

    /// The CUDA version of the driver (13000 for 13.0).
    pub fn driver_version(&self) -> Option<u32> {
        let mut version = 0;
        // SAFETY: writes one int; allowed before cuInit.
        let code = unsafe { self.cuDriverGetVersion(&raw mut version) };
        (code.is_success() && version > 0).then_some(version as u32)
    }

    /// Reports which functions of the list this driver has. Resolves all of them.
    pub fn function_coverage(&self) -> impl Iterator<Item = FunctionCoverage> + '_ {
        DriverFn::ALL_FUNCTIONS.iter().map(|f| FunctionCoverage {
            name: f.function_info().name,
            since: f.function_info().since,
            resolved: self.has_function(*f),
        })
    }

    /// The driver's text for a code (`cuGetErrorString`), or this crate's if it has none.
    pub fn error_string(&self, code: CUresult) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: writes one pointer; allowed before cuInit.
        let asked = unsafe { self.cuGetErrorString(code, &raw mut text) };
        if asked.is_success() && !text.is_null() {
            // SAFETY: the driver returned a NUL-terminated string of static lifetime.
            return unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        }
        match code.description() {
            Some(text) => text.to_owned(),
            None => format!("unknown error code {}", code.0),
        }
    }
}
