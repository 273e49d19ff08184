// Textures and surfaces of double and complex numbers, which travel as integers.
#ifndef RTCG_PYCUDA_HELPERS_HPP
#define RTCG_PYCUDA_HELPERS_HPP
#include <pycuda-complex.hpp>
#include <texture-references.hpp>
extern "C++" {
typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace rtcg_texture {

// What the texels of a texture stand for.
template <class T> struct meaning {
    typedef T type;
    static __device__ __forceinline__ T of(T v) { return v; }
};
template <> struct meaning<fp_tex_double> {
    typedef double type;
    static __device__ __forceinline__ double of(int2 v) { return __hiloint2double(v.y, v.x); }
};
template <> struct meaning<fp_tex_cfloat> {
    typedef pycuda::complex<float> type;
    static __device__ __forceinline__ type of(uint2 v) { return type(__uint_as_float(v.x), __uint_as_float(v.y)); }
};
template <> struct meaning<fp_tex_cdouble> {
    typedef pycuda::complex<double> type;
    static __device__ __forceinline__ type of(int4 v) {
        return type(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z));
    }
};

// How a value is stored in a surface.
template <class T> struct stored {
    typedef T type;
    static __device__ __forceinline__ T pack(T v) { return v; }
    static __device__ __forceinline__ T unpack(T v) { return v; }
};
template <> struct stored<double> {
    typedef int2 type;
    static __device__ __forceinline__ int2 pack(double v) { return make_int2(__double2loint(v), __double2hiint(v)); }
    static __device__ __forceinline__ double unpack(int2 v) { return meaning<int2>::of(v); }
};
template <> struct stored<pycuda::complex<float> > {
    typedef uint2 type;
    static __device__ __forceinline__ uint2 pack(pycuda::complex<float> v) {
        return make_uint2(__float_as_uint(v.real()), __float_as_uint(v.imag()));
    }
    static __device__ __forceinline__ pycuda::complex<float> unpack(uint2 v) { return meaning<uint2>::of(v); }
};
template <> struct stored<pycuda::complex<double> > {
    typedef int4 type;
    static __device__ __forceinline__ int4 pack(pycuda::complex<double> v) {
        return make_int4(__double2loint(v.real()), __double2hiint(v.real()), __double2loint(v.imag()),
                         __double2hiint(v.imag()));
    }
    static __device__ __forceinline__ pycuda::complex<double> unpack(int4 v) { return meaning<int4>::of(v); }
};

}  // namespace rtcg_texture

#define RTCG_FP(name, parameters, arguments) \
    template <class T, int type> \
    static __device__ __forceinline__ typename rtcg_texture::meaning<T>::type fp_##name parameters { \
        return rtcg_texture::meaning<T>::of(name arguments); \
    }
RTCG_FP(tex1Dfetch, (texture<T, type> t, int x), (t, x))
RTCG_FP(tex2D, (texture<T, type> t, float x, float y), (t, x, y))
RTCG_FP(tex2DLayered, (texture<T, type> t, float x, float y, int layer), (t, x, y, layer))
RTCG_FP(tex3D, (texture<T, type> t, float x, float y, float z), (t, x, y, z))
#undef RTCG_FP

// Here x counts elements, not bytes.
#define RTCG_FP(name) \
    template <class T, int type> \
    static __device__ __forceinline__ void fp_##name##write( \
        T value, surface<void, type> s, int x, int y, int z, cudaSurfaceBoundaryMode bounds = cudaBoundaryModeTrap) { \
        name##write(rtcg_texture::stored<T>::pack(value), s, x * (int)sizeof(T), y, z, bounds); \
    } \
    template <class T, int type> \
    static __device__ __forceinline__ void fp_##name##read( \
        T *value, surface<void, type> s, int x, int y, int z, cudaSurfaceBoundaryMode bounds = cudaBoundaryModeTrap) { \
        *value = rtcg_texture::stored<T>::unpack( \
            name##read<typename rtcg_texture::stored<T>::type>(s, x * (int)sizeof(T), y, z, bounds)); \
    }
RTCG_FP(surf2DLayered)
RTCG_FP(surf3D)
#undef RTCG_FP
}
#endif
