//! `TypedElementwise`: a snippet whose types each call determines, and which allocates its results.

#![allow(unsafe_code, reason = "launching runs the user's snippet")]

use rtcg_array::generators::{ArrayView, CompileSettings, ElementwiseKernel, GeneratedKernelArg, IndexRange};
use rtcg_array::{GpuArray, Order, broadcast_shapes};
use rtcg_codegen::c_declarations::{ArgumentError, CType, CTypeForm, TypeRegistry};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_codegen::typed_snippet::{GivenType, OriginalQuotes, TypedSnippet};
use rtcg_cuda::{Error, Result};
use rtcg_hal::{ArrayContext, DType, lock_ignoring_poison};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An elementwise kernel for arrays of any type, declared as in CuPy: a one-letter type is a type variable, which the
/// arguments declared with it determine; an array's name stands for its element; the snippet indexes `raw` arrays
/// itself.
///
/// ```
/// use rtcg::generators::TypedElementwise;
/// use rtcg::prelude::*;
///
/// # fn main() -> rtcg::Result<()> {
/// let arrays = ArrayFactory::new(&Context::new()?)?;
/// let hypotenuse = TypedElementwise::parse("T x, T y", "T z", "z = sqrt(x * x + y * y)")?;
/// let (x, y) = (arrays.from_slice(&[3.0f32, 5.0])?, arrays.from_slice(&[4.0f32, 12.0])?);
/// // SAFETY: the snippet touches its own elements only.
/// let z = unsafe { hypotenuse.call(arrays.array_context(), &[x.as_dyn(), y.as_dyn()])? }.remove(0);
/// assert_eq!(arrays.typed_from_dyn::<f32>(z)?.to_vec()?, [5.0, 13.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TypedElementwise {
    snippet: TypedSnippet,
    settings: CompileSettings,
    kernels: Mutex<HashMap<Vec<GivenType>, Arc<FilledKernel>>>,
}

/// A kernel for some types, and the types of its outputs.
#[derive(Debug)]
struct FilledKernel {
    kernel: ElementwiseKernel,
    outputs: Vec<DType>,
    quotes: OriginalQuotes,
}

impl TypedElementwise {
    /// Makes a kernel from the declarations of inputs and outputs, and statements. Nothing is compiled yet.
    ///
    /// # Errors
    /// When a declaration is wrong.
    pub fn parse(inputs: &str, outputs: &str, operation: &str) -> Result<Self> {
        let snippet = TypedSnippet::parse(inputs, outputs, operation, &TypeRegistry::new()).map_err(value_error)?;
        Ok(Self { snippet, settings: CompileSettings::default(), kernels: Mutex::default() })
    }

    /// Enqueues the kernel for these inputs and returns the outputs: new arrays in C order with the inputs' broadcast
    /// shape. Does not wait. The first call with new types compiles.
    ///
    /// # Errors
    /// When the number of inputs is wrong, their types contradict each other, their shapes do not broadcast, or the
    /// snippet does not compile.
    ///
    /// # Safety
    /// The snippet is unchecked code: what it indexes itself must lie inside the arrays.
    pub unsafe fn call(&self, arrays: &Arc<ArrayContext>, inputs: &[&GpuArray]) -> Result<Vec<GpuArray>> {
        let n_inputs = self.snippet.n_inputs();
        if inputs.len() != n_inputs {
            let text = format!("the kernel takes {n_inputs} inputs, {} were given", inputs.len());
            return Err(Error::value_error(text));
        }
        let filled = self.filled_kernel(inputs)?;
        let elementwise = self.snippet.params().zip(inputs).filter(|((_, is_raw), _)| !is_raw);
        let views: Vec<ArrayView<'_>> = inputs.iter().map(|array| ArrayView::from(*array)).collect();
        let shapes: Vec<_> = elementwise.map(|(_, array)| array.shape()).collect();
        let shape = broadcast_shapes(shapes.into_iter()).ok_or_else(|| {
            Error::value_error("the shapes of the inputs do not broadcast against each other".to_owned())
        })?;
        let outputs = filled.outputs.iter().map(|dtype| GpuArray::empty(arrays, &shape, *dtype, Order::C));
        let outputs = outputs.collect::<rtcg_hal::Result<Vec<_>>>()?;
        let all: Vec<_> = outputs.iter().map(ArrayView::from).chain(views).map(GeneratedKernelArg::Array).collect();
        // SAFETY: the caller's promise; the outputs were made for this call.
        let launched = unsafe { filled.kernel.launch(arrays, &all, IndexRange::All) };
        launched.map_err(|error| match crate::Error::from(error) {
            crate::Error::Compile(mut error) => {
                error.log = filled.quotes.restore(&error.log);
                crate::Error::Compile(error)
            }
            other => other,
        })?;
        Ok(outputs)
    }

    fn filled_kernel(&self, inputs: &[&GpuArray]) -> Result<Arc<FilledKernel>> {
        let registry = TypeRegistry::new();
        let given = |array: &&GpuArray| {
            let name = array.dtype().c_type();
            let ctype = registry.lookup(name);
            ctype.map(GivenType::Array).ok_or_else(|| Error::value_error(format!("unknown type '{name}'")))
        };
        let mut key = inputs.iter().map(given).collect::<Result<Vec<_>>>()?;
        key.resize(self.snippet.params().count(), GivenType::Nothing);
        let mut kernels = lock_ignoring_poison(&self.kernels);
        if let Some(known) = kernels.get(&key) {
            return Ok(known.clone());
        }
        let filled = self.snippet.fill(&key).map_err(value_error)?;
        let n_outputs = key.len() - inputs.len();
        let outputs = filled.arguments[..n_outputs].iter().map(|argument| dtype_of(&argument.ctype));
        let outputs = outputs.collect::<Result<_>>()?;
        let spec = ElementwiseSnippet {
            name: "kernel".into(),
            arguments: filled.arguments,
            operation: filled.operation,
            ..ElementwiseSnippet::default()
        };
        let made = Arc::new(FilledKernel {
            kernel: ElementwiseKernel::new(spec, self.settings.clone()),
            outputs,
            quotes: filled.quotes,
        });
        kernels.insert(key, made.clone());
        Ok(made)
    }
}

fn dtype_of(ctype: &CType) -> Result<DType> {
    let known = match ctype.form {
        CTypeForm::Number(kind) => DType::from_numpy(kind, ctype.itemsize).ok(),
        CTypeForm::BFloat16 => Some(DType::BF16),
        _ => None,
    };
    known.ok_or_else(|| Error::value_error(format!("arrays have no elements of type '{}'", ctype.name)))
}

fn value_error(error: ArgumentError) -> crate::Error {
    Error::value_error(error.to_string())
}
