/* Images (6.15.15). A handle is the address of a descriptor, which `memory/image.rs` writes; pixels lie in linear memory,
   and are sampled here. A sampler is the number of its bits. */

typedef struct {
    ulong address, row_pitch, slice_pitch;
    uint width, height, depth, layers;
    uint order, type, channels, pixel_bytes;
    /* Byte k: which channel is component k; 4 and 5 are the constants 0 and 1. */
    uint read_swizzle;
    /* Byte k: which component is channel k. */
    uint write_swizzle;
    uint flags, unused;
} rtcg_image;
#define RTCG_IS_SRGB 1
#define RTCG_BORDER_IS_OPAQUE 2

typedef const __global rtcg_image *rtcg_descriptor;
#define INSIDE_LIBRARY static inline __attribute__((overloadable, always_inline))

/* Of clang's opaque types the descriptor's address and the sampler's bits: one definition, which each type's declaration
   names. */
__attribute__((always_inline, const)) rtcg_descriptor rtcg_image_address(__global void *p) __asm__("rtcg_image_of");
rtcg_descriptor rtcg_image_address(__global void *p) { return (rtcg_descriptor)p; }
__attribute__((always_inline, const)) uint rtcg_sampler_bits(__constant void *p) __asm__("rtcg_sampler_of");
uint rtcg_sampler_bits(__constant void *p) { return (uint)(ulong)p; }
uint rtcg_bits(sampler_t s) __asm__("rtcg_sampler_of");
__attribute__((always_inline)) __constant void *rtcg_sampler(int bits) __asm__("__translate_sampler_initializer");
__constant void *rtcg_sampler(int bits) { return (__constant void *)(ulong)(uint)bits; }

/* Pixels. Coordinates are x, y, and the slice or layer. */

INSIDE_LIBRARY __global uchar *rtcg_pixel(rtcg_descriptor image, int4 at) {
    return (__global uchar *)(image->address + (ulong)(uint)at.z * image->slice_pitch + (ulong)(uint)at.y * image->row_pitch
                              + (ulong)(uint)at.x * image->pixel_bytes);
}
INSIDE_LIBRARY bool rtcg_is_inside(rtcg_descriptor image, int4 at) {
    uint slices = image->depth > image->layers ? image->depth : image->layers;
    return (uint)at.x < image->width && (uint)at.y < image->height && (uint)at.z < slices;
}

#define COMPONENT(T, k, one) \
    ({ uint from_ = swizzle >> 8 * k & 7; \
       from_ == 0 ? raw.x : from_ == 1 ? raw.y : from_ == 2 ? raw.z : from_ == 3 ? raw.w : from_ == 4 ? (T)0 : (T)(one); })
#define SWIZZLED(T) \
    INSIDE_LIBRARY T##4 rtcg_swizzled(T##4 raw, uint swizzle) { \
        if (swizzle == 0x03020100) return raw; \
        return (T##4)(COMPONENT(T, 0, 1), COMPONENT(T, 1, 1), COMPONENT(T, 2, 1), COMPONENT(T, 3, 1)); \
    }
SWIZZLED(float)
SWIZZLED(int)
SWIZZLED(uint)

#define LOAD_CHANNELS(T, expression) { \
    const __global T *from = (const __global T *)p; \
    T c = from[0]; raw.x = expression; \
    if (n > 1) { c = from[1]; raw.y = expression; } \
    if (n > 2) { c = from[2]; raw.z = expression; } \
    if (n > 3) { c = from[3]; raw.w = expression; } \
    break; }
#define STORE_CHANNELS(T, expression) { \
    __global T *to = (__global T *)p; \
    s = raw.x; to[0] = expression; \
    if (n > 1) { s = raw.y; to[1] = expression; } \
    if (n > 2) { s = raw.z; to[2] = expression; } \
    if (n > 3) { s = raw.w; to[3] = expression; } \
    break; }

INSIDE_LIBRARY float rtcg_linear_of_srgb(float c) {
    return c <= 0.04045f ? c / 12.92f : pow((c + 0.055f) / 1.055f, 2.4f);
}

INSIDE_LIBRARY float4 rtcg_load_float(rtcg_descriptor image, int4 at) {
    if (!rtcg_is_inside(image, at)) return (float4)(0, 0, 0, image->flags & RTCG_BORDER_IS_OPAQUE ? 1 : 0);
    const __global uchar *p = rtcg_pixel(image, at);
    uint n = image->channels;
    float4 raw = (float4)0;
    switch (image->type) {
    case CLK_FLOAT: LOAD_CHANNELS(float, c)
    case CLK_UNORM_INT8: LOAD_CHANNELS(uchar, (float)c / 255.0f)
    case CLK_UNORM_INT16: LOAD_CHANNELS(ushort, (float)c / 65535.0f)
    case CLK_SNORM_INT8: LOAD_CHANNELS(char, __builtin_fmaxf((float)c / 127.0f, -1.0f))
    case CLK_SNORM_INT16: LOAD_CHANNELS(short, __builtin_fmaxf((float)c / 32767.0f, -1.0f))
    case CLK_HALF_FLOAT: LOAD_CHANNELS(half, (float)c)
    case CLK_UNORM_SHORT_565: {
        uint c = *(const __global ushort *)p;
        raw = (float4)((float)(c >> 11) / 31.0f, (float)(c >> 5 & 63) / 63.0f, (float)(c & 31) / 31.0f, 1);
        break; }
    case CLK_UNORM_SHORT_555: {
        uint c = *(const __global ushort *)p;
        raw = (float4)((float)(c >> 10 & 31) / 31.0f, (float)(c >> 5 & 31) / 31.0f, (float)(c & 31) / 31.0f, 1);
        break; }
    case CLK_UNORM_INT_101010: {
        uint c = *(const __global uint *)p;
        raw = (float4)((float)(c >> 20 & 1023) / 1023.0f, (float)(c >> 10 & 1023) / 1023.0f, (float)(c & 1023) / 1023.0f, 1);
        break; }
    }
    raw = rtcg_swizzled(raw, image->read_swizzle);
    if (image->flags & RTCG_IS_SRGB)
        raw = (float4)(rtcg_linear_of_srgb(raw.x), rtcg_linear_of_srgb(raw.y), rtcg_linear_of_srgb(raw.z), raw.w);
    return raw;
}
#define LOAD_INTEGER(T, Small, Middle, small, middle, full) \
    INSIDE_LIBRARY T##4 rtcg_load_##T(rtcg_descriptor image, int4 at) { \
        if (!rtcg_is_inside(image, at)) return (T##4)(0, 0, 0, image->flags & RTCG_BORDER_IS_OPAQUE ? 1 : 0); \
        const __global uchar *p = rtcg_pixel(image, at); \
        uint n = image->channels; \
        T##4 raw = (T##4)0; \
        switch (image->type) { \
        case small: LOAD_CHANNELS(Small, c) \
        case middle: LOAD_CHANNELS(Middle, c) \
        case full: LOAD_CHANNELS(T, c) \
        } \
        return rtcg_swizzled(raw, image->read_swizzle); \
    }
LOAD_INTEGER(int, char, short, CLK_SIGNED_INT8, CLK_SIGNED_INT16, CLK_SIGNED_INT32)
LOAD_INTEGER(uint, uchar, ushort, CLK_UNSIGNED_INT8, CLK_UNSIGNED_INT16, CLK_UNSIGNED_INT32)

INSIDE_LIBRARY void rtcg_store_float(rtcg_descriptor image, int4 at, float4 color) {
    if (!rtcg_is_inside(image, at)) return;
    __global uchar *p = rtcg_pixel(image, at);
    uint n = image->channels;
    float4 raw = rtcg_swizzled(color, image->write_swizzle);
    float s;
    switch (image->type) {
    case CLK_FLOAT: STORE_CHANNELS(float, s)
    case CLK_UNORM_INT8: STORE_CHANNELS(uchar, convert_uchar_sat_rte(s * 255.0f))
    case CLK_UNORM_INT16: STORE_CHANNELS(ushort, convert_ushort_sat_rte(s * 65535.0f))
    case CLK_SNORM_INT8: STORE_CHANNELS(char, convert_char_sat_rte(s * 127.0f))
    case CLK_SNORM_INT16: STORE_CHANNELS(short, convert_short_sat_rte(s * 32767.0f))
    case CLK_HALF_FLOAT: STORE_CHANNELS(half, (half)s)
    case CLK_UNORM_SHORT_565: {
        uint4 c = convert_uint4_sat_rte(clamp(raw, 0.0f, 1.0f) * (float4)(31, 63, 31, 0));
        *(__global ushort *)p = (ushort)(c.x << 11 | c.y << 5 | c.z);
        break; }
    case CLK_UNORM_SHORT_555: {
        uint4 c = convert_uint4_sat_rte(clamp(raw, 0.0f, 1.0f) * 31.0f);
        *(__global ushort *)p = (ushort)(c.x << 10 | c.y << 5 | c.z);
        break; }
    case CLK_UNORM_INT_101010: {
        uint4 c = convert_uint4_sat_rte(clamp(raw, 0.0f, 1.0f) * 1023.0f);
        *(__global uint *)p = c.x << 20 | c.y << 10 | c.z;
        break; }
    }
}
#define STORE_INTEGER(T, Small, Middle, small, middle, full) \
    INSIDE_LIBRARY void rtcg_store_##T(rtcg_descriptor image, int4 at, T##4 color) { \
        if (!rtcg_is_inside(image, at)) return; \
        __global uchar *p = rtcg_pixel(image, at); \
        uint n = image->channels; \
        T##4 raw = rtcg_swizzled(color, image->write_swizzle); \
        T s; \
        switch (image->type) { \
        case small: STORE_CHANNELS(Small, convert_##Small##_sat(s)) \
        case middle: STORE_CHANNELS(Middle, convert_##Middle##_sat(s)) \
        case full: STORE_CHANNELS(T, s) \
        } \
    }
STORE_INTEGER(int, char, short, CLK_SIGNED_INT8, CLK_SIGNED_INT16, CLK_SIGNED_INT32)
STORE_INTEGER(uint, uchar, ushort, CLK_UNSIGNED_INT8, CLK_UNSIGNED_INT16, CLK_UNSIGNED_INT32)

/* Addressing (8.2). -1 and the extent are beyond the border. */

#define ADDRESSING(bits) ((bits) & 0xe)
INSIDE_LIBRARY float rtcg_unnormalized(uint bits, float c, int extent) {
    if (!(bits & CLK_NORMALIZED_COORDS_TRUE)) return c;
    if (ADDRESSING(bits) == CLK_ADDRESS_REPEAT) c -= __builtin_floorf(c);
    if (ADDRESSING(bits) == CLK_ADDRESS_MIRRORED_REPEAT) c = __builtin_fabsf(c - 2.0f * __builtin_rintf(0.5f * c));
    return c * (float)extent;
}
INSIDE_LIBRARY int rtcg_addressed(uint bits, int i, int extent) {
    switch (ADDRESSING(bits)) {
    case CLK_ADDRESS_REPEAT: return i < 0 ? i + extent : i >= extent ? i - extent : i;
    case CLK_ADDRESS_MIRRORED_REPEAT:
    case CLK_ADDRESS_CLAMP_TO_EDGE: return i < 0 ? 0 : i >= extent ? extent - 1 : i;
    default: return i < -1 ? -1 : i > extent ? extent : i;
    }
}
INSIDE_LIBRARY int rtcg_nearest(uint bits, float c, uint extent) {
    return rtcg_addressed(bits, convert_int_sat_rtn(rtcg_unnormalized(bits, c, extent)), extent);
}

/* `dimensions` of them are filtered; `layer` is the last coordinate where it is not. */
INSIDE_LIBRARY int4 rtcg_nearest_of(rtcg_descriptor image, uint bits, float4 c, int layer, int dimensions) {
    int4 at = (int4)(rtcg_nearest(bits, c.x, image->width), 0, layer, 0);
    if (dimensions > 1) at.y = rtcg_nearest(bits, c.y, image->height);
    if (dimensions > 2) at.z = rtcg_nearest(bits, c.z, image->depth);
    return at;
}
/* Both pixels between which a coordinate lies, and the weight of the second. */
INSIDE_LIBRARY float rtcg_neighbours(uint bits, float c, uint extent, int *low, int *high) {
    float u = rtcg_unnormalized(bits, c, extent) - (bits & CLK_FILTER_LINEAR ? 0.5f : 0.0f), whole = __builtin_floorf(u);
    int first = convert_int_sat(whole);
    *low = rtcg_addressed(bits, first, extent);
    *high = rtcg_addressed(bits, first + 1, extent);
    return u - whole;
}
INSIDE_LIBRARY float4 rtcg_sample_float(rtcg_descriptor image, uint bits, float4 c, int layer, int dimensions) {
    int4 low = (int4)(0, 0, layer, 0), high = low;
    float x = 0, y = 0, z = 0;
    { int l, h; x = rtcg_neighbours(bits, c.x, image->width, &l, &h); low.x = l; high.x = h; }
    if (dimensions > 1) { int l, h; y = rtcg_neighbours(bits, c.y, image->height, &l, &h); low.y = l; high.y = h; }
    if (dimensions > 2) { int l, h; z = rtcg_neighbours(bits, c.z, image->depth, &l, &h); low.z = l; high.z = h; }
    float4 sum = (float4)0;
    /* One place that loads, so that its code is there once. */
    _Pragma("clang loop unroll(disable)")
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        int4 at = (int4)(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z, 0);
        float4 pixel = rtcg_load_float(image, at);
        if (!(bits & CLK_FILTER_LINEAR)) return pixel;
        float w = corner & 1 ? x : 1 - x;
        if (dimensions > 1) w *= corner & 2 ? y : 1 - y;
        if (dimensions > 2) w *= corner & 4 ? z : 1 - z;
        sum += w * pixel;
    }
    return sum;
}
#define SAMPLE_INTEGER(T) \
    INSIDE_LIBRARY T##4 rtcg_sample_##T(rtcg_descriptor image, uint bits, float4 c, int layer, int dimensions) { \
        return rtcg_load_##T(image, rtcg_nearest_of(image, bits, c, layer, dimensions)); \
    }
SAMPLE_INTEGER(int)
SAMPLE_INTEGER(uint)

INSIDE_LIBRARY int rtcg_layer(rtcg_descriptor image, float layer) {
    int i = convert_int_sat_rte(layer), last = (int)image->layers - 1;
    return i < 0 ? 0 : i > last ? last : i;
}
INSIDE_LIBRARY int rtcg_layer(rtcg_descriptor image, int i) { return rtcg_layer(image, (float)i); }

/* Coordinates of each kind: the filtered ones, and where a pixel is. */
#define FILTERED_1D(c) (float4)((float)(c), 0, 0, 0)
#define FILTERED_2D(c) (float4)((float)(c).x, (float)(c).y, 0, 0)
#define FILTERED_3D(c) (float4)((float)(c).x, (float)(c).y, (float)(c).z, 0)
#define PLACE_1D(c) (int4)(c, 0, 0, 0)
#define PLACE_1D_ARRAY(c) (int4)((c).x, 0, (c).y, 0)
#define PLACE_2D(c) (int4)((c).x, (c).y, 0, 0)
#define PLACE_3D(c) (int4)((c).x, (c).y, (c).z, 0)

/* Functions of one type of image with one access. */
#define QUERIES(A, I) \
    rtcg_descriptor rtcg_of_##A##_##I(A I image) __asm__("rtcg_image_of"); \
    BUILTIN int get_image_width(A I image) { return rtcg_of_##A##_##I(image)->width; } \
    BUILTIN int get_image_channel_data_type(A I image) { return rtcg_of_##A##_##I(image)->type; } \
    BUILTIN int get_image_channel_order(A I image) { return rtcg_of_##A##_##I(image)->order; }
#define QUERIES_2D(A, I) \
    BUILTIN int get_image_height(A I image) { return rtcg_of_##A##_##I(image)->height; } \
    BUILTIN int2 get_image_dim(A I image) { \
        rtcg_descriptor d = rtcg_of_##A##_##I(image); return (int2)(d->width, d->height); }
#define QUERIES_3D(A, I) \
    BUILTIN int get_image_height(A I image) { return rtcg_of_##A##_##I(image)->height; } \
    BUILTIN int get_image_depth(A I image) { return rtcg_of_##A##_##I(image)->depth; } \
    BUILTIN int4 get_image_dim(A I image) { \
        rtcg_descriptor d = rtcg_of_##A##_##I(image); return (int4)(d->width, d->height, d->depth, 0); }
#define QUERIES_ARRAY(A, I) \
    BUILTIN size_t get_image_array_size(A I image) { return rtcg_of_##A##_##I(image)->layers; }

#define READ(A, I, C, place) \
    BUILTIN float4 read_imagef(A I image, C c) { return rtcg_load_float(rtcg_of_##A##_##I(image), place(c)); } \
    BUILTIN int4 read_imagei(A I image, C c) { return rtcg_load_int(rtcg_of_##A##_##I(image), place(c)); } \
    BUILTIN uint4 read_imageui(A I image, C c) { return rtcg_load_uint(rtcg_of_##A##_##I(image), place(c)); }
#define READ_DEPTH(A, I, C, place) \
    BUILTIN float read_imagef(A I image, C c) { return rtcg_load_float(rtcg_of_##A##_##I(image), place(c)).x; }
#define WRITE(A, I, C, place) \
    BUILTIN void write_imagef(A I image, C c, float4 v) { rtcg_store_float(rtcg_of_##A##_##I(image), place(c), v); } \
    BUILTIN void write_imagei(A I image, C c, int4 v) { rtcg_store_int(rtcg_of_##A##_##I(image), place(c), v); } \
    BUILTIN void write_imageui(A I image, C c, uint4 v) { rtcg_store_uint(rtcg_of_##A##_##I(image), place(c), v); }
#define WRITE_DEPTH(A, I, C, place) \
    BUILTIN void write_imagef(A I image, C c, float v) { \
        rtcg_store_float(rtcg_of_##A##_##I(image), place(c), (float4)(v)); }

#define SAMPLE_AS(name, T, kind, part, I, C, filtered, layer, dimensions) \
    BUILTIN T name(read_only I image, sampler_t s, C c) { \
        rtcg_descriptor d = rtcg_of_read_only_##I(image); \
        return rtcg_sample_##kind(d, rtcg_bits(s), filtered(c), layer, dimensions)part; \
    }
#define SAMPLE_ALL(I, C, filtered, layer, dimensions) \
    SAMPLE_AS(read_imagef, float4, float, , I, C, filtered, layer, dimensions) \
    SAMPLE_AS(read_imagei, int4, int, , I, C, filtered, layer, dimensions) \
    SAMPLE_AS(read_imageui, uint4, uint, , I, C, filtered, layer, dimensions)
#define SAMPLE(I, n, filtered, layer, dimensions) \
    SAMPLE_ALL(I, int##n, filtered, layer, dimensions) SAMPLE_ALL(I, float##n, filtered, layer, dimensions)
#define SAMPLE_DEPTH(I, n, filtered, layer) \
    SAMPLE_AS(read_imagef, float, float, .x, I, int##n, filtered, layer, 2) \
    SAMPLE_AS(read_imagef, float, float, .x, I, float##n, filtered, layer, 2)

#define FOR_ACCESSES(DO, I) DO(read_only, I) DO(write_only, I) DO(read_write, I)
#define READ_AND_WRITE(I, C, place) \
    READ(read_only, I, C, place) READ(read_write, I, C, place) WRITE(write_only, I, C, place) WRITE(read_write, I, C, place)
#define READ_AND_WRITE_DEPTH(I, C, place) \
    READ_DEPTH(read_only, I, C, place) READ_DEPTH(read_write, I, C, place) \
    WRITE_DEPTH(write_only, I, C, place) WRITE_DEPTH(read_write, I, C, place)

FOR_ACCESSES(QUERIES, image1d_t)
READ_AND_WRITE(image1d_t, int, PLACE_1D)
SAMPLE(image1d_t, , FILTERED_1D, 0, 1)

FOR_ACCESSES(QUERIES, image1d_buffer_t)
READ_AND_WRITE(image1d_buffer_t, int, PLACE_1D)

FOR_ACCESSES(QUERIES, image1d_array_t)
FOR_ACCESSES(QUERIES_ARRAY, image1d_array_t)
READ_AND_WRITE(image1d_array_t, int2, PLACE_1D_ARRAY)
SAMPLE(image1d_array_t, 2, FILTERED_2D, rtcg_layer(d, c.y), 1)

FOR_ACCESSES(QUERIES, image2d_t)
FOR_ACCESSES(QUERIES_2D, image2d_t)
READ_AND_WRITE(image2d_t, int2, PLACE_2D)
SAMPLE(image2d_t, 2, FILTERED_2D, 0, 2)

FOR_ACCESSES(QUERIES, image2d_array_t)
FOR_ACCESSES(QUERIES_2D, image2d_array_t)
FOR_ACCESSES(QUERIES_ARRAY, image2d_array_t)
READ_AND_WRITE(image2d_array_t, int4, PLACE_3D)
SAMPLE(image2d_array_t, 4, FILTERED_2D, rtcg_layer(d, c.z), 2)

FOR_ACCESSES(QUERIES, image2d_depth_t)
FOR_ACCESSES(QUERIES_2D, image2d_depth_t)
READ_AND_WRITE_DEPTH(image2d_depth_t, int2, PLACE_2D)
SAMPLE_DEPTH(image2d_depth_t, 2, FILTERED_2D, 0)

FOR_ACCESSES(QUERIES, image2d_array_depth_t)
FOR_ACCESSES(QUERIES_2D, image2d_array_depth_t)
FOR_ACCESSES(QUERIES_ARRAY, image2d_array_depth_t)
READ_AND_WRITE_DEPTH(image2d_array_depth_t, int4, PLACE_3D)
SAMPLE_DEPTH(image2d_array_depth_t, 4, FILTERED_2D, rtcg_layer(d, c.z))

FOR_ACCESSES(QUERIES, image3d_t)
FOR_ACCESSES(QUERIES_3D, image3d_t)
READ_AND_WRITE(image3d_t, int4, PLACE_3D)
SAMPLE(image3d_t, 4, FILTERED_3D, 0, 3)
