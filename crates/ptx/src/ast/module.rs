//! A module: its variables, functions and their signatures.

use super::{FuncId, OpaqueType, Reg, Space, Span, Statement, Symbol, Type};
use std::sync::Arc;

/// A register declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct RegDecl {
    /// Name, unique in its function.
    pub name: Box<str>,
    /// Type.
    pub ty: Type,
}

/// An initialiser element of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum VarInit {
    /// Raw bytes, little endian, placed one after the other.
    Bytes(Vec<u8>),
    /// The address of a symbol plus an offset, `size` bytes wide; `generic` for `generic(sym)`.
    /// `shift` is the bit offset of `mask(sym)` forms (0 normally).
    Address {
        /// The symbol.
        symbol: Symbol,
        /// Bytes from it.
        offset: i64,
        /// Bytes of the initialiser.
        size: u32,
        /// Whether it is a generic address.
        generic: bool,
        /// The first bit that is taken.
        shift: u32,
    },
}

/// How a name is visible to other modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Of this module alone.
    Internal,
    /// Defined elsewhere.
    Extern,
    /// Known to other modules.
    Visible,
    /// Known to other modules, whose definition may replace it.
    Weak,
    /// Merged with variables of the same name.
    Common,
}

/// A variable of module or function scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Var {
    /// Name as written; of an inner scope, with a suffix that makes it unique in its function.
    pub name: Box<str>,
    /// Where it lives.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// `.v2` / `.v4` vector width, 1 otherwise.
    pub vector: u8,
    /// Alignment in bytes (the natural one when not written).
    pub align: u32,
    /// Size in bytes; 0 for an unsized `extern .shared x[]`.
    pub size: u64,
    /// Whether it was declared `x[]` without a size (dynamic shared memory).
    pub unsized_array: bool,
    /// Initial contents; shorter than `size` means zeros follow.
    pub init: Vec<VarInit>,
    /// Visibility.
    pub linkage: Linkage,
    /// `.managed`
    pub managed: bool,
    /// Set for `.texref`, `.surfref`, `.samplerref`: an object's handle, set by the driver.
    pub opaque: Option<OpaqueType>,
    /// Where it is declared.
    pub span: Span,
}

/// A parameter or return value of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Name as written.
    pub name: Box<str>,
    /// Type of an element.
    pub ty: Type,
    /// Alignment in bytes.
    pub align: u32,
    /** in bytes; 0 for the last parameter of a function with any number of arguments */
    pub size: u32,
    /// Whether it is a pointer (`.ptr`).
    pub ptr: bool,
    /** offset in the packed parameter buffer */
    pub offset: u32,
    /** set when a `.reg` parameter of a device function */
    pub reg: Option<Reg>,
}

/// The signature of an indirect call.
#[derive(Debug, Clone, PartialEq)]
pub struct Prototype {
    /// The label in front of it.
    pub name: Box<str>,
    /// Return parameters.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
    /// `.noreturn`
    pub noreturn: bool,
}

/// A kernel, device function or declaration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Function {
    /// Name as written.
    pub name: Box<str>,
    /// `.entry` (kernel) rather than `.func`.
    pub entry: bool,
    /// Visibility.
    pub linkage: Option<Linkage>,
    /// Parameters with their packed layout.
    pub params: Vec<Param>,
    /// Return parameters (device functions).
    pub returns: Vec<Param>,
    /// Performance directives of an entry.
    pub bounds: LaunchBounds,
    /// `.noreturn`
    pub noreturn: bool,
    /// All registers, parameterised names (`%r<10>`) expanded. Their names are unique; one that
    /// hides another in an inner scope has got a suffix.
    pub regs: Vec<RegDecl>,
    /// Label names; the statement each one precedes is in `label_targets`.
    pub labels: Vec<Box<str>>,
    /// For each label the index in `body` it stands before (`body.len()` = end).
    pub label_targets: Vec<u32>,
    /// Variables of function scope, of every space.
    pub vars: Vec<Var>,
    /// `.callprototype` declarations.
    pub prototypes: Vec<Prototype>,
    /// Statements in order; empty for a declaration.
    pub body: Vec<Statement>,
    /// False for a declaration without a body.
    pub defined: bool,
    /// Where it is declared.
    pub span: Span,
}

/// `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg`, cluster directives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchBounds {
    /// `.maxntid`
    pub max_ntid: Option<[u32; 3]>,
    /// `.reqntid`
    pub req_ntid: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_ncta_per_sm: Option<u32>,
    /// `.maxnreg`
    pub max_nreg: Option<u32>,
    /// `.reqnctapercluster`
    pub req_nctapercluster: Option<[u32; 3]>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
}

/// A PTX module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Module {
    /// `.version`
    pub version: (u32, u32),
    /// `.target` architecture number, e.g. 80, and its suffix (`a`, `f`) if any.
    pub target: u32,
    /// The letter after the target, if any.
    pub target_suffix: Option<char>,
    /// `.target ..., debug` and other platform options.
    pub target_options: Vec<Box<str>>,
    /// `.address_size`
    pub address_size: u32,
    /// Files of `.file`; index = file number (unused numbers are empty).
    pub files: Vec<Box<str>>,
    /// Module-scope variables.
    pub vars: Vec<Var>,
    /// Kernels, device functions and declarations (`vprintf`, `malloc`, ...).
    pub functions: Vec<Function>,
    /// `.alias name, other;`: calls of the first function go to the second.
    pub aliases: Vec<(FuncId, FuncId)>,
    /// The text the spans point into.
    pub source: Arc<str>,
}

impl Module {
    /// The kernel named `name`.
    pub fn find_kernel(&self, name: &str) -> Option<(FuncId, &Function)> {
        self.functions.iter().enumerate().find(|(_, f)| f.entry && &*f.name == name).map(|(i, f)| (FuncId(i as u32), f))
    }
}
