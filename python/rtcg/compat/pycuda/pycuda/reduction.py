"""Reductions of arrays by a C expression.

`ReductionKernel` is that of `rtcg.reduction`. The functions below return reductions by name, cached per context.
"""

import numpy as np

from pycuda.tools import context_dependent_memoize
from rtcg._arguments import ScalarArg, VectorArg, c_literal, dtype_to_ctype, parse_arguments
from rtcg.reduction import ReductionKernel

__all__ = [
    "ReductionKernel", "get_all_kernel", "get_any_kernel", "get_dot_kernel", "get_minmax_kernel", "get_minmax_neutral",
    "get_reduction_kernel_and_types", "get_reduction_module", "get_subset_dot_kernel", "get_subset_minmax_kernel",
    "get_subset_sum_kernel", "get_sum_kernel",
]  # fmt: skip


_STAGE_SOURCE = """
%(preamble)s
typedef %(out_type)s out_type;
#define REDUCE(a, b) (%(reduce_expr)s)
#define READ_AND_MAP(i) (%(map_expr)s)
struct rtcg_room { alignas(16) unsigned char raw[%(block_size)d * sizeof(out_type)]; };
extern "C" __global__ void %(name)s(out_type *out, %(arguments)s, unsigned int seq_count, unsigned long n)
{
  __shared__ rtcg_room room;
  out_type *sdata = reinterpret_cast<out_type *>(room.raw);
  const unsigned tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * %(block_size)d * seq_count + tid;
  out_type acc = %(neutral)s;
  for (unsigned s = 0; s < seq_count && i < n; ++s, i += %(block_size)d) acc = REDUCE(acc, (out_type)(READ_AND_MAP(i)));
  sdata[tid] = acc;
  __syncthreads();
  for (unsigned width = %(block_size)d / 2; width > 0; width /= 2)
  {
    if (tid < width) sdata[tid] = REDUCE(sdata[tid], sdata[tid + width]);
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
"""


def get_reduction_module(
    out_type,
    block_size,
    neutral,
    reduce_expr,
    map_expr,
    arguments,
    name="reduce_kernel",
    keep=False,
    options=None,
    preamble="",
):
    """A module with one stage of a multi-stage reduction, ``name(out, arguments..., seq_count, n)``.

    Each block of `block_size` threads (a power of two) reduces ``block_size * seq_count`` elements to one.
    """
    from pycuda.compiler import SourceModule

    if block_size & (block_size - 1):
        raise ValueError(f"block_size is {block_size}; expected a power of two")
    source = _STAGE_SOURCE % {
        "out_type": out_type, "block_size": block_size, "neutral": neutral, "reduce_expr": reduce_expr,
        "map_expr": map_expr, "arguments": arguments, "name": name, "preamble": preamble,
    }  # fmt: skip
    if "complex" in source:
        source = "#include <pycuda-complex.hpp>\n" + source
    if "half" in source:
        source = "#include <cuda_fp16.h>\n" + source
    return SourceModule(source, options=options, keep=keep, no_extern_c=True)


def get_reduction_kernel_and_types(
    stage,
    out_type,
    block_size,
    neutral,
    reduce_expr,
    map_expr=None,
    arguments=None,
    name="reduce_kernel",
    keep=False,
    options=None,
    preamble="",
):
    """Return ``(prepared function, types)`` of stage 1 or 2 of a multi-stage reduction.

    Stage 2 takes the result of stage 1, ``pycuda_reduction_inp``, before the other arguments.
    """
    if stage not in (1, 2):
        raise ValueError(f"stage is {stage!r}; expected 1 or 2")
    arguments = parse_arguments(arguments or [])
    if stage == 2:
        from pycuda.compyte.dtypes import TYPE_REGISTRY

        dtype = TYPE_REGISTRY.get_or_register_dtype(out_type)
        arguments = [VectorArg(dtype, "pycuda_reduction_inp", const=True), *arguments]
        map_expr = "pycuda_reduction_inp[i]"
    elif map_expr is None:
        map_expr = "in[i]"
    declared = ", ".join(argument.declarator() for argument in arguments)
    module = get_reduction_module(
        out_type, block_size, neutral, reduce_expr, map_expr, declared, name, keep, options, preamble
    )
    function = module.get_function(name)
    arguments += [ScalarArg(np.uint32, "seq_count"), ScalarArg(np.uint64, "n")]
    function.prepare("P" + "".join(argument.struct_char for argument in arguments))
    return function, [argument.dtype for argument in arguments]


def _cast_value(value, source, target):
    """`value` of dtype `source`, cast to the C type of `target`."""
    from pycuda.elementwise import _cast_expression

    return _cast_expression(value, source, target)


@context_dependent_memoize
def get_sum_kernel(dtype_out, dtype_in):
    """The sum of an array; `dtype_out` None means `dtype_in`."""
    dtype_in = np.dtype(dtype_in)
    dtype_out = dtype_in if dtype_out is None else np.dtype(dtype_out)
    return ReductionKernel(
        dtype_out, "0", "a+b", _cast_value("in[i]", dtype_in, dtype_out), [VectorArg(dtype_in, "in", const=True)], "sum"
    )


@context_dependent_memoize
def get_any_kernel(dtype_out, dtype_in):
    """Whether any element is not zero."""
    return ReductionKernel(
        dtype_out, "false", "a || b", f"in[i] != {dtype_to_ctype(dtype_in)}(0)",
        [VectorArg(dtype_in, "in", const=True)],
        "any_nonzero",
    )  # fmt: skip


@context_dependent_memoize
def get_all_kernel(dtype_out, dtype_in):
    """Whether all elements are not zero."""
    return ReductionKernel(
        dtype_out, "true", "a && b", f"in[i] != {dtype_to_ctype(dtype_in)}(0)",
        [VectorArg(dtype_in, "in", const=True)],
        "all_nonzero",
    )  # fmt: skip


@context_dependent_memoize
def get_subset_sum_kernel(dtype_out, dtype_subset, dtype_in):
    """The sum of the elements that an index array selects; arguments: indices, array."""
    dtype_in = np.dtype(dtype_in)
    dtype_out = dtype_in if dtype_out is None else np.dtype(dtype_out)
    arguments = [VectorArg(dtype_subset, "lookup_tbl", const=True), VectorArg(dtype_in, "in", const=True)]
    return ReductionKernel(
        dtype_out, "0", "a+b", _cast_value("in[lookup_tbl[i]]", dtype_in, dtype_out), arguments, "subset_sum"
    )


def _dot_types(dtype_out, dtype_a, dtype_b):
    dtype_b = dtype_a if dtype_b is None else dtype_b
    return np.dtype(np.result_type(dtype_a, dtype_b) if dtype_out is None else dtype_out), np.dtype(dtype_b)


@context_dependent_memoize
def get_dot_kernel(dtype_out, dtype_a=None, dtype_b=None):
    """The sum of products, without conjugation."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_types(dtype_out, dtype_a, dtype_b)
    arguments = [VectorArg(dtype_a, "a_", const=True), VectorArg(dtype_b, "b_", const=True)]
    product = f"{_cast_value('a_[i]', dtype_a, dtype_out)} * {_cast_value('b_[i]', dtype_b, dtype_out)}"
    return ReductionKernel(dtype_out, "0", "a+b", product, arguments, "dot")


@context_dependent_memoize
def get_subset_dot_kernel(dtype_out, dtype_subset, dtype_a=None, dtype_b=None):
    """The sum of products at the positions that an index array selects; arguments: indices, a, b."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_types(dtype_out, dtype_a, dtype_b)
    arguments = [
        VectorArg(dtype_subset, "lookup_tbl", True),
        VectorArg(dtype_a, "a_", True),
        VectorArg(dtype_b, "b_", True),
    ]
    place = "lookup_tbl[i]"
    product = f"{_cast_value(f'a_[{place}]', dtype_a, dtype_out)} * {_cast_value(f'b_[{place}]', dtype_b, dtype_out)}"
    return ReductionKernel(dtype_out, "0", "a+b", product, arguments, "subset_dot")


def get_minmax_neutral(what, dtype):
    """The C expression of a value above ("min") or below ("max") every value of `dtype`."""
    dtype = np.dtype(dtype)
    if what not in ("min", "max"):
        raise ValueError(f"what is {what!r}; expected 'min' or 'max'")
    if issubclass(dtype.type, np.inexact):
        return "INFINITY" if what == "min" else "-INFINITY"
    info = np.iinfo(dtype)
    return c_literal(info.max if what == "min" else info.min, dtype)


def _minmax_expression(what, dtype):
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return f"f{what}(a,b)"
    if dtype == np.float32:
        return f"f{what}f(a,b)"
    if dtype == np.float16:
        return f"__h{what}(a,b)"
    if dtype.kind in "iu":
        return f"{what}(a,b)"
    raise TypeError(f"{what} of dtype {dtype}; expected integers or real floating-point numbers")


@context_dependent_memoize
def get_minmax_kernel(what, dtype):
    """The smallest or largest element; like C's fmin and fmax, ignores NaN if there are numbers."""
    dtype = np.dtype(dtype)
    return ReductionKernel(
        dtype, get_minmax_neutral(what, dtype), _minmax_expression(what, dtype), "in[i]",
        [VectorArg(dtype, "in", const=True)], f"{what}_reduction",
    )  # fmt: skip


@context_dependent_memoize
def get_subset_minmax_kernel(what, dtype, dtype_subset):
    """The smallest or largest of the elements that an index array selects; arguments: indices, array."""
    dtype = np.dtype(dtype)
    arguments = [VectorArg(dtype_subset, "lookup_tbl", const=True), VectorArg(dtype, "in", const=True)]
    return ReductionKernel(
        dtype, get_minmax_neutral(what, dtype), _minmax_expression(what, dtype), "in[lookup_tbl[i]]", arguments,
        f"subset_{what}",
    )  # fmt: skip
