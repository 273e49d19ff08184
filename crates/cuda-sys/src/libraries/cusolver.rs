//! The function table of cuSOLVER.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use super::cublas::{cublasDiagType_t, cublasFillMode_t, cublasOperation_t, cublasSideMode_t};
use super::{cudaDataType, enum_parameters, handle_parameters, named_library_table};
use crate::compiler_libraries::LibrarySearch;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};

cuda_handle!(cusolverDnHandle_t);
cuda_handle!(cusolverDnParams_t);
cuda_handle!(syevjInfo_t);
cuda_handle!(gesvdjInfo_t);
cuda_enum! {
    /// The result of a cuSOLVER call.
    cusolverStatus_t {
        CUSOLVER_STATUS_SUCCESS = 0,
        CUSOLVER_STATUS_NOT_INITIALIZED = 1,
        CUSOLVER_STATUS_ALLOC_FAILED = 2,
        CUSOLVER_STATUS_INVALID_VALUE = 3,
        CUSOLVER_STATUS_ARCH_MISMATCH = 4,
        CUSOLVER_STATUS_MAPPING_ERROR = 5,
        CUSOLVER_STATUS_EXECUTION_FAILED = 6,
        CUSOLVER_STATUS_INTERNAL_ERROR = 7,
        CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
        CUSOLVER_STATUS_NOT_SUPPORTED = 9,
        CUSOLVER_STATUS_ZERO_PIVOT = 10,
        CUSOLVER_STATUS_INVALID_LICENSE = 11,
        CUSOLVER_STATUS_INVALID_WORKSPACE = 31,
        RTCG_CUSOLVER_FUNCTION_MISSING = 0x7fff_0001,
    }
}

cuda_enum! {
    /// Whether vectors are computed.
    cusolverEigMode_t {
        CUSOLVER_EIG_MODE_NOVECTOR = 0,
        CUSOLVER_EIG_MODE_VECTOR = 1,
    }
}

enum_parameters!(cusolverEigMode_t);
handle_parameters!(cusolverDnHandle_t cusolverDnParams_t syevjInfo_t gesvdjInfo_t);

named_library_table! {
    /// cuSOLVER's functions, with the CUDA version that introduced each. One table per process, found once; see
    /// [`CusolverTable::load`].
    CusolverTable of cusolverStatus_t else RTCG_CUSOLVER_FUNCTION_MISSING, searched as LIBRARY_SEARCH by "RTCG_CUSOLVER", version by cusolverGetProperty {
        cusolverGetVersion since 8000 (version: *mut c_int);
        cusolverGetProperty since 8000 (type_: c_int, value: *mut c_int);
        cusolverDnCreate since 7000 (handle: *mut cusolverDnHandle_t);
        cusolverDnDestroy since 7000 (handle: cusolverDnHandle_t);
        cusolverDnSetStream since 7000 (handle: cusolverDnHandle_t, streamId: CUstream);
        cusolverDnGetStream since 7000 (handle: cusolverDnHandle_t, streamId: *mut CUstream);
        cusolverDnCreateParams since 11010 (params: *mut cusolverDnParams_t);
        cusolverDnDestroyParams since 11010 (params: cusolverDnParams_t);
        cusolverDnSetDeterministicMode since 12020 (handle: cusolverDnHandle_t, mode: c_int);
        cusolverDnGetDeterministicMode since 12020 (handle: cusolverDnHandle_t, mode: CUdeviceptr);
        cusolverDnSpotrf_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnSpotrf since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnDpotrf_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnDpotrf since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnCpotrf_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnCpotrf since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnZpotrf_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnZpotrf since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnSpotrs since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnDpotrs since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnCpotrs since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnZpotrs since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnSpotri_bufferSize since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnSpotri since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnDpotri_bufferSize since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnDpotri since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnCpotri_bufferSize since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnCpotri since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnZpotri_bufferSize since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnZpotri since 10010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnSgetrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnSgetrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, devIpiv: CUdeviceptr, devInfo: CUdeviceptr);
        cusolverDnDgetrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnDgetrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, devIpiv: CUdeviceptr, devInfo: CUdeviceptr);
        cusolverDnCgetrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnCgetrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, devIpiv: CUdeviceptr, devInfo: CUdeviceptr);
        cusolverDnZgetrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Lwork: *mut c_int);
        cusolverDnZgetrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, Workspace: CUdeviceptr, devIpiv: CUdeviceptr, devInfo: CUdeviceptr);
        cusolverDnSgetrs since 7000 (handle: cusolverDnHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnDgetrs since 7000 (handle: cusolverDnHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnCgetrs since 7000 (handle: cusolverDnHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnZgetrs since 7000 (handle: cusolverDnHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, B: CUdeviceptr, ldb: c_int, devInfo: CUdeviceptr);
        cusolverDnSgeqrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnSgeqrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, TAU: CUdeviceptr, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnDgeqrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnDgeqrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, TAU: CUdeviceptr, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnCgeqrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnCgeqrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, TAU: CUdeviceptr, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnZgeqrf_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, lwork: *mut c_int);
        cusolverDnZgeqrf since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, TAU: CUdeviceptr, Workspace: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnSorgqr_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnSorgqr since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnDorgqr_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnDorgqr since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnCungqr_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnCungqr since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnZungqr_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnZungqr since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnSormqr_bufferSize since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, lwork: *mut c_int);
        cusolverDnSormqr since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnDormqr_bufferSize since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, lwork: *mut c_int);
        cusolverDnDormqr since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnCunmqr_bufferSize since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, lwork: *mut c_int);
        cusolverDnCunmqr since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnZunmqr_bufferSize since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, lwork: *mut c_int);
        cusolverDnZunmqr since 7000 (handle: cusolverDnHandle_t, side: cublasSideMode_t, trans: cublasOperation_t, m: c_int, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, tau: CUdeviceptr, C: CUdeviceptr, ldc: c_int, work: CUdeviceptr, lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnSgesvd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, lwork: *mut c_int);
        cusolverDnSgesvd since 7000 (handle: cusolverDnHandle_t, jobu: c_schar, jobvt: c_schar, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, VT: CUdeviceptr, ldvt: c_int, work: CUdeviceptr, lwork: c_int, rwork: CUdeviceptr, info: CUdeviceptr);
        cusolverDnDgesvd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, lwork: *mut c_int);
        cusolverDnDgesvd since 7000 (handle: cusolverDnHandle_t, jobu: c_schar, jobvt: c_schar, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, VT: CUdeviceptr, ldvt: c_int, work: CUdeviceptr, lwork: c_int, rwork: CUdeviceptr, info: CUdeviceptr);
        cusolverDnCgesvd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, lwork: *mut c_int);
        cusolverDnCgesvd since 7000 (handle: cusolverDnHandle_t, jobu: c_schar, jobvt: c_schar, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, VT: CUdeviceptr, ldvt: c_int, work: CUdeviceptr, lwork: c_int, rwork: CUdeviceptr, info: CUdeviceptr);
        cusolverDnZgesvd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, lwork: *mut c_int);
        cusolverDnZgesvd since 7000 (handle: cusolverDnHandle_t, jobu: c_schar, jobvt: c_schar, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, VT: CUdeviceptr, ldvt: c_int, work: CUdeviceptr, lwork: c_int, rwork: CUdeviceptr, info: CUdeviceptr);
        cusolverDnSsyevd_bufferSize since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int);
        cusolverDnSsyevd since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnDsyevd_bufferSize since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int);
        cusolverDnDsyevd since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnCheevd_bufferSize since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int);
        cusolverDnCheevd since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnZheevd_bufferSize since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int);
        cusolverDnZheevd since 8000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnSsyevj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t);
        cusolverDnSsyevj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t);
        cusolverDnDsyevj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t);
        cusolverDnDsyevj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t);
        cusolverDnCheevj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t);
        cusolverDnCheevj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t);
        cusolverDnZheevj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t);
        cusolverDnZheevj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t);
        cusolverDnSsyevjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t, batchSize: c_int);
        cusolverDnSsyevjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t, batchSize: c_int);
        cusolverDnDsyevjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t, batchSize: c_int);
        cusolverDnDsyevjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t, batchSize: c_int);
        cusolverDnCheevjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t, batchSize: c_int);
        cusolverDnCheevjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t, batchSize: c_int);
        cusolverDnZheevjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, lwork: *mut c_int, params: syevjInfo_t, batchSize: c_int);
        cusolverDnZheevjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, W: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: syevjInfo_t, batchSize: c_int);
        cusolverDnSgesvdj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t);
        cusolverDnSgesvdj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t);
        cusolverDnDgesvdj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t);
        cusolverDnDgesvdj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t);
        cusolverDnCgesvdj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t);
        cusolverDnCgesvdj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t);
        cusolverDnZgesvdj_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t);
        cusolverDnZgesvdj since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, econ: c_int, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t);
        cusolverDnSgesvdjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnSgesvdjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnDgesvdjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnDgesvdjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnCgesvdjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnCgesvdjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnZgesvdjBatched_bufferSize since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, lwork: *mut c_int, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnZgesvdjBatched since 9000 (handle: cusolverDnHandle_t, jobz: cusolverEigMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, S: CUdeviceptr, U: CUdeviceptr, ldu: c_int, V: CUdeviceptr, ldv: c_int, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr, params: gesvdjInfo_t, batchSize: c_int);
        cusolverDnSsytrd_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnSsytrd since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnDsytrd_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnDsytrd since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnChetrd_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnChetrd since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnZhetrd_bufferSize since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, lwork: *mut c_int);
        cusolverDnZhetrd since 7000 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, A: CUdeviceptr, lda: c_int, d: CUdeviceptr, e: CUdeviceptr, tau: CUdeviceptr, work: CUdeviceptr, lwork: c_int, info: CUdeviceptr);
        cusolverDnSgebrd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, Lwork: *mut c_int);
        cusolverDnSgebrd since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, D: CUdeviceptr, E: CUdeviceptr, TAUQ: CUdeviceptr, TAUP: CUdeviceptr, Work: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnDgebrd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, Lwork: *mut c_int);
        cusolverDnDgebrd since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, D: CUdeviceptr, E: CUdeviceptr, TAUQ: CUdeviceptr, TAUP: CUdeviceptr, Work: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnCgebrd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, Lwork: *mut c_int);
        cusolverDnCgebrd since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, D: CUdeviceptr, E: CUdeviceptr, TAUQ: CUdeviceptr, TAUP: CUdeviceptr, Work: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnZgebrd_bufferSize since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, Lwork: *mut c_int);
        cusolverDnZgebrd since 7000 (handle: cusolverDnHandle_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, D: CUdeviceptr, E: CUdeviceptr, TAUQ: CUdeviceptr, TAUP: CUdeviceptr, Work: CUdeviceptr, Lwork: c_int, devInfo: CUdeviceptr);
        cusolverDnSpotrfBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, Aarray: CUdeviceptr, lda: c_int, infoArray: CUdeviceptr, batchSize: c_int);
        cusolverDnDpotrfBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, Aarray: CUdeviceptr, lda: c_int, infoArray: CUdeviceptr, batchSize: c_int);
        cusolverDnCpotrfBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, Aarray: CUdeviceptr, lda: c_int, infoArray: CUdeviceptr, batchSize: c_int);
        cusolverDnZpotrfBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, Aarray: CUdeviceptr, lda: c_int, infoArray: CUdeviceptr, batchSize: c_int);
        cusolverDnSpotrsBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, d_info: CUdeviceptr, batchSize: c_int);
        cusolverDnDpotrsBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, d_info: CUdeviceptr, batchSize: c_int);
        cusolverDnCpotrsBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, d_info: CUdeviceptr, batchSize: c_int);
        cusolverDnZpotrsBatched since 9010 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, n: c_int, nrhs: c_int, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, d_info: CUdeviceptr, batchSize: c_int);
        cusolverDnCreateSyevjInfo since 9000 (info: *mut syevjInfo_t);
        cusolverDnDestroySyevjInfo since 9000 (info: syevjInfo_t);
        cusolverDnXsyevjSetTolerance since 9000 (info: syevjInfo_t, tolerance: f64);
        cusolverDnXsyevjSetMaxSweeps since 9000 (info: syevjInfo_t, max_sweeps: c_int);
        cusolverDnXsyevjSetSortEig since 9000 (info: syevjInfo_t, sort_eig: c_int);
        cusolverDnXsyevjGetResidual since 9000 (handle: cusolverDnHandle_t, info: syevjInfo_t, residual: *mut f64);
        cusolverDnXsyevjGetSweeps since 9000 (handle: cusolverDnHandle_t, info: syevjInfo_t, executed_sweeps: *mut c_int);
        cusolverDnCreateGesvdjInfo since 9000 (info: *mut gesvdjInfo_t);
        cusolverDnDestroyGesvdjInfo since 9000 (info: gesvdjInfo_t);
        cusolverDnXgesvdjSetTolerance since 9000 (info: gesvdjInfo_t, tolerance: f64);
        cusolverDnXgesvdjSetMaxSweeps since 9000 (info: gesvdjInfo_t, max_sweeps: c_int);
        cusolverDnXgesvdjSetSortEig since 9000 (info: gesvdjInfo_t, sort_svd: c_int);
        cusolverDnXgesvdjGetResidual since 9000 (handle: cusolverDnHandle_t, info: gesvdjInfo_t, residual: *mut f64);
        cusolverDnXgesvdjGetSweeps since 9000 (handle: cusolverDnHandle_t, info: gesvdjInfo_t, executed_sweeps: *mut c_int);
        cusolverDnXpotrf_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXpotrf since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXgetrf_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXgetrf since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, ipiv: CUdeviceptr, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXgeqrf_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeTau: cudaDataType, tau: CUdeviceptr, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXgeqrf since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeTau: cudaDataType, tau: CUdeviceptr, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXgesvd_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobu: c_schar, jobvt: c_schar, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeS: cudaDataType, S: CUdeviceptr, dataTypeU: cudaDataType, U: CUdeviceptr, ldu: i64, dataTypeVT: cudaDataType, VT: CUdeviceptr, ldvt: i64, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXgesvd since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobu: c_schar, jobvt: c_schar, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeS: cudaDataType, S: CUdeviceptr, dataTypeU: cudaDataType, U: CUdeviceptr, ldu: i64, dataTypeVT: cudaDataType, VT: CUdeviceptr, ldvt: i64, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXgesvdp_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, econ: c_int, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeS: cudaDataType, S: CUdeviceptr, dataTypeU: cudaDataType, U: CUdeviceptr, ldu: i64, dataTypeV: cudaDataType, V: CUdeviceptr, ldv: i64, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXgesvdp since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, econ: c_int, m: i64, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeS: cudaDataType, S: CUdeviceptr, dataTypeU: cudaDataType, U: CUdeviceptr, ldu: i64, dataTypeV: cudaDataType, V: CUdeviceptr, ldv: i64, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, d_info: CUdeviceptr, h_err_sigma: *mut f64);
        cusolverDnXsyevd_bufferSize since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXsyevd since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXsyevBatched_bufferSize since 12060 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize, batchSize: i64);
        cusolverDnXsyevBatched since 12060 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobz: cusolverEigMode_t, uplo: cublasFillMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr, batchSize: i64);
        cusolverDnXgeev_bufferSize since 12080 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobvl: cusolverEigMode_t, jobvr: cusolverEigMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, dataTypeVL: cudaDataType, VL: CUdeviceptr, ldvl: i64, dataTypeVR: cudaDataType, VR: CUdeviceptr, ldvr: i64, computeType: cudaDataType, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXgeev since 12080 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, jobvl: cusolverEigMode_t, jobvr: cusolverEigMode_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeW: cudaDataType, W: CUdeviceptr, dataTypeVL: cudaDataType, VL: CUdeviceptr, ldvl: i64, dataTypeVR: cudaDataType, VR: CUdeviceptr, ldvr: i64, computeType: cudaDataType, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, info: CUdeviceptr);
        cusolverDnXtrtri_bufferSize since 11040 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, diag: cublasDiagType_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, workspaceInBytesOnDevice: *mut usize, workspaceInBytesOnHost: *mut usize);
        cusolverDnXtrtri since 11040 (handle: cusolverDnHandle_t, uplo: cublasFillMode_t, diag: cublasDiagType_t, n: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, bufferOnDevice: CUdeviceptr, workspaceInBytesOnDevice: usize, bufferOnHost: *mut c_void, workspaceInBytesOnHost: usize, devInfo: CUdeviceptr);
        cusolverDnXpotrs since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, uplo: cublasFillMode_t, n: i64, nrhs: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, dataTypeB: cudaDataType, B: CUdeviceptr, ldb: i64, info: CUdeviceptr);
        cusolverDnXgetrs since 11010 (handle: cusolverDnHandle_t, params: cusolverDnParams_t, trans: cublasOperation_t, n: i64, nrhs: i64, dataTypeA: cudaDataType, A: CUdeviceptr, lda: i64, ipiv: CUdeviceptr, dataTypeB: cudaDataType, B: CUdeviceptr, ldb: i64, info: CUdeviceptr);
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "cuSOLVER, NVIDIA's library of factorizations",
    name: "cuSOLVER",
    variable: "RTCG_CUSOLVER",
    dlopen_names: if cfg!(windows) {
        &["cusolver64_12.dll", "cusolver64_11.dll"]
    } else {
        &["libcusolver.so.12", "libcusolver.so.11"]
    },
    is_file: |name| name.starts_with("libcusolver.so"),
    is_preloaded_dependency: |name| {
        ["libcublasLt.so", "libcublas.so", "libnvJitLink.so", "libcusparse.so"]
            .iter()
            .any(|file| name.starts_with(file))
    },
    hint: || super::wheel_hint("cusolver", "RTCG_CUSOLVER"),
};
