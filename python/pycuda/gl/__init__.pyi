"""OpenGL interoperation: buffer objects and images of OpenGL as device memory and arrays."""

from typing_extensions import Self

from pycuda._enums import graphics_map_flags as graphics_map_flags
from pycuda._rtcg import (
    Context,
    Device,
    RegisteredBuffer as RegisteredBuffer,
    RegisteredImage as RegisteredImage,
    RegisteredMapping as RegisteredMapping,
    RegisteredObject as RegisteredObject,
)

__all__ = [
    "BufferObject",
    "BufferObjectMapping",
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "RegisteredObject",
    "get_devices",
    "graphics_map_flags",
    "init",
    "make_context",
]

def init() -> None: ...
def get_devices() -> list[Device]: ...
def make_context(dev: Device, flags: int = 0) -> Context: ...

class BufferObjectMapping:
    def __init__(self, mapping: RegisteredMapping) -> None: ...
    def unmap(self) -> None: ...
    def device_ptr(self) -> int: ...
    def size(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

class BufferObject:
    def __init__(self, handle: int) -> None: ...
    def handle(self) -> int: ...
    def unregister(self) -> None: ...
    def map(self) -> BufferObjectMapping: ...
