// Eigenvectors of Schur forms, columns of `vectors`, by substitution from the last row that they have: a thread for
// each. Of a pair of complex eigenvalues only the first one's vector is found.
extern "C" __global__ void array_substitute_eigenvectors(const T *matrices, int n, const R *reals, const R *imags,
                                                         X *vectors)
{
    const T *h = matrices + (I)blockIdx.x * n * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    X *x = vectors + (I)blockIdx.x * n * n + j;
    R imag = imags[(I)blockIdx.x * n + j], least = EPS, largest = 1;
    X value = make_vector_element(reals[(I)blockIdx.x * n + j], imag);
    for (int i = 0; i < n; ++i) x[(I)i * n] = make_vector_element(0, 0);
    int first = j;
    bool is_pair = false;
#if IS_WIDE
    is_pair = imag > 0;
    if (imag < 0) return;
    if (is_pair) {
        // (a - value) x + b y = 0 = c x + (d - value) y, by the equation with the larger coefficients.
        R a = h[(I)j * n + j], b = h[(I)j * n + j + 1], c = h[(I)(j + 1) * n + j], d = h[(I)(j + 1) * n + j + 1];
        bool is_above = fabs(b) >= fabs(c);
        X top = is_above ? X(1, 0) : (value - X(d, 0)) / c;
        X bottom = is_above ? (value - X(a, 0)) / b : X(1, 0);
        x[(I)j * n] = top;
        x[(I)(j + 1) * n] = bottom;
        largest = fmax(vector_magnitude(top), vector_magnitude(bottom));
    }
#endif
    if (!is_pair) x[(I)j * n] = make_vector_element(1, 0);
    int end = j + is_pair + 1;
    for (int i = first - 1; i >= 0; --i) {
        X sum = make_vector_element(0, 0);
        for (int k = i + 1; k < end; ++k) sum += x[(I)k * n] * h[(I)i * n + k];
        R size;
#if IS_WIDE
        if (i > 0 && h[(I)i * n + i - 1] != 0) {
            // Two unknowns at once, by elimination with the larger pivot.
            X other = make_vector_element(0, 0);
            for (int k = i + 1; k < end; ++k) other += x[(I)k * n] * h[(I)(i - 1) * n + k];
            X a = X(h[(I)(i - 1) * n + i - 1], 0) - value, d = X(h[(I)i * n + i], 0) - value;
            R b = h[(I)(i - 1) * n + i], c = h[(I)i * n + i - 1];
            bool is_first = vector_magnitude(a) >= fabs(c);
            X pivot = safe_divisor(is_first ? a : X(c, 0), least), factor = (is_first ? X(c, 0) : a) / pivot;
            X above = is_first ? X(b, 0) : d, below = is_first ? d : X(b, 0);
            X right = is_first ? other : sum, rest = is_first ? sum : other;
            X second = -(rest - factor * right) / safe_divisor(below - factor * above, least);
            X top = -(right + above * second) / pivot;
            x[(I)i * n] = second;
            x[(I)(i - 1) * n] = top;
            size = fmax(vector_magnitude(top), vector_magnitude(second));
            --i;
        } else
#endif
        {
            X found = -sum / safe_divisor(make_vector_element(real_of(h[(I)i * n + i]), imag_of(h[(I)i * n + i])) - value, least);
            x[(I)i * n] = found;
            size = vector_magnitude(found);
        }
        largest = fmax(largest, size);
        if (largest > 1 / EPS) {
            for (int k = i; k < end; ++k) x[(I)k * n] = x[(I)k * n] / largest;
            largest = 1;
        }
    }
}
