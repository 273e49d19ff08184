// Columns that are changed together.
#define UPDATED (WIDTH < 8 ? WIDTH : 8)

// LU factors of register panels of m rows and up to WIDTH columns, with partial pivoting; the first of equally large
// pivots is taken. Pivots are counted from the row `before` rows above the register panel. With clusters, each block
// offers its best row to the others.
extern "C" __global__ void CLUSTER_DIMS __launch_bounds__(THREADS)
array_lu_register_panel(T *matrices, I stack, I row, int m, int n, int *pivots, I pivot_stack, int before)
{
    SHARED(all_rows, 2 * WIDTH);
    SHARED(all_tops, 2 * WIDTH);
    __shared__ Pivot best_of[2][WARPS];
#if CLUSTER > 1
    SHARED(all_offered_rows, 2 * CLUSTER * WIDTH);
    // The sizes of the best pivots and their rows.
    __shared__ alignas(16) Word offers[2][CLUSTER][2], mbarriers[2];
    const int row_words = WIDTH * sizeof(T) / 8;
    // A power of two.
    const int threads_log2 = __ffs(blockDim.x) - 1;
    init_mbarriers(mbarriers, 2);
#endif
    T *a = matrices + blockIdx.x / CLUSTER * stack;
    int *pivot = pivots + blockIdx.x / CLUSTER * pivot_stack;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32, length = m < n ? m : n;
    bool is_first = cluster_rank() == 0;
    T own[ROWS][WIDTH];
    transfer_panel(own, a, row, m, n, false);
#pragma unroll 1
    for (int k = 0; k < length; ++k) {
        T *chosen = all_rows + k % 2 * WIDTH, *top = all_tops + k % 2 * WIDTH;
        Pivot best = no_pivot();
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            int i = first_row(r) + t;
            Pivot mine = pivot_of(own[r][0], i);
            if (i >= k && i < m && is_better_pivot(mine, best)) best = mine;
        }
        best = warp_best_pivot(best);
        if (lane == 0) best_of[k % 2][warp] = best;
        if (is_first && t == k) write_row(top, own[0]);
        __syncthreads();
        if (warps > 1) best = warp_best_pivot(lane < warps ? best_of[k % 2][lane] : no_pivot());
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (first_row(r) + t == best.row) write_row(chosen, own[r]);
        __syncthreads();
#if CLUSTER > 1
        T *offered_rows = all_offered_rows + k % 2 * CLUSTER * WIDTH;
        Word *mbarrier = mbarriers + k % 2;
        expect_bytes(mbarrier, CLUSTER * 16 + (CLUSTER + 1) * row_words * 8);
        store_to_blocks(chosen, offered_rows + cluster_rank() * WIDTH, row_words, mbarrier);
        if (t < 2 * CLUSTER)
            store_async(t / 2, &offers[k % 2][cluster_rank()][t % 2], t % 2 ? best.row : (Word)best.high << 32 | best.low, mbarrier);
        if (is_first) store_to_blocks(top, top, row_words, mbarrier);
        wait_mbarrier(mbarrier, k / 2);
        best = no_pivot();
        if (lane < CLUSTER) {
            Word size = offers[k % 2][lane][0];
            best = {(unsigned)(size >> 32), (unsigned)size, (int)offers[k % 2][lane][1]};
        }
        best = warp_best_pivot(best);
        chosen = offered_rows + (best.row >> threads_log2) % CLUSTER * WIDTH;
#endif
        int p = best.row;
        if (is_first && t == 0) pivot[k] = before + p;
        bool has_pivot = magnitude(chosen[0]) != 0;
        Divisor diagonal = divisor_of(chosen[0]);
        T factor[ROWS];
        bool is_below[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            int i = first_row(r) + t;
            if (i == k) read_row(own[r], chosen);
            else if (i == p) read_row(own[r], top);
            factor[r] = own[r][0];
            is_below[r] = i > k;
            if (is_below[r] && has_pivot) factor[r] = quotient(factor[r], diagonal);
        }
        // Of columns on the left, behind the others, only the place changes.
        bool are_all_below = __all_sync(0xffffffffu, is_below[0]);
#pragma unroll
        for (int first = 0; first < WIDTH; first += UPDATED) {
            T others[UPDATED];
            bool is_changed = first < WIDTH - k;
            if (is_changed) {
#pragma unroll
                for (int j = 0; j < UPDATED; j += VECTOR) read_vector(others + j, chosen + first + j);
#pragma unroll
                for (int j = 0; j < UPDATED; ++j)
                    if (first + j >= WIDTH - k) others[j] = make_element(0, 0);
            }
            if (is_changed && are_all_below) {
#pragma unroll
                for (int r = 0; r < ROWS; ++r)
#pragma unroll
                    for (int j = first ? 0 : 1; j < UPDATED; ++j)
                        own[r][first + j - 1] = own[r][first + j] - factor[r] * others[j];
            } else {
#pragma unroll
                for (int r = 0; r < ROWS; ++r)
#pragma unroll
                    for (int j = first ? 0 : 1; j < UPDATED; ++j) {
                        T x = own[r][first + j];
                        if (is_changed && is_below[r]) x -= factor[r] * others[j];
                        own[r][first + j - 1] = x;
                    }
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) own[r][WIDTH - 1] = factor[r];
    }
    restore_column_order(own, length);
    transfer_panel(own, a, row, m, n, true);
    cluster_barrier();
}
