// QL iterations with Wilkinson's shift on tridiagonal matrices until `room` rotations are full: c and s of each in
// `list`, from the last pair of rows to the first of each iteration. The state of a matrix is the row that is to be
// found, its iterations, and how many iterations are listed; `turns` has first and last row, and the place in the list.
extern "C" __global__ void array_tridiagonal_ql(R *diagonals, R *beside, int n, int room, int *states, R *lists,
                                                int *all_turns, int iterations, int *report, int *left)
{
    R *d = diagonals + (I)blockIdx.x * n, *e = beside + (I)blockIdx.x * n, *list = lists + (I)blockIdx.x * 2 * room;
    int *state = states + blockIdx.x * STATE, *turns = all_turns + blockIdx.x * 3 * TURNS;
    __shared__ int end;
    int l = state[0], iteration = state[1], listed = 0, used = 0, t = threadIdx.x;
    while (l < n && listed < TURNS && used + n <= room) {
        __syncthreads();
        if (t == 0) end = n - 1;
        __syncthreads();
        for (int first = l; first < n - 1; first += blockDim.x) {
            int i = first + t;
            if (i < n - 1 && fabs(e[i]) <= EPS * sqrt(fabs(d[i])) * sqrt(fabs(d[i + 1])) + TINY) atomicMin(&end, i);
            if (i < n - 1 && fabs(e[i]) <= EPS * (fabs(d[i]) + fabs(d[i + 1])) / 4) atomicMin(&end, i);
            __syncthreads();
            int now = end;
            __syncthreads();
            if (now != n - 1) break;
        }
        int m = end;
        if (m == l) {
            ++l;
            iteration = 0;
            continue;
        }
        if (++iteration > iterations) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            l = n;
            break;
        }
        if (t == 0) {
            R g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, (R)1);
            g = d[m] - d[l] + e[l] / (g + copysign(r, g));
            R s = 1, c = 1, p = 0, after = d[m];
            for (int i = m - 1; i >= l; --i) {
                R own = e[i], f = s * own, b = c * own;
                R size = fmax(fabs(f), fabs(g));
                r = size == 0 ? 0 : size * sqrt((f / size) * (f / size) + (g / size) * (g / size));
                if (i < m - 1) e[i + 1] = r;
                s = r == 0 ? 0 : f / r;
                c = r == 0 ? 1 : g / r;
                g = after - p;
                R before = d[i];
                R sum = (before - g) * s + 2 * c * b;
                p = s * sum;
                d[i + 1] = g + p;
                g = c * sum - b;
                after = before;
                list[2 * (used + m - 1 - i)] = c;
                list[2 * (used + m - 1 - i) + 1] = s;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0;
            turns[3 * listed] = l;
            turns[3 * listed + 1] = m;
            turns[3 * listed + 2] = used;
        }
        used += m - l;
        ++listed;
    }
    __syncthreads();
    if (t == 0) {
        state[0] = l;
        state[1] = iteration;
        state[2] = listed;
        if (l < n) *left = 1;
    }
}
