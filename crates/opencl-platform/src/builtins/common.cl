/* Common (6.15.4) and geometric (6.15.5) functions. */

#define COMMON(T) \
    BINARY(max, T, T, T, a < b ? b : a) \
    BINARY(min, T, T, T, b < a ? b : a) \
    TERNARY(clamp, T, T, T, T, a < b ? b : a > c ? c : a) \
    SCALAR2(max, T) SCALAR2(min, T) SCALAR23(clamp, T) \
    UNARY(degrees, T, T, a * (T)57.295779513082320876798154814105) \
    UNARY(radians, T, T, a * (T)0.017453292519943295769236907684886) \
    TERNARY(mix, T, T, T, T, a + (b - a) * c) SCALAR3(mix, T) \
    BINARY(step, T, T, T, b < a ? (T)0 : (T)1) SCALAR1(step, T) \
    PURE T smoothstep(T a, T b, T c) { T t = clamp((c - a) / (b - a), (T)0, (T)1); return t * t * (3 - 2 * t); } \
    VECTORS3(smoothstep, T, T, T, T) SCALAR12(smoothstep, T) \
    UNARY(sign, T, T, a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? a : (T)0)
FOR_FLOATS(COMMON)

#define GEOMETRIC(T, largest, up, down) \
    PURE T dot(T a, T b) { return a * b; } \
    PURE T dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; } \
    PURE T dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; } \
    PURE T dot(T##4 a, T##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; } \
    PURE T##3 cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; } \
    PURE T##4 cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), 0); } \
    /* Scaled where the sum of squares would leave the range. */ \
    PURE T length(T a) { return fabs(a); } \
    LENGTH(T, T##2, largest, up, down) LENGTH(T, T##3, largest, up, down) LENGTH(T, T##4, largest, up, down) \
    DISTANCE(T, T) DISTANCE(T, T##2) DISTANCE(T, T##3) DISTANCE(T, T##4) \
    PURE T normalize(T a) { return sign(a); } \
    NORMALIZE(T, T##2, up, down) NORMALIZE(T, T##3, up, down) NORMALIZE(T, T##4, up, down)
#define LENGTH(T, V, largest, up, down) \
    PURE T length(V a) { \
        T square = dot(a, a); \
        if (square > largest) return sqrt(dot(a * (T)down, a * (T)down)) * (T)up; \
        if (square < (T)down) return sqrt(dot(a * (T)up, a * (T)up)) * (T)down; \
        return sqrt(square); \
    }
#define DISTANCE(T, V) PURE T distance(V a, V b) { return length(a - b); }
#define NORMALIZE(T, V, up, down) \
    PURE V normalize(V a) { \
        T square = dot(a, a); \
        if (square == 0) a *= (T)up; \
        else if (isinf(square)) a *= (T)down; \
        square = dot(a, a); \
        return square == 0 ? a : a * (1 / sqrt(square)); \
    }
GEOMETRIC(float, 0x1p126f, 0x1p65f, 0x1p-65f)
GEOMETRIC(double, 0x1p1022, 0x1p563, 0x1p-563)

#define FAST(V) \
    PURE float fast_length(V a) { return sqrt(dot(a, a)); } \
    PURE float fast_distance(V a, V b) { return fast_length(a - b); } \
    PURE V fast_normalize(V a) { float square = dot(a, a); return square == 0 ? a : a * rsqrt(square); }
FAST(float2)
FAST(float3)
FAST(float4)
PURE float fast_length(float a) { return fabs(a); }
PURE float fast_distance(float a, float b) { return fabs(a - b); }
PURE float fast_normalize(float a) { return sign(a); }
