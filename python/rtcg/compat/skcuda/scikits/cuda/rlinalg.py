"""`skcuda.rlinalg`."""

import sys

import skcuda.rlinalg

sys.modules[__name__] = skcuda.rlinalg
