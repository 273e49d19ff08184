//! A block in use, until it is returned to its pool.

use super::arena::DEFAULT_STREAM_IDX;
use super::core::{BlockOrigin, PoolCore, double_free_error};
use crate::active_captures::is_any_capturing;
use crate::context::Context;
use crate::error::Result;
use crate::stream::capture::retain_in_capture;
use crate::stream::{Stream, any_thread_has_current_stream};
use rtcg_hal::lock_ignoring_poison;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Who uses a block beside the stream that it was allocated for.
#[derive(Default)]
struct StreamUses {
    /// Further streams; `None` is the legacy default stream.
    others: Vec<Option<Stream>>,
    /// Held by the graphs that work with the block was captured into.
    captured: Option<Arc<CapturedBlock>>,
}

/// A block that was freed while graphs still hold its address. It is returned with the last of them.
#[derive(Default)]
struct CapturedBlock(Mutex<Option<BlockLease>>);

pub(super) struct BlockLease {
    core: Arc<PoolCore>,
    ptr: u64,
    nbytes: usize,
    origin: BlockOrigin,
    freed: AtomicBool,
    uses: Mutex<StreamUses>,
}

impl BlockLease {
    #[inline]
    pub(super) fn new(core: Arc<PoolCore>, ptr: u64, nbytes: usize, origin: BlockOrigin) -> Self {
        Self { core, ptr, nbytes, origin, freed: AtomicBool::new(false), uses: Mutex::default() }
    }

    #[inline]
    pub(super) fn ptr(&self) -> u64 {
        self.ptr
    }

    #[inline]
    pub(super) fn nbytes(&self) -> usize {
        self.nbytes
    }

    pub(super) fn context(&self) -> Option<Context> {
        self.core.context_of_block(self.origin)
    }

    #[inline]
    pub(super) fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Whether giving it back may be a call of the driver, which may wait for the device.
    pub(super) fn free_may_wait(&self) -> bool {
        Arc::strong_count(&self.core) == 1 || self.core.is_holding_stopped()
    }

    /// Remembers that work in another stream uses the block.
    #[inline]
    pub(super) fn used_in(&self, stream: Option<&Stream>) {
        if stream.is_some() || self.origin.stream_idx != DEFAULT_STREAM_IDX || any_thread_has_current_stream() {
            self.record_stream_use(stream);
        }
    }

    fn record_stream_use(&self, stream: Option<&Stream>) {
        let stream = stream.cloned().or_else(Stream::current).filter(|stream| !stream.is_legacy_default());
        if stream.is_none() && self.origin.stream_idx == DEFAULT_STREAM_IDX {
            return;
        }
        if is_any_capturing() && retain_in_capture(stream.as_ref(), || self.captured_block()) {
            return;
        }
        let others = &mut lock_ignoring_poison(&self.uses).others;
        let is_known = others.iter().any(|known| match (known, &stream) {
            (Some(known), Some(stream)) => known.is_same_object(stream),
            (known, stream) => known.is_none() && stream.is_none(),
        });
        if !is_known {
            others.push(stream);
        }
    }

    #[inline]
    pub(super) fn has_uses_in_other_streams(&self) -> bool {
        let uses = lock_ignoring_poison(&self.uses);
        self.origin.stream_idx != DEFAULT_STREAM_IDX || !uses.others.is_empty() || uses.captured.is_some()
    }

    /// A stream behind which all work with the block is done that is pending now; `None` when nothing is.
    pub(super) fn pending_stream(&self) -> Result<Option<Stream>> {
        let mut streams = lock_ignoring_poison(&self.uses).others.clone();
        // The default stream of a thread is what it allocated for, but other threads' work may be in the legacy one.
        streams.extend([self.core.stream_of_block(self.origin), None]);
        let Some(ctx) = self.context() else { return Ok(None) };
        ctx.with_current(|| Stream::join_pending(streams))
    }

    /// Waits for work that the default stream need not wait for.
    pub(super) fn wait_for_uses(&self) -> Result<()> {
        let (mut streams, is_captured) = {
            let mut uses = lock_ignoring_poison(&self.uses);
            (
                uses.others.extract_if(.., |stream| stream.is_some()).flatten().collect::<Vec<_>>(),
                uses.captured.is_some(),
            )
        };
        streams.extend(self.core.stream_of_block(self.origin));
        if is_captured || streams.iter().any(Stream::is_closed) {
            return self.context().map_or(Ok(()), |ctx| ctx.with_current(|| ctx.wait_for_context()));
        }
        streams.iter().try_for_each(Stream::synchronize)
    }

    /// What graphs hold in place of the block.
    #[cold]
    fn captured_block(&self) -> Arc<CapturedBlock> {
        lock_ignoring_poison(&self.uses).captured.get_or_insert_default().clone()
    }

    pub(super) fn free_block(&self, call: &'static str) -> Result<()> {
        if self.freed.swap(true, Ordering::AcqRel) {
            return Err(double_free_error(call));
        }
        let uses = std::mem::take(&mut *lock_ignoring_poison(&self.uses));
        self.return_to_pool(uses);
        Ok(())
    }

    #[inline]
    fn return_to_pool(&self, uses: StreamUses) {
        match uses.captured {
            None => self.core.return_block(self.ptr, self.nbytes, self.origin, uses.others),
            Some(captured) => self.hand_block_to_graphs(&captured, uses.others),
        }
    }

    #[cold]
    fn hand_block_to_graphs(&self, captured: &CapturedBlock, others: Vec<Option<Stream>>) {
        let block = Self::new(self.core.clone(), self.ptr, self.nbytes, self.origin);
        lock_ignoring_poison(&block.uses).others = others;
        *lock_ignoring_poison(&captured.0) = Some(block);
    }
}

impl Drop for BlockLease {
    #[inline]
    fn drop(&mut self) {
        if !*self.freed.get_mut() {
            let uses = std::mem::take(self.uses.get_mut().unwrap_or_else(PoisonError::into_inner));
            self.return_to_pool(uses);
        }
    }
}
