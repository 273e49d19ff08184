// The part of the definitions; all of it is in cuda_fp4.h.
#include "cuda_fp4.h"
