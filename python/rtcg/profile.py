"""Profile a program: times of kernels, copies, compilation and driver calls, as tables in the terminal.

``python -m rtcg.profile [-m] PROGRAM ARGUMENTS`` profiles a whole program, and `region` a part of one. Both summarise a
trace (`rtcg.tracing`), and therefore include all threads of the process. `benchmark` times one function.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time

from rtcg import _native, nvtx, tracing
from rtcg._lazy import np
from rtcg._messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TextIO

    from numpy.typing import NDArray

__all__ = ["Profile", "Timings", "benchmark", "profile", "region"]

_USAGE = "usage: python -m rtcg.profile [-m] PROGRAM ARGUMENTS..."


class Profile:
    """The summary of a trace; ``str(profile)`` has its tables.

    Attributes
    ----------
    rows : list of dict
        ``group`` (``"kernels"``, ``"copies"``, ``"compilation"``, ``"driver"`` or ``"ranges"``), ``name``, ``calls``,
        ``seconds``, ``min_seconds``, ``max_seconds`` and ``bytes``; sorted by group, longest time first.
    """

    def __init__(self, text: str, rows: list[tuple[str, str, int, float, float, float, int]]) -> None:
        names = ("group", "name", "calls", "seconds", "min_seconds", "max_seconds", "bytes")
        self._text = text
        self.rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<rtcg.profile.Profile of {len(self.rows)} names>"


@contextlib.contextmanager
def profile() -> Iterator[list[Profile]]:
    """Profile a ``with`` block, in all threads; its value receives the result at the end.

    Yields
    ------
    list
        Empty inside the block; afterwards its only element is the :class:`Profile`. The start and the end of the block
        wait for the current context, if there is one.

    Raises
    ------
    RuntimeError
        If a trace is already running.
    """
    with _profile(_wait) as found:
        yield found


@contextlib.contextmanager
def _profile(wait_at_end: Callable[[], None]) -> Iterator[list[Profile]]:
    if tracing.is_on():
        raise RuntimeError("a trace is being made already; a profile is the summary of one of its own")
    descriptor, path = tempfile.mkstemp(prefix="rtcg-profile-", suffix=".json")
    os.close(descriptor)
    found: list[Profile] = []
    _wait()
    try:
        with tracing.trace(path):
            yield found
            wait_at_end()
        found.append(Profile(*_native.profile_of_trace(path)))
    finally:
        os.unlink(path)


@contextlib.contextmanager
def region(name: str = "region", file: TextIO | None = None) -> Iterator[None]:
    """Profile a ``with`` block and print the tables at its end.

    Parameters
    ----------
    name : str
        The name of the region in the first line of the tables.
    file : text stream, optional
        The stream to print to; by default the error stream.

    Notes
    -----
    Inside another profile or trace, such as that of ``python -m rtcg.profile``, the region is a range with that name in
    it.
    """
    if tracing.is_on():
        with nvtx.range(name):
            yield
        return
    with profile() as found:
        yield
    print(f"{name}: {found[0]}", end="", file=sys.stderr if file is None else file)


def _wait() -> None:
    from rtcg import driver

    if driver.Context.get_current() is not None:
        driver.Context.synchronize()


class Timings:
    """The measurements of `benchmark`; printing it shows mean, standard deviation, minimum and maximum.

    Attributes
    ----------
    name : str
    cpu_times, gpu_times : numpy.ndarray of float64
        Seconds of each call: until the function returns, and on the device between events around the call.
    """

    name: str
    cpu_times: NDArray[np.float64]
    gpu_times: NDArray[np.float64]

    def __init__(self, name: str, cpu_times: Sequence[float], gpu_times: Sequence[float]) -> None:
        self.name, self.cpu_times, self.gpu_times = name, np.array(cpu_times), np.array(gpu_times)

    def __str__(self) -> str:
        def words(what: str, seconds: NDArray[np.float64]) -> str:
            of = [np.mean(seconds), np.std(seconds), np.min(seconds), np.max(seconds)]
            return "{}: {:.3f} us +/- {:.3f} (min {:.3f} / max {:.3f})".format(what, *(1e6 * number for number in of))

        return f"{self.name}: {words('CPU', self.cpu_times)}  {words('GPU', self.gpu_times)}"

    __repr__ = __str__


def benchmark(
    function: Callable[..., Any],
    *args: Any,
    n_repeat: int = 1000,
    n_warmup: int = 10,
    max_duration: float = 1.0,
    name: str | None = None,
    **keywords: Any,
) -> Timings:
    """Time calls of a function on the host and on the device.

    Parameters
    ----------
    function : callable
        Called with the given arguments and keywords. It may enqueue work in the current stream.
    n_repeat, n_warmup : int
        The maximum number of timed calls, and the number of calls before them.
    max_duration : float
        Seconds after which no further call is timed; at least one call is timed.
    name : str, optional
        By default that of the function.

    Returns
    -------
    Timings
        The call waits for the device after each call of the function.

    Raises
    ------
    ValueError
        If `n_repeat` is less than 1 or `n_warmup` less than 0.
    """
    from rtcg import driver

    if n_repeat < 1 or n_warmup < 0:
        raise ValueError(f"n_repeat is {shown(n_repeat)} and n_warmup {shown(n_warmup)}; expected at least 1 and 0")
    _make_context()
    for _ in range(n_warmup):
        function(*args, **keywords)
    start, end = driver.Event(), driver.Event()
    driver.Context.synchronize()
    cpu_times: list[float] = []
    gpu_times: list[float] = []
    begun = time.perf_counter()
    while len(cpu_times) < n_repeat and (not cpu_times or time.perf_counter() - begun < max_duration):
        start.record()
        called = time.perf_counter()
        function(*args, **keywords)
        cpu_times.append(time.perf_counter() - called)
        end.record()
        end.synchronize()
        gpu_times.append(1e-3 * start.time_till(end))
    return Timings(getattr(function, "__name__", "function") if name is None else name, cpu_times, gpu_times)


def _make_context() -> None:
    """Make a current context, as arrays do."""
    from rtcg.numpy import empty

    empty(0, np.float32)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a program and print its profile to the error stream at the end, also if it fails.

    Parameters
    ----------
    arguments : sequence of str, optional
        As on the command line: the program or ``-m`` and a module, then the program's own arguments.
    """
    from rtcg._run import run_python_program

    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments in ([], ["-m"]):
        raise SystemExit(f"{_USAGE}\nno program was named")
    if arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__.replace('`', '')}")
        return
    ended: BaseException | None = None

    def wait_at_end() -> None:
        nonlocal ended
        try:
            _wait()
        except Exception as error:  # As the program's own: a kernel that failed has a profile, too.
            ended = ended or error

    with _profile(wait_at_end) as found:
        try:
            run_python_program(arguments)
        except BaseException as error:  # Its profile comes first.
            ended = error
    if found[0].rows or ended is None:
        print(found[0], end="", file=sys.stderr)
    if ended is not None:
        raise ended


if __name__ == "__main__":
    main()
