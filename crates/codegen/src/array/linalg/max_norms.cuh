// The largest part of what is read of each matrix, as the bits of a double, of which larger ones are larger as integers;
// infinity for NaN.
extern "C" __global__ void array_max_norms(const T *matrices, int m, int n, int triangle,
                                                  unsigned long long *sizes)
{
    const T *a = matrices + (I)blockIdx.x * m * n;
    R mine = 0;
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < m; i += gridDim.y * blockDim.y)
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            if (!is_in_triangle(triangle, i, j)) continue;
            T z = a[(I)i * n + j];
            R own = triangle && i == j ? fabs(real_of(z)) : fmax(fabs(real_of(z)), fabs(imag_of(z)));
            bool is_finite = isfinite(real_of(z)) && (isfinite(imag_of(z)) || (triangle && i == j));
            mine = is_finite ? fmax(mine, own) : (R)INFINITY;
        }
    for (int step = 16; step > 0; step /= 2) mine = fmax(mine, __shfl_xor_sync(0xffffffffu, mine, step));
    if (threadIdx.x == 0 && mine > 0) atomicMax(sizes + blockIdx.x, (unsigned long long)__double_as_longlong(mine));
}
