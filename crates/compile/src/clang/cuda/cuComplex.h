// Complex numbers as pairs of floats or doubles, with functions in C's manner.
//
// Sources: names and meanings as CUDA's samples and the manuals of cuBLAS and cuFFT use them; R. Smith, "Algorithm 116: complex division" (1962), in
// which no square leaves the range.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define RTCG_COMPLEX(type, real, suffix, magnitude, absolute) \
    RTCG_HOST_DEVICE type make_##type(real x, real y) { return {x, y}; } \
    RTCG_HOST_DEVICE real cuCreal##suffix(type x) { return x.x; } \
    RTCG_HOST_DEVICE real cuCimag##suffix(type x) { return x.y; } \
    RTCG_HOST_DEVICE type cuConj##suffix(type x) { return {x.x, -x.y}; } \
    RTCG_HOST_DEVICE type cuCadd##suffix(type x, type y) { return {x.x + y.x, x.y + y.y}; } \
    RTCG_HOST_DEVICE type cuCsub##suffix(type x, type y) { return {x.x - y.x, x.y - y.y}; } \
    RTCG_HOST_DEVICE type cuCmul##suffix(type x, type y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
    RTCG_HOST_DEVICE type cuCfma##suffix(type x, type y, type d) { return {x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x}; } \
    RTCG_HOST_DEVICE type cuCdiv##suffix(type x, type y) { \
        bool swaps = !(absolute(y.x) >= absolute(y.y)); \
        real a = swaps ? y.y : y.x, b = swaps ? y.x : y.y, p = swaps ? x.y : x.x, q = swaps ? x.x : x.y; \
        real ratio = b / a, scale = a + b * ratio, imaginary = (q - p * ratio) / scale; \
        return {(p + q * ratio) / scale, swaps ? -imaginary : imaginary}; \
    } \
    RTCG_DEVICE real cuCabs##suffix(type x) { return magnitude(x.x, x.y); }
RTCG_COMPLEX(cuFloatComplex, float, f, hypotf, __builtin_fabsf)
RTCG_COMPLEX(cuDoubleComplex, double, , hypot, __builtin_fabs)
#undef RTCG_COMPLEX

RTCG_HOST_DEVICE cuComplex make_cuComplex(float x, float y) { return {x, y}; }
RTCG_HOST_DEVICE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return {x.x, x.y}; }
RTCG_HOST_DEVICE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return {(float)x.x, (float)x.y}; }
