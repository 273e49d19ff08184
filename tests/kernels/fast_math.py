"""Fast intrinsics, ``-use_fast_math``, ``-prec-div=false``, ``-prec-sqrt=false``.

Bounds: CUDA C++ Programming Guide, "Intrinsic Functions", table of
single-precision intrinsics with error bounds.
"""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Suite
from tests.kernels.compare import Ulp, Within
from tests.kernels.elementwise import elementwise
from tests.kernels.inputs import rng

SUITE = Suite("fast_math")
TABLE = "CUDA C++ Programming Guide, single-precision intrinsics"

_g = rng(121)
X = _g.uniform(-3.14, 3.14, 400).astype(np.float32)
P = (10.0 ** _g.uniform(-30, 30, 400)).astype(np.float32)
NEAR1 = _g.uniform(0.5, 2.0, 400).astype(np.float32)
FAST = ("-use_fast_math",)


def _wide(function):
    return lambda *arrays: function(*(a.astype(np.float64) for a in arrays))


def _one(name: str, body: str, oracle, values: np.ndarray, compare, options: tuple[str, ...] = ()) -> None:
    elementwise(SUITE, name, "float a", "float", body, (values,), _wide(oracle), compare=compare, options=options)


for _tag, _end, _options in (("intrinsic", "__{}f(a)", ()), ("use_fast_math", "{}f(a)", FAST)):
    _one(f"{_tag}_sinf", _end.format("sin"), np.sin, X, Within(TABLE, atol=2**-21.41), _options)
    _one(f"{_tag}_cosf", _end.format("cos"), np.cos, X, Within(TABLE, atol=2**-21.19), _options)
    _one(f"{_tag}_tanf", _end.format("tan"), np.tan, (X / 2.2).astype(np.float32),
         Within(TABLE + ": sin/cos, each with its bound", atol=4e-6, rtol=4e-6), _options)
    # 2 + floor(|1.173 x|) ulp at |x| <= 20 is at most 25 ulp.
    _one(f"{_tag}_expf", _end.format("exp"), np.exp, _g.uniform(-20, 20, 300).astype(np.float32), Ulp(25, TABLE), _options)
    _one(f"{_tag}_exp10f", _end.format("exp10"), lambda a: 10.0**a, _g.uniform(-8, 8, 300).astype(np.float32), Ulp(25, TABLE), _options)
    _one(f"{_tag}_logf_near_one", _end.format("log"), np.log, NEAR1, Within(TABLE, atol=2**-21.41), _options)
    _one(f"{_tag}_logf", _end.format("log"), np.log, P[(P < 0.5) | (P > 2)], Ulp(3, TABLE), _options)
    _one(f"{_tag}_log2f_near_one", _end.format("log2"), np.log2, NEAR1, Within(TABLE, atol=2**-22), _options)
    _one(f"{_tag}_log2f", _end.format("log2"), np.log2, P[(P < 0.5) | (P > 2)], Ulp(2, TABLE), _options)
    _one(f"{_tag}_log10f", _end.format("log10"), np.log10, P[(P < 0.5) | (P > 2)], Ulp(3, TABLE), _options)
_one("use_fast_math_sqrtf", "sqrtf(a)", np.sqrt, P, Ulp(3, "CUDA C++ Programming Guide: sqrtf with -prec-sqrt=false"), FAST)
_one("use_fast_math_rsqrtf", "rsqrtf(a)", lambda a: 1 / np.sqrt(a), P, Ulp(2, "CUDA C++ Programming Guide: rsqrtf"), FAST)
_one("prec_sqrt_false", "sqrtf(a)", np.sqrt, P, Ulp(3, "CUDA C++ Programming Guide: sqrtf with -prec-sqrt=false"), ("-prec-sqrt=false",))
_one("frsqrt_rn", "__frsqrt_rn(a)", lambda a: 1 / np.sqrt(a), P, Ulp(0, "CUDA Math API: __frsqrt_rn is correctly rounded"))
_one("use_fast_math_tanhf", "tanhf(a)", np.tanh, _g.uniform(-4, 4, 300).astype(np.float32),
     Within("CUDA C++ Programming Guide: __tanhf has a maximum relative error of 2^-11", rtol=2.0**-10.98), FAST)
_one("intrinsic_sincosf", "float c; __sincosf(a, &r, &c); r += 2 * c;", lambda a: np.sin(a) + 2 * np.cos(a), X, Within(TABLE, atol=3 * 2**-21.19))

DIVISORS = (10.0 ** _g.uniform(-30, 30, 400)).astype(np.float32) * np.where(_g.random(400) < 0.5, -1, 1).astype(np.float32)
QUOTIENTS = (DIVISORS * _g.uniform(0.001, 1000, 400)).astype(np.float32)
for _name, _body, _options in (("intrinsic_fdividef", "__fdividef(a, b)", ()), ("use_fast_math_divide", "a / b", FAST),
                               ("prec_div_false", "a / b", ("-prec-div=false",))):
    elementwise(SUITE, _name, "float a, float b", "float", _body, (QUOTIENTS, DIVISORS), _wide(np.divide), compare=Ulp(2, TABLE), options=_options)
elementwise(SUITE, "prec_div_false_full_range", "float a, float b", "float", "a / b",
            (np.array([1, 1, 3e38, 2.0**126, 1e-38, -5, 0, 1, 0, np.inf], np.float32), np.array([2.0**127, 3e38, 3e38, 2.0**127, 1e-38, 1e38, 5, 0, 0, 2], np.float32)),
            _wide(np.divide), compare=Ulp(2, "PTX ISA, div.full.f32: 2 ulp in the full range", atol=2e-38), options=("-prec-div=false",))
elementwise(SUITE, "intrinsic_powf", "float a, float b", "float", "__powf(a, b)",
            (_g.uniform(0.5, 4, 300).astype(np.float32), _g.uniform(-4, 4, 300).astype(np.float32)), _wide(np.power),
            compare=Within(TABLE + ": exp2f(y * __log2f(x)); |y log2 x| <= 8", rtol=4e-6))
elementwise(SUITE, "use_fast_math_flushes_denormals", "float a, float b", "float", "a + b",
            (np.array([1e-40, 1.5e-38, -1e-45, 1e-38], np.float32), np.array([1e-40, -1.2e-38, 0, 1e-38], np.float32)),
            # float32 would keep these sums; with the flag denormal operands and results are zero.
            lambda a, b: np.zeros(4, np.float32), options=FAST)
elementwise(SUITE, "rcp_approx_ftz_ptx", "float a", "float", 'asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));', (P,), _wide(lambda a: 1 / a),
            compare=Ulp(1, "PTX ISA, rcp.approx.ftz.f32: 1 ulp"))
elementwise(SUITE, "ex2_approx_ptx", "float a", "float", 'asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(a));', (_g.uniform(-120, 120, 300).astype(np.float32),),
            _wide(np.exp2), compare=Ulp(2, "PTX ISA, ex2.approx.f32: 2 ulp"))
elementwise(SUITE, "tanh_approx_ptx", "float a", "float", 'asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(a));', (_g.uniform(-5, 5, 300).astype(np.float32),),
            _wide(np.tanh), compare=Within("PTX ISA, tanh.approx.f32: relative error 2^-11", rtol=2.0**-10.98))
elementwise(SUITE, "rcp_approx_ftz_f64_ptx", "double a", "double", 'asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));', (_g.uniform(0.1, 100, 100),),
            lambda a: 1 / a, compare=Within("PTX ISA, rcp.approx.ftz.f64: the upper word, relative error 2^-20", rtol=2.0**-19.9))
