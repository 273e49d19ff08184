"""`ElementwiseKernel` and `ReductionKernel` with CuPy's declarations: types that the call fills in."""

import numpy as np
import pytest

import rtcg.numpy as rnp
from rtcg.driver import CompileError
from rtcg.elementwise import ElementwiseKernel, TypedElementwiseKernel
from rtcg.reduction import ReductionKernel

pytestmark = pytest.mark.usefixtures("context")

DTYPES = [np.float32, np.float64, np.int16, np.int64, np.uint8, np.complex64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_are_those_of_the_arguments(dtype):
    product = ElementwiseKernel("T x, T y", "T z", "z = x * y + (T)1", "product")
    assert isinstance(product, TypedElementwiseKernel)
    x, y = np.arange(6).reshape(2, 3).astype(dtype), np.array([1, 2, 3]).astype(dtype)
    z = product(rnp.to_gpu(x), rnp.to_gpu(y))
    assert z.dtype == dtype and (z.get() == x * y + dtype(1)).all()
    # By name, with a number, with any layout, and into an array.
    out = rnp.empty((3, 2), dtype)
    assert product(y=dtype(2), x=rnp.to_gpu(x).T, z=out) is out
    assert (out.get() == x.T * dtype(2) + dtype(1)).all()


def test_several_types_outputs_and_raw_arrays():
    both = ElementwiseKernel("T x, float32 s", "T a, float64 b", "T t = x; a = t + t; b = t * s", return_tuple=True)
    a, b = both(rnp.arange(5, dtype=np.int32), 0.5)
    assert (a.dtype, b.dtype) == (np.int32, np.float64)
    assert a.get().tolist() == [0, 2, 4, 6, 8] and b.get().tolist() == [0, 0.5, 1, 1.5, 2]
    shift = ElementwiseKernel("raw T table, int32 k", "T z", "z = table[(i + k) % _ind.size()]", "shift")
    assert shift(rnp.arange(5.0), 2, size=5).get().tolist() == [2, 3, 4, 0, 1]
    assert shift(rnp.arange(5.0), rnp.zeros(3, np.int32)).get().tolist() == [0, 1, 2]
    nothing = ElementwiseKernel("T x", "T z", "z = x", no_return=True)
    assert nothing(rnp.ones(3)) is None
    only = ElementwiseKernel("", "int64 z", "z = i", preamble="// nothing")
    assert only(size=4).get().tolist() == [0, 1, 2, 3]


def test_operations_that_are_expressions_keep_their_meaning():
    """The second argument of PyCUDA's form is a statement, whatever its words are."""
    z = rnp.zeros(4, np.float32)
    ElementwiseKernel("float *z, float a", "z[i] = a", "fill")(z, np.float32(3))
    assert (z.get() == 3).all()
    assert not isinstance(ElementwiseKernel("float *z", "return", "k"), TypedElementwiseKernel)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda k, x: k(x, x.astype(np.float64)), TypeError, "'y': its elements are double, but T is float"),
        (lambda k, x: k(x), TypeError, "lacks its argument 'y'; it takes x, y, z"),
        (lambda k, x: k(x, x, x, x), TypeError, "takes 3 arguments"),
        (lambda k, x: k(x, x, w=x), TypeError, "no other argument 'w'"),
        (lambda k, x: k(x, np.ones(4, np.float32)), TypeError, "expected an array on the device or a number"),
        (lambda k, x: k(x, x, rnp.empty(3, np.float32)), ValueError, r"output 'z' has shape \(3,\); expected \(4,\)"),
        (lambda k, x: k(x, x, size=4), ValueError, "size is 4"),
        (lambda k, x: k(x, rnp.ones(3, np.float32)), ValueError, "broadcast"),
        (lambda k, x: k(1, 2), ValueError, "give size= or an output"),
    ],
)
def test_calls_that_do_not_fit(call, error, text):
    product = ElementwiseKernel("T x, T y", "T z", "z = x * y")
    with pytest.raises(error, match=text):
        call(product, rnp.ones(4, np.float32))


@pytest.mark.parametrize("operation", ["z[i] = x", "z = x [0] * y", "z = (x)\n * y[i] /* x[i] */"])
def test_an_index_of_an_element_is_an_error_that_says_what_to_write(operation):
    with pytest.raises(ValueError, match="the operation indexes '[xyz]', .* write '[xyz]' without an index"):
        ElementwiseKernel("T x, T y", "T z", operation)
    ElementwiseKernel("raw T x, T y", "T z", "z = x[i] + y; // y[i]")


@pytest.mark.parametrize(
    ("inputs", "outputs", "text"),
    [
        ("T x, T i", "T y", "the name 'i' stands for the index of the element; choose another one in the .* 'T i'"),
        ("T x, int32 n", "T y", "the name 'n' stands for the number of elements"),
        ("T x", "T i", "the name 'i' stands for the index"),
        ("T x, T x", "T y", "the name 'x' is used twice"),
    ],
)
def test_names_that_are_taken_are_refused(inputs, outputs, text):
    with pytest.raises(ValueError, match=text):
        ElementwiseKernel(inputs, outputs, "y = x")
    with pytest.raises(ValueError, match=text):
        ReductionKernel(inputs, outputs, "x", "a + b", "y = a", "0")


def test_compile_errors_quote_the_lines_of_the_user():
    x = rnp.ones(3, np.float32)
    cube = ElementwiseKernel("T x", "T y", "T t = x;\n  y = t + x ** 3")
    with pytest.raises(CompileError) as caught:
        cube(x)
    for text in (str(caught.value), caught.value.stderr, caught.value.args[3]):
        lines = text.splitlines()
        at = next(number for number, line in enumerate(lines) if "operation(2): error" in line) + 1
        assert lines[at].strip() == "y = t + x ** 3" and lines[at + 1].index("^") == lines[at].index("3"), text
    square = ReductionKernel("T x", "T y", "x ** 2", "a + b", "y = a", "0")
    with pytest.raises(CompileError, match=r"map_expr\(1\): error: .*\n *x \*\* 2\n"):
        square(x)
    root = ReductionKernel("T x", "T y", "x", "a + b", "y = a ** 2", "0")
    with pytest.raises(CompileError, match=r"operation\(1\): error: .*\n *y = a \*\* 2\n"):
        root(x)


def test_reductions():
    norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    x_gpu = rnp.to_gpu(x)
    np.testing.assert_allclose(norm(x_gpu).get(), np.linalg.norm(x), rtol=1e-6)
    np.testing.assert_allclose(norm(x_gpu, axis=1).get(), np.linalg.norm(x, axis=1), rtol=1e-6)
    assert norm(x_gpu.astype(np.float64), axis=0, keepdims=True).shape == (1, 4)
    out = rnp.empty(3, np.float32)
    assert norm(x_gpu, axis=1, out=out) is out and np.allclose(out.get(), np.linalg.norm(x, axis=1))
    dot = ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0)
    assert dot(x_gpu, x_gpu).get() == (x * x).sum()
    wide = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", reduce_type="int64")
    assert wide(rnp.full(300, 100, dtype=np.uint8)).get() == 30000 % 256
    with pytest.raises(ValueError, match="expected one output"):
        ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a", "0")
