// Columns of right sides that a warp has.
#define SIDES (WARP_SIDES * 32 / THREADS)

// Solves triangular systems of n rows, at most 64, in place of up to WARP_SIDES right sides. A lane has two rows of its
// warp's columns; 32 columns of triangles at a time are in shared memory. All threads of a block come here.
__device__ void substitute(const T *l, I l_row, I l_column, bool is_upper, bool is_unit, bool is_conjugated, T *b, I b_row,
                           I b_column, int n, int count)
{
    SHARED(part, 32 * 65);
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * SIDES;
    T x[2][SIDES];
#pragma unroll
    for (int g = 0; g < 2; ++g)
#pragma unroll
        for (int c = 0; c < SIDES; ++c) {
            int i = 32 * g + lane;
            x[g][c] = i < n && first + c < count ? b[i * b_row + (first + c) * b_column] : made_of(0, 0);
        }
    for (int turn = 0; turn < 2; ++turn) {
        int h = is_upper ? 1 - turn : turn;
        if (32 * h >= n) continue;
        int width = n - 32 * h < 32 ? n - 32 * h : 32;
        __syncthreads();
#pragma unroll
        for (int round = 0; round < PANEL * 32 / THREADS; ++round) {
            int e = round * THREADS + threadIdx.x, i = e / 32, k = e % 32;
            T factor = i < n && k < width ? l[i * l_row + (32 * h + k) * l_column] : made_of(0, 0);
            part[k * 65 + i] = is_conjugated ? conj_of(factor) : factor;
        }
        __syncthreads();
        if (first >= count) continue;
        Divisor own = divisor_of(is_unit || lane >= width ? made_of(1, 0) : part[lane * 65 + 32 * h + lane]);
        for (int step = 0; step < width; ++step) {
            int k = is_upper ? width - 1 - step : step;
            const T *column = part + k * 65;
            Divisor diagonal = {from_lane(own.value, k), from_lane(own.inverse, k), is_unit || __shfl_sync(0xffffffffu, own.has_inverse, k)};
#pragma unroll
            for (int c = 0; c < SIDES; ++c) {
                T found = from_lane(h ? x[1][c] : x[0][c], k);
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
        for (int c = 0; c < SIDES; ++c) {
            int i = 32 * g + lane;
            if (i < n && first + c < count) b[i * b_row + (first + c) * b_column] = x[g][c];
        }
}
