"""`skcuda.magma`."""

import sys

import skcuda.magma

sys.modules[__name__] = skcuda.magma
