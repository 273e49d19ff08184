"""Compile CUDA C++ source and load the resulting modules.

NVRTC compiles in this process; nvcc is used if it is named or an option requires it. Compiled programs are cached on
disk; see :func:`compile`.
"""

from __future__ import annotations

from functools import cache

from rtcg import _native
from rtcg._messages import shown
from rtcg.driver import CompileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from numpy.typing import DTypeLike
    from typing_extensions import Self

    from rtcg._native import (
        Function,
        GPUArray,
        Module,
        SurfaceReference,
        TextureReference,
        _HostBuffer,
        _JitOptions,
        _MessageHandler,
        _Path,
    )

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "CudaModule",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
    "compile",
    "compile_plain",
    "get_nvcc_version",
    "preprocess_source",
]

#: Options used where none are given; from the environment variable ``PYCUDA_DEFAULT_NVCC_FLAGS``.
DEFAULT_NVCC_FLAGS: list[str] = _native.default_nvcc_flags()


def get_nvcc_version(nvcc: str) -> str:
    """Return the version text of the compiler that `nvcc` names.

    The default name ``"nvcc"`` means NVRTC; any other name is a program.
    """
    version, _ = _native.compiler_info(nvcc)
    return version


if not TYPE_CHECKING:
    # Type checkers do not see through it.
    get_nvcc_version = cache(get_nvcc_version)


def preprocess_source(source: object, options: Sequence[str], nvcc: str) -> str:
    """Return `source` after nvcc's preprocessor. Requires the program nvcc; NVRTC cannot do this.

    This package itself does not need the preprocessed text: the cache tracks headers on its own.
    """
    import subprocess
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "kernel.cu"
        path.write_text(str(source))
        command = [nvcc, "--preprocess", *options, str(path), "--compiler-options", "-P"]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CompileError(f"nvcc could not be started to preprocess: {error}", command) from error
    if result.returncode != 0:
        raise CompileError("nvcc preprocessing failed", command, result.stdout, result.stderr)
    return result.stdout


def compile_plain(
    source: object,
    options: Sequence[str],
    keep: bool,
    nvcc: str,
    cache_dir: _Path | bool | None,
    target: Literal["cubin", "ptx", "fatbin", "ltoir"] = "cubin",
) -> bytes:
    """Compile `source` unchanged, without ``extern "C"`` and default options: the binary, as `bytes`.

    See :func:`compile` for the parameters.
    """
    return _compile_to_binary(_make_program(source, nvcc, options, keep, True, None, None, cache_dir, None, target))


def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: _Path | bool | None = None,
    include_dirs: Sequence[_Path] | None = None,
    target: Literal["cubin", "ptx", "fatbin", "ltoir"] = "cubin",
) -> bytes:
    """Compile CUDA C++ and return the binary.

    Parameters
    ----------
    source : str or object with ``str()``
        Source text. Unless `no_extern_c` is true, it is wrapped in ``extern "C" { }``, so that kernels keep their
        names; headers of the C library, of CUDA and of this package can still be included.
    nvcc : str
        ``"nvcc"`` means NVRTC. Any other name or path is a program to run.
    options : sequence of str, optional
        Options in nvcc's spelling; by default :data:`DEFAULT_NVCC_FLAGS`.
    keep : bool
        Keep the compiler's input and output in a directory and print its name.
    arch, code : str, optional
        Like nvcc's ``-arch`` and ``-code``. By default those of the current context's device.
    cache_dir : path or False, optional
        The folder of compiled programs: by default ``PYCUDA_CACHE_DIR`` or ``~/.cache/rtcg``. ``False`` disables the
        cache, as does the environment variable ``PYCUDA_DISABLE_CACHE``. An entry is reused only if source, options,
        every included header and the compiler are the same.
    include_dirs : sequence of path, optional
        Directories to search for headers before all others.
    target : {"cubin", "ptx", "fatbin", "ltoir"}
        The output format. A device without its own machine code (the virtual GPU) gets PTX if a cubin is requested.
        :class:`rtcg.driver.Linker` takes ``"ltoir"`` (an addition to PyCUDA) as ``jit_input_type.NVVM`` and optimises
        the whole program; with the option ``-dlto`` a single program is optimised in this way. Both require NVIDIA's
        library nvJitLink (``pip install nvidia-nvjitlink``), but no GPU.

    Returns
    -------
    bytes

    Raises
    ------
    CompileError
        With the compiler's log, its options and the relevant source lines.

    Notes
    -----
    The interpreter is released while the compiler runs.
    """
    settings = _CompileSettings(nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
    return _compile_to_binary(settings.make_program(source, target))


class _CompileSettings:
    """The compilation parameters that :func:`compile` and the classes below share."""

    def __init__(
        self,
        nvcc: str,
        options: Sequence[str] | None,
        keep: bool,
        no_extern_c: bool,
        arch: str | None,
        code: str | None,
        cache_dir: _Path | bool | None,
        include_dirs: Sequence[_Path] | None,
    ) -> None:
        self.nvcc = nvcc
        self.options = options
        self.keep = keep
        self.no_extern_c = no_extern_c
        self.arch = arch
        self.code = code
        self.cache_dir = cache_dir
        self.include_dirs = _as_list("include_dirs", include_dirs)

    def make_program(
        self,
        source: object,
        target: str = "cubin",
        options: Sequence[str] | None = None,
        name_expressions: Sequence[str] = (),
    ) -> _native.Program:
        """The program for the native module to compile; `options` replaces the initial ones."""
        from rtcg import driver

        options = self.options if options is None else options
        options = _as_list("options", DEFAULT_NVCC_FLAGS if options is None else options)
        keep, cache_dir = self.keep, self.cache_dir
        if getattr(driver, "CUDA_DEBUGGING", False):
            keep, cache_dir = True, False
            options += ["-g", "-G"]
        return _make_program(
            source, self.nvcc, options, keep, self.no_extern_c, self.arch, self.code, cache_dir, self.include_dirs,
            target, name_expressions,
        )  # fmt: skip


def _as_list(name: str, values: Any) -> list[Any]:
    """`values` as a list; refuses a text in place of a sequence, which would be split into letters."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is {shown(values)}; expected a sequence, such as [{shown(values)}]")
    return list(values or ())


def _is_text(source: object) -> bool:
    """Whether `source` is text or an object that converts to text; numbers, containers and classes are not source."""
    if isinstance(source, str):
        return True
    plain = (bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, type, type(None))
    return not isinstance(source, plain) and type(source).__str__ is not object.__str__


def _make_program(
    source: Any,
    nvcc: str,
    options: Sequence[str] | None,
    keep: bool,
    no_extern_c: bool,
    arch: str | None,
    code: str | None,
    cache_dir: _Path | bool | None,
    include_dirs: Sequence[_Path] | None,
    target: str,
    name_expressions: Sequence[str] = (),
) -> _native.Program:
    if not _is_text(source):
        shown = f"of type {type(source).__name__}" if isinstance(source, (bytes, bytearray)) else repr(source)
        raise TypeError(f"source is {shown}; expected str, or an object with str() such as a template")
    # Source of `rtcg.template` names the template's lines.
    text = getattr(source, "_compiled_text", None) or (source if isinstance(source, str) else str(source))
    parts = [(source.name, source.template)] if hasattr(source, "_compiled_text") else []
    request = (
        text,
        nvcc,
        [str(option) for option in _as_list("options", options)],
        bool(keep),
        bool(no_extern_c),
        arch,
        code,
        cache_dir,
        _as_list("include_dirs", include_dirs),
        target,
    )
    return _native.Program(request, _as_list("name_expressions", name_expressions), parts)


def _compile_to_binary(program: _native.Program) -> bytes:
    """The binary; the compiler's messages become a warning, once."""
    binary, log, from_cache = program.compile()
    if log and not from_cache:
        _warn_user(f"The CUDA compiler succeeded, but said the following:\n{log}")
    return binary


def _warn_user(text: str) -> None:
    from rtcg.driver import _warn_at_user_line

    _warn_at_user_line(text)


class CudaModule:
    """Base of the classes that compile and load; forwards to the loaded ``module``."""

    module: Module

    #: Knows the names of C++, where the module was compiled from one source.
    _program: Any = None

    def _get_by_name(self, what: str, name: str) -> Any:
        if self._program is None:
            return getattr(self.module, what)(name)
        return getattr(self._program, what)(self.module, name)

    def get_function(self, name: str) -> Function:
        """Return the kernel `name`, a :class:`rtcg.driver.Function`.

        For a :class:`SourceModule` with `no_extern_c`, `name` may be any C++ name: ``"ns::f"``, ``"f<float, 3>"``, or
        that of a kernel without C linkage. A template instance that the source does not use is compiled when first
        requested (and cached), into a separate module, which shares no variables with the others: a warning names
        variables that exist twice. Names in `name_expressions` are compiled with the rest.
        """
        return self._get_by_name("get_function", name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return ``(address, size in bytes)`` of a variable; `name` as for :meth:`get_function`."""
        return self._get_by_name("get_global", name)

    def get_texref(self, name: str) -> TextureReference:
        """Return the :class:`rtcg.driver.TextureReference` with this name."""
        return self._get_by_name("get_texref", name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return the :class:`rtcg.driver.SurfaceReference` with this name."""
        return self._get_by_name("get_surfref", name)

    def get_global_array(self, name: str, dtype: DTypeLike, shape: int | Sequence[int] | None = None) -> GPUArray:
        """Return a variable as a :class:`rtcg.numpy.GPUArray`, which shares its memory.

        Parameters
        ----------
        name : str
            As for :meth:`get_global`.
        dtype : dtype
        shape : tuple of int, optional
            By default one axis that covers the whole variable.
        """
        from rtcg.driver import _global_array

        return _global_array(self.module, name, self.get_global(name), dtype, shape)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__}{self._kernels_in_words()}>"

    def _kernels_in_words(self) -> str:
        from rtcg.driver import Error

        try:
            return " with " + (", ".join(function.name for function in self.module.get_functions()) or "no kernels")
        except (AttributeError, Error):  # Not loaded yet, or no longer.
            return ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from rtcg import _display

        return _display.mime_bundle(self, self.module._repr_html_())

    def _check_arch(self, arch: str | None) -> None:
        if arch is None:
            return
        from rtcg.driver import Context

        device = Context.get_device()
        digits = "".join(c for c in str(arch).rpartition("_")[2] if c.isdigit())
        if not digits:
            return
        asked = divmod(int(digits), 10)
        if asked > device.compute_capability():
            _warn_user(f"trying to compile for {arch}, which this device does not have")


class SourceModule(CudaModule):
    """CUDA C++ source, compiled and loaded into the current context.

    Parameters are those of :func:`compile`, and

    Parameters
    ----------
    name_expressions : sequence of str, optional
        C++ names to be used, such as ``"f<float>"`` or ``"&ns::value<int>"`` (an addition to PyCUDA; see
        :meth:`get_function`).

    Attributes
    ----------
    module : rtcg.driver.Module
    """

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        name_expressions: Sequence[str] = (),
    ) -> None:
        from rtcg.driver import Context, module_from_buffer

        # Compiled for the device of the context that it will be loaded into.
        Context.get_device()
        self._check_arch(arch)
        settings = _CompileSettings(nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self._program = settings.make_program(source, name_expressions=name_expressions)
        binary = _compile_to_binary(self._program)
        self.module = module_from_buffer(binary)
        # Kernels check their arguments by the types that the source declares.
        self._program.register_source(self.module)


class DynamicModule(CudaModule):
    """A program linked by the driver from several sources, objects and libraries.

    Each ``add_*`` method returns the module, so that they can be chained; :meth:`link` comes last. Parameters that
    are not listed here are those of :func:`compile`, for :meth:`add_source`.

    Parameters
    ----------
    link_options : list of (jit_option, int), optional
        Options for the linker. ``(jit_option.LTO, 1)`` optimises across all inputs, including fat binaries and objects
        that nvcc made with ``-dlto``.
    message_handler : callable, optional
        Called as ``handler(success, info_log, error_log)``.
    log_verbose : bool
        Request a longer log from the linker.
    cuda_libdir : path, optional
        The directory that :meth:`add_stdlib` searches first.
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: _JitOptions | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        message_handler: _MessageHandler | None = None,
        log_verbose: bool = False,
        cuda_libdir: _Path | None = None,
    ) -> None:
        from rtcg.driver import Context, Linker

        capability = Context.get_device().compute_capability()
        if capability < (3, 5):
            raise Exception(f"DynamicModule needs a device of compute capability 3.5, this one has {capability}")
        self._settings = _CompileSettings(nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.cuda_libdir = cuda_libdir
        self.libdir, self.libptn = None, None
        self.module = None  # type: ignore[assignment]  # until `link`
        self.linker = Linker(message_handler, link_options, log_verbose)
        self._check_arch(arch)

    def add_source(self, source: object, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx") -> Self:
        """Compile `source` to PTX and add it under `name`.

        With the option ``-dlto`` it is compiled to LTO-IR, so that the linker can inline functions across such sources.
        Options about arithmetic (``-fmad``, ``-use_fast_math``) then apply to all of them. Requires the wheel
        ``nvidia-nvjitlink``.
        """
        options = _as_list("nvcc_options", DEFAULT_NVCC_FLAGS if nvcc_options is None else nvcc_options)
        if not any(option.startswith(("-rdc", "--relocatable-device-code", "-dc")) for option in options):
            # What is to be linked with other programs may name their functions.
            options.append("-rdc=true")
        from rtcg.driver import jit_input_type

        lto_options = _native.lto_options([str(option) for option in options])
        if lto_options is None:
            image, kind = _compile_to_binary(self._settings.make_program(source, "ptx", options)), jit_input_type.PTX
        else:
            self.linker.add_lto_options(lto_options)
            image, kind = _compile_to_binary(self._settings.make_program(source, "ltoir", options)), jit_input_type.NVVM
        self.linker.add_data(image, kind, name)
        return self

    def add_data(self, data: _HostBuffer, input_type: int, name: str = "unknown") -> Self:
        """Add an image of a `jit_input_type`."""
        self.linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: _Path, input_type: int) -> Self:
        """Add a file of a `jit_input_type`."""
        self.linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> Self:
        """Add one of CUDA's own libraries, such as ``"cudadevrt"``."""
        from rtcg.driver import jit_input_type

        self.linker.add_file(self._find_library(libname), jit_input_type.LIBRARY)
        return self

    def _find_library(self, libname: str) -> str:
        import os

        directories = _cuda_static_library_dirs(self.cuda_libdir)
        file = f"{libname}.lib" if os.name == "nt" else f"lib{libname}.a"
        for directory in directories:
            path = os.path.join(directory, file)
            if os.path.isfile(path):
                return path
        if not directories:
            raise RuntimeError("no directory with CUDA's libraries was found; pass cuda_libdir or set CUDA_HOME")
        raise OSError(f"{file} is in none of {', '.join(directories)}")

    def link(self) -> Self:
        """Link the inputs and load the result; returns the module."""
        self.module = self.linker.link_module()
        self.linker = None  # type: ignore[assignment]  # it is used up
        return self


def _cuda_static_library_dirs(first: _Path | None) -> list[str]:
    """Existing directories that may hold CUDA's static libraries."""
    import os
    import sys

    candidates = [] if first is None else [os.fspath(first)]
    for variable in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
        root = os.environ.get(variable)
        if root:
            candidates += [os.path.join(root, name) for name in ("lib64", "lib", os.path.join("lib", "x64"))]
    candidates += [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
    for path in sys.path:
        candidates += [
            os.path.join(path, "nvidia", "cu13", "lib"),
            os.path.join(path, "nvidia", "cuda_runtime", "lib"),
        ]
    candidates += ["/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"]
    return [path for path in dict.fromkeys(candidates) if os.path.isdir(path)]


class DynamicSourceModule(DynamicModule):
    """One source linked with CUDA's device runtime, for kernels that launch kernels.

    Parameters are those of :func:`compile`, and `cuda_libdir` of :class:`DynamicModule`.
    """

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: _Path | bool | None = None,
        include_dirs: Sequence[_Path] | None = None,
        cuda_libdir: _Path | None = None,
    ) -> None:
        super().__init__(nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs, cuda_libdir=cuda_libdir)
        self.add_source(source, nvcc_options=options)
        self.add_stdlib("cudadevrt")
        self.link()
