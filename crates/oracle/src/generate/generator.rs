//! The generator: registers, plain instructions, and the choice among constructs.

use super::coverage::{CoverageCell, OperandKind, operand_may_be_immediate};
use super::instruction_forms::{INSTRUCTION_FAMILIES, InstForm, parse_instruction_forms};
use super::surfaces::SurfaceRole;
use super::{
    GenerationTarget, N_16_BIT_REGISTERS, N_32_BIT_REGISTERS, N_64_BIT_REGISTERS, N_PREDICATE_REGISTERS, ProgramNode,
    hardware_filter,
};
use crate::random::Random;
use crate::texture::TextureObject;
use std::collections::BTreeSet;

/// What holds at a place of the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct GenContext {
    /// All threads of the block are here together.
    pub(crate) all_threads_here: bool,
    /// Nested constructs that may still be opened.
    pub(crate) depth: usize,
    /// Labels of ends of constructs that any thread may jump to.
    pub(crate) exits: Vec<String>,
    /// Inside a device function.
    pub(crate) function: bool,
}

/// State of the generation.
pub(crate) struct ProgramGenerator {
    pub(crate) random: Random,
    pub(crate) target: GenerationTarget,
    pub(crate) full_warps: bool,
    /// Threads of a block.
    pub(crate) threads: u32,
    families: Vec<(u32, Vec<Vec<InstForm>>)>,
    n_labels: usize,
    /// Scratch registers in use, by class.
    pub(crate) n_scratch: [usize; 4],
    /// Device functions and their text.
    pub(crate) functions: Vec<ProgramNode>,
    pub(crate) n_functions: usize,
    /// Whether some threads may have left the kernel.
    pub(crate) some_may_have_exited: bool,
    /// Which cells of the coverage the program has, with their instructions.
    pub(crate) cells: BTreeSet<(CoverageCell, String)>,
    /// Registers of this construct that have the same value in all lanes.
    pub(crate) uniform_registers: Vec<(char, String)>,
    /// Whether counters in shared memory were updated since they were last read.
    pub(crate) counts_in_shared: bool,
    /// Texture and surface objects, and what is done with surfaces.
    pub(crate) objects: Vec<TextureObject>,
    pub(crate) roles: Vec<SurfaceRole>,
}

/// Which class of registers a letter means.
fn register_class_index(letter: char) -> usize {
    match letter {
        'p' => 0,
        'h' | 'H' => 1,
        'd' | 'D' | 'G' => 3,
        _ => 2,
    }
}

const REGISTER_LETTERS: [&str; 4] = ["p", "h", "r", "d"];
pub(crate) const REGISTER_POOL_SIZES: [usize; 4] =
    [N_PREDICATE_REGISTERS, N_16_BIT_REGISTERS, N_32_BIT_REGISTERS, N_64_BIT_REGISTERS];

pub(crate) fn removable_line(text: impl Into<String>) -> ProgramNode {
    ProgramNode::Line(text.into())
}

pub(crate) fn fixed_line(text: impl Into<String>) -> ProgramNode {
    ProgramNode::Fixed(text.into())
}

impl ProgramGenerator {
    pub(crate) fn new(
        random: Random,
        target: GenerationTarget,
        block: [u32; 3],
        objects: Vec<TextureObject>,
    ) -> ProgramGenerator {
        let families = INSTRUCTION_FAMILIES.iter().map(|(weight, lines)| {
            let forms =
                lines.iter().map(|l| parse_instruction_forms(l)).filter(|f| f[0].capability <= target.capability);
            let fitting = forms.map(|row| {
                row.into_iter().filter(|f| !target.real || hardware_filter::is_correct_on_hardware(f)).collect()
            });
            (*weight, fitting.filter(|row: &Vec<InstForm>| !row.is_empty()).collect())
        });
        let mut made = ProgramGenerator {
            random,
            target,
            full_warps: block.iter().product::<u32>() % 32 == 0,
            threads: block.iter().product(),
            families: families.collect(),
            n_labels: 0,
            n_scratch: [0; 4],
            functions: vec![],
            n_functions: 0,
            some_may_have_exited: false,
            cells: BTreeSet::new(),
            uniform_registers: vec![],
            counts_in_shared: false,
            roles: vec![],
            objects: vec![],
        };
        made.roles = objects.iter().map(|o| made.surface_role(o)).collect();
        made.objects = objects;
        made
    }

    pub(crate) fn new_label(&mut self) -> String {
        self.n_labels += 1;
        format!("$L{}", self.n_labels)
    }

    /// A register that nothing else uses.
    pub(crate) fn scratch_register(&mut self, letter: char) -> String {
        let class = register_class_index(letter);
        self.n_scratch[class] += 1;
        format!("%x{}{}", REGISTER_LETTERS[class], self.n_scratch[class] - 1)
    }

    /// A register of the pool.
    pub(crate) fn pool_register(&mut self, letter: char) -> String {
        let class = register_class_index(letter);
        format!("%{}{}", REGISTER_LETTERS[class], self.random.next_below(REGISTER_POOL_SIZES[class]))
    }

    pub(crate) fn random_immediate(&mut self, bits: u32) -> String {
        let value = self.random.edge_case_bits(bits);
        match bits {
            64 => (value as i64).to_string(),
            _ if self.random.chance_one_in(2) => format!("{value:#x}"),
            _ => (value as i64 - if value >> (bits - 1) != 0 { 1 << bits } else { 0 }).to_string(),
        }
    }

    /// An operand after its description; a source may have to be of a kind.
    fn random_operand(&mut self, token: &str, kind: Option<OperandKind>) -> String {
        if let Some(inner) = token.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let parts: Vec<String> = inner.split(',').map(|t| self.random_operand(t, kind)).collect();
            return format!("{{{}}}", parts.join(", "));
        }
        if let Some((first, second)) = token.split_once('|') {
            return format!("{}|{}", self.random_operand(first, kind), self.random_operand(second, kind));
        }
        if let Some((register, part)) = token.split_once('.') {
            return format!("{}.{part}", self.random_operand(register, kind));
        }
        let constant = match kind {
            Some(OperandKind::Uniform) if token.starts_with(|c: char| c.is_alphabetic() && c != 'I' || c == '!') => {
                let letter = token.to_ascii_lowercase().chars().next();
                return self.uniform_register(match letter {
                    Some('!') => 'p',
                    Some('g') => 'd',
                    Some(letter) => letter,
                    None => 'r',
                });
            }
            Some(kind) => kind == OperandKind::Constant,
            None => self.random.chance_one_in(4),
        };
        let token = token.trim_start_matches('=');
        let letter = token.chars().next().unwrap_or('_');
        match letter {
            '!' if constant => format!("!{}", self.pool_register('p')),
            '!' => self.pool_register('p'),
            'H' if constant => self.random_immediate(16),
            'R' if constant => self.random_immediate(32),
            'D' if constant => self.random_immediate(64),
            'F' if constant => format!("0f{:08X}", self.random.edge_case_bits(32)),
            'G' if constant => format!("0d{:016X}", self.random.edge_case_bits(64)),
            'S' if constant || kind.is_none() && self.random.chance_one_in(2) => self.random.next_below(70).to_string(),
            'N' if constant || kind.is_none() && self.random.chance_one_in(2) => self.random.next_below(32).to_string(),
            'I' => self.random.next_below(32).to_string(),
            '#' => self.random.next_below(256).to_string(),
            '_' => "_".to_owned(),
            other => self.pool_register(other),
        }
    }

    /// A plain instruction without guard, and lines before it.
    fn random_instruction(&mut self) -> (String, String) {
        self.random_instruction_of_family(None)
    }

    /// One of a family whose last source, and some of the others, are of a kind.
    pub(crate) fn random_instruction_of_family(&mut self, wanted: Option<(usize, OperandKind)>) -> (String, String) {
        let weights: Vec<u32> = self.families.iter().map(|f| f.0).collect();
        let family = wanted.map_or_else(|| self.random.weighted_index(&weights), |(family, _)| family);
        let mut row = self.random.next_below(self.families[family].1.len());
        while wanted.is_some_and(|(_, kind)| kind == OperandKind::Constant)
            && !operand_may_be_immediate(&self.families[family].1[row][0].operands)
        {
            row = self.random.next_below(self.families[family].1.len());
        }
        let form = self.random.next_below(self.families[family].1[row].len());
        let InstForm { opcode, operands, .. } = self.families[family].1[row][form].clone();
        let mut texts: Vec<String> = vec![];
        let last =
            operands.iter().rposition(|token| !token.starts_with(['#', 'I', '=', '{'])).unwrap_or(operands.len() - 1);
        for (i, token) in operands.iter().enumerate() {
            let constant = wanted.is_some_and(|(_, kind)| kind == OperandKind::Constant);
            let of_kind = i == last || constant || self.random.chance_one_in(2);
            let kind = wanted.filter(|_| of_kind).map(|(_, kind)| kind);
            let mut text = self.random_operand(token, kind);
            // What is written at once must be different registers.
            while token.starts_with(['{', '=']) && has_repeated_register(&text) && token.matches('=').count() > 1 {
                text = self.random_operand(token, kind);
            }
            texts.push(text);
        }
        let before = if self.target.real { self.replace_unsafe_operands(&opcode, &mut texts) } else { String::new() };
        (before, format!("{opcode} {};", texts.join(", ")))
    }

    /// `@p ` in some cases.
    pub(crate) fn random_guard(&mut self) -> String {
        match self.random.next_below(12) {
            0 => format!("@{} ", self.pool_register('p')),
            1 => format!("@!{} ", self.pool_register('p')),
            _ => String::new(),
        }
    }

    fn emit_random_instruction(&mut self) -> ProgramNode {
        let guard = self.random_guard();
        let (before, text) = self.random_instruction();
        let guard = if self.target.real && hardware_filter::must_not_be_guarded(&text) { String::new() } else { guard };
        removable_line(format!("{before}{guard}{text}"))
    }

    /// A chain of additions, subtractions or products with a carry.
    fn emit_carry_chain(&mut self) -> ProgramNode {
        let (ty, r) = [("u32", 'r'), ("s32", 'r'), ("u64", 'd'), ("s64", 'd')][self.random.next_below(4)];
        let ops: &[&str] = match self.random.next_below(3) {
            0 => &["add.cc", "addc.cc", "addc"],
            1 => &["sub.cc", "subc.cc", "subc"],
            _ => &["mad.lo.cc", "madc.hi.cc", "addc"],
        };
        let n = 2 + self.random.next_below(3);
        let mut nodes = vec![];
        for i in 0..n {
            let op = if i == 0 {
                ops[0]
            } else if i + 1 == n {
                ops[2]
            } else {
                ops[1]
            };
            let n_sources = if op.starts_with("mad") { 3 } else { 2 };
            let sources: Vec<String> = (0..n_sources).map(|_| self.pool_register(r)).collect();
            let dst = self.pool_register(r);
            nodes.push(fixed_line(format!("{op}.{ty} {dst}, {};", sources.join(", "))));
            if self.random.chance_one_in(4) && i + 1 < n {
                nodes.push(self.emit_random_instruction());
            }
        }
        ProgramNode::Group(nodes)
    }

    /// A register that is written again and again from itself: loops make inductions of it.
    fn emit_induction_update(&mut self) -> ProgramNode {
        let (r, d) = (self.pool_register('r'), self.pool_register('d'));
        let k = self.random.next_below(40) as i64 - 8;
        let texts = [
            format!("add.s32 {r}, {r}, {k};"),
            format!("add.s64 {d}, {d}, {k};"),
            format!("mad.lo.s32 {r}, {r}, {k}, {};", self.pool_register('r')),
            format!("shl.b32 {r}, {r}, 1;"),
        ];
        removable_line(texts[self.random.next_below(texts.len())].clone())
    }

    /// Values that lie one after another from lane to lane, and ones that nearly do.
    fn emit_affine_values(&mut self) -> ProgramNode {
        let (r, d, k) = (self.pool_register('r'), self.pool_register('d'), self.random.next_below(24));
        let base = ["%lin", "%tx", "%gid", "%lane"][self.random.next_below(4)];
        let offset = match self.random.next_below(5) {
            0 => format!("{:#x}", 0xffff_ffffu32 - self.random.next_below(256) as u32),
            1 => format!("{:#x}", 0x7fff_ffffu32 - self.random.next_below(256) as u32),
            2 => "%u0".to_owned(),
            3 => "%u1".to_owned(),
            _ => self.random.next_below(100).to_string(),
        };
        let widen = ["cvt.u64.u32", "cvt.s64.s32"][self.random.next_below(2)];
        let wide = ["mul.wide.u32", "mul.wide.s32"][self.random.next_below(2)];
        let texts = [
            vec![format!("mad.lo.u32 {r}, {base}, {k}, {offset};")],
            vec![format!("mad.lo.u32 {r}, {base}, {k}, {offset};"), format!("{widen} {d}, {r};")],
            vec![format!("add.u32 {r}, {base}, {offset};"), format!("{wide} {d}, {r}, {k};")],
            vec![
                format!("sub.s32 {r}, {base}, {offset};"),
                format!("shl.b32 {r}, {r}, {};", k % 8),
                format!("{widen} {d}, {r};"),
            ],
            vec![format!("{wide} {d}, {base}, {k};"), format!("add.s64 {d}, {d}, %u2;")],
            vec![
                format!("add.u32 {r}, {base}, {offset};"),
                format!("{widen} {d}, {r};"),
                format!("shl.b64 {d}, {d}, {};", k % 8),
            ],
        ];
        let texts = &texts[self.random.next_below(texts.len())];
        ProgramNode::Block(texts.iter().map(removable_line).collect())
    }

    /// A sequence of about `n` constructs.
    pub(crate) fn random_node_sequence(&mut self, place: &GenContext, n: usize) -> Vec<ProgramNode> {
        (0..n).map(|_| self.random_node(place)).collect()
    }

    fn random_node(&mut self, place: &GenContext) -> ProgramNode {
        let nested = if place.depth > 0 { 1 } else { 0 };
        let warp = if place.function || self.some_may_have_exited { 0 } else { 1 };
        let together = u32::from(place.all_threads_here && !self.some_may_have_exited);
        let exits = u32::from(!place.exits.is_empty());
        let weights = [
            60,
            4,
            5,
            4,
            22,
            6 * nested,
            5 * nested,
            if self.target.real { 0 } else { 2 * nested },
            2 * nested,
            (if place.all_threads_here { 8 } else { 4 }) * warp,
            3 * together,
            exits * 2,
            3 * u32::from(!place.function),
            4 * nested,
            if place.function || self.objects.is_empty() { 0 } else { 25 },
            5,
            if place.function { 0 } else { 14 },
        ];
        match self.random.weighted_index(&weights) {
            0 => self.emit_random_instruction(),
            1 => self.emit_carry_chain(),
            2 => self.emit_affine_values(),
            3 => self.emit_induction_update(),
            4 => self.emit_memory_access(place),
            5 => self.emit_if_else(place),
            6 => self.emit_counted_loop(place),
            7 => self.emit_irreducible_loop(place),
            8 => self.emit_brx_switch(place),
            9 => self.emit_warp_operation(place),
            10 => self.emit_shared_exchange(),
            11 => self.emit_jump_to_construct_end(place),
            12 => self.emit_device_call(),
            13 => self.emit_stride_loop(place),
            14 => self.emit_object_access(),
            16 => self.emit_coverage_block(place),
            _ => self.emit_lane_index_uses(place),
        }
    }
}

/// Whether a register stands twice in a list.
fn has_repeated_register(text: &str) -> bool {
    let names: Vec<&str> = text.split(|c: char| "{}|, ".contains(c)).filter(|w| w.starts_with('%')).collect();
    names.iter().enumerate().any(|(i, n)| names[..i].contains(n))
}
