//! Tensor maps: descriptions of matrices for bulk tensor copies, which kernels take as arguments.

use crate::context::current_driver_table;
use crate::error::{Error, Result};
use rtcg_cuda_sys::*;

/// Describes a stack of matrices of which boxes of `box_extents` elements are copied, with the swizzle of 128 bytes.
/// `byte_strides` lead from a line to the next and from a matrix to the next. What lies outside is read as 0.
///
/// # Errors
/// When the driver has no tensor maps, or none of these: addresses and strides must be multiples of 16. Drivers before
/// CUDA 12.4, which do not report the parameters that must be passed one by one, count as having none.
pub fn encode_tensor_map(
    dtype: CUtensorMapDataType,
    address: CUdeviceptr,
    extents: [u64; 3],
    byte_strides: [u64; 2],
    box_extents: [u32; 3],
) -> Result<CUtensorMap> {
    const CALL: &str = "cuTensorMapEncodeTiled";
    if !current_driver_table(CALL)?.has_function(DriverFn::cuFuncGetParamInfo) {
        return Err(Error::new(CALL, CUresult::CUDA_ERROR_NOT_SUPPORTED, "the driver is older than CUDA 12.4"));
    }
    let mut map = CUtensorMap::default();
    let steps = [1; 3];
    // SAFETY: as many numbers are read as the rank says, and the map is written; the address is not followed.
    unsafe {
        call_in_current_context!(cuTensorMapEncodeTiled(
            &raw mut map,
            dtype,
            3,
            address as *mut _,
            extents.as_ptr(),
            byte_strides.as_ptr(),
            box_extents.as_ptr(),
            steps.as_ptr(),
            CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        ))
    }?;
    Ok(map)
}
