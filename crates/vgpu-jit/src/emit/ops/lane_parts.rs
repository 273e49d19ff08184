//! Making and taking apart the values of operands: constants, splats, lanes, masks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{ConstantData, InstBuilder, InstructionData, Opcode, Value, types};
use rtcg_ptx::ast::{Inst, Operand};
use smallvec::{SmallVec, smallvec};

use super::{EmitShape, LaneParts, OpCtx, RegWidth, result_type};
use crate::emit::function::register_values::CHUNK_LANES;

/// A constant that every lane holds. For a predicate any non-zero `bits` is true; of 128 bits
/// the upper half is zero.
pub(crate) fn splat_constant(cx: &mut OpCtx<'_, '_>, shape: EmitShape, width: RegWidth, bits: u64) -> LaneParts {
    let n = width.part_count(shape);
    if width == RegWidth::W128 {
        let mut parts = splat_constant(cx, shape, RegWidth::W64, bits);
        parts.extend(splat_constant(cx, shape, RegWidth::W64, 0));
        return parts;
    }
    let value = match shape {
        EmitShape::Scalar => scalar_constant(cx, width, bits),
        EmitShape::Chunk => vector_constant(cx, width, bits),
    };
    SmallVec::from_elem(value, n)
}

fn scalar_constant(cx: &mut OpCtx<'_, '_>, width: RegWidth, bits: u64) -> Value {
    match width {
        RegWidth::Pred => cx.b.ins().iconst(types::I8, i64::from(bits != 0)),
        RegWidth::W16 => cx.b.ins().iconst(types::I32, (bits & 0xffff) as i64),
        RegWidth::W32 => cx.b.ins().iconst(types::I32, i64::from(bits as u32)),
        RegWidth::W64 | RegWidth::W128 => cx.b.ins().iconst(types::I64, bits as i64),
    }
}

fn vector_constant(cx: &mut OpCtx<'_, '_>, width: RegWidth, bits: u64) -> Value {
    let lane = match width {
        RegWidth::Pred => {
            if bits != 0 {
                u64::from(u32::MAX)
            } else {
                0
            }
        }
        RegWidth::W16 => bits & 0xffff,
        RegWidth::W32 => bits & 0xffff_ffff,
        RegWidth::W64 | RegWidth::W128 => bits,
    };
    if matches!(width, RegWidth::W64 | RegWidth::W128) {
        const_i64x2(cx, [lane; 2])
    } else {
        const_i32x4(cx, [lane as u32; 4])
    }
}

/// The constant vector of four 32-bit lanes.
pub(super) fn const_i32x4(cx: &mut OpCtx<'_, '_>, lanes: [u32; 4]) -> Value {
    let bytes: Vec<u8> = lanes.iter().flat_map(|l| l.to_le_bytes()).collect();
    let data = cx.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
    cx.b.ins().vconst(types::I32X4, data)
}

/// The constant vector of two 64-bit lanes.
pub(super) fn const_i64x2(cx: &mut OpCtx<'_, '_>, lanes: [u64; 2]) -> Value {
    let bytes: Vec<u8> = lanes.iter().flat_map(|l| l.to_le_bytes()).collect();
    let data = cx.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
    cx.b.ins().vconst(types::I64X2, data)
}

/// The bits of an immediate operand read at `width`; `None` for registers, special registers and addresses.
pub(crate) fn immediate_bits(operand: &Operand, width: RegWidth) -> Option<u64> {
    let wide = matches!(width, RegWidth::W64 | RegWidth::W128);
    let bits = match *operand {
        Operand::Int(v) => v as u64,
        Operand::F32(v) if wide => f64::from(f32::from_bits(v)).to_bits(),
        Operand::F32(v) => u64::from(v),
        Operand::F64(v) if wide => v,
        Operand::F64(v) => u64::from((f64::from_bits(v) as f32).to_bits()),
        _ => return None,
    };
    Some(match width {
        RegWidth::Pred => u64::from(bits != 0),
        RegWidth::W16 => bits & 0xffff,
        RegWidth::W32 => bits & 0xffff_ffff,
        RegWidth::W64 | RegWidth::W128 => bits,
    })
}

/// The value of an immediate operand; `None` when it is none.
pub fn immediate_parts(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    operand: &Operand,
    width: RegWidth,
) -> Option<LaneParts> {
    let bits = immediate_bits(operand, width)?;
    let mut parts = splat_constant(cx, shape, width, bits);
    if width == RegWidth::W128 && matches!(operand, Operand::Int(v) if *v < 0) {
        let high = splat_constant(cx, shape, RegWidth::W64, u64::MAX);
        let half = parts.len() / 2;
        parts[half..].copy_from_slice(&high);
    }
    Some(parts)
}

/// A scalar value copied to all lanes of a chunk.
pub(crate) fn splat_scalar(cx: &mut OpCtx<'_, '_>, width: RegWidth, scalar: &[Value]) -> LaneParts {
    let n = width.part_count(EmitShape::Chunk) / scalar.len();
    let ty = width.part_type(EmitShape::Chunk);
    let mut parts = LaneParts::new();
    for &s in scalar {
        let s = if width == RegWidth::Pred { pred_to_mask32(cx, s) } else { s };
        let v = cx.b.ins().splat(ty, s);
        parts.extend(std::iter::repeat_n(v, n));
    }
    parts
}

/// A scalar predicate (0 or 1) as a 32-bit mask.
fn pred_to_mask32(cx: &mut OpCtx<'_, '_>, p: Value) -> Value {
    let wide = cx.b.ins().uextend(types::I32, p);
    cx.b.ins().ineg(wide)
}

/// Lane `extract_lane` of a chunk as a scalar value.
pub(crate) fn extract_lane(cx: &mut OpCtx<'_, '_>, width: RegWidth, parts: &[Value], lane: usize) -> LaneParts {
    match width {
        RegWidth::W128 => {
            let (low, high) = parts.split_at(parts.len() / 2);
            smallvec![extract_from_parts(cx, low, 2, lane), extract_from_parts(cx, high, 2, lane)]
        }
        RegWidth::W64 => smallvec![extract_from_parts(cx, parts, 2, lane)],
        RegWidth::W16 | RegWidth::W32 => smallvec![extract_from_parts(cx, parts, 4, lane)],
        RegWidth::Pred => {
            let mask = extract_from_parts(cx, parts, 4, lane);
            smallvec![cx.b.ins().icmp_imm_u(IntCC::NotEqual, mask, 0)]
        }
    }
}

fn extract_from_parts(cx: &mut OpCtx<'_, '_>, parts: &[Value], per_part: usize, lane: usize) -> Value {
    cx.b.ins().extractlane(parts[lane / per_part], (lane % per_part) as u8)
}

/// The chunk whose lanes are the given scalar values.
pub(crate) fn chunk_from_scalars(
    cx: &mut OpCtx<'_, '_>,
    width: RegWidth,
    lanes: &[LaneParts; CHUNK_LANES],
) -> LaneParts {
    let halves = if width == RegWidth::W128 { 2 } else { 1 };
    let per_part = if matches!(width, RegWidth::W64 | RegWidth::W128) { 2 } else { 4 };
    let ty = width.part_type(EmitShape::Chunk);
    let mut parts = LaneParts::new();
    for half in 0..halves {
        for group in lanes.chunks(per_part) {
            let mut vector = None;
            for (i, scalar) in group.iter().enumerate() {
                let s = if width == RegWidth::Pred { pred_to_mask32(cx, scalar[0]) } else { scalar[half] };
                vector = Some(match vector {
                    None => cx.b.ins().scalar_to_vector(ty, s),
                    Some(v) => cx.b.ins().insertlane(v, s, i as u8),
                });
            }
            parts.extend(vector);
        }
    }
    parts
}

/// A chunk predicate as an `I32` whose bit `i` is lane `i`.
pub(crate) fn mask_to_bits(cx: &mut OpCtx<'_, '_>, mask: &[Value]) -> Value {
    let low = cx.b.ins().vhigh_bits(types::I32, mask[0]);
    let high = cx.b.ins().vhigh_bits(types::I32, mask[1]);
    let high = cx.b.ins().ishl_imm_u(high, 4);
    cx.b.ins().bor(low, high)
}

/// The inverse of [`mask_to_bits`]; bits above 7 are ignored.
pub(crate) fn bits_to_mask(cx: &mut OpCtx<'_, '_>, bits: Value) -> LaneParts {
    let all = cx.b.ins().splat(types::I32X4, bits);
    [[1, 2, 4, 8], [16, 32, 64, 128]]
        .into_iter()
        .map(|weights| {
            let weights = const_i32x4(cx, weights);
            let kept = cx.b.ins().band(all, weights);
            cx.b.ins().icmp(IntCC::Equal, kept, weights)
        })
        .collect()
}

/// Per lane `mask ? a : b`.
pub(crate) fn blend_lanes(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    mask: &[Value],
    a: &[Value],
    b: &[Value],
    width: RegWidth,
) -> LaneParts {
    if shape == EmitShape::Scalar {
        return a.iter().zip(b).map(|(&x, &y)| if x == y { x } else { cx.b.ins().select(mask[0], x, y) }).collect();
    }
    let masks = widen_mask(cx, mask, width);
    (0..a.len()).map(|i| select_int_lanes(cx, masks[i % masks.len()], a[i], b[i])).collect()
}

/// Per lane `mask ? x : y` of integer vectors.
pub(super) fn select_int_lanes(cx: &mut OpCtx<'_, '_>, mask: Value, x: Value, y: Value) -> Value {
    if x == y {
        x
    } else if is_constant_splat(cx, x, 0) {
        cx.b.ins().band_not(y, mask)
    } else if is_constant_splat(cx, y, 0) {
        cx.b.ins().band(x, mask)
    } else {
        cx.b.ins().bitselect(mask, x, y)
    }
}

/// Whether `value`, perhaps reinterpreted, is a constant vector that holds `bits` in each of its lanes.
pub(super) fn is_constant_splat(cx: &OpCtx<'_, '_>, value: Value, bits: u64) -> bool {
    let value = bitcast_source(cx, value).unwrap_or(value);
    let Some(inst) = cx.b.func.dfg.value_def(value).inst() else { return false };
    let InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } = cx.b.func.dfg.insts[inst] else {
        return false;
    };
    let lane = cx.b.func.dfg.value_type(value).lane_type().bytes() as usize;
    let wanted = &bits.to_le_bytes()[..lane];
    cx.b.func.dfg.constants.get(constant_handle).as_slice().chunks(lane).all(|l| l == wanted)
}

/// The vector `x` of which `value` is `x op bits` in every lane, `value` and `x` perhaps reinterpreted.
fn operand_of_constant_op(cx: &OpCtx<'_, '_>, value: Value, op: Opcode, bits: u64) -> Option<Value> {
    let value = bitcast_source(cx, value).unwrap_or(value);
    let inst = cx.b.func.dfg.value_def(value).inst()?;
    match cx.b.func.dfg.insts[inst] {
        InstructionData::Binary { opcode, args: [x, y] } if opcode == op && is_constant_splat(cx, y, bits) => Some(x),
        _ => None,
    }
}

/// The single-precision vector that `value` is the negative of, if the code that made it says so.
pub(super) fn negated_source(cx: &mut OpCtx<'_, '_>, value: Value) -> Option<Value> {
    let x = operand_of_constant_op(cx, value, Opcode::Bxor, 1 << 31)
        .filter(|&x| cx.b.func.dfg.value_type(x) == types::I32X4)?;
    Some(bitcast_to(cx, x, types::F32X4))
}

/// The single-precision vector that `value` is the magnitude of, if the code that made it says so.
pub(super) fn magnitude_source(cx: &mut OpCtx<'_, '_>, value: Value) -> Option<Value> {
    let x = operand_of_constant_op(cx, value, Opcode::Band, (1 << 31) - 1)
        .filter(|&x| cx.b.func.dfg.value_type(x) == types::I32X4)?;
    Some(bitcast_to(cx, x, types::F32X4))
}

/// A chunk predicate at the lane size of `width`: one mask per part (of a 64-bit half).
pub(super) fn widen_mask(cx: &mut OpCtx<'_, '_>, mask: &[Value], width: RegWidth) -> LaneParts {
    if !matches!(width, RegWidth::W64 | RegWidth::W128) {
        return LaneParts::from_slice(mask);
    }
    mask.iter().flat_map(|&m| [cx.b.ins().swiden_low(m), cx.b.ins().swiden_high(m)]).collect()
}

/// Narrows a register's value to the width an operand is read at (PTX lets `cvt` and bit-size
/// `mov` read a wider register).
pub fn narrow_source(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    parts: &[Value],
    from: RegWidth,
    to: RegWidth,
) -> LaneParts {
    match (from, to) {
        _ if from == to => LaneParts::from_slice(parts),
        (RegWidth::W32, RegWidth::W16) => mask_to_16_bit(cx, shape, parts),
        (RegWidth::W64, RegWidth::W32) => narrow_to_32_bit(cx, shape, parts),
        (RegWidth::W64, RegWidth::W16) => {
            let low = narrow_to_32_bit(cx, shape, parts);
            mask_to_16_bit(cx, shape, &low)
        }
        (RegWidth::W128, _) => {
            let low = LaneParts::from_slice(&parts[..parts.len() / 2]);
            narrow_source(cx, shape, &low, RegWidth::W64, to)
        }
        (RegWidth::W16, RegWidth::W32) => LaneParts::from_slice(parts),
        (RegWidth::W16 | RegWidth::W32, RegWidth::W64) => extend_to_64_bit(cx, shape, parts, false),
        (_, RegWidth::W128) => {
            let mut wide = narrow_source(cx, shape, parts, from, RegWidth::W64);
            wide.extend(splat_constant(cx, shape, RegWidth::W64, 0));
            wide
        }
        // A predicate never stands for a number or the reverse; the parser has checked it.
        _ => LaneParts::from_slice(parts),
    }
}

fn mask_to_16_bit(cx: &mut OpCtx<'_, '_>, shape: EmitShape, parts: &[Value]) -> LaneParts {
    let mask = splat_constant(cx, shape, RegWidth::W32, 0xffff);
    parts.iter().map(|&p| cx.b.ins().band(p, mask[0])).collect()
}

/// The low halves of 64-bit values.
pub(super) fn narrow_to_32_bit(cx: &mut OpCtx<'_, '_>, shape: EmitShape, parts: &[Value]) -> LaneParts {
    match shape {
        EmitShape::Scalar => parts.iter().map(|&p| cx.b.ins().ireduce(types::I32, p)).collect(),
        EmitShape::Chunk => parts.chunks(2).map(|pair| low_words_of_64_bit_lanes(cx, pair[0], pair[1])).collect(),
    }
}

/// The even 32-bit words of two vectors: the low halves of their four 64-bit lanes.
pub(super) fn low_words_of_64_bit_lanes(cx: &mut OpCtx<'_, '_>, a: Value, b: Value) -> Value {
    shuffle_words(cx, a, b, [0, 2, 4, 6])
}

/// A shuffle of the eight 32-bit words of `a` and `b`; the result is `I32X4`.
pub(super) fn shuffle_words(cx: &mut OpCtx<'_, '_>, a: Value, b: Value, words: [u8; 4]) -> Value {
    let a = bitcast_to(cx, a, types::I8X16);
    let b = bitcast_to(cx, b, types::I8X16);
    let bytes: Vec<u8> = words.iter().flat_map(|w| (0..4).map(move |i| w * 4 + i)).collect();
    let mask = cx.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
    let v = cx.b.ins().shuffle(a, b, mask);
    bitcast_to(cx, v, types::I32X4)
}

/// `value` with its bits read as `ty`.
pub(super) fn bitcast_to(cx: &mut OpCtx<'_, '_>, value: Value, ty: cranelift_codegen::ir::Type) -> Value {
    use cranelift_codegen::ir::{Endianness, MemFlagsData};
    if cx.b.func.dfg.value_type(value) == ty {
        return value;
    }
    if let Some(source) = bitcast_source(cx, value).filter(|&v| cx.b.func.dfg.value_type(v) == ty) {
        return source;
    }
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    cx.b.ins().bitcast(ty, flags, value)
}

/// The value that `value` is the reinterpreted bits of.
fn bitcast_source(cx: &OpCtx<'_, '_>, value: Value) -> Option<Value> {
    let inst = cx.b.func.dfg.value_def(value).inst()?;
    match cx.b.func.dfg.insts[inst] {
        InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } => Some(arg),
        _ => None,
    }
}

/// Whether `value`, perhaps reinterpreted, comes straight from memory.
pub(super) fn is_load_result(cx: &OpCtx<'_, '_>, value: Value) -> bool {
    let value = bitcast_source(cx, value).unwrap_or(value);
    let inst = cx.b.func.dfg.value_def(value).inst();
    inst.is_some_and(|i| cx.b.func.dfg.insts[i].opcode() == Opcode::Load)
}

/// The bits of a vector of four floats.
pub(crate) fn float_bits(cx: &mut OpCtx<'_, '_>, value: Value) -> Value {
    bitcast_to(cx, value, types::I32X4)
}

/// 32-bit values extended to 64 bits.
pub(super) fn extend_to_64_bit(cx: &mut OpCtx<'_, '_>, shape: EmitShape, parts: &[Value], signed: bool) -> LaneParts {
    let mut wide = LaneParts::new();
    for &p in parts {
        match (shape, signed) {
            (EmitShape::Scalar, true) => wide.push(cx.b.ins().sextend(types::I64, p)),
            (EmitShape::Scalar, false) => wide.push(cx.b.ins().uextend(types::I64, p)),
            (EmitShape::Chunk, true) => wide.extend([cx.b.ins().swiden_low(p), cx.b.ins().swiden_high(p)]),
            (EmitShape::Chunk, false) => wide.extend([cx.b.ins().uwiden_low(p), cx.b.ins().uwiden_high(p)]),
        }
    }
    wide
}

/// Extends a result of [`super::lower_inst`] of width `from` into a register of width `to`: by its
/// sign for a conversion to a signed type, else by zeros.
pub fn extend_result(
    cx: &mut OpCtx<'_, '_>,
    shape: EmitShape,
    inst: &Inst,
    parts: &[Value],
    from: RegWidth,
    to: RegWidth,
) -> LaneParts {
    let signed = result_type(inst).is_some_and(|t| t.is_signed());
    if from == to || !signed {
        return narrow_source(cx, shape, parts, from, to);
    }
    let word = if from == RegWidth::W16 { sign_extend(cx, shape, parts, 16) } else { LaneParts::from_slice(parts) };
    match (from, to) {
        (RegWidth::W16, RegWidth::W32) => word,
        (RegWidth::W16 | RegWidth::W32, RegWidth::W64) => extend_to_64_bit(cx, shape, &word, true),
        _ => narrow_source(cx, shape, parts, from, to),
    }
}

/// The low `bits` of 32-bit parts, sign-extended to 32.
pub(super) fn sign_extend(cx: &mut OpCtx<'_, '_>, _shape: EmitShape, parts: &[Value], bits: i64) -> LaneParts {
    parts
        .iter()
        .map(|&p| {
            let up = cx.b.ins().ishl_imm_u(p, 32 - bits);
            cx.b.ins().sshr_imm_u(up, 32 - bits)
        })
        .collect()
}
