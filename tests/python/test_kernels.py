"""Every kernel of `tests.kernels` on this stack, against its oracle.

A failure listed in `tests.kernels.expected_failures` is expected, and its
passing is a failure.
"""

import re

import numpy as np
import pytest

from tests.kernels import exact
from tests.kernels.case import KernelCase, Launch
from tests.kernels.catalogue import all_cases
from tests.kernels.compare import Exact, Ulp, Within
from tests.kernels.expected_failures import REAL, VIRTUAL
from tests.kernels.runner import Outcome, run_case, verdict, wanted
from tests.python.depth import at_depth

# Some kernels declare what they do not use; the compiler says so when it runs.
pytestmark = pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded:UserWarning")


@pytest.fixture(scope="session")
def backend(context):
    from tests.kernels.backend_pycuda import connect

    return connect()


# What variants of one program of the corpus differ by.
VARIANT = re.compile(r"_(int|float|double|long|unsigned|short|char|half|\d+|bits|digits|curandState\w*)(?=_|$)")


def cases():
    """All cases, but usually one variant of each program of the corpus; the programs take turns with the variants."""
    programs = {}
    for case in all_cases():
        is_program = case.feature.startswith("corpus.")
        programs.setdefault(VARIANT.sub("", case.name) if is_program else case.name, []).append(case)
    return at_depth([variants[i % len(variants)] for i, variants in enumerate(programs.values())], all_cases())


@pytest.mark.parametrize("case", cases(), ids=lambda c: f"{c.feature}-{c.name}")
def test_kernel(case, backend):
    complaints = run_case(backend, case)
    reason = (VIRTUAL if backend.is_virtual() else REAL).get(case.name)
    if reason is None:
        assert not complaints, "\n".join(complaints)
        return
    assert complaints, f"passes, but is listed as an expected failure: {reason}"
    pytest.xfail(reason)


def test_expected_failures_name_cases():
    names = {c.name for c in all_cases()}
    assert set(VIRTUAL) <= names
    assert set(REAL) <= names


def test_catalogue_is_large_enough():
    assert len({c.source for c in all_cases()}) >= 150


# The tests below are of the test tools: a comparison that cannot fail proves nothing.


def test_verdict_sees_a_wrong_value():
    case = KernelCase("x", "", [Launch([])], {"out": np.zeros(3)}, lambda _: {"out": np.array([1.0, 2.0, 3.0])})
    expected = wanted(case)[0]
    assert verdict(case, Outcome({"out": np.array([1.0, 2.0, 3.0])}), expected) == []
    assert verdict(case, Outcome({"out": np.array([1.0, 2.0, 3.0000000001])}), expected)


def test_exact_tells_signed_zeros_apart_and_nans_not():
    zero, nan = np.array([0.0, np.nan]), np.array([-0.0, -np.nan])
    assert Exact()(zero[:1], nan[:1])
    assert not Exact()(zero[1:], nan[1:])
    assert Exact(nan_bits=True)(zero[1:], nan[1:])


def test_ulp_counts_representable_steps():
    want = np.array([1.0], np.float64)
    up = np.nextafter(np.float32(1), np.float32(2))
    assert not Ulp(1, "")(np.array([up]), want)
    assert Ulp(0, "")(np.array([up]), want)
    assert Ulp(4, "")(np.array([np.nan], np.float32), want)
    assert Ulp(4, "")(np.array([1], np.float32), np.array([np.nan]))
    assert Within("", atol=1e-3)(np.array([1.01]), want)


@pytest.mark.parametrize("op, ufunc", [("add", np.add), ("mul", np.multiply), ("div", np.divide), ("sub", np.subtract)])
def test_exact_arithmetic_agrees_with_the_processor(op, ufunc):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 1 << 32, (2, 2000), dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        want = ufunc(a, b)
    pairs = zip(exact.bits_of(a, exact.F32), exact.bits_of(b, exact.F32), strict=True)
    got = exact.floats([getattr(exact, op)(x, y, exact.F32) for x, y in pairs], exact.F32)
    assert not Exact()(got, want)


def test_exact_square_root_and_conversion_agree_with_the_processor():
    a = np.abs(np.random.default_rng(1).integers(0, 1 << 64, 1000, dtype=np.uint64).view(np.float64))
    with np.errstate(all="ignore"):
        roots = [exact.sqrt(x, exact.F64) for x in exact.bits_of(a, exact.F64)]
        assert not Exact()(exact.floats(roots, exact.F64), np.sqrt(a))
        to_single = [exact.convert(x, exact.F64, exact.F32) for x in exact.bits_of(a, exact.F64)]
        assert not Exact()(exact.floats(to_single, exact.F32), a.astype(np.float32))
