#ifndef RTCG_STRLEN_H
#define RTCG_STRLEN_H
extern "C++" {
namespace rtcg_string {
__device__ inline size_t strlen(const char *s) { size_t n = 0; while (s[n]) ++n; return n; }
}
using rtcg_string::strlen;
}
#endif
