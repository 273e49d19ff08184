//! Any bytes as the PTX of an OpenCL program: the same checks as the stable driver `fuzz_pass`.
#![no_main]

#[path = "../../crates/opencl-platform/tests/pass_inputs/mod.rs"]
mod pass_inputs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pass_inputs::check(&String::from_utf8_lossy(bytes));
});
