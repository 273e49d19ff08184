// Rotations that every method of Jacobi needs, and the order of its pairs.

// s and h = s / (1 + c) of the rotation [c s; -conj(s) c] that makes [a z; conj(z) b] diagonal, by the smaller of the
// angles, or zeros if it is not needed; returns what it takes from a and gives to b. See Golub and Van Loan, Matrix
// Computations, 8.5.
__device__ R rotation(R a, R b, T z, R size, bool is_needed, T &s, T &h)
{
    R zeta = (b - a) / (2 * size);
    R t = fabs(zeta) > 1 / EPS ? 1 / (2 * zeta) : copysign((R)1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    t = is_needed ? t : 0;
    R c = 1 / sqrt(1 + t * t), factor = is_needed ? c * t / size : 0;
    s = z * factor;
    h = s * (1 / (1 + c));
    return is_needed ? t * size : 0;
}

// Rotates two elements: c is 1 - |s|^2 / (1 + c), so that rounding errors are those of small changes. See Rutishauser,
// The Jacobi method for real symmetric matrices, Numer. Math. 9, 1966.
__device__ void rotate(T s, T h, T &x, T &y)
{
    T old = x;
    x = x - conj_of(s) * (y + h * x);
    y = y + s * (old - conj_of(h) * y);
}

// The pair k of round r of a tournament of `even` players: everyone meets everyone once in even - 1 rounds.
__device__ void tournament_pair(int k, int r, int even, int &p, int &q)
{
    int a = k == 0 ? even - 1 : (r + k) % (even - 1), b = (r - k + even - 1) % (even - 1);
    p = a < b ? a : b;
    q = a < b ? b : a;
}
