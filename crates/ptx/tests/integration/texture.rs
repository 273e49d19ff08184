//! Texture and surface instructions: every shape parses to the same tree again after printing, and
//! what is not PTX is refused.

use rtcg_ptx::ast::*;
use rtcg_ptx::{parse, print_module};

fn kernel_text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n.global .surfref s;\n.global .samplerref m;\n\
         .entry k() {{\n.reg .pred %p<5>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<20>; .reg .b64 %d<9>;\n{body}\nret;\n}}"
    )
}

const VALID_LINES: &[&str] = &[
    "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}];",
    "tex.1d.v4.f32.s32 {%f1, _, %f3, %f4}, [%d1, %r1];",
    "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}|%p1, [%d1, {%f5, %f6}];",
    "tex.2d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5, 0}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, m, {%f5, 0f3F000000}];",
    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f7}];",
    "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f6}];",
    "tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f6, %f7, %f7}];",
    "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f7}];",
    "tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f5, %f6, %f7}];",
    "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], %f7;",
    "tex.level.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r5, %r6}], %r7;",
    "tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], {%f7, %f8}, {%f9, %f10};",
    "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}], {%f7}, {%f9};",
    "tex.grad.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f7}], {%f1, %f2, %f3, %f3}, {%f4, %f5, %f6, %f6};",
    "tex.2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%d1, {%f5, %f6}];",
    "tex.2d.v2.f16x2.f32 {%r1, %r2}, [%d1, {%f5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], {%r1, -3};",
    "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tld4.a.a2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%r1, %f5, %f6, %f6}];",
    "txq.width.b32 %r1, [%d1];",
    "txq.level.height.b32 %r1, [t], 2;",
    "txq.filter_mode.b32 %r1, [m];",
    "suq.channel_order.b32 %r1, [s];",
    "istypep.texref %p1, %d1;",
    "suld.b.1d.b8.trap {%h1}, [%d1, {%r1}];",
    "suld.b.2d.cv.v4.b32.clamp {%r1, %r2, %r3, %r4}, [%d1, {%r1, %r2}];",
    "suld.b.3d.v2.b64.zero {%d2, %d3}, [s, {%r1, %r2, %r3, %r3}];",
    "sust.b.a2d.v2.b16.trap [%d1, {%r1, %r2, %r3, %r3}], {%h1, %h2};",
    "sust.p.2d.v4.b32.clamp [%d1, {%r1, %r2}], {%r1, %r2, %r3, %r4};",
    "sured.b.add.2d.u32.trap [%d1, {%r1, %r2}], %r3;",
    "sured.b.min.1d.s64.clamp [%d1, {%r1}], %d2;",
    "sured.p.and.2d.b32.zero [%d1, {%r1, %r2}], %r3;",
];

const INVALID_LINES: &[&str] = &[
    "tex.2d.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tex.2d.v4.f64.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tex.2d.v2.f32.f32 {%f1, %f2}, [%d1, {%f5, %f6}];",
    "tex.4d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3}, [%d1, {%f5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}];",
    "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%d5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f5, %f6}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [s, {%f5, %f6}];",
    "tex.cube.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r5, %r6, %r7, %r7}];",
    "tex.level.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], %f7;",
    "tex.2d.sat.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tld4.x.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
    "tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f7}];",
    "txq.memory_layout.b32 %r1, [%d1];",
    "txq.level.array_size.b32 %r1, [%d1], 1;",
    "suq.filter_mode.b32 %r1, [%d1];",
    "suld.b.2d.b32 {%r1}, [%d1, {%r1, %r2}];",
    "suld.b.2d.v4.b64.trap {%d1, %d2, %d3, %d4}, [%d1, {%r1, %r2}];",
    "suld.b.cube.b32.trap {%r1}, [%d1, {%r1, %r2, %r3, %r3}];",
    "suld.b.2d.b32.trap {%r1}, [%d1, {%d1, %r2}];",
    "istypep.surfref %p1, s;",
    "sust.p.2d.b8.trap [%d1, {%r1, %r2}], {%h1};",
    "sured.b.add.2d.s64.trap [%d1, {%r1, %r2}], %d3;",
    "sured.b.xor.2d.b32.trap [%d1, {%r1, %r2}], %r3;",
];

#[test]
fn every_form_survives_printing() {
    for line in VALID_LINES {
        let first = parse(kernel_text(line));
        assert!(first.diagnostics.is_empty(), "{line}: {}", first.render_diagnostics("k.ptx"));
        let text = print_module(&first.module);
        let second = parse(text.clone());
        assert!(second.diagnostics.is_empty(), "{line}: {text}\n{}", second.render_diagnostics("k.ptx"));
        let inst = |m: &Module| m.functions[0].body[0].inst.clone();
        assert!(matches!(inst(&first.module), Inst::Texture(_)), "{line}");
        assert_eq!(inst(&first.module), inst(&second.module), "{line}");
    }
}

#[test]
fn what_is_not_ptx_is_refused() {
    for line in INVALID_LINES {
        assert!(parse(kernel_text(line)).has_errors(), "{line} was accepted");
    }
}

#[test]
fn uses_and_defs_of_texture_instructions_are_listed() {
    let module =
        parse(kernel_text("tex.a2d.v4.f32.f32 {%f1, _, %f3, %f4}|%p1, [t, {%r1, %f6, %f7, %f9}], {%r2, 1};")).module;
    let inst = &module.functions[0].body[0].inst;
    let name = |reg: Reg| module.functions[0].regs[reg.index()].name.to_string();
    let (mut uses, mut defs) = (vec![], vec![]);
    let Inst::Texture(inst) = inst else { panic!("{inst:?}") };
    inst.for_each_operand(|operand| {
        if let Operand::Reg(reg) = operand {
            uses.push(name(reg));
        }
    });
    inst.for_each_def(|reg| defs.push(name(reg)));
    assert_eq!(uses, ["%r1", "%f6", "%f7", "%r2"]);
    assert_eq!(defs, ["%f1", "%f3", "%f4", "%p1"]);
}
