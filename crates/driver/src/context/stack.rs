//! Each thread's stack of contexts, whose top is the current context.
//!
//! This crate keeps the stack itself. The driver's own stack is at most one deep: after each push and pop its top is
//! set to the top of ours. A thread that ends with contexts on its stack drops them.

use super::temporary::TEMPORARY;
use super::{Context, ContextKind, Device, default_context, loaded_drivers};
use crate::error::{Error, FORKED, Result};
use crate::process_state;
use rtcg_cuda_sys::*;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

thread_local! {
    /// Whether the thread has popped a context, as a program does that makes contexts current itself.
    static HAS_POPPED: Cell<bool> = const { Cell::new(false) };
    static CONTEXT_STACK: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    /// The context that is current in a driver though it is not on the stack: one that is pushed for the moment, or that
    /// this crate did not push.
    pub(super) fn current_foreign_context() -> Option<Self> {
        if process_state::is_forked() {
            return None;
        }
        // SAFETY: a context that is pushed for the moment is borrowed that long.
        if let Some(pushed) = unsafe { TEMPORARY.get().as_ref() }.filter(|ctx| ctx.is_current_in_driver()) {
            return Some(pushed.clone());
        }
        loaded_drivers::drivers_if_initialized()?.tables.iter().find_map(|table| {
            let (mut handle, mut device) = (CUcontext::null(), 0);
            // SAFETY: writes one handle each.
            let found = unsafe {
                table.cuCtxGetCurrent(&raw mut handle).is_success()
                    && !handle.is_null()
                    && table.cuCtxGetDevice(&raw mut device).is_success()
            };
            let device = Device::from_handle(table, device).ok().filter(|_| found)?;
            Some(Self::from_parts(device, handle, ContextKind::Foreign))
        })
    }

    /// Whether the driver has this context as the calling thread's.
    fn is_current_in_driver(&self) -> bool {
        let mut current = CUcontext::null();
        // SAFETY: writes one handle.
        unsafe { self.0.table.cuCtxGetCurrent(&raw mut current) }.is_success() && current == self.0.handle
    }

    /// The context that another library made current in this thread, else the default one.
    fn foreign_or_default_context() -> Result<Option<Self>> {
        let default = || default_context::push_default_context(HAS_POPPED.get());
        Self::current_foreign_context().map_or_else(default, |ctx| Ok(Some(ctx)))
    }

    /// The context on top of the calling thread's stack.
    #[inline]
    pub fn current() -> Option<Self> {
        CONTEXT_STACK.try_with(|s| s.borrow().last().cloned()).ok().flatten()
    }

    /// Whether both are references to the same object.
    #[inline(always)]
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether this context is on top of the calling thread's stack.
    #[inline]
    pub fn is_current(&self) -> bool {
        CONTEXT_STACK
            .try_with(|s| s.borrow().last().is_some_and(|top| top.is_same_object(self) || top == self))
            .unwrap_or(false)
    }

    /// Whether the top of the calling thread's stack is a reference to this object, which then survives the loss of
    /// all other references.
    #[inline]
    pub fn is_held_by_stack(&self) -> bool {
        CONTEXT_STACK.try_with(|s| s.borrow().last().is_some_and(|top| top.is_same_object(self))).unwrap_or(false)
    }

    /// The top of the calling thread's stack, or else the context that another library made current in this thread.
    pub fn current_or_foreign() -> Option<Self> {
        Self::current().or_else(Self::current_foreign_context)
    }

    /// Replaces the top of the calling thread's stack by `ctx` and makes it current, as `cuCtxSetCurrent` does with the
    /// driver's own stack; `None` pops, which is not an error if the stack is empty.
    pub fn set_current(ctx: Option<&Self>) -> Result<()> {
        let Some(ctx) = ctx else {
            return if Self::current().is_some() { Self::pop().map(drop) } else { Ok(()) };
        };
        ctx.push()?;
        let _ = CONTEXT_STACK.try_with(|s| {
            let mut stack = s.borrow_mut();
            let below = stack.len().checked_sub(2);
            below.map(|index| stack.remove(index))
        });
        Ok(())
    }

    /// Makes the driver agree with the stack again, should another library of this process have
    /// made its own context current in this thread. True when that was so.
    pub(crate) fn ensure_current_in_driver(&self) -> Result<bool> {
        let table = self.driver_table_if_alive("cuCtxSetCurrent")?;
        let mut current = CUcontext::null();
        // SAFETY: writes one handle.
        unsafe { call_driver!(table, cuCtxGetCurrent(&raw mut current)) }?;
        if current == self.0.handle {
            return Ok(false);
        }
        self.make_current("cuCtxSetCurrent")?;
        Ok(true)
    }

    /// The context to which a new resource belongs: the top of the stack, or else the context that another library made
    /// current in this thread. Makes the same context current in the driver.
    pub fn current_or_error() -> Result<Self> {
        if let Some(ctx) = Self::current() {
            // A context that was detached by another thread is reported by the call that follows.
            if ctx.is_alive() && !process_state::is_forked() {
                ctx.ensure_current_in_driver()?;
            }
            return Ok(ctx);
        }
        Self::foreign_or_default_context()?.ok_or_else(|| {
            let detail = "no currently active context? Each thread needs one: make it, or push one that exists \
                          (`with context:` in Python)";
            Error::new("explicit_context_dependent", CUresult::CUDA_ERROR_INVALID_CONTEXT, why_none(detail))
        })
    }

    /// Pushes this context onto the calling thread's stack and makes it current.
    pub fn push(&self) -> Result<()> {
        if !self.is_alive() {
            let detail = "the context was detached";
            return Err(Error::new("cuCtxPushCurrent", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail));
        }
        self.make_current("cuCtxPushCurrent")?;
        let _ = CONTEXT_STACK.try_with(|s| s.borrow_mut().push(self.clone()));
        Ok(())
    }

    /// Pops the top of the calling thread's stack; the one below becomes current.
    pub fn pop() -> Result<Self> {
        let popped = Self::end_push()?;
        HAS_POPPED.set(true);
        Ok(popped)
    }

    /// Pops what the caller has pushed for a while: [`Context::pop`] after which the thread takes the default context as
    /// before.
    pub fn end_push() -> Result<Self> {
        let popped = CONTEXT_STACK.try_with(|s| s.borrow_mut().pop()).ok().flatten();
        let popped = popped.ok_or_else(|| {
            let detail = "cannot pop non-current context";
            Error::new("cuCtxPopCurrent", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail)
        })?;
        restore_current_context_after(&popped)?;
        Ok(popped)
    }

    /// The contexts on the calling thread's stack, the current one last.
    pub fn context_stack() -> Vec<Self> {
        CONTEXT_STACK.try_with(|s| s.borrow().clone()).unwrap_or_default()
    }

    /// The device of the current context.
    pub fn current_device() -> Result<Device> {
        match Self::current() {
            Some(ctx) => Ok(ctx.device()),
            None => Self::foreign_or_default_context()?
                .map(|ctx| ctx.device())
                .ok_or_else(|| Error::new("cuCtxGetDevice", CUresult::CUDA_ERROR_INVALID_CONTEXT, why_none(""))),
        }
    }

    /// Takes this context off the calling thread's stack, wherever it is there.
    pub(super) fn remove_from_stack(&self) -> Result<()> {
        let was_here = CONTEXT_STACK
            .try_with(|s| {
                let mut stack = s.borrow_mut();
                let before = stack.len();
                stack.retain(|ctx| ctx != self);
                stack.len() != before
            })
            .unwrap_or(false);
        if was_here { restore_current_context_after(self) } else { Ok(()) }
    }

    fn make_current(&self, call: &'static str) -> Result<()> {
        // SAFETY: the handle is alive, as the caller checked.
        unsafe { call_driver!(self.0.table, cuCtxSetCurrent(self.0.handle)) }.map_err(|error| Error { call, ..error })
    }
}

/// Why a thread has no context: `otherwise`, if the process is not a forked one.
fn why_none(otherwise: &'static str) -> &'static str {
    if process_state::is_forked() { FORKED } else { otherwise }
}

/// Makes the driver agree with the stack again after `gone` left it.
fn restore_current_context_after(gone: &Context) -> Result<()> {
    if process_state::is_forked() {
        return Ok(());
    }
    let table = gone.0.table;
    let stack = Context::context_stack();
    let below = stack.iter().rev().find(|ctx| ctx.0.table == table && ctx.is_alive());
    let handle = below.map_or(CUcontext::null(), |ctx| ctx.0.handle);
    // SAFETY: null is allowed and means none.
    unsafe { call_driver!(table, cuCtxSetCurrent(handle)) }.map_err(|error| Error { call: "cuCtxPopCurrent", ..error })
}

/// Calls `body` with the calling thread's current context, without taking a reference to it. `body`
/// must not push, pop or drop contexts.
#[inline]
pub(crate) fn with_current_context<T>(body: impl FnOnce(Option<&Context>) -> T) -> T {
    let mut body = Some(body);
    let on_stack = CONTEXT_STACK.try_with(|s| {
        let stack = s.borrow();
        let top = stack.last()?;
        body.take().map(|body| body(Some(top)))
    });
    match (on_stack.ok().flatten(), body) {
        (Some(value), _) => value,
        (None, Some(body)) => body(Context::current_foreign_context().as_ref()),
        (None, None) => unreachable!("the body is taken only to make the value"),
    }
}

/// Whether a call failed because another library of this process had made its own context current in
/// this thread. Then ours is current again.
#[cold]
#[inline(never)]
pub(crate) fn restore_displaced_context(code: CUresult) -> bool {
    let is_about_context = matches!(
        code,
        CUresult::CUDA_ERROR_INVALID_CONTEXT
            | CUresult::CUDA_ERROR_INVALID_HANDLE
            | CUresult::CUDA_ERROR_INVALID_VALUE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
    );
    let is_ours = |ctx: &Context| ctx.ensure_current_in_driver().unwrap_or(false);
    is_about_context
        && TEMPORARY.get().is_null()
        && !process_state::is_forked()
        && Context::current().as_ref().is_some_and(is_ours)
}

/// The table of the calling thread's current context, in the name of `call`.
#[inline]
pub(crate) fn current_driver_table(call: &'static str) -> Result<&'static DriverTable> {
    let top = CONTEXT_STACK.try_with(|s| s.borrow().last().map(|ctx| ctx.0.table)).ok().flatten();
    match top {
        Some(table) => Ok(table),
        None => foreign_or_default_driver_table(call),
    }
}

#[cold]
fn foreign_or_default_driver_table(call: &'static str) -> Result<&'static DriverTable> {
    match Context::foreign_or_default_context()? {
        Some(ctx) => Ok(ctx.0.table),
        None => Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_CONTEXT, why_none(""))),
    }
}
