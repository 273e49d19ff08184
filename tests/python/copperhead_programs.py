"""Random programs of data-parallel Python: text of `@cu` functions from a grammar, with arguments."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np

import rtcg.copperhead as cp

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
DTYPES = (*INTEGERS, *FLOATS, *FLOATS, "bool")
COMPLEX = ("complex64", "complex128")
#: Around what warps and blocks take, and few enough for the interpreter.
SIZES = (0, 1, 2, 3, 5, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257)

NUMBER, INDEX, TRUTH, SEQUENCE = "number", "index", "truth", "sequence"


class Program:
    """The text of a program `f`, and arguments for it.

    Attributes
    ----------
    is_exact : bool
        Whether nothing combines floats in an order of its own: results are equal in each bit.
    is_wrong : bool
        Whether something is there that a program should not have.
    """

    def __init__(self, seed: int, max_size: int = 257) -> None:
        self._random = random.Random(seed)
        self.is_exact = True
        self.is_wrong = False
        self._n_names = 0
        self._lines: list[str] = []
        self._breaks = self._random.random() < 0.12
        pick = self._random
        #: Of complex numbers there is no order and no remainder.
        self._is_complex = pick.random() < 0.15
        kinds = [pick.choice([SEQUENCE, SEQUENCE, NUMBER]) for _ in range(pick.randint(1, 2))]
        kinds.insert(0, SEQUENCE)
        names = [f"x{place}" for place in range(len(kinds))]
        # Sequences of one length, so that `map` takes them together, or else of any.
        sizes = [size for size in SIZES if size <= max_size]
        size = pick.choice(sizes)
        is_even = pick.random() < 0.85
        values = np.random.default_rng(seed)
        self.args = tuple(
            self._array(values, size if is_even else pick.choice(sizes)) if kind == SEQUENCE else self._scalar(values)
            for kind in kinds
        )
        scope = dict(zip(names, kinds, strict=True))
        body = self._body(scope, pick.randint(1, 3))
        self.text = f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in body)

    def function(self) -> Any:
        """The program, whose source `linecache` has."""
        file = f"<fuzz {hash(self.text):x}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        names = {name: getattr(cp, name) for name in cp.__all__}
        exec(compile(self.text, file, "exec", dont_inherit=True), names)
        return cp.cu(names["f"])

    # -- statements -----------------------------------------------------------------------------

    def _name(self, prefix: str) -> str:
        self._n_names += 1
        return f"{prefix}{self._n_names}"

    def _body(self, scope: dict[str, str], n_statements: int) -> list[str]:
        lines: list[str] = []
        for _ in range(n_statements):
            lines += self._random.choice([self._assignment, self._assignment, self._condition, self._recursion])(scope)
        results = [name for name in scope if name.startswith("v")]
        results += [self._of(self._random.choice([SEQUENCE, SEQUENCE, NUMBER, TRUTH]), scope, 3)]
        return [*lines, f"return {', '.join(results)}"]

    def _assignment(self, scope: dict[str, str]) -> list[str]:
        kind = self._random.choice([SEQUENCE, SEQUENCE, NUMBER, INDEX])
        value = self._of(kind, scope, 3)
        name = self._name("v")
        scope[name] = kind
        return [f"{name} = {value}"]

    def _condition(self, scope: dict[str, str]) -> list[str]:
        kind = self._random.choice([SEQUENCE, NUMBER])
        name = self._name("v")
        condition, then, other = self._of(TRUTH, scope, 2), self._of(kind, scope, 2), self._of(kind, scope, 2)
        then, other = self._one_type(kind, then, other)
        scope[name] = kind
        return [f"if {condition}:", f"    {name} = {then}", "else:", f"    {name} = {other}"]

    def _recursion(self, scope: dict[str, str]) -> list[str]:
        """A loop of numbers that ends."""
        name, step, total = self._name("g"), self._name("n"), self._name("t")
        inner = {**scope, step: INDEX, total: NUMBER}
        result, start = self._name("v"), self._of(NUMBER, scope, 1)
        value, start = self._one_type(NUMBER, self._of(NUMBER, inner, 1), start)
        n = self._random.randint(0, 4)
        scope[result] = NUMBER
        return [
            f"def {name}({step}, {total}):",
            f"    return {total} if {step} <= 0 else {name}({step} - 1, {value})",
            f"{result} = {name}({n}, {start})",
        ]

    # -- expressions ----------------------------------------------------------------------------

    def _of(self, kind: str, scope: dict[str, str], depth: int) -> str:
        if self._breaks and self._random.random() < 0.05:
            self.is_wrong = True
            kind = self._random.choice([NUMBER, SEQUENCE, TRUTH])
            if self._random.random() < 0.3:
                return self._random.choice(
                    ["unknown", "None", "'text'", "(1, 2)", "(lambda a: a)", "x0[0:1]", "{1: 2}"]
                )
        return {NUMBER: self._number, INDEX: self._index, TRUTH: self._truth, SEQUENCE: self._sequence}[kind](
            scope, depth
        )

    def _one_type(self, kind: str, *values: str) -> list[str]:
        """Values of one type: the interpreter takes the type of the one that it meets."""
        convert = self._random.choice(["complex64", "complex128"] if self._is_complex else ["float64", "float32"])
        if kind == SEQUENCE:
            return [f"[{convert}(c) for c in {value}]" for value in values]
        return [f"{convert}({value})" for value in values]

    def _known(self, kind: str, scope: dict[str, str]) -> list[str]:
        return [name for name, known in scope.items() if known == kind]

    def _number(self, scope: dict[str, str], depth: int) -> str:
        pick = self._random
        names = self._known(NUMBER, scope) + self._known(INDEX, scope)
        if depth <= 0 or pick.random() < 0.2:
            literals = [str(pick.randint(0, 9)), f"{pick.randint(-8, 8) / 4}", "True"]
            return pick.choice(names * 3 + literals)
        number = lambda: self._of(NUMBER, scope, depth - 1)  # noqa: E731
        choice = pick.randrange(16)
        if choice < 5 or (self._is_complex and choice in (5, 6, 7, 14)):
            return f"({number()} {pick.choice('+-*')} {number()})"
        if choice == 5:
            return f"({number()} {pick.choice(['/', '//', '%'])} {pick.choice(['2', '3', '4.0', '-3', '0.5'])})"
        if choice == 6:
            return f"{pick.choice(['abs', 'op_neg', 'op_pos', 'float32', 'float64', 'sqrt'])}({number()})"
        if choice == 7:
            return f"{pick.choice(['minimum', 'maximum', 'op_add', 'op_mul'])}({number()}, {number()})"
        if choice == 8:
            return f"where({self._of(TRUTH, scope, depth - 1)}, {number()}, {number()})"
        if choice == 9:
            then, other = self._one_type(NUMBER, number(), number())
            return f"({then} if {self._of(TRUTH, scope, depth - 1)} else {other})"
        if choice == 10:
            return f"({number()}, {number()})[{pick.choice(['0', '1', '-1'])}]"
        if choice == 11:
            argument = self._name("a")
            body = self._of(NUMBER, {**scope, argument: NUMBER}, depth - 1)
            return f"(lambda {argument}: {body})({number()})"
        if choice in (12, 13):
            self.is_exact = False
            return f"sum({self._of(SEQUENCE, scope, depth - 1)})"
        if choice == 14:
            self.is_exact = False
            function = pick.choice(["op_add", "minimum", "maximum", "lambda p, q: p + q"])
            return f"reduce({function}, {self._of(SEQUENCE, scope, depth - 1)}, {number()})"
        return f"{self._of(SEQUENCE, scope, depth - 1)}[{pick.choice(['0', '-1', '1'])}]"

    def _index(self, scope: dict[str, str], depth: int) -> str:
        pick = self._random
        names = self._known(INDEX, scope)
        if depth <= 0 or pick.random() < 0.3:
            return pick.choice(names * 3 + [str(pick.randint(-3, 9))])
        choice = pick.randrange(4)
        if choice == 0:
            return f"({self._of(INDEX, scope, depth - 1)} {pick.choice('+-')} {self._of(INDEX, scope, depth - 1)})"
        if choice == 1:
            return f"len({self._of(SEQUENCE, scope, depth - 1)})"
        if choice == 2:
            return f"count([bool_({self._element(scope, depth - 1)}) for e in {self._of(SEQUENCE, scope, depth - 1)}])"
        return f"({self._of(INDEX, scope, depth - 1)} % {pick.randint(1, 5)})"

    def _element(self, scope: dict[str, str], depth: int) -> str:
        return f"{self._of(TRUTH, {**scope, 'e': NUMBER}, depth)}"

    def _truth(self, scope: dict[str, str], depth: int) -> str:
        pick = self._random
        if depth <= 0 or pick.random() < 0.6:
            sign = pick.choice(["==", "!="] if self._is_complex else ["==", "!=", "<", "<=", ">", ">="])
            return f"({self._of(NUMBER, scope, depth - 1)} {sign} {self._of(NUMBER, scope, depth - 1)})"
        choice = pick.randrange(4)
        if choice == 0:
            return f"(not {self._of(TRUTH, scope, depth - 1)})"
        if choice < 3:
            sign = pick.choice(["and", "or"])
            return f"({self._of(TRUTH, scope, depth - 1)} {sign} {self._of(TRUTH, scope, depth - 1)})"
        return f"{pick.choice(['any', 'all'])}({self._of(SEQUENCE, scope, depth - 1)})"

    def _sequence(self, scope: dict[str, str], depth: int) -> str:
        pick = self._random
        names = self._known(SEQUENCE, scope)
        if depth <= 0 or pick.random() < 0.15:
            return pick.choice(names)
        sequence = lambda: self._of(SEQUENCE, scope, depth - 1)  # noqa: E731
        choice = pick.randrange(17)
        if choice < 5:
            e = self._name("e")
            value = self._of(NUMBER, {**scope, e: NUMBER}, depth - 1)
            test = f" if {self._of(TRUTH, {**scope, e: NUMBER}, depth - 1)}" if pick.random() < 0.3 else ""
            return f"[{value} for {e} in {sequence()}{test}]"
        if choice == 5:
            a, b = self._name("e"), self._name("e")
            value = self._of(NUMBER, {**scope, a: NUMBER, b: NUMBER}, depth - 1)
            return f"[{value} for {a}, {b} in zip({sequence()}, {sequence()})]"
        if choice == 6:
            a, b = self._name("e"), self._name("e")
            value = self._of(NUMBER, {**scope, a: NUMBER, b: NUMBER}, depth - 1)
            return f"map(lambda {a}, {b}: {value}, {sequence()}, {sequence()})"
        if choice == 7:
            self.is_exact = False
            kind = pick.choice(["scan", "rscan"])
            function = "op_add" if self._is_complex else pick.choice(["op_add", "maximum", "minimum"])
            return f"{kind}({function}, {sequence()})"
        if choice == 8:
            self.is_exact = False
            kind = pick.choice(["exclusive_scan", "exclusive_rscan"])
            return f"{kind}(op_add, {self._of(NUMBER, scope, 0)}, {sequence()})"
        if choice == 9:
            return f"shift({sequence()}, {pick.randint(-3, 3)}, {self._of(NUMBER, scope, 0)})"
        if choice == 10:
            return f"rotate({sequence()}, {self._of(INDEX, scope, 1)})"
        if choice == 11:
            e = self._name("e")
            return f"filter(lambda {e}: {self._of(TRUTH, {**scope, e: NUMBER}, depth - 1)}, {sequence()})"
        if choice == 12:
            i = self._name("i")
            source = sequence()
            value = self._of(INDEX, {**scope, i: INDEX}, 1)
            return f"gather({source}, [({value}) % max(len({source}), 1) for {i} in indices({sequence()})])"
        if choice == 13:
            source = sequence()
            i = self._name("i")
            return f"permute({source}, [len({source}) - 1 - {i} for {i} in indices({source})])"
        if choice == 14:
            return pick.choice([f"range({pick.randint(0, 40)})", f"indices({sequence()})"])
        if choice == 15:
            a, b = self._name("e"), self._name("e")
            value = self._of(NUMBER, {**scope, a: NUMBER, b: NUMBER}, depth - 1)
            self.is_exact = False
            return f"[sum([{value} for {b} in {pick.choice(names)}]) for {a} in {sequence()}]"
        if self._is_complex:
            return sequence()
        return f"sort({pick.choice(['cmp_lt', 'cmp_gt', 'lambda p, q: p < q'])}, {sequence()})"

    def _array(self, values: np.random.Generator, size: int) -> np.ndarray[Any, Any]:
        pick = self._random
        dtype = np.dtype(pick.choice([*DTYPES, *COMPLEX, *COMPLEX] if self._is_complex else DTYPES))
        if dtype.kind == "b":
            return values.integers(0, 2, size).astype(bool)
        if dtype.kind in "iu":
            array = values.integers(0 if dtype.kind == "u" else -9, 10, size).astype(dtype)
            if size and pick.random() < 0.2:
                array[values.integers(size)] = np.iinfo(dtype).max
            return array
        found = values.integers(-40, 40, size) / 8
        return (found + 1j * values.integers(-8, 8, size)).astype(dtype) if dtype.kind == "c" else found.astype(dtype)

    def _scalar(self, values: np.random.Generator) -> Any:
        if self._random.random() < 0.4:
            return self._random.choice([int(values.integers(-5, 9)), float(values.integers(-20, 20) / 4), True])
        return self._array(values, 1)[0]
