"""Entropy of images by nearest neighbours of their patches.

python -m apps.entropy --check
python -m apps.entropy --size seed --bench
python -m apps.entropy --plot entropy.png
"""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import rtcg.numpy as xp
from apps import _harness as harness
from rtcg import driver, neighbors

from . import images, reference
from .estimate import PIECE, dimension, entropy, entropy_curve, nearest_distances

SIZES = {
    "small": {"tests": 512, "others": 4_096, "known": 4_096, "pairs": (1_024, 4_096), "streamed": 1 << 13},
    "seed": {"tests": 8_192, "others": 1 << 18, "known": 1 << 16, "pairs": (1 << 16, 1 << 18), "streamed": 1 << 21},
    "h200": {"tests": 1 << 16, "others": 1 << 21, "known": 1 << 18, "pairs": (1 << 20, 1 << 20), "streamed": 1 << 26},
}


def check(size, checks):
    """Indices against NumPy, entropies against closed forms, the order of classes, several devices against one."""
    _check_indices(checks)
    _check_known(size["known"], checks)
    _check_classes(size, checks)
    tests, others = images.patches(images.classes()["natural"], 3, [300, 2_500], 3)
    checks.equal("in pieces", nearest_distances(tests, others, piece=700), nearest_distances(tests, others))
    devices = driver.Device.count()
    if devices > 1:
        checks.equal(f"{devices} devices", nearest_distances(tests, others, devices), nearest_distances(tests, others))


def _check_indices(checks):
    """Few grey levels, so that many distances are equal; blocks and slices with a rest."""
    rng = np.random.default_rng(5)
    for dimensions, tests, others, k in [(9, 300, 4_096, 3), (24, 70, 4_096, 10)]:
        x, y = (rng.integers(0, 4, (n, dimensions)).astype(np.float32) for n in (tests, others))
        distances, indices = neighbors.knn(x, y, k)
        order, expected = reference.nearest(x, y, k)
        checks.equal(f"indices, {dimensions} dimensions", indices.get(), order)
        checks.equal(f"distances, {dimensions} dimensions", distances.get(), expected.astype(np.float32))


def _check_known(points, checks):
    """Gaussian and uniform points within 2 %; tests of uniform ones are away from the border, in the same density."""
    rng = np.random.default_rng(2007)
    for dimensions in (1, 3, 9):
        x, y = (rng.normal(scale=8, size=(points, dimensions)).astype(np.float32) for _ in range(2))
        found = entropy(nearest_distances(x[: points // 2], y), points, dimensions)
        checks.close(f"Gaussian, {dimensions} dimensions", found, reference.gaussian_bits(dimensions, 8), rtol=0.02)
        inside = rng.uniform(8, 24, (points // 2, dimensions)).astype(np.float32)
        among = rng.uniform(0, 32, (points, dimensions)).astype(np.float32)
        found = entropy(nearest_distances(inside, among), points, dimensions)
        checks.close(f"uniform, {dimensions} dimensions", found, reference.uniform_bits(dimensions, 32), rtol=0.02)


def _check_classes(size, checks):
    for side in (3, 8):
        bits = {}
        for name, drawn in images.classes().items():
            tests, others = images.patches(drawn, side, [size["tests"], size["others"]], side)
            bits[name] = entropy(nearest_distances(tests, others), len(others), side * side - 1)
        natural, matched, white = bits.values()
        checks.true(
            f"{side} x {side}", natural < matched < white,
            f"{natural:.1f} bits of natural patches, {matched:.1f} of noise of their spectrum, {white:.1f} of white "
            "noise; expected ascending ones",
        )  # fmt: skip


def _on_one_core(tests, others):
    """The same by C on one core, compiled when it is called."""
    library = Path(tempfile.mkdtemp(prefix="entropy-")) / "reference.so"
    source = Path(__file__).with_name("reference.c")
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", library, source], check=True)
    function = ctypes.CDLL(str(library)).nearest_distances

    def call():
        found = np.empty(len(tests), np.float32)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (tests, others, found)]
        function(*pointers[:2], len(tests), len(others), tests.shape[1], pointers[2])
        return found

    return call


def _torch(tests, others, k):
    """`torch.cdist` in pieces whose distances take 1 GiB, without TF32, and the smallest."""
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch has no GPU", name="torch has no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    x, y = (torch.as_tensor(array, device="cuda") for array in (tests, others))
    step = max((1 << 28) // len(others), 1)
    parts = [torch.cdist(x[i : i + step], y).topk(k, largest=False) for i in range(0, len(tests), step)]
    torch.cuda.synchronize()
    return torch.cat([part.values for part in parts]).cpu().numpy()


def _faiss(tests, others, k):
    """faiss's flat index on the GPU."""
    import faiss

    if not hasattr(faiss, "StandardGpuResources"):
        raise ImportError("faiss without a GPU", name="faiss-gpu")
    index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, faiss.IndexFlatL2(tests.shape[1]))
    index.add(others)
    return np.sqrt(np.maximum(index.search(tests, k)[0], 0))


def _cuvs(tests, others, k):
    """cuVS's brute force."""
    import cupy
    from cuvs.neighbors import brute_force

    index = brute_force.build(cupy.asarray(others), metric="sqeuclidean")
    distances, _ = brute_force.search(index, cupy.asarray(tests), k)
    return np.sqrt(np.maximum(cupy.asnumpy(cupy.asarray(distances)), 0))


def _tree(tests, others, k):
    """SciPy's tree, on all cores."""
    from scipy.spatial import cKDTree

    return cKDTree(others).query(tests, k=k, workers=-1)[0].reshape(len(tests), k)


def bench(size, tables):
    """Nearest neighbours of Gaussian points, from host memory to host memory; entropies of the classes."""
    n_tests, n_others = size["pairs"]
    rng = np.random.default_rng(1)
    for dimensions, k in [(9, 1), (64, 1), (64, 10), (64, 100)]:
        x, y = (rng.normal(size=(n, dimensions)).astype(np.float32) for n in (n_tests, n_others))
        limit, name = _limit(dimensions)
        table = harness.Table(f"{k} nearest, {n_tests} x {n_others}, d = {dimensions}", "Gpairs/s", limit, name)
        tables.append(table)
        part, expected = x[:64], reference.nearest(x[:64], y, k)[1]

        def error(found, k=k, expected=expected, part=part):
            return np.abs(found.reshape(-1, k)[: len(part)] / expected - 1).max()

        pairs = n_tests * n_others / 1e9
        table.row("rtcg", pairs, lambda x=x, y=y, k=k: neighbors.knn(x, y, k)[0].get(), error)
        index = neighbors.Index(y)
        table.row("rtcg, points on the device", pairs, lambda x=x, k=k, i=index: i.search(x, k)[0].get(), error)
        for peer, call in [("torch.cdist, no TF32", _torch), ("faiss, flat", _faiss), ("cuVS", _cuvs)]:
            table.row(peer, pairs, lambda x=x, y=y, k=k, call=call: call(x, y, k), error)
        if dimensions < 16:
            table.row("scipy.cKDTree, all cores", pairs, lambda x=x, y=y, k=k: _tree(x, y, k), error, on_device=False)
        if k == 1:
            some = x[: max(64, int(2e9 / n_others / dimensions))]
            work = len(some) * n_others / 1e9
            table.row("C, one core", work, _on_one_core(some, y), error, on_device=False, rounds=1,
                      remarks=f"{len(some)} tests")  # fmt: skip
    _bench_pieces(size, tables)
    print(f"images: {images.natural_images()[1]}")
    for side in (3, 8):
        for name, drawn in images.classes().items():
            tests, others = images.patches(drawn, side, [size["tests"], size["others"]], side)
            bits = entropy(nearest_distances(tests, others), len(others), side * side - 1)
            print(
                f"{side} x {side}, {name:24} {bits / side**2:6.2f} bits a pixel, "
                f"dimension {dimension(tests, others):.1f} of {side * side - 1}",
                flush=True,
            )


def _bench_pieces(size, tables):
    """More points than should be on the device at once: their copies are hidden behind the searches."""
    count, piece, dimensions = size["streamed"], min(PIECE, size["streamed"] // 4), 8
    rng = np.random.default_rng(2)
    tests, others = (rng.standard_normal((n, dimensions), np.float32) for n in (size["tests"], count))
    table = harness.Table(f"1 nearest, {len(tests)} x {count} in pieces of {piece}, d = 8", "Gpairs/s", *_limit(8))
    tables.append(table)
    resident = neighbors.Index(others[:piece])
    queries = xp.asarray(tests)
    table.row("a piece on the device", len(tests) * piece / 1e9, lambda: resident.search(queries, 1)[0].get())
    table.row("all, from host memory", len(tests) * count / 1e9, lambda: nearest_distances(tests, others, piece=piece),
              rounds=1, remarks=f"{2 * piece * 4 * dimensions >> 20} MiB of points on the device")  # fmt: skip


def _limit(dimensions):
    """The rate at which the device issues instructions: two for each dimension of a pair, one for products."""
    rate, each = harness.instruction_rate(), 2 * dimensions if dimensions <= 16 else dimensions
    return (rate / each / 1e9, f"{each} instructions a pair in float32") if rate else (None, "")


def plot(size):
    """Entropy against the number of patches for three classes, and a patch with its ten nearest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10, 7), layout="constrained")
    grid = figure.add_gridspec(3, 11, height_ratios=[3, 1, 1])
    of_class = images.classes()
    for place, side in [(grid[0, :5], 3), (grid[0, 6:], 8)]:
        axis = figure.add_subplot(place)
        for name, drawn in of_class.items():
            tests, others = images.patches(drawn, side, [size["tests"], size["others"]], side)
            points, bits = entropy_curve(tests, others).T
            axis.semilogx(points, bits / side**2, "o-", base=2, label=name)
        axis.set(title=f"{side} x {side} pixels", xlabel="patches", ylabel="bits a pixel")
        axis.legend(fontsize=8)
    for row, (name, drawn) in enumerate(list(of_class.items())[:2], 1):
        tests, others = images.patches(drawn, 8, [1, size["others"]], 11)
        _, indices = neighbors.knn(tests, others, 10)
        back = np.concatenate([tests, others[indices.get()[0]]]) @ images.basis(8).T
        for column, patch in enumerate(back):
            axis = figure.add_subplot(grid[row, column])
            axis.imshow(patch.reshape(8, 8), cmap="gray", vmin=back[0].min(), vmax=back[0].max())
            axis.set(xticks=[], yticks=[], title="" if column else f"{name}\nand its nearest")
            axis.title.set_fontsize(7)
    figure.suptitle(f"natural: {images.natural_images()[1]}", fontsize=8)
    return figure


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
