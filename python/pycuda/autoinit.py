"""Importing this module makes a context on a device (see `pycuda.tools.make_default_context`)."""

from pycuda import _autocontext

_autocontext.provide(globals())
