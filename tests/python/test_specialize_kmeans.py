"""k-means, against recorded results of scikit-learn 1.9.1 and loops in NumPy."""

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import _native
from rtcg.specialize import kmeans

pytestmark = pytest.mark.usefixtures("context")


def rows_and_start(n, d, k, seed):
    """Rows around k places, and k of them."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(k, d)) * 4 + 10
    x = places[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return x, x[rng.choice(n, k, replace=False)], rng.random(n)


#: Inertia and iterations of `KMeans(k, init=start, n_init=1, algorithm="lloyd")` of scikit-learn 1.9.1 in float64.
RECORDED = {
    (500, 2, 5, 3, False): (6067.9109597321, 6),
    (1500, 7, 12, 4, True): (23088.995941622656, 10),
    (900, 33, 70, 5, False): (79602.81965325018, 5),
}


@pytest.mark.parametrize("case", RECORDED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_start_leads_to_the_inertia_of_scikit_learn(case, dtype):
    n, d, k, seed, is_weighted = case
    inertia, n_iter = RECORDED[case]
    x, start, weights = rows_and_start(n, d, k, seed)
    found = kmeans(x.astype(dtype), k, init=start, weights=weights if is_weighted else None)
    assert found.centers.dtype == dtype and found.labels.dtype == np.int32
    assert found.inertia == pytest.approx(inertia, rel=1e-12 if dtype == np.float64 else 1e-5)
    if dtype == np.float64:
        assert found.n_iter == n_iter
    # Results agree with each other.
    centers, labels = found.centers.get().astype(np.float64), found.labels.get()
    distances = ((x[:, None] - centers) ** 2).sum(2)
    np.testing.assert_allclose(distances[np.arange(n), labels], distances.min(1), rtol=1e-4)


def test_the_same_bits_in_every_call():
    x, start, _ = rows_and_start(700, 5, 6, 1)
    first, second = (kmeans(x.astype(np.float32), 6, init=start) for _ in range(2))
    assert first.centers.get().tobytes() == second.centers.get().tobytes() and first.inertia == second.inertia
    seeded = [kmeans(x, 6, random_state=3) for _ in range(2)]
    assert seeded[0].centers.get().tobytes() == seeded[1].centers.get().tobytes()


def test_empty_clusters_are_seeded_again_as_scikit_learn_does():
    found = kmeans([[0.0], [1.0], [10.0], [2.0]], 3, init=[[0.5], [100.0], [1.5]])
    assert found.centers.get().ravel().tolist() == [0.5, 10, 2]
    assert found.labels.get().tolist() == [0, 0, 1, 2] and found.inertia == 0.5
    same = kmeans(np.full((4, 2), 3.0), 3, random_state=0)
    assert same.inertia == 0 and same.centers.get().tolist() == [[3.0, 3.0]] * 3


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_starts_find_clusters_that_are_far_apart(init):
    rng = np.random.default_rng(7)
    x = np.repeat(np.arange(4), 60)[:, None] * 100 + rng.normal(size=(240, 3))
    weights = np.ones(240)
    found = kmeans(x, 4, init, n_init=8 if init == "random" else 1, random_state=1, weights=weights)
    assert sorted(np.rint(found.centers.get()[:, 0] / 100).tolist()) == [0, 1, 2, 3]
    assert found.inertia < 4 * 240


def test_float16_is_close_to_float32():
    x, start, _ = rows_and_start(600, 13, 5, 2)
    x = (x - 10).astype(np.float16)
    half, single = (kmeans(x, 5, init=start - 10, dtype=dtype) for dtype in (None, np.float32))
    assert half.centers.dtype == np.float32
    assert half.inertia == pytest.approx(single.inertia, rel=2e-3)


def by_kernel(kernel, call):
    """What a call returns if rows are assigned by a kernel."""
    _, met = _native.record_array_decisions(call)
    decision = next(each for each in met if each.name == "kmeans.assign")
    return decision.force({"kernel": kernel}, call)


#: Rows below a block's and just behind it, columns that are no multiple of what a lane reads, as many centres as tiles.
SHAPES = [(1, 4, 1), (257, 3, 5), (130, 17, 65), (300, 64, 129), (200, 100, 70), (140, 128, 128)]


@pytest.mark.parametrize("shape", [*SHAPES, (150, 256, 40)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_tensor_cores_lead_to_the_centers_of_tiles(shape, dtype):
    n, d, k = shape
    if d == 256 and dtype == np.float32:
        pytest.skip("more numbers than lanes have room for")
    rng = np.random.default_rng(11)
    x = rng.standard_normal((n + 1, d)).astype(dtype)
    there, start = xp.asarray(x)[1:], x[1 : k + 1].astype(np.float32)

    def found(kernel):
        return by_kernel(kernel, lambda: kmeans(there, k, start, max_iter=3, tol=0))

    tensor, tiles = found("tensor"), found("tiles")
    if dtype == np.float32:
        # The bits of labels are those of float32 arithmetic, so everything is.
        assert tensor.labels.get().tobytes() == tiles.labels.get().tobytes()
        assert tensor.centers.get().tobytes() == tiles.centers.get().tobytes()
    assert tensor.inertia == pytest.approx(tiles.inertia, rel=1e-3) and tensor.n_iter == tiles.n_iter


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1.0, 1e15])
def test_rows_that_tensor_cores_cannot_decide_are_decided_in_float32(scale):
    rng = np.random.default_rng(12)
    # Whole numbers, each centre three times: most rows have equally near centres, of which the first is taken.
    x = (rng.integers(0, 3, (400, 6)) * scale).astype(np.float32)
    start, there = np.repeat(x[:20], 3, 0), xp.asarray(x)
    tensor, tiles = (by_kernel(name, lambda: kmeans(there, 60, start, max_iter=1)) for name in ("tensor", "tiles"))
    assert tensor.labels.get().tolist() == tiles.labels.get().tolist()
    # Centres that differ in the last bits only.
    close = (x[:1] * (1 + rng.integers(0, 9, (40, 1)) * 2.0**-23)).astype(np.float32)
    tensor, tiles = (by_kernel(name, lambda: kmeans(there, 40, close, max_iter=1)) for name in ("tensor", "tiles"))
    assert tensor.labels.get().tolist() == tiles.labels.get().tolist()


def test_weights_and_empty_clusters_by_tensor_cores():
    rng = np.random.default_rng(13)
    x, weights = rng.standard_normal((500, 9)).astype(np.float32), rng.random(500)
    start = np.concatenate([x[:6], np.full((2, 9), 100, np.float32)])
    there = xp.asarray(x)
    tensor, tiles = (
        by_kernel(name, lambda: kmeans(there, 8, start, weights=weights, max_iter=5)) for name in ("tensor", "tiles")
    )
    assert tensor.centers.get().tobytes() == tiles.centers.get().tobytes() and tensor.inertia == tiles.inertia


def test_integers_and_views():
    x = xp.asarray(np.arange(40).reshape(20, 2))[::2]
    found = kmeans(x, 2, init=[[0, 1], [38, 39]])
    assert found.centers.dtype == np.float64 and sorted(found.labels.get().tolist()) == [0] * 5 + [1] * 5


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        (([1.0, 2.0], 1), {}, ValueError, r"x has shape \(2,\); expected two axes"),
        (([[1.0], [2.0]], 3), {}, ValueError, r"k is 3 for x of shape \(2, 1\)"),
        (([[1.0], [2.0]], 0), {}, ValueError, "k is 0; expected 1"),
        (([[np.nan], [2.0]], 1), {}, ValueError, r"x\[:, 0\] has NaN or infinity"),
        (([[1.0], [2.0]], 1), {"init": "best"}, ValueError, "init is 'best'"),
        (([[1.0], [2.0]], 1), {"init": [[1.0, 2.0]]}, ValueError, r"init has shape \(1, 2\); expected \(1, 1\)"),
        (([[1.0], [2.0]], 1), {"weights": [1.0]}, ValueError, r"weights has shape \(1,\); expected \(2,\)"),
        (([[1.0], [2.0]], 1), {"weights": [1.0, -1.0]}, ValueError, "weights have a minimum of -1"),
        (([[1.0], [2.0]], 1), {"dtype": np.int32}, TypeError, "dtype is int32; expected float16"),
        (([[1.0], [2.0]], 1), {"tol": -1}, ValueError, "tol is -1; expected at least 0"),
        (([[1j], [2.0]], 1), {}, TypeError, "x is of dtype complex128"),
        (([[1.0], [2.0]], 1), {"random_state": -1}, ValueError, "random_state is -1"),
    ],
)
def test_wrong_arguments_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        kmeans(*arguments, **options)
