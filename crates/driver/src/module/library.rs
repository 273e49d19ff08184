//! Libraries: context-independent images, which the driver loads into each context that uses them, and their kernels.
//!
//! A [`Kernel`] stands for a [`Function`] in every context. Establishes: modules, functions and kernels keep their
//! library loaded; after [`Library::close`] they are refused. Needs a driver of CUDA 12 or newer.

use crate::context::Context;
use crate::context::Device;
use crate::error::{Error, Result};
use crate::module::image::driver_image;
use crate::module::{Function, Param};
use crate::module::{
    JitLog, JitOptions, Module, WeakModule, add_file_to_error, add_kernel_names_to_error, add_missing_name_to_error,
    c_string, read_image_file,
};
use crate::process_state;
use crate::release_region::releasing_region;
use crate::stream::closed_error;
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

struct LibraryInner {
    table: &'static DriverTable,
    handle: CUlibrary,
    closed: AtomicBool,
    /// Modules that were handed out.
    modules: Mutex<Vec<WeakModule>>,
}

/// A loaded library. Cloning gives another reference to the same library.
#[derive(Clone)]
pub struct Library(Arc<LibraryInner>);

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Library({:?})", self.0.handle)
    }
}

/// A kernel of a library. Cloning gives another reference to the same kernel.
#[derive(Clone)]
pub struct Kernel {
    library: Library,
    handle: CUkernel,
    name: Arc<str>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.name)
    }
}

/// The driver of the current context, else that of the first device.
fn current_driver_table() -> Result<&'static DriverTable> {
    match Context::current_or_foreign() {
        Some(ctx) => Ok(ctx.driver_table()),
        None => Ok(Device::new(0)?.driver_table()),
    }
}

impl Library {
    fn from_parts(table: &'static DriverTable, handle: CUlibrary) -> Self {
        Self(Arc::new(LibraryInner { table, handle, closed: AtomicBool::new(false), modules: Mutex::default() }))
    }

    /// Loads PTX, a cubin or a fat binary for all contexts of one driver: that of the current context or, without one,
    /// of the first device. Needs no context.
    pub fn from_image(image: &[u8]) -> Result<Self> {
        Self::from_image_with(image, &[], None).0
    }

    /// [`Library::from_image`] with JIT options, for the driver of `device`; also returns the JIT log.
    pub fn from_image_with(
        image: &[u8],
        options: &[(CUjit_option, usize)],
        device: Option<&Device>,
    ) -> (Result<Self>, JitLog) {
        let table = match device.map_or_else(current_driver_table, |device| Ok(device.driver_table())) {
            Ok(table) => table,
            Err(error) => return (Err(error), JitLog::default()),
        };
        let image = match driver_image("cuLibraryLoadData", image) {
            Ok(image) => image,
            Err(error) => return (Err(error), JitLog::default()),
        };
        let mut options = JitOptions::new(options);
        let mut handle = CUlibrary::null();
        let (count, keys, values) = options.as_raw_options();
        let none = std::ptr::null_mut();
        // SAFETY: the image, the options and their buffers live until the call returns; no library options are given.
        let result = unsafe {
            let image = image.as_ptr().cast();
            call_driver!(table, cuLibraryLoadData(&raw mut handle, image, keys, values, count, none, none.cast(), 0))
        };
        let log = options.jit_log();
        let result = match result {
            Ok(()) => Ok(Self::from_parts(table, handle)),
            Err(error) => Err(error.with_detail(log.error.clone())),
        };
        (result, log)
    }

    /// [`Library::from_image`] for a file.
    pub fn from_file(path: &std::path::Path) -> Result<Self> {
        let image = read_image_file("cuLibraryLoadFromFile", path)?;
        Self::from_image(&image).map_err(|error| add_file_to_error(error, path))
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUlibrary {
        self.0.handle
    }

    fn driver_table_if_alive(&self, call: &'static str) -> Result<&'static DriverTable> {
        if self.is_closed() { Err(closed_error(call, "library")) } else { Ok(self.0.table) }
    }

    /// Unloads the library from all contexts; remaining references become unusable. Further calls do nothing. As in
    /// CUDA, none of its kernels may be running at that moment.
    pub fn close(&self) -> Result<()> {
        if self.0.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let modules = std::mem::take(&mut *lock_ignoring_poison(&self.0.modules));
        modules.iter().for_each(WeakModule::mark_closed);
        self.0.unload_library()
    }

    /// Whether [`Library::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Finds the kernel with this (mangled) name.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let c_name = c_string("cuLibraryGetKernel", name.as_bytes())?;
        let table = self.driver_table_if_alive("cuLibraryGetKernel")?;
        let mut handle = CUkernel::null();
        // SAFETY: the library is alive, the name NUL-terminated, one handle is written.
        unsafe { call_driver!(table, cuLibraryGetKernel(&raw mut handle, self.0.handle, c_name.as_ptr())) }
            .map_err(|error| self.list_kernels_in_error(add_missing_name_to_error(error, name)))?;
        Ok(Kernel { library: self.clone(), handle, name: name.into() })
    }

    /// Lists all kernels, in the driver's order. Needs a driver of CUDA 12.4 or newer.
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        let table = self.driver_table_if_alive("cuLibraryEnumerateKernels")?;
        let mut count = 0;
        // SAFETY: the library is alive, one number is written.
        unsafe { call_driver!(table, cuLibraryGetKernelCount(&raw mut count, self.0.handle)) }?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut handles = vec![CUkernel::null(); count as usize];
        let out = handles.as_mut_ptr();
        // SAFETY: at most `count` handles are written.
        unsafe { call_driver!(table, cuLibraryEnumerateKernels(out, count, self.0.handle)) }?;
        handles.into_iter().map(|handle| self.wrap_kernel_handle(handle)).collect()
    }

    fn wrap_kernel_handle(&self, handle: CUkernel) -> Result<Kernel> {
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: the kernel belongs to this library; one pointer is written.
        unsafe { call_driver!(self.0.table, cuKernelGetName(&raw mut name, handle)) }?;
        // SAFETY: the driver gave a NUL-terminated string that lives as long as the library.
        let name = unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy();
        Ok(Kernel { library: self.clone(), handle, name: name.into() })
    }

    #[cold]
    fn list_kernels_in_error(&self, error: Error) -> Error {
        let (CUresult::CUDA_ERROR_NOT_FOUND, Ok(kernels)) = (error.code, self.kernels()) else { return error };
        add_kernel_names_to_error(error, "library", kernels.iter().map(Kernel::name))
    }

    /// The library's module in the current context; loads it if necessary.
    pub fn module(&self) -> Result<Module> {
        self.driver_table_if_alive("cuLibraryGetModule")?;
        let ctx = self.current_context_of_driver("cuLibraryGetModule")?;
        let mut handle = CUmodule::null();
        // SAFETY: the library is alive, one handle is written.
        unsafe { call_if_alive!(ctx, cuLibraryGetModule(&raw mut handle, self.0.handle)) }?;
        Ok(self.register_module(Module::from_library(ctx, handle, self.clone())))
    }

    /// The current context, which must belong to the library's driver.
    fn current_context_of_driver(&self, call: &'static str) -> Result<Context> {
        let ctx = Context::current_or_error()?;
        if std::ptr::eq(ctx.driver_table(), self.0.table) {
            return Ok(ctx);
        }
        let detail = "the library was loaded by another driver than that of the current context: one has the real \
                      devices, the other the virtual ones";
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_CONTEXT, detail))
    }

    fn register_module(&self, module: Module) -> Module {
        let mut modules = lock_ignoring_poison(&self.0.modules);
        modules.retain(WeakModule::is_alive);
        modules.push(module.downgrade_to_weak());
        module
    }

    /// The kernel `name` as a function of the current context.
    pub fn function(&self, name: &str) -> Result<Function> {
        self.kernel(name)?.function()
    }

    /// The `(address, nbytes)` of a global or constant variable in the current context.
    pub fn global(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        self.query_variable("cuLibraryGetGlobal", name, |table, ptr, nbytes, library, name| {
            // SAFETY: the library is alive, the name NUL-terminated, a pointer and a size are written.
            unsafe { call_driver!(table, cuLibraryGetGlobal(ptr, nbytes, library, name)) }
        })
    }

    /// The `(address, nbytes)` of a managed variable. It is shared by all contexts on a real GPU, and separate for each
    /// on the virtual GPU.
    pub fn managed(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        self.query_variable("cuLibraryGetManaged", name, |table, ptr, nbytes, library, name| {
            // SAFETY: as in `Library::global`.
            unsafe { call_driver!(table, cuLibraryGetManaged(ptr, nbytes, library, name)) }
        })
    }

    fn query_variable(
        &self,
        call: &'static str,
        name: &str,
        ask: impl FnOnce(&DriverTable, *mut CUdeviceptr, *mut usize, CUlibrary, *const c_char) -> Result<()>,
    ) -> Result<(CUdeviceptr, usize)> {
        let c_name = c_string(call, name.as_bytes())?;
        let table = self.driver_table_if_alive(call)?;
        let ctx = self.current_context_of_driver(call)?;
        let (mut ptr, mut nbytes) = (0, 0);
        ctx.with_current_locked(|| ask(table, &raw mut ptr, &raw mut nbytes, self.0.handle, c_name.as_ptr()))
            .map_err(|error| add_missing_name_to_error(error, name))?;
        Ok((ptr, nbytes))
    }

    /// The address of a function that host and device call alike, for devices with unified function pointers
    /// (`CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS`).
    pub fn unified_function(&self, name: &str) -> Result<usize> {
        let c_name = c_string("cuLibraryGetUnifiedFunction", name.as_bytes())?;
        let table = self.driver_table_if_alive("cuLibraryGetUnifiedFunction")?;
        let mut address = std::ptr::null_mut();
        // SAFETY: the library is alive, the name NUL-terminated, one pointer is written.
        unsafe { call_driver!(table, cuLibraryGetUnifiedFunction(&raw mut address, self.0.handle, c_name.as_ptr())) }
            .map_err(|error| add_missing_name_to_error(error, name))?;
        Ok(address.addr())
    }
}

impl Kernel {
    /// The (mangled) name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUkernel {
        self.handle
    }

    /// The library that contains the kernel.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The kernel as a function of the current context.
    pub fn function(&self) -> Result<Function> {
        let module = self.library.module()?;
        let mut handle = CUfunction::null();
        // SAFETY: the kernel is alive as its library is, one handle is written.
        unsafe { call_if_alive!(module, cuKernelGetFunction(&raw mut handle, self.handle)) }?;
        Ok(Function::from_parts(module, handle, &self.name))
    }

    fn driver_table_for_device(&self, call: &'static str, device: &Device) -> Result<&'static DriverTable> {
        let table = self.library.driver_table_if_alive(call)?;
        if std::ptr::eq(device.driver_table(), table) {
            return Ok(table);
        }
        let detail = format!("device {} belongs to another driver than the library", device.ordinal());
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_DEVICE, detail))
    }

    /// The value of an attribute on a device.
    pub fn attribute(&self, attribute: CUfunction_attribute, device: &Device) -> Result<i32> {
        let table = self.driver_table_for_device("cuKernelGetAttribute", device)?;
        let mut value = 0;
        // SAFETY: the kernel is alive, one int is written.
        unsafe { call_driver!(table, cuKernelGetAttribute(&raw mut value, attribute, self.handle, device.handle())) }?;
        Ok(value)
    }

    /// Sets an attribute for all contexts of a device.
    pub fn set_attribute(&self, attribute: CUfunction_attribute, value: i32, device: &Device) -> Result<()> {
        let table = self.driver_table_for_device("cuKernelSetAttribute", device)?;
        // SAFETY: the kernel is alive.
        unsafe { call_driver!(table, cuKernelSetAttribute(attribute, value, self.handle, device.handle())) }
    }

    /// Sets the preferred split between L1 cache and shared memory for all contexts of a device.
    pub fn set_cache_config(&self, config: CUfunc_cache, device: &Device) -> Result<()> {
        let table = self.driver_table_for_device("cuKernelSetCacheConfig", device)?;
        // SAFETY: the kernel is alive.
        unsafe { call_driver!(table, cuKernelSetCacheConfig(self.handle, config, device.handle())) }
    }

    /// The places of the parameters in the packed arguments. Needs a driver of CUDA 12.4 or newer, and with NVIDIA's
    /// driver a current context.
    pub fn params(&self) -> Result<Vec<Param>> {
        let table = self.library.driver_table_if_alive("cuKernelGetParamInfo")?;
        let mut params = Vec::new();
        loop {
            let (mut offset, mut nbytes) = (0, 0);
            // SAFETY: the kernel is alive, two sizes are written.
            let asked = unsafe {
                call_driver!(table, cuKernelGetParamInfo(self.handle, params.len(), &raw mut offset, &raw mut nbytes))
            };
            match asked {
                Ok(()) => params.push(Param { offset, nbytes }),
                // The end of the list.
                Err(error) if error.code == CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(params),
                Err(error) => return Err(error),
            }
        }
    }
}

impl LibraryInner {
    fn unload_library(&self) -> Result<()> {
        if process_state::is_forked_or_exiting() {
            return Ok(());
        }
        // SAFETY: this is the last use of the handle; every other call looks at `closed`.
        releasing_region(|| unsafe { call_driver!(self.table, cuLibraryUnload(self.handle)) })
    }
}

impl Drop for LibraryInner {
    fn drop(&mut self) {
        if !*self.closed.get_mut()
            && let Err(error) = crate::active_captures::with_relaxed_capture_mode(|| self.unload_library())
        {
            crate::context::loaded_drivers::report_cleanup_error(&error);
        }
    }
}
