"""OpenGL interoperation: buffer objects and images of OpenGL as device memory and arrays."""

from rtcg._enums import graphics_map_flags as graphics_map_flags
from rtcg._native import (
    Context,
    Device,
    RegisteredBuffer as RegisteredBuffer,
    RegisteredImage as RegisteredImage,
    RegisteredMapping as RegisteredMapping,
    RegisteredObject as RegisteredObject,
)

__all__ = [
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "RegisteredObject",
    "get_devices",
    "graphics_map_flags",
    "make_context",
]

def get_devices() -> list[Device]: ...
def make_context(dev: Device, flags: int = 0) -> Context: ...
