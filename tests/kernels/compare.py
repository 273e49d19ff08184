"""Comparisons of a result with its oracle; each returns a list of complaints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_UINT = {2: np.uint16, 4: np.uint32, 8: np.uint64}


class Comparison(Protocol):
    """Decides whether `got` is an acceptable value of `want`."""

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]: ...


def _show(value: np.generic) -> str:
    """The value, with its bits if it is a float."""
    bits = f" (0x{value.view(_UINT[value.itemsize]):x})" if value.dtype.kind == "f" and value.itemsize in _UINT else ""
    return f"{value}{bits}"


def _report(bad: np.ndarray, got: np.ndarray, want: np.ndarray, what: str) -> list[str]:
    count = int(bad.sum())
    if not count:
        return []
    first = [int(i) for i in np.flatnonzero(bad)[:4]]
    shown = ", ".join(f"[{i}] got {_show(got.ravel()[i])} want {_show(want.ravel()[i])}" for i in first)
    return [f"{count} of {bad.size} {what}: {shown}"]


def _same_shape(got: np.ndarray, want: np.ndarray) -> list[str]:
    if got.shape != want.shape or got.dtype != want.dtype:
        return [f"oracle gives {want.dtype}{want.shape}, buffer is {got.dtype}{got.shape}"]
    return []


@dataclass(frozen=True)
class Exact:
    """Equal bit for bit. NaNs are equal to each other unless `nan_bits`."""

    nan_bits: bool = False

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]:
        if wrong := _same_shape(got, want):
            return wrong
        if got.dtype.names:
            # Field by field: padding has no defined contents.
            return [f"{n}: {c}" for n in got.dtype.names for c in self(np.ascontiguousarray(got[n]), np.ascontiguousarray(want[n]))]
        if got.dtype.kind == "c":
            part = np.float32 if got.dtype.itemsize == 8 else np.float64
            return self(got.view(part), want.view(part))
        if got.dtype.kind != "f":
            return _report((got != want).ravel(), got, want, "values differ")
        uint = _UINT[got.dtype.itemsize]
        same = np.ascontiguousarray(got).view(uint) == np.ascontiguousarray(want).view(uint)
        if not self.nan_bits:
            same |= np.isnan(got) & np.isnan(want)
        return _report(~same.ravel(), got, want, "floats differ in bits")


def _ordinal(a: np.ndarray) -> np.ndarray:
    """Map floats to integers such that neighbours differ by one; -0 and 0 coincide."""
    bits = np.ascontiguousarray(a).view(_UINT[a.dtype.itemsize]).astype(object).ravel()
    top = 1 << (8 * a.dtype.itemsize - 1)
    return np.array([int(b) if b < top else top - int(b) for b in bits], dtype=object)


@dataclass(frozen=True)
class Ulp:
    """At most `bound` representable steps from the correctly rounded oracle.

    The oracle is given in higher precision (float64 for float32, longdouble
    for float64) and rounded here. `source` says where the bound comes from.
    `atol` accepts a small absolute difference instead, where CUDA states one.
    """

    bound: float
    source: str
    atol: float = 0.0

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]:
        if got.shape != want.shape:
            return [f"oracle has shape {want.shape}, buffer has {got.shape}"]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            rounded = want.astype(got.dtype)
            near = np.abs(got.astype(want.dtype) - want) <= self.atol
        steps = np.array([abs(int(d)) for d in _ordinal(got) - _ordinal(rounded)], dtype=object)
        nan = np.isnan(rounded).ravel()
        bad = np.where(nan, ~np.isnan(got).ravel(), (steps > self.bound) | np.isnan(got).ravel())
        bad = bad.astype(bool) & ~near.ravel()
        worst = max((int(s) for s, skip in zip(steps, nan) if not skip), default=0)
        return _report(bad, got, rounded, f"off by more than {self.bound} ulp (worst {worst})")


@dataclass(frozen=True)
class Within:
    """|got - want| <= atol + rtol * |want|, with NaN and infinities equal to themselves."""

    source: str
    atol: float = 0.0
    rtol: float = 0.0

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]:
        if got.shape != want.shape:
            return [f"oracle has shape {want.shape}, buffer has {got.shape}"]
        bad = ~np.isclose(got, want, rtol=self.rtol, atol=self.atol, equal_nan=True)
        return _report(bad.ravel(), got, want, f"off by more than {self.atol} + {self.rtol}|x|")


@dataclass(frozen=True)
class Where:
    """Compare only the elements that CUDA defines: those where `mask` is true."""

    mask: np.ndarray
    inner: Comparison = Exact()

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]:
        return self.inner(got[self.mask], want[self.mask])


@dataclass(frozen=True)
class Predicate:
    """Any value that satisfies `holds(got, want)`; `what` says the property."""

    what: str
    holds: Callable[[np.ndarray, np.ndarray], bool]

    def __call__(self, got: np.ndarray, want: np.ndarray) -> list[str]:
        return [] if self.holds(got, want) else [f"does not hold: {self.what}; got {got.ravel()[:8]}"]
