// The library functions that a device has: output, assertions, memory.
//
// Sources: CUDA C++ Programming Guide 13.0 (sections "Formatted Output", "Assertion", "Dynamic Global Memory Allocation",
// "Memory copy functions"), Itanium C++ ABI. clang makes calls of `vprintf` from calls of `printf`.
#pragma once

// For the host too: so are a program's own declarations of these (the pragma at the prelude's end). And so clang knows the functions of
// memory, and makes moves or loops of them that use the alignment of the arguments.
extern "C" {
__host__ __device__ int printf(const char *, ...);
__host__ __device__ void *malloc(size_t);
__host__ __device__ void free(void *);
__host__ __device__ void *memcpy(void *, const void *, size_t);
__host__ __device__ void *memset(void *, int, size_t);
__host__ __device__ __attribute__((noreturn)) void __assertfail(const char *text, const char *file, unsigned line, const char *function, size_t char_size);
}
RTCG_DEVICE void __assert_fail(const char *text, const char *file, unsigned line, const char *function) { __assertfail(text, file, line, function, 1); }
// `NDEBUG` may come after the prelude, so that its value chooses where `assert` is used: none, empty, 0 or 1.
#define RTCG_ASSERT_NDEBUG(text, ...) ((__VA_ARGS__) ? (void)0 : __assert_fail(text, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#define RTCG_ASSERT_(text, ...) ((void)0)
#define RTCG_ASSERT_0(text, ...) ((void)0)
#define RTCG_ASSERT_1(text, ...) ((void)0)
#define RTCG_ASSERT_BY(value) RTCG_ASSERT_##value
#define RTCG_ASSERT(value) RTCG_ASSERT_BY(value)
#define assert(...) RTCG_ASSERT(NDEBUG)(#__VA_ARGS__, __VA_ARGS__)

// In bits. LLVM 20 writes an alignment of 0, which is none, for the one that the stack has anyway.
#define alloca(bytes) __builtin_alloca_with_align(bytes, 128)

extern "C++" {

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t { explicit nothrow_t() = default; };
constexpr nothrow_t nothrow{};
}
// Where memory of `malloc` is not aligned enough, the place before the object holds its beginning.
__device__ inline void *__rtcg_new_aligned(size_t bytes, size_t alignment) {
    char *const begin = (char *)malloc(bytes + alignment + sizeof(void *));
    if (!begin) return nullptr;
    void **const p = (void **)(((size_t)begin + sizeof(void *) + alignment - 1) & ~(alignment - 1));
    p[-1] = begin;
    return p;
}
__device__ inline void __rtcg_delete_aligned(void *p) {
    if (p) free(((void **)p)[-1]);
}
#define RTCG_NEW_AND_DELETE(brackets) \
    __device__ inline void *operator new brackets(size_t bytes) { return malloc(bytes); } \
    __device__ inline void *operator new brackets(size_t bytes, const std::nothrow_t &) noexcept { return malloc(bytes); } \
    __device__ inline void *operator new brackets(size_t bytes, std::align_val_t alignment) { return __rtcg_new_aligned(bytes, (size_t)alignment); } \
    __device__ inline void *operator new brackets(size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept { \
        return __rtcg_new_aligned(bytes, (size_t)alignment); \
    } \
    __host__ __device__ inline void *operator new brackets(size_t, void *p) noexcept { return p; } \
    __device__ inline void operator delete brackets(void *p) noexcept { free(p); } \
    __device__ inline void operator delete brackets(void *p, size_t) noexcept { free(p); } \
    __device__ inline void operator delete brackets(void *p, const std::nothrow_t &) noexcept { free(p); } \
    __device__ inline void operator delete brackets(void *p, std::align_val_t) noexcept { __rtcg_delete_aligned(p); } \
    __device__ inline void operator delete brackets(void *p, size_t, std::align_val_t) noexcept { __rtcg_delete_aligned(p); } \
    __device__ inline void operator delete brackets(void *p, std::align_val_t, const std::nothrow_t &) noexcept { __rtcg_delete_aligned(p); } \
    __host__ __device__ inline void operator delete brackets(void *, void *) noexcept {}
RTCG_NEW_AND_DELETE()
RTCG_NEW_AND_DELETE([])
#undef RTCG_NEW_AND_DELETE
}
