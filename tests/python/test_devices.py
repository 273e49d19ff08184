"""`rtcg.devices`: contexts for blocks, and work for several devices."""

import os
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

OTHER_DEVICE = """
import numpy as np
import rtcg.numpy as xp
from rtcg import array_api, devices, driver

with devices.use(1) as context:  # the first thing that the program does with devices
    assert context.device == driver.Device(1)
first, second = driver.Device(0), driver.Device(1)
host = np.arange(2_000_000.0).reshape(1000, 2000)
with devices.use(0):
    a = xp.to_gpu(host)
    few = xp.arange(5)

def check():
    assert a.device == first and few[2:].device == first and (a + 1).device == first
    assert a.__dlpack_device__() == (2, 0)
    assert repr(a) == repr(host) and str(a) == str(host) and repr(few) == repr(np.arange(5))
    assert repr(a[:, :3]) == repr(host[:, :3]) and repr(a.T) == repr(host.T)
    assert a.to_device(first) is a and isinstance(a.to_device("cpu"), np.ndarray)
    for moved in (few.to_device(second), few.to_device(1), xp.asarray(few, device=1),
                  xp.asarray(few, device=second), xp.astype(few, "i8", device=second),
                  array_api.asarray(few, device=second), xp.from_dlpack(few, device=second)):
        assert moved.device == second and moved.ptr != few.ptr and moved.get().tolist() == [0, 1, 2, 3, 4]
        assert moved.__dlpack_device__() == (2, 1)
    made = xp.asarray([1, 2], device=second)
    assert made.device == second and made.get().tolist() == [1, 2]
    for call in (lambda: xp.asarray(few, device=second, copy=False), lambda: few.to_device("gpu"),
                 lambda: xp.asarray(few, device="cpu")):
        try:
            call()
            raise SystemExit("no error")
        except ValueError:
            pass

check()
with devices.use(1):
    check()
    shared = xp.from_dlpack(few)
    assert shared.device == first and shared.ptr == few.ptr
with devices.use(0):
    check()
    assert xp.asarray(few, device=first) is few
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


@pytest.mark.parametrize("program, count", [(PROGRAM, 3), (OTHER_DEVICE, 2)], ids=["map", "other device"])
def test_several_devices(on_virtual_device, program, count):
    if not on_virtual_device:
        pytest.skip(f"needs {count} devices")
    environment = os.environ | {"RTCG_VIRTUAL_DEVICES": str(count)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.stdout == "right\n", found.stderr
