"""Importing this module retains a device's primary context, which other CUDA libraries share."""

import atexit

import pycuda.driver as drv
from pycuda.tools import clear_context_caches, make_default_context

drv.init()


def _retain_and_push(device):
    context = device.retain_primary_context()
    context.push()
    return context


context = make_default_context(_retain_and_push)
device = context.get_device()


def _finish_up():
    global context
    # The program may have popped or detached it, or pushed another one.
    if drv.Context.get_current() == context:
        context.pop()
    context = None
    clear_context_caches()


atexit.register(_finish_up)
