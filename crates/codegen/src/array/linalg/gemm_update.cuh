#define TILE_THREADS 16
#define TILE (TILE_THREADS * PART)

// Brings what products need of TILE rows or columns, DEPTH elements of each, with zeros beyond the end. Adjacent
// threads read along the axis whose elements are adjacent. Elements from number `diagonal` plus that of their line on
// count as one and zeros.
__device__ void load_tile(T *tile, const T *source, I across, I along, int lines, int length, bool is_conjugated, int diagonal)
{
    bool is_along = along <= across;
#pragma unroll
    for (int part = 0; part < DEPTH * TILE / THREADS; ++part) {
        int e = part * THREADS + threadIdx.x, i = is_along ? e / DEPTH : e % TILE, l = is_along ? e % DEPTH : e / TILE;
        T x = i < lines && l < length && l < diagonal + i ? source[i * across + l * along] : make_element(l == diagonal + i, 0);
        tile[l * (TILE + 1) + i] = is_conjugated ? conj_of(x) : x;
    }
}

// Takes products of m by k and k by n matrices from others, a tile a block; operands may be conjugated. Where only lower
// triangles are wanted, tiles above the diagonal are left out. The left operand may be unit lower triangular.
extern "C" __global__ void __launch_bounds__(THREADS, sizeof(T) * PART * PART > 128 ? 1 : 2)
array_gemm_update(T *results, I stack, I row, I column, const T *lefts, I left_stack, I left_row, I left_column,
                       int is_left_conjugated, int is_left_unit, const T *rights, I right_stack, I right_row,
                       I right_column, int is_right_conjugated, int m, int n, int k, int is_lower)
{
    SHARED(a, DEPTH * (TILE + 1));
    SHARED(b, DEPTH * (TILE + 1));
    const T *left = lefts + blockIdx.x * left_stack, *right = rights + blockIdx.x * right_stack;
    T *result = results + blockIdx.x * stack;
    int t = threadIdx.x, tx = t % TILE_THREADS, ty = t / TILE_THREADS, across = (n + TILE - 1) / TILE, none = 1 << 30;
    int tiles = across * ((m + TILE - 1) / TILE);
    for (int tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
        int i0 = tile / across * TILE, j0 = tile % across * TILE;
        if (is_lower && j0 > i0) continue;
        T sum[PART][PART];
#pragma unroll
        for (int e = 0; e < PART * PART; ++e) sum[e / PART][e % PART] = make_element(0, 0);
        for (int k0 = 0; k0 < k; k0 += DEPTH) {
            __syncthreads();
            load_tile(a, left + i0 * left_row + k0 * left_column, left_row, left_column, m - i0, k - k0, is_left_conjugated,
                  is_left_unit ? i0 - k0 : none);
            load_tile(b, right + j0 * right_column + k0 * right_row, right_column, right_row, n - j0, k - k0,
                  is_right_conjugated, none);
            __syncthreads();
#pragma unroll 4
            for (int l = 0; l < DEPTH; ++l) {
                T x[PART], y[PART];
#pragma unroll
                for (int r = 0; r < PART; ++r) x[r] = a[l * (TILE + 1) + ty + TILE_THREADS * r];
#pragma unroll
                for (int c = 0; c < PART; ++c) y[c] = b[l * (TILE + 1) + tx + TILE_THREADS * c];
#pragma unroll
                for (int r = 0; r < PART; ++r)
#pragma unroll
                    for (int c = 0; c < PART; ++c) sum[r][c] += x[r] * y[c];
            }
        }
        // All is read before something is written.
        T *corner = result + (i0 + ty) * row + (j0 + tx) * column;
#pragma unroll
        for (int is_written = 0; is_written < 2; ++is_written)
#pragma unroll
            for (int r = 0; r < PART; ++r)
#pragma unroll
                for (int c = 0; c < PART; ++c) {
                    if (i0 + ty + TILE_THREADS * r >= m || j0 + tx + TILE_THREADS * c >= n) continue;
                    T *element = corner + TILE_THREADS * (r * row + c * column);
                    if (is_written) *element = sum[r][c];
                    else sum[r][c] = *element - sum[r][c];
                }
    }
}
