// Copies from global to shared memory that go on by themselves, and the barriers in shared memory that count them.
//
// Source: PTX ISA 8.8 (cp.async, mbarrier). Where the device has neither (before compute capability 8.0), copies are done at
// once and there are no barriers.
#pragma once
#pragma clang system_header

extern "C++" {
namespace __rtcg_async {

// The address within shared memory.
RTCG_DEVICE unsigned shared(const volatile void *pointer) {
    return (unsigned)(size_t)(const __attribute__((address_space(3))) char *)pointer;
}
RTCG_DEVICE size_t global(const volatile void *pointer) { return (size_t)(const __attribute__((address_space(1))) char *)pointer; }

#if __CUDA_ARCH__ >= 800
// `Size` bytes of which the first `taken` are read and the others are zero.
template <unsigned Size> RTCG_DEVICE void copy(void *to, const void *from, unsigned taken) {
    static_assert(Size == 4 || Size == 8 || Size == 16, "an asynchronous copy has 4, 8 or 16 bytes");
    if (Size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(shared(to)), "l"(global(from)), "r"(taken) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" : : "r"(shared(to)), "l"(global(from)), "n"(Size), "r"(taken) : "memory");
}
template <unsigned Size> RTCG_DEVICE void copy(void *to, const void *from) {
    static_assert(Size == 4 || Size == 8 || Size == 16, "an asynchronous copy has 4, 8 or 16 bytes");
    if (Size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared(to)), "l"(global(from)) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"(shared(to)), "l"(global(from)), "n"(Size) : "memory");
}
RTCG_DEVICE void commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }
RTCG_DEVICE void wait_all() { asm volatile("cp.async.wait_all;" : : : "memory"); }
template <unsigned N> RTCG_DEVICE void wait_prior() { asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory"); }
// The number is part of the instruction; to wait for more is right too.
RTCG_DEVICE void wait_prior(size_t n) {
    switch (n) {
    case 0: return wait_prior<0>();
    case 1: return wait_prior<1>();
    case 2: return wait_prior<2>();
    case 3: return wait_prior<3>();
    case 4: return wait_prior<4>();
    case 5: return wait_prior<5>();
    case 6: return wait_prior<6>();
    case 7: return wait_prior<7>();
    default: return wait_prior<8>();
    }
}
#else
template <unsigned Size> RTCG_DEVICE void copy(void *to, const void *from, unsigned taken = Size) {
    static_assert(Size == 4 || Size == 8 || Size == 16, "an asynchronous copy has 4, 8 or 16 bytes");
    for (unsigned i = 0; i < Size; i++) ((char *)to)[i] = i < taken ? ((const char *)from)[i] : 0;
}
RTCG_DEVICE void commit() {}
RTCG_DEVICE void wait_all() {}
template <unsigned N> RTCG_DEVICE void wait_prior() {}
RTCG_DEVICE void wait_prior(size_t) {}
#endif

// What a thread of a group copies: pieces of `Size` bytes, `threads` apart.
template <unsigned Size> RTCG_DEVICE void copy_share(char *to, const char *from, size_t bytes, unsigned rank, unsigned threads) {
    for (size_t at = (size_t)rank * Size; at < bytes; at += (size_t)threads * Size) copy<Size>(to + at, from + at);
}
struct piece16 { unsigned long long x, y; } __attribute__((aligned(16)));
template <class Piece> RTCG_DEVICE void copy_plain(char *to, const char *from, size_t bytes, unsigned rank, unsigned threads) {
    for (size_t at = (size_t)rank * sizeof(Piece); at < bytes; at += (size_t)threads * sizeof(Piece)) *(Piece *)(to + at) = *(const Piece *)(from + at);
}
// A copy by all threads of a group, as far ahead as alignment allows: `Align` is what the program says of the addresses and
// of the number of bytes, `Pointers` what the type of the addresses says of them.
template <unsigned Align, unsigned Pointers> RTCG_DEVICE void copy_by_group(void *to_, const void *from_, size_t bytes, unsigned rank, unsigned threads) {
    char *to = (char *)to_;
    const char *from = (const char *)from_;
    const unsigned places = (unsigned)(size_t)to | (unsigned)(size_t)from;
    const bool is_16 = Align >= 16 || ((Pointers >= 16 || places % 16 == 0) && bytes % 16 == 0);
    const bool is_8 = Align >= 8 || ((Pointers >= 8 || places % 8 == 0) && bytes % 8 == 0);
    const bool is_4 = Align >= 4 || ((Pointers >= 4 || places % 4 == 0) && bytes % 4 == 0);
    if (__CUDA_ARCH__ >= 800 && is_4 && __isShared(to) && __isGlobal(from)) {
        if (is_16) copy_share<16>(to, from, bytes, rank, threads);
        else if (is_8) copy_share<8>(to, from, bytes, rank, threads);
        else copy_share<4>(to, from, bytes, rank, threads);
    } else if (is_16) copy_plain<piece16>(to, from, bytes, rank, threads);
    else if (is_4) copy_plain<unsigned>(to, from, bytes, rank, threads);
    else copy_plain<unsigned char>(to, from, bytes, rank, threads);
}
template <class T> struct alignment_of { static constexpr unsigned value = alignof(T) >= 16 ? 16 : alignof(T); };
template <> struct alignment_of<void> { static constexpr unsigned value = 1; };

// The alignment that a shape of a copy (a number of bytes) tells.
template <unsigned N> struct number { static constexpr unsigned value = N; };
template <class Shape> RTCG_DEVICE auto alignment(const Shape &) -> number<Shape::align> { return number<Shape::align>(); }
RTCG_DEVICE number<1> alignment(size_t) { return number<1>(); }
}
}
