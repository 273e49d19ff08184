"""Importing this prepares the functions of `skcuda`, and undoes it at exit; needs a context."""

import atexit

from . import misc

misc.init()
atexit.register(misc.shutdown)
