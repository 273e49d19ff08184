//! Compiles one PTX instruction to a function over arrays of lanes, and makes operands for it.

pub mod cases;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rtcg_ptx::ast::{Inst, Operand, Type};
use rtcg_vgpu_jit::ops::{self, EmitShape, LaneParts, OpCtx, OpState, RegWidth, StandaloneFunction};

/// Bytes between the operands of a call.
const OPERAND_STRIDE: usize = 64;
pub const LANES: usize = 8;

/// One parsed instruction with the names and widths of its registers.
#[derive(Debug, Clone)]
pub struct InstructionCase {
    pub text: String,
    pub inst: Inst,
    /// Source registers, in the order of `ops::sources`; `None` for immediates.
    pub srcs: Vec<Option<(String, RegWidth)>>,
    pub dsts: Vec<(String, RegWidth)>,
}

const REGISTER_DECLARATIONS: &str = ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;";

pub fn parse_case(text: &str) -> InstructionCase {
    let module = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {{ {REGISTER_DECLARATIONS} {text} ret; }}"
    );
    let parsed = rtcg_ptx::parse(module);
    assert!(!parsed.has_errors(), "{text}: {}", parsed.render_diagnostics("case"));
    let function = &parsed.module.functions[0];
    let inst = function.body[0].inst.clone();
    assert!(ops::is_pure(&inst), "{text}: {inst:?}");
    let name = |reg: rtcg_ptx::ast::Reg| {
        let decl = &function.regs[reg.index()];
        (decl.name.to_string(), RegWidth::from_type(decl.ty))
    };
    let mut srcs: Vec<_> = ops::source_operands(&inst)
        .iter()
        .map(|(op, _)| match op {
            Operand::Reg(r) => Some(name(*r)),
            _ => None,
        })
        .collect();
    let mut dsts: Vec<_> = ops::dest_registers(&inst).iter().map(|(r, _)| name(*r)).collect();
    // The carry flag is a last operand and a last result.
    srcs.extend(ops::reads_carry(&inst).then(|| Some(("carry".to_string(), RegWidth::Pred))));
    dsts.extend(ops::writes_carry(&inst).then(|| ("carry".to_string(), RegWidth::Pred)));
    InstructionCase { text: text.to_string(), inst, srcs, dsts }
}

/// How an instruction is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileMode {
    Direct,
    /// With the approximate functions of a GPU.
    Device,
    Helper,
}

/// A compiled instruction.
pub struct CompiledInst {
    _code: StandaloneFunction,
    entry: extern "C" fn(*const u8, *mut u8),
    shape: EmitShape,
    case: InstructionCase,
}

pub fn compile_case(case: &InstructionCase, shape: EmitShape, way: CompileMode, opt: &str) -> CompiledInst {
    let mut flags = settings::builder();
    flags.set("opt_level", opt).unwrap();
    flags.set("is_pic", "false").unwrap();
    let isa = cranelift_native::builder().unwrap().finish(settings::Flags::new(flags)).unwrap();
    let mut context = cranelift_codegen::Context::new();
    context.func.signature.call_conv = isa.default_call_conv();
    context.func.signature.params = vec![AbiParam::new(types::I64); 2];
    let mut fbc = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut context.func, &mut fbc);
    emit_inst(&mut b, case, shape, way);
    b.finalize(isa.frontend_config());
    let code = StandaloneFunction::compile_function(&mut context, &*isa)
        .unwrap_or_else(|e| panic!("{}: {e}\n{}", case.text, context.func));
    // SAFETY: the function was compiled with this signature and lives as long as the module.
    let entry = unsafe { std::mem::transmute::<usize, extern "C" fn(*const u8, *mut u8)>(code.entry_address()) };
    CompiledInst { _code: code, entry, shape, case: case.clone() }
}

fn emit_inst(b: &mut FunctionBuilder<'_>, case: &InstructionCase, shape: EmitShape, way: CompileMode) {
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let (input, output) = (b.block_params(block)[0], b.block_params(block)[1]);
    let mut state = match way {
        CompileMode::Device => OpState::with_device_approximations(),
        _ => OpState::default(),
    };
    let mut cx = OpCtx { b, state: &mut state };
    let mut wanted = ops::source_operands(&case.inst);
    if ops::reads_carry(&case.inst) {
        wanted.push((Operand::Int(0), RegWidth::Pred));
    }
    let srcs: Vec<LaneParts> = wanted
        .iter()
        .zip(&case.srcs)
        .enumerate()
        .map(|(i, ((op, width), reg))| match reg {
            Some((_, have)) => {
                let parts = load(&mut cx, shape, *have, input, i);
                ops::narrow_source(&mut cx, shape, &parts, *have, *width)
            }
            None => ops::immediate_parts(&mut cx, shape, op, *width).unwrap(),
        })
        .collect();
    let results = match way {
        CompileMode::Direct | CompileMode::Device => ops::lower_inst(&mut cx, shape, &case.inst, &srcs),
        CompileMode::Helper => ops::lower_with_helper(&mut cx, shape, &case.inst, &srcs),
    };
    let results = results.unwrap_or_else(|e| panic!("{}: {e}", case.text));
    let mut dests: Vec<RegWidth> = ops::dest_registers(&case.inst).iter().map(|d| d.1).collect();
    dests.extend(ops::writes_carry(&case.inst).then_some(RegWidth::Pred));
    assert_eq!(results.len(), dests.len(), "{}", case.text);
    for (i, (width, (_, have))) in dests.iter().zip(&case.dsts).enumerate() {
        let parts = ops::extend_result(&mut cx, shape, &case.inst, &results[i], *width, *have);
        store(&mut cx, shape, *have, &parts, output, i);
    }
    cx.b.ins().return_(&[]);
}

fn load(cx: &mut OpCtx<'_, '_>, shape: EmitShape, width: RegWidth, base: Value, i: usize) -> LaneParts {
    let flags = MemFlagsData::new();
    let at = |k: usize| (i * OPERAND_STRIDE + 16 * k) as i32;
    if shape == EmitShape::Scalar && width == RegWidth::Pred {
        let v = cx.b.ins().load(types::I32, flags, base, at(0));
        let zero = cx.b.ins().iconst(types::I32, 0);
        return LaneParts::from_elem(cx.b.ins().icmp(IntCC::NotEqual, v, zero), 1);
    }
    (0..width.part_count(shape)).map(|k| cx.b.ins().load(width.part_type(shape), flags, base, at(k))).collect()
}

fn store(cx: &mut OpCtx<'_, '_>, shape: EmitShape, width: RegWidth, parts: &LaneParts, base: Value, i: usize) {
    assert_eq!(parts.len(), width.part_count(shape));
    for (k, &p) in parts.iter().enumerate() {
        assert_eq!(cx.b.func.dfg.value_type(p), width.part_type(shape));
        let v = if shape == EmitShape::Scalar && width == RegWidth::Pred {
            let wide = cx.b.ins().uextend(types::I32, p);
            cx.b.ins().ineg(wide)
        } else {
            p
        };
        cx.b.ins().store(MemFlagsData::new(), v, base, (i * OPERAND_STRIDE + 16 * k) as i32);
    }
}

#[repr(align(16))]
struct OperandBuffer([u8; OPERAND_STRIDE * 6]);

fn put_operand(frame: &mut OperandBuffer, i: usize, lane: usize, width: RegWidth, value: u64) {
    let size = width.lane_bytes() as usize;
    let value = if width == RegWidth::Pred && value != 0 { u64::MAX } else { value };
    let at = i * OPERAND_STRIDE + lane * size;
    frame.0[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

fn get_operand(frame: &OperandBuffer, i: usize, lane: usize, width: RegWidth) -> u64 {
    let size = width.lane_bytes() as usize;
    let at = i * OPERAND_STRIDE + lane * size;
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&frame.0[at..at + size]);
    let value = u64::from_le_bytes(bytes);
    if width == RegWidth::Pred {
        assert!(value == 0 || value == 0xffff_ffff, "a predicate is {value:#x}");
        return value & 1;
    }
    value
}

impl CompiledInst {
    /// Runs over operand tuples (one value per register source); gives one value per destination.
    pub fn run_tuples(&self, inputs: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let lanes = if self.shape == EmitShape::Scalar { 1 } else { LANES };
        let mut out = Vec::with_capacity(inputs.len());
        for group in inputs.chunks(lanes) {
            let mut frame = OperandBuffer([0; OPERAND_STRIDE * 6]);
            let mut result = OperandBuffer([0; OPERAND_STRIDE * 6]);
            for (lane, tuple) in group.iter().enumerate() {
                let mut values = tuple.iter();
                for (i, src) in self.case.srcs.iter().enumerate() {
                    if let Some((_, width)) = src {
                        put_operand(&mut frame, i, lane, *width, *values.next().unwrap());
                    }
                }
            }
            (self.entry)(frame.0.as_ptr(), result.0.as_mut_ptr());
            for lane in 0..group.len() {
                out.push(
                    self.case.dsts.iter().enumerate().map(|(i, (_, w))| get_operand(&result, i, lane, *w)).collect(),
                );
            }
        }
        out
    }
}

impl CompiledInst {
    /// Runs over the tuples once without keeping results; the frames are prepared beforehand by the
    /// caller's first [`CompiledInst::run_tuples`], so that the time is mostly that of the code.
    pub fn run_for_timing(&self, inputs: &[Vec<u64>]) -> u64 {
        let lanes = if self.shape == EmitShape::Scalar { 1 } else { LANES };
        let mut frame = OperandBuffer([0; OPERAND_STRIDE * 6]);
        let mut result = OperandBuffer([0; OPERAND_STRIDE * 6]);
        for (lane, tuple) in inputs.iter().take(lanes).enumerate() {
            let mut values = tuple.iter();
            for (i, src) in self.case.srcs.iter().enumerate() {
                if let Some((_, width)) = src {
                    put_operand(&mut frame, i, lane, *width, *values.next().unwrap());
                }
            }
        }
        for _ in inputs.chunks(lanes) {
            (self.entry)(frame.0.as_ptr(), result.0.as_mut_ptr());
        }
        u64::from(result.0[0])
    }
}

/// xorshift64*
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn random_below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
}

const EDGE_VALUES_16: [u64; 22] = [
    0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe01,
    0x3f80, 0x7f80, 0x7fff, 0xffff, 0xff, 0x80,
];
const EDGE_VALUES_32: [u64; 40] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x7f_ffff,
    0x80_0000,
    0x8080_0000,
    0x80_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3f00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0xbf00_0000,
    0x4b00_0000,
    0x4b00_0001,
    0x4eff_ffff,
    0x4f00_0000,
    0x4f7f_ffff,
    0x4f80_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x5f00_0000,
    0xdf00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0x7fc1_2345,
    0xffff_ffff,
    0x7fff_ffff,
    31,
    32,
    33,
    255,
    0xffff_0000,
    0x4780_0000,
];
const EDGE_VALUES_64: [u64; 40] = [
    0,
    1 << 63,
    1,
    (1 << 63) + 1,
    0xf_ffff_ffff_ffff,
    0x10_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47f0_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x380f_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7ff8_1234_5678_9abc,
    u64::MAX,
    i64::MAX as u64,
    63,
    64,
    0xffff_ffff,
    0xffff_ffff_0000_0000,
];

/// A value of `width`, often an interesting one. `float` is the format its bits are likely read in.
pub fn random_operand(random: &mut Random, width: RegWidth, float: Option<Type>) -> u64 {
    let style = random.random_below(8);
    match width {
        RegWidth::Pred => random.next() & 1,
        RegWidth::W16 => match style {
            0..=2 => EDGE_VALUES_16[random.random_below(EDGE_VALUES_16.len())],
            3 => random.next() % 40,
            _ => random.next() & 0xffff,
        },
        RegWidth::W32 => match (style, float) {
            (0..=2, _) => EDGE_VALUES_32[random.random_below(EDGE_VALUES_32.len())],
            (3, None) => random.next() % 70,
            (4, None) => (random.next() % 70).wrapping_neg() & 0xffff_ffff,
            (3, _) => u64::from(((random.next() as i32 >> 8) as f32 / 65536.0).to_bits()),
            (4 | 5, Some(_)) => (random.next() & 0x807f_ffff) | (0x3e00_0000 + ((random.next() & 7) << 23)),
            _ => random.next() & 0xffff_ffff,
        },
        _ => match (style, float) {
            (0..=2, _) => EDGE_VALUES_64[random.random_below(EDGE_VALUES_64.len())],
            (3, None) => random.next() % 130,
            (4, None) => (random.next() % 130).wrapping_neg(),
            (3, _) => ((random.next() as i64 >> 8) as f64 / 4294967296.0).to_bits(),
            (4, Some(_)) => {
                (random.next() & 0x800f_ffff_ffff_ffff) | (0x3fc0_0000_0000_0000 + ((random.next() & 7) << 52))
            }
            (5, Some(_)) => {
                (random.next() & 0x800f_ffff_ffff_ffff) | (0x3680_0000_0000_0000 + ((random.next() % 0x220) << 52))
            }
            _ => random.next(),
        },
    }
}

/// The floating type an instruction computes in or reads.
fn float_type(inst: &Inst) -> Option<Type> {
    let ty = match inst {
        Inst::Unary { ty, .. }
        | Inst::Binary { ty, .. }
        | Inst::Ternary { ty, .. }
        | Inst::Setp { ty, .. }
        | Inst::Set { ty, .. } => *ty,
        Inst::Cvt { sty, .. } | Inst::CvtPack { sty, .. } => *sty,
        Inst::Slct { cty, .. } => *cty,
        _ => return None,
    };
    ty.is_float().then_some(ty)
}

/// `n` operand tuples. A single 16-bit operand is tried exhaustively.
pub fn operand_tuples(case: &InstructionCase, n: usize) -> Vec<Vec<u64>> {
    let widths: Vec<RegWidth> = case.srcs.iter().flatten().map(|(_, w)| *w).collect();
    if widths == [RegWidth::W16] {
        return (0..65536).map(|v| vec![v]).collect();
    }
    let seed =
        case.text.bytes().fold(0x9e37_79b9_7f4a_7c15u64, |h, c| (h ^ u64::from(c)).wrapping_mul(0x100_0000_01b3));
    let mut random = Random(seed | 1);
    let float = float_type(&case.inst);
    (0..n)
        .map(|_| {
            let mut tuple: Vec<u64> = widths.iter().map(|w| random_operand(&mut random, *w, float)).collect();
            // Sums that cancel, or nearly.
            if tuple.len() >= 2 && random.random_below(16) == 0 && widths[0] == widths[1] {
                tuple[1] = tuple[0] ^ if widths[0] == RegWidth::W64 { 1 << 63 } else { 1 << 31 };
                if widths[0] == RegWidth::W16 {
                    tuple[1] &= 0xffff;
                }
            }
            if case.text.contains(".ftz") && random.random_below(8) == 0 {
                near_smallest_normal(&mut random, &case.text, &mut tuple);
            }
            if case.text.starts_with("bf") && tuple.len() > 2 && widths[0] == RegWidth::W64 {
                // Positions and lengths above 255 are undefined.
                for x in tuple.iter_mut().rev().take(2) {
                    *x &= 0xff;
                }
            }
            tuple
        })
        .collect()
}

/// Operands whose single-precision result is about the smallest normal number.
fn near_smallest_normal(random: &mut Random, text: &str, tuple: &mut [u64]) {
    let x = f64::from(f32::from_bits(0x3f80_0000 | (random.next() & 0x7f_ffff) as u32));
    let target = f64::from(f32::MIN_POSITIVE) * (1.0 + (random.random_below(9) as f64 - 4.0) * 2f64.powi(-26));
    let bits = |x: f64| u64::from((x as f32).to_bits());
    let power = 2f64.powi(random.random_below(20) as i32);
    if text.starts_with("div") {
        (tuple[0], tuple[1]) = (bits(target * x * power), bits(x * power));
    } else if text.starts_with("rcp") {
        tuple[0] = bits(1.0 / target);
    } else if text.starts_with("mul") || text.starts_with("fma") {
        (tuple[0], tuple[1]) = (bits(target / x * power), bits(x / power));
        if text.starts_with("fma") && random.random_below(2) == 0 {
            (tuple[0], tuple[1]) = (bits(power), bits(x * 2f64.powi(-149)));
            tuple[2] = bits(target - power * x * 2f64.powi(-149));
        }
    }
}

/// Whether two results of a destination agree.
///
/// Which of two double-precision NaNs is kept is nobody's promise, so that is not compared.
pub fn results_agree(tolerance: cases::Tolerance, tuple: &[u64], width: RegWidth, a: u64, b: u64) -> bool {
    use cases::Tolerance;
    if a == b {
        return true;
    }
    match tolerance {
        Tolerance::Exact => {
            let nans = |list: &[u64]| list.iter().filter(|x| f64::from_bits(**x).is_nan()).count();
            width == RegWidth::W64 && nans(&[a, b]) == 2 && nans(tuple) >= 2
        }
        Tolerance::Circular => {
            let x = f32::from_bits(tuple[0] as u32);
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            x.abs() > 12.6 || f64::from(a - b).abs() < 1.4e-6
        }
        Tolerance::Single { ulps, absolute } => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let distance = (ordered_bits(a as u32) - ordered_bits(b as u32)).unsigned_abs();
            // With `.ftz` an approximate result next to the smallest normal number may be zero.
            let absolute = absolute.max(f64::from(f32::MIN_POSITIVE));
            !x.is_nan() && !y.is_nan() && (distance <= u64::from(ulps) || f64::from(x - y).abs() <= absolute)
        }
        Tolerance::Half { ulps } => {
            let near = |x: u64, y: u64| (ordered_bits16(x) - ordered_bits16(y)).unsigned_abs() <= ulps;
            near(a & 0xffff, b & 0xffff) && (width == RegWidth::W16 || near(a >> 16, b >> 16))
        }
        Tolerance::UpperWord { units } => (a >> 32).abs_diff(b >> 32) <= units && (a | b) & 0xffff_ffff == 0,
    }
}

fn ordered_bits(bits: u32) -> i64 {
    let magnitude = i64::from(bits & 0x7fff_ffff);
    if bits >> 31 != 0 { -magnitude } else { magnitude }
}

fn ordered_bits16(bits: u64) -> i32 {
    let magnitude = (bits & 0x7fff) as i32;
    if bits >> 15 & 1 != 0 { -magnitude } else { magnitude }
}
