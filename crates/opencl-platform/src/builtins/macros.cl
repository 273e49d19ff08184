/* What all parts of the library of builtins begin with: each is compiled by itself. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define BUILTIN __attribute__((overloadable, always_inline))
#define PURE __attribute__((overloadable, always_inline, const))
#define CONVERGENT __attribute__((overloadable, always_inline, convergent))

#define FOR_INTEGERS(DO) DO(char) DO(uchar) DO(short) DO(ushort) DO(int) DO(uint) DO(long) DO(ulong)
#define FOR_FLOATS(DO) DO(float) DO(double)
#define FOR_TYPES(DO) FOR_INTEGERS(DO) FOR_FLOATS(DO)

/* Functions of vectors, each by that of scalars: R name(T), R name(T, U), R name(T, U, V). */
#define VECTORS1(name, R, T) \
    PURE R##2 name(T##2 a) { return (R##2)(name(a.x), name(a.y)); } \
    PURE R##3 name(T##3 a) { return (R##3)(name(a.x), name(a.y), name(a.z)); } \
    PURE R##4 name(T##4 a) { return (R##4)(name(a.lo), name(a.hi)); } \
    PURE R##8 name(T##8 a) { return (R##8)(name(a.lo), name(a.hi)); } \
    PURE R##16 name(T##16 a) { return (R##16)(name(a.lo), name(a.hi)); }
#define VECTORS2(name, R, T, U) \
    PURE R##2 name(T##2 a, U##2 b) { return (R##2)(name(a.x, b.x), name(a.y, b.y)); } \
    PURE R##3 name(T##3 a, U##3 b) { return (R##3)(name(a.x, b.x), name(a.y, b.y), name(a.z, b.z)); } \
    PURE R##4 name(T##4 a, U##4 b) { return (R##4)(name(a.lo, b.lo), name(a.hi, b.hi)); } \
    PURE R##8 name(T##8 a, U##8 b) { return (R##8)(name(a.lo, b.lo), name(a.hi, b.hi)); } \
    PURE R##16 name(T##16 a, U##16 b) { return (R##16)(name(a.lo, b.lo), name(a.hi, b.hi)); }
#define VECTORS3(name, R, T, U, V) \
    PURE R##2 name(T##2 a, U##2 b, V##2 c) { return (R##2)(name(a.x, b.x, c.x), name(a.y, b.y, c.y)); } \
    PURE R##3 name(T##3 a, U##3 b, V##3 c) { \
        return (R##3)(name(a.x, b.x, c.x), name(a.y, b.y, c.y), name(a.z, b.z, c.z)); } \
    PURE R##4 name(T##4 a, U##4 b, V##4 c) { return (R##4)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); } \
    PURE R##8 name(T##8 a, U##8 b, V##8 c) { return (R##8)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); } \
    PURE R##16 name(T##16 a, U##16 b, V##16 c) { return (R##16)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); }

/* The second argument (the last two, the first) is a scalar for all elements. */
#define SCALAR2(name, T) \
    PURE T##2 name(T##2 a, T b) { return name(a, (T##2)(b)); } \
    PURE T##3 name(T##3 a, T b) { return name(a, (T##3)(b)); } \
    PURE T##4 name(T##4 a, T b) { return name(a, (T##4)(b)); } \
    PURE T##8 name(T##8 a, T b) { return name(a, (T##8)(b)); } \
    PURE T##16 name(T##16 a, T b) { return name(a, (T##16)(b)); }
#define SCALAR23(name, T) \
    PURE T##2 name(T##2 a, T b, T c) { return name(a, (T##2)(b), (T##2)(c)); } \
    PURE T##3 name(T##3 a, T b, T c) { return name(a, (T##3)(b), (T##3)(c)); } \
    PURE T##4 name(T##4 a, T b, T c) { return name(a, (T##4)(b), (T##4)(c)); } \
    PURE T##8 name(T##8 a, T b, T c) { return name(a, (T##8)(b), (T##8)(c)); } \
    PURE T##16 name(T##16 a, T b, T c) { return name(a, (T##16)(b), (T##16)(c)); }
#define SCALAR3(name, T) \
    PURE T##2 name(T##2 a, T##2 b, T c) { return name(a, b, (T##2)(c)); } \
    PURE T##3 name(T##3 a, T##3 b, T c) { return name(a, b, (T##3)(c)); } \
    PURE T##4 name(T##4 a, T##4 b, T c) { return name(a, b, (T##4)(c)); } \
    PURE T##8 name(T##8 a, T##8 b, T c) { return name(a, b, (T##8)(c)); } \
    PURE T##16 name(T##16 a, T##16 b, T c) { return name(a, b, (T##16)(c)); }
#define SCALAR1(name, T) \
    PURE T##2 name(T a, T##2 b) { return name((T##2)(a), b); } \
    PURE T##3 name(T a, T##3 b) { return name((T##3)(a), b); } \
    PURE T##4 name(T a, T##4 b) { return name((T##4)(a), b); } \
    PURE T##8 name(T a, T##8 b) { return name((T##8)(a), b); } \
    PURE T##16 name(T a, T##16 b) { return name((T##16)(a), b); }
#define SCALAR12(name, T) \
    PURE T##2 name(T a, T b, T##2 c) { return name((T##2)(a), (T##2)(b), c); } \
    PURE T##3 name(T a, T b, T##3 c) { return name((T##3)(a), (T##3)(b), c); } \
    PURE T##4 name(T a, T b, T##4 c) { return name((T##4)(a), (T##4)(b), c); } \
    PURE T##8 name(T a, T b, T##8 c) { return name((T##8)(a), (T##8)(b), c); } \
    PURE T##16 name(T a, T b, T##16 c) { return name((T##16)(a), (T##16)(b), c); }

/* Both a scalar and vectors. */
#define UNARY(name, R, T, expression) PURE R name(T a) { return expression; } VECTORS1(name, R, T)
#define BINARY(name, R, T, U, expression) PURE R name(T a, U b) { return expression; } VECTORS2(name, R, T, U)
#define TERNARY(name, R, T, U, V, expression) PURE R name(T a, U b, V c) { return expression; } VECTORS3(name, R, T, U, V)

/* Results through pointers, in every memory. */
#define OUT_VECTORS(name, T, P, SPACE) \
    BUILTIN T##2 name(T##2 a, SPACE P##2 *p) { P x, y; T##2 r = (T##2)(name(a.x, &x), name(a.y, &y)); *p = (P##2)(x, y); return r; } \
    BUILTIN T##3 name(T##3 a, SPACE P##3 *p) { \
        P x, y, z; T##3 r = (T##3)(name(a.x, &x), name(a.y, &y), name(a.z, &z)); *p = (P##3)(x, y, z); return r; } \
    BUILTIN T##4 name(T##4 a, SPACE P##4 *p) { P##2 l, h; T##4 r = (T##4)(name(a.lo, &l), name(a.hi, &h)); *p = (P##4)(l, h); return r; } \
    BUILTIN T##8 name(T##8 a, SPACE P##8 *p) { P##4 l, h; T##8 r = (T##8)(name(a.lo, &l), name(a.hi, &h)); *p = (P##8)(l, h); return r; } \
    BUILTIN T##16 name(T##16 a, SPACE P##16 *p) { P##8 l, h; T##16 r = (T##16)(name(a.lo, &l), name(a.hi, &h)); *p = (P##16)(l, h); return r; }
#define OUT_IN(name, T, P, SPACE) BUILTIN T name(T a, SPACE P *p) { P x; T r = name(a, &x); *p = x; return r; } OUT_VECTORS(name, T, P, SPACE)
#define OUT(name, T, P) OUT_VECTORS(name, T, P, __private) OUT_IN(name, T, P, __global) OUT_IN(name, T, P, __local)

/* A number in [1/2, 1) and the exponent. */
BUILTIN float rtcg_normalized(float a, int *exponent);
BUILTIN double rtcg_normalized(double a, int *exponent);

/* Words of the launch record: the pass over PTX turns these reads into loads from the kernel's last parameter. The
   numbers are those of `program/pass.rs`. */
#define RECORD(n) ({ uint word_; __asm__("mov.u32 %0, %%envreg" #n ";" : "=r"(word_)); word_; })
#define RECORD_LONG(n) ({ ulong word_; __asm__("cvt.u64.u32 %0, %%envreg" #n ";" : "=l"(word_)); word_; })
#define GROUP_X ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define GROUP_Y ((uint)__nvvm_read_ptx_sreg_ctaid_y())
#define GROUP_Z ((uint)__nvvm_read_ptx_sreg_ctaid_z())
#define EXTENT_X ((uint)__nvvm_read_ptx_sreg_ntid_x())
#define EXTENT_Y ((uint)__nvvm_read_ptx_sreg_ntid_y())
#define EXTENT_Z ((uint)__nvvm_read_ptx_sreg_ntid_z())
#define ITEM_X ((uint)__nvvm_read_ptx_sreg_tid_x())
#define ITEM_Y ((uint)__nvvm_read_ptx_sreg_tid_y())
#define ITEM_Z ((uint)__nvvm_read_ptx_sreg_tid_z())
#define ITEM (ITEM_X + EXTENT_X * (ITEM_Y + EXTENT_Y * ITEM_Z))
#define ITEMS (EXTENT_X * EXTENT_Y * EXTENT_Z)
