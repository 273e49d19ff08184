// Asynchronous copies of a thread by functions: `__pipeline_*`.
//
// Sources: CUDA C++ Programming Guide 13.0 ("Asynchronous Data Copies", primitives interface), PTX ISA 8.8 (cp.async).
#pragma once
#pragma clang system_header
#include "cuda_awbarrier_primitives.h"

extern "C++" {
// 4, 8 or 16 bytes, of which the last `zfill` become zero.
RTCG_DEVICE void __pipeline_memcpy_async(void *__restrict__ dst_shared, const void *__restrict__ src_global, size_t size_and_align, size_t zfill = 0) {
    const unsigned taken = (unsigned)(size_and_align - zfill);
    const bool is_whole = __builtin_constant_p(zfill == 0) && zfill == 0;
    if (size_and_align == 16) is_whole ? __rtcg_async::copy<16>(dst_shared, src_global) : __rtcg_async::copy<16>(dst_shared, src_global, taken);
    else if (size_and_align == 8) is_whole ? __rtcg_async::copy<8>(dst_shared, src_global) : __rtcg_async::copy<8>(dst_shared, src_global, taken);
    else is_whole ? __rtcg_async::copy<4>(dst_shared, src_global) : __rtcg_async::copy<4>(dst_shared, src_global, taken);
}
RTCG_DEVICE void __pipeline_commit() { __rtcg_async::commit(); }
RTCG_DEVICE void __pipeline_wait_prior(size_t n) { __rtcg_async::wait_prior(n); }
// The barrier's phase ends no sooner than the copies that this thread has begun.
RTCG_DEVICE void __pipeline_arrive_on(__mbarrier_t *barrier) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" : : "r"(__rtcg_async::shared(barrier)) : "memory");
#else
    (void)barrier;
#endif
}
}
