"""Faces, their variants, and descriptors: principal components.

Faces are the `lfw_subset` that the wheel of scikit-image brings: 100 of 25 x 25 pixels. Without it they are drawn:
ovals with eyes, nose and mouth at random places.
"""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

SIDE = 25
NOISE = 0.03
"""Standard deviation of the noise of a pixel."""
PIECE = 50_000
"""Variants that are made at once, by one thread."""


def faces():
    """Grey faces of shape (count, 25, 25), float32."""
    spec = importlib.util.find_spec("skimage")
    if spec is not None and spec.submodule_search_locations:
        path = Path(spec.submodule_search_locations[0], "data", "lfw_subset.npy")
        if path.is_file():
            # The second half are crops without faces.
            return np.load(path)[:100].astype(np.float32)
    return drawn_faces(100, 2011)


def drawn_faces(count, seed):
    """Ovals with two eyes, a nose and a mouth, lit from a side."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]

    def spots(cy, cx, sy, sx):
        """A Gaussian spot for each face."""
        parameters = [np.reshape(value, (-1, 1, 1)) for value in (cy, cx, sy, sx)]
        cy, cx, sy, sx = parameters
        return np.exp(-(((y - cy) / sy) ** 2) - ((x - cx) / sx) ** 2)

    def near(middle, spread):
        return rng.normal(middle, spread, count)

    distance, height = near(0.35, 0.1), near(-0.25, 0.1)
    images = spots(near(0, 0.03), near(0, 0.03), near(0.9, 0.15), near(0.65, 0.12))
    images -= spots(height, -distance, near(0.12, 0.02), near(0.16, 0.03)) * near(0.6, 0.3).reshape(-1, 1, 1)
    images -= spots(height, distance, near(0.12, 0.02), near(0.16, 0.03)) * near(0.6, 0.3).reshape(-1, 1, 1)
    images -= spots(near(0.45, 0.05), near(0, 0.03), near(0.08, 0.02), near(0.3, 0.06)) * 0.5
    images += spots(near(0.1, 0.05), near(0, 0.04), near(0.2, 0.04), near(0.08, 0.02)) * 0.2
    return (images + near(0, 0.3).reshape(-1, 1, 1) * x).astype(np.float32)


def shifted(images):
    """Images shifted by -1, 0 and 1 pixels in both directions; of shape (count, 3, 3, 25, 25)."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))


def drawn_variants(count, rng):
    """The shifts of variants, as indices of `shifted`, and their gains, of shape (count, 1)."""
    rows, columns = rng.integers(0, 3, (2, count))
    return rows, columns, rng.uniform(0.8, 1.25, (count, 1)).astype(np.float32)


def variants(images, numbers, seed):
    """A variant of each numbered face: shifted by up to a pixel, brighter or darker, with noise; of shape (n, 625)."""
    rng = np.random.default_rng(seed)
    rows, columns, gains = drawn_variants(len(numbers), rng)
    made = shifted(images)[numbers, rows, columns].reshape(len(numbers), -1)
    return made * gains + rng.normal(0, NOISE, made.shape).astype(np.float32)


class Descriptors:
    """Principal components of variants of faces: `count` vectors of `dimensions`, and the `face` of each."""

    def __init__(self, count, dimensions, dtype=np.float32, steps=iter):
        self.images, self.dimensions = faces(), dimensions
        sample = variants(self.images, np.arange(4_000) % len(self.images), 1)
        self.mean = sample.mean(axis=0)
        covariance = np.cov((sample - self.mean).T)
        self.basis = np.linalg.eigh(covariance)[1][:, : -dimensions - 1 : -1].astype(np.float32)
        self.face = np.arange(count) % len(self.images)
        self.vectors = np.empty((count, dimensions), dtype)
        # Noise of pixels is as much noise of each component, as these are orthonormal: no pixels are drawn.
        windows = shifted(self.images)
        shifts = (windows.reshape(-1, SIDE * SIDE) @ self.basis).reshape(*windows.shape[:3], dimensions)

        def make(first):
            face, rng = self.face[first : first + PIECE], np.random.default_rng(100 + first)
            rows, columns, gains = drawn_variants(len(face), rng)
            noise = np.float32(NOISE) * rng.standard_normal((len(face), dimensions), np.float32)
            self.vectors[first : first + PIECE] = shifts[face, rows, columns] * gains + noise - self.mean @ self.basis

        with ThreadPoolExecutor() as pool:
            places = range(0, count, PIECE)
            for _ in zip(steps(list(places)), pool.map(make, places), strict=True):
                pass

    def describe(self, pixels):
        """Descriptors of variants, float32."""
        return (pixels - self.mean) @ self.basis

    def queries(self, count, seed):
        """Descriptors of new variants of faces, and which faces these are."""
        face = np.random.default_rng(seed).integers(0, len(self.images), count)
        return self.describe(variants(self.images, face, seed)), face

    def picture(self, vectors):
        """Descriptors as images."""
        return (vectors.astype(np.float32) @ self.basis.T + self.mean).reshape(-1, SIDE, SIDE)
