// `inclusive_scan`, `exclusive_scan`: what the values of a group's threads up to a thread's own combine to.
//
// Source: CUDA C++ Programming Guide 13.0 ("Cooperative Groups", inclusive_scan and exclusive_scan). Groups are tiles and
// coalesced groups. Nothing combined is a zero of the type, whatever the operator.
#pragma once
#pragma clang system_header
#include "rtcg_operators.h"

extern "C++" {
namespace cooperative_groups {
template <typename TyGroup, typename TyVal, typename TyFn>
RTCG_DEVICE auto inclusive_scan(const TyGroup &group, TyVal &&val, TyFn &&op) -> decltype(op(val, val)) {
    const typename __rtcg_lanes::bare<TyVal>::type value = val;
    return group.__rtcg_scan(value, op);
}
template <typename TyGroup, typename TyVal>
RTCG_DEVICE typename __rtcg_lanes::bare<TyVal>::type inclusive_scan(const TyGroup &group, TyVal &&val) {
    return inclusive_scan(group, val, plus<typename __rtcg_lanes::bare<TyVal>::type>());
}
template <typename TyGroup, typename TyVal, typename TyFn>
RTCG_DEVICE auto exclusive_scan(const TyGroup &group, TyVal &&val, TyFn &&op) -> decltype(op(val, val)) {
    typedef typename __rtcg_lanes::bare<TyVal>::type T;
    const T before = group.__rtcg_before(inclusive_scan(group, val, op));
    return group.thread_rank() == 0 ? T() : before;
}
template <typename TyGroup, typename TyVal>
RTCG_DEVICE typename __rtcg_lanes::bare<TyVal>::type exclusive_scan(const TyGroup &group, TyVal &&val) {
    return exclusive_scan(group, val, plus<typename __rtcg_lanes::bare<TyVal>::type>());
}

// Scans that begin with what an atomic holds; it gets the sum of the group.
template <typename TyGroup, typename TyAtomic, typename TyVal, typename TyFn>
RTCG_DEVICE auto inclusive_scan_update(const TyGroup &group, TyAtomic &atomic, TyVal &&val, TyFn &&op) -> decltype(op(val, val)) {
    typedef typename __rtcg_lanes::bare<TyVal>::type T;
    const T scanned = inclusive_scan(group, val, op);
    __rtcg_lanes::words_of<T> before;
    if (group.thread_rank() == group.num_threads() - 1) before.value = __rtcg_fetch(atomic, scanned, op);
    return op(group.shfl(before.value, group.num_threads() - 1), scanned);
}
template <typename TyGroup, typename TyAtomic, typename TyVal>
RTCG_DEVICE typename __rtcg_lanes::bare<TyVal>::type inclusive_scan_update(const TyGroup &group, TyAtomic &atomic, TyVal &&val) {
    return inclusive_scan_update(group, atomic, val, plus<typename __rtcg_lanes::bare<TyVal>::type>());
}
template <typename TyGroup, typename TyAtomic, typename TyVal, typename TyFn>
RTCG_DEVICE auto exclusive_scan_update(const TyGroup &group, TyAtomic &atomic, TyVal &&val, TyFn &&op) -> decltype(op(val, val)) {
    typedef typename __rtcg_lanes::bare<TyVal>::type T;
    const T scanned = inclusive_scan(group, val, op);
    __rtcg_lanes::words_of<T> before;
    if (group.thread_rank() == group.num_threads() - 1) before.value = __rtcg_fetch(atomic, scanned, op);
    const T start = group.shfl(before.value, group.num_threads() - 1), above = group.__rtcg_before(scanned);
    return group.thread_rank() == 0 ? start : op(start, above);
}
template <typename TyGroup, typename TyAtomic, typename TyVal>
RTCG_DEVICE typename __rtcg_lanes::bare<TyVal>::type exclusive_scan_update(const TyGroup &group, TyAtomic &atomic, TyVal &&val) {
    return exclusive_scan_update(group, atomic, val, plus<typename __rtcg_lanes::bare<TyVal>::type>());
}
}
}
