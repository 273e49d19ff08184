"""The oracle: layers of models of vision in NumPy and float64."""

import numpy as np


def _windows(x, height, width):
    """Windows of an image (rows, columns, channels), of shape (places, places, channels, height, width)."""
    return np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (height, width), axis=(0, 1))


def filter_bank(x, w):
    """The direct sum, and the sum of magnitudes that its rounding errors are relative to."""
    windows, filters = _windows(x, *w.shape[1:3]), w.astype(np.float64)
    sums = np.einsum("ijdhw,fhwd->ijf", windows, filters)
    return sums, np.einsum("ijdhw,fhwd->ijf", np.abs(windows), np.abs(filters))


def pool(x, size, stride, exponent):
    """Roots of sums of powers of windows, `stride` apart."""
    windows = np.abs(_windows(x, *size)[::stride, ::stride])
    return (windows**exponent).sum(axis=(3, 4)) ** (1 / exponent)


def local_norm(x, size, center, stretch, threshold):
    """Pixels less the mean of a window, divided by its norm where that is above a threshold."""
    windows = _windows(x, size, size)
    mean = windows.mean(axis=(2, 3, 4), keepdims=True) if center else np.zeros((1,) * 5)
    norm = stretch * np.sqrt(((windows - mean) ** 2).sum(axis=(2, 3, 4)))[..., None]
    middle = stretch * (windows[..., size // 2, size // 2] - mean[..., 0, 0])
    return np.where(norm > threshold, middle / np.where(norm > threshold, norm, 1), middle)


def model(image, parameters, banks):
    """The features of an image (rows, columns): normalisation, then layers of filters, clip, pool, normalisation."""

    def normalised(x, part):
        return local_norm(x, part["size"], part["center"], part["stretch"], part["threshold"])

    x = normalised(image[..., None], parameters["input"])
    for layer, bank in zip(parameters["layers"], banks, strict=True):
        x = np.clip(filter_bank(x, bank)[0], layer["low"], layer["high"])
        x = normalised(pool(x, layer["pool"], layer["stride"], layer["exponent"]), layer["norm"])
    return x.ravel()
