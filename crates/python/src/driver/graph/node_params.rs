//! What graph nodes do, from the arguments of Python: for the methods of `Graph` that add nodes, and for those of
//! `GraphExec` and `GraphNode` that change them.

use crate::driver::graph::capture::reject_argument_handlers;
use crate::driver::launch::arguments::{PackedArguments, pack_arguments};
use crate::driver::launch::function::PyFunction;
use crate::driver::launch::geometry::parse_dimensions;
use crate::driver::memory::device_pointer::DevicePtr;
use crate::host_buffer::HostBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rtcg::driver::{CopyEndpoint, HostFn, KernelNode, MemsetNode, linear_copy_params, sys};
use std::sync::Arc;

/// A function of Python for a host node. What it raises goes to `sys.unraisablehook`.
pub(crate) fn host_function(function: &Bound<'_, PyAny>) -> PyResult<Box<HostFn>> {
    if !function.is_callable() {
        return Err(PyTypeError::new_err("function is not callable"));
    }
    let function = function.clone().unbind();
    Ok(Box::new(move || {
        Python::attach(|py| {
            if let Err(error) = function.call0(py) {
                error.write_unraisable(py, Some(function.bind(py)));
            }
        });
    }))
}

/// The memory of a host buffer and the device address of a copy between the two.
pub(crate) struct HostCopy {
    pub(crate) copy: sys::CUDA_MEMCPY3D,
    pub(crate) owner: Py<PyAny>,
}

fn checked_copy_bytes(call: &str, size: Option<usize>, device: DevicePtr, host: &HostBuffer<'_>) -> PyResult<usize> {
    let room = host.nbytes();
    let size = size.unwrap_or(room);
    if size > room {
        return Err(PyValueError::new_err(format!("size is {size}, but the buffer has {room} bytes")));
    }
    device.check_bytes(call, size)?;
    Ok(size)
}

pub(crate) fn memcpy_htod_params(dest: DevicePtr, src: &Bound<'_, PyAny>, size: Option<usize>) -> PyResult<HostCopy> {
    let src = HostBuffer::from_object(src, "src")?;
    let size = checked_copy_bytes("cuGraphAddMemcpyNode", size, dest, &src)?;
    let copy = linear_copy_params(CopyEndpoint::Device(dest.0), CopyEndpoint::Host(src.as_ptr()), size);
    Ok(HostCopy { copy, owner: src.owner_object() })
}

pub(crate) fn memcpy_dtoh_params(dest: &Bound<'_, PyAny>, src: DevicePtr, size: Option<usize>) -> PyResult<HostCopy> {
    let dest = HostBuffer::from_writable(dest, "dest")?;
    let size = checked_copy_bytes("cuGraphAddMemcpyNode", size, src, &dest)?;
    let copy = linear_copy_params(CopyEndpoint::Host(dest.as_ptr()), CopyEndpoint::Device(src.0), size);
    Ok(HostCopy { copy, owner: dest.owner_object() })
}

pub(crate) fn memcpy_dtod_params(dest: DevicePtr, src: DevicePtr, size: usize) -> PyResult<sys::CUDA_MEMCPY3D> {
    dest.check_bytes("cuGraphAddMemcpyNode", size)?;
    src.check_bytes("cuGraphAddMemcpyNode", size)?;
    Ok(linear_copy_params(CopyEndpoint::Device(dest.0), CopyEndpoint::Device(src.0), size))
}

pub(crate) fn memset_params(
    dest: DevicePtr,
    value: u32,
    count: usize,
    element_size: u32,
    height: usize,
    pitch: Option<usize>,
) -> PyResult<MemsetNode> {
    if !matches!(element_size, 1 | 2 | 4) {
        return Err(PyValueError::new_err(format!("element_size is {element_size}; expected 1, 2 or 4")));
    }
    let row = count * element_size as usize;
    let pitch = pitch.unwrap_or(row);
    dest.check_bytes("cuGraphAddMemsetNode", if height > 0 { pitch * (height - 1) + row } else { 0 })?;
    Ok(MemsetNode { dst: dest.0, pitch, value, element_size, width: count, height })
}

/// The arguments of a kernel node.
pub(crate) fn pack_kernel_args(func: &Bound<'_, PyFunction>, args: &Bound<'_, PyTuple>) -> PyResult<Vec<u8>> {
    reject_argument_handlers(args)?;
    let PackedArguments { bytes, .. } = pack_arguments(func.get().driver_function(), args)?;
    Ok(bytes.to_vec())
}

/// What a kernel node shall do otherwise than before.
pub(crate) struct KernelNodeUpdate<'a, 'py> {
    pub(crate) func: Option<&'a Bound<'py, PyFunction>>,
    pub(crate) block: Option<&'a Bound<'py, PyAny>>,
    pub(crate) grid: Option<&'a Bound<'py, PyAny>>,
    pub(crate) shared: Option<u32>,
}

/// A kernel like the present one, with what is given replaced.
pub(crate) fn updated_kernel_node(
    present: Option<Arc<KernelNode>>,
    args: &Bound<'_, PyTuple>,
    change: &KernelNodeUpdate<'_, '_>,
) -> PyResult<KernelNode> {
    let missing = |name: &str| {
        PyTypeError::new_err(format!("{name} must be given: the node is no kernel, or one that was captured"))
    };
    let function = match (change.func, &present) {
        (Some(func), _) => func.get().driver_function().clone(),
        (None, Some(present)) => present.function.clone(),
        (None, None) => return Err(missing("func")),
    };
    let block = match (change.block, &present) {
        (Some(block), _) => parse_dimensions(block, "block")?,
        (None, Some(present)) => present.block,
        (None, None) => return Err(missing("block")),
    };
    let grid = match (change.grid, &present) {
        (Some(grid), _) => parse_dimensions(grid, "grid")?,
        (None, Some(present)) => present.grid,
        (None, None) => [1; 3],
    };
    let present_shared = present.as_ref().map_or(0, |present| present.shared_bytes);
    let holder = Bound::new(args.py(), PyFunction::new(function.clone()))?;
    Ok(KernelNode {
        function,
        grid,
        block,
        shared_bytes: change.shared.unwrap_or(present_shared),
        args: pack_kernel_args(&holder, args)?,
        cooperative: present.is_some_and(|present| present.cooperative),
    })
}
