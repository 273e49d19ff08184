"""Contexts, memoisation, and C types of dtypes."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numpy.typing import DTypeLike

from pycuda._rtcg import Context, Device

_P = ParamSpec("_P")
_R = TypeVar("_R")

def bitlog2(n: int) -> int: ...
def make_default_context(ctx_maker: Callable[[Device], Context] | None = None) -> Context: ...
def get_default_device(default: int = 0) -> Device: ...

context_dependent_memoized_functions: list[Callable[..., Any]]

def context_dependent_memoize(func: Callable[_P, _R]) -> Callable[_P, _R]: ...
def clear_context_caches() -> None: ...
def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str: ...
