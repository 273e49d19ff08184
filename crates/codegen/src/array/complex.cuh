// Complex elements.
template <class A, class B> struct rt_same { char size[1]; };
template <class A> struct rt_same<A, A> { char size[2]; };
template <class R> struct rt_to<pycuda::complex<R>> {
  template <class From> static __device__ __forceinline__ pycuda::complex<R> from(From x) {
    return pycuda::complex<R>((R)x, R(0));
  }
  template <class S> static __device__ __forceinline__ pycuda::complex<R> from(pycuda::complex<S> x) {
    return pycuda::complex<R>((R)x.real(), (R)x.imag());
  }
};
template <class T> struct rt_is_complex { static const bool value = false; };
template <class R> struct rt_is_complex<pycuda::complex<R>> { static const bool value = true; };
// A complex number becomes a real one by losing its imaginary part, and a truth value by both.
template <class To, class R> __device__ __forceinline__ To rt_cast(pycuda::complex<R> x) {
  if constexpr (rt_is_complex<To>::value) return rt_to<To>::from(x);
  else if constexpr (sizeof(rt_same<To, bool>) == sizeof(rt_same<bool, bool>)) return x.real() != R(0) || x.imag() != R(0);
  else return rt_to<To>::from(x.real());
}
template <class R> __device__ __forceinline__ bool rt_true(pycuda::complex<R> x) {
  return x.real() != R(0) || x.imag() != R(0);
}
// Ordered by the real part, then by the imaginary part; nothing is less than a NaN.
template <class R> __device__ __forceinline__ bool rt_less(pycuda::complex<R> x, pycuda::complex<R> y) {
  return (x.real() < y.real() && x.imag() == x.imag() && y.imag() == y.imag()) ||
         (x.real() == y.real() && x.imag() < y.imag());
}
template <class R> __device__ __forceinline__ bool rt_less_equal(pycuda::complex<R> x, pycuda::complex<R> y) {
  return (x.real() < y.real() && x.imag() == x.imag() && y.imag() == y.imag()) ||
         (x.real() == y.real() && x.imag() <= y.imag());
}
template <class R> __device__ __forceinline__ bool rt_isnan(pycuda::complex<R> x) {
  return x.real() != x.real() || x.imag() != x.imag();
}
// The order of sorting: numbers, those with a NaN as the imaginary part, those with one as the real part, those with two;
// each ordered by the parts that are none.
template <class R> __device__ __forceinline__ bool rt_before(pycuda::complex<R> x, pycuda::complex<R> y) {
  const bool x_real = x.real() == x.real(), y_real = y.real() == y.real();
  const bool x_imag = x.imag() == x.imag(), y_imag = y.imag() == y.imag();
  if (x_real != y_real) return x_real;
  if (x_imag != y_imag) return x_imag;
  if (x_real && x.real() != y.real()) return x.real() < y.real();
  return x.imag() < y.imag();
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_max(pycuda::complex<R> x, pycuda::complex<R> y) {
  return rt_isnan(x) || rt_less_equal(y, x) ? x : y;
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_min(pycuda::complex<R> x, pycuda::complex<R> y) {
  return rt_isnan(x) || rt_less_equal(x, y) ? x : y;
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_fmax(pycuda::complex<R> x, pycuda::complex<R> y) {
  return rt_isnan(y) || (!rt_isnan(x) && rt_less_equal(y, x)) ? x : y;
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_fmin(pycuda::complex<R> x, pycuda::complex<R> y) {
  return rt_isnan(y) || (!rt_isnan(x) && rt_less_equal(x, y)) ? x : y;
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_sign(pycuda::complex<R> x) {
  R a = x.real(), b = x.imag(), length = pycuda::abs(x);
  if (length == R(0)) return pycuda::complex<R>();
  if (!isinf(length)) return pycuda::complex<R>(a / length, b / length);
  // One infinite part decides the direction, two do not.
  if (isinf(a) == isinf(b)) return pycuda::complex<R>(a / length + b / length, a / length + b / length);
  return isinf(a) ? pycuda::complex<R>(copysign(R(1), a), R(0)) : pycuda::complex<R>(R(0), copysign(R(1), b));
}
// After R. L. Smith (Algorithm 116, CACM 1962).
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_reciprocal(pycuda::complex<R> x) {
  R a = x.real(), b = x.imag();
  if (fabs(b) <= fabs(a)) {
    R ratio = b / a, scale = a + b * ratio;
    return pycuda::complex<R>(R(1) / scale, -ratio / scale);
  }
  R ratio = a / b, scale = a * ratio + b;
  return pycuda::complex<R>(ratio / scale, R(-1) / scale);
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_expm1(pycuda::complex<R> x) {
  R a = x.real(), b = x.imag();
  if (b == R(0)) return pycuda::complex<R>(expm1(a) + R(0), b);
  // An infinite real part decides alone where the imaginary part has no sine.
  if (isinf(a) && b - b != R(0)) return a > R(0) ? pycuda::complex<R>(a, b - b) : pycuda::complex<R>(R(-1), R(0));
  R half_sine = sin(b / R(2));
  return pycuda::complex<R>(expm1(a) * cos(b) - R(2) * half_sine * half_sine, exp(a) * sin(b));
}
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_log1p(pycuda::complex<R> x) {
  R length = hypot(x.real() + R(1), x.imag());
  return pycuda::complex<R>(log(length), atan2(x.imag(), x.real() + R(1)));
}
// The same roundings wherever it stands: a compiler has no choice which products to contract.
__device__ __forceinline__ pycuda::complex<float> rt_multiply(pycuda::complex<float> x, pycuda::complex<float> y) {
  return pycuda::complex<float>(__fmaf_rn(x.real(), y.real(), -__fmul_rn(x.imag(), y.imag())),
                                __fmaf_rn(x.real(), y.imag(), __fmul_rn(x.imag(), y.real())));
}
__device__ __forceinline__ pycuda::complex<double> rt_multiply(pycuda::complex<double> x, pycuda::complex<double> y) {
  return pycuda::complex<double>(__fma_rn(x.real(), y.real(), -__dmul_rn(x.imag(), y.imag())),
                                 __fma_rn(x.real(), y.imag(), __dmul_rn(x.imag(), y.real())));
}
