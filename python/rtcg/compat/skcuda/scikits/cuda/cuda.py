"""`skcuda.cuda`."""

import sys

import skcuda.cuda

sys.modules[__name__] = skcuda.cuda
