/* Atomic functions of OpenCL 1.x (all relaxed, in the scope of the device) and of C11 (6.15.13). */

#define FETCH(name, alias, T, SPACE, operation) \
    BUILTIN T name(volatile SPACE T *p, T value) { return operation; } \
    BUILTIN T alias(volatile SPACE T *p, T value) { return operation; }
#define ADD(p, value) __atomic_fetch_add(p, value, __ATOMIC_RELAXED)
#define SUB(p, value) __atomic_fetch_sub(p, value, __ATOMIC_RELAXED)
#define AND(p, value) __atomic_fetch_and(p, value, __ATOMIC_RELAXED)
#define OR(p, value) __atomic_fetch_or(p, value, __ATOMIC_RELAXED)
#define XOR(p, value) __atomic_fetch_xor(p, value, __ATOMIC_RELAXED)
#define MIN(p, value) __atomic_fetch_min(p, value, __ATOMIC_RELAXED)
#define MAX(p, value) __atomic_fetch_max(p, value, __ATOMIC_RELAXED)
#define EXCHANGE(p, value) __atomic_exchange_n(p, value, __ATOMIC_RELAXED)
#define ALL_OF(prefix, T, SPACE) \
    BUILTIN T prefix##_add(volatile SPACE T *p, T value) { return ADD(p, value); } \
    BUILTIN T prefix##_sub(volatile SPACE T *p, T value) { return SUB(p, value); } \
    BUILTIN T prefix##_and(volatile SPACE T *p, T value) { return AND(p, value); } \
    BUILTIN T prefix##_or(volatile SPACE T *p, T value) { return OR(p, value); } \
    BUILTIN T prefix##_xor(volatile SPACE T *p, T value) { return XOR(p, value); } \
    BUILTIN T prefix##_min(volatile SPACE T *p, T value) { return MIN(p, value); } \
    BUILTIN T prefix##_max(volatile SPACE T *p, T value) { return MAX(p, value); } \
    BUILTIN T prefix##_xchg(volatile SPACE T *p, T value) { return EXCHANGE(p, value); } \
    BUILTIN T prefix##_inc(volatile SPACE T *p) { return ADD(p, (T)1); } \
    BUILTIN T prefix##_dec(volatile SPACE T *p) { return SUB(p, (T)1); } \
    BUILTIN T prefix##_cmpxchg(volatile SPACE T *p, T expected, T value) { \
        __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return expected; \
    }
#define IN_BOTH_MEMORIES(prefix, T) ALL_OF(prefix, T, __global) ALL_OF(prefix, T, __local)
IN_BOTH_MEMORIES(atomic, int)
IN_BOTH_MEMORIES(atomic, uint)
IN_BOTH_MEMORIES(atom, int)
IN_BOTH_MEMORIES(atom, uint)
IN_BOTH_MEMORIES(atom, long)
IN_BOTH_MEMORIES(atom, ulong)
BUILTIN float atomic_xchg(volatile __global float *p, float value) {
    return as_float(atomic_xchg((volatile __global uint *)p, as_uint(value)));
}
BUILTIN float atomic_xchg(volatile __local float *p, float value) {
    return as_float(atomic_xchg((volatile __local uint *)p, as_uint(value)));
}
