"""The tests of sasmodels' models on its engine for CUDA: ``sasmodels_tests.py MODEL ...``.

The engine of version 1.1.0 asks a `SourceModule` for kernels as attributes, which PyCUDA's does not have, and the time
of `time.clock`, which Python has no longer.
"""

import os
import sys
import time

os.environ["SAS_OPENCL"] = "cuda"

from pycuda.compiler import SourceModule

SourceModule.__getattr__ = SourceModule.get_function
time.clock = time.perf_counter

from sasmodels import model_test  # noqa: E402

sys.argv[1:1] = ["-e", "cuda"]
sys.exit(model_test.main())
