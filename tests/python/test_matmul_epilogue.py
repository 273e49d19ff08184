"""`rtcg.linalg.matmul` with an epilogue: an expression of each sum."""

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as xp
from rtcg import driver, linalg


def matrices(m, n, k, dtype=np.float32):
    rng = np.random.default_rng(m + n + k)
    return [rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n), (n,), (m, n))]


DTYPES = [np.int8, np.float16, np.float32, np.complex64, np.int32, np.float64, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES if ALL else DTYPES[:4])
def test_bias_rows_and_residuals(dtype, context):
    lengths = [(33, 41, 20), (70, 3, 50), (1, 80, 40), (20, 17, 0)]
    for m, n, k in lengths if ALL or dtype is np.float32 else lengths[:2]:
        a, b, bias, other = matrices(m, n, k, dtype)
        found = linalg.matmul(
            a, b, epilogue="(acc + bias[j]) * (i % 2 ? scale : 1) + other[i * n + j]",
            operands={"bias": bias, "other": other, "scale": np.asarray(2, dtype)},
        )  # fmt: skip
        expected = (a @ b + bias) * np.where(np.arange(m) % 2, 2, 1).astype(dtype)[:, None] + other
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.get(), expected)


def test_a_layer_of_a_network_and_a_distance(context):
    """Two users: a fully connected layer, and squared distances of points."""
    rng = np.random.default_rng(1)
    x, w, bias = rng.normal(size=(50, 30)), rng.normal(size=(30, 20)), rng.normal(size=20)
    layer = linalg.matmul(x, w, epilogue="fmax(acc + bias[j], 0.0)", operands={"bias": bias}, dtype=np.float32)
    assert layer.dtype == np.float32
    np.testing.assert_allclose(layer.get(), np.maximum(x @ w + bias, 0), rtol=1e-6, atol=1e-6)
    norms = {"p": (x**2).sum(axis=1), "q": (w.T**2).sum(axis=1)}
    found = linalg.matmul(x, w, epilogue="fmax(p[i] + q[j] - 2 * acc, 0.0)", operands=norms)
    np.testing.assert_allclose(found.get(), ((x[:, None] - w.T[None]) ** 2).sum(axis=2), atol=1e-12)


def test_stacks_rows_and_out(context):
    rng = np.random.default_rng(2)
    a, b, gains = rng.normal(size=(3, 1, 7, 5)), rng.normal(size=(2, 5, 6)), rng.normal(size=6)
    found = linalg.matmul(a, b, epilogue="acc * gains[batch]", operands={"gains": gains})
    np.testing.assert_allclose(found.get(), a @ b * gains.reshape(3, 2, 1, 1), atol=1e-12)
    out = xp.zeros((6,), np.float32)
    assert linalg.matmul(a[0, 0, 0], b[0], epilogue="acc + 10 * i + j", out=out) is out
    np.testing.assert_allclose(out.get(), a[0, 0, 0] @ b[0] + np.arange(6), rtol=1e-6)


ERRORS = [
    (dict(epilogue=""), ValueError, "epilogue is empty"),
    (dict(epilogue="acc", operands={"i": 1}), ValueError, "operand 'i' has no name for a variable"),
    (dict(epilogue="acc", operands={"a b": 1}), ValueError, "operand 'a b' has no name"),
    (dict(epilogue="acc + c", operands={}), driver.CompileError, 'epilogue.*identifier "c" is undefined'),
    (dict(operands={"b": 1}), ValueError, "operands is {'b': 1} without an epilogue; expected None"),
    (dict(dtype=float), ValueError, "dtype is .* without an epilogue"),
    (dict(epilogue="acc", dtype="M8[s]"), TypeError, "datetime64"),
]


@pytest.mark.parametrize("options, error, message", ERRORS)
def test_errors_name_the_argument(options, error, message, context):
    with pytest.raises(error, match=message):
        linalg.matmul(np.ones((3, 4)), np.ones((4, 5)), **options)


def test_without_an_epilogue_it_is_the_product(context):
    a, b, _, _ = matrices(5, 6, 7)
    np.testing.assert_array_equal(linalg.matmul(a, b).get(), a @ b)
    with pytest.raises(ValueError, match="do not fit"):
        linalg.matmul(a, a, epilogue="acc")
