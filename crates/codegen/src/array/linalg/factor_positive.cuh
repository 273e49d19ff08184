// Cholesky factors of the lower triangles; what is no longer positive sets a flag.
extern "C" __global__ void array_factor_positive(T *matrices, I stack, I row, int n, int *flag)
{
    T *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x;
    for (int k = 0; k < n; ++k) {
        R square = real_of(a[k * row + k]);
        __syncthreads();
        R diagonal = sqrt(square);
        if (t == 0) {
            if (!(square > 0)) *flag = 1;
            a[k * row + k] = made_of(diagonal, 0);
        }
        for (int i = k + 1 + t; i < n; i += THREADS) a[i * row + k] = a[i * row + k] / diagonal;
        __syncthreads();
        I width = n - k - 1;
        for (I e = t; e < width * width; e += THREADS) {
            I i = k + 1 + e / width, j = k + 1 + e % width;
            if (j <= i) a[i * row + j] -= a[i * row + k] * conj_of(a[j * row + k]);
        }
        __syncthreads();
    }
}
