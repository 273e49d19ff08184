// Columns that a block has, and rows that a warp changes at a time.
#define COLUMNS 8
#define AT_ONCE 4

// Multiplies columns with I - V T V^H or its adjoint, some columns a block. A lane has a reflection.
extern "C" __global__ void __launch_bounds__(THREADS)
array_apply_block(const T *vectors, I stack, I row, int m, int count, const T *triangles, I triangle_stack, T *columns,
                  I column_stack, I column_row, int n, int is_adjoint)
{
    SHARED(parts, WARPS * BLOCK * COLUMNS);
    SHARED(sums, BLOCK * COLUMNS);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T *v = vectors + blockIdx.x * stack, *triangle = triangles + blockIdx.x * triangle_stack;
    for (int first = blockIdx.y * COLUMNS; first < n; first += gridDim.y * COLUMNS) {
        T *x = columns + blockIdx.x * column_stack + first;
        int width = n - first < COLUMNS ? n - first : COLUMNS;
        T own[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) own[c] = made_of(0, 0);
#pragma unroll 4
        for (int i = warp; i < m; i += WARPS) {
            T element = conj_of(vector_element(v, row, m, count, i, lane));
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
                if (c < width) own[c] += element * x[i * column_row + c];
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) parts[(warp * COLUMNS + c) * BLOCK + lane] = own[c];
        __syncthreads();
        T sum = made_of(0, 0);
        for (int w = 0; w < WARPS; ++w) sum += parts[(w * COLUMNS + warp) * BLOCK + lane];
        sums[warp * BLOCK + lane] = sum;
        __syncthreads();
        T product = made_of(0, 0);
        for (int q = is_adjoint ? 0 : lane; q < (is_adjoint ? lane + 1 : BLOCK); ++q)
            product += (is_adjoint ? conj_of(triangle[q * BLOCK + lane]) : triangle[lane * BLOCK + q]) * sums[warp * BLOCK + q];
        parts[warp * BLOCK + lane] = product;
        __syncthreads();
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) own[c] = parts[c * BLOCK + lane];
        for (int i = warp * AT_ONCE; i < m; i += WARPS * AT_ONCE) {
            T change[AT_ONCE * COLUMNS];
#pragma unroll
            for (int r = 0; r < AT_ONCE; ++r) {
                T element = vector_element(v, row, m, count, i + r, lane);
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) change[r * COLUMNS + c] = element * own[c];
            }
            T sum = sum_of_lanes(change);
            int at = i + lane / COLUMNS, c = lane % COLUMNS;
            if (at < m && c < width) x[at * column_row + c] -= sum;
        }
    }
}
