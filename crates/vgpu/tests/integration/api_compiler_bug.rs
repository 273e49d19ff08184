//! A panic of the compiler is an error of the launch, in one line, with the PTX kept for a report.

use std::ffi::{CString, c_void};

use crate::api_common::*;
use crate::own_process::rerun;
use rtcg_cuda_sys::*;

/// A loop whose lanes leave it one after another, and a sum in it.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 q)\n{\n\
.reg .pred %p; .reg .b64 %rd<4>; .reg .b32 %r<8>;\nld.param.u64 %rd1, [q];\nmov.u32 %r1, %tid.x;\nL:\n\
red.global.add.u32 [%rd1], 3;\nsub.u32 %r1, %r1, 1;\nsetp.ge.s32 %p, %r1, 0;\n@%p bra L;\nret;\n}\n";

fn launch() -> Result<(), CUresult> {
    let (mut module, mut function, mut p) = (CUmodule::null(), CUfunction::null(), 0);
    let text = CString::new(PTX).unwrap();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut function, module, c"k".as_ptr()));
    ok!(cuMemAlloc(&raw mut p, 64));
    ok!(cuMemsetD8(p, 0, 64));
    let mut arguments: [*mut c_void; 1] = [(&raw const p).cast_mut().cast()];
    // Nothing else has run here: a launch of that size is not made inside the call.
    let (blocks, stream) = (64, CUstream::null());
    let (args, none) = (arguments.as_mut_ptr(), std::ptr::null_mut());
    call!(cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream, args, none))
}

#[test]
fn a_panic_of_the_compiler_is_the_launchs_error() {
    if std::env::var_os("RTCG_JIT_PANIC_AT").is_some() {
        new_context();
        assert_eq!(launch(), Err(CUresult::CUDA_ERROR_INVALID_PTX));
        println!("{}", rtcg_vgpu::last_error_detail().unwrap());
        // The context goes on.
        ok!(cuCtxSynchronize());
        return;
    }
    let folder = std::env::temp_dir().join(format!("rtcg-test-compiler-bug-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for at in ["red.global", "masked red.global"] {
        let output = rerun(module_path!(), "a_panic_of_the_compiler_is_the_launchs_error")
            .envs([("RTCG_JIT_PANIC_AT", at), ("CUDA_CACHE_DISABLE", "1")])
            .env("TMPDIR", &folder)
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{at}: {out}{err}");
        assert!(!err.contains("panicked") && !out.contains("panicked"), "{at}: {out}{err}");
        let line = out
            .lines()
            .find(|l| l.contains(rtcg_vgpu_jit::internal_errors::BUG_MESSAGE_MARKER))
            .unwrap_or_else(|| panic!("{at}: {out}"));
        for word in ["kernel k", "red.global.add.u32 [%rd1], 3;", "PTX line 10", "injected", "please report it"] {
            assert!(line.contains(word), "{word}: {line}");
        }
        let kept: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert!(line.contains(kept[0].to_str().unwrap()), "{line}");
        assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), PTX);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
