// The product of reflections applied to the columns of q, which begins as the identity, a thread for each.
extern "C" __global__ void array_apply_reflections(const T *matrices, I stack, int m, int n, const T *factors,
                                                   T *products, int columns)
{
    const T *a = matrices + blockIdx.x * stack;
    int last = m < n ? m : n;
    const T *tau = factors + (I)blockIdx.x * last;
    T *q = products + (I)blockIdx.x * m * columns;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < columns; j += gridDim.y * blockDim.x)
        for (int k = last - 1; k >= 0; --k) {
            T sum = q[(I)k * columns + j];
            for (int i = k + 1; i < m; ++i) sum += conj_of(a[(I)i * n + k]) * q[(I)i * columns + j];
            sum = tau[k] * sum;
            q[(I)k * columns + j] -= sum;
            for (int i = k + 1; i < m; ++i) q[(I)i * columns + j] -= a[(I)i * n + k] * sum;
        }
}
