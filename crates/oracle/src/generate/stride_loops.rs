//! Bounds and loops over a grid as compilers write them: a thread's index is compared with a bound
//! that all threads share, signed or not, near the ends of the numbers too; loops go on by a stride,
//! unrolled or not, and load what is the same for all lanes beside what lies next to each other.

use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};
use super::{INPUT_BYTES, ProgramNode};

/// Rounds after which a loop whose index wraps around is left.
const MAX_LOOP_ITERATIONS: usize = 6;
/// Indices of other loops stay below this, and their accesses inside the input.
const MAX_STRIDE_LOOP_INDEX: usize = 400;

/// A loop in the making.
struct StrideLoop {
    /// The class of the index: `r` or `d`.
    letter: char,
    index: String,
    bound: String,
    step: String,
    /// What the index counts from.
    offset: u64,
    wraps: bool,
    /// The comparison that says that the loop is over, and its opposite.
    over: String,
    on: String,
    /// A pointer that all threads share.
    shared: String,
    sum: String,
}

impl ProgramGenerator {
    /// The number of a thread, from lane to lane one more, in rows perhaps, and the code that makes it.
    fn emit_global_thread_index(&mut self) -> (String, String) {
        match self.random.next_below(8) {
            6 | 7 => {
                let (text, r) = self.emit_lane_index();
                (text + "\n", r)
            }
            n => (String::new(), ["%lin", "%tx", "%gid", "%lane", "%lin", "%gid"][n].to_owned()),
        }
    }

    /// A number that all threads load from one place: any, or one below 256.
    pub(crate) fn emit_uniform_load(&mut self, small: bool) -> (String, String) {
        let r = self.scratch_register('r');
        let (ty, size) =
            if small { ("u8", 1) } else { [("u32", 4), ("s32", 4), ("u16", 2), ("s16", 2)][self.random.next_below(4)] };
        let space = [".global", ".global.nc", "", ".global", ".volatile.global"][self.random.next_below(5)];
        let at = self.random.next_below(INPUT_BYTES / size) * size;
        let opcode = match space.strip_prefix(".volatile") {
            Some(space) => format!("ld.volatile{space}"),
            None => format!("ld{space}"),
        };
        (format!("{opcode}.{ty} {r}, [%in+{at}];"), r)
    }

    /// Code that compares a thread's index with a bound of all threads, and the predicate.
    pub(crate) fn emit_bound_check(&mut self) -> (Vec<ProgramNode>, String) {
        let (p, r) = (self.scratch_register('p'), self.scratch_register('r'));
        let (before, base) = self.emit_global_thread_index();
        let near = [0, 0, 0x7fff_ff00u32, 0xffff_ff00, 0x8000_0000][self.random.next_below(5)];
        let first = near.wrapping_add(self.random.next_below(300) as u32);
        let small = near == 0 || self.random.chance_one_in(2);
        let (load, bound) = self.emit_uniform_load(small);
        let ty = ["u32", "s32"][self.random.next_below(2)];
        let cmp = ["lt", "ge", "gt", "le", "eq", "ne"][self.random.next_below(6)];
        let scale = [1i64, 1, 1, 4, -1][self.random.next_below(5)];
        let mut text = format!("{before}{load}\nmad.lo.u32 {r}, {base}, {scale}, {first};\n");
        if small {
            text += &format!("add.u32 {bound}, {bound}, {near};\n");
        }
        let turned = self.random.chance_one_in(4);
        let (mut a, mut b) = if turned { (bound, r) } else { (r, bound) };
        let mut width = ty.to_owned();
        if self.random.chance_one_in(4) {
            width = ["u64", "s64"][self.random.next_below(2)].to_owned();
            let widen = ["cvt.u64.u32", "cvt.s64.s32"][self.random.next_below(2)];
            let (x, y) = (self.scratch_register('d'), self.scratch_register('d'));
            text += &format!("{widen} {x}, {a};\n{widen} {y}, {b};\n");
            (a, b) = (x, y);
        }
        text += &format!("setp.{cmp}.{width} {p}, {a}, {b};");
        (vec![fixed_line(text)], p)
    }

    /// Threads beyond a bound leave the kernel.
    pub(crate) fn emit_exit_beyond_bound(&mut self) -> ProgramNode {
        let (mut nodes, p) = self.emit_bound_check();
        let how = ["ret", "exit"][self.random.next_below(2)];
        let not = if self.random.chance_one_in(2) { "!" } else { "" };
        nodes.push(fixed_line(format!("@{not}{p} {how};")));
        ProgramNode::Group(nodes)
    }

    /// As [`ProgramGenerator::emit_exit_beyond_bound`], unless that were all threads of the block, which are all there.
    pub(crate) fn emit_exit_beyond_bound_unless_all(&mut self) -> ProgramNode {
        let (mut nodes, p) = self.emit_bound_check();
        let (stays, some) = (self.scratch_register('p'), self.scratch_register('p'));
        let how = ["ret", "exit"][self.random.next_below(2)];
        nodes.push(fixed_line(format!(
            "not.pred {stays}, {p};\nbar.red.or.pred {some}, 0, {stays};\n@!{some} mov.pred {p}, {some};\n@{p} {how};"
        )));
        ProgramNode::Group(nodes)
    }

    /// A loop whose index begins at the thread's index and goes on by a stride.
    pub(crate) fn emit_stride_loop(&mut self, place: &GenContext) -> ProgramNode {
        let (head, end) = (self.new_label(), self.new_label());
        let mut nodes = vec![];
        let s = self.emit_stride_loop_setup(place, &mut nodes);
        let count = self.scratch_register('r');
        let p = self.scratch_register('p');
        let leave = |p: &str| format!("setp.{} {p}, {}, {};\n@{p} bra {end};", s.over, s.index, s.bound);
        nodes.push(fixed_line(format!("mov.u32 {count}, {MAX_LOOP_ITERATIONS};")));
        // The test stands at the head, or once before the loop and then at its end.
        let rotated = self.random.chance_one_in(2);
        let (before, after) = if rotated {
            let again = self.scratch_register('p');
            let again = format!("setp.{} {again}, {}, {};\n@{again} bra {head};", s.on, s.index, s.bound);
            (format!("{}\n{head}:", leave(&p)), again)
        } else {
            (format!("{head}:\n{}", leave(&p)), format!("bra {head};"))
        };
        nodes.push(fixed_line(before));
        let mut inner = GenContext { depth: 0, all_threads_here: false, ..place.clone() };
        inner.exits.push(end.clone());
        let unrolled = [1, 1, 2, 4][self.random.next_below(4)];
        for k in 0..unrolled {
            nodes.extend(self.emit_loop_body(&s, &inner));
            let more = if k + 1 < unrolled { leave(&p) } else { String::new() };
            nodes.push(fixed_line(format!(
                "add.{} {}, {}, {};\n{more}",
                index_type_of_letter(s.letter),
                s.index,
                s.index,
                s.step
            )));
        }
        if s.wraps {
            let q = self.scratch_register('p');
            nodes.push(fixed_line(format!(
                "sub.u32 {count}, {count}, 1;\nsetp.eq.u32 {q}, {count}, 0;\n@{q} bra {end};"
            )));
        }
        nodes.push(fixed_line(format!("{after}\n{end}:")));
        if self.random.chance_one_in(2) {
            let r = self.pool_register('r');
            let narrow = if s.letter == 'r' { "mov.b32" } else { "cvt.u32.u64" };
            nodes.push(removable_line(format!("{narrow} {r}, {};", s.index)));
        }
        ProgramNode::Group(nodes)
    }

    /// Index, bound and stride, and the code that makes them.
    fn emit_stride_loop_setup(&mut self, place: &GenContext, nodes: &mut Vec<ProgramNode>) -> StrideLoop {
        let letter = if self.random.chance_one_in(4) { 'd' } else { 'r' };
        let wraps = self.random.chance_one_in(3);
        let near = if letter == 'r' { [0x7fff_ffffu64, 0xffff_ffff] } else { [i64::MAX as u64, u64::MAX] };
        let offset = match wraps {
            true => near[self.random.next_below(2)] - self.random.next_below(MAX_STRIDE_LOOP_INDEX) as u64,
            false => self.random.next_below(100) as u64,
        };
        let (mut before, mut base) = self.emit_global_thread_index();
        if !wraps && !before.is_empty() {
            // What stays within the input.
            let small = self.scratch_register('r');
            before += &format!("and.b32 {small}, {base}, 255;\n");
            base = small;
        }
        let (load, small) = self.emit_uniform_load(true);
        let (index, bound) = (self.scratch_register(letter), self.scratch_register(letter));
        let (shared, sum) = (self.scratch_register('d'), self.pool_register('r'));
        let step = self.emit_stride(place, nodes);
        nodes.push(fixed_line(format!("{before}{load}\nadd.s64 {shared}, %in, {};", 4 * self.random.next_below(256))));
        let (as_signed, cmp) = (self.random.chance_one_in(2), self.random.next_below(2));
        let ty = format!("{}{}", if as_signed { "s" } else { "u" }, if letter == 'r' { 32 } else { 64 });
        let [over, on] = [["ge", "lt"], ["gt", "le"]][cmp];
        let mut step_name = step;
        if letter == 'r' {
            // A bound that comes from memory as it is makes the comparison the only reader of the load.
            let plain = !wraps && self.random.chance_one_in(2);
            let offset = if plain { 0 } else { offset };
            let bound_text = if plain {
                format!("mov.b32 {bound}, {small};")
            } else {
                format!("add.u32 {bound}, {small}, {offset};")
            };
            nodes.push(fixed_line(format!("add.u32 {index}, {base}, {offset};\n{bound_text}")));
        } else {
            let wide = self.scratch_register('d');
            nodes.push(fixed_line(format!(
                "cvt.u64.u32 {index}, {base};\nadd.s64 {index}, {index}, {0};\ncvt.u64.u32 {bound}, {small};\nadd.s64 {bound}, {bound}, {0};\ncvt.u64.u32 {wide}, {step_name};",
                offset as i64
            )));
            step_name = wide;
        }
        StrideLoop {
            letter,
            index,
            bound,
            step: step_name,
            offset,
            wraps,
            over: format!("{over}.{ty}"),
            on: format!("{on}.{ty}"),
            shared,
            sum,
        }
    }

    /// A stride of at least 16 that all threads share.
    fn emit_stride(&mut self, place: &GenContext, nodes: &mut Vec<ProgramNode>) -> String {
        let step = self.scratch_register('r');
        let text = match self.random.next_below(4) {
            0 => format!("mov.u32 {step}, {};", [16, 32, 64, 31, 48, 256][self.random.next_below(6)]),
            1 if !place.function => format!("max.u32 {step}, %threads, 16;"),
            2 => format!("and.b32 {step}, %u1, 63;\nadd.u32 {step}, {step}, 32;"),
            _ => {
                let (load, r) = self.emit_uniform_load(true);
                format!("{load}\nor.b32 {step}, {r}, 16;")
            }
        };
        nodes.push(fixed_line(text));
        step
    }

    /// What a loop does with one index.
    fn emit_loop_body(&mut self, s: &StrideLoop, place: &GenContext) -> Vec<ProgramNode> {
        let mut nodes = vec![];
        let (d, v, sum) = (self.scratch_register('d'), self.scratch_register('r'), s.sum.clone());
        if self.random.chance_one_in(2) {
            // The pointer goes on by few bytes in each of the few rounds.
            nodes.push(ProgramNode::Group(vec![
                fixed_line(format!("ld.global.u32 {v}, [{}];\nadd.u32 {sum}, {sum}, {v};", s.shared)),
                fixed_line(format!("add.s64 {0}, {0}, 4;", s.shared)),
            ]));
        }
        let (size, ty) = [(1, "u8"), (2, "s16"), (4, "u32"), (4, "u32"), (8, "u64")][self.random.next_below(5)];
        let target = if size == 8 { self.pool_register('d') } else { v.clone() };
        nodes.push(fixed_line(match (s.letter, s.wraps) {
            ('r', false) => format!("mul.wide.{} {d}, {}, {size};", ["s32", "u32"][self.random.next_below(2)], s.index),
            ('r', true) => {
                let t = self.scratch_register('r');
                format!("sub.u32 {t}, {}, {};\nmul.wide.u32 {d}, {t}, {size};", s.index, s.offset)
            }
            (_, false) => format!("mul.lo.u64 {d}, {}, {size};", s.index),
            _ => format!("sub.s64 {d}, {}, {};\nmul.lo.u64 {d}, {d}, {size};", s.index, s.offset as i64),
        }));
        // What has wrapped around may lie anywhere.
        let guard = if s.wraps {
            let p = self.scratch_register('p');
            nodes.push(fixed_line(format!("setp.lt.u64 {p}, {d}, {};", INPUT_BYTES - 8)));
            format!("@{p} ")
        } else {
            String::new()
        };
        nodes.push(fixed_line(format!(
            "add.s64 {d}, %in, {d};\nmov.u32 {v}, 0;\n{guard}ld.global.{ty} {target}, [{d}];"
        )));
        if size != 8 {
            nodes.push(removable_line(format!("add.u32 {sum}, {sum}, {v};")));
        }
        if self.random.chance_one_in(3) {
            nodes.push(removable_line(format!("st.global.u32 [%slot+{}], {sum};", 4 * self.random.next_below(8))));
        }
        if self.random.chance_one_in(3) {
            nodes.extend(self.random_node_sequence(place, 1));
        }
        nodes
    }
}

fn index_type_of_letter(letter: char) -> &'static str {
    if letter == 'r' { "u32" } else { "s64" }
}
