"""`rtcg.einsum` against `numpy.einsum`: random subscripts, all dtypes, both forms of a call, paths, errors."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from depth import ALL, at_depth, each_kind

import rtcg
from rtcg import _native, numpy as xp

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
TOLERANCES = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-13}


def make(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.4
    if dtype.kind in "iu":
        return rng.integers(-4 if dtype.kind == "i" else 0, 5, shape).astype(dtype)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)


def compare(got, want, arrays):
    assert got.shape == want.shape and got.dtype == want.dtype
    got = got.get()
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    # Beside the sum of absolute values, which is what rounding is relative to.
    size = np.prod([max(1.0, float(np.abs(a).max(initial=0))) for a in arrays])
    np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCES[want.dtype.name] * size * 30)


def check(subscripts, *arrays, **options):
    want = np.einsum(subscripts, *arrays, **options)
    compare(rtcg.einsum(subscripts, *map(xp.asarray, arrays), **options), want, arrays)


def random_case(rng):
    """Subscripts, and shapes that fit, of one to four operands."""
    letters = rng.permutation(list("abcdeFG"))[: rng.integers(1, 6)]
    lengths = {letter: int(rng.integers(1, 6)) for letter in letters}
    dots = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))] if rng.random() < 0.3 else None
    words, shapes = [], []
    for _ in range(rng.integers(1, 5)):
        word = [str(letter) for letter in rng.choice(letters, rng.integers(0, 4))]
        shape = [lengths[letter] for letter in word]
        for k, letter in enumerate(word):
            # Axes of one operand with one name must be equally long.
            if word.count(letter) == 1 and rng.random() < 0.1:
                shape[k] = 1
        if dots is not None and rng.random() < 0.7:
            place, have = int(rng.integers(0, len(word) + 1)), int(rng.integers(0, len(dots) + 1))
            shape[place:place] = [n if rng.random() < 0.8 else 1 for n in dots[len(dots) - have :]]
            word.insert(place, "...")
        words.append("".join(word))
        shapes.append(tuple(shape))
    text = ",".join(words)
    if rng.random() < 0.7:
        present = sorted(set("".join(words).replace(".", "")))
        output = (
            [str(letter) for letter in rng.permutation(present)[: rng.integers(0, len(present) + 1)]] if present else []
        )
        if "..." in text:
            output.insert(int(rng.integers(0, len(output) + 1)), "...")
        text += "->" + "".join(output)
    return text, shapes


@pytest.mark.parametrize("seed", range(at_depth(8, 60)))
def test_random_subscripts(seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        text, shapes = random_case(rng)
        dtype = rng.choice(["int32", "float64"]) if not ALL else rng.choice(DTYPES)
        arrays = [make(rng, shape, dtype) for shape in shapes]
        optimize = [False, True, "optimal"][rng.integers(3)]
        want = np.einsum(text, *arrays)
        try:
            compare(rtcg.einsum(text, *map(xp.asarray, arrays), optimize=optimize), want, arrays)
        except Exception as error:
            raise AssertionError(f"{text} of {shapes}, {dtype}, optimize={optimize}") from error


SMALL = [
    ("ij,ejf->eif", (4, 3), (9, 3, 5)),
    ("ii", (5, 5)),
    ("iij->j", (3, 3, 4)),
    ("ij->", (6, 7)),
    ("i,j->ji", (3,), (4,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
]


@pytest.mark.parametrize(
    ("subscripts", "shapes", "dtype"),
    each_kind([(subscripts, shapes, dtype) for subscripts, *shapes in SMALL for dtype in DTYPES]),
)
def test_dtypes(subscripts, shapes, dtype):
    rng = np.random.default_rng(1)
    check(subscripts, *(make(rng, shape, dtype) for shape in shapes))


LARGE = [
    ("ij,ejf->eif", (10, 10), (700, 10, 6)),
    ("ij,fej->fei", (20, 20), (3, 400, 20)),
    ("bij,bjk->bik", (900, 5, 7), (900, 7, 11)),
    ("erx,rij,ejf->exif", (150, 3, 3), (3, 10, 10), (150, 10, 3)),
    ("xre,rij,xej->ei", (3, 3, 300), (3, 10, 10), (3, 300, 10)),
    ("ik,kj->ij", (70, 90), (90, 80)),
    ("ij,ij->", (300, 400), (300, 400)),
]


@pytest.mark.parametrize(
    ("subscripts", "shapes", "dtype"),
    each_kind([(subscripts, shapes, dtype) for subscripts, *shapes in LARGE for dtype in DTYPES])
    if ALL
    else [(subscripts, shapes, dtype) for (subscripts, *shapes), dtype in zip(LARGE, DTYPES[::-1], strict=False)],
)
def test_many_elements(subscripts, shapes, dtype):
    rng = np.random.default_rng(2)
    arrays = [make(rng, shape, dtype) for shape in shapes]
    want = np.einsum(subscripts, *arrays, optimize=True)
    if dtype in ("int8", "uint8", "float16"):
        want = np.einsum(subscripts, *(a.astype("float64") for a in arrays)).astype(dtype)
    compare(rtcg.einsum(subscripts, *map(xp.asarray, arrays)), want, arrays)


def test_operands_of_any_strides():
    rng = np.random.default_rng(3)
    host = rng.standard_normal((40, 12, 30))
    device = xp.asarray(host)
    matrix = rng.standard_normal((12, 12))
    views = [(host[::-1, :, ::5], device[::-1, :, ::5]), (host.transpose(2, 1, 0), device.transpose(2, 1, 0))]
    for plain, view in views:
        want = np.einsum("ij,ejf->fie", matrix, plain)
        compare(rtcg.einsum("ij,ejf->fie", xp.asarray(matrix).T.T, view), want, [matrix, plain])
    repeated = np.broadcast_to(rng.standard_normal((1, 12, 1)), (900, 12, 6))
    want = np.einsum("ij,ejf->eif", matrix, repeated)
    compare(rtcg.einsum("ij,ejf->eif", matrix, xp.broadcast_to(xp.asarray(repeated[:1, :, :1]), repeated.shape)), want,
            [matrix, repeated])  # fmt: skip


def test_mixed_dtypes_are_promoted():
    rng = np.random.default_rng(4)
    check("ij,jk->ik", make(rng, (3, 4), "int8"), make(rng, (4, 5), "float32"))
    check("ij,ejf->eif", make(rng, (6, 6), "float64"), make(rng, (2000, 6, 3), "float32"))
    check("i,i->", make(rng, (9,), "complex64"), make(rng, (9,), "int64"))


def test_sublists():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((4, 5))
    x, y = xp.asarray(a), xp.asarray(b)
    calls = [lambda a, b: (a, [Ellipsis, 0], b, [0, 30]), lambda a, b: (a, [2, 1, 0], b, [0, 51], [51, 1, 2]),
             lambda a, b: (a, [..., 0], b, [0, 1], [1, ...])]  # fmt: skip
    for call in calls:
        compare(rtcg.einsum(*call(x, y)), np.einsum(*call(a, b)), [a, b])


def test_one_operand_without_a_sum_is_a_view():
    host = np.arange(24.0).reshape(2, 3, 4)
    a = xp.asarray(host)
    view = rtcg.einsum("ijk->kij", a)
    view[1, 0, 2] = -1.0
    assert a[0, 2, 1].get() == -1.0
    diagonal = rtcg.einsum("ii->i", a[0, :, :3])
    diagonal[...] = 7.0
    assert (np.einsum("ii->i", a.get()[0, :, :3]) == 7.0).all()


def test_out_dtype_order_and_casting():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((3, 4)), rng.standard_normal((4, 5))
    x, y = xp.asarray(a), xp.asarray(b)
    out = xp.zeros((5, 3), "float64")
    rtcg.einsum("ij,jk->ik", x, y, out=out.T)
    np.testing.assert_allclose(out.get().T, a @ b)
    assert rtcg.einsum("ij,jk->ik", x, y, order="F").flags.f_contiguous
    assert rtcg.einsum("ij,jk->ik", x, y, order="C").flags.c_contiguous
    assert rtcg.einsum("ij->ji", x, order="C").flags.c_contiguous
    got = rtcg.einsum("ij,jk", x, y, dtype="float32", casting="same_kind")
    want = np.einsum("ij,jk", a, b, dtype="float32", casting="same_kind")
    compare(got, want, [a, b])
    with pytest.raises(TypeError, match="operand 0 could not be cast from .*float64.* to .*float32.* 'safe'"):
        rtcg.einsum("ij,jk", x, y, dtype="float32")
    with pytest.raises(TypeError, match="out could not be cast"):
        rtcg.einsum("ij,jk", x, y, out=xp.zeros((3, 5), "float32"))
    # An operand that is written, too, is read first.
    square = xp.asarray(np.arange(9.0).reshape(3, 3))
    want = square.get() @ square.get()
    rtcg.einsum("ij,jk->ik", square, square, out=square)
    np.testing.assert_array_equal(square.get(), want)


def test_paths():
    rng = np.random.default_rng(7)
    arrays = [rng.standard_normal(shape) for shape in ((3, 4), (4, 5), (5, 6), (6, 3))]
    text = "ab,bc,cd,da->bd"
    want = np.einsum(text, *arrays)
    path, description = rtcg.numpy.einsum_path(text, *map(xp.asarray, arrays), optimize="optimal")
    assert path[0] == "einsum_path" and "Complete contraction" in description
    for optimize in (False, True, "greedy", "optimal", path, ["einsum_path", (0, 1, 2, 3)], ("greedy", 10)):
        compare(rtcg.einsum(text, *map(xp.asarray, arrays), optimize=optimize), want, arrays)
    with pytest.raises(ValueError, match=r"optimize: step \[0, 7\] of the path"):
        rtcg.einsum(text, *arrays, optimize=["einsum_path", (0, 7)])


def test_axes_without_elements():
    for text, shapes in [
        ("ij->", [(0, 3)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("ij,jk->ik", [(0, 2), (2, 3)]),
        ("i->i", [(0,)]),
    ]:
        check(text, *(np.ones(shape) for shape in shapes))


ERRORS = [
    ("ijk", [(2, 3)], "too many subscripts for operand 0"),
    ("i", [(2, 3)], "no '...' ellipsis provided to broadcast the extra dimensions"),
    ("ij->k", [(2, 3)], "output subscript 'k' which never appeared in an input"),
    ("ij->ii", [(2, 3)], "output subscript 'i' multiple times"),
    ("ij,jk", [(2, 3)], "fewer operands"),
    ("ij", [(2, 3), (3, 4)], "more operands"),
    ("ij,ij", [(2, 3), (3, 4)], "could not be broadcast together"),
    ("i1", [(2, 3)], "invalid subscript '1'"),
    ("ii->i", [(2, 3)], r"collapsing index 'i' don't match \(2 != 3\)"),
    ("ii->i", [(1, 3)], r"collapsing index 'i' don't match \(1 != 3\)"),
    ("i.j", [(2, 3)], "not part of an ellipsis"),
    ("......i", [(2, 3)], "not part of an ellipsis"),
    ("...i->i", [(2, 3)], "no '...' ellipsis"),
    ("ij->ij->", [(2, 3)], "invalid subscript '-'"),
    ("ij", [], "at least one operand"),
]


@pytest.mark.parametrize(("subscripts", "shapes", "message"), ERRORS)
def test_errors_are_numpys(subscripts, shapes, message):
    with pytest.raises(ValueError, match=message):
        rtcg.einsum(subscripts, *(xp.ones(shape) for shape in shapes))
    with pytest.raises(ValueError, match="[a-z]"):
        np.einsum(subscripts, *(np.ones(shape) for shape in shapes))


def test_errors_of_arguments():
    a = xp.ones((2, 3))
    with pytest.raises(ValueError, match="at least one operand"):
        rtcg.einsum()
    with pytest.raises(ValueError, match=r"valid range \[0, 52\)"):
        rtcg.einsum(a, [0, 60])
    with pytest.raises(TypeError, match="either an integer or an ellipsis"):
        rtcg.einsum(a, ["x", 1])
    with pytest.raises(ValueError, match=r"order must be one of .* \(got 'Q'\)"):
        rtcg.einsum("ij", a, order="Q")
    with pytest.raises(ValueError, match=r"casting must be one of .* \(got 'foo'\)"):
        rtcg.einsum("ij", a, casting="foo")
    with pytest.raises(TypeError, match="out must be a device array"):
        rtcg.einsum("ij", a, out=3)
    with pytest.raises(ValueError, match="out has shape"):
        rtcg.einsum("ij->i", a, out=xp.zeros(3))
    with pytest.raises(TypeError, match="cannot be multiplied"):
        rtcg.einsum("i,i", *[xp.asarray(np.zeros(2, "i4,f4"))] * 2)


def test_there_is_one_einsum():
    from rtcg import array_api

    a = xp.ones((2, 3))
    assert rtcg.einsum is rtcg.numpy.einsum
    assert np.einsum("ij->j", a).get().tolist() == [2.0, 2.0, 2.0]
    assert not hasattr(array_api, "einsum") or array_api.einsum is rtcg.einsum


def test_small_products_of_stacks_are_matmuls():
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((3000, 4, 6)), rng.standard_normal((3000, 6, 5))
    product = xp.asarray(a) @ xp.asarray(b)
    np.testing.assert_allclose(product.get(), a @ b, rtol=1e-13, atol=1e-13)
    compare(rtcg.einsum("bij,bjk->bik", a, b), a @ b, [a, b])


#: Digits of results and of sums, and the smallest number that is rounded as others are.
PRECISIONS = {
    "float16": (2**-11, 2**-19, 2**-14),
    "bfloat16": (2**-8, 2**-19, 2**-126),
    "float32": (2**-24, 2**-19, 2**-126),
    "float64": (2**-53, 2**-49, 0.0),
}
MATRICES = [
    ("ij,ejf->eif", [(20, 20), (301, 20, 6)]),
    ("ij,ejf->fie", [(31, 31), (167, 31, 3)]),
    ("ejf,ij->eif", [(901, 7, 5), (19, 7)]),
    ("bij,bjk->bik", [(170, 13, 16), (170, 16, 17)]),
    ("erx,rij,ejf->exif", [(203, 3, 3), (3, 12, 10), (203, 10, 5)]),
    ("eij,ejk,ekl,elm->eim", [(101, 9, 10), (101, 10, 11), (101, 11, 12), (101, 12, 7)]),
    ("eij,ejk,ekl->eil", [(150, 9, 10), (150, 10, 11), (150, 11, 12)]),
]
#: Arrays on the device by how they lie there.
LAYOUTS = {
    "contiguous": xp.asarray,
    "transposed": lambda a: xp.asarray(a.T.copy()).T,
    "reversed": lambda a: xp.asarray(a[..., ::-1].copy())[..., ::-1],
    "steps": lambda a: xp.asarray(np.repeat(a, 2, axis=-1))[..., ::2],
}


def choices_of(call, unit, count, seed):
    """The decision of a call on its blocks, and some of the choices by threads or by tensor cores."""
    decision = next(met for met in _native.record_array_decisions(call)[1] if met.name == "einsum.block")
    table = [config for config in decision.table() if config["unit"] == unit]
    if not table:
        pytest.skip(f"the device has no unit {unit!r} for this dtype")
    return decision, [table[k] for k in np.random.default_rng(seed).integers(len(table), size=count)]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_infinities_stay_what_they_are(place, dtype):
    """The sums of TF32 numbers that stand for a float32 have none of inf - inf, and none of inf * 0."""
    rng = np.random.default_rng(place)
    shapes = [(300, 3, 3), (3, 8, 8), (300, 8, 6)]
    hosts = [rng.choice([-1.0, 1.0, 1.5, 2.25], shape).astype(dtype) for shape in shapes]
    hosts[place].ravel()[::97] = np.inf
    hosts[place].ravel()[5] = np.nan
    with np.errstate(invalid="ignore"):
        want = np.einsum(
            "erx,rij,ejf->exif", *[host.astype(float) for host in hosts], optimize=["einsum_path", (1, 2), (0, 1)]
        )
    arrays = [xp.asarray(host) for host in hosts]
    call = lambda: rtcg.einsum("erx,rij,ejf->exif", *arrays, optimize=["einsum_path", (1, 2), (0, 1)])  # noqa: E731
    decision, configs = choices_of(call, "mma", 3, 7)
    for config in configs:
        np.testing.assert_array_equal(np.isfinite(decision.force(config, call).get()), np.isfinite(want))
        np.testing.assert_array_equal(np.isnan(decision.force(config, call).get()), np.isnan(want))


@pytest.mark.parametrize(
    ("case", "dtype", "layout"),
    [
        (case, dtype, layout)
        for case, (k, dtype), (j, layout) in itertools.product(
            range(len(MATRICES)), enumerate(PRECISIONS), enumerate(LAYOUTS)
        )
        if ALL or (case + k + j) % 4 == 0
    ],
)
def test_units_and_their_precision(case, dtype, layout):
    subscripts, shapes = MATRICES[case]
    rng = np.random.default_rng(case)
    type_of = np.dtype(getattr(ml_dtypes, dtype, dtype))
    hosts = [rng.standard_normal(shape).astype(type_of) for shape in shapes]
    wide = [host.astype(float) for host in hosts]
    want = np.einsum(subscripts, *wide, optimize=True)
    size = np.einsum(subscripts, *map(abs, wide), optimize=True)
    of_result, of_sums, smallest = PRECISIONS[dtype]
    arrays = [LAYOUTS[layout](host) for host in hosts]
    # Of four operands, the last step is from two results of steps.
    path = ["einsum_path", (0, 1), (0, 1), (0, 1)] if len(arrays) == 4 else True
    call = lambda: rtcg.einsum(subscripts, *arrays, optimize=path)  # noqa: E731
    for unit in at_depth(["mma"], ["simt", "mma"]):
        decision, configs = choices_of(call, unit, at_depth(1, 8), case)
        for config in configs:
            got = decision.force(config, call).get().astype(float)
            # The sums have 32 bits or more, whatever the results have, and are rounded once.
            error = abs(got - want) / (of_result * (abs(want) + smallest) + of_sums * size)
            assert error.max() < 1.01, (unit, config, error.max())
