// Reflectors of three rows or columns.

// Squares that are smaller, or as much larger, are not computed without scaling.
#define SMALLEST_SQUARE (TINY / (EPS * EPS))

// Multiplies the row (x, y, z) by a reflector I - tau v v^H from the right, v = (1, p, q); a column from the left by its
// adjoint, if tau, p and q are conjugated.
__device__ void reflect(T tau, T p, T q, T &x, T &y, T &z)
{
    T sum = tau * (x + p * y + q * z);
    x = x - sum;
    y = y - sum * conj_of(p);
    z = z - sum * conj_of(q);
}

// The reflection whose adjoint takes (x, y, z) to (beta, 0, 0); returns beta, which is real. Its latency is that of an
// iteration's step, hence one reciprocal square root and one reciprocal.
__device__ R reflection(T x, T y, T z, T &tau, T &p, T &q)
{
    tau = p = q = make_element(0, 0);
    R below = norm_squared(y) + norm_squared(z), square = norm_squared(x) + below, scale = 1;
    if (!(square > SMALLEST_SQUARE && square < 1 / SMALLEST_SQUARE)) {
        scale = fmax(magnitude(x), fmax(magnitude(y), magnitude(z)));
        if (scale == 0) return 0;
        x = x / scale;
        y = y / scale;
        z = z / scale;
        below = norm_squared(y) + norm_squared(z);
        square = norm_squared(x) + below;
    }
    if (below == 0 && imag_of(x) == 0) return real_of(x) * scale;
    R inverse = rsqrt(square), norm = square * inverse;
    norm += (R)0.5 * inverse * fma(-norm, norm, square);
    R beta = real_of(x) > 0 ? -norm : norm, inverse_beta = real_of(x) > 0 ? -inverse : inverse;
    T first = x - make_element(beta, 0);
    tau = make_element(1 - real_of(x) * inverse_beta, -imag_of(x) * inverse_beta);
    T factor = IS_COMPLEX ? conj_of(first) * (1 / norm_squared(first)) : make_element(1 / real_of(first), 0);
    p = y * factor;
    q = z * factor;
    return beta * scale;
}
