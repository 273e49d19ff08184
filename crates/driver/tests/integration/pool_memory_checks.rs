//! Pools under checks of memory: what a program does wrong with pooled memory is seen as with any other.
//!
//! Checks hold for the whole process, so this is a program of its own.

use crate::support::run_in_context;
use rtcg_driver::pool::DeviceMemoryPool;
use rtcg_driver::{Context, LaunchOptions, Module, check};

const PTX: &[u8] = include_bytes!("kernels.ptx");

/// What the launch of a kernel that scales `n` floats at `ptr` comes to.
fn launch_scale_and_wait(ptr: u64, n: u32) -> String {
    let module = Module::from_image(PTX).expect("the module loads");
    let function = module.function("scale").expect("the kernel exists");
    let mut arguments = ptr.to_ne_bytes().to_vec();
    arguments.extend(2.0_f32.to_ne_bytes());
    arguments.extend(n.to_ne_bytes());
    // SAFETY: what the kernel touches beside live memory is what the checks are there for.
    unsafe { function.launch_with_options([8, 1, 1], [32, 1, 1], 0, None, &arguments, LaunchOptions::default()) }
        .unwrap();
    Context::synchronize().err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn memory_checks_find_overruns_and_use_after_free_in_pools() {
    own_process!();
    if !crate::support::test_device().is_virtual() {
        return;
    }
    check::configure_checks(check::CheckSet::parse("memory").unwrap()).expect("there is no context yet");
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let memory = pool.allocate(996, None).unwrap();
        memory.write(0, &[0; 996]).unwrap();
        assert_eq!(launch_scale_and_wait(memory.ptr(), 249), "");
        // A block of the bin would have 1007 bytes.
        let error = launch_scale_and_wait(memory.ptr(), 250);
        assert!(error.contains("right past the end of a 996-byte allocation"), "{error}");
    });
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        drop(pool.allocate(0, None).unwrap());
        let memory = pool.allocate(1000, None).unwrap();
        let ptr = memory.ptr();
        drop(memory);
        let all = pool.statistics();
        assert_eq!((all.held_blocks, all.active_blocks, all.managed_bytes), (0, 0, 0));
        let error = launch_scale_and_wait(ptr, 1);
        assert!(error.contains("a 1000-byte allocation") && error.contains("which has been freed"), "{error}");
    });
}
