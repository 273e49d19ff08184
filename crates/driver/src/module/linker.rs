//! The driver's linker: links several PTX files, cubins and libraries into one module, and LTO-IR through nvJitLink.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::module::image::check_image_lengths;
use crate::module::lto::LtoLinker;
use crate::module::{JitLog, JitOptions, Module, c_string};
use rtcg_cuda_sys::*;
use std::borrow::Cow;

/// A link in progress.
pub struct Linker {
    ctx: Context,
    handle: CUlinkState,
    /// Holds the log buffers that the driver writes to until the link is destroyed.
    options: JitOptions,
    lto: LtoLinker,
    /// What nvJitLink had to say, once it has done its part.
    lto_log: Option<String>,
}

// SAFETY: the option values are addresses of this object's own heap buffers, which only the
// driver writes, during calls that take `&mut self`.
unsafe impl Send for Linker {}

impl std::fmt::Debug for Linker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Linker({:?})", self.handle)
    }
}

impl Linker {
    /// Starts a link in the current context.
    ///
    /// `CU_JIT_LTO` enables link-time optimisation of everything. `CU_JIT_FTZ`, `CU_JIT_PREC_DIV`, `CU_JIT_PREC_SQRT`
    /// and `CU_JIT_FMA` apply only to LTO-IR. None of these is passed to a driver.
    pub fn new(options: &[(CUjit_option, usize)]) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let (lto, options) = LtoLinker::new(options, ctx.device().can_load_cubins());
        let mut options = JitOptions::new(&options);
        let mut handle = CUlinkState::null();
        let (count, keys, values) = options.as_raw_options();
        // SAFETY: the option arrays and buffers live in this object as long as the link.
        unsafe { call_if_alive!(ctx, cuLinkCreate(count, keys, values, &raw mut handle)) }
            .map_err(|e| e.with_detail(options.jit_log().error))?;
        Ok(Self { ctx, handle, options, lto, lto_log: None })
    }

    /// Adds an nvJitLink option (`-fma=0`, `-kernels-used=k`), for links with LTO-IR.
    ///
    /// # Errors
    /// When the same option was given before with another value.
    pub fn add_lto_option(&mut self, option: &str) -> Result<()> {
        self.lto.add_option(option)
    }

    /// Adds an image. `name` appears in messages.
    ///
    /// LTO-IR (`CU_JIT_INPUT_NVVM`) makes nvJitLink do the link; it must be installed.
    pub fn add_data(&mut self, data: &[u8], input: CUjitInputType, name: &str) -> Result<()> {
        if [CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_CUBIN].contains(&input) {
            check_image_lengths("cuLinkAddData", data).map_err(|error| {
                let detail = format!("{name}: {}", error.detail.as_deref().unwrap_or_default());
                error.with_detail(detail)
            })?;
        }
        self.lto.add_bytes(data, input, name)?;
        if !self.is_linked_by_driver(input) {
            return Ok(());
        }
        self.add_data_to_driver(data, input, name)
    }

    /// Whether the driver links an input of this kind; what it got in vain before the first LTO-IR does no harm.
    fn is_linked_by_driver(&self, input: CUjitInputType) -> bool {
        let all_elsewhere = self.lto.needs_nvjitlink() && self.ctx.device().can_load_cubins();
        !all_elsewhere && !self.lto.is_nvjitlink_input(input)
    }

    fn add_data_to_driver(&mut self, data: &[u8], input: CUjitInputType, name: &str) -> Result<()> {
        let name = c_string("cuLinkAddData", name.as_bytes())?;
        // PTX must end with a NUL.
        let is_complete = input != CU_JIT_INPUT_PTX || data.last() == Some(&0);
        let data = if is_complete { Cow::Borrowed(data) } else { Cow::Owned([data, &[0]].concat()) };
        let (ptr, len) = (data.as_ptr().cast_mut().cast(), data.len());
        let none = std::ptr::null_mut();
        // SAFETY: the driver copies the data before it returns, and changes nothing in it.
        let result = unsafe {
            let (link, name) = (self.handle, name.as_ptr());
            call_if_alive!(self.ctx, cuLinkAddData(link, input, ptr, len, name, 0, none, none.cast()))
        };
        result.map_err(|e| self.explain_link_error(e))
    }

    /// Adds a file.
    pub fn add_file(&mut self, path: &std::path::Path, input: CUjitInputType) -> Result<()> {
        let name = c_string("cuLinkAddFile", path.as_os_str().as_encoded_bytes())?;
        self.lto.add_file(path, input)?;
        if !self.is_linked_by_driver(input) {
            return Ok(());
        }
        let none = std::ptr::null_mut();
        // SAFETY: the name is NUL-terminated; no options.
        let result = unsafe {
            let (link, name) = (self.handle, name.as_ptr());
            call_if_alive!(self.ctx, cuLinkAddFile(link, input, name, 0, none, none.cast()))
        };
        result.map_err(|e| match self.options.jit_log().error {
            log if log.contains(&*path.to_string_lossy()) => e.with_detail(log),
            log if log.is_empty() => e.with_detail(path.display().to_string()),
            log => e.with_detail(format!("{}: {log}", path.display())),
        })
    }

    /// Links, and loads the result into the linker's context.
    pub fn link_module(&mut self) -> Result<Module> {
        if let Some(module) = self.link_lto()? {
            return Ok(module);
        }
        let (mut cubin, mut nbytes) = (std::ptr::null_mut(), 0);
        let table = self.ctx.driver_table();
        // SAFETY: the cubin belongs to the link, which lives until after the load.
        let result = unsafe { call_if_alive!(self.ctx, cuLinkComplete(self.handle, &raw mut cubin, &raw mut nbytes)) };
        result.map_err(|e| self.explain_link_error(e))?;
        let mut handle = CUmodule::null();
        let ctx = &self.ctx;
        // SAFETY: the cubin is the link state's, which is alive; one handle is written.
        ctx.with_current_locked(|| unsafe {
            call_driver!(table, cuModuleLoadData(&raw mut handle, cubin.cast_const()))
        })?;
        Ok(Module::from_linked(self.ctx.clone(), handle))
    }

    /// nvJitLink's part: the whole, or PTX that the driver then links with the rest.
    fn link_lto(&mut self) -> Result<Option<Module>> {
        if !self.lto.needs_nvjitlink() {
            return Ok(None);
        }
        let capability = self.ctx.device().compute_capability()?;
        if self.ctx.device().can_load_cubins() {
            let linked = self.lto.link_to_cubin(capability)?;
            self.lto_log = Some(linked.log);
            return self.ctx.with_current(|| Module::from_image(&linked.bytes)).map(Some);
        }
        if self.lto_log.is_none()
            && let Some(linked) = self.lto.link_to_ptx(capability)?
        {
            self.lto_log = Some(linked.log);
            self.add_data_to_driver(&linked.bytes, CU_JIT_INPUT_PTX, "LTO-IR")?;
        }
        Ok(None)
    }

    /// The linker's messages so far.
    pub fn jit_log(&self) -> JitLog {
        let mut log = self.options.jit_log();
        if let Some(said) = &self.lto_log {
            log.info = format!("{said}\n{}", log.info).trim().to_owned();
        }
        log
    }

    fn explain_link_error(&self, error: Error) -> Error {
        error.with_detail(self.options.jit_log().error)
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: this is the last use of the handle.
        self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuLinkDestroy(self.handle)) });
    }
}
