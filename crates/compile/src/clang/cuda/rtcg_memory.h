// Loads and stores with cache hints, address spaces, places on the stack.
//
// Sources: CUDA C++ Programming Guide 13.0 (sections "Read-Only Data Cache Load Function" to "Address Space Conversion
// Functions"), PTX ISA 8.8 (`ld`, `st`, `isspacep`, `cvta`). A hint is for global memory.
#pragma once

extern "C++" {

#define RTCG_ADDRESS_SPACE(space, number, predicate) \
    RTCG_DEVICE unsigned predicate(const void *p) { return __nvvm_isspacep_##space(p); } \
    RTCG_DEVICE size_t __cvta_generic_to_##space(const void *p) { return (size_t)(const __attribute__((address_space(number))) void *)p; } \
    RTCG_DEVICE void *__cvta_##space##_to_generic(size_t p) { return (void *)(__attribute__((address_space(number))) void *)p; }
RTCG_ADDRESS_SPACE(global, 1, __isGlobal)
RTCG_ADDRESS_SPACE(shared, 3, __isShared)
RTCG_ADDRESS_SPACE(const, 4, __isConstant)
RTCG_ADDRESS_SPACE(local, 5, __isLocal)
#undef RTCG_ADDRESS_SPACE
RTCG_DEVICE size_t __cvta_generic_to_constant(const void *p) { return __cvta_generic_to_const(p); }
RTCG_DEVICE void *__cvta_constant_to_generic(size_t p) { return __cvta_const_to_generic(p); }
RTCG_DEVICE unsigned __isGridConstant(const void *p) {
    unsigned is_parameter;
    asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is_parameter) : "l"(p));
    return is_parameter;
}
RTCG_DEVICE size_t __cvta_generic_to_grid_constant(const void *p) {
    size_t address;
    asm("cvta.to.param.u64 %0, %1;" : "=l"(address) : "l"(p));
    return address;
}
RTCG_DEVICE void *__cvta_grid_constant_to_generic(size_t address) {
    void *p;
    asm("cvta.param.u64 %0, %1;" : "=l"(p) : "l"(address));
    return p;
}

// `make` gets type, PTX type, kind of operand, and type of operand for each type that the functions are for.
#define RTCG_CACHED_SCALARS(make) \
    make(char, "s8", "r", int) make(signed char, "s8", "r", int) make(unsigned char, "u8", "r", unsigned) \
    make(short, "s16", "h", short) make(unsigned short, "u16", "h", unsigned short) \
    make(int, "s32", "r", int) make(unsigned, "u32", "r", unsigned) \
    make(long, "s64", "l", long) make(unsigned long, "u64", "l", unsigned long) \
    make(long long, "s64", "l", long long) make(unsigned long long, "u64", "l", unsigned long long) \
    make(float, "f32", "f", float) make(double, "f64", "d", double)
#define RTCG_CACHED_PAIRS(make) \
    make(char2, "s8", "r", int) make(uchar2, "u8", "r", unsigned) make(short2, "s16", "h", short) make(ushort2, "u16", "h", unsigned short) \
    make(int2, "s32", "r", int) make(uint2, "u32", "r", unsigned) make(longlong2, "s64", "l", long long) \
    make(ulonglong2, "u64", "l", unsigned long long) make(float2, "f32", "f", float) make(double2, "f64", "d", double)
#define RTCG_CACHED_QUADS(make) \
    make(char4, "s8", "r", int) make(uchar4, "u8", "r", unsigned) make(short4, "s16", "h", short) make(ushort4, "u16", "h", unsigned short) \
    make(int4, "s32", "r", int) make(uint4, "u32", "r", unsigned) make(float4, "f32", "f", float)

// Read-only data: the compiler may move and merge these loads.
#define RTCG_LDG(type, code) RTCG_DEVICE type __ldg(const type *p) { return __nvvm_ldg_##code(p); }
RTCG_LDG(char, c) RTCG_LDG(unsigned char, uc) RTCG_LDG(short, s) RTCG_LDG(unsigned short, us) RTCG_LDG(int, i) RTCG_LDG(unsigned, ui)
RTCG_LDG(long, l) RTCG_LDG(unsigned long, ul) RTCG_LDG(long long, ll) RTCG_LDG(unsigned long long, ull) RTCG_LDG(float, f) RTCG_LDG(double, d)
RTCG_DEVICE signed char __ldg(const signed char *p) { return (signed char)__nvvm_ldg_c((const char *)p); }
#undef RTCG_LDG
#define RTCG_LDG_VECTOR(type, element, n, code) \
    RTCG_DEVICE type##n __ldg(const type##n *p) { \
        typedef element __rtcg_vector __attribute__((ext_vector_type(n))); \
        return __builtin_bit_cast(type##n, __nvvm_ldg_##code##n((const __rtcg_vector *)p)); \
    }
RTCG_LDG_VECTOR(char, char, 2, c) RTCG_LDG_VECTOR(uchar, unsigned char, 2, uc) RTCG_LDG_VECTOR(char, char, 4, c) RTCG_LDG_VECTOR(uchar, unsigned char, 4, uc)
RTCG_LDG_VECTOR(short, short, 2, s) RTCG_LDG_VECTOR(ushort, unsigned short, 2, us)
RTCG_LDG_VECTOR(short, short, 4, s) RTCG_LDG_VECTOR(ushort, unsigned short, 4, us)
RTCG_LDG_VECTOR(int, int, 2, i) RTCG_LDG_VECTOR(uint, unsigned, 2, ui) RTCG_LDG_VECTOR(int, int, 4, i) RTCG_LDG_VECTOR(uint, unsigned, 4, ui)
RTCG_LDG_VECTOR(longlong, long long, 2, ll) RTCG_LDG_VECTOR(ulonglong, unsigned long long, 2, ull)
RTCG_LDG_VECTOR(float, float, 2, f) RTCG_LDG_VECTOR(float, float, 4, f) RTCG_LDG_VECTOR(double, double, 2, d)
#undef RTCG_LDG_VECTOR

#define RTCG_GLOBAL(p) "l"(__cvta_generic_to_global(p))
#define RTCG_LOAD(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE type name(const type *p) { \
        operand x; \
        asm volatile("ld.global." hint "." ptx_type " %0, [%1];" : "=" kind(x) : RTCG_GLOBAL(p) : "memory"); \
        return (type)x; \
    }
#define RTCG_LOAD_PAIR(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE type name(const type *p) { \
        operand x, y; \
        asm volatile("ld.global." hint ".v2." ptx_type " {%0, %1}, [%2];" : "=" kind(x), "=" kind(y) : RTCG_GLOBAL(p) : "memory"); \
        return {(decltype(type::x))x, (decltype(type::x))y}; \
    }
#define RTCG_LOAD_QUAD(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE type name(const type *p) { \
        operand x, y, z, w; \
        asm volatile("ld.global." hint ".v4." ptx_type " {%0, %1, %2, %3}, [%4];" \
                     : "=" kind(x), "=" kind(y), "=" kind(z), "=" kind(w) : RTCG_GLOBAL(p) : "memory"); \
        return {(decltype(type::x))x, (decltype(type::x))y, (decltype(type::x))z, (decltype(type::x))w}; \
    }
#define RTCG_STORE(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE void name(type *p, type x) { \
        asm volatile("st.global." hint "." ptx_type " [%0], %1;" : : RTCG_GLOBAL(p), kind((operand)x) : "memory"); \
    }
#define RTCG_STORE_PAIR(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE void name(type *p, type v) { \
        asm volatile("st.global." hint ".v2." ptx_type " [%0], {%1, %2};" : : RTCG_GLOBAL(p), kind((operand)v.x), kind((operand)v.y) : "memory"); \
    }
#define RTCG_STORE_QUAD(name, hint, type, ptx_type, kind, operand) \
    RTCG_DEVICE void name(type *p, type v) { \
        asm volatile("st.global." hint ".v4." ptx_type " [%0], {%1, %2, %3, %4};" \
                     : : RTCG_GLOBAL(p), kind((operand)v.x), kind((operand)v.y), kind((operand)v.z), kind((operand)v.w) : "memory"); \
    }
#define RTCG_HINTS(load, store, ...) \
    load(__ldca, "ca", __VA_ARGS__) load(__ldcg, "cg", __VA_ARGS__) load(__ldcs, "cs", __VA_ARGS__) load(__ldlu, "lu", __VA_ARGS__) \
    load(__ldcv, "cv", __VA_ARGS__) store(__stwb, "wb", __VA_ARGS__) store(__stcg, "cg", __VA_ARGS__) store(__stcs, "cs", __VA_ARGS__) \
    store(__stwt, "wt", __VA_ARGS__)
#define RTCG_MAKE(...) RTCG_HINTS(RTCG_LOAD, RTCG_STORE, __VA_ARGS__)
#define RTCG_MAKE_PAIR(...) RTCG_HINTS(RTCG_LOAD_PAIR, RTCG_STORE_PAIR, __VA_ARGS__)
#define RTCG_MAKE_QUAD(...) RTCG_HINTS(RTCG_LOAD_QUAD, RTCG_STORE_QUAD, __VA_ARGS__)
RTCG_CACHED_SCALARS(RTCG_MAKE)
RTCG_CACHED_PAIRS(RTCG_MAKE_PAIR)
RTCG_CACHED_QUADS(RTCG_MAKE_QUAD)
#undef RTCG_CACHED_SCALARS
#undef RTCG_CACHED_PAIRS
#undef RTCG_CACHED_QUADS
#undef RTCG_GLOBAL
#undef RTCG_LOAD
#undef RTCG_LOAD_PAIR
#undef RTCG_LOAD_QUAD
#undef RTCG_STORE
#undef RTCG_STORE_PAIR
#undef RTCG_STORE_QUAD
#undef RTCG_HINTS
#undef RTCG_MAKE
#undef RTCG_MAKE_PAIR
#undef RTCG_MAKE_QUAD
}
