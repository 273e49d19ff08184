// tau A v, a warp for each row; row 1 of `pairs`.
extern "C" __global__ void array_tridiagonal_product(const T *matrices, int n, int k, const T *taus, T *pairs)
{
    T *v = pairs + (I)blockIdx.x * 2 * n, *w = v + n;
    int row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n) return;
    const T *a = matrices + ((I)blockIdx.x * n + row) * n;
    T sum = made_of(0, 0);
    for (int j = k + 1 + threadIdx.x; j < n; j += 32) sum += a[j] * v[j];
    R real = real_of(sum), imag = imag_of(sum);
    for (int step = 16; step > 0; step /= 2) {
        real += __shfl_xor_sync(0xffffffffu, real, step);
        if (IS_COMPLEX) imag += __shfl_xor_sync(0xffffffffu, imag, step);
    }
    if (threadIdx.x == 0) w[row] = taus[(I)blockIdx.x * n + k] * made_of(real, imag);
}
