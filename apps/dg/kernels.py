"""CUDA C of a right-hand side of Maxwell's equations and of a Runge-Kutta stage, and the space of its variants.

One template makes every kernel. A kernel does some of the steps: `volume` (derivatives of fields, curls), `flux` (jumps
at faces), `lift` (face values to nodes), `stage` (the Runge-Kutta update). All are in one kernel, or in two to four:

1   volume flux lift stage
2   volume | flux lift stage
3   volume | flux | lift stage
4   volume | flux | lift | stage

Between kernels the right-hand side and the fluxes go through memory. A block takes `serial` batches one by one. A batch
has `parallel` sets of threads. With products="threads" consecutive threads are nodes of an element, and a thread does
`nodes` nodes of `inline` elements: entries of matrices and numbers of elements are loaded once for all of them.

With products="tensor_cores" (compute capability 8.0) a warp has sums of `inline` tiles of sixteen nodes by `columns`
tiles of eight elements, all at once. Matrices are in the order in which lanes have their tiles. A number of float32 is
the sum of two of TF32, and three of the four products of such sums are enough for the precision of float32.

Fields are taken along the edges of an element (covariant components), and the curl comes across its faces
(contravariant ones): 12 products with derivatives and not 18, six sums and not 18, and fluxes, which are tangential,
have no component across the three faces that belong to a coordinate. Fluxes, and then fields, are in the same shared
memory.
"""

import dataclasses
import functools
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from rtcg import template, tune

#: What each kernel does, by the number of kernels.
SPLITS = {
    1: ("volume flux lift stage",),
    2: ("volume", "flux lift stage"),
    3: ("volume", "flux", "lift stage"),
    4: ("volume", "flux", "lift", "stage"),
}
LAYOUTS = ("microblock", "element", "interleaved8", "interleaved16", "interleaved32", "field")

_TEMPLATE = template.Template((Path(__file__).parent / "dg.cu.j2").read_text(), name="dg.cu")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where field c of node n of element k is, in storage for a number of elements.

    element        k, c, n
    field          c, k, n
    interleaved8   k / 8, c, n, k % 8; also 16, 32
    microblock     elements of a block, padded so that it begins at a multiple of 32 numbers: k / M, c, (k % M, n)
    """

    name: str
    n_nodes: int
    elements: int = dataclasses.field(compare=False)

    def __post_init__(self):
        if self.name not in LAYOUTS:
            raise ValueError(f"layout is {self.name!r}; expected one of {', '.join(LAYOUTS)}")

    @property
    def interleaved(self):
        """Elements whose numbers at a node are consecutive, or 0."""
        return int(self.name.removeprefix("interleaved")) if self.name.startswith("interleaved") else 0

    @property
    def block(self):
        """Elements whose numbers are together."""
        if self.name == "microblock":
            return min(m for m in range(1, 33) if -(-m * self.n_nodes // 32) * 32 <= 1.05 * m * self.n_nodes)
        return self.elements if self.name == "field" else self.interleaved or 1

    @property
    def stride(self):
        """From one field of a block to the next."""
        numbers = self.block * self.n_nodes
        return -(-numbers // 32) * 32 if self.name == "microblock" else numbers

    @property
    def order(self):
        """Field, node and element of number `x` of a batch, in the order of memory."""
        if self.name == "field":
            return "n = x % NP, e = x / NP % BATCH, c = x / (NP * BATCH)"
        if self.interleaved:
            return "e = x % BATCH, n = x / BATCH % NP, c = x / (NP * BATCH)"
        return "n = x % NP, c = x / NP % 6, e = x / (NP * 6)"

    @property
    def size(self):
        """Numbers of all fields."""
        return -(-self.elements // self.block) * 6 * self.stride

    @property
    def at(self):
        """The place as an expression of C."""
        if self.name == "field":
            return "((c) * n_elements + (k)) * NP + (n)"
        within = f"(n) * {self.block} + (k) % {self.block}" if self.interleaved else f"(k) % {self.block} * NP + (n)"
        return f"((k) / {self.block} * 6 + (c)) * {self.stride} + {within}"

    def store(self, fields):
        """An array of this layout, on the device, from one (6, elements, n_nodes)."""
        fields = xp.pad(fields, [(0, 0), (0, -self.elements % self.block), (0, 0)])
        fields = fields.reshape(6, -1, self.block, self.n_nodes).swapaxes(0, 1)
        fields = (fields.swapaxes(2, 3) if self.interleaved else fields).reshape(-1, 6, self.block * self.n_nodes)
        return xp.pad(fields, [(0, 0), (0, 0), (0, self.stride - fields.shape[2])]).reshape(-1)

    def fields(self, stored):
        """The inverse of `store`."""
        fields = stored.reshape(-1, 6, self.stride)[:, :, : self.block * self.n_nodes]
        if self.interleaved:
            fields = fields.reshape(-1, 6, self.n_nodes, self.block).swapaxes(2, 3)
        fields = fields.reshape(-1, 6, self.block, self.n_nodes).swapaxes(0, 1)
        return fields.reshape(6, -1, self.n_nodes)[:, : self.elements]


def _by_node(matrix, count):
    """A matrix (..., columns, nodes) in which `count` consecutive columns of a node are together."""
    *others, columns, nodes = matrix.shape
    matrix = np.pad(matrix, [(0, 0)] * len(others) + [(0, -columns % count), (0, 0)])
    return np.moveaxis(matrix.reshape(*others, -1, count, nodes), -2, -1)


def _tf32(numbers):
    """The nearest numbers of TF32."""
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32).astype(np.float64)


def _tiles(matrices, itemsize):
    """Matrices (count, nodes, columns) as the 32 lanes of tensor cores have tiles of 16 nodes and 8 columns.

    A lane has nodes g and g + 8, and columns 2 t and 2 t + 1, where g = lane / 4 and t = lane % 4; in float32 first
    high parts in TF32, then low ones. 16 bytes of each lane are together.
    """
    count, nodes, columns = matrices.shape
    parts = np.pad(matrices, [(0, 0), (0, -nodes % 16), (0, -columns % 8)])
    parts = parts.reshape(count, -(-nodes // 16), 2, 8, -(-columns // 8), 4, 2)  # matrix, tile, half, g, step, t, y
    if itemsize == 8:
        return parts.transpose(1, 4, 0, 6, 3, 5, 2)
    high = _tf32(parts)
    return np.stack([high, _tf32(parts - high)]).transpose(2, 5, 1, 0, 4, 6, 7, 3)


@functools.cache
def matrices(element, itemsize):
    """What kernels read of an element, as one array, and the places of the parts of each form in it with the end.

    Derivatives and lift follow each other: at "tensor" for tensor cores, at a number of entries for threads of nodes
    that load so many columns at once. "weights" are barycentric coordinates of nodes on faces.
    """
    derivatives, faces = element.derivatives.transpose(0, 2, 1), element.lift.T.reshape(4, -1, element.n_nodes)
    forms = {n: (_by_node(derivatives, n), _by_node(faces, n)) for n in (16 // itemsize, 8 // itemsize)}
    forms["tensor"] = _tiles(element.derivatives, itemsize), _tiles(element.lift[None], itemsize)
    forms["weights"] = (element.nodes[element.face_nodes.ravel()].T,)
    parts = [np.pad(part.ravel(), (0, -part.size % 4)) for form in forms.values() for part in form]
    ends = np.cumsum([0, *(part.size for part in parts)]).tolist()
    return np.concatenate(parts), {name: ends[2 * i : 2 * i + 3] for i, name in enumerate(forms)}


def _of_set(numbers, itemsize):
    """An expression: room for the numbers of a set of threads, an odd multiple of 16 bytes, so that sets that read
    at once are in different banks of shared memory."""
    at_once = 16 // itemsize
    return f"({numbers} + ({3 * at_once} - {numbers} % {2 * at_once}) % {2 * at_once})"


def source(problem, steps, **config):
    """The source of the kernel that does some of the steps of a `Problem`."""
    element, layout, wave, itemsize = problem.element, problem.layout, problem.wave, problem.dtype.itemsize
    # A thread loads 16 bytes of a matrix at once for each of its nodes, or 8 where there are many.
    vector, (_, places) = (16 if config["nodes"] <= 2 else 8) // itemsize, matrices(element, itemsize)
    return _TEMPLATE.render(
        steps=steps.split(), real="double" if itemsize == 8 else "float", dtype=str(problem.dtype),
        np=element.n_nodes, nf=element.n_face_nodes, vector=vector, weights=places["weights"][0],
        place=places["tensor" if config["products"] == "tensor_cores" else vector],
        fields_of_set=_of_set("ROW * NP", itemsize), fluxes_of_set=_of_set("ROW * FACE_NODES", itemsize),
        interleaved=layout.interleaved, at=layout.at, order=layout.order, flux=problem.flux,
        materials=problem.has_materials,
        incident=wave and {"amplitude": wave.amplitude, "fields": (*wave.polarization, *wave.magnetic)}, **config,
    )  # fmt: skip


def _default(problem):
    """What is fast on an H200: tensor cores in float64, and from order 4 on; else two nodes a thread, 128 threads."""
    nodes, order, itemsize = problem.element.n_nodes, problem.element.order, problem.dtype.itemsize
    others = {"nodes": 2, "serial": 1, "matrices": "global", "unroll": 8, "columns": 1}
    if problem.capability >= (9, 0) and (itemsize == 8 or order >= 4):
        of_order = {8: {"inline": 2}, 9: {"columns": 2, "blocks": 0}} if itemsize == 8 else {}
        chosen = {"products": "tensor_cores", "parallel": 1, "inline": 1, "blocks": 2 if order >= 8 else 0}
        return others | chosen | of_order.get(order, {})
    threads = -(-nodes // 2)
    fitting = (p for p in range(1, 65) if -(-p * threads // 32) * 32 <= 1.2 * p * threads)
    parallel, inline = min(fitting, key=lambda p: abs(p * threads - 128)), 2 if order >= 5 and itemsize == 4 else 1
    return others | {"products": "threads", "parallel": parallel, "inline": inline, "blocks": 0}


@functools.cache
def kernel(problem, steps):
    """The tuned kernel that does some steps."""
    nodes, nf, itemsize = problem.element.n_nodes, problem.element.n_face_nodes, problem.dtype.itemsize
    has_volume, has_lift = "volume" in steps, "lift" in steps
    tiles, rows, of_set = -(-nodes // 16), max(nodes, 4 * nf * has_lift), f"ceil_div({nodes}, nodes)"
    batch = "(parallel * (inline if products == 'threads' else 8 * columns))"
    threads = (f"(32 * (parallel * ceil_div({tiles}, inline) if products == 'tensor_cores' else "
               f"ceil_div({of_set} * parallel, 32)))")  # fmt: skip
    # Columns of matrices are padded to at most four at once.
    entries = nodes * (3 * (nodes + -nodes % 4) * has_volume + 4 * (nf + -nf % 4) * has_lift)
    of_threads = f"12 * {batch} + parallel * {_of_set(f'6 * inline * {rows}', itemsize)}"
    shared = (f"{itemsize} * ({batch} * {6 * (rows + -rows % 8) + 20} if products == 'tensor_cores' else "
              f"{entries} * (matrices == 'shared') + {of_threads})")  # fmt: skip
    default, products = _default(problem), ["threads", "tensor_cores"][: 1 + (problem.capability >= (8, 0))]
    only = "True"
    if not (has_volume or has_lift):
        only = "products == 'threads' and inline * nodes * columns == 1 and matrices == 'global' and unroll == 8"
        shared, default = "0", {"parallel": max(1, 256 // nodes), "nodes": 1}
    space = tune.Space(
        products=products, parallel=[*range(1, 33), 48, 64, 96, 128], inline=[1, 2, 3, 4], nodes=[2, 1, 3, 4],
        serial=[1, 2, 4], matrices=["global", "shared"], unroll=[8, 4, 16],
        blocks=[0, 2, 3, 4, 5, 6, 8, 10, 12, 16], columns=[1, 2],
    ).require(
        f"{threads} <= 512", f"{threads} * max(1, blocks) <= 2048", f"{shared} <= {problem.max_shared}", only,
        f"products != 'threads' or ({threads} <= 1.2 * {of_set} * parallel or parallel * {of_set} < 32)",
        f"products != 'threads' or (inline * nodes <= {32 // itemsize} and nodes <= {nodes} and columns == 1)",
        f"products != 'tensor_cores' or (parallel <= 8 and inline * columns <= 4 and inline <= {tiles})",
        "products != 'tensor_cores' or (matrices == 'global' and unroll == 8 and nodes == 2)",
    )  # fmt: skip
    return tune.Kernel(
        functools.partial(source, problem, steps), "dg", space, block=threads,
        grid=f"ceil_div(count, {batch} * serial)", shared=shared, default=default,
    )  # fmt: skip
