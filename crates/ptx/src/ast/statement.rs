//! What stands around an instruction: its place in a body, and the operands of calls.

use super::{FuncId, Guard, Inst, LocalVar, Operand, ProtoId, Reg, Span};

/// A call's target.
#[derive(Debug, Clone, PartialEq)]
pub enum Callee {
    /// A function of the module.
    Direct(FuncId),
    /// Through a register; the prototype or the list of candidates names the signature.
    Indirect {
        /// The register with the address.
        target: Reg,
        /// The prototype that names the signature.
        proto: Option<ProtoId>,
        /// The functions it may be (`.calltargets`).
        candidates: Vec<FuncId>,
    },
}

/// An argument or result slot of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CallArg {
    /// A `.param` variable of the caller.
    Param(LocalVar),
    /// A register.
    Reg(Reg),
    /// An immediate argument.
    Imm(Operand),
}

/// A source position from `.loc` (the file is an index into [`super::Module::files`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// Number of the file.
    pub file: u32,
    /// Line, from 1 on.
    pub line: u32,
    /// Column, from 1 on; 0 if it is not known.
    pub column: u32,
}

/// An instruction in a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The predicate under which it runs.
    pub guard: Option<Guard>,
    /// The instruction.
    pub inst: Inst,
    /// Where it is in the text.
    pub span: Span,
    /// Where it comes from, by `.loc`.
    pub line: Option<SourceLine>,
}
