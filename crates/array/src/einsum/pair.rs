//! One step of a contraction path, and the choice of its kernel.

use super::subscripts::Labels;
use super::{Contraction, Term};
use crate::array::{Arg, GpuArray};
use crate::elementwise::{OpOptions, apply_elementwise};
use crate::layout::{Order, Shape};
use crate::reduce::ReduceOptions;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

/// Products of m x k by k x n matrices: m and n, and k, from which on they are multiplied by tiles.
const MIN_MATRIX_SIDE: usize = 32;
const MIN_MATRIX_K: usize = 16;
/// Products that one thread sums, and results that make enough threads.
const MAX_THREAD_K: usize = 512;
const MIN_THREADS: usize = 1 << 12;

tunable! {
    /// Whether two operands are contracted by a matrix product.
    pub(crate) RouteChoice = "einsum.route";
    /// A stack of matrix products.
    problem RouteProblem {
        /// The dtype of the computation.
        dtype: DType = Exact,
        /// Products in the stack.
        batches: i64 = PowerOfTwo,
        /// Rows of the result.
        m: i64 = PowerOfTwo,
        /// Columns of the result.
        n: i64 = PowerOfTwo,
        /// Products that are summed for each element.
        k: i64 = PowerOfTwo,
        /// Whether operands must be copied for a matrix product.
        copied: bool = Exact,
    }
    parameters {
        /// `blocks` is the kernel for small axes, if the axes are small; `matrices` is the matrix product.
        kernel: &'static str = ["blocks", "matrices"],
    }
    device {}
    require {}
    rule route_rule;
}

fn route_rule(problem: &RouteProblem, device_info: &DeviceInfo) -> RouteChoice {
    let RouteProblem { m, n, k, copied, .. } = *problem;
    let sides = m.min(n);
    // On a processor the product is so much faster that it is worth copies.
    let is_product = match device_info.is_simd_cpu() {
        true => sides >= 32 && k >= 16,
        false => sides >= 64 && k >= 32 && !copied,
    };
    RouteChoice { kernel: if is_product { "matrices" } else { "blocks" } }
}

/// The axes of two operands by their part in a stack of products of m x k by k x n matrices.
pub(super) struct PairAxes {
    /// In both, and kept.
    batch: Labels,
    /// In the first one alone.
    m: Labels,
    /// In the second one alone.
    n: Labels,
    /// In both, and summed over.
    k: Labels,
}

impl Contraction<'_> {
    /// Contracts the operands of a step.
    pub(super) fn contract(&self, mut terms: Vec<Term>) -> Result<Term> {
        if terms.iter().any(|term| term.array.size() == 0) {
            return self.empty_sums(&terms);
        }
        if let [only] = terms.as_slice() {
            return self.contract_one(only.clone());
        }
        // Axes that one operand alone has are summed over before the product.
        for k in 0..terms.len() {
            let others: Vec<Term> =
                terms.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, term)| term.clone()).collect();
            let alone = |label| !self.is_needed(label) && !others.iter().any(|term| term.has(label));
            terms[k] = self.sum_axes(terms[k].clone(), alone)?;
        }
        match terms.as_slice() {
            [a, b] => self.contract_pair(a, b),
            _ => self.contract_directly(&terms),
        }
    }

    /// The result of operands without elements: zeros, if it has elements.
    fn empty_sums(&self, terms: &[Term]) -> Result<Term> {
        let labels = self.kept_labels(terms);
        let result = self.result(&terms[0], &labels)?;
        if result.array.size() > 0 {
            result.array.fill(crate::Scalar::Weak(rtcg_hal::WeakScalar::Bool(false)))?;
        }
        Ok(result)
    }

    fn contract_one(&self, term: Term) -> Result<Term> {
        self.sum_axes(term, |label| !self.is_needed(label))
    }

    /// A term without the axes of a kind, over which is summed.
    fn sum_axes(&self, term: Term, is_summed: impl Fn(u8) -> bool) -> Result<Term> {
        let axes: Vec<isize> =
            (0..term.labels.len()).filter(|&axis| is_summed(term.labels[axis])).map(|axis| axis as isize).collect();
        if axes.is_empty() {
            return Ok(term);
        }
        let dtype = self.compute_dtype();
        let reduction = if dtype == DType::Bool { ReductionOp::Any } else { ReductionOp::Sum };
        let options = ReduceOptions { axes: Some(&axes), dtype: Some(dtype), ..ReduceOptions::default() };
        let array = term.array.to_dtype(dtype)?.reduce(reduction, options)?;
        Ok(Term { labels: term.labels.iter().copied().filter(|label| !is_summed(*label)).collect(), array })
    }

    fn contract_pair(&self, a: &Term, b: &Term) -> Result<Term> {
        let axes = self.pair_axes(a, b);
        let count = |labels: &Labels| labels.iter().map(|&label| self.subscripts.length(label)).product::<usize>();
        let [m, n, k] = [&axes.m, &axes.n, &axes.k].map(count);
        let results = m * n * count(&axes.batch);
        let is_matrix = m.min(n) >= MIN_MATRIX_SIDE && k >= MIN_MATRIX_K;
        let is_long = k > MAX_THREAD_K && results < MIN_THREADS;
        if k == 1 && self.is_elementwise(a, b) {
            return self.multiply_elements(a, b);
        }
        if is_matrix || is_long || self.are_matrices(a, b)? {
            return self.multiply_matrices(a, b, &axes);
        }
        self.contract_directly(&[a.clone(), b.clone()])
    }

    /// Whether two operands are contracted as matrices, whatever their axes.
    pub(super) fn are_matrices(&self, a: &Term, b: &Term) -> Result<bool> {
        let axes = self.pair_axes(a, b);
        let count =
            |labels: &Labels| labels.iter().map(|&label| self.subscripts.length(label)).product::<usize>() as i64;
        let is_copied = |term: &Term, first: &Labels, second: &Labels| -> Result<bool> {
            let (view, shape) = self.matrix_view(term, &axes.batch, first, second)?;
            Ok(view.layout().reshape(&shape, view.itemsize(), Order::C).is_none())
        };
        let problem = RouteProblem {
            dtype: self.compute_dtype(),
            batches: count(&axes.batch),
            m: count(&axes.m),
            n: count(&axes.n),
            k: count(&axes.k),
            copied: is_copied(a, &axes.m, &axes.k)? || is_copied(b, &axes.k, &axes.n)?,
        };
        Ok(a.array.context().choose::<RouteChoice>(&problem).kernel == "matrices")
    }

    /// A view whose axes make a stack of matrices, and the shape of that stack.
    fn matrix_view(&self, term: &Term, batch: &Labels, first: &Labels, second: &Labels) -> Result<(GpuArray, Shape)> {
        let labels: Labels = batch.iter().chain(first).chain(second).copied().collect();
        let mut shape = self.subscripts.lengths_of(batch);
        shape.extend([first, second].map(|group| self.subscripts.lengths_of(group).iter().product()));
        Ok((term.arranged(self.subscripts, &labels)?, shape))
    }

    /// Axes of length 1 in one operand, which are long in the other one, count as the other one's.
    fn pair_axes(&self, a: &Term, b: &Term) -> PairAxes {
        let [mut batch, mut m, mut n, mut k] = std::array::from_fn(|_| Labels::new());
        for label in self.kept_labels(&[a.clone(), b.clone()]) {
            match (a.stride(label) != 0, b.stride(label) != 0) {
                (true, true) => batch.push(label),
                (_, false) => m.push(label),
                (false, true) => n.push(label),
            }
        }
        k.extend(a.labels.iter().copied().filter(|&label| !self.is_needed(label)));
        PairAxes { batch, m, n, k }
    }

    /// Whether a step without a sum is a product of arrays.
    fn is_elementwise(&self, a: &Term, b: &Term) -> bool {
        let dtype = self.compute_dtype();
        let fits = self.out.is_none_or(|out| out.dtype() == dtype);
        a.array.dtype() == dtype && b.array.dtype() == dtype && fits
    }

    fn multiply_elements(&self, a: &Term, b: &Term) -> Result<Term> {
        let labels = self.kept_labels(&[a.clone(), b.clone()]);
        let (x, y) = (a.arranged(self.subscripts, &labels)?, b.arranged(self.subscripts, &labels)?);
        let options = OpOptions { out: self.out, dtype: None };
        let array = apply_elementwise(x.context(), Op::Multiply, &[Arg::Array(&x), Arg::Array(&y)], options)?;
        Ok(Term { labels, array })
    }

    /// The step as a stack of products of matrices.
    fn multiply_matrices(&self, a: &Term, b: &Term, axes: &PairAxes) -> Result<Term> {
        // The last axis of the result should be one of n, so that its elements are adjacent.
        if self.kept_labels(&[a.clone(), b.clone()]).last().is_some_and(|last| axes.m.contains(last)) {
            let [batch, m, n, k] = [&axes.batch, &axes.n, &axes.m, &axes.k].map(Labels::clone);
            return self.multiply_matrices(b, a, &PairAxes { batch, m, n, k });
        }
        let dtype = self.compute_dtype();
        let matrices = |term: &Term, first: &Labels, second: &Labels| -> Result<GpuArray> {
            let (view, shape) = self.matrix_view(term, &axes.batch, first, second)?;
            view.to_dtype(dtype)?.reshape_to(&shape, Order::C)
        };
        let product = matrices(a, &axes.m, &axes.k)?.matmul(&matrices(b, &axes.k, &axes.n)?)?;
        let labels: Labels = axes.batch.iter().chain(&axes.m).chain(&axes.n).copied().collect();
        let array = product.reshape_to(&self.subscripts.lengths_of(&labels), Order::C)?;
        Ok(Term { labels, array })
    }
}
