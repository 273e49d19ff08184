//! Loads, stores and atomics whose address or operand is of a kind.

use super::{Cell, Class, Kind, Memory};
use crate::generate::body::{Generator, fixed};
use crate::generate::memory::{LOCAL, OPS, SHARED_SLOT, TABLE};
use crate::generate::{INPUT, Node, SLOT};

/// Updates that commute, each of which has its own [`BINS`] counters of 8 bytes.
pub(crate) const COMMUTING: [&str; 12] = [
    "add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32", "add.u64", "min.s64",
    "max.u64", "xor.b64",
];
/// Counters of an update.
pub(crate) const BINS: usize = 8;

/// Where memory begins and how far it goes.
struct Base {
    /// A symbol or register.
    name: String,
    size: usize,
    space: &'static str,
}

impl Generator {
    /// Memory that the thread may read, or write too.
    fn base_of(&mut self, memory: Memory, written: bool, before: &mut String) -> Base {
        let base = |name: &str, size, space| Base { name: name.to_owned(), size, space };
        match memory {
            Memory::Local => base("lslot", LOCAL, ".local"),
            Memory::Const => base("ctable", TABLE, ".const"),
            Memory::Shared if !written && self.random.one_in(2) => base("stable", TABLE, ".shared"),
            Memory::Shared => {
                let letter = if self.random.one_in(2) { 'r' } else { 'd' };
                let at = self.scratch(letter);
                *before += &match letter {
                    'r' => format!("mov.u32 {at}, sslots;\nmad.lo.u32 {at}, %lin, {SHARED_SLOT}, {at};\n"),
                    _ => format!("mov.u64 {at}, sslots;\nmad.wide.u32 {at}, %lin, {SHARED_SLOT}, {at};\n"),
                };
                base(&at, SHARED_SLOT, ".shared")
            }
            _ => match self.random.below(if written { 1 } else { 3 }) {
                0 => base("%slot", SLOT, ".global"),
                1 => base("%in", INPUT, ".global"),
                _ => base("gtable", TABLE, ".global"),
            },
        }
    }

    /// An address in the base, at an offset of a kind, and its space; `before` makes it.
    fn address_in(&mut self, base: &Base, kind: Kind, align: usize, before: &mut String) -> (String, &'static str) {
        let generic = self.random.one_in(4);
        if kind == Kind::Constant && !generic {
            let at = self.random.below(base.size / align) * align;
            return (format!("{}+{at}", base.name), base.space);
        }
        let short = base.name.starts_with("%xr");
        let (offset, at) = (self.scratch('r'), self.scratch(if short { 'r' } else { 'd' }));
        let mask = (base.size - 1) & !(align - 1);
        let from = match kind {
            Kind::Constant => self.random.below(256).to_string(),
            Kind::Uniform => self.uniform('r'),
            Kind::Varying if self.random.one_in(3) => "%lin".to_owned(),
            Kind::Varying => self.reg('r'),
        };
        let scale = if self.random.one_in(2) { align } else { 1 };
        *before += &format!("mul.lo.u32 {offset}, {from}, {scale};\nand.b32 {offset}, {offset}, {mask};\n");
        if short {
            *before += &format!("add.u32 {at}, {}, {offset};\n", base.name);
            return (at, base.space);
        }
        *before += &format!("mov.u64 {at}, {};\n", base.name);
        if generic && base.space != ".global" {
            *before += &format!("cvta{}.u64 {at}, {at};\n", base.space);
        }
        let wide = self.scratch('d');
        *before += &format!("cvt.u64.u32 {wide}, {offset};\nadd.s64 {at}, {at}, {wide};\n");
        (at, if generic { "" } else { base.space })
    }

    pub(super) fn load_of(&mut self, cell: Cell) -> (Node, String) {
        let mut before = String::new();
        let shape = self.shape();
        let base = self.base_of(cell.memory, false, &mut before);
        let (address, space) = self.address_in(&base, cell.kind, shape.bytes, &mut before);
        let (guard, dst) = (self.guard(), self.registers(&shape, true));
        let nc = if space == ".global" && base.name == "%in" && self.random.one_in(2) { ".nc" } else { "" };
        let text = format!("ld{space}{nc}.{} {dst}, [{address}];", shape.suffix);
        (Node::Group(vec![fixed(format!("{before}{guard}{text}"))]), text)
    }

    pub(super) fn store_of(&mut self, cell: Cell) -> (Node, String) {
        let mut before = String::new();
        let base = self.base_of(cell.memory, true, &mut before);
        let mut shape = self.shape();
        // Narrow stores `ptxas` may get wrong.
        while self.target.real && shape.bytes / shape.n < 4 || cell.kind == Kind::Constant && shape.n > 1 {
            shape = self.shape();
        }
        let bits = 8 * (shape.bytes / shape.n) as u32;
        let float = shape.suffix.contains('f');
        let values = (0..shape.n).map(|_| self.value_of(cell.kind, shape.letter, (bits, float))).collect();
        let values = super::super::memory::braced(&shape, values);
        let address = [Kind::Constant, Kind::Uniform, Kind::Varying][self.random.below(3)];
        let (address, space) = self.address_in(&base, address, shape.bytes, &mut before);
        let (guard, text) = (self.guard(), format!("st{space}.{} [{address}], {values};", shape.suffix));
        (Node::Group(vec![fixed(format!("{before}{guard}{text}"))]), text)
    }

    /// An atomic update.
    pub(super) fn update_of(&mut self, cell: Cell) -> (Node, String) {
        // What threads share only unread updates may change, and shared memory only while its counters are read.
        let common = cell.class != Class::Atom && self.random.one_in(2);
        if common && !(cell.memory == Memory::Shared && self.some_may_have_exited) {
            self.common_update(cell)
        } else {
            self.own_update(cell)
        }
    }

    /// The destination of an atomic, after its name.
    fn result_of(&mut self, class: Class, letter: char) -> (&'static str, String) {
        match class {
            Class::Red => ("red", String::new()),
            Class::Atom => ("atom", format!("{}, ", self.reg(letter))),
            _ if self.random.one_in(3) => ("atom", "_, ".to_owned()),
            _ => ("atom", format!("{}, ", self.scratch(letter))),
        }
    }

    /// An update of the thread's own memory.
    fn own_update(&mut self, cell: Cell) -> (Node, String) {
        let fits = |(op, n): (&str, usize)| {
            let third = op.starts_with("cas") || op.starts_with("exch");
            let half = op.contains("f16") || n == 2;
            // The driver of an H200 adds only the low half of `f16x2` in shared memory.
            !(cell.class == Class::Red && third
                || cell.kind == Kind::Constant && half
                || cell.memory == Memory::Shared && op.ends_with("f16x2"))
        };
        let ops: Vec<_> = OPS.iter().copied().filter(|&op| fits(op)).collect();
        let (op, n) = ops[self.random.below(ops.len())];
        let letter = ['h', 'r', 'd'][n.ilog2() as usize - 1];
        let mut before = String::new();
        let base = self.base_of(cell.memory, true, &mut before);
        let address = [Kind::Constant, Kind::Uniform, Kind::Varying][self.random.below(3)];
        let (address, space) = self.address_in(&base, address, n, &mut before);
        let as_number = (8 * n as u32, op.contains(".f"));
        let b = self.value_of(cell.kind, letter, as_number);
        let third = if op.starts_with("cas") {
            format!(", {}", self.value_of(cell.kind, letter, as_number))
        } else {
            String::new()
        };
        let (name, dst) = self.result_of(cell.class, letter);
        let (guard, sem) = (self.guard(), self.pick(&["", "", ".relaxed.cta"]));
        let text = format!("{name}{sem}{space}.{op} {dst}[{address}], {b}{third};");
        (Node::Group(vec![fixed(format!("{before}{guard}{text}"))]), text)
    }

    /// An update of what the threads of a block or of the grid share, whose old value nobody reads.
    fn common_update(&mut self, cell: Cell) -> (Node, String) {
        let which = self.random.below(COMMUTING.len());
        let op = COMMUTING[which];
        let letter = if op.ends_with("64") { 'd' } else { 'r' };
        let (mut before, at, size) = (String::new(), which * BINS * 8, BINS * 8);
        let kind = [Kind::Constant, Kind::Uniform, Kind::Varying, Kind::Varying][self.random.below(4)];
        let base = match cell.memory {
            Memory::Shared => {
                self.counts_in_shared = true;
                Base { name: "scount".to_owned(), size, space: ".shared" }
            }
            _ => Base { name: "%counters".to_owned(), size, space: ".global" },
        };
        let (address, space) = self.address_in(&base, kind, 8, &mut before);
        let address = match kind == Kind::Constant && address.starts_with(&base.name) {
            true => format!("{}+{}", base.name, at + 8 * self.random.below(BINS)),
            false => format!("{address}+{at}"),
        };
        let b = self.value_of(cell.kind, letter, (if letter == 'd' { 64 } else { 32 }, false));
        let (name, dst) = self.result_of(cell.class, letter);
        let guard = self.guard();
        let text = format!("{name}{space}.{op} {dst}[{address}], {b};");
        (Node::Group(vec![fixed(format!("{before}{guard}{text}"))]), text)
    }
}
