//! Loads, stores and atomics whose address or operand is of a kind.

use super::{CoverageCell, InstClass, MemorySpace, OperandKind};
use crate::generate::generator::{ProgramGenerator, fixed_line};
use crate::generate::memory::{ATOMIC_OPS, LOCAL_BYTES, SHARED_SLOT_BYTES, TABLE_BYTES};
use crate::generate::{INPUT_BYTES, ProgramNode, THREAD_SLOT_BYTES};

/// Updates that commute, each of which has its own [`COUNTERS_PER_UPDATE`] counters of 8 bytes.
pub(crate) const COMMUTING_UPDATES: [&str; 12] = [
    "add.u32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32", "add.u64", "min.s64",
    "max.u64", "xor.b64",
];
/// Counters of an update.
pub(crate) const COUNTERS_PER_UPDATE: usize = 8;

/// Where memory begins and how far it goes.
struct BaseAddress {
    /// A symbol or register.
    name: String,
    size: usize,
    space: &'static str,
}

impl ProgramGenerator {
    /// Memory that the thread may read, or write too.
    fn emit_memory_base(&mut self, memory: MemorySpace, written: bool, before: &mut String) -> BaseAddress {
        let base = |name: &str, size, space| BaseAddress { name: name.to_owned(), size, space };
        match memory {
            MemorySpace::Local => base("lslot", LOCAL_BYTES, ".local"),
            MemorySpace::Const => base("ctable", TABLE_BYTES, ".const"),
            MemorySpace::Shared if !written && self.random.chance_one_in(2) => base("stable", TABLE_BYTES, ".shared"),
            MemorySpace::Shared => {
                let letter = if self.random.chance_one_in(2) { 'r' } else { 'd' };
                let at = self.scratch_register(letter);
                *before += &match letter {
                    'r' => format!("mov.u32 {at}, sslots;\nmad.lo.u32 {at}, %lin, {SHARED_SLOT_BYTES}, {at};\n"),
                    _ => format!("mov.u64 {at}, sslots;\nmad.wide.u32 {at}, %lin, {SHARED_SLOT_BYTES}, {at};\n"),
                };
                base(&at, SHARED_SLOT_BYTES, ".shared")
            }
            _ => match self.random.next_below(if written { 1 } else { 3 }) {
                0 => base("%slot", THREAD_SLOT_BYTES, ".global"),
                1 => base("%in", INPUT_BYTES, ".global"),
                _ => base("gtable", TABLE_BYTES, ".global"),
            },
        }
    }

    /// An address in the base, at an offset of a kind, and its space; `before` makes it.
    fn emit_address(
        &mut self,
        base: &BaseAddress,
        kind: OperandKind,
        align: usize,
        before: &mut String,
    ) -> (String, &'static str) {
        let generic = self.random.chance_one_in(4);
        if kind == OperandKind::Constant && !generic {
            let at = self.random.next_below(base.size / align) * align;
            return (format!("{}+{at}", base.name), base.space);
        }
        let short = base.name.starts_with("%xr");
        let (offset, at) = (self.scratch_register('r'), self.scratch_register(if short { 'r' } else { 'd' }));
        let mask = (base.size - 1) & !(align - 1);
        let from = match kind {
            OperandKind::Constant => self.random.next_below(256).to_string(),
            OperandKind::Uniform => self.uniform_register('r'),
            OperandKind::Varying if self.random.chance_one_in(3) => "%lin".to_owned(),
            OperandKind::Varying => self.pool_register('r'),
        };
        let scale = if self.random.chance_one_in(2) { align } else { 1 };
        *before += &format!("mul.lo.u32 {offset}, {from}, {scale};\nand.b32 {offset}, {offset}, {mask};\n");
        if short {
            *before += &format!("add.u32 {at}, {}, {offset};\n", base.name);
            return (at, base.space);
        }
        *before += &format!("mov.u64 {at}, {};\n", base.name);
        if generic && base.space != ".global" {
            *before += &format!("cvta{}.u64 {at}, {at};\n", base.space);
        }
        let wide = self.scratch_register('d');
        *before += &format!("cvt.u64.u32 {wide}, {offset};\nadd.s64 {at}, {at}, {wide};\n");
        (at, if generic { "" } else { base.space })
    }

    pub(super) fn emit_load_cell(&mut self, cell: CoverageCell) -> (ProgramNode, String) {
        let mut before = String::new();
        let shape = self.random_access_shape();
        let base = self.emit_memory_base(cell.memory, false, &mut before);
        let (address, space) = self.emit_address(&base, cell.kind, shape.bytes, &mut before);
        let (guard, dst) = (self.random_guard(), self.access_registers(&shape, true));
        let nc = if space == ".global" && base.name == "%in" && self.random.chance_one_in(2) { ".nc" } else { "" };
        let text = format!("ld{space}{nc}.{} {dst}, [{address}];", shape.suffix);
        (ProgramNode::Group(vec![fixed_line(format!("{before}{guard}{text}"))]), text)
    }

    pub(super) fn emit_store_cell(&mut self, cell: CoverageCell) -> (ProgramNode, String) {
        let mut before = String::new();
        let base = self.emit_memory_base(cell.memory, true, &mut before);
        let mut shape = self.random_access_shape();
        // Narrow stores `ptxas` may get wrong.
        while self.target.real && shape.bytes / shape.n < 4 || cell.kind == OperandKind::Constant && shape.n > 1 {
            shape = self.random_access_shape();
        }
        let bits = 8 * (shape.bytes / shape.n) as u32;
        let float = shape.suffix.contains('f');
        let values = (0..shape.n).map(|_| self.operand_of_kind(cell.kind, shape.letter, (bits, float))).collect();
        let values = super::super::memory::braced_registers(&shape, values);
        let address = [OperandKind::Constant, OperandKind::Uniform, OperandKind::Varying][self.random.next_below(3)];
        let (address, space) = self.emit_address(&base, address, shape.bytes, &mut before);
        let (guard, text) = (self.random_guard(), format!("st{space}.{} [{address}], {values};", shape.suffix));
        (ProgramNode::Group(vec![fixed_line(format!("{before}{guard}{text}"))]), text)
    }

    /// An atomic update.
    pub(super) fn emit_atomic_cell(&mut self, cell: CoverageCell) -> (ProgramNode, String) {
        // What threads share only unread updates may change, and shared memory only while its counters are read.
        let common = cell.class != InstClass::Atom && self.random.chance_one_in(2);
        if common && !(cell.memory == MemorySpace::Shared && self.some_may_have_exited) {
            self.emit_shared_counter_atomic(cell)
        } else {
            self.emit_thread_memory_atomic(cell)
        }
    }

    /// The destination of an atomic, after its name.
    fn atomic_destination(&mut self, class: InstClass, letter: char) -> (&'static str, String) {
        match class {
            InstClass::Red => ("red", String::new()),
            InstClass::Atom => ("atom", format!("{}, ", self.pool_register(letter))),
            _ if self.random.chance_one_in(3) => ("atom", "_, ".to_owned()),
            _ => ("atom", format!("{}, ", self.scratch_register(letter))),
        }
    }

    /// An update of the thread's own memory.
    fn emit_thread_memory_atomic(&mut self, cell: CoverageCell) -> (ProgramNode, String) {
        let fits = |(op, n): (&str, usize)| {
            let third = op.starts_with("cas") || op.starts_with("exch");
            let half = op.contains("f16") || n == 2;
            // The driver of an H200 adds only the low half of `f16x2` in shared memory.
            !(cell.class == InstClass::Red && third
                || cell.kind == OperandKind::Constant && half
                || cell.memory == MemorySpace::Shared && op.ends_with("f16x2"))
        };
        let ops: Vec<_> = ATOMIC_OPS.iter().copied().filter(|&op| fits(op)).collect();
        let (op, n) = ops[self.random.next_below(ops.len())];
        let letter = ['h', 'r', 'd'][n.ilog2() as usize - 1];
        let mut before = String::new();
        let base = self.emit_memory_base(cell.memory, true, &mut before);
        let address = [OperandKind::Constant, OperandKind::Uniform, OperandKind::Varying][self.random.next_below(3)];
        let (address, space) = self.emit_address(&base, address, n, &mut before);
        let as_number = (8 * n as u32, op.contains(".f"));
        let b = self.operand_of_kind(cell.kind, letter, as_number);
        let third = if op.starts_with("cas") {
            format!(", {}", self.operand_of_kind(cell.kind, letter, as_number))
        } else {
            String::new()
        };
        let (name, dst) = self.atomic_destination(cell.class, letter);
        let (guard, sem) = (self.random_guard(), self.pick_str(&["", "", ".relaxed.cta"]));
        let text = format!("{name}{sem}{space}.{op} {dst}[{address}], {b}{third};");
        (ProgramNode::Group(vec![fixed_line(format!("{before}{guard}{text}"))]), text)
    }

    /// An update of what the threads of a block or of the grid share, whose old value nobody reads.
    fn emit_shared_counter_atomic(&mut self, cell: CoverageCell) -> (ProgramNode, String) {
        let which = self.random.next_below(COMMUTING_UPDATES.len());
        let op = COMMUTING_UPDATES[which];
        let letter = if op.ends_with("64") { 'd' } else { 'r' };
        let (mut before, at, size) = (String::new(), which * COUNTERS_PER_UPDATE * 8, COUNTERS_PER_UPDATE * 8);
        let kind = [OperandKind::Constant, OperandKind::Uniform, OperandKind::Varying, OperandKind::Varying]
            [self.random.next_below(4)];
        let base = match cell.memory {
            MemorySpace::Shared => {
                self.counts_in_shared = true;
                BaseAddress { name: "scount".to_owned(), size, space: ".shared" }
            }
            _ => BaseAddress { name: "%counters".to_owned(), size, space: ".global" },
        };
        let (address, space) = self.emit_address(&base, kind, 8, &mut before);
        let address = match kind == OperandKind::Constant && address.starts_with(&base.name) {
            true => format!("{}+{}", base.name, at + 8 * self.random.next_below(COUNTERS_PER_UPDATE)),
            false => format!("{address}+{at}"),
        };
        let b = self.operand_of_kind(cell.kind, letter, (if letter == 'd' { 64 } else { 32 }, false));
        let (name, dst) = self.atomic_destination(cell.class, letter);
        let guard = self.random_guard();
        let text = format!("{name}{space}.{op} {dst}[{address}], {b};");
        (ProgramNode::Group(vec![fixed_line(format!("{before}{guard}{text}"))]), text)
    }
}
