//! The functions of this program that compiled code calls, by numbers.
//!
//! Establishes that a number means the same function in every program that was built from the same sources, wherever
//! the linker has put it: the numbers follow the order in which the functions are listed. A hash of the sources, which
//! define the signature of a function, is part of every cache key.
//!
//! Functions are identified by their addresses while code is emitted. So those listed are not inlined: the Rust compiler
//! has copies of others at several places. Code that calls a function without a number is right, but not cached.

use super::{libcalls, ops, slow_paths};
use crate::arch;
use crate::softmath::matrix;
use cranelift_codegen::ir::LibCall;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Helpers are numbered from here on.
const FIRST_HELPER: u32 = 64;

/// What any code may call. Library functions that there are none of have no address.
fn functions() -> &'static [Option<usize>] {
    static FUNCTIONS: OnceLock<Vec<Option<usize>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let functions = [
            arch::save_registers_and_call as *const (),
            slow_paths::alloca as *const (),
            slow_paths::barrier as *const (),
            slow_paths::match_or_redux as *const (),
            slow_paths::pick_random_group as *const (),
            slow_paths::pick_next_group as *const (),
            matrix::product_of_frame as *const (),
            matrix::transfer::transpose_of_frame as *const (),
        ];
        let library = LibCall::all_libcalls().iter().map(|call| libcalls::address(*call));
        functions.into_iter().map(|f| Some(f as usize)).chain(library).collect()
    })
}

/// The helpers, which are collected when the first one is requested, in some tens of microseconds.
fn helpers() -> &'static [usize] {
    static HELPERS: OnceLock<Vec<usize>> = OnceLock::new();
    HELPERS.get_or_init(ops::helpers)
}

/// The function with this number.
pub(super) fn address(number: u32) -> Option<usize> {
    match number.checked_sub(FIRST_HELPER) {
        Some(helper) => helpers().get(helper as usize).copied(),
        None => *functions().get(number as usize)?,
    }
}

/// The number of a function; `None` if it is not listed.
pub(super) fn number(address: usize) -> Option<u32> {
    static HELPERS: OnceLock<HashMap<usize, u32>> = OnceLock::new();
    if let Some(at) = functions().iter().position(|f| *f == Some(address)) {
        return Some(at as u32);
    }
    let helpers = HELPERS.get_or_init(|| {
        // A helper is listed several times; any of its numbers will do.
        helpers().iter().copied().zip(FIRST_HELPER..).collect()
    });
    helpers.get(&address).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_functions() {
        assert!(functions().len() < FIRST_HELPER as usize);
        for &function in functions().iter().flatten().chain(helpers()) {
            assert_eq!(number(function).and_then(address), Some(function));
        }
        assert_eq!(address(FIRST_HELPER + helpers().len() as u32), None);
        assert_eq!((address(FIRST_HELPER - 1), number(1)), (None, None));
    }
}
