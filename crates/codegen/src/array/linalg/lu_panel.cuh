// NaN is larger than all numbers: a matrix with one is not singular for the zeros beside it.
__device__ bool is_larger(R a, R b) { return a > b || (a != a && b == b); }

// LU factors of panels of m rows and n columns, with partial pivoting; the first of equally large pivots is taken.
extern "C" __global__ void array_lu_panel(T *matrices, I stack, I row, int m, int n, int *pivots, I pivot_stack)
{
    T *a = matrices + blockIdx.x * stack;
    int *pivot = pivots + blockIdx.x * pivot_stack;
    __shared__ R best[THREADS];
    __shared__ int place[THREADS];
    int t = threadIdx.x;
    for (int k = 0; k < (m < n ? m : n); ++k) {
        R mine = -1;
        int at = k;
        for (int i = k + t; i < m; i += THREADS) {
            R size = magnitude(a[i * row + k]);
            if (is_larger(size, mine)) { mine = size; at = i; }
        }
        best[t] = mine;
        place[t] = at;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (t < half && (is_larger(best[t + half], best[t])
                             || (!is_larger(best[t], best[t + half]) && place[t + half] < place[t]))) {
                best[t] = best[t + half];
                place[t] = place[t + half];
            }
            __syncthreads();
        }
        int p = place[0];
        if (t == 0) pivot[k] = p;
        for (int j = t; j < n && p != k; j += THREADS) {
            T swapped = a[k * row + j];
            a[k * row + j] = a[p * row + j];
            a[p * row + j] = swapped;
        }
        __syncthreads();
        T diagonal = a[k * row + k];
        if (magnitude(diagonal) != 0)
            for (int i = k + 1 + t; i < m; i += THREADS) a[i * row + k] = a[i * row + k] / diagonal;
        __syncthreads();
        I width = n - k - 1;
        for (I e = t; e < (m - k - 1) * width; e += THREADS) {
            I i = k + 1 + e / width, j = k + 1 + e % width;
            a[i * row + j] -= a[i * row + k] * a[k * row + j];
        }
        __syncthreads();
    }
}
