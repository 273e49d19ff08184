//! What an array needs from a device: memory, copies, compiled kernels.

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
    /// Called before work is enqueued that uses the memory.
    fn record_use(&self) {}
    /// Waits for work with the memory that a copy to or from the host in the current stream would not wait for.
    ///
    /// # Errors
    /// When that work failed.
    fn wait_for_uses(&self) -> Result<()> {
        Ok(())
    }
    /// For the runtime's own users, who know the concrete type.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Itself, if it is memory of a result that was deferred: a [`DeferredBuffer`](crate::fuse::DeferredBuffer).
    fn as_deferred(&self) -> Option<&dyn Any> {
        None
    }
    /// Computes what was deferred, so that the address exists.
    ///
    /// # Errors
    /// When that fails.
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

/// Makes memory of at least so many bytes for arrays.
pub type Allocator = Arc<dyn Fn(usize) -> Result<Arc<dyn ArrayBuffer>> + Send + Sync>;

/// Page-locked host memory for a copy from the device that is asked about and not waited for.
pub trait ReadSlot: Send {
    /// Enqueues a copy of as many bytes as the slot has from `src`. Not to be called while one is under way.
    ///
    /// # Errors
    /// When the device fails.
    fn start(&mut self, src: u64) -> Result<()>;
    /// What was copied; `None` while it is under way. Never waits.
    ///
    /// # Errors
    /// When work before the copy failed.
    fn poll(&self) -> Result<Option<&[u8]>>;
    /// What was copied; waits.
    ///
    /// # Errors
    /// As [`ReadSlot::poll`].
    fn wait(&self) -> Result<&[u8]>;
}

/// Capability: reads of device memory that do not wait.
pub trait PinnedReads {
    /// Memory for a read of `nbytes` bytes.
    ///
    /// # Errors
    /// When there is no such memory.
    fn read_slot(&self, nbytes: usize) -> Result<Box<dyn ReadSlot>>;
}

/// Launches that were recorded, to be launched as one.
pub trait LaunchableGraph: Send {
    /// Enqueues the graph; does not wait.
    ///
    /// # Errors
    /// When the device fails.
    fn launch(&self) -> Result<()>;
}

/// Capability: launches recorded as a graph.
pub trait Graphs {
    /// Records what `body` enqueues, which must not allocate, copy to or from the host, or wait.
    ///
    /// # Errors
    /// Those of `body`, and when something cannot be recorded.
    fn record(&self, body: &mut dyn FnMut() -> Result<()>) -> Result<Box<dyn LaunchableGraph>>;

    /// Whether [`Graphs::record_until`] is possible.
    ///
    /// # Errors
    /// When the device has no loops in graphs, or a library for them is missing: what to install.
    fn check_loops(&self) -> Result<()>;

    /// Records what `body` enqueues as the body of a loop: it runs as long as the double at `stop` is 0 after a turn,
    /// without the host, and at most `turns` times a launch, so that whoever waits can be interrupted.
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
    /// Blocks of `threads` threads, with so much dynamic shared memory, that are resident at once.
    ///
    /// # Errors
    /// When the kernel is one of another runtime, or the device does not report it.
    fn resident_blocks(&self, kernel: &dyn LaunchableKernel, threads: u32, shared_bytes: u32) -> Result<u32>;

    /// Blocks of the largest cluster, whose barrier is one of the hardware; 0 where there are no clusters.
    fn cluster_blocks(&self) -> u32 {
        0
    }

    /// As [`LaunchableKernel::launch`], of at most [`Cooperative::resident_blocks`] blocks; with `is_cluster`, as one cluster
    /// of at most [`Cooperative::cluster_blocks`].
    ///
    /// # Errors
    /// When there are more blocks, the kernel is one of another runtime, or the device fails.
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

/// A device as arrays see it. Work is enqueued in the calling thread's current stream of the runtime.
pub trait DeviceRuntime: Send + Sync {
    /// What is known of the device.
    fn device_info(&self) -> DeviceInfo;
    /// A number that differs between contexts whose kernels may not access each other's memory; 0 where that is not
    /// known.
    fn context_number(&self) -> u64 {
        0
    }
    /// Memory of at least one byte, to be used in stream order.
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>>;
    /// What the calling thread's [`DeviceRuntime::alloc`] takes memory from now; `None` is the runtime's own.
    fn allocator(&self) -> Option<Allocator> {
        None
    }
    /// As [`DeviceRuntime::alloc`], from `allocator` whatever the thread's one is now.
    ///
    /// # Errors
    /// When there is no such memory.
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
    /// Compiles (or takes from a cache) the kernel `name` in `source`.
    fn compile(&self, source: &str, name: &str) -> Result<Arc<dyn LaunchableKernel>>;
    /// The addresses of [`rtcg_codegen::block_reduce::REDUCTION_STATE_BYTES`] bytes that are zero, which kernels leave as they
    /// found them, and of `nbytes` further bytes; for kernels of the current stream only, each of which
    /// may change the further bytes.
    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)>;
    /// A number of the current stream that no other one of the context has, whose work is done in order; `None` while it
    /// is captured, when its work is not done.
    ///
    /// # Errors
    /// When the driver does not report it.
    fn stream_number(&self) -> Result<Option<u64>> {
        Ok(Some(0))
    }
    /// Waits for all work of the context.
    fn synchronize(&self) -> Result<()>;
    /// Reads that do not wait, where the device has them.
    fn pinned_reads(&self) -> Option<&dyn PinnedReads> {
        None
    }
    /// Graphs, where the device has them.
    fn graphs(&self) -> Option<&dyn Graphs> {
        None
    }
    /// Cooperative launches, where the device has them.
    fn cooperative(&self) -> Option<&dyn Cooperative> {
        None
    }
    /// Gives memory that is kept for later back to the device; whether there was any.
    fn release_cached_memory(&self) -> bool {
        false
    }
    /// Bytes that are kept for later.
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

/// A runtime with the kernels that arrays have compiled so far.
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
    /// A context with no kernels yet.
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

    /// The device below.
    pub fn device_runtime(&self) -> &dyn DeviceRuntime {
        &*self.runtime
    }

    /// What is known of the device.
    pub fn device_info(&self) -> DeviceInfo {
        self.device_info
    }

    /// What [`DeviceRuntime::context_number`] says.
    #[inline]
    pub fn context_number(&self) -> u64 {
        self.number
    }

    /// Has what kernels leave open decided by `choices`, or by the rules again. To be called again when its answers change:
    /// calls that were planned before are planned anew.
    pub fn install_choices(&self, choices: Option<Arc<dyn Choices>>) {
        let mut installed = self.choices.write().unwrap_or_else(PoisonError::into_inner);
        self.has_choices.store(choices.is_some(), Ordering::Release);
        let old = std::mem::replace(&mut *installed, choices);
        self.choices_epoch.fetch_add(1, Ordering::AcqRel);
        drop(installed);
        drop(old);
    }

    /// What decides for calls of this thread: its own choices, or what was installed last.
    pub fn current_choices(&self) -> Option<Arc<dyn Choices>> {
        if has_thread_choices() {
            return thread_choices();
        }
        self.choices.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number that changes whenever choices are installed. A planned call is good as long as this is what it was
    /// before the call was planned.
    #[inline]
    pub fn choices_epoch(&self) -> u64 {
        if has_thread_choices() {
            return thread_epoch();
        }
        self.choices_epoch.load(Ordering::Acquire)
    }

    /// Decides what a kernel leaves open.
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

    /// Reports an index that was out of bounds; called when the host waits anyway.
    ///
    /// # Errors
    /// When a kernel met such an index since the last time.
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

    /// The compiled form of `kernel`. It is compiled when it is first asked for (twice if threads race), and again after
    /// it was evicted; see [`ArrayContext::set_kernel_capacity`].
    ///
    /// # Errors
    /// When it does not compile, or the device is out of memory.
    pub fn compiled_kernel<K: KernelSpec>(&self, kernel: &K) -> Result<Arc<dyn LaunchableKernel>> {
        self.kernels.get_or_insert_with(kernel, || self.runtime.compile(&kernel.source(), &kernel.kernel_name()))
    }

    /// How many kernels are loaded, how many may be, and how many were compiled and evicted so far.
    pub fn kernel_cache_usage(&self) -> CacheUse {
        self.kernels.usage()
    }

    /// Changes how many kernels stay loaded, 1024 at first. The least recently used of more are unloaded, unless a call
    /// that is found again holds them.
    pub fn set_kernel_capacity(&self, capacity: usize) {
        self.kernels.set_capacity(capacity);
    }
}
