"""pycuda.curandom: published sequences, cuRAND's own headers run beside ours, and statistics."""

import math
import pickle

import numpy as np
import pytest

import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
from pycuda.compiler import CompileError, SourceModule
from rtcg import random as rrandom


@pytest.fixture(autouse=True)
def _context(context):
    """Every test here runs in the session's context."""


def ks(sample, cdf):
    """The Kolmogorov-Smirnov distance times sqrt(n): above 1.95 once in a thousand times."""
    x = np.sort(sample)
    c = cdf(x)
    n = len(x)
    return max(np.max(np.arange(1, n + 1) / n - c), np.max(c - np.arange(n) / n)) * math.sqrt(n)


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


# -- sequences --------------------------------------------------------------------------------


def test_philox_gives_the_published_words():
    state = rrandom.Philox(0)
    out = gpuarray.empty(8, np.uint32)
    state._state.fill("bits", out)
    assert [hex(w) for w in out.get()[:4]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def test_threefry_gives_the_published_words():
    out = gpuarray.empty(4, np.uint32)
    rrandom.Threefry(0)._state.fill("bits", out)
    assert [hex(w) for w in out.get()] == ["0x9c6ca96a", "0xe17eae66", "0xfc10ecd4", "0x5256a7d8"]


def test_mrg32k3a_gives_lecuyers_numbers():
    generator = curandom.MRG32k3aRandomNumberGenerator(lambda n: gpuarray.zeros(n, np.int32))
    out = gpuarray.empty(65536 * 2, np.float64)
    generator.fill_uniform(out)
    np.testing.assert_allclose(out.get()[[0, 65536]], [0.12701112204657714, 0.3185275653967945], rtol=1e-7)


CURAND = """
#include <curand_kernel.h>
extern "C" __global__ void numbers(unsigned *out, long long seed, int steps)
{
    curandState%(kind)s s;
    curand_init((unsigned long long)seed, threadIdx.x * 5000, 7, &s);
    for (int k = 0; k < steps; ++k) out[k * blockDim.x + threadIdx.x] = curand(&s);
}
"""


@pytest.mark.parametrize("kind, name", [("XORWOW", "XORWOW"), ("MRG32k3a", "MRG32k3a")])
@pytest.mark.parametrize("seed", [12345, -77])
def test_the_same_numbers_as_curand(kind, name, seed):
    """cuRAND's header, where it is installed, on the same device: states 0, 5000, 10000 and 15000."""
    try:
        module = SourceModule(CURAND % {"kind": kind}, no_extern_c=True)
    except CompileError as error:
        if "curand_kernel.h" in str(error):
            pytest.skip("cuRAND's header is not installed")
        raise
    expected = gpuarray.empty((6, 4), np.uint32)
    module.get_function("numbers")(expected, np.int64(seed), np.int32(6), block=(4, 1, 1), grid=(1, 1))
    cls = getattr(curandom, f"{name}RandomNumberGenerator")
    ours = cls(lambda n: gpuarray.to_gpu(np.full(n, seed, np.int32)), offset=7)
    out = ours.gen_uniform(6 * 65536, np.uint32).get().reshape(6, 65536)
    np.testing.assert_array_equal(out[:, [0, 5000, 10000, 15000]], expected.get())


@pytest.mark.parametrize("cls", ["XORWOW", "MRG32k3a", "Sobol32", "ScrambledSobol32", "Sobol64", "ScrambledSobol64"])
def test_uniform_bits_of_every_integer(cls):
    """Of the numbers of 64 bits the narrower integers have the upper half, which is as uniform as the whole."""
    make = getattr(curandom, f"{cls}RandomNumberGenerator")
    wide = [np.int64, np.uint64] if make.generator_bits == 64 else []
    n = 1 << 16
    drawn = {dtype: make(*[curandom.seed_getter_unique] * ("Sobol" not in cls)).gen_uniform(n, dtype).get()
             for dtype in [np.int32, np.uint32, *wide]}  # fmt: skip
    for dtype, values in drawn.items():
        assert values.dtype == dtype
        unit = values.view(f"u{values.itemsize}").astype(np.float64) / 2.0 ** (8 * values.itemsize)
        if "Sobol" not in cls or "Scrambled" in cls:
            assert abs(unit.mean() - 0.5) < 0.05 and abs(unit.std() - 12**-0.5) < 0.05
        assert len(np.unique(values)) > 2
    if wide and "Sobol" in cls:
        assert np.array_equal(drawn[np.uint32], (drawn[np.uint64] >> np.uint64(32)).astype(np.uint32))
    for dtype in [np.int16, np.complex64] + ([] if wide else [np.uint64]):
        with pytest.raises(NotImplementedError):
            make().fill_uniform(gpuarray.empty(4, dtype))


@pytest.mark.parametrize("cls", ["XORWOW", "MRG32k3a", "Sobol32", "Sobol64"])
def test_skipping_is_drawing(cls):
    cls = getattr(curandom, f"{cls}RandomNumberGenerator")
    make = (lambda: cls(lambda n: gpuarray.to_gpu(np.arange(n, dtype=np.int32)))) if cls.has_box_muller else cls
    a, b, c = make(), make(), make()
    count = a.block_count * a.generators_per_block
    dtype = np.uint64 if a.generator_bits == 64 else np.uint32
    drawn = a.gen_uniform(count * 6, dtype).get().reshape(6, count)
    b.call_skip_ahead(5)
    np.testing.assert_array_equal(b.gen_uniform(count, dtype).get(), drawn[5])
    each = np.arange(count) % 6
    c.call_skip_ahead_array(gpuarray.to_gpu(each.astype(np.int64)))
    np.testing.assert_array_equal(c.gen_uniform(count, dtype).get(), drawn[each, np.arange(count)])


def test_sobol_fills_space_evenly():
    generator = curandom.Sobol32RandomNumberGenerator()
    count = generator.block_count * generator.generators_per_block
    points = generator.gen_uniform(16 * count, np.float64).get().reshape(16, count)
    # Every interval of length 1/16 has one of the first 16 points, in each dimension.
    assert (np.sort(np.ceil(points * 16).astype(int), axis=0) == np.arange(1, 17)[:, None]).all()
    scrambled = curandom.ScrambledSobol64RandomNumberGenerator().gen_uniform(16 * count, np.float64).get()
    assert (np.sort(np.ceil(scrambled.reshape(16, count) * 16).astype(int), axis=0) == np.arange(1, 17)[:, None]).all()


def test_direction_vectors():
    vectors = curandom.generate_direction_vectors(3).get()
    assert vectors.shape == (3, 32) and hex(vectors[2][2]) == "0x60000000"
    assert curandom.generate_direction_vectors(2, curandom.direction_vector_set.VECTOR_64).dtype == np.uint64
    with pytest.raises(TypeError, match="shape"):
        curandom.Sobol32RandomNumberGenerator(dir_vector=gpuarray.zeros((3, 32), np.uint32))
    with pytest.raises(TypeError, match="int32"):
        curandom.XORWOWRandomNumberGenerator(lambda n: gpuarray.zeros(3, np.int32))


# -- distributions ----------------------------------------------------------------------------

N = 40_000


def generators():
    yield pytest.param(lambda: curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_unique), id="XORWOW")
    yield pytest.param(curandom.MRG32k3aRandomNumberGenerator, id="MRG32k3a")


@pytest.mark.parametrize("make", list(generators()))
def test_sequential_distributions(make):
    generator = make()
    for dtype in (np.float32, np.float64):
        u = generator.gen_uniform(N, dtype).get()
        assert u.dtype == dtype and (u > 0).all() and (u <= 1).all()
        assert ks(u.astype(np.float64), lambda x: x) < 1.95
        assert ks(generator.gen_normal(N + 1, dtype).get().astype(np.float64), normal_cdf) < 1.95
        logs = np.log(generator.gen_log_normal(N, dtype, 1.0, 0.5).get().astype(np.float64))
        assert ks((logs - 1) / 0.5, normal_cdf) < 1.95
    for mean in (0.5, 30.0):
        counts = generator.gen_poisson(N, np.uint32, mean).get().astype(np.float64)
        assert abs(counts.mean() - mean) < 6 * math.sqrt(mean / N)
        assert abs(counts.var() / mean - 1) < 0.06
    means = gpuarray.to_gpu(np.full(N, 4.0, np.float32))
    generator.fill_poisson(means)
    assert abs(means.get().mean() - 4) < 0.06
    with pytest.raises(NotImplementedError, match="float16"):
        generator.gen_uniform(3, np.float16)


def test_rand():
    for dtype in (np.float32, np.float64):
        values = curandom.rand((100, 50), dtype)
        assert values.shape == (100, 50) and values.dtype == dtype
        assert ks(values.get().ravel().astype(np.float64), lambda x: x) < 1.95 and values.get().max() < 1
    assert len(np.unique(curandom.rand(1000, np.uint32).get())) > 990
    np.random.seed(3)
    first = curandom.rand(5).get()
    np.random.seed(3)
    np.testing.assert_array_equal(curandom.rand(5).get(), first)
    with pytest.raises(NotImplementedError, match="complex64"):
        curandom.rand(3, np.complex64)


@pytest.mark.parametrize("bits", [rrandom.Philox, rrandom.Threefry])
def test_generator(bits):
    rng = rrandom.Generator(bits(2024))
    for dtype in (np.float32, np.float64):
        assert ks(rng.random(N, dtype).get().astype(np.float64), lambda x: x) < 1.95
        z = rng.normal(2, 3, N, dtype=dtype).get().astype(np.float64)
        assert ks((z - 2) / 3, normal_cdf) < 1.95
        e = rng.exponential(2.0, N, dtype=dtype).get().astype(np.float64)
        assert ks(e, lambda x: 1 - np.exp(-x / 2)) < 1.95
    u = rng.uniform(-1, 5, (7, 11)).get()
    assert u.shape == (7, 11) and u.min() >= -1 and u.max() < 5
    assert rng.standard_normal().shape == ()
    for lam in (0.0, 3.0, 500.0):
        p = rng.poisson(lam, N).get()
        assert p.dtype == np.int64 and abs(p.mean() - lam) <= 6 * math.sqrt(lam / N)
    assert len(rng.bytes(13)) == 13


def test_integers():
    rng = rrandom.default_rng(5)
    dice = rng.integers(1, 6, N, endpoint=True).get()
    counts = np.bincount(dice)[1:]
    assert ((counts - N / 6) ** 2 / (N / 6)).sum() < 20.5  # chi-squared of 5 degrees, once in a thousand times
    assert rng.integers(-100, -90, 1000, np.int8).get().max() == -91
    big = rng.integers(-(2**63), 2**63 - 1, 1000, endpoint=True).get()
    assert big.min() < -(2**62) and big.max() > 2**62
    assert rng.integers(2**63, 2**64, 1000, np.uint64).get().min() >= 2**63
    for args, text in [((5, 5), "low >= high"), ((0, 300, None, np.uint8), "high is out of bounds")]:
        with pytest.raises(ValueError, match=text):
            rng.integers(*args)
    with pytest.raises(TypeError):
        rng.integers(1.5)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 100, 4097, 20_000])
def test_permutations(n):
    rng = rrandom.default_rng(n)
    order = rng.permutation(n).get()
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    if n > 50:
        assert (order == np.arange(n)).sum() < 12 and abs(np.corrcoef(order, np.arange(n))[0, 1]) < 6 / math.sqrt(n)


def test_all_orders_of_a_few_are_equally_frequent():
    rng = rrandom.default_rng(77)
    orders = [tuple(rng.permutation(3).get()) for _ in range(600)]
    counts = np.array([orders.count(o) for o in set(orders)])
    assert len(counts) == 6 and ((counts - 100) ** 2 / 100).sum() < 20.5


def test_shuffle_and_choice():
    rng = rrandom.default_rng(1)
    host = np.arange(300, dtype=np.float32).reshape(100, 3)
    array = gpuarray.to_gpu(host)
    rng.shuffle(array)
    rows = array.get()
    assert not np.array_equal(rows, host)
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], host)
    chosen = rng.choice(50, 20, replace=False).get()
    assert len(set(chosen.tolist())) == 20


def test_streams_positions_and_pickles():
    a, b = rrandom.default_rng(9), rrandom.default_rng(9)
    first = a.random(8).get()
    # Two doubles of each block of four words.
    b.bit_generator.advance(4)
    np.testing.assert_array_equal(a.random(8).get(), b.random(8).get())
    copy = pickle.loads(pickle.dumps(a.bit_generator))
    np.testing.assert_array_equal(rrandom.Generator(copy).random(8).get(), a.random(8).get())
    child, other = rrandom.default_rng(9).spawn(2)
    drawn = child.random(8).get()
    assert not np.array_equal(drawn, first) and not np.array_equal(drawn, other.random(8).get())


def test_a_small_battery():
    """Bits, serial correlation, runs, gaps and a birthday spacing of Philox, XORWOW and MRG32k3a."""
    for make in (
        lambda n: curandom.rand(n, np.uint32).get(),
        lambda n: curandom.XORWOWRandomNumberGenerator().gen_uniform(n, np.uint32).get(),
        lambda n: curandom.MRG32k3aRandomNumberGenerator().gen_uniform(n, np.uint32).get(),
    ):
        words = make(1 << 17)
        n = len(words)
        ones = ((words[:, None] >> np.arange(32, dtype=np.uint32)) & 1).mean(0)
        assert np.abs(ones - 0.5).max() < 5 * 0.5 / math.sqrt(n)
        u = words / 2.0**32
        assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 5 / math.sqrt(n)
        ups = np.diff(u) > 0
        runs = 1 + (ups[1:] != ups[:-1]).sum()
        assert abs(runs - (2 * n - 1) / 3) < 5 * math.sqrt((16 * n - 29) / 90)
        pairs = np.histogram2d(u[::2], u[1::2], 16, [[0, 1], [0, 1]])[0]
        expected = n / 2 / 256
        assert abs(((pairs - expected) ** 2 / expected).sum() - 255) < 5 * math.sqrt(2 * 255)
        # 1024 birthdays in a year of 2^26 days: equal spacings are Poisson of mean n^3 / 4m = 4.
        spacings = np.diff(np.sort(words[: 64 * 1024].reshape(64, 1024) >> np.uint32(6), axis=1), axis=1)
        equal = sum(1023 - len(np.unique(row)) for row in spacings)
        assert abs(equal - 64 * 4) < 6 * math.sqrt(64 * 4)
