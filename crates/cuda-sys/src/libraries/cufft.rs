//! The function table of cuFFT.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use super::{cudaDataType, enum_parameters, named_library_table};
use crate::compiler_libraries::LibrarySearch;
use crate::types::cuda_enum;
use crate::types::*;

cuda_enum! {
    /// The result of a cuFFT call.
    cufftResult {
        CUFFT_SUCCESS = 0,
        CUFFT_INVALID_PLAN = 1,
        CUFFT_ALLOC_FAILED = 2,
        CUFFT_INVALID_TYPE = 3,
        CUFFT_INVALID_VALUE = 4,
        CUFFT_INTERNAL_ERROR = 5,
        CUFFT_EXEC_FAILED = 6,
        CUFFT_SETUP_FAILED = 7,
        CUFFT_INVALID_SIZE = 8,
        CUFFT_UNALIGNED_DATA = 9,
        CUFFT_INVALID_DEVICE = 11,
        CUFFT_NO_WORKSPACE = 13,
        CUFFT_NOT_IMPLEMENTED = 14,
        CUFFT_NOT_SUPPORTED = 16,
        CUFFT_MISSING_DEPENDENCY = 17,
        CUFFT_NVRTC_FAILURE = 18,
        CUFFT_NVJITLINK_FAILURE = 19,
        CUFFT_NVSHMEM_FAILURE = 20,
        RTCG_CUFFT_FUNCTION_MISSING = 0x7fff_0001,
    }
}

cuda_enum! {
    /// What a transform takes and gives.
    cufftType {
        CUFFT_R2C = 0x2a,
        CUFFT_C2R = 0x2c,
        CUFFT_C2C = 0x29,
        CUFFT_D2Z = 0x6a,
        CUFFT_Z2D = 0x6c,
        CUFFT_Z2Z = 0x69,
    }
}

enum_parameters!(cufftType);

/// The C type of plans.
pub type cufftHandle = c_int;
/// The direction of a transform without a factor, with the exponent -2 pi i.
pub const CUFFT_FORWARD: c_int = -1;
/// The direction of a transform without a factor, with the exponent 2 pi i.
pub const CUFFT_INVERSE: c_int = 1;

named_library_table! {
    /// cuFFT's functions, with the CUDA version that introduced each. One table per process, found once; see
    /// [`CufftTable::load`].
    CufftTable of cufftResult else RTCG_CUFFT_FUNCTION_MISSING, searched as LIBRARY_SEARCH by "RTCG_CUFFT", version by cufftGetProperty {
        cufftCreate since 6000 (handle: *mut cufftHandle);
        cufftDestroy since 6000 (plan: cufftHandle);
        cufftPlan1d since 6000 (plan: *mut cufftHandle, nx: c_int, type_: cufftType, batch: c_int);
        cufftPlan2d since 6000 (plan: *mut cufftHandle, nx: c_int, ny: c_int, type_: cufftType);
        cufftPlan3d since 6000 (plan: *mut cufftHandle, nx: c_int, ny: c_int, nz: c_int, type_: cufftType);
        cufftPlanMany since 6000 (plan: *mut cufftHandle, rank: c_int, n: *const c_int, inembed: *const c_int, istride: c_int, idist: c_int, onembed: *const c_int, ostride: c_int, odist: c_int, type_: cufftType, batch: c_int);
        cufftMakePlan1d since 6000 (plan: cufftHandle, nx: c_int, type_: cufftType, batch: c_int, workSize: *mut usize);
        cufftMakePlan2d since 6000 (plan: cufftHandle, nx: c_int, ny: c_int, type_: cufftType, workSize: *mut usize);
        cufftMakePlan3d since 6000 (plan: cufftHandle, nx: c_int, ny: c_int, nz: c_int, type_: cufftType, workSize: *mut usize);
        cufftMakePlanMany since 6000 (plan: cufftHandle, rank: c_int, n: *const c_int, inembed: *const c_int, istride: c_int, idist: c_int, onembed: *const c_int, ostride: c_int, odist: c_int, type_: cufftType, batch: c_int, workSize: *mut usize);
        cufftMakePlanMany64 since 7000 (plan: cufftHandle, rank: c_int, n: *const i64, inembed: *const i64, istride: i64, idist: i64, onembed: *const i64, ostride: i64, odist: i64, type_: cufftType, batch: i64, workSize: *mut usize);
        cufftEstimate1d since 6000 (nx: c_int, type_: cufftType, batch: c_int, workSize: *mut usize);
        cufftEstimate2d since 6000 (nx: c_int, ny: c_int, type_: cufftType, workSize: *mut usize);
        cufftEstimate3d since 6000 (nx: c_int, ny: c_int, nz: c_int, type_: cufftType, workSize: *mut usize);
        cufftEstimateMany since 6000 (rank: c_int, n: *const c_int, inembed: *const c_int, istride: c_int, idist: c_int, onembed: *const c_int, ostride: c_int, odist: c_int, type_: cufftType, batch: c_int, workSize: *mut usize);
        cufftGetSize1d since 6000 (handle: cufftHandle, nx: c_int, type_: cufftType, batch: c_int, workSize: *mut usize);
        cufftGetSize2d since 6000 (handle: cufftHandle, nx: c_int, ny: c_int, type_: cufftType, workSize: *mut usize);
        cufftGetSize3d since 6000 (handle: cufftHandle, nx: c_int, ny: c_int, nz: c_int, type_: cufftType, workSize: *mut usize);
        cufftGetSizeMany since 6000 (handle: cufftHandle, rank: c_int, n: *const c_int, inembed: *const c_int, istride: c_int, idist: c_int, onembed: *const c_int, ostride: c_int, odist: c_int, type_: cufftType, batch: c_int, workArea: *mut usize);
        cufftGetSizeMany64 since 7000 (plan: cufftHandle, rank: c_int, n: *const i64, inembed: *const i64, istride: i64, idist: i64, onembed: *const i64, ostride: i64, odist: i64, type_: cufftType, batch: i64, workSize: *mut usize);
        cufftGetSize since 6000 (handle: cufftHandle, workSize: *mut usize);
        cufftSetWorkArea since 6000 (plan: cufftHandle, workArea: CUdeviceptr);
        cufftSetAutoAllocation since 6000 (plan: cufftHandle, autoAllocate: c_int);
        cufftSetStream since 6000 (plan: cufftHandle, stream: CUstream);
        cufftExecC2C since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr, direction: c_int);
        cufftExecR2C since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr);
        cufftExecC2R since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr);
        cufftExecZ2Z since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr, direction: c_int);
        cufftExecD2Z since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr);
        cufftExecZ2D since 6000 (plan: cufftHandle, idata: CUdeviceptr, odata: CUdeviceptr);
        cufftGetVersion since 6000 (version: *mut c_int);
        cufftGetProperty since 8000 (type_: c_int, value: *mut c_int);
        cufftXtMakePlanMany since 8000 (plan: cufftHandle, rank: c_int, n: *const i64, inembed: *const i64, istride: i64, idist: i64, inputtype: cudaDataType, onembed: *const i64, ostride: i64, odist: i64, outputtype: cudaDataType, batch: i64, workSize: *mut usize, executiontype: cudaDataType);
        cufftXtGetSizeMany since 8000 (plan: cufftHandle, rank: c_int, n: *const i64, inembed: *const i64, istride: i64, idist: i64, inputtype: cudaDataType, onembed: *const i64, ostride: i64, odist: i64, outputtype: cudaDataType, batch: i64, workSize: *mut usize, executiontype: cudaDataType);
        cufftXtExec since 8000 (plan: cufftHandle, input: CUdeviceptr, output: CUdeviceptr, direction: c_int);
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "cuFFT, NVIDIA's library of Fourier transforms",
    name: "cuFFT",
    variable: "RTCG_CUFFT",
    dlopen_names: if cfg!(windows) {
        &["cufft64_12.dll", "cufft64_11.dll", "cufft64_10.dll"]
    } else {
        &["libcufft.so.12", "libcufft.so.11", "libcufft.so.10"]
    },
    is_file: |name| name.starts_with("libcufft.so"),
    is_preloaded_dependency: |_| false,
    hint: || super::wheel_hint("cufft", "RTCG_CUFFT"),
};
