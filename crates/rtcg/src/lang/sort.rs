//! Sorts sequences: by the radix sort of arrays where the order is that of one key, else by a merge sort.

use super::kernels::{ReadyKernel, RunFacts};
use super::run::{OwnedArg, Run, RunError};
use super::value::Value;
use rtcg_array::{BoundsMode, GpuArray, Index, ScanOp};
use rtcg_codegen::array::Op;
use rtcg_hal::{DType, Result};
use rtcg_lang::emit::{MergeStep, emit_merge_step};
use rtcg_lang::ir::{Atom, Exp, Lambda, Stmt, Var};

/// An order by one of the arrays.
struct KeyOrder {
    /// Which one.
    key: usize,
    descending: bool,
    /// Whether elements that are equal are reversed.
    reverses_equal: bool,
}

impl Run<'_> {
    pub(super) fn sort(&mut self, stmt: &Stmt, arrays: &[Var], less: &Lambda) -> std::result::Result<(), RunError> {
        let inputs = arrays.iter().map(|array| self.array(*array)).collect::<std::result::Result<Vec<_>, _>>()?;
        let sorted = match key_order(less) {
            _ if self.only_compiles() => {
                inputs.iter().map(|array| self.empty(array.shape(), array.dtype())).collect::<Result<_>>()?
            }
            Some(order) if !inputs[order.key].dtype().is_complex() => by_key(&inputs, &order)?,
            _ => self.by_merging(&inputs, arrays, less)?,
        };
        stmt.outs.iter().zip(sorted).for_each(|(out, array)| self.set(*out, Value::Array(array)));
        Ok(())
    }

    /// Runs of one element, of two, of four and so on.
    fn by_merging(
        &mut self,
        inputs: &[GpuArray],
        arrays: &[Var],
        less: &Lambda,
    ) -> std::result::Result<Vec<GpuArray>, RunError> {
        let n = inputs[0].size();
        let mut now: Vec<GpuArray> = inputs.iter().map(GpuArray::to_contiguous).collect::<Result<_>>()?;
        let emitted = emit_merge_step(&self.compiled.program, arrays, less, &RunFacts::default());
        let MergeStep { ranks, places } = emitted.map_err(RunError::Problem)?;
        let (ranks, places) = (ReadyKernel::new(ranks)?, ReadyKernel::new(places)?);
        let mut width = 1_usize;
        while width < n {
            let sizes = || [width as i64, n as i64].map(|value| OwnedArg::Bytes(value.to_le_bytes().into()));
            let read: Vec<OwnedArg> = now.iter().cloned().map(OwnedArg::Array).chain(sizes()).collect();
            let rank = self.empty(&[n], DType::I64)?;
            self.launch(&ranks, std::slice::from_ref(&rank), &read, n)?;
            // A comparison that is no order, as with NaN, may give a later element fewer than one before it.
            let rank = rank.cumulative(ScanOp::Maximum, 0, None)?;
            let next: Vec<GpuArray> = now.iter().map(|array| self.empty(&[n], array.dtype())).collect::<Result<_>>()?;
            let read: Vec<OwnedArg> = std::iter::once(OwnedArg::Array(rank)).chain(read).collect();
            self.launch(&places, &next, &read, n)?;
            now = next;
            width *= 2;
        }
        Ok(now)
    }
}

fn by_key(inputs: &[GpuArray], order: &KeyOrder) -> Result<Vec<GpuArray>> {
    let reversed = [Index::Slice(None, None, Some(-1))];
    let inputs: Vec<GpuArray> = match order.reverses_equal {
        true => inputs.iter().map(|array| array.index(&reversed)?.to_contiguous()).collect::<Result<_>>()?,
        false => inputs.to_vec(),
    };
    if inputs.len() == 1 {
        return Ok(vec![inputs[0].sorted(0, order.descending)?]);
    }
    let places = inputs[order.key].argsort(0, order.descending)?;
    inputs.iter().map(|array| array.take(&places, 0, BoundsMode::Clip, None)).collect()
}

/// The order of a comparison of one part of both elements.
fn key_order(less: &Lambda) -> Option<KeyOrder> {
    let [stmt] = less.body.stmts.as_slice() else { return None };
    let Exp::Prim { op, args, .. } = &stmt.exp else { return None };
    let [Atom::Var(a), Atom::Var(b)] = args.as_slice() else { return None };
    if less.body.results != [Atom::Var(stmt.outs[0])] {
        return None;
    }
    let n = less.params.len() / 2;
    let place = |var: &Var| less.params.iter().position(|param| param == var);
    let (a, b) = (place(a)?, place(b)?);
    if a % n != b % n || a / n == b / n {
        return None;
    }
    let is_swapped = a > b;
    let (descending, reverses_equal) = match op {
        Op::Less => (false, false),
        Op::LessEqual => (false, true),
        Op::Greater => (true, false),
        Op::GreaterEqual => (true, true),
        _ => return None,
    };
    Some(KeyOrder { key: a % n, descending: descending != is_swapped, reverses_equal })
}
