//! The CUDA runtime of arrays: implements [`rtcg_hal::Device`] with the driver and the compiler.

#![allow(
    unsafe_code,
    reason = "driver copies and launches take addresses as numbers; each here is of an array that holds its memory"
)]

use crate::context::{device_compile_target, with_current};
use crate::error::Error;
use crate::signatures::attach_module_source;
use crate::tuning_results::{device_key, results_store};
use crate::workspace;
use rtcg_compile::{Arch, BinaryKind, CompileRequest, Compiler, Target};
use rtcg_driver::memory::{self, HostAllocation};
use rtcg_driver::pool::{DeviceMemoryPool, PooledDeviceAllocation};
use rtcg_driver::{Context, Event, Function, LaunchOptions, Module, Stream, sys};
use rtcg_hal::deferred::flush_storing_errors;
use rtcg_hal::{
    Allocator, ArgsView, ArrayBuffer, ArrayContext, ArrayError, BLOCK_THREADS, Cooperative, DType, Device, DeviceInfo,
    ExecutionModel, Graphs, Kernel, KernelText, PinnedReads, Queue, Result, TensorBoxes, TensorMap, ThreadFlag,
    blocking_region, is_compiling_ahead,
};
use rtcg_tune::decisions::StoredChoices;
use std::any::Any;
use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

thread_local! {
    /// The stream that array operations of this thread are enqueued in; the default one if empty.
    static CURRENT_STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
    static HAS_STREAM: Cell<bool> = const { Cell::new(false) };
    /// What new arrays of this thread get their memory from; the pool if empty.
    static CURRENT_ALLOCATOR: RefCell<Option<Allocator>> = const { RefCell::new(None) };
    static HAS_ALLOCATOR: Cell<bool> = const { Cell::new(false) };
}

static STREAM_FLAG: ThreadFlag = ThreadFlag::new(&HAS_STREAM);
static ALLOCATOR_FLAG: ThreadFlag = ThreadFlag::new(&HAS_ALLOCATOR);

/// Whether the calling thread is inside [`with_allocator`].
#[inline]
pub fn has_allocator() -> bool {
    ALLOCATOR_FLAG.is_set()
}

/// Runs `body` such that new arrays of this thread get their memory from `allocator` rather than from the pool.
/// Deferred results get it from there when they are computed.
pub fn with_allocator<T>(allocator: Allocator, body: impl FnOnce() -> T) -> T {
    struct RestoreAllocator(Option<Allocator>);
    impl Drop for RestoreAllocator {
        fn drop(&mut self) {
            ALLOCATOR_FLAG.set_for_thread(self.0.is_some());
            let _ = CURRENT_ALLOCATOR.try_with(|slot| slot.replace(self.0.take()));
        }
    }
    let _restore = RestoreAllocator(CURRENT_ALLOCATOR.with(|slot| slot.replace(Some(allocator))));
    ALLOCATOR_FLAG.set_for_thread(true);
    body()
}

#[cold]
#[inline(never)]
fn current_allocator() -> Option<Allocator> {
    CURRENT_ALLOCATOR.with_borrow(Clone::clone)
}

/// Puts another stream into the place of the calling thread's one, which is returned.
fn replace_current_stream(stream: Option<Stream>) -> Option<Stream> {
    STREAM_FLAG.set_for_thread(stream.is_some());
    CURRENT_STREAM.try_with(|slot| slot.replace(stream)).ok().flatten()
}

/// Runs `body` such that array operations of this thread are enqueued in `stream`.
pub fn run_in_stream<T>(stream: Option<&Stream>, body: impl FnOnce() -> T) -> T {
    struct RestoreStream(Option<Stream>);
    impl Drop for RestoreStream {
        fn drop(&mut self) {
            flush_storing_errors();
            drop(replace_current_stream(self.0.take()));
        }
    }
    // What was deferred outside belongs to the stream outside, and the other way round.
    flush_storing_errors();
    let _restore = RestoreStream(replace_current_stream(stream.cloned()));
    body()
}

/// The stream in which array operations of this thread are enqueued.
pub fn current_stream() -> Option<Stream> {
    if !STREAM_FLAG.is_set() {
        return None;
    }
    CURRENT_STREAM.try_with(|slot| slot.borrow().clone()).ok().flatten()
}

#[inline]
fn with_current_stream<T>(body: impl FnOnce(Option<&Stream>) -> T) -> T {
    if !STREAM_FLAG.is_set() {
        return body(None);
    }
    with_thread_stream(body)
}

#[cold]
#[inline(never)]
fn with_thread_stream<T>(body: impl FnOnce(Option<&Stream>) -> T) -> T {
    CURRENT_STREAM.with(|slot| body(slot.borrow().as_ref()))
}

/// Device memory of an array, from the pool of its runtime.
#[derive(Debug)]
pub struct DeviceBuffer(PooledDeviceAllocation);

impl From<PooledDeviceAllocation> for DeviceBuffer {
    fn from(memory: PooledDeviceAllocation) -> Self {
        Self(memory)
    }
}

impl std::ops::Deref for DeviceBuffer {
    type Target = PooledDeviceAllocation;

    fn deref(&self) -> &PooledDeviceAllocation {
        &self.0
    }
}

impl ArrayBuffer for DeviceBuffer {
    fn device_ptr(&self) -> u64 {
        self.0.ptr()
    }

    fn record_use(&self) {
        with_current_stream(|stream| self.0.used_in(stream));
    }

    fn wait_for_uses(&self) -> Result<()> {
        let waits = STREAM_FLAG.is_set() || !self.0.has_uses_in_other_streams();
        if waits { Ok(()) } else { blocking_region(|| self.0.wait_for_uses()).map_err(ArrayError::runtime_error) }
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn ensure_computed(&self) -> Result<()> {
        if self.0.is_freed() { Err(freed_error()) } else { Ok(()) }
    }

    fn address_recording_use(&self) -> Result<u64> {
        self.ensure_computed()?;
        self.record_use();
        Ok(self.0.ptr())
    }
}

/// The use of an array whose memory was given back by hand.
#[cold]
fn freed_error() -> ArrayError {
    let detail = "the memory of the array was freed (gpudata.free())";
    ArrayError::runtime_error(rtcg_driver::Error::new("GPUArray", sys::CUresult::CUDA_ERROR_INVALID_HANDLE, detail))
}

/// Page-locked memory that was used for reads and will be again, with the events behind them: allocating some takes longer
/// than a read.
pub(crate) type FreeSlots = Arc<Mutex<Vec<(HostAllocation, Event)>>>;

/// The queue of a CUDA context in which the calling thread's work goes: its current stream, or the default one.
#[derive(Debug, Clone)]
struct ThreadQueue {
    ctx: Context,
}

/// The runtime of arrays on one CUDA context.
pub struct CudaRuntime {
    ctx: Context,
    queue: ThreadQueue,
    device_info: DeviceInfo,
    pool: DeviceMemoryPool,
    free_slots: FreeSlots,
    /// What sets the conditions of loops in graphs, once it was needed.
    set_condition: OnceLock<Arc<dyn Kernel>>,
    has_cooperative_launches: bool,
}

impl fmt::Debug for CudaRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaRuntime").field("device_info", &self.device_info).finish_non_exhaustive()
    }
}

/// Shared memory of a block for tiles that are copied in bulk, which devices of compute capability 9.0 and
/// later do; what kernels declare beside them is left.
///
/// # Errors
/// When the device does not report it.
fn bulk_copy_smem_bytes(ctx: &Context) -> crate::Result<u32> {
    const STATIC_SMEM_BYTES: i32 = 8 << 10;
    let device = ctx.device();
    if !device.can_load_cubins() || device.compute_capability()?.0 < 9 {
        return Ok(0);
    }
    let most = device.attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    Ok((most - STATIC_SMEM_BYTES).max(0) as u32)
}

impl CudaRuntime {
    /// Makes a runtime for `ctx`.
    ///
    /// # Errors
    /// When the device does not report its size.
    pub fn new(ctx: &impl Borrow<Context>) -> crate::Result<Self> {
        let ctx = ctx.borrow();
        let attribute = |which| ctx.device().attribute(which).map(|value| value.max(1) as u32);
        let multiprocessors = attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let threads = attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
        let resident = multiprocessors.saturating_mul((threads / BLOCK_THREADS).max(1));
        // Where machine code cannot be loaded, PTX is run by the lanes of a processor's vectors.
        let (execution, vector_bytes) = match ctx.device().can_load_cubins() {
            true => (ExecutionModel::Simt, 16),
            false => (ExecutionModel::SimdCpu, 1),
        };
        let (major, minor) = ctx.device().compute_capability()?;
        let device_info = DeviceInfo {
            multiprocessors,
            max_blocks: resident.saturating_mul(4),
            execution,
            vector_bytes,
            bulk_copy_smem_bytes: bulk_copy_smem_bytes(ctx)?,
            shared_bytes: attribute(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            compute_capability: 10 * major + minor,
        };
        Ok(Self {
            ctx: ctx.clone(),
            queue: ThreadQueue { ctx: ctx.clone() },
            device_info,
            pool: DeviceMemoryPool::trimmed_when_idle(),
            free_slots: FreeSlots::default(),
            set_condition: OnceLock::new(),
            has_cooperative_launches: ctx.device().attribute(sys::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
        })
    }

    /// Makes the array context for `ctx`, whose kernels follow stored tuning results where there are any.
    ///
    /// # Errors
    /// As [`CudaRuntime::new`].
    pub fn array_context(ctx: &impl Borrow<Context>) -> crate::Result<Arc<ArrayContext>> {
        let arrays = ArrayContext::new(Arc::new(Self::new(ctx)?));
        let choices = StoredChoices::new(device_key(&ctx.borrow().device())?, results_store());
        arrays.install_choices(Some(Arc::new(choices)));
        Ok(arrays)
    }

    /// The same runtime, which compiles kernels for another compute capability (80, 90) than the device's: for tests of
    /// kernels that devices like it have.
    #[doc(hidden)]
    #[must_use]
    pub fn compiling_for(mut self, compute_capability: u32) -> Self {
        self.device_info.compute_capability = compute_capability;
        self
    }

    pub(crate) fn context(&self) -> &Context {
        &self.ctx
    }

    pub(crate) fn free_slots(&self) -> &FreeSlots {
        &self.free_slots
    }

    pub(crate) fn set_condition(&self) -> &OnceLock<Arc<dyn Kernel>> {
        &self.set_condition
    }

    pub(crate) fn run_in_context<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        self.queue.run_in_context(body)
    }

    /// Memory of the pool, which calls the driver if it has no free block. Other threads may run meanwhile, since a
    /// driver may wait for the device.
    #[inline(never)]
    fn alloc_new(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        let allocate = || self.run_in_context(|| with_current_stream(|stream| self.pool.allocate(nbytes, stream)));
        let memory = blocking_region(allocate)?;
        Ok(Arc::new(DeviceBuffer(memory)))
    }
}

/// Keeps the concrete error as the source, so that callers find it again.
fn runtime_error(error: Error) -> ArrayError {
    match error {
        Error::Driver(error) => ArrayError::runtime_error(error),
        Error::Compile(error) => ArrayError::runtime_error(*error),
        Error::Array(error) => error,
        Error::Nccl(error) => ArrayError::runtime_error(error),
        Error::Library(error) => ArrayError::runtime_error(*error),
    }
}

impl Device for CudaRuntime {
    fn device_info(&self) -> DeviceInfo {
        self.device_info
    }

    fn context_number(&self) -> u64 {
        self.ctx.handle_number()
    }

    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        if has_allocator() {
            return self.alloc_from(self.allocator().as_ref(), nbytes);
        }
        let held = with_current_stream(|stream| self.pool.allocate_if_held_in_context(&self.ctx, nbytes, stream));
        match held {
            Some(memory) => Ok(Arc::new(DeviceBuffer(memory))),
            None => self.alloc_new(nbytes),
        }
    }

    fn allocator(&self) -> Option<Allocator> {
        if has_allocator() { current_allocator() } else { None }
    }

    fn alloc_from(&self, allocator: Option<&Allocator>, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        if let Some(allocator) = allocator {
            return allocator(nbytes);
        }
        self.alloc_new(nbytes)
    }

    fn compile(&self, text: &KernelText<'_>) -> Result<Arc<dyn Kernel>> {
        let mut target = device_compile_target(&self.ctx.device()).map_err(ArrayError::runtime_error)?;
        if self.device_info.compute_capability == 90 && text.settings.is_none() {
            // Kernels may have what no other architecture does, such as `wgmma`.
            target = match target.kind {
                BinaryKind::Cubin => Target::cubin_for_arch(Arch { suffix: Some('a'), ..Arch::new(9, 0) }),
                _ => Target { line_info: target.line_info, ..Target::ptx_for_arch(Arch::new(9, 0)) },
            };
        }
        let mut request = CompileRequest::new(text.source, target);
        request.no_extern_c = true;
        if let Some(settings) = text.settings {
            request.keep = settings.keep;
            request.options = settings.options.clone().unwrap_or(request.options);
        }
        request.parts = text.snippets.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let load = || -> crate::Result<Module> {
            let artifact = Compiler.compile(&request)?;
            Ok(with_current(&self.ctx, || Module::from_image(&artifact.bytes))?)
        };
        let module = blocking_region(load).map_err(runtime_error)?;
        attach_module_source(&module, &request);
        let function = module.function(text.name).map_err(ArrayError::runtime_error)?;
        Ok(Arc::new(CudaKernel::new(&self.ctx, function)))
    }

    fn queue(&self) -> &dyn Queue {
        &self.queue
    }

    #[inline]
    fn is_current(&self) -> bool {
        self.ctx.is_current()
    }

    fn inaccessible_owner(&self, address: u64) -> Option<[String; 2]> {
        let owner = memory::inaccessible_owner_device(&self.ctx, address)?;
        Some([owner.describe(), self.ctx.device().describe()])
    }

    fn synchronize(&self) -> Result<()> {
        self.run_in_context(Context::synchronize)
    }

    fn tensor_map(&self, boxes: &TensorBoxes) -> Option<TensorMap> {
        static ARE_WANTED: OnceLock<bool> = OnceLock::new();
        if !*ARE_WANTED.get_or_init(|| std::env::var_os("RTCG_TENSOR_COPIES").is_some_and(|value| value == "1")) {
            return None;
        }
        let (element, items) = match boxes.dtype {
            DType::I8 | DType::U8 => (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8, 128),
            dtype if dtype.itemsize() == 2 => (sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT16, 64),
            _ => return None,
        };
        let TensorBoxes { address, extents, byte_strides, lines, .. } = *boxes;
        let encode = || rtcg_driver::encode_tensor_map(element, address, extents, byte_strides, [items, lines, 1]);
        let map = with_current(&self.ctx, encode).ok()?.opaque;
        // Repeated launches replace the address where it was seen to be.
        (map[0] == address).then_some(map)
    }

    fn pinned_reads(&self) -> Option<&dyn PinnedReads> {
        Some(self)
    }

    fn graphs(&self) -> Option<&dyn Graphs> {
        Some(self)
    }

    fn cooperative(&self) -> Option<&dyn Cooperative> {
        self.has_cooperative_launches.then_some(self)
    }

    fn release_cached_memory(&self) -> bool {
        let held = self.pool.statistics().held_blocks;
        self.pool.free_held();
        held > 0
    }

    fn cached_bytes(&self) -> usize {
        let statistics = self.pool.statistics();
        statistics.managed_bytes.saturating_sub(statistics.active_bytes)
    }
}

impl ThreadQueue {
    fn run_in_context<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        with_current(&self.ctx, body).map_err(ArrayError::runtime_error)
    }

    /// [`ThreadQueue::run_in_context`] of what is queued and does not wait unless the queue is full.
    fn enqueue_in_context<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        if self.ctx.queue_may_be_full() {
            blocking_region(|| self.run_in_context(body))
        } else {
            self.run_in_context(body)
        }
    }
}

impl Queue for ThreadQueue {
    fn write(&self, dst: u64, src: &[u8]) -> Result<()> {
        // SAFETY: the array that owns `dst` has checked the length; the stream is waited for, so
        // that `src` is not needed later.
        self.run_in_context(|| unsafe {
            with_current_stream(|stream| match stream {
                None => memory::memcpy_htod(dst, src),
                Some(stream) => memory::memcpy_htod_in_stream(dst, src, stream),
            })
        })
    }

    fn read(&self, dst: &mut [u8], src: u64) -> Result<()> {
        if is_compiling_ahead() {
            return Err(ArrayError::value_error("elements are read where kernels are only compiled ahead"));
        }
        // SAFETY: the array that owns `src` has checked the length; the stream is waited for.
        self.run_in_context(|| unsafe {
            with_current_stream(|stream| match stream {
                None => memory::memcpy_dtoh(dst, src),
                Some(stream) => memory::memcpy_dtoh_in_stream(dst, src, stream),
            })
        })
    }

    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()> {
        // SAFETY: both are arrays of `nbytes` bytes.
        self.enqueue_in_context(|| unsafe {
            with_current_stream(|stream| memory::memcpy_dtod_async(dst, src, nbytes, stream))
        })
    }

    fn fill_zero(&self, dst: u64, nbytes: usize) -> Result<()> {
        // SAFETY: `dst` is an array of `nbytes` bytes.
        self.enqueue_in_context(|| unsafe {
            with_current_stream(|stream| memory::memset_d8_async(dst, 0, nbytes, stream))
        })
    }

    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: ArgsView<'_>,
    ) -> Result<()> {
        if is_compiling_ahead() {
            return Ok(());
        }
        let CudaKernel { ctx, function, .. } = cuda_kernel(&**kernel)?;
        let args = args.packed_bytes();
        // SAFETY: generated kernels touch the elements of the arrays they were given, which exist
        // and whose memory is reused only by later work of the same stream.
        let launch = |stream: Option<&Stream>| unsafe { function.launch(grid, block, shared_bytes, stream, args) };
        let launch = || with_current(ctx, || with_current_stream(launch)).map_err(ArrayError::runtime_error);
        // Others go on where the launch may wait, perhaps for them.
        if function.launch_may_wait() { blocking_region(launch) } else { launch() }
    }

    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)> {
        with_current_stream(|stream| workspace::reduction_workspace(&self.ctx, stream, nbytes))
            .map_err(ArrayError::runtime_error)
    }

    fn number(&self) -> Result<Option<u64>> {
        let Some(stream) = current_stream().or_else(Stream::current) else { return Ok(Some(0)) };
        if stream.is_capturing().map_err(ArrayError::runtime_error)? {
            return Ok(None);
        }
        stream.id().map(|id| Some(id.wrapping_add(1))).map_err(ArrayError::runtime_error)
    }
}

/// A kernel of a CUDA device.
pub(crate) struct CudaKernel {
    ctx: Context,
    function: Function,
    /// Threads of a block, and how many blocks of them without dynamic shared memory are resident, once asked.
    resident: OnceLock<(u32, u32)>,
}

impl CudaKernel {
    pub(crate) fn new(ctx: &Context, function: Function) -> Self {
        Self { ctx: ctx.clone(), function, resident: OnceLock::new() }
    }

    fn count_resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let count = || {
            let multiprocessors = self.ctx.device().attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
            let blocks = self.function.max_active_blocks(threads, shared_bytes as usize)?;
            Ok::<_, rtcg_driver::Error>(blocks.saturating_mul(multiprocessors.max(1) as u32))
        };
        with_current(&self.ctx, count).map_err(ArrayError::runtime_error)
    }

    /// Launches in the thread's stream, with options of the driver's.
    pub(crate) fn launch_with_options(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: &[u8],
        options: LaunchOptions,
    ) -> Result<()> {
        if is_compiling_ahead() {
            return Ok(());
        }
        // SAFETY: as in `launch`.
        let launch = |stream: Option<&Stream>| unsafe {
            self.function.launch_with_options(grid, block, shared_bytes, stream, args, options)
        };
        blocking_region(|| with_current(&self.ctx, || with_current_stream(launch))).map_err(ArrayError::runtime_error)
    }
}

impl Kernel for CudaKernel {
    /// Kernels have blocks of one size, so that the driver is asked once.
    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        match self.resident.get() {
            Some((known, blocks)) if *known == threads && shared_bytes == 0 => Ok(*blocks),
            _ => {
                let blocks = self.count_resident_blocks(threads, shared_bytes)?;
                if shared_bytes == 0 {
                    let _ = self.resident.set((threads, blocks));
                }
                Ok(blocks)
            }
        }
    }
}

/// The driver's function of a kernel.
///
/// # Errors
/// When the kernel is another device's.
pub fn driver_function(kernel: &dyn Kernel) -> Result<&Function> {
    Ok(&cuda_kernel(kernel)?.function)
}

/// A kernel as one of a CUDA device.
pub(crate) fn cuda_kernel(kernel: &dyn Kernel) -> Result<&CudaKernel> {
    let found = (kernel as &dyn Any).downcast_ref::<CudaKernel>();
    found.ok_or_else(|| ArrayError::value_error("kernel: it is not one of a CUDA device"))
}
