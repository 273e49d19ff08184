//! The state of emitting one function, which converged and masked code share.
//!
//! Registers are read and written in [`super::registers`], operands in [`super::operand_values`]. Segments, the
//! order in which statements are emitted, are in [`super::segment_emission`].

use super::compile::EmitEnv;
use super::register_values::{CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::instructions::addresses::ScalarAddress;
use crate::emit::ops::{OpCtx, OpState};
use crate::simt::branch_endpoints::BranchEndpoints;
use crate::simt::function_plan::FunctionPlan;
use crate::simt::lane_classes::LaneClass;
use crate::simt::offset_bounds::{OffsetBound, OffsetBounds};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use rtcg_ptx::ast::*;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Where registers live.
pub(crate) enum RegisterStorage {
    /// Variables of the SSA builder: one set for a scalar register, one per chunk for a varying one.
    Converged(Vec<RegisterVariables>),
    /// The frame; what the running block has read or written is kept.
    Masked(Box<MaskedRegs>),
}

/// The variables of one register in converged code.
#[derive(Clone)]
pub(crate) enum RegisterVariables {
    None,
    Scalar(SmallVec<[Variable; 2]>),
    /// A scalar for the first lane of each chunk.
    PerChunk([SmallVec<[Variable; 2]>; CHUNKS_PER_WARP]),
    Chunks([SmallVec<[Variable; 4]>; CHUNKS_PER_WARP]),
}

/// Registers of the running block of masked code.
#[derive(Default)]
pub(crate) struct MaskedRegs {
    pub(crate) cache: HashMap<(u32, usize), LaneParts>,
    /// What the block has written, in this order, each register once.
    dirty: Vec<Reg>,
    is_dirty: HashSet<Reg>,
    pub(crate) mask: [Option<LaneParts>; CHUNKS_PER_WARP],
}

impl MaskedRegs {
    /// The registers that the block has written.
    pub(crate) fn dirty(&self) -> &[Reg] {
        &self.dirty
    }

    /// Notes that the block has written a register.
    pub(crate) fn mark_dirty(&mut self, r: Reg) {
        if self.is_dirty.insert(r) {
            self.dirty.push(r);
        }
    }
}

/// What the scalar phase of a segment leaves for a statement of the lanes.
#[derive(Default)]
pub(crate) struct ScalarResults {
    /// Values of the scalar registers it reads.
    pub(crate) scalars: SmallVec<[(Reg, LaneParts); 4]>,
    /// Results computed once that go to varying registers.
    pub(crate) results: SmallVec<[(Reg, LaneParts, LaneClass); 1]>,
    /// The address, when it is scalar.
    pub(crate) address: Option<[ScalarAddress; CHUNKS_PER_WARP]>,
    /// Nothing is left to do for the lanes but writing `results`.
    pub(crate) done: bool,
}

/// Values that accesses under masks share. They dominate what follows in their segment.
#[derive(Default)]
pub(crate) struct CommonSubexpressions {
    /// Whether an address lies in the window, by base, offset and the bits that are checked.
    pub(crate) window_hits: HashMap<(Value, i32, u64), Value>,
    /// Whether all lanes of a chunk are active, by the parts of its mask.
    pub(crate) all_active: HashMap<(Value, Value), Value>,
    /// Negated guards.
    pub(crate) negated: HashMap<Value, Value>,
}

/// A loop whose body is the code of one chunk, emitted as that of lanes 0 to 7.
#[derive(Clone, Copy)]
pub(crate) struct ChunkLoop {
    /// The number of the chunk, an `I32`.
    pub(crate) chunk: Value,
    /// 32 times that, an `I64`: where 32-bit lanes of the chunk begin.
    pub(crate) byte_offset: Value,
    /// The frame, moved so that registers of lanes 0 to 7 are those of the chunk.
    pub(crate) word_frame: Value,
    pub(crate) doubleword_frame: Value,
}

/// Values the function begins with.
pub(crate) struct FunctionAbi {
    /// The warp's context, a [`rtcg_vgpu_abi::WarpCtx`].
    pub(crate) ctx: Value,
    /// The frame of the function: a header and the slots of registers.
    pub(crate) frame: Value,
    pub(crate) args: Value,
    pub(crate) rets: Value,
}

/// The blocks of the emitted function, and the one that is being filled.
#[derive(Default)]
pub(crate) struct EmittedBlocks {
    pub(crate) by_ptx_block: Vec<ir::Block>,
    /// Where all lanes go on in masked code (their counters are in the frame).
    pub(crate) masked_entry: Option<ir::Block>,
    /// Where masked code looks for the next group of lanes.
    pub(crate) dispatch: Option<ir::Block>,
    /// The index of the current PTX block.
    pub(crate) current: usize,
    /// How the branch at the end of the current block is decided by two lanes.
    pub(crate) branch_endpoints: Option<BranchEndpoints>,
    /// Live values at the start of the current block, when a check may go back there.
    pub(crate) checkpoint: Vec<(Reg, SmallVec<[LaneParts; 4]>)>,
    /// Back edges whose blocks are still to be filled.
    pub(crate) pending_edges: Vec<(ir::Block, usize, usize)>,
}

/// What is known within the segment that is being emitted, and the statement that emission has come to.
#[derive(Default)]
pub(crate) struct SegmentState {
    pub(crate) scalar_results: Vec<ScalarResults>,
    /// Index of the current statement within `scalar_results`.
    pub(crate) current: usize,
    /// Number of the current statement in the original body.
    pub(crate) statement: u32,
    /// Vectors made from scalars in this segment.
    pub(crate) splats: HashMap<(Value, usize, u8, i64), LaneParts>,
    /// Uniform registers of this segment that are loaded chunk by chunk, and their lanes in the
    /// current chunk.
    pub(crate) sunk_uniforms: Vec<Reg>,
    /// Set while a statement or address is computed for the first lane of a chunk.
    pub(crate) current_chunk: Option<usize>,
    pub(crate) chunk_values: Vec<(Reg, LaneParts)>,
    /// The loop over chunks whose body is emitted, for its first chunk.
    pub(crate) chunk_loop: Option<ChunkLoop>,
    /// What accesses under masks have in common within a segment.
    pub(crate) cse: CommonSubexpressions,
}

/// Stack slots of the function, made when they are first needed.
#[derive(Default)]
pub(crate) struct StackSlots {
    /// See [`FunctionEmitter::lane_array_slot`].
    pub(crate) lane_array: Option<ir::StackSlot>,
    /// Operands of a texture instruction.
    pub(crate) texture: Option<ir::StackSlot>,
    /// Planes of matrices.
    pub(crate) matrix: Option<ir::StackSlot>,
}

/// What is known of sums of a pointer and an offset.
pub(crate) struct AddressSums {
    /// Which sums are made of a pointer and an offset.
    pub(crate) bounds: OffsetBounds,
    /// For scalar sums the pointer, and what was added to it.
    pub(crate) bases: HashMap<Value, (Value, OffsetBound)>,
}

/// The emission of one machine function.
pub(crate) struct FunctionEmitter<'a, 'f> {
    pub(crate) b: FunctionBuilder<'f>,
    pub(crate) ops: OpState,
    pub(crate) env: &'a EmitEnv<'a>,
    pub(crate) plan: &'a FunctionPlan<'a>,
    pub(crate) abi: FunctionAbi,
    pub(crate) store: RegisterStorage,
    pub(crate) blocks: EmittedBlocks,
    pub(crate) segment: SegmentState,
    pub(crate) slots: StackSlots,
    pub(crate) addresses: AddressSums,
}

/// Memory the compiler itself manages: aligned, mapped.
pub(crate) fn trusted_mem_flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    pub(crate) fn new(
        b: FunctionBuilder<'f>,
        env: &'a EmitEnv<'a>,
        plan: &'a FunctionPlan<'a>,
        abi: FunctionAbi,
        store: RegisterStorage,
    ) -> Self {
        let bounds = match &store {
            RegisterStorage::Converged(_) => OffsetBounds::from_function_body(&plan.body),
            RegisterStorage::Masked(_) => OffsetBounds::default(),
        };
        FunctionEmitter {
            b,
            ops: OpState::from_function(plan.f),
            env,
            plan,
            abi,
            store,
            blocks: EmittedBlocks::default(),
            segment: SegmentState::default(),
            slots: StackSlots::default(),
            addresses: AddressSums { bounds, bases: HashMap::new() },
        }
    }

    /// The context for the arithmetic lowering.
    pub(crate) fn op_ctx(&mut self) -> OpCtx<'_, 'f> {
        OpCtx { b: &mut self.b, state: &mut self.ops }
    }

    pub(crate) fn is_masked(&self) -> bool {
        matches!(self.store, RegisterStorage::Masked(_))
    }

    pub(crate) fn width_of_register(&self, r: Reg) -> RegWidth {
        self.plan.body.widths[r.index()]
    }

    /// The class of a register in the code being emitted.
    pub(crate) fn class_of_register(&self, r: Reg) -> LaneClass {
        if self.is_masked() { LaneClass::Varying } else { self.plan.classes.lane_class_of(r) }
    }

    pub(crate) fn statement_error(&self, message: impl Into<String>) -> JitError {
        self.plan.statement_error(&self.env.module.source, self.segment.statement, message.into())
    }

    pub(crate) fn unsupported_error(&self, what: &str) -> JitError {
        self.statement_error(format!("{what} is not supported by the virtual GPU"))
    }

    /// Makes the following code belong to a statement and some of its lanes.
    pub(crate) fn set_instruction_site(&mut self, lanes: u32) {
        let span = self.plan.f.body.get(self.segment.statement as usize).map(|s| s.span);
        crate::internal_errors::set_current_instruction(&self.env.module.source, span, self.is_masked());
        let site = self.site_for_lanes(lanes);
        self.b.set_srcloc(ir::SourceLoc::new(site));
    }

    /// The site number of the current statement; see [`crate::simt::instruction_sites`].
    pub(crate) fn site_for_lanes(&self, lanes: u32) -> u32 {
        crate::simt::instruction_sites::encode_site(self.plan.first_site + self.segment.statement, lanes)
    }

    pub(crate) fn iconst32(&mut self, v: i64) -> Value {
        self.b.ins().iconst(types::I32, v & 0xffff_ffff)
    }

    pub(crate) fn iconst64(&mut self, v: i64) -> Value {
        self.b.ins().iconst(types::I64, v)
    }

    /// `v + n` without an instruction when `n` is 0.
    pub(crate) fn add_offset(&mut self, v: Value, n: i64) -> Value {
        if n == 0 { v } else { self.b.ins().iadd_imm_s(v, n) }
    }

    /// A field of the warp context.
    pub(crate) fn load_ctx_field(&mut self, ty: ir::Type, offset: usize) -> Value {
        self.b.ins().load(ty, trusted_mem_flags(), self.abi.ctx, offset as i32)
    }
}
