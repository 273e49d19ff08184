//! Contexts: their stack, their end, and what is left of objects whose context is gone.

use super::*;

#[test]
fn the_context_stack_belongs_to_the_thread() {
    let dev = test_device();
    // A program that makes none works in the primary one.
    dev.make_context(0).unwrap().detach().unwrap();
    assert!(Context::current().is_none());
    let error = mem_alloc(16).unwrap_err();
    let expected = "explicit_context_dependent failed: invalid device context - no currently active context? Each thread \
                    needs one: make it, or push one that exists (`with context:` in Python)";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.kind, ErrorKind::Logic);
    assert!(Context::pop().unwrap_err().to_string().contains("cannot pop non-current context"));

    let a = dev.make_context(0).unwrap();
    let b = dev.make_context(0).unwrap();
    assert_ne!(a, b);
    assert_eq!(Context::context_stack(), [a.clone(), b.clone()]);
    assert_eq!(Context::current_device().unwrap(), dev);
    assert_eq!(Context::pop().unwrap(), b);
    assert_eq!(Context::current(), Some(a.clone()));
    Context::synchronize().unwrap();
    std::thread::scope(|s| {
        s.spawn(|| {
            assert!(Context::current().is_none());
            b.push().unwrap();
            assert_eq!(Context::current(), Some(b.clone()));
            Context::synchronize().unwrap();
        });
    });
    b.push().unwrap();
    b.detach().unwrap();
    assert_eq!(Context::current(), Some(a.clone()));
    mem_alloc(16).unwrap();
    assert_eq!(b.detach().unwrap_err().kind, ErrorKind::Logic);
    assert!(b.push().is_err());
    a.detach().unwrap();
    assert!(Context::current().is_none());
    assert!(mem_alloc(16).is_err());
}

#[test]
fn primary_contexts_are_shared_and_not_pushed() {
    let dev = test_device();
    let a = dev.retain_primary_context().unwrap();
    let b = dev.retain_primary_context().unwrap();
    assert_eq!(a, b);
    assert!(Context::current().is_none());
    a.push().unwrap();
    let memory = mem_alloc(64).unwrap();
    memory.write(0, &[7; 64]).unwrap();
    Context::pop().unwrap();
    drop(memory);
    a.detach().unwrap();
    assert!(b.is_alive());
    b.push().unwrap();
    Context::synchronize().unwrap();
    Context::pop().unwrap();
}

#[test]
fn primary_contexts_have_flags() {
    if !is_child() {
        run_test_in_child("contexts::primary_contexts_have_flags");
        return;
    }
    let dev = test_device();
    assert_eq!(dev.primary_context_state().unwrap(), (0, false));
    dev.set_primary_context_flags(CU_CTX_SCHED_YIELD.0).unwrap();
    let ctx = dev.retain_primary_context().unwrap();
    assert_eq!(dev.primary_context_state().unwrap(), (CU_CTX_SCHED_YIELD.0, true));
    ctx.detach().unwrap();
    assert!(!dev.primary_context_state().unwrap().1);
    assert_eq!(dev.set_primary_context_flags(1 << 30).unwrap_err().code, CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// Everything of one context, to be dropped in odd ways.
fn make_one_object_of_each_kind() -> Vec<Box<dyn Send>> {
    let module = Module::from_image(PTX).unwrap();
    let function = module.function("scale").unwrap();
    vec![
        Box::new(mem_alloc(100).unwrap()),
        Box::new(HostAllocation::new(100, 0).unwrap()),
        Box::new(ManagedAllocation::new(100, 0).unwrap()),
        Box::new(Stream::new(0).unwrap()),
        Box::new(Event::new(0).unwrap()),
        Box::new(module),
        Box::new(function),
    ]
}

#[test]
fn objects_may_be_dropped_in_any_order_and_from_any_thread() {
    rtcg_driver::set_cleanup_error_hook(|error| panic!("{error}"));
    let dev = test_device();
    let ctx = dev.make_context(0).unwrap();
    let (here, there, after) =
        (make_one_object_of_each_kind(), make_one_object_of_each_kind(), make_one_object_of_each_kind());
    drop(here);
    std::thread::spawn(move || drop(there)).join().unwrap();
    let other = dev.make_context(0).unwrap();
    drop(make_one_object_of_each_kind());
    Context::pop().unwrap();
    Context::pop().unwrap();
    let late = {
        ctx.push().unwrap();
        let late = make_one_object_of_each_kind();
        Context::pop().unwrap();
        late
    };
    drop(late);
    ctx.detach().unwrap();
    drop(after);
    drop(ctx);
    drop(other);
}

#[test]
fn using_objects_of_a_dead_context_is_an_error() {
    let ctx = test_device().make_context(0).unwrap();
    let module = Module::from_image(PTX).unwrap();
    let function = module.function("nothing").unwrap();
    let (memory, stream, event) = (mem_alloc(8).unwrap(), Stream::new(0).unwrap(), Event::new(0).unwrap());
    ctx.detach().unwrap();
    let other = test_device().make_context(0).unwrap();
    // SAFETY: the kernel takes no arguments; its context is gone, which the call must notice.
    let launch = |stream| unsafe { function.launch([1, 1, 1], [1, 1, 1], 0, stream, &[]) };
    let errors = [
        launch(None).unwrap_err(),
        launch(Some(&stream)).unwrap_err(),
        module.function("nothing").unwrap_err(),
        module.global("counter").unwrap_err(),
        stream.synchronize().unwrap_err(),
        stream.wait_for_event(&event).unwrap_err(),
        event.record(None).unwrap_err(),
        event.query().unwrap_err(),
        memory.write(0, &[0; 8]).unwrap_err(),
        function.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS).unwrap_err(),
        // SAFETY: nothing is copied, the stream is gone.
        unsafe { memcpy_dtod_async(memory.ptr(), memory.ptr(), 8, Some(&stream)) }.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.code, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, "{error}");
    }
    assert_eq!(stream.synchronize().unwrap_err().to_string(), "cuStreamSynchronize failed: context is destroyed");
    memory.free().unwrap();
    other.detach().unwrap();
}

#[test]
fn objects_of_two_drivers_do_not_mix() {
    let first = test_device();
    let Some(second) = Device::all().unwrap().into_iter().find(|d| d.is_virtual() != first.is_virtual()) else {
        return;
    };
    assert!(!first.can_access_peer(&second).unwrap());
    let a = first.make_context(0).unwrap();
    let stream = Stream::new(0).unwrap();
    let memory = mem_alloc(64).unwrap();
    memory.write(0, &[5; 64]).unwrap();
    let b = second.make_context(0).unwrap();
    let elsewhere = mem_alloc(64).unwrap();
    elsewhere.write(0, &[6; 64]).unwrap();
    // SAFETY: the driver is not called, because the stream is not its own.
    let error = unsafe { memset_d8_async(elsewhere.ptr(), 0, 64, Some(&stream)) }.unwrap_err();
    assert!(error.to_string().contains("the stream belongs to another driver"), "{error}");
    assert!(Context::enable_peer_access(&a, rtcg_driver::PeerAccessFlags::DEFAULT).is_err());
    let mut back = [0; 64];
    memory.read(0, &mut back).unwrap();
    assert_eq!(back, [5; 64]);
    b.detach().unwrap();
    assert_eq!(Context::current(), Some(a.clone()));
    mem_alloc(64).unwrap().write(0, &back).unwrap();
    a.detach().unwrap();
}

#[test]
fn a_context_may_go_while_other_threads_free_its_memory() {
    let dev = test_device();
    for round in 0..8_u32 {
        let ctx = dev.make_context(0).unwrap();
        let memory: Vec<_> = (0..64).map(|_| (mem_alloc(256).unwrap(), Event::new(0).unwrap())).collect();
        Context::pop().unwrap();
        let mut parts: Vec<Vec<_>> = (0..4).map(|_| Vec::new()).collect();
        for (index, item) in memory.into_iter().enumerate() {
            parts[index % 4].push(item);
        }
        std::thread::scope(|s| {
            for part in parts {
                s.spawn(|| {
                    for (memory, event) in part {
                        // Either it is still there or the error says that it is gone.
                        if let Err(error) = memory.write(0, &[1; 256]) {
                            let gone =
                                [CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, CUresult::CUDA_ERROR_INVALID_CONTEXT];
                            assert!(gone.contains(&error.code), "{error}");
                        }
                        drop((memory, event));
                    }
                });
            }
            std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 40));
            ctx.detach().unwrap();
        });
    }
}

#[test]
fn resources_keep_a_dropped_context_alive() {
    let dev = test_device();
    let ctx = dev.make_context(0).unwrap();
    let memory = mem_alloc(64).unwrap();
    Context::pop().unwrap();
    drop(ctx);
    memory.write(0, &[1; 64]).unwrap();
    let mut back = [0; 64];
    std::thread::scope(|s| s.spawn(|| memory.read(0, &mut back).unwrap()).join().unwrap());
    assert_eq!(back, [1; 64]);
}

#[test]
fn a_thread_may_end_with_contexts_on_its_stack() {
    let dev = test_device();
    let survivors = std::thread::spawn(move || {
        dev.make_context(0).unwrap();
        let kept = make_one_object_of_each_kind();
        dev.make_context(0).unwrap();
        make_one_object_of_each_kind();
        kept
    })
    .join()
    .unwrap();
    drop(survivors);
}

#[test]
fn a_process_may_exit_with_everything_alive() {
    if !is_child() {
        let (_, err) = run_test_in_child("contexts::a_process_may_exit_with_everything_alive");
        assert_eq!(err, "");
        return;
    }
    thread_local! {
        static DROPPED_AT_THREAD_END: std::cell::RefCell<Vec<Box<dyn Send>>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    test_device().make_context(0).unwrap();
    DROPPED_AT_THREAD_END.with(|kept| kept.borrow_mut().extend(make_one_object_of_each_kind()));
    Box::leak(Box::new(make_one_object_of_each_kind()));
    std::process::exit(0);
}

#[cfg(unix)]
#[test]
fn after_a_fork_the_child_does_nothing() {
    if !is_child() {
        let (out, _) = run_test_in_child("contexts::after_a_fork_the_child_does_nothing");
        assert!(out.contains("the parent goes on"), "{out}");
        return;
    }
    let ctx = test_device().make_context(0).unwrap();
    let objects = make_one_object_of_each_kind();
    let memory = mem_alloc(64).unwrap();
    // SAFETY: the child only drops objects, looks at errors and leaves by `_exit`.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            let error = memory.write(0, &[0; 64]).unwrap_err();
            let told = error.to_string().contains("forked");
            drop(objects);
            drop(memory);
            let _ = Context::pop();
            drop(ctx);
            libc::_exit(if told { 0 } else { 3 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
        assert_eq!(status, 0);
    }
    memory.write(0, &[1; 64]).unwrap();
    drop(objects);
    println!("the parent goes on");
}

#[test]
fn a_faulting_kernel_is_an_error_and_nothing_more() {
    if !is_child() {
        let (out, _) = run_test_in_child("contexts::a_faulting_kernel_is_an_error_and_nothing_more");
        assert!(out.contains("failed: an illegal memory access was encountered"), "{out}");
        return;
    }
    let dev = test_device();
    let ctx = dev.make_context(0).unwrap();
    let objects = make_one_object_of_each_kind();
    let fault = Module::from_image(PTX).unwrap().function("fault").unwrap();
    // SAFETY: the kernel's access is wrong on purpose; the driver must contain it.
    let launched = unsafe { fault.launch([1, 1, 1], [1, 1, 1], 0, None, &[]) };
    let error = launched.and_then(|()| Context::synchronize()).unwrap_err();
    println!("{error}");
    assert_eq!(error.code, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    if dev.is_virtual() {
        assert!(error.to_string().contains("fault"), "the kernel is named: {error}");
    }
    assert!(Context::synchronize().is_err(), "the error is sticky");
    drop(objects);
    drop(fault);
    Context::pop().unwrap();
    drop(ctx);
}

#[test]
fn contexts_of_other_libraries_are_used_and_do_no_harm() {
    run_in_context(|ctx| {
        let (table, module) = (ctx.driver_table(), Module::from_image(PTX).unwrap());
        let scale = module.function("scale").unwrap();
        let foreign = std::thread::spawn({
            let ctx = ctx.clone();
            move || {
                // Another library, which knows nothing of our stack.
                // SAFETY: the handle is alive.
                assert!(unsafe { ctx.driver_table().cuCtxSetCurrent(ctx.handle()) }.is_success());
                assert!(Context::current().is_none());
                let seen = Context::current_or_foreign().expect("it is current");
                assert_eq!((&seen, seen.kind()), (&ctx, rtcg_driver::ContextKind::Foreign));
                mem_alloc(16).unwrap();
                seen.close().unwrap();
                assert!(ctx.is_alive());
            }
        });
        foreign.join().unwrap();
        let mut other = CUcontext::null();
        // SAFETY: writes one handle; the context is destroyed below.
        unsafe { assert!(table.cuCtxCreate_v2(&raw mut other, 0, ctx.device().handle()).is_success()) };
        let memory = mem_alloc(16).unwrap();
        // SAFETY: the context was just made.
        unsafe { assert!(table.cuCtxSetCurrent(other).is_success()) };
        let args = [&memory.ptr().to_ne_bytes()[..], &[0; 8]].concat();
        // SAFETY: the arguments fit the kernel, which does nothing for n = 0.
        unsafe { scale.launch([1; 3], [1; 3], 0, None, &args).unwrap() };
        Stream::new(0).unwrap().synchronize().unwrap();
        let mut current = CUcontext::null();
        // SAFETY: writes one handle; the other context is alive and not used any more.
        unsafe {
            assert!(table.cuCtxGetCurrent(&raw mut current).is_success());
            assert_eq!(current, ctx.handle());
            assert!(table.cuCtxDestroy(other).is_success());
        }
    });
}

#[test]
fn copies_and_fills_put_the_context_back() {
    run_in_context(|ctx| {
        let table = ctx.driver_table();
        let (a, b, stream) = (mem_alloc(16).unwrap(), mem_alloc(16).unwrap(), Stream::new(0).unwrap());
        // SAFETY: null means none.
        let displace = || assert!(unsafe { table.cuCtxSetCurrent(CUcontext::null()) }.is_success());
        let mut host = [0; 16];
        let copies: [&mut dyn FnMut() -> rtcg_driver::Result<()>; 8] = unsafe {
            // SAFETY: all memory has 16 bytes and lives until the streams are done.
            [
                &mut || memset_d32(a.ptr(), 7, 4),
                &mut || memset_d32_async(a.ptr(), 9, 2, Some(&stream)),
                &mut || memset_d2d8(a.ptr(), 4, 3, 2, 2),
                &mut || memcpy_dtod(b.ptr(), a.ptr(), 16),
                &mut || memcpy_htod(a.ptr(), &[5; 16]),
                &mut || mem_get_info().map(drop),
                &mut || Context::flags().map(drop),
                &mut || memcpy_dtoh(&mut host, b.ptr()),
            ]
        };
        for copy in copies {
            displace();
            copy().unwrap();
            stream.synchronize().unwrap();
        }
        assert_eq!(host, [3, 3, 0, 0, 3, 3, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
    });
}

#[test]
fn set_current_replaces_the_top() {
    let dev = test_device();
    let (a, b) = (dev.make_context(0).unwrap(), dev.make_context(0).unwrap());
    Context::set_current(Some(&a)).unwrap();
    assert_eq!(Context::context_stack(), [a.clone(), a.clone()]);
    Context::set_current(Some(&b)).unwrap();
    assert_eq!(Context::context_stack(), [a.clone(), b.clone()]);
    Context::set_current(None).unwrap();
    Context::set_current(None).unwrap();
    Context::set_current(None).unwrap();
    assert!(Context::context_stack().is_empty());
    Context::set_current(Some(&b)).unwrap();
    assert_eq!(Context::context_stack(), std::slice::from_ref(&b));
    a.close().unwrap();
    a.close().unwrap();
    b.close().unwrap();
    assert!(Context::context_stack().is_empty() && Context::set_current(Some(&b)).is_err());
}
