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

// The largest of what the threads of a block have; NaN if one of them has that.
__device__ R largest(R x)
{
    __shared__ R sizes[THREADS];
    __syncthreads();
    sizes[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            R a = sizes[threadIdx.x], b = sizes[threadIdx.x + half];
            sizes[threadIdx.x] = a > b || a != a ? a : b;
        }
        __syncthreads();
    }
    return sizes[0];
}
