"""Importing this module makes a context on a device that drives the current OpenGL context."""

import atexit

import pycuda.driver as drv
import pycuda.gl
from pycuda.tools import clear_context_caches, make_default_context

drv.init()

context = make_default_context(pycuda.gl.make_context)
device = context.get_device()


def _finish_up():
    global context
    # The program may have popped or detached it, or pushed another one.
    if drv.Context.get_current() == context:
        context.pop()
    context = None
    clear_context_caches()


atexit.register(_finish_up)
