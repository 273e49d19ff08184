"""The array object of the Array API standard: attributes, conversions, indices, DLPack, products."""

import numpy as np
import pytest
from array_api_reference import ALL, COMPLEX, INTEGERS, agree, allowed, arrays, few, ours, same_value, strict
from depth import some
from hypothesis import given, strategies as st


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


@given(data=st.data())
@few
def test_attributes(data):
    x = data.draw(arrays(data.draw(st.sampled_from(ALL))))
    agree(lambda xp, x: (x.shape, x.ndim, x.size, x.dtype), x)
    if x.ndim == 2:
        agree(lambda xp, x: x.T, x)
    if x.ndim >= 2:
        agree(lambda xp, x: x.mT, x)
    device = ours.asarray(x)
    assert device.to_device(device.device).device == device.device
    with pytest.raises(ValueError, match="nowhere"):
        device.to_device("nowhere")


@pytest.mark.parametrize("dtype", ALL)
def test_conversions_to_python(dtype):
    x = ours.asarray(np.asarray(1, dtype))
    wanted = strict.asarray(np.asarray(1, dtype))
    for convert in (bool, complex, *([int, float] if dtype not in COMPLEX else [])):
        same_value(convert(x), convert(wanted))
    if dtype in INTEGERS:
        assert [7, 8][x] == 8 and x.__index__() == 1
    else:
        with pytest.raises(TypeError):
            x.__index__()
    # NumPy's class for the truth value of several elements is ValueError.
    for convert in (bool, int, float):
        with pytest.raises((TypeError, ValueError) if convert is bool else TypeError):
            convert(ours.asarray(np.ones(2, dtype)))
    if dtype in COMPLEX:
        for convert in (int, float):
            with pytest.raises(TypeError):
                convert(x)


@st.composite
def basic_index(draw, shape):
    items = []
    for length in shape:
        bound = st.none() | st.integers(-length, length)
        pick = st.builds(slice, bound, bound, st.sampled_from([None, 1, 2]))
        # The standard leaves bounds that lie outside, and what a negative step does with them, open.
        turned = st.just(slice(None, None, -1))
        items.append(draw(pick | turned | (st.integers(-length, length - 1) if length else turned)))
    if draw(st.booleans()):
        cut = sorted([draw(st.integers(0, len(items))), draw(st.integers(0, len(items)))])
        items[cut[0] : cut[1]] = [...]
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
        # The standard wants new axes beside all axes or an ellipsis.
        items += [] if ... in items else [...]
    return tuple(items)


@pytest.mark.parametrize("dtype", ALL)
@given(data=st.data())
@few
def test_basic_indices(dtype, data):
    x = data.draw(arrays(dtype))
    index = data.draw(basic_index(x.shape))
    agree(lambda xp, x: x[index], x)
    # The reference takes no new axes on the left.
    index = tuple(item for item in index if item is not None)

    def assigned(xp, x, value):
        x[index] = value
        return x

    agree(assigned, x, np.asarray(1, dtype))
    scalar = {"b": True, "i": 3, "u": 3, "f": 2.5, "c": 1.5 - 1j}[x.dtype.kind]
    agree(lambda xp, x: assigned(xp, x, scalar), x)


@pytest.mark.parametrize("dtype", ALL)
@given(data=st.data())
@few
def test_masks_and_index_arrays(dtype, data):
    x = data.draw(arrays(dtype, min_ndim=1))
    mask = data.draw(arrays("bool", shape=x.shape))
    agree(lambda xp, x, mask: x[mask], x, mask)

    def assigned(xp, x, mask):
        x[mask] = xp.asarray(1, dtype=x.dtype)
        return x

    agree(assigned, x, mask)
    if 0 not in x.shape:
        shape = data.draw(st.sampled_from([(3,), (2, 2), (0,)]))
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        indices = [rng.integers(-length, length, shape) for length in x.shape]
        agree(lambda xp, x, *indices: x[tuple(indices)], x, *indices)


MASKS = [
    ((3, 4), (), [True]), ((3, 4), (), [False]), ((), (), [True]), ((), (), [False]), ((0, 3), (), [True]),
    ((3, 4), (0,), []), ((3, 4), (3, 0), []), ((3, 4), (0, 4), []), ((3, 4), (0, 0), []), ((3,), (0,), []),
]  # fmt: skip


@pytest.mark.parametrize("shape, mask_shape, mask", MASKS)
def test_masks_without_axes_and_of_length_0(shape, mask_shape, mask):
    x = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    mask = np.array(mask, bool).reshape(mask_shape)
    device = ours.asarray(x.copy())
    taken = device[ours.asarray(mask)]
    assert taken.shape == x[mask].shape and (taken.get() == x[mask]).all()
    expected = x.copy()
    expected[mask] = 7
    device[ours.asarray(mask)] = 7
    assert (device.get() == expected).all()


@pytest.mark.parametrize(
    "index",
    [(slice(None), True), (None, True), (True, 1), (1, True), (..., False), (True, [0, 2]), (True, False), True, False],
    ids=str,
)
def test_truth_values_among_other_indices(index):
    x = np.arange(12).reshape(3, 4)
    items = index if isinstance(index, tuple) else (index,)
    on_device = tuple(ours.asarray(item) if isinstance(item, (bool, list)) else item for item in items)
    for key in (index, on_device):
        taken = ours.asarray(x)[key]
        assert taken.shape == x[index].shape and (taken.get() == x[index]).all(), key


def test_masks_that_do_not_fit():
    x = ours.zeros((3, 4))
    with pytest.raises(IndexError, match="axis 1; size of axis is 4 but size of corresponding boolean axis is 7"):
        x[ours.zeros((0, 7), dtype=ours.bool)]
    with pytest.raises(IndexError, match="array is 1-dimensional, but the mask of shape"):
        x[0, :][ours.zeros((4, 0), dtype=ours.bool)]


@pytest.mark.parametrize("dtype", ["uint16", "float64", "complex128"])
def test_dlpack_of_reshaped_single_elements(dtype):
    x = np.ones(1, dtype)
    for shape in ((1,), (1, 1), ()):
        for order in "CF":
            a = ours.asarray(x).reshape(shape, order=order)
            assert a.strides == x.reshape(shape, order=order).strides
            assert ours.from_dlpack(a).shape == shape
            assert ours.from_dlpack(a[None]).get() == 1


@pytest.mark.parametrize("dtype", ALL)
def test_dlpack(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    a = ours.asarray(x)
    assert a.__dlpack_device__() == (2, a.device.__index__() if hasattr(a.device, "__index__") else 0)
    b = ours.from_dlpack(a)
    b[0, 0] = 1
    assert a.get()[0, 0] == np.asarray(1, dtype) and b.dtype == a.dtype and b.shape == a.shape
    c = ours.from_dlpack(a, copy=True, device=a.device)
    c[0, 0] = 0
    assert a.get()[0, 0] == np.asarray(1, dtype)
    # To the host: device type 1 of DLPack.
    host = np.from_dlpack(_HostOf(a))
    np.testing.assert_array_equal(host, a.get())
    a.__dlpack__(stream=None, max_version=(1, 0), dl_device=a.__dlpack_device__(), copy=False)
    if a.device.is_virtual:
        # Its memory is host memory (test_exports.py).
        assert a.__dlpack__(dl_device=(1, 0), copy=False) is not None
    else:
        with pytest.raises((BufferError, ValueError)):
            a.__dlpack__(dl_device=(1, 0), copy=False)


class _HostOf:
    """Gives an array to a library of the host."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **wishes):
        return self.array.__dlpack__(dl_device=(1, 0), max_version=(1, 0))


@pytest.mark.parametrize("dtype", some(allowed(lambda xp, make: xp.matmul(make(), make())), 3))
@given(data=st.data())
@few
def test_products(dtype, data):
    n, k, m = (data.draw(st.integers(0, 3)) for _ in range(3))
    stack = tuple(data.draw(st.lists(st.integers(1, 2), max_size=1)))
    x, y = data.draw(arrays(dtype, shape=(*stack, n, k))), data.draw(arrays(dtype, shape=(k, m)))
    agree(lambda xp, x, y: (x @ y, xp.matmul(x, y)), x, y, ulps=16)
    agree(lambda xp, x, y: xp.tensordot(x, y, axes=1), x, y, ulps=16)
    agree(lambda xp, x, y: xp.tensordot(x, y, axes=((-1,), (0,))), x, y, ulps=16)
    agree(lambda xp, x, y: xp.tensordot(x, y, axes=0), x, y, ulps=16)
    agree(lambda xp, x, y: x[..., 0, :] @ y if n else x, x, y, ulps=16)
    z = data.draw(arrays(dtype, shape=x.shape))
    agree(lambda xp, x, z: xp.vecdot(x, z), x, z, ulps=16)
    agree(lambda xp, x, z: xp.vecdot(x, z, axis=-2), x, z, ulps=16)
    agree(lambda xp, x, z: (xp.matrix_transpose(x), x.mT), x, z)
