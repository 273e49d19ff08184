"""`rtcg.linalg.matmul` with a precision: by integers, or natively where a device has no instructions for them."""

from fractions import Fraction

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as xp
from rtcg import linalg

pytestmark = pytest.mark.usefixtures("context")

# As many rows, columns and terms as products by integers need; more of each where the device has them.
SMALL, LONG = (70, 41, 100), (640, 577, 1040)
UNIT = {"float32": 2.0**-24, "complex64": 2.0**-24, "float64": 2.0**-53, "complex128": 2.0**-53}


def lengths(on_virtual_device):
    return SMALL if on_virtual_device else LONG


def normal(rng, shape, dtype):
    parts = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)
    return parts.astype(dtype)


def exact_parts(row, column):
    """Real and imaginary part of the sum of products, as fractions."""
    parts = [[Fraction(float(x)) for x in values] for values in (row.real, row.imag, column.real, column.imag)]
    dot = lambda x, y: sum(map(Fraction.__mul__, x, y), Fraction(0))  # noqa: E731
    return dot(parts[0], parts[2]) - dot(parts[1], parts[3]), dot(parts[0], parts[3]) + dot(parts[1], parts[2])


def assert_bound(found, a, b, dtype):
    """That errors of some elements are less than what the docstring says."""
    k = a.shape[1]
    for i in (0, 1, a.shape[0] // 2, a.shape[0] - 1):
        for j in (0, b.shape[1] // 3, b.shape[1] - 1):
            size = float(np.abs(a[i].astype(complex)) @ np.abs(b[:, j].astype(complex)))
            for got, want in zip((found[i, j].real, found[i, j].imag), exact_parts(a[i], b[:, j]), strict=True):
                bound = UNIT[dtype] * (2 * k**0.5 * size + 2 * abs(float(want))) + np.finfo(dtype).smallest_subnormal
                assert abs(Fraction(float(got)) - want) <= bound, (i, j, got, float(want))


@pytest.mark.parametrize("dtype", UNIT)
@pytest.mark.parametrize("kind", ["normal", "graded", "mixed", "tiny", "huge"] if ALL else ["normal", "mixed", "tiny"])
def test_errors_are_within_the_bound(dtype, kind, on_virtual_device):
    rng = np.random.default_rng(3)
    m, n, k = lengths(on_virtual_device)
    a, b = normal(rng, (m, k), dtype), normal(rng, (k, n), dtype)
    span = 200 if UNIT[dtype] < 1e-10 else 15
    if kind == "graded":
        a *= np.exp2(rng.integers(-span, span, (m, 1))).astype(a.real.dtype)
    elif kind == "mixed":
        # Rows and columns have large elements where the other factor's are small.
        scale = np.exp2(rng.integers(-span, span, k)).astype(a.real.dtype)
        a, b = a * scale, b / scale[:, None]
    elif kind == "tiny":
        a *= a.real.dtype.type(2.0 ** (-1000 if span == 200 else -120))
    elif kind == "huge":
        a *= a.real.dtype.type(2.0 ** (1000 if span == 200 else 110))
    found = linalg.matmul(a, np.asfortranarray(b), precision="emulated").get()
    assert found.dtype == dtype
    assert_bound(found, a, b, dtype)


@pytest.mark.parametrize("dtype", UNIT)
def test_integers_have_exact_products(dtype, on_virtual_device):
    rng = np.random.default_rng(4)
    m, n, k = lengths(on_virtual_device)
    most = 60 if UNIT[dtype] > 1e-10 else 100_000
    a, b = (rng.integers(-most, most, shape).astype(dtype) for shape in ((m, k), (k, n)))
    found = linalg.matmul(xp.to_gpu(a).T.copy().T, b, precision="emulated")
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    np.testing.assert_array_equal(found.get(), (a.astype(wide) @ b.astype(wide)).astype(dtype))
    np.testing.assert_array_equal(linalg.matmul(np.eye(k, dtype=dtype), b, precision="emulated").get(), b)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_infinities_and_nans_stay_in_their_rows_and_columns(dtype, on_virtual_device):
    rng = np.random.default_rng(5)
    m, n, k = lengths(on_virtual_device)
    a, b = normal(rng, (m, k), dtype), normal(rng, (k, n), dtype)
    a[5, 7], b[9, 11], a[8] = np.inf, np.nan, 0
    found = linalg.matmul(a, b, precision="emulated").get()
    finite = np.ones((m, n), bool)
    finite[5], finite[:, 11] = False, False
    np.testing.assert_array_equal(np.isfinite(found), finite)
    assert not found[8, :11].any()
    others = np.delete(found, 5, 0)[:, :11], np.delete(a, 5, 0), b[:, :11]
    assert_bound(*others, dtype)


def test_stacks_and_epilogues(on_virtual_device):
    rng = np.random.default_rng(6)
    m, n, k = lengths(on_virtual_device)
    a, b, bias = normal(rng, (2, m, k), "float64"), normal(rng, (k, n), "float64"), rng.standard_normal(n)
    found = linalg.matmul(
        a, b, epilogue="fmax(acc + bias[j], 0.0) + batch", operands={"bias": bias}, precision="emulated"
    )
    expected = np.maximum(a @ b + bias, 0) + np.arange(2)[:, None, None]
    np.testing.assert_allclose(found.get(), expected, atol=1e-11)
    out = xp.empty((2, m, n), np.float64)
    assert linalg.matmul(a, b, precision="emulated", out=out) is out
    np.testing.assert_allclose(out.get(), a @ b, atol=1e-11)


def test_another_precision_is_refused():
    with pytest.raises(ValueError, match="precision is 'fast'; expected 'native' or 'emulated'"):
        linalg.matmul(np.eye(2), np.eye(2), precision="fast")
