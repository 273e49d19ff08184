"""A rank of mpi4py's own tests with arrays of rtcg: ``python -m tests.mpi.ranks FOLDER REPORTS EVERY MODULE PATTERN``.

`FOLDER` is the ``test`` folder of mpi4py's source distribution. Its ``arrayimpl.py`` runs each test with all arrays and
dtypes that it has; here these are two classes, by the CUDA array interface and by DLPack, with 15 dtypes. Nothing
synchronises: whenever a test hands an array to MPI, one time in `EVERY`, its elements are written last by a
non-blocking stream that is still asleep, and so the export has to wait (``RTCG_EXPORT_WAITS=1``).

Those tests of `MODULE` run whose names ``Class.test`` fit `PATTERN`, but none that ``REPORTS/done`` lists. The rank
writes a line of JSON to ``REPORTS/RANK.jsonl`` when a test begins and when it has ended. After a failure the ranks
would be out of step, so that it ends them all.
"""

import fnmatch
import importlib
import json
import sys
import time
import unittest
from pathlib import Path

FOLDER, REPORTS, EVERY = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, str(FOLDER))
# Peers whose arrays the tests would take, too.
sys.modules["cupy"] = sys.modules["numba"] = None

from mpi4py import MPI  # noqa: E402

import rtcg.autoinit  # noqa: E402, F401
import rtcg.driver as drv  # noqa: E402
import rtcg.numpy as rnp  # noqa: E402

arrayimpl = importlib.import_module("arrayimpl")
NON_BLOCKING = 1
#: How long the last writer of an array that is handed over sleeps.
DELAY_S = 0.0003
stream = drv.Stream(NON_BLOCKING)
n_handed_over = 0


def write_late(array):
    """Lets a sleeping stream be the last writer of the elements that `array` has; until then it has other ones."""
    global n_handed_over
    n_handed_over += 1
    if not EVERY or n_handed_over % EVERY or not array.size:
        return
    drv.Stream.legacy_default().synchronize()
    with stream:
        right = array.copy()
        drv.memset_d8_async(array.gpudata, 0x5A, array.nbytes, stream)
        stream.launch_host_func(time.sleep, DELAY_S)
        array[...] = right


class WithInterface:
    """An array of which consumers see the CUDA array interface only."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.array, name)

    def __getitem__(self, index):
        return self.array[index]

    def __len__(self):
        return len(self.array)


class ByDLPack(arrayimpl.BaseArray):
    """Arrays as they are; mpi4py asks for DLPack before the CUDA array interface."""

    backend = "dlpack-rtcg"
    TypeMap = {code: kind for code, kind in arrayimpl.ArrayNumPy.TypeMap.items() if code not in "gG"}  # noqa: RUF012

    def __init__(self, arg, typecode, shape=None, readonly=False):
        self.array = rnp.to_gpu(arrayimpl.ArrayNumPy(arg, typecode, shape).array)

    @property
    def address(self):
        return self.array.ptr

    @property
    def typecode(self):
        return self.array.dtype.char

    @property
    def itemsize(self):
        return self.array.itemsize

    @property
    def flat(self):
        stream.synchronize()
        return self.array.ravel()

    def __getitem__(self, index):
        # What MPI ignores, as receive buffers of other ranks than the root, it does not export.
        stream.synchronize()
        return self.array[index]

    @property
    def size(self):
        return self.array.size

    def as_raw(self):
        write_late(self.array)
        return self.array


class ByInterface(ByDLPack):
    backend = "rtcg"

    def as_raw(self):
        write_late(self.array)
        return WithInterface(self.array)


arrayimpl.ArrayBackends[:] = [ByInterface, ByDLPack]


class Report(unittest.TestResult):
    """Lines of JSON about tests."""

    def __init__(self, file):
        super().__init__()
        self.file, self.reason = file, None

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def startTest(self, test):
        super().startTest(test)
        self.reason = None
        self.write(test=test.id())

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reason = reason

    def stopTest(self, test):
        super().stopTest(test)
        outcome = "passed" if self.reason is None else "skipped"
        self.write(test=test.id(), outcome=outcome, reason=self.reason or "", handed_over=n_handed_over)

    def addFailure(self, test, error):
        self.write(
            test=test.id().partition(" (")[0].partition(" [")[0], outcome="failed", reason=f"{test.id()}: {error[1]!r}"
        )
        MPI.COMM_WORLD.Abort(1)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addFailure(subtest, error)


def tests_in(suite):
    """The tests of a suite of suites, in order."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests_in(part)
        else:
            yield part


def main():
    module, pattern = sys.argv[4:]
    ended = (REPORTS / "done").read_text().splitlines()
    tests = tests_in(unittest.defaultTestLoader.loadTestsFromName(module))
    chosen = [test for test in tests if fnmatch.fnmatch(test.id(), f"{module}.{pattern}") and test.id() not in ended]
    with open(REPORTS / f"{MPI.COMM_WORLD.rank}.jsonl", "a") as file:
        unittest.TestSuite(chosen).run(Report(file))


if __name__ == "__main__":
    main()
