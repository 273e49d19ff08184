"""The decorator `stencil`, and calls of stencils."""

from __future__ import annotations

import functools
import inspect
import threading
import time
import types
import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native
from rtcg._conversions import as_flag, as_integer, as_number, as_text
from rtcg._messages import shown
from rtcg.copperhead._compiled import check_argument, check_arguments, name_other_device, named
from rtcg.copperhead._errors import UntranslatableError
from rtcg.copperhead._function import CuFunction
from rtcg.specialize import _interpreter
from rtcg.specialize._registry import Generated, Model, Specialiser, specialisers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rtcg.numpy import GPUArray
    from rtcg.tune import Report

BOUNDARIES = ("clamp", "wrap", "reflect", "constant", "interior")
HALOS = ("copy", "zero")


class StencilFunction:
    """A function of fields that computes each element from its neighbours. `stencil` makes it.

    Attributes
    ----------
    __wrapped__ : function
        The Python function itself.
    boundary, halo : str
    constant : number
    fallback : bool
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], boundary: str, constant: Any, halo: str, fallback: bool) -> None:
        functools.update_wrapper(self, function)
        self.__signature__ = inspect.signature(function)
        self.boundary, self.constant, self.halo, self.fallback = boundary, constant, halo, fallback
        self._program = _native.StencilProgram(self, boundary, halo, constant)
        self._chosen: dict[Any, _Taken | None] = {}
        self._n_fallbacks = 0
        self._lock = threading.Lock()

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> StencilFunction: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> types.MethodType: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # As functions do: what `instance` is bound to is an argument, which the call refuses by its name.
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, out: GPUArray | tuple[GPUArray, ...] | None = None) -> Any:
        """Compute all elements.

        Parameters
        ----------
        *args : GPUArray, NumPy array, number or tuple of numbers
            What the function takes, by position. Arrays with axes are the fields: 1 to 4 axes, one shape, elements of
            any dtype of numbers, any memory order (fields that are not in C order without gaps are copied). NumPy
            arrays are copied to the device. Python's numbers adapt to the dtypes that they meet; those of NumPy keep
            theirs. A number in an array without axes on the device is waited for.
        out : GPUArray or tuple of GPUArray, optional
            Arrays for the results, of the shape of the fields and the dtypes of the results. They may be fields.

        Returns
        -------
        GPUArray or tuple of GPUArray
            An array of the shape of the fields for each number that the function returns; `out` if it is given. Does
            not wait for the device.

        Raises
        ------
        UntranslatableError
            A subclass of `TypeError`: the function has what stencils do not have, such as offsets that depend on data.
        TypeError
            If types do not fit, or no array is given.
        ValueError
            If the shapes of fields or of `out` differ.
        rtcg.driver.MemoryError
            If the device does not have enough memory.
        """
        check_arguments(self, args)
        outs = None if out is None else self._outputs(out)
        if specialisers() and (taken := self._taken(args)) is not None:
            return taken.run(args, out)
        try:
            return self._program(args, outs)
        except UntranslatableError as error:
            return self._in_python(error, args, out)
        except Exception as error:
            self._name_other_device(error, args)
            raise

    def iterate(self, *args: Any, steps: int | None = None) -> Any:
        """Apply the stencil `steps` times: each result becomes the field with its number, other fields stay.

        A kernel may do several steps at once, in shared memory. The results are equal bit for bit to those of repeated
        calls.

        Parameters
        ----------
        *args : GPUArray, NumPy array, number or tuple of numbers
            As in a call.
        steps : int
            How often, 0 or more. It may also be the last positional argument: ``f.iterate(u, 10)``.

        Returns
        -------
        GPUArray or tuple of GPUArray
            New arrays: the results, that is the first fields after `steps` steps. Does not wait for the device.

        Raises
        ------
        TypeError
            If there are more results than fields or the dtype of a result is not that of its field, and as in a call.
        ValueError
            If `steps` is negative, and as in a call.
        """
        if steps is None:
            if len(args) < 2:
                raise TypeError("steps is missing; expected an integer, as in iterate(u, 10)")
            *rest, last = args
            args, steps = tuple(rest), last
        count = as_integer("steps", steps)
        if count < 0:
            raise ValueError(f"steps is {count}; expected 0 or more")
        check_arguments(self, args)
        taken = self._taken(args) if specialisers() else None
        if taken is None:
            try:
                return self._program.iterate(args, count)
            except UntranslatableError as error:
                self._check_fallback(error)
            except Exception as error:
                self._name_other_device(error, args)
                raise
        step = self.__call__ if taken is None else lambda *args: taken.run(args, None)
        return self._repeated(step, args, count)

    def _repeated(self, step: Callable[..., Any], args: tuple[Any, ...], count: int) -> Any:
        from rtcg import numpy as device_arrays

        places = [at for at, arg in enumerate(args) if _is_field(arg)]
        if count == 0:
            copies = tuple(device_arrays.array(args[at]) for at in places)
            return copies if len(copies) > 1 else copies[0]
        found: Any = None
        for _ in range(count):
            found = step(*args)
            results = found if isinstance(found, tuple) else (found,)
            if len(results) > len(places):
                raise TypeError(
                    f"the stencil cannot be iterated: there are {len(results)} results and {len(places)} field(s)"
                )
            changed = list(args)
            for at, result in zip(places, results, strict=False):
                changed[at] = result
            args = tuple(changed)
        return found

    def source(self, *args: Any, steps: int = 1) -> str:
        """The CUDA C++ source of the kernel for arguments: of a call, or of an iteration of `steps` steps.

        Raises the errors of a call.
        """
        check_arguments(self, args)
        if (taken := self._taken(args) if specialisers() else None) is not None:
            return taken.generated.source
        return self._program.source(args, as_integer("steps", steps, 1) > 1)

    def model(self, *args: Any) -> Model:
        """What is recognised for arguments: fields, offsets, radius, boundary. Raises the errors of a call."""
        return self._described(args)[0]

    def reference(self, *args: Any) -> Any:
        """The results that Python's interpreter computes on NumPy arrays: an array, or a tuple of them.

        Arguments are as in a call; arrays on the device are copied to the host, which waits. The function is called
        once with whole arrays, or, if it has conditions, for each element, which is slow. With
        ``boundary="interior"``, an offset that is read for no element does not count.
        """
        for name, arg in named(self, args):
            check_argument(name, arg)
        return _interpreter.run(self.__wrapped__, _on_host(args), self.boundary, self.halo, self.constant)

    def tune(self, *args: Any, steps: int = 1, budget: str | float = "5 s", **options: Any) -> Report:
        """Measure the kernels that are possible for arguments, and use the fastest from then on.

        Parameters
        ----------
        *args : GPUArray, NumPy array, number or tuple of numbers
            As in a call.
        steps : int, optional
            With more than 1, an iteration of so many steps is measured.
        budget : str or float, optional
            As of `rtcg.tune.search`.
        **options
            Further options of `rtcg.tune.builtin`; of `rtcg.tune.search`, if a registered specialiser takes it.

        Returns
        -------
        rtcg.tune.Report
            What was measured. Results for the kernels of this package are stored and used by later processes, those
            for a registered specialiser are kept in memory. Waits for the device.

        Raises
        ------
        The errors of a call.
        """
        from rtcg import tune

        count = as_integer("steps", steps, 1)
        check_arguments(self, args)
        if (taken := self._taken(args) if specialisers() else None) is not None:
            return taken.tune(args, budget, options)
        call = (lambda: self(*args)) if count == 1 else (lambda: self.iterate(*args, steps=count))
        return next(iter(tune.builtin(call, only=["stencil.kernel"], budget=budget, **options).values()))

    def explain(self, *args: Any) -> str:
        """What was recognised for arguments, and how it is computed, as text of a few lines."""
        try:
            model, found = self._described(args)
        except UntranslatableError as error:
            n = f"; Python has run it {self._n_fallbacks} time(s)" if self.fallback else ""
            return f"{self.__name__}: no stencil{n}\n{error}"
        lines = [f"{self.__name__}: a stencil of {model.ndim} axes, boundary {self.boundary!r}"]
        for name, dtype, offsets in model.fields:
            lines.append(f"  field {name}, {dtype}: {len(offsets)} read(s)")
        lines.extend(f"  number {name}, {dtype}" for name, dtype in model.scalars)
        lines.append(f"  radius {', '.join(f'-{low}..{high}' for low, high in model.radius)}")
        lines.append(f"  results {', '.join(model.outputs)}")
        taken = self._taken(args) if specialisers() else None
        if taken is not None:
            lines.append(f"  kernel: of the specialiser {taken.specialiser.name!r}, {taken.config}")
            return "\n".join(lines)
        lines.append(f"  kernel: {_choice_text(found['choice'])}")
        if found["not_iterable"]:
            lines.append(f"  no iteration: {found['not_iterable']}")
        else:
            steps = found["iterated_choice"]["steps"]
            lines.append(f"  iteration: {_choice_text(found['iterated_choice'])}, {steps} step(s) a launch")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<stencil {self.__name__}{self.__signature__}, boundary {self.boundary!r}>"

    def __reduce__(self) -> str:
        # As functions are: by name.
        return self.__qualname__

    # -- parts of calls ---------------------------------------------------------------------------

    def _name_other_device(self, error: Exception, args: tuple[Any, ...]) -> None:
        device = _native.Context.get_device()
        where = "that of the current context, where the stencil runs"
        name_other_device(error, self, args, device, where, "{}.to_device(device)")

    def _outputs(self, out: Any) -> list[GPUArray]:
        from rtcg.numpy import GPUArray

        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        for each in outs:
            if not isinstance(each, GPUArray):
                raise TypeError(f"out is {shown(each)}; expected a GPUArray, or a tuple of them")
        return outs

    def _described(self, args: tuple[Any, ...]) -> tuple[Model, dict[str, Any]]:
        check_arguments(self, args)
        found = self._program.model(args)
        shape = next((tuple(np.shape(arg)) for arg in args if _is_field(arg)), ())
        model = _model(found, found["names"], self.__name__, shape, self.boundary, self.halo, self.constant)
        return model, found

    def _check_fallback(self, error: UntranslatableError) -> None:
        if not self.fallback:
            raise error.with_traceback(None)
        with self._lock:
            self._n_fallbacks += 1
            is_first = self._n_fallbacks == 1
        if is_first:
            text = f"{self.__name__} is no stencil and is run by Python, which is slow: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def _in_python(self, error: UntranslatableError, args: tuple[Any, ...], out: Any) -> Any:
        from rtcg import numpy as device_arrays

        self._check_fallback(error)
        found = self.reference(*args)
        if out is None:
            both = found if isinstance(found, tuple) else (found,)
            moved = tuple(device_arrays.to_gpu(each) for each in both)
            return moved if isinstance(found, tuple) else moved[0]
        for target, each in zip(self._outputs(out), found if isinstance(found, tuple) else (found,), strict=True):
            target[...] = device_arrays.to_gpu(each)
        return out

    def _taken(self, args: tuple[Any, ...]) -> _Taken | None:
        """The specialiser that takes the model for arguments, asked once."""
        try:
            key = (specialisers(), tuple(map(_type_key, args)))
            if key in self._chosen:
                return self._chosen[key]
            model, _ = self._described(args)
        except UntranslatableError:
            return None
        taken = None
        for specialiser in specialisers():
            if (found := specialiser.matches(model)) is not None:
                taken = _Taken(specialiser, model, found)
                break
        self._chosen[key] = taken
        return taken


class _Taken:
    """A model that a registered specialiser took."""

    def __init__(self, specialiser: Specialiser, model: Model, found: Any) -> None:
        self.specialiser, self.model, self.found = specialiser, model, found
        self._use({name: values[0] for name, values in specialiser.space(found).items()})

    def _use(self, config: dict[str, Any]) -> None:
        from rtcg.compiler import SourceModule

        specialiser = self.specialiser
        self.config, self.generated = config, specialiser.generate(self.found, config)
        if not isinstance(self.generated, Generated):
            text = f"{specialiser.name!r} generated {shown(self.generated)}; expected a Generated"
            raise TypeError(text)
        self._function = SourceModule(self.generated.source, no_extern_c=True).get_function(self.generated.kernel)

    def tune(self, args: tuple[Any, ...], budget: str | float, options: dict[str, Any]) -> Report:
        """Use the fastest configuration whose results are close to those of the specialiser's reference."""
        from rtcg import tune
        from rtcg.driver import Context

        expected = self.specialiser.reference(self.found, *_on_host(args))
        wanted = expected if isinstance(expected, tuple) else (expected,)

        def seconds(**config: Any) -> float:
            self._use(config)
            results = self.run(args, None)
            for each, one in zip(results if isinstance(results, tuple) else (results,), wanted, strict=True):
                np.testing.assert_allclose(each.get(), one, rtol=1e-3, atol=1e-5)
            Context.synchronize()
            begun = time.perf_counter()
            self.run(args, None)
            Context.synchronize()
            return time.perf_counter() - begun

        usual = self.config
        try:
            report = tune.search(tune.Space(**self.specialiser.space(self.found)), seconds, budget=budget, **options)
            usual = report.best or usual
        finally:
            self._use(usual)
        return report

    def run(self, args: tuple[Any, ...], out: Any) -> Any:
        from rtcg import numpy as device_arrays

        model = self.model
        fields = [device_arrays.ascontiguousarray(device_arrays.asarray(arg)) for arg in args if _is_field(arg)]
        numbers = list(_numbers_in(arg for arg in args if not _is_field(arg)))
        scalars = [np.dtype(dtype).type(number) for number, (_, dtype) in zip(numbers, model.scalars, strict=True)]
        results = [device_arrays.empty(model.shape, np.dtype(dtype)) for dtype in model.outputs]
        lengths = [np.int64(n) for n in model.shape]
        if all(model.shape):
            self._function(*results, *fields, *lengths, *scalars, grid=self.generated.grid, block=self.generated.block)
        if out is not None:
            for target, result in zip(out if isinstance(out, (tuple, list)) else [out], results, strict=True):
                target[...] = result
            return out
        return tuple(results) if len(results) > 1 else results[0]


def _is_field(arg: Any) -> bool:
    return not isinstance(arg, tuple) and np.ndim(arg) > 0


def _numbers_in(args: Iterable[Any]) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, tuple):
            yield from _numbers_in(arg)
        else:
            yield arg.get()[()] if hasattr(arg, "get") else arg


def _type_key(arg: Any) -> Any:
    dtype = getattr(arg, "dtype", None)
    if isinstance(arg, tuple):
        return tuple(map(_type_key, arg))
    return (dtype, np.shape(arg)) if dtype is not None or isinstance(arg, list) else type(arg)


def _choice_text(choice: dict[str, Any]) -> str:
    where = "from memory" if choice["kernel"] == "direct" else "from tiles in shared memory"
    return f"{where}, blocks of {choice['columns']} x {choice['rows']} threads, {choice['items']} element(s) a thread"


def _model(
    found: dict[str, Any], names: list[str], name: str, shape: tuple[int, ...], boundary: str, halo: str, constant: Any
) -> Model:
    def of(at: int | None) -> str:
        return names[at] if at is not None and at < len(names) else "?"

    return Model(
        kind="stencil",
        name=name,
        shape=shape,
        fields=tuple(
            (of(at), dtype, tuple(tuple(offsets) for offsets in all_offsets))
            for at, dtype, all_offsets in found["fields"]
        ),
        scalars=tuple((of(at), dtype) for at, dtype in found["scalars"]),
        outputs=tuple(found["outputs"]),
        radius=tuple(tuple(both) for both in found["radius"]),
        boundary=boundary,
        halo=halo,
        constant=constant,
        ir=found["text"],
    )


def _on_host(args: tuple[Any, ...]) -> tuple[Any, ...]:
    from rtcg.copperhead import to_numpy
    from rtcg.numpy import GPUArray

    return tuple(to_numpy(arg) if _is_field(arg) or isinstance(arg, GPUArray) else arg for arg in args)


@overload
def stencil(function: Callable[..., Any]) -> StencilFunction: ...


@overload
def stencil(
    *, boundary: str = ..., constant: complex | None = ..., halo: str | None = ..., fallback: bool = ...
) -> Callable[[Callable[..., Any]], StencilFunction]: ...


def stencil(
    function: Callable[..., Any] | None = None,
    *,
    boundary: str = "clamp",
    constant: complex | None = None,
    halo: str | None = None,
    fallback: bool = False,
) -> Any:
    """Make a function of relative indices a stencil, which computes all elements of an array on the device.

    The parameters of the function are fields and numbers. ``u[0, -1]`` is the element of the field `u` one to the left
    of the element that is computed. Offsets are integers that are known before the call: written in the function, names
    of integers or tuples outside of it, or the names of comprehensions over `range` and tuples, which are unrolled. The
    function returns a number, or a tuple of numbers for several results. It may use conditions, NumPy's and `math`'s
    functions of numbers, functions defined in it and those decorated with `rtcg.copperhead.cu`.

    Parameters
    ----------
    function : function
        Without it, a decorator is returned.
    boundary : str, optional
        What lies beyond the borders of fields: ``"clamp"``, the nearest element (``a a | a b c | c c``); ``"wrap"``,
        the field again (``b c | a b c | a b``); ``"reflect"``, the field mirrored (``b a | a b c | c b``);
        ``"constant"``, the number `constant`; ``"interior"``, nothing: elements that need what is beyond are not
        computed.
    constant : number, optional
        With ``boundary="constant"`` only, by default 0. Each field's dtype has to hold it.
    halo : str, optional
        With ``boundary="interior"`` only, what the elements become that are not computed: by default ``"copy"``, the
        element of the first field, or of that with the number of the result; ``"zero"``.
    fallback : bool, optional
        Whether a function that is no stencil is run by Python, with one warning, instead of raising an error.

    Returns
    -------
    StencilFunction or function

    Raises
    ------
    TypeError
        If `function` is no function of Python, or an option has another type.
    ValueError
        If there is no such boundary or halo, or `constant` or `halo` is given with another boundary than its own.

    Notes
    -----
    The dtypes are NumPy's, and products are not contracted with sums, so that results are those of
    `StencilFunction.reference`, bit for bit where the device's functions are NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> import rtcg.autoinit
    >>> from rtcg.specialize import stencil
    >>> @stencil
    ... def laplacian(u):
    ...     return u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0]
    >>> u = np.zeros((3, 4), np.float32)
    >>> u[1, 1] = 1
    >>> laplacian(u).get()
    array([[ 0.,  1.,  0.,  0.],
           [ 1., -4.,  1.,  0.],
           [ 0.,  1.,  0.,  0.]], dtype=float32)
    """
    boundary = as_text("boundary", boundary)
    if boundary not in BOUNDARIES:
        raise ValueError(f"boundary is {shown(boundary)}; expected one of {', '.join(map(repr, BOUNDARIES))}")
    number = 0 if constant is None else as_number("constant", constant)
    outside = "copy" if halo is None else as_text("halo", halo)
    if outside not in HALOS:
        raise ValueError(f"halo is {shown(halo)}; expected 'copy' or 'zero'")
    for name, value, only in (("constant", constant, "constant"), ("halo", halo, "interior")):
        if value is not None and boundary != only:
            text = f"{name} is {shown(value)}, which counts with boundary='{only}' only; boundary is {boundary!r}"
            raise ValueError(text)
    fallback = as_flag("fallback", fallback)

    def decorate(function: Callable[..., Any]) -> StencilFunction:
        if isinstance(function, (CuFunction, StencilFunction)):
            function = function.__wrapped__
        if not isinstance(function, types.FunctionType):
            name = type(function).__name__
            raise TypeError(f"function is {shown(function)}, of type {name}; expected a function of Python")
        return StencilFunction(function, boundary, number, outside, fallback)

    return decorate if function is None else decorate(function)


def recognise(program: CuFunction, *args: Any) -> list[Model]:
    """The stencils in a data-parallel program, found by pattern: maps whose elements read arrays at constant distances.

    Parameters
    ----------
    program : CuFunction
        A function decorated with `rtcg.copperhead.cu`.
    *args
        Arguments, whose types decide what is compiled; nothing is run.

    Returns
    -------
    list of Model
        Those with a radius of 1 or more, in the order of the program. Where indices are negative, the program reads
        from the end, and indices beyond the end are errors. `shape` is empty.

    Raises
    ------
    TypeError
        If `program` is no such function, and as calls of it do.

    Examples
    --------
    >>> import numpy as np
    >>> import rtcg.autoinit
    >>> from rtcg.copperhead import cu, indices
    >>> from rtcg.specialize import recognise
    >>> @cu
    ... def differences(u):
    ...     return map(lambda i: u[i + 1] - u[i - 1], indices(u))
    >>> [model.radius for model in recognise(differences, np.zeros(5))]
    [((1, 1),)]
    """
    from rtcg.copperhead._compiled import program_of

    if not isinstance(program, CuFunction):
        raise TypeError(f"program is {shown(program)}; expected a function decorated with cu")
    names = list(inspect.signature(program.__wrapped__).parameters)
    found = program_of(program).stencils(args)
    return [_model(each, names, program.__name__, (), "wrap", "copy", 0) for each in found]
