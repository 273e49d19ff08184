"""Arrays beside CuPy and PyTorch (as far as they are installed), in one run.

Host times are for many calls between two waits, medians of several rounds in which the libraries take turns; bandwidths
are over the bytes that an operation must move. Run it with ``python benches/arrays.py [table ...]``; the tables are
``small``, ``sizes``, ``large``, ``tall``, ``rows``, ``products``, ``fourier`` and ``transfers``, by default all. On the virtual GPU, where there
are no peers, the large arrays are smaller. ``RTCG_STAGING=never`` shows the driver's own copies of pageable memory in
``transfers``.
"""

import statistics
import sys
import time

import numpy as np
from common import attempt, interleaved_us, python_loop

import pycuda.autoprimaryctx  # which the peers use too
import rtcg.driver as cuda
from rtcg import numpy as rnp
from rtcg.elementwise import ElementwiseKernel

ROUNDS = 7
IS_VIRTUAL = cuda.Device(0).is_virtual
SIDE = 512 if IS_VIRTUAL else 8192


def peers():
    """(name, maker from a host array, wait, copy to the host) of each library that is there."""
    wait = pycuda.autoprimaryctx.context.synchronize
    found = [("rtcg", rnp.to_gpu, wait, lambda a: a.get())]
    try:
        import cupy

        found.append(("cupy", cupy.asarray, cupy.cuda.Device().synchronize, cupy.asnumpy))
    except ImportError:
        pass
    try:
        import torch

        found.append(("torch", lambda a: torch.as_tensor(a).cuda(), torch.cuda.synchronize, lambda a: a.cpu().numpy()))
    except ImportError:
        pass
    return found


def device_ms(call, wait, calls=20):
    """Milliseconds of one call on the device, by the clock over many calls that fill the queue."""
    call()
    rounds = []
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        rounds.append((time.perf_counter() - start) / calls * 1e3)
    return statistics.median(rounds)


SMALL = {
    "a + b": lambda a, b: a + b,
    "a * 2.0": lambda a, b: a * 2.0,
    "a += b": lambda a, b: a.__iadd__(b),
    "a > b": lambda a, b: a > b,
    "sum(a)": lambda a, b: a.sum(),
    "a.reshape(32, -1).max(0)": lambda a, b: a.reshape(32, -1).max(0),
    "a[::2]": lambda a, b: a[::2],
    "a[::2] + b[1::2]": lambda a, b: a[::2] + b[1::2],
}
# The operation and the times that its operands cross the memory.
LARGE = {
    "a + b": (lambda a, b: a + b, 3),
    "a + b[::-1]": (lambda a, b: a + b.flip(0) if hasattr(b, "flip") and not hasattr(b, "gpudata") else a + b[::-1], 3),
    "a.T + b.T": (lambda a, b: a.T + b.T, 3),
    "a + b.T": (lambda a, b: a + b.T, 3),
    "a + b[0]": (lambda a, b: a + b[0], 2),
    "a + b[:, :1]": (lambda a, b: a + b[:, :1], 2),
    "a[:, ::2] * 2": (lambda a, b: a[:, ::2] * 2, 1.5),
    "sum(a)": (lambda a, b: a.sum(), 1),
    "sum(a, 0)": (lambda a, b: a.sum(0), 1),
    "sum(a, 1)": (lambda a, b: a.sum(1), 1),
    "a == b": (lambda a, b: a == b, None),
}


def host_us(call, n):
    """(library, microseconds) of `call(a, b)` with float32 arrays of `n` elements."""
    loops, waits = {}, []
    for library, make, wait, _ in peers():
        a, b = make(np.ones(n, np.float32)), make(np.ones(n, np.float32))
        call(a, b)
        loops[library] = python_loop(lambda a=a, b=b: call(a, b))
        waits.append(wait)
    return [row[:2] for row in interleaved_us(loops, lambda: [wait() for wait in waits])]


def shown(rows, digits=2):
    return "  ".join(f"{library} {figure:8.{digits}f}" for library, figure in rows)


def small():
    """What few elements cost on the host."""
    print(f"\n{cuda.Device(0).name()}, 1024 float32, host us a call")
    for name, call in SMALL.items():
        print(f"{name:26}", shown(host_us(call, 1024)))
    kernel = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]")
    x = rnp.to_gpu(np.ones(1024, np.float32))
    z = rnp.empty_like(x)
    own = {
        "ElementwiseKernel": lambda: kernel(2, x, 3, x, z),
        "GPUArray((1024,), float32)": lambda: rnp.GPUArray((1024,), np.float32),
    }
    for name, call in own.items():
        call()
        rows = interleaved_us({"rtcg": python_loop(call)}, pycuda.autoprimaryctx.context.synchronize)
        print(f"{name:26}", shown([row[:2] for row in rows]))


def sizes():
    """From one element to 10^5: where launch and geometry decide."""
    for name in ("a + b", "a * 2.0", "sum(a)"):
        print(f"\n{name}, float32, host us a call")
        for n in (1, 10, 100, 1_000, 10_000, 100_000):
            print(f"{n:8}", shown(host_us(SMALL[name], n)))


def large():
    """Bandwidth of operands of all layouts."""
    for dtype in (np.float32, np.float16, np.complex64):
        print(f"\n{SIDE} x {SIDE} {np.dtype(dtype)}, GB/s")
        itemsize = np.dtype(dtype).itemsize
        for name, (call, passes) in LARGE.items():
            # Truth values are one byte each.
            nbytes = SIDE * SIDE * (itemsize * passes if passes else 2 * itemsize + 1)
            row = []
            for library, make, wait, _ in peers():
                a, b = make(np.ones((SIDE, SIDE), dtype)), make(np.ones((SIDE, SIDE), dtype))
                try:
                    figure = nbytes / device_ms(lambda: call(a, b), wait) / 1e6  # noqa: B023 (called at once)
                    row.append(f"{library} {figure:8.1f}")
                except (TypeError, ValueError, RuntimeError) as error:
                    row.append(f"{library} {type(error).__name__}")
            print(f"{name:20}", "  ".join(row))


# Shape, axis: few long rows whose columns are summed, many short rows, and both ways through a broad one.
TALL = [((3, 22_000_000), 0), ((22_000_000, 3), 1), ((1000, 66_000), 0), ((66_000, 1000), 0), ((66_000, 1000), 1)]


def _sum_ms(a, axis, wait):
    return device_ms(lambda: a.sum(axis), wait)


def tall():
    """Bandwidth of sums whose axes differ much in length."""
    for dtype in (np.float32, np.float16, np.float64):
        print(f"\nsums of {np.dtype(dtype)}, GB/s of what is read and written")
        for shape, axis in TALL:
            shape = tuple(n // 64 if IS_VIRTUAL and n > 1000 else n for n in shape)
            host = np.ones(shape, dtype)
            nbytes, row = host.nbytes + host.nbytes // shape[axis], []
            for library, make, wait, _ in peers():
                figure = attempt(library, lambda: nbytes / _sum_ms(make(host), axis, wait) / 1e6)  # noqa: B023
                row.append(f"{library} {figure:8.1f}" if isinstance(figure, float) else f"{library} {figure}")
            print(f"{f'{shape}, axis {axis}':28}", "  ".join(row))


def keys(dtype, n):
    """Uniform random numbers over the full range of a dtype: all bits of integers, all finite floats' bits."""
    rng = np.random.default_rng(1)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
    bits = rng.integers(0, 1 << 32, n, np.uint32)
    exponent = bits & np.uint32(0x7F800000)
    return np.where(exponent == 0x7F800000, bits ^ np.uint32(0x40000000), bits).astype(np.uint32).view(dtype)


def _module_of(library):
    """The module with NumPy's functions for a library's arrays."""
    if library == "rtcg":
        return rnp
    return __import__(library)


# The operation by the module of a library, and figures: keys, or bytes that a key moves (in, out) by their size.
ROWS = {
    "sort": (lambda xp, a: xp.sort(a), None),
    "argsort": (lambda xp, a: xp.argsort(a), None),
    "cumsum": (lambda xp, a: xp.cumsum(a, 0), lambda a, result: a + result),
    "cumsum in the dtype": (lambda xp, a: xp.cumsum(a, 0, dtype=a.dtype), lambda a, result: a + result),
}


def _row_figure(name, library, make, wait, host):
    """Gkey/s of a sort, GB/s of scans."""
    call, moved = ROWS[name]
    xp, a = _module_of(library), make(host)
    result = call(xp, a)
    itemsize = (result[0] if isinstance(result, tuple) else result).dtype.itemsize
    del result
    ms = device_ms(lambda: call(xp, a), wait, 3 if IS_VIRTUAL else 10)
    return host.size * (moved(host.itemsize, itemsize) if moved else 1) / ms / 1e6


def rows():
    """One long row: sorts of keys over the full range of their dtype, and scans."""
    n = (1 << 16) if IS_VIRTUAL else (1 << 26)
    for dtype in (np.int32, np.float32, np.int64):
        host = keys(dtype, n)
        print(f"\n{n} {np.dtype(dtype)}, Gkey/s of sorts, GB/s of scans")
        for name in ROWS:
            row = []
            for library, make, wait, _ in peers():
                figure = attempt(library, lambda: _row_figure(name, library, make, wait, host))  # noqa: B023
                row.append(f"{library} {figure:8.3f}" if isinstance(figure, float) else f"{library} {figure}")
            print(f"{name:20}", "  ".join(row))


# Stacks, rows, columns and the common axis of products.
PRODUCTS = [(1, n, n, n) for n in (512, 1024, 4096)] + [
    (64, 256, 256, 256),
    (1, 131072, 64, 64),
    (1, 4000, 4001, 4003),
]


def _product_figure(make, wait, a, b):
    """TFLOP/s of a product, complex ones counted as four real ones."""
    x, y = make(a), make(b)
    ms = device_ms(lambda: x @ y, wait, 1 if IS_VIRTUAL else 5)
    stack, m, k = a.shape
    return 2e-9 * stack * m * k * b.shape[-1] * (4 if a.dtype.kind == "c" else 1) / ms


def products():
    """Matrix products, which tensor cores do where they have the dtype."""
    for dtype in (np.float16, np.float32, np.float64, np.complex64, np.complex128, np.int32):
        print(f"\n{np.dtype(dtype)}, TFLOP/s of matrix products")
        for stack, m, n, k in PRODUCTS:
            if IS_VIRTUAL:
                m, n, k = (min(extent, 512) for extent in (m, n, k))
            rng = np.random.default_rng(1)
            a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((stack, m, k), (stack, k, n)))
            row = []
            for library, make, wait, _ in peers():
                figure = attempt(library, lambda: _product_figure(make, wait, a, b))  # noqa: B023
                row.append(f"{library} {figure:8.2f}" if isinstance(figure, float) else f"{library} {figure}")
            print(f"{f'{stack} x ({m}, {k}) @ ({k}, {n})':40}", "  ".join(row))


def _transform_of(library):
    """The function that transforms along the last axis."""
    if library == "rtcg":
        import rtcg.fft

        return rtcg.fft.fft
    return __import__(library).fft.fft


def _fourier_figure(library, make, wait, host):
    """GB/s of a transform that reads and writes each element once."""
    transform, a = _transform_of(library), make(host)
    ms = device_ms(lambda: transform(a), wait, 3 if IS_VIRTUAL else 10)
    return 2 * host.nbytes / ms / 1e6


def fourier():
    """Fourier transforms: many short ones, a few long ones, single ones."""
    total = 1 << (20 if IS_VIRTUAL else 24)
    lengths = [256, 1000, 1024, 4096, 10007, 1 << 16, 1 << 20] + ([] if IS_VIRTUAL else [1 << 22, 1 << 24])
    for dtype in (np.complex64, np.complex128):
        print(f"\n{np.dtype(dtype)}, GB/s of Fourier transforms")
        for n in lengths:
            shape = (max(total // n, 1), n)
            rng = np.random.default_rng(1)
            host = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
            row = []
            for library, make, wait, _ in peers():
                figure = attempt(library, lambda: _fourier_figure(library, make, wait, host))  # noqa: B023
                row.append(f"{library} {figure:8.1f}" if isinstance(figure, float) else f"{library} {figure}")
            print(f"{shape!s:20}", "  ".join(row))


def gigabytes_per_second(call, nbytes):
    """The median over rounds in which the result goes before the next one comes."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = call()
        rounds.append(time.perf_counter() - start)
        del result
    return nbytes / statistics.median(rounds) / 1e9


def transfers():
    """Copies between pageable memory and the device."""
    for n in (1 << 16, 1 << 20, 1 << 22, (1 << 24) if IS_VIRTUAL else (1 << 26)):
        host, target = np.ones(n, np.float32), np.ones(n, np.float32)
        print(f"\n{n} float32 of pageable memory, GB/s")
        rows = {"to the device": [], "to new memory": []}
        for library, make, wait, fetch in peers():

            def upload(make=make, wait=wait):
                made = make(host)  # noqa: B023 (called at once)
                wait()
                return made

            device = upload()
            rows["to the device"].append((library, gigabytes_per_second(upload, host.nbytes)))
            fetched = gigabytes_per_second(lambda: fetch(device), host.nbytes)  # noqa: B023 (called at once)
            rows["to new memory"].append((library, fetched))
        device = rnp.to_gpu(host)
        rows["a.get(touched)"] = [("rtcg", gigabytes_per_second(lambda: device.get(target), host.nbytes))]  # noqa: B023
        rows["a.set(host)"] = [("rtcg", gigabytes_per_second(lambda: device.set(host), host.nbytes))]  # noqa: B023
        for name, row in rows.items():
            print(f"{name:20}", shown(row))


TABLES = {
    "small": small,
    "sizes": sizes,
    "large": large,
    "tall": tall,
    "rows": rows,
    "products": products,
    "fourier": fourier,
    "transfers": transfers,
}


def main():
    """Prints the tables that the command line names."""
    wanted = sys.argv[1:] or list(TABLES)
    if unknown := [name for name in wanted if name not in TABLES]:
        sys.exit(f"there is no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    for name in wanted:
        TABLES[name]()


if __name__ == "__main__":
    main()
