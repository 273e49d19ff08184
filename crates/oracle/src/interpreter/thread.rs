//! One thread: its registers, the statements it executes, and the instructions that concern it alone or memory.

mod async_copies;
mod calls;
mod memory;
mod textures;

use crate::int::truncate_bits;
use crate::interpreter::{GridState, OracleLaunch};
use crate::mbarrier::Mbarrier;
use crate::memory::MemoryRegion;
use crate::pure_instructions::{self, OperandSource};
use rtcg_ptx::ast::*;
use std::cell::Cell;
use std::collections::HashMap;

/// Generic addresses of shared memory begin here.
const SHARED_WINDOW: u64 = 0x0100 << 48;
/// Generic addresses of a thread's local memory begin here.
const LOCAL_WINDOW: u64 = 0x0200 << 48;
/// Size of both windows.
const WINDOW_BYTES: u64 = 1 << 32;
/// Calls that may be open at once.
const MAX_CALL_DEPTH: usize = 64;
/// Local memory begins at a number that is no shared offset, so that mixing the two up shows.
const LOCAL_BASE: u64 = 0x1000;

/// What a thread waits for: the statement it stands at says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// It can go on.
    Ready,
    /// It stands at a warp operation with this member mask.
    Warp(u32),
    /// It stands at `activemask`.
    Activemask,
    /// It stands at a barrier: number, threads that it counts.
    Barrier(u32, Option<u32>),
    /// It waits for the phase of an `execute_mbarrier` to end.
    Mbarrier,
    /// It has exited.
    Done,
}

/// A call in progress.
#[derive(Debug, Clone)]
struct CallFrame {
    function: usize,
    pc: usize,
    /// `None` was never written.
    regs: Vec<Option<u128>>,
    carry: Option<bool>,
    /// Contents of `.param` variables, offsets of `.local` ones.
    params: Vec<Vec<u8>>,
    local: Vec<u64>,
    arguments: Vec<Vec<u8>>,
    results: Vec<Vec<u8>>,
    /// Local memory before the call.
    local_end: usize,
}

/// A thread of the running block.
#[derive(Debug, Clone)]
pub(crate) struct SimThread<'m> {
    module: &'m Module,
    frames: Vec<CallFrame>,
    local: MemoryRegion,
    /// What it waits for.
    pub(crate) state: ThreadState,
    /// Number in the block.
    pub(crate) number: u32,
    /// `%tid`
    pub(crate) tid: [u32; 3],
    /// Index of the thread in the grid, for races.
    pub(crate) global_number: u32,
    /// See [`OracleLaunch::zero_unwritten`].
    zero_unwritten: bool,
    /// Whether it has read a register that it never wrote.
    pub(crate) read_unwritten: Cell<bool>,
}

/// The block as an instruction sees it.
pub(crate) struct SimBlock<'a> {
    /// The grid.
    pub(crate) grid: &'a mut GridState,
    /// `%ctaid`
    pub(crate) ctaid: [u32; 3],
    /// Number of the block.
    pub(crate) number: u32,
    /// Barriers passed.
    pub(crate) epoch: u32,
    /// Shared memory.
    pub(crate) shared: MemoryRegion,
    /// Threads that have arrived at barriers without waiting, by number.
    pub(crate) arrivals: [u32; 16],
    /// `execute_mbarrier` objects by generic address.
    pub(crate) mbarriers: HashMap<u64, Mbarrier>,
}

impl SimBlock<'_> {
    /// Performs an operation on the `execute_mbarrier` at `at`; gives its state before.
    fn perform_on_mbarrier(&mut self, at: u64, op: MbarrierOp, a: Option<u128>) -> Result<u128, String> {
        let threads = u64::from(self.grid.block.iter().product::<u32>());
        let object = self.mbarriers.get_mut(&at).ok_or("uses what is no mbarrier")?;
        let (state, ended) = object.perform_op(op, a)?;
        self.epoch += u32::from(ended && object.expected_arrivals() >= threads);
        Ok(state)
    }
}

/// Reads operands of a thread.
struct OperandReader<'a, 'm> {
    thread: &'a SimThread<'m>,
    grid: &'a GridState,
    ctaid: [u32; 3],
}

impl OperandSource for OperandReader<'_, '_> {
    fn operand_bits(&self, operand: &Operand, bits: u32) -> Result<u128, String> {
        let value = match operand {
            Operand::Reg(r) => self.thread.read_register(*r)?,
            Operand::Int(i) => *i as i128 as u128,
            Operand::F32(x) => (*x).into(),
            Operand::F64(x) => (*x).into(),
            Operand::Special(s) => self.special_register(*s)?.into(),
            Operand::Address(symbol, offset) => {
                (self.thread.symbol_address(self.grid, *symbol)?.wrapping_add_signed(*offset)).into()
            }
        };
        Ok(truncate_bits(bits, value))
    }

    fn predicate_value(&self, pred: &PredSrc) -> Result<bool, String> {
        match pred {
            PredSrc::Reg { reg, negated } => Ok((self.thread.read_register(*reg)? != 0) != *negated),
            PredSrc::Const(truth) => Ok(*truth),
        }
    }

    fn carry_flag(&self) -> Result<bool, String> {
        let carry = self.thread.current_frame()?.carry;
        self.thread.written_or_zero(carry, || "the condition code".into())
    }

    fn record_unspecified_result(&self) {
        self.grid.unspecified.set(true);
    }

    fn register_size(&self, reg: Reg) -> u32 {
        self.thread.current_function().map_or(0, |f| f.regs[reg.index()].ty.bits())
    }
}

impl OperandReader<'_, '_> {
    fn special_register(&self, s: SpecialReg) -> Result<u32, String> {
        let lane = self.thread.number % 32;
        let of = |v: [u32; 3], d: Dim3Component| match d {
            Dim3Component::X => v[0],
            Dim3Component::Y => v[1],
            Dim3Component::Z => v[2],
            Dim3Component::W => 0,
        };
        Ok(match s {
            SpecialReg::Tid(d) => of(self.thread.tid, d),
            SpecialReg::Ntid(d) => of(self.grid.block, d),
            SpecialReg::Ctaid(d) => of(self.ctaid, d),
            SpecialReg::Nctaid(d) => of(self.grid.grid, d),
            SpecialReg::LaneId => lane,
            SpecialReg::WarpId => self.thread.number / 32,
            SpecialReg::LaneMaskEq => 1 << lane,
            SpecialReg::LaneMaskLt => (1 << lane) - 1,
            SpecialReg::LaneMaskLe => u32::MAX >> (31 - lane),
            SpecialReg::LaneMaskGe => u32::MAX << lane,
            SpecialReg::LaneMaskGt => !(u32::MAX >> (31 - lane)),
            SpecialReg::DynamicSmemSize => self.grid.dynamic_shared,
            other => return Err(format!("the oracle does not know {other:?}")),
        })
    }
}

impl<'m> SimThread<'m> {
    /// A thread at the beginning of a kernel.
    pub(crate) fn new(
        module: &'m Module,
        kernel: usize,
        launch: &OracleLaunch,
        number: u32,
        tid: [u32; 3],
        global_number: u32,
    ) -> Result<Self, String> {
        let local = MemoryRegion::new_uninitialised(LOCAL_BASE, 0);
        let mut thread = SimThread {
            module,
            frames: vec![],
            local,
            state: ThreadState::Ready,
            number,
            tid,
            global_number,
            zero_unwritten: launch.zero_unwritten,
            read_unwritten: Cell::new(false),
        };
        let slices = module.functions[kernel].params.iter();
        let arguments: Option<Vec<Vec<u8>>> = slices
            .map(|p| launch.params.get(p.offset as usize..(p.offset + p.size) as usize).map(<[u8]>::to_vec))
            .collect();
        thread.enter_function(kernel, arguments.ok_or("the launch gives too few parameters")?)?;
        Ok(thread)
    }

    fn current_frame(&self) -> Result<&CallFrame, String> {
        self.frames.last().ok_or_else(|| "a finished thread goes on".into())
    }

    fn frame_mut(&mut self) -> Result<&mut CallFrame, String> {
        self.frames.last_mut().ok_or_else(|| "a finished thread goes on".into())
    }

    fn current_function(&self) -> Result<&'m Function, String> {
        let module: &'m Module = self.module;
        Ok(&module.functions[self.current_frame()?.function])
    }

    /// Where it stands: function and statement.
    pub(crate) fn current_position(&self) -> (usize, usize) {
        self.frames.last().map_or((usize::MAX, 0), |f| (f.function, f.pc))
    }

    /// The statement it stands at; none at the end of the body.
    pub(crate) fn current_statement(&self) -> Result<Option<&'m Statement>, String> {
        let pc = self.current_frame()?.pc;
        Ok(self.current_function()?.body.get(pc))
    }

    fn read_register(&self, reg: Reg) -> Result<u128, String> {
        let value = self.current_frame()?.regs[reg.index()];
        self.written_or_zero(value, || {
            self.current_function().map_or_else(|_| String::new(), |f| f.regs[reg.index()].name.to_string())
        })
    }

    /// The value of a register, or of one that was never written.
    fn written_or_zero<T: Default>(&self, value: Option<T>, name: impl FnOnce() -> String) -> Result<T, String> {
        if value.is_none() && !self.zero_unwritten {
            return Err(format!("reads {} before it was written", name()));
        }
        self.read_unwritten.set(self.read_unwritten.get() || value.is_none());
        Ok(value.unwrap_or_default())
    }

    /// Writes a register.
    pub(crate) fn write_register(&mut self, reg: Reg, value: u128) -> Result<(), String> {
        let bits = self.current_function()?.regs[reg.index()].ty.bits();
        self.frame_mut()?.regs[reg.index()] = Some(truncate_bits(bits, value));
        Ok(())
    }

    /// Reads an operand.
    pub(crate) fn read_operand(&self, block: &SimBlock<'_>, operand: &Operand, bits: u32) -> Result<u128, String> {
        self.operand_reader(block).operand_bits(operand, bits)
    }

    /// Reads a predicate.
    pub(crate) fn read_predicate(&self, block: &SimBlock<'_>, pred: &PredSrc) -> Result<bool, String> {
        self.operand_reader(block).predicate_value(pred)
    }

    fn operand_reader<'a>(&'a self, block: &'a SimBlock<'_>) -> OperandReader<'a, 'm> {
        OperandReader { thread: self, grid: block.grid, ctaid: block.ctaid }
    }

    /// Whether the guard of a statement holds.
    fn guard_holds(&self, statement: &Statement) -> Result<bool, String> {
        match statement.guard {
            Some(Guard { reg, negated }) => Ok((self.read_register(reg)? != 0) != negated),
            None => Ok(true),
        }
    }

    /// Goes to the next statement.
    pub(crate) fn advance_to_next_statement(&mut self) -> Result<(), String> {
        self.frame_mut()?.pc += 1;
        Ok(())
    }

    fn jump_to_label(&mut self, label: Label) -> Result<(), String> {
        self.frame_mut()?.pc = self.current_function()?.label_targets[label.index()] as usize;
        Ok(())
    }

    /// Executes the next statement, or begins to wait at it.
    pub(crate) fn execute_next(&mut self, block: &mut SimBlock<'_>) -> Result<(), String> {
        let Some(statement) = self.current_statement()? else { return self.return_or_end() };
        if !self.guard_holds(statement)? {
            return self.advance_to_next_statement();
        }
        match &statement.inst {
            Inst::Bra { target, .. } => self.jump_to_label(*target),
            Inst::Brx { index, targets } => {
                let index = self.read_register(*index)? as usize;
                self.jump_to_label(*targets.get(index).ok_or("a branch index is out of range")?)
            }
            Inst::Call { callee, args, .. } => self.execute_call(block, callee, args),
            Inst::Ret => self.return_or_end(),
            Inst::Exit => {
                self.state = ThreadState::Done;
                Ok(())
            }
            Inst::Trap | Inst::Brkpt => Err("executes a trap".into()),
            Inst::Shfl { mask, .. }
            | Inst::Vote { mask, .. }
            | Inst::Match { mask, .. }
            | Inst::Redux { mask, .. }
            | Inst::Elect { mask, .. }
            | Inst::BarWarpSync { mask } => {
                self.state = ThreadState::Warp(self.read_operand(block, mask, 32)? as u32);
                Ok(())
            }
            Inst::Matrix(_) => {
                self.state = ThreadState::Warp(u32::MAX);
                Ok(())
            }
            Inst::Activemask { .. } => {
                self.state = ThreadState::Activemask;
                Ok(())
            }
            Inst::Bar { kind, id, count, .. } => {
                let id = self.read_operand(block, id, 32)? as u32;
                let count = count.as_ref().map(|c| self.read_operand(block, c, 32)).transpose()?;
                if *kind == BarKind::Arrive {
                    *block.arrivals.get_mut(id as usize).ok_or("there are 16 barriers")? += 1;
                    return self.advance_to_next_statement();
                }
                self.state = ThreadState::Barrier(id, count.map(|c| c as u32));
                Ok(())
            }
            Inst::Mbarrier { op: MbarrierOp::Wait { parity, .. }, space, dst, addr, a, .. } => {
                let at = self.generic_address(block, *space, addr)?;
                let a = a.as_ref().map_or(Ok(0), |a| self.read_operand(block, a, 64))?;
                let object = block.mbarriers.get(&at).ok_or("waits for what is no mbarrier")?;
                if !object.has_phase_ended(*parity, a) {
                    self.state = ThreadState::Mbarrier;
                    return Ok(());
                }
                dst.map_or(Ok(()), |dst| self.write_register(dst, 1))?;
                self.advance_to_next_statement()
            }
            inst => {
                self.execute_inst(block, inst)?;
                self.advance_to_next_statement()
            }
        }
    }

    fn execute_inst(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        match inst {
            Inst::Mov { ty, dst, src } => {
                let value = self.read_operand(block, src, ty.bits())?;
                self.write_register(*dst, value)
            }
            Inst::Cvta { .. } | Inst::Isspacep { .. } => self.execute_address_conversion(block, inst),
            Inst::Ld { space, ty, dsts, addr, .. } => {
                let values = self.load_values(block, *space, addr, ty.bytes() as usize, dsts.len())?;
                for (dst, value) in dsts.iter().zip(values) {
                    let Some(dst) = dst else { continue };
                    let wide =
                        if ty.is_signed() { crate::int::interpret_bits(ty.bits(), true, value) as u128 } else { value };
                    self.write_register(*dst, wide)?;
                }
                Ok(())
            }
            Inst::St { space, ty, addr, srcs, .. } => {
                let values: Result<Vec<u128>, String> =
                    srcs.iter().map(|s| self.read_operand(block, s, ty.bits())).collect();
                self.store_values(block, *space, addr, ty.bytes() as usize, &values?)
            }
            Inst::Atom { .. } => self.execute_atomic(block, inst),
            Inst::AtomVector { .. } => self.execute_vector_atomic(block, inst),
            Inst::CpAsync { dst, src, size, src_size, ignore_src } => {
                let ignored = ignore_src.as_ref().map_or(Ok(false), |p| self.read_predicate(block, p))?;
                let kept = src_size.as_ref().map_or(Ok(u128::from(*size)), |s| self.read_operand(block, s, 32))?;
                self.execute_async_copy(block, dst, src, *size, if ignored { 0 } else { kept })
            }
            Inst::BulkCopy { .. } => self.execute_bulk_copy(block, inst),
            Inst::Texture(inst) => self.execute_texture(block, inst),
            Inst::Mbarrier { op, space, dst, addr, a, .. } => {
                self.execute_mbarrier(block, *op, *space, *dst, addr, a.as_ref())
            }
            // One coherent memory and copies that are done at once leave these without effect.
            Inst::Fence(_) | Inst::Prefetch { .. } | Inst::Hint { .. } | Inst::Nanosleep { .. } => Ok(()),
            Inst::CpAsyncCommit | Inst::CpAsyncWait { .. } | Inst::BulkCommit | Inst::BulkWait { .. } => Ok(()),
            inst => {
                let (writes, carry) = pure_instructions::eval_pure(inst, &self.operand_reader(block))?;
                for (dst, value) in writes {
                    self.write_register(dst, value)?;
                }
                if let Some(carry) = carry {
                    self.frame_mut()?.carry = Some(carry);
                }
                Ok(())
            }
        }
    }

    /// An operation on an `execute_mbarrier` that never waits. A phase for all threads of the block orders their
    /// accesses as a barrier does.
    fn execute_mbarrier(
        &mut self,
        block: &mut SimBlock<'_>,
        op: MbarrierOp,
        space: Space,
        dst: Option<Reg>,
        addr: &Addr,
        a: Option<&Operand>,
    ) -> Result<(), String> {
        let at = self.generic_address(block, space, addr)?;
        if at % 8 != 0 || at.wrapping_sub(SHARED_WINDOW) >= WINDOW_BYTES {
            return Err(format!("an mbarrier at {at:#x}"));
        }
        let a = a.map(|a| self.read_operand(block, a, 32)).transpose()?;
        match op {
            MbarrierOp::Init => {
                block.mbarriers.insert(at, Mbarrier::new(a.unwrap_or(0))?);
                return Ok(());
            }
            MbarrierOp::Inval => {
                return block.mbarriers.remove(&at).map(|_| ()).ok_or_else(|| "what is no mbarrier ends".into());
            }
            _ => {}
        }
        let state = block.perform_on_mbarrier(at, op, a)?;
        dst.map_or(Ok(()), |dst| self.write_register(dst, state))
    }
}
