// Applies the reflections of an iteration to what lies beside its rows and columns, and to the product of all, of which
// the rows are Schur vectors; a thread for a column, or for a row.
extern "C" __global__ void array_schur_apply(T *matrices, int n, const int *states, const T *lists, T *products)
{
    const int *state = states + blockIdx.x * STATE;
    int low = state[2], high = state[3], place = blockIdx.y * blockDim.x + threadIdx.x;
    if (low >= high || place >= 2 * n) return;
    const T *list = lists + (I)blockIdx.x * 3 * n;
    T *h = matrices + (I)blockIdx.x * n * n, *a;
    I step = n;
    bool is_left = false;
    if (place < n) {
        a = products + (I)blockIdx.x * n * n + place;
    } else {
        int k = place - n;
        if (k >= low && k <= high) return;
        is_left = k > high;
        a = is_left ? h + k : h + (I)k * n;
        step = is_left ? n : 1;
    }
    T x = a[low * step], y = a[(low + 1) * step];
    for (int k = low; k < high; ++k) {
        T tau = list[3 * k], p = list[3 * k + 1], q = list[3 * k + 2];
        if (is_left) { tau = conj_of(tau); p = conj_of(p); q = conj_of(q); }
        T z = k + 2 <= high ? a[(k + 2) * step] : make_element(0, 0);
        reflect(tau, p, q, x, y, z);
        a[k * step] = x;
        x = y;
        y = z;
    }
    a[high * step] = x;
}
