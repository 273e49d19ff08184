// `memcpy_async`: a copy by all threads of a group, from global to shared memory while they go on; and the wait for it.
//
// Source: CUDA C++ Programming Guide 13.0 ("Cooperative Groups", memcpy_async). A shape is a number of bytes, which may say
// its alignment (`cuda::aligned_size_t<16>`), or numbers of elements at the target and at the source.
#pragma once
#pragma clang system_header
#include "../cooperative_groups.h"
#include "../rtcg_async.h"

extern "C++" {
namespace cooperative_groups {
template <class T, class Group, unsigned Align>
RTCG_DEVICE void __rtcg_copy(const Group &group, T *to, const T *from, size_t bytes, __rtcg_async::number<Align>) {
    __rtcg_async::copy_by_group<Align, __rtcg_async::alignment_of<T>::value>(to, from, bytes, (unsigned)group.thread_rank(), (unsigned)group.num_threads());
    __rtcg_async::commit();
}
template <class TyGroup, class TyElem, class TyShape>
RTCG_DEVICE void memcpy_async(const TyGroup &group, TyElem *__restrict__ dst, const TyElem *__restrict__ src, const TyShape &shape) {
    __rtcg_copy<TyElem>(group, dst, src, (size_t)shape, __rtcg_async::alignment(shape));
}
template <class TyGroup, class TyElem, class TyDstLayout, class TySrcLayout>
RTCG_DEVICE void memcpy_async(const TyGroup &group, TyElem *__restrict__ dst, const TyDstLayout &dst_layout, const TyElem *__restrict__ src,
                              const TySrcLayout &src_layout) {
    const size_t to = (size_t)dst_layout, from = (size_t)src_layout;
    __rtcg_copy<TyElem>(group, dst, src, (to < from ? to : from) * sizeof(TyElem), __rtcg_async::number<1>());
}
template <class TyGroup> RTCG_DEVICE void wait(const TyGroup &group) {
    __rtcg_async::wait_all();
    group.sync();
}
template <unsigned int NumStages, class TyGroup> RTCG_DEVICE void wait_prior(const TyGroup &group) {
    __rtcg_async::wait_prior<NumStages>();
    group.sync();
}
}
}
