// Variables in shared memory of classes with constructors and destructors, which are not run: NVRTC takes such variables in functions (and
// warns), clang does not.
//
// The compiler driver writes `__shared__ T x[4];` as `__shared__ __rtcg_shared<T[4]> __rtcg_x; auto &x = __rtcg_x.value;`.
#pragma once

extern "C++" {
// A union runs nothing of its members by itself.
template <class T> union __rtcg_shared {
    T value;
    __host__ __device__ __rtcg_shared() {}
    __host__ __device__ ~__rtcg_shared() {}
};
}
