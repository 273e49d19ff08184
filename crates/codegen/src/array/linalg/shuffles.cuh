// Shared memory of elements: complex ones have constructors, which shared memory must not have.
#define SHARED(name, count) \
    __shared__ alignas(16) unsigned char name##_bytes[(count) * sizeof(T)]; \
    T *name = (T *)name##_bytes

// What a lane of the warp has.
__device__ T shuffle(T x, int lane)
{
#if IS_COMPLEX
    return T(__shfl_sync(0xffffffffu, x.real(), lane), __shfl_sync(0xffffffffu, x.imag(), lane));
#else
    return __shfl_sync(0xffffffffu, x, lane);
#endif
}

// What the lane has whose number differs by the bits of `mask`.
__device__ T shuffle_xor(T x, int mask) { return shuffle(x, threadIdx.x % 32 ^ mask); }

// Halves the numbers that a lane has with one whose number differs by HALF, and so on down to one number.
template <int HALF, int COUNT> __device__ void transpose_reduce(T (&x)[COUNT])
{
    if constexpr (HALF > 0) {
        bool is_upper = threadIdx.x & HALF;
#pragma unroll
        for (int j = 0; j < HALF; ++j) {
            T given = is_upper ? x[j] : x[j + HALF], kept = is_upper ? x[j + HALF] : x[j];
            x[j] = kept + shuffle_xor(given, HALF);
        }
        transpose_reduce<HALF / 2>(x);
    }
}

// The sums that the lanes of a warp have of COUNT numbers: a lane gets that of the number `lane % COUNT`.
template <int COUNT> __device__ T warp_sum_columns(T (&x)[COUNT])
{
    transpose_reduce<COUNT / 2>(x);
#pragma unroll
    for (int step = COUNT; step < 32; step *= 2) x[0] += shuffle_xor(x[0], step);
    return x[0];
}
