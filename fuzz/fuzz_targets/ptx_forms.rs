//! Forms of instructions put together from parts of the grammar, chosen by the bytes.
#![no_main]

#[path = "../../crates/ptx/tests/integration/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter();
    let below = |n: usize| usize::from(bytes.next().copied().unwrap_or(0)) % n;
    common::mutate::check_input(&common::forms::random_form(below));
});
