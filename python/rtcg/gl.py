"""OpenGL interoperation: buffer objects and images of OpenGL as device memory and arrays.

The program creates the OpenGL context (GLUT, GLFW, moderngl, ... or `rtcg.egl` without a window), which must be current
in the thread that registers, maps and unmaps. On the virtual GPU buffer objects work with any OpenGL, including Mesa's
software renderer; textures and renderbuffers are not supported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtcg import driver as drv
from rtcg._enums import graphics_map_flags
from rtcg._native import RegisteredBuffer, RegisteredImage, RegisteredMapping, RegisteredObject, gl_devices

if TYPE_CHECKING:
    from rtcg._native import Context, Device

__all__ = [
    "RegisteredBuffer", "RegisteredImage", "RegisteredMapping", "RegisteredObject", "get_devices", "graphics_map_flags",
    "make_context",
]  # fmt: skip


def get_devices() -> list[Device]:
    """The devices that drive the OpenGL context that is current in this thread.

    Raises
    ------
    LogicError
        If no OpenGL context is current, or none that CUDA can share.
    """
    drv.init()
    return gl_devices()


def make_context(dev: Device, flags: int = 0) -> Context:
    """Make a context on a device for use with the current OpenGL context, and push it.

    Parameters
    ----------
    dev : Device
    flags : ctx_flags

    Raises
    ------
    LogicError
        If no OpenGL context is current, or another device drives it.
    """
    if dev not in get_devices():
        raise drv.LogicError(f"make_context failed: {dev.name()} does not drive the current OpenGL context")
    return dev.make_context(flags)
