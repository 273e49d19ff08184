"""pycuda.cumath against NumPy in double precision, with the errors that CUDA documents."""

import numpy as np
import pytest

import pycuda.cumath as cumath
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# Function, interval, and the largest error of float32 and float64 in units in the last place (CUDA C++ Programming
# Guide, "Standard Functions").
REAL = [
    ("fabs", -5, 5, 0, 0), ("ceil", -5, 5, 0, 0), ("floor", -5, 5, 0, 0), ("exp", -20, 20, 2, 1),
    ("log", 1e-3, 1e3, 1, 1), ("log10", 1e-3, 1e3, 2, 1), ("sqrt", 0, 100, 0, 0), ("sin", -40, 40, 2, 2),
    ("cos", -40, 40, 2, 2), ("tan", -40, 40, 4, 2), ("asin", -1, 1, 2, 2), ("acos", -1, 1, 2, 2),
    ("atan", -50, 50, 2, 2), ("sinh", -10, 10, 3, 2), ("cosh", -10, 10, 2, 1), ("tanh", -10, 10, 2, 2),
]  # fmt: skip

NUMPY = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan}


def reference(name):
    return NUMPY.get(name) or getattr(np, name)


@pytest.mark.parametrize("name, low, high, single, double", REAL, ids=[row[0] for row in REAL])
def test_real_functions(name, low, high, single, double):
    x = np.random.default_rng(1).uniform(low, high, 3000)
    for dtype, ulps in ((np.float32, single), (np.float64, double)):
        host = x.astype(dtype)
        result = getattr(cumath, name)(gpuarray.to_gpu(host)).get()
        assert result.dtype == dtype
        exact = reference(name)(host.astype(np.longdouble))
        error = np.abs(result - exact) / np.spacing(np.abs(exact).astype(dtype))
        # Half a unit for the rounding of the result itself.
        assert error.max() <= ulps + 0.51, (name, dtype, error.max(), host[error.argmax()])
    half = x.astype(np.float16)
    result = getattr(cumath, name)(gpuarray.to_gpu(half)).get()
    assert result.dtype == np.float16
    with np.errstate(over="ignore"):
        expected = reference(name)(half.astype(np.float32)).astype(np.float16)
    np.testing.assert_allclose(result.astype(float), expected.astype(float), rtol=1e-3)


COMPLEX = [
    "fabs", "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_functions(name, dtype):
    rng = np.random.default_rng(2)
    grid = np.array([-30, -2, -1, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1, 2, 30])
    z = np.concatenate([(grid[:, None] + 1j * grid).ravel(), rng.normal(size=500) + 1j * rng.normal(size=500)])
    z = z.astype(dtype)
    if name == "atan":
        z = z[np.abs(z * z + 1) > 1e-6]
    elif name in ("log", "log10"):
        z = z[z != 0]
    result = getattr(cumath, name)(gpuarray.to_gpu(z)).get()
    with np.errstate(all="ignore"):
        expected = (np.abs if name == "fabs" else reference(name))(z.astype(np.clongdouble))
    assert result.dtype == (z.real.dtype if name == "fabs" else dtype)
    eps = np.finfo(dtype).eps
    error = np.abs(result - expected) / np.maximum(np.abs(expected), np.finfo(dtype).tiny)
    assert error.max() < 16 * eps, (name, z[error.argmax()], result[error.argmax()], expected[error.argmax()])


@pytest.mark.parametrize("name", ["sqrt", "log", "asin", "acos", "atan"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_branch_cuts(name, dtype):
    """On a cut the sign of the zero part says which side is meant."""
    part = dtype(0).real.dtype.type
    x = np.array([-3, -1.5, 1.5, 3], part)
    z = np.zeros(16, dtype)
    for k, zero in enumerate((0.0, -0.0)):
        z.real[4 * k : 4 * k + 4], z.imag[4 * k : 4 * k + 4] = x, zero
        z.real[8 + 4 * k : 12 + 4 * k], z.imag[8 + 4 * k : 12 + 4 * k] = zero, x
    result = getattr(cumath, name)(gpuarray.to_gpu(z)).get()
    expected = reference(name)(z)
    np.testing.assert_allclose(result, expected, rtol=1e-5 if dtype == np.complex64 else 1e-12, atol=1e-6)


def test_options_and_layouts():
    host = np.random.default_rng(3).normal(size=(20, 30)).astype(np.float32)
    array, out, stream = gpuarray.to_gpu(host), gpuarray.empty((20, 30), np.float32), drv.Stream()
    assert cumath.exp(array, out=out, stream=stream) is out
    stream.synchronize()
    np.testing.assert_allclose(out.get(), np.exp(host), rtol=1e-6)
    assert cumath.exp(array, out) is out
    np.testing.assert_allclose(cumath.sin(gpuarray.to_gpu(np.asfortranarray(host))).get(), np.sin(host), atol=1e-6)
    np.testing.assert_allclose(cumath.exp(gpuarray.to_gpu(np.arange(4))).get(), np.exp(np.arange(4)))
    assert cumath.ceil(gpuarray.to_gpu(np.arange(4))).get().dtype == np.int64
    with pytest.raises(ValueError, match=r"out has shape \(3,\)"):
        cumath.exp(array, out=gpuarray.empty(3, np.float32))
    with pytest.raises(TypeError, match="out has dtype float64"):
        cumath.exp(array, out=gpuarray.empty((20, 30), np.float64))
    with pytest.raises(TypeError, match="nonsense"):
        cumath.exp(array, nonsense=1)
    with pytest.raises(TypeError, match="complex"):
        cumath.floor(gpuarray.to_gpu(np.ones(3, np.complex64)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functions_of_two_and_with_two_results(dtype):
    rng = np.random.default_rng(4)
    a, b = rng.uniform(-50, 50, 1000).astype(dtype), rng.uniform(0.5, 5, 1000).astype(dtype)
    ga, gb = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    rest = cumath.fmod(ga, gb).get()
    assert rest.dtype == dtype
    np.testing.assert_array_equal(rest, np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(dtype))
    significand, exponent = cumath.frexp(ga)
    expected = np.frexp(a)
    np.testing.assert_array_equal(significand.get(), expected[0])
    np.testing.assert_array_equal(exponent.get(), expected[1])
    np.testing.assert_array_equal(cumath.ldexp(significand, exponent).get(), a)
    np.testing.assert_array_equal(cumath.ldexp(significand, gpuarray.to_gpu(expected[1])).get(), a)
    for ours, theirs in zip(cumath.modf(ga), np.modf(a), strict=True):
        np.testing.assert_array_equal(ours.get(), theirs)


def test_views():
    host = np.linspace(0.1, 3, 60, dtype=np.float32).reshape(6, 10)
    view = gpuarray.to_gpu(host)[::2, ::-3]
    np.testing.assert_allclose(cumath.log(view).get(), np.log(host[::2, ::-3]), rtol=1e-6)
    np.testing.assert_allclose(
        cumath.fmod(view, gpuarray.to_gpu(np.float32([0.7]))).get(), np.fmod(host[::2, ::-3], 0.7), rtol=1e-4
    )
