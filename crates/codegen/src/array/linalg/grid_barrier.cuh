// Waits for all blocks of a cooperative launch: `arrived` counts those that came, in all, and `goal` what it must reach.
// What blocks wrote before is seen by loads that pass by the L1 cache.
__device__ void grid_barrier(unsigned *arrived, unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(arrived) : "memory");
        for (;;) {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
            if ((int)(seen - goal) >= 0) break;
            // Those that still arrive get through.
            __nanosleep(20);
        }
    }
    __syncthreads();
}

// An element that another block wrote before the last barrier.
__device__ T load_from_l2(const T *place)
{
#if IS_COMPLEX
    return T(__ldcg((const R *)place), __ldcg((const R *)place + 1));
#else
    return __ldcg(place);
#endif
}
