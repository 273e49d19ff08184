"""Poisson's equation ``-div grad u = f``, 0 at the boundary, by the symmetric interior penalty method.

D. N. Arnold, SIAM J. Numer. Anal. 19 (1982); the penalty is that of K. Shahbazi, J. Comput. Phys. 205 (2005).
"""

import numpy as np

import rtcg
from rtcg.sparse import linalg

from .operators import Operators


class Poisson:
    """The operator of a mesh, never a matrix; conjugate gradients solve with it."""

    def __init__(self, mesh, order, dtype=np.float64):
        self.on = on = Operators(mesh, order, dtype)
        n = on.element.order
        scales = mesh.face_scales
        of_neighbor = scales[np.maximum(mesh.neighbors, 0), mesh.patterns // 6]
        largest = np.where(mesh.neighbors >= 0, np.maximum(scales, of_neighbor), scales)
        self.penalty = on._upload(np.repeat((n + 1) * (n + 3) * largest, on.element.n_face_nodes, axis=1))
        self.share = (1 + on.at_boundary) / 2  # of a jump, and of a slope, that belongs to this side
        self.size = len(mesh) * on.element.n_nodes
        self._transposed = [on._upload(d) for d in on.element.derivatives]
        # A mass matrix is far cheaper to invert than this operator, and as ill-conditioned as elements are unequal.
        self._inverse_mass = on._upload(np.linalg.inv(on.element.mass))
        self._inverse_size = on._upload(mesh.volumes[:, None] ** (-1 / 3))

    @rtcg.fuse
    def apply(self, u):
        """The operator times u, in the weak form: integrals against each basis function."""
        on = self.on
        u = u.reshape(len(on.mesh), -1)
        slopes = on.gradient(u)
        own, beyond = on.traces(u)
        jump = own - beyond * (1 - on.at_boundary)
        across = 0
        for x in range(3):
            slope, other = on.traces(slopes[x])
            across = across + on.normals[x] * (slope + other) / 2
        weighted = [slopes[x] - on.lift(on.normals[x] * self.share * jump) for x in range(3)]
        weighted = [on.of_element * (w @ on.mass) for w in weighted]
        strong = on.of_element * (on.lift(self.penalty * jump - across) @ on.mass)
        for a in range(3):
            strong = strong + sum(on.metrics[a, x] * weighted[x] for x in range(3)) @ self._transposed[a]
        return strong.reshape(-1)

    def _precondition(self, r):
        r = r.reshape(len(self.on.mesh), -1)
        return (self._inverse_size * (r @ self._inverse_mass)).reshape(-1)

    def solve(self, f, rtol=1e-10):
        """``(u, report)`` for f (elements, nodes)."""
        on = self.on
        shape = (self.size, self.size)
        operator = linalg.LinearOperator(shape, matvec=self.apply, dtype=on.dtype)
        inverse = linalg.LinearOperator(shape, matvec=self._precondition, dtype=on.dtype)
        b = (on.of_element * (f @ on.mass)).reshape(-1)
        u, info, report = linalg.cg(operator, b, rtol=rtol, M=inverse, maxiter=2000, return_report=True)
        if info:
            raise ArithmeticError(f"conjugate gradients stopped at {report.residual:.3g} after {report.iterations}")
        return u.reshape(len(on.mesh), -1), report
