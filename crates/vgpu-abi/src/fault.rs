//! What is known about a kernel that went wrong.

use crate::error::ResultCode;
use crate::model::calls::{STACK_OVERFLOW_CODE, WILD_CALL_CODE};
use std::fmt;

/// Why a launch ended before its kernel did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `trap` instruction.
    Trap,
    /// An access outside device memory.
    IllegalAddress,
    /// An access that is not aligned to its size.
    MisalignedAddress,
    /// A failed `assert`.
    Assert,
    /// The stack or the local memory of a thread is exhausted.
    StackOverflow,
    /// A call through a pointer that is no function.
    InvalidPc,
    /// `brkpt` without a debugger.
    Breakpoint,
    /// Machine code raised a signal that no PTX instruction explains.
    IllegalInstruction,
    /// All warps of a block wait for something that no warp can bring.
    Deadlock,
    /// The program set the launch's `CancelFlag`.
    Cancelled,
    /// It took longer than `RTCG_VIRTUAL_TIMEOUT` allows.
    Timeout,
    /// The system refused memory for stacks, shared or local memory.
    OutOfMemory,
    /// The kernel could not be compiled.
    Compile,
}

impl FaultKind {
    /// The CUDA result code of this fault.
    pub fn result_code(self) -> ResultCode {
        match self {
            FaultKind::Trap | FaultKind::Breakpoint => ResultCode::LAUNCH_FAILED,
            FaultKind::IllegalAddress => ResultCode::ILLEGAL_ADDRESS,
            FaultKind::StackOverflow => STACK_OVERFLOW_CODE,
            FaultKind::InvalidPc => WILD_CALL_CODE,
            FaultKind::MisalignedAddress => ResultCode::MISALIGNED_ADDRESS,
            FaultKind::Assert => ResultCode::ASSERT,
            FaultKind::IllegalInstruction => ResultCode::ILLEGAL_INSTRUCTION,
            FaultKind::Deadlock | FaultKind::Timeout | FaultKind::Cancelled => ResultCode::LAUNCH_TIMEOUT,
            FaultKind::OutOfMemory => ResultCode::LAUNCH_OUT_OF_RESOURCES,
            FaultKind::Compile => ResultCode::INVALID_PTX,
        }
    }

    /// Whether CUDA leaves the context unusable after it. The others are errors of the launch alone.
    pub fn is_sticky(self) -> bool {
        !matches!(self, FaultKind::OutOfMemory | FaultKind::Compile | FaultKind::Cancelled)
    }
}

/// An access that faulted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultAccess {
    /// The address; for a shared or local access the generic one.
    pub address: u64,
    /// A store or atomic rather than a load; `None` when it could not be told.
    pub write: Option<bool>,
    /// Bytes per lane; 0 when unknown.
    pub size: u32,
    /// `global`, `shared`, `local`, `param` or `generic`.
    pub space: &'static str,
}

/// A launch that did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The CUDA result code.
    pub code: ResultCode,
    /// What happened.
    pub kind: FaultKind,
    /// The kernel's name as in the PTX.
    pub kernel: String,
    /// `%ctaid` of the block.
    pub block: [u32; 3],
    /// `%tid` of the thread; the first one of its warp that is concerned.
    pub thread: [u32; 3],
    /// The access, for faults of memory.
    pub access: Option<FaultAccess>,
    /// The memory that the address belongs to or lies nearest to, in words.
    pub allocation: Option<String>,
    /// PTX text of the instruction; empty when unknown.
    pub instruction: String,
    /// Its line in the PTX, from 1; 0 when unknown.
    pub ptx_line: u32,
    /// File and line of the source, when the module was built with `-lineinfo`.
    pub source: Option<(String, u32)>,
    /// All of this in words, one fact per line.
    pub report: String,
}

impl Fault {
    /// A fault that concerns the launch as a whole.
    pub fn launch_fault(kind: FaultKind, kernel: &str, what: String) -> Fault {
        Fault {
            code: kind.result_code(),
            kind,
            kernel: kernel.to_owned(),
            block: [0; 3],
            thread: [0; 3],
            access: None,
            allocation: None,
            instruction: String::new(),
            ptx_line: 0,
            source: None,
            report: format!("kernel {kernel}: {what}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl std::error::Error for Fault {}
