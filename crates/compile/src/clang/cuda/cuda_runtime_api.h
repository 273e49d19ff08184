// The part of CUDA's runtime that device code may name: its types. Source: CUDA Runtime API 13.0.
#pragma once
#include "driver_types.h"
