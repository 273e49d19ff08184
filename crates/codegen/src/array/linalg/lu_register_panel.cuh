// LU factors of register panels of m rows and up to WIDTH columns, with partial pivoting; the first of equally large
// pivots is taken. Each warp offers its best row, so that threads wait for each other once a column. Pivots are counted from the
// row `before` rows above the register panel.
extern "C" __global__ void __launch_bounds__(THREADS)
array_lu_register_panel(T *matrices, I stack, I row, int m, int n, int *pivots, I pivot_stack, int before)
{
    SHARED(all_candidate_rows, 2 * WARPS * WIDTH);
    SHARED(all_tops, 2 * WIDTH);
    __shared__ Pivot best_of[2][WARPS];
    T *a = matrices + blockIdx.x * stack;
    int *pivot = pivots + blockIdx.x * pivot_stack;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32, length = m < n ? m : n;
    T own[ROWS][WIDTH];
    transfer_panel(own, a, row, m, n, false);
#pragma unroll 1
    for (int k = 0; k < length; ++k) {
        T *candidate_rows = all_candidate_rows + k % 2 * WARPS * WIDTH, *top = all_tops + k % 2 * WIDTH;
        Pivot best = no_pivot();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            int i = r * blockDim.x + t;
            Pivot mine = pivot_of(own[r][0], i);
            if (i >= k && i < m && is_better_pivot(mine, best)) best = mine;
        }
        best = warp_best_pivot(best);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (r * blockDim.x + t == best.row)
#pragma unroll
                for (int j = 0; j < WIDTH; ++j) candidate_rows[warp * WIDTH + j] = own[r][j];
        if (t == k)
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) top[j] = own[0][j];
        if (lane == 0) best_of[k % 2][warp] = best;
        __syncthreads();
        if (warps > 1) best = warp_best_pivot(best_of[k % 2][lane % warps]);
        int p = best.row;
        const T *chosen = candidate_rows + (p & (blockDim.x - 1)) / 32 * WIDTH;
        if (t == 0) pivot[k] = before + p;
        bool has_pivot = magnitude(chosen[0]) != 0;
        Divisor diagonal = divisor_of(chosen[0]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            int i = r * blockDim.x + t;
            if (i == p || i == k)
#pragma unroll
                for (int j = 0; j < WIDTH; ++j) own[r][j] = i == k ? chosen[j] : top[j];
            T factor = own[r][0];
            if (i > k && has_pivot) factor = quotient(factor, diagonal);
#pragma unroll
            for (int j = 1; j < WIDTH; ++j) {
                // Of columns on the left only the place changes.
                T x = own[r][j];
                if (i > k && j < WIDTH - k) x -= factor * chosen[j];
                own[r][j - 1] = x;
            }
            own[r][WIDTH - 1] = factor;
        }
    }
    restore_column_order(own, length);
    transfer_panel(own, a, row, m, n, true);
}
