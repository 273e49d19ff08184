"""CUDA arrays, textures and surfaces: descriptors and constructors; part of `rtcg.driver`."""

from __future__ import annotations

import operator

from rtcg._enums import address_mode as address_mode, array3d_flags, array_format, filter_mode as filter_mode
from rtcg._lazy import np
from rtcg._messages import shown
from rtcg._native import Array, Memcpy2D, Memcpy3D, MipmappedArray, TextureObject, TextureReference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import DTypeLike, NDArray

    from rtcg._native import _DevicePointer

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TRSF_SRGB = 0x10
TRSF_SEAMLESS_CUBEMAP = 0x40
TR_DEFAULT = -1


class ArrayDescriptor:
    """Shape and format of a one- or two-dimensional CUDA array (height 0 means one dimension)."""

    def __init__(self) -> None:
        self.width = self.height = self.num_channels = 0
        self.format = array_format.UNSIGNED_INT8


class ArrayDescriptor3D(ArrayDescriptor):
    """Shape, format and `array3d_flags` of any CUDA array."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.flags = 0


_ARRAY_FORMATS = {
    "uint8": "UNSIGNED_INT8", "uint16": "UNSIGNED_INT16", "uint32": "UNSIGNED_INT32", "int8": "SIGNED_INT8",
    "int16": "SIGNED_INT16", "int32": "SIGNED_INT32", "float16": "HALF", "float32": "FLOAT",
}  # fmt: skip

# Types that textures do not have travel as integers, which kernels put together again.
_INTEGER_CHANNELS = {"float64": 2, "complex64": 2, "complex128": 4}


def dtype_to_array_format(dtype: DTypeLike) -> array_format:
    """The `array_format` (int) of a dtype of 8, 16 or 32-bit integers, float16 or float32, else raises `TypeError`."""
    if dtype is None:
        raise ValueError("dtype may not be None")
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in _ARRAY_FORMATS:
        raise TypeError(
            f"cannot convert dtype {shown(name)} to an array format; expected one of {', '.join(_ARRAY_FORMATS)}"
        )
    return getattr(array_format, _ARRAY_FORMATS[name])


def _format_and_channels(dtype: DTypeLike, hack: bool) -> tuple[array_format, int]:
    """The pair (format, channels)."""
    name = np.dtype(dtype).name
    if hack and name in _INTEGER_CHANNELS:
        return array_format.SIGNED_INT32, _INTEGER_CHANNELS[name]
    return dtype_to_array_format(dtype), 1


def _check_order(order: str) -> None:
    if order not in ("C", "F"):
        raise ValueError(f"order is {shown(order)}; expected 'C' or 'F'")


def check_is_array(array: object, name: str) -> None:
    """Raise `TypeError`, naming the argument, if it is not an array."""
    if not (hasattr(array, "shape") and hasattr(array, "dtype")):
        raise TypeError(f"{name} is of type {type(array).__name__}; expected an array")


def _as_contiguous(ary: Any, order: Any) -> NDArray[Any]:
    """`ary` in the given order, copied if it is not."""
    return np.asarray(ary, order=order)


def matrix_to_array(matrix: NDArray[Any], order: str, allow_double_hack: bool = False) -> Array:
    """A two-dimensional CUDA array with the contents of `matrix`; waits for the copy.

    Parameters
    ----------
    matrix : numpy.ndarray
        Two-dimensional, with a dtype that `dtype_to_array_format` accepts.
    order : {"C", "F"}
        "C": texel (x, y) is ``matrix[y, x]``; "F": it is ``matrix[x, y]``.
    allow_double_hack : bool
        Store float64 as two int32 channels.

    Returns
    -------
    Array
        Of ``matrix.shape``, transposed for order "F".

    Raises
    ------
    TypeError
        If `matrix` is not an array, or its dtype has no format.
    ValueError
        If it does not have two dimensions, or `order` is neither "C" nor "F".
    """
    _check_order(order)
    check_is_array(matrix, "matrix")
    if matrix.ndim != 2:
        raise ValueError(f"matrix has {matrix.ndim} dimensions; expected two")
    hack = allow_double_hack and matrix.dtype == np.float64
    descr = ArrayDescriptor()
    descr.height, descr.width = matrix.shape if order == "C" else matrix.shape[::-1]
    descr.format, descr.num_channels = _format_and_channels(matrix.dtype, hack)
    ary = Array(descr)
    _copy_rows_to_array(ary, _as_contiguous(matrix, order), descr.width * matrix.dtype.itemsize, descr.height, 1)
    return ary


def _copy_rows_to_array(ary: Array, rows: Any, row_bytes: int, height: int, depth: int) -> None:
    """Copy contiguous rows, on the host or on the device, to an array."""
    copy: Any = Memcpy3D() if depth > 1 else Memcpy2D()
    if hasattr(rows, "gpudata"):
        copy.set_src_device(rows.gpudata)
    else:
        copy.set_src_host(rows)
    copy.set_dst_array(ary)
    copy.src_pitch = copy.width_in_bytes = row_bytes
    copy.height = max(height, 1)
    if depth > 1:
        copy.src_height = max(height, 1)
        copy.depth = depth
        copy()
    else:
        copy(aligned=True)


def _array_descriptor(shape: Sequence[int], dtype: DTypeLike, order: str, surface: bool) -> ArrayDescriptor3D:
    """The descriptor of an array with two or three dimensions of single elements."""
    _check_order(order)
    if len(shape) not in (2, 3):
        raise ValueError(f"the array has {len(shape)} dimensions; expected two or three")
    slowest_first = shape if order == "C" else shape[::-1]
    descr = ArrayDescriptor3D()
    descr.width, descr.height = slowest_first[-1], slowest_first[-2]
    descr.depth = slowest_first[0] if len(shape) == 3 else 0
    descr.format, descr.num_channels = _format_and_channels(dtype, True)
    if surface:
        descr.flags |= array3d_flags.SURFACE_LDST
        if len(shape) == 2:
            descr.flags |= array3d_flags.ARRAY3D_LAYERED
            descr.depth = 1
    return descr


def np_to_array(nparray: NDArray[Any], order: str, allowSurfaceBind: bool = False) -> Array:  # noqa: N803 (the name is PyCUDA's)
    """A CUDA array with the contents of a two- or three-dimensional ndarray; waits for the copy.

    float64 and complex64 become two int32 channels, complex128 four; other dtypes are those of `dtype_to_array_format`.
    With order "C" texel (x, y, z) is ``nparray[z, y, x]``, with "F" it is ``nparray[x, y, z]``. With `allowSurfaceBind`
    surfaces can be bound; two dimensions then give a layered array with one layer. Raises `ValueError` for other
    numbers of dimensions and other orders.
    """
    check_is_array(nparray, "nparray")
    descr = _array_descriptor(nparray.shape, nparray.dtype, order, allowSurfaceBind)
    ary = Array(descr)
    row = descr.width * nparray.dtype.itemsize
    _copy_rows_to_array(ary, _as_contiguous(nparray, order), row, descr.height, descr.depth)
    return ary


def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array:  # noqa: N803 (the name is PyCUDA's)
    """Like `np_to_array`, from an array on the device; raises `ValueError` if that is not contiguous in `order`."""
    _check_order(order)
    check_is_array(gpuarray, "gpuarray")
    if not _is_contiguous(gpuarray, order):
        raise ValueError(f"the array is not contiguous in order {shown(order)}")
    descr = _array_descriptor(gpuarray.shape, gpuarray.dtype, order, allowSurfaceBind)
    ary = Array(descr)
    copy = Memcpy3D()
    copy.set_src_device(gpuarray.gpudata)
    copy.set_dst_array(ary)
    copy.src_pitch = copy.width_in_bytes = descr.width * gpuarray.dtype.itemsize
    copy.src_height = copy.height = descr.height
    copy.depth = max(descr.depth, 1)
    copy()
    return ary


def make_multichannel_2d_array(ndarray: Any, order: str) -> Array:
    """A CUDA array whose texels have several channels.

    `ndarray` has the shape (height, width, channels) in order "C", (channels, width, height) in order "F", with 1, 2 or
    4 channels, and a dtype that `dtype_to_array_format` accepts. An array on the device must be contiguous in that
    order. Waits for the copy. Raises `ValueError` for other numbers of dimensions, and `LogicError` for other numbers
    of channels.
    """
    _check_order(order)
    check_is_array(ndarray, "ndarray")
    if ndarray.ndim != 3:
        raise ValueError(f"the array has {ndarray.ndim} dimensions; expected three")
    descr = ArrayDescriptor()
    shape = ndarray.shape if order == "C" else ndarray.shape[::-1]
    descr.height, descr.width, descr.num_channels = shape
    descr.format = dtype_to_array_format(ndarray.dtype)
    on_device = hasattr(ndarray, "gpudata")
    if on_device and not _is_contiguous(ndarray, order):
        raise ValueError(f"the array is not contiguous in order {shown(order)}")
    ary = Array(descr)
    row = descr.width * descr.num_channels * ndarray.dtype.itemsize
    _copy_rows_to_array(ary, ndarray if on_device else _as_contiguous(ndarray, order), row, descr.height, 1)
    return ary


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Bind an array, with coordinates clamped to the edge and without filtering.

    `texref` keeps `ary` alive. Raises `TypeError` unless the arguments are an `Array` and a `TextureReference`.
    """
    if not isinstance(ary, Array):
        raise TypeError(f"ary is of type {type(ary).__name__}; expected an Array")
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref is of type {type(texref).__name__}; expected a TextureReference")
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix: NDArray[Any], texref: TextureReference, order: str) -> None:
    """Bind a new array with the contents of `matrix`, made by `matrix_to_array`, to `texref`; waits for the copy.

    Returns None; the array is kept alive as long as it is bound. Errors are those of `matrix_to_array`.
    """
    bind_array_to_texref(matrix_to_array(matrix, order), texref)


def bind_to_texref(ary: Any, texref: TextureReference, allow_offset: bool = False) -> int:
    """Bind an array on the device to a texture reference of the same dtype; returns the offset in elements.

    See `bind_to_texref_ext`; this function uses the format of the reference.
    """
    return texref.set_address(ary.gpudata, _contiguous_nbytes(ary), allow_offset) // ary.dtype.itemsize


def bind_to_texref_ext(
    ary: Any,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> int:
    """Bind an array on the device to a texture reference, as linear memory.

    Parameters
    ----------
    ary : GPUArray
        Contiguous; it is not kept alive.
    texref : TextureReference
    channels : int
        The number of elements per texel.
    allow_double_hack, allow_complex_hack : bool
        Bind float64 as two int32 channels, complex64 as two uint32 ones and complex128 as four int32 ones, for
        ``fp_tex_double``, ``fp_tex_cfloat`` and ``fp_tex_cdouble`` of ``pycuda-helpers.hpp``.
    allow_offset : bool
        Allow the array to begin at an address that is not aligned for textures, which is otherwise an error.

    Returns
    -------
    int
        The number of elements to add to indices.
    """
    name = ary.dtype.name
    as_integers = {"float64": allow_double_hack, "complex64": allow_complex_hack, "complex128": allow_complex_hack}
    if as_integers.get(name, False):
        if channels != 1:
            raise ValueError(f"channels is {channels}; expected 1 for {name}, which takes several itself")
        n_channels = _INTEGER_CHANNELS[name]
        fmt = array_format.UNSIGNED_INT32 if name == "complex64" else array_format.SIGNED_INT32
        read_as_integer = True
    else:
        fmt, n_channels = dtype_to_array_format(ary.dtype), channels
        read_as_integer = np.issubdtype(ary.dtype, np.integer)
    offset = texref.set_address(ary.gpudata, _contiguous_nbytes(ary), allow_offset)
    texref.set_format(fmt, n_channels)
    if read_as_integer:
        texref.set_flags(texref.get_flags() | TRSF_READ_AS_INTEGER)
    return offset // ary.dtype.itemsize


def _is_contiguous(ary: Any, order: str) -> bool:
    """Whether the elements are contiguous in this order."""
    step = ary.dtype.itemsize
    axes = list(zip(ary.shape, ary.strides, strict=True))
    for length, stride in reversed(axes) if order == "C" else axes:
        if length != 1 and stride != step:
            return False
        step *= length
    return True


def _contiguous_nbytes(ary: Any) -> int:
    if not (_is_contiguous(ary, "C") or _is_contiguous(ary, "F")):
        raise ValueError("the array is not contiguous; textures read linear memory only if it is")
    return ary.size * ary.dtype.itemsize


def _enum_number(name: str, value: Any) -> int:
    """The number of an `address_mode` or `filter_mode`."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; expected one of rtcg.driver.{name}") from None


def texture_object(
    source: Array | MipmappedArray | _DevicePointer,
    *,
    descr: ArrayDescriptor | None = None,
    pitch: int | None = None,
    nbytes: int | None = None,
    address_mode: int | Sequence[int] = address_mode.CLAMP,
    filter_mode: int = filter_mode.POINT,
    flags: int = 0,
    mipmap_filter_mode: int = filter_mode.POINT,
    mipmap_level_bias: float = 0.0,
    mipmap_level_clamp: tuple[float, float] = (0.0, 1000.0),
    max_anisotropy: int = 0,
    border_color: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
) -> TextureObject:
    """A texture object, which kernels accept as a `cudaTextureObject_t` (an addition to PyCUDA).

    Parameters
    ----------
    source : Array, MipmappedArray or device memory
        The memory to sample; kept alive as long as the object.
    descr : ArrayDescriptor, optional
        The format of device memory and, with `pitch`, its width and height.
    pitch : int, optional
        The distance between rows in bytes; without it device memory is one-dimensional.
    nbytes : int, optional
        Size of one-dimensional device memory (default: that of the allocation).
    address_mode : address_mode or sequence of three
        The handling of coordinates out of range, per dimension.
    filter_mode, mipmap_filter_mode : filter_mode
        The filters within a mip level and between levels.
    flags : int
        `TRSF_READ_AS_INTEGER`, `TRSF_NORMALIZED_COORDINATES`, `TRSF_SRGB`, `TRSF_SEAMLESS_CUBEMAP`.
    mipmap_level_bias, mipmap_level_clamp, max_anisotropy, border_color
        As in ``CUDA_TEXTURE_DESC``.
    """
    several: Any = address_mode if np.iterable(address_mode) and not isinstance(address_mode, str) else [address_mode]
    modes = [_enum_number("address_mode", m) for m in several]
    sampling = {
        "address_mode": (modes + modes[-1:] * 3)[:3],
        "filter_mode": _enum_number("filter_mode", filter_mode),
        "flags": int(flags),
        "mipmap_filter_mode": _enum_number("filter_mode", mipmap_filter_mode),
        "mipmap_level_bias": float(mipmap_level_bias),
        "mipmap_level_clamp": tuple(map(float, mipmap_level_clamp)),
        "max_anisotropy": int(max_anisotropy),
        "border_color": [float(c) for c in border_color],
    }
    if descr is None:
        if not isinstance(source, (Array, MipmappedArray)):
            kind = type(source).__name__
            raise TypeError(f"source is of type {kind}; expected an Array or MipmappedArray, or descr= beside memory")
        made = TextureObject._from_array(source, sampling)
        # What a tuner makes another one from.
        made._made_from = source, sampling
        return made
    memory: Any = source
    if pitch is not None:
        return TextureObject._from_pitched(memory, pitch, descr, sampling)
    nbytes = memory.nbytes if nbytes is None else nbytes
    return TextureObject._from_linear(memory, nbytes, int(descr.format), descr.num_channels, sampling)
