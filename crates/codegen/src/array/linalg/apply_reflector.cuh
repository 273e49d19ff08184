// Columns of a block of COLUMNS * GROUP threads; GROUP of them have the rows of one in turn.
#define COLUMNS 32
#define THREAD_COLUMN (GROUP == 1 ? threadIdx.x : threadIdx.x % COLUMNS)
#define THREAD_ROW (GROUP == 1 ? 0 : threadIdx.x / COLUMNS)

// Takes factor v (v^H x) from a column x, where v is 1 in row k and zero above; all threads of a block come here. A
// thread has the same rows of x in all calls, so it needs to wait for others only where they share a sum.
__device__ void apply_reflector(const T *v, I v_row, T factor, T *x, I x_row, int k, int m, bool is_there)
{
    int own = THREAD_ROW, next = k + 1 + (own + GROUP - (k + 1) % GROUP) % GROUP;
    bool has_first = k % GROUP == own;
    T sum = make_element(0, 0);
    if (is_there) {
        if (has_first) sum = x[k * x_row];
        for (int i = next; i < m; i += GROUP) sum += conj_of(v[i * v_row]) * x[i * x_row];
    }
#if GROUP > 1
    __shared__ R real[GROUP][COLUMNS], imag[IS_COMPLEX ? GROUP : 1][COLUMNS];
    int column = THREAD_COLUMN;
    real[own][column] = real_of(sum);
    if (IS_COMPLEX) imag[own][column] = imag_of(sum);
    __syncthreads();
    R a = 0, b = 0;
    for (int i = 0; i < GROUP; ++i) {
        a += real[i][column];
        if (IS_COMPLEX) b += imag[i][column];
    }
    __syncthreads();
    sum = make_element(a, b);
#endif
    if (!is_there) return;
    sum = factor * sum;
    if (has_first) x[k * x_row] -= sum;
    for (int i = next; i < m; i += GROUP) x[i * x_row] -= v[i * v_row] * sum;
}
