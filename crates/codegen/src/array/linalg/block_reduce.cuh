// What the threads of a block have, joined two by two.
template <class Join> __device__ R block_reduce(R x, Join join)
{
    __shared__ R parts[THREADS];
    __syncthreads();
    parts[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    return parts[0];
}

// Adds what the threads of a block have.
__device__ R block_sum(R x)
{
    return block_reduce(x, [](R a, R b) { return a + b; });
}

// The largest of what the threads of a block have; NaN if one of them has that.
__device__ R block_max(R x)
{
    return block_reduce(x, [](R a, R b) { return a > b || a != a ? a : b; });
}
