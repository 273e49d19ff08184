//! Arguments of generated kernels.

use crate::array::GpuArray;
use crate::layout::{Layout, Order, PythonTuple, is_contiguous, repeated_axis};
use rtcg_codegen::c_declarations::Argument;
use rtcg_hal::{ArrayBuffer, ArrayError, ConversionError, ConvertedScalar, DType, LaunchArgs, Result, WeakScalar};
use std::sync::Arc;

/// Memory that must know which queues use it.
pub trait TracksUse: Sync {
    /// Called after work that uses the memory was enqueued in the current queue.
    fn record_use(&self);
}

impl TracksUse for Arc<dyn ArrayBuffer> {
    fn record_use(&self) {
        (**self).record_use();
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
    pub number: Option<DType>,
    /// [`rtcg_hal::Device::context_number`] of the context that owns the memory; 0 if unknown.
    pub context: u64,
    /// The owner of the memory.
    pub owner: UseTracker<'a>,
}

impl ArrayView<'_> {
    /// Refuses an array, as argument `name`, that is written to and has several elements at one place.
    pub(super) fn check_writable(&self, name: &str) -> Result<()> {
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
    Number(&'a [u8], DType),
    /// The bytes of a value of the declared type.
    Bytes(&'a [u8]),
}

impl<'a> GeneratedKernelArg<'a> {
    pub(super) fn as_array(&self) -> Option<&ArrayView<'a>> {
        if let GeneratedKernelArg::Array(view) = self { Some(view) } else { None }
    }
}

/// The arguments as the kernel gets them, after those that are there.
pub(super) fn push_arguments(
    packed: &mut LaunchArgs,
    args: &[GeneratedKernelArg<'_>],
    declared: &[Argument],
) -> Result<()> {
    for (value, argument) in args.iter().zip(declared) {
        let align = argument.ctype.align;
        match value {
            GeneratedKernelArg::Array(view) => packed.push_address(view.ptr, 0),
            GeneratedKernelArg::Number(bytes, number) => packed.push(&convert_scalar(bytes, *number, argument)?, align),
            GeneratedKernelArg::Bytes(bytes) => packed.push(bytes, align),
        }
    }
    Ok(())
}

/// Records that work which was enqueued uses the memory of arrays.
pub(super) fn record_uses(args: &[GeneratedKernelArg<'_>]) {
    args.iter().filter_map(GeneratedKernelArg::as_array).for_each(ArrayView::record_use);
}

/// The number in `bytes` as the declared type.
pub(super) fn convert_scalar(bytes: &[u8], number: DType, declared: &Argument) -> Result<ConvertedScalar> {
    let wanted = declared.ctype.number();
    if wanted == Some(number) {
        return Ok(ConvertedScalar::from(bytes));
    }
    let Some((wanted, value)) = wanted.zip(number.read_number(bytes)) else {
        return scalar_conversion_error(number, declared);
    };
    let is_integral = wanted.is_integral();
    let value = match value {
        WeakScalar::Int(value) if !is_integral => WeakScalar::Float(value as f64),
        WeakScalar::Float(_) if is_integral => return scalar_conversion_error(number, declared),
        value => value,
    };
    wanted.convert_number(value).or_else(|why| match why {
        ConversionError::Kind => scalar_conversion_error(number, declared),
        ConversionError::Value => Err(argument_error(
            &declared.name,
            format_args!("is {value}, which '{}' cannot hold", declared.declarator()),
        )),
    })
}

fn scalar_conversion_error<T>(given: DType, declared: &Argument) -> Result<T> {
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
            number: array.dtype().number(),
            context: array.context().context_number(),
            owner: array.buffer().map(UseTracker::from).unwrap_or_default(),
        }
    }
}

impl ArrayView<'_> {
    /// Records that work in the current queue uses the memory.
    pub(super) fn record_use(&self) {
        if let Some(memory) = self.owner.0 {
            memory.record_use();
        }
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the last axis varies fastest and there are no gaps.
    pub fn is_c_contiguous(&self) -> bool {
        is_contiguous(self.shape, self.strides, self.itemsize, Order::C)
    }

    /// Whether the first axis varies fastest and there are no gaps.
    pub fn is_f_contiguous(&self) -> bool {
        is_contiguous(self.shape, self.strides, self.itemsize, Order::F)
    }

    /// Where elements lie, from the first one.
    pub(super) fn layout(&self) -> Layout {
        Layout { shape: self.shape.into(), strides: self.strides.into(), offset: 0 }
    }
}

/// An error that names an argument.
pub(super) fn argument_error(name: &str, what: impl std::fmt::Display) -> ArrayError {
    ArrayError::value_error(format!("argument '{name}' {what}"))
}

/// An error of an argument's type.
pub(super) fn argument_type_error<T>(name: &str, what: impl std::fmt::Display) -> Result<T> {
    Err(ArrayError::type_error(format!("argument '{name}' {what}")))
}
