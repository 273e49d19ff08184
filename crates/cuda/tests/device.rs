//! A CUDA device through the traits of `rtcg-hal`, on the first device that there is.

use rtcg_cuda::{CudaRuntime, current_stream, run_in_stream, with_allocator};
use rtcg_driver::{Context, Stream, StreamFlags};
use rtcg_hal::{Allocator, ArrayErrorKind, Device, Graphs, KernelText, LaunchArgs, PinnedReads};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCE: &str = "extern \"C\" __global__ void add(int *a, int b) { a[threadIdx.x] += b; }";

fn primary_context() -> Context {
    rtcg_driver::init(0).unwrap();
    rtcg_driver::Device::new(0).unwrap().retain_primary_context().unwrap()
}

fn arguments(address: u64, number: u32) -> LaunchArgs {
    let mut args = LaunchArgs::new();
    args.push_address(address, 0);
    args.push_u32(number);
    args
}

#[test]
fn kernels_and_copies_run_in_the_order_of_the_current_stream() {
    let ctx = primary_context();
    let device = CudaRuntime::new(&ctx).unwrap();
    let (memory, add) = (device.alloc(128).unwrap(), device.compile(&KernelText::new("add", SOURCE)).unwrap());
    let stream = ctx.with_current(|| Stream::new(StreamFlags::NON_BLOCKING)).unwrap();
    let address = memory.address_recording_use().unwrap();
    let read = || {
        let mut bytes = [0; 128];
        device.queue().read(&mut bytes, address).unwrap();
        i32::from_ne_bytes(bytes[124..].try_into().unwrap())
    };
    let launch = |number| device.queue().launch(&add, [1, 1, 1], [32, 1, 1], 0, arguments(address, number).view());
    device.queue().fill_zero(address, 128).unwrap();
    launch(5).unwrap();
    assert_eq!(read(), 5);
    run_in_stream(Some(&stream), || {
        assert!(current_stream().is_some());
        launch(6).unwrap();
        assert_eq!(read(), 11);
    });
    assert!(current_stream().is_none());
    let graph = device.record(&mut || launch(7)).unwrap();
    (0..2).for_each(|_| graph.launch().unwrap());
    let mut slot = device.read_slot(4).unwrap();
    slot.start(address).unwrap();
    assert_eq!(slot.wait().unwrap(), 25i32.to_ne_bytes());
    assert!(add.resident_blocks(32, 0).unwrap() >= device.device_info().multiprocessors);
}

#[test]
fn memory_comes_from_the_allocator_of_the_thread() {
    let device = Arc::new(CudaRuntime::new(&primary_context()).unwrap());
    let (asked, inner) = (Arc::new(AtomicUsize::new(0)), device.clone());
    let count = asked.clone();
    let allocator: Allocator = Arc::new(move |nbytes| {
        count.fetch_add(1, Ordering::Relaxed);
        inner.alloc_from(None, nbytes)
    });
    with_allocator(allocator, || device.alloc(64)).unwrap();
    device.alloc(64).unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn errors_of_the_compiler_are_found_again() {
    let device = CudaRuntime::new(&primary_context()).unwrap();
    let Err(error) = device.compile(&KernelText::new("wrong", "__global__ void wrong() { x; }")) else {
        panic!("it compiled")
    };
    assert_eq!(error.kind(), ArrayErrorKind::Runtime);
    assert!(error.downcast_source::<rtcg_compile::CompileError>().is_some(), "{error}");
}
