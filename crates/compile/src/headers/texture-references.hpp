// Texture and surface references as CUDA 11 had them, for compilers that no longer know them.
//
// A reference is a structure around the handle of a texture or surface object. It lives in a
// variable of the module, which `Module.get_texref` and `get_surfref` fill when something is bound.
#ifndef RTCG_TEXTURE_REFERENCES_HPP
#define RTCG_TEXTURE_REFERENCES_HPP
#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC
#endif

extern "C++" {

template <class T, int type = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {
    cudaTextureObject_t object;
};

template <class T, int type = cudaSurfaceType1D>
struct surface {
    cudaSurfaceObject_t object;
};

namespace rtcg_texture {

template <class T> struct as_float { typedef float type; };
#define RTCG_AS_FLOAT(name) \
    template <> struct as_float<name##1> { typedef float1 type; }; \
    template <> struct as_float<name##2> { typedef float2 type; }; \
    template <> struct as_float<name##4> { typedef float4 type; };
RTCG_AS_FLOAT(char)
RTCG_AS_FLOAT(uchar)
RTCG_AS_FLOAT(short)
RTCG_AS_FLOAT(ushort)
#undef RTCG_AS_FLOAT

template <class T, cudaTextureReadMode mode> struct result { typedef T type; };
template <class T> struct result<T, cudaReadModeNormalizedFloat> { typedef typename as_float<T>::type type; };

template <class T> struct four;
#define RTCG_FOUR(scalar, name) \
    template <> struct four<scalar> { typedef name##4 type; }; \
    template <> struct four<name##1> { typedef name##4 type; }; \
    template <> struct four<name##2> { typedef name##4 type; }; \
    template <> struct four<name##4> { typedef name##4 type; };
RTCG_FOUR(signed char, char)
template <> struct four<char> { typedef char4 type; };
RTCG_FOUR(unsigned char, uchar)
RTCG_FOUR(short, short)
RTCG_FOUR(unsigned short, ushort)
RTCG_FOUR(int, int)
RTCG_FOUR(unsigned int, uint)
RTCG_FOUR(float, float)
#undef RTCG_FOUR

}  // namespace rtcg_texture

#define RTCG_FETCH(name, parameters, arguments) \
    template <class T, int type, cudaTextureReadMode mode> \
    static __device__ __forceinline__ typename rtcg_texture::result<T, mode>::type name parameters { \
        return name<typename rtcg_texture::result<T, mode>::type> arguments; \
    }
#define RTCG_TEXTURE texture<T, type, mode> t

RTCG_FETCH(tex1Dfetch, (RTCG_TEXTURE, int x), (t.object, x))
RTCG_FETCH(tex1D, (RTCG_TEXTURE, float x), (t.object, x))
RTCG_FETCH(tex2D, (RTCG_TEXTURE, float x, float y), (t.object, x, y))
RTCG_FETCH(tex3D, (RTCG_TEXTURE, float x, float y, float z), (t.object, x, y, z))
RTCG_FETCH(tex1DLayered, (RTCG_TEXTURE, float x, int layer), (t.object, x, layer))
RTCG_FETCH(tex2DLayered, (RTCG_TEXTURE, float x, float y, int layer), (t.object, x, y, layer))
RTCG_FETCH(texCubemap, (RTCG_TEXTURE, float x, float y, float z), (t.object, x, y, z))
RTCG_FETCH(texCubemapLayered, (RTCG_TEXTURE, float x, float y, float z, int layer), (t.object, x, y, z, layer))
RTCG_FETCH(tex1DLod, (RTCG_TEXTURE, float x, float level), (t.object, x, level))
RTCG_FETCH(tex2DLod, (RTCG_TEXTURE, float x, float y, float level), (t.object, x, y, level))
RTCG_FETCH(tex3DLod, (RTCG_TEXTURE, float x, float y, float z, float level), (t.object, x, y, z, level))
RTCG_FETCH(tex1DLayeredLod, (RTCG_TEXTURE, float x, int layer, float level), (t.object, x, layer, level))
RTCG_FETCH(tex2DLayeredLod, (RTCG_TEXTURE, float x, float y, int layer, float level), (t.object, x, y, layer, level))
RTCG_FETCH(texCubemapLod, (RTCG_TEXTURE, float x, float y, float z, float level), (t.object, x, y, z, level))
RTCG_FETCH(tex1DGrad, (RTCG_TEXTURE, float x, float dx, float dy), (t.object, x, dx, dy))
RTCG_FETCH(tex2DGrad, (RTCG_TEXTURE, float x, float y, float2 dx, float2 dy), (t.object, x, y, dx, dy))
RTCG_FETCH(tex3DGrad, (RTCG_TEXTURE, float x, float y, float z, float4 dx, float4 dy), (t.object, x, y, z, dx, dy))

#undef RTCG_FETCH

template <class T, int type, cudaTextureReadMode mode>
static __device__ __forceinline__
typename rtcg_texture::four<typename rtcg_texture::result<T, mode>::type>::type
tex2Dgather(RTCG_TEXTURE, float x, float y, int component = 0) {
    return tex2Dgather<typename rtcg_texture::four<typename rtcg_texture::result<T, mode>::type>::type>(
        t.object, x, y, component);
}
#undef RTCG_TEXTURE

#define RTCG_BOUNDS cudaSurfaceBoundaryMode bounds = cudaBoundaryModeTrap
#define RTCG_SURFACE(name, COORDINATES, VALUES) \
    template <class R, class T, int type> \
    static __device__ __forceinline__ R name##read(surface<T, type> s, COORDINATES, RTCG_BOUNDS) { \
        return name##read<R>(s.object, VALUES, bounds); \
    } \
    template <class R, class T, int type> \
    static __device__ __forceinline__ void name##read(R *out, surface<T, type> s, COORDINATES, RTCG_BOUNDS) { \
        *out = name##read<R>(s.object, VALUES, bounds); \
    } \
    template <class R, class T, int type> \
    static __device__ __forceinline__ void name##write(R value, surface<T, type> s, COORDINATES, RTCG_BOUNDS) { \
        name##write<R>(value, s.object, VALUES, bounds); \
    }
#define RTCG_COMMA ,
RTCG_SURFACE(surf1D, int x, x)
RTCG_SURFACE(surf2D, int x RTCG_COMMA int y, x RTCG_COMMA y)
RTCG_SURFACE(surf3D, int x RTCG_COMMA int y RTCG_COMMA int z, x RTCG_COMMA y RTCG_COMMA z)
RTCG_SURFACE(surf1DLayered, int x RTCG_COMMA int layer, x RTCG_COMMA layer)
RTCG_SURFACE(surf2DLayered, int x RTCG_COMMA int y RTCG_COMMA int layer, x RTCG_COMMA y RTCG_COMMA layer)
RTCG_SURFACE(surfCubemap, int x RTCG_COMMA int y RTCG_COMMA int face, x RTCG_COMMA y RTCG_COMMA face)
#undef RTCG_COMMA
#undef RTCG_SURFACE
#undef RTCG_BOUNDS

}  // extern "C++"
#endif
