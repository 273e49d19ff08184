//! Occupancy against a straightforward model of compute capability 8.0, for every block size; and on a
//! device with little room for resident blocks.

use std::ffi::{CString, c_int};

use crate::api_common::*;
use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::*;

/// A kernel with this much static shared memory, and `words` values alive at once.
fn load_kernel(shared: usize, words: usize) -> CUfunction {
    let sum: String = (0..words).map(|i| format!("ld.volatile.global.u32 %r{i}, [%rd1+{}];\n", 4 * i)).collect();
    let stores: String = (0..words).map(|i| format!("st.volatile.global.u32 [%rd1+{}], %r{i};\n", 4 * i)).collect();
    let text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n
        .shared .align 4 .b8 tile[{shared}];\n.reg .b32 %r<{}>;\n.reg .b64 %rd<2>;\n
        ld.param.u64 %rd1, [p];\nst.shared.u32 [tile], 0;\n{sum}{stores}ret;\n}}\n",
        words.max(1)
    );
    let text = CString::new(text).unwrap();
    let (mut module, mut f) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&raw mut f, module, c"k".as_ptr()));
    f
}

fn function_attribute(f: CUfunction, attribute: CUfunction_attribute) -> u32 {
    let mut value = 0;
    ok!(cuFuncGetAttribute(&raw mut value, attribute, f));
    value as u32
}

fn device_attribute(attribute: CUdevice_attribute) -> u32 {
    let mut value = 0;
    ok!(cuDeviceGetAttribute(&raw mut value, attribute, 0));
    value as u32
}

fn max_active_blocks(f: CUfunction, threads: u32, shared: u32) -> u32 {
    let mut blocks = 0;
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, f, threads as c_int, shared as usize));
    blocks as u32
}

/// Counts blocks one after the other into a multiprocessor until something does not fit any more.
fn model_active_blocks(regs: u32, static_shared: u32, most_shared: u32, threads: u32, shared: u32, most: u32) -> u32 {
    if shared > most_shared {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let warp_registers = (regs * 32).div_ceil(256) * 256;
    let block_shared = (static_shared + shared + 1024).div_ceil(128) * 128;
    let mut registers = [16384_u32; 4];
    let (mut blocks, mut warp_slots, mut shared_left) = (0, 64, 164 * 1024);
    let mut next_part = 0;
    while blocks < most.min(32) && warp_slots >= warps && shared_left >= block_shared {
        for _ in 0..warps {
            if registers[next_part] < warp_registers {
                return blocks.max(1);
            }
            registers[next_part] -= warp_registers;
            next_part = (next_part + 1) % 4;
        }
        warp_slots -= warps;
        shared_left -= block_shared;
        blocks += 1;
    }
    blocks
}

#[test]
fn occupancy_is_that_of_compute_capability_8_0() {
    new_context();
    let processors = device_attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    assert_eq!(processors, 108);
    // The device keeps 1023 blocks.
    let most = 1023 / processors;
    let mut seen = std::collections::BTreeSet::new();
    for (static_shared, words) in [(4, 1), (1000, 8), (40_000, 40), (4, 52), (4, 64)] {
        let f = load_kernel(static_shared, words);
        let regs = function_attribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS);
        let static_shared = function_attribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
        for most_dynamic in [48 * 1024 - static_shared, 163 * 1024 - static_shared] {
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            ok!(cuFuncSetAttribute(f, attribute, most_dynamic as c_int));
            let limit = function_attribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
            assert_eq!(limit, 1024);
            let sizes = [0, 1, 127, 128, 129, 1000, 4096, 5000, 10_000, 16_384, 30_000, 70_000, 166_912];
            for shared in sizes.into_iter().chain([most_dynamic, most_dynamic + 1]) {
                for threads in 1..=1024 {
                    let want = model_active_blocks(regs, static_shared, most_dynamic, threads, shared, most);
                    let got = max_active_blocks(f, threads, shared);
                    assert_eq!(got, want, "{regs} registers, {threads} threads, {static_shared} + {shared} bytes");
                    seen.insert(got);
                }
                check_potential_block_size(f, shared, regs, static_shared, most_dynamic, most);
            }
            assert_eq!(max_active_blocks(f, 1025, 0), 0);
        }
        check_available_shared_memory(f, static_shared);
        // The driver reads the lower half of a size.
        let mut blocks = -1;
        ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, f, 64, 1 << 40));
        assert_eq!(blocks as u32, max_active_blocks(f, 64, 0));
    }
    assert!(seen.len() > 7, "{seen:?}");
}

/// The best block size has the most threads on a multiprocessor; of equals it is the largest.
fn check_potential_block_size(f: CUfunction, shared: u32, regs: u32, static_shared: u32, most_dynamic: u32, most: u32) {
    let (mut grid, mut block) = (0, 0);
    let outcome = call!(cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, f, None, shared as usize, 0));
    let threads_of = |n: u32| n * model_active_blocks(regs, static_shared, most_dynamic, n, shared, most);
    let best = (1..=32).map(|w| w * 32).max_by_key(|&n| (threads_of(n), n)).unwrap();
    if threads_of(best) == 0 {
        assert_eq!((outcome, grid, block), (Ok(()), 0, 0));
        return;
    }
    assert_eq!((block as u32, grid as u32), (best, threads_of(best) / best * 108));
}

/// Each of so many blocks has an equal part, up to the function's limit; more blocks than fit have none.
fn check_available_shared_memory(f: CUfunction, static_shared: u32) {
    let limit = function_attribute(f, CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    let available = |blocks, threads| {
        let mut bytes = 0;
        call!(cuOccupancyAvailableDynamicSMemPerBlock(&raw mut bytes, f, blocks, threads)).map(|()| bytes as u32)
    };
    for blocks in 1..=9 {
        let share = 164 * 1024 / blocks / 128 * 128_u32;
        assert_eq!(available(blocks as c_int, 32), Ok(share.saturating_sub(static_shared).min(limit)));
    }
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let wrong = [(0, 32), (-1, 32), (33, 32), (3, 1024), (1, 0), (1, 1025)];
    assert_eq!(wrong.map(|(blocks, threads)| available(blocks, threads)), [refused; 6]);
}

/// Run by the test below, with little address space.
#[test]
fn child_with_limited_address_space() {
    if !is_child() {
        return;
    }
    let limit = libc::rlimit { rlim_cur: 190 << 30, rlim_max: 190 << 30 };
    // SAFETY: the limit is a valid structure.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    new_context();
    let processors = device_attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    assert!((1..108).contains(&processors), "{processors}");
    let f = load_kernel(4, 1);
    let memory = alloc(4);
    for (threads, shared) in [(1, 0), (33, 0), (256, 10_000), (1024, 0), (1024, 48 * 1024 - 4)] {
        let each = max_active_blocks(f, threads, shared);
        assert!(each >= 1);
        let mut args = [(&raw const memory).cast_mut().cast()];
        let launch = |blocks: u32, args: &mut [*mut std::ffi::c_void]| {
            let stream = CUstream::null();
            call!(cuLaunchCooperativeKernel(f, blocks, 1, 1, threads, 1, 1, shared, stream, args.as_mut_ptr()))
        };
        assert_eq!(launch(each * processors, &mut args), Ok(()));
        let too_many = launch(each * processors * 2 + 64, &mut args);
        assert_eq!(too_many, Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE));
        ok!(cuCtxSynchronize());
    }
    println!("as said: {processors}");
}

#[test]
fn a_small_window_has_fewer_multiprocessors() {
    let output = rerun(module_path!(), "child_with_limited_address_space").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("as said"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
