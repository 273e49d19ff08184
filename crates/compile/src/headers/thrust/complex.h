// thrust/complex.h for device code: the toolkit's needs streams of the host's library, which NVRTC does not have.
//
// Complex numbers as Thrust documents them: arithmetic of unlike types has their common type. Functions are those of
// cuda::std::complex. There is no input and output.
#ifndef RTCG_THRUST_COMPLEX_H
#define RTCG_THRUST_COMPLEX_H

extern "C++" {
#include <cuda/std/complex>
#include <cuda/std/type_traits>

#define RTCG_THRUST __host__ __device__ inline

namespace thrust {

template <typename T> struct complex;

namespace rtcg_detail {
template <typename T> struct is_complex { static const bool value = false; };
template <typename T> struct is_complex<complex<T>> { static const bool value = true; };
// The common type of a complex number's part and a scalar; none for what is no scalar.
template <typename T, typename U, bool = !is_complex<U>::value && ::cuda::std::is_arithmetic<U>::value> struct scalar {};
template <typename T, typename U> struct scalar<T, U, true> { typedef ::cuda::std::common_type_t<T, U> type; };
} // namespace rtcg_detail

template <typename T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;

    complex() = default;
    complex(const complex &) = default;
    complex &operator=(const complex &) = default;
    __host__ __device__ constexpr complex(const T &re) : re_(re), im_(T()) {}
    __host__ __device__ constexpr complex(const T &re, const T &im) : re_(re), im_(im) {}
    template <typename U>
    __host__ __device__ constexpr complex(const complex<U> &z) : re_(T(z.real())), im_(T(z.imag())) {}
    template <typename U>
    __host__ __device__ complex(const ::cuda::std::complex<U> &z) : re_(T(z.real())), im_(T(z.imag())) {}

    __host__ __device__ complex &operator=(const T &re) { re_ = re; im_ = T(); return *this; }
    template <typename U> __host__ __device__ complex &operator=(const complex<U> &z)
    {
        re_ = T(z.real());
        im_ = T(z.imag());
        return *this;
    }

    __host__ __device__ constexpr T real() const { return re_; }
    __host__ __device__ constexpr T imag() const { return im_; }
    __host__ __device__ T real() const volatile { return re_; }
    __host__ __device__ T imag() const volatile { return im_; }
    __host__ __device__ void real(T re) { re_ = re; }
    __host__ __device__ void imag(T im) { im_ = im; }
    __host__ __device__ void real(T re) volatile { re_ = re; }
    __host__ __device__ void imag(T im) volatile { im_ = im; }

    __host__ __device__ operator ::cuda::std::complex<T>() const { return ::cuda::std::complex<T>(re_, im_); }

#define RTCG_THRUST_ASSIGN(op) \
    template <typename U> __host__ __device__ complex &operator op##=(const complex<U> &z) { return *this = *this op z; } \
    template <typename U> __host__ __device__ complex &operator op##=(const U &z) { return *this = *this op z; }
    RTCG_THRUST_ASSIGN(+) RTCG_THRUST_ASSIGN(-) RTCG_THRUST_ASSIGN(*) RTCG_THRUST_ASSIGN(/)
#undef RTCG_THRUST_ASSIGN

private:
    T re_, im_;
};

namespace rtcg_detail {
template <typename T> RTCG_THRUST ::cuda::std::complex<T> to_std(const complex<T> &z)
{
    return ::cuda::std::complex<T>(z.real(), z.imag());
}
template <typename R, typename T> RTCG_THRUST ::cuda::std::complex<R> to_std_of(const complex<T> &z)
{
    return ::cuda::std::complex<R>(R(z.real()), R(z.imag()));
}
} // namespace rtcg_detail

// Arithmetic.

template <typename T> RTCG_THRUST complex<T> operator+(const complex<T> &z) { return z; }
template <typename T> RTCG_THRUST complex<T> operator-(const complex<T> &z) { return complex<T>(-z.real(), -z.imag()); }

#define RTCG_THRUST_BOTH(op) \
    template <typename T, typename U> \
    RTCG_THRUST complex<::cuda::std::common_type_t<T, U>> operator op(const complex<T> &x, const complex<U> &y) \
    { \
        typedef ::cuda::std::common_type_t<T, U> R; \
        return complex<R>(rtcg_detail::to_std_of<R>(x) op rtcg_detail::to_std_of<R>(y)); \
    }
RTCG_THRUST_BOTH(*) RTCG_THRUST_BOTH(/)
#undef RTCG_THRUST_BOTH

#define RTCG_THRUST_PARTS(op) \
    template <typename T, typename U> \
    RTCG_THRUST complex<::cuda::std::common_type_t<T, U>> operator op(const complex<T> &x, const complex<U> &y) \
    { \
        typedef ::cuda::std::common_type_t<T, U> R; \
        return complex<R>(R(x.real()) op R(y.real()), R(x.imag()) op R(y.imag())); \
    } \
    template <typename T, typename U> \
    RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator op(const complex<T> &x, const U &y) \
    { \
        typedef typename rtcg_detail::scalar<T, U>::type R; \
        return complex<R>(R(x.real()) op R(y), R(x.imag())); \
    }
RTCG_THRUST_PARTS(+) RTCG_THRUST_PARTS(-)
#undef RTCG_THRUST_PARTS

template <typename U, typename T>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator+(const U &x, const complex<T> &y)
{
    return y + x;
}
template <typename U, typename T>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator-(const U &x, const complex<T> &y)
{
    typedef typename rtcg_detail::scalar<T, U>::type R;
    return complex<R>(R(x) - R(y.real()), -R(y.imag()));
}
template <typename T, typename U>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator*(const complex<T> &x, const U &y)
{
    typedef typename rtcg_detail::scalar<T, U>::type R;
    return complex<R>(R(x.real()) * R(y), R(x.imag()) * R(y));
}
template <typename U, typename T>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator*(const U &x, const complex<T> &y)
{
    return y * x;
}
template <typename T, typename U>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator/(const complex<T> &x, const U &y)
{
    typedef typename rtcg_detail::scalar<T, U>::type R;
    return complex<R>(R(x.real()) / R(y), R(x.imag()) / R(y));
}
template <typename U, typename T>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> operator/(const U &x, const complex<T> &y)
{
    typedef typename rtcg_detail::scalar<T, U>::type R;
    return complex<R>(R(x)) / complex<R>(y);
}

template <typename T, typename U> RTCG_THRUST bool operator==(const complex<T> &x, const complex<U> &y)
{
    return x.real() == y.real() && x.imag() == y.imag();
}
template <typename T, typename U, typename = typename rtcg_detail::scalar<T, U>::type>
RTCG_THRUST bool operator==(const complex<T> &x, const U &y)
{
    return x.real() == y && x.imag() == T();
}
template <typename U, typename T, typename = typename rtcg_detail::scalar<T, U>::type>
RTCG_THRUST bool operator==(const U &x, const complex<T> &y)
{
    return y == x;
}
template <typename T, typename U> RTCG_THRUST bool operator!=(const complex<T> &x, const complex<U> &y)
{
    return !(x == y);
}
template <typename T, typename U, typename = typename rtcg_detail::scalar<T, U>::type>
RTCG_THRUST bool operator!=(const complex<T> &x, const U &y)
{
    return !(x == y);
}
template <typename U, typename T, typename = typename rtcg_detail::scalar<T, U>::type>
RTCG_THRUST bool operator!=(const U &x, const complex<T> &y)
{
    return !(y == x);
}

// Functions.

#define RTCG_THRUST_REAL(name) \
    template <typename T> RTCG_THRUST T name(const complex<T> &z) { return ::cuda::std::name(rtcg_detail::to_std(z)); }
RTCG_THRUST_REAL(abs) RTCG_THRUST_REAL(arg) RTCG_THRUST_REAL(norm)
#undef RTCG_THRUST_REAL

#define RTCG_THRUST_COMPLEX(name) \
    template <typename T> RTCG_THRUST complex<T> name(const complex<T> &z) \
    { \
        return complex<T>(::cuda::std::name(rtcg_detail::to_std(z))); \
    }
RTCG_THRUST_COMPLEX(conj) RTCG_THRUST_COMPLEX(proj) RTCG_THRUST_COMPLEX(exp) RTCG_THRUST_COMPLEX(log)
RTCG_THRUST_COMPLEX(log10) RTCG_THRUST_COMPLEX(sqrt) RTCG_THRUST_COMPLEX(cos) RTCG_THRUST_COMPLEX(cosh)
RTCG_THRUST_COMPLEX(sin) RTCG_THRUST_COMPLEX(sinh) RTCG_THRUST_COMPLEX(tan) RTCG_THRUST_COMPLEX(tanh)
RTCG_THRUST_COMPLEX(acos) RTCG_THRUST_COMPLEX(acosh) RTCG_THRUST_COMPLEX(asin) RTCG_THRUST_COMPLEX(asinh)
RTCG_THRUST_COMPLEX(atan) RTCG_THRUST_COMPLEX(atanh)
#undef RTCG_THRUST_COMPLEX

template <typename T, typename U>
RTCG_THRUST complex<::cuda::std::common_type_t<T, U>> polar(const T &m, const U &theta)
{
    typedef ::cuda::std::common_type_t<T, U> R;
    return complex<R>(R(m) * ::cuda::std::cos(R(theta)), R(m) * ::cuda::std::sin(R(theta)));
}
template <typename T> RTCG_THRUST complex<T> polar(const T &m) { return complex<T>(m); }

template <typename T, typename U>
RTCG_THRUST complex<::cuda::std::common_type_t<T, U>> pow(const complex<T> &x, const complex<U> &y)
{
    typedef ::cuda::std::common_type_t<T, U> R;
    return complex<R>(::cuda::std::pow(rtcg_detail::to_std_of<R>(x), rtcg_detail::to_std_of<R>(y)));
}
template <typename T, typename U>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> pow(const complex<T> &x, const U &y)
{
    return thrust::pow(x, complex<typename rtcg_detail::scalar<T, U>::type>(y));
}
template <typename U, typename T>
RTCG_THRUST complex<typename rtcg_detail::scalar<T, U>::type> pow(const U &x, const complex<T> &y)
{
    return thrust::pow(complex<typename rtcg_detail::scalar<T, U>::type>(x), y);
}

} // namespace thrust

#undef RTCG_THRUST
}
#endif
