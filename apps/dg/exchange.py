"""How parts of a mesh get what their neighbors have packed: by peer access or peer copies, by MPI, by NCCL.

Each part has two buffers on its device, `outgoing` and `incoming`, with the numbers for each peer together. `fill` is
called after all parts of this process have packed and before they unpack, all in their streams `copying`.
"""

import os

from rtcg import devices as rtcg_devices, driver


class Exchange:
    """Parts in one process or in several, and the way between them.

    Attributes
    ----------
    devices : list of int
        The device of each part of this process.
    numbers : range
        The numbers of these parts among all.
    count : int
        How many parts there are in all processes.
    is_capturable : bool
        Whether `fill` only enqueues work that a graph can contain.
    """

    is_capturable = False

    def __init__(self, devices, comm=None):
        """`comm` is of mpi4py, and each rank has one part; without it all parts are in this process."""
        self.devices, self.comm = list(devices), comm
        first, self.count = (0, len(self.devices)) if comm is None else (comm.rank, comm.size)
        self.numbers = range(first, first + len(self.devices))

    def connect(self, parts):
        """Prepare the parts of this process, which have their buffers."""

    def fill(self, parts):
        """Enqueue that `incoming` of each part gets what its peers have packed; may wait for `copying`."""
        raise NotImplementedError

    def close(self):
        """Release what `connect` has prepared, which no work uses any more."""

    def gather(self, values):
        """The lists of all processes as one list, in the order of parts; all processes call it."""
        return values if self.comm is None else [value for part in self.comm.allgather(values) for value in part]


class PeerCopies(Exchange):
    """All parts are in this process.

    Parameters
    ----------
    devices : sequence of int
        The device of each part; one may occur more than once.
    is_direct : bool, optional
        Whether parts pack into the memory of their peers. By default they do if all devices have peer access to each
        other. Otherwise peer copies follow, which go through the host where there is no peer access.
    """

    def __init__(self, devices, is_direct=None):
        super().__init__(devices)
        known = {rtcg_devices.as_device("devices", device) for device in self.devices}
        can_access = all(one == other or one.can_access_peer(other) for one in known for other in known)
        if is_direct and not can_access:
            raise ValueError(f"is_direct is True; expected False, as devices {devices!r} have no peer access")
        self.is_capturable = self.is_direct = can_access if is_direct is None else is_direct

    def connect(self, parts):
        for part in parts:
            others = {number: parts[number] for number in part.peers}
            part.before_packing = [other.filled for other in others.values()]
            if self.is_direct:
                with part.context:
                    for other in others.values():
                        _enable_peer_access(other.context)
                part.sends = [(other.incoming_of[part.number], part.places_to[n]) for n, other in others.items()]

    def fill(self, parts):
        for part in parts:
            with part.context:
                part.packed.record(part.copying)
        for part in parts:
            with part.context:
                for number in part.peers:
                    other = parts[number]
                    part.copying.wait_for_event(other.packed)
                    if not self.is_direct:
                        to, source = part.incoming_of[number], other.outgoing_of[part.number]
                        driver.memcpy_peer_async(
                            to.gpudata, source.gpudata, to.nbytes, part.context, other.context, part.copying
                        )


def _enable_peer_access(context):
    """Let kernels of the current context access memory of another, unless they may already."""
    if context == driver.Context.get_current():
        return
    try:
        driver.Context.enable_peer_access(context)
    except driver.LogicError as error:  # the context is the primary one: others may have enabled it before
        if "already enabled" not in str(error):
            raise


class Mpi(Exchange):
    """Each rank of a communicator of mpi4py has one part; messages are in page-locked memory of the host.

    Most builds of MPI cannot read device memory. While messages are on their way, the device computes the elements
    inside.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        COMM_WORLD by default.
    device : int, optional
        By default the ranks of a host take its devices in turn.
    """

    def __init__(self, comm=None, device=None):
        comm = _communicator(comm)
        super().__init__([local_device(comm) if device is None else device], comm)
        self._messages = []

    def connect(self, parts):
        (part,) = parts
        if not part.peers:
            return
        with part.context:
            self._sent, self._received = (
                driver.pagelocked_empty(buffer.shape, buffer.dtype) for buffer in (part.outgoing, part.incoming)
            )
        for number in part.peers:
            self._messages += [
                self.comm.Send_init(self._sent[part.slice_to[number]], number),
                self.comm.Recv_init(self._received[part.slice_from[number]], number),
            ]

    def fill(self, parts):
        if not self._messages:
            return
        (part,) = parts
        with part.context:
            driver.memcpy_dtoh_async(self._sent, part.outgoing.gpudata, part.copying)
            part.copying.synchronize()  # also for what was received before, whose memory is used again
            type(self._messages[0]).Startall(self._messages)
            type(self._messages[0]).Waitall(self._messages)
            driver.memcpy_htod_async(part.incoming.gpudata, self._received, part.copying)

    def close(self):
        while self._messages:
            self._messages.pop().Free()


class Nccl(Exchange):
    """Each part has a communicator of NCCL, in one process or in several; messages go from device to device.

    Made by `of_devices` or `of_ranks`. NCCL wants a device for each part.
    """

    def __init__(self, devices, communicators, comm=None):
        super().__init__(devices, comm)
        self._communicators = communicators

    @classmethod
    def of_devices(cls, devices):
        """All parts are in this process, and one thread sends and receives for all of them."""
        from rtcg import nccl

        return cls(devices, nccl.init_all(list(devices)))

    @classmethod
    def of_ranks(cls, comm=None, device=None):
        """Each rank of a communicator of mpi4py has one part; parameters as for `Mpi`."""
        from rtcg import nccl

        comm = _communicator(comm)
        device = local_device(comm) if device is None else device
        with rtcg_devices.use(device):
            unique_id = comm.bcast(nccl.unique_id() if comm.rank == 0 else None)
            communicator = nccl.Communicator(comm.size, unique_id, comm.rank)
        return cls([device], [communicator], comm)

    def fill(self, parts):
        from rtcg import nccl

        with nccl.group():
            for part, communicator in zip(parts, self._communicators, strict=True):
                with part.context:
                    for number in part.peers:
                        communicator.send(part.outgoing_of[number], number, stream=part.copying)
                        communicator.recv(part.incoming_of[number], number, stream=part.copying)


def _communicator(comm):
    from mpi4py import MPI

    return MPI.COMM_WORLD if comm is None else comm


def is_rank():
    """Whether a launcher of MPI has started this process."""
    return any(name in os.environ for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID"))


def world():
    """mpi4py's COMM_WORLD in one of several ranks, else None: other programs do not initialise MPI."""
    if not is_rank():
        return None
    from mpi4py import MPI

    return MPI.COMM_WORLD if MPI.COMM_WORLD.size > 1 else None


def local_device(comm):
    """The device of this rank, where the ranks of a host take its devices in turn."""
    rank, _ = _place_on_host(comm)
    return rank % driver.Device.count()


def have_own_devices(comm=None):
    """Whether each rank has a device that no other rank has, as NCCL wants it; virtual ones belong to their process."""
    from mpi4py import MPI

    comm = _communicator(comm)
    _, size = _place_on_host(comm)
    return comm.allreduce(driver.Device(0).is_virtual or size <= driver.Device.count(), MPI.LAND)


def _place_on_host(comm):
    """The number of this rank among those of its host, and how many these are."""
    from mpi4py import MPI

    driver.init()
    local = comm.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        return local.rank, local.size
    finally:
        local.Free()
