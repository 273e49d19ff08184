"""``python -m pycuda.debug [-m] SCRIPT ARGUMENTS``; see `rtcg.debug`."""

from rtcg.debug import main as main
