// What device code finds in CUDA's header of this name: the prelude and the runtime's types.
#pragma once
#include "cuda_runtime_api.h"
