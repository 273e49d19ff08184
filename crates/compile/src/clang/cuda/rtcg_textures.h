// Texture and surface objects: their types, fetches from textures, and reads and writes of surfaces.
//
// Sources: CUDA C++ Programming Guide 13.0 (sections "Texture Functions" and "Surface Functions"), CUDA Runtime API 13.0 (data types), and
// PTX ISA 8.7 (`tex`, `tld4`, `suld`, `sust`). Texture references are in `texture-references.hpp`.
#pragma once

extern "C++" {

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureAddressMode { cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2, cudaAddressModeBorder = 3 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0, cudaChannelFormatKindUnsigned = 1, cudaChannelFormatKindFloat = 2, cudaChannelFormatKindNone = 3,
    cudaChannelFormatKindNV12 = 4, cudaChannelFormatKindUnsignedNormalized8X1 = 5, cudaChannelFormatKindUnsignedNormalized8X2 = 6,
    cudaChannelFormatKindUnsignedNormalized8X4 = 7, cudaChannelFormatKindUnsignedNormalized16X1 = 8,
    cudaChannelFormatKindUnsignedNormalized16X2 = 9, cudaChannelFormatKindUnsignedNormalized16X4 = 10,
    cudaChannelFormatKindSignedNormalized8X1 = 11, cudaChannelFormatKindSignedNormalized8X2 = 12, cudaChannelFormatKindSignedNormalized8X4 = 13,
    cudaChannelFormatKindSignedNormalized16X1 = 14, cudaChannelFormatKindSignedNormalized16X2 = 15, cudaChannelFormatKindSignedNormalized16X4 = 16,
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17, cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18,
    cudaChannelFormatKindUnsignedBlockCompressed2 = 19, cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20,
    cudaChannelFormatKindUnsignedBlockCompressed3 = 21, cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22,
    cudaChannelFormatKindUnsignedBlockCompressed4 = 23, cudaChannelFormatKindSignedBlockCompressed4 = 24,
    cudaChannelFormatKindUnsignedBlockCompressed5 = 25, cudaChannelFormatKindSignedBlockCompressed5 = 26,
    cudaChannelFormatKindUnsignedBlockCompressed6H = 27, cudaChannelFormatKindSignedBlockCompressed6H = 28,
    cudaChannelFormatKindUnsignedBlockCompressed7 = 29, cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30,
    cudaChannelFormatKindUnsignedNormalized1010102 = 31
};
enum cudaResourceType { cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2, cudaResourceTypePitch2D = 3 };
struct cudaChannelFormatDesc { int x, y, z, w; enum cudaChannelFormatKind f; };
struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct { struct cudaArray *array; } array;
        struct { struct cudaMipmappedArray *mipmap; } mipmap;
        struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
        struct { int reserved[32]; } reserved;
    } res;
    unsigned int flags;
};
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

// ---- Texels -----------------------------------------------------------------------------------------------------------------------------

// For a type of texels, which are `count` numbers of type `number`: `result` is the type itself.
template <class T> struct __rtcg_texel;

#define RTCG_TEXEL(T, S, n, ...) \
    template <> struct __rtcg_texel<T> { \
        typedef T result; typedef void nothing; typedef S number; static constexpr int count = n; \
        template <class V> RTCG_DEVICE T of(const V &v) { return __VA_ARGS__; } \
    };
#define RTCG_TEXELS(S, name) \
    RTCG_TEXEL(S, S, 1, (S)v.x) \
    RTCG_TEXEL(name##1, S, 1, {(S)v.x}) \
    RTCG_TEXEL(name##2, S, 2, {(S)v.x, (S)v.y}) \
    RTCG_TEXEL(name##4, S, 4, {(S)v.x, (S)v.y, (S)v.z, (S)v.w})
RTCG_TEXEL(char, char, 1, (char)v.x)
RTCG_TEXELS(signed char, char)
RTCG_TEXELS(unsigned char, uchar)
RTCG_TEXELS(short, short)
RTCG_TEXELS(unsigned short, ushort)
RTCG_TEXELS(int, int)
RTCG_TEXELS(unsigned int, uint)
RTCG_TEXELS(float, float)
// Only surfaces hold these.
RTCG_TEXEL(long long, long long, 1, (long long)v.x)
RTCG_TEXEL(longlong1, long long, 1, {(long long)v.x})
RTCG_TEXEL(longlong2, long long, 2, {(long long)v.x, (long long)v.y})
RTCG_TEXEL(unsigned long long, unsigned long long, 1, (unsigned long long)v.x)
RTCG_TEXEL(ulonglong1, unsigned long long, 1, {(unsigned long long)v.x})
RTCG_TEXEL(ulonglong2, unsigned long long, 2, {(unsigned long long)v.x, (unsigned long long)v.y})
#undef RTCG_TEXEL
#undef RTCG_TEXELS

// ---- Textures ---------------------------------------------------------------------------------------------------------------------------

// What an instruction gives where numbers of type `S` are asked for: integers are widened to 32 bits.
template <class S> struct __rtcg_fetched { typedef int4 type; };
template <> struct __rtcg_fetched<unsigned char> { typedef uint4 type; };
template <> struct __rtcg_fetched<unsigned short> { typedef uint4 type; };
template <> struct __rtcg_fetched<unsigned int> { typedef uint4 type; };
template <> struct __rtcg_fetched<float> { typedef float4 type; };
template <> struct __rtcg_fetched<long long> {};
template <> struct __rtcg_fetched<unsigned long long> {};
#define RTCG_FETCHED template <class T, class R = typename __rtcg_fetched<typename __rtcg_texel<T>::number>::type> RTCG_DEVICE

#define RTCG_LIST(...) __VA_ARGS__

// One instruction with one type of results: what it gives, and in the second form whether the texels are in memory.
#define RTCG_FETCH_TYPE(name, head, tail, params, inputs, vector, type, letter) \
    RTCG_DEVICE void __rtcg_##name(vector &v, cudaTextureObject_t t, RTCG_LIST params) { \
        asm(head ".v4." type tail : "=" letter(v.x), "=" letter(v.y), "=" letter(v.z), "=" letter(v.w) : [t] "l"(t), RTCG_LIST inputs); \
    }
#define RTCG_FETCH_TYPE_RESIDENT(name, head, tail, params, inputs, vector, type, letter) \
    RTCG_DEVICE void __rtcg_##name(vector &v, unsigned &is_resident, cudaTextureObject_t t, RTCG_LIST params) { \
        asm("{ .reg .pred p; " head ".v4." type tail " selp.u32 %4, 1, 0, p; }" \
            : "=" letter(v.x), "=" letter(v.y), "=" letter(v.z), "=" letter(v.w), "=r"(is_resident) : [t] "l"(t), RTCG_LIST inputs); \
    }
#define RTCG_FETCH_TYPES(form, name, head, tail, params, inputs) \
    form(name, head, tail, params, inputs, float4, "f32", "f") \
    form(name, head, tail, params, inputs, int4, "s32", "r") \
    form(name, head, tail, params, inputs, uint4, "u32", "r")

// The functions of a shape. `coordinate` is the type of coordinates, `place` what follows the texture in the instruction.
#define RTCG_FETCH(name, head, coordinate, place, params, args, inputs) \
    RTCG_FETCH_TYPES(RTCG_FETCH_TYPE, name, head, "." coordinate " {%0, %1, %2, %3}, [%[t], " place ";", params, inputs) \
    RTCG_FETCHED typename __rtcg_texel<T>::result name(cudaTextureObject_t t, RTCG_LIST params) { \
        R v; \
        __rtcg_##name(v, t, RTCG_LIST args); \
        return __rtcg_texel<T>::of(v); \
    } \
    RTCG_FETCHED typename __rtcg_texel<T>::nothing name(T *value, cudaTextureObject_t t, RTCG_LIST params) { \
        *value = name<T>(t, RTCG_LIST args); \
    }
#define RTCG_FETCH_RESIDENT(name, head, coordinate, place, params, args, inputs) \
    RTCG_FETCH_TYPES(RTCG_FETCH_TYPE_RESIDENT, name, head, "." coordinate " {%0, %1, %2, %3}|p, [%[t], " place ";", params, inputs) \
    RTCG_FETCHED typename __rtcg_texel<T>::result name(cudaTextureObject_t t, RTCG_LIST params, bool *isResident) { \
        R v; \
        unsigned is_resident; \
        __rtcg_##name(v, is_resident, t, RTCG_LIST args); \
        *isResident = is_resident != 0; \
        return __rtcg_texel<T>::of(v); \
    } \
    RTCG_FETCHED typename __rtcg_texel<T>::nothing name(T *value, cudaTextureObject_t t, RTCG_LIST params, bool *isResident) { \
        *value = name<T>(t, RTCG_LIST args, isResident); \
    }
#define RTCG_FETCH_BOTH(...) RTCG_FETCH(__VA_ARGS__) RTCG_FETCH_RESIDENT(__VA_ARGS__)

#define RTCG_X [x] "f"(x)
#define RTCG_XY RTCG_X, [y] "f"(y)
#define RTCG_XYZ RTCG_XY, [z] "f"(z)
#define RTCG_LAYER [layer] "r"(layer)
#define RTCG_LEVEL [level] "f"(level)
#define RTCG_SLOPES_1 [dx] "f"(dx), [dy] "f"(dy)
#define RTCG_SLOPES_2 [dxx] "f"(dx.x), [dxy] "f"(dx.y), [dyx] "f"(dy.x), [dyy] "f"(dy.y)
#define RTCG_SLOPES_3 RTCG_SLOPES_2, [dxz] "f"(dx.z), [dyz] "f"(dy.z)
#define RTCG_IN_SLOPES_1 "{%[dx]}, {%[dy]}"
#define RTCG_IN_SLOPES_2 "{%[dxx], %[dxy]}, {%[dyx], %[dyy]}"
#define RTCG_IN_SLOPES_3 "{%[dxx], %[dxy], %[dxz], %[dxz]}, {%[dyx], %[dyy], %[dyz], %[dyz]}"

RTCG_FETCH(tex1Dfetch, "tex.1d", "s32", "{%[x]}]", (int x), (x), ([x] "r"(x)))

// A shape's three ways to choose a level: none, the level itself, and the slopes of the coordinates.
#define RTCG_SHAPE(FETCH, name, geometry, place, params, args, inputs, slope, n) \
    FETCH(name, "tex." geometry, "f32", place "]", (RTCG_LIST params), (RTCG_LIST args), (RTCG_LIST inputs)) \
    FETCH(name##Lod, "tex.level." geometry, "f32", place "], %[level]", (RTCG_LIST params, float level), (RTCG_LIST args, level), \
        (RTCG_LIST inputs, RTCG_LEVEL)) \
    FETCH(name##Grad, "tex.grad." geometry, "f32", place "], " RTCG_IN_SLOPES_##n, (RTCG_LIST params, slope dx, slope dy), (RTCG_LIST args, dx, dy), \
        (RTCG_LIST inputs, RTCG_SLOPES_##n))
RTCG_SHAPE(RTCG_FETCH, tex1D, "1d", "{%[x]}", (float x), (x), (RTCG_X), float, 1)
RTCG_SHAPE(RTCG_FETCH_BOTH, tex2D, "2d", "{%[x], %[y]}", (float x, float y), (x, y), (RTCG_XY), float2, 2)
RTCG_SHAPE(RTCG_FETCH_BOTH, tex3D, "3d", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (x, y, z), (RTCG_XYZ), float4, 3)
RTCG_SHAPE(RTCG_FETCH, tex1DLayered, "a1d", "{%[layer], %[x]}", (float x, int layer), (x, layer), (RTCG_X, RTCG_LAYER), float, 1)
RTCG_SHAPE(RTCG_FETCH_BOTH, tex2DLayered, "a2d", "{%[layer], %[x], %[y], %[y]}", (float x, float y, int layer), (x, y, layer),
    (RTCG_XY, RTCG_LAYER), float2, 2)
RTCG_SHAPE(RTCG_FETCH, texCubemap, "cube", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (x, y, z), (RTCG_XYZ), float4, 3)
RTCG_SHAPE(RTCG_FETCH, texCubemapLayered, "acube", "{%[layer], %[x], %[y], %[z]}", (float x, float y, float z, int layer), (x, y, z, layer),
    (RTCG_XYZ, RTCG_LAYER), float4, 3)

#define RTCG_GATHER(c) \
    RTCG_FETCH_TYPES(RTCG_FETCH_TYPE, gather_##c, "tld4." #c ".2d", ".f32 {%0, %1, %2, %3}, [%[t], {%[x], %[y]}];", (float x, float y), (RTCG_XY)) \
    RTCG_FETCH_TYPES(RTCG_FETCH_TYPE_RESIDENT, gather_##c, "tld4." #c ".2d", ".f32 {%0, %1, %2, %3}|p, [%[t], {%[x], %[y]}];", \
        (float x, float y), (RTCG_XY))
RTCG_GATHER(r) RTCG_GATHER(g) RTCG_GATHER(b) RTCG_GATHER(a)
RTCG_FETCHED typename __rtcg_texel<T>::result tex2Dgather(cudaTextureObject_t t, float x, float y, int comp = 0) {
    R v;
    if (comp == 1) __rtcg_gather_g(v, t, x, y);
    else if (comp == 2) __rtcg_gather_b(v, t, x, y);
    else if (comp == 3) __rtcg_gather_a(v, t, x, y);
    else __rtcg_gather_r(v, t, x, y);
    return __rtcg_texel<T>::of(v);
}
RTCG_FETCHED typename __rtcg_texel<T>::result tex2Dgather(cudaTextureObject_t t, float x, float y, bool *isResident, int comp = 0) {
    R v;
    unsigned is_resident;
    if (comp == 1) __rtcg_gather_g(v, is_resident, t, x, y);
    else if (comp == 2) __rtcg_gather_b(v, is_resident, t, x, y);
    else if (comp == 3) __rtcg_gather_a(v, is_resident, t, x, y);
    else __rtcg_gather_r(v, is_resident, t, x, y);
    *isResident = is_resident != 0;
    return __rtcg_texel<T>::of(v);
}
RTCG_FETCHED typename __rtcg_texel<T>::nothing tex2Dgather(T *value, cudaTextureObject_t t, float x, float y, int comp = 0) {
    *value = tex2Dgather<T>(t, x, y, comp);
}
RTCG_FETCHED typename __rtcg_texel<T>::nothing tex2Dgather(T *value, cudaTextureObject_t t, float x, float y, bool *isResident, int comp = 0) {
    *value = tex2Dgather<T>(t, x, y, isResident, comp);
}
#undef RTCG_GATHER
#undef RTCG_SHAPE
#undef RTCG_FETCHED
#undef RTCG_FETCH_BOTH
#undef RTCG_FETCH_RESIDENT
#undef RTCG_FETCH
#undef RTCG_FETCH_TYPES
#undef RTCG_FETCH_TYPE_RESIDENT
#undef RTCG_FETCH_TYPE
#undef RTCG_X
#undef RTCG_XY
#undef RTCG_XYZ
#undef RTCG_LAYER
#undef RTCG_LEVEL
#undef RTCG_SLOPES_1
#undef RTCG_SLOPES_2
#undef RTCG_SLOPES_3
#undef RTCG_IN_SLOPES_1
#undef RTCG_IN_SLOPES_2
#undef RTCG_IN_SLOPES_3

// ---- Surfaces ---------------------------------------------------------------------------------------------------------------------------

// `count` numbers of `bytes` bytes in registers. The smallest register has 16 bits.
template <int bytes> struct __rtcg_register { typedef unsigned short type; };
template <> struct __rtcg_register<4> { typedef unsigned int type; };
template <> struct __rtcg_register<8> { typedef unsigned long long type; };
template <int bytes, int count> struct __rtcg_registers { typename __rtcg_register<bytes>::type x, y, z, w; };

// Bits of a register as a number, and back.
template <class S, class B> RTCG_DEVICE S __rtcg_number_of(B bits, const S *) { return (S)bits; }
RTCG_DEVICE float __rtcg_number_of(unsigned int bits, const float *) { return __builtin_bit_cast(float, bits); }
template <class S> RTCG_DEVICE typename __rtcg_register<sizeof(S)>::type __rtcg_bits_of(S number) { return (typename __rtcg_register<sizeof(S)>::type)number; }
RTCG_DEVICE unsigned int __rtcg_bits_of(float number) { return __builtin_bit_cast(unsigned int, number); }

template <class S> struct __rtcg_numbers { S x, y, z, w; };
template <class S, int n, class T> RTCG_DEVICE void __rtcg_pack(__rtcg_registers<sizeof(S), n> &to, const T &value) {
    const S *const numbers = (const S *)&value;
    to.x = __rtcg_bits_of(numbers[0]);
    if (n > 1) to.y = __rtcg_bits_of(numbers[n > 1 ? 1 : 0]);
    if (n > 2) to.z = __rtcg_bits_of(numbers[n > 2 ? 2 : 0]);
    if (n > 2) to.w = __rtcg_bits_of(numbers[n > 2 ? 3 : 0]);
}
template <class S, int n> RTCG_DEVICE void __rtcg_unpack(__rtcg_numbers<S> &to, const __rtcg_registers<sizeof(S), n> &v) {
    to.x = __rtcg_number_of(v.x, &to.x);
    if (n > 1) to.y = __rtcg_number_of(v.y, &to.y);
    if (n > 2) to.z = __rtcg_number_of(v.z, &to.z);
    if (n > 2) to.w = __rtcg_number_of(v.w, &to.w);
}

// The mode is a part of the instruction. `volatile` keeps reads and writes in order.
#define RTCG_BY_MODE(ACCESS, ...) \
    if (mode == cudaBoundaryModeZero) ACCESS("zero", __VA_ARGS__); \
    else if (mode == cudaBoundaryModeClamp) ACCESS("clamp", __VA_ARGS__); \
    else ACCESS("trap", __VA_ARGS__);
#define RTCG_READ(mode, geometry, type, values, place, outputs, inputs) \
    asm volatile("suld.b." geometry type "." mode " " values ", [%[s], " place "];" : RTCG_LIST outputs : [s] "l"(s), RTCG_LIST inputs)
#define RTCG_WRITE(mode, geometry, type, values, place, stored, inputs) \
    asm volatile("sust.b." geometry type "." mode " [%[s], " place "], " values ";" :: [s] "l"(s), RTCG_LIST inputs, RTCG_LIST stored : "memory")
#define RTCG_ACCESS(name, geometry, place, params, inputs, bytes, n, type, values, outputs, stored) \
    RTCG_DEVICE void __rtcg_##name##read(__rtcg_registers<bytes, n> &v, cudaSurfaceObject_t s, RTCG_LIST params, cudaSurfaceBoundaryMode mode) { \
        RTCG_BY_MODE(RTCG_READ, geometry, type, values, place, outputs, inputs) \
    } \
    RTCG_DEVICE void __rtcg_##name##write(const __rtcg_registers<bytes, n> &v, cudaSurfaceObject_t s, RTCG_LIST params, cudaSurfaceBoundaryMode mode) { \
        RTCG_BY_MODE(RTCG_WRITE, geometry, type, values, place, stored, inputs) \
    }
#define RTCG_V1(letter) ([a] letter(v.x))
#define RTCG_V2(letter) ([a] letter(v.x), [b] letter(v.y))
#define RTCG_V4(letter) ([a] letter(v.x), [b] letter(v.y), [c] letter(v.z), [d] letter(v.w))
#define RTCG_ACCESSES(name, geometry, place, params, inputs, bytes, type, letter) \
    RTCG_ACCESS(name, geometry, place, params, inputs, bytes, 1, type, "{%[a]}", RTCG_V1("=" letter), RTCG_V1(letter)) \
    RTCG_ACCESS(name, geometry, place, params, inputs, bytes, 2, ".v2" type, "{%[a], %[b]}", RTCG_V2("=" letter), RTCG_V2(letter))
#define RTCG_ACCESSES_4(name, geometry, place, params, inputs, bytes, type, letter) \
    RTCG_ACCESSES(name, geometry, place, params, inputs, bytes, type, letter) \
    RTCG_ACCESS(name, geometry, place, params, inputs, bytes, 4, ".v4" type, "{%[a], %[b], %[c], %[d]}", RTCG_V4("=" letter), RTCG_V4(letter))

// The functions of a shape.
#define RTCG_SURFACE(name, geometry, place, params, args, inputs) \
    RTCG_ACCESSES_4(name, geometry, place, params, inputs, 1, ".b8", "h") \
    RTCG_ACCESSES_4(name, geometry, place, params, inputs, 2, ".b16", "h") \
    RTCG_ACCESSES_4(name, geometry, place, params, inputs, 4, ".b32", "r") \
    RTCG_ACCESSES(name, geometry, place, params, inputs, 8, ".b64", "l") \
    RTCG_SURFACE_FUNCTIONS(name, name, params, args, args)
#define RTCG_SURFACE_FUNCTIONS(name, like, params, args, like_args) \
    template <class T> RTCG_DEVICE typename __rtcg_texel<T>::result name##read( \
        cudaSurfaceObject_t s, RTCG_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        typedef typename __rtcg_texel<T>::number S; \
        __rtcg_registers<sizeof(S), __rtcg_texel<T>::count> v; \
        __rtcg_##like##read(v, s, RTCG_LIST like_args, mode); \
        __rtcg_numbers<S> numbers; \
        __rtcg_unpack<S, __rtcg_texel<T>::count>(numbers, v); \
        return __rtcg_texel<T>::of(numbers); \
    } \
    template <class T> RTCG_DEVICE typename __rtcg_texel<T>::nothing name##read( \
        T *value, cudaSurfaceObject_t s, RTCG_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        *value = name##read<T>(s, RTCG_LIST args, mode); \
    } \
    template <class T> RTCG_DEVICE typename __rtcg_texel<T>::nothing name##write( \
        T value, cudaSurfaceObject_t s, RTCG_LIST params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        typedef typename __rtcg_texel<T>::number S; \
        __rtcg_registers<sizeof(S), __rtcg_texel<T>::count> v; \
        __rtcg_pack<S, __rtcg_texel<T>::count>(v, value); \
        __rtcg_##like##write(v, s, RTCG_LIST like_args, mode); \
    }
#define RTCG_X [x] "r"(x)
#define RTCG_XY RTCG_X, [y] "r"(y)
RTCG_SURFACE(surf1D, "1d", "{%[x]}", (int x), (x), (RTCG_X))
RTCG_SURFACE(surf2D, "2d", "{%[x], %[y]}", (int x, int y), (x, y), (RTCG_XY))
RTCG_SURFACE(surf3D, "3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), (x, y, z), (RTCG_XY, [z] "r"(z)))
RTCG_SURFACE(surf1DLayered, "a1d", "{%[layer], %[x]}", (int x, int layer), (x, layer), (RTCG_X, [layer] "r"(layer)))
RTCG_SURFACE(surf2DLayered, "a2d", "{%[layer], %[x], %[y], %[y]}", (int x, int y, int layer), (x, y, layer), (RTCG_XY, [layer] "r"(layer)))
// Faces are layers.
RTCG_SURFACE_FUNCTIONS(surfCubemap, surf2DLayered, (int x, int y, int face), (x, y, face), (x, y, face))
RTCG_SURFACE_FUNCTIONS(surfCubemapLayered, surf2DLayered, (int x, int y, int layerFace), (x, y, layerFace), (x, y, layerFace))
#undef RTCG_X
#undef RTCG_XY
#undef RTCG_SURFACE_FUNCTIONS
#undef RTCG_SURFACE
#undef RTCG_ACCESSES_4
#undef RTCG_ACCESSES
#undef RTCG_ACCESS
#undef RTCG_V1
#undef RTCG_V2
#undef RTCG_V4
#undef RTCG_WRITE
#undef RTCG_READ
#undef RTCG_BY_MODE
#undef RTCG_LIST

}  // extern "C++"
