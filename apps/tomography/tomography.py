"""Parallel-beam tomography: projections of ellipses, the ramp filter, backprojection.

Pixels are one bin of the detector wide. A view at the angle a has at the bin t the sum along the line
``x cos(a) + y sin(a) = t``, where x counts columns to the right and y rows upwards, from the axis of rotation.
"""

import functools

import numpy as np

import rtcg.numpy as xp
from rtcg import driver, fft, tune

from . import kernels

# Shepp and Logan's head: value, half axes, middle, angle in degrees, where the image is from -1 to 1. The values are
# those of Toft (1996), which the eye can tell apart.
HEAD = [
    (1.0, 0.69, 0.92, 0.0, 0.0, 0), (-0.8, 0.6624, 0.8740, 0.0, -0.0184, 0), (-0.2, 0.11, 0.31, 0.22, 0.0, -18),
    (-0.2, 0.16, 0.41, -0.22, 0.0, 18), (0.1, 0.21, 0.25, 0.0, 0.35, 0), (0.1, 0.046, 0.046, 0.0, 0.1, 0),
    (0.1, 0.046, 0.046, 0.0, -0.1, 0), (0.1, 0.046, 0.023, -0.08, -0.605, 0), (0.1, 0.023, 0.023, 0.0, -0.606, 0),
    (0.1, 0.023, 0.046, 0.06, -0.605, 0),
]  # fmt: skip


def ellipse_image(ellipses, size):
    """Ellipses as an image of `size` x `size` pixels, each its value at the pixel's middle."""
    place = (np.arange(size) - (size - 1) / 2) * (2 / size)
    x, y = place[None, :], -place[:, None]
    image = np.zeros((size, size), np.float32)
    for value, a, b, x0, y0, degrees in ellipses:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        along, across = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        image += np.float32(value) * ((along / a) ** 2 + (across / b) ** 2 <= 1)
    return image


def ellipse_sinogram(ellipses, size, angles, detectors):
    """Projections (views, detectors) of the same ellipses, in closed form, as float32."""
    t = (np.arange(detectors) - (detectors - 1) / 2) * (2 / size)
    sinogram = np.zeros((len(angles), detectors))
    for value, a, b, x0, y0, degrees in ellipses:
        turned = np.asarray(angles)[:, None] - np.radians(degrees)
        square = (a * np.cos(turned)) ** 2 + (b * np.sin(turned)) ** 2
        offset = t - (x0 * np.cos(angles) + y0 * np.sin(angles))[:, None]
        sinogram += value * a * b * size * np.sqrt(np.maximum(square - offset**2, 0)) / square
    return sinogram.astype(np.float32)


@functools.lru_cache(maxsize=8)
def _ramp(length):
    """The spectrum of the ramp filter that is cut at half of the sampling rate, for rows of `length`."""
    response = np.zeros(length)
    odd = np.arange(1, length // 2, 2)
    response[0], response[odd] = 0.25, -1 / (np.pi * odd) ** 2
    response[length - odd] = response[odd]
    return np.fft.rfft(response).real.astype(np.float32)


def ramp_filter(sinogram):
    """Rows of a sinogram on the device after the ramp filter."""
    detectors = sinogram.shape[1]
    length = tune.next_pow2(2 * detectors)
    spectrum = fft.rfft(sinogram, n=length, axis=1) * xp.asarray(_ramp(length))
    return fft.irfft(spectrum, n=length, axis=1)[:, :detectors]


def texture_of(rows):
    """Rows on the device as a texture that interpolates."""
    return driver.texture_object(driver.gpuarray_to_array(rows, "C"), filter_mode=driver.filter_mode.LINEAR)


class Scanner:
    """Backprojection of `views` rows of `detectors` bins to `shape` (height, width) pixels.

    `axis` is the pixel (x, y) of the axis of rotation, `center` its bin; by default the middles.
    """

    def __init__(self, angles, detectors, shape, axis=None, center=None):
        self.angles = np.ascontiguousarray(angles, np.float64)
        if self.angles.ndim != 1 or not len(self.angles):
            raise ValueError(f"angles have shape {self.angles.shape}; expected one axis with at least one view")
        if not np.isfinite(self.angles).all():
            where = int(np.flatnonzero(~np.isfinite(self.angles))[0])
            raise ValueError(f"angles[{where}] is {self.angles[where]}; expected finite numbers")
        for name, value in [("detectors", detectors), ("height", shape[0]), ("width", shape[1])]:
            if not isinstance(value, (int, np.integer)) or not 1 <= value <= 1 << 15:
                raise ValueError(f"{name} is {value!r}; expected an integer from 1 to {1 << 15}")
        height, width = self.shape = tuple(map(int, shape))
        self.detectors = int(detectors)
        axis = ((width - 1) / 2, (height - 1) / 2) if axis is None else tuple(map(float, axis))
        center = (detectors - 1) / 2 if center is None else float(center)
        if not (0 <= axis[0] < width and 0 <= axis[1] < height and 0 <= center < detectors):
            raise ValueError(
                f"axis is {axis}, center {center}; expected a pixel of the image and a bin of the detector"
            )
        # Rows get so many zeros at both ends that each pixel finds two bins.
        reach = np.hypot(max(axis[0], width - axis[0]), max(axis[1], height - axis[1]))
        self.margin = max(0, int(np.ceil(reach - min(center, detectors - 1 - center))) + 2)
        bins = self.detectors + 2 * self.margin
        problem = {
            "width": width, "height": height, "bins": bins, "views": len(self.angles), "axis": axis,
            "middle": center + self.margin, "scale": np.pi / len(self.angles),
        }  # fmt: skip
        #: ``kernel(image, data, texture, directions)`` for rows with margins, and by the texture units.
        self.kernel, self.filtered = (
            self._tuned_kernel(problem, space) for space in (kernels.SPACE, kernels.FILTERED_SPACE)
        )
        self.directions = xp.asarray(np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1))

    @staticmethod
    def _tuned_kernel(problem, space):
        """The kernel over a space. Sizes are literals of the source: results for one are found for others."""
        sizes = {name: problem[name] for name in ("width", "height", "bins", "views")}
        return tune.Kernel(
            functools.partial(kernels.source, problem), "backproject", space, block=("bx", "by"),
            grid=("ceil_div(width, bx)", "ceil_div(height, by * items)"),
            problem=sizes | {"fetches": ", ".join(space.values("fetch"))}, identity=kernels.TEXT,
        )  # fmt: skip

    def rows(self, sinogram):
        """A filtered sinogram (views, detectors) with its margins."""
        return xp.pad(xp.asarray(sinogram), ((0, 0), (self.margin, self.margin)))

    def variant(self, **config):
        """A function of rows with margins that launches one configuration and returns the image.

        With ``fetch="filtered"`` it can be given their `texture`; by default it makes one.
        """
        run, fetch = self.kernel.variant(**config), config.get("fetch", self.kernel.default["fetch"])
        if fetch not in kernels.FETCHES:
            raise ValueError(f"fetch is {fetch!r}; expected one of {', '.join(kernels.FETCHES)}")

        def launch(rows, texture=None):
            image = xp.empty(self.shape, np.float32)
            if fetch == "filtered" and texture is None:
                run(image, rows, texture_of(rows), self.directions)
                driver.Context.synchronize()  # before the texture goes
            else:
                run(image, rows, np.uint64(0) if texture is None else texture, self.directions)
            return image

        return launch

    def backproject(self, filtered, **config):
        """The image of a filtered sinogram, float32 on the device; by the tuned kernel, or a variant of one's own."""
        rows = self.rows(filtered)
        if config:
            return self.variant(**config)(rows)
        image = xp.empty(self.shape, np.float32)
        self.kernel(image, rows, np.uint64(0), self.directions)
        return image

    def reconstruct(self, sinogram, **config):
        """Filtered backprojection of a sinogram (views, detectors) of real numbers; NaN makes NaN of the whole view."""
        expected = (len(self.angles), self.detectors)
        if getattr(sinogram, "shape", None) != expected or np.dtype(sinogram.dtype).kind not in "fiu":
            shape, dtype = getattr(sinogram, "shape", None), getattr(sinogram, "dtype", type(sinogram).__name__)
            raise ValueError(f"sinogram has shape {shape} and dtype {dtype}; expected real numbers of shape {expected}")
        return self.backproject(ramp_filter(xp.asarray(sinogram, dtype=np.float32)), **config)
