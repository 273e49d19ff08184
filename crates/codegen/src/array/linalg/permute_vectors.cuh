// The first m elements of row k of what was found become column places[k].
extern "C" __global__ void array_permute_vectors(const T *rows, int n, int m, int length, const int *places, T *vectors)
{
    const T *from = rows + (I)blockIdx.x * n * length;
    T *to = vectors + (I)blockIdx.x * m * n;
    for (int k = blockIdx.y; k < n; k += gridDim.y) {
        int column = places[(I)blockIdx.x * n + k];
        for (int i = threadIdx.x; i < m; i += blockDim.x) to[(I)i * n + column] = from[(I)k * length + i];
    }
}
