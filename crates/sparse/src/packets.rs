//! The packeted format: rows and columns permuted so that most elements lie in diagonal blocks whose part of the vector
//! fits in shared memory (after Bell and Garland 2008).
//!
//! Elements of a block are stored in slices of 32 rows, side by side, with 16-bit column indices relative to the block.
//! Elements outside of the blocks are left to another format.

use crate::kernels::THREADS;
use crate::kernels::packets::{PacketSpmvSpec, SLICE_ROWS};
use rtcg_array::{GpuArray, Order, push_arrays};
use rtcg_hal::{ArrayContext, ArrayError, DType, LaunchArgs, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// The structure of a square CSR matrix on the host.
#[derive(Debug, Clone, Copy)]
pub struct HostStructure<'a> {
    /// Where rows begin, followed by the number of elements.
    pub indptr: &'a [i64],
    /// The column indices of the elements.
    pub indices: &'a [i64],
}

impl<'a> HostStructure<'a> {
    fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    fn row(&self, row: usize) -> &'a [i64] {
        &self.indices[self.indptr[row] as usize..self.indptr[row + 1] as usize]
    }

    /// The structure of the transpose.
    fn transposed(&self) -> (Vec<i64>, Vec<i64>) {
        let mut starts = vec![0i64; self.rows() + 1];
        self.indices.iter().for_each(|&column| starts[column as usize + 1] += 1);
        (0..self.rows()).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let mut indices = vec![0; self.indices.len()];
        for row in 0..self.rows() {
            for &column in self.row(row) {
                indices[next[column as usize] as usize] = row as i64;
                next[column as usize] += 1;
            }
        }
        (starts, indices)
    }
}

/// The assignment of rows to packets, and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketPartition {
    /// The row of the matrix at each position in packet order.
    pub new_to_old: Vec<i32>,
    /// The position in packet order of each row of the matrix.
    pub old_to_new: Vec<i32>,
    /// Where packets begin in packet order, followed by the number of rows.
    pub base_rows: Vec<i32>,
}

impl PacketPartition {
    /// Partitions the rows into packets of at most `max_rows` rows, filling each as far as possible. Each packet grows
    /// from a row at the edge of the previous ones, always by the row with most neighbours in it; the time is
    /// proportional to the number of elements. `is_symmetric` states that the matrix is its own transpose.
    ///
    /// # Errors
    /// When `max_rows` is 0, or the number of rows does not fit in 32 bits.
    pub fn new(structure: HostStructure<'_>, max_rows: usize, is_symmetric: bool) -> Result<Self> {
        let n = structure.rows();
        if max_rows == 0 || i32::try_from(n).is_err() {
            let message = format!("packets of {max_rows} rows of a matrix of {n} rows; expected 1 to 2^31 - 1 of both");
            return Err(ArrayError::value_error(message));
        }
        let transposed = (!is_symmetric).then(|| structure.transposed());
        let transposed = transposed.as_ref().map(|(indptr, indices)| HostStructure { indptr, indices });
        let packets = n.div_ceil(max_rows);
        let mut growth = Growth::new(structure, transposed);
        let mut base_rows = vec![0];
        for packet in 0..packets {
            // Sizes differ by one row at most.
            growth.grow_packet((n - growth.order.len()) / (packets - packet));
            base_rows.push(growth.order.len() as i32);
        }
        let mut old_to_new = vec![0; n];
        growth.order.iter().enumerate().for_each(|(place, &row)| old_to_new[row as usize] = place as i32);
        Ok(Self { new_to_old: growth.order, old_to_new, base_rows })
    }
}

/// Rows with more neighbours than this in a packet are equally good.
const MAX_GAIN: usize = 31;

/// A partition that grows.
struct Growth<'a> {
    structure: HostStructure<'a>,
    transposed: Option<HostStructure<'a>>,
    order: Vec<i32>,
    is_taken: Vec<bool>,
    /// How many neighbours each row has in the packet that grows.
    gains: Vec<u8>,
    /// Candidates by their gains; those that were taken, or have another gain by now, are skipped.
    buckets: Vec<VecDeque<i32>>,
    /// Rows before this are taken.
    first_free: usize,
}

impl<'a> Growth<'a> {
    fn new(structure: HostStructure<'a>, transposed: Option<HostStructure<'a>>) -> Self {
        let n = structure.rows();
        Self {
            structure,
            transposed,
            order: Vec::with_capacity(n),
            is_taken: vec![false; n],
            gains: vec![0; n],
            buckets: vec![VecDeque::new(); MAX_GAIN + 1],
            first_free: 0,
        }
    }

    fn grow_packet(&mut self, rows: usize) {
        // What was at the edge of the last packet comes first, with no neighbours in this one.
        let edge: Vec<i32> = self.buckets.iter_mut().rev().flat_map(|bucket| bucket.drain(..)).collect();
        for row in edge {
            if !self.is_taken[row as usize] && self.gains[row as usize] > 0 {
                self.gains[row as usize] = 0;
                self.buckets[0].push_back(row);
            }
        }
        for _ in 0..rows {
            let Some(row) = self.next_row() else { return };
            self.take(row);
        }
    }

    fn next_row(&mut self) -> Option<usize> {
        for gain in (0..=MAX_GAIN).rev() {
            while let Some(row) = self.buckets[gain].pop_front() {
                if !self.is_taken[row as usize] && usize::from(self.gains[row as usize]) == gain {
                    return Some(row as usize);
                }
            }
        }
        while *self.is_taken.get(self.first_free)? {
            self.first_free += 1;
        }
        Some(self.first_free)
    }

    fn take(&mut self, row: usize) {
        self.is_taken[row] = true;
        self.order.push(row as i32);
        let both = [Some(self.structure), self.transposed];
        for neighbour in both.into_iter().flatten().flat_map(|structure| structure.row(row)) {
            let neighbour = *neighbour as usize;
            if !self.is_taken[neighbour] && usize::from(self.gains[neighbour]) < MAX_GAIN {
                self.gains[neighbour] += 1;
                self.buckets[usize::from(self.gains[neighbour])].push_back(neighbour as i32);
            }
        }
    }
}

/// The diagonal blocks of a matrix on the host, and the elements outside of them.
#[derive(Debug, Clone)]
pub struct HostPackets {
    /// Elements slice by slice, as bytes; places without an element are 0.
    data: Vec<u8>,
    columns: Vec<u16>,
    /// Elements of each row, in packet order.
    lengths: Vec<i32>,
    /// Where slices begin.
    slice_starts: Vec<i64>,
    /// The first slice of each packet.
    first_slices: Vec<i32>,
    /// The elements outside of the blocks: row and column in packet order, and the index of the element.
    pub remainder: Vec<(i32, i32, usize)>,
}

impl HostPackets {
    /// Extracts the blocks of `partition` from a matrix whose elements have `itemsize` bytes.
    pub fn new(structure: HostStructure<'_>, data: &[u8], itemsize: usize, partition: &PacketPartition) -> Self {
        let n = structure.rows();
        let mut lengths = vec![0i32; n];
        let mut remainder = Vec::new();
        let (mut slice_starts, mut first_slices, mut total) = (Vec::new(), Vec::new(), 0i64);
        let local = |row: usize, range: &std::ops::Range<i32>| {
            let (row, range) = (partition.new_to_old[row] as usize, range.clone());
            let first = structure.indptr[row] as usize;
            structure.row(row).iter().enumerate().map(move |(k, &column)| {
                let column = partition.old_to_new[column as usize];
                (first + k, column, range.contains(&column))
            })
        };
        for packet in partition.base_rows.windows(2) {
            let range = packet[0]..packet[1];
            first_slices.push(slice_starts.len() as i32);
            for slice in (range.start as usize..range.end as usize).step_by(SLICE_ROWS) {
                slice_starts.push(total);
                let rows = slice..(slice + SLICE_ROWS).min(range.end as usize);
                for row in rows.clone() {
                    for (k, column, is_inside) in local(row, &range) {
                        if is_inside {
                            lengths[row] += 1;
                        } else {
                            remainder.push((row as i32, column, k));
                        }
                    }
                }
                total += rows.map(|row| i64::from(lengths[row])).max().unwrap_or(0) * SLICE_ROWS as i64;
            }
        }
        let (mut packed, mut columns) = (vec![0u8; total as usize * itemsize], vec![0u16; total as usize]);
        for (packet, &first_slice) in partition.base_rows.windows(2).zip(&first_slices) {
            let range = packet[0]..packet[1];
            for row in range.start as usize..range.end as usize {
                let in_packet = row - range.start as usize;
                let mut place =
                    slice_starts[first_slice as usize + in_packet / SLICE_ROWS] as usize + in_packet % SLICE_ROWS;
                for (k, column, _) in local(row, &range).filter(|element| element.2) {
                    columns[place] = (column - range.start) as u16;
                    packed[place * itemsize..][..itemsize].copy_from_slice(&data[k * itemsize..][..itemsize]);
                    place += SLICE_ROWS;
                }
            }
        }
        Self { data: packed, columns, lengths, slice_starts, first_slices, remainder }
    }
}

/// The diagonal blocks of a matrix on a device.
#[derive(Debug, Clone)]
pub struct Packets {
    spec: PacketSpmvSpec,
    packets: u32,
    rows: usize,
    data: GpuArray,
    columns: GpuArray,
    lengths: GpuArray,
    slice_starts: GpuArray,
    base_rows: GpuArray,
    first_slices: GpuArray,
}

impl Packets {
    /// Copies the packets to the device; waits. `max_rows` is that of the partition.
    ///
    /// # Errors
    /// When the device is out of memory, or that many rows of `dtype` do not fit in shared memory.
    pub fn upload(
        ctx: &Arc<ArrayContext>,
        host: &HostPackets,
        partition: &PacketPartition,
        dtype: DType,
        max_rows: usize,
    ) -> Result<Self> {
        const MAX_STATIC_SMEM_BYTES: usize = 48 << 10;
        if max_rows * dtype.itemsize() > MAX_STATIC_SMEM_BYTES || max_rows > 1 << 16 {
            let message = format!("packets of {max_rows} rows of {dtype}; expected at most 65536, and 49152 bytes");
            return Err(ArrayError::value_error(message));
        }
        let array = |dtype: DType, bytes: &[u8]| {
            let array = GpuArray::empty(ctx, &[bytes.len() / dtype.itemsize()], dtype, Order::C)?;
            array.write(bytes, Order::C)?;
            Ok::<_, ArrayError>(array)
        };
        let ints = |values: &[i32]| {
            array(DType::I32, &values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>())
        };
        let columns: Vec<u8> = host.columns.iter().flat_map(|column| column.to_ne_bytes()).collect();
        let starts: Vec<u8> = host.slice_starts.iter().flat_map(|start| start.to_ne_bytes()).collect();
        Ok(Self {
            spec: PacketSpmvSpec { dtype, max_rows: max_rows as u32 },
            packets: host.first_slices.len() as u32,
            rows: host.lengths.len(),
            data: array(dtype, &host.data)?,
            columns: array(DType::U16, &columns)?,
            lengths: ints(&host.lengths)?,
            slice_starts: array(DType::I64, &starts)?,
            base_rows: ints(&partition.base_rows)?,
            first_slices: ints(&host.first_slices)?,
        })
    }

    /// Adds the product of the blocks and `x` to `y`, both in packet order; enqueued.
    ///
    /// # Errors
    /// When the vectors do not fit, or the device fails.
    pub fn multiply_add(&self, x: &GpuArray, y: &GpuArray) -> Result<()> {
        for (name, vector) in [("x", x), ("y", y)] {
            crate::checks::check_vector(name, vector, self.rows)?;
            if vector.dtype() != self.spec.dtype || !vector.is_contiguous(Order::C) {
                let message = format!(
                    "{name} is of dtype {}; expected a contiguous vector of {}",
                    vector.dtype(),
                    self.spec.dtype
                );
                return Err(ArrayError::type_error(message));
            }
        }
        if self.packets == 0 {
            return Ok(());
        }
        let mut args = LaunchArgs::new();
        let arrays =
            [y, &self.data, &self.columns, &self.lengths, &self.slice_starts, &self.base_rows, &self.first_slices, x];
        push_arrays(&mut args, &arrays)?;
        x.context().launch(&self.spec, self.packets, THREADS, &args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The five-point stencil of a square grid.
    fn grid(side: usize) -> (Vec<i64>, Vec<i64>) {
        let (mut indptr, mut indices) = (vec![0], Vec::new());
        for row in 0..side {
            for column in 0..side {
                let place = (row * side + column) as i64;
                let near = [
                    (row > 0, -(side as i64)),
                    (column > 0, -1),
                    (true, 0),
                    (column + 1 < side, 1),
                    (row + 1 < side, side as i64),
                ];
                indices.extend(near.iter().filter(|entry| entry.0).map(|entry| place + entry.1));
                indptr.push(indices.len() as i64);
            }
        }
        (indptr, indices)
    }

    #[test]
    fn packets_are_permutations_of_equal_size_that_cut_few_edges() {
        let (indptr, indices) = grid(40);
        let structure = HostStructure { indptr: &indptr, indices: &indices };
        let partition = PacketPartition::new(structure, 170, true).unwrap();
        let sizes: Vec<i32> = partition.base_rows.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(sizes.len(), 10);
        assert!(sizes.iter().all(|size| (159..=161).contains(size)), "{sizes:?}");
        for (place, &row) in partition.new_to_old.iter().enumerate() {
            assert_eq!(partition.old_to_new[row as usize] as usize, place);
        }
        let host = HostPackets::new(structure, &vec![0; 8 * indices.len()], 8, &partition);
        let local: i32 = host.lengths.iter().sum();
        assert_eq!(local as usize + host.remainder.len(), indices.len());
        assert!(host.remainder.len() * 8 < indices.len(), "{} of {}", host.remainder.len(), indices.len());
    }

    #[test]
    fn structures_that_are_not_symmetric_have_neighbours_both_ways() {
        // A chain that only points forward.
        let (indptr, indices) = ((0..=8).map(|row| i64::min(row, 7)).collect::<Vec<_>>(), (1..8).collect::<Vec<_>>());
        let partition = PacketPartition::new(HostStructure { indptr: &indptr, indices: &indices }, 4, false).unwrap();
        assert_eq!(partition.new_to_old, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(PacketPartition::new(HostStructure { indptr: &indptr, indices: &indices }, 0, false).is_err());
    }
}
