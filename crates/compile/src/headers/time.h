#ifndef RTCG_TIME_H
#define RTCG_TIME_H
#include <stddef.h>
extern "C++" { namespace std { using ::clock_t; using ::clock; } }
#endif
