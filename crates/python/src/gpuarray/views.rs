//! Methods that give other views of the same memory.

use super::dtypes::{dtype_of_descr, parse_numpy_dtype};
use super::{PyGpuArray, parse_order, to_py_result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rtcg::array::{GpuArray, Op, Order};

/// Integers given one by one or as one sequence; `None` for nothing or `None`.
pub(super) fn integer_arguments(args: &Bound<'_, PyTuple>) -> PyResult<Option<Vec<isize>>> {
    match args.len() {
        0 => Ok(None),
        1 => {
            let only = args.get_item(0)?;
            if only.is_none() {
                return Ok(None);
            }
            match only.extract::<isize>() {
                Ok(number) => Ok(Some(vec![number])),
                Err(_) => only.extract().map(Some),
            }
        }
        _ => args.extract().map(Some),
    }
}

/// One axis, several, or all (`None`).
pub(super) fn parse_axes(axis: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<isize>>> {
    match axis.filter(|axis| !axis.is_none()) {
        None => Ok(None),
        Some(axis) => match axis.extract::<isize>() {
            Ok(one) => Ok(Some(vec![one])),
            Err(_) => axis.extract().map(Some),
        },
    }
}

fn wrap_view<'py>(slf: &Bound<'py, PyGpuArray>, view: rtcg::array::Result<GpuArray>) -> PyResult<Bound<'py, PyAny>> {
    PyGpuArray::view_of(slf, to_py_result(slf.py(), view)?, None)
}

/// A view of `slf` if the memory is shared, else an array of its own.
fn wrap_view_or_copy<'py>(
    slf: &Bound<'py, PyGpuArray>,
    make: impl FnOnce() -> rtcg::array::Result<GpuArray>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = to_py_result(slf.py(), PyGpuArray::with_allocator_of(slf, make))?;
    let shared = match (made.buffer(), slf.get().current_state().array.buffer()) {
        (Some(a), Some(b)) => std::sync::Arc::ptr_eq(a, b),
        _ => true,
    };
    if shared { PyGpuArray::view_of(slf, made, None) } else { PyGpuArray::new_like(slf, made) }
}

type BoundAny<'py> = Bound<'py, PyAny>;
type SelfArray<'a, 'py> = &'a Bound<'py, PyGpuArray>;

/// The order in which elements are enumerated: one of the indices, or that of the memory.
#[derive(Clone, Copy)]
enum MemoryOrder {
    Indices(Order),
    Memory,
}

impl MemoryOrder {
    /// Of NumPy's letters, of which A depends on the array.
    fn parse(order: &str, array: &GpuArray) -> PyResult<Self> {
        let is_fortran = || array.is_contiguous(Order::F) && !array.is_contiguous(Order::C);
        match order {
            "C" => Ok(Self::Indices(Order::C)),
            "F" => Ok(Self::Indices(Order::F)),
            "A" => Ok(Self::Indices(if is_fortran() { Order::F } else { Order::C })),
            "K" => Ok(Self::Memory),
            other => Err(PyValueError::new_err(format!("order is '{other}'; expected 'C', 'F', 'A' or 'K'"))),
        }
    }

    fn ravel(self, array: &GpuArray) -> rtcg::array::Result<GpuArray> {
        match self {
            Self::Indices(order) => array.ravel(order),
            Self::Memory => array.ravel_in_memory_order(),
        }
    }
}

#[pymethods]
impl PyGpuArray {
    /// The same elements in another shape: a view where the layout allows, else a copy. One length may be -1.
    ///
    /// `order` is C, F or A. Raises `ValueError` if the number of elements differs.
    #[pyo3(signature = (*shape, **kwargs), text_signature = "($self, *shape, order='C', copy=None)")]
    fn reshape<'py>(
        slf: SelfArray<'_, 'py>,
        shape: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<BoundAny<'py>> {
        let mut order = Order::C;
        for (key, value) in kwargs.into_iter().flatten() {
            match key.extract::<String>()?.as_str() {
                "order" => {
                    let letter = value.extract::<String>()?;
                    let fortran = slf.get().current_state().array.is_contiguous(Order::F)
                        && !slf.get().current_state().array.is_contiguous(Order::C);
                    order = match letter.as_str() {
                        "A" => {
                            if fortran {
                                Order::F
                            } else {
                                Order::C
                            }
                        }
                        other => parse_order(other)?,
                    };
                }
                "copy" if value.is_none() || !value.is_truthy()? => {}
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "reshape() got an unexpected keyword argument '{other}'"
                    )));
                }
            }
        }
        let shape = integer_arguments(shape)?.unwrap_or_default();
        let array = &slf.get().current_state().array;
        wrap_view_or_copy(slf, || {
            let reshaped = array.reshape(&shape, order)?;
            // As upstream, what is contiguous comes out contiguous in `order`.
            let is_wanted = reshaped.is_contiguous(order) || array.layout().order(array.itemsize()).is_none();
            if is_wanted { Ok(reshaped) } else { reshaped.copy(Some(order)) }
        })
    }

    /// One axis in the order `order` (C, F, A or K): a view where the layout allows, else a copy; does not wait.
    #[pyo3(signature = (order = "C"))]
    fn ravel<'py>(slf: SelfArray<'_, 'py>, order: &str) -> PyResult<BoundAny<'py>> {
        let array = &slf.get().current_state().array;
        let order = MemoryOrder::parse(order, array)?;
        wrap_view_or_copy(slf, || order.ravel(array))
    }

    /// A one-dimensional copy in the order `order` (C, F, A or K); does not wait.
    #[pyo3(signature = (order = "C"))]
    fn flatten<'py>(slf: SelfArray<'_, 'py>, order: &str) -> PyResult<BoundAny<'py>> {
        let array = &slf.get().current_state().array;
        let order = MemoryOrder::parse(order, array)?;
        PyGpuArray::make_like(slf, || {
            let raveled = order.ravel(array)?;
            if raveled.shares_buffer(array) { raveled.copy(None) } else { Ok(raveled) }
        })
    }

    /// A view with the axes permuted to the order `axes`, by default reversed.
    #[pyo3(signature = (*args, axes = None))]
    fn transpose<'py>(
        slf: SelfArray<'_, 'py>,
        args: &Bound<'py, PyTuple>,
        axes: Option<&BoundAny<'py>>,
    ) -> PyResult<BoundAny<'py>> {
        let axes = match axes {
            Some(_) if !args.is_empty() => return Err(PyTypeError::new_err("transpose() got axes twice")),
            Some(axes) => parse_axes(Some(axes))?,
            None => integer_arguments(args)?,
        };
        wrap_view(slf, slf.get().current_state().array.transpose(axes.as_deref()))
    }

    /// The transposed array, a view: axes in reverse order.
    #[getter(T)]
    fn transposed<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        wrap_view(slf, slf.get().current_state().array.transpose(None))
    }

    /// A view with the last two axes exchanged; raises `ValueError` for fewer than two dimensions.
    #[getter(mT)]
    fn matrix_transposed<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        if slf.get().current_state().array.ndim() < 2 {
            return Err(PyValueError::new_err("matrix transpose with ndim < 2 is undefined"));
        }
        wrap_view(slf, slf.get().current_state().array.swapaxes(-1, -2))
    }

    /// A view with two axes exchanged.
    fn swapaxes<'py>(slf: SelfArray<'_, 'py>, axis1: isize, axis2: isize) -> PyResult<BoundAny<'py>> {
        wrap_view(slf, slf.get().current_state().array.swapaxes(axis1, axis2))
    }

    /// A view without axes of length 1, or without those in `axis`, which must have that length.
    #[pyo3(signature = (axis = None))]
    fn squeeze<'py>(slf: SelfArray<'_, 'py>, axis: Option<&BoundAny<'py>>) -> PyResult<BoundAny<'py>> {
        let axes = parse_axes(axis)?;
        wrap_view(slf, slf.get().current_state().array.squeeze(axes.as_deref()))
    }

    /// The diagonal `offset` of the axes `axis1` and `axis2`, a view, with the diagonal as the last axis.
    #[pyo3(signature = (offset = 0, axis1 = 0, axis2 = 1))]
    fn diagonal<'py>(slf: SelfArray<'_, 'py>, offset: isize, axis1: isize, axis2: isize) -> PyResult<BoundAny<'py>> {
        wrap_view(slf, slf.get().current_state().array.diagonal(offset, axis1, axis2))
    }

    /// `numpy.expand_dims`, `moveaxis`, `flip` and `broadcast_to`, which are functions in NumPy.
    fn _expand_dims<'py>(slf: SelfArray<'_, 'py>, axis: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        wrap_view(slf, slf.get().current_state().array.expand_dims(&parse_axes(Some(axis))?.unwrap_or_default()))
    }

    fn _moveaxis<'py>(
        slf: SelfArray<'_, 'py>,
        source: &BoundAny<'py>,
        destination: &BoundAny<'py>,
    ) -> PyResult<BoundAny<'py>> {
        let (source, destination) = (parse_axes(Some(source))?, parse_axes(Some(destination))?);
        wrap_view(
            slf,
            slf.get().current_state().array.moveaxis(&source.unwrap_or_default(), &destination.unwrap_or_default()),
        )
    }

    fn _flip<'py>(slf: SelfArray<'_, 'py>, axis: Option<&BoundAny<'py>>) -> PyResult<BoundAny<'py>> {
        let axes = parse_axes(axis)?;
        wrap_view(slf, slf.get().current_state().array.flip(axes.as_deref()))
    }

    fn _broadcast_to<'py>(slf: SelfArray<'_, 'py>, shape: &BoundAny<'py>) -> PyResult<BoundAny<'py>> {
        wrap_view(slf, slf.get().current_state().array.broadcast_to(&super::operands::parse_shape(shape)?))
    }

    /// The same bytes as elements of another dtype.
    #[pyo3(signature = (dtype = None))]
    fn view<'py>(slf: SelfArray<'_, 'py>, dtype: Option<&BoundAny<'py>>) -> PyResult<BoundAny<'py>> {
        let py = slf.py();
        let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
            return wrap_view(slf, Ok(slf.get().current_state().array.clone()));
        };
        let descr = parse_numpy_dtype(py, dtype)?;
        let view = to_py_result(py, slf.get().current_state().array.view_as(dtype_of_descr(&descr)?))?;
        PyGpuArray::view_of(slf, view, Some(descr))
    }

    /// Bind to a texture reference of the same dtype; returns the offset in elements.
    #[pyo3(signature = (texref, allow_offset = false))]
    fn bind_to_texref<'py>(
        slf: SelfArray<'_, 'py>,
        texref: &BoundAny<'py>,
        allow_offset: bool,
    ) -> PyResult<BoundAny<'py>> {
        slf.py().import("rtcg._cuda_arrays")?.getattr("bind_to_texref")?.call1((slf, texref, allow_offset))
    }

    /// Bind to a texture reference and set its format; returns the offset in elements.
    #[pyo3(signature = (texref, channels = 1, allow_double_hack = false, allow_complex_hack = false, allow_offset = false))]
    fn bind_to_texref_ext<'py>(
        slf: SelfArray<'_, 'py>,
        texref: &BoundAny<'py>,
        channels: i32,
        allow_double_hack: bool,
        allow_complex_hack: bool,
        allow_offset: bool,
    ) -> PyResult<BoundAny<'py>> {
        let arguments = (slf, texref, channels, allow_double_hack, allow_complex_hack, allow_offset);
        slf.py().import("rtcg._cuda_arrays")?.getattr("bind_to_texref_ext")?.call1(arguments)
    }

    /// A contiguous copy of the real parts, or the array itself if it is not complex.
    #[getter]
    fn real<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        if !slf.get().current_state().array.dtype().is_complex() {
            return Ok(slf.clone().into_any());
        }
        PyGpuArray::compute_elementwise(slf, || slf.get().current_state().array.real().copy(None))
    }

    /// A contiguous copy of the imaginary parts; zeros if the array is not complex.
    #[getter]
    fn imag<'py>(slf: SelfArray<'_, 'py>) -> PyResult<BoundAny<'py>> {
        match slf.get().current_state().array.imag() {
            Some(parts) => PyGpuArray::compute_elementwise(slf, || parts.copy(None)),
            None => {
                let array = &slf.get().current_state().array;
                PyGpuArray::make_like(slf, || {
                    let new = array.empty_like(array.dtype())?;
                    new.memset_zero()?;
                    Ok(new)
                })
            }
        }
    }

    /// The complex conjugate, a new array (`out` if given), or the array itself if it is real. Does not wait.
    #[pyo3(signature = (out = None))]
    fn conj<'py>(slf: SelfArray<'_, 'py>, out: Option<&Bound<'py, PyGpuArray>>) -> PyResult<BoundAny<'py>> {
        let array = &slf.get().current_state().array;
        if !array.dtype().is_complex() && out.is_none() {
            return Ok(slf.clone().into_any());
        }
        let target = out.map(|out| out.get().current_state());
        let options = rtcg::array::OpOptions { out: target.as_deref().map(|target| &target.array), dtype: None };
        let conjugate = || rtcg::array::apply_elementwise(array.context(), Op::Conjugate, &[array.into()], options);
        match out {
            Some(out) => to_py_result(slf.py(), conjugate()).map(|_| out.clone().into_any()),
            None => PyGpuArray::compute_elementwise(slf, conjugate),
        }
    }

    /// Same as `conj`.
    #[pyo3(signature = (out = None))]
    fn conjugate<'py>(slf: SelfArray<'_, 'py>, out: Option<&Bound<'py, PyGpuArray>>) -> PyResult<BoundAny<'py>> {
        Self::conj(slf, out)
    }
}
