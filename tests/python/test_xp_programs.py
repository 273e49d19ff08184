"""Programs that are written once, for a namespace `xp`, and give the same with NumPy and with `rtcg.numpy`."""

import numpy as np
import pytest

import rtcg.numpy as rnp

pytestmark = pytest.mark.usefixtures("context")

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def n_body(xp, rng):
    x, v, m = xp.asarray(rng.normal(size=(40, 3))), xp.zeros((40, 3)), xp.asarray(rng.random(40))
    for _ in range(5):
        d = x[:, xp.newaxis, :] - x
        r2 = (d**2).sum(axis=-1) + 1e-2
        a = -(m[:, xp.newaxis] * d / r2[..., xp.newaxis] ** 1.5).sum(axis=1)
        v += 0.01 * a
        x = x + 0.01 * v
    return x, 0.5 * (m * (v**2).sum(axis=1)).sum()


@program
def k_means(xp, rng):
    points = xp.asarray(rng.random((200, 2)))
    centres = points[:4].copy()
    for _ in range(8):
        distances = xp.linalg.norm(points[:, None] - centres[None], axis=-1)
        nearest = xp.argmin(distances, axis=1)
        centres = xp.stack([points[nearest == k].mean(axis=0) for k in range(4)])
    return centres, xp.bincount(nearest, minlength=4)


@program
def principal_components(xp, rng):
    data = xp.asarray(rng.normal(size=(100, 5)) * np.arange(1, 6))
    centred = data - data.mean(axis=0, keepdims=True)
    values, vectors = xp.linalg.eigh(xp.cov(centred, rowvar=False))
    order = xp.argsort(values)[::-1]
    return values[order], xp.abs(vectors[:, order])


@program
def jacobi(xp, rng):
    grid = xp.zeros((34, 34), dtype=xp.float32)
    grid[0] = 1
    for _ in range(50):
        grid[1:-1, 1:-1] = 0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
    return grid


@program
def game_of_life(xp, rng):
    board = xp.asarray(rng.random((32, 32)) < 0.3)
    for _ in range(10):
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        count = sum(xp.roll(board, shift, axis=(0, 1)).astype(xp.int8) for shift in shifts)
        board = (count == 3) | (board & (count == 2))
    return board


@program
def filtered_signal(xp, rng):
    t = xp.linspace(0, 1, 512, endpoint=False)
    signal = xp.sin(2 * xp.pi * 5 * t) + 0.5 * xp.sin(2 * xp.pi * 90 * t)
    spectrum = xp.fft.rfft(signal)
    spectrum[xp.fft.rfftfreq(512, 1 / 512) > 50] = 0
    return xp.fft.irfft(spectrum, 512)


@program
def softmax_regression(xp, rng):
    x, labels = xp.asarray(rng.normal(size=(120, 6))), xp.asarray(rng.integers(0, 3, 120))
    onehot, weights = xp.eye(3)[labels], xp.zeros((6, 3))
    for _ in range(30):
        scores = x @ weights
        p = xp.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        weights -= 0.1 * x.T @ (p - onehot) / len(x)
    return weights, (p.argmax(axis=1) == labels).mean()


@program
def mandelbrot(xp, rng):
    y, x = xp.ogrid[-1.2:1.2:40j, -2:0.6:60j]
    c = x + 1j * y
    z, count = xp.zeros_like(c), xp.zeros(c.shape, dtype=xp.int32)
    for _ in range(30):
        inside = xp.abs(z) <= 2
        z = xp.where(inside, z * z + c, z)
        count += inside
    return count


@program
def equalised_histogram(xp, rng):
    image = xp.asarray(rng.integers(40, 120, (64, 64)).astype(np.uint8))
    histogram = xp.bincount(image.ravel(), minlength=256)
    cumulative = xp.cumsum(histogram)
    table = xp.floor(255 * (cumulative - cumulative.min()) / (cumulative.max() - cumulative.min())).astype(xp.uint8)
    return table[image]


@program
def sobel_edges(xp, rng):
    image = xp.pad(xp.asarray(rng.random((40, 50))), 1, mode="edge")
    gx = image[1:-1, 2:] - image[1:-1, :-2]
    gy = image[2:, 1:-1] - image[:-2, 1:-1]
    return xp.hypot(gx, gy), xp.arctan2(gy, gx)


@program
def cholesky_sampling(xp, rng):
    a = xp.asarray(rng.normal(size=(6, 6)))
    covariance = a @ a.T + 6 * xp.eye(6)
    factor = xp.linalg.cholesky(covariance)
    return factor, xp.linalg.solve(covariance, xp.ones(6)), xp.linalg.slogdet(covariance)[1]


@program
def power_iteration(xp, rng):
    a = xp.asarray(rng.random((30, 30)))
    a, x = a + a.T, xp.ones(30)
    for _ in range(60):
        x = a @ x
        x /= xp.linalg.norm(x)
    return x @ a @ x


@program
def lstm_cell(xp, rng):
    w, b = xp.asarray(rng.normal(size=(4 * 8, 8 + 5))), xp.zeros(32)
    h, c = xp.zeros(8), xp.zeros(8)
    for step in xp.asarray(rng.normal(size=(7, 5))):
        gates = w @ xp.concatenate([h, step]) + b
        i, f, o = (1 / (1 + xp.exp(-part)) for part in xp.split(gates, 4)[:3])
        c = f * c + i * xp.tanh(gates[24:])
        h = o * xp.tanh(c)
    return h


@program
def black_scholes(xp, rng):
    s, k, t = (xp.asarray(rng.uniform(low, high, 100)) for low, high in ((10, 50), (10, 50), (0.1, 2)))
    d = (xp.log(s / k) + (0.02 + 0.5 * 0.3**2) * t) / (0.3 * xp.sqrt(t))
    return d, xp.maximum(s - k * xp.exp(-0.02 * t), 0), xp.quantile(d, [0.05, 0.5, 0.95])


@program
def running_statistics(xp, rng):
    x = xp.asarray(rng.normal(size=300)).cumsum()
    highest = xp.maximum.accumulate(x)
    return (highest - x).max(), xp.diff(x).std(), xp.convolve(x, xp.ones(10) / 10, mode="valid")


@program
def least_squares(xp, rng):
    t = xp.linspace(-1, 1, 50)
    y = 1 + 2 * t - t**3 + xp.asarray(0.01 * rng.normal(size=50))
    basis = xp.vander(t, 4, increasing=True)
    return xp.linalg.lstsq(basis, y, rcond=None)[0], xp.linalg.qr(basis)[1] ** 2


@program
def sieve(xp, rng):
    is_prime = xp.ones(1000, dtype=bool)
    is_prime[:2] = False
    for k in range(2, 32):
        if is_prime[k]:
            is_prime[k * k :: k] = False
    return xp.flatnonzero(is_prime)


@program
def group_sums(xp, rng):
    keys, values = xp.asarray(rng.integers(0, 9, 400)), xp.asarray(rng.random(400))
    unique, inverse, counts = xp.unique(keys, return_inverse=True, return_counts=True)
    order = xp.argsort(keys, kind="stable")
    return unique, counts, xp.bincount(inverse, weights=values), keys[order]


@program
def triangular_products(xp, rng):
    a = xp.asarray(rng.random((9, 9)))
    low, up = xp.tril(a, -1) + xp.eye(9), xp.triu(a)
    rows, columns = xp.triu_indices(9, 1)
    return low @ up, a[rows, columns].sum(), xp.trace(a), xp.kron(xp.eye(2), a[:2, :2])


@program
def attention(xp, rng):
    q, k, v = (xp.asarray(rng.normal(size=(2, 3, 10, 4))) for _ in range(3))
    scores = xp.einsum("bhqd,bhkd->bhqk", q, k) / xp.sqrt(4)
    scores = xp.where(xp.tri(10, dtype=bool), scores, -xp.inf)
    weights = xp.exp(scores - scores.max(axis=-1, keepdims=True))
    return xp.matmul(weights / weights.sum(axis=-1, keepdims=True), v)


@program
def random_walks(xp, rng):
    steps = xp.asarray(rng.choice([-1, 1], size=(50, 100)))
    paths = xp.add.accumulate(steps, axis=1)
    return xp.abs(paths).max(axis=1), xp.count_nonzero(paths == 0, axis=1), (paths > 0).any(axis=1)


@program
def bits_and_shifts(xp, rng):
    x = xp.asarray(rng.integers(0, 2**31, 64))
    y = x ^ (x >> 7)
    return xp.bitwise_xor.reduce(y), xp.bitwise_and.outer(y[:4], y[4:8]), (y & 0xFF).astype(xp.uint8)


@program
def sorted_table(xp, rng):
    table = xp.asarray(rng.integers(0, 5, (20, 3)))
    order = xp.lexsort((table[:, 1], table[:, 0]))
    return table[order], xp.median(table, axis=0), xp.histogram(table, bins=5, range=(0, 5))[0]


@program
def finite_numbers(xp, rng):
    x = xp.asarray(np.array([1.0, np.nan, -np.inf, 1e300, 0.0]))
    eps = xp.finfo(x.dtype).eps
    return xp.nan_to_num(x, nan=0.0, posinf=1.0, neginf=-1.0), xp.isfinite(x), xp.nanmax(x), eps * xp.ones(2)


@program
def meshes(xp, rng):
    x, y = xp.meshgrid(xp.linspace(0, 1, 7), xp.linspace(0, 2, 5), indexing="ij")
    gx, gy = xp.gradient(x**2 + xp.sin(y))
    return gx, gy, xp.trapezoid(y, axis=1), xp.interp(0.3, xp.linspace(0, 1, 7), x[:, 0] ** 2)


@program
def circulant(xp, rng):
    c = xp.asarray(rng.random(8))
    i, j = xp.indices((8, 8))
    matrix = c[(i - j) % 8]
    return matrix, xp.fft.fft(c).real, xp.linalg.matrix_power(matrix, 3)


@program
def flat_views(xp, rng):
    a = xp.asarray(rng.random((4, 5)))
    a.flat[::6] = 0
    b = a.T.copy()
    b.flat = xp.arange(20.0)
    return a, b, xp.ravel(b)[3:6], xp.c_[a[:, 0], a[:, 1]], xp.r_[a[0], 1.0, 2.0]


@program
def windows(xp, rng):
    x = xp.asarray(rng.normal(size=256))
    frames = xp.stack([x[k : k + 64] for k in range(0, 192, 32)]) * xp.hanning(64)
    return xp.log1p(xp.abs(xp.fft.rfft(frames, axis=1)) ** 2)


@program
def complex_roots(xp, rng):
    z = xp.exp(2j * xp.pi * xp.arange(8) / 8)
    return xp.angle(z[1:4]), z.conj() * z, xp.prod(z), (z**8).real


@program
def sorted_search(xp, rng):
    edges = xp.sort(xp.asarray(rng.random(20)))
    x = xp.asarray(rng.random(100))
    places = xp.searchsorted(edges, x)
    return places, xp.digitize(x, edges), xp.take(edges, xp.clip(places, 0, 19)), xp.partition(x, 10)[10]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_what_it_gives_with_numpy(program):
    expected = program(np, np.random.default_rng(7))
    found = program(rnp, np.random.default_rng(7))
    expected, found = (each if isinstance(each, tuple) else (each,) for each in (expected, found))
    assert len(expected) == len(found)
    for theirs, ours in zip(expected, found, strict=True):
        assert isinstance(ours, rnp.ndarray)
        assert ours.shape == np.shape(theirs) and ours.dtype == np.asarray(theirs).dtype
        rtol = 1e-4 if ours.dtype.itemsize == 4 else 1e-8
        np.testing.assert_allclose(ours.get(), theirs, rtol=rtol, atol=1e-9)


def test_there_are_thirty_programs():
    assert len(PROGRAMS) >= 30
