//! The packeted format of `pycuda.sparse`.

use crate::array_calls::{ArrayArg, core_array};
use crate::gpuarray::context::array_context;
use crate::gpuarray::{dtype_of_descr, to_py_result};
use crate::host_buffer::HostBuffer;
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::sparse::{HostPackets, HostStructure, PacketPartition, Packets};

/// The packeted format of a square matrix on the host; see `pycuda.sparse.packeted`.
#[pyclass(name = "PacketedMatrix", module = "rtcg._native", frozen)]
pub(crate) struct PyPacketedMatrix {
    packets: Packets,
    partition: PacketPartition,
    remainder: Vec<(i32, i32, usize)>,
}

#[pymethods]
impl PyPacketedMatrix {
    /// Of elements in C order on the host, and int64 indices; waits.
    #[new]
    fn new(
        data: &Bound<'_, PyUntypedArray>,
        indices: PyReadonlyArray1<'_, i64>,
        indptr: PyReadonlyArray1<'_, i64>,
        max_rows: usize,
        is_symmetric: bool,
    ) -> PyResult<Self> {
        let (py, ctx) = (data.py(), array_context()?);
        let dtype = dtype_of_descr(&data.dtype())?;
        let buffer = HostBuffer::from_object(data, "data")?;
        // SAFETY: the buffer outlives the use, and nobody writes to it meanwhile.
        let bytes = unsafe { buffer.as_bytes() };
        let (indptr, indices) = (indptr.as_slice()?, indices.as_slice()?);
        let n = indptr.len().saturating_sub(1);
        to_py_result(py, rtcg::sparse::check_structure([n, n], indices, indptr))?;
        if bytes.len() != indices.len() * dtype.itemsize() {
            let (n_data, n_indices) = (bytes.len() / dtype.itemsize().max(1), indices.len());
            return Err(PyValueError::new_err(format!("data has {n_data} elements, indices has {n_indices}")));
        }
        let build = || {
            let structure = HostStructure { indptr, indices };
            let partition = PacketPartition::new(structure, max_rows, is_symmetric)?;
            let host = HostPackets::new(structure, bytes, dtype.itemsize(), &partition);
            let packets = Packets::upload(&ctx, &host, &partition, dtype, max_rows)?;
            Ok(Self { packets, partition, remainder: host.remainder })
        };
        to_py_result(py, py.detach(build))
    }

    /// The rows of the matrix in packet order, their positions there, and the start of each packet.
    fn partition<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<i32>>; 3] {
        let partition = &self.partition;
        [&partition.new_to_old, &partition.old_to_new, &partition.base_rows].map(|list| PyArray1::from_slice(py, list))
    }

    /// The rows and columns, in packet order, of elements outside all packets, and the indices of these elements.
    #[allow(clippy::type_complexity, reason = "three arrays")]
    fn remainder<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>) {
        (
            PyArray1::from_iter(py, self.remainder.iter().map(|element| element.0)),
            PyArray1::from_iter(py, self.remainder.iter().map(|element| element.1)),
            PyArray1::from_iter(py, self.remainder.iter().map(|element| element.2 as i64)),
        )
    }

    /// Add the product of the packets and `x` to `y`; does not wait.
    fn multiply_add(&self, x: ArrayArg<'_, '_>, y: ArrayArg<'_, '_>) -> PyResult<()> {
        to_py_result(x.py(), self.packets.multiply_add(&core_array(x), &core_array(y)))
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyPacketedMatrix>()
}
