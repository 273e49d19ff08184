//! The first centres of k-means.

use super::{Problem, columns};
use crate::kernels::KMeansStep;
use rtcg_array::{
    BoundsMode, GpuArray, Index, Op, Order, ReduceOptions, ReductionOp, ScanOp, array_args, push_optional,
};
use rtcg_hal::{DType, Result};
use std::collections::HashSet;

/// Numbers that look random (SplitMix64: Steele, Lea and Flood, 2014).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// From 0 to 1, without 1.
    fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }
}

impl Problem {
    /// Rows that are chosen one after the other, of several candidates the one that leaves the least distances.
    pub(super) fn plus_plus(&self, random: &mut Random) -> Result<GpuArray> {
        let trials = 2 + (self.k as f64).ln() as usize;
        let first = match &self.weights {
            Some(weights) => self.sample(weights, &self.numbers(&[random.number()])?)?,
            None => self.indices(&[random.below(self.n()) as i64])?,
        };
        let chosen = self.empty(&[self.k], DType::I64)?;
        let place = |at: usize| chosen.index(&[Index::Slice(Some(at as isize), Some(at as isize + 1), None)]);
        place(0)?.assign(&first)?;
        let numbers: Vec<f64> = (0..(self.k - 1) * trials).map(|_| random.number()).collect();
        let numbers = self.numbers(&numbers)?;
        let mut closest = self.distances_from(&first, None)?.reshape(&[-1], Order::C)?;
        for center in 1..self.k {
            let part = columns((center - 1) * trials, center * trials);
            let weighted = self.weighted(&closest)?;
            let candidates = self.sample(&weighted, &numbers.index(&part)?)?;
            let distances = self.distances_from(&candidates, Some(&closest))?;
            let by_row = ReduceOptions { axes: Some(&[1]), dtype: Some(DType::F64), ..ReduceOptions::default() };
            let potentials = self.weighted(&distances)?.reduce(ReductionOp::Sum, by_row)?;
            let best = potentials.reduce(ReductionOp::ArgMinimum, ReduceOptions::default())?.reshape(&[1], Order::C)?;
            closest = distances.take(&best, 0, BoundsMode::Clip, None)?.reshape(&[-1], Order::C)?;
            place(center)?.assign(&candidates.take(&best, 0, BoundsMode::Clip, None)?)?;
        }
        self.rows_at(&chosen)
    }

    /// Different rows, with probabilities by weight.
    pub(super) fn random_rows(&self, random: &mut Random) -> Result<GpuArray> {
        let n = self.n();
        let chosen: Vec<i64> = match &self.weights {
            None => {
                // R. Floyd's: as many numbers as are chosen.
                let (mut seen, mut chosen) = (HashSet::new(), Vec::new());
                for last in n - self.k..n {
                    let at = random.below(last + 1);
                    let at = if seen.contains(&at) { last } else { at };
                    seen.insert(at);
                    chosen.push(at as i64);
                }
                chosen
            }
            Some(weights) => {
                // The first arrivals, at rates by weight (Efraimidis and Spirakis, 2006); weights of 0 come last.
                let weights = super::read_f64(&weights.to_dtype(DType::F64)?)?;
                let mut arrivals: Vec<(f64, i64)> =
                    weights.iter().zip(0..).map(|(w, i)| (-(1.0 - random.number()).ln() / w, i)).collect();
                arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
                arrivals[..self.k].iter().map(|&(_, i)| i).collect()
            }
        };
        self.rows_at(&self.indices(&chosen)?)
    }

    fn rows_at(&self, indices: &GpuArray) -> Result<GpuArray> {
        self.rows.take(indices, 0, BoundsMode::Clip, None)?.to_dtype(self.computed())
    }

    fn indices(&self, indices: &[i64]) -> Result<GpuArray> {
        let array = self.empty(&[indices.len()], DType::I64)?;
        array.write(&indices.iter().flat_map(|i| i.to_ne_bytes()).collect::<Vec<_>>(), Order::C)?;
        Ok(array)
    }

    fn numbers(&self, numbers: &[f64]) -> Result<GpuArray> {
        let array = self.empty(&[numbers.len()], DType::F64)?;
        array.write(&numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>(), Order::C)?;
        Ok(array)
    }

    fn weighted(&self, distances: &GpuArray) -> Result<GpuArray> {
        self.weights.as_ref().map_or_else(|| Ok(distances.clone()), |weights| distances.binary(Op::Multiply, weights))
    }

    /// Rows with probabilities by weight, for numbers from 0 to 1.
    fn sample(&self, weights: &GpuArray, numbers: &GpuArray) -> Result<GpuArray> {
        let ends = weights.cumulative(ScanOp::Sum, 0, Some(DType::F64))?;
        let total = ends.index(&[Index::Slice(Some(-1), None, None)])?;
        let found = ends.searchsorted(&numbers.binary(Op::Multiply, &total)?, true)?;
        found.binary(Op::Minimum, self.n() as i64 - 1)
    }

    /// The squared distances of all rows from some of them, but not more than the closest ones so far.
    fn distances_from(&self, candidates: &GpuArray, closest: Option<&GpuArray>) -> Result<GpuArray> {
        let count = candidates.size();
        let out = self.empty(&[count, self.n()], self.computed())?;
        let mut args = array_args(&[&out, &self.rows])?;
        (0..2).try_for_each(|_| push_optional(&mut args, None))?;
        push_optional(&mut args, Some(candidates))?;
        args.push_u32(count as u32);
        push_optional(&mut args, closest)?;
        args.push_u64(self.n() as u64);
        self.launch(KMeansStep::Distances { is_double: false }, self.n() * self.width().min(32), &args)?;
        Ok(out)
    }
}
