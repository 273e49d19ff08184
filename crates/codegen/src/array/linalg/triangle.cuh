// Whether element (i, j) is read: 0 is for all, 1 for the lower and 2 for the upper triangle.
__device__ bool is_in_triangle(int triangle, int i, int j) { return triangle == 0 || (triangle == 1 ? i >= j : i <= j); }
