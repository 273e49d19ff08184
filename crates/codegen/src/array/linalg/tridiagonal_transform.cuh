// The products of the reflections, the last one first, with columns, a thread for each.
extern "C" __global__ void array_tridiagonal_transform(const T *matrices, int n, const T *taus, T *products)
{
    const T *a = matrices + (I)blockIdx.x * n * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    T *x = products + (I)blockIdx.x * n * n + j;
    for (int k = n - 2; k >= 0; --k) {
        T sum = made_of(0, 0);
        for (int i = k + 1; i < n; ++i) sum += conj_of(a[(I)i * n + k]) * x[(I)i * n];
        sum = taus[(I)blockIdx.x * n + k] * sum;
        for (int i = k + 1; i < n; ++i) x[(I)i * n] -= a[(I)i * n + k] * sum;
    }
}
