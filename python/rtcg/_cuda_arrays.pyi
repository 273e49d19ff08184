from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike, NDArray

from rtcg._enums import address_mode as address_mode, array_format, filter_mode as filter_mode
from rtcg._native import Array, MipmappedArray, TextureObject, TextureReference, _DevicePointer

TRSA_OVERRIDE_FORMAT: int
TRSF_READ_AS_INTEGER: int
TRSF_NORMALIZED_COORDINATES: int
TRSF_SRGB: int
TRSF_SEAMLESS_CUBEMAP: int
TR_DEFAULT: int

class ArrayDescriptor:
    width: int
    height: int
    format: array_format
    num_channels: int
    def __init__(self) -> None: ...

class ArrayDescriptor3D(ArrayDescriptor):
    depth: int
    flags: int
    def __init__(self) -> None: ...

def dtype_to_array_format(dtype: DTypeLike) -> array_format: ...
def check_is_array(array: object, name: str) -> None: ...
def matrix_to_array(matrix: NDArray[Any], order: str, allow_double_hack: bool = False) -> Array: ...
def np_to_array(nparray: NDArray[Any], order: str, allowSurfaceBind: bool = False) -> Array: ...
def gpuarray_to_array(gpuarray: Any, order: str, allowSurfaceBind: bool = False) -> Array: ...
def make_multichannel_2d_array(ndarray: Any, order: str) -> Array: ...
def bind_array_to_texref(ary: Array, texref: TextureReference) -> None: ...
def matrix_to_texref(matrix: NDArray[Any], texref: TextureReference, order: str) -> None: ...
def bind_to_texref(ary: Any, texref: TextureReference, allow_offset: bool = False) -> int: ...
def bind_to_texref_ext(
    ary: Any,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> int: ...
def texture_object(
    source: Array | MipmappedArray | _DevicePointer,
    *,
    descr: ArrayDescriptor | None = None,
    pitch: int | None = None,
    nbytes: int | None = None,
    address_mode: int | Sequence[int] = ...,
    filter_mode: int = ...,
    flags: int = 0,
    mipmap_filter_mode: int = ...,
    mipmap_level_bias: float = 0.0,
    mipmap_level_clamp: tuple[float, float] = ...,
    max_anisotropy: int = 0,
    border_color: Sequence[float] = ...,
) -> TextureObject: ...
