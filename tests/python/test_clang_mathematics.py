"""The functions of one float in CUDA C++ by clang: each within CUDA's bound, for all arguments or a sample of them.

The bounds are those of the CUDA C++ Programming Guide 13.0, "Mathematical Functions", in units in the last place of the
exact result. References are of double precision, which is some 2^28 times closer than a float.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from tests.python.depth import at_depth

special = pytest.importorskip("scipy.special")

pytestmark = [
    pytest.mark.usefixtures("context"),
    pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded:UserWarning"),
]

THREADS = 256
#: Arguments of a launch, and which of the 2^32 arguments are tried: a prime stride meets all exponents and last bits.
#: All of them take minutes a function, more than a sample of test-all (`--sample`) has.
CHUNK = 1 << 20
STRIDE = at_depth(30011, 997 if "RTCG_TEST_SAMPLE" in os.environ else 1)
#: Zeros, subnormal numbers, the ends of the range, infinities, NaNs, small integers and halves, and their neighbours.
ALWAYS = np.array(
    [0, 1, 2, 0x007FFFFF, 0x00800000, 0x00800001, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x42B17218]
    + [0x3F800000 + i for i in (-1, 0, 1)]
    + [0x3F000000 + i for i in (-1, 0, 1)]
    + [0x4B000000 + i for i in (-1, 0, 1)]
    + list(np.arange(1, 50, dtype=np.float32).view(np.uint32))
    + list((np.arange(1, 50, dtype=np.float32) / 2).view(np.uint32)),
    np.uint32,
)


class Function(NamedTuple):
    """A call of `x`, its bound in ulp, and the exact result of an array of doubles."""

    call: str
    bound: float
    exact: object
    #: Arguments for which the guide bounds the absolute error instead, and this bound.
    is_absolute: object = None
    absolute_bound: float = 0.0


def half_turns(x):
    """`x` less an even number, between -1 and 1: exact."""
    return x - 2 * np.rint(x / 2)


def sin_of_half_turns(x):
    y = half_turns(x)
    folded = np.where(np.abs(y) > 0.5, np.copysign(1 - np.abs(y), y), y)
    return np.where(folded == 0, np.copysign(0, x), np.sin(np.pi * folded))


def cos_of_half_turns(x):
    return np.sin(np.pi * (0.5 - np.abs(half_turns(x))))


def gamma(x):
    is_pole = (x < 0) & (np.trunc(x) == x)
    y = np.where(is_pole, np.nan, special.gamma(np.where(is_pole, 0.5, x)))
    # Where the result is no double, its sign is that of the sine.
    return np.where((x < -150) & ~is_pole, np.copysign(0, sin_of_half_turns(x)), y)


def log_gamma(x):
    return np.where(np.isinf(x), np.inf, special.gammaln(x))


def round_half_away(x):
    return np.where(np.abs(x) < 2**52, np.copysign(np.floor(np.abs(x) + 0.5), x), x)


def exponent(x):
    y = np.frexp(x)[1] - 1.0
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), y, x * x))


def integer_exponent(x):
    y = exponent(x)
    return np.where(np.isfinite(y), y, np.where(np.isposinf(y), 2.0**31 - 1, -(2.0**31)))


def as_long(x):
    """What a device makes of whole numbers in 64 bits, in double precision."""
    return np.where(np.isnan(x), -(2.0**63), np.clip(x, -(2.0**63), 2.0**63)) + 0.0


def bessel(call, exact):
    """These vanish at infinity, which SciPy does not know."""
    at_infinity = {"j": lambda x: 0 * np.sign(x), "y": lambda x: np.where(x > 0, 0, np.nan)}[call[0]]
    return Function(
        call, 9, lambda x: np.where(np.isinf(x), at_infinity(x), exact(x)), lambda x: np.abs(x) >= 8, 2.2e-6
    )


FUNCTIONS = [
    Function("expf(x)", 1, np.exp),
    Function("exp2f(x)", 2, np.exp2),
    Function("exp10f(x)", 2, lambda x: np.power(10.0, x)),
    Function("expm1f(x)", 1, np.expm1),
    Function("logf(x)", 1, np.log),
    Function("log2f(x)", 1, np.log2),
    Function("log10f(x)", 2, np.log10),
    Function("log1pf(x)", 1, np.log1p),
    Function("sinf(x)", 2, np.sin),
    Function("cosf(x)", 2, np.cos),
    Function("tanf(x)", 4, np.tan),
    Function("sine_of_both(x)", 2, np.sin),
    Function("cosine_of_both(x)", 2, np.cos),
    Function("sinpif(x)", 1, sin_of_half_turns),
    Function("cospif(x)", 1, cos_of_half_turns),
    Function("sinpi_of_both(x)", 1, sin_of_half_turns),
    Function("cospi_of_both(x)", 1, cos_of_half_turns),
    Function("asinf(x)", 2, np.arcsin),
    Function("acosf(x)", 2, np.arccos),
    Function("atanf(x)", 2, np.arctan),
    Function("sinhf(x)", 3, np.sinh),
    Function("coshf(x)", 2, np.cosh),
    Function("tanhf(x)", 2, np.tanh),
    Function("asinhf(x)", 3, np.arcsinh),
    Function("acoshf(x)", 4, np.arccosh),
    Function("atanhf(x)", 3, np.arctanh),
    Function("sqrtf(x)", 0.5, np.sqrt),
    Function("rsqrtf(x)", 2, lambda x: 1 / np.sqrt(x)),
    Function("cbrtf(x)", 1, np.cbrt),
    Function("rcbrtf(x)", 1, lambda x: 1 / np.cbrt(x)),
    Function("erff(x)", 2, special.erf),
    Function("erfcf(x)", 4, special.erfc),
    Function("erfcxf(x)", 4, special.erfcx),
    Function("erfinvf(x)", 2, lambda x: np.copysign(special.erfinv(x), x)),
    Function("erfcinvf(x)", 4, lambda x: special.erfcinv(x) + 0.0),
    Function("normcdff(x)", 5, special.ndtr),
    Function("normcdfinvf(x)", 5, special.ndtri),
    Function("tgammaf(x)", 5, gamma),
    # Between these there are zeros.
    Function("lgammaf(x)", 6, log_gamma, lambda x: (x > -10.001) & (x < -2.264), 1e-5),
    bessel("j0f(x)", special.j0),
    bessel("j1f(x)", special.j1),
    bessel("y0f(x)", special.y0),
    bessel("y1f(x)", special.y1),
    Function("cyl_bessel_i0f(x)", 6, lambda x: np.where(np.isinf(x), np.inf, special.i0(x))),
    Function("cyl_bessel_i1f(x)", 6, lambda x: np.where(np.isinf(x) | (x == 0), x, special.i1(x))),
    Function("fabsf(x)", 0, np.abs),
    Function("floorf(x)", 0, np.floor),
    Function("ceilf(x)", 0, np.ceil),
    Function("truncf(x)", 0, np.trunc),
    Function("rintf(x)", 0, np.rint),
    Function("nearbyintf(x)", 0, np.rint),
    Function("roundf(x)", 0, round_half_away),
    Function("logbf(x)", 0, exponent),
    Function("ilogbf(x)", 0.5, integer_exponent),
    Function("llrintf(x)", 0, lambda x: as_long(np.rint(x))),
    Function("llroundf(x)", 0, lambda x: as_long(round_half_away(x))),
    Function("parts_of_frexp(x)", 0, lambda x: x),
    Function(
        "fraction_of_modf(x)", 0, lambda x: np.where(np.isinf(x), np.copysign(0, x), np.copysign(x - np.trunc(x), x))
    ),
    Function("sum_of_modf(x)", 0, lambda x: x),
]

HELPERS = """
__device__ float sine_of_both(float x) { float s, c; sincosf(x, &s, &c); return s; }
__device__ float cosine_of_both(float x) { float s, c; sincosf(x, &s, &c); return c; }
__device__ float sinpi_of_both(float x) { float s, c; sincospif(x, &s, &c); return s; }
__device__ float cospi_of_both(float x) { float s, c; sincospif(x, &s, &c); return c; }
__device__ float parts_of_frexp(float x) { int e; float m = frexpf(x, &e); return ldexpf(m, e); }
__device__ float fraction_of_modf(float x) { float w; return modff(x, &w); }
__device__ float sum_of_modf(float x) { float w, f = modff(x, &w); return copysignf(f + w, x); }
"""


def name_of(function):
    return function.call.removesuffix("(x)")


@pytest.fixture(scope="module")
def module(context):
    """One kernel for each function."""
    kernels = [
        f"""__global__ void k_{name_of(f)}(const float *a, float *r) {{
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        const float x = a[i];
        r[i] = {f.call};
    }}"""
        for f in FUNCTIONS
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RTCG_COMPILER", "clang")
        return SourceModule(HELPERS + "\n".join(kernels))


def unit_in_last_place(exact):
    """Of float, at doubles."""
    exponents = np.frexp(exact)[1]
    return np.ldexp(1.0, np.clip(np.where(np.isfinite(exact), exponents, 128), -125, 128) - 24)


def errors(got, exact):
    """The errors in ulp; infinite where a NaN, an infinity or the sign of a zero is wrong."""
    rounded = exact.astype(np.float32)
    is_right = (got == rounded) & (np.signbit(got) == np.signbit(exact)) & (np.isinf(got) | (got == 0))
    # A result out of range counts as the next power of 2.
    limit = 2.0**128
    near = np.where(np.isinf(rounded), np.clip(exact, -limit, limit), exact)
    far = np.where(np.isinf(got), np.copysign(limit, got), got.astype(np.float64))
    error = np.abs(far - near) / unit_in_last_place(near)
    is_wrong = np.isnan(got) | np.isnan(exact) | (np.isinf(got) & np.isinf(exact))
    is_wrong |= (got == 0) & (exact == 0) | np.isinf(exact)
    error = np.where(is_wrong, np.inf, error)
    return np.where(is_right | (np.isnan(got) & np.isnan(exact)), 0, error)


def chunks():
    """Bits of arguments: those always tried, then all or every so many of them."""
    yield np.concatenate([ALWAYS, ALWAYS | np.uint32(1 << 31)])
    for first in range(0, 1 << 32, CHUNK * STRIDE):
        yield np.arange(first, min(first + CHUNK * STRIDE, 1 << 32), STRIDE, dtype=np.uint64).astype(np.uint32)


def results(kernel, arguments):
    n = len(arguments)
    blocks = -(-n // THREADS)
    padded = np.zeros(blocks * THREADS, np.float32)
    padded[:n] = arguments
    out = np.zeros_like(padded)
    kernel(drv.In(padded), drv.Out(out), block=(THREADS, 1, 1), grid=(blocks, 1))
    return out[:n]


@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_bound(function, module):
    kernel = module.get_function("k_" + name_of(function))
    for bits in chunks():
        arguments = bits.view(np.float32)
        got = results(kernel, arguments)
        with np.errstate(all="ignore"):
            x = arguments.astype(np.float64)
            exact = np.asarray(function.exact(x), np.float64)
            error = errors(got, exact)
            if function.is_absolute is not None:
                difference = np.where(got == exact.astype(np.float32), 0, np.abs(got - exact))
                error = np.where(
                    function.is_absolute(x), np.where(difference <= function.absolute_bound, 0, np.inf), error
                )
                error = np.where(np.isnan(got) & np.isnan(exact), 0, error)
        worst = np.argmax(error)
        assert error[worst] <= function.bound, (
            f"{function.call} of {x[worst].hex()} is {float(got[worst]).hex()}, "
            f"{error[worst]:.3f} ulp from {exact[worst].hex()}; {(error > function.bound).sum()} like this"
        )
