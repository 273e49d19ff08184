"""How distributed sends device arrays: in device memory (family ``cuda``), or through the host (``dask``).

The header describes the array, and the one frame has its bytes. `rtcg._dask_sizeof` registers this module, which a
process imports when it first meets an array.
"""

from __future__ import annotations

import math
import pickle
import socket
from typing import Any

import numpy as np
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from rtcg import devices, numpy as _xp
from rtcg._exports import exports_wait
from rtcg._pickling import Unplaced, context_to_restore_in, restore_array
from rtcg.numpy import GPUArray


def _described(array: GPUArray) -> tuple[dict[str, Any], GPUArray]:
    """The header, and the array itself or a contiguous copy of it."""
    if not array.flags.forc:
        array = _xp.ascontiguousarray(array)
    header = {
        "shape": array.shape,
        "order": _xp._memory_order(array),
        # Any dtype, with the places of its fields.
        "dtype": pickle.dumps(array.dtype),
        "sender": f"{array.device.name()} of host {socket.gethostname()}",
    }
    return header, array


@cuda_serialize.register(GPUArray)  # type: ignore[misc]  # distributed has no types
def _serialize_on_device(array: GPUArray) -> tuple[dict[str, Any], list[GPUArray]]:
    """The array's own memory as the frame. Waits for work that writes it: UCX would not."""
    with devices.current_on(array.device):
        header, array = _described(array)
        flat = (array.T if header["order"] == "F" else array).reshape(-1).view(np.uint8)
        with exports_wait():
            flat.__cuda_array_interface__  # noqa: B018
    return header, [flat]


@dask_serialize.register(GPUArray)  # type: ignore[misc]
def _serialize_on_host(array: GPUArray) -> tuple[dict[str, Any], list[memoryview]]:
    """A copy on the host as the frame, for which the call waits."""
    with devices.current_on(array.device):
        header, array = _described(array)
        host = array.get()
    return header, [host.reshape(-1, order="A").view(np.uint8).data]


@dask_deserialize.register(GPUArray)  # type: ignore[misc]
@cuda_deserialize.register(GPUArray)  # type: ignore[misc]
def _deserialize(header: dict[str, Any], frames: list[Any]) -> GPUArray | Unplaced:
    """The array over the frame's memory, if this is on a device (whoever allocated it), else on the default device."""
    (frame,) = frames
    origin = f"of {header['sender']}"
    shape, dtype = tuple(header["shape"]), pickle.loads(header["dtype"])
    is_on_device = hasattr(frame, "__cuda_array_interface__")
    if is_on_device:
        context_to_restore_in(origin)
    flat: Any = _xp.asarray(frame) if is_on_device else np.frombuffer(frame, np.uint8)
    expected = math.prod(shape) * dtype.itemsize
    if flat.nbytes != expected:
        raise ValueError(
            f"the frame of an array {origin} has {flat.nbytes} bytes; expected {expected} for shape {shape} and dtype "
            f"{dtype}"
        )
    if not expected:
        return restore_array(np.empty(shape, dtype), origin)
    flat = flat.view(dtype)
    array = flat.reshape(shape[::-1]).T if header["order"] == "F" else flat.reshape(shape)
    return array if is_on_device else restore_array(array, origin)
