"""Importing this module makes a context on a device (see `rtcg.tools.make_default_context`)."""

from rtcg import _autocontext

_autocontext.provide(globals())
