//! The block in which a thread defers operations, and arrays whose memory does not exist yet.

use super::graph::{FusionGraph, FusionNode, NO_INPUT, has_no_write_hazard, is_writable};
use super::kernel::is_fusable;
use super::launch;
use crate::array::{GpuArray, OperandSource};
use crate::layout::Layout;
use rtcg_codegen::array::{Op, OpTypes};
use rtcg_hal::deferred::{DeferredWork, is_deferring, set_deferred_work};
use rtcg_hal::{
    Allocator, ArrayBuffer, ArrayContext, ArrayError, ArrayErrorKind, DType, Result, is_compiling_ahead, launching,
    lock_blocking, lock_ignoring_poison,
};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

thread_local! {
    static ACTIVE_SCOPE: RefCell<Option<OpenScope>> = const { RefCell::new(None) };
    /// Whether this thread is computing a graph: addresses are then taken by the graph itself.
    static IS_EVALUATING: Cell<bool> = const { Cell::new(false) };
}

/// The block that this thread is in.
struct OpenScope {
    scope: Arc<FusionScope>,
    /// Blocks that are open.
    depth: u32,
    /// Blocks among them that trace a function.
    traced: u32,
}

/// What is deferred.
#[derive(Default)]
pub(super) struct FusionScope {
    graph: Mutex<FusionGraph>,
    /// Held while a graph is computed, so that another thread that needs a result waits for it.
    computing: Mutex<()>,
    is_pending: AtomicBool,
    /// An error that could not be returned where it occurred.
    fault: Mutex<Option<ArrayError>>,
    /// Whether its operations belong to a call that only compiles, and are never launched.
    is_compiling_ahead: bool,
}

/// The memory of a deferred result. It is allocated when its address is requested.
pub struct DeferredBuffer {
    scope: Arc<FusionScope>,
    pub(super) layout: Arc<Layout>,
    pub(super) dtype: DType,
    /// What the memory comes from; the runtime's own if `None`.
    pub(super) allocator: Option<Allocator>,
    /// The value; replaced by operations in place.
    pub(super) node: Mutex<u16>,
    pub(super) memory: OnceLock<std::result::Result<Arc<dyn ArrayBuffer>, Arc<str>>>,
}

impl fmt::Debug for DeferredBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").field("dtype", &self.dtype).finish_non_exhaustive()
    }
}

impl DeferredBuffer {
    fn is_pending(&self) -> bool {
        self.memory.get().is_none()
    }

    /// The memory, which is computed now unless that was done.
    fn evaluated_buffer(&self) -> Result<&Arc<dyn ArrayBuffer>> {
        if self.is_pending() {
            self.scope.evaluate_scope()?;
        }
        match self.memory.get() {
            Some(Ok(memory)) => Ok(memory),
            Some(Err(message)) => Err(ArrayError::new(ArrayErrorKind::Runtime, message.as_ref())),
            None => Err(ArrayError::new(ArrayErrorKind::Runtime, "a result that was deferred was not computed")),
        }
    }
}

impl ArrayBuffer for DeferredBuffer {
    /// 0 if the computation failed; the error is then returned where the host waits.
    fn device_ptr(&self) -> u64 {
        self.evaluated_buffer().map_or(0, |memory| memory.device_ptr())
    }

    fn record_use(&self) {
        if let Ok(memory) = self.evaluated_buffer() {
            memory.record_use();
        }
    }

    fn wait_for_uses(&self) -> Result<()> {
        self.evaluated_buffer()?.wait_for_uses()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        match self.evaluated_buffer() {
            Ok(memory) => memory.clone().as_any(),
            Err(_) => self,
        }
    }

    fn ensure_computed(&self) -> Result<()> {
        self.evaluated_buffer().map(drop)
    }
}

/// Whether an array's memory does not exist yet. Using its address computes it first.
pub fn is_deferred(array: &GpuArray) -> bool {
    pending_deferred_buffer(array).is_some()
}

fn pending_deferred_buffer(array: &GpuArray) -> Option<&DeferredBuffer> {
    let buffer: &dyn Any = &**array.buffer()?;
    buffer.downcast_ref().filter(|deferred: &&DeferredBuffer| deferred.is_pending())
}

/// The result of `array` as a whole, if it was deferred in `scope`.
fn as_whole_deferred<'a>(scope: &Arc<FusionScope>, array: &'a GpuArray) -> Option<&'a DeferredBuffer> {
    pending_deferred_buffer(array).filter(|deferred| {
        Arc::ptr_eq(&deferred.scope, scope) && deferred.layout == *array.layout_arc() && deferred.dtype == array.dtype()
    })
}

fn active_scope() -> Option<Arc<FusionScope>> {
    if !is_active() {
        return None;
    }
    ACTIVE_SCOPE.with_borrow(|active| active.as_ref().map(|active| active.scope.clone()))
}

/// Whether the calling thread is deferring operations.
#[inline]
pub fn is_active() -> bool {
    is_deferring() && !IS_EVALUATING.get()
}

/// Computes what the calling thread has deferred; called before anything else that uses device memory.
///
/// # Errors
/// When the device is out of memory, or compiling or launching fails.
pub fn flush() -> Result<()> {
    match active_scope() {
        Some(scope) if scope.is_pending.load(Ordering::Acquire) => scope.evaluate_scope(),
        _ => Ok(()),
    }
}

/// [`flush`] for callers that cannot fail: the results, and the end of the block, report errors later.
fn flush_open_block() {
    let Some(scope) = active_scope() else { return };
    if scope.is_pending.load(Ordering::Acquire)
        && let Err(error) = scope.evaluate_scope()
    {
        lock_ignoring_poison(&scope.fault).get_or_insert(error);
    }
}

/// Refuses to copy elements to the host inside of [`begin_traced`].
fn check_host_read() -> Result<()> {
    match ACTIVE_SCOPE.with_borrow(|active| active.as_ref().is_some_and(|active| active.traced > 0)) {
        true => Err(ArrayError::new(
            ArrayErrorKind::Traced,
            "elements of an array are needed on the host while operations are being fused",
        )),
        false => Ok(()),
    }
}

/// An open fusion block. If dropped without [`FusionGuard::finish`], it computes what is still referenced and discards
/// errors.
#[derive(Debug)]
#[must_use = "the block ends when this is dropped"]
pub struct FusionGuard {
    traced: bool,
    is_open: bool,
    /// A block belongs to its thread.
    _thread: std::marker::PhantomData<*const ()>,
}

/// Defers operations of the calling thread until the block ends. Blocks nest; only the end of the outermost one
/// computes.
pub fn begin() -> FusionGuard {
    open_block(false)
}

/// Like [`begin`], for a function whose control flow must not depend on elements: reading one is an error.
pub fn begin_traced() -> FusionGuard {
    open_block(true)
}

fn open_block(traced: bool) -> FusionGuard {
    enter(traced);
    FusionGuard { traced, is_open: true, _thread: std::marker::PhantomData }
}

/// Opens a block without a guard; [`leave`] must follow.
pub fn enter(traced: bool) {
    ACTIVE_SCOPE.with_borrow_mut(|active| {
        let active = active.get_or_insert_with(|| {
            let scope = FusionScope { is_compiling_ahead: is_compiling_ahead(), ..FusionScope::default() };
            OpenScope { scope: Arc::new(scope), depth: 0, traced: 0 }
        });
        active.depth += 1;
        set_deferred_work(Some(DeferredWork { flush: flush_open_block, check_host_read }));
        active.traced += u32::from(traced);
    });
}

/// Ends the block that the last [`enter`] with the same argument opened.
///
/// # Errors
/// As [`flush`].
pub fn leave(traced: bool) -> Result<()> {
    let ended = ACTIVE_SCOPE.with_borrow_mut(|slot| {
        let active = slot.as_mut()?;
        active.depth -= 1;
        active.traced = active.traced.saturating_sub(u32::from(traced));
        if active.depth > 0 {
            return None;
        }
        set_deferred_work(None);
        slot.take()
    });
    let Some(active) = ended else { return Ok(()) };
    active.scope.evaluate_scope()?;
    lock_ignoring_poison(&active.scope.fault).take().map_or(Ok(()), Err)
}

impl FusionGuard {
    /// Ends the block and, unless an outer one is still open, computes what is still referenced.
    ///
    /// # Errors
    /// As [`flush`].
    pub fn finish(mut self) -> Result<()> {
        self.close_block()
    }

    fn close_block(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_open) { leave(self.traced) } else { Ok(()) }
    }
}

impl Drop for FusionGuard {
    fn drop(&mut self) {
        let _ = self.close_block();
    }
}

/// Runs `body` with its operations fused, then computes everything that is still referenced, normally its result.
///
/// # Errors
/// Those of `body`, and those of [`flush`].
pub fn fuse<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let fusion = begin();
    let result = body();
    let ended = fusion.finish();
    let result = result?;
    ended.map(|()| result)
}

impl FusionScope {
    /// Computes everything that is referred to; the rest is forgotten.
    pub(super) fn evaluate_scope(&self) -> Result<()> {
        if IS_EVALUATING.get() {
            return Ok(());
        }
        let _computing = lock_blocking(&self.computing);
        let graph = {
            let mut graph = lock_ignoring_poison(&self.graph);
            self.is_pending.store(false, Ordering::Release);
            std::mem::take(&mut *graph)
        };
        let evaluate = || with_evaluating_flag(|| launch::evaluate_graph(&graph));
        // A call that only compiles may be the first to need a result of others.
        if self.is_compiling_ahead { evaluate() } else { launching(evaluate) }
    }
}

/// Runs `body` with addresses taken as they are, and nothing deferred.
pub(super) fn with_evaluating_flag<T>(body: impl FnOnce() -> T) -> T {
    struct RestoreEvaluatingFlag(bool);
    impl Drop for RestoreEvaluatingFlag {
        fn drop(&mut self) {
            IS_EVALUATING.set(self.0);
        }
    }
    let _restore = RestoreEvaluatingFlag(IS_EVALUATING.replace(true));
    body()
}

/// Defers an operation. `None` when there is no block or the operation cannot wait; what was deferred
/// so far is then computed as soon as an address is taken.
pub(crate) fn defer_operation(
    ctx: &Arc<ArrayContext>,
    op: Op,
    types: OpTypes,
    operands: &[OperandSource<'_>],
    out: Option<&GpuArray>,
    layout: impl FnOnce() -> Layout,
) -> Result<Option<GpuArray>> {
    let Some(scope) = active_scope() else { return Ok(None) };
    if !is_fusable(op, types.compute) {
        return Ok(None);
    }
    let layout = match out {
        Some(out) => {
            out.check_writable()?;
            out.layout_arc().clone()
        }
        None => Arc::new(layout()),
    };
    if layout.size() == 0 {
        return Ok(None);
    }
    scope.flush_if_conflicting(ctx, operands, out, layout.ndim())?;
    if let Some(out) = out {
        let is_memory = pending_deferred_buffer(out).is_none();
        let reads_elsewhere = |source: &OperandSource<'_>| match source {
            OperandSource::Array(array) => pending_deferred_buffer(array).is_none() && !has_no_write_hazard(out, array),
            OperandSource::Value(..) => false,
        };
        if is_memory && (!is_writable(out) || operands.iter().any(reads_elsewhere)) {
            return Ok(None);
        }
    }
    scope.record_operation(ctx, op, types, operands, out, layout).map(Some)
}

impl FusionScope {
    /// Computes the graph if it cannot take an operation on these arrays.
    fn flush_if_conflicting(
        self: &Arc<Self>,
        ctx: &Arc<ArrayContext>,
        operands: &[OperandSource<'_>],
        out: Option<&GpuArray>,
        ndim: usize,
    ) -> Result<()> {
        let arrays = operands.iter().filter_map(|source| match source {
            OperandSource::Array(array) => Some(*array),
            OperandSource::Value(..) => None,
        });
        let n_arrays = arrays.clone().count();
        for array in arrays.clone().chain(out) {
            if let Some(deferred) = pending_deferred_buffer(array)
                && as_whole_deferred(self, array).is_none()
            {
                deferred.scope.evaluate_scope()?;
            }
        }
        let fits = {
            let graph = lock_ignoring_poison(&self.graph);
            let other = graph.ctx.as_ref().is_some_and(|own| !Arc::ptr_eq(own, ctx));
            let is_memory = |array: &&GpuArray| pending_deferred_buffer(array).is_none();
            let conflicts = !arrays.filter(is_memory).all(|array| graph.can_read(array))
                || out.filter(is_memory).is_some_and(|out| !graph.can_write(out));
            !other && !conflicts && !graph.is_full(n_arrays, ndim)
        };
        if fits { Ok(()) } else { self.evaluate_scope() }
    }

    fn record_operation(
        self: &Arc<Self>,
        ctx: &Arc<ArrayContext>,
        op: Op,
        types: OpTypes,
        operands: &[OperandSource<'_>],
        out: Option<&GpuArray>,
        layout: Arc<Layout>,
    ) -> Result<GpuArray> {
        let mut graph = lock_ignoring_poison(&self.graph);
        graph.ctx.get_or_insert_with(|| ctx.clone());
        graph.update_max_ndim(layout.ndim());
        let mut inputs = [NO_INPUT; 4];
        for (input, source) in inputs.iter_mut().zip(operands) {
            *input = match source {
                OperandSource::Array(array) => match pending_deferred_buffer(array) {
                    Some(deferred) => *lock_ignoring_poison(&deferred.node),
                    None => graph.intern_array(array),
                },
                OperandSource::Value(element, dtype) => graph.intern_constant(*element, *dtype),
            };
        }
        let dtype = out.map_or(types.out, GpuArray::dtype);
        let node = graph.intern_node(FusionNode::Op { op, compute: types.compute, out: dtype, inputs });
        self.is_pending.store(true, Ordering::Release);
        if let Some(out) = out {
            match pending_deferred_buffer(out) {
                Some(deferred) => *lock_ignoring_poison(&deferred.node) = node,
                None => graph.set_pending_store(out, node),
            }
            return Ok(out.clone());
        }
        let deferred = Arc::new(DeferredBuffer {
            scope: self.clone(),
            layout: layout.clone(),
            dtype,
            allocator: ctx.device().allocator(),
            node: Mutex::new(node),
            memory: OnceLock::new(),
        });
        graph.results.push(Arc::downgrade(&deferred));
        Ok(GpuArray::from_buffer(ctx, Some(deferred), layout, dtype))
    }

    /// Calls `body` with the graph and the node of `array`, if it was deferred here as a whole and nothing
    /// waits to be stored in memory that exists.
    pub(super) fn with_graph_node<T>(array: &GpuArray, body: impl FnOnce(&FusionGraph, u16) -> T) -> Option<T> {
        let scope = active_scope()?;
        let deferred = as_whole_deferred(&scope, array)?;
        let _computing = lock_blocking(&scope.computing);
        let graph = lock_ignoring_poison(&scope.graph);
        if !graph.stores.is_empty() {
            return None;
        }
        let node = *lock_ignoring_poison(&deferred.node);
        Some(with_evaluating_flag(|| body(&graph, node)))
    }
}
