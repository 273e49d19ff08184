//! Contexts: creation, queries and destruction. `stack.rs` has each thread's stack of contexts, and `temporary.rs`
//! contexts that are current temporarily.

#[macro_use]
mod calls;
mod default_context;
mod device;
pub(crate) mod loaded_drivers;
pub(crate) mod multiprocessor;
mod settings;
mod stack;
pub(crate) mod staging_buffers;
mod temporary;

pub use device::Device;
pub(crate) use stack::{current_driver_table, restore_displaced_context, with_current_context};

use crate::error::{Error, Result, set_launch_describer};
use crate::flags::PeerAccessFlags;
use crate::hidden_captures::between_hidden_captures;
use crate::launch_queue::LaunchQueue;
use crate::process_state;
use crate::release_region::releasing_region;
use rtcg_cuda_sys::*;
use staging_buffers::StagingBuffers;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

/// How this process obtained a context, which determines how it is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextKind {
    /// Created here; destroyed with its last reference.
    Created,
    /// A retained primary context; released with its last reference.
    Primary,
    /// Owned by another library (attached to); never destroyed here.
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

/// A context. Cloning gives another reference to the same context.
#[derive(Clone)]
pub struct Context(Arc<ContextInner>);

/// What the calling thread's context launched, where it is one of this driver.
fn describe_current_launches(table: &DriverTable) -> Option<String> {
    Context::current().filter(|ctx| ctx.driver_table() == table)?.launch_queue().describe_pending()
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

/// Making and giving up.
impl Context {
    fn from_parts(device: Device, handle: CUcontext, kind: ContextKind) -> Self {
        set_launch_describer(describe_current_launches);
        loaded_drivers::show_notice_if_unchecked(device);
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

    /// Wraps the driver's current context, whichever library made it, and pushes it.
    pub fn attach() -> Result<Self> {
        let ctx = Self::current_foreign_context().ok_or_else(|| {
            let detail = "no context is current in this thread";
            Error::new("cuCtxAttach", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail)
        })?;
        ctx.push()?;
        Ok(ctx)
    }

    /// Destroys the context, or releases a primary one, even if references to it remain. Its resources become invalid
    /// and their drops do nothing. A second call is an error.
    pub fn detach(&self) -> Result<()> {
        if !self.0.destroy_or_release()? {
            let detail = "the context was already detached";
            return Err(Error::new("cuCtxDetach", CUresult::CUDA_ERROR_INVALID_CONTEXT, detail));
        }
        self.remove_from_stack()
    }

    /// Like [`Context::detach`], but further calls do nothing.
    pub fn close(&self) -> Result<()> {
        if self.is_alive() { self.detach() } else { Ok(()) }
    }
}

/// What a context says about itself.
impl Context {
    /// The driver table behind this context.
    #[inline]
    pub fn driver_table(&self) -> &'static DriverTable {
        self.0.table
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUcontext {
        self.0.handle
    }

    /// [`Context::handle`] as a number, unique while this context exists.
    #[inline]
    pub fn handle_number(&self) -> u64 {
        self.0.handle.0.addr() as u64
    }

    /// Whether a call that enqueues work in one of the context's streams may block the calling thread until the device
    /// has made progress, or until this process has done what the device waits for.
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

    /// How this process obtained the context.
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

    /// The API version that the context was created for.
    pub fn api_version(&self) -> Result<u32> {
        let mut version = 0;
        // SAFETY: writes one unsigned int.
        unsafe { call_if_alive!(self, cuCtxGetApiVersion(self.0.handle, &raw mut version)) }?;
        Ok(version)
    }

    /// Waits until this context, which is current in the driver, has done all its work.
    pub(crate) fn wait_for_context(&self) -> Result<()> {
        let waited = self.launch_queue().snapshot_awaited_launches();
        // SAFETY: takes no arguments.
        between_hidden_captures(|| unsafe { call_if_alive!(self, cuCtxSynchronize()) })?;
        self.launch_queue().finish_context_wait(waited);
        Ok(())
    }

    /// Waits until the current context has finished all its work. Reports errors of kernels.
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

impl ContextInner {
    /// Destroys or releases, once. `Ok(false)` when that was done before.
    fn destroy_or_release(&self) -> Result<bool> {
        releasing_region(|| self.destroy_or_release_now())
    }

    fn destroy_or_release_now(&self) -> Result<bool> {
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
