"""`skcuda.cusparse`."""

import sys

import skcuda.cusparse

sys.modules[__name__] = skcuda.cusparse
