//! Lane and warp indices, as CUDA code makes them of thread indices: masks, shifts, remainders and
//! fields by powers of two, signed ones as compilers write them. They address the input, decide
//! branches, or begin loops.

use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};
use super::{INPUT_BYTES, ProgramNode};

impl ProgramGenerator {
    /// The thread's index in its row, block or grid, perhaps moved by what all threads share.
    fn emit_thread_index(&mut self, text: &mut String) -> String {
        let [x, a, b, c] = std::array::from_fn(|_| self.scratch_register('r'));
        *text += &match self.random.next_below(6) {
            0 => format!("mov.u32 {x}, %tid.x;\n"),
            1 => format!("mov.u32 {x}, %laneid;\n"),
            2 => {
                format!("mov.u32 {a}, %ctaid.x;\nshl.b32 {b}, {a}, 10;\nmov.u32 {c}, %tid.x;\nor.b32 {x}, {b}, {c};\n")
            }
            n => {
                let row = ["%tid.y", "%ctaid.x", "%u1"][n - 3];
                format!(
                    "mov.u32 {a}, {row};\nmov.u32 {b}, %ntid.x;\nmov.u32 {c}, %tid.x;\nmad.lo.s32 {x}, {a}, {b}, {c};\n"
                )
            }
        };
        let by = [32, 64, 256, 16, 8, 1, 5, 31][self.random.next_below(8)];
        let moved = self.scratch_register('r');
        *text += &match self.random.next_below(8) {
            0 => format!("add.s32 {moved}, {x}, {by};\n"),
            1 => format!("add.s32 {moved}, {x}, -{by};\n"),
            2 => format!("mad.lo.s32 {moved}, %u0, {by}, {x};\n"),
            3 => format!("mul.lo.s32 {moved}, {x}, {};\n", [2, 4, 3, -1][self.random.next_below(4)]),
            4 => format!("sub.s32 {moved}, {by}, {x};\n"),
            _ => return x,
        };
        moved
    }

    /// What one operation makes of such a number.
    fn emit_derived_index(&mut self, x: &str, text: &mut String) -> String {
        let [y, a, b, c] = std::array::from_fn(|_| self.scratch_register('r'));
        let log = [5, 5, 5, 4, 3, 6, 7, 2][self.random.next_below(8)];
        let (n, up) = (1 << log, 32 - log);
        let bias = format!("shr.s32 {a}, {x}, 31;\nshr.u32 {b}, {a}, {up};\nadd.s32 {c}, {x}, {b};\n");
        *text += &match self.random.next_below(15) {
            0 | 1 => format!("and.b32 {y}, {x}, {};\n", n - 1),
            2 => format!("shr.{} {y}, {x}, {log};\n", ["u32", "s32"][self.random.next_below(2)]),
            3 => format!("{}.u32 {y}, {x}, {n};\n", ["div", "rem"][self.random.next_below(2)]),
            4 => format!("{bias}shr.s32 {y}, {c}, {log};\n"),
            5 => {
                let again = self.scratch_register('r');
                format!("{bias}and.b32 {again}, {c}, -{n};\nsub.s32 {y}, {x}, {again};\n")
            }
            6 => format!("bfe.u32 {y}, {x}, {}, {};\n", self.random.next_below(8), 1 + self.random.next_below(8)),
            7 => format!("and.b32 {y}, {x}, -{n};\n"),
            8 => {
                let which = ["or", "xor", "and"][self.random.next_below(3)];
                format!("{which}.b32 {y}, {x}, {};\n", self.random.next_below(200))
            }
            9 => format!("mov.u32 {a}, %ntid.x;\nadd.s32 {b}, {a}, -1;\nand.b32 {y}, {x}, {b};\n"),
            10 => format!("selp.b32 {y}, {x}, {}, {};\n", self.random.next_below(70), self.pool_register('p')),
            11 => {
                let (d, e) = (self.scratch_register('d'), self.scratch_register('d'));
                let widen = ["cvt.u64.u32", "cvt.s64.s32"][self.random.next_below(2)];
                let op = ["and.b64", "shr.u64", "shr.s64"][self.random.next_below(3)];
                let by = if op == "and.b64" { n - 1 } else { log };
                format!("{widen} {d}, {x};\n{op} {e}, {d}, {by};\ncvt.u32.u64 {y}, {e};\n")
            }
            12 => {
                // Defined twice: what is known of it must hold for both.
                let other = [x, "%u1", "32", "%lane"][self.random.next_below(4)];
                format!("and.b32 {y}, {x}, {};\n@{} add.s32 {y}, {other}, {n};\n", n - 1, self.pool_register('p'))
            }
            13 => {
                let (from, len) = (self.random.next_below(10), self.random.next_below(23));
                let other = ["%u1", "%lane", "%ctaid.x"][self.random.next_below(3)];
                let (a, b) = if self.random.chance_one_in(2) { (x, &*c) } else { (&*c, x) };
                format!("mov.u32 {c}, {other};\nbfi.b32 {y}, {a}, {b}, {from}, {len};\n")
            }
            _ => format!("{}.s32 {y}, {x}, {n};\n", ["min", "max"][self.random.next_below(2)]),
        };
        y
    }

    /// Code that makes a number of a lane, a warp or the like, and where it stands.
    pub(crate) fn emit_lane_index(&mut self) -> (String, String) {
        let mut text = String::new();
        let mut x = self.emit_thread_index(&mut text);
        for _ in 0..1 + self.random.next_below(3) {
            x = self.emit_derived_index(&x, &mut text);
        }
        (text.trim_end().to_owned(), x)
    }

    /// One or two such numbers, what is loaded by them, and what only some warps or lanes do.
    pub(crate) fn emit_lane_index_uses(&mut self, place: &GenContext) -> ProgramNode {
        let (text, x) = self.emit_lane_index();
        let mut nodes = vec![fixed_line(text)];
        let r = self.pool_register('r');
        nodes.push(removable_line(match self.random.next_below(3) {
            0 => format!("mov.b32 {r}, {x};"),
            1 => format!("add.s32 {r}, {r}, {x};"),
            _ => format!("mul.wide.u32 {}, {x}, 12;", self.pool_register('d')),
        }));
        if self.random.chance_one_in(2) {
            nodes.push(self.emit_indexed_input_load(&x));
        }
        if place.depth > 0 && self.random.chance_one_in(3) {
            let inner = GenContext { depth: place.depth - 1, all_threads_here: false, ..place.clone() };
            let (p, end, cmp) =
                (self.scratch_register('p'), self.new_label(), self.pick_str(&["eq", "ne", "lt", "ge"]));
            nodes.push(fixed_line(format!("setp.{cmp}.u32 {p}, {x}, {};\n@{p} bra {end};", self.random.next_below(5))));
            nodes.extend(self.random_node_sequence(&inner, 2));
            nodes.push(fixed_line(format!("{end}:")));
        }
        ProgramNode::Group(nodes)
    }

    /// A load from the input, of as much of a number as lies in it, perhaps a row apart for each warp.
    fn emit_indexed_input_load(&mut self, x: &str) -> ProgramNode {
        let (size, ty) = [(1, "u8"), (2, "s16"), (4, "u32"), (4, "f32"), (8, "u64")][self.random.next_below(5)];
        let (row, at, d, e) = (
            self.scratch_register('r'),
            self.scratch_register('r'),
            self.scratch_register('d'),
            self.scratch_register('d'),
        );
        let mut text = match self.random.next_below(3) {
            0 => format!("mov.u32 {row}, {x};\n"),
            _ => {
                let (other, warp) = self.emit_lane_index();
                format!("{other}\nmad.lo.s32 {row}, {warp}, {}, {x};\n", [32, 33, 64, 8][self.random.next_below(4)])
            }
        };
        text += &format!(
            "and.b32 {at}, {row}, {};\nmul.wide.u32 {d}, {at}, {size};\nadd.s64 {e}, %in, {d};\n",
            INPUT_BYTES / size - 1
        );
        let dst = self.pool_register(if size == 8 { 'd' } else { 'r' });
        let narrow = self.scratch_register('h');
        text += &match size {
            1 | 2 => format!("ld.global.{ty} {narrow}, [{e}];\ncvt.u32.u16 {dst}, {narrow};"),
            _ => format!("ld.global.{ty} {dst}, [{e}];"),
        };
        fixed_line(text)
    }
}
