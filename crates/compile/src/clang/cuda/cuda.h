// Types of CUDA's driver that device code names. Source: CUDA Driver API 13.0 (section "Data types used by CUDA driver").
#pragma once
#include "rtcg_cuda.h"

extern "C++" {

typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_UNKNOWN = 999 };
typedef enum cudaError_enum CUresult;
// A description of an array for copies by the tensor memory unit: 128 bytes that the driver writes.
typedef struct CUtensorMap_st { alignas(64) cuuint64_t opaque[16]; } CUtensorMap;
}
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
