"""Filter banks of visual-cortex models, tuned, and the screening of random models.

python -m apps.filterbank --check
python -m apps.filterbank --size seed --bench
python -m apps.filterbank --plot filters.png
"""

import functools
import itertools
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import driver, ndimage
from rtcg.random import default_rng

from . import predict, reference, screening
from .bank import PUBLISHED, SHAPES_2011, Bank, Bank2011, flops, made, tolerance
from .peers import cudnn, cudnn_bank, of_torch, on_one_core, scipy_first

SIZES = {
    "small": {
        "shapes": [((41, 70, 6), (6, 9, 9, 6)), ((35, 45, 4), (8, 13, 13, 4)), ((37, 41, 3), (5, 5, 5, 3)),
                   ((45, 67, 3), (3, 4, 4, 3))],
        "models": 3, "pictures": 8, "problems": 6, "configurations": 8, "budget_2011": "3 evaluations",
        "draw": dict(sides=[16, 24, 32], taps=[3, 5], depths=[1, 2, 4, 8], work=(1e4, 2e6)),
    },
    "seed": {
        "shapes": SHAPES_2011, "models": 100, "pictures": 200, "problems": 100, "configurations": 24,
        "budget_2011": "60 evaluations",
        "draw": dict(sides=[256, 512, 1024], taps=range(3, 12), depths=[1, 4, 8, 16, 32, 64], work=(1e9, 1e10)),
    },
    "h200": {
        "shapes": SHAPES_2011, "models": 1000, "pictures": 200, "problems": 1000, "configurations": 24,
        "budget_2011": "60 evaluations",
        "draw": dict(sides=[256, 512, 1024, 2048, 4096], taps=range(3, 12), depths=[1, 4, 8, 16, 32, 64, 128, 256],
                     work=(1e9, 5e10)),
    },
}  # fmt: skip

# Of each shape of `small`: blocks that fit and that do not, every place for taps, unrolling, stages of copies.
VARIANTS = [
    [
        dict(taps="shared", stages=2, channels=2, bx=8, by=8, py=2, groups=1),
        dict(bx=16, by=4, px=4, filters=2, groups=2, taps="constant"),
        dict(bx=16, by=2, px=4, filters=2, groups=4, taps="global"),
    ],
    [dict(taps="constant", channels=1, filters=8, by=2, bx=32), dict(taps="shared", stages=3, channels=1, filters=1)],
    [dict(taps="constant", filters=2, py=4, by=2, bx=16), dict(unroll="taps", px=8, filters=2, channels=4)],
    [dict(taps="literal", unroll="all", channels=4, by=4, bx=8)],
]
VARIANTS_2011 = [
    {},
    dict(block_w=32, block_h=4, rows=2, float4_outputs=False, spill=True, pad_shared=False, registers=32,
         fast_product=False, fast_math=True),
    dict(texture=True, rows=2, block_w=16),
]  # fmt: skip


def _worst(found, expected, magnitudes, bank):
    """The largest error, in units of what rounding may do."""
    return float((np.abs(found - expected) / (tolerance(bank) * magnitudes)).max())


def check(size, checks):
    """Every variant against the direct sum in float64; whole models; what a model of parameters predicts."""
    for at, (shape, bank) in enumerate(size["shapes"]):
        x, w = made(shape, bank)
        # The last rows of large images.
        rows = int(np.clip(1e8 // (flops(shape, bank) // (shape[0] - bank[1] + 1)), 1, shape[0] - bank[1] + 1))
        expected, magnitudes = reference.filter_bank(x[-(rows + bank[1] - 1) :], w)
        ours, x_ = Bank(shape, w), xp.asarray(x)
        found = {"library": ndimage.filter_bank(x_, w), "default": ours(x_)}
        for config in VARIANTS[at] if size is SIZES["small"] else []:
            found[str(config)] = ours(x_, **config)
        if size is SIZES["small"]:
            found["3xTF32"] = Bank(shape, w, uses_tensor_cores=True)(x_, nt=1 + at % 2, mt=1 + at % 2, warps=2)
        for name, result in found.items():
            worst = _worst(result[-rows:].get(), expected, magnitudes, bank)
            checks.true(f"{shape} {bank} {name}", worst <= 1, f"{worst:.2g} times the error of rounding; expected <= 1")
    _check_2011(checks)
    _check_half(checks)
    _check_models(size, checks)
    _check_prediction(checks)


def _check_2011(checks):
    shape, bank = (35, 45, 4), (4, 5, 5, 4)
    x, w = made(shape, bank)
    for config in VARIANTS_2011:
        worst = _worst(Bank2011(shape, w)(xp.asarray(x), **config).get(), *reference.filter_bank(x, w), bank)
        checks.true(f"2011 {config}", worst <= 1, f"{worst:.2g} times the error of rounding; expected <= 1")


def _check_half(checks):
    for at, options in [(2, {"activation": "fmaxf(acc, -1.0f)"}), (0, {"uses_tensor_cores": True})]:
        shape, bank = SIZES["small"]["shapes"][at]
        x, w = (array.astype(np.float16) for array in made(shape, bank))
        expected, magnitudes = reference.filter_bank(x, w)
        found = Bank(shape, w, half=True, **options)(xp.asarray(x)).get()
        expected = np.maximum(expected, -1) if "activation" in options else expected
        excess = np.abs(found - expected) - 2.0**-11 * np.abs(expected) - tolerance(bank) * magnitudes
        checks.true(f"float16 {options}", (excess <= 0).all(), f"error {excess.max():.2g} above rounding")


def _check_models(size, checks):
    images, labels = screening.pictures(min(size["pictures"], 8))
    on_device = xp.asarray(images)
    for seed in range(min(size["models"], 2)):
        parameters, banks = screening.fitted(screening.draw(seed))
        found = screening.features(on_device, parameters, banks)[0].get()
        expected = np.stack([reference.model(image, parameters, banks) for image in images[::4]])
        checks.close(f"features of model {seed}", found[::4], expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())
    scores, _ = screening.screen(2, on_device, labels, 2)
    checks.equal("models that were judged", sorted(scores), [0, 1])
    checks.close("chance", screening.accuracy(np.random.default_rng(0).normal(size=(400, 5)), np.tile([1.0, -1], 200)),
                 0.5, atol=0.12)  # fmt: skip
    separable = np.linspace(-1, 1, 60)[:, None] * [1, 2]
    checks.equal("what a plane divides", screening.accuracy(separable, np.sign(separable[:, 0])), 1.0)


def _check_prediction(checks):
    problems = predict.draw(80, 1, **SIZES["seed"]["draw"])
    configs = predict.configurations(problems[:8], 40)
    times = predict.modelled(problems, configs)
    shares = predict.judge(predict.Model(problems[:40], times[:40]), problems[40:], times[40:])
    checks.true(
        "predicted parameters", np.exp(np.log(shares).mean()) > 0.9, f"{shares.mean():.2f} of the best; expected > 0.9"
    )
    fixed = np.nanargmin(np.where(np.isnan(times), 1e30, times)[:40].mean(axis=0))
    constant = np.nan_to_num(np.nanmin(times[40:], axis=1) / times[40:, fixed])
    checks.true(
        "prediction",
        shares.mean() >= constant.mean() - 0.02,
        f"{shares.mean():.2f}; one for all: {constant.mean():.2f}",
    )


def bench(size, tables):
    """Each shape by default and tuned, ours and that of 2011, beside peers; then prediction and screening."""
    rate, gains = harness.instruction_rate(), []
    for at, (shape, bank) in enumerate(size["shapes"]):
        gains.append(_bench_shape(at, shape, bank, rate, tables, size["budget_2011"]))
    ours, of_2011 = np.exp(np.log(gains).mean(axis=0))
    print(f"tuned over default, geometric mean: {ours:.2f}; in the space of 2011: {of_2011:.2f}")
    for device, rates in PUBLISHED.items():
        print(f"  {device}: {', '.join(f'{tuned / default:.2f}' for default, tuned in rates)} (published 2011-12)")
    _bench_prediction(size)
    _bench_screening(size)


def _bench_shape(at, shape, bank, rate, tables, budget_2011):
    x, w = made(shape, bank)
    work, x_, w_ = flops(shape, bank) / 1e9, xp.asarray(x), xp.asarray(w)
    rows = int(np.clip(2e8 / (work * 1e9 / (shape[0] - bank[1] + 1)), 1, shape[0] - bank[1] + 1))
    exact, magnitudes = reference.filter_bank(x[: rows + bank[1] - 1], w)

    def error(found):
        found = np.asarray(found if isinstance(found, np.ndarray) else found[:rows].get(), np.float64)[:rows]
        return (np.abs(found - exact[..., : found.shape[2]]) / magnitudes[..., : found.shape[2]]).max()

    table = harness.Table(f"{' x '.join(map(str, shape))}, {bank[0]} filters of {' x '.join(map(str, bank[1:]))}",
                          "GFLOP/s", rate and 2 * rate / 1e9, "multiply-adds of float32")  # fmt: skip
    tables.append(table)
    table.row("rtcg.ndimage.filter_bank", work, lambda: ndimage.filter_bank(x_, w_), error)
    gains = []
    for name, made_bank, budget in [("rtcg", Bank(shape, w), harness.budget), ("2011", Bank2011(shape, w) if not
                                    (shape[2] % 4 or bank[0] % 4) else None, budget_2011)]:  # fmt: skip
        if made_bank is None:
            gains.append(1.0)
            continue
        default = (made_bank.kernel if name == "rtcg" else made_bank.kernels[0]).default
        image = (x_,) if name == "rtcg" else (x_, made_bank.texture(x_))
        table.row(f"{name}, default", work, lambda b=made_bank, i=image, c=default: b(*i, **c), error)
        report = made_bank.tune(x_, budget)
        table.row(f"{name}, tuned", work, lambda b=made_bank, i=image, c=report.best: b(*i, **c), error,
                  remarks=harness.tuned(report))  # fmt: skip
        gains.append(report.speedup[0] if report.speedup else 1.0)
    x16 = x_.astype(np.float16)
    half = Bank(shape, w, half=True)
    table.row(
        "rtcg, float16", work, lambda: half(x16), error, remarks="stored as float16, summed in float32 by threads"
    )
    for name, image, is_half in [("3xTF32", x_, False), ("float16 tensor cores", x16, True)]:
        # Which needs compute capability 8.0: else the compiler's refusal is the row.
        own = Bank(shape, w, half=is_half, uses_tensor_cores=True)
        table.row(f"rtcg, {name}", work, lambda b=own, i=image: b(i, **b.kernel.default), error)
        if table.rows[-1]["name"] == f"rtcg, {name}":
            report = own.tune(image, harness.budget)
            table.row(f"rtcg, {name}, tuned", work, lambda b=own, i=image, c=report.best: b(i, **c), error,
                      remarks=harness.tuned(report))  # fmt: skip
    for name, options in [("contiguous", (False,)), ("channels last", (True,)), ("float16", (True, "float16"))]:
        call = cudnn(x, w, *options)
        table.row(f"cuDNN, {name}", work, call, lambda found: error(of_torch(found)), on_device=False)
    table.row("C, one core", work * rows / (shape[0] - bank[1] + 1), on_one_core(x, w, rows), error, on_device=False,
              rounds=1, remarks=f"{rows} rows")  # fmt: skip
    few = x[: rows + bank[1] - 1]
    part = work / bank[0] * rows / (shape[0] - bank[1] + 1)
    table.row("scipy.ndimage, one filter", part, lambda: scipy_first(few, w), error,
              on_device=False, rounds=1, remarks=f"{rows} rows, all taps of the depth")  # fmt: skip
    if (shape, bank) == SHAPES_2011[at]:
        for device, rates in PUBLISHED.items():
            table.published("tuned in 2011-12", rates[at][1], device)
    return gains


def _bench_prediction(size):
    """Time a list of configurations for all problems; predict those of one half from the other."""
    problems = predict.draw(size["problems"], 2, **size["draw"])
    configs, times = predict.configurations(problems, size["configurations"]), []
    rng, in_context = default_rng(2011), driver.Context.get_current().push
    try:
        with ThreadPoolExecutor(os.cpu_count(), initializer=in_context) as pool:
            for shape, bank in harness.progress(problems, "problems"):
                own, x = Bank(shape, rng.random(bank, np.float32).get()), rng.random(shape, np.float32)
                is_possible = [predict.is_possible(config, shape, bank) for config in configs]
                list(pool.map(own.kernel.compile, itertools.compress(configs, is_possible)))
                calls = [functools.partial(own, x, **config) for config in configs]
                times.append([harness.times(call, rounds=3)[1] if possible else np.nan
                              for call, possible in zip(calls, is_possible, strict=True)])  # fmt: skip
    except KeyboardInterrupt:
        print(f"interrupted after {len(times)} of {len(problems)} problems")
    half = len(times) // 2
    shares = predict.judge(predict.Model(problems[:half], times[:half]), problems[half : len(times)], times[half:])
    mean = np.exp(np.log(shares).mean())
    print(f"parameters predicted for {len(shares)} banks from {half} others: {mean:.1%} of the speed of the best of "
          f"{len(configs)}, geometric mean; worst {shares.min():.1%}")  # fmt: skip


def _bench_screening(size):
    """Models a second with our filter banks and with those of cuDNN; what else they need was compiled by the first."""
    images, labels = screening.pictures(size["pictures"])
    print(f"screening of models on {len(images)} images; with compilation, of which cuDNN's row needs none of layers")
    for name, bank in [("rtcg.ndimage", screening.bank), ("cuDNN", cudnn_bank)]:
        try:
            scores, seconds = screening.screen(size["models"], xp.asarray(images), labels, os.cpu_count() or 1,
                                               lambda steps: harness.progress(steps, "models"), bank)  # fmt: skip
        except ImportError as problem:
            print(f"{name:32} not installed ({problem.name or problem})")
            continue
        except Exception as problem:  # PyTorch without a GPU, as in other rows
            if bank is screening.bank:
                raise
            print(f"{name:32} {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}")
            continue
        best = ", ".join(f"model {seed} {score:.1%}" for seed, score in list(scores.items())[:3])
        print(f"{name:32} {len(scores) / seconds:10.4g} models/s: {len(scores)} in {seconds:.1f} s; best: {best}; "
              f"median {np.median(list(scores.values())):.1%}")  # fmt: skip


def plot(size):
    """Default against tuned, then and now; the filters of the best model, and what it makes of the camera man."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(13, 6))
    axis = figure.add_subplot(1, 2, 1)
    for k, (device, rates) in enumerate(PUBLISHED.items()):
        axis.plot(*zip(*rates, strict=True), "o", color=f"C{k}", label=device)
    if harness.instruction_rate() is not None:
        _plot_own(axis, size)
    axis.plot([5, 6e4], [5, 6e4], color="0.7", linewidth=1)
    axis.set(xscale="log", yscale="log", xlabel="GFLOP/s by default", ylabel="GFLOP/s tuned")
    axis.legend(fontsize=8)
    images, labels = screening.pictures(size["pictures"])
    scores, _ = screening.screen(size["models"], xp.asarray(images), labels, 2)
    seed = next(iter(scores))
    parameters, banks = screening.fitted(screening.draw(seed), 128)
    photo = screening.camera()
    _, responses = screening.features(xp.asarray(photo[None]), parameters, banks)
    shown = [("image", photo)] + [(f"filter {k}", bank[..., 0]) for k, bank in enumerate(banks[0][:4])]
    shown += [(f"response {k}", responses[0][0, ..., k].get()) for k in range(4)]
    for place, (name, image) in enumerate(shown):
        small = figure.add_subplot(3, 6, place // 3 * 6 + 4 + place % 3)
        small.imshow(image, cmap="gray")
        small.set_title(name, fontsize=8)
        small.axis("off")
    axis.set_title(f"right: model {seed}, {scores[seed]:.0%} of {len(images)} images", fontsize=9)
    return figure


def _plot_own(axis, size):
    points = []
    for shape, bank in size["shapes"]:
        x, w = made(shape, bank)
        own, x_ = Bank(shape, w), xp.asarray(x)
        best = own.tune(x_, harness.budget).best
        points.append([flops(shape, bank) / 1e9 / harness.times(lambda o=own, c=c, i=x_: o(i, **c))[1]
                       for c in (own.kernel.default, best)])  # fmt: skip
    axis.plot(*zip(*points, strict=True), "*", color="k", markersize=12, label=driver.Context.get_device().name())


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
