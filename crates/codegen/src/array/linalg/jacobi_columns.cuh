// Columns made orthogonal two by two, by groups of threads.

#define MIN_NORM_SQUARED (TINY / EPS)  // Squares of lengths of columns that are as nothing beside the matrix, whose largest is 1.

// Sums of what the threads of a group have, for each of them.
template <int N> __device__ void group_sum(R (&x)[N])
{
    for (int k = 0; k < N; ++k)
        for (int step = (GROUP < 32 ? GROUP : 32) / 2; step > 0; step /= 2)
            x[k] += __shfl_xor_sync(0xffffffffu, x[k], step, GROUP < 32 ? GROUP : 32);
#if GROUP > 32
    __shared__ R parts[GROUP / 32][N];
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < N; ++k) parts[threadIdx.x / 32][k] = x[k];
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        x[k] = 0;
        for (int warp = 0; warp < GROUP / 32; ++warp) x[k] += parts[warp][k];
    }
#endif
}

__device__ void rotate(T s, T h, bool is_exchanged, T &x, T &y)
{
    T first = x, second = y;
    rotate(s, h, first, second);
    x = is_exchanged ? second : first;
    y = is_exchanged ? first : second;
}

// Makes two columns of m elements orthogonal, the longer one first, and rotates two others of n elements with them;
// whether that was needed. A group of threads does it; `m` is 0 for one that has nothing to do.
__device__ int make_orthogonal(T *x, T *y, int m, T *other_x, T *other_y, int n, R tolerance)
{
    R sums[IS_COMPLEX ? 4 : 3] = {};
    for (int i = threadIdx.x; i < m; i += GROUP) {
        T p = x[i], q = y[i], z = conj_of(p) * q;
        sums[0] += norm_squared(p);
        sums[1] += norm_squared(q);
        sums[2] += real_of(z);
        if (IS_COMPLEX) sums[3] += imag_of(z);
    }
    group_sum(sums);
    R a = sums[0], b = sums[1], real = sums[2], imag = IS_COMPLEX ? sums[3] : 0;
    R size = IS_COMPLEX ? hypot(real, imag) : fabs(real);
    bool is_needed = a > MIN_NORM_SQUARED && b > MIN_NORM_SQUARED && size > tolerance * sqrt(a) * sqrt(b), is_exchanged = b > a;
    if (GROUP >= 32 && !is_needed) return 0;
    T s, h;
    rotation(a, b, make_element(real, imag), size, is_needed, s, h);
    is_exchanged = is_exchanged && is_needed;
    for (int i = threadIdx.x; i < m; i += GROUP) rotate(s, h, is_exchanged, x[i], y[i]);
    for (int i = threadIdx.x; i < n; i += GROUP) rotate(s, h, is_exchanged, other_x[i], other_y[i]);
    return is_needed;
}
