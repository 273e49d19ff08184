/* Loads and stores of vectors (6.15.8), copies between memories (6.15.12), shuffles (6.15.15). */

/* Vectors lie where a scalar may: element by element. Generic addresses are those of private memory to the target. */
#define LOADS(T, SPACE) \
    BUILTIN T##2 vload2(size_t i, const SPACE T *p) { p += 2 * i; return (T##2)(p[0], p[1]); } \
    BUILTIN T##3 vload3(size_t i, const SPACE T *p) { p += 3 * i; return (T##3)(p[0], p[1], p[2]); } \
    BUILTIN T##4 vload4(size_t i, const SPACE T *p) { p += 4 * i; return (T##4)(p[0], p[1], p[2], p[3]); } \
    BUILTIN T##8 vload8(size_t i, const SPACE T *p) { p += 8 * i; return (T##8)(vload4(0, p), vload4(1, p)); } \
    BUILTIN T##16 vload16(size_t i, const SPACE T *p) { p += 16 * i; return (T##16)(vload8(0, p), vload8(1, p)); }
#define STORES(T, SPACE) \
    BUILTIN void vstore2(T##2 a, size_t i, SPACE T *p) { p += 2 * i; p[0] = a.x; p[1] = a.y; } \
    BUILTIN void vstore3(T##3 a, size_t i, SPACE T *p) { p += 3 * i; p[0] = a.x; p[1] = a.y; p[2] = a.z; } \
    BUILTIN void vstore4(T##4 a, size_t i, SPACE T *p) { p += 4 * i; p[0] = a.x; p[1] = a.y; p[2] = a.z; p[3] = a.w; } \
    BUILTIN void vstore8(T##8 a, size_t i, SPACE T *p) { p += 8 * i; vstore4(a.lo, 0, p); vstore4(a.hi, 1, p); } \
    BUILTIN void vstore16(T##16 a, size_t i, SPACE T *p) { p += 16 * i; vstore8(a.lo, 0, p); vstore8(a.hi, 1, p); }
#define IN_ALL_SPACES(T) \
    LOADS(T, __constant) LOADS(T, __global) LOADS(T, __local) LOADS(T, __private) \
    STORES(T, __global) STORES(T, __local) STORES(T, __private)
FOR_TYPES(IN_ALL_SPACES)

/* Half precision in memory. Rounding other than to nearest steps from the nearest value. */
static inline __attribute__((always_inline)) half rtcg_half_rte(float a) { return (half)a; }
static inline __attribute__((always_inline)) half rtcg_half_step(half h, int step) {
    return __builtin_astype((short)(__builtin_astype(h, short) + step), half);
}
static inline __attribute__((always_inline)) half rtcg_half_rtz(float a) {
    half h = (half)a;
    return __builtin_fabsf((float)h) > __builtin_fabsf(a) ? rtcg_half_step(h, -1) : h;
}
static inline __attribute__((always_inline)) half rtcg_half_rtp(float a) {
    half h = (half)a;
    if (!((float)h < a)) return h;
    return (float)h < 0 ? rtcg_half_step(h, -1) : (float)h == 0 ? __builtin_astype((short)1, half) : rtcg_half_step(h, 1);
}
static inline __attribute__((always_inline)) half rtcg_half_rtn(float a) {
    half h = (half)a;
    if (!((float)h > a)) return h;
    return (float)h > 0 ? rtcg_half_step(h, -1)
         : (float)h == 0 ? __builtin_astype((ushort)0x8001, half) : rtcg_half_step(h, 1);
}
/* A double is rounded once: to odd first, where float is not exact. */
static inline __attribute__((always_inline)) float rtcg_to_odd(double a) {
    float f = __nvvm_d2f_rz(a);
    return (double)f == a || a != a || __builtin_isinf(f) ? f : as_float(as_uint(f) | 1);
}

#define HALF_LOADS(SPACE) \
    BUILTIN float vload_half(size_t i, const SPACE half *p) { return (float)p[i]; } \
    HALF_LOADS_OF(SPACE, 2, 2) HALF_LOADS_OF(SPACE, 3, 3) HALF_LOADS_OF(SPACE, 4, 4) HALF_LOADS_OF(SPACE, 8, 8) \
    HALF_LOADS_OF(SPACE, 16, 16) \
    BUILTIN float vloada_half(size_t i, const SPACE half *p) { return (float)p[i]; } \
    BUILTIN float2 vloada_half2(size_t i, const SPACE half *p) { return vload_half2(i, p); } \
    BUILTIN float3 vloada_half3(size_t i, const SPACE half *p) { return vload_half3(0, p + 4 * i); } \
    BUILTIN float4 vloada_half4(size_t i, const SPACE half *p) { return vload_half4(i, p); } \
    BUILTIN float8 vloada_half8(size_t i, const SPACE half *p) { return vload_half8(i, p); } \
    BUILTIN float16 vloada_half16(size_t i, const SPACE half *p) { return vload_half16(i, p); }
#define HALF_LOADS_OF(SPACE, n, stride) \
    BUILTIN float##n vload_half##n(size_t i, const SPACE half *p) { \
        float##n a; \
        for (int k = 0; k < n; k++) a[k] = (float)p[n * i + k]; \
        return a; \
    }
HALF_LOADS(__constant)
HALF_LOADS(__global)
HALF_LOADS(__local)
HALF_LOADS(__private)

#define HALF_STORES(SPACE) \
    HALF_STORES_ROUNDED(SPACE, , rte) HALF_STORES_ROUNDED(SPACE, _rte, rte) HALF_STORES_ROUNDED(SPACE, _rtz, rtz) \
    HALF_STORES_ROUNDED(SPACE, _rtp, rtp) HALF_STORES_ROUNDED(SPACE, _rtn, rtn)
#define HALF_STORES_ROUNDED(SPACE, suffix, mode) \
    HALF_STORES_FROM(SPACE, suffix, mode, float, ) HALF_STORES_FROM(SPACE, suffix, mode, double, rtcg_to_odd)
#define HALF_STORES_FROM(SPACE, suffix, mode, T, narrow) \
    BUILTIN void vstore_half##suffix(T a, size_t i, SPACE half *p) { p[i] = rtcg_half_##mode(narrow(a)); } \
    BUILTIN void vstorea_half##suffix(T a, size_t i, SPACE half *p) { p[i] = rtcg_half_##mode(narrow(a)); } \
    HALF_STORES_OF(SPACE, suffix, mode, T, narrow, 2, 2) HALF_STORES_OF(SPACE, suffix, mode, T, narrow, 3, 4) \
    HALF_STORES_OF(SPACE, suffix, mode, T, narrow, 4, 4) HALF_STORES_OF(SPACE, suffix, mode, T, narrow, 8, 8) \
    HALF_STORES_OF(SPACE, suffix, mode, T, narrow, 16, 16)
#define HALF_STORES_OF(SPACE, suffix, mode, T, narrow, n, stride) \
    BUILTIN void vstore_half##n##suffix(T##n a, size_t i, SPACE half *p) { \
        for (int k = 0; k < n; k++) p[n * i + k] = rtcg_half_##mode(narrow(a[k])); \
    } \
    BUILTIN void vstorea_half##n##suffix(T##n a, size_t i, SPACE half *p) { \
        for (int k = 0; k < n; k++) p[stride * i + k] = rtcg_half_##mode(narrow(a[k])); \
    }
HALF_STORES(__global)
HALF_STORES(__local)
HALF_STORES(__private)

/* Copies by all items of a group; the event is nothing, the barrier is in the wait. */
static inline __attribute__((always_inline)) size_t rtcg_item(void) {
    return __nvvm_read_ptx_sreg_tid_x()
         + __nvvm_read_ptx_sreg_ntid_x() * (__nvvm_read_ptx_sreg_tid_y()
                                            + __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_tid_z());
}
#define COPIES(T) \
    CONVERGENT event_t async_work_group_copy(__local T *to, const __global T *from, size_t n, event_t event) { \
        size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2); \
        for (size_t i = rtcg_item(); i < n; i += step) to[i] = from[i]; \
        return event; \
    } \
    CONVERGENT event_t async_work_group_copy(__global T *to, const __local T *from, size_t n, event_t event) { \
        size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2); \
        for (size_t i = rtcg_item(); i < n; i += step) to[i] = from[i]; \
        return event; \
    } \
    CONVERGENT event_t async_work_group_strided_copy(__local T *to, const __global T *from, size_t n, size_t stride, \
                                                     event_t event) { \
        size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2); \
        for (size_t i = rtcg_item(); i < n; i += step) to[i] = from[i * stride]; \
        return event; \
    } \
    CONVERGENT event_t async_work_group_strided_copy(__global T *to, const __local T *from, size_t n, size_t stride, \
                                                     event_t event) { \
        size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2); \
        for (size_t i = rtcg_item(); i < n; i += step) to[i * stride] = from[i]; \
        return event; \
    } \
    BUILTIN void prefetch(const __global T *p, size_t n) {}
#define COPIES_OF_ALL(T) COPIES(T) COPIES(T##2) COPIES(T##3) COPIES(T##4) COPIES(T##8) COPIES(T##16)
FOR_TYPES(COPIES_OF_ALL)
CONVERGENT void wait_group_events(int n, event_t *events) { __nvvm_bar_sync(0); }

/* Elements by number, modulo how many there are. */
#define SHUFFLES(T, M) \
    SHUFFLES_TO(T, M, 2) SHUFFLES_TO(T, M, 4) SHUFFLES_TO(T, M, 8) SHUFFLES_TO(T, M, 16)
#define SHUFFLES_TO(T, M, n) \
    SHUFFLE(T, M, n, 2) SHUFFLE(T, M, n, 4) SHUFFLE(T, M, n, 8) SHUFFLE(T, M, n, 16)
#define SHUFFLE(T, M, n, m) \
    PURE T##n shuffle(T##m a, M##n mask) { \
        T##n r; \
        for (int k = 0; k < n; k++) r[k] = a[mask[k] & (m - 1)]; \
        return r; \
    } \
    PURE T##n shuffle2(T##m a, T##m b, M##n mask) { \
        T##n r; \
        for (int k = 0; k < n; k++) { \
            uint place = mask[k] & (2 * m - 1); \
            r[k] = place < m ? a[place] : b[place - m]; \
        } \
        return r; \
    }
SHUFFLES(char, uchar)
SHUFFLES(uchar, uchar)
SHUFFLES(short, ushort)
SHUFFLES(ushort, ushort)
SHUFFLES(int, uint)
SHUFFLES(uint, uint)
SHUFFLES(float, uint)
SHUFFLES(long, ulong)
SHUFFLES(ulong, ulong)
SHUFFLES(double, ulong)
