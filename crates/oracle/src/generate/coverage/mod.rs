//! Coverage of the product of instruction class, kind of operand, control flow and memory: what chance reaches
//! rarely or never is made directly, and what a program has of it is recorded.
//!
//! A register of the pool soon differs from lane to lane. Operands that are the same in all lanes but no constant
//! need registers of their own (`%uh %ur %ud %up`), which only the beginning of a kernel or function writes.

mod control_flow;
mod memory_access;
mod shared_memory;
mod warp;

pub(crate) use memory_access::{COMMUTING_UPDATES, COUNTERS_PER_UPDATE};
pub(crate) use shared_memory::shared_variable_declarations;

use super::ProgramNode;
use super::generator::{GenContext, ProgramGenerator, removable_line};
use super::instruction_forms::{INSTRUCTION_FAMILIES, parse_instruction_forms};

/// What an operand is to the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperandKind {
    /// An immediate.
    Constant,
    /// A register with one value in all lanes.
    Uniform,
    /// A register with any values.
    Varying,
}

/// The control flow around an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlFlow {
    /// Code without branches.
    Straight,
    /// Within an `if`.
    If,
    /// Within a loop.
    Loop,
    /// Within a loop in an `if`.
    LoopInIf,
    /// Within an `if` in a loop.
    IfInLoop,
    /// Within a called function.
    Call,
    /// Within a function called in an `if`.
    CallInIf,
    /// Within a function called in a loop.
    CallInLoop,
}

/// The memory that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemorySpace {
    /// None.
    None,
    /// Global memory.
    Global,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
    /// Constant memory.
    Const,
}

/// A class of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstClass {
    /// One of the families of plain instructions, by number.
    Plain(usize),
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom` whose result is used.
    Atom,
    /// `atom` whose result nobody reads.
    AtomDeadResult,
    /// `red`
    Red,
    /// `shfl.sync`
    Shuffle,
    /// `vote.sync`
    Vote,
    /// `match.sync`
    Match,
    /// `redux.sync`
    Redux,
}

/// One cell of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoverageCell {
    /// What it is.
    pub class: InstClass,
    /// What its operands have in common over the warp.
    pub kind: OperandKind,
    /// Where it is.
    pub flow: ControlFlow,
    /// What it accesses.
    pub memory: MemorySpace,
}

const OPERAND_KINDS: [OperandKind; 3] = [OperandKind::Constant, OperandKind::Uniform, OperandKind::Varying];
const CONTROL_FLOWS: [ControlFlow; 8] = [
    ControlFlow::Straight,
    ControlFlow::If,
    ControlFlow::Loop,
    ControlFlow::LoopInIf,
    ControlFlow::IfInLoop,
    ControlFlow::Call,
    ControlFlow::CallInIf,
    ControlFlow::CallInLoop,
];

impl InstClass {
    fn all_classes() -> impl Iterator<Item = InstClass> {
        use InstClass::*;
        let others = [Load, Store, Atom, AtomDeadResult, Red, Shuffle, Vote, Match, Redux];
        (0..INSTRUCTION_FAMILIES.len()).map(Plain).chain(others)
    }

    /// Whether the lanes of a warp do it together.
    fn is_collective(self) -> bool {
        matches!(self, InstClass::Shuffle | InstClass::Vote | InstClass::Match | InstClass::Redux)
    }

    fn allowed_memory_spaces(self) -> &'static [MemorySpace] {
        match self {
            InstClass::Load => &[MemorySpace::Global, MemorySpace::Shared, MemorySpace::Local, MemorySpace::Const],
            InstClass::Store => &[MemorySpace::Global, MemorySpace::Shared, MemorySpace::Local],
            InstClass::Atom | InstClass::AtomDeadResult | InstClass::Red => &[MemorySpace::Global, MemorySpace::Shared],
            _ => &[MemorySpace::None],
        }
    }

    /// Whether one of its operands may be an immediate.
    fn may_have_immediate(self) -> bool {
        match self {
            InstClass::Plain(family) => INSTRUCTION_FAMILIES[family]
                .1
                .iter()
                .any(|text| operand_may_be_immediate(&parse_instruction_forms(text)[0].operands)),
            other => !matches!(other, InstClass::Vote | InstClass::Match | InstClass::Redux),
        }
    }

    fn class_weight(self) -> u32 {
        match self {
            InstClass::Plain(family) => INSTRUCTION_FAMILIES[family].0,
            _ => 12,
        }
    }
}

/// Whether a source among these operands may be an immediate.
pub(super) fn operand_may_be_immediate(operands: &[String]) -> bool {
    operands.iter().any(|token| token.starts_with(['H', 'R', 'D', 'F', 'G', 'S', 'N']))
}

impl CoverageCell {
    /// All cells that PTX allows.
    pub fn all_cells() -> Vec<CoverageCell> {
        let mut out = vec![];
        for class in InstClass::all_classes() {
            for kind in OPERAND_KINDS.into_iter().filter(|&k| k != OperandKind::Constant || class.may_have_immediate())
            {
                for flow in CONTROL_FLOWS {
                    out.extend(class.allowed_memory_spaces().iter().map(|&memory| CoverageCell {
                        class,
                        kind,
                        flow,
                        memory,
                    }));
                }
            }
        }
        out
    }
}

impl ProgramGenerator {
    /// Some instructions of random classes and kinds of operands in one control flow.
    pub(crate) fn emit_coverage_block(&mut self, place: &GenContext) -> ProgramNode {
        let flow = CONTROL_FLOWS[self.random.next_below(CONTROL_FLOWS.len())];
        let mask = (place.all_threads_here && !self.some_may_have_exited).then(|| {
            let literal = self.random.chance_one_in(3) && (self.full_warps || !self.target.real);
            if literal { "0xffffffff" } else { "%mask" }.to_owned()
        });
        let n = 1 + self.random.next_below(3);
        let cells: Vec<CoverageCell> = (0..n).map(|_| self.random_cell(flow, mask.is_some())).collect();
        ProgramNode::Group(self.emit_cells_in_flow(&cells, mask))
    }

    fn random_cell(&mut self, flow: ControlFlow, collective: bool) -> CoverageCell {
        let classes: Vec<InstClass> = InstClass::all_classes().filter(|c| collective || !c.is_collective()).collect();
        let weights: Vec<u32> = classes.iter().map(|c| c.class_weight()).collect();
        let class = classes[self.random.weighted_index(&weights)];
        let kinds = if class.may_have_immediate() { &OPERAND_KINDS[..] } else { &OPERAND_KINDS[1..] };
        let kind = kinds[self.random.next_below(kinds.len())];
        let memories = class.allowed_memory_spaces();
        CoverageCell { class, kind, flow, memory: memories[self.random.next_below(memories.len())] }
    }

    /// The instruction of a cell; `members` are the lanes that are here, if that is known.
    fn emit_cell(&mut self, cell: CoverageCell, members: Option<&control_flow::ActiveLanes>) -> ProgramNode {
        let (node, text) = match (cell.class, members) {
            (InstClass::Plain(family), _) => self.emit_plain_cell(family, cell.kind),
            (InstClass::Shuffle, Some(here)) => self.emit_shuffle_cell(cell.kind, here),
            (InstClass::Vote | InstClass::Match | InstClass::Redux, Some(here)) => {
                self.emit_vote_cell(cell.class, cell.kind, &here.mask)
            }
            (InstClass::Load, _) => self.emit_load_cell(cell),
            (InstClass::Store, _) => self.emit_store_cell(cell),
            _ => self.emit_atomic_cell(cell),
        };
        self.cells.insert((cell, text));
        node
    }

    fn emit_plain_cell(&mut self, family: usize, kind: OperandKind) -> (ProgramNode, String) {
        let guard = self.random_guard();
        let (before, text) = self.random_instruction_of_family(Some((family, kind)));
        let guard =
            if self.target.real && super::hardware_filter::must_not_be_guarded(&text) { String::new() } else { guard };
        (removable_line(format!("{before}{guard}{text}")), text)
    }

    /// A register that has the same value in all lanes.
    pub(crate) fn uniform_register(&mut self, letter: char) -> String {
        if let Some((_, fresh)) = self.uniform_registers.iter().find(|(l, _)| *l == letter)
            && self.random.chance_one_in(2)
        {
            return fresh.clone();
        }
        match letter {
            'p' => format!("%up{}", self.random.next_below(2)),
            'h' => format!("%uh{}", self.random.next_below(3)),
            'd' => format!("%ud{}", self.random.next_below(3)),
            _ => format!("%ur{}", self.random.next_below(4)),
        }
    }

    /// A register, or an immediate of that many bits, integer or float.
    fn operand_of_kind(&mut self, kind: OperandKind, letter: char, (bits, float): (u32, bool)) -> String {
        match (kind, bits) {
            (OperandKind::Constant, 64) if float => format!("0d{:016X}", self.random.edge_case_bits(64)),
            (OperandKind::Constant, _) if float => format!("0f{:08X}", self.random.edge_case_bits(32)),
            (OperandKind::Constant, bits) => self.random_immediate(bits),
            (OperandKind::Uniform, _) => self.uniform_register(letter),
            (OperandKind::Varying, _) => self.pool_register(letter),
        }
    }

    /// First values of the uniform registers.
    pub(crate) fn emit_uniform_register_values(&mut self, function: bool) -> Vec<ProgramNode> {
        let [i, j, k] = std::array::from_fn(|_| 8 * self.random.next_below(32));
        let (a, b) = (self.random.next_below(9), self.random.next_below(40));
        // A function's parameters may differ from lane to lane.
        let (parameter, wide) = if function { ("%ntid.x", "%ur2") } else { ("%u1", "%u0") };
        let loaded = if function { "ld.const.u32 %ur1, [ctable" } else { "ld.global.u32 %ur1, [%in" };
        let texts = [
            "mov.u32 %ur0, %ctaid.x;".to_owned(),
            format!("{loaded}+{i}];"),
            format!("mov.u32 %ur2, {parameter};\nmul.lo.u32 %ur3, %ur2, {a};\nadd.u32 %ur3, %ur3, {b};"),
            format!("cvt.u64.u32 %ud0, %ur0;\nld.const.u64 %ud1, [ctable+{j}];\nmul.wide.s32 %ud2, {wide}, {b};"),
            format!("cvt.u16.u32 %uh0, %ur1;\nld.global.u16 %uh1, [gtable+{k}];\ncvt.u16.u32 %uh2, %ur2;"),
            format!("setp.gt.u32 %up0, %ur0, {};\nsetp.lt.s32 %up1, %ur1, %ur3;", self.random.next_below(2)),
        ];
        texts.map(super::generator::fixed_line).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{CoverageCell, InstClass, MemorySpace, OperandKind};
    use crate::GenerationTarget;
    use crate::generate::generate_program_with_coverage;
    use std::collections::BTreeMap;

    /// Seeds that reach all cells.
    const SEED_COUNT: u64 = 3000;

    /// Whether an instruction is what its cell says.
    fn instruction_matches_cell(cell: CoverageCell, text: &str) -> bool {
        let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
        let name = match cell.class {
            InstClass::Plain(_) => "",
            InstClass::Load => "ld",
            InstClass::Store => "st",
            InstClass::Atom | InstClass::AtomDeadResult => "atom",
            InstClass::Red => "red.",
            InstClass::Shuffle => "shfl.sync",
            InstClass::Vote => "vote.sync",
            InstClass::Match => "match.",
            InstClass::Redux => "redux.sync",
        };
        let spaces = ["global", "shared", "local", "const"];
        let named = spaces.iter().position(|space| opcode.split('.').any(|word| word == *space));
        let memories = [MemorySpace::Global, MemorySpace::Shared, MemorySpace::Local, MemorySpace::Const];
        let space = named.is_none_or(|i| memories[i] == cell.memory);
        let operand = match (cell.class, cell.kind) {
            (InstClass::Load, _) | (_, OperandKind::Varying) => true,
            (_, OperandKind::Constant) => {
                operands.split([',', ' ', ';']).any(|w| w.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
            }
            (_, OperandKind::Uniform) => operands.contains("%u") || operands.contains("%x"),
        };
        opcode.starts_with(name) && space && operand
    }

    #[test]
    fn every_coverage_cell_is_generated() {
        for real in [false, true] {
            let mut counts: BTreeMap<CoverageCell, usize> =
                CoverageCell::all_cells().into_iter().map(|cell| (cell, 0)).collect();
            for seed in 0..SEED_COUNT {
                let capability = if seed % 2 == 0 { 80 } else { 90 };
                let (program, cells) = generate_program_with_coverage(seed, GenerationTarget { capability, real });
                let whole = program.ptx_text();
                for (cell, text) in cells {
                    assert!(whole.contains(&text), "seed {seed} has no {text}");
                    assert!(instruction_matches_cell(cell, &text), "seed {seed}: {cell:?} is {text}");
                    *counts.get_mut(&cell).unwrap_or_else(|| panic!("{cell:?} is none that PTX allows")) += 1;
                }
            }
            let missing: Vec<&CoverageCell> = counts.iter().filter(|(_, n)| **n == 0).map(|(cell, _)| cell).collect();
            assert_eq!(missing, Vec::<&CoverageCell>::new());
            assert!(counts.len() >= 680, "{} cells", counts.len());
            println!(
                "{} cells, the rarest {} times in {SEED_COUNT} programs",
                counts.len(),
                counts.values().min().unwrap()
            );
        }
    }
}
