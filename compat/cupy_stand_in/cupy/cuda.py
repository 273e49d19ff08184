"""Devices and streams as `cupy.cuda` has them, and `rtcg.nccl` as `cupy.cuda.nccl`."""

import sys
from types import SimpleNamespace

from rtcg import devices, driver, nccl

sys.modules[f"{__name__}.nccl"] = nccl
driver.init()


class Device:
    def __init__(self, device):
        self.id = device
        self._blocks = []

    def use(self):
        devices.primary_context(self.id).push()

    def synchronize(self):
        with devices.use(self.id):
            driver.Context.synchronize()

    def __enter__(self):
        self._blocks.append(devices.use(self.id))
        self._blocks[-1].__enter__()
        return self

    def __exit__(self, *error):
        self._blocks.pop().__exit__(*error)


class Stream:
    #: The legacy default stream.
    null = SimpleNamespace(ptr=0, synchronize=driver.Context.synchronize)


runtime = SimpleNamespace(getDeviceCount=driver.Device.count)
