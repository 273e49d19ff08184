//! Scheduling, barriers, faults and cancellation, with Rust functions in place of compiled kernels.
#![allow(clippy::undocumented_unsafe_blocks, reason = "kernels get the buffers and sizes that they are written for")]

use crate::support::{block_index, kernel_param, launch_config, run_with_data, serial_program, suspending_program};
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;
use rtcg_vgpu_abi::runtime::BarrierKind;
use rtcg_vgpu_abi::{TrapKind, WarpCtx};
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{CancelFlag, FaultKind, LaunchConfig, Program, RUNTIME_CALLS, run_program};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn zeroed_counters(n: usize) -> Vec<AtomicU32> {
    (0..n).map(|_| AtomicU32::new(0)).collect()
}

unsafe extern "C" fn count_threads_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let seen = kernel_param::<Vec<AtomicU32>>(ctx);
        let [x, y, z] = (*ctx).ctaid;
        let [nx, ny, _] = (*ctx).nctaid;
        let block = (x + nx * (y + ny * z)) as usize;
        seen[block].fetch_add((*ctx).live.count_ones(), SeqCst);
    }
}

#[test]
fn every_thread_of_every_block_runs_once() {
    for (grid, block) in
        [([10_000, 1, 1], [96, 1, 1]), ([7, 5, 3], [33, 2, 1]), ([1, 1, 1], [1024, 1, 1]), ([3, 1, 1], [1, 1, 1])]
    {
        let shape = LaunchConfig { grid, block, dynamic_shared: 0, cooperative: false };
        for program in [serial_program(count_threads_kernel), suspending_program(count_threads_kernel)] {
            let seen = zeroed_counters(shape.blocks_in_grid() as usize);
            run_with_data(&program, shape, &seen).unwrap();
            assert!(seen.iter().all(|n| n.load(SeqCst) == shape.threads_per_block()), "{shape:?} {program:?}");
        }
    }
}

unsafe extern "C" fn check_context(ctx: *mut WarpCtx) {
    unsafe {
        let c = &*ctx;
        let bad = kernel_param::<AtomicU32>(ctx);
        let tid = &*c.tid;
        for lane in 0..32 {
            if c.live & (1 << lane) != 0 {
                let linear = tid.x[lane] + c.ntid[0] * (tid.y[lane] + c.ntid[1] * tid.z[lane]);
                if linear != c.first_thread + lane as u32 || c.first_thread != 32 * c.warp_id {
                    bad.fetch_add(1, SeqCst);
                }
            }
        }
        let w = device_window().unwrap();
        let inside = [c.params as usize, c.shared as usize, c.local_sp as usize].iter().all(|&a| w.contains(a));
        let local = c.local_end as usize - c.local_sp as usize;
        if !inside || c.nctaid != [4, 1, 1] || c.exited != 0 || local < 4096 || c.smid >= c.nsmid {
            bad.fetch_add(1, SeqCst);
        }
        // Both memories are there in full.
        for p in
            [c.shared.add((RESERVED_SHARED_BYTES + c.total_shared_size) as usize - 1), c.local_end.sub(1), c.local_sp]
        {
            p.write_volatile(1);
        }
        if c.total_shared_size != 256 + 1000 || c.dynamic_shared_offset != RESERVED_SHARED_BYTES + 256 {
            bad.fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn the_context_describes_the_warp() {
    for suspends in [false, true] {
        let program = Program {
            suspends,
            local_bytes_per_warp: 4096,
            dynamic_shared_offset: RESERVED_SHARED_BYTES + 256,
            ..serial_program(check_context)
        };
        let shape = LaunchConfig { grid: [4, 1, 1], block: [5, 4, 3], dynamic_shared: 1000, cooperative: false };
        let bad = AtomicU32::new(0);
        run_with_data(&program, shape, &bad).unwrap();
        assert_eq!(bad.load(SeqCst), 0);
    }
}

/// Every warp adds its neighbour's number in each of 100 rounds.
unsafe extern "C" fn rotate_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let out = kernel_param::<Vec<AtomicU32>>(ctx);
        let n = (*ctx).ntid[0].div_ceil(32);
        let me = (*ctx).warp_id;
        let shared = (*ctx).shared.cast::<u32>();
        let live = (*ctx).live.count_ones();
        let mut value = me;
        for _ in 0..100 {
            shared.add(me as usize).write_volatile(value);
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, 0, 0, live, 0);
            value = shared.add(((me + 1) % n) as usize).read_volatile();
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, 0, 0, live, 0);
        }
        out[(block_index(ctx) * n + me) as usize].store(value, SeqCst);
    }
}

#[test]
fn barriers_separate_phases() {
    let program = Program { dynamic_shared_offset: RESERVED_SHARED_BYTES + 128, ..suspending_program(rotate_kernel) };
    for threads in [32, 64, 250, 1000] {
        let n = u32::div_ceil(threads, 32);
        let out = zeroed_counters((50 * n) as usize);
        run_with_data(&program, launch_config(50, threads), &out).unwrap();
        for (i, v) in out.iter().enumerate() {
            assert_eq!(v.load(SeqCst), (i as u32 % n + 100) % n);
        }
    }
}

unsafe extern "C" fn run_barrier_reductions(ctx: *mut WarpCtx) {
    unsafe {
        let out = kernel_param::<Vec<AtomicU32>>(ctx);
        let me = (*ctx).warp_id;
        // The last warp leaves before the first barrier and does not count.
        if me == 3 {
            return;
        }
        let kinds = [BarrierKind::RedPopc, BarrierKind::RedAnd, BarrierKind::RedOr];
        for (i, kind) in kinds.into_iter().enumerate() {
            let result = (RUNTIME_CALLS.barrier)(ctx, kind as u32, 1, 0, 32, me + 30);
            out[3 * me as usize + i].store(result, SeqCst);
        }
        // Producers arrive at barrier 2 without waiting, warp 0 waits for them.
        if me == 0 {
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, 2, 96, 32, 0);
            out[9].fetch_add(100, SeqCst);
        } else {
            out[9].fetch_add(1, SeqCst);
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Arrive as u32, 2, 96, 32, 0);
        }
    }
}

#[test]
fn barrier_reductions_and_named_barriers() {
    let out = zeroed_counters(10);
    run_with_data(&suspending_program(run_barrier_reductions), launch_config(1, 128), &out).unwrap();
    let got: Vec<u32> = out.iter().map(|v| v.load(SeqCst)).collect();
    assert_eq!(got, [93, 0, 1, 93, 0, 1, 93, 0, 1, 102]);
}

unsafe extern "C" fn mismatched_barrier_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let id = (*ctx).warp_id;
        (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, id, 64, 32, 0);
    }
}

#[test]
fn a_barrier_that_cannot_complete_is_a_fault() {
    let fault = run_with_data(&suspending_program(mismatched_barrier_kernel), launch_config(3, 64), &0).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadlock);
    assert!(fault.report.contains("barrier 1: 32 of 64 threads"), "{}", fault.report);
}

/// A barrier over the grid made by hand, three times in a row.
unsafe extern "C" fn grid_barrier(ctx: *mut WarpCtx) {
    unsafe {
        let (arrived, wrong) = kernel_param::<(AtomicU32, AtomicU32)>(ctx);
        for round in 1..=3 {
            let live = (*ctx).live.count_ones();
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, 0, 0, live, 0);
            if (*ctx).warp_id == 0 {
                arrived.fetch_add(1, SeqCst);
                while arrived.load(SeqCst) < round * (*ctx).nctaid[0] {
                    (RUNTIME_CALLS.yield_now)(ctx);
                }
            }
            (RUNTIME_CALLS.barrier)(ctx, BarrierKind::Sync as u32, 0, 0, live, 0);
            if arrived.load(SeqCst) < round * (*ctx).nctaid[0] {
                wrong.fetch_add(1, SeqCst);
            }
        }
    }
}

#[test]
fn blocks_that_wait_for_each_other_all_become_resident() {
    for blocks in [1, 2, 100, 800] {
        let data = (AtomicU32::new(0), AtomicU32::new(0));
        let program = Program { dynamic_shared_offset: RESERVED_SHARED_BYTES + 64, ..suspending_program(grid_barrier) };
        run_with_data(&program, launch_config(blocks, 64), &data).unwrap();
        assert_eq!((data.0.load(SeqCst), data.1.load(SeqCst)), (3 * blocks, 0));
    }
}

/// Odd warps wait for the token of the warp before, which even warps hand out last.
unsafe extern "C" fn pass_token_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let turn = kernel_param::<AtomicU32>(ctx);
        // The last warp begins.
        let mine = (*ctx).ntid[0] / 32 - 1 - (*ctx).warp_id;
        while turn.load(SeqCst) != mine {
            (RUNTIME_CALLS.yield_now)(ctx);
        }
        turn.fetch_add(1, SeqCst);
    }
}

#[test]
fn warps_that_spin_let_each_other_run() {
    let turn = AtomicU32::new(0);
    run_with_data(&suspending_program(pass_token_kernel), launch_config(1, 1024), &turn).unwrap();
    assert_eq!(turn.load(SeqCst), 32);
}

unsafe extern "C" fn read_param_address(ctx: *mut WarpCtx) {
    unsafe {
        if block_index(ctx) == 3 && (*ctx).warp_id == 1 {
            let p = *(*ctx).params.cast::<*const u32>();
            p.read_volatile();
        }
    }
}

#[test]
fn a_bad_access_is_a_fault_and_the_next_launch_runs() {
    let w = device_window().unwrap();
    let bad = w.heap_area().end() - (1 << 30);
    for address in [bad, 8, w.base_address() + 16] {
        for program in [serial_program(read_param_address), suspending_program(read_param_address)] {
            for _ in 0..3 {
                let fault = run_program(&program, launch_config(8, 64), &address.to_ne_bytes(), &CancelFlag::new())
                    .unwrap_err();
                assert_eq!((fault.kind, fault.code), (FaultKind::IllegalAddress, ResultCode::ILLEGAL_ADDRESS));
                assert_eq!((fault.block, fault.thread), ([3, 0, 0], [32, 0, 0]));
                let access = fault.access.unwrap();
                assert_eq!((access.address, access.write), (address as u64, Some(false)));
                assert_eq!(fault.source, Some(("k.cu".into(), 7)));
                assert!(fault.report.contains(&format!("{address:#x}")), "{}", fault.report);
            }
            let seen = zeroed_counters(100);
            run_with_data(&serial_program(count_threads_kernel), launch_config(100, 64), &seen).unwrap();
        }
    }
}

#[inline(never)]
fn recurse_to_depth(depth: u64) -> u64 {
    let mut frame = [depth; 64];
    std::hint::black_box(&mut frame);
    if depth == u64::MAX { 0 } else { recurse_to_depth(depth + 1) + frame[(depth % 64) as usize] }
}

unsafe extern "C" fn endless_recursion_kernel(_: *mut WarpCtx) {
    std::hint::black_box(recurse_to_depth(0));
}

#[test]
fn runaway_recursion_is_a_stack_overflow() {
    for suspends in [false, true] {
        for recursive in [false, true] {
            let program = Program { suspends, recursive, ..serial_program(endless_recursion_kernel) };
            let fault = run_with_data(&program, launch_config(2, 64), &0).unwrap_err();
            assert_eq!(fault.kind, FaultKind::StackOverflow, "{}", fault.report);
        }
    }
}

unsafe extern "C" fn trap_in_second(ctx: *mut WarpCtx) {
    unsafe {
        if (*ctx).warp_id == 1 && block_index(ctx) == 2 {
            (RUNTIME_CALLS.trap)(ctx, TrapKind::MisalignedAddress as u32, 5, 5, 0x1001);
        }
        while (*(*ctx).cancel).load(SeqCst) == 0 && (*ctx).warp_id == 0 && block_index(ctx) == 2 {
            (RUNTIME_CALLS.yield_now)(ctx);
        }
    }
}

#[test]
fn a_trap_names_its_thread_and_stops_the_others() {
    let fault = run_with_data(&suspending_program(trap_in_second), launch_config(4, 64), &0).unwrap_err();
    assert_eq!((fault.kind, fault.code), (FaultKind::MisalignedAddress, ResultCode::MISALIGNED_ADDRESS));
    assert_eq!((fault.block, fault.thread), ([2, 0, 0], [37, 0, 0]));
    for part in [
        "kernel kernel: misaligned",
        "(2, 0, 0), thread (37, 0, 0)",
        "in function helper",
        "line 12 of the PTX",
        "k.cu:7",
    ] {
        assert!(fault.report.contains(part), "{part:?} is not in {}", fault.report);
    }
}

unsafe extern "C" fn endless_kernel(ctx: *mut WarpCtx) {
    unsafe {
        kernel_param::<AtomicUsize>(ctx).fetch_add(1, SeqCst);
        while (*(*ctx).cancel).load(SeqCst) == 0 {
            std::hint::spin_loop();
        }
        (RUNTIME_CALLS.cancelled)(ctx)
    }
}

unsafe extern "C" fn endless_yielding_kernel(ctx: *mut WarpCtx) {
    unsafe {
        kernel_param::<AtomicUsize>(ctx).fetch_add(1, SeqCst);
        loop {
            (RUNTIME_CALLS.yield_now)(ctx);
        }
    }
}

#[test]
fn a_running_launch_can_be_cancelled() {
    for program in [serial_program(endless_kernel), suspending_program(endless_yielding_kernel)] {
        let (cancel, started) = (CancelFlag::new(), AtomicUsize::new(0));
        let address = std::ptr::from_ref(&started) as usize;
        let result = std::thread::scope(|s| {
            let running = s.spawn(|| run_program(&program, launch_config(64, 128), &address.to_ne_bytes(), &cancel));
            while started.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
            cancel.cancel_launches();
            running.join().unwrap()
        });
        assert_eq!(result.unwrap_err().kind, FaultKind::Cancelled);
        let again = run_program(&program, launch_config(1, 1), &address.to_ne_bytes(), &cancel);
        assert_eq!(again.unwrap_err().kind, FaultKind::Cancelled);
    }
}

unsafe extern "C" fn sleep_then_count(ctx: *mut WarpCtx) {
    unsafe {
        let start = (RUNTIME_CALLS.globaltimer)(ctx);
        let ticks = (RUNTIME_CALLS.clock64)(ctx);
        (RUNTIME_CALLS.nanosleep)(ctx, 200_000);
        if (RUNTIME_CALLS.globaltimer)(ctx) >= start + 200_000 && (RUNTIME_CALLS.clock64)(ctx) > ticks {
            kernel_param::<AtomicU32>(ctx).fetch_add(1, SeqCst);
        }
    }
}

#[test]
fn sleeping_warps_sleep_side_by_side() {
    let n = AtomicU32::new(0);
    let start = Instant::now();
    run_with_data(&suspending_program(sleep_then_count), launch_config(1, 1024), &n).unwrap();
    assert_eq!(n.load(SeqCst), 32);
    // One after the other would take 6.4 ms.
    assert!(start.elapsed() < Duration::from_millis(200));
}

#[test]
fn launches_from_many_threads_at_once() {
    std::thread::scope(|s| {
        for t in 0..6 {
            s.spawn(move || {
                for i in 0..50 {
                    let blocks = 1 + (t * 37 + i * 11) % 300;
                    let seen = zeroed_counters(blocks);
                    let program = if i % 2 == 0 {
                        serial_program(count_threads_kernel)
                    } else {
                        suspending_program(count_threads_kernel)
                    };
                    run_with_data(&program, launch_config(blocks as u32, 64), &seen).unwrap();
                    assert!(seen.iter().all(|n| n.load(SeqCst) == 64));
                }
            });
        }
    });
}

unsafe extern "C" fn read_workspace(ctx: *mut WarpCtx) {
    unsafe {
        let at = (*ctx).grid_workspace;
        let value = if at == 0 { 7 } else { *(at as *const u32) };
        kernel_param::<AtomicU64>(ctx).fetch_add(u64::from(value), SeqCst);
    }
}

#[test]
fn cooperative_launches_have_cleared_synchronisation_words() {
    let sum = AtomicU64::new(0);
    let program = serial_program(read_workspace);
    run_with_data(&program, LaunchConfig { cooperative: true, ..launch_config(4, 32) }, &sum).unwrap();
    assert_eq!(sum.load(SeqCst), 0);
    run_with_data(&program, launch_config(1, 32), &sum).unwrap();
    assert_eq!(sum.load(SeqCst), 7);
}

unsafe extern "C" fn empty_kernel(_: *mut WarpCtx) {}

/// Prints what a launch costs; asserts nothing about it.
#[test]
fn launch_latency() {
    for (name, program, shape, n) in [
        ("1 block of 256", serial_program(empty_kernel), launch_config(1, 256), 20_000),
        ("1 block of 256 with fibers", suspending_program(empty_kernel), launch_config(1, 256), 5_000),
        ("64 blocks of 256", serial_program(empty_kernel), launch_config(64, 256), 5_000),
        ("10000 blocks of 256", serial_program(empty_kernel), launch_config(10_000, 256), 100),
        ("1000 blocks of 256 with fibers", suspending_program(empty_kernel), launch_config(1_000, 256), 20),
    ] {
        let cancel = CancelFlag::new();
        for _ in 0..10 {
            run_program(&program, shape, &[], &cancel).unwrap();
        }
        let start = Instant::now();
        for _ in 0..n {
            run_program(&program, shape, &[], &cancel).unwrap();
        }
        println!("{name}: {:.3} us", start.elapsed().as_secs_f64() * 1e6 / f64::from(n));
    }
}
