"""Cases that `__half` and `__nv_bfloat16` have alike; NaNs compare equal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.kernels import exact
from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.exact import F32, Format
from tests.kernels.inputs import F32 as F32_EDGES, pairs, random_bits_f32, random_ints, rng


class HalfCases:
    """Adds arithmetic, comparison and conversion cases of a 16-bit float."""

    def __init__(self, suite: Suite, tag: str, fmt: Format, edges: np.ndarray) -> None:
        self.suite, self.tag, self.fmt = suite, tag, fmt
        self.half = tag == "half"
        self.ctype = "__half" if self.half else "__nv_bfloat16"
        self.ctype2 = "__half2" if self.half else "__nv_bfloat162"
        self.word = "half" if self.half else "bfloat16"
        self.header = "#include <cuda_fp16.h>\n" if self.half else "#include <cuda_bf16.h>\n"
        a, b = pairs(edges)
        extra = rng(132).normal(size=(3, 300)).astype(np.float32)
        rounded = [np.array([exact.convert(v, F32, fmt) for v in exact.bits_of(x, F32)], np.uint16) for x in extra]
        self.a = np.concatenate([a, rounded[0], random_ints(np.uint16, 200, 133)])
        self.b = np.concatenate([b, rounded[1], random_ints(np.uint16, 200, 134)])
        self.c = np.resize(np.concatenate([rounded[2], edges]), len(self.a))
        if len(self.a) % 2:
            self.a, self.b, self.c = self.a[:-1], self.b[:-1], self.c[:-1]
        self.n = len(self.a)

    def _dtype(self) -> type:
        return np.float16 if self.half else np.uint16

    def _array(self, bits: np.ndarray) -> np.ndarray:
        return bits.view(self._dtype())

    def _result(self, bits: list[int]) -> np.ndarray:
        """bfloat16 has no NumPy type, so its NaNs are made canonical on both sides."""
        return exact.floats(bits, self.fmt)

    def _canonical(self) -> str:
        """C that stores `r`, a NaN as the canonical one."""
        return "" if self.half else "if (__hisnan(r)) r = __ushort_as_bfloat16(0x7fc0);"

    def _scalar(self, name: str, count: int, body: str, op: Callable[..., int], options: tuple[str, ...] = ()) -> None:
        names = "abc"[:count]
        source = f"""{self.header}
extern "C" __global__ void k(int n, {"".join(f"const {self.ctype} *{v}_, " for v in names)}{self.ctype} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    {self.ctype} {", ".join(f"{v} = {v}_[i]" for v in names)}, r;
    {body if ";" in body else f"r = {body};"}
    {self._canonical()}
    out[i] = r;
}}"""
        self._add(name, source, names, self.n, op, options)

    def _packed(self, name: str, count: int, body: str, op: Callable[..., int]) -> None:
        names = "abc"[:count]
        nan2 = "" if self.half else (
            "if (__hisnan(__low2bfloat16(r))) r.x = __ushort_as_bfloat16(0x7fc0); if (__hisnan(__high2bfloat16(r))) r.y = __ushort_as_bfloat16(0x7fc0);")
        source = f"""{self.header}
extern "C" __global__ void k(int n, {"".join(f"const {self.ctype2} *{v}_, " for v in names)}{self.ctype2} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    {self.ctype2} {", ".join(f"{v} = {v}_[i]" for v in names)}, r;
    r = {body};
    {nan2}
    out[i] = r;
}}"""
        self._add(name, source, names, self.n // 2, op, ())

    def _add(self, name: str, source: str, names: str, n: int, op: Callable[..., int], options: tuple[str, ...]) -> None:
        buffers = {v: self._array(getattr(self, v)) for v in names}
        buffers["out"] = poisoned(self.n, self._dtype())

        def expect(given):
            columns = zip(*(given[v].view(np.uint16).tolist() for v in names))
            return {"out": self._result([op(*bits) for bits in columns])}

        self.suite.add(f"{self.tag}_{name}", source, Launch([np.int32(n), *names, "out"], (-(-n // 160),), (160,)), buffers=buffers,
                       expect=expect, no_extern_c=True, options=options)

    def add_all(self) -> None:
        f = self.fmt
        self._scalar("add", 2, "__hadd(a, b)", lambda x, y: exact.add(x, y, f))
        self._scalar("sub", 2, "__hsub(a, b)", lambda x, y: exact.sub(x, y, f))
        self._scalar("mul", 2, "__hmul(a, b)", lambda x, y: exact.mul(x, y, f))
        self._scalar("fma", 3, "__hfma(a, b, c)", lambda x, y, z: exact.fma(x, y, z, f))
        self._scalar("neg_abs", 1, "__hneg(__habs(a))", lambda x: f.nan if exact.is_nan(x, f) else x | f.sign)
        # cuda_fp16.h multiplies and adds without a rounding modifier, which ptxas contracts; for bfloat16
        # that depends on the architecture.
        if self.half:
            self._scalar("operators_contract", 3, "r = a * b; r = r + c;", lambda x, y, z: exact.fma(x, y, z, f))
        else:
            self._scalar("operators", 3, "r = a * b; r = r + c;", lambda x, y, z: exact.add(exact.mul(x, y, f), z, f), ("-fmad=false",))
        self._packed("add2", 2, "__hadd2(a, b)", lambda x, y: exact.add(x, y, f))
        self._packed("mul2", 2, "__hmul2(a, b)", lambda x, y: exact.mul(x, y, f))
        self._packed("fma2", 3, "__hfma2(a, b, c)", lambda x, y, z: exact.fma(x, y, z, f))
        self._packed("min2", 2, "__hmin2(a, b)", lambda x, y: self._least(x, y, False))
        self._scalar("max", 2, "__hmax(a, b)", lambda x, y: self._least(x, y, True))
        self._scalar("min_propagating_nan", 2, "__hmin_nan(a, b)",
                     lambda x, y: f.nan if exact.is_nan(x, f) or exact.is_nan(y, f) else self._least(x, y, False))
        self._scalar("sqrt", 1, "hsqrt(a)", lambda x: exact.sqrt(x, f))
        self._scalar("floor_ceil_rint_trunc", 1, "r = __hadd(__hadd(hfloor(a), hceil(a)), __hadd(hrint(a), htrunc(a)));", self._roundings)
        self._comparison()
        self._conversions()

    def _least(self, x: int, y: int, greatest: bool) -> int:
        """min and max that skip NaN; -0 is less than +0 (PTX ISA, min and max)."""
        f = self.fmt
        if exact.is_nan(x, f) or exact.is_nan(y, f):
            return f.nan if exact.is_nan(x, f) and exact.is_nan(y, f) else y if exact.is_nan(x, f) else x
        key = lambda v: -(v & ~f.sign) - 1 if v & f.sign else v  # noqa: E731
        return (max if greatest else min)(x, y, key=key)

    def _roundings(self, x: int) -> int:
        f = self.fmt
        if exact.is_nan(x, f) or exact.is_inf(x, f):
            parts = [x] * 4
        else:
            v = exact.to_fraction(x, f)
            whole = [v.__floor__(), v.__ceil__(), round(v), v.__trunc__()]
            parts = [exact.from_fraction(exact.Fraction(w), f, "n", exact.negative(x, f)) for w in whole]
        return exact.add(exact.add(parts[0], parts[1], f), exact.add(parts[2], parts[3], f), f)

    def _comparison(self) -> None:
        source = f"""{self.header}
extern "C" __global__ void k(int n, const {self.ctype} *a_, const {self.ctype} *b_, int *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    {self.ctype} a = a_[i], b = b_[i];
    out[i] = __hlt(a, b) | __hle(a, b) << 1 | __hgt(a, b) << 2 | __hge(a, b) << 3 | __heq(a, b) << 4 | __hne(a, b) << 5
        | __hltu(a, b) << 6 | __hequ(a, b) << 7 | __hisnan(a) << 8 | (__hisinf(a) != 0) << 9;
}}"""

        def one(x: int, y: int) -> int:
            f = self.fmt
            unordered = exact.is_nan(x, f) or exact.is_nan(y, f)
            key = lambda v: -(v & ~f.sign) if v & f.sign else v  # noqa: E731
            p, q = key(x), key(y)
            ordered = (p < q) | (p <= q) << 1 | (p > q) << 2 | (p >= q) << 3 | (p == q) << 4
            # __hne is the ordered comparison: false for a NaN.
            got = 0 if unordered else ordered | (p != q) << 5
            return (got | (unordered or p < q) << 6 | (unordered or p == q) << 7 | exact.is_nan(x, f) << 8 | exact.is_inf(x, f) << 9)

        self.suite.add(f"{self.tag}_compare", source, Launch([np.int32(self.n), "a", "b", "out"], (-(-self.n // 96),), (96,)),
                       buffers={"a": self._array(self.a), "b": self._array(self.b), "out": poisoned(self.n, np.int32)},
                       expect=lambda g: {"out": np.array([one(x, y) for x, y in zip(g["a"].view(np.uint16).tolist(), g["b"].view(np.uint16).tolist())], np.int32)},
                       no_extern_c=True)

    def _convert_case(self, name: str, source_ctype: str, values: np.ndarray, expr: str, result_ctype: str, out: np.ndarray, expect) -> None:
        source = f"""{self.header}
extern "C" __global__ void k(int n, const {source_ctype} *a_, {result_ctype} *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    {source_ctype} a = a_[i];
    {result_ctype} r = {expr};
    {self._canonical() if result_ctype == self.ctype else ""}
    out[i] = r;
}}"""
        self.suite.add(f"{self.tag}_{name}", source, Launch([np.int32(len(values)), "a", "out"], (-(-len(values) // 64),), (64,)),
                       buffers={"a": values, "out": out}, expect=lambda g: {"out": expect(g["a"])}, no_extern_c=True)

    def _conversions(self) -> None:
        f, w = self.fmt, self.word
        floats = np.concatenate([F32_EDGES, random_bits_f32(200, 135), rng(136).normal(size=200).astype(np.float32),
                                 np.array([65504, 65519.996, 65520, 2**-24, 2**-25, 3 * 2**-26, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8], np.float32)])
        for mode in ("n", "z", "u", "d"):
            self._convert_case(f"from_float_r{mode}", "float", floats, f"__float2{w}_r{mode}(a)", self.ctype, poisoned(len(floats), self._dtype()),
                               lambda v, m=mode: self._result([exact.convert(b, F32, f, m) for b in exact.bits_of(v, F32)]))
        every = np.arange(65536, dtype=np.uint16)
        self._convert_case("to_float_every_value", self.ctype, self._array(every), f"__{w}2float(a)", "float", poisoned(65536, np.float32),
                           lambda v: exact.floats([exact.convert(b, f, F32) for b in v.view(np.uint16).tolist()], F32))
        half_values = self._array(self.a)
        for short, ctype, dtype, bits in (("int", "int", np.int32, 32), ("uint", "unsigned int", np.uint32, 32), ("short", "short", np.int16, 16), ("ll", "long long", np.int64, 64)):
            keep = np.array([not exact.is_nan(b, f) for b in self.a.tolist()])
            for mode in ("n", "z"):
                self._convert_case(f"to_{short}_r{mode}", self.ctype, half_values[keep], f"__{w}2{short}_r{mode}(a)", ctype, poisoned(int(keep.sum()), dtype),
                                   lambda v, m=mode, b=bits, d=dtype: np.array([exact.to_int(x, f, b, d != np.uint32, m) for x in v.view(np.uint16).tolist()], d))
        ints = np.concatenate([random_ints(np.int32, 100, 137) >> s for s in (0, 8, 16, 20)] + [np.array([65519, 65520, 2049, 2051, -2049, 257, 259], np.int32)])
        self._convert_case("from_int_rn", "int", ints, f"__int2{w}_rn(a)", self.ctype, poisoned(len(ints), self._dtype()),
                           lambda v: self._result([exact.from_int(int(x), f) for x in v]))
