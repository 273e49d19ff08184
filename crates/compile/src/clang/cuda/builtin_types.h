// Types of CUDA's runtime under an older name.
#pragma once
#include "device_types.h"
#include "driver_types.h"
