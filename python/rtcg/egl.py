"""An OpenGL context without a window, by EGL, and the functions of OpenGL, through `ctypes`.

Enough to render on a machine without a screen::

    with egl.Context() as gl:
        gl.glClearColor(1, 0, 0, 1)

OpenGL functions are attributes with the arguments of C: numbers as they are, pointers as `ctypes` objects, NumPy arrays
or bytes.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_uint, c_void_p
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from rtcg._native import Device

__all__ = ["Context", "EGLError"]

_PLATFORM_DEVICE, _PLATFORM_SURFACELESS = 0x313F, 0x31DD
_CUDA_DEVICE = 0x323A
_OPENGL_API, _OPENGL_BIT = 0x30A2, 0x0008
_SURFACE_TYPE, _PBUFFER_BIT, _RENDERABLE_TYPE, _NONE = 0x3033, 0x0001, 0x3040, 0x3038
_MAJOR, _MINOR, _PROFILE_MASK, _CORE_BIT = 0x3098, 0x30FB, 0x30FD, 1
_EGL_EXTENSIONS = 0x3055

# The arguments that are not numbers of 32 bits, by function and position.
_FLOAT_ARGUMENTS = {"glClearColor": (0, 1, 2, 3), "glPointSize": (0,), "glUniform1f": (1,), "glLineWidth": (0,)}
_RESULT_TYPES = {"glGetString": c_char_p, "glMapBuffer": c_void_p}


class EGLError(RuntimeError):
    """EGL could not make a context."""


def _c_int_array(*values: int) -> Any:
    return (c_int * len(values))(*values)


def _load_egl() -> ctypes.CDLL:
    try:
        egl = ctypes.CDLL("libEGL.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise EGLError(f"the library of EGL is not installed: {error}") from None
    for name in ("eglGetProcAddress", "eglGetDisplay", "eglCreateContext", "eglGetCurrentContext"):
        getattr(egl, name).restype = c_void_p
    egl.eglQueryString.restype = c_char_p
    egl.eglQueryString.argtypes = [c_void_p, c_int]
    egl.eglCreateContext.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p]
    egl.eglMakeCurrent.argtypes = [c_void_p] * 4
    egl.eglDestroyContext.argtypes = [c_void_p] * 2
    egl.eglInitialize.argtypes = [c_void_p] * 3
    egl.eglChooseConfig.argtypes = [c_void_p, c_void_p, c_void_p, c_int, c_void_p]
    return egl


class Context:
    """A current OpenGL context without a window.

    Parameters
    ----------
    device : Device, optional
        The CUDA device to render on; by default any device, or the CPU.
    version : tuple of int
        The OpenGL version, core profile.

    Raises
    ------
    EGLError
        If EGL is missing, or cannot make such a context.
    """

    def __init__(self, device: Device | None = None, version: tuple[int, int] = (3, 3)) -> None:
        self._egl = _load_egl()
        self._display, self._context = self._create_on_first_display(device, version)

    def _create_on_first_display(self, device: Device | None, version: tuple[int, int]) -> tuple[Any, Any]:
        problems = []
        for name, display in self._offscreen_displays(device):
            try:
                return display, self._create_context(display, version)
            except EGLError as error:
                problems.append(f"{name}: {error}")
        wanted = "" if device is None else f" for {device.name()}"
        raise EGLError(f"no display without a screen{wanted} gives a context: {'; '.join(problems) or 'none found'}")

    def _egl_function(self, name: str, result: Any, *arguments: Any) -> Any:
        address = self._egl.eglGetProcAddress(c_char_p(name.encode()))
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None

    def _offscreen_displays(self, device: Device | None) -> Iterator[tuple[str, Any]]:
        """``(name, display)`` of the displays that can render without a screen, the requested device first."""
        get_display = self._egl_function("eglGetPlatformDisplayEXT", c_void_p, c_uint, c_void_p, c_void_p)
        query_devices = self._egl_function("eglQueryDevicesEXT", c_uint, c_int, c_void_p, c_void_p)
        query = self._egl_function("eglQueryDeviceAttribEXT", c_uint, c_void_p, c_int, c_void_p)
        if get_display is None:
            return
        devices, count = (c_void_p * 32)(), c_int()
        if query_devices is not None and query_devices(32, devices, ctypes.byref(count)):
            for index, handle in enumerate(devices[: count.value]):
                ordinal = ctypes.c_ssize_t(-1)
                is_cuda = query is not None and query(handle, _CUDA_DEVICE, ctypes.byref(ordinal))
                if (
                    device is not None
                    and not device.is_virtual
                    and (not is_cuda or ordinal.value != _cuda_ordinal(device))
                ):
                    continue
                yield f"EGL device {index}", get_display(_PLATFORM_DEVICE, handle, None)
        if device is None or device.is_virtual:
            yield "surfaceless", get_display(_PLATFORM_SURFACELESS, None, None)

    def _create_context(self, display: Any, version: tuple[int, int]) -> Any:
        egl = self._egl
        if not display or not egl.eglInitialize(display, None, None):
            raise EGLError("it cannot be initialised")
        if not egl.eglBindAPI(_OPENGL_API):
            raise EGLError("it has no OpenGL")
        config, count = c_void_p(), c_int()
        wanted = _c_int_array(_RENDERABLE_TYPE, _OPENGL_BIT, _SURFACE_TYPE, _PBUFFER_BIT, _NONE)
        if not egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count)) or not count.value:
            config = c_void_p()
        attributes = _c_int_array(_MAJOR, version[0], _MINOR, version[1], _PROFILE_MASK, _CORE_BIT, _NONE)
        context = egl.eglCreateContext(display, config, None, attributes)
        if not context:
            raise EGLError(f"it has no OpenGL {version[0]}.{version[1]}")
        if not egl.eglMakeCurrent(display, None, None, context):
            egl.eglDestroyContext(display, context)
            raise EGLError("its context needs a surface")
        return context

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("gl"):
            raise AttributeError(name)
        address = self._egl.eglGetProcAddress(c_char_p(name.encode()))
        if not address:
            raise AttributeError(f"this OpenGL has no function {name}")
        function = _OpenGLFunction(name, address)
        setattr(self, name, function)
        return function

    def make_current(self) -> None:
        """Make the context current in this thread."""
        if not self._egl.eglMakeCurrent(self._display, None, None, self._context):
            raise EGLError("the context cannot be made current")

    def close(self) -> None:
        """Destroy the context."""
        if self._context:
            self._egl.eglMakeCurrent(self._display, None, None, None)
            self._egl.eglDestroyContext(self._display, self._context)
            self._context = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _cuda_ordinal(device: Device) -> int:
    from rtcg import driver as drv

    return next(n for n in range(drv.Device.count()) if drv.Device(n) == device)


class _OpenGLFunction:
    """An OpenGL function. The types of its parameters follow from the arguments."""

    def __init__(self, name: str, address: int) -> None:
        self._floats = _FLOAT_ARGUMENTS.get(name, ())
        self._address = address
        self._result = _RESULT_TYPES.get(name, c_uint)
        self._made: dict[tuple[Any, ...], Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        converted = [self._convert_argument(position, value) for position, value in enumerate(arguments)]
        kinds = tuple(kind for kind, _ in converted)
        function = self._made.get(kinds)
        if function is None:
            function = self._made[kinds] = ctypes.CFUNCTYPE(self._result, *kinds)(self._address)
        return function(*(value for _, value in converted))

    def _convert_argument(self, position: int, value: Any) -> tuple[Any, Any]:
        if position in self._floats:
            return ctypes.c_float, float(value)
        if isinstance(value, int):
            # Sizes and offsets of 64 bits go through registers as numbers of 32 bits do.
            return ctypes.c_int64, value
        if value is None or isinstance(value, bytes):
            return c_void_p, value
        if hasattr(value, "ctypes"):
            return c_void_p, value.ctypes.data
        return c_void_p, ctypes.cast(value, c_void_p)
