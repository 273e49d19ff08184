// Columns of a tile: those of the vectors are no more. Of DEPTH rows a thread copies some elements.
#define TILE (16 * PART)
#define OF_VECTORS (DEPTH * BLOCK / THREADS)
#define OF_COLUMNS (DEPTH * TILE / THREADS)

// Products V^H [C V] of vectors of reflections and columns: a block has the tile of some columns and `depth` rows, and
// leaves its part of the sums to the kernels that follow.
extern "C" __global__ void __launch_bounds__(THREADS)
array_wy_products(const T *vectors, I stack, I row, int m, int count, const T *columns, I column_stack, I column_row,
                     int n, T *sums, int parts, int depth)
{
    SHARED(a, DEPTH * (BLOCK + 1));
    SHARED(b, DEPTH * (TILE + 1));
    int t = threadIdx.x, tx = t % 16, ty = t / 16, tiles = (n + TILE - 1) / TILE + 1;
    const T *v = vectors + blockIdx.x * stack, *x = columns + blockIdx.x * column_stack;
    for (int work = blockIdx.y; work < tiles * parts; work += gridDim.y) {
        bool is_own = work % tiles == tiles - 1;
        int j0 = is_own ? 0 : work % tiles * TILE, width = is_own ? BLOCK : n - j0, part = work / tiles, end = (part + 1) * depth < m ? (part + 1) * depth : m;
        T sum[2][PART], next_a[OF_VECTORS], next_b[OF_COLUMNS];
#pragma unroll
        for (int e = 0; e < 2 * PART; ++e) sum[e / PART][e % PART] = make_element(0, 0);
        for (int i0 = part * depth - DEPTH; i0 < end; i0 += DEPTH) {
            // The next rows are on their way while products of these are summed.
            int next = i0 + DEPTH;
#pragma unroll
            for (int e = 0; e < OF_VECTORS; ++e)
                next_a[e] = next < end ? conj_of(vector_element(v, row, end, count, next + t / BLOCK + THREADS / BLOCK * e, t % BLOCK))
                                       : make_element(0, 0);
#pragma unroll
            for (int e = 0; e < OF_COLUMNS; ++e) {
                int i = next + t / TILE + THREADS / TILE * e, j = t % TILE;
                if (is_own) next_b[e] = vector_element(v, row, end, count, i, j);
                else next_b[e] = i < end && j < width ? x[i * column_row + j0 + j] : make_element(0, 0);
            }
            if (next > part * depth)
#pragma unroll 4
                for (int l = 0; l < DEPTH; ++l)
#pragma unroll
                    for (int r = 0; r < 2; ++r)
#pragma unroll
                        for (int c = 0; c < PART; ++c)
                            sum[r][c] += a[l * (BLOCK + 1) + ty + 16 * r] * b[l * (TILE + 1) + tx + 16 * c];
            __syncthreads();
#pragma unroll
            for (int e = 0; e < OF_VECTORS; ++e) a[(t / BLOCK + THREADS / BLOCK * e) * (BLOCK + 1) + t % BLOCK] = next_a[e];
#pragma unroll
            for (int e = 0; e < OF_COLUMNS; ++e) b[(t / TILE + THREADS / TILE * e) * (TILE + 1) + t % TILE] = next_b[e];
            __syncthreads();
        }
        T *result = sums + (blockIdx.x * (I)parts + part) * BLOCK * (n + BLOCK) + (is_own ? n : j0);
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < PART; ++c)
                if (tx + 16 * c < width) result[(I)(ty + 16 * r) * (n + BLOCK) + tx + 16 * c] = sum[r][c];
    }
}
