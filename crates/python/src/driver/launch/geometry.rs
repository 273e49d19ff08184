//! What a call of a kernel says beside the kernel's own arguments: grid, block, shared memory, stream, references.

use crate::driver::fastcall::{KeywordArgs, PositionalArgs};
use crate::driver::launch::keywords::{LaunchKeyword, keyword_by_name};
use crate::driver::stream::{PyStream, extract_stream};
use crate::driver::texture::PyTextureReference;
use crate::errors::LogicError;
use crate::resource_lifetime::filled_object;
use pyo3::exceptions::{PyAssertionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use rtcg::driver::{LaunchOptions, Stream, TextureReference};

/// For those who know another package.
pub(crate) const HOW_TO_LAUNCH: &str = "rtcg launches kernel(*arguments, grid=(1, 1), block=(256, 1, 1)), where CuPy has \
                                        kernel(grid, block, arguments) and Numba kernel[grid, block](*arguments)";

/// Where and how wide a kernel runs.
pub(crate) struct LaunchGeometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    /// What few launches wish.
    pub(crate) options: Option<Box<LaunchOptions>>,
}

impl LaunchGeometry {
    const EMPTY_GEOMETRY: Self = Self { grid: [1; 3], block: [0; 3], shared: 0, options: None };
}

/// What was probably meant by keywords that a launch does not have.
fn unknown_keyword_hint(names: &[String]) -> String {
    let meant = names.iter().find_map(|name| {
        let known = ["block", "grid", "stream", "shared"].into_iter().find(|known| name.starts_with(known))?;
        Some(format!("did you mean {known}?"))
    });
    meant.unwrap_or_else(|| "arguments of the kernel are positional".to_owned())
}

/// The keywords of a direct call.
pub(crate) struct CallOptions<'py> {
    pub(crate) geometry: LaunchGeometry,
    pub(crate) stream: Option<Bound<'py, PyStream>>,
    pub(crate) time_kernel: bool,
    pub(crate) texrefs: Vec<TextureReference>,
}

impl<'py> CallOptions<'py> {
    pub(crate) fn from_launch_keywords(py: Python<'py>, keywords: &KeywordArgs<'_, 'py>) -> PyResult<Self> {
        let mut options =
            Self { geometry: LaunchGeometry::EMPTY_GEOMETRY, stream: None, time_kernel: false, texrefs: vec![] };
        let (mut has_block, mut unknown) = (false, Vec::new());
        keywords.for_each_keyword(|name, value| {
            match keyword_by_name(py, &name)? {
                LaunchKeyword::Block => {
                    options.geometry.block = parse_dimensions(&value, "block")?;
                    has_block = true;
                }
                LaunchKeyword::Grid => options.geometry.grid = parse_dimensions(&value, "grid")?,
                LaunchKeyword::Shared => options.geometry.shared = parse_shared_bytes(&value, "shared")?,
                LaunchKeyword::Stream if value.is_none() => {}
                LaunchKeyword::Stream => options.stream = Some(extract_stream(&value)?),
                LaunchKeyword::TimeKernel => options.time_kernel = value.is_truthy()?,
                LaunchKeyword::Texrefs => options.texrefs = texture_references(&value)?,
                LaunchKeyword::Option(option) => {
                    option.set_option(options.geometry.options.get_or_insert_default(), &value)?
                }
                LaunchKeyword::SharedSize | LaunchKeyword::Unknown => unknown.push(name.to_string()),
            }
            Ok(())
        })?;
        if !unknown.is_empty() {
            let hint = unknown_keyword_hint(&unknown);
            return Err(PyValueError::new_err(format!("extra keyword arguments: {}; {hint}", unknown.join(", "))));
        }
        if !has_block {
            return Err(PyValueError::new_err(format!(
                "must specify block size, for instance block=(256, 1, 1); {HOW_TO_LAUNCH}"
            )));
        }
        if options.stream.is_none()
            && let Some(stream) = Stream::current()
        {
            options.stream = Some(Bound::new(py, PyStream::from(stream))?);
        } else if options.time_kernel && options.stream.is_some() {
            return Err(PyAssertionError::new_err(
                "time_kernel cannot be combined with a stream; record events instead",
            ));
        }
        Ok(options)
    }
}

fn keyword_type_error(name: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let shown = crate::errors::shown(value);
    PyTypeError::new_err(format!("{name} is {shown}; expected {wanted}"))
}

fn parse_shared_bytes(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    value.extract().map_err(|_| keyword_type_error(name, value, "bytes, an integer from 0 to 4294967295"))
}

/// The value of an `int` that is one of C's `unsigned`; `None` leaves everything else to slower ways.
#[inline]
pub(crate) fn extract_small_integer(value: &Bound<'_, PyAny>) -> Option<u32> {
    if !value.is_exact_instance_of::<PyInt>() {
        return None;
    }
    // SAFETY: the object is an int. One that is no C `long` is -1 and an exception, which is taken back.
    let number = unsafe { pyo3::ffi::PyLong_AsLong(value.as_ptr()) };
    if number == -1 {
        let _ = PyErr::take(value.py());
    }
    u32::try_from(number).ok()
}

/// One to three positive numbers; missing ones are 1.
pub(crate) fn parse_dimensions(value: &Bound<'_, PyAny>, name: &str) -> PyResult<[u32; 3]> {
    let mut result = [1; 3];
    let too_many = |len| LogicError::new_err(format!("{name} has {len} dimensions; expected one to three"));
    let bad = |_| keyword_type_error(name, value, "an integer, or a tuple of one to three, from 1 to 4294967295");
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let len = tuple.len();
        if len == 0 || len > 3 {
            return Err(too_many(len));
        }
        for (slot, item) in result.iter_mut().zip(tuple.iter_borrowed()) {
            *slot = extract_small_integer(&item).map_or_else(|| item.extract(), Ok).map_err(bad)?;
        }
        return Ok(result);
    }
    let list: Vec<u32> = value.extract().or_else(|_| value.extract().map(|n: u32| vec![n])).map_err(bad)?;
    if list.is_empty() || list.len() > 3 {
        return Err(too_many(list.len()));
    }
    result[..list.len()].copy_from_slice(&list);
    Ok(result)
}

/// The references that a kernel is launched with. Binding has made them visible to the kernels of
/// their module already; here they are only checked and kept alive.
pub(crate) fn texture_references(value: &Bound<'_, PyAny>) -> PyResult<Vec<TextureReference>> {
    if value.is_none() {
        return Ok(vec![]);
    }
    let wrong = |item: &Bound<'_, PyAny>| keyword_type_error("texrefs", item, "a list of TextureReference");
    let items = value.try_iter().map_err(|_| wrong(value))?;
    items
        .map(|item| {
            let item = item?;
            let texref = item.cast::<PyTextureReference>().map_err(|_| wrong(&item))?;
            Ok(filled_object(texref)?.0.clone())
        })
        .collect()
}

/// `grid` and `block`, the first positional arguments, and the keywords of a prepared call.
pub(crate) fn parse_prepared_geometry<'py>(
    method: &str,
    args: PositionalArgs<'_, 'py>,
    keywords: &KeywordArgs<'_, 'py>,
) -> PyResult<LaunchGeometry> {
    let (Some(grid), Some(block)) = (args.get_arg(0), args.get_arg(1)) else {
        return Err(PyTypeError::new_err(format!("{method}() needs grid and block before the kernel's arguments")));
    };
    let mut geometry = LaunchGeometry {
        grid: parse_dimensions(&grid, "grid")?,
        block: parse_dimensions(&block, "block")?,
        ..LaunchGeometry::EMPTY_GEOMETRY
    };
    keywords.for_each_keyword(|name, value| {
        match keyword_by_name(args.py(), &name)? {
            LaunchKeyword::SharedSize => geometry.shared = parse_shared_bytes(&value, "shared_size")?,
            LaunchKeyword::Option(option) => option.set_option(geometry.options.get_or_insert_default(), &value)?,
            _ => {
                let text = format!("{method}() got an unexpected keyword argument '{}'; expected shared_size", &*name);
                return Err(PyTypeError::new_err(text));
            }
        }
        Ok(())
    })?;
    Ok(geometry)
}
