// Splits eigenvalues off the end and iterates, `sweeps` times at most. The state of a matrix is the last row that is
// not done, iterations since the last eigenvalue, and the rows between which the reflections of `list` turned.
extern "C" __global__ void array_schur_iterate(T *matrices, int n, int sweeps, int iterations, int is_whole,
                                               int *states, T *lists, R *reals, R *imags, int *report, int *left)
{
    T *h = matrices + (I)blockIdx.x * n * n, *list = lists + (I)blockIdx.x * 3 * n;
    R *real = reals + (I)blockIdx.x * n, *imag = imags + (I)blockIdx.x * n;
    int *state = states + blockIdx.x * STATE;
    __shared__ int found;
#if !IS_COMPLEX
    __shared__ int is_listed;
#endif
    int t = threadIdx.x, high = state[0], iteration = state[1], sweep = 0;
    if (high < 0) {
        if (t == 0) state[2] = state[3] = 0;
        return;
    }
    int low = 0, end = 0;
    for (; high >= 0 && sweep < sweeps;) {
        __syncthreads();
        if (t == 0) found = 0;
        __syncthreads();
        for (int l = 1 + t; l <= high; l += blockDim.x)
            if (is_small(h, n, l)) atomicMax(&found, l);
        __syncthreads();
        low = found;
        if (t == 0 && low > 0) h[(I)low * n + low - 1] = make_element(0, 0);
        if (low == high) {
            if (t == 0) {
                real[high] = real_of(h[(I)high * n + high]);
                imag[high] = imag_of(h[(I)high * n + high]);
            }
            high -= 1;
            iteration = 0;
            continue;
        }
#if !IS_COMPLEX
        if (low == high - 1) {
            if (t == 0) {
                is_listed = 0;
                T *a = h + (I)low * n + low;
                R first, second, part;
                eigenvalues_of_two(a[0], a[1], a[n], a[n + 1], first, second, part);
                real[low] = first;
                real[high] = second;
                imag[low] = part;
                imag[high] = -part;
                if (part == 0) {
                    // Real ones: the first column becomes the eigenvector of the first.
                    T p, q, tau, nothing = 0;
                    reflection(first - a[n + 1], a[n], 0, tau, p, q);
                    reflect(tau, p, 0, a[0], a[n], nothing);
                    reflect(tau, p, 0, a[1], a[n + 1], nothing);
                    reflect(tau, p, 0, a[0], a[1], nothing);
                    reflect(tau, p, 0, a[n], a[n + 1], nothing);
                    a[n] = 0;
                    a[0] = first;
                    a[n + 1] = second;
                    list[3 * low] = tau;
                    list[3 * low + 1] = p;
                    list[3 * low + 2] = 0;
                    is_listed = 1;
                }
            }
            __syncthreads();
            end = high;
            high -= 2;
            iteration = 0;
            if (is_listed && is_whole) ++sweep;
            else end = 0;
            continue;
        }
#endif
        if (++iteration > iterations) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            high = -1;
            break;
        }
        __syncthreads();
        qr_step(h, n, low, high, iteration, list);
        end = high;
        ++sweep;
    }
    if (t == 0) {
        state[0] = high;
        state[1] = iteration;
        state[2] = low;
        state[3] = sweep ? end : 0;
        if (high >= 0) *left = 1;
    }
}
