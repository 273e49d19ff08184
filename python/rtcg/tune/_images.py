"""Textures and surfaces as arguments of tuned kernels: contents, copies, and their counterparts in another process."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown

if TYPE_CHECKING:
    from rtcg.driver import Array, SurfaceObject, TextureObject

_DTYPES = {
    "UNSIGNED_INT8": np.uint8, "UNSIGNED_INT16": np.uint16, "UNSIGNED_INT32": np.uint32, "SIGNED_INT8": np.int8,
    "SIGNED_INT16": np.int16, "SIGNED_INT32": np.int32, "HALF": np.float16, "FLOAT": np.float32,
}  # fmt: skip


@dataclasses.dataclass
class HostImage:
    """A texture or surface that can be sent to another process: contents, flags of the array, and sampling."""

    contents: np.ndarray[Any, Any]
    flags: int
    extents: tuple[int, int, int]
    channels: int
    sampling: dict[str, Any] | None

    @property
    def nbytes(self) -> int:
        """The size of the contents in bytes."""
        return self.contents.nbytes

    def on_device(self) -> Image:
        """The texture or surface, in a new array."""
        from rtcg import driver

        descr = driver.ArrayDescriptor3D()
        descr.width, descr.height, descr.depth = self.extents
        formats = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
        descr.format = getattr(driver.array_format, formats[self.contents.dtype])
        descr.num_channels, descr.flags = self.channels, self.flags
        image = Image(driver.Array(descr), self.sampling)
        image.set(self.contents)
        return image


class Image:
    """A texture (with `sampling`) or a surface over an array on the device.

    `shape` is (depth, height, width, channels), without the axes that the array lacks.
    """

    def __init__(
        self, array: Array, sampling: dict[str, Any] | None, handle: TextureObject | SurfaceObject | None = None
    ) -> None:
        self._array, self.sampling = array, sampling
        descr = self._descr = array.get_descriptor_3d()
        axes = [length for length in (descr.depth, descr.height) if length] + [descr.width]
        self.shape = (*axes, *([descr.num_channels] if descr.num_channels > 1 else []))
        self.dtype: np.dtype[Any] = np.dtype(_DTYPES[descr.format.name])
        self.ndim, self.nbytes = len(self.shape), int(np.prod(self.shape)) * self.dtype.itemsize
        self.handle = handle or self._make_handle()

    def _make_handle(self) -> TextureObject | SurfaceObject:
        from rtcg import driver

        if self.sampling is None:
            return driver.SurfaceObject(self._array)
        return driver.TextureObject._from_array(self._array, self.sampling)

    def _copy(self, contents: np.ndarray[Any, Any], to_array: bool) -> None:
        from rtcg import driver

        copy = driver.Memcpy3D()
        if to_array:
            copy.set_src_host(contents)
            copy.set_dst_array(self._array)
        else:
            copy.set_src_array(self._array)
            copy.set_dst_host(contents)
        row = self._descr.width * self._descr.num_channels * self.dtype.itemsize
        copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = row
        copy.src_height = copy.dst_height = copy.height = max(self._descr.height, 1)
        copy.depth = max(self._descr.depth, 1)
        copy()

    def get(self) -> np.ndarray[Any, Any]:
        """The contents as a NumPy array; waits."""
        contents = np.empty(self.shape, self.dtype)
        self._copy(contents, False)
        return contents

    def set(self, contents: Image | np.ndarray[Any, Any]) -> None:
        """Fill the array with the contents of another image or of a NumPy array."""
        self._copy(np.ascontiguousarray(contents.get() if isinstance(contents, Image) else contents), True)

    def copy(self) -> Image:
        """A copy over a new array."""
        return self.to_host().on_device()

    def to_host(self) -> HostImage:
        """A copy that can be sent to another process."""
        descr = self._descr
        extents = (descr.width, descr.height, descr.depth)
        return HostImage(self.get(), int(descr.flags), extents, descr.num_channels, self.sampling)


def image_of(name: str, argument: object) -> Any:
    """The :class:`Image` of a texture or surface object; other arguments unchanged."""
    from rtcg import driver

    if isinstance(argument, driver.SurfaceObject):
        return Image(argument.array, None, argument)
    if isinstance(argument, driver.TextureObject):
        array, sampling = getattr(argument, "_made_from", (None, None))
        if not isinstance(array, driver.Array):
            raise TypeError(f"argument {shown(name)} is a texture of mip levels or of "
                            "device memory; expected one of an "
                            "Array, whose contents can be copied")  # fmt: skip
        return Image(array, sampling, argument)
    return argument
