//! One step of a path: by which kernel.

use super::subscripts::Labels;
use super::{Contraction, Term};
use crate::array::GpuArray;
use crate::elementwise::{Arg, OpOptions, apply_elementwise};
use crate::error::Result;
use crate::layout::Order;
use crate::reduce::ReduceOptions;
use rtcg_codegen::DType;
use rtcg_codegen::array::{Op, ReductionOp};

/// Rows, columns and terms from which on matrices are multiplied by tiles.
const MIN_MATRIX_SIDE: usize = 32;
const MIN_MATRIX_TERMS: usize = 16;
/// Terms that one thread sums, and results that make enough threads.
const MAX_THREAD_TERMS: usize = 512;
const MIN_THREADS: usize = 1 << 12;

/// The axes of two operands by what becomes of them.
struct PairAxes {
    /// In both, and kept.
    batch: Labels,
    rows: Labels,
    columns: Labels,
    /// In both, and summed over.
    terms: Labels,
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
            result.array.fill(crate::Scalar::Weak(rtcg_codegen::WeakScalar::Bool(false)))?;
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
        let (rows, columns, terms) = (count(&axes.rows), count(&axes.columns), count(&axes.terms));
        let results = rows * columns * count(&axes.batch);
        let is_matrix = rows.min(columns) >= MIN_MATRIX_SIDE && terms >= MIN_MATRIX_TERMS;
        let is_long = terms > MAX_THREAD_TERMS && results < MIN_THREADS;
        if terms == 1 && self.is_elementwise(a, b) {
            return self.multiply_elements(a, b);
        }
        if is_matrix || is_long {
            return self.multiply_matrices(a, b, &axes);
        }
        self.contract_directly(&[a.clone(), b.clone()])
    }

    /// Axes of length 1 in one operand, which are long in the other one, count as the other one's.
    fn pair_axes(&self, a: &Term, b: &Term) -> PairAxes {
        let (mut batch, mut rows, mut columns, mut terms) =
            (Labels::new(), Labels::new(), Labels::new(), Labels::new());
        for label in self.kept_labels(&[a.clone(), b.clone()]) {
            match (a.stride(label) != 0, b.stride(label) != 0) {
                (true, true) => batch.push(label),
                (_, false) => rows.push(label),
                (false, true) => columns.push(label),
            }
        }
        terms.extend(a.labels.iter().copied().filter(|&label| !self.is_needed(label)));
        PairAxes { batch, rows, columns, terms }
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
        let dtype = self.compute_dtype();
        let matrices = |term: &Term, first: &Labels, second: &Labels| -> Result<GpuArray> {
            let labels: Labels = axes.batch.iter().chain(first).chain(second).copied().collect();
            let mut shape = self.subscripts.lengths_of(&axes.batch);
            shape.extend([first, second].map(|group| self.subscripts.lengths_of(group).iter().product()));
            term.arranged(self.subscripts, &labels)?.to_dtype(dtype)?.reshape_to(&shape, Order::C)
        };
        let product = matrices(a, &axes.rows, &axes.terms)?.matmul(&matrices(b, &axes.terms, &axes.columns)?)?;
        let labels: Labels = axes.batch.iter().chain(&axes.rows).chain(&axes.columns).copied().collect();
        let array = product.reshape_to(&self.subscripts.lengths_of(&labels), Order::C)?;
        Ok(Term { labels, array })
    }
}
