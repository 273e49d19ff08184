//! A model of scores: extremely randomised trees (Geurts, Ernst and Wehenkel, 2006) over the values of parameters.
//!
//! The features of a parameter are the index of its value and, if the values are positive numbers, its logarithm. Sums
//! and differences of two logarithms are features too, because hardware limits products and ratios of parameters.

use crate::configurations::Configurations;
use crate::random::Random;

/// Trees of a model.
const TREES: usize = 40;
/// Rows that go through a tree side by side, so that the processor need not wait for one's next node.
const LANES: usize = 16;

/// What trees may split by: a column of numbers, or the sum or difference of two.
#[derive(Debug, Clone, Copy)]
enum Feature {
    Column(usize),
    Sum(usize, usize),
    Difference(usize, usize),
}

/// The features of a space.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// Columns of the space that vary, with the number that stands for each cell.
    columns: Vec<(usize, Vec<f32>)>,
    features: Vec<Feature>,
}

impl Features {
    pub(crate) fn new(space: &Configurations) -> Self {
        let mut columns = Vec::new();
        let mut features = Vec::new();
        let mut logarithms = Vec::new();
        for column in (0..space.names().len()).filter(|&column| space.values(column).len() > 1) {
            let values = space.values(column);
            let is_number = values.len() > 2 && values.iter().all(|value| value.as_f64().is_some_and(|x| x > 0.0));
            features.push(Feature::Column(columns.len()));
            columns.push((column, (0..values.len()).map(|cell| cell as f32).collect()));
            if is_number {
                let logarithm = |value: &crate::Value| value.as_f64().unwrap_or(1.0).log2() as f32;
                logarithms.push(columns.len());
                features.push(Feature::Column(columns.len()));
                columns.push((column, values.iter().map(logarithm).collect()));
            }
        }
        for (at, &a) in logarithms.iter().enumerate() {
            for &b in &logarithms[at + 1..] {
                features.extend([Feature::Sum(a, b), Feature::Difference(a, b)]);
            }
        }
        Self { columns, features }
    }

    /// The values of all features of a configuration, into each `stride`th place of `values`.
    fn write(&self, cells: &[u16], values: &mut [f32], stride: usize) {
        let number = |at: usize| {
            let (column, numbers) = &self.columns[at];
            numbers[usize::from(cells[*column])]
        };
        for (value, feature) in values.iter_mut().step_by(stride).zip(&self.features) {
            *value = match *feature {
                Feature::Column(a) => number(a),
                Feature::Sum(a, b) => number(a) + number(b),
                Feature::Difference(a, b) => number(a) - number(b),
            };
        }
    }
}

/// A node of a tree. The first child follows it; a leaf is its own second child, and its threshold is not a number, so
/// that nothing is below it.
#[derive(Debug, Clone, Copy)]
struct TreeNode {
    feature: u32,
    threshold: f32,
    second: u32,
    value: f32,
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
        let mut values = vec![0.0; features.features.len() * samples.len()];
        for (at, (cells, _)) in samples.iter().enumerate() {
            features.write(cells, &mut values[at..], samples.len());
        }
        let columns: Vec<&[f32]> = values.chunks_exact(samples.len()).collect();
        let targets: Vec<f32> = samples.iter().map(|sample| sample.1).collect();
        let grow = |_| {
            let mut order: Vec<u32> = (0..samples.len() as u32).collect();
            let mut tree = Grower { columns: &columns, targets: &targets, random, nodes: Vec::new() };
            tree.grow(&mut order);
            tree.nodes
        };
        Self { trees: (0..TREES).map(grow).collect() }
    }

    /// What the model says of some configurations.
    pub(crate) fn predict(&self, features: &Features, rows: &[&[u16]]) -> Vec<Prediction> {
        let mut values = vec![0.0f32; features.features.len().max(1) * LANES];
        let mut predictions = Vec::with_capacity(rows.len());
        for block in rows.chunks(LANES) {
            for (lane, cells) in block.iter().enumerate() {
                features.write(cells, &mut values[lane..], LANES);
            }
            let (mut sums, mut squares) = ([0.0f32; LANES], [0.0f32; LANES]);
            for tree in &self.trees {
                let leaves = leaves(tree, &values);
                for lane in 0..LANES {
                    let value = tree[leaves[lane] as usize].value;
                    sums[lane] += value;
                    squares[lane] += value * value;
                }
            }
            let count = self.trees.len() as f32;
            predictions.extend((0..block.len()).map(|lane| {
                let mean = sums[lane] / count;
                Prediction { mean, deviation: (squares[lane] / count - mean * mean).max(0.0).sqrt() }
            }));
        }
        predictions
    }
}

/// The leaf that each lane ends in.
fn leaves(tree: &[TreeNode], values: &[f32]) -> [u32; LANES] {
    let mut at = [0u32; LANES];
    loop {
        let mut moved = 0;
        for (lane, at) in at.iter_mut().enumerate() {
            let node = &tree[*at as usize];
            let is_first = values[node.feature as usize * LANES + lane] < node.threshold;
            let next = if is_first { *at + 1 } else { node.second };
            moved |= next ^ *at;
            *at = next;
        }
        if moved == 0 {
            return at;
        }
    }
}

/// Grows one tree.
struct Grower<'a> {
    /// Each feature's values of all samples.
    columns: &'a [&'a [f32]],
    targets: &'a [f32],
    random: &'a mut Random,
    nodes: Vec<TreeNode>,
}

impl Grower<'_> {
    fn grow(&mut self, chosen: &mut [u32]) {
        let place = self.nodes.len();
        let split = if chosen.len() > 1 { self.best_split(chosen) } else { None };
        let sum: f32 = chosen.iter().map(|&at| self.targets[at as usize]).sum();
        let value = sum / chosen.len() as f32;
        self.nodes.push(TreeNode { feature: 0, threshold: f32::NAN, second: place as u32, value });
        let Some((feature, threshold)) = split else { return };
        let middle = partition(chosen, |at| self.columns[feature][at as usize] < threshold);
        let (first, second) = chosen.split_at_mut(middle);
        self.grow(first);
        self.nodes[place] = TreeNode { feature: feature as u32, threshold, second: self.nodes.len() as u32, value };
        self.grow(second);
    }

    /// Of all features, each at a random threshold, the one that leaves the least variance.
    fn best_split(&mut self, chosen: &[u32]) -> Option<(usize, f32)> {
        let mut best: Option<(f32, usize, f32)> = None;
        let total: f32 = chosen.iter().map(|&at| self.targets[at as usize]).sum();
        for (feature, values) in self.columns.iter().enumerate() {
            let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
            for &at in chosen {
                least = least.min(values[at as usize]);
                most = most.max(values[at as usize]);
            }
            if least >= most {
                continue;
            }
            let threshold = least + (most - least) * (1.0 - self.random.unit() as f32);
            let (mut sum, mut count) = (0.0f32, 0.0f32);
            for &at in chosen {
                let is_first = f32::from(u8::from(values[at as usize] < threshold));
                sum += is_first * self.targets[at as usize];
                count += is_first;
            }
            let rest = chosen.len() as f32 - count;
            if count < 1.0 || rest < 1.0 {
                continue;
            }
            // The sum of squared deviations on both sides, less what is the same for all splits.
            let score = -(sum * sum / count + (total - sum) * (total - sum) / rest);
            if best.is_none_or(|(known, ..)| score < known) {
                best = Some((score, feature, threshold));
            }
        }
        best.map(|(_, feature, threshold)| (feature, threshold))
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
        let (model_error, mean_error) = (error(&|cells| model.predict(&features, &[cells])[0].mean), error(&|_| mean));
        assert!(model_error < 0.35 * mean_error, "{model_error} of {mean_error}");
    }
}
