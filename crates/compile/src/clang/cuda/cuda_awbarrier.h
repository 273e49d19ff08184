// `nvcuda::experimental::awbarrier`: a barrier in shared memory whose arrivals and waits are apart.
//
// Sources: CUDA C++ Programming Guide 11 to 13.0 ("Asynchronous Barrier"), PTX ISA 8.8 (mbarrier).
#pragma once
#pragma clang system_header
#include "cuda_awbarrier_primitives.h"

#if __CUDA_ARCH__ >= 800
extern "C++" {
namespace nvcuda {
namespace experimental {
class awbarrier {
    __mbarrier_t barrier_;
    friend __device__ __forceinline__ void init(awbarrier *barrier, unsigned expected_count) { __mbarrier_init(&barrier->barrier_, expected_count); }
    friend __device__ __forceinline__ void inval(awbarrier *barrier) { __mbarrier_inval(&barrier->barrier_); }
    friend class pipeline;

public:
    class arrival_token {
        __mbarrier_token_t token_ = 0;
        __device__ __forceinline__ explicit arrival_token(__mbarrier_token_t token) : token_(token) {}
        friend class awbarrier;

    public:
        arrival_token() = default;
        __device__ __forceinline__ unsigned pending_count() const { return __mbarrier_token_pending_count(token_); }
    };
    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;
    __device__ __forceinline__ arrival_token arrive() { return arrival_token(__mbarrier_arrive(&barrier_)); }
    __device__ __forceinline__ arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&barrier_)); }
    __device__ __forceinline__ void wait(arrival_token token) {
        while (!__mbarrier_test_wait(&barrier_, token.token_)) {}
    }
    __device__ __forceinline__ bool timed_wait(arrival_token token, unsigned hint_cycles) {
        const long long begin = clock64();
        do
            if (__mbarrier_test_wait(&barrier_, token.token_)) return true;
        while (clock64() - begin < (long long)hint_cycles);
        return false;
    }
    __device__ __forceinline__ void arrive_and_wait() { wait(arrive()); }
    static __device__ __forceinline__ unsigned max() { return __mbarrier_maximum_count(); }
};
// As names that need no search by the argument.
__device__ void init(awbarrier *barrier, unsigned expected_count);
__device__ void inval(awbarrier *barrier);
}
}
}
#endif
