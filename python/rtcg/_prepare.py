"""``python -m rtcg prepare``: runs the usual first operations of array programs to fill the caches.

For container and CI images: kernels that are compiled here need not be compiled at a program's first call.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterator, Sequence

_FLOATS: tuple[Any, ...] = (np.float32, np.float64)
_NUMBERS: tuple[Any, ...] = (*_FLOATS, np.int32, np.int64)


def workloads() -> Iterator[tuple[str, Callable[[], None]]]:
    """Names and functions, each of which creates arrays and computes with them."""
    import rtcg.fft
    import rtcg.linalg
    import rtcg.numpy as xp
    import rtcg.random

    def array(shape: Any, dtype: Any, seed: int = 0) -> xp.GPUArray:
        values = np.random.default_rng(seed).uniform(1, 2, shape)
        return xp.asarray((values * 100 if np.dtype(dtype).kind in "iu" else values).astype(dtype))

    def arithmetic(dtype: Any) -> None:
        for n in (1000, 100_000):
            a, b = array(n, dtype), array(n, dtype, 1)
            _ = 2 * a + b, a - b, a * b, a / b, -a, a**2, abs(a), a + 1, 1 - a, a * 2.5, a / 3, a % 3, a // 3
            _ = a < b, a > 1, a == b, a != b, xp.maximum(a, b), xp.minimum(a, b), xp.where(a > b, a, b)
            a += b
            a *= 2
        matrix = array((100, 100), dtype)
        _ = matrix + matrix[0], matrix * matrix[:, :1], matrix.T + matrix, matrix.T.copy(), matrix[::2, 1:].copy()
        _ = xp.zeros(100, dtype), xp.ones(100, dtype), xp.full(100, 3, dtype), xp.arange(100, dtype=dtype)
        _ = [a.astype(other) for other in _NUMBERS], xp.concatenate([a, b]), xp.stack([a, b]), a[a > b], a.clip(1, 2)

    def functions(dtype: Any) -> None:
        a = array(1000, dtype)
        for function in (xp.sqrt, xp.exp, xp.log, xp.sin, xp.cos, xp.tanh, xp.floor, xp.isnan):
            function(a)

    def reductions(dtype: Any) -> None:
        for shape in (1000, 100_000, (100, 100)):
            a = array(shape, dtype)
            _ = a.sum(), a.mean(), a.min(), a.max(), a.var(), a.std(), a.argmax(), a.argmin(), a.any(), a.all()
        _ = [getattr(a, name)(axis) for name in ("sum", "mean", "min", "max", "std", "argmax") for axis in (0, 1)]
        _ = xp.dot(a[0], a[1]), rtcg.linalg.norm(a[0])

    def scans(dtype: Any) -> None:
        for n in (1000, 100_000):
            _ = array(n, dtype).cumsum(), xp.sort(array(n, dtype)), xp.argsort(array(n, dtype))
        _ = xp.unique(array(1000, dtype)), xp.sort(array((100, 100), dtype), axis=1)

    def products(dtype: Any) -> None:
        for n in (16, 100, 256, 384):
            a = array((n, n), dtype)
            _ = a @ a, a @ a[0], a.T @ a

    def transforms(dtype: Any) -> None:
        for n in (100, 256, 1000, 1024, 4096):
            a = array(n, dtype)
            spectrum = rtcg.fft.fft(a)
            _ = rtcg.fft.ifft(spectrum), np.dtype(dtype).kind == "c" or rtcg.fft.irfft(rtcg.fft.rfft(a))
        _ = rtcg.fft.fft2(array((64, 64), dtype)), rtcg.fft.fftfreq(100)

    def solvers(dtype: Any) -> None:
        for n in (8, 50, 100):
            a = array((n, n), dtype) + xp.asarray(np.eye(n, dtype=dtype)) * n
            _ = rtcg.linalg.solve(a, a[0].copy()), rtcg.linalg.solve(a, a), rtcg.linalg.inv(a), rtcg.linalg.det(a)
            _ = rtcg.linalg.cholesky(a @ a.T), rtcg.linalg.qr(a), rtcg.linalg.lstsq(a, a[0].copy())

    def decompositions(dtype: Any) -> None:
        for n in (10, 50, 100):
            a = array((n, n), dtype)
            _ = rtcg.linalg.eigh(a + a.T), rtcg.linalg.eigvalsh(a + a.T), rtcg.linalg.svd(a)
            _ = rtcg.linalg.svd(a, compute_uv=False), rtcg.linalg.pinv(a)

    def generators(dtype: Any) -> None:
        draw = rtcg.random.default_rng(1)
        _ = draw.random(1000, dtype), draw.standard_normal(1000, dtype)

    def sparse_products(dtype: Any) -> None:
        from rtcg import sparse

        a: Any = sparse.gallery.poisson2d(36, dtype=dtype)
        blocks = {n: a.tobsr((n, n))._native for n in range(2, 7) if 36 % n == 0}
        slices = [a._native.to_sell(sigma, 4.0) for sigma in (1, 64)]
        x = array(a.shape[1], dtype)
        a._native.compile_kernels()
        for format in (*blocks.values(), *slices, a.todia()._native_matrix()):
            a._native.planned(format).matvec(x)
        _ = sparse.plan(a), a @ array((a.shape[1], 2), dtype), a @ array((a.shape[1], 32), dtype)

    groups = {
        "arithmetic": (arithmetic, _NUMBERS),
        "functions": (functions, _FLOATS),
        "reductions": (reductions, _NUMBERS),
        "sort and scans": (scans, _NUMBERS),
        "matrix products": (products, _NUMBERS),
        "FFT": (transforms, (*_FLOATS, np.complex64, np.complex128)),
        "random numbers": (generators, _FLOATS),
        "solve, QR, Cholesky": (solvers, _FLOATS),
        "eigh, SVD": (decompositions, _FLOATS),
        "sparse products": (sparse_products, _FLOATS),
    }
    for name, (function, dtypes) in groups.items():
        for dtype in dtypes:
            yield f"{name}, {np.dtype(dtype).name}", functools.partial(function, dtype)


def prepare(
    groups: Sequence[str] = (), report: Callable[[str], object] = lambda line: None, backwards: bool = False
) -> None:
    """Run workloads on the current context's device, and wait for them.

    Parameters
    ----------
    groups : sequence of str
        Prefixes of the names of the workloads to run; all by default.
    report : callable
        Called with a line of text for each workload.
    backwards : bool
        Begin with the last workload.

    Raises
    ------
    ValueError
        If a group is not a prefix of any name.
    """
    from rtcg import driver

    chosen = dict(workloads())
    for group in groups:
        if not any(name.lower().startswith(group.lower()) for name in chosen):
            raise ValueError(f"group is {shown(group)}; expected the beginning of one of: {'; '.join(chosen)}")
    for name, run in reversed(chosen.items()) if backwards else chosen.items():
        if not groups or name.lower().startswith(tuple(group.lower() for group in groups)):
            begun = time.perf_counter()
            run()
            driver.Context.synchronize()
            report(f"{name}: {time.perf_counter() - begun:.1f} s")


@contextlib.contextmanager
def _second_process(groups: Sequence[str]) -> Iterator[None]:
    """While the body runs the workloads, a second process compiles for the same cache, beginning with the last.

    NVRTC compiles one program at a time in a process. What the second one has not stored when the two meet is
    compiled by the first, so nothing depends on it, and it ends with the body.
    """
    status = _native.compiler_cache_status()
    if (os.cpu_count() or 1) < 2 or status is None or status[1] is not None:
        yield
        return
    code = "import sys, rtcg.autoinit; from rtcg import _prepare; _prepare.prepare(sys.argv[1:], backwards=True)"
    command, quiet = [sys.executable, "-c", code, *groups], subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main(parser: ArgumentParser, arguments: list[str]) -> None:
    """The command line: ``prepare [--programs FILE] [GROUP ...]``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Reports errors.
    arguments : list of str
        ``--programs FILE`` also writes the PTX of the kernels to a file of prebuilt programs.
    """
    if arguments[:1] in (["-h"], ["--help"]):
        print(f"usage: {parser.prog} prepare [--programs FILE] [GROUP ...]\n")
        print(f"GROUP is the beginning of one of: {'; '.join(dict(workloads()))}")
        return
    programs = None
    if arguments[:1] == ["--programs"]:
        if len(arguments) < 2:
            parser.error("--programs needs a file")
        programs, arguments = arguments[1], arguments[2:]
    # What is kept for later is worth to be optimised.
    os.environ.setdefault("RTCG_JIT_TIER", "optimized")
    import rtcg.autoinit  # noqa: F401

    if programs is None:
        _check_cache(parser)
    else:
        _native.start_recording_programs()
    try:
        with _second_process(arguments):
            prepare(arguments, lambda line: print(line, file=sys.stderr, flush=True))
        if programs is not None:
            print(f"{_native.write_recorded_programs(programs)} programs in {programs}")
    except (OSError, ValueError) as error:
        parser.error(str(error))


def _check_cache(parser: ArgumentParser) -> None:
    """Exit with an error if compiled programs would not be kept."""
    status = _native.compiler_cache_status()
    if status is None:
        parser.error("nothing would be kept on disk: PYCUDA_DISABLE_CACHE is set, or no folder for caches is known")
    folder, reason = status
    if reason is not None:
        parser.error(f"the cache folder is {folder!r}, which cannot be written to: {reason}")
