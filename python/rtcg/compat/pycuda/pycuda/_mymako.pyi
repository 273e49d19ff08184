"""Mako, for programs that import it from here. This package itself does not need it."""
