//! Control flow around instructions: divergent `if`s and loops, and calls, with the lanes that are there known.

use super::{Cell, Class, Flow, Kind};
use crate::generate::Node;
use crate::generate::body::{GenContext, Generator, fixed, line};

/// Lanes that are here together.
#[derive(Debug, Clone)]
pub(super) struct ActiveLanes {
    /// Their mask, a register or an immediate.
    pub(super) mask: String,
    /// With each of them all lower lanes are here.
    pub(super) lower: bool,
    /// They are all 32.
    pub(super) whole: bool,
}

type Members = Option<ActiveLanes>;

#[derive(Debug, Clone, Copy)]
enum Layer {
    If,
    Loop,
    Call,
}

fn layers(flow: Flow) -> &'static [Layer] {
    match flow {
        Flow::Straight => &[],
        Flow::If => &[Layer::If],
        Flow::Loop => &[Layer::Loop],
        Flow::LoopInIf => &[Layer::If, Layer::Loop],
        Flow::IfInLoop => &[Layer::Loop, Layer::If],
        Flow::Call => &[Layer::Call],
        Flow::CallInIf => &[Layer::If, Layer::Call],
        Flow::CallInLoop => &[Layer::Loop, Layer::Call],
    }
}

impl Generator {
    /// The cells, which have one control flow, inside it. `mask` names the lanes that are here.
    pub(super) fn in_flow(&mut self, cells: &[Cell], mask: Option<String>) -> Vec<Node> {
        // A shuffle by an amount that is no register of its lane's own needs the lower lanes.
        let lower = cells.iter().any(|c| c.class == Class::Shuffle && c.kind != Kind::Varying) || self.random.one_in(4);
        let members = mask.map(|mask| ActiveLanes { mask, lower: true, whole: self.full_warps });
        self.layered(layers(cells[0].flow), cells, members, lower)
    }

    fn layered(&mut self, layers: &[Layer], cells: &[Cell], members: Members, lower: bool) -> Vec<Node> {
        match layers.split_first() {
            None => self.body_of(cells, members),
            Some((Layer::If, rest)) => self.divergent_if(rest, cells, members, lower),
            Some((Layer::Loop, rest)) => self.divergent_loop(rest, cells, members, lower),
            Some((Layer::Call, rest)) => self.covering_call(rest, cells, members, lower),
        }
    }

    fn body_of(&mut self, cells: &[Cell], members: Members) -> Vec<Node> {
        let (r, d) = (self.scratch('r'), self.scratch('d'));
        let (a, b) = (self.random.below(4), self.random.below(3));
        // Uniform values may also come from where not all lanes are.
        let mut nodes = vec![fixed(format!(
            "add.u32 {r}, %ur{a}, {};\nadd.u64 {d}, %ud{b}, {};",
            self.random.below(9),
            self.random.below(9)
        ))];
        self.uniform_registers = vec![('r', r), ('d', d)];
        for &cell in cells {
            nodes.push(self.instruction_of(cell, members.as_ref()));
            if self.random.one_in(3) {
                let place = GenContext { function: true, ..GenContext::default() };
                nodes.extend(self.sequence(&place, 1));
            }
        }
        self.uniform_registers.clear();
        nodes
    }

    fn divergent_if(&mut self, rest: &[Layer], cells: &[Cell], members: Members, lower: bool) -> Vec<Node> {
        let (p, end) = (self.scratch('p'), self.label());
        let mut nodes = vec![];
        nodes.push(fixed(match (lower, self.random.below(3)) {
            (true, _) => format!("setp.lt.u32 {p}, %lane, {};", 1 + self.random.below(32)),
            (_, 0) => format!("setp.ne.u32 {p}, %lane, {};", self.random.below(32)),
            (_, 1) => format!("mov.pred {p}, {};", self.reg('p')),
            _ => format!("setp.lt.s32 {p}, {}, {};", self.reg('r'), self.reg('r')),
        }));
        let members = members.map(|here| {
            let mask = self.scratch('r');
            nodes.push(fixed(format!("vote.sync.ballot.b32 {mask}, {p}, {};", here.mask)));
            ActiveLanes { mask, lower: lower && here.lower, whole: false }
        });
        nodes.push(fixed(format!("@!{p} bra {end};")));
        nodes.extend(self.layered(rest, cells, members, lower));
        if self.random.one_in(3) {
            let (over, place) = (self.label(), GenContext { function: true, ..GenContext::default() });
            nodes.push(fixed(format!("bra {over};\n{end}:")));
            nodes.extend(self.sequence(&place, 1));
            nodes.push(fixed(format!("{over}:")));
        } else {
            nodes.push(fixed(format!("{end}:")));
        }
        nodes
    }

    /// A loop whose lanes leave it one after another, the test at its end or at its beginning.
    fn divergent_loop(&mut self, rest: &[Layer], cells: &[Cell], members: Members, lower: bool) -> Vec<Node> {
        let (count, again, head, end) = (self.scratch('r'), self.scratch('p'), self.label(), self.label());
        let from = if self.random.one_in(2) { self.reg('r') } else { "%lane".to_owned() };
        let mut nodes = vec![fixed(match lower {
            true => format!("shr.u32 {count}, %lane, 3;\nsub.u32 {count}, 4, {count};"),
            false => format!("and.b32 {count}, {from}, 3;\nadd.u32 {count}, {count}, 1;"),
        })];
        let members = members.map(|here| {
            let mask = self.scratch('r');
            nodes.push(fixed(format!("mov.b32 {mask}, {};", here.mask)));
            ActiveLanes { mask, lower: lower && here.lower, whole: false }
        });
        let vote = |ActiveLanes { mask, .. }: &ActiveLanes| format!("\nvote.sync.ballot.b32 {mask}, {again}, {mask};");
        let vote = members.as_ref().map_or(String::new(), vote);
        let at_head = self.random.one_in(3);
        nodes.push(fixed(format!("{head}:")));
        if at_head {
            nodes.push(fixed(format!("setp.ne.u32 {again}, {count}, 0;{vote}\n@!{again} bra {end};")));
        }
        // The index of nvcc's loops: it differs from lane to lane.
        let index = self.reg('r');
        nodes.push(line(format!("add.u32 {index}, {index}, {count};")));
        nodes.extend(self.layered(rest, cells, members, lower));
        nodes.push(fixed(match at_head {
            true => format!("sub.u32 {count}, {count}, 1;\nbra {head};\n{end}:"),
            false => format!(
                "sub.u32 {count}, {count}, 1;\nsetp.ne.u32 {again}, {count}, 0;{vote}\n@{again} bra {head};\n{end}:"
            ),
        }));
        nodes
    }

    /// A call of a function of its own.
    fn covering_call(&mut self, rest: &[Layer], cells: &[Cell], members: Members, lower: bool) -> Vec<Node> {
        let mask = members.as_ref().map_or("0", |here| here.mask.as_str()).to_owned();
        let inside = members.map(|here| ActiveLanes { mask: "%mask".to_owned(), ..here });
        let name = self.covering_function(rest, cells, inside, lower);
        let a = if self.random.one_in(2) { self.uniform('r') } else { self.reg('r') };
        let (b, dst) = (self.reg('d'), self.reg('r'));
        vec![fixed(format!(
            "{{ .param .b32 pa; .param .b64 pb; .param .b64 ps; .param .b64 pt; .param .b64 pc; .param .b32 pl; .param .b32 pm; .param .b32 pr;\n\
             st.param.b32 [pa], {a};\nst.param.b64 [pb], {b};\nst.param.b64 [ps], %slot;\nst.param.b64 [pt], %in;\n\
             st.param.b64 [pc], %counters;\nst.param.b32 [pl], %lin;\nst.param.b32 [pm], {mask};\n\
             call (pr), {name}, (pa, pb, ps, pt, pc, pl, pm);\nld.param.b32 {dst}, [pr]; }}"
        ))]
    }

    fn covering_function(&mut self, rest: &[Layer], cells: &[Cell], members: Members, lower: bool) -> String {
        let name = self.label().replace('$', "covering");
        let outside = std::mem::take(&mut self.n_scratch);
        let fresh = std::mem::take(&mut self.uniform_registers);
        let mut nodes = vec![fixed(
            "ld.param.b32 %u0, [a];\nld.param.b64 %u2, [b];\nld.param.b64 %slot, [s];\nld.param.b64 %in, [t];\n\
             ld.param.b64 %counters, [c];\nld.param.b32 %lin, [l];\nld.param.b32 %mask, [m];\nmov.u32 %u1, %u0;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %gid, %tx;\nmov.u32 %lane, %laneid;",
        )];
        self.values_of_function(&mut nodes);
        nodes.extend(self.layered(rest, cells, members, lower));
        nodes.push(fixed(format!("st.param.b32 [result], {};\nret;\n}}", self.reg('r'))));
        let head = format!(
            ".func (.param .b32 result) {name}(.param .b32 a, .param .b64 b, .param .b64 s, .param .b64 t, .param .b64 c, .param .b32 l, .param .b32 m)\n{{"
        );
        let mut all = vec![fixed(head), self.declarations()];
        all.extend(self.own_memory());
        all.extend(nodes);
        self.functions.push(Node::Block(all));
        (self.n_scratch, self.uniform_registers) = (outside, fresh);
        name
    }
}
