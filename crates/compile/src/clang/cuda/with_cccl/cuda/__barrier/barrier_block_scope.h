// CCCL's header of this name without its assertions: until CCCL 3.5 one of them asks for a member of a null pointer where the compiler is NVRTC,
// which clang takes for no constant.
#pragma once
#pragma push_macro("static_assert")
#define static_assert(...)
#include_next <cuda/__barrier/barrier_block_scope.h>
#pragma pop_macro("static_assert")
