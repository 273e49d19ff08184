"""`skcuda.misc`."""

import sys

import skcuda.misc

sys.modules[__name__] = skcuda.misc
