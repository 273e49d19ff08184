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
