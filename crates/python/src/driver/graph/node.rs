//! `GraphNode`, and the lists of nodes that methods of graphs take and return.

use crate::driver::graph::PyGraph;
use crate::driver::graph::capture::retained_object;
use crate::driver::graph::node_params::{KernelNodeUpdate, updated_kernel_node};
use crate::driver::launch::function::PyFunction;
use crate::enums::enum_member;
use crate::errors::OrRaise;
use crate::integer::optional_int;
use crate::resource_lifetime::{DropDetached, ReadyArgument, impl_from_core};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::{GraphNode, sys};

/// The nodes that a new one comes after: a sequence, or a single node.
pub(crate) struct NodeList<'py>(Vec<Bound<'py, PyGraphNode>>);

impl<'py> FromPyObject<'_, 'py> for NodeList<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(node) = object.cast::<PyGraphNode>() {
            return Ok(Self(vec![node.to_owned()]));
        }
        object.extract().map(Self).map_err(|_| {
            let shown = crate::errors::shown(&object);
            PyTypeError::new_err(format!("dependencies is {shown}; expected a GraphNode or a sequence of them"))
        })
    }
}

pub(crate) type NodePairs<'py> = Vec<(Bound<'py, PyGraphNode>, Bound<'py, PyGraphNode>)>;

pub(crate) fn dependency_nodes(nodes: &Option<NodeList<'_>>) -> Vec<GraphNode> {
    nodes.iter().flat_map(|nodes| &nodes.0).map(|node| node.get().0.clone()).collect()
}

pub(crate) fn driver_node_pairs(pairs: &NodePairs<'_>) -> Vec<(GraphNode, GraphNode)> {
    pairs.iter().map(|(from, to)| (from.get().0.clone(), to.get().0.clone())).collect()
}

pub(crate) fn to_python_nodes(nodes: Vec<GraphNode>) -> Vec<PyGraphNode> {
    nodes.into_iter().map(PyGraphNode::from).collect()
}

/// The nodes behind Python's objects, for the methods of streams.
pub(crate) fn to_driver_nodes(nodes: Vec<Bound<'_, PyGraphNode>>) -> Vec<GraphNode> {
    dependency_nodes(&Some(NodeList(nodes)))
}

/// A node of a `Graph`, which it keeps alive.
#[pyclass(name = "GraphNode", module = "rtcg.driver", frozen, eq, subclass, dict, weakref)]
#[derive(PartialEq)]
pub(crate) struct PyGraphNode(pub(crate) DropDetached<GraphNode>);

impl_from_core!(PyGraphNode over GraphNode);

#[pymethods]
impl PyGraphNode {
    /// The kind of the node, a `graph_node_type`.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        enum_member(py, "graph_node_type", self.0.kind().or_raise()?.0)
    }

    /// The graph that the node belongs to.
    #[getter]
    fn graph(&self) -> PyGraph {
        PyGraph::from(self.0.graph().clone())
    }

    /// The nodes that this one directly depends on.
    #[getter]
    fn dependencies(&self) -> PyResult<Vec<PyGraphNode>> {
        self.0.dependencies().or_raise().map(to_python_nodes)
    }

    /// The nodes that directly depend on this one.
    #[getter]
    fn dependents(&self) -> PyResult<Vec<PyGraphNode>> {
        self.0.dependents().or_raise().map(to_python_nodes)
    }

    /// The graph inside a child graph node.
    #[getter]
    fn child_graph(&self) -> PyResult<PyGraph> {
        self.0.child_graph().or_raise().map(PyGraph::from)
    }

    /// The driver's ``CUgraphNode``, an int.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    /// The counterpart of this node in `graph`, a graph made by `Graph.clone`.
    fn find_in_clone(&self, graph: ReadyArgument<'_, PyGraph>) -> PyResult<PyGraphNode> {
        self.0.find_in_clone(&graph.0).or_raise().map(PyGraphNode::from)
    }

    /// Remove the node and its edges from the graph.
    fn remove(&self) -> PyResult<()> {
        self.0.remove().or_raise()
    }

    /// Change the launch for later instantiations of the graph; omitted parameters are kept.
    #[pyo3(signature = (*args, func = None, block = None, grid = None, shared = None))]
    fn kernel_node_set_params(
        &self,
        args: &Bound<'_, PyTuple>,
        func: Option<&Bound<'_, PyFunction>>,
        block: Option<&Bound<'_, PyAny>>,
        grid: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = optional_int)] shared: Option<u32>,
    ) -> PyResult<()> {
        let kernel = updated_kernel_node(self.0.kernel(), args, &KernelNodeUpdate { func, block, grid, shared })?;
        // SAFETY: as when adding.
        unsafe { self.0.set_kernel(kernel) }.or_raise()?;
        self.0.retain_for_node(retained_object(args.as_any()));
        Ok(())
    }

    fn __hash__(&self) -> u64 {
        self.0.handle().addr() as u64
    }

    fn __repr__(&self) -> String {
        let kind = self.0.kind().ok().and_then(sys::CUgraphNodeType::name);
        let kind = kind.map_or("removed", |name| name.trim_start_matches("CU_GRAPH_NODE_TYPE_"));
        format!("<rtcg.driver.GraphNode {kind} at {:#x}>", self.0.handle().addr())
    }
}
