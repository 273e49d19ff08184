//! A model of scores: extremely randomised trees (Geurts, Ernst and Wehenkel, 2006) over the values of parameters.
//!
//! A parameter whose values are positive numbers counts by their logarithm, another by the place of its value. Sums and
//! differences of two logarithms are features too, since products and ratios of parameters are what hardware limits.

use crate::configurations::Configurations;
use crate::random::Random;

/// Trees of a model.
const TREES: usize = 40;
/// Features that a split chooses from.
const TRIED_FEATURES: usize = 24;
/// Trials in a leaf that is not split.
const MAX_LEAF: usize = 2;

/// What trees may split by: a column, or the sum or difference of two.
#[derive(Debug, Clone, Copy)]
enum Feature {
    Column(usize),
    Sum(usize, usize),
    Difference(usize, usize),
}

/// The features of a space.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// The number that stands for each cell of each column.
    numbers: Vec<Vec<f32>>,
    features: Vec<Feature>,
}

impl Features {
    pub(crate) fn new(space: &Configurations) -> Self {
        let columns = space.names().len();
        let mut is_number = vec![false; columns];
        let mut numbers = Vec::with_capacity(columns);
        for (column, is_number) in is_number.iter_mut().enumerate() {
            let values = space.values(column);
            *is_number = values.len() > 2 && values.iter().all(|value| value.as_f64().is_some_and(|x| x > 0.0));
            let number = |(cell, value): (usize, &crate::Value)| match (*is_number, value.as_f64()) {
                (true, Some(number)) => number.log2() as f32,
                _ => cell as f32,
            };
            numbers.push(values.iter().enumerate().map(number).collect());
        }
        let varied: Vec<usize> = (0..columns).filter(|&column| space.values(column).len() > 1).collect();
        let mut features: Vec<Feature> = varied.iter().map(|&column| Feature::Column(column)).collect();
        for (at, &a) in varied.iter().enumerate().filter(|(_, column)| is_number[**column]) {
            for &b in varied[at + 1..].iter().filter(|&&column| is_number[column]) {
                features.extend([Feature::Sum(a, b), Feature::Difference(a, b)]);
            }
        }
        Self { numbers, features }
    }

    fn value(&self, feature: Feature, cells: &[u16]) -> f32 {
        let number = |column: usize| self.numbers[column][usize::from(cells[column])];
        match feature {
            Feature::Column(column) => number(column),
            Feature::Sum(a, b) => number(a) + number(b),
            Feature::Difference(a, b) => number(a) - number(b),
        }
    }
}

/// A node of a tree: inner nodes have their second child's place, leaves a value.
#[derive(Debug, Clone, Copy)]
enum TreeNode {
    Split { feature: Feature, threshold: f32, right: u32 },
    Leaf(f32),
}

/// A fitted model.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    trees: Vec<Vec<TreeNode>>,
}

/// What a model says of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) mean: f32,
    /// Standard deviation between trees.
    pub(crate) deviation: f32,
}

impl Model {
    /// Fits trees to `samples`: cells and targets.
    ///
    /// # Panics
    /// When there is no sample.
    pub(crate) fn fit(features: &Features, samples: &[(&[u16], f32)], random: &mut Random) -> Self {
        assert!(!samples.is_empty(), "a model of nothing");
        let grow = |_| {
            let mut order: Vec<u32> = (0..samples.len() as u32).collect();
            let mut nodes = Vec::new();
            Grower { features, samples, random: &mut *random, nodes: &mut nodes }.grow(&mut order);
            nodes
        };
        Self { trees: (0..TREES).map(grow).collect() }
    }

    pub(crate) fn predict(&self, features: &Features, cells: &[u16]) -> Prediction {
        let (mut sum, mut squares) = (0.0f32, 0.0f32);
        for tree in &self.trees {
            let value = leaf_value(tree, features, cells);
            sum += value;
            squares += value * value;
        }
        let count = self.trees.len() as f32;
        let mean = sum / count;
        Prediction { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    }
}

fn leaf_value(tree: &[TreeNode], features: &Features, cells: &[u16]) -> f32 {
    let mut at = 0;
    loop {
        match tree[at] {
            TreeNode::Leaf(value) => return value,
            TreeNode::Split { feature, threshold, right } => {
                at = if features.value(feature, cells) < threshold { at + 1 } else { right as usize };
            }
        }
    }
}

/// Grows one tree.
struct Grower<'a> {
    features: &'a Features,
    samples: &'a [(&'a [u16], f32)],
    random: &'a mut Random,
    nodes: &'a mut Vec<TreeNode>,
}

impl Grower<'_> {
    fn grow(&mut self, chosen: &mut [u32]) {
        let split = if chosen.len() > MAX_LEAF { self.best_split(chosen) } else { None };
        let Some((feature, threshold)) = split else {
            let sum: f32 = chosen.iter().map(|&at| self.samples[at as usize].1).sum();
            self.nodes.push(TreeNode::Leaf(sum / chosen.len() as f32));
            return;
        };
        let middle = partition(chosen, |at| self.value(feature, at) < threshold);
        let place = self.nodes.len();
        self.nodes.push(TreeNode::Leaf(0.0));
        let (left, right) = chosen.split_at_mut(middle);
        self.grow(left);
        self.nodes[place] = TreeNode::Split { feature, threshold, right: self.nodes.len() as u32 };
        self.grow(right);
    }

    fn value(&self, feature: Feature, at: u32) -> f32 {
        self.features.value(feature, self.samples[at as usize].0)
    }

    /// Of some random features, each at a random threshold, the one that leaves the least variance.
    fn best_split(&mut self, chosen: &[u32]) -> Option<(Feature, f32)> {
        let mut best: Option<(f32, Feature, f32)> = None;
        for _ in 0..TRIED_FEATURES {
            let feature = *self.random.choose(&self.features.features);
            let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
            for &at in chosen {
                let value = self.value(feature, at);
                least = least.min(value);
                most = most.max(value);
            }
            if least >= most {
                continue;
            }
            let threshold = least + (most - least) * (1.0 - self.random.unit() as f32);
            let score = self.remaining_variance(chosen, feature, threshold);
            if best.is_none_or(|(known, ..)| score < known) {
                best = Some((score, feature, threshold));
            }
        }
        best.map(|(_, feature, threshold)| (feature, threshold))
    }

    /// The sum of squared deviations on both sides, less what is the same for all splits.
    fn remaining_variance(&self, chosen: &[u32], feature: Feature, threshold: f32) -> f32 {
        let (mut sums, mut counts) = ([0.0f32; 2], [0.0f32; 2]);
        for &at in chosen {
            let side = usize::from(self.value(feature, at) >= threshold);
            sums[side] += self.samples[at as usize].1;
            counts[side] += 1.0;
        }
        -(0..2).map(|side| if counts[side] > 0.0 { sums[side] * sums[side] / counts[side] } else { 0.0 }).sum::<f32>()
    }
}

/// Brings the items that fulfil a condition to the front; their number.
fn partition(items: &mut [u32], is_first: impl Fn(u32) -> bool) -> usize {
    let mut middle = 0;
    for at in 0..items.len() {
        if is_first(items[at]) {
            items.swap(at, middle);
            middle += 1;
        }
    }
    middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;

    /// A product and a choice are learnt from a tenth of the space.
    #[test]
    fn products_and_choices_are_learnt() {
        let powers: Vec<i64> = (0..8).map(|i| 1 << i).collect();
        let space = Space::new()
            .parameter("x", powers.clone())
            .and_then(|s| s.parameter("y", powers)?.parameter("mode", ["a", "b"]))
            .and_then(|s| s.enumerate())
            .unwrap();
        let target = |cells: &[u16]| {
            let product = i32::from(cells[0] + cells[1]);
            (product - 7).abs() as f32 + 2.0 * f32::from(cells[2])
        };
        let features = Features::new(&space);
        let mut random = Random::new(1);
        let rows: Vec<u32> = (0..40).map(|_| random.below(space.len()) as u32).collect();
        let samples: Vec<_> = rows.iter().map(|&row| (space.row(row), target(space.row(row)))).collect();
        let model = Model::fit(&features, &samples, &mut random);
        let error = |predict: &dyn Fn(&[u16]) -> f32| {
            space.rows().map(|cells| (predict(cells) - target(cells)).powi(2)).sum::<f32>() / space.len() as f32
        };
        let mean = samples.iter().map(|sample| sample.1).sum::<f32>() / samples.len() as f32;
        let (model_error, mean_error) = (error(&|cells| model.predict(&features, cells).mean), error(&|_| mean));
        assert!(model_error < 0.35 * mean_error, "{model_error} of {mean_error}");
    }
}
