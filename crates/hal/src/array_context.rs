//! [`ArrayContext`]: a device with the kernels compiled for it and the choices that they follow.

use crate::blocking_regions::lock_blocking;
use crate::bounded_cache::{BoundedCache, CacheUse};
use crate::device::{ArrayBuffer, Device, Queue};
use crate::device_info::DeviceInfo;
use crate::error::{ArrayError, Result};
use crate::kernel_spec::{KernelSpec, KernelText};
use crate::launch::{Kernel, LaunchArgs};
use crate::recording::{RecordingQueue, is_recording};
use crate::repeated_launch::Launch;
use crate::thread_choices::{has_thread_choices, is_compiling_ahead, thread_choices, thread_epoch};
use crate::tuning::{Choices, Tunable};
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// What crates above keep in a context: one value of each type, which this crate does not know.
#[derive(Default)]
struct LayerStates(OnceLock<Box<(Box<dyn Any + Send + Sync>, LayerStates)>>);

impl LayerStates {
    #[inline]
    fn get<T: Default + Send + Sync + 'static>(&self) -> &T {
        let (state, others) = &**self.0.get_or_init(|| Box::new((Box::<T>::default(), LayerStates::default())));
        state.downcast_ref().unwrap_or_else(|| others.get())
    }
}

/// Kernels that a context keeps loaded where nothing else is said.
const DEFAULT_KERNEL_CAPACITY: usize = 1024;

/// A runtime, with the array kernels compiled so far.
pub struct ArrayContext {
    device: Arc<dyn Device>,
    recorder: RecordingQueue,
    device_info: DeviceInfo,
    number: u64,
    kernels: BoundedCache<Arc<dyn Kernel>>,
    /// A word on the device that kernels set when an index is out of bounds.
    out_of_bounds: Mutex<Option<Arc<dyn ArrayBuffer>>>,
    /// Whether a kernel that may set it was launched since it was last read.
    may_be_out_of_bounds: AtomicBool,
    choices: RwLock<Option<Arc<dyn Choices>>>,
    /// Whether there are any, so that planning without them takes no lock.
    has_choices: AtomicBool,
    /// How often they were changed.
    choices_epoch: AtomicU64,
    layers: LayerStates,
}

impl fmt::Debug for ArrayContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayContext").field("device_info", &self.device_info).finish_non_exhaustive()
    }
}

impl ArrayContext {
    /// Makes a context without kernels.
    pub fn new(device: Arc<dyn Device>) -> Arc<Self> {
        let (device_info, number) = (device.device_info(), device.context_number());
        Arc::new(Self {
            recorder: RecordingQueue(device.clone()),
            device,
            device_info,
            number,
            kernels: BoundedCache::new(DEFAULT_KERNEL_CAPACITY),
            out_of_bounds: Mutex::default(),
            may_be_out_of_bounds: AtomicBool::new(false),
            choices: RwLock::default(),
            has_choices: AtomicBool::new(false),
            choices_epoch: AtomicU64::new(0),
            layers: LayerStates::default(),
        })
    }

    /// The underlying device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The queue in which the calling thread's work is enqueued.
    #[inline]
    pub fn queue(&self) -> &dyn Queue {
        if is_recording() { &self.recorder } else { self.device.queue() }
    }

    /// Properties of the device.
    pub fn device_info(&self) -> DeviceInfo {
        self.device_info
    }

    /// The value of [`Device::context_number`].
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

    /// What a crate above keeps in this context, by its type; its default at first.
    #[inline]
    pub fn layer<T: Default + Send + Sync + 'static>(&self) -> &T {
        self.layers.get()
    }

    /// The address of the word that a kernel sets to 1 when an index is out of bounds, and to 2 when a label is; with `is_checked`, the next
    /// [`ArrayContext::check_indices`] reads it.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn out_of_bounds_flag(&self, is_checked: bool) -> Result<u64> {
        // Memory is requested, and cleared, with the lock held.
        let mut out_of_bounds = lock_blocking(&self.out_of_bounds);
        let buffer = match &*out_of_bounds {
            Some(buffer) => buffer.clone(),
            None => {
                let buffer = self.device.alloc(4)?;
                self.queue().fill_zero(buffer.device_ptr(), 4)?;
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
        self.queue().read(&mut word, buffer.device_ptr())?;
        if word == [0; 4] {
            return Ok(());
        }
        self.queue().fill_zero(buffer.device_ptr(), 4)?;
        if u32::from_ne_bytes(word) == 2 {
            return Err(ArrayError::index_error(
                "a label is out of range: an earlier reduction by label was given labels on the device with one outside \
                 0 to n_labels - 1 (its value was left out)",
            ));
        }
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
    pub fn compiled_kernel<K: KernelSpec>(&self, kernel: &K) -> Result<Arc<dyn Kernel>> {
        self.kernels.get_or_insert_with(kernel, || {
            let (name, source, snippets) = (kernel.kernel_name(), kernel.source(), kernel.snippets());
            let settings = kernel.settings();
            self.device.compile(&KernelText { name: &name, source: &source, settings, snippets: &snippets })
        })
    }

    /// Makes a launch of `kernel` ready, with the shared memory that it declares.
    ///
    /// # Errors
    /// As [`ArrayContext::compiled_kernel`].
    pub fn prepare_launch<K: KernelSpec>(
        &self,
        kernel: &K,
        grid: [u32; 3],
        block: [u32; 3],
        args: LaunchArgs,
    ) -> Result<Launch> {
        Ok(Launch::new(self.compiled_kernel(kernel)?, kernel, [grid, block], args))
    }

    /// Enqueues `kernel` for so many blocks of so many threads.
    ///
    /// # Errors
    /// As [`ArrayContext::compiled_kernel`], or when the device fails.
    pub fn launch<K: KernelSpec>(&self, kernel: &K, blocks: u32, threads: u32, args: &LaunchArgs) -> Result<()> {
        self.launch_grid(kernel, [blocks, 1, 1], [threads, 1, 1], 0, args)
    }

    /// Enqueues `kernel` with a grid and blocks of up to three axes and bytes of dynamic shared memory.
    ///
    /// # Errors
    /// As [`ArrayContext::launch`].
    pub fn launch_grid<K: KernelSpec>(
        &self,
        kernel: &K,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: &LaunchArgs,
    ) -> Result<()> {
        self.queue().launch(&self.compiled_kernel(kernel)?, grid, block, shared_bytes, args.view())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_own_state() {
        let layers = LayerStates::default();
        layers.get::<Mutex<u8>>().lock().map(|mut state| *state = 1).unwrap();
        layers.get::<Mutex<u16>>().lock().map(|mut state| *state = 2).unwrap();
        let first: *const Mutex<u8> = layers.get();
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(|| layers.get::<AtomicU64>().fetch_add(1, Ordering::Relaxed))));
        });
        assert_eq!(*layers.get::<Mutex<u8>>().lock().unwrap(), 1);
        assert_eq!(*layers.get::<Mutex<u16>>().lock().unwrap(), 2);
        assert_eq!(layers.get::<AtomicU64>().load(Ordering::Relaxed), 4);
        assert!(std::ptr::eq(first, layers.get::<Mutex<u8>>()));
    }
}
