//! What else a program hands memory to must wait for: the streams in which work with it may be pending.

use super::Stream;
use crate::active_captures::is_any_capturing;
use crate::context::Context;
use crate::error::Result;
use crate::release_region::releasing_region;
use crate::stream::Event;
use rtcg_cuda_sys::CU_EVENT_DISABLE_TIMING;

impl Stream {
    /// One stream behind which all work is done that is pending in `streams` now; `None` when nothing is pending. `None`
    /// among them is the legacy default stream. Streams of the current context; does not wait, unless one was closed:
    /// then for the context. While a stream is being captured all of them count as pending.
    ///
    /// # Errors
    /// When there is no context, or work in one of the streams failed.
    pub fn join_pending(streams: impl IntoIterator<Item = Option<Stream>>) -> Result<Option<Stream>> {
        let mut distinct: Vec<Stream> = Vec::new();
        for stream in streams {
            let stream = stream.map_or_else(Stream::legacy_default, Ok)?;
            if stream.is_closed() {
                // Its work may go on, and nothing is left to ask about it.
                releasing_region(Context::synchronize)?;
            } else if !distinct.iter().any(|known| known.handle() == stream.handle()) {
                distinct.push(stream);
            }
        }
        if is_any_capturing() {
            return Ok(distinct.into_iter().next());
        }
        let mut pending = Vec::new();
        for stream in distinct {
            if !stream.is_done()? {
                pending.push(stream);
            }
        }
        let mut pending = pending.into_iter();
        let Some(first) = pending.next() else { return Ok(None) };
        for other in pending {
            first.wait_for_stream(&other)?;
        }
        Ok(Some(first))
    }

    /// Says in checked mode that memory with work pending in this stream is handed to a consumer that waits for nothing;
    /// `source` is the program's line that does so.
    pub fn report_unordered_export(&self, address: u64, nbytes: u64, source: impl FnOnce() -> Option<(String, u32)>) {
        let ctx = self.context();
        let kernel = ctx.launch_queue().last_launch().kernel_name();
        crate::virtual_gpu::record_pending_export(ctx.driver_table(), kernel, address, nbytes, source);
    }

    /// Makes later work in this stream wait for the work that `other` contains now. Does not wait.
    ///
    /// # Errors
    /// When one of the streams was closed.
    pub fn wait_for_stream(&self, other: &Stream) -> Result<()> {
        let event = Event::new_in_context(other.context(), CU_EVENT_DISABLE_TIMING.0)?;
        event.record(Some(other))?;
        self.wait_for_event(&event)
    }
}
