//! The state of emitting one function, and what converged and masked code share: reading and
//! writing registers a chunk of lanes at a time, operands, segments.
//!
//! Segments, the order in which statements are emitted, are in [`super::segment_emission`].

use super::addresses::ScalarAddress;
use super::compile::EmitEnv;
use super::ops::{self, OpCtx, OpState};
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::JitError;
use crate::simt::body::Stmt;
use crate::simt::branch_endpoints::BranchEndpoints;
use crate::simt::function_plan::{FunctionPlan, frame_header};
use crate::simt::lane_classes::LaneClass;
use crate::simt::offset_bounds::{OffsetBound, OffsetBounds};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use rtcg_ptx::ast::*;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Where registers live.
pub(crate) enum RegisterStorage {
    /// Variables of the SSA builder: one set for a scalar register, one per chunk for a varying one.
    Converged(Vec<RegisterVariables>),
    /// The frame; what the running block has read or written is kept.
    Masked(MaskedRegs),
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
    pub(crate) dirty: Vec<Reg>,
    pub(crate) mask: [Option<LaneParts>; CHUNKS_PER_WARP],
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
    word_frame: Value,
    doubleword_frame: Value,
}

/// The emission of one machine function.
pub(crate) struct FunctionEmitter<'a, 'f> {
    pub(crate) b: FunctionBuilder<'f>,
    pub(crate) ops: OpState,
    pub(crate) env: &'a EmitEnv<'a>,
    pub(crate) plan: &'a FunctionPlan<'a>,
    pub(crate) ctx: Value,
    pub(crate) frame: Value,
    pub(crate) args: Value,
    pub(crate) rets: Value,
    pub(crate) store: RegisterStorage,
    /// Blocks of the emitted function by PTX block.
    pub(crate) blocks: Vec<ir::Block>,
    /// Where all lanes go on in masked code (their counters are in the frame).
    pub(crate) masked_entry: Option<ir::Block>,
    /// Where masked code looks for the next group of lanes.
    pub(crate) dispatch: Option<ir::Block>,
    pub(crate) scalar_results: Vec<ScalarResults>,
    /// Index of the current statement within `scalar_results`.
    pub(crate) current: usize,
    /// Number of the current statement in the original body.
    pub(crate) statement: u32,
    /// Vectors made from scalars in this segment.
    pub(crate) splats: HashMap<(Value, usize, u8, i64), LaneParts>,
    /// Live values at the start of the current block, when a check may go back there.
    pub(crate) checkpoint: Vec<(Reg, SmallVec<[LaneParts; 4]>)>,
    pub(crate) block: usize,
    /// How the branch at the end of the current block is decided by two lanes.
    pub(crate) branch_endpoints: Option<BranchEndpoints>,
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
    /// See [`FunctionEmitter::lane_array_slot`].
    pub(crate) scratch_slot: Option<ir::StackSlot>,
    /// Operands of a texture instruction.
    pub(crate) texture_slot: Option<ir::StackSlot>,
    /// The stack slot for planes of matrices.
    pub(crate) matrix_slot: Option<ir::StackSlot>,
    /// Which sums are made of a pointer and an offset.
    pub(crate) bounds: OffsetBounds,
    /// For scalar sums the pointer, and what was added to it.
    pub(crate) address_bases: HashMap<Value, (Value, OffsetBound)>,
    /// Back edges whose blocks are still to be filled.
    pub(crate) pending_edges: Vec<(ir::Block, usize, usize)>,
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
        values: [Value; 4],
        store: RegisterStorage,
    ) -> Self {
        let [ctx, frame, args, rets] = values;
        let bounds = match &store {
            RegisterStorage::Converged(_) => OffsetBounds::from_function_body(&plan.body),
            RegisterStorage::Masked(_) => OffsetBounds::default(),
        };
        FunctionEmitter {
            b,
            ops: OpState::from_function(plan.f),
            env,
            plan,
            ctx,
            frame,
            args,
            rets,
            store,
            blocks: vec![],
            masked_entry: None,
            dispatch: None,
            scalar_results: vec![],
            current: 0,
            statement: 0,
            splats: HashMap::new(),
            checkpoint: vec![],
            block: 0,
            branch_endpoints: None,
            sunk_uniforms: vec![],
            current_chunk: None,
            chunk_values: vec![],
            chunk_loop: None,
            cse: CommonSubexpressions::default(),
            scratch_slot: None,
            texture_slot: None,
            matrix_slot: None,
            bounds,
            address_bases: HashMap::new(),
            pending_edges: vec![],
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
        self.plan.statement_error(&self.env.module.source, self.statement, message.into())
    }

    pub(crate) fn unsupported_error(&self, what: &str) -> JitError {
        self.statement_error(format!("{what} is not supported by the virtual GPU"))
    }

    /// Makes the following code belong to a statement and some of its lanes.
    pub(crate) fn set_instruction_site(&mut self, lanes: u32) {
        let span = self.plan.f.body.get(self.statement as usize).map(|s| s.span);
        crate::internal_errors::set_current_instruction(&self.env.module.source, span, self.is_masked());
        let site = self.site_for_lanes(lanes);
        self.b.set_srcloc(ir::SourceLoc::new(site));
    }

    /// The site number of the current statement; see [`crate::simt::instruction_sites`].
    pub(crate) fn site_for_lanes(&self, lanes: u32) -> u32 {
        crate::simt::instruction_sites::encode_site(self.plan.first_site + self.statement, lanes)
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
        self.b.ins().load(ty, trusted_mem_flags(), self.ctx, offset as i32)
    }

    // ---- registers ----

    /// The lanes of `chunk` of a register, in the register's own width.
    pub(crate) fn read_lanes(&mut self, r: Reg, chunk: usize) -> LaneParts {
        if let RegisterStorage::Converged(vars) = &self.store {
            if let Some((_, p)) = self.chunk_values.iter().find(|(x, _)| *x == r) {
                return p.clone();
            }
            return match &vars[r.index()] {
                RegisterVariables::Chunks(c) => {
                    let list = c[chunk].clone();
                    list.iter().map(|&v| self.b.use_var(v)).collect()
                }
                _ => self.read_scalar_as_lanes(r, chunk),
            };
        }
        if let RegisterStorage::Masked(m) = &self.store
            && let Some(p) = m.cache.get(&(r.0, chunk))
        {
            return p.clone();
        }
        let parts = self.load_register_slot(r, chunk);
        if let RegisterStorage::Masked(m) = &mut self.store {
            m.cache.insert((r.0, chunk), parts.clone());
        }
        parts
    }

    fn read_scalar_as_lanes(&mut self, r: Reg, chunk: usize) -> LaneParts {
        let scalar = self.read_scalar(r);
        let class = self.plan.classes.lane_class_of(r);
        self.expand_scalar_to_lanes(&scalar, self.width_of_register(r), class, chunk)
    }

    /// The scalar of a uniform register, or lane 0's value of an affine one, at the current statement.
    pub(crate) fn read_scalar(&mut self, r: Reg) -> LaneParts {
        if let Some(rec) = self.scalar_results.get(self.current)
            && let Some((_, p)) = rec.scalars.iter().find(|(x, _)| *x == r)
        {
            return p.clone();
        }
        self.current_scalar(r)
    }

    /// The scalar of a register at the current point of the emitted code.
    pub(crate) fn current_scalar(&mut self, r: Reg) -> LaneParts {
        let RegisterStorage::Converged(vars) = &self.store else { return LaneParts::new() };
        match vars[r.index()].clone() {
            RegisterVariables::Scalar(v) => v.iter().map(|&v| self.b.use_var(v)).collect(),
            RegisterVariables::PerChunk(c) => c.iter().flatten().map(|&v| self.b.use_var(v)).collect(),
            // A register that is never written.
            _ => {
                let w = self.width_of_register(r);
                ops::splat_constant(&mut self.op_ctx(), EmitShape::Scalar, w, 0)
            }
        }
    }

    /// Writes the lanes of `chunk` of a varying register; with a guard only those it names.
    pub(crate) fn write_lanes(&mut self, r: Reg, chunk: usize, parts: LaneParts, guard: Option<&LaneParts>) {
        let parts = match guard {
            Some(g) => {
                let old = self.read_lanes(r, chunk);
                let w = self.width_of_register(r);
                ops::blend_lanes(&mut self.op_ctx(), EmitShape::Chunk, g, &parts, &old, w)
            }
            None => parts,
        };
        match &mut self.store {
            RegisterStorage::Converged(vars) => {
                if let RegisterVariables::Chunks(c) = &vars[r.index()] {
                    let list = c[chunk].clone();
                    for (&v, &p) in list.iter().zip(&parts) {
                        self.b.def_var(v, p);
                    }
                } else {
                    self.chunk_values.push((r, parts));
                }
            }
            RegisterStorage::Masked(m) => {
                m.cache.insert((r.0, chunk), parts);
                if !m.dirty.contains(&r) {
                    m.dirty.push(r);
                }
            }
        }
    }

    /// Writes a register that is no varying one with a value of class `class_of_register`.
    pub(crate) fn write_scalar(&mut self, r: Reg, parts: &LaneParts, class: LaneClass) {
        let RegisterStorage::Converged(vars) = &self.store else { return };
        match vars[r.index()].clone() {
            RegisterVariables::Scalar(list) => {
                for (&v, &p) in list.iter().zip(parts) {
                    self.b.def_var(v, p);
                }
            }
            RegisterVariables::PerChunk(c) => {
                for (chunk, list) in c.iter().enumerate() {
                    let values = self.first_lane_of_chunk(parts, class, chunk);
                    for (&v, &p) in list.iter().zip(&values) {
                        self.b.def_var(v, p);
                    }
                }
            }
            _ => {}
        }
    }

    /// The value of a chunk's first lane, of a scalar value of class `class_of_register`.
    pub(crate) fn first_lane_of_chunk(&mut self, parts: &LaneParts, class: LaneClass, chunk: usize) -> LaneParts {
        match class {
            LaneClass::Chunked(_) => {
                let n = parts.len() / CHUNKS_PER_WARP;
                LaneParts::from_slice(&parts[chunk * n..(chunk + 1) * n])
            }
            LaneClass::Affine(stride) => {
                let step = stride.wrapping_mul((chunk * CHUNK_LANES) as i64);
                let narrow = parts.iter().all(|&p| self.b.func.dfg.value_type(p) == types::I32);
                let step = if narrow { i64::from(step as i32) } else { step };
                parts.iter().map(|&p| self.add_offset(p, step)).collect()
            }
            _ => parts.clone(),
        }
    }

    /// Writes a result that all lanes share, whatever the class of the register.
    pub(crate) fn write_uniform(&mut self, r: Reg, parts: &LaneParts, mask: bool) {
        let _ = mask;
        if self.class_of_register(r).is_scalar() {
            return self.write_scalar(r, parts, LaneClass::Uniform);
        }
        for c in 0..CHUNKS_PER_WARP {
            let w = self.width_of_register(r);
            let lanes = self.expand_scalar_to_lanes(parts, w, LaneClass::Uniform, c);
            self.write_lanes(r, c, lanes, None);
        }
    }

    pub(crate) fn load_register_slot(&mut self, r: Reg, chunk: usize) -> LaneParts {
        let w = self.width_of_register(r);
        let Some(slot) = self.plan.slots[r.index()] else {
            // Never written on the way here: any value will do.
            return ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, w, 0);
        };
        let ty = w.part_type(EmitShape::Chunk);
        let frame = self.register_frame(w);
        register_slot_offsets(w, slot, chunk)
            .into_iter()
            .map(|o| self.b.ins().load(ty, trusted_mem_flags(), frame, o))
            .collect()
    }

    /// What offsets of registers of this width count from.
    fn register_frame(&self, w: RegWidth) -> Value {
        match (&self.chunk_loop, w) {
            (None, _) => self.frame,
            (Some(l), RegWidth::W64 | RegWidth::W128) => l.doubleword_frame,
            (Some(l), _) => l.word_frame,
        }
    }

    /// Begins a loop over the chunks in the block `header`, whose parameter is its byte offset.
    pub(crate) fn begin_chunk_loop(&mut self, header: ir::Block) -> ChunkLoop {
        self.b.switch_to_block(header);
        let byte_offset = self.b.block_params(header)[0];
        let word_frame = self.b.ins().iadd(self.frame, byte_offset);
        let doubleword_frame = self.b.ins().iadd(word_frame, byte_offset);
        let chunk = self.b.ins().ushr_imm_u(byte_offset, 5);
        let chunk = self.b.ins().ireduce(types::I32, chunk);
        *self.chunk_loop.insert(ChunkLoop { chunk, byte_offset, word_frame, doubleword_frame })
    }

    /// What lanes a stride apart have more than those of the first chunk; `None` outside of a loop over chunks.
    pub(crate) fn chunk_loop_distance(&mut self, stride: i64, ty: ir::Type) -> Option<Value> {
        let ChunkLoop { byte_offset, .. } = self.chunk_loop?;
        // 32 bytes stand for eight lanes.
        let lanes = self.b.ins().ushr_imm_u(byte_offset, 2);
        let distance = self.b.ins().imul_imm_s(lanes, stride);
        Some(if ty == types::I64 { distance } else { self.b.ins().ireduce(ty, distance) })
    }

    /// Masked code forgets what it knows of registers and masks: they are in the frame.
    pub(crate) fn forget_masked_registers(&mut self) {
        if self.is_masked() {
            self.store = RegisterStorage::Masked(MaskedRegs::default());
        }
    }

    /// Stores the lanes of `chunk` of a register to its slot.
    pub(crate) fn store_register_slot(&mut self, r: Reg, chunk: usize, parts: &LaneParts) {
        let w = self.width_of_register(r);
        if let Some(slot) = self.plan.slots[r.index()] {
            for (o, &p) in register_slot_offsets(w, slot, chunk).into_iter().zip(parts) {
                let frame = self.register_frame(w);
                self.b.ins().store(trusted_mem_flags(), p, frame, o);
            }
        }
    }

    /// The lanes of `chunk` of a scalar value of the given class.
    pub(crate) fn expand_scalar_to_lanes(
        &mut self,
        scalar: &LaneParts,
        w: RegWidth,
        class: LaneClass,
        chunk: usize,
    ) -> LaneParts {
        let stride = class.lane_stride().unwrap_or(0);
        let (first, before) = match class {
            LaneClass::Chunked(_) => (self.first_lane_of_chunk(scalar, class, chunk), 0),
            _ => (scalar.clone(), chunk * CHUNK_LANES),
        };
        let key = (first[0], if stride == 0 { CHUNKS_PER_WARP } else { before }, w as u8, stride);
        if let Some(p) = self.splats.get(&key) {
            return p.clone();
        }
        let mut first = first;
        if stride != 0 {
            for v in &mut first {
                let ty = self.b.func.dfg.value_type(*v);
                if let Some(distance) = self.chunk_loop_distance(stride, ty) {
                    *v = self.b.ins().iadd(*v, distance);
                }
            }
        }
        let mut parts = ops::splat_scalar(&mut self.op_ctx(), w, &first);
        if stride != 0 {
            let per = if w == RegWidth::W64 { 2 } else { 4 };
            for (i, p) in parts.iter_mut().enumerate() {
                let lane = (before + i * per) as i64;
                let steps: Vec<i64> = (0..per as i64).map(|l| stride.wrapping_mul(lane + l)).collect();
                let iota = self.constant_vector(w, &steps);
                *p = self.b.ins().iadd(*p, iota);
            }
        }
        self.splats.insert(key, parts.clone());
        parts
    }

    /// Forgets vectors made from scalars: what follows is not dominated by them, or is far away.
    pub(crate) fn clear_splat_cache(&mut self) {
        self.splats.clear();
    }

    /// A constant vector of 64- or 32-bit lanes.
    pub(crate) fn constant_vector(&mut self, w: RegWidth, lanes: &[i64]) -> Value {
        let bytes: Vec<u8> = if w == RegWidth::W64 {
            lanes.iter().flat_map(|l| l.to_le_bytes()).collect()
        } else {
            lanes.iter().flat_map(|l| (*l as u32).to_le_bytes()).collect()
        };
        let data = self.b.func.dfg.constants.insert(ir::ConstantData::from(&bytes[..]));
        self.b.ins().vconst(if w == RegWidth::W64 { types::I64X2 } else { types::I32X4 }, data)
    }

    /// Lane indices of a chunk times `step`.
    pub(crate) fn scaled_lane_ids(&mut self, chunk: usize, step: i64) -> LaneParts {
        let distance = self.chunk_loop_distance(step, types::I32).map(|d| self.b.ins().splat(types::I32X4, d));
        (0..2)
            .map(|i| {
                let first = (chunk * CHUNK_LANES + i * 4) as i64;
                let lanes: Vec<i64> = (0..4).map(|l| (first + l) * step).collect();
                let ids = self.constant_vector(RegWidth::W32, &lanes);
                distance.map_or(ids, |d| self.b.ins().iadd(ids, d))
            })
            .collect()
    }

    // ---- operands ----

    /// An operand for the lanes of `chunk`.
    pub(crate) fn operand_lanes(&mut self, o: Operand, w: RegWidth, chunk: usize) -> LaneParts {
        if let Operand::Reg(r) = o {
            let from = self.width_of_register(r);
            if let Some(bits) = self.known_float_constant(r).filter(|_| from == w) {
                return ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, w, bits);
            }
            let parts = self.read_lanes(r, chunk);
            return ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &parts, from, w);
        }
        if let Some(p) = ops::immediate_parts(&mut self.op_ctx(), EmitShape::Chunk, &o, w) {
            return p;
        }
        match o {
            Operand::Special(s) => self.special_register_lanes(s, w, chunk),
            _ => self.symbol_address_lanes(o, w, chunk),
        }
    }

    /// The bits of a register of a float that is always the same: loading a constant vector costs
    /// less than copying a scalar to all lanes and keeping the copy.
    fn known_float_constant(&self, r: Reg) -> Option<u64> {
        let declared = self.plan.f.regs.get(r.index())?;
        self.ops.constant_of_register(r).filter(|_| matches!(declared.ty, Type::F32 | Type::F64))
    }

    /// A uniform operand, or lane 0's value of an affine one.
    pub(crate) fn scalar_operand(&mut self, o: Operand, w: RegWidth) -> LaneParts {
        if let Operand::Reg(r) = o {
            let from = self.width_of_register(r);
            let mut parts = self.read_scalar(r);
            if let Some(chunk) = self.current_chunk {
                let class = self.plan.classes.lane_class_of(r);
                parts = self.first_lane_of_chunk(&parts, class, chunk);
            }
            return ops::narrow_source(&mut self.op_ctx(), EmitShape::Scalar, &parts, from, w);
        }
        if let Some(p) = ops::immediate_parts(&mut self.op_ctx(), EmitShape::Scalar, &o, w) {
            return p;
        }
        let v = match o {
            Operand::Special(s) => self.special_register_scalar(s, w),
            Operand::Address(s, off) => self.symbol_address_value(s, off, w),
            _ => smallvec![],
        };
        match (self.current_chunk, self.plan.classes.operand_class(o)) {
            (Some(chunk), class @ LaneClass::Affine(_)) => self.first_lane_of_chunk(&v, class, chunk),
            _ => v,
        }
    }

    /// The lanes that take part in a statement: the execution mask and a varying guard;
    /// `None` when all do.
    pub(crate) fn active_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        let exec = self.exec_mask(chunk);
        let guard = self.guard_mask(st, chunk);
        match (exec, guard) {
            (Some(e), Some(g)) => Some(e.iter().zip(&g).map(|(&a, &b)| self.b.ins().band(a, b)).collect()),
            (e, g) => e.or(g),
        }
    }

    /// The varying guard of a statement whose destinations keep their old values outside of it.
    pub(crate) fn blend_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        if st.merges_old_values { self.guard_mask(st, chunk) } else { None }
    }

    /// The varying guard of a statement.
    pub(crate) fn guard_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        let g = st.guard?;
        if self.class_of_register(g.reg).is_scalar() {
            return None; // The segment stands in a branch.
        }
        let p = self.read_lanes(g.reg, chunk);
        Some(if g.negated { p.iter().map(|&v| self.negated_mask(v)).collect() } else { p })
    }

    /// The negation of a mask, made once in a segment.
    fn negated_mask(&mut self, mask: Value) -> Value {
        let in_segment = !self.scalar_results.is_empty();
        match self.cse.negated.get(&mask) {
            Some(&known) if in_segment => known,
            _ => {
                let new = self.b.ins().bnot(mask);
                if in_segment {
                    self.cse.negated.insert(mask, new);
                }
                new
            }
        }
    }

    /// The execution mask of masked code.
    pub(crate) fn exec_mask(&mut self, chunk: usize) -> Option<LaneParts> {
        let RegisterStorage::Masked(m) = &self.store else { return None };
        if let Some(p) = &m.mask[chunk] {
            return Some(p.clone());
        }
        let parts = self.load_lane_array(frame_header::MASK_OFFSET, chunk);
        if let RegisterStorage::Masked(m) = &mut self.store {
            m.mask[chunk] = Some(parts.clone());
        }
        Some(parts)
    }

    /// A chunk of a lane array of `u32` in the frame header.
    pub(crate) fn load_lane_array(&mut self, offset: i32, chunk: usize) -> LaneParts {
        let frame = self.register_frame(RegWidth::W32);
        (0..2)
            .map(|i| self.b.ins().load(types::I32X4, trusted_mem_flags(), frame, offset + (chunk as i32 * 2 + i) * 16))
            .collect()
    }

    /// Stores a chunk of such an array.
    pub(crate) fn store_lane_array(&mut self, offset: i32, chunk: usize, parts: &[Value]) {
        for (i, &p) in parts.iter().enumerate() {
            self.b.ins().store(trusted_mem_flags(), p, self.frame, offset + (chunk as i32 * 2 + i as i32) * 16);
        }
    }

    /// Active lanes of the whole warp as bits.
    pub(crate) fn active_lane_bits(&mut self, st: &Stmt<'_>) -> Value {
        let masks: Vec<Option<LaneParts>> = (0..CHUNKS_PER_WARP).map(|c| self.active_mask(st, c)).collect();
        self.mask_to_lane_bits(&masks)
    }

    /// Masks of all chunks as bits of an `I32`; `None` stands for all lanes.
    pub(crate) fn mask_to_lane_bits(&mut self, masks: &[Option<LaneParts>]) -> Value {
        let mut bits = self.iconst32(0);
        for (c, m) in masks.iter().enumerate() {
            let part = match m {
                Some(p) => ops::mask_to_bits(&mut self.op_ctx(), p),
                None => self.iconst32(0xff),
            };
            let part = if c == 0 { part } else { self.b.ins().ishl_imm_u(part, (c * CHUNK_LANES) as i64) };
            bits = self.b.ins().bor(bits, part);
        }
        bits
    }
}

/// Offsets of the parts of a chunk within a register's slot.
fn register_slot_offsets(w: RegWidth, slot: i32, chunk: usize) -> SmallVec<[i32; 8]> {
    let c = chunk as i32;
    match w {
        RegWidth::Pred | RegWidth::W16 | RegWidth::W32 => (0..2).map(|i| slot + c * 32 + i * 16).collect(),
        RegWidth::W64 => (0..4).map(|i| slot + c * 64 + i * 16).collect(),
        RegWidth::W128 => (0..8).map(|i| slot + (i / 4) * 256 + c * 64 + (i % 4) * 16).collect(),
    }
}
