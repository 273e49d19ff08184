"""The cell magic ``%%cuda_kernel`` for IPython and Jupyter; ``%load_ext rtcg`` enables it."""

from __future__ import annotations

import inspect
import keyword
import re
import shlex
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from rtcg import _display

if TYPE_CHECKING:
    from rtcg._native import Function
    from rtcg.compiler import SourceModule

__all__ = ["CudaMagics", "CudaKernel", "load_ipython_extension", "unload_ipython_extension"]

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# Such as `__launch_bounds__(128)`.
_ATTRIBUTE_PATTERN = re.compile(r"__\w+__\s*\([^()]*\)")
_KERNEL_PATTERN = re.compile(r"__global__\s[^;{}()]*?\b(\w+)\s*\(([^()]*)\)")


def find_kernels(source: str) -> dict[str, list[tuple[str, str]]]:
    """``{name: [(type, parameter), ...]}`` of the kernels that CUDA source defines, in source order."""
    text = _ATTRIBUTE_PATTERN.sub(" ", _COMMENT_OR_STRING.sub(" ", source))
    return {name: _parse_parameters(inside) for name, inside in _KERNEL_PATTERN.findall(text)}


def _parse_parameters(text: str) -> list[tuple[str, str]]:
    parameters = []
    for number, declaration in enumerate(filter(str.strip, text.split(","))):
        declaration = " ".join(declaration.split())
        found = re.fullmatch(r"(.*?[\s*&])(\w+)((?:\[\w*\])*)", declaration)
        if declaration == "void":
            continue
        if found is None:
            parameters.append((declaration, f"arg{number}"))
        else:
            parameters.append((found[1].strip() + found[3], found[2]))
    return parameters


class CudaKernel:
    """A kernel from a cell: called like a `rtcg.driver.Function`, with a signature that tools can show.

    Attributes
    ----------
    function : rtcg.driver.Function
    source : str
        The cell that defined it.
    """

    def __init__(self, name: str, function: Function, parameters: list[tuple[str, str]], source: str) -> None:
        self.function = function
        self.source = source
        self.__name__ = name
        declaration = ", ".join(f"{kind} {parameter}" for kind, parameter in parameters)
        self.__doc__ = f"CUDA kernel ``{name}({declaration})``, {function.num_regs} registers."
        self.__signature__: inspect.Signature = _make_signature(parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> float | None:
        return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.function, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.function)]

    def __repr__(self) -> str:
        return f"<CUDA kernel {self.__name__}{self.__signature__}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return _display.mime_bundle(self, _display.function_html(self.function))


def _make_signature(parameters: list[tuple[str, str]]) -> inspect.Signature:
    kinds = inspect.Parameter
    named = [
        kinds(f"{name}_" if keyword.iskeyword(name) else name, kinds.POSITIONAL_ONLY, annotation=kind)
        for kind, name in parameters
    ]
    options = [("block", kinds.empty), ("grid", (1, 1)), ("stream", None), ("shared", 0)]
    taken = {parameter.name for parameter in named}
    named += [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in options if name not in taken]
    return inspect.Signature(named)


@magics_class
class CudaMagics(Magics):
    """The magics of this extension."""

    @magic_arguments()
    @argument(
        "-o", "--option", action="append", default=[],
        help="an option for the compiler, such as -use_fast_math or -DN=3; may be repeated",
    )  # fmt: skip
    @argument("-I", "--include", action="append", default=[], help="a directory with headers; may be repeated")
    @argument("--arch", help="the architecture, such as sm_90; by default that of the device")
    @argument("--no-extern-c", action="store_true", help='kernels are marked extern "C" in the cell itself')
    @argument("--keep", action="store_true", help="keep the compiler's files")
    @argument("-m", "--module", metavar="NAME", help="also put the module into the namespace under this name")
    @argument("-q", "--quiet", action="store_true", help="do not show the kernels")
    @cell_magic
    def cuda_kernel(self, line: str, cell: str) -> CudaKernels | None:
        """Compile the cell as CUDA C++; its kernels become functions in the notebook."""
        try:
            arguments = parse_argstring(self.cuda_kernel, _joined_options(line))
        except (SystemExit, ValueError) as error:
            raise UsageError(str(error)) from None
        _ensure_context()
        module = _compile_cell(cell, arguments)
        made = {}
        for name, parameters in find_kernels(cell).items():
            made[name] = CudaKernel(name, _get_kernel(module, name), parameters, cell)
        names: dict[str, Any] = self.shell.user_ns  # type: ignore[union-attr]  # magics are run in a shell
        names.update(made)
        if arguments.module:
            names[arguments.module] = module
        return None if arguments.quiet else CudaKernels(made)


class CudaKernels(dict):
    """The kernels of a cell by name, shown as a table."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values())) or "no kernels"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        functions = [kernel.function for kernel in self.values()]
        return _display.mime_bundle(self, _display.functions_html("kernels", functions))


def _ensure_context() -> None:
    from rtcg import driver as drv

    if drv.Context.get_current() is None:
        import rtcg.autoinit  # noqa: F401


def _compile_cell(cell: str, arguments: Any) -> SourceModule:
    from rtcg.compiler import DEFAULT_NVCC_FLAGS, CompileError, SourceModule

    options = [*DEFAULT_NVCC_FLAGS, *(part for text in arguments.option for part in shlex.split(_unquote(text)))]
    try:
        # The first line of the cell is that of the magic.
        return SourceModule(
            "\n" + cell,
            options=options,
            no_extern_c=arguments.no_extern_c,
            arch=arguments.arch,
            include_dirs=arguments.include,
            keep=arguments.keep,
        )
    except CompileError as error:
        raise UsageError(f"the cell does not compile\n{error.msg}\n{error.stderr or ''}".rstrip()) from None


def _joined_options(line: str) -> str:
    """The line of the magic with ``-o=-DN=3`` for ``-o -DN=3``: argparse takes no value that begins with a hyphen."""
    return re.sub(r"(?<!\S)(-o|--option)\s+(?=-\S)", r"\1=", line)


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _get_kernel(module: SourceModule, name: str) -> Function:
    from rtcg.driver import LogicError

    try:
        return module.get_function(name)
    except LogicError as error:
        raise UsageError(f"{error}; a kernel of a cell must have a name of its own") from None


def load_ipython_extension(shell: Any) -> None:
    """Register the magics of this module in the shell or notebook `shell`, as ``%load_ext rtcg`` does; returns None."""
    shell.register_magics(CudaMagics)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics of this module from `shell`, as ``%unload_ext rtcg`` does; returns None."""
    shell.magics_manager.magics["cell"].pop("cuda_kernel", None)
