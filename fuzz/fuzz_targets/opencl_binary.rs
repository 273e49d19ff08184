//! Any bytes as the binary of an OpenCL program: the same checks as the stable driver `fuzz_binary`.
#![no_main]

#[path = "../../crates/opencl-platform/tests/setup/mod.rs"]
#[macro_use]
mod setup;
#[path = "../../crates/opencl-platform/tests/binary_inputs/mod.rs"]
mod binary_inputs;

thread_local! {
    static SETUP: setup::Setup = setup::set_up(0);
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if bytes.len() >= 24 {
        SETUP.with(|setup| binary_inputs::check(setup, &binary_inputs::with_check_sum(bytes.to_vec())));
    }
});
