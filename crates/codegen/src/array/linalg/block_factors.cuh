// Elements that a thread has of the products of vectors: every fourth one of the first, every eighth of the second.
#define LEFT 8
#define RIGHT 4

// The upper triangular factors T of products of reflections, I - V T V^H, a block for BLOCK of them (Schreiber and Van
// Loan, A storage-efficient WY representation for products of Householder transformations, 1989).
extern "C" __global__ void array_block_factors(const T *vectors, I stack, I row, int m, int count, const T *factors,
                                               I factor_stack, T *triangles, I triangle_stack)
{
    SHARED(products, BLOCK * (BLOCK + 1));
    SHARED(triangle, BLOCK * (BLOCK + 1));
    int start = blockIdx.y * BLOCK, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T *v = vectors + blockIdx.x * stack + start * (row + 1), *tau = factors + blockIdx.x * factor_stack + start;
    m -= start;
    count = count - start < BLOCK ? count - start : BLOCK;
    T sum[LEFT][RIGHT];
#pragma unroll
    for (int p = 0; p < LEFT; ++p)
#pragma unroll
        for (int q = 0; q < RIGHT; ++q) sum[p][q] = made_of(0, 0);
#pragma unroll (IS_COMPLEX ? 1 : 4)
    for (int i = warp; i < m; i += WARPS) {
        T x[LEFT], y[RIGHT];
#pragma unroll
        for (int p = 0; p < LEFT; ++p) x[p] = conj_of(vector_element(v, row, m, count, i, lane / 8 + 4 * p));
#pragma unroll
        for (int q = 0; q < RIGHT; ++q) y[q] = vector_element(v, row, m, count, i, lane % 8 + 8 * q);
#pragma unroll
        for (int p = 0; p < LEFT; ++p)
#pragma unroll
            for (int q = 0; q < RIGHT; ++q) sum[p][q] += x[p] * y[q];
    }
    for (int e = threadIdx.x; e < BLOCK * (BLOCK + 1); e += THREADS) triangle[e] = products[e] = made_of(0, 0);
    for (int turn = 0; turn < WARPS; ++turn) {
        __syncthreads();
        if (warp != turn) continue;
#pragma unroll
        for (int p = 0; p < LEFT; ++p)
#pragma unroll
            for (int q = 0; q < RIGHT; ++q)
                products[(lane / 8 + 4 * p) * (BLOCK + 1) + lane % 8 + 8 * q] += sum[p][q];
    }
    __syncthreads();
    // A lane has a row; each column needs those before it.
    T own = warp == 0 && lane < count ? tau[lane] : made_of(0, 0);
    if (warp == 0)
        for (int k = 0; k < count; ++k) {
            T above = made_of(0, 0);
#pragma unroll 4
            for (int q = 0; q < k; ++q) above += triangle[lane * (BLOCK + 1) + q] * products[q * (BLOCK + 1) + k];
            T factor = from_lane(own, k);
            if (lane <= k) triangle[lane * (BLOCK + 1) + k] = lane == k ? factor : made_of(0, 0) - factor * above;
            __syncwarp();
        }
    __syncthreads();
    T *result = triangles + blockIdx.x * triangle_stack + blockIdx.y * BLOCK * BLOCK;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += THREADS) result[e] = triangle[e / BLOCK * (BLOCK + 1) + e % BLOCK];
}
