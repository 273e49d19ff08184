//! Prepared calls: the argument types are given once, in the letters of Python's `struct`.

use crate::driver::fastcall::PositionalArgs;
use crate::driver::launch::arguments::numpy_generic;
use crate::driver::launch::geometry::extract_small_integer;
use crate::driver::memory::PyDeviceAllocation;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::host_buffer::HostBuffer;
use half::f16;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use rtcg::driver::{Function, Param, PreparedArgs, lock_ignoring_poison};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

/// One argument of a prepared call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreparedArgType {
    Signed(usize),
    Unsigned(usize),
    Bool,
    Half,
    Float,
    Double,
    Complex64,
    Complex128,
    Pointer,
    /// This many bytes of a buffer.
    Bytes(usize),
}

impl PreparedArgType {
    /// Size and alignment in C.
    fn size_and_alignment(self) -> (usize, usize) {
        match self {
            PreparedArgType::Signed(size) | PreparedArgType::Unsigned(size) => (size, size),
            PreparedArgType::Bool => (1, 1),
            PreparedArgType::Half => (2, 2),
            PreparedArgType::Float => (4, 4),
            PreparedArgType::Double | PreparedArgType::Pointer => (8, 8),
            PreparedArgType::Complex64 => (8, 4),
            PreparedArgType::Complex128 => (16, 8),
            PreparedArgType::Bytes(size) => (size, 1),
        }
    }

    fn from_type_letter(letter: char) -> PyResult<PreparedArgType> {
        Ok(match letter {
            'b' => PreparedArgType::Signed(1),
            'B' | 'c' => PreparedArgType::Unsigned(1),
            'h' => PreparedArgType::Signed(2),
            'H' => PreparedArgType::Unsigned(2),
            'i' => PreparedArgType::Signed(4),
            'I' => PreparedArgType::Unsigned(4),
            'l' => PreparedArgType::Signed(size_of::<std::ffi::c_long>()),
            'L' => PreparedArgType::Unsigned(size_of::<std::ffi::c_long>()),
            'q' | 'n' => PreparedArgType::Signed(8),
            'Q' | 'N' => PreparedArgType::Unsigned(8),
            '?' => PreparedArgType::Bool,
            'e' => PreparedArgType::Half,
            'f' => PreparedArgType::Float,
            'd' => PreparedArgType::Double,
            'F' => PreparedArgType::Complex64,
            'D' => PreparedArgType::Complex128,
            'P' => PreparedArgType::Pointer,
            other => {
                return Err(PyValueError::new_err(format!(
                    "arg_types: {other:?} is no type letter; expected one of b B c h H i I l L q Q n N ? e f d F D P, or a number of bytes and s, as in 12s"
                )));
            }
        })
    }
}

/// Argument types with the place of each in the parameter buffer.
#[derive(PartialEq, Eq)]
pub(crate) struct PreparedLayout {
    slots: Vec<PreparedArgType>,
    layout: PreparedArgs,
}

impl PreparedLayout {
    /// Reads `arg_types` (a string of letters, or a sequence of types) and checks them against
    /// the kernel.
    pub(crate) fn new(function: &Function, arg_types: &Bound<'_, PyAny>) -> PyResult<Self> {
        let slots = parse_arg_types(arg_types)?;
        let sizes: Vec<_> = slots.iter().map(|slot| slot.size_and_alignment()).collect();
        let layout = function.prepare(&sizes).map_err(crate::errors::driver_error)?;
        Ok(Self { slots, layout })
    }

    /// The packed arguments of one call, in `buffer`.
    #[inline]
    pub(crate) fn pack_call_arguments<'b>(
        &self,
        args: PositionalArgs<'_, '_>,
        buffer: &'b mut PackBuffer,
    ) -> PyResult<&'b [u8]> {
        if args.len() != self.slots.len() {
            return Err(self.argument_count_error(args.len()));
        }
        let bytes = buffer.zeroed_bytes(self.layout.nbytes);
        let places = self.slots.iter().zip(&self.layout.slots);
        for (index, (arg, (slot, place))) in args.iter_args().zip(places).enumerate() {
            let target = &mut bytes[place.offset..place.offset + place.nbytes];
            write_argument_value(*slot, &arg, target)
                .map_err(|error| add_argument_index_to_error(args.py(), index, error))?;
        }
        Ok(bytes)
    }

    /// The type of an argument, and its place among the packed ones.
    pub(crate) fn type_and_param(&self, index: usize) -> Option<(PreparedArgType, Param)> {
        Some((*self.slots.get(index)?, *self.layout.slots.get(index)?))
    }

    #[cold]
    fn argument_count_error(&self, given: usize) -> PyErr {
        let wanted = self.slots.len();
        let plural = |n| if n == 1 { "" } else { "s" };
        let were = if given == 1 { "was" } else { "were" };
        let text = format!("the kernel was prepared for {wanted} argument{}, {given} {were} given", plural(wanted));
        PyTypeError::new_err(text)
    }
}

/// The argument types that a kernel is prepared for. Reading them costs one load: what it was prepared
/// for before stays in memory with the kernel, each kind once.
#[derive(Default)]
pub(crate) struct PreparedTypes {
    present: AtomicPtr<PreparedLayout>,
    all: Mutex<Vec<Arc<PreparedLayout>>>,
}

impl PreparedTypes {
    pub(crate) fn set_layout(&self, new: PreparedLayout) {
        let mut all = lock_ignoring_poison(&self.all);
        let at = all.iter().position(|known| **known == new).unwrap_or_else(|| {
            all.push(Arc::new(new));
            all.len() - 1
        });
        self.present.store(Arc::as_ptr(&all[at]).cast_mut(), Ordering::Release);
    }

    #[inline]
    pub(crate) fn current_layout(&self) -> Option<&PreparedLayout> {
        // SAFETY: null, or an object in `all`, where it stays as long as `self`.
        unsafe { self.present.load(Ordering::Acquire).as_ref() }
    }
}

const INLINE_BUFFER_BYTES: usize = 256;

/// Capacity for packed arguments: few of them need no heap memory.
pub(crate) struct PackBuffer {
    inline: [u8; INLINE_BUFFER_BYTES],
    heap: Vec<u8>,
}

impl PackBuffer {
    pub(crate) fn new() -> Self {
        Self { inline: [0; INLINE_BUFFER_BYTES], heap: Vec::new() }
    }

    /// Bytes that were not handed out before.
    fn zeroed_bytes(&mut self, nbytes: usize) -> &mut [u8] {
        if nbytes <= INLINE_BUFFER_BYTES {
            return &mut self.inline[..nbytes];
        }
        self.heap = vec![0; nbytes];
        &mut self.heap
    }
}

/// The same exception, saying which argument it is about.
#[cold]
fn add_argument_index_to_error(py: Python<'_>, index: usize, error: PyErr) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("argument #{index} (0-based): {}", error.value(py)))
}

#[inline]
fn write_argument_value(slot: PreparedArgType, arg: &Bound<'_, PyAny>, target: &mut [u8]) -> PyResult<()> {
    match slot {
        PreparedArgType::Pointer => write_fixed_bytes(target, address_of_argument(arg)?.to_ne_bytes()),
        PreparedArgType::Signed(size) => {
            put_integer(arg, target, -(1i128 << (8 * size - 1)), (1i128 << (8 * size - 1)) - 1)?
        }
        PreparedArgType::Unsigned(1) if arg.cast::<pyo3::types::PyBytes>().is_ok() => put_bytes(arg, target)?,
        PreparedArgType::Unsigned(size) => put_integer(arg, target, 0, (1i128 << (8 * size)) - 1)?,
        PreparedArgType::Bool => target[0] = u8::from(arg.is_truthy()?),
        PreparedArgType::Half => target.copy_from_slice(&f16::from_f64(arg.extract()?).to_ne_bytes()),
        PreparedArgType::Float => target.copy_from_slice(&(arg.extract::<f64>()? as f32).to_ne_bytes()),
        PreparedArgType::Double => target.copy_from_slice(&arg.extract::<f64>()?.to_ne_bytes()),
        PreparedArgType::Complex64 => {
            let (re, im) = complex_value(arg)?;
            target[..4].copy_from_slice(&(re as f32).to_ne_bytes());
            target[4..].copy_from_slice(&(im as f32).to_ne_bytes());
        }
        PreparedArgType::Complex128 => {
            let (re, im) = complex_value(arg)?;
            target[..8].copy_from_slice(&re.to_ne_bytes());
            target[8..].copy_from_slice(&im.to_ne_bytes());
        }
        PreparedArgType::Bytes(_) => put_bytes(arg, target)?,
    }
    Ok(())
}

/// Fills `target`, which has as many bytes, without a call.
#[inline]
fn write_fixed_bytes<const N: usize>(target: &mut [u8], bytes: [u8; N]) {
    match target.as_mut_array() {
        Some(target) => *target = bytes,
        None => target.copy_from_slice(&bytes),
    }
}

#[inline]
fn address_of_argument(arg: &Bound<'_, PyAny>) -> PyResult<u64> {
    match arg.cast_exact::<PyDeviceAllocation>() {
        Ok(memory) => memory.get().ptr(),
        Err(_) => Ok(arg.extract::<DevicePtr>()?.0),
    }
}

#[inline]
fn put_integer(arg: &Bound<'_, PyAny>, target: &mut [u8], low: i128, high: i128) -> PyResult<()> {
    if let Some(value) = extract_small_integer(arg)
        && i128::from(value) <= high
    {
        match target.len() {
            4 => write_fixed_bytes(target, value.to_ne_bytes()),
            8 => write_fixed_bytes(target, u64::from(value).to_ne_bytes()),
            size => target.copy_from_slice(&value.to_ne_bytes()[..size]),
        }
        return Ok(());
    }
    put_big_integer(arg, target, low, high)
}

#[inline(never)]
fn put_big_integer(arg: &Bound<'_, PyAny>, target: &mut [u8], low: i128, high: i128) -> PyResult<()> {
    let value = match arg.extract::<i64>() {
        Ok(value) => Ok(i128::from(value)),
        Err(_) => arg.extract::<u64>().map(i128::from),
    };
    let value = match value {
        Ok(value) if value >= low && value <= high => value,
        Ok(_) => return Err(out_of_range_error(arg, low, high)),
        Err(error) if error.is_instance_of::<PyOverflowError>(arg.py()) => {
            return Err(out_of_range_error(arg, low, high));
        }
        Err(error) => return Err(error),
    };
    let size = target.len();
    target.copy_from_slice(&value.to_ne_bytes()[..size]);
    Ok(())
}

#[cold]
fn out_of_range_error(arg: &Bound<'_, PyAny>, low: i128, high: i128) -> PyErr {
    PyOverflowError::new_err(format!("{arg} is outside {low}..{high}"))
}

fn complex_value(arg: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    Ok((arg.getattr("real")?.extract()?, arg.getattr("imag")?.extract()?))
}

/// Bytes by value; a shorter buffer is padded with zeros.
fn put_bytes(arg: &Bound<'_, PyAny>, target: &mut [u8]) -> PyResult<()> {
    let buffer = HostBuffer::from_object(arg, "value")?;
    // SAFETY: the buffer is alive while its bytes are copied, with the interpreter held.
    let bytes = unsafe { buffer.as_bytes() };
    if bytes.len() > target.len() {
        return Err(PyValueError::new_err(format!(
            "the value has {} bytes; expected {} at most",
            bytes.len(),
            target.len()
        )));
    }
    target[..bytes.len()].copy_from_slice(bytes);
    Ok(())
}

fn parse_arg_types(arg_types: &Bound<'_, PyAny>) -> PyResult<Vec<PreparedArgType>> {
    if let Ok(text) = arg_types.extract::<String>() {
        return parse_format_string(&text);
    }
    let mut slots = Vec::new();
    for entry in arg_types.try_iter()? {
        slots.extend(parse_type_entry(&entry?)?);
    }
    Ok(slots)
}

fn parse_format_string(text: &str) -> PyResult<Vec<PreparedArgType>> {
    let mut slots = Vec::new();
    let mut count = None;
    for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
        if let Some(digit) = letter.to_digit(10) {
            let so_far = count.unwrap_or(0usize);
            count = so_far.checked_mul(10).and_then(|n| n.checked_add(digit as usize)).filter(|&n| n <= 4096);
            if count.is_none() {
                return Err(PyValueError::new_err(format!("arg_types: a count in {text:?} is larger than 4096")));
            }
            continue;
        }
        let n = count.take().unwrap_or(1);
        match letter {
            's' => slots.push(PreparedArgType::Bytes(n)),
            _ => slots.extend(std::iter::repeat_n(PreparedArgType::from_type_letter(letter)?, n)),
        }
    }
    Ok(slots)
}

/// A type of the sequence form: a string, a NumPy scalar type, a dtype; anything else is a pointer.
fn parse_type_entry(entry: &Bound<'_, PyAny>) -> PyResult<Vec<PreparedArgType>> {
    let py = entry.py();
    if let Ok(text) = entry.extract::<String>() {
        return parse_format_string(&text);
    }
    let Some(generic) = numpy_generic(py)? else { return Ok(vec![PreparedArgType::Pointer]) };
    let is_scalar_type = entry.cast::<PyType>().is_ok_and(|class| class.is_subclass(generic).unwrap_or(false));
    if !is_scalar_type && entry.cast::<PyArrayDescr>().is_err() {
        return Ok(vec![PreparedArgType::Pointer]);
    }
    let dtype = PyArrayDescr::new(py, entry)?;
    let (kind, size) = (dtype.kind() as char, dtype.itemsize());
    Ok(vec![match (kind, size) {
        ('b', 1) => PreparedArgType::Bool,
        ('i', _) => PreparedArgType::Signed(size),
        ('u', _) => PreparedArgType::Unsigned(size),
        ('f', 2) => PreparedArgType::Half,
        ('f', 4) => PreparedArgType::Float,
        ('f', 8) => PreparedArgType::Double,
        ('c', 8) => PreparedArgType::Complex64,
        ('c', 16) => PreparedArgType::Complex128,
        ('V', _) => PreparedArgType::Bytes(size),
        _ => {
            return Err(PyTypeError::new_err(format!("arg_types: dtype {dtype} cannot be passed to a kernel")));
        }
    }])
}
