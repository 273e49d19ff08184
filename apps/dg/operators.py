"""What equations in array expressions need of a mesh: derivatives, traces at faces, lifting.

Scalars at nodes are arrays (..., elements, nodes) on the device, numbers at faces (..., elements, 4 * face nodes).
"""

import numpy as np

import rtcg.numpy as xp

from .element import element
from .mesh import KINDS


class Operators:
    """The operators of a mesh for an order and a dtype.

    Attributes
    ----------
    normals : array
        (3, elements, face numbers).
    scale : array
        (elements, face numbers): surface over volume, as lifting needs it.
    beyond : array
        Where the number beyond each face node is among all nodes; at the boundary the number itself.
    at_boundary : array
        1 where nothing is beyond, else 0; and `at(kind)` for one kind of boundary.
    """

    def __init__(self, mesh, order, dtype=np.float64):
        self.mesh, self.element, self.dtype = mesh, element(order), np.dtype(dtype)
        e, n_elements = self.element, len(mesh)
        self.metrics = self._upload(2 * mesh.gradients[:, 1:].transpose(1, 2, 0)[..., None])  # (r, x, elements, 1)
        self.stacked = self._upload(np.concatenate(list(e.derivatives.transpose(0, 2, 1))))  # (3 nodes, nodes)
        self.derivatives = [self._upload(d.T) for d in e.derivatives]
        self.lifting, self.mass = self._upload(e.lift.T), self._upload(e.mass)
        self.of_element = self._upload(mesh.volumes[:, None] * 0.75)
        per_node = np.repeat(np.arange(4), e.n_face_nodes)
        self.normals = self._upload(mesh.normals[:, per_node].transpose(2, 0, 1))
        self.scale = self._upload(mesh.face_scales[:, per_node])
        own = np.arange(n_elements)[:, None] * e.n_nodes + e.face_nodes.ravel()
        neighbors = mesh.neighbors[:, per_node]
        node = e.patterns[mesh.patterns].reshape(n_elements, -1)
        self._kinds = np.where(neighbors < 0, -1 - neighbors, -1)
        self.own = xp.asarray(own)
        self.beyond = xp.asarray(np.where(neighbors >= 0, neighbors * e.n_nodes + node, own))
        self.at_boundary = self._upload(neighbors < 0)

    def _upload(self, array):
        return xp.asarray(np.ascontiguousarray(array, self.dtype))

    def at(self, kind):
        """1 at faces of one kind of boundary."""
        return self._upload(self._kinds == KINDS.index(kind))

    def at_nodes(self, function):
        """``function(x, y, z)`` at the nodes, (elements, nodes)."""
        places = self.mesh.positions(self.element)
        return self._upload(np.broadcast_to(function(*places.transpose(2, 0, 1)), places.shape[:2]))

    def traces(self, u):
        """``(own, beyond)`` at faces."""
        flat = u.reshape(*u.shape[:-2], -1)
        return flat[..., self.own], flat[..., self.beyond]

    def gradient(self, u):
        """``[u_x, u_y, u_z]`` within elements."""
        along = [u @ d for d in self.derivatives]
        return [sum(self.metrics[a, x] * along[a] for a in range(3)) for x in range(3)]

    def divergence(self, v):
        """``v[0]_x + v[1]_y + v[2]_z`` within elements."""
        parts = [sum(self.metrics[a, x] * v[x] for x in range(3)) for a in range(3)]
        return xp.concatenate(parts, axis=-1) @ self.stacked

    def lift(self, at_faces):
        """What numbers at faces add at the nodes."""
        return (self.scale * at_faces) @ self.lifting

    def integral(self, u):
        return float((self.of_element * (u @ self.mass)).sum().get())
