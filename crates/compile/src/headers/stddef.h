#ifndef RTCG_STDDEF_H
#define RTCG_STDDEF_H
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
extern "C++" {

namespace std {
using ::size_t;
using ::ptrdiff_t;
}
}
#endif
