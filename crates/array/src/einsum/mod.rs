//! Einstein summation with NumPy's subscripts: operands are contracted two at a time, each step by the kernel that fits
//! it.
//!
//! A step with large matrices is a matrix product; one without a sum is an elementwise product; one with few elements
//! along its axes has a kernel written for small axes.

mod block;
mod direct;
mod pair;
mod path;
mod subscripts;

use crate::array::GpuArray;
use crate::call_cache::{CallKey, cached_call, call_hash};
use crate::layout::{Layout, Order, PythonTuple, Strides};
pub(crate) use block::BlockChoice;
pub(crate) use pair::RouteChoice;
pub use path::EinsumPath;
use rtcg_hal::{ArrayError, DType, DTypeKind, Result};
use subscripts::{Label, Labels, Subscripts};

/// Options of [`einsum`] besides its operands.
#[derive(Debug, Clone, Default)]
pub struct EinsumOptions<'a> {
    /// The array for the result, instead of a new one.
    pub out: Option<&'a GpuArray>,
    /// The dtype of the computation, and of a new result; by default the operands' common dtype.
    pub dtype: Option<DType>,
    /// The memory order of a new result; by default whatever the computation produces, which may be a view's order.
    pub order: Option<Order>,
    /// The order in which operands are contracted.
    pub path: EinsumPath,
}

/// Computes the sum of products that `subscripts` describe, like NumPy's function of this name: `ij,jk->ik` is a matrix
/// product, `ii` a trace, `...ij->...ji` a transpose. Axes of length 1 are broadcast. Does not wait.
///
/// With a single operand and nothing to sum, the result is a view of the operand's memory, as in NumPy.
///
/// # Errors
/// When subscripts, shapes, `out` and path do not fit together, for records, and when the device fails.
pub fn einsum(subscripts: &str, operands: &[&GpuArray], options: EinsumOptions<'_>) -> Result<GpuArray> {
    let Some(first) = operands.first() else { return contract(subscripts, operands, options) };
    let (dtype, order, path) = (options.dtype, options.order, options.path.clone());
    let call = EinsumCall { subscripts: subscripts.to_owned(), dtype, order, path };
    cached_call(first.context(), call, operands, options.out, || contract(subscripts, operands, options))
}

/// What a call computes, beside its operands.
#[derive(Debug, PartialEq)]
struct EinsumCall {
    subscripts: String,
    dtype: Option<DType>,
    order: Option<Order>,
    path: EinsumPath,
}

impl CallKey for EinsumCall {
    fn hash_seed(&self) -> usize {
        call_hash(&self.subscripts)
    }
}

fn contract(subscripts: &str, operands: &[&GpuArray], options: EinsumOptions<'_>) -> Result<GpuArray> {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    let subscripts = Subscripts::parse(subscripts, &shapes)?;
    let (first, others) = operands.split_first().ok_or_else(|| ArrayError::value_error("einsum: no operands"))?;
    others.iter().chain(&options.out).try_for_each(|other| first.check_context(other))?;
    let shape = subscripts.lengths_of(&subscripts.output);
    options.out.map_or(Ok(()), GpuArray::check_writable)?;
    if let Some(out) = options.out.filter(|out| out.shape() != shape.as_slice()) {
        let (given, wanted) = (PythonTuple(out.shape()), PythonTuple(&shape));
        return Err(ArrayError::value_error(format!("einsum: out has shape {given}; expected {wanted}")));
    }
    let common = operands.iter().map(|operand| operand.dtype()).reduce(DType::promote);
    let dtype = options.dtype.or(common).unwrap_or(first.dtype());
    if let Some(record) = [Some(dtype), common].into_iter().flatten().find(|dtype| dtype.kind() == DTypeKind::Record) {
        return Err(ArrayError::type_error(format!("einsum: elements of type {record} cannot be multiplied")));
    }
    operands.iter().try_for_each(|operand| operand.check_memory())?;
    let terms = subscripts.inputs.iter().zip(operands).map(|(labels, array)| Term::new(labels, array));
    let mut terms: Vec<Term> = terms.collect::<Result<_>>()?;
    let steps = path::resolve_path(&options.path, &subscripts)?;
    let whole =
        Contraction { needed: subscripts.output.clone(), subscripts: &subscripts, dtype, is_last: true, out: None };
    let whole = Contraction { out: options.out.filter(|out| can_write_to(out, &terms)), ..whole };
    let are_matrices = match terms.as_slice() {
        [a, b] => whole.are_matrices(a, b)?,
        _ => false,
    };
    if !are_matrices && let Some(result) = whole.contract_in_blocks(&terms, &steps)? {
        return finish(result, &subscripts, dtype, &options);
    }
    let n_steps = steps.len();
    for (k, step) in steps.into_iter().enumerate() {
        let mut numbers = step.clone();
        numbers.sort_unstable();
        let mut taken: Vec<Term> = numbers.iter().rev().map(|&number| terms.remove(number)).collect();
        taken.reverse();
        let is_last = k + 1 == n_steps;
        let needed: Labels =
            subscripts.output.iter().chain(terms.iter().flat_map(|term| &term.labels)).copied().collect();
        let out = options.out.filter(|out| is_last && can_write_to(out, &taken));
        let contraction = Contraction { subscripts: &subscripts, needed, dtype, is_last, out };
        terms.push(contraction.contract(taken)?);
    }
    let result = terms.pop().ok_or_else(|| ArrayError::value_error("einsum: no operands"))?;
    finish(result, &subscripts, dtype, &options)
}

/// Multiplies the small matrices of a stack: by blocks that have several of them if there are many, else by threads.
pub(crate) fn launch_stack(out: &GpuArray, a: &GpuArray, b: &GpuArray) -> Result<()> {
    let subscripts = Subscripts::parse("...ij,...jk->...ik", &[a.shape(), b.shape()])?;
    let terms = [Term::new(&subscripts.inputs[0], a)?, Term::new(&subscripts.inputs[1], b)?];
    let needed = subscripts.output.clone();
    let whole = Contraction { subscripts: &subscripts, needed, dtype: out.dtype(), is_last: true, out: Some(out) };
    if whole.contract_in_blocks(&terms, &[vec![0, 1]])?.is_none() {
        whole.contract_directly(&terms)?;
    }
    Ok(())
}

/// Whether the result may be written while operands are read.
fn can_write_to(out: &GpuArray, operands: &[Term]) -> bool {
    out.is_aligned() && operands.iter().all(|term| !out.overlaps(&term.array))
}

fn finish(result: Term, subscripts: &Subscripts, dtype: DType, options: &EinsumOptions<'_>) -> Result<GpuArray> {
    let array = result.arranged(subscripts, &subscripts.output)?;
    if let Some(out) = options.out {
        let is_written = out.device_ptr() == array.device_ptr() && out.strides() == array.strides();
        if !is_written {
            // What is computed with is rounded to its dtype first.
            out.assign(&array.to_dtype(dtype)?)?;
        }
        return Ok(out.clone());
    }
    let array = array.to_dtype(dtype)?;
    match options.order {
        Some(order) if !array.is_contiguous(order) => array.copy(Some(order)),
        _ => Ok(array),
    }
}

/// An operand, or what some of them were contracted to: an array and the names of its axes, each once.
#[derive(Debug, Clone)]
struct Term {
    labels: Labels,
    array: GpuArray,
}

impl Term {
    /// The operand, or its diagonal where axes have one name.
    fn new(labels: &[Label], array: &GpuArray) -> Result<Self> {
        let array = if array.is_aligned() { array.clone() } else { array.copy(None)? };
        let mut unique = Labels::new();
        let mut layout = Layout { shape: [].as_slice().into(), strides: Strides::new(), offset: array.layout().offset };
        for ((&label, &length), &stride) in labels.iter().zip(array.shape()).zip(array.strides()) {
            match unique.iter().position(|known| *known == label) {
                Some(axis) => layout.strides[axis] += stride,
                None => {
                    unique.push(label);
                    layout.shape.push(length);
                    layout.strides.push(stride);
                }
            }
        }
        let array = if unique.len() == labels.len() { array } else { array.view_with_layout(layout) };
        Ok(Self { labels: unique, array })
    }

    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// The bytes from one element to the next along an axis; 0 where it is broadcast.
    fn stride(&self, label: Label) -> isize {
        let axis = self.labels.iter().position(|known| *known == label);
        axis.filter(|&axis| self.array.shape()[axis] != 1).map_or(0, |axis| self.array.strides()[axis])
    }

    /// A view whose axes are these, broadcast. It has no other axes, but such that are broadcast.
    fn arranged(&self, subscripts: &Subscripts, labels: &[Label]) -> Result<GpuArray> {
        let layout = Layout {
            shape: subscripts.lengths_of(labels),
            strides: labels.iter().map(|&label| self.stride(label)).collect(),
            offset: self.array.layout().offset,
        };
        debug_assert!(self.labels.iter().all(|label| labels.contains(label) || self.stride(*label) == 0));
        Ok(self.array.view_with_layout(layout))
    }
}

/// One step: which axes its result has, and where it goes.
struct Contraction<'a> {
    subscripts: &'a Subscripts,
    /// The axes that the result or operands that are left have.
    needed: Labels,
    /// The dtype of the whole computation.
    dtype: DType,
    is_last: bool,
    out: Option<&'a GpuArray>,
}

impl Contraction<'_> {
    /// The dtype in which this step is computed and in which a new result is stored: 16-bit floats are rounded once, at
    /// the end.
    fn compute_dtype(&self) -> DType {
        match self.dtype {
            DType::F16 | DType::BF16 if !self.is_last => DType::F32,
            dtype => dtype,
        }
    }

    fn is_needed(&self, label: Label) -> bool {
        self.needed.contains(&label)
    }

    /// The axes of the result: those of the whole result in its order, then others.
    fn kept_labels(&self, terms: &[Term]) -> Labels {
        let is_here = |label: &Label| terms.iter().any(|term| term.has(*label));
        let mut kept: Labels = self.subscripts.output.iter().copied().filter(is_here).collect();
        for label in terms.iter().flat_map(|term| term.labels.iter().copied()) {
            if self.is_needed(label) && !kept.contains(&label) {
                kept.push(label);
            }
        }
        kept
    }

    /// Where a result with these axes goes.
    fn result(&self, like: &Term, labels: &[Label]) -> Result<Term> {
        let array = match self.out {
            Some(out) => out.clone(),
            None => {
                let shape = self.subscripts.lengths_of(labels);
                GpuArray::empty(like.array.context(), &shape, self.compute_dtype(), Order::C)?
            }
        };
        Ok(Term { labels: labels.into(), array })
    }
}
