//! Libraries: images of no context, loaded into each context that uses them, and their kernels.
//!
//! The image is understood when the library is made, so its kernels are known without a context. The first context
//! gets what was made then, each further one code and variables of its own.

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rtcg_cuda_sys::{CUfunction_attribute, CUfunction_attribute as A};

use super::function::{kernel_attribute, set_attribute};
use crate::module::{self, LoadOptions, LoadedModule};
use crate::resource::function::FUNCTIONS;
use crate::resource::module::MODULES;
use crate::resource::module::{DriverModule, attach_to_context, load_options_for_context, parse_module, unload_module};
use crate::stream::context::Context;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};

/// Libraries.
pub(crate) static LIBRARIES: HandleTable<Library> = HandleTable::new(0x18);
/// Kernels of libraries.
pub(crate) static KERNELS: HandleTable<Kernel> = HandleTable::new(0x19);

/// What was set of a kernel on a device: the ordinal, the attribute, its value.
type AttributeSetting = (u32, CUfunction_attribute, c_int);

/// `CUlibrary`
#[derive(Debug)]
pub(crate) struct Library {
    /// What C code holds.
    pub(crate) handle: u64,
    image: Vec<u8>,
    options: LoadOptions,
    parsed: Arc<LoadedModule>,
    /// Whether a context has `parsed`.
    is_attached: AtomicBool,
    /// Modules by context.
    modules: Mutex<HashMap<u64, u64>>,
    kernels: Mutex<HashMap<String, u64>>,
}

/// `CUkernel`: a kernel of a library, of no context in particular.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Handle of its library.
    pub(crate) library: u64,
    /// Its name, for C.
    pub(crate) name: CString,
    /// The kernel itself, whatever the context.
    pub(crate) kernel: Arc<module::Kernel>,
    settings: Mutex<Vec<AttributeSetting>>,
}

impl Library {
    /// A library over an image.
    pub(crate) fn create_library(image: Vec<u8>, options: LoadOptions) -> Res<u64> {
        // For which device the code is to be is a matter of contexts.
        let parsed = parse_module(&image, &LoadOptions { target: None, ..options.clone() })?;
        let (modules, kernels, is_attached) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let library = |handle| Arc::new(Library { handle, image, options, parsed, is_attached, modules, kernels });
        LIBRARIES.insert_with(library).map(|(handle, _)| handle)
    }

    /// The names of its kernels.
    pub(crate) fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.parsed.kernel_names()
    }

    /// Whether it has a managed variable of this name, in whatever context.
    pub(crate) fn is_managed(&self, name: &str) -> bool {
        self.parsed.global(name).is_some_and(|global| global.managed)
    }

    /// The library's module in a context, loaded at the first call.
    pub(crate) fn module_in_context(&self, ctx: &Context) -> Res<Arc<DriverModule>> {
        let mut modules = self.modules.lock().ignore_poison();
        if let Some(module) = modules.get(&ctx.id).and_then(|&h| MODULES.get_object(h).ok()) {
            return Ok(module);
        }
        module::check_target_option(&self.parsed.ptx, &self.options).map_err(|e| e.code.with_detail(e.log))?;
        let is_first = !self.is_attached.swap(true, Ordering::AcqRel);
        let options = load_options_for_context(ctx, &self.options);
        let loaded = match is_first && options.device.is_none() {
            true => self.parsed.clone(),
            false => parse_module(&self.image, &options)?,
        };
        let module = attach_to_context(ctx, loaded, true)?;
        modules.insert(ctx.id, module.handle);
        drop(modules);
        for kernel in self.kernels.lock().ignore_poison().values().filter_map(|&handle| KERNELS.get_object(handle).ok())
        {
            for (_, attribute, value) in
                kernel.settings.lock().ignore_poison().iter().filter(|s| s.0 == ctx.device.ordinal)
            {
                kernel.set_function_attribute(&module, *attribute, *value)?;
            }
        }
        Ok(module)
    }

    /// The handle of the kernel named `name`.
    pub(crate) fn kernel_handle(&self, name: &str) -> Res<u64> {
        let mut kernels = self.kernels.lock().ignore_poison();
        if let Some(&handle) = kernels.get(name) {
            return Ok(handle);
        }
        let kernel = self.parsed.kernel(name).ok_or(ResultCode::NOT_FOUND)?;
        let name_c = CString::new(name).map_err(|_| ResultCode::NOT_FOUND)?;
        let (handle, _) = KERNELS.insert_with(|_| {
            Arc::new(Kernel { library: self.handle, name: name_c, kernel, settings: Mutex::default() })
        })?;
        kernels.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Sets an attribute of a kernel in all contexts of a device, those to come as well.
    pub(crate) fn set_attribute(
        &self,
        kernel: &Kernel,
        ordinal: u32,
        attribute: CUfunction_attribute,
        value: c_int,
    ) -> Res {
        kernel.check_attribute_value(attribute, value)?;
        let mut settings = kernel.settings.lock().ignore_poison();
        settings.retain(|s| (s.0, s.1) != (ordinal, attribute));
        settings.push((ordinal, attribute, value));
        drop(settings);
        // A module that is loaded meanwhile is in the list by now, or finds the setting.
        let modules: Vec<u64> = self.modules.lock().ignore_poison().values().copied().collect();
        for module in modules.into_iter().filter_map(|handle| MODULES.get_object(handle).ok()) {
            let contexts = &crate::stream::context::CONTEXTS;
            if contexts.find_object(|c| c.id == module.ctx_id).is_some_and(|c| c.device.ordinal == ordinal) {
                kernel.set_function_attribute(&module, attribute, value)?;
            }
        }
        Ok(())
    }

    /// Makes the handles of its modules and kernels stale.
    pub(crate) fn unload_modules(&self) {
        for (_, module) in self.modules.lock().ignore_poison().drain() {
            // Already gone when its context is.
            let _ = unload_module(module);
        }
        for (_, kernel) in self.kernels.lock().ignore_poison().drain() {
            let _ = KERNELS.remove_object(kernel);
        }
    }
}

impl Kernel {
    /// The value of an attribute on a device.
    pub(crate) fn attribute_on_device(&self, ordinal: u32, attribute: CUfunction_attribute) -> Res<c_int> {
        let set = self.settings.lock().ignore_poison().iter().find(|s| (s.0, s.1) == (ordinal, attribute)).map(|s| s.2);
        set.map_or_else(|| kernel_attribute(&self.kernel, attribute), Ok)
    }

    fn set_function_attribute(&self, module: &DriverModule, attribute: CUfunction_attribute, value: c_int) -> Res {
        let name = self.name.to_str().map_err(|_| ResultCode::NOT_FOUND)?;
        set_attribute(&*FUNCTIONS.get_object(module.function_handle(name)?)?, attribute, value)
    }

    /// What [`set_attribute`] would refuse.
    fn check_attribute_value(&self, attribute: CUfunction_attribute, value: c_int) -> Res {
        match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let bytes = u32::try_from(value).map_err(|_| ResultCode::INVALID_VALUE)?;
                ensure(self.kernel.allows_dynamic_shared(bytes), ResultCode::INVALID_VALUE)
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                ensure((-1..=100).contains(&value), ResultCode::INVALID_VALUE)
            }
            _ => ResultCode::INVALID_VALUE.err(),
        }
    }
}
