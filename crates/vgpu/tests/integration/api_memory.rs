//! Memory, copies and pools through the driver table.

use std::ffi::c_void;

use crate::api_common::*;
use rtcg_cuda_sys::*;

fn copy_to_device<T: Copy>(dst: CUdeviceptr, src: &[T]) {
    ok!(cuMemcpyHtoD(dst, src.as_ptr().cast(), size_of_val(src)));
}

fn copy_to_host<T: Copy + Default>(src: CUdeviceptr, n: usize) -> Vec<T> {
    let mut host = vec![T::default(); n];
    ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), src, n * size_of::<T>()));
    host
}

#[test]
fn round_trips_of_many_sizes() {
    let ctx = new_context();
    for n in [1, 3, 255, 256, 4095, 65_537, 1 << 20, (40 << 20) + 12_345] {
        let data: Vec<u8> = (0..n).map(|i: usize| (i * 7 + i / 256) as u8).collect();
        let (a, b) = (alloc(n), alloc(n));
        copy_to_device(a, &data);
        ok!(cuMemcpyDtoD(b, a, n));
        assert!(copy_to_host::<u8>(b, n) == data);
        ok!(cuMemFree(a));
        ok!(cuMemFree(b));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn wrong_ranges_are_errors_and_nothing_else() {
    let ctx = new_context();
    let mut host = [0_u8; 64];
    let p = alloc(64);
    let h = host.as_mut_ptr().cast::<c_void>();
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(h, p, 65));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(h, p + 1, 64));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(h, 0, 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(h, 0x1234, 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, h, usize::MAX));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, std::ptr::null(), 4));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(u64::MAX - 3, h, 16));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(p, p + 32, 64));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 0, 4));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 0, 17));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 0, usize::MAX));
    ok!(cuMemcpyDtoH(h, p, 0));
    ok!(cuMemFree(p));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(h, p, 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    let mut q = 7;
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&raw mut q, 0));
    fails!(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&raw mut q, 1 << 60));
    // The context is not poisoned by any of this.
    ok!(cuCtxSynchronize());
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn memsets_of_every_width() {
    let ctx = new_context();
    let p = alloc(4096);
    ok!(cuMemsetD8(p, 0xab, 4096));
    assert!(copy_to_host::<u8>(p, 4096).iter().all(|&b| b == 0xab));
    ok!(cuMemsetD16(p + 2, 0x1234, 7));
    ok!(cuMemsetD32(p + 64, 0xdead_beef, 3));
    let words: Vec<u16> = copy_to_host(p, 40);
    assert_eq!((words[0], words[1], words[7], words[8]), (0xabab, 0x1234, 0x1234, 0xabab));
    assert_eq!(copy_to_host::<u32>(p + 60, 5), [0xabab_abab, 0xdead_beef, 0xdead_beef, 0xdead_beef, 0xabab_abab]);
    ok!(cuMemsetD2D8(p, 64, 1, 3, 4));
    let bytes: Vec<u8> = copy_to_host(p, 256);
    assert_eq!((bytes[2], bytes[64], bytes[66], bytes[67]), (1, 1, 1, 0xde));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(p, 2, 1, 3, 4));
    ok!(cuMemFree(p));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn copies_of_rectangles_and_boxes() {
    let ctx = new_context();
    let (width, height, depth) = (5_usize, 4_usize, 3_usize);
    let (mut p, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch(&raw mut p, &raw mut pitch, width * 4, height * depth, 4));
    assert!(pitch >= width * 4 && pitch.is_multiple_of(256));
    let data: Vec<u32> = (0..(width * height * depth) as u32).collect();
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: data.as_ptr().cast(),
        srcPitch: width * 4,
        srcHeight: height,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: p,
        dstPitch: pitch,
        dstHeight: height,
        WidthInBytes: width * 4,
        Height: height,
        Depth: depth,
        ..Default::default()
    };
    ok!(cuMemcpy3D(&raw const copy));
    assert_eq!(copy_to_host::<u32>(p + (2 * height * pitch + 3 * pitch) as u64, 5), data[55..60]);

    // A 2 x 2 corner out of the middle slice.
    let mut corner = [0_u32; 4];
    let copy = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        srcDevice: p + (height * pitch) as u64,
        srcPitch: pitch,
        srcXInBytes: 4,
        srcY: 1,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: corner.as_mut_ptr().cast(),
        dstPitch: 8,
        WidthInBytes: 8,
        Height: 2,
        ..Default::default()
    };
    ok!(cuMemcpy2D(&raw const copy));
    assert_eq!(corner, [26, 27, 31, 32]);
    let outside = CUDA_MEMCPY2D { Height: 9, ..copy };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy2DUnaligned(&raw const outside));
    // Rows end within their pitch, and slices within their height, also where only one is copied.
    let shifted = CUDA_MEMCPY2D { srcPitch: 8, ..copy };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&raw const shifted));
    let mut rows = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: p,
        srcPitch: 8,
        srcHeight: 1,
        srcXInBytes: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: corner.as_mut_ptr().cast(),
        dstPitch: 4,
        dstHeight: 1,
        WidthInBytes: 4,
        Height: 1,
        Depth: 2,
        ..Default::default()
    };
    ok!(cuMemcpy3D(&raw const rows));
    assert_eq!(corner[..2], [1, 3]);
    // Only arrays have levels of detail.
    rows.srcLOD = 1;
    ok!(cuMemcpy3D(&raw const rows));
    rows.srcPitch = 7;
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&raw const rows));
    let low = CUDA_MEMCPY3D { srcPitch: 8, srcY: 1, Depth: 1, ..rows };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&raw const low));
    let narrow = CUDA_MEMCPY2D { srcPitch: 7, ..copy };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&raw const narrow));
    ok!(cuMemFree(p));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn arrays_hold_what_is_copied_to_them() {
    let ctx = new_context();
    let description =
        CUDA_ARRAY_DESCRIPTOR { Width: 6, Height: 5, Format: CUarray_format::CU_AD_FORMAT_FLOAT, NumChannels: 2 };
    let mut array = CUarray::null();
    ok!(cuArrayCreate(&raw mut array, &raw const description));
    let mut told = CUDA_ARRAY_DESCRIPTOR::default();
    ok!(cuArrayGetDescriptor(&raw mut told, array));
    assert_eq!((told.Width, told.Height, told.NumChannels), (6, 5, 2));
    let data: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let fill = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: data.as_ptr().cast(),
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        WidthInBytes: 48,
        Height: 5,
        ..Default::default()
    };
    ok!(cuMemcpy2D(&raw const fill));
    // Copies that count bytes reach the first row.
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA(array, 0, data.as_ptr().cast(), 240));
    ok!(cuMemcpyHtoA(array, 0, data.as_ptr().cast(), 48));
    // Rows 1 and 2, elements 2 to 4.
    let mut part = [0.0_f32; 12];
    let copy = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: array,
        srcXInBytes: 16,
        srcY: 1,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: part.as_mut_ptr().cast(),
        dstPitch: 24,
        WidthInBytes: 24,
        Height: 2,
        ..Default::default()
    };
    ok!(cuMemcpy2D(&raw const copy));
    assert_eq!(part, [16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 28.0, 29.0, 30.0, 31.0, 32.0, 33.0]);
    let outside = CUDA_MEMCPY2D { srcY: 4, ..copy };
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&raw const outside));
    let p = alloc(8);
    ok!(cuMemcpyAtoD(p, array, 40, 8));
    assert_eq!(copy_to_host::<f32>(p, 2), [10.0, 11.0]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyAtoD(p, array, 41, 8));
    ok!(cuArrayDestroy(array));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuMemcpyAtoD(p, array, 0, 8));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuMemcpy2D(&raw const copy));
    let strange = CUDA_ARRAY_DESCRIPTOR { NumChannels: 3, ..description };
    fails!(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&raw mut array, &raw const strange));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn page_locked_and_registered_memory() {
    let ctx = new_context();
    let mut host = std::ptr::null_mut();
    ok!(cuMemHostAlloc(&raw mut host, 1000, CU_MEMHOSTALLOC_PORTABLE));
    let mut device = 0;
    ok!(cuMemHostGetDevicePointer(&raw mut device, host, 0));
    assert_eq!(device, host.addr() as u64);
    let mut flags = 0;
    ok!(cuMemHostGetFlags(&raw mut flags, host));
    assert_eq!(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(host, 100, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(host));
    // SAFETY: page-locked memory is ordinary memory of the process.
    unsafe { host.cast::<u8>().write_bytes(3, 1000) };
    ok!(cuMemsetD8(device, 5, 10));
    // SAFETY: a thousand bytes of page-locked memory are alive and written.
    assert_eq!(unsafe { (host.cast::<u8>().read(), host.cast::<u8>().add(10).read()) }, (5, 3));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFree(device));
    ok!(cuMemFreeHost(host));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(host));

    let mut own = vec![0_u8; 5000];
    let p = own.as_mut_ptr().cast::<c_void>();
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p.addr() as u64, 1, 1));
    ok!(cuMemHostRegister(p, 5000, 0));
    fails!(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(p, 10, 0));
    ok!(cuMemsetD8(p.addr() as u64, 9, 5000));
    ok!(cuCtxSynchronize());
    assert!(rtcg_vgpu_exec::host_ranges::is_registered(p.addr() as u64 + 4990, 10));
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange(&raw mut base, &raw mut size, p.addr() as u64 + 100));
    assert_eq!((base, size), (p.addr() as u64, 5000));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(p.wrapping_byte_add(4)));
    ok!(cuMemHostUnregister(p));
    fails!(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(p));
    assert!(own.iter().all(|&b| b == 9));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(std::ptr::without_provenance_mut(0x10_0000_1000), 4096, 0));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn pointers_tell_what_they_are() {
    let ctx = new_context();
    let (p, mut managed) = (alloc(1000), 0);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&raw mut managed, 64, 0));
    ok!(cuMemAllocManaged(&raw mut managed, 64, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0));
    let mut kind = CUmemorytype(0);
    ok!(cuPointerGetAttribute((&raw mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 5));
    assert_eq!(kind, CUmemorytype::CU_MEMORYTYPE_DEVICE);
    let mut owner = CUcontext::null();
    ok!(cuPointerGetAttribute((&raw mut owner).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT, p));
    assert_eq!(owner, ctx);
    let mut is_managed = 9_u32;
    ok!(cuPointerGetAttribute(
        (&raw mut is_managed).cast(),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
        managed
    ));
    assert_eq!(is_managed, 1);
    let mut is_synchronous = 9_u32;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    ok!(cuPointerGetAttribute((&raw mut is_synchronous).cast(), attribute, managed));
    assert_eq!(is_synchronous, 1);
    // The mapping is the blocks of 2 MiB that the allocation lies in.
    let mut mapping = [0_u64; 2];
    for (place, attribute) in mapping.iter_mut().zip([
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
    ]) {
        ok!(cuPointerGetAttribute((&raw mut *place).cast(), attribute, p + 999));
    }
    assert_eq!(mapping, [p & !((2 << 20) - 1), 2 << 20]);
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange(&raw mut base, &raw mut size, p + 999));
    assert_eq!((base, size), (p, 1000));
    fails!(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&raw mut base, &raw mut size, 0x1000));
    fails!(
        CUDA_ERROR_INVALID_VALUE,
        cuPointerGetAttribute((&raw mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1000)
    );
    let mut attributes = [
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    ];
    let (mut t, mut d) = (7_u32, 7_u64);
    let mut places = [(&raw mut t).cast::<c_void>(), (&raw mut d).cast()];
    ok!(cuPointerGetAttributes(2, attributes.as_mut_ptr(), places.as_mut_ptr(), 0x1000));
    assert_eq!((t, d), (0, 0));
    ok!(cuMemFree(managed));
    ok!(cuMemFree(p));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_context_takes_its_memory_along() {
    let outer = new_context();
    let mut before = 0;
    ok!(cuMemGetInfo(&raw mut before, std::ptr::null_mut()));
    let ctx = new_context();
    let big = alloc(32 << 20);
    let _small = alloc(10);
    ok!(cuCtxDestroy(ctx));
    let (mut base, mut size) = (0, 0);
    fails!(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&raw mut base, &raw mut size, big));
    ok!(cuCtxDestroy(outer));
}

/// Pools of the host, of managed memory, and who may use what.
#[test]
fn pools_of_all_kinds() {
    use CUmemLocationType as T;
    let ctx = new_context();
    let create = |kind: u32, location: T, id, handles: u32| {
        let props = CUmemPoolProps {
            allocType: CUmemAllocationType(kind),
            handleTypes: CUmemAllocationHandleType(handles),
            location: CUmemLocation { type_: location, id },
            ..Default::default()
        };
        let mut pool = CUmemoryPool::null();
        call!(cuMemPoolCreate(&raw mut pool, &raw const props)).map(|()| pool)
    };
    let (device, host) = (T::CU_MEM_LOCATION_TYPE_DEVICE, T::CU_MEM_LOCATION_TYPE_HOST);
    let refused = CUresult::CUDA_ERROR_INVALID_VALUE;
    let wrong =
        [(0, device, 0, 0), (1, device, 7, 0), (1, device, -1, 0), (1, T(0), 0, 0), (1, T(5), 0, 0), (1, device, 0, 2)];
    for (kind, location, id, handles) in wrong {
        assert_eq!(create(kind, location, id, handles), Err(refused));
    }
    let types = [
        (1, device, CUmemorytype::CU_MEMORYTYPE_DEVICE),
        (2, device, CUmemorytype::CU_MEMORYTYPE_DEVICE),
        (1, host, CUmemorytype::CU_MEMORYTYPE_HOST),
    ];
    for (kind, location, expected) in types {
        let pool = create(kind, location, 0, 0).unwrap();
        let (mut p, mut found) = (0, CUmemorytype(0));
        ok!(cuMemAllocFromPoolAsync(&raw mut p, 4096, pool, CUstream::null()));
        ok!(cuMemsetD8(p, 1, 4096));
        ok!(cuPointerGetAttribute((&raw mut found).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
        assert_eq!(found, expected);
        ok!(cuMemFreeAsync(p, CUstream::null()));
        ok!(cuMemPoolDestroy(pool));
    }
    let pool = create(1, device, 0, 8).unwrap();
    let set = |type_, id, flags| {
        let right = CUmemAccessDesc { location: CUmemLocation { type_, id }, flags: CUmemAccess_flags(flags) };
        call!(cuMemPoolSetAccess(pool, &raw const right, 1)).map_err(|code| code.0)
    };
    assert_eq!([0, 1, 2, 3].map(|flags| set(device, 0, flags)), [Err(101), Err(801), Err(1), Ok(())]);
    assert_eq!([0, 1, 2, 3].map(|flags| set(device, 7, flags)), [Err(101), Err(801), Err(101), Err(101)]);
    assert_eq!([0, 1, 2, 3].map(|flags| set(host, 0, flags)), [Err(801); 4]);
    let get = |type_, id| {
        let (mut flags, mut location) = (CUmemAccess_flags(9), CUmemLocation { type_, id });
        call!(cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location)).map(|()| flags.0)
    };
    assert_eq!(
        [get(device, 0), get(device, 7), get(host, 0), get(T(0), 0)],
        [Ok(3), Err(refused), Ok(0), Err(refused)]
    );
    // Managed memory is freed in order of a stream only if a pool gave it.
    let mut managed = 0;
    ok!(cuMemAllocManaged(&raw mut managed, 64, 1));
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuMemFreeAsync(managed, CUstream::null()));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn stream_ordered_memory_and_pools() {
    let ctx = new_context();
    let s = new_stream(CUstream_flags::CU_STREAM_NON_BLOCKING.0);
    let mut p = 0;
    ok!(cuMemAllocAsync(&raw mut p, 1 << 20, s));
    ok!(cuMemsetD8Async(p, 4, 1 << 20, s));
    ok!(cuMemFreeAsync(p, s));
    ok!(cuStreamSynchronize(s));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));

    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 },
        maxSize: 1 << 20,
        ..Default::default()
    };
    let mut pool = CUmemoryPool::null();
    ok!(cuMemPoolCreate(&raw mut pool, &raw const props));
    ok!(cuMemAllocFromPoolAsync(&raw mut p, 600 << 10, pool, s));
    // A limit is one of whole pieces of 32 MiB.
    let mut q = 0;
    fails!(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&raw mut q, 32 << 20, pool, s));
    let mut owner = ctx;
    ok!(cuPointerGetAttribute((&raw mut owner).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT, p));
    assert!(owner.is_null());
    let mut used = 0_u64;
    ok!(cuMemPoolGetAttribute(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, (&raw mut used).cast()));
    assert_eq!(used, 600 << 10);
    let reserved = || {
        let mut bytes = 0_u64;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        ok!(cuMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast()));
        bytes
    };
    assert_eq!(reserved(), 32 << 20);
    ok!(cuMemFreeAsync(p, s));
    ok!(cuStreamSynchronize(s));
    assert_eq!(reserved(), 0);
    ok!(cuMemPoolGetAttribute(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, (&raw mut used).cast()));
    assert_eq!(used, 0);
    // Switches are told as 0 or 1.
    let (reuse, mut switch) = (CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 5_i32);
    ok!(cuMemPoolSetAttribute(pool, reuse, (&raw mut switch).cast()));
    ok!(cuMemPoolGetAttribute(pool, reuse, (&raw mut switch).cast()));
    assert_eq!(switch, 1);
    ok!(cuMemPoolDestroy(pool));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    ok!(cuDeviceGetDefaultMemPool(&raw mut pool, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
    ok!(cuCtxDestroy(ctx));
}
