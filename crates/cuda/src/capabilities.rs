//! What the CUDA runtime of arrays offers beyond launches and copies: asynchronous reads, graphs, and cooperative
//! launches.

#![allow(unsafe_code, reason = "the addresses that are copied from belong to arrays, which hold their memory")]

use crate::context::with_current;
use crate::runtime::{CudaKernel, CudaRuntime, FreeSlots, cuda_kernel, current_stream, run_in_stream};
use rtcg_compile::{Arch, CompileRequest, Compiler, Target};
use rtcg_cuda_sys::installations::find_installations;
use rtcg_driver::memory::{self, HostAllocation};
use rtcg_driver::{Context, Event, Graph, GraphExec, HiddenCapture, LaunchOptions, Linker, Stream, sys};
use rtcg_hal::{
    ArgsView, ArrayBuffer, ArrayError, Cooperative, Device, Graphs, Kernel, KernelText, LaunchArgs, LaunchableGraph,
    PinnedReads, ReadSlot, Result, blocking_region, lock_ignoring_poison,
};
use std::sync::Arc;

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
        let found = if is_kept { lock_ignoring_poison(&free).pop() } else { None };
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
        with_current(&self.ctx, enqueue).map_err(ArrayError::runtime_error)?;
        self.is_started = true;
        Ok(())
    }

    fn poll(&self) -> Result<Option<&[u8]>> {
        let done = with_current(&self.ctx, || self.parts.as_ref().map_or(Ok(true), |(_, event)| event.query()));
        if done.map_err(ArrayError::runtime_error)? { self.bytes().map(Some) } else { Ok(None) }
    }

    fn wait(&self) -> Result<&[u8]> {
        let event = &self.parts()?.1;
        blocking_region(|| with_current(&self.ctx, || event.synchronize())).map_err(ArrayError::runtime_error)?;
        self.bytes()
    }
}

impl Drop for PinnedSlot {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        // Memory that is being written is freed by the driver, which waits; it is not given to anybody else.
        let is_idle = !self.is_started || with_current(&self.ctx, || parts.1.query()).unwrap_or(false);
        if is_idle && self.nbytes <= KEPT_SLOT_BYTES {
            lock_ignoring_poison(&self.free).push(parts);
        }
    }
}

/// A graph that can be launched, in its context.
struct RecordedGraph {
    ctx: Context,
    exec: GraphExec,
    /// What its kernels use beside arrays of the caller.
    _memory: Option<Arc<dyn ArrayBuffer>>,
}

impl LaunchableGraph for RecordedGraph {
    fn launch(&self) -> Result<()> {
        let stream = current_stream();
        with_current(&self.ctx, || self.exec.launch(stream.as_ref())).map_err(ArrayError::runtime_error)
    }
}

const SET_CONDITION: &str = "rt_loop_unless";

/// Sets the condition of the loop that it is in.
const SET_CONDITION_SOURCE: &str = "\
extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);
extern \"C\" __global__ void rt_loop_unless(unsigned long long condition, const double *stop, unsigned *turn, unsigned turns)
{
  *turn = *turn + 1 < turns ? *turn + 1 : 0;
  cudaGraphSetConditional(condition, *stop == 0 && *turn != 0);
}
";

impl Graphs for CudaRuntime {
    fn record(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>> {
        let stream = self.run_in_context(|| Stream::new(sys::CU_STREAM_NON_BLOCKING.0))?;
        let begin = || stream.begin_capture(sys::CU_STREAM_CAPTURE_MODE_RELAXED);
        let graph = self.capture(&stream, begin, body)?;
        self.instantiate(&graph, None)
    }

    fn check_loops(&self) -> Result<()> {
        self.set_condition_kernel().map(drop)
    }

    fn record_until(
        &self,
        stop: u64,
        turns: u32,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Box<dyn LaunchableGraph>> {
        let set_condition = self.set_condition_kernel()?;
        let turn = self.alloc(4)?;
        self.queue().fill_zero(turn.address_recording_use()?, 4)?;
        let (graph, condition, inside, stream) = self.run_in_context(|| {
            let graph = Graph::new()?;
            let condition = graph.create_conditional_handle(Some(1))?;
            let (_, mut bodies) = graph.add_conditional_node(condition, sys::CU_GRAPH_COND_TYPE_WHILE, 1, &[])?;
            let inside = bodies.pop();
            Ok((graph, condition, inside, Stream::new(sys::CU_STREAM_NON_BLOCKING.0)?))
        })?;
        let Some(inside) = inside else { return Err(ArrayError::value_error("a loop of a graph has no body")) };
        let mut args = LaunchArgs::new();
        args.push_u64(condition.0);
        args.push_address(stop, 0);
        args.push_address(turn.device_ptr(), 0);
        args.push_u32(turns);
        let begin = || stream.begin_capture_to(&inside, &[], sys::CU_STREAM_CAPTURE_MODE_RELAXED);
        self.capture(&stream, begin, &mut || {
            body()?;
            self.queue().launch(&set_condition, [1, 1, 1], [1, 1, 1], 0, args.view())
        })?;
        self.instantiate(&graph, Some(turn))
    }
}

/// The library that has `cudaGraphSetConditional`.
const DEVICE_RUNTIME: &str = if cfg!(windows) { "cudadevrt.lib" } else { "libcudadevrt.a" };

fn loops_error(message: &str) -> ArrayError {
    ArrayError::value_error(format!("mode: loops in graphs {message}; expected 'graph' or 'auto'"))
}

impl CudaRuntime {
    /// The kernel that sets the condition of a loop. A virtual GPU has the function that it calls. A GPU's is in a
    /// library of machine code, with which the driver links it.
    fn set_condition_kernel(&self) -> Result<Arc<dyn Kernel>> {
        if let Some(kernel) = self.set_condition().get() {
            return Ok(kernel.clone());
        }
        let kernel = if self.context().device().can_load_cubins() {
            self.link_set_condition()?
        } else {
            self.compile(&KernelText::new(SET_CONDITION, SET_CONDITION_SOURCE))?
        };
        Ok(self.set_condition().get_or_init(|| kernel).clone())
    }

    fn link_set_condition(&self) -> Result<Arc<dyn Kernel>> {
        let driver = rtcg_driver::driver_version().map_err(ArrayError::runtime_error)?;
        if driver < 12_030 {
            let (major, minor) = (driver / 1000, driver % 1000 / 10);
            return Err(loops_error(&format!("need a driver of CUDA 12.3, this one is of CUDA {major}.{minor}")));
        }
        let directories: Vec<_> = find_installations().into_iter().flat_map(|found| found.lib_dirs).collect();
        let Some(library) = directories.iter().map(|dir| dir.join(DEVICE_RUNTIME)).find(|path| path.is_file()) else {
            return Err(loops_error(&format!(
                "need {DEVICE_RUNTIME}, which is in none of the {} directories of CUDA's libraries: install the wheel \
                 nvidia-cuda-runtime or a CUDA toolkit",
                directories.len()
            )));
        };
        let (major, minor) = self.run_in_context(|| self.context().device().compute_capability())?;
        let mut request = CompileRequest::new(SET_CONDITION_SOURCE, Target::ptx_for_arch(Arch::new(major, minor)));
        request.no_extern_c = true;
        request.options.push("-rdc=true".to_owned());
        let ptx = blocking_region(|| Compiler.compile(&request)).map_err(ArrayError::runtime_error)?;
        let link = || {
            let mut linker = Linker::new(&[])?;
            linker.add_data(&ptx.bytes, sys::CU_JIT_INPUT_PTX, SET_CONDITION)?;
            linker.add_file(&library, sys::CU_JIT_INPUT_LIBRARY)?;
            linker.link_module()?.function(SET_CONDITION)
        };
        let function = blocking_region(|| self.run_in_context(link))?;
        Ok(Arc::new(CudaKernel::new(self.context(), function)))
    }

    fn capture(
        &self,
        stream: &Stream,
        begin: impl FnOnce() -> rtcg_driver::Result<()>,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Graph> {
        let _hidden = HiddenCapture::new();
        self.run_in_context(begin)?;
        let outcome = run_in_stream(Some(stream), body);
        let graph = self.run_in_context(|| stream.end_capture());
        outcome?;
        graph
    }

    fn instantiate(&self, graph: &Graph, memory: Option<Arc<dyn ArrayBuffer>>) -> Result<Box<dyn LaunchableGraph>> {
        let exec = self.run_in_context(|| graph.instantiate(0))?;
        Ok(Box::new(RecordedGraph { ctx: self.context().clone(), exec, _memory: memory }))
    }
}

impl Cooperative for CudaRuntime {
    fn cluster_blocks(&self) -> u32 {
        // What every device of compute capability 9.0 and later promises.
        if self.device_info().compute_capability >= 90 { 8 } else { 0 }
    }

    fn launch(
        &self,
        kernel: &dyn Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        is_cluster: bool,
        args: ArgsView<'_>,
    ) -> Result<()> {
        let cluster = is_cluster.then_some(grid);
        let options = LaunchOptions { cooperative: !is_cluster, cluster, ..LaunchOptions::default() };
        cuda_kernel(kernel)?.launch_with_options(grid, block, shared_bytes, args.packed_bytes(), options)
    }
}
