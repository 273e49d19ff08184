"""Collectives between devices by NCCL; on virtual devices by a virtual NCCL, which needs no GPU.

`Communicator` takes arrays and streams. One process with several devices makes its communicators at once::

    import rtcg.numpy as xp
    from rtcg import devices, nccl

    communicators = nccl.init_all([0, 1])
    arrays = []
    for communicator in communicators:
        with devices.use(communicator.device_id):
            arrays.append(xp.full(4, communicator.rank + 1.0, xp.float32))
    with nccl.group():
        for communicator, a in zip(communicators, arrays):
            communicator.all_reduce(a, out=a)
    print(arrays[0])  # [3. 3. 3. 3.]

Several processes send the bytes of `unique_id` to each other by any means, such as mpi4py::

    id = comm.bcast(nccl.unique_id() if comm.rank == 0 else None)
    communicator = nccl.Communicator(comm.size, id, comm.rank)

The other names are those of ``cupy.cuda.nccl``, with addresses and handles as integers: `NcclCommunicator`,
`groupStart`, `groupEnd`, `get_unique_id`, `get_version` and the constants.

The library is that which `RTCG_NCCL` names, else that of the wheel ``nvidia-nccl-cu13`` (or ``-cu12``), of a toolkit
or of the system. Ordinals of devices stand for their primary contexts, as in `rtcg.devices`; a communicator works in
any other context too, with the arrays of that context.
"""

from __future__ import annotations

import atexit
import contextlib
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from rtcg import _native
from rtcg._messages import shown
from rtcg._native import Communicator, NcclError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from typing_extensions import Self

    from rtcg._native import Context, Device, GPUArray

__all__ = [
    "NCCL_AVG",
    "NCCL_BFLOAT16",
    "NCCL_CHAR",
    "NCCL_DOUBLE",
    "NCCL_FLOAT",
    "NCCL_FLOAT16",
    "NCCL_FLOAT32",
    "NCCL_FLOAT64",
    "NCCL_HALF",
    "NCCL_INT",
    "NCCL_INT8",
    "NCCL_INT32",
    "NCCL_INT64",
    "NCCL_MAX",
    "NCCL_MIN",
    "NCCL_PROD",
    "NCCL_SUM",
    "NCCL_UINT8",
    "NCCL_UINT32",
    "NCCL_UINT64",
    "Communicator",
    "NcclCommunicator",
    "NcclConfig",
    "NcclError",
    "Registration",
    "available",
    "get_build_version",
    "get_unique_id",
    "get_version",
    "group",
    "groupEnd",
    "groupStart",
    "init_all",
    "register",
    "split_all",
    "unique_id",
    "version",
]

atexit.register(_native.nccl_abort_unfinished)

NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG = range(5)
NCCL_INT8 = NCCL_CHAR = 0
NCCL_UINT8 = 1
NCCL_INT32 = NCCL_INT = 2
NCCL_UINT32 = 3
NCCL_INT64 = 4
NCCL_UINT64 = 5
NCCL_FLOAT16 = NCCL_HALF = 6
NCCL_FLOAT32 = NCCL_FLOAT = 7
NCCL_FLOAT64 = NCCL_DOUBLE = 8
NCCL_BFLOAT16 = 9


def unique_id() -> bytes:
    """The 128 bytes by which the ranks of one new communicator find each other: one rank makes and sends them.

    Raises
    ------
    NcclError
        When there is no NCCL for the devices; the message lists where it was searched.
    """
    return _native.nccl_unique_id()


def version() -> int:
    """The version of the NCCL for the current device: ``10000 * major + 100 * minor + patch``."""
    return _native.nccl_version()


def init_all(devices: Iterable[Device | Context | int] | SupportsIndex) -> list[Communicator]:
    """The communicators of one process with several devices: one rank for each device, in their order.

    Parameters
    ----------
    devices : iterable of int, Device or Context, or int
        The devices, by ordinals too; a number stands for that many, from 0. Their primary contexts are used.

    Returns
    -------
    list of Communicator
        The ranks. Calls of several of them from one thread belong in a `group`.

    Raises
    ------
    ValueError, TypeError
        When there is no such device, there are none in `devices`, or it is nothing of this.
    """
    from rtcg import devices as _devices, driver

    driver.init()
    chosen: list[Device | Context | int]
    if isinstance(devices, SupportsIndex) and not isinstance(devices, bool):
        n, count = operator.index(devices), driver.Device.count()
        if not 1 <= n <= count:
            raise ValueError(f"devices={n}; expected a number of devices from 1 to {count}, or their ordinals")
        chosen = list(range(n))
    elif hasattr(devices, "__iter__") and not isinstance(devices, (str, bytes)):
        chosen = list(devices)
    else:
        raise TypeError(f"devices={shown(devices)}; expected a number of devices, or a sequence of ordinals or devices")
    if not chosen:
        raise ValueError("devices is empty; expected at least one")
    contexts = [d if isinstance(d, _native.Context) else _devices.primary_context(d) for d in chosen]
    return Communicator._of_contexts(contexts)


def split_all(
    communicators: Iterable[Communicator], colors: Iterable[int | None], keys: Iterable[int] | None = None
) -> list[Communicator | None]:
    """`Communicator.split` for several ranks of one process, which one after the other would wait for each other.

    Parameters
    ----------
    communicators : iterable of Communicator
        The ranks of this process.
    colors : iterable of int or None
        The colour of each.
    keys : iterable of int, optional
        The key of each; 0 without them.

    Returns
    -------
    list of Communicator or None
        The new ones, in the same order.

    Raises
    ------
    ValueError
        When there are not as many colours or keys as communicators.
    """
    ranks, all_colors = list(communicators), list(colors)
    all_keys = [0] * len(ranks) if keys is None else list(keys)
    for name, given in (("colors", all_colors), ("keys", all_keys)):
        if len(given) != len(ranks):
            raise ValueError(f"{name} has {len(given)} elements; expected {len(ranks)}, one for each communicator")
    return Communicator._split_all(list(zip(ranks, all_colors, all_keys, strict=True)))


def group() -> AbstractContextManager[None]:
    """Calls in a ``with`` block of this take effect together, at its end.

    Needed when one thread calls several ranks, and when ranks send to each other. After an exception in the block the
    calls before it are done all the same, since NCCL has no way to leave a group without its calls.

    Raises
    ------
    NcclError
        When a call of the group failed; then some or none of the calls were enqueued.
    """
    return _native.NcclGroup()


class Registration:
    """Memory of an array that NCCL knows, until `close`, the end of a ``with`` block, or the end of the object."""

    def __init__(self, communicator: Communicator, array: GPUArray) -> None:
        self._communicator = communicator
        self._array: GPUArray | None = array
        self._handle = communicator._register(array)

    def close(self) -> None:
        """End the registration, unless already done. The work that uses the array must be done."""
        if self._array is not None and not self._communicator.is_closed:
            self._communicator._deregister(self._handle)
        self._array = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


def register(communicator: Communicator, array: GPUArray) -> Registration:
    """Register the memory of an array with a communicator, which lets NCCL use faster paths for it.

    Parameters
    ----------
    communicator : Communicator
        Whose calls use the array.
    array : GPUArray
        A contiguous array; it is kept as long as the registration.
    """
    return Registration(communicator, array)


# -- the names of cupy.cuda.nccl ----------------------------------------------------------------

get_unique_id = unique_id


def get_version() -> int:
    """The version of NCCL, as `version` returns it."""
    return version()


def get_build_version() -> int:
    """The version of NCCL: nothing is built against one."""
    return version()


def groupStart() -> None:
    """Begin a group of calls of this thread, which `groupEnd` ends."""
    _native.nccl_group_start()


def groupEnd() -> None:
    """End a group: enqueue its calls."""
    _native.nccl_group_end()


class NcclConfig:
    """Settings of a communicator, with the names of ``cupy.cuda.nccl.NcclConfig``.

    Parameters
    ----------
    split_share : int, optional
        Whether communicators of `NcclCommunicator.commSplit` may share the parent's resources (0 or 1). Results do not
        depend on it; NCCL decides by itself here.
    """

    def __init__(self, split_share: int = 0) -> None:
        if split_share not in (0, 1):
            raise ValueError(f"split_share is {shown(split_share)}; expected 0 or 1")
        self.split_share = int(split_share)


def _check_config(config: NcclConfig | None) -> None:
    if not isinstance(config, NcclConfig | None):
        raise TypeError(f"config is {shown(config)}; expected an NcclConfig or None")


class NcclCommunicator:
    """A rank, with the methods of ``cupy.cuda.nccl.NcclCommunicator``: buffers and streams are integers.

    Buffers are addresses of device memory, which must stay allocated until the work is done; `Communicator` takes
    arrays and keeps them.

    Parameters
    ----------
    ndev : int
        The number of ranks.
    commId : bytes
        What `get_unique_id` returned in one rank.
    rank : int
        This rank, from 0.
    config : NcclConfig, optional
        Settings.

    Raises
    ------
    TypeError, ValueError
        When `commId` is no ``bytes``, or not 128 of them.
    NcclError
        When the rank cannot join.
    """

    def __init__(self, ndev: int, commId: bytes, rank: int, config: NcclConfig | None = None) -> None:
        if not isinstance(commId, bytes):
            raise TypeError(f"commId is {shown(commId)}; expected the bytes of get_unique_id")
        if len(commId) != 128:
            raise ValueError(f"commId length {len(commId)} != 128. Expected what get_unique_id returns")
        _check_config(config)
        self._communicator: Communicator | None = Communicator(ndev, commId, rank)

    @staticmethod
    def initAll(devices: int | Iterable[int]) -> list[NcclCommunicator]:
        """The communicators of one process with several devices, by their ordinals or their number."""

        def of(communicator: Communicator) -> NcclCommunicator:
            made = NcclCommunicator.__new__(NcclCommunicator)
            made._communicator = communicator
            return made

        return [of(communicator) for communicator in init_all(devices)]

    @property
    def _open(self) -> Communicator:
        if self._communicator is None:
            raise ValueError("the communicator was destroyed")
        return self._communicator

    def destroy(self) -> None:
        """Wait for the work, then destroy the communicator."""
        if self._communicator is not None:
            self._communicator.close()
            self._communicator = None

    def abort(self) -> None:
        """End the work, and the communicator, at once."""
        if self._communicator is not None:
            self._communicator.abort()
            self._communicator = None

    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._open.device_id

    def rank_id(self) -> int:
        """This rank."""
        return self._open.rank

    def size(self) -> int:
        """The number of ranks."""
        return self._open.size

    def check_async_error(self) -> None:
        """Raise what went wrong in work that was enqueued."""
        self._open.check_async_error()

    def allReduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int) -> None:
        """Combine `count` elements of all ranks, for all ranks."""
        self._open._enqueue("allReduce", sendbuf, recvbuf, count, datatype, op, 0, stream)

    def reduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, root: int, stream: int) -> None:
        """Combine `count` elements of all ranks for the rank `root`."""
        self._open._enqueue("reduce", sendbuf, recvbuf, count, datatype, op, root, stream)

    def broadcast(self, sendbuf: int, recvbuf: int, count: int, datatype: int, root: int, stream: int) -> None:
        """Copy `count` elements of the rank `root` to all."""
        self._open._enqueue("broadcast", sendbuf, recvbuf, count, datatype, 0, root, stream)

    def bcast(self, buff: int, count: int, datatype: int, root: int, stream: int) -> None:
        """`broadcast` in place."""
        self._open._enqueue("broadcast", buff, buff, count, datatype, 0, root, stream)

    def reduceScatter(self, sendbuf: int, recvbuf: int, recvcount: int, datatype: int, op: int, stream: int) -> None:
        """Combine the elements of all ranks; each gets its part of `recvcount`."""
        self._open._enqueue("reduceScatter", sendbuf, recvbuf, recvcount, datatype, op, 0, stream)

    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None:
        """Gather `count` elements of each rank for all ranks."""
        self._open._enqueue("allGather", sendbuf, recvbuf, count, datatype, 0, 0, stream)

    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Send `count` elements to the rank `peer`."""
        self._open._enqueue("send", sendbuf, 0, count, datatype, 0, peer, stream)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        """Receive `count` elements from the rank `peer`."""
        self._open._enqueue("recv", 0, recvbuf, count, datatype, 0, peer, stream)

    def commSplit(self, color: int, key: int, config: NcclConfig | None = None) -> NcclCommunicator | None:
        """The communicator of ranks with one `color`, ordered by `key`; None for the colour -1."""
        _check_config(config)
        new = self._open.split(None if color == -1 else color, key)
        if new is None:
            return None
        made = NcclCommunicator.__new__(NcclCommunicator)
        made._communicator = new
        return made


#: Whether the calls above would work here, found out when it is asked for.
available: bool


def __getattr__(name: str) -> Any:
    if name == "available":
        try:
            version()
        except Exception:
            return False
        return True
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
