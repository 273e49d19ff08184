//! Memory that others own as an argument of launches: of a pool, registered by the program, of another process.

use crate::own_process::{is_child, rerun};
use rtcg::driver::RegisteredHostMemory;
use rtcg::driver::memory::mem_get_ipc_handle;
use rtcg::driver::pool::DeviceMemoryPool;
use rtcg::driver::{AlignedHostAllocation, DeviceAllocation, HostRegisterFlags, IpcMemory, IpcMemoryFlags};
use rtcg::prelude::*;
use std::io::{Read, Write};
use std::process::Stdio;

const TWICE: &str = "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }";

fn bytes_of(values: [f32; 4]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

#[test]
fn a_pooled_allocation_is_not_reused_before_the_launch_is_done() {
    let ctx = Context::new().unwrap();
    let (twice, stream) = (ctx.compile(TWICE).unwrap().function("twice").unwrap(), ctx.stream().unwrap());
    let pool = DeviceMemoryPool::new();
    let memory = ctx.with_current(|| pool.allocate(16, None)).unwrap();
    memory.write(0, &bytes_of([1.0, 2.0, 3.0, 4.0])).unwrap();
    // SAFETY: the kernel writes the four elements.
    unsafe { twice.launch(Grid::new(1, 4).stream(&stream), &[&memory]).unwrap() };
    assert!(memory.has_uses_in_other_streams(), "the pool was not told of the launch");
    let mut bytes = [0; 16];
    memory.read(0, &mut bytes).unwrap();
    assert_eq!(bytes[..], bytes_of([2.0, 4.0, 6.0, 8.0]));
    memory.free().unwrap();
    // SAFETY: it is refused.
    let error = unsafe { twice.launch(Grid::new(1, 4), &[&memory]).unwrap_err() };
    assert!(error.to_string().contains("freed"), "{error}");
}

#[test]
fn registered_memory_is_an_argument() {
    let ctx = Context::new().unwrap();
    let twice = ctx.compile(TWICE).unwrap().function("twice").unwrap();
    let memory = AlignedHostAllocation::new(4096, 4096).unwrap();
    let ones = bytes_of([1.0; 4]);
    // SAFETY: the memory has 4096 bytes, outlives what is registered, and is read when the kernel has run.
    let result = unsafe {
        memory.as_ptr().copy_from_nonoverlapping(ones.as_ptr(), ones.len());
        let flags = HostRegisterFlags::DEVICE_MAP | HostRegisterFlags::PORTABLE;
        let registered = ctx.with_current(|| RegisteredHostMemory::new(memory.as_ptr(), 4096, flags)).unwrap();
        twice.launch(Grid::new(1, 4), &[&registered]).unwrap();
        ctx.synchronize().unwrap();
        std::slice::from_raw_parts(memory.as_ptr(), 16).to_vec()
    };
    assert_eq!(result, bytes_of([2.0; 4]));
}

#[test]
fn memory_of_another_process_is_an_argument() {
    let ctx = Context::new().unwrap();
    let memory = ctx.with_current(|| DeviceAllocation::new(16)).unwrap();
    memory.write(0, &bytes_of([1.0, 2.0, 3.0, 4.0])).unwrap();
    ctx.synchronize().unwrap();
    let handle = match ctx.with_current(|| mem_get_ipc_handle(memory.ptr())) {
        Ok(handle) => handle,
        Err(error) if error.code == rtcg::driver::sys::CUresult::CUDA_ERROR_NOT_SUPPORTED => return,
        Err(error) => panic!("{error}"),
    };
    let mut child = rerun(module_path!(), "child_doubles_memory_of_its_parent");
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&handle).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut bytes = [0; 16];
    memory.read(0, &mut bytes).unwrap();
    assert_eq!(bytes[..], bytes_of([2.0, 4.0, 6.0, 8.0]));
}

#[test]
#[ignore = "a part of memory_of_another_process_is_an_argument"]
fn child_doubles_memory_of_its_parent() {
    if !is_child() {
        return;
    }
    let ctx = Context::new().unwrap();
    let twice = ctx.compile(TWICE).unwrap().function("twice").unwrap();
    let mut handle = [0; 64];
    std::io::stdin().read_exact(&mut handle).unwrap();
    let flags = IpcMemoryFlags::LAZY_ENABLE_PEER_ACCESS;
    let shared = ctx.with_current(|| IpcMemory::open_ipc_handle(handle, flags)).unwrap();
    // SAFETY: the kernel writes four elements, and the parent waits for this process.
    unsafe { twice.launch(Grid::new(1, 4), &[&shared]).unwrap() };
    ctx.synchronize().unwrap();
    shared.close().unwrap();
    // SAFETY: it is refused.
    let error = unsafe { twice.launch(Grid::new(1, 4), &[&shared]).unwrap_err() };
    assert!(error.to_string().contains("freed"), "{error}");
}
