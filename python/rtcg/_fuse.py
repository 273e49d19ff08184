"""`rtcg.fuse`: combines a chain of array operations into one kernel."""

from __future__ import annotations

import functools
import linecache

from rtcg import _native
from rtcg._native import FusionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, Literal, ParamSpec, TypeVar, overload

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

__all__ = ["FusionError", "fuse"]


class fuse:  # noqa: N801 (used as a decorator and in `with`, as a function is)
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

    if TYPE_CHECKING:

        @overload
        def __new__(cls, function: Callable[_P, _R]) -> Callable[_P, _R]: ...  # type: ignore[misc]  # no instance

        @overload
        def __new__(cls, function: None = None) -> fuse: ...

    def __new__(cls, function: Any = None) -> Any:
        if function is None:
            return super().__new__(cls)
        if not callable(function):
            raise TypeError(f"rtcg.fuse takes a function, got {type(function).__name__}")
        return _fuse_function(function)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        return _fuse_function(function)

    def __enter__(self) -> fuse:
        _native.fuse_enter(False)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Literal[False]:
        _end_fused_block(False, kind is not None)
        return False

    @staticmethod
    def flush() -> None:
        """Compute the operations that this thread has deferred, as needed before work that uses addresses from
        elsewhere.
        """
        _native.fuse_flush()


def _end_fused_block(traced: bool, is_failing: bool) -> None:
    """End a block; an exception in flight is not replaced by one that follows from it."""
    try:
        _native.fuse_leave(traced)
    except Exception:
        if not is_failing:
            raise


def _fuse_function(function: Callable[_P, _R]) -> Callable[_P, _R]:
    @functools.wraps(function)
    def fused(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        _native.fuse_enter(True)
        failing = True
        try:
            result = function(*args, **kwargs)
            failing = False
        except FusionError as error:
            raise _add_source_line(function, error) from None
        finally:
            _end_fused_block(True, failing)
        return result

    return fused


def _add_source_line(function: Callable[..., Any], error: FusionError) -> FusionError:
    """The error with the line of the function, or of a function that it called, that read elements."""
    if getattr(error, "line", None) is not None:
        return error
    frames = []
    step = error.__traceback__
    while step is not None:
        frames.append((step.tb_frame.f_code, step.tb_lineno))
        step = step.tb_next
    # The last frame outside of this package is the user's.
    own = [(code, line) for code, line in frames[1:] if not _is_package_code(code)] or frames[-1:]
    code, line = own[-1]
    text = linecache.getline(code.co_filename, line).strip()
    name = getattr(function, "__name__", "a function")
    named = FusionError(
        f"{code.co_filename}:{line}: `{text}` in the fused function {name}() needs elements of an array, which are "
        f"not computed yet; use rtcg.numpy.where() in place of a branch, or return the array"
    )
    named.line = line
    return named


def _is_package_code(code: CodeType) -> bool:
    return code.co_filename.rpartition("/")[0] == __file__.rpartition("/")[0]
