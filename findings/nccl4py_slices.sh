#!/usr/bin/env bash
# Find: nccl4py takes the address and the number of elements of an array, and no strides: a collective of `a[::2]` is
#       one of the first half of `a`, without an error.
# Guess: "use slicing to control element count" (its NcclBuffer) holds for each slice, or NcclInvalid is raised.
# Seen: nccl4py 0.6.0 with cuda-core 1.2.2, Python 3.11, x86-64 Linux without a GPU, 2026-11-30.
# Here: docs/libcuda.md asks for contiguous arrays; rtcg.nccl refuses others.
source "$(dirname "$0")/_find.sh"
packages nccl4py==0.6.0 cuda-core==1.2.2 cuda-bindings==13.5.0 numpy==2.4.6
cat > "$FOLDER/find.py" <<'PY'
import ctypes

import numpy as np
from nccl.core.buffer import NcclBuffer


class OnDevice:
    """Host memory that says it is a device's, so that no GPU is needed: nccl4py only describes it."""

    def __init__(self, host):
        self.host = host

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None, **keywords):
        return self.host.__dlpack__(**keywords)


def what_is_sent(host):
    buffer = NcclBuffer(OnDevice(host))
    return list((ctypes.c_int64 * buffer.count).from_address(buffer.ptr))


a = np.arange(8)
print(what_is_sent(a[:4]), what_is_sent(a[::2]), what_is_sent(a.reshape(4, 2)[:, 0]))
PY
expect "elements of a[:4], of a[::2], and of the first column of two" "$("$PY" "$FOLDER/find.py")" \
    "[0, 1, 2, 3] [0, 1, 2, 3] [0, 1, 2, 3]"
finish
