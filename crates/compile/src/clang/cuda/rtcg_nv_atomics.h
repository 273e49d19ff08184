// `__nv_atomic_*`: atomic functions with an order and a scope.
//
// Sources: CUDA C++ Programming Guide 13.0 (section "Built-in Atomic Functions"), PTX ISA 8.8 (chapter "Memory Consistency Model").
// All operations are relaxed ones with fences where an order asks for them.
#pragma once

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __NV_THREAD_SCOPE_DEVICE 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_THREAD 10

extern "C++" {

// An instruction for each scope; scopes are constants, so one stays.
#define RTCG_BY_SCOPE(make) \
    if (scope == __NV_THREAD_SCOPE_BLOCK || scope == __NV_THREAD_SCOPE_THREAD) make(".cta") \
    else if (scope == __NV_THREAD_SCOPE_DEVICE || scope == __NV_THREAD_SCOPE_CLUSTER) make(".gpu") else make(".sys")

RTCG_DEVICE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (scope == __NV_THREAD_SCOPE_THREAD || order == __NV_ATOMIC_RELAXED) { asm volatile("" : : : "memory"); return; }
#define RTCG_MAKE(text) asm volatile("fence.sc" text ";" : : : "memory");
    if (order == __NV_ATOMIC_SEQ_CST) { RTCG_BY_SCOPE(RTCG_MAKE) return; }
#undef RTCG_MAKE
#define RTCG_MAKE(text) asm volatile("fence.acq_rel" text ";" : : : "memory");
    RTCG_BY_SCOPE(RTCG_MAKE)
#undef RTCG_MAKE
}
RTCG_DEVICE void __rtcg_fence_before(int order, int scope) {
    if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
RTCG_DEVICE void __rtcg_fence_after(int order, int scope) {
    if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, scope);
}

// Bits of as many bytes as a type has.
template <int bytes> struct __rtcg_bits;
template <> struct __rtcg_bits<1> { typedef unsigned char type; };
template <> struct __rtcg_bits<2> { typedef unsigned short type; };
template <> struct __rtcg_bits<4> { typedef unsigned type; };
template <> struct __rtcg_bits<8> { typedef unsigned long long type; };
#define RTCG_BITS(T) typename __rtcg_bits<sizeof(T)>::type

#define RTCG_RELAXED_ACCESS(type, register_type, bits, kind) \
    RTCG_DEVICE type __rtcg_relaxed_load(const type *p, int scope) { \
        register_type x; \
        RTCG_BY_SCOPE(RTCG_MAKE_##bits) \
        return (type)x; \
    } \
    RTCG_DEVICE void __rtcg_relaxed_store(type *p, type x, int scope) { RTCG_BY_SCOPE(RTCG_MAKE_STORE_##bits) }
#define RTCG_MAKE_8(text) asm volatile("ld.relaxed" text ".u8 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
#define RTCG_MAKE_16(text) asm volatile("ld.relaxed" text ".u16 %0, [%1];" : "=h"(x) : "l"(p) : "memory");
#define RTCG_MAKE_32(text) asm volatile("ld.relaxed" text ".u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
#define RTCG_MAKE_64(text) asm volatile("ld.relaxed" text ".u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
#define RTCG_MAKE_STORE_8(text) asm volatile("st.relaxed" text ".u8 [%0], %1;" : : "l"(p), "r"((unsigned)x) : "memory");
#define RTCG_MAKE_STORE_16(text) asm volatile("st.relaxed" text ".u16 [%0], %1;" : : "l"(p), "h"(x) : "memory");
#define RTCG_MAKE_STORE_32(text) asm volatile("st.relaxed" text ".u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
#define RTCG_MAKE_STORE_64(text) asm volatile("st.relaxed" text ".u64 [%0], %1;" : : "l"(p), "l"(x) : "memory");
RTCG_RELAXED_ACCESS(unsigned char, unsigned, 8, "r")
RTCG_RELAXED_ACCESS(unsigned short, unsigned short, 16, "h")
RTCG_RELAXED_ACCESS(unsigned, unsigned, 32, "r")
RTCG_RELAXED_ACCESS(unsigned long long, unsigned long long, 64, "l")
#undef RTCG_RELAXED_ACCESS
#undef RTCG_MAKE_8
#undef RTCG_MAKE_16
#undef RTCG_MAKE_32
#undef RTCG_MAKE_64
#undef RTCG_MAKE_STORE_8
#undef RTCG_MAKE_STORE_16
#undef RTCG_MAKE_STORE_32
#undef RTCG_MAKE_STORE_64

// The functions of `rtcg_atomics.h` by their scope.
#define RTCG_SCOPED(name, type) \
    RTCG_DEVICE type __rtcg_##name(type *p, type x, int scope) { \
        if (scope == __NV_THREAD_SCOPE_BLOCK || scope == __NV_THREAD_SCOPE_THREAD) return name##_block(p, x); \
        return scope == __NV_THREAD_SCOPE_SYSTEM ? name##_system(p, x) : name(p, x); \
    }
#define RTCG_SCOPED_CAS(type) \
    RTCG_DEVICE type __rtcg_atomicCAS(type *p, type compare, type x, int scope) { \
        if (scope == __NV_THREAD_SCOPE_BLOCK || scope == __NV_THREAD_SCOPE_THREAD) return atomicCAS_block(p, compare, x); \
        return scope == __NV_THREAD_SCOPE_SYSTEM ? atomicCAS_system(p, compare, x) : atomicCAS(p, compare, x); \
    }
RTCG_SCOPED(atomicAdd, int) RTCG_SCOPED(atomicAdd, unsigned) RTCG_SCOPED(atomicAdd, unsigned long long)
RTCG_SCOPED(atomicAdd, float) RTCG_SCOPED(atomicAdd, double)
RTCG_SCOPED(atomicExch, unsigned) RTCG_SCOPED(atomicExch, unsigned long long)
RTCG_SCOPED(atomicMin, int) RTCG_SCOPED(atomicMin, unsigned) RTCG_SCOPED(atomicMin, long long) RTCG_SCOPED(atomicMin, unsigned long long)
RTCG_SCOPED(atomicMax, int) RTCG_SCOPED(atomicMax, unsigned) RTCG_SCOPED(atomicMax, long long) RTCG_SCOPED(atomicMax, unsigned long long)
RTCG_SCOPED(atomicAnd, unsigned) RTCG_SCOPED(atomicAnd, unsigned long long)
RTCG_SCOPED(atomicOr, unsigned) RTCG_SCOPED(atomicOr, unsigned long long)
RTCG_SCOPED(atomicXor, unsigned) RTCG_SCOPED(atomicXor, unsigned long long)
RTCG_SCOPED_CAS(unsigned short) RTCG_SCOPED_CAS(unsigned) RTCG_SCOPED_CAS(unsigned long long)
#undef RTCG_SCOPED
#undef RTCG_SCOPED_CAS
RTCG_DEVICE long long __rtcg_atomicAdd(long long *p, long long x, int scope) {
    return (long long)__rtcg_atomicAdd((unsigned long long *)p, (unsigned long long)x, scope);
}
// A byte is exchanged with the word around it.
RTCG_DEVICE unsigned char __rtcg_atomicCAS(unsigned char *p, unsigned char compare, unsigned char x, int scope) {
    unsigned *const word = (unsigned *)((unsigned long long)p & ~3ull);
    const unsigned shift = ((unsigned long long)p & 3) * 8;
    for (unsigned seen = __rtcg_relaxed_load(word, scope);;) {
        const unsigned char byte = (unsigned char)(seen >> shift);
        if (byte != compare) return byte;
        const unsigned was = __rtcg_atomicCAS(word, seen, (seen & ~(0xffu << shift)) | (unsigned)x << shift, scope);
        if (was == seen) return byte;
        seen = was;
    }
}
#define RTCG_EXCHANGE_BY_CAS(type) \
    RTCG_DEVICE type __rtcg_atomicExch(type *p, type x, int scope) { \
        for (type seen = __rtcg_relaxed_load(p, scope);;) { \
            const type was = __rtcg_atomicCAS(p, seen, x, scope); \
            if (was == seen) return was; \
            seen = was; \
        } \
    }
RTCG_EXCHANGE_BY_CAS(unsigned char)
RTCG_EXCHANGE_BY_CAS(unsigned short)
#undef RTCG_EXCHANGE_BY_CAS

template <class T> RTCG_DEVICE T __nv_atomic_load_n(const T *p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (order == __NV_ATOMIC_SEQ_CST) __nv_atomic_thread_fence(order, scope);
    const RTCG_BITS(T) x = __rtcg_relaxed_load((const RTCG_BITS(T) *)p, scope);
    __rtcg_fence_after(order, scope);
    return __builtin_bit_cast(T, x);
}
template <class T> RTCG_DEVICE void __nv_atomic_load(const T *p, T *x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *x = __nv_atomic_load_n(p, order, scope);
}
// `__rtcg_type<T>` keeps a value from naming the type.
template <class T> struct __rtcg_type { typedef T type; };
#define RTCG_T typename __rtcg_type<T>::type
template <class T> RTCG_DEVICE void __nv_atomic_store_n(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __rtcg_fence_before(order, scope);
    __rtcg_relaxed_store((RTCG_BITS(T) *)p, __builtin_bit_cast(RTCG_BITS(T), x), scope);
}
template <class T> RTCG_DEVICE void __nv_atomic_store(T *p, T *x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_store_n(p, *x, order, scope);
}
template <class T> RTCG_DEVICE T __nv_atomic_exchange_n(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __rtcg_fence_before(order, scope);
    const RTCG_BITS(T) old = __rtcg_atomicExch((RTCG_BITS(T) *)p, __builtin_bit_cast(RTCG_BITS(T), x), scope);
    __rtcg_fence_after(order, scope);
    return __builtin_bit_cast(T, old);
}
template <class T> RTCG_DEVICE void __nv_atomic_exchange(T *p, T *x, T *old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *old = __nv_atomic_exchange_n(p, *x, order, scope);
}
template <class T>
RTCG_DEVICE bool __nv_atomic_compare_exchange_n(T *p, T *expected, RTCG_T x, bool, int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    const bool is_both = success == __NV_ATOMIC_RELEASE && failure != __NV_ATOMIC_RELAXED;
    const int order = is_both ? __NV_ATOMIC_ACQ_REL : success > failure ? success : failure;
    __rtcg_fence_before(order, scope);
    const RTCG_BITS(T) compare = __builtin_bit_cast(RTCG_BITS(T), *expected);
    const RTCG_BITS(T) old = __rtcg_atomicCAS((RTCG_BITS(T) *)p, compare, __builtin_bit_cast(RTCG_BITS(T), x), scope);
    __rtcg_fence_after(order, scope);
    *expected = __builtin_bit_cast(T, old);
    return old == compare;
}
template <class T>
RTCG_DEVICE bool __nv_atomic_compare_exchange(T *p, T *expected, T *x, bool weak, int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(p, expected, *x, weak, success, failure, scope);
}
#define RTCG_NV_ATOMIC(name, function, bits_of) \
    template <class T> RTCG_DEVICE T __nv_atomic_fetch_##name(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
        __rtcg_fence_before(order, scope); \
        const bits_of old = __rtcg_##function((bits_of *)p, __builtin_bit_cast(bits_of, x), scope); \
        __rtcg_fence_after(order, scope); \
        return __builtin_bit_cast(T, old); \
    } \
    template <class T> RTCG_DEVICE void __nv_atomic_##name(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { \
        __nv_atomic_fetch_##name(p, x, order, scope); \
    }
// Numbers, with `long` as the type of its size.
template <class T> struct __rtcg_number { typedef T type; };
template <> struct __rtcg_number<long> { typedef long long type; };
template <> struct __rtcg_number<unsigned long> { typedef unsigned long long type; };
RTCG_NV_ATOMIC(add, atomicAdd, typename __rtcg_number<T>::type)
RTCG_NV_ATOMIC(min, atomicMin, typename __rtcg_number<T>::type)
RTCG_NV_ATOMIC(max, atomicMax, typename __rtcg_number<T>::type)
RTCG_NV_ATOMIC(and, atomicAnd, RTCG_BITS(T))
RTCG_NV_ATOMIC(or, atomicOr, RTCG_BITS(T))
RTCG_NV_ATOMIC(xor, atomicXor, RTCG_BITS(T))
template <class T> RTCG_DEVICE T __nv_atomic_fetch_sub(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_fetch_add(p, (T)-x, order, scope);
}
template <class T> RTCG_DEVICE void __nv_atomic_sub(T *p, RTCG_T x, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_fetch_sub(p, x, order, scope);
}
#undef RTCG_NV_ATOMIC
#undef RTCG_BITS
#undef RTCG_T
#undef RTCG_BY_SCOPE
}
