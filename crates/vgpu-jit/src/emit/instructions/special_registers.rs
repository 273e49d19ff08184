//! Special registers, address conversions and the other instructions that are neither plain
//! arithmetic nor ordinary memory accesses.

use crate::JitError;
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::register_values::{CHUNK_LANES, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use crate::simt::function_plan::frame_header;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::model::memory::{RESERVED_SHARED_BYTES, RESERVED_SHARED_END, SHARED_GRANULARITY, WARP_SLOTS};
use rtcg_vgpu_abi::{TidTable, WarpCtx};
use smallvec::smallvec;
use std::mem::offset_of;

fn dim_index(d: Dim3Component) -> usize {
    match d {
        Dim3Component::X => 0,
        Dim3Component::Y => 1,
        Dim3Component::Z => 2,
        Dim3Component::W => 3,
    }
}

/// Parameters of a kernel lie within this many bytes.
const MAX_PARAM_BYTES: i64 = 32_764;

impl<'a> FunctionEmitter<'a, '_> {
    /// A special register that is uniform, or lane 0's value of an affine one, at width `w`.
    pub(crate) fn special_register_scalar(&mut self, s: SpecialReg, w: RegWidth) -> LaneParts {
        use SpecialReg::*;
        let word = |g: &mut Self, offset: usize| g.load_ctx_field(types::I32, offset);
        let v = match s {
            Ntid(Dim3Component::W) | Nctaid(Dim3Component::W) | Tid(Dim3Component::W) | Ctaid(Dim3Component::W) => {
                self.iconst32(0)
            }
            Tid(d) => {
                let table = self.load_ctx_field(types::I64, offset_of!(WarpCtx, tid));
                let at = [offset_of!(TidTable, x), offset_of!(TidTable, y), offset_of!(TidTable, z)][dim_index(d)];
                let at = at + self.segment.current_chunk.unwrap_or(0) * 32;
                self.b.ins().load(types::I32, trusted_mem_flags(), table, at as i32)
            }
            Ntid(d) => word(self, offset_of!(WarpCtx, ntid) + 4 * dim_index(d)),
            Ctaid(d) | ClusterId(d) => word(self, offset_of!(WarpCtx, ctaid) + 4 * dim_index(d)),
            Nctaid(d) | NClusterId(d) => word(self, offset_of!(WarpCtx, nctaid) + 4 * dim_index(d)),
            ClusterCtaid(_) | ClusterCtarank | LaneId => self.iconst32(0),
            ClusterNctaid(_) | ClusterNctarank => self.iconst32(1),
            WarpId => word(self, offset_of!(WarpCtx, warp_id)),
            NWarpId => self.iconst32(i64::from(WARP_SLOTS)),
            SmId => word(self, offset_of!(WarpCtx, smid)),
            NSmId => word(self, offset_of!(WarpCtx, nsmid)),
            GridId => self.load_ctx_field(types::I64, offset_of!(WarpCtx, grid_id)),
            DynamicSmemSize => word(self, offset_of!(WarpCtx, dynamic_shared_size)),
            TotalSmemSize => {
                let bytes = word(self, offset_of!(WarpCtx, total_shared_size));
                let up = self.b.ins().iadd_imm_s(bytes, i64::from(SHARED_GRANULARITY) - 1);
                self.b.ins().band_imm_s(up, -i64::from(SHARED_GRANULARITY))
            }
            AggrSmemSize => {
                let bytes = word(self, offset_of!(WarpCtx, total_shared_size));
                self.b.ins().iadd_imm_s(bytes, i64::from(RESERVED_SHARED_BYTES))
            }
            // Where cooperative groups look for the words of `grid.sync()`, high half first.
            Envreg(1) => word(self, offset_of!(WarpCtx, grid_workspace) + 4),
            Envreg(2) => word(self, offset_of!(WarpCtx, grid_workspace)),
            Clock64 | Clock => self.emit_clock(false),
            GlobalTimer | GlobalTimerLo => self.emit_clock(true),
            ClockHi | GlobalTimerHi => {
                let t = self.emit_clock(s == GlobalTimerHi);
                self.b.ins().ushr_imm_u(t, 32)
            }
            ReservedSmemEnd => self.iconst32(i64::from(RESERVED_SHARED_END)),
            ReservedSmemCap => self.iconst32(i64::from(RESERVED_SHARED_BYTES)),
            x if x == crate::simt::barrier_results::BARRIER_RESULT_REG => {
                self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, frame_header::BAR_RESULT_OFFSET)
            }
            _ => self.iconst32(0),
        };
        self.resize_integer(v, w)
    }

    fn emit_clock(&mut self, timer: bool) -> Value {
        let f = if timer { runtime_call_target!(globaltimer) } else { runtime_call_target!(clock64) };
        let ctx = self.abi.ctx;
        relocations::call_target(&mut self.b, f, &[ctx], Some(types::I64)).unwrap_or(ctx)
    }

    /// A scalar integer of 32 or 64 bits at width `w`.
    fn resize_integer(&mut self, v: Value, w: RegWidth) -> LaneParts {
        let is64 = self.b.func.dfg.value_type(v) == types::I64;
        let v = match (w, is64) {
            (RegWidth::W64 | RegWidth::W128, false) => self.b.ins().uextend(types::I64, v),
            (RegWidth::W32 | RegWidth::W16, true) => self.b.ins().ireduce(types::I32, v),
            (RegWidth::Pred, _) => self.b.ins().icmp_imm_u(IntCC::NotEqual, v, 0),
            _ => v,
        };
        match w {
            RegWidth::W16 => smallvec![self.b.ins().band_imm_u(v, 0xffff)],
            RegWidth::W128 => {
                let zero = self.iconst64(0);
                smallvec![v, zero]
            }
            _ => smallvec![v],
        }
    }

    /// A special register for the lanes of a chunk.
    pub(crate) fn special_register_lanes(&mut self, s: SpecialReg, w: RegWidth, chunk: usize) -> LaneParts {
        use SpecialReg::*;
        let words: LaneParts = match s {
            Tid(d) if d != Dim3Component::W => {
                let mut table = self.load_ctx_field(types::I64, offset_of!(WarpCtx, tid));
                if let Some(chunk_loop) = self.segment.chunk_loop {
                    table = self.b.ins().iadd(table, chunk_loop.byte_offset);
                }
                let at = [offset_of!(TidTable, x), offset_of!(TidTable, y), offset_of!(TidTable, z)][dim_index(d)];
                (0..2)
                    .map(|i| {
                        self.b.ins().load(types::I32X4, trusted_mem_flags(), table, (at + chunk * 32 + i * 16) as i32)
                    })
                    .collect()
            }
            LaneId => self.scaled_lane_ids(chunk, 1),
            LaneMaskEq | LaneMaskLe | LaneMaskLt | LaneMaskGe | LaneMaskGt => self.lanemask_register_lanes(s, chunk),
            x if x == crate::simt::barrier_results::BARRIER_RESULT_REG && self.is_masked() => {
                let words = self.load_lane_array(frame_header::BAR_RESULT_OFFSET, chunk);
                if w == RegWidth::Pred {
                    let zero = ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, RegWidth::W32, 0);
                    return words.iter().map(|&v| self.b.ins().icmp(IntCC::NotEqual, v, zero[0])).collect();
                }
                words
            }
            _ => {
                let v = self.special_register_scalar(s, w);
                return ops::splat_scalar(&mut self.op_ctx(), w, &v);
            }
        };
        ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &words, RegWidth::W32, w)
    }

    fn lanemask_register_lanes(&mut self, s: SpecialReg, chunk: usize) -> LaneParts {
        let shift = self.segment.chunk_loop.map(|l| self.b.ins().ishl_imm_u(l.chunk, 3));
        let ones = self.splat_i32x4(0xffff_ffff);
        (0..2)
            .map(|i| {
                let lanes: Vec<i64> = (0..4).map(|l| 1 << (chunk * CHUNK_LANES + i * 4 + l)).collect();
                let mut eq = self.constant_vector(RegWidth::W32, &lanes);
                if let Some(shift) = shift {
                    eq = self.b.ins().ishl(eq, shift);
                }
                let lt = self.b.ins().iadd(eq, ones);
                match s {
                    SpecialReg::LaneMaskEq => eq,
                    SpecialReg::LaneMaskLt => lt,
                    SpecialReg::LaneMaskLe => self.b.ins().bor(eq, lt),
                    SpecialReg::LaneMaskGe => self.b.ins().bnot(lt),
                    _ => {
                        let le = self.b.ins().bor(eq, lt);
                        self.b.ins().bnot(le)
                    }
                }
            })
            .collect()
    }

    /// A statement that converged code executes once and that is no arithmetic.
    pub(crate) fn emit_uniform_non_arithmetic(&mut self, st: &Stmt<'_>) -> Result<Vec<(Reg, LaneParts)>, JitError> {
        match &*st.inst {
            Inst::Ld { .. } => self.load_uniform(st),
            Inst::Cvta { space, to, ty, dst, src } => {
                let v = self.scalar_operand(*src, RegWidth::from_type(*ty))[0];
                let v = self.resize_integer(v, RegWidth::W64)[0];
                let v = self.convert_generic_address(v, *space, *to);
                let w = self.width_of_register(*dst);
                Ok(vec![(*dst, self.resize_integer(v, w))])
            }
            Inst::Isspacep { space, dst, a } => {
                let v = self.scalar_operand(*a, RegWidth::W64)[0];
                let p = self.emit_space_test(*space, v, types::I64);
                Ok(vec![(*dst, smallvec![p])])
            }
            Inst::Activemask { dst } => {
                let v = self.iconst32(-1);
                let w = self.width_of_register(*dst);
                Ok(vec![(*dst, self.resize_integer(v, w))])
            }
            other => Err(self.unsupported_error(&instruction_display_name(other))),
        }
    }

    /// Between a space's addresses and generic ones; only shared ones differ. Works on `I64` and `I64X2`.
    fn convert_generic_address(&mut self, v: Value, space: Space, to: bool) -> Value {
        if space != Space::Shared {
            return v;
        }
        let mut base = self.load_ctx_field(types::I64, offset_of!(WarpCtx, shared));
        if self.b.func.dfg.value_type(v) == types::I64X2 {
            base = self.b.ins().splat(types::I64X2, base);
        }
        if to { self.b.ins().isub(v, base) } else { self.b.ins().iadd(v, base) }
    }

    /// Whether generic addresses lie in a space, as a predicate.
    fn emit_space_test(&mut self, space: Space, v: Value, ty: cranelift_codegen::ir::Type) -> Value {
        let field = |g: &mut Self, at: usize| {
            let x = g.load_ctx_field(types::I64, at);
            if ty == types::I64X2 { g.b.ins().splat(types::I64X2, x) } else { x }
        };
        let shared = field(self, offset_of!(WarpCtx, shared));
        let offset = self.b.ins().isub(v, shared);
        // The window of shared memory has 16 MiB; what follows it belongs to no space (question 47 of `tests/fidelity`).
        let span = self.window_span_constant(ty, if space == Space::Shared { 1 << 24 } else { 1 << 32 });
        let in_shared = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, span);
        // Local memory of a warp is contiguous; its start is where this activation's began at
        // the earliest, so a generous span below the end is tested.
        let end = field(self, offset_of!(WarpCtx, local_end));
        let below = self.b.ins().isub(end, v);
        let reach = self.window_span_constant(ty, 64 << 20);
        let in_local = self.b.ins().icmp(IntCC::UnsignedLessThan, below, reach);
        match space {
            Space::Shared => in_shared,
            Space::Local => in_local,
            Space::Param => {
                let params = field(self, offset_of!(WarpCtx, params));
                let offset = self.b.ins().isub(v, params);
                let span = self.window_span_constant(ty, MAX_PARAM_BYTES);
                self.b.ins().icmp(IntCC::UnsignedLessThan, offset, span)
            }
            Space::Const => self.emit_constant_test(v, ty),
            _ => {
                let either = self.b.ins().bor(in_shared, in_local);
                let constant = self.emit_constant_test(v, ty);
                let any = self.b.ins().bor(either, constant);
                if ty == types::I64 { self.b.ins().bxor_imm_u(any, 1) } else { self.b.ins().bnot(any) }
            }
        }
    }

    /// Whether generic addresses are those of the module's constants. A module sees no others.
    fn emit_constant_test(&mut self, v: Value, ty: cranelift_codegen::ir::Type) -> Value {
        let mut found = self.b.ins().icmp(IntCC::NotEqual, v, v);
        for (i, var) in self.env.module.vars.iter().enumerate().filter(|(_, var)| var.space == Space::Const) {
            let base = self.symbol_address_value(Symbol::Global(GlobalVar(i as u32)), 0, RegWidth::W64)[0];
            let base = if ty == types::I64X2 { self.b.ins().splat(types::I64X2, base) } else { base };
            let offset = self.b.ins().isub(v, base);
            let size = self.window_span_constant(ty, var.size as i64);
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, size);
            found = self.b.ins().bor(found, inside);
        }
        found
    }

    fn window_span_constant(&mut self, ty: cranelift_codegen::ir::Type, v: i64) -> Value {
        if ty == types::I64X2 { self.constant_vector(RegWidth::W64, &[v, v]) } else { self.iconst64(v) }
    }

    /// A statement for the lanes of one chunk that is no arithmetic.
    pub(crate) fn emit_varying_non_arithmetic(&mut self, st: &Stmt<'a>, chunk: usize) -> Result<(), JitError> {
        match &*st.inst {
            Inst::Ld { .. } => self.load_lanes(st, chunk),
            Inst::St { .. } => self.store_lanes(st, chunk),
            Inst::Cvta { space, to, dst, src, .. } => {
                let v = self.operand_lanes(*src, RegWidth::W64, chunk);
                let v: LaneParts = v.iter().map(|&p| self.convert_generic_address(p, *space, *to)).collect();
                let w = self.width_of_register(*dst);
                let v = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, RegWidth::W64, w);
                let guard = self.blend_mask(st, chunk);
                self.write_lanes(*dst, chunk, v, guard.as_ref());
                Ok(())
            }
            Inst::Isspacep { space, dst, a } => {
                let v = self.operand_lanes(*a, RegWidth::W64, chunk);
                let p: LaneParts = v.iter().map(|&p| self.emit_space_test(*space, p, types::I64X2)).collect();
                let p: LaneParts = (0..2).map(|i| self.shuffle_words(p[2 * i], p[2 * i + 1], [0, 2, 4, 6])).collect();
                let guard = self.blend_mask(st, chunk);
                self.write_lanes(*dst, chunk, p, guard.as_ref());
                Ok(())
            }
            Inst::Prefetch { .. }
            | Inst::Hint { .. }
            | Inst::CpAsyncCommit
            | Inst::CpAsyncWait { .. }
            | Inst::BulkCommit
            | Inst::BulkWait { .. }
            | Inst::Fence(_) => Ok(()),
            other => Err(self.unsupported_error(&instruction_display_name(other))),
        }
    }

    /// Whether an operand is a scalar in the code being emitted.
    pub(crate) fn is_uniform(&self, o: Operand) -> bool {
        match o {
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => true,
            _ => !self.is_masked() && self.plan.classes.operand_class(o) == LaneClass::Uniform,
        }
    }
}

/// The instruction's name for an error message.
pub(crate) fn instruction_display_name(inst: &Inst) -> String {
    match inst {
        Inst::Other { opcode, .. } => format!("`{opcode}`"),
        other => {
            let text = format!("{other:?}");
            let name: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
            format!("`{}`", name.to_lowercase())
        }
    }
}
