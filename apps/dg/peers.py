"""What the benchmark prints beside ours: the right-hand side as einsums and gathers in arrays, and cuBLAS.

Fields are (6, elements, nodes), in a closed conductor without materials, with the upwind flux.
"""

import numpy as np

import rtcg.numpy as xp

#: GFLOP/s of a GTX 280 by order, of the paper on PyCUDA (2011) and the article before it (2009).
PUBLISHED = {3: 138, 5: 200}
PUBLISHED_DEVICE = "GTX 280, float32"


class Arrays:
    """The arrays of a right-hand side on a mesh, or on the first elements of one."""

    def __init__(self, solver, dtype=None, count=None):
        mesh, element, dtype = solver.mesh, solver.element, dtype or solver.dtype
        self.count = count = count or len(mesh)
        self.derivatives, self.lift = element.derivatives.astype(dtype), element.lift.astype(dtype)
        self.metrics = (2 * mesh.gradients[:, 1:]).astype(dtype)  # (elements, r, x)
        per_node = np.repeat(np.arange(4), element.n_face_nodes)
        self.normals = mesh.normals[:, per_node].transpose(2, 0, 1).astype(dtype)
        self.scale = (mesh.face_scales[:, per_node] / 2).astype(dtype)
        own = np.arange(len(mesh))[:, None] * element.n_nodes + element.face_nodes.ravel()
        neighbors = mesh.neighbors[:, per_node]
        nodes = element.patterns[mesh.patterns].reshape(len(mesh), -1)
        self.own, self.beyond = own, np.where(neighbors >= 0, neighbors * element.n_nodes + nodes, own)
        self.mirror = np.where(neighbors >= 0, 1, -1).astype(dtype)
        for name in ("metrics", "scale", "own", "beyond", "mirror"):
            setattr(self, name, getattr(self, name)[:count])
        self.normals = self.normals[:, :count]


def _cross(np, a, b):
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rhs(np, arrays, q):
    """The right-hand side by the functions of `np`: NumPy's, ours, or JAX's."""
    local = np.einsum("anm,ckm->ackn", arrays.derivatives, q[:, : arrays.count])
    slopes = np.einsum("kax,ackn->xckn", arrays.metrics, local)
    flat = q.reshape(6, -1)
    own, beyond = flat[:, arrays.own], flat[:, arrays.beyond]
    de, dh = beyond[:3] * arrays.mirror - own[:3], beyond[3:] - own[3:]
    n = arrays.normals
    of_e = arrays.scale * (_cross(np, n, dh) + de - n * (n * de).sum(0))
    of_h = arrays.scale * (dh - n * (n * dh).sum(0) - _cross(np, n, de))
    volume = [slopes[y, 3 + z] - slopes[z, 3 + y] for y, z in ((1, 2), (2, 0), (0, 1))]
    volume += [slopes[z, y] - slopes[y, z] for y, z in ((1, 2), (2, 0), (0, 1))]
    return np.stack(volume) + np.einsum("nj,ckj->ckn", arrays.lift, np.concatenate([of_e, of_h]))


def on_host(solver, fields, count):
    """NumPy's, on one core, for the first elements."""
    arrays = Arrays(solver, count=count)
    return lambda: rhs(np, arrays, fields)


def on_device(solver, fields):
    """Ours as one would write it first: array expressions."""
    arrays, fields = Arrays(solver), xp.asarray(fields)
    for name, array in vars(arrays).items():
        setattr(arrays, name, array if name == "count" else xp.asarray(array))
    return lambda: rhs(xp, arrays, fields)


def jax_jit(solver, fields):
    """JAX's, compiled."""
    state = []

    def call():
        import jax

        if not state:
            jax.config.update("jax_enable_x64", True)
            jax.config.update("jax_default_matmul_precision", "highest")
            arrays = Arrays(solver)
            for name, array in vars(arrays).items():
                setattr(arrays, name, array if name == "count" else jax.device_put(array))
            state.append(jax.jit(lambda q: rhs(jax.numpy, arrays, q)))
            state.append(jax.device_put(fields))
        return state[0](state[1]).block_until_ready()

    return call


def batched_products(solver, fields):
    """The derivatives alone, as one product by cuBLAS: all three matrices times the fields of all elements."""
    state = []

    def call():
        import torch

        if not state:
            torch.backends.cuda.matmul.allow_tf32 = False
            device = "cuda" if torch.cuda.is_available() else "cpu"
            n = solver.element.n_nodes
            state.append(torch.tensor(solver.element.derivatives.astype(solver.dtype).reshape(3 * n, n), device=device))
            state.append(torch.tensor(fields.reshape(-1, n).T.copy(), device=device))
        found = state[0] @ state[1]
        if found.is_cuda:
            torch.cuda.synchronize()
        return found

    return call
