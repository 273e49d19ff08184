// Complex numbers for kernels: `pycuda::complex<float>` and `pycuda::complex<double>`.
//
// Works in device code and in host code, under NVRTC and under nvcc, from C++11 on. The type
// stays trivially copyable, so that it can be a kernel parameter: volatile sources go through
// template constructors and assignments, which are never copy constructors. Operands are taken by
// value, because that is the one form that rvalues, const and volatile objects all convert to.
#ifndef RTCG_PYCUDA_COMPLEX_HPP
#define RTCG_PYCUDA_COMPLEX_HPP

#if !defined(__CUDACC_RTC__)
#include <cmath>
#include <math.h>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define RTCG_CPLX __host__ __device__ inline
#define RTCG_CPLX_MEMBER __host__ __device__
#else
#define RTCG_CPLX inline
#define RTCG_CPLX_MEMBER
#endif

extern "C++" {
namespace pycuda {

template <class T> struct complex;

namespace complex_detail {
template <bool B, class T = int> struct enable {};
template <class T> struct enable<true, T> { typedef T type; };
template <class T> struct same_type { typedef T type; };

// Whether complex<From> becomes complex<To> by itself: yes unless digits would be lost.
template <class From, class To> struct widens { static const bool value = sizeof(From) <= sizeof(To); };

template <class T> struct is_integer { static const bool value = false; };
template <class T> struct is_real { static const bool value = false; };
#define RTCG_INTEGER(T) \
    template <> struct is_integer<T> { static const bool value = true; }; \
    template <> struct is_real<T> { static const bool value = true; };
RTCG_INTEGER(bool) RTCG_INTEGER(char) RTCG_INTEGER(signed char) RTCG_INTEGER(unsigned char)
RTCG_INTEGER(short) RTCG_INTEGER(unsigned short) RTCG_INTEGER(int) RTCG_INTEGER(unsigned int)
RTCG_INTEGER(long) RTCG_INTEGER(unsigned long) RTCG_INTEGER(long long) RTCG_INTEGER(unsigned long long)
#undef RTCG_INTEGER
template <> struct is_real<float> { static const bool value = true; };
template <> struct is_real<double> { static const bool value = true; };

// The real functions under one name each, so that the templates below need no case by type.
#define RTCG_REAL1(name) \
    RTCG_CPLX float r_##name(float x) { return ::name##f(x); } \
    RTCG_CPLX double r_##name(double x) { return ::name(x); }
RTCG_REAL1(fabs) RTCG_REAL1(sqrt) RTCG_REAL1(exp) RTCG_REAL1(log) RTCG_REAL1(log1p) RTCG_REAL1(sin)
RTCG_REAL1(cos) RTCG_REAL1(sinh) RTCG_REAL1(cosh) RTCG_REAL1(tanh) RTCG_REAL1(asin) RTCG_REAL1(acos)
#undef RTCG_REAL1
RTCG_CPLX float r_hypot(float x, float y) { return ::hypotf(x, y); }
RTCG_CPLX double r_hypot(double x, double y) { return ::hypot(x, y); }
RTCG_CPLX float r_atan2(float y, float x) { return ::atan2f(y, x); }
RTCG_CPLX double r_atan2(double y, double x) { return ::atan2(y, x); }
RTCG_CPLX float r_copysign(float x, float y) { return ::copysignf(x, y); }
RTCG_CPLX double r_copysign(double x, double y) { return ::copysign(x, y); }
RTCG_CPLX float r_fma(float x, float y, float z) { return ::fmaf(x, y, z); }
RTCG_CPLX double r_fma(double x, double y, double z) { return ::fma(x, y, z); }
// A product that stays rounded: it is not fused with what is added to it.
#if defined(__CUDA_ARCH__)
RTCG_CPLX float r_mul(float x, float y) { return __fmul_rn(x, y); }
RTCG_CPLX double r_mul(double x, double y) { return __dmul_rn(x, y); }
#else
RTCG_CPLX float r_mul(float x, float y) { volatile float p = x * y; return p; }
RTCG_CPLX double r_mul(double x, double y) { volatile double p = x * y; return p; }
#endif
RTCG_CPLX float r_pow(float x, float y) { return ::powf(x, y); }
RTCG_CPLX double r_pow(double x, double y) { return ::pow(x, y); }
// Infinite or NaN; only NaN; only infinite.
template <class T> RTCG_CPLX bool is_special(T x) { return !(x - x == T(0)); }
template <class T> RTCG_CPLX bool is_nan(T x) { return x != x; }
template <class T> RTCG_CPLX bool is_inf(T x) { return x == x && is_special(x); }
}  // namespace complex_detail

template <class T> struct complex {
    typedef T value_type;

    T _M_re;
    T _M_im;

    RTCG_CPLX_MEMBER complex() : _M_re(T()), _M_im(T()) {}
    RTCG_CPLX_MEMBER complex(T re, T im = T()) : _M_re(re), _M_im(im) {}

    template <class U, typename complex_detail::enable<complex_detail::widens<U, T>::value>::type = 0>
    RTCG_CPLX_MEMBER complex(const complex<U> &z) : _M_re(z._M_re), _M_im(z._M_im) {}
    template <class U, typename complex_detail::enable<!complex_detail::widens<U, T>::value>::type = 0>
    RTCG_CPLX_MEMBER explicit complex(const complex<U> &z)
        : _M_re(static_cast<T>(z._M_re)), _M_im(static_cast<T>(z._M_im)) {}
    template <class U, typename complex_detail::enable<complex_detail::widens<U, T>::value>::type = 0>
    RTCG_CPLX_MEMBER complex(const volatile complex<U> &z) : _M_re(z._M_re), _M_im(z._M_im) {}
    template <class U, typename complex_detail::enable<!complex_detail::widens<U, T>::value>::type = 0>
    RTCG_CPLX_MEMBER explicit complex(const volatile complex<U> &z)
        : _M_re(static_cast<T>(z._M_re)), _M_im(static_cast<T>(z._M_im)) {}

    RTCG_CPLX_MEMBER T real() const { return _M_re; }
    RTCG_CPLX_MEMBER T imag() const { return _M_im; }
    RTCG_CPLX_MEMBER T real() const volatile { return _M_re; }
    RTCG_CPLX_MEMBER T imag() const volatile { return _M_im; }
    RTCG_CPLX_MEMBER void real(T x) { _M_re = x; }
    RTCG_CPLX_MEMBER void imag(T x) { _M_im = x; }

    template <class U> RTCG_CPLX_MEMBER typename complex_detail::enable<complex_detail::is_real<U>::value, complex &>::type
    operator=(U x) { _M_re = static_cast<T>(x); _M_im = T(); return *this; }
#define RTCG_ASSIGN(from) \
    template <class U> RTCG_CPLX_MEMBER complex &operator=(from complex<U> &z) { \
        T re = static_cast<T>(z._M_re), im = static_cast<T>(z._M_im); \
        _M_re = re; _M_im = im; \
        return *this; \
    } \
    template <class U> RTCG_CPLX_MEMBER void operator=(from complex<U> &z) volatile { \
        T re = static_cast<T>(z._M_re), im = static_cast<T>(z._M_im); \
        _M_re = re; _M_im = im; \
    }
    // Volatile targets return nothing: a volatile reference as a value would be read again.
    RTCG_ASSIGN(const) RTCG_ASSIGN(const volatile)
#undef RTCG_ASSIGN
    template <class U> RTCG_CPLX_MEMBER typename complex_detail::enable<complex_detail::is_real<U>::value, void>::type
    operator=(U x) volatile { _M_re = static_cast<T>(x); _M_im = T(); }

    friend RTCG_CPLX complex operator+(complex a, complex b) {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend RTCG_CPLX complex operator+(complex a, T b) { return complex(a._M_re + b, a._M_im); }
    friend RTCG_CPLX complex operator+(T a, complex b) { return complex(a + b._M_re, b._M_im); }
    friend RTCG_CPLX complex operator-(complex a, complex b) {
        return complex(a._M_re - b._M_re, a._M_im - b._M_im);
    }
    friend RTCG_CPLX complex operator-(complex a, T b) { return complex(a._M_re - b, a._M_im); }
    friend RTCG_CPLX complex operator-(T a, complex b) { return complex(a - b._M_re, -b._M_im); }
    friend RTCG_CPLX complex operator*(complex a, complex b) {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im, a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend RTCG_CPLX complex operator*(complex a, T b) { return complex(a._M_re * b, a._M_im * b); }
    friend RTCG_CPLX complex operator*(T a, complex b) { return complex(a * b._M_re, a * b._M_im); }
    // Division after R. L. Smith (Algorithm 116, CACM 1962): no overflow in the squared norm.
    friend RTCG_CPLX complex operator/(complex a, complex b) {
        if (complex_detail::r_fabs(b._M_re) >= complex_detail::r_fabs(b._M_im)) {
            if (b._M_re == T(0) && b._M_im == T(0)) {
                T zero = complex_detail::r_fabs(b._M_re);
                return complex(a._M_re / zero, a._M_im / zero);
            }
            T ratio = b._M_im / b._M_re;
            T scale = b._M_re + b._M_im * ratio;
            return complex((a._M_re + a._M_im * ratio) / scale, (a._M_im - a._M_re * ratio) / scale);
        }
        T ratio = b._M_re / b._M_im;
        T scale = b._M_re * ratio + b._M_im;
        return complex((a._M_re * ratio + a._M_im) / scale, (a._M_im * ratio - a._M_re) / scale);
    }
    friend RTCG_CPLX complex operator/(complex a, T b) { return complex(a._M_re / b, a._M_im / b); }
    friend RTCG_CPLX complex operator/(T a, complex b) { return complex(a) / b; }

    friend RTCG_CPLX complex operator+(complex a) { return a; }
    friend RTCG_CPLX complex operator-(complex a) { return complex(-a._M_re, -a._M_im); }

    friend RTCG_CPLX bool operator==(complex a, complex b) {
        return a._M_re == b._M_re && a._M_im == b._M_im;
    }
    friend RTCG_CPLX bool operator==(complex a, T b) { return a._M_re == b && a._M_im == T(); }
    friend RTCG_CPLX bool operator==(T a, complex b) { return b == a; }
    friend RTCG_CPLX bool operator!=(complex a, complex b) { return !(a == b); }
    friend RTCG_CPLX bool operator!=(complex a, T b) { return !(a == b); }
    friend RTCG_CPLX bool operator!=(T a, complex b) { return !(b == a); }

#define RTCG_COMPOUND(op) \
    template <class U> RTCG_CPLX_MEMBER complex &operator op##=(const U &b) { return *this = *this op b; } \
    template <class U> RTCG_CPLX_MEMBER void operator op##=(const U &b) volatile { *this = complex(*this) op b; }
    RTCG_COMPOUND(+) RTCG_COMPOUND(-) RTCG_COMPOUND(*) RTCG_COMPOUND(/)
#undef RTCG_COMPOUND
};

template <class T> RTCG_CPLX T real(complex<T> z) { return z._M_re; }
template <class T> RTCG_CPLX T imag(complex<T> z) { return z._M_im; }
template <class T> RTCG_CPLX T norm(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    return x * x + y * y;
}
template <class T> RTCG_CPLX T abs(complex<T> z) { return complex_detail::r_hypot(z._M_re, z._M_im); }
template <class T> RTCG_CPLX T fabs(complex<T> z) { return abs(z); }
template <class T> RTCG_CPLX T arg(complex<T> z) { return complex_detail::r_atan2(z._M_im, z._M_re); }
template <class T> RTCG_CPLX complex<T> conj(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    return complex<T>(x, -y);
}
template <class T> RTCG_CPLX complex<T> polar(T rho, T theta) {
    return complex<T>(rho * complex_detail::r_cos(theta), rho * complex_detail::r_sin(theta));
}
template <class T> RTCG_CPLX complex<T> polar(T rho) { return complex<T>(rho, T()); }

// Infinite parts and NaN give what annex G of C99 says, here and in the functions below.
template <class T> RTCG_CPLX complex<T> sqrt(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    if (x == T(0) && y == T(0)) return complex<T>(T(0), y);
    if (is_inf(y)) return complex<T>(r_fabs(y), y);
    if (is_inf(x)) {
        T still = y - y;
        return x > T(0) ? complex<T>(x, r_copysign(still, y)) : complex<T>(r_fabs(still), r_copysign(x, y));
    }
    // Half of (|z| + |x|), taken so that neither the sum nor the modulus leaves the range.
    T scale = r_fabs(x) > r_fabs(y) ? r_fabs(x) : r_fabs(y);
    T root;
    if (scale > T(1e30) || scale < T(1e-30)) {
        T xs = x / scale, ys = y / scale;
        root = r_sqrt(scale) * r_sqrt((r_hypot(xs, ys) + r_fabs(xs)) * T(0.5));
    } else {
        root = r_sqrt((r_hypot(x, y) + r_fabs(x)) * T(0.5));
    }
    T other = y / (T(2) * root);
    if (x >= T(0)) return complex<T>(root, other);
    return complex<T>(r_fabs(other), r_copysign(root, y));
}
template <class T> RTCG_CPLX complex<T> exp(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    T e = r_exp(x);
    if (y == T(0)) return complex<T>(e, y);
    if (is_inf(x) && is_special(y)) return x < T(0) ? complex<T>(T(0), r_copysign(T(0), y)) : complex<T>(x, y - y);
    return complex<T>(e * r_cos(y), e * r_sin(y));
}
// The logarithm of the modulus. Near 1 the squares are summed with their rounding errors.
template <class T> RTCG_CPLX T log_abs(T x, T y) {
    using namespace complex_detail;
    x = r_fabs(x);
    y = r_fabs(y);
    T a = x > y ? x : y, b = x > y ? y : x;
    T p = r_mul(a, a), q = r_mul(b, b), sum = p + q;
    if (!(sum > T(0.5) && sum < T(3))) return r_log(r_hypot(x, y));
    T rest = r_fma(a, a, -p) + r_fma(b, b, -q);
    T less_one = p < T(0.7) ? (p - T(0.5)) + (q - T(0.5)) : (p - T(1)) + q;
    return T(0.5) * r_log1p(less_one + rest);
}
template <class T> RTCG_CPLX complex<T> log(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    return complex<T>(log_abs(x, y), complex_detail::r_atan2(y, x));
}
template <class T> RTCG_CPLX complex<T> log10(complex<T> z) {
    return log(z) * T(0.43429448190325182765);
}
template <class T> RTCG_CPLX complex<T> sinh(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    if (y == T(0)) return complex<T>(r_sinh(x), y);
    if (is_special(y) && x == T(0)) return complex<T>(x, y - y);
    if (is_special(y) && is_inf(x)) return complex<T>(r_fabs(x), y - y);
    return complex<T>(r_sinh(x) * r_cos(y), r_cosh(x) * r_sin(y));
}
template <class T> RTCG_CPLX complex<T> cosh(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    if (y == T(0)) return complex<T>(r_cosh(x), is_nan(x) ? y : r_copysign(T(1), x) * y);
    if (is_special(y) && x == T(0)) return complex<T>(y - y, T(0));
    if (is_special(y) && is_inf(x)) return complex<T>(r_fabs(x), y - y);
    return complex<T>(r_cosh(x) * r_cos(y), r_sinh(x) * r_sin(y));
}
// The circular functions are the hyperbolic ones of i z.
template <class T> RTCG_CPLX complex<T> sin(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    if (is_special(x) && is_inf(y)) return complex<T>(x - x, r_fabs(y));
    complex<T> t = sinh(complex<T>(-y, x));
    return complex<T>(t._M_im, -t._M_re);
}
template <class T> RTCG_CPLX complex<T> cos(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    return cosh(complex<T>(-y, x));
}
// After W. Kahan, "Branch cuts for complex elementary functions" (1987): no quotient of two huge numbers.
template <class T> RTCG_CPLX complex<T> tanh(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im;
    if (is_special(y) && x == T(0)) return complex<T>(x, y - y);
    if (y == T(0) && is_nan(x)) return z;
    if (r_fabs(x) > T(20)) {
        if (is_special(y)) {
            return is_inf(x) ? complex<T>(r_copysign(T(1), x), r_copysign(T(0), y)) : complex<T>(y - y, y - y);
        }
        T e = r_exp(-T(2) * r_fabs(x));
        return complex<T>(r_copysign(T(1), x), T(4) * r_sin(y) * r_cos(y) * e);
    }
    T t = r_sin(y) / r_cos(y);
    T beta = T(1) + t * t;
    T s = r_sinh(x);
    T rho = r_sqrt(T(1) + s * s);
    T denominator = T(1) + beta * s * s;
    return complex<T>(beta * rho * s / denominator, t / denominator);
}
template <class T> RTCG_CPLX complex<T> tan(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    complex<T> t = tanh(complex<T>(-y, x));
    return complex<T>(t._M_im, -t._M_re);
}
// After T. Hull, T. Fairgrieve and P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using
// exception handling" (ACM TOMS 23, 1997): for x, y >= 0, the arcsine's or arccosine's real part and the imaginary
// part they share up to its sign.
namespace complex_detail {
template <class T> RTCG_CPLX void arc(T x, T y, bool cosine, T &re, T &im) {
    const T half_pi = T(1.57079632679489661923);
    const T tiny = sizeof(T) == 4 ? T(1e-18) : T(1e-150), huge = sizeof(T) == 4 ? T(1e17) : T(1e150);
    if (x > huge || y > huge) {
        re = cosine ? r_atan2(y, x) : r_atan2(x, y);
        im = x > y ? x : y;
        if (is_inf(im)) return;
        im = T(0.69314718055994530942) + r_log(x > y ? x : y) + T(0.5) * r_log1p(x > y ? (y / x) * (y / x) : (x / y) * (x / y));
        return;
    }
    if (y < tiny) {
        T angle = x <= T(1) ? (cosine ? r_acos(x) : r_asin(x)) : (cosine ? T(0) : half_pi);
        if (x < T(1)) im = y / r_sqrt((T(1) - x) * (T(1) + x));
        else im = x == T(1) ? r_sqrt(y) : r_log1p((x - T(1)) + r_sqrt((x - T(1)) * (x + T(1))));
        if (cosine && x >= T(1)) angle = x == T(1) ? r_sqrt(y) : y / r_sqrt((x - T(1)) * (x + T(1)));
        re = angle;
        return;
    }
    T r = r_hypot(x + T(1), y), s = r_hypot(x - T(1), y), a = T(0.5) * (r + s), b = x / a, yy = y * y;
    if (b <= T(0.6417)) {
        re = cosine ? r_acos(b) : r_asin(b);
    } else {
        T apx = a + x;
        T opposite = x <= T(1) ? r_sqrt(T(0.5) * apx * (yy / (r + x + T(1)) + (s + (T(1) - x))))
                               : y * r_sqrt(T(0.5) * (apx / (r + x + T(1)) + apx / (s + (x - T(1)))));
        re = cosine ? r_atan2(opposite, x) : r_atan2(x, opposite);
    }
    if (a <= T(1.5)) {
        T am1 = T(0.5) * (yy / (r + (x + T(1))) + (x < T(1) ? yy / (s + (T(1) - x)) : s + (x - T(1))));
        im = r_log1p(am1 + r_sqrt(am1 * (a + T(1))));
    } else {
        im = r_log(a + r_sqrt(a * a - T(1)));
    }
}
}  // namespace complex_detail

template <class T> RTCG_CPLX complex<T> asin(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im, re, im;
    if (is_nan(x) || is_nan(y)) {
        if (is_inf(x)) return complex<T>(y, r_fabs(x));
        return complex<T>(x == T(0) ? x : x + y, is_inf(y) ? y : x + y);
    }
    arc(r_fabs(x), r_fabs(y), false, re, im);
    return complex<T>(r_copysign(re, x), r_copysign(im, y));
}
template <class T> RTCG_CPLX complex<T> acos(complex<T> z) {
    using namespace complex_detail;
    T x = z._M_re, y = z._M_im, re, im;
    if (is_nan(x) || is_nan(y)) {
        if (is_inf(x)) return complex<T>(y, -r_fabs(x));
        return complex<T>(x == T(0) ? T(1.57079632679489661923) : x + y, is_inf(y) ? -y : x + y);
    }
    arc(r_fabs(x), r_fabs(y), true, re, im);
    if (r_copysign(T(1), x) < T(0)) re = T(3.14159265358979323846) - re;
    return complex<T>(re, -r_copysign(im, y));
}
template <class T> RTCG_CPLX complex<T> asinh(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    complex<T> t = asin(complex<T>(-y, x));
    return complex<T>(t._M_im, -t._M_re);
}
template <class T> RTCG_CPLX complex<T> acosh(complex<T> z) {
    using namespace complex_detail;
    T y = z._M_im;
    complex<T> t = acos(z);
    if (is_nan(t._M_im)) return complex<T>(t._M_im, t._M_re);
    return complex<T>(r_fabs(t._M_im), is_nan(t._M_re) ? t._M_re : r_copysign(t._M_re, y));
}
template <class T> RTCG_CPLX complex<T> atanh(complex<T> z) {
    using namespace complex_detail;
    T x = r_fabs(z._M_re), y = z._M_im, re;
    if (is_nan(x) || is_nan(y)) {
        if (is_inf(y)) return complex<T>(r_copysign(T(0), z._M_re), r_copysign(T(1.57079632679489661923), y));
        return complex<T>(x == T(0) || is_inf(x) ? r_copysign(T(0), z._M_re) : x + y, x + y);
    }
    const T huge = sizeof(T) == 4 ? T(1e17) : T(1e150);
    if (x > huge || r_fabs(y) > huge) {
        T h = r_hypot(x, y), part = is_inf(h) ? T(0) : x / h / h;
        return complex<T>(r_copysign(part, z._M_re), r_copysign(T(1.57079632679489661923), y));
    }
    re = T(0.25) * r_log1p(T(4) * x / ((T(1) - x) * (T(1) - x) + y * y));
    return complex<T>(r_copysign(re, z._M_re), T(0.5) * r_atan2(T(2) * y, (T(1) - x) * (T(1) + x) - y * y));
}
template <class T> RTCG_CPLX complex<T> atan(complex<T> z) {
    T x = z._M_re, y = z._M_im;
    complex<T> t = atanh(complex<T>(y, -x));
    return complex<T>(-t._M_im, t._M_re);
}

// Powers have NumPy's special values: anything to the power of 0 is 1; those of 0 are 0 where the exponent's real part is
// positive, else no numbers.
namespace complex_detail {
template <class T> RTCG_CPLX bool is_zero(complex<T> z) { return z._M_re == T(0) && z._M_im == T(0); }
template <class T> RTCG_CPLX complex<T> no_number() { return complex<T>(T(0) / T(0), T(0) / T(0)); }
// A part of an infinite factor: 1 for an infinity, 0 for anything else, with its sign.
template <class T> RTCG_CPLX T direction(T x) { return r_copysign(is_inf(x) ? T(1) : T(0), x); }
template <class T> RTCG_CPLX T zero_for_nan(T x) { return is_nan(x) ? r_copysign(T(0), x) : x; }
// The product after annex G of C99: one infinite part makes a factor infinite, whatever the other part is.
template <class T> RTCG_CPLX complex<T> annex_g_product(complex<T> z, complex<T> w) {
    T a = z._M_re, b = z._M_im, c = w._M_re, d = w._M_im;
    T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    complex<T> product(ac - bd, ad + bc);
    if (!is_nan(product._M_re) || !is_nan(product._M_im)) return product;
    bool first = is_inf(a) || is_inf(b), second = is_inf(c) || is_inf(d);
    bool overflows = is_inf(ac) || is_inf(bd) || is_inf(ad) || is_inf(bc);
    if (!first && !second && !overflows) return product;
    if (first) { a = direction(a); b = direction(b); }
    if (second) { c = direction(c); d = direction(d); }
    a = zero_for_nan(a); b = zero_for_nan(b); c = zero_for_nan(c); d = zero_for_nan(d);
    const T inf = T(1) / T(0);
    return complex<T>(inf * (a * c - b * d), inf * (a * d + b * c));
}
template <class T> RTCG_CPLX complex<T> power(complex<T> base, long long n) {
    if (n < 0 && is_zero(base)) return no_number<T>();
    if (n == 1) return base;
    if (n == 2) return base * base;
    if (n == 3) return base * (base * base);
    unsigned long long count = n < 0 ? 0ull - static_cast<unsigned long long>(n) : static_cast<unsigned long long>(n);
    complex<T> result(T(1));
    for (; count; count >>= 1) {
        if (count & 1) result = result * base;
        base = base * base;
    }
    return n < 0 ? T(1) / result : result;
}
template <class T> RTCG_CPLX complex<T> power(complex<T> base, T exponent) {
    if (exponent == T(0)) return complex<T>(T(1));
    if (is_zero(base)) return exponent > T(0) ? complex<T>() : no_number<T>();
    if (base._M_im == T(0) && base._M_re > T(0)) return complex<T>(r_pow(base._M_re, exponent));
    complex<T> t = log(base);
    return polar(r_exp(exponent * t._M_re), exponent * t._M_im);
}
template <bool Integer> struct power_by { template <class T, class U> static RTCG_CPLX_MEMBER complex<T> run(const complex<T> &b, U e) { return power(b, static_cast<T>(e)); } };
template <> struct power_by<true> { template <class T, class U> static RTCG_CPLX_MEMBER complex<T> run(const complex<T> &b, U e) { return power(b, static_cast<long long>(e)); } };
}  // namespace complex_detail

template <class T, class U>
RTCG_CPLX typename complex_detail::enable<complex_detail::is_real<U>::value, complex<T> >::type
pow(complex<T> base, U exponent) {
    return complex_detail::power_by<complex_detail::is_integer<U>::value>::run(base, exponent);
}
template <class T> RTCG_CPLX complex<T> pow(complex<T> base, complex<T> exponent) {
    using namespace complex_detail;
    T x = exponent._M_re, y = exponent._M_im;
    if (is_zero(exponent)) return complex<T>(T(1));
    if (is_zero(base)) return x > T(0) ? complex<T>() : no_number<T>();
    if (y == T(0) && r_fabs(x) < T(100) && x == static_cast<T>(static_cast<int>(x))) return power(base, static_cast<long long>(x));
    return exp(annex_g_product(exponent, log(base)));
}
template <class T> RTCG_CPLX complex<T> pow(typename complex_detail::same_type<T>::type base, complex<T> exponent) {
    using namespace complex_detail;
    if (base > T(0) && !is_inf(base)) return polar(r_pow(base, exponent._M_re), exponent._M_im * r_log(base));
    return pow(complex<T>(base), exponent);
}

}  // namespace pycuda
}  // extern "C++"

#undef RTCG_CPLX
#undef RTCG_CPLX_MEMBER
#endif
