//! The function table of cuBLASLt: products of matrices with a choice of algorithms.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    reason = "the names of C, which NVIDIA's documentation describes"
)]

use super::cublas::{cublasComputeType_t, cublasStatus_t};
use super::cudaDataType;
use crate::compiler_libraries::{LazyFunctionTable, LibrarySearch, library_table};
use crate::load::LoadError;
use crate::types::*;
use crate::types::{cuda_enum, cuda_handle};

cuda_handle!(cublasLtHandle_t);
cuda_handle!(cublasLtMatmulDesc_t);
cuda_handle!(cublasLtMatrixLayout_t);
cuda_handle!(cublasLtMatmulPreference_t);

cuda_enum! {
    /// What is done with a product before it is stored.
    cublasLtEpilogue_t {
        CUBLASLT_EPILOGUE_DEFAULT = 1,
        CUBLASLT_EPILOGUE_RELU = 2,
        CUBLASLT_EPILOGUE_BIAS = 4,
        CUBLASLT_EPILOGUE_RELU_BIAS = 6,
        CUBLASLT_EPILOGUE_GELU = 32,
        CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    }
}

pub const CUBLASLT_MATMUL_DESC_TRANSA: c_int = 3;
pub const CUBLASLT_MATMUL_DESC_TRANSB: c_int = 4;
pub const CUBLASLT_MATMUL_DESC_EPILOGUE: c_int = 7;
pub const CUBLASLT_MATMUL_DESC_BIAS_POINTER: c_int = 8;
pub const CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: c_int = 5;
pub const CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: c_int = 6;
pub const CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: c_int = 1;
pub const CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: c_int = 5;
pub const CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: c_int = 6;
pub const CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: c_int = 7;
pub const CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: c_int = 8;

/// An algorithm, as the library describes it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(C)]
pub struct cublasLtMatmulAlgo_t {
    pub data: [u64; 8],
}

/// An algorithm that the heuristic found.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct cublasLtMatmulHeuristicResult_t {
    pub algo: cublasLtMatmulAlgo_t,
    pub workspaceSize: usize,
    pub state: c_int,
    pub wavesCount: f32,
    pub reserved: [c_int; 4],
}

library_table! {
    /// cuBLASLt's functions, with the CUDA version that introduced each. One table per process, found once; see
    /// [`CublasLtTable::load`].
    CublasLtTable of cublasStatus_t else RTCG_CUBLAS_FUNCTION_MISSING {
        cublasLtCreate since 10010 (lightHandle: *mut cublasLtHandle_t);
        cublasLtDestroy since 10010 (lightHandle: cublasLtHandle_t);
        cublasLtMatmulDescCreate since 10010 (matmulDesc: *mut cublasLtMatmulDesc_t, computeType: cublasComputeType_t, scaleType: cudaDataType);
        cublasLtMatmulDescDestroy since 10010 (matmulDesc: cublasLtMatmulDesc_t);
        cublasLtMatmulDescSetAttribute since 10010 (matmulDesc: cublasLtMatmulDesc_t, attr: c_int, buf: *const c_void, sizeInBytes: usize);
        cublasLtMatrixLayoutCreate since 10010 (matLayout: *mut cublasLtMatrixLayout_t, type_: cudaDataType, rows: u64, cols: u64, ld: i64);
        cublasLtMatrixLayoutDestroy since 10010 (matLayout: cublasLtMatrixLayout_t);
        cublasLtMatrixLayoutSetAttribute since 10010 (matLayout: cublasLtMatrixLayout_t, attr: c_int, buf: *const c_void, sizeInBytes: usize);
        cublasLtMatmulPreferenceCreate since 10010 (pref: *mut cublasLtMatmulPreference_t);
        cublasLtMatmulPreferenceDestroy since 10010 (pref: cublasLtMatmulPreference_t);
        cublasLtMatmulPreferenceSetAttribute since 10010 (pref: cublasLtMatmulPreference_t, attr: c_int, buf: *const c_void, sizeInBytes: usize);
        cublasLtMatmulAlgoGetHeuristic since 10010 (lightHandle: cublasLtHandle_t, operationDesc: cublasLtMatmulDesc_t, Adesc: cublasLtMatrixLayout_t, Bdesc: cublasLtMatrixLayout_t, Cdesc: cublasLtMatrixLayout_t, Ddesc: cublasLtMatrixLayout_t, preference: cublasLtMatmulPreference_t, requestedAlgoCount: c_int, heuristicResultsArray: *mut cublasLtMatmulHeuristicResult_t, returnAlgoCount: *mut c_int);
        cublasLtMatmul since 10010 (lightHandle: cublasLtHandle_t, computeDesc: cublasLtMatmulDesc_t, alpha: *const c_void, A: CUdeviceptr, Adesc: cublasLtMatrixLayout_t, B: CUdeviceptr, Bdesc: cublasLtMatrixLayout_t, beta: *const c_void, C: CUdeviceptr, Cdesc: cublasLtMatrixLayout_t, D: CUdeviceptr, Ddesc: cublasLtMatrixLayout_t, algo: *const cublasLtMatmulAlgo_t, workspace: CUdeviceptr, workspaceSizeInBytes: usize, stream: CUstream);
    }
}

static LOADED_TABLE: LazyFunctionTable<CublasLtTable> = LazyFunctionTable::new();

impl CublasLtTable {
    /// The cuBLASLt of this process, found and opened by the first call that succeeds: as
    /// [`CublasTable::load`](super::cublas::CublasTable::load), with the variable `RTCG_CUBLASLT`.
    pub fn load() -> Result<&'static CublasLtTable, LoadError> {
        LOADED_TABLE.get_or_load(|| {
            LIBRARY_SEARCH.find_library(|library, path| {
                Some(CublasLtTable::resolve_functions(library, path))
                    .filter(|table| table.has_function("cublasLtMatmul"))
            })
        })
    }
}

const LIBRARY_SEARCH: LibrarySearch = LibrarySearch {
    what: "cuBLASLt, NVIDIA's library of matrix products",
    name: "cuBLASLt",
    variable: "RTCG_CUBLASLT",
    dlopen_names: if cfg!(windows) {
        &["cublasLt64_13.dll", "cublasLt64_12.dll", "cublasLt64_11.dll"]
    } else {
        &["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"]
    },
    is_file: |name| name.starts_with("libcublasLt.so"),
    is_preloaded_dependency: |_| false,
    hint: || super::wheel_hint("cublas", "RTCG_CUBLASLT"),
};
