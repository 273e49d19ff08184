// What CUDA declares under this name is in the prelude.
#pragma once
#include "rtcg_cuda.h"
