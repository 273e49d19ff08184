"""`skcuda.cudadrv`."""

import sys

import skcuda.cudadrv

sys.modules[__name__] = skcuda.cudadrv
