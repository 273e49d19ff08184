"""Copperhead's names over `rtcg.copperhead`, so that programs written for Copperhead run once they are Python 3."""

from rtcg.copperhead import cu, cuarray, force, places, to_numpy

from . import prelude, runtime
from .prelude import *  # noqa: F403

# The version of Copperhead's interface that the modules follow.
VERSION_TEXT = "0.2a2"
__version__ = VERSION_TEXT

__all__ = [*prelude.__all__, "cu", "cuarray", "force", "places", "prelude", "runtime", "to_numpy"]
