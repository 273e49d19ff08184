"""Device memory that processes of one machine share: it is kept as long as one of them uses it.

Establishes: a process that shares memory has a *lease file*, which is anonymous and in memory; others of the same user
open it through ``/proc``. Each array that was sent is a lease: a record of the file, and an entry in the table of the
process, which holds the array. Who uses the memory holds a shared lock of the record, and the owner holds one of the
first record. The kernel ends locks with their process, however that ends, so nothing is left behind by anyone. The
owner ends a lease that was received and that nobody has locked; a number that is never reused lets late receivers see
that.

Locks are those of `fcntl.lockf`, which belong to processes, so that forked children hold none. Closing any descriptor
of a file ends all locks of it that the process has: each lease file is opened once.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import errno
import fcntl
import os
import queue
import struct
import threading
import time
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from rtcg import _native, devices, driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    import numpy as np

    from rtcg._native import GPUArray

#: A record: the number of the lease, or 0, and whether it was received. The first record is the file's token.
_RECORD = struct.Struct("=QQ")
_RECEIVED_OFFSET = 8
_TOKEN_BYTES = _RECORD.size
#: How often leases are looked at that wait for consumers: at first, and at last when nothing happens.
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.1
#: Blocks without users stay open for so long, at most so many, since the next array is often in one of them.
_IDLE_S, _MAX_IDLE_BLOCKS = 2.0, 64
_MAX_OPEN_EVENTS = 64
#: How long a process that is killed may take to end after its memory has.
_END_OF_PROCESS_S = 2.0


class LeaseError(RuntimeError):
    """Memory of another process is no longer there: its owner has ended, or has ended the lease."""


class FileAddress(NamedTuple):
    """Where another process finds a lease file: a process, its descriptor, and what the file begins with."""

    pid: int
    fd: int
    token: bytes


class LeaseAddress(NamedTuple):
    """A lease, as other processes know it."""

    file: FileAddress
    slot: int
    number: int


class SharedArray(NamedTuple):
    """What a process needs to use an array of another one. `handle` is of the whole block that the array lies in."""

    lease: LeaseAddress
    #: A lease of the process that sent the array on, until it arrives; None where that is the owner.
    transit: LeaseAddress | None
    bus_id: str
    handle: bytes
    offset: int
    #: An interprocess event of the sender behind its pending work; None when there was none.
    event: bytes | None
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]


def _try_lock(fd: int, kind: int, position: int) -> bool:
    try:
        fcntl.lockf(fd, kind | fcntl.LOCK_NB, 1, position)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def _unlock(fd: int, position: int) -> None:
    fcntl.lockf(fd, fcntl.LOCK_UN, 1, position)


def _gone(pid: int) -> LeaseError:
    return LeaseError(
        f"process {pid}, which sent the array, has ended (or is of another user or PID namespace); a process has to "
        "outlive what others use of its memory: it can wait with rtcg.multiprocessing.wait_for_consumers(), or send "
        "array.get()"
    )


# -- the owner's side


@dataclass
class _Entry:
    """A lease of this process: what it keeps."""

    array: GPUArray
    number: int
    #: Kept for transports whose consumers come one after another: ends with `Owner.unpin`.
    is_pinned: bool
    #: Leases of other processes that the array itself needs.
    needs: Any = None
    event: _PooledEvent | None = None
    begun: float = field(default_factory=time.monotonic)


class _PooledEvent:
    """An interprocess event, which one lease after another records: each of them until it has ended."""

    _free: collections.defaultdict[driver.Context, list[_PooledEvent]] = collections.defaultdict(list)

    def __init__(self, context: driver.Context) -> None:
        self.context = context
        self.event = driver.Event(driver.event_flags.INTERPROCESS | driver.event_flags.DISABLE_TIMING)
        self.handle = bytes(self.event.ipc_handle())

    @classmethod
    def recorded_in(cls, stream: int) -> _PooledEvent:
        """An event at the present end of a stream of the current context."""
        context = driver.Context.get_current()
        assert context is not None
        free = cls._free[context]
        made = free.pop() if free else cls(context)
        made.event.record(driver.Stream.from_handle(stream))
        return made

    def give_back(self) -> None:
        self._free[self.context].append(self)


class Owner:
    """The leases of this process."""

    def __init__(self) -> None:
        fd = os.memfd_create("rtcg leases", os.MFD_CLOEXEC)
        self.file = FileAddress(os.getpid(), fd, os.urandom(_TOKEN_BYTES))
        os.pwrite(fd, self.file.token, 0)
        fcntl.lockf(fd, fcntl.LOCK_EX, 1, 0)
        self.entries: dict[int, _Entry] = {}
        self._free_slots: list[int] = []
        self._n_slots = 1
        self._next_number = 1
        self._collected = 0.0

    def grant(self, entry: _Entry) -> LeaseAddress:
        slot = self._free_slots.pop() if self._free_slots else self._n_slots
        self._n_slots = max(self._n_slots, slot + 1)
        entry.number, self._next_number = self._next_number, self._next_number + 1
        os.pwrite(self.file.fd, _RECORD.pack(entry.number, 0), slot * _RECORD.size)
        self.entries[slot] = entry
        return LeaseAddress(self.file, slot, entry.number)

    def entry_of(self, lease: LeaseAddress) -> _Entry | None:
        entry = self.entries.get(lease.slot)
        return entry if entry is not None and entry.number == lease.number else None

    def mark_received(self, slot: int) -> None:
        os.pwrite(self.file.fd, b"\1", slot * _RECORD.size + _RECEIVED_OFFSET)

    def received_marks(self) -> dict[int, bool]:
        """Which leases were received."""
        marks = os.pread(self.file.fd, self._n_slots * _RECORD.size, 0)
        return {slot: bool(marks[slot * _RECORD.size + _RECEIVED_OFFSET]) for slot in self.entries}

    def end(self, slot: int) -> _Entry | None:
        """End a lease, unless somebody uses it; the caller drops the entry after it has let go of the lock."""
        fd, position = self.file.fd, slot * _RECORD.size
        if not _try_lock(fd, fcntl.LOCK_EX, position):
            return None
        os.pwrite(fd, bytes(_RECORD.size), position)
        _unlock(fd, position)
        self._free_slots.append(slot)
        entry = self.entries.pop(slot)
        if entry.event is not None:
            entry.event.give_back()
        return entry

    def collect(self, at_most_every_s: float = 0.0) -> list[_Entry]:
        """End the leases whose consumers are done."""
        now = time.monotonic()
        if now - self._collected < at_most_every_s:
            return []
        self._collected = now
        marks = self.received_marks()
        slots = [slot for slot, entry in self.entries.items() if marks[slot] and not entry.is_pinned]
        return [entry for slot in slots if (entry := self.end(slot)) is not None]


# -- the consumer's side


class _Peer:
    """The lease file of another process."""

    def __init__(self, address: FileAddress) -> None:
        self.address = address
        try:
            # What a descriptor of a later process of this number is must not make this wait.
            self.fd = os.open(f"/proc/{address.pid}/fd/{address.fd}", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            raise _gone(address.pid) from None
        self.held: collections.Counter[int] = collections.Counter()
        self.n_blocks = 0
        self.events: dict[bytes, driver.Event] = {}
        try:
            is_it = os.pread(self.fd, _TOKEN_BYTES, 0) == address.token
        except OSError:  # What is no file of bytes.
            is_it = False
        if not is_it:
            os.close(self.fd)
            raise _gone(address.pid)

    def is_alive(self) -> bool:
        if _try_lock(self.fd, fcntl.LOCK_SH, 0):
            _unlock(self.fd, 0)
            return False
        return True

    def require_alive(self) -> None:
        if not self.is_alive():
            raise _gone(self.address.pid)

    def explain(self, error: driver.Error) -> NoReturn:
        """Raise `error` of the driver, unless the process is gone: the memory of one that is killed ends first."""
        limit = time.monotonic() + _END_OF_PROCESS_S
        while time.monotonic() < limit:
            self.require_alive()
            time.sleep(1e-3)
        raise error

    def take(self, lease: LeaseAddress) -> bool:
        """Hold a lease, and note that it was received; False if it has ended."""
        position = lease.slot * _RECORD.size
        if not self.held[lease.slot] and not _try_lock(self.fd, fcntl.LOCK_SH, position):
            return False
        if _RECORD.unpack(os.pread(self.fd, _RECORD.size, position))[0] != lease.number:
            if not self.held[lease.slot]:
                _unlock(self.fd, position)
            return False
        self.held[lease.slot] += 1
        os.pwrite(self.fd, b"\1", position + _RECEIVED_OFFSET)
        return True

    def release(self, slot: int) -> None:
        self.held[slot] -= 1
        if not self.held[slot]:
            del self.held[slot]
            _unlock(self.fd, slot * _RECORD.size)

    def wait_for(self, handle: bytes) -> None:
        """Wait for an event of this process."""
        event = self.events.pop(handle, None)
        if event is None:
            try:
                event = driver.Event.from_ipc_handle(handle)
            except driver.LogicError as error:
                self.explain(error)
        self.events[handle] = event  # The last is the one that was used last.
        if len(self.events) > _MAX_OPEN_EVENTS:
            del self.events[next(iter(self.events))]
        # After the end of its process, an event of a GPU never occurs, and one of a virtual GPU has occurred, though
        # the work before it was not done.
        pause = 1e-5
        while not event.query():
            self.require_alive()
            time.sleep(pause)
            pause = min(2 * pause, 1e-3)
        self.require_alive()


class _Block:
    """A block of another process, open in a context of this one."""

    def __init__(self, peer: _Peer, context: driver.Context, handle: bytes) -> None:
        try:
            self.memory = driver.IPCMemoryHandle(handle)
        except driver.LogicError as error:
            peer.explain(error)
        self.peer, self.context, self.handle = peer, context, handle
        self.address = int(self.memory)
        self.n_users = 0
        self.idle_since = 0.0
        #: What arrays in it hold; one of them goes along when an array is sent on.
        self.memories: weakref.WeakSet[ReceivedMemory] = weakref.WeakSet()


class ReceivedMemory:
    """Memory of another process: an address, as `GPUArray` takes it; the lease ends with the object.

    That is, when all work is done that was submitted to the context until then.
    """

    __slots__ = ("__weakref__", "_address", "block", "lease")

    def __init__(self, block: _Block, lease: LeaseAddress, offset: int) -> None:
        self.block, self.lease, self._address = block, lease, block.address + offset

    def get_pointer(self) -> int:
        """The device address."""
        return self._address

    __int__ = __index__ = get_pointer

    def __repr__(self) -> str:
        return f"<{self._address:#x}, memory of process {self.lease.file.pid}>"

    def __del__(self) -> None:
        # May run at any time, so that it takes no lock.
        _keeper.finished.put((self.block, self.lease.slot))


# -- what both sides share


class _State:
    """What a process shares and uses. A forked child has one of its own, and leaves its parent's alone."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner: Owner | None = None
        self.peers: dict[bytes, _Peer] = {}
        self.blocks: dict[tuple[int, bytes], _Block] = {}
        self.blocks_by_address: dict[int, _Block] = {}

    def own(self) -> Owner:
        if self.owner is None:
            self.owner = Owner()
        return self.owner

    def peer(self, address: FileAddress) -> _Peer:
        peer = self.peers.get(address.token)
        if peer is None:
            peer = self.peers[address.token] = _Peer(address)
        peer.require_alive()
        return peer

    def open_block(self, peer: _Peer, handle: bytes) -> _Block:
        """The block of a handle, in the current context."""
        context = driver.Context.get_current()
        assert context is not None
        key = context.handle, handle
        block = self.blocks.get(key)
        if block is None or not block.context.is_alive:
            block = self.blocks[key] = _Block(peer, context, handle)
            self.blocks_by_address[block.address] = block
            peer.n_blocks += 1
        return block

    def idle_blocks(self) -> list[_Block]:
        return sorted((block for block in self.blocks.values() if not block.n_users), key=lambda b: b.idle_since)

    def forget_block(self, block: _Block) -> None:
        del self.blocks[block.context.handle, block.handle]
        if self.blocks_by_address.get(block.address) is block:
            del self.blocks_by_address[block.address]
        block.peer.n_blocks -= 1

    def forget_unused_peers(self) -> None:
        for token, peer in list(self.peers.items()):
            if not peer.n_blocks and not peer.held:
                del self.peers[token]
                os.close(peer.fd)


class _Keeper:
    """The thread that ends leases: of consumers when their work is done, of the owner when its consumers are."""

    def __init__(self) -> None:
        #: Of memory that is no longer used here; None wakes the thread, True ends it. Its `put` may interrupt itself.
        self.finished: queue.SimpleQueue[tuple[_Block, int] | bool | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        #: Whether the thread waits for the queue alone.
        self._is_idle = False
        self._probes: dict[int, tuple[driver.Stream, GPUArray]] = {}

    def wake(self) -> None:
        """Let the thread look after something new, which was added under the lock."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="rtcg leases", daemon=True)
            self._thread.start()
            # Threads that wait in the driver must not be there when the interpreter ends.
            atexit.register(self.stop)
        if self._is_idle:
            self._is_idle = False
            self.finished.put(None)

    def stop(self) -> None:
        """End the thread, and close what is open and unused."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self.finished.put(True)
            thread.join(10)

    def _run(self) -> None:
        waiting: list[tuple[_Block, int]] = []
        pause = _SHORTEST_PAUSE_S
        is_stopped = False
        while not is_stopped:
            with _state.lock:
                self._is_idle = not (waiting or _state.blocks or (_state.owner and _state.owner.entries))
            with contextlib.suppress(queue.Empty):
                item = self.finished.get(timeout=None if self._is_idle else pause)
                while True:
                    if isinstance(item, tuple):
                        waiting.append(item)
                    is_stopped = is_stopped or item is True
                    pause = _SHORTEST_PAUSE_S
                    del item
                    item = self.finished.get_nowait()
            waiting = self._end_uses(waiting)
            self._close_idle_blocks(0 if is_stopped else _MAX_IDLE_BLOCKS)
            with _state.lock:
                dropped = _state.owner.collect() if _state.owner else []
            pause = _SHORTEST_PAUSE_S if dropped else min(2 * pause, _LONGEST_PAUSE_S)
            del dropped
            # What ends meanwhile is looked after together, and does not interrupt other threads each time.
            time.sleep(0 if is_stopped else _SHORTEST_PAUSE_S)

    def _end_uses(self, waiting: list[tuple[_Block, int]]) -> list[tuple[_Block, int]]:
        """End leases of memory that no array here is in; returns those whose context is being captured."""
        if not waiting:
            return waiting
        for context in {block.context for block, _ in waiting}:
            if not self._wait_for(context):
                return waiting
        with _state.lock:
            for block, slot in waiting:
                block.peer.release(slot)
                block.n_users -= 1
                block.idle_since = time.monotonic()
        return []

    def _wait_for(self, context: driver.Context) -> bool:
        """Wait until the work of a context is done; False while a stream is captured, which that would spoil."""
        if not context.is_alive:
            return True
        # A sticky error of the context means that nothing runs any more.
        with contextlib.suppress(driver.Error), context:
            if self._is_capturing(context):
                return False
            driver.Context.synchronize()
        return True

    def _is_capturing(self, context: driver.Context) -> bool:
        """Whether any stream is captured. The array of a stream without work is pending in that stream only then."""
        if context.handle not in self._probes:
            stream = driver.Stream(1)
            with stream:
                self._probes[context.handle] = stream, _native.GPUArray(1, "i1")
        stream, array = self._probes[context.handle]
        return bool(array.__cuda_array_interface__["stream"] == stream.handle)

    def _close_idle_blocks(self, n_kept: int) -> None:
        """Close blocks that nobody has used for a while, beyond the last `n_kept`, or whose owner has ended."""
        with _state.lock:
            idle = _state.idle_blocks()
            late = time.monotonic() - _IDLE_S
            old = [
                block
                for place, block in enumerate(idle)
                if place < len(idle) - n_kept or block.idle_since < late or not block.peer.is_alive()
            ]
            for block in old:
                _state.forget_block(block)
        for block in old:
            if block.context.is_alive:
                with contextlib.suppress(driver.Error), block.context:
                    block.memory.close()
        if old:
            with _state.lock:
                _state.forget_unused_peers()


_state = _State()
_keeper = _Keeper()
_inherited: list[Any] = []


def _forget_parent() -> None:
    """In a forked child: what the parent shares stays the parent's, and nothing of it is closed or freed here."""
    global _state, _keeper
    _inherited.extend((_state, _keeper))
    _state, _keeper = _State(), _Keeper()


os.register_at_fork(after_in_child=_forget_parent)

_devices: dict[str, driver.Device] = {}


@contextlib.contextmanager
def _context_on(bus_id: str, pid: int) -> Iterator[None]:
    """The context of this thread if it is on that device, else the device's primary one."""
    _native.current_or_declared_context()
    device = _devices.get(bus_id)
    if device is None:
        try:
            device = _devices[bus_id] = driver.Device(bus_id)
        except driver.LogicError:
            known = [driver.Device(k).pci_bus_id() for k in range(driver.Device.count())]
            raise LeaseError(
                f"the array of process {pid} is on device {bus_id}; this process has {', '.join(known) or 'none'}. "
                "Give both the same CUDA_VISIBLE_DEVICES and RTCG_VIRTUAL_DEVICES, or send array.get()"
            ) from None
    with devices.current_on(device):
        yield


_bus_ids: dict[driver.Device, str] = {}


def share(array: GPUArray, is_pinned: bool = False) -> SharedArray:
    """Let other processes use the memory of `array`, which has elements; does not wait.

    The lease ends when one process has received it and all that did are done; with `is_pinned`, not before `unpin`.
    """
    interface = array.__cuda_array_interface__
    address, stream = interface["data"][0], interface["stream"]
    with _native.context_after_pending_work(array) as context:
        device = context.device
        bus_id = _bus_ids.get(device) or _bus_ids.setdefault(device, device.pci_bus_id())
        base, _ = driver.mem_get_address_range(address)
        entry = _Entry(array, 0, is_pinned)
        with _state.lock:
            block = _state.blocks_by_address.get(base)
            if block is not None:
                memory = next(iter(block.memories), None)
                if memory is None:
                    raise LeaseError(f"memory of process {block.peer.address.pid} was used after its lease had ended")
                entry.needs, handle = memory, block.handle
        if block is None:
            handle = _handle_of(array, base)
        if stream is not None:
            entry.event = _PooledEvent.recorded_in(stream)
    with _state.lock:
        owner = _state.own()
        dropped = owner.collect(at_most_every_s=0.001)
        granted = owner.grant(entry)
    del dropped
    _keeper.wake()
    lease, transit = (granted, None) if block is None else (entry.needs.lease, granted)
    event = None if entry.event is None else entry.event.handle
    return SharedArray(
        lease, transit, bus_id, handle, address - base, event, interface["shape"], interface["strides"], array.dtype
    )


def _handle_of(array: GPUArray, base: int) -> bytes:
    try:
        return bytes(driver.mem_get_ipc_handle(base))
    except driver.LogicError as error:
        raise ValueError(
            f"an array of shape {array.shape} lies in memory that processes cannot share, since it does not come from "
            "mem_alloc or a DeviceMemoryPool (managed, page-locked and virtual memory, and that of a MemoryPool, does "
            f"not); send array.copy(), or array.get(), which is copied ({error})"
        ) from None


def receive(shared: SharedArray) -> GPUArray:
    """The array that another process has shared, in the same memory; waits until its sender's pending work is done."""
    lease, transit = shared.lease, shared.transit
    with _state.lock:
        owner, entry, peer = _state.owner, None, None
        try:
            if owner is not None and owner.file == lease.file:
                entry = owner.entry_of(lease)
                if entry is not None and transit is None:
                    owner.mark_received(lease.slot)
            else:
                peer = _state.peer(lease.file)
                if not peer.take(lease):
                    peer = None
        finally:
            # The sender's lease was for the way, and ends even if the array did not arrive.
            sender = _end_transit(transit) if transit is not None else entry or peer
    if peer is not None:
        return _array_of(peer, sender, shared)
    if entry is not None:
        return _own_array(entry, sender, shared)
    raise LeaseError(
        f"the lease of the array has ended in process {lease.file.pid}: what is sent can be received once, and again "
        "only while somebody has it; send the array once for each consumer"
    )


def _end_transit(transit: LeaseAddress) -> _Entry | _Peer | None:
    """Note that a lease for the way of an array has done its duty. What has it; None if that has ended."""
    owner = _state.owner
    if owner is not None and owner.file == transit.file:
        entry = owner.entry_of(transit)
        if entry is not None:
            owner.mark_received(transit.slot)
        return entry
    try:
        peer = _state.peer(transit.file)
    except LeaseError:
        return None
    if peer.take(transit):
        peer.release(transit.slot)
    return peer


def _wait_for_sender(sender: _Entry | _Peer | None, shared: SharedArray) -> None:
    """Wait for the event of the process that sent an array, which may be this one."""
    if shared.event is None:
        return
    if isinstance(sender, _Peer):
        sender.wait_for(shared.event)
    elif sender is not None and sender.event is not None:
        sender.event.event.synchronize()
    else:
        raise _gone((shared.transit or shared.lease).file.pid)


def _array_of(peer: _Peer, sender: _Entry | _Peer | None, shared: SharedArray) -> GPUArray:
    memory = None
    try:
        with _context_on(shared.bus_id, shared.lease.file.pid):
            with _state.lock:
                block = _state.open_block(peer, shared.handle)
                block.n_users += 1
                memory = ReceivedMemory(block, shared.lease, shared.offset)
                block.memories.add(memory)
            _keeper.wake()
            _wait_for_sender(sender, shared)
            return _native.GPUArray(shared.shape, shared.dtype, gpudata=memory, strides=shared.strides)
    except BaseException:
        if memory is None:
            with _state.lock:
                peer.release(shared.lease.slot)
        raise


def _own_array(entry: _Entry, sender: _Entry | _Peer | None, shared: SharedArray) -> GPUArray:
    """An array over memory of this process that came back: a view of the array that was sent."""
    with _native.context_after_pending_work(entry.array):
        _wait_for_sender(sender, shared)
        sent = entry.array
        distance = shared.offset - (sent.ptr - driver.mem_get_address_range(sent.ptr)[0])
        if distance:
            # A view begins elsewhere: the bytes from the first element of the array that was sent to its own.
            step = 1 if distance > 0 else -1
            sent = _native.GPUArray(abs(distance) + 1, "u1", gpudata=sent, strides=(step,))[abs(distance) :]
        return _native.GPUArray(shared.shape, shared.dtype, gpudata=sent, strides=shared.strides)


def unpin(lease: LeaseAddress) -> None:
    """Let a lease that was shared with `is_pinned` end with its present consumers."""
    with _state.lock:
        owner = _state.owner
        entry = owner.entry_of(lease) if owner else None
        if owner is not None and entry is not None:
            entry.is_pinned = False
            owner.mark_received(lease.slot)
    _keeper.wake()


class Lease(NamedTuple):
    """A lease of this process, as `leases` reports it."""

    nbytes: int
    age_s: float
    is_received: bool


def leases() -> list[Lease]:
    """The leases of this process that have not ended, the oldest first."""
    with _state.lock:
        owner = _state.owner
        if owner is None:
            return []
        dropped = owner.collect()
        now, marks = time.monotonic(), owner.received_marks()
        found = [Lease(e.array.nbytes, now - e.begun, marks[slot]) for slot, e in owner.entries.items()]
    del dropped
    return sorted(found, key=lambda lease: -lease.age_s)


def end_unreceived(older_than_s: float) -> int:
    """End the leases that were not received and are older; returns how many."""
    with _state.lock:
        owner = _state.owner
        if owner is None:
            return 0
        marks, limit = owner.received_marks(), time.monotonic() - older_than_s
        slots = [s for s, e in owner.entries.items() if not marks[s] and not e.is_pinned and e.begun <= limit]
        dropped = [entry for slot in slots if (entry := owner.end(slot)) is not None]
    return len(dropped)


def wait_until_ended(timeout_s: float | None) -> bool:
    """Wait until all leases of this process have ended; False if `timeout_s` has passed before."""
    limit = None if timeout_s is None else time.monotonic() + timeout_s
    pause = 0.001
    while leases():
        if limit is not None and time.monotonic() >= limit:
            return False
        time.sleep(pause if limit is None else min(pause, max(limit - time.monotonic(), 0)))
        pause = min(2 * pause, 0.05)
    return True
