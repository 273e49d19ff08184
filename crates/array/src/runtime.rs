//! What arrays need from a device: memory, copies and compiled kernels.

use crate::blocking_regions::lock_blocking;
use crate::bounded_cache::{BoundedCache, CacheUse};
use crate::error::{ArrayError, Result};
use crate::thread_choices::{has_thread_choices, is_compiling_ahead, thread_choices, thread_epoch};
use rtcg_codegen::tuning::{Choices, Tunable};
use rtcg_codegen::{DeviceInfo, KernelSpec};
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// Device memory that is freed with the last reference.
pub trait ArrayBuffer: Send + Sync + Any {
    /// Address of the first byte on the device.
    fn device_ptr(&self) -> u64;
    /// Called before work that uses the memory is enqueued.
    fn record_use(&self) {}
    /// Waits for work with the memory for which a copy to or from the host in the current stream would not wait.
    ///
    /// # Errors
    /// When that work failed.
    fn wait_for_uses(&self) -> Result<()> {
        Ok(())
    }
    /// The concrete buffer, for users of a runtime who know its type.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Itself, if it is the memory of a deferred result: a [`DeferredBuffer`](crate::fuse::DeferredBuffer).
    fn as_deferred(&self) -> Option<&dyn Any> {
        None
    }
    /// Computes a deferred result, so that the address exists.
    ///
    /// # Errors
    /// When the computation fails.
    fn ensure_computed(&self) -> Result<()> {
        Ok(())
    }
    /// The address of the first byte, checked, for work that is about to be enqueued.
    ///
    /// # Errors
    /// As [`ArrayBuffer::ensure_computed`].
    fn address_recording_use(&self) -> Result<u64> {
        self.ensure_computed()?;
        self.record_use();
        Ok(self.device_ptr())
    }
}

/// A compiled kernel.
pub trait LaunchableKernel: Send + Sync + Any {
    /// Enqueues the kernel with packed arguments; does not wait.
    fn launch(&self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32, args: &[u8]) -> Result<()>;
}

/// Allocates at least this many bytes for arrays.
pub type Allocator = Arc<dyn Fn(usize) -> Result<Arc<dyn ArrayBuffer>> + Send + Sync>;

/// Page-locked host memory for an asynchronous copy from the device, which is polled.
pub trait ReadSlot: Send {
    /// Enqueues a copy from `src` that fills the slot. Must not be called while a copy is in flight.
    ///
    /// # Errors
    /// When the device fails.
    fn start(&mut self, src: u64) -> Result<()>;
    /// The copied bytes; `None` while the copy is in flight. Never waits.
    ///
    /// # Errors
    /// When work before the copy failed.
    fn poll(&self) -> Result<Option<&[u8]>>;
    /// The copied bytes; waits.
    ///
    /// # Errors
    /// As [`ReadSlot::poll`].
    fn wait(&self) -> Result<&[u8]>;
}

/// Capability: asynchronous reads of device memory.
pub trait PinnedReads {
    /// Allocates a slot for a read of `nbytes` bytes.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn read_slot(&self, nbytes: usize) -> Result<Box<dyn ReadSlot>>;
}

/// Recorded launches, which are launched together.
pub trait LaunchableGraph: Send {
    /// Enqueues the graph; does not wait.
    ///
    /// # Errors
    /// When the device fails.
    fn launch(&self) -> Result<()>;
}

/// Capability: recording launches as a graph.
pub trait Graphs {
    /// Records what `body` enqueues, which must not allocate, copy to or from the host, or wait.
    ///
    /// # Errors
    /// Those of `body`, and when something cannot be recorded.
    fn record(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>>;

    /// Checks whether [`Graphs::record_until`] is possible.
    ///
    /// # Errors
    /// When the device does not support loops in graphs, or a library for them is missing; the message says what to
    /// install.
    fn check_loops(&self) -> Result<()>;

    /// Records what `body` enqueues as the body of a loop. It runs without the host as long as the double at `stop` is
    /// 0 after an iteration, and at most `turns` times per launch, so that waiting for it can be interrupted.
    ///
    /// # Errors
    /// As [`Graphs::record`] and [`Graphs::check_loops`].
    fn record_until(
        &self,
        stop: u64,
        turns: u32,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Box<dyn LaunchableGraph>>;
}

/// Capability: launches whose blocks are all resident at once, so that they may wait for each other.
pub trait Cooperative {
    /// The number of blocks of `threads` threads, with this much dynamic shared memory, that are resident at once.
    ///
    /// # Errors
    /// When the kernel belongs to another runtime, or the device does not report it.
    fn resident_blocks(&self, kernel: &dyn LaunchableKernel, threads: u32, shared_bytes: u32) -> Result<u32>;

    /// The maximum cluster size in blocks, with a hardware barrier; 0 if clusters are not supported.
    fn cluster_blocks(&self) -> u32 {
        0
    }

    /// Like [`LaunchableKernel::launch`], for at most [`Cooperative::resident_blocks`] blocks; with `is_cluster`, as
    /// one cluster of at most [`Cooperative::cluster_blocks`].
    ///
    /// # Errors
    /// When there are more blocks, the kernel belongs to another runtime, or the device fails.
    fn launch(
        &self,
        kernel: &dyn LaunchableKernel,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        is_cluster: bool,
        args: &[u8],
    ) -> Result<()>;
}

/// A device as arrays see it. Work is enqueued in the runtime's current stream of the calling thread.
pub trait DeviceRuntime: Send + Sync {
    /// Properties of the device.
    fn device_info(&self) -> DeviceInfo;
    /// A number that differs between contexts whose kernels must not access each other's memory; 0 if unknown.
    fn context_number(&self) -> u64 {
        0
    }
    /// Allocates at least one byte, for use in stream order.
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>>;
    /// The allocator from which [`DeviceRuntime::alloc`] currently takes the calling thread's memory; `None` is the
    /// runtime's own.
    fn allocator(&self) -> Option<Allocator> {
        None
    }
    /// Like [`DeviceRuntime::alloc`], but from `allocator` rather than the thread's current one.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn alloc_from(&self, allocator: Option<&Allocator>, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        match allocator {
            Some(allocator) => allocator(nbytes),
            None => self.alloc(nbytes),
        }
    }
    /// Copies host bytes to the device; waits.
    fn memcpy_htod(&self, dst: u64, src: &[u8]) -> Result<()>;
    /// Copies device bytes to the host; waits.
    fn memcpy_dtoh(&self, dst: &mut [u8], src: u64) -> Result<()>;
    /// Copies within the device; does not wait.
    fn memcpy_dtod(&self, dst: u64, src: u64, nbytes: usize) -> Result<()>;
    /// Sets bytes to zero; does not wait.
    fn memset_zero(&self, dst: u64, nbytes: usize) -> Result<()>;
    /// Compiles the kernel `name` in `source`, or takes it from a cache.
    fn compile(&self, source: &str, name: &str) -> Result<Arc<dyn LaunchableKernel>>;
    /// The addresses of [`rtcg_codegen::block_reduce::REDUCTION_STATE_BYTES`] zeroed bytes, which kernels restore to
    /// zero, and of `nbytes` further bytes, which each kernel may change. Only kernels in the current stream may use
    /// them.
    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)>;
    /// An identifier of the current stream, unique in its context, whose work runs in order; `None` while the stream is
    /// being captured, since its work does not run.
    ///
    /// # Errors
    /// When the driver does not report it.
    fn stream_number(&self) -> Result<Option<u64>> {
        Ok(Some(0))
    }
    /// Waits for all work of the context.
    fn synchronize(&self) -> Result<()>;
    /// Asynchronous reads, if the device supports them.
    fn pinned_reads(&self) -> Option<&dyn PinnedReads> {
        None
    }
    /// Graphs, if the device supports them.
    fn graphs(&self) -> Option<&dyn Graphs> {
        None
    }
    /// Cooperative launches, if the device supports them.
    fn cooperative(&self) -> Option<&dyn Cooperative> {
        None
    }
    /// Returns cached memory to the device; the result says whether there was any.
    fn release_cached_memory(&self) -> bool {
        false
    }
    /// The size of cached memory in bytes.
    fn cached_bytes(&self) -> usize {
        0
    }
}

/// What a module above keeps in a context, which does not know its type. Each has its own.
#[derive(Default)]
pub(crate) struct LayerState(OnceLock<Box<dyn Any + Send + Sync>>);

impl LayerState {
    /// The state, empty at first.
    #[inline]
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> &T {
        let state = self.0.get_or_init(|| Box::new(T::default()));
        state.downcast_ref().expect("one module, one type")
    }
}

/// Kernels that a context keeps loaded where nothing else is said.
const DEFAULT_KERNEL_CAPACITY: usize = 1024;

/// A runtime, with the array kernels compiled so far.
pub struct ArrayContext {
    runtime: Arc<dyn DeviceRuntime>,
    device_info: DeviceInfo,
    number: u64,
    kernels: BoundedCache<Arc<dyn LaunchableKernel>>,
    /// A word on the device that kernels set when an index is out of bounds.
    out_of_bounds: Mutex<Option<Arc<dyn ArrayBuffer>>>,
    /// Whether a kernel that may set it was launched since it was last read.
    may_be_out_of_bounds: AtomicBool,
    /// Calls that were planned before, of [`crate::call_cache`].
    pub(crate) call_cache: LayerState,
    choices: RwLock<Option<Arc<dyn Choices>>>,
    /// Whether there are any, so that planning without them takes no lock.
    has_choices: AtomicBool,
    /// How often they were changed.
    choices_epoch: AtomicU64,
    /// Roots of unity on the device, of [`crate::fft`].
    pub(crate) fft_tables: LayerState,
}

impl fmt::Debug for ArrayContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayContext").field("device_info", &self.device_info).finish_non_exhaustive()
    }
}

impl ArrayContext {
    /// Makes a context without kernels.
    pub fn new(runtime: Arc<dyn DeviceRuntime>) -> Arc<Self> {
        let (device_info, number) = (runtime.device_info(), runtime.context_number());
        Arc::new(Self {
            runtime,
            device_info,
            number,
            kernels: BoundedCache::new(DEFAULT_KERNEL_CAPACITY),
            out_of_bounds: Mutex::default(),
            may_be_out_of_bounds: AtomicBool::new(false),
            call_cache: LayerState::default(),
            choices: RwLock::default(),
            has_choices: AtomicBool::new(false),
            choices_epoch: AtomicU64::new(0),
            fft_tables: LayerState::default(),
        })
    }

    /// The underlying device.
    pub fn device_runtime(&self) -> &dyn DeviceRuntime {
        &*self.runtime
    }

    /// Properties of the device.
    pub fn device_info(&self) -> DeviceInfo {
        self.device_info
    }

    /// The value of [`DeviceRuntime::context_number`].
    #[inline]
    pub fn context_number(&self) -> u64 {
        self.number
    }

    /// Makes `choices`, or again the rules, decide what kernels leave open. Call it again whenever the choices' answers
    /// change: calls planned before are planned anew.
    pub fn install_choices(&self, choices: Option<Arc<dyn Choices>>) {
        let mut installed = self.choices.write().unwrap_or_else(PoisonError::into_inner);
        self.has_choices.store(choices.is_some(), Ordering::Release);
        let old = std::mem::replace(&mut *installed, choices);
        self.choices_epoch.fetch_add(1, Ordering::AcqRel);
        drop(installed);
        drop(old);
    }

    /// The choices for calls of this thread: the thread's own, or those installed last.
    pub fn current_choices(&self) -> Option<Arc<dyn Choices>> {
        if has_thread_choices() {
            return thread_choices();
        }
        self.choices.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A number that changes whenever choices are installed. A planned call stays valid while it equals its value
    /// before the call was planned.
    #[inline]
    pub fn choices_epoch(&self) -> u64 {
        if has_thread_choices() {
            return thread_epoch();
        }
        self.choices_epoch.load(Ordering::Acquire)
    }

    /// Decides what a kernel leaves open for a problem.
    pub fn choose<T: Tunable>(&self, problem: &T::Problem) -> T {
        if !self.has_choices.load(Ordering::Acquire) && !has_thread_choices() {
            return T::from_rule(problem, &self.device_info);
        }
        self.ask_choices(problem)
    }

    #[cold]
    fn ask_choices<T: Tunable>(&self, problem: &T::Problem) -> T {
        // Without the lock: choices may do anything.
        match self.current_choices() {
            Some(choices) => T::choose(problem, &self.device_info, &*choices),
            None => T::from_rule(problem, &self.device_info),
        }
    }

    /// The address of the word that a kernel sets when an index is out of bounds.
    pub(crate) fn out_of_bounds_flag(&self, is_checked: bool) -> Result<u64> {
        // Memory is requested, and cleared, with the lock held.
        let mut out_of_bounds = lock_blocking(&self.out_of_bounds);
        let buffer = match &*out_of_bounds {
            Some(buffer) => buffer.clone(),
            None => {
                let buffer = self.runtime.alloc(4)?;
                self.runtime.memset_zero(buffer.device_ptr(), 4)?;
                out_of_bounds.insert(buffer).clone()
            }
        };
        if is_checked {
            self.may_be_out_of_bounds.store(true, Ordering::Relaxed);
        }
        buffer.record_use();
        Ok(buffer.device_ptr())
    }

    /// Reports an index out of bounds; called when the host waits anyway.
    ///
    /// # Errors
    /// When a kernel has met such an index since the last check.
    pub fn check_indices(&self) -> Result<()> {
        // Elements cannot be read then, and whoever reads some next is told.
        if is_compiling_ahead() || !self.may_be_out_of_bounds.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let Some(buffer) = lock_blocking(&self.out_of_bounds).clone() else { return Ok(()) };
        let mut word = [0u8; 4];
        self.runtime.memcpy_dtoh(&mut word, buffer.device_ptr())?;
        if word == [0; 4] {
            return Ok(());
        }
        self.runtime.memset_zero(buffer.device_ptr(), 4)?;
        Err(ArrayError::index_error(
            "an index is out of bounds: an earlier operation was given an array of indices on the device with an \
             element outside its axis (the nearest element was taken)",
        ))
    }

    /// Returns the compiled form of `kernel`. It is compiled on first use (twice if threads race), and again if it was
    /// evicted; see [`ArrayContext::set_kernel_capacity`].
    ///
    /// # Errors
    /// When it does not compile, or the device is out of memory.
    pub fn compiled_kernel<K: KernelSpec>(&self, kernel: &K) -> Result<Arc<dyn LaunchableKernel>> {
        self.kernels.get_or_insert_with(kernel, || self.runtime.compile(&kernel.source(), &kernel.kernel_name()))
    }

    /// Number of loaded kernels, their maximum, and the kernels compiled and evicted so far.
    pub fn kernel_cache_usage(&self) -> CacheUse {
        self.kernels.usage()
    }

    /// Sets the maximum number of loaded kernels, initially 1024. The least recently used beyond it are unloaded,
    /// unless a cached call holds them.
    pub fn set_kernel_capacity(&self, capacity: usize) {
        self.kernels.set_capacity(capacity);
    }
}
