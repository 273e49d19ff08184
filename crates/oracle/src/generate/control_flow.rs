//! Branches, loops, switches, jumps out of them, and calls.

use super::ProgramNode;
use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};

impl ProgramGenerator {
    fn nested_context(&mut self, place: &GenContext, end: Option<&String>) -> GenContext {
        let mut inner = GenContext { depth: place.depth.saturating_sub(1), all_threads_here: false, ..place.clone() };
        inner.exits.extend(end.cloned());
        inner
    }

    /// A condition, and code before it that makes it.
    fn random_condition(&mut self) -> (Vec<ProgramNode>, String) {
        let negated = if self.random.chance_one_in(3) { "!" } else { "" };
        if !self.target.real && self.random.chance_one_in(2) {
            return (vec![], format!("{negated}{}", self.pool_register('p')));
        }
        if self.random.chance_one_in(2) {
            let (nodes, p) = self.emit_bound_check();
            return (nodes, format!("{negated}{p}"));
        }
        let p = self.scratch_register('p');
        let cmp = ["lt", "ge", "eq", "ne", "gt"][self.random.next_below(5)];
        let text = match self.random.next_below(4) {
            0 => format!("setp.{cmp}.u32 {p}, %lane, {};", self.random.next_below(33)),
            1 => format!("setp.{cmp}.u32 {p}, %u1, {};", self.random.next_below(64)),
            2 => format!("setp.{cmp}.u32 {p}, %lin, {};", self.random.next_below(64)),
            _ => format!("setp.{cmp}.s32 {p}, {}, {};", self.pool_register('r'), self.pool_register('r')),
        };
        (vec![fixed_line(text)], format!("{negated}{p}"))
    }

    /// `if`, with or without `else`.
    pub(crate) fn emit_if_else(&mut self, place: &GenContext) -> ProgramNode {
        let (mut nodes, condition) = self.random_condition();
        let (other, end) = (self.new_label(), self.new_label());
        let inner = self.nested_context(place, Some(&end));
        let n = 1 + self.random.next_below(5);
        if self.random.chance_one_in(2) {
            nodes.push(fixed_line(format!("@{condition} bra {end};")));
            nodes.extend(self.random_node_sequence(&inner, n));
        } else {
            nodes.push(fixed_line(format!("@{condition} bra {other};")));
            nodes.extend(self.random_node_sequence(&inner, n));
            nodes.push(fixed_line(format!("bra {end};\n{other}:")));
            let n = 1 + self.random.next_below(4);
            nodes.extend(self.random_node_sequence(&inner, n));
        }
        nodes.push(fixed_line(format!("{end}:")));
        ProgramNode::Group(nodes)
    }

    /// A loop of one to four rounds, as many in all threads or not, with the test at its end or at
    /// its beginning, sometimes left or continued in its middle.
    pub(crate) fn emit_counted_loop(&mut self, place: &GenContext) -> ProgramNode {
        let (head, next, end) = (self.new_label(), self.new_label(), self.new_label());
        let (count, again) = (self.scratch_register('r'), self.scratch_register('p'));
        let (trips, uniform) = match self.random.next_below(4) {
            0 => (format!("mov.u32 {count}, {};", 1 + self.random.next_below(4)), true),
            1 => (format!("and.b32 {count}, %u1, 3;\nadd.u32 {count}, {count}, 1;"), true),
            2 => (format!("and.b32 {count}, %lane, 3;\nadd.u32 {count}, {count}, 1;"), false),
            _ => (format!("and.b32 {count}, {}, 3;\nadd.u32 {count}, {count}, 1;", self.pool_register('r')), false),
        };
        let together = place.all_threads_here && uniform && self.random.chance_one_in(2);
        let mut inner = self.nested_context(place, if together { None } else { Some(&end) });
        inner.all_threads_here = together;
        let mut nodes = vec![fixed_line(trips)];
        let early = self.random.chance_one_in(3);
        nodes.push(fixed_line(format!("{head}:")));
        if early {
            nodes.push(fixed_line(format!(
                "setp.eq.u32 {again}, {count}, 0;\n@{again} bra {end};\nsub.u32 {count}, {count}, 1;"
            )));
        }
        let n = 1 + self.random.next_below(5);
        nodes.extend(self.random_node_sequence(&inner, n));
        if !together && self.random.chance_one_in(3) {
            let p = self.pool_register('p');
            nodes
                .push(removable_line(format!("@{p} bra {};", if self.random.chance_one_in(2) { &end } else { &next })));
            let n = 1 + self.random.next_below(3);
            nodes.extend(self.random_node_sequence(&inner, n));
        }
        if self.random.chance_one_in(3) {
            let r = self.pool_register('r');
            nodes.push(removable_line(format!("add.u32 {r}, {r}, {count};")));
        }
        nodes.push(fixed_line(format!("{next}:")));
        if early {
            nodes.push(fixed_line(format!("bra {head};")));
        } else {
            nodes.push(fixed_line(format!(
                "sub.u32 {count}, {count}, 1;\nsetp.ne.u32 {again}, {count}, 0;\n@{again} bra {head};"
            )));
        }
        nodes.push(fixed_line(format!("{end}:")));
        ProgramNode::Group(nodes)
    }

    /// A loop that is entered at two places.
    pub(crate) fn emit_irreducible_loop(&mut self, place: &GenContext) -> ProgramNode {
        let (head, middle, end) = (self.new_label(), self.new_label(), self.new_label());
        let (count, again) = (self.scratch_register('r'), self.scratch_register('p'));
        let inner = self.nested_context(place, Some(&end));
        let (mut nodes, condition) = self.random_condition();
        nodes.push(fixed_line(format!(
            "mov.u32 {count}, {};\n@{condition} bra {middle};\n{head}:",
            1 + self.random.next_below(3)
        )));
        let n = 1 + self.random.next_below(3);
        nodes.extend(self.random_node_sequence(&inner, n));
        nodes.push(fixed_line(format!("{middle}:")));
        let n = 1 + self.random.next_below(3);
        nodes.extend(self.random_node_sequence(&inner, n));
        nodes.push(fixed_line(format!(
            "sub.u32 {count}, {count}, 1;\nsetp.gt.s32 {again}, {count}, 0;\n@{again} bra {head};\n{end}:"
        )));
        ProgramNode::Group(nodes)
    }

    /// `brx.idx`
    pub(crate) fn emit_brx_switch(&mut self, place: &GenContext) -> ProgramNode {
        let end = self.new_label();
        let labels: Vec<String> = (0..4).map(|_| self.new_label()).collect();
        let (list, index) = (self.new_label(), self.scratch_register('r'));
        let from = if self.random.chance_one_in(3) { "%u1".to_owned() } else { self.pool_register('r') };
        let inner = self.nested_context(place, Some(&end));
        let mut nodes = vec![fixed_line(format!(
            "and.b32 {index}, {from}, 3;\n{list}: .branchtargets {};\nbrx.idx {index}, {list};",
            labels.join(", ")
        ))];
        for label in &labels {
            nodes.push(fixed_line(format!("{label}:")));
            let n = 1 + self.random.next_below(2);
            nodes.extend(self.random_node_sequence(&inner, n));
            // Some cases fall through to the next.
            if !self.random.chance_one_in(4) {
                nodes.push(fixed_line(format!("bra {end};")));
            }
        }
        nodes.push(fixed_line(format!("{end}:")));
        ProgramNode::Group(nodes)
    }

    /// A jump to the end of any construct around.
    pub(crate) fn emit_jump_to_construct_end(&mut self, place: &GenContext) -> ProgramNode {
        let label = place.exits[self.random.next_below(place.exits.len())].clone();
        let not = if self.random.chance_one_in(2) { "!" } else { "" };
        removable_line(format!("@{not}{} bra {label};", self.pool_register('p')))
    }

    /// The lines that call `target`, a function or a register with a prototype.
    fn emit_call_lines(&mut self, target: &str, a: &str, dst: &str, indirect: bool) -> Vec<ProgramNode> {
        let d = self.pool_register('d');
        let mut text = format!(
            "{{ .param .b32 pa; .param .b64 pb; .param .b64 ps; .param .b64 pt; .param .b32 pr;\n\
             st.param.b32 [pa], {a};\nst.param.b64 [pb], {d};\nst.param.b64 [ps], %slot;\nst.param.b64 [pt], %in;\n"
        );
        if indirect {
            let proto = self.new_label().replace('$', "proto");
            text += &format!(
                "{proto}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b64 _, .param .b64 _);\ncall (pr), {target}, (pa, pb, ps, pt), {proto};\n"
            );
        } else {
            text += &format!("call (pr), {target}, (pa, pb, ps, pt);\n");
        }
        text += &format!("ld.param.b32 {dst}, [pr]; }}");
        vec![fixed_line(text)]
    }

    /// A call of one of the functions made so far, directly or through a register.
    pub(crate) fn emit_device_call(&mut self) -> ProgramNode {
        if self.n_functions == 0 {
            return self.emit_if_else(&GenContext { depth: 1, function: true, ..GenContext::default() });
        }
        let (a, dst) = (self.pool_register('r'), self.pool_register('r'));
        let first = self.random.next_below(self.n_functions);
        if self.random.chance_one_in(2) {
            let lines = self.emit_call_lines(&format!("f{first}"), &a, &dst, false);
            return ProgramNode::Group(lines);
        }
        let second = self.random.next_below(self.n_functions);
        let (x, y, t, p) = (
            self.scratch_register('d'),
            self.scratch_register('d'),
            self.scratch_register('d'),
            self.pool_register('p'),
        );
        let mut nodes =
            vec![fixed_line(format!("mov.u64 {x}, f{first};\nmov.u64 {y}, f{second};\nselp.b64 {t}, {x}, {y}, {p};"))];
        nodes.extend(self.emit_call_lines(&t, &a, &dst, true));
        ProgramNode::Group(nodes)
    }

    /// A call of the function itself, with a smaller first argument.
    pub(crate) fn emit_recursive_call(&mut self, name: &str) -> ProgramNode {
        let (n, p, end, dst) =
            (self.scratch_register('r'), self.scratch_register('p'), self.new_label(), self.pool_register('r'));
        let mut nodes = vec![fixed_line(format!(
            "and.b32 {n}, %u0, 3;\nsetp.eq.u32 {p}, {n}, 0;\n@{p} bra {end};\nsub.u32 {n}, {n}, 1;"
        ))];
        nodes.extend(self.emit_call_lines(name, &n, &dst, false));
        nodes.push(fixed_line(format!("{end}:")));
        ProgramNode::Group(nodes)
    }
}
