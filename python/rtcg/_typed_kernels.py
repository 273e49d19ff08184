"""Kernels from snippets with types that each call determines, in CuPy's declarations; public in `rtcg.elementwise`."""

from __future__ import annotations

import contextlib
import re
import textwrap

from rtcg import _native
from rtcg._arguments import ScalarArg, VectorArg
from rtcg._lazy import np
from rtcg._messages import shown
from rtcg._pickling import PickledByArguments, remembers_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rtcg._arguments import Argument
    from rtcg._native import Stream
    from rtcg.numpy import GPUArray

_DECLARATION = r"\s*(?:raw\s+)?(?!return\b|goto\b)[A-Za-z_]\w*(?:\s+\w+)*\s+[A-Za-z_]\w*\s*"
_DECLARATIONS = re.compile(rf"{_DECLARATION}(?:,{_DECLARATION})*")
_PYTHON_NUMBERS = {bool: "?", int: "i8", float: "f8", complex: "c16"}


def are_typed(args: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """Whether the second argument of a kernel declares outputs, where PyCUDA's forms have an expression."""
    outputs = args[1] if len(args) > 1 else keywords.get("out_params")
    return isinstance(outputs, str) and _DECLARATIONS.fullmatch(outputs) is not None


def _reject_indices(names: Sequence[str], operation: str) -> None:
    """Raise ValueError if the operation indexes an array that is not raw: there the name is already an element."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", operation, flags=re.DOTALL)
    for name in names:
        if re.search(rf"(?<![\w.>]){re.escape(name)}\s*\[", code):
            raise ValueError(
                f"the operation indexes {name!r}, which stands for one element in this form: write {name!r} without an "
                f"index, or declare it 'raw'"
            )


def _type_given(name: str, value: Any) -> tuple[np.dtype[Any] | None, bool]:
    """``(dtype, whether it is an array)`` for an argument of a call."""
    if value is None:
        return None, False
    if hasattr(value, "__cuda_array_interface__"):
        dtype = getattr(value, "dtype", None)
        return np.dtype(value.__cuda_array_interface__["typestr"] if dtype is None else dtype), True
    if isinstance(value, np.generic):
        return value.dtype, False
    letter = _PYTHON_NUMBERS.get(type(value))
    if letter is None:
        raise TypeError(f"argument {name!r} is {shown(value)}; expected an array on the device or a number")
    return np.dtype(letter), False


class _TypedKernel(PickledByArguments):
    """Base class of kernels with letters for types: binding of parameters, and one kernel per choice of types."""

    def __init__(self, in_params: str, out_params: str, operation: str, name: str) -> None:
        self._snippet = _native.TypedSnippet(in_params, out_params, operation)
        _reject_indices([name for name, is_raw in self._snippet.params if not is_raw], operation)
        self._in, self._out, self._operation = in_params, out_params, operation
        self.name = name
        self._kernels: dict[Any, Any] = {}

    def _make(self, arguments: Sequence[Argument], operation: str) -> Any:
        """The kernel for these types."""
        raise NotImplementedError

    def __repr__(self) -> str:
        text = textwrap.shorten(self._operation, 60, placeholder=" ...")
        return f"<{self.__module__}.{type(self).__qualname__} {self.name}({self._in}) -> {self._out}: {text}>"

    def _bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each parameter; None for outputs that the call creates."""
        names = [name for name, _ in self._snippet.params]
        if len(args) > len(names):
            raise TypeError(
                f"kernel {self.name!r} takes {len(names)} arguments ({', '.join(names)}), {len(args)} were given"
            )
        values = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names or name in values:
                raise TypeError(f"kernel {self.name!r} has no other argument {name!r}; it takes {', '.join(names)}")
            values[name] = value
        missing = [name for name in names[: self._snippet.n_inputs] if values.get(name) is None]
        if missing:
            raise TypeError(f"kernel {self.name!r} lacks its argument {shown(missing[0])}; it takes {', '.join(names)}")
        return {name: values.get(name) for name in names}

    def _kernel(self, values: Mapping[str, Any]) -> Any:
        """The kernel for the types of these values, which `_make` creates from arguments (outputs first) and the
        snippet.
        """
        given = self._types_given(values)
        if given not in self._kernels:
            parts, operation = self._snippet.fill(list(given))
            arguments = [
                VectorArg(dtype, name, is_const) if is_vector else ScalarArg(dtype, name)
                for is_vector, is_const, dtype, name in parts
            ]
            self._kernels[given] = self._make(arguments, operation)
        return self._kernels[given]

    def _types_given(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(_type_given(name, value) for name, value in values.items())

    @contextlib.contextmanager
    def _users_lines_in_errors(self, values: Mapping[str, Any]) -> Iterator[None]:
        """Make compile errors quote the operation as the user wrote it."""
        from rtcg.driver import CompileError

        try:
            yield
        except CompileError as error:
            given = list(self._types_given(values))
            error.stderr = error.stderr and self._snippet.restore_quotes(given, error.stderr)
            error._readable_log = error._readable_log and self._snippet.restore_quotes(given, error._readable_log)
            error.args = (error.msg, error.command_line, error.stdout, error.stderr)
            raise

    def _split(self, values: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """The inputs and the outputs, in order."""
        found = list(values.values())
        return found[: self._snippet.n_inputs], found[self._snippet.n_inputs :]

    def _elementwise_shape(self, values: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The broadcast shape of the inputs that the snippet uses element by element, or None if there are none."""
        inputs = list(self._snippet.params)[: self._snippet.n_inputs]
        given = [values[name] for name, is_raw in inputs if not is_raw]
        shapes = [tuple(value.shape) for value in given if hasattr(value, "__cuda_array_interface__")]
        return np.broadcast_shapes(*shapes) if shapes else None


class TypedElementwiseKernel(_TypedKernel):
    """An elementwise kernel for arrays of any type: the form of `ElementwiseKernel` with CuPy's declarations.

    Parameters
    ----------
    in_params, out_params : str
        Declarations of inputs and outputs: ``"T x, float32 y, raw T table"``. A single letter stands for the type of
        the arguments that have it; other types are names of NumPy or C. The operation itself indexes arrays that are
        declared ``raw``.
    operation : str
        Statements on elements, which have the names of their arrays. ``i`` is the index, ``n`` or ``_ind.size()`` the
        number of elements.
    name, preamble, options, keep, loop_prep, after_loop
        As for :class:`rtcg.elementwise.ElementwiseKernel`.
    no_return, return_tuple : bool
        Return None, or a tuple even for one output.

    Notes
    -----
    A call, ``kernel(*inputs, *outputs, size=None, stream=None)``, enqueues the kernel, does not wait, and returns the
    outputs: the given ones (by position or name), or new arrays with the broadcast shape of the inputs. `size` is the
    number of elements if no input is used element by element. Inputs may be numbers, which determine the type of a
    letter only if no array does.

    A call raises TypeError if arrays give one letter two types or an argument is missing, and ValueError if shapes do
    not fit. Each choice of types is compiled on its first call.
    """

    __module__ = "rtcg.elementwise"

    @remembers_arguments
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
        **settings: Any,
    ) -> None:
        super().__init__(in_params, out_params, operation, name)
        self._settings: dict[str, Any] = {"preamble": preamble, **settings}
        self._no_return, self._return_tuple = no_return, return_tuple

    def _make(self, arguments: Sequence[Argument], operation: str) -> Any:
        from rtcg.elementwise import ElementwiseKernel

        settings = self._settings | {"options": list(self._settings.get("options") or ())}
        return ElementwiseKernel(arguments, operation, self.name, **settings)

    def __call__(
        self,
        *args: Any,
        size: int | None = None,
        stream: Stream | None = None,
        block_size: int | None = None,
        **named: Any,
    ) -> Any:
        from rtcg.numpy import empty

        values = self._bind(args, named)
        kernel = self._kernel(values)
        inputs, outputs = self._split(values)
        shape = self._shape(values, size, outputs)
        declared = kernel.arguments[: len(outputs)]
        for index, (given, argument) in enumerate(zip(outputs, declared, strict=True)):
            if given is None:
                outputs[index] = empty(shape, argument.dtype)
            elif tuple(given.shape) != shape:
                raise ValueError(f"output {argument.name!r} has shape {tuple(given.shape)}; expected {shape}")
        with self._users_lines_in_errors(values):
            kernel(*outputs, *inputs, stream=stream)
        if self._no_return:
            return None
        return outputs[0] if len(outputs) == 1 and not self._return_tuple else tuple(outputs)

    def _shape(self, values: Mapping[str, Any], size: int | None, outputs: Sequence[Any]) -> tuple[int, ...]:
        shape = self._elementwise_shape(values)
        if size is not None:
            if shape is not None:
                raise ValueError(f"size is {size}, but inputs that are not raw have the shape {shape}")
            return (size,)
        if shape is None:
            shape = next((tuple(out.shape) for out in outputs if out is not None), None)
        if shape is None:
            raise ValueError(f"kernel {self.name!r} does not know how many elements there are; give size= or an output")
        return shape


class TypedReductionKernel(_TypedKernel):
    """A reduction of arrays of any type: the form of `ReductionKernel` with CuPy's declarations.

    Parameters
    ----------
    in_params, out_params : str
        As for :class:`TypedElementwiseKernel`; one output.
    map_expr : str
        The value of an element, with the type of the output.
    reduce_expr : str
        Combines ``a`` and ``b``; associative and commutative.
    post_map_expr : str
        The statement that computes the output from the reduced value ``a``, such as ``"y = sqrt(a)"``.
    identity : str or number
        The neutral element.
    name, preamble, options
        As for :class:`rtcg.reduction.ReductionKernel`.
    reduce_type : str or dtype, optional
        The type of intermediate values, by default that of the output.

    Notes
    -----
    A call, ``kernel(*inputs, axis=None, keepdims=False, out=None, stream=None)``, enqueues one kernel, and a second one
    if `post_map_expr` is more than ``y = a``, does not wait, and returns the result.
    """

    __module__ = "rtcg.reduction"

    @remembers_arguments
    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str | complex,
        name: str = "reduce_kernel",
        reduce_type: Any = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(in_params, out_params, map_expr, name)
        names = [name for name, _ in self._snippet.params]
        if len(names) - self._snippet.n_inputs != 1:
            raise ValueError(f"out_params is {shown(out_params)}; expected one output")
        self._reduce, self._identity, self._type = reduce_expr, identity, reduce_type
        self._settings: dict[str, Any] = {"preamble": preamble, "options": list(options)}
        is_plain = re.fullmatch(rf"\s*{names[-1]}\s*=\s*a\s*;?\s*", post_map_expr)
        self._post = (
            None
            if is_plain
            else TypedElementwiseKernel("A a", out_params, post_map_expr, f"{name}_post", preamble=preamble)
        )

    def _make(self, arguments: Sequence[Argument], operation: str) -> Any:
        from rtcg.reduction import ReductionKernel

        out, *inputs = arguments
        dtype = out.dtype if self._type is None else np.dtype(self._type)
        kernel = ReductionKernel(dtype, self._identity, self._reduce, operation, inputs, self.name, **self._settings)
        return kernel, out.dtype

    def __call__(
        self,
        *args: Any,
        axis: int | Sequence[int] | None = None,
        keepdims: bool = False,
        out: GPUArray | None = None,
        stream: Stream | None = None,
        **named: Any,
    ) -> GPUArray:
        from rtcg.numpy import empty

        values = self._bind(args, named)
        *inputs, given = values.values()
        out = given if out is None else out
        kernel, dtype = self._kernel({**values, list(values)[-1]: out})
        target = out if self._post is None and kernel.dtype_out == dtype else None
        with self._users_lines_in_errors({**values, list(values)[-1]: out}):
            result = kernel(*inputs, axis=axis, keepdims=keepdims, stream=stream, out=target)
        if self._post is not None:
            return self._post(result, empty(result.shape, dtype) if out is None else out, stream=stream)
        if kernel.dtype_out != dtype:
            result = result.astype(dtype)
        if out is not None and target is None:
            out[...] = result
            return out
        return result
