// Rows that n exchanges change, at most, by the number of elements that a thread has of them.
#define MAX_MOVED_ROWS (2 * PANEL)
#define MOVED_PER_THREAD ((MAX_MOVED_ROWS * SIDES + THREADS - 1) / THREADS)

// Exchanges rows of `columns` columns as n pivots say, which are counted from the row `before` rows above; columns from
// `gap` on begin `gap_width` further. Then those columns become solutions of unit lower triangular systems.
extern "C" __global__ void array_swap_rows_trsm(T *matrices, I stack, I row, int columns, int gap, int gap_width, int n,
                                               const int *pivots, I pivot_stack, int before, const T *triangles,
                                               I triangle_stack, I triangle_row)
{
    __shared__ int to[MAX_MOVED_ROWS], from[MAX_MOVED_ROWS], chosen[PANEL];
    T *matrix = matrices + blockIdx.x * stack;
    int t = threadIdx.x;
    for (int k = t; k < n; k += blockDim.x) chosen[k] = pivots[blockIdx.x * pivot_stack + k] - before;
    __syncthreads();
    // Where a row comes from is followed from the last exchange to the first.
    for (int e = t; e < 2 * n; e += blockDim.x) {
        int end = e < n ? e : chosen[e - n], at = end;
        for (int k = n - 1; k >= 0; --k) at = at == k ? chosen[k] : at == chosen[k] ? k : at;
        to[e] = end;
        from[e] = at;
    }
    int left = (gap + SIDES - 1) / SIDES, parts = left + (columns - gap + SIDES - 1) / SIDES;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
        bool is_right = part >= left;
        int first = is_right ? gap + (part - left) * SIDES : part * SIDES;
        int width = (is_right ? columns : gap) - first;
        if (width > SIDES) width = SIDES;
        T *a = matrix + first + (is_right ? gap_width : 0), held[MOVED_PER_THREAD];
        __syncthreads();
#pragma unroll
        for (int h = 0; h < MOVED_PER_THREAD; ++h) {
            int e = h * THREADS + t, own = e / SIDES, j = e % SIDES;
            if (own < 2 * n && j < width) held[h] = a[from[own] * row + j];
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < MOVED_PER_THREAD; ++h) {
            int e = h * THREADS + t, own = e / SIDES, j = e % SIDES;
            if (own < 2 * n && j < width && to[own] != from[own]) a[to[own] * row + j] = held[h];
        }
        if (!is_right) continue;
        __syncthreads();
        warp_substitute(triangles + blockIdx.x * triangle_stack, triangle_row, 1, false, true, false, a, row, 1, n, width);
    }
}
