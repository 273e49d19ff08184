// Copies lower triangles, with ones on the diagonal and zeros above it.
extern "C" __global__ void array_unit_lower(const T *matrices, I stack, I row, int m, int n, T *copies)
{
    const T *a = matrices + blockIdx.x * stack;
    for (I e = blockIdx.y * (I)THREADS + threadIdx.x; e < (I)m * n; e += gridDim.y * (I)THREADS) {
        int i = (int)(e / n), j = (int)(e % n);
        copies[blockIdx.x * (I)m * n + e] = i > j ? a[i * row + j] : make_element(i == j, 0);
    }
}
