//! The generator: registers, plain instructions, and the frame of kernel and functions.

use super::coverage::{CoverageCell, OperandKind, operand_may_be_immediate};
use super::instruction_forms::{INSTRUCTION_FAMILIES, InstForm, parse_instruction_forms};
use super::surfaces::SurfaceRole;
use super::{
    GenerationTarget, N_16_BIT_REGISTERS, N_32_BIT_REGISTERS, N_64_BIT_REGISTERS, N_PREDICATE_REGISTERS, ProgramNode,
    RESULT_BYTES, THREAD_SLOT_BYTES, hardware_filter,
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
const REGISTER_POOL_SIZES: [usize; 4] =
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

    // ---- kernel and functions ----

    /// The whole module.
    pub(crate) fn module_nodes(&mut self) -> Vec<ProgramNode> {
        self.n_functions = 0;
        for _ in 0..self.random.next_below(3) {
            let function = self.emit_device_function();
            self.functions.push(function);
            self.n_functions += 1;
        }
        let kernel = self.kernel_node();
        let version = if self.target.capability >= 90 { "8.3" } else { "8.0" };
        let mut nodes =
            vec![fixed_line(format!(".version {version}\n.target sm_{}\n.address_size 64", self.target.capability))];
        nodes.extend(self.table_declarations());
        nodes.append(&mut self.functions);
        nodes.push(kernel);
        nodes
    }

    pub(crate) fn register_declarations(&self) -> ProgramNode {
        let [p, h, r, d] = self.n_scratch.map(|n| n + 1);
        fixed_line(format!(
            ".reg .pred %p<{N_PREDICATE_REGISTERS}>, %xp<{p}>;\n.reg .b16 %h<{N_16_BIT_REGISTERS}>, %xh<{h}>;\n.reg .b32 %r<{N_32_BIT_REGISTERS}>, %xr<{r}>;\n.reg .b64 %d<{N_64_BIT_REGISTERS}>, %xd<{d}>;\n\
             .reg .pred %up<2>;\n.reg .b16 %uh<3>;\n.reg .b32 %ur<4>;\n.reg .b64 %ud<3>;\n.reg .b32 %lin, %tx, %gid, %lane, %u0, %u1, %threads, %mask;\n.reg .b64 %u2, %in, %slot, %out, %counters;"
        ))
    }

    fn kernel_node(&mut self) -> ProgramNode {
        self.n_scratch = [0; 4];
        let mut nodes = vec![];
        self.emit_kernel_prologue(&mut nodes);
        if !self.objects.is_empty() {
            let loads: String = (0..self.objects.len()).map(|i| format!("\nld.param.u64 %o{i}, [o{i}];")).collect();
            nodes.push(fixed_line(format!(".reg .b64 %o<{}>;{loads}", self.objects.len())));
        }
        self.emit_initial_register_values(&mut nodes);
        nodes.extend(self.emit_uniform_register_values(false));
        nodes.push(self.emit_shared_initialization());
        let place = GenContext { all_threads_here: true, depth: 3, ..GenContext::default() };
        for _ in 0..2 + self.random.next_below(4) {
            let n = 3 + self.random.next_below(8);
            nodes.extend(self.random_node_sequence(&place, n));
            if self.random.chance_one_in(12) {
                nodes.extend(self.emit_counter_readback());
                // Some lanes leave, so that the results of the others are still seen.
                let (p, k) = (self.scratch_register('p'), self.random.next_below(40));
                let how = ["ret", "exit"][self.random.next_below(2)];
                nodes.push(removable_line(format!("setp.eq.u32 {p}, %lane, {k};\n@{p} {how};")));
                self.some_may_have_exited = true;
            }
            if self.random.chance_one_in(8) {
                self.emit_early_exit(&mut nodes);
            }
        }
        nodes.extend(self.emit_counter_readback());
        nodes.push(self.emit_thread_memory_readback());
        self.emit_register_stores(&mut nodes);
        let handles: String = (0..self.objects.len()).map(|i| format!(", .param .u64 o{i}")).collect();
        let mut all = vec![
            fixed_line(format!(
                ".visible .entry {}(.param .u64 in, .param .u64 out, .param .u64 slots, .param .u64 counters, .param .u32 u0, .param .u32 u1, .param .u64 u2{handles})\n{{",
                super::KERNEL_NAME
            )),
            self.register_declarations(),
        ];
        all.extend(self.emit_local_memory_initialization());
        all.extend(nodes);
        all.push(fixed_line("ret;\n}"));
        ProgramNode::Block(all)
    }

    /// Threads beyond a bound leave, in most cases only if some stay; else what they have so far is seen.
    fn emit_early_exit(&mut self, nodes: &mut Vec<ProgramNode>) {
        nodes.extend(self.emit_counter_readback());
        if !self.some_may_have_exited && !self.random.chance_one_in(4) {
            let leave = self.emit_exit_beyond_bound_unless_all();
            nodes.push(leave);
        } else {
            self.emit_register_stores(nodes);
            let leave = self.emit_exit_beyond_bound();
            nodes.push(leave);
        }
        self.some_may_have_exited = true;
    }

    /// Who the thread is and where its memory lies.
    fn emit_kernel_prologue(&mut self, nodes: &mut Vec<ProgramNode>) {
        nodes.push(fixed_line(format!(
            "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nld.param.u64 %slot, [slots];\nld.param.u64 %counters, [counters];\n\
             ld.param.u32 %u0, [u0];\nld.param.u32 %u1, [u1];\nld.param.u64 %u2, [u2];\n\
             {{ .reg .b32 %a, %b; .reg .b64 %c;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %a, %tid.z;\nmov.u32 %b, %ntid.y;\nmov.u32 %lin, %tid.y;\nmad.lo.u32 %lin, %a, %b, %lin;\n\
             mov.u32 %threads, %ntid.x;\nmad.lo.u32 %lin, %lin, %threads, %tx;\nmul.lo.u32 %threads, %threads, %b;\nmov.u32 %b, %ntid.z;\n\
             mul.lo.u32 %threads, %threads, %b;\nmov.u32 %a, %ctaid.z;\nmov.u32 %b, %nctaid.y;\nmov.u32 %gid, %ctaid.y;\n\
             mad.lo.u32 %gid, %a, %b, %gid;\nmov.u32 %b, %nctaid.x;\nmov.u32 %a, %ctaid.x;\nmad.lo.u32 %gid, %gid, %b, %a;\n\
             mad.lo.u32 %gid, %gid, %threads, %lin;\nmov.u32 %lane, %laneid;\n\
             mul.wide.u32 %c, %gid, {THREAD_SLOT_BYTES};\nadd.s64 %slot, %slot, %c;\nmul.wide.u32 %c, %gid, {RESULT_BYTES};\nadd.s64 %out, %out, %c;\n\
             and.b32 %a, %lin, -32;\nsub.u32 %a, %threads, %a;\nmov.u32 %b, 1;\nshl.b32 %b, %b, %a;\nsub.u32 %mask, %b, 1; }}"
        )));
    }

    /// First values of all registers of the pool: the same in all threads, one after another, or any.
    fn emit_initial_register_values(&mut self, nodes: &mut Vec<ProgramNode>) {
        for i in 0..N_32_BIT_REGISTERS {
            let value = match self.random.next_below(9) {
                0 => format!("mov.u32 %r{i}, {};", self.random_immediate(32)),
                1 => format!("mov.u32 %r{i}, {};", ["%u0", "%u1", "%threads"][self.random.next_below(3)]),
                2 => format!("mov.u32 %r{i}, {};", ["%lin", "%tx", "%gid", "%lane"][self.random.next_below(4)]),
                3 => format!("mad.lo.u32 %r{i}, %lin, {}, {};", self.random.next_below(20), self.random_immediate(32)),
                4 => {
                    let special = [
                        "%ctaid.x",
                        "%tid.y",
                        "%tid.z",
                        "%ntid.x",
                        "%nctaid.y",
                        "%lanemask_lt",
                        "%lanemask_ge",
                        "%ctaid.y",
                    ];
                    format!("mov.u32 %r{i}, {};", special[self.random.next_below(8)])
                }
                _ => format!("ld.global.u32 %r{i}, [%slot+{}];", 4 * self.random.next_below(THREAD_SLOT_BYTES / 4)),
            };
            nodes.push(removable_line(value));
        }
        if self.random.chance_one_in(6) {
            // All threads are still together.
            nodes.push(removable_line("activemask.b32 %r0;"));
        }
        for i in 0..N_64_BIT_REGISTERS {
            let value = match self.random.next_below(7) {
                0 => format!("mov.u64 %d{i}, {};", self.random_immediate(64)),
                1 => format!("mov.u64 %d{i}, %u2;"),
                2 => format!("mul.wide.s32 %d{i}, %lin, {};", self.random.next_below(40) as i64 - 10),
                3 => format!("cvt.u64.u32 %d{i}, %r{};", self.random.next_below(N_32_BIT_REGISTERS)),
                _ => format!("ld.global.u64 %d{i}, [%slot+{}];", 8 * self.random.next_below(THREAD_SLOT_BYTES / 8)),
            };
            nodes.push(removable_line(value));
        }
        for i in 0..N_16_BIT_REGISTERS {
            let value = match self.random.next_below(4) {
                0 => format!("mov.u16 %h{i}, {};", self.random_immediate(16)),
                1 => format!("cvt.u16.u32 %h{i}, %r{};", self.random.next_below(N_32_BIT_REGISTERS)),
                _ => format!("ld.global.u16 %h{i}, [%slot+{}];", 2 * self.random.next_below(THREAD_SLOT_BYTES / 2)),
            };
            nodes.push(removable_line(value));
        }
        for i in 0..N_PREDICATE_REGISTERS {
            let cmp = ["lt", "ge", "eq", "ne"][self.random.next_below(4)];
            let value = match self.random.next_below(4) {
                0 => format!("setp.{cmp}.u32 %p{i}, %u1, {};", self.random.next_below(64)),
                1 => format!("setp.{cmp}.u32 %p{i}, %lin, {};", self.random.next_below(64)),
                _ => format!(
                    "setp.{cmp}.s32 %p{i}, %r{}, %r{};",
                    self.random.next_below(N_32_BIT_REGISTERS),
                    self.random.next_below(N_32_BIT_REGISTERS)
                ),
            };
            nodes.push(removable_line(value));
        }
    }

    /// Stores the registers of the pool.
    fn emit_register_stores(&mut self, nodes: &mut Vec<ProgramNode>) {
        let mut at = 0;
        for (class, &n) in REGISTER_POOL_SIZES.iter().enumerate() {
            for i in 0..n {
                nodes.push(match class {
                    0 => ProgramNode::Group(vec![
                        fixed_line(format!("{{ .reg .b32 %a; selp.u32 %a, 1, 0, %p{i};")),
                        fixed_line(format!("st.global.u32 [%out+{at}], %a; }}")),
                    ]),
                    1 => removable_line(format!("st.global.b16 [%out+{at}], %h{i};")),
                    2 => removable_line(format!("st.global.b32 [%out+{at}], %r{i};")),
                    _ => removable_line(format!("st.global.b64 [%out+{at}], %d{i};")),
                });
                at += 8;
            }
        }
    }

    /// A device function `f(b32, b64, slot) -> b32`, which may call itself and those before it.
    fn emit_device_function(&mut self) -> ProgramNode {
        let name = format!("f{}", self.n_functions);
        self.n_scratch = [0; 4];
        let mut nodes = vec![fixed_line(
            "ld.param.b32 %u0, [a];\nld.param.b64 %u2, [b];\nld.param.b64 %slot, [s];\nld.param.b64 %in, [t];\nmov.u32 %u1, %u0;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %lin, %tx;\nmov.u32 %gid, %tx;\nmov.u32 %lane, %laneid;",
        )];
        self.emit_function_register_values(&mut nodes);
        let place = GenContext { depth: 1, function: true, ..GenContext::default() };
        let n = 3 + self.random.next_below(6);
        nodes.extend(self.random_node_sequence(&place, n));
        if self.random.chance_one_in(3) {
            nodes.push(self.emit_recursive_call(&name));
        }
        if self.random.chance_one_in(4) {
            let (p, r) = (self.pool_register('p'), self.pool_register('r'));
            nodes.push(ProgramNode::Group(vec![
                fixed_line(format!("@{p} st.param.b32 [result], {r};")),
                fixed_line(format!("@{p} ret;")),
            ]));
        }
        nodes.push(ProgramNode::Fixed(format!("st.param.b32 [result], {};\nret;\n}}", self.pool_register('r'))));
        let head = format!(
            ".func (.param .b32 result) {name}(.param .b32 a, .param .b64 b, .param .b64 s, .param .b64 t)\n{{"
        );
        let mut all = vec![fixed_line(head), self.register_declarations()];
        all.extend(self.emit_local_memory_initialization());
        all.extend(nodes);
        ProgramNode::Group(all)
    }

    /// First values of the registers of a function.
    pub(crate) fn emit_function_register_values(&mut self, nodes: &mut Vec<ProgramNode>) {
        for i in 0..N_32_BIT_REGISTERS {
            nodes.push(removable_line(match self.random.next_below(3) {
                0 => format!("mov.u32 %r{i}, {};", self.random_immediate(32)),
                1 => format!("mad.lo.u32 %r{i}, %u0, {}, {};", self.random.next_below(9), self.random.next_below(9)),
                _ => format!("ld.global.u32 %r{i}, [%slot+{}];", 4 * self.random.next_below(THREAD_SLOT_BYTES / 4)),
            }));
        }
        for i in 0..N_64_BIT_REGISTERS {
            nodes.push(removable_line(format!("add.u64 %d{i}, %u2, {};", self.random_immediate(64))));
        }
        for i in 0..N_16_BIT_REGISTERS {
            nodes.push(removable_line(format!("cvt.u16.u32 %h{i}, %r{i};")));
        }
        for i in 0..N_PREDICATE_REGISTERS {
            nodes.push(removable_line(format!("setp.lt.u32 %p{i}, %u0, %r{i};")));
        }
        nodes.extend(self.emit_uniform_register_values(true));
    }
}

/// Whether a register stands twice in a list.
fn has_repeated_register(text: &str) -> bool {
    let names: Vec<&str> = text.split(|c: char| "{}|, ".contains(c)).filter(|w| w.starts_with('%')).collect();
    names.iter().enumerate().any(|(i, n)| names[..i].contains(n))
}
