//! Contexts and each thread's stack of them.
//!
//! The stack is ours, not the driver's: the driver's own stack is kept at depth one at most, its
//! top being set to the top of ours after each push and pop. A thread that ends with contexts on
//! its stack simply gives them up.
//!
//! Resources hold their [`Context`] and free themselves through [`Context::free_in_context`], which knows
//! whether there is still something to free, and makes the context current for the moment.

#[macro_use]
mod calls;
mod default_context;
mod device;
pub(crate) mod loaded_drivers;
pub(crate) mod multiprocessor;
mod settings;
pub(crate) mod staging_buffers;

pub use device::Device;

use crate::active_captures::with_relaxed_capture_mode;
use crate::error::{Error, Result, set_launch_describer};
use crate::flags::PeerAccessFlags;
use crate::hidden_captures::between_hidden_captures;
use crate::launch_queue::LaunchQueue;
use crate::process_state;
use rtcg_cuda_sys::*;
use staging_buffers::StagingBuffers;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

/// How a context came to this process's hands, and so how it is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextKind {
    /// Created here; destroyed with its last reference.
    Created,
    /// A primary context, retained; released with its last reference.
    Primary,
    /// Someone else's (attached to); left alone.
    Foreign,
}

struct ContextInner {
    table: &'static DriverTable,
    handle: CUcontext,
    device: Device,
    kind: ContextKind,
    /// False once destroyed or released.
    alive: AtomicBool,
    /// Held shared while a resource is freed and exclusively while the context goes, so that a
    /// resource found to be alive stays so until it is freed.
    lifetime: RwLock<()>,
    staging: StagingBuffers,
    queue: LaunchQueue,
}

/// A context. Cloning gives another reference to the same one.
#[derive(Clone)]
pub struct Context(Arc<ContextInner>);

/// What the calling thread's context launched, where it is one of this driver.
fn describe_current_launches(table: &DriverTable) -> Option<String> {
    Context::current().filter(|ctx| ctx.driver_table() == table)?.launch_queue().describe_pending()
}

thread_local! {
    static CONTEXT_STACK: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
    /// The context that is current for the moment ([`Context::with_current`]), whatever the stack says.
    static TEMPORARY: Cell<*const Context> = const { Cell::new(std::ptr::null()) };
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({:?}, {:?})", self.0.kind, self.0.handle)
    }
}

impl PartialEq for Context {
    /// The same driver context. A handle may be used again after its context was destroyed, so contexts
    /// that were destroyed equal only themselves.
    fn eq(&self, other: &Self) -> bool {
        let same_handle = self.0.handle == other.0.handle && self.0.table == other.0.table;
        Arc::ptr_eq(&self.0, &other.0) || (same_handle && self.is_alive() && other.is_alive())
    }
}

impl Eq for Context {}

impl std::hash::Hash for Context {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.handle.hash(state);
    }
}

/// Making, pushing and popping.
impl Context {
    fn from_parts(device: Device, handle: CUcontext, kind: ContextKind) -> Self {
        set_launch_describer(describe_current_launches);
        let table = device.driver_table();
        let (alive, lifetime) = (AtomicBool::new(true), RwLock::new(()));
        let (staging, queue) = (StagingBuffers::default(), LaunchQueue::default());
        Self(Arc::new(ContextInner { table, handle, device, kind, alive, lifetime, staging, queue }))
    }

    /// Creates a context on a device and pushes it. See [`Device::make_context`].
    pub(crate) fn create(device: Device, flags: u32) -> Result<Self> {
        let table = device.driver_table();
        let mut handle = CUcontext::null();
        // SAFETY: both calls write one handle. The two-argument form of cuCtxCreate is in every
        // driver; it leaves the new context on the driver's stack, from which it is taken so
        // that the driver's stack stays at depth one.
        unsafe {
            call_driver!(table, cuCtxCreate_v2(&raw mut handle, flags, device.handle()))?;
            let mut popped = CUcontext::null();
            call_driver!(table, cuCtxPopCurrent(&raw mut popped))?;
        }
        let ctx = Self::from_parts(device, handle, ContextKind::Created);
        ctx.push()?;
        default_context::mark_context_chosen();
        Ok(ctx)
    }

    /// Retains a primary context. See [`Device::retain_primary_context`].
    pub(crate) fn retain_primary(device: Device) -> Result<Self> {
        default_context::mark_context_chosen();
        Self::retain_primary_handle(device)
    }

    pub(crate) fn retain_primary_handle(device: Device) -> Result<Self> {
        let mut handle = CUcontext::null();
        // SAFETY: writes one handle.
        unsafe { call_driver!(device.driver_table(), cuDevicePrimaryCtxRetain(&raw mut handle, device.handle())) }?;
        Ok(Self::from_parts(device, handle, ContextKind::Primary))
    }

    /// Wraps the context that is current in the driver, whichever library made it, and pushes it.
    pub fn attach() -> Result<Self> {
        let ctx = Self::current_foreign_context().ok_or_else(|| {
            let detail = "no context is current in this thread";
            Error::new("cuCtxAttach", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail)
        })?;
        ctx.push()?;
        Ok(ctx)
    }

    /// The context that is current in a driver though it is not on the stack: one that is pushed for the moment, or that
    /// this crate did not push.
    fn current_foreign_context() -> Option<Self> {
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
        Self::current_foreign_context().map_or_else(default_context::push_default_context, |ctx| Ok(Some(ctx)))
    }

    /// The top of the calling thread's stack.
    #[inline]
    pub fn current() -> Option<Self> {
        CONTEXT_STACK.try_with(|s| s.borrow().last().cloned()).ok().flatten()
    }

    /// Whether both are references to the same object.
    #[inline(always)]
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether it is the top of the calling thread's stack.
    #[inline]
    pub fn is_current(&self) -> bool {
        CONTEXT_STACK
            .try_with(|s| s.borrow().last().is_some_and(|top| top.is_same_object(self) || top == self))
            .unwrap_or(false)
    }

    /// Whether the top of the calling thread's stack is a reference to this object, which then does not go with
    /// any other.
    #[inline]
    pub fn is_held_by_stack(&self) -> bool {
        CONTEXT_STACK.try_with(|s| s.borrow().last().is_some_and(|top| top.is_same_object(self))).unwrap_or(false)
    }

    /// The top of the calling thread's stack, else the context that another library made current
    /// in this thread.
    pub fn current_or_foreign() -> Option<Self> {
        Self::current().or_else(Self::current_foreign_context)
    }

    /// Puts `ctx` in the place of the top of the calling thread's stack and makes it current, as
    /// `cuCtxSetCurrent` does with the driver's own stack; `None` pops, and is no error when the
    /// stack is empty.
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

    /// The context that a new resource belongs to: the top of the stack, else the one that
    /// another library made current in this thread. The driver is made to agree.
    pub fn current_or_error() -> Result<Self> {
        if let Some(ctx) = Self::current() {
            // A context that was detached by another thread is reported by the call that follows.
            if ctx.is_alive() && !process_state::is_forked() {
                ctx.ensure_current_in_driver()?;
            }
            return Ok(ctx);
        }
        Self::foreign_or_default_context()?.ok_or_else(|| {
            let detail = "no currently active context? Each thread needs one: make it, or push one that exists";
            Error::new("explicit_context_dependent", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail)
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

    /// Destroys the context (a primary one: releases it) while references to it remain. Its
    /// resources become invalid, their drops do nothing. A second call is an error.
    pub fn detach(&self) -> Result<()> {
        if !self.0.destroy_or_release()? {
            let detail = "the context was already detached";
            return Err(Error::new("cuCtxDetach", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail));
        }
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

    /// [`Context::detach`] that may be called again.
    pub fn close(&self) -> Result<()> {
        if self.is_alive() { self.detach() } else { Ok(()) }
    }

    fn make_current(&self, call: &'static str) -> Result<()> {
        // SAFETY: the handle is alive, as the caller checked.
        unsafe { call_driver!(self.0.table, cuCtxSetCurrent(self.0.handle)) }.map_err(|error| Error { call, ..error })
    }
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
        None => Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_CONTEXT, "")),
    }
}

/// What a context says about itself.
impl Context {
    /// The table behind this context.
    #[inline]
    pub fn driver_table(&self) -> &'static DriverTable {
        self.0.table
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUcontext {
        self.0.handle
    }

    /// [`Context::handle`] as a number, which no other context has while this one exists.
    #[inline]
    pub fn handle_number(&self) -> u64 {
        self.0.handle.0.addr() as u64
    }

    /// Whether a call that queues something in one of its streams may keep the calling thread until the device
    /// has gone on, or until this process has done what the device waits for.
    #[inline]
    pub fn queue_may_be_full(&self) -> bool {
        self.0.queue.may_block_on_full_queue()
    }

    /// What was launched into it.
    #[inline]
    pub(crate) fn launch_queue(&self) -> &LaunchQueue {
        &self.0.queue
    }

    /// The device of this context.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// What copies of pageable memory need.
    pub(crate) fn staging_buffers(&self) -> &StagingBuffers {
        &self.0.staging
    }

    /// How the context came here.
    pub fn kind(&self) -> ContextKind {
        self.0.kind
    }

    /// False once the context was destroyed or released through this object.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.0.alive.load(Ordering::Acquire)
    }

    /// The table, if the context still exists: a driver given a handle of a destroyed context may
    /// crash, so every call that names one comes by here.
    #[inline]
    pub(crate) fn driver_table_if_alive(&self, call: &'static str) -> Result<&'static DriverTable> {
        if self.is_alive() {
            return Ok(self.0.table);
        }
        Err(Error::new(call, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, ""))
    }

    /// The version of the API that the context was made for.
    pub fn api_version(&self) -> Result<u32> {
        let mut version = 0;
        // SAFETY: writes one unsigned int.
        unsafe { call_if_alive!(self, cuCtxGetApiVersion(self.0.handle, &raw mut version)) }?;
        Ok(version)
    }

    /// The device of the current context.
    pub fn current_device() -> Result<Device> {
        match Self::current() {
            Some(ctx) => Ok(ctx.device()),
            None => Self::foreign_or_default_context()?
                .map(|ctx| ctx.device())
                .ok_or_else(|| Error::new("cuCtxGetDevice", CUresult::CUDA_ERROR_INVALID_CONTEXT, "")),
        }
    }

    /// Waits until this context, which is current in the driver, has done all its work.
    pub(crate) fn wait_for_context(&self) -> Result<()> {
        let waited = self.launch_queue().snapshot_awaited_launches();
        // SAFETY: takes no arguments.
        between_hidden_captures(|| unsafe { call_if_alive!(self, cuCtxSynchronize()) })?;
        self.launch_queue().finish_context_wait(waited);
        Ok(())
    }

    /// Waits until the current context has done all its work. Errors of kernels surface here.
    pub fn synchronize() -> Result<()> {
        let Some(ctx) = Self::current().filter(|ctx| ctx.is_alive() && !process_state::is_forked()) else {
            // SAFETY: takes no arguments.
            return between_hidden_captures(|| unsafe { call_in_current_context!(cuCtxSynchronize()) });
        };
        ctx.ensure_current_in_driver()?;
        let waited = ctx.launch_queue().snapshot_awaited_launches();
        // SAFETY: takes no arguments.
        between_hidden_captures(|| unsafe { call_in_current_context!(cuCtxSynchronize()) })?;
        ctx.launch_queue().finish_context_wait(waited);
        Ok(())
    }

    /// Lets kernels of the current context access memory of `peer`.
    pub fn enable_peer_access(peer: &Context, flags: impl Into<PeerAccessFlags>) -> Result<()> {
        let PeerAccessFlags(flags) = flags.into();
        peer.check_same_driver_as_current("cuCtxEnablePeerAccess")?;
        // SAFETY: the handle is alive as long as `peer` is.
        unsafe { call_in_current_context!(cuCtxEnablePeerAccess(peer.0.handle, flags)) }
    }

    /// Undoes [`Context::enable_peer_access`].
    pub fn disable_peer_access(peer: &Context) -> Result<()> {
        peer.check_same_driver_as_current("cuCtxDisablePeerAccess")?;
        // SAFETY: the handle is alive as long as `peer` is.
        unsafe { call_in_current_context!(cuCtxDisablePeerAccess(peer.0.handle)) }
    }

    /// A handle of one driver means nothing to another.
    pub(crate) fn check_same_driver_as_current(&self, call: &'static str) -> Result<()> {
        if current_driver_table(call)? == self.driver_table_if_alive(call)? {
            return Ok(());
        }
        let detail = "a real and a virtual device cannot access each other's memory";
        Err(Error::new(call, CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, detail))
    }
}

/// Running something inside a context.
impl Context {
    /// Runs `body` with this context current in the driver and puts back what was current. The
    /// calling thread's stack is not touched.
    ///
    /// # Errors
    /// Those of `body`, in whatever type holds an [`Error`] of this crate too; and when the context is closed.
    pub fn with_current<T, E: From<Error>>(
        &self,
        body: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
        let _entered = self.push_temporarily()?;
        drop(shared);
        body()
    }

    /// [`Context::with_current`] for one short call: other threads that detach the context wait
    /// for it. `body` must not free anything, which would take the same lock again.
    pub(crate) fn with_current_locked<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let _shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
        let _entered = self.push_temporarily()?;
        body()
    }

    fn push_temporarily(&self) -> Result<Option<TemporaryContextPush>> {
        let table = self.driver_table_if_alive("cuCtxPushCurrent")?;
        let mut current = CUcontext::null();
        // SAFETY: writes one handle; then the handle of a living context is pushed.
        unsafe {
            call_driver!(table, cuCtxGetCurrent(&raw mut current))?;
            if current == self.0.handle {
                return Ok(None);
            }
            call_driver!(table, cuCtxPushCurrent(self.0.handle))?;
        }
        Ok(Some(TemporaryContextPush { table, outer: TEMPORARY.replace(self) }))
    }

    /// Frees a resource of this context, from whichever thread: `Ok` without calling `free` when
    /// the context was destroyed, the process forked or about to exit.
    pub(crate) fn free_in_context(&self, free: impl FnOnce(&DriverTable) -> Result<()>) -> Result<()> {
        if process_state::is_forked_or_exiting() {
            return Ok(());
        }
        let _shared = self.0.lifetime.read().unwrap_or_else(|e| e.into_inner());
        if !self.is_alive() {
            return Ok(());
        }
        let _entered = self.push_temporarily()?;
        free(self.0.table)
    }

    /// [`Context::free_in_context`] for a drop, where an error can only be passed to the hook.
    pub(crate) fn free_on_drop(&self, free: impl FnOnce(&DriverTable) -> Result<()>) {
        if let Err(error) = with_relaxed_capture_mode(|| self.free_in_context(free)) {
            loaded_drivers::report_cleanup_error(&error);
        }
    }
}

/// A context pushed for the moment.
struct TemporaryContextPush {
    table: &'static DriverTable,
    outer: *const Context,
}

impl Drop for TemporaryContextPush {
    fn drop(&mut self) {
        TEMPORARY.set(self.outer);
        let mut popped = CUcontext::null();
        // SAFETY: writes one handle; takes back the push of `Context::push_temporarily`.
        let _ = unsafe { self.table.cuCtxPopCurrent(&raw mut popped) };
    }
}

impl ContextInner {
    /// Destroys or releases, once. `Ok(false)` when that was done before.
    fn destroy_or_release(&self) -> Result<bool> {
        let _exclusive = self.lifetime.write().unwrap_or_else(|e| e.into_inner());
        if !self.alive.swap(false, Ordering::AcqRel) {
            return Ok(false);
        }
        epoch::advance_epoch();
        if process_state::is_forked_or_exiting() {
            return Ok(true);
        }
        self.release_staging_buffers();
        // SAFETY: the handle was alive until now and is not used by this crate any more.
        unsafe {
            match self.kind {
                ContextKind::Created => call_driver!(self.table, cuCtxDestroy(self.handle)),
                ContextKind::Primary => {
                    call_driver!(self.table, cuDevicePrimaryCtxRelease(self.device.handle()))
                }
                ContextKind::Foreign => Ok(()),
            }
        }?;
        Ok(true)
    }

    /// Gives page-locked memory back that outlives the context where others hold it too.
    fn release_staging_buffers(&self) {
        if !self.staging.has_allocated_slots() {
            return;
        }
        // SAFETY: the handle is alive; what is pushed is popped again.
        unsafe {
            if self.table.cuCtxPushCurrent(self.handle).is_success() {
                self.staging.free_slots(self.table);
                let mut popped = CUcontext::null();
                let _ = self.table.cuCtxPopCurrent(&raw mut popped);
            }
        }
    }
}

impl Drop for ContextInner {
    fn drop(&mut self) {
        if let Err(error) = self.destroy_or_release() {
            loaded_drivers::report_cleanup_error(&error);
        }
    }
}
