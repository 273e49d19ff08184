//! Every instruction gives what a real GPU gives. Skipped where there is no CUDA driver.
//!
//! With `RTCG_GPU_REPORT=FILE` all disagreements are written to that file as well.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write;

use crate::support::{CompileMode, InstructionCase, cases, compile_case, operand_tuples, parse_case, results_agree};
use rtcg_vgpu_jit::ops::{EmitShape, RegWidth};

/// The few driver functions needed, by dlsym.
struct Driver {
    library: *mut c_void,
}

type Handle = *mut c_void;

impl Driver {
    fn open_driver() -> Option<Driver> {
        // SAFETY: loading the CUDA driver runs its initialisers, which is what it is for.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        let driver = (!library.is_null()).then_some(Driver { library })?;
        // SAFETY: cuInit has this signature.
        let ok = unsafe { driver.load_symbol::<extern "C" fn(u32) -> c_int>(c"cuInit")(0) } == 0;
        ok.then_some(driver)
    }

    /// # Safety
    /// `F` must be the type of the function.
    unsafe fn load_symbol<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the library stays open; a missing symbol is caught.
        let address = unsafe { libc::dlsym(self.library, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        // SAFETY: the caller's promise; function pointers have the size of data pointers.
        unsafe { std::mem::transmute_copy(&address) }
    }

    fn call_with_2_args(&self, name: &CStr, a: usize, b: usize) -> c_int {
        // SAFETY: all functions called so take up to two words.
        unsafe { self.load_symbol::<extern "C" fn(usize, usize) -> c_int>(name)(a, b) }
    }

    fn call_with_3_args(&self, name: &CStr, a: usize, b: usize, c: usize) -> c_int {
        // SAFETY: all functions called so take three words.
        unsafe { self.load_symbol::<extern "C" fn(usize, usize, usize) -> c_int>(name)(a, b, c) }
    }

    fn make_context(&self) {
        let mut device: c_int = 0;
        let mut context: Handle = std::ptr::null_mut();
        assert_eq!(self.call_with_2_args(c"cuDeviceGet", &raw mut device as usize, 0), 0);
        assert_eq!(self.call_with_2_args(c"cuDevicePrimaryCtxRetain", &raw mut context as usize, device as usize), 0);
        assert_eq!(self.call_with_2_args(c"cuCtxSetCurrent", context as usize, 0), 0);
    }

    fn alloc(&self, bytes: usize) -> u64 {
        let mut p = 0u64;
        assert_eq!(self.call_with_2_args(c"cuMemAlloc_v2", &raw mut p as usize, bytes), 0);
        p
    }

    /// Runs the kernel `k` of a module over `tuples` of words; gives `n_out` words for each.
    fn run_kernel(
        &self,
        ptx: &str,
        tuples: &[Vec<u64>],
        n_out: usize,
        buffers: (u64, u64),
    ) -> Result<Vec<Vec<u64>>, String> {
        let text = CString::new(ptx).unwrap();
        let (mut module, mut function): (Handle, Handle) = (std::ptr::null_mut(), std::ptr::null_mut());
        let code = self.call_with_2_args(c"cuModuleLoadData", &raw mut module as usize, text.as_ptr() as usize);
        if code != 0 {
            return Err(format!("the driver refuses it ({code})"));
        }
        assert_eq!(
            self.call_with_3_args(
                c"cuModuleGetFunction",
                &raw mut function as usize,
                module as usize,
                c"k".as_ptr() as *const c_char as usize
            ),
            0
        );
        let flat: Vec<u64> = tuples.iter().flatten().copied().collect();
        assert_eq!(
            self.call_with_3_args(c"cuMemcpyHtoD_v2", buffers.0 as usize, flat.as_ptr() as usize, flat.len() * 8),
            0
        );
        let (mut input, mut output, mut n) = (buffers.0, buffers.1, tuples.len() as u32);
        let mut params = [(&raw mut input).cast::<c_void>(), (&raw mut output).cast(), (&raw mut n).cast()];
        type LaunchKernelFn = extern "C" fn(
            Handle,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            Handle,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> c_int;
        // SAFETY: cuLaunchKernel has this signature.
        let launch = unsafe { self.load_symbol::<LaunchKernelFn>(c"cuLaunchKernel") };
        let blocks = n.div_ceil(128);
        assert_eq!(
            launch(
                function,
                blocks,
                1,
                1,
                128,
                1,
                1,
                0,
                std::ptr::null_mut(),
                params.as_mut_ptr(),
                std::ptr::null_mut()
            ),
            0
        );
        let mut out = vec![0u64; tuples.len() * n_out];
        assert_eq!(
            self.call_with_3_args(c"cuMemcpyDtoH_v2", out.as_mut_ptr() as usize, output as usize, out.len() * 8),
            0
        );
        assert_eq!(self.call_with_2_args(c"cuModuleUnload", module as usize, 0), 0);
        Ok(out.chunks(n_out).map(<[u64]>::to_vec).collect())
    }
}

/// A kernel that applies the instruction to row after row of 64-bit words.
fn kernel_text(case: &InstructionCase) -> String {
    let mut body = String::new();
    let srcs: Vec<_> = case.srcs.iter().flatten().collect();
    writeln!(body, "mad.lo.u64 %x4, %x3, {}, %x1;", srcs.len() * 8).unwrap();
    for (i, (name, width)) in srcs.iter().enumerate() {
        writeln!(body, "ld.global.b64 %x5, [%x4+{}];", i * 8).unwrap();
        let text = match width {
            RegWidth::Pred => format!("setp.ne.u64 {name}, %x5, 0;"),
            RegWidth::W16 => format!("cvt.u16.u64 {name}, %x5;"),
            RegWidth::W32 => format!("cvt.u32.u64 {name}, %x5;"),
            _ => format!("mov.b64 {name}, %x5;"),
        };
        writeln!(body, "{text}").unwrap();
    }
    writeln!(body, "{}\nmad.lo.u64 %x4, %x3, {}, %x2;", case.text, case.dsts.len() * 8).unwrap();
    for (i, (name, width)) in case.dsts.iter().enumerate() {
        let text = match width {
            RegWidth::Pred => format!("selp.u64 %x5, 1, 0, {name};"),
            RegWidth::W16 => format!("cvt.u64.u16 %x5, {name};"),
            RegWidth::W32 => format!("cvt.u64.u32 %x5, {name};"),
            _ => format!("mov.b64 %x5, {name};"),
        };
        writeln!(body, "{text}\nst.global.b64 [%x4+{}], %x5;", i * 8).unwrap();
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {{
.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b64 %x<8>; .reg .b32 %y<8>; .reg .pred %q;
mov.u32 %y0, %ctaid.x; mov.u32 %y1, %ntid.x; mov.u32 %y2, %tid.x; mad.lo.u32 %y3, %y0, %y1, %y2;
ld.param.u32 %y4, [n]; setp.ge.u32 %q, %y3, %y4; @%q ret;
ld.param.u64 %x1, [in]; ld.param.u64 %x2, [out]; cvt.u64.u32 %x3, %y3;
{body}ret; }}"
    )
}

/// The disagreements of one case, as text.
fn compare_with_gpu(driver: &Driver, text: &cases::InstructionText, buffers: (u64, u64)) -> Option<String> {
    let case = parse_case(&text.text);
    let tuples = operand_tuples(&case, 4000);
    let gpu = match driver.run_kernel(&kernel_text(&case), &tuples, case.dsts.len(), buffers) {
        Ok(rows) => rows,
        Err(e) => return Some(format!("{}: {e}", text.text)),
    };
    let ours = compile_case(&case, EmitShape::Chunk, CompileMode::Direct, "none").run_tuples(&tuples);
    let mut lines = String::new();
    let mut count = 0;
    for ((tuple, got), want) in tuples.iter().zip(&ours).zip(&gpu) {
        let fine =
            case.dsts.iter().enumerate().all(|(i, (_, w))| results_agree(text.tolerance, tuple, *w, got[i], want[i]));
        if !fine {
            count += 1;
            if count <= 25 {
                writeln!(lines, "    {tuple:x?}: ours {got:x?}, GPU {want:x?}").unwrap();
            }
        }
    }
    (count > 0).then(|| format!("{}: {count} of {}\n{lines}", text.text, tuples.len()))
}

#[test]
fn instructions_agree_with_a_gpu() {
    let Some(driver) = Driver::open_driver() else {
        eprintln!("skipped: no CUDA driver");
        return;
    };
    driver.make_context();
    let buffers = (driver.alloc(65536 * 8 * 4), driver.alloc(65536 * 8 * 4));
    let wrong: Vec<String> =
        cases::all_instructions().iter().filter_map(|text| compare_with_gpu(&driver, text, buffers)).collect();
    let report = wrong.join("\n");
    if let Ok(path) = std::env::var("RTCG_GPU_REPORT") {
        std::fs::write(path, &report).unwrap();
    }
    let heads: Vec<&str> = wrong.iter().filter_map(|w| w.lines().next()).collect();
    assert!(wrong.is_empty(), "{} cases disagree:\n{}", wrong.len(), heads.join("\n"));
}
