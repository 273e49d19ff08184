//! Pools, memory in stream order, virtual memory management, and what errors about memory say, on
//! whatever device is first (`RTCG_TEST_DEVICE` picks another).

mod staging;
mod unused_pool_memory;

use crate::support::{run_in_context, test_device};
use rtcg_driver::memory::*;
use rtcg_driver::pool::*;
use rtcg_driver::sys::*;
use rtcg_driver::{Context, ErrorKind, HostAllocFlags, Stream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Keeps a stream busy until it is opened.
struct StreamGate(Arc<AtomicBool>);

impl StreamGate {
    fn block_stream(stream: &Stream) -> Self {
        extern "C" fn wait_for_flag(flag: *mut c_void) {
            // SAFETY: the pointer is the leaked reference below.
            let flag = unsafe { Arc::from_raw(flag.cast::<AtomicBool>()) };
            let start = Instant::now();
            while !flag.load(Ordering::Acquire) && start.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        let flag = Arc::new(AtomicBool::new(false));
        let leaked = Arc::into_raw(flag.clone()).cast_mut().cast();
        let table = stream.context().driver_table();
        // SAFETY: the stream is alive, and the function takes over the reference.
        let code = unsafe { table.cuLaunchHostFunc(stream.handle(), Some(wait_for_flag), leaked) };
        assert!(code.is_success());
        Self(flag)
    }

    fn open_gate(self) {
        self.0.store(true, Ordering::Release);
    }
}

fn new_non_blocking_stream() -> Stream {
    Stream::new(CU_STREAM_NON_BLOCKING.0).unwrap()
}

// -- pools ------------------------------------------------------------------------------------

#[test]
fn a_pool_hands_the_same_block_out_again() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let first = pool.allocate(1000, None).unwrap();
        let (ptr, other) = (first.ptr(), pool.allocate(1000, None).unwrap());
        assert_ne!(ptr, other.ptr());
        first.write(0, &[5; 1000]).unwrap();
        drop(first);
        // 1008 is in the same bin, 1024 is not.
        let again = pool.allocate(1008, None).unwrap();
        assert_eq!((again.ptr(), again.nbytes()), (ptr, 1008));
        let mut back = [0; 1000];
        again.read(0, &mut back).unwrap();
        assert_eq!(back, [5; 1000]);
        assert!(again.read(9, &mut back).unwrap_err().to_string().contains("1000 bytes at 9 are outside 1008 bytes"));
        let larger = pool.allocate(1024, None).unwrap();
        assert_ne!(larger.ptr(), ptr);
        let all = pool.statistics();
        assert_eq!((all.active_blocks, all.held_blocks), (3, 0));
        assert_eq!((all.active_bytes, all.managed_bytes), (1000 + 1008 + 1024, 1023 + 1023 + 1087));
        drop((again, other, larger));
        let all = pool.statistics();
        assert_eq!((all.active_blocks, all.held_blocks, all.active_bytes), (0, 3, 0));
        assert_eq!((all.peak_active_bytes, all.peak_managed_bytes), (3032, all.managed_bytes));
        assert_eq!((all.n_allocations, all.n_reused, all.n_taken, all.n_returned), (4, 1, 3, 0));
        pool.free_held();
        let all = pool.statistics();
        assert_eq!((all.held_blocks, all.managed_bytes, all.n_returned), (0, 0, 3));
    });
}

#[test]
fn freeing_twice_is_an_error_and_stopped_pools_hold_nothing() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let memory = pool.allocate(0, None).unwrap();
        assert_eq!(memory.nbytes(), 0);
        memory.free().unwrap();
        let error = memory.free().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Logic);
        assert!(error.to_string().contains("pooled_device_allocation::free failed"), "{error}");
        assert!(memory.read(0, &mut []).is_err() && memory.is_freed());
        drop(memory);
        assert_eq!(pool.statistics().held_blocks, 1);
        let kept = pool.allocate(100, None).unwrap();
        pool.stop_holding();
        assert_eq!(pool.statistics().held_blocks, 0);
        drop(kept);
        assert_eq!((pool.statistics().held_blocks, pool.statistics().managed_bytes), (0, 0));
        assert!(DeviceMemoryPool::alloc_size(1 << 20).unwrap_err().to_string().contains("there is no bin 1048576"));
    });
}

#[test]
fn another_stream_waits_for_the_first_user() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let (a, b) = (new_non_blocking_stream(), new_non_blocking_stream());
        let gate = StreamGate::block_stream(&a);
        let first = pool.allocate(5000, Some(&a)).unwrap();
        let ptr = first.ptr();
        drop(first);
        // The same stream gets it at once, another one does not while the first is busy.
        let same = pool.allocate(5000, Some(&a)).unwrap();
        assert_eq!(same.ptr(), ptr);
        drop(same);
        assert!(pool.allocate_if_held(5000, Some(&b)).is_none());
        let other = pool.allocate(5000, Some(&b)).unwrap();
        assert_ne!(other.ptr(), ptr);
        let default = pool.allocate(5000, None).unwrap();
        assert_ne!(default.ptr(), ptr);
        gate.open_gate();
        a.synchronize().unwrap();
        let now = pool.allocate(5000, Some(&b)).unwrap();
        assert_eq!(now.ptr(), ptr);
    });
}

#[test]
fn work_after_the_event_does_not_count_as_passed() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let (a, b) = (new_non_blocking_stream(), new_non_blocking_stream());
        let early = pool.allocate(5000, Some(&a)).unwrap();
        let late = pool.allocate(5000, Some(&a)).unwrap();
        let (early_ptr, late_ptr) = (early.ptr(), late.ptr());
        drop(early);
        // The event that lets `early` go is recorded here, before the stream gets busy.
        assert_eq!(pool.allocate(5000, Some(&b)).unwrap().ptr(), early_ptr);
        let gate = StreamGate::block_stream(&a);
        drop(late);
        let held: Vec<_> = (0..3).map(|_| pool.allocate(5000, Some(&b)).unwrap()).collect();
        assert!(held.iter().all(|memory| memory.ptr() != late_ptr));
        gate.open_gate();
        a.synchronize().unwrap();
        assert_eq!(pool.allocate(5000, Some(&b)).unwrap().ptr(), late_ptr);
    });
}

#[test]
fn memory_used_in_further_streams_waits_for_all() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        let (a, b) = (new_non_blocking_stream(), new_non_blocking_stream());
        let gate = StreamGate::block_stream(&b);
        let memory = pool.allocate(5000, Some(&a)).unwrap();
        let ptr = memory.ptr();
        memory.used_in(Some(&b));
        memory.used_in(Some(&b));
        drop(memory);
        assert_eq!(pool.statistics().held_blocks, 1);
        assert_ne!(pool.allocate(5000, Some(&a)).unwrap().ptr(), ptr);
        gate.open_gate();
        b.synchronize().unwrap();
        let held: Vec<_> = (0..2).map(|_| pool.allocate(5000, Some(&a)).unwrap()).collect();
        assert!(held.iter().any(|memory| memory.ptr() == ptr));
        // What is shared is given back to the driver too.
        held[0].used_in(Some(&b));
        drop(held);
        pool.free_held();
        assert_eq!(pool.statistics().managed_bytes, 0);
    });
}

#[test]
fn the_default_stream_and_blocking_ones_share_at_once() {
    run_in_context(|_| {
        let (pool, stream) = (DeviceMemoryPool::new(), Stream::new(0).unwrap());
        drop(pool.allocate(100, Some(&stream)).unwrap());
        let known = pool.allocate(200, Some(&stream)).unwrap();
        let memory = pool.allocate(100, None).unwrap();
        let ptr = memory.ptr();
        drop(memory);
        assert_eq!(pool.allocate_if_held(100, Some(&stream)).map(|memory| memory.ptr()), Some(ptr));
        assert_eq!(pool.statistics().n_taken, 2);
        drop(known);
    });
}

#[test]
fn unused_blocks_of_a_context_are_found_while_another_one_is_current() {
    run_in_context(|_| {
        let own = test_device().make_context(0).unwrap();
        let pool = DeviceMemoryPool::new();
        let ptr = pool.allocate(100, None).unwrap().ptr();
        Context::pop().unwrap();
        assert!(pool.allocate_if_held(100, None).is_none(), "the current context has no blocks");
        let memory = pool.allocate_if_held_in_context(&own, 100, None).unwrap();
        assert_eq!(memory.ptr(), ptr);
        assert!(pool.allocate_if_held_in_context(&own, 100, None).is_none(), "it is in use");
        let (stream, other) = (Stream::new(0).unwrap(), pool.allocate(100, None).unwrap());
        drop((memory, other));
        stream.push_current_stream().unwrap();
        assert!(
            pool.allocate_if_held_in_context(&own, 100, None).is_none_or(|memory| memory.ptr() != ptr),
            "the entered one counts"
        );
        stream.pop_current_stream().unwrap();
    });
}

/// Programs that know nothing of streams in pools allocate for the default stream and use the memory in others.
#[test]
fn memory_for_the_default_stream_has_no_work_of_blocking_ones_left() {
    run_in_context(|_| {
        let (pool, stream) = (DeviceMemoryPool::new(), Stream::new(0).unwrap());
        let gate = StreamGate::block_stream(&stream);
        let first = pool.allocate(5000, Some(&stream)).unwrap();
        let ptr = first.ptr();
        drop(first);
        assert!(pool.allocate_if_held(5000, None).is_none());
        let other = pool.allocate(5000, None).unwrap();
        assert_ne!(other.ptr(), ptr);
        gate.open_gate();
        stream.synchronize().unwrap();
        assert_eq!(pool.allocate(5000, None).unwrap().ptr(), ptr);
    });
}

#[test]
fn many_short_lived_streams_are_forgotten() {
    run_in_context(|_| {
        let pool = DeviceMemoryPool::new();
        for _ in 0..100 {
            let stream = new_non_blocking_stream();
            let memory = pool.allocate(1 << 20, Some(&stream)).unwrap();
            // SAFETY: the memory has this size.
            unsafe { memset_d8_async(memory.ptr(), 1, 1 << 20, Some(&stream)).unwrap() };
            stream.synchronize().unwrap();
        }
        let all = pool.statistics();
        assert_eq!(all.n_allocations, 100);
        assert!(all.n_taken <= 2, "{all:?}");
    });
}

#[test]
fn pools_survive_their_contexts_and_serve_several() {
    let device = test_device();
    let pool = DeviceMemoryPool::new();
    let a = device.make_context(0).unwrap();
    let of_a = pool.allocate(100, None).unwrap();
    drop(pool.allocate(300, None).unwrap());
    let b = device.make_context(0).unwrap();
    let of_b = pool.allocate(300, None).unwrap();
    assert_eq!(pool.statistics().n_taken, 3);
    assert_eq!((pool.statistics().active_blocks, pool.statistics().held_blocks), (2, 1));
    Context::pop().unwrap();
    drop(of_b);
    a.detach().unwrap();
    assert_eq!((pool.statistics().active_blocks, pool.statistics().held_blocks), (1, 1));
    drop(of_a);
    assert_eq!((pool.statistics().active_blocks, pool.statistics().held_blocks), (0, 1));
    assert!(pool.allocate(300, None).unwrap_err().to_string().contains("no currently active context"));
    b.detach().unwrap();
    assert_eq!(pool.statistics().managed_bytes, 0);
    let c = device.make_context(0).unwrap();
    let last = pool.allocate(300, None).unwrap();
    drop(pool);
    c.detach().unwrap();
    drop(last);
}

#[test]
fn a_pool_without_blocks_holds_no_context() {
    let ctx = test_device().make_context(0).unwrap();
    let pool = DeviceMemoryPool::new();
    drop(pool.allocate(300, None).unwrap());
    pool.free_held();
    Context::pop().unwrap();
    let (free, _) = (0, drop(ctx));
    assert_eq!(free, pool.statistics().managed_bytes);
}

#[test]
fn threads_share_a_pool() {
    run_in_context(|ctx| {
        let pool = DeviceMemoryPool::new();
        std::thread::scope(|s| {
            for thread in 0..4u8 {
                let (pool, ctx) = (pool.clone(), ctx.clone());
                s.spawn(move || {
                    ctx.push().unwrap();
                    let mut held = Vec::new();
                    for round in 0..2000usize {
                        let memory = pool.allocate(64 << (round % 5), None).unwrap();
                        if round % 50 == 0 {
                            memory.write(0, &[thread; 64]).unwrap();
                            held.push(memory);
                        }
                    }
                    for memory in held {
                        let mut back = [0; 64];
                        memory.read(0, &mut back).unwrap();
                        assert_eq!(back, [thread; 64]);
                    }
                    Context::pop().unwrap();
                });
            }
        });
        let all = pool.statistics();
        assert_eq!((all.active_blocks, all.active_bytes, all.n_allocations), (0, 0, 8000));
        assert_eq!(all.n_taken, all.held_blocks as u64);
    });
}

#[test]
fn page_locked_pools_reuse_blocks() {
    run_in_context(|_| {
        let pool = PageLockedMemoryPool::new(PageLockedAllocator { flags: HostAllocFlags::PORTABLE });
        let memory = pool.allocate(4096, None).unwrap();
        let ptr = memory.as_ptr();
        // SAFETY: the memory has 4096 bytes and belongs to this test.
        unsafe { ptr.write_bytes(7, 4096) };
        assert_eq!(pointer_attribute_u64(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr.addr() as u64).unwrap(), 1);
        memory.free().unwrap();
        assert!(memory.free().unwrap_err().to_string().contains("pooled_host_allocation::free failed"));
        assert_eq!(pool.allocate(4096, None).unwrap().as_ptr(), ptr);
        assert_eq!(pool.statistics().n_taken, 1);
        pool.stop_holding();
        assert_eq!(pool.statistics().managed_bytes, 0);
    });
}

#[test]
fn debug_pools_label_their_blocks() {
    #[derive(Clone, Default)]
    struct SharedLog(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for SharedLog {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    run_in_context(|_| {
        let log = SharedLog::default();
        let pool = DebugMemoryPool::new(log.clone());
        let matrices: Vec<_> = (0..3).map(|_| pool.allocate(1 << 20, None, "matrix").unwrap()).collect();
        let vector = pool.allocate(4096, None, "vector").unwrap();
        let counts = pool.pool().histogram();
        assert_eq!((counts[0].nbytes, &*counts[0].label, counts[0].count), (1 << 20, "matrix", 3));
        assert_eq!((&*counts[1].label, counts[1].count), ("vector", 1));
        drop(matrices);
        assert_eq!(pool.pool().histogram().len(), 1);
        let before = log.0.lock().unwrap().len();
        // Nothing is taken from the driver, so there is nothing to tell.
        drop(pool.allocate(1 << 20, None, "matrix").unwrap());
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.len(), before);
        assert!(
            text.contains("allocation of 4096 bytes for vector") && text.contains("3 x      1048576 bytes  matrix")
        );
        drop(vector);
    });
}

/// Runs alone in its process: it fills the device.
#[test]
fn reclaim_hooks_and_pools_free_memory_in_order() {
    own_process!("RTCG_VIRTUAL_MEMORY" = "256M");
    run_in_context(|_| {
        static N_HOOK_CALLS: AtomicUsize = AtomicUsize::new(0);
        set_reclaim_hook(|| {
            N_HOOK_CALLS.fetch_add(1, Ordering::Relaxed);
        });
        // Two shares fit, with the sixteenth that the pool may round up, and then no third one.
        let share = mem_get_info().unwrap().0 / 5 * 2;
        let pool = DeviceMemoryPool::new();
        drop((pool.allocate(share, None).unwrap(), pool.allocate(share, None).unwrap()));
        drop(pool.allocate(4096, None).unwrap());
        // Another size needs the largest of the held blocks, and one is enough.
        let other = pool.allocate(share / 8 * 9, None).unwrap();
        assert_eq!((N_HOOK_CALLS.load(Ordering::Relaxed), pool.statistics().n_returned), (1, 1));
        // An allocation outside of the pool gets what the pool holds, too.
        let plain = mem_alloc(share).unwrap();
        assert_eq!((N_HOOK_CALLS.load(Ordering::Relaxed), pool.statistics().held_blocks), (2, 0));
        let error = pool.allocate(share * 2, None).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind, ErrorKind::Memory);
        assert!(text.contains(" bytes were asked for, ") && text.contains("are free; the pool holds 0"), "{text}");
        let text = mem_alloc(share * 2).unwrap_err().to_string();
        assert!(text.contains(&format!("{} bytes were asked for, ", share * 2)), "{text}");
        drop((other, plain));
    });
}

// -- stream order -----------------------------------------------------------------------------

#[test]
fn stream_ordered_memory_comes_from_the_drivers_pools() {
    run_in_context(|ctx| {
        let (device, stream) = (ctx.device(), Stream::new(0).unwrap());
        let default = MemoryPool::default_of_device(device).unwrap();
        assert_eq!(MemoryPool::current_of_device(device).unwrap(), default);
        let used = || default.attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT).unwrap();
        let before = used();
        let in_default = DeviceAllocation::new_async(1 << 20, None).unwrap();
        let in_stream = DeviceAllocation::new_async(1 << 20, Some(&stream)).unwrap();
        assert!(used() >= before + (2 << 20));
        in_stream.free_async(None).unwrap();
        assert!(in_stream.free().is_err() && in_stream.free_async(None).is_err());
        drop(in_default);
        Context::synchronize().unwrap();
        assert_eq!(used(), before);
        assert!(mem_alloc(16).unwrap().free_async(None).unwrap_err().to_string().contains("not allocated in stream"));

        let pool = MemoryPool::new(device, 0, false).unwrap();
        assert_ne!(pool, default);
        pool.set_attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 1 << 30).unwrap();
        pool.set_attribute(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0).unwrap();
        assert_eq!(pool.attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).unwrap(), 1 << 30);
        assert_eq!(pool.attribute(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC).unwrap(), 0);
        assert_eq!(pool.access(&device).unwrap(), AccessRights::ReadWrite);
        let memory = pool.allocate(5000, Some(&stream)).unwrap();
        assert!(pool.attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT).unwrap() >= 5000);
        pool.make_current().unwrap();
        assert_eq!(MemoryPool::current_of_device(device).unwrap(), pool);
        default.make_current().unwrap();
        pool.trim_to(0).unwrap();
        drop(memory);
        stream.synchronize().unwrap();
        pool.close().unwrap();
        pool.close().unwrap();
        assert!(pool.allocate(16, None).unwrap_err().to_string().contains("the pool was closed"));
    });
}

// -- virtual memory ---------------------------------------------------------------------------

#[test]
fn memory_is_mapped_at_several_addresses_and_exported_as_descriptors() {
    run_in_context(|ctx| {
        use std::os::fd::AsFd;
        let device = ctx.device();
        let unit = mem_granularity(&device).unwrap();
        let range = AddressRange::new(&device, 3 * unit, 0).unwrap();
        assert_eq!(range.nbytes(), 3 * unit);
        let memory = PhysicalMemory::new(device, 1, true).unwrap();
        assert_eq!(memory.nbytes(), unit);
        let first = range.map(0, &memory).unwrap();
        let second = range.map(2 * unit, &memory).unwrap();
        assert_eq!(first.access(&device).unwrap(), AccessRights::None);
        first.set_access(&device, AccessRights::ReadWrite).unwrap();
        second.set_access(&device, AccessRights::ReadWrite).unwrap();
        assert_eq!(second.access(&device).unwrap(), AccessRights::ReadWrite);
        let mut back = [0; 16];
        // SAFETY: both addresses have memory with access.
        unsafe {
            memset_d8(first.ptr(), 9, 4096).unwrap();
            memcpy_dtoh(&mut back, second.ptr() + 4080).unwrap();
        }
        assert_eq!(back, [9; 16]);
        assert!(range.map(3 * unit, &memory).unwrap_err().to_string().contains("are outside the"));

        let descriptor = memory.export().unwrap();
        let imported = PhysicalMemory::import(device, descriptor.as_fd(), unit).unwrap();
        first.unmap().unwrap();
        assert!(first.unmap().is_err() && first.set_access(&device, AccessRights::None).is_err());
        drop((memory, second));
        let third = range.map(unit, &imported).unwrap();
        third.set_access(&device, AccessRights::ReadWrite).unwrap();
        // SAFETY: the address has memory with access.
        unsafe { memcpy_dtoh(&mut back, third.ptr()).unwrap() };
        assert_eq!(back, [9; 16]);
        drop(range);
    });
}

// -- what is known about addresses ------------------------------------------------------------

#[test]
fn managed_memory_takes_advice() {
    run_in_context(|ctx| {
        let device = ctx.device();
        let managed = ManagedAllocation::new(1 << 16, 0).unwrap();
        let (ptr, n) = (managed.ptr(), 1 << 16);
        mem_advise(ptr, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Some(&device)).unwrap();
        assert_eq!(mem_range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, ptr, n).unwrap(), device.handle());
        mem_advise(ptr, n, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, None).unwrap();
        assert_eq!(mem_range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, ptr, n).unwrap(), CU_DEVICE_CPU);
        mem_prefetch_async(ptr, n, Some(&device), None).unwrap();
        mem_prefetch_async(ptr, n, None, Some(&Stream::new(0).unwrap())).unwrap();
        Context::synchronize().unwrap();
        assert_eq!(pointer_attribute_u64(CU_POINTER_ATTRIBUTE_IS_MANAGED, ptr).unwrap(), 1);
        let plain = mem_alloc(64).unwrap();
        assert_eq!(pointer_attribute_u64(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, plain.ptr() + 5).unwrap(), plain.ptr());
        assert!(mem_advise(plain.ptr(), 64, CU_MEM_ADVISE_SET_READ_MOSTLY, None).is_err());
    });
}

#[test]
fn wrong_addresses_are_explained() {
    run_in_context(|ctx| {
        // SAFETY: the driver refuses the address.
        let text = unsafe { memcpy_htod(16, &[0; 8]) }.unwrap_err().to_string();
        assert!(text.contains("dest is 0x10, which lies in no allocation"), "{text}");
        let text = mem_get_address_range(24).unwrap_err().to_string();
        assert!(text.contains("ptr is 0x18"), "{text}");
        if ctx.device().is_virtual() {
            let memory = mem_alloc(64).unwrap();
            // SAFETY: the virtual GPU knows the size of every allocation, and refuses what does not fit.
            let text = unsafe { memcpy_dtoh(&mut [0; 40], memory.ptr() + 32) }.unwrap_err().to_string();
            let place = format!("src is {:#x}, 32 bytes into an allocation of 64 bytes", memory.ptr() + 32);
            assert!(text.contains(&place) && text.contains("40 bytes do not fit into the remaining 32"), "{text}");
            // SAFETY: the virtual GPU refuses what does not fit.
            let text = unsafe { memset_d2d32(memory.ptr(), 32, 0, 4, 3) }.unwrap_err().to_string();
            assert!(text.contains("80 bytes do not fit into the remaining 64"), "{text}");
        }
        let text = mem_alloc_pitch(16, 16, 3).unwrap_err().to_string();
        assert!(text.contains("accesses of 3 bytes"), "{text}");
    });
}

// -- cost -------------------------------------------------------------------------------------

/// Prints; run it by name: `cargo test --release -p rtcg-driver --test integration -- --ignored --nocapture print_pool_allocation_cost`.
#[test]
#[ignore = "prints what a pool costs"]
fn print_pool_allocation_cost() {
    run_in_context(|_| {
        let (pool, stream) = (DeviceMemoryPool::new(), new_non_blocking_stream());
        for (what, stream) in [("default stream", None), ("a stream", Some(&stream))] {
            drop(pool.allocate(4096, stream).unwrap());
            let round = || {
                let start = Instant::now();
                for _ in 0..1000 {
                    drop(pool.allocate(4096, stream).unwrap());
                }
                start.elapsed().as_nanos() as f64 / 1000.0
            };
            let best = (0..200).map(|_| round()).fold(f64::INFINITY, f64::min);
            println!("allocate + free from the pool, {what}: {best:.0} ns");
        }
    });
}
