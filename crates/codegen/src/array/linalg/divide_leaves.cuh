// The parts that tridiagonal matrices are torn into: eigenvalues in ascending order, and eigenvectors as columns, by
// implicit QL iterations (Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971, imtql2). A warp has a part:
// all lanes find the rotations, and each rotates a row; z has columns as its rows.
// What all lanes know, all of them store. Parts of the length that lies behind the matrix have infinite values.
extern "C" __global__ void array_divide_leaves(const R *diagonals, const R *subdiagonals, int n, int length, int leaves,
                                               int iterations, R *values, R *vectors, int *report)
{
    __shared__ R d[32], e[32], z[32][32];
    __shared__ int places[32];
    int first = blockIdx.x % leaves * length, t = threadIdx.x;
    int own = n - first < 0 ? 0 : n - first < length ? n - first : length;
    const R *all = diagonals + (I)(blockIdx.x / leaves) * n, *bisect = subdiagonals + (I)(blockIdx.x / leaves) * n;
    d[t] = e[t] = 0;
    if (t < own) {
        R before = t == 0 && first > 0 ? fabs(bisect[first - 1]) : 0;
        R after = t == own - 1 && first + own < n ? fabs(bisect[first + t]) : 0;
        d[t] = all[first + t] - before - after;
        e[t] = t < own - 1 ? bisect[first + t] : 0;
    }
    for (int j = 0; j < 32; ++j) z[j][t] = t == j;
    __syncwarp();
    int iteration = 0;
    for (int l = 0; l < own;) {
        bool is_small = t >= own - 1;
        if (!is_small) {
            R size = fabs(e[t]), one = fabs(d[t]), other = fabs(d[t + 1]);
            is_small = size <= EPS * sqrt(one) * sqrt(other) + TINY || size <= EPS * (one + other) / 4;
        }
        int m = __ffs(__ballot_sync(0xffffffffu, is_small && t >= l)) - 1;
        if (m == l) {
            ++l;
            iteration = 0;
            continue;
        }
        if (++iteration > iterations) {
            if (t == 0) atomicOr(report, NOT_CONVERGED);
            break;
        }
        R g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, (R)1);
        g = d[m] - d[l] + e[l] / (g + copysign(r, g));
        R s = 1, c = 1, p = 0, after = d[m];
        for (int i = m - 1; i >= l; --i) {
            R f = s * e[i], b = c * e[i], before = d[i];
            R squares = f * f + g * g;
            if (squares > TINY / EPS && squares < 1 / TINY) {
                R inverse = rsqrt(squares);
                r = squares * inverse;
                s = f * inverse;
                c = g * inverse;
            } else {
                R size = fmax(fabs(f), fabs(g));
                r = size == 0 ? 0 : size * sqrt((f / size) * (f / size) + (g / size) * (g / size));
                s = r == 0 ? 0 : f / r;
                c = r == 0 ? 1 : g / r;
            }
            g = after - p;
            R sum = (before - g) * s + 2 * c * b;
            p = s * sum;
            __syncwarp();
            if (i < m - 1) e[i + 1] = r;
            d[i + 1] = g + p;
            g = c * sum - b;
            after = before;
            R upper = z[i][t], lower = z[i + 1][t];
            z[i + 1][t] = s * upper + c * lower;
            z[i][t] = c * upper - s * lower;
        }
        R first = d[l] - p;
        __syncwarp();
        d[l] = first;
        e[l] = g;
        e[m] = 0;
        __syncwarp();
    }
    int place = t;
    if (t < own) {
        place = 0;
        for (int j = 0; j < own; ++j) place += d[j] < d[t] || (d[j] == d[t] && j < t);
    }
    places[t] = place;
    __syncwarp();
    if (t >= length) return;
    values[(I)blockIdx.x * length + place] = t < own ? d[t] : (R)INFINITY;
    R *to = vectors + (I)blockIdx.x * length * length;
    for (int j = 0; j < length; ++j) to[t * length + places[j]] = z[j][t];
}
