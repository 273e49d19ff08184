"""Specialisers beside CUDA by hand and other libraries (as far as they are installed), in one run.

``python benches/specialize.py [row ...]`` measures convolutions, a bilateral filter, steps of a stencil, k-means, reductions by label, and a
reduction of ragged events in turns with `specialize.cu`, CuPy, PyTorch and flash-kmeans: the wall time of a call between
two waits, median of the rounds, on arrays of the device. Results are compared with each other. The ratio is the time of the
other over ours: more is better.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
from common import attempt
from copperhead import in_turns, leaves
from copperhead_cases import cupy_call

import rtcg.numpy as xp
from rtcg import driver
from rtcg.compiler import SourceModule
from rtcg.copperhead import cu, places, ragged
from rtcg.specialize import category_reduce, convolve, kmeans, stencil

f32 = np.float32
wait = driver.Context.synchronize


def by_hand(name, constants=None):
    module = SourceModule(Path(__file__).with_suffix(".cu").read_text(), no_extern_c=True)
    for constant, values in (constants or {}).items():
        driver.memcpy_htod(module.get_global(constant)[0], np.ascontiguousarray(values, f32))
    return module.get_function(name)


def blocks(*sizes):
    """Blocks for sizes and elements of a block along each axis."""
    return tuple(-(-n // block) for n, block in sizes)


def torch_call(make, *arrays):
    import torch

    arguments = [torch.from_numpy(array).cuda() for array in arrays]
    call = make(torch)
    return lambda: call(*arguments), torch.cuda.synchronize


# -- rows: each returns (size, our call, {other: makes its call and wait}, tolerance) ----------------


def convolution(shape, weights_shape, kernel, block, grid, extra=()):
    rng = np.random.default_rng(0)
    image, weights = rng.random(shape, f32), rng.random(weights_shape, f32)
    there = xp.asarray(image)
    # By hand, weights are those of a correlation.
    function = by_hand(kernel, {"weights": weights[(slice(None, None, -1),) * weights.ndim]})
    sizes = [np.int32(n) for n in (*shape[::-1], *extra)]

    def hand():
        out = xp.empty_like(there)
        function(there, out, *sizes, block=block, grid=grid)
        return out

    def in_torch(torch):
        # As a sum of zeros beyond the border: PyTorch has no other that is as fast.
        flipped = torch.from_numpy(weights[(slice(None, None, -1),) * weights.ndim].copy()).cuda()[None, None]
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        function = torch.nn.functional.conv2d if weights.ndim == 2 else torch.nn.functional.conv3d
        return lambda x: function(x[None, None], flipped, padding="same")[0, 0]

    def in_cupy(cupy):
        from cupyx.scipy import ndimage

        flipped = cupy.asarray(weights)
        return lambda x: ndimage.convolve(x, flipped, mode="nearest")

    others = {
        "hand": lambda: (hand, wait),
        "cupyx.scipy.ndimage": lambda: cupy_call(in_cupy, image),
        "torch, zeros beyond": lambda: torch_call(in_torch, image),
    }
    size = " x ".join(map(str, shape)) + ", " + " x ".join(map(str, weights_shape))
    return size, lambda: convolve(there, weights, mode="nearest"), others, 1e-5


def row_convolve_2d(full):
    n = 4096 if full else 128
    return convolution((n, n), (5, 5), "convolve_5x5", (32, 8, 1), blocks((n, 32), (n, 32)))


def row_convolve_3d(full):
    n = 256 if full else 32
    planes = 32
    return convolution(
        (n, n, n), (7, 7, 7), "convolve_7x7x7", (32, 8, 1), blocks((n, 32), (n, 16), (n, planes)), (n, planes)[1:]
    )


RADIUS, WIDTH = 9, 0.1
WINDOW = tuple((i, j) for i in range(-RADIUS, RADIUS + 1) for j in range(-RADIUS, RADIUS + 1))


@stencil(boundary="clamp")
def smoothed(u, scale):
    weights = [np.exp(-f32((i * i + j * j) / 40) - ((u[i, j] - u[0, 0]) * scale) ** 2) for i, j in WINDOW]
    return sum([weight * u[k] for weight, k in zip(weights, WINDOW)]) / sum(weights)  # noqa: B905 (not in stencils)


def row_bilateral(full):
    n = 2048 if full else 64
    image = np.random.default_rng(0).random((n, n), f32)
    there, scale = xp.asarray(image), f32(1 / WIDTH)
    distances = np.array([-(i * i + j * j) / 40 for i, j in WINDOW], f32)
    function = by_hand("bilateral", {"distances": distances})

    def hand():
        out = xp.empty_like(there)
        grid = blocks((n, 32), (n, 16))
        function(there, out, np.int32(n), np.int32(n), scale, block=(32, 8, 1), grid=grid)
        return out

    return f"{n}^2, radius {RADIUS}", lambda: smoothed(there, scale), {"hand": lambda: (hand, wait)}, 1e-4


@stencil(boundary="constant")
def heat(u):
    return u[0, 0] + 0.2 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])


def row_heat(full):
    """A hundred steps, several of them in one kernel, beside as many kernels of one step."""
    n, steps = (4096, 100) if full else (256, 10)
    u = xp.asarray(np.random.default_rng(0).random((n, n), f32))
    two = [xp.empty_like(u), xp.empty_like(u)]

    def one_by_one():
        now = u
        for step in range(steps):
            now = heat(now, out=two[step % 2])
        return now

    return (
        f"{n} x {n}, {steps} steps",
        lambda: heat.iterate(u, steps),
        {"a kernel a step": lambda: (one_by_one, wait)},
        0,
    )


def lloyd(n, d, k, dtype, steps):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d), f32).astype(dtype)
    centers = x[rng.choice(n, k, replace=False)].astype(f32)
    there, centers_there = xp.asarray(x), xp.asarray(centers)

    def in_flash(torch):
        from flash_kmeans import batch_kmeans_Euclid

        # A copy for each call: it changes the centres.
        start = torch.from_numpy(centers.astype(dtype)).cuda()[None]
        return lambda x: batch_kmeans_Euclid(x[None], k, steps, -1.0, start.clone())[1][0].to(torch.float32)

    return (
        f"{n} x {d}, k={k}, {np.dtype(dtype)}, {steps} steps",
        lambda: kmeans(there, k, centers_there, max_iter=steps, tol=0).centers,
        {"flash-kmeans": lambda: torch_call(in_flash, x)},
        math.inf,
    )


def row_kmeans_float32(full):
    return lloyd(*((1_000_000, 64, 256) if full else (2000, 16, 8)), f32, 10)


def row_kmeans_float32_longer(full):
    return lloyd(*((1_000_000, 64, 256) if full else (2000, 16, 8)), f32, 20)


def row_kmeans_float16(full):
    return lloyd(*((8_000_000, 128, 1024) if full else (2000, 16, 8)), np.float16, 10)


def row_kmeans_float16_longer(full):
    return lloyd(*((8_000_000, 128, 1024) if full else (2000, 16, 8)), np.float16, 20)


def by_label(labels):
    def make(full):
        n = 1 << 26 if full else 1 << 14
        rng = np.random.default_rng(0)
        values, where = rng.random(n, f32), rng.integers(0, labels, n, dtype=np.int32)
        there, where_there = xp.asarray(values), xp.asarray(where)

        def in_torch(torch):
            return lambda v, at: torch.zeros(labels, device="cuda").index_add_(0, at, v)

        return (
            f"{n} values, {labels} labels",
            lambda: category_reduce(there, where_there, labels),
            {
                "cupy.bincount": lambda: cupy_call(
                    lambda cupy: lambda v, at: cupy.bincount(at, v, labels).astype(f32),
                    values,
                    where,
                ),
                "torch.index_add_": lambda: torch_call(in_torch, values, where),
            },
            1e-3,
        )

    return make


@cu
def event_sums(events):
    return [sum(event) for event in events]


def row_events(full):
    """Events of awkward arrays' kind: 10 million lists of 0 to 6 numbers, summed."""
    n = 10_000_000 if full else 10_000
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 7, n)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    values = rng.random(offsets[-1], f32)
    events = ragged(xp.asarray(values), xp.asarray(offsets))

    def in_torch(torch):
        offsets_there = torch.from_numpy(offsets).cuda()
        return lambda v: torch.segment_reduce(v, "sum", offsets=offsets_there)

    others = {"torch.segment_reduce": lambda: torch_call(in_torch, values)}
    return f"{n} events, {offsets[-1]} numbers", lambda: event_sums(events), others, 1e-5


ROWS = {
    "convolve 5x5": row_convolve_2d,
    "convolve 7x7x7": row_convolve_3d,
    "bilateral": row_bilateral,
    "heat": row_heat,
    "kmeans float32": row_kmeans_float32,
    "kmeans float32, longer": row_kmeans_float32_longer,
    "kmeans float16": row_kmeans_float16,
    "kmeans float16, longer": row_kmeans_float16_longer,
    "16 labels": by_label(16),
    "1e5 labels": by_label(100_000),
    "1e7 labels": by_label(10_000_000),
    "events": row_events,
}


def difference(ours, other):
    found, expected = (
        np.concatenate([leaf.ravel() for leaf in leaves(value)]).astype(float) for value in (ours, other)
    )
    if found.shape != expected.shape:
        return math.inf
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def measure(name, full, rounds, round_ms):
    size, ours, others, tolerance = ROWS[name](full)
    loops, results = {"ours": (ours, wait)}, {}
    shown = ours()
    for other, make in others.items():
        found = attempt(other, make)
        if not isinstance(found, str):
            error = attempt(other, lambda call=found[0]: difference(shown, call()))
            if isinstance(error, str):
                found = error
            elif "beyond" not in other and not error <= tolerance:
                results[other + ", difference"] = error
        if isinstance(found, str):
            results[other] = found
        else:
            loops[other] = found
    return {"row": name, "size": size, **in_turns(loops, rounds, round_ms), **results}


def main():
    is_virtual = places.gpu0.device.is_virtual
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(ROWS)}; default: all")
    parser.add_argument("--scale", choices=("full", "small"), default="small" if is_virtual else "full")
    parser.add_argument("--rounds", type=int, default=3 if is_virtual else 9)
    parser.add_argument("--output", type=Path, help="also write the table to this file, as JSON")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.rows if name not in ROWS]
    if unknown:
        parser.error(f"no row is named {unknown[0]!r}; expected some of {', '.join(map(repr, ROWS))}")
    found = []
    with places.gpu0, places.gpu0.scope():
        print(f"{places.gpu0.device.name()}, sizes: {chosen.scale}", flush=True)
        for name in chosen.rows or ROWS:
            row = attempt(name, lambda name=name: measure(name, chosen.scale == "full", chosen.rounds, 30))
            if isinstance(row, str):
                print(f"{name:24}{row}")
                continue
            found.append(row)
            print(f"{name:24}{row['size']:44}ours {row['ours']:9.3f} ms", flush=True)
            for other, figure in row.items():
                if other in ("row", "size", "ours"):
                    continue
                if isinstance(figure, float):
                    is_time = "difference" not in other
                    figure = f"{figure:9.3f} ms{figure / row['ours']:8.2f}" if is_time else f"{figure:.1e}"
                print(f"    {other:24}{figure}", flush=True)
    if chosen.output:
        chosen.output.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
