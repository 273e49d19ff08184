"""OpenGL interoperation under PyCUDA's names."""

from typing_extensions import Self

from rtcg.gl import (
    RegisteredBuffer as RegisteredBuffer,
    RegisteredImage as RegisteredImage,
    RegisteredMapping as RegisteredMapping,
    RegisteredObject as RegisteredObject,
    graphics_map_flags as graphics_map_flags,
    make_context as make_context,
)

__all__ = [
    "BufferObject",
    "BufferObjectMapping",
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "RegisteredObject",
    "graphics_map_flags",
    "init",
    "make_context",
]

def init() -> None: ...

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
