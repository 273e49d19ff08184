//! Instructions put together from opcodes and operands, of which some fit.

/// Variables of each space and shape.
pub(crate) const FORM_HEADER: &str = ".version 9.3\n.target sm_80\n.address_size 64
.global .align 16 .u32 arr[8]; .global .u64 arr64[8]; .global .v4 .f32 arrv[8]; .global .u16 arr2[4][4];
.const .align 4 .u32 carr[4]; .shared .align 16 .b32 sh[64];\n";

/// A kernel with registers and variables of each kind.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        "{FORM_HEADER}.visible .entry k(.param .u64 o, .param .u32 q) {{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<3>;
.reg .v4 .b32 %v; .reg .v2 .f32 %vf; .reg .v2 .b64 %vd; .reg .v4 .b16 %vh<3>; .local .align 4 .b32 larr[4];
{body} ret; }}"
    )
}

/// Operands by a letter for what they mostly are: words, 64-bit values, predicates, vectors, memory, and what fits nowhere.
const OPERANDS: &[(char, &[&str])] = &[
    ('w', &["%r1", "%r2", "%v.x", "%v.a", "1", "-7", "~0 % 3", "(1 ? 2 : 3)", "%r1+4", "sh[2]", "%tid.x"]),
    ('d', &["%rd1", "%rd2", "%vd.y", "5", "arr[1]", "arr[%r1]", "arr+8", "arr64[%rd1+2]", "1.5", "%vf", "{%r1,%r2}"]),
    ('p', &["%p1", "%p2", "!%p1", "!%p3", "!0", "1"]),
    ('v', &["%v", "{%r1,%r2,%r3,%r4}", "{_,%r2,_,%v.x}", "{1,2,%r1,0}", "%tid", "%vh1"]),
    ('m', &["[arr+4]", "[%rd1]", "arr[1]", "arr[%r1]", "sh[%r2+3]", "[sh]", "carr[2]", "larr[%h1]", "[%rd1+-8]"]),
    ('x', &["_", "%r1|%p1", "_|%p2", "{", "}", "|", "[", "arr[", "%v.", "0f3f800000", "%h1", ";", "!", "0x3f"]),
];

/// Opcodes with the letters of their operands.
const OPCODES: &[&str] = &[
    "mov.b32 ww",
    "mov.v4.b32 vv",
    "mov.v4.u32 vv",
    "mov.b64 dd",
    "mov.b64 vd",
    "mov.pred pp",
    "mov.u64 dd",
    "mov.u32 ww",
    "and.pred ppp",
    "not.pred pp",
    "selp.b32 wwwp",
    "lop3.or.b32 xwwwxp",
    "lop3.b32 wwwwx",
    "clmad.lo.u64 dddd",
    "ld.global.u32 wm",
    "ld.shared.v4.u32 vm",
    "ld.u32 wm",
    "st.local.b32 mw",
    "st.global.v4.b32 mv",
    "setp.eq.and.u32 pwwp",
    "atom.global.add.u32 wmw",
    "cvta.global.u64 dd",
    "add.u32 www",
    "vote.sync.any.pred ppw",
];

/// A kernel with one instruction, put together by what `below` chooses: a number below its argument.
pub(crate) fn random_form(mut below: impl FnMut(usize) -> usize) -> String {
    let (opcode, letters) = OPCODES[below(OPCODES.len())].split_once(' ').expect("letters");
    let mut operand = |letter: char| {
        let likely = OPERANDS.iter().position(|(other, _)| *other == letter).expect("a letter of the list");
        let list = OPERANDS[if below(6) == 0 { below(OPERANDS.len()) } else { likely }].1;
        list[below(list.len())]
    };
    let list: Vec<&str> = letters.chars().map(&mut operand).collect();
    let guard = ["", "@%p1 ", "@!%p2 "][below(3)];
    kernel(&format!("{guard}{opcode} {};", list.join(", ")))
}
