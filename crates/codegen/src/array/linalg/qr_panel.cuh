// The sum of squares below row k of a column, divided by the square of `scale`. Where squares would vanish or overflow
// that is the largest element, else 1.
__device__ R sum_of_squares_below(const T *column, I row, int k, int m, R &scale)
{
    R mine = 0;
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) mine += norm_squared(column[i * row]);
    R rest = block_sum(mine), all = rest + norm_squared(column[k * row]);
    scale = 1;
    if (all > TINY / EPS && all < 1 / TINY) return rest;
    R size = 0;
    for (int i = k + threadIdx.x; i < m; i += blockDim.x) {
        R own = magnitude(column[i * row]);
        size = size > own || size != size ? size : own;
    }
    size = block_max(size);
    if (size == 0) return 0;
    scale = size;
    mine = 0;
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) mine += norm_squared(column[i * row] / make_element(scale, 0));
    return block_sum(mine);
}

// Householder QR of panels of m rows and n columns: R above the diagonal, their vectors below it, scaled to
// begin with 1.
extern "C" __global__ void array_qr_panel(T *panels, I stack, I row, int m, int n, T *factors, I factor_stack)
{
    T *a = panels + blockIdx.x * stack, *tau = factors + blockIdx.x * factor_stack;
    int t = threadIdx.x;
    for (int k = 0; k < (m < n ? m : n); ++k) {
        R scale, rest = sum_of_squares_below(a + k, row, k, m, scale);
        Reflection own = make_reflector(a[k * row + k], rest, scale);
        __syncthreads();
        if (own.is_there) {
            for (int i = k + 1 + t; i < m; i += blockDim.x) a[i * row + k] = a[i * row + k] / own.divisor;
            if (t == 0) a[k * row + k] = make_element(own.beta, 0);
        }
        if (t == 0) tau[k] = own.factor;
        __syncthreads();
        for (int first = k + 1; first < n; first += COLUMNS) {
            int j = first + THREAD_COLUMN;
            apply_reflector(a + k, row, conj_of(own.factor), a + j, row, k, m, j < n);
        }
        __syncthreads();
    }
}
