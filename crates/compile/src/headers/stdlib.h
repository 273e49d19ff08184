#ifndef RTCG_STDLIB_H
#define RTCG_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
extern "C++" {
namespace std { using ::malloc; using ::free; using ::abs; using ::labs; using ::llabs; }
}
#endif
