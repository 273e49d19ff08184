"""Programs of data-parallel Python at all places: the behaviours of `copperhead_behaviours.py`, and the examples."""

import importlib.util
import sys
from collections import Counter

import copperhead_behaviours
import numpy as np
import pytest

from rtcg.copperhead import places, ragged, to_numpy
from tests.python.subprocesses import ROOT

PLACES = [places.here, places.gpu0]
BEHAVIOURS = copperhead_behaviours.BEHAVIOURS
#: What devices do otherwise, with the reason.
ONLY_HERE = {
    "scatter: the last of repeated indices": "of several values for one index, a device keeps any one",
    "update: nothing": "an empty list has no element type, which a program is compiled for",
}
EXAMPLES = ROOT / "examples" / "copperhead"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "harness")


def assert_equal(found, expected, rtol, typed):
    """Two results have the same structure, dtypes and values."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected), found
        for part, other in zip(found, expected, strict=True):
            assert_equal(part, other, rtol, typed)
    elif isinstance(expected, ragged):
        assert isinstance(found, ragged), found
        np.testing.assert_array_equal(found.offsets, expected.offsets)
        assert_equal(found.values, expected.values, rtol, typed)
    else:
        assert isinstance(found, (np.ndarray, np.generic)), type(found)
        assert found.shape == expected.shape
        assert not typed or found.dtype == expected.dtype
        if expected.dtype.names is None:
            np.testing.assert_allclose(found, expected, rtol=rtol, strict=typed)
            assert signs_of_zeros(found) == signs_of_zeros(expected)
        else:
            np.testing.assert_array_equal(found, expected)


def signs_of_zeros(values):
    """Which zeros are negative; of complex numbers those of both parts."""
    values = np.ravel(values)
    parts = [values.real, values.imag] if values.dtype.kind == "c" else [values] if values.dtype.kind == "f" else []
    return [np.signbit(part[part == 0]).tolist() for part in parts]


def test_each_behaviour_has_a_name_of_its_own():
    assert [name for name, times in Counter(each.name for each in BEHAVIOURS).items() if times > 1] == []
    assert len(BEHAVIOURS) > 170


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name.replace("[", "("))
def test_behaviours(behaviour, place):
    if place is not places.here and behaviour.name in ONLY_HERE:
        pytest.skip(ONLY_HERE[behaviour.name])
    call = lambda: to_numpy(behaviour.program(*behaviour.args, target_place=place))  # noqa: E731
    if behaviour.raises is not None:
        with pytest.raises(behaviour.raises) as raised:
            call()
        assert behaviour.match in str(raised.value)
    else:
        assert_equal(call(), behaviour.expected, behaviour.rtol, behaviour.typed)


def load_example(name):
    """The module of an example, beside which its harness is found."""
    spec = importlib.util.spec_from_file_location(f"copperhead_example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    return module


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@pytest.mark.parametrize("name", PROGRAMS)
def test_examples_find_their_results_right(name, place, capsys):
    load_example(name).main(["--place", place.name])
    assert f"at {place.name}" in capsys.readouterr().out


def test_a_wrong_result_fails_an_example(monkeypatch):
    example = load_example("axpy")
    monkeypatch.setattr(example, "axpy_by_comprehension", lambda a, x, y: np.asarray(x))
    with pytest.raises(AssertionError):
        example.main(["--place", "here"])
