"""Importing this module makes a context on a device that drives the current OpenGL context."""

import pycuda.gl
from rtcg import _autocontext

_autocontext.set_import_context(globals(), pycuda.gl.make_context)
