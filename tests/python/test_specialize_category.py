"""Reductions by label, histograms and counts, against loops in NumPy."""

import functools

import numpy as np
import pytest
from depth import at_depth

import rtcg.numpy as xp
from rtcg import _native
from rtcg.driver import CompileError
from rtcg.specialize import bincount, category_reduce, histogram

pytestmark = pytest.mark.usefixtures("context")

#: Values, labels: few of them, more, and so many that rows are sorted.
SIZES = [(4000, 7), (4000, 900), (3000, 2999)]
DTYPES = at_depth(["f4", "i2", "f2", "c8"], ["f2", "f4", "f8", "c8", "c16", "i1", "u2", "i4", "u4", "i8", "u8", "?"])


def loops(values, labels, n_labels, op):
    """The same, label by label."""
    parts = [values[labels == label] for label in range(n_labels)]
    functions = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "mean": np.mean}
    if op == "count":
        return np.array([len(part) for part in parts])
    return np.array([functions[op](part, axis=0) for part in parts])


@pytest.mark.parametrize("n, n_labels", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operations_are_those_of_loops(n, n_labels, dtype):
    rng = np.random.default_rng(1)
    labels = np.concatenate([np.arange(n_labels), rng.integers(0, n_labels, n - n_labels)]).astype("i4")
    values = rng.integers(0, 3, n).astype(dtype)
    for op in ("sum", "mean", "count") if dtype[0] == "c" else ("sum", "min", "max", "mean", "count"):
        found, expected = category_reduce(values, labels, n_labels, op), loops(values, labels, n_labels, op)
        assert found.dtype == expected.dtype, op
        # All sums are exact; means are rounded.
        np.testing.assert_allclose(found.get(), expected, rtol=1e-3 if dtype == "f2" else 1e-6, err_msg=op)


@pytest.mark.parametrize("n_labels", [5, 700])
@pytest.mark.parametrize("d", [1, 3, 70])
def test_vectors_are_combined_element_by_element(n_labels, d):
    rng = np.random.default_rng(2)
    values, labels = rng.integers(0, 9, (2000, d)).astype("f4"), rng.permutation(2000) % n_labels
    weights = rng.integers(0, 4, 2000).astype("f4")
    np.testing.assert_array_equal(
        category_reduce(values, labels, n_labels).get(), loops(values, labels, n_labels, "sum")
    )
    weighted = category_reduce(values, labels, n_labels, weights=weights)
    np.testing.assert_array_equal(weighted.get(), loops(values * weights[:, None], labels, n_labels, "sum"))
    means = category_reduce(values[:, ::-1], labels.astype("u1" if n_labels < 256 else "u8"), n_labels, "mean")
    np.testing.assert_allclose(means.get(), loops(values[:, ::-1], labels, n_labels, "mean"), rtol=1e-6)


def test_labels_without_values_have_the_neutral_element():
    values, labels = np.array([3.0, 5.0], "f4"), [1, 1]
    expected = {"sum": 0, "prod": 1, "min": np.inf, "max": -np.inf, "mean": np.nan, "count": 0}
    for op, neutral in expected.items():
        found = category_reduce(values, labels, 3, op).get()
        np.testing.assert_array_equal(found[[0, 2]], [neutral, neutral], err_msg=op)
    assert category_reduce(values[:0], xp.zeros(0, "i4"), 2).get().tolist() == [0, 0]
    assert category_reduce(values, labels, 2, ordered=True).get().tolist() == [0, 8]


@category_reduce(neutral=-1000)
def larger(a, b):
    """The larger of two numbers."""
    return a if a > b else b


def test_expressions_and_functions():
    values, labels = np.array([2, -3, 5, 7], "i4"), [0, 1, 0, 3]
    assert larger(values, labels, 4).get().tolist() == [5, -3, -1000, 7]
    assert larger.__doc__ == "The larger of two numbers."
    assert category_reduce(values, labels, 4, "a * b", neutral=1).get().tolist() == [10, -3, 1, 7]
    assert category_reduce(values, labels, 4, lambda x, y: max(abs(x), abs(y)), neutral=0).get().tolist() == [
        5,
        3,
        0,
        7,
    ]
    # Not commutative: the last value of each label.
    assert category_reduce(np.arange(500), np.arange(500) % 3, 3, "b", neutral=0, ordered=True).get().tolist() == [
        498,
        499,
        497,
    ]


def test_bits_are_the_same_in_every_call():
    rng = np.random.default_rng(3)
    for n_labels in (3, 900, 5000):
        values, labels = rng.random(6000).astype("f4"), rng.integers(0, n_labels, 6000)
        found = [category_reduce(values, labels, n_labels).get().tobytes() for _ in range(3)]
        assert found[1:] == found[:-1]


def by_kernel(kernel, call):
    """What a call returns with a kernel."""
    _, met = _native.record_array_decisions(call)
    (decision,) = [each for each in met if each.name == "category.route"]
    return decision.force({"kernel": kernel}, call)


@pytest.mark.parametrize("kernel", ["threads", "warps", "atomic", "sort", "slots"])
def test_all_kernels_of_the_decision_agree(kernel):
    rng = np.random.default_rng(4)
    values, labels = (xp.asarray(rng.integers(0, high, 3000)) for high in (9, 40))
    found = by_kernel(kernel, lambda: category_reduce(values, labels, 40))
    np.testing.assert_array_equal(found.get(), np.bincount(labels.get(), values.get(), 40))


#: Labels of one digit and of more, and groups that are just full.
@pytest.mark.parametrize("n, n_labels", [(1, 1), (33, 5), (9000, 1023), (9000, 1024), (3000, 70_000), (900, 300_000)])
@pytest.mark.parametrize(
    "dtype, label", [("f4", "i4"), ("f8", "u4"), ("i2", "i8"), ("f2", "u2"), ("c8", "i4"), ("c16", "i4")]
)
def test_slots_have_the_sums_of_loops(n, n_labels, dtype, label):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, min(n_labels, 60_000), n).astype(label)
    values = rng.integers(0, 9, n).astype(dtype)
    there, where = xp.asarray(values), xp.asarray(labels)
    wide = "f4" if dtype == "f2" else None
    found = by_kernel("slots", lambda: category_reduce(there, where, n_labels, dtype=wide)).get()
    expected = np.zeros(n_labels, found.dtype)
    np.add.at(expected, labels.astype(int), values.astype(found.dtype))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", ["warps", "slots"])
@pytest.mark.parametrize("kind", ["one", "last", "two", "ascending", "most in one"])
def test_labels_that_most_values_have(kernel, kind):
    n, n_labels = 40_000, 1100
    rng = np.random.default_rng(6)
    labels = {
        "one": np.zeros(n, int),
        "last": np.full(n, n_labels - 1),
        "two": np.repeat([3, n_labels - 1], n // 2),
        "ascending": np.sort(rng.integers(0, n_labels, n)),
        "most in one": np.where(rng.random(n) < 0.9, 7, rng.integers(0, n_labels, n)),
    }[kind].astype("i4")
    values, bytes_ = rng.integers(0, 9, n).astype("f4"), rng.integers(0, 100, n).astype("i1")
    there, narrow, where = xp.asarray(values), xp.asarray(bytes_), xp.asarray(labels)
    found = by_kernel(kernel, lambda: category_reduce(there, where, n_labels))
    np.testing.assert_array_equal(found.get(), np.bincount(labels, values, n_labels))
    expected = np.full(n_labels, -128, "i1")
    np.maximum.at(expected, labels, bytes_)
    found = by_kernel(kernel, lambda: category_reduce(narrow, where, n_labels, "max"))
    np.testing.assert_array_equal(found.get(), expected)
    # Rounded sums have the same bits, too.
    there = xp.asarray(rng.random(n, np.float32))
    bits = {by_kernel(kernel, lambda: category_reduce(there, where, n_labels)).get().tobytes() for _ in range(3)}
    assert len(bits) == 1


@pytest.mark.parametrize(
    "n, n_labels, d, dtype",
    [(3000, 256, 5, "f4"), (3000, 257, 64, "f2"), (500, 40, 130, "f8"), (900, 1, 3, "c16"), (40, 300, 1030, "f4")],
)
def test_slots_of_vectors(n, n_labels, d, dtype):
    rng = np.random.default_rng(7)
    labels = np.where(rng.random(n) < 0.4, n_labels // 2, rng.integers(0, n_labels, n)).astype("i4")
    values, weights = rng.integers(0, 5, (n, d)).astype(dtype), rng.integers(0, 4, n).astype("f4")
    # Vectors that do not begin at a multiple of 16 bytes are read in smaller pieces.
    there = xp.asarray(np.concatenate([values[:1], values]))[1:]
    where, factors = xp.asarray(labels), xp.asarray(weights)
    for options in ({}, {"weights": factors}):
        if options and dtype[0] == "c":
            continue
        wide = None if dtype[0] == "c" else "f8"
        reduced = functools.partial(category_reduce, there, where, n_labels, dtype=wide, **options)
        found = by_kernel("slots", reduced).get()
        expected = np.zeros((n_labels, d), found.dtype)
        np.add.at(expected, labels, values * weights[:, None] if options else values)
        np.testing.assert_array_equal(found, expected)


def test_slots_leave_out_labels_out_of_range_and_take_bins_and_weights():
    labels = np.array([0, 5, -1, 7, 2**31 - 1, 3] * 500, "i4")
    there, where = xp.asarray(np.ones(3000, "f4")), xp.asarray(labels)
    found = by_kernel("slots", lambda: category_reduce(there, where, 6))
    with pytest.raises(IndexError, match="a label is out of range"):
        found.get()
    assert found.get().tolist() == [500, 0, 0, 500, 0, 500]
    rng = np.random.default_rng(8)
    x, weights = rng.random(3000), rng.integers(0, 9, 3000).astype("f4")
    there, factors = xp.asarray(x), xp.asarray(weights)
    counts = by_kernel("slots", lambda: histogram(there, 700, (0.1, 0.9), weights=factors)[0])
    np.testing.assert_array_equal(counts.get(), np.histogram(x, 700, (0.1, 0.9), weights=weights)[0])
    counts = by_kernel("slots", lambda: histogram(there, 700, (0.1, 0.9))[0])
    np.testing.assert_array_equal(counts.get(), np.histogram(x, 700, (0.1, 0.9))[0])
    where = xp.asarray(rng.integers(0, 50, 3000))
    for dtype in ("i8", "f4", "c16"):
        counts = by_kernel("slots", lambda dtype=dtype: category_reduce(there, where, 50, "count", dtype=dtype))
        np.testing.assert_array_equal(counts.get(), np.bincount(where.get(), minlength=50))
    found = by_kernel("slots", lambda: category_reduce(factors, where, 50, weights=factors))
    np.testing.assert_array_equal(found.get(), np.bincount(where.get(), weights**2, 50))


def test_labels_out_of_range_are_reported_at_the_next_copy():
    for labels in ([0, 2], [0, -1], np.array([0, 2**40])):
        found = category_reduce([1.0, 2.0], labels, 2)
        with pytest.raises(IndexError, match="a label is out of range"):
            found.get()
        assert found.get().tolist() == [1.0, 0.0]


def test_out_receives_the_result():
    out = xp.empty(2, np.float64)
    assert category_reduce(np.ones(3, "f4"), [0, 1, 1], 2, out=out) is out
    assert out.get().tolist() == [1, 2]


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        (([1.0], [0.0], 1), {}, TypeError, "labels is of dtype float64; expected integers"),
        (([1.0], [[0]], 1), {}, ValueError, r"labels has shape \(1, 1\); expected one axis"),
        (([1.0, 2.0], [0], 1), {}, ValueError, r"values has shape \(2,\); expected \(1,\) or \(1, d\)"),
        (([1.0], [0], -1), {}, ValueError, "n_labels is -1"),
        (([1.0], [0], 1, "median"), {}, ValueError, "op is 'median' without neutral"),
        (([1.0], [0], 1, 3), {}, TypeError, "op is 3"),
        (([1.0], [0], 1, "sum"), {"neutral": 0}, ValueError, "neutral is 0; expected none"),
        (([1.0], [0], 1, "a + b"), {"neutral": [1, 2]}, TypeError, "neutral is"),
        ((np.ones(1, "u1"), [0], 1, "a + b"), {"neutral": -1}, TypeError, "neutral is -1; .* that uint8 can hold"),
        ((np.ones(1, "i4"), [0], 1, "a + b"), {"neutral": 2.7}, TypeError, "neutral is 2.7; .* that int32 can hold"),
        ((np.ones(1, "i4"), [0], 1, "a + b"), {"neutral": -np.inf}, TypeError, "neutral is -inf; .* int32 can hold"),
        ((np.ones(1, "i4"), [0], 1, "a + b"), {"neutral": np.nan}, TypeError, "neutral is nan; .* int32 can hold"),
        (
            (np.ones(1, "f4"), [0], 1, "a + b"),
            {"neutral": 1e300},
            TypeError,
            r"neutral is 1e\+300; .* float32 can hold",
        ),
        (([1], [0], 1, "a + b"), {"neutral": 300, "dtype": "u1"}, TypeError, "neutral is 300; .* that uint8 can hold"),
        (([1.0], [0], 1, "a + b"), {"neutral": "x"}, ValueError, "neutral is 'x', which does not compile .*undefined"),
        (([1.0], [0], 1, "a + b"), {"neutral": np.ma.masked}, TypeError, "neutral is masked; expected a real number"),
        ((np.ma.masked_array([1.0]), [0], 1), {}, TypeError, "values is a masked array"),
        (([1.0], [0], 1, "max"), {"weights": [1.0]}, ValueError, "weights are given; expected none"),
        (([1.0], [0], 1), {"weights": [1.0, 2.0]}, ValueError, r"weights has shape \(2,\); expected \(1,\)"),
        (([1.5], [0], 1), {"out": xp.empty}, TypeError, "out"),
        (([1.0],), {}, TypeError, "missing the argument labels"),
    ],
)
def test_wrong_arguments_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        category_reduce(*arguments, **options)


def test_numbers_that_the_dtype_holds_are_neutral():
    def found(dtype, neutral):
        return category_reduce(np.ones(1, dtype), [0], 2, "a + b", neutral=neutral).get()[1]

    assert found("i4", 2.0) == 2 and found("u1", 255) == 255 and found("f4", 0.1) == np.float32(0.1)
    assert found("f4", -np.inf) == -np.inf and np.isnan(found("f8", np.nan)) and found("f4", "T(3) / T(2)") == 1.5
    with pytest.raises(TypeError, match="neutral is -1000; .* that uint8 can hold"):
        larger(np.ones(1, "u1"), [0], 1)
    with pytest.raises(CompileError):  # Of the operation, not of the neutral element.
        category_reduce([1.0], [0], 1, "a +", neutral="0")


def test_numbers_of_functions_are_those_that_the_dtype_holds():
    @category_reduce(neutral=0)
    def damped(a, b):
        return a if a > 0.5 else b

    assert damped(np.ones(1, "f4"), [0], 1).get() == 1
    with pytest.raises(TypeError, match="op damped has the number 0.5; expected one that int32 can hold"):
        damped(np.ones(1, "i4"), [0], 1)


def test_functions_on_a_line_with_others_are_refused():
    f, g = lambda a, b: a * b, lambda a, b: a + b  # noqa: E731
    for each in (f, g):
        with pytest.raises(TypeError, match="op <lambda> stands on lines with 1 other .*; write it alone on its lines"):
            category_reduce([1.0], [0], 1, each, neutral=0)
    with pytest.raises(TypeError, match="op <lambda> is no function of two numbers"):
        category_reduce([1.0], [0], 1, lambda a: a, neutral=0)


def test_functions_that_cannot_be_translated_are_named():
    def root(a, b):
        return (a + b) ** 0.5

    def two(a, b):
        c = a
        return c + b

    with pytest.raises(TypeError, match=r"op root: `\(a \+ b\) \*\* 0.5` cannot be translated"):
        category_reduce([1.0], [0], 1, root, neutral=0)
    with pytest.raises(TypeError, match="op two has other statements than one return"):
        category_reduce([1.0], [0], 1, two, neutral=0)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_histograms_are_those_of_numpy(dtype):
    rng = np.random.default_rng(5)
    x = (rng.normal(50, 20, 5000).clip(0, 100) if dtype[0] == "f" else rng.integers(0, 100, 5000)).astype(dtype)
    weights = rng.integers(0, 5, 5000).astype("f8")
    for bins, limits in [(10, None), (97, (20, 60)), (3000, (0, 100)), ([0, 1, 5, 50, 100], None), ("sturges", None)]:
        for factors in (None, weights) if bins != "sturges" else (None,):
            found = histogram(x, bins, limits, weights=factors)
            expected = np.histogram(x, bins, limits, weights=factors)
            for ours, theirs in zip(found, expected, strict=True):
                assert ours.dtype == theirs.dtype
                np.testing.assert_array_equal(ours.get(), theirs, err_msg=f"{bins}, {limits}")


def test_counts_are_those_of_numpy():
    rng = np.random.default_rng(6)
    for dtype, high in [("u1", 200), ("i8", 9), ("u4", 4000)]:
        x, weights = rng.integers(0, high, 3000).astype(dtype), rng.random(3000)
        np.testing.assert_array_equal(bincount(x, minlength=5000).get(), np.bincount(x, minlength=5000))
        np.testing.assert_allclose(bincount(x, weights).get(), np.bincount(x, weights), rtol=1e-12)
