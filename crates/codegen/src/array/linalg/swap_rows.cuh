// Exchanges rows as the pivots of a panel say, which are counted from the row `before` rows above, or undoes that; a thread
// for each column.
extern "C" __global__ void array_swap_rows(T *matrices, I stack, I row, int columns, int n, const int *pivots,
                                               I pivot_stack, int before, int is_undone)
{
    T *a = matrices + blockIdx.x * stack;
    const int *pivot = pivots + blockIdx.x * pivot_stack;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < columns; j += gridDim.y * blockDim.x)
        for (int step = 0; step < n; ++step) {
            int k = is_undone ? n - 1 - step : step;
            int p = pivot[k] - before;
            if (p == k) continue;
            T swapped = a[k * row + j];
            a[k * row + j] = a[p * row + j];
            a[p * row + j] = swapped;
        }
}
