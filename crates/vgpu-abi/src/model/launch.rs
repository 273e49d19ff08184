//! Registers, and the launches that they limit.

use crate::error::ResultCode;

measured! {
    /// Registers of a multiprocessor, of which each of its four parts has a quarter for its warps.
    REGISTERS_PER_MULTIPROCESSOR: u32 = 65_536, from "q26";
    /// The parts of a multiprocessor.
    SUB_PARTITIONS: u32 = 4, from "q26";
    /// A warp takes registers in multiples of this.
    REGISTER_ALLOCATION_UNIT: u32 = 256, from "q26";
    /// A kernel without registers reports this many.
    MIN_REGISTERS: u32 = 4, from "q25";
    /// A smaller limit (`.maxnreg`, `CU_JIT_MAX_REGISTERS`) is taken for this one.
    MIN_REGISTER_LIMIT: u32 = 24, from "q26";
    /// A thread has no more registers, whatever it needs.
    MAX_REGISTERS: u32 = 255, from "q26";
    /// Packed arguments of more bytes than the kernel's parameters have are refused with this code; of fewer with
    /// `INVALID_VALUE`.
    SURPLUS_ARGUMENTS_CODE: ResultCode = ResultCode::LAUNCH_OUT_OF_RESOURCES, from "q51";
    /// A launch names a memory synchronisation domain below this.
    MEMORY_SYNC_DOMAINS: u32 = 2, from "q51";
    /// The preferred share of shared memory that a launch may name, in percent; the default, -1, is only a function's.
    CARVEOUTS_OF_LAUNCHES: std::ops::RangeInclusive<u32> = 0..=100, from "q51";
    /// `CU_JIT_THREADS_PER_BLOCK` is rounded up to a multiple of this, and the result is written back.
    THREADS_PER_BLOCK_STEP: u32 = 128, from "q24";
}

/// The largest block whose warps find registers, when a thread has `registers`; a launch of a larger one is refused with
/// `LAUNCH_OUT_OF_RESOURCES`.
pub fn max_threads_by_registers(registers: u32) -> u32 {
    max_warps_by_registers(registers) * 32
}

/// Warps of a multiprocessor that find registers.
pub fn max_warps_by_registers(registers: u32) -> u32 {
    let per_warp = (registers.max(1) * 32).next_multiple_of(REGISTER_ALLOCATION_UNIT);
    REGISTERS_PER_MULTIPROCESSOR / SUB_PARTITIONS / per_warp * SUB_PARTITIONS
}

/// The most registers a thread can have in blocks of `threads`.
pub fn max_registers_for_block(threads: u32) -> u32 {
    let fits = |registers: &u32| max_threads_by_registers(*registers) >= threads.next_multiple_of(32);
    (1..=MAX_REGISTERS).rev().find(fits).unwrap_or(MIN_REGISTER_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_large_as_a_card_says() {
        let measured = [(24, 2048), (64, 1024), (65, 896), (128, 512), (129, 384), (168, 384), (255, 256)];
        for (registers, threads) in measured {
            assert_eq!(max_threads_by_registers(registers), threads, "{registers} registers");
        }
        assert_eq!([32, 128, 256, 512, 1024].map(max_registers_for_block), [255, 255, 255, 128, 64]);
    }
}
