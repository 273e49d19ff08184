"""Kernels of ours that were recorded on PoCL into ``recorded.xz``; ``make test`` replays their launches on our platform.

``python -m tests.opencl.record own`` records them again. A kernel's arguments are arrays, numbers with a dtype, or the
bytes of its local memory; each runs with two sizes where one has no whole number of groups.
"""

import numpy as np
import pyopencl as cl

RNG = np.random.default_rng(31)


def floats(n, dtype="f4", low=-4.0, high=4.0):
    return RNG.uniform(low, high, n).astype(dtype)


def integers(n, dtype="i4"):
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, n, dtype, endpoint=True)


def zeros(n, dtype="f4"):
    return np.zeros(n, dtype)


class Local(int):
    """Bytes of local memory."""


N = 150

INDICES = """
kernel void indices(global ulong *out) {
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1), z = get_global_id(2);
    size_t i = x + get_global_size(0) * (y + get_global_size(1) * z);
    out[i] = get_global_id(0) + 1000 * get_global_id(1) + 1000000 * get_global_id(2)
        + 10000000 * (get_local_id(0) + 10 * get_group_id(0) + 100 * get_local_size(0) + 1000 * get_num_groups(1))
        + get_work_dim() * 1000000000000UL;
}
"""

SWIZZLES = """
kernel void swizzles(global const float4 *a, global float4 *out, global float *sums) {
    int i = get_global_id(0);
    float4 v = a[i];
    v.zw = v.yx + (float2)(1, 2);
    v.odd *= 2;
    float3 t = v.xyz;
    int4 m = v > 0.5f;
    out[i] = select(v.wzyx, v, m) + (float4)(t.lo, t.hi);
    sums[i] = any(m) + 2 * all(m) + dot(v, v) + length(t) + cross(v, v.yzxw).x + fast_length(v.xy);
}
"""

CONVERSIONS = """
kernel void conversions(global const float *a, global int *i32, global uchar *u8, global short4 *s16, global float *back) {
    int i = get_global_id(0);
    i32[i] = convert_int_rte(a[i]) + 100 * convert_int_rtp(a[i]) + 10000 * convert_int_rtn(a[i]) + 1000000 * convert_int_rtz(a[i]);
    u8[i] = convert_uchar_sat(a[i] * 100);
    s16[i] = convert_short4_sat_rte((float4)(a[i], a[i] * 1e4f, -a[i] * 1e5f, 0.5f));
    back[i] = convert_float_rtz(i32[i] * 7) + as_float(as_int(a[i]) & 0x7fffffff);
}
"""

INTEGER_FUNCTIONS = """
kernel void integer_functions(global const int *a, global const uint *b, global long *out, global uchar *bytes) {
    int i = get_global_id(0);
    int x = a[i]; uint y = b[i];
    out[i] = mul_hi(x, (int)y) + rotate(x, 5) + clz(y) + popcount(y) + mad24(x & 0xfff, 77, 5) + abs_diff(x, 3) + hadd(x, 9)
        + rhadd(x, 11) + add_sat(x, x) - sub_sat(-x, x) + mad_sat(x, 2, 9) + max(x, 4) + clamp(x, -5, 5) + upsample((short)x, (ushort)y)
        + mul_hi((long)x * x, 123456789012345L) + x / (int)((y & 7) + 1) + x % 13 + (x >> (y & 31)) + (y >> 3);
    bytes[i] = bitselect((uchar)x, (uchar)y, (uchar)0xf0) + hadd((uchar)x, (uchar)y) + add_sat((uchar)x, (uchar)y) - sub_sat((char)x, (char)y);
    bytes[i] ^= (uchar)(add_sat((short)x, (short)y) >> 4) + (uchar)sub_sat((ushort2)(x, y), (ushort2)(y, x)).y;
}
"""

LOCAL_SUM = """
kernel void local_sum(global const int *a, global int *sums, local int *work, int n) {
    int i = get_global_id(0), t = get_local_id(0);
    local int last;
    work[t] = i < n ? a[i] : 0;
    if (t == 0) last = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = get_local_size(0) / 2; step; step /= 2) {
        if (t < step) work[t] += work[t + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_max(&last, t);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t == 0) sums[get_group_id(0)] = work[0] + last;
}
"""

TRANSPOSE = """
kernel void transpose(global const float *a, global float *out, int n) {
    local float tile[8][9];
    int x = get_local_id(0), y = get_local_id(1);
    event_t e = 0;
    tile[y][x] = a[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 8 + y) * n + get_group_id(1) * 8 + x] = tile[x][y];
}
"""

ATOMICS = """
kernel void atomics(global const uint *a, volatile global uint *counts, volatile global int *extremes) {
    uint x = a[get_global_id(0)];
    atomic_inc(&counts[x % 16]);
    atomic_add(&counts[16 + x % 3], x);
    atomic_xor(&counts[19], x);
    atomic_or(&counts[20], x & 0xff);
    atomic_min(&extremes[0], (int)x);
    atomic_max(&extremes[1], (int)x);
    atomic_sub(&extremes[2], 3);
    uint seen, next;
    do { seen = counts[21]; next = seen + (x & 7); } while (atomic_cmpxchg(&counts[21], seen, next) != seen);
}
"""

LOADS = """
constant float table[4] = {0.5f, 1.5f, -2.0f, 4.0f};
kernel void loads(global const float *a, global float *out, constant int *shifts, global half *halves, global char *bytes) {
    int i = get_global_id(0);
    float3 t = vload3(i, a);
    vstore2(t.zx * table[i & 3], i, out);
    vstore_half_rte(a[i] * shifts[i & 7], i, halves);
    float8 w = vload8(0, a + (i & 7));
    vstore4(convert_char4_sat(w.even * 40), i, bytes);
    out[2 * i] += vload_half(i, halves) + w.s7;
}
"""

STRUCTURES = """
typedef struct { char tag; float4 at; int n[3]; union { float f; uint u; } bits; } item_t;
kernel void structures(global item_t *items, int scale) {
    global item_t *item = &items[get_global_id(0)];
    item_t copy = *item;
    copy.at = copy.at.zywx * scale;
    for (int k = 0; k < 3; k++) copy.n[k] += copy.tag * k;
    copy.bits.u ^= 0x80000000u;
    item->at = copy.at; item->n[0] = copy.n[2]; item->n[2] = copy.n[1]; item->bits.f = copy.bits.f + sizeof(item_t);
}
"""

FUNCTIONS = """
int collatz(ulong n) { int steps = 0; while (n != 1 && steps < 500) { n = n & 1 ? 3 * n + 1 : n / 2; steps++; } return steps; }
void exchange(private int *a, private int *b) { int t = *a; *a = *b; *b = t; }
kernel void functions(global int *out) {
    int i = get_global_id(0), numbers[16];
    for (int k = 0; k < 16; k++) numbers[k] = (i * 37 + k * 101) % 91;
    for (int k = 0; k < 15; k++) for (int j = 0; j < 15 - k; j++) if (numbers[j] > numbers[j + 1]) exchange(&numbers[j], &numbers[j + 1]);
    switch (i % 4) { case 0: out[i] = numbers[0]; break; case 1: out[i] = numbers[15]; case 2: out[i] += 1000; break; default: out[i] = collatz(i); }
}
"""

# A function that is too large for LLVM to put into two callers, and that asks where it runs.
LARGE_FUNCTION = """
int far(global const int *a, int from) {
    int sum = from;
    for (size_t i = from; i < get_global_size(0); i += 1 + get_local_id(0) % 2) {
        switch ((a[i] >> 3) & 7) {
        case 0: sum = sum * 3 + a[i]; break; case 1: sum ^= a[i] << (sum & 7); break; case 2: sum -= a[i] % 77; break;
        case 3: sum = rotate(sum, a[i]); break; case 4: sum += popcount(a[i] ^ sum); break; case 5: sum = max(sum, a[i]) - i; break;
        case 6: sum = mul_hi(sum, a[i]) + clz(a[i]); break; default: sum = mad24(sum & 0xffff, a[i] & 0xffff, 5);
        }
        if ((sum & 1023) == 7) sum = sum / (1 + (a[i] & 15)) + (int)get_global_id(0); else sum += abs(a[i]) % 19;
    }
    return sum;
}
kernel void large_function(global const int *a, global int *out) {
    int i = get_global_id(0);
    out[i] = far(a, i);
    if (i & 1) out[i] += far(a, i / 2);
    for (int k = 0; k < 3; k++) out[i] ^= far(a, (i + k * 7) % (int)get_global_size(0));
}
"""

SHUFFLES = """
kernel void shuffles(global const uint4 *a, global uint4 *out, global long2 *wide) {
    int i = get_global_id(0);
    uint4 m = (uint4)(3, i & 3, 1, 0);
    out[i] = shuffle(a[i], m) ^ shuffle2(a[i].lo, a[i].hi, m);
    wide[i] = convert_long2(a[i].xz) * (long2)(-3, 5) + as_long2(a[i]) + (convert_long2(a[i].xy) > convert_long2(a[i].zw) ? (long2)(1) : (long2)(2)).yx;
}
"""

MATH = """
kernel void math_{type}(global const {type} *a, global {type} *out, global {type} *parts, global int *exponents) {{
    int i = get_global_id(0), n = get_global_size(0), e;
    {type} x = a[i], y = fabs(x) + ({type})0.25, whole, c;
    {type} values[16] = {{sin(x), cos(x), tan(x), exp(x), log(y), sqrt(y), rsqrt(y), cbrt(x), atan(x), tanh(x),
        pow(y, ({type})1.5), erf(x), log2(y), exp2(x), asin(x / 5), hypot(x, y)}};
    for (int k = 0; k < 16; k++) out[k * n + i] = values[k];
    parts[i] = modf(x, &whole) + whole * 2 + frexp(x, &e) + fma(x, y, ({type})1) + floor(x) + ceil(x) + trunc(x) + rint(x) + round(x)
        + fmin(x, y) + fmod(y, ({type})0.3) + copysign(y, x) + ldexp(x, 3) + sincos(x, &c) * 0 + nextafter(x, y) + mix(x, y, ({type})0.5);
    exponents[i] = e + 100 * ilogb(y) + 10000 * isnan(x - x) + 20000 * isfinite(y) + 40000 * signbit(x);
}}
"""

SCAN = """
kernel void block_scan(global const float *a, global float *out, local float *work) {
    int t = get_local_id(0), i = get_global_id(0);
    work[t] = a[i];
    for (int step = 1; step < get_local_size(0); step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float other = t >= step ? work[t - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        work[t] += other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = work[get_local_size(0) - 1 - t];
}
"""

COPIES = """
kernel void copies(global const int *a, global int *out, local int *work) {
    event_t e = async_work_group_copy(work, a + get_group_id(0) * 32, 32, 0);
    e = async_work_group_strided_copy(work + 32, a, 16, 2, e);
    wait_group_events(1, &e);
    int t = get_local_id(0);
    work[t] += work[32 + (t & 15)];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + get_group_id(0) * 32, work, 32, 0);
    wait_group_events(1, &e);
}
"""

ITEM = np.dtype(
    {
        "names": ["tag", "at", "n", "bits"],
        "formats": ["i1", ("f4", 4), ("i4", 3), "f4"],
        "offsets": [0, 16, 32, 44],
        "itemsize": 48,
    }
)


def items(n):
    made = np.zeros(n, ITEM)
    made["tag"], made["at"], made["n"], made["bits"] = np.arange(n) % 100, floats((n, 4)), integers((n, 3)), floats(n)
    return made


#: The source, the arguments, and the sizes: global, local, offset.
LAUNCHES = [
    (INDICES, [zeros(7 * 5 * 3, "u8")], [((7, 5, 3), None, None), ((6, 4, 2), (2, 2, 1), (3, 0, 0))]),
    (SWIZZLES, [floats(4 * N), zeros(4 * N), zeros(N)], [((N,), None, None)]),
    (CONVERSIONS, [floats(N), zeros(N, "i4"), zeros(N, "u1"), zeros(4 * N, "i2"), zeros(N)], [((N,), None, None)]),
    (
        INTEGER_FUNCTIONS,
        [integers(N) // 2, integers(N, "u4"), zeros(N, "i8"), zeros(N, "u1")],
        [((N,), None, None)],
    ),
    (LOCAL_SUM, [integers(N) // N, zeros(8, "i4"), Local(256), np.int32(N)], [((192,), (64,), None)]),
    (TRANSPOSE, [floats(24 * 24), zeros(24 * 24), np.int32(24)], [((24, 24), (8, 8), None)]),
    (ATOMICS, [integers(N, "u4"), zeros(22, "u4"), zeros(3, "i4")], [((N,), None, None)]),
    (LOADS, [floats(3 * N), zeros(2 * N), integers(8) % 5, zeros(N, "f2"), zeros(4 * N, "i1")], [((N,), None, None)]),
    (STRUCTURES, [items(64), np.int32(3)], [((64,), None, None)]),
    (FUNCTIONS, [zeros(N, "i4")], [((N,), None, None), ((128,), (32,), None)]),
    (LARGE_FUNCTION, [integers(N), zeros(N, "i4")], [((N,), None, None)]),
    (SHUFFLES, [integers(4 * N, "u4"), zeros(4 * N, "u4"), zeros(2 * N, "i8")], [((N,), None, None)]),
    (MATH.format(type="float"), [floats(N), zeros(16 * N), zeros(N), zeros(N, "i4")], [((N,), None, None)]),
    (
        MATH.format(type="double"),
        [floats(N, "f8"), zeros(16 * N, "f8"), zeros(N, "f8"), zeros(N, "i4")],
        [((N,), None, None)],
    ),
    (SCAN, [floats(256), zeros(256), Local(256)], [((256,), (64,), None)]),
    (COPIES, [integers(64), zeros(64, "i4"), Local(192)], [((64,), (32,), None)]),
]


def main():
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    for source, arguments, sizes in LAUNCHES:
        kernel = cl.Program(context, source).build().all_kernels()[0]
        for global_size, local_size, offset in sizes:
            made = []
            for argument in arguments:
                if isinstance(argument, Local):
                    made.append(cl.LocalMemory(argument))
                elif isinstance(argument, np.ndarray):
                    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                    made.append(cl.Buffer(context, flags, hostbuf=argument))
                else:
                    made.append(argument)
            kernel(queue, global_size, local_size, *made, global_offset=offset)
    queue.finish()


if __name__ == "__main__":
    main()
