"""`skcuda.fft`."""

import sys

import skcuda.fft

sys.modules[__name__] = skcuda.fft
