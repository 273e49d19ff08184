"""What a host does to run the CUDA programs of this folder: compile, allocate, and launch.

Each function has the arguments and the results of the program of the same name, on arrays of a device; none waits.
"""

import functools
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from rtcg import driver
from rtcg.compiler import SourceModule


@functools.cache
def kernel(context, file, name, *options):
    """A kernel of a file, compiled once for a context."""
    source = Path(__file__).with_name(file + ".cu").read_text()
    return SourceModule(source, options=list(options), no_extern_c=True).get_function(name)


def get_kernel(file, name, *options):
    return kernel(driver.Context.get_current(), file, name, *options)


@functools.cache
def multiprocessors(device):
    return device.get_attribute(driver.device_attribute.MULTIPROCESSOR_COUNT)


def blocks_for(n, per_block, per_multiprocessor=8):
    """Blocks that take strides of a grid: no more than run at once."""
    return max(1, min(-(-n // per_block), per_multiprocessor * multiprocessors(driver.Context.get_device())))


def threads(count):
    return (count, 1, 1)


@functools.cache
def scratch(context, name, nbytes):
    """Memory that holds zeros when a kernel begins and when it ends, kept between calls."""
    return xp.zeros(nbytes, np.uint8)


def tickets(name, nbytes=4):
    return scratch(driver.Context.get_current(), name, nbytes)


# -- axpy -------------------------------------------------------------------------------------


def axpy(a, x, y):
    z, n = xp.empty_like(x), x.size
    get_kernel("axpy", "axpy")(a, x, y, z, np.int32(n), block=threads(256), grid=(blocks_for(n, 1024), 1))
    return z


# -- benchmark --------------------------------------------------------------------------------


def identity(x):
    y, n = xp.empty_like(x), x.size
    get_kernel("benchmark", "identity")(x, y, np.int32(n), block=threads(256), grid=(blocks_for(n, 1024), 1))
    return y


# -- black_scholes ----------------------------------------------------------------------------


def black_scholes(prices, strikes, years, rate, volatility):
    calls, puts, n = xp.empty_like(prices), xp.empty_like(prices), prices.size
    get_kernel("black_scholes", "black_scholes")(
        prices, strikes, years, rate, volatility, calls, puts, np.int32(n),
        block=threads(256), grid=(blocks_for(n, 1024), 1),
    )  # fmt: skip
    return calls, puts


# -- extrema ----------------------------------------------------------------------------------


def extrema(x):
    blocks = blocks_for(x.size, 4096)
    partials = xp.empty((blocks, 16), np.uint8)
    found = [xp.empty((), dtype) for dtype in (np.int64, np.float32) * 2]
    get_kernel("extrema", "extrema")(
        x, np.int32(x.size), partials, tickets("extrema"), *found, block=threads(256), grid=(blocks, 1)
    )
    return tuple(found)


# -- fibonacci --------------------------------------------------------------------------------


def fibonacci(n):
    out, tiles = xp.empty(n, np.int64), -(-n // 2048)
    status = xp.zeros(1 + tiles, np.uint32)
    matrices = xp.empty((2, tiles, 3), np.int64)
    get_kernel("fibonacci", "fibonacci")(
        out, np.int32(n), status, status[1:], matrices[0], matrices[1], block=threads(256), grid=(tiles, 1)
    )
    return out


# -- mandelbrot -------------------------------------------------------------------------------


def mandelbrot(lower, scale, shape, threshold, limit):
    width, height = shape
    times = xp.empty(width * height, np.int64)
    get_kernel("mandelbrot", "mandelbrot")(
        *lower, *scale, np.int32(width), np.int32(height), threshold, np.int32(limit), times,
        block=(16, 16, 1), grid=(-(-width // 16), -(-height // 16)),
    )  # fmt: skip
    return times


# -- p14 --------------------------------------------------------------------------------------


def longest(n):
    start, length, memory = xp.empty((), np.int64), xp.empty((), np.int64), tickets("p14", 16)
    get_kernel("p14", "longest")(
        np.uint32(n), memory, memory[8:], start, length, block=threads(256), grid=(blocks_for(n, 256, 32), 1)
    )
    return start, length


# -- laplace ----------------------------------------------------------------------------------


def laplace(u, shape, squares, steps, stream=None, buffers=None):
    """With a launch for each step; `laplace_graph` has them in a graph."""
    (ny, nx), (dx2, dy2) = shape, map(np.float64, squares)
    step, grid = get_kernel("laplace", "step"), (-(-nx // 128), -(-ny // 8))
    targets = [xp.empty_like(u), xp.empty_like(u)] if buffers is None else buffers
    for k in range(steps):
        out = targets[k % 2]
        step(u, out, np.int32(ny), np.int32(nx), dx2, dy2, block=threads(128), grid=grid, stream=stream)
        u = out
    return u


def laplace_graph(u, shape, squares, steps):
    """What runs all steps as one graph and returns their result, which the next run overwrites."""
    get_kernel("laplace", "step")
    stream, buffers = driver.Stream(), [xp.empty_like(u), xp.empty_like(u)]
    stream.begin_capture(driver.capture_mode.RELAXED)
    out = laplace(u, shape, squares, steps, stream, buffers)
    graph = stream.end_capture().instantiate()

    def run():
        graph.launch()
        return out

    # What the graph reads and writes exists as long as it.
    run.arrays = [u, *buffers]
    return run


# -- radix_sort -------------------------------------------------------------------------------


def radix_sort(x, bits, lsb):
    n, tiles = x.size, -(-x.size // 4096)
    scans = [get_kernel("radix_sort", name) for name in ("scan_ones", "scan_zeros")]
    permute = get_kernel("radix_sort", "permute")
    sums, targets = xp.empty((2, n), np.int32), [xp.empty_like(x), xp.empty_like(x)]
    # What tiles publish, for each pass: the ticket first.
    status = xp.zeros((max(bits - lsb, 0), 2, 1 + tiles), np.uint64)
    for bit in range(lsb, bits):
        for which, scan in enumerate(scans):
            published = status[bit - lsb, which]
            scan(
                x, sums[which], np.int32(n), np.int32(bit), published, published[1:],
                block=threads(256), grid=(tiles, 1),
            )  # fmt: skip
        out = targets[bit % 2]
        permute(
            x, sums[0], sums[1], out, np.int32(n), np.int32(bit), block=threads(256), grid=(blocks_for(n, 256, 16), 1)
        )
        x = out
    return x


# -- gemv -------------------------------------------------------------------------------------


def gemv(matrix, x):
    rows, columns = matrix.shape
    y = xp.empty(rows, np.float32)
    if columns <= 32:
        narrow = get_kernel("gemv", "gemv_narrow", f"-DCOLUMNS={columns}")
        narrow(matrix, x, y, np.int32(rows), block=threads(256), grid=(blocks_for(rows, 256, 16), 1))
    elif rows >= 4 * multiprocessors(driver.Context.get_device()):
        get_kernel("gemv", "gemv_wide")(matrix, x, y, np.int32(columns), block=threads(256), grid=(rows, 1))
    else:
        blocks = blocks_for(columns, 4096, max(1, 16 // rows))
        get_kernel("gemv", "gemv_long")(
            matrix, x, y, np.int32(columns), xp.empty((rows, blocks), np.float32), tickets("gemv", 4 * rows),
            block=threads(256), grid=(blocks, rows),
        )  # fmt: skip
    return y


# -- spmv -------------------------------------------------------------------------------------


def spmv(offsets, columns, values, x):
    rows = offsets.size - 1
    y, mean = xp.empty(rows, np.float32), values.size / max(rows, 1)
    lanes = next((lanes for lanes in (1, 2, 4, 8, 16) if mean <= 4 * lanes), 32)
    get_kernel("spmv", "spmv", f"-DLANES={lanes}")(
        offsets, columns, values, x, y, np.int32(rows), block=threads(256), grid=(blocks_for(rows * lanes, 256, 16), 1)
    )
    return y


# -- of_cg ------------------------------------------------------------------------------------


def of_cg(steps, width, right, begin, fields):
    n = right[0].size
    x = xp.stack(begin, axis=1)
    r, z, product, *directions = (xp.empty((n, 2), np.float32) for _ in range(5))
    blocks, grid = xp.empty((n, 4), np.float32), blocks_for(n, 256)
    partials, ticket = xp.empty(grid, np.float32), tickets("of_cg")
    curvature, *norms = (xp.empty((), np.float32) for _ in range(3))
    directions[1].fill(0)
    start, apply, advance = (get_kernel("of_cg", name) for name in ("start", "apply", "advance"))
    pointers = np.array([field.ptr for field in fields], np.uint64)
    size = {"block": threads(256), "grid": (grid, 1)}
    width, n = np.int32(width), np.int32(n)
    start(pointers, *right, x, r, z, blocks, width, n, partials, ticket, norms[0], **size)
    for k in range(steps):
        direction, last = directions[k % 2], directions[(k + 1) % 2]
        norm, other = norms[k % 2], norms[(k + 1) % 2]
        apply(
            pointers, z, last, direction, product, width, n, np.int32(k == 0), norm, other, partials, ticket, curvature,
            **size,
        )  # fmt: skip
        advance(direction, product, blocks, x, r, z, n, norm, curvature, partials, ticket, other, **size)
    return x[:, 0], x[:, 1]


# -- svm_train --------------------------------------------------------------------------------


def svm_iteration(points, labels, gamma, alpha, f, high, low, high_step, low_step, eps, cost, infinity):
    n, width = points.shape
    blocks, new_f = blocks_for(n, 8), xp.empty_like(f)
    found = [xp.empty((), dtype) for dtype in (np.int64, np.float32) * 2]
    get_kernel("svm_train", "iteration")(
        points, labels, alpha, f, new_f, np.int32(n), np.int32(width), np.int32(high), np.int32(low), gamma, high_step,
        low_step, eps, cost, infinity, xp.empty((blocks, 16), np.uint8), tickets("svm_train"), *found,
        block=threads(256), grid=(blocks, 1), shared=8 * width,
    )  # fmt: skip
    return new_f, tuple(found)


# -- counting_sort ----------------------------------------------------------------------------


def counting_sort(x):
    n, out = np.int32(x.size), xp.empty_like(x)
    ranks = xp.zeros(x.size, np.int32)
    get_kernel("counting_sort", "rank")(x, ranks, n, block=threads(128), grid=(-(-x.size // 512), -(-x.size // 1024)))
    get_kernel("counting_sort", "permute")(x, ranks, out, n, block=threads(128), grid=(-(-x.size // 128), 1))
    return out
