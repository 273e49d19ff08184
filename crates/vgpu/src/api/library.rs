//! Libraries: images without a context, loaded into each context that uses them.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use rtcg_cuda_sys::*;

use super::function::param_info;
use super::jit_options;
use super::module::{image_bytes, read_file, write_variable};
use super::{Handle, driver_functions, str_from_c, write_out, write_out_if_not_null};
use crate::graph::capture;
use crate::module::LoadOptions;
use crate::resource::library::Library;
use crate::resource::library::{KERNELS, LIBRARIES};
use crate::resource::module::DriverModule;
use crate::stream::context::{Context, current};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

fn create_library(image: Vec<u8>, options: LoadOptions) -> Res<CUlibrary> {
    Library::create_library(image, options).map(CUlibrary::from_handle_number)
}

/// Only two options are known; both say how the program keeps the image, of which a copy is made here.
///
/// # Safety
/// `options` has `count` elements.
unsafe fn check_library_options(options: *const CUlibraryOption, count: c_uint) -> Res {
    ensure(count == 0 || !options.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    let known = |i| unsafe { *options.add(i) }.0 < CUlibraryOption::CU_LIBRARY_NUM_OPTIONS.0;
    ensure((0..count as usize).all(known), ResultCode::INVALID_VALUE)
}

/// Its module in the current context.
fn library_module(library: CUlibrary) -> Res<Arc<DriverModule>> {
    LIBRARIES.get_object(library.handle_number())?.module_in_context(&*current()?)
}

/// The function of a kernel handle in a context.
pub(crate) fn function_of_kernel(ctx: &Context, kernel: u64) -> Res<u64> {
    let kernel = KERNELS.get_object(kernel)?;
    let module = LIBRARIES.get_object(kernel.library)?.module_in_context(ctx)?;
    module.function_handle(kernel.name.to_str().map_err(|_| ResultCode::NOT_FOUND)?)
}

driver_functions! {
    fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = libraryOptionValues;
        ensure(!library.is_null(), ResultCode::INVALID_VALUE)?;
        check_library_options(libraryOptions, numLibraryOptions)?;
        let options = jit_options::from_option_arrays(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create_library(image_bytes(code)?.to_vec(), options.load.clone());
        options.write_results("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        write_out(library, outcome?)
    }

    fn cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) {
        let _ = libraryOptionValues;
        ensure(!library.is_null(), ResultCode::INVALID_VALUE)?;
        check_library_options(libraryOptions, numLibraryOptions)?;
        let options = jit_options::from_option_arrays(numJitOptions, jitOptions, jitOptionsValues)?;
        let outcome = create_library(read_file(fileName)?, options.load.clone());
        options.write_results("", outcome.as_ref().err().and_then(|e| e.detail.as_deref()).unwrap_or(""));
        write_out(library, outcome?)
    }

    fn cuLibraryUnload(library: CUlibrary) {
        capture::refuse_call_unsafe_in_capture()?;
        let outcome = crate::stream::context::current_alive_context().and_then(|c| c.synchronize());
        LIBRARIES.remove_object(library.handle_number())?.unload_modules();
        // Without a current context there is no work to wait for.
        outcome.or_else(|e| if e.code == ResultCode::INVALID_CONTEXT { Ok(()) } else { Err(e) })
    }

    fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        ensure(!pKernel.is_null(), ResultCode::INVALID_VALUE)?;
        let library = LIBRARIES.get_object(library.handle_number())?;
        write_out(pKernel, CUkernel::from_handle_number(library.kernel_handle(str_from_c(name)?)?))
    }

    fn cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary) {
        write_out(count, LIBRARIES.get_object(lib.handle_number())?.kernel_names().count() as c_uint)
    }

    fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary) {
        ensure(!kernels.is_null(), ResultCode::INVALID_VALUE)?;
        let library = LIBRARIES.get_object(lib.handle_number())?;
        for (i, name) in library.kernel_names().take(numKernels as usize).enumerate() {
            write_out(kernels.add(i), CUkernel::from_handle_number(library.kernel_handle(name)?))?;
        }
        Ok(())
    }

    fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary) {
        write_out(pMod, CUmodule::from_handle_number(library_module(library)?.handle))
    }

    fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = str_from_c(name)?;
        let module = library_module(library)?;
        write_variable(&module, name, dptr, bytes)
    }

    fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        let name = str_from_c(name)?;
        ensure(LIBRARIES.get_object(library.handle_number())?.is_managed(name), ResultCode::NOT_FOUND)?;
        let global = library_module(library)?.loaded.global(name).ok_or(ResultCode::NOT_FOUND)?;
        write_out_if_not_null(dptr, global.address);
        write_out_if_not_null(bytes, global.size as usize);
        Ok(())
    }

    fn cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char) {
        ensure(!fptr.is_null(), ResultCode::INVALID_VALUE)?;
        let name = str_from_c(symbol)?;
        LIBRARIES.get_object(library.handle_number())?;
        // CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS is 0: no function has an address for host and device.
        Err(ResultCode::INVALID_VALUE.with_detail(format!("'{name}': the virtual GPU has no unified function pointers")))
    }

    fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel) {
        write_out(pFunc, CUfunction::from_handle_number(function_of_kernel(&*current()?, kernel.handle_number())?))
    }

    fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel) {
        write_out(pLib, CUlibrary::from_handle_number(KERNELS.get_object(kernel.handle_number())?.library))
    }

    fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel) {
        ensure(!hfunc.is_null(), ResultCode::INVALID_VALUE)?;
        // The name lives as long as the kernel's handle, as CUDA documents it.
        write_out(name, KERNELS.get_object(hfunc.handle_number())?.name.as_ptr())
    }

    fn cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice) {
        let ordinal = crate::device::device_by_ordinal(dev)?.ordinal;
        write_out(pi, KERNELS.get_object(kernel.handle_number())?.attribute_on_device(ordinal, attrib)?)
    }

    fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice) {
        let ordinal = crate::device::device_by_ordinal(dev)?.ordinal;
        let kernel = KERNELS.get_object(kernel.handle_number())?;
        LIBRARIES.get_object(kernel.library)?.set_attribute(&kernel, ordinal, attrib, val)
    }

    fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) {
        crate::device::device_by_ordinal(dev)?;
        KERNELS.get_object(kernel.handle_number())?;
        ensure(config.0 <= 3, ResultCode::INVALID_VALUE)
    }

    fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        ensure(!kernel.is_null(), ResultCode::INVALID_VALUE)?;
        // A real driver looks the parameters up in the current context's module.
        current()?;
        param_info(&KERNELS.get_object(kernel.handle_number())?.kernel, paramIndex, paramOffset, paramSize)
    }
}
