"""A short soak: memory of all kinds from several threads, in contexts that come and go."""

from tests.python.subprocesses import run_python

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="no NVIDIA GPU")
import pycuda.driver as cuda
from tests.soak import soak
cuda.init()
for seed in (1, 2):
    done, counts = soak(4000, threads=8, seed=seed)
    print(done, *sorted(counts))
# As under a tool that makes everything slow: it ends before the number is reached.
print(soak(10**9, seconds=2)[0])
"""


def test_soak(context):
    # In a process of its own, so that nothing else uses memory meanwhile.
    first, second, limited = (line.split() for line in run_python(PROGRAM).stdout.splitlines())
    assert int(first[0]) >= 4000 and int(second[0]) >= 4000
    assert set(first[1:]) | set(second[1:]) >= {
        "allocations", "launches", "frees", "events", "arrays", "page-locked", "managed", "pitched", "modules",
        "libraries",
    }  # fmt: skip
    assert 0 < int(limited[0]) < 10**9
