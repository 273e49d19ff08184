// The upper triangular factors T of products of up to BLOCK reflections, I - V T V^H, by the parts of V^H V, which are
// behind n columns (Schreiber and Van Loan, A storage-efficient WY representation for products of Householder
// transformations, 1989).
extern "C" __global__ void array_wy_factors(const T *sums, int parts, int n, int count, const T *factors,
                                               I factor_stack, T *triangles)
{
    SHARED(products, BLOCK * (BLOCK + 1));
    SHARED(triangle, BLOCK * (BLOCK + 1));
    const T *own = sums + blockIdx.x * (I)parts * BLOCK * (n + BLOCK) + n, *tau = factors + blockIdx.x * factor_stack;
    int lane = threadIdx.x % 32;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += THREADS) {
        int i = e / BLOCK, j = e % BLOCK;
        T sum = make_element(0, 0);
#pragma unroll 4
        for (int part = 0; part < parts; ++part) sum += own[((I)part * BLOCK + i) * (n + BLOCK) + j];
        products[i * (BLOCK + 1) + j] = sum;
    }
    __syncthreads();
    // A lane has a row, in registers; each column needs those before it.
    if (threadIdx.x < 32) {
        T mine = lane < count ? tau[lane] : make_element(0, 0), row[BLOCK];
#pragma unroll
        for (int k = 0; k < BLOCK; ++k) {
            T above = make_element(0, 0), factor = shuffle(mine, k);
#pragma unroll
            for (int q = 0; q < k; ++q) above += row[q] * products[q * (BLOCK + 1) + k];
            row[k] = lane == k ? factor : lane < k ? make_element(0, 0) - factor * above : make_element(0, 0);
            triangle[lane * (BLOCK + 1) + k] = row[k];
        }
    }
    __syncthreads();
    T *result = triangles + blockIdx.x * (I)BLOCK * BLOCK;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += THREADS) result[e] = triangle[e / BLOCK * (BLOCK + 1) + e % BLOCK];
}
