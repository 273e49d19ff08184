//! The limits of a multiprocessor for every compute capability since 5.0, and the occupancy that follows from them: how
//! many blocks of a given size are resident at once.
//!
//! The limits come from the tables of the CUDA programming guide, the allocation granularities from the toolkit's
//! occupancy calculator. For an actual device the driver reports the limits, so the results also hold for devices newer
//! than the tables.

use super::Device;
use crate::error::Result;
use rtcg_cuda_sys::*;

/// Limits of one multiprocessor and of a block on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// Maximum threads per block.
    pub max_threads_per_block: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// Maximum resident warps.
    pub max_warps: u32,
    /// Maximum resident blocks.
    pub max_blocks: u32,
    /// Number of 32-bit registers.
    pub registers: u32,
    /// Maximum 32-bit registers per block.
    pub registers_per_block: u32,
    /// Maximum 32-bit registers per thread.
    pub registers_per_thread: u32,
    /// Granularity of register allocation for a warp.
    pub register_unit: u32,
    /// Number of sub-partitions, each with its share of registers and warps.
    pub partitions: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Maximum bytes of shared memory per block without opting in.
    pub shared_per_block: u32,
    /// Maximum bytes of shared memory per block for kernels that opt in.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory that the system reserves in each block.
    pub shared_reserved: u32,
    /// Granularity of shared memory allocation for a block.
    pub shared_unit: u32,
}

/// The resource that limits the number of resident blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OccupancyLimiter {
    /// The limit on resident blocks.
    Blocks,
    /// The limit on resident warps.
    Warps,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

/// The occupancy of a multiprocessor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Occupancy {
    /// Resident blocks.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// Resident warps divided by the maximum.
    pub occupancy: f64,
    /// The limiting resource; in a tie the first of shared memory, registers, warps, blocks.
    pub limited_by: OccupancyLimiter,
}

/// A block that does not fit on an empty multiprocessor; the message gives the value and its limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockTooLargeError(pub String);

impl std::fmt::Display for BlockTooLargeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BlockTooLargeError {}

/// What differs between compute capabilities: the capability, resident threads and blocks, KiB of
/// shared memory and of that the share that a block may ask for, registers of a block in Ki.
type CapabilityRow = ((u32, u32), u32, u32, u32, u32, u32);

#[rustfmt::skip]
const CAPABILITY_ROWS: &[CapabilityRow] = &[
    ((5, 0), 2048, 32, 64, 48, 64),
    ((5, 2), 2048, 32, 96, 48, 64),
    ((5, 3), 2048, 32, 64, 48, 32),
    ((6, 0), 2048, 32, 64, 48, 64),
    ((6, 1), 2048, 32, 96, 48, 64),
    ((6, 2), 2048, 32, 64, 48, 32),
    ((7, 0), 2048, 32, 96, 96, 64),
    ((7, 2), 2048, 32, 96, 96, 64),
    ((7, 5), 1024, 16, 64, 64, 64),
    ((8, 0), 2048, 32, 164, 163, 64),
    ((8, 6), 1536, 16, 100, 99, 64),
    ((8, 7), 1536, 16, 164, 163, 64),
    ((8, 9), 1536, 24, 100, 99, 64),
    ((9, 0), 2048, 32, 228, 227, 64),
    ((10, 0), 2048, 32, 228, 227, 64),
    ((10, 3), 2048, 32, 228, 227, 64),
    ((11, 0), 1536, 24, 228, 227, 64),
    ((12, 0), 1536, 24, 100, 99, 64),
    ((12, 1), 1536, 24, 100, 99, 64),
];

impl Multiprocessor {
    /// The compute capabilities that [`Multiprocessor::from_compute_capability`] knows.
    pub fn known_capabilities() -> impl Iterator<Item = (u32, u32)> {
        CAPABILITY_ROWS.iter().map(|row| row.0)
    }

    /// The limits for a compute capability, 5.0 or newer.
    pub fn from_compute_capability(major: u32, minor: u32) -> Option<Self> {
        let &(_, threads, blocks, shared, optin, registers) =
            CAPABILITY_ROWS.iter().find(|row| row.0 == (major, minor))?;
        let rules = Self::allocation_granularities(major, minor);
        Some(Self {
            max_warps: threads / 32,
            max_blocks: blocks,
            shared_bytes: shared << 10,
            shared_per_block_optin: optin << 10,
            registers_per_block: registers << 10,
            ..rules
        })
    }

    /// The limits of a device, as its driver reports them.
    pub fn from_device(device: &Device) -> Result<Self> {
        let (major, minor) = device.compute_capability()?;
        let ask = |which| device.attribute(which).map(|value| value.max(0) as u32);
        let warp_size = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?;
        let optin = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let shared_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
        Ok(Self {
            max_threads_per_block: ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            warp_size,
            max_warps: ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)? / warp_size.max(1),
            max_blocks: ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers: ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            registers_per_block: ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
            shared_bytes: ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            shared_per_block,
            shared_per_block_optin: optin.max(shared_per_block),
            shared_reserved: ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK).unwrap_or(0),
            ..Self::allocation_granularities(major, minor)
        })
    }

    /// Granularities, and what is the same everywhere. Capabilities to come have those of the
    /// newest one known.
    fn allocation_granularities(major: u32, minor: u32) -> Self {
        Self {
            max_threads_per_block: 1024,
            warp_size: 32,
            max_warps: 0,
            max_blocks: 0,
            registers: 64 << 10,
            registers_per_block: 0,
            registers_per_thread: 255,
            register_unit: 256,
            partitions: if (major, minor) == (6, 0) { 2 } else { 4 },
            shared_bytes: 0,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 0,
            shared_reserved: if major >= 8 { 1 << 10 } else { 0 },
            shared_unit: if major >= 8 { 128 } else { 256 },
        }
    }

    /// Computes the occupancy for blocks of `threads` threads with `registers` registers each, and `shared_bytes` of
    /// shared memory per block, static and dynamic together.
    pub fn occupancy(
        &self,
        threads: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> std::result::Result<Occupancy, BlockTooLargeError> {
        self.check_block_limits(threads, registers, shared_bytes)?;
        let warps = threads.div_ceil(self.warp_size);
        let limits = [
            (self.max_blocks_by_shared_memory(shared_bytes), OccupancyLimiter::SharedMemory),
            (self.max_blocks_by_registers(warps, registers), OccupancyLimiter::Registers),
            (self.max_warps / warps, OccupancyLimiter::Warps),
            (self.max_blocks, OccupancyLimiter::Blocks),
        ];
        // The first of equal ones: a resource that is used up says more than a mere number.
        let (blocks, limited_by) =
            limits.into_iter().min_by_key(|limit| limit.0).unwrap_or((0, OccupancyLimiter::Blocks));
        let resident = blocks * warps;
        let occupancy = f64::from(resident) / f64::from(self.max_warps.max(1));
        Ok(Occupancy { blocks, warps: resident, occupancy, limited_by })
    }

    fn check_block_limits(
        &self,
        threads: u32,
        registers: u32,
        shared_bytes: u32,
    ) -> std::result::Result<(), BlockTooLargeError> {
        let unfit = |what: &str, value: u32, most: u32| {
            Err(BlockTooLargeError(format!("{what} is {value}; expected {most} at most on this device")))
        };
        if threads == 0 {
            return Err(BlockTooLargeError("threads is 0; expected at least 1".to_owned()));
        }
        if threads > self.max_threads_per_block {
            return unfit("threads", threads, self.max_threads_per_block);
        }
        if registers > self.registers_per_thread {
            return unfit("registers", registers, self.registers_per_thread);
        }
        if self.registers_per_allocated_block(threads.div_ceil(self.warp_size), registers) > self.registers_per_block {
            let all = self.registers_per_block;
            return Err(BlockTooLargeError(format!(
                "{threads} threads of {registers} registers need more than {all} registers"
            )));
        }
        if shared_bytes > self.shared_per_block_optin {
            return unfit("shared memory", shared_bytes, self.shared_per_block_optin);
        }
        Ok(())
    }

    fn registers_per_allocated_warp(&self, registers: u32) -> u32 {
        (registers * self.warp_size).next_multiple_of(self.register_unit)
    }

    /// As the hardware checks it: as if every partition got the same number of warps.
    fn registers_per_allocated_block(&self, warps: u32, registers: u32) -> u32 {
        self.registers_per_allocated_warp(registers) * warps.next_multiple_of(self.partitions)
    }

    fn max_blocks_by_registers(&self, warps: u32, registers: u32) -> u32 {
        let per_warp = self.registers_per_allocated_warp(registers);
        let per_partition = (self.registers / self.partitions).checked_div(per_warp);
        per_partition.map_or(u32::MAX, |n| n * self.partitions / warps)
    }

    fn max_blocks_by_shared_memory(&self, shared_bytes: u32) -> u32 {
        let per_block = (shared_bytes + self.shared_reserved).next_multiple_of(self.shared_unit);
        self.shared_bytes.checked_div(per_block).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads, registers, bytes of shared memory.
    const KERNEL_CASES: [(u32, u32, u32); 13] = [
        (32, 16, 0),
        (64, 32, 0),
        (96, 40, 1000),
        (128, 64, 4096),
        (256, 32, 16384),
        (256, 63, 49152),
        (480, 37, 3000),
        (768, 80, 100),
        (1024, 64, 0),
        (1000, 24, 25000),
        (128, 255, 0),
        (33, 33, 129),
        (512, 16, 70000),
    ];

    /// Blocks for each of `KERNEL_CASES`, computed with the occupancy calculator of CUDA 13.0.
    #[rustfmt::skip]
    const EXPECTED_BLOCKS: &[((u32, u32), [u32; 13])] = &[
        ((5, 0), [32, 32, 16, 8, 4, 1, 3, 1, 1, 2, 2, 24, 0]),
        ((5, 2), [32, 32, 16, 8, 6, 2, 3, 1, 1, 2, 2, 24, 0]),
        ((5, 3), [32, 32, 16, 8, 4, 1, 3, 0, 0, 2, 2, 24, 0]),
        ((6, 0), [32, 32, 16, 8, 4, 1, 3, 1, 1, 2, 2, 25, 0]),
        ((6, 1), [32, 32, 16, 8, 6, 2, 3, 1, 1, 2, 2, 24, 0]),
        ((6, 2), [32, 32, 16, 8, 4, 1, 3, 0, 0, 2, 2, 24, 0]),
        ((7, 0), [32, 32, 16, 8, 6, 2, 3, 1, 1, 2, 2, 24, 1]),
        ((7, 2), [32, 32, 16, 8, 6, 2, 3, 1, 1, 2, 2, 24, 1]),
        ((7, 5), [16, 16, 10, 8, 4, 1, 2, 1, 1, 1, 2, 16, 0]),
        ((8, 0), [32, 32, 16, 8, 8, 3, 3, 1, 1, 2, 2, 24, 2]),
        ((8, 6), [16, 16, 16, 8, 5, 2, 3, 1, 1, 1, 2, 16, 1]),
        ((8, 7), [16, 16, 16, 8, 6, 3, 3, 1, 1, 1, 2, 16, 2]),
        ((8, 9), [24, 24, 16, 8, 5, 2, 3, 1, 1, 1, 2, 24, 1]),
        ((9, 0), [32, 32, 16, 8, 8, 4, 3, 1, 1, 2, 2, 24, 3]),
        ((10, 0), [32, 32, 16, 8, 8, 4, 3, 1, 1, 2, 2, 24, 3]),
        ((10, 3), [32, 32, 16, 8, 8, 4, 3, 1, 1, 2, 2, 24, 3]),
        ((11, 0), [24, 24, 16, 8, 6, 4, 3, 1, 1, 1, 2, 24, 3]),
        ((12, 0), [24, 24, 16, 8, 5, 2, 3, 1, 1, 1, 2, 24, 1]),
        ((12, 1), [24, 24, 16, 8, 5, 2, 3, 1, 1, 1, 2, 24, 1]),
    ];

    #[test]
    fn occupancy_agrees_with_nvidias_calculator() {
        assert_eq!(Multiprocessor::known_capabilities().count(), EXPECTED_BLOCKS.len());
        for (capability, blocks) in EXPECTED_BLOCKS {
            let limits = Multiprocessor::from_compute_capability(capability.0, capability.1).unwrap();
            for ((threads, registers, shared), expected) in KERNEL_CASES.iter().zip(blocks) {
                let found = limits.occupancy(*threads, *registers, *shared).map_or(0, |o| o.blocks);
                assert_eq!(
                    found, *expected,
                    "{capability:?}: {threads} threads, {registers} registers, {shared} bytes"
                );
            }
        }
    }

    #[test]
    fn occupancy_names_its_limit() {
        let limits = Multiprocessor::from_compute_capability(9, 0).unwrap();
        let limited = |threads, registers, shared| limits.occupancy(threads, registers, shared).unwrap().limited_by;
        assert_eq!(limited(32, 8, 0), OccupancyLimiter::Blocks);
        assert_eq!(limited(256, 16, 0), OccupancyLimiter::Warps);
        assert_eq!(limited(256, 64, 0), OccupancyLimiter::Registers);
        assert_eq!(limited(128, 32, 40_000), OccupancyLimiter::SharedMemory);
        let half = limits.occupancy(256, 64, 0).unwrap();
        assert_eq!((half.blocks, half.warps, half.occupancy), (4, 32, 0.5));
    }

    #[test]
    fn blocks_that_fit_nowhere_are_errors() {
        let limits = Multiprocessor::from_compute_capability(7, 5).unwrap();
        for (threads, registers, shared, word) in
            [(0, 16, 0, "threads"), (1025, 16, 0, "threads"), (32, 256, 0, "registers"), (32, 16, 65_537, "shared")]
        {
            let message = limits.occupancy(threads, registers, shared).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        assert!(limits.occupancy(1024, 65, 0).is_err());
        assert!(Multiprocessor::from_compute_capability(4, 2).is_none());
    }
}
