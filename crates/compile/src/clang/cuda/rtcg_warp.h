// What threads of a block and of a warp do together: barriers, fences, votes, shuffles; clocks and stops.
//
// Sources: CUDA C++ Programming Guide 13.0 (sections "Synchronization Functions" to "Warp Shuffle Functions", "Time
// Function", "Trap function"), PTX ISA 8.8. Assembly in device code is convergent: the compiler keeps it where it stands.
#pragma once

extern "C++" {

// `__syncthreads` itself is known to clang.
#define RTCG_BARRIER_VALUE(name, operation, type, result) \
    RTCG_DEVICE int name(int predicate) { \
        int all; \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red." operation " " result "; }" : "=r"(all) : "r"(predicate) : "memory"); \
        return all; \
    }
RTCG_BARRIER_VALUE(__syncthreads_count, "popc.u32", int, "%0, 0, p")
RTCG_BARRIER_VALUE(__syncthreads_and, "and.pred", int, "q, 0, p; selp.s32 %0, 1, 0, q")
RTCG_BARRIER_VALUE(__syncthreads_or, "or.pred", int, "q, 0, p; selp.s32 %0, 1, 0, q")
#undef RTCG_BARRIER_VALUE
RTCG_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
RTCG_DEVICE void __barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" : : "r"(id) : "memory"); }
RTCG_DEVICE void __barrier_sync_count(unsigned id, unsigned threads) { asm volatile("barrier.sync %0, %1;" : : "r"(id), "r"(threads) : "memory"); }

RTCG_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
RTCG_DEVICE void __threadfence() { __nvvm_membar_gl(); }
RTCG_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

RTCG_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
RTCG_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
RTCG_DEVICE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
RTCG_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }
RTCG_DEVICE unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

// Shuffles. The last operand of the instruction holds the first lane's bits that stay, and the last lane.
#define RTCG_SHUFFLE(name, mode, lane_type, last) \
    RTCG_DEVICE int name(unsigned mask, int value, lane_type lane, int width = 32) { \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, (int)lane, ((32 - width) << 8) | last); \
    } \
    RTCG_DEVICE float name(unsigned mask, float value, lane_type lane, int width = 32) { \
        return __nvvm_shfl_sync_##mode##_f32(mask, value, (int)lane, ((32 - width) << 8) | last); \
    } \
    RTCG_DEVICE unsigned name(unsigned mask, unsigned value, lane_type lane, int width = 32) { return (unsigned)name(mask, (int)value, lane, width); } \
    RTCG_DEVICE unsigned long long name(unsigned mask, unsigned long long value, lane_type lane, int width = 32) { \
        const unsigned low = (unsigned)name(mask, (int)value, lane, width), high = (unsigned)name(mask, (int)(value >> 32), lane, width); \
        return (unsigned long long)high << 32 | low; \
    } \
    RTCG_SHUFFLE_64(name, long long, lane_type) RTCG_SHUFFLE_64(name, long, lane_type) RTCG_SHUFFLE_64(name, unsigned long, lane_type) \
    RTCG_DEVICE double name(unsigned mask, double value, lane_type lane, int width = 32) { \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(unsigned long long, value), lane, width)); \
    }
#define RTCG_SHUFFLE_64(name, type, lane_type) \
    RTCG_DEVICE type name(unsigned mask, type value, lane_type lane, int width = 32) { return (type)name(mask, (unsigned long long)value, lane, width); }
RTCG_SHUFFLE(__shfl_sync, idx, int, 31)
RTCG_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
RTCG_SHUFFLE(__shfl_down_sync, down, unsigned, 31)
RTCG_SHUFFLE(__shfl_xor_sync, bfly, int, 31)
#undef RTCG_SHUFFLE
#undef RTCG_SHUFFLE_64

// Lanes with the same value.
RTCG_DEVICE unsigned __rtcg_match_any_32(unsigned mask, unsigned value) {
    unsigned lanes;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(lanes) : "r"(value), "r"(mask));
    return lanes;
}
RTCG_DEVICE unsigned __rtcg_match_any_64(unsigned mask, unsigned long long value) {
    unsigned lanes;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(lanes) : "l"(value), "r"(mask));
    return lanes;
}
#define RTCG_MATCH_ALL(bits, type, constraint) \
    RTCG_DEVICE unsigned __rtcg_match_all_##bits(unsigned mask, type value, int *is_same) { \
        unsigned lanes; \
        int same; \
        asm volatile("{ .reg .pred p; match.all.sync.b" #bits " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }" \
                     : "=r"(lanes), "=r"(same) : constraint(value), "r"(mask)); \
        *is_same = same; \
        return lanes; \
    }
RTCG_MATCH_ALL(32, unsigned, "r")
RTCG_MATCH_ALL(64, unsigned long long, "l")
#undef RTCG_MATCH_ALL
#define RTCG_MATCH(type, bits, same_size) \
    RTCG_DEVICE unsigned __match_any_sync(unsigned mask, type value) { return __rtcg_match_any_##bits(mask, __builtin_bit_cast(same_size, value)); } \
    RTCG_DEVICE unsigned __match_all_sync(unsigned mask, type value, int *is_same) { \
        return __rtcg_match_all_##bits(mask, __builtin_bit_cast(same_size, value), is_same); \
    }
RTCG_MATCH(int, 32, unsigned)
RTCG_MATCH(unsigned, 32, unsigned)
RTCG_MATCH(float, 32, unsigned)
RTCG_MATCH(long, 64, unsigned long long)
RTCG_MATCH(unsigned long, 64, unsigned long long)
RTCG_MATCH(long long, 64, unsigned long long)
RTCG_MATCH(unsigned long long, 64, unsigned long long)
RTCG_MATCH(double, 64, unsigned long long)
#undef RTCG_MATCH

#if __CUDA_ARCH__ >= 800
#define RTCG_REDUCE(name, type, operation) \
    RTCG_DEVICE type name(unsigned mask, type value) { \
        type all; \
        asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(all) : "r"(value), "r"(mask)); \
        return all; \
    }
RTCG_REDUCE(__reduce_add_sync, unsigned, "add.u32")
RTCG_REDUCE(__reduce_add_sync, int, "add.s32")
RTCG_REDUCE(__reduce_min_sync, unsigned, "min.u32")
RTCG_REDUCE(__reduce_min_sync, int, "min.s32")
RTCG_REDUCE(__reduce_max_sync, unsigned, "max.u32")
RTCG_REDUCE(__reduce_max_sync, int, "max.s32")
RTCG_REDUCE(__reduce_and_sync, unsigned, "and.b32")
RTCG_REDUCE(__reduce_or_sync, unsigned, "or.b32")
RTCG_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
#undef RTCG_REDUCE
#endif

typedef long clock_t;
RTCG_DEVICE long long clock64() {
    long long cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles) : : "memory");
    return cycles;
}
RTCG_DEVICE clock_t clock() {
    int cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles) : : "memory");
    return cycles;
}
RTCG_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns) : "memory"); }
RTCG_DEVICE void __trap() { asm volatile("trap;" : : : "memory"); }
RTCG_DEVICE void __brkpt() { asm volatile("brkpt;" : : : "memory"); }
#define __assume(condition) __builtin_assume(condition)
// The number is part of the instruction.
#define __prof_trigger(number) asm volatile("pmevent %0;" : : "n"(number))
}
