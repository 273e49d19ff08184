// `pow` of any two numbers that CUDA has no overload for, such as two integers: as in C++ of doubles.
#ifndef RTCG_POW_H
#define RTCG_POW_H
extern "C++" {
namespace rtcg_pow {
template <class T> struct number {};
#define RTCG_NUMBER(T) template <> struct number<T> { typedef double type; };
RTCG_NUMBER(bool) RTCG_NUMBER(char) RTCG_NUMBER(signed char) RTCG_NUMBER(unsigned char)
RTCG_NUMBER(short) RTCG_NUMBER(unsigned short) RTCG_NUMBER(int) RTCG_NUMBER(unsigned int)
RTCG_NUMBER(long) RTCG_NUMBER(unsigned long) RTCG_NUMBER(long long) RTCG_NUMBER(unsigned long long)
RTCG_NUMBER(float) RTCG_NUMBER(double)
#undef RTCG_NUMBER
}
template <class T, class U, class A = typename rtcg_pow::number<T>::type, class B = typename rtcg_pow::number<U>::type>
static __device__ __forceinline__ A pow(T x, U y) { return pow((A)x, (B)y); }
}
#endif
