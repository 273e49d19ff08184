//! Nodes of graphs that run one of several graphs.

use super::{AssertSend, Graph};
use rtcg_cuda_sys::{CUgraph, CUgraphConditionalNodeType};
use rtcg_vgpu_exec::graph_conditional::GraphConditional;
use std::sync::Arc;

/// A node that runs one of several graphs.
#[derive(Debug)]
pub(crate) struct ConditionalNode {
    /// What it asks.
    pub(crate) condition: Arc<GraphConditional>,
    /// IF, WHILE or SWITCH.
    pub(crate) kind: CUgraphConditionalNodeType,
    /// The graphs.
    pub(crate) bodies: Vec<Arc<Graph>>,
    /// Their handles.
    #[expect(dead_code, reason = "the program has been given its address")]
    pub(crate) handles: AssertSend<Box<[CUgraph]>>,
}

impl Drop for ConditionalNode {
    fn drop(&mut self) {
        self.condition.release_from_node();
    }
}

impl ConditionalNode {
    /// Which graph runs now, if any.
    pub(crate) fn selected_body(&self) -> Option<usize> {
        let value = self.condition.value();
        let chosen = match self.kind {
            CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH => value as usize,
            CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF => usize::from(value == 0),
            _ if value != 0 => 0,
            _ => return None,
        };
        (chosen < self.bodies.len()).then_some(chosen)
    }

    /// Whether it asks again when the graph has run.
    pub(crate) fn is_while_node(&self) -> bool {
        self.kind == CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE
    }
}
