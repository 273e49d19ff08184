//! NumPy's dtypes and the core's.

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rtcg::array::DType;

/// The core's dtype of anything that NumPy takes for a dtype.
pub(crate) fn parse_dtype(py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<DType> {
    dtype_of_descr(&parse_numpy_dtype(py, dtype)?)
}

/// NumPy's dtype of anything that NumPy takes for one.
pub(crate) fn parse_numpy_dtype<'py>(py: Python<'py>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDescr>> {
    match dtype.cast::<PyArrayDescr>() {
        Ok(descr) => Ok(descr.clone()),
        Err(_) => PyArrayDescr::new(py, dtype).map_err(|_| {
            let shown = crate::errors::shown(dtype);
            PyTypeError::new_err(format!("dtype is {shown}; expected a dtype, such as 'float32'"))
        }),
    }
}

/// The core's dtype of NumPy's.
pub(crate) fn dtype_of_descr(descr: &Bound<'_, PyArrayDescr>) -> PyResult<DType> {
    let refused = |why: String| PyTypeError::new_err(format!("dtype {descr}: {why}"));
    if descr.byteorder() == b'>' {
        return Err(refused("elements of the other byte order are not supported on a device".into()));
    }
    // Types of other packages, such as bfloat16, have numbers from 256 on.
    if descr.num() >= 256 {
        let name: String = descr.getattr("name")?.extract()?;
        return DType::from_name(&name).ok_or_else(|| refused(format!("elements of type {name} are not supported")));
    }
    if descr.kind() == b'V' && descr.getattr("hasobject")?.extract()? {
        return Err(refused("Python objects cannot live on a device".into()));
    }
    DType::from_numpy(descr.kind() as char, descr.itemsize()).map_err(|error| refused(error.to_string()))
}

/// NumPy's dtype of the core's; records, whose fields only NumPy knows, become plain bytes.
pub(crate) fn numpy_descr<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyArrayDescr>> {
    static NUMPY_DESCRIPTORS: [PyOnceLock<Py<PyArrayDescr>>; 15] = [const { PyOnceLock::new() }; 15];
    let position = DType::all_dtypes().position(|known| known == dtype);
    let make = || -> PyResult<Py<PyArrayDescr>> {
        if dtype == DType::BF16 {
            let class = py.import("ml_dtypes")?.getattr("bfloat16")?;
            return Ok(PyArrayDescr::new(py, class)?.unbind());
        }
        Ok(PyArrayDescr::new(py, dtype.typestr())?.unbind())
    };
    match position {
        Some(position) => Ok(NUMPY_DESCRIPTORS[position].get_or_try_init(py, make)?.bind(py).clone()),
        None => Ok(make()?.into_bound(py)),
    }
}
