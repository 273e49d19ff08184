// What the lanes of a warp have, added or multiplied, for each of them.
__device__ R warp_sum(R x)
{
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

__device__ R warp_product(R x)
{
    for (int step = 16; step > 0; step /= 2) x *= __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}
