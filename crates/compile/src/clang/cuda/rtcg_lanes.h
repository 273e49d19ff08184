// Lanes of a warp under a mask: ranks, shuffles of any type, scans and reductions. What cooperative groups are made of.
//
// Sources: PTX ISA 8.8 (shfl, match, special registers); Hillis and Steele, "Data parallel algorithms" (1986), scans and
// pointer jumping; Warren, "Hacker's Delight", 7-4 (bits moved together). The order of operands is the one that an H200 showed.
#pragma once
#pragma clang system_header

extern "C++" {
namespace __rtcg_lanes {

RTCG_DEVICE unsigned lane() { return __nvvm_read_ptx_sreg_laneid(); }
RTCG_DEVICE unsigned lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }
RTCG_DEVICE int first(unsigned mask) { return __builtin_ffs((int)mask) - 1; }
RTCG_DEVICE int last(unsigned mask) { return mask ? 31 - __builtin_clz(mask) : -1; }

// The lane of a rank within a mask; 31 where there are fewer. Of a whole warp the rank's last five bits count.
RTCG_DEVICE unsigned lane_of_rank(unsigned mask, unsigned rank) {
    if (__builtin_constant_p(rank == 0) && rank == 0) return (unsigned)first(mask) & 31;
    if (mask == ~0u) return rank;
    unsigned at = 0;
#pragma unroll
    for (unsigned width = 16; width; width /= 2) {
        const unsigned count = __builtin_popcount(mask >> at & ((1u << width) - 1));
        const bool is_above = rank >= count;
        rank -= is_above ? count : 0;
        at += is_above ? width : 0;
    }
    return at;
}

// The bits of `bits` at places that `mask` has, moved together.
RTCG_DEVICE unsigned pack(unsigned bits, unsigned mask) {
    bits &= mask;
    if (mask == ~0u) return bits;
    unsigned absent = ~mask << 1;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        unsigned odd = absent ^ absent << 1;
        odd ^= odd << 2;
        odd ^= odd << 4;
        odd ^= odd << 8;
        odd ^= odd << 16;
        const unsigned moving = odd & mask, words = bits & moving;
        mask = (mask ^ moving) | moving >> step;
        bits = (bits ^ words) | words >> step;
        absent &= ~odd;
    }
    return bits;
}

// A type without reference, const and volatile.
template <class T> struct bare { typedef T type; };
template <class T> struct bare<const T> { typedef T type; };
template <class T> struct bare<volatile T> { typedef T type; };
template <class T> struct bare<const volatile T> { typedef T type; };
template <class T> struct bare<T &> { typedef typename bare<T>::type type; };
template <class T> struct bare<T &&> { typedef typename bare<T>::type type; };

// A value by its words, whatever its type.
template <class T> union words_of {
    static constexpr unsigned count = (sizeof(T) + 3) / 4;
    T value;
    unsigned words[count];
    __device__ __forceinline__ words_of() { words[count - 1] = 0; }
    __device__ __forceinline__ explicit words_of(const T &from) {
        words[count - 1] = 0;
        __builtin_memcpy((void *)&value, (const void *)&from, sizeof(T));
    }
    __device__ __forceinline__ ~words_of() {}
};

template <class T, class Move> RTCG_DEVICE T moved(const T &value, Move move) {
    words_of<T> all(value);
#pragma unroll
    for (unsigned i = 0; i < words_of<T>::count; i++) all.words[i] = move(all.words[i]);
    return all.value;
}
#define RTCG_MOVE(name, mode, last) \
    struct name##_words { \
        unsigned mask; \
        int lane, bounds; \
        __device__ __forceinline__ unsigned operator()(unsigned word) const { \
            return (unsigned)__nvvm_shfl_sync_##mode##_i32(mask, (int)word, lane, bounds); \
        } \
    }; \
    template <class T> RTCG_DEVICE T name(unsigned mask, const T &value, unsigned lane, unsigned width = 32) { \
        return moved(value, name##_words{mask, (int)lane, (int)((32 - width) << 8 | last)}); \
    }
RTCG_MOVE(shuffle, idx, 31)
RTCG_MOVE(shuffle_up, up, 0)
RTCG_MOVE(shuffle_down, down, 31)
RTCG_MOVE(shuffle_xor, bfly, 31)
#undef RTCG_MOVE

template <class T> RTCG_DEVICE unsigned match_any(unsigned mask, const T &value) {
    static_assert(sizeof(T) <= 8, "match_any takes values of up to 8 bytes");
    words_of<T> all(value);
    if (sizeof(T) <= 4) return __match_any_sync(mask, all.words[0]);
    return __match_any_sync(mask, (unsigned long long)all.words[words_of<T>::count - 1] << 32 | all.words[0]);
}
template <class T> RTCG_DEVICE unsigned match_all(unsigned mask, const T &value, int &is_same) {
    static_assert(sizeof(T) <= 8, "match_all takes values of up to 8 bytes");
    words_of<T> all(value);
    if (sizeof(T) <= 4) return __match_all_sync(mask, all.words[0], &is_same);
    return __match_all_sync(mask, (unsigned long long)all.words[words_of<T>::count - 1] << 32 | all.words[0], &is_same);
}

// What all lanes of a mask hold so far: rank by rank, distances 1, 2, 4, ...
template <class T, class F> RTCG_DEVICE T scan(unsigned mask, T value, F &op) {
    const int own = (int)lane();
    int before = last(mask & lanes_below());
    const unsigned count = __builtin_popcount(mask);
#pragma nounroll
    for (unsigned distance = 1; distance < count; distance *= 2) {
        const int source = before < 0 ? own : before;
        const T other = shuffle(mask, value, source);
        const int next = __shfl_sync(mask, before, source);
        if (before >= 0) value = op(value, other);
        before = before < 0 ? before : next;
    }
    return value;
}
// The same for tiles that lie side by side.
template <unsigned Size, class T, class F> RTCG_DEVICE T scan_tile(unsigned mask, T value, F &op) {
    const unsigned rank = lane() & (Size - 1);
#pragma unroll
    for (unsigned distance = 1; distance < Size; distance *= 2) {
        const T other = shuffle_up(mask, value, distance, Size);
        if (rank >= distance) value = op(value, other);
    }
    return value;
}
template <unsigned Size, class T, class F> RTCG_DEVICE T reduce_tile(unsigned mask, T value, F &op) {
#pragma unroll
    for (unsigned distance = Size / 2; distance; distance /= 2) value = op(value, shuffle_xor(mask, value, distance, Size));
    return value;
}
}
}
