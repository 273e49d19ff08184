//! `GraphExec`.

use crate::driver::event::PyEvent;
use crate::driver::graph::PyGraph;
use crate::driver::graph::capture::retained_object;
use crate::driver::graph::node::PyGraphNode;
use crate::driver::graph::node_params::{
    HostCopy, KernelNodeUpdate, host_function, memcpy_dtod_params, memcpy_dtoh_params, memcpy_htod_params,
    memset_params, updated_kernel_node,
};
use crate::driver::launch::function::PyFunction;
use crate::driver::memory::in_flight_buffers;
use crate::driver::memory::structured_copy::PyMemcpy3D;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::errors::OrRaise;
use crate::integer::{int, optional_int};
use crate::resource_lifetime::{DropDetached, ReadyArgument, impl_from_core};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::{GraphExec, GraphNode, sys};

/// An executable graph.
///
/// Methods named ``*_node_set_params`` change what a node of the original graph does in later launches of this one;
/// the original graph does not change.
#[pyclass(name = "GraphExec", module = "rtcg.driver", frozen, subclass, dict, weakref)]
pub(crate) struct PyGraphExec(DropDetached<GraphExec>);

impl_from_core!(PyGraphExec over GraphExec);

impl PyGraphExec {
    fn set_copy_node_params(&self, node: &GraphNode, copy: &sys::CUDA_MEMCPY3D, owners: &[&Py<PyAny>]) -> PyResult<()> {
        // SAFETY: the host's memory is held for the node; the driver checks the device's.
        unsafe { self.0.set_memcpy(node, copy) }.or_raise()?;
        Python::attach(|py| {
            owners.iter().for_each(|owner| self.0.retain_for_node(node, retained_object(owner.bind(py))))
        });
        Ok(())
    }
}

#[pymethods]
impl PyGraphExec {
    /// Run the graph in stream order; does not wait. Launches of one executable graph never overlap.
    ///
    /// The stream must not be capturing; use `Graph.add_child_graph_node` in that case.
    #[pyo3(signature = (stream = None))]
    fn launch(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        let stream = as_driver_stream(stream)?;
        in_flight_buffers::release_completed();
        py.detach(|| self.0.launch(stream)).or_raise()
    }

    /// Prepare the next launch, which is then faster.
    #[pyo3(signature = (stream = None))]
    fn upload(&self, py: Python<'_>, stream: Option<&Bound<'_, PyStream>>) -> PyResult<()> {
        let stream = as_driver_stream(stream)?;
        py.detach(|| self.0.upload(stream)).or_raise()
    }

    /// Take over the operations of the nodes of `graph`, which must have the same topology.
    ///
    /// Raises
    /// ------
    /// LogicError
    ///     If the graphs differ, with a message that says how; nothing is changed then.
    fn update(&self, py: Python<'_>, graph: ReadyArgument<'_, PyGraph>) -> PyResult<()> {
        let graph = &graph.0;
        py.detach(|| self.0.update(graph)).or_raise()
    }

    /// The `graph_instantiate_flags` of its creation.
    #[getter]
    fn flags(&self) -> PyResult<u64> {
        self.0.flags().or_raise()
    }

    /// The driver's handle, for other libraries.
    #[getter]
    fn handle(&self) -> usize {
        self.0.handle().addr()
    }

    /// Replace the arguments of a kernel node, and whatever else is given. A captured node requires `func` and
    /// `block`.
    #[pyo3(signature = (*args, kernel_node, func = None, block = None, grid = None, shared = None))]
    fn kernel_node_set_params(
        &self,
        args: &Bound<'_, PyTuple>,
        kernel_node: &PyGraphNode,
        func: Option<&Bound<'_, PyFunction>>,
        block: Option<&Bound<'_, PyAny>>,
        grid: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = optional_int)] shared: Option<u32>,
    ) -> PyResult<()> {
        let node = &kernel_node.0;
        let present = self.0.kernel_of_node(node).or_else(|| node.kernel());
        let kernel = updated_kernel_node(present, args, &KernelNodeUpdate { func, block, grid, shared })?;
        // SAFETY: as when adding.
        unsafe { self.0.set_kernel(node, kernel) }.or_raise()?;
        self.0.retain_for_node(node, retained_object(args.as_any()));
        Ok(())
    }

    /// Replace source, destination and size of a copy to the device.
    #[pyo3(signature = (node, dest, src, size = None))]
    fn memcpy_htod_node_set_params(
        &self,
        node: &PyGraphNode,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = optional_int)] size: Option<usize>,
    ) -> PyResult<()> {
        let HostCopy { copy, owner } = memcpy_htod_params(dest.extract()?, src, size)?;
        self.set_copy_node_params(&node.0, &copy, &[&owner, &dest.clone().unbind()])
    }

    /// Replace source, destination and size of a copy to the host.
    #[pyo3(signature = (node, dest, src, size = None))]
    fn memcpy_dtoh_node_set_params(
        &self,
        node: &PyGraphNode,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = optional_int)] size: Option<usize>,
    ) -> PyResult<()> {
        let HostCopy { copy, owner } = memcpy_dtoh_params(dest, src.extract()?, size)?;
        self.set_copy_node_params(&node.0, &copy, &[&owner, &src.clone().unbind()])
    }

    /// Replace source, destination and size of a copy on the device.
    fn memcpy_dtod_node_set_params(
        &self,
        node: &PyGraphNode,
        dest: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] size: usize,
    ) -> PyResult<()> {
        let copy = memcpy_dtod_params(dest.extract()?, src.extract()?, size)?;
        self.set_copy_node_params(&node.0, &copy, &[&dest.clone().unbind(), &src.clone().unbind()])
    }

    /// Replace the parameters of a structured copy.
    fn memcpy_node_set_params(&self, py: Python<'_>, node: &PyGraphNode, copy: &Bound<'_, PyMemcpy3D>) -> PyResult<()> {
        let (raw, owners) = copy.get().descriptor_and_owners(py);
        self.set_copy_node_params(&node.0, &raw, &owners.iter().collect::<Vec<_>>())
    }

    /// Replace the parameters of a fill; they are those of `Graph.add_memset_node`.
    #[pyo3(signature = (node, dest, value, count, element_size = 1, height = 1, pitch = None))]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn memset_node_set_params(
        &self,
        node: &PyGraphNode,
        dest: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = int)] value: u32,
        #[pyo3(from_py_with = int)] count: usize,
        #[pyo3(from_py_with = int)] element_size: u32,
        #[pyo3(from_py_with = int)] height: usize,
        #[pyo3(from_py_with = optional_int)] pitch: Option<usize>,
    ) -> PyResult<()> {
        let fill = memset_params(dest.extract()?, value, count, element_size, height, pitch)?;
        // SAFETY: the memory is held for the node; the driver checks the range.
        unsafe { self.0.set_memset(&node.0, &fill) }.or_raise()?;
        self.0.retain_for_node(&node.0, retained_object(dest));
        Ok(())
    }

    /// Replace the function that a host node calls.
    fn host_node_set_params(&self, node: &PyGraphNode, function: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.set_host_function(&node.0, host_function(function)?).or_raise()
    }

    /// Replace the event of a node that records or waits for one.
    fn event_node_set_event(&self, node: &PyGraphNode, event: ReadyArgument<'_, PyEvent>) -> PyResult<()> {
        self.0.set_event(&node.0, &event.0).or_raise()
    }

    /// Replace a child graph; `graph` must have the topology of the present one.
    fn child_graph_node_set_params(&self, node: &PyGraphNode, graph: ReadyArgument<'_, PyGraph>) -> PyResult<()> {
        self.0.set_child_graph(&node.0, &graph.0).or_raise()
    }

    /// Enable or disable a kernel, copy or memset node.
    fn node_set_enabled(&self, node: &PyGraphNode, enabled: bool) -> PyResult<()> {
        self.0.set_enabled(&node.0, enabled).or_raise()
    }

    /// Whether the node is enabled.
    fn node_get_enabled(&self, node: &PyGraphNode) -> PyResult<bool> {
        self.0.is_enabled(&node.0).or_raise()
    }

    fn __repr__(&self) -> String {
        format!("<rtcg.driver.GraphExec at {:#x}>", self.0.handle().addr())
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyGraphExec>()
}
