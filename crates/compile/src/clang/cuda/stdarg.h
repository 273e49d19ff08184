// Functions with any number of arguments. clang passes the arguments in one buffer, each at its natural alignment, and
// has no va_arg for the device: the next argument is found here.
#pragma once

typedef __builtin_va_list va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_end(list) __builtin_va_end(list)
#define va_copy(to, from) ((to) = (from))
#define va_arg(list, ...) (*(__VA_ARGS__ *)__rtcg_next_argument((char *&)(list), sizeof(__VA_ARGS__), alignof(__VA_ARGS__)))

RTCG_DEVICE char *__rtcg_next_argument(char *&list, size_t size, size_t alignment) {
    char *argument = (char *)(((size_t)list + alignment - 1) & ~(alignment - 1));
    list = argument + size;
    return argument;
}
