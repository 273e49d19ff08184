"""Kernels that execute a C snippet for each element of arrays, with any layout and with broadcasting."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native
from rtcg._arguments import ScalarArg, VectorArg, parse_arguments
from rtcg._messages import shown
from rtcg._pickling import PickledByArguments, remembers_arguments
from rtcg._typed_kernels import TypedElementwiseKernel, are_typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtcg._arguments import Argument
    from rtcg._native import Function, TextureReference

__all__ = ["ElementwiseKernel", "ScalarArg", "TypedElementwiseKernel", "VectorArg"]


class ElementwiseKernel(PickledByArguments, _native.ElementwiseKernel):
    """A kernel that executes a C snippet for each element.

    There are two forms. With C declarations, the snippet indexes arrays with ``i``::

        ElementwiseKernel("float *z, const float *x, float a", "z[i] = a * x[i]")

    With declarations of inputs and of outputs, as in CuPy, calls may determine the types, elements have the names of
    their arrays, and calls return new arrays; the parameters are those of
    :class:`rtcg.elementwise.TypedElementwiseKernel`::

        ElementwiseKernel("T x, T y", "T z", "z = x * y")

    Parameters
    ----------
    arguments : str or sequence
        C declarations such as ``"float a, float *x, const int *y"``, or `VectorArg` and `ScalarArg`.
    operation : str
        Statements that use ``i``; ``n``, ``tid``, ``total_threads`` and ``cta_start`` are also defined.
    name : str
        Name of the kernel.
    keep : bool
        Keep the compiler's input and output.
    options : sequence of str, optional
        Options for the compiler.
    preamble : str
        Source before the kernel: functions, types.
    loop_prep, after_loop : str
        Statements before and after the loop over ``i``.

    Notes
    -----
    A call, ``kernel(*args, range=None, slice=None, stream=None)``, enqueues the kernel and does not wait. Arrays that
    the snippet uses only as ``x[i]`` are broadcast and may have any strides; others must be indexed in C order. With
    `range` (a slice or range) or `slice` (of the first array) only those ``i`` are executed; non-contiguous arrays are
    then indexed in C order, through contiguous copies. A `range` is not checked against the sizes of arrays, since the
    snippet may compute its indices from ``i`` (``z[i / 2]``, ``x[i - 5]``): as in any kernel, its author must keep them
    in bounds.

    A call raises TypeError if the elements of an array have another kind or size than its argument declares. Signed and
    unsigned integers, half precision and 16-bit integers, and structures of the same size may replace each other, and
    memory without a type (``array.gpudata``) is not checked; with ``RTCG_ARGUMENT_TYPES=0`` in the environment only
    sizes are compared. Raises ValueError if an array is in memory of another device that the current one cannot access.

    Each variant (contiguous, with wide accesses, strided) is compiled on first use and cached on disk.
    """

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if cls is ElementwiseKernel and are_typed(args, keywords):
            return TypedElementwiseKernel(*args, **keywords)
        return super().__new__(cls, *args, **keywords)

    @overload
    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: str,
    ) -> None: ...

    @overload
    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        keep: bool = False,
        options: Sequence[str] | None = None,
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None: ...

    @remembers_arguments  # type: ignore[misc]  # `__new__` makes the second form another class
    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: str,
    ) -> None:
        arguments = parse_arguments(arguments)
        super().__init__(arguments, operation, name, keep, options, **kwargs)
        self.arguments: tuple[Argument, ...] = tuple(arguments)
        self._snippet = operation

    if TYPE_CHECKING:
        # None in the form with C declarations; outputs in the form with types that calls determine.
        def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    def __repr__(self) -> str:
        return kernel_repr(self, self._snippet)

    def generate_stride_kernel_and_types(self, use_range: bool) -> tuple[Any, Function, list[Argument]]:
        """Return ``(module, prepared function, arguments)`` of the variant for contiguous arrays."""
        return prepared_kernel(ElementwiseModule(self, use_range), self.name, list(self.arguments), use_range)


def show_parameters(kernel_class: type) -> None:
    """Make `help` and `inspect` show the parameters of a class's `__init__` instead of those of its `__new__`."""
    shown_class: Any = kernel_class
    parameters = list(inspect.signature(shown_class.__init__).parameters.values())[1:]
    shown_class.__signature__ = inspect.Signature(parameters)


show_parameters(ElementwiseKernel)


def kernel_repr(kernel: Any, snippet: str) -> str:
    """A generated kernel on one line: its class, name, arguments and the beginning of its snippet."""
    arguments = ", ".join(argument.declarator() for argument in kernel.arguments)
    text = textwrap.shorten(snippet, 60, placeholder=" ...")
    return f"<{type(kernel).__module__}.{type(kernel).__qualname__} {kernel.name}({arguments}): {text}>"


def prepared_kernel(
    module: ElementwiseModule, name: str, arguments: list[Argument], use_range: bool
) -> tuple[ElementwiseModule, Function, list[Argument]]:
    """``(module, prepared function, arguments)`` of a kernel, with the arguments for its size or range."""
    parts = [(np.int64, part) for part in ("start", "stop", "step")] if use_range else [(np.uint64, "n")]
    arguments = arguments + [ScalarArg(dtype, part) for dtype, part in parts]
    function = module.get_function(name)
    function.prepare("".join(argument.struct_char for argument in arguments))
    return module, function, arguments


class ElementwiseModule:
    """A program with the kernel of an :class:`ElementwiseKernel` for contiguous arrays."""

    def __init__(self, kernel: ElementwiseKernel, use_range: bool) -> None:
        self._kernel, self._use_range = kernel, use_range

    def get_function(self, name: str) -> Function:
        """Return the kernel, which has the name of the :class:`ElementwiseKernel`."""
        if name != self._kernel.name:
            raise ValueError(f"the module has the kernel {shown(self._kernel.name)}, not {shown(name)}")
        return self._kernel._compiled_function(self._use_range)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return ``(address, size in bytes)`` of a variable of the preamble."""
        return self._kernel._compiled_module(self._use_range).get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """Return the texture reference with this name in the preamble."""
        return self._kernel._compiled_module(self._use_range).get_texref(name)
