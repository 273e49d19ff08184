// Applies it from the right, a warp for each row of the matrix and, if there is one, of the product of all.
extern "C" __global__ void array_hessenberg_right(T *matrices, int n, int k, const T *vectors, T *products)
{
    const T *v = vectors + (I)blockIdx.x * (n + 1);
    int row = blockIdx.y * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= (products ? 2 * n : n)) return;
    T *a = row < n ? matrices + ((I)blockIdx.x * n + row) * n : products + ((I)blockIdx.x * n + row - n) * n;
    T sum = make_element(0, 0);
    for (int j = k + 1 + lane; j < n; j += 32) sum += a[j] * v[j];
    R real = real_of(sum), imag = imag_of(sum);
    for (int step = 16; step > 0; step /= 2) {
        real += __shfl_xor_sync(0xffffffffu, real, step);
        if (IS_COMPLEX) imag += __shfl_xor_sync(0xffffffffu, imag, step);
    }
    sum = v[n] * make_element(real, imag);
    for (int j = k + 1 + lane; j < n; j += 32) a[j] -= sum * conj_of(v[j]);
}
