// A part of cuRAND's device interface; here it is one header.
#pragma once
#include "curand_kernel.h"
