//! The functions of this program that compiled code calls, by numbers.
//!
//! Establishes that a number means the same function in every program that was built from the same sources, wherever
//! the linker has put it: the numbers follow the order in which the functions are listed. A hash of the sources, which
//! define the signature of a function, is part of every cache key.
//!
//! Functions are identified by their addresses while code is emitted. So those listed are not inlined: the Rust compiler
//! has copies of others at several places. Code that calls a function without a number is right, but not cached.

use super::libcalls;
use crate::emit::function::slow_paths;
use crate::emit::instructions::warp_rendezvous;
use crate::emit::ops;
use crate::isa as arch;
use cranelift_codegen::ir::LibCall;
use rtcg_vgpu_softmath::matrix;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Helpers are numbered from here on.
const FIRST_HELPER_NUMBER: u32 = 64;

/// What any code may call. Library functions that there are none of have no address.
fn libcall_table() -> &'static [Option<usize>] {
    static LIBCALL_TABLE: OnceLock<Vec<Option<usize>>> = OnceLock::new();
    LIBCALL_TABLE.get_or_init(|| {
        let functions = [
            arch::save_registers_and_call as *const (),
            slow_paths::alloca_lanes as *const (),
            slow_paths::share_load_of_one_address as *const (),
            slow_paths::resolve_parked_barriers as *const (),
            slow_paths::match_or_redux as *const (),
            slow_paths::pick_random_group as *const (),
            slow_paths::pick_next_group as *const (),
            warp_rendezvous::resolve_parked_warp_ops as *const (),
            matrix::matrix_product_in_frame as *const (),
            matrix::load_store::transpose_8x8_in_frame as *const (),
        ];
        let library = LibCall::all_libcalls().iter().map(|call| libcalls::libcall_address(*call));
        functions.into_iter().map(|f| Some(f as usize)).chain(library).collect()
    })
}

/// The helpers, which are collected when the first one is requested, in some tens of microseconds.
fn sorted_helper_addresses() -> &'static [usize] {
    static SORTED_HELPERS: OnceLock<Vec<usize>> = OnceLock::new();
    SORTED_HELPERS.get_or_init(ops::helper_addresses)
}

/// The function with this number.
pub(super) fn host_function_address(number: u32) -> Option<usize> {
    match number.checked_sub(FIRST_HELPER_NUMBER) {
        Some(helper) => sorted_helper_addresses().get(helper as usize).copied(),
        None => *libcall_table().get(number as usize)?,
    }
}

/// The number of a function; `None` if it is not listed.
pub(super) fn host_function_number(address: usize) -> Option<u32> {
    static HELPER_NUMBERS: OnceLock<HashMap<usize, u32>> = OnceLock::new();
    if let Some(at) = libcall_table().iter().position(|f| *f == Some(address)) {
        return Some(at as u32);
    }
    let helpers = HELPER_NUMBERS.get_or_init(|| {
        // A helper is listed several times; any of its numbers will do.
        sorted_helper_addresses().iter().copied().zip(FIRST_HELPER_NUMBER..).collect()
    });
    helpers.get(&address).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_numbers_round_trip() {
        assert!(libcall_table().len() < FIRST_HELPER_NUMBER as usize);
        for &function in libcall_table().iter().flatten().chain(sorted_helper_addresses()) {
            assert_eq!(host_function_number(function).and_then(host_function_address), Some(function));
        }
        assert_eq!(host_function_address(FIRST_HELPER_NUMBER + sorted_helper_addresses().len() as u32), None);
        assert_eq!((host_function_address(FIRST_HELPER_NUMBER - 1), host_function_number(1)), (None, None));
    }
}
