// Reflectors of a block, as many as a warp has lanes.
#define BLOCK 32
#define WARPS (THREADS / 32)

// An element of the vectors of `count` reflectors, which begin with 1 at the diagonal.
__device__ T vector_element(const T *v, I row, int m, int count, int i, int k)
{
    return i < m && k < count && i > k ? v[i * row + k] : make_element(i == k && k < count, 0);
}
