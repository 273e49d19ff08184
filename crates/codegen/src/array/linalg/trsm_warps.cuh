// Solves triangular systems, some right sides a block.
extern "C" __global__ void array_trsm_warps(const T *triangles, I triangle_stack, I triangle_row, I triangle_column,
                                                int is_upper, int is_unit, int is_conjugated, T *sides, I side_stack,
                                                I side_row, I side_column, int n, int count)
{
    const T *l = triangles + blockIdx.x * triangle_stack;
    T *b = sides + blockIdx.x * side_stack;
    for (int first = blockIdx.y * SIDES; first < count; first += gridDim.y * SIDES)
        warp_substitute(l, triangle_row, triangle_column, is_upper, is_unit, is_conjugated, b + first * side_column, side_row,
                   side_column, n, count - first < SIDES ? count - first : SIDES);
}
