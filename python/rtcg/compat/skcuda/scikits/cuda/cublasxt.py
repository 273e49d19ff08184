"""`skcuda.cublasxt`."""

import sys

import skcuda.cublasxt

sys.modules[__name__] = skcuda.cublasxt
