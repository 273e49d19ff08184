//! Batches of copies and of hints, and pools by their location.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::api_common::*;
use rtcg_cuda_sys::*;

const NO_HINT: CUmemLocation = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_NONE, id: 0 };

fn attributes(order: u32, flags: u32) -> CUmemcpyAttributes {
    CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder(order),
        srcLocHint: NO_HINT,
        dstLocHint: NO_HINT,
        flags,
    }
}

/// A batch with `attributes` that count from the copies `firsts` on: its code, and which copy failed.
fn copy_batch(
    copies: &[(u64, u64, usize)],
    attributes: &[CUmemcpyAttributes],
    firsts: &[usize],
    stream: CUstream,
) -> (Result<(), CUresult>, Option<usize>) {
    let (mut dsts, mut srcs): (Vec<_>, Vec<_>) = copies.iter().map(|c| (c.0, c.1)).unzip();
    let mut sizes: Vec<_> = copies.iter().map(|c| c.2).collect();
    let (mut attributes, mut firsts) = (attributes.to_vec(), firsts.to_vec());
    let outcome = call!(cuMemcpyBatchAsync(
        dsts.as_mut_ptr(),
        srcs.as_mut_ptr(),
        sizes.as_mut_ptr(),
        copies.len(),
        attributes.as_mut_ptr(),
        firsts.as_mut_ptr(),
        firsts.len(),
        stream
    ));
    (outcome, rtcg_vgpu::failed_batch_index())
}

fn read_bytes(p: CUdeviceptr, n: usize) -> Vec<u8> {
    let mut host = vec![0_u8; n];
    ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), p, n));
    host
}

#[test]
fn a_batch_says_which_copy_failed() {
    let (ctx, s, p) = (new_context(), new_stream(1), alloc(4096));
    ok!(cuMemsetD8(p, 1, 64));
    ok!(cuMemsetD8(p + 64, 0, 1024));
    let plain = [attributes(1, 0)];
    let (good, empty, null) = ((p + 64, p, 16), (p + 96, p, 0), (p + 96, 0, 16));
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(copy_batch(&[good, (p + 80, p, 16)], &plain, &[0], s), (Ok(()), None));
    for wrong in [empty, null, (p + 96, p, 1 << 40)] {
        assert_eq!(copy_batch(&[(p + 128, p, 16), wrong], &plain, &[0], s), (refused, Some(1)));
    }
    ok!(cuStreamSynchronize(s));
    // What comes before the copy that fails is made.
    assert_eq!(read_bytes(p + 64, 96).iter().map(|&b| usize::from(b)).sum::<usize>(), 48);

    // What is wrong with the whole names no copy, and nothing is copied.
    let at = (p + 512, p, 16);
    for (order, flags) in [(0, 0), (4, 0), (1, 2)] {
        assert_eq!(copy_batch(&[at], &[attributes(order, flags)], &[0], s), (refused, None), "{order} {flags}");
    }
    let two = [attributes(1, 0), attributes(3, 1)];
    for firsts in [[1, 2], [0, 0], [0, 5]] {
        assert_eq!(copy_batch(&[at, at, at], &two, &firsts, s), (refused, None), "{firsts:?}");
    }
    assert_eq!(copy_batch(&[at], &two, &[0, 1], s), (refused, None));
    assert_eq!(copy_batch(&[at], &[], &[], s), (refused, None));
    assert_eq!(copy_batch(&[], &plain, &[0], s), (refused, None));
    let elsewhere = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 7 };
    let hinted = CUmemcpyAttributes { dstLocHint: elsewhere, ..attributes(1, 0) };
    assert_eq!(copy_batch(&[at], &[hinted], &[0], s), (refused, None));
    for legacy in [0, 1] {
        assert_eq!(
            copy_batch(&[at], &plain, &[0], CUstream(std::ptr::without_provenance_mut(legacy))),
            (refused, None)
        );
    }
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_bytes(p + 512, 16), [0; 16]);
    assert_eq!(copy_batch(&[at, at, at], &two, &[0, 2], s), (Ok(()), None));
    ok!(cuCtxDestroy(ctx));
}

/// A source is read before the call returns, or when the stream comes to the copy, as the batch says.
#[test]
fn sources_are_read_when_the_batch_says() {
    let (ctx, s, p) = (new_context(), new_stream(1), alloc(64));
    let (mut page_locked, mut pageable) = (null_mut::<c_void>(), [7_u32]);
    ok!(cuMemHostAlloc(&raw mut page_locked, 64, 0));
    let word = |i: usize| page_locked.cast::<u32>().wrapping_add(i);
    // SAFETY: page-locked memory of 64 bytes.
    unsafe { (word(0).write_volatile(0), word(1).write_volatile(5)) };
    ok!(cuStreamWaitValue32(s, word(0).addr() as u64, 1, 0));
    let source = (&raw mut pageable[0]).addr() as u64;
    let copies = [(p, word(1).addr() as u64, 4), (p + 4, source, 4), (p + 8, source, 4)];
    let orders = [attributes(2, 0), attributes(2, 0), attributes(1, 0)];
    assert_eq!(copy_batch(&copies, &orders, &[0, 1, 2], s), (Ok(()), None));
    // SAFETY: as above; of the sources only the last is still to be read.
    unsafe {
        word(1).write_volatile(6);
        (&raw mut pageable[0]).write_volatile(8);
        word(0).write_volatile(1);
    }
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_bytes(p, 12), [5_u32, 7, 8].map(u32::to_le_bytes).concat());
    ok!(cuCtxDestroy(ctx));
}

fn memory_operand(p: u64, row: usize, layer: usize) -> CUmemcpy3DOperand {
    let ptr = CUmemcpy3DOperand_op_ptr { ptr: p, rowLength: row, layerHeight: layer, locHint: NO_HINT };
    CUmemcpy3DOperand { type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER, op: CUmemcpy3DOperand_op { ptr } }
}

fn array_operand(array: CUarray, x: usize, y: usize) -> CUmemcpy3DOperand {
    let array = CUmemcpy3DOperand_op_array { array, offset: CUoffset3D { x, y, z: 0 } };
    CUmemcpy3DOperand { type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY, op: CUmemcpy3DOperand_op { array } }
}

#[test]
fn batches_of_boxes_count_elements() {
    let (ctx, s, p) = (new_context(), new_stream(1), alloc(4096));
    let values: Vec<u8> = (0..=255).collect();
    ok!(cuMemcpyHtoD(p, values.as_ptr().cast(), 256));
    let new_array = |format, channels| {
        let shape = CUDA_ARRAY_DESCRIPTOR { Width: 8, Height: 4, Format: format, NumChannels: channels };
        let mut array = CUarray::null();
        ok!(cuArrayCreate(&raw mut array, &raw const shape));
        array
    };
    let (wide, narrow) =
        (new_array(CUarray_format::CU_AD_FORMAT_FLOAT, 4), new_array(CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8, 1));
    let run = |src, dst, [width, height, depth]: [usize; 3], order: u32, flags: u64| {
        let order = CUmemcpySrcAccessOrder(order);
        let extent = CUextent3D { width, height, depth };
        let mut op = CUDA_MEMCPY3D_BATCH_OP { src, dst, extent, srcAccessOrder: order, flags: 0 };
        call!(cuMemcpy3DBatchAsync(1, &raw mut op, flags, s))
    };
    // Three texels of 16 bytes in each of two rows, of memory whose rows have four.
    ok!(cuMemsetD8(p + 2048, 0, 512));
    assert_eq!(run(memory_operand(p, 4, 0), array_operand(wide, 5, 1), [3, 2, 1], 1, 0), Ok(()));
    assert_eq!(run(array_operand(wide, 5, 1), memory_operand(p + 2048, 0, 0), [3, 2, 1], 2, 0), Ok(()));
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_bytes(p + 2048, 96), [&values[..48], &values[64..112]].concat());

    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let (a, b) = (memory_operand(p, 0, 0), memory_operand(p + 1024, 0, 0));
    assert_eq!(run(memory_operand(p, 2, 0), array_operand(wide, 0, 0), [3, 2, 1], 1, 0), refused);
    assert_eq!(run(a, array_operand(wide, 6, 0), [3, 2, 1], 1, 0), refused);
    assert_eq!(run(array_operand(narrow, 0, 0), array_operand(wide, 0, 0), [1, 1, 1], 1, 0), refused);
    assert_eq!(run(a, b, [0, 1, 1], 1, 0), refused);
    assert_eq!(run(a, b, [1, 1, 1], 0, 0), refused);
    assert_eq!(run(a, b, [1, 1, 1], 1, 1), refused);
    assert_eq!(run(CUmemcpy3DOperand { type_: CUmemcpy3DOperandType(3), ..a }, b, [1, 1, 1], 1, 0), refused);
    assert_eq!(run(memory_operand(p, 0, 1), b, [4, 2, 2], 1, 0), refused);
    assert_eq!(run(a, b, [4, 2, 2], 3, 0), Ok(()));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn batches_of_hints() {
    use CUmemLocationType as T;
    let (ctx, s, p) = (new_context(), new_stream(1), alloc(4096));
    let mut managed = 0;
    ok!(cuMemAllocManaged(&raw mut managed, 1 << 20, 1));
    let prefetch = |ranges: &[(u64, usize)], places: &[(T, i32)], firsts: &[usize], flags: u64, stream| {
        let (mut starts, mut sizes): (Vec<_>, Vec<_>) = ranges.iter().copied().unzip();
        let mut places: Vec<_> = places.iter().map(|&(type_, id)| CUmemLocation { type_, id }).collect();
        let (mut firsts, n) = (firsts.to_vec(), firsts.len());
        let (starts, sizes) = (starts.as_mut_ptr(), sizes.as_mut_ptr());
        let (places, firsts) = (places.as_mut_ptr(), firsts.as_mut_ptr());
        let both = [
            call!(cuMemPrefetchBatchAsync(starts, sizes, ranges.len(), places, firsts, n, flags, stream)),
            call!(cuMemDiscardAndPrefetchBatchAsync(starts, sizes, ranges.len(), places, firsts, n, flags, stream)),
        ];
        assert_eq!(both[0], both[1]);
        both[0]
    };
    let (device, host) = ((T::CU_MEM_LOCATION_TYPE_DEVICE, 0), (T::CU_MEM_LOCATION_TYPE_HOST, 0));
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let halves = [(managed, 1 << 19), (managed + (1 << 19), 1 << 19)];
    assert_eq!(prefetch(&halves, &[device, host], &[0, 1], 0, s), Ok(()));
    let last = |address: u64| {
        let mut place = 9_i32;
        let attribute = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        ok!(cuMemRangeGetAttribute((&raw mut place).cast(), 4, attribute, address, 4096));
        place
    };
    assert_eq!([last(managed), last(managed + (1 << 19))], [0, -1]);
    assert_eq!(prefetch(&halves, &[device], &[0], 0, s), Ok(()));
    assert_eq!([last(managed), last(managed + (1 << 19))], [0, 0]);
    assert_eq!(prefetch(&halves, &[device], &[1], 0, s), refused);
    assert_eq!(prefetch(&halves[..1], &[device], &[0], 1, s), refused);
    assert_eq!(prefetch(&halves[..1], &[device], &[0], 0, CUstream::null()), refused);
    assert_eq!(prefetch(&[(p, 4096)], &[device], &[0], 0, s), refused);
    assert_eq!(prefetch(&[(managed, 0)], &[device], &[0], 0, s), refused);
    for place in [(device.0, 7), (T(0), 0), (T(9), 0)] {
        assert_eq!(prefetch(&halves[..1], &[place], &[0], 0, s), refused);
    }
    let discard = |start: u64, size: usize| {
        let (mut start, mut size) = (start, size);
        call!(cuMemDiscardBatchAsync(&raw mut start, &raw mut size, 1, 0, s))
    };
    assert_eq!([discard(managed, 4096), discard(managed, 0), discard(p, 4096)], [Ok(()), refused, refused]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemDiscardBatchAsync(null_mut(), null_mut(), 1, 0, s));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn each_location_has_pools_of_its_own() {
    use CUmemLocationType as T;
    own_process!();
    let ctx = new_context();
    let place = |type_: u32, id| CUmemLocation { type_: T(type_), id };
    let default_of = |location: u32, kind: u32| {
        let (mut pool, mut at) = (CUmemoryPool::null(), place(location, 0));
        call!(cuMemGetDefaultMemPool(&raw mut pool, &raw mut at, CUmemAllocationType(kind))).map(|()| pool)
    };
    let (refused, unsupported) = (Err(CUresult::CUDA_ERROR_INVALID_VALUE), Err(CUresult::CUDA_ERROR_NOT_SUPPORTED));
    assert_eq!([0, 1, 2, 3].map(|location| default_of(location, 0)), [refused; 4]);
    assert_eq!([0, 1, 2].map(|kind| default_of(4, kind)), [unsupported; 3]);
    assert_eq!(default_of(0, 1), refused);
    let mut of_device = CUmemoryPool::null();
    ok!(cuDeviceGetDefaultMemPool(&raw mut of_device, 0));
    assert_eq!(default_of(1, 1), Ok(of_device));
    let pools = [(0, 2), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)].map(|(l, k)| default_of(l, k).unwrap());
    assert!(pools.iter().all(|&pool| pool != of_device));
    assert_eq!(default_of(2, 1), Ok(pools[2]));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pools[2]));
    let of = |pool, attribute: CUpointer_attribute| {
        let (mut p, mut value) = (0, 9_u32);
        ok!(cuMemAllocFromPoolAsync(&raw mut p, 64, pool, CUstream::null()));
        ok!(cuPointerGetAttribute((&raw mut value).cast(), attribute, p));
        ok!(cuMemFreeAsync(p, CUstream::null()));
        value
    };
    let (kind, managed) =
        (CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED);
    assert_eq!([of(pools[1], managed), of(pools[2], kind), of(pools[2], managed)], [1, 1, 0]);

    let new_pool = |kind: u32, location| {
        let props = CUmemPoolProps { allocType: CUmemAllocationType(kind), location, ..Default::default() };
        let mut pool = CUmemoryPool::null();
        ok!(cuMemPoolCreate(&raw mut pool, &raw const props));
        pool
    };
    let set = |location: CUmemLocation, kind: u32, pool| {
        let mut location = location;
        call!(cuMemSetMemPool(&raw mut location, CUmemAllocationType(kind), pool))
    };
    let get = |location: CUmemLocation, kind: u32| {
        let (mut pool, mut location) = (CUmemoryPool::null(), location);
        call!(cuMemGetMemPool(&raw mut pool, &raw mut location, CUmemAllocationType(kind))).map(|()| pool)
    };
    let (device_pool, host_pool) = (new_pool(1, place(1, 0)), new_pool(1, place(2, 0)));
    assert_eq!(set(place(1, 0), 1, device_pool), Ok(()));
    assert_eq!(get(place(1, 0), 1), Ok(device_pool));
    for (location, kind, pool) in [
        (place(1, 7), 1, device_pool),
        (place(2, 0), 1, device_pool),
        (place(1, 0), 1, host_pool),
        (place(2, 0), 2, host_pool),
    ] {
        assert_eq!(set(location, kind, pool).map(|()| pool), refused);
    }
    fails!(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool(0, host_pool));
    assert_eq!(set(place(2, 0), 1, host_pool), Ok(()));
    assert_eq!(get(place(2, 0), 1), Ok(host_pool));
    ok!(cuMemPoolDestroy(host_pool));
    assert_eq!(get(place(2, 0), 1), Ok(pools[2]), "a current pool that was destroyed is none");
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(null_mut(), null_mut(), CUmemAllocationType(1)));
    ok!(cuCtxDestroy(ctx));
}

/// Every kind of memory can be said to be copied synchronously, and some calls are of one kind only.
#[test]
fn what_every_kind_of_memory_takes() {
    let (ctx, p) = (new_context(), alloc(4096));
    let (mut managed, mut of_pool, mut page_locked) = (0, 0, null_mut());
    ok!(cuMemAllocManaged(&raw mut managed, 4096, 1));
    ok!(cuMemAllocAsync(&raw mut of_pool, 4096, CUstream::null()));
    ok!(cuMemHostAlloc(&raw mut page_locked, 4096, 0));
    #[repr(align(4096))]
    struct Pages([u8; 12288]);
    let pages = Box::leak(Box::new(Pages([0; 12288])));
    let first = (&raw mut pages.0).cast::<c_void>();
    let second = first.wrapping_byte_add(4096);
    ok!(cuMemHostRegister(first, 4096, 0));
    ok!(cuMemHostRegister(second, 4096, 0));
    let sync = CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    let told = |address: u64| {
        let mut value = 9_u32;
        ok!(cuPointerGetAttribute((&raw mut value).cast(), sync, address));
        value
    };
    let known = [p, managed, of_pool, page_locked.addr() as u64, second.addr() as u64 + 4095];
    assert_eq!(known.map(told), [0, 1, 0, 0, 0]);
    for address in known {
        for value in [1_u32, 0, 2] {
            ok!(cuPointerSetAttribute((&raw const value).cast(), sync, address));
            assert_eq!(told(address), u32::from(value != 0));
        }
    }
    assert_eq!([told(p + 100), told(first.addr() as u64)], [1, 0], "of the whole allocation, and of no other");
    ok!(cuMemcpyDtoD(p, of_pool, 4096));
    ok!(cuMemsetD8(p, 1, 64));
    let value = 1_u32;
    fails!(
        CUDA_ERROR_INVALID_VALUE,
        cuPointerSetAttribute((&raw const value).cast(), sync, first.addr() as u64 + 8192)
    );
    ok!(cuMemHostUnregister(second));
    ok!(cuMemHostRegister(second, 4096, 0));
    assert_eq!(told(second.addr() as u64), 0);

    // A copy lies in one registration, or in memory that begins in none.
    let from = |address: *mut c_void, n| call!(cuMemcpyHtoD(p, address, n));
    let refused = Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    let beyond = second.wrapping_byte_add(2048);
    assert_eq!(
        [from(first, 4096), from(first, 4097), from(beyond, 2048), from(beyond, 2049)],
        [Ok(()), refused, Ok(()), refused]
    );
    assert_eq!(from(first.wrapping_byte_add(8192), 4096), Ok(()));
    let mut address = 0;
    ok!(cuMemHostGetDevicePointer(&raw mut address, page_locked, 0));
    for other in [managed, p] {
        let other = std::ptr::without_provenance_mut(other as usize);
        fails!(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&raw mut address, other, 0));
    }
    ok!(cuMemHostUnregister(first));
    ok!(cuMemHostUnregister(second));
    ok!(cuCtxDestroy(ctx));
}

/// What cannot be imported says what is wrong with the wish first.
#[test]
fn wrong_imports_are_told_from_unsupported_ones() {
    let ctx = new_context();
    let memory = |kind: u32, fd: i32, size: u64, flags: u32| {
        let mut wish = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::default();
        (wish.type_, wish.size, wish.flags) = (CUexternalMemoryHandleType(kind), size, flags);
        wish.handle.fd = fd;
        let mut made = CUexternalMemory::null();
        call!(cuImportExternalMemory(&raw mut made, &raw const wish)).map_err(|code| code.0)
    };
    let semaphore = |kind: u32, fd: i32, flags: u32| {
        let mut wish = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::default();
        (wish.type_, wish.flags) = (CUexternalSemaphoreHandleType(kind), flags);
        wish.handle.fd = fd;
        let mut made = CUexternalSemaphore::null();
        call!(cuImportExternalSemaphore(&raw mut made, &raw const wish)).map_err(|code| code.0)
    };
    assert_eq!([0, 10, 99, 9].map(|kind| memory(kind, -1, 4096, 0)), [Err(1); 4]);
    assert_eq!([memory(1, -1, 4096, 0), memory(1, -1, 4096, 1), memory(1, 0, 4096, 0)], [Err(999), Err(999), Err(801)]);
    assert_eq!([memory(1, -1, 0, 0), memory(1, -1, 4096, 2), memory(2, -1, 4096, 0)], [Err(1), Err(1), Err(801)]);
    assert_eq!([0, 9, 11, 99].map(|kind| semaphore(kind, -1, 0)), [Err(1); 4]);
    assert_eq!([semaphore(1, -1, 0), semaphore(1, 0, 0), semaphore(1, -1, 1)], [Err(999), Err(801), Err(1)]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuImportExternalMemory(null_mut(), null()));
    let flush = |target: u32, scope: u32| {
        let (target, scope) = (CUflushGPUDirectRDMAWritesTarget(target), CUflushGPUDirectRDMAWritesScope(scope));
        call!(cuFlushGPUDirectRDMAWrites(target, scope)).map_err(|code| code.0)
    };
    assert_eq!([flush(0, 100), flush(0, 200), flush(100, 100), flush(0, 0)], [Ok(()), Ok(()), Err(1), Err(1)]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphicsUnmapResources(0, null_mut(), CUstream::null()));
    fails!(CUDA_ERROR_INVALID_VALUE, cuGraphicsMapResources(0, null_mut(), CUstream::null()));
    let mut fd = -1_i32;
    let place: *mut c_void = (&raw mut fd).cast();
    let p = alloc(1 << 20);
    let dma_buf = |address, size, kind: u32, flags| {
        call!(cuMemGetHandleForAddressRange(place, address, size, CUmemRangeHandleType(kind), flags)).map_err(|c| c.0)
    };
    let wrong = [
        (p, 100, 1, 0),
        (p, 0, 1, 0),
        (0, 4096, 1, 0),
        (p, 4096, 0, 0),
        (p, 4096, 99, 0),
        (p, 4096, 1, 8),
        (p + 512, 4096, 1, 0),
    ];
    for (address, size, kind, flags) in wrong {
        assert_eq!(dma_buf(address, size, kind, flags), Err(1));
    }
    assert_eq!(dma_buf(p, 1 << 20, 1, 0), Err(801));
    ok!(cuCtxDestroy(ctx));
}
