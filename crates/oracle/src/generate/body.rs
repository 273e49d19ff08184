//! The generator: registers, plain instructions, and the frame of kernel and functions.

use super::coverage::{Cell, Kind, takes_constant};
use super::forms::{FAMILIES, Form, forms_of};
use super::surfaces::Role;
use super::{D, H, Node, P, R, RESULT, SLOT, Target, hardware_filter};
use crate::random::Random;
use crate::texture::Object;
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
pub(crate) struct Generator {
    pub(crate) random: Random,
    pub(crate) target: Target,
    pub(crate) full_warps: bool,
    /// Threads of a block.
    pub(crate) threads: u32,
    families: Vec<(u32, Vec<Vec<Form>>)>,
    n_labels: usize,
    /// Scratch registers in use, by class.
    pub(crate) n_scratch: [usize; 4],
    /// Device functions and their text.
    pub(crate) functions: Vec<Node>,
    pub(crate) n_functions: usize,
    /// Whether some threads may have left the kernel.
    pub(crate) some_may_have_exited: bool,
    /// Which cells of the coverage the program has, with their instructions.
    pub(crate) cells: BTreeSet<(Cell, String)>,
    /// Registers of this construct that have the same value in all lanes.
    pub(crate) uniform_registers: Vec<(char, String)>,
    /// Whether counters in shared memory were updated since they were last read.
    pub(crate) counts_in_shared: bool,
    /// Texture and surface objects, and what is done with surfaces.
    pub(crate) objects: Vec<Object>,
    pub(crate) roles: Vec<Role>,
}

/// Which class of registers a letter means.
fn class(letter: char) -> usize {
    match letter {
        'p' => 0,
        'h' | 'H' => 1,
        'd' | 'D' | 'G' => 3,
        _ => 2,
    }
}

const LETTERS: [&str; 4] = ["p", "h", "r", "d"];
const POOLS: [usize; 4] = [P, H, R, D];

pub(crate) fn line(text: impl Into<String>) -> Node {
    Node::Line(text.into())
}

pub(crate) fn fixed(text: impl Into<String>) -> Node {
    Node::Fixed(text.into())
}

impl Generator {
    pub(crate) fn new(random: Random, target: Target, block: [u32; 3], objects: Vec<Object>) -> Generator {
        let families = FAMILIES.iter().map(|(weight, lines)| {
            let forms = lines.iter().map(|l| forms_of(l)).filter(|f| f[0].capability <= target.capability);
            let fitting =
                forms.map(|row| row.into_iter().filter(|f| !target.real || hardware_filter::fits(f)).collect());
            (*weight, fitting.filter(|row: &Vec<Form>| !row.is_empty()).collect())
        });
        let mut made = Generator {
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
        made.roles = objects.iter().map(|o| made.role(o)).collect();
        made.objects = objects;
        made
    }

    pub(crate) fn label(&mut self) -> String {
        self.n_labels += 1;
        format!("$L{}", self.n_labels)
    }

    /// A register that nothing else uses.
    pub(crate) fn scratch(&mut self, letter: char) -> String {
        let class = class(letter);
        self.n_scratch[class] += 1;
        format!("%x{}{}", LETTERS[class], self.n_scratch[class] - 1)
    }

    /// A register of the pool.
    pub(crate) fn reg(&mut self, letter: char) -> String {
        let class = class(letter);
        format!("%{}{}", LETTERS[class], self.random.below(POOLS[class]))
    }

    pub(crate) fn number(&mut self, bits: u32) -> String {
        let value = self.random.interesting(bits);
        match bits {
            64 => (value as i64).to_string(),
            _ if self.random.one_in(2) => format!("{value:#x}"),
            _ => (value as i64 - if value >> (bits - 1) != 0 { 1 << bits } else { 0 }).to_string(),
        }
    }

    /// An operand after its description; a source may have to be of a kind.
    fn operand(&mut self, token: &str, kind: Option<Kind>) -> String {
        if let Some(inner) = token.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let parts: Vec<String> = inner.split(',').map(|t| self.operand(t, kind)).collect();
            return format!("{{{}}}", parts.join(", "));
        }
        if let Some((first, second)) = token.split_once('|') {
            return format!("{}|{}", self.operand(first, kind), self.operand(second, kind));
        }
        if let Some((register, part)) = token.split_once('.') {
            return format!("{}.{part}", self.operand(register, kind));
        }
        let constant = match kind {
            Some(Kind::Uniform) if token.starts_with(|c: char| c.is_alphabetic() && c != 'I' || c == '!') => {
                let letter = token.to_ascii_lowercase().chars().next();
                return self.uniform(match letter {
                    Some('!') => 'p',
                    Some('g') => 'd',
                    Some(letter) => letter,
                    None => 'r',
                });
            }
            Some(kind) => kind == Kind::Constant,
            None => self.random.one_in(4),
        };
        let token = token.trim_start_matches('=');
        let letter = token.chars().next().unwrap_or('_');
        match letter {
            '!' if constant => format!("!{}", self.reg('p')),
            '!' => self.reg('p'),
            'H' if constant => self.number(16),
            'R' if constant => self.number(32),
            'D' if constant => self.number(64),
            'F' if constant => format!("0f{:08X}", self.random.interesting(32)),
            'G' if constant => format!("0d{:016X}", self.random.interesting(64)),
            'S' if constant || kind.is_none() && self.random.one_in(2) => self.random.below(70).to_string(),
            'N' if constant || kind.is_none() && self.random.one_in(2) => self.random.below(32).to_string(),
            'I' => self.random.below(32).to_string(),
            '#' => self.random.below(256).to_string(),
            '_' => "_".to_owned(),
            other => self.reg(other),
        }
    }

    /// A plain instruction without guard, and lines before it.
    fn instruction(&mut self) -> (String, String) {
        self.instruction_with(None)
    }

    /// One of a family whose last source, and some of the others, are of a kind.
    pub(crate) fn instruction_with(&mut self, wanted: Option<(usize, Kind)>) -> (String, String) {
        let weights: Vec<u32> = self.families.iter().map(|f| f.0).collect();
        let family = wanted.map_or_else(|| self.random.weighted(&weights), |(family, _)| family);
        let mut row = self.random.below(self.families[family].1.len());
        while wanted.is_some_and(|(_, kind)| kind == Kind::Constant)
            && !takes_constant(&self.families[family].1[row][0].operands)
        {
            row = self.random.below(self.families[family].1.len());
        }
        let form = self.random.below(self.families[family].1[row].len());
        let Form { opcode, operands, .. } = self.families[family].1[row][form].clone();
        let mut texts: Vec<String> = vec![];
        let last =
            operands.iter().rposition(|token| !token.starts_with(['#', 'I', '=', '{'])).unwrap_or(operands.len() - 1);
        for (i, token) in operands.iter().enumerate() {
            let constant = wanted.is_some_and(|(_, kind)| kind == Kind::Constant);
            let of_kind = i == last || constant || self.random.one_in(2);
            let kind = wanted.filter(|_| of_kind).map(|(_, kind)| kind);
            let mut text = self.operand(token, kind);
            // What is written at once must be different registers.
            while token.starts_with(['{', '=']) && repeats(&text) && token.matches('=').count() > 1 {
                text = self.operand(token, kind);
            }
            texts.push(text);
        }
        let before = if self.target.real { self.replace_unsafe_operands(&opcode, &mut texts) } else { String::new() };
        (before, format!("{opcode} {};", texts.join(", ")))
    }

    /// `@p ` in some cases.
    pub(crate) fn guard(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("@{} ", self.reg('p')),
            1 => format!("@!{} ", self.reg('p')),
            _ => String::new(),
        }
    }

    fn plain(&mut self) -> Node {
        let guard = self.guard();
        let (before, text) = self.instruction();
        let guard = if self.target.real && hardware_filter::unguarded(&text) { String::new() } else { guard };
        line(format!("{before}{guard}{text}"))
    }

    /// A chain of additions, subtractions or products with a carry.
    fn carry_chain(&mut self) -> Node {
        let (ty, r) = [("u32", 'r'), ("s32", 'r'), ("u64", 'd'), ("s64", 'd')][self.random.below(4)];
        let ops: &[&str] = match self.random.below(3) {
            0 => &["add.cc", "addc.cc", "addc"],
            1 => &["sub.cc", "subc.cc", "subc"],
            _ => &["mad.lo.cc", "madc.hi.cc", "addc"],
        };
        let n = 2 + self.random.below(3);
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
            let sources: Vec<String> = (0..n_sources).map(|_| self.reg(r)).collect();
            let dst = self.reg(r);
            nodes.push(fixed(format!("{op}.{ty} {dst}, {};", sources.join(", "))));
            if self.random.one_in(4) && i + 1 < n {
                nodes.push(self.plain());
            }
        }
        Node::Group(nodes)
    }

    /// A register that is written again and again from itself: loops make inductions of it.
    fn induction(&mut self) -> Node {
        let (r, d) = (self.reg('r'), self.reg('d'));
        let k = self.random.below(40) as i64 - 8;
        let texts = [
            format!("add.s32 {r}, {r}, {k};"),
            format!("add.s64 {d}, {d}, {k};"),
            format!("mad.lo.s32 {r}, {r}, {k}, {};", self.reg('r')),
            format!("shl.b32 {r}, {r}, 1;"),
        ];
        line(texts[self.random.below(texts.len())].clone())
    }

    /// Values that lie one after another from lane to lane, and ones that nearly do.
    fn affine(&mut self) -> Node {
        let (r, d, k) = (self.reg('r'), self.reg('d'), self.random.below(24));
        let base = ["%lin", "%tx", "%gid", "%lane"][self.random.below(4)];
        let offset = match self.random.below(5) {
            0 => format!("{:#x}", 0xffff_ffffu32 - self.random.below(256) as u32),
            1 => format!("{:#x}", 0x7fff_ffffu32 - self.random.below(256) as u32),
            2 => "%u0".to_owned(),
            3 => "%u1".to_owned(),
            _ => self.random.below(100).to_string(),
        };
        let widen = ["cvt.u64.u32", "cvt.s64.s32"][self.random.below(2)];
        let wide = ["mul.wide.u32", "mul.wide.s32"][self.random.below(2)];
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
        let texts = &texts[self.random.below(texts.len())];
        Node::Block(texts.iter().map(line).collect())
    }

    /// A sequence of about `n` constructs.
    pub(crate) fn sequence(&mut self, place: &GenContext, n: usize) -> Vec<Node> {
        (0..n).map(|_| self.node(place)).collect()
    }

    fn node(&mut self, place: &GenContext) -> Node {
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
        match self.random.weighted(&weights) {
            0 => self.plain(),
            1 => self.carry_chain(),
            2 => self.affine(),
            3 => self.induction(),
            4 => self.memory(place),
            5 => self.branch(place),
            6 => self.repeat(place),
            7 => self.irreducible(place),
            8 => self.switch(place),
            9 => self.warp_operation(place),
            10 => self.exchange(),
            11 => self.jump_out(place),
            12 => self.call(),
            13 => self.stride_loop(place),
            14 => self.object_access(),
            16 => self.covered(place),
            _ => self.lane_numbers(place),
        }
    }

    // ---- kernel and functions ----

    /// The whole module.
    pub(crate) fn module(&mut self) -> Vec<Node> {
        self.n_functions = 0;
        for _ in 0..self.random.below(3) {
            let function = self.function();
            self.functions.push(function);
            self.n_functions += 1;
        }
        let kernel = self.kernel();
        let version = if self.target.capability >= 90 { "8.3" } else { "8.0" };
        let mut nodes =
            vec![fixed(format!(".version {version}\n.target sm_{}\n.address_size 64", self.target.capability))];
        nodes.extend(self.tables());
        nodes.append(&mut self.functions);
        nodes.push(kernel);
        nodes
    }

    pub(crate) fn declarations(&self) -> Node {
        let [p, h, r, d] = self.n_scratch.map(|n| n + 1);
        fixed(format!(
            ".reg .pred %p<{P}>, %xp<{p}>;\n.reg .b16 %h<{H}>, %xh<{h}>;\n.reg .b32 %r<{R}>, %xr<{r}>;\n.reg .b64 %d<{D}>, %xd<{d}>;\n\
             .reg .pred %up<2>;\n.reg .b16 %uh<3>;\n.reg .b32 %ur<4>;\n.reg .b64 %ud<3>;\n.reg .b32 %lin, %tx, %gid, %lane, %u0, %u1, %threads, %mask;\n.reg .b64 %u2, %in, %slot, %out, %counters;"
        ))
    }

    fn kernel(&mut self) -> Node {
        self.n_scratch = [0; 4];
        let mut nodes = vec![];
        self.prologue(&mut nodes);
        if !self.objects.is_empty() {
            let loads: String = (0..self.objects.len()).map(|i| format!("\nld.param.u64 %o{i}, [o{i}];")).collect();
            nodes.push(fixed(format!(".reg .b64 %o<{}>;{loads}", self.objects.len())));
        }
        self.initial_values(&mut nodes);
        nodes.extend(self.uniform_values(false));
        nodes.push(self.fill_shared());
        let place = GenContext { all_threads_here: true, depth: 3, ..GenContext::default() };
        for _ in 0..2 + self.random.below(4) {
            let n = 3 + self.random.below(8);
            nodes.extend(self.sequence(&place, n));
            if self.random.one_in(12) {
                nodes.extend(self.read_counters());
                // Some lanes leave, so that the results of the others are still seen.
                let (p, k) = (self.scratch('p'), self.random.below(40));
                let how = ["ret", "exit"][self.random.below(2)];
                nodes.push(line(format!("setp.eq.u32 {p}, %lane, {k};\n@{p} {how};")));
                self.some_may_have_exited = true;
            }
            if self.random.one_in(8) {
                self.leave(&mut nodes);
            }
        }
        nodes.extend(self.read_counters());
        nodes.push(self.read_own());
        self.dump(&mut nodes);
        let handles: String = (0..self.objects.len()).map(|i| format!(", .param .u64 o{i}")).collect();
        let mut all = vec![
            fixed(format!(
                ".visible .entry {}(.param .u64 in, .param .u64 out, .param .u64 slots, .param .u64 counters, .param .u32 u0, .param .u32 u1, .param .u64 u2{handles})\n{{",
                super::KERNEL
            )),
            self.declarations(),
        ];
        all.extend(self.own_memory());
        all.extend(nodes);
        all.push(fixed("ret;\n}"));
        Node::Block(all)
    }

    /// Threads beyond a bound leave, in most cases only if some stay; else what they have so far is seen.
    fn leave(&mut self, nodes: &mut Vec<Node>) {
        nodes.extend(self.read_counters());
        if !self.some_may_have_exited && !self.random.one_in(4) {
            let leave = self.leave_unless_all();
            nodes.push(leave);
        } else {
            self.dump(nodes);
            let leave = self.leave_beyond();
            nodes.push(leave);
        }
        self.some_may_have_exited = true;
    }

    /// Who the thread is and where its memory lies.
    fn prologue(&mut self, nodes: &mut Vec<Node>) {
        nodes.push(fixed(format!(
            "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nld.param.u64 %slot, [slots];\nld.param.u64 %counters, [counters];\n\
             ld.param.u32 %u0, [u0];\nld.param.u32 %u1, [u1];\nld.param.u64 %u2, [u2];\n\
             {{ .reg .b32 %a, %b; .reg .b64 %c;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %a, %tid.z;\nmov.u32 %b, %ntid.y;\nmov.u32 %lin, %tid.y;\nmad.lo.u32 %lin, %a, %b, %lin;\n\
             mov.u32 %threads, %ntid.x;\nmad.lo.u32 %lin, %lin, %threads, %tx;\nmul.lo.u32 %threads, %threads, %b;\nmov.u32 %b, %ntid.z;\n\
             mul.lo.u32 %threads, %threads, %b;\nmov.u32 %a, %ctaid.z;\nmov.u32 %b, %nctaid.y;\nmov.u32 %gid, %ctaid.y;\n\
             mad.lo.u32 %gid, %a, %b, %gid;\nmov.u32 %b, %nctaid.x;\nmov.u32 %a, %ctaid.x;\nmad.lo.u32 %gid, %gid, %b, %a;\n\
             mad.lo.u32 %gid, %gid, %threads, %lin;\nmov.u32 %lane, %laneid;\n\
             mul.wide.u32 %c, %gid, {SLOT};\nadd.s64 %slot, %slot, %c;\nmul.wide.u32 %c, %gid, {RESULT};\nadd.s64 %out, %out, %c;\n\
             and.b32 %a, %lin, -32;\nsub.u32 %a, %threads, %a;\nmov.u32 %b, 1;\nshl.b32 %b, %b, %a;\nsub.u32 %mask, %b, 1; }}"
        )));
    }

    /// First values of all registers of the pool: the same in all threads, one after another, or any.
    fn initial_values(&mut self, nodes: &mut Vec<Node>) {
        for i in 0..R {
            let value = match self.random.below(9) {
                0 => format!("mov.u32 %r{i}, {};", self.number(32)),
                1 => format!("mov.u32 %r{i}, {};", ["%u0", "%u1", "%threads"][self.random.below(3)]),
                2 => format!("mov.u32 %r{i}, {};", ["%lin", "%tx", "%gid", "%lane"][self.random.below(4)]),
                3 => format!("mad.lo.u32 %r{i}, %lin, {}, {};", self.random.below(20), self.number(32)),
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
                    format!("mov.u32 %r{i}, {};", special[self.random.below(8)])
                }
                _ => format!("ld.global.u32 %r{i}, [%slot+{}];", 4 * self.random.below(SLOT / 4)),
            };
            nodes.push(line(value));
        }
        if self.random.one_in(6) {
            // All threads are still together.
            nodes.push(line("activemask.b32 %r0;"));
        }
        for i in 0..D {
            let value = match self.random.below(7) {
                0 => format!("mov.u64 %d{i}, {};", self.number(64)),
                1 => format!("mov.u64 %d{i}, %u2;"),
                2 => format!("mul.wide.s32 %d{i}, %lin, {};", self.random.below(40) as i64 - 10),
                3 => format!("cvt.u64.u32 %d{i}, %r{};", self.random.below(R)),
                _ => format!("ld.global.u64 %d{i}, [%slot+{}];", 8 * self.random.below(SLOT / 8)),
            };
            nodes.push(line(value));
        }
        for i in 0..H {
            let value = match self.random.below(4) {
                0 => format!("mov.u16 %h{i}, {};", self.number(16)),
                1 => format!("cvt.u16.u32 %h{i}, %r{};", self.random.below(R)),
                _ => format!("ld.global.u16 %h{i}, [%slot+{}];", 2 * self.random.below(SLOT / 2)),
            };
            nodes.push(line(value));
        }
        for i in 0..P {
            let cmp = ["lt", "ge", "eq", "ne"][self.random.below(4)];
            let value = match self.random.below(4) {
                0 => format!("setp.{cmp}.u32 %p{i}, %u1, {};", self.random.below(64)),
                1 => format!("setp.{cmp}.u32 %p{i}, %lin, {};", self.random.below(64)),
                _ => format!("setp.{cmp}.s32 %p{i}, %r{}, %r{};", self.random.below(R), self.random.below(R)),
            };
            nodes.push(line(value));
        }
    }

    /// Stores the registers of the pool.
    fn dump(&mut self, nodes: &mut Vec<Node>) {
        let mut at = 0;
        for (class, &n) in POOLS.iter().enumerate() {
            for i in 0..n {
                nodes.push(match class {
                    0 => Node::Group(vec![
                        fixed(format!("{{ .reg .b32 %a; selp.u32 %a, 1, 0, %p{i};")),
                        fixed(format!("st.global.u32 [%out+{at}], %a; }}")),
                    ]),
                    1 => line(format!("st.global.b16 [%out+{at}], %h{i};")),
                    2 => line(format!("st.global.b32 [%out+{at}], %r{i};")),
                    _ => line(format!("st.global.b64 [%out+{at}], %d{i};")),
                });
                at += 8;
            }
        }
    }

    /// A device function `f(b32, b64, slot) -> b32`, which may call itself and those before it.
    fn function(&mut self) -> Node {
        let name = format!("f{}", self.n_functions);
        self.n_scratch = [0; 4];
        let mut nodes = vec![fixed(
            "ld.param.b32 %u0, [a];\nld.param.b64 %u2, [b];\nld.param.b64 %slot, [s];\nld.param.b64 %in, [t];\nmov.u32 %u1, %u0;\n\
             mov.u32 %tx, %tid.x;\nmov.u32 %lin, %tx;\nmov.u32 %gid, %tx;\nmov.u32 %lane, %laneid;",
        )];
        self.values_of_function(&mut nodes);
        let place = GenContext { depth: 1, function: true, ..GenContext::default() };
        let n = 3 + self.random.below(6);
        nodes.extend(self.sequence(&place, n));
        if self.random.one_in(3) {
            nodes.push(self.recursion(&name));
        }
        if self.random.one_in(4) {
            let (p, r) = (self.reg('p'), self.reg('r'));
            nodes.push(Node::Group(vec![
                fixed(format!("@{p} st.param.b32 [result], {r};")),
                fixed(format!("@{p} ret;")),
            ]));
        }
        nodes.push(Node::Fixed(format!("st.param.b32 [result], {};\nret;\n}}", self.reg('r'))));
        let head = format!(
            ".func (.param .b32 result) {name}(.param .b32 a, .param .b64 b, .param .b64 s, .param .b64 t)\n{{"
        );
        let mut all = vec![fixed(head), self.declarations()];
        all.extend(self.own_memory());
        all.extend(nodes);
        Node::Group(all)
    }

    /// First values of the registers of a function.
    pub(crate) fn values_of_function(&mut self, nodes: &mut Vec<Node>) {
        for i in 0..R {
            nodes.push(line(match self.random.below(3) {
                0 => format!("mov.u32 %r{i}, {};", self.number(32)),
                1 => format!("mad.lo.u32 %r{i}, %u0, {}, {};", self.random.below(9), self.random.below(9)),
                _ => format!("ld.global.u32 %r{i}, [%slot+{}];", 4 * self.random.below(SLOT / 4)),
            }));
        }
        for i in 0..D {
            nodes.push(line(format!("add.u64 %d{i}, %u2, {};", self.number(64))));
        }
        for i in 0..H {
            nodes.push(line(format!("cvt.u16.u32 %h{i}, %r{i};")));
        }
        for i in 0..P {
            nodes.push(line(format!("setp.lt.u32 %p{i}, %u0, %r{i};")));
        }
        nodes.extend(self.uniform_values(true));
    }
}

/// Whether a register stands twice in a list.
fn repeats(text: &str) -> bool {
    let names: Vec<&str> = text.split(|c: char| "{}|, ".contains(c)).filter(|w| w.starts_with('%')).collect();
    names.iter().enumerate().any(|(i, n)| names[..i].contains(n))
}
