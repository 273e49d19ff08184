"""A program of `test_dask_distributed.py`: tasks with arrays and kernels on three workers, one of which is killed.

Two workers have a virtual device each, as dask-cuda gives each one GPU; the third may have none. Prints what it found.
"""

import os
import signal
import tempfile
import time
from pathlib import Path

import dask
import numpy as np

import rtcg.numpy as rnp
from rtcg import driver
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel

triple = ElementwiseKernel("double *z, const double *x", "z[i] = 3 * x[i]", name="triple")


def made(count):
    return rnp.arange(count, dtype=np.float64)


def tripled(array):
    z = rnp.empty_like(array)
    triple(z, array)
    return z


def added(array, kernel):
    """The kernel comes with the task."""
    z = array.copy()
    kernel(z, block=(len(z), 1, 1))
    return z


def where(array):
    """The place of the device of an array that was sent, and of one that is made here."""
    return [on.device.pci_bus_id() for on in (array, rnp.zeros(1))]


def total(array):
    return float(array.sum().get())


def slowly(array, k, folder):
    """Says that it has begun, so that its process can be killed."""
    Path(folder, f"{k}.{os.getpid()}").touch()
    time.sleep(0.2)
    return array * k


def kill_one(folder):
    """Kills a worker within its second task."""
    while True:
        pids = [name.split(".")[1] for name in os.listdir(folder)]
        for pid in pids:
            if pids.count(pid) > 1:
                os.kill(int(pid), signal.SIGKILL)
                return
        time.sleep(0.01)


def main(folder):
    from distributed import Client, Nanny, Scheduler, SpecCluster

    environments = {
        "first": {"CUDA_DEVICE": "0", "RTCG_VIRTUAL_DEVICES": "2"},
        "second": {"CUDA_DEVICE": "1", "RTCG_VIRTUAL_DEVICES": "2"},
        "none": {"RTCG_VIRTUAL_DEVICES": "0"},
    }
    common = {"host": "127.0.0.1", "silence_logs": "CRITICAL"}
    workers = {
        name: {"cls": Nanny, "options": {"nthreads": 1, "env": env, **common}} for name, env in environments.items()
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1"}}
    cluster = SpecCluster(workers=workers, scheduler=scheduler, silence_logs="CRITICAL")
    with cluster, Client(cluster) as client:
        on = lambda name: {"workers": [name], "pure": False}  # noqa: E731
        pids = list(client.run(os.getpid).values())
        first, second = client.submit(made, 100, **on("first")), client.submit(made, 200, **on("second"))
        # An array that another worker made, and one that is sent from here.
        driver.init()
        bus = [driver.Device(k).pci_bus_id() for k in range(2)]
        assert client.submit(where, first, **on("second")).result() == [bus[1]] * 2
        assert client.submit(where, made(3), **on("second")).result() == [bus[1]] * 2
        assert client.submit(where, second, **on("first")).result() == [bus[0]] * 2
        a, b = client.gather([client.submit(tripled, x, workers=["first", "second"]) for x in (first, second)])
        np.testing.assert_array_equal(a.get(), 3 * np.arange(100))
        np.testing.assert_array_equal(b.get(), 3 * np.arange(200))
        # A module is compiled for a context, so that workers must not make it when they import this file.
        add_one = SourceModule("__global__ void add_one(double *z) { z[threadIdx.x] += 1; }").get_function("add_one")
        scattered = client.scatter(made(50), workers=["second"])
        result = client.submit(added, scattered, add_one, **on("first")).result()
        np.testing.assert_array_equal(result.get(), 1 + np.arange(50))
        # What the scheduler was told of their sizes.
        sizes = client.run_on_scheduler(lambda dask_scheduler: [t.nbytes for t in dask_scheduler.tasks.values()])
        assert {400, 800, 1600} <= set(sizes), sizes
        # A host without any device.
        for given in (first, made(3)):
            future = client.submit(total, given, **on("none"))
            print(f"{type(future.exception()).__name__}: {future.exception()}")
        begun = Path(folder, "begun")
        begun.mkdir()
        futures = [client.submit(slowly, first, k, str(begun), workers=["first", "second"]) for k in range(8)]
        kill_one(begun)
        for k, array in enumerate(client.gather(futures)):
            np.testing.assert_array_equal(array.get(), k * np.arange(100))
        print(f"{len(os.listdir(begun))} tasks begun, 8 results")
    print(*pids)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made_folder, dask.config.set({"temporary-directory": made_folder}):
        main(made_folder)
