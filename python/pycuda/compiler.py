"""From CUDA C++ source to loaded modules.

NVRTC compiles, in this process; nvcc is used when it is named or an option needs it. Compiled
programs are cached on disk, see :func:`compile`.
"""

from __future__ import annotations

from functools import cache
from warnings import warn

from pycuda import _rtcg
from pycuda._driver import CompileError

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
DEFAULT_NVCC_FLAGS: list[str] = _rtcg.default_nvcc_flags()


@cache
def get_nvcc_version(nvcc):
    """Return the version text of the compiler that `nvcc` stands for.

    The default name ``"nvcc"`` stands for NVRTC; any other name is a program.
    """
    version, _ = _rtcg.compiler_info(nvcc)
    return version


def preprocess_source(source, options, nvcc):
    """Return `source` after nvcc's preprocessor. Needs a program nvcc; NVRTC cannot do this.

    Nothing in this package needs the preprocessed text: the cache knows the headers by itself.
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


def compile_plain(source, options, keep, nvcc, cache_dir, target="cubin"):
    """Compile `source` as it is, without ``extern "C"`` and default options.

    See :func:`compile` for the parameters.
    """
    return _compile(source, nvcc, options, keep, True, None, None, cache_dir, None, target)


def compile(
    source,
    nvcc="nvcc",
    options=None,
    keep=False,
    no_extern_c=False,
    arch=None,
    code=None,
    cache_dir=None,
    include_dirs=None,
    target="cubin",
):
    """Compile CUDA C++ and return the binary.

    Parameters
    ----------
    source : str or object with ``str()``
        Source text. Unless `no_extern_c`, it is put inside ``extern "C" { }``, so that kernels keep
        their names; headers of the C library, of CUDA and of this package may be included all the
        same.
    nvcc : str
        ``"nvcc"`` lets NVRTC compile. Any other name or path is a program to run.
    options : sequence of str, optional
        Options in nvcc's spelling; :data:`DEFAULT_NVCC_FLAGS` when not given.
    keep : bool
        Keep the compiler's input and output in a directory, whose name is printed.
    arch, code : str, optional
        As nvcc's ``-arch`` and ``-code``. By default the device of the current context.
    cache_dir : path or False, optional
        Where compiled programs are kept: by default ``PYCUDA_CACHE_DIR`` or ``~/.cache/pycuda``.
        ``False`` switches the cache off, as does the environment variable ``PYCUDA_DISABLE_CACHE``.
        An entry is used again only when source, options, every included header and the compiler
        are the same.
    include_dirs : sequence of path, optional
        Searched for headers before all other directories.
    target : {"cubin", "ptx", "fatbin"}
        What to compile to. A device without machine code of its own (the virtual GPU) gets PTX
        where a cubin is asked for.

    Returns
    -------
    bytes

    Raises
    ------
    CompileError
        With the compiler's log, its options and the source lines concerned.

    Notes
    -----
    The interpreter is released while the compiler runs.
    """
    if options is None:
        options = DEFAULT_NVCC_FLAGS
    from pycuda import driver

    if getattr(driver, "CUDA_DEBUGGING", False):
        cache_dir = False
        keep = True
        options = [*options, "-g", "-G"]
    return _compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs, target)


def _compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs, target):
    if not isinstance(source, str):
        source = str(source)
    binary, log, from_cache = _rtcg.compile(
        source,
        nvcc,
        [str(option) for option in options],
        bool(keep),
        bool(no_extern_c),
        arch,
        code,
        cache_dir,
        list(include_dirs or ()),
        target,
    )
    if log and not from_cache:
        warn(f"The CUDA compiler succeeded, but said the following:\n{log}", stacklevel=3)
    return binary


class CudaModule:
    """Base of the classes that compile and load: forwards to the loaded ``module``."""

    def get_function(self, name):
        """Return the kernel `name`, a :class:`pycuda.driver.Function`."""
        return self.module.get_function(name)

    def _check_arch(self, arch):
        if arch is None:
            return
        from pycuda.driver import Context

        device = Context.get_device()
        digits = "".join(c for c in str(arch).rpartition("_")[2] if c.isdigit())
        if not digits:
            return
        asked = divmod(int(digits), 10)
        if asked > device.compute_capability():
            warn(f"trying to compile for {arch}, which this device does not have", stacklevel=4)

    def _bind_module(self):
        self.get_global = self.module.get_global
        self.get_texref = self.module.get_texref
        self.get_surfref = self.module.get_surfref


class SourceModule(CudaModule):
    """CUDA C++ source, compiled and loaded into the current context.

    Parameters are those of :func:`compile`.

    Attributes
    ----------
    module : pycuda.driver.Module
    """

    def __init__(
        self,
        source,
        nvcc="nvcc",
        options=None,
        keep=False,
        no_extern_c=False,
        arch=None,
        code=None,
        cache_dir=None,
        include_dirs=None,
    ):
        self._check_arch(arch)
        binary = compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        from pycuda.driver import module_from_buffer

        self.module = module_from_buffer(binary)
        self._bind_module()


class DynamicModule(CudaModule):
    """A program linked from several sources (not supported yet)."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("DynamicModule: linking at run time is not supported by this version")


class DynamicSourceModule(DynamicModule):
    """A source linked with the device run-time library (not supported yet)."""
