// `nvcuda::experimental::pipeline`: the asynchronous copies of a thread in the order of their commits. The functions of
// cuda_pipeline_primitives.h come along.
//
// Sources: CUDA C++ Programming Guide 11 to 13.0 ("Asynchronous Data Copies"), PTX ISA 8.8 (cp.async).
#pragma once
#pragma clang system_header
#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

extern "C++" {
namespace nvcuda {
namespace experimental {
class pipeline {
    size_t stage_ = 0;

public:
    pipeline() = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    __device__ __forceinline__ size_t commit() {
        __pipeline_commit();
        return stage_++;
    }
    __device__ __forceinline__ void commit_and_wait() { wait(commit()); }
    // Waits for the stage of this number, or for all but the last N.
    __device__ __forceinline__ void wait(size_t stage) {
        if (stage < stage_) __pipeline_wait_prior(stage_ - stage - 1);
    }
    template <unsigned N> __device__ __forceinline__ void wait_prior() { __rtcg_async::wait_prior<N>(); }
#if __CUDA_ARCH__ >= 800
    __device__ __forceinline__ void arrive_on(awbarrier &barrier) { __pipeline_arrive_on(&barrier.barrier_); }
#endif
};
template <class T> RTCG_DEVICE void memcpy_async(T &to, const T &from, pipeline &) {
    __rtcg_async::copy_by_group<1, __rtcg_async::alignment_of<T>::value>(&to, &from, sizeof(T), 0, 1);
}
}
}
}
