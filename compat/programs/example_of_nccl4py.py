"""An example of NVIDIA's for nccl4py, unchanged: ``python compat/programs/example_of_nccl4py.py FILE``.

cuda.core counts devices with NVML, which the virtual GPU does not have; here the driver counts them.
"""

import runpy
import sys

from cuda.bindings import driver
from cuda.core import system


def count_devices():
    driver.cuInit(0)
    _, n_devices = driver.cuDeviceGetCount()
    return n_devices


if __name__ == "__main__":
    system.get_num_devices = count_devices
    sys.argv[:] = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
