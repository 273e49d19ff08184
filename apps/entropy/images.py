"""Images, noise beside them, and patches: points whose entropy is estimated.

Natural images are those that the wheels of scikit-image and scikit-learn bring; nothing is downloaded. Where neither is
installed, leaves that fall on each other stand for them: discs whose radii follow a power law have the spectra and the
edges of natural images.
"""

import functools
import importlib.util
from pathlib import Path

import numpy as np

SHIPPED = {
    "skimage": ("data", "camera.png brick.png grass.png gravel.png moon.png coffee.png chelsea.png rocket.jpg "
                "astronaut.png"),
    "sklearn": ("datasets/images", "china.jpg flower.jpg"),
}  # fmt: skip


@functools.cache
def natural_images():
    """Grey images of float32, scaled to mean 0 and variance 1, and what they are."""
    found = []
    for package, (folder, names) in SHIPPED.items():
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            paths = [Path(spec.submodule_search_locations[0], folder, name) for name in names.split()]
            found += [path for path in paths if path.is_file()]
    try:
        images = [_grey(path) for path in found]
    except ImportError:
        images = []
    if not images:
        return [
            standardized(dead_leaves(256, seed)) for seed in range(4)
        ], "drawn discs (dead leaves), as neither scikit-image nor scikit-learn is installed"
    return [standardized(image) for image in images], f"{len(images)} images of scikit-image and scikit-learn"


def _grey(path):
    from PIL import Image

    with Image.open(path) as image:
        grey = np.asarray(image.convert("L"), np.float64)
    # Grey levels are integers: noise of a level makes equal patches differ.
    return grey + np.random.default_rng(len(path.name)).uniform(-0.5, 0.5, grey.shape)


def dead_leaves(side, seed, leaves=3000):
    """Discs of random grey that cover each other, with radii of density r^-3 (A. Lee, D. Mumford, J. Huang 2001)."""
    rng = np.random.default_rng(seed)
    smallest, largest = 2.0, side / 4
    radii = 1 / np.sqrt(rng.uniform(1 / largest**2, 1 / smallest**2, leaves))
    places, greys = rng.uniform(-largest / 2, side + largest / 2, (leaves, 2)), rng.normal(size=leaves)
    rows, columns = np.mgrid[:side, :side]
    image = np.zeros((side, side))
    for radius, (y, x), grey in zip(radii, places, greys, strict=True):
        around = tuple(slice(max(int(at - radius), 0), max(int(at + radius) + 2, 0)) for at in (y, x))
        image[around][(rows[around] - y) ** 2 + (columns[around] - x) ** 2 < radius**2] = grey
    return image + rng.uniform(-0.02, 0.02, image.shape)


def spectrum_matched(image, seed):
    """Gaussian noise with the power spectrum of an image: phases are those of white noise."""
    phases = np.fft.rfft2(np.random.default_rng(seed).normal(size=image.shape))
    spectrum = np.abs(np.fft.rfft2(image)) * np.exp(1j * np.angle(phases))
    return standardized(np.fft.irfft2(spectrum, s=image.shape))


def white(image, seed):
    """White Gaussian noise of the shape of an image."""
    return np.random.default_rng(seed).normal(size=image.shape).astype(np.float32)


def standardized(image):
    """With mean 0 and variance 1, of float32."""
    return ((image - image.mean()) / image.std()).astype(np.float32)


def classes():
    """Images of three classes by name: natural ones, noise of their spectra, white noise."""
    images, _ = natural_images()
    return {
        "natural": images,
        "spectrum-matched noise": [spectrum_matched(image, seed) for seed, image in enumerate(images)],
        "white noise": [white(image, 1000 + seed) for seed, image in enumerate(images)],
    }


def patches(images, side, counts, seed):
    """Square patches without their means: for each count an array of float32 with ``side * side - 1`` columns.

    No place is drawn twice. Coordinates are those of an orthonormal basis without the constant patch, so distances are
    those of the patches.
    """
    windows = [np.lib.stride_tricks.sliding_window_view(image, (side, side)) for image in images]
    ends = np.cumsum([window.shape[0] * window.shape[1] for window in windows])
    if sum(counts) > ends[-1]:
        raise ValueError(
            f"counts are {counts}; expected at most {ends[-1]} patches in all, as many as there are places"
        )
    places = np.random.default_rng(seed).choice(ends[-1], sum(counts), replace=False)
    which = np.searchsorted(ends, places, side="right")
    drawn = np.empty((len(places), side * side), np.float32)
    for number, window in enumerate(windows):
        here = np.flatnonzero(which == number)
        begin = ends[number] - window.shape[0] * window.shape[1]
        rows, columns = np.divmod(places[here] - begin, window.shape[1])
        drawn[here] = window[rows, columns].reshape(-1, side * side)
    return np.split((drawn @ basis(side)).astype(np.float32), np.cumsum(counts)[:-1])


def basis(side):
    """An orthonormal basis of patches without a mean, one a column."""
    size = side * side
    constant = np.full((size, 1), size**-0.5)
    columns = np.linalg.qr(np.concatenate([constant, np.eye(size)[:, : size - 1]], axis=1))[0]
    return columns[:, 1:].astype(np.float32)
