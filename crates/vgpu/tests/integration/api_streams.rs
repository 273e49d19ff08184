//! Streams, events and host functions through the driver table.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::api_common::*;
use rtcg_cuda_sys::*;

const NON_BLOCKING: u32 = 1;

/// A gate that a host function in a stream waits at.
#[derive(Default)]
struct StreamGate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl StreamGate {
    fn open_gate(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// Blocks the stream until the gate opens.
    fn block_stream(&self, stream: CUstream) {
        unsafe extern "C" fn wait_for_gate(gate: *mut c_void) {
            // SAFETY: the test keeps the gate until the stream has passed it.
            let gate = unsafe { &*gate.cast::<StreamGate>() };
            let _open = gate.changed.wait_while(gate.open.lock().unwrap(), |open| !*open).unwrap();
        }
        ok!(cuLaunchHostFunc(stream, Some(wait_for_gate), (self as *const StreamGate).cast_mut().cast()));
    }
}

fn read_u32(p: CUdeviceptr) -> u32 {
    // SAFETY: live device memory, which the host can read here; written by stream threads.
    unsafe { AtomicU32::from_ptr(p as *mut u32) }.load(Ordering::SeqCst)
}

#[test]
fn a_stream_keeps_its_order() {
    let ctx = new_context();
    let s = new_stream(NON_BLOCKING);
    let p = alloc(4 << 20);
    let gate = StreamGate::default();
    gate.block_stream(s);
    for i in 0..100 {
        ok!(cuMemsetD32Async(p, i, 1 << 20, s));
    }
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    gate.open_gate();
    ok!(cuStreamSynchronize(s));
    ok!(cuStreamQuery(s));
    assert_eq!(read_u32(p), 99);
    assert_eq!(read_u32(p + (4 << 20) - 4), 99);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn events_order_streams() {
    let ctx = new_context();
    let (a, b) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let p = alloc(8);
    ok!(cuMemsetD32(p, 0, 2));
    ok!(cuCtxSynchronize());
    let e = new_event(0);
    ok!(cuEventQuery(e));
    ok!(cuStreamWaitEvent(b, e, 0));
    let gate = StreamGate::default();
    gate.block_stream(a);
    ok!(cuMemsetD32Async(p, 1, 1, a));
    ok!(cuEventRecord(e, a));
    ok!(cuStreamWaitEvent(b, e, 0));
    ok!(cuMemcpyDtoDAsync(p + 4, p, 4, b));
    fails!(CUDA_ERROR_NOT_READY, cuEventQuery(e));
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    assert_eq!(read_u32(p + 4), 0);
    gate.open_gate();
    ok!(cuStreamSynchronize(b));
    ok!(cuEventQuery(e));
    assert_eq!(read_u32(p + 4), 1);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn legacy_stream_waits_and_is_waited_for() {
    let ctx = new_context();
    let (blocking, free) = (new_stream(0), new_stream(NON_BLOCKING));
    let p = alloc(16);
    ok!(cuMemsetD32(p, 0, 4));
    ok!(cuCtxSynchronize());
    let gate = StreamGate::default();
    gate.block_stream(blocking);
    ok!(cuMemsetD32Async(p, 1, 1, blocking));
    // In the default stream, so after the blocking stream's work.
    ok!(cuMemcpyDtoDAsync(p + 4, p, 4, CUstream::null()));
    // In a blocking stream, so after the default stream's work.
    let second = new_stream(0);
    ok!(cuMemcpyDtoDAsync(p + 8, p + 4, 4, second));
    // In a non-blocking stream: at once.
    ok!(cuMemsetD32Async(p + 12, 7, 1, free));
    ok!(cuStreamSynchronize(free));
    assert_eq!([read_u32(p + 4), read_u32(p + 8), read_u32(p + 12)], [0, 0, 7]);
    fails!(CUDA_ERROR_NOT_READY, cuStreamQuery(CUstream::null()));
    gate.open_gate();
    ok!(cuStreamSynchronize(second));
    assert_eq!([read_u32(p + 4), read_u32(p + 8)], [1, 1]);
    ok!(cuCtxDestroy(ctx));
}

/// An event that a context records has passed when the context is idle.
#[test]
fn events_of_contexts_have_passed_after_a_wait() {
    let ctx = new_context();
    let (s, e, p) = (new_stream(NON_BLOCKING), new_event(0), alloc(4));
    for i in 0..200 {
        if i % 2 == 0 {
            ok!(cuMemsetD32Async(p, i, 1, s));
        }
        ok!(cuCtxRecordEvent(ctx, e));
        ok!(cuCtxSynchronize());
        ok!(cuEventQuery(e));
        let mut ms = -1.0;
        ok!(cuEventElapsedTime(&raw mut ms, e, e));
    }
    let gate = StreamGate::default();
    gate.block_stream(s);
    ok!(cuCtxRecordEvent(ctx, e));
    fails!(CUDA_ERROR_NOT_READY, cuEventQuery(e));
    gate.open_gate();
    ok!(cuCtxSynchronize());
    ok!(cuEventQuery(e));
    ok!(cuCtxDestroy(ctx));
}

/// Whether the legacy stream is done is whether all are that it waits for.
#[test]
fn the_legacy_stream_is_asked_for_all_blocking_streams() {
    let ctx = new_context();
    let (legacy, per_thread) = (CUstream::null(), CUstream(std::ptr::without_provenance_mut(2)));
    for (holder, busy) in [(new_stream(0), true), (per_thread, true), (new_stream(NON_BLOCKING), false)] {
        let gate = StreamGate::default();
        gate.block_stream(holder);
        let wanted = if busy { Err(CUresult::CUDA_ERROR_NOT_READY) } else { Ok(()) };
        assert_eq!(call!(cuStreamQuery(legacy)), wanted);
        assert_eq!(call!(cuStreamQuery(CUstream(std::ptr::without_provenance_mut(1)))), wanted);
        ok!(cuStreamQuery(new_stream(0)));
        gate.open_gate();
        ok!(cuCtxSynchronize());
        ok!(cuStreamQuery(legacy));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn synchronous_copies_wait_for_blocking_streams() {
    let ctx = new_context();
    let s = new_stream(0);
    let p = alloc(4);
    let gate = StreamGate::default();
    gate.block_stream(s);
    ok!(cuMemsetD32Async(p, 42, 1, s));
    let mut value = 0_u32;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            gate.open_gate();
        });
        ok!(cuMemcpyDtoH((&raw mut value).cast(), p, 4));
    });
    assert_eq!(value, 42);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn pageable_sources_are_staged_immediately() {
    let ctx = new_context();
    let s = new_stream(NON_BLOCKING);
    let p = alloc(4);
    let gate = StreamGate::default();
    gate.block_stream(s);
    let mut source = 5_u32;
    ok!(cuMemcpyHtoDAsync(p, (&raw const source).cast(), 4, s));
    source = 6;
    std::hint::black_box(&source);
    gate.open_gate();
    ok!(cuStreamSynchronize(s));
    assert_eq!(read_u32(p), 5);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn events_measure_time() {
    let ctx = new_context();
    let s = new_stream(NON_BLOCKING);
    let (start, end, blind) = (new_event(0), new_event(0), new_event(2));
    let mut ms = 0.0;
    fails!(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&raw mut ms, start, end));
    let gate = StreamGate::default();
    ok!(cuEventRecord(start, s));
    gate.block_stream(s);
    ok!(cuEventRecord(end, s));
    ok!(cuEventRecord(blind, s));
    fails!(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&raw mut ms, start, end));
    std::thread::sleep(Duration::from_millis(20));
    gate.open_gate();
    ok!(cuEventSynchronize(end));
    ok!(cuEventElapsedTime(&raw mut ms, start, end));
    assert!((19.0..2000.0).contains(&ms), "{ms}");
    ok!(cuEventElapsedTime(&raw mut ms, end, start));
    assert!(ms < -19.0);
    fails!(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&raw mut ms, start, blind));
    ok!(cuEventDestroy(end));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(end));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn streams_and_events_may_go_while_work_is_pending() {
    let ctx = new_context();
    let s = new_stream(NON_BLOCKING);
    let e = new_event(0);
    let p = alloc(4);
    let gate = StreamGate::default();
    gate.block_stream(s);
    ok!(cuMemsetD32Async(p, 3, 1, s));
    ok!(cuEventRecord(e, s));
    ok!(cuEventDestroy(e));
    ok!(cuStreamDestroy(s));
    fails!(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
    gate.open_gate();
    ok!(cuCtxSynchronize());
    assert_eq!(read_u32(p), 3);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn host_functions_run_in_order_and_may_not_use_a_context() {
    static HOST_FUNCTION_CALLS: AtomicUsize = AtomicUsize::new(0);
    static CALLBACK_RESULT_CODE: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn check_call_order(expected: *mut c_void) {
        assert_eq!(HOST_FUNCTION_CALLS.fetch_add(1, Ordering::SeqCst), expected.addr());
    }
    unsafe extern "C" fn synchronize_in_callback(_: CUstream, status: CUresult, _: *mut c_void) {
        assert_eq!(status, CUresult::CUDA_SUCCESS);
        // SAFETY: no pointers are passed.
        CALLBACK_RESULT_CODE.store(unsafe { driver_table().cuCtxSynchronize() }.0, Ordering::SeqCst);
    }
    let ctx = new_context();
    let s = new_stream(0);
    for i in 0..50 {
        ok!(cuLaunchHostFunc(s, Some(check_call_order), std::ptr::without_provenance_mut(i)));
    }
    ok!(cuStreamAddCallback(s, Some(synchronize_in_callback), std::ptr::null_mut(), 0));
    ok!(cuCtxSynchronize());
    assert_eq!(HOST_FUNCTION_CALLS.load(Ordering::SeqCst), 50);
    assert_eq!(CALLBACK_RESULT_CODE.load(Ordering::SeqCst), CUresult::CUDA_ERROR_NOT_PERMITTED.0);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn host_functions_may_use_streams_and_events_that_do_not_wait() {
    static HANDLES: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    static CODES: [AtomicU32; 9] = [const { AtomicU32::new(9999) }; 9];
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    unsafe extern "C" fn ask(_: *mut c_void) {
        let handle = |i: usize| HANDLES[i].load(Ordering::SeqCst);
        let stream = |i| CUstream(std::ptr::without_provenance_mut(handle(i)));
        let event = CUevent(std::ptr::without_provenance_mut(handle(2)));
        let (mut n, mut ctx) = (0, CUcontext::null());
        let answers = [
            call!(cuStreamQuery(stream(0))),
            call!(cuStreamQuery(stream(1))),
            call!(cuEventQuery(event)),
            call!(cuEventRecord(event, stream(1))),
            call!(cuLaunchHostFunc(stream(1), Some(nothing), std::ptr::null_mut())),
            call!(cuDriverGetVersion(&raw mut n)),
            call!(cuDeviceGetCount(&raw mut n)),
            call!(cuCtxGetCurrent(&raw mut ctx)),
            call!(cuStreamSynchronize(stream(1))),
        ];
        for (place, answer) in CODES.iter().zip(answers) {
            place.store(answer.map_or_else(|code| code.0, |()| 0), Ordering::SeqCst);
        }
    }
    let ctx = new_context();
    let (own, other, event) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING), new_event(0));
    for (place, handle) in HANDLES.iter().zip([own.0.addr(), other.0.addr(), event.0.addr()]) {
        place.store(handle, Ordering::SeqCst);
    }
    ok!(cuLaunchHostFunc(own, Some(ask), std::ptr::null_mut()));
    ok!(cuCtxSynchronize());
    let codes: Vec<u32> = CODES.iter().map(|code| code.load(Ordering::SeqCst)).collect();
    assert_eq!(codes, [600, 0, 0, 0, 0, 0, 800, 800, 800]);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn a_wait_for_a_value_cannot_flush() {
    let ctx = new_context();
    let (s, p) = (new_stream(NON_BLOCKING), alloc(8));
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue32(s, p, 0, 1 << 30));
    fails!(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue64(s, p, 0, 1 << 30 | 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(s, p, 0, 1 << 29));
    let mut can = 7;
    ok!(cuDeviceGetAttribute(&raw mut can, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0));
    assert_eq!(can, 0);
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn times_of_events_are_in_steps_of_the_clock() {
    let ctx = new_context();
    let (s, first, last) = (new_stream(NON_BLOCKING), new_event(0), new_event(0));
    for _ in 0..50 {
        ok!(cuEventRecord(first, s));
        ok!(cuEventRecord(last, s));
        ok!(cuStreamSynchronize(s));
        let mut ms = 0.0_f32;
        ok!(cuEventElapsedTime(&raw mut ms, first, last));
        assert_eq!((f64::from(ms) * 1e6).round() as i64 % 32, 0, "{ms}");
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn streams_wait_for_values_in_memory() {
    let ctx = new_context();
    let (a, b) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let p = alloc(8);
    ok!(cuMemsetD32(p, 0, 2));
    ok!(cuCtxSynchronize());
    ok!(cuStreamWaitValue32(a, p, 3, 0));
    ok!(cuMemsetD32Async(p + 4, 1, 1, a));
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(read_u32(p + 4), 0);
    ok!(cuStreamWriteValue32(b, p, 5, 0));
    ok!(cuStreamSynchronize(a));
    assert_eq!((read_u32(p), read_u32(p + 4)), (5, 1));
    fails!(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(b, p + 1, 5, 0));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn per_thread_streams_differ() {
    let ctx = new_context();
    let mut here = 0;
    ok!(cuStreamGetId(CU_STREAM_PER_THREAD, &raw mut here));
    let there = std::thread::spawn(move || {
        ok!(cuCtxPushCurrent(ctx));
        let mut id = 0;
        ok!(cuStreamGetId(CU_STREAM_PER_THREAD, &raw mut id));
        id
    });
    assert_ne!(here, there.join().unwrap());
    let mut null = 0;
    ok!(cuStreamGetId(CUstream::null(), &raw mut null));
    assert_ne!(here, null);
    let s = new_stream(NON_BLOCKING);
    let (mut flags, mut owner) = (9, CUcontext::null());
    ok!(cuStreamGetFlags(s, &raw mut flags));
    ok!(cuStreamGetCtx(s, &raw mut owner));
    assert_eq!((flags, owner), (NON_BLOCKING, ctx));
    ok!(cuCtxDestroy(ctx));
}

/// Streams whose operations alternately wait for each other: a long chain of fences.
#[test]
fn long_chains_of_stream_dependencies_complete() {
    let ctx = new_context();
    let streams: Vec<CUstream> = (0..40).map(|_| new_stream(NON_BLOCKING)).collect();
    let p = alloc(4);
    ok!(cuMemsetD32(p, 0, 1));
    ok!(cuCtxSynchronize());
    let gate = StreamGate::default();
    gate.block_stream(streams[0]);
    let e = new_event(2);
    for round in 0..10 {
        for (i, &s) in streams.iter().enumerate() {
            if round + i > 0 {
                ok!(cuStreamWaitEvent(s, e, 0));
            }
            ok!(cuMemsetD32Async(p, (round * 40 + i) as u32, 1, s));
            ok!(cuEventRecord(e, s));
        }
    }
    gate.open_gate();
    ok!(cuStreamSynchronize(streams[39]));
    assert_eq!(read_u32(p), 399);
    ok!(cuCtxDestroy(ctx));
}

/// Many threads use one context, with streams that others destroy and memory that comes and goes.
#[test]
fn threads_share_a_context_under_load() {
    let ctx = new_context();
    std::thread::scope(|scope| {
        for t in 0..6_u32 {
            scope.spawn(move || {
                ok!(cuCtxPushCurrent(ctx));
                let mut random = u64::from(t) + 1;
                let mut next = move || {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (random >> 33) as u32
                };
                for i in 0..300 {
                    let s = if next() % 3 == 0 { CUstream::null() } else { new_stream(next() % 2) };
                    let n = 1 + (next() % 200_000) as usize;
                    let p = alloc(4 * n);
                    let e = new_event(0);
                    ok!(cuMemsetD32Async(p, t * 1000 + i, n, s));
                    ok!(cuEventRecord(e, s));
                    let other = new_stream(next() % 2);
                    ok!(cuStreamWaitEvent(other, e, 0));
                    let mut last = 0_u32;
                    ok!(cuMemcpyDtoHAsync((&raw mut last).cast(), p + 4 * (n as u64 - 1), 4, other));
                    assert_eq!(last, t * 1000 + i);
                    if next() % 2 == 0 {
                        ok!(cuMemFreeAsync(p, other));
                    } else {
                        ok!(cuMemFree(p));
                    }
                    ok!(cuStreamDestroy(other));
                    ok!(cuEventDestroy(e));
                    if !s.is_null() {
                        ok!(cuStreamDestroy(s));
                    }
                }
                ok!(cuCtxSynchronize());
            });
        }
    });
    ok!(cuCtxDestroy(ctx));
}

/// The process must be able to end with work in its queues; the test harness shows if it cannot.
#[test]
fn contexts_are_left_with_work_pending() {
    new_context();
    let s = new_stream(0);
    let p = alloc(1 << 20);
    for _ in 0..50 {
        ok!(cuMemsetD8Async(p, 1, 1 << 20, s));
    }
}
