// A divisor of many numbers, and its inverse where that is precise.
struct Divisor { T value, inverse; bool has_inverse; };

__device__ Divisor divisor_of(T x)
{
    R size = magnitude(x);
    bool has_inverse = size > 4 * TINY && size < 1 / (4 * TINY);
    return {x, has_inverse ? make_element(1, 0) / x : make_element(0, 0), has_inverse};
}

// Real quotients are corrected to what a division gives, but for numbers near the least ones.
__device__ T quotient(T x, Divisor by)
{
    if (!by.has_inverse) return x / by.value;
#if IS_COMPLEX
    return x * by.inverse;
#else
    T q = x * by.inverse, corrected = fma(fma(-q, by.value, x), by.inverse, q);
    return corrected == corrected ? corrected : q;
#endif
}
