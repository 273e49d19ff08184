// The lengths of columns, which become of length 1; those that are as nothing become zeros, which is reported.
extern "C" __global__ void array_normalize_columns(T *matrices, int m, int n, R *lengths, int *report)
{
    for (int k = blockIdx.y * blockDim.y + threadIdx.y; k < (n + blockDim.y - 1) / blockDim.y * blockDim.y;
         k += gridDim.y * blockDim.y) {
        T *w = matrices + ((I)blockIdx.x * n + (k < n ? k : 0)) * m;
        R square[1] = {};
        for (int i = threadIdx.x; i < m && k < n; i += GROUP) square[0] += norm_squared(w[i]);
        group_sum(square);
        if (k >= n) continue;
        R length = sqrt(square[0]);
        bool is_nothing = !(square[0] > MIN_NORM_SQUARED);
        if (threadIdx.x == 0) {
            lengths[(I)blockIdx.x * n + k] = length;
            if (is_nothing) atomicOr(report, RANK_DEFICIENT);
        }
        for (int i = threadIdx.x; i < m; i += GROUP) w[i] = is_nothing ? make_element(0, 0) : w[i] / length;
    }
}
