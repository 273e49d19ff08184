//! Memory that a program maps itself.

use super::support::{get_function, launch_and_wait, load_module, read_u32s};
use crate::api_common::new_context;
use rtcg_cuda_sys::*;
use std::ffi::c_int;

const TWO_MIB: usize = 2 << 20;

/// Writes the thread's index, and what it has read there before 64 words further.
const WRITE_PTX: &str = "
.visible .entry write(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd3+256], %r2; st.global.u32 [%rd3], %r1;
    ret;
}";

fn allocation_prop(handle_types: CUmemAllocationHandleType) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: handle_types,
        location: device_location(0),
        ..Default::default()
    }
}

fn device_location(id: c_int) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id }
}

fn create_allocation(bytes: usize) -> u64 {
    let mut handle = 0;
    let prop = allocation_prop(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    ok!(cuMemCreate(&raw mut handle, bytes, &raw const prop, 0));
    handle
}

fn reserve_addresses(bytes: usize) -> CUdeviceptr {
    let mut start = 0;
    ok!(cuMemAddressReserve(&raw mut start, bytes, 0, 0, 0));
    assert!(start.is_multiple_of(TWO_MIB as u64));
    start
}

fn set_access(start: CUdeviceptr, bytes: usize, flags: CUmemAccess_flags) -> Result<(), CUresult> {
    let wish = CUmemAccessDesc { location: device_location(0), flags };
    call!(cuMemSetAccess(start, bytes, &raw const wish, 1))
}

fn allow_read_write(start: CUdeviceptr, bytes: usize) {
    assert_eq!(set_access(start, bytes, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE), Ok(()));
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo(&raw mut free, &raw mut total));
    free
}

#[test]
fn the_same_memory_is_seen_at_all_its_addresses() {
    let ctx = new_context();
    for attribute in [102, 103] {
        let mut has = 0;
        ok!(cuDeviceGetAttribute(&raw mut has, CUdevice_attribute(attribute), 0));
        assert_eq!(has, 1);
    }
    let mut granularity = 0;
    let prop = allocation_prop(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
    let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    ok!(cuMemGetAllocationGranularity(&raw mut granularity, &raw const prop, minimum));
    assert_eq!(granularity, TWO_MIB);
    let (first, second) = (create_allocation(TWO_MIB), create_allocation(2 * TWO_MIB));
    let space = reserve_addresses(8 * TWO_MIB);
    let at = |n: usize| space + (n * TWO_MIB) as u64;
    // The second, then the first behind it, then the second again.
    ok!(cuMemMap(at(0), 2 * TWO_MIB, 0, second, 0));
    ok!(cuMemMap(at(2), TWO_MIB, 0, first, 0));
    ok!(cuMemMap(at(4), 2 * TWO_MIB, 0, second, 0));
    allow_read_write(at(0), 3 * TWO_MIB);
    allow_read_write(at(4), 2 * TWO_MIB);
    // Over the border of two mappings.
    ok!(cuMemsetD32(at(0), 7, 3 * TWO_MIB / 4));
    assert_eq!(launch_and_wait(get_function(load_module(WRITE_PTX), c"write"), 1, 64, &[at(4) + 4096]), Ok(()));
    let expected: Vec<u32> = (0..64).chain([7; 64]).collect();
    assert_eq!(read_u32s(at(0) + 4096, 128), expected);
    assert_eq!(read_u32s(at(2), 2), [7, 7]);
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange(&raw mut base, &raw mut size, at(2) + 8));
    assert_eq!((base, size), (at(2), TWO_MIB));

    // What is unmapped keeps its contents, and is somewhere else then.
    ok!(cuMemUnmap(at(0), 3 * TWO_MIB));
    let mut word = 0_u32;
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH((&raw mut word).cast(), at(2), 4));
    ok!(cuMemMap(at(7), TWO_MIB, 0, first, 0));
    allow_read_write(at(7), TWO_MIB);
    assert_eq!(read_u32s(at(7), 1), [7]);
    ok!(cuMemUnmap(at(4), 2 * TWO_MIB));
    ok!(cuMemUnmap(at(7), TWO_MIB));
    ok!(cuMemRelease(first));
    ok!(cuMemRelease(second));
    ok!(cuMemAddressFree(space, 8 * TWO_MIB));
    ok!(cuCtxDestroy(ctx));
}

/// What pointer attributes and queries tell of mapped memory: access, handles, and the reservation as its range.
#[test]
fn mapped_memory_tells_what_it_is() {
    use CUpointer_attribute as A;
    let ctx = new_context();
    let (space, unit) = (reserve_addresses(6 * TWO_MIB), TWO_MIB as u64);
    let (shared, other) = (create_allocation(TWO_MIB), create_allocation(2 * TWO_MIB));
    ok!(cuMemMap(space, TWO_MIB, 0, shared, 0));
    ok!(cuMemMap(space + unit, 2 * TWO_MIB, 0, other, 0));
    let told = |attribute: A, address: u64| {
        let mut value = 0_u64;
        ok!(cuPointerGetAttribute((&raw mut value).cast(), attribute, address));
        value
    };
    let range = |address| {
        let (mut base, mut size) = (0, 0);
        call!(cuMemGetAddressRange(&raw mut base, &raw mut size, address)).map(|()| (base - space, size))
    };
    let access = |address| {
        let (mut flags, location) = (9, device_location(0));
        (call!(cuMemGetAccess(&raw mut flags, &raw const location, address)).is_ok(), flags)
    };
    // Nobody may use it yet: no call finds a range, but it is known.
    assert_eq!(range(space + 5), Err(CUresult::CUDA_ERROR_NOT_FOUND));
    assert_eq!([A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, A::CU_POINTER_ATTRIBUTE_MAPPED].map(|a| told(a, space)), [2, 1]);
    allow_read_write(space, TWO_MIB);
    assert_eq!(set_access(space + unit, 2 * TWO_MIB, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ), Ok(()));
    assert_eq!([space, space + unit, space + 3 * unit].map(access), [(true, 3), (true, 1), (false, 0)]);
    assert_eq!([range(space), range(space + 2 * unit)], [Ok((0, TWO_MIB)), Ok((unit, 2 * TWO_MIB))]);
    assert_eq!([space, space + 2 * unit].map(|p| told(A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p)), [3, 1]);
    assert_eq!(
        [
            told(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, space + 2 * unit),
            told(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, space)
        ],
        [space, 6 * unit]
    );
    assert_eq!(told(A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, space + 2 * unit), space + unit);
    assert_eq!(told(A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, space), 1);
    // An import was made for no kind of handle.
    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let (mut fd, mut imported, mut prop) = (0, 0, CUmemAllocationProp::default());
    ok!(cuMemExportToShareableHandle((&raw mut fd).cast(), shared, kind, 0));
    ok!(cuMemImportFromShareableHandle(&raw mut imported, std::ptr::without_provenance_mut(fd as usize), kind));
    ok!(cuMemGetAllocationPropertiesFromHandle(&raw mut prop, imported));
    assert_eq!(prop.requestedHandleTypes.0, 0);
    ok!(cuMemUnmap(space, 6 * TWO_MIB));
    [shared, other, imported].iter().for_each(|&handle| ok!(cuMemRelease(handle)));
    ok!(cuMemAddressFree(space, 6 * TWO_MIB));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn kernels_fault_where_nothing_is_mapped_or_allowed() {
    const ILLEGAL_ADDRESS: Result<(), CUresult> = Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let memory = {
        let ctx = new_context();
        let memory = create_allocation(TWO_MIB);
        ok!(cuCtxDestroy(ctx));
        memory
    };
    let space = reserve_addresses(4 * TWO_MIB);
    ok!(cuMemMap(space, TWO_MIB, 0, memory, 0));
    let attempt = |at| {
        let ctx = new_context();
        let outcome = launch_and_wait(get_function(load_module(WRITE_PTX), c"write"), 1, 64, &[at]);
        let _ = call!(cuCtxDestroy(ctx));
        outcome
    };
    assert_eq!(attempt(space), ILLEGAL_ADDRESS);
    allow_read_write(space, TWO_MIB);
    assert_eq!(attempt(space), Ok(()));
    assert_eq!(attempt(space + TWO_MIB as u64), ILLEGAL_ADDRESS);
    assert_eq!(set_access(space, TWO_MIB, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE), Ok(()));
    assert_eq!(attempt(space), ILLEGAL_ADDRESS);
    allow_read_write(space, TWO_MIB);
    let _ = call!(cuMemUnmap(space, TWO_MIB));
    assert_eq!(attempt(space), ILLEGAL_ADDRESS);
    ok!(cuMemRelease(memory));
    ok!(cuMemAddressFree(space, 4 * TWO_MIB));
}

#[test]
fn memory_lives_as_long_as_a_handle_or_a_mapping() {
    let ctx = new_context();
    let space = reserve_addresses(TWO_MIB);
    let memory = create_allocation(TWO_MIB);
    ok!(cuMemMap(space, TWO_MIB, 0, memory, 0));
    allow_read_write(space, TWO_MIB);
    ok!(cuMemsetD32(space, 5, 4));
    ok!(cuMemRelease(memory));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemRelease(memory));
    assert_eq!(read_u32s(space, 1), [5]);
    let mut again = 0;
    ok!(cuMemRetainAllocationHandle(&raw mut again, std::ptr::without_provenance_mut(space as usize + 100)));
    ok!(cuMemUnmap(space, TWO_MIB));
    ok!(cuMemMap(space, TWO_MIB, 0, again, 0));
    let mut flags = 9;
    let location = device_location(0);
    ok!(cuMemGetAccess(&raw mut flags, &raw const location, space));
    assert_eq!(flags, 0);
    allow_read_write(space, TWO_MIB);
    ok!(cuMemGetAccess(&raw mut flags, &raw const location, space));
    assert_eq!((flags, read_u32s(space, 1)), (3, vec![5]));

    // Through a file descriptor it is the same memory.
    let (mut fd, mut imported) = (0, 0);
    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ok!(cuMemExportToShareableHandle((&raw mut fd).cast(), again, kind, 0));
    let as_pointer = |fd: c_int| std::ptr::without_provenance_mut(fd as usize);
    ok!(cuMemImportFromShareableHandle(&raw mut imported, as_pointer(fd), kind));
    let other = reserve_addresses(TWO_MIB);
    ok!(cuMemMap(other, TWO_MIB, 0, imported, 0));
    allow_read_write(other, TWO_MIB);
    ok!(cuMemsetD32(other, 6, 4));
    assert_eq!(read_u32s(space, 1), [6]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&raw mut imported, as_pointer(0), kind));
    for start in [space, other] {
        ok!(cuMemUnmap(start, TWO_MIB));
        ok!(cuMemAddressFree(start, TWO_MIB));
    }
    ok!(cuMemRelease(again));
    ok!(cuMemRelease(imported));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn wrong_ranges_and_handles_are_errors() {
    let ctx = new_context();
    let (mut address, mut handle) = (0, 0);
    let plain = allocation_prop(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&raw mut address, 4096, 0, 0, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&raw mut address, 0, 0, 0, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&raw mut handle, 4096, &raw const plain, 0));
    let free = free_bytes().next_multiple_of(TWO_MIB);
    fails!(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&raw mut handle, free * 2, &raw const plain, 0));
    let fabric = allocation_prop(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC);
    fails!(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&raw mut handle, TWO_MIB, &raw const fabric, 0));

    let space = reserve_addresses(4 * TWO_MIB);
    let memory = create_allocation(2 * TWO_MIB);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + 4096, TWO_MIB, 0, memory, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + 3 * TWO_MIB as u64, 2 * TWO_MIB, 0, memory, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemMap(space, TWO_MIB, 0, memory + 16, 0));
    ok!(cuMemMap(space, 2 * TWO_MIB, 0, memory, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + TWO_MIB as u64, 2 * TWO_MIB, 0, memory, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(space, TWO_MIB));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(space, 4 * TWO_MIB));
    ok!(cuMemUnmap(space, 2 * TWO_MIB));
    ok!(cuMemRelease(memory));
    ok!(cuMemAddressFree(space, 4 * TWO_MIB));
    // Memory that is mapped by the program goes to other processes as a file.
    let mut handle = CUipcMemHandle::default();
    fails!(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&raw mut handle, space));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn what_was_advised_about_managed_memory_can_be_asked() {
    let ctx = new_context();
    let mut p = 0;
    ok!(cuMemAllocManaged(&raw mut p, 8192, 1));
    let get = |attribute, at: u64, count| {
        let mut value = 77;
        let outcome =
            call!(cuMemRangeGetAttribute((&raw mut value).cast(), 4, CUmem_range_attribute(attribute), at, count));
        outcome.map(|()| value)
    };
    assert_eq!([1, 2, 4].map(|a| get(a, p, 8192)), [Ok(0), Ok(CU_DEVICE_INVALID), Ok(CU_DEVICE_INVALID)]);
    ok!(cuMemAdvise(p, 4096, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, device_location(0)));
    ok!(cuMemAdvise_v1(p, 8192, CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    ok!(cuMemAdvise(p + 4096, 4096, CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, device_location(0)));
    ok!(cuMemPrefetchAsync(p, 8192, device_location(0), 0, CUstream::null()));
    assert_eq!((get(1, p, 4096), get(1, p, 8192)), (Ok(1), Ok(0)));
    assert_eq!((get(2, p, 8192), get(5, p, 8192)), (Ok(CU_DEVICE_CPU), Ok(2)));
    assert_eq!([4, 7, 8].map(|a| get(a, p, 8192)), [Ok(0), Ok(1), Ok(0)]);
    let mut users = [7; 2];
    let (mut places, mut sizes) = ([users.as_mut_ptr().cast()], [8]);
    let mut attributes = [CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY];
    let (places, sizes, attributes) = (places.as_mut_ptr(), sizes.as_mut_ptr(), attributes.as_mut_ptr());
    ok!(cuMemRangeGetAttributes(places, sizes, attributes, 1, p + 4096, 4096));
    assert_eq!(users, [0, CU_DEVICE_INVALID]);
    ok!(cuMemRangeGetAttributes(places, sizes, attributes, 1, p, 8192));
    assert_eq!(users, [CU_DEVICE_INVALID; 2]);
    // Advice is about whole pages, and only some kinds of it ask for the device.
    ok!(cuMemAdvise(p, 8192, CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY, device_location(0)));
    assert_eq!(get(1, p, 4096), Ok(0));
    ok!(cuMemAdvise_v1(p + 5, 100, CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, 7));
    assert_eq!((get(1, p, 4096), get(1, p + 4096, 4096)), (Ok(1), Ok(0)));
    let preferred = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    fails!(CUDA_ERROR_INVALID_DEVICE, cuMemAdvise_v1(p, 4096, preferred, 7));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemAdvise(p, 4096, preferred, device_location(7)));
    let mut node = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, id: 0 };
    ok!(cuMemPrefetchAsync(p, 8192, node, 0, CUstream::null()));
    assert_eq!([4, 7, 8].map(|a| get(a, p, 8192)), [Ok(CU_DEVICE_CPU), Ok(3), Ok(0)]);
    node.id = 7;
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPrefetchAsync(p, 8192, node, 0, CUstream::null()));
    // Users are listed with the CPU at the end; a place that is not known has no number.
    let used = CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY;
    ok!(cuMemAdvise_v1(p, 8192, used, CU_DEVICE_CPU));
    ok!(cuMemAdvise_v1(p, 8192, used, 0));
    ok!(cuMemRangeGetAttributes(places, sizes, attributes, 1, p, 8192));
    assert_eq!(users, [0, CU_DEVICE_CPU]);
    ok!(cuMemAdvise_v1(p, 8192, CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 7));
    assert_eq!([2, 5, 6].map(|a| get(a, p, 8192)), [Ok(CU_DEVICE_INVALID), Ok(0), Ok(CU_DEVICE_INVALID)]);
    assert_eq!(get(9, p, 4096), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    ok!(cuMemFree(p));
    assert_eq!(get(1, p, 4096), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn mappings_are_whole_and_may_be_read_only() {
    const READ_PTX: &str = "
.visible .entry read(.param .u64 p) { .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p]; ld.volatile.global.u32 %r, [%d]; ret; }
.visible .entry store(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }";
    let _ctx = new_context();
    let memory = create_allocation(2 * TWO_MIB);
    let space = reserve_addresses(4 * TWO_MIB);
    for (bytes, offset) in [(TWO_MIB, 0), (TWO_MIB, TWO_MIB), (4 * TWO_MIB, 0), (2 * TWO_MIB, 1)] {
        fails!(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(space, bytes, offset, memory, 0));
    }
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemMap(space + 4096, 2 * TWO_MIB, 0, memory, 0));
    ok!(cuMemMap(space, 2 * TWO_MIB, 0, memory, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(space, TWO_MIB));
    assert_eq!(set_access(space, 2 * TWO_MIB, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ), Ok(()));
    let (mut flags, location) = (0, device_location(0));
    ok!(cuMemGetAccess(&raw mut flags, &raw const location, space));
    assert_eq!(flags, 1);
    let module = load_module(READ_PTX);
    assert_eq!(launch_and_wait(get_function(module, c"read"), 1, 1, &[space]), Ok(()));
    assert_eq!(read_u32s(space, 1), [0]);
    let outcome = launch_and_wait(get_function(module, c"store"), 1, 1, &[space]);
    assert_eq!(outcome, Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
}

#[test]
fn unmapping_twice_is_allowed_and_memory_may_be_the_hosts() {
    let ctx = new_context();
    let mut prop = allocation_prop(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE);
    prop.location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, id: 0 };
    let (free, mut memory) = (free_bytes(), 0);
    ok!(cuMemCreate(&raw mut memory, TWO_MIB, &raw const prop, 0));
    assert_eq!(free_bytes(), free);
    let mut told = CUmemAllocationProp::default();
    ok!(cuMemGetAllocationPropertiesFromHandle(&raw mut told, memory));
    assert_eq!(told.location.type_, CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST);
    let space = reserve_addresses(2 * TWO_MIB);
    ok!(cuMemMap(space, TWO_MIB, 0, memory, 0));
    allow_read_write(space, TWO_MIB);
    ok!(cuMemsetD32(space, 3, 4));
    ok!(cuMemUnmap(space, TWO_MIB));
    ok!(cuMemUnmap(space, 2 * TWO_MIB));
    ok!(cuMemRelease(memory));
    for (handles, code) in [(2, CUresult::CUDA_ERROR_INVALID_VALUE), (8, CUresult::CUDA_ERROR_NOT_PERMITTED)] {
        let prop = allocation_prop(CUmemAllocationHandleType(handles));
        assert_eq!(call!(cuMemCreate(&raw mut memory, TWO_MIB, &raw const prop, 0)), Err(code));
    }
    ok!(cuMemAddressFree(space, 2 * TWO_MIB));
    ok!(cuCtxDestroy(ctx));
}
