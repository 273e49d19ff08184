#define SIDE 16
#define PER_THREAD 4
#define TILE (SIDE * PER_THREAD)

// Brings what products need of TILE rows or columns, SIDE elements of each, with zeros beyond the end. Neighbouring
// threads read along the axis whose elements are neighbours.
__device__ void bring(T *tile, const T *source, I across, I along, int lines, int length, bool is_conjugated)
{
    for (int e = threadIdx.x; e < SIDE * TILE; e += THREADS) {
        int i = along <= across ? e / SIDE : e % TILE, l = along <= across ? e % SIDE : e / TILE;
        T x = i < lines && l < length ? source[i * across + l * along] : made_of(0, 0);
        tile[l * (TILE + 1) + i] = is_conjugated ? conj_of(x) : x;
    }
}

// Takes products of m by k and k by n matrices from others, a tile a block; operands may be conjugated. Where only lower
// triangles are wanted, tiles above the diagonal are left out.
extern "C" __global__ void array_subtract_product(T *results, I stack, I row, I column, const T *lefts, I left_stack,
                                                  I left_row, I left_column, int is_left_conjugated, const T *rights,
                                                  I right_stack, I right_row, I right_column, int is_right_conjugated,
                                                  int m, int n, int k, int is_lower)
{
    SHARED(a, SIDE * (TILE + 1));
    SHARED(b, SIDE * (TILE + 1));
    const T *left = lefts + blockIdx.x * left_stack, *right = rights + blockIdx.x * right_stack;
    T *result = results + blockIdx.x * stack;
    int t = threadIdx.x, tx = t % SIDE, ty = t / SIDE, across = (n + TILE - 1) / TILE;
    int tiles = across * ((m + TILE - 1) / TILE);
    for (int tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
        int i0 = tile / across * TILE, j0 = tile % across * TILE;
        if (is_lower && j0 > i0) continue;
        T sum[PER_THREAD][PER_THREAD];
#pragma unroll
        for (int r = 0; r < PER_THREAD; ++r)
#pragma unroll
            for (int c = 0; c < PER_THREAD; ++c) sum[r][c] = made_of(0, 0);
        for (int k0 = 0; k0 < k; k0 += SIDE) {
            __syncthreads();
            bring(a, left + i0 * left_row + k0 * left_column, left_row, left_column, m - i0, k - k0, is_left_conjugated);
            bring(b, right + j0 * right_column + k0 * right_row, right_column, right_row, n - j0, k - k0,
                  is_right_conjugated);
            __syncthreads();
#pragma unroll 4
            for (int l = 0; l < SIDE; ++l) {
                T x[PER_THREAD], y[PER_THREAD];
#pragma unroll
                for (int r = 0; r < PER_THREAD; ++r) x[r] = a[l * (TILE + 1) + ty + SIDE * r];
#pragma unroll
                for (int c = 0; c < PER_THREAD; ++c) y[c] = b[l * (TILE + 1) + tx + SIDE * c];
#pragma unroll
                for (int r = 0; r < PER_THREAD; ++r)
#pragma unroll
                    for (int c = 0; c < PER_THREAD; ++c) sum[r][c] += x[r] * y[c];
            }
        }
#pragma unroll
        for (int r = 0; r < PER_THREAD; ++r)
#pragma unroll
            for (int c = 0; c < PER_THREAD; ++c) {
                int i = i0 + ty + SIDE * r, j = j0 + tx + SIDE * c;
                if (i < m && j < n) result[i * row + j * column] -= sum[r][c];
            }
    }
}
