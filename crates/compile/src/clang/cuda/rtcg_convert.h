// Conversions with rounding, and bits of numbers as other types.
//
// Sources: CUDA Math API 13.0 (section "Type Casting Intrinsics"), PTX ISA 8.8 (`cvt`). Values out of range give the nearest
// number of the type, as `cvt` does; a NaN gives 0 where single precision becomes 32 bits, else the number with only the highest bit.
//
// LLVM folds these at compile time otherwise than the device: it makes a cast of the language of conversions that cut digits off, which has no
// value out of range (a constant became 0, seen), and LLVM 20 takes every constant NaN for 0. So they are assembly, except for those of single
// precision to 32 bits, which LLVM folds right in the form that flushes.
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
#if __RTCG_FTZ
#define RTCG_FLUSH ".ftz"
#else
#define RTCG_FLUSH ""
#endif
#define RTCG_TO_INTEGER(name, to, from, flush, types, to_kind, from_kind) \
    RTCG_CUT(name##_rn, to, from, ".rni" flush types, to_kind, from_kind) RTCG_CUT(name##_rz, to, from, ".rzi" flush types, to_kind, from_kind) \
    RTCG_CUT(name##_rd, to, from, ".rmi" flush types, to_kind, from_kind) RTCG_CUT(name##_ru, to, from, ".rpi" flush types, to_kind, from_kind)
// LLVM 15 and 18 round to nearest here where the name says to zero.
#if __clang_major__ >= 20
#define RTCG_CUT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) RTCG_CONVERT_OTHER(name, to, from, code)
#else
#define RTCG_CUT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) RTCG_CUT(name, to, from, types, to_kind, from_kind)
#endif
#define RTCG_CONVERT_TO_FLOAT(name, to, from, code, types, to_kind, from_kind) \
    RTCG_DEVICE to name##_rn(from x) { return (to)x; } \
    RTCG_CUT_TO_FLOAT(name##_rz, to, from, code##_rz, types, to_kind, from_kind) RTCG_CONVERT(RTCG_CONVERT_OTHER, name, to, from, code)
RTCG_CONVERT_SINGLE(__float2int_rn, int, float, f2i_rn) RTCG_CONVERT(RTCG_CONVERT_SINGLE, __float2int, int, float, f2i)
RTCG_CONVERT_SINGLE(__float2uint_rn, unsigned, float, f2ui_rn) RTCG_CONVERT(RTCG_CONVERT_SINGLE, __float2uint, unsigned, float, f2ui)
RTCG_DEVICE int __float2int_rz(float x) { return __nvvm_f2i_rz_ftz(x); }
RTCG_DEVICE unsigned __float2uint_rz(float x) { return __nvvm_f2ui_rz_ftz(x); }
RTCG_TO_INTEGER(__float2ll, long long, float, RTCG_FLUSH, ".s64.f32", "l", "f")
RTCG_TO_INTEGER(__float2ull, unsigned long long, float, RTCG_FLUSH, ".u64.f32", "l", "f")
RTCG_TO_INTEGER(__double2int, int, double, "", ".s32.f64", "r", "d")
RTCG_TO_INTEGER(__double2uint, unsigned, double, "", ".u32.f64", "r", "d")
RTCG_TO_INTEGER(__double2ll, long long, double, "", ".s64.f64", "l", "d")
RTCG_TO_INTEGER(__double2ull, unsigned long long, double, "", ".u64.f64", "l", "d")
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
#undef RTCG_FLUSH
#undef RTCG_TO_INTEGER
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
