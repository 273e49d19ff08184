//! Memory that pools keep unused: it counts as free, every allocation gets it, and it goes back when nobody allocates.

use super::*;
use rtcg_driver::{Array, Device};

/// What a driver rounds up to, and what others may do to a real device meanwhile.
const TOLERANCE_BYTES: usize = 16 << 20;

fn reported_free_bytes() -> usize {
    mem_get_info().unwrap().0
}

/// What the driver calls free.
fn driver_free_bytes(ctx: &Context) -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: writes two sizes.
    assert!(unsafe { ctx.driver_table().cuMemGetInfo(&raw mut free, &raw mut total) }.is_success());
    free
}

fn is_close(a: usize, b: usize) -> bool {
    a.abs_diff(b) <= TOLERANCE_BYTES
}

#[test]
fn unused_pool_memory_counts_as_free() {
    own_process!("RTCG_VIRTUAL_MEMORY" = "256M");
    run_in_context(|ctx| {
        let (pool, before) = (DeviceMemoryPool::new(), reported_free_bytes());
        for _ in 0..4 {
            let share = reported_free_bytes() / 2;
            let block = pool.allocate(share, None).unwrap();
            // Where memory is not followed exactly, a pool takes up to a sixteenth more than it is asked for.
            let taken = before - reported_free_bytes();
            assert!(
                (share - TOLERANCE_BYTES..=share / 16 * 17 + TOLERANCE_BYTES).contains(&taken),
                "{taken} for {share} of {before}"
            );
            drop(block);
            assert!(is_close(reported_free_bytes(), before), "{} and {before}", reported_free_bytes());
        }
        assert!(driver_free_bytes(ctx) < before / 3 * 2, "the pool kept nothing");
        // Small blocks too, and those that other streams use.
        let stream = new_non_blocking_stream();
        let blocks: Vec<_> = (0..300).map(|i| pool.allocate(1000 * i + 1, None).unwrap()).collect();
        blocks.iter().for_each(|block| block.used_in(Some(&stream)));
        drop(blocks);
        assert!(is_close(reported_free_bytes(), before), "{} and {before}", reported_free_bytes());
        pool.free_held();
        assert!(is_close(reported_free_bytes(), before) && is_close(driver_free_bytes(ctx), before));
    });
}

#[test]
fn every_kind_of_allocation_reclaims_unused_pool_memory() {
    own_process!("RTCG_VIRTUAL_MEMORY" = "256M");
    run_in_context(|ctx| {
        let pool = DeviceMemoryPool::new();
        let most = reported_free_bytes() / 100 * 97;
        // Real devices have limits.
        let height = (most / 4096 / 4).min(1 << 16);
        let descriptor =
            CUDA_ARRAY_DESCRIPTOR { Width: 4096, Height: height, Format: CU_AD_FORMAT_FLOAT, NumChannels: 1 };
        let of_3d = CUDA_ARRAY3D_DESCRIPTOR {
            Width: 1024,
            Height: 1024,
            Depth: (most / 4 / 1024 / 1024).min(1 << 14),
            Format: CU_AD_FORMAT_FLOAT,
            NumChannels: 1,
            ..Default::default()
        };
        let (driver_pool, other) = (MemoryPool::new(ctx.device(), 0, false).unwrap(), DeviceMemoryPool::new());
        let granularity = mem_granularity(&ctx.device()).unwrap();
        let kinds: [(&str, &dyn Fn() -> rtcg_driver::Result<()>); 9] = [
            ("plain", &|| mem_alloc(most).map(drop)),
            ("pitched", &|| mem_alloc_pitch(4096, most / 4096, 4).map(drop)),
            ("managed", &|| ManagedAllocation::new(most, 0).map(drop)),
            ("stream order", &|| DeviceAllocation::new_async(most, None).map(drop)),
            ("driver's pool", &|| driver_pool.allocate(most, None).map(drop)),
            ("another pool", &|| other.allocate(most, None).map(drop)),
            ("array", &|| Array::new_2d(&descriptor).map(drop)),
            ("3-D array", &|| Array::new_3d(&of_3d).map(drop)),
            ("physical", &|| PhysicalMemory::new(ctx.device(), most / granularity * granularity, false).map(drop)),
        ];
        for (kind, allocate) in kinds {
            // Rounded up, this does not fit: the pool takes what was asked for.
            drop(pool.allocate(most, None).unwrap());
            drop(pool.allocate(most / 2, None).unwrap());
            assert!(pool.statistics().held_blocks > 0, "{kind}");
            allocate().unwrap_or_else(|error| panic!("{kind}: {error}"));
            // Memory that was freed in stream order is waited for.
            drop(pool.allocate(most, None).unwrap_or_else(|error| panic!("the pool after {kind}: {error}")));
        }
        assert_eq!(pool.statistics().active_bytes, 0);
        pool.free_held();
        assert_eq!(pool.statistics().managed_bytes, 0);
    });
}

#[test]
fn pools_that_are_idle_give_their_memory_back() {
    own_process!();
    run_in_context(|ctx| {
        let (kept, trimmed) = (DeviceMemoryPool::new(), DeviceMemoryPool::trimmed_when_idle());
        let nbytes = 32 << 20;
        drop((kept.allocate(nbytes, None).unwrap(), trimmed.allocate(nbytes, None).unwrap()));
        // A pool that is used keeps what it has.
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(2500) {
            drop(trimmed.allocate(nbytes, None).unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(trimmed.statistics().n_taken, 1);
        let before = driver_free_bytes(ctx);
        while trimmed.statistics().held_blocks > 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "the memory stays");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(driver_free_bytes(ctx) >= before + nbytes - TOLERANCE_BYTES);
        assert_eq!((kept.statistics().held_blocks, trimmed.statistics().managed_bytes), (1, 0));
        drop(trimmed.allocate(nbytes, None).unwrap());
        assert_eq!(trimmed.statistics().held_blocks, 1);
    });
}

#[test]
fn unused_pool_memory_is_counted_per_device() {
    own_process!(
        "RTCG_VIRTUAL_MEMORY" = "256M",
        "RTCG_VIRTUAL_DEVICES" = "3",
        "RTCG_LIBCUDA" = "none",
        "RTCG_TEST_DEVICE" = "0",
    );
    test_device();
    let contexts: Vec<_> = (0..3).map(|at| Device::new(at).unwrap().make_context(0).unwrap()).collect();
    let on = |at: usize| {
        contexts[at].push().unwrap();
        let free = reported_free_bytes();
        Context::pop().unwrap();
        free
    };
    let (pool, before) = (DeviceMemoryPool::new(), on(0));
    contexts.iter().for_each(|_| drop(Context::pop().unwrap()));
    let take = |at: usize, nbytes| {
        contexts[at].push().unwrap();
        let block = pool.allocate(nbytes, None).unwrap();
        Context::pop().unwrap();
        block
    };
    let share = before / 100 * 45;
    let (first, second) = (take(0, share), take(1, share));
    assert!(is_close(on(0), on(1)) && on(0) < before / 3 * 2 && on(2) == before);
    drop(second);
    assert!(on(0) < before / 3 * 2 && is_close(on(1), before) && on(2) == before);
    drop(first);
    assert!((0..3).all(|at| is_close(on(at), before)));
    // An allocation that does not fit on one device takes what is kept there and leaves the others theirs.
    drop(take(0, before / 100 * 60));
    assert_eq!(pool.statistics().n_returned, 1);
    contexts[1].push().unwrap();
    assert!(driver_free_bytes(&contexts[1]) < before / 3 * 2, "the block of device 1 is still kept");
    Context::pop().unwrap();
    pool.free_held();
    assert!((0..3).all(|at| on(at) == before));
    contexts.iter().for_each(|ctx| ctx.detach().unwrap());
}
