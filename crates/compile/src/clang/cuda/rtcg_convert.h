// Conversions with rounding, and bits of numbers as other types.
//
// Sources: CUDA Math API 13.0 (section "Type Casting Intrinsics"), PTX ISA 8.8 (`cvt`). Values out of range give the nearest
// number of the type, as `cvt` does; a NaN gives 0 where single precision becomes 32 bits, else the number with only the highest bit.
//
// LLVM makes a cast of the language of conversions that cut digits off, and that has no value out of range (a constant became 0, seen):
// single precision takes the instruction that flushes, which gives the same integers, and the others are assembly. LLVM 20 also
// takes every constant NaN for 0.
#pragma once

extern "C++" {

#if __RTCG_FTZ
#define RTCG_FROM_SINGLE(name) name##_ftz
#else
#define RTCG_FROM_SINGLE(name) name
#endif
#define RTCG_CONVERT(make, name, to, from, code) make(name##_rd, to, from, code##_rm) make(name##_ru, to, from, code##_rp)
#define RTCG_CONVERT_OTHER(name, to, from, code) RTCG_DEVICE to name(from x) { return __nvvm_##code(x); }
#define RTCG_CONVERT_SINGLE(name, to, from, code) RTCG_DEVICE to name(from x) { return RTCG_FROM_SINGLE(__nvvm_##code)(x); }
#define RTCG_CUT(name, to, from, types, to_kind, from_kind) \
    RTCG_DEVICE to name(from x) { \
        to y; \
        asm("cvt" types " %0, %1;" : "=" to_kind(y) : from_kind(x)); \
        return y; \
    }
#define RTCG_CONVERT_TO_INTEGERS(from_name, from, code, make) \
    make(__##from_name##2int_rn, int, from, code##2i_rn) RTCG_CONVERT(make, __##from_name##2int, int, from, code##2i) \
    make(__##from_name##2uint_rn, unsigned, from, code##2ui_rn) RTCG_CONVERT(make, __##from_name##2uint, unsigned, from, code##2ui) \
    make(__##from_name##2ll_rn, long long, from, code##2ll_rn) RTCG_CONVERT(make, __##from_name##2ll, long long, from, code##2ll) \
    make(__##from_name##2ull_rn, unsigned long long, from, code##2ull_rn) RTCG_CONVERT(make, __##from_name##2ull, unsigned long long, from, code##2ull)
// LLVM 15 and 18 round to nearest here where the name says to zero.
#if __clang_major__ >= 20
#define RTCG_CUT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) RTCG_CONVERT_OTHER(name, to, from, code)
#else
#define RTCG_CUT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) RTCG_CUT(name, to, from, types, to_kind, from_kind)
#endif
#define RTCG_CONVERT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) \
    RTCG_DEVICE to name##_rn(from x) { return (to)x; } \
    RTCG_CUT_TO_FLOAT(name##_rz, to, from, code##_rz, types, to_kind, from_kind) RTCG_CONVERT(RTCG_CONVERT_OTHER, name, to, from, code)
RTCG_CONVERT_TO_INTEGERS(float, float, f, RTCG_CONVERT_SINGLE)
RTCG_CONVERT_TO_INTEGERS(double, double, d, RTCG_CONVERT_OTHER)
RTCG_DEVICE int __float2int_rz(float x) { return __nvvm_f2i_rz_ftz(x); }
RTCG_DEVICE unsigned __float2uint_rz(float x) { return __nvvm_f2ui_rz_ftz(x); }
RTCG_CUT(__float2ll_rz, long long, float, ".rzi.s64.f32", "l", "f")
RTCG_CUT(__float2ull_rz, unsigned long long, float, ".rzi.u64.f32", "l", "f")
RTCG_CUT(__double2int_rz, int, double, ".rzi.s32.f64", "r", "d")
RTCG_CUT(__double2uint_rz, unsigned, double, ".rzi.u32.f64", "r", "d")
RTCG_CUT(__double2ll_rz, long long, double, ".rzi.s64.f64", "l", "d")
RTCG_CUT(__double2ull_rz, unsigned long long, double, ".rzi.u64.f64", "l", "d")
RTCG_CONVERT_TO_FLOAT(__int2float, float, int, i2f, ".rz.f32.s32", "f", "r")
RTCG_CONVERT_TO_FLOAT(__uint2float, float, unsigned, ui2f, ".rz.f32.u32", "f", "r")
RTCG_CONVERT_TO_FLOAT(__ll2float, float, long long, ll2f, ".rz.f32.s64", "f", "l")
RTCG_CONVERT_TO_FLOAT(__ull2float, float, unsigned long long, ull2f, ".rz.f32.u64", "f", "l")
RTCG_CONVERT_TO_FLOAT(__ll2double, double, long long, ll2d, ".rz.f64.s64", "d", "l")
RTCG_CONVERT_TO_FLOAT(__ull2double, double, unsigned long long, ull2d, ".rz.f64.u64", "d", "l")
RTCG_DEVICE float __double2float_rn(double x) { return (float)x; }
RTCG_CONVERT_SINGLE(__double2float_rz, float, double, d2f_rz) RTCG_CONVERT(RTCG_CONVERT_SINGLE, __double2float, float, double, d2f)
RTCG_DEVICE double __int2double_rn(int x) { return x; }
RTCG_DEVICE double __uint2double_rn(unsigned x) { return x; }
#undef RTCG_FROM_SINGLE
#undef RTCG_CONVERT
#undef RTCG_CONVERT_OTHER
#undef RTCG_CONVERT_SINGLE
#undef RTCG_CUT
#undef RTCG_CONVERT_TO_INTEGERS
#undef RTCG_CUT_TO_FLOAT
#undef RTCG_CONVERT_TO_FLOAT

RTCG_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
RTCG_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
RTCG_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
RTCG_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
RTCG_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
RTCG_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
RTCG_DEVICE int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
RTCG_DEVICE int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
RTCG_DEVICE double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low); }
}
