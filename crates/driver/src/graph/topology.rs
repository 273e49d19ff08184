//! Nodes and edges of a graph: listing, adding and removing.

use super::{Graph, GraphNode};
use crate::error::Result;
use rtcg_cuda_sys::*;
use std::ptr::null_mut;

/// Asks how many there are, then for all of them.
fn query_count_then_list<T: Copy + Default>(mut ask: impl FnMut(*mut T, *mut usize) -> Result<()>) -> Result<Vec<T>> {
    let mut n = 0;
    ask(null_mut(), &raw mut n)?;
    let mut all = vec![T::default(); n];
    if n > 0 {
        ask(all.as_mut_ptr(), &raw mut n)?;
        all.truncate(n);
    }
    Ok(all)
}

impl Graph {
    fn wrap_node_handles(&self, handles: Vec<CUgraphNode>) -> Vec<GraphNode> {
        handles.into_iter().map(|handle| GraphNode::new(self, handle)).collect()
    }

    /// Lists all nodes.
    pub fn nodes(&self) -> Result<Vec<GraphNode>> {
        // SAFETY: the graph is alive; there is room for as many as were announced.
        let all = query_count_then_list(|place, n| unsafe {
            call_if_alive!(self.0.ctx, cuGraphGetNodes(self.0.handle, place, n))
        })?;
        Ok(self.wrap_node_handles(all))
    }

    /// Lists the nodes that depend on no other.
    pub fn root_nodes(&self) -> Result<Vec<GraphNode>> {
        // SAFETY: the graph is alive; as many handles as there is room for are written.
        let all = query_count_then_list(|place, n| unsafe {
            call_if_alive!(self.0.ctx, cuGraphGetRootNodes(self.0.handle, place, n))
        })?;
        Ok(self.wrap_node_handles(all))
    }

    /// Lists all edges: the second node depends on the first.
    pub fn edges(&self) -> Result<Vec<(GraphNode, GraphNode)>> {
        let (graph, ctx, mut n) = (self.0.handle, &self.0.ctx, 0);
        let has_data = ctx.driver_table().has_function(DriverFn::cuGraphGetEdges);
        let ask = |from: &mut [CUgraphNode], to: &mut [CUgraphNode], data: &mut [CUgraphEdgeData], n: &mut usize| {
            let place = |nodes: &mut [CUgraphNode]| if nodes.is_empty() { null_mut() } else { nodes.as_mut_ptr() };
            let (from, to) = (place(from), place(to));
            let data = if data.is_empty() { null_mut() } else { data.as_mut_ptr() };
            // SAFETY: the graph is alive; there is room for as many as were announced.
            unsafe {
                if has_data {
                    call_if_alive!(ctx, cuGraphGetEdges(graph, from, to, data, n))
                } else {
                    call_if_alive!(ctx, cuGraphGetEdges_v1(graph, from, to, n))
                }
            }
        };
        ask(&mut [], &mut [], &mut [], &mut n)?;
        let (mut from, mut to) = (vec![CUgraphNode::null(); n], vec![CUgraphNode::null(); n]);
        if n > 0 {
            ask(&mut from, &mut to, &mut vec![CUgraphEdgeData::default(); n], &mut n)?;
        }
        let node = |handle| GraphNode::new(self, handle);
        Ok(from.into_iter().zip(to).take(n).map(|(from, to)| (node(from), node(to))).collect())
    }

    /// Adds edges: in each pair the second node depends on the first.
    pub fn add_dependencies(&self, pairs: &[(GraphNode, GraphNode)]) -> Result<()> {
        let (from, to) = self.node_handle_pairs("cuGraphAddDependencies", pairs)?;
        let (graph, ctx, n) = (self.0.handle, &self.0.ctx, from.len());
        // SAFETY: the nodes are alive and of this graph.
        unsafe {
            if ctx.driver_table().has_function(DriverFn::cuGraphAddDependencies) {
                call_if_alive!(ctx, cuGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), null_mut(), n))
            } else {
                call_if_alive!(ctx, cuGraphAddDependencies_v1(graph, from.as_ptr(), to.as_ptr(), n))
            }
        }
    }

    /// Removes edges.
    pub fn remove_dependencies(&self, pairs: &[(GraphNode, GraphNode)]) -> Result<()> {
        let (from, to) = self.node_handle_pairs("cuGraphRemoveDependencies", pairs)?;
        let (graph, ctx, n) = (self.0.handle, &self.0.ctx, from.len());
        // SAFETY: the nodes are alive and of this graph.
        unsafe {
            if ctx.driver_table().has_function(DriverFn::cuGraphRemoveDependencies) {
                call_if_alive!(ctx, cuGraphRemoveDependencies(graph, from.as_ptr(), to.as_ptr(), null_mut(), n))
            } else {
                call_if_alive!(ctx, cuGraphRemoveDependencies_v1(graph, from.as_ptr(), to.as_ptr(), n))
            }
        }
    }

    fn node_handle_pairs(
        &self,
        call: &'static str,
        pairs: &[(GraphNode, GraphNode)],
    ) -> Result<(Vec<CUgraphNode>, Vec<CUgraphNode>)> {
        let handles = pairs
            .iter()
            .map(|(from, to)| Ok((self.checked_node_handle(call, from)?, self.checked_node_handle(call, to)?)));
        handles.collect::<Result<Vec<_>>>().map(|pairs| pairs.into_iter().unzip())
    }
}

impl GraphNode {
    /// The nodes on which this node depends directly.
    pub fn dependencies(&self) -> Result<Vec<GraphNode>> {
        let pairs = self.graph().edges()?.into_iter();
        Ok(pairs.filter(|(_, to)| to == self).map(|(from, _)| from).collect())
    }

    /// The nodes that depend directly on this node.
    pub fn dependents(&self) -> Result<Vec<GraphNode>> {
        let pairs = self.graph().edges()?.into_iter();
        Ok(pairs.filter(|(from, _)| from == self).map(|(_, to)| to).collect())
    }
}
