// A divisor of many numbers, and its inverse where that is precise.
struct Divisor { T value, inverse; bool has_inverse; };

__device__ Divisor divisor_of(T x)
{
    R size = magnitude(x);
    bool has_inverse = size > 4 * TINY && size < 1 / (4 * TINY);
#if __CUDA_ARCH__ >= 900 && !IS_COMPLEX
    if (sizeof(R) == 8) {
        // Steps of factorisations wait for this; a whole division takes three times as long.
        double value = (double)real_of(x), inverse;
        asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
#pragma unroll
        for (int turn = 0; turn < 3; ++turn) inverse = fma(fma(-value, inverse, 1.0), inverse, inverse);
        return {x, has_inverse ? (T)inverse : make_element(0, 0), has_inverse};
    }
#endif
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
