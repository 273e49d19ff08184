//! Graphs: components, orders of nodes, and bandwidths, against searches of the host.

use crate::contexts::context;
use crate::host_arrays::{Random, elements, message};
use crate::host_matrices::{devices, from_rows, row, upload};
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{breadth_first_order, reverse_cuthill_mckee, strong_components};

/// A directed graph with so many edges.
fn random_graph(nodes: usize, edges: usize, seed: u64) -> HostCsr {
    let mut random = Random(seed);
    let mut rows = vec![Vec::new(); nodes];
    (0..edges).for_each(|_| rows[random.below(nodes)].push((random.below(nodes), 1.0)));
    from_rows([nodes, nodes], rows)
}

fn graphs() -> Vec<(&'static str, HostCsr)> {
    let path = |nodes: usize| (0..nodes).map(|i| if i > 0 { vec![(i - 1, 1.0)] } else { vec![] }).collect();
    vec![
        ("no nodes", from_rows([0, 0], vec![])),
        ("a node alone", from_rows([1, 1], vec![vec![]])),
        ("a loop", from_rows([2, 2], vec![vec![(0, 1.0)], vec![]])),
        ("a path", from_rows([3000, 3000], path(3000))),
        ("few edges", random_graph(2000, 900, 1)),
        ("some edges", random_graph(2000, 2100, 2)),
        ("many edges", random_graph(500, 9000, 3)),
        ("roads", gallery::road_network(40, 4)),
        ("a star", gallery::arrow(1000)),
    ]
}

/// All nodes that are reached from each node.
fn reached(host: &HostCsr, start: usize) -> Vec<bool> {
    let mut is_reached = vec![false; host.shape[0]];
    let mut open = vec![start];
    is_reached[start] = true;
    while let Some(node) = open.pop() {
        for (next, _) in row(host, node) {
            if !is_reached[next] {
                is_reached[next] = true;
                open.push(next);
            }
        }
    }
    is_reached
}

#[test]
fn roots_are_the_smallest_nodes_of_components() {
    for ctx in devices() {
        for (name, host) in graphs() {
            let nodes = host.shape[0];
            // Union of the ends of all edges.
            let mut roots: Vec<usize> = (0..nodes).collect();
            fn root(roots: &[usize], mut node: usize) -> usize {
                while roots[node] != node {
                    node = roots[node];
                }
                node
            }
            for i in 0..nodes {
                for (j, _) in row(&host, i) {
                    let (a, b) = (root(&roots, i), root(&roots, j));
                    roots[a.max(b)] = a.min(b);
                }
            }
            let wanted: Vec<i32> = (0..nodes).map(|node| root(&roots, node) as i32).collect();
            for _ in 0..2 {
                let found = upload(&ctx, &host).component_roots().unwrap();
                assert!(elements::<i32>(&found) == wanted, "{name}");
            }
        }
    }
    let wide = upload(&context(), &from_rows([2, 3], vec![vec![]; 2]));
    assert_eq!(message(wide.component_roots()), "a graph of 2 rows and 3 columns; expected as many, below 2**31");
}

#[test]
fn nodes_of_a_strong_component_reach_each_other() {
    for (name, host) in [("sparse", random_graph(120, 130, 5)), ("dense", random_graph(90, 200, 6))] {
        let (count, labels) = strong_components(&host.indices, &host.indptr);
        let nodes = host.shape[0];
        let all: Vec<Vec<bool>> = (0..nodes).map(|node| reached(&host, node)).collect();
        for a in 0..nodes {
            for b in 0..nodes {
                let is_one = all[a][b] && all[b][a];
                assert_eq!(labels[a] == labels[b], is_one, "{name}: {a}, {b}");
                assert!(is_one || !all[a][b] || labels[b] < labels[a], "{name}: {a} leads to {b}");
            }
        }
        let mut distinct = labels.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct, (0..count as i32).collect::<Vec<_>>(), "{name}");
    }
    // A circle so long that recursion would end the stack.
    let nodes = 300_000i64;
    let indices: Vec<i64> = (0..nodes).map(|node| (node + 1) % nodes).collect();
    let (count, _) = strong_components(&indices, &(0..=nodes).collect::<Vec<_>>());
    assert_eq!(count, 1);
}

#[test]
fn breadth_first_orders_have_ascending_distances() {
    for (name, host) in graphs().into_iter().skip(1) {
        let nodes = host.shape[0];
        let back = crate::host_matrices::transpose(&host);
        for (is_directed, start) in [(true, 0), (false, nodes / 2)] {
            let backward = (!is_directed).then_some([&back.indices[..], &back.indptr[..]]);
            let (order, predecessors) = breadth_first_order(&host.indices, &host.indptr, backward, start).unwrap();
            let mut distances = vec![None; nodes];
            distances[start] = Some(0);
            for &node in &order[1..] {
                let from = predecessors[node as usize] as usize;
                let has_edge = |graph: &HostCsr, a: usize, b: usize| row(graph, a).any(|(j, _)| j == b);
                assert!(
                    has_edge(&host, from, node as usize) || (!is_directed && has_edge(&back, from, node as usize)),
                    "{name}: {from} to {node}"
                );
                distances[node as usize] = Some(distances[from].expect("a predecessor comes first") + 1);
            }
            let ascending: Vec<usize> = order.iter().map(|&node| distances[node as usize].unwrap()).collect();
            assert!(ascending.is_sorted(), "{name}");
            // No edge leaves what was reached, or spans two levels.
            for a in 0..nodes {
                for (b, _) in row(&host, a) {
                    if let Some(distance) = distances[a] {
                        assert!(distances[b].is_some_and(|other| other <= distance + 1), "{name}: {a} to {b}");
                    }
                }
            }
            let reached = order.len();
            assert_eq!(predecessors.iter().filter(|&&from| from >= 0).count(), reached - 1, "{name}");
        }
        let error = message(breadth_first_order(&host.indices, &host.indptr, None, nodes));
        assert_eq!(error, format!("i_start is {nodes}; expected less than {nodes}"));
    }
}

#[test]
fn reordered_matrices_have_small_bandwidths() {
    let bandwidth = |host: &HostCsr, place: &[usize]| {
        let of_row = |i: usize| row(host, i).map(|(j, _)| place[i].abs_diff(place[j])).max().unwrap_or(0);
        (0..host.shape[0]).map(of_row).max().unwrap_or(0)
    };
    // A grid whose nodes were shuffled has about the bandwidth of the grid again.
    let grid = gallery::poisson(&[12, 30]);
    let n = 360;
    let shuffled: Vec<usize> = (0..n).map(|k| (k * 7 + 3) % n).collect();
    let mut rows = vec![Vec::new(); n];
    (0..n).for_each(|i| rows[shuffled[i]] = row(&grid, i).map(|(j, value)| (shuffled[j], value)).collect());
    let host = from_rows([n, n], rows);
    let order = reverse_cuthill_mckee(&host.indices, &host.indptr);
    let mut place = vec![usize::MAX; n];
    order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
    assert!(place.iter().all(|&at| at < n), "a permutation");
    let before = bandwidth(&host, &(0..n).collect::<Vec<_>>());
    let after = bandwidth(&host, &place);
    assert!(after <= 16 && before > 100, "{before}, then {after}");
    for (name, host) in graphs() {
        let mut order = reverse_cuthill_mckee(&host.indices, &host.indptr);
        order.sort_unstable();
        assert_eq!(order, (0..host.shape[0] as i32).collect::<Vec<_>>(), "{name}: a permutation");
    }
}
