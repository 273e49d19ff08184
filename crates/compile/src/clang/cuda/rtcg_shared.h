// Variables in shared memory of classes with constructors and destructors, which are not run: NVRTC takes such variables in functions (and
// warns), clang does not.
//
// The compiler driver writes `__shared__ T x[4];` as `__shared__ rtcg_shared<T[4]> rtcg_x; auto &x = rtcg_x.value;`.
#pragma once

extern "C++" {
// A union runs nothing of its members by itself.
template <class T> union rtcg_shared {
    T value;
    __host__ __device__ rtcg_shared() {}
    __host__ __device__ ~rtcg_shared() {}
};
}
