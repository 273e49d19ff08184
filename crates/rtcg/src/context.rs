//! A device made ready for use, and programs compiled for it.

use crate::cpp_names::CppNames;
use crate::device_global::DeviceGlobal;
use crate::error::Result;
use crate::launch::Function;
use crate::memory::{DeviceVec, Element};
use crate::signatures::attach_module_source;
use rtcg_compile::{Arch, CompileRequest, Target};
use rtcg_driver::Device;
use rtcg_driver::pool::DeviceMemoryPool;
use std::sync::Arc;

/// What the compiler must produce for `device`: machine code where the device loads it, else PTX.
///
/// # Errors
/// When the driver does not report the compute capability.
pub fn device_compile_target(device: &Device) -> rtcg_driver::Result<Target> {
    let (major, minor) = device.compute_capability()?;
    let arch = Arch::new(major, minor);
    Ok(if device.can_load_cubins() { Target::cubin_for_arch(arch) } else { Target::ptx_for_arch(arch) })
}

/// A context of a device, usually the primary one, which every library in the process that uses
/// the CUDA runtime shares. Cloning gives another reference.
///
/// Methods make it current for their own duration, so it can be used from any thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    inner: rtcg_driver::Context,
}

impl Context {
    /// The first device: a real one, or the virtual GPU when there is none. Initialises the drivers.
    ///
    /// # Errors
    /// When there is no device at all or it refuses a context.
    pub fn new() -> Result<Self> {
        rtcg_driver::init(0)?;
        Self::retain_primary(&Device::new(0)?)
    }

    /// The primary context of `device`.
    ///
    /// # Errors
    /// When the device refuses a context.
    pub fn retain_primary(device: &Device) -> Result<Self> {
        Ok(Self { inner: device.retain_primary_context()? })
    }

    /// The driver's context below.
    pub fn driver_context(&self) -> &rtcg_driver::Context {
        &self.inner
    }

    /// Another number for each context that there is: its handle.
    pub(crate) fn id(&self) -> u64 {
        self.inner.handle_number()
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    /// Compiles CUDA C++ with default options and loads it. Kernels have C linkage, so they are
    /// found by their plain names. Compiled programs are cached on disk.
    ///
    /// # Errors
    /// A compile error carries the compiler's log and the source lines it speaks of.
    pub fn compile(&self, source: &str) -> Result<Module> {
        self.compile_with(&CompileRequest::new(source, device_compile_target(&self.device())?))
    }

    /// Compiles as `request` says and loads the result.
    ///
    /// # Errors
    /// As [`Context::compile`].
    pub fn compile_with(&self, request: &CompileRequest) -> Result<Module> {
        let names = CppNames::new(request.clone());
        let artifact = names.compile_program()?;
        let module = self.load(&artifact.bytes)?;
        attach_module_source(&module.inner, request);
        Ok(Module { names: Some(Arc::new(names)), ..module })
    }

    /// Loads PTX, a cubin or a fat binary.
    ///
    /// # Errors
    /// When the driver refuses the image; its log is in the message.
    pub fn load(&self, image: &[u8]) -> Result<Module> {
        let module = self.enter(|| rtcg_driver::Module::from_image(image))?;
        Ok(Module { ctx: self.clone(), inner: module, names: None })
    }

    /// Copies a slice to new device memory; waits.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn to_device<T: Element>(&self, host: &[T]) -> Result<DeviceVec<T>> {
        DeviceVec::from_slice(self, None, host)
    }

    /// [`Context::to_device`] with memory of a pool.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn to_device_from_pool<T: Element>(&self, pool: &DeviceMemoryPool, host: &[T]) -> Result<DeviceVec<T>> {
        DeviceVec::from_slice(self, Some(pool), host)
    }

    /// New device memory for `len` elements, all zero.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<DeviceVec<T>> {
        DeviceVec::new_zeros(self, None, len)
    }

    /// [`Context::zeros`] with memory of a pool.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn zeros_from_pool<T: Element>(&self, pool: &DeviceMemoryPool, len: usize) -> Result<DeviceVec<T>> {
        DeviceVec::new_zeros(self, Some(pool), len)
    }

    /// Waits until the device has finished all work of this context.
    ///
    /// # Errors
    /// When a kernel failed since the last time.
    pub fn synchronize(&self) -> Result<()> {
        self.enter(rtcg_driver::Context::synchronize)
    }

    /// Runs `body` with this context on top of the calling thread's stack.
    pub(crate) fn enter<T>(&self, body: impl FnOnce() -> rtcg_driver::Result<T>) -> Result<T> {
        self.enter_with_rtcg_error(|| Ok(body()?))
    }

    /// [`Context::enter`] for what fails in other ways too.
    pub(crate) fn enter_with_rtcg_error<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.inner.is_current() {
            return body();
        }
        self.inner.push()?;
        let result = body();
        rtcg_driver::Context::pop()?;
        result
    }
}

impl From<rtcg_driver::Context> for Context {
    /// Any context of the driver, however it was made.
    fn from(inner: rtcg_driver::Context) -> Self {
        Self { inner }
    }
}

/// A loaded program.
#[derive(Debug, Clone)]
pub struct Module {
    ctx: Context,
    inner: rtcg_driver::Module,
    /// What C++ calls things, where the module was compiled here.
    names: Option<Arc<CppNames>>,
}

impl Module {
    /// The kernel of this name. Of a program with C++ linkage (`no_extern_c`) it may be any name of
    /// C++, such as `ns::f` or `f<float>`; see [`CppNames`].
    ///
    /// # Errors
    /// When there is none.
    pub fn function(&self, name: &str) -> Result<Function> {
        let found = match &self.names {
            Some(names) => self.ctx.enter_with_rtcg_error(|| names.function(&self.inner, name))?,
            None => self.inner.function(name)?,
        };
        Ok(Function::new(self.ctx.clone(), found))
    }

    /// A variable of this name as elements of one type.
    ///
    /// # Errors
    /// When there is none, or its size is no multiple of an element's.
    pub fn global_variable<T: Element>(&self, name: &str) -> Result<DeviceGlobal<T>> {
        let (ptr, nbytes) = match &self.names {
            Some(names) => self.ctx.enter_with_rtcg_error(|| names.global_variable(&self.inner, name))?,
            None => self.inner.global(name)?,
        };
        DeviceGlobal::new(&self.ctx, self, name, ptr, nbytes)
    }

    /// The driver's module below.
    pub fn driver_module(&self) -> &rtcg_driver::Module {
        &self.inner
    }
}
