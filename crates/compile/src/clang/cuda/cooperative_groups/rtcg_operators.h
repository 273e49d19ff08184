// The operators of reductions and scans by name, and which of them a warp has an instruction for.
//
// Sources: CUDA C++ Programming Guide 13.0 ("Cooperative Groups", reduce), PTX ISA 8.8 (redux.sync).
#pragma once
#pragma clang system_header
#include "../cooperative_groups.h"

extern "C++" {
namespace cooperative_groups {
#define RTCG_OPERATOR(name, expression) \
    template <typename T> struct name { \
        __device__ __forceinline__ T operator()(T a, T b) const { return expression; } \
    };
RTCG_OPERATOR(plus, a + b)
RTCG_OPERATOR(less, b < a ? b : a)
RTCG_OPERATOR(greater, a < b ? b : a)
RTCG_OPERATOR(bit_and, a & b)
RTCG_OPERATOR(bit_or, a | b)
RTCG_OPERATOR(bit_xor, a ^ b)
#undef RTCG_OPERATOR

// `__rtcg_redux<T, F>::exists`: values of type T by the operator F in one instruction.
template <class T, class F> struct __rtcg_redux {
    static constexpr bool exists = false;
    static __device__ __forceinline__ T all(unsigned, T value) { return value; }
};
#if __CUDA_ARCH__ >= 800
#define RTCG_REDUX(op, type, call) \
    template <> struct __rtcg_redux<type, op<type>> { \
        static constexpr bool exists = true; \
        static __device__ __forceinline__ type all(unsigned mask, type value) { return (type)call(mask, value); } \
    };
#define RTCG_REDUX_BOTH(op, call) RTCG_REDUX(op, int, call) RTCG_REDUX(op, unsigned, call)
RTCG_REDUX_BOTH(plus, __reduce_add_sync)
RTCG_REDUX_BOTH(less, __reduce_min_sync)
RTCG_REDUX_BOTH(greater, __reduce_max_sync)
RTCG_REDUX_BOTH(bit_and, __reduce_and_sync)
RTCG_REDUX_BOTH(bit_or, __reduce_or_sync)
RTCG_REDUX_BOTH(bit_xor, __reduce_xor_sync)
#undef RTCG_REDUX_BOTH
#undef RTCG_REDUX
#endif

// What one thread does to a `cuda::atomic`: the value before.
template <class Atomic, class T, class F> RTCG_DEVICE T __rtcg_fetch(Atomic &atomic, const T &value, F &op) {
    T before = atomic.load();
    while (!atomic.compare_exchange_weak(before, op(before, value))) {}
    return before;
}
#define RTCG_FETCH(op, method) \
    template <class Atomic, class T, class U> RTCG_DEVICE T __rtcg_fetch(Atomic &atomic, const T &value, const op<U> &) { return atomic.method(value); } \
    template <class Atomic, class T, class U> RTCG_DEVICE T __rtcg_fetch(Atomic &atomic, const T &value, op<U> &) { return atomic.method(value); }
RTCG_FETCH(plus, fetch_add)
RTCG_FETCH(less, fetch_min)
RTCG_FETCH(greater, fetch_max)
RTCG_FETCH(bit_and, fetch_and)
RTCG_FETCH(bit_or, fetch_or)
RTCG_FETCH(bit_xor, fetch_xor)
#undef RTCG_FETCH
}
}
