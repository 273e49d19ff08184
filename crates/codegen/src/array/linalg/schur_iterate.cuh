// Splits eigenvalues off the end of Hessenberg matrices, or moves a chain of bulges on. Up to MAX_FINISHED rows are
// iterated in a window, all at once; chains of bulges go through more rows window by window. What lies beside windows is
// left to the next kernel, or to nobody where no Schur forms are needed. The state of a matrix:
#define HIGH 0       // the last row that is not done,
#define ITERATION 1  // iterations since the last eigenvalue,
#define LOW 2        // the first row of what is iterated,
#define START 3      // that of the window of the reflectors listed, and the one after it,
#define END 4
#define STEP 5       // their first step, in which bulge j is in row step - 3 j of the window,
#define STEPS 6      // the number of steps,
#define CHAIN 7      // the next step of a chain from row LOW on, or 0,
#define BULGES 8     // and its bulges.

// Copies a window to shared memory, or back.
__device__ void copy_window(T *a, int n, T *h, int pitch, int rows, bool is_back)
{
    __syncthreads();
    for (int e = threadIdx.x; e < rows * rows; e += blockDim.x) {
        T *own = a + (I)(e / rows) * n + e % rows, *copied = h + e / rows * pitch + e % rows;
        if (is_back) *own = *copied;
        else *copied = *own;
    }
    __syncthreads();
}

// Pairs of shifts for a chain: eigenvalues of the last 2 * PAIRS rows, those found first in front. Returns how many
// pairs there are.
__device__ int find_shifts(T *matrix, int n, int low, int high, int iteration, T *h, R *real, R *imag, T *shifts)
{
    __shared__ int pairs;
    int rows = 2 * PAIRS, pitch = rows | 1, t = threadIdx.x;
    copy_window(matrix + (I)(high - rows + 1) * (n + 1), n, h, pitch, rows, false);
    if (iteration % 6 == 0) {
        // Shifts that break cycles, as LAPACK's.
        for (int j = t; j < PAIRS; j += blockDim.x) {
            const T *last = h + (rows - 1 - j) * (pitch + 1);
            R part;
            exceptional_shifts(last[0], magnitude(last[-1]) + magnitude(last[-pitch - 2]), shifts[3 * j], shifts[3 * j + 1], part);
            shifts[3 * j + 2] = make_element(part, 0);
        }
        __syncthreads();
        return PAIRS;
    }
    for (int i = t; i < rows; i += blockDim.x) {
        real[i] = real_of(h[i * (pitch + 1)]);
        imag[i] = imag_of(h[i * (pitch + 1)]);
    }
    __syncthreads();
    int own = 0;
    // Errors of eigenvalues are about the squares of what is neglected.
    if (t < 32) iterate_in_window(h, pitch, rows, sqrt(EPS), 30, own, nullptr, real, imag);
    __syncthreads();
    if (t == 0) {
        int count = 0, waiting = -1;
        for (int i = rows - 1; i >= 0; --i) {
            bool is_pair = !IS_COMPLEX && imag[i] != 0;
            if (!is_pair && waiting < 0) {
                waiting = i;
                continue;
            }
            int other = is_pair ? i : waiting;
            shifts[3 * count] = make_element(real[i], imag[i]);
            shifts[3 * count + 1] = make_element(real[other], imag[other]);
            shifts[3 * count + 2] = make_element(is_pair ? imag[i] : 0, 0);
            ++count;
            if (is_pair) --i;
            else waiting = -1;
        }
        pairs = count;
    }
    __syncthreads();
    return pairs;
}

extern "C" __global__ void array_schur_iterate(T *matrices, int n, int max_rows, int max_finished, int iterations, int is_whole,
                                               int *states, T *lists, T *all_shifts, R *reals, R *imags, int *report, int *left)
{
    extern __shared__ double memory[];
    __shared__ int found;
    int t = threadIdx.x, pitch = max_rows | 1;
    T *h = (T *)memory, *reflectors = h + max_rows * pitch, *shifts = reflectors + 3 * PAIRS;
    R *shift_reals = (R *)(shifts + 3 * PAIRS), *shift_imags = shift_reals + 2 * PAIRS;
    T *matrix = matrices + (I)blockIdx.x * n * n, *kept_shifts = all_shifts + (I)blockIdx.x * 3 * PAIRS;
    T *list = lists + (I)blockIdx.x * (max_rows + 3 * PAIRS) * 3 * PAIRS;
    R *real = reals + (I)blockIdx.x * n, *imag = imags + (I)blockIdx.x * n;
    int *state = states + blockIdx.x * STATE;
    int high = state[HIGH], iteration = state[ITERATION], low = state[LOW], chain = state[CHAIN], bulges = state[BULGES];
    __syncthreads();
    if (high < 0) {
        if (t == 0) state[STEPS] = 0;
        return;
    }
    int start = 0, end = 0, step = 0, steps = 0;
    bool is_kept = true;
    while (chain == 0 && high >= 0) {
        __syncthreads();
        if (t == 0) found = 0;
        __syncthreads();
        for (int l = 1 + t; l <= high; l += blockDim.x)
            if (is_small(matrix, n, l, EPS)) atomicMax(&found, l);
        __syncthreads();
        low = found;
        if (t == 0 && low > 0) matrix[(I)low * n + low - 1] = make_element(0, 0);
        int rows = high - low + 1;
        if (rows > max_finished) break;
        T *own = matrix + (I)low * (n + 1);
        copy_window(own, n, h, pitch, rows, false);
        if (is_whole) {
            steps = rows + 3 * PAIRS;
            for (int e = t; e < steps * 3 * PAIRS; e += blockDim.x) list[e] = make_element(0, 0);
            __syncthreads();
        }
        if (t < 32) {
            int last = iterate_in_window(h, pitch, rows, EPS, iterations, iteration, is_whole ? list : nullptr, real + low, imag + low);
            if (t == 0) found = iteration > iterations ? -2 : last;
        }
        start = low;
        end = high + 1;
        __syncthreads();
        high = found < 0 ? low - 1 : low + found;
        if (found == -2) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            high = -1;
        }
        if (is_whole) {
            copy_window(own, n, h, pitch, rows, true);
            break;
        }
        iteration = 0;
    }
    if (high >= 0 && steps == 0) {
        if (chain == 0) {
            if (++iteration > iterations) {
                if (t == 0) {
                    atomicOr(report, NOT_CONVERGED);
                    state[HIGH] = -1;
                    state[STEPS] = 0;
                }
                return;
            }
            // Shifts serve for two chains: finding them takes longer than moving a chain.
            if (iteration % 2 == 1 || iteration % 6 == 0) {
                bulges = find_shifts(matrix, n, low, high, iteration, h, shift_reals, shift_imags, shifts);
                for (int i = t; i < 3 * PAIRS; i += blockDim.x) kept_shifts[i] = shifts[i];
                is_kept = false;
            }
        }
        if (is_kept)
            for (int i = t; i < 3 * PAIRS; i += blockDim.x) shifts[i] = kept_shifts[i];
        // The window begins with the column of the last bulge, and ends with the rows that the first one can reach.
        start = low + chain - 3 * bulges + 2;
        if (start < low) start = low;
        end = start + max_rows < high + 1 ? start + max_rows : high + 1;
        step = low + chain - start;
        steps = end == high + 1 ? high - low + 3 * (bulges - 1) - chain : end - 3 - low - chain;
        T *own = matrix + (I)start * (n + 1);
        copy_window(own, n, h, pitch, end - start, false);
        move_chain(h, pitch, end - start, low - start, high - start, step, steps, bulges, shifts, reflectors, list);
        copy_window(own, n, h, pitch, end - start, true);
        chain = end == high + 1 ? 0 : chain + steps;
    }
    if (t == 0) {
        int next[STATE] = {high, iteration, low, start, end, step, steps, chain, bulges};
        for (int i = 0; i < STATE; ++i) state[i] = next[i];
        if (high >= 0) *left = 1;
    }
}
