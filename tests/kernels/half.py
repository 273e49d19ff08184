"""`__half` and `__half2` from ``cuda_fp16.h``. Oracle: rational arithmetic on bit patterns, NumPy's float16."""

from __future__ import annotations

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Ulp, Within
from tests.kernels.exact import F16, F64
from tests.kernels.half_common import HalfCases
from tests.kernels.inputs import F16_BITS, rng

SUITE = Suite("half")

cases = HalfCases(SUITE, "half", F16, F16_BITS)
cases.add_all()

_g = rng(131)
UNITS = _g.normal(size=400).astype(np.float16)

# Transcendental functions: the guide gives half precision no table; the header computes in float and rounds.
NOTE = "cuda_fp16.h computes in float and rounds to half: 1 ulp, 2 for approximated sine and cosine"
for _name, _oracle, _values, _ulp in (
    ("hexp", np.exp, UNITS, 1), ("hexp2", np.exp2, UNITS, 1), ("hexp10", lambda a: 10.0**a, UNITS, 1), ("hlog", np.log, np.abs(UNITS), 1),
    ("hlog2", np.log2, np.abs(UNITS), 1), ("hlog10", np.log10, np.abs(UNITS), 1), ("hsin", np.sin, UNITS, 2), ("hcos", np.cos, UNITS, 2),
    ("hrsqrt", lambda a: 1 / np.sqrt(a), np.abs(UNITS), 1), ("hrcp", lambda a: 1 / a, UNITS, 1)):
    source = cases.header + f"""
extern "C" __global__ void k(int n, const __half *a, __half *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = {_name}(a[i]);
}}"""
    SUITE.add(_name, source, Launch([np.int32(400), "a", "out"], (4,), (100,)), buffers={"a": _values, "out": poisoned(400, np.float16)},
              expect=lambda b, f=_oracle: {"out": f(b["a"].astype(np.float64))}, compare=Ulp(_ulp, NOTE), no_extern_c=True)
SUITE.add("htanh_approx", cases.header + """
extern "C" __global__ void k(const float *a, float *out) {
    unsigned short x = __half_as_ushort(__float2half_rn(a[threadIdx.x])), y;
    asm("tanh.approx.f16 %0, %1;" : "=h"(y) : "h"(x));
    out[threadIdx.x] = __half2float(__ushort_as_half(y));
}""", Launch(["a", "out"], (1,), (256,)), buffers={"a": _g.normal(size=256).astype(np.float32), "out": poisoned(256, np.float32)},
          expect=lambda b: {"out": np.tanh(b["a"].astype(np.float16).astype(np.float64)).astype(np.float32)},
          compare=Within("PTX ISA, tanh.approx.f16: absolute error 2^-10.987", atol=2.0**-10.98), no_extern_c=True)

SUITE.add("half2_dot_product_by_shuffle", cases.header + """
extern "C" __global__ void k(const __half2 *a, const __half2 *b, float *out) {
    __half2 p = __hmul2(a[blockIdx.x * 32 + threadIdx.x], b[blockIdx.x * 32 + threadIdx.x]);
    float s = __low2float(p) + __high2float(p);
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}""", Launch(["a", "b", "out"], (4,), (32,)),
          buffers={"a": _g.integers(-8, 8, 256).astype(np.float16), "b": _g.integers(-8, 8, 256).astype(np.float16), "out": poisoned(4, np.float32)},
          expect=lambda b: {"out": (b["a"].astype(np.float32) * b["b"].astype(np.float32)).reshape(4, 64).sum(1)}, no_extern_c=True)
SUITE.add("half_shuffle_and_operators", cases.header + """
extern "C" __global__ void k(const __half *a, __half *out) {
    __half x = a[threadIdx.x];
    __half y = __shfl_down_sync(0xffffffffu, x, 3);
    __half z = x + y * x - -y;
    z += __half(1.0f);
    z = z > x ? z : x / y;
    out[threadIdx.x] = z;
}""", Launch(["a", "out"], (1,), (32,)), buffers={"a": (_g.integers(1, 9, 32) / 4).astype(np.float16), "out": poisoned(32, np.float16)},
          expect=lambda b: {"out": _shuffled(b["a"])}, no_extern_c=True, options=("-fmad=false",))


def _shuffled(x: np.ndarray) -> np.ndarray:
    y = x[np.minimum(np.arange(32) + 3, 31)].copy()
    y[29:] = x[29:]  # A source lane past the end leaves the lane's own value.
    z = x + y * x + y + np.float16(1)
    return np.where(z > x, z, x / y)


SUITE.add("half_atomic_add", cases.header + """
extern "C" __global__ void k(__half *out, __half2 *out2) {
    atomicAdd(out + (threadIdx.x & 3), __float2half(1.0f));
    atomicAdd(out2, __floats2half2_rn(1.0f, 2.0f));
}""", Launch(["out", "out2"], (2,), (128,)), buffers={"out": np.zeros(4, np.float16), "out2": np.zeros(2, np.float16)},
          expect=lambda _: {"out": np.full(4, 64, np.float16), "out2": np.array([256, 512], np.float16)}, no_extern_c=True)
SUITE.add("half_from_double_rounds_once", cases.header + """
extern "C" __global__ void k(const double *a, __half *out) { out[threadIdx.x] = __double2half(a[threadIdx.x]); }""",
          Launch(["a", "out"], (1,), (64,)),
          buffers={"a": np.concatenate([_g.normal(size=56), [1 + 2.0**-11 + 2.0**-40, 65519.99, 65520.0, 2.0**-25, 2.0**-25 * 1.0000001, -2.0**-24, np.inf, -np.nan]]),
                   "out": poisoned(64, np.float16)},
          expect=lambda b: {"out": exact.floats([exact.convert(v, F64, F16) for v in exact.bits_of(b["a"], F64)], F16)}, no_extern_c=True)
