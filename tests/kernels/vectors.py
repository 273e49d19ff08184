"""Built-in vector types, structures, alignment, unions. Oracle: NumPy on the same bytes."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Ptr, Suite, poisoned
from tests.kernels.inputs import random_ints, rng

SUITE = Suite("vectors")

_TYPES = {
    "char2": (np.int8, 2), "uchar4": (np.uint8, 4), "short2": (np.int16, 2), "ushort4": (np.uint16, 4), "int2": (np.int32, 2), "int3": (np.int32, 3),
    "int4": (np.int32, 4), "uint2": (np.uint32, 2), "uint4": (np.uint32, 4), "longlong2": (np.int64, 2), "float2": (np.float32, 2),
    "float3": (np.float32, 3), "float4": (np.float32, 4), "double2": (np.float64, 2), "uchar3": (np.uint8, 3),
}
for _name, (_dtype, _count) in _TYPES.items():
    _fields = "xyzw"[:_count]
    _values = (rng(151).integers(-50, 50, (200, _count)).astype(_dtype) if np.dtype(_dtype).kind == "f" else
               random_ints(_dtype, 200 * _count, 152).reshape(200, _count))
    # Rotate the components, add a constant to the first: loads and stores are one vector access each.
    _body = "".join(f"    r.{f} = v.{_fields[(i + 1) % _count]};\n" for i, f in enumerate(_fields))
    SUITE.add(f"{_name}_load_store", f"""
__global__ void k(int n, const {_name} *a, {_name} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    {_name} v = a[i], r;
{_body}    r.x += 3;
    out[i] = r;
}}""", Launch([np.int32(200), "a", "out"], (3,), (72,)), buffers={"a": _values, "out": poisoned((200, _count), _dtype)},
              expect=lambda b, d=_dtype: {"out": np.roll(b["a"], -1, 1) + np.array([3] + [0] * (b["a"].shape[1] - 1), d)})

SUITE.add("make_float4_and_components", """
__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__global__ void k(const float4 *a, float *out) {
    float4 v = a[threadIdx.x];
    float4 u = make_float4(v.w, v.z, v.y, v.x);
    out[threadIdx.x] = dot(v, u) + dot(v, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
}""", Launch(["a", "out"], (1,), (128,)), buffers={"a": rng(153).integers(-20, 20, (128, 4)).astype(np.float32), "out": poisoned(128, np.float32)},
          expect=lambda b: {"out": (b["a"] * b["a"][:, ::-1]).sum(1) + (b["a"] * np.array([1, 2, 3, 4], np.float32)).sum(1)})
SUITE.add("vector_access_through_reinterpret_cast", """
__global__ void k(const float *a, float *out) {
    float4 v = reinterpret_cast<const float4 *>(a)[threadIdx.x];
    float2 *o = reinterpret_cast<float2 *>(out + 4 * threadIdx.x);
    o[0] = make_float2(v.w, v.z);
    o[1] = make_float2(v.y, v.x);
}""", Launch(["a", Ptr("out", 32)], (1,), (50,)), buffers={"a": rng(154).normal(size=200).astype(np.float32), "out": np.zeros(216, np.float32)},
          expect=lambda b: {"out": np.concatenate([np.zeros(8), b["a"].reshape(50, 4)[:, ::-1].ravel(), np.zeros(8)]).astype(np.float32)})
_PARTICLE = np.dtype([("id", np.int8), ("mass", np.float64), ("v", np.float32, 3), ("flags", np.uint16), ("next", np.int64)], align=True)


def _particles() -> np.ndarray:
    p = np.zeros(100, _PARTICLE)
    g = rng(155)
    p["id"], p["mass"], p["v"] = g.integers(-128, 128, 100), g.normal(size=100), g.integers(-9, 9, (100, 3))
    p["flags"], p["next"] = g.integers(0, 65536, 100), g.integers(-(2**62), 2**62, 100)
    return p


def _moved(p: np.ndarray) -> np.ndarray:
    q = p.copy()
    q["id"] = (p["id"].astype(np.int32) + 1).astype(np.int8)
    q["mass"] = p["mass"] * 2
    q["v"] = p["v"][:, ::-1]
    q["flags"] = p["flags"] ^ 0x8001
    q["next"] = p["next"] - 1
    return q


_PARTICLE_C = "struct Particle { signed char id; double mass; float v[3]; unsigned short flags; long long next; };\n"
SUITE.add("array_of_structures", _PARTICLE_C + """
__global__ void k(Particle *p) {
    Particle q = p[blockIdx.x * blockDim.x + threadIdx.x];
    q.id += 1; q.mass *= 2.0; float t = q.v[0]; q.v[0] = q.v[2]; q.v[2] = t; q.flags ^= 0x8001; q.next -= 1;
    Particle *o = &p[blockIdx.x * blockDim.x + threadIdx.x];
    o->id = q.id; o->mass = q.mass; for (int i = 0; i < 3; ++i) o->v[i] = q.v[i]; o->flags = q.flags; o->next = q.next;
}""", Launch(["p"], (4,), (25,)), buffers={"p": _particles()}, expect=lambda b: {"p": _moved(b["p"])})
SUITE.add("structure_by_value", _PARTICLE_C + """
__global__ void k(int before, Particle p, short after, double *out) {
    out[0] = before; out[1] = p.id; out[2] = p.mass; out[3] = p.v[threadIdx.x % 3]; out[4] = p.flags; out[5] = (double)p.next; out[6] = after;
}""", Launch([np.int32(-9), _particles()[7:8].view(np.ndarray)[0], np.int16(-77), "out"]), buffers={"out": poisoned(7, np.float64)},
          expect=lambda _: {"out": (lambda p: np.array([-9, p["id"], p["mass"], p["v"][0], p["flags"], float(p["next"]), -77], np.float64))(_particles()[7])})
SUITE.add("structure_by_value_indexed_at_run_time", """
struct Table { float row[16]; int n; };
__global__ void k(Table t, float *out) { float s = 0; for (int i = 0; i <= (int)threadIdx.x && i < t.n; ++i) s += t.row[i] * (i + 1); out[threadIdx.x] = s; }""",
          Launch([np.array([(np.arange(16) - 4.5, 12)], np.dtype([("row", np.float32, 16), ("n", np.int32)]))[0], "out"], (1,), (20,)),
          buffers={"out": poisoned(20, np.float32)},
          expect=lambda _: {"out": np.cumsum((np.arange(16) - 4.5) * np.arange(1, 17))[np.minimum(np.arange(20), 11)].astype(np.float32)})
SUITE.add("packed_and_aligned_structures", """
struct __attribute__((packed)) P { unsigned char a, b, c; };
struct __align__(16) A { float x, y, z; };
__global__ void k(const P *p, A *a, int *sizes) {
    int i = threadIdx.x;
    P v = p[i];
    A o; o.x = v.a; o.y = v.b; o.z = v.c;
    a[i].x = o.x; a[i].y = o.y; a[i].z = o.z;
    if (i == 0) { sizes[0] = sizeof(P); sizes[1] = sizeof(A); sizes[2] = alignof(A); sizes[3] = sizeof(void *); sizes[4] = sizeof(long); sizes[5] = sizeof(wchar_t); }
}""", Launch(["p", "a", "sizes"], (1,), (40,)),
          buffers={"p": random_ints(np.uint8, 120, 156).reshape(40, 3), "a": np.zeros((40, 4), np.float32), "sizes": poisoned(6, np.int32)},
          expect=lambda b: {"a": np.concatenate([b["p"], np.zeros((40, 1))], 1).astype(np.float32), "sizes": np.array([3, 16, 16, 8, 8, 4], np.int32)})
SUITE.add("unaligned_bytes_assembled", """
__global__ void k(const unsigned char *a, unsigned int *out) {
    const unsigned char *p = a + 3 * threadIdx.x + 1;
    out[threadIdx.x] = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
}""", Launch(["a", "out"], (1,), (64,)), buffers={"a": random_ints(np.uint8, 200, 157), "out": poisoned(64, np.uint32)},
          expect=lambda b: {"out": np.array([int.from_bytes(b["a"][3 * i + 1 : 3 * i + 5].tobytes(), "little") for i in range(64)], np.uint32)})
SUITE.add("rgb_image_to_grey", """
__global__ void k(int w, int h, const uchar3 *in, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) { uchar3 p = in[y * w + x]; out[y * w + x] = (unsigned char)((77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8); }
}""", Launch([np.int32(67), np.int32(35), "in", "out"], (5, 3), (16, 16)), buffers={"in": random_ints(np.uint8, 67 * 35 * 3, 158).reshape(35, 67, 3), "out": poisoned((35, 67), np.uint8)},
          expect=lambda b: {"out": ((b["in"].astype(np.int32) @ np.array([77, 150, 29]) + 128) >> 8).astype(np.uint8)})
