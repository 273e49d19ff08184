"""The native module. `rtcg.driver`, `rtcg.compiler` and `rtcg.numpy` document its public parts."""

import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NoReturn, Protocol, SupportsIndex, TypeAlias, final, overload

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

__version__: str

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
    """A kernel failed or needs more than the device has."""

class LogicError(Error):
    """An invalid call, or a kernel that failed."""

class MemoryError(Error):
    """Out of memory."""

class RuntimeError(Error):
    """An error outside the program: no device, no such file, not ready."""

# -- devices and contexts

class Device:
    """A device, identified by ordinal or PCI bus id. Real devices come first, then virtual ones.

    Every attribute of `rtcg.driver.device_attribute` is also a property with its lower-case name, such as
    ``device.warp_size``.
    """

    def __init__(self, ordinal: int | str) -> None: ...
    @staticmethod
    def count() -> int:
        """Number of devices, real and virtual."""
    def name(self) -> str:
        """The name of the device, such as ``NVIDIA H200``."""
    def _repr_html_(self) -> str: ...
    def pci_bus_id(self) -> str:
        """The PCI bus id, such as ``0000:01:00.0``, which `Device` also accepts."""
    def compute_capability(self) -> tuple[int, int]:
        """``(major, minor)``."""
    def total_memory(self) -> int:
        """The memory of the device in bytes."""
    def get_attribute(self, attr: int) -> int | compute_mode:
        """The value of an attribute: an int, or a `compute_mode` for COMPUTE_MODE."""
    def get_attributes(self) -> dict[int, int]:
        """All attributes that the driver knows, as a dict by `device_attribute`."""
    def make_context(self, flags: int = 0) -> Context:
        """Make a context and push it on the calling thread's stack, which makes it current.

        `flags` are from `ctx_flags`. The program must pop or detach it; `rtcg.autoinit` does so at exit.
        """
    @property
    def primary_context_flags(self) -> int:
        """The `ctx_flags` of the primary context. Set them before anything retains it; a driver may refuse it later."""
    @primary_context_flags.setter
    def primary_context_flags(self, flags: int) -> None: ...
    @property
    def is_primary_context_active(self) -> bool:
        """Whether anything in this process has retained the primary context."""
    def retain_primary_context(self) -> Context:
        """Retain the primary context, which other CUDA libraries share, without pushing it."""
    def can_access_peer(self, other: Device) -> bool:
        """Whether kernels on this device can access memory of `other`, once `Context.enable_peer_access` has allowed
        it.
        """
    def get_p2p_attribute(self, attribute: int, other: Device) -> int:
        """The value of a `p2p_attribute` between this device and `other` (an addition to PyCUDA).

        Raises `LogicError` if both are the same device or belong to different drivers.
        """
    @property
    def is_virtual(self) -> bool:
        """Whether this is a virtual GPU (an addition to PyCUDA)."""
    def __getattr__(self, name: str) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Context:
    """A context of a device, made by `Device.make_context` or `Device.retain_primary_context`.

    Each thread has a stack of contexts. The top of the stack is the current context, in which memory, modules and
    streams are created. A ``with`` block makes a context current; `push` and `pop` do the same by hand.
    """

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Push the context that another library has made current in this thread."""
    @staticmethod
    def pop() -> None:
        """Pop the top of the stack. Raises `LogicError` if the stack is empty."""
    @staticmethod
    def get_device() -> Device:
        """The device of the current context; raises `LogicError` if there is none."""
    @staticmethod
    def synchronize() -> None:
        """Wait until all work of the current context is done; raises any error that occurred in it."""
    @staticmethod
    def get_current() -> Context | None:
        """The context on top of this thread's stack, else the one that another library has made current."""
    @staticmethod
    def set_current(context: Context | None) -> None:
        """Replace the top of the stack by `context`; None pops it. An addition to PyCUDA."""
    @staticmethod
    def get_flags() -> int:
        """The flags of the current context, from `ctx_flags`. An addition to PyCUDA."""
    @staticmethod
    def set_limit(limit: int, value: int) -> None:
        """Set a `limit` of the current context, in the unit of that limit (bytes or a number)."""
    @staticmethod
    def get_limit(limit: int) -> int:
        """The value of a `limit` of the current context, in the unit of that limit."""
    @staticmethod
    def get_cache_config() -> func_cache:
        """How the current context divides its L1 cache."""
    @staticmethod
    def set_cache_config(config: int) -> None:
        """Request a division of the L1 cache by `func_cache`, for kernels that do not request one."""
    @staticmethod
    def get_shared_config() -> shared_config:
        """The width of shared-memory banks, a `shared_config`."""
    @staticmethod
    def set_shared_config(config: int) -> None:
        """Request a width of shared-memory banks by `shared_config`; current devices have only one."""
    @staticmethod
    def get_stream_priority_range() -> tuple[int, int]:
        """``(least, greatest)`` priority of streams: smaller numbers go first, and others are clamped to the range."""
    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Let kernels of the current context access memory of `peer`, a context of another device; `flags` is 0.

        Raises `LogicError` if access is already enabled or not possible (`Device.can_access_peer`).
        """
    @staticmethod
    def disable_peer_access(peer: Context, flags: int = 0) -> None:
        """Revoke the access that `enable_peer_access` granted; raises `LogicError` if there is none. `flags` is
        ignored.
        """
    def push(self) -> None:
        """Push the context on this thread's stack and make it current; raises `LogicError` if it was detached."""
    def detach(self) -> None:
        """Destroy (or release) the context now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Like `detach`, but may be called repeatedly. An addition to PyCUDA."""
    @property
    def is_alive(self) -> bool:
        """Whether the context has not been detached."""
    @property
    def kind(self) -> str:
        """``"created"``, ``"primary"``, or ``"foreign"`` for a context that another library made."""
    @property
    def device(self) -> Device:
        """The device of this context; `get_device` returns that of the current context."""
    def __enter__(self) -> Self:
        """Push the context, unless `make_context` has just done so; the end of the block pops it."""
    def __exit__(self, *exception: object) -> None: ...
    def get_api_version(self) -> int:
        """The version of the driver API that the context was made for, such as 3020."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def init(flags: int = 0) -> None:
    """Find the devices. Further calls do nothing; returns None."""

def get_driver_version() -> int:
    """The CUDA version of the driver: an int such as 13000; works before `init`."""

def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """Set the files that the driver's old profiler reads and writes; `output_mode` is from `profiler_output_mode`.

    Current drivers refuse the call: `LogicError`, "not supported".
    """

def start_profiler() -> None:
    """Start a profiler's recording (such as ``nsys profile --capture-range=cudaProfilerApi``); returns None.

    Without a profiler the call does nothing.
    """

def stop_profiler() -> None:
    """Stop the recording that `start_profiler` started; returns None. Work launched before is recorded to its end."""

def set_notice_handler(handler: Callable[[str], object]) -> None: ...
def end_context_push() -> None: ...
def primary_context(device: Device) -> Context: ...
def set_default_context(context: Context | None) -> None: ...
def default_context() -> Context | None: ...
def current_or_declared_context() -> Context: ...
def set_exports_wait(begin: bool) -> None: ...
def context_after_pending_work(array: GPUArray) -> Context: ...
def enum_values() -> dict[str, dict[str, int]]: ...

# -- streams and events

class Stream:
    """A queue of work.

    ``None`` means the default stream wherever a stream is expected; inside ``with stream:`` it means that stream,
    in the thread that runs the block.

    Parameters
    ----------
    flags : int
        1: this stream and the legacy default stream do not wait for each other.
    priority : int, optional
        Smaller numbers go first; see `Context.get_stream_priority_range`.
    """

    def __init__(self, flags: int = 0, priority: int | None = None) -> None: ...
    @staticmethod
    def from_handle(handle: int | _CudaStream, owner: object = None) -> Stream:
        """A stream of another library in the current context, from its handle or its ``__cuda_stream__``.

        The stream is not destroyed here; `owner` is kept alive as long as the result.
        """
    @staticmethod
    def legacy_default() -> Stream:
        """The legacy default stream, which synchronises with all blocking streams."""
    @staticmethod
    def per_thread_default() -> Stream:
        """The per-thread default stream of the thread that uses it."""
    @staticmethod
    def get_current() -> Stream | None:
        """The stream that `None` means in this thread, if a ``with`` block has set one."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def close(self) -> None:
        """Destroy the stream now; work in it still runs. Further calls do nothing."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    @property
    def flags(self) -> int:
        """The flags of its creation; 1: it does not wait for the legacy default stream."""
    @property
    def id(self) -> int:
        """A number that is unique among all streams of the process, past and present."""
    def query(self) -> bool:
        """Same as `is_done`."""
    def add_callback(self, callback: Callable[[Exception | None], object]) -> None:
        """Call `callback(error)` on a thread of the driver when all earlier work is done.

        `error` is None, or the error that occurred. Later work in the stream waits for the callback, which must not
        call CUDA. Its exceptions go to `sys.unraisablehook`.
        """
    def launch_host_func(self, function: Callable[..., object], *args: object) -> None:
        """Call `function(*args)` like a callback, unless earlier work failed; can be captured into a graph."""
    def write_value(self, ptr: _DevicePointer, value: int, flags: int = 0, size: int = 4) -> None:
        """Write `size` bytes, 4 or 8, to device memory when all earlier work is done."""
    def wait_value(self, ptr: _DevicePointer, value: int, flags: int = 0, size: int = 4) -> None:
        """Make later work wait until `size` bytes of device memory compare with `value`.

        `flags` 0: greater or equal (cyclic), 1: equal, 2: a common bit is set, 3: not all bits are set in either.
        """
    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries exchange streams: ``(version, handle)``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def synchronize(self) -> None:
        """Wait until all work in the stream is done; raises any error that occurred in it."""
    def is_done(self) -> bool:
        """Whether all work in the stream is done; does not wait. Raises any error that occurred in it."""
    def wait_for_event(self, evt: Event) -> None:
        """Make later work of this stream wait for `evt`."""
    def begin_capture(self, mode: int = 0, graph: Graph | None = None) -> None:
        """Capture work from now on as nodes of a new graph (or of `graph`) instead of executing it.

        Streams that wait for events of this one are captured too. `mode`, of `capture_mode`, says which calls of other
        threads are errors meanwhile. Launch arguments and buffers of asynchronous copies live as long as the graph.
        """
    def end_capture(self) -> Graph:
        """End the capture. Raises if the capture has become invalid; it ends in that case too."""
    def capture(self, mode: int = 0, graph: Graph | None = None) -> StreamCapture:
        """Capture a block: ``with stream.capture() as graph:``. Requires a driver of CUDA 12.3."""
    def is_capturing(self) -> bool:
        """Whether the stream is capturing."""
    @property
    def capture_status(self) -> _capture_status:
        """``NONE``, ``ACTIVE``, or ``INVALIDATED`` if the capture has become invalid."""
    def get_capture_info(self) -> tuple[_capture_status, int, Graph, list[GraphNode]] | None:
        """Status, id, graph so far, and the nodes that the next one will depend on; None if the stream is not
        capturing.
        """
    def update_capture_dependencies(self, nodes: Sequence[GraphNode], only: bool = True) -> None:
        """Set (or, unless `only`, extend) the nodes that the next captured node will depend on."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    @property
    def priority(self) -> int:
        """The priority; smaller numbers go first."""

class Event:
    """A mark in a stream, to wait for and to measure time with. Destroyed at the end of a ``with`` block.

    Parameters
    ----------
    flags : int
        From `event_flags`. An event with DISABLE_TIMING costs less and cannot measure time.
    """

    def __init__(self, flags: int = 0) -> None: ...
    def record(self, stream: Stream | _CudaStream | None = None, flags: int = 0) -> Self:
        """Record the event at the present end of `stream`, by default the default stream; does not wait. Returns the
        event.

        With flag 1, a captured graph records it at each launch.
        """
    def close(self) -> None:
        """Release the resource now, unless already done; later use is an error. The end of a ``with`` block
        does the same.
        """
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def synchronize(self) -> Self:
        """Wait until all work before the event is done; returns the event. Raises any error that occurred."""
    def query(self) -> bool:
        """Whether the event has occurred."""
    def time_since(self, event: Event) -> float:
        """Milliseconds from `event` to this one."""
    def time_till(self, event: Event) -> float:
        """Milliseconds from this event to `event`."""
    def ipc_handle(self) -> bytearray:
        """The interprocess handle of the event, 64 bytes, for `from_ipc_handle` in other processes.

        Raises `LogicError` unless the event was made with ``event_flags.INTERPROCESS | event_flags.DISABLE_TIMING``.
        """
    @staticmethod
    def from_ipc_handle(handle: _HostBuffer) -> Event:
        """An event of another process, from the 64 bytes of its `ipc_handle`.

        Raises `ValueError` for another length, and `LogicError` if there is no such event or it belongs to this
        process.
        """
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""

# -- memory

class DeviceAllocation:
    """Device memory, freed with the last reference, by `free` or at the end of a ``with`` block."""

    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def free_async(self, stream: Stream | None = None) -> None:
        """Free memory of `mem_alloc_async` once `stream` has completed its present work."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable memoryview over the device addresses; only for memory that the host can access."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class ManagedAllocation:
    """Memory that migrates between host and device; the base of arrays made by `rtcg.driver.managed_empty`."""

    def __init__(self, nbytes: int, flags: int = 0) -> None: ...
    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable view of `size` bytes at `offset`; raises `LogicError` if the memory is too short."""
    def get_device_pointer(self) -> int:
        """The address, which is the same on host and device."""
    def attach(self, mem_flags: int, stream: Stream | None = None) -> None:
        """Set who may access the memory after the present work of `stream`: `mem_flags` is of `mem_attach_flags`."""
    def advise(self, advice: int, device: Device | None = None) -> None:
        """Give advice on how all of the memory will be used; see `rtcg.driver.mem_advise`."""
    def prefetch(self, device: Device | None = None, stream: Stream | None = None) -> None:
        """Migrate all of the memory to a device (None: to the host) in stream order."""
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
        """Unmap the memory now. Raises `LogicError` if called twice."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes of the allocation in the other process."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

class PagelockedHostAllocation:
    """Page-locked host memory; the base of arrays made by `rtcg.driver.pagelocked_empty`."""

    def __init__(self, nbytes: int, flags: int) -> None: ...
    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_flags(self) -> int:
        """The `host_alloc_flags` of its creation."""
    def get_device_pointer(self) -> int:
        """The device address of this memory, if it was made with ``host_alloc_flags.DEVICEMAP``."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class AlignedHostAllocation:
    """Aligned host memory; the base of arrays made by `rtcg.driver.aligned_empty`."""

    def __init__(self, nbytes: int, alignment: int) -> None: ...
    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_device_pointer(self) -> int:
        """The device address of this memory, once it has been registered by `register_host_memory`."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class RegisteredHostMemory:
    """Page-locked memory that other code allocated."""

    def __new__(cls, ary: NDArray[Any], flags: int = 0) -> Self: ...
    @property
    def base(self) -> NDArray[Any]:
        """The array that owns the memory."""
    def unregister(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_device_pointer(self) -> int:
        """The device address of the memory."""
    def _as_array(self, dtype: np.dtype[Any], shape: Sequence[int], fortran: bool) -> NDArray[Any]: ...
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

class MemoryPool:
    """A memory pool of the driver, for allocations in stream order.

    Parameters
    ----------
    device : Device, optional
        Default: the device of the current context.
    max_size : int
        Maximum size in bytes; 0: no limit.
    exportable : bool
        Whether it can be exported to another process.
    """

    def __init__(self, device: Device | None = None, max_size: int = 0, exportable: bool = False) -> None: ...
    @staticmethod
    def get_default(device: Device | None = None) -> MemoryPool:
        """The default pool of a device."""
    @staticmethod
    def get_current(device: Device | None = None) -> MemoryPool:
        """The pool that a device now uses for allocations in stream order."""
    @staticmethod
    def from_fd(fd: int, device: Device | None = None) -> MemoryPool:
        """A pool that another process exported as a file descriptor, which the caller keeps and closes."""
    def export_fd(self) -> int:
        """The pool as a file descriptor for another process; the caller closes it."""
    @staticmethod
    def export_pointer(memory: DeviceAllocation) -> bytearray:
        """The handle of memory of this pool for a process that has imported the pool, 64 bytes."""
    def import_pointer(self, data: _HostBuffer) -> DeviceAllocation:
        """Memory of the process that exported this pool, from its handle."""
    def make_current(self) -> None:
        """Use this pool for its device's allocations in stream order, until another is made current or it is closed."""
    def allocate(self, size: int, stream: Stream | None = None) -> DeviceAllocation:
        """Memory of `size` bytes for `stream`, freed in its order."""
    def trim(self, min_bytes_to_keep: int = 0) -> None:
        """Return unused memory to the device until no more than `min_bytes_to_keep` are reserved."""
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
        """Bytes that the pool has reserved on the device."""
    @property
    def peak_used_bytes(self) -> int:
        """The largest `used_bytes` since `reset_peaks`."""
    @property
    def peak_reserved_bytes(self) -> int:
        """The largest `reserved_bytes` since `reset_peaks`."""
    def reset_peaks(self) -> None:
        """Reset the peaks to the present values."""
    def set_access(self, device: Device, flags: int) -> None:
        """Set the access of a device to the memory of the pool, by `mem_access_flags`."""
    def get_access(self, device: Device) -> mem_access_flags:
        """The access of a device to the memory of the pool, from `mem_access_flags`."""
    @property
    def device(self) -> Device:
        """The device that owns the memory."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def close(self) -> None:
        """Release the pool. Memory from it stays valid until it is freed."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

# -- virtual memory management

class PhysicalMemory:
    """Physical memory of a device without an address, released with the last reference.

    Parameters
    ----------
    size : int
        Bytes; rounded up to `mem_get_granularity`.
    device : Device, optional
        Default: the device of the current context.
    exportable : bool
        Whether it can be exported to another process.
    """

    def __init__(self, size: int, device: Device | None = None, exportable: bool = False) -> None: ...
    @staticmethod
    def from_fd(fd: int, size: int, device: Device | None = None) -> PhysicalMemory:
        """Memory of `size` bytes that another process exported as a file descriptor; the caller keeps and closes it."""
    def export_fd(self) -> int:
        """The memory as a file descriptor for another process; the caller closes it."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    @property
    def device(self) -> Device:
        """The device that owns the memory."""

class AddressRange:
    """A reserved range of addresses, freed with the last reference to it and to its mappings.

    Parameters
    ----------
    size : int
        Bytes; rounded up to `mem_get_granularity`.
    alignment : int
        A power of two; 0: the driver's choice.
    device : Device, optional
        The device whose driver reserves them; default: that of the current context.
    """

    def __init__(self, size: int, alignment: int = 0, device: Device | None = None) -> None: ...
    def map(self, memory: PhysicalMemory, offset: int = 0, devices: Sequence[Device] | None = None) -> Mapping:
        """Map memory at `offset` bytes into the range, and give its device, or `devices`, access to it."""
    @property
    def ptr(self) -> int:
        """The first address."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""

@final
class Mapping:
    """Memory mapped to addresses: a device pointer. Made by `AddressRange.map`."""

    def unmap(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def set_access(self, device: Device, flags: int) -> None:
        """Set the access of a device to the mapped memory, by `mem_access_flags`."""
    def get_access(self, device: Device) -> mem_access_flags:
        """The access of a device to the mapped memory, from `mem_access_flags`."""
    @property
    def nbytes(self) -> int:
        """Size in bytes."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

def mem_get_granularity(device: Device | None = None) -> int:
    """The granularity in bytes of sizes and offsets of physical memory on a device: an int."""

# -- pools

class PooledDeviceAllocation:
    """Device memory of a pool, returned to it with the last reference, by `free` or at the end of a ``with`` block."""

    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def used_in(self, stream: Stream | None = None) -> None:
        """Declare that work in another stream (None: the default stream) also uses this memory. Launches and copies of
        this package do so automatically.
        """
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """A writable view of `size` bytes at `offset`; only for memory that the host can access."""
    @property
    def nbytes(self) -> int:
        """Size in bytes, as requested."""
    def __len__(self) -> int: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

@final
class PooledHostAllocation:
    """Page-locked memory of a pool; the base of the pool's arrays."""

    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
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
        """Bytes that the pool has obtained from the driver."""
    @property
    def active_bytes(self) -> int:
        """Bytes requested in the blocks in use."""
    def statistics(self) -> dict[str, int]:
        """All statistics of the pool, with peaks and counts."""
    @staticmethod
    def bin_number(size: int) -> int:
        """The bin for a size in bytes; sizes in the same bin share blocks."""
    @staticmethod
    def alloc_size(bin: int) -> int:
        """The size in bytes of the blocks of a bin."""
    def free_held(self) -> None:
        """Return all unused blocks to the driver."""
    def stop_holding(self) -> None:
        """Return all unused blocks to the driver, now and whenever blocks are freed."""
    def close(self) -> None:
        """Stop holding memory."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

class DeviceMemoryPool(_Pool):
    """A pool that keeps freed device memory for later allocations of about the same size.

    Memory that a stream has returned is available to the same stream at once, and to another one when the first has
    completed its work. May be used from any thread and outlive its contexts.
    """

    def __init__(self, *, _labelled: bool = False) -> None: ...
    def allocate(self, size: int, stream: Stream | None = None) -> PooledDeviceAllocation:
        """Allocate `size` bytes for work in `stream`, by default the default stream.

        Raises
        ------
        MemoryError
            If the device does not have enough memory even after garbage collection and after returning unused blocks to
            the driver, largest first.
        """
    def _allocate_labelled(
        self, size: int, stream: Stream | None, label: str
    ) -> tuple[PooledDeviceAllocation, bool]: ...
    def _labelled_block_counts(self) -> list[tuple[int, str, int]]: ...
    def _allocation_report(self, size: int, label: str) -> str: ...

class PageLockedAllocator:
    """The allocator of a `PageLockedMemoryPool`: `flags` are from `host_alloc_flags`."""

    def __init__(self, flags: int = 0) -> None: ...
    @property
    def flags(self) -> int:
        """The `host_alloc_flags` of its allocations."""

class PageLockedMemoryPool(_Pool):
    """A pool that keeps freed page-locked memory for later arrays of about the same size."""

    def __init__(self, allocator: PageLockedAllocator | None = None) -> None: ...
    def allocate(self, shape: int | Sequence[int], dtype: DTypeLike, order: str = "C") -> NDArray[Any]:
        """A page-locked array with undefined contents; ``.base`` is its `PooledHostAllocation`."""

# -- what is known about memory

def mem_get_info() -> tuple[int, int]:
    """(free, total) bytes of the current context's device.

    Unused memory in pools of this process counts as free, because an allocation that does not fit otherwise takes
    it.
    """

def mem_alloc(bytes: int) -> DeviceAllocation:
    """Allocate `bytes` bytes of device memory in the current context.

    If the device is out of memory, the call collects garbage, makes pools release their unused memory and tries the
    allocation once more.

    Raises
    ------
    MemoryError
        If the device does not have enough memory (`rtcg.driver.MemoryError`).
    LogicError
        If `bytes` is 0 or there is no current context.
    """

def mem_alloc_async(size: int, stream: Stream | None = None, pool: MemoryPool | None = None) -> DeviceAllocation:
    """Allocate `size` bytes of device memory in stream order.

    Work in `stream` may use the memory, as may other work that waits for it. The memory is freed in the order of
    the same stream, or of the one passed to `free_async`.

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
    """Allocate `height` rows of `width` bytes, aligned for accesses of 4, 8 or 16 bytes: a tuple ``(memory,
    pitch)``.

    `pitch` is the distance between rows in bytes. Raises `rtcg.driver.MemoryError` if the device does not have
    enough memory.
    """

def mem_get_address_range(ptr: _DevicePointer) -> tuple[int, int]:
    """The start and the size in bytes of the allocation that holds the address `ptr`: a tuple ``(base, size)`` of
    int.

    Raises `LogicError` if no allocation of the current context holds the address. Does not wait.
    """

def mem_get_ipc_handle(devptr: _DevicePointer) -> bytearray:
    """The interprocess handle of an allocation, 64 bytes, for `IPCMemoryHandle` in other processes.

    The memory must stay allocated while others use it. Raises `LogicError` for memory that does not come from
    `mem_alloc`.
    """

def pointer_get_attribute(attribute: int, devptr: _DevicePointer) -> int:
    """An attribute of an address, as the driver knows it.

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
    """Give advice on how a range of managed memory will be used, by `mem_advice`. Results do not depend on advice.

    Parameters
    ----------
    devptr : device pointer
    size : int
        Bytes.
    advice : mem_advice
    device : Device, optional
        The device that the advice refers to; None is the host.
    """

def mem_prefetch_async(
    devptr: _DevicePointer, size: int, device: Device | None = None, stream: Stream | None = None
) -> None:
    """Migrate a range of managed memory to a device (None: to the host) in stream order; returns None and does not
    wait.
    """

def mem_range_get_attribute(attribute: int, devptr: _DevicePointer, size: int) -> int:
    """Return the advice given about a range of managed memory, by `mem_range_attribute`.

    For devices, -1 is the host, and -2 means none or different ones.
    """

def memoryview_at_address(address: int, size: int, offset: int = 0) -> memoryview: ...

# -- copies and fills

def memcpy_htod(dest: _DevicePointer, src: _HostBuffer) -> None:
    """Copy a contiguous host buffer to the device, and wait for the copy.

    `dest` is an allocation, an array on the device or an address; `src` is a NumPy array or another buffer. Raises
    `LogicError` if `src` is longer than the allocation, `TypeError` if it is not a buffer, and `ValueError` if it
    is not contiguous.
    """

def memcpy_htod_async(dest: _DevicePointer, src: _HostBuffer, stream: Stream | None = None) -> None:
    """`memcpy_htod` in stream order of `stream` (None: the default stream); keeps `src` alive until the copy is
    done.

    Does not wait for page-locked memory (`pagelocked_empty`), which must stay unchanged until then. Pageable memory is
    read before the call returns.
    """

def memcpy_dtoh(dest: _HostBuffer, src: _DevicePointer) -> None:
    """Copy from the device to a contiguous, writable host buffer; waits for the copy and earlier work of the
    default stream.

    Raises `LogicError` if `dest` is longer than the allocation.
    """

def memcpy_dtoh_async(dest: _HostBuffer, src: _DevicePointer, stream: Stream | None = None) -> None:
    """`memcpy_dtoh` in stream order of `stream`; keeps `dest` alive until the copy is done.

    Does not wait for page-locked memory, whose contents are valid once the stream has passed the copy. For pageable
    memory the call waits.
    """

def memcpy_dtod(dest: _DevicePointer, src: _DevicePointer, size: int) -> None:
    """Copy `size` bytes within the device, in the default stream; returns None and does not wait.

    Arguments are allocations or addresses. Raises `LogicError` if an allocation is known at an address and is too
    short.
    """

def memcpy_dtod_async(dest: _DevicePointer, src: _DevicePointer, size: int, stream: Stream | None = None) -> None:
    """Copy `size` bytes within the device in the order of `stream`, like `memcpy_dtod`; returns None and does not
    wait.
    """

def memcpy_peer(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None:
    """Copy `size` bytes between contexts, where None means the current one; returns None.

    Works without peer access, by staging through the host. Runs in the order of both default streams; does not
    wait.
    """

def memcpy_peer_async(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: int,
    dest_context: Context | None = None,
    src_context: Context | None = None,
    stream: Stream | None = None,
) -> None:
    """Copy `size` bytes between contexts in the order of `stream`, like `memcpy_peer`; returns None and does not
    wait.
    """

def memset_d8(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d8_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the order of `stream`; returns
    None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d8(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data`; does not wait."""

def memset_d2d8_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data` in stream order; does not wait."""

def memset_d16(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d16_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the order of `stream`; returns
    None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d16(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data`; does not wait."""

def memset_d2d16_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data` in stream order; does not wait."""

def memset_d32(dest: _DevicePointer, data: int, size: int) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the default stream; returns None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d32_async(dest: _DevicePointer, data: int, size: int, stream: Stream | None = None) -> None:
    """Set `size` elements (not bytes), starting at `dest`, to `data` in the order of `stream`; returns
    None.

    Does not wait. Raises `LogicError` if `dest` is misaligned for the elements or its memory is too short.
    """

def memset_d2d32(dest: _DevicePointer, pitch: int, data: int, width: int, height: int) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data`; does not wait."""

def memset_d2d32_async(
    dest: _DevicePointer, pitch: int, data: int, width: int, height: int, stream: Stream | None = None
) -> None:
    """Set `height` rows of `width` elements, `pitch` bytes apart, to `data` in stream order; does not wait."""

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
        """Copy from memory with the same address on host and device; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory with the same address on host and device; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def __call__(self, aligned: bool | Stream | None = None) -> None:
        """Copy: ``copy(aligned)`` waits, ``copy(stream)`` does not.

        Parameters
        ----------
        aligned : bool or Stream, optional
            True: use `cuMemcpy2D`, which requires pitches of `mem_alloc_pitch`; False, the default: allow any
            pitches. A `Stream`: copy in its order.

        Raises
        ------
        LogicError
            If the source or the destination is not set, or the driver rejects sizes or pitches.
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
        """Copy from memory with the same address on host and device; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory with the same address on host and device; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def __call__(self, stream: Stream | None = None) -> None:
        """Copy in stream order; without a stream, copy at once and wait.

        Raises `LogicError` if the source or the destination is not set, or the driver rejects sizes or pitches.
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
        """Copy from memory with the same address on host and device; it is kept alive."""
    def set_dst_unified(self, buffer: _HostBuffer) -> None:
        """Copy to memory with the same address on host and device; it is kept alive."""
    def set_src_array(self, array: Array) -> None:
        """Copy from an `Array`, which is kept alive."""
    def set_dst_array(self, array: Array) -> None:
        """Copy to an `Array`, which is kept alive."""
    def set_src_context(self, ctx: Context | None) -> None:
        """The context of the source; None is the current one."""
    def set_dst_context(self, ctx: Context | None) -> None:
        """The context of the destination; None is the current one."""
    def __call__(self, stream: Stream | None = None) -> None:
        """Copy in stream order; without a stream, copy at once and wait.

        Raises `LogicError` if the source or the destination is not set, or the driver rejects sizes or pitches.
        """

# -- arrays, textures, surfaces

class Array:
    """A CUDA array, freed with the last reference or by `free()`."""

    def __init__(self, descriptor: ArrayDescriptor) -> None: ...
    def free(self) -> None:
        """Free the memory now. Raises `LogicError` if called twice."""
    def close(self) -> None:
        """Free the memory now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def get_descriptor(self) -> ArrayDescriptor:
        """A new `ArrayDescriptor` of the array; raises `LogicError` if it has been freed."""
    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """A new `ArrayDescriptor3D` of the array; raises `LogicError` if it has been freed."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""

@final
class MipmappedArray:
    """An array with mip levels (an addition to PyCUDA)."""

    def __init__(self, descriptor: ArrayDescriptor3D, num_levels: int) -> None: ...
    def get_level(self, level: int) -> Array:
        """The array of a mip level, of which 0 is the largest."""
    def close(self) -> None:
        """Release the memory of all levels now, unless already done."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

class TextureReference:
    """A texture reference, of a module or on its own."""

    def __init__(self) -> None: ...
    def set_array(self, ary: Array) -> None:
        """Bind an array, which is kept alive."""
    def set_address(self, devptr: _DevicePointer, bytes: int, allow_offset: bool = False) -> int:
        """Bind linear memory; returns the offset in bytes that fetches have to add."""
    def set_address_2d(self, devptr: _DevicePointer, descr: ArrayDescriptor, pitch: int) -> None:
        """Bind rows of linear memory, `pitch` bytes apart, with the shape and format of `descr`."""
    def set_format(self, format: int, num_components: int) -> None:
        """Set the texel format: an `array_format` and 1, 2 or 4 components. `set_array` uses that of the array."""
    def set_address_mode(self, dim: int, am: int) -> None:
        """Set how fetches out of range are handled in dimension `dim` (0, 1 or 2), by `address_mode`."""
    def set_filter_mode(self, fm: int) -> None:
        """Set how fetches between texels are filtered, by `filter_mode`."""
    def set_flags(self, flags: int) -> None:
        """Set `TRSF_READ_AS_INTEGER`, `TRSF_NORMALIZED_COORDINATES`, or-ed."""
    def get_address(self) -> int:
        """The address of the bound linear memory; raises `LogicError` if there is none."""
    def get_array(self) -> Array:
        """The bound array; raises `LogicError` if there is none."""
    def get_address_mode(self, dim: int) -> address_mode:
        """The `address_mode` of dimension `dim`."""
    def get_filter_mode(self) -> filter_mode:
        """The `filter_mode`."""
    def get_format(self) -> tuple[array_format, int]:
        """``(array_format, number of components)``."""
    def get_flags(self) -> int:
        """The flags set by `set_flags`."""

class SurfaceReference:
    """A surface reference of a module."""

    def set_array(self, array: Array, flags: int = 0) -> None:
        """Bind an array, which is kept alive."""
    def get_array(self) -> Array:
        """The bound array; raises `LogicError` if there is none."""

@final
class TextureObject:
    """A texture object (an addition to PyCUDA): pass it to a kernel as a `cudaTextureObject_t`."""

    @staticmethod
    def _from_array(array: Array | MipmappedArray, sampling: dict[str, Any]) -> TextureObject: ...
    # What `_from_array` made it from.
    _made_from: tuple[Array | MipmappedArray, dict[str, Any]]
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
        """The value to pass to kernels as a `cudaTextureObject_t`."""
    def get_pointer(self) -> int:
        """Same as `handle`."""

@final
class SurfaceObject:
    """A surface object (an addition to PyCUDA): pass it to a kernel as a `cudaSurfaceObject_t`."""

    def __init__(self, array: Array) -> None: ...
    @property
    def array(self) -> Array:
        """The array that kernels read and write."""
    @property
    def handle(self) -> int:
        """The value to pass to kernels as a `cudaSurfaceObject_t`."""
    def get_pointer(self) -> int:
        """Same as `handle`."""

def memcpy_dtoa(ary: Array, index: int, src: _DevicePointer, len: int) -> None:
    """Copy device memory to a one-dimensional array, starting at byte `index`; waits."""

def memcpy_atod(dest: _DevicePointer, ary: Array, index: int, len: int) -> None:
    """Copy `len` bytes of a one-dimensional array, starting at byte `index`, to device memory; does not wait."""

def memcpy_atoa(dest: Array, dest_index: int, src: Array, src_index: int, len: int) -> None:
    """Copy `len` bytes between one-dimensional arrays, from byte `src_index` to byte `dest_index`; does not wait."""

def memcpy_htoa(ary: Array, index: int, src: _HostBuffer) -> None:
    """Copy a contiguous buffer to a one-dimensional array, starting at byte `index`; waits.

    Raises `LogicError` if it does not fit. Also named `py_memcpy_htoa`.
    """

def memcpy_atoh(dest: _HostBuffer, ary: Array, index: int) -> None:
    """Fill a writable contiguous buffer from a one-dimensional array, starting at byte `index`; waits.

    Raises `LogicError` if the array has too few bytes. Also named `py_memcpy_atoh`.
    """

# -- modules and kernels

class Module:
    """Loaded code. Unloaded at the end of a ``with`` block."""

    def get_functions(self) -> list[Function]:
        """All kernels (an addition to PyCUDA)."""
    def _repr_html_(self) -> str: ...
    def close(self) -> None:
        """Release the resource now, unless already done; later use is an error. The end of a ``with`` block
        does the same.
        """
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def get_function(self, name: str) -> Function:
        """The kernel with this name. Raises `LogicError` if there is none."""
    def get_global(self, name: str) -> tuple[int, int]:
        """(address, size in bytes) of a global or constant variable."""
    def get_global_array(self, name: str, dtype: DTypeLike, shape: int | Sequence[int] | None = None) -> GPUArray:
        """A variable as an array that shares its memory; by default with one axis that covers the whole variable."""
    def get_texref(self, name: str) -> TextureReference:
        """The texture reference with this name. Raises `LogicError` if there is none."""
    def get_surfref(self, name: str) -> SurfaceReference:
        """The surface reference with this name. Raises `LogicError` if there is none."""

# -- graphs

class Graph:
    """Work defined once, as nodes with dependencies, and launched many times.

    A graph is built node by node, or by capturing a stream (`Stream.begin_capture`). Each ``add_*`` method takes
    `dependencies`, the nodes (or the single node) of this graph that the new node depends on, and returns the new
    `GraphNode`. Kernel arguments and copy buffers live as long as the graph and the executable graphs made from it;
    host memory is read and written when the graph runs.
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
        """Add a launch of `func`. Arguments are those of a direct call, except `In`, `Out` and `InOut`."""
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
        """Copy a box; later changes to `copy` do not affect the node."""
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
        """Call `function` on a thread of the driver. It must not use the driver; its exceptions go to
        `sys.unraisablehook`.
        """
    def add_empty_node(self, dependencies: Sequence[GraphNode] | GraphNode | None = None) -> GraphNode:
        """Add a node that does nothing but join others."""
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
        """Add a copy of another graph as one node."""
    def add_memalloc_node(
        self, size: int, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> tuple[GraphNode, GraphAllocation]:
        """Allocate memory that exists from this node to the node that frees it, at the same address in every launch."""
    def add_memfree_node(
        self, ptr: _DevicePointer, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> GraphNode:
        """Add a node that frees memory of `add_memalloc_node`."""
    def conditional_handle(self, default: int | None = None) -> int:
        """A condition, which kernels set by ``cudaGraphSetConditional``.

        With a `default` it has that value at the start of every launch; otherwise it keeps its last value.
        """
    def add_conditional_node(
        self, handle: int, type: int, size: int = 1, dependencies: Sequence[GraphNode] | GraphNode | None = None
    ) -> tuple[GraphNode, list[Graph]]:
        """Add a node that runs one of `size` graphs, which are filled in afterwards.

        `type` is from `graph_conditional_node_type`: IF runs the first graph if the condition is not 0, else the second
        if there is one; WHILE repeats its graph while the condition is not 0; SWITCH runs the graph whose index is the
        condition, if there is one.
        """
    def add_dependencies(self, pairs: Sequence[tuple[GraphNode, GraphNode]]) -> None:
        """Add edges ``(before, after)``: the second node of each pair depends on the first."""
    def remove_dependencies(self, pairs: Sequence[tuple[GraphNode, GraphNode]]) -> None:
        """Remove edges ``(before, after)``."""
    def get_nodes(self) -> list[GraphNode]:
        """All nodes."""
    def get_root_nodes(self) -> list[GraphNode]:
        """The nodes without dependencies."""
    def get_edges(self) -> list[tuple[GraphNode, GraphNode]]:
        """All edges, ``(before, after)``."""
    def clone(self) -> Graph:
        """A copy with its own nodes; see `GraphNode.find_in_clone`."""
    def instantiate(self, flags: int = 0) -> GraphExec:
        """Make the graph executable, with `graph_instantiate_flags`. Later changes to the graph do not affect the
        result.

        Raises
        ------
        LogicError
            If the graph has a cycle or a node that the device cannot run.
        """
    def debug_dot_print(self, path: _Path, flags: int = 0) -> None:
        """Write the graph in Graphviz's DOT language to a file; `flags` are from `graph_debug_dot_flags`."""
    def dot(self, flags: int = 0) -> str:
        """The text that `debug_dot_print` writes."""
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
        """The kind of the node, a `graph_node_type`."""
    @property
    def graph(self) -> Graph:
        """The graph that the node belongs to."""
    @property
    def dependencies(self) -> list[GraphNode]:
        """The nodes that this one directly depends on."""
    @property
    def dependents(self) -> list[GraphNode]:
        """The nodes that directly depend on this one."""
    @property
    def child_graph(self) -> Graph:
        """The graph inside a child graph node."""
    @property
    def handle(self) -> int:
        """The driver's ``CUgraphNode``, an int."""
    def find_in_clone(self, graph: Graph) -> GraphNode:
        """The counterpart of this node in `graph`, a graph made by `Graph.clone`."""
    def remove(self) -> None:
        """Remove the node and its edges from the graph."""
    def kernel_node_set_params(
        self,
        *args: Any,
        func: Function | None = None,
        block: _Extents | int | None = None,
        grid: _Extents | int | None = None,
        shared: int | None = None,
    ) -> None:
        """Change the launch for later instantiations of the graph; omitted parameters are kept."""
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

    Methods named ``*_node_set_params`` change what a node of the original graph does in later launches of this one;
    the original graph does not change.
    """

    def launch(self, stream: Stream | None = None) -> None:
        """Run the graph in stream order; does not wait. Launches of one executable graph never overlap.

        The stream must not be capturing; use `Graph.add_child_graph_node` in that case.
        """
    def upload(self, stream: Stream | None = None) -> None:
        """Prepare the next launch, which is then faster."""
    def update(self, graph: Graph) -> None:
        """Take over the operations of the nodes of `graph`, which must have the same topology.

        Raises
        ------
        LogicError
            If the graphs differ, with a message that says how; nothing is changed then.
        """
    @property
    def flags(self) -> int:
        """The `graph_instantiate_flags` of its creation."""
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
        """Replace the arguments of a kernel node, and whatever else is given. A captured node requires `func` and
        `block`.
        """
    def memcpy_htod_node_set_params(
        self, node: GraphNode, dest: _DevicePointer, src: _HostBuffer, size: int | None = None
    ) -> None:
        """Replace source, destination and size of a copy to the device."""
    def memcpy_dtoh_node_set_params(
        self, node: GraphNode, dest: _HostBuffer, src: _DevicePointer, size: int | None = None
    ) -> None:
        """Replace source, destination and size of a copy to the host."""
    def memcpy_dtod_node_set_params(
        self, node: GraphNode, dest: _DevicePointer, src: _DevicePointer, size: int
    ) -> None:
        """Replace source, destination and size of a copy on the device."""
    def memcpy_node_set_params(self, node: GraphNode, copy: Memcpy3D) -> None:
        """Replace the parameters of a structured copy."""
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
        """Replace the parameters of a fill; they are those of `Graph.add_memset_node`."""
    def host_node_set_params(self, node: GraphNode, function: Callable[[], object]) -> None:
        """Replace the function that a host node calls."""
    def event_node_set_event(self, node: GraphNode, event: Event) -> None:
        """Replace the event of a node that records or waits for one."""
    def child_graph_node_set_params(self, node: GraphNode, graph: Graph) -> None:
        """Replace a child graph; `graph` must have the topology of the present one."""
    def node_set_enabled(self, node: GraphNode, enabled: bool) -> None:
        """Enable or disable a kernel, copy or memset node."""
    def node_get_enabled(self, node: GraphNode) -> bool:
        """Whether the node is enabled."""

@final
class StreamCapture:
    """The context manager that `Stream.capture` returns: ``with stream.capture() as graph:``."""

    def __enter__(self) -> Graph: ...
    def __exit__(self, kind: object, value: object, traceback: object) -> bool: ...

def exchange_capture_mode(mode: int) -> capture_mode:
    """Set how strictly calls of this thread are checked while streams are captured; returns the previous mode."""

class Library:
    """Code that belongs to no context: the driver loads it into each context that uses it.

    Made by `library_from_buffer` or `library_from_file`, which need no context; using a closed library is an error.
    The objects that it returns keep it loaded. Requires a driver of CUDA 12 or newer.
    """

    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    def get_kernel(self, name: str) -> Kernel:
        """The kernel with this name, for all contexts."""
    def get_kernels(self) -> list[Kernel]:
        """All kernels."""
    def get_module(self) -> Module:
        """The library's module in the current context. It stays loaded until the library is unloaded."""
    def get_function(self, name: str) -> Function:
        """The kernel with this name as a function of the current context."""
    def get_global(self, name: str) -> tuple[int, int]:
        """``(address, size in bytes)`` of a variable in the current context."""
    def get_managed(self, name: str) -> tuple[int, int]:
        """``(address, size in bytes)`` of a managed variable.

        Real GPUs have one for all contexts; the virtual GPU has one per context.
        """
    def get_unified_function(self, name: str) -> int:
        """The address of a function that host and device can both call, on devices that support it."""
    def close(self) -> None:
        """Release the resource now, unless already done; later use is an error. The end of a ``with`` block
        does the same.
        """
    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Kernel:
    """A kernel of a `Library`. Without a `device`, methods refer to that of the current context."""

    @property
    def name(self) -> str:
        """The name of the kernel in the driver."""
    @property
    def handle(self) -> int:
        """The driver's handle, for other libraries."""
    @property
    def library(self) -> Library:
        """The library that the kernel belongs to."""
    @property
    def parameters(self) -> list[tuple[int, int]]:
        """The offset and size of each parameter in bytes."""
    def get_function(self) -> Function:
        """The kernel as a function of the current context."""
    def get_attribute(self, attribute: int, device: Device | None = None) -> int:
        """A `function_attribute` on a device."""
    def set_attribute(self, attribute: int, value: int, device: Device | None = None) -> None:
        """Set a `function_attribute` for all present and future contexts of a device."""
    def set_cache_config(self, fc: int, device: Device | None = None) -> None:
        """Request a division of the L1 cache by `func_cache` on a device."""

class Linker:
    """Links several images into one module.

    nvJitLink (``pip install nvidia-nvjitlink``) links LTO-IR (``jit_input_type.NVVM``), on a real GPU together with
    all other inputs. The options ``LTO`` (find LTO-IR in fat binaries and objects too), ``FTZ``, ``PREC_DIV``,
    ``PREC_SQRT`` and ``FMA`` apply to nvJitLink only.
    """

    def __init__(
        self,
        message_handler: _MessageHandler | None = None,
        options: _JitOptions | None = None,
        log_verbose: bool = False,
    ) -> None: ...
    def add_data(self, data: _HostBuffer, input_type: int, name: str = "unknown") -> None:
        """Add an image of a `jit_input_type`, with the name that messages use for it.

        Raises `LogicError` with the linker's log if it is not such an image.
        """
    def add_file(self, filename: _Path, input_type: int) -> None:
        """Add a file of a `jit_input_type`; raises `RuntimeError` if there is no such file."""
    def add_lto_options(self, options: Sequence[str]) -> None:
        """Add options of nvJitLink itself, such as ``-fma=0`` or ``-kernels-used=f``, for links with LTO-IR."""
    def link_module(self) -> Module:
        """Link the inputs and load the result into the current context: a `Module`.

        Raises `LogicError` with the linker's log if a symbol is missing or defined twice.
        """

class Function:
    """A kernel.

    Every attribute of `rtcg.driver.function_attribute` is also a property with its lower-case name, such as
    ``function.num_regs``.
    """

    def _repr_html_(self) -> str: ...
    def __getitem__(self, configuration: Any, /) -> NoReturn: ...
    @property
    def name(self) -> str:
        """The name of the kernel (an addition to PyCUDA)."""
    @property
    def _source(self) -> tuple[str, list[str], list[_Path], bool] | None:
        """What the kernel was compiled from: source text, options, include folders, and whether C++ names were left as
        they are; or None if that is unknown.
        """
    @property
    def signature(self) -> list[tuple[str, str | None]] | None:
        """The parameters as declared in the source, ``[("const float *", "x"), ...]``, or None if they are unknown (an
        addition to PyCUDA).
        """
    @overload
    def __call__(
        self,
        *args: Any,
        block: _Extents | int,
        grid: _Extents | int = ...,
        stream: Stream | _CudaStream | None = None,
        shared: int = 0,
        texrefs: Sequence[object] = ...,
        time_kernel: Literal[True],
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
    ) -> float:
        """Launch the kernel; does not wait, except with `Out`, `InOut` or `time_kernel`.

        Before anything reaches the device, the call checks the number and sizes of the arguments, and their
        types if the source of a `SourceModule` declares them (see docs/launches.md).

        Parameters
        ----------
        *args
            NumPy scalars (by value); Python numbers, if the type is known and can hold them;
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
            Blocks per cluster (compute capability 9.0); `preferred_cluster` is used if it fits.
        programmatic_dependent : bool
            The kernel may start while the previous one still runs, and itself waits for it.
        priority, mem_sync_domain, shared_carveout, ...
            The attributes of ``cuLaunchKernelEx`` with these names.

        Raises
        ------
        TypeError
            If the kernel does not take an argument of this kind or type.
        OverflowError
            If the type of a parameter cannot hold a number.
        LogicError
            If the number or sizes of the arguments do not fit the kernel; the message says which.
        LaunchError
            If the device cannot run this geometry.
        """
    @overload
    def __call__(
        self,
        *args: Any,
        block: _Extents | int,
        grid: _Extents | int = ...,
        stream: Stream | _CudaStream | None = None,
        shared: int = 0,
        texrefs: Sequence[object] = ...,
        time_kernel: Literal[False] = False,
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
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: Any,
        block: _Extents | int,
        grid: _Extents | int = ...,
        stream: Stream | _CudaStream | None = None,
        shared: int = 0,
        texrefs: Sequence[object] = ...,
        time_kernel: bool,
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
    ) -> float | None: ...
    def prepare(
        self, arg_types: str | Iterable[str | DTypeLike | type], texrefs: Sequence[object] | None = None
    ) -> Self:
        """Fix the argument types, by the letters of `struct` (P is a pointer) or by dtypes."""
    def prepared_call(
        self, grid: _Extents | int, block: _Extents | int, /, *args: Any, shared_size: int = 0, **options: Any
    ) -> None:
        """Run the kernel with the prepared argument types; does not wait. `options` are those of a direct call."""
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
        """Like `prepared_call`, in a stream; does not wait."""
    def prepared_timed_call(
        self, grid: _Extents | int, block: _Extents | int, /, *args: Any, shared_size: int = 0, **options: Any
    ) -> Callable[[], float]:
        """Like `prepared_call`; calling the result waits and returns the kernel's time in seconds."""
    def max_active_blocks_per_multiprocessor(self, block_threads: int, shared: int = 0) -> int:
        """The number of blocks of `block_threads` threads that fit on a multiprocessor at once."""
    def max_potential_block_size(self, shared: int = 0, limit: int = 0) -> tuple[int, int]:
        """``(blocks that fill the device, threads per block)`` for the best occupancy; `limit` bounds the threads."""
    def available_dynamic_shared_memory(self, blocks: int, block_threads: int) -> int:
        """The bytes that each of `blocks` blocks on a multiprocessor can have."""
    def max_potential_cluster_size(self, block: _Extents | int, shared: int = 0) -> int:
        """The number of blocks in the largest possible cluster."""
    def max_active_clusters(self, cluster: _Extents | int, block: _Extents | int, shared: int = 0) -> int:
        """The number of clusters that run at once on the device."""
    def get_attribute(self, attribute: int) -> int:
        """A `function_attribute`, an int."""
    def set_attribute(self, attribute: int, value: int) -> None:
        """Set a `function_attribute`, such as MAX_DYNAMIC_SHARED_SIZE_BYTES; raises `LogicError` if it is read-only."""
    def set_cache_config(self, fc: int) -> None:
        """Request a division of the L1 cache by `func_cache`."""
    def set_shared_config(self, sc: int) -> None:
        """Request a width of shared-memory banks by `shared_config`; current devices have only one."""
    def param_set_texref(self, texref: TextureReference) -> None:
        """Does nothing: kernels of a module see all its bound texture references."""
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

    `device` selects the driver if there are both real and virtual devices; by default it is that of the current
    context, else that of the first device.
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
class CompileSettings:
    """The parameters that `rtcg.compiler.compile` and the classes there share."""

    def __new__(
        cls,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        *,
        is_plain: bool = False,
    ) -> Self: ...
    def compile(self, source: object, target: str = "cubin", *, warns: bool = True) -> bytes:
        """Compile `source`: the binary. What the compiler says becomes a warning if `warns`."""
    def compile_to_link(self, source: object, nvcc_options: Sequence[str] | None) -> tuple[bytes, list[str] | None]:
        """Compile `source` for a linker: PTX and None, or LTO-IR and the linker's options if link-time optimisation is
        requested.
        """
    def load(self, source: object, name_expressions: Sequence[str] | None) -> Module:
        """Compile `source` for the device of the current context and load it there. The module's kernels and variables
        are found by their C++ names.
        """
    def register_source(self, module: Module, source: object) -> None:
        """Record the source that a loaded module was compiled from, so that arguments of its kernels are checked by
        type.
        """

def compiler_info(nvcc: str) -> tuple[str, str]: ...
def default_nvcc_flags() -> list[str]: ...
def use_prebuilt_programs(path: str) -> None: ...
def start_recording_programs() -> None: ...
def write_recorded_programs(path: str) -> int: ...
def compiler_cache_status() -> tuple[pathlib.Path, str | None] | None: ...

# -- arrays

class GPUArray:
    """An n-dimensional array on the device of the current context, with NumPy's arithmetic.

    Operations do not wait for the device; `get`, `set` and printing do. Operands of any memory layout are
    broadcast; result dtypes are NumPy's.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like, optional
        bool, an integer, float16/32/64, bfloat16 (of ml_dtypes), complex64/128 or a structured dtype; float64 by
        default, as in NumPy.
    allocator : callable, optional
        Takes a number of bytes and returns device memory; default `rtcg.driver.mem_alloc`.
    base : object, optional
        Kept alive as long as the array.
    gpudata : device pointer, optional
        Memory to use instead of a new allocation; kept alive.
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

        `axis` is None, an int or a tuple of int; `keepdims` keeps reduced axes with length 1. Does not wait.
        """
    @property
    def allocator(self) -> Any:
        """The allocator of the memory and of results: a callable that takes a number of bytes; None is the default."""
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
        """Whether any element, or any along `axis`, is true: an array of bool, by default without axes.

        `axis` is None, an int or a tuple of int; `keepdims` keeps reduced axes with length 1. Does not wait.
        """
    def argmax(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> GPUArray:
        """The index of the (first) largest element, along `axis` or of the flattened array; does not wait."""
    def argmin(self, axis: Any = None, out: Any = None, keepdims: Any = False) -> GPUArray:
        """The index of the (first) smallest element, along `axis` or of the flattened array; does not wait."""
    def argsort(self, axis: Any = -1, kind: Any = None, *, stable: Any = None, descending: Any = False) -> GPUArray:
        """The indices (int64) that sort along `axis`, stably and with NaN last; does not wait."""
    def astype(self, dtype: Any, stream: Any = None, order: Any = "K", copy: Any = True) -> GPUArray:
        """A copy converted to `dtype`; does not wait."""
    @property
    def base(self) -> Any:
        """The array that this one is a view of, or None."""
    @base.setter
    def base(self, base: Any) -> None: ...
    def bind_to_texref(self, texref: Any, allow_offset: Any = False) -> GPUArray:
        """Bind to a texture reference of the same dtype; returns the offset in elements."""
    def bind_to_texref_ext(
        self,
        texref: Any,
        channels: Any = 1,
        allow_double_hack: Any = False,
        allow_complex_hack: Any = False,
        allow_offset: Any = False,
    ) -> GPUArray:
        """Bind to a texture reference and set its format; returns the offset in elements."""
    def clip(
        self, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
    ) -> GPUArray:
        """Elements limited to the range from `a_min` to `a_max`, either of which may be None; does not wait."""
    def conj(self, out: Any = None) -> GPUArray:
        """The complex conjugate, a new array (`out` if given), or the array itself if it is real. Does not wait."""
    def conjugate(self, out: Any = None) -> GPUArray:
        """Same as `conj`."""
    def copy(self, order: Any = "K") -> GPUArray:
        """A copy in new device memory, in the same memory order or in `order`; does not wait."""
    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """Cumulative products along `axis`, or of the flattened array if None: a new array or `out`; does not wait."""
    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
        """Cumulative sums along `axis`, or of the flattened array if None: a new array or `out`; does not wait.

        Uses a scan with decoupled look-back (Merrill and Garland, 2016).
        """
    @property
    def device(self) -> Device:
        """The device that holds the array, whether or not it is current: a `rtcg.driver.Device`."""
    def diagonal(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> GPUArray:
        """The diagonal `offset` of the axes `axis1` and `axis2`, a view, with the diagonal as the last axis."""
    def dot(self, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None, *, out: Any = None) -> GPUArray:
        """The product with `b`: the inner product for arrays of equal shape, else as `numpy.dot`. Does not wait."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """Reinterpret the elements as another dtype with the same shape; strides are kept if the element size is."""
    @dtype.setter
    def dtype(self, dtype: Any) -> None: ...
    def fill(self, value: Any, stream: Any = None) -> Self:
        """Set every element to `value`; does not wait."""
    @property
    def flags(self) -> ArrayFlags:
        """The memory layout: `ArrayFlags`, as `numpy.ndarray.flags`."""
    def flatten(self, order: Any = "C") -> GPUArray:
        """A one-dimensional copy in the order `order` (C, F, A or K); does not wait."""
    def get(self, ary: Any = None, pagelocked: Any = False, async_: Any = False, stream: Any = None) -> NDArray[Any]:
        """Copy to the host, to `ary` or to a new array in the same memory order; waits."""
    def get_async(self, stream: Any = None, ary: Any = None) -> NDArray[Any]:
        """Copy to the host, asynchronously in `stream`; the returned array is valid once the stream has done the copy.

        The target is `ary` if given, else new page-locked memory, for which the call does not wait.
        """
    @property
    def gpudata(self) -> Any:
        """The memory: a `DeviceAllocation`, the allocator's result, an address for views, or None without elements."""
    @gpudata.setter
    def gpudata(self, gpudata: Any) -> None: ...
    @property
    def imag(self) -> GPUArray:
        """A contiguous copy of the imaginary parts; zeros if the array is not complex."""
    def item(self, *args: Any) -> Any:
        """The only element as a Python number; waits."""
    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
    @property
    def mT(self) -> GPUArray:
        """A view with the last two axes exchanged; raises `ValueError` for fewer than two dimensions."""
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
        """The largest element, or those along `axis`, as an array; NaN if any element is. Does not wait.

        Raises `ValueError` if there are no elements and no `initial`.
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

        Integers are averaged in float64. Parameters are those of `sum`.
        """
    @property
    def mem_size(self) -> int:
        """The number of elements that the allocation has room for."""
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
        """The smallest element, or those along `axis`, as an array; NaN if any element is. Does not wait.

        Raises `ValueError` if there are no elements and no `initial`.
        """
    def mul_add(
        self, selffac: Any, other: Any, otherfac: Any, add_timer: Any = None, stream: Any = None, out: Any = None
    ) -> GPUArray:
        """`selffac * self + otherfac * other`, in one kernel."""
    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
    @nbytes.setter
    def nbytes(self, nbytes: int) -> None: ...
    @property
    def ndim(self) -> int:
        """The number of axes."""
    def nonzero(self) -> tuple[GPUArray, ...]:
        """The indices of the elements that are not 0, a tuple with one array per axis; waits for their number."""
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
        """The product of all elements, or along `axis`; does not wait. Parameters are those of `sum`."""
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
        """The largest element minus the smallest, of all or along `axis`; does not wait."""
    @property
    def ptr(self) -> int:
        """The device address of the first element, an int."""
    def put(self, ind: Any, v: Any, mode: Any = "raise") -> None:
        """Write `v` to the elements `ind` of the flattened array, in place; as `numpy.put`."""
    def ravel(self, order: Any = "C") -> GPUArray:
        """One axis in the order `order` (C, F, A or K): a view where the layout allows, else a copy; does not wait."""
    @property
    def real(self) -> GPUArray:
        """A contiguous copy of the real parts, or the array itself if it is not complex."""
    def repeat(self, repeats: Any, axis: Any = None) -> GPUArray:
        """Repeat each element along `axis` or flattened; waits if `repeats` is an array on the device."""
    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> GPUArray:
        """The same elements in another shape: a view where the layout allows, else a copy. One length may be -1.

        `order` is C, F or A. Raises `ValueError` if the number of elements differs.
        """
    def reverse(self, stream: Any = None) -> GPUArray:
        """The elements in reverse memory order, in a new array with one axis."""
    def round(self, decimals: Any = 0, out: Any = None) -> GPUArray:
        """Round to `decimals` places, halves to even: a new array, or `out`. Does not wait."""
    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> GPUArray:
        """The positions at which to insert `v` into this sorted array with one axis, left or right of equal ones."""
    def set(self, ary: Any, async_: Any = False, stream: Any = None) -> None:
        """Overwrite all elements with those of a host array; waits."""
    def set_async(self, ary: Any, stream: Any = None) -> None:
        """Copy a host array into this one, asynchronously in `stream`.

        `ary` has this array's shape and dtype. Page-locked memory must stay unchanged until the stream has done the
        copy.
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
        """Sort in place along an axis, stably and with NaN last."""
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
        """The distance in bytes between adjacent elements along each axis, a tuple of int."""
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

        `axis` is None (all), an int or a tuple of int. The sum has `dtype`; by default, narrower integers are widened
        to 64 bits as by `numpy.sum`. `initial` is added, elements where `where` is false are left out, and `keepdims`
        keeps reduced axes with length 1.
        """
    def swapaxes(self, axis1: Any, axis2: Any) -> GPUArray:
        """A view with two axes exchanged."""
    def take(
        self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", stream: Any = None
    ) -> GPUArray:
        """Elements at the given indices, along `axis` or of the flattened array; does not wait.

        `mode` is raise, wrap or clip, as in `numpy.take`.
        """
    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """This array on a device: the array itself if it is there already, else a copy in that device's current or
        primary context, for which the call waits; a NumPy array for ``"cpu"``. `stream` has no effect.
        """
    def tolist(self) -> Any:
        """The elements as nested lists; waits."""
    def trace(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> GPUArray:
        """The sum of a diagonal of the axes `axis1` and `axis2`; does not wait."""
    def transpose(self, *args: Any, axes: Any = None) -> GPUArray:
        """A view with the axes permuted to the order `axes`, by default reversed."""
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
        """A DLPack capsule over this memory, or over a host copy if `dl_device` is the host.

        Work in `stream` starts only after earlier work on the array (None or 1: the legacy default stream; 2: the
        per-thread one; -1: no synchronisation, unless `rtcg.exports_wait`). Does not wait otherwise, except for memory
        of the virtual GPU that is exported to the host without a copy. Raises an error that is both a `BufferError` and
        a `NotImplementedError` for what DLPack cannot express: records, and strides that are no multiples of the item
        size.
        """
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, value: Any, /) -> GPUArray: ...
    def __format__(self, format: Any) -> str:
        """Default object formatter."""
    def __ge__(self, value: Any, /) -> GPUArray: ...
    def __getitem__(self, key: Any, /) -> GPUArray: ...
    # By the protocol of sequences: an index after the other.
    def __iter__(self) -> Iterator[GPUArray]: ...
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
        """Pickle the host copy, out of band by protocol 5; unpickling copies it to the device that is then current, or
        to that of the default context in a thread without one.
        """
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, value: Any, /) -> GPUArray: ...
    def __rlshift__(self, value: Any, /) -> GPUArray: ...
    def __rmatmul__(self, value: Any, /) -> GPUArray: ...
    def __rmod__(self, value: Any, /) -> GPUArray: ...
    def __rmul__(self, value: Any, /) -> GPUArray: ...
    def __ror__(self, value: Any, /) -> GPUArray: ...
    def __round__(self, ndigits: Any = None) -> Any:
        """The rounded element of an array without axes, such as a sum, as a number."""
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
        """Set all bytes to zero; used by `rtcg.numpy.zeros`."""
    def _expand_dims(self, axis: Any) -> GPUArray:
        """`numpy.expand_dims`, `moveaxis`, `flip` and `broadcast_to`, which are functions in NumPy."""
    def _flip(self, axis: Any) -> GPUArray: ...
    @property
    def _grid(self) -> bool: ...
    def _moveaxis(self, source: Any, destination: Any) -> GPUArray: ...
    def _new_like_me(self, dtype: Any = None, order: Any = "C") -> GPUArray:
        """PyCUDA's constructor of results: an array of the same shape with another dtype or order."""
    def __eq__(self, value: object, /) -> GPUArray: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> GPUArray: ...  # type: ignore[override]
    def __hash__(self) -> int: ...

@final
class ArrayFlags:
    """The memory layout of an array."""

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are in C order without gaps."""
    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are in Fortran order without gaps."""
    @property
    def forc(self) -> bool:
        """Whether the elements are in C or Fortran order without gaps."""
    def __getitem__(self, name: str, /) -> bool:
        """A flag by NumPy's name or its abbreviation."""
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
def array_fft(a: Any, kind: Any, n: Any, axis: Any, scale: Any, expressions: Any = ..., operands: Any = ...) -> Any: ...
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
def linalg_matmul(
    a: GPUArray,
    b: GPUArray,
    expression: str | None,
    operands: list[tuple[str, GPUArray]],
    dtype: Any,
    is_emulated: bool,
) -> GPUArray: ...
def linalg_solve(a: Any, b: Any) -> Any: ...
def linalg_solve_triangular(a: Any, b: Any, trans: Any, lower: Any, is_unit: Any) -> Any: ...
def linalg_lu_factor(a: Any) -> Any: ...
def linalg_lu_solve(lu: Any, piv: Any, b: Any, trans: Any) -> Any: ...
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
        """The limits of a device, as its driver reports them."""
    @staticmethod
    def from_compute_capability(major: int, minor: int) -> Multiprocessor:
        """The limits of a compute capability."""
    @staticmethod
    def known_compute_capabilities() -> list[tuple[int, int]]:
        """The known compute capabilities."""
    def limits(self) -> dict[str, int]:
        """All limits by name."""
    def occupancy(self, threads: int, registers: int, shared_bytes: int) -> tuple[int, int, float, str]:
        """`(blocks, warps, occupancy, limited_by)`, the last in PyCUDA's terms."""

def max_active_blocks(function: Function, threads: int, shared_bytes: int = 0) -> int: ...

# -- C types and generated kernels

def register_ctype(names: Sequence[str], dtype: np.dtype[Any]) -> np.dtype[Any]: ...
def dtype_of_c_name(name: str) -> np.dtype[Any]: ...
def c_name_of_dtype(dtype: np.dtype[Any]) -> str: ...

@final
class TypedSnippet:
    """A snippet whose types each call determines."""

    def __new__(cls, inputs: str, outputs: str, operation: str) -> TypedSnippet: ...
    @property
    def params(self) -> list[tuple[str, bool]]:
        """The names of the parameters and whether each is declared raw, with inputs first."""
    @property
    def n_inputs(self) -> int:
        """How many of the parameters are inputs."""
    def fill(
        self, given: list[tuple[np.dtype[Any] | None, bool]]
    ) -> tuple[list[tuple[bool, bool, np.dtype[Any], str]], str]:
        """``(arguments, operation)`` for the types of a call: for each parameter a dtype or None, and whether it is an
        array. Arguments, outputs first, are tuples as :func:`parse_declaration` returns them.
        """
    def restore_quotes(self, given: list[tuple[np.dtype[Any] | None, bool]], log: str) -> str:
        """A compiler's log about the operation for the types of a call, with the lines that the user wrote."""

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
        """The CUDA source for contiguous arrays (or a range), or for the given arguments of a call."""
    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """The texture reference `name`, which the preamble declares."""
    def _compiled_function(self, use_range: bool = False) -> Function: ...
    def _compiled_module(self, use_range: bool = False) -> Module: ...
    @property
    def source(self) -> str:
        """The CUDA source for contiguous arrays."""
    @property
    def name(self) -> str:
        """The kernel's name."""

# -- OpenGL

class RegisteredObject:
    def gl_handle(self) -> int:
        """The name of the object in OpenGL."""
    def unregister(self) -> None:
        """Return the object to OpenGL alone. Raises `LogicError` if called twice."""
    def set_map_flags(self, flags: int) -> None:
        """Declare by `graphics_map_flags` how kernels will use the object when it is next mapped."""
    def map(self, stream: Stream | None = None) -> RegisteredMapping:
        """Map the object for CUDA, in the order of `stream`: returns a `RegisteredMapping`."""

class RegisteredBuffer(RegisteredObject):
    def __init__(self, bufobj: int, flags: int = 0) -> None: ...

class RegisteredImage(RegisteredObject):
    def __init__(self, bufobj: int, target: int, flags: int = 0) -> None: ...

@final
class RegisteredMapping:
    def unmap(self, stream: Stream | None = None) -> None:
        """Return the object to OpenGL, in the order of `stream`. Raises `LogicError` if called twice."""
    def device_ptr_and_size(self) -> tuple[int, int]:
        """``(address, size in bytes)`` of a buffer."""
    def array(self, index: int, level: int) -> Array:
        """The `Array` of a layer and level of an image."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

def have_gl_ext() -> bool:
    """Whether CUDA and OpenGL can work together here, that is, whether the driver and the library are present."""

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
        """The allocator of results, or None for the default."""
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
    def _launch(self, args: tuple[Any, ...], size: int | None = None, stream: Stream | None = None) -> None: ...
    def get_source(self) -> str:
        """The CUDA source."""
    @property
    def source(self) -> str:
        """The CUDA source."""

def clear_workspaces() -> None:
    """Release the memory that reductions and scans keep for their launches."""

# -- random numbers

@final
class CounterGenerator:
    def __new__(cls, engine: str, key: int, stream: int) -> Self: ...
    def fill(self, draw: str, data: Any, p: float = 0.0, q: float = 1.0, stream: Stream | None = None) -> None: ...
    def fill_integers(self, data: Any, low: int, range: int, stream: Stream | None = None) -> None:
        """Random integers from `low` to ``low + range - 1``, both modulo 2^64; a `range` of 0 means all integers."""
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

class FusionError(TypeError):
    # Of the function that it was raised in, once that is known.
    line: int

def fuse_enter(traced: bool) -> None: ...
def fuse_leave(traced: bool) -> None: ...
def fuse_is_active() -> bool: ...
def fuse_flush() -> None: ...

@final
class WalkedSource:
    """A program as the compiler takes it, and what it depends on."""

    def __new__(cls, function: Callable[..., Any]) -> Self: ...
    def is_current(self) -> bool:
        """Whether no name that the program uses from outside has another value by now; does not look at files."""

def lang_surface(function: Callable[..., Any]) -> str:
    """The syntax tree of a function and of the programs that it calls, as text with the place of each node."""

@final
class LangProgram:
    """A Python function as a program of devices: compiled once for the types of its arguments."""

    def __new__(cls, function: Any, contract: bool) -> Self: ...
    def __call__(self, args: tuple[Any, ...]) -> Any:
        """The result for arguments, in the current context."""
    def program(self, args: tuple[Any, ...]) -> str:
        """The core program for arguments, after all passes, as text."""
    def plan(self, args: tuple[Any, ...]) -> str:
        """What it will do for arguments: kernels, what they read and write, and why anything is stored."""
    def stencils(self, args: tuple[Any, ...]) -> list[dict[str, Any]]:
        """The stencils among its statements for arguments, as dictionaries."""
    def sources(self, args: tuple[Any, ...]) -> list[str]:
        """The sources of its kernels for arguments."""

@final
class StencilProgram:
    """A Python function of fields, indexed by constant offsets."""

    def __new__(cls, function: Any, boundary: str, halo: str, constant: Any) -> Self: ...
    def __call__(self, args: tuple[Any, ...], outs: list[GPUArray] | None = None) -> Any:
        """The results, or those in `outs`; does not wait unless a scalar is on the device."""
    def iterate(self, args: tuple[Any, ...], steps: int) -> Any:
        """The fields after so many steps."""
    def source(self, args: tuple[Any, ...], is_iterated: bool) -> str:
        """The source of the kernel for arguments."""
    def model(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """What was recognised, for arguments: a dictionary."""

# -- Tuning and templates

@final
class Expression:
    def __new__(cls, text: str) -> Self: ...
    @property
    def names(self) -> list[str]: ...
    def __call__(self, names: dict[str, Any]) -> Any:
        """The value for these values of the names."""

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
        """The configuration with all defaults."""
    def check(self, config: dict[str, Any]) -> None:
        """Check that a configuration belongs to the space, else raise ValueError."""
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
        """Tell a score, or with `failure` why there is none."""
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
        """The problem by which results are looked up."""
    @property
    def current(self) -> dict[str, Any]:
        """The choice that the call ran with."""
    @property
    def rule(self) -> dict[str, Any]:
        """The choice of the default rule."""
    def shipped_incumbents(self, count: int) -> list[dict[str, Any]]:
        """The best shipped choices of the nearest device and problem."""
    def table(self) -> TuningTable:
        """All choices that kernels can run with."""
    def compile(self, config: dict[str, Any], call: Any) -> None:
        """Compile on this thread the kernels that a function needs with this choice; the function launches nothing."""
    def force(self, config: dict[str, Any], call: Any) -> Any:
        """Call a function with this choice in force."""

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
        """Add a trial, a dictionary as the tuner reports it. A trial that cannot be written is kept and tried again
        later.
        """
    def flush(self) -> None:
        """Write the trials that could not be written before."""
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
        """A recorder for the trials of one kernel, device and problem."""
    def read(self, kernel: TuningKernelKey) -> TuningRecords:
        """The results of a kernel, read from its files now."""
    def known(self, kernel: TuningKernelKey) -> TuningRecords:
        """The results of a kernel, read before or now, and those that this process added."""
    def refresh(self, kernel: TuningKernelKey) -> None:
        """Read again the results that other processes may have changed."""
    def kernels(self) -> list[TuningKernelKey]: ...
    def export_text(self) -> str: ...
    def t4_text(self, kernel: TuningKernelKey) -> tuple[str, int]:
        """The results of a kernel as a T4 file, and how many there are."""
    def merge(self, other: TuningStore) -> tuple[int, list[str]]:
        """`(results added, refused results)`"""
    def import_text(self, text: str) -> tuple[int, list[str]]:
        """`(results added, refused results)`"""
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
    ) -> tuple[dict[str, Any], float, str, str, bool] | None:
        """`(configuration, score, explanation, closeness, is_chosen)` of the result to use, or None."""
    def incumbents(
        self, device: TuningDevice, problem: dict[str, Any], count: int, accept: Any
    ) -> list[dict[str, Any]]:
        """The configurations to try first."""
    def promise(
        self, device: TuningDevice, problem: dict[str, Any], accept: Any, default: dict[str, Any]
    ) -> TuningPromise | None:
        """The expectation from the results of the nearest device and problem, or None."""
    def to_dicts(self) -> list[dict[str, Any]]:
        """All results as dictionaries."""

@final
class TuningPromise:
    """The expectation that results give."""

    def score_here(self, default_here: float | None) -> float | None:
        """The score expected here, or None, given the score of the default here."""

OBJECTIVE_NAME: str

@final
class TuningObjective:
    def __new__(
        cls, name: str, maximize: bool = False, bytes: float | None = None, flops: float | None = None
    ) -> TuningObjective: ...
    @staticmethod
    def column(name: str, maximize: bool) -> TuningObjective:
        """A column of trials, under any name."""
    @staticmethod
    def of_stored(name: str) -> TuningObjective:
        """The objective of the stored results with this name."""
    @property
    def stored_name(self) -> str | None:
        """The name that distinguishes results from times in the store; None for times."""
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
        """The value that a score represents."""
    def format(self, score: float) -> str:
        """The value that a score represents, with its unit."""

@final
class LaunchTimer:
    def __new__(cls, cold: bool, max_captured: int) -> LaunchTimer: ...
    def start_candidate(self, name: str) -> None:
        """Start timing the candidate with this name."""
    @property
    def window(self) -> str:
        """Set how windows of the present candidate are timed."""
    def time(self, launches: int, enqueue: Any) -> float:
        """The seconds per launch over `launches` launches; `enqueue(n)` makes n of them. Waits for the device."""

class TunedCall:
    def __init__(self, *_args: Any, **_kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def _forget_call(self) -> None: ...

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
    """The parameters of a kernel as declared in its source, or None; does not compile."""

def exit_with_peer(descriptor: int) -> None:
    """End this process, whatever it is doing, when the peer of the socket `descriptor` closes its end or exits."""

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
        """Cast the value to another type, given by its name in C or as a NumPy dtype."""
    def where(self, yes: _ExprOperand, no: _ExprOperand, /) -> Expr:
        """`self ? yes : no`; two numbers become literals of this expression's type."""
    def substitute(self, name: str, value: _ExprOperand, /) -> Expr:
        """This expression with every occurrence of a variable replaced."""

@final
class Var(Expr):
    """A variable; for a pointer or an array, `dtype` is the type of the elements."""

    def __new__(cls, name: str, dtype: DTypeLike | None = None) -> Self: ...

@final
class Names:
    """Unique names with a counter of their own, so that the same program gets the same names whenever it is built."""

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
    """A matrix in compressed sparse rows. It shares the arrays that it was made from."""

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
        """The same matrix with a plan for its products with vectors: "rows" of `lanes`, "merge", "hub" (with renumbered
        columns), or another format.
        """

    def features(self) -> tuple[int, float, int, int, int, list[float]]:
        """The features that a plan depends on: the longest row, the sum of squared lengths, the bandwidth, elements of
        slices of 32 rows, diagonals, and the fill of blocks of 2 to 6 rows and columns. Waits.
        """

    def compile_kernels(self) -> None:
        """Compile the kernels that products with vectors of this dtype may use."""

    def to_sell(self, sigma: int, max_fill: float) -> SellMatrix | None:
        """This matrix in SELL-32-sigma, or None if that would store more than `max_fill` times the elements. Waits."""

    def to_dia(self, max_diagonals: int) -> DiaMatrix | None:
        """This matrix by its diagonals, or None if it has more than `max_diagonals` or rows of more than 256 elements.
        Waits.
        """

    def to_bsr(self, size: int, max_fill: float) -> BsrMatrix | None:
        """This matrix in dense blocks of `size` rows and columns, or None if those have more than `max_fill` times the
        elements. Waits.
        """

    def row_extremes(self, is_largest: bool, ignores_nan: bool) -> tuple[GPUArray, GPUArray]:
        """The largest or smallest element of each row, and the first column that has it; does not wait."""

    def matmat(self, x: Any) -> GPUArray:
        """The product with a dense matrix; does not wait."""

    def matvec(self, x: Any, out: Any = None, accumulate: bool = False) -> GPUArray:
        """The product with a vector, in `out` or in a new array; does not wait."""

@final
class SellMatrix:
    """A matrix in slices of 32 rows; see `rtcg_sparse::Sell`."""

    @property
    def stored(self) -> int:
        """The number of stored elements, including the padding of slices."""

    @property
    def has_short_columns(self) -> bool:
        """Whether column indices have 16 bits."""

    @property
    def nbytes(self) -> int:
        """The number of bytes of the matrix that a product reads."""

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
        """The number of bytes of the matrix that a product reads."""

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
        """The rows of the matrix in packet order, their positions there, and the start of each packet."""

    def remainder(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """The rows and columns, in packet order, of elements outside all packets, and the indices of these elements."""

    def multiply_add(self, x: Any, y: Any) -> None:
        """Add the product of the packets and `x` to `y`; does not wait."""

def sparse_gallery(
    name: Any, lengths: Any, number: Any, seed: Any
) -> tuple[list[int], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
def sparse_check(shape: Any, indices: Any, indptr: Any) -> None: ...
def sparse_index_extremes(indices: Any) -> list[int] | None:
    """The smallest and the largest of int32 or int64 indices on the device, or None if there are none. Waits."""

@final
class NeighborIndex:
    """Points on the device, ready to search; see `rtcg_neighbors::BatchingIndex`."""

    def __new__(cls, vectors: GPUArray, metric: str, candidates: str) -> NeighborIndex: ...
    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and their dimension."""

    @property
    def vectors(self) -> GPUArray:
        """The points as stored."""

    def search(self, queries: GPUArray, k: int) -> tuple[GPUArray, GPUArray]:
        """Distances and indices of the nearest points of each query; waits to check the queries."""

    def search_batched(self, queries: GPUArray, k: int, is_host: bool) -> tuple[Any, Any]:
        """The same, merged into one search with the queries of other threads; NumPy arrays if `is_host`; waits."""

    def search_batched_host(self, queries: Any, k: int, is_host: bool) -> tuple[Any, Any] | None:
        """The same for a NumPy array with two axes, of float32 and in C order; None for anything else."""

    def radius_count(self, queries: GPUArray, radius: float) -> GPUArray:
        """The number of points within a radius of each query; waits to check the queries."""

class NcclError(RuntimeError):
    """A failed call of NCCL; `status` is its code."""

    status: int

@final
class Communicator:
    def __new__(cls, n_ranks: SupportsIndex, id: bytes, rank: SupportsIndex) -> Communicator: ...
    @staticmethod
    def _of_contexts(contexts: list[Context]) -> list[Communicator]: ...
    @staticmethod
    def _split_all(ranks: list[tuple[Communicator, int | None, int]]) -> list[Communicator | None]: ...
    @property
    def rank(self) -> int:
        """This rank."""
    @property
    def size(self) -> int:
        """The number of ranks."""
    @property
    def n_ranks(self) -> int:
        """The number of ranks, by the name of the parameter."""
    @property
    def device_id(self) -> int:
        """The ordinal of this rank's device."""
    @property
    def is_closed(self) -> bool:
        """Whether `close` or `abort` was called."""
    def all_reduce(
        self, a: GPUArray, out: GPUArray | None = None, op: str = "sum", stream: Stream | None = None
    ) -> GPUArray:
        """Combine the arrays of all ranks, for all ranks.

        Parameters
        ----------
        a : GPUArray
            A contiguous array, of one size and dtype on all ranks.
        out : GPUArray, optional
            The result, of the size and dtype of `a`; may be `a`.
        op : {"sum", "prod", "max", "min", "avg"}
            How: in rank order on virtual devices, in an order of NCCL's own on others. The mean of floating-point
            numbers is the sum of ``x / n``; that of integers is rounded towards zero. Complex numbers have "sum" and
            "avg" only; 16-bit integers have none.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `out`, or a new array of the shape of `a`.
        """
    def reduce(
        self,
        a: GPUArray,
        out: GPUArray | None = None,
        op: str = "sum",
        root: SupportsIndex = 0,
        stream: Stream | None = None,
    ) -> GPUArray | None:
        """Combine the arrays of all ranks for one rank.

        Parameters
        ----------
        a, out, op, stream
            As in `all_reduce`; `out` is used on the rank `root` only.
        root : int
            The rank that gets the result.

        Returns
        -------
        GPUArray or None
            The result on the rank `root`, None on others.
        """
    def broadcast(self, a: GPUArray, root: SupportsIndex = 0, stream: Stream | None = None) -> GPUArray:
        """Copy the array of one rank to the arrays of all others.

        Parameters
        ----------
        a : GPUArray
            What is sent on the rank `root`, and where it is received on others; contiguous.
        root : int
            The rank that sends.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `a`.
        """
    def all_gather(self, a: GPUArray, out: GPUArray | None = None, stream: Stream | None = None) -> GPUArray:
        """Gather the arrays of all ranks, in the order of ranks, for all ranks.

        Parameters
        ----------
        a : GPUArray
            A contiguous array, of one size and dtype on all ranks; may be this rank's part of `out`.
        out : GPUArray, optional
            The result: ``size`` times as many elements.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `out`, or a new array of the shape ``(size, *a.shape)``.
        """
    def reduce_scatter(
        self, a: GPUArray, out: GPUArray | None = None, op: str = "sum", stream: Stream | None = None
    ) -> GPUArray:
        """Combine the arrays of all ranks, and give each rank its part.

        Parameters
        ----------
        a : GPUArray
            A contiguous array of ``size`` parts; without `out` it has a first axis of that length.
        out : GPUArray, optional
            This rank's part of the result; may be this rank's part of `a`.
        op, stream
            As in `all_reduce`.

        Returns
        -------
        GPUArray
            `out`, or a new array of the shape ``a.shape[1:]``.
        """
    def all_to_all(self, a: GPUArray, out: GPUArray | None = None, stream: Stream | None = None) -> GPUArray:
        """Send part ``i`` of each rank's array to rank ``i``.

        Parameters
        ----------
        a : GPUArray
            A contiguous array of ``size`` parts.
        out : GPUArray, optional
            The parts of all ranks for this one: another array of the size of `a`.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `out`, or a new array of the shape of `a`.
        """
    def gather(
        self, a: GPUArray, out: GPUArray | None = None, root: SupportsIndex = 0, stream: Stream | None = None
    ) -> GPUArray | None:
        """Gather the arrays of all ranks for one rank.

        Parameters
        ----------
        a, out, stream
            As in `all_gather`; `out` is used on the rank `root` only.
        root : int
            The rank that gets the result.

        Returns
        -------
        GPUArray or None
            The result on the rank `root`, None on others.
        """
    def scatter(
        self,
        a: GPUArray | None,
        out: GPUArray | None = None,
        root: SupportsIndex = 0,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Give each rank its part of the array of one rank.

        Parameters
        ----------
        a : GPUArray or None
            A contiguous array of ``size`` parts; used on the rank `root` only.
        out : GPUArray
            Where this rank receives its part; may be omitted on the rank `root`.
        root : int
            The rank that sends.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `out`, or on the rank `root` a new array of the shape ``a.shape[1:]``.
        """
    def send(self, a: GPUArray, peer: SupportsIndex, stream: Stream | None = None) -> None:
        """Send an array to one rank, which calls `recv`.

        Several ranks of one thread, and ranks that send to each other, do so in a `group`.

        Parameters
        ----------
        a : GPUArray
            A contiguous array.
        peer : int
            The rank that receives.
        stream : Stream, optional
            Where to enqueue it.
        """
    def recv(self, a: GPUArray, peer: SupportsIndex, stream: Stream | None = None) -> GPUArray:
        """Receive an array from one rank, which calls `send` with as many bytes.

        Parameters
        ----------
        a : GPUArray
            Where it is received: a contiguous array.
        peer : int
            The rank that sends.
        stream : Stream, optional
            Where to enqueue it.

        Returns
        -------
        GPUArray
            `a`.
        """
    def split(self, color: int | None, key: SupportsIndex = 0) -> Communicator | None:
        """Split the communicator. Waits for all ranks.

        Parameters
        ----------
        color : int or None
            Ranks with one colour are a new communicator; None for a rank that takes no part.
        key : int, optional
            The order of ranks in it; ranks with one key keep their order.

        Returns
        -------
        Communicator or None
            The new one; None for a rank that takes no part.
        """
    def shrink(self, excluded: Sequence[int], abort: bool = False) -> Communicator:
        """Make a communicator without some ranks. Waits for those that remain, which all call it.

        Parameters
        ----------
        excluded : sequence of int
            The ranks that are left out.
        abort : bool, optional
            First end the work of this communicator: needed when a rank has died.

        Returns
        -------
        Communicator
            The new one; ranks keep their order.
        """
    def wait(self, stream: Stream | None = None, timeout: float | None = None) -> None:
        """Wait until the work in a stream is done, and notice when a rank fails meanwhile.

        If one does, or the time is over, all communicators of this process that were made together are aborted.

        Parameters
        ----------
        stream : Stream, optional
            The stream; the current one without it.
        timeout : float, optional
            Seconds to wait; without it, as long as it takes.

        Raises
        ------
        NcclError
            What failed, or that the time is over.
        """
    def check_async_error(self) -> None:
        """Raise what went wrong in work that was enqueued. Does not wait."""
    def close(self) -> None:
        """Wait for the communicator's work, then destroy it; later calls of it fail, but for this one."""
    def abort(self) -> None:
        """End the communicator's work, and the communicator, at once."""
    def __enter__(self) -> Communicator: ...
    def __exit__(self, *exception: object) -> None: ...
    def _register(self, a: GPUArray) -> int: ...
    def _deregister(self, registration: int) -> None: ...
    def _enqueue(
        self,
        what: str,
        sent: int,
        received: int,
        count: int,
        dtype: int,
        op: int,
        peer: int,
        stream: int,
    ) -> None: ...

@final
class NcclGroup:
    """Calls of a thread in a ``with`` block, which take effect together at its end."""

    def __new__(cls) -> NcclGroup: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...

def nccl_group_start() -> None: ...
def nccl_group_end() -> None: ...
def nccl_unique_id() -> bytes: ...
def nccl_abort_unfinished() -> None:
    """Abort communicators whose work waits, so that the program can end."""

def nccl_version() -> int: ...

class LibraryError(RuntimeError):
    """A failed call of a library; `status` is its code (None without a call), `status_name` the name of that."""

    status: int | None
    status_name: str | None

class CublasError(LibraryError):
    """A failed call of cuBLAS."""

class CufftError(LibraryError):
    """A failed call of cuFFT."""

class CusolverError(LibraryError):
    """A failed call of cuSOLVER."""

@final
class CublasHandle:
    def __new__(cls) -> CublasHandle: ...
    @property
    def handle(self) -> int:
        """The handle of the library as an integer, set to the current stream."""
    @property
    def version(self) -> tuple[int, int]:
        """The library's version, ``(major, minor)``."""
    @property
    def math_mode(self) -> int:
        """Which arithmetic functions may use that have no `compute`: a value of ``cublasMath_t``."""
    @math_mode.setter
    def math_mode(self, mode: int) -> None: ...

@final
class CusolverHandle:
    def __new__(cls) -> CusolverHandle: ...
    @property
    def handle(self) -> int:
        """The handle of the library as an integer, set to the current stream."""
    @property
    def version(self) -> tuple[int, int]:
        """The library's version, ``(major, minor)``."""

@final
class CufftPlan:
    def __new__(
        cls,
        lengths: Sequence[int],
        kind: str,
        batch: int = 1,
        embeddings: Sequence[tuple[Sequence[int], int, int]] | None = None,
    ) -> CufftPlan: ...
    @property
    def handle(self) -> int:
        """The handle of the library as an integer."""
    @property
    def work_bytes(self) -> int:
        """The bytes of its work area."""
    def set_work_area(self, area: GPUArray | None) -> None:
        """Use the memory of an array as work area from now on; None takes memory of the pool for each transform."""
    def execute(self, x: GPUArray, out: GPUArray | None = None, inverse: bool = False) -> GPUArray:
        """Transform an array, without waiting; nothing is divided.

        Parameters
        ----------
        x : GPUArray
            The input, contiguous in row-major order. A transform from complex to real numbers overwrites it.
        out : GPUArray, optional
            The result; may be `x`.
        inverse : bool
            The direction, between complex numbers.

        Returns
        -------
        GPUArray
            `out`, or a new array of the plan's shape. Complex numbers of 16 bits are pairs in a last axis.
        """

_Product: TypeAlias = tuple[Any, Any, str, str, str]

def cublas_gemm(
    a: GPUArray, b: GPUArray, out: GPUArray | None, product: _Product, is_batched: bool, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_gemm_batched(
    a: Sequence[GPUArray], b: Sequence[GPUArray], product: _Product, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_matmul(
    a: GPUArray,
    b: GPUArray,
    out: GPUArray | None,
    product: _Product,
    bias: GPUArray | None,
    activation: str | None,
    workspace_bytes: int,
    algorithm: int,
    handle: CublasHandle | None,
) -> GPUArray: ...
def cublas_matmul_algorithms(
    a: GPUArray,
    b: GPUArray,
    product: _Product,
    bias: GPUArray | None,
    activation: str | None,
    workspace_bytes: int,
    handle: CublasHandle | None,
) -> list[tuple[int, float]]:
    """The proposed algorithms as pairs: bytes of workspace, and waves."""

def cublas_gemv(
    a: GPUArray, x: GPUArray, out: GPUArray | None, product: _Product, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_geam(
    a: GPUArray, b: GPUArray, out: GPUArray | None, product: _Product, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_trsm(
    a: GPUArray,
    b: GPUArray,
    alpha: Any,
    is_right: bool,
    is_lower: bool,
    trans: str,
    is_unit: bool,
    handle: CublasHandle | None,
) -> None: ...
def cublas_syrk(
    a: GPUArray, out: GPUArray | None, product: _Product, is_lower: bool, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_getrf_batched(a: GPUArray, handle: CublasHandle | None) -> tuple[GPUArray, ...]: ...
def cublas_getrs_batched(
    lu: GPUArray, piv: GPUArray, b: GPUArray, trans: str, handle: CublasHandle | None
) -> GPUArray: ...
def cublas_axpy(alpha: Any, x: GPUArray, y: GPUArray, handle: CublasHandle | None) -> None: ...
def cublas_scal(alpha: Any, x: GPUArray, handle: CublasHandle | None) -> None: ...
def cublas_dot(
    x: GPUArray, y: GPUArray, conjugates: bool, out: GPUArray | None, handle: CublasHandle | None
) -> Any: ...
def cublas_nrm2(x: GPUArray, out: GPUArray | None, handle: CublasHandle | None) -> Any: ...
def cublas_amax(x: GPUArray, handle: CublasHandle | None) -> int: ...
def cusolver_potrf(a: GPUArray, is_lower: bool, handle: CusolverHandle | None) -> tuple[GPUArray, ...]: ...
def cusolver_potrs(c: GPUArray, b: GPUArray, is_lower: bool, handle: CusolverHandle | None) -> GPUArray: ...
def cusolver_getrf(a: GPUArray, handle: CusolverHandle | None) -> tuple[GPUArray, ...]: ...
def cusolver_getrs(lu: GPUArray, piv: GPUArray, b: GPUArray, trans: str, handle: CusolverHandle | None) -> GPUArray: ...
def cusolver_geqrf(a: GPUArray, handle: CusolverHandle | None) -> tuple[GPUArray, ...]: ...
def cusolver_ormqr(
    qr: GPUArray, tau: GPUArray, c: GPUArray, is_right: bool, trans: str, handle: CusolverHandle | None
) -> GPUArray: ...
def cusolver_gesvd(
    a: GPUArray, full_matrices: bool, compute_uv: bool, handle: CusolverHandle | None
) -> tuple[GPUArray, ...]: ...
def cusolver_gesvdj(
    a: GPUArray, full_matrices: bool, tolerance: float | None, max_sweeps: int | None, handle: CusolverHandle | None
) -> tuple[GPUArray, ...]: ...
def cusolver_syevd(
    a: GPUArray, is_lower: bool, compute_v: bool, handle: CusolverHandle | None
) -> tuple[GPUArray, ...]: ...
def cusolver_syevj(
    a: GPUArray,
    is_lower: bool,
    compute_v: bool,
    tolerance: float | None,
    max_sweeps: int | None,
    handle: CusolverHandle | None,
) -> tuple[GPUArray, ...]: ...
def cusolver_geev(a: GPUArray, compute_v: bool, handle: CusolverHandle | None) -> tuple[GPUArray, ...]: ...
def cusolver_gesv(a: GPUArray, b: GPUArray, handle: CusolverHandle | None) -> tuple[GPUArray, ...]: ...
def library_signatures(name: str) -> list[tuple[str, int, list[tuple[str, str, str, int]]]]:
    """The declared functions, with their parameters: names, kinds, types of numbers, counts of numbers."""

def library_load(name: str) -> tuple[pathlib.Path, int, list[str]]:
    """The library of this process, opened now: its file, its version, and the declared functions that it has."""

def library_call(name: str, function: str, words: Sequence[int], instead: str) -> None:
    """Call a function of C by its name: one 64-bit word for each argument."""

def library_constants(name: str) -> dict[str, int]:
    """The constants of a library, by their C names."""

def segmented_reduce(values: GPUArray, offsets: GPUArray, op: str, dtype: object) -> GPUArray:
    """The reduction of each segment."""

def segmented_scan(values: GPUArray, offsets: GPUArray, op: str, is_exclusive: bool, dtype: object) -> GPUArray:
    """The scan of each segment."""

def segmented_sort(values: GPUArray, offsets: GPUArray, is_descending: bool) -> tuple[GPUArray, GPUArray]:
    """The sorted elements of each segment, and their indices."""

def run_offsets(values: GPUArray) -> GPUArray:
    """The start of each run of equal elements, followed by the total length."""

def run_length_encode(values: GPUArray) -> tuple[GPUArray, GPUArray]:
    """The element and the length of each run of equal elements."""

def run_length_decode(values: GPUArray, counts: GPUArray) -> GPUArray:
    """Each element, repeated as its count says."""

def reduce_by_key(keys: GPUArray, values: GPUArray, op: str, dtype: object) -> tuple[GPUArray, GPUArray]:
    """The key of each run and the reduction of its values."""

def unique_by_key(keys: GPUArray, values: GPUArray) -> tuple[GPUArray, GPUArray]:
    """The first key of each run and its value."""

def specialize_category_reduce(
    values: GPUArray,
    labels: GPUArray,
    n_labels: int,
    op: str,
    neutral: str | None,
    dtype: object,
    weights: GPUArray | None,
    is_ordered: bool,
    has_known_labels: bool = False,
) -> GPUArray:
    """The reduction of the values of each label; with a neutral element, `op` is an expression."""

def specialize_histogram(x: GPUArray, edges: GPUArray, bins_per_unit: float, weights: GPUArray | None) -> GPUArray:
    """Elements between edges, or sums of their weights."""

def specialize_kmeans(
    x: GPUArray,
    k: int,
    init: str,
    centers: GPUArray | None,
    n_init: int,
    max_iter: int,
    tol: float,
    dtype: object,
    weights: GPUArray | None,
    seed: int,
) -> tuple[GPUArray, GPUArray, float, int]:
    """Centres, labels, inertia and iterations of k-means; without `centers`, `init` says how they are chosen."""

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
    """Distances and indices of the nearest points; waits to check points and queries."""

def neighbors_radius_count(queries: GPUArray, points: GPUArray, radius: float, metric: str) -> GPUArray:
    """The number of points within a radius of each query; waits to check points and queries."""

def neighbors_topk(values: GPUArray, k: int, is_largest: bool) -> tuple[GPUArray, GPUArray]:
    """The largest or smallest elements along the last axis, and their indices; does not wait."""

def sparse_multiply(a: CsrMatrix, b: CsrMatrix, has_thread_rows: bool | None = None) -> list[GPUArray]:
    """The parts of the product of two matrices, computed by one thread or by warps and blocks per row; None chooses
    for the device. Waits three times, for numbers of elements.
    """

def sparse_combine(a: CsrMatrix, b: CsrMatrix, op: str) -> list[GPUArray]:
    """The parts of a function of two canonical matrices, without zeros: "add", "subtract", "multiply", "maximum",
    "minimum", "ne", "lt", "gt"; waits once.
    """

def sparse_has_sorted_indices(a: CsrMatrix, is_strict: bool) -> bool:
    """Whether the indices are in ascending order within each row, strictly or not; waits."""

def sparse_sddmm(a: CsrMatrix, x: Any, y: Any, scalars: Any) -> GPUArray:
    """Elements of the product of two dense matrices at the positions of a sparse matrix: times its elements, or
    scaled by `alpha` and added to these, scaled by `beta`; does not wait.
    """

def sparse_argsort(keys: Any, limit: int) -> GPUArray:
    """The indices that stably sort a vector of integers from 0 to ``limit - 1``; does not wait."""

def sparse_component_roots(a: CsrMatrix) -> GPUArray:
    """For each node, the smallest node of its component, with undirected edges; does not wait."""

def sparse_strong_components(graph: Any) -> tuple[int, NDArray[np.int32]]:
    """The number of strongly connected components of a graph on the host, and the component of each node."""

def sparse_breadth_first_order(graph: Any, back: Any, start: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The nodes of a graph on the host in breadth-first order, and the predecessor of each."""

def sparse_reverse_cuthill_mckee(graph: Any) -> NDArray[np.int32]:
    """An order of a symmetric structure on the host that makes its bandwidth small."""

def sparse_check_device(shape: Any, indices: Any, indptr: Any) -> list[int]:
    """Check a structure on the device; returns the number of elements and that of the longest row; waits once."""

@final
class VCycle:
    """A V-cycle of a multigrid hierarchy."""

    def __new__(cls, levels: Any, coarsest: Any, sweeps: Any) -> Self: ...
    def matvec(self, x: Any) -> GPUArray:
        """The cycle applied to a vector; does not wait."""

@final
class Triangular:
    """An analysed triangle of a matrix; see `rtcg_sparse::Triangular`."""

    @property
    def levels(self) -> int:
        """The number of levels of rows that must be solved one after the other."""

    def solve(self, b: Any) -> GPUArray:
        """The solution for a vector or for each column of a matrix; does not wait."""

    def transposed(self, conjugated: bool) -> Self:
        """The transposed triangle, or the adjoint one; waits."""

@final
class TriangularFactors:
    """Two analysed triangles; see `rtcg_sparse::TriangularFactors`."""

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
    """The triangle of a matrix as an object, or None if columns are not sorted. Waits."""

def sparse_incomplete(matrix: Any, is_cholesky: bool) -> TriangularFactors | None:
    """Incomplete factors: ILU(0), or IC(0) of a lower triangle; None if columns are not sorted. Waits."""

def sparse_colours(matrix: Any) -> tuple[GPUArray, int] | None:
    """Colours of rows, counted from 1, and their number; None if columns are not sorted. Waits."""

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
    """Eigenvalues of an operator for vectors of `dtype`: values, vectors, and a report."""

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
    """Eigenvalues of an operator problem, from a block of vectors: values, vectors, and a report."""
