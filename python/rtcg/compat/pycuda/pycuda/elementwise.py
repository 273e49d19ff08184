"""Kernels that execute a C snippet for each element of arrays.

`ElementwiseKernel` is that of `rtcg.elementwise`. The functions below return prepared kernels for contiguous arrays,
whose last argument is the number of elements; they are cached per context.
"""

import numpy as np

from pycuda.tools import context_dependent_memoize
from rtcg._arguments import ScalarArg, VectorArg, dtype_to_ctype, parse_arguments
from rtcg.elementwise import ElementwiseKernel, ElementwiseModule, prepared_kernel

__all__ = ["ElementwiseKernel", "get_elwise_kernel", "get_elwise_kernel_and_types", "get_elwise_module",
           "get_elwise_range_module"]  # fmt: skip


def _make_kernel(arguments, operation, name, keep, options, preamble="", loop_prep="", after_loop=""):
    return ElementwiseKernel(
        arguments, operation, name, keep, options, preamble=preamble, loop_prep=loop_prep, after_loop=after_loop
    )


def _without_range(arguments, names):
    """The arguments without the trailing ones for the size or range, which may be given or omitted."""
    arguments = list(parse_arguments(arguments))
    named = tuple(argument.name for argument in arguments[-len(names) :])
    return arguments[: -len(names)] if named == names else arguments


def get_elwise_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
):
    """A module with the kernel ``name(arguments..., unsigned long n)``; `arguments` may end with ``n``."""
    arguments = _without_range(arguments, ("n",))
    return ElementwiseModule(
        _make_kernel(arguments, operation, name, keep, options, preamble, loop_prep, after_loop), False
    )


def get_elwise_range_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
):
    """A module with the kernel ``name(arguments..., long start, long stop, long step)``.

    `arguments` may end with the last three.
    """
    arguments = _without_range(arguments, ("start", "stop", "step"))
    return ElementwiseModule(
        _make_kernel(arguments, operation, name, keep, options, preamble, loop_prep, after_loop), True
    )


def get_elwise_kernel_and_types(
    arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs
):
    """Return ``(module, prepared function, arguments)``; the arguments include those for the size or range."""
    arguments = parse_arguments(arguments)
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(arguments, operation, name, keep, options, **kwargs)
    return prepared_kernel(module, name, arguments, use_range)


def get_elwise_kernel(arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs):
    """Return the kernel prepared for ``prepared_call(grid, block, *arguments, n)``."""
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, use_range, **kwargs)[1]


# -- kernels by name ----------------------------------------------------------------------------


def _cast_expression(expression, source, target):
    """`expression` of dtype `source`, cast to the C type of `target`."""
    source, target = np.dtype(source), np.dtype(target)
    if source == target:
        return expression
    ctype = dtype_to_ctype(target)
    if target.kind == "c":
        if source.kind == "c":
            return f"{ctype}({expression}.real(), {expression}.imag())"
        return f"{ctype}({expression}, 0)"
    return f"({ctype})({expression}{'.real()' if source.kind == 'c' else ''})"


def _kernel_operand(dtype, name, is_scalar):
    return (ScalarArg(dtype, name), name) if is_scalar else (VectorArg(dtype, name, const=True), f"{name}[i]")


def _compute_type(dtype_z, *dtypes):
    common = np.result_type(*dtypes)
    return common if np.dtype(dtype_z) == np.bool_ else np.result_type(common, dtype_z)


@context_dependent_memoize
def get_take_kernel(dtype, idx_dtype, vec_count=1):
    """``dest_k[i] = src_k[idx[i]]``; arguments: idx, the dests, the srcs, n."""
    arguments = [VectorArg(idx_dtype, "idx", const=True)]
    arguments += [VectorArg(dtype, f"dest{k}") for k in range(vec_count)]
    arguments += [VectorArg(dtype, f"src{k}", const=True) for k in range(vec_count)]
    body = "\n".join(f"dest{k}[i] = src{k}[src_idx];" for k in range(vec_count))
    return get_elwise_kernel(arguments, f"{dtype_to_ctype(idx_dtype)} src_idx = idx[i];\n{body}", "take")


@context_dependent_memoize
def get_take_put_kernel(dtype, idx_dtype, with_offsets, vec_count=1):
    """``dest_k[dest_idx[i]] = src_k[src_idx[i] (+ offset_k)]``; arguments: dest_idx, src_idx, dests, srcs,
    offsets, n."""
    arguments = [VectorArg(idx_dtype, "gmem_dest_idx", const=True), VectorArg(idx_dtype, "gmem_src_idx", const=True)]
    arguments += [VectorArg(dtype, f"dest{k}") for k in range(vec_count)]
    arguments += [VectorArg(dtype, f"src{k}", const=True) for k in range(vec_count)]
    if with_offsets:
        arguments += [ScalarArg(idx_dtype, f"offset{k}") for k in range(vec_count)]
    index = dtype_to_ctype(idx_dtype)
    body = "\n".join(
        f"dest{k}[dest_idx] = src{k}[src_idx{f' + offset{k}' if with_offsets else ''}];" for k in range(vec_count)
    )
    return get_elwise_kernel(
        arguments, f"{index} src_idx = gmem_src_idx[i], dest_idx = gmem_dest_idx[i];\n{body}", "take_put"
    )


@context_dependent_memoize
def get_put_kernel(dtype, idx_dtype, vec_count=1):
    """``dest_k[dest_idx[i]] = src_k[i]``; arguments: dest_idx, dests, srcs, n."""
    arguments = [VectorArg(idx_dtype, "gmem_dest_idx", const=True)]
    arguments += [VectorArg(dtype, f"dest{k}") for k in range(vec_count)]
    arguments += [VectorArg(dtype, f"src{k}", const=True) for k in range(vec_count)]
    body = "\n".join(f"dest{k}[dest_idx] = src{k}[i];" for k in range(vec_count))
    return get_elwise_kernel(arguments, f"{dtype_to_ctype(idx_dtype)} dest_idx = gmem_dest_idx[i];\n{body}", "put")


@context_dependent_memoize
def get_copy_kernel(dtype_dest, dtype_src):
    """``dest[i] = src[i]`` with conversion."""
    arguments = [VectorArg(dtype_dest, "dest"), VectorArg(dtype_src, "src", const=True)]
    return get_elwise_kernel(arguments, f"dest[i] = {_cast_expression('src[i]', dtype_src, dtype_dest)}", "copy")


@context_dependent_memoize
def get_linear_combination_kernel(summand_descriptors, dtype_z):
    """The kernel ``z[i] = a0*x0[i] + a1*x1[i] + ...``, and the textures of the factors in device memory.

    Parameters
    ----------
    summand_descriptors : tuple of (bool, dtype, dtype)
        For each summand: whether its factor is in device memory, and the dtypes of factor and vector.

    Returns
    -------
    (Function, list of TextureReference)
        A factor in device memory is the first texel of its texture: bind it with `GPUArray.bind_to_texref_ext`
        and ``allow_double_hack=True``. The kernel's arguments: for each summand its factor, unless it has a
        texture, and its vector; then z, n.
    """
    arguments, textures, prep, terms = [], {}, [], []
    z = np.dtype(dtype_z)
    for k, (is_gpu_scalar, scalar_dtype, vector_dtype) in enumerate(summand_descriptors):
        if is_gpu_scalar:
            textures[f"tex_a{k}"] = f"texture<{dtype_to_ctype(scalar_dtype, with_fp_tex_hack=True)}, 1> tex_a{k};"
            prep.append(f"{dtype_to_ctype(scalar_dtype)} a{k} = fp_tex1Dfetch(tex_a{k}, 0);")
        else:
            arguments.append(ScalarArg(scalar_dtype, f"a{k}"))
        arguments.append(VectorArg(vector_dtype, f"x{k}", const=True))
        terms.append(f"{_cast_expression(f'a{k}', scalar_dtype, z)} * {_cast_expression(f'x{k}[i]', vector_dtype, z)}")
    arguments.append(VectorArg(z, "z"))
    module, kernel, _ = get_elwise_kernel_and_types(
        arguments,
        f"z[i] = {' + '.join(terms)}",
        "linear_combination",
        preamble="\n".join(["#include <pycuda-helpers.hpp>", *textures.values()]),
        loop_prep="\n".join(prep),
    )
    return kernel, [module.get_texref(name) for name in textures]


@context_dependent_memoize
def get_axpbyz_kernel(dtype_x, dtype_y, dtype_z, x_is_scalar=False, y_is_scalar=False):
    """``z[i] = a*x[i] + b*y[i]``; arguments a, x, b, y, z, n; a scalar x or y is passed by value."""
    (arg_x, x), (arg_y, y) = _kernel_operand(dtype_x, "x", x_is_scalar), _kernel_operand(dtype_y, "y", y_is_scalar)
    terms = [
        f"{_cast_expression(f, d, dtype_z)} * {_cast_expression(v, d, dtype_z)}"
        for f, v, d in (("a", x, dtype_x), ("b", y, dtype_y))
    ]
    arguments = [ScalarArg(dtype_x, "a"), arg_x, ScalarArg(dtype_y, "b"), arg_y, VectorArg(dtype_z, "z")]
    return get_elwise_kernel(arguments, f"z[i] = {terms[0]} + {terms[1]}", "axpbyz")


@context_dependent_memoize
def get_axpbz_kernel(dtype_x, dtype_z):
    """``z[i] = a*x[i] + b``; arguments a, x, b, z, n."""
    arguments = [
        ScalarArg(dtype_z, "a"),
        VectorArg(dtype_x, "x", True),
        ScalarArg(dtype_z, "b"),
        VectorArg(dtype_z, "z"),
    ]
    return get_elwise_kernel(arguments, f"z[i] = a * {_cast_expression('x[i]', dtype_x, dtype_z)} + b", "axpb")


@context_dependent_memoize
def get_binary_op_kernel(dtype_x, dtype_y, dtype_z, operator, x_is_scalar=False, y_is_scalar=False):
    """``z[i] = x[i] operator y[i]``; arguments x, y, z, n."""
    (arg_x, x), (arg_y, y) = _kernel_operand(dtype_x, "x", x_is_scalar), _kernel_operand(dtype_y, "y", y_is_scalar)
    common = _compute_type(dtype_z, dtype_x, dtype_y)
    value = f"({_cast_expression(x, dtype_x, common)} {operator} {_cast_expression(y, dtype_y, common)})"
    result = common if operator not in ("==", "!=", "<", "<=", ">", ">=") else np.bool_
    return get_elwise_kernel(
        [arg_x, arg_y, VectorArg(dtype_z, "z")], f"z[i] = {_cast_expression(value, result, dtype_z)}", "binary_op"
    )


@context_dependent_memoize
def get_rdivide_elwise_kernel(dtype_x, dtype_z):
    """``z[i] = y / x[i]``; arguments x, the value y, z, n."""
    arguments = [VectorArg(dtype_x, "x", True), ScalarArg(dtype_z, "y"), VectorArg(dtype_z, "z")]
    return get_elwise_kernel(arguments, f"z[i] = y / {_cast_expression('x[i]', dtype_x, dtype_z)}", "rdivide")


@context_dependent_memoize
def get_binary_func_kernel(func, dtype_x, dtype_y, dtype_z):
    """``z[i] = func(x[i], y[i])``; arguments x, y, z, n."""
    arguments = [VectorArg(dtype_x, "x", True), VectorArg(dtype_y, "y", True), VectorArg(dtype_z, "z")]
    return get_elwise_kernel(arguments, f"z[i] = {func}(x[i], y[i])", f"{_as_identifier(func)}_kernel")


@context_dependent_memoize
def get_binary_func_scalar_kernel(func, dtype_x, dtype_y, dtype_z):
    """``z[i] = func(x[i], y)``; arguments x, the value y, z, n."""
    arguments = [VectorArg(dtype_x, "x", True), ScalarArg(dtype_y, "y"), VectorArg(dtype_z, "z")]
    return get_elwise_kernel(arguments, f"z[i] = {func}(x[i], y)", f"{_as_identifier(func)}_kernel")


def get_binary_minmax_kernel(func, dtype_x, dtype_y, dtype_z, scalar_now):
    """``z[i] = min/max(x[i], y[i])``: `func` is "min" or "max"; with `scalar_now` y is a value."""
    if np.float64 not in (dtype_x, dtype_y) and np.dtype(dtype_z).kind == "f":
        func = f"f{func}f"
    elif np.dtype(dtype_z).kind == "f":
        func = f"f{func}"
    make = get_binary_func_scalar_kernel if scalar_now else get_binary_func_kernel
    return make(func, dtype_x, dtype_y, dtype_z)


def _as_identifier(text):
    return "".join(c if c.isalnum() else "_" for c in text)


@context_dependent_memoize
def get_fill_kernel(dtype):
    """``z[i] = a``; arguments a, z, n."""
    return get_elwise_kernel([ScalarArg(dtype, "a"), VectorArg(dtype, "z")], "z[i] = a", "fill")


@context_dependent_memoize
def get_reverse_kernel(dtype):
    """``z[n-1-i] = y[i]``; arguments y, z, n."""
    return get_elwise_kernel([VectorArg(dtype, "y", True), VectorArg(dtype, "z")], "z[n-1-i] = y[i]", "reverse")


@context_dependent_memoize
def get_real_kernel(dtype, real_dtype):
    """``z[i] = real(y[i])``; arguments y, z, n."""
    return get_elwise_kernel([VectorArg(dtype, "y", True), VectorArg(real_dtype, "z")], "z[i] = real(y[i])", "real")


@context_dependent_memoize
def get_imag_kernel(dtype, real_dtype):
    """``z[i] = imag(y[i])``; arguments y, z, n."""
    return get_elwise_kernel([VectorArg(dtype, "y", True), VectorArg(real_dtype, "z")], "z[i] = imag(y[i])", "imag")


@context_dependent_memoize
def get_conj_kernel(dtype, conj_dtype=None):
    """``z[i] = conj(y[i])``; arguments y, z, n."""
    arguments = [VectorArg(dtype, "y", True), VectorArg(conj_dtype or dtype, "z")]
    return get_elwise_kernel(arguments, "z[i] = pycuda::conj(y[i])", "conj")


@context_dependent_memoize
def get_arange_kernel(dtype):
    """``z[i] = start + i*step``; arguments z, start, step, n."""
    arguments = [VectorArg(dtype, "z"), ScalarArg(dtype, "start"), ScalarArg(dtype, "step")]
    return get_elwise_kernel(arguments, f"z[i] = start + ({dtype_to_ctype(dtype)})i * step", "arange")


@context_dependent_memoize
def get_pow_array_kernel(dtype_x, dtype_y, dtype_z, is_base_array, is_exp_array):
    """``z[i] = x ** y``, each of them an array or a value; arguments x, y, z, n."""
    (arg_x, x), (arg_y, y) = (
        _kernel_operand(dtype_x, "x", not is_base_array),
        _kernel_operand(dtype_y, "y", not is_exp_array),
    )
    z = np.dtype(dtype_z)
    if z.kind == "c":
        value = f"pow({_cast_expression(x, dtype_x, z)}, {_cast_expression(y, dtype_y, z)})"
    else:
        compute = np.float32 if z == np.float32 else np.float64
        value = f"pow({_cast_expression(x, dtype_x, compute)}, {_cast_expression(y, dtype_y, compute)})"
        value = _cast_expression(value, compute, z)
    return get_elwise_kernel([arg_x, arg_y, VectorArg(z, "z")], f"z[i] = {value}", "pow_method")


def _float_suffix(dtype):
    return "f" if np.dtype(dtype) == np.float32 else ""


@context_dependent_memoize
def get_fmod_kernel(dtype=np.float32):
    """``z[i] = fmod(arg[i], mod[i])``; arguments arg, mod, z, n."""
    arguments = [VectorArg(dtype, "arg", True), VectorArg(dtype, "mod", True), VectorArg(dtype, "z")]
    return get_elwise_kernel(arguments, f"z[i] = fmod{_float_suffix(dtype)}(arg[i], mod[i])", "fmod_kernel")


@context_dependent_memoize
def get_modf_kernel(dtype=np.float32):
    """Fraction and whole part; arguments x, intpart, fracpart, n."""
    arguments = [VectorArg(dtype, "x", True), VectorArg(dtype, "intpart"), VectorArg(dtype, "fracpart")]
    body = f"{dtype_to_ctype(dtype)} whole; fracpart[i] = modf{_float_suffix(dtype)}(x[i], &whole); intpart[i] = whole"
    return get_elwise_kernel(arguments, body, "modf_kernel")


@context_dependent_memoize
def get_frexp_kernel(dtype=np.float32):
    """Significand and exponent; arguments x, significand, exponent, n."""
    arguments = [VectorArg(dtype, "x", True), VectorArg(dtype, "significand"), VectorArg(dtype, "exponent")]
    body = f"int expt = 0; significand[i] = frexp{_float_suffix(dtype)}(x[i], &expt); exponent[i] = expt"
    return get_elwise_kernel(arguments, body, "frexp_kernel")


@context_dependent_memoize
def get_ldexp_kernel(dtype=np.float32):
    """``z[i] = sig[i] * 2**expt[i]``; arguments sig, expt, z, n."""
    arguments = [VectorArg(dtype, "sig", True), VectorArg(dtype, "expt", True), VectorArg(dtype, "z")]
    return get_elwise_kernel(arguments, f"z[i] = ldexp{_float_suffix(dtype)}(sig[i], (int)expt[i])", "ldexp_kernel")


@context_dependent_memoize
def get_unary_func_kernel(func_name, in_dtype, out_dtype=None):
    """``z[i] = func(y[i])``; arguments y, z, n."""
    arguments = [VectorArg(in_dtype, "y", True), VectorArg(in_dtype if out_dtype is None else out_dtype, "z")]
    return get_elwise_kernel(arguments, f"z[i] = {func_name}(y[i])", f"{_as_identifier(func_name)}_kernel")


@context_dependent_memoize
def get_if_positive_kernel(crit_dtype, dtype):
    """``result[i] = crit[i] > 0 ? then_[i] : else_[i]``; arguments crit, then_, else_, result, n."""
    arguments = [VectorArg(crit_dtype, "crit", True), VectorArg(dtype, "then_", True), VectorArg(dtype, "else_", True),
                 VectorArg(dtype, "result")]  # fmt: skip
    return get_elwise_kernel(arguments, "result[i] = crit[i] > 0 ? then_[i] : else_[i]", "if_positive")


@context_dependent_memoize
def get_where_kernel(crit_dtype, dtype):
    """``result[i] = crit[i] != 0 ? then_[i] : else_[i]``; arguments crit, then_, else_, result, n."""
    arguments = [VectorArg(crit_dtype, "crit", True), VectorArg(dtype, "then_", True), VectorArg(dtype, "else_", True),
                 VectorArg(dtype, "result")]  # fmt: skip
    return get_elwise_kernel(arguments, "result[i] = crit[i] != 0 ? then_[i] : else_[i]", "where")


@context_dependent_memoize
def get_scalar_op_kernel(dtype_x, dtype_a, dtype_y, operator):
    """``y[i] = x[i] operator a``; arguments x, the value a, y, n."""
    common = _compute_type(dtype_y, dtype_x, dtype_a)
    result = common if operator not in ("==", "!=", "<", "<=", ">", ">=") else np.bool_
    value = f"({_cast_expression('x[i]', dtype_x, common)} {operator} {_cast_expression('a', dtype_a, common)})"
    arguments = [VectorArg(dtype_x, "x", True), ScalarArg(dtype_a, "a"), VectorArg(dtype_y, "y")]
    return get_elwise_kernel(arguments, f"y[i] = {_cast_expression(value, result, dtype_y)}", "scalarop_kernel")


@context_dependent_memoize
def get_logical_not_kernel(dtype_x, dtype_out):
    """``z[i] = x[i] == 0``; arguments x, z, n."""
    return get_elwise_kernel(
        [VectorArg(dtype_x, "x", True), VectorArg(dtype_out, "z")], "z[i] = (x[i] == 0)", "logical_not"
    )
