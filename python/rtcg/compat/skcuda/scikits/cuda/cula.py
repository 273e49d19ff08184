"""`skcuda.cula`."""

import sys

import skcuda.cula

sys.modules[__name__] = skcuda.cula
