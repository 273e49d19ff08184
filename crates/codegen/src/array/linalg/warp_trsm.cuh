// Columns of right sides that a warp has.
#define SIDES_PER_WARP (SIDES * 32 / THREADS)
// Rows that a lane has, and elements from one column of a triangle to the next.
#define LANE_ROWS ((PANEL + 31) / 32)
#define PITCH (32 * LANE_ROWS + 1)

// Solves triangular systems of n rows, at most PANEL, in place of up to SIDES right sides. A lane has every 32nd row of its
// warp's columns; 32 columns of triangles at a time are in shared memory. All threads of a block come here.
__device__ void warp_substitute(const T *l, I l_row, I l_column, bool is_upper, bool is_unit, bool is_conjugated, T *b, I b_row,
                           I b_column, int n, int count)
{
    SHARED(part, 32 * PITCH);
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * SIDES_PER_WARP;
    T x[LANE_ROWS][SIDES_PER_WARP];
#pragma unroll
    for (int g = 0; g < LANE_ROWS; ++g)
#pragma unroll
        for (int c = 0; c < SIDES_PER_WARP; ++c) {
            int i = 32 * g + lane;
            x[g][c] = i < n && first + c < count ? b[i * b_row + (first + c) * b_column] : make_element(0, 0);
        }
    for (int turn = 0; turn < LANE_ROWS; ++turn) {
        int h = is_upper ? LANE_ROWS - 1 - turn : turn;
        if (32 * h >= n) continue;
        int width = n - 32 * h < 32 ? n - 32 * h : 32;
        __syncthreads();
#pragma unroll
        for (int round = 0; round < LANE_ROWS * 32 * 32 / THREADS; ++round) {
            int e = round * THREADS + threadIdx.x, i = e / 32, k = e % 32;
            T factor = i < n && k < width ? l[i * l_row + (32 * h + k) * l_column] : make_element(0, 0);
            part[k * PITCH + i] = is_conjugated ? conj_of(factor) : factor;
        }
        __syncthreads();
        if (first >= count) continue;
        Divisor own = divisor_of(is_unit || lane >= width ? make_element(1, 0) : part[lane * PITCH + 32 * h + lane]);
        for (int step = 0; step < width; ++step) {
            int k = is_upper ? width - 1 - step : step;
            const T *column = part + k * PITCH;
            Divisor diagonal = {shuffle(own.value, k), shuffle(own.inverse, k), is_unit || __shfl_sync(0xffffffffu, own.has_inverse, k)};
#pragma unroll
            for (int c = 0; c < SIDES_PER_WARP; ++c) {
                T own_x = x[0][c];
#pragma unroll
                for (int g = 1; g < LANE_ROWS; ++g) own_x = g == h ? x[g][c] : own_x;
                T found = shuffle(own_x, k);
                if (!is_unit) found = quotient(found, diagonal);
#pragma unroll
                for (int g = 0; g < LANE_ROWS; ++g) {
                    int i = 32 * g + lane, from_diagonal = i - 32 * h - k;
                    if (from_diagonal == 0) x[g][c] = found;
                    else if (i < n && (from_diagonal > 0) != is_upper) x[g][c] -= column[i] * found;
                }
            }
        }
    }
#pragma unroll
    for (int g = 0; g < LANE_ROWS; ++g)
#pragma unroll
        for (int c = 0; c < SIDES_PER_WARP; ++c) {
            int i = 32 * g + lane;
            if (i < n && first + c < count) b[i * b_row + (first + c) * b_column] = x[g][c];
        }
}
