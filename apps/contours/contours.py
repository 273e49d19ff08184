"""The contour detector gPb of P. Arbelaez, M. Maire, C. Fowlkes and J. Malik, in steps."""

import math

import numpy as np

import rtcg.numpy as xp
from rtcg import ndimage, sparse
from rtcg.specialize import kmeans

from . import kernels

ORIENTATIONS = 8
#: Of brightness and colour, and of textons.
BINS, TEXTONS = 25, 64
#: Radii of discs for brightness, and for colour and texture.
BRIGHTNESS_RADII, OTHER_RADII = (3, 5, 10), (5, 10, 20)
#: How much the gradients of brightness, of both colours and of texture count, and what eigenvectors do.
WEIGHTS, SPECTRAL_WEIGHT = (0.35, 0.25, 0.25, 0.35), 1.0
#: How far affinities reach, how fast they fall, and how many eigenvectors are taken.
REACH, RHO, EIGENVECTORS = 5, 0.1, 9

_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
_WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(image):
    """CIE L*a*b* (illuminant D65) of an sRGB image of floats from 0 to 1: an array of shape (rows, columns, 3)."""
    rgb = xp.asarray(image, np.float32)
    linear = xp.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ xp.asarray((_XYZ / _WHITE[:, None]).T.astype(np.float32))
    f = xp.where(xyz > 0.008856, xp.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return xp.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def channels(image):
    """Brightness and both colours, as bins."""
    values = lab(image)
    scaled = [values[..., 0] / 100, (values[..., 1] + 73) / 168, (values[..., 2] + 95) / 168]
    return [xp.clip(value * BINS, 0, BINS - 1).astype(np.int32) for value in scaled]


def texture_filters(sigma=2.0):
    """Second derivatives of elongated Gaussians, their odd partners, and a centre with its surround: (17, n, n)."""
    half = math.ceil(3 * 1.5 * sigma)
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(float)
    made = []
    for o in range(ORIENTATIONS):
        u, v = _rotated(x, y, o)
        base = np.exp(-(v**2) / (2 * sigma**2) - u**2 / (2 * (1.5 * sigma) ** 2))
        made += [(v**2 / sigma**2 - 1) * base, v * base]
    surround = [np.exp(-(x**2 + y**2) / (2 * s**2)) / s**2 for s in (sigma, 1.6 * sigma)]
    made.append(surround[0] / surround[0].sum() - surround[1] / surround[1].sum())
    made = np.stack([each - each.mean() for each in made])
    return (made / np.abs(made).sum((1, 2), keepdims=True)).astype(np.float32)


def _rotated(x, y, orientation):
    """Coordinates along an orientation, which is an angle that rises against rows, and across it."""
    angle = orientation * math.pi / ORIENTATIONS
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


def filtered(images, filters):
    """Correlations (rows, columns, filters) of an image of (rows, columns), mirrored at its borders."""
    half = filters.shape[1] // 2
    whole = xp.pad(images, half, mode="symmetric")
    return ndimage.filter_bank(whole[..., None], xp.asarray(filters)[..., None])


def textons(image, seed=0):
    """The cluster of each pixel's filter responses."""
    grey = lab(image)[..., 0] / 100
    responses = filtered(grey, texture_filters()).reshape(-1, 2 * ORIENTATIONS + 1)
    found = kmeans(responses, min(TEXTONS, len(responses)), max_iter=30, random_state=seed)
    return found.labels.reshape(grey.shape)


def half_disc_differences(labels, radius, bins, smooth):
    """Chi-square of the histograms of both halves of a disc: (orientations, rows, columns)."""
    rows, columns = labels.shape
    out = xp.empty((ORIENTATIONS, rows, columns), np.float32)
    kernel = kernels.half_discs(radius, bins, ORIENTATIONS, smooth)
    blocks = min(-(-rows * columns // 4), 1 << 16)
    kernel(out, labels, np.int32(rows), np.int32(columns), block=(32, 4, 1), grid=(blocks, 1))
    return out


def parabola_filters(radius):
    """Savitzky-Golay filters: the middle of a parabola that is fitted in an ellipse along each orientation."""
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(float)
    made = []
    for o in range(ORIENTATIONS):
        u, v = _rotated(x, y, o)
        inside = (u / radius) ** 2 + (v / max(radius / 4, 1.5)) ** 2 <= 1
        terms = np.stack([np.ones(inside.sum()), v[inside], v[inside] ** 2], axis=1)
        weights = np.zeros_like(x)
        weights[inside] = np.linalg.pinv(terms)[0]
        made.append(weights)
    return np.stack(made).astype(np.float32)


def multiscale(image):
    """mPb: the weighted gradients of brightness, colour and texture, (orientations, rows, columns)."""
    sources = [*channels(image), textons(image)]
    total = 0
    for which, (labels, weight) in enumerate(zip(sources, WEIGHTS, strict=True)):
        for radius in BRIGHTNESS_RADII if which == 0 else OTHER_RADII:
            bins = TEXTONS if which == 3 else BINS
            found = half_disc_differences(labels, radius, bins, which < 3)
            smoothed = [
                ndimage.correlate(found[o], weights) for o, weights in enumerate(parabola_filters(max(radius // 2, 3)))
            ]
            total = total + (weight / 3) * xp.stack(smoothed)
    return xp.maximum(total, 0)


def thinned(strength):
    """The strongest orientation of each pixel, where it is not weaker than the pixels across it; 0 elsewhere."""
    best = xp.argmax(strength, axis=0)
    most = xp.max(strength, axis=0)
    out = xp.zeros(most.shape, np.float32)
    padded = xp.pad(most, 1)
    rows, columns = most.shape

    def shifted(y, x):
        return padded[1 + y : 1 + y + rows, 1 + x : 1 + x + columns]

    for o in range(ORIENTATIONS):
        # Across the orientation, between two of the pixels around.
        y, x = -math.sin(angle := (o + ORIENTATIONS / 2) * math.pi / ORIENTATIONS), math.cos(angle)
        straight = (round(math.copysign(1, y)), 0) if abs(y) > abs(x) else (0, round(math.copysign(1, x)))
        diagonal = (1 if y > 0 else -1, 1 if x > 0 else -1)
        share = min(abs(y), abs(x)) / max(abs(y), abs(x))
        sides = [
            (1 - share) * shifted(s * straight[0], s * straight[1]) + share * shifted(s * diagonal[0], s * diagonal[1])
            for s in (1, -1)
        ]
        out = xp.where((best == o) & (most >= sides[0]) & (most > sides[1]), most, out)
    return out


def affinity(strength):
    """Symmetric normalised affinities of pixels: a `dia_array` whose greatest eigenvalue is 1, and degrees."""
    rows, columns = strength.shape
    size, moves = rows * columns, kernels.neighbours(REACH)
    compute, normalise = kernels.affinities(REACH, RHO)
    data = xp.empty((len(moves), size), np.float32)
    shape = {"block": (128, 1, 1), "grid": (-(-size // 128), len(moves))}
    numbers = np.int32(rows), np.int32(columns)
    compute(data, strength, *numbers, **shape)
    degree = data.sum(axis=0)
    normalise(data, degree, *numbers, **shape)
    # Rows that are long enough have a diagonal for each neighbour.
    offsets = np.array([y * columns + x for y, x in moves])
    return sparse.dia_array((data, offsets), shape=(size, size)), degree


def eigenvectors(strength, tol=1e-3):
    """The least eigenvalues above 0 of the normalised cut, and their eigenvectors as images, from 0 to 1."""
    matrix, degree = affinity(strength)
    values, vectors = sparse.linalg.eigsh(matrix, EIGENVECTORS + 1, which="LA", tol=tol, ncv=40, rng=0)
    cuts = 1 - values.get()[::-1][1:]
    images = (vectors[:, ::-1][:, 1:] / xp.sqrt(degree)[:, None]).T.reshape(EIGENVECTORS, *strength.shape)
    low, high = images.min(axis=(1, 2), keepdims=True), images.max(axis=(1, 2), keepdims=True)
    return np.maximum(cuts, 1e-6), (images - low) / (high - low)


def derivative_filters(sigma=1.5):
    """First derivatives of Gaussians across each orientation."""
    half = math.ceil(3 * sigma)
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(float)
    made = []
    for o in range(ORIENTATIONS):
        u, v = _rotated(x, y, o)
        made.append(v * np.exp(-(u**2 + v**2) / (2 * sigma**2)))
    return np.stack([each / np.abs(each).sum() for each in made]).astype(np.float32)


def spectral(cuts, images):
    """sPb: the oriented derivatives of eigenvectors, weighted by 1 / sqrt(eigenvalue)."""
    filters = derivative_filters()
    total = sum(xp.abs(filtered(image, filters)) / math.sqrt(cut) for image, cut in zip(images, cuts, strict=True))
    return xp.moveaxis(total, -1, 0)


def contours(image):
    """The strength of contours from 0 to 1 (float32), thinned; and what it was made of, by name."""
    local = multiscale(image)
    cuts, images = eigenvectors(thinned(local))
    found = spectral(cuts, images)
    both = local / local.max() + SPECTRAL_WEIGHT * found / found.max()
    strength = thinned(both)
    return strength / strength.max(), {"local": local, "spectral": found, "eigenvectors": images, "cuts": cuts}
