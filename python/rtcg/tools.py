"""Contexts, memoisation, memory pools, occupancy, and C types of dtypes."""

from __future__ import annotations

import gc
import operator
import os
import sys
import warnings

from rtcg import _native, driver as drv
from rtcg._arguments import (  # noqa: F401
    Argument as Argument,
    ScalarArg as ScalarArg,
    VectorArg as VectorArg,
    dtype_to_ctype as dtype_to_ctype,
    get_arg_type as get_arg_type,
    parse_c_arg as parse_c_arg,
)
from rtcg._messages import shown as _shown
from rtcg._native import (  # noqa: F401
    DeviceMemoryPool as DeviceMemoryPool,
    PageLockedAllocator as PageLockedAllocator,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ParamSpec, SupportsIndex, TextIO, TypeVar

    from rtcg._dtypes import get_or_register_dtype as get_or_register_dtype, register_dtype as register_dtype
    from rtcg._native import Context, Device, Stream

    _P = ParamSpec("_P")
    _R = TypeVar("_R")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Fill the registry of C names, and import NumPy for it, on first use."""
        if name not in ("get_or_register_dtype", "register_dtype"):
            raise AttributeError(f"module {_shown(__name__)} has no attribute {_shown(name)}")
        from rtcg import _dtypes as dtypes

        return globals().setdefault(name, getattr(dtypes, name))


def bitlog2(n: SupportsIndex) -> int:
    """The position of the highest set bit of the integer `n`, the binary logarithm rounded down: an int.

    Raises `ValueError` for 0 and negative numbers, and `TypeError` for anything but an integer.
    """
    n = operator.index(n)
    if n <= 0:
        raise ValueError(f"n is {n}; expected a positive integer")
    return n.bit_length() - 1


def _requested_device() -> Device | None:
    """The device that the environment or the file ``~/.cuda_device`` names, or None."""
    value, source = os.environ.get("CUDA_DEVICE"), "environment variable CUDA_DEVICE"
    if value is None:
        source = os.path.join(os.path.expanduser("~"), ".cuda_device")
        try:
            with open(source, encoding="utf-8") as file:
                value = file.read().strip()
        except OSError:
            return None
    try:
        ordinal = int(value)
    except ValueError:
        raise ValueError(f"{source} is {_shown(value)}; expected the number of a device") from None
    try:
        return drv.Device(ordinal)
    except drv.Error as error:
        raise type(error)(f"{error} ({source} is {_shown(value)})") from None


def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context:
    """Make a context on the device that CUDA_DEVICE or ``~/.cuda_device`` names, else the first that works.

    Parameters
    ----------
    ctx_maker : callable, optional
        Takes a `Device` and returns a context; by default ``Device.make_context``.
    """
    if ctx_maker is None:
        ctx_maker = drv.Device.make_context
    count = drv.Device.count()
    if count == 0:
        raise RuntimeError("no CUDA-enabled device found")
    device = _requested_device()
    if device is not None:
        return ctx_maker(device)
    for ordinal in range(count):
        try:
            return ctx_maker(drv.Device(ordinal))
        except drv.Error as error:
            last = error
    raise RuntimeError(f"could not create a context on any of {count} devices: {last}")


def get_default_device(default: int = 0) -> Device:
    """The device that CUDA_DEVICE or ``~/.cuda_device`` names, else number `default`: a `rtcg.driver.Device`.

    Does not make a context. Raises `ValueError` if the name is not a number, and `rtcg.driver.LogicError`, which says
    where the name comes from, if there is no such device.
    """
    device = _requested_device()
    return drv.Device(default) if device is None else device


# Functions whose results are remembered per context.
context_dependent_memoized_functions: list[Any] = []


def context_dependent_memoize(func: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator that caches results of `func` per current context and arguments, which must be hashable.

    Returns the caching function. Results are kept until `clear_context_caches`, including those of destroyed contexts.
    """
    import functools

    @functools.wraps(func)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        key = (drv.Context.get_current(), args, tuple(sorted(kwargs.items())))
        cache = made._pycuda_ctx_dep_memoize_dic
        try:
            return cache[key]
        except KeyError:
            result = cache[key] = func(*args, **kwargs)
            return result

    made: Any = wrapper
    made._pycuda_ctx_dep_memoize_dic = {}
    context_dependent_memoized_functions.append(made)
    return made


def clear_context_caches() -> None:
    """Discard everything that `context_dependent_memoize` has cached, in all contexts; returns None."""
    for func in context_dependent_memoized_functions:
        func._pycuda_ctx_dep_memoize_dic.clear()
    _native.clear_array_contexts()
    _native.clear_workspaces()


# -- figures of devices -----------------------------------------------------------------------


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


class DeviceData:
    """The resources of a multiprocessor of a device.

    Parameters
    ----------
    dev : Device or tuple, optional
        A device, or a compute capability such as ``(9, 0)``; by default the current device.

    Attributes
    ----------
    max_threads : int
        The maximum number of threads per block.
    warp_size : int
    warps_per_mp, thread_blocks_per_mp : int
        The maximum numbers of resident warps and blocks per multiprocessor.
    registers : int
        Registers per multiprocessor.
    shared_memory : int
        Bytes of shared memory per multiprocessor.
    smem_alloc_granularity, register_alloc_granularity : int
        Shared memory (bytes per block) and registers (per warp) are allocated in multiples of these.
    smem_granularity : int
        The number of shared-memory banks: threads that can access it at the same time.
    register_allocation_unit : str
        ``"warp"``: the unit to which registers are allocated.
    limits : dict
        All limits, by name.
    """

    limits: dict[str, int]

    def __init__(self, dev: Device | tuple[int, int] | None = None) -> None:
        if isinstance(dev, tuple):
            self._figures = _native.Multiprocessor.from_compute_capability(*dev)
        else:
            self._figures = _native.Multiprocessor.from_device(drv.Context.get_device() if dev is None else dev)
        self.limits = limits = self._figures.limits()
        self.max_threads: int = limits["max_threads_per_block"]
        self.warp_size: int = limits["warp_size"]
        self.warps_per_mp: int = limits["max_warps"]
        self.thread_blocks_per_mp: int = limits["max_blocks"]
        self.registers: int = limits["registers"]
        self.shared_memory: int = limits["shared_bytes"]
        self.smem_alloc_granularity: int = limits["shared_unit"]
        self.smem_granularity: int = limits["warp_size"]
        self.register_alloc_granularity: int = limits["register_unit"]
        self.register_allocation_unit = "warp"

    def align(self, bytes: int, word_size: int = 4) -> int:
        """`bytes`, rounded up so that rows of this length start at addresses where accesses by a warp are fast."""
        return _round_up(bytes, self.align_bytes(word_size))

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """A number of elements of `dtype_size` bytes, rounded up in the same way."""
        return _round_up(elements, self.align_words(dtype_size))

    def align_words(self, word_size: int) -> int:
        """`align_bytes` in words."""
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """The alignment in bytes for accesses of `word_size` bytes by each thread."""
        if word_size not in (1, 2, 4, 8, 16):
            raise ValueError(f"word_size is {word_size}; expected 1, 2, 4, 8 or 16, which a thread reads at once")
        # Memory travels in lines of 128 bytes, of which narrow words of half a warp fill 64.
        return 64 if word_size <= 4 else 128

    def coalesce(self, thread_count: int) -> int:
        """A number of threads, rounded up to whole warps."""
        return _round_up(thread_count, self.warp_size)

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """The smallest valid number of texture channels that is at least `size`."""
        for count in (1, 2, 4):
            if size <= count:
                return count
        raise ValueError(f"size is {size}; textures have at most 4 channels")


class OccupancyRecord:
    """The occupancy of a multiprocessor with blocks of a given size.

    Parameters
    ----------
    devdata : DeviceData
    threads : int
        Threads per block.
    shared_mem : int
        Bytes of shared memory per block, static and dynamic together.
    registers : int
        Registers per thread.

    Attributes
    ----------
    tb_per_mp, warps_per_mp : int
        Resident blocks and warps.
    occupancy : float
        The ratio of resident warps to the maximum.
    limited_by : str
        The limiting resource: ``"device"`` (the number of blocks), ``"warps"``, ``"regs"`` or ``"smem"``.

    Raises
    ------
    ValueError
        If not even one block fits.
    """

    tb_per_mp: int
    warps_per_mp: int
    occupancy: float
    limited_by: str

    def __init__(self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0) -> None:
        figures = devdata._figures.occupancy(threads, registers, shared_mem)
        self.tb_per_mp, self.warps_per_mp, self.occupancy, self.limited_by = figures

    def __repr__(self) -> str:
        return (
            f"OccupancyRecord(tb_per_mp={self.tb_per_mp}, warps_per_mp={self.warps_per_mp}, "
            f"occupancy={self.occupancy:.3g}, limited_by={self.limited_by!r})"
        )


# -- tests ------------------------------------------------------------------------------------


def _release_context(context: Context) -> None:
    if drv.Context.get_current() == context:
        context.pop()
    clear_context_caches()
    gc.collect()


def init_cuda_context_fixture() -> Iterator[Context]:
    """A generator of a context for the duration of a test: write a fixture as ``yield from
    init_cuda_context_fixture()``.
    """
    drv.init()
    context = make_default_context()
    assert isinstance(context.get_device().name(), str)
    try:
        yield context
    finally:
        _release_context(context)


def mark_cuda_test(inner_f: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator that runs a test function in a context of its own. Under pytest it also adds the mark ``cuda``.

    The context is that of `make_default_context`, and is released when the test returns or raises.
    """
    import functools

    @functools.wraps(inner_f)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        drv.init()
        context = make_default_context()
        try:
            return inner_f(*args, **kwargs)
        finally:
            _release_context(context)

    try:
        import pytest
    except ImportError:
        return wrapper
    return pytest.mark.cuda(wrapper)


# -- memory pools -----------------------------------------------------------------------------


class DebugMemoryPool(DeviceMemoryPool):
    """A pool that prints the uses of its memory whenever it takes memory from the driver.

    Blocks are distinguished by the functions that allocate them, and by the names that the user gives to these.

    Parameters
    ----------
    interactive : bool
        Ask with `input` for a name of every new place that allocates. Names are stored in ``rtcg-pool-names.json`` in
        the user's cache folder.
    logfile : file, optional
        The file to write to; by default the standard output.
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__(_labelled=True)
        self.interactive = interactive
        self.logfile = logfile
        self._names = _load_allocation_names() if interactive else {}

    def allocate(self, size: int, stream: Stream | None = None) -> PooledDeviceAllocation:
        """Allocate `size` bytes; see `DeviceMemoryPool.allocate`."""
        label = self._allocation_label(size)
        memory, was_taken = self._allocate_labelled(size, stream, label)
        if was_taken:
            print(self._allocation_report(size, label), end="", file=self.logfile or sys.stdout, flush=True)
        return memory

    def describe(self) -> list[tuple[int, str, int]]:
        """The blocks in use: ``(size, purpose, count)``, largest first."""
        return self._labelled_block_counts()

    def _allocation_label(self, size: int) -> str:
        import traceback

        frames = traceback.extract_stack(limit=12)[:-2]
        place = " > ".join(f"{frame.name} ({os.path.basename(frame.filename)}:{frame.lineno})" for frame in frames[-4:])
        if not self.interactive:
            return place
        if place not in self._names:
            self._names[place] = input(f"{size} bytes are allocated by {place}\nWhat are they for? ") or place
            _save_allocation_names(self._names)
        return self._names[place]


def _allocation_names_path() -> str:
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(folder, "rtcg-pool-names.json")


def _load_allocation_names() -> dict[str, str]:
    import json

    try:
        with open(_allocation_names_path(), encoding="utf-8") as file:
            names = json.load(file)
    except (OSError, ValueError):
        return {}
    return names if isinstance(names, dict) else {}


def _save_allocation_names(names: dict[str, str]) -> None:
    import json

    path = _allocation_names_path()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump(names, file)
        os.replace(file.name, path)
    except OSError as error:
        warnings.warn(f"the names of allocations are not remembered: {error}", stacklevel=4)
