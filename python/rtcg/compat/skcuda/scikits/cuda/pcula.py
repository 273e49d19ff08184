"""`skcuda.pcula`."""

import sys

import skcuda.pcula

sys.modules[__name__] = skcuda.pcula
