//! Modules.

use std::ffi::{CStr, OsStr, c_char, c_uint, c_void};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use rtcg_cuda_sys::*;

use super::jit_options::{self, JitOptions};
use super::{Handle, driver_functions, str_from_c, write_out, write_out_if_not_null};
use crate::graph::capture;
use crate::memory::anonymous_file::create_memfd;
use crate::module::fatbin;
use crate::resource::module::{DriverModule, MODULES, load_module, unload_module};
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Bytes of a cubin that are enough to say what it is; it is not loaded anyway.
const CUBIN_HEADER_BYTES: usize = 64;

/// What refers to a fat binary in compiled programs.
#[repr(C)]
struct FatbinWrapper {
    magic: u32,
    version: u32,
    data: *const c_void,
    unused: *const c_void,
}

/// Bytes of the largest fat binary that is believed to be one.
const MAX_FATBIN_BYTES: usize = 1 << 31;

/// Fails where the process cannot read all of these bytes: nothing but the header says how many there are.
fn check_readable(start: *const c_void, len: usize) -> Res {
    ensure((1..=MAX_FATBIN_BYTES).contains(&len), ResultCode::INVALID_IMAGE)?;
    let Some(sink) = create_memfd(c"image", 0) else { return Ok(()) };
    let pages = (start.addr()..start.addr().saturating_add(len)).step_by(rtcg_vgpu_exec::window::page_size());
    let mut probes = pages.chain(start.addr().checked_add(len - 1)).map(|at| start.with_addr(at));
    // SAFETY: the system reads the byte for us, and says where it cannot.
    let readable = probes.all(|at| unsafe { libc::pwrite(sink.as_raw_fd(), at, 1, 0) } == 1);
    ensure(readable, ResultCode::INVALID_IMAGE)
}

/// The bytes of an image in memory whose length its contents tell.
///
/// # Safety
/// `image` is null or points to a NUL-terminated PTX text, to a cubin, to a fat binary, or to the
/// wrapper of one.
pub(crate) unsafe fn image_bytes<'a>(image: *const c_void) -> Res<&'a [u8]> {
    ensure(!image.is_null(), ResultCode::INVALID_VALUE)?;
    // Byte by byte up to the first that differs: a text shorter than a word ends in a NUL, which
    // no magic number has.
    // SAFETY: the bytes before have been equal, so that the image is not at its end.
    let begins = |magic: [u8; 4]| (0..4).all(|i| unsafe { image.cast::<u8>().add(i).read() } == magic[i]);
    // SAFETY: this function's contract for each kind of image: a cubin's header has 64 bytes, that
    // of a fat binary 16 and tells its length.
    unsafe {
        if begins(*b"\x7fELF") {
            check_readable(image, CUBIN_HEADER_BYTES)?;
            return Ok(std::slice::from_raw_parts(image.cast(), CUBIN_HEADER_BYTES));
        }
        if begins(fatbin::WRAPPER_MAGIC.to_le_bytes()) {
            check_readable(image, size_of::<FatbinWrapper>())?;
            let data = image.cast::<FatbinWrapper>().read_unaligned().data;
            ensure(!data.is_null() && data != image, ResultCode::INVALID_IMAGE)?;
            check_readable(data, fatbin::HEADER_BYTES)?;
            let magic = data.cast::<u32>().read_unaligned();
            ensure(magic == fatbin::FATBIN_MAGIC, ResultCode::INVALID_IMAGE)?;
            return image_bytes(data);
        }
        if begins(fatbin::FATBIN_MAGIC.to_le_bytes()) {
            check_readable(image, fatbin::HEADER_BYTES)?;
            let header = std::slice::from_raw_parts(image.cast(), fatbin::HEADER_BYTES);
            let len = fatbin::fatbin_total_bytes(header).ok_or(ResultCode::INVALID_IMAGE)?;
            check_readable(image, len)?;
            return Ok(std::slice::from_raw_parts(image.cast(), len));
        }
        // A text, so NUL-terminated.
        Ok(CStr::from_ptr(image.cast()).to_bytes())
    }
}

/// The contents of a file.
///
/// # Safety
/// `name` is null or a C string.
pub(crate) unsafe fn read_file(name: *const c_char) -> Res<Vec<u8>> {
    ensure(!name.is_null(), ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    let path = OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes());
    std::fs::read(path).map_err(|e| {
        // The device's driver asks a directory for its size, and has not so much memory.
        let is_folder = e.kind() == std::io::ErrorKind::IsADirectory;
        let code = if is_folder { ResultCode::OUT_OF_MEMORY } else { ResultCode::FILE_NOT_FOUND };
        code.with_detail(format!("{}: {e}", path.display()))
    })
}

/// # Safety
/// `place` is null or valid for writing, the buffers of `options` are valid.
unsafe fn load_module_image(place: *mut CUmodule, image: &[u8], options: &JitOptions) -> Res {
    ensure(!place.is_null(), ResultCode::INVALID_VALUE)?;
    let context = current()?;
    match load_module(&context, image, &options.load) {
        Ok(module) => {
            // SAFETY: this function's contract.
            unsafe { options.write_results("", "") };
            // SAFETY: this function's contract.
            unsafe { write_out(place, CUmodule::from_handle_number(module.handle)) }
        }
        Err(error) => {
            // SAFETY: this function's contract.
            unsafe { options.write_results("", error.detail.as_deref().unwrap_or("")) };
            Err(error)
        }
    }
}

/// Writes the address and the bytes of a variable; where there is none, the address is null.
///
/// # Safety
/// Each place is null or valid.
pub(crate) unsafe fn write_variable(
    module: &DriverModule,
    name: &str,
    address: *mut CUdeviceptr,
    bytes: *mut usize,
) -> Res {
    // SAFETY: this function's contract.
    unsafe {
        write_out_if_not_null(address, 0);
        module.check_variable_name(name)?;
        let global = module.loaded.global(name).ok_or(ResultCode::NOT_FOUND)?;
        write_out_if_not_null(address, global.address);
        write_out_if_not_null(bytes, global.size as usize);
    }
    Ok(())
}

driver_functions! {
    fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) {
        ensure(!module.is_null(), ResultCode::INVALID_VALUE)?;
        current()?;
        let image = read_file(fname)?;
        load_module_image(module, &image, &jit_options::from_option_arrays(0, std::ptr::null(), std::ptr::null())?)
    }

    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) {
        load_module_image(module, image_bytes(image)?, &jit_options::from_option_arrays(0, std::ptr::null(), std::ptr::null())?)
    }

    fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        let options = jit_options::from_option_arrays(numOptions, options, optionValues)?;
        load_module_image(module, image_bytes(image)?, &options)
    }

    fn cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void) {
        load_module_image(module, image_bytes(fatCubin)?, &jit_options::from_option_arrays(0, std::ptr::null(), std::ptr::null())?)
    }

    fn cuModuleUnload(hmod: CUmodule) {
        let module = MODULES.get_object(hmod.handle_number())?;
        ensure(!module.is_of_library, ResultCode::NOT_PERMITTED)?;
        // As in CUDA, launches of the module are over before it goes.
        let context = crate::stream::context::current_or_owner_context(module.ctx_id)?;
        capture::refuse_call_unsafe_in_capture()?;
        let outcome = if context.id == module.ctx_id { context.synchronize() } else { Ok(()) };
        unload_module(hmod.handle_number())?;
        outcome
    }

    fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) {
        write_out(mode, CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING)
    }

    fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char) {
        ensure(!hfunc.is_null(), ResultCode::INVALID_VALUE)?;
        let name = str_from_c(name)?;
        ensure(!name.is_empty(), ResultCode::INVALID_VALUE)?;
        let module = MODULES.get_object(hmod.handle_number())?;
        write_out(hfunc, CUfunction::from_handle_number(module.function_handle(name)?))
    }

    fn cuModuleGetFunctionCount(count: *mut c_uint, mod_: CUmodule) {
        let module = MODULES.get_object(mod_.handle_number())?;
        write_out(count, module.loaded.kernel_names().count() as c_uint)
    }

    fn cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: c_uint, mod_: CUmodule) {
        let module = MODULES.get_object(mod_.handle_number())?;
        ensure(!functions.is_null(), ResultCode::INVALID_VALUE)?;
        for (i, name) in module.loaded.kernel_names().take(numFunctions as usize).enumerate() {
            write_out(functions.add(i), CUfunction::from_handle_number(module.function_handle(name)?))?;
        }
        Ok(())
    }

    fn cuModuleGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char) {
        ensure(!dptr.is_null() || !bytes.is_null(), ResultCode::INVALID_VALUE)?;
        let name = str_from_c(name)?;
        let module = MODULES.get_object(hmod.handle_number())?;
        write_variable(&module, name, dptr, bytes)
    }
}
