//! Prepared launches: repeated launches of a kernel while the epoch has not changed.
//!
//! Establishes: the module and the context of a prepared kernel are not closed, the process is not forked, no trace is
//! written, and no stream is captured or entered. All of these advance the [`epoch`], so one comparison is enough. The
//! driver itself refuses a kernel of a context that is not current; [`Function::launch`] then finds out more.

use crate::active_captures::is_any_capturing;
use crate::context::Context;
use crate::last_launch::KernelId;
use crate::launch::with_launch_extra;
use crate::module::Function;
use crate::process_state;
use crate::stream::{Stream, any_thread_has_current_stream};
use rtcg_cuda_sys::*;
use std::sync::atomic::Ordering;

/// A kernel and a stream that are ready for a launch without further checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedLaunch<'f> {
    handle: CUfunction,
    launch: *const c_void,
    stream: CUstream,
    id: KernelId,
    ctx: &'f Context,
}

impl Function {
    /// Whether the epoch is unchanged since the last launch, so that nothing has to be checked again.
    #[inline(always)]
    pub fn is_prepared(&self) -> bool {
        self.0.prepared.epoch.load(Ordering::Acquire) == epoch::current_epoch()
    }

    /// The kernel prepared for launches with so many bytes of dynamic shared memory into `stream`. `None` where
    /// something must be checked first, which [`Function::launch`] does.
    #[inline(always)]
    pub(crate) fn prepared_launch(&self, shared_bytes: u32, stream: Option<&Stream>) -> Option<PreparedLaunch<'_>> {
        let inner = &*self.0;
        if !self.is_prepared() || shared_bytes > inner.dynamic_limit.load(Ordering::Relaxed) {
            return None;
        }
        let stream = match stream {
            None => CUstream::null(),
            Some(stream) => stream.handle_if_open_in_context(&inner.ctx)?,
        };
        let launch = inner.prepared.launch.load(Ordering::Relaxed);
        Some(PreparedLaunch {
            handle: inner.handle,
            launch,
            stream,
            id: KernelId::from_kernel_address(inner),
            ctx: &inner.ctx,
        })
    }

    /// Remembers whether anything is in the way of launches. To be called after one has succeeded.
    pub(crate) fn prepare_launch(&self) {
        let present = epoch::current_epoch();
        let inner = &*self.0;
        if inner.prepared.epoch.load(Ordering::Relaxed) == present {
            return;
        }
        let is_clear = inner.module.driver_table_if_alive("cuLaunchKernel").is_ok()
            && !process_state::is_forked()
            && !trace::is_tracing()
            && !any_thread_has_current_stream()
            && !is_any_capturing();
        let launch = inner.table.function_pointer(DriverFn::cuLaunchKernel).filter(|_| is_clear);
        if let Some(launch) = launch {
            inner.prepared.launch.store(launch.cast_mut(), Ordering::Relaxed);
            inner.prepared.epoch.store(present, Ordering::Release);
        } else {
            inner.prepared.epoch.store(epoch::INVALID_EPOCH, Ordering::Release);
        }
    }

    /// Whether the next launch may block the calling thread, because the device's queue may be full or because the
    /// driver runs small kernels in the launching thread.
    #[inline(always)]
    pub fn launch_may_wait(&self) -> bool {
        self.0.runs_inline || self.0.ctx.queue_may_be_full()
    }
}

impl PreparedLaunch<'_> {
    /// Launches the kernel with packed arguments.
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[inline(always)]
    pub(crate) unsafe fn launch(self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32, args: &[u8]) -> CUresult {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let Self { handle, stream, .. } = self;
        let none = std::ptr::null_mut();
        // SAFETY: the table gave the pointer for this name, whose type this is.
        let launch: fn_type::cuLaunchKernel = unsafe { std::mem::transmute(self.launch) };
        let code = with_launch_extra(args, |extra| {
            // SAFETY: the function is alive; the arguments are the caller's promise, and the driver copies them
            // before it returns.
            unsafe { launch(handle, gx, gy, gz, bx, by, bz, shared_bytes, stream, none, extra) }
        });
        if code.is_success() {
            self.ctx.launch_queue().count_launch(stream, self.id);
        }
        code
    }
}
