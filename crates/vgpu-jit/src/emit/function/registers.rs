//! Reading and writing registers a chunk of lanes at a time, in the variables of converged code or the frame
//! of masked code, and vectors made from scalars.

use super::emitter::{ChunkLoop, FunctionEmitter, RegisterStorage, RegisterVariables, trusted_mem_flags};
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::lane_accesses::ChunkOrder;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{self, InstBuilder, Value, types};
use rtcg_ptx::ast::*;
use smallvec::SmallVec;

impl FunctionEmitter<'_, '_> {
    /// The lanes of `chunk` of a register, in the register's own width.
    pub(crate) fn read_lanes(&mut self, r: Reg, chunk: usize) -> LaneParts {
        if let RegisterStorage::Converged(vars) = &self.store {
            if let Some((_, p)) = self.segment.chunk_values.iter().find(|(x, _)| *x == r) {
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
        if let Some(rec) = self.segment.scalar_results.get(self.segment.current)
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
                    self.segment.chunk_values.push((r, parts));
                }
            }
            RegisterStorage::Masked(m) => {
                m.cache.insert((r.0, chunk), parts);
                m.mark_dirty(r);
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
    pub(crate) fn write_uniform(&mut self, r: Reg, parts: &LaneParts) {
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
        match (&self.segment.chunk_loop, w) {
            (None, _) => self.abi.frame,
            (Some(l), RegWidth::W64 | RegWidth::W128) => l.doubleword_frame,
            (Some(l), _) => l.word_frame,
        }
    }

    /// Begins a loop over the chunks in the block `header`, whose parameter counts chunks in 32 bytes each.
    pub(crate) fn begin_chunk_loop(&mut self, header: ir::Block, order: ChunkOrder) -> ChunkLoop {
        self.b.switch_to_block(header);
        let counter = self.b.block_params(header)[0];
        let byte_offset = self.b.ins().bxor_imm_u(counter, 32 * order.chunk(0) as i64);
        let word_frame = self.b.ins().iadd(self.abi.frame, byte_offset);
        let doubleword_frame = self.b.ins().iadd(word_frame, byte_offset);
        let chunk = self.b.ins().ushr_imm_u(byte_offset, 5);
        let chunk = self.b.ins().ireduce(types::I32, chunk);
        *self.segment.chunk_loop.insert(ChunkLoop { chunk, byte_offset, word_frame, doubleword_frame })
    }

    /// What lanes a stride apart have more than those of the first chunk; `None` outside of a loop over chunks.
    pub(crate) fn chunk_loop_distance(&mut self, stride: i64, ty: ir::Type) -> Option<Value> {
        let ChunkLoop { byte_offset, .. } = self.segment.chunk_loop?;
        // 32 bytes stand for eight lanes.
        let lanes = self.b.ins().ushr_imm_u(byte_offset, 2);
        let distance = self.b.ins().imul_imm_s(lanes, stride);
        Some(if ty == types::I64 { distance } else { self.b.ins().ireduce(ty, distance) })
    }

    /// Masked code forgets what it knows of registers and masks: they are in the frame.
    pub(crate) fn forget_masked_registers(&mut self) {
        if self.is_masked() {
            self.store = RegisterStorage::Masked(Box::default());
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
            self.b.ins().store(trusted_mem_flags(), p, self.abi.frame, offset + (chunk as i32 * 2 + i as i32) * 16);
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
        if let Some(p) = self.segment.splats.get(&key) {
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
        self.segment.splats.insert(key, parts.clone());
        parts
    }

    /// Forgets vectors made from scalars: what follows is not dominated by them, or is far away.
    pub(crate) fn clear_splat_cache(&mut self) {
        self.segment.splats.clear();
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
