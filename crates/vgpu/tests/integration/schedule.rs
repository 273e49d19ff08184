//! Random and fixed orders of execution: programs with races are exposed, right ones are not
//! disturbed, and what is said to be reproducible is.

use std::ffi::{CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api_common::*;
use rtcg_cuda_sys::*;
use rtcg_vgpu::schedule::{self, Schedule};

/// Made from `check_data/schedule.cu` by NVRTC 13.0 for compute_80.
const KERNELS_PTX: &str = include_str!("check_data/schedule.ptx");

/// The schedule is one for the process, so the tests take turns.
fn lock_schedule() -> MutexGuard<'static, ()> {
    static SCHEDULE_LOCK: Mutex<()> = Mutex::new(());
    SCHEDULE_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

struct KernelFixture {
    module: CUmodule,
    out: CUdeviceptr,
    state: CUdeviceptr,
}

const BUFFER_WORDS: usize = 1024;

impl KernelFixture {
    fn new() -> KernelFixture {
        new_context();
        let text = CString::new(KERNELS_PTX).unwrap();
        let mut module = CUmodule::null();
        ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
        KernelFixture { module, out: alloc(4 * BUFFER_WORDS), state: alloc(4 * BUFFER_WORDS) }
    }

    /// Runs a kernel and returns its output and what it left in its second argument.
    fn run_with_schedule(&self, schedule: Schedule, name: &str, grid: u32, block: u32) -> (Vec<u32>, Vec<u32>) {
        schedule::set_schedule(schedule);
        self.run_again(name, grid, block)
    }

    fn run_again(&self, name: &str, grid: u32, block: u32) -> (Vec<u32>, Vec<u32>) {
        let name = CString::new(name).unwrap();
        let mut f = CUfunction::null();
        ok!(cuModuleGetFunction(&raw mut f, self.module, name.as_ptr()));
        ok!(cuMemsetD32(self.out, 0, BUFFER_WORDS));
        if name.as_bytes() != b"float_sum" {
            ok!(cuMemsetD32(self.state, 0, BUFFER_WORDS));
        }
        let args = [self.out, self.state];
        let mut pointers: Vec<*mut c_void> = args.iter().map(|a| (&raw const *a).cast_mut().cast()).collect();
        let stream = CUstream::null();
        ok!(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, stream, pointers.as_mut_ptr(), std::ptr::null_mut()));
        (self.read_words(self.out), self.read_words(self.state))
    }

    fn read_words(&self, p: CUdeviceptr) -> Vec<u32> {
        let mut host = vec![0_u32; BUFFER_WORDS];
        ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), p, 4 * BUFFER_WORDS));
        host
    }
}

/// The programs that look right when warps run to their end one after the other.
const RACY_KERNELS: [(&str, u32, u32); 4] =
    [("missing_syncthreads", 1, 128), ("missing_syncwarp", 1, 32), ("unlocked", 8, 32), ("block_order", 8, 32)];

const CORRECT_KERNELS: [(&str, u32, u32); 5] = [
    ("right_syncthreads", 4, 128),
    ("right_syncwarp", 1, 32),
    ("locked", 8, 32),
    ("right_call", 4, 64),
    ("grid_barrier", 8, 32),
];

#[test]
fn chaos_exposes_races_within_twenty_seeds() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    for (name, grid, block) in RACY_KERNELS {
        let usual = p.run_with_schedule(Schedule::Deterministic, name, grid, block);
        let seed = (0..20).find(|&s| p.run_with_schedule(Schedule::Chaos(s), name, grid, block) != usual);
        assert!(seed.is_some(), "{name}");
    }
    schedule::set_schedule(Schedule::Normal);
}

#[test]
fn chaos_leaves_right_programs_alone() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    for (name, grid, block) in CORRECT_KERNELS {
        let usual = p.run_with_schedule(Schedule::Normal, name, grid, block);
        for seed in 0..50 {
            assert_eq!(p.run_with_schedule(Schedule::Chaos(seed), name, grid, block), usual, "{name}, seed {seed}");
        }
    }
    schedule::set_schedule(Schedule::Normal);
}

#[test]
fn a_seed_gives_the_same_result_again() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    for (name, grid, block) in RACY_KERNELS.into_iter().chain(CORRECT_KERNELS) {
        for seed in [3, 11] {
            let first = p.run_with_schedule(Schedule::Chaos(seed), name, grid, block);
            assert_eq!(p.run_with_schedule(Schedule::Chaos(seed), name, grid, block), first, "{name}, seed {seed}");
        }
    }
    // Later launches of a process do not repeat the first one's choices.
    p.run_with_schedule(Schedule::Chaos(1), "block_order", 8, 32);
    let results: std::collections::BTreeSet<u32> = (0..10).map(|_| p.run_again("block_order", 8, 32).0[0]).collect();
    assert!(results.len() > 1, "{results:?}");
    schedule::set_schedule(Schedule::Normal);
}

#[test]
fn deterministic_sums_of_floats_are_equal_bit_for_bit() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    let values: Vec<f32> =
        (0..BUFFER_WORDS).map(|i| 1.0 / (1.0 + i as f32) * if i % 3 == 0 { -1e3 } else { 1.0 }).collect();
    ok!(cuMemcpyHtoD(p.state, values.as_ptr().cast(), 4 * BUFFER_WORDS));
    let first = p.run_with_schedule(Schedule::Deterministic, "float_sum", 32, 32).0[0];
    for _ in 0..20 {
        assert_eq!(p.run_with_schedule(Schedule::Deterministic, "float_sum", 32, 32).0[0], first);
    }
    let mut others = (0..20).map(|s| p.run_with_schedule(Schedule::Chaos(s), "float_sum", 32, 32).0[0]);
    assert!(others.any(|v| v != first), "the sum does not depend on the order, so this test shows nothing");
    schedule::set_schedule(Schedule::Normal);
}

/// Two streams: a kernel writes in one, a copy reads in the other, with or without an event between
/// them; what is read, and then the same again on the way back.
fn two_streams(p: &KernelFixture, ordered: bool) -> (Vec<u32>, Vec<u32>) {
    let (writes, reads) = (new_stream(1), new_stream(1));
    let mut f = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut f, p.module, c"right_syncthreads".as_ptr()));
    ok!(cuMemsetD32(p.out, 0, BUFFER_WORDS));
    ok!(cuMemsetD32(p.state, 0, BUFFER_WORDS));
    ok!(cuCtxSynchronize());
    let mut args: [*mut c_void; 1] = [(&raw const p.out).cast_mut().cast()];
    let none = std::ptr::null_mut();
    ok!(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, writes, args.as_mut_ptr(), none));
    let passed = new_event(2);
    ok!(cuEventRecord(passed, writes));
    if ordered {
        ok!(cuStreamWaitEvent(reads, passed, 0));
    }
    ok!(cuMemcpyDtoDAsync(p.state, p.out, 4 * BUFFER_WORDS, reads));
    ok!(cuEventRecord(passed, reads));
    if ordered {
        ok!(cuStreamWaitEvent(writes, passed, 0));
    }
    ok!(cuMemsetD32Async(p.out, 9, BUFFER_WORDS, writes));
    ok!(cuStreamSynchronize(reads));
    let read = p.read_words(p.state);
    ok!(cuStreamSynchronize(writes));
    let written = p.read_words(p.out);
    ok!(cuStreamDestroy(reads));
    ok!(cuStreamDestroy(writes));
    (read, written)
}

#[test]
fn chaos_exposes_a_missing_event() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    schedule::set_schedule(Schedule::Deterministic);
    let usual = two_streams(&p, true);
    assert_eq!((usual.0[0], usual.1[0]), (3, 9));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        schedule::set_schedule(Schedule::Chaos(seed));
        assert_eq!(two_streams(&p, true), usual, "seed {seed}");
        let first = two_streams(&p, false);
        schedule::set_schedule(Schedule::Chaos(seed));
        two_streams(&p, true);
        assert_eq!(two_streams(&p, false), first, "seed {seed}");
        seen.insert(first.0[0]);
    }
    // Copied before, in between, and after.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 3, 9]);
    schedule::set_schedule(Schedule::Normal);
}

#[test]
fn chaos_keeps_the_order_of_the_legacy_default_stream() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    for seed in 0..20 {
        schedule::set_schedule(Schedule::Chaos(seed));
        let (a, b) = (new_stream(0), new_stream(0));
        ok!(cuMemsetD32Async(p.out, 1, BUFFER_WORDS, a));
        ok!(cuMemcpyDtoDAsync(p.state, p.out, 4 * BUFFER_WORDS, CUstream::null()));
        ok!(cuMemsetD32Async(p.out, 2, BUFFER_WORDS, b));
        ok!(cuCtxSynchronize());
        assert_eq!((p.read_words(p.state)[5], p.read_words(p.out)[5]), (1, 2), "seed {seed}");
        ok!(cuStreamDestroy(a));
        ok!(cuStreamDestroy(b));
    }
    schedule::set_schedule(Schedule::Normal);
}

#[test]
fn chaos_runs_operations_that_nobody_waits_for() {
    own_process!();
    let _turn = lock_schedule();
    let p = KernelFixture::new();
    schedule::set_schedule(Schedule::Chaos(5));
    let on = new_stream(1);
    let passed = new_event(2);
    for _ in 0..50 {
        ok!(cuMemsetD32Async(p.out, 4, BUFFER_WORDS, on));
    }
    ok!(cuEventRecord(passed, on));
    // Asking is enough.
    let mut asked = 0;
    while call!(cuEventQuery(passed)).is_err() {
        asked += 1;
        assert!(asked < 1000);
    }
    // A host function that nobody waits for runs sooner or later.
    static HOST_FUNCTION_CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    unsafe extern "C" fn count_host_function_call(_: *mut c_void) {
        HOST_FUNCTION_CALLS.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
    for _ in 0..20 {
        ok!(cuMemsetD32Async(p.out, 4, BUFFER_WORDS, on));
        ok!(cuLaunchHostFunc(on, Some(count_host_function_call), std::ptr::null_mut()));
    }
    let begin = std::time::Instant::now();
    while HOST_FUNCTION_CALLS.load(std::sync::atomic::Ordering::SeqCst) < 20 {
        assert!(begin.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    schedule::set_schedule(Schedule::Normal);
}
