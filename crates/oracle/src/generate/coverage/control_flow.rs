//! Control flow around instructions: divergent `if`s and loops, and calls, with the lanes that are there known.

use super::{ControlFlow, CoverageCell, InstClass, OperandKind};
use crate::generate::ProgramNode;
use crate::generate::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};

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

type OptionalActiveLanes = Option<ActiveLanes>;

#[derive(Debug, Clone, Copy)]
enum FlowLayer {
    If,
    Loop,
    Call,
}

fn flow_layers(flow: ControlFlow) -> &'static [FlowLayer] {
    match flow {
        ControlFlow::Straight => &[],
        ControlFlow::If => &[FlowLayer::If],
        ControlFlow::Loop => &[FlowLayer::Loop],
        ControlFlow::LoopInIf => &[FlowLayer::If, FlowLayer::Loop],
        ControlFlow::IfInLoop => &[FlowLayer::Loop, FlowLayer::If],
        ControlFlow::Call => &[FlowLayer::Call],
        ControlFlow::CallInIf => &[FlowLayer::If, FlowLayer::Call],
        ControlFlow::CallInLoop => &[FlowLayer::Loop, FlowLayer::Call],
    }
}

impl ProgramGenerator {
    /// The cells, which have one control flow, inside it. `mask` names the lanes that are here.
    pub(super) fn emit_cells_in_flow(&mut self, cells: &[CoverageCell], mask: Option<String>) -> Vec<ProgramNode> {
        // A shuffle by an amount that is no register of its lane's own needs the lower lanes.
        let lower = cells.iter().any(|c| c.class == InstClass::Shuffle && c.kind != OperandKind::Varying)
            || self.random.chance_one_in(4);
        let members = mask.map(|mask| ActiveLanes { mask, lower: true, whole: self.full_warps });
        self.emit_flow_layers(flow_layers(cells[0].flow), cells, members, lower)
    }

    fn emit_flow_layers(
        &mut self,
        layers: &[FlowLayer],
        cells: &[CoverageCell],
        members: OptionalActiveLanes,
        lower: bool,
    ) -> Vec<ProgramNode> {
        match layers.split_first() {
            None => self.emit_cells(cells, members),
            Some((FlowLayer::If, rest)) => self.emit_divergent_if(rest, cells, members, lower),
            Some((FlowLayer::Loop, rest)) => self.emit_divergent_loop(rest, cells, members, lower),
            Some((FlowLayer::Call, rest)) => self.emit_call_of_cells(rest, cells, members, lower),
        }
    }

    fn emit_cells(&mut self, cells: &[CoverageCell], members: OptionalActiveLanes) -> Vec<ProgramNode> {
        let (r, d) = (self.scratch_register('r'), self.scratch_register('d'));
        let (a, b) = (self.random.next_below(4), self.random.next_below(3));
        // Uniform values may also come from where not all lanes are.
        let mut nodes = vec![fixed_line(format!(
            "add.u32 {r}, %ur{a}, {};\nadd.u64 {d}, %ud{b}, {};",
            self.random.next_below(9),
            self.random.next_below(9)
        ))];
        self.uniform_registers = vec![('r', r), ('d', d)];
        for &cell in cells {
            nodes.push(self.emit_cell(cell, members.as_ref()));
            if self.random.chance_one_in(3) {
                let place = GenContext { function: true, ..GenContext::default() };
                nodes.extend(self.random_node_sequence(&place, 1));
            }
        }
        self.uniform_registers.clear();
        nodes
    }

    fn emit_divergent_if(
        &mut self,
        rest: &[FlowLayer],
        cells: &[CoverageCell],
        members: OptionalActiveLanes,
        lower: bool,
    ) -> Vec<ProgramNode> {
        let (p, end) = (self.scratch_register('p'), self.new_label());
        let mut nodes = vec![];
        nodes.push(fixed_line(match (lower, self.random.next_below(3)) {
            (true, _) => format!("setp.lt.u32 {p}, %lane, {};", 1 + self.random.next_below(32)),
            (_, 0) => format!("setp.ne.u32 {p}, %lane, {};", self.random.next_below(32)),
            (_, 1) => format!("mov.pred {p}, {};", self.pool_register('p')),
            _ => format!("setp.lt.s32 {p}, {}, {};", self.pool_register('r'), self.pool_register('r')),
        }));
        let members = members.map(|here| {
            let mask = self.scratch_register('r');
            nodes.push(fixed_line(format!("vote.sync.ballot.b32 {mask}, {p}, {};", here.mask)));
            ActiveLanes { mask, lower: lower && here.lower, whole: false }
        });
        nodes.push(fixed_line(format!("@!{p} bra {end};")));
        nodes.extend(self.emit_flow_layers(rest, cells, members, lower));
        if self.random.chance_one_in(3) {
            let (over, place) = (self.new_label(), GenContext { function: true, ..GenContext::default() });
            nodes.push(fixed_line(format!("bra {over};\n{end}:")));
            nodes.extend(self.random_node_sequence(&place, 1));
            nodes.push(fixed_line(format!("{over}:")));
        } else {
            nodes.push(fixed_line(format!("{end}:")));
        }
        nodes
    }

    /// A loop whose lanes leave it one after another, the test at its end or at its beginning.
    fn emit_divergent_loop(
        &mut self,
        rest: &[FlowLayer],
        cells: &[CoverageCell],
        members: OptionalActiveLanes,
        lower: bool,
    ) -> Vec<ProgramNode> {
        let (count, again, head, end) =
            (self.scratch_register('r'), self.scratch_register('p'), self.new_label(), self.new_label());
        let from = if self.random.chance_one_in(2) { self.pool_register('r') } else { "%lane".to_owned() };
        let mut nodes = vec![fixed_line(match lower {
            true => format!("shr.u32 {count}, %lane, 3;\nsub.u32 {count}, 4, {count};"),
            false => format!("and.b32 {count}, {from}, 3;\nadd.u32 {count}, {count}, 1;"),
        })];
        let members = members.map(|here| {
            let mask = self.scratch_register('r');
            nodes.push(fixed_line(format!("mov.b32 {mask}, {};", here.mask)));
            ActiveLanes { mask, lower: lower && here.lower, whole: false }
        });
        let vote = |ActiveLanes { mask, .. }: &ActiveLanes| format!("\nvote.sync.ballot.b32 {mask}, {again}, {mask};");
        let vote = members.as_ref().map_or(String::new(), vote);
        let at_head = self.random.chance_one_in(3);
        nodes.push(fixed_line(format!("{head}:")));
        if at_head {
            nodes.push(fixed_line(format!("setp.ne.u32 {again}, {count}, 0;{vote}\n@!{again} bra {end};")));
        }
        // The index of nvcc's loops: it differs from lane to lane.
        let index = self.pool_register('r');
        nodes.push(removable_line(format!("add.u32 {index}, {index}, {count};")));
        nodes.extend(self.emit_flow_layers(rest, cells, members, lower));
        nodes.push(fixed_line(match at_head {
            true => format!("sub.u32 {count}, {count}, 1;\nbra {head};\n{end}:"),
            false => format!(
                "sub.u32 {count}, {count}, 1;\nsetp.ne.u32 {again}, {count}, 0;{vote}\n@{again} bra {head};\n{end}:"
            ),
        }));
        nodes
    }

    /// A call of a function of its own.
    fn emit_call_of_cells(
        &mut self,
        rest: &[FlowLayer],
        cells: &[CoverageCell],
        members: OptionalActiveLanes,
        lower: bool,
    ) -> Vec<ProgramNode> {
        let mask = members.as_ref().map_or("0", |here| here.mask.as_str()).to_owned();
        let inside = members.map(|here| ActiveLanes { mask: "%mask".to_owned(), ..here });
        let name = self.emit_function_of_cells(rest, cells, inside, lower);
        let a = if self.random.chance_one_in(2) { self.uniform_register('r') } else { self.pool_register('r') };
        let (b, dst) = (self.pool_register('d'), self.pool_register('r'));
        vec![fixed_line(format!(
            "{{ .param .b32 pa; .param .b64 pb; .param .b64 ps; .param .b64 pt; .param .b64 pc; .param .b32 pl; .param .b32 pm; .param .b32 pr;\n\
             st.param.b32 [pa], {a};\nst.param.b64 [pb], {b};\nst.param.b64 [ps], %slot;\nst.param.b64 [pt], %in;\n\
             st.param.b64 [pc], %counters;\nst.param.b32 [pl], %lin;\nst.param.b32 [pm], {mask};\n\
             call (pr), {name}, (pa, pb, ps, pt, pc, pl, pm);\nld.param.b32 {dst}, [pr]; }}"
        ))]
    }

    fn emit_function_of_cells(
        &mut self,
        rest: &[FlowLayer],
        cells: &[CoverageCell],
        members: OptionalActiveLanes,
        lower: bool,
    ) -> String {
        let name = self.new_label().replace('$', "covering");
        let outside = std::mem::take(&mut self.n_scratch);
        let fresh = std::mem::take(&mut self.uniform_registers);
        let mut nodes = vec![fixed_line(
            "ld.param.b32 %u0, [a];\nld.param.b64 %u2, [b];\nld.param.b64 %slot, [s];\nld.param.b64 %in, [t];\n\
             ld.param.b64 %counters, [c];\nld.param.b32 %lin, [l];\nld.param.b32 %mask, [m];\nmov.u32 %u1, %u0;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %gid, %tx;\nmov.u32 %lane, %laneid;",
        )];
        self.emit_function_register_values(&mut nodes);
        nodes.extend(self.emit_flow_layers(rest, cells, members, lower));
        nodes.push(fixed_line(format!("st.param.b32 [result], {};\nret;\n}}", self.pool_register('r'))));
        let head = format!(
            ".func (.param .b32 result) {name}(.param .b32 a, .param .b64 b, .param .b64 s, .param .b64 t, .param .b64 c, .param .b32 l, .param .b32 m)\n{{"
        );
        let mut all = vec![fixed_line(head), self.register_declarations()];
        all.extend(self.emit_local_memory_initialization());
        all.extend(nodes);
        self.functions.push(ProgramNode::Block(all));
        (self.n_scratch, self.uniform_registers) = (outside, fresh);
        name
    }
}
