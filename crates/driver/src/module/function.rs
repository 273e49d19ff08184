//! Kernels: attributes and parameters. `launch` has the launches.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::last_launch::KernelId;
use crate::module::Module;
use crate::module::signature::Signature;
use rtcg_cuda_sys::*;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What is known of a kernel since its last launch.
#[derive(Debug, Default)]
pub(crate) struct PreparedLaunchCell {
    /// The epoch under which nothing was in the way; [`epoch::INVALID_EPOCH`] if something was.
    pub(crate) epoch: AtomicUsize,
    /// The driver's `cuLaunchKernel`, set before `at`.
    pub(crate) launch: AtomicPtr<c_void>,
}

/// The place of a parameter in the packed arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub nbytes: usize,
}

#[repr(C, align(64))]
pub(crate) struct FunctionInner {
    // What launches look at comes first, in one cache line.
    pub(crate) table: &'static DriverTable,
    pub(crate) handle: CUfunction,
    pub(crate) prepared: PreparedLaunchCell,
    /// The module's.
    pub(crate) ctx: Context,
    /// The bytes of dynamic shared memory that launches are known to be allowed; 0 is not asked yet.
    pub(crate) dynamic_limit: AtomicU32,
    /// Whether its texture references were looked at.
    pub(crate) has_checked_textures: AtomicBool,
    /// Whether launches run in the thread that makes them.
    pub(crate) runs_inline: bool,
    pub(crate) module: Module,
    name: String,
    params: OnceLock<Option<Vec<Param>>>,
    signature: OnceLock<Option<Arc<Signature>>>,
}

impl Drop for FunctionInner {
    fn drop(&mut self) {
        self.ctx.launch_queue().last_launch().on_kernel_destroyed(KernelId::from_kernel_address(self));
    }
}

/// A kernel of a module. Cloning gives another reference to the same kernel.
#[derive(Clone)]
pub struct Function(pub(crate) Arc<FunctionInner>);

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Function({})", self.0.name)
    }
}

impl Function {
    pub(crate) fn from_parts(module: Module, handle: CUfunction, name: &str) -> Self {
        let ctx = module.context().clone();
        let table = ctx.driver_table();
        let inner = Arc::new(FunctionInner {
            table,
            handle,
            prepared: PreparedLaunchCell::default(),
            ctx,
            dynamic_limit: AtomicU32::new(0),
            has_checked_textures: AtomicBool::new(false),
            runs_inline: table.driver_kind() == DriverKind::Virtual,
            module,
            name: name.to_owned(),
            params: OnceLock::new(),
            signature: OnceLock::new(),
        });
        KernelId::from_kernel_address(&*inner).register_name(name);
        Self(inner)
    }

    /// The (mangled) name by which it was looked up.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUfunction {
        self.0.handle
    }

    /// The module that holds the kernel.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// The value of an attribute.
    pub fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32> {
        let mut value = 0;
        let module = &self.0.module;
        // SAFETY: the function is alive, one int is written.
        unsafe { call_if_alive!(module, cuFuncGetAttribute(&raw mut value, attribute, self.0.handle)) }?;
        Ok(value)
    }

    /// Sets an attribute.
    pub fn set_attribute(&self, attribute: CUfunction_attribute, value: i32) -> Result<()> {
        self.0.dynamic_limit.store(0, Ordering::Relaxed);
        // SAFETY: the function is alive.
        unsafe { call_if_alive!(self.0.module, cuFuncSetAttribute(self.0.handle, attribute, value)) }.map_err(|error| {
            let name = attribute.name().map_or_else(|| attribute.0.to_string(), str::to_owned);
            let why = error.detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}"));
            let detail = format!("{name} of kernel '{}' cannot be set to {value}{why}", self.name());
            error.with_detail(detail)
        })
    }

    /// Sets the preferred split between L1 cache and shared memory.
    pub fn set_cache_config(&self, config: CUfunc_cache) -> Result<()> {
        // SAFETY: the function is alive.
        let result = unsafe { call_if_alive!(self.0.module, cuFuncSetCacheConfig(self.0.handle, config)) };
        result.map_err(|error| explain_invalid_config(error, config.0, "CUfunc_cache, 0 to 3"))
    }

    /// Sets the shared-memory bank size.
    pub fn set_shared_config(&self, config: CUsharedconfig) -> Result<()> {
        // SAFETY: the function is alive.
        let result = unsafe { call_if_alive!(self.0.module, cuFuncSetSharedMemConfig(self.0.handle, config)) };
        result.map_err(|error| explain_invalid_config(error, config.0, "CUsharedconfig, 0 to 2"))
    }

    /// The kernel's parameters as its source declares them; `None` if the source is unknown
    /// ([`crate::Module::set_signatures`]), cannot be parsed, or contradicts the loaded module.
    pub fn signature(&self) -> Option<&Arc<Signature>> {
        let found = self.0.signature.get_or_init(|| {
            let signature = self.0.module.kernel_signature(&self.0.name)?;
            signature.matches_driver_params(self.params()).then(|| Arc::new(signature))
        });
        found.as_ref()
    }

    /// The kernel's parameters, queried from the driver once; `None` if the driver cannot report them (before CUDA
    /// 12.4).
    pub fn params(&self) -> Option<&[Param]> {
        self.0.params.get_or_init(|| self.query_params()).as_deref()
    }

    fn query_params(&self) -> Option<Vec<Param>> {
        if !self.0.table.has_function(DriverFn::cuFuncGetParamInfo) {
            return None;
        }
        self.0.module.driver_table_if_alive("cuFuncGetParamInfo").ok()?;
        self.0.module.context().with_current_locked(|| Ok(self.list_params())).unwrap_or(None)
    }

    /// The driver ends the list with `INVALID_VALUE`; any other error means it cannot report.
    fn list_params(&self) -> Option<Vec<Param>> {
        let mut params = Vec::new();
        loop {
            let (mut offset, mut nbytes) = (0, 0);
            let index = params.len();
            // SAFETY: the function is alive, two sizes are written.
            let code = unsafe {
                let out = (&raw mut offset, &raw mut nbytes);
                self.0.table.cuFuncGetParamInfo(self.0.handle, index, out.0, out.1)
            };
            match code {
                CUresult::CUDA_SUCCESS => params.push(Param { offset, nbytes }),
                CUresult::CUDA_ERROR_INVALID_VALUE => return Some(params),
                _ => return None,
            }
        }
    }
}

/// An error about a value of an enumeration, with the value and what was expected.
fn explain_invalid_config(error: Error, value: u32, expected: &str) -> Error {
    match error.code {
        CUresult::CUDA_ERROR_INVALID_VALUE => error.with_detail(format!("config is {value}; expected a {expected}")),
        _ => error,
    }
}
