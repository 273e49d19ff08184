// Reflectors of three rows or columns.

// Multiplies the row (x, y, z) by a reflector I - tau v v^H from the right, v = (1, p, q); a column from the left by its
// adjoint, if tau, p and q are conjugated.
__device__ void reflect(T tau, T p, T q, T &x, T &y, T &z)
{
    T sum = tau * (x + p * y + q * z);
    x = x - sum;
    y = y - sum * conj_of(p);
    z = z - sum * conj_of(q);
}

// The reflection whose adjoint takes (x, y, z) to (beta, 0, 0); returns beta, which is real.
__device__ R reflection(T x, T y, T z, T &tau, T &p, T &q)
{
    tau = p = q = make_element(0, 0);
    R largest = fmax(magnitude(x), fmax(magnitude(y), magnitude(z)));
    if (magnitude(y) + magnitude(z) == 0 && imag_of(x) == 0) return real_of(x);
    x = x / largest;
    y = y / largest;
    z = z / largest;
    R norm = sqrt(norm_squared(x) + norm_squared(y) + norm_squared(z)), beta = real_of(x) > 0 ? -norm : norm;
    tau = make_element((beta - real_of(x)) / beta, -imag_of(x) / beta);
    T first = x - make_element(beta, 0);
    p = y / first;
    q = z / first;
    return beta * largest;
}
