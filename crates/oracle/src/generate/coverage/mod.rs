//! Coverage of the product of instruction class, kind of operand, control flow and memory: what chance reaches
//! rarely or never is made directly, and what a program has of it is recorded.
//!
//! A register of the pool soon differs from lane to lane. Operands that are the same in all lanes but no constant
//! need registers of their own (`%uh %ur %ud %up`), which only the beginning of a kernel or function writes.

mod access;
mod flow;
mod shared;
mod warp;

pub(crate) use access::{BINS, COMMUTING};
pub(crate) use shared::variables;

use super::Node;
use super::body::{GenContext, Generator, line};
use super::forms::{FAMILIES, forms_of};

/// What an operand is to the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An immediate.
    Constant,
    /// A register with one value in all lanes.
    Uniform,
    /// A register with any values.
    Varying,
}

/// The control flow around an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Flow {
    Straight,
    If,
    Loop,
    LoopInIf,
    IfInLoop,
    Call,
    CallInIf,
    CallInLoop,
}

/// The memory that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Memory {
    None,
    Global,
    Shared,
    Local,
    Const,
}

/// A class of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
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
#[allow(missing_docs)]
pub struct Cell {
    pub class: Class,
    pub kind: Kind,
    pub flow: Flow,
    pub memory: Memory,
}

const KINDS: [Kind; 3] = [Kind::Constant, Kind::Uniform, Kind::Varying];
const FLOWS: [Flow; 8] = [
    Flow::Straight,
    Flow::If,
    Flow::Loop,
    Flow::LoopInIf,
    Flow::IfInLoop,
    Flow::Call,
    Flow::CallInIf,
    Flow::CallInLoop,
];

impl Class {
    fn all() -> impl Iterator<Item = Class> {
        use Class::*;
        let others = [Load, Store, Atom, AtomDeadResult, Red, Shuffle, Vote, Match, Redux];
        (0..FAMILIES.len()).map(Plain).chain(others)
    }

    /// Whether the lanes of a warp do it together.
    fn is_collective(self) -> bool {
        matches!(self, Class::Shuffle | Class::Vote | Class::Match | Class::Redux)
    }

    fn memories(self) -> &'static [Memory] {
        match self {
            Class::Load => &[Memory::Global, Memory::Shared, Memory::Local, Memory::Const],
            Class::Store => &[Memory::Global, Memory::Shared, Memory::Local],
            Class::Atom | Class::AtomDeadResult | Class::Red => &[Memory::Global, Memory::Shared],
            _ => &[Memory::None],
        }
    }

    /// Whether one of its operands may be an immediate.
    fn has_constants(self) -> bool {
        match self {
            Class::Plain(family) => FAMILIES[family].1.iter().any(|text| takes_constant(&forms_of(text)[0].operands)),
            other => !matches!(other, Class::Vote | Class::Match | Class::Redux),
        }
    }

    fn weight(self) -> u32 {
        match self {
            Class::Plain(family) => FAMILIES[family].0,
            _ => 12,
        }
    }
}

/// Whether a source among these operands may be an immediate.
pub(super) fn takes_constant(operands: &[String]) -> bool {
    operands.iter().any(|token| token.starts_with(['H', 'R', 'D', 'F', 'G', 'S', 'N']))
}

impl Cell {
    /// All cells that PTX allows.
    pub fn all() -> Vec<Cell> {
        let mut out = vec![];
        for class in Class::all() {
            for kind in KINDS.into_iter().filter(|&k| k != Kind::Constant || class.has_constants()) {
                for flow in FLOWS {
                    out.extend(class.memories().iter().map(|&memory| Cell { class, kind, flow, memory }));
                }
            }
        }
        out
    }
}

impl Generator {
    /// Some instructions of random classes and kinds of operands in one control flow.
    pub(crate) fn covered(&mut self, place: &GenContext) -> Node {
        let flow = FLOWS[self.random.below(FLOWS.len())];
        let mask = (place.all_threads_here && !self.some_may_have_exited).then(|| {
            let literal = self.random.one_in(3) && (self.full_warps || !self.target.real);
            if literal { "0xffffffff" } else { "%mask" }.to_owned()
        });
        let n = 1 + self.random.below(3);
        let cells: Vec<Cell> = (0..n).map(|_| self.cell(flow, mask.is_some())).collect();
        Node::Group(self.in_flow(&cells, mask))
    }

    fn cell(&mut self, flow: Flow, collective: bool) -> Cell {
        let classes: Vec<Class> = Class::all().filter(|c| collective || !c.is_collective()).collect();
        let weights: Vec<u32> = classes.iter().map(|c| c.weight()).collect();
        let class = classes[self.random.weighted(&weights)];
        let kinds = if class.has_constants() { &KINDS[..] } else { &KINDS[1..] };
        let kind = kinds[self.random.below(kinds.len())];
        let memories = class.memories();
        Cell { class, kind, flow, memory: memories[self.random.below(memories.len())] }
    }

    /// The instruction of a cell; `members` are the lanes that are here, if that is known.
    fn instruction_of(&mut self, cell: Cell, members: Option<&flow::ActiveLanes>) -> Node {
        let (node, text) = match (cell.class, members) {
            (Class::Plain(family), _) => self.plain_of(family, cell.kind),
            (Class::Shuffle, Some(here)) => self.shuffle_of(cell.kind, here),
            (Class::Vote | Class::Match | Class::Redux, Some(here)) => self.vote_of(cell.class, cell.kind, &here.mask),
            (Class::Load, _) => self.load_of(cell),
            (Class::Store, _) => self.store_of(cell),
            _ => self.update_of(cell),
        };
        self.cells.insert((cell, text));
        node
    }

    fn plain_of(&mut self, family: usize, kind: Kind) -> (Node, String) {
        let guard = self.guard();
        let (before, text) = self.instruction_with(Some((family, kind)));
        let guard = if self.target.real && super::hardware_filter::unguarded(&text) { String::new() } else { guard };
        (line(format!("{before}{guard}{text}")), text)
    }

    /// A register that has the same value in all lanes.
    pub(crate) fn uniform(&mut self, letter: char) -> String {
        if let Some((_, fresh)) = self.uniform_registers.iter().find(|(l, _)| *l == letter)
            && self.random.one_in(2)
        {
            return fresh.clone();
        }
        match letter {
            'p' => format!("%up{}", self.random.below(2)),
            'h' => format!("%uh{}", self.random.below(3)),
            'd' => format!("%ud{}", self.random.below(3)),
            _ => format!("%ur{}", self.random.below(4)),
        }
    }

    /// A register, or an immediate of that many bits, integer or float.
    fn value_of(&mut self, kind: Kind, letter: char, (bits, float): (u32, bool)) -> String {
        match (kind, bits) {
            (Kind::Constant, 64) if float => format!("0d{:016X}", self.random.interesting(64)),
            (Kind::Constant, _) if float => format!("0f{:08X}", self.random.interesting(32)),
            (Kind::Constant, bits) => self.number(bits),
            (Kind::Uniform, _) => self.uniform(letter),
            (Kind::Varying, _) => self.reg(letter),
        }
    }

    /// First values of the uniform registers.
    pub(crate) fn uniform_values(&mut self, function: bool) -> Vec<Node> {
        let [i, j, k] = std::array::from_fn(|_| 8 * self.random.below(32));
        let (a, b) = (self.random.below(9), self.random.below(40));
        // A function's parameters may differ from lane to lane.
        let (parameter, wide) = if function { ("%ntid.x", "%ur2") } else { ("%u1", "%u0") };
        let loaded = if function { "ld.const.u32 %ur1, [ctable" } else { "ld.global.u32 %ur1, [%in" };
        let texts = [
            "mov.u32 %ur0, %ctaid.x;".to_owned(),
            format!("{loaded}+{i}];"),
            format!("mov.u32 %ur2, {parameter};\nmul.lo.u32 %ur3, %ur2, {a};\nadd.u32 %ur3, %ur3, {b};"),
            format!("cvt.u64.u32 %ud0, %ur0;\nld.const.u64 %ud1, [ctable+{j}];\nmul.wide.s32 %ud2, {wide}, {b};"),
            format!("cvt.u16.u32 %uh0, %ur1;\nld.global.u16 %uh1, [gtable+{k}];\ncvt.u16.u32 %uh2, %ur2;"),
            format!("setp.gt.u32 %up0, %ur0, {};\nsetp.lt.s32 %up1, %ur1, %ur3;", self.random.below(2)),
        ];
        texts.map(super::body::fixed).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Class, Kind, Memory};
    use crate::Target;
    use crate::generate::generate_covering;
    use std::collections::BTreeMap;

    /// Seeds that reach all cells.
    const SEEDS: u64 = 3000;

    /// Whether an instruction is what its cell says.
    fn fits(cell: Cell, text: &str) -> bool {
        let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
        let name = match cell.class {
            Class::Plain(_) => "",
            Class::Load => "ld",
            Class::Store => "st",
            Class::Atom | Class::AtomDeadResult => "atom",
            Class::Red => "red.",
            Class::Shuffle => "shfl.sync",
            Class::Vote => "vote.sync",
            Class::Match => "match.",
            Class::Redux => "redux.sync",
        };
        let spaces = ["global", "shared", "local", "const"];
        let named = spaces.iter().position(|space| opcode.split('.').any(|word| word == *space));
        let memories = [Memory::Global, Memory::Shared, Memory::Local, Memory::Const];
        let space = named.is_none_or(|i| memories[i] == cell.memory);
        let operand = match (cell.class, cell.kind) {
            (Class::Load, _) | (_, Kind::Varying) => true,
            (_, Kind::Constant) => {
                operands.split([',', ' ', ';']).any(|w| w.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
            }
            (_, Kind::Uniform) => operands.contains("%u") || operands.contains("%x"),
        };
        opcode.starts_with(name) && space && operand
    }

    #[test]
    fn every_cell_is_made() {
        for real in [false, true] {
            let mut counts: BTreeMap<Cell, usize> = Cell::all().into_iter().map(|cell| (cell, 0)).collect();
            for seed in 0..SEEDS {
                let capability = if seed % 2 == 0 { 80 } else { 90 };
                let (program, cells) = generate_covering(seed, Target { capability, real });
                let whole = program.text();
                for (cell, text) in cells {
                    assert!(whole.contains(&text), "seed {seed} has no {text}");
                    assert!(fits(cell, &text), "seed {seed}: {cell:?} is {text}");
                    *counts.get_mut(&cell).unwrap_or_else(|| panic!("{cell:?} is none that PTX allows")) += 1;
                }
            }
            let missing: Vec<&Cell> = counts.iter().filter(|(_, n)| **n == 0).map(|(cell, _)| cell).collect();
            assert_eq!(missing, Vec::<&Cell>::new());
            assert!(counts.len() >= 680, "{} cells", counts.len());
            println!("{} cells, the rarest {} times in {SEEDS} programs", counts.len(), counts.values().min().unwrap());
        }
    }
}
