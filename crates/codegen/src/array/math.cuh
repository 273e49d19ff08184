// Operations that C does not have, or has with other rules than NumPy.
template <class T> __device__ __forceinline__ T rt_floordiv(T x, T y) {
  if constexpr (rt_is_float<T>::value) {
    if (y == T(0)) return x / y;
    T rest = fmod(x, y), quotient = (x - rest) / y;
    if (rest != T(0) && ((y < T(0)) != (rest < T(0)))) quotient -= T(1);
    if (quotient == T(0)) return copysign(T(0), x / y);
    T down = floor(quotient);
    return quotient - down > T(0.5) ? down + T(1) : down;
  } else {
    if (y == T(0)) return T(0);
    if constexpr (rt_is_signed<T>::value) {
      if (y == T(-1)) return T(0ull - (unsigned long long)x);
      T quotient = x / y;
      return (x % y != 0 && ((x < 0) != (y < 0))) ? T(quotient - 1) : quotient;
    }
    return x / y;
  }
}
template <class T> __device__ __forceinline__ T rt_remainder(T x, T y) {
  if constexpr (rt_is_float<T>::value) {
    T rest = fmod(x, y);
    if (y == T(0)) return rest;
    if (rest == T(0)) return copysign(T(0), y);
    return (y < T(0)) != (rest < T(0)) ? rest + y : rest;
  } else {
    if (y == T(0)) return T(0);
    if constexpr (rt_is_signed<T>::value) {
      if (y == T(-1)) return T(0);
      T rest = x % y;
      return (rest != 0 && ((rest < 0) != (y < 0))) ? T(rest + y) : rest;
    }
    return x % y;
  }
}
template <class T> __device__ __forceinline__ T rt_fmod(T x, T y) {
  if constexpr (rt_is_float<T>::value) {
    return fmod(x, y);
  } else {
    if (y == T(0)) return T(0);
    if constexpr (rt_is_signed<T>::value) {
      if (y == T(-1)) return T(0);
    }
    return x % y;
  }
}
// Wraps around as the multiplications do; a negative exponent gives the integer part of the quotient.
template <class T> __device__ __forceinline__ T rt_power(T x, T y) {
  if constexpr (rt_is_float<T>::value) {
    return pow(x, y);
  } else {
    if constexpr (rt_is_signed<T>::value) {
      if (y < T(0)) return x == T(1) ? T(1) : x == T(-1) ? ((y & 1) ? T(-1) : T(1)) : T(0);
    }
    unsigned long long base = (unsigned long long)x, result = 1;
    for (unsigned long long rest = (unsigned long long)y; rest; rest >>= 1) {
      if (rest & 1) result *= base;
      base *= base;
    }
    return (T)result;
  }
}
template <class T> __device__ __forceinline__ T rt_shl(T x, T y) {
  return y >= T(0) && (unsigned long long)y < 8 * sizeof(T) ? T((unsigned long long)x << y) : T(0);
}
template <class T> __device__ __forceinline__ T rt_shr(T x, T y) {
  return y >= T(0) && (unsigned long long)y < 8 * sizeof(T) ? T(x >> y) : T(x < T(0) ? -1 : 0);
}
// A product that is rounded before anything is added to it.
__device__ __forceinline__ float rt_product(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double rt_product(double x, double y) { return __dmul_rn(x, y); }
// Of two products a compiler may contract either; here the first one is never rounded.
__device__ __forceinline__ float rt_axpby(float x, float y, float z, float w) { return __fmaf_rn(x, y, __fmul_rn(z, w)); }
__device__ __forceinline__ double rt_axpby(double x, double y, double z, double w) { return __fma_rn(x, y, __dmul_rn(z, w)); }
template <class T> __device__ __forceinline__ bool rt_less(T x, T y) { return x < y; }
template <class T> __device__ __forceinline__ bool rt_less_equal(T x, T y) { return x <= y; }
// NaN wins; of two equal numbers the first is taken.
template <class T> __device__ __forceinline__ T rt_max(T x, T y) { return x >= y || x != x ? x : y; }
template <class T> __device__ __forceinline__ T rt_min(T x, T y) { return x <= y || x != x ? x : y; }
// A number wins over NaN.
template <class T> __device__ __forceinline__ T rt_fmax(T x, T y) { return x >= y || y != y ? x : y; }
template <class T> __device__ __forceinline__ T rt_fmin(T x, T y) { return x <= y || y != y ? x : y; }
template <class T> __device__ __forceinline__ T rt_abs(T x) {
  if constexpr (rt_is_float<T>::value) return fabs(x);
  else return x < T(0) ? T(0ull - (unsigned long long)x) : x;
}
template <class T> __device__ __forceinline__ T rt_sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : x == T(0) ? T(0) : x;
}
template <class T> __device__ __forceinline__ T rt_reciprocal(T x) {
  if constexpr (rt_is_float<T>::value) return T(1) / x;
  else {
    // Of 0, what x86 converts the infinite quotient to.
    if (rt_is_signed<T>::value && sizeof(T) >= 4 && x == T(0)) return T(1ull << (8 * sizeof(T) - 1));
    return x == T(1) ? T(1) : (rt_is_signed<T>::value && x == T(-1)) ? T(-1) : T(0);
  }
}
// The exponent held to what `int` holds; all beyond that is 0 or infinite.
template <class T> __device__ __forceinline__ T rt_ldexp(T x, long long y) {
  return ldexp(x, (int)(y > 0x7fffffff ? 0x7fffffff : y < -0x7fffffff ? -0x7fffffff : y));
}
template <class T> __device__ __forceinline__ T rt_logaddexp(T x, T y) {
  if (x == y) return x + T(0.693147180559945309417);
  T d = x - y;
  return d > T(0) ? x + log1p(exp(-d)) : d <= T(0) ? y + log1p(exp(d)) : d;
}
template <class T> __device__ __forceinline__ T rt_logaddexp2(T x, T y) {
  if (x == y) return x + T(1);
  T d = x - y, per = T(1.44269504088896340736);
  return d > T(0) ? x + per * log1p(exp2(-d)) : d <= T(0) ? y + per * log1p(exp2(d)) : d;
}
template <class T> __device__ __forceinline__ T rt_heaviside(T x, T y) {
  return x != x ? x : x == T(0) ? y : x < T(0) ? T(0) : T(1);
}
// The absolute value, also of the least integer.
template <class T> __device__ __forceinline__ unsigned long long rt_magnitude(T x) {
  return x < T(0) ? 0ull - (unsigned long long)x : (unsigned long long)x;
}
__device__ __forceinline__ unsigned long long rt_gcd_of_magnitudes(unsigned long long a, unsigned long long b) {
  while (b) { unsigned long long rest = a % b; a = b; b = rest; }
  return a;
}
template <class T> __device__ __forceinline__ T rt_gcd(T x, T y) {
  return (T)rt_gcd_of_magnitudes(rt_magnitude(x), rt_magnitude(y));
}
template <class T> __device__ __forceinline__ T rt_lcm(T x, T y) {
  unsigned long long a = rt_magnitude(x), b = rt_magnitude(y), g = rt_gcd_of_magnitudes(a, b);
  return g == 0 ? T(0) : (T)(a / g * b);
}
template <class T> __device__ __forceinline__ int rt_bit_count(T x) {
  return __popcll((unsigned long long)rt_abs(x) & (~0ull >> (64 - 8 * sizeof(T))));
}
// The exact order of a signed and an unsigned integer, which no common integer type holds.
__device__ __forceinline__ int rt_order(long long x, unsigned long long y) {
  return x < 0 || (unsigned long long)x < y ? -1 : (unsigned long long)x > y;
}
__device__ __forceinline__ int rt_order(unsigned long long x, long long y) { return -rt_order(y, x); }
