// Barriers in shared memory by functions: `__mbarrier_t` and `__mbarrier_*`.
//
// Sources: CUDA C++ Programming Guide 13.0 ("Asynchronous Barrier", primitives interface), PTX ISA 8.8 (mbarrier). For compute
// capability 8.0 and newer.
#pragma once
#pragma clang system_header
#include "rtcg_async.h"

typedef unsigned long long __mbarrier_t __attribute__((aligned(8)));
typedef unsigned long long __mbarrier_token_t;

extern "C++" {
RTCG_DEVICE unsigned __mbarrier_maximum_count() { return (1u << 14) - 1; }
#if __CUDA_ARCH__ >= 800
RTCG_DEVICE void __mbarrier_init(__mbarrier_t *barrier, unsigned expected_count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(__rtcg_async::shared(barrier)), "r"(expected_count) : "memory");
}
RTCG_DEVICE void __mbarrier_inval(__mbarrier_t *barrier) { asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(__rtcg_async::shared(barrier)) : "memory"); }
#define RTCG_ARRIVE(name, text) \
    RTCG_DEVICE __mbarrier_token_t name(__mbarrier_t *barrier) { \
        __mbarrier_token_t token; \
        asm volatile("mbarrier." text ".shared.b64 %0, [%1];" : "=l"(token) : "r"(__rtcg_async::shared(barrier)) : "memory"); \
        return token; \
    }
RTCG_ARRIVE(__mbarrier_arrive, "arrive")
RTCG_ARRIVE(__mbarrier_arrive_and_drop, "arrive_drop")
#undef RTCG_ARRIVE
RTCG_DEVICE bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
    int is_over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                 : "=r"(is_over) : "r"(__rtcg_async::shared(barrier)), "l"(token) : "memory");
    return is_over;
}
RTCG_DEVICE unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) {
    unsigned count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}
RTCG_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool phase) {
    int is_over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                 : "=r"(is_over) : "r"(__rtcg_async::shared(barrier)), "r"((unsigned)phase) : "memory");
    return is_over;
}
#if __CUDA_ARCH__ >= 900
// These sleep until the phase is over, or for some time.
RTCG_DEVICE bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, unsigned max_sleep_nanosec) {
    int is_over;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2, %3; selp.s32 %0, 1, 0, p; }"
                 : "=r"(is_over) : "r"(__rtcg_async::shared(barrier)), "l"(token), "r"(max_sleep_nanosec) : "memory");
    return is_over;
}
RTCG_DEVICE bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool phase, unsigned max_sleep_nanosec) {
    int is_over;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3; selp.s32 %0, 1, 0, p; }"
                 : "=r"(is_over) : "r"(__rtcg_async::shared(barrier)), "r"((unsigned)phase), "r"(max_sleep_nanosec) : "memory");
    return is_over;
}
#endif
#endif
}
