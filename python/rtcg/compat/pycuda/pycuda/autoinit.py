"""Importing this module makes a context on a device, that of `rtcg.autoinit`."""

import pycuda.driver  # noqa: F401
import pycuda.tools  # noqa: F401
import rtcg.autoinit


def __getattr__(name):
    if name not in ("context", "device"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(rtcg.autoinit, name)
