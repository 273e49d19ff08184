//! Properties that matrices of the gallery have by construction.

use crate::host_arrays::{Random, assert_close};
use crate::host_matrices::{dense, product, row, transpose};
use rtcg_sparse::check_structure;
use rtcg_sparse::gallery::{self, HostCsr};

fn all() -> Vec<(&'static str, HostCsr)> {
    vec![
        ("poisson", gallery::poisson(&[6, 5, 4])),
        ("poisson_box", gallery::poisson_box(&[7, 9])),
        ("anisotropic", gallery::anisotropic([8, 6], 0.01)),
        ("elasticity", gallery::elasticity(&[4, 5], 1.0, 0.3)),
        ("delaunay", gallery::delaunay(8, false, 1)),
        ("delaunay, permuted", gallery::delaunay(8, true, 1)),
        ("quadratic_tetrahedra", gallery::quadratic_tetrahedra([2, 3, 2])),
        ("discontinuous", gallery::discontinuous([4, 3], 4, 2)),
        ("circuit", gallery::circuit(70, 2, 3)),
        ("power_law", gallery::power_law(80, 3, 4)),
        ("road_network", gallery::road_network(12, 5)),
        ("arrow", gallery::arrow(30)),
    ]
}

#[test]
fn structures_are_canonical_and_symmetric_ones_symmetric() {
    for (name, host) in all() {
        check_structure(host.shape, &host.indices, &host.indptr).unwrap();
        for i in 0..host.shape[0] {
            let columns: Vec<usize> = row(&host, i).map(|(j, _)| j).collect();
            assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{name}: row {i}");
        }
        assert_close(&dense(&transpose(&host)), &dense(&host), 1e-13, name);
    }
}

#[test]
fn energies_are_positive_where_matrices_are_definite() {
    let definite = ["poisson", "poisson_box", "anisotropic", "elasticity", "circuit"];
    for (name, host) in all().into_iter().filter(|(name, _)| definite.contains(name)) {
        let mut random = Random(6);
        for _ in 0..20 {
            let x = random.numbers(host.shape[0]);
            let energy: f64 = product(&host, &x, 1).iter().zip(&x).map(|(y, x)| y * x).sum();
            assert!(energy > 0.0, "{name}: {energy}");
        }
    }
}

#[test]
fn sizes_at_the_edges_make_matrices() {
    assert_eq!(gallery::poisson(&[0]).shape, [0, 0]);
    assert_eq!(gallery::poisson(&[1]).data, [2.0]);
    assert_eq!(gallery::poisson(&[1, 1, 1]).data, [6.0]);
    assert_eq!(gallery::arrow(1).data, [1.0]);
    assert_eq!(gallery::arrow(0).shape, [0, 0]);
    assert_eq!(gallery::rmat(0, 3, 1).data, [3.0]);
    assert_eq!(gallery::power_law(1, 5, 1).data.len(), 0);
    assert_eq!(gallery::banded(1, 10, 0, 1).data, [1.0]);
    assert_eq!(gallery::block_diagonal(10, 4, 1).data.len(), 16 + 16 + 4);
    assert_eq!(gallery::block_diagonal(3, 0, 1).shape, [3, 3]);
    assert_eq!(gallery::linear_program([20, 0], 5, 1).data.len(), 0);
    assert_eq!(gallery::circuit(1, 3, 1).data, [1.0]);
    assert_eq!(gallery::circuit(0, 3, 1).shape, [0, 0]);
    assert_eq!(gallery::road_network(0, 1).shape, [0, 0]);
    assert_eq!(gallery::road_network(1, 1).shape, [1, 1]);
    assert_eq!(gallery::delaunay(2, true, 1).shape, [4, 4]);
    assert_eq!(gallery::elasticity(&[1, 1], 1.0, 0.3).shape, [2, 2]);
}

#[test]
fn random_matrices_keep_their_promises() {
    let banded = gallery::banded(200, 9, 5, 7);
    for i in 0..200 {
        let (mut diagonal, mut others) = (0.0, 0.0);
        for (j, value) in row(&banded, i) {
            assert!(i.abs_diff(j) <= 9);
            if i == j { diagonal = value } else { others += value.abs() }
        }
        assert!(diagonal > others, "row {i} is dominant");
    }
    let program = gallery::linear_program([100, 300], 8, 8);
    for i in 0..100 {
        let length = row(&program, i).count();
        assert!(if i % 10 == 9 { length == 0 } else { (1..=8).contains(&length) }, "row {i}: {length}");
    }
    let (graph, other) = (gallery::rmat(9, 16, 9), gallery::rmat(9, 16, 10));
    assert_eq!(graph.data.iter().sum::<f64>(), 512.0 * 16.0);
    assert_ne!(graph, other);
    let lengths: Vec<usize> = (0..512).map(|i| row(&graph, i).count()).collect();
    assert!(lengths.iter().max().unwrap() > &100 && lengths.iter().min().unwrap() < &10, "some rows are long");
}
