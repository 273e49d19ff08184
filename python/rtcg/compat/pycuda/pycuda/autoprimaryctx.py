"""Importing this module retains a device's primary context, which other CUDA libraries share."""

import pycuda.driver  # noqa: F401
from rtcg import _autocontext


def _retain_and_push(device):
    context = device.retain_primary_context()
    context.push()
    return context


_autocontext.set_import_context(globals(), _retain_and_push)
