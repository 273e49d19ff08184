"""Arguments that functions of `rtcg.numpy` take as NumPy's do, or refuse as NumPy's do."""

import numpy as np
import pytest

import rtcg.numpy as xp

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_nan_to_num_replaces_both_parts_of_complex_numbers(dtype):
    a = np.array([complex(np.nan, 1), complex(2, -np.inf), 3 + 4j], dtype)
    result = xp.nan_to_num(xp.to_gpu(a), nan=7)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result.get(), np.nan_to_num(a, nan=7))


def test_operands_may_be_lists():
    assert xp.inner([1, 2], [3, 4]).get() == 11 and xp.inner([1, 2], 3).get().tolist() == [3, 6]
    assert xp.diff([1, 3, 2]).get().tolist() == [2, -1]


@pytest.mark.parametrize("name", ["modf", "spacing"])
def test_complex_numbers_are_refused(name):
    with pytest.raises(TypeError, match=f"{name}: x has dtype complex128; expected real numbers"):
        getattr(xp, name)([1j])


@pytest.mark.parametrize("name", ["mean", "var", "std", "argmin", "argmax", "count_nonzero"])
def test_reductions_without_a_first_value_refuse_one(name):
    """It was ignored, or compared with the elements' indices."""
    with pytest.raises(TypeError, match=f"{name}: initial is 3"):
        getattr(xp, name)([1, 2], initial=3)
    with pytest.raises(TypeError):
        getattr(np, name)([1, 2], initial=3)
