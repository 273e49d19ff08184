"""Compile CUDA C++ source and load the resulting modules.

NVRTC compiles in this process; nvcc is used if it is named or an option requires it. Compiled programs are cached on
disk; see :func:`compile`.
"""

from __future__ import annotations

from rtcg import _native
from rtcg._pickling import PickledByArguments, remembers_arguments
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

    The default name ``"nvcc"`` means the compiler in use, NVRTC or clang; any other name is a program.
    """
    version, _ = _native.compiler_info(nvcc)
    return version


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
    settings = _native.CompileSettings(nvcc, options, keep, True, cache_dir=cache_dir, is_plain=True)
    return settings.compile(source, target)


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
    settings = _native.CompileSettings(nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
    return settings.compile(source, target)


class CudaModule:
    """Base of the classes that compile and load; forwards to the loaded ``module``."""

    module: Module

    def get_function(self, name: str) -> Function:
        """Return the kernel `name`, a :class:`rtcg.driver.Function`.

        For a :class:`SourceModule` with `no_extern_c`, `name` may be any C++ name: ``"ns::f"``, ``"f<float, 3>"``, or
        that of a kernel without C linkage. A template instance that the source does not use is compiled when first
        requested (and cached), into a separate module, which shares no variables with the others: a warning names
        variables that exist twice. Names in `name_expressions` are compiled with the rest.
        """
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return ``(address, size in bytes)`` of a variable; `name` as for :meth:`get_function`."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """Return the :class:`rtcg.driver.TextureReference` with this name."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return the :class:`rtcg.driver.SurfaceReference` with this name."""
        return self.module.get_surfref(name)

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
        from rtcg.driver import Context, _warn_at_user_line

        device = Context.get_device()
        digits = "".join(c for c in str(arch).rpartition("_")[2] if c.isdigit())
        if not digits:
            return
        asked = divmod(int(digits), 10)
        if asked > device.compute_capability():
            _warn_at_user_line(f"trying to compile for {arch}, which this device does not have")


class SourceModule(PickledByArguments, CudaModule):
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

    _needs_context = True

    @remembers_arguments
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
        self._check_arch(arch)
        settings = _native.CompileSettings(nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self.module = settings.load(source, name_expressions)

    def get_function(self, name: str) -> Function:
        function = super().get_function(name)
        function.__dict__["_made_by"] = (self, name)  # what pickles of it hold
        return function


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
        self._settings = _native.CompileSettings(nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs)
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
        from rtcg.driver import jit_input_type

        image, lto_options = self._settings.compile_to_link(source, nvcc_options)
        kind = jit_input_type.PTX if lto_options is None else jit_input_type.NVVM
        if lto_options is not None:
            self.linker.add_lto_options(lto_options)
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
