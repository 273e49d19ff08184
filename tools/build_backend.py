"""The build backend of `pip install`: maturin, which is not asked where there can be no module.

The build script of the native module refuses free-threaded interpreters too, but only after minutes of compilation.
"""

import platform
import sysconfig

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    version = ".".join(platform.python_version_tuple()[:2])
    raise SystemExit(
        f"rtcg has no free-threaded build: found free-threaded CPython {platform.python_version()} (Py_GIL_DISABLED); "
        f"use the ordinary python{version}, or any CPython from 3.10 on that has the global interpreter lock"
    )

from maturin import *  # noqa: E402, F403
