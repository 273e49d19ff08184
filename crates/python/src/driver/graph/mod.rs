//! `Graph`, and memory that exists while one runs. Streams are recorded into graphs in [`capture`], executable graphs
//! are in [`exec`], nodes in [`node`] and [`node_params`].

pub(crate) mod capture;
mod exec;
pub(super) mod node;
mod node_params;

use crate::driver::event::PyEvent;
use crate::driver::graph::capture::retained_object;
use crate::driver::graph::exec::PyGraphExec;
use crate::driver::graph::node::{
    NodeList, NodePairs, PyGraphNode, dependency_nodes, driver_node_pairs, to_python_nodes,
};
use crate::driver::graph::node_params::{
    HostCopy, host_function, memcpy_dtod_params, memcpy_dtoh_params, memcpy_htod_params, memset_params,
    pack_kernel_args,
};
use crate::driver::launch::function::PyFunction;
use crate::driver::launch::geometry::parse_dimensions;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::driver::memory::structured_copy::PyMemcpy3D;
use crate::errors::OrRaise;
use crate::integer::{int, optional_int};
use crate::resource_lifetime::{DropDetached, Ready, ReadyArgument, impl_from_core, impl_new_for_init};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::{Graph, GraphNode, KernelNode, sys};
use std::path::PathBuf;

/// Work defined once, as nodes with dependencies, and launched many times.
///
/// A graph is built node by node, or by capturing a stream (`Stream.begin_capture`). Each ``add_*`` method takes
/// `dependencies`, the nodes (or the single node) of this graph that the new node depends on, and returns the new
/// `GraphNode`. Kernel arguments and copy buffers live as long as the graph and the executable graphs made from it;
/// host memory is read and written when the graph runs.
#[pyclass(name = "Graph", module = "rtcg.driver", frozen, subclass, eq, dict, weakref)]
#[derive(PartialEq)]
pub(crate) struct PyGraph(pub(crate) DropDetached<Graph>);

impl_from_core!(PyGraph over Graph);
impl_new_for_init!(PyGraph, "()");

impl PyGraph {
    fn add_copy_node(
        &self,
        copy: &sys::CUDA_MEMCPY3D,
        after: &[GraphNode],
        owners: &[&Py<PyAny>],
    ) -> PyResult<PyGraphNode> {
        // SAFETY: the host's memory is held by the node; the driver checks the device's.
        let node = unsafe { self.0.add_memcpy_node(copy, after) }.or_raise()?;
        Python::attach(|py| owners.iter().for_each(|owner| node.retain_for_node(retained_object(owner.bind(py)))));
        Ok(PyGraphNode::from(node))
    }
}

#[pymethods]
impl PyGraph {
    fn __init__(&self) -> PyResult<()> {
        self.0.init_value(Graph::new().or_raise()?)
    }

    /// Add a launch of `func`. Arguments are those of a direct call, except `In`, `Out` and `InOut`.
    #[pyo3(signature = (*args, func, block, grid = None, shared = 0, dependencies = None, cooperative = false))]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn add_kernel_node(
        slf: Ready<'_, Self>,
        args: &Bound<'_, PyTuple>,
        func: &Bound<'_, PyFunction>,
        block: &Bound<'_, PyAny>,
        grid: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = int)] shared: u32,
        dependencies: Option<NodeList<'_>>,
        cooperative: bool,
    ) -> PyResult<PyGraphNode> {
        let kernel = KernelNode {
            function: func.get().driver_function().clone(),
            grid: grid.map_or(Ok([1; 3]), |grid| parse_dimensions(grid, "grid"))?,
            block: parse_dimensions(block, "block")?,
            shared_bytes: shared,
            args: pack_kernel_args(func, args)?,
            cooperative,
        };
        // SAFETY: number and sizes of the arguments were checked, and the node holds them; what the
        // kernel does with them is the business of who wrote it.
        let node = unsafe { slf.0.add_kernel_node(kernel, &dependency_nodes(&dependencies)) }.or_raise()?;
        node.retain_for_node(retained_object(args.as_any()));
        Ok(PyGraphNode::from(node))
    }

    /// Copy `size` bytes (default: all of `src`) to the device.
    #[pyo3(signature = (dest, src, size = None, dependencies = None))]
    fn add_memcpy_htod_node(
        slf: Ready<'_, Self>,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = optional_int)] size: Option<usize>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        let HostCopy { copy, owner } = memcpy_htod_params(dest.extract()?, src, size)?;
        slf.add_copy_node(&copy, &dependency_nodes(&dependencies), &[&owner, &dest.clone().unbind()])
    }

    /// Copy `size` bytes (default: as many as `dest` has) to the host.
    #[pyo3(signature = (dest, src, size = None, dependencies = None))]
    fn add_memcpy_dtoh_node(
        slf: Ready<'_, Self>,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = optional_int)] size: Option<usize>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        let HostCopy { copy, owner } = memcpy_dtoh_params(dest, src.extract()?, size)?;
        slf.add_copy_node(&copy, &dependency_nodes(&dependencies), &[&owner, &src.clone().unbind()])
    }

    /// Copy `size` bytes on the device.
    #[pyo3(signature = (dest, src, size, dependencies = None))]
    fn add_memcpy_dtod_node(
        slf: Ready<'_, Self>,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] size: usize,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        let copy = memcpy_dtod_params(dest.extract()?, src.extract()?, size)?;
        slf.add_copy_node(&copy, &dependency_nodes(&dependencies), &[&dest.clone().unbind(), &src.clone().unbind()])
    }

    /// Copy a box; later changes to `copy` do not affect the node.
    #[pyo3(signature = (copy, dependencies = None))]
    fn add_memcpy_node(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        copy: &Bound<'_, PyMemcpy3D>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        let (raw, owners) = copy.get().descriptor_and_owners(py);
        slf.add_copy_node(&raw, &dependency_nodes(&dependencies), &owners.iter().collect::<Vec<_>>())
    }

    /// Fill `height` rows, `pitch` bytes apart, of `count` elements of 1, 2 or 4 bytes.
    #[pyo3(signature = (dest, value, count, element_size = 1, height = 1, pitch = None, dependencies = None))]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn add_memset_node(
        slf: Ready<'_, Self>,
        dest: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] value: u32,
        #[pyo3(from_py_with = int)] count: usize,
        #[pyo3(from_py_with = int)] element_size: u32,
        #[pyo3(from_py_with = int)] height: usize,
        #[pyo3(from_py_with = optional_int)] pitch: Option<usize>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        let fill = memset_params(dest.extract()?, value, count, element_size, height, pitch)?;
        // SAFETY: the node holds the memory; the driver checks the range.
        let node = unsafe { slf.0.add_memset_node(&fill, &dependency_nodes(&dependencies)) }.or_raise()?;
        node.retain_for_node(retained_object(dest));
        Ok(PyGraphNode::from(node))
    }

    /// Call `function` on a thread of the driver. It must not use the driver; its exceptions go to
    /// `sys.unraisablehook`.
    #[pyo3(signature = (function, dependencies = None))]
    fn add_host_node(
        slf: Ready<'_, Self>,
        function: &Bound<'_, PyAny>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        slf.0
            .add_host_node(host_function(function)?, &dependency_nodes(&dependencies))
            .or_raise()
            .map(PyGraphNode::from)
    }

    /// Add a node that does nothing but join others.
    #[pyo3(signature = (dependencies = None))]
    fn add_empty_node(slf: Ready<'_, Self>, dependencies: Option<NodeList<'_>>) -> PyResult<PyGraphNode> {
        slf.0.add_empty_node(&dependency_nodes(&dependencies)).or_raise().map(PyGraphNode::from)
    }

    /// Add a node that records an event at each launch.
    #[pyo3(signature = (event, dependencies = None))]
    fn add_event_record_node(
        slf: Ready<'_, Self>,
        event: ReadyArgument<'_, PyEvent>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        slf.0.add_event_record_node(&event.0, &dependency_nodes(&dependencies)).or_raise().map(PyGraphNode::from)
    }

    /// Add a node that waits for an event at each launch.
    #[pyo3(signature = (event, dependencies = None))]
    fn add_event_wait_node(
        slf: Ready<'_, Self>,
        event: ReadyArgument<'_, PyEvent>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        slf.0.add_event_wait_node(&event.0, &dependency_nodes(&dependencies)).or_raise().map(PyGraphNode::from)
    }

    /// Add a copy of another graph as one node.
    #[pyo3(signature = (graph, dependencies = None))]
    fn add_child_graph_node(
        slf: Ready<'_, Self>,
        graph: ReadyArgument<'_, PyGraph>,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        slf.0.add_child_graph_node(&graph.0, &dependency_nodes(&dependencies)).or_raise().map(PyGraphNode::from)
    }

    /// Allocate memory that exists from this node to the node that frees it, at the same address in every launch.
    #[pyo3(signature = (size, dependencies = None))]
    fn add_memalloc_node(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = int)] size: usize,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<(PyGraphNode, PyGraphAllocation)> {
        let (node, ptr) = slf.0.add_mem_alloc_node(size, &dependency_nodes(&dependencies)).or_raise()?;
        Ok((
            PyGraphNode::from(node),
            PyGraphAllocation { ptr, nbytes: size, _graph: DropDetached::new((*slf.0).clone()) },
        ))
    }

    /// Add a node that frees memory of `add_memalloc_node`.
    #[pyo3(signature = (ptr, dependencies = None))]
    fn add_memfree_node(
        slf: Ready<'_, Self>,
        ptr: DevicePtr,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<PyGraphNode> {
        // SAFETY: the driver takes addresses of graph memory only; what runs later is the program's business.
        unsafe { slf.0.add_mem_free_node(ptr.0, &dependency_nodes(&dependencies)) }.or_raise().map(PyGraphNode::from)
    }

    /// A condition, which kernels set by ``cudaGraphSetConditional``.
    ///
    /// With a `default` it has that value at the start of every launch; otherwise it keeps its last value.
    #[pyo3(signature = (default = None))]
    fn conditional_handle(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = optional_int)] default: Option<u32>,
    ) -> PyResult<u64> {
        Ok(slf.0.create_conditional_handle(default).or_raise()?.0)
    }

    /// Add a node that runs one of `size` graphs, which are filled in afterwards.
    ///
    /// `type` is from `graph_conditional_node_type`: IF runs the first graph if the condition is not 0, else the second
    /// if there is one; WHILE repeats its graph while the condition is not 0; SWITCH runs the graph whose index is the
    /// condition, if there is one.
    #[pyo3(signature = (handle, r#type, size = 1, dependencies = None))]
    fn add_conditional_node(
        slf: Ready<'_, Self>,
        #[pyo3(from_py_with = int)] handle: u64,
        #[pyo3(from_py_with = int)] r#type: u32,
        #[pyo3(from_py_with = int)] size: u32,
        dependencies: Option<NodeList<'_>>,
    ) -> PyResult<(PyGraphNode, Vec<PyGraph>)> {
        let (condition, kind) = (rtcg::driver::ConditionalHandle(handle), sys::CUgraphConditionalNodeType(r#type));
        let after = dependency_nodes(&dependencies);
        let (node, bodies) = slf.0.add_conditional_node(condition, kind, size, &after).or_raise()?;
        Ok((PyGraphNode::from(node), bodies.into_iter().map(PyGraph::from).collect()))
    }

    /// Add edges ``(before, after)``: the second node of each pair depends on the first.
    fn add_dependencies(slf: Ready<'_, Self>, pairs: NodePairs<'_>) -> PyResult<()> {
        slf.0.add_dependencies(&driver_node_pairs(&pairs)).or_raise()
    }

    /// Remove edges ``(before, after)``.
    fn remove_dependencies(slf: Ready<'_, Self>, pairs: NodePairs<'_>) -> PyResult<()> {
        slf.0.remove_dependencies(&driver_node_pairs(&pairs)).or_raise()
    }

    /// All nodes.
    fn get_nodes(slf: Ready<'_, Self>) -> PyResult<Vec<PyGraphNode>> {
        slf.0.nodes().or_raise().map(to_python_nodes)
    }

    /// The nodes without dependencies.
    fn get_root_nodes(slf: Ready<'_, Self>) -> PyResult<Vec<PyGraphNode>> {
        slf.0.root_nodes().or_raise().map(to_python_nodes)
    }

    /// All edges, ``(before, after)``.
    fn get_edges(slf: Ready<'_, Self>) -> PyResult<Vec<(PyGraphNode, PyGraphNode)>> {
        let edges = slf.0.edges().or_raise()?;
        Ok(edges.into_iter().map(|(from, to)| (PyGraphNode::from(from), PyGraphNode::from(to))).collect())
    }

    /// A copy with its own nodes; see `GraphNode.find_in_clone`.
    fn clone(slf: Ready<'_, Self>) -> PyResult<Self> {
        slf.0.duplicate().or_raise().map(Self::from)
    }

    /// Make the graph executable, with `graph_instantiate_flags`. Later changes to the graph do not affect the
    /// result.
    ///
    /// Raises
    /// ------
    /// LogicError
    ///     If the graph has a cycle or a node that the device cannot run.
    #[pyo3(signature = (flags = 0))]
    fn instantiate(
        slf: Ready<'_, Self>,
        py: Python<'_>,
        #[pyo3(from_py_with = int)] flags: u64,
    ) -> PyResult<PyGraphExec> {
        py.detach(|| slf.0.instantiate(flags)).or_raise().map(PyGraphExec::from)
    }

    /// Write the graph in Graphviz's DOT language to a file; `flags` are from `graph_debug_dot_flags`.
    #[pyo3(signature = (path, flags = 0))]
    fn debug_dot_print(slf: Ready<'_, Self>, path: PathBuf, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<()> {
        slf.0.debug_dot_print(&path, flags).or_raise()
    }

    /// The text that `debug_dot_print` writes.
    #[pyo3(signature = (flags = 0))]
    fn dot(slf: Ready<'_, Self>, #[pyo3(from_py_with = int)] flags: u32) -> PyResult<String> {
        slf.0.to_dot(flags).or_raise()
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(slf: Ready<'_, Self>) -> usize {
        slf.0.handle().addr()
    }

    fn __len__(slf: Ready<'_, Self>) -> PyResult<usize> {
        Ok(slf.0.nodes().or_raise()?.len())
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(slf: Ready<'_, Self>) -> String {
        let n = slf.0.nodes().map_or(0, |nodes| nodes.len());
        format!("<rtcg.driver.Graph at {:#x} with {n} nodes>", slf.0.handle().addr())
    }
}

/// Memory that exists while a graph runs; an argument of kernel, copy and memset nodes.
#[pyclass(name = "GraphAllocation", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyGraphAllocation {
    ptr: u64,
    nbytes: usize,
    _graph: DropDetached<Graph>,
}

#[pymethods]
impl PyGraphAllocation {
    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The address, valid between the nodes that allocate and free it.
    fn get_pointer(&self) -> u64 {
        self.ptr
    }

    fn __int__(&self) -> u64 {
        self.ptr
    }

    fn __index__(&self) -> u64 {
        self.ptr
    }

    fn __repr__(&self) -> String {
        format!("<rtcg.driver.GraphAllocation {:#x}, {} bytes>", self.ptr, self.nbytes)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes PyGraph, PyGraphNode, PyGraphAllocation; }?;
    exec::add_to_module(m)?;
    capture::add_to_module(m)
}
