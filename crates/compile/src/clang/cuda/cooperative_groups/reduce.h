// `reduce`: a value of each thread of a group, combined to one that all of them get.
//
// Source: CUDA C++ Programming Guide 13.0 ("Cooperative Groups", reduce). Groups are tiles and coalesced groups.
#pragma once
#pragma clang system_header
#include "rtcg_operators.h"

extern "C++" {
namespace cooperative_groups {
template <bool HasInstruction> struct __rtcg_reduction {
    template <class Group, class T, class F> static __device__ __forceinline__ T of(const Group &group, const T &value, F &op) {
        return group.__rtcg_reduce(value, op);
    }
};
template <> struct __rtcg_reduction<true> {
    template <class Group, class T, class F> static __device__ __forceinline__ T of(const Group &group, const T &value, F &) {
        return __rtcg_redux<T, typename __rtcg_lanes::bare<F>::type>::all(group.__rtcg_mask(), value);
    }
};
// One instruction reduces one group of a warp: for small tiles shuffles are faster, which work on all tiles of the warp at once.
template <class Group> struct __rtcg_by_instruction { static constexpr bool value = true; };
template <unsigned Size, class ParentT> struct __rtcg_by_instruction<thread_block_tile<Size, ParentT>> {
    static constexpr bool value = Size == 16 || Size == 32;
};

template <typename TyGroup, typename TyArg, typename TyFn>
RTCG_DEVICE auto reduce(const TyGroup &group, TyArg &&val, TyFn &&op) -> decltype(op(val, val)) {
    typedef typename __rtcg_lanes::bare<TyArg>::type T;
    typedef __rtcg_redux<T, typename __rtcg_lanes::bare<TyFn>::type> instruction;
    const T value = val;
    return __rtcg_reduction<instruction::exists && __rtcg_by_instruction<TyGroup>::value>::of(group, value, op);
}
// One thread adds the result to an atomic, or stores it there.
template <typename TyGroup, typename TyAtomic, typename TyArg, typename TyFn>
RTCG_DEVICE void reduce_update_async(const TyGroup &group, TyAtomic &atomic, TyArg &&val, TyFn &&op) {
    const auto all = reduce(group, val, op);
    if (group.thread_rank() == 0) __rtcg_fetch(atomic, all, op);
}
template <typename TyGroup, typename TyAtomic, typename TyArg, typename TyFn>
RTCG_DEVICE void reduce_store_async(const TyGroup &group, TyAtomic &atomic, TyArg &&val, TyFn &&op) {
    const auto all = reduce(group, val, op);
    if (group.thread_rank() == 0) atomic.store(all);
}
}
}
