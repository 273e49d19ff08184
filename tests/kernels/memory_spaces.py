"""Global, constant, local and generic memory; module symbols; pointer arithmetic."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Ptr, Suite, poisoned
from tests.kernels.elementwise import elementwise, s32, u32
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("memory_spaces")

I100 = np.arange(100, dtype=np.int32)

SUITE.add("constant_memory_written_by_host", """
__constant__ float coefficients[5];
__constant__ int offset = 3;
__global__ void k(const float *a, float *out) {
    float x = a[threadIdx.x], r = 0;
    for (int i = 4; i >= 0; --i) r = __fadd_rn(__fmul_rn(r, x), coefficients[i]);
    out[threadIdx.x] = r + offset;
}""", Launch(["a", "out"], (1,), (100,)), buffers={"a": (I100 / 8).astype(np.float32), "out": poisoned(100, np.float32)},
          globals_in={"coefficients": np.array([1, -2, 0.5, 0.25, -3], np.float32)},
          expect=lambda b: {"out": _horner(b["a"], np.array([1, -2, 0.5, 0.25, -3], np.float32)) + np.float32(3)})


def _horner(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    r = np.zeros_like(x)
    for v in c[::-1]:
        r = r * x + v
    return r


SUITE.add("constant_memory_divergent_index", """
__constant__ int table[64];
__global__ void k(const int *a, int *out) { out[threadIdx.x] = table[a[threadIdx.x] & 63] + table[threadIdx.x & 3]; }""",
          Launch(["a", "out"], (1,), (128,)), buffers={"a": random_ints(np.int32, 128, 171), "out": poisoned(128, np.int32)},
          globals_in={"table": np.arange(64, dtype=np.int32) ** 2 * 7}, expect=lambda b: {"out": ((b["a"] & 63) ** 2 * 7 + (np.arange(128) & 3) ** 2 * 7).astype(np.int32)})
SUITE.add("constant_initialised_in_source", """
__constant__ double powers[6] = {1.0, 10.0, 100.0, 1e3, 1e4, 1e5};
__constant__ struct { char c; short s; long long l; } mixed = {'A', -300, 1ll << 50};
__global__ void k(double *out) { int i = threadIdx.x; out[i] = i < 6 ? powers[i] : i == 6 ? mixed.c : i == 7 ? mixed.s : (double)mixed.l; }""",
          Launch(["out"], (1,), (9,)), buffers={"out": poisoned(9, np.float64)}, expect=lambda _: {"out": np.array([1, 10, 100, 1e3, 1e4, 1e5, 65, -300, 2.0**50])})
SUITE.add("device_globals_keep_state_between_launches", """
__device__ int counter = 5;
__device__ double history[4] = {0.5};
__global__ void k(int add) { history[counter & 3] = counter; counter += add; }""",
          (Launch([np.int32(1)]), Launch([np.int32(10)]), Launch([np.int32(3)])),
          globals_out=lambda _: {"counter": np.array([19], np.int32), "history": np.array([16, 5, 6, 0], np.float64)})
SUITE.add("device_globals_read_and_written_by_host", """
__device__ unsigned char bytes[7];
__device__ float total;
__global__ void k() { float s = 0; for (int i = 0; i < 7; ++i) { s += bytes[i]; bytes[i] ^= 0xff; } total = s; }""", Launch([]),
          globals_in={"bytes": np.array([1, 2, 3, 250, 0, 255, 7], np.uint8)},
          globals_out=lambda _: {"bytes": np.array([254, 253, 252, 5, 255, 0, 248], np.uint8), "total": np.array([518], np.float32)})
SUITE.add("device_pointer_in_global_symbol", """
__device__ int *where;
__device__ int storage[50];
__global__ void set() { where = storage + 10; }
__global__ void k(int *out) { where[threadIdx.x] = threadIdx.x * 3; out[threadIdx.x] = storage[10 + threadIdx.x] + (int)(where - storage); }""",
          (Launch([], kernel="set"), Launch(["out"], (1,), (32,))), buffers={"out": poisoned(32, np.int32)}, expect=lambda _: {"out": (np.arange(32) * 3 + 10).astype(np.int32)})
SUITE.add("global_initialised_with_addresses", """
__device__ int data[4] = {10, 20, 30, 40};
__device__ int *const middle = &data[2];
__device__ const char *text = "virtual";
__global__ void k(int *out) { out[0] = *middle; out[1] = middle[-1]; int n = 0; while (text[n]) ++n; out[2] = n; out[3] = text[3]; }""",
          Launch(["out"]), buffers={"out": poisoned(4, np.int32)}, expect=lambda _: {"out": np.array([30, 20, 7, ord("t")], np.int32)})
SUITE.add("generic_pointer_to_any_space", """
__device__ int in_global[32];
__constant__ int in_constant[32];
__device__ __noinline__ int read(const int *p, int i) { return p[i]; }
__device__ __noinline__ void write(int *p, int i, int v) { p[i] = v; }
__global__ void k(int *out, const int *argument) {
    __shared__ int in_shared[32];
    int in_local[8], t = threadIdx.x;
    write(in_shared, t, t * 2);
    write(in_global, t, t * 3);
    for (int i = 0; i < 8; ++i) write(in_local, i, t * 10 + i);
    __syncthreads();
    const int *p = t % 4 == 0 ? in_shared : t % 4 == 1 ? in_global : t % 4 == 2 ? in_constant : argument;
    out[t] = read(p, t) * 1000 + read(in_local, t & 7);
}""", Launch(["out", "argument"], (1,), (32,)), buffers={"out": poisoned(32, np.int32), "argument": np.arange(32, dtype=np.int32) + 7},
          globals_in={"in_constant": np.arange(32, dtype=np.int32) + 500},
          expect=lambda b: {"out": np.array([[2 * t, 3 * t, 500 + t, 7 + t][t % 4] * 1000 + t * 10 + (t & 7) for t in range(32)], np.int32)})
SUITE.add("address_space_predicates", """
__device__ int g;
__constant__ int c;
__global__ void k(int *out) {
    __shared__ int s;
    int l = threadIdx.x;
    const void *p[4] = {&g, &s, &l, &c};
    for (int i = 0; i < 4; ++i) out[i] = __isGlobal(p[i]) | __isShared(p[i]) << 1 | __isLocal(p[i]) << 2 | __isConstant(p[i]) << 3;
}""", Launch(["out"]), buffers={"out": poisoned(4, np.int32)}, expect=lambda _: {"out": np.array([1, 2, 4, 8], np.int32)})
SUITE.add("shared_address_conversions", """
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t * 5;
    __syncthreads();
    unsigned int a = (unsigned int)__cvta_generic_to_shared(&s[(t + 1) % 64]);
    int v;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(a));
    int *p = (int *)__cvta_shared_to_generic(a);
    out[t] = v + *p;
}""", Launch(["out"], (2,), (64,)), buffers={"out": poisoned(64, np.int32)}, expect=lambda _: {"out": (np.roll(np.arange(64) * 5, -1) * 2).astype(np.int32)})

# Local memory: arrays indexed at run time.
A = random_ints(np.int32, 200, 172)
elementwise(SUITE, "local_array_indexed_by_data", "int a", "int",
            "int v[32]; for (int i = 0; i < 32; ++i) v[i] = a + i * i; r = 0; for (int i = 0; i < 40; ++i) r ^= v[(a >> (i % 20)) & 31] + i;", (A,),
            lambda a: _local(a), scalar=True)


def _local(a: int) -> int:
    r = 0
    for i in range(40):
        j = (a >> (i % 20)) & 31
        r ^= s32(s32(a + j * j) + i)
    return s32(r)


elementwise(SUITE, "local_byte_histogram", "unsigned int a", "unsigned int",
            "unsigned char bins[256]; for (int i = 0; i < 256; ++i) bins[i] = 0; unsigned int x = a; for (int i = 0; i < 300; ++i) { x = x * 1664525u + 1013904223u; ++bins[x >> 24]; }"
            " r = 0; for (int i = 0; i < 256; ++i) r = r * 31u + bins[i];", (A.view(np.uint32),), lambda a: _byte_histogram(a), scalar=True)


def _byte_histogram(a: int) -> int:
    bins, x = [0] * 256, a
    for _ in range(300):
        x = u32(x * 1664525 + 1013904223)
        bins[x >> 24] += 1
    r = 0
    for b in bins:
        r = u32(r * 31 + b)
    return r


elementwise(SUITE, "local_matrix_determinant", "int a", "long long",
            """long long m[4][4]; for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) m[i][j] = (a >> (2 * i + j)) % 7 + (i == j ? 5 : 0);
        long long sign = 1, prev = 1; r = 0;
        for (int c = 0; c < 3; ++c) {
            int p = c; while (p < 4 && m[p][c] == 0) ++p;
            if (p == 4) { sign = 0; break; }
            if (p != c) { for (int j = 0; j < 4; ++j) { long long t = m[p][j]; m[p][j] = m[c][j]; m[c][j] = t; } sign = -sign; }
            for (int i = c + 1; i < 4; ++i) for (int j = c + 1; j < 4; ++j) m[i][j] = (m[i][j] * m[c][c] - m[i][c] * m[c][j]) / prev;
            prev = m[c][c];
        }
        r = sign * m[3][3];""", (np.abs(A),), lambda a: _determinant(a), scalar=True)


def _determinant(a: int) -> int:
    m = [[(a >> (2 * i + j)) % 7 + (5 if i == j else 0) for j in range(4)] for i in range(4)]

    def expand(rows: list[list[int]]) -> int:
        if len(rows) == 1:
            return rows[0][0]
        return sum((-1) ** j * rows[0][j] * expand([r[:j] + r[j + 1:] for r in rows[1:]]) for j in range(len(rows)))

    return expand(m)


SUITE.add("large_local_array", """
__global__ void k(int *out) {
    int v[2000];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 2000; ++i) v[(i * 37 + t) % 2000] = i ^ t;
    int s = 0;
    for (int i = 0; i < 2000; ++i) s = s * 3 + v[i];
    out[t] = s;
}""", Launch(["out"], (3,), (40,)), buffers={"out": poisoned(120, np.int32)}, expect=lambda _: {"out": np.array([_large(t) for t in range(120)], np.int32)})


def _large(t: int) -> int:
    v, s = [0] * 2000, 0
    for i in range(2000):
        v[(i * 37 + t) % 2000] = i ^ t
    for x in v:
        s = s32(s * 3 + x)
    return s


# Global memory access forms.
SUITE.add("read_only_and_cache_hints", """
__global__ void k(const float *__restrict__ a, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __stcs(out + i, __ldg(a + i) + __ldcg(a + (i ^ 1)) + __ldca(a + (i ^ 2)) + __ldcs(a + (i ^ 3)) + __ldcv(a + (i ^ 4)));
}""", Launch(["a", "out"], (4,), (64,)), buffers={"a": np.arange(256, dtype=np.float32), "out": poisoned(256, np.float32)},
          expect=lambda b: {"out": sum(b["a"][np.arange(256) ^ j] for j in range(5))})
SUITE.add("strided_gather_and_scatter", """
__global__ void k(int n, const int *index, const double *a, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[n - 1 - i]] = a[index[i]];
}""", Launch([np.int32(500), "index", "a", "out"], (8,), (64,)),
          buffers={"index": rng(173).permutation(500).astype(np.int32), "a": rng(174).normal(size=500), "out": poisoned(500, np.float64)},
          expect=lambda b: {"out": _scattered(b)})


def _scattered(b) -> np.ndarray:
    out = np.empty(500)
    out[b["index"][::-1]] = b["a"][b["index"]]
    return out


SUITE.add("pointer_chasing", """
struct Node { int value; int next; };
__global__ void k(const Node *nodes, int *out) {
    int i = threadIdx.x, s = 0, steps = 0;
    while (i >= 0 && steps < 1000) { s = s * 7 + nodes[i].value; i = nodes[i].next; ++steps; }
    out[threadIdx.x] = s;
}""", Launch(["nodes", "out"], (1,), (64,)),
          buffers={"nodes": np.stack([rng(175).integers(-9, 9, 64), np.where(np.arange(64) % 9 == 0, -1, np.arange(64) - 1 - (np.arange(64) % 2))], 1).astype(np.int32), "out": poisoned(64, np.int32)},
          expect=lambda b: {"out": np.array([_chase(b["nodes"], t) for t in range(64)], np.int32)})


def _chase(nodes: np.ndarray, i: int) -> int:
    s = steps = 0
    while i >= 0 and steps < 1000:
        s, i, steps = s32(s * 7 + int(nodes[i, 0])), int(nodes[i, 1]), steps + 1
    return s


SUITE.add("device_pointers_stored_in_memory", """
__global__ void fill(float **table, float *a) { table[threadIdx.x] = a + threadIdx.x * 10; }
__global__ void k(float *const *table, float *out) { out[threadIdx.x] = table[threadIdx.x / 10][threadIdx.x % 10] * 2; }""",
          (Launch(["table", "a"], (1,), (5,), "fill"), Launch(["table", "out"], (1,), (50,))),
          buffers={"table": np.zeros(5, np.uint64), "a": np.arange(50, dtype=np.float32), "out": poisoned(50, np.float32)}, expect=lambda b: {"out": b["a"] * 2})
SUITE.add("in_place_through_aliased_pointers", "__global__ void k(const int *a, int *b) { int i = threadIdx.x; int v = a[i]; b[i] = v + 1; b[i] += a[i]; }",
          Launch(["x", "x"], (1,), (77,)), buffers={"x": random_ints(np.int32, 77, 176) >> 2}, expect=lambda b: {"x": (b["x"] + 1) * 2})
SUITE.add("byte_and_halfword_stores_leave_neighbours", """
__global__ void k(unsigned char *b, unsigned short *h) { int i = threadIdx.x; if (i % 3 == 0) b[i] = (unsigned char)i; if (i % 2) h[i] = (unsigned short)(i * 1000); }""",
          Launch(["b", "h"], (1,), (90,)), buffers={"b": random_ints(np.uint8, 90, 177), "h": random_ints(np.uint16, 90, 178)},
          expect=lambda b: {"b": np.where(np.arange(90) % 3 == 0, np.arange(90), b["b"]).astype(np.uint8), "h": np.where(np.arange(90) % 2, np.arange(90) * 1000 & 0xFFFF, b["h"]).astype(np.uint16)})
SUITE.add("offset_argument_pointer", "__global__ void k(const short *a, short *out) { out[threadIdx.x] = a[(int)threadIdx.x - 20]; }",
          Launch([Ptr("a", 60), "out"], (1,), (30,)), buffers={"a": np.arange(100, dtype=np.int16), "out": poisoned(30, np.int16)}, expect=lambda _: {"out": np.arange(10, 40).astype(np.int16)})
SUITE.add("device_side_malloc_and_free", """
__global__ void k(int *out) {
    int n = threadIdx.x % 5 + 1;
    int *p = (int *)malloc(n * sizeof(int));
    if (!p) { out[threadIdx.x] = -1; return; }
    for (int i = 0; i < n; ++i) p[i] = threadIdx.x * i;
    int s = 0;
    for (int i = 0; i < n; ++i) s += p[i];
    free(p);
    out[threadIdx.x] = s;
}""", Launch(["out"], (1,), (64,)), buffers={"out": poisoned(64, np.int32)}, expect=lambda _: {"out": np.array([t * sum(range(t % 5 + 1)) for t in range(64)], np.int32)})
SUITE.add("device_side_new_and_delete", """
struct Node { int v; Node *next; __device__ Node(int v, Node *n) : v(v), next(n) {} };
__global__ void k(int *out) {
    Node *head = nullptr;
    for (int i = 0; i < 6; ++i) head = new Node(threadIdx.x + i, head);
    int s = 0;
    while (head) { s = s * 3 + head->v; Node *n = head->next; delete head; head = n; }
    out[threadIdx.x] = s;
}""", Launch(["out"], (1,), (32,)), buffers={"out": poisoned(32, np.int32)},
          expect=lambda _: {"out": np.array([sum((t + i) * 3**i for i in range(6)) for t in range(32)], np.int32)})
SUITE.add("memcpy_and_memset_in_device_code", """
struct Block { char bytes[37]; };
__global__ void k(const char *a, char *out) {
    Block b;
    memset(&b, 0x5a, sizeof b);
    memcpy(b.bytes + 3, a + 11 * threadIdx.x, 20);
    memcpy(out + 37 * threadIdx.x, &b, sizeof b);
}""", Launch(["a", "out"], (1,), (16,)), buffers={"a": random_ints(np.int8, 200, 179), "out": poisoned(592, np.int8)},
          expect=lambda b: {"out": np.concatenate([np.concatenate([np.full(3, 0x5A), b["a"][11 * t : 11 * t + 20], np.full(14, 0x5A)]) for t in range(16)]).astype(np.int8)})

# Lanes that write one place: the same value from each, read back at once; a place per row.
for _x, _y in ((16, 16), (8, 8), (32, 4), (5, 7)):
    SUITE.add(f"one_place_per_row_{_x}x{_y}", """
__global__ void k(int *row, int *block, int *out) {
    int b = blockIdx.x, y = threadIdx.y, t = y * blockDim.x + threadIdx.x;
    row[(b * blockDim.y + y) * 3] = 7 * y + b;
    block[b] = 5 + b;
    out[b * blockDim.x * blockDim.y + t] = row[(b * blockDim.y + y) * 3] * 1000 + block[b];
}""", Launch(["row", "block", "out"], (3,), (_x, _y)),
              buffers={"row": np.zeros((3 * _y, 3), np.int32), "block": np.zeros(3, np.int32), "out": poisoned((3, _y, _x), np.int32)},
              expect=lambda b: _one_place(*b["out"].shape))


def _one_place(blocks: int, y: int, x: int) -> dict[str, np.ndarray]:
    b, r = np.arange(blocks)[:, None], np.arange(y)[None]
    row, block = (7 * r + b).astype(np.int32), (5 + np.arange(blocks)).astype(np.int32)
    out = np.repeat((row * 1000 + block[:, None])[:, :, None], x, 2).astype(np.int32)
    return {"row": np.pad(row.reshape(-1, 1), ((0, 0), (0, 2))), "block": block, "out": out}
