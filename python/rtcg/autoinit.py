"""Importing this module makes a context on a device (see `rtcg.tools.make_default_context`)."""

from rtcg import _autocontext

_autocontext.set_import_context(globals())
