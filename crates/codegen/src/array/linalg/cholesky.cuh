// Cholesky factors of the lower triangles of matrices of n rows, in shared memory; what is no longer positive sets a flag.
extern "C" __global__ void array_cholesky(T *matrices, I stack, I row, int n, int *flag)
{
    extern __shared__ double memory[];
    T *shared = (T *)memory, *a = matrices + blockIdx.x * stack;
    int t = threadIdx.x, tx = t % 16, ty = t / 16, line = n + 1;
    for (int i = ty; i < n; i += 16)
        for (int j = tx; j <= i; j += 16) shared[i * line + j] = a[i * row + j];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        R square = real_of(shared[k * line + k]), diagonal = sqrt(square);
        if (t == 0 && !(square > 0)) *flag = 1;
        for (int i = k + 1 + t; i < n; i += THREADS) shared[i * line + k] = shared[i * line + k] / diagonal;
        __syncthreads();
        if (t == 0) shared[k * line + k] = make_element(diagonal, 0);
        for (int i = k + 1 + ty; i < n; i += 16)
            for (int j = k + 1 + tx; j <= i; j += 16)
                shared[i * line + j] -= shared[i * line + k] * conj_of(shared[j * line + k]);
    }
    __syncthreads();
    for (int i = ty; i < n; i += 16)
        for (int j = tx; j <= i; j += 16) a[i * row + j] = shared[i * line + j];
}
