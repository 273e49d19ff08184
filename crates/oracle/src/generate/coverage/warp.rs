//! Shuffles, votes and their like with operands of a kind, among the lanes that are there.

use super::control_flow::ActiveLanes;
use super::{InstClass, OperandKind};
use crate::generate::ProgramNode;
use crate::generate::generator::{ProgramGenerator, fixed_line, removable_line};

impl ProgramGenerator {
    /// A shuffle from lanes that take part.
    pub(super) fn emit_shuffle_cell(&mut self, kind: OperandKind, here: &ActiveLanes) -> (ProgramNode, String) {
        let mask = &here.mask;
        let (d, p) = (self.pool_register('r'), self.pool_register('p'));
        let dst = if self.random.chance_one_in(2) { format!("{d}|{p}") } else { d };
        let from = if self.random.chance_one_in(3) { OperandKind::Uniform } else { OperandKind::Varying };
        let a = self.operand_of_kind(from, 'r', (32, false));
        let mode = if here.whole { ["up", "down", "bfly", "idx"][self.random.next_below(4)] } else { "up" };
        let clamp = if mode == "up" { 0 } else { 31 };
        if here.lower {
            let b = match kind {
                OperandKind::Constant => self.random.next_below(33).to_string(),
                kind => self.operand_of_kind(kind, 'r', (32, false)),
            };
            let text = match kind == OperandKind::Constant && self.random.chance_one_in(3) {
                true => format!("shfl.sync.idx.b32 {dst}, {a}, 0, 31, {mask};"),
                false => format!("shfl.sync.{mode}.b32 {dst}, {a}, {b}, {clamp}, {mask};"),
            };
            return (removable_line(text.clone()), text);
        }
        // The first of the members, or the lane itself.
        let [first, lane] = std::array::from_fn(|_| self.scratch_register('r'));
        let text = format!("shfl.sync.idx.b32 {dst}, {a}, {lane}, 31, {mask};");
        let node = fixed_line(format!(
            "brev.b32 {first}, {mask};\nclz.b32 {first}, {first};\nselp.b32 {lane}, {first}, %lane, {};\n{text}",
            self.pool_register('p')
        ));
        (ProgramNode::Group(vec![node]), text)
    }

    /// `vote`, `match` or `redux` of a value of this kind.
    pub(super) fn emit_vote_cell(&mut self, class: InstClass, kind: OperandKind, mask: &str) -> (ProgramNode, String) {
        let (q, r) = (self.pool_register('p'), self.pool_register('r'));
        let (p, a, d) = (
            self.operand_of_kind(kind, 'p', (1, false)),
            self.operand_of_kind(kind, 'r', (32, false)),
            self.operand_of_kind(kind, 'd', (64, false)),
        );
        let not = if self.random.chance_one_in(3) { "!" } else { "" };
        let n = self.random.next_below(4);
        let text = match class {
            InstClass::Vote => match ["all", "any", "uni"].get(n) {
                Some(mode) => format!("vote.sync.{mode}.pred {q}, {not}{p}, {mask};"),
                None => format!("vote.sync.ballot.b32 {r}, {not}{p}, {mask};"),
            },
            InstClass::Match => [
                format!("match.any.sync.b32 {r}, {a}, {mask};"),
                format!("match.any.sync.b64 {r}, {d}, {mask};"),
                format!("match.all.sync.b32 {r}|{q}, {a}, {mask};"),
                format!("match.all.sync.b64 {r}|{q}, {d}, {mask};"),
            ][n]
                .clone(),
            _ => {
                let op = ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"][self.random.next_below(6)];
                format!("redux.sync.{op} {r}, {a}, {mask};")
            }
        };
        (removable_line(text.clone()), text)
    }
}
