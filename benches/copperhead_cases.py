"""The programs that `copperhead.py` measures: our calls, those of the CUDA by hand, and those of other libraries."""

# ruff: noqa: E402 (the programs are in folders that are no packages)

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "copperhead"
sys.path[:0] = [str(FOLDER), str(FOLDER / "cuda")]

import axpy as axpy_program
import benchmark
import black_scholes
import blas
import extrema
import fibonacci
import laplace
import launch
import mandelbrot
import of_cg
import p14
import radix_sort
import sorting
import spmv
import svm_train

import rtcg.numpy as xp
from rtcg import driver
from rtcg.copperhead import ragged

f32 = np.float32


@dataclass
class Case:
    """One row: our call and the one by hand, what others call, and how results compare."""

    size: str
    ours: Callable
    hand: Callable
    #: Bytes that the call by hand moves at least.
    nbytes: float = math.nan
    #: Of all values, relative to the largest.
    tolerance: float = 0.0
    #: The part of all values that may be beyond the tolerance: borders where rounding decides.
    exceptions: float = 0.0
    #: By the name of the library: what makes its call and its wait.
    peers: dict[str, Callable] = field(default_factory=dict)
    #: Of the result by hand, what is compared with ours.
    shown: Callable = lambda result: result


def put(*arrays):
    found = [xp.asarray(np.ascontiguousarray(array)) for array in arrays]
    return found[0] if len(found) == 1 else found


def randoms(*shape, low=0.0, high=1.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


# -- peers ------------------------------------------------------------------------------------


def jax_call(make, *arrays):
    """A function of JAX, compiled, with its arguments on JAX's device; `make` is given the modules."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    function = jax.jit(make(jax, jnp))
    arguments = [jax.device_put(array) for array in arrays]
    last = []

    def call():
        last[:] = [function(*arguments)]
        return last[0]

    return call, lambda: jax.block_until_ready(last)


def cupy_call(make, *arrays):
    """A call of CuPy; `make` is given the module."""
    import cupy

    function = make(cupy)
    arguments = [cupy.asarray(array) if isinstance(array, np.ndarray) else array for array in arrays]
    return lambda: function(*arguments), cupy.cuda.Device().synchronize


def numba_call(make, outputs, *arrays):
    """A kernel of Numba over the elements of the first output; `make` is given the module `numba.cuda`."""
    from numba import cuda

    if not cuda.is_available():
        raise RuntimeError("numba.cuda finds no device")
    kernel = cuda.jit(make(cuda))
    arguments = [cuda.to_device(array) if isinstance(array, np.ndarray) else array for array in (*outputs, *arrays)]
    grid = -(-outputs[0].size // 256)

    def call():
        kernel[grid, 256](*arguments)
        return tuple(arguments[: len(outputs)])

    return call, cuda.synchronize


def warp_call(make, outputs, *arrays, device="cuda:0"):
    """A kernel of Warp over the elements of the first output; `make` is given the module."""
    import warp as wp

    wp.config.quiet = True
    if device not in map(str, wp.get_devices()):
        raise RuntimeError(f"warp finds no {device}")
    kernel = wp.kernel(make(wp), module="unique")
    arguments = [wp.array(array, device=device) if isinstance(array, np.ndarray) else array for array in arrays]
    results = [wp.array(array, device=device) for array in outputs]

    def call():
        wp.launch(kernel, dim=outputs[0].size, inputs=arguments, outputs=results, device=device)
        return tuple(results)

    return call, lambda: wp.synchronize_device(device)


def compute_extremes(there):
    """The least and the greatest element by a reduction of `cuda.compute`."""
    import cuda.compute as compute

    @compute.gpu_struct
    class Extremes:
        low: np.float32
        high: np.float32

    def merged(a: Extremes, b: Extremes):
        return Extremes(min(a.low, b.low), max(a.high, b.high))

    def of_one(value):
        return Extremes(value, value)

    values = compute.TransformIterator(there, of_one)
    out, init = xp.empty((), Extremes.dtype), Extremes(np.inf, -np.inf)

    def call():
        compute.reduce_into(d_in=values, d_out=out, op=merged, num_items=there.size, h_init=init)
        return out["low"], out["high"]

    return call, driver.Context.synchronize


# -- cases ------------------------------------------------------------------------------------


def sizes(full, small):
    """The size at a scale, for which a case is made."""

    def decorate(make):
        return functools.wraps(make)(lambda scale: make(full if scale == "full" else small))

    return decorate


@sizes(1 << 26, 1 << 16)
def case_axpy(n):
    a, x, y = f32(2), *randoms(2, n)
    there = put(x, y)

    def numba_kernel(cuda):
        def kernel(z, a, x, y):
            i = cuda.grid(1)
            if i < z.size:
                z[i] = a * x[i] + y[i]

        return kernel

    def warp_kernel(wp):
        def axpy(
            a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32), z: wp.array(dtype=wp.float32)
        ):
            i = wp.tid()
            z[i] = a * x[i] + y[i]

        return axpy

    return Case(
        f"{n}", lambda: axpy_program.axpy(a, *there), lambda: launch.axpy(a, *there), 12 * n, 1e-6,
        peers={
            "jax": lambda: jax_call(lambda jax, jnp: lambda x, y: a * x + y, x, y),
            "cupy": lambda: cupy_call(lambda cupy: cupy.fuse(lambda a, x, y: a * x + y), a, x, y),
            "numba": lambda: numba_call(numba_kernel, [np.empty_like(x)], a, x, y),
            "warp": lambda: warp_call(warp_kernel, [np.empty_like(x)], a, x, y),
        },
    )  # fmt: skip


@sizes(1 << 26, 1 << 16)
def case_benchmark(n):
    x = randoms(n)
    there = put(x)
    return Case(
        f"{n}", lambda: benchmark.identity(there), lambda: launch.identity(there), 8 * n,
        peers={
            "jax": lambda: jax_call(lambda jax, jnp: jnp.copy, x),
            "cupy": lambda: cupy_call(lambda cupy: lambda x: x.copy(), x),
        },
    )  # fmt: skip


@sizes(1 << 24, 1 << 13)
def case_black_scholes(n):
    columns = [randoms(n, low=low, high=high, seed=low) for low, high in ((5, 30), (1, 100), (0, 10))]
    columns[2] += f32(0.25)
    rates = black_scholes.RATE, black_scholes.VOLATILITY
    there = put(*columns)

    def in_jax(jax, jnp):
        def normal_cdf(d):
            k = 1 / (1 + f32(0.2316419) * jnp.abs(d))
            terms = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
            tail = functools.reduce(lambda sum_, term: f32(term) + k * sum_, terms[::-1], f32(0)) * k
            rest = f32(0.3989422804) * jnp.exp(f32(-0.5) * d * d) * tail
            return jnp.where(d > 0, 1 - rest, rest)

        def prices(price, strike, t):
            rate, volatility = rates
            root = volatility * jnp.sqrt(t)
            d1 = (jnp.log(price / strike) + (rate + f32(0.5) * volatility * volatility) * t) / root
            below, above = normal_cdf(d1 - root), normal_cdf(d1)
            discounted = strike * jnp.exp(-rate * t)
            return price * above - discounted * below, discounted * (1 - below) - price * (1 - above)

        return prices

    def in_cupy(cupy):
        return cupy.ElementwiseKernel(
            "T price, T strike, T t, T rate, T volatility", "T call, T put",
            """T root = volatility * sqrt(t);
            T d1 = (log(price / strike) + (rate + T(0.5) * volatility * volatility) * t) / root;
            T below = cdf(d1 - root), above = cdf(d1), discounted = strike * exp(-rate * t);
            call = price * above - discounted * below;
            put = discounted * (T(1) - below) - price * (T(1) - above);""",
            "prices",
            preamble="""template <class T> __device__ T cdf(T d) {
            T k = T(1) / (T(1) + T(0.2316419) * abs(d));
            T tail = k * (T(0.319381530) + k * (T(-0.356563782) + k * (T(1.781477937)
                   + k * (T(-1.821255978) + k * T(1.330274429)))));
            T rest = T(0.3989422804) * exp(T(-0.5) * d * d) * tail;
            return d > T(0) ? T(1) - rest : rest; }""",
        )  # fmt: skip

    return Case(
        f"{n}", lambda: black_scholes.black_scholes(*there, *rates), lambda: launch.black_scholes(*there, *rates),
        20 * n, 1e-5,
        peers={
            "jax": lambda: jax_call(in_jax, *columns),
            "cupy": lambda: cupy_call(in_cupy, *columns, *rates),
        },
    )  # fmt: skip


@sizes(1 << 26, 1 << 15)
def case_extrema(n):
    # Distinct values, as many as float32 has near n; of equal ones any may be found, so that they are compared as values.
    x = np.random.default_rng(2).permutation(n).astype(np.float32)
    there = put(x)

    def in_jax(jax, jnp):
        def both(x):
            low, high = jnp.argmin(x), jnp.argmax(x)
            return x[low], x[high], low, high

        return both

    def in_cupy(cupy):
        def both(x):
            low, high = x.argmin(), x.argmax()
            return x[low], x[high], low, high

        return both

    return Case(
        f"{n}", lambda: extrema.extrema(there)[1::2], lambda: launch.extrema(there)[1::2], 4 * n,
        peers={
            "jax": lambda: jax_call(in_jax, x),
            "cupy": lambda: cupy_call(in_cupy, x),
            "cuda.compute, no index": lambda: compute_extremes(there),
        },
    )  # fmt: skip


@sizes(1 << 24, 1 << 13)
def case_fibonacci(n):
    def in_jax(jax, jnp):
        def product(l, r):  # noqa: E741
            return l[0] * r[0] + l[1] * r[1], l[0] * r[1] + l[1] * r[2], l[1] * r[1] + l[2] * r[2]

        return lambda *parts: jax.lax.associative_scan(product, parts)[1]

    return Case(
        f"{n}", lambda: fibonacci.fibonacci(n), lambda: launch.fibonacci(n), 8 * n,
        peers={"jax": lambda: jax_call(in_jax, *np.repeat([[1], [1], [0]], n, axis=1))},
    )  # fmt: skip


@sizes(1000, 64)
def case_mandelbrot(n):
    limit, shape = 100, (n, n)
    lower, scale, threshold = (f32(-2.5), f32(-2.0)), (f32(4) / f32(n),) * 2, f32(4)
    args = (lower, scale, shape, threshold, limit)

    def numba_kernel(cuda):
        def kernel(times, x0, y0, scale, width, threshold, limit):
            i = cuda.grid(1)
            if i < times.size:
                real0, imag0 = f32(i % width) * scale + x0, f32(i // width) * scale + y0
                real, imag, step = real0, imag0, 0
                while True:
                    real, imag = real * real - imag * imag + real0, f32(2) * real * imag + imag0
                    if real * real + imag * imag > threshold or step > limit:
                        break
                    step += 1
                times[i] = step

        return kernel

    def warp_kernel(wp):
        def times_of(
            x0: wp.float32, y0: wp.float32, scale: wp.float32, width: int, threshold: wp.float32, limit: int,
            times: wp.array(dtype=wp.int64),
        ):  # fmt: skip
            i = wp.tid()
            real0 = wp.float32(i % width) * scale + x0
            imag0 = wp.float32(i // width) * scale + y0
            # Copies: an assignment alone gives a variable another name.
            real, imag = wp.float32(real0), wp.float32(imag0)
            step, size = int(-1), wp.float32(0.0)  # noqa: UP018 (a variable, not a constant)
            while size <= threshold and step <= limit:
                following = real * real - imag * imag + real0
                imag = wp.float32(2.0) * real * imag + imag0
                real = following
                size = real * real + imag * imag
                step += 1
            times[i] = wp.int64(step)

        return times_of

    def in_jax(jax, jnp):
        def time_of(real0, imag0):
            def squared(state):
                real, imag, step = state
                return real * real - imag * imag + real0, f32(2) * real * imag + imag0, step + 1

            def goes_on(state):
                real, imag, step = state
                return (real * real + imag * imag <= threshold) & (step <= limit)

            return jax.lax.while_loop(goes_on, squared, squared((real0, imag0, -1)))[2]

        def times(i):
            return jax.vmap(time_of)(
                (i % n).astype(f32) * scale[0] + lower[0], (i // n).astype(f32) * scale[1] + lower[1]
            )

        return times

    return Case(
        f"{n}^2 x {limit}", lambda: mandelbrot.mandelbrot(*args), lambda: launch.mandelbrot(*args), 8 * n * n,
        exceptions=0.01,
        peers={
            "jax": lambda: jax_call(in_jax, np.arange(n * n)),
            "numba": lambda: numba_call(
                numba_kernel, [np.empty(n * n, np.int64)], *lower, scale[0], n, threshold, limit
            ),
            "warp": lambda: warp_call(
                warp_kernel, [np.empty(n * n, np.int64)], *lower, scale[0], n, threshold, limit
            ),
        },
    )  # fmt: skip


@sizes(1_000_000, 3_000)
def case_p14(n):
    def numba_kernel(cuda):
        def kernel(lengths):
            i = cuda.grid(1)
            if i < lengths.size:
                x, steps = i + 1, 1
                while x != 1:
                    x = x >> 1 if x & 1 == 0 else 3 * x + 1
                    steps += 1
                lengths[i] = steps

        return kernel

    def in_jax(jax, jnp):
        def length_of(x):
            def walked(state):
                x, steps = state
                return jnp.where(x & 1 == 0, x >> 1, 3 * x + 1), steps + 1

            return jax.lax.while_loop(lambda state: state[0] != 1, walked, (x, 1))[1]

        def both(starts):
            lengths = jax.vmap(length_of)(starts)
            best = jnp.argmax(lengths)
            return starts[best], lengths[best]

        return both

    return Case(
        f"{n}", lambda: p14.longest(n), lambda: launch.longest(n),
        peers={
            "jax": lambda: jax_call(in_jax, np.arange(1, n)),
            # Its lengths are not reduced.
            "numba, lengths alone": lambda: numba_call(numba_kernel, [np.empty(n - 1, np.int64)]),
        },
    )  # fmt: skip


def laplace_case(n, steps, by_graph):
    shape, squares = (n, n), (0.01, 0.01)
    u = np.zeros(n * n)
    u[:n] = 1
    there = put(u)
    args = (there, shape, squares, steps)
    hand = launch.laplace_graph(*args) if by_graph else lambda: launch.laplace(*args)

    def in_jax(jax, jnp):
        def step(_, u):
            inner = (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]) * 0.01 / 0.04
            return u.at[1:-1, 1:-1].set(inner)

        return lambda u: jax.lax.fori_loop(0, steps, step, u)

    return Case(
        f"{n}^2 x {steps}", lambda: laplace.solve(*args), hand, 16 * n * n * steps, 1e-12,
        peers={"jax": lambda: jax_call(in_jax, u.reshape(n, n))},
    )  # fmt: skip


@sizes((100, 8_000), (40, 50))
def case_laplace(size):
    return laplace_case(*size, by_graph=True)


@sizes((4096, 100), (128, 4))
def case_laplace_large(size):
    return laplace_case(*size, by_graph=False)


@sizes(1 << 24, 1 << 12)
def case_radix_sort(n):
    x = np.random.default_rng(3).integers(0, 2**32, n, dtype=np.uint32)
    there = put(x)
    return Case(
        f"{n}", lambda: radix_sort.radix_sort(there, 32, 0), lambda: launch.radix_sort(there, 32, 0), 32 * 32 * n,
        peers={
            "rtcg, sort": lambda: (lambda: xp.sort(there), driver.Context.synchronize),
            "cupy, sort": lambda: cupy_call(lambda cupy: cupy.sort, x),
        },
    )  # fmt: skip


def gemv_case(rows, columns):
    matrix, x = randoms(rows, columns), randoms(columns, seed=1)
    there = put(matrix, x)
    return Case(
        f"{rows} x {columns}", lambda: blas.gemv(*there), lambda: launch.gemv(*there), matrix.nbytes, 1e-5,
        peers={
            "jax": lambda: jax_call(lambda jax, jnp: jnp.matmul, matrix, x),
            "cupy": lambda: cupy_call(lambda cupy: cupy.matmul, matrix, x),
        },
    )  # fmt: skip


@sizes((8192, 8192), (256, 256))
def case_gemv_square(size):
    return gemv_case(*size)


@sizes((1_000_000, 8), (4096, 8))
def case_gemv_narrow(size):
    return gemv_case(*size)


@sizes((8, 1_000_000), (3, 8192))
def case_gemv_long(size):
    return gemv_case(*size)


def spmv_case(name, matrix):
    offsets, columns = matrix.indptr, matrix.indices.astype(np.int32)
    x = randoms(matrix.shape[1])
    wide, narrow = put(offsets.astype(np.int64), offsets.astype(np.int32))
    values, columns_there, x_there = put(matrix.data, columns, x)
    rows = ragged(values, wide), ragged(columns_there, wide)

    def in_cupy(cupy):
        from cupyx.scipy import sparse

        product = sparse.csr_matrix(matrix)
        return lambda x: product @ x

    return Case(
        f"{name}, {matrix.nnz}", lambda: spmv.spmv_rows(*rows, x_there),
        lambda: launch.spmv(narrow, columns_there, values, x_there), 8 * matrix.nnz + 12 * len(offsets), 1e-4,
        peers={"cupy, cuSPARSE": lambda: cupy_call(in_cupy, x)},
    )  # fmt: skip


@sizes(2000, 40)
def case_spmv_poisson(n):
    return spmv_case(f"Poisson {n}^2", spmv.poisson(n))


@sizes(20, 9)
def case_spmv_rmat(levels):
    """A graph by the recursive model R-MAT, 16 edges a node: few rows are long."""
    from scipy import sparse

    rng, edges = np.random.default_rng(9), 16 << levels
    row, column = np.zeros((2, edges), np.int64)
    for _ in range(levels):
        drawn = rng.random(edges)
        row, column = 2 * row + (drawn >= 0.76), 2 * column + ((drawn >= 0.57) & (drawn < 0.76) | (drawn >= 0.95))
    data = rng.random(edges).astype(np.float32)
    matrix = sparse.coo_array((data, (row, column)), shape=(1 << levels,) * 2).tocsr()
    return spmv_case(f"R-MAT {levels}", matrix)


@sizes((1024, 100), (48, 3))
def case_of_cg(size):
    n, steps = size
    fields, right = of_cg.problem(n)
    start = (np.zeros(n * n, np.float32),) * 2
    fields, right, start = (tuple(put(*arrays)) for arrays in (fields, right, start))
    args = (steps, n, right, start, fields)
    return Case(
        f"{n}^2, {steps} iterations", lambda: of_cg.solve(*args), lambda: launch.of_cg(*args), 128 * n * n * steps, 1e-3
    )


@sizes((60_000, 784), (400, 784))
def case_svm_train(size):
    n, width = size
    points = randoms(n, width) / f32(math.sqrt(width))
    rng = np.random.default_rng(7)
    labels = np.where(rng.random(n) < 0.5, 1, -1).astype(np.float32)
    alpha, f = rng.choice([0, 5, 10], n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    points, labels, alpha, f = put(points, labels, alpha, f)
    steps = (3, 7, f32(0.3), f32(-0.2), svm_train.EPS, svm_train.COST, f32(np.inf))
    args = (points, labels, svm_train.GAMMA, alpha, f, *steps)
    # Indices of equal values may differ.
    values = lambda result: (result[0], *result[1][1::2])  # noqa: E731
    return Case(
        f"{n} x {width}", lambda: values(svm_train.iteration(*args)), lambda: launch.svm_iteration(*args),
        points.nbytes + 16 * n, 1e-5, shown=values,
    )  # fmt: skip


@sizes(1 << 15, 1 << 11)
def case_counting_sort(n):
    there = put(np.random.default_rng(8).integers(0, 2**31, n, dtype=np.int32))
    return Case(f"{n}", lambda: sorting.counting_sort(there), lambda: launch.counting_sort(there))


#: By name: what makes the case, and the ratio that it should reach.
CASES = {
    "axpy": (case_axpy, 0.98),
    "benchmark": (case_benchmark, 0.98),
    "black_scholes": (case_black_scholes, 0.95),
    "extrema": (case_extrema, 0.92),
    "fibonacci": (case_fibonacci, 0.85),
    "mandelbrot": (case_mandelbrot, 0.95),
    "p14": (case_p14, 0.9),
    "laplace": (case_laplace, 0.9),
    "laplace, large": (case_laplace_large, 0.9),
    "radix_sort": (case_radix_sort, 0.8),
    "gemv, square": (case_gemv_square, 0.9),
    "gemv, narrow": (case_gemv_narrow, 0.9),
    "gemv, long": (case_gemv_long, 0.9),
    "spmv, Poisson": (case_spmv_poisson, 0.9),
    "spmv, R-MAT": (case_spmv_rmat, 0.9),
    "of_cg": (case_of_cg, 0.85),
    "svm_train": (case_svm_train, 0.85),
    "counting_sort": (case_counting_sort, 0.8),
}
