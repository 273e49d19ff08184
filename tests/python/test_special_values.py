"""Special values of every function of elements, beside NumPy: both zeros, infinities, NaN, extreme integers."""

import warnings

import numpy as np
import pytest
from depth import each_kind

import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

INF, NAN = np.inf, np.nan
PARTS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
DTYPES = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")]
COMPLEX = DTYPES[-2:]
UFUNCS = {
    name: function
    for name, function in sorted(vars(np).items())
    if isinstance(function, np.ufunc) and function.__name__ == name and function.signature is None
    if hasattr(rnp, name) and function.nin < 3
}


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def values(dtype):
    """What is special of a dtype; of complex numbers all pairs."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [0, 1, 2, 3, 7, -1, -2, -3, info.bits - 1, info.bits, -info.bits, 100]
        ends = [info.min, info.min + 1, info.max - 1, info.max]
        return np.array(sorted({n for n in near + ends if info.min <= n <= info.max}), dtype)
    if dtype.kind == "c":
        return np.array([complex(a, b) for a in PARTS for b in PARTS], dtype)
    info = np.finfo(dtype)
    sizes = [0.5, 1.5, 2, 3, 1e-3, 100.25, 1 + float(info.eps), info.max, info.tiny, info.smallest_subnormal]
    return np.array([*PARTS, *map(float, sizes), *(-float(size) for size in sizes)], dtype)


def are_zeros_of_both_signs(x, y):
    return (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))


#: Where results may differ from NumPy's, and why.
ALLOWED = {
    # Which zero, NumPy leaves to the processor's instruction.
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin"], ("f", are_zeros_of_both_signs)),
    # CUDA's function is not rounded correctly: the largest number becomes infinite.
    "hypot": ("f", lambda x, y: np.fmax(abs(x), abs(y)) == np.finfo(x.dtype).max),
    # The result cancels: both are right to an ulp of the operands.
    "logaddexp2": ("f", lambda x, y: (np.abs(x + 1) < 1e-2) & (np.abs(y + 1) < 1e-2) & (x != y)),
    # NumPy before 2.5 gives the first of equal numbers of float16.
    "nextafter": ("f", lambda x, y: (x.dtype == np.float16) & are_zeros_of_both_signs(x, y)),
    # The array API standard has values where NumPy's formula gives NaN, and 0 for -0.
    "expm1": ("c", lambda z: ~np.isfinite(z) | (z == 0)),
}


def spacing(x):
    """NumPy's, except that it measures spaces of negative numbers of float16 towards zero, of others away from it."""
    steps = np.spacing(x)
    if steps.dtype == np.float16:
        halves = x.astype(np.float16)
        steps = np.where(halves < 0, -np.spacing(-halves), steps)
    return steps


#: What stands beside our function where it is not NumPy's of the name.
REFERENCES = {"spacing": spacing}

#: C99 leaves the signs of complex powers that vanish open; those of float and double differ in one library.
WITHOUT_SIGN_OF_ZERO = {"power", "float_power"}


def is_same(actual, expected, ulps, name=None):
    """Element by element: equal with the sign of zero, both NaN, or within `ulps`."""
    if expected.dtype.kind == "c":
        if name in WITHOUT_SIGN_OF_ZERO:
            actual, expected = (
                np.where(part == 0, 0, part)
                for part in (actual.view(expected.real.dtype), expected.view(expected.real.dtype))
            )
            return is_same(actual, expected, ulps).reshape(-1, 2).all(1)
        return is_same(actual.real, expected.real, ulps) & is_same(actual.imag, expected.imag, ulps)
    if expected.dtype.kind != "f":
        return actual == expected
    info = np.finfo(expected.dtype)
    same = (np.isnan(actual) & np.isnan(expected)) | (
        (actual == expected) & ((np.signbit(actual) == np.signbit(expected)) | (expected != 0))
    )
    wide, reference = actual.astype("f8"), expected.astype("f8")
    near = np.abs(wide - reference) <= np.maximum(
        ulps * float(info.eps) * np.abs(reference), 2 * float(info.smallest_subnormal)
    )
    return same | (np.isfinite(actual) & np.isfinite(expected) & (expected != 0) & near)


def compare(name, *operands):
    """A function of NumPy's beside ours."""
    kind, differs = ALLOWED.get(name, ("", None))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = REFERENCES.get(name, getattr(np, name))(*operands)
        except (TypeError, ValueError) as error:
            expected = error
        left_out = differs(*operands) if operands[0].dtype.kind == kind else np.zeros(operands[0].shape, bool)
    if isinstance(expected, ValueError):
        # Negative exponents of integers are refused by their values, which are on the device here.
        assert name == "power"
        return
    if isinstance(expected, TypeError):
        with pytest.raises(TypeError):
            getattr(rnp, name)(*map(rnp.to_gpu, operands))
        return
    actual = getattr(rnp, name)(*map(rnp.to_gpu, operands))
    pairs = zip(actual, expected, strict=True) if isinstance(expected, tuple) else [(actual, expected)]
    with np.errstate(all="ignore"):
        for ours, theirs in pairs:
            ours = ours.get()
            assert ours.dtype == theirs.dtype
            wrong = np.flatnonzero(~is_same(ours, theirs, 16, name) & ~left_out)
            assert wrong.size == 0, [
                (*(operand[k] for operand in operands), f"NumPy {theirs[k]}, here {ours[k]}") for k in wrong[:9]
            ]


def cases(nin):
    all_cases = [(name, dtype) for name, function in UFUNCS.items() if function.nin == nin for dtype in DTYPES]
    return each_kind(all_cases)


@pytest.mark.parametrize("name, dtype", cases(1), ids=str)
def test_one_operand(name, dtype):
    compare(name, values(dtype))


#: Functions of elements that are no ufuncs.
OTHERS = ["angle", "fix", "imag", "isneginf", "isposinf", "isreal", "nan_to_num", "real", "round", "sinc"]


@pytest.mark.parametrize("name, dtype", each_kind([(name, dtype) for name in OTHERS for dtype in DTYPES]), ids=str)
def test_one_operand_of_functions_that_are_no_ufuncs(name, dtype):
    compare(name, values(dtype))


@pytest.mark.parametrize("name, dtype", cases(2), ids=str)
def test_two_operands(name, dtype):
    x = values(dtype)
    if name == "ldexp" and dtype.kind in "fc":
        compare(name, np.repeat(x, 3), np.tile(np.array([3, -2000, 2000], "i4"), len(x)))
        return
    compare(name, np.repeat(x, len(x)), np.tile(x, len(x)))


@pytest.mark.parametrize("dtype", ["i1", "u1"])
@pytest.mark.parametrize("name", ["gcd", "lcm", "floor_divide", "remainder", "left_shift", "right_shift"])
def test_all_pairs_of_bytes(name, dtype):
    info = np.iinfo(dtype)
    x, y = (a.ravel() for a in np.meshgrid(*[np.arange(info.min, info.max + 1).astype(dtype)] * 2))
    compare(name, x, y)


# -- the order of complex numbers ---------------------------------------------------------------------


def shuffled(dtype):
    numbers = np.tile(values(np.dtype(dtype)), 3)
    return numbers[np.random.default_rng(5).permutation(len(numbers))]


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_order_of_complex_numbers(dtype):
    x = shuffled(dtype)
    d = rnp.to_gpu(x)
    order = np.argsort(x, kind="stable")
    np.testing.assert_array_equal(rnp.argsort(d).get(), order)
    np.testing.assert_array_equal(rnp.sort(d).get(), np.sort(x, kind="stable"))
    np.testing.assert_array_equal(rnp.lexsort([d]).get(), np.lexsort([x]))
    for side in ("left", "right"):
        expected = np.searchsorted(x[order], x, side=side)
        np.testing.assert_array_equal(rnp.searchsorted(d[rnp.to_gpu(order)], d, side=side).get(), expected)
        np.testing.assert_array_equal(rnp.searchsorted(d, d, side=side, sorter=rnp.to_gpu(order)).get(), expected)
    descending = rnp.sort(d, descending=True).get()
    np.testing.assert_array_equal(descending, np.sort(x, kind="stable")[::-1])
    assert (np.diff(np.isnan(descending).astype(int)) <= 0).all()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_different_complex_numbers(dtype):
    x = shuffled(dtype)
    for equal_nan in (True, False):
        expected = np.unique(x, equal_nan=equal_nan)
        np.testing.assert_array_equal(rnp.unique(rnp.to_gpu(x), equal_nan=equal_nan).get(), expected)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "nanmax", "nanmin"])
@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_extremes_of_complex_numbers(name, dtype):
    x = shuffled(dtype)
    some = x[~np.isnan(x)]
    for part in (x, some, some[some.real < 1]):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(getattr(rnp, name)(rnp.to_gpu(part)).get(), getattr(np, name)(part))


# -- complex numbers in kernels of one's own ----------------------------------------------------------

FUNCTIONS = {"sqrt": "sqrt", "exp": "exp", "log": "log", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
             "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
             "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "conj": "conjugate"}  # fmt: skip
EXPONENTS = [-3, -2, -1, 0, 1, 2, 3]


def kernels_source(part):
    rows = [f"out[{k} * n + i] = pycuda::{name}(z);" for k, name in enumerate(FUNCTIONS)]
    powers = [f"out[{k} * n + i] = pycuda::pow(z, {exponent});" for k, exponent in enumerate(EXPONENTS)]
    return f"""#include <pycuda-complex.hpp>
    typedef pycuda::complex<{part}> C;
    extern "C" __global__ void functions(C *out, const C *in, int n) {{
      for (int i = threadIdx.x; i < n; i += blockDim.x) {{ C z = in[i]; {"".join(rows)} }}
    }}
    extern "C" __global__ void powers(C *out, const C *in, int n) {{
      for (int i = threadIdx.x; i < n; i += blockDim.x) {{ C z = in[i]; {"".join(powers)} }}
    }}
    extern "C" __global__ void pairs(C *out, const C *x, const C *y, int n) {{
      for (int i = threadIdx.x; i < n; i += blockDim.x) {{
        out[i] = x[i] / y[i]; out[n + i] = pycuda::pow(x[i], y[i]);
        out[2 * n + i] = pycuda::pow(x[i], y[i].real());
      }}
    }}"""


def run_kernel(module, name, rows, *operands):
    n = np.int32(operands[0].size)
    out = rnp.empty((rows, int(n)), operands[0].dtype)
    arrays = [rnp.to_gpu(operand) for operand in operands]
    module.get_function(name)(out, *arrays, n, block=(64, 1, 1), grid=(1, 1))
    return out.get()


def assert_rows(actual, expected, names, *operands):
    for row, reference, name in zip(actual, expected, names, strict=True):
        wrong = np.flatnonzero(~is_same(row, reference, 16, "power" if "power" in str(name) else name))
        assert wrong.size == 0, (
            name, [(*(x[k] for x in operands), f"NumPy {reference[k]}, here {row[k]}") for k in wrong[:9]]
        )  # fmt: skip


@pytest.mark.parametrize("dtype, part", [("c8", "float"), ("c16", "double")])
def test_complex_numbers_in_kernels(dtype, part):
    module = SourceModule(kernels_source(part))
    z = values(np.dtype(dtype))
    x, y = np.repeat(z, len(z)), np.tile(z, len(z))
    with np.errstate(all="ignore"):
        assert_rows(run_kernel(module, "functions", len(FUNCTIONS), z), [getattr(np, f)(z) for f in FUNCTIONS.values()],
                    FUNCTIONS, z)  # fmt: skip
        expected = [np.power(z, z.dtype.type(n)) for n in EXPONENTS]
        names = [f"power {n}" for n in EXPONENTS]
        assert_rows(run_kernel(module, "powers", len(EXPONENTS), z), expected, names, z)
        quotients, powers, of_zero = run_kernel(module, "pairs", 3, x, y)
        assert_rows([quotients, powers], [x / y, np.power(x, y)], ["quotient", "power"], x, y)
        zero = x == 0
        expected = np.power(x[zero], y[zero].real.astype(dtype))
        assert_rows([of_zero[zero]], [expected], ["real power of 0"], x[zero], y[zero])
