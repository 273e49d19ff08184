// Cooperative groups: blocks, grids, clusters, tiles of a block, threads that are together in a branch.
//
// Sources: CUDA C++ Programming Guide 13.0 ("Cooperative Groups"), PTX ISA 8.8 (barriers, special registers, mapa); ranks and
// sizes where the guide is silent are those that an H200 showed. A group is a small value that holds what it cannot ask
// the thread's registers for. Tiles of several warps meet in shared memory: `block_tile_memory`, or a variable of the
// kernel's where the program gives none.
#pragma once
#pragma clang system_header
#include "rtcg_lanes.h"

extern "C++" {
namespace cooperative_groups {

// What each warp of a tile of 64 to 1024 threads tells the others, and words for barriers.
struct __align__(16) __rtcg_tile_memory { unsigned barriers[16], slots[1][8]; };
template <unsigned MaxBlockSize = 1024> struct __align__(16) block_tile_memory {
    static_assert(MaxBlockSize != 0 && MaxBlockSize <= 1024, "a block has at most 1024 threads");
    unsigned barriers[16], slots[(MaxBlockSize + 31) / 32][8];
};

class thread_block;
class coalesced_group;
template <unsigned int Size, typename ParentT = void> class thread_block_tile;

// Functions that make groups, and what the kinds of groups share.
struct __rtcg_groups {
    enum kind : unsigned { of_block, of_lanes, of_warps, of_grid };
    static __device__ __forceinline__ unsigned rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    static __device__ __forceinline__ unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static __device__ __forceinline__ void sync_warps(unsigned *words, unsigned size, unsigned number);
    static __device__ __forceinline__ __rtcg_tile_memory *own_memory();
    static __device__ __forceinline__ coalesced_group make_coalesced(unsigned mask, unsigned meta_rank, unsigned meta_size);
    static __device__ __forceinline__ coalesced_group split(unsigned mask, unsigned part);
    static __device__ __forceinline__ thread_block make_block(__rtcg_tile_memory *memory);
    template <class Tile, class Group> static __device__ __forceinline__ Tile make_tile(const Group &parent);
    static __device__ __forceinline__ unsigned arrive_at_grid(unsigned *words);
    static __device__ __forceinline__ void wait_for_grid(unsigned *words, unsigned before);
    // 0 for a block.
    template <class Group> static __device__ __forceinline__ unsigned mask(const Group &group) { return group.mask_; }
};

// A group whose kind is known when the kernel runs.
class thread_group {
protected:
    unsigned kind_ = 0, mask_ = 0, meta_rank_ = 0, meta_size_ = 1;
    __rtcg_tile_memory *memory_ = nullptr;
    friend struct __rtcg_groups;
    __device__ __forceinline__ thread_group() {}
    __device__ __forceinline__ thread_group(unsigned kind, unsigned mask, unsigned meta_rank, unsigned meta_size, __rtcg_tile_memory *memory)
        : kind_(kind), mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size), memory_(memory) {}

public:
    __device__ __forceinline__ unsigned long long num_threads() const;
    __device__ __forceinline__ unsigned long long size() const { return num_threads(); }
    __device__ __forceinline__ unsigned long long thread_rank() const;
    __device__ __forceinline__ void sync() const;
};

class thread_block : public thread_group {
    friend struct __rtcg_groups;
    __device__ __forceinline__ explicit thread_block(__rtcg_tile_memory *memory) : thread_group(__rtcg_groups::of_block, 0, 0, 1, memory) {}

public:
    // A wait is the block's barrier and an arrival does nothing: threads that arrive late are waited for, and so are those that wait late.
    class arrival_token {};
    static __device__ __forceinline__ void sync() { __syncthreads(); }
    static __device__ __forceinline__ arrival_token barrier_arrive() { return arrival_token(); }
    static __device__ __forceinline__ void barrier_wait(arrival_token &&) { __syncthreads(); }
    static __device__ __forceinline__ unsigned int thread_rank() { return __rtcg_groups::rank_in_block(); }
    static __device__ __forceinline__ unsigned int num_threads() { return __rtcg_groups::block_threads(); }
    static __device__ __forceinline__ unsigned int size() { return num_threads(); }
    static __device__ __forceinline__ dim3 group_index() { return blockIdx; }
    static __device__ __forceinline__ dim3 thread_index() { return threadIdx; }
    static __device__ __forceinline__ dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static __device__ __forceinline__ dim3 group_dim() { return dim_threads(); }
};
__device__ __forceinline__ thread_block __rtcg_groups::make_block(__rtcg_tile_memory *memory) { return thread_block(memory); }
RTCG_DEVICE thread_block this_thread_block() { return __rtcg_groups::make_block(nullptr); }
// All threads of the block call this, as it makes the memory ready.
template <unsigned Size> RTCG_DEVICE thread_block this_thread_block(block_tile_memory<Size> &memory) {
    if (__rtcg_groups::rank_in_block() < 16) memory.barriers[__rtcg_groups::rank_in_block()] = 0;
    __syncthreads();
    return __rtcg_groups::make_block((__rtcg_tile_memory *)&memory);
}

// A barrier in global memory among the blocks of a grid that all run. The driver hands over the address of its words, all
// zero at first. One block adds what makes the sum of all 2^31: everybody waits for the word's highest bit to change.
__device__ __forceinline__ unsigned __rtcg_groups::arrive_at_grid(unsigned *words) {
    unsigned before = 0;
    if (words == nullptr) __trap();
    __syncthreads();
    if (rank_in_block() == 0) {
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        const unsigned part = (blockIdx.x | blockIdx.y | blockIdx.z) == 0 ? 0x80000001u - blocks : 1;
        __threadfence();
        asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(words + 1), "r"(part) : "memory");
    }
    return before;
}
__device__ __forceinline__ void __rtcg_groups::wait_for_grid(unsigned *words, unsigned before) {
    if (rank_in_block() == 0) {
        unsigned now;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(words + 1) : "memory");
        while (((now ^ before) & 0x80000000u) == 0);
        __threadfence();
    }
    __syncthreads();
}
class grid_group : public thread_group {
    friend __device__ __forceinline__ grid_group this_grid();
    __device__ __forceinline__ explicit grid_group(unsigned *words) : thread_group(__rtcg_groups::of_grid, 0, 0, 1, (__rtcg_tile_memory *)words) {}

public:
    class arrival_token {
        friend class grid_group;
        unsigned before = 0;
    };
    __device__ __forceinline__ bool is_valid() const { return memory_ != nullptr; }
    __device__ __forceinline__ arrival_token barrier_arrive() const {
        arrival_token token;
        token.before = __rtcg_groups::arrive_at_grid((unsigned *)memory_);
        return token;
    }
    __device__ __forceinline__ void barrier_wait(arrival_token &&token) const { __rtcg_groups::wait_for_grid((unsigned *)memory_, token.before); }
    __device__ __forceinline__ void sync() const { barrier_wait(barrier_arrive()); }
    static __device__ __forceinline__ unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static __device__ __forceinline__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static __device__ __forceinline__ unsigned long long thread_rank() {
        return block_rank() * __rtcg_groups::block_threads() + __rtcg_groups::rank_in_block();
    }
    static __device__ __forceinline__ unsigned long long num_threads() { return num_blocks() * __rtcg_groups::block_threads(); }
    static __device__ __forceinline__ unsigned long long size() { return num_threads(); }
    static __device__ __forceinline__ dim3 block_index() { return blockIdx; }
    static __device__ __forceinline__ dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static __device__ __forceinline__ dim3 group_dim() { return dim_blocks(); }
    static __device__ __forceinline__ dim3 dim_threads() { return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z); }
    static __device__ __forceinline__ dim3 thread_index() {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.z * blockDim.z + threadIdx.z);
    }
#if __CUDA_ARCH__ >= 900
    static __device__ __forceinline__ unsigned long long cluster_rank() {
        const dim3 at = cluster_index(), all = dim_clusters();
        return ((unsigned long long)at.z * all.y + at.y) * all.x + at.x;
    }
    static __device__ __forceinline__ unsigned long long num_clusters() {
        const dim3 all = dim_clusters();
        return (unsigned long long)all.x * all.y * all.z;
    }
    static __device__ __forceinline__ dim3 cluster_index();
    static __device__ __forceinline__ dim3 dim_clusters();
#endif
};
__device__ __forceinline__ grid_group this_grid() {
    unsigned long long words;
    asm("{ .reg .b32 low, high; mov.u32 high, %%envreg1; mov.u32 low, %%envreg2; mov.b64 %0, {low, high}; }" : "=l"(words));
    return grid_group((unsigned *)words);
}

#if __CUDA_ARCH__ >= 900
#define RTCG_REGISTER(name, text) \
    RTCG_DEVICE unsigned __rtcg_##name() { \
        unsigned value; \
        asm("mov.u32 %0, %%" text ";" : "=r"(value)); \
        return value; \
    }
#define RTCG_REGISTERS(name) \
    RTCG_REGISTER(name##_x, #name ".x") RTCG_REGISTER(name##_y, #name ".y") RTCG_REGISTER(name##_z, #name ".z") \
    RTCG_DEVICE dim3 __rtcg_##name() { return dim3(__rtcg_##name##_x(), __rtcg_##name##_y(), __rtcg_##name##_z()); }
RTCG_REGISTERS(clusterid) RTCG_REGISTERS(nclusterid) RTCG_REGISTERS(cluster_ctaid) RTCG_REGISTERS(cluster_nctaid)
RTCG_REGISTER(cluster_ctarank, "cluster_ctarank") RTCG_REGISTER(cluster_nctarank, "cluster_nctarank")
#undef RTCG_REGISTERS
#undef RTCG_REGISTER
__device__ __forceinline__ dim3 grid_group::cluster_index() { return __rtcg_clusterid(); }
__device__ __forceinline__ dim3 grid_group::dim_clusters() { return __rtcg_nclusterid(); }

class cluster_group {
    friend __device__ __forceinline__ cluster_group this_cluster();
    __device__ __forceinline__ cluster_group() {}

public:
    class arrival_token {};
    static __device__ __forceinline__ arrival_token barrier_arrive() {
        asm volatile("barrier.cluster.arrive;" : : : "memory");
        return arrival_token();
    }
    static __device__ __forceinline__ void barrier_wait(arrival_token &&) { barrier_wait(); }
    static __device__ __forceinline__ void barrier_wait() { asm volatile("barrier.cluster.wait;" : : : "memory"); }
    static __device__ __forceinline__ void sync() { barrier_wait(barrier_arrive()); }
    static __device__ __forceinline__ unsigned int block_rank() { return __rtcg_cluster_ctarank(); }
    static __device__ __forceinline__ unsigned int num_blocks() { return __rtcg_cluster_nctarank(); }
    static __device__ __forceinline__ unsigned int thread_rank() { return block_rank() * __rtcg_groups::block_threads() + __rtcg_groups::rank_in_block(); }
    static __device__ __forceinline__ unsigned int num_threads() { return num_blocks() * __rtcg_groups::block_threads(); }
    static __device__ __forceinline__ unsigned int size() { return num_threads(); }
    static __device__ __forceinline__ dim3 block_index() { return __rtcg_cluster_ctaid(); }
    static __device__ __forceinline__ dim3 dim_blocks() { return __rtcg_cluster_nctaid(); }
    static __device__ __forceinline__ dim3 dim_threads() {
        const dim3 all = dim_blocks();
        return dim3(all.x * blockDim.x, all.y * blockDim.y, all.z * blockDim.z);
    }
    static __device__ __forceinline__ dim3 thread_index() {
        const dim3 at = block_index();
        return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y, at.z * blockDim.z + threadIdx.z);
    }
    static __device__ __forceinline__ unsigned int query_shared_rank(const void *address) {
        unsigned rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
        return rank;
    }
    template <typename T> static __device__ __forceinline__ T *map_shared_rank(T *address, int rank) {
        T *there;
        asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
        return there;
    }
};
__device__ __forceinline__ cluster_group this_cluster() { return cluster_group(); }
#endif

// The threads of a mask. Ranks go by lanes.
class coalesced_group : public thread_group {
    friend struct __rtcg_groups;
    __device__ __forceinline__ coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : thread_group(__rtcg_groups::of_lanes, mask, meta_rank, meta_size, nullptr) {}

public:
    __device__ __forceinline__ unsigned int num_threads() const { return __builtin_popcount(mask_); }
    __device__ __forceinline__ unsigned int size() const { return num_threads(); }
    __device__ __forceinline__ unsigned int thread_rank() const { return __builtin_popcount(mask_ & __rtcg_lanes::lanes_below()); }
    __device__ __forceinline__ unsigned int meta_group_rank() const { return meta_rank_; }
    __device__ __forceinline__ unsigned int meta_group_size() const { return meta_size_; }
    __device__ __forceinline__ void sync() const { __syncwarp(mask_); }
    template <class T> __device__ __forceinline__ T shfl(T value, unsigned int rank) const {
        return __rtcg_lanes::shuffle(mask_, value, __rtcg_lanes::lane_of_rank(mask_, rank));
    }
    // A whole warp is common, and has the shorter instructions. Where there is no such rank, a thread's own value.
    template <class T> __device__ __forceinline__ T shfl_up(T value, unsigned int delta) const {
        if (mask_ == ~0u) return __rtcg_lanes::shuffle_up(mask_, value, delta);
        const unsigned rank = thread_rank();
        return __rtcg_lanes::shuffle(mask_, value, rank < delta ? __rtcg_lanes::lane() : __rtcg_lanes::lane_of_rank(mask_, rank - delta));
    }
    template <class T> __device__ __forceinline__ T shfl_down(T value, unsigned int delta) const {
        if (mask_ == ~0u) return __rtcg_lanes::shuffle_down(mask_, value, delta);
        const unsigned rank = thread_rank() + delta;
        const bool is_outside = rank >= num_threads() || rank < delta;
        return __rtcg_lanes::shuffle(mask_, value, is_outside ? __rtcg_lanes::lane() : __rtcg_lanes::lane_of_rank(mask_, rank));
    }
    __device__ __forceinline__ int any(int predicate) const { return __any_sync(mask_, predicate); }
    __device__ __forceinline__ int all(int predicate) const { return __all_sync(mask_, predicate); }
    __device__ __forceinline__ unsigned int ballot(int predicate) const { return __rtcg_lanes::pack(__ballot_sync(mask_, predicate), mask_); }
    template <class T> __device__ __forceinline__ unsigned int match_any(T value) const {
        return __rtcg_lanes::pack(__rtcg_lanes::match_any(mask_, value), mask_);
    }
    template <class T> __device__ __forceinline__ unsigned int match_all(T value, int &predicate) const {
        return __rtcg_lanes::pack(__rtcg_lanes::match_all(mask_, value, predicate), mask_);
    }

    __device__ __forceinline__ unsigned __rtcg_mask() const { return mask_; }
    template <class T, class F> __device__ __forceinline__ T __rtcg_scan(const T &value, F &op) const {
        return mask_ == ~0u ? __rtcg_lanes::scan_tile<32>(mask_, value, op) : __rtcg_lanes::scan(mask_, value, op);
    }
    template <class T, class F> __device__ __forceinline__ T __rtcg_reduce(const T &value, F &op) const {
        if (mask_ == ~0u) return __rtcg_lanes::reduce_tile<32>(mask_, value, op);
        return __rtcg_lanes::shuffle(mask_, __rtcg_lanes::scan(mask_, value, op), __rtcg_lanes::last(mask_));
    }
    template <class T> __device__ __forceinline__ T __rtcg_before(const T &value) const { return shfl_up(value, 1); }
};
__device__ __forceinline__ coalesced_group __rtcg_groups::make_coalesced(unsigned mask, unsigned meta_rank, unsigned meta_size) {
    return coalesced_group(mask, meta_rank, meta_size);
}
RTCG_DEVICE coalesced_group coalesced_threads() { return __rtcg_groups::make_coalesced(__activemask(), 0, 1); }

// Tiles within a warp.
template <unsigned Size, bool IsWide> class __rtcg_tile : public thread_group {
    friend struct __rtcg_groups;
    static constexpr unsigned lanes = Size == 32 ? ~0u : (1u << (Size & 31)) - 1;

protected:
    __device__ __forceinline__ __rtcg_tile(unsigned meta_rank, unsigned meta_size, __rtcg_tile_memory *)
        : thread_group(__rtcg_groups::of_lanes, __rtcg_mask(), meta_rank, meta_size, nullptr) {}

public:
    static __device__ __forceinline__ unsigned __rtcg_mask() { return Size == 32 ? ~0u : lanes << (__rtcg_lanes::lane() & ~(Size - 1)); }
    static constexpr __host__ __device__ unsigned int num_threads() { return Size; }
    static constexpr __host__ __device__ unsigned int size() { return Size; }
    static __device__ __forceinline__ unsigned int thread_rank() { return __rtcg_lanes::lane() & (Size - 1); }
    __device__ __forceinline__ unsigned int meta_group_rank() const { return meta_rank_; }
    __device__ __forceinline__ unsigned int meta_group_size() const { return meta_size_; }
    static __device__ __forceinline__ void sync() { __syncwarp(__rtcg_mask()); }
    template <class T> static __device__ __forceinline__ T shfl(T value, int rank) { return __rtcg_lanes::shuffle(__rtcg_mask(), value, rank, Size); }
    template <class T> static __device__ __forceinline__ T shfl_up(T value, unsigned int delta) {
        return __rtcg_lanes::shuffle_up(__rtcg_mask(), value, delta, Size);
    }
    template <class T> static __device__ __forceinline__ T shfl_down(T value, unsigned int delta) {
        return __rtcg_lanes::shuffle_down(__rtcg_mask(), value, delta, Size);
    }
    template <class T> static __device__ __forceinline__ T shfl_xor(T value, unsigned int lane) {
        return __rtcg_lanes::shuffle_xor(__rtcg_mask(), value, lane, Size);
    }
    static __device__ __forceinline__ int any(int predicate) { return __any_sync(__rtcg_mask(), predicate); }
    static __device__ __forceinline__ int all(int predicate) { return __all_sync(__rtcg_mask(), predicate); }
    static __device__ __forceinline__ unsigned int ballot(int predicate) { return own(__ballot_sync(__rtcg_mask(), predicate)); }
    template <class T> static __device__ __forceinline__ unsigned int match_any(T value) { return own(__rtcg_lanes::match_any(__rtcg_mask(), value)); }
    template <class T> static __device__ __forceinline__ unsigned int match_all(T value, int &predicate) {
        return own(__rtcg_lanes::match_all(__rtcg_mask(), value, predicate));
    }

    template <class T, class F> __device__ __forceinline__ T __rtcg_scan(const T &value, F &op) const {
        return __rtcg_lanes::scan_tile<Size>(__rtcg_mask(), value, op);
    }
    template <class T, class F> __device__ __forceinline__ T __rtcg_reduce(const T &value, F &op) const {
        return __rtcg_lanes::reduce_tile<Size>(__rtcg_mask(), value, op);
    }
    template <class T> __device__ __forceinline__ T __rtcg_before(const T &value) const { return shfl_up(value, 1); }

private:
    static __device__ __forceinline__ unsigned own(unsigned mask) { return Size == 32 ? mask : mask >> (__rtcg_lanes::lane() & ~(Size - 1)) & lanes; }
};

// A barrier of the block's sixteen for each tile of each size, from the last one down, as programs count theirs from the
// first. Where tiles of 64 are too many, one lane of each warp comes to a word in shared memory, as blocks do to that of a grid.
__device__ __forceinline__ void __rtcg_groups::sync_warps(unsigned *words, unsigned size, unsigned number) {
    const unsigned threads = block_threads(), left = (threads + 31) / 32 - number * (size / 32), warps = left < size / 32 ? left : size / 32;
    const unsigned whole = threads <= 1 ? 1 : 1u << (32 - __builtin_clz(threads - 1)), place = (whole < size ? 1 : whole / size) + number;
    if (size > 64 || place < 16) {
        asm volatile("barrier.sync %0, %1;" : : "r"(16 - place), "r"(warps * 32) : "memory");
        return;
    }
    __syncwarp();
    if (__rtcg_lanes::lane() == 0) {
        volatile unsigned *word = words + number;
        const unsigned part = rank_in_block() / 32 == number * (size / 32) ? 0x80000001u - warps : 1;
        __threadfence_block();
        const unsigned before = __atomic_fetch_add((unsigned *)word, part, __ATOMIC_RELAXED);
        while (((*word ^ before) & 0x80000000u) == 0) __nanosleep(20);
        __threadfence_block();
    }
    __syncwarp();
}
template <class> RTCG_DEVICE __rtcg_tile_memory *__rtcg_own_memory() {
    static __shared__ block_tile_memory<1024> memory;
    return (__rtcg_tile_memory *)&memory;
}
__device__ __forceinline__ __rtcg_tile_memory *__rtcg_groups::own_memory() {
    __rtcg_tile_memory *memory = __rtcg_own_memory<void>();
    __syncthreads();
    if (rank_in_block() < 16) memory->barriers[rank_in_block()] = 0;
    __syncthreads();
    return memory;
}

// Tiles of several warps.
template <unsigned Size> class __rtcg_tile<Size, true> : public thread_group {
    friend struct __rtcg_groups;
    typedef unsigned (*__rtcg_slots)[8];

protected:
    __device__ __forceinline__ __rtcg_tile(unsigned meta_rank, unsigned meta_size, __rtcg_tile_memory *memory)
        : thread_group(__rtcg_groups::of_warps, Size, meta_rank, meta_size, memory) {}

public:
    static constexpr __host__ __device__ unsigned int num_threads() { return Size; }
    static constexpr __host__ __device__ unsigned int size() { return Size; }
    static __device__ __forceinline__ unsigned int thread_rank() { return __rtcg_groups::rank_in_block() & (Size - 1); }
    __device__ __forceinline__ unsigned int meta_group_rank() const { return meta_rank_; }
    __device__ __forceinline__ unsigned int meta_group_size() const { return meta_size_; }
    __device__ __forceinline__ void sync() const { __rtcg_groups::sync_warps(memory_->barriers, Size, __rtcg_groups::rank_in_block() / Size); }
    template <class T> __device__ __forceinline__ T shfl(T value, unsigned int rank) const {
        rank &= Size - 1;
        return __rtcg_lanes::shuffle(~0u, tell(__rtcg_lanes::shuffle(~0u, value, rank & 31)), rank / 32);
    }
    __device__ __forceinline__ int any(int predicate) const { return __any_sync(~0u, tell(__any_sync(~0u, predicate))); }
    __device__ __forceinline__ int all(int predicate) const { return __all_sync(~0u, tell(__all_sync(~0u, predicate))); }

    template <class T, class F> __device__ __forceinline__ T __rtcg_scan(const T &value, F &op) const {
        const T within = __rtcg_lanes::scan_tile<32>(~0u, value, op);
        const T of_warps = __rtcg_lanes::scan_tile<Size / 32>(~0u, tell(__rtcg_lanes::shuffle(~0u, within, 31)), op);
        const unsigned warp = thread_rank() / 32;
        const T before = __rtcg_lanes::shuffle(~0u, of_warps, warp == 0 ? 0 : warp - 1);
        return warp == 0 ? within : op(within, before);
    }
    template <class T, class F> __device__ __forceinline__ T __rtcg_reduce(const T &value, F &op) const {
        const T all = __rtcg_lanes::reduce_tile<Size / 32>(~0u, tell(__rtcg_lanes::reduce_tile<32>(~0u, value, op)), op);
        return __rtcg_lanes::shuffle(~0u, all, thread_rank() / 32);
    }
    template <class T> __device__ __forceinline__ T __rtcg_before(const T &value) const {
        const T of_warps = tell(__rtcg_lanes::shuffle(~0u, value, 31)), above = __rtcg_lanes::shuffle_up(~0u, value, 1);
        const T before = __rtcg_lanes::shuffle(~0u, of_warps, (thread_rank() / 32 - 1) & (Size / 32 - 1));
        return __rtcg_lanes::lane() == 0 ? before : above;
    }

private:
    // What all warps of the tile say: lanes 0, 1, ... and again from each multiple of their number hold the values of warps 0, 1, ...
    template <class T> __device__ __forceinline__ T tell(const T &value) const {
        __rtcg_lanes::words_of<T> mine(value), all;
        const unsigned warp = __rtcg_groups::rank_in_block() / 32;
        const __rtcg_slots slots = memory_->slots;
        const unsigned from = (warp & ~(Size / 32 - 1)) + (__rtcg_lanes::lane() & (Size / 32 - 1));
#pragma unroll
        for (unsigned i = 0; i < __rtcg_lanes::words_of<T>::count; i += 8) {
            const unsigned n = __rtcg_lanes::words_of<T>::count - i < 8 ? __rtcg_lanes::words_of<T>::count - i : 8;
            if (__rtcg_lanes::lane() == 0)
                for (unsigned j = 0; j < n; j++) slots[warp][j] = mine.words[i + j];
            sync();
            const unsigned source = from * 32 < __rtcg_groups::block_threads() ? from : warp;
            for (unsigned j = 0; j < n; j++) all.words[i + j] = slots[source][j];
            sync();
        }
        return all.value;
    }
};

template <unsigned int Size> class thread_block_tile<Size, void> : public __rtcg_tile<Size, (Size > 32)> {
    friend struct __rtcg_groups;
    static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 1024, "the size of a tile is a power of two up to 1024");

protected:
    __device__ __forceinline__ thread_block_tile(unsigned meta_rank, unsigned meta_size, __rtcg_tile_memory *memory)
        : __rtcg_tile<Size, (Size > 32)>(meta_rank, meta_size, memory) {}
};
// A tile that knows what it is a part of.
template <unsigned int Size, typename ParentT> class thread_block_tile : public thread_block_tile<Size, void> {
    friend struct __rtcg_groups;
    __device__ __forceinline__ thread_block_tile(unsigned meta_rank, unsigned meta_size, __rtcg_tile_memory *memory)
        : thread_block_tile<Size, void>(meta_rank, meta_size, memory) {}
};
template <class Tile, class Group> __device__ __forceinline__ Tile __rtcg_groups::make_tile(const Group &parent) {
    const unsigned size = Tile::num_threads();
    __rtcg_tile_memory *memory = parent.memory_;
    if (size > 32 && memory == nullptr) memory = own_memory();
    return Tile(parent.thread_rank() / size, (parent.num_threads() + size - 1) / size, memory);
}
RTCG_DEVICE thread_block_tile<1, thread_block> this_thread() { return __rtcg_groups::make_tile<thread_block_tile<1, thread_block>>(this_thread_block()); }

// ---- partitions ----

template <unsigned int Size> RTCG_DEVICE thread_block_tile<Size, thread_block> tiled_partition(const thread_block &parent) {
    return __rtcg_groups::make_tile<thread_block_tile<Size, thread_block>>(parent);
}
template <unsigned int Size, unsigned int ParentSize, typename ParentT>
RTCG_DEVICE thread_block_tile<Size, thread_block_tile<ParentSize, ParentT>> tiled_partition(const thread_block_tile<ParentSize, ParentT> &parent) {
    static_assert(Size <= ParentSize, "a tile is no larger than the group it is a part of");
    return __rtcg_groups::make_tile<thread_block_tile<Size, thread_block_tile<ParentSize, ParentT>>>(parent);
}
RTCG_DEVICE coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
    const unsigned rank = parent.thread_rank(), count = parent.num_threads(), begin = rank / size * size;
    const unsigned rest = count - begin < size ? count - begin : size;
    const unsigned from = __rtcg_lanes::lane_of_rank(parent.__rtcg_mask(), begin), to = __rtcg_lanes::lane_of_rank(parent.__rtcg_mask(), begin + rest - 1);
    return __rtcg_groups::make_coalesced(parent.__rtcg_mask() & ~0u << from & ~0u >> (31 - to), rank / size, (count + size - 1) / size);
}
__device__ __forceinline__ coalesced_group __rtcg_groups::split(unsigned mask, unsigned part) {
    const bool is_first = (unsigned)__rtcg_lanes::first(part) == __rtcg_lanes::lane();
    const unsigned leaders = __ballot_sync(mask, is_first), below = part & (0u - part);
    return make_coalesced(part, __builtin_popcount(leaders & (below - 1)), __builtin_popcount(leaders));
}
template <class Group, class Label> RTCG_DEVICE coalesced_group labeled_partition(const Group &parent, Label label) {
    const unsigned mask = parent.__rtcg_mask();
    return __rtcg_groups::split(mask, __rtcg_lanes::match_any(mask, label));
}
template <class Group> RTCG_DEVICE coalesced_group binary_partition(const Group &parent, bool predicate) {
    const unsigned mask = parent.__rtcg_mask(), holds = __ballot_sync(mask, predicate) & mask, other = mask & ~holds;
    return __rtcg_groups::make_coalesced(predicate ? holds : other, predicate && other != 0, 1 + (holds != 0 && other != 0));
}
RTCG_DEVICE thread_group tiled_partition(const thread_block &parent, unsigned int size) {
    const unsigned lanes = size >= 32 ? ~0u : (1u << size) - 1, begin = __rtcg_lanes::lane() & ~(size - 1) & 31;
    // The last warp of a block may have fewer threads.
    const unsigned rank = parent.thread_rank(), threads = parent.num_threads(), left = threads - (rank & ~31u);
    const unsigned existing = left >= 32 ? ~0u : (1u << left) - 1;
    return __rtcg_groups::make_coalesced(lanes << begin & existing, rank / size, (threads + size - 1) / size);
}

// ---- groups of a kind that shows when the kernel runs ----

__device__ __forceinline__ unsigned long long thread_group::num_threads() const {
    switch (kind_) {
    case __rtcg_groups::of_lanes: return __builtin_popcount(mask_);
    case __rtcg_groups::of_warps: return mask_;
    case __rtcg_groups::of_grid: return grid_group::num_threads();
    default: return thread_block::num_threads();
    }
}
__device__ __forceinline__ unsigned long long thread_group::thread_rank() const {
    switch (kind_) {
    case __rtcg_groups::of_lanes: return __builtin_popcount(mask_ & __rtcg_lanes::lanes_below());
    case __rtcg_groups::of_warps: return thread_block::thread_rank() & (mask_ - 1);
    case __rtcg_groups::of_grid: return grid_group::thread_rank();
    default: return thread_block::thread_rank();
    }
}
__device__ __forceinline__ void thread_group::sync() const {
    switch (kind_) {
    case __rtcg_groups::of_lanes: return __syncwarp(mask_);
    case __rtcg_groups::of_warps: return __rtcg_groups::sync_warps(memory_->barriers, mask_, thread_block::thread_rank() / mask_);
    case __rtcg_groups::of_grid: return __rtcg_groups::wait_for_grid((unsigned *)memory_, __rtcg_groups::arrive_at_grid((unsigned *)memory_));
    default: return thread_block::sync();
    }
}
RTCG_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned int size) {
    const unsigned mask = __rtcg_groups::mask(parent);
    if (mask != 0) return tiled_partition(__rtcg_groups::make_coalesced(mask, 0, 1), size);
    return tiled_partition(this_thread_block(), size);
}

// ---- what all groups can do ----

template <class Group> RTCG_DEVICE void sync(const Group &group) { group.sync(); }
template <class Group> RTCG_DEVICE auto thread_rank(const Group &group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group> RTCG_DEVICE auto group_size(const Group &group) -> decltype(group.num_threads()) { return group.num_threads(); }

// A function called by the group's thread of rank 0.
template <class Group, class Function, class... Arguments> RTCG_DEVICE void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
    if (group.thread_rank() == 0) static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
RTCG_DEVICE auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> typename __rtcg_lanes::bare<decltype(static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...))>::type {
    typedef typename __rtcg_lanes::bare<decltype(static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...))>::type result;
    __rtcg_lanes::words_of<result> all;
    if (group.thread_rank() == 0) {
        const result value = static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
        __builtin_memcpy((void *)all.words, (const void *)&value, sizeof(result));
    }
    return group.shfl(all.value, 0);
}
}
}
