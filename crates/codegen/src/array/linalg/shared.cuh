// Shared memory of elements: complex ones have constructors, which shared memory must not have.
#define SHARED(name, count) \
    __shared__ alignas(16) unsigned char name##_bytes[(count) * sizeof(T)]; \
    T *name = (T *)name##_bytes

// What a lane of the warp has.
__device__ T from_lane(T x, int lane)
{
#if IS_COMPLEX
    return T(__shfl_sync(0xffffffffu, x.real(), lane), __shfl_sync(0xffffffffu, x.imag(), lane));
#else
    return __shfl_sync(0xffffffffu, x, lane);
#endif
}

// What the lane has whose number differs by the bits of `mask`.
__device__ T from_other(T x, int mask) { return from_lane(x, threadIdx.x % 32 ^ mask); }

// The sums that the lanes of a warp have of COUNT numbers: a lane gets that of the number `lane % COUNT`.
template <int COUNT> __device__ T sum_of_lanes(T (&x)[COUNT])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = COUNT / 2; half > 0; half /= 2)
#pragma unroll
        for (int j = 0; j < half; ++j) {
            T given = lane & half ? x[j] : x[j + half], kept = lane & half ? x[j + half] : x[j];
            x[j] = kept + from_other(given, half);
        }
#pragma unroll
    for (int step = COUNT; step < 32; step *= 2) x[0] += from_other(x[0], step);
    return x[0];
}
