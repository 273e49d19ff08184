"""Small modules beside the driver: `_pvt_struct`, `compyte.array`, `characterize`, `_cluda`, `_mymako`."""

import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pycuda import _pvt_struct
from pycuda.compyte import array as strided


def test_struct_follows_c():
    class Mixed(ctypes.Structure):
        _fields_ = [("a", ctypes.c_byte), ("b", ctypes.c_double), ("c", ctypes.c_float * 2), ("d", ctypes.c_void_p)]

    assert _pvt_struct.calcsize("bdFP") == ctypes.sizeof(Mixed) == _pvt_struct.Struct("bdFP").size
    packed = _pvt_struct.pack("bdFP", -3, 0.5, 1 + 2j, 0xABCDEF)
    mixed = Mixed.from_buffer_copy(packed)
    assert (mixed.a, mixed.b, list(mixed.c), mixed.d) == (-3, 0.5, [1, 2], 0xABCDEF)
    assert _pvt_struct.unpack("bdFP", packed) == (-3, 0.5, 1 + 2j, 0xABCDEF)


@given(st.lists(st.sampled_from("bBhHiIlLqQnNfd?x"), max_size=8))
def test_struct_agrees_with_pythons(letters):
    text = "".join(letters)
    values = [1] * len(text.replace("x", ""))
    assert _pvt_struct.pack(text, *values) == struct.pack("@" + text, *values)
    assert _pvt_struct.unpack(text, struct.pack("@" + text, *values)) == tuple(values)


def test_struct_takes_what_kernels_take():
    class Pointer:
        def __index__(self):
            return 77

    assert _pvt_struct.unpack("P", _pvt_struct.pack("P", Pointer())) == (77,)
    blob = np.arange(3, dtype=np.int16)
    assert _pvt_struct.pack("6s", blob) == blob.tobytes()
    assert _pvt_struct.unpack("2D", _pvt_struct.pack("2D", 1j, np.complex64(2))) == (1j, 2)
    buffer = bytearray(12)
    _pvt_struct.pack_into("i", buffer, 4, 9)
    assert _pvt_struct.unpack_from("i", buffer, 4) == (9,) and bytes(buffer[:4]) == bytes(4)
    _pvt_struct._clearcache()


@pytest.mark.parametrize(
    "format, values", [("i", ()), ("i", (1, 2)), ("b", (1000,)), ("F", ("x",)), ("k", (1,)), ("<i", (1,)), ("s", (3,))]
)
def test_struct_refuses(format, values):
    with pytest.raises(_pvt_struct.error):
        _pvt_struct.pack(format, *values)


SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(SHAPES)
def test_strides_are_numpys(shape):
    if 0 in shape:
        return
    assert strided.c_contiguous_strides(8, shape) == np.zeros(shape, order="C").strides
    assert strided.f_contiguous_strides(8, shape) == np.zeros(shape, order="F").strides


@given(SHAPES, st.data())
def test_flags_and_bounds_are_numpys(shape, data):
    base = np.zeros((5, 6, 7, 8)[: len(shape)], np.int32)
    for axis in range(base.ndim):
        step = data.draw(st.sampled_from([1, 1, 2, -1]))
        index = [slice(None)] * base.ndim
        index[axis] = slice(None, shape[axis]) if step == 1 else slice(None, None, step)
        base = base[tuple(index)]
    base = base.transpose(data.draw(st.permutations(range(base.ndim))))
    flags = strided.ArrayFlags(base)
    assert flags.c_contiguous == base.flags.c_contiguous and flags.f_contiguous == base.flags.f_contiguous
    assert flags.forc == base.flags.forc
    assert strided.is_c_contiguous_strides(base.strides, 4, base.shape) == base.flags.c_contiguous
    assert strided.is_f_contiguous_strides(base.strides, 4, base.shape) == base.flags.f_contiguous
    if base.size:
        assert strided.bound(base) == np.lib.array_utils.byte_bounds(base)


def test_equal_strides():
    assert strided.equal_strides((8, 4), (99, 4), (1, 2)) and not strided.equal_strides((8, 4), (8, 8), (2, 2))
    assert strided.equal_strides((8, 4), (1, 2), (0, 3)) and not strided.equal_strides((8,), (8, 4), (2, 2))


def test_sharing_and_views():
    a = np.arange(12.0)
    assert strided.may_share_memory(a, a) and strided.may_share_memory(a[:6], a[5:])
    assert not strided.may_share_memory(a[:6], a[6:])
    windows = strided.as_strided(a, shape=(10, 3), strides=(8, 8))
    assert np.array_equal(windows, np.lib.stride_tricks.sliding_window_view(a, 3)) and np.shares_memory(windows, a)
    records = np.zeros(4, [("x", np.int32), ("y", np.float32)])
    records["x"] = range(4)
    assert strided.as_strided(records, shape=(2,), strides=(16,))["x"].tolist() == [0, 2]


def test_common_dtype():
    f4, f8 = np.zeros(1, np.float32), np.zeros(1, np.float64)
    assert strided.get_common_dtype(f4, f8, True) == np.float64
    assert strided.get_common_dtype(f4, f8, False) == np.float32
    assert strided.get_common_dtype(f4, 2.5, True) == np.float32
    assert strided.get_common_dtype(f8, 1j, False) == np.complex64


@pytest.mark.usefixtures("context")
class TestOnADevice:
    def test_characterize(self):
        from pycuda import characterize
        from pycuda.compiler import CompileError

        assert characterize.platform_bits() == 8 * ctypes.sizeof(ctypes.c_void_p)
        assert characterize.has_stack() and characterize.has_double_support()
        assert characterize.sizeof("double") == 8 and characterize.sizeof("pycuda::complex<double>") == 16
        assert characterize.sizeof("pair", "struct pair { char a; double b; };") == 16
        with pytest.raises(CompileError):
            characterize.sizeof("no_such_type")

    def test_macros_make_a_kernel(self):
        import pycuda.driver as cuda
        from pycuda._cluda import CLUDA_PREAMBLE
        from pycuda.compiler import SourceModule

        source = (
            CLUDA_PREAMBLE
            + """
            WITHIN_KERNEL int twice(int x) { return 2 * x; }
            KERNEL REQD_WG_SIZE(8, 1, 1) void reverse(GLOBAL_MEM int *a)
            {
                LOCAL_MEM int tile[8];
                tile[LID_0] = twice(a[GID_0 * LDIM_0 + LID_0]);
                local_barrier();
                a[GID_0 * LDIM_0 + LID_0] = tile[LDIM_0 - 1 - LID_0] + GDIM_0;
            }
            """
        )
        a = np.arange(16, dtype=np.int32)
        expected = 2 * a.reshape(2, 8)[:, ::-1].ravel() + 2
        reverse = SourceModule(source, no_extern_c=True).get_function("reverse")
        reverse(cuda.InOut(a), block=(8, 1, 1), grid=(2, 1))
        assert np.array_equal(a, expected)


def test_mako_is_passed_on():
    try:
        import mako  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install mako"):
            import pycuda._mymako
    else:
        import pycuda._mymako  # noqa: F401
