//! Loading modules: variables, initialisers, attributes, and what is refused.

use rtcg_vgpu::module::{Launch, max_resident_blocks, validate_launch};
use rtcg_vgpu::module::{LoadOptions, LoadedModule, load_image};
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_exec::MULTIPROCESSOR_COUNT;
use rtcg_vgpu_exec::window::device_window;
use std::sync::Arc;

const PTX_HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn load_module(body: &str) -> Arc<LoadedModule> {
    load_image(format!("{PTX_HEADER}{body}\0").as_bytes(), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn load_error(image: &[u8]) -> (ResultCode, String) {
    let e = load_image(image, &LoadOptions::default()).unwrap_err();
    (e.code, e.log)
}

fn global_bytes(m: &LoadedModule, name: &str) -> Vec<u8> {
    let g = m.global(name).unwrap();
    // SAFETY: a global of a live module is committed memory of that size.
    unsafe { std::slice::from_raw_parts(g.address as *const u8, g.size as usize) }.to_vec()
}

const GLOBAL_VARIABLES_PTX: &str = "
.global .align 1 .b8 text[6] = {104, 101, 108, 108, 111};
.global .align 8 .u64 counter = 0x123456789abcdef0;
.const .align 4 .f32 table[3] = {0f3F800000, 0f40000000};
.global .align 16 .b8 big[100000];
.global .align 8 .u64 pointers[2] = {text, generic(big)+8};
.shared .align 4 .b32 not_here[4];
.visible .entry k(.param .u64 p, .param .u8 q, .param .align 4 .b8 r[10]) .maxntid 128, 2, 1 {
    .shared .align 8 .b8 tile[1000];
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, tile;
    ret;
}
.visible .entry other() .reqntid 32, 4, 1 { ret; }
";

#[test]
fn variables_are_placed_and_initialised() {
    let m = load_module(GLOBAL_VARIABLES_PTX);
    let w = device_window().unwrap();
    assert_eq!(global_bytes(&m, "text"), b"hello\0");
    assert_eq!(global_bytes(&m, "counter"), 0x1234_5678_9abc_def0_u64.to_le_bytes());
    assert_eq!(global_bytes(&m, "table"), [1.0_f32, 2.0, 0.0].map(f32::to_le_bytes).concat());
    assert!(global_bytes(&m, "big").iter().all(|&b| b == 0));
    let (text, big) = (m.global("text").unwrap(), m.global("big").unwrap());
    let pointers = [text.address, big.address + 8].map(u64::to_le_bytes).concat();
    assert_eq!(global_bytes(&m, "pointers"), pointers);
    assert!(big.address % 16 == 0 && w.globals_area().contains(big.address as usize));
    assert!(m.global("table").unwrap().constant && !big.constant);
    assert!(m.global("not_here").is_none() && m.global("nothing").is_none());
    assert_eq!(m.global_names().count(), 5);
}

#[test]
fn each_load_has_its_own_variables_and_memory_comes_back_clean() {
    let (a, b) = (load_module(GLOBAL_VARIABLES_PTX), load_module(GLOBAL_VARIABLES_PTX));
    let at = a.global("counter").unwrap().address;
    assert_ne!(at, b.global("counter").unwrap().address);
    // SAFETY: the variable of a live module.
    unsafe { (a.global("big").unwrap().address as *mut u8).write_bytes(7, 100) };
    drop(a);
    // One of these gets the memory of the first, unless another test was faster.
    let later: Vec<_> = (0..4).map(|_| load_module(GLOBAL_VARIABLES_PTX)).collect();
    assert!(later.iter().all(|c| global_bytes(c, "big").iter().all(|&b| b == 0)));
}

#[test]
fn kernels_know_their_attributes() {
    let m = load_module(GLOBAL_VARIABLES_PTX);
    assert_eq!(m.kernel_names().collect::<Vec<_>>(), ["k", "other"]);
    let (k, other) = (m.kernel("k").unwrap(), m.kernel("other").unwrap());
    assert!(m.kernel("tile").is_none());
    let params: Vec<_> = k.kernel_params().iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!((params, k.param_bytes(), other.param_bytes()), (vec![(0, 8), (8, 1), (12, 10)], 22, 0));
    // A required shape is no bound for the attribute.
    assert_eq!((k.max_threads_per_block(), other.max_threads_per_block()), (256, 1024));
    assert_eq!(other.bound_of_threads(), 128);
    assert_eq!((k.static_shared(), other.static_shared(), k.const_bytes()), (1000, 0, 12));
    assert_eq!(k.max_dynamic_shared(), 48 * 1024 - 1000);
    assert!(k.set_max_dynamic_shared(100_000) && k.max_dynamic_shared() == 100_000);
    assert!(!k.set_max_dynamic_shared(163 * 1024));
    assert_eq!((m.ptx_version(), m.ptx_target()), (80, 80));
    assert!((4..=255).contains(&k.n_regs()));
}

#[test]
fn launches_are_validated_as_cuda_does() {
    let m = load_module(GLOBAL_VARIABLES_PTX);
    let (k, other) = (m.kernel("k").unwrap(), m.kernel("other").unwrap());
    let base = Launch {
        function: k,
        grid: [1; 3],
        block: [64, 1, 1],
        dynamic_shared: 0,
        params: vec![0; 22],
        cooperative: false,
    };
    let code = |change: &dyn Fn(&mut Launch)| {
        let mut l = base.clone();
        change(&mut l);
        validate_launch(&l).map_or_else(|e| e.code, |()| ResultCode::SUCCESS)
    };
    assert_eq!(code(&|_| {}), ResultCode::SUCCESS);
    assert_eq!(code(&|l| l.block = [256, 1, 1]), ResultCode::SUCCESS);
    assert_eq!(code(&|l| l.block = [257, 1, 1]), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.block = [0, 1, 1]), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.block = [1, 1, 65]), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.grid = [1, 65_536, 1]), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.grid = [1 << 31, 1, 1]), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.params.truncate(21)), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.dynamic_shared = 48 * 1024 - 1000), ResultCode::SUCCESS);
    assert_eq!(code(&|l| l.dynamic_shared = 48 * 1024 - 999), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| l.function = Arc::clone(&other)), ResultCode::INVALID_VALUE);
    assert_eq!(code(&|l| (l.function, l.block) = (Arc::clone(&other), [32, 4, 1])), ResultCode::SUCCESS);
    // Local variables have to fit beside the stack of a thread.
    for (bytes, expected) in
        [(65_536, ResultCode::SUCCESS), (524_224, ResultCode::INVALID_VALUE), (1 << 25, ResultCode::INVALID_VALUE)]
    {
        let local = load_module(&format!(
            ".visible .entry k(.param .u64 out, .param .u32 i) {{ .local .align 8 .b8 l[{bytes}]; .reg .b64 %o, %a; .reg .b32 %i;
             ld.param.u32 %i, [i]; cvt.u64.u32 %a, %i; mov.u64 %o, l; add.u64 %a, %a, %o; st.local.u32 [%a], %i;
             ld.param.u64 %o, [out]; ld.local.u32 %i, [%a]; st.global.u32 [%o], %i; ret; }}"
        ));
        assert_eq!(code(&|l| l.function = local.kernel("k").unwrap()), expected, "{bytes} bytes");
    }
    let most = max_resident_blocks(&base.function, 64, 0);
    assert!(most >= MULTIPROCESSOR_COUNT);
    assert_eq!(code(&|l| (l.cooperative, l.grid) = (true, [most, 1, 1])), ResultCode::SUCCESS);
    assert_eq!(code(&|l| (l.cooperative, l.grid) = (true, [most + 1, 1, 1])), ResultCode::COOPERATIVE_LAUNCH_TOO_LARGE);
}

#[test]
fn what_is_no_ptx_is_refused_by_kind() {
    assert_eq!(load_error(b"\x7fELF\x02\x01\x01").0, ResultCode::INVALID_IMAGE);
    assert_eq!(load_error(b"\x7fELF\x02\x01\x01456789abcde\xbe\x00").0, ResultCode::NO_BINARY_FOR_GPU);
    assert_eq!(load_error(&0xba55_ed50_u32.to_le_bytes()).0, ResultCode::INVALID_IMAGE);
    assert_eq!(load_error(b"").0, ResultCode::INVALID_IMAGE);
    assert_eq!(load_error(b"garbage").0, ResultCode::INVALID_IMAGE);
    assert_eq!(load_error(b".version \xff\xfe").0, ResultCode::INVALID_IMAGE);
    let (code, log) = load_error(format!("{PTX_HEADER}.visible .entry k() {{\n  add.u33 %r1, %r2;\n}}").as_bytes());
    assert_eq!(code, ResultCode::INVALID_PTX);
    assert!(log.contains("ptx:5:"), "{log}");
}

#[test]
fn what_cannot_run_is_refused_with_its_line() {
    let too_much = format!(
        "{PTX_HEADER}.visible .entry k() {{\n .shared .b8 a[300000];\n .reg .b64 %rd<2>;\n mov.u64 %rd1, a;\n ret; }}"
    );
    let (code, log) = load_error(too_much.as_bytes());
    assert!(code == ResultCode::INVALID_PTX && log.contains("300000 bytes"), "{log}");
    let (code, log) = load_error(format!("{PTX_HEADER}.const .b8 c[70000];\n").as_bytes());
    assert!(code == ResultCode::INVALID_PTX && log.contains("constant"), "{log}");
    for (arrays, fine) in [
        ("a[524288]", true),
        ("a[1500000000]", true),
        ("a[1500000000], b[1500000000]", false),
        ("a[1099511627776]", false),
    ] {
        let text = format!("{PTX_HEADER}.visible .entry k() {{\n .local .b8 {arrays}; ret; }}");
        let error = load_image(text.as_bytes(), &LoadOptions::default()).err();
        assert_eq!(error.is_none(), fine, "{arrays}");
        assert!(
            error.is_none_or(|e| e.log.contains("local memory") && e.log.contains("2147483647 at most")),
            "{arrays}"
        );
    }
    let text = format!(
        "{PTX_HEADER}.visible .entry k() {{\n.reg .f32 %f<5>;\n.reg .b32 %r<4>;\nwgmma.fence.sync.aligned;\nret; }}"
    );
    let (code, log) = load_error(text.as_bytes());
    assert!(code == ResultCode::INVALID_PTX && log.contains("ptx:7:") && log.contains("wgmma"), "{log}");
    let bytes = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r1}, {%r2,%r3}, {%f1,%f2,%f3,%f4};";
    let (code, log) = load_error(
        format!("{PTX_HEADER}.visible .entry k() {{\n.reg .f32 %f<5>;\n.reg .b32 %r<4>;\n{bytes}\nret; }}")
            .replace("sm_80", "sm_90")
            .as_bytes(),
    );
    assert!(
        code == ResultCode::INVALID_PTX && log.contains("ptx:7:") && log.contains("compute capability 8.9"),
        "{log}"
    );
}
