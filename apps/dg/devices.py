"""The solver on several devices, of one process or of several: parts of the mesh, and halos that are exchanged.

A device has the elements of its part, those inside first, and ghosts: elements of others that touch its own. Of a
ghost only the nodes at the cut are ever filled. In each stage one stream packs, exchanges (`exchange.py`) and unpacks
them while another computes the elements inside; those at the cut come last. Every element is computed as on one
device: same bits.
"""

import copy

import numpy as np

import rtcg.numpy as xp
from rtcg import devices as rtcg_devices, driver, template
from rtcg.compiler import SourceModule

from .exchange import Exchange, PeerCopies
from .maxwell import Maxwell

#: Steps of one launch of a graph, an even number; devices wait for each other only between graphs.
STEPS_OF_GRAPH = 8

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
    if (is_packing) buffer[6 * i + c] = fields[AT(place.x, c, place.y)];
    else fields[AT(place.x, c, place.y)] = buffer[6 * i + c];
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
    """One device's part: its elements, its ghosts, its solver, and what it exchanges with the parts `peers`."""

    def __init__(self, number, device, mesh, order, owner, options):
        self.number = number
        own = np.flatnonzero(owner == number)
        beyond = mesh.neighbors[own]
        is_outside = (beyond >= 0) & (owner[np.maximum(beyond, 0)] != number)
        at_cut = is_outside.any(axis=1)
        self.inside = int((~at_cut).sum())
        inside_first = np.argsort(at_cut, kind="stable")
        self.elements, beyond, is_outside = own[inside_first], beyond[inside_first], is_outside[inside_first]
        self.ghosts = np.unique(beyond[is_outside])
        everything = np.concatenate([self.elements, self.ghosts])
        place = np.full(len(mesh), -1)
        place[everything] = np.arange(len(everything))
        part = copy.copy(mesh)
        for name in ("elements", "neighbors", "patterns", "gradients", "normals", "face_scales", "radii", "volumes"):
            setattr(part, name, getattr(mesh, name)[self.elements])
        part.neighbors = np.where(part.neighbors >= 0, place[np.maximum(part.neighbors, 0)], part.neighbors)
        materials = {n: np.broadcast_to(options[n], len(mesh))[everything] for n in ("epsilon", "mu") if n in options}
        with rtcg_devices.use(device) as self.context:
            self.solver = Maxwell(part, order, ghosts=len(self.ghosts), **{**options, **materials})
            self.compute = driver.Stream()
            # What others wait for comes first where both streams have blocks to run.
            self.copying = driver.Stream(priority=driver.Context.get_stream_priority_range()[1])
            flags = driver.event_flags.DISABLE_TIMING
            self.computed, self.packed, self.filled = (driver.Event(flags) for _ in range(3))
            # Both sides of a cut sort what crosses it by (element of the whole mesh, node), so they agree on the order.
            k, f = np.nonzero(is_outside)
            nodes, across = self.solver.element.face_nodes[f], beyond[k, f]
            self.outgoing, places_out, self.slice_to = self._buffer(self.elements[k], nodes, owner[across], place)
            nodes = self.solver.element.patterns[part.patterns[k, f]]
            self.incoming, places_in, self.slice_from = self._buffer(across, nodes, owner[across], place)
            self.peers = list(self.slice_to)
            self.outgoing_of = {peer: self.outgoing[numbers] for peer, numbers in self.slice_to.items()}
            self.incoming_of = {peer: self.incoming[numbers] for peer, numbers in self.slice_from.items()}
            self.places_to = {
                peer: places_out[numbers.start // 6 : numbers.stop // 6] for peer, numbers in self.slice_to.items()
            }
            # Where to pack what, and after which events of others; an exchange may change both.
            self.sends, self.before_packing = [(self.outgoing, places_out)] if self.peers else [], []
            self._receives = [(self.incoming, places_in)] if self.peers else []
            problem = self.solver.problem
            source = MOVE.render(
                real="double" if problem.dtype.itemsize == 8 else "float",
                np=problem.layout.n_nodes,
                at=problem.layout.at,
            )
            self._move = SourceModule(source).get_function("move")

    def _buffer(self, elements, nodes, peers, place):
        """A buffer for the numbers at nodes of elements of the whole mesh that go to peers or come from them, the
        places of its nodes in this part, and the slice of each peer's numbers."""
        triples = np.stack(np.broadcast_arrays(peers[:, None], elements[:, None], nodes), axis=-1).reshape(-1, 3)
        triples = np.unique(triples, axis=0)
        places = np.stack([place[triples[:, 1]], triples[:, 2]], axis=1).astype(np.int32)
        known, firsts = np.unique(triples[:, 0], return_index=True)
        ends = 6 * np.append(firsts, len(triples))
        slices = {int(peer): slice(int(a), int(b)) for peer, a, b in zip(known, ends[:-1], ends[1:], strict=True)}
        return xp.zeros(6 * len(triples), self.solver.dtype), xp.asarray(places), slices

    def start(self, stage):
        """Pack what peers need, and compute the elements inside."""
        with self.context, self.compute:
            states = self.solver.stage_states(stage)
            self.computed.record(self.compute)
            for event in (self.computed, *self.before_packing):
                self.copying.wait_for_event(event)
            for buffer, places in self.sends:
                self._launch_move(states[0], buffer, places, True)
            self._compute(stage, states, 0, self.inside)

    def finish(self, stage):
        """Unpack what peers have sent, and compute the elements at the cut."""
        with self.context, self.compute:
            states = self.solver.stage_states(stage)
            for buffer, places in self._receives:
                self._launch_move(states[0], buffer, places, False)
            self.filled.record(self.copying)
            self.compute.wait_for_event(self.filled)
            self._compute(stage, states, self.inside, len(self.elements) - self.inside)

    def _launch_move(self, fields, buffer, places, is_packing):
        count = len(places)
        self._move(fields, buffer, places, np.int32(count), np.int32(self.solver.n_total), np.bool_(is_packing),
                   block=(128, 1, 1), grid=(-(-count // 128), 1), stream=self.copying)  # fmt: skip

    def _compute(self, stage, states, first, count):
        if count:
            for steps in self.solver.steps:
                self.solver.launch(steps, *states, stage=stage, first=first, count=count)


class Cluster:
    """The solver `Maxwell` on several devices.

    Parameters
    ----------
    mesh, order
        As for `Maxwell`, as other options are.
    devices : sequence of int, or Exchange
        Numbers of devices of this process, a part for each; one may occur more than once. Or an exchange, such as
        ``Mpi()`` or ``Nccl.of_ranks()``: then each process gives the same mesh and options, and calls the same methods
        of the cluster with the same arguments.
    graphs : bool, optional
        Whether `run` launches graphs, each with several steps of all devices; otherwise it launches kernels one by one.
        By default it does with peer access between all devices, but not on virtual GPUs, which run the branches of a
        graph one after the other.

    Notes
    -----
    Parts use the primary contexts of their devices. Call `close`, or use it in a ``with`` block.
    """

    def __init__(self, mesh, order, devices, graphs=None, **options):
        self.exchange = exchange = devices if isinstance(devices, Exchange) else PeerCopies(devices)
        if not 1 <= exchange.count <= len(mesh):
            raise ValueError(
                f"devices are {devices!r}, {exchange.count} in all; expected 1 to {len(mesh)}, the number of elements"
            )
        if graphs and not exchange.is_capturable:
            raise ValueError(f"graphs is {graphs!r}; expected False, as graphs cannot contain this exchange")
        are_virtual = any(rtcg_devices.as_device("devices", device).is_virtual for device in exchange.devices)
        self.has_graphs = exchange.is_capturable and not are_virtual if graphs is None else bool(graphs)
        self.mesh, self.time, owner = mesh, 0.0, np.empty(len(mesh), np.int64)
        for number, own in enumerate(partition(mesh, exchange.count)):
            owner[own] = number
        self.parts = [
            _Part(number, device, mesh, order, owner, options)
            for number, device in zip(exchange.numbers, exchange.devices, strict=True)
        ]
        self._check_sizes()
        self.max_dt = min(exchange.gather([part.solver.max_dt for part in self.parts]))
        exchange.connect(self.parts)
        self._graphs, self._is_odd = {}, False

    def _check_sizes(self):
        """All parts must agree on what is sent; else messages of several processes would never arrive."""
        sides = [(part.outgoing_of, part.incoming_of) for part in self.parts]
        sizes = self.exchange.gather([[{n: a.nbytes for n, a in side.items()} for side in both] for both in sides])
        for number, (sent, _) in enumerate(sizes):
            for peer, nbytes in sent.items():
                expected = sizes[peer][1].get(number, 0)
                if nbytes != expected:
                    raise ValueError(
                        f"part {number} sends {nbytes} bytes to part {peer}; expected {expected}: processes give "
                        "different meshes, orders or dtypes"
                    )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Wait for all devices of this process, and release what is on them."""
        for part in self.parts:
            with part.context:
                driver.Context.synchronize()
        self.exchange.close()
        self.parts.clear()
        self._graphs.clear()

    @property
    def halo_bytes(self):
        """Bytes that cross between parts in each stage, in all processes."""
        return sum(self.exchange.gather([part.incoming.nbytes for part in self.parts]))

    @property
    def fields(self):
        """Fields (6, elements, nodes) of the whole mesh, in NumPy; waits for all parts."""
        found = []
        for part in self.parts:
            with part.context:
                part.compute.synchronize()
                found.append((part.elements, part.solver.fields.get()[:, : len(part.elements)]))
        found = self.exchange.gather(found)
        fields = np.empty((6, len(self.mesh), found[0][1].shape[2]), found[0][1].dtype)
        for elements, values in found:
            fields[:, elements] = values
        return fields

    @fields.setter
    def fields(self, fields):
        for part in self.parts:
            with part.context:
                part.solver.fields = np.asarray(fields)[:, np.concatenate([part.elements, part.ghosts])]
                driver.Context.synchronize()

    def run(self, duration, dt=None):
        """As `Maxwell.run`; an exchange by MPI waits in each stage."""
        steps = Maxwell.steps_of(duration, self.max_dt if dt is None else dt, self.max_dt)
        for part in self.parts:
            with part.context, part.compute:
                part.solver.set_clock(self.time, duration / max(steps, 1))
        if self.has_graphs:
            self._launch(steps)
        else:
            for _ in range(steps):
                self._step()
        self.time += duration

    def _step(self):
        for stage in range(5):
            for part in self.parts:
                part.start(stage)
            self.exchange.fill(self.parts)
            for part in self.parts:
                part.finish(stage)
        for part in self.parts:
            with part.context, part.compute:
                part.solver.advance_clock()
                part.solver.swap()

    # Graphs, which contain the work of all parts and are launched in a stream of the first one: one thread that
    # launches each kernel on each device takes longer than the kernels of low orders.

    def _launch(self, steps):
        """Launch graphs of several steps, then of one."""
        self._join()
        while steps:
            count = STEPS_OF_GRAPH if steps >= STEPS_OF_GRAPH else 1
            key = count, self._is_odd
            if key not in self._graphs:
                self._graphs[key] = self._captured(count)
            with self.parts[0].context:
                self._graphs[key].launch(self.parts[0].compute)
            steps -= count
            if count % 2:
                self._is_odd ^= True
                for part in self.parts:
                    part.solver.swap()
        self._fork()

    def _captured(self, count):
        """The graph of the next steps of all parts; their states are then those of before."""
        with self.parts[0].context, self.parts[0].compute.capture() as graph:
            self._fork()
            for _ in range(count):
                self._step()
            self._join()
        if count % 2:
            for part in self.parts:
                part.solver.swap()
        return graph.instantiate()

    def _fork(self):
        """Streams of all parts wait for the first one's."""
        first = self.parts[0]
        with first.context:
            first.computed.record(first.compute)
        for part in self.parts:
            with part.context:
                for stream in (part.compute, part.copying):
                    if stream is not first.compute:
                        stream.wait_for_event(first.computed)
                part.filled.record(part.copying)  # so that packing waits for nothing outside of a graph

    def _join(self):
        """The first part's stream waits for those of all parts, which have waited for what they copy."""
        first = self.parts[0]
        for part in self.parts[1:]:
            with part.context:
                part.computed.record(part.compute)
            with first.context:
                first.compute.wait_for_event(part.computed)
