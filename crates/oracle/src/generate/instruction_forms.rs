//! The instructions that random programs are made of, one line per family.
//!
//! A line is an opcode and its operands, separated by blanks; `{a,b}` in the opcode stands for one
//! of several words. An operand is a class of register, `p h r d` for 1, 16, 32 and 64 bits, with
//! `=` before it when it is written; `H R D` may also be integer constants, `F` and `G` constants of
//! single and double precision, `S` an amount of a shift, `N` a position in a word (register or
//! small constant), `I` a constant below 32, `#` one below 256, `!p` a predicate or its negation.
//! A number before a line is the compute capability that it needs.
//!
//! Products of floats always say `.rn` or another rounding: without, PTX lets them be fused with a
//! sum. The approximate instructions are left out: they have no exact result.

/// Families with their weights.
pub(crate) const INSTRUCTION_FAMILIES: &[(u32, &[&str])] = &[
    (10, INTEGER_FORMS),
    (3, SMALL_INTEGER_FORMS),
    (4, LOGIC_FORMS),
    (5, BIT_FIELD_FORMS),
    (3, PACKED_FORMS),
    (6, F32_FORMS),
    (4, F64_FORMS),
    (5, F16_FORMS),
    (6, COMPARE_FORMS),
    (4, SELECT_FORMS),
    (5, CONVERT_INTEGER_FORMS),
    (4, CONVERT_FLOAT_FORMS),
    (3, MOVE_FORMS),
    (2, VIDEO_FORMS),
];

const INTEGER_FORMS: &[&str] = &[
    "{add,sub,mul.lo}.{u32,s32} =r r R",
    "{add,sub,mul.lo}.{u32,s32} =r r R",
    "{add,sub,mul.lo}.{u64,s64} =d d D",
    "{add,sub,mul.lo}.{u64,s64} =d d D",
    "{mul.hi,div,rem,min,max}.{u32,s32} =r r R",
    "{mul.hi,div,rem,min,max}.{u64,s64} =d d D",
    "{mad.lo,mad.hi,sad}.{u32,s32} =r r R r",
    "{mad.lo,mad.hi,sad}.{u64,s64} =d d D d",
    "mul.wide.{u32,s32} =d r R",
    "mad.wide.{u32,s32} =d r R d",
    "shl.b32 =r r S",
    "shl.b64 =d d S",
    "shr.{b32,u32,s32} =r r S",
    "shr.{b64,u64,s64} =d d S",
    "{abs,neg}.s32 =r r",
    "{abs,neg}.s64 =d d",
    "{add,sub}.sat.s32 =r r R",
    "90 {min,max}.relu.s32 =r r R",
    "cvt.{u64.u32,s64.s32,u64.s32,s64.u32} =d r",
    "cvt.u32.u64 =r d",
];

const SMALL_INTEGER_FORMS: &[&str] = &[
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u16,s16} =h h H",
    "{mad.lo,mad.hi,sad}.{u16,s16} =h h H h",
    "mul.wide.{u16,s16} =r h H",
    "mad.wide.{u16,s16} =r h H r",
    "{abs,neg}.s16 =h h",
    "shl.b16 =h h S",
    "shr.{b16,u16,s16} =h h S",
    "mul24.{lo,hi}.{u32,s32} =r r R",
    "mad24.{lo,hi}.{u32,s32} =r r R r",
    "{mad24,mad}.hi.sat.s32 =r r R r",
];

const LOGIC_FORMS: &[&str] = &[
    "{and,or,xor}.b16 =h h H",
    "{and,or,xor}.b32 =r r R",
    "{and,or,xor}.b64 =d d D",
    "{and,or,xor}.pred =p p p",
    "not.pred =p p",
    "{not,cnot}.b16 =h h",
    "{not,cnot}.b32 =r r",
    "{not,cnot}.b64 =d d",
    "lop3.b32 =r r r r #",
    "lop3.b32 =r r R r #",
];

const BIT_FIELD_FORMS: &[&str] = &[
    "{popc,clz}.b32 =r r",
    "{popc,clz}.b64 =r d",
    "brev.b32 =r r",
    "brev.b64 =d d",
    "bfind{,.shiftamt}.{u32,s32} =r r",
    "bfind{,.shiftamt}.{u64,s64} =r d",
    "shf.{l,r}.{clamp,wrap}.b32 =r r r S",
    "bfe.{u32,s32} =r r N N",
    "bfe.{u64,s64} =d d N N",
    "bfi.b32 =r r r N N",
    "bfi.b64 =d d d N N",
    "bmsk.{clamp,wrap}.b32 =r r N",
    "szext.{clamp,wrap}.{u32,s32} =r r N",
    "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} =r r r R",
    "prmt.b32 =r r r #",
    "fns.b32 =r r I I",
];

const PACKED_FORMS: &[&str] = &[
    "dp4a.{u32,s32}.{u32,s32} =r r r r",
    "dp2a.{lo,hi}.{u32,s32}.{u32,s32} =r r r r",
    "vabsdiff4.u32.u32.u32{,.add} =r r r r",
    "90 add.{u16x2,s16x2} =r r r",
    "90 {min,max}.{u16x2,s16x2} =r r r",
    "90 {min,max}.relu.s16x2 =r r r",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{u32,s32,f16x2}.f16x2 =r r r",
    "setp.{eq,ne,lt,ge,ltu,num,nan}.f16x2 =p|=p r r",
];

const VIDEO_FORMS: &[&str] = &[
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r r r",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r r.b1 r.h1",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r.b2 r.h0 r r",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r.h1 r r.b3 r",
    "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}{.add,.min,.max} =r r r.b0 r",
    "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}{.clamp,.wrap} =r r r",
    "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}{.clamp,.wrap}{.add,.min,.max} =r r.h1 r.b0 r",
    "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge} =r r r.h0",
    "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{.add,.min,.max} =r r r r",
    "vmad.{u32,s32}.{u32.u32,s32.s32,u32.s32,s32.u32}{,.sat}{,.shr7,.shr15} =r r r.h1 r",
    "vmad.{u32,s32}.{u32.u32,s32.s32}.po{,.sat}{,.shr7,.shr15} =r r.b2 r r",
    "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}2.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r r r r",
    "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}2.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r.h1 r.h02 r.h13 r",
    "{vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}.add =r r r r",
    "{vadd,vsub,vavrg,vmin,vmax}4.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r r r r",
    "{vadd,vsub,vavrg,vmin,vmax}4.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} =r.b20 r.b7301 r.b4250 r",
    "{vset2,vset4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add} =r r r r",
];

const F32_FORMS: &[&str] = &[
    "{add,sub}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 =r r F",
    "mul{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 =r r F",
    "fma{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 =r r F r",
    "mad{.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 =r r F r",
    "div{.rn,.rz,.rm,.rp}{,.ftz}.f32 =r r F",
    "{rcp,sqrt}{.rn,.rz,.rm,.rp}{,.ftz}.f32 =r r",
    "{min,max}{,.ftz}{,.NaN}.f32 =r r F",
    "90 {min,max}{,.ftz}{,.NaN}.xorsign.abs.f32 =r r r",
    "{abs,neg}{,.ftz}.f32 =r r",
    "copysign.f32 =r r F",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.f32 =p r",
];

const F64_FORMS: &[&str] = &[
    "{add,sub}{,.rn,.rz,.rm,.rp}.f64 =d d G",
    "mul{.rn,.rz,.rm,.rp}.f64 =d d G",
    "fma{.rn,.rz,.rm,.rp}.f64 =d d G d",
    "div{.rn,.rz,.rm,.rp}.f64 =d d G",
    "{rcp,sqrt}{.rn,.rz,.rm,.rp}.f64 =d d",
    "{min,max}.f64 =d d G",
    "{abs,neg}.f64 =d d",
    "copysign.f64 =d d G",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.f64 =p d",
];

const F16_FORMS: &[&str] = &[
    "{add,sub}{,.rn}{,.ftz}{,.sat}.f16 =h h h",
    "{add,sub}{,.rn}{,.ftz}{,.sat}.f16x2 =r r r",
    "mul.rn{,.ftz}{,.sat}.f16 =h h h",
    "mul.rn{,.ftz}{,.sat}.f16x2 =r r r",
    "fma.rn{,.ftz}{,.sat,.relu}.f16 =h h h h",
    "fma.rn{,.ftz}{,.sat,.relu}.f16x2 =r r r r",
    "{abs,neg}{,.ftz}.f16 =h h",
    "{abs,neg}{,.ftz}.f16x2 =r r",
    "{min,max}{,.ftz}{,.NaN}.f16 =h h h",
    "{min,max}{,.ftz}{,.NaN}.f16x2 =r r r",
    "fma.rn{,.relu}.bf16 =h h h h",
    "fma.rn{,.relu}.bf16x2 =r r r r",
    "{abs,neg}.bf16 =h h",
    "{abs,neg}.bf16x2 =r r",
    "{min,max}{,.NaN}.bf16 =h h h",
    "{min,max}{,.NaN}.bf16x2 =r r r",
    "90 {min,max}{,.NaN}.xorsign.abs.{f16,bf16} =h h h",
    "90 {min,max}{,.NaN}.xorsign.abs.{f16x2,bf16x2} =r r r",
    "90 {add,sub}{,.rn}.bf16 =h h h",
    "90 mul.rn.bf16 =h h h",
    "90 {add,sub}{,.rn}.bf16x2 =r r r",
    "90 mul.rn.bf16x2 =r r r",
];

const COMPARE_FORMS: &[&str] = &[
    "setp.{eq,ne}.b16 =p h H",
    "setp.{eq,ne,lt,le,gt,ge}.{u32,s32} =p r R",
    "setp.{eq,ne,lt,le,gt,ge}.{u32,s32} =p r R",
    "setp.{lo,ls,hi,hs}.u32 =p r R",
    "setp.{eq,ne,lt,le,gt,ge}.{u16,s16} =p h H",
    "setp.{eq,ne,lt,le,gt,ge}.{u64,s64} =p d D",
    "setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{u32,s32} =p|=p r R !p",
    "setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{u64,s64} =p d D !p",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32 =p r F",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{and,or,xor}.f32 =p|=p r F !p",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 =p d G",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16 =p h h",
    "90 setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16 =p h h",
    "set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.{u32,s32} =r r R",
    "set.{eq,ne,lt,ge}.{and,or,xor}.{u32,f32}.s64 =r d D !p",
    "set.{eq,ne,lt,ge,equ,ltu,num,nan}{,.ftz}.{u32,s32,f32}.f32 =r r F",
    "set.{eq,ne,lt,ge,equ,ltu,num,nan}.{u32,f32}.f64 =r d G",
    "set.{eq,ne,lt,ge,equ,ltu,num,nan}.f16.f16 =h h h",
    "set.{eq,ne,lt,ge,equ,ltu,num,nan}.{u32,s32}.f16 =r h h",
];

const SELECT_FORMS: &[&str] = &[
    "selp.{b16,u16,s16} =h h H p",
    "selp.{b32,u32,s32} =r r R p",
    "selp.f32 =r r F p",
    "selp.{b64,u64,s64} =d d D p",
    "selp.f64 =d d G p",
    "slct.{b32,u32,s32,f32}.s32 =r r r r",
    "slct.{b64,u64,s64,f64}.s32 =d d d r",
    "slct.b16.s32 =h h h r",
    "slct{,.ftz}.{b32,f32}.f32 =r r r r",
    "slct{,.ftz}.{b64,f64}.f32 =d d d r",
];

const CONVERT_INTEGER_FORMS: &[&str] = &[
    "cvt.{u8,s8,u16,s16}.{u8,s8,u16,s16} =h h",
    "cvt.{u8,s8,u16,s16}.{u32,s32} =h r",
    "cvt.{u8,s8,u16,s16,u32,s32}.{u8,s8,u16,s16} =r h",
    "cvt.{u8,s8,u16,s16,u32,s32}.{u8,s8,u16,s16,u32,s32} =r r",
    "cvt.{u8,s8,u16,s16,u32,s32,u64,s64}.{u8,s8,u16,s16,u32,s32} =d r",
    "cvt.{u8,s8,u16,s16,u32,s32,u64,s64}.{u64,s64} =d d",
    "cvt.{u8,s8,u16,s16,u32,s32}.{u64,s64} =r d",
    "cvt.sat.{u8.s32,s8.s32,u16.s32,s16.s32,u8.u32,s8.u32,s16.u32,u32.s32,s32.u32} =r r",
    "cvt.sat.{u8.s64,s16.s64,u32.s64,s32.s64,s32.u64,u32.u64} =r d",
    "cvt.sat.{u64.s64,s64.u64} =d d",
    "cvt.sat.{u8.s16,s8.s16,s8.u16,u16.s16,s16.u16} =h h",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{u8,s8,u16,s16,u32,s32}.f32 =r r",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{u64,s64}.f32 =d r",
    "cvt.{rni,rzi,rmi,rpi}.{u8,s8,u16,s16,u32,s32}.f64 =r d",
    "cvt.{rni,rzi,rmi,rpi}.{u64,s64}.f64 =d d",
    "cvt.{rni,rzi,rmi,rpi}.{u16,s16}.f16 =h h",
    "cvt.{rni,rzi,rmi,rpi}.{u32,s32}.f16 =r h",
    "cvt.{rni,rzi,rmi,rpi}.{u64,s64}.f16 =d h",
    "cvt.{rn,rz,rm,rp}{,.sat}.f32.{u8,s8,u16,s16,u32,s32} =r r",
    "cvt.{rn,rz,rm,rp}{,.sat}.f32.{u64,s64} =r d",
    "cvt.{rn,rz,rm,rp}.f64.{u8,s8,u16,s16,u32,s32} =d r",
    "cvt.{rn,rz,rm,rp}.f64.{u64,s64} =d d",
    "cvt.{rn,rz,rm,rp}.f16.{u16,s16} =h h",
    "cvt.{rn,rz,rm,rp}.f16.{u32,s32} =h r",
    "cvt.{rn,rz,rm,rp}.f16.{u64,s64} =h d",
    "90 cvt.{rn,rz,rm,rp}.bf16.{u16,s16} =h h",
    "90 cvt.{rn,rz,rm,rp}.bf16.{u32,s32} =h r",
    "90 cvt.{rni,rzi,rmi,rpi}.{u32,s32}.bf16 =r h",
];

const CONVERT_FLOAT_FORMS: &[&str] = &[
    "cvt{,.ftz}{,.sat}.f32.f32 =r r",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.f32.f32 =r r",
    "cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.f64.f64 =d d",
    "cvt.{rni,rzi,rmi,rpi}.f16.f16 =h h",
    "cvt{,.ftz}{,.sat}.f64.f32 =d r",
    "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64 =r d",
    "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f16.f32 =h r",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.f64 =h d",
    "cvt{,.ftz}{,.sat}.f32.f16 =r h",
    "cvt{,.sat}.f64.f16 =d h",
    "cvt.{rn,rz}{,.relu}.bf16.f32 =h r",
    "cvt.{rn,rz}.relu.f16.f32 =h r",
    "cvt.{rn,rz}{,.relu}.{f16x2,bf16x2}.f32 =r r r",
    "cvt.rna.tf32.f32 =r r",
    "cvt.pack.sat.{u16,s16}.s32 =r r r",
    "cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 =r r r r",
    "90 cvt.{rn,rz}{,.relu}.satfinite.{f16,bf16}.f32 =h r",
    "90 cvt.{rn,rz}{,.relu}.satfinite.{f16x2,bf16x2}.f32 =r r r",
    "90 cvt.{rn,rz}{,.relu}.tf32.f32 =r r",
    "90 cvt.f32.bf16 =r h",
    "90 cvt.f64.bf16 =d h",
    "90 cvt.{rn,rz,rm,rp}.bf16.{f16} =h h",
    "90 cvt.{rn,rz,rm,rp}.bf16.f64 =h d",
    "90 cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32 =h r r",
    "90 cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2 =h r",
    "90 cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2} =r h",
];

const MOVE_FORMS: &[&str] = &[
    "mov.{b16,u16,s16} =h H",
    "mov.{b32,u32,s32} =r R",
    "mov.f32 =r F",
    "mov.{b64,u64,s64} =d D",
    "mov.f64 =d G",
    "mov.pred =p p",
    "mov.b32 =r {h,h}",
    "mov.b32 {=h,=h} r",
    "mov.b64 =d {r,r}",
    "mov.b64 {=r,=r} d",
    "mov.b64 =d {h,h,h,h}",
    "mov.b64 {=h,=h,=h,=h} d",
    "mov.b64 {_,=r} d",
];

/// One instruction: opcode and operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstForm {
    pub(crate) opcode: String,
    pub(crate) operands: Vec<String>,
    pub(crate) capability: u32,
}

/// The words that an opcode with alternatives stands for.
fn expand_alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![text.to_owned()] };
    let tails = expand_alternatives(after);
    let join = |choice: &str| tails.iter().map(|tail| format!("{before}{choice}{tail}")).collect::<Vec<_>>();
    choices.split(',').flat_map(join).collect()
}

/// The forms that a line stands for.
pub(crate) fn parse_instruction_forms(line: &str) -> Vec<InstForm> {
    let mut words: Vec<&str> = line.split(' ').collect();
    let capability = words[0].parse().ok();
    if capability.is_some() {
        words.remove(0);
    }
    let operands: Vec<String> = words[1..].iter().map(|w| w.to_string()).collect();
    let form = |opcode| InstForm { opcode, operands: operands.clone(), capability: capability.unwrap_or(0) };
    expand_alternatives(words[0]).into_iter().map(form).collect()
}
