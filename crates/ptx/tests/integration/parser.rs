//! Rules of the parser one by one: what it accepts, what it refuses and with which words.

use rtcg_ptx::ast::*;
use rtcg_ptx::{DiagnosticKind, ParseResult, parse};

/// A kernel around statements, with a few registers of each type and labels of its own.
fn kernel_text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{{\n\
         .reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<4>;\n\
         {body}\nret;\n}}\n"
    )
}

fn parse_body(text: &str) -> Vec<Inst> {
    let result = parse(kernel_text(text));
    assert!(result.diagnostics.is_empty(), "{}", result.render_diagnostics("k.ptx"));
    result.module.functions[0].body.iter().map(|s| s.inst.clone()).collect()
}

fn only_diagnostic(result: &ParseResult) -> (DiagnosticKind, String) {
    assert_eq!(result.diagnostics.len(), 1, "{}", result.render_diagnostics("k.ptx"));
    (result.diagnostics[0].kind, result.diagnostics[0].message.clone())
}

#[test]
fn inner_scope_shadows() {
    let result = parse(kernel_text(
        "setp.eq.s32 %p1, %r1, 0;\n{ .reg .pred %p1; setp.ne.s32 %p1, %r1, 0; @%p1 bra $L; $L: }\n@%p1 mov.b32 %r1, 1;",
    ));
    assert!(result.diagnostics.is_empty(), "{}", result.render_diagnostics("k.ptx"));
    let body = &result.module.functions[0].body;
    let (outer, inner) = (body[3].guard.expect("guard").reg, body[2].guard.expect("guard").reg);
    assert_ne!(outer, inner);
    assert!(matches!(body[0].inst, Inst::Setp { dst: Some(dst), .. } if dst == outer));
    assert!(matches!(body[1].inst, Inst::Setp { dst: Some(dst), .. } if dst == inner));
    assert_eq!(&*result.module.functions[0].regs[inner.index()].name, "%p1_1");
}

#[test]
fn labels_resolve_through_blocks() {
    let insts = parse_body("{ bra $out; { bra $in; $in: } $in: bra $in; }\n$out:");
    let targets: Vec<u32> =
        insts.iter().filter_map(|i| if let Inst::Bra { target, .. } = i { Some(target.0) } else { None }).collect();
    assert_eq!(targets.len(), 3);
    assert_ne!(targets[1], targets[2]);
    let (kind, message) = only_diagnostic(&parse(kernel_text("bra $nowhere;")));
    assert_eq!((kind, &*message), (DiagnosticKind::Semantic, "label `$nowhere` is not defined"));
}

#[test]
fn unknown_combinations_are_refused() {
    for text in [
        "add.u8 %rs1, %rs1, %rs1;",
        "add.ftz.f64 %fd1, %fd1, %fd1;",
        "fma.f32 %f1, %f1, %f1, %f1;",
        "atom.global.add.noftz.u32 %r1, [%rd1], %r2;",
        "atom.global.add.f16x2 %r1, [%rd1], %r2;",
        "ld.global.foo.u32 %r1, [%rd1];",
        "frobnicate.u32 %r1, %r2;",
        "mul.u32 %r1, %r1, %r1;",
        "setp.lt.b32 %p1, %r1, %r2;",
        "cvt.s32.f32 %r1, %f1;",
        "cvt.f32.f64 %f1, %fd1;",
        "add.u32.sat %r1, %r1, %r1;",
    ] {
        let (kind, message) = only_diagnostic(&parse(kernel_text(text)));
        assert_eq!(kind, DiagnosticKind::Unknown, "{text}: {message}");
    }
}

#[test]
fn registers_must_fit_the_type() {
    for text in [
        "add.u32 %r1, %rd1, %r2;",
        "add.f32 %f1, %fd1, %f1;",
        "mov.b64 %rd1, %r1;",
        "ld.global.u64 %r1, [%rd1];",
        "ld.global.u32 %r1, [%f1];",
    ] {
        assert_eq!(only_diagnostic(&parse(kernel_text(text))).0, DiagnosticKind::Semantic, "{text}");
    }
}

#[test]
fn several_errors_are_reported() {
    let result = parse(kernel_text("foo.u32 %r1;\nadd.u32 %r1, %r2;\nmov.u32 %r9, 1;\nadd.u32 %r1, %r2, 3;"));
    assert_eq!(result.diagnostics.len(), 3, "{}", result.render_diagnostics("k.ptx"));
    assert!(
        result.render_diagnostics("k.ptx").starts_with("k.ptx:12:1: unknown instruction `foo.u32`\n    foo.u32 %r1;")
    );
}

#[test]
fn unusual_spellings_are_accepted() {
    let insts = parse_body(
        "{.reg.b32 a;mov.b32 a,0x10U;}\nld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1,_,%f2,%f3}, [%rd1+-4];\n\
         shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\nmov.f32 %f1, 0f3F800000;\nmov.u32 %r1, WARP_SZ;\nmov.u32 %r1, (1 << 4) + 017;",
    );
    assert!(
        matches!(&insts[1], Inst::Ld { nc: true, dsts, addr: Addr { offset: -4, .. }, .. } if dsts[1].is_none() && dsts.len() == 4)
    );
    assert!(matches!(insts[2], Inst::Shfl { pred: Some(_), .. }));
    assert!(matches!(insts[3], Inst::Mov { src: Operand::F32(0x3f80_0000), .. }));
    assert!(matches!(insts[4], Inst::Mov { src: Operand::Int(32), .. }));
    assert!(matches!(insts[5], Inst::Mov { src: Operand::Int(31), .. }));
}

#[test]
fn parameters_are_packed() {
    let text = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b,\n\
                .param .align 16 .b8 c[20], .param .u16 d) .maxntid 64, 2 { ret; }";
    let result = parse(text);
    assert!(result.diagnostics.is_empty(), "{}", result.render_diagnostics("k.ptx"));
    let function = &result.module.functions[0];
    let layout: Vec<_> = function.params.iter().map(|p| (p.offset, p.size, p.ptr)).collect();
    assert_eq!(layout, [(0, 1, false), (8, 8, true), (16, 20, false), (36, 2, false)]);
    assert_eq!(function.bounds.max_ntid, Some([64, 2, 1]));
    assert_eq!((result.module.target, result.module.target_suffix), (90, Some('a')));
}

#[test]
fn initialisers_become_bytes_and_addresses() {
    let text = ".version 8.0\n.target sm_80\n.global .align 4 .u32 a[2][3] = {{1, 2}, {3, 4, 5}};\n.global .u64 p[] = {a+8, generic(a), 0};\n\
                .const .f32 f[3] = {1.5, 0f40000000, 3};\n.global .u8 m[2] = {0xFF(a), 0xFF00(a)};\n.extern .shared .align 16 .b8 s[];";
    let module = parse(text);
    assert!(module.diagnostics.is_empty(), "{}", module.render_diagnostics("k.ptx"));
    let vars = module.module.vars;
    let words: Vec<u8> = [1u32, 2, 0, 3, 4, 5].iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(vars[0].init, [VarInit::Bytes(words)]);
    let a = Symbol::Global(GlobalVar(0));
    assert_eq!(vars[1].init[0], VarInit::Address { symbol: a, offset: 8, size: 8, generic: false, shift: 0 });
    assert_eq!(vars[1].size, 24);
    let floats: Vec<u8> = [1.5f32, 2.0, 3.0].iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(vars[2].init, [VarInit::Bytes(floats)]);
    assert_eq!(vars[3].init[1], VarInit::Address { symbol: a, offset: 0, size: 1, generic: false, shift: 8 });
    assert!(vars[4].unsized_array && vars[4].size == 0);
}

#[test]
fn unsupported_is_not_an_error() {
    let result = parse(kernel_text("wgmma.fence.sync.aligned;").replace("sm_80", "sm_90a"));
    assert!(!result.has_errors());
    assert_eq!(only_diagnostic(&result).0, DiagnosticKind::Unsupported);
    assert!(
        matches!(&result.module.functions[0].body[0].inst, Inst::Other { opcode, .. } if opcode.starts_with("wgmma.fence"))
    );
}
