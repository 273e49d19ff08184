"""Screening: random models of three layers, each judged by a linear classifier of its features.

A model has 52 parameters: 4 of the normalisation of its input, and 16 of each layer. The images are the `lfw_subset` of
scikit-image's wheel, faces and crops without them; where it is missing, drawn faces and textures.
"""

import importlib.util
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from apps.faces.faces import SIDE, drawn_faces
from rtcg import driver, ndimage

LAYERS = 3
# BLAS with threads of its own that several threads call at once mostly waits; a classifier takes less than 1 ms.
_classifying = threading.Lock()


def pictures(count=200):
    """Images (count, 25, 25) with mean 0 and deviation 1, the same number with faces and without; and labels."""
    spec = importlib.util.find_spec("skimage")
    path = Path(spec.submodule_search_locations[0], "data", "lfw_subset.npy") if spec is not None else None
    half = count // 2
    if path is not None and path.is_file():
        images = np.load(path).astype(np.float32)
        images = np.concatenate([images[:half], images[100 : 100 + half]])
    else:
        rng = np.random.default_rng(7)
        noise = rng.normal(size=(half, SIDE + 8, SIDE + 8))
        smooth = sum(np.roll(noise, (i, j), (1, 2)) for i in range(5) for j in range(5))[:, 4:-4, 4:-4]
        images = np.concatenate([drawn_faces(half, 2011), smooth.astype(np.float32)])
    images = images - images.mean(axis=(1, 2), keepdims=True)
    return images / images.std(axis=(1, 2), keepdims=True), np.repeat([1.0, -1.0], half)


def camera():
    """128 x 128 pixels of scikit-image's photograph, or a drawn face where it is missing."""
    try:
        from skimage import data

        photo = data.camera()[::4, ::4].astype(np.float32)
    except Exception:  # noqa: BLE001 - the wheel without its data, too
        photo = np.kron(drawn_faces(1, 3)[0], np.ones((6, 6), np.float32))[:128, :128]
    return (photo - photo.mean()) / photo.std()


def draw(seed):
    """The parameters of a random model."""
    rng = np.random.Generator(np.random.Philox(key=seed))

    def normalisation():
        return {
            "size": int(rng.choice([3, 5, 7])), "center": bool(rng.integers(2)),
            "stretch": float(rng.choice([0.1, 1.0, 10.0])), "threshold": float(rng.choice([0.1, 1.0, 10.0])),
        }  # fmt: skip

    def layer():
        return {
            "filters": int(rng.choice([8, 16, 32])), "height": int(rng.choice([3, 5, 7])),
            "width": int(rng.choice([3, 5, 7])), "kind": str(rng.choice(["normal", "uniform"])),
            "without_mean": bool(rng.integers(2)), "unit": bool(rng.integers(2)),
            "low": float(rng.choice([-np.inf, 0.0])), "high": float(rng.choice([1.0, np.inf])),
            "pool": (int(rng.choice([2, 3, 5])), int(rng.choice([2, 3, 5]))), "stride": int(rng.choice([1, 2])),
            "exponent": float(rng.choice([1, 2, 10])), "norm": normalisation(),
        }  # fmt: skip

    return {"seed": seed, "input": normalisation(), "layers": [layer() for _ in range(LAYERS)]}


def fitted(parameters, side=SIDE):
    """The same model with windows no larger than what there is of the image; its filters."""
    rng = np.random.Generator(np.random.Philox(key=(parameters["seed"], 1)))
    rows = columns = side
    channels, banks = 1, []

    def normalisation(part):
        nonlocal rows, columns
        size = min(part["size"], rows, columns)
        rows, columns = rows - size + 1, columns - size + 1
        return part | {"size": size}

    first, layers = normalisation(parameters["input"]), []
    for layer in parameters["layers"]:
        height, width = min(layer["height"], rows), min(layer["width"], columns)
        shape = (layer["filters"], height, width, channels)
        bank = rng.standard_normal(shape) if layer["kind"] == "normal" else rng.random(shape)
        if layer["without_mean"]:
            bank = bank - bank.mean(axis=(1, 2, 3), keepdims=True)
        norms = np.sqrt((bank**2).sum(axis=(1, 2, 3), keepdims=True))
        # Windows of one pixel and one channel may have no deviation.
        scale = np.where(norms > 1e-6, norms, 1) if layer["unit"] else height * width * channels
        banks.append((bank / scale).astype(np.float32))
        rows, columns, channels = rows - height + 1, columns - width + 1, layer["filters"]
        pool = min(layer["pool"][0], rows), min(layer["pool"][1], columns)
        rows, columns = (rows - pool[0]) // layer["stride"] + 1, (columns - pool[1]) // layer["stride"] + 1
        layers.append(layer | {"pool": pool, "norm": normalisation(layer["norm"])})
    return {"seed": parameters["seed"], "input": first, "layers": layers}, banks


def _bound(value):
    return "INFINITY" if value == np.inf else "-INFINITY" if value == -np.inf else f"{value!r}f"


def bank(x, w, low, high):
    """Responses (images, rows, columns, filters), none below `low` or above `high`."""
    clip = f"fminf(fmaxf(acc, {_bound(low)}), {_bound(high)})".replace("INFINITY", "__int_as_float(0x7f800000)")
    return ndimage.filter_bank(x, w, clip)


def features(images, parameters, banks, bank=bank):
    """Features (images, numbers) on the device, of images (count, rows, columns) there; and each layer's responses.

    `bank` is the function above, or that of a peer.
    """

    def normalised(x, part):
        return ndimage.local_norm(
            x, part["size"], center=part["center"], stretch=part["stretch"], threshold=part["threshold"]
        )

    # Copies wait for what is in the stream, so they come first.
    banks = [xp.asarray(filters) for filters in banks]
    x, responses = normalised(images[..., None], parameters["input"]), []
    for layer, filters in zip(parameters["layers"], banks, strict=True):
        responses.append(bank(x, filters, layer["low"], layer["high"]))
        x = ndimage.pool(responses[-1], layer["pool"], layer["stride"], layer["exponent"])
        x = normalised(x, layer["norm"])
    return x.reshape(len(x), -1), responses


def accuracy(found, labels, folds=5):
    """The share of images that a linear classifier tells right, which was fitted without them (ridge regression)."""
    found = found.astype(np.float64)
    deviation = found.std(axis=0)
    found = (found - found.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    found /= np.sqrt(max((found**2).sum() / len(found), 1e-30))
    fold, right = np.arange(len(found)) % folds, 0
    for k in range(folds):
        rest, left, known = found[fold != k], found[fold == k], labels[fold != k]
        # As many equations as there are features or images, whichever are fewer; the weights are the same.
        if rest.shape[1] < len(rest):
            weights = np.linalg.solve(rest.T @ rest + 0.01 * np.eye(rest.shape[1]), rest.T @ known)
        else:
            weights = rest.T @ np.linalg.solve(rest @ rest.T + 0.01 * np.eye(len(rest)), known)
        right += (np.sign(left @ weights) == labels[fold == k]).sum()
    return right / len(found)


def judge(seed, images, labels, bank=bank):
    """How good the model of a seed is."""
    found, _ = features(images, *fitted(draw(seed), images.shape[1]), bank)
    found = found.get()
    with _classifying:
        return float(accuracy(found, labels))


def screen(models, images, labels, threads, steps=iter, bank=bank):
    """The accuracy of models by their seed, best first, and the seconds they took; Ctrl-C keeps those that are done.

    Threads judge a model each, in a stream of its own, so that one's kernels are compiled while another's run, and no
    one waits for another's.
    """
    found, start, streams = {}, time.perf_counter(), queue.SimpleQueue()
    for _ in range(threads):
        streams.put(driver.Stream())

    def judged(seed):
        stream = streams.get()
        try:
            with stream:
                return judge(seed, images, labels, bank)
        finally:
            streams.put(stream)

    pool = ThreadPoolExecutor(threads, initializer=driver.Context.get_current().push)
    try:
        futures = {seed: pool.submit(judged, seed) for seed in range(models)}
        for seed in steps(list(futures)):
            found[seed] = futures[seed].result()
    except KeyboardInterrupt:
        print(f"interrupted after {len(found)} of {models} models", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return dict(sorted(found.items(), key=lambda item: -item[1])), time.perf_counter() - start
