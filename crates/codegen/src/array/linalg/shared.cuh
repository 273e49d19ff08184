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
