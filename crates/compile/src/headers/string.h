#ifndef RTCG_STRING_H
#define RTCG_STRING_H
#include <stddef.h>
#include <rtcg-strlen.h>
extern "C++" {
namespace rtcg_string {
__device__ inline int strncmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        unsigned char x = a[i], y = b[i];
        if (x != y) return x < y ? -1 : 1;
        if (!x) break;
    }
    return 0;
}
__device__ inline int strcmp(const char *a, const char *b) { return strncmp(a, b, ~size_t(0)); }
__device__ inline char *strcpy(char *to, const char *from) {
    size_t i = 0;
    do to[i] = from[i]; while (from[i++]);
    return to;
}
__device__ inline int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (size_t i = 0; i < n; ++i) if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}
__device__ inline void *memmove(void *to, const void *from, size_t n) {
    unsigned char *t = (unsigned char *)to; const unsigned char *f = (const unsigned char *)from;
    if (t < f) for (size_t i = 0; i < n; ++i) t[i] = f[i];
    else for (size_t i = n; i-- > 0;) t[i] = f[i];
    return to;
}
}
using rtcg_string::strncmp; using rtcg_string::strcmp;
using rtcg_string::strcpy; using rtcg_string::memcmp; using rtcg_string::memmove;
namespace std {
using ::memcpy; using ::memset; using ::strlen; using ::strcmp; using ::strncmp; using ::strcpy;
using ::memcmp; using ::memmove;
}
}
#endif
