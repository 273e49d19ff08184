"""Several devices, a thread for each: a sum of squares in parts.

``RTCG_VIRTUAL_DEVICES=3 python examples/devices_threads.py`` has three virtual GPUs.
"""

import sys
import threading

import numpy as np

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = "__global__ void square(double *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] *= x[i]; }"
N_EACH = 1 << 16


class Worker(threading.Thread):
    """Has a context of its device as long as it runs; what goes wrong is kept for the main thread."""

    def __init__(self, index, part):
        super().__init__()
        self.index, self.part, self.total, self.error = index, part, None, None

    def run(self):
        try:
            context = cuda.Device(self.index).make_context()
            try:
                self.total = self.sum_of_squares()
                self.device_name = context.get_device().name()
            finally:
                context.pop()
                context.detach()
        except Exception as error:
            self.error = error

    def sum_of_squares(self):
        x = gpuarray.to_gpu(self.part)
        SourceModule(SOURCE).get_function("square")(x, block=(256, 1, 1), grid=(N_EACH // 256, 1))
        return float(gpuarray.sum(x).get())


def main():
    cuda.init()
    n_devices = cuda.Device.count()
    # Whole numbers: sums in any order are exact.
    x = np.random.default_rng(0).integers(-100, 101, n_devices * N_EACH).astype(np.float64)
    workers = [Worker(i, part) for i, part in enumerate(x.reshape(n_devices, N_EACH))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.error is not None:
            raise worker.error
        print(f"device {worker.index}, {worker.device_name}: {worker.total:.0f}")
    right = sum(worker.total for worker in workers) == np.dot(x, x)
    print(f"{n_devices} devices: {'equal to NumPy' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
