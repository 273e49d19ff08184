// `printf` is a device built-in. Files do not exist on a device.
#ifndef RTCG_STDIO_H
#define RTCG_STDIO_H
#include <stddef.h>
#ifndef EOF
#define EOF (-1)
#endif
extern "C++" { namespace std { using ::printf; } }
#endif
