//! Graphs as CSR matrices: connected components on the device, and sequential traversals on the host.

use crate::csr::Csr;
use crate::kernels::THREADS;
use crate::kernels::components::{ComponentsSpec, ComponentsStage};
use crate::structure::IndexElement;
use rtcg_array::{GpuArray, Order, array_args};
use rtcg_hal::{ArrayError, DType, Result};

/// What is no node.
const NONE: i32 = -9999;

impl Csr {
    /// Returns for each node of the graph the smallest node of its connected component, as int32; stored elements are
    /// undirected edges (Jaiganesh and Burtscher 2018). Enqueued.
    ///
    /// # Errors
    /// When the matrix is not square or has 2^31 rows, or the device fails.
    pub fn component_roots(&self) -> Result<GpuArray> {
        let [nodes, columns] = self.shape();
        if nodes != columns || nodes > i32::MAX as usize {
            return Err(ArrayError::value_error(format!(
                "a graph of {nodes} rows and {columns} columns; expected as many, below 2**31"
            )));
        }
        let ctx = self.context();
        let parents = GpuArray::empty(ctx, &[nodes], DType::I32, Order::C)?;
        let launch = |stage, arrays: &[&GpuArray], numbers: &[usize], work: usize| {
            if work == 0 {
                return Ok(());
            }
            let mut args = array_args(arrays)?;
            numbers.iter().for_each(|&n| args.push_i64(n as i64));
            let spec = ComponentsSpec { index: self.indices().dtype(), stage };
            ctx.launch(&spec, ctx.device_info().grid_block_count(work), THREADS, &args)
        };
        launch(ComponentsStage::Start, &[&parents], &[nodes], nodes)?;
        launch(ComponentsStage::Hook, &[&parents, self.indices(), self.indptr()], &[nodes, self.nnz()], self.nnz())?;
        launch(ComponentsStage::Flatten, &[&parents], &[nodes], nodes)?;
        Ok(parents)
    }
}

/// The neighbours of a node, in their order.
fn neighbours<'a, I: IndexElement>(indices: &'a [I], indptr: &[I], node: usize) -> impl Iterator<Item = usize> + 'a {
    let (first, end) = (indptr[node].to_i64() as usize, indptr[node + 1].to_i64() as usize);
    indices[first..end].iter().map(|index| index.to_i64() as usize)
}

/// Returns the number of strongly connected components of a graph, and the component of each node (Tarjan 1972). A
/// component has a smaller number than the components that lead to it.
pub fn strong_components<I: IndexElement>(indices: &[I], indptr: &[I]) -> (usize, Vec<i32>) {
    let nodes = indptr.len() - 1;
    let (mut labels, mut order, mut low) = (vec![-1i32; nodes], vec![usize::MAX; nodes], vec![0usize; nodes]);
    let (mut open, mut path) = (Vec::new(), Vec::new());
    let (mut visited, mut components) = (0, 0);
    for start in 0..nodes {
        if order[start] != usize::MAX {
            continue;
        }
        path.push((start, indptr[start].to_i64() as usize));
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if order[node] == usize::MAX {
                (order[node], low[node]) = (visited, visited);
                visited += 1;
                open.push(node);
            }
            if *edge < indptr[node + 1].to_i64() as usize {
                let next = indices[*edge].to_i64() as usize;
                *edge += 1;
                if order[next] == usize::MAX {
                    path.push((next, indptr[next].to_i64() as usize));
                } else if labels[next] < 0 {
                    low[node] = low[node].min(order[next]);
                }
                continue;
            }
            path.pop();
            if let Some(&(before, _)) = path.last() {
                low[before] = low[before].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    labels[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    (components as usize, labels)
}

/// Returns the nodes in breadth-first order, and the predecessor of each node (-9999 for the first node and for those
/// that are not reached). `back` has the reversed edges, if these count too.
///
/// # Errors
/// When the first node does not exist.
pub fn breadth_first_order<I: IndexElement>(
    indices: &[I],
    indptr: &[I],
    back: Option<[&[I]; 2]>,
    start: usize,
) -> Result<(Vec<i32>, Vec<i32>)> {
    let nodes = indptr.len() - 1;
    if start >= nodes {
        return Err(ArrayError::value_error(format!("i_start is {start}; expected less than {nodes}")));
    }
    let (mut order, mut predecessors) = (vec![start as i32], vec![NONE; nodes]);
    let mut is_reached = vec![false; nodes];
    is_reached[start] = true;
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        let backward = back.map(|[indices, indptr]| neighbours(indices, indptr, node as usize));
        for next in neighbours(indices, indptr, node as usize).chain(backward.into_iter().flatten()) {
            if !is_reached[next] {
                is_reached[next] = true;
                predecessors[next] = node;
                order.push(next as i32);
            }
        }
    }
    Ok((order, predecessors))
}

/// Computes a permutation of rows and columns that gives a matrix of symmetric structure a small bandwidth (Cuthill and
/// McKee 1969, reversed after George 1971): a breadth-first search from a node of minimum degree in each component,
/// visiting neighbours in order of degree.
pub fn reverse_cuthill_mckee<I: IndexElement>(indices: &[I], indptr: &[I]) -> Vec<i32> {
    let nodes = indptr.len() - 1;
    let degree = |node: usize| indptr[node + 1].to_i64() - indptr[node].to_i64();
    let mut starts: Vec<usize> = (0..nodes).collect();
    starts.sort_by_key(|&node| degree(node));
    let mut is_reached = vec![false; nodes];
    let mut order: Vec<i32> = Vec::with_capacity(nodes);
    for start in starts {
        if is_reached[start] {
            continue;
        }
        is_reached[start] = true;
        let mut at = order.len();
        order.push(start as i32);
        while let Some(&node) = order.get(at) {
            at += 1;
            let first = order.len();
            for next in neighbours(indices, indptr, node as usize) {
                if !is_reached[next] {
                    is_reached[next] = true;
                    order.push(next as i32);
                }
            }
            order[first..].sort_by_key(|&next| degree(next as usize));
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    // 0 -> 1 -> 2 -> 0, 2 -> 3, 4 alone.
    const INDPTR: [i32; 6] = [0, 1, 2, 4, 4, 4];
    const INDICES: [i32; 4] = [1, 2, 0, 3];

    #[test]
    fn a_circle_is_one_strong_component() {
        let (count, labels) = strong_components(&INDICES, &INDPTR);
        assert_eq!((count, labels), (3, vec![1, 1, 1, 0, 2]));
    }

    #[test]
    fn nodes_are_reached_level_by_level() {
        let (order, from) = breadth_first_order(&INDICES, &INDPTR, None, 1).unwrap();
        assert_eq!((order, from), (vec![1, 2, 0, 3], vec![2, NONE, 1, 2, NONE]));
        assert!(breadth_first_order(&INDICES, &INDPTR, None, 5).is_err());
    }

    #[test]
    fn a_shuffled_path_gets_bandwidth_one() {
        // The path 3 - 0 - 2 - 1.
        let order = reverse_cuthill_mckee(&[2i64, 3, 2, 0, 1, 0], &[0, 2, 3, 5, 6]);
        let place = |node| order.iter().position(|&other| other == node).unwrap() as i64;
        assert!([(3, 0), (0, 2), (2, 1)].iter().all(|&(a, b)| (place(a) - place(b)).abs() == 1), "{order:?}");
    }
}
