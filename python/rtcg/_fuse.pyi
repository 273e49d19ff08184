"""`rtcg.fuse`: combines a chain of array operations into one kernel."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from rtcg._native import FusionError as FusionError

__all__ = ["FusionError", "fuse"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

class fuse:  # noqa: N801
    """Compute array operations together, in one kernel instead of one each.

    As a decorator, ``@rtcg.fuse`` combines the operations of a function; as a context manager, ``with rtcg.fuse():``
    combines those of the block.

    Parameters
    ----------
    function : callable, optional
        The function to decorate.

    Notes
    -----
    Inside, element-wise operations (operators, comparisons, NumPy's array functions such as ``np.exp``, ``np.where``,
    ``astype``, ``out=`` and in-place operators) are deferred: they return arrays without memory, with the shape and
    dtype that they would otherwise have. They are computed when the block or the function ends, or when something needs
    their memory: `GPUArray.get`, printing, a kernel, an operation that is not element-wise. Arrays that are no longer
    referenced by then, such as the intermediate results of an expression, are never stored. A reduction of a deferred
    array is computed at once, in one kernel with the expression.

    Results equal those of the separate operations bit for bit. Different shapes give different kernels. Fusion does not
    wait for the device.

    An exception that leaves a block ends it in the same way. Blocks can be nested; the outermost one counts. They
    belong to their thread.

    Raises
    ------
    FusionError
        If a decorated function reads elements of an array, as ``if a > 0`` does. The message names the line. (In a
        block this is allowed: it computes the operations deferred so far.)

    Examples
    --------
    >>> @rtcg.fuse
    ... def smooth(x, y, t):
    ...     return np.where(x > y, x * t + y * (1 - t), np.sqrt(y))
    """

    @overload
    def __new__(cls, function: Callable[_P, _R]) -> Callable[_P, _R]: ...  # type: ignore[misc]
    @overload
    def __new__(cls, function: None = None) -> fuse: ...
    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]: ...
    def __enter__(self) -> fuse: ...
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool: ...
    @staticmethod
    def flush() -> None: ...
