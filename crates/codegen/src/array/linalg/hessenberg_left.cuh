// Applies it from the left: a block has 32 columns right of k, and each of its warps some of the rows.
#define WARPS (THREADS / 32)

extern "C" __global__ void array_hessenberg_left(T *matrices, int n, int k, const T *vectors)
{
    SHARED(sums, WARPS * 32);
    T *a = matrices + (I)blockIdx.x * n * n;
    const T *v = vectors + (I)blockIdx.x * (n + 1);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, j = k + 1 + blockIdx.y * 32 + lane;
    T sum = make_element(0, 0);
    if (j < n)
#pragma unroll 4
        for (int i = k + 1 + warp; i < n; i += WARPS) sum += conj_of(v[i]) * a[(I)i * n + j];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (j >= n) return;
    sum = make_element(0, 0);
    for (int other = 0; other < WARPS; ++other) sum += sums[other * 32 + lane];
    sum = conj_of(v[n]) * sum;
#pragma unroll 4
    for (int i = k + 1 + warp; i < n; i += WARPS) a[(I)i * n + j] -= v[i] * sum;
}
