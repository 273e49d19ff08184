"""Arrays on the device with NumPy's arithmetic."""

from typing import Any

from rtcg._native import ArrayFlags as ArrayFlags, GPUArray as GPUArray
from rtcg.numpy._indexing import (
    argsort as argsort,
    argwhere as argwhere,
    flatnonzero as flatnonzero,
    nonzero as nonzero,
    put as put,
    put_along_axis as put_along_axis,
    resize as resize,
    searchsorted as searchsorted,
    sort as sort,
    take as take,
    take_along_axis as take_along_axis,
)
from rtcg.numpy._inspection import (
    array2string as array2string,
    array_equiv as array_equiv,
    array_repr as array_repr,
    array_str as array_str,
    can_cast as can_cast,
    common_type as common_type,
    degrees as degrees,
    fix as fix,
    geomspace as geomspace,
    iscomplex as iscomplex,
    iscomplexobj as iscomplexobj,
    isneginf as isneginf,
    isposinf as isposinf,
    isreal as isreal,
    isrealobj as isrealobj,
    ix_ as ix_,
    logspace as logspace,
    may_share_memory as may_share_memory,
    min_scalar_type as min_scalar_type,
    modf as modf,
    radians as radians,
    real_if_close as real_if_close,
    result_type as result_type,
    save as save,
    savetxt as savetxt,
    savez as savez,
    savez_compressed as savez_compressed,
    shares_memory as shares_memory,
    sinc as sinc,
    spacing as spacing,
)
from rtcg.numpy._joining import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    broadcast_arrays as broadcast_arrays,
    concat as concat,
    concatenate as concatenate,
    diagonal as diagonal,
    fliplr as fliplr,
    flipud as flipud,
    hstack as hstack,
    matrix_transpose as matrix_transpose,
    meshgrid as meshgrid,
    permute_dims as permute_dims,
    ravel as ravel,
    roll as roll,
    split as split,
    squeeze as squeeze,
    stack as stack,
    swapaxes as swapaxes,
    tile as tile,
    unstack as unstack,
    vstack as vstack,
)
from rtcg.numpy._nan_functions import (
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmin as nanmin,
    nanprod as nanprod,
    nanstd as nanstd,
    nansum as nansum,
    nanvar as nanvar,
)
from rtcg.numpy._padding import pad as pad
from rtcg.numpy._products import (
    convolve as convolve,
    correlate as correlate,
    cross as cross,
    cumulative_prod as cumulative_prod,
    cumulative_sum as cumulative_sum,
    diff as diff,
    einsum as einsum,
    einsum_path as einsum_path,
    gradient as gradient,
    interp as interp,
    kron as kron,
    matvec as matvec,
    polyval as polyval,
    trapezoid as trapezoid,
    unwrap as unwrap,
    vander as vander,
    vecmat as vecmat,
)
from rtcg.numpy._rearranging import (
    append as append,
    apply_along_axis as apply_along_axis,
    apply_over_axes as apply_over_axes,
    argpartition as argpartition,
    array_split as array_split,
    atleast_3d as atleast_3d,
    block as block,
    choose as choose,
    column_stack as column_stack,
    compress as compress,
    delete as delete,
    diag as diag,
    diag_indices_from as diag_indices_from,
    diagflat as diagflat,
    dsplit as dsplit,
    dstack as dstack,
    extract as extract,
    fill_diagonal as fill_diagonal,
    hsplit as hsplit,
    insert as insert,
    packbits as packbits,
    partition as partition,
    piecewise as piecewise,
    place as place,
    putmask as putmask,
    ravel_multi_index as ravel_multi_index,
    repeat as repeat,
    rollaxis as rollaxis,
    rot90 as rot90,
    select as select,
    sort_complex as sort_complex,
    tril_indices_from as tril_indices_from,
    trim_zeros as trim_zeros,
    triu_indices_from as triu_indices_from,
    unpackbits as unpackbits,
    unravel_index as unravel_index,
    vsplit as vsplit,
)
from rtcg.numpy._sets import (
    ediff1d as ediff1d,
    intersect1d as intersect1d,
    isin as isin,
    lexsort as lexsort,
    setdiff1d as setdiff1d,
    setxor1d as setxor1d,
    union1d as union1d,
    unique as unique,
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
    unique_values as unique_values,
)
from rtcg.numpy._statistics import (
    average as average,
    bincount as bincount,
    corrcoef as corrcoef,
    cov as cov,
    digitize as digitize,
    histogram as histogram,
    histogram2d as histogram2d,
    histogram_bin_edges as histogram_bin_edges,
    histogramdd as histogramdd,
    median as median,
    nanmedian as nanmedian,
    nanpercentile as nanpercentile,
    nanquantile as nanquantile,
    percentile as percentile,
    quantile as quantile,
)

__all__ = [
    "ArrayFlags",
    "GPUArray",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argwhere",
    "around",
    "array",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_split",
    "array_str",
    "asarray",
    "asin",
    "asinh",
    "asnumpy",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bincount",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "block",
    "broadcast_arrays",
    "broadcast_to",
    "can_cast",
    "cbrt",
    "ceil",
    "choose",
    "clip",
    "column_stack",
    "common_type",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "copy",
    "copysign",
    "copyto",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "deg2rad",
    "degrees",
    "delete",
    "diag",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "dsplit",
    "dstack",
    "ediff1d",
    "einsum",
    "einsum_path",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "extract",
    "eye",
    "fabs",
    "fill_diagonal",
    "fix",
    "flatnonzero",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "from_dlpack",
    "full",
    "full_like",
    "gcd",
    "geomspace",
    "gradient",
    "greater",
    "greater_equal",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "identity",
    "imag",
    "inner",
    "insert",
    "interp",
    "intersect1d",
    "invert",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "ix_",
    "kron",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logspace",
    "matmul",
    "matrix_transpose",
    "matvec",
    "max",
    "maximum",
    "may_share_memory",
    "mean",
    "median",
    "meshgrid",
    "min",
    "min_scalar_type",
    "minimum",
    "mod",
    "modf",
    "moveaxis",
    "multiply",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndim",
    "negative",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "piecewise",
    "place",
    "polyval",
    "positive",
    "pow",
    "power",
    "prod",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "rad2deg",
    "radians",
    "ravel",
    "ravel_multi_index",
    "real",
    "real_if_close",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "resize",
    "result_type",
    "right_shift",
    "rint",
    "roll",
    "rollaxis",
    "rot90",
    "round",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "searchsorted",
    "select",
    "setdiff1d",
    "setxor1d",
    "shape",
    "shares_memory",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "size",
    "sort",
    "sort_complex",
    "spacing",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "to_gpu",
    "to_gpu_async",
    "trace",
    "transpose",
    "trapezoid",
    "tril",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices_from",
    "true_divide",
    "trunc",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unstack",
    "unwrap",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]

def abs(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values; of complex numbers, their real lengths, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.absolute`, which `dtype` changes.
    """

def absolute(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values; of complex numbers, their real lengths, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.absolute`, which `dtype` changes.
    """

def add(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Sums, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.add`, which `dtype` changes.
    """

def all(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.all` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> bool:
    """Whether all elements are equal within a tolerance; waits."""

def amax(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.max` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def amin(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.min` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def any(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.any` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def arange(*args: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers, as `numpy.arange`."""

def arccos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose cosine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arccos`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def arccosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic cosines; NaN below 1, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arccosh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def arcsin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose sine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arcsin`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def arcsinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic sines, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arcsinh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def arctan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose tangent is x, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctan`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def arctan2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angle of the point (x2, x1), from -pi to pi, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctan2`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def arctanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic tangents; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctanh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def argmax(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.argmax` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def argmin(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.argmin` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def around(a: Any, decimals: Any = 0, out: Any = None) -> GPUArray:
    """Rounded to even at a number of decimals; see `numpy.round`."""

def array(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K") -> GPUArray:
    """A new device array of anything."""

def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> bool:
    """Whether shapes and elements are equal; waits."""

def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, device: Any = None) -> GPUArray:
    """A device array of anything.

    Device arrays are shared, also those of other libraries (``__cuda_array_interface__``, DLPack); anything else is
    copied, and the call waits for that copy. With `copy` true there is always a copy, with False a `ValueError`
    if one is needed.
    """

def asnumpy(a: Any) -> Any:
    """A host copy; waits."""

def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> GPUArray:
    """`x.astype`."""

def bitwise_and(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits that both have, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.bitwise_and`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_count(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The number of bits set in the absolute value, as uint8, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.bitwise_count`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_not(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted; of bools, not, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.invert`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_or(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits that one or both have, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.bitwise_or`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_xor(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits that differ, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.bitwise_xor`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def broadcast_to(a: Any, shape: Any) -> GPUArray:
    """`a` repeated to `shape` by strides of 0, as a view; see `numpy.broadcast_to`."""

def cbrt(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Cube roots, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.cbrt`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def ceil(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded up, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.ceil`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> GPUArray:
    """Elements limited to a range; see `numpy.clip`."""

def conj(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Complex conjugates, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.conjugate`, which `dtype` changes.
    """

def conjugate(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Complex conjugates, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.conjugate`, which `dtype` changes.
    """

def copy(a: Any, order: Any = "K") -> GPUArray:
    """`a.copy`."""

def copysign(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand with the sign of the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.copysign`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def cos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Cosines of radians, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.cos`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def cosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic cosines, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.cosh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def count_nonzero(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.count_nonzero` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Running products; see `numpy.cumprod`."""

def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Running sums along `axis`, or of the flattened array; see `numpy.cumsum`. Does not wait.

    One pass over memory, a scan with decoupled look-back (Merrill and Garland, 2016).
    """

def deg2rad(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Degrees as radians, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.deg2rad`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.divide`, which `dtype` changes.
    """

def divmod(x1: Any, x2: Any) -> tuple[GPUArray, GPUArray]:
    """Floor of the quotient, and the rest that belongs to it."""

def dot(a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """The inner product of vectors, and of all elements of arrays of one shape, as upstream's; else `numpy.dot`.

    Matrices of one shape are multiplied as matrices if they are square and no `dtype` is given.
    """

empty = GPUArray

def empty_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array with undefined contents, of the shape, memory order and dtype of `other_ary` unless given."""

def equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are equal, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.equal`, which `dtype` changes.
    """

def exp(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """e to the power of x, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.exp`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def exp2(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """2 to the power of x, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.exp2`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def expand_dims(a: Any, axis: Any) -> GPUArray:
    """`a` with new axes of length 1; see `numpy.expand_dims`."""

def expm1(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """exp(x) - 1, accurate near 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.expm1`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def fabs(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values as floats, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.fabs`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def flip(m: Any, axis: Any = None) -> GPUArray:
    """`m` with axes run backwards, as a view; see `numpy.flip`."""

def float_power(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Powers as float64 or complex128, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.float_power`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def floor(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded down, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.floor`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def floor_divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients rounded down, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.floor_divide`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def fmax(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The larger of two elements, of which a NaN loses, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.fmax`, which `dtype` changes.
    """

def fmin(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The smaller of two elements, of which a NaN loses, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.fmin`, which `dtype` changes.
    """

def fmod(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the dividend's sign, as C has them, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.fmod`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> GPUArray:
    """An array over the memory of a DLPack object on the device; host memory is copied over."""

def full(shape: Any, fill_value: Any, dtype: Any = None, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array in which every element is `fill_value`; does not wait."""

def full_like(other_ary: Any, fill_value: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element `fill_value`."""

def gcd(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Greatest common divisors, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.gcd`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def greater(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is greater than the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.greater`, which `dtype` changes.
    """

def greater_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is not less than the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.greater_equal`, which `dtype` changes.
    """

def heaviside(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """0 below 0, 1 above, the second operand at 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.heaviside`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def hypot(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The hypotenuse, sqrt(x1**2 + x2**2) without overflow, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.hypot`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def identity(n: Any, dtype: Any = ...) -> GPUArray:
    """The identity matrix."""

def imag(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Imaginary parts; zeros of real numbers, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.imag`, which `dtype` changes.
    """

def inner(a: Any, b: Any) -> GPUArray:
    """Sums of products over the last axes."""

def invert(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted; of bools, not, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.invert`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> GPUArray:
    """Whether elements are equal within a tolerance; see `numpy.isclose`."""

def isfinite(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are neither infinite nor NaN, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.isfinite`, which `dtype` changes.

    The result is of bools.
    """

def isinf(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are infinite, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.isinf`, which `dtype` changes.

    The result is of bools.
    """

def isnan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are NaN, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.isnan`, which `dtype` changes.

    The result is of bools.
    """

def lcm(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Least common multiples, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.lcm`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def ldexp(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """x1 * 2**x2, exactly where it fits, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.ldexp`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def left_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits moved up by as many places as the second operand says, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.left_shift`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def less(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is less than the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.less`, which `dtype` changes.
    """

def less_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is not greater than the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.less_equal`, which `dtype` changes.
    """

def log(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Natural logarithms, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.log`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def log10(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Logarithms to base 10, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.log10`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def log1p(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log(1 + x), accurate near 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.log1p`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def log2(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Logarithms to base 2, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.log2`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def logaddexp(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log(exp(x1) + exp(x2)) without overflow, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.logaddexp`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def logaddexp2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log2(2**x1 + 2**x2) without overflow, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.logaddexp2`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def logical_and(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether both elements are true."""

def logical_not(x: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether the element is false."""

def logical_or(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether one of the elements is true."""

def logical_xor(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether one of two elements is true and the other false, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.logical_xor`, which `dtype` changes.
    """

def matmul(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """The matrix product, with NumPy's rules for operands of one axis and for batches; does not wait.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast. Numbers of any dtype; the result's is
        NumPy's. Sums of float16 and bfloat16 are accumulated in float32.
    out : GPUArray, optional

    Raises
    ------
    ValueError
        When the shapes do not fit, or an operand has no axis.
    """

def max(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.max` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def maximum(a: Any, b: Any, out: Any = None, stream: Any = None) -> GPUArray:
    """The larger of two elements; NaN wins, as in `numpy.maximum`."""

def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.mean` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def min(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.min` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def minimum(a: Any, b: Any, out: Any = None, stream: Any = None) -> GPUArray:
    """The smaller of two elements; NaN wins, as in `numpy.minimum`."""

def mod(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the divisor's sign, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.remainder`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def moveaxis(a: Any, source: Any, destination: Any) -> GPUArray:
    """`a` with axes moved to other places; see `numpy.moveaxis`."""

def multiply(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Products, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.multiply`, which `dtype` changes.
    """

def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> GPUArray:
    """NaN and infinities replaced by numbers; see `numpy.nan_to_num`."""

def ndim(a: Any) -> int:
    """`a.ndim`."""

def negative(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The negatives, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.negative`, which `dtype` changes.
    """

def nextafter(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The next number after the first operand towards the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.nextafter`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def not_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements differ, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.not_equal`, which `dtype` changes.
    """

def ones(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of ones; does not wait."""

def ones_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element 1."""

def positive(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """A copy, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.positive`, which `dtype` changes.
    """

def power(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand to the power of the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.power`, which `dtype` changes.
    """

def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.prod` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def ptp(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.ptp` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def rad2deg(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Radians as degrees, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.rad2deg`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def real(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Real parts, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.real`, which `dtype` changes.
    """

def reciprocal(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """1 / x; of integers, rounded towards 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.reciprocal`, which `dtype` changes.
    """

def remainder(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the divisor's sign, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.remainder`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def reshape(a: Any, *shape: Any, order: Any = "C") -> GPUArray:
    """`a.reshape`."""

def right_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits moved down by as many places as the second operand says, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.right_shift`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def rint(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded to the nearest whole number, ties to even, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.rint`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def round(a: Any, decimals: Any = 0, out: Any = None) -> GPUArray:
    """Rounded to even at a number of decimals; see `numpy.round`."""

def shape(a: Any) -> tuple[int, ...]:
    """`a.shape`."""

def sign(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """-1, 0 or 1 by the sign; of complex numbers, x / abs(x), element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.sign`, which `dtype` changes.
    """

def signbit(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the sign bit is set, as of -0.0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.signbit`, which `dtype` changes.

    The result is of bools. A TypeError for complex numbers.
    """

def sin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Sines of radians, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.sin`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def sinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic sines, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.sinh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def size(a: Any, axis: Any = None) -> int:
    """`a.size`, or the length of an axis."""

def sqrt(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Square roots; NaN below 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.sqrt`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def square(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Squares, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.square`, which `dtype` changes.
    """

def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    ddof: Any = 0,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.std` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def subtract(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Differences, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.subtract`, which `dtype` changes.
    """

def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.sum` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def tan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Tangents of radians, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.tan`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def tanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic tangents, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.tanh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def tensordot(a: Any, b: Any, axes: Any = 2) -> GPUArray:
    """Sums of products over pairs of axes; see `numpy.tensordot`."""

def to_gpu(ary: Any, allocator: Any = None) -> GPUArray:
    """Copy a host array to a new array on the device; waits until the copy is done.

    Parameters
    ----------
    ary : array-like
        Of any shape; of a dtype that has a C type (numbers, bool, structures). C or Fortran order is kept, what
        has neither is copied in C order.
    allocator : callable, optional
        Of a number of bytes; by default `rtcg.driver.mem_alloc`.

    Returns
    -------
    GPUArray
        Of the shape and dtype of `ary`.

    Raises
    ------
    TypeError
        For a dtype without a C type, such as object.
    rtcg.driver.MemoryError
        When the device has not that much memory.
    """

def to_gpu_async(ary: Any, allocator: Any = None, stream: Any = None) -> GPUArray:
    """As `to_gpu`, in the order of `stream`.

    Page-locked memory (`rtcg.driver.pagelocked_empty`) is read when the stream got there and must stay unchanged until
    then; other memory is read before the call returns.
    """

def transpose(a: Any, axes: Any = None) -> GPUArray:
    """`a.transpose`."""

def tril(m: Any, k: Any = 0) -> GPUArray:
    """The lower triangle; elements above the diagonal `k` are 0."""

def triu(m: Any, k: Any = 0) -> GPUArray:
    """The upper triangle; elements below the diagonal `k` are 0."""

def true_divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.divide`, which `dtype` changes.
    """

def trunc(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded towards 0, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.trunc`, which `dtype` changes.

    A TypeError for complex numbers.
    """

def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    ddof: Any = 0,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """`numpy.var` of all elements, or along `axis` (an int or a tuple of int); does not wait.

    The result is on the device, without axes if `axis` is None. Elements where `where` is false are left out;
    `keepdims` leaves reduced axes with length 1; `out` takes the result. A dtype, or a stream, in the place of `axis`
    is seen, as upstream has it there.
    """

def vdot(a: Any, b: Any) -> GPUArray:
    """The inner product of all elements, the first conjugated."""

def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> GPUArray:
    """Sums of products along `axis`, the first operand conjugated."""

def where(criterion: Any, then_: Any = None, else_: Any = None, out: Any = None, stream: Any = None) -> GPUArray:
    """`then_` where the criterion is true, else `else_`; with the criterion alone, `nonzero`.

    Operands are broadcast and may be numbers. Does not wait, but with the criterion alone it does.
    """

def zeros(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of zeros; does not wait.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like
    allocator : callable, optional
        Of a number of bytes, such as `rtcg.tools.DeviceMemoryPool().allocate`; by default `rtcg.driver.mem_alloc`.
    order : str
        C or F.

    Raises
    ------
    rtcg.driver.MemoryError
        When the device has not that much memory.
    """

def zeros_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """As `empty_like`, with every element 0."""

def outer(a: Any, b: Any, out: Any = None) -> GPUArray:
    """All products of an element of `a` with one of `b`."""

def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> GPUArray:
    """The sum of a diagonal; see `numpy.trace`."""

def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Writes `src`, broadcast and converted, to `dst`, where a mask holds; see `numpy.copyto`."""

def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0
) -> Any:
    """Evenly spaced numbers over a range; see `numpy.linspace`."""

def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = ..., order: Any = "C") -> GPUArray:
    """Ones on a diagonal, zeros elsewhere; see `numpy.eye`."""

def angle(z: Any, deg: Any = False, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angles of complex numbers, in degrees if `deg`; see `numpy.angle`."""

def acos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose cosine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arccos`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def acosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic cosines; NaN below 1, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arccosh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def asin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose sine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arcsin`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def asinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic sines, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arcsinh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def atan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose tangent is x, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctan`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def atan2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angle of the point (x2, x1), from -pi to pi, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctan2`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64. A TypeError for complex numbers.
    """

def atanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic tangents; NaN outside [-1, 1], element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.arctanh`, which `dtype` changes.

    Integers and bools become floats: float16 of 8 bits, float32 of 16, else float64.
    """

def pow(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand to the power of the second, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.power`, which `dtype` changes.
    """

def bitwise_invert(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted; of bools, not, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.invert`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_left_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits moved up by as many places as the second operand says, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.left_shift`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """

def bitwise_right_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits moved down by as many places as the second operand says, element by element; does not wait.

    Operands are arrays, numbers, or what `asarray` takes, and broadcast: a ValueError if their shapes do not fit. The
    result, `out` or a new array, has the dtype of `numpy.right_shift`, which `dtype` changes.

    A TypeError for floats and complex numbers.
    """
