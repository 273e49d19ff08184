"""Images of spotlight radar by backprojection: every pixel sums every pulse at its range, with its phase.

python -m apps.backprojection --check
python -m apps.backprojection --size seed --bench
python -m apps.backprojection --plot scene.png
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness

from . import kernels, reference
from .peers import MATX, MATX_DEVICE, fastsar
from .sar import Grid, Radar, backproject, kernel, simulate, texture_of, variant

SIZES = {
    "small": {"width": 101, "height": 75, "pulses": 83},
    "seed": {"width": 2048, "height": 2048, "pulses": 2048},
    "h200": {"width": 8192, "height": 8192, "pulses": 11_566},
}

# What each method must reach, in dB of signal to error; float32 throughout is here to show that it does not.
LEAST = {"double": 150, "mixed": 101, "float-float": 101, "taylor": 87, "fixed": 101}

VARIANTS = [
    ("fixed", {"fetch": "global", "bx": 16, "by": 4, "items": 2, "stage": 8}),
    ("fixed", {"fetch": "shared", "phase": "table", "bx": 32, "by": 2, "items": 8, "stage": 16}),
    ("fixed", {"fetch": "slopes", "items": 1, "stage": 8}),
    ("taylor", {"fetch": "texture", "by": 2, "items": 8}),
    ("float-float", {"fetch": "shared", "phase": "exact", "bx": 16, "by": 8, "items": 2, "stage": 16}),
    ("mixed", {"fetch": "slopes", "bx": 16, "by": 4, "items": 4, "stage": 8}),
    ("double", {"fetch": "shared", "bx": 16, "by": 4, "items": 5, "stage": 8}),
]


class Scene:
    """The collection of a size: a cross and a ring of point targets, and weaker clutter."""

    def __init__(self, size, seed=5):
        self.radar, self.grid = Radar(), Grid(size["width"], size["height"])
        self.positions = self.radar.track(size["pulses"])
        rng = np.random.Generator(np.random.Philox(seed))
        extent = np.array([self.grid.width * self.grid.dx, self.grid.height * self.grid.dy])
        ring = np.arange(12) * (np.pi / 6)
        bright = np.concatenate(
            [0.35 * np.stack([np.cos(ring), np.sin(ring)], axis=1), [[0, 0], [0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1]]]
        )
        targets = np.concatenate([bright, rng.random((180, 2)) - 0.5]) * extent
        amplitudes = np.ones(len(targets), complex)
        weak = rng.normal(size=(180, 2)) @ [1, 1j]
        amplitudes[len(bright) :] = 0.1 * weak
        self.targets, self.amplitudes = targets, amplitudes.astype(np.complex64)
        self.bins = self.grid.bins(self.radar)
        self.data = self.simulated(slice(None))
        self.columns, self.rows = rng.integers(0, [[self.grid.width], [self.grid.height]], (2, 1000))
        self.pixels = len(self.positions) * self.grid.width * self.grid.height

    def simulated(self, which):
        """The pulses of some of the targets."""
        return simulate(self.radar, self.positions, self.bins, self.targets[which], self.amplitudes[which])

    def expected(self):
        """The oracle's values of a thousand pixels."""
        steps = harness.progress(range(0, len(self.positions), 256), "oracle")
        pulses = (row for first in steps for row in self.data[first : first + 256].get())
        return reference.pixels(pulses, self.positions, *self.grid.places(self.columns, self.rows), *_facts(self.radar))

    def sampled(self, image):
        """The same pixels of an image."""
        if self.pixels > 1e11:
            return image[xp.asarray(self.rows), xp.asarray(self.columns)].get()
        return image.get()[self.rows, self.columns]

    def image(self, method="fixed", data=None, **config):
        """Backprojection of all pulses."""
        return backproject(self.radar, self.data if data is None else data, self.positions, self.grid, method, **config)


def _facts(radar):
    return radar.carrier, radar.bandwidth, radar.oversampling


def check(size, checks):
    """Pulses and sampled pixels against NumPy in float64, the response of a point, and linearity."""
    scene = Scene(size)
    for pulse in (0, len(scene.positions) // 2, len(scene.positions) - 1):
        expected = reference.pulse(
            scene.positions[pulse], scene.targets, scene.amplitudes, scene.bins, *_facts(scene.radar)
        )
        found = scene.data[pulse].get()
        checks.close(f"pulse {pulse}", np.stack([found.real, found.imag]),
                     np.stack([expected.real, expected.imag]), atol=3e-6 * abs(expected).max())  # fmt: skip
    expected = scene.expected()
    for method, config in [*((method, {}) for method in LEAST), *VARIANTS]:
        ratio = reference.signal_to_error(scene.sampled(scene.image(method, **config)), expected)
        checks.true(f"{method} {config}", ratio >= LEAST[method], f"{ratio:.1f} dB; expected {LEAST[method]} or more")
    for method, config, low, high in [("float", {}, -10, 20), ("fixed", {"fetch": "filtered"}, 60, 90)]:
        ratio = reference.signal_to_error(scene.sampled(scene.image(method, **config)), expected)
        checks.true(f"{method} {config}", low <= ratio <= high, f"{ratio:.1f} dB; expected {low} to {high}")
    _check_linear(scene, checks)
    _check_response(scene, checks)
    _check_far(scene, checks)


def _check_linear(scene, checks):
    whole = scene.image().get()
    checks.equal("twice the pulses", scene.image(data=2 * scene.data).get(), 2 * whole)
    parts = [scene.image(data=scene.simulated(which)).get() for which in (slice(40), slice(40, None))]
    ratio = reference.signal_to_error(parts[0] + parts[1], whole)
    checks.true("superposition", ratio > 110, f"{ratio:.1f} dB; expected more than 110")


def _check_response(scene, checks):
    """Cuts through a point's response: place, width, first side lobe."""
    radar, spacing = scene.radar, 0.01
    target = np.array([7.313, -4.871])
    data = simulate(radar, scene.positions, scene.bins, target[None], [1])
    middle = scene.positions[len(scene.positions) // 2]
    slant = np.linalg.norm(middle - [*target, 0])
    on_ground = np.linalg.norm(middle[:2] - target) / slant  # cosine of the elevation
    for name, shape in [("range", (1, 201)), ("azimuth", (201, 1))]:
        grid = Grid(*shape, spacing, spacing, target[0] + 0.0033, target[1] + 0.0033)
        cut = backproject(radar, data, scene.positions, grid, "mixed").get().ravel()
        place, width, lobe = reference.profile(cut)
        checks.close(f"{name}: peak, in pixels", (place - 100) * spacing / 0.2, -0.0033 / 0.2, atol=0.05)
        checks.close(f"{name}: width", width * spacing * on_ground, 0.88589 * radar.resolution, rtol=0.02)
        checks.close(f"{name}: first side lobe", lobe, -13.26, atol=0.3)


def _check_far(scene, checks):
    """A corner of the largest image, where places among the bins and phases are large numbers."""
    radar, grid = scene.radar, Grid(35, 29, x=800.0, y=-790.0)
    bins, (columns, rows) = grid.bins(radar), np.indices((35, 29)).reshape(2, -1)
    data = simulate(radar, scene.positions, bins, [[800.5, -790.3], [797.9, -788.0]], [1, 0.5j])
    expected = reference.pixels(data.get(), scene.positions, *grid.places(columns, rows), *_facts(radar))
    for method, least in LEAST.items():
        found = backproject(radar, data, scene.positions, grid, method).get()[rows, columns]
        ratio = reference.signal_to_error(found, expected)
        checks.true(f"far away, {method}", ratio >= least, f"{ratio:.1f} dB; expected {least} or more")


def _on_one_core(scene, rows):
    """Some rows of the image by C on one core, compiled when it is called."""
    function = harness.compile_c(Path(__file__).with_name("reference.c")).backproject
    grid, data = scene.grid, scene.data.get()
    x, y = grid.places(np.arange(grid.width), 0)[0], grid.places(0, np.arange(rows))[1]
    image = np.empty((rows, grid.width), complex)
    data_, positions, x_, y_, image_ = (ctypes.c_void_p(a.ctypes.data) for a in (data, scene.positions, x, y, image))

    def call():
        function(data_, positions, *data.shape, x_, len(x), y_, rows, ctypes.c_double(scene.radar.bins_of_metre),
                 ctypes.c_double(scene.radar.cycles_of_metre), image_)  # fmt: skip
        return image

    return call


def _prepared(scene, method):
    """The tuned kernel of a method with its arguments, of which the first is the image."""
    tuned = kernel(scene.radar, scene.grid, scene.bins, len(scene.positions), method)
    image = xp.zeros((scene.grid.height, scene.grid.width), np.complex128 if method == "double" else np.complex64)
    return tuned, image, xp.asarray(scene.positions)


def bench(size, tables):
    """All methods, as first written and tuned, beside C on one core and what MatX has published."""
    scene = Scene(size)
    work, rate = scene.pixels / 1e9, harness.instruction_rate()
    expected = scene.expected()

    def error(image):
        return reference.signal_to_error(scene.sampled(image), expected)

    table = harness.Table(
        f"backprojection of {len(scene.positions)} pulses to {scene.grid.width} x {scene.grid.height} pixels", "Gbp/s",
        rate and rate / 20 / 1e9, "20 instructions each", "S/E in dB",
    )  # fmt: skip
    tables.append(table)
    for method in kernels.METHODS:
        tuned, image, places = _prepared(scene, method)
        default = variant(tuned, tuned.default)
        table.row(f"rtcg, {method}, default", work, lambda d=default, i=image, p=places: d(i, scene.data, p), error)
        if method in LEAST:
            report = _tune(scene, method)
            best = variant(tuned, report.best)
            table.row(f"rtcg, {method}, tuned", work, lambda b=best, i=image, p=places: b(i, scene.data, p), error,
                      remarks=harness.tuned(report))  # fmt: skip
    for fetch in ("texture", "filtered"):
        tuned, image, places = _prepared(scene, "fixed")
        launch, texture = variant(tuned, {"fetch": fetch}), texture_of(scene.data, fetch == "filtered")
        table.row(f"rtcg, fixed, {fetch}", work,
                  lambda f=launch, i=image, p=places, t=texture: f(i, scene.data, p, t), error)  # fmt: skip
    rows = int(np.clip(1e8 / (len(scene.positions) * scene.grid.width), 1, scene.grid.height))
    double = scene.image("double")[:rows].get()
    table.row("C, one core, float64", work * rows / scene.grid.height, _on_one_core(scene, rows),
              lambda found: reference.signal_to_error(found, double), on_device=False, rounds=1,
              remarks=f"{rows} rows; S/E of double against it")  # fmt: skip
    backend = "cuda" if rate else "cpu"
    table.row(f"FastSAR, {backend}, linear", work, fastsar(scene, backend), lambda i: _scaled(i, scene, expected),
              on_device=False, remarks="with range compression and copies")  # fmt: skip
    for name, (speed, ratio) in MATX.items():
        table.published(f"MatX, {name}", speed, f"{MATX_DEVICE}, 8192^2 pixels, 11,566 pulses", ratio)
    table.published("torchbp", 225, "RTX 3090 Ti")


def _scaled(found, scene, expected):
    """Signal to error of an image in another unit."""
    found = found[scene.rows, scene.columns]
    return reference.signal_to_error(found * (np.vdot(found, expected) / np.vdot(found, found)), expected)


def _tune(scene, method):
    """Search with a part of a large problem, so that a launch takes milliseconds."""
    grid, pulses = Grid(min(scene.grid.width, 2048), min(scene.grid.height, 2048)), min(len(scene.positions), 512)
    tuned = kernel(scene.radar, grid, scene.bins, pulses, method)
    image = xp.zeros((grid.height, grid.width), np.complex128 if method == "double" else np.complex64)
    arguments = image, scene.data[:pulses], np.uint64(0), xp.asarray(scene.positions[:pulses])
    return tuned.tune(*arguments, budget=harness.budget, rtol=1e-3, atol=1e-4 * pulses, progress=False)


def plot(size):
    """The scene in dB, and error against speed of all methods, with MatX' published points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from rtcg import driver

    scene = Scene(size)
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.5))
    power = np.abs(scene.image().get()) ** 2
    half = scene.grid.width * scene.grid.dx / 2, scene.grid.height * scene.grid.dy / 2
    shown = left.imshow(10 * np.log10(power / power.max() + 1e-9), vmin=-50, vmax=0, cmap="gray", origin="lower",
                        extent=(-half[0], half[0], -half[1], half[1]))  # fmt: skip
    left.set(xlabel="metres across", ylabel="metres along range")
    figure.colorbar(shown, ax=left, label="dB")
    expected, is_gpu = scene.expected(), harness.instruction_rate() is not None
    for method in kernels.METHODS:
        tuned, image, places = _prepared(scene, method)
        arguments = image, scene.data, np.uint64(0), places
        tuned(*arguments)
        ratio = reference.signal_to_error(scene.sampled(image), expected)
        if is_gpu:
            _, seconds = harness.times(lambda t=tuned, a=arguments: t(*a), rounds=3)
            _point(right, ratio, scene.pixels / seconds / 1e9, method, "C0")
        else:
            right.axvline(ratio, color="C0", linewidth=1)
            side = "left" if method == "float-float" else "right"
            right.text(ratio, 105, method, rotation=90, va="bottom", ha=side, fontsize=8)
    for name, (speed, ratio) in MATX.items():
        _point(right, 170 if ratio is None else ratio, speed, f"MatX, {name}", "C1")
    device = driver.Context.get_device().name() if is_gpu else "the virtual GPU (lines: accuracy only)"
    right.set(xlabel="signal to error, dB", ylabel="Gbp/s", yscale="log", xlim=(-10, 215))
    if not is_gpu:
        right.set_ylim(100, 1000)
    right.set_title(
        f"blue: {device}\norange: published by MatX, {MATX_DEVICE} (double: no error is stated)", fontsize=9
    )
    return figure


def _point(axis, x, y, name, colour):
    axis.plot(x, y, "o", color=colour)
    axis.annotate(name, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
