//! [`Context`]: a device made ready for use.

use rtcg_cuda::{CudaRuntime, Result};
use rtcg_driver::{Device, Event, EventFlags, Stream, StreamFlags};
use rtcg_hal::ArrayContext;
use std::borrow::Borrow;
use std::sync::{Arc, OnceLock};

/// A context of a device, usually the primary one, which all libraries in the process that use the CUDA runtime share.
/// Cloning gives another reference to the same context.
///
/// Methods make the context current while they run, so it can be used from any thread.
///
/// # Several devices
///
/// Each device has its own context, and one thread per context keeps all devices busy. Without GPUs,
/// `RTCG_VIRTUAL_DEVICES=2` in the environment makes two virtual ones.
///
/// ```
/// use rtcg::driver::Device;
/// use rtcg::prelude::*;
///
/// fn squares(device: &Device, start: i32) -> rtcg::Result<Vec<i32>> {
///     let ctx = Context::retain_primary(device)?;
///     let source = "__global__ void squares(int *a, int start) { int i = start + threadIdx.x; a[threadIdx.x] = i * i; }";
///     let (squares, a) = (ctx.compile(source)?.function("squares")?, ctx.zeros(4)?);
///     // SAFETY: the kernel writes four elements.
///     unsafe { squares.launch(Grid::new(1, 4), &[&a, &start])? };
///     a.to_vec()
/// }
///
/// # fn main() -> rtcg::Result<()> {
/// let devices = Device::all()?;
/// let parts = std::thread::scope(|scope| {
///     let part = |(at, device)| scope.spawn(move || squares(device, 4 * at as i32));
///     let threads: Vec<_> = devices.iter().enumerate().map(part).collect();
///     threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<rtcg::Result<Vec<_>>>()
/// })?;
/// assert!(parts.concat().iter().enumerate().all(|(i, square)| *square as usize == i * i));
/// # Ok(())
/// # }
/// ```
///
/// # After a fault
///
/// A kernel that faults, for instance by an access out of bounds, takes its context with it: every later call returns
/// an error of the kind [`rtcg_driver::ErrorKind::Fault`], and the contents of its memory are lost. On a real GPU the
/// process cannot make a new context after that, so run code that may fault in a worker process and restart the worker.
/// On the virtual GPU, drop everything that was made in the context, including all its clones, and make the context
/// again. The error of [`Context::new`] says which of the two is needed.
///
/// ```standalone_crate
/// use rtcg::driver::ErrorKind;
/// use rtcg::prelude::*;
///
/// fn run(index: u64) -> rtcg::Result<Vec<i32>> {
///     let ctx = Context::new()?;
///     let source = "__global__ void set(int *a, unsigned long long i) { a[i] = 7; }";
///     let (set, a) = (ctx.compile(source)?.function("set")?, ctx.zeros::<i32>(2)?);
///     // SAFETY: none for the first index: the device reports an address that is not its own.
///     unsafe { set.launch(Grid::new(1, 1), &[&a, &index])? };
///     a.to_vec()
/// }
///
/// # fn main() -> rtcg::Result<()> {
/// let error = run(1 << 40).unwrap_err();
/// assert!(matches!(&error, rtcg::Error::Driver(error) if error.kind == ErrorKind::Fault), "{error}");
/// match run(1) {
///     Ok(result) => assert_eq!(result, [0, 7]),
///     Err(rtcg::Error::Driver(error)) if error.kind == ErrorKind::Fault => println!("start the program again: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    inner: rtcg_driver::Context,
    arrays: Arc<OnceLock<Arc<ArrayContext>>>,
}

/// References to one context are equal.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for Context {}

impl Context {
    /// Makes a context on the first device: a real one, or the virtual GPU if there is none. Initialises the drivers.
    ///
    /// # Errors
    /// When there is no device at all or it refuses a context.
    pub fn new() -> Result<Self> {
        rtcg_driver::init(0)?;
        Self::retain_primary(&Device::new(0)?)
    }

    /// Retains the primary context of `device`.
    ///
    /// # Errors
    /// When the device refuses a context.
    pub fn retain_primary(device: &Device) -> Result<Self> {
        Ok(device.retain_primary_context()?.into())
    }

    /// The underlying driver context.
    pub fn driver_context(&self) -> &rtcg_driver::Context {
        &self.inner
    }

    /// What generated kernels run with: the kernels that are compiled so far, and the memory of copies. Clones of this
    /// reference share it.
    ///
    /// # Errors
    /// When the device does not report its properties.
    pub fn arrays(&self) -> Result<Arc<ArrayContext>> {
        if let Some(arrays) = self.arrays.get() {
            return Ok(arrays.clone());
        }
        let new = CudaRuntime::array_context(self)?;
        Ok(self.arrays.get_or_init(|| new).clone())
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    /// Creates a stream that synchronises implicitly with the default stream, each waiting for the other's earlier
    /// work.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let ctx = Context::new()?;
    /// let (stream, start, end) = (ctx.stream()?, ctx.event()?, ctx.event()?);
    /// start.record(Some(&stream))?;
    /// end.record(Some(&stream))?;
    /// end.synchronize()?;
    /// assert!(end.time_since(&start)? >= 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the driver refuses one.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with_flags(StreamFlags::DEFAULT)
    }

    /// Creates a stream with flags; with [`StreamFlags::NON_BLOCKING`] it runs concurrently with the default stream.
    ///
    /// # Errors
    /// When the driver refuses one.
    pub fn stream_with_flags(&self, flags: StreamFlags) -> Result<Stream> {
        self.enter(|| Stream::new(flags))
    }

    /// Creates an event that records time.
    ///
    /// # Errors
    /// When the driver refuses one.
    pub fn event(&self) -> Result<Event> {
        self.event_with_flags(EventFlags::DEFAULT)
    }

    /// Creates an event with flags; with [`EventFlags::DISABLE_TIMING`] it only orders work.
    ///
    /// # Errors
    /// When the driver refuses one.
    pub fn event_with_flags(&self, flags: EventFlags) -> Result<Event> {
        self.enter(|| Event::new(flags))
    }

    /// Waits until the device has finished all work of this context.
    ///
    /// # Errors
    /// When a kernel has failed since the last synchronisation.
    pub fn synchronize(&self) -> Result<()> {
        self.enter(rtcg_driver::Context::synchronize)
    }

    /// Runs `body` with this context current in the calling thread, for functions of [`crate::driver`] that act on the
    /// current context.
    ///
    /// ```
    /// use rtcg::driver::HostAllocation;
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ctx = Context::new()?;
    /// // Any error will do that an error of the driver becomes.
    /// let memory = ctx.with_current(|| {
    ///     let nbytes: usize = "4096".parse()?;
    ///     Ok::<_, Box<dyn std::error::Error>>(HostAllocation::new(nbytes, 0)?)
    /// })?;
    /// assert_eq!(memory.nbytes(), 4096);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of `body`; and when the context is closed.
    pub fn with_current<T, E: From<rtcg_driver::Error>>(
        &self,
        body: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        rtcg_cuda::with_current(&self.inner, body)
    }

    /// [`Context::with_current`] for calls of the driver.
    pub(crate) fn enter<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        Ok(self.with_current(body)?)
    }

    /// [`Context::enter`] for what fails in other ways too.
    pub(crate) fn enter_with_rtcg_error<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        self.with_current(body)
    }
}

impl From<rtcg_driver::Context> for Context {
    /// Any context of the driver, however it was made.
    fn from(inner: rtcg_driver::Context) -> Self {
        Self { inner, arrays: Arc::default() }
    }
}

impl Borrow<rtcg_driver::Context> for Context {
    fn borrow(&self) -> &rtcg_driver::Context {
        &self.inner
    }
}
