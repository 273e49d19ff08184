//! Any bytes as PTX: the same checks as the stable driver `fuzz_parser`.
#![no_main]

#[path = "../../crates/ptx/tests/integration/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    common::mutate::check_input(&String::from_utf8_lossy(bytes));
});
