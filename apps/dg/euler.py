"""Compressible flow: Euler's equations of an ideal gas, with viscosity where the solution is not smooth.

Fluxes at faces are Lax's and Friedrichs'. The indicator of shocks is that of P.-O. Persson, J. Peraire, AIAA 2006-112:
how much of an element's density is in polynomials of the highest degree.
"""

import numpy as np

import rtcg
import rtcg.numpy as xp
from rtcg import driver

from .maxwell import STABLE, STAGES_A, STAGES_B, Maxwell
from .operators import Operators

GAMMA = 1.4


class Euler:
    """Flow in a mesh whose boundary is walls: density, momentum and energy, as `state` (5, elements, nodes).

    Parameters
    ----------
    mesh, order, dtype
    viscosity : float
        Of an element that is all shock: this times its size over the order, times the fastest speed.
    """

    def __init__(self, mesh, order, dtype=np.float64, viscosity=0.25):
        self.on = on = Operators(mesh, order, dtype)
        if order < 2:
            raise ValueError(f"order is {order}; expected at least 2, for an indicator of shocks")
        e = on.element
        # Values at nodes to coefficients of the orthonormal polynomials: all, and those below the highest degree.
        degrees = np.array([i + j + k for i in range(order + 1) for j in range(order + 1 - i)
                            for k in range(order + 1 - i - j)])  # fmt: skip
        modes = np.linalg.inv(e.basis(e.nodes)).T
        self._all, self._highest = on._upload(modes), on._upload(modes[:, degrees == order])
        self._size = on._upload(viscosity * (6 * mesh.volumes[:, None]) ** (1 / 3) / order)
        self.state = xp.zeros((5, len(mesh), e.n_nodes), on.dtype)
        self._residual, self._dt = xp.zeros_like(self.state), xp.zeros(1, on.dtype)
        self._graph, self.time = None, 0.0

    def start(self, density, velocity, pressure):
        """Set density, velocity (three arrays or numbers) and pressure at the nodes."""
        velocity = [density * 0 + v for v in velocity]
        kinetic = sum(v * v for v in velocity) / 2
        rows = [density, *(density * v for v in velocity), pressure / (GAMMA - 1) + density * kinetic]
        xp.copyto(self.state, xp.stack(rows))

    @staticmethod
    def pressure(u):
        return (GAMMA - 1) * (u[4] - (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]))

    def _across(self, u, pressure):
        """The flux through faces, and the fastest speed there."""
        normals = self.on.normals
        speed = sum(normals[x] * u[1 + x] for x in range(3)) / u[0]
        rows = [u[0] * speed, *(u[1 + x] * speed + pressure * normals[x] for x in range(3)), (u[4] + pressure) * speed]
        return xp.stack(rows), abs(speed) + xp.sqrt(GAMMA * pressure / u[0])

    def viscosity(self, u):
        """Of each element, (elements, 1): 0 where it is smooth."""
        n = self.on.element.order
        highest, total = ((u[0] @ m) ** 2 for m in (self._highest, self._all))
        share = xp.log10(highest.sum(axis=1, keepdims=True) / total.sum(axis=1, keepdims=True) + 1e-30)
        ramp = xp.clip((share + 4 * np.log10(n) + 4.25) / 2, 0, 1)
        speed = xp.sqrt(GAMMA * self.pressure(u) / u[0]) + abs(u[1:4]).max(axis=0) / u[0]
        return self._size * xp.sin(ramp * (np.pi / 2)) ** 2 * speed.max(axis=1, keepdims=True)

    @rtcg.fuse
    def rhs(self, u):
        """The time derivative of a state."""
        on, pressure = self.on, self.pressure(u)
        velocity = u[1:4] / u[0]
        inside = [u * velocity[x] for x in range(3)]
        for x in range(3):
            inside[x][1 + x] += pressure
            inside[x][4] += pressure * velocity[x]
        own, beyond = on.traces(u)
        # At a wall momentum is mirrored.
        back = 2 * on.at_boundary * sum(on.normals[x] * own[1 + x] for x in range(3))
        beyond = xp.concatenate([beyond[:1], beyond[1:4] - back * on.normals, beyond[4:]])
        (flux, speed), (flux2, speed2) = (self._across(side, self.pressure(side)) for side in (own, beyond))
        jump = own - beyond
        change = on.lift((flux - flux2 - xp.maximum(speed, speed2) * jump) / 2) - on.divergence(inside)
        # Viscosity: a gradient of u, and the divergence of it times the viscosity, with means at faces.
        strength, slopes = self.viscosity(u), on.gradient(u)
        slopes = [strength * (slopes[x] - on.lift(on.normals[x] * jump / 2)) for x in range(3)]
        missing = 0
        for x in range(3):
            here, there = on.traces(slopes[x])
            missing = missing + on.normals[x] * (here - there * (1 - 2 * on.at_boundary)) / 2
        return change + on.divergence(slopes) - on.lift(missing)

    def max_dt(self, speed):
        """A stable time step where nothing is faster than `speed`, with the viscosity of shocks."""
        length = self.on.mesh.radii * STABLE[self.on.element.order - 1]
        viscosity = self._size.get().ravel() * speed
        return float((1 / (speed / length + 4 * viscosity / length**2)).min())

    def _step(self):
        for a, b in zip(STAGES_A, STAGES_B, strict=True):
            self._residual *= a
            self._residual += self._dt * self.rhs(self.state)
            self.state += b * self._residual

    def run(self, duration, dt):
        """Advance by a time in equal steps of at most `dt`: each is one launch of a graph. Does not wait."""
        steps = Maxwell.steps_of(duration, dt, np.inf)
        xp.copyto(self._dt, xp.asarray([duration / max(steps, 1)], self.on.dtype))
        if self._graph is None:
            before = self.state.copy(), self._residual.copy()
            self._step()  # everything is compiled
            for array, value in zip((self.state, self._residual), before, strict=True):
                xp.copyto(array, value)
            stream = driver.Stream()
            driver.Context.synchronize()
            with stream.capture() as graph, stream:
                self._step()
            self._graph = graph.instantiate()
        for _ in range(steps):
            self._graph.launch()
        self.time += duration
