__device__ R largest_part(T z) { return fmax(fabs(real_of(z)), fabs(imag_of(z))); }
__device__ T scaled(T z, int e) { return made_of(ldexp(real_of(z), e), ldexp(imag_of(z), e)); }

// Whether element (i, j) is read: 0 is for all, 1 for the lower and 2 for the upper triangle.
__device__ bool is_read(int triangle, I i, I j) { return triangle == 0 || (triangle == 1 ? i >= j : i <= j); }

// Scales each matrix by a power of two that brings its largest part to [0.5, 1), completes it as a Hermitian one
// where one triangle is read, and reports infinities and NaN, in place of which it leaves zeros.
extern "C" __global__ void array_scale_matrices(T *matrices, int m, int n, int triangle, int *exponents, int *report)
{
    T *a = matrices + (I)blockIdx.x * m * n;
    __shared__ R largest[THREADS];
    __shared__ int bad;
    int t = threadIdx.x;
    if (t == 0) bad = 0;
    __syncthreads();
    R mine = 0;
    for (I e = t; e < (I)m * n; e += THREADS) {
        I i = e / n, j = e % n;
        if (!is_read(triangle, i, j)) continue;
        T z = triangle && i == j ? made_of(real_of(a[e]), 0) : a[e];
        if (!isfinite(real_of(z)) || !isfinite(imag_of(z))) atomicExch(&bad, 1);
        mine = fmax(mine, largest_part(z));
    }
    largest[t] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) largest[t] = fmax(largest[t], largest[t + half]);
        __syncthreads();
    }
    int exponent = 0;
    if (!bad && largest[0] != 0) frexp(largest[0], &exponent);
    if (t == 0) {
        exponents[blockIdx.x] = exponent;
        if (bad) atomicOr(report, NOT_FINITE);
    }
    for (I e = t; e < (I)m * n; e += THREADS) {
        I i = e / n, j = e % n;
        if (!is_read(triangle, i, j)) continue;
        T z = bad ? made_of(0, 0) : scaled(a[e], -exponent);
        a[e] = triangle && i == j ? made_of(real_of(z), 0) : z;
        if (triangle && i != j) a[j * n + i] = conj_of(z);
    }
}
