// Applies the listed reflectors of a window to the rows above it and the columns right of it, of what is iterated or of
// the whole matrix, and to the product of all, of which the rows are Schur vectors. GROUP lanes, as many as there are
// bulges, have such a line, each a bulge: they pass on elements, as a bulge is three rows behind the one before it. Where
// threads are lanes of a processor's vectors, each has a line, and GROUP is 1.
#define LINES (THREADS / GROUP)

extern "C" __global__ void array_schur_apply(T *matrices, int n, int max_rows, int max_steps, const int *states, const T *lists, T *products)
{
    const int *state = states + blockIdx.x * STATE;
    int start = state[3], end = state[4], step = state[5], steps = state[6], t = threadIdx.x;
    if (steps == 0) return;
    int rows = end - start;
    // Columns right of the window, columns of the product, rows above.
    int first_row = products ? 0 : state[2], last_column = products ? n : state[0] + 1;
    int counts[3] = {last_column - end, products ? n : 0, start - first_row}, part = blockIdx.y, kind = 0;
    for (; kind < 3 && part >= (counts[kind] + LINES - 1) / LINES; ++kind) part -= (counts[kind] + LINES - 1) / LINES;
    if (kind == 3) return;
    bool is_row = kind == 2;
    int lines = counts[kind] - part * LINES < LINES ? counts[kind] - part * LINES : LINES;
    T *a = (kind == 1 ? products : matrices) + (I)blockIdx.x * n * n + (I)part * LINES * (is_row ? n : 1);
    a += is_row ? (I)first_row * n + start : (I)start * n + (kind == 0 ? end : 0);
    const T *listed = lists + (I)blockIdx.x * max_steps * 3 * PAIRS;
    T nothing = make_element(0, 0);
#if GROUP == 1
    if (t >= lines) return;
    a += (I)t * (is_row ? n : 1);
    I next = is_row ? 1 : n;
    for (int j = 0; j < PAIRS; ++j) {
        // Its rows in the window; identities at the ends are left out.
        int r = step - 3 * j > 0 ? step - 3 * j : 0, last = step + steps - 3 * j < rows - 1 ? step + steps - 3 * j : rows - 1;
        const T *reflector = listed + (I)((r + 3 * j - step) * PAIRS + j) * 3;
        for (; r < last && magnitude(reflector[0]) == 0; ++r) reflector += 3 * PAIRS;
        while (r < last && magnitude(reflector[(last - r - 1) * 3 * PAIRS]) == 0) --last;
        if (r >= last) continue;
        T x = a[r * next], y = a[(r + 1) * next];
        for (; r < last; ++r, reflector += 3 * PAIRS) {
            T tau = reflector[0], p = reflector[1], q = reflector[2], z = r + 2 < rows ? a[(r + 2) * next] : nothing;
            if (kind == 0) { tau = conj_of(tau); p = conj_of(p); q = conj_of(q); }
            reflect(tau, p, q, x, y, z);
            a[r * next] = x;
            x = y;
            y = z;
        }
        a[r * next] = x;
        if (r + 1 < rows) a[(r + 1) * next] = y;
    }
#else
    extern __shared__ double memory[];
    int pitch = rows | 1;
    T *list = (T *)memory, *tile = list + max_steps * 3 * PAIRS;
    for (int e = t; e < steps * 3 * PAIRS; e += THREADS) list[e] = listed[e];
    for (int e = t; e < lines * rows; e += THREADS) {
        int line = is_row ? e / rows : e % lines, i = is_row ? e % rows : e / lines;
        tile[line * pitch + i] = a[is_row ? (I)line * n + i : (I)i * n + line];
    }
    __syncthreads();
    int line = t / GROUP, j = t % GROUP, r = step - 3 * j;
    bool is_there = line < lines;
    T *own = tile + line * pitch, done = nothing;
    auto element = [&](int i) { return is_there && i >= 0 && i < rows ? own[i] : nothing; };
    T x = element(r), y = element(r + 1), z = element(r + 2);
    for (int s = 0; s < steps; ++s, ++r) {
        const T *reflector = list + (s * PAIRS + j) * 3;
        T tau = reflector[0], p = reflector[1], q = reflector[2];
        if (kind == 0) { tau = conj_of(tau); p = conj_of(p); q = conj_of(q); }
        T next = j == 0 ? element(r + 3) : nothing;
        reflect(tau, p, q, x, y, z);
        done = x;
        if (j == PAIRS - 1 && is_there && r >= 0 && r < rows) own[r] = done;
        T passed = shuffle(done, threadIdx.x % 32 - (j > 0));
        x = y;
        y = z;
        z = j == 0 ? next : passed;
    }
    if (is_there) {
        if (r - 1 >= 0 && r - 1 < rows) own[r - 1] = done;
        if (r >= 0 && r < rows) own[r] = x;
        if (r + 1 >= 0 && r + 1 < rows) own[r + 1] = y;
    }
    __syncthreads();
    for (int e = t; e < lines * rows; e += THREADS) {
        int line = is_row ? e / rows : e % lines, i = is_row ? e % rows : e / lines;
        a[is_row ? (I)line * n + i : (I)i * n + line] = tile[line * pitch + i];
    }
#endif
}
