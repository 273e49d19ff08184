"""The list of all kernel cases."""

from __future__ import annotations

from functools import cache

from tests.kernels import FEATURES
from tests.kernels.case import KernelCase


@cache
def all_cases() -> tuple[KernelCase, ...]:
    """Every case, feature by feature; two cases of one name are an error."""
    from importlib import import_module

    cases: list[KernelCase] = []
    for feature in FEATURES:
        cases += import_module(f"tests.kernels.{feature}").SUITE.cases
    names = [c.name for c in cases]
    if len(set(names)) != len(names):
        raise ValueError(f"duplicate cases: {sorted({n for n in names if names.count(n) > 1})}")
    return tuple(cases)


def select(names: list[str]) -> list[KernelCase]:
    """The cases with one of the given names or features; all if none is given."""
    chosen = [c for c in all_cases() if not names or c.name in names or c.feature in names]
    if unknown := set(names) - {c.name for c in chosen} - {c.feature for c in chosen}:
        raise SystemExit(f"no such case or feature: {sorted(unknown)}")
    return chosen
