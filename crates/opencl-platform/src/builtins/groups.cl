/* Functions that all items of a subgroup (6.15.19) or of a group (6.15.16) call together. Items of a group are added in
   their order, so that results do not depend on when they run. */

/* Local memory of the library: 33 values of up to 64 bits, one array for each call that is inlined. */
static inline __attribute__((always_inline)) __local void *rtcg_scratch(void) {
    ulong address;
    __asm__ volatile("{ .shared .align 8 .b8 rtcg_scratch[264]; mov.u64 %0, rtcg_scratch; }" : "=l"(address));
    return (__local void *)address;
}

/* A value of another item of the warp, in words of 32 bits. */
static inline __attribute__((always_inline, convergent)) uint rtcg_word_up(uint a, uint by) {
    return (uint)__nvvm_shfl_sync_up_i32(-1, (int)a, (int)by, 0);
}
static inline __attribute__((always_inline, convergent)) uint rtcg_word_of(uint a, uint item) {
    return (uint)__nvvm_shfl_sync_idx_i32(-1, (int)a, (int)item, 31);
}
#define IN_ONE_WORD(T) \
    static inline __attribute__((overloadable, always_inline, convergent)) T rtcg_up(T a, uint by) { \
        return __builtin_astype(rtcg_word_up(__builtin_astype(a, uint), by), T); } \
    static inline __attribute__((overloadable, always_inline, convergent)) T rtcg_of(T a, uint item) { \
        return __builtin_astype(rtcg_word_of(__builtin_astype(a, uint), item), T); }
#define IN_TWO_WORDS(T) \
    static inline __attribute__((overloadable, always_inline, convergent)) T rtcg_up(T a, uint by) { \
        uint2 w = __builtin_astype(a, uint2); \
        return __builtin_astype((uint2)(rtcg_word_up(w.x, by), rtcg_word_up(w.y, by)), T); } \
    static inline __attribute__((overloadable, always_inline, convergent)) T rtcg_of(T a, uint item) { \
        uint2 w = __builtin_astype(a, uint2); \
        return __builtin_astype((uint2)(rtcg_word_of(w.x, item), rtcg_word_of(w.y, item)), T); }
IN_ONE_WORD(int)
IN_ONE_WORD(uint)
IN_ONE_WORD(float)
IN_TWO_WORDS(long)
IN_TWO_WORDS(ulong)
IN_TWO_WORDS(double)

/* A scan by doubling distances; the last item has the reduction. */
#define COLLECTIVE(T, name, neutral, combined) \
    CONVERGENT T sub_group_scan_inclusive_##name(T a) { \
        uint own = get_sub_group_local_id(); \
        for (uint by = 1; by < 32; by *= 2) { \
            T b = rtcg_up(a, by); \
            if (own >= by) a = combined; \
        } \
        return a; \
    } \
    CONVERGENT T sub_group_scan_exclusive_##name(T a) { \
        T before = rtcg_up(sub_group_scan_inclusive_##name(a), 1); \
        return get_sub_group_local_id() == 0 ? (T)(neutral) : before; \
    } \
    CONVERGENT T sub_group_reduce_##name(T a) { \
        return rtcg_of(sub_group_scan_inclusive_##name(a), get_sub_group_size() - 1); \
    } \
    /* The combination of all subgroups before. */ \
    CONVERGENT T rtcg_before_##name(T sum) { \
        __local T *of_subgroup = rtcg_scratch(); \
        uint subgroup = get_sub_group_id(), count = get_num_sub_groups(); \
        if (get_sub_group_local_id() == get_sub_group_size() - 1) of_subgroup[subgroup] = sum; \
        __nvvm_bar_sync(0); \
        T before = (T)(neutral); \
        for (uint k = 0; k < subgroup; k++) { T a = of_subgroup[k], b = before; before = combined; } \
        __nvvm_bar_sync(0); \
        return before; \
    } \
    CONVERGENT T work_group_scan_inclusive_##name(T value) { \
        T a = sub_group_scan_inclusive_##name(value), b = rtcg_before_##name(a); \
        return combined; \
    } \
    CONVERGENT T work_group_scan_exclusive_##name(T value) { \
        T b = rtcg_before_##name(sub_group_scan_inclusive_##name(value)), a = sub_group_scan_exclusive_##name(value); \
        return get_sub_group_local_id() == 0 ? b : combined; \
    } \
    CONVERGENT T work_group_reduce_##name(T value) { \
        T sum = work_group_scan_inclusive_##name(value); \
        return rtcg_broadcast(sum, ITEM == ITEMS - 1); \
    }
#define COLLECTIVES(T, least, greatest) \
    CONVERGENT T rtcg_broadcast(T a, bool is_source) { \
        __local T *value = rtcg_scratch(); \
        if (is_source) *value = a; \
        __nvvm_bar_sync(0); \
        T found = *value; \
        __nvvm_bar_sync(0); \
        return found; \
    } \
    COLLECTIVE(T, add, 0, b + a) \
    COLLECTIVE(T, min, greatest, b < a ? b : a) \
    COLLECTIVE(T, max, least, b > a ? b : a) \
    CONVERGENT T sub_group_broadcast(T a, uint item) { return rtcg_of(a, item); } \
    CONVERGENT T work_group_broadcast(T a, size_t x) { return rtcg_broadcast(a, get_local_id(0) == x); } \
    CONVERGENT T work_group_broadcast(T a, size_t x, size_t y) { \
        return rtcg_broadcast(a, get_local_id(0) == x && get_local_id(1) == y); } \
    CONVERGENT T work_group_broadcast(T a, size_t x, size_t y, size_t z) { \
        return rtcg_broadcast(a, get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == z); }
COLLECTIVES(int, INT_MIN, INT_MAX)
COLLECTIVES(uint, 0, UINT_MAX)
COLLECTIVES(long, LONG_MIN, LONG_MAX)
COLLECTIVES(ulong, 0, ULONG_MAX)
COLLECTIVES(float, -INFINITY, INFINITY)
COLLECTIVES(double, -(double)INFINITY, (double)INFINITY)

CONVERGENT int sub_group_all(int a) { return __nvvm_vote_all_sync(-1, a != 0); }
CONVERGENT int sub_group_any(int a) { return __nvvm_vote_any_sync(-1, a != 0); }
CONVERGENT int work_group_all(int a) { return __nvvm_bar0_and(a != 0); }
CONVERGENT int work_group_any(int a) { return __nvvm_bar0_or(a != 0); }
