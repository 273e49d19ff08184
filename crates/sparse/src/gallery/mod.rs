//! Test and benchmark matrices, generated on the host: equal arguments give equal matrices on every machine.
//!
//! Grids are numbered with the last axis fastest, and have zero boundary values. Random numbers come from
//! Philox4x32-10.

mod finite_elements;

pub use finite_elements::{delaunay, discontinuous, elasticity, quadratic_tetrahedra};

use rtcg_codegen::random::philox::philox4x32;

/// A CSR matrix on the host, with ascending columns in each row. `Csr::from_parts` of the crate `rtcg` copies it to a
/// device.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCsr {
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Where rows begin, followed by the number of elements.
    pub indptr: Vec<i64>,
    /// The column indices of the elements.
    pub indices: Vec<i64>,
    /// The elements.
    pub data: Vec<f64>,
}

impl HostCsr {
    /// Of rows that list columns and elements in any order; those of one place are added up.
    fn from_rows(columns: usize, rows: impl Iterator<Item = Vec<(i64, f64)>>) -> Self {
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for mut row in rows {
            row.sort_by_key(|element| element.0);
            let first = indices.len();
            for (column, value) in row {
                match data.last_mut() {
                    Some(last) if indices.len() > first && indices.last() == Some(&column) => *last += value,
                    _ => {
                        indices.push(column);
                        data.push(value);
                    }
                }
            }
            indptr.push(indices.len() as i64);
        }
        Self { shape: [indptr.len() - 1, columns], indptr, indices, data }
    }
}

/// A sequence of random numbers.
struct Random {
    key: [u32; 2],
    block: u64,
    words: [u32; 4],
    used: usize,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], block: 0, words: [0; 4], used: 4 }
    }

    fn word(&mut self) -> u32 {
        if self.used == 4 {
            self.words = philox4x32([self.block as u32, (self.block >> 32) as u32, 0, 0], self.key);
            (self.block, self.used) = (self.block + 1, 0);
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// From 0 up to but not including 1.
    fn uniform(&mut self) -> f64 {
        let bits = u64::from(self.word()) << 21 ^ u64::from(self.word()) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }
}

/// The stencil `weights`, of which each has an offset on every axis, on a grid with zeros around it.
fn stencil(lengths: &[usize], weights: &[(Vec<isize>, f64)]) -> HostCsr {
    let n: usize = lengths.iter().product();
    let row = |place: usize| {
        let mut position = vec![0isize; lengths.len()];
        let mut rest = place;
        for (axis, &length) in lengths.iter().enumerate().rev() {
            position[axis] = (rest % length) as isize;
            rest /= length;
        }
        let element = |(offset, weight): &(Vec<isize>, f64)| {
            let mut column = 0;
            for (axis, &length) in lengths.iter().enumerate() {
                let at = position[axis] + offset[axis];
                if at < 0 || at >= length as isize {
                    return None;
                }
                column = column * length as i64 + at as i64;
            }
            Some((column, *weight))
        };
        weights.iter().filter_map(element).collect()
    };
    HostCsr::from_rows(n, (0..n).map(row))
}

/// Offsets of -1, 0 and 1 on `axes` axes with the weight that `weight` gives them, but for weights of 0.
fn box_weights(axes: usize, weight: impl Fn(&[isize]) -> f64) -> Vec<(Vec<isize>, f64)> {
    let offsets = (0..3usize.pow(axes as u32))
        .map(|k| (0..axes).map(|axis| (k / 3usize.pow(axis as u32) % 3) as isize - 1).collect());
    offsets
        .map(|offset: Vec<isize>| {
            let weight = weight(&offset);
            (offset, weight)
        })
        .filter(|entry| entry.1 != 0.0)
        .collect()
}

fn distance(offset: &[isize]) -> usize {
    offset.iter().filter(|&&step| step != 0).count()
}

/// Poisson's equation on a grid of 1 to 3 axes by finite differences: a 3-, 5- or 7-point stencil.
pub fn poisson(lengths: &[usize]) -> HostCsr {
    let axes = lengths.len();
    stencil(
        lengths,
        &box_weights(axes, |offset| match distance(offset) {
            0 => 2.0 * axes as f64,
            1 => -1.0,
            _ => 0.0,
        }),
    )
}

/// Like [`poisson`], but with diagonal neighbours too: a 9- or 27-point stencil.
pub fn poisson_box(lengths: &[usize]) -> HostCsr {
    let center = 3f64.powi(lengths.len() as i32) - 1.0;
    stencil(lengths, &box_weights(lengths.len(), |offset| if distance(offset) == 0 { center } else { -1.0 }))
}

/// Anisotropic diffusion in the plane, `epsilon` times as strong along the first axis as along the second.
pub fn anisotropic(lengths: [usize; 2], epsilon: f64) -> HostCsr {
    let weight = |offset: &[isize]| match offset {
        [0, 0] => 2.0 + 2.0 * epsilon,
        [_, 0] => -epsilon,
        [0, _] => -1.0,
        _ => 0.0,
    };
    stencil(&lengths, &box_weights(2, weight))
}

/// Diffusion in the plane with convection along the second axis, `peclet` times as strong within a cell; upwind
/// differences. Not symmetric.
pub fn convection_diffusion(lengths: [usize; 2], peclet: f64) -> HostCsr {
    let weight = |offset: &[isize]| match offset {
        [0, 0] => 4.0 + peclet.abs(),
        [0, step] if (*step as f64) * peclet < 0.0 => -1.0 - peclet.abs(),
        [_, 0] | [0, _] => -1.0,
        _ => 0.0,
    };
    stencil(&lengths, &box_weights(2, weight))
}

/// A Graph500 graph: `2^scale` nodes, `edge_factor` times as many edges, whose ends are drawn recursively (R-MAT,
/// Chakrabarti and others 2004, with 0.57, 0.19, 0.19, 0.05). Duplicate edges add up.
pub fn rmat(scale: u32, edge_factor: usize, seed: u64) -> HostCsr {
    let (n, mut random) = (1usize << scale, Random::new(seed));
    let mut rows = vec![Vec::new(); n];
    for _ in 0..edge_factor * n {
        let (mut row, mut column) = (0, 0);
        for _ in 0..scale {
            let drawn = random.uniform();
            row = 2 * row + usize::from(drawn >= 0.76);
            column = 2 * column + i64::from((0.57..0.76).contains(&drawn) || drawn >= 0.95);
        }
        rows[row].push((column, 1.0));
    }
    HostCsr::from_rows(n, rows.into_iter())
}

/// A growing graph with preferential attachment (Barabasi and Albert 1999): each new node gets `links` edges,
/// preferably to nodes that already have many. Symmetric.
pub fn power_law(n: usize, links: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let mut rows = vec![Vec::new(); n];
    // Each edge stands here with both of its ends, so that one of these is an end with the right probability.
    let mut ends: Vec<usize> = Vec::with_capacity(2 * n * links);
    for node in 1..n {
        for _ in 0..links.min(node) {
            let other = if ends.is_empty() { 0 } else { ends[random.below(ends.len())] };
            let other = if other == node { random.below(node) } else { other };
            rows[node].push((other as i64, 1.0));
            rows[other].push((node as i64, 1.0));
            ends.extend([node, other]);
        }
    }
    HostCsr::from_rows(n, rows.into_iter())
}

/// A random banded matrix: `row_length` off-diagonal elements per row within `bandwidth` of the diagonal. Strictly
/// diagonally dominant.
pub fn banded(n: usize, bandwidth: usize, row_length: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let row = |k: usize| {
        let low = k.saturating_sub(bandwidth);
        let width = (k + bandwidth + 1).min(n) - low;
        let mut row: Vec<(i64, f64)> =
            (0..row_length).map(|_| ((low + random.below(width)) as i64, random.uniform() - 0.5)).collect();
        row.push((k as i64, 1.0 + row.iter().map(|element| element.1.abs()).sum::<f64>()));
        row
    };
    HostCsr::from_rows(n, (0..n).map(row))
}

/// A circuit-like matrix: about four elements per row, and `dense` full rows and columns. Symmetric positive definite.
pub fn circuit(n: usize, dense: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let mut rows = vec![Vec::new(); n];
    let mut join = |a: usize, b: usize, value: f64| {
        if a != b {
            for (row, column) in [(a, b), (b, a)] {
                rows[row].push((column as i64, -value));
                rows[row].push((row as i64, value));
            }
        }
    };
    for node in 0..n {
        (0..2).for_each(|_| join(node, random.below(n), random.uniform()));
    }
    for node in 0..dense.min(n) {
        (dense..n).for_each(|other| join(node, other, 1e-3));
    }
    rows.iter_mut().enumerate().for_each(|(row, elements)| elements.push((row as i64, 1.0)));
    HostCsr::from_rows(n, rows.into_iter())
}

/// A wide matrix as in linear programs: every tenth row is empty, the others have `row_length` random elements.
pub fn linear_program(shape: [usize; 2], row_length: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let row = |k: usize| {
        let length = if k % 10 == 9 || shape[1] == 0 { 0 } else { row_length };
        (0..length).map(|_| (random.below(shape[1]) as i64, random.uniform() - 0.5)).collect()
    };
    HostCsr::from_rows(shape[1], (0..shape[0]).map(row))
}

/// A block diagonal matrix of dense blocks of `block` rows each.
pub fn block_diagonal(n: usize, block: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let row = |k: usize| {
        let first = k - k % block.max(1);
        let columns = first..(first + block.max(1)).min(n);
        let own = columns.len() as f64;
        columns.map(|column| (column as i64, random.uniform() - 0.5 + if column == k { own } else { 0.0 })).collect()
    };
    HostCsr::from_rows(n, (0..n).map(row))
}

/// A road network: a planar grid of nodes without lakes (squares whose nodes have no edges) and two fifths of the
/// edges, so that most nodes have two or three neighbours. Elements are lengths; symmetric.
pub fn road_network(side: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let mut is_lake = vec![false; side * side];
    let width = (side / 10).max(1);
    for _ in 0..side / 8 {
        let [top, left] = [random.below(side), random.below(side)];
        for row in top..(top + width).min(side) {
            is_lake[row * side + left..row * side + (left + width).min(side)].fill(true);
        }
    }
    let mut rows = vec![Vec::new(); side * side];
    for node in 0..side * side {
        let right = if node % side + 1 < side { Some(node + 1) } else { None };
        let below = Some(node + side).filter(|&below| below < side * side);
        for other in [right, below].into_iter().flatten() {
            let (drawn, length) = (random.uniform(), 0.5 + random.uniform());
            if drawn < 0.6 && !is_lake[node] && !is_lake[other] {
                rows[node].push((other as i64, length));
                rows[other].push((node as i64, length));
            }
        }
    }
    HostCsr::from_rows(side * side, rows.into_iter())
}

/// An arrow matrix: a full first row, a full first column and a diagonal.
pub fn arrow(n: usize) -> HostCsr {
    let row = |k: usize| match k {
        0 => (0..n).map(|column| (column as i64, if column == 0 { n as f64 } else { 1.0 })).collect(),
        _ => vec![(0, 1.0), (k as i64, 2.0)],
    };
    HostCsr::from_rows(n, (0..n).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::check_structure;

    fn row(matrix: &HostCsr, row: usize) -> Vec<(i64, f64)> {
        let range = matrix.indptr[row] as usize..matrix.indptr[row + 1] as usize;
        range.map(|k| (matrix.indices[k], matrix.data[k])).collect()
    }

    #[test]
    fn stencils_end_at_the_boundary() {
        let matrix = poisson(&[2, 3]);
        assert_eq!(row(&matrix, 0), [(0, 4.0), (1, -1.0), (3, -1.0)]);
        assert_eq!(row(&matrix, 4), [(1, -1.0), (3, -1.0), (4, 4.0), (5, -1.0)]);
        assert_eq!(poisson(&[3, 3, 3]).indptr.last(), Some(&(27 * 7 - 6 * 9)));
        assert_eq!(row(&poisson_box(&[3, 3, 3]), 13).len(), 27);
        assert_eq!(poisson_box(&[3, 3]).data.iter().filter(|&&x| x == 8.0).count(), 9);
    }

    #[test]
    fn every_matrix_is_one_and_the_same_each_time() {
        let all = || {
            [
                poisson(&[7]),
                anisotropic([4, 5], 0.01),
                convection_diffusion([5, 4], 3.0),
                rmat(6, 8, 1),
                power_law(60, 3, 2),
                banded(50, 7, 4, 3),
                circuit(40, 2, 4),
                linear_program([30, 70], 5, 5),
                block_diagonal(30, 8, 6),
                arrow(9),
                road_network(20, 7),
                elasticity(&[3, 4], 1.0, 0.3),
                elasticity(&[2, 3, 2], 1.0, 0.3),
                delaunay(7, false, 8),
                delaunay(7, true, 8),
                quadratic_tetrahedra([2, 1, 2]),
                discontinuous([3, 2], 4, 9),
            ]
        };
        for (matrix, again) in all().iter().zip(all()) {
            check_structure(matrix.shape, &matrix.indices, &matrix.indptr).unwrap();
            assert_eq!(matrix.indices.len(), matrix.data.len());
            assert_eq!(matrix, &again);
            for pair in matrix.indptr.windows(2) {
                let columns = &matrix.indices[pair[0] as usize..pair[1] as usize];
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "columns ascend");
            }
        }
        assert_ne!(rmat(6, 8, 1), rmat(6, 8, 2));
        assert_eq!(rmat(6, 8, 1).data.iter().sum::<f64>(), 512.0);
    }

    #[test]
    fn flows_make_matrices_that_are_not_symmetric() {
        let matrix = convection_diffusion([3, 3], 2.0);
        assert_eq!(row(&matrix, 4), [(1, -1.0), (3, -3.0), (4, 6.0), (5, -1.0), (7, -1.0)]);
        let other = convection_diffusion([3, 3], -2.0);
        assert_eq!(row(&other, 4), [(1, -1.0), (3, -1.0), (4, 6.0), (5, -3.0), (7, -1.0)]);
    }
}
