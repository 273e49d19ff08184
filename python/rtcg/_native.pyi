"""The native module. What users call is documented in `rtcg.driver`, `rtcg.compiler`, `rtcg.numpy`."""

import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Protocol, SupportsIndex, TypeAlias, final

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer, Self

from rtcg._cuda_arrays import ArrayDescriptor, ArrayDescriptor3D
from rtcg._enums import (
    address_mode,
    array_format,
    capture_mode,
    capture_status as _capture_status,
    compute_mode,
    filter_mode,
    func_cache,
    graph_node_type,
    mem_access_flags,
    memory_type,
    shared_config,
)

class _HoldsPointer(Protocol):
    def get_pointer(self) -> int: ...

class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

class _HoldsMemory(Protocol):
    @property
    def gpudata(self) -> Any: ...

# An allocation, an address, an array on the device, or a `PointerHolderBase`.
_DevicePointer: TypeAlias = SupportsIndex | _HoldsPointer | _HoldsMemory
# Blocks of a grid or threads of a block: one to three extents.
_Extents: TypeAlias = Sequence[SupportsIndex]
_MessageHandler: TypeAlias = Callable[[bool, str, str], object]
_JitOptions: TypeAlias = Sequence[tuple[int, int]]
# Host memory: an array, bytes, or anything else with the buffer protocol.
_HostBuffer: TypeAlias = Buffer | NDArray[Any]
_Path: TypeAlias = str | os.PathLike[str]

# -- errors

class Error(Exception):
    """Base of all errors of the driver and the compiler."""

class LaunchError(Error):
    """A kernel failed or requests more than the device has."""

class LogicError(Error):
    """A call that cannot succeed as it was made, or a kernel that went wrong."""

class MemoryError(Error):
    """Out of memory."""

class RuntimeError(Error):
    """Something outside the program is wrong: no device, no such file, not ready."""

# -- devices and contexts

class Device:
    """A device, by ordinal or PCI bus id. Real ones come first, then virtual ones.

    Any attribute of `rtcg.driver.device_attribute` can be read by its lower-case name, for
    instance ``device.warp_size``.
    """

    def __init__(self, ordinal: int | str) -> None: ...
    @staticmethod
    def count() -> int:
        """Number of devices, real and virtual."""
    def name(self) -> str:
        """The device's name, such as ``NVIDIA H200``."""
    def _repr_html_(self) -> str: ...
    def pci_bus_id(self) -> str:
        """Its place on the bus, such as ``0000:01:00.0``, which `Device` takes, too."""
    def compute_capability(self) -> tuple[int, int]:
        """``(major, minor)``."""
    def total_memory(self) -> int:
        """Memory of the device in bytes."""
    def get_attribute(self, attr: int) -> int | compute_mode:
        """An attribute's value: an int, or a `compute_mode` for COMPUTE_MODE."""
    def get_attributes(self) -> dict[int, int]:
        """All attributes that the driver knows, by `device_attribute`."""
    def make_context(self, flags: int = 0) -> Context:
        """Make a context and push it on the calling thread's stack, so that it is current.

        `flags` are of `ctx_flags`. The program pops or detaches it; `rtcg.autoinit` does so at exit.
        """
    @property
    def primary_context_flags(self) -> int:
        """The `ctx_flags` of the primary context. Set them before anybody retains it; a driver may refuse it later."""
    @primary_context_flags.setter
    def primary_context_flags(self, flags: int) -> None: ...
    @property
    def is_primary_context_active(self) -> bool:
        """Whether anybody in this process has retained the primary context."""
    def retain_primary_context(self) -> Context:
        """The primary context, which other CUDA libraries share; not pushed."""
    def can_access_peer(self, other: Device) -> bool:
        """Whether kernels on this device can reach memory of `other`, once `Context.enable_peer_access` allowed it."""
    def get_p2p_attribute(self, attribute: int, other: Device) -> int:
        """What this device can do with `other`: the value of a `p2p_attribute` (an addition to PyCUDA).

        Raises `LogicError` if both are the same device, or devices of different drivers.
        """
    @property
    def is_virtual(self) -> bool:
        """Whether this is a virtual GPU (an addition to PyCUDA)."""
    def __getattr__(self, name: str) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Context:
    """A context of a device. Made by `Device.make_context` and `Device.retain_primary_context`.

    Each thread has a stack of contexts, whose top is current: memory, modules and streams are made in it. In a ``with``
    block a context is current; `push` and `pop` do the same by hand.
    """

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Push the context that another library made current in this thread."""
    @staticmethod
    def pop() -> None:
        """Take the top off the stack. `LogicError` when it is empty."""
    @staticmethod
    def get_device() -> Device:
        """The device of the current context; a `LogicError` if there is none."""
    @staticmethod
    def synchronize() -> None:
        """Wait until all work of the current context is done; raises what went wrong in it."""
    @staticmethod
    def get_current() -> Context | None:
        """The top of this thread's stack, else the context that another library made current."""
    @staticmethod
    def set_current(context: Context | None) -> None:
        """Put `context` in the place of the top of the stack; None pops. An addition to PyCUDA."""
    @staticmethod
    def get_flags() -> int:
        """The flags of the current context, of `ctx_flags`. An addition to PyCUDA."""
    @staticmethod
    def set_limit(limit: int, value: int) -> None:
        """Set a `limit` of the current context, in the unit of that limit (bytes or a number)."""
    @staticmethod
    def get_limit(limit: int) -> int:
        """The value of a `limit` of the current context, in the unit of that limit."""
    @staticmethod
    def get_cache_config() -> func_cache:
        """How the current context divides its first-level cache."""
    @staticmethod
    def set_cache_config(config: int) -> None:
        """Ask for a division of the first-level cache by `func_cache`, for kernels that ask for none."""
    @staticmethod
    def get_shared_config() -> shared_config:
        """The width of shared-memory banks, a `shared_config`."""
    @staticmethod
    def set_shared_config(config: int) -> None:
        """Ask for a width of shared-memory banks by `shared_config`; devices of today have only one."""
    @staticmethod
    def get_stream_priority_range() -> tuple[int, int]:
        """``(least, greatest)`` priority of streams: smaller numbers go first. Others are taken for the nearest."""
    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Let kernels of the current context reach memory of `peer`, a context of another device; `flags` is 0.

        Raises `LogicError` if it was done before, or the devices cannot (`Device.can_access_peer`).
        """
    @staticmethod
    def disable_peer_access(peer: Context, flags: int = 0) -> None:
        """Take back what `enable_peer_access` allowed; a `LogicError` if nothing was. `flags` is ignored."""
    def push(self) -> None:
        """Put the context on top of this thread's stack, so that it is current; a `LogicError` if it was detached."""
    def detach(self) -> None:
        """Destroy (or release) the context now. A second time is a `LogicError`."""
    def close(self) -> None:
        """`detach` that may be called again. An addition to PyCUDA."""
    @property
    def is_alive(self) -> bool:
        """False once it was detached."""
    @property
    def kind(self) -> str:
        """``"created"``, ``"primary"``, or ``"foreign"`` for a context that another library made."""
    @property
    def device(self) -> Device:
        """The context's own device; `get_device` returns that of the current context."""
    def __enter__(self) -> Self:
        """Push the context, unless `make_context` has just done so; the end of the block pops it."""
    def __exit__(self, *exception: object) -> None: ...
    def get_api_version(self) -> int:
        """The version of the driver's interface that the context was made for, such as 3020."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def init(flags: int = 0) -> None:
    """Find the devices. Calling it again does nothing; returns None."""

def get_driver_version() -> int:
    """The CUDA version of the driver: an int such as 13000; works before `init`."""

def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Name the files that the driver's old profiler reads and writes; `output_mode` of `profiler_output_mode`.

    Drivers of today refuse it: a `LogicError`, "not supported".
    """

def start_profiler() -> None:
    """Begin what a profiler records (such as ``nsys profile --capture-range=cudaProfilerApi``); returns None.

    Without a profiler it does nothing.
    """

def stop_profiler() -> None:
    """End what `start_profiler` began; returns None. Work that was launched before is recorded to its end."""

def set_notice_handler(handler: Callable[[str], object]) -> None: ...
def enum_values() -> dict[str, dict[str, int]]: ...

# -- streams and events

class Stream:
    """A queue of work.

    ``None`` stands for the default stream wherever one is expected; inside of ``with stream:`` it
    stands for that stream, in the thread that runs the block.

    Parameters
    ----------
    flags : int
        1: work of the legacy default stream does not wait for this stream, nor this one for it.
    priority : int, optional
        Smaller numbers go first; see `Context.get_stream_priority_range`.
    """

    def __init__(self, flags: int = 0, priority: int | None = None) -> None: ...
    @staticmethod
    def from_handle(handle: int | _CudaStream, owner: object = None) -> Stream:
        """A stream of another library in the current context, by its handle or its ``__cuda_stream__``.

        It is not destroyed here; `owner` is kept alive as long as the result.
        """
    @staticmethod
    def legacy_default() -> Stream:
        """The default stream that waits for all blocking streams, and they for it."""
    @staticmethod
    def per_thread_default() -> Stream:
        """The default stream of whichever thread uses it."""
    @staticmethod
    def get_current() -> Stream | None:
        """The stream that `None` stands for in this thread, if a ``with`` block has set one."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def close(self) -> None:
        """Destroy the stream now; what is queued still runs. A second time does nothing."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    @property
    def flags(self) -> int:
        """The flags that it was made with; 1: it does not wait for the legacy default stream."""
    @property
    def id(self) -> int:
        """A number that no other stream of the process has or had."""
    def query(self) -> bool:
        """The same as `is_done`."""
    def add_callback(self, callback: Callable[[Exception | None], object]) -> None:
        """Call `callback(error)` on a thread of the driver when all earlier work is done.

        `error` is None, or what went wrong. Later work of the stream waits for the callback, which
        must not call CUDA. Its exceptions go to `sys.unraisablehook`.
        """
    def launch_host_func(self, function: Callable[..., object], *args: object) -> None:
        """Call `function(*args)` like a callback, unless earlier work failed; can be captured in a graph."""
    def write_value(self, ptr: _DevicePointer, value: int, flags: int = 0, size: int = 4) -> None:
        """Write `size` bytes, 4 or 8, to device memory when all earlier work is done."""
    def wait_value(self, ptr: _DevicePointer, value: int, flags: int = 0, size: int = 4) -> None:
        """Later work waits until `size` bytes of device memory compare with `value`.

        `flags` 0: greater or equal (cyclic), 1: equal, 2: have a bit in common, 3: not all bits set in either.
        """
    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries pass each other streams: ``(version, handle)``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def synchronize(self) -> None:
        """Wait until the stream is empty; raises what went wrong in it."""
    def is_done(self) -> bool:
        """Whether all work in it is done; does not wait. Raises what went wrong in it."""
    def wait_for_event(self, evt: Event) -> None:
        """Later work of this stream waits for `evt`."""
    def begin_capture(self, mode: int = 0, graph: Graph | None = None) -> None:
        """From now on, work becomes nodes of a new graph (or of `graph`) instead of being done.

        Streams that wait for events of this one are captured too. `mode` of `capture_mode` says which
        calls of other threads are errors meanwhile. Arguments of launches and the buffers of
        asynchronous copies live as long as the graph.
        """
    def end_capture(self) -> Graph:
        """End the capture. An error if something has made it invalid; then it is over too."""
    def capture(self, mode: int = 0, graph: Graph | None = None) -> StreamCapture:
        """``with stream.capture() as graph:`` captures the block. Needs a driver of CUDA 12.3."""
    def is_capturing(self) -> bool:
        """Whether its work becomes nodes of a graph now."""
    @property
    def capture_status(self) -> _capture_status:
        """``NONE``, ``ACTIVE``, or ``INVALIDATED`` once something has made the capture useless."""
    def get_capture_info(self) -> tuple[_capture_status, int, Graph, list[GraphNode]] | None:
        """Status, number, graph so far, and the nodes that the next one comes after; None if not captured."""
    def update_capture_dependencies(self, nodes: Sequence[GraphNode], only: bool = True) -> None:
        """Set (or, unless `only`, add) the nodes that the next captured one comes after."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    @property
    def priority(self) -> int:
        """Its priority; smaller numbers go first."""

class Event:
    """A mark in a stream: something to wait for, and a time. Destroyed at the end of a ``with`` block.

    Parameters
    ----------
    flags : int
        Of `event_flags`. An event with DISABLE_TIMING costs less, and has no time.
    """

    def __init__(self, flags: int = 0) -> None: ...
    def record(self, stream: Stream | _CudaStream | None = None, flags: int = 0) -> Self:
        """Mark the present end of `stream`, by default the default stream; does not wait. Returns the event.

        With flag 1, a captured graph does so at each launch.
        """
    def close(self) -> None:
        """Release it now, if that was not done before; later use is an error. `with` does it at its end."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def synchronize(self) -> Self:
        """Wait until what was before the mark is done; returns the event. Raises what went wrong."""
    def query(self) -> bool:
        """Whether it has happened."""
    def time_since(self, event: Event) -> float:
        """Milliseconds from `event` to this one."""
    def time_till(self, event: Event) -> float:
        """Milliseconds from this event to `event`."""
    def ipc_handle(self) -> bytearray:
        """What stands for the event in other processes, 64 bytes, for `from_ipc_handle`.

        Raises `LogicError` unless the event was made with ``event_flags.INTERPROCESS | event_flags.DISABLE_TIMING``.
        """
    @staticmethod
    def from_ipc_handle(handle: _HostBuffer) -> Event:
        """An event of another process, by what `ipc_handle` gave there, 64 bytes.

        Raises `ValueError` for another length, and `LogicError` if there is no such event, or it is one of this
        process.
        """
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""

# -- memory

class DeviceAllocation:
    """Device memory, freed with the last reference, by `free` or at the end of a ``with`` statement."""

    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def free_async(self, stream: Stream | None = None) -> None:
        """Free memory of `mem_alloc_async` once `stream` has passed its present work."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable memoryview over the device's addresses; only for memory that the host can reach."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class ManagedAllocation:
    """Memory that host and device share by migration; the base of arrays made by `rtcg.driver.managed_empty`."""

    def __init__(self, nbytes: int, flags: int = 0) -> None: ...
    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable view of `size` bytes at `offset`; a `LogicError` if the memory does not have them."""
    def get_device_pointer(self) -> int:
        """The address, which is the same on host and device."""
    def attach(self, mem_flags: int, stream: Stream | None = None) -> None:
        """From the present end of `stream` on, let who `mem_flags` (of `mem_attach_flags`) says use the memory."""
    def advise(self, advice: int, device: Device | None = None) -> None:
        """Advise how all of the memory will be used; see `rtcg.driver.mem_advise`."""
    def prefetch(self, device: Device | None = None, stream: Stream | None = None) -> None:
        """Move all of the memory to a device (None: to the host) in stream order."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class IPCMemoryHandle:
    """Memory of another process."""

    def __init__(self, devhandle: _HostBuffer, flags: int = 1) -> None: ...
    def close(self) -> None:
        """Unmap now. A second time is a `LogicError`."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes of the other process's allocation."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class PagelockedHostAllocation:
    """Page-locked host memory; the base of arrays made by `rtcg.driver.pagelocked_empty`."""

    def __init__(self, nbytes: int, flags: int) -> None: ...
    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_flags(self) -> int:
        """The `host_alloc_flags` that it was made with."""
    def get_device_pointer(self) -> int:
        """The device's address of this memory, if it was made with ``host_alloc_flags.DEVICEMAP``."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class AlignedHostAllocation:
    """Aligned host memory; the base of arrays made by `rtcg.driver.aligned_empty`."""

    def __init__(self, nbytes: int, alignment: int) -> None: ...
    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_device_pointer(self) -> int:
        """The device's address of this memory, once it was registered with `register_host_memory`."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class RegisteredHostMemory:
    """Page-locked memory that was allocated by other code."""

    def __new__(cls, ary: NDArray[Any], flags: int = 0) -> Self: ...
    @property
    def base(self) -> NDArray[Any]:
        """The array whose memory it is."""
    def unregister(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_device_pointer(self) -> int:
        """The device's address of the memory."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class MemoryPool:
    """A pool of the driver, from which memory in stream order comes.

    Parameters
    ----------
    device : Device, optional
        Default: the device of the current context.
    max_size : int
        Bytes that the pool may have; 0: no limit.
    exportable : bool
        Whether it can go to another process.
    """

    def __init__(self, device: Device | None = None, max_size: int = 0, exportable: bool = False) -> None: ...
    @staticmethod
    def get_default(device: Device | None = None) -> MemoryPool:
        """The pool that a device has from the beginning."""
    @staticmethod
    def get_current(device: Device | None = None) -> MemoryPool:
        """The pool that allocations in stream order on a device use now."""
    @staticmethod
    def from_fd(fd: int, device: Device | None = None) -> MemoryPool:
        """A pool that another process exported as a file descriptor, which stays the caller's."""
    def export_fd(self) -> int:
        """The pool as a file descriptor for another process; the caller closes it."""
    @staticmethod
    def export_pointer(memory: DeviceAllocation) -> bytearray:
        """What stands for memory of this pool in a process that has imported it, 64 bytes."""
    def import_pointer(self, data: _HostBuffer) -> DeviceAllocation:
        """Memory of the process that exported this pool."""
    def make_current(self) -> None:
        """Make it the pool of its device's allocations in stream order, until another one is or it is closed."""
    def allocate(self, size: int, stream: Stream | None = None) -> DeviceAllocation:
        """Memory of `size` bytes for `stream`, freed in its order."""
    def trim(self, min_bytes_to_keep: int = 0) -> None:
        """Give unused memory back to the device until no more than `min_bytes_to_keep` are reserved."""
    def get_attribute(self, attribute: int) -> int:
        """An attribute, by `mem_pool_attribute`."""
    def set_attribute(self, attribute: int, value: int) -> None:
        """Set an attribute: a reuse setting (0 or 1), the release threshold, or a high-water mark to 0."""
    release_threshold: int
    @property
    def used_bytes(self) -> int:
        """Bytes in use."""
    @property
    def reserved_bytes(self) -> int:
        """Bytes that the pool has of the device."""
    @property
    def peak_used_bytes(self) -> int:
        """The largest `used_bytes` since `reset_peaks`."""
    @property
    def peak_reserved_bytes(self) -> int:
        """The largest `reserved_bytes` since `reset_peaks`."""
    def reset_peaks(self) -> None:
        """Reset the peaks to the current numbers."""
    def set_access(self, device: Device, flags: int) -> None:
        """Say what a device may do with the pool's memory, by `mem_access_flags`."""
    def get_access(self, device: Device) -> mem_access_flags:
        """What a device may do with the pool's memory: a `mem_access_flags`."""
    @property
    def device(self) -> Device:
        """The device whose memory it is."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def close(self) -> None:
        """Give the pool up. Memory from it stays until it is freed."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

# -- virtual memory management

class PhysicalMemory:
    """Memory of a device without an address, released with its last reference.

    Parameters
    ----------
    size : int
        Bytes; rounded up to `mem_get_granularity`.
    device : Device, optional
        Default: the device of the current context.
    exportable : bool
        Whether it can go to another process.
    """

    def __init__(self, size: int, device: Device | None = None, exportable: bool = False) -> None: ...
    @staticmethod
    def from_fd(fd: int, size: int, device: Device | None = None) -> PhysicalMemory:
        """Memory of `size` bytes that another process exported as a file descriptor, which stays the
        caller's.
        """
    def export_fd(self) -> int:
        """The memory as a file descriptor for another process; the caller closes it."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    @property
    def device(self) -> Device:
        """The device whose memory it is."""

class AddressRange:
    """Addresses without memory, free again with the last reference to them and to what is mapped there.

    Parameters
    ----------
    size : int
        Bytes; rounded up to `mem_get_granularity`.
    alignment : int
        A power of two; 0: the driver's choice.
    device : Device, optional
        Whose driver reserves them; default: that of the current context.
    """

    def __init__(self, size: int, alignment: int = 0, device: Device | None = None) -> None: ...
    def map(self, memory: PhysicalMemory, offset: int = 0, devices: Sequence[Device] | None = None) -> Mapping:
        """Put memory at `offset` bytes of these addresses and let its device, or `devices`, use it."""
    @property
    def ptr(self) -> int:
        """The first address."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

@final
class Mapping:
    """Memory at addresses: a device pointer. Made by `AddressRange.map`."""

    def unmap(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def set_access(self, device: Device, flags: int) -> None:
        """Say what a device may do with the memory at these addresses, by `mem_access_flags`."""
    def get_access(self, device: Device) -> mem_access_flags:
        """What a device may do with the memory at these addresses: a `mem_access_flags`."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

def mem_get_granularity(device: Device | None = None) -> int:
    """The number of bytes that sizes and offsets of physical memory on a device are multiples of: an int."""

# -- pools

class PooledDeviceAllocation:
    """Device memory of a pool, which gets it back with the last reference, by `free` or at the end of ``with``."""

    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def used_in(self, stream: Stream | None = None) -> None:
        """Say that work in another stream (None: the default stream) uses this memory, too. Launches and
        copies of this package do so by themselves.
        """
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable view of `size` bytes at `offset`; only for memory that the host can reach."""
    @property
    def nbytes(self) -> int:
        """Size in bytes, as requested."""
    def __len__(self) -> int: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

@final
class PooledHostAllocation:
    """Page-locked memory of a pool: the base of the pool's arrays."""

    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes, as requested."""
    def __len__(self) -> int: ...

class _Pool:
    @property
    def held_blocks(self) -> int:
        """Number of unused blocks."""
    @property
    def active_blocks(self) -> int:
        """Number of blocks in use."""
    @property
    def managed_bytes(self) -> int:
        """Bytes that the pool has from the driver."""
    @property
    def active_bytes(self) -> int:
        """Requested bytes in the blocks in use."""
    def statistics(self) -> dict[str, int]:
        """All numbers of the pool, with peaks and counts."""
    @staticmethod
    def bin_number(size: int) -> int:
        """The bin of a size in bytes; sizes of a bin share blocks."""
    @staticmethod
    def alloc_size(bin: int) -> int:
        """The size in bytes of the blocks of a bin."""
    def free_held(self) -> None:
        """Give all unused blocks back to the driver."""
    def stop_holding(self) -> None:
        """Give all unused blocks back to the driver, now and from now on."""
    def close(self) -> None:
        """Stop holding memory."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

class DeviceMemoryPool(_Pool):
    """Keeps freed device memory for the next allocation of about the same size.

    Memory that a stream gave back is handed to the same stream at once, and to another one when the
    first has passed its work. May be used from any thread and outlive its contexts.
    """

    def __init__(self, *, _labelled: bool = False) -> None: ...
    def allocate(self, size: int, stream: Stream | None = None) -> PooledDeviceAllocation:
        """Memory of `size` bytes for work in `stream`, default the default stream.

        Raises
        ------
        MemoryError
            If the device has not enough memory, after garbage was collected and unused blocks were
            given back to the driver, the largest first.
        """
    def _allocate_labelled(
        self, size: int, stream: Stream | None, label: str
    ) -> tuple[PooledDeviceAllocation, bool]: ...
    def _labelled_block_counts(self) -> list[tuple[int, str, int]]: ...
    def _allocation_report(self, size: int, label: str) -> str: ...

class PageLockedAllocator:
    """How a `PageLockedMemoryPool` allocates: `flags` as `host_alloc_flags`."""

    def __init__(self, flags: int = 0) -> None: ...
    @property
    def flags(self) -> int:
        """The `host_alloc_flags` of what it allocates."""

class PageLockedMemoryPool(_Pool):
    """Keeps freed page-locked memory for the next array of about the same size."""

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None: ...
    def allocate(self, shape: int | Sequence[int], dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
        """A page-locked array with undefined contents; ``.base`` is its `PooledHostAllocation`."""

# -- what is known about memory

def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes of the current context's device.

    What pools of this process keep unused counts as free: an allocation that does not fit otherwise gets it.
    """

def mem_alloc(bytes: int) -> DeviceAllocation:
    """Allocate `bytes` bytes of device memory in the current context.

    When the device is out of memory, garbage is collected, then pools give up what they hold unused,
    and the allocation is tried once more.

    Raises
    ------
    MemoryError
        If the device has not enough memory (`rtcg.driver.MemoryError`).
    LogicError
        If `bytes` is 0 or there is no current context.
    """

def mem_alloc_async(size: int, stream: Stream | None = None, pool: MemoryPool | None = None) -> DeviceAllocation:
    """Allocate `size` bytes of device memory in stream order.

    The memory may be used by work in `stream`, and by other work that waits for it. It is freed in the
    order of the same stream, or of the one given to `free_async`.

    Parameters
    ----------
    size : int
        Bytes.
    stream : Stream, optional
        Default: the default stream of the current context.
    pool : MemoryPool, optional
        Default: the device's current pool.
    """

def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Memory for `height` rows of `width` bytes, aligned for accesses of 4, 8 or 16 bytes: a tuple ``(memory, pitch)``.

    `pitch` is the number of bytes from a row to the next. `rtcg.driver.MemoryError` when the device has not that much.
    """

def mem_get_address_range(ptr: _DevicePointer) -> tuple[int, int]:
    """Where the allocation that holds the address `ptr` begins, and its bytes: a tuple ``(base, size)`` of int.

    Raises `LogicError` for an address that no allocation of the current context holds. Does not wait.
    """

def mem_get_ipc_handle(devptr: _DevicePointer) -> bytearray:
    """What stands for an allocation in other processes, 64 bytes, for `IPCMemoryHandle`.

    The memory must stay allocated as long as others use it. Raises `LogicError` for memory that is not of
    `mem_alloc`.
    """

def pointer_get_attribute(attribute: int, devptr: _DevicePointer) -> int:
    """What the driver knows about an address.

    Parameters
    ----------
    attribute : pointer_attribute
    devptr : device pointer
        Also an address in page-locked, registered or managed memory.

    Returns
    -------
    int, bool or memory_type
    """

def mem_advise(devptr: _DevicePointer, size: int, advice: int, device: Device | None = None) -> None:
    """Advise how a range of managed memory will be used, by `mem_advice`. Results do not depend on advice.

    Parameters
    ----------
    devptr : device pointer
    size : int
        Bytes.
    advice : mem_advice
    device : Device, optional
        What the advice speaks of; None is the host.
    """

def mem_prefetch_async(
    devptr: _DevicePointer, size: int, device: Device | None = None, stream: Stream | None = None
) -> None:
    """Move a range of managed memory to a device (None: to the host) in stream order; returns None, does not wait."""

def mem_range_get_attribute(attribute: int, devptr: _DevicePointer, size: int) -> int:
    """Return what was advised about a range of managed memory, by `mem_range_attribute`.

    Of devices, -1 is the host and -2 none, or different ones.
    """

def memoryview_at_address(address: int, size: int, offset: int = 0) -> memoryview: ...

# -- copies and fills

def memcpy_htod(dest: _DevicePointer, src: _HostBuffer) -> None:
    """Copy a contiguous host buffer to the device; waits.

    `dest` is an allocation, an array on the device or an address; `src` a NumPy array or another buffer of bytes.
    Raises `LogicError` when `src` is longer than the allocation; `TypeError` for what is no buffer, and
    `ValueError` for one that is not contiguous.
    """

def memcpy_htod_async(dest: _DevicePointer, src: _HostBuffer, stream: Stream | None = None) -> None:
    """`memcpy_htod` in the order of `stream` (None: the default stream); `src` is kept alive until the copy is done.

    Does not wait for page-locked memory (`pagelocked_empty`), which must stay unchanged until then. Pageable memory is
    read before the call returns.
    """

def memcpy_dtoh(dest: _HostBuffer, src: _DevicePointer) -> None:
    """Fill a contiguous, writable host buffer from the device; waits, also for the default stream's work before it.

    Raises `LogicError` when `dest` is longer than the allocation.
    """

def memcpy_dtoh_async(dest: _HostBuffer, src: _DevicePointer, stream: Stream | None = None) -> None:
    """`memcpy_dtoh` in the order of `stream`; `dest` is kept alive until the copy is done.

    Does not wait for page-locked memory, whose contents are there when the stream got past the copy. For pageable
    memory the call waits.
    """

def memcpy_dtod(dest: _DevicePointer, src: _DevicePointer, size: int) -> None:
    """Copy `size` bytes within the device, in the default stream; returns None and does not wait.

    Arguments are allocations or addresses. Raises `LogicError` when the memory that is known there is shorter.
    """

def memcpy_dtod_async(dest: _DevicePointer, src: _DevicePointer, size: int, stream: Stream | None = None) -> None:
    """Copy `size` bytes within the device in the order of `stream`, as `memcpy_dtod`; returns None, does not wait."""

def memcpy_peer(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None:
    """Copy `size` bytes between contexts, of which None means the current one; returns None.

    Works without peer access, then by way of the host. In the order of the default streams of both; does not wait.
    """

def memcpy_peer_async(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
    stream: Stream | None = None,
) -> None:
    """Copy `size` bytes between contexts in the order of `stream`, as `memcpy_peer`; returns None and does not wait."""

def memset_d8(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d8_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the order of `stream`; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d8(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data`; does not wait."""

def memset_d2d8_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data` in stream order;
    does not wait.
    """

def memset_d16(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d16_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the order of `stream`; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d16(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data`; does not wait."""

def memset_d2d16_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data` in stream order;
    does not wait.
    """

def memset_d32(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d32_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes) from `dest` on to `data`, in the order of `stream`; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d32(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data`; does not wait."""

def memset_d2d32_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes from one to the next, to `data` in stream order;
    does not wait.
    """

class Memcpy2D:
    def __init__(self) -> None: ...
    src_memory_type: memory_type
    src_device: int
    dst_memory_type: memory_type
    dst_device: int
    src_x_in_bytes: int
    src_y: int
    src_pitch: int
    dst_x_in_bytes: int
    dst_y: int
    dst_pitch: int
    width_in_bytes: int
    height: int
    def set_src_host(self, buffer: _HostBuffer) -> None:
        """Copy from a NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_dst_host(self, buffer: _HostBuffer) -> None:
        """Copy to a writable NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_src_device(self, devptr: _DevicePointer) -> None:
        """Copy from device memory, an allocation (kept alive) or an address."""
    def set_dst_device(self, devptr: _DevicePointer) -> None:
        """Copy to device memory, an allocation (kept alive) or an address."""
    def set_src_unified(self, buffer: _HostBuffer) -> None:
        """Copy from memory that host and device reach by the same address; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory that host and device reach by the same address; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def __call__(self, aligned: bool | Stream | None = None) -> None:
        """Copy: ``copy(aligned)`` waits, ``copy(stream)`` does not.

        Parameters
        ----------
        aligned : bool or Stream, optional
            True: by `cuMemcpy2D`, for pitches as `mem_alloc_pitch` gives them; False, the default: any pitches. A
            `Stream`: in its order.

        Raises
        ------
        LogicError
            If no source or no destination was set, or the driver refuses sizes and pitches.
        """

class Memcpy3D:
    def __init__(self) -> None: ...
    src_memory_type: memory_type
    src_device: int
    dst_memory_type: memory_type
    dst_device: int
    src_x_in_bytes: int
    src_y: int
    src_z: int
    src_lod: int
    src_pitch: int
    src_height: int
    dst_x_in_bytes: int
    dst_y: int
    dst_z: int
    dst_lod: int
    dst_pitch: int
    dst_height: int
    width_in_bytes: int
    height: int
    depth: int
    def set_src_host(self, buffer: _HostBuffer) -> None:
        """Copy from a NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_dst_host(self, buffer: _HostBuffer) -> None:
        """Copy to a writable NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_src_device(self, devptr: _DevicePointer) -> None:
        """Copy from device memory, an allocation (kept alive) or an address."""
    def set_dst_device(self, devptr: _DevicePointer) -> None:
        """Copy to device memory, an allocation (kept alive) or an address."""
    def set_src_unified(self, buffer: _HostBuffer) -> None:
        """Copy from memory that host and device reach by the same address; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory that host and device reach by the same address; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def __call__(self, stream: Stream | None = None) -> None:
        """Copy in stream order, or at once: without a stream it waits.

        Raises a `LogicError` if no source or no destination was set, or the driver refuses sizes and pitches.
        """

class Memcpy3DPeer:
    def __init__(self) -> None: ...
    src_memory_type: memory_type
    src_device: int
    dst_memory_type: memory_type
    dst_device: int
    src_x_in_bytes: int
    src_y: int
    src_z: int
    src_lod: int
    src_pitch: int
    src_height: int
    dst_x_in_bytes: int
    dst_y: int
    dst_z: int
    dst_lod: int
    dst_pitch: int
    dst_height: int
    width_in_bytes: int
    height: int
    depth: int
    def set_src_host(self, buffer: _HostBuffer) -> None:
        """Copy from a NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_dst_host(self, buffer: _HostBuffer) -> None:
        """Copy to a writable NumPy array of any strides or another contiguous buffer, which is kept alive."""
    def set_src_device(self, devptr: _DevicePointer) -> None:
        """Copy from device memory, an allocation (kept alive) or an address."""
    def set_dst_device(self, devptr: _DevicePointer) -> None:
        """Copy to device memory, an allocation (kept alive) or an address."""
    def set_src_unified(self, buffer: _HostBuffer) -> None:
        """Copy from memory that host and device reach by the same address; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory that host and device reach by the same address; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def set_src_context(self, ctx: Context | None) -> None:
        """The context of the source; None is the current one."""
    def set_dst_context(self, ctx: Context | None) -> None:
        """The context of the destination; None is the current one."""
    def __call__(self, stream: Stream | None = None) -> None:
        """Copy in stream order, or at once: without a stream it waits.

        Raises a `LogicError` if no source or no destination was set, or the driver refuses sizes and pitches.
        """

# -- arrays, textures, surfaces

class Array:
    """A CUDA array, freed with the last reference or by `free()`."""

    def __init__(self, descriptor: ArrayDescriptor) -> None: ...
    def free(self) -> None:
        """Give the memory back now. A second time is a `LogicError`."""
    def close(self) -> None:
        """Give the memory back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_descriptor(self) -> ArrayDescriptor:
        """A new `ArrayDescriptor` of the array; a `LogicError` once it was freed."""
    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """A new `ArrayDescriptor3D` of the array; a `LogicError` once it was freed."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""

@final
class MipmappedArray:
    """An array with mip levels (an addition to PyCUDA)."""

    def __init__(self, descriptor: ArrayDescriptor3D, num_levels: int) -> None: ...
    def get_level(self, level: int) -> Array:
        """The array of a level, 0 being the largest."""
    def close(self) -> None:
        """Give the memory of all levels back now, if that was not done before."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

class TextureReference:
    """A texture reference of a module, or of no module."""

    def __init__(self) -> None: ...
    def set_array(self, ary: Array) -> None:
        """Bind an array, which is kept alive."""
    def set_address(self, devptr: _DevicePointer, bytes: int, allow_offset: bool = False) -> int:
        """Bind linear memory; returns the offset in bytes that fetches must add."""
    def set_address_2d(self, devptr: _DevicePointer, descr: ArrayDescriptor, pitch: int) -> None:
        """Bind rows of linear memory, `pitch` bytes from one to the next, of the shape and format in `descr`."""
    def set_format(self, format: int, num_components: int) -> None:
        """Say what texels are: an `array_format` and 1, 2 or 4 components. `set_array` takes those of the array."""
    def set_address_mode(self, dim: int, am: int) -> None:
        """What fetches outside give in dimension `dim` (0, 1 or 2), by `address_mode`."""
    def set_filter_mode(self, fm: int) -> None:
        """How fetches between texels are answered, by `filter_mode`."""
    def set_flags(self, flags: int) -> None:
        """Set `TRSF_READ_AS_INTEGER`, `TRSF_NORMALIZED_COORDINATES`, or-ed."""
    def get_address(self) -> int:
        """The address of the linear memory that is bound; a `LogicError` if none is."""
    def get_array(self) -> Array:
        """The array that is bound; a `LogicError` if none is."""
    def get_address_mode(self, dim: int) -> address_mode:
        """The `address_mode` of dimension `dim`."""
    def get_filter_mode(self) -> filter_mode:
        """The `filter_mode`."""
    def get_format(self) -> tuple[array_format, int]:
        """``(array_format, number of components)``."""
    def get_flags(self) -> int:
        """The flags that were set."""

class SurfaceReference:
    """A surface reference of a module."""

    def set_array(self, array: Array, flags: int = 0) -> None:
        """Bind an array, which is kept alive."""
    def get_array(self) -> Array:
        """The array that is bound; a `LogicError` if none is."""

@final
class TextureObject:
    """A texture object (an addition to PyCUDA): pass it to a kernel as a `cudaTextureObject_t`."""

    @staticmethod
    def _from_array(array: Array | MipmappedArray, sampling: dict[str, Any]) -> TextureObject: ...
    @staticmethod
    def _from_linear(
        memory: _DevicePointer, nbytes: int, format: int, channels: int, sampling: dict[str, Any]
    ) -> TextureObject: ...
    @staticmethod
    def _from_pitched(
        memory: _DevicePointer, pitch: int, descr: ArrayDescriptor, sampling: dict[str, Any]
    ) -> TextureObject: ...
    @property
    def handle(self) -> int:
        """What kernels take as a `cudaTextureObject_t`."""
    def get_pointer(self) -> int:
        """The same as `handle`."""

@final
class SurfaceObject:
    """A surface object (an addition to PyCUDA): pass it to a kernel as a `cudaSurfaceObject_t`."""

    def __init__(self, array: Array) -> None: ...
    @property
    def array(self) -> Array:
        """The array that kernels read and write."""
    @property
    def handle(self) -> int:
        """What kernels take as a `cudaSurfaceObject_t`."""
    def get_pointer(self) -> int:
        """The same as `handle`."""

def memcpy_dtoa(ary: Array, index: int, src: _DevicePointer, len: int) -> None:
    """Copy device memory to a one-dimensional array, from byte `index` on; waits."""

def memcpy_atod(dest: _DevicePointer, ary: Array, index: int, len: int) -> None:
    """Copy `len` bytes from a one-dimensional array, from byte `index` on, to device memory; does not wait for the
    device.
    """

def memcpy_atoa(dest: Array, dest_index: int, src: Array, src_index: int, len: int) -> None:
    """Copy `len` bytes between one-dimensional arrays, from byte `src_index` to byte `dest_index`; does not wait."""

def memcpy_htoa(ary: Array, index: int, src: _HostBuffer) -> None:
    """Copy a contiguous buffer to a one-dimensional array, from byte `index` on; waits.

    Raises `LogicError` if it does not fit. Also `py_memcpy_htoa`.
    """

def memcpy_atoh(dest: _HostBuffer, ary: Array, index: int) -> None:
    """Fill a writable contiguous buffer from a one-dimensional array, from byte `index` on; waits.

    Raises `LogicError` if the array has not so many bytes. Also `py_memcpy_atoh`.
    """

# -- modules and kernels

class Module:
    """Loaded code. Unloaded at the end of a ``with`` block."""

    def get_functions(self) -> list[Function]:
        """All kernels (an addition to PyCUDA)."""
    def _repr_html_(self) -> str: ...
    def close(self) -> None:
        """Release it now, if that was not done before; later use is an error. `with` does it at its end."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def get_function(self, name: str) -> Function:
        """The kernel of this name. `LogicError` when there is none."""
    def get_global(self, name: str) -> tuple[int, int]:
        """(address, size in bytes) of a global or constant variable."""
    def get_global_array(self, name: str, dtype: DTypeLike, shape: int | Sequence[int] | None = None) -> GPUArray:
        """A variable as an array that shares its memory; by default one dimension of as many elements as there are."""
    def get_texref(self, name: str) -> TextureReference:
        """The texture reference of this name. `LogicError` when there is none."""
    def get_surfref(self, name: str) -> SurfaceReference:
        """The surface reference of this name. `LogicError` when there is none."""

# -- graphs

class Graph:
    """Work put together once, as nodes with their order, and launched often.

    A graph is made node by node, or by capturing a stream (`Stream.begin_capture`). Each ``add_*``
    method takes `dependencies`, the nodes (or the one node) of this graph that the new one comes after, and returns
    the new `GraphNode`. Arguments of kernels and the buffers of copies live as long as the graph
    and the executable graphs made from it; host memory is read and written when the graph runs.
    """

    def __init__(self) -> None: ...
    def add_kernel_node(
        self,
        *args: Any,
        func: Function,
        block: _Extents | int,
        grid: _Extents | int | None = None,
        shared: int = 0,
        dependencies: Sequence[GraphNode] | GraphNode | None = None,
        cooperative: bool = False,
    ) -> GraphNode:
        """Launch `func`. Arguments are those of a direct call, but for `In`, `Out` and `InOut`."""
    def add_memcpy_htod_node(
        self,
        dest: _DevicePointer,
        src: _HostBuffer,
        size: int | None = None,
        dependencies: Sequence[GraphNode] | GraphNode | None = None,
    ) -> GraphNode:
        """Copy `size` bytes (default: all of `src`) to the device."""
    def add_memcpy_dtoh_node(
        self,
        dest: _HostBuffer,
        src: _DevicePointer,
        size: int | None = None,
        dependencies: Sequence[GraphNode] | GraphNode | None = None,
    ) -> GraphNode:
        """Copy `size` bytes (default: as many as `dest` has) to the host."""
    def add_memcpy_dtod_node(
        self,
        dest: _DevicePointer,
        src: _DevicePointer,
        size: int,
        dependencies: Sequence[GraphNode] | GraphNode | None = None,
    ) -> GraphNode:
        """Copy `size` bytes on the device."""
    def add_memcpy_node(self, copy: Memcpy3D, dependencies: Sequence[GraphNode] | GraphNode | None = None) -> GraphNode:
        """Copy a box; later changes of `copy` do not reach the node."""
    def add_memset_node(
        self,
        dest: _DevicePointer,
        value: int,
        count: int,
        element_size: int = 1,
        height: int = 1,
        pitch: int | None = None,
        dependencies: Sequence[GraphNode] | GraphNode | None = None,
    ) -> GraphNode:
        """Fill `height` rows, `pitch` bytes apart, of `count` elements of 1, 2 or 4 bytes."""
    def add_host_node(
        self, function: Callable[[], object], dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """Call `function`, on a thread of the driver. It must not use the driver; what it raises goes to
        `sys.unraisablehook`.
        """
    def add_empty_node(self, dependencies: Sequence[GraphNode] | GraphNode | None = None) -> GraphNode:
        """A node that does nothing but join others."""
    def add_event_record_node(
        self, event: Event, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """Add a node that records an event at each launch."""
    def add_event_wait_node(
        self, event: Event, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """Add a node that waits for an event at each launch."""
    def add_child_graph_node(
        self, graph: Graph, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """A copy of another graph as one node."""
    def add_memalloc_node(
        self, size: int, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> tuple[GraphNode, GraphAllocation]:
        """Memory that exists from this node to the one that frees it, at the same address in every launch."""
    def add_memfree_node(
        self, ptr: _DevicePointer, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """Add a node that frees memory of `add_memalloc_node`."""
    def conditional_handle(self, default: int | None = None) -> int:
        """A condition, which kernels set with ``cudaGraphSetConditional``.

        With a `default` it has that value at the start of every launch, else it keeps the one it had.
        """
    def add_conditional_node(
        self, handle: int, type: int, size: int = 1, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> tuple[GraphNode, list[Graph]]:
        """A node that runs one of `size` graphs, which are filled afterwards.

        `type` is of `graph_conditional_node_type`: IF runs the first where the condition is not 0, else
        the second if there is one; WHILE runs the one as long as the condition is not 0; SWITCH runs
        the one with the condition's number, if there is one.
        """
    def add_dependencies(self, pairs: Sequence[tuple[GraphNode, GraphNode]]) -> None:
        """Of each pair the second node comes after the first."""
    def remove_dependencies(self, pairs: Sequence[tuple[GraphNode, GraphNode]]) -> None:
        """Remove edges ``(before, after)``."""
    def get_nodes(self) -> list[GraphNode]:
        """All nodes."""
    def get_root_nodes(self) -> list[GraphNode]:
        """The nodes that come after no other."""
    def get_edges(self) -> list[tuple[GraphNode, GraphNode]]:
        """All edges, ``(before, after)``."""
    def clone(self) -> Graph:
        """A copy with nodes of its own, see `GraphNode.find_in_clone`."""
    def instantiate(self, flags: int = 0) -> GraphExec:
        """Make it executable; `flags` of `graph_instantiate_flags`. Later changes of the graph do not reach the result.

        Raises
        ------
        LogicError
            If the graph has a cycle or a node that the device cannot run.
        """
    def debug_dot_print(self, path: _Path, flags: int = 0) -> None:
        """Write a picture in the language of Graphviz; `flags` of `graph_debug_dot_flags`."""
    def dot(self, flags: int = 0) -> str:
        """The picture of `debug_dot_print` as text."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def __len__(self) -> int:
        """The number of nodes."""
    def __bool__(self) -> bool: ...

@final
class GraphNode:
    """A node of a `Graph`, which it keeps alive."""

    @property
    def type(self) -> graph_node_type:
        """What the node does, a `graph_node_type`."""
    @property
    def graph(self) -> Graph:
        """The graph that it is of."""
    @property
    def dependencies(self) -> list[GraphNode]:
        """The nodes that it comes right after."""
    @property
    def dependents(self) -> list[GraphNode]:
        """The nodes that come right after it."""
    @property
    def child_graph(self) -> Graph:
        """The graph inside a child graph node."""
    @property
    def handle(self) -> int:
        """The driver's ``CUgraphNode``, an int."""
    def find_in_clone(self, graph: Graph) -> GraphNode:
        """The node of `graph`, made by `Graph.clone`, that stands for this one."""
    def remove(self) -> None:
        """Take it and its edges out of the graph."""
    def kernel_node_set_params(
        self,
        *args: Any,
        func: Function | None = None,
        block: _Extents | int | None = None,
        grid: _Extents | int | None = None,
        shared: int | None = None,
    ) -> None:
        """Launch otherwise when the graph is instantiated next; what is not given stays."""
    def __hash__(self) -> int: ...

@final
class GraphAllocation:
    """Memory that exists while a graph runs; an argument of kernel, copy and memset nodes."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def get_pointer(self) -> int:
        """The address, valid between the nodes that allocate and free it."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

@final
class GraphExec:
    """An executable graph.

    Methods named ``*_node_set_params`` change what a node of the graph that this was made from does
    in later launches; the graph itself does not change.
    """

    def launch(self, stream: Stream | None = None) -> None:
        """Run the graph in stream order; does not wait. Launches of one executable graph never overlap.

        The stream must not be one that is being captured: there, the graph is added as a child graph node.
        """
    def upload(self, stream: Stream | None = None) -> None:
        """Prepare the next launch, which is then quicker."""
    def update(self, graph: Graph) -> None:
        """Take over what the nodes of `graph` do, which must have the same shape.

        Raises
        ------
        LogicError
            Says how the graphs differ; then nothing has changed.
        """
    @property
    def flags(self) -> int:
        """The `graph_instantiate_flags` that it was made with."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def kernel_node_set_params(
        self,
        *args: Any,
        kernel_node: GraphNode,
        func: Function | None = None,
        block: _Extents | int | None = None,
        grid: _Extents | int | None = None,
        shared: int | None = None,
    ) -> None:
        """Replace the arguments, and what else is given. A captured node needs `func` and `block`."""
    def memcpy_htod_node_set_params(
        self, node: GraphNode, dest: _DevicePointer, src: _HostBuffer, size: int | None = None
    ) -> None:
        """Replace what a copy to the device copies."""
    def memcpy_dtoh_node_set_params(
        self, node: GraphNode, dest: _HostBuffer, src: _DevicePointer, size: int | None = None
    ) -> None:
        """Replace what a copy to the host copies."""
    def memcpy_dtod_node_set_params(
        self, node: GraphNode, dest: _DevicePointer, src: _DevicePointer, size: int
    ) -> None:
        """Replace what a copy on the device copies."""
    def memcpy_node_set_params(self, node: GraphNode, copy: Memcpy3D) -> None:
        """Replace what a structured copy copies."""
    def memset_node_set_params(
        self,
        node: GraphNode,
        dest: _DevicePointer,
        value: int,
        count: int,
        element_size: int = 1,
        height: int = 1,
        pitch: int | None = None,
    ) -> None:
        """Replace what is filled; arguments as of `Graph.add_memset_node`."""
    def host_node_set_params(self, node: GraphNode, function: Callable[[], object]) -> None:
        """Replace the function that a host node calls."""
    def event_node_set_event(self, node: GraphNode, event: Event) -> None:
        """Of a node that records or waits for an event."""
    def child_graph_node_set_params(self, node: GraphNode, graph: Graph) -> None:
        """`graph` must have the shape of the one that is there."""
    def node_set_enabled(self, node: GraphNode, enabled: bool) -> None:
        """Switch a kernel, copy or memset node on or off."""
    def node_get_enabled(self, node: GraphNode) -> bool:
        """Whether the node does anything."""

@final
class StreamCapture:
    """What `Stream.capture` returns: ``with stream.capture() as graph:``."""

    def __enter__(self) -> Graph: ...
    def __exit__(self, kind: object, value: object, traceback: object) -> bool: ...

def exchange_capture_mode(mode: int) -> capture_mode:
    """Set how strictly calls of this thread are checked while streams are captured; returns the mode before."""

class Library:
    """Code of no context: the driver loads it into each context that uses it.

    Made by `library_from_buffer` or `library_from_file`, which need no context; a closed one is an error to use.
    What it gave out keeps it loaded. Needs a driver of CUDA 12 or newer.
    """

    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def get_kernel(self, name: str) -> Kernel:
        """Return the kernel of this name, for all contexts."""
    def get_kernels(self) -> list[Kernel]:
        """All kernels."""
    def get_module(self) -> Module:
        """Return its module in the current context. It stays loaded until the library is unloaded."""
    def get_function(self, name: str) -> Function:
        """Return the kernel of this name as a function of the current context."""
    def get_global(self, name: str) -> tuple[int, int]:
        """Return ``(address, number of bytes)`` of a variable in the current context."""
    def get_managed(self, name: str) -> tuple[int, int]:
        """Return ``(address, number of bytes)`` of a managed variable.

        Real GPUs have one for all contexts; the virtual GPU has one for each.
        """
    def get_unified_function(self, name: str) -> int:
        """Return the address of a function that host and device call alike, where devices have such."""
    def close(self) -> None:
        """Release it now, if that was not done before; later use is an error. `with` does it at its end."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Kernel:
    """A kernel of a `Library`. Without a `device` that of the current context is meant."""

    @property
    def name(self) -> str:
        """Its name, as the driver has it."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    @property
    def library(self) -> Library:
        """The library that it is of."""
    @property
    def parameters(self) -> list[tuple[int, int]]:
        """Offset and size of each parameter in bytes."""
    def get_function(self) -> Function:
        """Return it as a function of the current context."""
    def get_attribute(self, attribute: int, device: Device | None = None) -> int:
        """A `function_attribute` on a device."""
    def set_attribute(self, attribute: int, value: int, device: Device | None = None) -> None:
        """Set a `function_attribute` for all contexts of a device, those to come as well."""
    def set_cache_config(self, fc: int, device: Device | None = None) -> None:
        """Ask for a division of the first-level cache by `func_cache` on a device."""

class Linker:
    """Links several images into one module.

    LTO-IR (``jit_input_type.NVVM``) is linked by nvJitLink (``pip install nvidia-nvjitlink``), on a real GPU
    with all other inputs. The options ``LTO`` (find LTO-IR in fat binaries and objects too), ``FTZ``,
    ``PREC_DIV``, ``PREC_SQRT`` and ``FMA`` are for it alone.
    """

    def __init__(
        self,
        message_handler: _MessageHandler | None = None,
        options: _JitOptions | None = None,
        log_verbose: bool = False,
    ) -> None: ...
    def add_data(self, data: _HostBuffer, input_type: int, name: str = "unknown") -> None:
        """Add an image of a `jit_input_type`, by the name that messages give it.

        Raises `LogicError` with the linker's log if it is none.
        """
    def add_file(self, filename: _Path, input_type: int) -> None:
        """Add a file of a `jit_input_type`; a `RuntimeError` if there is no such file."""
    def add_lto_options(self, options: Sequence[str]) -> None:
        """Add options of nvJitLink's own, such as ``-fma=0`` or ``-kernels-used=f``, for links with LTO-IR."""
    def link_module(self) -> Module:
        """Link what was added and load it into the current context: a `Module`.

        Raises `LogicError` with the linker's log if something is missing or twice there.
        """

class Function:
    """A kernel.

    Any attribute of `rtcg.driver.function_attribute` can be read by its lower-case name, for
    instance ``function.num_regs``.
    """

    def _repr_html_(self) -> str: ...
    def __getitem__(self, configuration: Any, /) -> NoReturn: ...
    @property
    def name(self) -> str:
        """The kernel's name (an addition to PyCUDA)."""
    @property
    def _source(self) -> tuple[str, list[str], list[_Path], bool] | None:
        """What it was compiled from: the source text, options, folders of headers, and whether C++ names were left as
        they are; None where that is not known.
        """
    @property
    def signature(self) -> list[tuple[str, str | None]] | None:
        """The parameters as the source declares them, ``[("const float *", "x"), ...]``; None where
        that is not known (an addition to PyCUDA).
        """
    def __call__(
        self,
        *args: Any,
        block: _Extents | int,
        grid: _Extents | int = ...,
        stream: Stream | _CudaStream | None = None,
        shared: int = 0,
        texrefs: Sequence[object] = ...,
        time_kernel: bool = False,
        cooperative: bool = False,
        cluster: _Extents | None = None,
        preferred_cluster: _Extents | None = None,
        cluster_scheduling: int | None = None,
        programmatic_dependent: bool = False,
        priority: int | None = None,
        mem_sync_domain: int | None = None,
        mem_sync_domain_map: tuple[int, int] | None = None,
        shared_carveout: int | None = None,
        programmatic_event: Event | None = None,
        launch_completion_event: Event | None = None,
    ) -> float | None:
        """Run the kernel; does not wait, but with `Out`, `InOut` or `time_kernel`.

        Number and sizes of the arguments are checked, and their types as far as the source of a
        `SourceModule` declares them (see docs/launches.md), before anything reaches the device.

        Parameters
        ----------
        *args
            NumPy scalars (by value); Python's numbers, where the type is known and has their value;
            device allocations and arrays on the device of any library; `In`, `Out`, `InOut`; NumPy
            arrays, structured scalars, bytes and values of ctypes (their bytes by value).
        block : int or up to three int
            Threads per block. Required.
        grid : int or up to three int
            Blocks, default 1.
        stream : Stream or object with ``__cuda_stream__``, optional
        shared : int
            Dynamic shared memory in bytes. More than the default limit is enabled automatically.
        time_kernel : bool
            Wait, and return the run time in seconds.
        cooperative : bool
            All blocks are resident at once, so that the grid can synchronise.
        cluster : up to three int, optional
            Blocks per cluster (compute capability 9.0); `preferred_cluster` is used where it fits.
        programmatic_dependent : bool
            The kernel may start while the one before it still runs, and waits for it itself.
        priority, mem_sync_domain, shared_carveout, ...
            The attributes of ``cuLaunchKernelEx`` of these names.

        Raises
        ------
        TypeError
            For an argument of a kind or type that the kernel does not take.
        OverflowError
            For a number that the parameter's type does not have.
        LogicError
            When number or sizes of the arguments do not fit the kernel; the message says which.
        LaunchError
            When the device cannot run this geometry.
        """
    def prepare(
        self, arg_types: str | Iterable[str | DTypeLike | type], texrefs: Sequence[object] | None = None
    ) -> Self:
        """Fix the argument types, by the letters of `struct` (P is a pointer) or by dtypes."""
    def prepared_call(
        self, grid: _Extents | int, block: _Extents | int, /, *args: Any, shared_size: int = 0, **options: Any
    ) -> None:
        """Run the kernel with the prepared argument types; does not wait. `options` as in a direct call."""
    def prepared_async_call(
        self,
        grid: _Extents | int,
        block: _Extents | int,
        stream: Stream | _CudaStream | None,
        /,
        *args: Any,
        shared_size: int = 0,
        **options: Any,
    ) -> None:
        """As `prepared_call`, in a stream; does not wait."""
    def prepared_timed_call(
        self, grid: _Extents | int, block: _Extents | int, /, *args: Any, shared_size: int = 0, **options: Any
    ) -> Callable[[], float]:
        """As `prepared_call`; calling the result waits and returns the kernel's time in seconds."""
    def max_active_blocks_per_multiprocessor(self, block_threads: int, shared: int = 0) -> int:
        """``(blocks)`` of `block_threads` threads that fit on a multiprocessor at once."""
    def max_potential_block_size(self, shared: int = 0, limit: int = 0) -> tuple[int, int]:
        """``(blocks that fill the device, threads per block)`` of the best occupancy; `limit` bounds the threads."""
    def available_dynamic_shared_memory(self, blocks: int, block_threads: int) -> int:
        """Bytes that each of `blocks` blocks on a multiprocessor can have."""
    def max_potential_cluster_size(self, block: _Extents | int, shared: int = 0) -> int:
        """Blocks in the largest cluster possible."""
    def max_active_clusters(self, cluster: _Extents | int, block: _Extents | int, shared: int = 0) -> int:
        """Clusters that run at once on the device."""
    def get_attribute(self, attribute: int) -> int:
        """A `function_attribute`, an int."""
    def set_attribute(self, attribute: int, value: int) -> None:
        """Set a `function_attribute`, such as MAX_DYNAMIC_SHARED_SIZE_BYTES; a `LogicError` if it is fixed."""
    def set_cache_config(self, fc: int) -> None:
        """Ask for a division of the first-level cache by `func_cache`."""
    def set_shared_config(self, sc: int) -> None:
        """Ask for a width of shared-memory banks by `shared_config`; devices of today have only one."""
    def param_set_texref(self, texref: TextureReference) -> None:
        """Nothing to do: a bound reference is visible to the kernels of its module."""
    def __getattr__(self, name: str) -> int: ...

def library_from_file(filename: _Path) -> Library:
    """Load PTX, a cubin or a fat binary from a file for all contexts: returns a `Library`; no context is needed.

    Errors are those of `module_from_file`.
    """

def library_from_buffer(
    buffer: _HostBuffer,
    options: _JitOptions | None = None,
    message_handler: _MessageHandler | None = None,
    device: Device | None = None,
) -> Library:
    """Load PTX, a cubin or a fat binary for all contexts: returns a `Library`; no context is needed.

    `device` says whose driver is meant, where real and virtual devices are together; by default that of the
    current context, else that of the first device.
    """

def module_from_file(filename: _Path) -> Module:
    """Load PTX, a cubin or a fat binary from a file into the current context: returns a `Module`.

    Raises `RuntimeError` if there is no such file, and `LogicError` if the driver cannot load it.
    """

def module_from_buffer(
    buffer: _HostBuffer, options: _JitOptions | None = None, message_handler: _MessageHandler | None = None
) -> Module:
    """Load PTX, a cubin or a fat binary into the current context: returns a `Module`."""

# -- compiler

@final
class Program:
    def __new__(
        cls,
        request: tuple[
            str,
            str,
            list[str],
            bool,
            bool,
            str | None,
            str | None,
            _Path | bool | None,
            list[_Path],
            str,
        ],
        name_expressions: Sequence[str] = ...,
        parts: Sequence[tuple[str, str]] = ...,
    ) -> Self: ...
    def compile(self) -> tuple[bytes, str, bool]:
        """Compiles; returns `(binary, log, from_cache)`."""
    def register_source(self, module: Module) -> None:
        """Tells a module that was loaded from the binary what it was compiled from, so that arguments
        of its kernels are checked by type.
        """
    def get_function(self, module: Module, name: str) -> Function: ...
    def get_global(self, module: Module, name: str) -> tuple[int, int]: ...
    def get_texref(self, module: Module, name: str) -> TextureReference: ...
    def get_surfref(self, module: Module, name: str) -> SurfaceReference: ...

def compiler_info(nvcc: str) -> tuple[str, str]: ...
def default_nvcc_flags() -> list[str]: ...
def lto_options(options: Sequence[str]) -> list[str] | None: ...
def use_prebuilt_programs(path: str) -> None: ...
def start_recording_programs() -> None: ...
def write_recorded_programs(path: str) -> int: ...
def compiler_cache_status() -> tuple[pathlib.Path, str | None] | None: ...

# -- arrays

class GPUArray:
    """An n-dimensional array on the device of the current context, with NumPy's arithmetic.

    Operations do not wait; `get`, `set` and printing do. Operands of any layout are broadcast; result
    types are NumPy's.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like, optional
        bool, an integer, float16/32/64, bfloat16 (of ml_dtypes), complex64/128 or a record; by
        default float64, as NumPy's.
    allocator : callable, optional
        Takes a number of bytes and returns device memory; default `rtcg.driver.mem_alloc`.
    base : object, optional
        Kept alive as long as the array.
    gpudata : device pointer, optional
        Memory to use instead of allocating; kept alive.
    strides : sequence of int, optional
        Bytes from one element to the next along each axis.
    order : {"C", "F"}
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        allocator: Callable[[int], DeviceAllocation] | None = None,
        base: object = None,
        gpudata: _DevicePointer | None = None,
        strides: Sequence[int] | None = None,
        order: str = "C",
    ) -> None: ...
    @property
    def flat(self) -> Any:
        """The elements of an array in C order, as `GPUArray.flat` returns them.

        Indexing and assignment take integers, slices and arrays. ``len`` is the number of elements. Iteration first
        copies all elements to the host, for which it waits.
        """
    @flat.setter
    def flat(self, value: Any) -> None: ...
    @property
    def T(self) -> GPUArray:
        """The transposed array, a view: axes in reverse order."""
    def all(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> GPUArray:
        """Whether all elements, or those along `axis`, are true: an array of bool, by default without axes.

        `axis` is None, an int or a tuple of int; `keepdims` leaves reduced axes with length 1. Does not wait.
        """
    @property
    def allocator(self) -> Any:
        """What allocated the memory and allocates results: a callable of a number of bytes; None for the default."""
    @allocator.setter
    def allocator(self, allocator: Any) -> None: ...
    def any(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> GPUArray:
        """Whether an element, or one along `axis`, is true: an array of bool, by default without axes.

        `axis` is None, an int or a tuple of int; `keepdims` leaves reduced axes with length 1. Does not wait.
        """
    def argmax(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> GPUArray:
        """The index of the (first) largest element, along `axis` or of the flattened array; does not wait."""
    def argmin(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> GPUArray:
        """The index of the (first) smallest element, along `axis` or of the flattened array; does not wait."""
    def argsort(self, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
        """The indices (int64) that sort along `axis`, stably, NaN last; does not wait."""
    def astype(self, dtype: Any, stream: Any = None, order: Any = "K", copy: Any = True) -> GPUArray:
        """A copy converted to `dtype`; does not wait."""
    @property
    def base(self) -> Any:
        """The array that this one is a view of, or None."""
    @base.setter
    def base(self, base: Any) -> None: ...
    def bind_to_texref(self, texref: Any, allow_offset: Any = False) -> GPUArray:
        """Binds to a texture reference of its dtype; the offset in elements."""
    def bind_to_texref_ext(
        self,
        texref: Any,
        channels: Any = 1,
        allow_double_hack: Any = False,
        allow_complex_hack: Any = False,
        allow_offset: Any = False,
    ) -> GPUArray:
        """Binds to a texture reference and sets its format; the offset in elements."""
    def clip(
        self, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
    ) -> GPUArray:
        """Elements limited to the range from `a_min` to `a_max`, either of which may be None; does not wait."""
    def conj(self, out: Any = None) -> GPUArray:
        """The complex conjugate, a new array (`out` if given); an array of real numbers itself. Does not wait."""
    def conjugate(self, out: Any = None) -> GPUArray:
        """As `conj`."""
    def copy(self, order: Any = "K") -> GPUArray:
        """A copy in new device memory, in the same memory order or in `order`; does not wait."""
    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """Running products along `axis`, of the flattened array if it is None; a new array, or `out`. Does not wait."""
    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """Running sums along `axis`, of the flattened array if it is None; a new array, or `out`. Does not wait.

        By a decoupled look-back scan (Merrill and Garland, 2016).
        """
    @property
    def device(self) -> Device:
        """The device that the array is on, whichever is current: a `rtcg.driver.Device`."""
    def diagonal(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> GPUArray:
        """The diagonal `offset` of the axes `axis1` and `axis2`, a view, with the diagonal as the last axis."""
    def dot(self, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None, *, out: Any = None) -> GPUArray:
        """The product with `b`: the inner product of arrays of one shape, else as `numpy.dot`. Does not wait."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The same shape of other elements; strides stay where the element's size does."""
    @dtype.setter
    def dtype(self, dtype: Any) -> None: ...
    def fill(self, value: Any, stream: Any = None) -> Self:
        """Sets every element to `value`; does not wait."""
    @property
    def flags(self) -> ArrayFlags:
        """What is known of the memory layout: `ArrayFlags`, as `numpy.ndarray.flags`."""
    def flatten(self, order: Any = "C") -> GPUArray:
        """A one-dimensional copy in the order `order` (C, F, A or K); does not wait."""
    def get(self, ary: Any = None, pagelocked: Any = False, async_: Any = False, stream: Any = None) -> NDArray[Any]:
        """A copy on the host: in `ary`, or in a new array of the same memory order; waits."""
    def get_async(self, stream: Any = None, ary: Any = None) -> NDArray[Any]:
        """Begin to copy to the host; the array returned has its values when `stream` got there.

        The target is `ary` if given, else new page-locked memory, into which a copy does not wait.
        """
    @property
    def gpudata(self) -> Any:
        """The memory: a `DeviceAllocation`, what the allocator gave, an address for views, or None without elements."""
    @gpudata.setter
    def gpudata(self, gpudata: Any) -> None: ...
    @property
    def imag(self) -> GPUArray:
        """The imaginary parts, as `real`; zeros for arrays that are not complex."""
    def item(self, *args: Any) -> Any:
        """The only element as a Python number; waits."""
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
    @property
    def mT(self) -> GPUArray:
        """The array with its last two axes exchanged, a view; a `ValueError` for fewer than two dimensions."""
    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> GPUArray:
        """The largest element, or those along `axis`, as an array; NaN if there is one; does not wait.

        A `ValueError` for no elements without `initial`.
        """
    def mean(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
    ) -> GPUArray:
        """The mean of all elements, or along `axis`, as an array on the device; does not wait.

        Integers are averaged as float64. Parameters as of `sum`.
        """
    @property
    def mem_size(self) -> int:
        """The number of elements that the allocation was made for."""
    @mem_size.setter
    def mem_size(self, mem_size: int) -> None: ...
    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> GPUArray:
        """The smallest element, or those along `axis`, as an array; NaN if there is one; does not wait.

        A `ValueError` for no elements without `initial`.
        """
    def mul_add(
        self, selffac: Any, other: Any, otherfac: Any, add_timer: Any = None, stream: Any = None, out: Any = None
    ) -> GPUArray:
        """`selffac * self + otherfac * other`, in one kernel."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
    @nbytes.setter
    def nbytes(self, nbytes: int) -> None: ...
    @property
    def ndim(self) -> int:
        """The number of axes."""
    def nonzero(self) -> GPUArray:
        """The indices of the elements that are not 0, a tuple of one array for each axis; waits for their number."""
    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
    ) -> GPUArray:
        """The product of all elements, or along `axis`; parameters as of `sum`; does not wait."""
    def ptp(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> GPUArray:
        """The largest element less the smallest, of all or along `axis`; does not wait."""
    @property
    def ptr(self) -> int:
        """The device address of the first element, an int."""
    def put(self, ind: Any, v: Any, mode: Any = "raise") -> None:
        """Write `v` to the elements `ind` of the flattened array, in place; as `numpy.put`."""
    def ravel(self, order: Any = "C") -> GPUArray:
        """One axis in the order `order` (C, F, A or K): a view where the layout allows, else a copy; does not wait."""
    @property
    def real(self) -> GPUArray:
        """A contiguous copy of the real parts; of arrays that are not complex the array itself."""
    def repeat(self, repeats: Any, axis: Any = None) -> GPUArray:
        """Each element `repeats` times, along `axis` or flattened; waits if `repeats` is an array on the device."""
    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> GPUArray:
        """The same elements in another shape: a view where the layout allows, else a copy. One length may be -1.

        `order` is C, F or A. Raises `ValueError` if the number of elements differs.
        """
    def reverse(self, stream: Any = None) -> GPUArray:
        """The elements in reverse order of memory, in a new array of one axis."""
    def round(self, decimals: Any = 0, out: Any = None) -> GPUArray:
        """Rounded to `decimals` places, halves to even; a new array, or `out`. Does not wait."""
    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
        """Where elements of `v` would go in this sorted array of one dimension, left or right of equal ones."""
    def set(self, ary: Any, async_: Any = False, stream: Any = None) -> None:
        """Overwrites all elements with those of a host array; waits."""
    def set_async(self, ary: Any, stream: Any = None) -> None:
        """Begin to copy a host array into this one, in the order of `stream`.

        `ary` has this array's shape and dtype. Page-locked memory must stay unchanged until the stream got there.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes, a tuple of int."""
    @shape.setter
    def shape(self, shape: int | Sequence[int]) -> None: ...
    @property
    def size(self) -> int:
        """The number of elements."""
    @size.setter
    def size(self, size: int) -> None: ...
    def sort(self, axis: Any = ..., kind: Any = None, *, stable: Any = None) -> None:
        """Sorts in place along an axis; NaN last, stable."""
    def squeeze(self, axis: Any = None) -> GPUArray:
        """A view without axes of length 1, or without those in `axis`, which must have that length."""
    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0.0,
        keepdims: Any = False,
        where: Any = None,
        correction: Any = None,
    ) -> GPUArray:
        """The standard deviation, the square root of `var`; does not wait."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next along each axis, a tuple of int."""
    @strides.setter
    def strides(self, strides: Sequence[int]) -> None: ...
    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
        stream: Any = None,
    ) -> GPUArray:
        """The sum of all elements, or along `axis`, as an array on the device; does not wait.

        `axis` is None (all), an int or a tuple of int. `dtype` is that of the sum: by default integers that are
        narrower than the machine's are widened as by `numpy.sum`. `initial` is added, elements where `where` is false
        are left out, and `keepdims` leaves reduced axes with length 1.
        """
    def swapaxes(self, axis1: Any, axis2: Any) -> GPUArray:
        """A view with two axes exchanged."""
    def take(
        self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None
    ) -> GPUArray:
        """Elements by an array of indices, along `axis` or of the flattened array; does not wait.

        `mode` is raise, wrap or clip, as in `numpy.take`.
        """
    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """This array on a device: itself if it is there already, else a copy in that device's current or primary
        context, which is waited for; a NumPy array for ``"cpu"``. `stream` has no effect.
        """
    def tolist(self) -> Any:
        """The elements as nested lists; waits."""
    def trace(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> GPUArray:
        """The sum of a diagonal of the axes `axis1` and `axis2`; does not wait."""
    def transpose(self, *args: Any, axes: Any = None) -> GPUArray:
        """A view with the axes in the order `axes`, by default reversed."""
    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0.0,
        keepdims: Any = False,
        where: Any = None,
        correction: Any = None,
    ) -> GPUArray:
        """The variance of all elements, or along `axis`, with the divisor ``n - ddof``; does not wait.

        In one pass over the memory, by Chan's parallel update of means and squared deviations.
        """
    def view(self, dtype: Any = None) -> GPUArray:
        """The same bytes as elements of another dtype."""
    def __abs__(self) -> GPUArray: ...
    def __add__(self, value: Any, /) -> GPUArray: ...
    def __and__(self, value: Any, /) -> GPUArray: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """A host copy for functions that know only NumPy's arrays; waits."""
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """The Array API standard's functions for arrays of this class."""
    __array_priority__: int
    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any: ...
    def __bool__(self) -> bool: ...
    def __complex__(self) -> complex: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __copy__(self) -> GPUArray: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __deepcopy__(self, memo: Any) -> GPUArray: ...
    def __delitem__(self, key: Any, /) -> None:
        """Delete self[key]."""
    def __divmod__(self, value: Any, /) -> tuple[GPUArray, GPUArray]: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A DLPack capsule over this memory; with `dl_device` of the host, over a copy there.

        Earlier work is done before work of `stream` (None or 1: the legacy default stream; 2: the
        per-thread one; -1: nobody waits) begins.
        """
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, value: Any, /) -> GPUArray: ...
    def __format__(self, format: Any) -> str:
        """Default object formatter."""
    def __ge__(self, value: Any, /) -> GPUArray: ...
    def __getitem__(self, key: Any, /) -> GPUArray: ...
    def __gt__(self, value: Any, /) -> GPUArray: ...
    def __iadd__(self, value: Any, /) -> Self: ...
    def __iand__(self, value: Any, /) -> Self: ...
    def __ifloordiv__(self, value: Any, /) -> Self: ...
    def __ilshift__(self, value: Any, /) -> Self: ...
    def __imatmul__(self, value: Any, /) -> Self: ...
    def __imod__(self, value: Any, /) -> Self: ...
    def __imul__(self, value: Any, /) -> Self: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> GPUArray: ...
    def __ior__(self, value: Any, /) -> Self: ...
    def __ipow__(self, value: Any, /) -> Self: ...  # type: ignore[misc]
    def __irshift__(self, value: Any, /) -> Self: ...
    def __isub__(self, value: Any, /) -> Self: ...
    def __itruediv__(self, value: Any, /) -> Self: ...
    def __ixor__(self, value: Any, /) -> Self: ...
    def __le__(self, value: Any, /) -> GPUArray: ...
    def __len__(self) -> int: ...
    def __lshift__(self, value: Any, /) -> GPUArray: ...
    def __lt__(self, value: Any, /) -> GPUArray: ...
    def __matmul__(self, value: Any, /) -> GPUArray: ...
    def __mod__(self, value: Any, /) -> GPUArray: ...
    def __mul__(self, value: Any, /) -> GPUArray: ...
    def __neg__(self) -> GPUArray: ...
    def __or__(self, value: Any, /) -> GPUArray: ...
    def __pos__(self) -> GPUArray: ...
    def __pow__(self, value: Any, mod: Any = None, /) -> GPUArray: ...
    def __radd__(self, value: Any, /) -> GPUArray: ...
    def __rand__(self, value: Any, /) -> GPUArray: ...
    def __rdivmod__(self, value: Any, /) -> tuple[GPUArray, GPUArray]: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the host copy; read back onto the device that is then current."""
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, value: Any, /) -> GPUArray: ...
    def __rlshift__(self, value: Any, /) -> GPUArray: ...
    def __rmatmul__(self, value: Any, /) -> GPUArray: ...
    def __rmod__(self, value: Any, /) -> GPUArray: ...
    def __rmul__(self, value: Any, /) -> GPUArray: ...
    def __ror__(self, value: Any, /) -> GPUArray: ...
    def __rpow__(self, value: Any, mod: Any = None, /) -> GPUArray: ...
    def __rrshift__(self, value: Any, /) -> GPUArray: ...
    def __rshift__(self, value: Any, /) -> GPUArray: ...
    def __rsub__(self, value: Any, /) -> GPUArray: ...
    def __rtruediv__(self, value: Any, /) -> GPUArray: ...
    def __rxor__(self, value: Any, /) -> GPUArray: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __str__(self) -> str: ...
    def __sub__(self, value: Any, /) -> GPUArray: ...
    def __truediv__(self, value: Any, /) -> GPUArray: ...
    def __xor__(self, value: Any, /) -> GPUArray: ...
    @property
    def _block(self) -> bool: ...
    def _broadcast_to(self, shape: Any) -> GPUArray: ...
    def _clear(self) -> None:
        """Sets all bytes to zero; used by `rtcg.numpy.zeros`."""
    def _expand_dims(self, axis: Any) -> GPUArray:
        """`numpy.expand_dims`, `moveaxis`, `flip`, `broadcast_to`, which NumPy has as functions."""
    def _flip(self, axis: Any) -> GPUArray: ...
    @property
    def _grid(self) -> bool: ...
    def _moveaxis(self, source: Any, destination: Any) -> GPUArray: ...
    def _new_like_me(self, dtype: Any = None, order: Any = "C") -> GPUArray:
        """Upstream's constructor of results: this array's shape, another dtype or order."""
    def __eq__(self, value: object, /) -> GPUArray: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> GPUArray: ...  # type: ignore[override]
    def __hash__(self) -> int: ...

@final
class ArrayFlags:
    """How the elements of an array lie."""

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
    @property
    def f_contiguous(self) -> bool:
        """Whether the elements lie in Fortran order without gaps."""
    @property
    def forc(self) -> bool:
        """Whether the elements lie in C or Fortran order without gaps."""
    def __repr__(self) -> str: ...

def call_with_allocator(allocator: Any, function: Any, *args: Any) -> Any: ...
def ufunc(name: Any, args: Any, out: Any = None, dtype: Any = None) -> Any: ...
def reduce_array(
    a: Any,
    name: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    ddof: Any = 0.0,
    stream: Any = None,
    allocator: Any = None,
) -> Any: ...
def arange_of(start: Any, step: Any, count: Any, dtype: Any) -> Any: ...
def empty_in_order_of(other: Any, dtype: Any, order: Any, shape: Any) -> Any: ...
def release_array_memory() -> bool: ...
def clear_array_contexts() -> None: ...
def array_argsort(a: Any, axis: Any = ..., descending: Any = False) -> Any: ...
def array_cumulative(a: Any, op: Any, axis: Any = None, dtype: Any = None, stream: Any = None) -> Any: ...
def array_dot_flat(a: Any, b: Any, dtype: Any = None, stream: Any = None) -> Any: ...
def array_einsum(
    subscripts: Any, operands: Any, out: Any = None, dtype: Any = None, order: Any = None, path: Any = None
) -> Any: ...
def array_fft(a: Any, kind: Any, n: Any, axis: Any, scale: Any) -> Any: ...
def array_flatnonzero(a: Any) -> Any: ...
def array_from_object(object: Any) -> Any: ...
def array_from_dlpack(capsule: Any) -> Any: ...
def array_matmul(a: Any, b: Any, out: Any = None) -> Any: ...
def array_nonzero(a: Any) -> Any: ...
def array_put(a: Any, indices: Any, values: Any, axis: Any = None, mode: Any = "raise", stream: Any = None) -> Any: ...
def array_searchsorted(a: Any, v: Any, side: Any = "left") -> Any: ...
def array_sort(a: Any, axis: Any = ..., descending: Any = False) -> Any: ...
def array_store(result: Any, out: Any) -> None: ...
def array_splay(n: Any) -> Any: ...
def array_take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None
) -> Any: ...
def array_from_host(host: Any) -> Any: ...
def linalg_cholesky(a: Any, upper: Any) -> Any: ...
def linalg_cond(a: Any, name: Any) -> Any: ...
def linalg_det(a: Any) -> Any: ...
def linalg_eig(a: Any) -> Any: ...
def linalg_eigh(a: Any, upper: Any) -> Any: ...
def linalg_eigvals(a: Any) -> Any: ...
def linalg_eigvalsh(a: Any, upper: Any) -> Any: ...
def linalg_inv(a: Any) -> Any: ...
def linalg_lstsq(a: Any, b: Any, ratio: Any) -> Any: ...
def linalg_matrix_norm(a: Any, name: Any) -> Any: ...
def linalg_matrix_rank(a: Any, size: Any, ratio: Any, hermitian: Any) -> Any: ...
def linalg_pinv(a: Any, ratio: Any, hermitian: Any) -> Any: ...
def linalg_qr(a: Any, mode: Any) -> Any: ...
def linalg_slogdet(a: Any) -> Any: ...
def linalg_matmul_epilogue(
    a: GPUArray, b: GPUArray, expression: str, operands: list[tuple[str, GPUArray]], dtype: Any
) -> GPUArray: ...
def linalg_solve(a: Any, b: Any) -> Any: ...
def linalg_svd(a: Any, full: Any, hermitian: Any) -> Any: ...
def linalg_svdvals(a: Any, hermitian: Any) -> Any: ...
def linalg_vector_norm(a: Any, order: Any, axes: Any, keepdims: Any) -> Any: ...

# -- end of arrays

# -- what `python -m rtcg` prints

def installation_report(*, attributes: bool = False, functions: bool = False, unset_settings: bool = False) -> str: ...
def driver_function_address(name: str, *, virtual: bool) -> int | None: ...

# -- checks and schedules of the virtual GPU

def enable_checks(checks: str) -> None: ...
def list_check_findings() -> list[dict[str, Any]]: ...
def clear_check_findings() -> None: ...
def set_thread_schedule(order: str) -> None: ...

# -- figures of multiprocessors

@final
class Multiprocessor:
    @staticmethod
    def from_device(device: Device) -> Multiprocessor:
        """Those of a device, as its driver says them."""
    @staticmethod
    def from_compute_capability(major: int, minor: int) -> Multiprocessor:
        """Those of a compute capability."""
    @staticmethod
    def known_compute_capabilities() -> list[tuple[int, int]]:
        """The compute capabilities that are known."""
    def limits(self) -> dict[str, int]:
        """Every limit by its name."""
    def occupancy(self, threads: int, registers: int, shared_bytes: int) -> tuple[int, int, float, str]:
        """`(blocks, warps, occupancy, limited_by)`, the last in PyCUDA's words."""

def max_active_blocks(function: Function, threads: int, shared_bytes: int = 0) -> int: ...

# -- C types and generated kernels

def register_ctype(names: Sequence[str], dtype: np.dtype[Any]) -> np.dtype[Any]: ...
def dtype_of_c_name(name: str) -> np.dtype[Any]: ...
def c_name_of_dtype(dtype: np.dtype[Any]) -> str: ...

@final
class TypedSnippet:
    """A snippet whose types a call fills in."""

    def __new__(cls, inputs: str, outputs: str, operation: str) -> TypedSnippet: ...
    @property
    def params(self) -> list[tuple[str, bool]]:
        """The names of the parameters, and whether each is declared raw; inputs first."""
    @property
    def n_inputs(self) -> int:
        """How many of the parameters are inputs."""
    def fill(
        self, given: list[tuple[np.dtype[Any] | None, bool]]
    ) -> tuple[list[tuple[bool, bool, np.dtype[Any], str]], str]:
        """``(arguments, operation)`` for the types that a call gives: of each parameter a dtype, or None, and whether
        it is an array's. Arguments, outputs first, are tuples as :func:`parse_declaration` returns them.
        """

def parse_declaration(text: str) -> tuple[bool, bool, np.dtype[Any], str]: ...

class ElementwiseKernel:
    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        range: Any = None,
        slice: slice | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Enqueue the kernel; does not wait."""
    def get_source(self, *args: Any, use_range: bool = False) -> str:
        """The CUDA source for contiguous arrays (or for a range), or for the arguments of a call."""
    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """The texture reference `name`, which the preamble declares."""
    @property
    def source(self) -> str:
        """The CUDA source for contiguous arrays."""
    @property
    def name(self) -> str:
        """The kernel's name."""

# -- OpenGL

class RegisteredObject:
    def gl_handle(self) -> int:
        """The number that OpenGL knows the object by."""
    def unregister(self) -> None:
        """Give the object back to OpenGL alone. A second time is a `LogicError`."""
    def set_map_flags(self, flags: int) -> None:
        """Say by `graphics_map_flags` what kernels will do with the object when it is mapped next."""
    def map(self, stream: Stream | None = None) -> RegisteredMapping:
        """Give the object to CUDA, in the order of `stream`: a `RegisteredMapping`."""

class RegisteredBuffer(RegisteredObject):
    def __init__(self, bufobj: int, flags: int = 0) -> None: ...

class RegisteredImage(RegisteredObject):
    def __init__(self, bufobj: int, target: int, flags: int = 0) -> None: ...

@final
class RegisteredMapping:
    def unmap(self, stream: Stream | None = None) -> None:
        """Give the object back to OpenGL, in the order of `stream`. A second time is a `LogicError`."""
    def device_ptr_and_size(self) -> tuple[int, int]:
        """``(address, number of bytes)`` of a buffer."""
    def array(self, index: int, level: int) -> Array:
        """The `Array` of a layer and level of an image."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def have_gl_ext() -> bool:
    """Whether CUDA and OpenGL can be used together here: driver and library are there."""

def gl_devices() -> list[Device]: ...

# -- traces and ranges

def trace_start(path: _Path) -> None: ...
def trace_stop() -> tuple[Any, int] | None: ...
def trace_is_on() -> bool: ...
def profile_of_trace(path: _Path) -> tuple[str, list[tuple[str, str, int, float, float, float, int]]]:
    """The summary of a trace file: a text with tables, and rows ``(group, name, calls, seconds, min, max, bytes)``."""

def nvtx_push(name: str) -> None: ...
def nvtx_pop() -> None: ...
def nvtx_mark(name: str) -> None: ...
def nvtx_listener_library() -> str | None: ...

class ReductionKernel:
    def __init__(
        self,
        dtype_out: Any,
        neutral: str,
        reduce_expr: str,
        map_expr: str,
        arguments: Any,
        name: str,
        keep: bool,
        options: Sequence[str] | None,
        preamble: str,
        allocator: Callable[[int], Any] | None = None,
    ) -> None: ...
    @property
    def allocator(self) -> Callable[[int], Any] | None:
        """What allocates results, or None for the default."""
    def __call__(
        self,
        *args: Any,
        stream: Stream | None = None,
        out: Any = None,
        allocator: Callable[[int], Any] | None = None,
        kernel_wrapper: Callable[..., Any] | None = None,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
    ) -> Any:
        """Enqueue the reduction; return the result on the device."""
    def get_source(self) -> str:
        """The CUDA source for contiguous arrays."""
    @property
    def source(self) -> str:
        """The CUDA source for contiguous arrays."""
    @property
    def dtype_out(self) -> np.dtype[Any]:
        """The dtype of results."""
    @property
    def name(self) -> str:
        """The kernel's name."""

class _ScanKernel:
    def __init__(
        self,
        dtype: Any,
        arguments: Any,
        input_expr: str,
        scan_expr: str,
        neutral: str | None,
        output_statement: str,
        is_segment_start_expr: str | None,
        input_fetch_exprs: Sequence[tuple[str, str, int]],
        index_dtype: Any,
        name: str,
        options: Sequence[str] | None,
        preamble: str,
    ) -> None: ...
    def get_source(self) -> str:
        """The CUDA source."""
    @property
    def source(self) -> str:
        """The CUDA source."""

def clear_workspaces() -> None:
    """Gives back the memory that reductions and scans keep for their launches."""

# -- random numbers

@final
class CounterGenerator:
    def __new__(cls, engine: str, key: int, stream: int) -> Self: ...
    def fill(self, draw: str, data: Any, p: float = 0.0, q: float = 1.0, stream: Stream | None = None) -> None: ...
    def fill_integers(self, data: Any, low: int, range: int, stream: Stream | None = None) -> None:
        """Integers from `low` on, `range` of them; both modulo 2^64, range 0 for all."""
    def fill_permutation(self, data: Any, stream: Stream | None = None) -> None: ...
    def host_bits(self) -> int: ...
    def advance(self, counters: int) -> None: ...
    def set_counter_position(self, position: int) -> None: ...
    @property
    def generator_key(self) -> int: ...
    @property
    def stream_number(self) -> int: ...
    @property
    def counter_position(self) -> int: ...

@final
class SequentialGenerators:
    @staticmethod
    def from_seeds(engine: str, seeds: list[int], offset: int) -> SequentialGenerators: ...
    @staticmethod
    def from_direction_vectors(
        engine: str, vectors: list[int], scramble: list[int], offset: int
    ) -> SequentialGenerators: ...
    def fill(self, draw: str, data: Any, p: float = 0.0, q: float = 1.0, stream: Stream | None = None) -> None: ...
    def skip_ahead(self, what: str, counts: list[int]) -> None:
        """`what`: "numbers", "subsequences" or "sequences"."""
    @property
    def generator_count(self) -> int: ...

def sobol_vectors(bits: int, count: int) -> list[int]: ...
def scramble_constants(count: int) -> list[int]: ...

class FusionError(TypeError): ...

def fuse_enter(traced: bool) -> None: ...
def fuse_leave(traced: bool) -> None: ...
def fuse_is_active() -> bool: ...
def fuse_flush() -> None: ...

# -- Tuning and templates

@final
class Expression:
    def __new__(cls, text: str) -> Self: ...
    @property
    def names(self) -> list[str]: ...
    def __call__(self, names: dict[str, Any]) -> Any:
        """The value where `names` has the values of the names."""

@final
class TuningSpace:
    def __new__(cls) -> Self: ...
    def with_parameter(
        self, name: str, values: Iterable[Any], when: str | None = None, default: Any = None
    ) -> TuningSpace:
        """A space with one more parameter."""
    def with_constraint(self, constraint: Any) -> TuningSpace:
        """A space with one more constraint: text, or a function of a dictionary."""
    @property
    def names(self) -> list[str]: ...
    @property
    def constraints(self) -> list[str]: ...
    def values(self, name: str) -> list[Any]:
        """The values of a parameter."""
    def default_config(self) -> dict[str, Any]:
        """The configuration of all defaults."""
    def check(self, config: dict[str, Any]) -> None:
        """Raises ValueError unless a configuration belongs to the space."""
    def enumerate(self) -> TuningTable:
        """All valid configurations."""
    @staticmethod
    def from_t1(text: str) -> tuple[TuningSpace, str, str]:
        """`(space, kernel specification, the rest)` of a T1 file; the last two as JSON."""
    def to_t1(self, kernel: str, other: str) -> str:
        """The text of a T1 file; kernel and rest as JSON objects."""

@final
class TuningTable:
    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> dict[str, Any]: ...
    def find(self, config: dict[str, Any]) -> int | None:
        """The row of a configuration, or None."""

@final
class TuningSearch:
    def __new__(cls, table: TuningTable, strategy: Any, seed: int) -> Self: ...
    def start_with(self, rows: Sequence[int]) -> None: ...
    def ask(self, count: int) -> list[int]: ...
    def tell(self, row: int, score: float | None, failure: str | None = None, message: str = "") -> None:
        """Tells a score, or with `failure` why there is none."""
    def best(self) -> tuple[int, float] | None:
        """`(row, score)` of the best, or None."""

@final
class TuningKernelKey:
    def __new__(cls, name: str, source: str, options: Sequence[str], parameters: Sequence[str]) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def parameters(self) -> list[str]: ...

@final
class ArrayDecision:
    @property
    def name(self) -> str: ...
    @property
    def key(self) -> TuningKernelKey: ...
    @property
    def problem(self) -> dict[str, Any]:
        """What results are found by."""
    @property
    def current(self) -> dict[str, Any]:
        """What the call ran with."""
    @property
    def rule(self) -> dict[str, Any]:
        """What the rule chooses."""
    def shipped_incumbents(self, count: int) -> list[dict[str, Any]]:
        """The best shipped choices of the nearest device and problem."""
    def table(self) -> TuningTable:
        """All choices that kernels can run with."""
    def compile(self, config: dict[str, Any], call: Any) -> None:
        """Compiles on this thread what a function needs with this choice; the function launches nothing."""
    def force(self, config: dict[str, Any], call: Any) -> Any:
        """Calls a function while this choice is made."""

@final
class TuningDevice:
    @staticmethod
    def current() -> TuningDevice:
        """The device of the current context."""
    @property
    def backend(self) -> str: ...

@final
class TuningRecorder:
    def add(self, trial: dict[str, Any], is_chosen: bool) -> None:
        """Adds a trial, a dictionary as the tuner tells it. What cannot be written is kept and tried again later."""
    def flush(self) -> None:
        """Writes what could not be written before."""
    @property
    def n_unwritten(self) -> int: ...

@final
class TuningStore:
    def __new__(cls, folder: _Path, read_only: Sequence[_Path]) -> Self: ...
    @property
    def folder(self) -> Any: ...
    def recorder(
        self, kernel: TuningKernelKey, device: TuningDevice, problem: dict[str, Any], other: str
    ) -> TuningRecorder:
        """Where the trials of one kernel, device and problem are added."""
    def read(self, kernel: TuningKernelKey) -> TuningRecords:
        """The results of a kernel as its files have them now."""
    def known(self, kernel: TuningKernelKey) -> TuningRecords:
        """The results of a kernel that were read before, or are read now, and what this process added."""
    def refresh(self, kernel: TuningKernelKey) -> None:
        """Reads again what other processes may have changed."""
    def kernels(self) -> list[TuningKernelKey]: ...
    def export_text(self) -> str: ...
    def t4_text(self, kernel: TuningKernelKey) -> tuple[str, int]:
        """The results of a kernel as a T4 file, and how many there are."""
    def import_text(self, text: str) -> tuple[int, list[str]]:
        """`(results added, what was refused)`"""
    def prune(self, kernel: TuningKernelKey, keep: int) -> int: ...
    def publish(self, folder: _Path, version: int, keep: int) -> int: ...

@final
class TuningRecords:
    def __len__(self) -> int: ...
    @property
    def damaged(self) -> list[str]:
        """Lines that could not be read, and why."""
    def look_up(
        self, device: TuningDevice, problem: dict[str, Any], accept: Any
    ) -> tuple[dict[str, Any], float, str, str] | None:
        """`(configuration, score, explanation, closeness)` of the result to use, or None."""
    def incumbents(
        self, device: TuningDevice, problem: dict[str, Any], count: int, accept: Any
    ) -> list[dict[str, Any]]:
        """The configurations to try first."""
    def promise(
        self, device: TuningDevice, problem: dict[str, Any], accept: Any, default: dict[str, Any]
    ) -> TuningPromise | None:
        """What the results of the nearest device and problem promise, or None."""
    def to_dicts(self) -> list[dict[str, Any]]:
        """All results as dictionaries."""

@final
class TuningPromise:
    """What results promise."""

    def score_here(self, default_here: float | None) -> float | None:
        """The score promised here, or None; the default has this score here."""

OBJECTIVE_NAME: str

@final
class TuningObjective:
    def __new__(
        cls, name: str, maximize: bool = False, bytes: float | None = None, flops: float | None = None
    ) -> TuningObjective: ...
    @staticmethod
    def column(name: str, maximize: bool) -> TuningObjective:
        """A column of trials, whatever its name."""
    @staticmethod
    def of_stored(name: str) -> TuningObjective:
        """The objective of stored results with this name."""
    @property
    def stored_name(self) -> str | None:
        """What sets results apart from times in the store; None where they are times."""
    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def is_time(self) -> bool:
        """Whether scores are seconds."""
    @property
    def is_maximized(self) -> bool: ...
    def value(self, score: float) -> float:
        """The value that a score stands for."""
    def format(self, score: float) -> str:
        """The value that a score stands for, with its unit."""

@final
class LaunchTimer:
    def __new__(cls, cold: bool, max_captured: int) -> LaunchTimer: ...
    def start_candidate(self, name: str) -> None:
        """What is timed from now on is the candidate of this name."""
    @property
    def window(self) -> str:
        """How windows of the present candidate are timed."""
    def time(self, launches: int, enqueue: Any) -> float:
        """Seconds of one of `launches` launches; `enqueue(n)` makes n of them. Waits for the device."""

class TunedCall:
    def __init__(self, *_args: Any, **_kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

def default_results_folder() -> Any: ...
def record_array_decisions(call: Any) -> tuple[Any, list[ArrayDecision]]: ...
def follow_stored_choices(is_followed: bool) -> None: ...
def array_decisions() -> list[tuple[str, str, list[tuple[str, str, list[str]]], str]]: ...
def read_kernel_tuner_cache(text: str) -> dict[str, Any]: ...
def write_kernel_tuner_cache(
    device_name: str,
    kernel_name: str,
    problem_size: str,
    parameters: Sequence[tuple[str, Sequence[Any]]],
    objective: str,
    trials: Sequence[dict[str, Any]],
) -> str: ...
def kernel_parameters(source: str, options: list[str], name: str) -> list[tuple[str, str | None]] | None:
    """The parameters of a kernel as its source declares them, or None; nothing is compiled."""

def exit_with_peer(descriptor: int) -> None:
    """Ends this process, whatever it does, when the peer of the socket `descriptor` closes its end or ends itself."""

def pareto_front(costs: Sequence[Sequence[float]]) -> list[int]: ...
def read_sensor(name: str) -> float | None: ...
def parse_budget(text: str) -> tuple[float | None, int | None]: ...
def render_template(text: str, name: str, values: dict[str, Any]) -> tuple[str, str]: ...
def run_tuner(
    target: Any,
    table: TuningTable,
    default: int | None,
    incumbents: Sequence[int],
    options: dict[str, Any],
    on_event: Any,
) -> dict[str, Any]: ...

# -- syntax trees

_ExprOperand: TypeAlias = Expr | float | str | np.number[Any] | np.bool_

class Expr:
    """An expression of C, printed with as few parentheses as C needs."""

    def __new__(cls, value: _ExprOperand, dtype: DTypeLike | None = None) -> Self: ...
    @property
    def dtype(self) -> np.dtype[Any] | None:
        """NumPy's type of the value, or None."""
    def __add__(self, other: _ExprOperand, /) -> Expr: ...
    def __radd__(self, other: _ExprOperand, /) -> Expr: ...
    def __sub__(self, other: _ExprOperand, /) -> Expr: ...
    def __rsub__(self, other: _ExprOperand, /) -> Expr: ...
    def __mul__(self, other: _ExprOperand, /) -> Expr: ...
    def __rmul__(self, other: _ExprOperand, /) -> Expr: ...
    def __truediv__(self, other: _ExprOperand, /) -> Expr: ...
    def __rtruediv__(self, other: _ExprOperand, /) -> Expr: ...
    def __mod__(self, other: _ExprOperand, /) -> Expr: ...
    def __rmod__(self, other: _ExprOperand, /) -> Expr: ...
    def __lshift__(self, other: _ExprOperand, /) -> Expr: ...
    def __rlshift__(self, other: _ExprOperand, /) -> Expr: ...
    def __rshift__(self, other: _ExprOperand, /) -> Expr: ...
    def __rrshift__(self, other: _ExprOperand, /) -> Expr: ...
    def __and__(self, other: _ExprOperand, /) -> Expr: ...
    def __rand__(self, other: _ExprOperand, /) -> Expr: ...
    def __or__(self, other: _ExprOperand, /) -> Expr: ...
    def __ror__(self, other: _ExprOperand, /) -> Expr: ...
    def __xor__(self, other: _ExprOperand, /) -> Expr: ...
    def __rxor__(self, other: _ExprOperand, /) -> Expr: ...
    def __lt__(self, other: _ExprOperand, /) -> Expr: ...
    def __le__(self, other: _ExprOperand, /) -> Expr: ...
    def __eq__(self, other: _ExprOperand, /) -> Expr: ...  # type: ignore[override]
    def __ne__(self, other: _ExprOperand, /) -> Expr: ...  # type: ignore[override]
    def __gt__(self, other: _ExprOperand, /) -> Expr: ...
    def __ge__(self, other: _ExprOperand, /) -> Expr: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, index: _ExprOperand | tuple[_ExprOperand, ...], /) -> Expr: ...
    def __iter__(self) -> NoReturn: ...
    def __call__(self, *arguments: _ExprOperand) -> Expr: ...
    def __neg__(self) -> Expr: ...
    def __pos__(self) -> Expr: ...
    def __invert__(self) -> Expr: ...
    def not_(self) -> Expr:
        """``!self`` in C, an expression."""
    def dereference(self) -> Expr:
        """``*self`` in C, an expression."""
    def address(self) -> Expr:
        """``&self`` in C, an expression."""
    def increment(self) -> Expr:
        """``++self`` in C, an expression."""
    def decrement(self) -> Expr:
        """``--self`` in C, an expression."""
    def post_increment(self) -> Expr:
        """``self++`` in C, an expression."""
    def post_decrement(self) -> Expr:
        """``self--`` in C, an expression."""
    def and_(self, other: _ExprOperand, /) -> Expr:
        """``self && other`` in C, an expression."""
    def or_(self, other: _ExprOperand, /) -> Expr:
        """``self || other`` in C, an expression."""
    def assign(self, other: _ExprOperand, /) -> Expr:
        """``self = other`` in C, an expression."""
    def add_assign(self, other: _ExprOperand, /) -> Expr:
        """``self += other`` in C, an expression."""
    def sub_assign(self, other: _ExprOperand, /) -> Expr:
        """``self -= other`` in C, an expression."""
    def mul_assign(self, other: _ExprOperand, /) -> Expr:
        """``self *= other`` in C, an expression."""
    def div_assign(self, other: _ExprOperand, /) -> Expr:
        """``self /= other`` in C, an expression."""
    def member(self, name: str, /) -> Expr:
        """``self.name`` in C."""
    def arrow(self, name: str, /) -> Expr:
        """``self->name`` in C."""
    def cast(self, to: DTypeLike, /) -> Expr:
        """The value as another type: the name of a type in C, or NumPy's type."""
    def where(self, yes: _ExprOperand, no: _ExprOperand, /) -> Expr:
        """`self ? yes : no`; two numbers become literals of this expression's type."""
    def substitute(self, name: str, value: _ExprOperand, /) -> Expr:
        """This expression with every variable of this name replaced."""

@final
class Var(Expr):
    """A variable; of a pointer or an array `dtype` is the type of the elements."""

    def __new__(cls, name: str, dtype: DTypeLike | None = None) -> Self: ...

@final
class Names:
    """Unique names with a count of their own: the same program gets the same names whenever it is built."""

    def __new__(cls) -> Self: ...
    def fresh(self, stem: str) -> str:
        """The next name with this stem."""

def cgen_ctype(dtype: DTypeLike | None) -> str: ...
def cgen_cltype(dtype: DTypeLike | None) -> str: ...
def cgen_struct_layout(
    members: list[tuple[int, int]], align_bytes: int, prime_to: Sequence[int]
) -> tuple[list[int], int, int]: ...
def cgen_literal_lines(text: str) -> list[str]: ...
def cgen_fresh(stem: str) -> str: ...
def cgen_lines(node: Any, with_semicolon: bool | None) -> list[str]: ...
def cgen_text(node: Any) -> str: ...
def cgen_declarator(declarator: Any) -> tuple[list[str], str | None]: ...

_Transformed: TypeAlias = tuple[Any, dict[str, list[int]], Expr | None]

def cgen_split(node: Any, n: Any, remainder: str | None, unrolled: bool) -> _Transformed: ...
def cgen_unroll(node: Any, n: Any) -> _Transformed: ...
def cgen_stage(
    array: Any, tile: Any, origin: Any, pitch: Any, bounds: Any, pad: Any, name: str | None
) -> _Transformed: ...
def cgen_vectorise(load: Any, width: Any, name: str | None) -> _Transformed: ...
def cgen_double_buffer(node: Any, dtype: Any, size: Any, buffers: Any, load: Any, use_tile: Any) -> _Transformed: ...

# -- sparse arrays

@final
class CsrMatrix:
    """A matrix in compressed sparse rows. Its arrays are those that it was made of."""

    def __new__(cls, shape: Any, data: Any, indices: Any, indptr: Any, longest_row: int = 0) -> Self: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def data(self) -> GPUArray: ...
    @property
    def indices(self) -> GPUArray: ...
    @property
    def indptr(self) -> GPUArray: ...
    def planned(self, kernel: Any, lanes: int = 1) -> CsrMatrix:
        """
        The same matrix, whose products with vectors follow a plan: "rows" of `lanes`, "merge", "hub"
        (whose columns are renumbered), or another format.
        """

    def features(self) -> tuple[int, float, int, int, int, list[float]]:
        """
        What a plan looks at: the longest row, the sum of squared lengths, the bandwidth, elements of slices of 32 rows,
        diagonals, and how full blocks of 2 to 6 rows and columns are. Waits.
        """

    def compile_kernels(self) -> None:
        """Compiles the kernels that products with vectors of this dtype may take."""

    def to_sell(self, sigma: int, max_fill: float) -> SellMatrix | None:
        """This matrix in SELL-32-sigma; None where more than `max_fill` times the elements would be stored. Waits."""

    def to_dia(self, max_diagonals: int) -> DiaMatrix | None:
        """
        This matrix by its diagonals; None where there are more than `max_diagonals`, or rows of more than 256 elements.
        Waits.
        """

    def to_bsr(self, size: int, max_fill: float) -> BsrMatrix | None:
        """
        This matrix in dense blocks of `size` rows and columns; None where these have more than `max_fill` times the
        elements. Waits.
        """

    def row_extremes(self, is_largest: bool, ignores_nan: bool) -> tuple[GPUArray, GPUArray]:
        """The largest or least element of each row, and the first column that has it; does not wait."""

    def matmat(self, x: Any) -> GPUArray:
        """The product with a dense matrix; does not wait."""

    def matvec(self, x: Any, out: Any = None, accumulate: bool = False) -> GPUArray:
        """The product with a vector, in `out` or in a new array; does not wait."""

@final
class SellMatrix:
    """A matrix in slices of 32 rows; see `rtcg_sparse::Sell`."""

    @property
    def stored(self) -> int:
        """Elements that are stored, those that fill slices among them."""

    @property
    def has_short_columns(self) -> bool:
        """Whether columns are 16-bit numbers."""

    @property
    def nbytes(self) -> int:
        """Bytes that a product reads of the matrix."""

    def matvec(self, x: Any) -> GPUArray:
        """The product with a vector; does not wait."""

@final
class BsrMatrix:
    """A matrix of dense blocks; see `rtcg_sparse::Bsr`."""

    def __new__(cls, shape: Any, data: Any, indices: Any, indptr: Any) -> Self: ...
    @property
    def data(self) -> GPUArray: ...
    @property
    def indices(self) -> GPUArray: ...
    @property
    def indptr(self) -> GPUArray: ...
    @property
    def nbytes(self) -> int:
        """Bytes that a product reads of the matrix."""

    def matmat(self, x: Any) -> GPUArray:
        """The product with a dense matrix; does not wait."""

    def matvec(self, x: Any, out: Any = None, accumulate: bool = False) -> GPUArray:
        """The product with a vector, in `out` or in a new array; does not wait."""

@final
class DiaMatrix:
    """A matrix of diagonals."""

    def __new__(cls, shape: Any, data: Any, offsets: Any) -> Self: ...
    def matvec(self, x: Any) -> GPUArray:
        """The product with a vector; does not wait."""

@final
class PacketedMatrix:
    """The packeted format of a square matrix on the host; see `pycuda.sparse.packeted`."""

    def __new__(cls, data: Any, indices: Any, indptr: Any, max_rows: Any, is_symmetric: Any) -> Self: ...
    def partition(self) -> list[NDArray[np.int32]]:
        """Rows of the matrix in packet order, their places there, and where packets begin."""

    def remainder(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Rows and columns, in packet order, of elements in no packet, and which elements these are."""

    def multiply_add(self, x: Any, y: Any) -> None:
        """Adds the product of the packets and `x` to `y`; does not wait."""

def sparse_gallery(
    name: Any, lengths: Any, number: Any, seed: Any
) -> tuple[list[int], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
def sparse_check(shape: Any, indices: Any, indptr: Any) -> None: ...
def sparse_index_extremes(indices: Any) -> list[int] | None:
    """The least and the largest of int32 or int64 indices on the device; None of no indices. Waits."""

@final
class NeighborIndex:
    """Points on the device, ready to be searched; see `rtcg_neighbors::MergedIndex`."""

    def __new__(cls, vectors: GPUArray, metric: str, candidates: str) -> NeighborIndex: ...
    @property
    def shape(self) -> tuple[int, int]:
        """Points and their dimensions."""

    @property
    def vectors(self) -> GPUArray:
        """The points as they are stored."""

    def search(self, queries: GPUArray, k: int) -> tuple[GPUArray, GPUArray]:
        """Distances and indices of the nearest points of each query; waits for the check of queries."""

    def search_merged(self, queries: GPUArray, k: int, is_host: bool) -> tuple[Any, Any]:
        """The same in one search with those of other threads, as arrays of NumPy for `is_host`; waits."""

    def search_merged_host(self, queries: Any, k: int, is_host: bool) -> tuple[Any, Any] | None:
        """The same for an array of NumPy with two axes, float32, in C order; None for anything else."""

    def radius_count(self, queries: GPUArray, radius: float) -> GPUArray:
        """How many points are within a radius of each query; waits for the check of queries."""

def segmented_reduce(values: GPUArray, offsets: GPUArray, op: str, dtype: object) -> GPUArray:
    """What each segment is combined to."""

def segmented_scan(values: GPUArray, offsets: GPUArray, op: str, is_exclusive: bool, dtype: object) -> GPUArray:
    """What the elements of a segment up to each one are combined to."""

def segmented_sort(values: GPUArray, offsets: GPUArray, is_descending: bool) -> tuple[GPUArray, GPUArray]:
    """The elements of each segment in order, and their indices."""

def run_offsets(values: GPUArray) -> GPUArray:
    """Where runs of equal elements begin, and the length behind them."""

def run_length_encode(values: GPUArray) -> tuple[GPUArray, GPUArray]:
    """The element of each run of equal elements, and its length."""

def run_length_decode(values: GPUArray, counts: GPUArray) -> GPUArray:
    """Each element as often as its count says."""

def reduce_by_key(keys: GPUArray, values: GPUArray, op: str, dtype: object) -> tuple[GPUArray, GPUArray]:
    """The key of each run, and what the values beside it are combined to."""

def unique_by_key(keys: GPUArray, values: GPUArray) -> tuple[GPUArray, GPUArray]:
    """The first key of each run, and the value beside it."""

def ndimage_correlate(
    input: GPUArray, weights: GPUArray, placement: dict[str, Any], is_convolution: bool
) -> GPUArray: ...
def ndimage_uniform_filter(input: GPUArray, sizes: list[int], placement: dict[str, Any]) -> GPUArray: ...
def ndimage_gaussian_filter(
    input: GPUArray,
    sigmas: list[float],
    orders: list[int],
    radii: list[int],
    truncate: float,
    placement: dict[str, Any],
) -> GPUArray: ...
def ndimage_filter_bank(x: GPUArray, w: GPUArray, activation: str | None, out: GPUArray | None) -> GPUArray: ...
def ndimage_pool(x: GPUArray, size: list[int], strides: list[int], exponent: float | None) -> GPUArray: ...
def ndimage_local_norm(
    x: GPUArray, size: list[int], is_centered: bool, stretch: float, threshold: float
) -> GPUArray: ...
def neighbors_knn(queries: GPUArray, points: GPUArray, k: int, metric: str) -> tuple[GPUArray, GPUArray]:
    """Distances and indices of the nearest of some points; waits for the check of both."""

def neighbors_radius_count(queries: GPUArray, points: GPUArray, radius: float, metric: str) -> GPUArray:
    """How many of some points are within a radius of each query; waits for the check of both."""

def neighbors_topk(values: GPUArray, k: int, is_largest: bool) -> tuple[GPUArray, GPUArray]:
    """The largest or smallest elements along the last axis, and their indices; does not wait."""

def sparse_multiply(a: CsrMatrix, b: CsrMatrix, has_thread_rows: bool | None = None) -> list[GPUArray]:
    """The parts of the product of two matrices, by a thread, or by warps and blocks, for each row; as the device
    prefers for None. Waits three times, for numbers of elements.
    """

def sparse_combine(a: CsrMatrix, b: CsrMatrix, op: str) -> list[GPUArray]:
    """The parts of a function of two canonical matrices, without zeros: "add", "subtract", "multiply", "maximum",
    "minimum", "ne", "lt", "gt"; waits once.
    """

def sparse_has_sorted_indices(a: CsrMatrix, is_strict: bool) -> bool:
    """Whether indices ascend within each row, strictly or not; waits."""

def sparse_sampled(a: CsrMatrix, x: Any, y: Any, scalars: Any) -> GPUArray:
    """Elements of the product of two dense matrices at the places of a matrix: times its elements, or scaled by `alpha`
    and added to these, scaled by `beta`; does not wait.
    """

def sparse_argsort(keys: Any, limit: int) -> GPUArray:
    """The indices that sort a vector of integers from 0 up to, and without, `limit`, stably; does not wait."""

def sparse_component_roots(a: CsrMatrix) -> GPUArray:
    """For each node the smallest one of its component, where edges go both ways; does not wait."""

def sparse_strong_components(graph: Any) -> tuple[int, NDArray[np.int32]]:
    """The number of strongly connected components of a graph on the host, and that of each node's."""

def sparse_breadth_first_order(graph: Any, back: Any, start: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Nodes of a graph on the host in the order of a search in breadth, and where each was reached from."""

def sparse_reverse_cuthill_mckee(graph: Any) -> NDArray[np.int32]:
    """The order of a symmetric structure on the host that makes its bandwidth small."""

def sparse_check_device(shape: Any, indices: Any, indptr: Any) -> list[int]:
    """Checks a structure on the device; the number of elements, and that of the longest row; waits once."""

@final
class VCycle:
    """A V-cycle of a multigrid hierarchy."""

    def __new__(cls, levels: Any, coarsest: Any, sweeps: Any) -> Self: ...
    def matvec(self, x: Any) -> GPUArray:
        """The cycle of a vector; does not wait."""

@final
class Triangular:
    """A triangle of a matrix that was analysed; see `rtcg_sparse::Triangular`."""

    @property
    def levels(self) -> int:
        """How many rows need each other one after the other."""

    def solve(self, b: Any) -> GPUArray:
        """The solution for a vector or for each column of a matrix; does not wait."""

    def transposed(self, conjugated: bool) -> Self:
        """The transposed triangle, or the adjoint one; waits."""

@final
class TriangularFactors:
    """Two of them; see `rtcg_sparse::TriangularFactors`."""

    def __new__(cls, first: Any, second: Any) -> Self: ...
    @property
    def levels(self) -> list[int]:
        """The levels of both factors."""

    def parts(self, which: int) -> tuple[list[int], list[GPUArray]]:
        """The matrix of which a factor is a triangle: shape, and data, indices and indptr."""

    def solve(self, b: Any) -> GPUArray:
        """The solution for a vector or for each column of a matrix; does not wait."""

    def transposed(self, conjugated: bool) -> Self:
        """The factors of the transpose, or of the adjoint; waits."""

def sparse_triangular(
    matrix: Any, is_lower: bool, is_unit: bool, source: Any = None, target: Any = None
) -> Triangular | None:
    """The triangle of a matrix as an object; None where columns do not ascend. Waits."""

def sparse_incomplete(matrix: Any, is_cholesky: bool) -> TriangularFactors | None:
    """Incomplete factors: ILU(0), or IC(0) of a lower triangle; None where columns do not ascend. Waits."""

def sparse_colours(matrix: Any) -> tuple[GPUArray, int] | None:
    """Colours of rows, from 1 on, and their number; None where columns do not ascend. Waits."""

def sparse_solve(
    method: str,
    a: Any,
    b: Any,
    x0: Any,
    m: Any,
    m2: Any,
    *,
    rtol: Any,
    atol: Any,
    maxiter: Any,
    check_every: Any,
    mode: Any,
    history: Any,
    callback: Any,
    numbers: Any,
    restart: Any = 20,
    kept: Any = 20,
    takes_norms: Any = False,
    single: Any = None,
) -> tuple[GPUArray, list[dict[str, Any]]]: ...
def sparse_eigsh(
    a: Any,
    dtype: Any,
    v0: Any,
    *,
    k: int,
    which: str,
    ncv: int | None,
    maxiter: int | None,
    tol: float,
    shift: float | None,
    seed: int,
) -> tuple[list[float], GPUArray, dict[str, Any]]:
    """Eigenvalues of an operator for vectors of `dtype`: values, vectors, and what is known of them."""

def sparse_svds(
    a: Any,
    adjoint: Any,
    dtype: Any,
    v0: Any,
    *,
    k: int,
    which: str,
    ncv: int | None,
    maxiter: int | None,
    tol: float,
    seed: int,
) -> tuple[GPUArray, GPUArray, GPUArray, bool]:
    """Singular values of an operator and its adjoint: left vectors, values, right vectors, whether all were found."""

def sparse_lobpcg(
    a: Any, x: Any, b: Any, m: Any, y: Any, *, tol: float | None, maxiter: int, largest: bool
) -> tuple[list[float], GPUArray, dict[str, Any]]:
    """Eigenvalues of a problem of operators, from a block of vectors: values, vectors, and what is known of them."""
