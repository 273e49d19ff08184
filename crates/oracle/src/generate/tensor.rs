//! Products of floats by whole warps, and matrices on their way between registers and memory.

use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};
use super::{INPUT_BYTES, ProgramNode, THREAD_SLOT_BYTES};

/// Shape and types of `mma` with the registers of a lane (d, a, b, c), and the capability it needs.
const MMA_FORMS: &[(&str, [usize; 4], u32)] = &[
    ("m16n8k8.row.col.f16.f16.f16.f16", [2, 2, 1, 2], 80),
    ("m16n8k8.row.col.f32.f16.f16.f32", [4, 2, 1, 4], 80),
    ("m16n8k16.row.col.f16.f16.f16.f16", [2, 4, 2, 2], 80),
    ("m16n8k16.row.col.f32.f16.f16.f32", [4, 4, 2, 4], 80),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", [4, 2, 1, 4], 80),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", [4, 4, 2, 4], 80),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", [4, 2, 1, 4], 80),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", [4, 4, 2, 4], 80),
    ("m8n8k4.row.col.f64.f64.f64.f64", [2, 1, 1, 2], 80),
    ("m16n8k4.row.col.f64.f64.f64.f64", [4, 2, 1, 4], 90),
    ("m16n8k8.row.col.f64.f64.f64.f64", [4, 4, 2, 4], 90),
    ("m8n8k4.row.col.f32.f16.f16.f32", [8, 2, 2, 8], 70),
    ("m8n8k4.col.row.f32.f16.f16.f16", [8, 2, 2, 4], 70),
    ("m8n8k4.row.row.f16.f16.f16.f16", [4, 2, 2, 4], 70),
    ("m8n8k4.col.col.f32.f16.f16.f32", [8, 2, 2, 8], 70),
];

/// Shape and types of `mma.sp` with the registers of a lane (d, a, b, c), the largest selector, and
/// whether sums are exact.
const SPARSE_MMA_FORMS: &[(&str, [usize; 4], usize, bool)] = &[
    ("m16n8k32.row.col.s32.s8.u8.s32", [4, 2, 2, 4], 1, true),
    ("m16n8k64.row.col.satfinite.s32.u8.s8.s32", [4, 4, 4, 4], 0, true),
    ("m16n8k64.row.col.s32.s4.u4.s32", [4, 2, 2, 4], 1, true),
    ("m16n8k128.row.col.s32.u4.u4.s32", [4, 4, 4, 4], 0, true),
    ("m16n8k16.row.col.f32.f16.f16.f32", [4, 2, 2, 4], 3, false),
    ("m16n8k32.row.col.f16.f16.f16.f16", [2, 4, 4, 2], 1, false),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", [4, 2, 2, 4], 3, false),
    ("m16n8k32.row.col.f32.bf16.bf16.f32", [4, 4, 4, 4], 1, false),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", [4, 2, 2, 4], 3, false),
    ("m16n8k16.row.col.f32.tf32.tf32.f32", [4, 4, 4, 4], 1, false),
];

/// Shape, type of `a` and `b` and of the sums of `wmma`, with the registers of a lane (a, b, c).
const WMMA_FORMS: &[(&str, &str, &str, [usize; 3])] = &[
    ("m16n16k16", "f16", "f32", [8, 8, 8]),
    ("m32n8k16", "f16", "f16", [8, 8, 4]),
    ("m8n32k16", "f16", "f32", [8, 8, 8]),
    ("m16n16k16", "bf16", "f32", [4, 4, 8]),
    ("m16n16k8", "tf32", "f32", [4, 4, 8]),
    ("m16n16k16", "s8", "s32", [2, 2, 8]),
    ("m32n8k16", "u8", "s32", [4, 1, 8]),
    ("m8n8k4", "f64", "f64", [1, 1, 2]),
    ("m8n8k32", "s4", "s32", [1, 1, 2]),
    ("m8n8k32", "u4", "s32", [1, 1, 2]),
    ("m8n8k128", "b1", "s32", [1, 1, 2]),
];

impl ProgramGenerator {
    fn register_list(&mut self, letter: char, n: usize, scratch: bool) -> Vec<String> {
        (0..n).map(|_| if scratch { self.scratch_register(letter) } else { self.pool_register(letter) }).collect()
    }

    /// `mma` of floats. Elements of few different sizes let sums round.
    pub(crate) fn emit_float_mma(&mut self) -> ProgramNode {
        let fitting: Vec<_> = MMA_FORMS.iter().filter(|p| p.2 <= self.target.capability).collect();
        let (types, [nd, na, nb, nc], _) = *fitting[self.random.next_below(fitting.len())];
        let letter = if types.ends_with("f64") { 'd' } else { 'r' };
        let d = self.register_list(letter, nd, true);
        let mut sources = vec![];
        let mut before = String::new();
        let tame = self.random.chance_one_in(2);
        for n in [na, nb, nc] {
            let mut list = self.register_list(letter, n, false);
            if tame {
                // No exponent is near its largest.
                let (and, or) = if letter == 'd' {
                    ("0xbfffffffffffffff".to_owned(), "0x3000000000000000")
                } else {
                    (format!("{:#x}", [0xbfff_bfffu32, 0xb7ff_b7ff][self.random.next_below(2)]), "0x30003000")
                };
                let bits = if letter == 'd' { "b64" } else { "b32" };
                for name in &mut list {
                    let x = self.scratch_register(letter);
                    before += &format!("and.{bits} {x}, {name}, {and};\nor.{bits} {x}, {x}, {or};\n");
                    *name = x;
                }
            }
            sources.push(format!("{{{}}}", list.join(", ")));
        }
        let to = self.pool_register(letter);
        let used = d[self.random.next_below(d.len())].clone();
        removable_line(format!(
            "{before}mma.sync.aligned.{types} {{{}}}, {};\nmov.b{} {to}, {used};",
            d.join(", "),
            sources.join(", "),
            if letter == 'd' { 64 } else { 32 }
        ))
    }

    /// `mma.sp`. Lanes have one of two words of metadata.
    pub(crate) fn emit_sparse_mma(&mut self) -> ProgramNode {
        let fitting: Vec<_> = SPARSE_MMA_FORMS.iter().filter(|p| p.3 || !self.target.real).collect();
        let (types, [nd, na, nb, nc], most, _) = *fitting[self.random.next_below(fitting.len())];
        let legal: &[u32] = if types.contains("tf32") { &[4, 14] } else { &[4, 8, 12, 9, 13, 14] };
        let words: [u32; 2] =
            std::array::from_fn(|_| (0..8).fold(0, |w, i| w | legal[self.random.next_below(legal.len())] << (4 * i)));
        let (e, p, d) = (self.scratch_register('r'), self.pool_register('p'), self.register_list('r', nd, true));
        let sources: Vec<String> =
            [na, nb, nc].map(|n| format!("{{{}}}", self.register_list('r', n, false).join(", "))).into_iter().collect();
        let (to, used) = (self.pool_register('r'), d[self.random.next_below(d.len())].clone());
        removable_line(format!(
            "selp.b32 {e}, {:#x}, {:#x}, {p};\nmma.sp.sync.aligned.{types} {{{}}}, {}, {e}, {};\nmov.b32 {to}, {used};",
            words[0],
            words[1],
            d.join(", "),
            sources.join(", "),
            self.random.next_below(most + 1)
        ))
    }

    /// Tiles through shared memory: rows that the threads of the warp have stored, transposed or not.
    pub(crate) fn emit_ldmatrix_stmatrix(&mut self, place: &GenContext) -> ProgramNode {
        if !place.all_threads_here {
            return self.emit_float_mma();
        }
        // 32 threads have 256 bytes, which are two tiles.
        let n = 1 + self.random.next_below(2);
        let (at, d) = (self.scratch_register('r'), self.pool_register('d'));
        let trans = if self.random.chance_one_in(2) { ".trans" } else { "" };
        let row = "and.b32 {at}, %lane, 15;\nshl.b32 {at}, {at}, 4;\nsub.u32 {r}, %lin, %lane;\nmad.lo.u32 {at}, {r}, 8, {at};\nmov.u32 {r}, sphase;\nadd.u32 {at}, {at}, {r};";
        let r = self.scratch_register('r');
        let row = row.replace("{at}", &at).replace("{r}", &r);
        let results = self.register_list('r', n, true);
        let to = self.pool_register('r');
        let list = results.join(", ");
        let (first, second) = (self.pool_register('r'), self.pool_register('r'));
        let fill = if self.target.capability >= 90 && self.random.chance_one_in(2) {
            let words = if n == 1 { first } else { format!("{first}, {second}") };
            format!("{row}\nstmatrix.sync.aligned.m8n8.x{n}.shared.b16 [{at}], {{{words}}};")
        } else {
            format!("mov.u32 {at}, sphase;\nmad.lo.u32 {at}, %lin, 8, {at};\nst.shared.b64 [{at}], {d};\n{row}")
        };
        ProgramNode::Group(vec![fixed_line(format!(
            "bar.sync 0;\n{fill}\nbar.sync 0;\nldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {{{list}}}, [{at}];\nbar.sync 0;\nmov.b32 {to}, {};",
            results[n - 1]
        ))])
    }

    /// `wmma` from the input to the slots of the warp's threads.
    pub(crate) fn emit_wmma(&mut self, place: &GenContext) -> ProgramNode {
        let (shape, ty, sum, [na, nb, nc]) = WMMA_FORMS[self.random.next_below(WMMA_FORMS.len())];
        let double = if ty == "f64" { 'd' } else { 'r' };
        let [a, b, c, d] = [na, nb, nc, nc].map(|n| self.register_list(double, n, true).join(", "));
        let p = self.scratch_register('d');
        let mut layouts = vec![];
        let mut text = String::new();
        let narrow = matches!(ty, "s4" | "u4" | "b1");
        for (role, ty, list) in [("a", ty, &a), ("b", ty, &b), ("c", sum, &c)] {
            let layout = match role {
                "a" if narrow => "row",
                "b" if narrow => "col",
                _ => ["row", "col"][self.random.next_below(2)],
            };
            layouts.push(layout);
            // Lines of up to 32 elements, up to 32 of them: never more than the input has.
            let stride = match ty {
                "s4" | "u4" => [", 32", ", 64"][self.random.next_below(2)],
                "b1" => [", 128", ", 256"][self.random.next_below(2)],
                _ => [", 32", ""][usize::from(ty.ends_with("32") || ty == "f64" || self.random.chance_one_in(2))],
            };
            text += &format!(
                "add.s64 {p}, %in, {};\nwmma.load.{role}.sync.aligned.{layout}.{shape}.global.{ty} {{{list}}}, [{p}]{stride};\n",
                32 * self.random.next_below((INPUT_BYTES - 2048) / 32)
            );
        }
        let types = match ty {
            "f16" => format!("{sum}.{sum}"),
            _ => format!("{sum}.{ty}.{ty}.{sum}"),
        };
        let bits = if ty == "b1" { [".xor.popc", ".and.popc"][self.random.next_below(2)] } else { "" };
        text += &format!(
            "wmma.mma{bits}.sync.aligned.{}.{}.{shape}.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};\n",
            layouts[0], layouts[1]
        );
        let first = d.split(',').next().unwrap_or("").to_owned();
        if place.all_threads_here && self.random.chance_one_in(2) {
            let layout = ["row", "col"][self.random.next_below(2)];
            text += &format!(
                "bar.sync 0;\nmul.wide.u32 {p}, %lane, {THREAD_SLOT_BYTES};\nsub.s64 {p}, %slot, {p};\nwmma.store.d.sync.aligned.{layout}.{shape}.global.{sum} [{p}], {{{d}}};\nbar.sync 0;\n"
            );
        }
        let to = self.pool_register(double);
        removable_line(format!("{text}mov.b{} {to}, {first};", if double == 'd' { 64 } else { 32 }))
    }
}
