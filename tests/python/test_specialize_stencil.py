"""`rtcg.specialize.stencil` against SciPy, NumPy and Python's interpreter, and its kernels against each other."""

import copy
import itertools
import math
import os
import pickle
import sys

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as rnp
from rtcg import _native, specialize, tune
from rtcg.copperhead import cu, force, indices, places
from rtcg.copperhead._errors import UntranslatableError
from rtcg.specialize import Generated, Stencil, recognise, stencil
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

SCIPY_MODES = {"clamp": "nearest", "wrap": "wrap", "reflect": "reflect", "constant": "constant"}
BOUNDARIES = (*SCIPY_MODES, "interior")


def numbers(shape, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)


def cross(ndim, radius):
    """Offsets along the axes, up to a radius, with the element itself."""
    each = [
        tuple(k if at == axis else 0 for at in range(ndim)) for axis in range(ndim) for k in range(-radius, radius + 1)
    ]
    return tuple(sorted(set(each)))


def options(boundary, constant):
    """The options of a stencil, with the constant where it counts."""
    return {"boundary": boundary, "constant": constant} if boundary == "constant" else {"boundary": boundary}


def weighted(ndim, radius, **options):
    """A stencil over a cross of offsets, and its weights as an array for SciPy."""
    offsets = cross(ndim, radius)
    weights = tuple((offset, 1.0 + at) for at, offset in enumerate(offsets))

    @stencil(**options)
    def f(u):
        return sum([u[offset] * weight for offset, weight in weights])

    kernel = np.zeros((2 * radius + 1,) * ndim)
    for offset, weight in weights:
        kernel[tuple(radius + k for k in offset)] = weight
    return f, kernel


def same(found, expected):
    """Whether results are equal bit for bit, with their dtypes."""
    found = found.get()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def forced(call, **config):
    """The result of a call with another kernel."""
    _, decisions = _native.record_array_decisions(call)
    [decision] = [each for each in decisions if each.name == "stencil.kernel"]
    return decision.force({**decision.rule, **config}, call)


# -- borders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", SCIPY_MODES)
def test_borders_are_those_of_scipy(boundary):
    scipy = pytest.importorskip("scipy.ndimage")
    cases = [((11,), 9), ((7, 9), 2), ((3, 40), 1), ((4, 5, 6), 1), ((3, 2, 4, 3), 1), ((2, 1), 3)]
    for shape, radius in cases if ALL or boundary in ("clamp", "reflect") else cases[:3]:
        f, kernel = weighted(len(shape), radius, **options(boundary, 2.5))
        u = numbers(shape, np.float64)
        expected = scipy.correlate(u, kernel, mode=SCIPY_MODES[boundary], cval=2.5)
        np.testing.assert_allclose(f(u).get(), expected, rtol=1e-12, atol=1e-10)
        same(f(u), f.reference(u))


@pytest.mark.parametrize("halo", ["copy", "zero"])
def test_elements_near_borders_are_copied_or_zero(halo):
    @stencil(boundary="interior", halo=halo)
    def f(u, v):
        return u[-1, 0] + v[0, 2], u[0, 0] * v[1, 0]

    u, v = numbers((6, 7)), numbers((6, 7), seed=1)
    first, second = (each.get() for each in f(u, v))
    inner = (slice(1, -1), slice(0, -2))
    np.testing.assert_array_equal(first[inner], u[:-2, :-2] + v[1:-1, 2:])
    np.testing.assert_array_equal(second[inner], u[1:-1, :-2] * v[2:, :-2])
    outer = np.ones((6, 7), bool)
    outer[inner] = False
    np.testing.assert_array_equal(first[outer], u[outer] if halo == "copy" else 0)
    np.testing.assert_array_equal(second[outer], v[outer] if halo == "copy" else 0)
    for found, expected in zip((first, second), f.reference(u, v), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_fields_smaller_than_the_radius():
    for boundary, shape in itertools.product(BOUNDARIES, [(1, 1), (2, 1), (0, 5), (3, 0)]):
        f, _ = weighted(2, 3, **options(boundary, -1))
        u = numbers(shape)
        same(f(u), f.reference(u))
        assert f.iterate(u, 3).shape == shape


# -- kernels -------------------------------------------------------------------------------------------

KERNELS = [
    {"kernel": "direct", "columns": 32, "rows": 4, "items": 4, "steps": 1},
    {"kernel": "direct", "columns": 32, "rows": 1, "items": 1, "steps": 1},
    {"kernel": "tile", "columns": 32, "rows": 2, "items": 2, "steps": 1},
]
STEPS = (1, 2, 3, 4, 6, 8)

BODIES = {
    1: lambda u: u[-2] * 0.5 + u[1] - u[0] * 0.25,
    2: lambda u: u[-1, 0] * 0.25 + u[1, 0] * 0.1 + u[0, -2] * 0.3 + u[0, 1] * 0.2 - 0.1 * u[0, 0],
    3: lambda u: 0.1 * (u[-1, 0, 0] + u[0, 1, 0] * 2 + u[0, -1, 1]) - u[1, 0, -1] * 0.5,
    4: lambda u: 0.1 * (u[-1, 0, 0, 0] + u[0, 1, 0, 1] * 2 + u[0, -1, 1, 0]) - u[1, 0, 0, -1] * 0.5,
}
SHAPES = {1: [(3,), (450,)], 2: [(1, 3), (37, 83)], 3: [(7, 13, 70)], 4: [(3, 4, 5, 6)]}


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_all_kernels_give_equal_bits(boundary):
    for ndim in BODIES if ALL else (1, 2, 3):
        f = stencil(**options(boundary, 1.5))(BODIES[ndim])
        for shape in SHAPES[ndim]:
            expected = [numbers(shape)]
            for _ in range(9):
                expected.append(f.reference(expected[-1]))
            u = rnp.to_gpu(expected[0])
            for config in KERNELS if ALL else KERNELS[::2]:
                same(forced(lambda f=f, u=u: f(u), **config), expected[1])
            for steps in STEPS if ALL else (2, 4):
                found = forced(lambda f=f, u=u: f.iterate(u, 9), **{**KERNELS[2], "steps": steps})
                same(found, expected[9])
            np.testing.assert_array_equal(u.get(), expected[0])


def window(*radius):
    return tuple(itertools.product(*[range(-r, r + 1) for r in radius]))


def rolled_cases():
    """Stencils with many taps that are alike, and whether they become loops: name, axes, stencil of fields, fields."""
    square, cube, wide = window(4, 4), window(2, 2, 2), window(1, 2, 4)
    of_cube, of_wide = (tuple((at, 0.25 + k * k / 7) for k, at in enumerate(taps)) for taps in (cube, wide))
    disc = tuple(at for at in window(5, 5) if at[0] ** 2 + at[1] ** 2 <= 25)

    def bilateral(u):
        weights = [np.exp(-np.float32((i * i + j * j) / 9) - (u[i, j] - u[0, 0]) ** 2) for i, j in square]
        return sum([weight * u[k] for weight, k in zip(weights, square)]) / sum(weights)  # noqa: B905

    def two(u, v):
        total = sum([u[i, j] * v[j, i] for i, j in square])
        return total, u[0, 1] - total

    def of_reads(u):
        return sum([u[i, j] for i, j in square])

    return [
        ("bilateral", 2, bilateral, 1, True),
        ("numbers", 3, lambda u: sum([u[k] * weight for k, weight in of_cube]), 1, True),
        ("wide", 3, lambda u: sum([(u[k] - u[0, 0, 0]) * weight for k, weight in of_wide]), 1, True),
        ("two", 2, two, 2, True),
        ("reads", 2, of_reads, 1, True),
        ("disc", 2, lambda u: sum([u[k] * 0.5 for k in disc]), 1, False),
        ("shared", 2, lambda u: sum([abs(u[i, j] - u[-4, -4]) * (u[0, 0] + u[1, 1]) for i, j in square]), 1, True),
    ]


@pytest.mark.parametrize("name", [case[0] for case in rolled_cases()])
def test_loops_over_taps_give_equal_bits(name):
    [(_, ndim, body, n_fields, is_rolled)] = [case for case in rolled_cases() if case[0] == name]
    for boundary, dtype in itertools.product(BOUNDARIES if ALL else ("clamp", "interior", "constant"), ("f4", "f8")):
        f = stencil(**options(boundary, 1.5))(body)
        for shape in [(5, 9, 40), (1, 3, 7)] if ndim == 3 else [(37, 53), (3, 5), (1, 70)]:
            fields = [numbers(shape, dtype, seed) for seed in range(n_fields)]
            u = [rnp.to_gpu(field) for field in fields]
            expected = forced(lambda f=f, u=u: f(*u), kernel="direct", columns=32, rows=4, items=1, adjacent=1)
            for config in ({"rows": 8, "adjacent": 2}, {"rows": 2, "adjacent": 4}):
                config = {"kernel": "tile", "columns": 32, "items": 2, **config}
                found, text = forced(lambda f=f, u=u: (f(*u), f.source(*u)), **config)
                assert ("rtcg_points" in text) == is_rolled
                for each, one in zip(*([x] if not isinstance(x, tuple) else x for x in (found, expected)), strict=True):
                    same(each, one.get())


def test_fused_steps_of_several_fields():
    @stencil(boundary="reflect")
    def wave(now, before, speed, dt):
        around = now[-1, 0] + now[1, 0] + now[0, -1] + now[0, 1] - 4 * now[0, 0]
        return 2 * now[0, 0] - before[0, 0] + dt * dt * speed[0, 0] * around, now[0, 0]

    now, speed = numbers((21, 50)), np.abs(numbers((21, 50), seed=2))
    expected = (now, now)
    for _ in range(7):
        expected = wave.reference(*expected, speed, 0.1)
    for steps in (1, 3):
        found = forced(
            lambda: wave.iterate(now, now, speed, 0.1, steps=7), kernel="tile", columns=32, rows=2, items=1, steps=steps
        )
        for each, one in zip(found, expected, strict=True):
            same(each, one)


def test_zero_steps_copy_the_field():
    f = stencil(BODIES[1])
    u = rnp.to_gpu(numbers(5))
    found = f.iterate(u, 0)
    u.fill(0)
    np.testing.assert_array_equal(found.get(), numbers(5))


# -- arithmetic ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float16, np.float64, np.complex64, np.complex128])
def test_dtypes_are_those_of_numpy(dtype):
    @stencil(boundary="constant", constant=3)
    def f(u):
        return u[1, 0] * 3 - u[0, -1] * u[0, 0], u[0, 1] / 2

    u = numbers((5, 6), dtype)
    for found, expected in zip(f(u), f.reference(u), strict=True):
        same(found, expected)


def test_conditions_and_functions():
    @cu
    def clipped(x, limit):
        return min(x, limit)

    @stencil(boundary="wrap")
    def f(u, v, limit):
        def near(k):
            return u[k] - u[-k]

        if near(1) > 0:
            slope = near(1)
        else:
            slope = -near(2) if v[1] > 50 else 0.5
        return clipped(math.sqrt(abs(slope)), limit) + np.floor(v[0] / 7)

    u, v = numbers(40, np.float64), numbers(40, np.int32)
    same(f(u, v, 1.25), f.reference(u, v, 1.25))
    assert len(set(f.reference(u, v, 1.25) == f.reference(u, v, 0.25))) == 2


def test_functions_of_known_numbers_adapt():
    @stencil
    def f(u, weights):
        a, (b, c) = weights
        return u[1] * math.exp(-0.5) + u[0] * a * b * c

    u = numbers(9)
    found = f(u, (2, (0.5, 3))).get()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f.reference(u, (2, (0.5, 3))), rtol=1e-6)


def test_numbers_of_numpy_keep_their_dtypes():
    @stencil
    def f(u, a):
        return u[1] * a

    u = numbers(9)
    for a in (2, 2.5, np.float64(2.5), np.int8(3), 1j, rnp.to_gpu(np.array(2.5))):
        found = f(u, a)
        expected = u[np.r_[1:9, 8]] * (a.get()[()] if isinstance(a, rnp.GPUArray) else a)
        same(found, expected)


def test_names_from_outside_are_looked_up_again():
    offset = 1

    @stencil
    def f(u):
        return u[offset]

    u = numbers(6)
    same(f(u), u[[1, 2, 3, 4, 5, 5]])
    offset = -2
    same(f(u), u[[0, 0, 0, 1, 2, 3]])


def test_loops_over_offsets_are_unrolled():
    box = tuple(itertools.product((-1, 0, 1), repeat=2))

    @stencil
    def f(u):
        ring = [u[i, j] for i, j in box if (i, j) != (0, 0)]
        rows = [sum([u[k, j] for j in range(-2, 3, 2)]) for k in range(2)]
        return (
            sum(ring),
            max(ring) - min([u[k, 0] for k in (0, 1)]),
            sum([rows[k] * (1, 3)[k] for k in range(2)]),
            len(ring),
        )

    u = numbers((6, 9), np.int64)
    for found, expected in zip(f(u), f.reference(u), strict=True):
        same(found, expected)
    assert len(f.model(u).fields[0][2]) == 13


# -- arguments -----------------------------------------------------------------------------------------


def test_results_can_be_given_arrays():
    f = stencil(lambda u: u[-1, 0] + u[0, 1])
    u = numbers((8, 6))
    expected = f.reference(u)
    for make in (lambda: rnp.empty((8, 6), np.float32), lambda: rnp.empty((6, 8), np.float32).T):
        out = make()
        assert f(u, out=out) is out
        same(out, expected)
    inside = rnp.to_gpu(u)
    f(inside, out=inside)
    same(inside, expected)


def test_any_memory_order():
    f = stencil(lambda u: u[-1, 0] + 2 * u[0, 1])
    u = numbers((9, 12))
    moved = rnp.to_gpu(np.ascontiguousarray(u.T)).T
    same(f(moved), f.reference(u))
    same(f(rnp.to_gpu(u)[::2, ::-3]), f.reference(u[::2, ::-3]))


ERRORS = [
    (lambda f, u: f(u, out=u), TypeError, "out is an array of dtype float32; expected a GPUArray, or a tuple of them"),
    (lambda f, u: f(u, out=rnp.empty((3, 5), np.float32)), ValueError, "out has shape (3, 5); expected (4, 5)"),
    (lambda f, u: f(u, out=rnp.empty((4, 5))), TypeError, "out has dtype float64; expected float32"),
    (lambda f, u: f.iterate(u, -1), ValueError, "steps is -1; expected 0 or more"),
    (lambda f, u: f.iterate(u), TypeError, "steps is missing; expected an integer, as in iterate(u, 10)"),
    (lambda f, u: f.iterate(u.astype(np.int32), 2), TypeError, "result 1 has dtype float64, its field int32"),
    (lambda f, u: f(1.0), TypeError, "'f' is given no field; expected at least one array"),
    (lambda f, u: f(np.zeros((1,) * 5)), ValueError, "'u' has 5 axes; expected 1 to 4"),
    (lambda f, u: f(u, u), TypeError, "`f` takes 1 argument; 2 given"),
    (lambda f, u: stencil(boundary="mirror")(f), ValueError, "boundary is 'mirror'; expected one of 'clamp', 'wrap'"),
    (lambda f, u: stencil(halo="keep"), ValueError, "halo is 'keep'; expected 'copy' or 'zero'"),
    (lambda f, u: stencil(constant="1"), TypeError, "constant is '1'; expected a number"),
    (lambda f, u: stencil(fallback=2), TypeError, "fallback is 2"),
    (lambda f, u: stencil(constant=3), ValueError, "constant is 3, which counts with boundary='constant' only"),
    (
        lambda f, u: stencil(boundary="wrap", halo="zero"),
        ValueError,
        "halo is 'zero', which counts with boundary='inte",
    ),
    (lambda f, u: Stencil("clamp", halo="zero"), ValueError, "halo is 'zero', which counts with boundary='interior'"),
    (lambda f, u: f(np.ma.masked_array(u)), TypeError, "u is a masked array, whose mask would be lost"),
    (lambda f, u: f.iterate(np.ma.masked_array(u), 2), TypeError, "write `u.filled(value)`"),
    (lambda f, u: f.reference(np.ma.masked_array(u)), TypeError, "u is a masked array"),
    (lambda f, u: f.source(np.ma.masked_array(u)), TypeError, "u is a masked array"),
    (lambda f, u: f.model(np.ma.masked_array(u)), TypeError, "u is a masked array"),
    (lambda f, u: f.reference(u.astype("M8[s]")), TypeError, "u has dtype datetime64[s]"),
    (lambda f, u: stencil(3), TypeError, "function is 3, of type int; expected a function of Python"),
]


def test_fields_of_other_devices_are_named():
    run_python(
        "from tests.python import test_specialize_stencil as here; here.check_fields_of_other_devices()",
        RTCG_LIBCUDA="none",
        RTCG_VIRTUAL_DEVICES=2,
        PYTHONPATH=os.pathsep.join(sys.path),
    )


def check_fields_of_other_devices():
    @stencil
    def f(u):
        return u[-1] + u[1]

    with pytest.raises(ValueError, match="u lies in memory of another device than that of the current"):
        f(force(np.ones(3), places.virtual1))


@pytest.mark.parametrize("call, error, message", ERRORS, ids=range(len(ERRORS)))
def test_wrong_arguments_are_named(call, error, message):
    @stencil
    def f(u):
        return (u[-1, 0] + u[0, 1]) / 2.0

    with pytest.raises(error) as raised:
        call(f, numbers((4, 5)))
    assert message in str(raised.value)


def test_shapes_and_constants_that_do_not_fit():
    f = stencil(lambda u, v: u[0] + v[1])
    with pytest.raises(ValueError, match=r"^v has shape \(4,\); expected \(5,\), that of u$"):
        f(numbers(5), numbers(4))
    f = stencil(boundary="constant", constant=0.5)(lambda u: u[1])
    f(numbers(5))
    with pytest.raises(TypeError, match="constant is 0.5; expected a number that int32 can hold"):
        f(numbers(5, np.int32))


def test_a_function_of_a_name_that_is_assigned_again_is_refused():
    @stencil
    def f(u):
        k = 1
        g = lambda v: v * k  # noqa: E731
        k = 2
        return g(u[0])

    with pytest.raises(UntranslatableError, match=r"`k` is assigned after `g`, which uses it, was defined \[name\]"):
        f(numbers(5))


# -- what is no stencil --------------------------------------------------------------------------------


def test_all_problems_are_reported_with_their_places():
    @stencil
    def f(u, k):
        a = u[k] + u[0, 1]
        b = u * 2
        return a + u[0.5] + b + sum([u[i] for i in range(k)])

    line = f.__wrapped__.__code__.co_firstlineno + 2
    with pytest.raises(UntranslatableError) as raised:
        f(numbers(5), 1)
    assert (
        str(raised.value)
        == f"""\
the offset along axis 0 is computed from fields or arguments; expected an integer that is known before the call [static]
  {__file__}:{line}:13
    a = u[k] + u[0, 1]
        ^^^^
  help: Offsets are written as numbers, names of numbers or tuples outside of the function, or come from \
comprehensions over `range` and tuples. What depends on data is written with @cu as `u[i]`.

a field of 1 axes is indexed with 2 offset(s); expected 1 [index]
  {__file__}:{line}:20
    a = u[k] + u[0, 1]
               ^^^^^^^
  help: The element itself is u[0].

the operands of `*` are a field of float32 with 1 axes and int; expected numbers [operand]
  {__file__}:{line + 1}:13
    b = u * 2
        ^^^^^
  help: write `u[0]` for the element itself

the offset along axis 0 is no integer of 32 bits; expected an integer that is known before the call [static]
  {__file__}:{line + 2}:20
    return a + u[0.5] + b + sum([u[i] for i in range(k)])
               ^^^^^^
  help: Offsets are written as numbers, names of numbers or tuples outside of the function, or come from \
comprehensions over `range` and tuples. What depends on data is written with @cu as `u[i]`.

the bounds of `range` are not known before the call; expected one to three integers [static]
  {__file__}:{line + 2}:52
    return a + u[0.5] + b + sum([u[i] for i in range(k)])
                                               ^^^^^^^^"""
    )


def test_statements_that_stencils_do_not_have():
    @stencil
    def f(u):
        total = 0
        for k in range(3):
            total = total + u[k]
        return total

    with pytest.raises(UntranslatableError, match="a @stencil function cannot contain a `for` loop"):
        f(numbers(5))


def test_a_fallback_is_visible():
    @stencil(boundary="wrap", fallback=True)
    def f(u, v):
        return u[v[0]] + 1

    u, v = numbers(7), np.array([0, 1, 2, -1, -2, 3, 0])
    expected = u[(np.arange(7) + v) % 7] + 1
    with pytest.warns(RuntimeWarning, match="f is no stencil and is run by Python, which is slow: the offset"):
        same(f(u, v), expected)
    out = rnp.empty(7, np.float32)
    assert f(u, v, out=out) is out
    same(out, expected)
    assert f.iterate(u, v, steps=2).shape == (7,)
    assert "no stencil; Python has run it 5 time(s)" in f.explain(u, v)


# -- what was recognised -------------------------------------------------------------------------------


def test_explanations_and_sources():
    @stencil(boundary="reflect")
    def f(u, v, a):
        return u[-1, 0] + a * v[0, 2]

    u = numbers((40, 50))
    text = f.explain(u, u, 2)
    assert "f: a stencil of 2 axes, boundary 'reflect'" in text
    assert "radius -1..0, -0..2" in text
    model = f.model(u, u, 2)
    assert model.fields == (("u", "float32", ((-1, 0),)), ("v", "float32", ((0, 2),)))
    assert (model.scalars, model.outputs, model.taps, model.shape) == ((("a", "int64"),), ("float32",), 2, (40, 50))
    assert "__global__" in f.source(u, u, 2)
    tiled = forced(
        lambda: (f.iterate(u, u, 2, steps=2), f.source(u, u, 2, steps=2))[1], kernel="tile", rows=2, items=2, steps=2
    )
    # Two steps of boxes inside, and two of those at borders.
    assert "__shared__" in tiled and tiled.count(" = rtcg_point(") == 4


def test_kernels_are_tuned(tmp_path):
    f = stencil(BODIES[2])
    report = f.tune(numbers((20, 30)), steps=3, budget="3 evaluations", store=tune.Store(tmp_path))
    assert set(report.best) == {"kernel", "columns", "rows", "items", "adjacent", "steps"}


def test_maps_over_indices_are_recognised():
    @cu
    def program(u):
        return map(lambda i: 0.5 * (u[i - 1] + u[i + 2]), indices(u))

    [model] = recognise(program, numbers(9))
    assert (model.radius, model.fields[0][2]) == (((1, 2),), ((-1,), (2,)))

    @cu
    def gathers(u, v):
        return [u[i] for i in v]

    assert recognise(gathers, numbers(9), np.arange(3)) == []
    with pytest.raises(TypeError, match="expected a function decorated with cu"):
        recognise(numbers, 1)


@stencil
def averaged(u):
    return (u[-1] + u[1]) / 2


class Averaged(Stencil):
    def kernel(self, image, out):
        for x in self.interior_points(out):
            out[x] = image[x] + 1

    @stencil
    def method(self, u):
        return u[0]


def test_stencils_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(averaged)) is averaged and copy.deepcopy(averaged) is averaged
    made = Averaged("wrap")
    u = numbers(5)
    same(pickle.loads(pickle.dumps(made))(u), made(u).get())
    same(copy.deepcopy(made)(u), made(u).get())


def test_a_method_is_bound_as_those_of_functions_are():
    with pytest.raises(TypeError, match="^self is .*, of type Averaged; .* write `@staticmethod`"):
        Averaged().method(numbers(4))
    assert isinstance(Averaged.method, specialize.StencilFunction)


# -- classes -------------------------------------------------------------------------------------------


def test_classes_that_loop_over_points():
    scipy = pytest.importorskip("scipy.ndimage")

    class Sum(Stencil):
        def kernel(self, in_grid, out_grid):
            for x in self.interior_points(out_grid):
                for y in self.neighbors(x, 1):
                    out_grid[x] += in_grid[y]

    u = numbers((6, 7), np.float64)
    found = Sum("clamp")(u).get()
    np.testing.assert_allclose(found, scipy.correlate(u, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], mode="nearest"), atol=1e-14)
    assert not Sum()(u).get()[[0, -1]].any()
    np.testing.assert_array_equal(Sum()(u).get()[1:-1, 1:-1], found[1:-1, 1:-1])
    assert Sum("wrap").iterate(u, 2).shape == (6, 7)


def test_a_bilateral_filter_with_named_neighbours():
    class Bilateral(Stencil):
        neighbourhoods = {0: [offset for offset in itertools.product((-1, 0, 1), repeat=2)]}

        def kernel(self, image, weights, out):
            for x in self.interior_points(out):
                total = weights[x] * 0
                for y in self.neighbors(x, 0):
                    near = math.exp(-self.distance(x, y))
                    weight = near * np.where(np.abs(image[y] - image[x]) > 1, 0.0, weights[y])
                    total += weight
                    out[x] += weight * image[y]
                out[x] = out[x] / total

    image, weights = numbers((5, 6), np.float64), np.abs(numbers((5, 6), np.float64, 1)) + 0.1
    found = Bilateral("clamp")(image, weights).get()
    padded, wide = np.pad(image, 1, "edge"), np.pad(weights, 1, "edge")
    for i, j in np.ndindex(5, 6):
        part = padded[i : i + 3, j : j + 3]
        far = np.hypot(*np.meshgrid([-1, 0, 1], [-1, 0, 1]))
        each = np.exp(-far) * np.where(np.abs(part - image[i, j]) > 1, 0, wide[i : i + 3, j : j + 3])
        assert math.isclose(found[i, j], (each * part).sum() / each.sum(), rel_tol=1e-12)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (lambda self, a, b: None, "kernel reads 2 grid(s) and writes 0; expected at least one of each"),
        (lambda self, a, b: b.__setitem__(3, 1), "b is indexed with 3; expected a point of interior_points"),
        (
            lambda self, a, b: [b.__setitem__(y, 1) for x in self.interior_points(b) for y in self.neighbors(x)],
            "b is written to at a neighbour; expected the point of interior_points",
        ),
        (
            lambda self, a, b: [b.__setitem__(x, a[x] if a[x] > 0 else 0) for x in self.interior_points(b)],
            "a kernel cannot decide by an element of a grid; write numpy.where(condition, a, b)",
        ),
    ],
)
def test_classes_that_are_no_stencils(kernel, message):
    with pytest.raises(TypeError) as raised:
        type("Wrong", (Stencil,), {"kernel": kernel})()(numbers(4))
    assert message in str(raised.value)


# -- others' specialisers ------------------------------------------------------------------------------


class CopySpecialiser:
    """Takes stencils of one read, of which it makes a copy that adds 1, to be told from this package's."""

    name = "copies"

    def __init__(self):
        self.asked = []

    def matches(self, model):
        self.asked.append((model.name, model.shape))
        return model if model.taps == 1 and model.ndim == 1 and model.outputs == ("float32",) else None

    def space(self, model):
        return {"threads": (64, 32)}

    def generate(self, model, config):
        [(_, _, [(offset,)])] = model.fields
        text = f"""extern "C" __global__ void moved(float *out, const float *u, long long n)
        {{
            long long i = blockIdx.x * {config["threads"]} + threadIdx.x;
            long long from = i + {offset} < 0 ? 0 : i + {offset} >= n ? n - 1 : i + {offset};
            if (i < n) out[i] = u[from] + 1;
        }}"""
        return Generated(text, "moved", (-(-model.shape[0] // config["threads"]), 1, 1), (config["threads"], 1, 1))

    def reference(self, model, u):
        [(_, _, [(offset,)])] = model.fields
        return u[np.clip(np.arange(len(u)) + offset, 0, len(u) - 1)] + 1


def test_others_specialisers_take_models():
    moved, both = stencil(lambda u: u[3]), stencil(lambda u: u[3] + u[1])
    u = numbers(100)
    plain = moved(u).get()
    mine = specialize.register(CopySpecialiser())
    try:
        assert specialize.specialisers() == (mine,)
        for _ in range(2):
            same(moved(u), plain + 1)
            same(both(u), both.reference(u))
        same(moved(u), mine.reference(moved.model(u), u))
        same(moved.iterate(u, 2), mine.reference(moved.model(u), plain + 1))
        assert len(mine.asked) == 2  # Once for each type and shape.
        assert "of the specialiser 'copies', {'threads': 64}" in moved.explain(u)
        assert "moved(float *out" in moved.source(u)
        out = rnp.empty(100, np.float32)
        assert moved(u, out=out) is out
        same(out, plain + 1)
        report = moved.tune(u, budget="2 evaluations")
        assert report.best["threads"] in (32, 64) and f"'threads': {report.best['threads']}}}" in moved.explain(u)
        same(moved(u), plain + 1)
        with pytest.raises(ValueError, match="a specialiser with the name 'copies' is registered"):
            specialize.register(CopySpecialiser())
        with pytest.raises(TypeError, match="which lacks matches, generate, space, reference; expected a Specialiser"):
            specialize.register(3)
    finally:
        specialize.unregister(mine)
    same(moved(u), plain)
    with pytest.raises(ValueError, match="is not registered"):
        specialize.unregister(mine)


def test_names_of_the_package():
    assert set(specialize.__all__) <= set(dir(specialize))
    assert all(getattr(specialize, name) for name in specialize.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        specialize.nothing
