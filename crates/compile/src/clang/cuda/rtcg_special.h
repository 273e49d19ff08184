// Special functions of single precision: inverses of the error function, and Bessel functions.
#pragma once
#pragma clang fp contract(off)
extern "C++" {
// In single precision they are computed in double precision, and rounded once.
#define RTCG_BY_DOUBLE(name) \
    RTCG_DEVICE float name##f(float a) { return (float)name((double)a); } \
    RTCG_DEVICE float name(float a) { return (float)name((double)a); }
RTCG_BY_DOUBLE(erfinv) RTCG_BY_DOUBLE(erfcinv) RTCG_BY_DOUBLE(erfcx) RTCG_BY_DOUBLE(normcdf) RTCG_BY_DOUBLE(normcdfinv) RTCG_BY_DOUBLE(cyl_bessel_i0) RTCG_BY_DOUBLE(cyl_bessel_i1)
RTCG_BY_DOUBLE(j0) RTCG_BY_DOUBLE(j1) RTCG_BY_DOUBLE(y0) RTCG_BY_DOUBLE(y1)
RTCG_DEVICE float jnf(int n, float a) { return (float)jn(n, (double)a); } RTCG_DEVICE float jn(int n, float a) { return jnf(n, a); }
RTCG_DEVICE float ynf(int n, float a) { return (float)yn(n, (double)a); } RTCG_DEVICE float yn(int n, float a) { return ynf(n, a); }
#undef RTCG_BY_DOUBLE
}
