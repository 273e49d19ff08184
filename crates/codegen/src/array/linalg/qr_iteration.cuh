// QR iterations with two shifts in windows of Hessenberg matrices: where they split, shifts, and bulges along the
// diagonal. A warp moves a bulge; rows of a window are `pitch` elements apart.

// What the reflector of each row starts from.
struct Column { T x, y, z; };

__device__ bool is_small(const T *h, int pitch, int l, R tolerance)
{
    R size = magnitude(h[(I)l * pitch + l - 1]);
    R diagonals = magnitude(h[(I)(l - 1) * pitch + l - 1]) + magnitude(h[(I)l * pitch + l]);
    return size <= tolerance * (diagonals == 0 ? 1 : diagonals) || size < TINY / EPS;
}

// Eigenvalues of [a b; c d]: the one nearer to d last, or a pair of complex ones of a real matrix, whose imaginary parts
// are of opposite sign.
__device__ void eigenvalues_of_two(T a, T b, T c, T d, T &first, T &second, R &imag)
{
    T half = (a - d) * (R)0.5;
    R scale = fmax(magnitude(half), sqrt(magnitude(b)) * sqrt(magnitude(c)));
    imag = 0;
    first = second = d;
    if (scale == 0) return;
    T square = (half / scale) * (half / scale) + (b / scale) * (c / scale);
#if IS_COMPLEX
    R size = hypot(real_of(square), imag_of(square)), part = sqrt((size + fabs(real_of(square))) / 2);
    R other = part == 0 ? 0 : fabs(imag_of(square)) / (2 * part);
    bool is_right = real_of(square) >= 0;
    T root = make_element(is_right ? part : other, copysign(is_right ? other : part, imag_of(square))) * scale;
    T sum = real_of(half) * real_of(root) + imag_of(half) * imag_of(root) < 0 ? half - root : half + root;
#else
    if (square < 0) {
        first = second = d + half;
        imag = scale * sqrt(-square);
        return;
    }
    T sum = half + copysign(scale * sqrt(square), half);
#endif
    first = d + sum;
    second = magnitude(sum) == 0 ? d : d - b * (c / sum);
}

// Shifts that break cycles, as EISPACK's and LAPACK's.
__device__ void exceptional_shifts(T diagonal, R subdiagonals, T &first, T &second, R &imag)
{
    T own = diagonal + make_element((R)0.75 * subdiagonals, 0), other = make_element(subdiagonals, 0);
    eigenvalues_of_two(own, other * (R)-0.4375, other, own, first, second, imag);
}

// The first column of (H - first) (H - second), where H begins with the row and column of `at`.
__device__ Column shifted_first_column(const T *at, int pitch, T first, T second, R imag)
{
    R scale = magnitude(at[0] - second) + fabs(imag) + magnitude(at[pitch]);
    if (scale == 0) return {make_element(0, 0), make_element(0, 0), make_element(0, 0)};
    T below = at[pitch] / scale;
    T x = below * at[1] + (at[0] - first) * ((at[0] - second) / scale) + make_element(imag * (imag / scale), 0);
    return {x, below * (at[0] + at[pitch + 1] - first - second), below * at[2 * pitch + 1]};
}

// Moves a bulge to row r, by a reflector from the left; where it does not start, from the column before.
__device__ void move_bulge_left(T *h, int pitch, int r, int high, int end, bool is_start, Column own, T &tau, T &p, T &q)
{
    bool has_three = r + 2 <= high;
    T *before = h + (I)r * pitch + r - 1, nothing = make_element(0, 0);
    if (!is_start) own = {before[0], before[pitch], has_three ? before[2 * pitch] : nothing};
    R beta = reflection(own.x, own.y, own.z, tau, p, q);
    T left_tau = conj_of(tau), left_p = conj_of(p), left_q = conj_of(q);
    __syncwarp();
    for (int j = r + threadIdx.x % 32; j < end; j += 32) {
        T *a = h + (I)r * pitch + j;
        T z = has_three ? a[2 * pitch] : nothing;
        reflect(left_tau, left_p, left_q, a[0], a[pitch], z);
        if (has_three) a[2 * pitch] = z;
    }
    if (threadIdx.x % 32 > 0 || is_start) return;
    before[0] = make_element(beta, 0);
    before[pitch] = nothing;
    if (has_three) before[2 * pitch] = nothing;
}

// Keeps a reflector, by the first lane of a warp.
__device__ void store_reflector(T *reflector, T tau, T p, T q)
{
    if (threadIdx.x % 32 > 0) return;
    reflector[0] = tau;
    reflector[1] = p;
    reflector[2] = q;
}

// What follows from the right, in rows from `first` on.
__device__ void move_bulge_right(T *h, int pitch, int r, int high, int first, T tau, T p, T q)
{
    bool has_three = r + 2 <= high;
    T nothing = make_element(0, 0);
    for (int i = first + threadIdx.x % 32; i <= r + 3 && i <= high; i += 32) {
        T *a = h + (I)i * pitch + r;
        T z = has_three ? a[2] : nothing;
        reflect(tau, p, q, a[0], a[1], z);
        if (has_three) a[2] = z;
    }
}

// Splits two rows with real eigenvalues, or with any of a complex matrix: their first column becomes the eigenvector of
// the first. All columns to `end` and all rows from `first_row` on are reflected.
__device__ void split_two(T *h, int pitch, int low, int first_row, int end, T first, T second, T *reflector)
{
    T *a = h + (I)low * pitch + low, p, q, tau, nothing = make_element(0, 0);
    reflection(first - a[pitch + 1], a[pitch], nothing, tau, p, q);
    __syncwarp();
    for (int j = low + threadIdx.x % 32; j < end; j += 32)
        reflect(conj_of(tau), conj_of(p), nothing, h[(I)low * pitch + j], h[(I)(low + 1) * pitch + j], nothing);
    __syncwarp();
    for (int i = first_row + threadIdx.x % 32; i < low + 2; i += 32)
        reflect(tau, p, nothing, h[(I)i * pitch + low], h[(I)i * pitch + low + 1], nothing);
    __syncwarp();
    store_reflector(reflector, tau, p, nothing);
    if (threadIdx.x % 32 > 0) return;
    a[0] = first;
    a[pitch] = nothing;
    a[pitch + 1] = second;
}

// The place of the reflector of row r that belongs to bulge j of a list: those that may be applied at once are adjacent.
__device__ T *listed(T *list, int r, int j) { return list + ((I)(r + 3 * j) * PAIRS + j) * 3; }

// Iterates in a window of `rows` rows, by a warp, and writes eigenvalues. Unless `list` is NULL all of the window is
// changed, and reflectors of up to PAIRS iterations are listed. Returns the last row that is not done; `iteration` is
// beyond the limit if there was no convergence.
__device__ int iterate_in_window(T *h, int pitch, int rows, R tolerance, int limit, int &iteration, T *list,
                                 R *real, R *imag)
{
    int lane = threadIdx.x % 32, high = rows - 1, bulge = 0;
    while (high >= 0 && !(list && bulge == PAIRS)) {
        int low = 0;
        __syncwarp();
        for (int last = high; last > 0 && low == 0; last -= 32) {
            int l = last - lane;
            unsigned found = __ballot_sync(0xffffffffu, l > 0 && is_small(h, pitch, l, tolerance));
            if (found) low = last - __ffs(found) + 1;
        }
        __syncwarp();
        if (lane == 0 && low > 0) h[(I)low * pitch + low - 1] = make_element(0, 0);
        T *a = h + (I)low * pitch + low, *last = h + (I)high * pitch + high, first, second;
        R part;
        if (low == high) {
            if (lane == 0) {
                real[high] = real_of(a[0]);
                imag[high] = imag_of(a[0]);
            }
            high -= 1;
            iteration = 0;
            continue;
        }
        eigenvalues_of_two(last[-pitch - 1], last[-pitch], last[-1], last[0], first, second, part);
        if (low == high - 1) {
            if (lane == 0) {
                real[low] = real_of(first);
                real[high] = real_of(second);
                imag[low] = IS_COMPLEX ? imag_of(first) : part;
                imag[high] = IS_COMPLEX ? imag_of(second) : -part;
            }
            if (list && part == 0) split_two(h, pitch, low, 0, rows, first, second, listed(list, low, bulge++));
            high -= 2;
            iteration = 0;
            continue;
        }
        if (++iteration > limit) break;
        if (iteration % 20 == 10) exceptional_shifts(a[0], magnitude(a[pitch]) + magnitude(a[2 * pitch + 1]), first, second, part);
        else if (iteration % 20 == 0) exceptional_shifts(last[0], magnitude(last[-1]) + magnitude(last[-pitch - 2]), first, second, part);
        else if (!IS_COMPLEX && part == 0) first = second;
        Column start = shifted_first_column(a, pitch, first, second, part);
        for (int r = low; r < high; ++r) {
            T tau, p, q;
            move_bulge_left(h, pitch, r, high, list ? rows : high + 1, r == low, start, tau, p, q);
            __syncwarp();
            move_bulge_right(h, pitch, r, high, list ? 0 : low, tau, p, q);
            if (list) store_reflector(listed(list, r, bulge), tau, p, q);
            __syncwarp();
        }
        ++bulge;
    }
    return high;
}

// Moves a chain of bulges, of which the first comes to row `lead` first, by `steps` rows: each a warp, in turn. Their
// reflectors are listed; those of a step are of different rows, and follow from the matrix before it (Braman, Byers and
// Mathias, The multishift QR algorithm I, SIAM J. Matrix Anal. Appl. 23, 2002).
__device__ void move_chain(T *h, int pitch, int rows, int low, int high, int lead, int steps, int bulges,
                           const T *shifts, T *reflectors, T *list)
{
    int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
    for (int step = 0; step < steps; ++step) {
        for (int j = warp; j < PAIRS; j += warps) {
            int r = lead + step - 3 * j;
            T *own = reflectors + 3 * j;
            if (j < bulges && r >= low && r < high) {
                Column start = {};
                if (r == low) start = shifted_first_column(h + (I)r * pitch + r, pitch, shifts[3 * j], shifts[3 * j + 1], real_of(shifts[3 * j + 2]));
                T tau, p, q;
                move_bulge_left(h, pitch, r, high, rows, r == low, start, tau, p, q);
                store_reflector(own, tau, p, q);
            } else if (lane < 3) {
                own[lane] = make_element(0, 0);
            }
            __syncwarp();
            if (lane < 3) list[((I)step * PAIRS + j) * 3 + lane] = own[lane];
        }
        __syncthreads();
        for (int j = warp; j < bulges; j += warps) {
            int r = lead + step - 3 * j;
            const T *own = reflectors + 3 * j;
            if (r >= low && r < high) move_bulge_right(h, pitch, r, high, 0, own[0], own[1], own[2]);
        }
        __syncthreads();
    }
}
