"""`skcuda.cusolver`."""

import sys

import skcuda.cusolver

sys.modules[__name__] = skcuda.cusolver
