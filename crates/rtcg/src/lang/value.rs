//! Values of programs at run time.

use rtcg_array::GpuArray;
use rtcg_hal::{ArrayContext, ArrayError, DType, Result};
use rtcg_lang::evaluate::HostValue;
use rtcg_lang::ir::Number;
use std::sync::Arc;

/// A number on the host, or an array on the device; a number on the device is an array without axes.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number on the host.
    Host(Number, DType),
    /// An array in C order without gaps.
    Array(GpuArray),
}

impl From<GpuArray> for Value {
    fn from(array: GpuArray) -> Self {
        Value::Array(array)
    }
}

impl Value {
    /// The number; waits for it if it is on the device.
    ///
    /// # Errors
    /// When work that computes it has failed, or an index was out of bounds.
    pub fn number(&self) -> Result<(Number, DType)> {
        match self {
            Value::Host(number, dtype) => Ok((*number, *dtype)),
            Value::Array(array) => {
                let mut bytes = vec![0; array.itemsize()];
                array.read(&mut bytes, rtcg_array::Order::C)?;
                let value = HostValue::from_bytes(array.dtype(), Vec::new(), &bytes);
                let number = value.and_then(|value| value.elements().first().copied());
                let number = number.ok_or_else(|| ArrayError::type_error(format!("{} is no number", array.dtype())))?;
                Ok((number, array.dtype()))
            }
        }
    }

    /// The value as an array.
    ///
    /// # Errors
    /// When the device is out of memory.
    pub fn into_array(self, ctx: &Arc<ArrayContext>) -> Result<GpuArray> {
        match self {
            Value::Array(array) => Ok(array),
            Value::Host(number, dtype) => {
                let array = GpuArray::empty(ctx, &[], dtype, rtcg_array::Order::C)?;
                array.write(&bytes_of(number, dtype), rtcg_array::Order::C)?;
                Ok(array)
            }
        }
    }

    /// The array, if it is one.
    pub fn array(&self) -> Option<&GpuArray> {
        if let Value::Array(array) = self { Some(array) } else { None }
    }
}

/// The bytes of a number, as kernels get it.
pub(crate) fn bytes_of(number: Number, dtype: DType) -> Vec<u8> {
    HostValue::scalar(number, dtype).to_bytes().unwrap_or_default()
}

/// The integer, such as a length.
pub(super) fn integer(number: Number) -> i64 {
    match number {
        Number::Int(value) => i64::try_from(value).unwrap_or(i64::MAX),
        Number::Bool(value) => value.into(),
        _ => 0,
    }
}
