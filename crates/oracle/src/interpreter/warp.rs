//! What threads of a warp do together, and what atomics do to memory.

use super::matrix_tiles;
use crate::exact_rounding::{BF16, F16, F32, F64};
use crate::float::{self, ArithOp};
use crate::int::{self, truncate_bits};
use crate::interpreter::thread::{SimBlock, SimThread, ThreadState};
use crate::matrix::{self, FragmentRegisters};
use rtcg_ptx::ast::*;

/// The value that an atomic operation, or a reduction, makes of two; `flush` concerns sums of `.f32`,
/// and those of `.f64`, whose NaNs are then left as they are.
pub(crate) fn apply_atomic_op(op: AtomOp, ty: Type, flush: bool, old: u128, b: u128, c: u128) -> Result<u128, String> {
    let n = ty.bits();
    let (x, y) =
        (int::interpret_bits(n.min(64), ty.is_signed(), old), int::interpret_bits(n.min(64), ty.is_signed(), b));
    let add = |f, s: u32| {
        let half = |v: u128| (v >> s) as u64 & if n == 64 { u64::MAX } else { (1 << float_bits_of_type(ty)) - 1 };
        u128::from(float::execute_arithmetic(ArithOp::Add, f, &FpMods::default(), [half(old), half(b), 0])) << s
    };
    Ok(match (op, ty) {
        (AtomOp::Add, Type::F32) => {
            let mods = FpMods { ftz: flush, ..FpMods::default() };
            float::execute_arithmetic(ArithOp::Add, F32, &mods, [old as u64, b as u64, 0]).into()
        }
        (AtomOp::Add, Type::F64) if flush && F64.is_nan(b as u64) => b,
        (AtomOp::Add, Type::F64) if flush && F64.is_nan(old as u64) => old,
        // In shared memory the value found goes before the operand.
        (AtomOp::Add, Type::F64) => {
            float::execute_arithmetic(ArithOp::Add, F64, &FpMods::default(), [b as u64, old as u64, 0]).into()
        }
        (AtomOp::Add, Type::F16) => add(F16, 0),
        (AtomOp::Add, Type::BF16) => add(BF16, 0),
        (AtomOp::Add, Type::F16x2) => add(F16, 0) | add(F16, 16),
        (AtomOp::Add, Type::BF16x2) => add(BF16, 0) | add(BF16, 16),
        (AtomOp::Add, _) => truncate_bits(n, old + b),
        (AtomOp::Min, _) if !ty.is_float() => truncate_bits(n, x.min(y) as u128),
        (AtomOp::Max, _) if !ty.is_float() => truncate_bits(n, x.max(y) as u128),
        (AtomOp::And, _) => old & b,
        (AtomOp::Or, _) => old | b,
        (AtomOp::Xor, _) => old ^ b,
        (AtomOp::Exch, _) => b,
        (AtomOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (AtomOp::Cas, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        _ => return Err(format!("the oracle does not know an atomic {op:?} of {ty:?}")),
    })
}

fn float_bits_of_type(ty: Type) -> u32 {
    if ty.bits() == 32 && ty != Type::F32 { 16 } else { ty.bits() }
}

/// Executes the warp operations that all their members have reached; says whether there was one.
pub(crate) fn resolve_warp_ops(warp: &mut [SimThread<'_>], block: &mut SimBlock<'_>) -> Result<bool, String> {
    let mut progress = false;
    for lane in 0..warp.len() {
        let ThreadState::Warp(mask) = warp[lane].state else { continue };
        if mask >> lane & 1 == 0 {
            return Err("a thread executes a warp operation without being its member".into());
        }
        let operation = warp_operation(&warp[lane])?;
        let members: Vec<usize> =
            (0..warp.len()).filter(|&i| mask >> i & 1 != 0 && warp[i].state != ThreadState::Done).collect();
        let same = |t: &SimThread<'_>| warp_operation(t).is_ok_and(|other| is_same_operation(operation, other));
        let here = |t: &SimThread<'_>| t.state == ThreadState::Warp(mask) && same(t);
        if members.iter().all(|&i| here(&warp[i])) {
            execute_collective(warp, block, &members)?;
            progress = true;
        }
    }
    Ok(progress)
}

/// The warp operation that a thread stands at.
fn warp_operation<'m>(thread: &SimThread<'m>) -> Result<&'m Inst, String> {
    Ok(&thread.current_statement()?.ok_or("a warp operation beyond the body")?.inst)
}

/// Whether operations at two places have the same qualifiers: then those who wait at either wait for each other. Those on
/// matrices are for a warp at one place.
fn is_same_operation(one: &Inst, other: &Inst) -> bool {
    match (one, other) {
        (Inst::Shfl { mode: a, .. }, Inst::Shfl { mode: b, .. }) => a == b,
        (Inst::Vote { mode: a, .. }, Inst::Vote { mode: b, .. }) => a == b,
        (Inst::Match { all, ty, .. }, Inst::Match { all: every, ty: other, .. }) => (all, ty) == (every, other),
        (Inst::Redux { op: a, ty: s, .. }, Inst::Redux { op: b, ty: t, .. }) => (a, s) == (b, t),
        (Inst::BarWarpSync { .. }, Inst::BarWarpSync { .. }) | (Inst::Elect { .. }, Inst::Elect { .. }) => true,
        _ => std::ptr::eq(one, other),
    }
}

/// Lanes that wait at one `activemask` see each other.
pub(crate) fn resolve_activemask(warp: &mut [SimThread<'_>]) -> Result<bool, String> {
    let Some(first) = warp.iter().position(|t| t.state == ThreadState::Activemask) else { return Ok(false) };
    let place = warp[first].current_position();
    let lanes: Vec<usize> = (0..warp.len())
        .filter(|&i| warp[i].state == ThreadState::Activemask && warp[i].current_position() == place)
        .collect();
    let mask = lanes.iter().fold(0, |m, &i| m | 1u128 << i);
    for &i in &lanes {
        if let Some(Statement { inst: Inst::Activemask { dst }, .. }) = warp[i].current_statement()? {
            warp[i].write_register(*dst, mask)?;
        }
        advance_thread(&mut warp[i])?;
    }
    Ok(true)
}

fn advance_thread(thread: &mut SimThread<'_>) -> Result<(), String> {
    thread.state = ThreadState::Ready;
    thread.advance_to_next_statement()
}

/// Executes one operation for all its members.
fn execute_collective(warp: &mut [SimThread<'_>], block: &mut SimBlock<'_>, members: &[usize]) -> Result<(), String> {
    // Each member may stand at another place, with operands of its own.
    let operations: Vec<&Inst> = members.iter().map(|&i| warp_operation(&warp[i])).collect::<Result<_, _>>()?;
    if let (Inst::Matrix(matrix), 32) = (operations[0], members.len())
        && let Some(writes) = matrix_tiles::execute_matrix_transfer(warp, block, matrix)?
    {
        return write_member_results(warp, members, writes);
    }
    let writes = Collective { warp, block, members, operations }.results()?;
    write_member_results(warp, members, writes)
}

/// The registers that a member writes.
type Writes = Vec<(Reg, u128)>;

/// One operation of the same kind at which all members stand.
struct Collective<'a, 'm, 'b> {
    warp: &'a [SimThread<'m>],
    block: &'a SimBlock<'b>,
    members: &'a [usize],
    operations: Vec<&'m Inst>,
}

impl Collective<'_, '_, '_> {
    fn results(&self) -> Result<Vec<Writes>, String> {
        match self.operations[0] {
            Inst::BarWarpSync { .. } => Ok(vec![vec![]; self.members.len()]),
            Inst::Vote { mode, .. } => self.vote(*mode),
            Inst::Match { all, ty, .. } => {
                let v = self.own_values(0, ty.bits())?;
                let same = v.iter().all(|&x| x == v[0]);
                let result = |k: usize| match all {
                    true if same => self.lanes(|_| true),
                    true => 0,
                    false => self.lanes(|j| v[j] == v[k]),
                };
                Ok(self.of_each(|k| self.writes(k, result(k), same)))
            }
            Inst::Redux { op, ty, .. } => {
                let v = self.own_values(0, ty.bits())?;
                let mut rest = v[1..].iter();
                let sum = rest.try_fold(v[0], |sum, &x| apply_atomic_op(*op, *ty, false, sum, x, 0))?;
                Ok(self.of_each(|k| self.writes(k, sum, false)))
            }
            Inst::Elect { .. } => {
                let leader = self.members[0];
                Ok(self.of_each(|k| self.writes(k, leader as u128, self.members[k] == leader)))
            }
            Inst::Shfl { mode, .. } => self.shuffle(*mode),
            Inst::Matrix(matrix) if self.members.len() == 32 => self.matrix_result(matrix),
            other => Err(format!("the oracle does not know {other:?}")),
        }
    }

    fn vote(&self, mode: VoteMode) -> Result<Vec<Writes>, String> {
        let truth = |(&i, inst): (&usize, &&Inst)| match inst {
            Inst::Vote { pred, .. } => self.warp[i].read_predicate(self.block, pred),
            other => Err(format!("{other:?} is no vote")),
        };
        let truths = self.members.iter().zip(&self.operations).map(truth).collect::<Result<Vec<bool>, String>>()?;
        let result = match mode {
            VoteMode::All => truths.iter().all(|&t| t).into(),
            VoteMode::Any => truths.iter().any(|&t| t).into(),
            VoteMode::Uni => truths.iter().all(|&t| t == truths[0]).into(),
            VoteMode::Ballot => self.lanes(|k| truths[k]),
        };
        Ok(self.of_each(|k| self.writes(k, result, false)))
    }

    fn shuffle(&self, mode: ShflMode) -> Result<Vec<Writes>, String> {
        let (v, b, c) = (self.own_values(0, 32)?, self.own_values(1, 32)?, self.own_values(2, 32)?);
        let result = |(k, &lane): (usize, &usize)| {
            let (from, inside) = shuffle_source_lane(mode, lane as i64, b[k] as i64 & 31, c[k] as i64);
            match self.members.iter().position(|&i| i as i64 == from) {
                Some(from) => Ok(self.writes(k, v[from], inside)),
                None => Err("a shuffle reads from a lane that does not take part".into()),
            }
        };
        self.members.iter().enumerate().map(result).collect()
    }

    fn matrix_result(&self, matrix: &MatrixInst) -> Result<Vec<Writes>, String> {
        match matrix {
            MatrixInst::Product { form, d, a, b, c, metadata } => {
                let [a, b, c] = [self.fragment(a, form.a)?, self.fragment(b, form.b)?, self.fragment(c, form.c)?];
                let metadata = metadata.as_ref().map_or(Ok(vec![]), |m| self.values(m, 32))?;
                let result = matrix::mma_product(form, &a, &b, &c, &metadata)?;
                Ok(result.into_iter().map(|words| d.iter().copied().zip(words).collect()).collect())
            }
            MatrixInst::MovMatrix { dst, src } => {
                let words = matrix::movmatrix_transpose(&self.values(src, 32)?);
                Ok(words.into_iter().map(|word| vec![(*dst, word)]).collect())
            }
            other => Err(format!("the oracle does not know {other:?}")),
        }
    }

    /// The registers of a matrix that each member has.
    fn fragment(&self, list: &[Operand], ty: MatrixType) -> Result<FragmentRegisters, String> {
        let registers = |&i: &usize| {
            list.iter().map(|operand| self.warp[i].read_operand(self.block, operand, ty.register_bits())).collect()
        };
        self.members.iter().map(registers).collect()
    }

    /// The values that one operand has in each member.
    fn values(&self, operand: &Operand, bits: u32) -> Result<Vec<u128>, String> {
        self.members.iter().map(|&i| self.warp[i].read_operand(self.block, operand, bits)).collect()
    }

    /// The value of each member's own operand.
    fn own_values(&self, number: usize, bits: u32) -> Result<Vec<u128>, String> {
        let of =
            |(&i, inst): (&usize, &&Inst)| self.warp[i].read_operand(self.block, source_operand(inst, number)?, bits);
        self.members.iter().zip(&self.operations).map(of).collect()
    }

    /// The lanes of the members of which something is true, as bits.
    fn lanes(&self, truth: impl Fn(usize) -> bool) -> u128 {
        self.members.iter().enumerate().filter(|(k, _)| truth(*k)).fold(0, |m, (_, &i)| m | 1 << i)
    }

    /// What a member writes: a value and a predicate, to the registers that its operation names for them.
    fn writes(&self, k: usize, value: u128, truth: bool) -> Writes {
        let (dst, pred) = destinations(self.operations[k]);
        dst.map(|d| (d, value)).into_iter().chain(pred.map(|p| (p, truth.into()))).collect()
    }

    fn of_each(&self, result: impl Fn(usize) -> Writes) -> Vec<Writes> {
        (0..self.members.len()).map(result).collect()
    }
}

/// An operand of a warp operation, besides its mask.
fn source_operand(inst: &Inst, number: usize) -> Result<&Operand, String> {
    match (inst, number) {
        (Inst::Shfl { a, .. } | Inst::Match { a, .. } | Inst::Redux { a, .. }, 0) => Ok(a),
        (Inst::Shfl { b, .. }, 1) => Ok(b),
        (Inst::Shfl { c, .. }, 2) => Ok(c),
        _ => Err(format!("{inst:?} has no operand {number}")),
    }
}

/// Where the result and the predicate of a warp operation go.
fn destinations(inst: &Inst) -> (Option<Reg>, Option<Reg>) {
    match inst {
        Inst::Shfl { dst, pred, .. } | Inst::Match { dst, pred, .. } => (Some(*dst), *pred),
        Inst::Vote { dst, .. } | Inst::Redux { dst, .. } => (Some(*dst), None),
        Inst::Elect { dst, pred, .. } => (*dst, Some(*pred)),
        _ => (None, None),
    }
}

/// Writes the results of the members, which then go on.
fn write_member_results(
    warp: &mut [SimThread<'_>],
    members: &[usize],
    writes: Vec<Vec<(Reg, u128)>>,
) -> Result<(), String> {
    for (&i, list) in members.iter().zip(writes) {
        for (dst, value) in list {
            warp[i].write_register(dst, value)?;
        }
        advance_thread(&mut warp[i])?;
    }
    Ok(())
}

/// The lane that `shfl` reads from, and whether it lies inside the segment; after the ISA.
fn shuffle_source_lane(mode: ShflMode, lane: i64, b: i64, c: i64) -> (i64, bool) {
    let (clamp, segments) = (c & 31, c >> 8 & 31);
    let max_lane = (lane & segments) | (clamp & !segments);
    let min_lane = lane & segments;
    let (from, inside) = match mode {
        ShflMode::Up => (lane - b, lane - b >= max_lane),
        ShflMode::Down => (lane + b, lane + b <= max_lane),
        ShflMode::Bfly => (lane ^ b, lane ^ b <= max_lane),
        ShflMode::Idx => (min_lane | (b & !segments), (min_lane | (b & !segments)) <= max_lane),
    };
    (if inside { from } else { lane }, inside)
}
