//! Native parts of the module's functions: gathering, sorting, scans, products, joining.

use super::context::array_context;
use super::operands::{parse_optional_dtype, require_array};
use super::transfer::run_in_stream;
use super::{PyGpuArray, to_py_result};
use crate::driver::device::PyDevice;
use crate::driver::stream::PyStream;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::array::{BoundsMode, FftFusion, FftKind, GpuArray, Order, ScanOp, normalize_axis};

type BoundAny<'py> = Bound<'py, PyAny>;
type ArrayArg<'a, 'py> = &'a Bound<'py, PyGpuArray>;

/// `array` and the axis, counted from the front; flattened without one.
fn flatten_or_normalize_axis(py: Python<'_>, array: &GpuArray, axis: Option<isize>) -> PyResult<(GpuArray, usize)> {
    match axis {
        Some(axis) => Ok((array.clone(), to_py_result(py, normalize_axis(axis, array.ndim()))?)),
        None => Ok((to_py_result(py, array.ravel(Order::C))?, 0)),
    }
}

fn parse_bounds_mode(mode: &str) -> PyResult<BoundsMode> {
    match mode {
        "raise" => Ok(BoundsMode::Raise),
        "wrap" => Ok(BoundsMode::Wrap),
        "clip" => Ok(BoundsMode::Clip),
        other => Err(PyValueError::new_err(format!("mode is '{other}'; expected 'raise', 'wrap' or 'clip'"))),
    }
}

#[pyfunction]
#[pyo3(signature = (a, indices, axis = None, out = None, mode = "raise", stream = None))]
fn array_take<'py>(
    a: ArrayArg<'_, 'py>,
    indices: &BoundAny<'py>,
    axis: Option<isize>,
    out: Option<ArrayArg<'_, 'py>>,
    mode: &str,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let own = &a.get().current_state().array;
    let indices = require_array(own.context(), indices)?;
    let (array, axis) = flatten_or_normalize_axis(py, own, axis)?;
    let bounds = parse_bounds_mode(mode)?;
    let target = out.map(|out| out.get().current_state());
    let target = target.as_deref().map(|target| &target.array);
    let take = || array.take(&indices, axis, bounds, target);
    let taken = run_in_stream(stream, || to_py_result(py, PyGpuArray::with_allocator_of(a, take)))?;
    match out {
        Some(out) => Ok(out.clone().into_any()),
        None => PyGpuArray::new_like(a, taken),
    }
}

/// Write to the flattened array, or along `axis`.
#[pyfunction]
#[pyo3(signature = (a, indices, values, axis = None, mode = "raise", stream = None))]
fn array_put<'py>(
    a: ArrayArg<'_, 'py>,
    indices: &BoundAny<'py>,
    values: &BoundAny<'py>,
    axis: Option<isize>,
    mode: &str,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<()> {
    let py = a.py();
    let own = &a.get().current_state().array;
    let (indices, values) = (require_array(own.context(), indices)?, require_array(own.context(), values)?);
    let (array, along) = flatten_or_normalize_axis(py, own, axis)?;
    let bounds = parse_bounds_mode(mode)?;
    run_in_stream(stream, || to_py_result(py, array.put(&indices, &values, along, bounds)))?;
    // The flat form of an array with gaps is a copy, which goes back.
    if axis.is_none() && array.device_ptr() != own.device_ptr() {
        let shape: Vec<isize> = own.shape().iter().map(|&n| n as isize).collect();
        to_py_result(py, array.reshape(&shape, Order::C).and_then(|back| own.assign(&back)))?;
    }
    Ok(())
}

#[pyfunction]
fn array_nonzero<'py>(a: ArrayArg<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let py = a.py();
    let array = &a.get().current_state().array;
    let found = to_py_result(py, py.detach(|| array.nonzero()))?;
    let found: Vec<_> =
        found.into_iter().map(|array| Bound::new(py, PyGpuArray::from_array(array))).collect::<PyResult<_>>()?;
    PyTuple::new(py, found)
}

#[pyfunction]
fn array_flatnonzero<'py>(a: ArrayArg<'_, 'py>) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let array = &a.get().current_state().array;
    PyGpuArray::new_like(a, to_py_result(py, py.detach(|| array.flat_nonzero()))?)
}

#[pyfunction]
#[pyo3(signature = (a, op, axis = None, dtype = None, stream = None))]
fn array_cumulative<'py>(
    a: ArrayArg<'_, 'py>,
    op: &str,
    axis: Option<isize>,
    dtype: Option<&BoundAny<'py>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let op = match op {
        "sum" => ScanOp::Sum,
        "prod" => ScanOp::Product,
        "max" => ScanOp::Maximum,
        "min" => ScanOp::Minimum,
        other => return Err(PyTypeError::new_err(format!("'{other}' is no cumulative operation"))),
    };
    let dtype = parse_optional_dtype(py, dtype)?;
    let (array, axis) = flatten_or_normalize_axis(py, &a.get().current_state().array, axis)?;
    run_in_stream(stream, || PyGpuArray::make_like(a, || array.cumulative(op, axis, dtype)))
}

#[pyfunction]
#[pyo3(signature = (a, axis = Some(-1), descending = false))]
fn array_sort<'py>(a: ArrayArg<'_, 'py>, axis: Option<isize>, descending: bool) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let (array, axis) = flatten_or_normalize_axis(py, &a.get().current_state().array, axis)?;
    PyGpuArray::make_like(a, || array.sorted(axis, descending))
}

#[pyfunction]
#[pyo3(signature = (a, axis = Some(-1), descending = false))]
fn array_argsort<'py>(a: ArrayArg<'_, 'py>, axis: Option<isize>, descending: bool) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let (array, axis) = flatten_or_normalize_axis(py, &a.get().current_state().array, axis)?;
    PyGpuArray::make_like(a, || array.argsort(axis, descending))
}

#[pyfunction]
#[pyo3(signature = (a, v, side = "left"))]
fn array_searchsorted<'py>(a: ArrayArg<'_, 'py>, v: &BoundAny<'py>, side: &str) -> PyResult<BoundAny<'py>> {
    let right = match side {
        "left" => false,
        "right" => true,
        other => return Err(PyValueError::new_err(format!("side is '{other}'; expected 'left' or 'right'"))),
    };
    let values = require_array(a.get().current_state().array.context(), v)?;
    PyGpuArray::make_like(a, || a.get().current_state().array.searchsorted(&values, right))
}

/// Write a result to `out`, which has its shape and a dtype that it may be cast to.
#[pyfunction]
fn array_store(result: ArrayArg<'_, '_>, out: ArrayArg<'_, '_>) -> PyResult<()> {
    to_py_result(out.py(), result.get().current_state().array.store_in(&out.get().current_state().array))
}

#[pyfunction]
#[pyo3(signature = (a, b, out = None))]
fn array_matmul<'py>(
    py: Python<'py>,
    a: &BoundAny<'py>,
    b: &BoundAny<'py>,
    out: Option<ArrayArg<'_, 'py>>,
) -> PyResult<BoundAny<'py>> {
    let ctx = array_context()?;
    let (x, y) = (require_array(&ctx, a)?, require_array(&ctx, b)?);
    if let Some(out) = out {
        to_py_result(py, x.matmul(&y).and_then(|product| product.store_in(&out.get().current_state().array)))?;
        return Ok(out.clone().into_any());
    }
    match [a, b].into_iter().find_map(|operand| operand.cast::<PyGpuArray>().ok()) {
        Some(like) => PyGpuArray::make_like(like, || x.matmul(&y)),
        None => Ok(Bound::new(py, PyGpuArray::from_array(to_py_result(py, x.matmul(&y))?))?.into_any()),
    }
}

/// A Fourier transform of length `n` along `axis`: "fft", "ifft", "rfft" or "irfft", times `scale`, with
/// expressions for elements that are read and written.
#[pyfunction]
#[pyo3(signature = (a, kind, n, axis, scale, expressions = (None, None), operands = Vec::new()))]
fn array_fft<'py>(
    a: ArrayArg<'_, 'py>,
    kind: &str,
    n: usize,
    axis: isize,
    scale: f64,
    expressions: (Option<String>, Option<String>),
    operands: Vec<(String, Bound<'py, PyGpuArray>)>,
) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let kind = match kind {
        "fft" => FftKind::Forward,
        "ifft" => FftKind::Inverse,
        "rfft" => FftKind::RealForward,
        "irfft" => FftKind::RealInverse,
        other => return Err(PyValueError::new_err(format!("'{other}' is no kind of Fourier transform"))),
    };
    let axis = to_py_result(py, normalize_axis(axis, a.get().current_state().array.ndim()))?;
    let of_name =
        |(name, array): &'_ (String, Bound<'py, PyGpuArray>)| (name.clone(), array.get().current_state().array.clone());
    let owned: Vec<(String, GpuArray)> = operands.iter().map(of_name).collect();
    let operands: Vec<(&str, &GpuArray)> = owned.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let mut fusion = FftFusion::new().operands(&operands);
    if let Some(load) = &expressions.0 {
        fusion = fusion.load(load);
    }
    if let Some(store) = &expressions.1 {
        fusion = fusion.store(store);
    }
    PyGpuArray::make_like(a, || a.get().current_state().array.fft_with(kind, axis, n, scale, &fusion))
}

/// The inner product of all elements, in any shape.
#[pyfunction]
#[pyo3(signature = (a, b, dtype = None, stream = None))]
fn array_dot_flat<'py>(
    a: ArrayArg<'_, 'py>,
    b: ArrayArg<'_, 'py>,
    dtype: Option<&BoundAny<'py>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<BoundAny<'py>> {
    let py = a.py();
    let dtype = parse_optional_dtype(py, dtype)?;
    run_in_stream(stream, || {
        PyGpuArray::make_like(a, || a.get().current_state().array.dot_flat(&b.get().current_state().array, dtype))
    })
}

/// A device array of any object: device arrays are returned or shared, including those of other libraries;
/// anything else is copied.
#[pyfunction]
fn array_from_object<'py>(object: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
    if object.is_instance_of::<PyGpuArray>() {
        return Ok(object.clone());
    }
    let array = require_array(&array_context()?, object)?;
    Ok(Bound::new(object.py(), PyGpuArray::from_array(array))?.into_any())
}

/// Grid and block.
type GridAndBlock = ((u32, u32), (u32, u32, u32));

/// `(grid, block)` of a launch over `n` elements.
#[pyfunction]
fn array_splay(n: usize) -> PyResult<GridAndBlock> {
    let device_info = array_context()?.device_info();
    let threads = n.next_multiple_of(32).clamp(32, rtcg::array::BLOCK_THREADS as usize) as u32;
    Ok(((device_info.grid_block_count(n), 1), (threads, 1, 1)))
}

/// The function of `rtcg.numpy` behind a method.
fn call_numpy_function<'py>(
    slf: &Bound<'py, PyGpuArray>,
    name: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<BoundAny<'py>> {
    let py = slf.py();
    let all: Vec<BoundAny<'py>> = std::iter::once(slf.clone().into_any()).chain(args.iter()).collect();
    py.import("rtcg.numpy")?.getattr(name)?.call(PyTuple::new(py, all)?, kwargs)
}

macro_rules! numpy_function_methods {
    ($($name:ident $text:literal $signature:literal $doc:literal;)*) => {
        #[pymethods]
        impl PyGpuArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (*args, **kwargs), text_signature = $signature)]
                fn $name<'py>(
                    slf: &Bound<'py, Self>,
                    args: &Bound<'py, PyTuple>,
                    kwargs: Option<&Bound<'py, PyDict>>,
                ) -> PyResult<BoundAny<'py>> {
                    call_numpy_function(slf, $text, args, kwargs)
                }
            )*
        }
    };
}

numpy_function_methods! {
    cumsum "cumsum" "($self, axis=None, dtype=None, out=None)" "Cumulative sums along `axis`, or of the flattened array if None: a new array or `out`; does not wait.\n\nUses a scan with decoupled look-back (Merrill and Garland, 2016).";
    cumprod "cumprod" "($self, axis=None, dtype=None, out=None)" "Cumulative products along `axis`, or of the flattened array if None: a new array or `out`; does not wait.";
    dot "dot" "($self, b, dtype=None, stream=None, allocator=None, *, out=None)" "The product with `b`: the inner product for arrays of equal shape, else as `numpy.dot`. Does not wait.";
    take "take" "($self, indices, axis=None, out=None, mode='raise', stream=None)" "Elements at the given indices, along `axis` or of the flattened array; does not wait.\n\n`mode` is raise, wrap or clip, as in `numpy.take`.";
    put "put" "($self, ind, v, mode='raise')" "Write `v` to the elements `ind` of the flattened array, in place; as `numpy.put`.";
    repeat "repeat" "($self, repeats, axis=None)" "Repeat each element along `axis` or flattened; waits if `repeats` is an array on the device.";
    clip "clip" "($self, a_min=None, a_max=None, out=None, *, min=None, max=None)" "Elements limited to the range from `a_min` to `a_max`, either of which may be None; does not wait.";
    round "round" "($self, decimals=0, out=None)" "Round to `decimals` places, halves to even: a new array, or `out`. Does not wait.";
    nonzero "nonzero" "($self)" "The indices of the elements that are not 0, a tuple with one array per axis; waits for their number.";
    argsort "argsort" "($self, axis=-1, kind=None, *, stable=None, descending=False)" "The indices (int64) that sort along `axis`, stably and with NaN last; does not wait.";
    searchsorted "searchsorted" "($self, v, side='left', sorter=None)" "The positions at which to insert `v` into this sorted array with one axis, left or right of equal ones.";
    trace "trace" "($self, offset=0, axis1=0, axis2=1, dtype=None, out=None)" "The sum of a diagonal of the axes `axis1` and `axis2`; does not wait.";
}

#[pymethods]
impl PyGpuArray {
    /// Sort in place along an axis, stably and with NaN last.
    #[pyo3(signature = (axis = -1, kind = None, *, stable = None))]
    fn sort<'py>(
        slf: &Bound<'py, Self>,
        axis: isize,
        kind: Option<&BoundAny<'py>>,
        stable: Option<&BoundAny<'py>>,
    ) -> PyResult<()> {
        let _ = (kind, stable);
        let py = slf.py();
        let (array, axis) = flatten_or_normalize_axis(py, &slf.get().current_state().array, Some(axis))?;
        to_py_result(py, array.sorted(axis, false).and_then(|sorted| array.assign(&sorted)))
    }

    /// The elements in reverse memory order, in a new array with one axis.
    #[pyo3(signature = (stream = None))]
    fn reverse<'py>(slf: &Bound<'py, Self>, stream: Option<&Bound<'py, PyStream>>) -> PyResult<BoundAny<'py>> {
        let array = &slf.get().current_state().array;
        let copy = || array.flip(None).and_then(|flipped| flipped.copy(Some(Order::C)));
        run_in_stream(stream, || PyGpuArray::compute_elementwise(slf, copy))
    }

    /// `selffac * self + otherfac * other`, in one kernel.
    #[pyo3(signature = (selffac, other, otherfac, add_timer = None, stream = None, out = None))]
    fn mul_add<'py>(
        slf: &Bound<'py, Self>,
        selffac: &BoundAny<'py>,
        other: &BoundAny<'py>,
        otherfac: &BoundAny<'py>,
        add_timer: Option<&BoundAny<'py>>,
        stream: Option<&Bound<'py, PyStream>>,
        out: Option<&Bound<'py, PyGpuArray>>,
    ) -> PyResult<BoundAny<'py>> {
        let _ = add_timer;
        let args = vec![slf.clone().into_any(), selffac.clone(), other.clone(), otherfac.clone()];
        run_in_stream(stream, || super::operators::ufunc(slf.py(), "axpby", args, out, None))
    }

    #[getter]
    fn _grid(slf: &Bound<'_, Self>) -> PyResult<(u32, u32)> {
        Ok(array_splay(slf.get().current_state().array.size())?.0)
    }

    #[getter]
    fn _block(slf: &Bound<'_, Self>) -> PyResult<(u32, u32, u32)> {
        Ok(array_splay(slf.get().current_state().array.size())?.1)
    }

    fn __contains__<'py>(slf: &Bound<'py, Self>, key: &BoundAny<'py>) -> PyResult<bool> {
        let same = slf.rich_compare(key, pyo3::basic::CompareOp::Eq)?;
        super::reductions::reduce_array(
            same.cast::<PyGpuArray>()?,
            "any",
            None,
            None,
            None,
            false,
            None,
            None,
            0.0,
            None,
            None,
        )?
        .is_truthy()
    }

    /// The Array API standard's functions for arrays of this class.
    #[pyo3(signature = (*, api_version = None))]
    fn __array_namespace__<'py>(slf: &Bound<'py, Self>, api_version: Option<&str>) -> PyResult<BoundAny<'py>> {
        if !matches!(api_version, None | Some("2021.12" | "2022.12" | "2023.12" | "2024.12")) {
            return Err(PyValueError::new_err(format!("version {api_version:?} of the Array API is not supported")));
        }
        Ok(slf.py().import("rtcg.array_api")?.into_any())
    }

    /// The device that holds the array, whether or not it is current: a `rtcg.driver.Device`.
    #[getter]
    fn device(slf: &Bound<'_, Self>) -> PyResult<Py<PyDevice>> {
        PyDevice::cached_py_device(slf.py(), slf.get().own_device()?)
    }

    /// This array on a device: the array itself if it is there already, else a copy in that device's current or
    /// primary context, for which the call waits; a NumPy array for ``"cpu"``. `stream` has no effect.
    #[pyo3(signature = (device, /, *, stream = None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: &BoundAny<'py>,
        stream: Option<&BoundAny<'py>>,
    ) -> PyResult<BoundAny<'py>> {
        let _ = stream;
        slf.py().import("rtcg._array_protocols")?.getattr("to_device")?.call1((slf, device))
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        matmul_operator(slf, other, false)
    }

    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        matmul_operator(slf, other, true)
    }

    fn __imatmul__<'py>(slf: &Bound<'py, Self>, other: &BoundAny<'py>) -> PyResult<()> {
        let py = slf.py();
        let own = &slf.get().current_state().array;
        let other = require_array(own.context(), other)?;
        let product = to_py_result(py, own.matmul(&other))?;
        if product.shape() != own.shape() {
            return Err(PyValueError::new_err(format!(
                "matmul in place: the product has shape {}, the array {}",
                rtcg::array::PythonTuple(product.shape()),
                rtcg::array::PythonTuple(own.shape())
            )));
        }
        to_py_result(py, product.store_in(own))
    }
}

fn matmul_operator<'py>(
    slf: &Bound<'py, PyGpuArray>,
    other: &BoundAny<'py>,
    reflected: bool,
) -> PyResult<BoundAny<'py>> {
    let py = slf.py();
    let own = &slf.get().current_state().array;
    match super::operands::parse_operand(own.context(), other)? {
        None => Ok(py.NotImplemented().into_bound(py)),
        Some(super::operands::PyOperand::Scalar(_)) => Err(PyValueError::new_err(
            "matmul: the other operand is a scalar; expected an array with axes; use multiply for scalars",
        )),
        Some(_) => {
            let other = require_array(own.context(), other)?;
            let (x, y) = if reflected { (&other, own) } else { (own, &other) };
            PyGpuArray::make_like(slf, || x.matmul(y))
        }
    }
}

pub(super) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m,
        functions array_take, array_put, array_nonzero, array_flatnonzero, array_cumulative, array_sort, array_argsort,
            array_searchsorted, array_store, array_matmul, array_dot_flat, array_fft, array_splay, array_from_object;
    }
}
