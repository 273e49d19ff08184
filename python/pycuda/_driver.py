"""What upstream keeps in its native module: exception classes, enumerations, driver objects."""

from pycuda import _rtcg
from pycuda._enums import *  # noqa: F403
from pycuda._rtcg import *  # noqa: F403
from pycuda._rtcg import Error


class CompileError(Error):
    """The compiler refused a source.

    Attributes
    ----------
    msg : str
        What went wrong, followed by the numbered source lines that the compiler speaks of first.
    command_line : sequence of str
        The compiler's command line, or its name followed by the options it was given.
    stdout, stderr : str or None
        The compiler's whole output. A run-time compiler's log is in ``stderr``. The message shows
        the beginning of a long one, and of a long line the part concerned.
    source : str or None
        The source as it was given (an addition to PyCUDA).
    """

    source = None
    _shown_log = None

    def __init__(self, msg, command_line, stdout=None, stderr=None):
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self):
        text = self.msg
        if self.command_line:
            text += "\n[command: {}]".format(" ".join(self.command_line))
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self._shown_log or self.stderr}]"
        return text


CompileError.__module__ = "pycuda._driver"


def get_curand_version():
    """The version of cuRAND whose sequences `pycuda.curandom` makes; no library is loaded."""
    return (10, 4, 0)


def _bits(kind):
    """The number of direction numbers in a dimension of a set, each of as many bits."""
    bits = {101: 32, 102: 32, 103: 64, 104: 64}
    if kind not in bits:
        raise ValueError(f"set is {kind!r}; expected a member of pycuda.curandom.direction_vector_set")
    return bits[kind]


def _fill(dst, values, bits, shape):
    """Put `values` into the host array `dst`."""
    import numpy as np

    if not isinstance(dst, np.ndarray) or dst.dtype != f"u{bits // 8}" or dst.size < len(values):
        shown = f"{dst.dtype} array of shape {dst.shape}" if isinstance(dst, np.ndarray) else type(dst).__name__
        raise TypeError(f"dst is a {shown}; expected a NumPy array of uint{bits} of shape {shape}")
    dst.flat[: len(values)] = values


def _get_direction_vectors(set, dst, count):
    """Put Sobol's direction numbers of the first `count` dimensions into the host array `dst`."""
    bits = _bits(set)
    _fill(dst, _rtcg.sobol_vectors(bits, count), bits, (count, bits))


def _get_scramble_constants32(dst, count):
    """Put the 32-bit scrambling constants of the first `count` dimensions into the host array `dst`."""
    _fill(dst, [value >> 32 for value in _rtcg.scramble_constants(count)], 32, (count,))


def _get_scramble_constants64(dst, count):
    """Put the 64-bit scrambling constants of the first `count` dimensions into the host array `dst`."""
    _fill(dst, _rtcg.scramble_constants(count), 64, (count,))
