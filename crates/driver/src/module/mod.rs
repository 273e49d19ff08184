//! Modules: loaded PTX, cubins and fat binaries, and the log of the JIT.

mod function;
mod image;
pub(crate) mod library;
pub(crate) mod linker;
mod lto;
pub mod signature;
pub(crate) mod texture_reference;

pub use function::{Function, Param};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::reclaim::allocate_with_reclaim;
use crate::stream::closed_error;
use library::Library;
use rtcg_cuda_sys::*;
use signature::Signature;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use texture_reference::ModuleTextureReferences;

/// Tells the declaration of a kernel by its name.
type SignatureLookup = Box<dyn Fn(&str) -> Option<Signature> + Send + Sync>;

/// What a module was compiled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleSource {
    /// The whole source text.
    pub text: Arc<str>,
    /// The compiler options.
    pub options: Arc<[String]>,
    /// The include directories.
    pub include_dirs: Vec<PathBuf>,
    /// Whether C++ names were left mangled rather than given C linkage.
    pub no_extern_c: bool,
}

struct ModuleInner {
    ctx: Context,
    handle: CUmodule,
    /// What was bound to variables that stand for texture and surface references.
    references: ModuleTextureReferences,
    signatures: OnceLock<SignatureLookup>,
    source: OnceLock<ModuleSource>,
    /// Whether its kernels may read texture references.
    has_textures: AtomicBool,
    closed: AtomicBool,
    /// The library whose module this is; it unloads it.
    library: Option<Library>,
}

/// A loaded module. Cloning gives another reference to the same module.
#[derive(Clone)]
pub struct Module(Arc<ModuleInner>);

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Module({:?})", self.0.handle)
    }
}

/// The contents of a file that `call` is to load.
fn read_image_file(call: &'static str, path: &std::path::Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Error::new(call, CUresult::CUDA_ERROR_FILE_NOT_FOUND, format!("{}: {error}", path.display())))
}

/// Says in which file something is wrong.
fn add_file_to_error(error: Error, path: &std::path::Path) -> Error {
    let said = error.detail.as_deref().map(|said| format!(": {said}")).unwrap_or_default();
    let detail = format!("{}{said}", path.display());
    error.with_detail(detail)
}

/// The messages of the driver's JIT, also on success.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct JitLog {
    /// Information and warnings.
    pub info: String,
    /// Errors.
    pub error: String,
}

impl Module {
    fn from_parts(ctx: Context, handle: CUmodule) -> Self {
        Self::from_parts_with_library(ctx, handle, None)
    }

    fn from_parts_with_library(ctx: Context, handle: CUmodule, library: Option<Library>) -> Self {
        let (signatures, source, closed) = (OnceLock::new(), OnceLock::new(), AtomicBool::new(false));
        let (references, has_textures) = (ModuleTextureReferences::default(), AtomicBool::new(false));
        Self(Arc::new(ModuleInner { ctx, handle, references, signatures, source, has_textures, closed, library }))
    }

    /// The module of a library in a context; the library stays loaded as long as it lives.
    pub(crate) fn from_library(ctx: Context, handle: CUmodule, library: Library) -> Self {
        Self::from_parts_with_library(ctx, handle, Some(library))
    }

    pub(crate) fn downgrade_to_weak(&self) -> WeakModule {
        WeakModule(Arc::downgrade(&self.0))
    }

    /// [`Module::from_image`] for a file, which errors name.
    pub fn from_file(path: &std::path::Path) -> Result<Self> {
        Context::current_or_error()?;
        let image = read_image_file("cuModuleLoad", path)?;
        Self::from_image(&image).map_err(|error| add_file_to_error(error, path))
    }

    /// Loads PTX, a cubin or a fat binary into the current context.
    pub fn from_image(image: &[u8]) -> Result<Self> {
        Self::from_image_with(image, &[]).0
    }

    /// [`Module::from_image`] with JIT options; also returns the JIT log. On failure the error log is the error's
    /// detail. The options that pass log buffers are set here.
    pub fn from_image_with(image: &[u8], options: &[(CUjit_option, usize)]) -> (Result<Self>, JitLog) {
        let ctx = match Context::current_or_error() {
            Ok(ctx) => ctx,
            Err(error) => return (Err(error), JitLog::default()),
        };
        let image = match image::driver_image("cuModuleLoadDataEx", image) {
            Ok(image) => image,
            Err(error) => return (Err(error), JitLog::default()),
        };
        let mut options = JitOptions::new(options);
        let (count, keys, values) = options.as_raw_options();
        let result = allocate_with_reclaim(ctx.device(), || {
            let mut handle = CUmodule::null();
            // SAFETY: the image, the options and their buffers live until the call returns.
            unsafe {
                call_if_alive!(ctx, cuModuleLoadDataEx(&raw mut handle, image.as_ptr().cast(), count, keys, values))
            }?;
            Ok(handle)
        });
        let log = options.jit_log();
        let result = match result {
            Ok(handle) => Ok(Self::from_parts(ctx, handle)),
            Err(error) => Err(error.with_detail(log.error.clone())),
        };
        (result, log)
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUmodule {
        self.0.handle
    }

    /// Its variables that stand for references.
    pub(crate) fn texture_references(&self) -> &ModuleTextureReferences {
        &self.0.references
    }

    /// Sets how the source declares the kernels, so that arguments are checked by type ([`crate::signature`]). Only the
    /// first call counts.
    pub fn set_signatures(&self, look_up: impl Fn(&str) -> Option<Signature> + Send + Sync + 'static) {
        let _ = self.0.signatures.set(Box::new(look_up));
    }

    /// Sets what the module was compiled from. Only the first call counts.
    pub fn set_source(&self, source: ModuleSource) {
        let _ = self.0.source.set(source);
    }

    /// What the module was compiled from, if it was set.
    pub fn source(&self) -> Option<&ModuleSource> {
        self.0.source.get()
    }

    /// Declares that the source may contain texture references: the first launch of each kernel then checks that the
    /// references it reads ([`Signature::textures`]) are bound.
    pub fn set_has_texture_references(&self) {
        self.0.has_textures.store(true, Ordering::Relaxed);
    }

    /// Whether [`Module::set_has_texture_references`] was called.
    pub(crate) fn has_texture_references(&self) -> bool {
        self.0.has_textures.load(Ordering::Relaxed)
    }

    pub(crate) fn kernel_signature(&self, kernel: &str) -> Option<Signature> {
        self.0.signatures.get()?(kernel)
    }

    /// Unloads the module; remaining references to it and its kernels become unusable. Further calls do nothing. The
    /// module of a [`Library`] stays loaded until the library is unloaded.
    ///
    /// As in CUDA, no kernel of it may be running at that moment.
    pub fn close(&self) -> Result<()> {
        if self.0.mark_closed() || self.0.library.is_some() {
            return Ok(());
        }
        // SAFETY: this is the last use of the handle; every other call looks at `closed`.
        self.0.ctx.free_in_context(|table| unsafe { call_driver!(table, cuModuleUnload(self.0.handle)) })
    }

    /// Whether [`Module::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// The table of a module that can be used.
    #[inline]
    pub(crate) fn driver_table_if_alive(&self, call: &'static str) -> Result<&'static DriverTable> {
        if self.is_closed() {
            return Err(closed_error(call, "module"));
        }
        self.0.ctx.driver_table_if_alive(call)
    }

    /// The context in which the module is loaded.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// Finds the kernel with this (mangled) name.
    pub fn function(&self, name: &str) -> Result<Function> {
        let mut handle = CUfunction::null();
        // SAFETY: the module is alive, the name NUL-terminated, one handle is written.
        self.look_up_name("cuModuleGetFunction", name, |table, name| unsafe {
            call_driver!(table, cuModuleGetFunction(&raw mut handle, self.0.handle, name))
        })
        .map_err(|error| self.list_kernels_in_error(error))?;
        Ok(Function::from_parts(self.clone(), handle, name))
    }

    /// Lists all kernels, in the driver's order. Needs a driver of CUDA 12.4 or newer.
    pub fn functions(&self) -> Result<Vec<Function>> {
        let ctx = &self.0.ctx;
        let mut count = 0;
        // SAFETY: the module is alive, one number is written.
        unsafe { call_if_alive!(ctx, cuModuleGetFunctionCount(&raw mut count, self.0.handle)) }?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut handles = vec![CUfunction::null(); count as usize];
        let out = handles.as_mut_ptr();
        // SAFETY: at most `count` handles are written.
        unsafe { call_if_alive!(ctx, cuModuleEnumerateFunctions(out, count, self.0.handle)) }?;
        handles.into_iter().map(|handle| self.wrap_function_handle(handle)).collect()
    }

    /// Says which kernels there are when one was not found; a driver that cannot list them leaves the error as it is.
    #[cold]
    fn list_kernels_in_error(&self, error: Error) -> Error {
        let (CUresult::CUDA_ERROR_NOT_FOUND, Ok(functions)) = (error.code, self.functions()) else { return error };
        add_kernel_names_to_error(error, "module", functions.iter().map(Function::name))
    }

    fn wrap_function_handle(&self, handle: CUfunction) -> Result<Function> {
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: the function belongs to this module; one pointer is written.
        unsafe { call_if_alive!(self.0.ctx, cuFuncGetName(&raw mut name, handle)) }?;
        // SAFETY: the driver gave a NUL-terminated string that lives as long as the module.
        let name = unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy();
        Ok(Function::from_parts(self.clone(), handle, &name))
    }

    /// The `(address, nbytes)` of a global or constant variable.
    pub fn global(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        let (mut ptr, mut nbytes) = (0, 0);
        // SAFETY: the module is alive, the name NUL-terminated, a pointer and a size are written.
        self.look_up_name("cuModuleGetGlobal", name, |table, name| unsafe {
            let (ptr, nbytes) = (&raw mut ptr, &raw mut nbytes);
            call_driver!(table, cuModuleGetGlobal(ptr, nbytes, self.0.handle, name))
        })?;
        Ok((ptr, nbytes))
    }

    /// Looks a name up with the module's context current; an error names what was not found.
    pub(crate) fn look_up_name(
        &self,
        call: &'static str,
        name: &str,
        ask: impl FnOnce(&'static DriverTable, *const c_char) -> Result<()>,
    ) -> Result<()> {
        let c_name = c_string(call, name.as_bytes())?;
        self.driver_table_if_alive(call)?;
        let ctx = &self.0.ctx;
        ctx.with_current_locked(|| ask(ctx.driver_table(), c_name.as_ptr()))
            .map_err(|e| add_missing_name_to_error(e, name))
    }

    pub(crate) fn from_linked(ctx: Context, handle: CUmodule) -> Self {
        Self::from_parts(ctx, handle)
    }
}

impl ModuleInner {
    /// Refuses further use, by launches that look at nothing too; whether that was done before.
    fn mark_closed(&self) -> bool {
        let was_closed = self.closed.swap(true, Ordering::AcqRel);
        epoch::advance_epoch();
        was_closed
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        if *self.closed.get_mut() || self.library.is_some() {
            return;
        }
        // SAFETY: this is the last use of the handle; functions hold the module.
        self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuModuleUnload(self.handle)) });
    }
}

/// A module that is not kept loaded.
pub(crate) struct WeakModule(Weak<ModuleInner>);

impl WeakModule {
    pub(crate) fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// What holds the module has unloaded it.
    pub(crate) fn mark_closed(&self) {
        if let Some(module) = self.0.upgrade() {
            module.mark_closed();
        }
    }
}

/// Says which name was not found, unless the driver said more.
pub(crate) fn add_missing_name_to_error(error: Error, name: &str) -> Error {
    match error.detail {
        Some(_) => error,
        None => error.with_detail(format!("'{name}'")),
    }
}

/// Says which kernels `holder` has when another was requested.
pub(crate) fn add_kernel_names_to_error<'a>(
    error: Error,
    holder: &str,
    mut kernels: impl Iterator<Item = &'a str>,
) -> Error {
    let detail = error.detail.clone().unwrap_or_default();
    let mut names: Vec<&str> = kernels.by_ref().take(8).collect();
    if names.is_empty() {
        return error.with_detail(format!(
            "{detail}; the {holder} has no kernels (a template becomes one when it is asked for as name<type>)"
        ));
    }
    if kernels.next().is_some() {
        names.push("...");
    }
    error.with_detail(format!("{detail}; the {holder} has {}", names.join(", ")))
}

/// A C string; a NUL inside is an error of `call`.
pub(crate) fn c_string(call: &'static str, bytes: &[u8]) -> Result<CString> {
    CString::new(bytes)
        .map_err(|_| Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, "the name contains a NUL character"))
}

/// More than any log has: a driver cuts what does not fit. Memory that is not written costs nothing.
const JIT_LOG_BYTES: usize = 4 << 20;

/// JIT options with the two log buffers.
pub(crate) struct JitOptions {
    keys: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
    info: Vec<u8>,
    error: Vec<u8>,
}

impl JitOptions {
    pub(crate) fn new(user: &[(CUjit_option, usize)]) -> Self {
        let (mut info, mut error) = (vec![0u8; JIT_LOG_BYTES], vec![0u8; JIT_LOG_BYTES]);
        let size = std::ptr::without_provenance_mut(JIT_LOG_BYTES - 1);
        let mut keys = vec![
            CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CU_JIT_ERROR_LOG_BUFFER,
            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = vec![info.as_mut_ptr().cast(), size, error.as_mut_ptr().cast(), size];
        for (key, value) in user {
            if !keys[..4].contains(key) {
                keys.push(*key);
                values.push(std::ptr::without_provenance_mut(*value));
            }
        }
        Self { keys, values, info, error }
    }

    pub(crate) fn as_raw_options(&mut self) -> (c_uint, *mut CUjit_option, *mut *mut c_void) {
        (self.keys.len() as c_uint, self.keys.as_mut_ptr(), self.values.as_mut_ptr())
    }

    pub(crate) fn jit_log(&self) -> JitLog {
        JitLog { info: string_from_log_buffer(&self.info), error: string_from_log_buffer(&self.error) }
    }
}

fn string_from_log_buffer(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim_end().to_owned()
}
