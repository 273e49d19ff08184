// The values in order, scaled back, and the place that each goes to.
extern "C" __global__ void array_sort_values(const R *values, int n, int is_descending, const int *exponents,
                                              R *ordered, int *places)
{
    const R *v = values + (I)blockIdx.x * n;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < n; i += gridDim.y * blockDim.x) {
        R own = is_descending ? -v[i] : v[i];
        int place = 0;
        for (int j = 0; j < n; ++j) {
            R other = is_descending ? -v[j] : v[j];
            place += other < own || (other == own && j < i);
        }
        ordered[(I)blockIdx.x * n + place] = ldexp(v[i], exponents[blockIdx.x]);
        places[(I)blockIdx.x * n + i] = place;
    }
}
