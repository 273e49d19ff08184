// Solves triangular systems for several right sides a block, one unknown after the other.
extern "C" __global__ void array_trsm(const T *triangles, I triangle_stack, I triangle_row, I triangle_column,
                                                int is_upper, int is_unit, int is_conjugated, T *sides, I side_stack,
                                                I side_row, I side_column, int n, int count)
{
    const T *l = triangles + blockIdx.x * triangle_stack;
    T *b = sides + blockIdx.x * side_stack;
    for (int first = blockIdx.y * SIDES; first < count; first += gridDim.y * SIDES) {
        int width = count - first < SIDES ? count - first : SIDES;
        for (int step = 0; step < n; ++step) {
            int k = is_upper ? n - 1 - step : step;
            if (!is_unit && threadIdx.x < width) {
                T diagonal = l[k * (triangle_row + triangle_column)];
                I at = k * side_row + (first + threadIdx.x) * side_column;
                b[at] = b[at] / (is_conjugated ? conj_of(diagonal) : diagonal);
            }
            __syncthreads();
            int rows = is_upper ? k : n - 1 - k, start = is_upper ? 0 : k + 1;
            for (int e = threadIdx.x; e < rows * width; e += THREADS) {
                int i = start + e / width;
                I j = (first + e % width) * side_column;
                T factor = l[i * triangle_row + k * triangle_column];
                b[i * side_row + j] -= (is_conjugated ? conj_of(factor) : factor) * b[k * side_row + j];
            }
            __syncthreads();
        }
    }
}
