//! One instruction, [`Inst`].

use super::*;

/// One PTX instruction without its guard.
///
/// Integer immediates in [`Operand`] are to be read at the type the instruction gives the operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Inst {
    /// An instruction of one operand.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// Type of the operation.
        ty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
    },
    /// An instruction of two operands.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// Type of the operation.
        ty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
    },
    /// An instruction of three operands.
    Ternary {
        /// The operation.
        op: TernaryOp,
        /// Type of the operation.
        ty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Third operand.
        c: Operand,
    },
    /// `bfi d, a, b, pos, len`
    Bfi {
        /// Type of the operation.
        ty: Type,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Position of the field's lowest bit.
        pos: Operand,
        /// Number of bits of the field.
        len: Operand,
    },
    /// `add.cc addc subc mad.lo.cc madc.hi ...`: reads and/or writes the condition-code register CC.CF.
    Carry {
        /// The operation.
        op: CarryOp,
        /// Type of the operation.
        ty: Type,
        /// Whether it reads the carry.
        cc_in: bool,
        /// Whether it writes the carry (`.cc`).
        cc_out: bool,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Of `mad` the addend.
        c: Option<Operand>,
    },
    /// `slct.dty.{s32,f32} d, a, b, c`: c >= 0 ? a : b
    Slct {
        /// Type of `a`, `b` and the result.
        ty: Type,
        /// Type of `c`.
        cty: Type,
        /// Whether subnormal numbers are flushed to zero (`.ftz`).
        ftz: bool,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Third operand.
        c: Operand,
    },
    /// `selp`: pred ? a : b; `!pred` has been turned into exchanged operands.
    Selp {
        /// Type of the operation.
        ty: Type,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// The predicate.
        pred: Operand,
    },
    /// `setp`: `p = cmp(a,b) bool c`, `q = !cmp(a,b) bool c`. Of packed halves (`F16x2`, `BF16x2`)
    /// `dst` is the comparison of the low halves and `dst2` that of the high ones.
    Setp {
        /// The comparison.
        cmp: CmpOp,
        /// Type of the operands.
        ty: Type,
        /// Whether subnormal numbers are flushed to zero (`.ftz`).
        ftz: bool,
        /// What its result is combined with.
        combine: Option<(BoolOp, PredSrc)>,
        /// `p`; `None` is `_`.
        dst: Option<Reg>,
        /// `q`, if there is one.
        dst2: Option<Reg>,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
    },
    /// `set.cmp.dty.sty`
    Set {
        /// The comparison.
        cmp: CmpOp,
        /// Type of the result.
        dty: Type,
        /// Type of the operands.
        ty: Type,
        /// Whether subnormal numbers are flushed to zero (`.ftz`).
        ftz: bool,
        /// What its result is combined with.
        combine: Option<(BoolOp, PredSrc)>,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
    },
    /// `mov` of a scalar.
    Mov {
        /// Type of the operation.
        ty: Type,
        /// The register that is written.
        dst: Reg,
        /// The source operand.
        src: Operand,
    },
    /// `mov.b64 {a, b}, c`: unpack, low part first.
    MovUnpack {
        /// Type of the operation.
        ty: Type,
        /// The parts, the low one first.
        dsts: VectorElements<Option<Reg>>,
        /// The source operand.
        src: Operand,
    },
    /// `mov.b64 c, {a, b}`: pack, low part first.
    MovPack {
        /// Type of the operation.
        ty: Type,
        /// The register that is written.
        dst: Reg,
        /// The parts, the low one first.
        srcs: VectorElements<Operand>,
    },
    /// `cvt`
    Cvt {
        /// Type of the result.
        dty: Type,
        /// Type of the operand.
        sty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
    },
    /// `cvt.{rn,rz}.{f16x2,bf16x2,e4m3x2,...}.f32 d, a, b`: a is the high half. Towards 8-bit
    /// floats (also in `Cvt`) `.satfinite` is implied.
    CvtPack {
        /// Type of the result.
        dty: Type,
        /// Type of the operand.
        sty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// The register that is written.
        dst: Reg,
        /// The high half.
        a: Operand,
        /// The low half.
        b: Operand,
    },
    /// `cvt.pack.sat.ty.s32{.b32} d, a, b{, c}`: a and b clamped to `bits` bits (16, 8, 4 or 2), b the
    /// lower one; below 16 bits those of c lie above.
    CvtIntPack {
        /// Bits of each result.
        bits: u8,
        /// Whether results are signed.
        signed: bool,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Third operand.
        c: Operand,
    },
    /// `vadd`, `vset2`, `vabsdiff4`, ...
    Video {
        /// The operation and its selectors.
        video: Video,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// Second operand.
        b: Operand,
        /// Third operand.
        c: Operand,
    },
    /// `cvta` (to = false: space address to generic) and `cvta.to` (generic to space).
    Cvta {
        /// The state space.
        space: Space,
        /// From generic to the space, rather than to generic.
        to: bool,
        /// `U32` or `U64`.
        ty: Type,
        /// The register that is written.
        dst: Reg,
        /// The source operand.
        src: Operand,
    },
    /// `isspacep.space p, a`
    Isspacep {
        /// The state space.
        space: Space,
        /// The register that is written.
        dst: Reg,
        /// The address.
        a: Operand,
    },
    /// `ld`; `ld.global.nc` and `ldu` set `nc`. Cache hints are dropped, `.cv` reads as volatile.
    Ld {
        /// The state space.
        space: Space,
        /// Type of an element.
        ty: Type,
        /// Memory ordering.
        sem: MemorySemantics,
        /// Synchronisation scope.
        scope: Option<MemoryScope>,
        /// Whether the memory does not change during the kernel.
        nc: bool,
        /// The registers that are written; `None` is `_`.
        dsts: VectorElements<Option<Reg>>,
        /// The memory it accesses.
        addr: Addr,
    },
    /// `st`; cache hints are dropped, `.wt` writes as volatile.
    St {
        /// The state space.
        space: Space,
        /// Type of an element.
        ty: Type,
        /// Memory ordering.
        sem: MemorySemantics,
        /// Synchronisation scope.
        scope: Option<MemoryScope>,
        /// The memory it accesses.
        addr: Addr,
        /// The source operands.
        srcs: VectorElements<Operand>,
    },
    /// `prefetch`, `prefetchu`, `applypriority`, `discard`: hints
    Prefetch {
        /// The state space.
        space: Space,
        /// The memory it accesses.
        addr: Addr,
    },
    /// `atom`, and `red` without `dst`.
    Atom {
        /// The state space.
        space: Space,
        /// The operation.
        op: AtomOp,
        /// Type of the operation.
        ty: Type,
        /// Memory ordering.
        sem: MemorySemantics,
        /// Synchronisation scope.
        scope: MemoryScope,
        /// The old value.
        dst: Option<Reg>,
        /// The memory it accesses.
        addr: Addr,
        /// The operand; of `Cas` the expected value.
        b: Operand,
        /// Of `Cas` the new value.
        c: Option<Operand>,
    },
    /// `bra`
    Bra {
        /// The label.
        target: Label,
        /// Whether all threads of the warp take part together (`.uni`).
        uniform: bool,
    },
    /// `brx.idx index, list`
    Brx {
        /// The number of the label, from 0 on.
        index: Reg,
        /// The labels.
        targets: Vec<Label>,
    },
    /// `call`
    Call {
        /// The function.
        callee: Callee,
        /// Where results go.
        rets: Vec<CallArg>,
        /// The arguments.
        args: Vec<CallArg>,
        /// Whether all threads of the warp take part together (`.uni`).
        uniform: bool,
    },
    /// `ret`
    Ret,
    /// `exit`: ends the thread.
    Exit,
    /// `trap`: ends the launch with an error.
    Trap,
    /// `brkpt`: stops for a debugger.
    Brkpt,
    /// Barrier `id` over `count` threads (all of the block when `None`).
    Bar {
        /// What it does besides arriving.
        kind: BarKind,
        /// The number of the barrier.
        id: Operand,
        /// The number of threads.
        count: Option<Operand>,
        /// Whether all threads of the warp execute it together (`.aligned`).
        aligned: bool,
    },
    /// `bar.warp.sync mask`
    BarWarpSync {
        /// The lanes that wait for each other.
        mask: Operand,
    },
    /// `membar`, `fence`
    Fence(FenceKind),
    /// `shfl.sync.mode.b32 d|p, a, b, c, mask`
    Shfl {
        /// Which lane is read.
        mode: ShflMode,
        /// The register that is written.
        dst: Reg,
        /// Whether that lane was in range.
        pred: Option<Reg>,
        /// The value.
        a: Operand,
        /// Lane or distance.
        b: Operand,
        /// Clamp and segment.
        c: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `vote.sync`: `dst` is a predicate, or a b32 for `Ballot`.
    Vote {
        /// What is asked.
        mode: VoteMode,
        /// The register that is written.
        dst: Reg,
        /// The lane's predicate.
        pred: PredSrc,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `match.any.sync` (`all = false`) and `match.all.sync d|p`
    Match {
        /// `match.all` rather than `match.any`.
        all: bool,
        /// Type of the operation.
        ty: Type,
        /// The lanes with the same value.
        dst: Reg,
        /// Of `match.all`: whether all have it.
        pred: Option<Reg>,
        /// First operand.
        a: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `redux.sync`: a reduction over the lanes of the mask.
    Redux {
        /// The operation.
        op: AtomOp,
        /// Type of the operation.
        ty: Type,
        /// Rounding and the other modifiers.
        mods: FpMods,
        /// Takes absolute values (`.abs`).
        abs: bool,
        /// The register that is written.
        dst: Reg,
        /// First operand.
        a: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `activemask`
    Activemask {
        /// The register that is written.
        dst: Reg,
    },
    /// `elect.sync d|p, mask`
    Elect {
        /// The elected lane.
        dst: Option<Reg>,
        /// Whether it is this lane.
        pred: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `nanosleep`
    Nanosleep {
        /// The time in nanoseconds.
        a: Operand,
    },
    /// `cp.async.{ca,cg}.shared.global [dst], [src], size{, src_size}`
    CpAsync {
        /// Shared memory.
        dst: Addr,
        /// Global memory.
        src: Addr,
        /// Bytes that are written: 4, 8 or 16.
        size: u32,
        /// Bytes that are read; zeros fill the rest.
        src_size: Option<Operand>,
        /// When true nothing is read and zeros are written.
        ignore_src: Option<PredSrc>,
    },
    /// `cp.async.commit_group` and `cp.async.wait_group n` / `wait_all` (`n = None`)
    CpAsyncCommit,
    /// Waits until at most `n` groups of copies of the thread are left, or none.
    CpAsyncWait {
        /// `None` for all.
        n: Option<u32>,
    },
    /// `cp.async.bulk` of `size` bytes, which completes as many bytes at `barrier`; with `reduce`
    /// (`cp.reduce.async.bulk`) elements are combined with those at the destination.
    BulkCopy {
        /// The destination's space.
        to: Space,
        /// The source's space.
        from: Space,
        /// The destination.
        dst: Addr,
        /// The source.
        src: Addr,
        /// The number of bytes.
        size: Operand,
        /// The `mbarrier` that the bytes complete at.
        barrier: Option<Addr>,
        /// How elements are combined with those at the destination.
        reduce: Option<(AtomOp, Type)>,
    },
    /// `cp.async.bulk.commit_group`, `cp.async.bulk.wait_group{.read} n`
    BulkCommit,
    /// Waits until at most `n` groups of bulk copies are left.
    BulkWait {
        /// Groups that may be left.
        n: u32,
        /// Waits only for the sources to have been read.
        read: bool,
    },
    /// `mbarrier...` and `cp.async.mbarrier.arrive`; what `a` and `b` are says [`MbarrierOp`].
    Mbarrier {
        /// What is done.
        op: MbarrierOp,
        /// The state space.
        space: Space,
        /// State, or predicate of a wait.
        dst: Option<Reg>,
        /// The object.
        addr: Addr,
        /// See [`MbarrierOp`].
        a: Option<Operand>,
        /// See [`MbarrierOp`].
        b: Option<Operand>,
    },
    /// `atom` and `red` (without `dsts`) of several elements.
    AtomVector {
        /// The state space.
        space: Space,
        /// The operation.
        op: AtomOp,
        /// Type of an element.
        ty: Type,
        /// Memory ordering.
        sem: MemorySemantics,
        /// Synchronisation scope.
        scope: MemoryScope,
        /// The old values.
        dsts: Option<VectorElements<Option<Reg>>>,
        /// The memory it accesses.
        addr: Addr,
        /// The source operands.
        srcs: VectorElements<Operand>,
    },
    /// `pmevent`, `setmaxnreg`, `griddepcontrol`, `createpolicy`-free hints: accepted, without effect.
    Hint {
        /// The instruction's name.
        name: &'static str,
    },
    /// `alloca`
    Alloca {
        /// Type of the address.
        ty: Type,
        /// The address.
        dst: Reg,
        /// Size in bytes.
        size: Operand,
        /// Alignment in bytes.
        align: u32,
    },
    /// `stacksave`
    StackSave {
        /// Type of the address.
        ty: Type,
        /// The stack pointer.
        dst: Reg,
    },
    /// `stackrestore`
    StackRestore {
        /// Type of the address.
        ty: Type,
        /// The stack pointer.
        src: Operand,
    },
    /// `tex tld4 txq suld sust sured suq istypep`
    Texture(Box<TexInst>),
    /// `wmma`, `mma`, `ldmatrix`, `stmatrix`, `movmatrix`
    Matrix(Box<MatrixInst>),
    /// Valid PTX with full syntax checked only roughly; consumers refuse it by name.
    /// Everything the grammar knows but no consumer executes yet (`wgmma`, `tex`, `mbarrier`, ...).
    Other {
        /// The instruction's name.
        opcode: Box<str>,
        /// All of its text.
        text: Box<str>,
    },
}
