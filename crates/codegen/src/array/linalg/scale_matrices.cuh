__device__ T scaled(T z, int e) { return make_element(ldexp(real_of(z), e), ldexp(imag_of(z), e)); }

// Scales each matrix by a power of two that brings its largest part to [0.5, 1), completes it as a Hermitian one where
// one triangle is read, and reports infinities and NaN, in place of which it leaves zeros.
extern "C" __global__ void array_scale_matrices(T *matrices, int m, int n, int triangle,
                                                const unsigned long long *sizes, int *exponents, int *report)
{
    T *a = matrices + (I)blockIdx.x * m * n;
    double size = __longlong_as_double(sizes[blockIdx.x]);
    bool is_bad = isinf(size);
    int exponent = 0;
    if (!is_bad && size != 0) frexp(size, &exponent);
    if (blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0) {
        exponents[blockIdx.x] = exponent;
        if (is_bad) atomicOr(report, NOT_FINITE);
    }
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < m; i += gridDim.y * blockDim.y)
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            if (!is_in_triangle(triangle, i, j)) continue;
            T z = is_bad ? make_element(0, 0) : scaled(a[(I)i * n + j], -exponent);
            a[(I)i * n + j] = triangle && i == j ? make_element(real_of(z), 0) : z;
            if (triangle && i != j) a[(I)j * n + i] = conj_of(z);
        }
}
