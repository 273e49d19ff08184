#!/usr/bin/env bash
# Find: mpi4py reads device memory at once: it asks DLPack for no synchronisation and never looks at the stream of a
#       CUDA array interface, which moreover has to be a dict itself: a subclass is refused.
# Guess: a consumer of version 3 of the interface waits for the stream it is told, and takes any mapping.
# Seen: mpi4py 4.1.2 with MPICH 5.0.2 (wheels), Python 3.11, x86-64 Linux without a GPU, 2026-11-30.
# Here: rtcg.exports_wait (python/rtcg/_exports.py) waits in the producer's place.
source "$(dirname "$0")/_find.sh"
packages mpi4py==4.1.2 mpich==5.0.2 numpy==2.4.6
cat > "$FOLDER/find.py" <<'PY'
import sys

import numpy as np
from mpi4py import MPI


class Interface:
    """Host memory behind the interface of a device, so that no GPU is needed."""

    kind = dict

    def __init__(self, host):
        self.host = host

    @property
    def __cuda_array_interface__(self):
        data = (self.host.ctypes.data, False)
        # There is no driver in this process that could wait for stream 7.
        return self.kind(shape=self.host.shape, typestr=self.host.dtype.str, data=data, version=3, stream=7)


class Mapping(dict):
    pass


class OtherMapping(Interface):
    kind = Mapping


class Tensor(Interface):
    """Says what it is asked for, and leaves the transfer to the other protocol."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **keywords):
        self.asked = keywords
        raise NotImplementedError


def summed(kind):
    source, target = kind(np.arange(4.0)), kind(np.zeros(4))
    MPI.COMM_WORLD.Allreduce(source, target)
    return source, target.host.tolist()


if sys.argv[1] == "stream":
    print(summed(Interface)[1])
elif sys.argv[1] == "dlpack":
    print(summed(Tensor)[0].asked["stream"])
else:
    try:
        print(summed(OtherMapping)[1])
    except TypeError as error:
        print(error)
PY
expect "sum with a stream that nobody can wait for" "$("$PY" "$FOLDER/find.py" stream)" "[0.0, 1.0, 2.0, 3.0]"
expect "the stream that DLPack is asked for" "$("$PY" "$FOLDER/find.py" dlpack)" "-1"
expect "an interface that is a subclass of dict" "$("$PY" "$FOLDER/find.py" mapping)" "Expected dict, got Mapping"
finish
