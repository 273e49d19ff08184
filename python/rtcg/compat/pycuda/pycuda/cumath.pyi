from typing import Any, Protocol

from rtcg._native import GPUArray, Stream

class _Unary(Protocol):
    def __call__(
        self,
        array: Any,
        stream_or_out: Any = None,
        *,
        out: GPUArray | None = None,
        stream: Stream | None = None,
    ) -> GPUArray: ...

fabs: _Unary
ceil: _Unary
floor: _Unary
exp: _Unary
log: _Unary
log10: _Unary
sqrt: _Unary
sin: _Unary
cos: _Unary
tan: _Unary
asin: _Unary
acos: _Unary
atan: _Unary
sinh: _Unary
cosh: _Unary
tanh: _Unary

def fmod(arg: Any, mod: Any, stream: Stream | None = None) -> GPUArray: ...
def frexp(arg: Any, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]: ...
def ldexp(significand: Any, exponent: Any, stream: Stream | None = None) -> GPUArray: ...
def modf(arg: Any, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]: ...
