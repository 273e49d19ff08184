/* Atomic functions of OpenCL 1.x (all relaxed, in the scope of the device) and of C11 (6.15.13). */

#define IN_ORDER(order, statement) if (order) __nvvm_membar_gl(); statement; if (order) __nvvm_membar_gl();
#if __clang_major__ < 20
/* The back end has no loads and stores with an order. */
#define LOAD(p, order, scope) \
    ({ IN_ORDER(order, __auto_type value = __opencl_atomic_load(p, memory_order_relaxed, scope)) value; })
#define STORE(p, value, order, scope) \
    ({ IN_ORDER(order, __opencl_atomic_store(p, value, memory_order_relaxed, scope)) })
#else
#define LOAD __opencl_atomic_load
#define STORE __opencl_atomic_store
#endif

#if __GCC_ATOMIC_INT_LOCK_FREE == 2
#define RELAXED(T, name, p, value) __atomic_##name(p, value, __ATOMIC_RELAXED)
#define EXCHANGE(T, p, value) RELAXED(T, exchange_n, p, value)
#define EXCHANGE_IF(T, p, expected, value) \
    __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#else
/* Clang before 17 has no atomic instructions for the target. It makes calls of functions with generic addresses, for
   OpenCL's builtins only with addresses that are converted. __nvvm_atom_* are relaxed. */
#define RELAXED(T, name, p, value) \
    __opencl_atomic_##name((volatile atomic_##T *)p, value, memory_order_relaxed, memory_scope_device)
#define EXCHANGE(T, p, value) RELAXED(T, exchange, p, value)
#define EXCHANGE_IF(T, p, expected, value) \
    __opencl_atomic_compare_exchange_strong((volatile atomic_##T *)p, expected, value, memory_order_relaxed, \
                                            memory_order_relaxed, memory_scope_device)
#define CALLED __attribute__((always_inline))
#define CALLED_FOR(name, bytes, T, builtin) \
    CALLED T __opencl_atomic_##name##_##bytes(volatile T *p, T value, int order, int scope) { \
        IN_ORDER(order, T old = __nvvm_atom_##builtin((volatile T *)p, value)) return old; }
#define ALL_CALLED(bytes, T, U, t) \
    CALLED T __opencl_atomic_load_##bytes(volatile T *p, int order, int scope) { return *p; } \
    CALLED void __opencl_atomic_store_##bytes(volatile T *p, T value, int order, int scope) { *p = value; } \
    CALLED bool __opencl_atomic_compare_exchange_##bytes(volatile T *p, T *expected, T value, int order, int other, int scope) { \
        IN_ORDER(order, T old = __nvvm_atom_cas_gen_##t(p, *expected, value)) \
        bool is_same = old == *expected; \
        *expected = old; \
        return is_same; } \
    CALLED_FOR(exchange, bytes, T, xchg_gen_##t) \
    CALLED_FOR(fetch_add, bytes, T, add_gen_##t) CALLED_FOR(fetch_sub, bytes, T, sub_gen_##t) \
    CALLED_FOR(fetch_and, bytes, T, and_gen_##t) CALLED_FOR(fetch_or, bytes, T, or_gen_##t) \
    CALLED_FOR(fetch_xor, bytes, T, xor_gen_##t) CALLED_FOR(fetch_min, bytes, T, min_gen_##t) \
    CALLED_FOR(fetch_max, bytes, T, max_gen_##t) CALLED_FOR(fetch_umin, bytes, U, min_gen_u##t) \
    CALLED_FOR(fetch_umax, bytes, U, max_gen_u##t)
ALL_CALLED(4, int, uint, i) ALL_CALLED(8, long, ulong, l)
#endif
#define ALL_OF(prefix, T, SPACE) \
    BUILTIN T prefix##_add(volatile SPACE T *p, T value) { return RELAXED(T, fetch_add, p, value); } \
    BUILTIN T prefix##_sub(volatile SPACE T *p, T value) { return RELAXED(T, fetch_sub, p, value); } \
    BUILTIN T prefix##_and(volatile SPACE T *p, T value) { return RELAXED(T, fetch_and, p, value); } \
    BUILTIN T prefix##_or(volatile SPACE T *p, T value) { return RELAXED(T, fetch_or, p, value); } \
    BUILTIN T prefix##_xor(volatile SPACE T *p, T value) { return RELAXED(T, fetch_xor, p, value); } \
    BUILTIN T prefix##_min(volatile SPACE T *p, T value) { return RELAXED(T, fetch_min, p, value); } \
    BUILTIN T prefix##_max(volatile SPACE T *p, T value) { return RELAXED(T, fetch_max, p, value); } \
    BUILTIN T prefix##_xchg(volatile SPACE T *p, T value) { return EXCHANGE(T, p, value); } \
    BUILTIN T prefix##_inc(volatile SPACE T *p) { return RELAXED(T, fetch_add, p, (T)1); } \
    BUILTIN T prefix##_dec(volatile SPACE T *p) { return RELAXED(T, fetch_sub, p, (T)1); } \
    BUILTIN T prefix##_cmpxchg(volatile SPACE T *p, T expected, T value) { \
        EXCHANGE_IF(T, p, &expected, value); \
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

/* C11: objects are of atomic types, in any memory. The forms without an order are sequentially consistent; those without
   a scope are of the device. Addresses of generic and private memory are the same to the target. */
#define C11_FORMS(R, name, A, M, SPACE, builtin) \
    BUILTIN R name(volatile SPACE A *p, M value) { \
        return builtin(p, value, memory_order_seq_cst, memory_scope_device); } \
    BUILTIN R name##_explicit(volatile SPACE A *p, M value, memory_order order) { \
        return builtin(p, value, order, memory_scope_device); } \
    BUILTIN R name##_explicit(volatile SPACE A *p, M value, memory_order order, memory_scope scope) { \
        return builtin(p, value, order, scope); }
#define C11_LOAD(A, M, SPACE) \
    BUILTIN M atomic_load(volatile SPACE A *p) { \
        return LOAD(p, memory_order_seq_cst, memory_scope_device); } \
    BUILTIN M atomic_load_explicit(volatile SPACE A *p, memory_order order) { \
        return LOAD(p, order, memory_scope_device); } \
    BUILTIN M atomic_load_explicit(volatile SPACE A *p, memory_order order, memory_scope scope) { \
        return LOAD(p, order, scope); }
#define C11_EXCHANGE_IF(name, A, M, SPACE, EXPECTED, builtin) \
    BUILTIN bool name(volatile SPACE A *p, EXPECTED M *expected, M value) { \
        return builtin(p, expected, value, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device); } \
    BUILTIN bool name##_explicit(volatile SPACE A *p, EXPECTED M *expected, M value, memory_order success, \
                                 memory_order failure) { \
        return builtin(p, expected, value, success, failure, memory_scope_device); } \
    BUILTIN bool name##_explicit(volatile SPACE A *p, EXPECTED M *expected, M value, memory_order success, \
                                 memory_order failure, memory_scope scope) { \
        return builtin(p, expected, value, success, failure, scope); }
#define C11_EXCHANGES_IF(A, M, SPACE, EXPECTED) \
    C11_EXCHANGE_IF(atomic_compare_exchange_strong, A, M, SPACE, EXPECTED, __opencl_atomic_compare_exchange_strong) \
    C11_EXCHANGE_IF(atomic_compare_exchange_weak, A, M, SPACE, EXPECTED, __opencl_atomic_compare_exchange_weak)
#define C11_VALUES(A, M, SPACE) \
    BUILTIN void atomic_init(volatile SPACE A *p, M value) { __opencl_atomic_init(p, value); } \
    C11_LOAD(A, M, SPACE) \
    C11_FORMS(void, atomic_store, A, M, SPACE, STORE) \
    C11_FORMS(M, atomic_exchange, A, M, SPACE, __opencl_atomic_exchange) \
    C11_EXCHANGES_IF(A, M, SPACE, __global) C11_EXCHANGES_IF(A, M, SPACE, __local) C11_EXCHANGES_IF(A, M, SPACE, __private)
#define C11_INTEGERS(A, M, SPACE) \
    C11_VALUES(A, M, SPACE) \
    C11_FORMS(M, atomic_fetch_add, A, M, SPACE, __opencl_atomic_fetch_add) \
    C11_FORMS(M, atomic_fetch_sub, A, M, SPACE, __opencl_atomic_fetch_sub) \
    C11_FORMS(M, atomic_fetch_and, A, M, SPACE, __opencl_atomic_fetch_and) \
    C11_FORMS(M, atomic_fetch_or, A, M, SPACE, __opencl_atomic_fetch_or) \
    C11_FORMS(M, atomic_fetch_xor, A, M, SPACE, __opencl_atomic_fetch_xor) \
    C11_FORMS(M, atomic_fetch_min, A, M, SPACE, __opencl_atomic_fetch_min) \
    C11_FORMS(M, atomic_fetch_max, A, M, SPACE, __opencl_atomic_fetch_max)
#define C11_IN_ALL_MEMORIES(DO, A, M) DO(A, M, __global) DO(A, M, __local) DO(A, M, __private)
C11_IN_ALL_MEMORIES(C11_INTEGERS, atomic_int, int)
C11_IN_ALL_MEMORIES(C11_INTEGERS, atomic_uint, uint)
C11_IN_ALL_MEMORIES(C11_INTEGERS, atomic_long, long)
C11_IN_ALL_MEMORIES(C11_INTEGERS, atomic_ulong, ulong)
C11_IN_ALL_MEMORIES(C11_VALUES, atomic_float, float)
C11_IN_ALL_MEMORIES(C11_VALUES, atomic_double, double)

#define C11_FLAG(SPACE) \
    BUILTIN bool atomic_flag_test_and_set(volatile SPACE atomic_flag *p) { \
        return atomic_exchange((volatile SPACE atomic_int *)p, 1) != 0; } \
    BUILTIN bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order order) { \
        return atomic_exchange_explicit((volatile SPACE atomic_int *)p, 1, order) != 0; } \
    BUILTIN bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag *p, memory_order order, memory_scope scope) { \
        return atomic_exchange_explicit((volatile SPACE atomic_int *)p, 1, order, scope) != 0; } \
    BUILTIN void atomic_flag_clear(volatile SPACE atomic_flag *p) { atomic_store((volatile SPACE atomic_int *)p, 0); } \
    BUILTIN void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order) { \
        atomic_store_explicit((volatile SPACE atomic_int *)p, 0, order); } \
    BUILTIN void atomic_flag_clear_explicit(volatile SPACE atomic_flag *p, memory_order order, memory_scope scope) { \
        atomic_store_explicit((volatile SPACE atomic_int *)p, 0, order, scope); }
C11_FLAG(__global)
C11_FLAG(__local)
C11_FLAG(__private)

BUILTIN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
    if (order != memory_order_relaxed) __nvvm_membar_gl();
}
