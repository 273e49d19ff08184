//! Streams, events and host functions.

use super::*;
use rtcg_driver::WaitValueFlags;

#[test]
fn streams_and_events_order_and_time_work() {
    run_in_context(|_| {
        let (a, b) = (Stream::new(0).unwrap(), Stream::with_priority(0, 0).unwrap());
        let (start, end) = (Event::new(0).unwrap(), Event::new(0).unwrap());
        let memory = mem_alloc(1 << 20).unwrap();
        start.record(Some(&a)).unwrap();
        // SAFETY: the memory outlives both streams' work.
        unsafe { memset_d8_async(memory.ptr(), 1, 1 << 20, Some(&a)).unwrap() };
        end.record(Some(&a)).unwrap();
        b.wait_for_event(&end).unwrap();
        // SAFETY: the memory outlives both streams' work.
        unsafe { memset_d8_async(memory.ptr(), 2, 1, Some(&b)).unwrap() };
        b.synchronize().unwrap();
        assert!(b.is_done().unwrap() && end.query().unwrap());
        let ms = end.time_since(&start).unwrap();
        assert!((0.0..10_000.0).contains(&ms), "{ms}");
        assert_eq!(start.time_till(&end).unwrap(), ms);
        let mut back = [0; 2];
        memory.read(0, &mut back).unwrap();
        assert_eq!(back, [2, 1]);
        a.synchronize().unwrap();
    });
}

#[test]
fn streams_can_be_made_current_and_closed() {
    run_in_context(|_| {
        let (a, b) = (Stream::new(1).unwrap(), Stream::new(0).unwrap());
        assert_eq!((a.flags().unwrap(), b.flags().unwrap()), (1, 0));
        assert_ne!(a.id().unwrap(), b.id().unwrap());
        assert!(Stream::current().is_none());
        a.push_current_stream().unwrap();
        b.push_current_stream().unwrap();
        assert_eq!(Stream::current(), Some(b.clone()));
        b.pop_current_stream().unwrap();
        assert_eq!(Stream::current(), Some(a.clone()));
        std::thread::scope(|s| s.spawn(|| assert!(Stream::current().is_none())).join().unwrap());
        // `None` is now the stream, which the event shows: it waits for what is in `a`.
        let (event, gate) = (Event::new(0).unwrap(), mem_alloc(4).unwrap());
        gate.write(0, &[0; 4]).unwrap();
        // SAFETY: the memory lives until the streams are done.
        unsafe { a.wait_value32(gate.ptr(), 1, WaitValueFlags::EQUAL).unwrap() };
        event.record(None).unwrap();
        assert!(!event.query().unwrap());
        // SAFETY: the memory lives until the streams are done.
        unsafe { b.write_value32(gate.ptr(), 1, 0).unwrap() };
        event.synchronize().unwrap();
        a.pop_current_stream().unwrap();
        assert!(a.pop_current_stream().is_err());
        a.close().unwrap();
        a.close().unwrap();
        assert!(a.is_closed());
        let error = a.synchronize().unwrap_err().to_string();
        assert!(error.contains("the stream was closed"), "{error}");
        assert!(event.record(Some(&a)).is_err() && a.push_current_stream().is_err());
        event.close().unwrap();
        event.close().unwrap();
        assert!(event.query().unwrap_err().to_string().contains("the event was closed"));
        Stream::legacy_default().unwrap().synchronize().unwrap();
        Stream::per_thread_default().unwrap().synchronize().unwrap();
    });
}

#[test]
fn one_stream_comes_after_all_that_is_pending() {
    run_in_context(|_| {
        let [a, b, opener] = [(); 3].map(|()| Stream::new(1).unwrap());
        let gates = mem_alloc(8).unwrap();
        gates.write(0, &[0; 8]).unwrap();
        let all = || [Some(a.clone()), None, Some(b.clone()), Some(a.clone())];
        assert!(Stream::join_pending(all()).unwrap().is_none());
        let open = |gate: u64| {
            // SAFETY: the memory lives until the streams are done.
            unsafe { opener.write_value32(gates.ptr() + 4 * gate, 1, 0).unwrap() };
        };
        // SAFETY: the memory lives until the streams are done.
        unsafe { b.wait_value32(gates.ptr() + 4, 1, WaitValueFlags::EQUAL).unwrap() };
        assert_eq!(Stream::join_pending(all()).unwrap(), Some(b.clone()));
        // SAFETY: the memory lives until the streams are done.
        unsafe { a.wait_value32(gates.ptr(), 1, WaitValueFlags::EQUAL).unwrap() };
        let joined = Stream::join_pending(all()).unwrap().unwrap();
        assert_eq!(joined, a);
        open(0);
        let event = Event::new(0).unwrap();
        event.record(Some(&joined)).unwrap();
        assert!(!event.query().unwrap(), "it waits for the other one");
        open(1);
        event.synchronize().unwrap();
        assert!(Stream::join_pending(all()).unwrap().is_none());
    });
}

#[test]
fn host_functions_run_in_stream_order() {
    run_in_context(|_| {
        let stream = Stream::new(1).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let gate = mem_alloc(8).unwrap();
        gate.write(0, &[0; 8]).unwrap();
        // SAFETY: the memory lives until the stream is done.
        unsafe { stream.wait_value64(gate.ptr(), 5, WaitValueFlags::GREATER_OR_EQUAL).unwrap() };
        let to = send.clone();
        stream.launch_host_func(move || to.send(1).unwrap()).unwrap();
        let to = send.clone();
        stream.add_callback(move |result| to.send(if result.is_ok() { 2 } else { -2 }).unwrap()).unwrap();
        stream.launch_host_func(move || send.send(3).unwrap()).unwrap();
        assert!(receive.try_recv().is_err());
        // SAFETY: the memory lives until the streams are done.
        unsafe { Stream::new(1).unwrap().write_value64(gate.ptr(), 6, 0).unwrap() };
        stream.synchronize().unwrap();
        assert_eq!(receive.iter().collect::<Vec<_>>(), [1, 2, 3]);
    });
}

/// How many threads of this process have a name of the virtual GPU's streams.
#[cfg(target_os = "linux")]
fn n_stream_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has it");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| ["rtcg-host", "rtcg-stream"].contains(&name.trim())).count()
}

#[test]
#[cfg(target_os = "linux")]
fn host_functions_that_nobody_waits_for_keep_no_threads() {
    if !is_child() {
        run_test_in_child("streams::host_functions_that_nobody_waits_for_keep_no_threads");
        return;
    }
    run_in_context(|_| {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let (send, receive) = std::sync::mpsc::channel();
        for number in 0..100 {
            let (gate, send) = (gate.clone(), send.clone());
            let wait = move || {
                gate.lock().expect("no thread panics").recv().expect("the gate is there");
                send.send(number).expect("somebody listens");
            };
            Stream::new(1).unwrap().launch_host_func(wait).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(n_stream_threads() < 20, "{} threads", n_stream_threads());
        assert!(receive.try_recv().is_err());
        (0..100).for_each(|_| open.send(()).unwrap());
        let mut numbers: Vec<i32> = receive.iter().take(100).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..100));
    });
}

/// The count is the process's, so that other tests must not run beside it.
#[test]
fn launches_may_wait_as_long_as_a_host_function_stands_before_them() {
    if !is_child() {
        run_test_in_child("streams::launches_may_wait_as_long_as_a_host_function_stands_before_them");
        return;
    }
    run_in_context(|ctx| {
        let stream = Stream::new(1).unwrap();
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Mutex::new(gate);
        stream.launch_host_func(move || gate.lock().unwrap().recv().unwrap()).unwrap();
        assert!(ctx.queue_may_be_full());
        open.send(()).unwrap();
        stream.synchronize().unwrap();
        assert!(!ctx.queue_may_be_full());
        stream.add_callback(drop).unwrap();
        stream.synchronize().unwrap();
        assert!(!ctx.queue_may_be_full());

        let mode = rtcg_cuda_sys::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let (graph, ()) = stream.capture(mode, || stream.launch_host_func(|| ())).unwrap();
        let exec = graph.instantiate(0).unwrap();
        drop(graph);
        assert!(ctx.queue_may_be_full(), "each launch of the graph calls it");
        drop(exec);
        assert!(!ctx.queue_may_be_full());

        let memory = mem_alloc(8).unwrap();
        memory.write(0, &[5; 8]).unwrap();
        // SAFETY: the memory lives until the stream is done.
        unsafe { stream.wait_value64(memory.ptr(), 1, WaitValueFlags::GREATER_OR_EQUAL).unwrap() };
        stream.synchronize().unwrap();
        assert!(ctx.queue_may_be_full(), "nobody says when the device has seen the value");
    });
}

#[test]
fn a_panic_in_a_host_function_is_reported_and_ends_nothing() {
    if !is_child() {
        let (out, _) = run_test_in_child("streams::a_panic_in_a_host_function_is_reported_and_ends_nothing");
        assert!(out.contains("a host function panicked: not to reach the driver"), "{out}");
        return;
    }
    rtcg_driver::set_cleanup_error_hook(|error| println!("{error}"));
    run_in_context(|_| {
        let stream = Stream::new(1).unwrap();
        stream.launch_host_func(|| panic!("not to reach the driver")).unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn events_say_why_there_is_no_time() {
    run_in_context(|_| {
        let (a, b, untimed) = (Event::new(0).unwrap(), Event::new(0).unwrap(), Event::new(2).unwrap());
        let text = |end: &Event, start: &Event| end.time_since(start).unwrap_err().to_string();
        assert!(text(&b, &a).ends_with("the first event was never recorded; call record() before"));
        a.record(None).unwrap();
        assert!(text(&b, &a).contains("the second event was never recorded"));
        b.record(None).unwrap();
        b.synchronize().unwrap();
        assert!(b.time_since(&a).unwrap() >= 0.0);
        untimed.record(None).unwrap();
        assert!(text(&untimed, &a).contains("the second event was created with DISABLE_TIMING"));
        let error = a.ipc_handle().unwrap_err().to_string();
        assert!(error.contains("INTERPROCESS | DISABLE_TIMING") || error.contains("not supported"), "{error}");
    });
}
