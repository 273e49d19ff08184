"""OpenGL interoperation: buffer objects and images of OpenGL as device memory and arrays.

The OpenGL context is the program's own (GLUT, GLFW, moderngl, ... or `pycuda.gl.egl` without a
window) and must be current on the thread that registers, maps and unmaps. On the virtual GPU buffer
objects work with any OpenGL, Mesa's on the processor included; textures and renderbuffers are refused.
"""

import warnings

import pycuda.driver as drv
from pycuda._enums import graphics_map_flags
from pycuda._rtcg import RegisteredBuffer, RegisteredImage, RegisteredMapping, RegisteredObject, gl_devices

__all__ = [
    "BufferObject", "BufferObjectMapping", "RegisteredBuffer", "RegisteredImage", "RegisteredMapping",
    "RegisteredObject", "get_devices", "graphics_map_flags", "init", "make_context",
]  # fmt: skip


def init():
    """Do nothing: CUDA needs no preparation for OpenGL any more (deprecated)."""
    warnings.warn("pycuda.gl.init is not needed any more", DeprecationWarning, stacklevel=2)


def get_devices():
    """The devices that drive the OpenGL context which is current on this thread.

    Raises
    ------
    LogicError
        If no OpenGL context is current, or none that CUDA can share.
    """
    drv.init()
    return gl_devices()


def make_context(dev, flags=0):
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


class BufferObjectMapping:
    """A buffer object while CUDA has it. It returns to OpenGL when this is deleted or unmapped."""

    def __init__(self, mapping):
        self._mapping = mapping

    def unmap(self):
        """Give the buffer object back to OpenGL."""
        self._mapping.unmap()

    def device_ptr(self):
        """Its address for kernels, an int."""
        return self._mapping.device_ptr_and_size()[0]

    def size(self):
        """Its bytes."""
        return self._mapping.device_ptr_and_size()[1]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.unmap()


class BufferObject:
    """A buffer object that CUDA may use (deprecated; `RegisteredBuffer` also says how)."""

    def __init__(self, handle):
        self._registered = RegisteredBuffer(handle)

    def handle(self):
        """OpenGL's name of it, an int."""
        return self._registered.gl_handle()

    def unregister(self):
        """End the registration; the buffer object stays with OpenGL."""
        self._registered.unregister()

    def map(self):
        """Give it to CUDA: a `BufferObjectMapping`."""
        return BufferObjectMapping(self._registered.map())
