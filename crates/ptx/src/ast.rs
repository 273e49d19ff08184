//! The typed PTX module that the parser produces and every consumer reads.
//!
//! Names are resolved: registers, variables, labels and functions are indices into the tables of
//! the function or module that owns them, so scoping (`{ .reg ... }` blocks that shadow outer
//! names) is settled here and never again. Every instruction is one variant of [`Inst`] whose
//! fields hold exactly what the PTX ISA allows for it; what the parser accepts has been checked
//! against that whitelist, so consumers need no default case for "unknown modifier".

use std::sync::Arc;

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

/// A fundamental type of the PTX ISA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    /// `.tf32`, `.e4m3`, ... appear only as formats of `cvt` and `mma`.
    TF32,
    E4M3x2,
    E5M2x2,
    E4M3,
    E5M2,
    U16x2,
    S16x2,
    Pred,
}

impl Type {
    /// Size in bits; 1 for `.pred`.
    pub fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 | E4M3 | E5M2 => 8,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 => 16,
            B32 | U32 | S32 | F32 | F16x2 | BF16x2 | TF32 | U16x2 | S16x2 => 32,
            B64 | U64 | S64 | F64 => 64,
            B128 => 128,
        }
    }
    /// Size in bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2)
    }
    /// Whether arithmetic on this type is floating point.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | BF16 | BF16x2 | F32 | F64 | TF32 | E4M3 | E5M2 | E4M3x2 | E5M2x2)
    }
}

/// A state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    /// Kernel parameters when read in an entry, call parameters elsewhere.
    Param,
}

/// A special register (`%tid.x`, ...). Vector ones are read through their component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SpecialReg {
    Tid(Dim),
    Ntid(Dim),
    Ctaid(Dim),
    Nctaid(Dim),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    ClusterId(Dim),
    NClusterId(Dim),
    ClusterCtaid(Dim),
    ClusterNctaid(Dim),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    Envreg(u8),
    Pm(u8),
    CurrentGraphExec,
    ReservedSmemBegin,
    ReservedSmemEnd,
    ReservedSmemCap,
    ReservedSmemOffset(u8),
}

/// A component of a three-dimensional special register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Dim {
    X,
    Y,
    Z,
    W,
}

/// What an address or a `mov` source can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Symbol {
    Global(GlobalVar),
    Local(LocalVar),
    Func(FuncId),
    /// Parameter number of the enclosing function (`Function::params`).
    Param(u32),
    /// Return parameter number of the enclosing function (`Function::returns`).
    Return(u32),
}

/// A scalar source operand. Immediates are already the bits of the instruction's type.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Operand {
    Reg(Reg),
    /// Integer immediate, sign-extended to 64 bits as written.
    Int(i64),
    /// The bit pattern of a `0f` literal or of a decimal one read at f32.
    F32(u32),
    /// The bit pattern of a `0d` literal or of a decimal one.
    F64(u64),
    Special(SpecialReg),
    /// The address of a symbol plus a byte offset.
    Address(Symbol, i64),
}

/// The base of a memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum AddrBase {
    Reg(Reg),
    Symbol(Symbol),
    Absolute,
}

/// A memory operand `[base + offset]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Addr {
    pub base: AddrBase,
    pub offset: i64,
}

/// An element of a vector operand in a store or a `mov`; `None` in destinations means `_`.
pub type Elements<T> = Vec<T>;

/// `@p` or `@!p` before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Guard {
    pub reg: Reg,
    pub negated: bool,
}

/// Rounding modes of floating-point instructions and of `cvt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    /// Nothing written: the instruction's default.
    Default,
    Rn,
    Rz,
    Rm,
    Rp,
    Rna,
    /// Round to an integral value.
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// Floating-point modifiers that many instructions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct FpMods {
    pub rnd: Rounding,
    pub ftz: bool,
    pub sat: bool,
    /// `.approx`
    pub approx: bool,
    /// `.full` (div only)
    pub full: bool,
    /// `.NaN` (min, max, fma.relu ...): NaN in, NaN out
    pub nan: bool,
    /// `.xorsign.abs` (min, max)
    pub xorsign_abs: bool,
    /// `.relu` (fma, cvt)
    pub relu: bool,
}

impl Default for FpMods {
    fn default() -> Self {
        FpMods {
            rnd: Rounding::Default,
            ftz: false,
            sat: false,
            approx: false,
            full: false,
            nan: false,
            xorsign_abs: false,
            relu: false,
        }
    }
}

/// One-operand arithmetic and bit instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnOp {
    Abs,
    Neg,
    Not,
    /// Logical not (`cnot`): 1 if the operand is 0, else 0.
    Cnot,
    Popc,
    Clz,
    Brev,
    /// `bfind`; `shiftamt` selects the distance form.
    Bfind {
        shiftamt: bool,
    },
    Sqrt,
    Rsqrt,
    Rcp,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    /// `testp` tests, giving a predicate.
    TestFinite,
    TestInfinite,
    TestNumber,
    TestNotANumber,
    TestNormal,
    TestSubnormal,
}

/// Two-operand instructions whose operands and result share a type unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Low half of the product (`mul.lo`, or the product of floats).
    Mul,
    MulHi,
    /// `mul.wide`: the result has twice the bits of `ty`.
    MulWide,
    /// `mul24.lo` / `mul24.hi`
    Mul24Lo,
    Mul24Hi,
    /// Shifts take a `u32` amount and clamp it to the width.
    Shl,
    Shr,
    CopySign,
    /// `bmsk.clamp` / `bmsk.wrap`
    BmskClamp,
    BmskWrap,
    /// `szext.clamp` / `szext.wrap`
    SzextClamp,
    SzextWrap,
}

/// Three-operand instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TerOp {
    /// `fma`, and `mad` of floats
    Fma,
    MadLo,
    MadHi,
    MadWide,
    Mad24Lo,
    Mad24Hi,
    Sad,
    /// `bfe d, a, pos, len`
    Bfe,
    /// `lop3.b32` with its table
    Lop3(u8),
    /// `shf.l` / `shf.r`, clamped or wrapped: `d, lo, hi, amount`
    ShfLClamp,
    ShfLWrap,
    ShfRClamp,
    ShfRWrap,
    Prmt(PrmtMode),
    /// `dp4a`: signedness of a and b
    Dp4a {
        a_signed: bool,
        b_signed: bool,
    },
    Dp2a {
        a_signed: bool,
        b_signed: bool,
        hi: bool,
    },
    /// `fns d, mask, base, offset`: the place of the n-th set bit from `base`
    Fns,
    /// `vabsdiff4.u32.u32.u32`: |a - b| byte by byte, or with `sum` c plus their sum
    AbsDiff4 {
        #[allow(missing_docs)]
        sum: bool,
    },
    /// three-input `min` / `max` (sm_100)
    Min3,
    Max3,
}

/// Modes of `prmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PrmtMode {
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Comparisons of `setp` and `set`; the `U` forms are true when an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned `lo ls hi hs`: lt le gt ge of unsigned operands.
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// The Boolean that `setp`/`set` combine a comparison with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Memory ordering semantics of loads, stores, atomics and fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sem {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    Mmio,
}

/// Synchronisation scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Operations of `atom`, `red` (and, a subset, of `redux`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Inc,
    Dec,
    Cas,
}

/// Warp shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Warp votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// A call's target.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Callee {
    Direct(FuncId),
    /// Through a register; the prototype or the list of candidates names the signature.
    Indirect {
        target: Reg,
        proto: Option<ProtoId>,
        candidates: Vec<FuncId>,
    },
}

/// An argument or result slot of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum CallArg {
    /// A `.param` variable of the caller.
    Param(LocalVar),
    Reg(Reg),
    /// An immediate argument.
    Imm(Operand),
}

/// What kind of fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FenceKind {
    /// `membar.{cta,gl,sys}` and `fence.{sc,acq_rel,acquire,release}.scope`
    Memory { sem: Sem, scope: Scope },
    /// `fence.proxy.*`: between kinds of memory access; no effect on one coherent memory.
    Proxy,
    /// `fence.mbarrier_init...`
    MbarrierInit,
}

/// The form of a `bar`/`barrier` instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum BarKind {
    Sync,
    Arrive,
    /// `bar.red.popc.u32 d, a, [b], p`
    RedPopc {
        dst: Reg,
        pred: Reg,
        negated: bool,
    },
    /// `bar.red.{and,or}.pred d, a, [b], p`
    RedBool {
        op: BoolOp,
        dst: Reg,
        pred: Reg,
        negated: bool,
    },
}

/// One PTX instruction without its guard.
///
/// Integer immediates in [`Operand`] are to be read at the type the instruction gives the operand.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Inst {
    Unary {
        op: UnOp,
        ty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
    },
    Binary {
        op: BinOp,
        ty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Ternary {
        op: TerOp,
        ty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `bfi d, a, b, pos, len`
    Bfi {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        pos: Operand,
        len: Operand,
    },
    /// `add.cc addc subc mad.lo.cc madc.hi ...`: reads and/or writes the condition-code register CC.CF.
    Carry {
        op: CarryOp,
        ty: Type,
        cc_in: bool,
        cc_out: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Option<Operand>,
    },
    /// `slct.dty.{s32,f32} d, a, b, c`: c >= 0 ? a : b
    Slct {
        ty: Type,
        cty: Type,
        ftz: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `selp`: pred ? a : b; `!pred` has been turned into exchanged operands.
    Selp {
        ty: Type,
        dst: Reg,
        a: Operand,
        b: Operand,
        pred: Operand,
    },
    /// `setp`: `p = cmp(a,b) bool c`, `q = !cmp(a,b) bool c`. Of packed halves (`F16x2`, `BF16x2`)
    /// `dst` is the comparison of the low halves and `dst2` that of the high ones.
    Setp {
        cmp: CmpOp,
        ty: Type,
        ftz: bool,
        combine: Option<(BoolOp, PredSrc)>,
        dst: Option<Reg>,
        dst2: Option<Reg>,
        a: Operand,
        b: Operand,
    },
    /// `set.cmp.dty.sty`
    Set {
        cmp: CmpOp,
        dty: Type,
        ty: Type,
        ftz: bool,
        combine: Option<(BoolOp, PredSrc)>,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Mov {
        ty: Type,
        dst: Reg,
        src: Operand,
    },
    /// `mov.b64 {a, b}, c`: unpack, low part first.
    MovUnpack {
        ty: Type,
        dsts: Elements<Option<Reg>>,
        src: Operand,
    },
    /// `mov.b64 c, {a, b}`: pack, low part first.
    MovPack {
        ty: Type,
        dst: Reg,
        srcs: Elements<Operand>,
    },
    Cvt {
        dty: Type,
        sty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
    },
    /// `cvt.{rn,rz}.{f16x2,bf16x2,e4m3x2,...}.f32 d, a, b`: a is the high half. Towards 8-bit
    /// floats (also in `Cvt`) `.satfinite` is implied.
    CvtPack {
        dty: Type,
        sty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    /// `cvta` (to = false: space address to generic) and `cvta.to` (generic to space).
    Cvta {
        space: Space,
        to: bool,
        ty: Type,
        dst: Reg,
        src: Operand,
    },
    /// `isspacep.space p, a`
    Isspacep {
        space: Space,
        dst: Reg,
        a: Operand,
    },
    /// `ld`; `ld.global.nc` and `ldu` set `nc`. Cache hints are dropped, `.cv` reads as volatile.
    Ld {
        space: Space,
        ty: Type,
        sem: Sem,
        scope: Option<Scope>,
        nc: bool,
        dsts: Elements<Option<Reg>>,
        addr: Addr,
    },
    /// `st`; cache hints are dropped, `.wt` writes as volatile.
    St {
        space: Space,
        ty: Type,
        sem: Sem,
        scope: Option<Scope>,
        addr: Addr,
        srcs: Elements<Operand>,
    },
    /// `prefetch`, `prefetchu`, `applypriority`, `discard`: hints
    Prefetch {
        space: Space,
        addr: Addr,
    },
    Atom {
        space: Space,
        op: AtomOp,
        ty: Type,
        sem: Sem,
        scope: Scope,
        dst: Option<Reg>,
        addr: Addr,
        b: Operand,
        c: Option<Operand>,
    },
    Bra {
        target: Label,
        uniform: bool,
    },
    /// `brx.idx index, list`
    Brx {
        index: Reg,
        targets: Vec<Label>,
    },
    Call {
        callee: Callee,
        rets: Vec<CallArg>,
        args: Vec<CallArg>,
        uniform: bool,
    },
    Ret,
    Exit,
    Trap,
    Brkpt,
    /// Barrier `id` over `count` threads (all of the block when `None`).
    Bar {
        kind: BarKind,
        id: Operand,
        count: Option<Operand>,
        aligned: bool,
    },
    /// `bar.warp.sync mask`
    BarWarpSync {
        mask: Operand,
    },
    Fence(FenceKind),
    /// `shfl.sync.mode.b32 d|p, a, b, c, mask`
    Shfl {
        mode: ShflMode,
        dst: Reg,
        pred: Option<Reg>,
        a: Operand,
        b: Operand,
        c: Operand,
        mask: Operand,
    },
    /// `vote.sync`: `dst` is a predicate, or a b32 for `Ballot`.
    Vote {
        mode: VoteMode,
        dst: Reg,
        pred: PredSrc,
        mask: Operand,
    },
    /// `match.any.sync` (`all = false`) and `match.all.sync d|p`
    Match {
        all: bool,
        ty: Type,
        dst: Reg,
        pred: Option<Reg>,
        a: Operand,
        mask: Operand,
    },
    Redux {
        op: AtomOp,
        ty: Type,
        mods: FpMods,
        abs: bool,
        dst: Reg,
        a: Operand,
        mask: Operand,
    },
    Activemask {
        dst: Reg,
    },
    /// `elect.sync d|p, mask`
    Elect {
        dst: Option<Reg>,
        pred: Reg,
        mask: Operand,
    },
    Nanosleep {
        a: Operand,
    },
    /// `cp.async.{ca,cg}.shared.global [dst], [src], size{, src_size}`
    CpAsync {
        dst: Addr,
        src: Addr,
        size: u32,
        src_size: Option<Operand>,
    },
    /// `cp.async.commit_group` and `cp.async.wait_group n` / `wait_all` (`n = None`)
    CpAsyncCommit,
    CpAsyncWait {
        n: Option<u32>,
    },
    /// `pmevent`, `setmaxnreg`, `griddepcontrol`, `createpolicy`-free hints: accepted, without effect.
    Hint {
        name: &'static str,
    },
    Alloca {
        ty: Type,
        dst: Reg,
        size: Operand,
        align: u32,
    },
    StackSave {
        ty: Type,
        dst: Reg,
    },
    StackRestore {
        ty: Type,
        src: Operand,
    },
    /// Valid PTX with full syntax checked only roughly; consumers refuse it by name.
    /// Everything the grammar knows but no consumer executes yet (`mma`, `tex`, `mbarrier`, ...).
    Other {
        opcode: Box<str>,
        text: Box<str>,
    },
}

/// Operations of [`Inst::Carry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CarryOp {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// A predicate source, possibly negated (`p`, `!p`) or constant (`1`, `0`, `%pt`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PredSrc {
    Reg { reg: Reg, negated: bool },
    Const(bool),
}

/// A source position from `.loc` (the file is an index into [`Module::files`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct SourceLine {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// An instruction in a body.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Statement {
    pub guard: Option<Guard>,
    pub inst: Inst,
    pub span: Span,
    pub line: Option<SourceLine>,
}

/// A register declaration.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct RegDecl {
    pub name: Box<str>,
    pub ty: Type,
}

/// An initialiser element of a variable.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Init {
    /// Raw bytes, little endian, placed one after the other.
    Bytes(Vec<u8>),
    /// The address of a symbol plus an offset, `size` bytes wide; `generic` for `generic(sym)`.
    /// `shift` is the bit offset of `mask(sym)` forms (0 normally).
    Address { symbol: Symbol, offset: i64, size: u32, generic: bool, shift: u32 },
}

/// How a name is visible to other modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Linkage {
    Internal,
    Extern,
    Visible,
    Weak,
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
    pub init: Vec<Init>,
    /// Visibility.
    pub linkage: Linkage,
    /// `.managed`
    pub managed: bool,
    /// Set for `.texref`, `.surfref`, `.samplerref`.
    pub opaque: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A parameter or return value of a function.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Param {
    pub name: Box<str>,
    pub ty: Type,
    pub align: u32,
    pub size: u32,
    pub ptr: bool,
    /** offset in the packed parameter buffer */
    pub offset: u32,
    /** set when a `.reg` parameter of a device function */
    pub reg: Option<Reg>,
}

/// The signature of an indirect call.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Prototype {
    pub name: Box<str>,
    pub returns: Vec<Param>,
    pub params: Vec<Param>,
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
#[allow(missing_docs)]
pub struct LaunchBounds {
    pub max_ntid: Option<[u32; 3]>,
    pub req_ntid: Option<[u32; 3]>,
    pub min_ncta_per_sm: Option<u32>,
    pub max_nreg: Option<u32>,
    pub req_nctapercluster: Option<[u32; 3]>,
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
    pub fn entry(&self, name: &str) -> Option<(FuncId, &Function)> {
        self.functions.iter().enumerate().find(|(_, f)| f.entry && &*f.name == name).map(|(i, f)| (FuncId(i as u32), f))
    }
}
