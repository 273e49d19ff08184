//! What the CUDA runtime of arrays has beyond launches and copies: reads that nobody waits for, and graphs.

// The addresses that are copied from belong to arrays, which hold their memory.
#![allow(unsafe_code)]

use crate::context::Context;
use crate::runtime::{CudaRuntime, FreeSlots, current_stream, run_in_stream};
use rtcg_array::{ArrayError, Graphs, LaunchableGraph, PinnedReads, ReadSlot, Result, blocking_region};
use rtcg_driver::memory::{self, HostAllocation};
use rtcg_driver::{Event, Graph, GraphExec, Stream, sys};
use std::sync::PoisonError;

/// Bytes of each slot: those of more are not kept.
const KEPT_SLOT_BYTES: usize = 1024;

type SlotParts = (HostAllocation, Event);

struct PinnedSlot {
    ctx: Context,
    /// `None` only while dropped.
    parts: Option<SlotParts>,
    nbytes: usize,
    is_started: bool,
    free: FreeSlots,
}

impl PinnedReads for CudaRuntime {
    fn read_slot(&self, nbytes: usize) -> Result<Box<dyn ReadSlot>> {
        let free = self.free_slots().clone();
        let is_kept = nbytes <= KEPT_SLOT_BYTES;
        let found = if is_kept { free.lock().unwrap_or_else(PoisonError::into_inner).pop() } else { None };
        let parts = match found {
            Some(parts) => parts,
            None => blocking_region(|| {
                self.run_in_context(|| {
                    let memory = HostAllocation::new(nbytes.max(KEPT_SLOT_BYTES), 0)?;
                    Ok((memory, Event::new(sys::CU_EVENT_DISABLE_TIMING.0)?))
                })
            })?,
        };
        Ok(Box::new(PinnedSlot { ctx: self.context().clone(), parts: Some(parts), nbytes, is_started: false, free }))
    }
}

impl PinnedSlot {
    fn parts(&self) -> Result<&SlotParts> {
        self.parts.as_ref().ok_or_else(|| ArrayError::value_error("the slot was dropped"))
    }

    fn bytes(&self) -> Result<&[u8]> {
        // SAFETY: the memory is as long, was written by the copy that ended, and is written again only through `&mut`.
        Ok(unsafe { std::slice::from_raw_parts(self.parts()?.0.as_ptr(), self.nbytes) })
    }
}

impl ReadSlot for PinnedSlot {
    fn start(&mut self, src: u64) -> Result<()> {
        let (memory, event) = self.parts()?;
        let stream = current_stream();
        let enqueue = || -> rtcg_driver::Result<()> {
            // SAFETY: the memory is as long, and lives until the event is over (see `drop`).
            unsafe { memory::memcpy_dtoh_async(memory.as_ptr(), src, self.nbytes, stream.as_ref()) }?;
            event.record(stream.as_ref())
        };
        self.ctx.enter(enqueue).map_err(ArrayError::runtime_error)?;
        self.is_started = true;
        Ok(())
    }

    fn poll(&self) -> Result<Option<&[u8]>> {
        let done = self.ctx.enter(|| self.parts.as_ref().map_or(Ok(true), |(_, event)| event.query()));
        if done.map_err(ArrayError::runtime_error)? { self.bytes().map(Some) } else { Ok(None) }
    }

    fn wait(&self) -> Result<&[u8]> {
        let event = &self.parts()?.1;
        blocking_region(|| self.ctx.enter(|| event.synchronize())).map_err(ArrayError::runtime_error)?;
        self.bytes()
    }
}

impl Drop for PinnedSlot {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        // Memory that is being written is freed by the driver, which waits; it is not given to anybody else.
        let is_idle = !self.is_started || self.ctx.enter(|| parts.1.query()).unwrap_or(false);
        if is_idle && self.nbytes <= KEPT_SLOT_BYTES {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(parts);
        }
    }
}

/// A graph that can be launched, in its context.
struct RecordedGraph {
    ctx: Context,
    exec: GraphExec,
}

impl LaunchableGraph for RecordedGraph {
    fn launch(&self) -> Result<()> {
        let stream = current_stream();
        self.ctx.enter(|| self.exec.launch(stream.as_ref())).map_err(ArrayError::runtime_error)
    }
}

/// Sets the condition of the loop that it is in.
const SET_CONDITION_SOURCE: &str = "\
extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);
extern \"C\" __global__ void rt_loop_unless(unsigned long long condition, const double *stop)
{
  cudaGraphSetConditional(condition, *stop == 0);
}
";

impl Graphs for CudaRuntime {
    fn record(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>> {
        let stream = self.run_in_context(|| Stream::new(sys::CU_STREAM_NON_BLOCKING.0))?;
        let begin = || stream.begin_capture(sys::CU_STREAM_CAPTURE_MODE_RELAXED);
        let graph = self.capture(&stream, begin, body)?;
        self.instantiate(&graph)
    }

    fn record_until(&self, stop: u64, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>> {
        use rtcg_array::{DeviceRuntime, PackedKernelArgs};
        if self.context().device().can_load_cubins() {
            // The function that sets a condition is in a library that programs are linked with there.
            let message =
                "loops in graphs need a program that is linked with cudadevrt, which is not done on a GPU yet";
            return Err(ArrayError::value_error(format!("mode: {message}; expected 'graph'")));
        }
        let set_condition = self.compile(SET_CONDITION_SOURCE, "rt_loop_unless")?;
        let (graph, condition, inside, stream) = self.run_in_context(|| {
            let graph = Graph::new()?;
            let condition = graph.create_conditional_handle(Some(1))?;
            let (_, mut bodies) = graph.add_conditional_node(condition, sys::CU_GRAPH_COND_TYPE_WHILE, 1, &[])?;
            let inside = bodies.pop();
            Ok((graph, condition, inside, Stream::new(sys::CU_STREAM_NON_BLOCKING.0)?))
        })?;
        let Some(inside) = inside else { return Err(ArrayError::value_error("a loop of a graph has no body")) };
        let mut args = PackedKernelArgs::new();
        args.push_u64(condition.0);
        args.push_u64(stop);
        let begin = || stream.begin_capture_to(&inside, &[], sys::CU_STREAM_CAPTURE_MODE_RELAXED);
        self.capture(&stream, begin, &mut || {
            body()?;
            set_condition.launch([1, 1, 1], [1, 1, 1], 0, args.packed_bytes())
        })?;
        self.instantiate(&graph)
    }
}

impl CudaRuntime {
    fn capture(
        &self,
        stream: &Stream,
        begin: impl FnOnce() -> rtcg_driver::Result<()>,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Graph> {
        self.run_in_context(begin)?;
        let outcome = run_in_stream(Some(stream), body);
        let graph = self.run_in_context(|| stream.end_capture());
        outcome?;
        graph
    }

    fn instantiate(&self, graph: &Graph) -> Result<Box<dyn LaunchableGraph>> {
        let exec = self.run_in_context(|| graph.instantiate(0))?;
        Ok(Box::new(RecordedGraph { ctx: self.context().clone(), exec }))
    }
}
