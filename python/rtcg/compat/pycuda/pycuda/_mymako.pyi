"""Mako, for programs that get it from here. This package itself does not need it."""
