"""Similarity search: the faces nearest to a face, by descriptors.

python -m apps.faces --check
python -m apps.faces --size seed --bench
python -m apps.faces --plot faces.png
"""

import sys
import threading

import numpy as np

from apps import _harness as harness
from rtcg import driver, neighbors

from . import reference
from .faces import Descriptors

SIZES = {
    "small": {"count": 3_000, "dimensions": 32, "batch": 70},
    "seed": {"count": 20_000, "dimensions": 128, "batch": 256},
    "h200": {"count": 10_000_000, "dimensions": 128, "batch": 256},
}
K, THREADS = 10, 32


def search_from_threads(index, queries, k, threads=THREADS):
    """Searches of one query each from many Python threads at once; distances and indices in the order of queries."""
    context, found, errors = driver.Context.get_current(), [None] * len(queries), []

    def work(first):
        try:
            context.push()
            try:
                for place in range(first, len(queries), threads):
                    found[place] = [array[0] for array in index.search(queries[place : place + 1], k, host=True)]
            finally:
                context.pop()
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(first,)) for first in range(min(threads, len(queries)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return tuple(np.array(part) for part in zip(*found, strict=True))


def check(size, checks):
    """Ranks and distances against float64; one query, a batch and threads agree; faces are found again."""
    descriptors = Descriptors(size["count"], size["dimensions"])
    queries, face = descriptors.queries(size["batch"], 7)
    for dtype in (np.float32, np.float16):
        vectors = descriptors.vectors.astype(dtype)
        for metric in ("cosine", "l2"):
            index, name = neighbors.Index(vectors, metric, merge=True), f"{np.dtype(dtype)}, {metric}"
            distances, indices = (array.get() for array in index.search(queries, K))
            ranked = [reference.ranking(query, vectors, K, metric) for query in queries]
            checks.equal(f"{name}, indices", indices, [order for order, _ in ranked])
            # Cosines near 1 lose digits in the difference.
            checks.close(f"{name}, distances", distances, [found for _, found in ranked], rtol=1e-6, atol=1e-14)
            found = descriptors.face[indices[:, 0]] == face
            checks.true(
                f"{name}, faces", found.mean() >= 0.9,
                f"{found.mean():.0%} of queries found a variant of their face first; expected 90 %",
            )  # fmt: skip
            one = [array.get() for array in index.search(queries[:1], K)]
            checks.equal(f"{name}, one query", one[1][0], indices[0])
    threaded = search_from_threads(index, queries[:40], K)
    for name, of_threads, of_batch in zip(("distances", "indices"), threaded, (distances, indices), strict=True):
        checks.equal(f"{THREADS} threads, {name}", of_threads, of_batch[:40])


def _torch(vectors, queries, k):
    """Products in float16 and `topk`, with vectors on the device before: a function."""
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch has no GPU", name="torch has no GPU")
    on_device = torch.as_tensor(vectors, device="cuda")
    norms = (on_device.float() ** 2).sum(1)

    def call():
        q = torch.as_tensor(queries, device="cuda")
        products = (q.to(on_device.dtype) @ on_device.T).float()
        found = torch.topk(norms - 2 * products, k, largest=False).indices
        torch.cuda.synchronize()
        return found.cpu().numpy()

    return call


def _faiss(vectors, queries, k):
    """faiss's flat index on the GPU, stored in float16: a function."""
    import faiss

    if not hasattr(faiss, "StandardGpuResources"):
        raise ImportError("faiss without a GPU", name="faiss-gpu")
    config = faiss.GpuIndexFlatConfig()
    config.useFloat16 = vectors.dtype == np.float16
    index = faiss.GpuIndexFlatL2(faiss.StandardGpuResources(), vectors.shape[1], config)
    index.add(vectors.astype(np.float32))
    return lambda: index.search(queries, k)[1]


def _numpy(vectors, queries, k):
    vectors = vectors.astype(np.float32)
    norms = (vectors**2).sum(axis=1)

    def call():
        found = norms - 2 * queries @ vectors.T
        nearest = np.argpartition(found, k, axis=1)[:, :k]
        return np.take_along_axis(nearest, np.take_along_axis(found, nearest, 1).argsort(axis=1), 1)

    return call


def bench(size, tables):
    """The ten nearest of one query, of a batch, and of queries from threads; float16, l2."""
    count, dimensions = size["count"], size["dimensions"]
    descriptors = Descriptors(count, dimensions, np.float16, lambda steps: harness.progress(steps, "descriptors"))
    vectors, index = descriptors.vectors, neighbors.Index(descriptors.vectors, "l2")
    merging, on_float32 = (
        neighbors.Index(vectors, "l2", **options) for options in ({"merge": True}, {"candidates": "float32"})
    )
    batch, _ = descriptors.queries(size["batch"], 7)
    nbytes = vectors.nbytes / 1e9
    for queries, title in [(batch[:1], "one query"), (batch, f"{len(batch)} queries")]:
        # Each search reads all vectors once, whatever the number of queries.
        table = harness.Table(f"{title} among {count} of {dimensions} dimensions, float16", "GB/s", *_limit())
        tables.append(table)
        expected = np.array([reference.ranking(query, vectors, K, "l2")[0] for query in queries[:4]])

        def error(found, expected=expected):
            return (np.asarray(found)[: len(expected)] != expected).mean()

        table.row("rtcg", nbytes, lambda q=queries: index.search(q, K)[1].get(), error,
                  remarks="error: share of other indices in the first 4 queries")  # fmt: skip
        for name, peer in [("torch, float16 products", _torch), ("faiss, flat, float16", _faiss)]:
            table.row(name, nbytes, _prepared(peer, vectors, queries), error)
        table.row("NumPy, float32", nbytes, _prepared(_numpy, vectors, queries[:4]), error, on_device=False, rounds=1,
                  remarks=f"{min(len(queries), 4)} queries")  # fmt: skip
        if len(queries) > 1:
            table.row("rtcg, candidates in float32", nbytes, lambda q=queries: on_float32.search(q, K)[1].get(), error)
            # As many bytes as if each thread's query read all of them would be another measure: the batch is compared.
            for name, shared in [("merged", merging), ("one by one", index)]:
                table.row(f"rtcg, {THREADS} threads, {name}", nbytes,
                          lambda q=queries, i=shared: search_from_threads(i, q, K)[1], error)  # fmt: skip


def _prepared(peer, vectors, queries):
    """Prepares a peer when it is called first."""
    made = []

    def call():
        if not made:
            made.append(peer(vectors, queries, K))
        return made[0]()

    return call


def _limit():
    """The rate at which device memory is read."""
    device = driver.Context.get_device()
    if device.compute_capability() < (9, 0):
        return None, ""
    return 2 * device.memory_clock_rate * 1e3 * device.global_memory_bus_width / 8 / 1e9, "device memory"


def plot(size):
    """Four queries, each with its ten nearest."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    descriptors = Descriptors(size["count"], size["dimensions"])
    queries, _ = descriptors.queries(4, 11)
    distances, indices = (array.get() for array in neighbors.Index(descriptors.vectors, "cosine").search(queries, K))
    figure, axes = plt.subplots(4, K + 1, figsize=(11, 5))
    for row, query in enumerate(queries):
        pictures = descriptors.picture(np.concatenate([query[None], descriptors.vectors[indices[row]]]))
        for column, (axis, picture) in enumerate(zip(axes[row], pictures, strict=True)):
            axis.imshow(picture, cmap="gray")
            axis.set(xticks=[], yticks=[])
            axis.set_title(f"{distances[row, column - 1]:.3f}" if column else "query", fontsize=8)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    sys.exit(harness.run(__doc__, SIZES, check, bench, plot))
