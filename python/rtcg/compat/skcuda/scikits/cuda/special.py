"""`skcuda.special`."""

import sys

import skcuda.special

sys.modules[__name__] = skcuda.special
