"""Matrix products of all dtypes, layouts and sizes, beside NumPy's. On a GPU they reach tiles of every kind."""

import itertools

import numpy as np
import pytest
from depth import each_kind

import pycuda.autoinit  # noqa: F401 (the context)
from pycuda import gpuarray

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")
INTEGERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
#: Rows, columns and the common axis: one tile, parts of several, and lines that begin at no multiple of 16 bytes.
SHAPES = ((1, 1, 1), (16, 16, 16), (64, 128, 64), (129, 65, 33), (70, 200, 131), (257, 130, 5), (100, 99, 1))


def integers(rng, dtype, shape):
    """Small integers, whose products and sums every dtype has."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    values = rng.integers(0 if np.dtype(dtype).kind == "u" else -3, 4, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-3, 4, shape)
    return values.astype(dtype)


def arranged(matrices, how):
    """The same matrices on host and device, whose elements lie as ``how`` says."""
    *stack, rows, columns = matrices.shape
    if how == "rows":
        whole, view = matrices.copy(), lambda a: a
    elif how == "columns":
        whole, view = np.ascontiguousarray(np.swapaxes(matrices, -1, -2)), lambda a: a.swapaxes(-1, -2)
    elif how == "apart":
        whole, view = np.zeros((*stack, rows, columns + 3), matrices.dtype), lambda a: a[..., 3:]
    elif how == "turned":
        whole = np.zeros((*stack, columns, rows + 1), matrices.dtype)
        view = lambda a: a[..., 1:].swapaxes(-1, -2)  # noqa: E731
    else:
        whole, view = np.zeros((*stack, 2 * rows, columns), matrices.dtype), lambda a: a[..., ::2, ::-1]
    view(whole)[...] = matrices
    return view(gpuarray.to_gpu(whole))


HOW = ("rows", "columns", "apart", "turned", "every second, backwards")


@pytest.mark.parametrize("shape, dtype", each_kind(itertools.product(SHAPES, FLOATS + INTEGERS)), ids=str)
def test_products_of_integers_are_exact(dtype, shape):
    m, n, k = shape
    rng = np.random.default_rng(1)
    a, b = integers(rng, dtype, (m, k)), integers(rng, dtype, (k, n))
    wanted = a @ b if dtype != "float16" else (a.astype(np.float32) @ b.astype(np.float32)).astype(dtype)
    for i, first in enumerate(HOW):
        second = HOW[(3 * i + 1) % len(HOW)]
        product = arranged(a, first) @ arranged(b, second)
        assert product.dtype == wanted.dtype
        np.testing.assert_array_equal(product.get(), wanted, err_msg=f"{first} and {second}")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("first", "second"), list(itertools.product(HOW[:3], HOW[:2])))
def test_errors_of_products_are_bounded(dtype, first, second):
    """By k roundings of the sums of absolute products, and float16 by one rounding of a float32."""
    m, n, k = 150, 140, 300
    rng = np.random.default_rng(2)
    kind = np.dtype(dtype).kind
    a, b = (
        (rng.standard_normal(s) + (1j * rng.standard_normal(s) if kind == "c" else 0)).astype(dtype)
        for s in ((m, k), (k, n))
    )
    wide = np.complex128 if kind == "c" else np.float64
    wanted = a.astype(wide) @ b.astype(wide)
    sizes = np.abs(a.astype(wide)) @ np.abs(b.astype(wide))
    eps = np.finfo(np.float32 if dtype == "float16" else dtype).eps
    bound = 2 * k**0.5 * eps * sizes + (np.finfo(dtype).eps * np.abs(wanted) if dtype == "float16" else 0)
    product = (arranged(a, first) @ arranged(b, second)).get()
    assert (np.abs(product - wanted) <= bound).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "complex128"])
@pytest.mark.parametrize(
    "stacks", [((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 1), (1, 3)), ((2, 3), (3,)), ((0,), ())], ids=str
)
def test_stacks_are_broadcast(dtype, stacks):
    rng = np.random.default_rng(3)
    a, b = integers(rng, dtype, (*stacks[0], 40, 24)), integers(rng, dtype, (*stacks[1], 24, 56))
    for first, second in (("rows", "rows"), ("columns", "apart"), ("turned", "columns")):
        product = arranged(a, first) @ arranged(b, second)
        np.testing.assert_array_equal(product.get(), a @ b, err_msg=f"{first} and {second}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "complex128"])
def test_empty_products(dtype):
    for m, n, k in ((0, 5, 3), (5, 0, 3), (5, 3, 0)):
        product = gpuarray.zeros((m, k), dtype) @ gpuarray.zeros((k, n), dtype)
        assert (product.shape, product.dtype) == ((m, n), np.dtype(dtype))
        assert not product.get().any()


def test_infinities_do_not_spread():
    """What fills up a tile is no part of a sum."""
    a, b = np.ones((70, 33), np.float32), np.ones((33, 70), np.float32)
    a[3], b[:, 5] = np.inf, np.nan
    for dtype in ("float16", "float32", "float64"):
        product = (gpuarray.to_gpu(a.astype(dtype)) @ gpuarray.to_gpu(b.astype(dtype))).get()
        np.testing.assert_array_equal(product, (a @ b).astype(dtype))


def test_integers_wrap():
    for dtype in INTEGERS[1:]:
        limits = np.iinfo(dtype)
        rng = np.random.default_rng(4)
        a = rng.integers(limits.min, limits.max, (65, 40), dtype, endpoint=True)
        b = rng.integers(limits.min, limits.max, (40, 66), dtype, endpoint=True)
        np.testing.assert_array_equal((gpuarray.to_gpu(a) @ gpuarray.to_gpu(b)).get(), a @ b, err_msg=dtype)


def test_products_are_cast_to_out_by_the_rule_of_numpy():
    from rtcg import linalg, numpy as xp

    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for dtype in ("float16", "float32", "complex64"):
        out = xp.zeros((2, 4), dtype)
        assert linalg.matmul(a, b, out=out) is out and (out.get() == a @ b).all()
        assert linalg.matmul(a, b, epilogue="acc + 1", out=out) is out and (out.get() == a @ b + 1).all()
    integers_ = xp.zeros((2, 4), "int32")
    square = xp.ones((4, 4), "int32")
    calls = [
        lambda: linalg.matmul(a, b, out=integers_),
        lambda: linalg.matmul(a, b, epilogue="acc", out=integers_),
        lambda: xp.matmul(a, b, out=integers_),
        lambda: square.__imatmul__(np.ones((4, 4))),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="out is of dtype int32; expected float64, or one that it is cast to by"):
            call()
    assert not integers_.get().any() and (square.get() == 1).all(), "nothing was written"
    with pytest.raises(ValueError, match=r"out has shape \(3, 4\); expected \(2, 4\)"):
        linalg.matmul(a, b, out=xp.zeros((3, 4)))
    with pytest.raises(TypeError, match="out is of type ndarray; expected a GPUArray"):
        linalg.matmul(a, b, out=np.zeros((2, 4)))
