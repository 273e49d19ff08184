// Sums the parts of V^H C, and multiplies them by T or its adjoint. A lane has a column.
extern "C" __global__ void array_wy_combine(T *sums, int parts, int n, const T *triangles, int is_adjoint, T *products)
{
    SHARED(total, BLOCK * 32);
    SHARED(triangle, BLOCK * (BLOCK + 1));
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T *own = sums + blockIdx.x * (I)parts * BLOCK * (n + BLOCK);
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += THREADS) {
        int q = e / BLOCK, l = e % BLOCK;
        T x = triangles[blockIdx.x * (I)BLOCK * BLOCK + e];
        triangle[is_adjoint ? l * (BLOCK + 1) + q : q * (BLOCK + 1) + l] = is_adjoint ? conj_of(x) : x;
    }
    for (int first = blockIdx.y * 32; first < n; first += gridDim.y * 32) {
        int j = first + lane;
        __syncthreads();
#pragma unroll
        for (int l = warp; l < BLOCK; l += WARPS) {
            T sum = make_element(0, 0);
#pragma unroll 4
            for (int part = 0; part < parts; ++part)
                if (j < n) sum += own[((I)part * BLOCK + l) * (n + BLOCK) + j];
            total[l * 32 + lane] = sum;
        }
        __syncthreads();
        for (int l = warp; l < BLOCK; l += WARPS) {
            T product = make_element(0, 0);
#pragma unroll 8
            for (int q = 0; q < BLOCK; ++q) product += triangle[l * (BLOCK + 1) + q] * total[q * 32 + lane];
            if (j < n) products[(blockIdx.x * (I)BLOCK + l) * n + j] = product;
        }
    }
}
