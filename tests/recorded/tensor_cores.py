#!/usr/bin/env python3
"""Compares a device's matrix products with the model of them, bit for bit.

    python3 tests/recorded/tensor_cores.py                     on a machine with an NVIDIA driver, sm_90
    python3 tests/recorded/tensor_cores.py --libcuda PATH      with another driver library
    python3 tests/recorded/tensor_cores.py --virtual           through `import pycuda`, on its first device

Prints a line per form: how many of the results are equal to the model (which is what the virtual
GPU computes), and for floats the parameters of the model that explain most of them, when those are
not its own. Needs Python 3.11 and NumPy.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import record

from tests.kernels import fragments as fr

WARPS = 64


class Case:
    """A form of `mma`, and the inputs it is tried on."""

    def __init__(self, shape, types, *, modifiers="", tail="", selector=None, kind="normal"):
        self.shape, self.types, self.kind, self.selector = shape, types, kind, selector
        self.modifiers, self.tail = modifiers, tail
        size, (d, a, b) = "m{}n{}k{}".format(*shape), types
        sparse = "" if selector is None else ".sp"
        self.form = f"mma{sparse}.sync.aligned.{size}.row.col{modifiers}.{d}.{a}.{b}.{d}{tail}"

    def __str__(self):
        selector = "" if self.selector is None else f" selector {self.selector}"
        return f"{self.form}{selector} ({self.kind})"

    def operand(self, ty, shape, rng):
        """Random bits of elements."""
        if ty == "f64":
            return fr.encode(ty, rng.normal(size=shape) * 2.0 ** rng.integers(-20, 20, shape))
        if ty not in fr.FLOATS:
            return rng.integers(0, 1 << fr.BITS[ty], shape, dtype=np.uint64)
        exp_bits, frac_bits = fr.FLOATS[ty]
        raw = rng.integers(0, 1 << (1 + exp_bits + frac_bits), shape, dtype=np.uint64)
        if self.kind == "normal":
            return fr.encode(ty, rng.normal(size=shape))
        # All bit patterns but infinities and NaNs, with exponents as near to each other as asked for.
        bias = (1 << (exp_bits - 1)) - 1
        spread = {"near": 4, "far": 14}.get(self.kind, bias - 1) if exp_bits == 8 or self.kind != "any" else bias
        field = np.clip(rng.integers(bias - spread, bias + spread + 1, shape), 0, 2 * bias).astype(np.uint64)
        keep = raw & np.uint64((1 << frac_bits) - 1 | 1 << (exp_bits + frac_bits))
        bits = keep | field << np.uint64(frac_bits)
        bits = np.where(rng.random(shape) < 0.1, 0, bits).astype(np.uint64)
        return bits << np.uint64(13) if ty == "tf32" else bits

    def inputs(self, rng):
        """Matrices, the lanes' words, and the dense `a`."""
        (m, n, k), (d, ta, tb) = self.shape, self.types
        stored = k if self.selector is None else k // 2
        a, b = self.operand(ta, (WARPS, m, stored), rng), self.operand(tb, (WARPS, k, n), rng)
        c = self.operand(d, (WARPS, m, n), rng)
        words = [
            fr.planes("a", (m, n, stored), ta, a),
            fr.planes("b", self.shape, tb, b),
            fr.planes("c", self.shape, d, c),
        ]
        if self.selector is not None:
            choice = fr.choices(ta, (WARPS, m, k // fr.chunk_of(ta)), rng)
            words.append(fr.metadata(ta, k, choice, self.selector)[:, None, :])
            a = fr.sparse(ta, a, choice)
        rows = np.concatenate(words, 1)
        return (
            a,
            b,
            c,
            np.ascontiguousarray(np.swapaxes(rows, 1, 2).reshape(WARPS * 32, -1)),
            [w.shape[1] for w in words],
        )

    def kernel(self, counts):
        """PTX that applies the form to rows of 64-bit words, a row per lane."""
        (m, n, _), (d, a, b) = self.shape, self.types
        n_out = m * n * fr.BITS[d] // (32 * max(fr.BITS[d], 32))
        registers, body, at = "", [], 0
        for name, ty, count in zip("abce", (a, b, d, "s32"), counts, strict=False):
            wide = fr.BITS[ty] == 64
            registers += f".reg .b{64 if wide else 32} %{name}<{count}>; "
            for i in range(count):
                body.append(
                    f"ld.global.b64 %x5, [%x4+{8 * at}]; "
                    + (f"mov.b64 %{name}{i}, %x5;" if wide else f"cvt.u32.u64 %{name}{i}, %x5;")
                )
                at += 1
        wide = fr.BITS[d] == 64
        registers += f".reg .b{64 if wide else 32} %d<{n_out}>; "
        lists = [
            "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"
            for name, count in zip("dabc", (n_out, *counts), strict=False)
        ]
        extra = "" if self.selector is None else f", %e0, {self.selector}"
        body.append(f"{self.form} {', '.join(lists)}{extra};")
        for i in range(n_out):
            keep = f"mov.b64 %x5, %d{i};" if wide else f"cvt.u64.u32 %x5, %d{i};"
            body.append(f"{keep} st.global.b64 [%x6+{8 * i}], %x5;")
        return n_out, (
            ".visible .entry k(.param .u64 in_k, .param .u64 out_k, .param .u32 n_k) { "
            f".reg .b64 %x<8>; .reg .b32 %y<8>; {registers}"
            "mov.u32 %y0, %ctaid.x; mov.u32 %y1, %ntid.x; mov.u32 %y2, %tid.x; mad.lo.u32 %y3, %y0, %y1, %y2; "
            "ld.param.u64 %x1, [in_k]; ld.param.u64 %x2, [out_k]; cvt.u64.u32 %x3, %y3; "
            f"mad.lo.u64 %x4, %x3, {8 * at}, %x1; mad.lo.u64 %x6, %x3, {8 * n_out}, %x2;\n"
            + "\n".join(body)
            + "\nret; }\n"
        )

    def models(self):
        """Parameters to try, the model's own first."""
        if self.types[0] not in ("f16", "f32"):
            return [()]
        dense = 8 if self.types[1] == "tf32" else 16
        own = (25, dense if self.selector is None else 2 * dense)
        return [own, *((bits, step) for bits in range(22, 29) for step in (4, 8, 16, 32, 64) if step <= self.shape[2])]

    def expected(self, a, b, c, parameters):
        """Bits of the results that the model gives."""
        d, ta, tb = self.types
        if d == "f64":
            return fr.double_product(a, b, c)
        if d == "s32":
            return fr.integer_product(a, b, c, (ta, tb), self.modifiers + self.tail)
        return fr.float_product(a, b, c, (ta, tb, d), bits=parameters[0], step=parameters[1])


def cases():
    """All forms that sm_90 has, but for those of 8-bit floats, which the virtual GPU refuses."""
    for kind in ("normal", "near", "far", "any"):
        for d, ty, ks in (
            ("f32", "f16", (8, 16)),
            ("f16", "f16", (8, 16)),
            ("f32", "bf16", (8, 16)),
            ("f32", "tf32", (4, 8)),
        ):
            yield from (Case((16, 8, k), (d, ty, ty), kind=kind) for k in ks)
    for d, ty, k in (("f32", "f16", 16), ("f16", "f16", 16), ("f32", "bf16", 16), ("f32", "tf32", 8)):
        yield from (Case((16, 8, k), (d, ty, ty), selector=s, kind="near") for s in range(4))
        yield from (Case((16, 8, 2 * k), (d, ty, ty), selector=s, kind="near") for s in range(2))
    for shape in ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)):
        yield Case(shape, ("f64",) * 3)
    for a, b in (("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")):
        yield from (
            Case((m, 8, k), ("s32", a, b), modifiers=sat)
            for m, k in ((8, 16), (16, 16), (16, 32))
            for sat in ("", ".satfinite")
        )
        yield from (Case((16, 8, 32), ("s32", a, b), selector=s) for s in range(2))
        yield Case((16, 8, 64), ("s32", a, b), selector=0)
    for a, b in (("s4", "s4"), ("u4", "s4"), ("s4", "u4"), ("u4", "u4")):
        yield from (
            Case((m, 8, k), ("s32", a, b), modifiers=sat)
            for m, k in ((8, 32), (16, 32), (16, 64))
            for sat in ("", ".satfinite")
        )
        yield from (Case((16, 8, 64), ("s32", a, b), selector=s) for s in range(2))
        yield Case((16, 8, 128), ("s32", a, b), selector=0)
    for m, k in ((8, 128), (16, 128), (16, 256)):
        yield from (Case((m, 8, k), ("s32", "b1", "b1"), tail=op) for op in (".xor.popc", ".and.popc"))


def main():
    """Runs all cases; fails when one differs from the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libcuda", default="libcuda.so.1")
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("--only", default="", help="forms that contain this")
    args = parser.parse_args()
    driver = record.open_driver(args)
    print(driver.about)
    differ = 0
    for number, case in enumerate(c for c in cases() if args.only in str(c)):
        a, b, c, rows, counts = case.inputs(np.random.default_rng(number))
        n_out, text = case.kernel(counts)
        try:
            module = driver.load(record.HEAD.format("8.5") + text)
        except record.Refused as e:
            print(f"refused  {case}: {' '.join(str(e).split())[:150]}")
            differ += 1
            continue
        out = driver.run(module, "k", rows, n_out)
        driver.unload(module)
        got = fr.from_planes("d", case.shape, case.types[0], np.swapaxes(out.reshape(WARPS, 32, n_out), 1, 2))
        scores = []
        for parameters in case.models():
            scores.append(((got == case.expected(a, b, c, parameters)).mean(), parameters))
            if scores[0][0] == 1:
                break
        best = max(scores, key=lambda s: s[0])
        note = "" if scores[0][0] == 1 or best is scores[0] else f"; {best[0]:8.3%} with (bits, step) = {best[1]}"
        print(f"{scores[0][0]:8.3%} {case}{note}", flush=True)
        differ += scores[0][0] != 1
    print(f"{differ} cases differ")
    return int(differ != 0)


if __name__ == "__main__":
    sys.exit(main())
