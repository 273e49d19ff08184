//! Libraries: images without a context, loaded into each context that uses them.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::function::{get_attribute, param_info, set_attribute};
use super::jit_options;
use super::module::{image_bytes, read_file};
use super::{Handle, driver_functions, put, put_optional, text};
use crate::context::{Context, current};
use crate::driver::{FUNCTIONS, KERNELS, LIBRARIES};
use crate::error::{Code, Res, ensure};
use crate::module::LoadOptions;
use crate::objects::{Function, Library, Module};

fn create(image: Vec<u8>, options: LoadOptions) -> Res<CUlibrary> {
    let (handle, library) = LIBRARIES.insert_with(|handle| Arc::new(Library::new(handle, image, options)))?;
    // Errors of the image are told now if there is a context to load it into.
    if let Ok(context) = current()
        && let Err(error) = library.module(&context)
    {
        LIBRARIES.remove(handle)?;
        return Err(error);
    }
    Ok(CUlibrary::from_number(handle))
}

fn module_of(library: CUlibrary) -> Res<(Arc<Library>, Arc<Module>)> {
    let library = LIBRARIES.get(library.number())?;
    let module = library.module(&*current()?)?;
    Ok((library, module))
}

/// The function of a kernel handle in a context.
pub(crate) fn function_of_kernel(ctx: &Context, kernel: u64) -> Res<u64> {
    let kernel = KERNELS.get(kernel)?;
    let module = LIBRARIES.get(kernel.library)?.module(ctx)?;
    module.function(kernel.name.to_str().map_err(|_| Code::NOT_FOUND)?)
}

fn function(kernel: CUkernel) -> Res<Arc<Function>> {
    FUNCTIONS.get(function_of_kernel(&*current()?, kernel.number())?)
}

driver_functions! {
    fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        ensure(!library.is_null(), Code::INVALID_VALUE)?;
        let options = jit_options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create(image_bytes(code)?.to_vec(), options.load.clone());
        options.finish("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        put(library, outcome?)
    }

    fn cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = (libraryOptions, libraryOptionValues, numLibraryOptions);
        ensure(!library.is_null(), Code::INVALID_VALUE)?;
        let options = jit_options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create(read_file(fileName)?, options.load.clone());
        options.finish("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        put(library, outcome?)
    }

    fn cuLibraryUnload(library: CUlibrary) {
        let outcome = crate::context::current_alive().and_then(|c| c.synchronize());
        LIBRARIES.remove(library.number())?.unload();
        // Without a current context there is no work to wait for.
        outcome.or_else(|e| if e.code == Code::INVALID_CONTEXT { Ok(()) } else { Err(e) })
    }

    fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        ensure(!pKernel.is_null(), Code::INVALID_VALUE)?;
        let name = text(name)?;
        let (library, module) = module_of(library)?;
        put(pKernel, CUkernel::from_number(library.kernel(&module, name)?))
    }

    fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) {
        put(count, module_of(lib)?.1.loaded.kernel_names().count() as c_uint)
    }

    fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) {
        ensure(!kernels.is_null() && numKernels > 0, Code::INVALID_VALUE)?;
        let (library, module) = module_of(lib)?;
        for (i, name) in module.loaded.kernel_names().take(numKernels as usize).enumerate() {
            put(kernels.add(i), CUkernel::from_number(library.kernel(&module, name)?))?;
        }
        Ok(())
    }

    fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) {
        put(pMod, CUmodule::from_number(module_of(library)?.1.handle))
    }

    fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = text(name)?;
        let global = module_of(library)?.1.loaded.global(name).ok_or(Code::NOT_FOUND)?;
        put_optional(dptr, global.address);
        put_optional(bytes, global.size as usize);
        Ok(())
    }

    fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = text(name)?;
        let global = module_of(library)?.1.loaded.global(name).filter(|g| g.managed).ok_or(Code::NOT_FOUND)?;
        put_optional(dptr, global.address);
        put_optional(bytes, global.size as usize);
        Ok(())
    }

    fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) {
        put(pFunc, CUfunction::from_number(function_of_kernel(&*current()?, kernel.number())?))
    }

    fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) {
        put(pLib, CUlibrary::from_number(KERNELS.get(kernel.number())?.library))
    }

    fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) {
        // The name lives as long as the kernel's handle, as CUDA documents it.
        put(name, KERNELS.get(hfunc.number())?.name.as_ptr())
    }

    fn cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) {
        crate::device::device(dev)?;
        put(pi, get_attribute(&*function(kernel)?, attrib)?)
    }

    fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) {
        crate::device::device(dev)?;
        set_attribute(&*function(kernel)?, attrib, val)
    }

    fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) {
        crate::device::device(dev)?;
        KERNELS.get(kernel.number())?;
        ensure(config.0 <= 3, Code::INVALID_VALUE)
    }

    fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        param_info(&*function(kernel)?, paramIndex, paramOffset, paramSize)
    }
}
