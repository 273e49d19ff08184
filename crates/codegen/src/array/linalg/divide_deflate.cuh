// Begins to merge pairs of parts, a block for each: their matrix is D + rho z z^T, with eigenvalues of both on the
// diagonal and, as z, the rows of their eigenvectors where they were torn. Values whose z is as nothing stay as they are;
// of two that are close, a rotation makes one such. Slots have what is left first, in ascending order, and what is done
// last. See Cuppen, A divide and conquer method for the symmetric tridiagonal eigenproblem, Numer. Math. 36, 1981.

// The values of a sorted list below x, or not above it.
__device__ int count_below(const R *list, int length, R x, bool is_not_above)
{
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) / 2;
        bool is_counted = is_not_above ? list[middle] <= x : list[middle] < x;
        low = is_counted ? middle + 1 : low;
        high = is_counted ? high : middle;
    }
    return low;
}

extern "C" __global__ void array_divide_deflate(const R *all_values, const R *all_vectors, const R *subdiagonals, int n,
                                                int half, int nodes, R *sorted, int *sorted_slots, R *all_poles,
                                                R *all_weights, R *all_found, int *all_rows, int *counts, R *factors,
                                                int *rotation_rows, R *angles)
{
    int length = 2 * half, t = threadIdx.x;
    I start = (I)blockIdx.x * length;
    int middle = blockIdx.x % nodes * length + half;
    R rho = middle < n ? subdiagonals[(I)(blockIdx.x / nodes) * n + middle - 1] : 0, root = sqrt((R)0.5);
    const R *values = all_values + start, *above = all_vectors + start * half + (I)(half - 1) * half;
    R *d = sorted + 2 * start, *z = d + length;
    int *rows = sorted_slots + start;
    R most = 0, most_z = 0;
    for (int i = t; i < length; i += THREADS) {
        bool is_first = i < half;
        R x = values[i], own = root * (is_first || rho >= 0 ? above[i] : -above[i]);
        int place = is_first ? i + count_below(values + half, half, x, false) : i - half + count_below(values, half, x, true);
        d[place] = x;
        z[place] = own;
        rows[place] = i;
        most = fmax(most, x < INFINITY ? fabs(x) : 0);
        most_z = fmax(most_z, fabs(own));
    }
    most = block_max(most);
    most_z = block_max(most_z);
    rho = 2 * fabs(rho);
    R tolerance = 8 * EPS * fmax(most, most_z);
    bool is_nothing = rho * most_z <= tolerance;
    __shared__ R part_d[THREADS], part_z[THREADS];
    __shared__ int part_rows[THREADS];
    R *poles = all_poles + start, *weights = all_weights + start, *found = all_found + start, last_d = 0, last_z = 0;
    int *to = all_rows + start, kept = 0, done = length, turned = 0, last = -1;
    for (int first = 0; first < length; first += THREADS) {
        __syncthreads();
        if (first + t < length) {
            part_d[t] = d[first + t];
            part_z[t] = z[first + t];
            part_rows[t] = rows[first + t];
        }
        __syncthreads();
        for (int i = 0; t == 0 && i < THREADS && first + i < length; ++i) {
            R own_d = part_d[i], own_z = part_z[i], gap = own_d - last_d;
            int row = part_rows[i];
            if (is_nothing || rho * fabs(own_z) <= tolerance) {
                found[--done] = own_d;
                to[done] = row;
                continue;
            }
            R squares = last_z * last_z + own_z * own_z;
            if (last >= 0 && fabs(gap * last_z * own_z) <= tolerance * squares) {
                R size = sqrt(squares), c = own_z / size, s = -last_z / size;
                angles[2 * (start + turned)] = c;
                angles[2 * (start + turned) + 1] = s;
                rotation_rows[2 * (start + turned)] = last;
                rotation_rows[2 * (start + turned) + 1] = row;
                ++turned;
                found[--done] = last_d * c * c + own_d * s * s;
                to[done] = last;
                own_d = last_d * s * s + own_d * c * c;
                own_z = size;
            } else if (last >= 0) {
                poles[kept] = last_d;
                weights[kept] = last_z;
                to[kept++] = last;
            }
            last = row;
            last_d = own_d;
            last_z = own_z;
        }
    }
    if (t != 0) return;
    if (last >= 0) {
        poles[kept] = last_d;
        weights[kept] = last_z;
        to[kept++] = last;
    }
    counts[2 * blockIdx.x] = kept;
    counts[2 * blockIdx.x + 1] = turned;
    factors[blockIdx.x] = rho;
}
