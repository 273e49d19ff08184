"""The solver on several devices of one process: parts of the mesh, and halos that are copied between devices.

A device has the elements of its part, those inside first, and ghosts: elements of others that touch its own. Of a
ghost only the nodes at the cut are ever filled. In each stage one stream packs, copies and unpacks them while another
computes the elements inside; those at the cut come last. Every element is computed as on one device: same bits.
"""

import copy

import numpy as np

import rtcg.numpy as xp
from rtcg import driver, template
from rtcg.compiler import SourceModule

from .element import element
from .maxwell import Maxwell

MOVE = template.Template("""
typedef {{ real }} real;
enum { NP = {{ np }} };
#define AT(k, c, n) ({{ at }})

// Field values at places (element, node): from the fields to a buffer, or back.
__global__ void move(real *fields, real *buffer, const int2 *places, int count, int n_elements, bool is_packing)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int2 place = places[i];
  for (int c = 0; c < 6; ++c)
    if (is_packing) buffer[c * count + i] = fields[AT(place.x, c, place.y)];
    else fields[AT(place.x, c, place.y)] = buffer[c * count + i];
}
""", name="move.cu")  # fmt: skip


def partition(mesh, count):
    """Numbers of elements in `count` parts of nearly equal size, halved again and again across their longest side."""
    middles = mesh.vertices[mesh.elements].mean(axis=1)

    def halves(elements, count):
        if count == 1:
            return [np.sort(elements)]
        extent = np.ptp(middles[elements], axis=0)
        order = elements[np.argsort(middles[elements][:, extent.argmax()], kind="stable")]
        cut = len(order) * (count // 2) // count
        return halves(order[:cut], count // 2) + halves(order[cut:], count - count // 2)

    return halves(np.arange(len(mesh)), count)


class _Part:
    """One device's part: its elements, its ghosts, its solver, and what it sends and receives."""

    def __init__(self, device, mesh, order, own, owner, options):
        cut = (owner[np.maximum(mesh.neighbors[own], 0)] != owner[own[0]]) & (mesh.neighbors[own] >= 0)
        at_cut = cut.any(axis=1)
        self.elements = np.concatenate([own[~at_cut], own[at_cut]])
        self.inside = int((~at_cut).sum())
        beyond = mesh.neighbors[self.elements]
        outside = (beyond >= 0) & (owner[np.maximum(beyond, 0)] != owner[own[0]])
        self.ghosts = np.unique(beyond[outside])
        place = np.full(len(mesh), -1)
        everything = np.concatenate([self.elements, self.ghosts])
        place[everything] = np.arange(len(everything))
        part = copy.copy(mesh)
        for name in ("elements", "neighbors", "patterns", "gradients", "normals", "face_scales", "radii", "volumes"):
            setattr(part, name, getattr(mesh, name)[self.elements])
        part.neighbors = np.where(part.neighbors >= 0, place[np.maximum(part.neighbors, 0)], part.neighbors)
        nodes = element(order).patterns[part.patterns[outside]]
        pairs = np.stack([np.repeat(beyond[outside], nodes.shape[1]), nodes.ravel()], axis=1)
        self.needs = np.unique(pairs, axis=0)  # (element of the whole mesh, node), by owner where parts are in order
        self.needs = self.needs[np.argsort(owner[self.needs[:, 0]], kind="stable")]
        self.place = place
        materials = {n: np.broadcast_to(options[n], len(mesh))[everything] for n in ("epsilon", "mu") if n in options}
        self.context = driver.Device(device).make_context()
        self.solver = Maxwell(part, order, ghosts=len(self.ghosts), **{**options, **materials})
        self.compute, self.copying = driver.Stream(), driver.Stream()
        problem = self.solver.problem
        source = MOVE.render(
            real="double" if problem.dtype.itemsize == 8 else "float", np=problem.layout.n_nodes, at=problem.layout.at
        )
        self._move = SourceModule(source).get_function("move")
        self.sends, self.receives = {}, {}
        flags = driver.event_flags.DISABLE_TIMING
        self.computed, self.packed, self.filled = (driver.Event(flags) for _ in range(3))
        driver.Context.pop()

    def buffer(self, places):
        """``(buffer, places, how many)`` on the device, for numbers at (element of the whole mesh, node)."""
        local = np.stack([self.place[places[:, 0]], places[:, 1]], axis=1).astype(np.int32)
        return xp.zeros(6 * len(places), self.solver.dtype), xp.asarray(local), len(places)

    def move(self, fields, buffer, is_packing):
        numbers, places, count = buffer
        self._move(fields, numbers, places, np.int32(count), np.int32(self.solver.n_total), np.bool_(is_packing),
                   block=(128, 1, 1), grid=(-(-count // 128), 1), stream=self.copying)  # fmt: skip


class Cluster:
    """The solver `Maxwell` on several devices.

    Parameters
    ----------
    mesh, order
        As for `Maxwell`, as other options are.
    devices : sequence of int
        Numbers of devices; one may come more than once, and has a context for each time.

    Notes
    -----
    Call `close`, or use it in a ``with`` block: it owns contexts.
    """

    def __init__(self, mesh, order, devices, **options):
        if not devices or len(devices) > len(mesh):
            raise ValueError(f"devices are {devices!r}; expected 1 to {len(mesh)} numbers, as many as elements at most")
        driver.init()
        self.mesh, self.parts, owner = mesh, [], np.empty(len(mesh), np.int64)
        pieces = partition(mesh, len(devices))
        for number, own in enumerate(pieces):
            owner[own] = number
        self.time = 0.0
        for device, own in zip(devices, pieces, strict=True):
            self.parts.append(_Part(device, mesh, order, own, owner, options))
        self.max_dt = min(part.solver.max_dt for part in self.parts)
        for to, receiver in enumerate(self.parts):
            for sender_number in np.unique(owner[receiver.ghosts]):
                sender = self.parts[sender_number]
                places = receiver.needs[owner[receiver.needs[:, 0]] == sender_number]
                with sender.context:
                    device = driver.Context.get_device()
                    sender.sends[to] = sender.buffer(places)
                with receiver.context:
                    if driver.Context.get_device().can_access_peer(
                        device
                    ):  # else copies between devices go through the host
                        driver.Context.enable_peer_access(sender.context)
                    receiver.receives[int(sender_number)] = receiver.buffer(places)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Wait for all devices, and give the contexts back."""
        for part in self.parts:
            with part.context:
                driver.Context.synchronize()
        while self.parts:
            part = self.parts.pop()
            context = part.context
            del part
            context.detach()

    @property
    def halo_bytes(self):
        """Bytes that cross between devices in each stage."""
        return sum(numbers.nbytes for part in self.parts for numbers, _, _ in part.receives.values())

    @property
    def fields(self):
        """Fields (6, elements, nodes) of the whole mesh, in NumPy; waits."""
        found = None
        for part in self.parts:
            with part.context:
                part.compute.synchronize()
                own = part.solver.fields.get()[:, : len(part.elements)]
            if found is None:
                found = np.empty((6, len(self.mesh), own.shape[2]), own.dtype)
            found[:, part.elements] = own
        return found

    @fields.setter
    def fields(self, fields):
        for part in self.parts:
            with part.context:
                part.solver.fields = np.asarray(fields)[:, np.concatenate([part.elements, part.ghosts])]
                driver.Context.synchronize()

    def run(self, duration, dt=None):
        """As `Maxwell.run`."""
        steps = self.parts[0].solver.steps_of(duration, self.max_dt if dt is None else dt, self.max_dt)
        for part in self.parts:
            with part.context:
                part.solver.set_clock(self.time, duration / max(steps, 1))
                driver.Context.synchronize()
        for _ in range(steps):
            for stage in range(5):
                self._stage(stage)
            for part in self.parts:
                with part.context, part.compute:
                    part.solver.advance_clock()
                    part.solver.swap()
        self.time += duration

    def _stage(self, stage):
        states = {}
        for part in self.parts:
            with part.context, part.compute:
                states[part] = part.solver.stage_states(stage)
                part.computed.record(part.compute)
                self._compute(part, stage, states[part], 0, part.inside)
                part.copying.wait_for_event(part.computed)
                for receiver in part.sends:  # what was sent before has arrived
                    part.copying.wait_for_event(self.parts[receiver].filled)
                for buffer in part.sends.values():
                    part.move(states[part][0], buffer, True)
                part.packed.record(part.copying)
        for number, part in enumerate(self.parts):
            with part.context, part.compute:
                for sender, buffer in part.receives.items():
                    other = self.parts[sender]
                    part.copying.wait_for_event(other.packed)
                    driver.memcpy_peer_async(
                        buffer[0].gpudata, other.sends[number][0].gpudata, buffer[0].nbytes, part.context,
                        other.context, part.copying,
                    )  # fmt: skip
                    part.move(states[part][0], buffer, False)
                part.filled.record(part.copying)
                part.compute.wait_for_event(part.filled)
                self._compute(part, stage, states[part], part.inside, len(part.elements) - part.inside)

    @staticmethod
    def _compute(part, stage, states, first, count):
        if count:
            for steps in part.solver.steps:
                part.solver.launch(steps, *states, stage=stage, first=first, count=count)
