"""`skcuda.autoinit`."""

import sys

import skcuda.autoinit

sys.modules[__name__] = skcuda.autoinit
