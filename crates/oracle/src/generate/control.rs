//! Branches, loops, switches, jumps out of them, and calls.

use super::Node;
use super::body::{GenContext, Generator, fixed, line};

impl Generator {
    fn inner(&mut self, place: &GenContext, end: Option<&String>) -> GenContext {
        let mut inner = GenContext { depth: place.depth.saturating_sub(1), all_threads_here: false, ..place.clone() };
        inner.exits.extend(end.cloned());
        inner
    }

    /// A condition, and code before it that makes it.
    fn condition(&mut self) -> (Vec<Node>, String) {
        let negated = if self.random.one_in(3) { "!" } else { "" };
        if !self.target.real && self.random.one_in(2) {
            return (vec![], format!("{negated}{}", self.reg('p')));
        }
        if self.random.one_in(2) {
            let (nodes, p) = self.within_bound();
            return (nodes, format!("{negated}{p}"));
        }
        let p = self.scratch('p');
        let cmp = ["lt", "ge", "eq", "ne", "gt"][self.random.below(5)];
        let text = match self.random.below(4) {
            0 => format!("setp.{cmp}.u32 {p}, %lane, {};", self.random.below(33)),
            1 => format!("setp.{cmp}.u32 {p}, %u1, {};", self.random.below(64)),
            2 => format!("setp.{cmp}.u32 {p}, %lin, {};", self.random.below(64)),
            _ => format!("setp.{cmp}.s32 {p}, {}, {};", self.reg('r'), self.reg('r')),
        };
        (vec![fixed(text)], format!("{negated}{p}"))
    }

    /// `if`, with or without `else`.
    pub(crate) fn branch(&mut self, place: &GenContext) -> Node {
        let (mut nodes, condition) = self.condition();
        let (other, end) = (self.label(), self.label());
        let inner = self.inner(place, Some(&end));
        let n = 1 + self.random.below(5);
        if self.random.one_in(2) {
            nodes.push(fixed(format!("@{condition} bra {end};")));
            nodes.extend(self.sequence(&inner, n));
        } else {
            nodes.push(fixed(format!("@{condition} bra {other};")));
            nodes.extend(self.sequence(&inner, n));
            nodes.push(fixed(format!("bra {end};\n{other}:")));
            let n = 1 + self.random.below(4);
            nodes.extend(self.sequence(&inner, n));
        }
        nodes.push(fixed(format!("{end}:")));
        Node::Group(nodes)
    }

    /// A loop of one to four rounds, as many in all threads or not, with the test at its end or at
    /// its beginning, sometimes left or continued in its middle.
    pub(crate) fn repeat(&mut self, place: &GenContext) -> Node {
        let (head, next, end) = (self.label(), self.label(), self.label());
        let (count, again) = (self.scratch('r'), self.scratch('p'));
        let (trips, uniform) = match self.random.below(4) {
            0 => (format!("mov.u32 {count}, {};", 1 + self.random.below(4)), true),
            1 => (format!("and.b32 {count}, %u1, 3;\nadd.u32 {count}, {count}, 1;"), true),
            2 => (format!("and.b32 {count}, %lane, 3;\nadd.u32 {count}, {count}, 1;"), false),
            _ => (format!("and.b32 {count}, {}, 3;\nadd.u32 {count}, {count}, 1;", self.reg('r')), false),
        };
        let together = place.all_threads_here && uniform && self.random.one_in(2);
        let mut inner = self.inner(place, if together { None } else { Some(&end) });
        inner.all_threads_here = together;
        let mut nodes = vec![fixed(trips)];
        let early = self.random.one_in(3);
        nodes.push(fixed(format!("{head}:")));
        if early {
            nodes.push(fixed(format!(
                "setp.eq.u32 {again}, {count}, 0;\n@{again} bra {end};\nsub.u32 {count}, {count}, 1;"
            )));
        }
        let n = 1 + self.random.below(5);
        nodes.extend(self.sequence(&inner, n));
        if !together && self.random.one_in(3) {
            let p = self.reg('p');
            nodes.push(line(format!("@{p} bra {};", if self.random.one_in(2) { &end } else { &next })));
            let n = 1 + self.random.below(3);
            nodes.extend(self.sequence(&inner, n));
        }
        if self.random.one_in(3) {
            let r = self.reg('r');
            nodes.push(line(format!("add.u32 {r}, {r}, {count};")));
        }
        nodes.push(fixed(format!("{next}:")));
        if early {
            nodes.push(fixed(format!("bra {head};")));
        } else {
            nodes.push(fixed(format!(
                "sub.u32 {count}, {count}, 1;\nsetp.ne.u32 {again}, {count}, 0;\n@{again} bra {head};"
            )));
        }
        nodes.push(fixed(format!("{end}:")));
        Node::Group(nodes)
    }

    /// A loop that is entered at two places.
    pub(crate) fn irreducible(&mut self, place: &GenContext) -> Node {
        let (head, middle, end) = (self.label(), self.label(), self.label());
        let (count, again) = (self.scratch('r'), self.scratch('p'));
        let inner = self.inner(place, Some(&end));
        let (mut nodes, condition) = self.condition();
        nodes.push(fixed(format!(
            "mov.u32 {count}, {};\n@{condition} bra {middle};\n{head}:",
            1 + self.random.below(3)
        )));
        let n = 1 + self.random.below(3);
        nodes.extend(self.sequence(&inner, n));
        nodes.push(fixed(format!("{middle}:")));
        let n = 1 + self.random.below(3);
        nodes.extend(self.sequence(&inner, n));
        nodes.push(fixed(format!(
            "sub.u32 {count}, {count}, 1;\nsetp.gt.s32 {again}, {count}, 0;\n@{again} bra {head};\n{end}:"
        )));
        Node::Group(nodes)
    }

    /// `brx.idx`
    pub(crate) fn switch(&mut self, place: &GenContext) -> Node {
        let end = self.label();
        let labels: Vec<String> = (0..4).map(|_| self.label()).collect();
        let (list, index) = (self.label(), self.scratch('r'));
        let from = if self.random.one_in(3) { "%u1".to_owned() } else { self.reg('r') };
        let inner = self.inner(place, Some(&end));
        let mut nodes = vec![fixed(format!(
            "and.b32 {index}, {from}, 3;\n{list}: .branchtargets {};\nbrx.idx {index}, {list};",
            labels.join(", ")
        ))];
        for label in &labels {
            nodes.push(fixed(format!("{label}:")));
            let n = 1 + self.random.below(2);
            nodes.extend(self.sequence(&inner, n));
            // Some cases fall through to the next.
            if !self.random.one_in(4) {
                nodes.push(fixed(format!("bra {end};")));
            }
        }
        nodes.push(fixed(format!("{end}:")));
        Node::Group(nodes)
    }

    /// A jump to the end of any construct around.
    pub(crate) fn jump_out(&mut self, place: &GenContext) -> Node {
        let label = place.exits[self.random.below(place.exits.len())].clone();
        let not = if self.random.one_in(2) { "!" } else { "" };
        line(format!("@{not}{} bra {label};", self.reg('p')))
    }

    /// The lines that call `target`, a function or a register with a prototype.
    fn call_lines(&mut self, target: &str, a: &str, dst: &str, indirect: bool) -> Vec<Node> {
        let d = self.reg('d');
        let mut text = format!(
            "{{ .param .b32 pa; .param .b64 pb; .param .b64 ps; .param .b64 pt; .param .b32 pr;\n\
             st.param.b32 [pa], {a};\nst.param.b64 [pb], {d};\nst.param.b64 [ps], %slot;\nst.param.b64 [pt], %in;\n"
        );
        if indirect {
            let proto = self.label().replace('$', "proto");
            text += &format!(
                "{proto}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b64 _, .param .b64 _);\ncall (pr), {target}, (pa, pb, ps, pt), {proto};\n"
            );
        } else {
            text += &format!("call (pr), {target}, (pa, pb, ps, pt);\n");
        }
        text += &format!("ld.param.b32 {dst}, [pr]; }}");
        vec![fixed(text)]
    }

    /// A call of one of the functions made so far, directly or through a register.
    pub(crate) fn call(&mut self) -> Node {
        if self.n_functions == 0 {
            return self.branch(&GenContext { depth: 1, function: true, ..GenContext::default() });
        }
        let (a, dst) = (self.reg('r'), self.reg('r'));
        let first = self.random.below(self.n_functions);
        if self.random.one_in(2) {
            let lines = self.call_lines(&format!("f{first}"), &a, &dst, false);
            return Node::Group(lines);
        }
        let second = self.random.below(self.n_functions);
        let (x, y, t, p) = (self.scratch('d'), self.scratch('d'), self.scratch('d'), self.reg('p'));
        let mut nodes =
            vec![fixed(format!("mov.u64 {x}, f{first};\nmov.u64 {y}, f{second};\nselp.b64 {t}, {x}, {y}, {p};"))];
        nodes.extend(self.call_lines(&t, &a, &dst, true));
        Node::Group(nodes)
    }

    /// A call of the function itself, with a smaller first argument.
    pub(crate) fn recursion(&mut self, name: &str) -> Node {
        let (n, p, end, dst) = (self.scratch('r'), self.scratch('p'), self.label(), self.reg('r'));
        let mut nodes = vec![fixed(format!(
            "and.b32 {n}, %u0, 3;\nsetp.eq.u32 {p}, {n}, 0;\n@{p} bra {end};\nsub.u32 {n}, {n}, 1;"
        ))];
        nodes.extend(self.call_lines(name, &n, &dst, false));
        nodes.push(fixed(format!("{end}:")));
        Node::Group(nodes)
    }
}
