// Atomic functions in three scopes: a device (no suffix), a block (`_block`) and the whole system (`_system`).
//
// Sources: CUDA C++ Programming Guide 13.0 (section "Atomic Functions"), PTX ISA 8.8 (`atom`).
//
// The functions order nothing, but programs with locks suppose that no access of memory is moved across one. With a relaxed
// operation LLVM keeps a variable in a register over the whole loop in which a lock is taken and given back (seen). So the order is the
// strictest: the compiler heeds it, and LLVM up to 22 writes no instruction for it (seen with 20 and 22; from 21 on it writes fences for
// comparing exchanges, which are assembly then). For newer ones an empty statement of assembly says it.
#pragma once

extern "C++" {

#if __clang_major__ <= 22
#define RTCG_DEVICE_ATOMIC(type, operation, ...) return __atomic_##operation(__VA_ARGS__, __ATOMIC_SEQ_CST);
#define RTCG_DEVICE_ATOMIC_ADD(kind, p, x) return __nvvm_atom_add_gen_##kind(p, x);
#else
#define RTCG_DEVICE_ATOMIC(type, operation, ...) \
    asm volatile("" : : : "memory"); \
    const type old = __scoped_atomic_##operation(__VA_ARGS__, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
    asm volatile("" : : : "memory"); \
    return old;
#define RTCG_DEVICE_ATOMIC_ADD(kind, p, x) RTCG_DEVICE_ATOMIC(decltype(x), fetch_add, p, x)
#endif

// For operations of the compiler the kind of memory is found and named in the instruction; assembly has the generic one.
#define RTCG_ATOMIC_IN_ASSEMBLY(name, scope_name, scope, type, instruction, kind) \
    RTCG_DEVICE type name##scope_name(type *p, type x) { \
        type old; \
        asm volatile("atom" scope "." instruction " %0, [%1], %2;" : "=" kind(old) : "l"(p), kind(x) : "memory"); \
        return old; \
    }
#define RTCG_CAS_IN_ASSEMBLY(scope_name, scope, type, instruction, kind) \
    RTCG_DEVICE type atomicCAS##scope_name(type *p, type compare, type x) { \
        type old; \
        asm volatile("atom" scope "." instruction " %0, [%1], %2, %3;" : "=" kind(old) : "l"(p), kind(compare), kind(x) : "memory"); \
        return old; \
    }
#define RTCG_ATOMIC(name, operation, type, instruction, kind) \
    RTCG_DEVICE type name(type *p, type x) { RTCG_DEVICE_ATOMIC(type, operation, p, x) } \
    RTCG_ATOMIC_IN_ASSEMBLY(name, _block, ".cta", type, instruction, kind) RTCG_ATOMIC_IN_ASSEMBLY(name, _system, ".sys", type, instruction, kind)
#define RTCG_ATOMIC_ADD_FLOAT(type, instruction, kind) \
    RTCG_DEVICE type atomicAdd(type *p, type x) { RTCG_DEVICE_ATOMIC_ADD(kind, p, x) } \
    RTCG_ATOMIC_IN_ASSEMBLY(atomicAdd, _block, ".cta", type, instruction, #kind) RTCG_ATOMIC_IN_ASSEMBLY(atomicAdd, _system, ".sys", type, instruction, #kind)
#define RTCG_ATOMIC_COUNTER(name, instruction) \
    RTCG_ATOMIC_IN_ASSEMBLY(name, , "", unsigned, instruction, "r") \
    RTCG_ATOMIC_IN_ASSEMBLY(name, _block, ".cta", unsigned, instruction, "r") RTCG_ATOMIC_IN_ASSEMBLY(name, _system, ".sys", unsigned, instruction, "r")
#define RTCG_ATOMIC_SUB(scope_name) \
    RTCG_DEVICE int atomicSub##scope_name(int *p, int x) { return atomicAdd##scope_name(p, (int)(0u - (unsigned)x)); } \
    RTCG_DEVICE unsigned atomicSub##scope_name(unsigned *p, unsigned x) { return atomicAdd##scope_name(p, 0u - x); }
#if __clang_major__ <= 20
#define RTCG_CAS_OF_DEVICE(type, instruction, kind) \
    RTCG_DEVICE type atomicCAS(type *p, type compare, type x) { \
        __atomic_compare_exchange_n(p, &compare, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return compare; \
    }
#else
#define RTCG_CAS_OF_DEVICE(type, instruction, kind) RTCG_CAS_IN_ASSEMBLY(, "", type, instruction, kind)
#endif
#define RTCG_ATOMIC_CAS(type, instruction, kind) \
    RTCG_CAS_OF_DEVICE(type, instruction, kind) \
    RTCG_CAS_IN_ASSEMBLY(_block, ".cta", type, instruction, kind) RTCG_CAS_IN_ASSEMBLY(_system, ".sys", type, instruction, kind)
#define RTCG_ATOMIC_BITS(name, operation, code) \
    RTCG_ATOMIC(name, operation, int, code ".b32", "r") RTCG_ATOMIC(name, operation, unsigned, code ".b32", "r") \
    RTCG_ATOMIC(name, operation, unsigned long long, code ".b64", "l")
#define RTCG_ATOMIC_EXTREMUM(name, operation, code) \
    RTCG_ATOMIC(name, operation, int, code ".s32", "r") RTCG_ATOMIC(name, operation, unsigned, code ".u32", "r") \
    RTCG_ATOMIC(name, operation, long long, code ".s64", "l") RTCG_ATOMIC(name, operation, unsigned long long, code ".u64", "l")

RTCG_ATOMIC(atomicAdd, fetch_add, int, "add.u32", "r")
RTCG_ATOMIC(atomicAdd, fetch_add, unsigned, "add.u32", "r")
RTCG_ATOMIC(atomicAdd, fetch_add, unsigned long long, "add.u64", "l")
RTCG_ATOMIC_ADD_FLOAT(float, "add.f32", f)
RTCG_ATOMIC_ADD_FLOAT(double, "add.f64", d)
RTCG_ATOMIC_SUB()
RTCG_ATOMIC_SUB(_block)
RTCG_ATOMIC_SUB(_system)
RTCG_ATOMIC_BITS(atomicExch, exchange_n, "exch")
RTCG_ATOMIC_BITS(atomicAnd, fetch_and, "and")
RTCG_ATOMIC_BITS(atomicOr, fetch_or, "or")
RTCG_ATOMIC_BITS(atomicXor, fetch_xor, "xor")
RTCG_ATOMIC_EXTREMUM(atomicMin, fetch_min, "min")
RTCG_ATOMIC_EXTREMUM(atomicMax, fetch_max, "max")
RTCG_ATOMIC_COUNTER(atomicInc, "inc.u32")
RTCG_ATOMIC_COUNTER(atomicDec, "dec.u32")
RTCG_ATOMIC_CAS(int, "cas.b32", "r")
RTCG_ATOMIC_CAS(unsigned, "cas.b32", "r")
RTCG_ATOMIC_CAS(unsigned long long, "cas.b64", "l")
RTCG_CAS_IN_ASSEMBLY(, "", unsigned short, "cas.b16", "h")
RTCG_CAS_IN_ASSEMBLY(_block, ".cta", unsigned short, "cas.b16", "h")
RTCG_CAS_IN_ASSEMBLY(_system, ".sys", unsigned short, "cas.b16", "h")
RTCG_DEVICE float atomicExch(float *p, float x) { return __builtin_bit_cast(float, atomicExch((unsigned *)p, __builtin_bit_cast(unsigned, x))); }
RTCG_ATOMIC_IN_ASSEMBLY(atomicExch, _block, ".cta", float, "exch.b32", "f")
RTCG_ATOMIC_IN_ASSEMBLY(atomicExch, _system, ".sys", float, "exch.b32", "f")

#if __CUDA_ARCH__ >= 900
// Each element is atomic, the vector is not.
#define RTCG_ATOMIC_ADD_VECTOR(scope_name) \
    RTCG_DEVICE float2 atomicAdd##scope_name(float2 *p, float2 v) { return {atomicAdd##scope_name(&p->x, v.x), atomicAdd##scope_name(&p->y, v.y)}; } \
    RTCG_DEVICE float4 atomicAdd##scope_name(float4 *p, float4 v) { \
        return {atomicAdd##scope_name(&p->x, v.x), atomicAdd##scope_name(&p->y, v.y), atomicAdd##scope_name(&p->z, v.z), \
                atomicAdd##scope_name(&p->w, v.w)}; \
    }
RTCG_ATOMIC_ADD_VECTOR()
RTCG_ATOMIC_ADD_VECTOR(_block)
RTCG_ATOMIC_ADD_VECTOR(_system)
#undef RTCG_ATOMIC_ADD_VECTOR

// Any type of 16 bytes that may be copied as bytes; these instructions are of PTX 8.3.
template <bool is_so> struct __rtcg_if_16_bytes {};
template <> struct __rtcg_if_16_bytes<true> { typedef int type; };
#define RTCG_ATOMIC_16_BYTES(scope_name, scope) \
    template <class T, typename __rtcg_if_16_bytes<sizeof(T) == 16 && __is_trivially_copyable(T)>::type = 0> \
    RTCG_DEVICE T atomicExch##scope_name(T *p, T x) { \
        struct alignas(16) bits { unsigned long long low, high; } b = __builtin_bit_cast(bits, x), old; \
        asm volatile("{ .reg .b128 x, y; mov.b128 x, {%3, %4}; atom" scope ".exch.b128 y, [%2], x; mov.b128 {%0, %1}, y; }" \
                     : "=l"(old.low), "=l"(old.high) : "l"(p), "l"(b.low), "l"(b.high) : "memory"); \
        return __builtin_bit_cast(T, old); \
    } \
    template <class T, typename __rtcg_if_16_bytes<sizeof(T) == 16 && __is_trivially_copyable(T)>::type = 0> \
    RTCG_DEVICE T atomicCAS##scope_name(T *p, T compare, T x) { \
        struct alignas(16) bits { unsigned long long low, high; } c = __builtin_bit_cast(bits, compare), b = __builtin_bit_cast(bits, x), old; \
        asm volatile("{ .reg .b128 x, y, z; mov.b128 x, {%3, %4}; mov.b128 z, {%5, %6}; atom" scope ".cas.b128 y, [%2], x, z; mov.b128 {%0, %1}, y; }" \
                     : "=l"(old.low), "=l"(old.high) : "l"(p), "l"(c.low), "l"(c.high), "l"(b.low), "l"(b.high) : "memory"); \
        return __builtin_bit_cast(T, old); \
    }
RTCG_ATOMIC_16_BYTES(, "")
RTCG_ATOMIC_16_BYTES(_block, ".cta")
RTCG_ATOMIC_16_BYTES(_system, ".sys")
#undef RTCG_ATOMIC_16_BYTES
#endif

#undef RTCG_DEVICE_ATOMIC
#undef RTCG_DEVICE_ATOMIC_ADD
#undef RTCG_CAS_OF_DEVICE
#undef RTCG_ATOMIC_IN_ASSEMBLY
#undef RTCG_CAS_IN_ASSEMBLY
#undef RTCG_ATOMIC
#undef RTCG_ATOMIC_ADD_FLOAT
#undef RTCG_ATOMIC_COUNTER
#undef RTCG_ATOMIC_SUB
#undef RTCG_ATOMIC_CAS
#undef RTCG_ATOMIC_BITS
#undef RTCG_ATOMIC_EXTREMUM
}
#include "rtcg_nv_atomics.h"
