"""Functions of double precision that clang compiles: at arguments that are hard for them, and special values.

Results to 106 bits are stored: `data/mathematics_double.py` writes them. CUDA states errors as steps from the correctly
rounded result, in units of its last place.
"""

from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from tests.python.depth import at_depth

pytestmark = [
    pytest.mark.usefixtures("context"),
    # Not every kernel uses all its variables.
    pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded:UserWarning"),
]

# CUDA C++ Programming Guide 13.0, "Mathematical Functions", double precision. It states none for `norm` and `rnorm`.
BOUNDS = {
    "exp": 1, "exp2": 1, "exp10": 1, "expm1": 1, "log": 1, "log2": 1, "log10": 1, "log1p": 1,
    "sin": 2, "cos": 2, "tan": 2, "sinpi": 2, "cospi": 2, "asin": 2, "acos": 2, "atan": 2, "atan2": 2,
    "sinh": 2, "cosh": 1, "tanh": 1, "asinh": 3, "acosh": 3, "atanh": 2, "pow": 2,
    "sqrt": 0, "rsqrt": 1, "cbrt": 1, "rcbrt": 1, "hypot": 2, "rhypot": 1,
    "norm3d": 2, "rnorm3d": 1, "norm4d": 2, "rnorm4d": 1, "norm": 2, "rnorm": 1, "fmod": 0, "remainder": 0,
    "erf": 2, "erfc": 5, "erfcx": 4, "erfinv": 5, "erfcinv": 6, "normcdf": 5, "normcdfinv": 8,
    "tgamma": 10, "lgamma": 4,
    "j0": 7, "j1": 7, "y0": 7, "y1": 7, "cyl_bessel_i0": 6, "cyl_bessel_i1": 6, "jn": 7, "yn": 7,
}  # fmt: skip
# Beyond 8 and for orders above 1 the bound of Bessel functions is absolute; where those of the second kind are large,
# relative.
ABSOLUTE = dict.fromkeys(["j0", "j1", "y0", "y1", "jn", "yn"], 5e-12)
CALLS = {name: f"{name}(x, y)" for name in ("atan2", "pow", "hypot", "rhypot", "fmod", "remainder")}
CALLS |= {name: f"{name}(x, y, x)" for name in ("norm3d", "rnorm3d")}
CALLS |= {name: f"{name}(x, y, x, y)" for name in ("norm4d", "rnorm4d")}
CALLS |= {name: f"{name}(3, xyx)" for name in ("norm", "rnorm")}
CALLS |= {name: f"{name}((int)y, x)" for name in ("jn", "yn")}
PAIRS = {
    "sin": "sincos(x, &r, &other)",
    "cos": "sincos(x, &other, &r)",
    "sinpi": "sincospi(x, &r, &other)",
    "cospi": "sincospi(x, &other, &r)",
}

INF, NAN, TINY, LARGE = np.inf, np.nan, 5e-324, np.finfo(float).max
# Annex F of C99, and the CUDA Math API for the functions that C does not have.
SPECIAL = {
    "exp": [(-INF, 0), (INF, INF), (-0.0, 1), (710, INF), (-746, 0), (-745, TINY)],
    "exp2": [(-INF, 0), (INF, INF), (1024, INF), (-1074, TINY), (-1076, 0)],
    "exp10": [(-INF, 0), (INF, INF), (309, INF), (-324, 0), (2, 100)],
    "expm1": [(-INF, -1), (INF, INF), (0, 0), (-0.0, -0.0), (-TINY, -TINY)],
    "log": [(0, -INF), (-0.0, -INF), (1, 0), (-1, NAN), (INF, INF), (-INF, NAN)],
    "log2": [(0, -INF), (-0.0, -INF), (1, 0), (-TINY, NAN), (INF, INF), (TINY, -1074), (8, 3)],
    "log10": [(0, -INF), (-0.0, -INF), (1, 0), (-1, NAN), (INF, INF), (1000, 3)],
    "log1p": [(0, 0), (-0.0, -0.0), (-1, -INF), (-2, NAN), (INF, INF), (TINY, TINY), (-TINY, -TINY)],
    "sin": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (TINY, TINY)],
    "cos": [(0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "tan": [(0, 0), (-0.0, -0.0), (INF, NAN), (-TINY, -TINY)],
    "sinpi": [(0, 0), (-0.0, -0.0), (1, 0), (-1, -0.0), (0.5, 1), (2.0**60, 0), (INF, NAN)],
    "cospi": [(0, 1), (0.5, 0), (1, -1), (1.5, 0), (2.0**60, 1), (INF, NAN)],
    "asin": [(0, 0), (-0.0, -0.0), (1.5, NAN), (1, np.pi / 2)],
    "acos": [(1, 0), (-1, np.pi), (-1.5, NAN)],
    "atan": [(0, 0), (-0.0, -0.0), (INF, np.pi / 2), (-INF, -np.pi / 2)],
    "sinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (711, INF)],
    "cosh": [(0, 1), (INF, INF), (-INF, INF), (-711, INF)],
    "tanh": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "asinh": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1, 0), (0.5, NAN), (INF, INF), (-INF, NAN)],
    "atanh": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN)],
    "cbrt": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-27, -3)],
    "rcbrt": [(0, INF), (-0.0, -INF), (INF, 0), (-INF, -0.0)],
    "sqrt": [(-0.0, -0.0), (-1, NAN), (INF, INF)],
    "rsqrt": [(0, INF), (-0.0, -INF), (INF, 0), (-1, NAN)],
    "erf": [(0, 0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "erfc": [(-INF, 2), (INF, 0), (0, 1)],
    "erfcx": [(-INF, INF), (INF, 0), (0, 1)],
    "erfinv": [(0, 0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN)],
    "erfcinv": [(0, INF), (-0.0, INF), (1, 0), (2, -INF), (3, NAN), (-1, NAN)],
    "normcdf": [(INF, 1), (-INF, 0), (0, 0.5)],
    "normcdfinv": [(0, -INF), (-0.0, -INF), (1, INF), (0.5, 0), (2, NAN), (-1, NAN)],
    "tgamma": [(0, INF), (-0.0, -INF), (-1, NAN), (INF, INF), (-INF, NAN), (1, 1), (5, 24), (172, INF), (TINY, INF),
               (-TINY, -INF)],
    "lgamma": [(0, INF), (-0.0, INF), (-1, INF), (1, 0), (2, 0), (INF, INF), (-INF, INF), (LARGE, INF)],
    "j0": [(0, 1), (INF, 0), (-INF, 0)],
    "j1": [(0, 0), (-0.0, -0.0), (INF, 0)],
    "y0": [(0, -INF), (-1, NAN), (INF, 0)],
    "y1": [(0, -INF), (-1, NAN), (INF, 0)],
    "cyl_bessel_i0": [(0, 1), (INF, INF), (-INF, INF)],
    "cyl_bessel_i1": [(0, 0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "pow": [((0.0, -1.0), INF), ((-0.0, -1.0), -INF), ((-0.0, -2.0), INF), ((-0.0, 3.0), -0.0), ((0.0, INF), 0),
            ((0.0, -INF), INF), ((-1.0, INF), 1), ((1.0, NAN), 1), ((NAN, 0.0), 1), ((-2.0, 3.0), -8),
            ((-2.0, 0.5), NAN), ((0.5, -INF), INF), ((2.0, -INF), 0), ((-INF, -1.0), -0.0), ((-INF, 3.0), -INF),
            ((INF, -0.5), 0), ((2.0, 1024.0), INF), ((2.0, -1074.0), TINY), ((-2.0, -1075.0), -0.0),
            ((-3.0, 2.0**60), INF), ((10.0, 3.0), 1000)],
    "atan2": [((0.0, -0.0), np.pi), ((-0.0, -0.0), -np.pi), ((0.0, 0.0), 0), ((-0.0, 1.0), -0.0),
              ((0.0, -1.0), np.pi), ((1.0, 0.0), np.pi / 2), ((1.0, -INF), np.pi), ((-1.0, INF), -0.0),
              ((INF, 1.0), np.pi / 2), ((INF, INF), np.pi / 4), ((-INF, -INF), -3 * np.pi / 4), ((NAN, 1.0), NAN)],
    "hypot": [((INF, NAN), INF), ((NAN, -INF), INF), ((0.0, 0.0), 0), ((NAN, 1.0), NAN), ((3.0, -4.0), 5),
              ((LARGE, LARGE), INF)],
    "rhypot": [((INF, NAN), 0), ((0.0, 0.0), INF), ((NAN, 1.0), NAN), ((3.0, 4.0), 0.2)],
    "fmod": [((-0.0, 1.0), -0.0), ((1.0, 0.0), NAN), ((INF, 1.0), NAN), ((-1.0, INF), -1), ((1e300, TINY), 0),
             ((-6.0, 3.0), -0.0)],
    "remainder": [((5.0, 2.0), 1), ((7.0, 2.0), -1), ((1.0, 0.0), NAN), ((INF, 1.0), NAN), ((-1.0, INF), -1),
                  ((-6.0, 3.0), -0.0)],
    "jn": [((0.0, 3.0), 0), ((INF, 3.0), 0), ((1.0, -1.0), NAN)],
    "yn": [((0.0, 3.0), -INF), ((INF, 3.0), 0), ((-1.0, 3.0), NAN)],
}  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return np.load(Path(__file__).parent / "data" / "mathematics_double.npz")


@pytest.fixture(scope="module")
def module(context):
    kernels = {name: f"r = {CALLS.get(name, f'{name}(x)')}" for name in BOUNDS}
    kernels |= {f"{name}_of_pair": body for name, body in PAIRS.items()}
    source = "".join(
        f"__global__ void test_{name}(const double *a, const double *b, double *result, int n) {{"
        f" const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"
        f" const double x = a[i], y = b[i], xyx[] = {{x, y, x}}; double r, other; {body}; result[i] = r; }}\n"
        for name, body in kernels.items()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCG_COMPILER", "clang")
        return SourceModule(source)


def call(module, name, x, y):
    x, y = (np.ascontiguousarray(v, np.float64) for v in (x, y))
    result = np.zeros_like(x)
    grid = ((len(x) + 63) // 64, 1)
    arguments = (drv.In(x), drv.In(y), drv.Out(result), np.int32(len(x)))
    module.get_function(f"test_{name}")(*arguments, block=(64, 1, 1), grid=grid)
    return result


def steps(a, b):
    """How many numbers lie between two finite ones."""
    a, b = (np.where(v.view(np.int64) < 0, np.int64(-(2**63)) - v.view(np.int64), v.view(np.int64)) for v in (a, b))
    return np.abs(a - b)


@pytest.mark.parametrize("name", BOUNDS)
def test_errors(name, module, tables):
    table = tables[name][:: at_depth(2, 1)]
    x, y, nearest = table[:, 0], table[:, -3], table[:, -2]
    kernels = [name, f"{name}_of_pair"] if name in PAIRS else [name]
    for kernel in kernels:
        got = call(module, kernel, x, y)
        is_bad = ~np.isfinite(got) | (steps(got, nearest) > BOUNDS[name])
        if name in ABSOLUTE:
            is_close = np.abs(got - nearest) <= ABSOLUTE[name] * np.maximum(1, np.abs(nearest))
            is_bad &= ~(is_close & ((np.abs(x) >= 8) | (name in ("jn", "yn"))))
        wrong = np.column_stack([table[:, :-1], got])[is_bad]
        assert not len(wrong), f"{kernel}: arguments, nearest, result: {wrong[:5].tolist()}"


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, module):
    arguments = np.array([np.atleast_1d(a) for a, _ in SPECIAL[name]], np.float64)
    expected = np.array([result for _, result in SPECIAL[name]], np.float64)
    nan = np.full_like(arguments[:1], NAN)
    if name not in ("jn", "yn"):
        arguments, expected = np.concatenate([arguments, nan]), np.append(expected, NAN)
    for kernel in [name, f"{name}_of_pair"] if name in PAIRS else [name]:
        got = call(module, kernel, arguments[:, 0], arguments[:, -1])
        # Angles and powers are not exact.
        is_close = np.isclose(got, expected, rtol=1e-15, atol=0, equal_nan=True)
        is_close &= np.isnan(expected) | (np.signbit(got) == np.signbit(expected))
        wrong = np.column_stack([arguments, got, expected])[~is_close]
        assert not len(wrong), f"{kernel}: arguments, result, expected: {wrong.tolist()}"
