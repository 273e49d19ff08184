"""`rtcg.neighbors` against loops in NumPy: indices and distances are the same bits."""

import itertools
import math
import signal
import threading

import numpy as np
import pytest
from depth import ALL

import rtcg.numpy as xp
from rtcg import checking, neighbors

METRICS = ("l2", "sqeuclidean", "l1", "chebyshev", "cosine")


def compared(queries, points, metric):
    """All distances as they are compared: squared for "l2", negative cosines."""
    q, p = queries.astype(np.float64), points.astype(np.float64)
    total = np.zeros((len(q), len(p)))
    if metric == "cosine":
        lengths = [np.zeros(len(q)), np.zeros(len(p))]
        for t in range(q.shape[1]):
            total += q[:, t, None] * p[None, :, t]
            for norms, x in zip(lengths, (q, p), strict=True):
                norms += x[:, t] * x[:, t]
        length = np.sqrt(lengths[0])[:, None] * np.sqrt(lengths[1])[None]
        return np.divide(-total, length, out=np.zeros_like(total), where=length > 0)
    for t in range(q.shape[1]):
        difference = np.abs(q[:, t, None] - p[None, :, t])
        if metric == "chebyshev":
            total = np.maximum(total, difference)
        else:
            total += difference if metric == "l1" else difference * difference
    return total


def by_sorting(queries, points, k, metric):
    all_of_them = compared(queries, points, metric)
    indices = np.argsort(all_of_them, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(all_of_them, indices, 1)
    return {"l2": np.sqrt, "cosine": lambda x: np.maximum(1 + x, 0)}.get(metric, lambda x: x)(found), indices


def assert_same(found, queries, points, k, metric):
    distances, indices = (array.get() for array in found)
    expected, order = by_sorting(queries, points, k, metric)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(distances, expected.astype(distances.dtype))


def vectors(count, dimensions, dtype, seed):
    rng = np.random.default_rng([seed, count, dimensions])
    drawn = rng.normal(size=(count, dimensions))
    return (drawn if np.dtype(dtype).kind == "f" else np.abs(drawn * 3)).astype(dtype)


SHAPES = [(9, 150, 2500, 3), (33, 70, 1100, 5)]
CASES = [("l2", np.float32), ("l2", np.float16), ("cosine", np.float32), ("l1", np.float64)]
if ALL:
    CASES = [(metric, dtype) for metric in METRICS for dtype in (np.float16, np.float32, np.float64, np.uint8)]
    SHAPES += [(1, 5, 7, 7), (16, 3, 3000, 40), (64, 130, 900, 130), (3, 200, 1, 1)]


@pytest.mark.parametrize("metric, dtype", CASES)
@pytest.mark.parametrize("dimensions, m, n, k", SHAPES if ALL else SHAPES[:1] + SHAPES[1:])
def test_same_bits_as_loops(metric, dtype, dimensions, m, n, k, context):
    queries, points = vectors(m, dimensions, dtype, 1), vectors(n, dimensions, dtype, 2)
    assert_same(neighbors.knn(queries, points, k, metric), queries, points, k, metric)


@pytest.mark.parametrize("dimensions, dtype", [(24, np.float16), (21, np.float32)])
@pytest.mark.parametrize("metric", ["l2", "cosine"] if not ALL else ["l2", "cosine", "l1", "chebyshev"])
def test_few_queries(dimensions, dtype, metric, context):
    """Points are read once, in vectors of 16 bytes where they begin at multiples of that."""
    queries, points = vectors(3, dimensions, np.float32, 1), vectors(2600, dimensions, dtype, 2)
    assert_same(neighbors.Index(points, metric).search(queries, 4), queries, points, 4, metric)


#: Of (dimensions, m, n, k): blocks with a rest, lists of warps, dimensions with and without a rest.
TENSOR_SHAPES = [(40, 70, 900, 3), (64, 5, 1300, 30)] if not ALL else [
    (40, 70, 900, 3), (64, 5, 1300, 30), (9, 150, 1100, 20), (128, 3, 700, 12), (33, 130, 900, 100),
]  # fmt: skip


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("dimensions, m, n, k", TENSOR_SHAPES if ALL else TENSOR_SHAPES[:2])
def test_candidates_of_tensor_cores_are_as_good(metric, dtype, dimensions, m, n, k, context):
    if not ALL and (metric == "cosine") != (k > 16):
        return
    queries, points = vectors(m, dimensions, np.float32, 3), vectors(n, dimensions, dtype, 4)
    if dtype == np.float32:
        # Of lengths that float16 does not have, each by itself.
        points *= np.float32(10) ** np.linspace(-9, 9, n, dtype=np.float32)[:, None]
        queries *= np.float32(10) ** np.linspace(-9, 9, m, dtype=np.float32)[:, None]
    index = neighbors.Index(points, metric, candidates="tensor")
    assert_same(index.search(queries, k), queries, points, k, metric)
    radius = 0.8 if metric == "cosine" else 6.0
    within = compared(queries, points, metric)
    within = 1 + within <= radius if metric == "cosine" else within <= radius**2
    np.testing.assert_array_equal(index.radius_count(queries, radius).get(), within.sum(axis=1))


#: Of (dimensions, m, n, k): one group of queries and several, tiles and
#: dimensions with a rest, more queries than are searched at once.
FILTER_SHAPES = [(40, 3, 3001, 4), (64, 70, 4500, 8)] if not ALL else [
    (40, 3, 3001, 4), (64, 70, 4500, 8), (128, 1, 6000, 10), (128, 20, 9000, 16), (8, 1030, 700, 1), (32, 300, 2100, 2),
]  # fmt: skip


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("dimensions, m, n, k", FILTER_SHAPES)
def test_limits_of_a_sample(metric, dimensions, m, n, k, context):
    """Many points of float16 are filtered by limits from a sample."""
    points = vectors(n, dimensions, np.float16, 5)
    # Near duplicates of each other, so that limits are near many distances.
    points[n // 3 : 2 * n // 3] = points[: 2 * n // 3 - n // 3] + np.float16(2e-3)
    points[11] = 0
    queries = points[np.arange(m) * 7 % n] + 0.1 * vectors(m, dimensions, np.float32, 6)
    queries[m // 2] = 0
    # Lengths that float16 does not have.
    queries[m // 3] *= np.float32(1e-9)
    index = neighbors.Index(points, metric, candidates="tensor")
    assert_same(index.search(queries, k), queries, points, k, metric)


def test_limits_that_let_too_many_points_through(context):
    # More equal distances than there is room for, and all points nearer to each other than float32 tells.
    points = np.ones((9000, 32), np.float16)
    points[17] = 3
    queries = np.float32([[1] * 32, [2.9] * 32])
    index = neighbors.Index(points, candidates="tensor")
    assert_same(index.search(queries, 2), queries, points, 2, "l2")
    with pytest.raises(ValueError, match=r"queries\[1\] has NaN or infinity"):
        index.search(np.float32([[1] * 32, [np.nan] * 32]), 2)


def coordinates(kind, m, n, dimensions):
    """Queries and points of float32, of a kind that is easy or hard to round to float16."""
    rng = np.random.default_rng([7, m, n, dimensions])
    queries, points = rng.normal(size=(m, dimensions)), rng.normal(size=(n, dimensions))
    if kind == "far":
        queries, points = queries + 3e3, points + 3e3
    elif kind in ("clusters", "duplicates"):
        # Of distances that are small beside those of clusters, or 0.
        centres = 100 * rng.normal(size=(3, dimensions))
        spread = 1e-3 if kind == "clusters" else 0
        queries, points = (centres[rng.integers(0, 3, len(x))] + spread * x for x in (queries, points))
    elif kind == "mixed":
        points *= 10.0 ** np.linspace(-9, 9, n)[rng.permutation(n)][:, None]
        queries *= 10.0 ** np.linspace(-9, 12, m)[:, None]
    else:
        scale = {"gaussian": 1, "denormal": 1e-40, "huge": 1e18, "distant": 1}[kind]
        queries, points = scale * queries * (1e4 if kind == "distant" else 1), scale * points
    points[n // 2] = queries[0]
    points[n // 3] = queries[m // 2] = 0
    return queries.astype(np.float32), points.astype(np.float32)


#: Of (dimensions, m, n, k): one group of queries and several, dimensions with and without padding, several parts.
ROUNDED_SHAPES = [(33, 9, 3100, 2), (64, 530, 600, 1)] if not ALL else [
    (33, 9, 3100, 2), (64, 530, 600, 1), (32, 70, 5200, 10), (63, 20, 5200, 10), (100, 3, 2100, 4), (128, 9, 5400, 10),
    (64, 3, 51300, 100), (5, 30, 1100, 2),
]  # fmt: skip
COORDINATES = ("gaussian", "far", "clusters", "duplicates", "denormal", "huge", "mixed", "distant")
ROUNDED_CASES = [
    (kind, metric, *shape)
    for shape, kind, metric in itertools.product(ROUNDED_SHAPES, COORDINATES, ["l2", "sqeuclidean", "cosine"])
    if ALL or (metric != "sqeuclidean" and (kind == "gaussian" or shape[1] <= 100))
]


@pytest.mark.parametrize("kind, metric, dimensions, m, n, k", ROUNDED_CASES)
def test_points_rounded_to_float16(kind, metric, dimensions, m, n, k, launches, on_virtual_device):
    """Points of float32 are filtered by a copy in float16; where that is too coarse, queries are searched again."""
    queries, points = coordinates(kind, m, n, dimensions)
    index = neighbors.Index(points, metric, candidates="tensor")
    parts = -(-m // 512) if on_virtual_device else 1
    found, names = launches(lambda: index.search(queries, k))
    assert_same(found, queries, points, k, metric)
    assert names.count("neighbors_filter") == 2 * parts and names.count("neighbors_round") == 1 + parts
    # Of one part it is known whether any query is left.
    if parts == 1 and kind == "gaussian" and metric != "cosine":
        assert "neighbors_scan" not in names
    if n > 3000 and (kind == "duplicates" or (kind == "clusters" and metric != "cosine")):
        assert "neighbors_scan" in names
    # The copy is made once.
    found, names = launches(lambda: index.search(queries[: m // 2], k))
    assert_same(found, queries[: m // 2], points, k, metric)
    assert names.count("neighbors_round") == 1


def test_numbers_that_are_not_finite_in_a_later_part(context):
    queries, points = coordinates("gaussian", 1100, 1200, 40)
    index = neighbors.Index(points, candidates="tensor")
    queries[1050, 3] = np.nan
    with pytest.raises(ValueError, match=r"queries\[1050\] has NaN or infinity"):
        index.search(queries, 2)
    queries[1050, 3] = 0
    assert_same(index.search(queries, 2), queries, points, 2, "l2")


def test_lists_of_rounded_points_that_are_full(launches, context):
    """The sample, one of four points by a hash, has none of those near the queries: lists have no room for them."""
    n = 6000
    h = np.arange(n // 4, dtype=np.uint32)
    h = (h ^ h >> 16) * np.uint32(0x7FEB352D)
    h = (h ^ h >> 15) * np.uint32(0x846CA68B)
    sample = np.arange(n // 4) * 4 + (h ^ h >> 16) % 4
    points = vectors(n, 32, np.float32, 5) * np.float32(0.1)
    points[sample] += 1
    queries = vectors(9, 32, np.float32, 6) * np.float32(0.1)
    index = neighbors.Index(points, candidates="tensor")
    found, names = launches(lambda: index.search(queries, 3))
    assert_same(found, queries, points, 3, "l2")
    assert "neighbors_filter" in names and "neighbors_scan" in names
    with pytest.raises(ValueError, match=r"queries\[1\] has NaN or infinity"):
        index.search(np.float32([[1] * 32, [np.nan] * 32]), 3)


@pytest.mark.parametrize("metric, dtype", [("l2", np.float32), ("l1", np.float64)])
def test_long_lists_of_few_dimensions(metric, dtype, context):
    """A warp keeps them, with ties in the order of indices."""
    points = np.random.default_rng(4).integers(0, 5, (1500, 3)).astype(dtype)
    for k in (33, 100) if not ALL else (17, 32, 33, 64, 100, 600, 1024):
        assert_same(neighbors.knn(points[:3], points, k, metric), points[:3], points, k, metric)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_merged_searches_have_the_answers_of_each(dtype, context):
    points = vectors(700, 20, dtype, 2)
    merged = neighbors.Index(points, merge=True)
    queries = vectors(40, 20, np.float32, 9)
    expected, order = by_sorting(queries, points, 6, "l2")
    expected = expected.astype(dtype)
    wrong, start = [], threading.Barrier(20)

    def ask(place):
        # Queries of NumPy need no context of this thread.
        on_device, host = place % 2 == 0, place % 3 == 0
        if on_device or not host:
            context.push()
        try:
            start.wait(60)
            for i in (place, place + 20):
                given, k = xp.asarray(queries[i : i + 1]) if on_device else queries[i : i + 1], 3 + place % 4
                found = merged.search(given, k, host=host)
                assert all(isinstance(array, np.ndarray if host else xp.GPUArray) for array in found)
                distances, indices = found if host else (array.get() for array in found)
                if not ((indices == order[i, :k]).all() and (distances == expected[i, :k]).all()):
                    wrong.append(i)
            # An error is that of the thread that made it.
            bad, message = (queries[:1, :5], "dimensions") if place % 4 < 2 else (queries[:1] * np.nan, "NaN")
            with pytest.raises(ValueError, match=message):
                merged.search(xp.asarray(bad) if on_device else bad, 3, host=host)
        except BaseException as error:
            wrong.append(error)
        finally:
            if on_device or not host:
                context.pop()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    for given in (queries, queries[::-1][::-1], queries.tolist(), np.asfortranarray(queries)):
        distances, indices = merged.search(given, 6, host=True)
        assert (distances.dtype, indices.dtype) == (dtype, np.int64)
        np.testing.assert_array_equal(distances, expected)
        np.testing.assert_array_equal(indices, order)
    assert merged.search(queries[:0], 6, host=True)[1].shape == (0, 6)
    with pytest.raises(TypeError, match="queries is a masked array"):
        merged.search(np.ma.masked_equal(queries, 0), 1)
    with pytest.raises(ValueError, match=r"queries has shape \(20,\); expected two axes"):
        merged.search(queries[0], 1, host=True)
    with pytest.raises(ValueError, match="k is 701; expected 1 to 700"):
        merged.search(queries, 701)


def test_a_thread_that_is_interrupted_leaves_others_their_searches(context):
    """A signal handler raises in the main thread, time and again, while others search."""
    points, wrong, rounds = vectors(700, 20, np.float32, 2), [], 20 if not ALL else 400
    merged, queries = neighbors.Index(points, merge=True), vectors(6, 20, np.float32, 9)
    order, armed, interrupted = by_sorting(queries, points, 4, "l2")[1], [], 0

    def ask(place):
        try:
            for _ in range(rounds):
                if not (merged.search(queries[place : place + 1], 4, host=True)[1] == order[place]).all():
                    wrong.append(place)
        except BaseException as error:
            wrong.append(error)

    def interrupt(*_):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    threads = [threading.Thread(target=ask, args=(place,), daemon=True) for place in range(5)]
    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 2e-3, 2e-3)
    try:
        for thread in threads:
            thread.start()
        while interrupted < 3 or any(thread.is_alive() for thread in threads):
            try:
                armed.append(True)
                merged.search(queries[5:], 4, host=True)
                armed.clear()
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert wrong == []
    assert (merged.search(queries, 4, host=True)[1] == order).all()


def test_a_search_that_float32_cannot_decide(context):
    # The coordinates of all points differ from each other by less than products of float32 tell.
    rng = np.random.default_rng(3)
    points = (1000 + rng.normal(size=(1500, 33)) * 1e-3).astype(np.float32)
    queries = points[::17] + np.float32(2e-3)
    assert_same(neighbors.knn(queries, points, 4), queries, points, 4, "l2")
    # Most distances are equal: the lower index is first. Copies of a point have distance 0.
    points = rng.integers(0, 2, (2100, 9)).astype(np.float32)
    assert_same(neighbors.knn(points[:140], points, 3), points[:140], points, 3, "l2")
    # Squares are infinite in float32.
    points[7] = 3e30
    assert_same(neighbors.knn(points[:140], points, 3), points[:140], points, 3, "l2")


def test_cosines_of_short_vectors(context):
    """Their products lose numbers in float32, or all, and reciprocals of lengths are infinite."""
    points = (vectors(300, 20, np.float32, 5) * np.float32(10) ** np.linspace(-44, 3, 300)[:, None]).astype(np.float32)
    queries = (vectors(30, 20, np.float32, 6) * np.float32(10) ** np.linspace(-44, 3, 30)[:, None]).astype(np.float32)
    queries[3] = 0
    for first in (queries, queries[:5]):
        assert_same(neighbors.knn(first, points, 4, "cosine"), first, points, 4, "cosine")
    within = (1 + compared(queries, points, "cosine") <= 0.9).sum(axis=1)
    np.testing.assert_array_equal(neighbors.radius_count(queries, points, 0.9, "cosine").get(), within)


@pytest.mark.parametrize("metric", METRICS if ALL else ("sqeuclidean", "cosine"))
@pytest.mark.parametrize("dimensions", [4, 20])
def test_counts_within_a_radius(metric, dimensions, context):
    # Distances of small integers, many of them equal to the radius.
    queries = np.random.default_rng(5).integers(-2, 3, (140, dimensions)).astype(np.float32)
    points = np.random.default_rng(6).integers(-2, 3, (2100, dimensions)).astype(np.float32)
    # About the median distance, so that both sides of the radius are seen.
    radius = {"cosine": 0.75, "chebyshev": 3.0, "l2": math.isqrt(4 * dimensions)}.get(metric, 12.0)
    within = compared(queries, points, metric)
    within = 1 + within <= radius if metric == "cosine" else within <= (radius**2 if metric == "l2" else radius)
    found = neighbors.Index(points, metric).radius_count(queries, radius)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.get(), within.sum(axis=1))
    assert 0 < within.mean() < 1


def test_index_keeps_its_dtype_and_answers_from_threads(context):
    points = vectors(1100, 33, np.float16, 2)
    index = neighbors.Index(points)
    assert (len(index), index.shape, index.dtype) == (1100, (1100, 33), np.float16)
    assert repr(index) == "<Index of 1100 points of 33 dimensions, float16, metric='l2'>"
    queries, wrong = vectors(70, 33, np.float32, 9), []
    expected = by_sorting(queries, points, 5, "l2")[1]

    def ask(place):
        context.push()
        try:
            if not (index.search(queries[place : place + 1], 5)[1].get() == expected[place]).all():
                wrong.append(place)
        finally:
            context.pop()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert index.search(queries.astype(np.float64), 1)[0].dtype == np.float32
    assert neighbors.knn(queries, points.astype(np.float64), 1)[0].dtype == np.float64
    distances, indices = index.search(queries[:0], 3)
    assert distances.shape == indices.shape == (0, 3) and indices.dtype == np.int64
    assert index.radius_count(queries[:0], 1.0).shape == (0,)


def test_results_do_not_depend_on_the_schedule(context, on_virtual_device):
    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    points = np.random.default_rng(8).integers(0, 3, (400, 17)).astype(np.float32)
    first = [array.get() for array in neighbors.knn(points[:20], points, 5)]
    try:
        for seed in range(10):
            checking.set_schedule(f"chaos:{seed}")
            for found, expected in zip(neighbors.knn(points[:20], points, 5), first, strict=True):
                np.testing.assert_array_equal(found.get(), expected)
    finally:
        checking.set_schedule("normal")


TOPK = [np.array([[3, 1, 3, -2], [0, 0, 0, 0]]), np.random.default_rng(1).normal(size=(2, 3, 300)).astype(np.float32)]


@pytest.mark.parametrize("values", TOPK, ids=lambda values: str(values.dtype))
@pytest.mark.parametrize("largest", [True, False])
def test_topk_is_a_stable_sort(values, largest, context):
    for k in (0, 2) if values.shape[-1] < 65 else (4, 65):
        found, indices = neighbors.topk(values, k, largest)
        order = np.argsort(-values if largest else values, axis=-1, kind="stable")[..., :k]
        np.testing.assert_array_equal(indices.get(), order)
        np.testing.assert_array_equal(found.get(), np.take_along_axis(values, order, -1))


def test_topk_of_nan(context):
    values = np.array([1, np.nan, 3, np.nan, -np.inf], np.float16)
    assert neighbors.topk(values, 3)[1].get().tolist() == [1, 3, 2]
    assert neighbors.topk(values, 4, largest=False)[1].get().tolist() == [4, 0, 2, 1]


ONE = np.ones((1, 2), np.float32)
ERRORS = [
    (lambda: neighbors.knn(ONE, ONE, 2), "k is 2; expected 1 to 1, the number of points"),
    (lambda: neighbors.knn(ONE, ONE, 0), "k is 0; expected 1 to 1"),
    (lambda: neighbors.knn(ONE, ONE, -1), "k is -1; expected an integer of at least 0"),
    (lambda: neighbors.knn(ONE, xp.zeros((1100, 2)), 1025), "k is 1025; expected 1 to 1024$"),
    (lambda: neighbors.knn(ONE, ONE[:0], 1), r"points has shape \(0, 2\); expected at least one vector"),
    (lambda: neighbors.knn(ONE[0], ONE, 1), r"queries has shape \(2,\); expected two axes"),
    (lambda: neighbors.knn(ONE[:, :1], ONE, 1), r"queries has shape \(1, 1\); expected 2 dimensions, as points have"),
    (lambda: neighbors.knn(ONE, ONE[:, :0], 1), r"points has shape \(1, 0\); expected vectors of at least one dim"),
    (lambda: neighbors.knn(ONE * np.nan, ONE, 1), r"queries\[0\] has NaN or infinity; expected finite numbers"),
    (lambda: neighbors.Index([[1.0, 2.0], [3.0, np.inf]]), r"vectors\[1\] has NaN or infinity"),
    (
        lambda: neighbors.Index(ONE).search([[1e300] * ONE.shape[1]], 1),
        r"queries\[0\] has NaN or infinity, or a number beyond float32",
    ),
    (
        lambda: neighbors.Index([[2**53], [2**53 + 1]]),
        r"vectors has 9007199254740993; expected integers of at most 2\*\*53",
    ),
    (lambda: neighbors.Index([[1e200]]), "vectors has a vector of length .*; expected at most 1e153"),
    (lambda: neighbors.Index(ONE, "l3"), "metric is 'l3'; expected 'l2'"),
    (lambda: neighbors.Index(ONE, candidates="half"), "candidates is 'half'; expected 'auto', 'float32' or 'tensor'"),
    (lambda: neighbors.Index(ONE, "l1", "tensor"), "candidates is 'tensor', but the metric has no products"),
    (lambda: neighbors.Index(ONE.astype(float), candidates="tensor"), "but points are of float64; expected float16 or"),
    (lambda: neighbors.radius_count(ONE, ONE, -1.0), "radius is -1; expected a number of at least 0"),
    (lambda: neighbors.topk(ONE, 3), r"k is 3; expected at most 2, for values of shape \(1, 2\)"),
    (lambda: neighbors.topk(1.0, 1), r"values has shape \(\); expected at least one axis"),
]


@pytest.mark.parametrize("call, message", ERRORS)
def test_wrong_input_is_named(call, message, context):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types_are_named(context):
    with pytest.raises(TypeError, match="points is of dtype complex64; expected real numbers"):
        neighbors.knn(ONE, ONE.astype(np.complex64), 1)
    masked = np.ma.masked_equal(ONE, 2)
    for name, call in [
        ("points", lambda: neighbors.knn(ONE, masked, 1)), ("queries", lambda: neighbors.radius_count(masked, ONE, 1)),
        ("values", lambda: neighbors.topk(masked, 1)), ("vectors", lambda: neighbors.Index(masked)),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=f"{name} is a masked array; expected one without a mask"):
            call()
    with pytest.raises(TypeError, match="k is 1.5; expected an integer"):
        neighbors.knn(ONE, ONE, 1.5)
