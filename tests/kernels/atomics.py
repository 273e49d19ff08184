"""Atomics: every operation, type and memory space, scopes, orderings, locks, fences."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Predicate
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("atomics")

N = 1000
_DTYPES = {"int": np.int32, "unsigned int": np.uint32, "unsigned long long": np.uint64, "long long": np.int64, "float": np.float32, "double": np.float64}


def _fold(ufunc, start: int):
    """Apply a reduction per slot; slot = index mod 7."""
    def oracle(values: np.ndarray, dtype: type) -> np.ndarray:
        return np.array([ufunc.reduce(np.concatenate([[dtype(start)], values[i::7]]).astype(dtype), dtype=dtype) for i in range(7)], dtype)

    return oracle


_OPERATIONS = {
    "Add": (("int", "unsigned int", "unsigned long long", "float", "double"), np.add, 5),
    "Sub": (("int", "unsigned int"), np.subtract, 5),
    "Min": (("int", "unsigned int", "unsigned long long", "long long"), np.minimum, 100),
    "Max": (("int", "unsigned int", "unsigned long long", "long long"), np.maximum, 100),
    "And": (("int", "unsigned int", "unsigned long long"), np.bitwise_and, -1),
    "Or": (("int", "unsigned int", "unsigned long long"), np.bitwise_or, 0),
    "Xor": (("int", "unsigned int", "unsigned long long"), np.bitwise_xor, 0),
}


def _values(ctype: str, seed: int) -> np.ndarray:
    dtype = _DTYPES[ctype]
    if ctype in ("float", "double"):
        return rng(seed).integers(-100, 100, N).astype(dtype)
    values = random_ints(dtype, N, seed)
    return values


def _start(op: str, ctype: str, start: int) -> int:
    """The slots' first value; the largest number of an unsigned type for And and Min, so that the operation shows."""
    bits = {"unsigned int": 32, "unsigned long long": 64}.get(ctype)
    return (1 << bits) - 1 if bits and op in ("And", "Min") else start


for _op, (_ctypes, _ufunc, _init) in _OPERATIONS.items():
    for _ctype in _ctypes:
        _tag, _dtype = _ctype.replace("unsigned ", "u").replace(" ", ""), _DTYPES[_ctype]
        _a, _s = _values(_ctype, 201), _start(_op, _ctype, _init)
        SUITE.add(f"atomic{_op}_{_tag}_global", f"""
__global__ void k(int n, const {_ctype} *a, {_ctype} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic{_op}(out + i % 7, a[i]);
}}""", Launch([np.int32(N), "a", "out"], (8,), (128,)), buffers={"a": _a, "out": np.full(7, _s, _dtype)},
                  expect=lambda b, f=_fold(_ufunc, _s), d=_dtype: {"out": f(b["a"], d)})
        if _ctype in ("int", "unsigned long long", "float", "double"):
            SUITE.add(f"atomic{_op}_{_tag}_shared", f"""
__global__ void k(int n, const {_ctype} *a, {_ctype} *out) {{
    __shared__ {_ctype} s[7];
    if (threadIdx.x < 7) s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomic{_op}(s + i % 7, a[i]);
    __syncthreads();
    if (threadIdx.x < 7) out[threadIdx.x] = s[threadIdx.x];
}}""", Launch([np.int32(N), "a", "out"], (1,), (96,)), buffers={"a": _a, "out": np.full(7, _s, _dtype)},
                      expect=lambda b, f=_fold(_ufunc, _s), d=_dtype: {"out": f(b["a"], d)})

SUITE.add("atomicInc_wraps_at_limit", "__global__ void k(unsigned int *out) { atomicInc(out + threadIdx.x % 3, 6u + threadIdx.x % 3); }",
          Launch(["out"], (5,), (60,)), buffers={"out": np.array([0, 100, 3], np.uint32)},
          # 100 increments of each slot: slot 1 starts above its limit, which the first increment resets to 0.
          expect=lambda _: {"out": np.array([100 % 7, 99 % 8, 103 % 9], np.uint32)})
SUITE.add("atomicDec_wraps_at_zero", "__global__ void k(unsigned int *out) { atomicDec(out + threadIdx.x % 3, 6u + threadIdx.x % 3); }",
          Launch(["out"], (5,), (60,)), buffers={"out": np.array([0, 100, 3], np.uint32)},
          # Zero, and values above the limit, go to the limit.
          expect=lambda _: {"out": np.array([_decremented(0, 6), _decremented(100, 7), _decremented(3, 8)], np.uint32)})


def _decremented(value: int, limit: int) -> int:
    for _ in range(100):
        value = limit if value == 0 or value > limit else value - 1
    return value


SUITE.add("atomicExch_keeps_every_value_once", """
__global__ void k(int *slot, int *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = atomicExch(slot, i); }""",
          Launch(["slot", "out"], (6,), (100,)), buffers={"slot": np.array([-1], np.int32), "out": poisoned(600, np.int32)}, expect=lambda _: {"out": np.arange(600, dtype=np.int32)},
          compare=Predicate("the old values are -1 and all numbers but one", lambda got, want: len({*got.tolist()}) == 600 and {*got.tolist()} <= {-1, *want.tolist()}))
SUITE.add("atomicExch_float_and_64", """
__global__ void k(float *f, unsigned long long *u, float *out) { if (threadIdx.x == 40) { out[0] = atomicExch(f, 2.5f); out[1] = (float)atomicExch(u, 77ull); } }""",
          Launch(["f", "u", "out"], (1,), (64,)), buffers={"f": np.array([-1.25], np.float32), "u": np.array([12], np.uint64), "out": poisoned(2, np.float32)},
          expect=lambda _: {"f": np.array([2.5], np.float32), "u": np.array([77], np.uint64), "out": np.array([-1.25, 12], np.float32)})
SUITE.add("atomicAdd_returns_distinct_tickets", """
__global__ void k(int *counter, int *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; int t = atomicAdd(counter, 1); out[t] = 1; if (i == 0) out[1000] = 0; }""",
          Launch(["counter", "out"], (10,), (100,)), buffers={"counter": np.zeros(1, np.int32), "out": np.full(1001, -5, np.int32)},
          expect=lambda _: {"counter": np.array([1000], np.int32), "out": np.array([1] * 1000 + [0], np.int32)})
for _bits, _ctype, _dtype in ((32, "unsigned int", np.uint32), (64, "unsigned long long", np.uint64), (16, "unsigned short", np.uint16)):
    SUITE.add(f"atomicCAS_{_bits}_builds_other_operations", f"""
__device__ {_ctype} atomicMulAdd({_ctype} *p, {_ctype} m) {{
    {_ctype} old = *p, seen;
    do {{ seen = old; old = atomicCAS(p, seen, ({_ctype})(seen + m * 3)); }} while (old != seen);
    return old;
}}
__global__ void k(const {_ctype} *a, {_ctype} *out) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; atomicMulAdd(out + i % 5, a[i]); }}""",
              Launch(["a", "out"], (4,), (64,)), buffers={"a": random_ints(_dtype, 256, 202), "out": np.zeros(5, _dtype)},
              expect=lambda b, d=_dtype: {"out": np.array([(b["a"][i::5] * d(3)).sum(dtype=d) for i in range(5)], d)})
SUITE.add("atomicCAS_float_max", """
__device__ void atomicMaxFloat(float *p, float v) {
    int *q = (int *)p, old = *q, seen;
    while (__int_as_float(old) < v) { seen = old; old = atomicCAS(q, seen, __float_as_int(v)); if (old == seen) break; }
}
__global__ void k(const float *a, float *out) { atomicMaxFloat(out + threadIdx.x % 4, a[blockIdx.x * blockDim.x + threadIdx.x]); }""",
          Launch(["a", "out"], (4,), (128,)), buffers={"a": rng(203).normal(size=512).astype(np.float32), "out": np.full(4, -np.inf, np.float32)},
          expect=lambda b: {"out": b["a"].reshape(4, 32, 4).max((0, 1))})
SUITE.add("atomics_through_generic_pointers", """
__device__ __noinline__ void bump(int *p, int v) { atomicAdd(p, v); }
__global__ void k(int *g, int *out) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    bump((threadIdx.x & 1) ? g : &s, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}""", Launch(["g", "out"], (3,), (100,)), buffers={"g": np.zeros(1, np.int32), "out": poisoned(3, np.int32)},
          expect=lambda _: {"g": np.array([3 * 2500], np.int32), "out": np.full(3, 2450, np.int32)})
SUITE.add("atomics_with_scopes", """
__global__ void k(int *out, double *d) {
    atomicAdd_system(out, 1); atomicAdd_block(out + 1 + blockIdx.x, 2); atomicMax_system(out + 4, (int)threadIdx.x); atomicCAS_block(out + 5 + blockIdx.x, 0, 9); atomicAdd_block(d + blockIdx.x, 0.5);
}""", Launch(["out", "d"], (3,), (64,)), buffers={"out": np.zeros(8, np.int32), "d": np.zeros(3)},
          expect=lambda _: {"out": np.array([192, 128, 128, 128, 63, 9, 9, 9], np.int32), "d": np.full(3, 32.0)})
SUITE.add("reductions_without_result_ptx", """
__global__ void k(unsigned int *u, float *f, unsigned long long *l) {
    unsigned int v = threadIdx.x;
    asm volatile("red.global.add.u32 [%0], %1;" :: "l"(u), "r"(v) : "memory");
    asm volatile("red.global.max.u32 [%0], %1;" :: "l"(u + 1), "r"(v) : "memory");
    asm volatile("red.global.add.f32 [%0], %1;" :: "l"(f), "f"(0.5f) : "memory");
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" :: "l"(l), "l"(1ull << 40) : "memory");
}""", Launch(["u", "f", "l"], (2,), (50,)), buffers={"u": np.zeros(2, np.uint32), "f": np.zeros(1, np.float32), "l": np.zeros(1, np.uint64)},
          expect=lambda _: {"u": np.array([2450, 49], np.uint32), "f": np.array([50], np.float32), "l": np.array([100 << 40], np.uint64)})
SUITE.add("atomicAdd_float_vector_of_double_precision_sums", """
__global__ void k(int n, const double *a, double *out) { double s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i]; atomicAdd(out, s); }""",
          Launch([np.int32(5000), "a", "out"], (7,), (50,)), buffers={"a": rng(204).integers(-1000, 1000, 5000) / 8.0, "out": np.zeros(1)}, expect=lambda b: {"out": b["a"].sum(keepdims=True)})
SUITE.add("shared_memory_histogram", """
__global__ void k(int n, const unsigned char *a, unsigned int *out) {
    __shared__ unsigned int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&bins[a[i]], 1u);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}""", Launch([np.int32(20000), "a", "out"], (6,), (256,)), buffers={"a": (rng(205).normal(size=20000) * 30 + 128).clip(0, 255).astype(np.uint8), "out": np.zeros(256, np.uint32)},
          expect=lambda b: {"out": np.bincount(b["a"], minlength=256).astype(np.uint32)})
SUITE.add("all_lanes_on_one_address", "__global__ void k(int *out, int *old) { int o = atomicAdd(out, 1 << (threadIdx.x & 3)); old[threadIdx.x] = o >= 0; }",
          Launch(["out", "old"], (2,), (256,)), buffers={"out": np.zeros(1, np.int32), "old": poisoned(256, np.int32)},
          expect=lambda _: {"out": np.array([512 // 4 * 15], np.int32), "old": np.ones(256, np.int32)})
SUITE.add("atomics_of_some_lanes_only", "__global__ void k(int *out) { int t = threadIdx.x; if (t % 3 == 1) atomicAdd(out, t); else if (t % 5 == 0) atomicMax(out + 1, t); else if (t > 50) atomicOr(out + 2, t); }",
          Launch(["out"], (2,), (90,)), buffers={"out": np.zeros(3, np.int32)},
          expect=lambda _: {"out": np.array([2 * sum(range(1, 90, 3)), max(t for t in range(0, 90, 5) if t % 3 != 1), np.bitwise_or.reduce([t for t in range(51, 90) if t % 3 != 1 and t % 5])], np.int32)})

# Locks and fences.
SUITE.add("spin_lock_between_blocks", """
__device__ int lock = 0;
__device__ volatile int shared_value = 0;
__global__ void k(int *out) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < 20; ++i) {
            while (atomicCAS(&lock, 0, 1) != 0) ;
            __threadfence();
            int v = shared_value;
            shared_value = v + 1;
            __threadfence();
            atomicExch(&lock, 0);
        }
        out[blockIdx.x] = 1;
    }
}""", Launch(["out"], (24,), (32,)), spins=True, buffers={"out": poisoned(24, np.int32)}, expect=lambda _: {"out": np.ones(24, np.int32)},
          globals_out=lambda _: {"shared_value": np.array([480], np.int32), "lock": np.array([0], np.int32)})
SUITE.add("spin_lock_between_lanes_of_a_warp", """
__global__ void k(int *lock, int *value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)value = *(volatile int *)value + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}""", Launch(["lock", "value"], (3,), (64,)), spins=True, buffers={"lock": np.zeros(1, np.int32), "value": np.zeros(1, np.int32)}, expect=lambda _: {"lock": np.zeros(1, np.int32), "value": np.array([192], np.int32)})
SUITE.add("spin_lock_in_shared_memory_between_warps", """
__global__ void k(int *out) {
    __shared__ int lock, value;
    if (threadIdx.x == 0) { lock = 0; value = 0; }
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        for (int i = 0; i < 10; ++i) {
            while (atomicCAS(&lock, 0, 1)) ;
            volatile int *v = &value; *v = *v + 3;
            __threadfence_block();
            atomicExch(&lock, 0);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}""", Launch(["out"], (2,), (256,)), spins=True, buffers={"out": poisoned(2, np.int32)}, expect=lambda _: {"out": np.full(2, 240, np.int32)})
SUITE.add("ticket_lock", """
__device__ unsigned int next_ticket = 0, serving = 0;
__device__ int value = 1;
__global__ void k() {
    if (threadIdx.x) return;
    unsigned int mine = atomicAdd(&next_ticket, 1u);
    while (atomicAdd(&serving, 0u) != mine) ;
    __threadfence();
    *(volatile int *)&value = (*(volatile int *)&value * 5 + 1) & 0xffff;
    __threadfence();
    atomicAdd(&serving, 1u);
}""", Launch([], (16,), (32,)), spins=True, globals_out=lambda _: {"value": np.array([_lcg(16)], np.int32), "serving": np.array([16], np.uint32)})


def _lcg(n: int) -> int:
    v = 1
    for _ in range(n):
        v = (v * 5 + 1) & 0xFFFF
    return v


SUITE.add("last_block_reduces", """
__device__ unsigned int arrived = 0;
__device__ volatile float partial[64];
__global__ void k(int n, const float *a, float *out) {
    __shared__ float s[128];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += a[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int k = 64; k; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) { float t = 0; for (int i = 0; i < gridDim.x; ++i) t += partial[i]; *out = t; }
}""", (Launch([np.int32(9000), "a", "out"], (17,), (128,)), Launch([np.int32(9000), "a", "again"], (17,), (128,))),
          buffers={"a": rng(206).integers(-100, 100, 9000).astype(np.float32), "out": poisoned(1, np.float32), "again": poisoned(1, np.float32)},
          expect=lambda b: {"out": b["a"].sum(keepdims=True), "again": b["a"].sum(keepdims=True)}, globals_out=lambda _: {"arrived": np.array([0], np.uint32)})
SUITE.add("hand_made_grid_barrier", """
__device__ unsigned int arrived = 0;
__device__ volatile int row[8];
__global__ void k(int *out) {
    int r = blockIdx.x;
    for (int phase = 1; phase <= 5; ++phase) {
        if (threadIdx.x == 0) {
            row[blockIdx.x] = r;
            __threadfence();
            atomicAdd(&arrived, 1u);
            while (*(volatile unsigned int *)&arrived < gridDim.x * (2 * phase - 1)) ;
            __threadfence();
        }
        __syncthreads();
        int s = 0;
        for (int i = 0; i < gridDim.x; ++i) s += row[i] * (i + phase);
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&arrived, 1u);
            while (*(volatile unsigned int *)&arrived < gridDim.x * 2 * phase) ;
        }
        __syncthreads();
        r = (s + r) & 0xffff;
    }
    if (threadIdx.x == 63) out[blockIdx.x] = r;
}""", Launch(["out"], (8,), (64,)), spins=True, buffers={"out": poisoned(8, np.int32)}, expect=lambda _: {"out": _phases()})


def _phases() -> np.ndarray:
    r = np.arange(8)
    for phase in range(1, 6):
        r = ((r * (np.arange(8) + phase)).sum() + r) & 0xFFFF
    return r.astype(np.int32)


SUITE.add("message_passing_with_fences", """
__device__ volatile int flag = 0;
__device__ volatile int data[32];
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 13;
        __threadfence();
        __syncwarp();
        if (threadIdx.x == 0) flag = 1;
    } else {
        while (flag == 0) ;
        __threadfence();
        out[threadIdx.x] = data[31 - threadIdx.x];
    }
}""", Launch(["out"], (2,), (32,)), spins=True, buffers={"out": poisoned(32, np.int32)}, expect=lambda _: {"out": ((31 - np.arange(32)) * 13).astype(np.int32)})
SUITE.add("acquire_release_ptx", """
__device__ int flag = 0, payload = 0;
__global__ void k(int *out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            asm volatile("st.relaxed.gpu.global.s32 [%0], 1234;" :: "l"(&payload) : "memory");
            asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(&flag) : "memory");
        } else {
            int f, v;
            do { asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(f) : "l"(&flag) : "memory"); } while (!f);
            asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(&payload) : "memory");
            out[0] = v;
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            asm volatile("fence.sc.sys;" ::: "memory");
        }
    }
}""", Launch(["out"], (2,), (32,)), spins=True, buffers={"out": poisoned(1, np.int32)}, expect=lambda _: {"out": np.array([1234], np.int32)})
SUITE.add("linked_list_built_by_cas", """
__global__ void k(int *head, int *next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, old = *(volatile int *)head, seen;
    do { seen = old; next[i] = seen; __threadfence(); old = atomicCAS(head, seen, i); } while (old != seen);
}
__global__ void walk(const int *head, const int *next, int *out) { int n = 0; long long s = 0; for (int i = *head; i >= 0 && n < 10000; i = next[i]) { ++n; s += i; } out[0] = n; out[1] = (int)s; }""",
          (Launch(["head", "next"], (5,), (64,)), Launch(["head", "next", "out"], kernel="walk")),
          buffers={"head": np.array([-1], np.int32), "next": poisoned(320, np.int32), "out": poisoned(2, np.int32)}, expect=lambda _: {"out": np.array([320, 320 * 319 // 2], np.int32)})
SUITE.add("hash_table_insertion", """
__global__ void k(int n, const unsigned int *keys, unsigned int *table, int *duplicates) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int key = keys[i], slot = key * 2654435761u >> 22;
    for (;;) {
        unsigned int old = atomicCAS(table + slot, 0u, key);
        if (old == 0u) break;
        if (old == key) { atomicAdd(duplicates, 1); break; }
        slot = (slot + 1) & 1023;
    }
}""", Launch([np.int32(700), "keys", "table", "duplicates"], (6,), (128,)),
          buffers={"keys": rng(207).integers(1, 900, 700).astype(np.uint32), "table": np.zeros(1024, np.uint32), "duplicates": np.zeros(1, np.int32)},
          expect=lambda b: {"table": np.unique(b["keys"]), "duplicates": np.array([700 - len(np.unique(b["keys"]))], np.int32)},
          compare={"table": Predicate("the table holds each key once", lambda got, want: np.array_equal(np.sort(got[got != 0]), want))})

for _name, _n in (("parameter", "n"), ("block_index", "blockIdx.x + 3"), ("loaded_value", "*more")):
    SUITE.add(f"shared_histogram_in_a_divergent_loop_with_a_{_name}", f"""
__global__ void k(unsigned int n, const unsigned int *more, unsigned int *a) {{
    __shared__ unsigned int bins[8];
    unsigned int by = {_n};
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int m = a[threadIdx.x]; m >= 0; m--) atomicAdd(&bins[m & 7], by);
    __syncthreads();
    a[threadIdx.x] = bins[threadIdx.x & 7];
}}""", Launch([np.uint32(3), "more", "a"], (1,), (64,)), buffers={"more": np.array([3], np.uint32), "a": np.arange(64, dtype=np.uint32)},
              expect=lambda _: {"a": np.tile(3 * np.array([sum(m % 8 == k for t in range(64) for m in range(t + 1)) for k in range(8)], np.uint32), 8)})
