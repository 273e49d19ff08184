"""Spotlight radar: the collection, its simulation, and images by backprojection.

Coordinates are metres; the scene is the plane z = 0 about the origin. Pulses are range-compressed and motion
compensated: bin ``bins // 2`` of a pulse is the range of the origin.
"""

import dataclasses
import functools

import numpy as np

import rtcg.numpy as xp
from rtcg import driver, tune
from rtcg.compiler import SourceModule

from . import kernels

LIGHT = 299792458.0


def _require_positive(thing, *names):
    for name in names:
        value = getattr(thing, name)
        if not np.isscalar(value) or not np.isfinite(value) or value <= 0:
            raise ValueError(f"{name} is {value!r}; expected a finite number above 0")


@dataclasses.dataclass(frozen=True)
class Radar:
    """Carrier and bandwidth in Hz, and bins in the range resolution ``c / (2 bandwidth)``."""

    carrier: float = 10e9
    bandwidth: float = 500e6
    oversampling: int = 8

    def __post_init__(self):
        _require_positive(self, "carrier", "bandwidth", "oversampling")

    @property
    def resolution(self):
        """In range, metres."""
        return LIGHT / (2 * self.bandwidth)

    @property
    def bins_of_metre(self):
        """Bins in a metre of range."""
        return self.oversampling / self.resolution

    @property
    def cycles_of_metre(self):
        """Cycles of the carrier's phase in a metre of range, there and back."""
        return 2 * self.carrier / LIGHT

    def track(self, pulses, ground_range=40e3, height=20e3):
        """Positions (pulses, 3) on a circle about the origin, as long as makes both resolutions equal."""
        angles = np.linspace(-0.5, 0.5, pulses) * (self.bandwidth / self.carrier)
        return np.stack(
            [ground_range * np.sin(angles), -ground_range * np.cos(angles), np.full(pulses, float(height))], axis=1
        )


@dataclasses.dataclass(frozen=True)
class Grid:
    """The pixels of an image: `width` along x, `height` along y, spacings `dx` and `dy`, its middle (`x`, `y`)."""

    width: int
    height: int
    dx: float = 0.2
    dy: float = 0.2
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self):
        for name in ("width", "height"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or not 1 <= value <= 1 << 16:
                raise ValueError(f"{name} is {value!r}; expected an integer from 1 to {1 << 16}")
        _require_positive(self, "dx", "dy")
        for name in ("x", "y"):
            if not np.isfinite(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a finite number")

    @property
    def radius(self):
        """From the origin to the farthest pixel, or more."""
        half = float(np.hypot((self.width - 1) * self.dx, (self.height - 1) * self.dy)) / 2
        return half + float(np.hypot(self.x, self.y))

    def places(self, columns, rows):
        """Coordinates (x, y) of pixels."""
        columns, rows = np.asarray(columns), np.asarray(rows)
        return (
            self.x + (columns - (self.width - 1) / 2) * self.dx,
            self.y + (rows - (self.height - 1) / 2) * self.dy,
        )

    def bins(self, radar):
        """How many bins of a pulse all pixels are surely within."""
        return 2 * int(np.ceil(self.radius * radar.bins_of_metre) + 2)


def _finite(name, array):
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(map(int, bad[0]))
        raise ValueError(f"{name}[{', '.join(map(str, where))}] is {array[where]}; expected finite numbers")


def _positions(positions):
    positions = np.ascontiguousarray(positions, np.float64)
    if positions.ndim != 2 or positions.shape[1] != 3 or not len(positions):
        raise ValueError(f"positions have shape {positions.shape}; expected (pulses, 3) with at least one pulse")
    _finite("positions", positions)
    return positions


def simulate(radar, positions, bins, targets, amplitudes):
    """Range-compressed pulses of point targets, as complex64 on the device with the shape (pulses, bins).

    `targets` are places (targets, 2) in the plane, `amplitudes` complex numbers, one each.
    """
    positions = _positions(positions)
    targets = np.ascontiguousarray(targets, np.float64)
    amplitudes = np.ascontiguousarray(amplitudes, np.complex64)
    if targets.ndim != 2 or targets.shape[1] != 2 or not len(targets):
        raise ValueError(f"targets have shape {targets.shape}; expected (targets, 2) with at least one target")
    if amplitudes.shape != targets.shape[:1]:
        raise ValueError(f"amplitudes have shape {amplitudes.shape}; expected {targets.shape[:1]}, one for each target")
    if not isinstance(bins, (int, np.integer)) or bins < 2:
        raise ValueError(f"bins is {bins!r}; expected an integer of at least 2")
    _finite("targets", targets)
    _finite("amplitudes", amplitudes)
    data = xp.empty((len(positions), bins), np.complex64)
    module = SourceModule(kernels.simulation_source(radar, bins, len(targets)))
    module.get_function("simulate")(
        data, xp.asarray(positions), xp.asarray(targets), xp.asarray(amplitudes),
        block=(128, 1, 1), grid=(len(positions), -(-bins // 128)),
    )  # fmt: skip
    return data


@functools.lru_cache(maxsize=64)
def kernel(radar, grid, bins, pulses, method="fixed"):
    """The tuned kernel of a problem: ``kernel(image, data, texture, positions)``."""
    source, space = (
        functools.partial(kernels.source, radar, grid, bins, pulses, method),
        kernels.space(radar, grid, method),
    )
    return tune.Kernel(
        source, "backproject", space,
        block=("bx", "by"), grid=(f"ceil_div({grid.width}, bx)", f"ceil_div({grid.height}, by * items)"),
        options=["-ftz=true"], identity=kernels.TEXT,
        problem={"width": grid.width, "height": grid.height, "bins": bins, "pulses": pulses, "method": method},
    )  # fmt: skip


def texture_of(data, filtered):
    """Pulses (pulses, bins) on the device as a texture of two channels; linear weights have 8 fractional bits."""
    pulses, bins = data.shape
    array = driver.make_multichannel_2d_array(data.view(np.float32).reshape(pulses, bins, 2), "C")
    return driver.texture_object(array, filter_mode=getattr(driver.filter_mode, "LINEAR" if filtered else "POINT"))


def backproject(radar, data, positions, grid, method="fixed", **config):
    """The image of pulses: complex numbers on the device with the shape (grid.height, grid.width).

    Parameters
    ----------
    data : array of complex64
        Pulses (pulses, bins), on the device or not. NaN in a pulse makes NaN of the pixels that it reaches.
    positions : array
        Of the antenna, (pulses, 3).
    method : str
        How ranges are computed: one of `kernels.METHODS`. "double" gives complex128, others complex64.
    **config
        `bx`, `by`, `items`, `stage`, `phase` and `fetch` of `kernels`, for a variant of one's own. By default the tuned
        one, where one is stored.
    """
    if method not in kernels.METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(kernels.METHODS)}")
    positions = _positions(positions)
    if getattr(data, "ndim", 0) != 2 or data.dtype != np.complex64 or data.shape[0] != len(positions):
        shape, dtype = getattr(data, "shape", None), getattr(data, "dtype", type(data).__name__)
        raise ValueError(
            f"data have shape {shape} and dtype {dtype}; expected complex64 of shape ({len(positions)}, bins)"
        )
    if data.shape[1] < grid.bins(radar):
        raise ValueError(
            f"pulses have {data.shape[1]} bins; expected at least {grid.bins(radar)}, to reach pixels "
            f"{grid.radius:.1f} m from the origin"
        )
    if method == "mixed" and grid.radius * radar.cycles_of_metre >= 1 << 19:
        raise ValueError(
            f"the grid reaches {grid.radius:.1f} m from the origin; expected less than "
            f"{(1 << 19) / radar.cycles_of_metre:.1f} m with method='mixed'"
        )
    data, places = xp.asarray(data), xp.asarray(positions)
    image = xp.empty((grid.height, grid.width), np.complex128 if method == "double" else np.complex64)
    tuned = kernel(radar, grid, data.shape[1], len(positions), method)
    if not config:
        tuned(image, data, np.uint64(0), places)
        return image
    return variant(tuned, config)(image, data, places)


def variant(tuned, config):
    """A function of (image, data, positions) that launches one configuration and returns the image.

    Where samples come from a texture, it can be given as `texture`; by default it is made of the data.
    """
    run, full = tuned.variant(**config), tuned.default | config
    for name, values in {"fetch": kernels.FETCHES, "phase": kernels.PHASES}.items():
        if full[name] not in values:
            raise ValueError(f"{name} is {full[name]!r}; expected one of {', '.join(values)}")
    makes_texture = full["fetch"] in ("texture", "filtered")

    def launch(image, data, positions, texture=None):
        if makes_texture and texture is None:
            run(image, data, texture_of(data, full["fetch"] == "filtered"), positions)
            driver.Context.synchronize()  # before the texture goes
        else:
            run(image, data, np.uint64(0) if texture is None else texture, positions)
        return image

    return launch
