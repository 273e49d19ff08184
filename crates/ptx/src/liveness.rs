//! Which registers are live at the boundaries of blocks, and sets of registers.

use crate::ast::*;
use crate::cfg::BasicBlock;

/// A set of registers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegSet {
    words: Vec<u64>,
}

impl RegSet {
    /// The empty set with room for registers below `n`.
    pub fn new(n: usize) -> Self {
        RegSet { words: vec![0; n.div_ceil(64)] }
    }

    /// Whether the register is in the set.
    pub fn contains_reg(&self, reg: Reg) -> bool {
        self.words.get(reg.index() / 64).is_some_and(|word| word >> (reg.index() % 64) & 1 == 1)
    }

    /// Adds a register; says whether it was new.
    pub fn insert_reg(&mut self, reg: Reg) -> bool {
        let (at, bit) = (reg.index() / 64, 1 << (reg.index() % 64));
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        new
    }

    /// Takes a register out.
    pub fn remove_reg(&mut self, reg: Reg) {
        if let Some(word) = self.words.get_mut(reg.index() / 64) {
            *word &= !(1 << (reg.index() % 64));
        }
    }

    /// Adds all registers of another set of the same room.
    pub fn union_with(&mut self, other: &RegSet) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The registers in ascending order.
    pub fn iter_regs(&self) -> impl Iterator<Item = Reg> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(Reg(at as u32 * 64 + bit))
            })
        })
    }
}

/// Live registers at the boundaries of each block.
#[derive(Debug, Clone)]
pub(crate) struct Liveness {
    pub(crate) live_in: Vec<RegSet>,
    pub(crate) live_out: Vec<RegSet>,
}

impl Liveness {
    /// Solves backwards; `blocks` are numbered against the flow, so few rounds are needed.
    pub(crate) fn new(function: &Function, blocks: &[BasicBlock]) -> Self {
        let n = function.regs.len();
        let effects: Vec<BlockUseDef> = blocks.iter().map(|block| BlockUseDef::from_block(function, block)).collect();
        let mut live_in = vec![RegSet::new(n); blocks.len()];
        let mut live_out = live_in.clone();
        let mut stale = vec![true; blocks.len()];
        let mut again = true;
        while again {
            again = false;
            for id in (0..blocks.len()).rev() {
                if !std::mem::replace(&mut stale[id], false) {
                    continue;
                }
                let mut out = RegSet::new(n);
                blocks[id].successors.iter().for_each(|&to| out.union_with(&live_in[to as usize]));
                let mut into = effects[id].uses.clone();
                for ((word, out), defs) in into.words.iter_mut().zip(&out.words).zip(&effects[id].defs.words) {
                    *word |= out & !defs;
                }
                live_out[id] = out;
                if into != live_in[id] {
                    live_in[id] = into;
                    blocks[id].predecessors.iter().for_each(|&from| stale[from as usize] = true);
                    again = true;
                }
            }
        }
        Liveness { live_in, live_out }
    }
}

/// What a block does to registers as a whole.
struct BlockUseDef {
    /// Read before any write.
    uses: RegSet,
    /// Written for sure.
    defs: RegSet,
}

impl BlockUseDef {
    fn from_block(function: &Function, block: &BasicBlock) -> BlockUseDef {
        let n = function.regs.len();
        let mut effect = BlockUseDef { uses: RegSet::new(n), defs: RegSet::new(n) };
        let returns = function.returns.iter().filter_map(|param| param.reg);
        for statement in function.body.get(block.statement_range()).unwrap_or(&[]) {
            let mut read = |reg: Reg| {
                if !effect.defs.contains_reg(reg) {
                    effect.uses.insert_reg(reg);
                }
            };
            statement.for_each_use(&mut read);
            if matches!(statement.inst, Inst::Ret) {
                returns.clone().for_each(&mut read);
            }
            if statement.guard.is_none() {
                statement.for_each_def(|reg| _ = effect.defs.insert_reg(reg));
            }
        }
        if block.start == block.end || matches!(block.terminator, crate::cfg::Terminator::Exit) {
            let mut read = |reg: Reg| {
                if !effect.defs.contains_reg(reg) {
                    effect.uses.insert_reg(reg);
                }
            };
            returns.for_each(&mut read);
        }
        effect
    }
}
