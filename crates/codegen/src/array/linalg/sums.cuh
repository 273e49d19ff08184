// Adds what the threads of a block have.
__device__ R added(R x)
{
    __shared__ R sums[THREADS];
    __syncthreads();
    sums[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}
