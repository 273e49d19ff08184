"""Benchmarks in the T1 format: kernel, arguments and launch geometry from a file, ready for tuning.

Source: the T1 format 1.0.0 of the AutoTuningAssociation, and BAT's older form of it. If `GridDivX` and the like are
present, the launch follows Kernel Tuner: the grid is the problem size divided by their products, rounded up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._kernel import Kernel
from rtcg.tune._space import STRATEGIES, Space

if TYPE_CHECKING:
    from rtcg.tune._report import Report

#: Types of arguments by their names in files.
_DTYPES = {
    "bool": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8,
    "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "half": np.float16, "float": np.float32,
    "double": np.float64, "char": np.int8, "int": np.int32, "long": np.int64, "float16": np.float16,
    "float32": np.float32, "float64": np.float64,
}  # fmt: skip

_AXES = "XYZ"


class T1Benchmark:
    """The benchmark that a T1 file describes; made by :func:`from_t1`.

    Attributes
    ----------
    kernel : Kernel
    space : Space
    arguments : list
        The kernel's arguments: :class:`rtcg.driver.In` or :class:`rtcg.driver.InOut` around NumPy arrays, and scalars.
    values : dict
        The values of the problem: ``size_0``, ``size_1``, ...
    constants : dict
        NumPy arrays for ``__constant__`` variables, by name.
    budget : str or float or None
        The budget in the file, as :meth:`Kernel.tune` takes it.
    strategy : str
        The strategy in the file if it is one of `STRATEGIES`, otherwise ``"auto"``.
    """

    def __init__(
        self,
        kernel: Kernel,
        arguments: list[Any],
        values: dict[str, int],
        constants: dict[str, np.ndarray[Any, Any]],
        budget: str | float | None,
        strategy: str,
    ) -> None:
        self.kernel, self.space = kernel, kernel.space
        self.arguments, self.values, self.constants = arguments, values, constants
        self.budget, self.strategy = budget, strategy

    def tune(self, **options: Any) -> Report:
        """Tune the kernel with the arguments of the file; `options` are those of :meth:`Kernel.tune`."""
        usual = {"budget": self.budget or "30 s", "strategy": self.strategy}
        return self.kernel.tune(*self.arguments, **(usual | self.values | options))

    def __call__(self) -> None:
        """Launch the best known configuration; written arrays of `arguments` receive the result. Waits."""
        self.kernel(*self.arguments, **self.values)

    def __repr__(self) -> str:
        return f"<T1 benchmark {self.kernel.name!r}, {self.values}>"


def from_t1(
    path: str | Path,
    *,
    problem_size: Sequence[int] | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    **options: Any,
) -> T1Benchmark:
    """Read a benchmark in the T1 format, with its kernel and arguments.

    Parameters
    ----------
    path : str or path
        The file.
    problem_size : sequence of int, optional
        Replaces the file's ``ProblemSize``. The sizes of arguments follow if they are expressions of it; sizes that are
        fixed in the kernel's source do not.
    folder : path, optional
        The folder of ``KernelFile`` and its includes; by default that of the file.
    seed : int
        The seed of arguments with random values.
    **options
        Those of :class:`Kernel`, such as ``default``, ``wisdom`` or ``store``.

    Returns
    -------
    T1Benchmark

    Raises
    ------
    ValueError
        If the file is invalid, its language is not CUDA, or it has an unknown entry; the message names it.
    FileNotFoundError
        If the kernel's source is not where the file says.
    rtcg.driver.CompileError
        If that source does not compile.

    Examples
    --------
    ::

        gemm = tune.from_t1("GEMM.json")
        print(gemm.tune(budget="60 s"))
    """
    from rtcg import driver

    path = Path(path)
    space, specification, other = Space.from_t1(path)
    file = _File(path, space, specification, problem_size, seed)
    language = str(specification.get("Language", "CUDA"))
    if language.upper() != "CUDA":
        raise ValueError(
            f"{path.name}: Language is {shown(language)}; expected 'CUDA' (rtcg compiles no other language)"
        )
    folder = path.parent if folder is None else Path(folder)
    source_path = folder / file.text("KernelFile")
    try:
        source = source_path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileNotFoundError(
            f"{path.name}: KernelFile {str(source_path)!r} is not there ({error.strerror}); folder= says where it is"
        ) from error
    except ValueError as error:
        raise ValueError(f"{path.name}: KernelFile {str(source_path)!r}: {error}") from error
    arguments, constants = file.arguments()
    block, grid, shared = file.geometry()
    names = tuple(file.values)
    # Kernels of the benchmark hub ask whether a tuner defines their parameters.
    compiler_options = [*file.list_of("CompilerOptions", str), "-Dkernel_tuner=1"]
    name = file.text("KernelName")
    try:
        kernel = Kernel(
            source, name, space, block=block, grid=grid, shared=shared, problem=names, options=compiler_options,
            include_dirs=[str(source_path.parent)], constants=constants, **options,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    try:
        arguments = _passed(arguments, constants, kernel)
    except driver.LogicError as error:
        raise ValueError(f"{path.name}: KernelName is {shown(name)}: {error}") from error
    search = other.get("Search")
    strategy = str(search.get("Name", "")).lower() if isinstance(search, dict) else ""
    return T1Benchmark(
        kernel, arguments, file.values, constants, file.budget(other.get("Budget")),
        strategy if strategy in STRATEGIES else "auto",
    )  # fmt: skip


def _as_list(stated: Any) -> list[Any]:
    return list(stated) if isinstance(stated, (list, tuple)) else [] if stated is None else [stated]


def _passed(
    arguments: list[tuple[str | None, Any]], constants: dict[str, np.ndarray[Any, Any]], kernel: Kernel
) -> list[Any]:
    """The arguments that the kernel takes: pairs of a name and a value, with or without those of constant memory.

    Kernels of the benchmark hub also take a pointer to the contents of their constant memory.
    """
    n_parameters = len(kernel._parameter_names)
    plain = [argument for name, argument in arguments if name not in constants]
    return [argument for _, argument in arguments] if n_parameters == len(arguments) else plain


class _File:
    """The contents of a file, with evaluated expressions."""

    def __init__(
        self, path: Path, space: Space, specification: dict[str, Any], problem_size: Sequence[int] | None, seed: int
    ) -> None:
        self._name, self._space, self._specification = path.name, space, specification
        stated = specification.get("ProblemSize", ()) if problem_size is None else problem_size
        stated = _as_list(stated)
        n_sizes = len(_as_list(specification.get("ProblemSize")))
        if problem_size is not None and len(stated) != n_sizes:
            raise ValueError(f"problem_size is {shown(problem_size)}; expected {n_sizes} numbers, as {path.name} has")
        self._sizes = tuple(self._integer("ProblemSize", size, {}) for size in stated)
        self.values = {f"size_{axis}": size for axis, size in enumerate(self._sizes)}
        self._random = np.random.default_rng(seed)

    def _wrong(self, what: str, value: object, expected: str) -> ValueError:
        return ValueError(f"{self._name}: {what} is {shown(value)}; expected {expected}")

    def text(self, name: str) -> str:
        """A text in the kernel's specification."""
        value = self._specification.get(name)
        if not isinstance(value, str) or not value or "\x00" in value:
            raise self._wrong(name, value, "text")
        return value

    def list_of(self, name: str, kind: type) -> list[Any]:
        """A list in the kernel's specification, whose items are texts or dictionaries."""
        value = self._specification.get(name) or []
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self._wrong(name, value, "a list of texts" if kind is str else "a list of dictionaries")
        return value

    def budget(self, stated: Any) -> str | float | None:
        """The budget in the notation of this package, or None."""
        stated = stated[0] if isinstance(stated, list) and stated else stated
        if not stated:
            return None
        if not isinstance(stated, dict):
            raise self._wrong("Budget", stated, "a dictionary")
        kind, value = stated.get("Type"), stated.get("BudgetValue")
        if kind not in ("ConfigurationCount", "TuningDuration") or value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e15:
            raise self._wrong("BudgetValue", value, "a positive number")
        return f"{int(value)} evaluations" if kind == "ConfigurationCount" else float(value)

    # Launch geometry.

    def geometry(self) -> tuple[tuple[int | str, ...], tuple[int | str, ...], int | str]:
        """``(block, grid, shared)`` as expressions."""
        local = self._specification.get("LocalSize")
        if not isinstance(local, dict) or "X" not in local:
            raise self._wrong("LocalSize", local, "a dictionary with X, and perhaps Y and Z")
        block = tuple(self._expression(local.get(axis, 1)) for axis in _AXES)
        return block, tuple(self._grid(place, block[place]) for place in range(3)), self._shared()

    def _shared(self) -> int | str:
        return self._expression(self._specification.get("SharedMemory") or 0)

    def _grid(self, place: int, block: int | str) -> int | str:
        axis = _AXES[place]
        divisors = [self._divisors(f"GridDiv{each}") for each in _AXES]
        if self._sizes and any(divisors):
            if place >= min(len(self._sizes), 2) and not divisors[place]:
                return 1
            product = " * ".join(f"({divisor})" for divisor in divisors[place] or ["1"])
            return f"ceil_div(size_{place}, {product})"
        stated = self._specification.get("GlobalSize")
        if not isinstance(stated, dict) or "X" not in stated:
            raise self._wrong("GlobalSize", stated, "a dictionary with X, and perhaps Y and Z")
        size = self._expression(stated.get(axis, 1))
        # OpenCL counts threads, CUDA blocks.
        kind = str(self._specification.get("GlobalSizeType", "CUDA")).upper()
        if kind not in ("OPENCL", "CUDA"):
            raise self._wrong("GlobalSizeType", kind, "CUDA or OpenCL")
        is_threads = kind == "OPENCL"
        return f"ceil_div({size}, {block})" if is_threads else size

    def _divisors(self, name: str) -> list[Any]:
        stated = _as_list(self._specification.get(name))
        if not all(isinstance(divisor, (int, str)) for divisor in stated):
            raise self._wrong(name, stated, "a list of expressions")
        return stated

    def _expression(self, stated: Any) -> int | str:
        """An expression of parameters and values of the problem."""
        text = re.sub(r"ProblemSize\s*\[\s*(\d+)\s*\]", r"size_\1", str(stated))
        return text if not text.isdigit() else int(text)

    # Arguments.

    def arguments(self) -> tuple[list[tuple[str | None, Any]], dict[str, np.ndarray[Any, Any]]]:
        """The arguments as pairs of a name and a value, and the contents of constant memory."""
        from rtcg import driver

        arguments: list[tuple[Any, Any]] = []
        constants: dict[Any, np.ndarray[Any, Any]] = {}
        scalars: dict[Any, Any] = {}
        for stated in self.list_of("Arguments", dict):
            name = stated.get("Name")
            if not isinstance(name, (str, type(None))):
                raise self._wrong("the name of an argument", name, "text")
            dtype = _DTYPES.get(str(stated.get("Type")))
            if dtype is None:
                raise self._wrong(
                    f"the type of argument {shown(name)}", stated.get("Type"), f"one of {', '.join(_DTYPES)}"
                )
            memory = stated.get("MemoryType", "Vector")
            if memory not in ("Scalar", "Vector"):
                raise self._wrong(f"the memory type of argument {shown(name)}", memory, "Scalar or Vector")
            if memory == "Scalar":
                value = self._converted(name, dtype, self._scalar(name, stated.get("FillValue", 0)))
                scalars[name] = value.item()
                arguments.append((name, value))
                continue
            try:
                array = self._filled(name, np.dtype(dtype), stated, scalars)
            except (MemoryError, OverflowError, TypeError) as error:
                what = {
                    key: stated.get(key) for key in ("Size", "FillType", "FillValue", "DataSource") if key in stated
                }
                raise self._wrong(f"argument {shown(name)}", what, f"an array that can be made ({error})") from error
            if stated.get("MemType") == "Constant":
                constants[name] = array
            is_read_only = stated.get("AccessType") == "ReadOnly" and not stated.get("Output")
            arguments.append((name, (driver.In if is_read_only else driver.InOut)(array)))
        return arguments, constants

    def _converted(self, name: str | None, dtype: Any, value: Any) -> Any:
        try:
            converted = dtype(value)
        except (TypeError, ValueError, OverflowError) as error:
            expected = f"a number that {np.dtype(dtype).name} has ({error})"
            raise self._wrong(f"the value of argument {shown(name)}", value, expected) from error
        if np.ndim(converted):
            raise self._wrong(f"the value of argument {shown(name)}", value, "one number")
        return converted

    def _scalar(self, name: str | None, stated: Any) -> Any:
        """The value of a scalar: a number, or an expression over the problem's sizes."""
        if not isinstance(stated, str):
            return stated
        try:
            return _native.Expression(stated)({"ProblemSize": self._sizes})
        except ValueError as error:
            what = f"the value of argument {name!r}"
            raise self._wrong(what, stated, f"a number or an expression over ProblemSize ({error})") from error

    def _filled(self, name: str | None, dtype: Any, stated: Any, scalars: dict[str, Any]) -> np.ndarray[Any, Any]:
        size = self._integer(f"the size of argument {name!r}", stated.get("Size"), scalars)
        kind, value = stated.get("FillType", "Constant"), stated.get("FillValue", 0)
        if kind == "Constant":
            return np.full(size, self._converted(name, dtype.type, value), dtype)
        if kind == "Random":
            # A file without a range means the unit interval.
            bound = self._converted(name, np.float64, value or 1)
            most = np.inf if dtype.kind == "f" else 1 if dtype.kind == "b" else np.iinfo(dtype).max
            if not abs(bound) <= most:
                raise self._wrong(f"the fill value of argument {shown(name)}", value, f"a number that {dtype.name} has")
            numbers = self._random.random(size) * bound
            return numbers.astype(dtype) if dtype.kind == "f" else np.floor(numbers).astype(dtype)
        if kind == "Generator":
            source = stated.get("DataSource")
            try:
                return np.array(_native.Expression(f"[{source} for i in range({size})]")(scalars), dtype)
            except ValueError as error:
                raise self._wrong(
                    f"DataSource of argument {shown(name)}", source, f"an expression over i ({error})"
                ) from error
        raise self._wrong(f"the fill type of argument {shown(name)}", kind, "Constant, Random or Generator")

    def _integer(self, what: str, stated: Any, scalars: dict[str, Any]) -> int:
        if isinstance(stated, bool) or not isinstance(stated, (int, str)):
            raise self._wrong(what, stated, "a whole number or an expression")
        if isinstance(stated, int):
            value = stated
        else:
            # A parameter stands for all its values, since arrays have one size for all configurations.
            names = {name: tuple(self._space.values(name)) for name in self._space.names} | scalars
            try:
                value = _native.Expression(stated)(names | {"ProblemSize": getattr(self, "_sizes", ())})
            except ValueError as error:
                raise self._wrong(what, stated, f"an expression over ProblemSize and parameters ({error})") from error
        if not isinstance(value, (int, float)) or not 1 <= value < 2**63 or int(value) != value:
            raise self._wrong(what, value, "a positive whole number")
        return int(value)
