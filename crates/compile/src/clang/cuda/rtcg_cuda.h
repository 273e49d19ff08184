// The prelude: what CUDA C++ programs find declared without an include.
//
// The compiler driver precompiles it. All text after it, so the program itself, is for the device where it says nothing.
#pragma once
#pragma clang system_header
#include "rtcg_base.h"
#include "rtcg_intrinsics.h"
#include "rtcg_math_double.h"
#include "rtcg_math_float.h"
#include "rtcg_math.h"
// Those files turn it off for themselves.
#if __RTCG_FMAD
#pragma clang fp contract(fast)
#endif
#include "rtcg_atomics.h"
#include "rtcg_textures.h"
#include "initializer_list"
#pragma clang force_cuda_host_device begin
