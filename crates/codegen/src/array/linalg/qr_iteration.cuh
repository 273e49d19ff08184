// One QR iteration: where matrices split, shifts, and the reflections along the diagonal.

__device__ bool is_small(const T *h, int n, int l)
{
    R size = magnitude(h[(I)l * n + l - 1]);
    R diagonals = magnitude(h[(I)(l - 1) * n + l - 1]) + magnitude(h[(I)l * n + l]);
    return size <= EPS * (diagonals == 0 ? 1 : diagonals) || size < TINY / EPS;
}

#if IS_COMPLEX
__device__ T complex_sqrt(T z)
{
    R size = hypot(real_of(z), imag_of(z));
    R real = sqrt((size + fabs(real_of(z))) / 2), imag = real == 0 ? 0 : fabs(imag_of(z)) / (2 * real);
    return real_of(z) >= 0 ? make_element(real, copysign(imag, imag_of(z))) : make_element(imag, copysign(real, imag_of(z)));
}

// The column (x, y) that an iteration with one shift begins with.
__device__ void shifted_first_column(const T *h, int n, int low, int high, int iteration, T &x, T &y, T &z)
{
    T d = h[(I)high * n + high], shift = d;
    R below = magnitude(h[(I)high * n + high - 1]);
    if (iteration % 20 == 10) {
        shift = h[(I)low * n + low] + make_element((R)0.75 * magnitude(h[(I)(low + 1) * n + low]), 0);
    } else if (iteration % 20 == 0) {
        shift = d + make_element((R)0.75 * below, 0);
    } else {
        // The eigenvalue of the last two rows that is nearer to the last element.
        T half = (h[(I)(high - 1) * n + high - 1] - d) * (R)0.5;
        T product = h[(I)(high - 1) * n + high] * h[(I)high * n + high - 1];
        T root = complex_sqrt(half * half + product);
        if (real_of(half) * real_of(root) + imag_of(half) * imag_of(root) < 0) root = -root;
        T sum = half + root;
        if (magnitude(sum) != 0) shift = d - product / sum;
    }
    x = h[(I)low * n + low] - shift;
    y = h[(I)(low + 1) * n + low];
    z = make_element(0, 0);
}
#else
// Eigenvalues of [a b; c d]: the real ones, the one nearer to d last, or a pair with parts of opposite sign.
__device__ void eigenvalues_of_two(R a, R b, R c, R d, R &first, R &second, R &imag)
{
    R half = (a - d) / 2, scale = fmax(fabs(half), sqrt(fabs(b)) * sqrt(fabs(c)));
    imag = 0;
    first = second = d;
    if (scale == 0) return;
    R root = (half / scale) * (half / scale) + (b / scale) * (c / scale);
    if (root >= 0) {
        R sum = half + copysign(scale * sqrt(root), half);
        first = d + sum;
        second = sum == 0 ? d : d - b * (c / sum);
    } else {
        first = second = d + half;
        imag = scale * sqrt(-root);
    }
}

// The column (x, y, z) that an iteration with two shifts begins with.
__device__ void shifted_first_column(const T *h, int n, int low, int high, int iteration, T &x, T &y, T &z)
{
    const T *at = h + (I)low * n + low, *last = h + (I)(high - 1) * n + high - 1;
    R first, second, imag;
    if (iteration % 20 == 10 || iteration % 20 == 0) {
        // Shifts that break cycles, as EISPACK's and LAPACK's.
        R subdiagonals = iteration % 20 == 10 ? fabs(at[n]) + fabs(at[2 * n + 1]) : fabs(last[n]) + fabs(last[-1]);
        R own = (R)0.75 * subdiagonals + (iteration % 20 == 10 ? at[0] : last[n + 1]);
        eigenvalues_of_two(own, (R)-0.4375 * subdiagonals, subdiagonals, own, first, second, imag);
    } else {
        eigenvalues_of_two(last[0], last[1], last[n], last[n + 1], first, second, imag);
    }
    if (imag == 0) first = second;
    R scale = fabs(at[0] - second) + fabs(imag) + fabs(at[n]), below = at[n] / scale;
    x = below * at[1] + (at[0] - first) * ((at[0] - second) / scale) + imag * (imag / scale);
    y = below * (at[0] + at[n + 1] - first - second);
    z = below * at[2 * n + 1];
}
#endif

// One iteration in rows and columns low to high; the reflections are left in `list`.
__device__ void qr_step(T *h, int n, int low, int high, int iteration, T *list)
{
    __shared__ R shared[6];  // Complex numbers have constructors, which shared memory must not have.
    int t = threadIdx.x;
    for (int k = low; k < high; ++k) {
        bool is_three = !IS_COMPLEX && k + 2 <= high;
        if (t == 0) {
            T x, y, z = make_element(0, 0);
            if (k == low) {
                shifted_first_column(h, n, low, high, iteration, x, y, z);
            } else {
                x = h[(I)k * n + k - 1];
                y = h[(I)(k + 1) * n + k - 1];
                if (is_three) z = h[(I)(k + 2) * n + k - 1];
            }
            T tau, p, q;
            R beta = reflection(x, y, z, tau, p, q);
            T own[3] = {tau, p, q};
            for (int i = 0; i < 3; ++i) {
                shared[2 * i] = real_of(own[i]);
                shared[2 * i + 1] = imag_of(own[i]);
            }
            if (k > low) {
                h[(I)k * n + k - 1] = make_element(beta, 0);
                h[(I)(k + 1) * n + k - 1] = make_element(0, 0);
                if (is_three) h[(I)(k + 2) * n + k - 1] = make_element(0, 0);
            }
            list[3 * k] = tau;
            list[3 * k + 1] = p;
            list[3 * k + 2] = q;
        }
        __syncthreads();
        T tau = make_element(shared[0], shared[1]), p = make_element(shared[2], shared[3]), q = make_element(shared[4], shared[5]);
        T nothing = make_element(0, 0);
        for (int j = k + t; j <= high; j += blockDim.x) {
            T *a = h + (I)k * n + j;
            reflect(conj_of(tau), conj_of(p), conj_of(q), a[0], a[n], is_three ? a[2 * n] : nothing);
        }
        __syncthreads();
        int last = k + 3 < high ? k + 3 : high;
        nothing = make_element(0, 0);
        for (int i = low + t; i <= last; i += blockDim.x) {
            T *a = h + (I)i * n + k;
            reflect(tau, p, q, a[0], a[1], is_three ? a[2] : nothing);
        }
        __syncthreads();
    }
}
