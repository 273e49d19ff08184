"""Makes sphere.npz: shells of an icosahedron, its triangles divided once and projected, prisms in three tetrahedra."""

import itertools
from pathlib import Path

import numpy as np

from .mesh import oriented

RADII = (1.0, 1.25, 1.58, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3)


def icosphere():
    """Vertices (42, 3) of length 1 and triangles (80, 3)."""
    golden = (1 + 5**0.5) / 2
    vertices = np.array([np.roll([0, a, b * golden], shift) for shift in range(3) for a in (-1, 1) for b in (-1, 1)])
    near = np.linalg.norm(vertices[:, None] - vertices, axis=2) < 2.1
    triangles = [c for c in itertools.combinations(range(12), 3) if all(near[p] for p in itertools.combinations(c, 2))]
    points, numbers, parts = list(vertices), {}, []
    for corners in triangles:
        middles = []
        for pair in itertools.combinations(corners, 2):
            if pair not in numbers:
                numbers[pair] = len(points)
                points.append(vertices[list(pair)].mean(axis=0))
            middles.append(numbers[pair])
        (a, b, c), (ab, ac, bc) = corners, middles
        parts += [(a, ab, ac), (b, ab, bc), (c, ac, bc), (ab, ac, bc)]
    return np.array(points) / np.linalg.norm(points, axis=1)[:, None], np.array(parts)


def shells():
    """Vertices and elements between all radii."""
    surface, triangles = icosphere()
    vertices = np.concatenate([radius * surface for radius in RADII])
    elements = []
    for shell in range(len(RADII) - 1):
        for a, b, c in np.sort(triangles, axis=1) + shell * len(surface):
            up = len(surface)
            elements += [(a, b, c, c + up), (a, b, b + up, c + up), (a, a + up, b + up, c + up)]
    return vertices, oriented(vertices, np.array(elements))


if __name__ == "__main__":
    vertices, elements = shells()
    np.savez_compressed(
        Path(__file__).with_name("sphere.npz"),
        vertices=vertices.astype(np.float32),
        elements=elements.astype(np.uint16),
    )
