"""Syntax trees as the source of tuned kernels: their transformations name parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def is_tree(source: Any) -> bool:
    """Whether `source` is a syntax tree of this package or of the package cgen."""
    return not callable(source) and hasattr(source, "generate")


def tree_parameters(source: Any, config: dict[str, Any], names: Iterable[str]) -> dict[str, list[int]]:
    """The parameters named by a tree, or by the tree that a function returns for a configuration: values by name."""
    from rtcg.cgen.transform import parameters

    if callable(source):
        source = source(**{name: config[name] for name in names})
    return parameters(source) if is_tree(source) else {}
