"""What tests of NVIDIA's libraries share: numbers are compared on a GPU that has the library, errors elsewhere."""

import numpy as np
import pytest

import rtcg.numpy as xp

REAL_AND_COMPLEX = ["float32", "float64", "complex64", "complex128"]


def need(module, on_virtual_device):
    """Skip a test of numbers where the library cannot be."""
    if on_virtual_device:
        pytest.skip(f"{module.__name__} needs a GPU")
    try:
        module.version()
    except module.LibraryError as error:
        pytest.skip(str(error).splitlines()[0])


def numbers(shape, dtype="float64"):
    values = np.random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.standard_normal(shape)
    return values.astype(dtype)


def device(values, order="C"):
    """An array on the device in row-major ("C") or column-major order ("F"), or a view of every other column ("V")."""
    if order == "V":
        wide = xp.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        view = wide[..., ::2]
        view[...] = xp.asarray(values)
        return view
    if values.ndim == 3 and order == "F":
        return xp.asarray(np.ascontiguousarray(values.swapaxes(1, 2))).transpose((0, 2, 1))
    return xp.asarray(np.asarray(values, order=order))


def near(actual, expected, scale=None, factor=20):
    """Compares, relative to the largest element (or to `scale`), in units of the dtype's rounding."""
    actual = actual.get() if hasattr(actual, "get") else np.asarray(actual)
    expected = np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    eps = {"float16": 2**-10, "bfloat16": 2**-7}.get(actual.dtype.name) or np.finfo(actual.dtype).eps
    wide = "complex128" if np.iscomplexobj(expected) or np.iscomplexobj(actual) else "float64"
    scale = np.abs(expected.astype(wide)).max() if scale is None else scale
    error = np.abs(actual.astype(wide) - expected.astype(wide)).max(initial=0)
    assert error <= factor * eps * max(scale, 1e-30), (float(error), float(scale), actual.dtype)
