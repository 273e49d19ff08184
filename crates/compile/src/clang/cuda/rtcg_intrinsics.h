// Functions that CUDA C++ declares without an include, other than mathematics, textures and atomics.
#pragma once

#include "host_defines.h"
#include "rtcg_warp.h"
#include "rtcg_integer.h"
#include "rtcg_convert.h"
#include "rtcg_rounding.h"
#include "rtcg_memory.h"
#include "rtcg_cluster.h"
#include "rtcg_library.h"
