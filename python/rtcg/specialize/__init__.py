"""Specialisers: programs of known patterns, with kernels of their own.

A specialiser recognises what a program computes and generates a kernel for it, as those of the SEJITS project did.
`stencil` makes one of a Python function that reads the neighbours of an element; `register` adds others' specialisers.
`category_reduce`, `histogram`, `kmeans` and `convolve` are called with arrays.

Names are imported when they are first used.
"""

from __future__ import annotations as _annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

if _TYPE_CHECKING:
    from rtcg.specialize._category import (
        bincount as bincount,
        category_reduce as category_reduce,
        histogram as histogram,
    )
    from rtcg.specialize._class_style import Stencil as Stencil
    from rtcg.specialize._convolve import convolve as convolve
    from rtcg.specialize._kmeans import KMeansResult as KMeansResult, kmeans as kmeans
    from rtcg.specialize._registry import (
        Generated as Generated,
        Model as Model,
        Specialiser as Specialiser,
        register as register,
        specialisers as specialisers,
        unregister as unregister,
    )
    from rtcg.specialize._stencil import (
        StencilFunction as StencilFunction,
        recognise as recognise,
        stencil as stencil,
    )

#: The modules of this package's names.
_MODULES = {
    "Generated": "_registry",
    "KMeansResult": "_kmeans",
    "Model": "_registry",
    "Specialiser": "_registry",
    "Stencil": "_class_style",
    "StencilFunction": "_stencil",
    "bincount": "_category",
    "category_reduce": "_category",
    "convolve": "_convolve",
    "histogram": "_category",
    "kmeans": "_kmeans",
    "recognise": "_stencil",
    "register": "_registry",
    "specialisers": "_registry",
    "stencil": "_stencil",
    "unregister": "_registry",
}

__all__ = [
    "Generated", "KMeansResult", "Model", "Specialiser", "Stencil", "StencilFunction", "bincount", "category_reduce",
    "convolve", "histogram", "kmeans", "recognise", "register", "specialisers", "stencil", "unregister",
]  # fmt: skip


def __getattr__(name: str) -> _Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
