"""`skcuda.cufft`."""

import sys

import skcuda.cufft

sys.modules[__name__] = skcuda.cufft
