//! Contraction paths: the order in which operands are contracted, two at a time.

use super::subscripts::{Label, Labels, Subscripts};
use rtcg_hal::{ArrayError, Result};
use std::collections::HashMap;

/// The most operands for which all orders are tried.
const MAX_OPTIMAL_OPERANDS: usize = 10;

/// The order in which operands are contracted. As in NumPy, operands are numbered in the order given; a step removes
/// those it names from the list and appends its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EinsumPath {
    /// In each step, the pair whose result is smallest relative to the operands it replaces.
    #[default]
    Greedy,
    /// The order with the fewest multiplications; greedy for eleven or more operands.
    Optimal,
    /// The given operands in each step.
    Given(Vec<Vec<usize>>),
}

/// The steps of a path.
pub(super) fn resolve_path(path: &EinsumPath, subscripts: &Subscripts) -> Result<Vec<Vec<usize>>> {
    let count = subscripts.inputs.len();
    match path {
        EinsumPath::Given(steps) => check_path(steps, count).map(|()| steps.clone()),
        _ if count <= 2 => Ok(vec![(0..count).collect()]),
        EinsumPath::Optimal if count <= MAX_OPTIMAL_OPERANDS => Ok(optimal_path(subscripts)),
        _ => Ok(greedy_path(subscripts)),
    }
}

fn check_path(steps: &[Vec<usize>], count: usize) -> Result<()> {
    let mut left = count;
    for step in steps {
        let is_known = |(k, operand): (usize, &usize)| *operand < left && !step[..k].contains(operand);
        if step.is_empty() || !step.iter().enumerate().all(is_known) {
            return Err(ArrayError::value_error(format!(
                "optimize: step {step:?} of the path does not name different operands of the {left} that are left"
            )));
        }
        left = left + 1 - step.len();
    }
    if left != 1 {
        return Err(ArrayError::value_error(format!("optimize: {left} operands are left behind the path {steps:?}")));
    }
    Ok(())
}

/// The axes of either that the result or others need.
fn contracted(a: &[Label], b: &[Label], needed: impl Fn(Label) -> bool) -> Labels {
    let mut labels: Labels = a.into();
    labels.extend(b.iter().copied().filter(|label| !a.contains(label)));
    labels.sort_unstable();
    labels.dedup();
    labels.retain(|label| needed(*label));
    labels
}

fn greedy_path(subscripts: &Subscripts) -> Vec<Vec<usize>> {
    let mut left: Vec<Labels> = subscripts.inputs.clone();
    let size = |labels: &[Label]| labels.iter().map(|&label| subscripts.length(label) as f64).product::<f64>();
    let mut steps = Vec::new();
    while left.len() > 1 {
        let mut best: Option<((f64, f64), usize, usize, Labels)> = None;
        for first in 0..left.len() {
            for second in first + 1..left.len() {
                let (a, b) = (&left[first], &left[second]);
                let others = left.iter().enumerate().filter(|(k, _)| *k != first && *k != second);
                let others: Vec<&Labels> = others.map(|(_, labels)| labels).collect();
                let needed = |label| subscripts.output.contains(&label) || others.iter().any(|o| o.contains(&label));
                let result = contracted(a, b, needed);
                let cost = (size(&result) - size(a) - size(b), size(&contracted(a, b, |_| true)));
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, first, second, result));
                }
            }
        }
        let Some((_, first, second, result)) = best else { break };
        left.remove(second);
        left.remove(first);
        left.push(result);
        steps.push(vec![first, second]);
    }
    steps
}

/// The cheapest way to contract a set of operands.
struct Best {
    cost: f64,
    labels: Labels,
    /// The two sets that are contracted last; none for an operand.
    parts: Option<(u32, u32)>,
}

/// By sets of operands, as bits: those of fewer operands first.
fn optimal_path(subscripts: &Subscripts) -> Vec<Vec<usize>> {
    let count = subscripts.inputs.len();
    let all = (1u32 << count) - 1;
    let mut best: HashMap<u32, Best> = HashMap::new();
    for (k, labels) in subscripts.inputs.iter().enumerate() {
        best.insert(1 << k, Best { cost: 0.0, labels: contracted(labels, &[], |_| true), parts: None });
    }
    let mut sets: Vec<u32> = (1..=all).filter(|set| set.count_ones() > 1).collect();
    sets.sort_by_key(|set| set.count_ones());
    for set in sets {
        let outside = |label| {
            let mut others = subscripts.inputs.iter().enumerate().filter(|(k, _)| set & (1 << k) == 0);
            subscripts.output.contains(&label) || others.any(|(_, labels)| labels.contains(&label))
        };
        let mut part = (set - 1) & set;
        let mut found: Option<Best> = None;
        while part > 0 {
            let rest = set & !part;
            if part > rest {
                let (a, b) = (&best[&part], &best[&rest]);
                let every = contracted(&a.labels, &b.labels, |_| true);
                let products: f64 = every.iter().map(|&label| subscripts.length(label) as f64).product();
                let cost = a.cost + b.cost + products;
                if found.as_ref().is_none_or(|found| cost < found.cost) {
                    found = Some(Best { cost, labels: contracted(&every, &[], outside), parts: Some((part, rest)) });
                }
            }
            part = (part - 1) & set;
        }
        best.extend(found.map(|found| (set, found)));
    }
    let (mut left, mut steps) = ((0..count).map(|k| 1 << k).collect::<Vec<u32>>(), Vec::new());
    append_steps(&best, all, &mut left, &mut steps);
    steps
}

fn append_steps(best: &HashMap<u32, Best>, set: u32, left: &mut Vec<u32>, steps: &mut Vec<Vec<usize>>) {
    let Some((a, b)) = best.get(&set).and_then(|found| found.parts) else { return };
    append_steps(best, a, left, steps);
    append_steps(best, b, left, steps);
    let taken: Vec<usize> = (0..left.len()).filter(|&k| left[k] == a || left[k] == b).collect();
    left.retain(|&other| other != a && other != b);
    left.push(set);
    steps.push(taken);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(path: &EinsumPath, text: &str, shapes: &[&[usize]]) -> Vec<Vec<usize>> {
        resolve_path(path, &Subscripts::parse(text, shapes).unwrap()).unwrap()
    }

    #[test]
    fn chains_are_contracted_from_their_cheap_end() {
        let shapes: &[&[usize]] = &[&[100, 100], &[100, 100], &[100, 1]];
        for path in [EinsumPath::Greedy, EinsumPath::Optimal] {
            assert_eq!(steps(&path, "ij,jk,kl->il", shapes), [[1, 2], [0, 1]]);
        }
        let one = steps(&EinsumPath::Optimal, "i->", &[&[3]]);
        assert_eq!(one, [[0]]);
    }

    #[test]
    fn the_optimal_order_costs_no_more_than_the_greedy_one() {
        let shapes: &[&[usize]] = &[&[2, 30], &[30, 4], &[4, 50], &[50, 3], &[3, 2]];
        for path in [EinsumPath::Greedy, EinsumPath::Optimal] {
            let found = steps(&path, "ab,bc,cd,de,ea->", shapes);
            assert_eq!((found.len(), check_path(&found, 5).is_ok()), (4, true), "{found:?}");
        }
    }

    #[test]
    fn paths_that_leave_operands_or_name_unknown_ones_are_refused() {
        let subscripts = Subscripts::parse("i,i,i->", &[&[2], &[2], &[2]]).unwrap();
        for bad in [vec![vec![0, 1]], vec![vec![0, 3], vec![0, 1]], vec![vec![0, 0], vec![0, 1]], vec![vec![]]] {
            assert!(resolve_path(&EinsumPath::Given(bad.clone()), &subscripts).is_err(), "{bad:?}");
        }
        assert!(resolve_path(&EinsumPath::Given(vec![vec![0, 1, 2]]), &subscripts).is_ok());
    }
}
