"""Arrays on the device with NumPy's arithmetic."""

from typing import Any

from numpy import (
    False_ as False_,
    ScalarType as ScalarType,
    True_ as True_,
    base_repr as base_repr,
    binary_repr as binary_repr,
    bool_ as bool_,
    broadcast_shapes as broadcast_shapes,
    byte as byte,
    bytes_ as bytes_,
    cdouble as cdouble,
    character as character,
    complex64 as complex64,
    complex128 as complex128,
    complexfloating as complexfloating,
    csingle as csingle,
    double as double,
    dtype as dtype,
    e as e,
    errstate as errstate,
    euler_gamma as euler_gamma,
    finfo as finfo,
    flexible as flexible,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    floating as floating,
    format_float_positional as format_float_positional,
    format_float_scientific as format_float_scientific,
    generic as generic,
    get_printoptions as get_printoptions,
    geterr as geterr,
    half as half,
    iinfo as iinfo,
    index_exp as index_exp,
    inexact as inexact,
    inf as inf,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int_ as int_,
    intc as intc,
    integer as integer,
    intp as intp,
    isdtype as isdtype,
    isscalar as isscalar,
    issubdtype as issubdtype,
    iterable as iterable,
    little_endian as little_endian,
    long as long,
    longlong as longlong,
    mintypecode as mintypecode,
    nan as nan,
    ndindex as ndindex,
    newaxis as newaxis,
    number as number,
    pi as pi,
    printoptions as printoptions,
    promote_types as promote_types,
    s_ as s_,
    sctypeDict as sctypeDict,
    set_printoptions as set_printoptions,
    seterr as seterr,
    short as short,
    signedinteger as signedinteger,
    single as single,
    typecodes as typecodes,
    typename as typename,
    ubyte as ubyte,
    uint as uint,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uintc as uintc,
    uintp as uintp,
    ulong as ulong,
    ulonglong as ulonglong,
    unsignedinteger as unsignedinteger,
    ushort as ushort,
    void as void,
)

from rtcg import fft as fft, linalg as linalg, random as random
from rtcg._native import ArrayFlags as ArrayFlags, GPUArray as GPUArray
from rtcg.numpy._choosing import (
    choose as choose,
    compress as compress,
    extract as extract,
    piecewise as piecewise,
    place as place,
    putmask as putmask,
    select as select,
)
from rtcg.numpy._creation import (
    asanyarray as asanyarray,
    asarray_chkfinite as asarray_chkfinite,
    ascontiguousarray as ascontiguousarray,
    asfortranarray as asfortranarray,
    bartlett as bartlett,
    blackman as blackman,
    c_ as c_,
    diag_indices as diag_indices,
    frombuffer as frombuffer,
    fromfile as fromfile,
    fromfunction as fromfunction,
    fromiter as fromiter,
    fromstring as fromstring,
    genfromtxt as genfromtxt,
    hamming as hamming,
    hanning as hanning,
    indices as indices,
    isfortran as isfortran,
    kaiser as kaiser,
    load as load,
    loadtxt as loadtxt,
    mask_indices as mask_indices,
    mgrid as mgrid,
    ogrid as ogrid,
    r_ as r_,
    require as require,
    tri as tri,
    tril_indices as tril_indices,
    triu_indices as triu_indices,
)
from rtcg.numpy._diagonals import (
    diag as diag,
    diag_indices_from as diag_indices_from,
    diagflat as diagflat,
    fill_diagonal as fill_diagonal,
    tril_indices_from as tril_indices_from,
    triu_indices_from as triu_indices_from,
)
from rtcg.numpy._einsum import einsum as einsum, einsum_path as einsum_path
from rtcg.numpy._indexing import (
    argpartition as argpartition,
    argsort as argsort,
    argwhere as argwhere,
    flatnonzero as flatnonzero,
    nonzero as nonzero,
    partition as partition,
    put as put,
    put_along_axis as put_along_axis,
    ravel_multi_index as ravel_multi_index,
    resize as resize,
    searchsorted as searchsorted,
    sort as sort,
    sort_complex as sort_complex,
    take as take,
    take_along_axis as take_along_axis,
    unravel_index as unravel_index,
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
    append as append,
    array_split as array_split,
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    block as block,
    broadcast_arrays as broadcast_arrays,
    column_stack as column_stack,
    concat as concat,
    concatenate as concatenate,
    diagonal as diagonal,
    dsplit as dsplit,
    dstack as dstack,
    fliplr as fliplr,
    flipud as flipud,
    hsplit as hsplit,
    hstack as hstack,
    matrix_transpose as matrix_transpose,
    meshgrid as meshgrid,
    permute_dims as permute_dims,
    ravel as ravel,
    roll as roll,
    rollaxis as rollaxis,
    rot90 as rot90,
    split as split,
    squeeze as squeeze,
    stack as stack,
    swapaxes as swapaxes,
    tile as tile,
    unstack as unstack,
    vsplit as vsplit,
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
    apply_along_axis as apply_along_axis,
    apply_over_axes as apply_over_axes,
    delete as delete,
    insert as insert,
    packbits as packbits,
    repeat as repeat,
    trim_zeros as trim_zeros,
    unpackbits as unpackbits,
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

ndarray = GPUArray

def abs(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values; for complex numbers, their moduli, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.absolute` unless `dtype` is given. Computed in `stream` if given.
    """

def absolute(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values; for complex numbers, their moduli, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.absolute` unless `dtype` is given. Computed in `stream` if given.
    """

def add(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Sums, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.add` unless `dtype` is given. Computed in `stream` if given.
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
    """Whether no element is 0, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is bool. True
    for no elements. Elements where `where` is false are left out, `initial` is included, and `keepdims` keeps
    reduced axes with length 1. As in PyCUDA, a dtype or a stream may take the place of `axis`.
    """

def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> bool:
    """Whether all elements of `a` and `b` are close, as a bool; waits for the answer.

    Operands and tolerances are those of `isclose`: they are broadcast, with a `ValueError` if their shapes do not fit.
    """

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
    """The largest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`. NaN if there is one; raises ValueError for no elements unless `initial` is given. Elements where `where` is
    false are left out, `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a
    dtype or a stream may take the place of `axis`.
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
    """The smallest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`. NaN if there is one; raises ValueError for no elements unless `initial` is given. Elements where `where` is
    false are left out, `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a
    dtype or a stream may take the place of `axis`.
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
    """Whether at least one element is not 0, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is bool. False
    for no elements. Elements where `where` is false are left out, `initial` is included, and `keepdims` keeps
    reduced axes with length 1. As in PyCUDA, a dtype or a stream may take the place of `axis`.
    """

def arange(*args: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None)``: evenly spaced numbers from `start` up to but not including `stop`.

    Returns a new array with one axis of ``ceil((stop - start) / step)`` elements. Arguments are numbers on the host;
    the dtype is their common one unless given (also as the fourth positional argument). Does not wait. Elements are
    ``start + k * step`` in that dtype; the step is the difference of the first two elements after conversion to it,
    which is how NumPy rounds. Raises `ZeroDivisionError` for a step of 0, `OverflowError` for integers that the dtype
    does not hold, `ValueError` if the number of elements is not finite, and `TypeError` unless there are one to three
    numbers, or for more than two elements of bool. `stream` is a parameter of PyCUDA's and has no effect.
    """

def arccos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose cosine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arccos` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def arccosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic cosines; NaN below 1, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arccosh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def arcsin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose sine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arcsin` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def arcsinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic sines, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arcsinh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def arctan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose tangent is x, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctan` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def arctan2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angle of the point (x2, x1), from -pi to pi, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctan2` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def arctanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic tangents; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctanh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def argmax(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The index of the first largest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is int64; an
    index into the flattened array without `axis`. Raises ValueError for no elements. Elements where `where` is
    false are left out, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may take
    the place of `axis`.
    """

def argmin(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The index of the first smallest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is int64; an
    index into the flattened array without `axis`. Raises ValueError for no elements. Elements where `where` is
    false are left out, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may take
    the place of `axis`.
    """

def around(a: Any, decimals: Any = 0, out: Any = None) -> GPUArray:
    """Elements rounded to `decimals` places, halves to even; does not wait.

    `a` is array-like; the result, `out` or a new array, has its shape and dtype. With `decimals` other than 0 elements
    are first scaled by a power of 10, as in NumPy, so that binary fractions may be off by one in the last place. With
    negative `decimals` integers are rounded to tens, hundreds and so on, via float64. Bools give float16, and raise
    `TypeError` for `decimals` other than 0.
    """

def array(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K") -> GPUArray:
    """A new device array of anything that `asarray` takes; copies even device arrays unless `copy` is false.

    Elements are converted to `dtype` if given. Does not wait for device arrays, but for the copy of host data. `order`
    has no effect: copies keep the memory order.
    """

def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> bool:
    """Whether two arrays have the same shape and equal elements, as a bool; waits for the answer unless shapes differ.

    Operands are array-like of any dtype. NaN equals NaN only if `equal_nan` is true.
    """

def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, device: Any = None) -> GPUArray:
    """Convert anything array-like to a device array, without a copy where possible.

    Shares device arrays, including those of other libraries (``__cuda_array_interface__``, DLPack), and does not wait
    for them. Anything else goes through `numpy.asarray` and is copied, and the call waits for that copy. A different
    `dtype` means a conversion into a new array. If `copy` is true the result is always a copy; if False, `ValueError`
    is raised when a copy is needed. `device`, a `rtcg.driver.Device`, says where the result is: arrays of another
    device are copied. `order` has no effect. Raises `TypeError` for a dtype without a C type, such as object, and
    `ValueError` for another `device`.
    """

def asnumpy(a: Any) -> Any:
    """A NumPy array with the elements of `a`; waits until they have arrived.

    A device array is copied to new host memory in its own memory order; anything else goes through `numpy.asarray`.
    """

def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> GPUArray:
    """The device array `x` converted to `dtype`, as C converts numbers; does not wait.

    Returns a new array, or `x` itself if `copy` is false and it has that dtype. Floats are truncated towards 0 when
    they become integers, and values out of range are undefined. `device`, a `rtcg.driver.Device`, says where the result
    is.
    """

def bitwise_and(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bitwise and, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.bitwise_and` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_count(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The number of bits set in the absolute value, as uint8, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.bitwise_count` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_not(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted, or logical not for bools, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.invert` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_or(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bitwise or, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.bitwise_or` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_xor(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bitwise exclusive or, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.bitwise_xor` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def broadcast_to(a: Any, shape: Any) -> GPUArray:
    """A view of `a` broadcast to `shape` by strides of 0; nothing is copied. Does not wait.

    `a` is an array on the device. Axes of length 1 and missing leading axes are repeated. Raises `ValueError` if the
    shapes do not fit. Unlike NumPy's, the view is not read-only; all repetitions of an element share one memory
    location.
    """

def cbrt(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Cube roots, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.cbrt` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def ceil(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded up, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.ceil` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> GPUArray:
    """Elements limited to the range from `a_min` to `a_max`, either of which may be None; does not wait.

    `a` is array-like; limits are numbers or arrays that are broadcast with it (`ValueError` if shapes do not fit), and
    can also be named `min` and `max`. A Python integer that the dtype of `a` does not hold is allowed if it limits
    nothing, else it raises `OverflowError`. The result, `out` or a new array, has the common dtype. NaN stays NaN.
    Without limits the result is a copy.
    """

def conj(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Complex conjugates, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.conjugate` unless `dtype` is given. Computed in `stream` if given.
    """

def conjugate(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Complex conjugates, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.conjugate` unless `dtype` is given. Computed in `stream` if given.
    """

def copy(a: Any, order: Any = "K") -> GPUArray:
    """A copy of the device array `a` in new device memory; does not wait.

    `order` is "K" (as in `a`), "C", "F" or "A".
    """

def copysign(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand with the sign of the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.copysign` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def cos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Cosines of angles in radians, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.cos` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def cosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic cosines, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.cosh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def count_nonzero(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The number of elements that are not 0, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is int64. 0
    for no elements. Elements where `where` is false are left out, and `keepdims` keeps reduced axes with length 1.
    As in PyCUDA, a dtype or a stream may take the place of `axis`.
    """

def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative products along `axis`, or of the flattened array if it is None; does not wait.

    Shapes, dtypes, errors and the algorithm are those of `cumsum`.
    """

def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> GPUArray:
    """Cumulative sums along `axis`, or of the flattened array if it is None; does not wait.

    `a` is array-like; the result, `out` or a new array, has its shape (one axis if flattened). Sums are computed in
    `dtype`, by default NumPy's: integers are widened to 64 bits. Raises `AxisError` for an axis that `a` does
    not have. Uses a scan in one pass over memory with decoupled look-back (Merrill and Garland, 2016), which adds
    floats in a different order than NumPy.
    """

def deg2rad(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Degrees converted to radians, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.deg2rad` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.divide` unless `dtype` is given. Computed in `stream` if given.
    """

def divmod(x1: Any, x2: Any, *, out: Any = (None, None)) -> tuple[GPUArray, GPUArray]:
    """The quotient rounded down and the remainder with the sign of the divisor: two new arrays; does not wait.

    Equal to ``(floor_divide(x1, x2), remainder(x1, x2))``, computed in two kernels: operands are broadcast, and dtypes
    and errors are those of these functions. `out` is a pair of arrays or None. Integers divided by 0 give 0, as in
    NumPy, but without its warning.
    """

def dot(a: Any, b: Any, dtype: Any = None, stream: Any = None, allocator: Any = None, *, out: Any = None) -> GPUArray:
    """The inner product of vectors and of arrays of one shape, as in PyCUDA; else `numpy.dot`.

    Matrices of one shape are multiplied as matrices if they are square and no `dtype` is given. The result is a new
    array, without axes for inner products; `dtype` applies to inner products. Operands are array-like; raises
    `ValueError` if shapes do not fit. Inner products are computed in `stream`, and memory comes from `allocator`.
    `out`, which may also be passed in the place of `dtype`, receives the result; raises `ValueError` unless it has the
    right shape and dtype. Does not wait.
    """

empty = GPUArray

def empty_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array with undefined contents, with the shape, memory order and dtype of `other_ary` unless given.

    `other_ary` is an array on the device, or anything that `numpy.asarray` takes; its elements are not copied. `order`
    "K" and "A" keep its memory order, "C" and "F" choose one. Memory comes from the allocator of `other_ary`. Does not
    wait.
    """

def equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are equal, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.equal` unless `dtype` is given. Computed in `stream` if given.
    """

def exp(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """e to the power of x, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.exp` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def exp2(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """2 to the power of x, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.exp2` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def expand_dims(a: Any, axis: Any) -> GPUArray:
    """A view of the device array `a` with new axes of length 1 at the positions `axis`; does not wait.

    `axis` is an int or a tuple of int, counted in the result. Raises `AxisError` for a position that the result does
    not have.
    """

def expm1(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """exp(x) - 1, accurate near 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.expm1` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def fabs(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Absolute values as floats, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.fabs` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def flip(m: Any, axis: Any = None) -> GPUArray:
    """A view of the device array `m` with the order of elements reversed along `axis`; does not wait.

    `axis` is None (all axes), an int or a tuple of int. Raises `AxisError` for an axis that `m` does not have. The view
    has negative strides; kernels of `rtcg.elementwise` accept it as an operand, and raw kernels get the address of its
    first element.
    """

def float_power(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Powers as float64 or complex128, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.float_power` unless `dtype` is given. Computed in `stream` if
    given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def floor(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded down, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.floor` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def floor_divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients rounded down, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.floor_divide` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for complex numbers.
    """

def fmax(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The larger of two elements, ignoring NaN, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.fmax` unless `dtype` is given. Computed in `stream` if given.
    """

def fmin(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The smaller of two elements, ignoring NaN, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.fmin` unless `dtype` is given. Computed in `stream` if given.
    """

def fmod(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the sign of the dividend, as in C, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.fmod` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> GPUArray:
    """A `GPUArray` over the memory of an object with ``__dlpack__``; copies only if that memory is on the host.

    Work already enqueued on the object in the legacy default stream finishes before anything that uses the array. The
    array keeps the object's memory alive. If `copy` is true the array has memory of its own. An object in host memory
    is copied, and the call waits for that copy; with `copy` False it raises `ValueError` instead. `device`, a
    `rtcg.driver.Device`, says where the result is: memory of another device is copied there, which raises `ValueError`
    if `copy` is False.
    """

def full(shape: Any, fill_value: Any, dtype: Any = None, allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array in which every element is `fill_value`; does not wait.

    `shape` is an int or a sequence of int, `fill_value` a number or an array that broadcasts to the shape, `order` "C"
    or "F". Without `dtype` the result has the dtype that NumPy gives it. `allocator` is a callable that takes a number
    of bytes. Raises `rtcg.driver.MemoryError` if the device does not have enough memory.
    """

def full_like(other_ary: Any, fill_value: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array filled with `fill_value`, with the shape, order and dtype of `other_ary` unless given.

    `fill_value` is a number or an array that broadcasts to the shape, and is converted to the dtype. Other parameters
    are those of `empty_like`. Does not wait.
    """

def gcd(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Greatest common divisors, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.gcd` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for floats and complex numbers.
    """

def greater(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is greater than the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.greater` unless `dtype` is given. Computed in `stream` if given.
    """

def greater_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is not less than the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.greater_equal` unless `dtype` is given. Computed in `stream` if
    given.
    """

def heaviside(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """0 below 0, 1 above, the second operand at 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.heaviside` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def hypot(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The hypotenuse, sqrt(x1**2 + x2**2) without overflow, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.hypot` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def identity(n: Any, dtype: Any = ...) -> GPUArray:
    """The identity matrix of `n` by `n`, a new array of `dtype`; does not wait."""

def imag(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Imaginary parts; zeros for real numbers, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.imag` unless `dtype` is given. Computed in `stream` if given.
    """

def inner(a: Any, b: Any) -> GPUArray:
    """Sums of products over the last axes, with the shape ``a.shape[:-1] + b.shape[:-1]``; does not wait.

    Operands are array-like; if one has no axis, the result is their product. The result is a new array of the common
    dtype. Raises `ValueError` if the last axes differ in length. Uses `matmul`.
    """

def invert(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted, or logical not for bools, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.invert` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for floats and complex numbers.
    """

def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> GPUArray:
    """Whether ``|a - b| <= atol + rtol * |b|``, element by element: a new array of bool; does not wait.

    Operands are array-like and are broadcast; raises `ValueError` if their shapes do not fit. Equal infinities are
    close; NaN is close to nothing, except to NaN if `equal_nan` is true. As in NumPy the test is not symmetric: `b` is
    the reference, and is converted to float64 if it has integers or bools. Tolerances are numbers or arrays that are
    broadcast.
    """

def isfinite(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are neither infinite nor NaN, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.isfinite` unless `dtype` is given. Computed in `stream` if given.

    The result is an array of bool.
    """

def isinf(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are infinite, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.isinf` unless `dtype` is given. Computed in `stream` if given.

    The result is an array of bool.
    """

def isnan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements are NaN, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.isnan` unless `dtype` is given. Computed in `stream` if given.

    The result is an array of bool.
    """

def lcm(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Least common multiples, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.lcm` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for floats and complex numbers.
    """

def ldexp(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """x1 * 2**x2, exactly where it fits, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.ldexp` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def left_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits shifted to the left by the second operand, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.left_shift` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def less(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is less than the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.less` unless `dtype` is given. Computed in `stream` if given.
    """

def less_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the first operand is not greater than the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.less_equal` unless `dtype` is given. Computed in `stream` if
    given.
    """

def log(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Natural logarithms, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.log` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def log10(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Logarithms to base 10, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.log10` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def log1p(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log(1 + x), accurate near 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.log1p` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def log2(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Logarithms to base 2, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.log2` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def logaddexp(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log(exp(x1) + exp(x2)) without overflow, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.logaddexp` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def logaddexp2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """log2(2**x1 + 2**x2) without overflow, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.logaddexp2` unless `dtype` is given. Computed in `stream` if
    given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def logical_and(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether both elements are true, element by element: an array of bool; does not wait.

    Operands are array-like of any dtype and are broadcast; raises `ValueError` if their shapes do not fit. Anything but
    0 is true, including NaN. The result goes to `out`, or to a new array from `allocator` if given.
    """

def logical_not(x: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether each element is false, that is 0: an array of bool with the shape of `x`; does not wait.

    `x` is array-like of any dtype; NaN is true. The result goes to `out`, or to a new array from `allocator` if given.
    """

def logical_or(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> GPUArray:
    """Whether at least one of two elements is true: an array of bool; does not wait.

    Operands are array-like of any dtype and are broadcast; raises `ValueError` if their shapes do not fit. Anything but
    0 is true, including NaN. The result goes to `out`, or to a new array from `allocator` if given.
    """

def logical_xor(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether exactly one of two elements is true, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.logical_xor` unless `dtype` is given. Computed in `stream` if
    given.
    """

def matmul(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """The matrix product, with NumPy's rules for operands with one axis and for batches; does not wait.

    Parameters
    ----------
    x1, x2 : array-like
        Of shapes ``(..., m, k)`` and ``(..., k, n)``; leading axes are broadcast. Numbers of any dtype; the result has
        NumPy's dtype. Sums of float16 and bfloat16 are accumulated in float32.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which the rule "same_kind" allows a cast.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an operand has no axis.
    TypeError
        If the result may not be cast to the dtype of `out`.
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
    """The largest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`. NaN if there is one; raises ValueError for no elements unless `initial` is given. Elements where `where` is
    false are left out, `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a
    dtype or a stream may take the place of `axis`.
    """

def maximum(a: Any, b: Any, out: Any = None, stream: Any = None, *, dtype: Any = None) -> GPUArray:
    """The larger of two elements, or NaN if either is NaN, as in `numpy.maximum`.

    Operands are array-like and are broadcast (`ValueError` if their shapes do not fit); complex numbers are ordered by
    real, then imaginary part. The result, `out` or a new array, has their common dtype, or `dtype`. Computed in
    `stream` if given; does not wait. `fmax` ignores NaN instead.
    """

def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The mean, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`, or float64 for integers; float16 is summed in float32. NaN for no elements. Elements where `where` is false
    are left out, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may take the
    place of `axis`.
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
    """The smallest element, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`. NaN if there is one; raises ValueError for no elements unless `initial` is given. Elements where `where` is
    false are left out, `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a
    dtype or a stream may take the place of `axis`.
    """

def minimum(a: Any, b: Any, out: Any = None, stream: Any = None, *, dtype: Any = None) -> GPUArray:
    """The smaller of two elements, or NaN if either is NaN, as in `numpy.minimum`.

    Operands are array-like and are broadcast (`ValueError` if their shapes do not fit); complex numbers are ordered by
    real, then imaginary part. The result, `out` or a new array, has their common dtype, or `dtype`. Computed in
    `stream` if given; does not wait. `fmin` ignores NaN instead.
    """

def mod(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the sign of the divisor, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.remainder` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def moveaxis(a: Any, source: Any, destination: Any) -> GPUArray:
    """A view of the device array `a` with its axes `source` moved to the positions `destination`; does not wait.

    Both are an int, or as many ints each; other axes keep their order. Raises `AxisError` for an axis that `a` does not
    have, and `ValueError` if the numbers of axes differ or an axis is named twice.
    """

def multiply(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Products, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.multiply` unless `dtype` is given. Computed in `stream` if given.
    """

def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> GPUArray:
    """A new array of `x` in which NaN and infinities are replaced by numbers; does not wait.

    `x` is array-like. NaN becomes `nan`, infinities become `posinf` and `neginf`, by default the largest and the
    smallest number of the dtype; both parts of complex numbers are replaced, and other dtypes are copied. `copy` has no
    effect: `x` is never changed.
    """

def ndim(a: Any) -> int:
    """The number of axes of a device array, ``a.ndim``: an int; does not wait for elements."""

def negative(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The negatives, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.negative` unless `dtype` is given. Computed in `stream` if given.
    """

def nextafter(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The next number after the first operand towards the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.nextafter` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def not_equal(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether elements differ, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.not_equal` unless `dtype` is given. Computed in `stream` if given.
    """

def ones(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of ones, float64 unless `dtype` says otherwise; does not wait.

    Parameters and errors are those of `zeros`.
    """

def ones_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array of ones, with the shape, memory order and dtype of `other_ary` unless given; does not wait.

    Parameters are those of `empty_like`.
    """

def positive(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """A copy, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.positive` unless `dtype` is given. Computed in `stream` if given.
    """

def power(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand raised to the power of the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.power` unless `dtype` is given. Computed in `stream` if given.
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
    """The product, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`, with narrower integers widened to 64 bits. 1 for no elements. Elements where `where` is false are left out,
    `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may
    take the place of `axis`.
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
    """The largest element minus the smallest, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`. Raises ValueError for no elements. Elements where `where` is false are left out, `initial` is included, and
    `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may take the place of `axis`.
    """

def rad2deg(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Radians converted to degrees, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.rad2deg` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def real(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Real parts, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.real` unless `dtype` is given. Computed in `stream` if given.
    """

def reciprocal(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """1 / x; for integers, rounded towards 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.reciprocal` unless `dtype` is given. Computed in `stream` if
    given.
    """

def remainder(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Remainders with the sign of the divisor, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.remainder` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def reshape(a: Any, *shape: Any, order: Any = "C") -> GPUArray:
    """The elements of the device array `a` in a new shape of the same size; does not wait.

    Returns a view where the memory layout allows, else a copy. The shape is given as ints or as one sequence; one
    length may be -1. `order` is "C", "F" or "A". Raises `ValueError` if the number of elements differs.
    """

def right_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits shifted to the right by the second operand, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.right_shift` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def rint(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded to the nearest whole number, ties to even, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.rint` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def round(a: Any, decimals: Any = 0, out: Any = None) -> GPUArray:
    """Elements rounded to `decimals` places, halves to even; does not wait.

    `a` is array-like; the result, `out` or a new array, has its shape and dtype. With `decimals` other than 0 elements
    are first scaled by a power of 10, as in NumPy, so that binary fractions may be off by one in the last place. With
    negative `decimals` integers are rounded to tens, hundreds and so on, via float64. Bools give float16, and raise
    `TypeError` for `decimals` other than 0.
    """

def shape(a: Any) -> tuple[int, ...]:
    """The lengths of the axes of a device array, ``a.shape``: a tuple of int; does not wait for elements."""

def sign(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """-1, 0 or 1 by the sign; for complex numbers, x / abs(x), element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.sign` unless `dtype` is given. Computed in `stream` if given.
    """

def signbit(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Whether the sign bit is set, as in -0.0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.signbit` unless `dtype` is given. Computed in `stream` if given.

    The result is an array of bool. Raises TypeError for complex numbers.
    """

def sin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Sines of angles in radians, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.sin` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def sinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic sines, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.sinh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def size(a: Any, axis: Any = None) -> int:
    """The number of elements of a device array, or the length of `axis`: an int; does not wait for elements.

    Raises `IndexError` for an axis that the array does not have.
    """

def sqrt(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Square roots; NaN below 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.sqrt` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def square(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Squares, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.square` unless `dtype` is given. Computed in `stream` if given.
    """

def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    ddof: Any = 0,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The standard deviation, the square root of `var`, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `var`. NaN for no elements. Elements where `where` is false are left out, and `keepdims` keeps reduced axes with
    length 1. As in PyCUDA, a dtype or a stream may take the place of `axis`. One pass, by Chan's parallel update of
    means and squared deviations.
    """

def subtract(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Differences, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.subtract` unless `dtype` is given. Computed in `stream` if given.
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
    """The sum, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`, with narrower integers widened to 64 bits. 0 for no elements. Elements where `where` is false are left out,
    `initial` is included, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may
    take the place of `axis`.
    """

def tan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Tangents of angles in radians, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.tan` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def tanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Hyperbolic tangents, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.tanh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def tensordot(a: Any, b: Any, axes: Any = 2) -> GPUArray:
    """Sums of products over pairs of axes: a new array with the other axes of `a`, then of `b`; does not wait.

    `axes` is a number n (the last n axes of `a`, the first n of `b`), or two lists of axes. Operands are array-like;
    the result has their common dtype. Raises `ValueError` if the lengths of paired axes differ. Uses one matrix product
    of the operands, which are copied if their layout has to be rearranged.
    """

def to_gpu(ary: Any, allocator: Any = None) -> GPUArray:
    """Copy a host array to a new array on the device, and wait until the copy is done.

    Parameters
    ----------
    ary : array-like
        Of any shape, and of a dtype that has a C type (numbers, bool, structures). C and Fortran order are kept; an
        array in neither order is copied to C order.
    allocator : callable, optional
        Takes a number of bytes; by default `rtcg.driver.mem_alloc`.

    Returns
    -------
    GPUArray
        Of the shape and dtype of `ary`.

    Raises
    ------
    TypeError
        For a dtype without a C type, such as object.
    rtcg.driver.MemoryError
        If the device does not have enough memory.
    """

def to_gpu_async(ary: Any, allocator: Any = None, stream: Any = None) -> GPUArray:
    """Copy a host array to a new array on the device, asynchronously in `stream`.

    Returns a `GPUArray` with the shape and dtype of `ary`; its elements are valid once the stream has done the copy.
    The stream reads page-locked memory (`rtcg.driver.pagelocked_empty`) at that time, so it must stay unchanged until
    then. Other memory is read before the call returns, which is all that the call waits for. Parameters and errors are
    otherwise those of `to_gpu`.
    """

def transpose(a: Any, axes: Any = None) -> GPUArray:
    """A view of the device array `a` with its axes permuted to the order `axes`, by default reversed; does not wait.

    Raises `ValueError` unless `axes` names each axis once.
    """

def tril(m: Any, k: Any = 0) -> GPUArray:
    """The lower triangle: a new array in which elements above the diagonal `k` are 0; does not wait.

    `m` is array-like; its last two axes are matrices, and a single axis is repeated as rows. The dtype is kept.
    """

def triu(m: Any, k: Any = 0) -> GPUArray:
    """The upper triangle: a new array in which elements below the diagonal `k` are 0; does not wait.

    `m` is array-like; its last two axes are matrices, and a single axis is repeated as rows. The dtype is kept.
    """

def true_divide(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Quotients, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.divide` unless `dtype` is given. Computed in `stream` if given.
    """

def trunc(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Rounded towards 0, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.trunc` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for complex numbers.
    """

def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    *,
    keepdims: Any = False,
    where: Any = None,
    ddof: Any = 0,
    stream: Any = None,
    allocator: Any = None,
) -> GPUArray:
    """The variance, with the divisor ``n - ddof``, of all elements or along `axis`; does not wait.

    `a` is array-like; `axis` is None (all), an int or a tuple of int; raises AxisError for one that `a` does not
    have. The result, `out` or a new array, has the remaining axes, if any. Without `dtype` its dtype is that of
    `a`, or float64 for integers, and real for complex numbers. NaN for no elements. Elements where `where` is false
    are left out, and `keepdims` keeps reduced axes with length 1. As in PyCUDA, a dtype or a stream may take the
    place of `axis`. One pass, by Chan's parallel update of means and squared deviations.
    """

def vdot(a: Any, b: Any) -> GPUArray:
    """The inner product of all elements, with those of `a` conjugated: a new array without axes; does not wait.

    Operands are array-like of any shape, are flattened in C order, and raise `ValueError` unless they have the same
    number of elements. The result has the common dtype.
    """

def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: Any = -1) -> GPUArray:
    """Sums of products along `axis`, with `x1` conjugated; other axes are broadcast. Does not wait.

    Operands are array-like; the result, `out` or a new array of the common dtype, lacks that axis. Raises `ValueError`
    if the lengths along the axis differ or the other axes do not fit. Products are written to memory before they are
    summed.
    """

def where(criterion: Any, then_: Any = None, else_: Any = None, out: Any = None, stream: Any = None) -> GPUArray:
    """Elements of `then_` where the criterion is true, else of `else_`; with the criterion alone, `nonzero`.

    Operands are array-like or numbers and are broadcast; raises `ValueError` if shapes do not fit. The result, `out` or
    a new array, has the common dtype of `then_` and `else_`. Both are read in full, whichever is chosen. Computed in
    `stream` if given. Does not wait, except with the criterion alone, for the number of results.
    """

def zeros(shape: Any, dtype: Any = ..., allocator: Any = None, order: Any = "C") -> GPUArray:
    """A new array of zeros; does not wait.

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype-like
    allocator : callable, optional
        Takes a number of bytes, such as `rtcg.tools.DeviceMemoryPool().allocate`; by default `rtcg.driver.mem_alloc`.
    order : str
        C or F.

    Raises
    ------
    rtcg.driver.MemoryError
        If the device does not have enough memory.
    """

def zeros_like(other_ary: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> GPUArray:
    """A new array of zeros, with the shape, memory order and dtype of `other_ary` unless given; does not wait.

    Parameters are those of `empty_like`.
    """

def outer(a: Any, b: Any, out: Any = None) -> GPUArray:
    """The products of each element of `a` with each of `b`, as a matrix of ``a.size`` by ``b.size``; does not wait.

    Operands are array-like and are flattened. The result, `out` or a new array, has the common dtype.
    """

def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> GPUArray:
    """The sum of the diagonal `offset` of the axes `axis1` and `axis2`; does not wait.

    `a` is array-like with at least two axes (else `ValueError`). The result, `out` or a new array, has the other axes
    of `a`, and `dtype`, which is by default that of `sum`.
    """

def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write `src`, broadcast and converted, to the device array `dst` where the mask `where` is true; does not wait.

    Returns None. `src` is array-like; `where` is true or an array of bool that is broadcast (else `TypeError`). Also
    raises `TypeError` if the rule `casting` does not allow the conversion of `src`, and `ValueError` if shapes do not
    fit.
    """

def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`, including `stop` if `endpoint` is true; does not wait.

    Returns a new array of `num` elements, float64 unless `dtype` says otherwise. If `start` and `stop` are array-like
    it has more axes, and the numbers are along `axis`. With `retstep`, returns a tuple of the array and the step.
    Integers are rounded down. Raises `ValueError` for a negative `num`. Elements are ``start + k * step``, as in NumPy.
    """

def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = ..., order: Any = "C") -> GPUArray:
    """A matrix of `N` by `M` (by default `N`) with ones on the diagonal `k` and zeros elsewhere; does not wait.

    Returns a new array of `dtype` in the memory order `order` ("C" or "F"). `k` is positive above the main diagonal; a
    diagonal outside the matrix has no elements.
    """

def angle(z: Any, deg: Any = False, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angles of complex numbers in radians from -pi to pi, in degrees if `deg` is true; does not wait.

    `z` is array-like of any shape; the angle of a real number is 0 or pi. The result, `out` or a new array, has the
    shape of `z` and the floating-point dtype of its parts (float64 for integers). Degrees take a second kernel. The
    computation runs in `stream`.
    """

def acos(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose cosine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arccos` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def acosh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic cosines; NaN below 1, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arccosh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def asin(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose sine is x; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arcsin` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def asinh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic sines, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arcsinh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def atan(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Angles in radians whose tangent is x, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctan` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def atan2(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The angle of the point (x2, x1), from -pi to pi, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctan2` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64. Raises TypeError for complex
    numbers.
    """

def atanh(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Inverse hyperbolic tangents; NaN outside [-1, 1], element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.arctanh` unless `dtype` is given. Computed in `stream` if given.

    Integers and bools become floats: float16 for 8 bits, float32 for 16, else float64.
    """

def pow(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """The first operand raised to the power of the second, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.power` unless `dtype` is given. Computed in `stream` if given.
    """

def bitwise_invert(x: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """All bits inverted, or logical not for bools, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.invert` unless `dtype` is given. Computed in `stream` if given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_left_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits shifted to the left by the second operand, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.left_shift` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def bitwise_right_shift(x1: Any, x2: Any, /, *, out: Any = None, dtype: Any = None, stream: Any = None) -> GPUArray:
    """Bits shifted to the right by the second operand, element by element; does not wait.

    Operands are array-like or numbers and are broadcast; raises ValueError if their shapes do not fit. The result,
    `out` or a new array, has the dtype of `numpy.right_shift` unless `dtype` is given. Computed in `stream` if
    given.

    Raises TypeError for floats and complex numbers.
    """

def _named_to_device(name: str, array: Any, expected: str = "an array of numbers") -> GPUArray:
    """An array on the device; errors about anything else contain its name."""
