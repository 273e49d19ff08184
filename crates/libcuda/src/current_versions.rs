//! The functions of the declaration list under the symbols it states.

use crate::exported_driver_table;
use crate::symbol_version::{NullStreamKind, SymbolVersion};
use rtcg_cuda_sys::types::*;
use std::ffi::c_void;

macro_rules! export_driver_functions {
    ($($name:ident = $symbol:literal since $since:literal ($($arg:ident: $ty:ty),*);)*) => {
        $(
            #[doc = concat!("The driver's `", stringify!($name), "`.")]
            #[unsafe(export_name = $symbol)]
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
            unsafe extern "C" fn $name($($arg: $ty),*) -> CUresult {
                // SAFETY: the caller promises what the C function of this name demands.
                unsafe { exported_driver_table().$name($($arg),*) }
            }
        )*

        /// Every function of the list. Names keep the suffix of earlier forms here.
        pub(crate) const SYMBOLS: &[SymbolVersion] = &[$(SymbolVersion {
            name: stringify!($name),
            since: $since,
            null_stream: NullStreamKind::Legacy,
            address: $name as *const c_void,
        },)*];
    };
}
rtcg_cuda_sys::for_each_driver_function!(export_driver_functions);
