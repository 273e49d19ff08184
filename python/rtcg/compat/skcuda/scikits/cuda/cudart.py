"""`skcuda.cudart`."""

import sys

import skcuda.cudart

sys.modules[__name__] = skcuda.cudart
