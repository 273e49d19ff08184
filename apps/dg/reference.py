"""The oracle: the same operator by quadrature in NumPy, and exact solutions. It shares no code with the solver."""

import numpy as np


def _powers(order, points):
    """Products of Legendre polynomials that span all polynomials of an order: (points, Np); coordinates in (0, 1)."""
    legendre = [np.polynomial.legendre.legvander(2 * points[:, axis] - 1, order) for axis in range(points.shape[1])]
    degrees = [d for d in np.ndindex(*(order + 1,) * points.shape[1]) if sum(d) <= order]
    return np.stack([np.prod([legendre[axis][:, n] for axis, n in enumerate(d)], axis=0) for d in degrees], axis=1)


def _simplex_rule(dimensions, count):
    """Points (points, dimensions) in the unit simplex and weights, exact to degree 2 count - 1 - dimensions or more."""
    x, w = np.polynomial.legendre.leggauss(count)
    x, w = (x + 1) / 2, w / 2
    grids = np.meshgrid(*[x] * dimensions, indexing="ij")
    weights = np.prod(np.meshgrid(*[w] * dimensions, indexing="ij"), axis=0)
    points, left = [], np.ones_like(weights)
    for axis in range(dimensions):  # Duffy's map
        points.append(left * grids[axis])
        weights = weights * left
        left = left * (1 - grids[axis])
    return np.stack([p.ravel() for p in points], axis=1), weights.ravel()


class Operator:
    """The right-hand side of Maxwell's equations, as a dense matrix.

    Parameters
    ----------
    vertices, elements : array
    nodes : array
        Positions (elements, nodes, 3) of the nodes.
    kind : callable
        Of a face in the middle `x` on the boundary: "conductor" or "absorbing".
    """

    def __init__(self, vertices, elements, nodes, order, flux, epsilon, mu, kind):
        self.n, (self.elements, self.nodes) = order, nodes.shape[:2]
        self.corners = vertices[elements]
        self.inverse = np.linalg.inv((self.corners[:, 1:] - self.corners[:, :1]).transpose(0, 2, 1))
        self.change = np.linalg.inv(_powers(order, self._local(0, nodes[0])))
        self.matrix = np.zeros((6, self.elements, self.nodes, 6, self.elements, self.nodes))
        self.epsilon, self.mu, self.flux, self.kind = epsilon, mu, flux, kind
        self._faces = {}
        for k in range(self.elements):
            for f in range(4):
                self._faces.setdefault(tuple(sorted(np.delete(elements[k], f))), []).append(k)
        for k in range(self.elements):
            self._volume(k)
            for f in range(4):
                self._face(k, f, self._faces[tuple(sorted(np.delete(elements[k], f)))])
        inverse = {}
        for k in range(self.elements):
            inverse[k] = np.linalg.inv(self._mass(k))
            for c in range(6):
                self.matrix[c, k] = np.einsum("nm,mdkl->ndkl", inverse[k], self.matrix[c, k])
                self.matrix[c, k] /= epsilon[k] if c < 3 else mu[k]
        size = 6 * self.elements * self.nodes
        self.matrix = self.matrix.reshape(size, size)

    def _local(self, k, points):
        return (points - self.corners[k, 0]) @ self.inverse[k].T

    def _values(self, k, points):
        """Of the basis functions of an element: (points, nodes)."""
        return _powers(self.n, self._local(k, points)) @ self.change

    def _quadrature(self, k):
        points, weights = _simplex_rule(3, self.n + 2)
        edges = self.corners[k, 1:] - self.corners[k, 0]
        return self.corners[k, 0] + points @ edges, weights * abs(np.linalg.det(edges))

    def _mass(self, k):
        points, weights = self._quadrature(k)
        values = self._values(k, points)
        return values.T @ (weights[:, None] * values)

    def _slopes(self, k, points):
        """Derivatives of the basis functions along x, y, z: (3, points, nodes), from derivatives of Legendre's."""
        local = self._local(k, points)
        value = [np.polynomial.legendre.legvander(2 * local[:, a] - 1, self.n) for a in range(3)]
        slope = []
        for a in range(3):
            unit = np.eye(self.n + 1)
            each = [np.polynomial.legendre.legval(2 * local[:, a] - 1, np.polynomial.legendre.legder(u)) for u in unit]
            slope.append(2 * np.stack(each, axis=1))
        degrees = [d for d in np.ndindex(*(self.n + 1,) * 3) if sum(d) <= self.n]
        local_slopes = [
            np.stack([np.prod([(slope if a == b else value)[b][:, n] for b, n in enumerate(d)], axis=0)
                      for d in degrees], axis=1) @ self.change
            for a in range(3)
        ]  # fmt: skip
        return np.einsum("ax,apn->xpn", self.inverse[k], local_slopes)

    def _volume(self, k):
        points, weights = self._quadrature(k)
        values = self._values(k, points)
        along = [values.T @ (weights[:, None] * slope) for slope in self._slopes(k, points)]
        for x in range(3):
            for y, z, sign in [((x + 1) % 3, (x + 2) % 3, 1), ((x + 2) % 3, (x + 1) % 3, -1)]:
                self.matrix[x, k, :, 3 + z, k] += sign * along[y]
                self.matrix[3 + x, k, :, z, k] -= sign * along[y]

    def _face(self, k, f, sides):
        triangle = np.delete(self.corners[k], f, axis=0)
        points, weights = _simplex_rule(2, self.n + 2)
        across = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
        normal = across / np.linalg.norm(across)
        normal *= np.sign(normal @ (triangle[0] - self.corners[k, f]))
        points = triangle[0] + points @ (triangle[1:] - triangle[0])
        values = self._values(k, points)
        tested = values.T * (weights * np.linalg.norm(across))
        other = sum(sides) - k if len(sides) == 2 else k
        kind = "inside" if len(sides) == 2 else self.kind(triangle.mean(axis=0))
        outer = self._values(other, points)
        z, z2 = (np.sqrt(self.mu[j] / self.epsilon[j]) for j in (k, other))
        alpha = 1 if kind == "absorbing" else self.flux
        mirrored = {"inside": (1, 1), "conductor": (-1, 1), "absorbing": (0, 0)}[kind]
        cross = np.array([[0, -normal[2], normal[1]], [normal[2], 0, -normal[0]], [-normal[1], normal[0], 0]])
        tangential = np.eye(3) - np.outer(normal, normal)
        # Of the states that meet, by characteristics: see Hesthaven and Warburton (2002).
        blocks = {(0, 1): z2 * cross / (z + z2), (0, 0): alpha * tangential / (z + z2),
                  (1, 0): -cross / z2 / (1 / z + 1 / z2), (1, 1): alpha * tangential / (1 / z + 1 / z2)}  # fmt: skip
        for (to, of), block in blocks.items():
            for x in range(3):
                for y in range(3):
                    row, column = 3 * to + x, 3 * of + y
                    self.matrix[row, k, :, column, other] += block[x, y] * mirrored[of] * (tested @ outer)
                    self.matrix[row, k, :, column, k] -= block[x, y] * (tested @ values)


def cavity_mode(x, y, z, t):
    """The fields of the mode TM(1, 2, 2) of the unit cube."""
    kx, ky, kz = np.pi * np.array([1, 2, 2])
    across = kx**2 + ky**2
    omega = np.sqrt(across + kz**2)
    sx, sy, sz, cx, cy, cz = (f(k * u) for f in (np.sin, np.cos) for k, u in ((kx, x), (ky, y), (kz, z)))
    c, s = np.cos(omega * t), np.sin(omega * t)
    return np.stack([
        -kx * kz / across * cx * sy * sz * c, -ky * kz / across * sx * cy * sz * c, sx * sy * cz * c,
        -ky * omega / across * sx * cy * cz * s, kx * omega / across * cx * sy * cz * s, 0 * x,
    ])  # fmt: skip


def rotation(*angles):
    """A rotation about x, then y, then z."""
    matrix = np.eye(3)
    for axis, angle in enumerate(angles):
        one = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        one[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        matrix = one @ matrix
    return matrix


def shock_tube(x, t, left=(1.0, 1.0), right=(0.125, 0.1), gamma=1.4):
    """Density and pressure of a gas at rest with a jump at x = 0 (Sod's tube), at a time; E. F. Toro (2009)."""

    def velocity_change(p, density, pressure):
        sound = np.sqrt(gamma * pressure / density)
        if p > pressure:
            a, b = 2 / ((gamma + 1) * density), (gamma - 1) / (gamma + 1) * pressure
            return (p - pressure) * np.sqrt(a / (p + b))
        return 2 * sound / (gamma - 1) * ((p / pressure) ** ((gamma - 1) / (2 * gamma)) - 1)

    low, high = right[1], left[1]
    for _ in range(100):
        middle = (low + high) / 2
        total = velocity_change(middle, *left) + velocity_change(middle, *right)
        low, high = (middle, high) if total < 0 else (low, middle)
    u = -velocity_change(middle, *left)
    s = np.asarray(x) / t
    sound = np.sqrt(gamma * left[1] / left[0])
    ratio = (gamma - 1) / (gamma + 1)
    behind = left[0] * (middle / left[1]) ** (1 / gamma)  # the fan ends here
    fan = left[0] * (2 / (gamma + 1) - ratio * s / sound).clip(0) ** (2 / (gamma - 1))
    shocked = right[0] * (middle / right[1] + ratio) / (ratio * middle / right[1] + 1)
    front = np.sqrt(gamma * right[1] / right[0]) * np.sqrt((middle / right[1] + ratio) / (1 + ratio))
    tail = u - np.sqrt(gamma * middle / behind)
    regions = [s < -sound, s < tail, s < u, s < front]
    density = np.select(regions, [left[0], fan, behind, shocked], right[0])
    pressure = np.select(regions, [left[1], left[1] * (fan / left[0]) ** gamma, middle, middle], right[1])
    return density, pressure


def mie(points, k, terms=None):
    """The electric field scattered by a perfectly conducting sphere of radius 1, at points (n, 3) outside.

    The incident wave is ``x exp(i k (z - t))``. G. Mie (1908), as in C. F. Bohren, D. R. Huffman (1983).
    """
    from scipy.special import spherical_jn, spherical_yn

    x, y, z = np.asarray(points, float).T
    r = np.sqrt(x * x + y * y + z * z)
    cosine, phi = z / r, np.arctan2(y, x)
    sine = np.sqrt(1 - cosine**2)
    e_r = np.stack([sine * np.cos(phi), sine * np.sin(phi), cosine])
    e_theta = np.stack([cosine * np.cos(phi), cosine * np.sin(phi), -sine])
    e_phi = np.stack([-np.sin(phi), np.cos(phi), 0 * phi])
    field, before, pi = np.zeros((3, len(r)), complex), np.zeros_like(r), np.ones_like(r)
    for n in range(1, (terms or int(k + 4 * k ** (1 / 3) + 12)) + 1):
        tau = n * cosine * pi - (n + 1) * before

        def outgoing(rho, n=n):
            """Hankel's function, and the derivative of rho times it."""
            h, slope = (spherical_jn(n, rho, d) + 1j * spherical_yn(n, rho, d) for d in (False, True))
            return h, h + rho * slope

        at_sphere, slope_there = outgoing(k)
        a = (spherical_jn(n, k) + k * spherical_jn(n, k, True)) / slope_there
        b = spherical_jn(n, k) / at_sphere
        h, slope = outgoing(k * r)
        magnetic = np.cos(phi) * pi * h * e_theta - np.sin(phi) * tau * h * e_phi
        electric = (np.cos(phi) * n * (n + 1) * sine * pi * h * e_r + np.cos(phi) * tau * slope * e_theta
                    - np.sin(phi) * pi * slope * e_phi) / (k * r)  # fmt: skip
        field += 1j**n * (2 * n + 1) / (n * (n + 1)) * (1j * a * electric - b * magnetic)
        before, pi = pi, ((2 * n + 1) * cosine * pi - (n + 1) * before) / n
    return field.T
