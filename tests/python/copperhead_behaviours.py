"""What programs of data-parallel Python compute: programs with arguments and the result, or the error, of each call.

`BEHAVIOURS` lists them. Results hold at every place, up to `rtol` where a reduction or scan of floats may combine its
elements in another order. Programs are written as users write them, so the file has their source.
"""

# ruff: noqa: B905, E731, F403, F405, F841
from __future__ import annotations

import builtins
import dataclasses
import itertools
import math
import operator
from typing import Any

import numpy as np

from rtcg import copperhead as cp
from rtcg.copperhead import *


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """A call of a program, and what comes of it."""

    name: str
    program: Any
    args: tuple[Any, ...]
    expected: Any = None
    raises: type[Exception] | None = None
    #: A part of the error's message.
    match: str = ""
    rtol: float = 0.0
    #: Whether the dtype counts: nobody knows that of an empty comprehension.
    typed: bool = True


BEHAVIOURS: list[Behaviour] = []


def expect(name, program, args, expected, **options):
    """A call has a result: NumPy scalars and arrays, `ragged`, or tuples of these; a list is an array of int64."""
    BEHAVIOURS.append(Behaviour(name, program, tuple(args), arrays(expected), **options))


def expect_error(name, program, args, kind, match=""):
    """A call raises an error whose message contains `match`."""
    BEHAVIOURS.append(Behaviour(name, program, tuple(args), raises=kind, match=match))


def arrays(value):
    if isinstance(value, tuple):
        return tuple(arrays(item) for item in value)
    if isinstance(value, list):
        return np.array(value, None if value else np.int64)
    return value if isinstance(value, (np.ndarray, ragged)) else np.asarray(value)[()]


def of(dtype, *values):
    return np.array(values, dtype)


def structures(rows, *dtypes):
    """Tuples as elements of a structure, as results have them."""
    fields = [(f"f{place}", dtype) for place, dtype in builtins.enumerate(dtypes)]
    return np.array(rows, np.dtype(fields, align=True))


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)

INTS = np.arange(7, dtype=np.int32)
ONES = np.ones(7, np.int32)
REALS = INTS.astype(np.float32)

# -- simple maps ------------------------------------------------------------------------------


@cu
def saxpy(a, x, y):
    """Adds a vector to a scaled one."""
    return map(lambda xi, yi: a * xi + yi, x, y)


@cu
def saxpy_comprehension(a, x, y):
    return [a * xi + yi for xi, yi in zip(x, y)]


@cu
def saxpy_procedure(a, x, y):
    def triad(xi, yi):
        return a * xi + yi

    return map(triad, x, y)


@cu
def pairwise_sum(x, y):
    def duad(xi, yi):
        return xi + yi

    return map(duad, x, y)


@cu
def increment(x):
    return map(lambda xi: xi + 1, x)


@cu
def increment_comprehension(x):
    return [xi + 1 for xi in x]


@cu
def as_ones(x):
    return map(lambda xi: 1, x)


@cu
def identity_lambda(x):
    return map(lambda b: b, x)


@cu
def identity_procedure(x):
    def same(xi):
        return xi

    return map(same, x)


for _program in (saxpy, saxpy_comprehension, saxpy_procedure):
    expect(f"simple: {_program.__name__} int32", _program, (np.int32(2), INTS, ONES), 2 * INTS + ONES)
    expect(f"simple: {_program.__name__} float32", _program, (np.float32(2), REALS, REALS), 2 * REALS + REALS)
expect("simple: saxpy with a number of Python", saxpy, (0.5, REALS, REALS), np.float32(0.5) * REALS + REALS)
expect("simple: pairwise_sum int32", pairwise_sum, (INTS, INTS), INTS + INTS)
expect("simple: pairwise_sum float32", pairwise_sum, (REALS, REALS), REALS + REALS)
for _program in (increment, increment_comprehension):
    expect(f"simple: {_program.__name__} int32", _program, (INTS,), INTS + 1)
    expect(f"simple: {_program.__name__} float32", _program, (REALS,), REALS + 1)
for _program in (identity_lambda, identity_procedure):
    expect(f"simple: {_program.__name__} int32", _program, (INTS,), INTS)
    expect(f"simple: {_program.__name__} float32", _program, (REALS,), REALS)
expect("simple: as_ones", as_ones, (REALS,), [1] * 7)


@cu
def four_sequences(a, b, c, d):
    return map(lambda p, q, r, s: p * q - r * s, a, b, c, d)


@cu
def map_of_a_prelude_function(x, y):
    return map(op_mul, x, y)


@cu
def map_of_a_builtin(x):
    return map(abs, x)


@cu
def through_the_module(x):
    return cp.map(lambda xi: cp.sqrt(xi), x)


expect("simple: map of four sequences", four_sequences, (INTS, INTS, ONES, ONES), INTS * INTS - ONES)
expect("simple: map of an operator", map_of_a_prelude_function, (INTS, REALS), INTS * REALS.astype(np.float64))
expect("simple: map of a function of the prelude", map_of_a_builtin, (-INTS,), INTS)
expect("simple: functions through the module", through_the_module, (REALS * REALS,), REALS)
expect("simple: a map of nothing keeps the dtype", saxpy, (2, REALS[:0], REALS[:0]), REALS[:0])
expect("simple: a comprehension of nothing", increment_comprehension, (REALS[:0],), REALS[:0], typed=False)
expect_error("simple: map of unequal lengths", pairwise_sum, (INTS, INTS[:3]), ValueError, "7")

# -- syntax -----------------------------------------------------------------------------------

TWO, THREE = 2, np.float32(3)


@cu
def literals(x):
    return 1, 2.5, True, x


@cu
def conditional_expression(x):
    return map(lambda xi: xi if xi > 2 else -xi, x)


@cu
def conditional_statement(x):
    def element(xi):
        if xi < 1:
            return xi
        else:
            return 1 / xi

    return map(element, x)


@cu
def elif_chain(x):
    def sign_of(xi):
        if xi > 3:
            return 1
        elif xi < 3:
            return -1
        else:
            return 0

    return map(sign_of, x)


@cu
def branch_assigns(x, flag):
    if flag:
        y = map(op_neg, x)
    else:
        y = x
    return y


@cu
def early_return(x):
    def element(xi):
        if xi > 2:
            return xi * 10
        return xi

    return [element(xi) for xi in x]


@cu
def logical(x):
    return map(lambda xi: xi > 1 and not xi > 4 or xi == 6, x)


@cu
def chained_comparison(x):
    return map(lambda xi: 1 < xi <= 4, x)


@cu
def lambda_of_lambda(x, y):
    add = lambda a: lambda b: a + b
    return add(x)(y)


@cu
def named_lambda(x):
    twice = lambda a: 2 * a
    return [twice(xi) for xi in x]


@cu
def nested_procedures(x):
    def outer(a):
        def inner(b):
            return a * b + a

        return inner(a + 1)

    return map(outer, x)


@cu
def comprehension_of_a_range(n):
    return [i + 3 for i in range(n)]


@cu
def comprehension_of_zip(x, y):
    return [a - b for a, b in zip(x, y)]


@cu
def comprehension_with_condition(x):
    return [xi * xi for xi in x if xi % 2 == 1]


@cu
def comprehension_of_tuples(x):
    return [(xi, xi + 1) for xi in x]


@cu
def constants_of_the_module(x):
    return map(lambda xi: TWO * xi + THREE, x)


@cu
def callee(a, b):
    return a * b - 4


@cu
def caller(x):
    return map(callee, x, [callee(xi, 1) for xi in x])


@cu
def operators(a, b):
    return a + b, a - b, a * b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b, -a, +a, ~a


@cu
def operator_functions(a, b):
    arithmetic = op_add(a, b), op_sub(a, b), op_mul(a, b), op_floordiv(a, b), op_mod(a, b), op_pow(a, b)
    bits = op_lshift(a, b), op_rshift(a, b), op_and(a, b), op_or(a, b), op_xor(a, b)
    return arithmetic, bits, (op_neg(a), op_pos(a), op_invert(a))


@cu
def comparisons(a, b):
    return a == b, a != b, a < b, a <= b, a > b, a >= b


@cu
def logical_functions(a, b):
    return op_band(a, b), op_bor(a, b), op_not(a)


@cu
def a_list(a, b):
    return [a, b, a + b]


@cu
def first_elements(x):
    return x[0], x[len(x) - 1], x[-1]


@cu
def with_a_docstring(x):
    """Nothing that runs."""
    pass
    return x


@cu
def python_builtins(x):
    return sum(map(abs, x)), max(x), len(x)


expect("syntax: literals", literals, (np.int8(7),), (1, 2.5, True, np.int8(7)))
expect("syntax: conditional expression", conditional_expression, (INTS,), of("int32", 0, -1, -2, 3, 4, 5, 6))
expect("syntax: if and else", conditional_statement, (of("float32", 0, 2, 4),), of("float32", 0, 0.5, 0.25))
expect("syntax: elif", elif_chain, (INTS,), [-1, -1, -1, 0, 1, 1, 1])
expect("syntax: assignment in the branches, true", branch_assigns, (INTS, True), -INTS)
expect("syntax: assignment in the branches, false", branch_assigns, (INTS, False), INTS)
expect("syntax: return without else", early_return, (INTS,), of("int32", 0, 1, 2, 30, 40, 50, 60))
expect("syntax: and, or, not", logical, (INTS,), np.array([0, 0, 1, 1, 1, 0, 1], bool))
expect("syntax: chained comparison", chained_comparison, (INTS,), np.array([0, 0, 1, 1, 1, 0, 0], bool))
expect("syntax: lambda of a lambda", lambda_of_lambda, (3, np.int16(4)), np.int16(7))
expect("syntax: a lambda with a name", named_lambda, (INTS,), 2 * INTS)
expect("syntax: nested procedures", nested_procedures, (INTS,), INTS * (INTS + 1) + INTS)
expect("syntax: comprehension of a range", comprehension_of_a_range, (4,), [3, 4, 5, 6])
expect("syntax: comprehension of zip", comprehension_of_zip, (INTS, ONES), INTS - ONES)
expect("syntax: comprehension with a condition", comprehension_with_condition, (INTS,), of("int32", 1, 9, 25))
expect(
    "syntax: comprehension of tuples",
    comprehension_of_tuples,
    (of("int32", 1, 2),),
    structures([(1, 2), (2, 3)], "int32", "int32"),
)
expect("syntax: constants of the module", constants_of_the_module, (REALS,), 2 * REALS + 3)
expect("syntax: a program calls another", caller, (of("int32", 1, 2, 6),), of("int32", -7, -8, 8))
expect(
    "syntax: operators of int32",
    operators,
    (np.int32(7), np.int32(2)),
    tuple(map(np.int32, (9, 5, 14, 3, 1, 49, 28, 1, 2, 7, 5, -7, 7, -8))),
)
expect(
    "syntax: operators as functions",
    operator_functions,
    (np.int32(7), np.int32(2)),
    (
        tuple(map(np.int32, (9, 5, 14, 3, 1, 49))),
        tuple(map(np.int32, (28, 1, 2, 7, 5))),
        tuple(map(np.int32, (-7, 7, -8))),
    ),
)
expect("syntax: comparisons", comparisons, (np.int32(1), np.int32(2)), (False, True, True, True, False, False))
expect("syntax: logical functions", logical_functions, (np.bool_(True), np.bool_(False)), (False, True, False))
expect("syntax: a list of numbers", a_list, (np.int16(1), np.int16(2)), of("int16", 1, 2, 3))
expect("syntax: subscripts", first_elements, (INTS,), (np.int32(0), np.int32(6), np.int32(6)))
expect("syntax: a docstring and pass", with_a_docstring, (INTS,), INTS)
expect("syntax: names of Python's functions", python_builtins, (-INTS,), (np.int32(21), np.int32(0), 7))

# -- tuples -----------------------------------------------------------------------------------


@cu
def tuples_in_and_out(a, b):
    m, n = a
    q, r = m, n
    s = q, r
    t, u = s
    o, p = b
    return t + o, u + p


@cu
def tuple_by_name():
    pair = 1, 2
    return pair


@cu
def nested_tuple():
    return 1, (2, 3)


@cu
def pair_of(x, y):
    return x, y


@cu
def with_negatives(x):
    y = map(op_neg, x)
    both = x, y
    return both


@cu
def taken_apart(x):
    y, z = x
    return y, z


@cu
def deep_pattern(x):
    a, (b, (c, d)) = x
    return (d, c), b - a


@cu
def swap(x):
    def swapped(pair):
        a, b = pair
        return b, a

    return map(swapped, x)


@cu
def pattern_in_a_lambda(x, y):
    return map(lambda pair: pair[0] - pair[1], zip(x, y))


@cu
def tuple_of_tuples(x):
    return map(lambda xi: (xi, (xi + xi, -xi)), x)


@cu
def conditional_tuple(x):
    return map(lambda xi: (xi, 1) if xi > 2 else (-xi, 0), x)


expect("tuples: in and out", tuples_in_and_out, ((1, 2), (5, 6)), (6, 8))
expect("tuples: returned by name", tuple_by_name, (), (1, 2))
expect("tuples: nested", nested_tuple, (), (1, (2, 3)))
expect("tuples: of sequences", pair_of, ([1, 2], [3, 4]), ([1, 2], [3, 4]))
expect("tuples: of a sequence and a number", pair_of, ([1, 2], 3), ([1, 2], 3))
expect("tuples: of a sequence and a tuple", pair_of, ([1, 2], (3, 4)), ([1, 2], (3, 4)))
expect("tuples: a sequence and its map", with_negatives, ([1, 2],), ([1, 2], [-1, -2]))
expect("tuples: of sequences, taken apart", taken_apart, (([1, 2], [3, 4]),), ([1, 2], [3, 4]))
expect("tuples: deep pattern", deep_pattern, ((1, (2, (3.0, True))),), ((True, 3.0), 1))
expect("tuples: a subscript of a tuple", pattern_in_a_lambda, (INTS, ONES), INTS - ONES)
expect("tuples: conditional", conditional_tuple, (of("int32", 1, 3),), structures([(-1, 0), (3, 1)], "int32", "int64"))

# -- arrays of structures ----------------------------------------------------------------------


@cu
def demultiplexed(x):
    return map(lambda xi: (int32(xi), (float32(xi) + 1.25, float32(xi) + 2.5)), x)


@cu
def multiplexed(x):
    def total(element):
        a, (b, c) = element
        return float32(a) + float32(b) + float32(c)

    return map(total, x)


@cu
def there_and_back(x):
    return multiplexed(demultiplexed(x))


PAIR = np.dtype([("f0", "float32"), ("f1", "float32")], align=True)
SPLIT = np.array([(1, (2.25, 3.5)), (2, (3.25, 4.5))], np.dtype([("f0", "int32"), ("f1", PAIR)], align=True))
expect("structures: a result of nested tuples", demultiplexed, ([1, 2],), SPLIT)
expect("structures: a structured array as argument", multiplexed, (SPLIT,), of("float32", 6.75, 9.75))
expect(
    "structures: a list of tuples as argument",
    multiplexed,
    ([(1, (2.25, 3.5)), (2, (3.25, 4.5))],),
    of("float32", 6.75, 9.75),
)
expect("structures: within a program", there_and_back, ([1, 2, 3],), of("float32", 6.75, 9.75, 12.75))
expect(
    "structures: swapped",
    swap,
    ([(np.int8(1), 0.5), (np.int8(2), 1.5)],),
    structures([(0.5, 1), (1.5, 2)], "float64", "int8"),
)
expect(
    "structures: three numbers deep",
    tuple_of_tuples,
    (of("int16", 5),),
    np.array([(5, (10, -5))], np.dtype([("f0", "int16"), ("f1", [("f0", "int16"), ("f1", "int16")])])),
)

# -- arguments and their types -------------------------------------------------------------------

BIG_ENDIAN = np.arange(3, dtype=">i4")
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
ROWS = ragged(of("int32", 1, 2, 3, 4, 5), [0, 2, 2, 5])


@cu
def same(x):
    return x


@cu
def second(x):
    return x[1]


expect("arguments: a list of int", same, ([1, 2, 3],), of("int64", 1, 2, 3))
expect("arguments: a list of float", same, ([2.5, 3],), of("float64", 2.5, 3))
expect("arguments: a list of bool", same, ([True, False],), of("bool", True, False))
expect("arguments: a list of NumPy scalars", same, ([np.int16(1), np.int16(2)],), of("int16", 1, 2))
expect("arguments: a list of lists", same, ([[1, 2], [3, 4]],), np.array([[1, 2], [3, 4]]))
expect("arguments: a list of lists that differ", same, ([[1, 2], [3]],), ragged([1, 2, 3], [0, 2, 3]))
expect(
    "arguments: a list of arrays that differ",
    same,
    ([of("int8", 1, 2), of("int8", 3)],),
    ragged(of("int8", 1, 2, 3), [0, 2, 3]),
)
expect("arguments: a matrix", same, (MATRIX,), MATRIX)
expect("arguments: a transposed matrix", same, (MATRIX.T,), MATRIX.T)
expect("arguments: every other element", same, (INTS[::2],), of("int32", 0, 2, 4, 6))
expect("arguments: reversed", same, (INTS[::-1],), INTS[::-1].copy())
expect(
    "arguments: three axes",
    same,
    (np.arange(8, dtype=np.int16).reshape(2, 2, 2),),
    np.arange(8, dtype=np.int16).reshape(2, 2, 2),
)
expect("arguments: ragged", same, (ROWS,), ROWS)
expect("arguments: other byte order", same, (BIG_ENDIAN,), BIG_ENDIAN.astype(np.int32))
expect("arguments: a range", same, (builtins.range(3),), [0, 1, 2])
expect("arguments: an array without axes", same, (np.array(2.5, np.float32),), np.float32(2.5))
expect("arguments: numbers", same, ((1, 2.5, True, 1j),), (1, 2.5, True, 1j))
expect("arguments: no elements", same, (np.empty(0, np.int8),), np.empty(0, np.int8))
expect("arguments: no rows", same, (np.empty((0, 3), np.int8),), np.empty((0, 3), np.int8))
expect("arguments: empty rows", same, (np.empty((2, 0), np.int8),), np.empty((2, 0), np.int8))
for _dtype in (*NUMBERS, "bool"):
    _x = of(_dtype, 1, 0, 1)
    expect(f"arguments: elements of {_dtype}", same, (_x,), _x)
    expect(f"arguments: an element of {_dtype}", second, (_x,), _x[1])
expect_error("arguments: text", same, ("abc",), TypeError, "x is 'abc'")
expect_error("arguments: dates", same, (np.array(["2020-01-01"], "datetime64[D]"),), TypeError, "datetime64")
expect_error("arguments: objects", same, (np.array([None, 1]),), TypeError, "object")
expect_error("arguments: too few", saxpy, (1, INTS), TypeError, "y")

# -- types ------------------------------------------------------------------------------------


@cu
def plus_one(x):
    return [xi + 1 for xi in x]


@cu
def times_half(x):
    return [xi * 0.5 for xi in x]


@cu
def plus(x, y):
    return map(op_add, x, y)


@cu
def quotient(x, y):
    return map(op_div, x, y)


@cu
def floor_and_mod(x, y):
    return map(op_floordiv, x, y), map(op_mod, x, y)


@cu
def less(x, y):
    return [xi < yi for xi, yi in zip(x, y)]


@cu
def plus_imaginary(x):
    return [xi + 1j for xi in x]


@cu
def roots(x):
    return map(sqrt, x)


@cu
def of_two_branches(x, y):
    return map(lambda xi, yi: xi if xi > 1 else yi, x, y)


for _dtype in NUMBERS:
    _x, _y = of(_dtype, 5, 7, 100), of(_dtype, 2, 3, 7)
    expect(f"types: {_dtype} + 1", plus_one, (_x,), _x + 1)
    expect(f"types: {_dtype} * 0.5", times_half, (_x,), _x * 0.5)
    expect(f"types: {_dtype} / {_dtype}", quotient, (_x, _y), _x / _y, rtol=1e-6)
    if _dtype not in COMPLEX:
        expect(f"types: {_dtype} // and %", floor_and_mod, (_x, _y), (_x // _y, _x % _y))
        expect(f"types: {_dtype} < {_dtype}", less, (_x, _y[::-1]), _x < _y[::-1])
for _left, _right in (
    *(("int8", "uint8"), ("int32", "float32"), ("uint64", "int64"), ("float16", "int8"), ("float16", "float32")),
    *(("float32", "complex64"), ("float64", "complex64"), ("bool", "int8"), ("int64", "float32"), ("uint8", "int64")),
    ("uint32", "int32"),
):
    _x, _y = of(_left, 1, 0, 1), of(_right, 1, 1, 0)
    expect(f"types: {_left} + {_right}", plus, (_x, _y), _x + _y)
    expect(f"types: {_right} + {_left}", plus, (_y, _x), _y + _x)
expect("types: bool + 1", plus_one, (of("bool", 1, 0),), of("int64", 2, 1))
expect("types: float32 + 1j", plus_imaginary, (REALS,), REALS + np.complex64(1j))
expect("types: square roots of int32", roots, (of("int32", 0, 1, 4),), of("float64", 0, 1, 2))
expect("types: square roots of int8", roots, (of("int8", 0, 1, 4),), of("float16", 0, 1, 2))
expect(
    "types: branches of two dtypes",
    of_two_branches,
    (of("int32", 1, 2), of("float32", 0.5, 0.5)),
    of("float64", 0.5, 2),
)
expect("types: a literal in a branch", of_two_branches, (of("float32", 1, 2), [0, 0]), of("float64", 0, 2))
expect("types: int8 wraps", plus, (of("int8", 127, -128), of("int8", 1, -1)), of("int8", -128, 127))
expect("types: uint8 wraps", plus, (of("uint8", 255), of("uint8", 1)), of("uint8", 0))
expect("types: int64 wraps", plus_one, (of("int64", 2**63 - 1),), of("int64", -(2**63)))
expect(
    "types: // and % of negative integers",
    floor_and_mod,
    (of("int32", -7, 7, -7), of("int32", 2, -2, -2)),
    (of("int32", -4, -4, 3), of("int32", 1, -1, -1)),
)
expect(
    "types: // and % of negative floats",
    floor_and_mod,
    (of("float32", -7.5, 7.5), of("float32", 2, -2)),
    (of("float32", -4, -4), of("float32", 0.5, -0.5)),
)
expect(
    "types: integers divided by zero", floor_and_mod, (of("int32", 7), of("int32", 0)), (of("int32", 0), of("int32", 0))
)
expect(
    "types: floats divided by zero",
    quotient,
    (of("float32", 1, -1), of("float32", 0, 0)),
    of("float32", np.inf, -np.inf),
)


@cu
def squares_of_two_dtypes(x):
    # 100 is squared as a float32, as the elements of a sequence have one dtype.
    return map(lambda v: v * v, [xi if xi > 1 else float32(0.5) for xi in x])


expect("types: a comprehension of two dtypes", squares_of_two_dtypes, (of("int8", 1, 100),), of("float32", 0.25, 10000))

# -- scalars ----------------------------------------------------------------------------------


@cu
def scalar_sum(a, b):
    return a + b


@cu
def polynomial(x):
    return 2.0 * x * x - 3.0 * x + 1.0


@cu
def casts(x):
    return int32(x), int64(x), float32(x), float64(x), int8(x)


@cu
def cast_like(x, y):
    return cast_to(x, y)


@cu
def cast_like_elements(x, y):
    return cast_to_el(x, y)


@cu
def bounds(x):
    return min_bound(x), max_bound(x)


@cu
def bounds_of_elements(x):
    return min_bound_el(x), max_bound_el(x)


@cu
def elementary(x):
    return map(lambda xi: sqrt(exp(log(xi))) + abs(-xi), x)


@cu
def trigonometric(x):
    return [cp.sin(xi) ** 2 + cp.cos(xi) ** 2 + cp.tanh(xi) - cp.arctan2(xi, 1.0) for xi in x]


@cu
def extremes_of_two(a, b):
    return cp.minimum(a, b), cp.maximum(a, b), min(a, b), max(a, b)


@cu
def chosen(c, a, b):
    return where(c, a, b)


@cu
def weak_root(x):
    return [sqrt(2.0) * xi for xi in x]


@cu
def by_math(x):
    return [math.sqrt(xi) * math.pi + math.atan2(xi, 1) for xi in x]


@cu
def by_operator(x, y):
    return map(operator.sub, x, y)


@cu
def by_numpy(x):
    return map(lambda xi: np.sqrt(np.float32(xi)) + np.hypot(xi, xi), x)


expect(
    "scalars: functions of math",
    by_math,
    (of("float32", 1, 4),),
    np.sqrt(of("float32", 1, 4)) * np.float32(np.pi) + np.arctan2(of("float32", 1, 4), np.float32(1)),
    rtol=1e-6,
)
expect("scalars: functions of operator", by_operator, (INTS, ONES), INTS - ONES)
expect("scalars: functions of NumPy", by_numpy, (of("float32", 0, 1),), of("float32", 0, 1 + 2**0.5), rtol=1e-6)
expect("scalars: Python's int", scalar_sum, (1, 2), 3)
expect("scalars: Python's float", scalar_sum, (1.5, 2), 3.5)
expect("scalars: int8 and a number of Python", scalar_sum, (np.int8(1), 2), np.int8(3))
expect("scalars: float32 and a number of Python", scalar_sum, (np.float32(1), 2.5), np.float32(3.5))
expect("scalars: int32 and a float of Python", scalar_sum, (np.int32(1), 2.5), np.float64(3.5))
expect("scalars: int32 and float32", scalar_sum, (np.int32(1), np.float32(2.5)), np.float64(3.5))
expect("scalars: polynomial in float32", polynomial, (np.float32(3),), np.float32(10))
expect("scalars: polynomial in float16", polynomial, (np.float16(3),), np.float16(10))
expect(
    "scalars: casts of a float",
    casts,
    (np.float64(-3.75),),
    (np.int32(-3), np.int64(-3), np.float32(-3.75), np.float64(-3.75), np.int8(-3)),
)
expect(
    "scalars: casts wrap",
    casts,
    (np.int64(2**32 + 200),),
    (np.int32(200), np.int64(2**32 + 200), np.float32(2**32 + 200), np.float64(2**32 + 200), np.int8(-56)),
)
expect("scalars: cast_to", cast_like, (np.float64(2.75), np.int16(1)), np.int16(2))
expect("scalars: cast_to_el", cast_like_elements, (3, REALS), np.float32(3))
expect("scalars: cast_to_el of no elements", cast_like_elements, (3, REALS[:0]), np.float32(3))
expect("scalars: bounds of int8", bounds, (np.int8(3),), (np.int8(-128), np.int8(127)))
expect("scalars: bounds of uint64", bounds, (np.uint64(3),), (np.uint64(0), np.uint64(2**64 - 1)))
expect("scalars: bounds of float32", bounds, (np.float32(0),), (np.finfo("float32").min, np.finfo("float32").max))
expect(
    "scalars: bounds of float16 elements",
    bounds_of_elements,
    (of("float16", 1),),
    (np.float16(-65504), np.float16(65504)),
)
expect("scalars: bounds of int32 elements", bounds_of_elements, (INTS,), (np.int32(-(2**31)), np.int32(2**31 - 1)))
expect("scalars: elementary functions", elementary, (of("float64", 1, 4),), of("float64", 2, 6), rtol=1e-14)
expect("scalars: elementary functions in float32", elementary, (of("float32", 1, 4),), of("float32", 2, 6), rtol=1e-6)
expect(
    "scalars: trigonometric functions",
    trigonometric,
    (of("float64", 0, 1),),
    of("float64", 1, 1 + np.tanh(1) - np.pi / 4),
    rtol=1e-14,
)
expect("scalars: extremes of two", extremes_of_two, (np.int32(3), np.int32(-4)), tuple(map(np.int32, (-4, 3, -4, 3))))
expect("scalars: where has one dtype", chosen, (True, np.int32(1), np.float32(2.5)), np.float64(1))
expect("scalars: a function of a literal is weak", weak_root, (of("float32", 1),), of("float32", np.float32(2.0**0.5)))

# -- reduce -----------------------------------------------------------------------------------


@cu
def reduced(x, init):
    return reduce(op_add, x, init)


@cu
def product(x):
    return reduce(lambda a, b: a * b, x, 1)


@cu
def total(x):
    return sum(x)


@cu
def truths(x):
    return any(x), all(x)


@cu
def least_and_greatest(x):
    return min(x), max(x)


@cu
def least_with_index(x):
    def smaller(a, b):
        a_index, a_value = a
        b_index, b_value = b
        if a_value < b_value or (a_value == b_value and a_index < b_index):
            return a_index, a_value
        else:
            return b_index, b_value

    return reduce(smaller, zip(indices(x), x), (len(x), max_bound_el(x)))


@cu
def greatest(x):
    return argmax(x)


@cu
def least(x):
    return argmin(x)


@cu
def mean_and_variance(x):
    n = float64(len(x))
    mean = sum(x) / n
    return mean, sum([(xi - mean) * (xi - mean) for xi in x]) / n


@cu
def inner_product(x, y):
    return sum(map(op_mul, x, y))


@cu
def truths_by_reduce(x):
    return reduce(op_or, x, False), reduce(op_and, x, True), reduce(op_xor, x, False)


for _dtype in NUMBERS:
    _x = of(_dtype, 1, 2, 3)
    expect(f"reduce: sum of {_dtype}", total, (_x,), np.dtype(_dtype).type(6))
    expect(f"reduce: sum of no {_dtype}", total, (_x[:0],), np.dtype(_dtype).type(0))
expect("reduce: sum of bool", total, (of("bool", 1, 0, 1),), 2)
expect("reduce: sum of int8 wraps", total, (of("int8", 100, 100),), np.int8(-56))
expect("reduce: with a number", reduced, (INTS, 10), np.int32(31))
expect("reduce: with a NumPy scalar", reduced, (INTS, np.int64(10)), np.int64(31))
expect("reduce: of nothing", reduced, (INTS[:0], 10), np.int32(10))
expect("reduce: product", product, (of("float64", 1, 2, 3, 4),), np.float64(24))
expect("reduce: any and all", truths, (of("bool", 1, 0),), (True, False))
expect("reduce: any and all of true", truths, (of("bool", 1, 1),), (True, True))
expect("reduce: any and all of nothing", truths, (np.empty(0, bool),), (False, True))
expect("reduce: by the operators", truths_by_reduce, (of("bool", 1, 0, 1, 1),), (True, False, True))
expect("reduce: min and max", least_and_greatest, (of("int16", 3, -1, 4, 1, 5),), (np.int16(-1), np.int16(5)))
expect(
    "reduce: min and max of float32",
    least_and_greatest,
    (of("float32", 3, -np.inf, 2),),
    (np.float32(-np.inf), np.float32(3)),
)
expect_error("reduce: min of nothing", least_and_greatest, (INTS[:0],), ValueError, "empty")
expect("reduce: tuples", least_with_index, (of("float32", 3, 1, 2, 1),), (1, np.float32(1)))
expect("reduce: tuples of nothing", least_with_index, (of("float32"),), (0, np.finfo("float32").max))
expect("reduce: argmax, the first of equal ones", greatest, (of("int32", 3, 9, 4, 9),), (1, np.int32(9)))
expect("reduce: argmin, the first of equal ones", least, (of("int32", 3, 1, 4, 1),), (1, np.int32(1)))
expect_error("reduce: argmax of nothing", greatest, (INTS[:0],), ValueError, "empty")
expect("reduce: mean and variance", mean_and_variance, (of("float64", 1, 2, 3, 6),), (3.0, 3.5), rtol=1e-14)
expect("reduce: inner product", inner_product, (INTS, INTS), np.int32(91))


@cu
def zero_of_either_sign(x):
    return map(lambda e: 0.0 if e > 0 else -0.0, x)


@cu
def sum_from(x, first):
    return reduce(op_add, x, first)


@cu
def sum_from_minus_zero(x):
    return reduce(op_add, x, -0.0)


@cu
def row_sums_from_minus_zero(x):
    return map(lambda row: reduce(op_add, row, -0.0), x)


@cu
def sums_from_both_zeros(x):
    return reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), zip(x, x), (-0.0, 0.0))


MINUS = np.full(40, -0.0)
expect("zeros: a conditional", zero_of_either_sign, [np.array([1.0, -1.0])], np.array([0.0, -0.0]))
expect("zeros: a sum from -0", sum_from_minus_zero, [MINUS], -0.0)
expect("zeros: a sum from an argument of -0", sum_from, [MINUS, -0.0], -0.0)
expect("zeros: a sum from an argument of 0", sum_from, [MINUS, 0.0], 0.0)
expect("zeros: sums of rows", row_sums_from_minus_zero, [MINUS.reshape(4, 10)], MINUS[:4])
expect("zeros: sums from both", sums_from_both_zeros, [MINUS], (np.float64(-0.0), np.float64(0)))

# -- numbers that a dtype does not have ---------------------------------------------------------


@cu
def compared_with_literals(x):
    return (
        [v < 1000 for v in x],
        [v >= -1000 for v in x],
        [v == -1 for v in x],
        [v != 2**32 - 1 for v in x],
        [2**31 > v for v in x],
        [-(2**63) <= v for v in x],
        [-200 < v < 200 for v in x],
    )


@cu
def compared(x, k):
    return [v < k for v in x], [k <= v for v in x], [v == k for v in x]


@cu
def scaled_by_powers(x):
    return [v / 2**64 for v in x], [v * 2**63 for v in x], [v + 10**20 for v in x], [v < 2**63 for v in x]


@cu
def times_a_third(x):
    return [v * (1 / 3) for v in x], [v + 4097 for v in x], [v < 0.1 for v in x]


@cu
def plus(x, k):
    return [v + k for v in x]


@cu
def chosen(x, k):
    return [v if v < 3 else k for v in x]


@cu
def bits_of_half(x):
    return [v & (2**64 - 1) for v in x], [v ^ 0xCBF29CE484222325 for v in x]


for _dtype in ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"]:
    _ends = [0, 1] if _dtype == "bool" else [np.iinfo(_dtype).min, 0, 1, np.iinfo(_dtype).max]
    _x = np.array(_ends, _dtype)
    _literals = (
        _x < 1000, _x >= -1000, _x == -1, _x != 2**32 - 1, 2**31 > _x, -(2**63) <= _x, (-200 < _x) & (_x < 200),
    )  # fmt: skip
    expect(f"bounds: {_dtype} and literals", compared_with_literals, (_x,), _literals)
    for _k in [-1, 2, 300, -(2**40)]:
        expect(f"bounds: {_dtype} and {_k}", compared, (_x, _k), (_x < _k, _k <= _x, _x == _k))
for _dtype in ["float32", "float64"]:
    _x = np.array([1, -3e9, 1e19], _dtype)
    _powers = (_x / 2**64, _x * 2**63, _x + 10**20, _x < 2**63)
    expect(f"bounds: {_dtype} and powers", scaled_by_powers, (_x,), _powers, rtol=1e-7)
for _dtype in ["float16", "float32"]:
    _x = np.arange(-40, 40, dtype=_dtype) / 8
    expect(f"bounds: {_dtype} and thirds", times_a_third, (_x,), (_x * (1 / 3), _x + 4097, _x < 0.1))
_x = np.array([5, 2**64 - 1], np.uint64)
expect("bounds: masks of 64 bits", bits_of_half, (_x,), (_x, _x ^ np.uint64(0xCBF29CE484222325)))
for _x, _k in [(of("uint8", 1, 2), 300), (of("uint8", 1, 2), -1), (of("int8", 1, 2), 128), (of("uint64", 1), -1)]:
    expect_error(f"bounds: {_x.dtype} plus {_k}", plus, (_x, _k), OverflowError, "out of bounds for")
expect("bounds: the largest that fits", plus, (of("uint8", 1, 2), 255), of("uint8", 0, 1))
expect_error("bounds: a branch", chosen, (of("uint8", 1, 5), 300), OverflowError, "out of bounds for")

# -- what is made of the values of scans --------------------------------------------------------


@cu
def compacted(x, target):
    kept = [int64(v > 3) for v in x]
    places = exclusive_scan(op_add, 0, kept)
    return scatter(x, [place if v > 3 else len(target) - 1 for v, place in zip(x, places)], target)


@cu
def differences_of_sums(x, y):
    before, after = exclusive_scan(op_add, 1, x), exclusive_rscan(op_add, 2, x)
    return map(lambda v, s: v * s, y, before), [s - v for s, v in zip(after, y)]


@cu
def ranks_and_more(x):
    sums = scan(op_add, x)
    return [s * 2 + i for i, s in enumerate(sums)], sums


for _n in [1, 2, 31, 600, 5000]:
    _x = np.arange(_n) * 7 % 9
    # All that is not kept goes to the last place, where of several values any one stays: they are equal.
    _target = np.full(_n + 1, -1)
    _some = np.where(_x > 3, _x, 0)
    _moved = np.concatenate([_some[_some > 3], _target[: (_some == 0).sum() + 1]])
    _moved[-1] = 0 if (_some == 0).any() else -1
    expect(f"after scans: {_n} compacted", compacted, (_some, _target), _moved)
    _before, _after = 1 + np.cumsum(_x) - _x, 2 + np.cumsum(_x[::-1])[::-1] - _x
    expect(f"after scans: {_n} differences", differences_of_sums, (_x, _x + 1), (_before * (_x + 1), _after - _x - 1))
    _sums = np.cumsum(_x)
    expect(f"after scans: {_n} ranks", ranks_and_more, (_x,), (_sums * 2 + np.arange(_n), _sums))

# -- filters inside of maps ---------------------------------------------------------------------


@cu
def sums_of_equal(x, keys):
    return [sum(v for v in x if v == key) for key in keys]


@cu
def means_below(x, limits):
    def mean(limit):
        kept = filter(lambda v: v < limit, x)
        return sum(kept) / len(kept) if len(kept) > 0 else -1.0

    return map(mean, limits)


@cu
def kept_of_rows(rows):
    return [sum([v for v in row if v > 2]) for row in rows], [any([v % 2 == 0 for v in row if v > 2]) for row in rows]


_x = np.arange(60) % 7
_keys = np.arange(-1, 9)
expect("filters: sums of keys", sums_of_equal, (_x, _keys), np.array([_x[_x == key].sum() for key in _keys]))
_floats = np.random.default_rng(3).random(50)
_limits = np.array([0, 0.5, 2.0])
_means = np.array([-1, _floats[_floats < 0.5].mean(), _floats.mean()])
expect("filters: means", means_below, (_floats, _limits), _means, rtol=1e-14)
_rows = [np.array([1, 2, 3, 4]), np.array([1]), np.array([5, 7, 0])]
expect("filters: of rows", kept_of_rows, (_rows,), (np.array([7, 0, 12]), np.array([True, False, False])))

# -- NaN in comparisons -------------------------------------------------------------------------


@cu
def extremes(x):
    return min(x), max(x), argmin(x)[0], argmax(x)[0]


@cu
def running_extremes(x):
    return scan(max, x), rscan(min, x), exclusive_scan(max, 0.25, x)


@cu
def extremes_from(x, first):
    return reduce(max, x, first), reduce(min, x, first)


@cu
def extremes_of_rows(x):
    return [max(row) for row in x], [argmin(row)[0] for row in x]


pmin, pmax = builtins.min, builtins.max


def python_extremes(x):
    numbers = [(value, -at) for at, value in builtins.enumerate(x)]
    return tuple(
        of(numbers, key=lambda pair: pair[0])[part] * (-1 if part else 1) for part in (0, 1) for of in (pmin, pmax)
    )


def with_nans(n, share, dtype="float32"):
    rng = np.random.default_rng(n)
    x = rng.random(n).astype(dtype)
    x[rng.random(n) < share] = np.nan
    return x


for _name, _x in {
    "few": with_nans(5000, 0.01), "many": with_nans(5000, 0.6, "float64"), "first": of("float32", np.nan, 1, 2),
    "all": of("float64", np.nan, np.nan), "but one": of("float16", np.nan, 3)[::-1].copy(),
    "infinite": of("float32", -np.inf, np.nan, np.inf, np.nan),
}.items():  # fmt: skip
    _least, _greatest, _at_least, _at_greatest = python_extremes(_x)
    expect(f"NaN: {_name}", extremes, (_x,), (_least, _greatest, np.int64(_at_least), np.int64(_at_greatest)))
    _forward = tuple(list(itertools.accumulate(values, take)) for values, take in [(_x, pmax), (_x[::-1], pmin)])
    _after = list(itertools.accumulate([_x.dtype.type(0.25), *_x[:-1]], pmax))
    _running = np.array(_forward[0]), np.array(_forward[1][::-1]), np.array(_after)
    expect(f"NaN: running, {_name}", running_extremes, (_x,), _running)
    _first = _x.dtype.type(0.5)
    expect(f"NaN: from a number, {_name}", extremes_from, (_x, _first), (pmax(_first, *_x), pmin(_first, *_x)))
_x = with_nans(600, 0.3, "float64").reshape(20, 30)
_rows = np.array([pmax(row) for row in _x]), np.array([python_extremes(row)[2] for row in _x])
expect("NaN: in rows", extremes_of_rows, (_x,), _rows)

# -- tail recursion ---------------------------------------------------------------------------


@cu
def factorial(n, product):
    if n <= 1:
        return product
    else:
        return factorial(n - 1, n * product)


@cu
def greatest_divisor(a, b):
    if b == 0:
        return a
    else:
        return greatest_divisor(b, a % b)


@cu
def greatest_divisors(x, y):
    return map(greatest_divisor, x, y)


@cu
def collatz(x):
    def steps(n, count):
        if n == 1:
            return count
        elif n % 2 == 0:
            return steps(n // 2, count + 1)
        else:
            return steps(3 * n + 1, count + 1)

    return map(lambda xi: steps(xi, 0), x)


@cu
def doubled(x, times):
    if times > 0:
        return doubled(map(lambda xi: xi + xi, x), times - 1)
    else:
        return x


@cu
def halve_until_small(x):
    if max(x) < 1:
        return x
    else:
        return halve_until_small([xi / 2 for xi in x])


@cu
def newton(x):
    def step(guess, times):
        return guess if times == 0 else step((guess + x / guess) / 2, times - 1)

    return step(x, 20)


@cu
def pair_recursion(a, b, n):
    if n > 0:
        return pair_recursion(b, map(op_add, a, b), n - 1)
    else:
        return a, b


@cu
def deep(n, total):
    if n == 0:
        return total
    else:
        return deep(n - 1, total + n)


expect("recursion: factorial", factorial, (np.int64(10), 1), np.int64(3628800))
expect(
    "recursion: Euclid's algorithm",
    greatest_divisors,
    (of("int32", 12, 17, 100), of("int32", 18, 5, 75)),
    of("int32", 6, 1, 25),
)
expect("recursion: divergent, in map", collatz, (of("int64", 1, 6, 7),), [0, 8, 16])
expect("recursion: of arrays", doubled, (INTS, 5), 32 * INTS)
expect("recursion: of arrays, no step", doubled, (INTS, 0), INTS)
expect(
    "recursion: until a reduction says so",
    halve_until_small,
    (of("float64", 8, 1, 3),),
    of("float64", 0.5, 0.0625, 0.1875),
)
expect("recursion: of a nested function", newton, (np.float64(2),), 2.0**0.5, rtol=1e-15)
expect("recursion: of two arrays", pair_recursion, (of("int64", 0), of("int64", 1), 10), ([55], [89]))
expect("recursion: 5000 deep", deep, (5000, np.int64(0)), np.int64(12502500))

# -- closures ---------------------------------------------------------------------------------

OFFSET = 10


@cu
def closure_over_a_number(a, x):
    return [a + xi for xi in x]


@cu
def closure_over_a_sequence(x, i):
    def at(place):
        return x[place]

    return map(at, i)


@cu
def closure_of_a_closure(x, a, b):
    def outer(xi):
        def inner(y):
            return y * a + b

        return inner(xi) + xi

    return map(outer, x)


@cu
def closure_over_the_old_binding(x):
    def previous(i):
        return x[i - 1] if i > 0 else x[i] * 0

    x = map(previous, indices(x))
    return x


@cu
def literal_closure(x, y):
    def add(a, b):
        return a + b

    def closure(a):
        return add(a, y)

    return closure(x)


@cu
def applied(f, x):
    return map(f, x)


@cu
def function_argument(x):
    return applied(lambda xi: xi * OFFSET, x)


def made_with(factor):
    @cu
    def scaled(x):
        return map(lambda xi: xi * factor, x)

    return scaled


expect("closures: over a number", closure_over_a_number, (np.int32(3), INTS), INTS + 3)
expect("closures: over a sequence", closure_over_a_sequence, (REALS, [6, 0, 3]), of("float32", 6, 0, 3))
expect("closures: of closures", closure_of_a_closure, (INTS, 2, 5), INTS * 2 + 5 + INTS)
expect(
    "closures: over a name that is bound again",
    closure_over_the_old_binding,
    (of("int32", 5, 6, 7),),
    of("int32", 0, 5, 6),
)
expect("closures: with literals", literal_closure, (1, 2), 3)
expect("closures: a function as argument", function_argument, (INTS,), INTS * 10)
expect("closures: a program made in a function", made_with(3), (INTS,), INTS * 3)
expect("closures: one with a NumPy scalar", made_with(np.float64(0.5)), (REALS,), REALS * np.float64(0.5))

# -- scan -------------------------------------------------------------------------------------


@cu
def sums(x):
    return scan(op_add, x)


@cu
def sums_from_the_right(x):
    return rscan(op_add, x)


@cu
def differences_from_the_right(x):
    return rscan(op_sub, x)


@cu
def exclusive_sums(prefix, x):
    return exclusive_scan(op_add, prefix, x)


@cu
def exclusive_sums_from_the_right(suffix, x):
    return exclusive_rscan(op_add, suffix, x)


@cu
def exclusive_differences_from_the_right(suffix, x):
    return exclusive_rscan(op_sub, suffix, x)


@cu
def running_maximum(x):
    return scan(lambda a, b: a if a > b else b, x)


@cu
def first_everywhere(x):
    return scan(lambda a, b: a, x)


@cu
def last_everywhere(x):
    return rscan(lambda a, b: a, x)


@cu
def recurrence(a, b):
    """y[i] = a[i] * y[i-1] + b[i]: maps compose, and do not commute."""

    def composed(f, g):
        fa, fb = f
        ga, gb = g
        return fa * ga, fb * ga + gb

    slopes, values = unzip(scan(composed, zip(a, b)))
    return values


for _dtype in ("int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64"):
    _x = of(_dtype, 1, 2, 3, 4)
    expect(f"scan: sums of {_dtype}", sums, (_x,), of(_dtype, 1, 3, 6, 10))
expect("scan: of nothing", sums, (INTS[:0],), INTS[:0])
expect("scan: of one", sums, (INTS[1:2],), INTS[1:2])
expect("scan: sums from the right", sums_from_the_right, ([1, 2, 3, 4],), [10, 9, 7, 4])
expect("scan: sums from the right of nothing", sums_from_the_right, (INTS[:0],), INTS[:0])
# Not associative, so only in order: the definition of the order of arguments.
expect("scan: rscan of one difference", differences_from_the_right, ([5, 3],), [-2, 3])
expect("scan: exclusive", exclusive_sums, (0, of("int32", 1, 1, 1, 1)), of("int32", 0, 1, 2, 3))
expect("scan: exclusive with a prefix", exclusive_sums, (10, of("int32", 1, 2, 3)), of("int32", 10, 11, 13))
expect("scan: exclusive of nothing has one element", exclusive_sums, (0, INTS[:0]), of("int32", 0))
expect("scan: exclusive of one", exclusive_sums, (7, of("int32", 3)), of("int32", 7))
expect("scan: exclusive from the right", exclusive_sums_from_the_right, (0, of("int32", 1, 2, 3)), of("int32", 5, 3, 0))
expect(
    "scan: exclusive from the right of nothing has one element",
    exclusive_sums_from_the_right,
    (5, INTS[:0]),
    of("int32", 5),
)
expect("scan: running maximum", running_maximum, (of("float32", 3, 1, 4, 1, 5),), of("float32", 3, 3, 4, 4, 5))
expect("scan: the first element everywhere", first_everywhere, ([4, 3, 1, 2],), [4, 4, 4, 4])
expect("scan: the last element everywhere", last_everywhere, ([3, 1, 4, 1, 5],), [5, 5, 5, 5, 5])
expect("scan: of tuples that do not commute", recurrence, (of("int64", 2, 3, 4), of("int64", 1, 1, 1)), [1, 4, 17])

# -- replicate, ranges, indices ------------------------------------------------------------------


@cu
def copies(value, n):
    return replicate(value, n)


@cu
def copies_plus(n, x):
    return map(op_add, replicate(1, n), x)


@cu
def range_of(n):
    return range(n)


@cu
def range_between(a, b):
    return bounded_range(a, b)


@cu
def range_of_two(a, b):
    return range(a, b)


@cu
def indices_of(x):
    return indices(x)


@cu
def numbered(x):
    return enumerate(x)


@cu
def numbered_from_the_end(x):
    return [len(x) - i for i in indices(x)]


expect("replicate: int32", copies, (np.int32(3), 4), of("int32", 3, 3, 3, 3))
expect("replicate: a number of Python", copies, (2.5, 2), of("float64", 2.5, 2.5))
expect("replicate: bool", copies, (True, 3), of("bool", 1, 1, 1))
expect("replicate: a tuple", copies, ((1, np.float32(2)), 2), structures([(1, 2), (1, 2)], "int64", "float32"))
expect("replicate: a sequence", copies, (of("int32", 1, 2), 2), np.array([[1, 2], [1, 2]], np.int32))
expect("replicate: no copies", copies, (np.int32(3), 0), np.empty(0, np.int32))
expect("replicate: a literal adapts", copies_plus, (3, of("int8", 1, 2, 3)), of("int8", 2, 3, 4))
expect("range: 5", range_of, (5,), [0, 1, 2, 3, 4])
expect("range: 0", range_of, (0,), [])
expect("range: of an int32", range_of, (np.int32(3),), [0, 1, 2])
expect("range: bounded", range_between, (2, 6), [2, 3, 4, 5])
expect("range: bounded, negative", range_between, (-2, 1), [-2, -1, 0])
expect("range: of two bounds", range_of_two, (2, 5), [2, 3, 4])
expect("range: bounded, empty", range_between, (4, 4), [])
expect("indices: of an array", indices_of, (REALS,), list(builtins.range(7)))
expect("indices: of nothing", indices_of, (REALS[:0],), [])
expect("enumerate: pairs", numbered, (of("float32", 5, 6),), structures([(0, 5), (1, 6)], "int64", "float32"))
expect("indices: with the length", numbered_from_the_end, (REALS[:3],), [3, 2, 1])

# -- filter, gather, scatter and others ----------------------------------------------------------


@cu
def small(x):
    return filter(lambda xi: xi < 3, x)


@cu
def small_and_doubled(x):
    return map(lambda xi: 2 * xi, filter(lambda xi: xi < 3, x))


@cu
def positive_pairs(x, y):
    return filter(lambda pair: pair[1] > 0, zip(x, y))


@cu
def n_small(x):
    return len(filter(lambda xi: xi < 3, x)), count([xi < 3 for xi in x])


@cu
def gathered(x, i):
    return gather(x, i)


@cu
def gathered_by_subscript(x, i):
    return [x[place] for place in i]


@cu
def scattered(src, i, dst):
    return scatter(src, i, dst)


@cu
def permuted(x, i):
    return permute(x, i)


@cu
def updated(x, changes):
    return update(x, changes)


@cu
def updated_twice(x):
    return update(update(x, [(0, 7)]), [(1, 8), (2, 9)])


@cu
def element(x, i):
    return x[i]


@cu
def element_of_zip(x):
    pairs = zip(x, x)
    return pairs[1]


@cu
def reversed_order(x):
    return [x[len(x) - 1 - i] for i in indices(x)]


expect("filter: keeps the order", small, ([3, 1, 5, 0, 2, 4],), [1, 0, 2])
expect("filter: nothing is left", small, (of("int16", 3, 4),), np.empty(0, np.int16))
expect("filter: of nothing", small, (np.empty(0, np.int16),), np.empty(0, np.int16))
expect("filter: then map", small_and_doubled, (INTS,), of("int32", 0, 2, 4))
expect(
    "filter: tuples",
    positive_pairs,
    (of("int32", 1, 2, 3), of("float32", -1, 1, 2)),
    structures([(2, 1), (3, 2)], "int32", "float32"),
)
expect("filter: how many", n_small, (INTS,), (3, 3))
for _program in (gathered, gathered_by_subscript):
    expect(f"gather: {_program.__name__}", _program, (of("int16", 8, 16, 32), [2, 0, 2]), of("int16", 32, 8, 32))
    expect(
        f"gather: {_program.__name__}, from the end", _program, (of("int16", 8, 16, 32), [-1, -3]), of("int16", 32, 8)
    )
    expect_error(f"gather: {_program.__name__}, beyond the end", _program, (REALS, [0, 7]), IndexError)
    expect_error(f"gather: {_program.__name__}, before the beginning", _program, (REALS, [-8]), IndexError)
expect("gather: no indices", gathered, (of("int16", 8, 16), np.empty(0, np.int64)), np.empty(0, np.int16))
expect("gather: uint8 indices", gathered, (REALS, of("uint8", 3, 3)), of("float32", 3, 3))
expect("gather: rows", gathered, (MATRIX, [1, 1, 0]), MATRIX[[1, 1, 0]])
expect_error("gather: indices that are floats", gathered, (REALS, of("float64", 1)), TypeError)
expect("scatter: into a copy", scattered, ([11, 12], [3, 1], [1, 2, 3, 4]), [1, 12, 3, 11])
expect("scatter: nothing", scattered, (np.empty(0, np.int64), np.empty(0, np.int64), [1, 2]), [1, 2])
expect("scatter: the last of repeated indices", scattered, ([1, 2, 3], [0, 0, 0], [9, 9]), [3, 9])
expect("scatter: from the end", scattered, ([5], [-1], [1, 2]), [1, 5])
expect_error("scatter: beyond the end", scattered, ([5], [2], [1, 2]), IndexError)
expect_error("scatter: unequal lengths", scattered, ([5], [0, 1], [1, 2]), ValueError)
expect("permute: all", permuted, ([1, 2, 3, 4], [3, 0, 1, 2]), [2, 3, 4, 1])
expect(
    "permute: of tuples", permuted, ([(1, 2.5), (3, 4.5)], [1, 0]), structures([(3, 4.5), (1, 2.5)], "int64", "float64")
)
expect_error("permute: unequal lengths", permuted, ([1, 2, 3, 4], [3, 0, 1]), ValueError)
expect("update: pairs", updated, (of("bool", 1, 0, 1, 0), [(1, True), (0, False)]), of("bool", 0, 1, 1, 0))
expect("update: nothing", updated, (of("int32", 1, 2), []), of("int32", 1, 2))
expect("update: literals adapt", updated_twice, (of("int8", 1, 2, 3, 4),), of("int8", 7, 8, 9, 4))
expect_error("update: beyond the end", updated, (of("int32", 1, 2), [(2, 5)]), IndexError)
expect("subscript: an element", element, (REALS, 3), np.float32(3))
expect("subscript: the last one", element, (REALS, -1), np.float32(6))
expect("subscript: of a zip", element_of_zip, (of("int32", 5, 6, 7),), (np.int32(6), np.int32(6)))
expect("subscript: reversed", reversed_order, ([1, 2, 3],), [3, 2, 1])
expect("subscript: a row", element, (MATRIX, 1), MATRIX[1])
expect("subscript: a ragged row", element, (ROWS, 2), of("int32", 3, 4, 5))
expect_error("subscript: beyond the end", element, (REALS, 7), IndexError)
expect_error("subscript: a float", element, (REALS, 1.0), TypeError)

# -- shift and rotate -----------------------------------------------------------------------------


@cu
def shifted(x, n, default):
    return shift(x, n, default)


@cu
def rotated(x, n):
    return rotate(x, n)


@cu
def three_point_sum(x):
    zero = cast_to_el(0, x)
    return map(lambda left, middle, right: left + middle + right, shift(x, -1, zero), x, shift(x, 1, zero))


for _n, _values in ((1, (2, 3, 0)), (-1, (0, 1, 2)), (0, (1, 2, 3)), (3, (0, 0, 0)), (-3, (0, 0, 0))):
    expect(f"shift: by {_n}", shifted, (of("int32", 1, 2, 3), _n, 0), of("int32", *_values))
# The length follows the shift.
expect("shift: by 5 of 3", shifted, (of("int32", 1, 2, 3), 5, 0), of("int32", 0, 0, 0, 0, 0))
expect("shift: by -5 of 3", shifted, (of("int32", 1, 2, 3), -5, 0), of("int32", 0, 0, 0, 0, 0))
expect("shift: a literal adapts", shifted, (of("float32", 1, 2, 3), 1, 7), of("float32", 2, 3, 7))
expect("shift: another dtype joins", shifted, (of("int32", 1, 2), 1, np.float64(0.5)), of("float64", 2, 0.5))
expect("shift: tuples", shifted, ([(1, 2), (3, 4)], 1, (0, 0)), structures([(3, 4), (0, 0)], "int64", "int64"))
expect("shift: nothing", shifted, (np.empty(0, np.int8), 0, 0), np.empty(0, np.int8))
for _n, _values in (
    *((1, (2, 3, 1)), (-1, (3, 1, 2)), (2, (3, 1, 2)), (0, (1, 2, 3)), (3, (1, 2, 3))),
    *((7, (1, 2, 3)), (-5, (1, 2, 3))),
):
    expect(f"rotate: by {_n}", rotated, (of("int32", 1, 2, 3), _n), of("int32", *_values))
expect("shift: neighbours", three_point_sum, (of("float32", 1, 2, 3, 4),), of("float32", 3, 6, 9, 7))

# -- sort -------------------------------------------------------------------------------------


@cu
def ascending(x):
    return sort(cmp_lt, x)


@cu
def descending(x):
    return sort(cmp_gt, x)


@cu
def by_first(x):
    return sort(lambda a, b: a[0] < b[0], x)


@cu
def by_first_or_equal(x):
    return sort(lambda a, b: a[0] <= b[0], x)


@cu
def by_both(x):
    def precedes(a, b):
        a0, a1 = a
        b0, b1 = b
        return a0 < b0 or (a0 == b0 and a1 > b1)

    return sort(precedes, x)


@cu
def keys_and_values(keys, values):
    return unzip(sort(lambda a, b: a[0] < b[0], zip(keys, values)))


@cu
def or_equal(x):
    return sort(cmp_le, x), sort(cmp_ge, x)


UNSORTED = (3, 1, 4, 1, 5, 9, 2, 6)
for _dtype in ("int8", "uint64", "float16", "float32", "float64"):
    _x = of(_dtype, *UNSORTED)
    expect(f"sort: {_dtype}", ascending, (_x,), np.sort(_x))
expect("sort: descending", descending, (of("int32", *UNSORTED),), np.sort(of("int32", *UNSORTED))[::-1])
expect("sort: nothing", ascending, (INTS[:0],), INTS[:0])
PAIRS = [(1, 0), (1, 1), (0, 2), (1, 3), (0, 4)]
expect("sort: stable", by_first, (PAIRS,), structures([(0, 2), (0, 4), (1, 0), (1, 1), (1, 3)], "int64", "int64"))
expect(
    "sort: <= reverses equal elements",
    by_first_or_equal,
    (PAIRS,),
    structures([(0, 4), (0, 2), (1, 3), (1, 1), (1, 0)], "int64", "int64"),
)
expect("sort: by two keys", by_both, (PAIRS,), structures([(0, 4), (0, 2), (1, 3), (1, 1), (1, 0)], "int64", "int64"))
expect(
    "sort: keys with values",
    keys_and_values,
    (of("int32", 2, 1, 2), of("float32", 0, 1, 2)),
    (of("int32", 1, 2, 2), of("float32", 1, 0, 2)),
)
expect("sort: numbers by <= and >=", or_equal, (of("int32", 2, 1, 2),), (of("int32", 1, 2, 2), of("int32", 2, 2, 1)))

# -- zip and unzip -------------------------------------------------------------------------------


@cu
def zipped(x, y):
    return zip(x, y)


@cu
def zipped_and_back(x, y):
    return unzip(zip(x, y))


@cu
def three_back(x, y, z):
    a, b, c = unzip(zip(x, y, z))
    return c, a, b


@cu
def sums_of_zip(x, y):
    return [a + b for a, b in zip(x, y)]


expect("zip: two", zipped, (of("int32", 1, 2), of("float32", 3, 4)), structures([(1, 3), (2, 4)], "int32", "float32"))
expect("zip: the shortest", zipped, (of("int32", 1, 2, 3), of("float32", 4)), structures([(1, 4)], "int32", "float32"))
expect("zip: the shortest in a comprehension", sums_of_zip, (INTS, ONES[:2]), of("int32", 1, 2))
expect("zip: nothing", zipped, (of("int32"), of("float32")), structures([], "int32", "float32"))
expect(
    "zip: and back", zipped_and_back, (of("int32", 1, 2), of("float32", 3, 4)), (of("int32", 1, 2), of("float32", 3, 4))
)
expect("zip: nothing and back", zipped_and_back, (of("int32"), of("float32")), (of("int32"), of("float32")))
expect(
    "zip: three and back",
    three_back,
    (of("int8", 1), of("int16", 2), of("bool", 1)),
    (of("bool", 1), of("int8", 1), of("int16", 2)),
)

# -- nested sequences ------------------------------------------------------------------------------


@cu
def row_sums(rows):
    return map(sum, rows)


@cu
def row_lengths(rows):
    return [len(row) for row in rows]


@cu
def each_doubled(rows):
    return map(lambda row: map(lambda element: 2 * element, row), rows)


@cu
def nested_comprehension(rows):
    return [[element + 1 for element in row] for row in rows]


@cu
def outer_product(x, y):
    return [[xi * yi for yi in y] for xi in x]


@cu
def row_scans(rows):
    return map(lambda row: scan(op_add, row), rows)


@cu
def matrix_times_vector(matrix, x):
    return map(lambda row: sum(map(op_mul, row, x)), matrix)


@cu
def matrix_product(a, b):
    columns = transpose(b)
    return [[sum(map(op_mul, row, column)) for column in columns] for row in a]


@cu
def small_in_rows(rows):
    return [filter(lambda element: element < 3, row) for row in rows]


@cu
def joined(rows):
    return join(rows)


@cu
def split(x, k):
    return split_at(x, k)


@cu
def grouped(x):
    keys, groups = unzip(collect(lambda xi: xi % 3, x))
    return keys, map(sum, groups), groups


@cu
def triangle(n):
    return [range(i) for i in range(n)]


@cu
def elements_of(matrix):
    return matrix[1][2], matrix[0][0]


@cu
def spmv(values, columns, x):
    return map(lambda row, places: sum(map(op_mul, row, gather(x, places))), values, columns)


@cu
def greatest_of_rows(rows):
    return map(lambda row: reduce(lambda a, b: a if a > b else b, row, min_bound_el(row)), rows)


expect("nested: sums of rows", row_sums, (MATRIX,), of("float32", 3, 12))
expect("nested: sums of columns", row_sums, (MATRIX.T,), of("float32", 3, 5, 7))
expect("nested: sums of ragged rows", row_sums, (ROWS,), of("int32", 3, 0, 12))
expect("nested: lengths", row_lengths, (ROWS,), [2, 0, 3])
expect("nested: map of map", each_doubled, (MATRIX,), 2 * MATRIX)
expect("nested: map of map, ragged", each_doubled, (ROWS,), ragged(of("int32", 2, 4, 6, 8, 10), [0, 2, 2, 5]))
expect("nested: comprehension of comprehensions", nested_comprehension, (MATRIX,), MATRIX + 1)
expect("nested: outer product", outer_product, (INTS[:3], ONES[:2] * 5), np.outer(INTS[:3], ONES[:2] * 5))
expect("nested: scans of rows", row_scans, (MATRIX,), np.cumsum(MATRIX, axis=1))
expect("nested: scans of ragged rows", row_scans, (ROWS,), ragged(of("int32", 1, 3, 3, 7, 12), [0, 2, 2, 5]))
expect("nested: matrix times vector", matrix_times_vector, (MATRIX, of("float32", 1, 2, 3)), of("float32", 8, 26))
expect("nested: product of matrices", matrix_product, (MATRIX, MATRIX.T), MATRIX @ MATRIX.T)
expect("nested: filters make ragged rows", small_in_rows, (MATRIX,), ragged(of("float32", 0, 1, 2), [0, 3, 3]))
expect("nested: join", joined, (ROWS,), of("int32", 1, 2, 3, 4, 5))
expect("nested: join of a matrix", joined, (MATRIX,), MATRIX.ravel())
expect("nested: split_at", split, (INTS, 3), (INTS[:3], INTS[3:]))
expect("nested: split_at 0", split, (INTS, 0), (INTS[:0], INTS))
expect(
    "nested: collect",
    grouped,
    (of("int32", 4, 3, 2, 1, 5),),
    (of("int32", 0, 1, 2), of("int32", 3, 5, 7), ragged(of("int32", 3, 4, 1, 2, 5), [0, 1, 3, 5])),
)
expect("nested: rows of growing length", triangle, (4,), ragged(of("int64", 0, 0, 1, 0, 1, 2), [0, 0, 1, 3, 6]))
expect("nested: subscripts", elements_of, (MATRIX,), (np.float32(5), np.float32(0)))
expect(
    "nested: compressed rows",
    spmv,
    (
        ragged(of("float32", 1, 2, 3), [0, 2, 2, 3]),
        ragged(of("int32", 0, 2, 1), [0, 2, 2, 3]),
        of("float32", 1, 10, 100),
    ),
    of("float32", 201, 0, 30),
)
expect("nested: greatest of ragged rows", greatest_of_rows, (ROWS,), of("int32", 2, -(2**31), 5))

# -- names that are bound again, and others --------------------------------------------------------


@cu
def bound_again(x):
    y = [xi + 1 for xi in x]
    z = y
    y = map(op_neg, z)
    return y, z


@cu
def unused_parts(x):
    unused = map(sqrt, x)
    return x


@cu
def no_result(x):
    y = x


@cu
def function_result(x):
    return lambda y: x + y


expect("names: bound again", bound_again, ([0, 1, 2],), ([-1, -2, -3], [1, 2, 3]))
expect("names: what nothing uses", unused_parts, (REALS,), REALS)
expect_error("names: no return", no_result, (INTS,), TypeError)
expect_error("names: a function as the result", function_result, (INTS,), TypeError)


# -- overflow and what is made of it ------------------------------------------------------------


@cu
def hashed(x):
    return [x[(i * 6364136223846793005) % len(x)] for i in indices(x)]


@cu
def hashed_by_squares(x, y):
    return [x[(v * v) % len(x)] for v in y]


@cu
def limited(x, ks):
    return (
        [x[min(i, max(0, k * 3))] for i, k in enumerate(ks)],
        [x[max(0, min(i, k - 1))] for i, k in enumerate(ks)],
        [x[min(i, max(0, k) // 2 + 1)] for i, k in enumerate(ks)],
    )


@cu
def after_overflow(x):
    return [v + 1 < 300 for v in x], [v * 2 // 2 for v in x], [-v > 5 for v in x], [v - 1 < v for v in x]


def wrap(value, dtype=np.int64):
    return np.array(value % 2**64, np.uint64).astype(np.int64).astype(dtype)


_x = np.arange(10)
_places = [int(wrap(i * 6364136223846793005)) % 10 for i in builtins.range(10)]
expect("overflow: hashed", hashed, (_x,), _x[_places])
_y = np.array([0, 1, 2, 2**32 - 3, 3037000500, -(2**62), 2**63 - 1, -(2**63)])
expect("overflow: squares", hashed_by_squares, (_x, _y), _x[[int(wrap(v * v)) % 10 for v in _y.tolist()]])
_ks = np.array([0, 5, -7, 2**62 - 1, 2**63 - 1, -(2**63), 2**62 + 3])
_clipped = (
    [_x[builtins.min(i, builtins.max(0, int(wrap(k * 3))))] for i, k in builtins.enumerate(_ks.tolist())],
    [_x[builtins.max(0, builtins.min(i, int(wrap(k - 1))))] for i, k in builtins.enumerate(_ks.tolist())],
    [_x[builtins.min(i, builtins.max(0, k) // 2 + 1)] for i, k in builtins.enumerate(_ks.tolist())],
)
expect("overflow: limited", limited, (_x, _ks), tuple(np.array(part) for part in _clipped))
for _dtype in ["int32", "int64"]:
    _x = np.array([np.iinfo(_dtype).min, -1, 0, 7, np.iinfo(_dtype).max], _dtype)
    with np.errstate(over="ignore"):
        _wrapped = (_x + 1 < 300, _x * 2 // 2, -_x > 5, _x - 1 < _x)
    expect(f"overflow: {_dtype}", after_overflow, (_x,), _wrapped)


@cu
def guarded(x, k):
    return [v + k if k < 100 else v for v in x], len(x)


@cu
def guarded_outside(x, k):
    return [v + k for v in x] if k < 100 else x


@cu
def no_round(x, y, k):
    if k <= 0:
        return sum(x)
    return no_round(map(op_add, x, y), y, k - 1)


@cu
def no_round_of_filters(x, k, s):
    if k <= 0:
        return s
    return no_round_of_filters(x, k - 1, max([v for v in x if v > 100]))


@cu
def exchanged_lengths(a, b, k):
    if k <= 0:
        return a, b, k
    return exchanged_lengths(b, [x + 1 for x in a], k - len(a))


@cu
def transposed(A, s, k):
    if k <= 0:
        return A, s
    return transposed(transpose(A), (s * 3 + len(A)) % 1001, k - 1)


@cu
def halves(x):
    return [v * 2**-1 for v in x]


_x = np.arange(3, dtype=np.int8)
expect("guards: in elements", guarded, (_x, 1000), (_x, np.int64(3)))
expect("guards: outside", guarded_outside, (_x, 1000), _x)
expect("loops: no round", no_round, (np.arange(3), np.arange(4), 0), np.int64(3))
expect("loops: no round of filters", no_round_of_filters, (np.arange(3), 0, 7), 7)
_a, _b, _k = np.arange(3.0), np.arange(5.0), 50
while _k > 0:
    _a, _b, _k = _b, _a + 1, _k - builtins.len(_a)
expect("loops: lengths that change in turns", exchanged_lengths, (np.arange(3.0), np.arange(5.0), 50), (_a, _b, _k))
_s = 1
for _round in builtins.range(20):
    _s = (_s * 3 + (3, 4)[_round % 2]) % 1001
_x = np.arange(12).reshape(3, 4)
expect("loops: transposed", transposed, (_x, 1, 20), (_x, _s))
expect("numbers: negative powers", halves, (np.array([1.0, 3.0]),), np.array([0.5, 1.5]))


# -- sequences that a condition chooses for an element ---------------------------------------


@cu
def chosen_rows(rows):
    return join([row if row[0] > 1 else [2 * v for v in row] for row in rows])


@cu
def sums_of_chosen_rows(rows, x):
    return [sum(row if row[0] > k else x) + len(x if k else row) for k, row in enumerate(rows)]


@cu
def rows_moved_on(rows):
    return join(shift(rows, 1, rows[0]))


SMALL_ROWS = np.arange(6).reshape(2, 3)
expect("rows: one or a map of it", chosen_rows, [SMALL_ROWS], [0, 2, 4, 3, 4, 5])
expect("rows: sums of chosen ones", sums_of_chosen_rows, [SMALL_ROWS, np.array([10, 20])], [33, 14])
expect("rows: moved on", rows_moved_on, [SMALL_ROWS], [3, 4, 5, 0, 1, 2])


# -- numbers of Python that a dtype does not have ----------------------------------------------


@cu
def cast_to_int8(x, k):
    return [int8(k) + v for v in x]


@cu
def cast_like(x, k):
    return [cast_to(k, v) + v for v in x]


@cu
def cast_of_numbers_with_a_dtype(n):
    return [int8(i) for i in range(n)]


expect_error("casts: a number too large for int8", cast_to_int8, (of("int8", 1), 1000), OverflowError, "1000 is out of")
expect_error(
    "casts: one too large for the other", cast_like, (of("uint8", 1), -1), OverflowError, "-1 is out of bounds"
)
expect(
    "casts: integers with a dtype wrap",
    cast_of_numbers_with_a_dtype,
    (130,),
    of("int8", *builtins.range(128), -128, -127),
)
