//! One instruction, [`Inst`], and the statement it stands in.

use super::*;

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

/// One PTX instruction without its guard.
///
/// Integer immediates in [`Operand`] are to be read at the type the instruction gives the operand.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Inst {
    Unary {
        op: UnaryOp,
        ty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
    },
    Binary {
        op: BinaryOp,
        ty: Type,
        mods: FpMods,
        dst: Reg,
        a: Operand,
        b: Operand,
    },
    Ternary {
        op: TernaryOp,
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
        dsts: VectorElements<Option<Reg>>,
        src: Operand,
    },
    /// `mov.b64 c, {a, b}`: pack, low part first.
    MovPack {
        ty: Type,
        dst: Reg,
        srcs: VectorElements<Operand>,
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
    /// `cvt.pack.sat.ty.s32{.b32} d, a, b{, c}`: a and b clamped to `bits` bits (16, 8, 4 or 2), b the
    /// lower one; below 16 bits those of c lie above.
    CvtIntPack {
        bits: u8,
        signed: bool,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
    },
    /// `vadd`, `vset2`, `vabsdiff4`, ...
    Video {
        video: Video,
        dst: Reg,
        a: Operand,
        b: Operand,
        c: Operand,
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
        sem: MemorySemantics,
        scope: Option<MemoryScope>,
        nc: bool,
        dsts: VectorElements<Option<Reg>>,
        addr: Addr,
    },
    /// `st`; cache hints are dropped, `.wt` writes as volatile.
    St {
        space: Space,
        ty: Type,
        sem: MemorySemantics,
        scope: Option<MemoryScope>,
        addr: Addr,
        srcs: VectorElements<Operand>,
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
        sem: MemorySemantics,
        scope: MemoryScope,
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
        /// When true nothing is read and zeros are written.
        ignore_src: Option<PredSrc>,
    },
    /// `cp.async.commit_group` and `cp.async.wait_group n` / `wait_all` (`n = None`)
    CpAsyncCommit,
    CpAsyncWait {
        n: Option<u32>,
    },
    /// `cp.async.bulk` of `size` bytes, which completes as many bytes at `barrier`; with `reduce`
    /// (`cp.reduce.async.bulk`) elements are combined with those at the destination.
    BulkCopy {
        to: Space,
        from: Space,
        dst: Addr,
        src: Addr,
        size: Operand,
        barrier: Option<Addr>,
        reduce: Option<(AtomOp, Type)>,
    },
    /// `cp.async.bulk.commit_group`, `cp.async.bulk.wait_group{.read} n`
    BulkCommit,
    BulkWait {
        n: u32,
        read: bool,
    },
    /// `mbarrier...` and `cp.async.mbarrier.arrive`; what `a` and `b` are says [`MbarrierOp`].
    Mbarrier {
        op: MbarrierOp,
        space: Space,
        dst: Option<Reg>,
        addr: Addr,
        a: Option<Operand>,
        b: Option<Operand>,
    },
    /// `atom` and `red` (without `dsts`) of several elements.
    AtomVector {
        space: Space,
        op: AtomOp,
        ty: Type,
        sem: MemorySemantics,
        scope: MemoryScope,
        dsts: Option<VectorElements<Option<Reg>>>,
        addr: Addr,
        srcs: VectorElements<Operand>,
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
    /// `tex tld4 txq suld sust sured suq istypep`
    Texture(Box<TexInst>),
    /// `wmma`, `mma`, `ldmatrix`, `stmatrix`, `movmatrix`
    Matrix(Box<MatrixInst>),
    /// Valid PTX with full syntax checked only roughly; consumers refuse it by name.
    /// Everything the grammar knows but no consumer executes yet (`wgmma`, `tex`, `mbarrier`, ...).
    Other {
        opcode: Box<str>,
        text: Box<str>,
    },
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
