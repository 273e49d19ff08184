//! Libraries: images without a context, loaded into each context that uses them.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::function::param_info;
use super::jit_options;
use super::module::{image_bytes, read_file};
use super::{Handle, driver_functions, text, write_optional, write_out};
use crate::context::{Context, current};
use crate::driver::{KERNELS, LIBRARIES};
use crate::error::{Code, Res, ensure};
use crate::graph::capture;
use crate::library::Library;
use crate::module::LoadOptions;
use crate::objects::Module;

fn create(image: Vec<u8>, options: LoadOptions) -> Res<CUlibrary> {
    Library::make(image, options).map(CUlibrary::from_number)
}

/// Only two options are known; both say how the program keeps the image, of which a copy is made here.
///
/// # Safety
/// `options` has `count` elements.
unsafe fn check_options(options: *const CUlibraryOption, count: c_uint) -> Res {
    ensure(count == 0 || !options.is_null(), Code::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    let known = |i| unsafe { *options.add(i) }.0 < CUlibraryOption::CU_LIBRARY_NUM_OPTIONS.0;
    ensure((0..count as usize).all(known), Code::INVALID_VALUE)
}

/// Its module in the current context.
fn module_of(library: CUlibrary) -> Res<Arc<Module>> {
    LIBRARIES.get(library.number())?.module(&*current()?)
}

/// The function of a kernel handle in a context.
pub(crate) fn function_of_kernel(ctx: &Context, kernel: u64) -> Res<u64> {
    let kernel = KERNELS.get(kernel)?;
    let module = LIBRARIES.get(kernel.library)?.module(ctx)?;
    module.function(kernel.name.to_str().map_err(|_| Code::NOT_FOUND)?)
}

driver_functions! {
    fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = libraryOptionValues;
        ensure(!library.is_null(), Code::INVALID_VALUE)?;
        check_options(libraryOptions, numLibraryOptions)?;
        let options = jit_options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create(image_bytes(code)?.to_vec(), options.load.clone());
        options.finish("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        write_out(library, outcome?)
    }

    fn cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = libraryOptionValues;
        ensure(!library.is_null(), Code::INVALID_VALUE)?;
        check_options(libraryOptions, numLibraryOptions)?;
        let options = jit_options::read(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create(read_file(fileName)?, options.load.clone());
        options.finish("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        write_out(library, outcome?)
    }

    fn cuLibraryUnload(library: CUlibrary) {
        capture::check_unsafe_call()?;
        let outcome = crate::context::current_alive().and_then(|c| c.synchronize());
        LIBRARIES.remove(library.number())?.unload();
        // Without a current context there is no work to wait for.
        outcome.or_else(|e| if e.code == Code::INVALID_CONTEXT { Ok(()) } else { Err(e) })
    }

    fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        ensure(!pKernel.is_null(), Code::INVALID_VALUE)?;
        let library = LIBRARIES.get(library.number())?;
        write_out(pKernel, CUkernel::from_number(library.kernel(text(name)?)?))
    }

    fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) {
        write_out(count, LIBRARIES.get(lib.number())?.kernel_names().count() as c_uint)
    }

    fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) {
        ensure(!kernels.is_null(), Code::INVALID_VALUE)?;
        let library = LIBRARIES.get(lib.number())?;
        for (i, name) in library.kernel_names().take(numKernels as usize).enumerate() {
            write_out(kernels.add(i), CUkernel::from_number(library.kernel(name)?))?;
        }
        Ok(())
    }

    fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) {
        write_out(pMod, CUmodule::from_number(module_of(library)?.handle))
    }

    fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = text(name)?;
        let global = module_of(library)?.loaded.global(name).ok_or(Code::NOT_FOUND)?;
        write_optional(dptr, global.address);
        write_optional(bytes, global.size as usize);
        Ok(())
    }

    fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = text(name)?;
        ensure(LIBRARIES.get(library.number())?.is_managed(name), Code::NOT_FOUND)?;
        let global = module_of(library)?.loaded.global(name).ok_or(Code::NOT_FOUND)?;
        write_optional(dptr, global.address);
        write_optional(bytes, global.size as usize);
        Ok(())
    }

    fn cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char) {
        ensure(!fptr.is_null(), Code::INVALID_VALUE)?;
        let name = text(symbol)?;
        LIBRARIES.get(library.number())?;
        // CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS is 0: no function has an address for host and device.
        Err(Code::NOT_FOUND.because(format!("'{name}': the virtual GPU has no unified function pointers")))
    }

    fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) {
        write_out(pFunc, CUfunction::from_number(function_of_kernel(&*current()?, kernel.number())?))
    }

    fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) {
        write_out(pLib, CUlibrary::from_number(KERNELS.get(kernel.number())?.library))
    }

    fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) {
        ensure(!hfunc.is_null(), Code::INVALID_VALUE)?;
        // The name lives as long as the kernel's handle, as CUDA documents it.
        write_out(name, KERNELS.get(hfunc.number())?.name.as_ptr())
    }

    fn cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) {
        let ordinal = crate::device::device(dev)?.ordinal;
        write_out(pi, KERNELS.get(kernel.number())?.attribute(ordinal, attrib)?)
    }

    fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) {
        let ordinal = crate::device::device(dev)?.ordinal;
        let kernel = KERNELS.get(kernel.number())?;
        LIBRARIES.get(kernel.library)?.set_attribute(&kernel, ordinal, attrib, val)
    }

    fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) {
        crate::device::device(dev)?;
        KERNELS.get(kernel.number())?;
        ensure(config.0 <= 3, Code::INVALID_VALUE)
    }

    fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        ensure(!kernel.is_null(), Code::INVALID_VALUE)?;
        // A real driver looks the parameters up in the current context's module.
        current()?;
        param_info(&KERNELS.get(kernel.number())?.kernel, paramIndex, paramOffset, paramSize)
    }
}
