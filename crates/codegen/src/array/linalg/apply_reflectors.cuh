// Reflectors applied to n columns of m rows, some columns per block: the last reflector first, or their adjoints from the
// first one on. Of columns that begin as the identity most are left alone by most reflections.
extern "C" __global__ void array_apply_reflectors(const T *vectors, I stack, I row, int m, int count, const T *factors,
                                                   I factor_stack, T *columns, I column_stack, I column_row, int n,
                                                   int is_adjoint, int is_identity)
{
    const T *v = vectors + blockIdx.x * stack, *tau = factors + blockIdx.x * factor_stack;
    T *x = columns + blockIdx.x * column_stack;
    for (int first = blockIdx.y * COLUMNS; first < n; first += gridDim.y * COLUMNS) {
        int j = first + THREAD_COLUMN;
        int steps = is_identity && first + COLUMNS < count ? first + COLUMNS : count;
        for (int step = 0; step < steps; ++step) {
            int k = is_adjoint ? step : steps - 1 - step;
            T factor = is_adjoint ? conj_of(tau[k]) : tau[k];
            apply_reflector(v + k, row, factor, x + j, column_row, k, m, j < n);
        }
    }
}
