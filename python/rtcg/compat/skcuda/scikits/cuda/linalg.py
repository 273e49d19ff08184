"""`skcuda.linalg`."""

import sys

import skcuda.linalg

sys.modules[__name__] = skcuda.linalg
