//! `rtcg.reduction` and `rtcg.scan`: the kernel classes. What they do is in `rtcg::generators`.

use crate::ctypes::{
    ArrayArgument, arguments_from_object, convert_arguments, ctype_of_dtype, kernel_values, layout_for_bare_addresses,
};
use crate::driver::memory::device_pointer::{record_argument_uses, record_pointer_use};
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::elementwise::{checked_identifier, compile_settings};
use crate::errors::generator_error;
use crate::gpuarray::PyGpuArray;
use crate::gpuarray::{array_context, run_in_stream};
use crate::integer::optional_int;
use crate::resource_lifetime::{FilledByInit, LateInit, Ready, filled_object};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::codegen::reduction::ReductionSnippet;
use rtcg::codegen::scan::{NeighborFetch, ScanSnippet};
use rtcg::generators::{LaunchChoice, ReductionKernel, ScanKernel};

/// A reduction of arrays by a C expression.
#[derive(Default)]
#[pyclass(name = "ReductionKernel", module = "rtcg.reduction", frozen, subclass, weakref, dict)]
pub(crate) struct PyReductionKernel {
    kernel: LateInit<ReductionKernel>,
    dtype_out: LateInit<Py<PyArrayDescr>>,
    /// Gives memory for results when a call names none.
    allocator: LateInit<Option<Py<PyAny>>>,
}

/// A new array, made by the class itself, so that any dtype and allocator will do.
fn new_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: &Py<PyArrayDescr>,
    allocator: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyGpuArray>().call1((PyTuple::new(py, shape)?, dtype, allocator))
}

fn require_device_array<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<ArrayArgument> {
    ArrayArgument::from_array_like(object)?.ok_or_else(|| {
        let kind = object.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} is of type {kind}; expected a GPUArray"))
    })
}

/// One axis or several.
fn parse_axes(axis: &Bound<'_, PyAny>) -> PyResult<Vec<isize>> {
    axis.extract::<isize>().map(|axis| vec![axis]).or_else(|_| axis.extract())
}

impl FilledByInit for PyReductionKernel {
    fn is_filled(&self) -> bool {
        self.kernel.is_filled()
    }
}

#[pymethods]
impl PyReductionKernel {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    #[pyo3(signature = (dtype_out, neutral, reduce_expr, map_expr, arguments, name, keep, options, preamble, allocator = None))]
    #[allow(clippy::too_many_arguments, reason = "upstream's signature")]
    fn __init__(
        &self,
        dtype_out: Bound<'_, PyArrayDescr>,
        neutral: String,
        reduce_expr: String,
        map_expr: String,
        arguments: &Bound<'_, PyAny>,
        name: &str,
        keep: bool,
        options: Option<Vec<String>>,
        preamble: String,
        allocator: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let spec = ReductionSnippet {
            name: checked_identifier(name)?,
            arguments: arguments_from_object(arguments)?,
            out: ctype_of_dtype(&dtype_out)?,
            neutral,
            reduce_expr,
            map_expr,
            preamble,
        };
        let kernel = ReductionKernel::new(spec, compile_settings(keep, options));
        let kernel = kernel.map_err(|error| generator_error(dtype_out.py(), error))?;
        self.dtype_out.init_value(dtype_out.unbind())?;
        self.allocator.init_value(allocator)?;
        self.kernel.init_value(kernel)
    }

    #[pyo3(signature = (*args, stream = None, out = None, allocator = None, kernel_wrapper = None, axis = None, keepdims = false))]
    #[allow(clippy::too_many_arguments, reason = "upstream's signature")]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        stream: Option<&Bound<'py, PyStream>>,
        out: Option<Bound<'py, PyAny>>,
        allocator: Option<&Bound<'py, PyAny>>,
        kernel_wrapper: Option<&Bound<'py, PyAny>>,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this, queue) = (slf.py(), filled_object(slf)?, as_driver_stream(stream)?);
        if let Some(wrapper) = kernel_wrapper {
            let keywords = PyDict::new(py);
            for (name, value) in [("out", out.as_ref()), ("allocator", allocator), ("axis", axis)] {
                keywords.set_item(name, value)?;
            }
            keywords.set_item("keepdims", keepdims)?;
            let helper = py.import("rtcg.reduction")?.getattr("_call_with_wrapper")?;
            return helper.call1((slf, wrapper, args, stream, keywords));
        }
        let declared = &this.kernel.snippet().arguments;
        let held = convert_arguments(declared, args)?;
        let (shape, strides) = layout_for_bare_addresses(declared, &held);
        let values = kernel_values(declared, &held, &shape, &strides);
        let ctx = array_context()?;
        let raise = |error| generator_error(py, error);
        let axes = axis.map(parse_axes).transpose()?;
        let result_shape = match &axes {
            Some(axes) => this.kernel.result_shape(&values, axes, keepdims).map_err(raise)?,
            None => Vec::new(),
        };
        let result = match out {
            Some(out) => {
                this.check_out(py, &out)?;
                out
            }
            None => {
                let own = this.allocator.as_ref().map(|allocator| allocator.bind(py));
                new_array(py, &result_shape, &this.dtype_out, allocator.or(own))?
            }
        };
        let target = require_device_array(&result, "out")?;
        let view = target.array_view();
        // SAFETY: the snippets are the user's, who promises that they stay inside their arrays; the
        // result was made or checked here.
        run_in_stream(stream, || unsafe {
            let launched = match &axes {
                Some(axes) => this.kernel.launch_axis(&ctx, &values, axes, &view),
                None => this.kernel.launch(&ctx, &values, &view),
            };
            launched.map_err(raise)
        })?;
        record_argument_uses(args, queue);
        record_pointer_use(&result, queue);
        Ok(result)
    }

    /// Use this configuration for later full reductions of about `n_elements` elements in the current context.
    #[pyo3(signature = (n_elements, *, block = None, waves = None, packed = None, items = None))]
    fn _set_launch_choice(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        n_elements: usize,
        block: Option<u32>,
        waves: Option<u32>,
        packed: Option<bool>,
        items: Option<u32>,
    ) -> PyResult<()> {
        let choice = LaunchChoice { block, waves, packed, items };
        let chosen = slf.kernel.set_launch_choice(&array_context()?, n_elements, choice);
        chosen.map_err(|error| generator_error(py, error))
    }

    /// The CUDA source for contiguous arrays.
    #[getter(source)]
    fn plain_source(slf: Ready<'_, Self>) -> String {
        slf.kernel.source()
    }

    /// The CUDA source for contiguous arrays.
    fn get_source(slf: Ready<'_, Self>) -> String {
        slf.kernel.source()
    }

    /// The dtype of results.
    #[getter]
    fn dtype_out<'py>(slf: Ready<'_, Self>, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        slf.dtype_out.bind(py).clone()
    }

    /// The kernel's name.
    #[getter]
    fn name(slf: Ready<'_, Self>) -> &str {
        &slf.object().kernel.snippet().name
    }

    /// The allocator of results, or None for the default.
    #[getter]
    fn allocator(slf: Ready<'_, Self>, py: Python<'_>) -> Option<Py<PyAny>> {
        slf.allocator.as_ref().map(|allocator| allocator.clone_ref(py))
    }
}

impl PyReductionKernel {
    fn check_out(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(dtype) = out.getattr_opt("dtype")? else { return Ok(()) };
        let own = self.dtype_out.bind(py);
        if PyArrayDescr::new(py, dtype.clone())?.is_equiv_to(own) {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("out has dtype {dtype}; expected {own}")))
    }
}

/// A scan of arrays by C snippets.
#[derive(Default)]
#[pyclass(name = "_ScanKernel", module = "rtcg.scan", frozen, subclass, weakref, dict)]
pub(crate) struct PyScanKernel {
    kernel: LateInit<ScanKernel>,
}

impl FilledByInit for PyScanKernel {
    fn is_filled(&self) -> bool {
        self.kernel.is_filled()
    }
}

#[pymethods]
impl PyScanKernel {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    #[pyo3(signature = (
        dtype, arguments, input_expr, scan_expr, neutral, output_statement, is_segment_start_expr, input_fetch_exprs,
        index_dtype, name, options, preamble
    ))]
    #[allow(clippy::too_many_arguments, reason = "called by rtcg.scan with names")]
    fn __init__(
        &self,
        dtype: Bound<'_, PyArrayDescr>,
        arguments: &Bound<'_, PyAny>,
        input_expr: String,
        scan_expr: String,
        neutral: Option<String>,
        output_statement: String,
        is_segment_start_expr: Option<String>,
        input_fetch_exprs: Vec<(String, String, i64)>,
        index_dtype: Bound<'_, PyArrayDescr>,
        name: &str,
        options: Option<Vec<String>>,
        preamble: String,
    ) -> PyResult<()> {
        let fetch = |(name, array, offset)| NeighborFetch { name, array, offset };
        let spec = ScanSnippet {
            name: checked_identifier(name)?,
            arguments: arguments_from_object(arguments)?,
            item: ctype_of_dtype(&dtype)?,
            neutral,
            input_expr,
            scan_expr,
            output_statement,
            scatters: false,
            segment_start: is_segment_start_expr,
            fetches: input_fetch_exprs.into_iter().map(fetch).collect(),
            index: ctype_of_dtype(&index_dtype)?.name,
            preamble,
        };
        let kernel = ScanKernel::new(spec, compile_settings(false, options));
        self.kernel.init_value(kernel.map_err(|error| generator_error(dtype.py(), error))?)
    }

    #[pyo3(signature = (args, size = None, stream = None))]
    fn _launch(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        #[pyo3(from_py_with = optional_int)] size: Option<usize>,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let declared = &slf.kernel.snippet().arguments;
        let held = convert_arguments(declared, args)?;
        let (shape, strides) = layout_for_bare_addresses(declared, &held);
        let values = kernel_values(declared, &held, &shape, &strides);
        let ctx = array_context()?;
        // SAFETY: the snippets are the user's, who promises that they stay inside their arrays.
        let launch = || unsafe { slf.kernel.launch(&ctx, &values, size) };
        run_in_stream(stream, || launch().map_err(|error| generator_error(py, error)))?;
        record_argument_uses(args, as_driver_stream(stream)?);
        Ok(())
    }

    /// The CUDA source.
    #[getter(source)]
    fn plain_source(slf: Ready<'_, Self>) -> String {
        slf.kernel.source()
    }

    /// The CUDA source.
    fn get_source(slf: Ready<'_, Self>) -> String {
        slf.kernel.source()
    }
}

/// Release the memory that reductions and scans keep for their launches.
#[pyfunction]
fn clear_workspaces() {
    rtcg::generators::clear_workspaces();
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyReductionKernel>()?;
    m.add_class::<PyScanKernel>()?;
    m.add_function(wrap_pyfunction!(clear_workspaces, m)?)
}
