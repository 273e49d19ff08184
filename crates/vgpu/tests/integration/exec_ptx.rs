//! Kernels in PTX, from loading to results and faults.
#![allow(clippy::undocumented_unsafe_blocks, reason = "kernels get the buffers and sizes that they are written for")]

use crate::window_memory;
use rtcg_vgpu::module::{Launch, run_launch, validate_launch};
use rtcg_vgpu::module::{LoadOptions, LoadedModule, load_image};
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{CancelFlag, Fault, FaultKind, host_ranges, runtime_calls};
use std::sync::Arc;

const PTX_HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Device memory of `n` elements, filled with `value`; never given back.
struct Buffer<T> {
    at: *mut T,
    n: usize,
}

impl<T: Copy> Buffer<T> {
    fn new(n: usize, value: T) -> Buffer<T> {
        // A page without access lies behind every buffer.
        let start = window_memory::commit_guarded(n * size_of::<T>());
        let b = Buffer { at: start as *mut T, n };
        (0..n).for_each(|i| unsafe { b.at.add(i).write(value) });
        b
    }
    fn address(&self) -> u64 {
        self.at as u64
    }
    fn get(&self) -> Vec<T> {
        unsafe { std::slice::from_raw_parts(self.at, self.n) }.to_vec()
    }
}

fn load_module(body: &str) -> Arc<LoadedModule> {
    load_image(format!("{PTX_HEADER}{body}").as_bytes(), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn make_launch(m: &Arc<LoadedModule>, name: &str, grid: u32, block: u32, params: &[u64]) -> Launch {
    let function = m.kernel(name).unwrap();
    let mut packed = vec![0; function.param_bytes()];
    for (p, v) in function.kernel_params().iter().zip(params) {
        packed[p.offset..p.offset + p.size].copy_from_slice(&v.to_le_bytes()[..p.size]);
    }
    Launch { function, grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: 0, params: packed, cooperative: false }
}

fn run_to_end(l: &Launch) -> Result<(), Fault> {
    validate_launch(l).unwrap();
    run_launch(l, &CancelFlag::new())
}

const SAXPY_PTX: &str = "
.visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
    .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r2, [n];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd2; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;
    ld.global.f32 %f2, [%rd5];
    cvta.to.global.u64 %rd6, %rd1; add.s64 %rd7, %rd6, %rd4;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}";

#[test]
fn saxpy_of_many_sizes() {
    let m = load_module(SAXPY_PTX);
    for (n, block) in [(1, 1), (31, 32), (1000, 96), (4096, 256), (100_000, 1024), (333, 7)] {
        let (x, y) = (Buffer::new(n, 0.0_f32), Buffer::new(n, 1.5_f32));
        (0..n).for_each(|i| unsafe { x.at.add(i).write(i as f32) });
        let params = [y.address(), x.address(), u64::from(2.0_f32.to_bits()), n as u64];
        run_to_end(&make_launch(&m, "saxpy", (n as u32).div_ceil(block), block, &params)).unwrap();
        assert!(y.get().iter().enumerate().all(|(i, &v)| v == 1.5 + 2.0 * i as f32), "n = {n}");
    }
}

#[test]
fn an_access_behind_a_buffer_is_reported_with_its_place() {
    let m = load_module(SAXPY_PTX);
    let (x, y) = (Buffer::new(1024, 0.0_f32), Buffer::new(2048, 0.0_f32));
    let params = [y.address(), x.address(), 0, 2048];
    let fault = run_to_end(&make_launch(&m, "saxpy", 16, 128, &params)).unwrap_err();
    assert_eq!((fault.code, fault.kind), (ResultCode::ILLEGAL_ADDRESS, FaultKind::IllegalAddress), "{fault}");
    assert_eq!(fault.block, [8, 0, 0], "{fault}");
    let access = fault.access.unwrap();
    assert_eq!((access.size, access.write), (4, Some(false)), "{fault}");
    assert_eq!(access.address & !0xfff, x.address() + 4096, "{fault}");
    assert!(fault.report.contains("ld.global.f32 %f2, [%rd5]"), "{fault}");
    // A null pointer, and the launch after it is fine.
    let fault = run_to_end(&make_launch(&m, "saxpy", 1, 32, &[0, x.address(), 0, 32])).unwrap_err();
    assert!(fault.kind == FaultKind::IllegalAddress && fault.report.contains("null"), "{fault}");
    let fault = run_to_end(&make_launch(&m, "saxpy", 1, 32, &[y.address(), x.address() + 2, 0, 32])).unwrap_err();
    assert_eq!((fault.code, fault.kind), (ResultCode::MISALIGNED_ADDRESS, FaultKind::MisalignedAddress), "{fault}");
    run_to_end(&make_launch(&m, "saxpy", 1, 32, &[y.address(), x.address(), 0, 32])).unwrap();
}

/// Reads `p[i + tid]` and `q[i + tid]`, and writes their sum to `out`; the pointers are checked, not
/// the addresses.
const OFFSET_SUM_PTX: &str = "
.visible .entry offsets(.param .u64 p, .param .u64 q, .param .u64 out, .param .u32 i) {
    .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [i];
    mov.u32 %r2, %tid.x; add.s32 %r3, %r1, %r2;
    mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;
    mul.wide.u32 %rd7, %r2, 4; add.s64 %rd8, %rd3, %rd7; add.s64 %rd9, %rd6, 4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd9+-4]; add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd8], %f3; ret;
}";

#[test]
fn offsets_from_good_pointers_cannot_leave_the_window_unnoticed() {
    let m = load_module(OFFSET_SUM_PTX);
    let (x, out) = (Buffer::new(64, 2.0_f32), Buffer::new(32, 0.0_f32));
    run_to_end(&make_launch(&m, "offsets", 1, 32, &[x.address(), x.address(), out.address(), 32])).unwrap();
    assert_eq!(out.get(), [4.0; 32]);
    let w = device_window().unwrap();
    let (first, last) = (w.base_address() as u64 + 256, (w.base_address() + w.size_bytes()) as u64 - 256);
    let far = i32::MAX as u64 - 100;
    for (p, i, reaches) in [
        (last, far, last.wrapping_add(4 * far)),
        (last, 64, w.base_address() as u64 + w.size_bytes() as u64),
        (first, u64::from((far as u32).wrapping_neg()), first.wrapping_sub(4 * far)),
    ] {
        for pointers in [[p, x.address()], [x.address(), p]] {
            let good = make_launch(&m, "offsets", 1, 32, &[x.address(), x.address(), out.address(), 0]);
            let fault = run_to_end(&make_launch(&m, "offsets", 1, 32, &[pointers[0], pointers[1], out.address(), i]))
                .unwrap_err();
            assert_eq!((fault.code, fault.kind), (ResultCode::ILLEGAL_ADDRESS, FaultKind::IllegalAddress), "{fault}");
            if pointers[0] == p {
                assert_eq!(fault.access.unwrap().address, reaches, "{fault}");
            }
            run_to_end(&good).unwrap();
        }
    }
    // What lies near no pointer of the window is caught as well, and so is what is not aligned.
    for p in [
        w.base_address() as u64 - (80 << 30),
        (w.base_address() + w.size_bytes()) as u64 + (80 << 30),
        0x1234_5678_9000,
    ] {
        let fault = run_to_end(&make_launch(&m, "offsets", 1, 32, &[x.address(), p, out.address(), 5])).unwrap_err();
        assert_eq!((fault.code, fault.kind), (ResultCode::ILLEGAL_ADDRESS, FaultKind::IllegalAddress), "{fault}");
    }
    // Memory of the host beside memory of the device.
    let host = vec![3.0_f32; 64];
    host_ranges::register_host(host.as_ptr() as u64, 256, 0, 0).unwrap();
    run_to_end(&make_launch(&m, "offsets", 1, 32, &[host.as_ptr() as u64, x.address(), out.address(), 32])).unwrap();
    assert_eq!(out.get(), [5.0; 32]);
    let fault = run_to_end(&make_launch(&m, "offsets", 1, 32, &[host.as_ptr() as u64, x.address(), out.address(), 33]))
        .unwrap_err();
    assert_eq!(fault.access.unwrap().address, host.as_ptr() as u64 + 256, "{fault}");
    host_ranges::unregister_host(host.as_ptr() as u64).unwrap();
    let fault =
        run_to_end(&make_launch(&m, "offsets", 1, 32, &[x.address(), x.address() + 1, out.address(), 0])).unwrap_err();
    assert_eq!((fault.code, fault.kind), (ResultCode::MISALIGNED_ADDRESS, FaultKind::MisalignedAddress), "{fault}");
}

#[test]
fn source_lines_are_reported() {
    let text = ".visible .entry k() {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n.loc 1 33 7\nmov.u64 %rd1, 64;\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nret;\n}\n.file 1 \"dir/k.cu\"\n";
    let fault = run_to_end(&make_launch(&load_module(text), "k", 1, 32, &[])).unwrap_err();
    assert_eq!(fault.source, Some(("dir/k.cu".into(), 33)), "{fault}");
}

const REDUCE_PTX: &str = "
.visible .entry reduce(.param .u64 out, .param .u64 in) {
    .shared .align 4 .b8 tile[4096];
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r4, %r3, %r2, %r1;
    mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r5, [%rd4];
    shl.b32 %r6, %r1, 2; mov.u32 %r7, tile; add.s32 %r8, %r7, %r6;
    st.shared.u32 [%r8], %r5;
    shr.u32 %r9, %r2, 1;
LOOP:
    bar.sync 0;
    setp.eq.u32 %p1, %r9, 0;
    @%p1 bra OUT;
    setp.ge.u32 %p2, %r1, %r9;
    @%p2 bra NEXT;
    shl.b32 %r10, %r9, 2; add.s32 %r11, %r8, %r10;
    ld.shared.u32 %r12, [%r11]; ld.shared.u32 %r13, [%r8];
    add.s32 %r14, %r12, %r13; st.shared.u32 [%r8], %r14;
NEXT:
    shr.u32 %r9, %r9, 1;
    bra.uni LOOP;
OUT:
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra DONE;
    ld.shared.u32 %r15, [tile];
    mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r15;
DONE:
    ret;
}";

#[test]
fn a_tree_reduction_in_shared_memory() {
    let m = load_module(REDUCE_PTX);
    for block in [32_u32, 64, 256, 1024] {
        let input = Buffer::new(100 * block as usize, 0_u32);
        (0..input.n).for_each(|i| unsafe { input.at.add(i).write(i as u32 * 7 + 1) });
        let out = Buffer::new(100, 0_u32);
        run_to_end(&make_launch(&m, "reduce", 100, block, &[out.address(), input.address()])).unwrap();
        let values = input.get();
        let sums: Vec<u32> =
            values.chunks(block as usize).map(|c| c.iter().copied().fold(0, u32::wrapping_add)).collect();
        assert_eq!(out.get(), sums);
    }
}

#[test]
fn shared_memory_ends_where_it_ends() {
    let text = "
.visible .entry k(.param .u32 offset) {
    .shared .align 4 .b8 tile[3072];
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [offset]; mov.u32 %r2, tile; add.s32 %r2, %r2, %r1;
    st.shared.u32 [%r2], %r1;
    ret;
}";
    let m = load_module(text);
    run_to_end(&make_launch(&m, "k", 4, 32, &[3068])).unwrap();
    // With the bytes before it, which belong to the system, the variable fills a page.
    for bad in [3072_u64, 1 << 20, 1 << 30] {
        let fault = run_to_end(&make_launch(&m, "k", 4, 32, &[bad])).unwrap_err();
        assert_eq!(fault.kind, FaultKind::IllegalAddress);
        assert!(fault.report.contains(&format!("offset {bad} of the block's 3072 bytes of shared memory")), "{fault}");
    }
}

const GRID_SYNC: &str = "
.visible .entry sync(.param .u64 out) {
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    ld.param.u64 %rd5, [out];
    mov.u32 %r1, %envreg2; cvt.u64.u32 %rd1, %r1;
    mov.u32 %r2, %envreg1; cvt.u64.u32 %rd2, %r2;
    bfi.b64 %rd3, %rd2, %rd1, 32, 32;
    setp.ne.s64 %p1, %rd3, 0;
    @%p1 bra GO;
    trap;
GO:
    mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x;
    atom.global.add.u32 %r6, [%rd5], 1;
    barrier.sync 0;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra JOIN;
    setp.eq.u32 %p3, %r4, 0;
    sub.s32 %r7, -2147483647, %r5;
    selp.b32 %r8, %r7, 1, %p3;
    atom.add.release.gpu.u32 %r9, [%rd3+4], %r8;
SPIN:
    ld.acquire.gpu.u32 %r10, [%rd3+4];
    xor.b32 %r11, %r10, %r9;
    setp.gt.s32 %p4, %r11, -1;
    @%p4 bra SPIN;
JOIN:
    barrier.sync 0;
    ld.volatile.global.u32 %r12, [%rd5];
    mov.u32 %r13, %ntid.x; mad.lo.s32 %r14, %r4, %r13, %r3;
    mul.wide.u32 %rd6, %r14, 4; add.s64 %rd7, %rd5, %rd6;
    st.global.u32 [%rd7+4], %r12;
    ret;
}";

#[test]
fn cooperative_groups_grid_sync() {
    let m = load_module(GRID_SYNC);
    for blocks in [1, 3, 64, 500] {
        let out = Buffer::new(1 + blocks as usize * 64, 0_u32);
        let mut l = make_launch(&m, "sync", blocks, 64, &[out.address()]);
        l.cooperative = true;
        run_to_end(&l).unwrap();
        assert!(out.get().iter().all(|&v| v == blocks * 64), "{blocks} blocks");
    }
    let out = Buffer::new(100, 0_u32);
    let fault = run_to_end(&make_launch(&m, "sync", 1, 64, &[out.address()])).unwrap_err();
    assert_eq!((fault.kind, fault.code), (FaultKind::Trap, ResultCode::LAUNCH_FAILED));
}

const DEVICE_OUTPUT_PTX: &str = "
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .align 1 .b8 format[16] = {91, 37, 100, 32, 37, 46, 50, 102, 93, 10};
.global .align 1 .b8 text[8] = {97, 32, 62, 32, 51};
.visible .entry print(.param .u64 out) {
    .local .align 8 .b8 depot[16];
    .reg .b64 %SP; .reg .b64 %SPL; .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f64 %fd<2>;
    mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;
    ld.param.u64 %rd3, [out];
    mov.u32 %r1, %tid.x; st.local.u32 [%SPL], %r1;
    cvt.rn.f64.u32 %fd1, %r1; st.local.f64 [%SPL+8], %fd1;
    mov.u64 %rd1, format; cvta.global.u64 %rd2, %rd1;
    { .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %SP; .param .b32 ret;
      call.uni (ret), vprintf, (p0, p1); ld.param.b32 %r2, [ret]; }
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry check(.param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 17;
    @%p1 bra OK;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
    { .param .b64 p0; st.param.b64 [p0], %rd2; .param .b64 p1; st.param.b64 [p1], %rd2; .param .b32 p2; st.param.b32 [p2], 99;
      .param .b64 p3; st.param.b64 [p3], %rd2; .param .b64 p4; st.param.b64 [p4], 1;
      call.uni __assertfail, (p0, p1, p2, p3, p4); }
OK:
    ret;
}
.visible .entry alloc(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x;
    { .param .b64 p0; st.param.b64 [p0], 24; .param .b64 ret; call.uni (ret), malloc, (p0); ld.param.b64 %rd1, [ret]; }
    st.u32 [%rd1+20], %r1; ld.u32 %r2, [%rd1+20];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4; st.global.u32 [%rd5], %r2;
    { .param .b64 p0; st.param.b64 [p0], %rd1; call.uni free, (p0); }
    ret;
}";

#[test]
fn device_functions_of_the_runtime() {
    let m = load_module(DEVICE_OUTPUT_PTX);
    let out = Buffer::new(64, 0_u32);
    run_to_end(&make_launch(&m, "print", 1, 40, &[out.address()])).unwrap();
    assert_eq!(out.get()[..40], [2; 40]);
    runtime_calls::printf::flush_output();
    run_to_end(&make_launch(&m, "alloc", 1, 64, &[out.address()])).unwrap();
    assert_eq!(out.get(), (0..64).collect::<Vec<u32>>());
    let fault = run_to_end(&make_launch(&m, "check", 2, 64, &[out.address()])).unwrap_err();
    assert_eq!((fault.code, fault.thread), (ResultCode::ASSERT, [17, 0, 0]), "{fault}");
}

/// Sums by recursion; each level has 64 bytes of local memory.
pub const RECURSION_PTX: &str = "
.func (.param .b32 r) down(.param .b32 n) {
    .local .align 4 .b8 frame[64];
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
    ld.param.u32 %r1, [n];
    mov.u64 %rd1, frame; st.local.u32 [%rd1+8], %r1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ZERO;
    sub.u32 %r2, %r1, 1;
    { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 ret; call.uni (ret), down, (p0); ld.param.b32 %r3, [ret]; }
    ld.local.u32 %r4, [%rd1+8];
    add.u32 %r3, %r3, %r4;
    st.param.b32 [r], %r3;
    ret;
ZERO:
    st.param.b32 [r], 0;
    ret;
}
.visible .entry sum(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; add.u32 %r3, %r1, %r2;
    { .param .b32 p0; st.param.b32 [p0], %r3; .param .b32 ret; call.uni (ret), down, (p0); ld.param.b32 %r4, [ret]; }
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4;
    ret;
}";

#[test]
fn recursion_works_until_it_runs_away() {
    let m = load_module(RECURSION_PTX);
    let out = Buffer::new(64, 0_u32);
    run_to_end(&make_launch(&m, "sum", 1, 64, &[out.address(), 100])).unwrap();
    let expected: Vec<u32> = (100..164).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(out.get(), expected);
    let fault = run_to_end(&make_launch(&m, "sum", 1, 64, &[out.address(), 1 << 30])).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow, "{fault}");
    run_to_end(&make_launch(&m, "sum", 1, 64, &[out.address(), 100])).unwrap();
    assert_eq!(out.get(), expected);
}

const ALLOCA_PTX: &str = "
.visible .entry fill(.param .u64 out, .param .u64 bytes) {
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [bytes]; mov.u32 %r1, %tid.x;
    alloca.u64 %rd3, %rd2;
    add.u64 %rd4, %rd3, %rd2; st.local.u32 [%rd4+-4], %r1; ld.local.u32 %r2, [%rd4+-4];
    mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r2;
    ret;
}";

#[test]
fn kernels_without_calls_allocate_on_the_stack() {
    let m = load_module(ALLOCA_PTX);
    let out = Buffer::new(64, 0_u32);
    for bytes in [16, 4096] {
        run_to_end(&make_launch(&m, "fill", 1, 64, &[out.address(), bytes])).unwrap();
        assert_eq!(out.get(), (0..64).collect::<Vec<u32>>());
    }
    let fault = run_to_end(&make_launch(&m, "fill", 1, 64, &[out.address(), 1 << 40])).unwrap_err();
    assert_eq!(fault.kind, FaultKind::StackOverflow, "{fault}");
}

const ENDLESS_LOOP_PTX: &str = "
.visible .entry forever(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1;
LOOP:
    add.u32 %r1, %r1, 1;
    bra LOOP;
}
.visible .entry relay(.param .u64 turn) {
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [turn];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ntid.x;
    sub.u32 %r5, %r3, %r2; sub.u32 %r5, %r5, 1; mad.lo.u32 %r5, %r5, %r4, %r1;
WAIT:
    ld.volatile.global.u32 %r6, [%rd1];
    setp.ne.u32 %p1, %r6, %r5;
    @%p1 bra WAIT;
    add.u32 %r7, %r6, 1;
    st.volatile.global.u32 [%rd1], %r7;
    ret;
}";

#[test]
fn an_endless_loop_can_be_cancelled() {
    let m = load_module(ENDLESS_LOOP_PTX);
    for threads in [32, 33, 256] {
        let out = Buffer::new(1, 0_u32);
        let l = make_launch(&m, "forever", 100, threads, &[out.address()]);
        let cancel = CancelFlag::new();
        let fault = std::thread::scope(|s| {
            let running = s.spawn(|| run_launch(&l, &cancel));
            while unsafe { out.at.read_volatile() } == 0 {
                std::thread::yield_now();
            }
            cancel.cancel_launches();
            running.join().unwrap().unwrap_err()
        });
        assert_eq!(fault.kind, FaultKind::Cancelled);
    }
}

/// Thread after thread, the last block's first: lanes of a warp, warps and blocks wait for each other.
#[test]
fn a_relay_through_all_threads_of_all_blocks() {
    let m = load_module(ENDLESS_LOOP_PTX);
    for (blocks, threads) in [(1, 32), (1, 40), (3, 64), (20, 70)] {
        let turn = Buffer::new(1, 0_u32);
        run_to_end(&make_launch(&m, "relay", blocks, threads, &[turn.address()])).unwrap();
        assert_eq!(turn.get(), [blocks * threads]);
    }
}

#[test]
fn cooperative_grids_of_several_threads_do_not_block_each_other() {
    let m = load_module(GRID_SYNC);
    std::thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let out = Buffer::new(1 + 1000 * 32, 0_u32);
                let mut l = make_launch(&m, "sync", 1000, 32, &[out.address()]);
                l.cooperative = true;
                run_to_end(&l).unwrap();
                assert!(out.get().iter().all(|&v| v == 32_000));
            });
        }
    });
}
