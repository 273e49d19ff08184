"""What launches, events and getters cost on the host beyond the driver's own call.

On a real GPU the floor is the driver's function called in a loop in C, in the same process and in turns with ours.
Without a GPU a driver that does nothing stands in its place (`tests/python/stub_driver.c`): what is left is the cost
of this package alone.
"""

import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import timeit
from pathlib import Path

from common import LAUNCHED_SOURCE, SMALL_CALLS, c_loops, interleaved_us, small_objects

STUB = Path(__file__).resolve().parents[1] / "tests" / "python" / "stub_driver.c"

# Small calls that are a function of the driver: its name, and which objects it is given.
DRIVERS_OWN = {
    "event.record": ("cuEventRecord", "event", None),
    "event.record, stream": ("cuEventRecord", "event", "stream"),
    "event.query": ("cuEventQuery", "event", None),
    "stream.is_done": ("cuStreamQuery", "stream", None),
}

# Statement, the C loop that is its floor, and the goal above the floor in microseconds.
CALLS = {
    "prepared_call": ("prepared_call(grid, block, z, x, 32)", "packed", 0.15),
    "prepared_async_call": ("prepared_async_call(grid, block, stream, z, x, 32)", "packed", 0.15),
    "direct": ("function(z, x, n, block=block, grid=grid)", "packed", 0.4),
    "direct, Python's int": ("function(z, x, 32, block=block, grid=grid)", "packed", 0.4),
    "direct, stream=": ("function(z, x, n, block=block, grid=grid, stream=stream)", "packed", 0.4),
    **{name: (statement, name if name in DRIVERS_OWN else None, 0.15) for name, statement in SMALL_CALLS.items()},
}


def stub_library():
    path = Path(tempfile.mkdtemp(prefix="rtcg-bench-")) / "libcuda.so.1"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", path, STUB], check=True)
    return path


def has_gpu():
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return library.cuInit(0) == 0 and library.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def names():
    """What the statements speak of."""
    import numpy as np

    import pycuda.driver as drv
    from pycuda.compiler import SourceModule, compile

    drv.init()
    context = drv.Device(0).make_context()
    # With the source the types of arguments are known and checked.
    image, module = compile(LAUNCHED_SOURCE), SourceModule(LAUNCHED_SOURCE)
    function, prepared = module.get_function("add"), module.get_function("add").prepare("PPi")
    x, z = drv.mem_alloc(128), drv.mem_alloc(128)
    return {
        **small_objects(function),
        "context": context, "image": image, "x": x, "z": z, "n": np.int32(32), "grid": (1, 1), "block": (32, 1, 1),
        "prepared_call": prepared.prepared_call, "prepared_async_call": prepared.prepared_async_call,
        "synchronize": drv.Context.synchronize,
    }  # fmt: skip


def c_floors(library, known):
    """Loops in C over the driver's functions: arguments by pointer, packed arguments, events and streams."""
    cuda, loops = ctypes.CDLL(str(library)), c_loops()
    module, handle = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuModuleLoadDataEx(ctypes.byref(module), known["image"], 0, None, None) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(handle), module, b"add") == 0
    values = (ctypes.c_uint64(int(known["z"])), ctypes.c_uint64(int(known["x"])), ctypes.c_int(32))
    pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
    packed = ctypes.create_string_buffer(b"".join(bytes(value) for value in values))
    launch = ctypes.cast(cuda.cuLaunchKernel, ctypes.c_void_p)
    keep = (values, packed)

    def by_pointer(calls):
        return loops.launch_loop(launch, handle, pointers, calls) * calls / 1e6 if keep else None

    def by_buffer(calls):
        return loops.packed_loop(launch, handle, packed, ctypes.c_ulong(20), calls) * calls / 1e6

    def own(function, *objects):
        handles = [ctypes.c_void_p(known[name].handle if name else None) for name in objects]
        address = ctypes.cast(getattr(cuda, function), ctypes.c_void_p)
        return lambda calls: loops.two_loop(address, *handles, calls) * calls / 1e6

    calls = {name: own(*call) for name, call in DRIVERS_OWN.items()}
    return {"pointers": by_pointer, "packed": by_buffer, **calls}


def table(library):
    known = names()
    floors = c_floors(library, known)
    loops = {f"C: {name}": loop for name, loop in floors.items()}
    loops |= {name: timeit.Timer(statement, globals=known).timeit for name, (statement, _, _) in CALLS.items()}
    loops["an empty loop"] = timeit.Timer("pass", globals=known).timeit
    for summary in (statistics.median, min):
        times = {name: us for name, us, _ in interleaved_us(loops, known["synchronize"], rounds=101, summary=summary)}
        print(f"\n{summary.__name__} of 101 rounds of 200 calls, us                    time   over C    goal")
        for name, us in times.items():
            _, floor, goal = CALLS.get(name, (None, None, None))
            over = us - times[f"C: {floor}"] if floor else us
            is_ours = name in CALLS
            shown = f"{over:8.3f}" if is_ours else 8 * " "
            aim = f"{goal:8.2f}{'' if over <= goal else '  missed'}" if goal else ""
            print(f"  {name:<40}{us:10.3f} {shown}{aim}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stub", action="store_true", help="the driver that does nothing, also where there is a GPU")
    wishes = parser.parse_args()
    os.environ["RTCG_VIRTUAL_DEVICES"] = "0"
    is_stub = wishes.stub or not has_gpu()
    library = stub_library() if is_stub else "libcuda.so.1"
    if is_stub:
        os.environ["RTCG_LIBCUDA"] = str(library)
        print("the driver is one that does nothing")
    table(library)


if __name__ == "__main__":
    main()
