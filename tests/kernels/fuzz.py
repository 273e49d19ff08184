"""Random CUDA C++ programs, compiled by NVRTC and by clang, which must give the same bits.

``python -m tests.kernels.fuzz --seconds 60 --seed 1`` makes programs whose behaviour is defined: integers that do not
overflow, shifts in range, floats without contraction, atomics whose sum does not depend on order, warp functions with
the mask of the lanes that reach them. A program in which the compilers differ is made smaller and printed; the exit
status is then 1. ``--replay NUMBER`` makes one program again. NaNs are compared as NaNs, never by their bits.

A statement is a `Node`, an expression an `Expr`: trees, so that parts can be dropped while a difference stays.
What may not be dropped alone (a store, a barrier and the load after it) is one node.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

BLOCKS, THREADS = 2, 64
FULL = "0xffffffffu"

SIGNED = ("signed char", "short", "int", "long long")
UNSIGNED = ("unsigned char", "unsigned short", "unsigned", "unsigned long long")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float", "double")
HALVES = ("__half", "__nv_bfloat16")
SCALARS = (*INTEGERS, *FLOATS, *HALVES, "bool")
WIDTH = dict(zip(INTEGERS, (8, 16, 32, 64) * 2)) | {"bool": 1}
#: Vector types with their elements and members.
VECTORS = {"int2": ("int", "xy"), "int4": ("int", "xyzw"), "uchar4": ("unsigned char", "xyzw"), "short2": ("short", "xy"),
           "float2": ("float", "xy"), "float4": ("float", "xyzw"), "double2": ("double", "xy"), "ulonglong2": ("unsigned long long", "xy"),
           "char3": ("signed char", "xyz"), "uint3": ("unsigned", "xyz")}

HELPERS = [
    "#include <cuda_fp16.h>\n#include <cuda_bf16.h>",
    "typedef unsigned long long u64;",
    "__device__ inline u64 bits(long long x) { return (u64)x; }\n__device__ inline u64 bits(u64 x) { return x; }\n"
    "__device__ inline u64 bits(int x) { return (u64)x; }\n__device__ inline u64 bits(unsigned x) { return x; }\n"
    "__device__ inline u64 bits(float x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }\n"
    "__device__ inline u64 bits(double x) { return x != x ? 0x7ff8000000000000ull : (u64)__double_as_longlong(x); }\n"
    "__device__ inline u64 bits(__half x) { return bits(__half2float(x)); }\n"
    "__device__ inline u64 bits(__nv_bfloat16 x) { return bits(__bfloat162float(x)); }",
    # A float that is no NaN.
    "__device__ inline float nn(float x) { return x != x ? 1.f : x; }\n__device__ inline double nn(double x) { return x != x ? 1. : x; }",
    "template <class T> __device__ T over(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a / b); }",
    "template <class T> __device__ T rest(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a % b); }",
    # The n-th lane of a mask, counted round.
    "__device__ int pick(unsigned m, unsigned n) { n %= __popc(m); while (n--) m &= m - 1; return __ffs(m) - 1; }",
    "__device__ __constant__ int ctab[16] = {3, -1, 0, 2147483647, -2147483647 - 1, 77, 5, -300, 65536, 9, 1, 2, 4, 8, -16, 1000};",
]

Operation = tuple[str, tuple[str, ...]]


def _operations() -> dict[str, dict[str, list[Operation]]]:
    """What makes a value of a type: templates in groups, with the types of ``$0`` and ``$1``."""
    table: dict[str, dict[str, list[Operation]]] = {t: {} for t in SCALARS}

    def add(group: str, result: str, operands: str | tuple[str, ...], *templates: str) -> None:
        kinds = (operands,) * 4 if isinstance(operands, str) else operands
        for text in templates:
            count = 1 + max(int(n) for n in re.findall(r"\$(\d)", text))
            table[result].setdefault(group, []).append((text, kinds[:count]))

    def calls(group: str, result: str, operands: str, count: int, names: str) -> None:
        for name in names.split():
            add(group, result, operands, f"{name}({', '.join(f'${i}' for i in range(count))})")

    for t in INTEGERS:
        w, unsigned = WIDTH[t], UNSIGNED[INTEGERS.index(t) % 4]
        wide = "unsigned" if w < 32 else unsigned
        for op in "+-*&|^":
            add("arithmetic", t, t, f"({t})(({wide})$0 {op} ({wide})$1)")
        add("arithmetic", t, t, f"over<{t}>($0, $1)", f"rest<{t}>($0, $1)", f"({t})~$0", f"({t})-({wide})$0")
        add("shift", t, (t, "unsigned"), f"({t})(({wide})$0 << ($1 & {w - 1}u))", f"({t})($0 >> ($1 & {w - 1}u))")
        add("choose", t, (t, t, "bool"), "($2 ? $0 : $1)")
        add("choose", t, t, f"({t})($0 < $1 ? $0 : $1)")
        for number in (3, 7, 10, 100, 16, 5):
            add("constant", t, t, f"({t})($0 / {number})", f"({t})($0 % {number})", f"({t})(({wide})$0 * {number})")
        if t in UNSIGNED:
            add("arithmetic", t, t, f"({t})($0 / ({t})($1 | 1))", f"({t})($0 % ({t})($1 | 1))")
            for n in (1, 5, w // 2):
                add("shift", t, t, f"({t})(({wide})$0 << {n} | $0 >> {w - n})")
        else:  # Signed arithmetic that the compilers may take not to overflow.
            half = (1 << (min(w, 32) // 2 - 1)) - 1 if w < 64 else (1 << 31) - 1
            add("bounded", t, t, f"({t})(($0 & {half}) * ($1 & {half}))", f"({t})(($0 >> 2) + ($1 >> 2))", f"({t})(($0 >> 1) - ($1 >> 1))",
                f"({t})(($0 & {half}) * 3 - 7)", f"({t})(($0 >> 3) / 5 * 5)", f"({t})(($0 & {half}) - ($1 & {half}) > 0 ? $0 : $1)")
        for other in SCALARS:
            if other in HALVES:
                add("convert", t, other, f"static_cast<{t}>(__{'half' if other == '__half' else 'bfloat16'}2float($0))")
            elif other in FLOATS:
                add("convert", t, other, f"static_cast<{t}>($0)")
            elif other != t:
                add("convert", t, other, f"({t})$0")
    add("intrinsic", "int", "int", "__clz($0)", "__ffs($0)", "abs($0 | 1)", "min($0, $1)", "max($0, $1)", "__mulhi($0, $1)", "__mul24($0, $1)",
        "__hadd($0, $1)", "__rhadd($0, $1)", "__dp4a($0, $1, $2)", "(int)__sad($0, $1, 5u)")
    add("intrinsic", "int", "unsigned", "__popc($0)", "__clz((int)$0)", "__ffs((int)$0)", "(int)__brev($0)")
    add("intrinsic", "int", "long long", "__clzll($0)", "__ffsll($0)", "__popcll((unsigned long long)$0)")
    add("intrinsic", "int", "double", "__double2hiint(nn($0))", "__double2loint(nn($0))")
    add("intrinsic", "unsigned", "unsigned", "__brev($0)", "__byte_perm($0, $1, $2)", "__funnelshift_l($0, $1, $2)", "__funnelshift_r($0, $1, $2)",
        "__funnelshift_lc($0, $1, $2)", "__funnelshift_rc($0, $1, $2)", "__umulhi($0, $1)", "__umul24($0, $1)", "__usad($0, $1, $2)",
        "__uhadd($0, $1)", "__urhadd($0, $1)", "__dp4a($0, $1, $2)", "__dp2a_lo($0, $1, $2)", "__dp2a_hi($0, $1, $2)", "min($0, $1)", "max($0, $1)",
        "(unsigned)__popc($0)", "((unsigned)(($0 & 7u) * 36u) >> ($1 & 7u))", "(unsigned)__float_as_uint(nn((float)$0))")
    add("intrinsic", "long long", "long long", "__mul64hi($0, $1)", "min($0, $1)", "max($0, $1)", "llabs($0 | 1)")
    add("intrinsic", "long long", "double", "__double_as_longlong(nn($0))")
    add("intrinsic", "unsigned long long", "unsigned long long", "__umul64hi($0, $1)", "__brevll($0)", "min($0, $1)", "max($0, $1)")
    add("intrinsic", "unsigned long long", "unsigned", "((unsigned long long)$0 * $1)", "((unsigned long long)$0 << 32 | $1)")
    add("intrinsic", "long long", "int", "((long long)$0 * $1)", "((long long)$0 + $1)")
    for parts in "24":
        for name in ("add", "sub", "addss", "subss", "addus", "subus", "avgs", "avgu", "haddu", "maxs", "maxu", "mins", "minu", "absdiffs", "absdiffu",
                     "sads", "sadu", *(c + r + s for c in ("cmp", "set") for r in ("eq", "ne") for s in ("",)),
                     *(c + r + s for c in ("cmp", "set") for r in ("gt", "ge", "lt", "le") for s in "su")):
            calls("video", "unsigned", "unsigned", 2, f"__v{name}{parts}")
        calls("video", "unsigned", "unsigned", 1, f"__vabs{parts} __vabsss{parts} __vneg{parts} __vnegss{parts}")
    for t, to in (("int", "int"), ("unsigned", "uint"), ("long long", "ll"), ("unsigned long long", "ull")):
        for mode in ("rn", "rz", "ru", "rd"):
            for f in FLOATS:
                add("rounding", t, f, f"__{f}2{to}_{mode}($0)")
                if f == "float" or WIDTH[t] == 64:
                    add("rounding", f, t, f"__{to}2{f}_{mode}($0)")
            add("rounding", t, "__half", f"__half2{to}_{mode}($0)")
            add("rounding", "__half", t, f"__{to}2half_{mode}($0)")
    for f, suffix, short in (("float", "f", "f"), ("double", "", "d")):
        add("arithmetic", f, f, *(f"($0 {op} $1)" for op in "+-*/"), "(-$0)", "($0 * $1 + $2)", "($0 * $1 - $2)")
        for mode in ("rn", "rz", "ru", "rd"):
            add("rounding", f, f, f"__{short}add_{mode}($0, $1)", f"__{short}mul_{mode}($0, $1)", f"__{short}sub_{mode}($0, $1)",
                f"__{'fmaf' if f == 'float' else 'fma'}_{mode}($0, $1, $2)", f"__{short}div_{mode}($0, $1)", f"__{short}sqrt_{mode}($0)")
        calls("function", f, f, 1, " ".join(n + suffix for n in "fabs floor ceil trunc rint nearbyint round sqrt".split()))
        calls("function", f, f, 2, " ".join(n + suffix for n in "fmin fmax fdim fmod remainder".split()))
        add("function", f, f, f"fma{suffix}($0, $1, $2)", f"copysign{suffix}($0, nn($1))", f"nextafter{suffix}($0, $1)", f"logb{suffix}($0)")
        add("function", f, (f, "int"), f"ldexp{suffix}($0, $1 & 255)", f"scalbn{suffix}($0, $1 >> 23)")
        add("function", "int", f, f"ilogb{suffix}(nn($0))", f"(int)lrint{suffix}(fmod{suffix}(nn($0), 1000))")
        add("choose", f, (f, f, "bool"), "($2 ? $0 : $1)")
        add("choose", f, f, "($0 < $1 ? $0 : $1)", "($0 > 0 ? $0 : -$0)", "($0 != $0 ? $1 : $0)")
        add("compare", "bool", f, "isnan($0)", "isinf($0)", "isfinite($0)", "(signbit(nn($0)) != 0)")
        for other in (*INTEGERS, "bool"):
            add("convert", f, other, f"({f})$0")
    add("convert", "float", "double", "(float)$0", *(f"__double2float_{m}($0)" for m in ("rn", "rz", "ru", "rd")))
    add("convert", "float", "unsigned", "nn(__uint_as_float($0))")
    add("convert", "double", "float", "(double)$0")
    add("convert", "double", "unsigned long long", "nn(__longlong_as_double((long long)$0))")
    add("convert", "double", "int", "nn(__hiloint2double($0, $1))")
    for h, name in (("__half", "half"), ("__nv_bfloat16", "bfloat16")):
        calls("arithmetic", h, h, 2, "__hadd __hsub __hmul __hadd_rn __hsub_rn __hmul_rn __hadd_sat __hmul_sat __hmin __hmax")
        calls("arithmetic", h, h, 3, "__hfma __hfma_sat __hfma_relu")
        add("arithmetic", h, h, "($0 + $1)", "($0 - $1)", "($0 * $1)", "(-$0)", "__hneg($0)", "__habs($0)")
        add("choose", h, (h, h, "bool"), "($2 ? $0 : $1)")
        calls("function", h, h, 1, "hfloor hceil htrunc hrint")
        add("convert", "float", h, f"__{name}2float($0)")
        add("convert", "double", h, f"(double)__{name}2float($0)")
        add("convert", h, "float", f"__float2{name}($0)", *(f"__float2{name}_{m}($0)" for m in ("rn", "rz", "ru", "rd")))
        add("convert", h, "double", f"__double2{name}($0)")
        calls("compare", "bool", h, 2, "__hlt __hgt __heq __hne __hle __hge __hltu __hneu __hgtu")
        add("compare", "bool", h, "__hisnan($0)", "($0 < $1)", "($0 == $1)")
        add("pair", h, h, f"__low2{name}(__hfma2(__halves2{name}2($0, $1), __halves2{name}2($1, $2), __halves2{name}2($2, $0)))",
            f"__high2{name}(__hadd2(__halves2{name}2($0, $1), __halves2{name}2($1, $2)))", f"__high2{name}(__hmul2(__{name}2{name}2($0), __halves2{name}2($1, $2)))")
        add("pair", "bool", h, f"__hblt2(__halves2{name}2($0, $1), __halves2{name}2($1, $2))")
    for t in (*INTEGERS, *FLOATS):
        add("compare", "bool", t, *(f"($0 {op} $1)" for op in ("<", ">", "<=", ">=", "==", "!=")))
        add("convert", "bool", t, "(bool)$0")
    add("logic", "bool", "bool", "($0 && $1)", "($0 || $1)", "(!$0)", "($0 != $1)", "($0 & $1)", "($2 ? $0 : $1)")
    return table


OPERATIONS = _operations()

_EDGES = [0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
_FLOAT_EDGES = ["0.", "-0.", "1.", "-1.", "0.5", "1.5", "2.5", "-2.5", "3.", "0.1", "1e10", "-1e-10", "16777216.", "16777218.", "2147483648.", "-2147483649.",
                "4294967296.", "9.3e18", "-1e19", "1.9e19", "3.4e38", "1.2e-38", "1e-40", "65504.", "65520.", "6e-8", "260.", "-1.75", "70000."]


def literal(rng: random.Random, t: str) -> str:
    """A number of type `t`, often an edge."""
    if t == "bool":
        return rng.choice(["true", "false"])
    if t in HALVES:
        return f"__float2{'half' if t == '__half' else 'bfloat16'}({rng.choice(_FLOAT_EDGES)}f)"
    if t in FLOATS:
        text = rng.choice(_FLOAT_EDGES) if rng.random() < 0.7 else repr(round(rng.gauss(0, 10 ** rng.randint(-3, 6)), 4))
        return f"({text}{'f' if t == 'float' else ''})"
    value = rng.choice(_EDGES) if rng.random() < 0.7 else rng.getrandbits(WIDTH[t])
    value = (value if rng.random() < 0.6 else -value) % (1 << WIDTH[t])
    if t in UNSIGNED:
        return f"({t}){value}ull" if t != "unsigned" else f"{value}u"
    value -= (value >> (WIDTH[t] - 1)) << WIDTH[t]
    return f"(({t})({value + 1}ll - 1))" if value < 0 else f"({t}){value}ll" if WIDTH[t] != 32 else f"{value}"


@dataclass
class Expr:
    """An expression: a template and its operands."""

    type: str
    text: str
    operands: list[Expr] = field(default_factory=list)

    def __str__(self) -> str:
        return re.sub(r"\$(\d)", lambda m: str(self.operands[int(m[1])]), self.text)

    def walk(self) -> Iterator[Expr]:
        """This and all below it."""
        yield self
        for e in self.operands:
            yield from e.walk()


Block: TypeAlias = "list[Node]"
Part: TypeAlias = "str | Expr | Block"


@dataclass
class Node:
    """A statement or a definition: text, expressions and blocks in order; one that is `fixed` is never dropped."""

    parts: list[Part]
    fixed: bool = False

    def __str__(self) -> str:
        return "".join(("{\n" + text(p) + "}") if isinstance(p, list) else str(p) for p in self.parts)

    def blocks(self) -> list[Block]:
        """The blocks directly below."""
        return [p for p in self.parts if isinstance(p, list)]


def text(block: Block) -> str:
    """The lines of a block."""
    return "".join(f"{n}\n" for n in block)


def all_blocks(block: Block) -> Iterator[Block]:
    """The block and all below it, outermost first."""
    yield block
    for node in block:
        for inner in node.blocks():
            yield from all_blocks(inner)


@dataclass(frozen=True)
class Place:
    """Something with a value: its text, its type, whether it can be assigned."""

    text: str
    type: str
    writable: bool = True


@dataclass(frozen=True)
class Array:
    """An array of `length` elements (a power of two)."""

    name: str
    type: str
    length: int


@dataclass(frozen=True)
class Function:
    """A device function: what it takes by value, by reference, and what a call costs."""

    name: str
    result: str
    arguments: tuple[str, ...]
    reference: str | None
    cost: float
    mask: bool


@dataclass
class Scope:
    """What can be used at a point: places and arrays, and what control flow allows.

    `mask` is the text of the mask of the lanes that are here together, None where that is unknown; `block_wide` says
    that the whole block is. `depth` bounds nesting, `work` is how often this point is reached.
    """

    places: list[Place]
    arrays: list[Array]
    mask: str | None
    block_wide: bool
    depth: int = 0
    work: float = 1
    in_loop: bool = False
    result: str | None = None
    kernel: bool = False

    def inner(self, **changes: Any) -> Scope:
        """A scope inside this one: what it declares ends with it."""
        return replace(self, places=list(self.places), arrays=list(self.arrays), depth=self.depth + 1, **changes)


class Generator:
    """Makes the program of a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.number = 0
        self.sites = 0
        self.functions: list[Function] = []
        self.structs: dict[str, list[tuple[str, str]]] = {}
        self.program: Block = []
        self.slots = 0
        self.std = self.rng.choice(["c++14", "c++17", "c++17", "c++20"])

    def name(self, stem: str) -> str:
        self.number += 1
        return f"{stem}{self.number}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    # Expressions

    def leaf(self, t: str, s: Scope) -> Expr:
        rng = self.rng
        known = [p for p in s.places if p.type == t]
        arrays = [a for a in s.arrays if a.type == t]
        kind = rng.random()
        if arrays and kind < 0.3:
            a = rng.choice(arrays)
            index = Expr("unsigned", rng.choice([p.text for p in s.places if p.type == "unsigned"] or ["1u"]))
            return Expr(t, f"{a.name}[$0 & {a.length - 1}u]", [index])
        if known and kind < 0.8:
            return Expr(t, rng.choice(known).text)
        if s.kernel and t in ("int", "float", "double") and kind < 0.92:
            name = {"int": "ia", "float": "fa", "double": "da"}[t]
            return Expr(t, f"{name}[(gid * {rng.choice([1, 3, 7])}u + {rng.randrange(256)}u) & 255u]")
        if t == "int" and kind < 0.95:
            return Expr(t, "ctab[$0 & 15u]", [Expr("unsigned", rng.choice([p.text for p in s.places if p.type == "unsigned"] or ["2u"]))])
        return Expr(t, literal(rng, t))

    def expr(self, t: str, s: Scope, depth: int | None = None) -> Expr:
        rng = self.rng
        depth = rng.choice([1, 1, 2, 2, 3]) if depth is None else depth
        if depth <= 0 or self.chance(0.12):
            return self.leaf(t, s)
        if self.chance(0.07):
            calls = [f for f in self.functions if f.result == t and f.reference is None and not f.mask and f.cost * s.work < 3000]
            if calls:
                f = rng.choice(calls)
                return self.call(f, s, depth - 1)
        groups = OPERATIONS[t]
        template, operands = rng.choice(groups[rng.choice(list(groups))])
        return Expr(t, template, [self.expr(o, s, depth - 1) for o in operands])

    def call(self, f: Function, s: Scope, depth: int, reference: str = "") -> Expr:
        operands = [self.expr(a, s, depth) for a in f.arguments]
        arguments = [f"${i}" for i in range(len(operands))] + ([reference] if reference else []) + ([str(s.mask)] if f.mask else [])
        return Expr(f.result, f"{f.name}({', '.join(arguments)})", operands)

    # Statements

    def block(self, s: Scope, count: int) -> Block:
        out: Block = []
        for _ in range(count):
            out += self.statement(s)
        return out

    def small(self, s: Scope) -> Block:
        return self.block(s, self.rng.randint(1, 3))

    def target(self, s: Scope, t: str | None = None) -> Place | None:
        found = [p for p in s.places if p.writable and (t is None or p.type == t)]
        return self.rng.choice(found[-8:] if self.chance(0.5) else found) if found else None

    def statement(self, s: Scope) -> Block:
        choices: list[tuple[float, Callable[[Scope], Block]]] = [(4, self.assign), (3, self.declare), (1, self.compound), (1, self.declare_array), (1, self.store),
                                                                (0.7, self.declare_struct), (0.6, self.declare_vector), (0.6, self.pointer), (0.7, self.call_statement)]
        if s.depth < 3:
            choices += [(2, self.branch), (1.2, self.switch), (0.8, self.lambda_function)]
            if s.work < 200:
                choices += [(1.2, self.count_loop), (1.5, self.data_loop), (0.7, self.while_loop)]
        if s.mask is None:
            choices += [(2.0 * s.in_loop, self.leave_loop), (1.0 * (s.result is not None and s.depth > 0), self.early_return)]
        else:
            choices += [(2.5, self.warp_operation), (1, self.leader)]
        if s.kernel:
            choices += [(1.2, self.atomic), (0.4, self.own_atomic)]
        if s.block_wide:
            choices += [(1.2, self.exchange), (0.5, self.block_vote)]
        weights, makers = zip(*choices)
        return self.rng.choices(makers, weights)[0](s)

    def assign(self, s: Scope) -> Block:
        p = self.target(s)
        return [Node([f"{p.text} = ", self.expr(p.type, s), ";"])] if p else self.declare(s)

    def declare(self, s: Scope) -> Block:
        t = self.rng.choice(SCALARS if self.chance(0.5) else ("int", "unsigned", "float", "double", "unsigned long long"))
        name = self.name("v")
        out = [Node([f"{t} {name} = ", self.expr(t, s), ";"])]
        s.places.append(Place(name, t))
        if self.chance(0.08):
            s.places.append(Place(f"r{name}", t))
            out.append(Node([f"{t} &r{name} = {name};"]))
        return out

    def compound(self, s: Scope) -> Block:
        p = self.target(s)
        if p is None or p.type in (*HALVES, "bool", "int", "long long"):
            return self.assign(s)
        if p.type in FLOATS:
            return [Node([f"{p.text} {self.rng.choice('+-*/')}= ", self.expr(p.type, s), ";"])]
        if self.chance(0.3):
            return [Node([f"{p.text} {self.rng.choice(['<<=', '>>='])} ", self.expr("unsigned", s), f" & {WIDTH[p.type] - 1 - (WIDTH[p.type] < 64)}u;"])
                    if p.type in UNSIGNED else Node([f"{p.text} >>= ", self.expr("unsigned", s), f" & {WIDTH[p.type] - 1}u;"])]
        if self.chance(0.3):
            return [Node([f"{self.rng.choice(['++', '--'])}{p.text};"])]
        return [Node([f"{p.text} {self.rng.choice('+-&|^' if WIDTH[p.type] == 16 else '+-*&|^')}= ", self.expr(p.type, s), ";"])]

    def declare_array(self, s: Scope) -> Block:
        t, n, name = self.rng.choice(("int", "unsigned", "float", "short", "unsigned char", "double", "long long")), self.rng.choice([2, 4, 8]), self.name("a")
        if self.chance(0.5):
            parts: list[Part] = [f"{t} {name}[{n}] = {{"]
            for _ in range(n):
                parts += [f"({t})(", self.expr(t, s, 1), "), "]
            out = Node([*parts, "};"])
        else:
            inner = s.inner()
            inner.places.append(Place("i", "unsigned", False))
            out = Node([f"{t} {name}[{n}]; for (unsigned i = 0; i < {n}u; ++i) {name}[i] = ", self.expr(t, inner, 2), ";"])
        s.arrays.append(Array(name, t, n))
        return [out]

    def store(self, s: Scope) -> Block:
        if not s.arrays:
            return self.assign(s)
        a = self.rng.choice(s.arrays)
        return [Node([f"{a.name}[", self.expr("unsigned", s, 2), f" & {a.length - 1}u] = ", self.expr(a.type, s), ";"])]

    def declare_struct(self, s: Scope) -> Block:
        if not self.structs:
            return self.declare(s)
        kind = self.rng.choice(list(self.structs))
        name = self.name("s")
        out = [Node([f"{kind} {name} = {kind}(); "])]
        members = self.structs[kind]
        for member, t in members:
            if self.chance(0.7):
                out.append(Node([f"{name}.{member} = ", self.expr(t, s, 2), ";"]))
        s.places += [Place(f"{name}.{m}", t) for m, t in members if not m.startswith("b_")]
        if self.chance(0.4):
            other = self.name("s")
            out.append(Node([f"{kind} {other} = ", Expr("bool", "$0", [self.expr("bool", s, 2)]), f" ? {name}.changed(", self.expr("int", s, 2), f") : {name};"]))
            s.places += [Place(f"{other}.{m}", t) for m, t in members if not m.startswith("b_")]
        return out

    def declare_vector(self, s: Scope) -> Block:
        kind = self.rng.choice(list(VECTORS))
        t, members = VECTORS[kind]
        name = self.name("q")
        if s.kernel and kind in ("int4", "int2", "float4", "float2", "double2", "short2", "uchar4") and self.chance(0.5):
            source = "fa" if t == "float" else "da" if t == "double" else "ia"
            size = {"int4": 4, "float4": 4, "uchar4": 1, "short2": 1}.get(kind, 2)
            out = Node([f"{kind} {name} = reinterpret_cast<const {kind} *>({source})[", self.expr("unsigned", s, 2), f" & {256 // size - 1}u];"])
        else:
            parts: list[Part] = [f"{kind} {name} = make_{kind}("]
            for i in range(len(members)):
                parts += [", " if i else "", self.expr(t, s, 2)]
            out = Node([*parts, ");"])
        s.places += [Place(f"{name}.{m}", t) for m in members]
        return [out]

    def pointer(self, s: Scope) -> Block:
        p = self.target(s)
        if p is None or ".b_" in p.text:
            return self.declare(s)
        q = self.target(s, p.type)
        name = self.name("p")
        second = f"&{q.text}" if q else f"&{p.text}"
        # Local memory only: NVRTC 13.0 leaves out stores by a pointer to local or global memory, beside a local array.
        arrays = [a for a in s.arrays if a.type == p.type]
        parts: list[Part] = [f"{p.type} *{name} = ", self.expr("bool", s, 2), f" ? &{p.text} : "]
        if arrays and self.chance(0.6):
            a = self.rng.choice(arrays)
            parts += [f"{a.name} + (", self.expr("unsigned", s, 2), f" & {a.length - 1}u);"]
        else:
            parts += [second + ";"]
        s.places.append(Place(f"(*{name})", p.type))
        return [Node(parts)]

    def call_statement(self, s: Scope) -> Block:
        calls = [f for f in self.functions if f.cost * s.work < 3000 and (not f.mask or s.mask is not None)]
        if not calls:
            return self.assign(s)
        f = self.rng.choice(calls)
        reference = ""
        if f.reference:
            r = self.target(s, f.reference)
            if r is None:
                return self.assign(s)
            reference = r.text
        name = self.name("v")
        out = [Node([f"{f.result} {name} = ", self.call(f, s, 2, reference), ";"])]
        s.places.append(Place(name, f.result))
        return out

    def condition(self, s: Scope) -> tuple[Expr, bool]:
        """A condition, and whether the whole block gives it the same value."""
        if s.block_wide and s.kernel and self.chance(0.3):
            return Expr("bool", self.rng.choice(["(blockIdx.x == 1u)", "(ia[5] > 0)", "(gridDim.x > 1u)", "(ia[blockIdx.x] & 1)"])), True
        return self.expr("bool", s, self.rng.choice([1, 2, 3])), False

    def branch(self, s: Scope) -> Block:
        condition, uniform = self.condition(s)
        if uniform or s.mask is None or self.chance(0.25):
            inner = {} if uniform else {"mask": None, "block_wide": False}
            parts: list[Part] = ["if (", condition, ") ", self.small(s.inner(**inner))]
            if self.chance(0.6):
                parts += [" else ", self.small(s.inner(**inner))]
            return [Node(parts)]
        c, m = self.name("c"), self.name("m")
        parts = [f"const bool {c} = ", condition, f"; const unsigned {m} = __ballot_sync({s.mask}, {c}); if ({c}) ", self.small(s.inner(mask=m, block_wide=False))]
        if self.chance(0.6):
            parts += [" else ", self.small(s.inner(mask=f"({s.mask} & ~{m})", block_wide=False))]
        return [Node(parts)]

    def switch(self, s: Scope) -> Block:
        parts: list[Part] = ["switch (", self.expr("int", s, 2), f" & {self.rng.choice([3, 7])}) {{\n"]
        inner = {"mask": None, "block_wide": False, "in_loop": False}
        for value in self.rng.sample(range(-1, 9), self.rng.randint(2, 6)):
            parts += [f"case {value}: ", self.small(s.inner(**inner)), " break;\n" if self.chance(0.7) else "\n"]
        if self.chance(0.7):
            parts += ["default: ", self.small(s.inner(**inner)), "\n"]
        return [Node([*parts, "}"])]

    def count_loop(self, s: Scope) -> Block:
        n, i = self.rng.randint(2, 6), self.name("i")
        keep = self.chance(0.6)
        inner = s.inner(work=s.work * n, in_loop=not keep or s.mask is None, **({} if keep else {"mask": None, "block_wide": False}))
        inner.places.append(Place(i, "unsigned", False))
        pragma = self.rng.choice(["", "\n#pragma unroll\n", "\n#pragma unroll 1\n", "\n#pragma unroll 2\n"])
        return [Node([f"{pragma}for (unsigned {i} = 0; {i} < {n}u; ++{i}) ", self.small(inner)])]

    def data_loop(self, s: Scope) -> Block:
        n, i, bound, m = self.rng.choice([3, 7]), self.name("i"), self.name("n"), self.name("m")
        inner = s.inner(work=s.work * n / 2, in_loop=True, mask=None, block_wide=False)
        inner.places.append(Place(i, "int", False))
        head: list[Part] = [f"const int {bound} = ", self.expr("int", s, 2), f" & {n}; "]
        if s.mask is None or self.chance(0.4):
            return [Node([*head, f"for (int {i} = 0; {i} < {bound}; ++{i}) ", self.small(inner)])]
        inner = replace(inner, mask=m, in_loop=False)
        return [Node([*head, f"unsigned {m} = {s.mask}; for (int {i} = 0; ; ++{i}) {{ {m} = __ballot_sync({m}, {i} < {bound}); if ({i} >= {bound}) break; ",
                      self.small(inner), " }"])]

    def while_loop(self, s: Scope) -> Block:
        n = self.name("n")
        inner = s.inner(work=s.work * 6, in_loop=True, mask=None, block_wide=False)
        inner.places.append(Place(n, "int", False))
        if self.chance(0.5):
            return [Node([f"int {n} = 0; while ({n}++ < {self.rng.randint(2, 9)} && ", self.expr("bool", s, 2), ") ", self.small(inner)])]
        return [Node([f"int {n} = 0; do ", self.small(inner), f" while ({n}++ < {self.rng.randint(2, 9)} && ", self.expr("bool", s, 2), ");"])]

    def leave_loop(self, s: Scope) -> Block:
        return [Node(["if (", self.expr("bool", s, 2), f") {self.rng.choice(['break', 'continue'])};"])]

    def early_return(self, s: Scope) -> Block:
        assert s.result is not None
        if self.chance(0.5):
            return [Node(["if (", self.expr("bool", s, 2), ") return ", self.expr(s.result, s, 2), ";"])]
        return [Node(["if (", self.expr("bool", s, 2), ") ", [*self.small(s.inner()), Node(["return ", self.expr(s.result, s, 2), ";"])]])]

    def lambda_function(self, s: Scope) -> Block:
        t, argument, name, result = self.rng.choice(SCALARS), self.rng.choice(SCALARS), self.name("f"), self.name("v")
        inner = s.inner(in_loop=False, result=None)
        inner.places.append(Place("x" + name, argument))
        value = self.expr(argument, s, 2)
        body = self.small(inner)
        body.append(Node(["return ", Expr(t, f"({t})$0", [self.expr(t, inner, 2)]), ";"], fixed=True))
        kind = self.rng.choice([argument, argument, "auto"])
        s.places.append(Place(result, t))
        return [Node([f"auto {name} = [&]({kind} x{name}) ", body, f"; {t} {result} = {name}(({argument})", value, ");"])]

    # Warps and blocks

    def warp_operation(self, s: Scope) -> Block:
        rng, m, name = self.rng, s.mask, self.name("w")
        full = m == FULL
        t = rng.choice(("int", "unsigned", "float", "double", "long long", "unsigned long long", "__half"))
        kind = rng.choice(["shfl", "shfl", "near", "vote", "ballot", "match", "reduce", "xor_all"])
        out: list[Part]
        if kind == "shfl":
            width = rng.choice(["", ", 16", ", 8"]) if full else ""
            out = [f"{t} {name} = __shfl_sync({m}, ", self.expr(t, s, 2), f", pick({m}, ", self.expr("unsigned", s, 2), f"){width});"]
        elif kind == "near":
            step, how = rng.choice([1, 2, 3, 8, 16, 31]), rng.choice(["xor", "up", "down"])
            other = {"xor": f"(lane ^ {step}u)", "up": f"(lane - {step}u)", "down": f"(lane + {step}u)"}[how]
            out = [f"{t} {name} = ", self.expr(t, s, 2), f"; {{ {t} w = __shfl_{how}_sync({m}, {name}, {step}); if ({other} < 32u && ({m} >> {other} & 1u)) {name} = w; }}"]
        elif kind == "xor_all":
            t = rng.choice(("int", "unsigned", "unsigned long long"))
            out = [f"{t} {name} = ", self.expr(t, s, 2), f"; for (unsigned left = {m}; left; left &= left - 1) {name} = __shfl_sync({m}, {name}, __ffs(left) - 1) ^ ({name} >> 1);"]
        elif kind == "vote":
            t = "bool"
            out = [f"bool {name} = __{rng.choice(['any', 'all'])}_sync({m}, ", self.expr("bool", s, 2), ");"]
        elif kind == "ballot":
            t = "unsigned"
            out = [f"unsigned {name} = __ballot_sync({m}, ", self.expr("bool", s, 3), ");"]
        elif kind == "match":
            t, what = "unsigned", rng.choice(("int", "unsigned", "long long", "float", "double"))
            value: list[Part] = [self.expr(what, s, 1)] if what in INTEGERS else ["nn(", self.expr(what, s, 1), ")"]
            if self.chance(0.6):
                out = [f"unsigned {name} = __match_any_sync({m}, ", *value, ");"]
            else:
                out = [f"int same{name}; unsigned {name} = __match_all_sync({m}, ", *value, f", &same{name}); {name} += same{name} ? 1u : 0u;"]
        else:
            how = rng.choice(["add", "min", "max", "and", "or", "xor"])
            t = "unsigned" if how in ("and", "or", "xor") or self.chance(0.5) else "int"
            if t == "int" and how == "add":
                t = "unsigned"
            out = [f"{t} {name} = __reduce_{how}_sync({m}, ", self.expr(t, s, 2), ");"]
        s.places.append(Place(name, t))
        if self.chance(0.1):
            out.append(f" __syncwarp({m});")
        return [Node(out)]

    def leader(self, s: Scope) -> Block:
        """One lane gets a number for its warp; the variable of the others has no value."""
        if not s.kernel:
            return self.warp_operation(s)
        rng, m, name, lead = self.rng, s.mask, self.name("b"), self.name("l")
        site, self.sites = self.sites, self.sites + 1
        start = f"const int {lead} = pick({m}, {rng.choice(['0u', '1u', '5u'])}); "
        cell = f"wc + ({site}u * 4u + gid / 32u)"
        amount: list[Part] = rng.choice([[f"__popc({m})"], ["(int)", self.expr("short", s, 1)]])
        s.places.append(Place(name, "int"))
        spelling = rng.randrange(5)
        if spelling == 0:
            return [Node([start, f"int {name}; if (lane == {lead}) {name} = atomicAdd({cell}, ", *amount, f"); {name} = __shfl_sync({m}, {name}, {lead});"])]
        if spelling == 1:
            return [Node([start, f"struct {{ int x; short y; }} t{name}; if (lane == {lead}) {{ t{name}.x = atomicAdd({cell}, ", *amount,
                          f"); t{name}.y = 3; }} int {name} = __shfl_sync({m}, t{name}.x, {lead}) ^ __shfl_sync({m}, (int)t{name}.y, {lead});"])]
        if spelling == 2:
            return [Node([start, f"int t{name}[2]; if (lane == {lead}) t{name}[ctab[10] & 1] = atomicAdd({cell}, ", *amount,
                          f"); int {name} = __shfl_sync({m}, t{name}[1], {lead});"])]
        if spelling == 3:
            return [Node([start, f"int {name}; [&] {{ if (lane == {lead}) {name} = atomicAdd({cell}, ", *amount, f"); }}(); {name} = __shfl_sync({m}, {name}, {lead});"])]
        return [Node([start, f"int {name}; switch ((int)lane - {lead}) {{ case 0: {name} = atomicAdd({cell}, ", *amount, f"); }} {name} = __shfl_sync({m}, {name}, {lead});"])]

    def exchange(self, s: Scope) -> Block:
        t, shared, name = self.rng.choice(("int", "unsigned", "float", "double", "unsigned char", "short", "__half", "long long")), self.name("sh"), self.name("v")
        value, index, more = self.expr(t, s, 2), self.expr("unsigned", s, 2), self.expr("unsigned", s, 2)
        s.places.append(Place(name, t))
        kind = self.rng.randrange(3)
        if kind == 0:
            return [Node([f"__shared__ {t} {shared}[{THREADS}]; {shared}[tid] = ", value, f"; __syncthreads(); {t} {name} = {shared}[", index, f" & {THREADS - 1}u]; __syncthreads();"])]
        if kind == 1:  # The same bytes as other types.
            return [Node([f"__shared__ __align__(16) unsigned char {shared}[{THREADS} * 8]; (({t} *){shared})[tid] = ", value,
                          f"; __syncthreads(); {t} {name} = *({t} *)({shared} + (", index, f" & {THREADS - 1}u) * sizeof({t})); __syncthreads();"])]
        how = self.rng.choice(["Add", "Max", "Min", "Xor", "Or", "And"])
        s.places[-1] = Place(name, "unsigned")
        return [Node([f"__shared__ unsigned {shared}[8]; if (tid < 8) {shared}[tid] = tid * 77u; __syncthreads(); atomic{how}(&{shared}[",
                      index, " & 7u], ", more, f"); __syncthreads(); unsigned {name} = {shared}[tid & 7u]; __syncthreads();"])]

    def block_vote(self, s: Scope) -> Block:
        name = self.name("v")
        value, how = self.expr("bool", s, 3), self.rng.choice(["count", "and", "or"])
        s.places.append(Place(name, "int"))
        return [Node([f"int {name} = __syncthreads_{how}(", value, ")" + (";" if how == "count" else " != 0;")])]

    def atomic(self, s: Scope) -> Block:
        """An atomic whose result is not used; each operation has cells of its own, so that their order does not matter."""
        kind = self.rng.randrange(13)
        cell: list[Part] = [f" + ({8 * kind}u + (", self.expr("unsigned", s, 2), " & 7u))"]
        if kind < 6:
            how, t = ("Add", "Min", "Max", "And", "Or", "Xor")[kind], "unsigned"
            return [Node([f"atomic{how}(cnt", *cell, ", ", self.expr(t, s, 2), ");"])]
        if kind < 8:
            return [Node([f"atomic{('Min', 'Max')[kind - 6]}((int *)(cnt", *cell, "), ", self.expr("int", s, 2), ");"])]
        if kind < 10:
            return [Node([f"atomic{('Inc', 'Dec')[kind - 8]}(cnt", *cell, ", 12u);"])]
        if kind == 10:
            return [Node(["atomicAdd((float *)(cnt", *cell, "), (float)(", self.expr("unsigned", s, 2), " & 15u));"])]
        if kind == 11:
            a, old, seen = self.name("p"), self.name("o"), self.name("o")
            return [Node([f"unsigned *{a} = cnt", *cell, f"; unsigned {old} = *{a}, {seen}; for (;;) {{ {seen} = atomicCAS({a}, {old}, {old} * 3u + 1u); if ({seen} == {old}) break; {old} = {seen}; }}"])]
        return [Node([f"atomicAdd((unsigned long long *)(cnt + {8 * kind}u) + (", self.expr("unsigned", s, 2), " & 3u), ", self.expr("unsigned long long", s, 2), ");"])]

    def own_atomic(self, s: Scope) -> Block:
        """An atomic on the thread's own cell, whose result is used."""
        name = self.name("v")
        how = self.rng.choice(["Add", "Sub", "Exch", "Min", "Max", "And", "Or", "Xor", "CAS"])
        extra: list[Part] = [", ", self.expr("int", s, 2)] if how == "CAS" else []
        out = Node([f"int {name} = atomic{how}(own + gid, ", self.expr("int", s, 2), *extra, ");"])
        s.places.append(Place(name, "int"))
        return [out]

    # Definitions

    def define_struct(self) -> None:
        kind = self.name("S")
        members = [(self.name("m"), self.rng.choice(SCALARS)) for _ in range(self.rng.randint(2, 6))]
        fields = "".join(f"{t} {m}; " for m, t in members)
        if self.chance(0.5):
            bit = f"b_{self.name('m')}"
            width = self.rng.randint(1, 13)
            fields += f"unsigned {bit} : {width}; int c{bit} : {self.rng.randint(2, 17)}; "
            members += [(bit, "unsigned")]
        numbers = [(m, t) for m, t in members if t in INTEGERS and not m.startswith("b_")] or [("", "")]
        changed = "".join(f"c.{m} = ({t})(c.{m} ^ ({t})by); " for m, t in numbers if m)
        self.program.append(Node([f"struct {kind} {{ {fields}__device__ {self.rng.choice(['', '__noinline__ '])}{kind} changed(int by) const {{ {kind} c = *this; {changed}return c; }} }};"]))
        self.structs[kind] = members

    def define_function(self) -> None:
        rng, name = self.rng, self.name("fn")
        result = rng.choice(SCALARS)
        arguments = [(self.name("x"), rng.choice(SCALARS)) for _ in range(rng.randint(1, 4))]
        reference = rng.choice(SCALARS) if self.chance(0.3) else None
        recursive = self.chance(0.2)
        mask = not recursive and self.chance(0.25)
        attribute = rng.choice(["", "", "__noinline__ ", "__forceinline__ ", "inline "])
        listed = [f"{t} {n}" for n, t in arguments] + ([f"{reference} &ref"] if reference else []) + (["unsigned mask"] if mask else [])
        places = [Place(n, t) for n, t in arguments] + ([Place("ref", reference)] if reference else [])
        s = Scope(places, [], "mask" if mask else None, False, depth=1, result=None if mask else result, work=4 if recursive else 1)
        body = [Node(["const unsigned lane = threadIdx.x & 31u;"])] if mask else []
        head = f"__device__ {attribute}{result} {name}("
        if recursive:
            s.places.append(Place("level", "int", False))
            listed.insert(0, "int level")
            body += [Node(["if (level <= 0) return ", self.expr(result, s, 2), ";"], fixed=True), *self.block(s, rng.randint(1, 4))]
            again = Expr(result, f"{name}(level - 1, {', '.join(f'${i}' for i in range(len(arguments)))}{', ref' if reference else ''})", [self.expr(t, s, 2) for _, t in arguments])
            body.append(Node([f"{result} below = ", again, ";"]))
            s.places.append(Place("below", result))
        elif self.chance(0.25) and not reference:  # A template over a number.
            head = f"template <int N> {head}"
            s.places.append(Place("N", "int", False))
            body += self.block(s, rng.randint(1, 4))
        else:
            body += self.block(s, rng.randint(1, 4))
        body.append(Node(["return ", self.expr(result, s), ";"], fixed=True))
        self.program.append(Node([f"{head}{', '.join(listed)}) ", body]))
        call = f"{name}<{rng.randint(-3, 40)}>" if head.startswith("template") else name
        kinds = tuple(t for _, t in arguments)
        if recursive:
            wrapper = self.name("fn")
            passed = ", ".join(n for n, _ in arguments) + (", ref" if reference else "")
            self.program.append(Node([f"__device__ {result} {wrapper}({', '.join(listed[1:])}) {{ return {name}({rng.randint(1, 5)}, {passed}); }}"]))
            call = wrapper
        self.functions.append(Function(call, result, kinds, reference, 30 if recursive else 15, mask))

    def dump(self, s: Scope) -> Block:
        out = []
        texts = [p.text for p in s.places if p.writable] + [f"{a.name}[{i}]" for a in s.arrays for i in range(a.length)]
        for value in texts:
            out.append(Node([f"out[{self.slots * BLOCKS * THREADS}u + gid] = bits({value});"]))
            self.slots += 1
        return out

    def define_kernel(self) -> None:
        ids = [Place(n, "unsigned", False) for n in ("tid", "lane", "gid")]
        s = Scope(ids, [], FULL, True, kernel=True)
        body: Block = [Node(["const unsigned tid = threadIdx.x, lane = tid & 31u, gid = blockIdx.x * blockDim.x + tid;"])]
        for t in ("int", "unsigned", "float", "double"):
            name = self.name("v")
            body.append(Node([f"{t} {name} = ", self.leaf(t, replace(s, places=ids)), ";"]))
            s.places.append(Place(name, t))
        body += self.block(s, self.rng.randint(6, 16))
        body += self.dump(s)
        tail = replace(s, mask=None, block_wide=False, kernel=True)
        for _ in range(self.rng.randint(0, 2)):
            t = self.rng.choice(SCALARS)
            slot, self.slots = self.slots, self.slots + 1
            body.append(Node(["if (", self.expr("bool", tail, 2), f") {{ out[{slot * BLOCKS * THREADS}u + gid] = bits(", self.expr(t, tail), "); return; }"]))
            slot, self.slots = self.slots, self.slots + 1
            body += self.block(tail, 2)
            body.append(Node([f"out[{slot * BLOCKS * THREADS}u + gid] = bits(", self.expr(t, tail), ");"]))
        attribute = self.rng.choice(["", "", f"__launch_bounds__({THREADS}) "])
        restrict = self.rng.choice(["", "__restrict__ "])
        self.program.append(Node([f'extern "C" __global__ {attribute}void k(const int *{restrict}ia, const float *{restrict}fa, const double *{restrict}da, '
                                  f"u64 *{restrict}out, int *own, unsigned *cnt, int *wc) ", body]))

    def make(self) -> Block:
        """The program."""
        self.program += [Node([h]) for h in HELPERS]
        for _ in range(self.rng.randint(0, 2)):
            self.define_struct()
        for _ in range(self.rng.randint(0, 3)):
            self.define_function()
        self.define_kernel()
        return self.program


@dataclass
class Program:
    """A program with what is needed to run it."""

    seed: int
    tree: Block
    std: str
    slots: int
    sites: int

    @property
    def source(self) -> str:
        return text(self.tree)


def make(seed: int) -> Program:
    """The program of a seed."""
    g = Generator(seed)
    tree = g.make()
    return Program(seed, tree, g.std, g.slots, g.sites)


class Machine:
    """Runs programs on the virtual GPU."""

    def __init__(self) -> None:
        import pycuda.autoprimaryctx  # noqa: F401
        import pycuda.driver as driver
        from pycuda.compiler import SourceModule

        self.driver, self.module = driver, SourceModule

    def inputs(self, p: Program) -> list[np.ndarray]:
        """The buffers: integers, floats and doubles with edges; outputs; the threads' own cells; counters."""
        rng = np.random.default_rng(p.seed)
        ia = rng.integers(-(2**31), 2**31, 256).astype(np.int32)
        ia[::3] = rng.integers(-20, 100, ia[::3].size)
        ia[::7] = rng.choice(np.array([0, -1, 2**31 - 1, -(2**31), 65536], np.int64), ia[::7].size).astype(np.int32)
        fa = (rng.normal(size=256) * 10.0 ** rng.integers(-3, 7, 256)).astype(np.float32)
        fa[::5] = np.round(fa[::5])
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 0.5, 1.5])
        fa[::11] = rng.choice(special, fa[::11].size)
        da = rng.normal(size=256) * 10.0 ** rng.integers(-3, 16, 256)
        da[::5] = np.round(da[::5])
        da[::11] = rng.choice(special, da[::11].size)
        n = BLOCKS * THREADS
        cnt = rng.integers(0, 1000, 13 * 8).astype(np.uint32)
        cnt[80:88] = 0
        return [ia, fa, da, np.zeros(max(p.slots, 1) * n, np.uint64), ia[:n].copy(), cnt, np.arange(max(p.sites, 1) * 4, dtype=np.int32)]

    def run(self, p: Program, compiler: str) -> list[np.ndarray] | str:
        """What the program leaves in memory, or the error."""
        os.environ["RTCG_COMPILER"] = compiler
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = self.module(p.source, options=["--fmad=false", f"-std={p.std}"], cache_dir=False, no_extern_c=True)
            except self.driver.CompileError as error:
                return f"does not compile: {error}"
        buffers = self.inputs(p)
        try:
            module.get_function("k")(*(self.driver.InOut(b) for b in buffers), grid=(BLOCKS, 1), block=(THREADS, 1, 1))
        except self.driver.Error as error:
            return f"fails: {error}"
        return buffers[3:]


def differs(a: list[np.ndarray] | str, b: list[np.ndarray] | str) -> str:
    """How two results differ; empty if they do not, or if neither compiles."""
    if isinstance(a, str) or isinstance(b, str):
        if isinstance(a, str) and isinstance(b, str):
            return ""
        return f"nvrtc {a}" if isinstance(a, str) else f"clang {b}"
    for name, x, y in zip(("out", "own", "cnt", "wc"), a, b):
        if (x != y).any():
            at = int(np.flatnonzero(x != y)[0])
            where = f"slot {at // (BLOCKS * THREADS)} thread {at % (BLOCKS * THREADS)}" if name == "out" else f"index {at}"
            return f"{name} at {where}: nvrtc {int(x[at]):#x}, clang {int(y[at]):#x} ({int((x != y).sum())} values)"
    return ""


def _kind(difference: str) -> str:
    """What must stay the same while a find is made smaller."""
    if "compile" in difference:
        line = next((line for line in difference.splitlines() if "error" in line.lower() and "compile" not in line), difference)
        return re.sub(r"[\d\W]+|\b[a-z]+\d+\b", " ", line.split("error")[-1])[:60]
    return "fails" if "fails" in difference else "value"


class Shrinker:
    """Drops parts of a program while its difference stays."""

    def __init__(self, machine: Machine, program: Program, difference: str, seconds: float) -> None:
        self.machine, self.program, self.kind = machine, program, _kind(difference)
        self.difference, self.until = difference, time.monotonic() + seconds

    def still(self) -> bool:
        """Whether the program as it is now has the difference."""
        if time.monotonic() > self.until:
            return False
        first = self.machine.run(self.program, "nvrtc")
        if isinstance(first, str) and self.kind == "value":
            return False
        found = differs(first, self.machine.run(self.program, "clang"))
        if found and _kind(found) == self.kind:
            self.difference = found
            return True
        return False

    def drop_nodes(self) -> bool:
        """Drop statements, many at once first."""
        changed = False
        for block in list(all_blocks(self.program.tree)):
            size = len(block)
            while size >= 1:
                at = len(block) - size if size < len(block) else 0
                while at >= 0 and time.monotonic() < self.until:
                    saved = block[at:at + size]
                    block[at:at + size] = [n for n in saved if n.fixed]
                    if not all(n.fixed for n in saved) and self.still():
                        changed = True
                    else:
                        block[at:at + sum(n.fixed for n in saved)] = saved
                    at -= size
                size //= 2
        return changed

    def unwrap(self) -> bool:
        """Replace a statement by one of its blocks."""
        changed = False
        for block in list(all_blocks(self.program.tree)):
            for node in list(block):
                for inner in node.blocks():
                    if not any(n is node for n in block):
                        break
                    at = next(i for i, n in enumerate(block) if n is node)
                    block[at:at + 1] = inner
                    if self.still():
                        changed = True
                    else:
                        block[at:at + len(inner)] = [node]
        return changed

    def simplify(self) -> bool:
        """Replace expressions by an operand of the same type, or by a number."""
        changed = False
        for block in list(all_blocks(self.program.tree)):
            for node in block:
                for part in node.parts:
                    if isinstance(part, Expr):
                        changed |= self.simplify_expr(part)
        return changed

    def simplify_expr(self, e: Expr) -> bool:
        if not e.operands:
            return False
        saved = Expr(e.type, e.text, e.operands)
        smaller = [o for o in saved.walk() if o is not saved and o.type == e.type]
        one = Expr(e.type, "false" if e.type == "bool" else f"({e.type})1")
        for other in [one, *smaller[:6]]:
            e.text, e.operands = other.text, other.operands
            if self.still():
                self.simplify_expr(e)
                return True
        e.text, e.operands = saved.text, saved.operands
        return any([self.simplify_expr(o) for o in e.operands])

    def run(self) -> None:
        """Until nothing more can go, or time is up."""
        while (self.drop_nodes() | self.unwrap() | self.simplify()) and time.monotonic() < self.until:
            pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=int, metavar="SEED", help="the number of one program, which a find says")
    parser.add_argument("--finds", type=Path, metavar="FOLDER", help="where finds are written")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    parser.add_argument("--without", metavar="REGEX", help="leave out operations whose text matches; a program is replayed with the same")
    parser.add_argument("--show", action="store_true", help="print the programs")
    return parser.parse_args()


def _leave_out(pattern: str) -> None:
    """Drop the operations whose text matches, as those with a known difference."""
    for groups in OPERATIONS.values():
        for name, entries in list(groups.items()):
            groups[name] = [e for e in entries if not re.search(pattern, e[0])]
            if not groups[name]:
                del groups[name]


def _check(machine: Machine, seed: int, options: argparse.Namespace) -> tuple[bool, bool]:
    """Whether the program of a seed differs, and whether it compiles at all."""
    program = make(seed)
    if options.finds:
        (options.finds / "running").write_text(f"{seed}\n")
    if options.show:
        print(program.source)
    first, second = machine.run(program, "nvrtc"), machine.run(program, "clang")
    found = differs(first, second)
    if not found:
        if isinstance(first, str):
            print(f"neither compiles, seed {seed}: {first[:300]}", flush=True)
        return False, not isinstance(first, str)
    whole = program.source
    print(f"find, seed {seed}: {found[:400]}", flush=True)
    shrinker = Shrinker(machine, program, found, options.shrink_seconds)
    shrinker.run()
    report = f"// seed {seed}, -std={program.std} --fmad=false\n// " + shrinker.difference.replace("\n", "\n// ") + "\n" + program.source
    print(report, flush=True)
    if options.finds:
        (options.finds / f"{seed}.cu").write_text(report)
        (options.finds / f"{seed}.whole.cu").write_text(whole)
    return True, True


def main() -> int:
    """Make programs until time is up; 1 if there was a find."""
    options = _arguments()
    if options.without:
        _leave_out(options.without)
    if options.finds:
        options.finds.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("RTCG_LIBCUDA", "none")
    os.environ.setdefault("RTCG_VIRTUAL_DEVICES", "1")
    machine = Machine()
    if options.replay is not None:
        return int(_check(machine, options.replay, options)[0])
    end, count, finds, good = time.monotonic() + options.seconds, 0, 0, 0
    while time.monotonic() < end:
        found, compiled = _check(machine, options.seed * 1_000_000 + count, options)
        count, finds, good = count + 1, finds + found, good + compiled
    print(f"{count} programs, {good} of them valid, {finds} finds")
    return int(finds > 0)


if __name__ == "__main__":
    sys.exit(main())
