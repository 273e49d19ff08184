"""`rtcg.algorithm` against NumPy and `itertools.groupby`: segments of all kinds, runs, wrong input."""

import itertools

import numpy as np
import pytest
from depth import ALL

from rtcg import algorithm, checking

OPS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
DTYPES = [np.int8, np.uint16, np.float16, np.float32, np.complex64]
if ALL:
    DTYPES = [bool, *"bBhHiIlLefdFD"]
#: Empty segments at both ends and between, a segment over several ranges, elements in no segment.
LENGTHS = [
    [0, 0, 3, 1, 0, 5000, 1, 0, 1023, 1024, 1, 1025, 0],
    [1] * 2100,
    [70_000, 0, 5],
    [0, 0],
]


def offsets_of(lengths, before=0):
    return before + np.concatenate([[0], np.cumsum(lengths)])


def numbers(count, dtype, seed=1):
    """Small whole numbers, so that sums and products of any order are exact."""
    rng, kind = np.random.default_rng([seed, count]), np.dtype(dtype).kind
    drawn = rng.integers(0 if kind in "ub" else -1, 2, count)
    return (drawn + 1j * rng.integers(-1, 2, count) if kind == "c" else drawn).astype(dtype)


def nothing(op, dtype):
    """What no elements are combined to."""
    if op in ("sum", "prod"):
        return dtype.type(op == "prod")
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), "min" if op == "max" else "max")
    sign = -1 if op == "max" else 1
    return {"b": op == "min", "c": complex(sign * np.inf, sign * np.inf)}.get(dtype.kind, sign * np.inf)


def result_dtype(op, dtype):
    if op in ("sum", "prod") and np.dtype(dtype).kind in "iub":
        return np.dtype(np.uint64 if np.dtype(dtype).kind == "u" else np.int64)
    return np.dtype(dtype)


def reduced(values, offsets, op):
    dtype = result_dtype(op, values.dtype)
    parts = [values[i:j].astype(dtype) for i, j in itertools.pairwise(offsets)]
    return np.array([OPS[op].reduce(part, dtype=dtype) if len(part) else nothing(op, dtype) for part in parts], dtype)


def scanned(values, offsets, op, exclusive):
    dtype, result = result_dtype(op, values.dtype), np.empty(len(values), result_dtype(op, values.dtype))
    for i, j in itertools.pairwise([0, *offsets, len(values)]):
        found = OPS[op].accumulate(values[i:j].astype(dtype), dtype=dtype)
        result[i:j] = np.concatenate([[nothing(op, dtype)], found[:-1]])[: j - i] if exclusive else found
    return result


@pytest.mark.parametrize("lengths", LENGTHS, ids=len)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_segments_are_those_of_loops(dtype, lengths, context):
    ops = OPS if ALL else ["sum", "min"] if np.dtype(dtype).itemsize > 2 else ["prod", "max"]
    if np.dtype(dtype).kind == "c" and not ALL:
        ops = ["prod"]
    if not ALL and dtype in (np.int8, np.float16) and len(lengths) > 100:
        return
    offsets = offsets_of(lengths, 7)
    values = numbers(offsets[-1] + 30, dtype)
    if np.dtype(dtype).kind == "e":
        values[values == 0] = 1
    for op in ops:
        found = algorithm.segmented_reduce(values, offsets, op)
        assert found.dtype == result_dtype(op, dtype)
        if not (op == "sum" and dtype == np.float16):
            np.testing.assert_array_equal(found.get(), reduced(values, offsets, op))
        for exclusive in (False, True) if ALL else (len(lengths) % 2 == 0,):
            found = algorithm.segmented_scan(values, offsets, op, exclusive).get()
            np.testing.assert_array_equal(found, scanned(values, offsets, op, exclusive))


def test_sums_of_floats_do_not_depend_on_the_schedule(context, on_virtual_device):
    offsets = offsets_of([0, 2500, 1, 40_000, 0])
    values = np.random.default_rng(1).normal(size=offsets[-1]).astype(np.float32)
    first = algorithm.segmented_reduce(values, offsets).get()
    np.testing.assert_allclose(first, reduced(values.astype(np.float64), offsets, "sum"), rtol=1e-5, atol=1e-4)
    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    try:
        for seed in range(10 if ALL else 3):
            checking.set_schedule(f"chaos:{seed}")
            assert (algorithm.segmented_reduce(values, offsets).get() == first).all()
    finally:
        checking.set_schedule("normal")


def test_a_dtype_is_that_of_the_sums(context):
    values, offsets = np.array([200, 100, 7], np.uint8), [0, 2, 3]
    assert algorithm.segmented_reduce(values, offsets, dtype=np.uint8).get().tolist() == [44, 7]
    assert algorithm.segmented_reduce(values, offsets, dtype=np.float64).dtype == np.float64
    assert algorithm.segmented_reduce(values, np.array(offsets, np.int16)).get().tolist() == [300, 7]
    # As in NumPy, where no segment is empty.
    assert (
        np.add.reduceat(values, offsets[:-1], dtype=np.uint64) == algorithm.segmented_reduce(values, offsets).get()
    ).all()


def test_nan_wins(context):
    values = np.array([1, np.nan, 3, 4], np.float32)
    for op in ("max", "min", "sum"):
        found = algorithm.segmented_reduce(values, [0, 3, 4], op).get()
        assert np.isnan(found[0]) and found[1] == 4


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_segments_are_stable(descending, context):
    offsets = offsets_of([0, 40, 1, 3000, 0, 700], 5)
    values = np.random.default_rng(2).integers(-9, 9, offsets[-1] + 9).astype(np.int32)
    found, indices = (array.get() for array in algorithm.segmented_sort(values, offsets, descending))
    for i, j in itertools.pairwise([0, *offsets, len(values)]):
        order = np.argsort(-values[i:j] if descending else values[i:j], kind="stable") + i
        np.testing.assert_array_equal(indices[i:j], order)
    np.testing.assert_array_equal(found, values[indices])


RUNS = [
    np.repeat([3, 1, 1, 3, 0], [1, 2, 4000, 1, 5]), np.array([], np.int32), np.array([5]), np.zeros(1500, bool),
    np.array([1.5, np.nan, np.nan, 2, 2], np.float32), np.array([1 + 2j, 1 + 2j, 1], np.complex64),
]  # fmt: skip


@pytest.mark.parametrize("values", RUNS, ids=lambda values: f"{values.dtype}-{len(values)}")
def test_runs_are_those_of_groupby(values, context):
    groups = [(key, len(list(group))) for key, group in itertools.groupby(values.tolist())]
    found, counts = algorithm.run_length_encode(values)
    np.testing.assert_array_equal(found.get(), np.array([key for key, _ in groups], values.dtype))
    assert counts.get().tolist() == [count for _, count in groups] and counts.dtype == np.int64
    offsets = algorithm.run_offsets(values)
    assert offsets.get().tolist() == offsets_of([count for _, count in groups]).tolist()
    np.testing.assert_array_equal(algorithm.run_length_decode(found, counts).get(), values)
    beside = np.arange(len(values), dtype=np.int32)
    keys, sums = algorithm.reduce_by_key(values, beside)
    np.testing.assert_array_equal(keys.get(), found.get())
    np.testing.assert_array_equal(sums.get(), reduced(beside, offsets.get(), "sum"))
    keys, first = algorithm.unique_by_key(values, beside)
    np.testing.assert_array_equal(first.get(), offsets.get()[:-1])


def test_a_run_of_no_elements_is_decoded_to_nothing(context):
    assert algorithm.run_length_decode(np.array([4, 5, 6], np.uint8), [0, 2, 0]).get().tolist() == [5, 5]
    assert algorithm.run_length_decode(np.zeros(0, np.uint8), np.zeros(0, int)).shape == (0,)


ONE = np.ones(3, np.float32)
ERRORS = [
    (lambda: algorithm.segmented_reduce(ONE, [0, 2, 1]), r"offsets\[2\] is 1; expected ascending .*, here from 2 to 3"),
    (lambda: algorithm.segmented_scan(ONE, [0, 4]), r"offsets\[1\] is 4; .* from 0 to 3, the number of values"),
    (lambda: algorithm.segmented_sort(ONE, [-1, 3]), r"offsets\[0\] is -1; expected ascending .*, here from 0"),
    (lambda: algorithm.segmented_reduce(ONE, np.zeros(0, int)), r"offsets has shape \(0,\); expected one axis"),
    (lambda: algorithm.segmented_reduce(ONE[None], [0, 1]), r"values has shape \(1, 3\); expected one axis"),
    (lambda: algorithm.segmented_reduce(ONE, [0, 3], "mean"), "op is 'mean'; expected 'sum', 'prod', 'max' or 'min'"),
    (lambda: algorithm.run_length_encode(ONE[None]), r"values has shape \(1, 3\); expected one axis"),
    (lambda: algorithm.run_length_decode(ONE, [1, -2, 1]), "counts has -2; expected numbers of at least 0"),
    (lambda: algorithm.run_length_decode(ONE, [1]), r"counts has shape \(1,\); expected \(3,\)"),
    (lambda: algorithm.reduce_by_key([1, 2], ONE), r"values has shape \(3,\); expected \(2,\)"),
]


@pytest.mark.parametrize("call, message", ERRORS)
def test_wrong_input_is_named(call, message, context):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_types_are_named(context):
    with pytest.raises(TypeError, match="offsets is of dtype float64; expected integers"):
        algorithm.segmented_reduce(ONE, [0.0, 3.0])
    with pytest.raises(TypeError, match="values is a masked array; expected one without a mask"):
        algorithm.segmented_reduce(np.ma.masked_equal(ONE, 2), [0, 3])
