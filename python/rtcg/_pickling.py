"""Pickles: arrays by their elements, kernels and modules by what they were made of; streams and their like refuse.

A kernel is compiled again, at its first call and through the cache on disk, by the process that unpickles it: for the
device of that process, which may be another one.
"""

from __future__ import annotations

import copyreg
import functools
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

from rtcg import _native

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeVar

    import numpy as np

    from rtcg._native import GPUArray

    _Init = TypeVar("_Init", bound=Callable[..., None])

#: Of the pickles of kernels and modules; increased when they change.
FORMAT = 1


def context_to_restore_in(origin: str) -> None:
    """Let the calling thread have a context: its own, or the default one.

    Raises
    ------
    RuntimeError
        If there is no device; it names the host, and says after "an array" its `origin`.
    """
    from rtcg import driver

    try:
        _native.current_or_declared_context()
    except driver.Error as error:
        if os.environ.get("RTCG_VIRTUAL_DEVICES") != "0":
            raise
        raise RuntimeError(
            f"an array {origin} cannot be placed on host {socket.gethostname()}, which has no usable GPU and, by "
            "RTCG_VIRTUAL_DEVICES=0, no virtual one: set RTCG_VIRTUAL_DEVICES=1 there, or send the NumPy array a.get()"
        ) from error


def is_worker() -> bool:
    """Whether errors of unpickling would be lost: in the processes of Dask clusters and of `multiprocessing`.

    distributed waits for ever for a task that it could not read, and so does a pool.
    """
    processes = sys.modules.get("multiprocessing.process")
    return "distributed" in sys.modules or (processes is not None and processes.parent_process() is not None)


class Unplaced:
    """An array or a kernel that did not become one in this worker, for want of a device or of memory.

    An array with elements (`host`) can be pickled on to a process that has a device; whatever else is done with it
    raises `RuntimeError`.
    """

    def __init__(self, problem: Exception, host: np.ndarray[Any, Any] | None = None, origin: str = "") -> None:
        self._host, self._origin, self._problem = host, origin, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return (restore_array, (self._host, self._origin)) if self._host is not None else self._refuse()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) if self._host is None else self._host.nbytes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *args: Any, **keywords: Any) -> NoReturn:
        raise RuntimeError(str(self._problem)) from self._problem


# Operators and protocols, which Python looks up in the class.
for _name in (
    "array array_function array_ufunc bool call complex contains float getitem index int iter len setitem abs invert "
    "neg pos eq ge gt le lt ne add and floordiv matmul mod mul or pow sub truediv xor radd rand rfloordiv rmatmul rmod "
    "rmul ror rpow rsub rtruediv rxor"
).split():
    setattr(Unplaced, f"__{_name}__", Unplaced._refuse)


def restore_array(host: np.ndarray[Any, Any], origin: str = "in a pickle") -> GPUArray | Unplaced:
    """Copy `host`, a NumPy array, to the device of the current context, or of the default one in a thread without.

    Where that fails in a worker, the array is `Unplaced`, whose use raises the error.
    """
    from rtcg import driver
    from rtcg.numpy import to_gpu

    try:
        context_to_restore_in(origin)
        return to_gpu(host)
    except (driver.Error, RuntimeError) as problem:
        if not is_worker():
            raise
        return Unplaced(problem, host, origin)


def remembers_arguments(init: _Init) -> _Init:
    """Let a class's ``__init__`` keep its arguments, so that `PickledByArguments` can pass them again."""

    @functools.wraps(init)
    def remembering(self: Any, *args: Any, **keywords: Any) -> None:
        before = set(self.__dict__)
        init(self, *args, **keywords)
        own = frozenset(self.__dict__) - before
        self._made_by = args, keywords, own

    remembering._remembers = True  # type: ignore[attr-defined]
    return remembering  # type: ignore[return-value]  # it has the signature of `init`


class PickledByArguments:
    """A class whose pickles hold the arguments of the ``__init__`` that `remembers_arguments`.

    Subclasses may have constructors of their own: an unpickled object has the attributes that they added.
    """

    #: Whether `__init__` needs a context, as where it loads what it compiles.
    _needs_context = False
    _made_by: Any

    def __reduce__(self) -> tuple[Any, ...]:
        kind = type(self)
        maker = next(base for base in kind.__mro__ if hasattr(base.__dict__.get("__init__"), "_remembers"))
        if "_made_by" not in self.__dict__:
            raise TypeError(f"a {kind.__qualname__} whose __init__ was not called cannot be pickled")
        args, keywords, own = self._made_by
        added = {name: value for name, value in self.__dict__.items() if name not in own and name != "_made_by"}
        return _restore, (FORMAT, kind, maker, args, keywords, added)


def _restore(
    version: int, kind: type, maker: type, args: tuple[Any, ...], keywords: dict[str, Any], added: dict[str, Any]
) -> Any:
    """The object of `kind` that the ``__init__`` of `maker` makes of these arguments."""
    if version != FORMAT:
        raise ValueError(f"the pickle of a {kind.__qualname__} has format {version}; this rtcg reads format {FORMAT}")
    from rtcg import driver

    new: Any = kind.__new__
    made = new(kind)
    try:
        if maker._needs_context:  # type: ignore[attr-defined]  # a PickledByArguments
            _native.current_or_declared_context()
        maker.__init__(made, *args, **keywords)  # type: ignore[misc]
    except driver.Error as problem:
        if not is_worker():
            raise
        return Unplaced(problem)
    made.__dict__.update(added)
    return made


def _get_function(module: Any, name: str) -> Any:
    return module if isinstance(module, Unplaced) else module.get_function(name)


def _reduce_function(function: _native.Function) -> tuple[Any, ...]:
    made_by = function.__dict__.get("_made_by")
    if made_by is None:
        raise TypeError(
            f"kernel {function.name!r} cannot be pickled, for its module was not made by SourceModule; send the source "
            "or the image of its module and the name of the kernel"
        )
    return _get_function, made_by


def _refusal(advice: str) -> Callable[[Any], Any]:
    def refuse(thing: Any) -> Any:
        raise TypeError(f"a {type(thing).__qualname__} belongs to one process and cannot be pickled; {advice}")

    return refuse


def register() -> None:
    """Tell `pickle` of the classes of the driver."""
    copyreg.pickle(_native.Function, _reduce_function)  # type: ignore[arg-type]
    memory = "send an array, whose elements are copied, or the handle of mem_get_ipc_handle"
    for kind, advice in {
        _native.Stream: "make a stream where it is needed, and send data that is complete",
        _native.Event: "send the ipc_handle() of an event with event_flags.INTERPROCESS",
        _native.Context: "send the ordinal or the PCI bus id of its device, and use rtcg.devices.use there",
        _native.Module: "send a SourceModule, or the image that was loaded",
        _native.Graph: "send what builds it",
        _native.GraphExec: "send what builds its graph",
        _native.Communicator: "send the bytes of nccl.unique_id(), and make a Communicator of them in each process",
        _native.DeviceAllocation: memory,
        _native.PooledDeviceAllocation: memory,
    }.items():
        copyreg.pickle(kind, _refusal(advice))
