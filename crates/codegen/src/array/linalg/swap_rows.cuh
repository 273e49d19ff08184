// Exchanges rows as the pivots of a panel say, which are counted from the row `before` rows above; a thread for each
// column.
extern "C" __global__ void array_swap_rows(T *matrices, I stack, I row, int columns, int n, const int *pivots,
                                               I pivot_stack, int before)
{
    T *a = matrices + blockIdx.x * stack;
    const int *pivot = pivots + blockIdx.x * pivot_stack;
    for (int j = blockIdx.y * blockDim.x + threadIdx.x; j < columns; j += gridDim.y * blockDim.x)
        for (int k = 0; k < n; ++k) {
            int p = pivot[k] - before;
            if (p == k) continue;
            T swapped = a[k * row + j];
            a[k * row + j] = a[p * row + j];
            a[p * row + j] = swapped;
        }
}
