// Eigenvalues of D + rho z z^T: the roots of f(x) = 1 / rho + sum z_i^2 / (d_i - x), a warp for each. A root is kept as
// its distance from the nearest pole, so that its distances from all poles are accurate. f is approximated by a constant
// and the two poles beside the root (Li, Solving secular equations stably and efficiently, LAPACK working note 89, 1993:
// the middle way, or the fixed weight where that is slow), between bounds that each step makes closer.
#define MAX_STEPS 120
#define MAX_RATIONAL_STEPS 30  // Then all steps are bisections.

// Sums over the poles up to number `left` and over the others, with derivatives.
struct Sums {
    R below, below_slope, above, above_slope;
};

__device__ Sums secular_sums(const R *d, const R *z, int count, int left, R pole, R x)
{
    Sums sums = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < count; i += 32) {
        R ratio = z[i] / ((d[i] - pole) - x), value = z[i] * ratio, slope = ratio * ratio;
        sums.below += i <= left ? value : 0;
        sums.below_slope += i <= left ? slope : 0;
        sums.above += i <= left ? 0 : value;
        sums.above_slope += i <= left ? 0 : slope;
    }
    sums.below = warp_sum(sums.below);
    sums.below_slope = warp_sum(sums.below_slope);
    sums.above = warp_sum(sums.above);
    sums.above_slope = warp_sum(sums.above_slope);
    return sums;
}

// The step to the root of c + s / (p - x) + S / (q - x) that has value f and its slope at the distances p and q from the
// poles: that between the poles, or that behind both.
__device__ R secular_step(R c, R p, R q, R f, R slope, bool is_last)
{
    R a = (p + q) * f - p * q * slope, b = p * q * f, root = sqrt(fabs(a * a - 4 * b * c));
    R step;
    if (is_last) {
        c = fabs(c);
        step = a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
    } else {
        step = a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
    }
    return step * f < 0 ? step : -f / slope;
}

// Half way between two numbers of one sign, by exponents where these are far apart.
__device__ R bisect(R low, R high)
{
    R small = fmin(fabs(low), fabs(high)), large = fmax(fabs(low), fabs(high)), middle = low + (high - low) / 2;
    if (small * 16 >= large) return middle;
    R size = small == 0 ? large / 64 : sqrt(small) * sqrt(large);
    return copysign(size, low + high);
}

extern "C" __global__ void array_divide_roots(const R *all_poles, const R *all_weights, int length, const int *counts,
                                              const R *factors, R *distances, int *origins, R *all_found, int *report)
{
    int j = blockIdx.y * blockDim.y + threadIdx.y, count = counts[2 * blockIdx.x];
    if (j >= count) return;
    I start = (I)blockIdx.x * length;
    const R *d = all_poles + start, *z = all_weights + start;
    R rho = factors[blockIdx.x], inverse = 1 / rho;
    bool is_last = j == count - 1, is_found = count == 1;
    int left = is_last ? count - 2 : j, origin = j, step = 0;
    R low = 0, high = rho * (1 + 8 * EPS), x = rho * z[0] * z[0], before = 0;
    if (!is_found && !is_last) {
        R gap = d[j + 1] - d[j], half = gap / 2;
        Sums sums = secular_sums(d, z, count, left, d[j], half);
        R f = inverse + sums.below + sums.above, here = z[j] * z[j], there = z[j + 1] * z[j + 1];
        // The constant that all other poles are, and the root of what is left.
        R c = f + here / half - there / half;
        if (f >= 0) {
            R a = c * gap + here + there, b = here * gap, root = sqrt(fabs(a * a - 4 * b * c));
            x = a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c);
            high = half;
        } else {
            origin = j + 1;
            R a = c * gap - here - there, b = there * gap, root = sqrt(fabs(a * a + 4 * b * c));
            x = a < 0 ? 2 * b / (a - root) : -(a + root) / (2 * c);
            low = -half;
            high = 0;
        }
    } else if (!is_found) {
        x = rho / 2;
    }
    R pole = d[origin], accuracy = EPS * (8 + count / 32);
    if (!is_found && !(x > low && x < high)) x = bisect(low, high);
    bool is_fixed = false;
    for (; !is_found && step < MAX_STEPS; ++step) {
        Sums sums = secular_sums(d, z, count, left, pole, x);
        R f = inverse + sums.below + sums.above, slope = sums.below_slope + sums.above_slope;
        is_found = fabs(f) <= accuracy * (inverse + fabs(sums.below) + fabs(sums.above)) + EPS * fabs(x) * slope;
        low = f < 0 ? x : low;
        high = f < 0 ? high : x;
        is_found = is_found || high - low <= 2 * EPS * fmax(fabs(low), fabs(high));
        if (is_found) break;
        if (step > 0 && f * before > 0 && fabs(f) > fabs(before) / 10) is_fixed = !is_fixed;
        before = f;
        R p = (d[left] - pole) - x, q = (d[left + 1] - pole) - x;
        R c = f - p * sums.below_slope - q * sums.above_slope;
        if (is_fixed && !is_last) {
            R ratio = z[origin] / (origin == left ? p : q), square = ratio * ratio, gap = d[left + 1] - d[left];
            c = origin == left ? f - q * slope + gap * square : f - p * slope - gap * square;
        }
        R next = x + secular_step(c, p, q, f, slope, is_last);
        x = next > low && next < high && step < MAX_RATIONAL_STEPS ? next : bisect(low, high);
    }
    if (threadIdx.x != 0) return;
    if (!is_found) atomicOr(report, NOT_CONVERGED);
    distances[start + j] = x;
    origins[start + j] = origin;
    all_found[start + j] = pole + x;
}
