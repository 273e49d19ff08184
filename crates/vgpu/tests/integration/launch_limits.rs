//! Launches that registers limit, with the figures of an H200.

use rtcg_vgpu::module::{Launch, LoadOptions, load_image, validate_launch};
use rtcg_vgpu_abi::error::ResultCode;
use std::fmt::Write;

/// A kernel that keeps `values` numbers from round to round of a loop; `directive` stands behind its parameters.
fn kernel_text(values: usize, directive: &str) -> String {
    let mut text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n) {directive} {{
         .reg .b64 %d<3>; .reg .b32 %n, %i; .reg .pred %p; .reg .f32 %f<{}>; ld.param.u64 %d1, [out]; ld.param.u32 %n, [n];
         mov.u32 %i, 0;\n",
        values + 1
    );
    (0..values).for_each(|v| writeln!(text, "ld.volatile.global.f32 %f{v}, [%d1+{}];", 4 * v).unwrap());
    text += "$loop:\n";
    (0..values).for_each(|v| writeln!(text, "fma.rn.f32 %f{v}, %f{v}, %f{}, %f{v};", (v + 1) % values).unwrap());
    text += "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra $loop;\n";
    (0..values).for_each(|v| writeln!(text, "st.global.f32 [%d1+{}], %f{v};", 4 * v).unwrap());
    text + "ret; }"
}

/// Registers and largest block that the kernel reports, and the codes of launches of blocks of 256 to 1024.
fn limits(text: &str, options: &LoadOptions) -> (u32, u32, [ResultCode; 4]) {
    let kernel = load_image(text.as_bytes(), options).unwrap().kernel("k").unwrap();
    let codes = [256, 384, 512, 1024].map(|threads| {
        let (function, params) = (kernel.clone(), vec![0; 16]);
        let block = [threads, 1, 1];
        let launch = Launch { function, grid: [1; 3], block, dynamic_shared: 0, params, cooperative: false };
        validate_launch(&launch).map_or_else(|e| e.code, |()| ResultCode::SUCCESS)
    });
    (kernel.n_regs(), kernel.max_threads_per_block(), codes)
}

const OK: ResultCode = ResultCode::SUCCESS;
const OUT: ResultCode = ResultCode::LAUNCH_OUT_OF_RESOURCES;

#[test]
fn blocks_without_registers_are_refused() {
    let plain = LoadOptions::default();
    // What a loop keeps needs registers however they are allocated.
    assert_eq!(limits(&kernel_text(150, ""), &plain), (168, 384, [OK, OK, OUT, OUT]));
    assert_eq!(limits(&kernel_text(8, ""), &plain).1, 1024);
    for (directive, registers, threads, codes) in [
        (".maxnreg 16", 24, 1024, [OK; 4]),
        (".maxnreg 65", 65, 896, [OK, OK, OK, OUT]),
        (".maxnreg 129", 129, 384, [OK, OK, OUT, OUT]),
        (".maxnreg 255", 255, 256, [OK, OUT, OUT, OUT]),
        (".maxntid 1024, 1, 1", 64, 1024, [OK; 4]),
    ] {
        assert_eq!(limits(&kernel_text(260, directive), &plain), (registers, threads, codes), "{directive}");
    }
}

#[test]
fn options_of_the_loader_limit_registers() {
    let text = kernel_text(150, "");
    let with =
        |max_registers, threads_per_block| LoadOptions { max_registers, threads_per_block, ..LoadOptions::default() };
    assert_eq!(limits(&text, &with(Some(32), None)), (32, 1024, [OK; 4]));
    assert_eq!(limits(&text, &with(None, Some(1024))), (64, 1024, [OK; 4]));
    let kernel = load_image(text.as_bytes(), &with(Some(32), None)).unwrap().kernel("k").unwrap();
    assert!(kernel.local_bytes() >= 4 * (150 - 32), "what finds no register is in local memory");
}

#[test]
fn barriers_that_do_not_exist_are_refused() {
    for (barrier, problem) in [("bar.sync 16", "barriers 0 to 15"), ("bar.sync 1, 33", "multiple of the warp size")] {
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{ {barrier}; ret; }}");
        let error = load_image(text.as_bytes(), &LoadOptions::default()).unwrap_err();
        assert!(error.code == ResultCode::INVALID_PTX && error.log.contains(problem), "{}", error.log);
    }
}
