//! Functions: their attributes, and the oldest way to prepare a launch.

use rtcg_vgpu_abi::IgnorePoison;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::library::function_of_kernel;
use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::module::{Kernel, check_block_shape};
use crate::resource::function::{DriverFunction, FUNCTIONS, kernel_attribute, set_attribute};
use crate::stream::context::{Context, current, top_of_context_stack};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

/// Handles of kernels of libraries carry this in their highest byte.
const LIBRARY_KERNEL_TAG: u64 = 0x19;
/// More parameters than any kernel can have.
const MAX_PARAM_BYTES: usize = 32_764;

/// The function of a handle; the handle of a library's kernel stands for its function in `ctx`.
pub(crate) fn function_in_context(ctx: &Context, handle: CUfunction) -> Res<Arc<DriverFunction>> {
    let number = handle.handle_number();
    let number = if number >> 56 == LIBRARY_KERNEL_TAG { function_of_kernel(ctx, number)? } else { number };
    FUNCTIONS.get_object(number)
}

/// A function that a call is about; no longer to be had once a fault has poisoned its context. Other than launches,
/// these calls take no kernel of a library.
fn function_in_current_context(handle: CUfunction) -> Res<Arc<DriverFunction>> {
    let function = FUNCTIONS.get_object(handle.handle_number())?;
    if let Some(context) = top_of_context_stack().filter(|context| context.id == function.ctx_id) {
        context.check_not_poisoned()?;
    }
    Ok(function)
}

/// The function that a question is about: null is no value of a question, as real drivers have it.
fn non_null_function(handle: CUfunction) -> Res<Arc<DriverFunction>> {
    ensure(!handle.is_null(), ResultCode::INVALID_VALUE)?;
    function_in_current_context(handle)
}

/// The function that the oldest launch functions prepare; they want a current context.
fn function_for_legacy_launch(handle: CUfunction) -> Res<Arc<DriverFunction>> {
    current()?;
    function_in_current_context(handle)
}

/// `cuFuncGetAttribute`
pub(crate) fn get_attribute(function: &DriverFunction, attribute: CUfunction_attribute) -> Res<c_int> {
    if attribute == CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT {
        return Ok(function.carveout.load(Ordering::Relaxed));
    }
    kernel_attribute(&function.kernel, attribute)
}

/// `cuFuncGetParamInfo`
///
/// # Safety
/// Both places are null or valid for writing.
pub(crate) unsafe fn param_info(kernel: &Kernel, index: usize, offset: *mut usize, size: *mut usize) -> Res {
    let info = kernel.kernel_params().get(index).ok_or(ResultCode::INVALID_VALUE)?;
    // SAFETY: this function's contract.
    unsafe {
        write_out(offset, info.offset)?;
        write_out_if_not_null(size, info.size);
    }
    Ok(())
}

/// Writes bytes into the prepared parameters, growing them.
fn set_param(function: CUfunction, offset: c_int, bytes: &[u8]) -> Res {
    let function = function_for_legacy_launch(function)?;
    let offset = usize::try_from(offset).map_err(|_| ResultCode::INVALID_VALUE)?;
    let end = offset.checked_add(bytes.len()).ok_or(ResultCode::INVALID_VALUE)?;
    ensure(end <= MAX_PARAM_BYTES, ResultCode::INVALID_VALUE)?;
    let mut prepared = function.prepared.lock().ignore_poison();
    if prepared.params.len() < end {
        prepared.params.resize(end, 0);
    }
    prepared.params[offset..end].copy_from_slice(bytes);
    Ok(())
}

driver_functions! {
    fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction) {
        write_out(pi, get_attribute(&*function_in_current_context(hfunc)?, attrib)?)
    }

    fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int) {
        set_attribute(&*function_in_current_context(hfunc)?, attrib, value)
    }

    fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) {
        function_in_current_context(hfunc)?;
        ensure(config.0 <= 3, ResultCode::INVALID_VALUE)
    }

    fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig) {
        function_in_current_context(hfunc)?;
        ensure(config.0 <= 2, ResultCode::INVALID_VALUE)
    }

    fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) {
        write_out(hmod, CUmodule::from_handle_number(non_null_function(hfunc)?.module))
    }

    fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) {
        // The name lives as long as the function's module, as CUDA documents it.
        write_out(name, non_null_function(hfunc)?.name.as_ptr())
    }

    fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        param_info(&non_null_function(func)?.kernel, paramIndex, paramOffset, paramSize)
    }

    fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction) {
        self::function_in_current_context(function)?;
        write_out(state, CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }

    fn cuFuncLoad(function: CUfunction) {
        self::function_in_current_context(function).map(drop)
    }

    fn cuFuncSetBlockShape(hfunc: CUfunction, x: c_int, y: c_int, z: c_int) {
        let function = function_for_legacy_launch(hfunc)?;
        let shape = [x, y, z].map(|n| u32::try_from(n).unwrap_or(0));
        check_block_shape(shape)?;
        function.prepared.lock().ignore_poison().block = shape;
        Ok(())
    }

    fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: c_uint) {
        function_for_legacy_launch(hfunc)?.prepared.lock().ignore_poison().shared = bytes;
        Ok(())
    }

    fn cuParamSetSize(hfunc: CUfunction, numbytes: c_uint) {
        let function = function_for_legacy_launch(hfunc)?;
        ensure(numbytes as usize <= MAX_PARAM_BYTES, ResultCode::INVALID_VALUE)?;
        function.prepared.lock().ignore_poison().params.resize(numbytes as usize, 0);
        Ok(())
    }

    fn cuParamSeti(hfunc: CUfunction, offset: c_int, value: c_uint) {
        set_param(hfunc, offset, &value.to_ne_bytes())
    }

    fn cuParamSetf(hfunc: CUfunction, offset: c_int, value: f32) {
        set_param(hfunc, offset, &value.to_ne_bytes())
    }

    fn cuParamSetv(hfunc: CUfunction, offset: c_int, ptr: *mut c_void, numbytes: c_uint) {
        ensure(!ptr.is_null() || numbytes == 0, ResultCode::INVALID_VALUE)?;
        let bytes = if numbytes == 0 { &[] } else { std::slice::from_raw_parts(ptr.cast::<u8>(), numbytes as usize) };
        set_param(hfunc, offset, bytes)
    }
}
