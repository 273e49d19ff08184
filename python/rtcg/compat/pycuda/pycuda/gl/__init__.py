"""OpenGL interoperation under PyCUDA's names; see `rtcg.gl`."""

import warnings

from rtcg.gl import (
    RegisteredBuffer as RegisteredBuffer,
    RegisteredImage as RegisteredImage,
    RegisteredMapping as RegisteredMapping,
    RegisteredObject as RegisteredObject,
    graphics_map_flags as graphics_map_flags,
    make_context as make_context,
)

__all__ = [
    "BufferObject", "BufferObjectMapping", "RegisteredBuffer", "RegisteredImage", "RegisteredMapping",
    "RegisteredObject", "graphics_map_flags", "init", "make_context",
]  # fmt: skip


def init():
    """Does nothing: CUDA no longer needs preparation for OpenGL (deprecated)."""
    warnings.warn("pycuda.gl.init is not needed any more", DeprecationWarning, stacklevel=2)


class BufferObjectMapping:
    """A buffer object while it is mapped for CUDA. Deletion or `unmap` returns it to OpenGL."""

    def __init__(self, mapping):
        self._mapping = mapping

    def unmap(self):
        """Return the buffer object to OpenGL."""
        self._mapping.unmap()

    def device_ptr(self):
        """The address for kernels, an int."""
        return self._mapping.device_ptr_and_size()[0]

    def size(self):
        """The size in bytes."""
        return self._mapping.device_ptr_and_size()[1]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.unmap()


class BufferObject:
    """A buffer object that CUDA may use (deprecated; `RegisteredBuffer` also specifies how)."""

    def __init__(self, handle):
        self._registered = RegisteredBuffer(handle)

    def handle(self):
        """The name of the object in OpenGL, an int."""
        return self._registered.gl_handle()

    def unregister(self):
        """End the registration; the buffer object remains in OpenGL."""
        self._registered.unregister()

    def map(self):
        """Map the object for CUDA: returns a `BufferObjectMapping`."""
        return BufferObjectMapping(self._registered.map())
