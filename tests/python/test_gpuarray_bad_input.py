"""Bad input to `pycuda.gpuarray`: NumPy's class of exception, and a message with the offending values.

Beside them the operations in which bad input most often hides: in-place forms, outputs, masks and overlapping memory.
"""

import operator

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rtcg.numpy as gpuarray
from tests.python.same_body import COMPLEX, FLOATS, INTEGERS, arrays, compare, layouts, look, quickly, run, same, values


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


# What is done wrong, and the values that the message must show.
BAD = {
    "shapes of operands": (lambda xp, a: a + xp.zeros(7), ["(3, 4)", "(7,)"]),
    "shapes in place": (lambda xp, a: a.__iadd__(xp.zeros((2, 3, 4))), ["(3, 4)", "(2, 3, 4)"]),
    "shape of an output": (lambda xp, a: xp.add(a, a, out=xp.zeros(3)), ["(3,)", "(3, 4)"]),
    "dtype of an output": (lambda xp, a: xp.add(a, a, out=xp.zeros((3, 4), "i4")), ["add", "float64", "int32"]),
    "kind in place": (lambda xp, a: xp.ones(3, "i4").__itruediv__(2), ["float64", "int32"]),
    "integer out of range": (lambda xp, a: xp.ones(3, "u1") + 300, ["300", "uint8"]),
    "integer out of range in place": (lambda xp, a: xp.ones(3, "i2").__iadd__(1 << 20), [str(1 << 20), "int16"]),
    "assigned integer": (lambda xp, a: xp.ones(3, "i1").__setitem__(0, 200), ["200", "int8"]),
    "negative integer power": (lambda xp, a: xp.ones(3, "i4") ** -1, ["negative"]),
    "subtraction of truth values": (lambda xp, a: (a > 0) - (a > 1), ["boolean subtract"]),
    "bits of floats": (lambda xp, a: a & a, []),
    "shift of floats": (lambda xp, a: a << 1, []),
    "remainder of complex numbers": (lambda xp, a: xp.ones(2, "c8") % 2, []),
    "order of the axes": (lambda xp, a: a.transpose(0, 0), ["repeated"]),
    "number of axes": (lambda xp, a: a.transpose(0, 1, 2), []),
    "axis of a sum": (lambda xp, a: a.sum(axis=2), ["2"]),
    "axis twice": (lambda xp, a: a.sum(axis=(0, 0)), ["duplicate"]),
    "axis of a sort": (lambda xp, a: xp.sort(a, axis=-3), ["-3"]),
    "axis of a running sum": (lambda xp, a: xp.cumsum(a, axis=5), ["5", "2"]),
    "axis of a repetition": (lambda xp, a: xp.repeat(a, 2, axis=2), ["2"]),
    "axis of a roll": (lambda xp, a: xp.roll(a, 1, axis=4), ["4"]),
    "axis of a stack": (lambda xp, a: xp.stack([a, a], axis=5), ["5"]),
    "axis of a stack from behind": (lambda xp, a: xp.stack([a, a], axis=-5), ["-5"]),
    "axis of a split": (lambda xp, a: xp.split(a, 2, axis=2), []),
    "sections of a split": (lambda xp, a: xp.split(a, -1), []),
    "axis of what is taken": (lambda xp, a: xp.take(a, [0], axis=5), ["5"]),
    "axis along which is taken": (lambda xp, a: xp.take_along_axis(a, xp.zeros((3, 4), "i8"), axis=5), ["5"]),
    "negative length of a resize": (lambda xp, a: xp.resize(a, (-1, 2)), ["-1"]),
    "output and dtype of a concatenation": (lambda xp, a: xp.concatenate([a], out=xp.zeros((3, 4)), dtype="f8"), []),
    "new axis twice": (lambda xp, a: xp.expand_dims(a, (0, 0)), []),
    "extreme of nothing": (lambda xp, a: a[:0].max(), ["zero-size"]),
    "place in nothing": (lambda xp, a: a[:0].argmax(), ["empty"]),
    "shape of a reduction's output": (lambda xp, a: a.sum(axis=0, out=xp.zeros(3)), ["(3,)"]),
    "masked extreme without a first value": (lambda xp, a: a.max(where=a > 0), ["initial"]),
    "elements of a shape": (lambda xp, a: a.reshape(5, 3), ["12", "(5, 3)"]),
    "two unknown lengths": (lambda xp, a: a.reshape(-1, -1), ["one unknown"]),
    "unknown length that does not divide": (lambda xp, a: a.reshape(5, -1), ["12"]),
    "broadcast to less": (lambda xp, a: xp.broadcast_to(a, (4, 3)), ["(3, 4)", "(4, 3)"]),
    "length of a squeezed axis": (lambda xp, a: a.squeeze(0), []),
    "index outside": (lambda xp, a: a[3], ["3", "axis 0", "size 3"]),
    "index outside in the second axis": (lambda xp, a: a[0, -5], ["-5", "axis 1", "size 4"]),
    "too many indices": (lambda xp, a: a[0, 0, 0], ["2-dimensional", "3"]),
    "two ellipses": (lambda xp, a: a[..., ...], ["ellipsis"]),
    "step 0": (lambda xp, a: a[::0], ["zero"]),
    "index that is a float": (lambda xp, a: a[1.5], []),
    "index that is text": (lambda xp, a: a["x"], []),
    "fancy index outside": (lambda xp, a: a[[0, 7]], ["7", "axis 0", "size 3"]),
    "shapes of fancy indices": (lambda xp, a: a[[0, 1], [0, 1, 2]], ["(2,)", "(3,)"]),
    "length of a mask": (lambda xp, a: a[np.ones(4, bool)], ["0", "3", "4"]),
    "assigned shape": (lambda xp, a: a.__setitem__(slice(0, 2), xp.zeros((3, 4))), ["(3, 4)", "(2, 4)"]),
    "assigned shape through indices": (lambda xp, a: a.__setitem__([0, 1], xp.zeros(3)), ["(3,)", "(2, 4)"]),
    "assigned number of masked elements": (lambda xp, a: a.__setitem__(a > 5, xp.zeros(3)), ["3"]),
    "assigned index outside": (lambda xp, a: a.__setitem__((0, 4), 1), ["4", "axis 1", "size 4"]),
    "taken index outside": (lambda xp, a: xp.take(a, [0, 12]), ["12", "size 12"]),
    "inner lengths": (lambda xp, a: a @ a, ["4", "3"]),
    "scalar in a product": (lambda xp, a: xp.matmul(a, 2.0), []),
    "lengths of a dot product": (lambda xp, a: xp.dot(xp.ones(3), xp.ones(4)), ["3", "4"]),
    "axes of a tensor product": (lambda xp, a: xp.tensordot(a, a, axes=1), []),
    "shapes of a concatenation": (lambda xp, a: xp.concatenate([a, xp.zeros((2, 3))]), ["4", "3"]),
    "axes of a concatenation": (lambda xp, a: xp.concatenate([a, xp.zeros(4)]), []),
    "nothing to concatenate": (lambda xp, a: xp.concatenate([]), []),
    "shapes of a stack": (lambda xp, a: xp.stack([a, a[:2]]), []),
    "counts of a repetition": (lambda xp, a: xp.repeat(a, [1, 2], axis=0), ["3", "2"]),
    "negative length": (lambda xp, a: xp.zeros((2, -1)), []),
    "order": (lambda xp, a: a.copy(order="Q"), ["Q"]),
    "unknown dtype": (lambda xp, a: a.astype("float99"), ["float99"]),
    "side of a search": (lambda xp, a: xp.searchsorted(xp.arange(3), 1, side="top"), ["top"]),
    "axes of a search": (lambda xp, a: xp.searchsorted(a, 1), []),
    "diagonal of a line": (lambda xp, a: xp.zeros(3).diagonal(), ["two"]),
    "differences of order -1": (lambda xp, a: xp.diff(a, n=-1), ["-1"]),
    "truth of several": (lambda xp, a: bool(a), ["ambiguous"]),
    "one of several": (lambda xp, a: float(a), []),
    "item of several": (lambda xp, a: a.item(), []),
    "size of a view": (lambda xp, a: a[:, :3].view("c16"), []),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    body, shown = BAD[what]
    host = np.arange(12.0).reshape(3, 4)
    _, wanted = run(body, np, [host.copy()])
    assert wanted is not None, "NumPy takes it"
    _, error = run(body, gpuarray, [gpuarray.to_gpu(host)])
    kinds = (IndexError, OverflowError, TypeError, ValueError)
    assert isinstance(error, tuple(k for k in kinds if isinstance(wanted, k))), f"NumPy: {wanted!r}, ours: {error!r}"
    missing = [value for value in shown if value not in str(error)]
    assert not missing, f"{error} does not show {missing}"


IN_PLACE = [
    getattr(operator, f"i{name}")
    for name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()
    if hasattr(operator, f"i{name}")
] + [operator.iand, operator.ior, operator.ixor]
DTYPES = [np.dtype("?"), *INTEGERS[1::2], *FLOATS, COMPLEX[0]]


def tolerance(*dtypes):
    return 2e-3 if any(d.itemsize == 2 and d.kind == "f" for d in dtypes) else 2e-5


@quickly
@given(st.sampled_from(IN_PLACE), arrays(DTYPES), st.data())
def test_in_place_with_arrays(op, x, data):
    y = data.draw(arrays([x.host.dtype, np.dtype("i4"), np.dtype("f4")], shape=x.host.shape))
    bounded = op in (operator.ipow, operator.ilshift, operator.irshift)

    def body(xp, a, b):
        return op(a, abs(b) % 3 if bounded and b.dtype.kind in "iu" else abs(b) if bounded else b)

    if bounded and (y.host.dtype.kind not in "iu" or x.host.dtype.kind == "c"):
        return
    same(body, x, y, rtol=tolerance(x.host.dtype, y.host.dtype))


@quickly
@given(st.sampled_from(IN_PLACE[:6]), arrays(DTYPES), st.sampled_from([2, 300, -1, 0.5, 1j, True, np.int8(3)]))
def test_in_place_with_scalars(op, x, scalar):
    def body(xp, a):
        return op(a, scalar)

    same(body, x, rtol=tolerance(x.host.dtype))


@quickly
@given(arrays(DTYPES), st.sampled_from([2, -3, 2.5, np.float32(1.5), np.uint8(7)]), st.booleans())
def test_divmod_with_scalars(x, scalar, reflected):
    def body(xp, a):
        return divmod(scalar, a) if reflected else divmod(a, scalar)

    same(body, x)


@quickly
@given(arrays([np.dtype("f4"), np.dtype("i4"), np.dtype("c8")], max_ndim=2), st.data())
def test_outputs_of_other_dtypes_and_layouts(x, data):
    out_dtype = data.draw(st.sampled_from([np.dtype(t) for t in ("f8", "f4", "c16", "i8", "f2")]))
    out = data.draw(arrays([out_dtype], shape=x.host.shape))

    def body(xp, a, out):
        result = xp.multiply(a, a + 1, out=out)
        assert result is out
        return out

    same(body, x, out, rtol=2e-3)


@quickly
@given(st.sampled_from("sum prod max min any all mean".split()), arrays(DTYPES, min_ndim=1), st.data())
def test_reductions_with_masks_outputs_and_first_values(name, x, data):
    axis = data.draw(st.sampled_from([None, 0, -1, tuple(range(x.host.ndim))]))
    keepdims, with_out = data.draw(st.booleans()), data.draw(st.booleans())
    mask = data.draw(arrays([np.dtype("?")], shape=x.host.shape))
    with_initial = name in ("sum", "prod", "max", "min") and data.draw(st.booleans())

    def body(xp, a, mask):
        wishes = {"initial": 2} if with_initial else {}
        if with_out:
            shape = getattr(a, name)(axis=axis, keepdims=keepdims, where=mask, **wishes).shape
            out = xp.zeros(shape, np.complex64 if a.dtype.kind == "c" else np.float64)
            getattr(a, name)(axis=axis, keepdims=keepdims, where=mask, out=out, **wishes)
            return out
        return getattr(a, name)(axis=axis, keepdims=keepdims, where=mask, **wishes)

    same(body, x, mask, rtol=2e-3)


@quickly
@given(st.sampled_from([np.dtype("i4"), np.dtype("u1"), np.dtype("f8")]), st.data())
def test_overlapping_views_as_operands_and_outputs(dtype, data):
    """Source, second operand and output are drawn views of one memory."""
    base = values(dtype, (6, 6), data.draw(st.integers(0, 999)))
    places = [(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in range(3)]
    looks = [data.draw(layouts(2)) for _ in range(3)]
    # All views have the shape (3, 3) before they are turned; steps of 2 would leave the memory.
    looks = [(order, tuple(1 if step > 0 else -1 for step in steps)) for order, steps in looks]

    def body(xp, memory):
        views = [look(memory[r : r + 3, c : c + 3], at) for (r, c), at in zip(places, looks, strict=True)]
        xp.add(views[0], views[1], out=views[2])
        views[0][...] = views[2]
        views[1][1:] += views[0][:-1]
        return memory

    compare(body(gpuarray, gpuarray.to_gpu(base)), body(np, base.copy()))


@quickly
@given(st.sampled_from([np.dtype("i8"), np.dtype("f4")]), st.data())
def test_fancy_assignment_from_the_array_itself(dtype, data):
    base = values(dtype, (5, 4), data.draw(st.integers(0, 999)))
    index = data.draw(st.lists(st.integers(-5, 4), min_size=1, max_size=5, unique_by=lambda i: i % 5))

    def body(xp, memory):
        memory[index] = memory[index[::-1]]
        memory[:, [3, 0]] = memory[:, [0, 3]]
        memory[memory > 2] = 0
        return memory

    compare(body(gpuarray, gpuarray.to_gpu(base)), body(np, base.copy()))
