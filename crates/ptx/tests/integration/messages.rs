//! The words of the diagnostics, as a user sees them.

use rtcg_ptx::parse;

const PTX_HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn check_message(text: &str, expected: &str) {
    let result = parse(format!("{PTX_HEADER}{text}"));
    assert_eq!(result.render_diagnostics("k.ptx"), expected, "for {text}");
}

fn check_message_in_kernel(text: &str, expected: &str) {
    check_message(
        &format!(
            ".entry k(.param .u64 x) {{\n.reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %d<5>; .reg .f32 %f<5>; .reg .b16 %h<5>;\n{text}\nret; }}"
        ),
        expected,
    );
}

#[test]
fn messages_about_instructions() {
    check_message_in_kernel("  bogus.u32 %r1;", "k.ptx:6:3: unknown instruction `bogus.u32`\n    bogus.u32 %r1;");
    check_message_in_kernel(
        "add.noftz.f32 %f1, %f2, %f3;",
        "k.ptx:6:1: `.noftz` is not a modifier of `add.noftz.f32`\n    add.noftz.f32 %f1, %f2, %f3;",
    );
    check_message_in_kernel("add %r1, %r2, %r3;", "k.ptx:6:1: `add` lacks a type\n    add %r1, %r2, %r3;");
    check_message_in_kernel(
        "fma.f32 %f1, %f2, %f3, %f3;",
        "k.ptx:6:1: `fma.f32` is not an instruction of PTX\n    fma.f32 %f1, %f2, %f3, %f3;",
    );
    check_message_in_kernel(
        "setp.eqq.s32 %p1, %r1, %r1;",
        "k.ptx:6:1: `setp.eqq.s32` lacks a comparison\n    setp.eqq.s32 %p1, %r1, %r1;",
    );
    check_message_in_kernel(
        "add.u32.sat %r1, %r1, %r1;",
        "k.ptx:6:1: `.sat` is not a modifier of `add.u32.sat`\n    add.u32.sat %r1, %r1, %r1;",
    );
    check_message_in_kernel(
        "tex.2dms.v4.f32.s32 {%f1,%f1,%f1,%f1}, [%d1, {%r1, %r2, %r2, %r2}];",
        "k.ptx:6:1: `tex.2dms.v4.f32.s32` is not supported\n    tex.2dms.v4.f32.s32 {%f1,%f1,%f1,%f1}, [%d1, {%r1, %r2, %r2, %r2}];",
    );
}

#[test]
fn messages_about_operands() {
    check_message_in_kernel("mov.u32 %r7, 1;", "k.ptx:6:9: `%r7` is not declared\n    mov.u32 %r7, 1;");
    check_message_in_kernel("add.u32 %r1, %r2;", "k.ptx:6:17: expected `,`, found `;`\n    add.u32 %r1, %r2;");
    check_message_in_kernel(
        "add.u32 %r1, %d2, 1;",
        "k.ptx:6:14: register `%d2` has type `.b64`, which does not fit `.u32` here\n    add.u32 %r1, %d2, 1;",
    );
    check_message_in_kernel("mov.u16 %h1, 70000;", "k.ptx:6:14: 70000 does not fit `.u16`\n    mov.u16 %h1, 70000;");
    check_message_in_kernel(
        "add.f32 %f1, %f2, 1;",
        "k.ptx:6:19: `.f32` needs a floating-point constant\n    add.f32 %f1, %f2, 1;",
    );
    check_message_in_kernel(
        "add.u32 %r1, %tid.x, 1;",
        "k.ptx:6:14: special register `%tid` can only be read by `mov` and `cvt`\n    add.u32 %r1, %tid.x, 1;",
    );
    check_message_in_kernel("mov.u32 %r1, %tid.q;", "k.ptx:6:14: `%tid.q` is not a register\n    mov.u32 %r1, %tid.q;");
    check_message_in_kernel(
        "ld.shared.u32 %r1, [x];",
        "k.ptx:6:21: `x` is not in the `.shared` state space\n    ld.shared.u32 %r1, [x];",
    );
    check_message_in_kernel(
        "ld.global.v2.u32 {%r1,%r2,%r3}, [%d1];",
        "k.ptx:6:18: a vector of 2 elements is needed here\n    ld.global.v2.u32 {%r1,%r2,%r3}, [%d1];",
    );
    check_message_in_kernel(
        "mov.u32 %r1, 1/0;",
        "k.ptx:6:15: division by zero in a constant expression\n    mov.u32 %r1, 1/0;",
    );
    check_message_in_kernel(
        "mov.u64 %d1, 99999999999999999999;",
        "k.ptx:6:14: an integer of more than 64 bits\n    mov.u64 %d1, 99999999999999999999;",
    );
}

#[test]
fn messages_about_names_and_calls() {
    check_message_in_kernel("bra $L;", "k.ptx:6:5: label `$L` is not defined\n    bra $L;");
    check_message_in_kernel(".reg .b32 %r1;", "k.ptx:6:11: `%r1` is declared twice in this scope\n    .reg .b32 %r1;");
    check_message_in_kernel(
        "call.uni nowhere;",
        "k.ptx:6:10: function `nowhere` is not declared\n    call.uni nowhere;",
    );
    check_message_in_kernel("call.uni k;", "k.ptx:6:10: a kernel cannot be called\n    call.uni k;");
    check_message_in_kernel(
        "brx.idx %r1, nolist;",
        "k.ptx:6:14: `nolist` is not a `.branchtargets` list\n    brx.idx %r1, nolist;",
    );
}

#[test]
fn messages_about_declarations() {
    check_message(".globl .u32 x;", "k.ptx:4:1: unknown directive `.globl`\n    .globl .u32 x;");
    check_message(
        ".global .u32 x[2] = {1,2,3};",
        "k.ptx:4:21: more initial values than elements\n    .global .u32 x[2] = {1,2,3};",
    );
    check_message(".global .f32 x = y;", "k.ptx:4:18: `y` is not declared\n    .global .f32 x = y;");
    check_message(".global .u64 x = y;", "k.ptx:4:18: `y` is not declared\n    .global .u64 x = y;");
    check_message(".global .align 3 .u32 x;", "k.ptx:4:16: 3 is not an alignment\n    .global .align 3 .u32 x;");
    check_message(
        ".global .u32 x; .global .u32 x;",
        "k.ptx:4:30: `x` is defined twice\n    .global .u32 x; .global .u32 x;",
    );
    check_message(
        ".func f() { ret;",
        "k.ptx:4:17: expected `}` at the end of a function, found the end of the file\n    .func f() { ret;",
    );
    check_message(".address_size 32", "k.ptx:4:15: addresses of 32 bits are not supported\n    .address_size 32");
    let result = parse("hello");
    assert_eq!(result.render_diagnostics("k.ptx"), "k.ptx:1:1: expected a directive, found `hello`\n    hello");
    assert_eq!(parse("").render_diagnostics("k.ptx"), "k.ptx:1:1: the module has no `.target` directive\n    ");
}

#[test]
fn parsing_stops_after_100_errors() {
    let result = parse(format!("{PTX_HEADER}{}", "x;\n".repeat(5000)));
    assert_eq!(result.diagnostics.len(), 101);
    assert_eq!(result.diagnostics[100].message, "too many errors, the rest is not read");
}
