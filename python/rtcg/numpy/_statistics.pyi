"""Statistics of arrays: order statistics, averages, covariances, histograms; part of `rtcg.numpy`.

Order statistics sort; histograms sort and search, so that they do not depend on the order in which threads run (but
weighted counts do). Everything stays on the device but the numbers that decide about shapes.
"""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = [
    "average",
    "bincount",
    "corrcoef",
    "cov",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    """The mean, with weights if given, and with `returned` their sum; see `numpy.average`."""

def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> GPUArray:
    """How often each number from 0 on occurs, or the sums of weights; waits for the largest. See `numpy.bincount`."""

def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> GPUArray:
    """The correlation coefficients of variables; see `numpy.corrcoef`."""

def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> GPUArray:
    """The covariance matrix of variables that are rows (`rowvar`) or columns; see `numpy.cov`."""

def digitize(x: Any, bins: Any, right: Any = False) -> GPUArray:
    """The indices of the bins that elements belong to; waits to see that bins are in order. See `numpy.digitize`."""

def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, ...]:
    """Counts of elements (or sums of weights) between edges, and the edges; see `numpy.histogram`.

    Without `range` it waits for the smallest and the largest element.
    """

def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:
    """Counts over two dimensions and the edges of both; see `numpy.histogram2d`."""

def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> GPUArray:
    """The edges that `histogram` would use; waits for the smallest and the largest element."""

def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, ...]:
    """Counts over several dimensions, as float64, and the edges of each; see `numpy.histogramdd`."""

def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> GPUArray:
    """The middle element, or the mean of the two middle ones; NaN if there is one. See `numpy.median`."""

def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> GPUArray:
    """As `median`, of the elements that are not NaN; NaN where there are none."""

def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """As `percentile`, of the elements that are not NaN; NaN where there are none."""

def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """As `quantile`, of the elements that are not NaN; NaN where there are none."""

def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Percentiles; see `quantile` and `numpy.percentile`."""

def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> GPUArray:
    """Quantiles by one of NumPy's methods; NaN where there is one. `q` is wanted on the host. See `numpy.quantile`."""
