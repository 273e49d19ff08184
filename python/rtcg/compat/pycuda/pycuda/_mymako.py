"""Mako, for programs that import it from here. This package itself does not need it."""

try:
    import mako.template  # noqa: F401
    from mako import *  # noqa: F403
except ImportError as error:
    raise ImportError("the template engine Mako is not installed; `pip install mako` does it") from error
