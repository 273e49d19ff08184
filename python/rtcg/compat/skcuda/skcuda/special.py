"""scikit-cuda's special functions: sine and cosine integrals, exponential integrals.

They are computed in double precision and rounded to the dtype of the result: power series near 0 (and near the negative
axis), continued fractions further away (Abramowitz and Stegun, 5.1.11 and 5.1.22, by the modified method of Lentz), and
the asymptotic series 5.1.51 for large numbers near the negative axis. Arrays have any shape and layout; functions
return new arrays and do not wait.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rtcg import numpy as xp
from rtcg.elementwise import ElementwiseKernel
from rtcg.numpy import GPUArray

from .misc import _allocates, _require_array, init

__all__ = ["exp1", "expi", "init", "sici"]

_SOURCE = """
#include <pycuda-complex.hpp>

namespace skcuda_special {

typedef pycuda::complex<double> cplx;

__device__ const double euler_gamma = 0.57721566490153286061;
__device__ const double pi = 3.14159265358979323846;

// Multiplication without the special cases of infinities.
__device__ inline cplx product(cplx a, cplx b)
{
    return cplx(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

__device__ inline cplx reciprocal(cplx a)
{
    double scale = fmax(fabs(a.real()), fabs(a.imag()));
    double re = a.real() / scale, im = a.imag() / scale, norm = (re * re + im * im) * scale;
    return cplx(re / norm, -im / norm);
}

// -gamma - log z - sum over k >= 1 of (-z)^k / (k k!), beside the sum: the logarithm is added by the caller.
__device__ cplx e1_series(cplx z)
{
    cplx term(1.0, 0.0), sum(0.0, 0.0);
    for (int k = 1; k < 500; ++k) {
        cplx next = product(term, z);
        term = cplx(-next.real() / k, -next.imag() / k);
        sum += cplx(term.real() / k, term.imag() / k);
        if (fabs(term.real()) + fabs(term.imag()) < 1e-17 * k * (fabs(sum.real()) + fabs(sum.imag())))
            break;
    }
    return cplx(-euler_gamma - sum.real(), -sum.imag());
}

// exp(z) E1(z) = 1 / (z + 1 - 1 / (z + 3 - 4 / (z + 5 - 9 / ...)))
__device__ cplx e1_fraction(cplx z)
{
    cplx b(z.real() + 1.0, z.imag());
    cplx c(1e300, 0.0), d = reciprocal(b), h = d;
    for (int k = 1; k < 1000; ++k) {
        double a = -(double)k * k;
        b = cplx(b.real() + 2.0, b.imag());
        cplx inverse = reciprocal(c);
        d = reciprocal(cplx(a * d.real() + b.real(), a * d.imag() + b.imag()));
        c = cplx(b.real() + a * inverse.real(), b.imag() + a * inverse.imag());
        cplx delta = product(c, d);
        h = product(h, delta);
        if (fabs(delta.real() - 1.0) + fabs(delta.imag()) < 2e-16)
            break;
    }
    return h;
}

// exp(z) E1(z) ~ (1 - 1! / z + 2! / z^2 - ...) / z, as far as terms become smaller.
__device__ cplx e1_asymptotic(cplx z)
{
    cplx inverse = reciprocal(z), term = inverse, sum = inverse;
    double last = fabs(term.real()) + fabs(term.imag());
    for (int k = 1; k < 100; ++k) {
        cplx next = product(term, inverse);
        next = cplx(-k * next.real(), -k * next.imag());
        double size = fabs(next.real()) + fabs(next.imag());
        if (size >= last || size == 0)
            break;
        term = next;
        sum += term;
        last = size;
    }
    return sum;
}

// exp(-z) h
__device__ inline cplx times_exp(cplx z, cplx h)
{
    double sine, cosine, size = exp(-z.real());
    sincos(z.imag(), &sine, &cosine);
    if (z.imag() == 0)
        return cplx(size * h.real(), size * h.imag());
    return product(cplx(size * cosine, -size * sine), h);
}

__device__ cplx e1(cplx z)
{
    double x = z.real(), y = z.imag(), size = hypot(x, y);
    if (isnan(x) || isnan(y))
        return cplx(nan(""), nan(""));
    if (size == 0)
        return cplx(CUDART_INF, -y);
    if (isinf(x) && x > 0)
        return cplx(0.0, 0.0);
    bool is_near_negative_axis = x < -2 * fabs(y);
    if (size <= (x > 0 ? 2.0 : 5.0) || (is_near_negative_axis && size < 40)) {
        cplx series = e1_series(z);
        return cplx(series.real() - log(size), series.imag() - atan2(y, x));
    }
    cplx result = times_exp(z, is_near_negative_axis ? e1_asymptotic(z) : e1_fraction(z));
    return y == 0 && x < 0 ? cplx(result.real(), -copysign(pi, y)) : result;
}

__device__ cplx ei(cplx z)
{
    cplx negative = e1(cplx(-z.real(), -z.imag()));
    double turn = z.imag() > 0 || (z.imag() == 0 && z.real() > 0 && !signbit(z.imag())) ? pi : -pi;
    if (z.imag() == 0 && z.real() <= 0)
        turn = 0;
    return cplx(-negative.real(), -negative.imag() + turn);
}

__device__ void sine_cosine_integral(double x, double *si, double *ci)
{
    double size = fabs(x);
    if (isnan(x)) {
        *si = *ci = x;
    } else if (size == 0) {
        *si = x;
        *ci = -CUDART_INF;
    } else if (isinf(x)) {
        *si = copysign(pi / 2, x);
        *ci = x > 0 ? 0.0 : nan("");
    } else if (size <= 4) {
        double power = size, sine = size, cosine = 0;
        for (int k = 2; k < 60; k += 2) {
            power *= -size / k;             // (-1)^(k/2) x^k / k!
            cosine += power / k;
            power *= size / (k + 1);
            sine += power / (k + 1);
            if (fabs(power) < 1e-18)
                break;
        }
        *si = copysign(sine, x);
        *ci = euler_gamma + log(size) + cosine;
    } else {
        // E1(ix) = -Ci(x) + i (Si(x) - pi / 2)
        cplx h = e1_fraction(cplx(0.0, size));
        double sine, cosine;
        sincos(size, &sine, &cosine);
        *ci = -(cosine * h.real() + sine * h.imag());
        *si = copysign(pi / 2 + cosine * h.imag() - sine * h.real(), x);
    }
}

}
"""


@functools.cache
def _kernel(arguments: str, operation: str, name: str) -> Any:
    return ElementwiseKernel(arguments, operation, name, preamble="#include <math_constants.h>\n" + _SOURCE)


def _check(name: str, array: Any, dtypes: tuple[str, str]) -> np.dtype[Any]:
    if _require_array(name, array).dtype.name not in dtypes:
        raise ValueError(f"{name} has dtype {array.dtype}; expected {' or '.join(dtypes)}")
    return np.dtype(array.dtype)


def _complex_function(function: str, z: GPUArray) -> GPUArray:
    real = "float" if _check("z_gpu", z, ("complex64", "complex128")) == np.complex64 else "double"
    kernel = _kernel(
        f"pycuda::complex<{real}> *z, pycuda::complex<{real}> *e",
        f"skcuda_special::cplx w = skcuda_special::{function}(skcuda_special::cplx(z[i].real(), z[i].imag())); "
        f"e[i] = pycuda::complex<{real}>(w.real(), w.imag())",
        function,
    )
    result = xp.empty_like(z)
    kernel(z, result)
    return result


@_allocates
def sici(x_gpu: GPUArray) -> tuple[GPUArray, GPUArray]:
    """The sine and the cosine integral of each element, of float32 or float64.

    The cosine integral of a negative number is that of its absolute value (the real part), as in `scipy.special.sici`.
    """
    real = "float" if _check("x_gpu", x_gpu, ("float32", "float64")) == np.float32 else "double"
    kernel = _kernel(
        f"{real} *x, {real} *si, {real} *ci",
        "double s, c; skcuda_special::sine_cosine_integral(x[i], &s, &c); si[i] = s; ci[i] = c",
        "sici",
    )
    si_gpu, ci_gpu = xp.empty_like(x_gpu), xp.empty_like(x_gpu)
    kernel(x_gpu, si_gpu, ci_gpu)
    return si_gpu, ci_gpu


@_allocates
def exp1(z_gpu: GPUArray) -> GPUArray:
    """The exponential integral E1 of each element, of complex64 or complex128; the cut is the negative axis."""
    return _complex_function("e1", z_gpu)


@_allocates
def expi(z_gpu: GPUArray) -> GPUArray:
    """The exponential integral Ei of each element, of complex64 or complex128."""
    return _complex_function("ei", z_gpu)
