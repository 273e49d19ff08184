//! The function table of cuBLAS.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use super::{InOut, cuComplex, cuDoubleComplex, cudaDataType, enum_parameters, handle_parameters, named_library_table};
use crate::compiler_libraries::LibrarySearch;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};

cuda_handle!(cublasHandle_t);
cuda_enum! {
    /// The result of a cuBLAS call.
    cublasStatus_t {
        CUBLAS_STATUS_SUCCESS = 0,
        CUBLAS_STATUS_NOT_INITIALIZED = 1,
        CUBLAS_STATUS_ALLOC_FAILED = 3,
        CUBLAS_STATUS_INVALID_VALUE = 7,
        CUBLAS_STATUS_ARCH_MISMATCH = 8,
        CUBLAS_STATUS_MAPPING_ERROR = 11,
        CUBLAS_STATUS_EXECUTION_FAILED = 13,
        CUBLAS_STATUS_INTERNAL_ERROR = 14,
        CUBLAS_STATUS_NOT_SUPPORTED = 15,
        CUBLAS_STATUS_LICENSE_ERROR = 16,
        RTCG_CUBLAS_FUNCTION_MISSING = 0x7fff_0001,
    }
}

cuda_enum! {
    /// How an operand is transposed.
    cublasOperation_t {
        CUBLAS_OP_N = 0,
        CUBLAS_OP_T = 1,
        CUBLAS_OP_C = 2,
    }
}

cuda_enum! {
    /// The triangle of a matrix that is used.
    cublasFillMode_t {
        CUBLAS_FILL_MODE_LOWER = 0,
        CUBLAS_FILL_MODE_UPPER = 1,
        CUBLAS_FILL_MODE_FULL = 2,
    }
}

cuda_enum! {
    /// Whether a triangular matrix has ones on its diagonal, which is not read then.
    cublasDiagType_t {
        CUBLAS_DIAG_NON_UNIT = 0,
        CUBLAS_DIAG_UNIT = 1,
    }
}

cuda_enum! {
    /// The side of a product on which a matrix is.
    cublasSideMode_t {
        CUBLAS_SIDE_LEFT = 0,
        CUBLAS_SIDE_RIGHT = 1,
    }
}

cuda_enum! {
    /// Where scalars are.
    cublasPointerMode_t {
        CUBLAS_POINTER_MODE_HOST = 0,
        CUBLAS_POINTER_MODE_DEVICE = 1,
    }
}

cuda_enum! {
    /// Which arithmetic a handle may use.
    cublasMath_t {
        CUBLAS_DEFAULT_MATH = 0,
        CUBLAS_TENSOR_OP_MATH = 1,
        CUBLAS_PEDANTIC_MATH = 2,
        CUBLAS_TF32_TENSOR_OP_MATH = 3,
        CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
        CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
        CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
    }
}

cuda_enum! {
    /// The arithmetic of a product.
    cublasComputeType_t {
        CUBLAS_COMPUTE_16F = 64,
        CUBLAS_COMPUTE_16F_PEDANTIC = 65,
        CUBLAS_COMPUTE_32F = 68,
        CUBLAS_COMPUTE_32F_PEDANTIC = 69,
        CUBLAS_COMPUTE_64F = 70,
        CUBLAS_COMPUTE_64F_PEDANTIC = 71,
        CUBLAS_COMPUTE_32I = 72,
        CUBLAS_COMPUTE_32I_PEDANTIC = 73,
        CUBLAS_COMPUTE_32F_FAST_16F = 74,
        CUBLAS_COMPUTE_32F_FAST_16BF = 75,
        CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
        CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
        CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
    }
}

enum_parameters! {
    cublasOperation_t cublasFillMode_t cublasDiagType_t cublasSideMode_t cublasPointerMode_t cublasMath_t
    cublasComputeType_t
}
handle_parameters!(cublasHandle_t);

/// The default of `algo` in the functions `cublasGemm*Ex`.
pub const CUBLAS_GEMM_DEFAULT: c_int = -1;

named_library_table! {
    /// cuBLAS's functions, with the CUDA version that introduced each. One table per process, found once; see
    /// [`CublasTable::load`].
    CublasTable of cublasStatus_t else RTCG_CUBLAS_FUNCTION_MISSING, searched as LIBRARY_SEARCH by "RTCG_CUBLAS", version by cublasGetProperty {
        cublasCreate_v2 since 6000 (handle: *mut cublasHandle_t);
        cublasDestroy_v2 since 6000 (handle: cublasHandle_t);
        cublasGetVersion_v2 since 6000 (handle: cublasHandle_t, version: *mut c_int);
        cublasSetStream_v2 since 6000 (handle: cublasHandle_t, streamId: CUstream);
        cublasGetStream_v2 since 6000 (handle: cublasHandle_t, streamId: *mut CUstream);
        cublasSetWorkspace_v2 since 11020 (handle: cublasHandle_t, workspace: CUdeviceptr, workspaceSizeInBytes: usize);
        cublasGetPointerMode_v2 since 6000 (handle: cublasHandle_t, mode: *mut cublasPointerMode_t);
        cublasSetPointerMode_v2 since 6000 (handle: cublasHandle_t, mode: cublasPointerMode_t);
        cublasGetProperty since 8000 (type_: c_int, value: *mut c_int);
        cublasGetMathMode since 9000 (handle: cublasHandle_t, mode: *mut cublasMath_t);
        cublasSetMathMode since 9000 (handle: cublasHandle_t, mode: cublasMath_t);
        cublasGetAtomicsMode since 6000 (handle: cublasHandle_t, mode: *mut c_int);
        cublasSetAtomicsMode since 6000 (handle: cublasHandle_t, mode: c_int);
        cublasIsamax_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIdamax_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIcamax_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIzamax_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIsamin_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIdamin_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIcamin_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasIzamin_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut c_int);
        cublasSasum_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f32);
        cublasDasum_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f64);
        cublasScasum_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f32);
        cublasDzasum_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f64);
        cublasSnrm2_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f32);
        cublasDnrm2_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f64);
        cublasScnrm2_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f32);
        cublasDznrm2_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, result: *mut f64);
        cublasSaxpy_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasDaxpy_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasCaxpy_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasZaxpy_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasScopy_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasDcopy_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasCcopy_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasZcopy_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasSswap_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasDswap_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasCswap_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasZswap_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int);
        cublasSscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int);
        cublasDscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int);
        cublasCscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int);
        cublasZscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int);
        cublasSrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f32, s: *const f32);
        cublasDrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f64, s: *const f64);
        cublasCrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f32, s: *const cuComplex);
        cublasZrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f64, s: *const cuDoubleComplex);
        cublasSrotg_v2 since 6000 (handle: cublasHandle_t, a: InOut<f32>, b: InOut<f32>, c: *mut f32, s: *mut f32);
        cublasDrotg_v2 since 6000 (handle: cublasHandle_t, a: InOut<f64>, b: InOut<f64>, c: *mut f64, s: *mut f64);
        cublasCrotg_v2 since 6000 (handle: cublasHandle_t, a: InOut<cuComplex>, b: InOut<cuComplex>, c: *mut f32, s: *mut cuComplex);
        cublasZrotg_v2 since 6000 (handle: cublasHandle_t, a: InOut<cuDoubleComplex>, b: InOut<cuDoubleComplex>, c: *mut f64, s: *mut cuDoubleComplex);
        cublasCsscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int);
        cublasZdscal_v2 since 6000 (handle: cublasHandle_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int);
        cublasCsrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f32, s: *const f32);
        cublasZdrot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, c: *const f64, s: *const f64);
        cublasSdot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut f32);
        cublasDdot_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut f64);
        cublasSrotm_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, param: *const [f32; 5]);
        cublasDrotm_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, param: *const [f64; 5]);
        cublasSrotmg_v2 since 6000 (handle: cublasHandle_t, d1: InOut<f32>, d2: InOut<f32>, x1: InOut<f32>, y1: *const f32, param: *mut [f32; 5]);
        cublasDrotmg_v2 since 6000 (handle: cublasHandle_t, d1: InOut<f64>, d2: InOut<f64>, x1: InOut<f64>, y1: *const f64, param: *mut [f64; 5]);
        cublasCdotu_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut cuComplex);
        cublasZdotu_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut cuDoubleComplex);
        cublasCdotc_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut cuComplex);
        cublasZdotc_v2 since 6000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, result: *mut cuDoubleComplex);
        cublasSgemv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f32, y: CUdeviceptr, incy: c_int);
        cublasDgemv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f64, y: CUdeviceptr, incy: c_int);
        cublasCgemv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZgemv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasSgbmv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, kl: c_int, ku: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f32, y: CUdeviceptr, incy: c_int);
        cublasDgbmv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, kl: c_int, ku: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f64, y: CUdeviceptr, incy: c_int);
        cublasCgbmv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, kl: c_int, ku: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZgbmv_v2 since 6000 (handle: cublasHandle_t, trans: cublasOperation_t, m: c_int, n: c_int, kl: c_int, ku: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasStrmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasDtrmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasCtrmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasZtrmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasStrsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasDtrsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasCtrsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasZtrsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasStbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasDtbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasCtbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasZtbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasStbsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasDtbsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasCtbsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasZtbsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, k: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int);
        cublasStpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasDtpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasCtpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasZtpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasStpsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasDtpsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasCtpsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasZtpsv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, n: c_int, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int);
        cublasSsymv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f32, y: CUdeviceptr, incy: c_int);
        cublasDsymv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f64, y: CUdeviceptr, incy: c_int);
        cublasCsymv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZsymv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasSsyr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasDsyr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasCsyr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasZsyr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasSsyr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasDsyr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasCsyr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasZsyr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasSger_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasDger_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasSsbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f32, y: CUdeviceptr, incy: c_int);
        cublasDsbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const f64, y: CUdeviceptr, incy: c_int);
        cublasSspmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int, beta: *const f32, y: CUdeviceptr, incy: c_int);
        cublasDspmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int, beta: *const f64, y: CUdeviceptr, incy: c_int);
        cublasSspr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, AP: CUdeviceptr);
        cublasDspr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, AP: CUdeviceptr);
        cublasSspr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, AP: CUdeviceptr);
        cublasDspr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, AP: CUdeviceptr);
        cublasCgeru_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasZgeru_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasCgerc_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasZgerc_v2 since 6000 (handle: cublasHandle_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasChemv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZhemv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasChbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZhbmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasChpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int, beta: *const cuComplex, y: CUdeviceptr, incy: c_int);
        cublasZhpmv_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, AP: CUdeviceptr, x: CUdeviceptr, incx: c_int, beta: *const cuDoubleComplex, y: CUdeviceptr, incy: c_int);
        cublasCher_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasZher_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, A: CUdeviceptr, lda: c_int);
        cublasCher2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasZher2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, A: CUdeviceptr, lda: c_int);
        cublasChpr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f32, x: CUdeviceptr, incx: c_int, AP: CUdeviceptr);
        cublasZhpr_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const f64, x: CUdeviceptr, incx: c_int, AP: CUdeviceptr);
        cublasChpr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, AP: CUdeviceptr);
        cublasZhpr2_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, n: c_int, alpha: *const cuDoubleComplex, x: CUdeviceptr, incx: c_int, y: CUdeviceptr, incy: c_int, AP: CUdeviceptr);
        cublasSgemm_v2 since 6000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasDgemm_v2 since 6000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasCgemm_v2 since 6000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int);
        cublasZgemm_v2 since 6000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int);
        cublasSsymm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasDsymm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasCsymm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int);
        cublasZsymm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int);
        cublasSsyrk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasDsyrk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasCsyrk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int);
        cublasZsyrk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int);
        cublasSsyr2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasDsyr2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasCsyr2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int);
        cublasZsyr2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int);
        cublasStrmm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasDtrmm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasCtrmm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasZtrmm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasStrsm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int);
        cublasDtrsm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int);
        cublasCtrsm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int);
        cublasZtrsm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int);
        cublasChemm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int);
        cublasZhemm_v2 since 6000 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int);
        cublasCherk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasZherk_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasCher2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f32, C: CUdeviceptr, ldc: c_int);
        cublasZher2k_v2 since 6000 (handle: cublasHandle_t, uplo: cublasFillMode_t, trans: cublasOperation_t, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, beta: *const f64, C: CUdeviceptr, ldc: c_int);
        cublasSgeam since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, beta: *const f32, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasDgeam since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, beta: *const f64, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasCgeam since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, beta: *const cuComplex, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasZgeam since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, beta: *const cuDoubleComplex, B: CUdeviceptr, ldb: c_int, C: CUdeviceptr, ldc: c_int);
        cublasSdgmm since 6050 (handle: cublasHandle_t, mode: cublasSideMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, C: CUdeviceptr, ldc: c_int);
        cublasDdgmm since 6050 (handle: cublasHandle_t, mode: cublasSideMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, C: CUdeviceptr, ldc: c_int);
        cublasCdgmm since 6050 (handle: cublasHandle_t, mode: cublasSideMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, C: CUdeviceptr, ldc: c_int);
        cublasZdgmm since 6050 (handle: cublasHandle_t, mode: cublasSideMode_t, m: c_int, n: c_int, A: CUdeviceptr, lda: c_int, x: CUdeviceptr, incx: c_int, C: CUdeviceptr, ldc: c_int);
        cublasSgemmBatched since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f32, Aarray: CUdeviceptr, lda: c_int, Barray: CUdeviceptr, ldb: c_int, beta: *const f32, Carray: CUdeviceptr, ldc: c_int, batchCount: c_int);
        cublasDgemmBatched since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f64, Aarray: CUdeviceptr, lda: c_int, Barray: CUdeviceptr, ldb: c_int, beta: *const f64, Carray: CUdeviceptr, ldc: c_int, batchCount: c_int);
        cublasCgemmBatched since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuComplex, Aarray: CUdeviceptr, lda: c_int, Barray: CUdeviceptr, ldb: c_int, beta: *const cuComplex, Carray: CUdeviceptr, ldc: c_int, batchCount: c_int);
        cublasZgemmBatched since 6050 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuDoubleComplex, Aarray: CUdeviceptr, lda: c_int, Barray: CUdeviceptr, ldb: c_int, beta: *const cuDoubleComplex, Carray: CUdeviceptr, ldc: c_int, batchCount: c_int);
        cublasSgemmStridedBatched since 8000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, strideA: i64, B: CUdeviceptr, ldb: c_int, strideB: i64, beta: *const f32, C: CUdeviceptr, ldc: c_int, strideC: i64, batchCount: c_int);
        cublasDgemmStridedBatched since 8000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, strideA: i64, B: CUdeviceptr, ldb: c_int, strideB: i64, beta: *const f64, C: CUdeviceptr, ldc: c_int, strideC: i64, batchCount: c_int);
        cublasCgemmStridedBatched since 8000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, strideA: i64, B: CUdeviceptr, ldb: c_int, strideB: i64, beta: *const cuComplex, C: CUdeviceptr, ldc: c_int, strideC: i64, batchCount: c_int);
        cublasZgemmStridedBatched since 8000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, strideA: i64, B: CUdeviceptr, ldb: c_int, strideB: i64, beta: *const cuDoubleComplex, C: CUdeviceptr, ldc: c_int, strideC: i64, batchCount: c_int);
        cublasStrsmBatched since 6050 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f32, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, batchCount: c_int);
        cublasDtrsmBatched since 6050 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const f64, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, batchCount: c_int);
        cublasCtrsmBatched since 6050 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, batchCount: c_int);
        cublasZtrsmBatched since 6050 (handle: cublasHandle_t, side: cublasSideMode_t, uplo: cublasFillMode_t, trans: cublasOperation_t, diag: cublasDiagType_t, m: c_int, n: c_int, alpha: *const cuDoubleComplex, A: CUdeviceptr, lda: c_int, B: CUdeviceptr, ldb: c_int, batchCount: c_int);
        cublasSgetrfBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, info: CUdeviceptr, batchSize: c_int);
        cublasDgetrfBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, info: CUdeviceptr, batchSize: c_int);
        cublasCgetrfBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, info: CUdeviceptr, batchSize: c_int);
        cublasZgetrfBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, info: CUdeviceptr, batchSize: c_int);
        cublasSgetrsBatched since 6050 (handle: cublasHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, Aarray: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, Barray: CUdeviceptr, ldb: c_int, info: *mut c_int, batchSize: c_int);
        cublasDgetrsBatched since 6050 (handle: cublasHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, Aarray: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, Barray: CUdeviceptr, ldb: c_int, info: *mut c_int, batchSize: c_int);
        cublasCgetrsBatched since 6050 (handle: cublasHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, Aarray: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, Barray: CUdeviceptr, ldb: c_int, info: *mut c_int, batchSize: c_int);
        cublasZgetrsBatched since 6050 (handle: cublasHandle_t, trans: cublasOperation_t, n: c_int, nrhs: c_int, Aarray: CUdeviceptr, lda: c_int, devIpiv: CUdeviceptr, Barray: CUdeviceptr, ldb: c_int, info: *mut c_int, batchSize: c_int);
        cublasSgetriBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, C: CUdeviceptr, ldc: c_int, info: CUdeviceptr, batchSize: c_int);
        cublasDgetriBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, C: CUdeviceptr, ldc: c_int, info: CUdeviceptr, batchSize: c_int);
        cublasCgetriBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, C: CUdeviceptr, ldc: c_int, info: CUdeviceptr, batchSize: c_int);
        cublasZgetriBatched since 6050 (handle: cublasHandle_t, n: c_int, A: CUdeviceptr, lda: c_int, P: CUdeviceptr, C: CUdeviceptr, ldc: c_int, info: CUdeviceptr, batchSize: c_int);
        cublasSgeqrfBatched since 6050 (handle: cublasHandle_t, m: c_int, n: c_int, Aarray: CUdeviceptr, lda: c_int, TauArray: CUdeviceptr, info: *mut c_int, batchSize: c_int);
        cublasDgeqrfBatched since 6050 (handle: cublasHandle_t, m: c_int, n: c_int, Aarray: CUdeviceptr, lda: c_int, TauArray: CUdeviceptr, info: *mut c_int, batchSize: c_int);
        cublasCgeqrfBatched since 6050 (handle: cublasHandle_t, m: c_int, n: c_int, Aarray: CUdeviceptr, lda: c_int, TauArray: CUdeviceptr, info: *mut c_int, batchSize: c_int);
        cublasZgeqrfBatched since 6050 (handle: cublasHandle_t, m: c_int, n: c_int, Aarray: CUdeviceptr, lda: c_int, TauArray: CUdeviceptr, info: *mut c_int, batchSize: c_int);
        cublasGemmEx since 8000 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const c_void, A: CUdeviceptr, Atype: cudaDataType, lda: c_int, B: CUdeviceptr, Btype: cudaDataType, ldb: c_int, beta: *const c_void, C: CUdeviceptr, Ctype: cudaDataType, ldc: c_int, computeType: cublasComputeType_t, algo: c_int);
        cublasGemmBatchedEx since 9010 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const c_void, Aarray: CUdeviceptr, Atype: cudaDataType, lda: c_int, Barray: CUdeviceptr, Btype: cudaDataType, ldb: c_int, beta: *const c_void, Carray: CUdeviceptr, Ctype: cudaDataType, ldc: c_int, batchCount: c_int, computeType: cublasComputeType_t, algo: c_int);
        cublasGemmStridedBatchedEx since 9010 (handle: cublasHandle_t, transa: cublasOperation_t, transb: cublasOperation_t, m: c_int, n: c_int, k: c_int, alpha: *const c_void, A: CUdeviceptr, Atype: cudaDataType, lda: c_int, strideA: i64, B: CUdeviceptr, Btype: cudaDataType, ldb: c_int, strideB: i64, beta: *const c_void, C: CUdeviceptr, Ctype: cudaDataType, ldc: c_int, strideC: i64, batchCount: c_int, computeType: cublasComputeType_t, algo: c_int);
        cublasAxpyEx since 8000 (handle: cublasHandle_t, n: c_int, alpha: *const c_void, alphaType: cudaDataType, x: CUdeviceptr, xType: cudaDataType, incx: c_int, y: CUdeviceptr, yType: cudaDataType, incy: c_int, executiontype: cudaDataType);
        cublasDotEx since 8000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, xType: cudaDataType, incx: c_int, y: CUdeviceptr, yType: cudaDataType, incy: c_int, result: *mut c_void, resultType: cudaDataType, executionType: cudaDataType);
        cublasDotcEx since 8000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, xType: cudaDataType, incx: c_int, y: CUdeviceptr, yType: cudaDataType, incy: c_int, result: *mut c_void, resultType: cudaDataType, executionType: cudaDataType);
        cublasNrm2Ex since 8000 (handle: cublasHandle_t, n: c_int, x: CUdeviceptr, xType: cudaDataType, incx: c_int, result: *mut c_void, resultType: cudaDataType, executionType: cudaDataType);
        cublasScalEx since 8000 (handle: cublasHandle_t, n: c_int, alpha: *const c_void, alphaType: cudaDataType, x: CUdeviceptr, xType: cudaDataType, incx: c_int, executionType: cudaDataType);
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "cuBLAS, NVIDIA's library of linear algebra",
    name: "cuBLAS",
    variable: "RTCG_CUBLAS",
    dlopen_names: if cfg!(windows) {
        &["cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"]
    } else {
        &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"]
    },
    is_file: |name| name.starts_with("libcublas.so"),
    is_preloaded_dependency: |name| name.starts_with("libcublasLt.so"),
    hint: || super::wheel_hint("cublas", "RTCG_CUBLAS"),
};
