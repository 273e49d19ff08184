//! Fragments of `mma` as the PTX ISA draws them, and kernels that load and store them.

use super::elements::*;

/// Row and column of element `i` of lane `lane`, as the ISA gives them for `mma`.
pub(crate) fn isa_fragment_position(role: char, size: [usize; 3], ty: &str, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let halves = size[0] / 8;
    match role {
        'a' => {
            let per = (32 / element_bits(ty)).max(1);
            let register = i / per;
            (group + 8 * (register % halves), thread * per + i % per + register / halves * 4 * per)
        }
        'b' => {
            let per = (32 / element_bits(ty)).max(1);
            (thread * per + i % per + i / per * 4 * per, group)
        }
        _ => (group + 8 * (i / 2), thread * 2 + i % 2),
    }
}

/// The planes of a fragment: words, register after register, lane after lane.
pub(crate) fn fragment_words(role: char, size: [usize; 3], ty: &str, m: &Matrix) -> Vec<u32> {
    let elements = m.v.len() / 32;
    let (w, register_bits) = (element_bits(ty), element_bits(ty).max(32));
    let registers = elements * w / register_bits;
    let mut out = vec![0_u64; registers * 32];
    for lane in 0..32 {
        for i in 0..elements {
            let (row, col) = isa_fragment_position(role, size, ty, lane, i);
            let at = i * w;
            out[at / register_bits * 32 + lane] |= encode_element(ty, m.element(row, col)) << (at % register_bits);
        }
    }
    if w == 64 {
        out.iter().flat_map(|v| [*v as u32, (v >> 32) as u32]).collect()
    } else {
        out.iter().map(|v| *v as u32).collect()
    }
}

pub(crate) fn register_list(prefix: &str, n: usize) -> String {
    format!("{{{}}}", (0..n).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", "))
}

/// Loads or stores the registers of a fragment, plane after plane.
pub(crate) fn fragment_moves(load: bool, prefix: &str, pointer: &str, n: usize, wide: bool) -> String {
    let (ty, step) = if wide { ("b64", 256) } else { ("b32", 128) };
    (0..n)
        .map(|i| {
            let at = format!("[%{pointer}+{}]", i * step);
            if load {
                format!("ld.global.{ty} %{prefix}{i}, {at};\n")
            } else {
                format!("st.global.{ty} {at}, %{prefix}{i};\n")
            }
        })
        .collect()
}

const KERNEL_PROLOGUE_PTX: &str = "
    .reg .b64 %p<8>; .reg .b32 %r<8>; .reg .b64 %o<8>; .reg .pred %q<4>;
    ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
    mov.u32 %r0, %tid.x; mul.wide.u32 %o0, %r0, 4; mul.wide.u32 %o1, %r0, 8;
";

pub(crate) fn kernel_text(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{ {KERNEL_PROLOGUE_PTX} {body} ret; }}"
    )
}
