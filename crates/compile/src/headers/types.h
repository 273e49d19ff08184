#ifndef RTCG_SYS_TYPES_H
#define RTCG_SYS_TYPES_H
#include <stdint.h>
extern "C++" {
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
}
#endif
