"""PyFFT's plans over `rtcg.fft`: transforms of complex numbers, interleaved or split into two arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rtcg._conversions import as_dtype, as_integer
from rtcg._fft_plans import contiguous, transform
from rtcg._messages import shown
from rtcg.driver import Stream
from rtcg.numpy import GPUArray

__all__ = ["Plan"]

_COMPLEX = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}


class FFTPlan:
    """What `Plan` returns: transforms of one shape, which `execute` computes."""

    def __init__(
        self,
        shape: Any,
        dtype: Any = np.complex64,
        normalize: bool = True,
        wait_for_finish: bool | None = None,
        fast_math: bool = True,
        scale: float = 1.0,
        *,
        stream: Stream | None,
        has_own_streams: bool,
    ) -> None:
        self._lengths = _as_lengths(shape)
        self._dtype = as_dtype("dtype", dtype)
        if str(self._dtype) not in _COMPLEX:
            expected = "complex64 or complex128, or float32 or float64 for split arrays"
            raise ValueError(f"dtype is {shown(dtype)}; expected {expected}")
        self._normalize, self._scale = bool(normalize), scale
        self._waits = bool(wait_for_finish)
        self._stream, self._has_own_streams = stream, has_own_streams
        self.execute = self._execute_split if np.dtype(self._dtype).kind == "f" else self._execute_interleaved

    def _factor(self, inverse: bool) -> float:
        if not inverse:
            return self._scale
        return 1 / self._scale / (math.prod(self._lengths) if self._normalize else 1)

    def _transform(self, x: GPUArray, y: GPUArray, inverse: bool) -> None:
        kind = "ifft" if inverse else "fft"
        transform(kind, x, y, self._lengths[-1], self._factor(inverse))

    def _batch(self, name: str, memory: Any, batch: int) -> GPUArray:
        if isinstance(memory, GPUArray) and memory.dtype != self._dtype:
            raise ValueError(f"{name} has dtype {memory.dtype}; expected {self._dtype}, as the plan says")
        if isinstance(memory, GPUArray) and not memory.flags.forc:
            raise ValueError(f"{name} is a view whose elements are not adjacent; expected contiguous memory")
        batch = as_integer("batch", batch, least=1)
        return contiguous(batch, self._lengths).of(name, memory, self._dtype)

    def _finish(self, stream: Stream, wait_for_finish: bool | None) -> Stream | None:
        waits = self._waits if wait_for_finish is None else wait_for_finish
        if waits:
            stream.synchronize()
            return None
        return stream

    def _next_stream(self) -> Stream:
        if self._has_own_streams or self._stream is None:
            self._stream = Stream()
        return self._stream

    def _execute_interleaved(
        self,
        data_in: Any,
        data_out: Any = None,
        inverse: bool = False,
        batch: int = 1,
        wait_for_finish: bool | None = None,
    ) -> Stream | None:
        """Transform an array or pointer into `data_out`, or in place; returns the stream, unless it waits."""
        x = self._batch("data_in", data_in, batch)
        y = x if data_out is None else self._batch("data_out", data_out, batch)
        stream = self._next_stream()
        with stream:
            self._transform(x, y, inverse)
        return self._finish(stream, wait_for_finish)

    def _execute_split(
        self,
        data_in_re: Any,
        data_in_im: Any,
        data_out_re: Any = None,
        data_out_im: Any = None,
        inverse: bool = False,
        batch: int = 1,
        wait_for_finish: bool | None = None,
    ) -> Stream | None:
        """The same for real and imaginary parts in two arrays."""
        if (data_out_re is None) != (data_out_im is None):
            raise TypeError("one of data_out_re and data_out_im is None; expected both arrays or neither")
        if data_out_re is None:
            data_out_re, data_out_im = data_in_re, data_in_im
        re, im = self._batch("data_in_re", data_in_re, batch), self._batch("data_in_im", data_in_im, batch)
        out_re = self._batch("data_out_re", data_out_re, batch)
        out_im = self._batch("data_out_im", data_out_im, batch)
        stream = self._next_stream()
        with stream:
            parts = GPUArray((*re.shape, 2), self._dtype)
            parts[..., 0], parts[..., 1] = re, im
            z = parts.view(_COMPLEX[str(self._dtype)])[..., 0]
            self._transform(z, z, inverse)
            out_re[...], out_im[...] = z.real, z.imag
        return self._finish(stream, wait_for_finish)


def _as_lengths(shape: Any) -> tuple[int, ...]:
    lengths = shape if isinstance(shape, tuple) else (shape,)
    expected = "an int, or a tuple of one to three"
    if not 1 <= len(lengths) <= 3 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in lengths):
        raise ValueError(f"shape is {shown(shape)}; expected {expected}, each 1 or more")
    return tuple(map(int, lengths))


def Plan(
    shape: Any,
    dtype: Any = np.complex64,
    normalize: bool = True,
    wait_for_finish: bool | None = None,
    fast_math: bool = True,
    scale: float = 1.0,
    *,
    mempool: Any = None,
    context: Any = None,
    stream: Stream | None = None,
) -> FFTPlan:
    """A plan for transforms over up to three axes.

    Parameters
    ----------
    shape : int or tuple of int
        Lengths of one to three axes, of any number of elements (PyFFT has powers of two only).
    dtype : dtype-like
        complex64 or complex128 for interleaved numbers: ``execute(data_in, data_out=None, inverse=False, batch=1,
        wait_for_finish=None)``. float32 or float64 for split ones: ``execute(data_in_re, data_in_im, data_out_re=None,
        data_out_im=None, ...)``.
    normalize : bool
        Divide the results of inverse transforms by the number of elements.
    wait_for_finish : bool, optional
        Whether `execute` waits; by default if no `stream` is given. It returns the stream where it does not wait.
    fast_math : bool
        Accepted and without meaning.
    scale : float
        Forward transforms are multiplied by it, inverse ones divided.
    mempool : optional
        Accepted and without meaning: temporary memory is from the pool of arrays.
    context : Context, optional
        Each call of `execute` has a new stream then, in the context that is current.
    stream : Stream, optional
        In which `execute` works.

    Raises
    ------
    ValueError
        For another shape or dtype.
    """
    if wait_for_finish is None:
        wait_for_finish = stream is None
    has_own_streams = stream is None and context is not None
    options = {"stream": stream, "has_own_streams": has_own_streams}
    return FFTPlan(shape, dtype, normalize, wait_for_finish, fast_math, scale, **options)  # type: ignore[arg-type]
