//! Atomic operations of all types against an independent model, alone and under contention.
#![allow(clippy::undocumented_unsafe_blocks, reason = "kernels get the buffers and sizes that they are written for")]

use crate::support::{kernel_param, launch_config, run_with_data, serial_program};
use crate::window_memory;
use half::{bf16, f16};
use rtcg_ptx::ast::{AtomOp, Type};
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::runtime::{AtomicCode, AtomicLaneOperands};
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_exec::{FaultKind, RUNTIME_CALLS, host_ranges};
use std::sync::Mutex;

struct AtomicCase {
    code: u32,
    mask: u32,
    lanes: Mutex<AtomicLaneOperands>,
}

unsafe extern "C" fn atomic_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let case = kernel_param::<AtomicCase>(ctx);
        // The lock would be left behind by a trap, so the operands are copied out and in.
        let mut lanes = *case.lanes.lock().unwrap();
        (RUNTIME_CALLS.atomic)(ctx, case.code, case.mask, 3, &raw mut lanes);
        *case.lanes.lock().unwrap() = lanes;
    }
}

fn next_random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// What one lane's operation makes of a value: written anew from the PTX documentation.
fn model_atomic(op: AtomOp, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    use Type::*;
    let f32_of = |v: u64| f32::from_bits(v as u32);
    match (op, ty) {
        (AtomOp::Add, F32) => u64::from((f32_of(old) + f32_of(b)).to_bits()),
        (AtomOp::Add, F64) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (AtomOp::Add, F16) => u64::from((f16::from_bits(old as u16) + f16::from_bits(b as u16)).to_bits()),
        (AtomOp::Add, BF16) => u64::from((bf16::from_bits(old as u16) + bf16::from_bits(b as u16)).to_bits()),
        (AtomOp::Add, F16x2) => {
            model_atomic(op, F16, old & 0xffff, b & 0xffff, 0) | model_atomic(op, F16, old >> 16, b >> 16, 0) << 16
        }
        (AtomOp::Add, BF16x2) => {
            model_atomic(op, BF16, old & 0xffff, b & 0xffff, 0) | model_atomic(op, BF16, old >> 16, b >> 16, 0) << 16
        }
        (AtomOp::Add, _) if ty.bits() == 32 => u64::from((old as u32).wrapping_add(b as u32)),
        (AtomOp::Add, _) => old.wrapping_add(b),
        (AtomOp::Min, S32) => u64::from((old as i32).min(b as i32) as u32),
        (AtomOp::Max, S32) => u64::from((old as i32).max(b as i32) as u32),
        (AtomOp::Min, S64) => (old as i64).min(b as i64) as u64,
        (AtomOp::Max, S64) => (old as i64).max(b as i64) as u64,
        (AtomOp::Min, _) => old.min(b),
        (AtomOp::Max, _) => old.max(b),
        (AtomOp::And, _) => old & b,
        (AtomOp::Or, _) => old | b,
        (AtomOp::Xor, _) => old ^ b,
        (AtomOp::Exch, _) => b,
        (AtomOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (AtomOp::Cas, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
    }
}

fn all_operations() -> Vec<(AtomOp, Type)> {
    use AtomOp::*;
    use Type::*;
    let mut list =
        vec![(Add, F32), (Add, F64), (Add, F16), (Add, BF16), (Add, F16x2), (Add, BF16x2), (Cas, B16), (Exch, B16)];
    for ty in [U32, S32, U64, S64] {
        list.extend([Add, Min, Max].map(|op| (op, ty)));
    }
    for ty in [B32, B64] {
        list.extend([And, Or, Xor, Exch, Cas].map(|op| (op, ty)));
    }
    list.extend([(Inc, U32), (Dec, U32)]);
    list
}

/// Operands of `ty`: floats are small normal numbers, integers collide often enough for `cas`.
fn random_operand(ty: Type, seed: &mut u64) -> u64 {
    use Type::*;
    let r = next_random(seed);
    let small = (r % 2001) as f32 / 8.0 - 125.0;
    let pair = |low: u16, high: u16| u64::from(low) | u64::from(high) << 16;
    match ty {
        F32 => u64::from(small.to_bits()),
        F64 => f64::from(small).to_bits(),
        F16 => u64::from(f16::from_f32(small).to_bits()),
        BF16 => u64::from(bf16::from_f32(small).to_bits()),
        F16x2 => pair(f16::from_f32(small).to_bits(), f16::from_f32(-small / 3.0).to_bits()),
        BF16x2 => pair(bf16::from_f32(small).to_bits(), bf16::from_f32(small * 7.0).to_bits()),
        _ if r & 1 == 0 => r % 5,
        _ => (r >> 3) & (u64::MAX >> (64 - ty.bits())),
    }
}

/// Minima and maxima of 64 bits in shared memory: all lanes that are left read; those that would change nothing are done,
/// and of the others the lowest one of each place stores.
fn extremes_in_rounds(
    memory: &mut [u64],
    slots: &[usize; 32],
    mask: u32,
    read: &mut [u64; 32],
    extreme: impl Fn(u64, usize) -> u64,
) {
    let mut left: Vec<usize> = (0..32).filter(|l| mask >> l & 1 != 0).collect();
    while !left.is_empty() {
        left.iter().for_each(|&l| read[l] = memory[slots[l]]);
        left.retain(|&l| extreme(read[l], l) != read[l]);
        let mut stored = vec![];
        left.retain(|&l| {
            let waits = stored.contains(&slots[l]);
            if !waits {
                memory[slots[l]] = extreme(read[l], l);
                stored.push(slots[l]);
            }
            waits
        });
    }
}

#[test]
fn every_operation_agrees_with_the_model() {
    let mut seed = 0x1234_5678_9abc_def1;
    for (op, ty) in all_operations() {
        for (shared, spread) in [(false, 1), (false, 4), (true, 3), (false, 32)] {
            let bytes = ty.bytes() as usize;
            let base = window_memory::commit_guarded(4096);
            let mut memory: Vec<u64> = (0..32).map(|_| random_operand(ty, &mut seed)).collect();
            let write = |i: usize, v: u64| unsafe {
                std::ptr::copy_nonoverlapping(v.to_le_bytes().as_ptr(), (base + i * bytes) as *mut u8, bytes);
            };
            memory.iter().enumerate().for_each(|(i, &v)| write(i, v));
            let mut lanes = AtomicLaneOperands { address: [0; 32], b: [0; 32], c: [0; 32], result: [0xdead; 32] };
            let mask = next_random(&mut seed) as u32 | 1;
            let in_rounds = shared && matches!(op, AtomOp::Min | AtomOp::Max) && bytes == 8;
            let mut expected = [0xdead; 32];
            let mut slots = [0; 32];
            for l in 0..32 {
                let slot = next_random(&mut seed) as usize % spread;
                lanes.address[l] = (base + slot * bytes) as u64;
                (lanes.b[l], lanes.c[l]) = (random_operand(ty, &mut seed), random_operand(ty, &mut seed));
                slots[l] = slot;
                if mask & (1 << l) != 0 && !in_rounds {
                    expected[l] = memory[slot];
                    memory[slot] = model_atomic(op, ty, memory[slot], lanes.b[l], lanes.c[l]);
                }
            }
            if in_rounds {
                extremes_in_rounds(&mut memory, &slots, mask, &mut expected, |old, l| {
                    model_atomic(op, ty, old, lanes.b[l], 0)
                });
            }
            let code = AtomicCode { op, ty, shared, returns: true, elements: 1 }.encode_atomic_code().unwrap();
            let case = AtomicCase { code, mask, lanes: Mutex::new(lanes) };
            run_with_data(&serial_program(atomic_kernel), launch_config(1, 32), &case).unwrap();
            let got = case.lanes.lock().unwrap().result;
            for (l, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert!(
                    mask & (1 << l) == 0 || got == expected,
                    "{op:?} {ty:?} lane {l}: {got:#x}, expected {expected:#x}"
                );
            }
            for (i, v) in memory.iter().enumerate().take(spread) {
                let mut now = [0; 8];
                unsafe { std::ptr::copy_nonoverlapping((base + i * bytes) as *const u8, now.as_mut_ptr(), bytes) };
                assert_eq!(u64::from_le_bytes(now), *v, "{op:?} {ty:?} at {i}");
            }
        }
    }
}

#[test]
fn a_subnormal_sum_is_flushed_in_global_memory_only() {
    let base = window_memory::commit_guarded(4096);
    let tiny = f32::MIN_POSITIVE / 4.0;
    unsafe { (base as *mut f32).write(tiny) };
    for (shared, expected) in [(true, 2.0 * tiny), (false, 0.0)] {
        let mut lanes = AtomicLaneOperands { address: [0; 32], b: [0; 32], c: [0; 32], result: [0; 32] };
        (lanes.address[0], lanes.b[0]) = (base as u64, u64::from(tiny.to_bits()));
        let code = AtomicCode { op: AtomOp::Add, ty: Type::F32, shared, returns: true, elements: 1 }
            .encode_atomic_code()
            .unwrap();
        let case = AtomicCase { code, mask: 1, lanes: Mutex::new(lanes) };
        run_with_data(&serial_program(atomic_kernel), launch_config(1, 32), &case).unwrap();
        assert_eq!(unsafe { (base as *const f32).read() }, expected);
    }
}

#[test]
fn bad_addresses_are_faults_of_their_lane() {
    let base = window_memory::commit_guarded(4096) as u64;
    let code = AtomicCode { op: AtomOp::Add, ty: Type::U32, shared: false, returns: false, elements: 1 }
        .encode_atomic_code()
        .unwrap();
    let far = (device_window().unwrap().heap_area().end() - (1 << 30)) as u64;
    for (bad, kind) in [
        (base + 2, FaultKind::MisalignedAddress),
        (0, FaultKind::IllegalAddress),
        (far, FaultKind::IllegalAddress),
        (u64::MAX - 3, FaultKind::IllegalAddress),
    ] {
        let mut lanes = AtomicLaneOperands { address: [base; 32], b: [1; 32], c: [0; 32], result: [0; 32] };
        lanes.address[9] = bad;
        let case = AtomicCase { code, mask: u32::MAX, lanes: Mutex::new(lanes) };
        let fault = run_with_data(&serial_program(atomic_kernel), launch_config(1, 32), &case).unwrap_err();
        assert_eq!((fault.kind, fault.access.unwrap().address), (kind, bad), "{fault}");
        if bad == far {
            assert_eq!(fault.thread, [9, 0, 0]);
        }
    }
}

#[test]
fn registered_host_memory_can_be_used() {
    let host = Box::new(5_u32);
    let address = &raw const *host as u64;
    let lanes = AtomicLaneOperands { address: [address; 32], b: [1; 32], c: [0; 32], result: [0; 32] };
    let code = AtomicCode { op: AtomOp::Add, ty: Type::U32, shared: false, returns: false, elements: 1 }
        .encode_atomic_code()
        .unwrap();
    let case = AtomicCase { code, mask: 0xff, lanes: Mutex::new(lanes) };
    assert!(run_with_data(&serial_program(atomic_kernel), launch_config(1, 32), &case).is_err());
    host_ranges::register_host(address, 4, 0, 0).unwrap();
    run_with_data(&serial_program(atomic_kernel), launch_config(1, 32), &case).unwrap();
    host_ranges::unregister_host(address).unwrap();
    assert_eq!(unsafe { (address as *const u32).read_volatile() }, 13);
}

unsafe extern "C" fn contended_atomic_kernel(ctx: *mut WarpCtx) {
    unsafe {
        let base = *kernel_param::<usize>(ctx) as u64;
        let mut lanes = AtomicLaneOperands { address: [base; 32], b: [1; 32], c: [0; 32], result: [0; 32] };
        let add = AtomicCode { op: AtomOp::Add, ty: Type::U64, shared: false, returns: true, elements: 1 }
            .encode_atomic_code()
            .unwrap();
        (RUNTIME_CALLS.atomic)(ctx, add, (*ctx).live, 1, &raw mut lanes);
        for l in 0..32 {
            (lanes.address[l], lanes.b[l]) = (base + 8 + 4 * (l as u64 % 7), u64::from(1.0_f32.to_bits()));
        }
        let add = AtomicCode { op: AtomOp::Add, ty: Type::F32, shared: false, returns: false, elements: 1 }
            .encode_atomic_code()
            .unwrap();
        (RUNTIME_CALLS.atomic)(ctx, add, (*ctx).live, 1, &raw mut lanes);
    }
}

#[test]
fn nothing_is_lost_under_contention() {
    let base = window_memory::commit_guarded(4096);
    run_with_data(&serial_program(contended_atomic_kernel), launch_config(2000, 96), &base).unwrap();
    assert_eq!(unsafe { (base as *const u64).read() }, 2000 * 96);
    let sums: Vec<f32> = (0..7).map(|i| unsafe { ((base + 8 + 4 * i) as *const f32).read() }).collect();
    assert_eq!(sums, [5, 5, 5, 5, 4, 4, 4].map(|n| (n * 6000) as f32));
}
