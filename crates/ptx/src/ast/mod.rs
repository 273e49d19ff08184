//! The typed PTX module that the parser produces and every consumer reads.
//!
//! Names are resolved: registers, variables, labels and functions are indices into the tables of
//! the function or module that owns them, so scoping (`{ .reg ... }` blocks that shadow outer
//! names) is settled here and never again. Every instruction is one variant of [`Inst`] whose
//! fields hold exactly what the PTX ISA allows for it; what the parser accepts has been checked
//! against that whitelist, so consumers need no default case for "unknown modifier".

mod arith;
mod inst;
mod module;
mod statement;
mod sync;
mod tensor;
mod texture;
mod types;
mod video;

pub use arith::*;
pub use inst::*;
pub use module::*;
pub use statement::*;
pub use sync::*;
pub use tensor::*;
pub use texture::*;
pub use types::*;
pub use video::*;

/// A byte range of the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in the owning table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(/** A register of one function: an index into [`Function::regs`]. */ Reg);
index_type!(/** A label of one function: an index into [`Function::labels`]. */ Label);
index_type!(/** A module-scope variable: an index into [`Module::vars`]. */ GlobalVar);
index_type!(/** A function-scope variable (`.local`, `.shared`, `.param`): an index into [`Function::vars`]. */ LocalVar);
index_type!(/** A function or prototype: an index into [`Module::functions`]. */ FuncId);
index_type!(/** A call prototype (`.callprototype`): an index into [`Function::prototypes`]. */ ProtoId);
