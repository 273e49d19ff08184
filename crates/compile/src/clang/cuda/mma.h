// `nvcuda::wmma`: matrix products of a warp, by fragments that its lanes hold together.
//
// Sources: CUDA C++ Programming Guide 13.0 ("Warp Matrix Functions"), PTX ISA 8.8 (wmma.load, wmma.store, wmma.mma), clang's
// list of builtins for NVPTX. A fragment holds the registers of PTX in their order.
#pragma once
#pragma clang system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"

extern "C++" {
namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}

// What holds an element, and how many it holds.
template <class T> struct __rtcg_storage { typedef T type; static constexpr int elements = 1; };
template <> struct __rtcg_storage<precision::tf32> { typedef float type; static constexpr int elements = 1; };
template <> struct __rtcg_storage<experimental::precision::u4> { typedef unsigned type; static constexpr int elements = 8; };
template <> struct __rtcg_storage<experimental::precision::s4> { typedef int type; static constexpr int elements = 8; };
template <> struct __rtcg_storage<experimental::precision::b1> { typedef unsigned type; static constexpr int elements = 32; };
template <class Layout> struct __rtcg_is_column { static constexpr int value = 0; };
template <> struct __rtcg_is_column<col_major> { static constexpr int value = 1; };

template <class T, int Registers> struct __rtcg_fragment {
    typedef T element_type;
    typedef typename __rtcg_storage<T>::type storage_element_type;
    enum {
        num_storage_elements = Registers * (sizeof(storage_element_type) < 4 ? 4 / sizeof(storage_element_type) : 1),
        num_elements = num_storage_elements * __rtcg_storage<T>::elements
    };
    __attribute__((aligned(sizeof(storage_element_type) == 8 || Registers % 2 == 0 ? 8 : 4))) storage_element_type x[num_storage_elements];
};
template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

template <typename Use, int m, int n, int k, typename T, typename Layout>
RTCG_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const typename __rtcg_storage<T>::type &value) {
#pragma unroll
    for (int i = 0; i < f.num_storage_elements; i++) f.x[i] = value;
}
// Single precision with 10 bits behind the point, rounded to nearest, ties away from zero.
RTCG_DEVICE float __float_to_tf32(float value) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __builtin_bit_cast(float, bits);
}

// An input: its registers, what its memory is a pointer to, the type of registers, and the builtin that loads.
#define RTCG_INPUT(use, m, n, k, T, registers, memory, word, load) \
    template <typename Layout> class fragment<use, m, n, k, T, Layout> : public __rtcg_fragment<T, registers> {}; \
    template <typename Layout> RTCG_DEVICE void load_matrix_sync(fragment<use, m, n, k, T, Layout> &f, const memory *from, unsigned ldm) { \
        load((word *)f.x, (const word *)from, ldm, __rtcg_is_column<Layout>::value); \
    }
// The smallest types have one layout.
#define RTCG_SMALL_INPUT(use, m, n, k, T, order, column, load) \
    template <> class fragment<use, m, n, k, T, order> : public __rtcg_fragment<T, 1> {}; \
    RTCG_DEVICE void load_matrix_sync(fragment<use, m, n, k, T, order> &f, const void *from, unsigned ldm) { \
        load((int *)f.x, (const int *)from, ldm, column); \
    }
#define RTCG_SUM(m, n, k, T, registers, word, load, store) \
    template <> class fragment<accumulator, m, n, k, T, void> : public __rtcg_fragment<T, registers> {}; \
    RTCG_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T, void> &f, const T *from, unsigned ldm, layout_t layout) { \
        if (layout == mem_row_major) load((word *)f.x, (const word *)from, ldm, 0); \
        else load((word *)f.x, (const word *)from, ldm, 1); \
    } \
    RTCG_DEVICE void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T, void> &f, unsigned ldm, layout_t layout) { \
        if (layout == mem_row_major) store((word *)to, (const word *)f.x, ldm, 0); \
        else store((word *)to, (const word *)f.x, ldm, 1); \
    }
#define RTCG_LAYOUTS (__rtcg_is_column<LayoutA>::value * 2 + __rtcg_is_column<LayoutB>::value)
#define RTCG_OPERANDS(m, n, k, D, T, C) \
    fragment<accumulator, m, n, k, D, void> &d, const fragment<matrix_a, m, n, k, T, LayoutA> &a, \
        const fragment<matrix_b, m, n, k, T, LayoutB> &b, const fragment<accumulator, m, n, k, C, void> &c
#define RTCG_INTEGER_PRODUCT(m, n, k, T, product) \
    template <typename LayoutA, typename LayoutB> RTCG_DEVICE void mma_sync(RTCG_OPERANDS(m, n, k, int, T, int), bool satf = false) { \
        if (satf) product(d.x, (const int *)a.x, (const int *)b.x, c.x, RTCG_LAYOUTS, 1); \
        else product(d.x, (const int *)a.x, (const int *)b.x, c.x, RTCG_LAYOUTS, 0); \
    }
#define RTCG_PRODUCT(m, n, k, D, d_word, T, word, C, c_word, product) \
    template <typename LayoutA, typename LayoutB> RTCG_DEVICE void mma_sync(RTCG_OPERANDS(m, n, k, D, T, C)) { \
        product((d_word *)d.x, (const word *)a.x, (const word *)b.x, (const c_word *)c.x, RTCG_LAYOUTS, 0); \
    }
#define RTCG_SHAPE(m, n, k, shape, a_bytes, b_bytes, a_pairs, b_pairs) \
    RTCG_INPUT(matrix_a, m, n, k, __half, 8, __half, int, __hmma_##shape##_ld_a) \
    RTCG_INPUT(matrix_b, m, n, k, __half, 8, __half, int, __hmma_##shape##_ld_b) \
    RTCG_INPUT(matrix_a, m, n, k, __nv_bfloat16, a_pairs, __nv_bfloat16, int, __mma_bf16_##shape##_ld_a) \
    RTCG_INPUT(matrix_b, m, n, k, __nv_bfloat16, b_pairs, __nv_bfloat16, int, __mma_bf16_##shape##_ld_b) \
    RTCG_INPUT(matrix_a, m, n, k, signed char, a_bytes, signed char, int, __imma_##shape##_ld_a_s8) \
    RTCG_INPUT(matrix_b, m, n, k, signed char, b_bytes, signed char, int, __imma_##shape##_ld_b_s8) \
    RTCG_INPUT(matrix_a, m, n, k, unsigned char, a_bytes, unsigned char, int, __imma_##shape##_ld_a_u8) \
    RTCG_INPUT(matrix_b, m, n, k, unsigned char, b_bytes, unsigned char, int, __imma_##shape##_ld_b_u8) \
    RTCG_SUM(m, n, k, __half, 4, int, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16) \
    RTCG_SUM(m, n, k, float, 8, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32) \
    RTCG_SUM(m, n, k, int, 8, int, __imma_##shape##_ld_c, __imma_##shape##_st_c_i32) \
    RTCG_PRODUCT(m, n, k, __half, int, __half, int, __half, int, __hmma_##shape##_mma_f16f16) \
    RTCG_PRODUCT(m, n, k, float, float, __half, int, __half, int, __hmma_##shape##_mma_f32f16) \
    RTCG_PRODUCT(m, n, k, __half, int, __half, int, float, float, __hmma_##shape##_mma_f16f32) \
    RTCG_PRODUCT(m, n, k, float, float, __half, int, float, float, __hmma_##shape##_mma_f32f32) \
    RTCG_PRODUCT(m, n, k, float, float, __nv_bfloat16, int, float, float, __mma_bf16_##shape##_mma_f32) \
    RTCG_INTEGER_PRODUCT(m, n, k, signed char, __imma_##shape##_mma_s8) \
    RTCG_INTEGER_PRODUCT(m, n, k, unsigned char, __imma_##shape##_mma_u8)
RTCG_SHAPE(16, 16, 16, m16n16k16, 2, 2, 4, 4)
RTCG_SHAPE(32, 8, 16, m32n8k16, 4, 1, 8, 2)
RTCG_SHAPE(8, 32, 16, m8n32k16, 1, 4, 2, 8)

RTCG_INPUT(matrix_a, 16, 16, 8, precision::tf32, 4, float, int, __mma_tf32_m16n16k8_ld_a)
RTCG_INPUT(matrix_b, 16, 16, 8, precision::tf32, 4, float, int, __mma_tf32_m16n16k8_ld_b)
RTCG_SUM(16, 16, 8, float, 8, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32)
RTCG_PRODUCT(16, 16, 8, float, float, precision::tf32, int, float, float, __mma_tf32_m16n16k8_mma_f32)

RTCG_INPUT(matrix_a, 8, 8, 4, double, 1, double, double, __dmma_m8n8k4_ld_a)
RTCG_INPUT(matrix_b, 8, 8, 4, double, 1, double, double, __dmma_m8n8k4_ld_b)
RTCG_SUM(8, 8, 4, double, 2, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64)
RTCG_PRODUCT(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64)

#define RTCG_SMALL(T) \
    RTCG_SMALL_INPUT(matrix_a, 8, 8, 32, experimental::precision::T, row_major, 0, __imma_m8n8k32_ld_a_##T) \
    RTCG_SMALL_INPUT(matrix_b, 8, 8, 32, experimental::precision::T, col_major, 1, __imma_m8n8k32_ld_b_##T) \
    RTCG_INTEGER_PRODUCT(8, 8, 32, experimental::precision::T, __imma_m8n8k32_mma_##T)
RTCG_SUM(8, 8, 32, int, 2, int, __imma_m8n8k32_ld_c, __imma_m8n8k32_st_c_i32)
RTCG_SMALL(s4)
RTCG_SMALL(u4)
RTCG_SMALL_INPUT(matrix_a, 8, 8, 128, experimental::precision::b1, row_major, 0, __bmma_m8n8k128_ld_a_b1)
RTCG_SMALL_INPUT(matrix_b, 8, 8, 128, experimental::precision::b1, col_major, 1, __bmma_m8n8k128_ld_b_b1)
RTCG_SUM(8, 8, 128, int, 2, int, __bmma_m8n8k128_ld_c, __bmma_m8n8k128_st_c_i32)

// Sums of the ones among `a xor b` or `a and b`.
template <typename LayoutA, typename LayoutB>
RTCG_DEVICE void bmma_sync(fragment<accumulator, 8, 8, 128, int, void> &d, const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, LayoutA> &a,
                           const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, LayoutB> &b,
                           const fragment<accumulator, 8, 8, 128, int, void> &c, experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                           experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if __CUDA_ARCH__ >= 800
    if (op == experimental::bmmaBitOpAND) {
        // As text, as clang's builtin asks for a newer PTX also where it is not called.
        asm volatile("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
                     : "=r"(d.x[0]), "=r"(d.x[1]) : "r"(a.x[0]), "r"(b.x[0]), "r"(c.x[0]), "r"(c.x[1]));
        return;
    }
#endif
    __bmma_m8n8k128_mma_xor_popc_b1(d.x, (const int *)a.x, (const int *)b.x, c.x, RTCG_LAYOUTS);
}

#undef RTCG_SMALL
#undef RTCG_SHAPE
#undef RTCG_PRODUCT
#undef RTCG_INTEGER_PRODUCT
#undef RTCG_OPERANDS
#undef RTCG_LAYOUTS
#undef RTCG_SUM
#undef RTCG_SMALL_INPUT
#undef RTCG_INPUT
}
}
}
