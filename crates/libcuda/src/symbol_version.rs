//! One symbol version of a driver function: the CUDA version that introduced it, and its address.

use std::ffi::c_void;

/// What the null stream means to a form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NullStreamKind {
    /// The legacy default stream, or the function has nothing to do with streams.
    Legacy,
    /// The calling thread's own default stream.
    PerThread,
}

/// A form of a driver function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolVersion {
    /// The name without suffixes, as it is passed to `cuGetProcAddress`.
    pub(crate) name: &'static str,
    /// The CUDA version that introduced this form, `1000 * major + 10 * minor`.
    pub(crate) since: u32,
    /// What the null stream means to it.
    pub(crate) null_stream: NullStreamKind,
    /// The function's address.
    pub(crate) address: *const c_void,
}

// SAFETY: the address of a function is valid on every thread, and the rest is plain data.
unsafe impl Send for SymbolVersion {}
// SAFETY: nothing in it changes, and the address of a function is valid on every thread.
unsafe impl Sync for SymbolVersion {}

/// Defines exported functions and lists them: `symbol = "name" since version (arguments) { body }`.
macro_rules! exported_symbols {
    ($null_stream:ident: $($symbol:ident = $name:literal since $since:literal ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[doc = concat!("`", $name, "` as CUDA ", $since, " has it.")]
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
            unsafe extern "C" fn $symbol($($arg: $ty),*) -> CUresult {
                // SAFETY: the caller promises what the C function of this name demands, and the
                // bodies pass the arguments on to a function that demands the same.
                unsafe { $body }
            }
        )*

        /// The functions of this file.
        pub(crate) const SYMBOLS: &[$crate::symbol_version::SymbolVersion] = &[$($crate::symbol_version::SymbolVersion {
            name: $name,
            since: $since,
            null_stream: $crate::symbol_version::NullStreamKind::$null_stream,
            address: $symbol as *const std::ffi::c_void,
        },)*];
    };
}
pub(crate) use exported_symbols;
