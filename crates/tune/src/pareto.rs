//! Pareto fronts: the best of several things by two or more numbers.

/// Returns the indices of the points that no other point dominates, in ascending order of the first cost. One point
/// dominates another if none of its costs is greater and at least one is less; equal points do not dominate each other.
/// Points with a NaN are left out.
///
/// ```
/// use rtcg_tune::pareto_front;
///
/// let costs = [vec![2.0, 1.0], vec![1.0, 3.0], vec![2.0, 2.0], vec![f64::NAN, 0.0]];
/// assert_eq!(pareto_front(&costs), [1, 0]);
/// ```
pub fn pareto_front(costs: &[Vec<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).filter(|&at| !costs[at].iter().any(|cost| cost.is_nan())).collect();
    // After that nothing is dominated by what comes later.
    order.sort_by(|&a, &b| {
        let differs = costs[a].iter().zip(&costs[b]).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
        differs.unwrap_or(a.cmp(&b))
    });
    let dominates = |a: usize, b: usize| {
        costs[a].iter().zip(&costs[b]).all(|(a, b)| a <= b) && costs[a].iter().zip(&costs[b]).any(|(a, b)| a < b)
    };
    let mut front: Vec<usize> = Vec::new();
    for at in order {
        if !front.iter().any(|&known| dominates(known, at)) {
            front.push(at);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_front_is_what_comparing_all_pairs_gives() {
        let mut random = Random::new(5);
        for n_costs in 1..4 {
            let costs: Vec<Vec<f64>> =
                (0..200).map(|_| (0..n_costs).map(|_| (random.unit() * 12.0).floor()).collect()).collect();
            let is_worse = |a: &[f64], b: &[f64]| a != b && a.iter().zip(b).all(|(a, b)| a >= b);
            let mut expected: Vec<usize> =
                (0..costs.len()).filter(|&at| !costs.iter().any(|other| is_worse(&costs[at], other))).collect();
            let mut front = pareto_front(&costs);
            assert!(front.windows(2).all(|pair| costs[pair[0]][0] <= costs[pair[1]][0]));
            front.sort_unstable();
            expected.sort_unstable();
            assert_eq!(front, expected);
        }
    }
}
