import dataclasses
from typing import Any

import numpy as np

from rtcg.driver import Array, SurfaceObject, TextureObject

@dataclasses.dataclass
class HostImage:
    contents: np.ndarray[Any, Any]
    flags: int
    extents: tuple[int, int, int]
    channels: int
    sampling: dict[str, Any] | None
    @property
    def nbytes(self) -> int: ...
    def on_device(self) -> Image: ...

class Image:
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int
    nbytes: int
    sampling: dict[str, Any] | None
    handle: TextureObject | SurfaceObject
    def __init__(
        self, array: Array, sampling: dict[str, Any] | None, handle: TextureObject | SurfaceObject | None = None
    ) -> None: ...
    def get(self) -> np.ndarray[Any, Any]: ...
    def set(self, contents: Image | np.ndarray[Any, Any]) -> None: ...
    def copy(self) -> Image: ...
    def to_host(self) -> HostImage: ...

def image_of(name: str, argument: object) -> Any: ...
