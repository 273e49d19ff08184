//! Threads of a program that makes no context share the primary context of the default device.

use rtcg_driver::memory::mem_alloc;
use rtcg_driver::{Context, ContextKind, Device, ErrorKind};

#[test]
fn the_first_call_takes_the_primary_context_until_the_program_makes_one() {
    own_process!();
    assert!(Context::current().is_none());
    let memory = mem_alloc(16).unwrap();
    let ctx = Context::current().unwrap();
    assert_eq!(ctx.kind(), ContextKind::Primary);
    assert_eq!(memory.context(), &ctx);
    std::thread::scope(|s| {
        s.spawn(|| {
            assert!(Context::current().is_none());
            Context::synchronize().unwrap();
            assert_eq!(Context::current(), Some(ctx.clone()));
        });
    });
    assert_eq!(Context::pop().unwrap(), ctx);
    assert_eq!(Context::current_device().unwrap(), ctx.device());
    assert_eq!(Context::current(), Some(ctx.clone()));

    let own = Device::new(0).unwrap().make_context(0).unwrap();
    assert_eq!(Context::context_stack(), [ctx.clone(), own.clone()]);
    Context::pop().unwrap();
    Context::pop().unwrap();
    let error = mem_alloc(16).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Logic);
    assert!(error.to_string().contains("no currently active context"), "{error}");
    own.detach().unwrap();
}

#[test]
fn a_program_declares_the_context_of_threads_that_have_none() {
    own_process!();
    rtcg_driver::init(0).unwrap();
    let own = Device::new(0).unwrap().make_context(0).unwrap();
    let in_thread = |work: &(dyn Fn() -> rtcg_driver::Result<Context> + Sync)| {
        std::thread::scope(|s| s.spawn(work).join().unwrap())
    };
    let synchronized = || Context::synchronize().map(|()| Context::current().unwrap());
    assert!(Context::default_context().is_none());
    assert_eq!(in_thread(&synchronized).unwrap_err().kind, ErrorKind::Logic);
    Context::set_default(Some(&own)).unwrap();
    assert_eq!(in_thread(&synchronized).unwrap(), own);
    // The thread that declared it has popped its own, and is asked to make one current.
    Context::pop().unwrap();
    assert_eq!(Context::synchronize().unwrap_err().kind, ErrorKind::Logic);
    Context::set_default(None).unwrap();
    assert_eq!(in_thread(&synchronized).unwrap_err().kind, ErrorKind::Logic);
    let declared = in_thread(&Context::current_or_declared).unwrap();
    assert_eq!(declared.kind(), ContextKind::Primary);
    assert_eq!(in_thread(&synchronized).unwrap(), declared);
    own.detach().unwrap();
    assert!(Context::set_default(Some(&own)).is_err());
}

#[test]
fn libraries_that_retain_and_push_leave_threads_their_default() {
    own_process!();
    rtcg_driver::init(0).unwrap();
    let device = Device::new(0).unwrap();
    let of_library = device.retain_primary_context_unseen().unwrap();
    of_library.push().unwrap();
    assert_eq!(Context::end_push().unwrap(), of_library);
    Context::synchronize().unwrap();
    assert_eq!(Context::current().unwrap().kind(), ContextKind::Primary);
    std::thread::scope(|s| {
        s.spawn(|| {
            let own = device.make_context(0).unwrap();
            Context::set_default(Some(&own)).unwrap();
            Context::end_push().unwrap();
            of_library.push().unwrap();
            Context::end_push().unwrap();
            Context::synchronize().unwrap();
            assert_eq!(Context::current(), Some(own.clone()));
            Context::pop().unwrap();
            assert_eq!(Context::synchronize().unwrap_err().kind, ErrorKind::Logic);
        });
    });
}
