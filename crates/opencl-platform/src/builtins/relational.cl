/* Relational functions (6.15.6): 1 for scalars, -1 in each element of vectors. */

#define COMPARE_VECTORS(name, T, I) \
    PURE I##2 name(T##2 a, T##2 b) { return -(I##2)(name(a.x, b.x), name(a.y, b.y)); } \
    PURE I##3 name(T##3 a, T##3 b) { return -(I##3)(name(a.x, b.x), name(a.y, b.y), name(a.z, b.z)); } \
    PURE I##4 name(T##4 a, T##4 b) { return (I##4)(name(a.lo, b.lo), name(a.hi, b.hi)); } \
    PURE I##8 name(T##8 a, T##8 b) { return (I##8)(name(a.lo, b.lo), name(a.hi, b.hi)); } \
    PURE I##16 name(T##16 a, T##16 b) { return (I##16)(name(a.lo, b.lo), name(a.hi, b.hi)); }
#define COMPARE(name, expression) \
    PURE int name(float a, float b) { return expression; } COMPARE_VECTORS(name, float, int) \
    PURE int name(double a, double b) { return expression; } COMPARE_VECTORS(name, double, long)
COMPARE(isequal, a == b)
COMPARE(isnotequal, a != b)
COMPARE(isgreater, a > b)
COMPARE(isgreaterequal, a >= b)
COMPARE(isless, a < b)
COMPARE(islessequal, a <= b)
COMPARE(islessgreater, a < b || a > b)
COMPARE(isordered, a == a && b == b)
COMPARE(isunordered, a != a || b != b)

#define TEST_VECTORS(name, T, I) \
    PURE I##2 name(T##2 a) { return -(I##2)(name(a.x), name(a.y)); } \
    PURE I##3 name(T##3 a) { return -(I##3)(name(a.x), name(a.y), name(a.z)); } \
    PURE I##4 name(T##4 a) { return (I##4)(name(a.lo), name(a.hi)); } \
    PURE I##8 name(T##8 a) { return (I##8)(name(a.lo), name(a.hi)); } \
    PURE I##16 name(T##16 a) { return (I##16)(name(a.lo), name(a.hi)); }
/* By bits, so that -cl-finite-math-only does not take the tests away. */
#define TEST(name, of_float, of_double) \
    PURE int name(float a) { uint u = as_uint(a), m = u & 0x7fffffffu; return of_float; } \
    TEST_VECTORS(name, float, int) \
    PURE int name(double a) { ulong u = as_ulong(a), m = u & 0x7fffffffffffffffUL; return of_double; } \
    TEST_VECTORS(name, double, long)
TEST(isnan, m > 0x7f800000u, m > 0x7ff0000000000000UL)
TEST(isinf, m == 0x7f800000u, m == 0x7ff0000000000000UL)
TEST(isfinite, m < 0x7f800000u, m < 0x7ff0000000000000UL)
TEST(isnormal, m < 0x7f800000u && m >= 0x00800000u, m < 0x7ff0000000000000UL && m >= 0x0010000000000000UL)
TEST(signbit, (int)(u >> 31), (int)(u >> 63))

#define SIGN_TESTS(T) \
    PURE int any(T a) { return a < 0; } \
    PURE int any(T##2 a) { return a.x < 0 || a.y < 0; } \
    PURE int any(T##3 a) { return a.x < 0 || a.y < 0 || a.z < 0; } \
    PURE int any(T##4 a) { return any(a.lo | a.hi); } \
    PURE int any(T##8 a) { return any(a.lo | a.hi); } \
    PURE int any(T##16 a) { return any(a.lo | a.hi); } \
    PURE int all(T a) { return a < 0; } \
    PURE int all(T##2 a) { return a.x < 0 && a.y < 0; } \
    PURE int all(T##3 a) { return a.x < 0 && a.y < 0 && a.z < 0; } \
    PURE int all(T##4 a) { return all(a.lo & a.hi); } \
    PURE int all(T##8 a) { return all(a.lo & a.hi); } \
    PURE int all(T##16 a) { return all(a.lo & a.hi); }
SIGN_TESTS(char)
SIGN_TESTS(short)
SIGN_TESTS(int)
SIGN_TESTS(long)

#define SELECT_BITS(T) TERNARY(bitselect, T, T, T, T, (T)((a & ~c) | (b & c)))
FOR_INTEGERS(SELECT_BITS)
TERNARY(bitselect, float, float, float, float, as_float(bitselect(as_uint(a), as_uint(b), as_uint(c))))
TERNARY(bitselect, double, double, double, double, as_double(bitselect(as_ulong(a), as_ulong(b), as_ulong(c))))

/* A scalar is chosen by c != 0, an element of a vector by its highest bit. */
#define SELECT(T, C, S) \
    PURE T select(T a, T b, C c) { return c ? b : a; } \
    PURE T##2 select(T##2 a, T##2 b, C##2 c) { return (T##2)((S)c.x < 0 ? b.x : a.x, (S)c.y < 0 ? b.y : a.y); } \
    PURE T##3 select(T##3 a, T##3 b, C##3 c) { \
        return (T##3)((S)c.x < 0 ? b.x : a.x, (S)c.y < 0 ? b.y : a.y, (S)c.z < 0 ? b.z : a.z); } \
    PURE T##4 select(T##4 a, T##4 b, C##4 c) { return (T##4)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi)); } \
    PURE T##8 select(T##8 a, T##8 b, C##8 c) { return (T##8)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi)); } \
    PURE T##16 select(T##16 a, T##16 b, C##16 c) { return (T##16)(select(a.lo, b.lo, c.lo), select(a.hi, b.hi, c.hi)); }
#define SELECT_BY(T, I, U) SELECT(T, I, I) SELECT(T, U, I)
SELECT_BY(char, char, uchar)
SELECT_BY(uchar, char, uchar)
SELECT_BY(short, short, ushort)
SELECT_BY(ushort, short, ushort)
SELECT_BY(int, int, uint)
SELECT_BY(uint, int, uint)
SELECT_BY(float, int, uint)
SELECT_BY(long, long, ulong)
SELECT_BY(ulong, long, ulong)
SELECT_BY(double, long, ulong)
