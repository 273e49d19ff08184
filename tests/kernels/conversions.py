"""Conversions between number types in every rounding mode. Oracle: rational arithmetic (`exact`)."""

from __future__ import annotations

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Suite
from tests.kernels.compare import Where
from tests.kernels.elementwise import DTYPES, elementwise, wrap
from tests.kernels.exact import F32 as B32, F64 as B64
from tests.kernels.inputs import (
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U32,
    U64,
    random_bits_f32,
    random_bits_f64,
    random_ints,
    rng,
)

SUITE = Suite("conversions")

FLOATS = np.concatenate([F32, random_bits_f32(200, 21), (rng(22).normal(size=200) * 1e9).astype(np.float32),
                         np.arange(-6, 6.5, 0.5).astype(np.float32)])
DOUBLES = np.concatenate([F64, random_bits_f64(200, 23), rng(24).normal(size=200) * 1e9, rng(25).normal(size=100) * 1e18,
                          np.arange(-6, 6.5, 0.5), FLOATS.astype(np.float64),
                          np.array([2147483647.5, -2147483648.5, 4294967295.5, -0.5, 2147483646.5, -2147483649.0])])
MODES = {"rn": "n", "rz": "z", "ru": "u", "rd": "d"}
INTS = {"int": ("int", 32, True, I32, np.int32), "uint": ("unsigned int", 32, False, U32, np.uint32),
        "ll": ("long long", 64, True, I64, np.int64), "ull": ("unsigned long long", 64, False, U64, np.uint64)}


def _nan_result(source: str, bits: int, signed: bool) -> int:
    """PTX `cvt`: a NaN becomes 0, or, from f64 or to 64 bits, the integer with only the top bit set."""
    if source == "float" and bits == 32:
        return 0
    return -(1 << (bits - 1)) if signed else 1 << (bits - 1)


def _to_int(source: str, fmt: exact.Format, bits: int, signed: bool, mode: str):
    def oracle(values: np.ndarray) -> np.ndarray:
        kind = {(32, True): np.int32, (32, False): np.uint32, (64, True): np.int64, (64, False): np.uint64}[bits, signed]
        out = [exact.to_int(b, fmt, bits, signed, mode) for b in exact.bits_of(values, fmt)]
        return np.array([_nan_result(source, bits, signed) if v is None else v for v in out], kind)

    return oracle


for _short, (_ctype, _bits, _signed, _values, _dtype) in INTS.items():
    for _suffix, _mode in MODES.items():
        _ints = np.concatenate([_values, random_ints(_dtype, 200, 26)])
        elementwise(SUITE, f"float2{_short}_{_suffix}", "float a", _ctype, f"__float2{_short}_{_suffix}(a)", (FLOATS,),
                    _to_int("float", B32, _bits, _signed, _mode))
        elementwise(SUITE, f"double2{_short}_{_suffix}", "double a", _ctype, f"__double2{_short}_{_suffix}(a)", (DOUBLES,),
                    _to_int("double", B64, _bits, _signed, _mode))
        elementwise(SUITE, f"{_short}2float_{_suffix}", f"{_ctype} a", "float", f"__{_short}2float_{_suffix}(a)", (_ints,),
                    lambda v, m=_mode: exact.floats([exact.from_int(int(x), B32, m) for x in v], B32))
        if _bits == 64:
            elementwise(SUITE, f"{_short}2double_{_suffix}", f"{_ctype} a", "double", f"__{_short}2double_{_suffix}(a)",
                        (_ints,), lambda v, m=_mode: exact.floats([exact.from_int(int(x), B64, m) for x in v], B64))

for _suffix, _mode in MODES.items():
    elementwise(SUITE, f"double2float_{_suffix}", "double a", "float", f"__double2float_{_suffix}(a)", (DOUBLES,),
                lambda v, m=_mode: exact.floats([exact.convert(b, B64, B32, m) for b in exact.bits_of(v, B64)], B32))

elementwise(SUITE, "float_to_double_is_exact", "float a", "double", "(double)a", (FLOATS,), lambda a: a.astype(np.float64))
elementwise(SUITE, "i32_u32_to_double_are_exact", "int a, unsigned int b", "double", "(double)a - 0.5 * (double)b",
            (I32, U32[::-1].copy()), lambda a, b: a.astype(np.float64) - 0.5 * b.astype(np.float64))

IN_RANGE = rng(27).uniform(-100, 100, 300)
for _name, _ctype in {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long long"}.items():
    elementwise(SUITE, f"cast_double_to_{_name}", "double a", _ctype, f"({_ctype})a", (IN_RANGE,),
                lambda a, d=DTYPES[_ctype]: np.trunc(a).astype(d))
for _name, _ctype in {"u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long"}.items():
    elementwise(SUITE, f"cast_float_to_{_name}", "float a", _ctype, f"({_ctype})a", (np.abs(IN_RANGE).astype(np.float32) * 2,),
                lambda a, d=DTYPES[_ctype]: np.trunc(a).astype(d))
for _name, _ctype, _values in (("i8", "signed char", I8), ("u8", "unsigned char", U8), ("i16", "short", I16)):
    elementwise(SUITE, f"cast_{_name}_to_float_and_back", f"{_ctype} a", _ctype, f"({_ctype})((float)a * 0.5f)", (_values,),
                lambda a: np.trunc(a.astype(np.float32) * np.float32(0.5)).astype(a.dtype))
elementwise(SUITE, "cast_float_to_bool", "float a", "bool", "(bool)a", (FLOATS,), lambda a: (a != 0).astype(np.uint8))
elementwise(SUITE, "narrow_saturating_cvt_ptx", "int a", "int",
            'short s; asm("{ .reg .s8 t; cvt.sat.s8.s32 %0, %1; }" : "=h"(s) : "r"(a)); r = (signed char)s;',
            (np.concatenate([I32, np.arange(-200, 200, 7, dtype=np.int32)]),),
            lambda a: np.clip(a, -128, 127).astype(np.int32))
elementwise(SUITE, "float_to_u8_saturating_cvt_ptx", "float a", "int",
            'unsigned short s; asm("cvt.rni.u8.f32 %0, %1;" : "=h"(s) : "f"(a)); r = s & 255;',
            (np.concatenate([np.arange(-3, 3, 0.25), [254.5, 255.4, 255.6, 256, 1e9, -1e9]]).astype(np.float32),),
            lambda a: np.clip(np.rint(a), 0, 255).astype(np.int32))
elementwise(SUITE, "sign_extending_mov_between_halves", "unsigned int a", "int", "(int)(short)(a & 0xffff) + (int)(short)(a >> 16)",
            (random_ints(np.uint32, 200, 28),), lambda a: wrap(a, 16, True) + wrap(a >> 16, 16, True), scalar=True)

# Reinterpretation.
elementwise(SUITE, "float_as_int_and_back", "float a", "float", "__int_as_float(__float_as_int(a) ^ 0x80000000)", (F32[:-1],),
            lambda a: -a)
elementwise(SUITE, "double_as_longlong_and_back", "double a", "double",
            "__longlong_as_double(__double_as_longlong(a) & 0x7fffffffffffffffll)", (F64[:-1],), np.abs)
elementwise(SUITE, "double_hi_lo_words", "double a", "double", "__hiloint2double(__double2hiint(a), __double2loint(a) ^ 1)",
            (F64[np.isfinite(F64)],), lambda a: (a.view(np.uint64) ^ np.uint64(1)).view(np.float64))
elementwise(SUITE, "uint_as_float", "unsigned int a", "float", "__uint_as_float(a) + 0.0f",
            (random_bits_f32(300, 29).view(np.uint32),), lambda a: a.view(np.float32) + np.float32(0))
elementwise(SUITE, "union_type_punning", "double a", "unsigned int", "union { double d; unsigned int w[2]; } u; u.d = a; r = u.w[0] + 3u * u.w[1];",
            (F64[:-1],), lambda a: a.view(np.uint32).reshape(-1, 2)[:, 0] + np.uint32(3) * a.view(np.uint32).reshape(-1, 2)[:, 1])
_DEFINED = np.isfinite(FLOATS) & (np.abs(FLOATS) < 2**31)
elementwise(SUITE, "cast_float_to_int_c_style", "float a", "int", "(int)a", (FLOATS,),
            lambda a: np.trunc(np.where(np.isfinite(a) & (np.abs(a) < 2**31), a, 0)).astype(np.int32), compare=Where(_DEFINED))
