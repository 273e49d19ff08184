//! `rtcg.elementwise`: the kernel class. What it does is in `rtcg::generators`.

use crate::ctypes::{
    KernelArgument, arguments_from_object, convert_arguments, kernel_values, layout_for_bare_addresses,
};
use crate::driver::launch::function::KernelObject;
use crate::driver::memory::device_pointer::record_argument_uses;
use crate::driver::module::PyModuleHandle;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::driver::texture::PyTextureReference;
use crate::elementwise_cached_call::CachedCallCell;
use crate::errors::{OrRaise, generator_error};
use crate::gpuarray::{array_context, run_in_stream};
use crate::resource_lifetime::{FilledByInit, LateInit, Ready};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};
use rtcg::codegen::pointwise::ElementwiseSnippet;
use rtcg::generators::{CompileSettings, ElementwiseKernel, IndexRange, LaunchChoice};

/// Options for the compiler as Python passes them.
pub(crate) fn compile_settings(keep: bool, options: Option<Vec<String>>) -> CompileSettings {
    CompileSettings { options, keep }
}

/// A kernel that executes a C snippet for each element.
#[derive(Default)]
#[pyclass(name = "ElementwiseKernel", module = "rtcg.elementwise", frozen, subclass, weakref, dict)]
pub(crate) struct PyElementwiseKernel {
    kernel: LateInit<ElementwiseKernel>,
    last: CachedCallCell,
}

impl FilledByInit for PyElementwiseKernel {
    fn is_filled(&self) -> bool {
        self.kernel.is_filled()
    }
}

#[pymethods]
impl PyElementwiseKernel {
    #[new]
    #[pyo3(
        signature = (*_args, **_kwargs),
        text_signature = "(arguments, operation, name='kernel', keep=False, options=None, preamble='', loop_prep='', after_loop='')"
    )]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    #[pyo3(signature = (
        arguments, operation, name = "kernel", keep = false, options = None, preamble = "", loop_prep = "", after_loop = ""
    ))]
    #[allow(clippy::too_many_arguments, reason = "upstream's signature")]
    fn __init__(
        &self,
        arguments: &Bound<'_, PyAny>,
        operation: &str,
        name: &str,
        keep: bool,
        options: Option<Vec<String>>,
        preamble: &str,
        loop_prep: &str,
        after_loop: &str,
    ) -> PyResult<()> {
        let spec = ElementwiseSnippet {
            name: checked_identifier(name)?,
            arguments: arguments_from_object(arguments)?,
            operation: operation.into(),
            preamble: preamble.into(),
            loop_prep: loop_prep.into(),
            after_loop: after_loop.into(),
        };
        spec.check_parameter_names().map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.kernel.init_value(ElementwiseKernel::new(spec, compile_settings(keep, options)))
    }

    #[pyo3(signature = (*args, range = None, slice = None, stream = None))]
    fn __call__<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        range: Option<&Bound<'py, PyAny>>,
        slice: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyStream>>,
    ) -> PyResult<()> {
        let is_plain = range.is_none() && slice.is_none() && stream.is_none();
        if is_plain && let Some(called) = slf.last.call_cached(args) {
            return called;
        }
        let declared = &slf.kernel.snippet().arguments;
        let held = convert_arguments(declared, args)?;
        let region = parse_index_range(range, slice, &held)?;
        let (shape, strides) = layout_for_bare_addresses(declared, &held);
        let values = kernel_values(declared, &held, &shape, &strides);
        let ctx = array_context()?;
        // SAFETY: the snippet is the user's, who promises that it stays inside its arrays.
        let launched = run_in_stream(stream, || unsafe {
            let launched = match is_plain {
                true => slf.kernel.launch_and_cache(&ctx, &values),
                false => slf.kernel.launch(&ctx, &values, region).map(|()| None),
            };
            launched.map_err(|error| generator_error(py, error))
        });
        let cached_launch = launched?;
        record_argument_uses(args, as_driver_stream(stream)?);
        if is_plain {
            slf.last.cache_call(declared, args, cached_launch);
        }
        Ok(())
    }

    /// The CUDA source for contiguous arrays (or a range), or for the given arguments of a call.
    #[pyo3(signature = (*args, use_range = false))]
    fn get_source<'py>(
        slf: Ready<'_, Self>,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        use_range: bool,
    ) -> PyResult<String> {
        if args.is_empty() {
            return Ok(slf.kernel.source(use_range));
        }
        let declared = &slf.kernel.snippet().arguments;
        let held = convert_arguments(declared, args)?;
        let (shape, strides) = layout_for_bare_addresses(declared, &held);
        let values = kernel_values(declared, &held, &shape, &strides);
        let source = slf.kernel.source_for_call(&array_context()?, &values, IndexRange::All);
        source.map_err(|error| generator_error(py, error))
    }

    /// The CUDA source for contiguous arrays.
    #[getter(source)]
    fn plain_source(slf: Ready<'_, Self>) -> String {
        slf.kernel.source(false)
    }

    /// The kernel's name.
    #[getter]
    fn name(slf: Ready<'_, Self>) -> &str {
        &slf.object().kernel.snippet().name
    }

    /// The texture reference `name`, which the preamble declares.
    #[pyo3(signature = (name, use_range = false))]
    fn get_texref(slf: Ready<'_, Self>, py: Python<'_>, name: &str, use_range: bool) -> PyResult<PyTextureReference> {
        let function = slf.driver_function(py, use_range)?;
        function.module().texref(name).or_raise().map(PyTextureReference::from)
    }

    /// Use this configuration for later launches over about `n_elements` elements in the current context.
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
        chosen.map_err(|error| generator_error(py, error))?;
        slf.last.replace(py, None);
        Ok(())
    }

    /// `(block, waves, packed)` of a launch over this many elements in the current context; None follows the default
    /// rule.
    fn _launch_choice(slf: Ready<'_, Self>, n_elements: usize) -> PyResult<(Option<u32>, Option<u32>, Option<bool>)> {
        let LaunchChoice { block, waves, packed, .. } = slf.kernel.launch_choice(&array_context()?, n_elements);
        Ok((block, waves, packed))
    }

    /// The kernel whose source `get_source(use_range=...)` shows.
    #[pyo3(signature = (use_range = false))]
    fn _compiled_function(slf: Ready<'_, Self>, py: Python<'_>, use_range: bool) -> PyResult<KernelObject> {
        slf.driver_function(py, use_range).map(KernelObject)
    }

    /// The module with that kernel and the definitions of the preamble.
    #[pyo3(signature = (use_range = false))]
    fn _compiled_module(slf: Ready<'_, Self>, py: Python<'_>, use_range: bool) -> PyResult<PyModuleHandle> {
        Self::_compiled_function(slf, py, use_range).map(|kernel| kernel.0.module().clone().into())
    }
}

impl PyElementwiseKernel {
    fn driver_function(&self, py: Python<'_>, use_range: bool) -> PyResult<rtcg::driver::Function> {
        let ctx = array_context()?;
        let function = py.detach(|| rtcg::driver_function(&*self.kernel.kernel(&ctx, use_range)?).cloned());
        function.map_err(|error| generator_error(py, error))
    }
}

/// A name that a kernel can have.
pub(crate) fn checked_identifier(name: &str) -> PyResult<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_word) {
        return Err(PyValueError::new_err(format!("name is {name:?}; expected a C identifier")));
    }
    Ok(name.into())
}

fn index_range_error(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let shown = crate::errors::shown(value);
    PyTypeError::new_err(format!("{name} is {shown}; expected {expected}"))
}

fn parse_index_range(
    range: Option<&Bound<'_, PyAny>>,
    slice: Option<&Bound<'_, PyAny>>,
    held: &[KernelArgument<'_>],
) -> PyResult<IndexRange> {
    match (range, slice) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err("may not specify both range and slice")),
        (None, None) => Ok(IndexRange::All),
        (None, Some(slice)) => {
            let slice = slice.cast::<PySlice>().map_err(|_| index_range_error("slice", slice, "a slice"))?;
            let arrays = held
                .iter()
                .find_map(|h| if let KernelArgument::Array(a) = h { Some(a.array_view().n_elements()) } else { None });
            let size =
                arrays.ok_or_else(|| PyTypeError::new_err("slice needs an array argument, whose size it is of"))?;
            let indices = slice.indices(size as isize)?;
            Ok(IndexRange::Range { start: indices.start as i64, stop: indices.stop as i64, step: indices.step as i64 })
        }
        (Some(range), None) => {
            let part = |name: &str| -> PyResult<Option<i64>> { range.getattr(name)?.extract() };
            let wrong = |_| index_range_error("range", range, "a slice or range with integer start, stop and step");
            let (start, stop, step) =
                (part("start").map_err(wrong)?, part("stop").map_err(wrong)?, part("step").map_err(wrong)?);
            let stop = stop.ok_or_else(|| index_range_error("range", range, "one with a stop"))?;
            Ok(IndexRange::Range { start: start.unwrap_or(0), stop, step: step.unwrap_or(1) })
        }
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyElementwiseKernel>()
}
