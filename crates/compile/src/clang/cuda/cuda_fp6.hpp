// The part of the definitions; all of it is in cuda_fp6.h.
#include "cuda_fp6.h"
