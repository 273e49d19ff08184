// Words of CUDA's headers that programs have taken over. Source: CUDA C++ Programming Guide 13.0, and what sources in the wild use.
#pragma once

#ifndef __CUDACC__
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#endif
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#ifndef __builtin_align__
#define __builtin_align__(n) __attribute__((aligned(n)))
#endif
#ifndef __device_builtin__
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#endif
#ifndef __location__
#define __annotate__(word) __attribute__((word))
#define __location__(word) __annotate__(word)
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
