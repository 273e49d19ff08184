// A - v w^H - w v^H below and right of k, a row of the grid for each some rows.
extern "C" __global__ void array_tridiagonal_update(T *matrices, int n, int k, const T *pairs)
{
    const T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n;
    for (int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y; i < n; i += gridDim.y * blockDim.y) {
        T *a = matrices + ((I)blockIdx.x * n + i) * n, own = v[i], other = w[i];
        for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) a[j] -= own * conj_of(w[j]) + other * conj_of(v[j]);
    }
}
