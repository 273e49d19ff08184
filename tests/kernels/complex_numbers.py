"""Complex numbers: ``cuComplex.h`` and ``pycuda-complex.hpp``. Values are Gaussian integers where results are exact."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Within
from tests.kernels.inputs import rng

SUITE = Suite("complex_numbers")

_g = rng(221)
NOTE = "a few roundings of the operands' precision; CUDA states no bound for complex functions"


def _gaussian(n: int, dtype: type) -> np.ndarray:
    return (_g.integers(-20, 20, n) + 1j * _g.integers(-20, 20, n)).astype(dtype)


for _ctype, _dtype, _c, _real in (("cuFloatComplex", np.complex64, "f", "float"), ("cuDoubleComplex", np.complex128, "", "double")):
    _tol = 4e-7 if _c else 1e-15
    SUITE.add(f"{_ctype}_arithmetic", f"""
#include <cuComplex.h>
extern "C" __global__ void k(const {_ctype} *a, const {_ctype} *b, {_ctype} *out) {{
    int i = threadIdx.x;
    {_ctype} x = a[i], y = b[i];
    out[i] = cuCadd{_c}(cuCmul{_c}(x, cuConj{_c}(y)), cuCsub{_c}(y, make_{_ctype}(cuCimag{_c}(x), 3)));
}}""", Launch(["a", "b", "out"], (1,), (100,)), buffers={"a": _gaussian(100, _dtype), "b": _gaussian(100, _dtype), "out": poisoned(100, _dtype)},
              expect=lambda b: {"out": b["a"] * b["b"].conj() + b["b"] - (b["a"].imag + 3j).astype(b["a"].dtype)}, no_extern_c=True)
    SUITE.add(f"{_ctype}_division_and_magnitude", f"""
#include <cuComplex.h>
extern "C" __global__ void k(const {_ctype} *a, const {_ctype} *b, {_ctype} *out, {_real} *m) {{
    int i = threadIdx.x; out[i] = cuCdiv{_c}(a[i], b[i]); m[i] = cuCabs{_c}(a[i]);
}}""", Launch(["a", "b", "out", "m"], (1,), (100,)),
              buffers={"a": _gaussian(100, _dtype), "b": _gaussian(100, _dtype) + _dtype(20.5 + 0.5j), "out": poisoned(100, _dtype), "m": poisoned(100, np.float32 if _c else np.float64)},
              expect=lambda b: {"out": (b["a"].astype(np.complex128) / b["b"]).astype(b["a"].dtype), "m": np.abs(b["a"].astype(np.complex128)).astype(b["m"].dtype)},
              compare=Within(NOTE, rtol=_tol, atol=_tol), no_extern_c=True)
SUITE.add("cuComplex_matrix_product", """
#include <cuComplex.h>
extern "C" __global__ void k(int n, const cuDoubleComplex *a, const cuDoubleComplex *b, cuDoubleComplex *c) {
    int x = threadIdx.x, y = threadIdx.y;
    cuDoubleComplex s = make_cuDoubleComplex(0, 0);
    for (int i = 0; i < n; ++i) s = cuCfma(a[y * n + i], b[i * n + x], s);
    c[y * n + x] = s;
}""", Launch([np.int32(12), "a", "b", "c"], (1,), (12, 12)),
          buffers={"a": _gaussian(144, np.complex128).reshape(12, 12), "b": _gaussian(144, np.complex128).reshape(12, 12), "c": poisoned((12, 12), np.complex128)},
          expect=lambda b: {"c": b["a"] @ b["b"]}, no_extern_c=True)

for _real, _dtype in (("float", np.complex64), ("double", np.complex128)):
    _t = f"pycuda::complex<{_real}>"
    _tol = 2e-6 if _real == "float" else 4e-15
    SUITE.add(f"pycuda_complex_{_real}_operators", f"""
#include <pycuda-complex.hpp>
typedef {_t} C;
extern "C" __global__ void k(const C *a, const C *b, C *out) {{
    int i = threadIdx.x;
    C x = a[i], y = b[i], z = x * y + conj(x) - y * ({_real})2;
    z += C(1, -1); z *= x; z -= y; z = -z + ({_real})3;
    out[i] = (x == y) ? C(0, 0) : z;
}}""", Launch(["a", "b", "out"], (1,), (64,)), buffers={"a": _gaussian(64, _dtype), "b": _gaussian(64, _dtype), "out": poisoned(64, _dtype)},
              expect=lambda b: {"out": _operators(b["a"], b["b"])}, no_extern_c=True)
    SUITE.add(f"pycuda_complex_{_real}_functions", f"""
#include <pycuda-complex.hpp>
typedef {_t} C;
extern "C" __global__ void k(const C *a, C *out) {{
    int i = threadIdx.x % 16, f = threadIdx.x / 16;
    C x = a[i], r;
    switch (f) {{
        case 0: r = exp(x); break;      case 1: r = log(x); break;    case 2: r = sqrt(x); break;    case 3: r = sin(x); break;
        case 4: r = cos(x); break;      case 5: r = tan(x); break;    case 6: r = sinh(x); break;    case 7: r = cosh(x); break;
        case 8: r = tanh(x); break;     case 9: r = C(1, 2) / x; break; case 10: r = pow(x, C(1.5, -0.5)); break; case 11: r = C(abs(x), arg(x)); break;
        case 12: r = C(norm(x), real(x) * imag(x)); break; case 13: r = pycuda::polar(({_real})2, ({_real})arg(x)); break; case 14: r = log10(x); break; default: r = pow(x, ({_real})2.5);
    }}
    out[threadIdx.x] = r;
}}""", Launch(["a", "out"], (1,), (256,)), buffers={"a": (_g.normal(size=16) + 1j * _g.normal(size=16)).astype(_dtype), "out": poisoned(256, _dtype)},
              expect=lambda b: {"out": _functions(b["a"])}, compare=Within(NOTE, rtol=_tol, atol=_tol), no_extern_c=True)
SUITE.add("pycuda_complex_in_volatile_shared_reduction", """
#include <pycuda-complex.hpp>
typedef pycuda::complex<float> C;
extern "C" __global__ void k(const C *a, C *out) {
    __shared__ C s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int n = 64; n; n >>= 1) { if (t < n) s[t] = s[t] + s[t + n]; __syncthreads(); }
    if (t == 0) out[0] = s[0];
}""", Launch(["a", "out"], (1,), (128,)), buffers={"a": _gaussian(128, np.complex64), "out": poisoned(1, np.complex64)}, expect=lambda b: {"out": b["a"].sum(keepdims=True)}, no_extern_c=True)


def _operators(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = (x * y + x.conj() - y * 2 + (1 - 1j)) * x - y
    return np.where(x == y, 0, 3 - z).astype(x.dtype)


def _functions(a: np.ndarray) -> np.ndarray:
    x = a.astype(np.complex128)
    rows = [np.exp(x), np.log(x), np.sqrt(x), np.sin(x), np.cos(x), np.tan(x), np.sinh(x), np.cosh(x), np.tanh(x), (1 + 2j) / x, x ** (1.5 - 0.5j),
            np.abs(x) + 1j * np.angle(x), np.abs(x) ** 2 + 1j * x.real * x.imag, 2 * np.exp(1j * np.angle(x)), np.log10(x), x**2.5]
    return np.concatenate(rows).astype(a.dtype)
