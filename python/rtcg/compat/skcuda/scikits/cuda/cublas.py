"""`skcuda.cublas`."""

import sys

import skcuda.cublas

sys.modules[__name__] = skcuda.cublas
