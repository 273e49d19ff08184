"""OpenGL interoperation under the names that PyCUDA has; see `rtcg.gl`."""

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
    """Do nothing: CUDA needs no preparation for OpenGL any more (deprecated)."""
    warnings.warn("pycuda.gl.init is not needed any more", DeprecationWarning, stacklevel=2)


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
