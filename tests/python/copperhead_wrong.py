"""Programs that are wrong, each with the arguments of a call. Their messages are in `copperhead_wrong.txt`.

`WRONG` has a call for each; `RIGHT` has what the messages advise instead, which runs.
"""

# ruff: noqa: A001, F823, B007, B018, B023, B028, B905, C408, C417, C419, E711, E731, F403, F405, F811, F821, F841, N805, PERF401
# ruff: noqa: PLR0124, RET503, RET505, SIM103, SIM108, SIM113, SIM401, UP028, UP031, UP032, RUF005
from __future__ import annotations

import functools
import math
import random
from typing import Any, NamedTuple

import numpy as np

from rtcg.copperhead import *

FLOATS = np.arange(4, dtype=np.float32)
DOUBLES = np.arange(4.0)
INTS = np.arange(4, dtype=np.int32)
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
FLAGS = INTS > 1


class Call(NamedTuple):
    """A program and the arguments of a call."""

    program: Any
    args: tuple[Any, ...]


WRONG: dict[str, Call] = {}
RIGHT: dict[str, Call] = {}


def wrong(*args):
    """Registers a wrong program; `args` are those of the call."""

    def register(function):
        assert function.__name__ not in WRONG, function.__name__
        WRONG[function.__name__] = Call(cu(function), args)
        return WRONG[function.__name__].program

    return register


def right(*args):
    """Registers what a message advises to write instead of the program of this name."""

    def register(function):
        assert function.__name__.removesuffix("_right") in WRONG, function.__name__
        RIGHT[function.__name__] = Call(cu(function), args)
        return RIGHT[function.__name__].program

    return register


# -- statements that the language does not have -----------------------------------------------


@wrong(FLOATS)
def for_loop(x):
    total = 0.0
    for xi in x:
        total = total + xi
    return total


@right(FLOATS)
def for_loop_right(x):
    return reduce(op_add, x, 0.0)


@wrong(5)
def while_loop(n):
    while n > 1:
        n = n // 2
    return n


@right(5)
def while_loop_right(n):
    return n if n <= 1 else while_loop_right(n // 2)


@wrong(FLOATS)
def with_statement(x):
    with places.here:
        return x


@wrong(FLOATS)
def try_statement(x):
    try:
        return x[0]
    except IndexError:
        return 0.0


@wrong(FLOATS)
def yields(x):
    for xi in x:
        yield xi


@wrong(FLOATS)
def yields_from(x):
    yield from x


@wrong(FLOATS)
async def is_async(x):
    return x


@wrong(FLOATS)
def global_statement(x):
    global FLOATS
    return x


@wrong(FLOATS)
def nonlocal_statement(x):
    n = 1

    def g(xi):
        nonlocal n
        return xi * n

    return map(g, x)


@wrong(FLOATS)
def imports(x):
    import math as functions

    return map(functions.sqrt, x)


@wrong(FLOATS)
def class_statement(x):
    class Point:
        pass

    return x


@wrong(FLOATS)
def raises(x):
    raise ValueError("no")


@wrong(FLOATS)
def deletes(x):
    y = map(sqrt, x)
    del x
    return y


@wrong(FLOATS)
def match_statement(x):
    match len(x):
        case 0:
            return 0
        case _:
            return 1


@wrong(FLOATS)
def augments_captured(x):
    total = 0

    def add(xi):
        total += xi
        return total

    return map(add, x)


@wrong(FLOATS)
def assigns_an_element(x):
    x[0] = 1
    return x


@right(FLOATS)
def assigns_an_element_right(x):
    return update(x, [(0, 1)])


@wrong(FLOATS)
def assigns_an_attribute(x):
    x.name = 1
    return x


@wrong(FLOATS)
def chain_of_assignments(x):
    a = b = len(x)
    return a + b


@wrong(FLOATS)
def unused_call(x):
    y = []
    y.append(x[0])
    return y


@wrong(FLOATS)
def decorated_inner(x):
    @functools.lru_cache
    def g(xi):
        return xi

    return map(g, x)


# -- expressions that the language does not have ----------------------------------------------


@wrong(FLOATS)
def slices(x):
    return x[1:3]


@right(FLOATS)
def slices_right(x):
    return [x[i] for i in bounded_range(1, 3)]


@wrong(FLOATS)
def keyword_argument(x):
    return reduce(op_add, x, init=0)


@wrong(FLOATS)
def starred(x):
    return map(*x)


@wrong(FLOATS)
def default_value(x, n=2):
    return [xi * n for xi in x]


@wrong(FLOATS, 2)
def star_parameter(x, *more):
    return x


@wrong(FLOATS)
def f_string(x):
    return f"{x}"


@wrong(FLOATS)
def text(x):
    return "text"


@wrong(FLOATS)
def set_display(x):
    return {1, 2}


@wrong(FLOATS)
def dictionary(x):
    return {"x": x}


@wrong(FLOATS)
def none(x):
    y = None
    return x


@wrong(FLOATS)
def generator_expression(x):
    return scan(op_add, (xi * xi for xi in x))


@right(FLOATS)
def generator_expression_right(x):
    return scan(op_add, [xi * xi for xi in x])


@wrong(FLOATS)
def walrus(x):
    return [y := xi for xi in x]


@wrong(FLOATS)
def identity(x):
    return [1 if xi is None else 0 for xi in x]


@wrong(FLOATS, 2)
def membership(x, v):
    return v in x


@right(FLOATS, 2)
def membership_right(x, v):
    return any([v == element for element in x])


@wrong(MATRIX, MATRIX)
def matrix_product(a, b):
    return a @ b


@wrong(INTS)
def big_integer(x):
    return [xi + 1000000000000000000000000000000000000000000 for xi in x]


# -- values on the host -----------------------------------------------------------------------


@wrong(FLOATS)
def prints(x):
    print(x)
    return x


@wrong(FLOATS)
def converts_to_float(x):
    return [float(xi) for xi in x]


@right(FLOATS)
def converts_to_float_right(x):
    return [float64(xi) for xi in x]


@wrong(FLOATS)
def converts_to_int(x):
    return [int(xi) for xi in x]


@right(FLOATS)
def converts_to_int_right(x):
    return [int64(xi) for xi in x]


@wrong(FLOATS)
def gets_a_value(x):
    return x.get()


@wrong(FLOATS)
def gets_an_item(x):
    return x[0].item()


@wrong(FLOATS)
def shape_of(x):
    return x.shape


@wrong(MATRIX)
def transposes(x):
    return x.T


@right(MATRIX)
def transposes_right(x):
    return transpose(x)


@wrong(FLOATS)
def dtype_of(x):
    return x.dtype


@wrong(FLOATS)
def method_sum(x):
    return x.sum()


# -- names ------------------------------------------------------------------------------------


def plain(x):
    return x + 1


@wrong(FLOATS)
def calls_a_plain_function(x):
    return map(plain, x)


@wrong(FLOATS)
def calls_a_plain_function_directly(x):
    return [plain(xi) for xi in x]


@wrong(FLOATS)
def misspelt(x):
    return redcue(op_add, x, 0)


@wrong(FLOATS)
def misspelt_local(x):
    total = sum(x)
    return totla


@wrong(FLOATS)
def unknown_name(x):
    return completely_unknown(x)


@wrong(FLOATS)
def math_gamma(x):
    return map(math.gamma, x)


@wrong(FLOATS)
def math_gamma_called(x):
    return [math.gamma(xi) for xi in x]


@wrong(FLOATS)
def math_floor(x):
    return [math.floor(xi) for xi in x]


@wrong(FLOATS)
def math_misspelt(x):
    return [math.sqtr(xi) for xi in x]


@wrong(FLOATS)
def numpy_sort(x):
    return np.sort(x)


@wrong(FLOATS)
def numpy_sum(x):
    return np.sum(x)


@wrong(FLOATS)
def random_numbers(x):
    return [xi + random.random() for xi in x]


@wrong(FLOATS)
def uses_a_global_array(x):
    return map(op_add, x, DOUBLES)


TABLE = {"a": 1}


@wrong(FLOATS)
def uses_a_global_dictionary(x):
    return [xi + TABLE["a"] for xi in x]


NAMES = ["a", "b"]


@wrong(FLOATS)
def uses_a_global_list(x):
    return [xi + NAMES[0] for xi in x]


@wrong(FLOATS)
def sorted_builtin(x):
    return sorted(x)


@wrong(FLOATS)
def rounded_builtin(x):
    return [round(v) for v in x]


@wrong(FLOATS)
def product_of_math(x):
    return math.prod(x)


@wrong(FLOATS)
def reversed_builtin(x):
    return reversed(x)


@wrong(INTS)
def literal_of_more_than_64_bits(x):
    return [v + 2**64 for v in x]


@wrong(INTS)
def branch_of_more_than_64_bits(x):
    return [v if v > 0 else 10**20 for v in x]


@wrong(np.arange(3, dtype=np.uint8))
def branch_that_a_dtype_does_not_have(x):
    return [v if v < 2 else 300 for v in x]


@wrong(FLOATS)
def only_one_branch_assigns(x):
    if len(x) > 2:
        y = 1
    return y


# -- types ------------------------------------------------------------------------------------


@wrong(FLOATS)
def branches_of_two_types(x):
    return [xi if xi > 0 else (1, 2) for xi in x]


@wrong(FLOATS)
def branches_of_statements(x):
    def g(xi):
        if xi > 0:
            return xi
        return (xi, xi)

    return map(g, x)


@wrong(FLOATS)
def assigned_with_two_types(x):
    if len(x) > 2:
        y = x
    else:
        y = 0
    return y


@wrong(FLOATS)
def reduce_changes_the_type(x):
    return reduce(lambda a, b: (a, b), x, 0.0)


@wrong(FLOATS)
def reduce_starts_with_another_type(x):
    return reduce(op_add, x, (0, 0))


@wrong(FLOATS)
def scan_changes_the_type(x):
    return scan(lambda a, b: (a, b), x)


@wrong(FLOATS)
def float_index(x):
    return x[1.5]


@wrong(FLOATS, DOUBLES)
def float_indices(x, i):
    return [x[ii] for ii in i]


@right(FLOATS, DOUBLES)
def float_indices_right(x, i):
    return [x[int64(ii)] for ii in i]


@wrong(FLOATS, DOUBLES)
def gathers_floats(x, i):
    return gather(x, i)


@wrong(FLOATS)
def length_of_a_tuple(x):
    return len((x, x))


@wrong(FLOATS)
def length_of_a_number(x):
    return len(x[0])


@wrong(FLOATS, FLOATS)
def adds_sequences(x, y):
    return x + y


@right(FLOATS, FLOATS)
def adds_sequences_right(x, y):
    return map(op_add, x, y)


@wrong(FLOATS)
def scales_a_sequence(x):
    return 2 * x


@right(FLOATS)
def scales_a_sequence_right(x):
    return [2 * xi for xi in x]


@wrong(FLOATS)
def negates_a_sequence(x):
    return -x


@wrong(FLOATS)
def square_root_of_a_sequence(x):
    return sqrt(x)


@right(FLOATS)
def square_root_of_a_sequence_right(x):
    return map(sqrt, x)


@wrong(FLOATS)
def converts_a_sequence(x):
    return float64(x)


@wrong(FLOATS)
def condition_of_a_sequence(x):
    return 1 if x else 0


@wrong(FLOATS)
def compares_sequences(x):
    return x == x


@wrong(FLOATS)
def shifts_floats(x):
    return [xi << 1 for xi in x]


@wrong(FLOATS)
def inverts_floats(x):
    return [~xi for xi in x]


@wrong(np.ones(3, np.int8))
def number_too_large(x):
    return [xi + 1000 for xi in x]


@right(np.ones(3, np.int8))
def number_too_large_right(x):
    return [int16(xi) + 1000 for xi in x]


@wrong(FLOATS)
def maps_a_number(x):
    return map(sqrt, x[0])


@wrong(FLOATS)
def iterates_over_a_number(x):
    return [i for i in len(x)]


@wrong(FLOATS)
def calls_a_number(x):
    return x[0](1)


@wrong(FLOATS)
def calls_a_sequence(x):
    return x(0)


@wrong(FLOATS)
def maps_no_function(x):
    return map(1, x)


@wrong(FLOATS)
def unpacks_numbers(x):
    return [a + b for a, b in x]


@wrong(FLOATS, FLOATS)
def unpacks_too_many(x, y):
    return [a + b + c for a, b, c in zip(x, y)]


@wrong(FLOATS)
def tuple_index_beyond(x):
    return (x, x)[2]


@wrong(FLOATS, 1)
def tuple_index_computed(x, i):
    return (x, x)[i]


@wrong(FLOATS)
def result_is_a_function(x):
    return lambda xi: xi


@wrong(FLOATS)
def result_has_a_function(x):
    return x, sqrt


@wrong(FLOATS)
def result_is_nothing(x):
    y = map(sqrt, x)


@wrong(FLOATS)
def returns_nothing(x):
    return


@wrong(FLOATS)
def one_path_returns_nothing(x):
    if len(x) > 1:
        return x


@wrong(FLOATS)
def elements_are_functions(x):
    return [lambda y: y + xi for xi in x]


@wrong(FLOATS)
def sorts_without_order(x):
    return sort(lambda a, b: (a, b), x)


@wrong(FLOATS)
def filters_by_tuples(x):
    return filter(lambda xi: (xi, xi), x)


@wrong(FLOATS)
def replicates_a_fraction(x):
    return replicate(1, 2.5)


@wrong(FLOATS)
def range_of_floats(x):
    return range(1.5)


@wrong(FLOATS)
def unzips_numbers(x):
    return unzip(x)


@wrong(FLOATS, FLOATS)
def updates_with_numbers(x, y):
    return update(x, y)


@wrong(FLOATS, INTS)
def scatters_tuples(x, i):
    return scatter(zip(x, x), i, x)


@wrong(MATRIX)
def reduces_rows(a):
    return reduce(lambda x, y: map(op_add, x, y), a, a[0])


@wrong(FLOATS)
def transposes_a_flat_sequence(x):
    return transpose(x)


@wrong(FLOATS)
def list_of_two_types(x):
    return [1, x]


# -- numbers of arguments ---------------------------------------------------------------------


@wrong(FLOATS)
def reduce_without_start(x):
    return reduce(op_add, x)


@wrong(FLOATS)
def too_many_arguments(x):
    return len(x, x)


@wrong(FLOATS)
def too_few_arguments_of_an_operation(x):
    return [op_add(xi) for xi in x]


@wrong(FLOATS)
def lambda_with_too_few_parameters(x):
    return map(lambda a: a, x, x)


@wrong(FLOATS)
def inner_function_with_too_many_parameters(x):
    def g(a, b):
        return a + b

    return map(g, x)


@wrong(FLOATS)
def reduce_with_one_parameter(x):
    return reduce(lambda a: a, x, 0)


# -- recursion --------------------------------------------------------------------------------


@wrong(5)
def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


@right(5)
def factorial_right(n):
    def go(n, product):
        return product if n == 0 else go(n - 1, n * product)

    return go(n, 1)


@wrong(5)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@wrong(5)
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@wrong(5)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@wrong(5)
def endless(n):
    return endless(n + 1)


@wrong(5)
def argument_changes_its_type(n):
    return 0 if n == 0 else argument_changes_its_type((n, n))


@wrong(5)
def recursion_with_other_arity(n):
    return 0 if n == 0 else recursion_with_other_arity(n, 1)


# -- lengths ----------------------------------------------------------------------------------


@wrong(FLOATS)
def lengths_provably_different(x):
    return map(op_add, replicate(1, 3), replicate(1, 4))


@wrong(FLOATS)
def list_lengths_different(x):
    return map(op_add, [1, 2, 3], [1, 2])


@wrong(FLOATS, DOUBLES[:3])
def lengths_different_when_called(x, y):
    return map(op_add, x, y)


@wrong(FLOATS, DOUBLES[:3])
def lengths_of_expressions_different(x, y):
    return map(lambda a, b: a + b, map(sqrt, x), y)


@wrong(MATRIX, FLOATS)
def lengths_of_rows_different(a, x):
    return [sum(map(op_mul, row, x)) for row in a]


@wrong(FLOATS, INTS[:3])
def lengths_of_indices_different(x, i):
    return permute(x, i)


@wrong(FLOATS[:0])
def minimum_of_nothing(x):
    return min(x)


# -- functions in functions -------------------------------------------------------------------


@wrong(FLOATS)
def name_assigned_after_a_lambda(x):
    k = 1
    f = lambda v: v + k
    k = 10
    return map(f, x)


@wrong(FLOATS, 2)
def name_assigned_after_a_function(x, c):
    k = 1

    def f(v):
        return v * k

    if c > 1:
        k = 5
    return map(f, x)


@wrong(FLOATS)
def function_defined_after_its_use(x):
    def f(v):
        return g(v) + 1

    def g(v):
        return 2 * v

    return map(f, x)


@wrong(MATRIX, 2)
def sequence_in_a_loop_of_an_element(rows, n):
    def doubled(row, k):
        return sum(row) if k == 0 else doubled([2 * v for v in row], k - 1)

    return [doubled(row, n) for row in rows]


# -- several problems -------------------------------------------------------------------------


@wrong(FLOATS)
def several_problems(x):
    y = x + x
    z = redcue(op_add, x, 0)
    for xi in x:
        pass
    return [xi[0] for xi in x], z, y


@wrong(FLOATS)
def problem_in_a_map(x):
    def g(xi):
        return undefined(xi) + unknown_too(xi)

    return map(g, x), map(g, x)


@cu
def helper(row):
    return row + 1


@wrong(MATRIX)
def problem_in_another_program(a):
    return map(helper, a)


# -- arguments --------------------------------------------------------------------------------


@wrong("text")
def argument_is_text(x):
    return x


@wrong(np.array([None, 1], object))
def argument_is_an_array_of_objects(x):
    return x


@wrong(None)
def argument_is_none(x):
    return x


@wrong(FLOATS, ["a", "b"])
def argument_is_a_list_of_text(x, y):
    return y


@wrong({1: 2})
def argument_is_a_dictionary(x):
    return x


@wrong(np.array(["2020-01-01"], "datetime64[D]"))
def argument_has_dates(x):
    return x


@wrong([[1, 2], 3])
def argument_mixes_rows_and_numbers(x):
    return x


@wrong(10**30)
def argument_is_too_large(x):
    return x


@wrong((FLOATS, "text"))
def argument_has_text_in_a_tuple(pair):
    return pair


@wrong(FLOATS, FLOATS)
def argument_is_called(x, f):
    return map(f, x)
