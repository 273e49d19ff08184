"""Elementary functions of arrays, for every floating-point and complex dtype.

All functions take arrays of any layout, enqueue their work and do not wait. Results have NumPy's dtypes: integers
become floating-point numbers. float16 and bfloat16 are computed in float32 and rounded once.
"""

import numpy as np

from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from rtcg._arguments import VectorArg
from rtcg._native import fuse_is_active, ufunc

__all__ = [
    "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "fabs", "floor", "fmod", "frexp", "ldexp", "log", "log10",
    "modf", "sin", "sinh", "sqrt", "tan", "tanh",
]  # fmt: skip

_KERNELS = {}
_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def _cached_kernel(key, make_kernel_source):
    """The kernel for a key, made once from the arguments and the operation that `make_kernel_source` returns."""
    kernel = _KERNELS.get(key)
    if kernel is None:
        kernel = _KERNELS[key] = ElementwiseKernel(*make_kernel_source(), f"{key[0]}_kernel")
    return kernel


def _dtype_of(name, argument, array):
    if not hasattr(array, "dtype"):
        raise TypeError(f"{name}: {argument} is of type {type(array).__name__}; expected a GPUArray")
    return np.dtype(array.dtype)


def _is_half(dtype):
    return dtype.itemsize == 2 and dtype.kind not in "iub"


def _float_dtype_for(dtype):
    """The floating-point dtype in which NumPy computes `dtype`."""
    if dtype.kind in "fc" or (dtype.kind == "V" and dtype.name == "bfloat16"):
        return dtype
    if dtype.kind not in "iub":
        raise TypeError(f"no function of arrays of dtype {dtype}")
    return np.dtype({1: np.float16, 2: np.float32}.get(dtype.itemsize, np.float64))


def _load_expression(expression, dtype, compute):
    if dtype.name == "float16":
        return f"__half2float({expression})"
    if dtype.name == "bfloat16":
        return f"__bfloat162float({expression})"
    return expression if dtype == compute else f"({'float' if compute == np.float32 else 'double'})({expression})"


def _store_expression(value, dtype):
    if dtype.name == "float16":
        return f"__float2half_rn({value})"
    if dtype.name == "bfloat16":
        return f"__float2bfloat16_rn({value})"
    return value


def _compute_type(dtype):
    return np.dtype(np.float32) if _is_half(dtype) else dtype


def _resolve_out_and_stream(name, shape, dtype, stream_or_out, out, stream):
    """The array for the result, and the stream; a positional argument may be either."""
    if stream_or_out is not None:
        if hasattr(stream_or_out, "dtype"):
            if out is not None:
                raise TypeError(f"{name} got out twice")
            out = stream_or_out
        elif stream is not None:
            raise TypeError(f"{name} got stream twice")
        else:
            stream = stream_or_out
    if out is None:
        return None, stream
    if tuple(out.shape) != shape:
        raise ValueError(f"out has shape {tuple(out.shape)}; expected {shape}")
    if out.dtype != dtype:
        raise TypeError(f"out has dtype {out.dtype}; expected {dtype}")
    return out, stream


def _new_like(array, dtype):
    strides = array.strides
    fortran = len(strides) > 1 and list(strides) == sorted(strides) and strides[0] != strides[-1]
    return gpuarray.GPUArray(tuple(array.shape), dtype, order="F" if fortran else "C")


def _unary_kernel(name, source, of_complex, to_integer):
    """The dtype of the results for elements of dtype `source`, and the kernel."""
    if source.kind == "c" and not of_complex:
        raise TypeError(f"{name} of complex numbers is not defined")
    # NumPy's ceil and floor leave integers as they are.
    result = source if to_integer and source.kind in "iub" else _float_dtype_for(source)
    real = np.dtype(f"f{source.itemsize // 2}") if name == "fabs" and source.kind == "c" else result
    compute = _compute_type(result)
    if source.kind == "c":
        value = f"pycuda::{'abs' if name == 'fabs' else name}(x[i])"
    elif result.kind in "iub":
        value = "x[i]"
    else:
        value = f"{name}{'f' if compute == np.float32 else ''}({_load_expression('x[i]', source, compute)})"
    arguments = [VectorArg(real, "z"), VectorArg(source, "x", const=True)]
    return real, ElementwiseKernel(arguments, f"z[i] = {_store_expression(value, real)}", f"{name}_kernel")


def _make_unary_function(name, of_complex, doc, to_integer=False):
    forms = {}

    def unary_function(array, stream_or_out=None, *, out=None, stream=None):
        source = _dtype_of(name, "array", array)
        form = forms.get(source)
        if form is None:
            form = forms[source] = _unary_kernel(name, source, of_complex, to_integer)
        real, kernel = form
        target, stream = _resolve_out_and_stream(name, tuple(array.shape), real, stream_or_out, out, stream)
        if stream is None and source.kind == "f" and fuse_is_active() and array.flags.forc:
            # The same function of the same numbers, as a part of the kernel that is being put together.
            return ufunc(_NUMPY_NAMES.get(name, name), [array], target)
        target = _new_like(array, real) if target is None else target
        kernel(target, array, stream=stream)
        return target

    unary_function.__name__ = unary_function.__qualname__ = name
    unary_function.__doc__ = f"""{doc}

    Parameters
    ----------
    array : GPUArray
    stream_or_out : Stream or GPUArray, optional
        One of the two below, by position.
    out : GPUArray, optional
        Where the result goes.
    stream : Stream, optional

    Returns
    -------
    GPUArray
        `out`, or a new array.
    """
    return unary_function


fabs = _make_unary_function("fabs", True, "The absolute value; of complex numbers a real one.")
ceil = _make_unary_function("ceil", False, "The least whole number that is not less.", to_integer=True)
floor = _make_unary_function("floor", False, "The greatest whole number that is not greater.", to_integer=True)
exp = _make_unary_function("exp", True, "The exponential.")
log = _make_unary_function("log", True, "The natural logarithm.")
log10 = _make_unary_function("log10", True, "The logarithm to base 10.")
sqrt = _make_unary_function("sqrt", True, "The square root.")
sin = _make_unary_function("sin", True, "The sine.")
cos = _make_unary_function("cos", True, "The cosine.")
tan = _make_unary_function("tan", True, "The tangent.")
asin = _make_unary_function("asin", True, "The inverse of the sine.")
acos = _make_unary_function("acos", True, "The inverse of the cosine.")
atan = _make_unary_function("atan", True, "The inverse of the tangent.")
sinh = _make_unary_function("sinh", True, "The hyperbolic sine.")
cosh = _make_unary_function("cosh", True, "The hyperbolic cosine.")
tanh = _make_unary_function("tanh", True, "The hyperbolic tangent.")


def _real_float_dtypes(name, argument, array):
    dtype = _float_dtype_for(_dtype_of(name, argument, array))
    if dtype.kind == "c":
        raise TypeError(f"{name} of complex numbers is not defined")
    return dtype, _compute_type(dtype)


def _float_suffix(compute):
    return "f" if compute == np.float32 else ""


def _broadcast_shape(a, b):
    return np.broadcast_shapes(tuple(a.shape), tuple(b.shape))


def fmod(arg, mod, stream=None):
    """The remainder of the division of `arg` by `mod`, with the sign of `arg`."""
    result = _float_dtype_for(np.result_type(_dtype_of("fmod", "arg", arg), _dtype_of("fmod", "mod", mod)))
    if result.kind == "c":
        raise TypeError("fmod of complex numbers is not defined")
    out = gpuarray.empty(_broadcast_shape(arg, mod), result)

    def make_kernel_source():
        compute = _compute_type(result)
        x, y = (_load_expression(f"{n}[i]", np.dtype(a.dtype), compute) for n, a in (("x", arg), ("y", mod)))
        arguments = [VectorArg(result, "z"), VectorArg(arg.dtype, "x", True), VectorArg(mod.dtype, "y", True)]
        return arguments, f"z[i] = {_store_expression(f'fmod{_float_suffix(compute)}({x}, {y})', result)}"

    _cached_kernel(("fmod", np.dtype(arg.dtype), np.dtype(mod.dtype)), make_kernel_source)(out, arg, mod, stream=stream)
    return out


def _compute_two_results(name, arg, statement, values, stream):
    """Two arrays with the shape of `arg`: the expressions `values` after the C `statement`, for each element."""
    result, compute = _real_float_dtypes(name, "arg", arg)
    parts = tuple(gpuarray.empty(tuple(arg.shape), result) for _ in values)

    def make_kernel_source():
        words = {
            "real": "float" if compute == np.float32 else "double",
            "function": name + _float_suffix(compute),
            "x": _load_expression("x[i]", np.dtype(arg.dtype), compute),
        }
        first, second = (_store_expression(value.format(**words), result) for value in values)
        arguments = [VectorArg(result, "a"), VectorArg(result, "b"), VectorArg(arg.dtype, "x", True)]
        return arguments, f"{statement.format(**words)} a[i] = {first}; b[i] = {second}"

    _cached_kernel((name, np.dtype(arg.dtype)), make_kernel_source)(*parts, arg, stream=stream)
    return parts


def frexp(arg, stream=None):
    """Return ``(significand, exponent)`` with ``arg == significand * 2**exponent`` and 0.5 <= significand < 1.

    The exponent has the dtype of the significand, as in PyCUDA.
    """
    statement = "int k = 0; const {real} f = {function}({x}, &k);"
    return _compute_two_results("frexp", arg, statement, ("f", "({real})k"), stream)


def ldexp(significand, exponent, stream=None):
    """Return ``significand * 2**exponent``; the exponent may have any real dtype."""
    result, compute = _real_float_dtypes("ldexp", "significand", significand)
    of_exponent = _dtype_of("ldexp", "exponent", exponent)
    out = gpuarray.empty(_broadcast_shape(significand, exponent), result)

    def make_kernel_source():
        s = _load_expression("s[i]", np.dtype(significand.dtype), compute)
        e = _load_expression("e[i]", of_exponent, np.dtype(np.float64)) if _is_half(of_exponent) else "e[i]"
        arguments = [VectorArg(result, "z"), VectorArg(significand.dtype, "s", True), VectorArg(of_exponent, "e", True)]
        return arguments, f"z[i] = {_store_expression(f'ldexp{_float_suffix(compute)}({s}, (int)({e}))', result)}"

    key = ("ldexp", np.dtype(significand.dtype), of_exponent)
    _cached_kernel(key, make_kernel_source)(out, significand, exponent, stream=stream)
    return out


def modf(arg, stream=None):
    """Return ``(fraction, whole)`` with ``arg == fraction + whole``, both with the sign of `arg`."""
    statement = "{real} part; const {real} rest = {function}({x}, &part);"
    return _compute_two_results("modf", arg, statement, ("rest", "part"), stream)
