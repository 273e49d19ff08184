// What the headers of CCCL (libcu++, CUB, Thrust) expect of their surroundings: they are to take this compiler for NVRTC, and to find the types
// of CUDA's runtime that NVRTC declares.
//
// Sources: CCCL 3.6 (`cuda/std/__cccl/compiler.h` and what uses its macros), NVRTC documentation 13.0 (predefined macros, built-in
// `initializer_list`), CUDA Runtime API 13.0 (data types).
#pragma once

// CCCL asks for these before `__CUDACC_RTC__`.
#undef __clang__
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#ifndef __CUDACC_RTC__
#define __CUDACC_RTC__ 1
#endif
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
// The version must be that of `CUDART_VERSION`.
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
// No warnings about its own code.
#define _CCCL_IMPLICIT_SYSTEM_HEADER_CLANG
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#ifndef __NV_BUILTIN_INITIALIZER_LIST
#define __NV_BUILTIN_INITIALIZER_LIST 1
#endif
#include "driver_types.h"
#include "rtcg_builtins.h"
#include <initializer_list>

extern "C++" {
enum cudaAccessProperty { cudaAccessPropertyNormal = 0, cudaAccessPropertyStreaming = 1, cudaAccessPropertyPersisting = 2 };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault = 0, cudaSharedMemBankSizeFourByte = 1, cudaSharedMemBankSizeEightByte = 2 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13, cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrUnifiedAddressing = 41, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83, cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
// Where a pointer's accesses should stay in the cache: a hint, which is not taken.
RTCG_DEVICE void *__nv_associate_access_property(const void *pointer, unsigned long long) { return const_cast<void *>(pointer); }
// Thrust names this in templates that nobody instantiates; CUB declares it for compilers of host code only.
namespace cub {
cudaError_t SyncStream(cudaStream_t);
}
}
