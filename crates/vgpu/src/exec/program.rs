//! What the scheduler needs to know of a kernel, independent of the code generator.

use crate::abi::KernelEntry;
use crate::jit::LaneSet;
use std::fmt;
use std::sync::atomic::AtomicU32;

/// An instruction, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionLocation {
    /// The kernel or device function it is in.
    pub function: String,
    /// Its PTX text.
    pub instruction: String,
    /// Line of the PTX text, from 1; 0 when unknown.
    pub ptx_line: u32,
    /// File and line of the source, with `-lineinfo`.
    pub source: Option<(String, u32)>,
    /// The lanes that the machine code stands for.
    pub lanes: LaneSet,
    /// Whether it stores.
    pub is_store: bool,
    /// Bytes of one lane's access; 0 when it is none.
    pub access_bytes: u32,
}

/// Finds instructions from program counters and from the numbers that compiled code passes.
pub trait SourceMap: Send + Sync {
    /// Whether `pc` is in the kernel's machine code. Called from a signal handler: no locks, no
    /// allocation.
    fn contains_pc(&self, pc: usize) -> bool;
    /// The instruction at a program counter.
    fn lookup_pc(&self, pc: usize) -> Option<InstructionLocation>;
    /// The instruction of a site number.
    fn lookup_site(&self, number: u32) -> Option<InstructionLocation>;
}

/// A kernel that can run.
pub struct Program {
    /// Name as in the PTX.
    pub name: String,
    /// Runs one warp.
    pub entry: KernelEntry,
    /// What its warps find at [`crate::abi::WarpCtx::host`]; 0 for a Rust function.
    pub host: usize,
    /// Whether it may wait for other warps; each warp gets a fiber of its own then.
    pub suspends: bool,
    /// Whether it was compiled for lanes that are scheduled at random.
    pub random: bool,
    /// Whether `stack_bytes` and `local_bytes_per_warp` are no bounds.
    pub recursive: bool,
    /// Native stack it needs.
    pub stack_bytes: u32,
    /// Local memory a warp needs.
    pub local_bytes_per_warp: u64,
    /// Where dynamic shared memory begins; the static part lies before it.
    pub dynamic_shared_offset: u32,
    /// Finds its instructions.
    pub sites: Box<dyn SourceMap>,
    /// Running estimate of the time a block takes; start with 0.
    pub ns_per_block: AtomicU32,
}

impl Program {
    /// A program with no local and no shared memory that never waits; fill in the rest.
    pub fn new(name: &str, entry: KernelEntry, sites: Box<dyn SourceMap>) -> Program {
        Program {
            name: name.to_owned(),
            entry,
            host: 0,
            suspends: false,
            random: false,
            recursive: false,
            stack_bytes: 0,
            local_bytes_per_warp: 0,
            dynamic_shared_offset: 0,
            sites,
            ns_per_block: AtomicU32::new(0),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).field("suspends", &self.suspends).finish_non_exhaustive()
    }
}
