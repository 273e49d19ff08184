//! Copies of pageable memory through page-locked slots, forced on any device.

use super::*;

/// Bytes that repeat with no power of two.
fn byte_pattern(nbytes: usize, seed: usize) -> Vec<u8> {
    (0..nbytes).map(|i| ((i + seed) % 251) as u8).collect()
}

#[test]
fn staged_copies_arrive_from_many_threads() {
    run_in_context(|ctx| {
        set_staging_policy(StagingPolicy::Always);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                scope.spawn(move || {
                    ctx.push().unwrap();
                    let stream = new_non_blocking_stream();
                    for nbytes in [1, 5_000, (2 << 20) + 1, 9_000_001] {
                        let (host, mut back) = (byte_pattern(nbytes, seed), vec![0; nbytes]);
                        let memory = mem_alloc(nbytes).unwrap();
                        // SAFETY: the memory has `nbytes` bytes.
                        unsafe {
                            memcpy_htod(memory.ptr(), &host).unwrap();
                            memcpy_dtoh(&mut back, memory.ptr()).unwrap();
                            assert!(back == host);
                            memcpy_htod_in_stream(memory.ptr(), &byte_pattern(nbytes, seed + 1), &stream).unwrap();
                            memcpy_dtoh_in_stream(&mut back, memory.ptr(), &stream).unwrap();
                        }
                        assert!(back == byte_pattern(nbytes, seed + 1));
                    }
                    drop(stream);
                    Context::pop().unwrap();
                });
            }
        });
    });
}

#[test]
fn staged_copies_wait_for_their_stream() {
    run_in_context(|_| {
        set_staging_policy(StagingPolicy::Always);
        let stream = new_non_blocking_stream();
        let memory = mem_alloc(4_000_000).unwrap();
        let gate = StreamGate::block_stream(&stream);
        // SAFETY: the memory has so many bytes.
        unsafe { memset_d8_async(memory.ptr(), 7, 4_000_000, Some(&stream)) }.unwrap();
        let mut back = vec![0; 4_000_000];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                gate.open_gate();
            });
            // SAFETY: the memory has so many bytes.
            unsafe { memcpy_dtoh_in_stream(&mut back, memory.ptr(), &stream) }.unwrap();
        });
        assert!(back.iter().all(|byte| *byte == 7));
    });
}

#[test]
fn staged_copies_that_fail_say_where() {
    run_in_context(|_| {
        set_staging_policy(StagingPolicy::Always);
        let memory = mem_alloc(5 << 20).unwrap();
        let host = byte_pattern(80 << 20, 3);
        // SAFETY: the driver refuses what lies outside of all memory.
        let error = unsafe { memcpy_htod(memory.ptr(), &host) }.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Logic);
        assert!(error.to_string().contains("dest"), "{error}");
        let mut back = host;
        // SAFETY: the driver refuses what lies outside of all memory.
        let error = unsafe { memcpy_dtoh(&mut back, 16) }.unwrap_err();
        assert!(error.to_string().contains("src"), "{error}");
        // SAFETY: the memory is so large.
        unsafe { memcpy_dtoh(&mut back[..5 << 20], memory.ptr()) }.unwrap();
    });
}

#[test]
fn staging_slots_are_freed_with_the_last_reference_to_a_primary_context() {
    set_staging_policy(StagingPolicy::Always);
    for seed in 0..3 {
        let ctx = test_device().retain_primary_context().unwrap();
        ctx.push().unwrap();
        let (host, mut back) = (byte_pattern(3 << 20, seed), vec![0; 3 << 20]);
        let memory = mem_alloc(3 << 20).unwrap();
        // SAFETY: the memory is so large.
        unsafe {
            memcpy_htod(memory.ptr(), &host).unwrap();
            memcpy_dtoh(&mut back, memory.ptr()).unwrap();
        }
        assert!(back == host);
        drop(memory);
        Context::pop().unwrap();
        ctx.detach().unwrap();
    }
}
