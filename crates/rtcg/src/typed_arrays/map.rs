//! Elementwise C expressions: one kernel for a whole formula.

#![allow(unsafe_code, reason = "the expressions are foreign code")]

use super::GpuArrayDyn;
use super::element::ArrayElement;
use super::gpu_array::{ArrayFactory, GpuArray, value_error};
use crate::generators::{CompileSettings, ElementwiseKernel, GeneratedKernelArg, IndexRange};
use rtcg_array::{Layout, PythonTuple, broadcast_shapes};
use rtcg_codegen::c_declarations::{TypeRegistry, parse_arguments};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_cuda::{Error, Result};
use rtcg_hal::{BoundedCache, DType};
use std::sync::Arc;

/// The dtypes of operands and result, and the expression.
type MapKey = (Vec<DType>, String);

/// Expressions whose kernels are kept.
const MAX_EXPRESSIONS: usize = 1024;

/// The kernels of expressions that were requested.
#[derive(Debug)]
pub(super) struct MapKernels(BoundedCache<Arc<ElementwiseKernel>>);

impl Default for MapKernels {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_EXPRESSIONS))
    }
}

/// The names of the operands in an expression.
const OPERAND_NAMES: [&str; 3] = ["x", "y", "z"];

impl MapKernels {
    fn get_or_compile(&self, dtypes: Vec<DType>, expression: &str) -> Result<Arc<ElementwiseKernel>> {
        let key: MapKey = (dtypes, expression.to_string());
        self.0.get_or_insert_with(&key, || expression_kernel(&key.0, expression).map(Arc::new))
    }
}

/// The last dtype is the result's.
fn expression_kernel(dtypes: &[DType], expression: &str) -> Result<ElementwiseKernel> {
    let (result, operands) = dtypes.split_last().expect("the result is always there");
    let c_name = |dtype: &DType| dtype.c_type().to_string();
    let mut arguments = format!("{} *result_", c_name(result));
    let mut values = String::new();
    for (name, dtype) in OPERAND_NAMES.iter().zip(operands) {
        arguments += &format!(", const {} *{name}_", c_name(dtype));
        values += &format!("const {} {name} = {name}_[i]; ", c_name(dtype));
    }
    let arguments = parse_arguments(&arguments, &TypeRegistry::new()).map_err(|e| Error::value_error(e.to_string()))?;
    // The expression begins the first line, so that errors name the user's own lines.
    let operation = format!("{values}result_[i] = {expression};");
    let spec = ElementwiseSnippet { name: "map".into(), arguments, operation, ..ElementwiseSnippet::default() };
    Ok(ElementwiseKernel::new(spec, CompileSettings::default()))
}

/// # Safety
/// The expression is foreign code.
unsafe fn run_expression<U: ArrayElement>(
    arrays: &ArrayFactory,
    operands: &[&GpuArrayDyn],
    expression: &str,
) -> Result<GpuArray<U>> {
    let shape = broadcast_shapes(operands.iter().map(|array| array.shape())).ok_or_else(|| {
        let shapes: Vec<_> = operands.iter().map(|array| PythonTuple(array.shape()).to_string()).collect();
        value_error(format!("operands could not be broadcast together with shapes {}", shapes.join(" ")))
    })?;
    let result = arrays.empty::<U>(&shape)?;
    let dtypes = operands.iter().map(|array| array.dtype()).chain([U::DTYPE]).collect();
    let kernel = arrays.map_kernels().get_or_compile(dtypes, expression)?;
    let all = || std::iter::once(result.as_dyn()).chain(operands.iter().copied());
    for array in all() {
        array.check_memory()?;
        if !Arc::ptr_eq(array.context(), arrays.array_context()) {
            return Err(value_error("operands live in different contexts".into()).into());
        }
        if let Some(buffer) = array.buffer() {
            buffer.record_use();
        }
    }
    let layouts: Vec<Layout> =
        all().map(|array| array.layout().broadcast_to(&shape)).collect::<std::result::Result<_, _>>()?;
    let values: Vec<_> = all()
        .zip(&layouts)
        .map(|(array, layout)| {
            let mut view = crate::generators::ArrayView::from(array);
            (view.shape, view.strides) = (&layout.shape, &layout.strides);
            GeneratedKernelArg::Array(view)
        })
        .collect();
    // SAFETY: all arrays have the shape, and their memory is given back in the order of the stream.
    unsafe { kernel.launch(arrays.array_context(), &values, IndexRange::All)? };
    Ok(result)
}

impl<T: ArrayElement> GpuArray<T> {
    /// Applies a C expression to each element, called `x`: `a.map::<f32>("x * x + 1")`. The kernel is compiled once.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let a = ArrayFactory::new(&Context::new()?)?.from_slice(&[1.0f32, 4.0, 9.0])?;
    /// // SAFETY: the expression touches no memory.
    /// let roots = unsafe { a.map::<i32>("sqrtf(x) + 0.5f")? };
    /// assert_eq!(roots.to_vec()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the expression does not compile; the message shows its line.
    ///
    /// # Safety
    /// The expression is unchecked code: it must not access memory.
    pub unsafe fn map<U: ArrayElement>(&self, expression: &str) -> Result<GpuArray<U>> {
        // SAFETY: the caller's promise.
        unsafe { run_expression(self.factory(), &[self.as_dyn()], expression) }
    }

    /// Applies a C expression to the pairs of elements `x` and `y` of two arrays, which are broadcast.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let arrays = ArrayFactory::new(&Context::new()?)?;
    /// let (a, b) = (arrays.from_slice(&[3.0f32, 5.0])?, arrays.from_shape_and_values(&[2, 1], &[2i32, 3])?);
    /// // SAFETY: the expression touches no memory.
    /// let both = unsafe { a.zip::<i32, f32>(&b, "x > 4 ? x * y : y")? };
    /// assert_eq!(both.to_vec()?, [2.0, 10.0, 3.0, 15.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the shapes do not broadcast, or the expression does not compile.
    ///
    /// # Safety
    /// As [`GpuArray::map`].
    pub unsafe fn zip<V: ArrayElement, U: ArrayElement>(
        &self,
        other: &GpuArray<V>,
        expression: &str,
    ) -> Result<GpuArray<U>> {
        // SAFETY: the caller's promise.
        unsafe { run_expression(self.factory(), &[self.as_dyn(), other.as_dyn()], expression) }
    }

    /// Like [`GpuArray::zip`] for the elements `x`, `y` and `z` of three arrays.
    ///
    /// # Errors
    /// As [`GpuArray::zip`].
    ///
    /// # Safety
    /// As [`GpuArray::map`].
    pub unsafe fn zip3<V: ArrayElement, W: ArrayElement, U: ArrayElement>(
        &self,
        second: &GpuArray<V>,
        third: &GpuArray<W>,
        expression: &str,
    ) -> Result<GpuArray<U>> {
        // SAFETY: the caller's promise.
        unsafe { run_expression(self.factory(), &[self.as_dyn(), second.as_dyn(), third.as_dyn()], expression) }
    }
}
