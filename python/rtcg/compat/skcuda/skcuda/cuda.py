"""The names of `skcuda.cudart`."""

from .cudart import *  # noqa: F403
from .cudart import __all__  # noqa: F401
