"""`rtcg.devices`: contexts for blocks, and work for several devices."""

import subprocess
import sys

import pytest

from rtcg import devices, driver

PROGRAM = """
import threading
import numpy as np
import rtcg.numpy as xp
from rtcg import devices, driver

driver.init()
assert driver.Device.count() == 3
seen, lock = set(), threading.Lock()
together = threading.Barrier(3)

def total(part, factor):
    together.wait(30)  # three devices at once
    with lock:
        seen.add(driver.Context.get_device())
    return float((xp.asarray(part) * factor).sum().get())

x = np.arange(6000.0).reshape(6, 1000)
assert devices.map(total, x, [2.0] * 6) == [2 * part.sum() for part in x]
assert len(seen) == 3
assert driver.Context.get_current() is None

with devices.use(2) as context:
    assert driver.Context.get_device() == driver.Device(2) and driver.Context.get_current() == context
    kept = xp.arange(10)
with devices.use(driver.Device(2)):
    assert kept.get().tolist() == list(range(10))

done = []
def fails(n):
    if n == 1:
        raise KeyError(n)
    done.append(n)
try:
    devices.map(fails, range(100), devices=[0])
    raise SystemExit("no error")
except KeyError:
    assert done == [0]
for call, message in [(lambda: devices.map(fails, [1], devices=[]), "devices is empty"),
                      (lambda: devices.map(fails, [1], [2, 3]), "lengths [1, 2]")]:
    try:
        call()
        raise SystemExit("no error")
    except ValueError as error:
        assert message in str(error), error
print("right")
"""


@pytest.mark.parametrize("name, call", [
    ("device", lambda device: devices.use(device)),
    ("devices[0]", lambda device: devices.map(abs, [1], devices=[device])),
])  # fmt: skip
def test_devices_that_are_not_there_are_named(context, name, call):
    for device in ("a", 99):
        with pytest.raises(ValueError) as raised:
            call(device)
        assert f"{name} is {device!r}; expected an ordinal below {driver.Device.count()}" in str(raised.value)
    with pytest.raises(TypeError, match="device is 1.5; expected an ordinal"):
        call(1.5)


def test_a_device_is_found_by_its_bus(context):
    device = driver.Context.get_device()
    with devices.use(device.pci_bus_id()) as current:
        assert current.get_device() == device


def test_work_is_done_on_all_devices(on_virtual_device):
    if not on_virtual_device:
        pytest.skip("needs three devices")
    import os

    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | {"RTCG_VIRTUAL_DEVICES": "3"}, capture_output=True, text=True
    )
    assert found.stdout == "right\n", found.stderr
