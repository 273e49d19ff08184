//! Arguments of generated kernels, and how the layouts of several arrays combine.

use crate::element::{Element, unpadded_bytes};
use crate::memory::DeviceVec;
use rtcg_array::{GpuArray, PythonTuple, repeated_axis};
use rtcg_codegen::c_declarations::{Argument, CType, CTypeForm};
use rtcg_cuda::{Error, Result, element_number_type, run_in_stream};
use rtcg_driver::signature::{NumberType, ParamKind};
use rtcg_driver::{ArgPacker, ConversionError, ConvertedScalar, Stream, WeakScalar};
use rtcg_hal::ArrayBuffer;
use std::sync::Arc;

/// The number type of a declared type; `None` for structures.
pub fn ctype_number_type(ctype: &CType) -> Option<NumberType> {
    let int = |signed| Some(NumberType::Int { nbytes: ctype.itemsize as u8, signed });
    match (ctype.form, ctype.itemsize) {
        (CTypeForm::Number('b'), _) => Some(NumberType::Bool),
        (CTypeForm::Number('i'), _) => int(true),
        (CTypeForm::Number('u'), _) => int(false),
        (CTypeForm::Number('f'), 2) => Some(NumberType::Half),
        (CTypeForm::Number('f'), 4) => Some(NumberType::Float),
        (CTypeForm::Number('f'), 8) => Some(NumberType::Double),
        (CTypeForm::Number('c') | CTypeForm::Vector { kind: 'f', components: 2 }, 8) => Some(NumberType::Complex64),
        (CTypeForm::Number('c') | CTypeForm::Vector { kind: 'f', components: 2 }, 16) => Some(NumberType::Complex128),
        (CTypeForm::BFloat16, _) => Some(NumberType::BFloat16),
        _ => None,
    }
}

/// Memory that must know which streams use it.
pub trait TracksUse: Sync {
    /// Called after work that uses the memory was enqueued in `stream`.
    fn used_in(&self, stream: Option<&Stream>);
}

impl<T: Element> TracksUse for DeviceVec<T> {
    fn used_in(&self, stream: Option<&Stream>) {
        DeviceVec::used_in(self, stream);
    }
}

impl TracksUse for Arc<dyn ArrayBuffer> {
    fn used_in(&self, stream: Option<&Stream>) {
        match stream {
            None => self.record_use(),
            Some(_) => run_in_stream(stream, || self.record_use()),
        }
    }
}

/// The owner of a view's memory, if it records uses. It does not take part in comparisons of views.
#[derive(Clone, Copy, Default)]
pub struct UseTracker<'a>(Option<&'a dyn TracksUse>);

impl<'a, T: TracksUse> From<&'a T> for UseTracker<'a> {
    fn from(memory: &'a T) -> Self {
        Self(Some(memory))
    }
}

impl std::fmt::Debug for UseTracker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Owner" } else { "nobody" })
    }
}

impl PartialEq for UseTracker<'_> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for UseTracker<'_> {}

/// An array's layout and place in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArrayView<'a> {
    /// Address of the first element; any value if there is none.
    pub ptr: u64,
    /// Length of each axis.
    pub shape: &'a [usize],
    /// Bytes from one element to the next along each axis.
    pub strides: &'a [isize],
    /// Bytes per element.
    pub itemsize: usize,
    /// The element type, if known.
    pub number: Option<NumberType>,
    /// [`rtcg_driver::Context::handle_number`] of the context that owns the memory; 0 if unknown.
    pub context: u64,
    /// The owner of the memory.
    pub owner: UseTracker<'a>,
}

impl ArrayView<'_> {
    /// Refuses an array, as argument `name`, that is written to and has several elements at one place.
    pub(crate) fn check_writable(&self, name: &str) -> Result<()> {
        match repeated_axis(self.shape, self.strides) {
            None => Ok(()),
            Some(axis) => Err(argument_error(
                name,
                format_args!(
                    "of shape {} is written to, but its elements along axis {axis} lie at one place (stride 0), as in a \
                     view by broadcast_to; expected a place for each, as in a copy",
                    PythonTuple(self.shape)
                ),
            )),
        }
    }
}

/// An argument of a generated kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeneratedKernelArg<'a> {
    /// An array.
    Array(ArrayView<'a>),
    /// The bytes of a number, and its type. It is converted to the declared type.
    Number(&'a [u8], NumberType),
    /// The bytes of a value of the declared type.
    Bytes(&'a [u8]),
}

impl<'a> GeneratedKernelArg<'a> {
    /// Passes a number by value. Integers convert to declared floating-point types, and numbers of one kind convert to
    /// each other. Floating-point numbers do not convert to integers, and a value that the declared type cannot hold is
    /// an error.
    ///
    /// Structures and arrays are passed as their bytes; one with padding does not compile.
    pub fn from_scalar<T: Element>(value: &'a T) -> Self {
        let bytes = unpadded_bytes(value);
        T::NUMBER_TYPE.map_or(GeneratedKernelArg::Bytes(bytes), |number| GeneratedKernelArg::Number(bytes, number))
    }

    pub(crate) fn as_array(&self) -> Option<&ArrayView<'a>> {
        if let GeneratedKernelArg::Array(view) = self { Some(view) } else { None }
    }

    /// Adds what the kernel gets for a parameter.
    pub(crate) fn push_argument(&self, packer: &mut ArgPacker<'_>, declared: &Argument) -> Result<()> {
        let align = declared.ctype.align;
        match self {
            GeneratedKernelArg::Array(view) => packer.push(&view.ptr.to_ne_bytes(), 8)?,
            GeneratedKernelArg::Number(bytes, number) => {
                packer.push(&convert_scalar(bytes, *number, declared)?, align)?
            }
            GeneratedKernelArg::Bytes(bytes) => packer.push(bytes, align)?,
        }
        Ok(())
    }
}

/// Records that work in `stream` uses the memory of arrays.
pub(crate) fn record_uses(args: &[GeneratedKernelArg<'_>], stream: Option<&Stream>) {
    args.iter().filter_map(GeneratedKernelArg::as_array).for_each(|view| view.used_in(stream));
}

/// The number in `bytes` as the declared type.
pub(crate) fn convert_scalar(bytes: &[u8], number: NumberType, declared: &Argument) -> Result<ConvertedScalar> {
    let wanted = ctype_number_type(&declared.ctype);
    if wanted == Some(number) {
        return Ok(ConvertedScalar::from(bytes));
    }
    let Some((wanted, value)) = wanted.zip(number.read_number(bytes)) else {
        return scalar_conversion_error(number, declared);
    };
    let is_integral = matches!(wanted, NumberType::Bool | NumberType::Int { .. });
    let value = match value {
        WeakScalar::Int(value) if !is_integral => WeakScalar::Float(value as f64),
        WeakScalar::Float(_) if is_integral => return scalar_conversion_error(number, declared),
        value => value,
    };
    ParamKind::Value(wanted).convert_number(value).or_else(|why| match why {
        ConversionError::Kind => scalar_conversion_error(number, declared),
        ConversionError::Value => Err(argument_error(
            &declared.name,
            format_args!("is {value}, which '{}' cannot hold", declared.declarator()),
        )),
    })
}

fn scalar_conversion_error<T>(given: NumberType, declared: &Argument) -> Result<T> {
    let (given, wanted) = (given.c_name(), declared.declarator());
    argument_type_error(&declared.name, format_args!("is a value of type {given}, which does not become '{wanted}'"))
}

impl<'a> From<&'a GpuArray> for ArrayView<'a> {
    fn from(array: &'a GpuArray) -> Self {
        let layout = array.layout();
        ArrayView {
            ptr: array.device_ptr().unwrap_or(0),
            shape: &layout.shape,
            strides: &layout.strides,
            itemsize: array.dtype().itemsize(),
            number: element_number_type(array.dtype()),
            context: array.context().context_number(),
            owner: array.buffer().map(UseTracker::from).unwrap_or_default(),
        }
    }
}

impl<T: Element> DeviceVec<T> {
    /// This memory as a one-dimensional array.
    pub fn view(&self) -> ArrayView<'_> {
        ArrayView {
            ptr: self.ptr(),
            shape: self.shape(),
            strides: Self::CONTIGUOUS_STRIDES,
            itemsize: size_of::<T>(),
            number: T::NUMBER_TYPE,
            context: self.context_number(),
            owner: UseTracker::from(self),
        }
    }
}

impl ArrayView<'_> {
    /// Records that work in `stream` uses the memory.
    pub(crate) fn used_in(&self, stream: Option<&Stream>) {
        if let Some(memory) = self.owner.0 {
            memory.used_in(stream);
        }
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }

    fn is_contiguous_over_axes(&self, mut axes: impl Iterator<Item = usize>) -> bool {
        let mut step = self.itemsize as isize;
        axes.all(|axis| {
            let fits = self.shape[axis] <= 1 || self.strides[axis] == step;
            step *= self.shape[axis] as isize;
            fits
        })
    }

    /// Whether the last axis varies fastest and there are no gaps.
    pub fn is_c_contiguous(&self) -> bool {
        self.n_elements() == 0 || self.is_contiguous_over_axes((0..self.shape.len()).rev())
    }

    /// Whether the first axis varies fastest and there are no gaps.
    pub fn is_f_contiguous(&self) -> bool {
        self.n_elements() == 0 || self.is_contiguous_over_axes(0..self.shape.len())
    }

    /// The strides of this array broadcast to `shape`; axes of length 1 and missing ones do not move.
    pub(crate) fn broadcast_strides(&self, shape: &[usize]) -> Option<Vec<isize>> {
        let missing = shape.len().checked_sub(self.shape.len())?;
        let mut strides = vec![0; shape.len()];
        for (axis, (&length, &stride)) in self.shape.iter().zip(self.strides).enumerate() {
            match length {
                1 => {}
                _ if length == shape[missing + axis] => strides[missing + axis] = stride,
                _ => return None,
            }
        }
        Some(strides)
    }
}

/// The shape that all of `shapes` broadcast to, by NumPy's rule.
pub(crate) fn broadcast_shape<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> Option<Vec<usize>> {
    let mut result: Vec<usize> = Vec::new();
    for shape in shapes {
        if shape.len() > result.len() {
            let missing = shape.len() - result.len();
            result.splice(0..0, std::iter::repeat_n(1, missing));
        }
        let offset = result.len() - shape.len();
        for (axis, &length) in shape.iter().enumerate() {
            match result[offset + axis] {
                1 => result[offset + axis] = length,
                known if length == known || length == 1 => {}
                _ => return None,
            }
        }
    }
    Some(result)
}

/// Joins adjacent axes that every array walks as one, and drops axes of length 1. The last axis
/// stays the one that varies fastest in `i`.
pub(crate) fn join_axes(shape: &[usize], strides: &[Vec<isize>]) -> (Vec<usize>, Vec<Vec<isize>>) {
    let mut joined: Vec<usize> = Vec::new();
    let mut steps: Vec<Vec<isize>> = vec![Vec::new(); strides.len()];
    for (axis, &length) in shape.iter().enumerate() {
        if length == 1 {
            continue;
        }
        let continues = !joined.is_empty()
            && strides.iter().zip(&steps).all(|(s, done)| done[done.len() - 1] == s[axis] * length as isize);
        if continues {
            let last = joined.len() - 1;
            joined[last] *= length;
            steps.iter_mut().zip(strides).for_each(|(done, s)| done[last] = s[axis]);
        } else {
            joined.push(length);
            steps.iter_mut().zip(strides).for_each(|(done, s)| done.push(s[axis]));
        }
    }
    if joined.is_empty() {
        joined.push(1);
        steps.iter_mut().for_each(|s| s.push(0));
    }
    (joined, steps)
}

/// An error that names an argument.
pub(crate) fn argument_error(name: &str, what: impl std::fmt::Display) -> crate::Error {
    Error::value_error(format!("argument '{name}' {what}"))
}

/// An error of an argument's type.
pub(crate) fn argument_type_error<T>(name: &str, what: impl std::fmt::Display) -> Result<T> {
    Err(Error::type_error(format!("argument '{name}' {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_like_numpy() {
        let shapes: [&[usize]; 3] = [&[3, 1], &[4], &[1, 1, 4]];
        assert_eq!(broadcast_shape(shapes.into_iter()), Some(vec![1, 3, 4]));
        assert_eq!(broadcast_shape([&[3usize][..], &[4]].into_iter()), None);
        assert_eq!(broadcast_shape([&[0usize][..], &[1]].into_iter()), Some(vec![0]));
    }

    #[test]
    fn jointly_contiguous_axes_are_joined() {
        let (shape, strides) = join_axes(&[2, 3, 4], &[vec![48, 16, 4], vec![12, 4, 0]]);
        assert_eq!(shape, [6, 4]);
        assert_eq!(strides, [[16, 4], [4, 0]]);
        assert_eq!(join_axes(&[1, 1], &[vec![9, 9]]).0, [1]);
        let (shape, strides) = join_axes(&[5, 1, 7], &[vec![28, 99, 4]]);
        assert_eq!((shape, strides), (vec![35], vec![vec![4]]));
    }
}
