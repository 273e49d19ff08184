"""`rtcg.fuse`: a chain of array operations becomes one kernel."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from rtcg._native import FusionError as FusionError

__all__ = ["FusionError", "fuse"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

class fuse:  # noqa: N801
    """Compute array operations together, as one kernel instead of one each.

    As a decorator, ``@rtcg.fuse`` makes one kernel of the operations of a function; as a context,
    ``with rtcg.fuse():`` of those inside of the block.

    Parameters
    ----------
    function : callable, optional
        What the decorator stands above.

    Notes
    -----
    Inside, operations element by element (operators, comparisons, NumPy's functions of arrays such as
    ``np.exp``, ``np.where``, ``astype``, ``out=`` and operators in place) return arrays whose memory
    does not exist yet, with the shape and dtype that they would have anyway. They are computed when
    the block or the function ends, or when something needs their memory: `GPUArray.get`, printing, a
    kernel, an operation that is not element by element. Arrays that nothing refers to by then, such as
    the intermediate results of an expression, are never stored. A reduction of such an array is
    computed at once, in one kernel with the expression.

    Results equal those of the separate operations bit for bit. Different shapes make different
    kernels. Nothing waits for the device.

    A block ends in the same way when an exception leaves it. Blocks nest; the outermost counts. They
    belong to their thread.

    Raises
    ------
    FusionError
        If a decorated function reads elements of an array, as ``if a > 0`` does. The message names
        the line. (In a block this is allowed: it computes what was deferred so far.)

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
