"""A short soak: memory of all kinds from several threads, in contexts that come and go."""

from tests.python.subprocesses import run_python

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="no NVIDIA GPU")
import pycuda.driver as cuda
from tests.soak import soak
cuda.init()
print(*(soak(4000, threads=8, seed=seed, ordinal=0) for seed in (1, 2)))
"""


def test_soak(context):
    # In a process of its own, so that nothing else uses memory meanwhile.
    done = [int(number) for number in run_python(PROGRAM).stdout.split()]
    assert len(done) == 2 and all(number >= 4000 for number in done)
