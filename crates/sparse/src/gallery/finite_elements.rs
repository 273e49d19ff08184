//! Finite element matrices: elasticity, a Delaunay mesh of triangles, quadratic tetrahedra, and dense blocks as in
//! discontinuous Galerkin methods.

use super::{HostCsr, Random};
use std::collections::HashMap;

/// Rows to which the matrices of elements are added. Elements name their unknowns; those on a fixed boundary have none.
struct Assembly {
    rows: Vec<Vec<(i64, f64)>>,
}

impl Assembly {
    fn new(n: usize) -> Self {
        Self { rows: vec![Vec::new(); n] }
    }

    fn add(&mut self, unknowns: &[Option<usize>], local: impl Fn(usize, usize) -> f64) {
        for (i, row) in unknowns.iter().enumerate() {
            let Some(row) = row else { continue };
            let elements = unknowns.iter().enumerate().filter_map(|(j, column)| Some(((*column)? as i64, local(i, j))));
            self.rows[*row].extend(elements);
        }
    }

    fn finish(self) -> HostCsr {
        HostCsr::from_rows(self.rows.len(), self.rows.into_iter())
    }
}

/// Places of a grid with the last axis fastest.
fn positions(lengths: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..lengths.iter().product()).map(|place: usize| {
        let (mut rest, mut position) = (place, vec![0; lengths.len()]);
        for (axis, &length) in lengths.iter().enumerate().rev() {
            position[axis] = rest % length;
            rest /= length;
        }
        position
    })
}

/// The number of an inner point of a grid whose `position` counts the boundary too.
fn inner(position: &[usize], lengths: &[usize]) -> Option<usize> {
    position.iter().zip(lengths).try_fold(0, |number, (&at, &length)| {
        if (1..=length).contains(&at) { Some(number * length + at - 1) } else { None }
    })
}

/// Linear elasticity of a square or cube with multilinear elements (2 or 3 axes) around `lengths` inner points, fixed
/// at the boundary; with Young's modulus and Poisson's ratio. Each point has one unknown per axis, numbered
/// consecutively.
pub fn elasticity(lengths: &[usize], young: f64, poisson: f64) -> HostCsr {
    let axes = lengths.len();
    let local = local_elasticity(axes, young, poisson);
    let n: usize = lengths.iter().product();
    let mut assembly = Assembly::new(n * axes);
    let cells: Vec<usize> = lengths.iter().map(|length| length + 1).collect();
    for cell in positions(&cells) {
        let mut unknowns = Vec::with_capacity(axes << axes);
        for corner in 0..1usize << axes {
            let at: Vec<usize> = cell.iter().enumerate().map(|(axis, &at)| at + (corner >> axis & 1)).collect();
            let point = inner(&at, lengths);
            unknowns.extend((0..axes).map(|axis| point.map(|point| point * axes + axis)));
        }
        assembly.add(&unknowns, |i, j| local[i][j]);
    }
    assembly.finish()
}

/// The matrix of a unit cell: `lambda div u div v + 2 mu eps(u) : eps(v)`, by two Gauss points on each axis.
fn local_elasticity(axes: usize, young: f64, poisson: f64) -> Vec<Vec<f64>> {
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let mu = young / (2.0 * (1.0 + poisson));
    let corners = 1usize << axes;
    let mut local = vec![vec![0.0; corners * axes]; corners * axes];
    let gauss = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
    for point in 0..corners {
        let at: Vec<f64> = (0..axes).map(|axis| gauss[point >> axis & 1]).collect();
        let slope = |corner: usize, axis: usize| -> f64 {
            let factor = |other: usize| {
                let is_far = corner >> other & 1 == 1;
                match (other == axis, is_far) {
                    (true, true) => 1.0,
                    (true, false) => -1.0,
                    (false, true) => at[other],
                    (false, false) => 1.0 - at[other],
                }
            };
            (0..axes).map(factor).product()
        };
        for (a, i, b, j) in (0..corners * axes).flat_map(|row| {
            (0..corners * axes).map(move |column| (row / axes, row % axes, column / axes, column % axes))
        }) {
            let shear = slope(a, j) * slope(b, i);
            let together: f64 = if i == j { (0..axes).map(|axis| slope(a, axis) * slope(b, axis)).sum() } else { 0.0 };
            let term = lambda * slope(a, i) * slope(b, j) + mu * (shear + together);
            local[a * axes + i][b * axes + j] += term / corners as f64;
        }
    }
    // Both halves are the same bits, whatever the rounding.
    for (row, column) in (0..local.len()).flat_map(|row| (0..row).map(move |column| (row, column))) {
        local[row][column] = local[column][row];
    }
    local
}

/// Mass plus stiffness of linear elements on a Delaunay mesh of `side * side` randomly displaced grid points. Numbered
/// as in the grid, or in random order.
pub fn delaunay(side: usize, is_permuted: bool, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let points: Vec<[f64; 2]> =
        (0..side * side).map(|k| [k / side, k % side].map(|at| at as f64 + 0.5 * (random.uniform() - 0.5))).collect();
    let mut number: Vec<usize> = (0..points.len()).collect();
    if is_permuted {
        (1..number.len()).rev().for_each(|k| number.swap(k, random.below(k + 1)));
    }
    let mut assembly = Assembly::new(points.len());
    for triangle in delaunay_triangles(&points, side) {
        let [a, b, c] = triangle.map(|corner| points[corner]);
        let edges = [[b, c], [c, a], [a, b]].map(|[from, to]| [to[0] - from[0], to[1] - from[1]]);
        let area = signed_area(a, b, c);
        let local = |i: usize, j: usize| {
            let stiffness = (edges[i][0] * edges[j][0] + edges[i][1] * edges[j][1]) / (4.0 * area);
            stiffness + area / if i == j { 6.0 } else { 12.0 }
        };
        assembly.add(&triangle.map(|corner| Some(number[corner])), local);
    }
    assembly.finish()
}

fn signed_area(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

/// Triangles of a grid whose edges are flipped until none has a point within its circle (Lawson 1977).
fn delaunay_triangles(points: &[[f64; 2]], side: usize) -> Vec<[usize; 3]> {
    let mut triangles = Vec::new();
    for k in (0..side.saturating_sub(1)).flat_map(|row| (0..side - 1).map(move |column| row * side + column)) {
        triangles.push([k, k + side, k + 1]);
        triangles.push([k + 1, k + side, k + side + 1]);
    }
    // The triangle on the left of each directed edge.
    let mut left: HashMap<(usize, usize), usize> = HashMap::new();
    let edges = |triangle: [usize; 3]| (0..3).map(move |k| (triangle[k], triangle[(k + 1) % 3]));
    for (number, &triangle) in triangles.iter().enumerate() {
        left.extend(edges(triangle).map(|edge| (edge, number)));
    }
    let mut stack: Vec<(usize, usize)> = triangles.iter().flat_map(|&triangle| edges(triangle)).collect();
    while let Some((a, b)) = stack.pop() {
        let (Some(&here), Some(&there)) = (left.get(&(a, b)), left.get(&(b, a))) else { continue };
        let apex = |triangle: [usize; 3]| triangle.into_iter().find(|corner| *corner != a && *corner != b);
        let (Some(c), Some(d)) = (apex(triangles[here]), apex(triangles[there])) else { continue };
        if !is_in_circle([a, b, c].map(|corner| points[corner]), points[d]) {
            continue;
        }
        triangles[here] = [a, d, c];
        triangles[there] = [d, b, c];
        left.remove(&(a, b));
        left.remove(&(b, a));
        for number in [here, there] {
            left.extend(edges(triangles[number]).map(|edge| (edge, number)));
        }
        stack.extend([(a, d), (d, b), (b, c), (c, a)]);
    }
    triangles
}

/// Whether `d` lies clearly within the circle through three points in counterclockwise order.
fn is_in_circle(triangle: [[f64; 2]; 3], d: [f64; 2]) -> bool {
    let [a, b, c] = triangle.map(|point| {
        let (x, y) = (point[0] - d[0], point[1] - d[1]);
        [x, y, x * x + y * y]
    });
    let determinant =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    determinant > 1e-9
}

/// Poisson's equation with quadratic elements on the tetrahedra of a box of `cells` cubes, each split into six (Kuhn),
/// and zero boundary values.
pub fn quadratic_tetrahedra(cells: [usize; 3]) -> HostCsr {
    // Corners and middles of edges are the points of a grid with half the step.
    let lengths = cells.map(|count| (2 * count).saturating_sub(1));
    let mut assembly = Assembly::new(lengths.iter().product());
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for order in orders {
        let mut corners = [[0usize; 3]; 4];
        for step in 0..3 {
            corners[step + 1] = corners[step];
            corners[step + 1][order[step]] += 2;
        }
        let local = local_tetrahedron(order);
        for cell in positions(&cells) {
            let point = |at: [usize; 3]| {
                let at: Vec<usize> = at.iter().zip(&cell).map(|(&at, &cell)| at + 2 * cell).collect();
                inner(&at, &lengths)
            };
            let middles = pairs.map(|(i, j)| point([0, 1, 2].map(|axis| (corners[i][axis] + corners[j][axis]) / 2)));
            let unknowns: Vec<_> = corners.into_iter().map(point).chain(middles).collect();
            assembly.add(&unknowns, |i, j| local[i][j]);
        }
    }
    assembly.finish()
}

/// The stiffness of the four corners and six middles of a tetrahedron that goes along the axes in an order, with unit edges;
/// by a rule of four points, which is exact for polynomials of degree two.
fn local_tetrahedron(order: [usize; 3]) -> [[f64; 10]; 10] {
    // Barycentric coordinates fall from 1 at their corner along the step to the next one.
    let mut slopes = [[0.0; 3]; 4];
    for step in 0..3 {
        slopes[step][order[step]] -= 1.0;
        slopes[step + 1][order[step]] += 1.0;
    }
    let (near, far) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
    let mut local = [[0.0; 10]; 10];
    for point in 0..4 {
        let at: [f64; 4] = std::array::from_fn(|corner| if corner == point { near } else { far });
        let mut gradients = [[0.0; 3]; 10];
        for axis in 0..3 {
            for corner in 0..4 {
                gradients[corner][axis] = (4.0 * at[corner] - 1.0) * slopes[corner][axis];
            }
            for (k, (i, j)) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].into_iter().enumerate() {
                gradients[4 + k][axis] = 4.0 * (at[i] * slopes[j][axis] + at[j] * slopes[i][axis]);
            }
        }
        for (i, row) in local.iter_mut().enumerate() {
            for (j, element) in row.iter_mut().enumerate() {
                let product: f64 = (0..3).map(|axis| gradients[i][axis] * gradients[j][axis]).sum();
                *element += product / 24.0;
            }
        }
    }
    local
}

/// Block structure of discontinuous elements: a dense block for each grid cell, and one for each of its neighbours.
/// Symmetric and strictly diagonally dominant.
pub fn discontinuous(lengths: [usize; 2], block: usize, seed: u64) -> HostCsr {
    let mut random = Random::new(seed);
    let [rows, columns] = lengths;
    let n = rows * columns * block;
    let mut assembly = Assembly::new(n);
    let mut couple = |a: usize, b: usize| {
        for (i, j) in (0..block).flat_map(|i| (0..block).map(move |j| (a * block + i, b * block + j))) {
            if a == b && j <= i {
                continue;
            }
            let value = random.uniform() - 0.5;
            for (row, column) in [(i, j), (j, i)] {
                assembly.rows[row].push((column as i64, value));
                assembly.rows[row].push((row as i64, value.abs()));
            }
        }
    };
    for cell in 0..rows * columns {
        couple(cell, cell);
        if cell % columns + 1 < columns {
            couple(cell, cell + 1);
        }
        if cell + columns < rows * columns {
            couple(cell, cell + columns);
        }
    }
    assembly.rows.iter_mut().enumerate().for_each(|(row, elements)| elements.push((row as i64, 1.0)));
    assembly.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(matrix: &HostCsr, x: &[f64]) -> Vec<f64> {
        let row = |range: &[i64]| {
            (range[0] as usize..range[1] as usize).map(|k| matrix.data[k] * x[matrix.indices[k] as usize]).sum()
        };
        matrix.indptr.windows(2).map(row).collect()
    }

    /// `y . A x - x . A y`, of two vectors that have nothing to do with each other.
    fn asymmetry(matrix: &HostCsr) -> f64 {
        let mut random = Random::new(9);
        let mut vector = || (0..matrix.shape[0]).map(|_| random.uniform()).collect::<Vec<_>>();
        let (x, y) = (vector(), vector());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(&y, &times(matrix, &x)) - dot(&x, &times(matrix, &y))).abs() / dot(&y, &times(matrix, &x)).abs()
    }

    #[test]
    fn matrices_of_elements_are_symmetric() {
        let matrices = [
            elasticity(&[4, 3], 1.0, 0.3),
            elasticity(&[3, 2, 4], 1.0, 0.3),
            delaunay(9, false, 1),
            quadratic_tetrahedra([2, 3, 2]),
            discontinuous([3, 4], 5, 2),
        ];
        for matrix in matrices {
            assert!(asymmetry(&matrix) < 1e-12);
        }
    }

    #[test]
    fn rigid_motions_have_no_strain() {
        // Far enough from the boundary, translations and rotations are in the kernel.
        for lengths in [&[5, 5][..], &[5, 5, 5]] {
            let (axes, matrix) = (lengths.len(), elasticity(lengths, 2.0, 0.25));
            let motion: Vec<f64> = positions(lengths)
                .flat_map(|at| {
                    let mut moved = vec![1.0; axes];
                    (moved[0], moved[1]) = (1.0 - at[1] as f64, 1.0 + at[0] as f64);
                    moved
                })
                .collect();
            let force = times(&matrix, &motion);
            let middle = (0..axes).fold(0, |number, _| number * 5 + 2) * axes;
            assert!(force[middle..middle + axes].iter().all(|part| part.abs() < 1e-12), "{force:?}");
        }
    }

    #[test]
    fn meshes_are_those_of_delaunay() {
        let mut random = Random::new(3);
        let points: Vec<[f64; 2]> =
            (0..64).map(|k| [k / 8, k % 8].map(|at| at as f64 + 0.5 * (random.uniform() - 0.5))).collect();
        let triangles = delaunay_triangles(&points, 8);
        assert_eq!(triangles.len(), 2 * 49);
        for triangle in &triangles {
            let corners = triangle.map(|corner| points[corner]);
            assert!(signed_area(corners[0], corners[1], corners[2]) > 0.0);
            // The boundary is the grid's, not the convex hull, and edges of it are not flipped.
            let outside = |k: &usize| !triangle.contains(k) && is_in_circle(corners, points[*k]);
            let inner = triangle.iter().all(|k| (1..7).contains(&(k / 8)) && (1..7).contains(&(k % 8)));
            assert!(!inner || !(0..64).any(|k| outside(&k)));
        }
        // Constants have no stiffness, so that the sum of all elements is the area.
        let matrix = delaunay(8, true, 3);
        let area: f64 = triangles.iter().map(|t| signed_area(points[t[0]], points[t[1]], points[t[2]])).sum();
        assert!((matrix.data.iter().sum::<f64>() - area).abs() < 1e-10);
    }

    #[test]
    fn quadratic_elements_are_exact_for_quadratic_functions() {
        // -laplace(x^2) = -2, and each row tests with a function: sums of rows far from the boundary vanish, and those of
        // x^2 are -2 times its integral, which is 0 for corners and positive for middles of edges.
        let lengths = [7, 7, 7];
        let matrix = quadratic_tetrahedra([4, 4, 4]);
        assert_eq!(matrix.shape, [343, 343]);
        let middle = inner(&[4, 4, 4], &lengths).unwrap();
        let ones = times(&matrix, &[1.0; 343]);
        assert!(ones[middle].abs() < 1e-12);
        let squares: Vec<f64> = positions(&lengths).map(|at| (at[0] as f64 / 2.0).powi(2)).collect();
        let linear: Vec<f64> = positions(&lengths).map(|at| at[1] as f64).collect();
        assert!(times(&matrix, &linear)[middle].abs() < 1e-12);
        // A corner's function has the integral -volume / 20 over each of its tetrahedra, of which an inner one has 24.
        assert!((times(&matrix, &squares)[middle] - 2.0 * 24.0 / (6.0 * 20.0)).abs() < 1e-12);
    }
}
