"""Maxwell's equations by the discontinuous Galerkin method: ``epsilon E' = curl H``, ``mu H' = -curl E``."""

import dataclasses
import functools

import numpy as np

import rtcg.numpy as xp
from rtcg import driver, tune as rtcg_tune

from . import kernels
from .element import Element, element
from .mesh import KINDS

# M. H. Carpenter, C. A. Kennedy, NASA TM 109112 (1994): five stages of fourth order, with one register more.
STAGES_A = (0.0, -567301805773 / 1357537059087, -2404267990393 / 2016746695238, -3550918686646 / 2091501179385,
            -1275806237668 / 842570457699)  # fmt: skip
STAGES_B = (1432997174477 / 9575080441755, 5161836677717 / 13612068292357, 1720146321549 / 2090206949498,
            3134564353537 / 4481467310338, 2277821191437 / 14882151754819)  # fmt: skip
STAGES_C = (0.0, 1432997174477 / 9575080441755, 2526269341429 / 6820363962896, 2006345519317 / 3224310063776,
            2802321613138 / 2924317926251)  # fmt: skip

#: Stable time steps by order, in radii of the inscribed sphere over the speed of light: from eigenvalues up to order 6.
STABLE = (0.9, 0.55, 0.39, 0.28, 0.21, 0.165, 0.13, 0.105, 0.085)


@dataclasses.dataclass(frozen=True)
class PlaneWave:
    """An incident wave: along `direction`, with the electric field along `polarization`.

    `amplitude` is an expression of C in ``s``, the time at which the wave passed the origin: ``"sin(6.28 * s)"``.
    """

    amplitude: str
    direction: tuple = (0.0, 0.0, 1.0)
    polarization: tuple = (1.0, 0.0, 0.0)

    def __post_init__(self):
        for name in ("direction", "polarization"):
            vector = tuple(float(x) for x in getattr(self, name))
            object.__setattr__(self, name, vector)
            if len(vector) != 3 or not np.isfinite(vector).all():
                raise ValueError(f"{name} is {vector!r}; expected three finite numbers")
        if abs(np.linalg.norm(self.direction) - 1) > 1e-12:
            raise ValueError(f"direction is {self.direction!r}; expected a vector of length 1")
        if abs(np.dot(self.direction, self.polarization)) > 1e-12:
            raise ValueError(f"polarization is {self.polarization!r}; expected one across direction {self.direction!r}")

    @property
    def magnetic(self):
        """The magnetic field, where epsilon and mu are 1."""
        return tuple(np.cross(self.direction, self.polarization).tolist())


@dataclasses.dataclass(frozen=True)
class Problem:
    """What sources of kernels depend on."""

    element: Element
    dtype: np.dtype
    flux: float
    layout: kernels.Layout
    has_materials: bool
    wave: PlaneWave | None
    max_shared: int
    capability: tuple


class Maxwell:
    """A solver of Maxwell's equations on a mesh.

    Parameters
    ----------
    mesh : Mesh
        Its boundary has the kinds "conductor" (perfect), "absorbing" (characteristic), "incident" (absorbing, and the
        wave comes in) and "scatterer" (a perfect conductor in the wave, where the fields are the scattered ones).
    order : int
        Of the polynomials, 1 to 9.
    flux : float
        0 is the central flux, which keeps the energy; 1 the upwind one.
    dtype : dtype
        float32 or float64.
    epsilon, mu : float or array
        Of each element.
    wave : PlaneWave, optional
        The incident wave; needed where a boundary is "incident" or "scatterer".
    layout : str
        One of `kernels.LAYOUTS`: where numbers are in memory.
    split : int
        Of how many kernels a right-hand side is made: 1 to 4 (`kernels.SPLITS`).
    configs : dict, optional
        A configuration for each kernel, by its steps. By default the tuned one, where one is stored.

    Attributes
    ----------
    time : float
    """

    def __init__(
        self, mesh, order, flux=1.0, dtype=np.float32, epsilon=1.0, mu=1.0, wave=None, layout="microblock", split=1,
        configs=None, ghosts=0,
    ):  # fmt: skip
        dtype = np.dtype(dtype)
        if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype is {dtype}; expected float32 or float64")
        if not 0 <= flux <= 1:
            raise ValueError(f"flux is {flux!r}; expected a number from 0 (central) to 1 (upwind)")
        if split not in kernels.SPLITS:
            raise ValueError(f"split is {split!r}; expected a number of kernels from 1 to 4")
        self.mesh, self.element, self.dtype, self.configs = mesh, element(order), dtype, configs or {}
        self.steps = kernels.SPLITS[split]
        self.n_total = len(mesh) + ghosts
        self._epsilon = self._checked("epsilon", epsilon)
        self._mu = self._checked("mu", mu)
        has_materials = not (self._epsilon == 1).all() or not (self._mu == 1).all()
        kinds = [KINDS[kind] for kind in np.unique(-1 - mesh.neighbors[mesh.neighbors < 0])]
        kinds = [kind for kind in kinds if kind in ("incident", "scatterer")]
        if kinds and wave is None:
            raise ValueError(f"wave is None; expected a PlaneWave, as the mesh has a boundary {kinds[0]!r}")
        device = driver.Context.get_device()
        shared = device.get_attribute(driver.device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        storage = kernels.Layout(layout, self.element.n_nodes, self.n_total)
        if storage.size >= 1 << 31:
            raise ValueError(f"fields have {storage.size} numbers; expected less than 2^31: divide the mesh")
        self.problem = Problem(self.element, dtype, float(flux), storage, has_materials, wave if kinds else None,
                               shared, device.compute_capability())  # fmt: skip
        self._of_mesh = self._upload()
        *self._states, self._residual, self._rhs = (xp.zeros(storage.size, dtype) for _ in range(4))
        self._fluxes = xp.zeros(self.n_total * 24 * self.element.n_face_nodes if split > 2 else 1, dtype)
        self._clock = xp.zeros(2, np.float64)
        self.time, self._now, self._graphs = 0.0, 0, [None, None]

    def _checked(self, name, values):
        values = np.broadcast_to(np.asarray(values, np.float64), self.n_total)
        bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {values[bad[0]]}; expected finite numbers above 0")
        return values

    def _upload(self):
        """What kernels read of the mesh and of the element, in the order of their arguments."""
        mesh, element, wave = self.mesh, self.element, self.problem.wave

        def rows(array, dtype=self.dtype):
            """Numbers of each element in vectors of four, with room for ghosts, on the device."""
            missing = [(0, self.n_total - len(array)), *[(0, 0)] * (array.ndim - 2), (0, -array.shape[-1] % 4)]
            return xp.asarray(np.pad(array, missing).astype(dtype))

        impedance = np.sqrt(self._mu / self._epsilon)
        return (
            rows(2 * mesh.gradients[:, 1:].transpose(0, 2, 1)),  # of r, s, t, which are twice as long
            rows(np.concatenate([mesh.normals, mesh.face_scales[..., None]], axis=2)),
            rows(np.stack([mesh.neighbors, mesh.patterns], axis=2).reshape(-1, 8), np.int32),
            rows(np.stack([1 / self._epsilon, 1 / self._mu, impedance, 1 / impedance], axis=1)),
            rows(mesh.vertices[mesh.elements] @ (wave.direction if wave else np.zeros(3))),
            xp.asarray(kernels.matrices(element, self.dtype.itemsize)[0].astype(self.dtype)),
            xp.asarray(np.concatenate([element.patterns, element.face_nodes.astype(np.uint8)]).ravel()),
        )

    # Fields.

    def store(self, fields):
        """Fields (6, elements, nodes) in the layout of the solver, on the device."""
        shape = (6, self.n_total, self.element.n_nodes)
        if tuple(fields.shape) != shape:
            raise ValueError(f"fields have shape {tuple(fields.shape)}; expected {shape}")
        return self.problem.layout.store(xp.asarray(fields, self.dtype))

    @property
    def fields(self):
        """The fields now: Ex, Ey, Ez, Hx, Hy, Hz as an array (6, elements, nodes) on the device."""
        return self.problem.layout.fields(self._states[self._now])

    @fields.setter
    def fields(self, fields):
        xp.copyto(self._states[self._now], self.store(fields))

    def at_nodes(self, function):
        """``function(x, y, z)`` at the nodes: six arrays, as one array (6, elements, nodes)."""
        places = self.mesh.positions(self.element)
        values = function(*places.transpose(2, 0, 1))
        return np.stack([np.broadcast_to(np.asarray(v, float), places.shape[:2]) for v in values]).astype(self.dtype)

    def energy(self):
        """Half the integral of ``epsilon E^2 + mu H^2``."""
        fields = self.fields.get().astype(np.float64)
        squares = np.einsum("ckn,nm,ckm->ck", fields, self.element.mass, fields)
        material = np.stack([self._epsilon] * 3 + [self._mu] * 3)
        return float((material * squares).sum(axis=0)[: len(self.mesh)] @ self.mesh.volumes) * 3 / 8

    # Right-hand sides.

    def kernels(self):
        """The tuned kernels by their steps."""
        return {steps: kernels.kernel(self.problem, steps) for steps in self.steps}

    def arguments(self, steps, source, out, stage=0, first=0, count=None):
        """What a kernel is called with."""
        real = self.dtype.type
        return (
            self._fluxes if steps == "flux" else out if "stage" in steps else self._rhs, self._residual, source,
            self._rhs, self._fluxes, *self._of_mesh, self._clock, real(STAGES_A[stage]), real(STAGES_B[stage]),
            np.float64(STAGES_C[stage]), np.int32(self.n_total), np.int32(first),
            np.int32(len(self.mesh) if count is None else count),
        )  # fmt: skip

    def launch(self, steps, *args, **options):
        """Launch a kernel with its `arguments`, in the stream that the thread has entered."""
        kernel, config = kernels.kernel(self.problem, steps), self.configs.get(steps)
        run = kernel if config is None else kernel.variant(**config)
        run(*self.arguments(steps, *args, **options))

    def rhs(self, q, time=0.0):
        """The time derivative of fields (6, elements, nodes), in the same shape, on the device; does not wait."""
        source = self.store(q)
        self._clock[0] = time
        for steps in self.steps:
            if without := steps.removesuffix("stage").rstrip():
                self.launch(without, source, self._rhs)
        return self.problem.layout.fields(self._rhs).copy()

    @functools.cached_property
    def max_dt(self):
        """The longest stable time step: what eigenvalues of the upwind operator allow, less a tenth."""
        speeds = 1 / np.sqrt(self._epsilon * self._mu)
        return float((self.mesh.radii / speeds[: len(self.mesh)]).min() * STABLE[self.element.order - 1])

    def stage_states(self, stage):
        """What a stage of the step that comes next reads and writes."""
        return self._states[self._now ^ stage % 2], self._states[self._now ^ 1 - stage % 2]

    def advance_clock(self):
        self._clock[:1] += self._clock[1:]

    def set_clock(self, time, dt):
        xp.copyto(self._clock, xp.asarray([time, dt]))

    def swap(self):
        """After a step the other state is that of now."""
        self._now ^= 1

    def _captured(self):
        """The graph of the step that comes next."""
        stream = driver.Stream()
        with stream.capture() as graph, stream:
            for stage in range(5):
                for steps in self.steps:
                    self.launch(steps, *self.stage_states(stage), stage=stage)
            self.advance_clock()
        return graph.instantiate()

    @staticmethod
    def steps_of(duration, dt, max_dt):
        """How many steps of at most `dt` a duration has."""
        if not (np.isfinite(duration) and duration >= 0):
            raise ValueError(f"duration is {duration!r}; expected a finite number of at least 0")
        if not 0 < dt <= max_dt:
            raise ValueError(f"dt is {dt!r}; expected above 0 and at most {max_dt:.4g}, where steps are stable")
        return int(np.ceil(duration / dt * (1 - 1e-12)))

    def run(self, duration, dt=None):
        """Advance the fields by a time, in equal steps of at most `dt`; does not wait.

        Each step is one launch of a graph.
        """
        steps = self.steps_of(duration, self.max_dt if dt is None else dt, self.max_dt)
        self.set_clock(self.time, duration / max(steps, 1))
        for _ in range(steps):
            if self._graphs[self._now] is None:
                self._graphs[self._now] = self._captured()
            self._graphs[self._now].launch()
            self.swap()
        self.time += duration


def tune(
    mesh, order, flux=1.0, dtype=np.float32, budget="60 s", layouts=kernels.LAYOUTS, splits=(1, 2, 3, 4), **options
):
    """Search for the fastest layout and split, with the fastest kernels for each: a `rtcg.tune.NestedReport`.

    The score of a layout and a split is the time of all their kernels, one stage of a step. The solver that was found
    is ``Maxwell(mesh, order, ..., **report.best)``: its kernels come from the store. Kernels whose occupancy is below
    0.15 of the best seen are not timed. `options` are those of `Maxwell`.
    """

    def parts(layout, split):
        solver = Maxwell(mesh, order, flux, dtype, layout=layout, split=split, **options)
        for state in solver._states:
            xp.copyto(state, xp.sin(xp.arange(state.size, dtype=state.dtype)))
        solver._clock[1] = solver.max_dt
        return {
            steps: rtcg_tune.Part(
                kernels.kernel(solver.problem, steps), *solver.arguments(steps, *solver._states, stage=1),
                occupancy_slack=0.15,
            )
            for steps in solver.steps
        }  # fmt: skip

    space = rtcg_tune.Space(layout=list(layouts), split=list(splits))
    return rtcg_tune.nested(space, parts, budget=budget, progress=False)
