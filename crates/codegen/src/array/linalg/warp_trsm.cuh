// Columns of right sides that a warp has.
#define RHS_PER_WARP (WARP_RHS * 32 / THREADS)

// Solves triangular systems of n rows, at most 64, in place of up to WARP_RHS right sides. A lane has two rows of its
// warp's columns; 32 columns of triangles at a time are in shared memory. All threads of a block come here.
__device__ void warp_substitute(const T *l, I l_row, I l_column, bool is_upper, bool is_unit, bool is_conjugated, T *b, I b_row,
                           I b_column, int n, int count)
{
    SHARED(part, 32 * 65);
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * RHS_PER_WARP;
    T x[2][RHS_PER_WARP];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int c = 0; c < RHS_PER_WARP; ++c) {
            int i = 32 * g + lane;
            x[g][c] = i < n && first + c < count ? b[i * b_row + (first + c) * b_column] : make_element(0, 0);
        }
    for (int turn = 0; turn < 2; ++turn) {
        int h = is_upper ? 1 - turn : turn;
        if (32 * h >= n) continue;
        int width = n - 32 * h < 32 ? n - 32 * h : 32;
        __syncthreads();
#pragma unroll
        for (int round = 0; round < PANEL * 32 / THREADS; ++round) {
            int e = round * THREADS + threadIdx.x, i = e / 32, k = e % 32;
            T factor = i < n && k < width ? l[i * l_row + (32 * h + k) * l_column] : make_element(0, 0);
            part[k * 65 + i] = is_conjugated ? conj_of(factor) : factor;
        }
        __syncthreads();
        if (first >= count) continue;
        Divisor own = divisor_of(is_unit || lane >= width ? make_element(1, 0) : part[lane * 65 + 32 * h + lane]);
        for (int step = 0; step < width; ++step) {
            int k = is_upper ? width - 1 - step : step;
            const T *column = part + k * 65;
            Divisor diagonal = {shuffle(own.value, k), shuffle(own.inverse, k), is_unit || __shfl_sync(0xffffffffu, own.has_inverse, k)};
#pragma unroll
            for (int c = 0; c < RHS_PER_WARP; ++c) {
                T found = shuffle(h ? x[1][c] : x[0][c], k);
                if (!is_unit) found = quotient(found, diagonal);
#pragma unroll
                for (int g = 0; g < 2; ++g) {
                    int i = 32 * g + lane, from_diagonal = i - 32 * h - k;
                    if (from_diagonal == 0) x[g][c] = found;
                    else if (i < n && (from_diagonal > 0) != is_upper) x[g][c] -= column[i] * found;
                }
            }
        }
    }
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int c = 0; c < RHS_PER_WARP; ++c) {
            int i = 32 * g + lane;
            if (i < n && first + c < count) b[i * b_row + (first + c) * b_column] = x[g][c];
        }
}
