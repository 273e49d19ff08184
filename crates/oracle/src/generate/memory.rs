//! Loads, stores and atomics, always inside memory that the thread may use.

use super::coverage::{COMMUTING_UPDATES, COUNTERS_PER_UPDATE};
use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};
use super::{INPUT_BYTES, ProgramNode, THREAD_SLOT_BYTES};

/// Bytes of a thread's own shared memory.
pub(crate) const SHARED_SLOT_BYTES: usize = 32;
/// Bytes of a thread's own local memory in kernel or function.
pub(crate) const LOCAL_BYTES: usize = 64;
/// Bytes of the tables of constants.
pub(crate) const TABLE_BYTES: usize = 256;
/// Threads of the largest block.
const MAX_BLOCK_THREADS: usize = 256;

/// Types with their size and the registers that hold them.
const ACCESS_TYPES: &[(&str, usize, &str)] = &[
    ("u8", 1, "hrd"),
    ("s8", 1, "hrd"),
    ("b8", 1, "hrd"),
    ("u16", 2, "hrd"),
    ("s16", 2, "hrd"),
    ("b16", 2, "hrd"),
    ("u32", 4, "rd"),
    ("s32", 4, "rd"),
    ("b32", 4, "rd"),
    ("f32", 4, "r"),
    ("u64", 8, "d"),
    ("s64", 8, "d"),
    ("b64", 8, "d"),
    ("f64", 8, "d"),
    ("b32", 4, "r"),
    ("b32", 4, "r"),
    ("u32", 4, "r"),
    ("b64", 8, "d"),
];

/// Atomic updates with the bytes that they concern.
pub(crate) const ATOMIC_OPS: &[(&str, usize)] = &[
    ("add.u32", 4),
    ("add.s32", 4),
    ("add.u64", 8),
    ("add.f32", 4),
    ("add.f64", 8),
    ("add.noftz.f16", 2),
    ("add.noftz.f16x2", 4),
    ("min.u32", 4),
    ("max.s32", 4),
    ("min.s64", 8),
    ("max.u64", 8),
    ("and.b32", 4),
    ("or.b64", 8),
    ("xor.b32", 4),
    ("exch.b32", 4),
    ("exch.b64", 8),
    ("cas.b16", 2),
    ("cas.b32", 4),
    ("cas.b64", 8),
    ("inc.u32", 4),
    ("dec.u32", 4),
];

/// An access: opcode after `ld`/`st`, registers, bytes.
pub(crate) struct AccessShape {
    pub(crate) suffix: String,
    pub(crate) letter: char,
    pub(crate) n: usize,
    pub(crate) bytes: usize,
}

/// The registers of an access as its operand.
pub(crate) fn braced_registers(shape: &AccessShape, mut names: Vec<String>) -> String {
    if shape.n == 1 { names.remove(0) } else { format!("{{{}}}", names.join(", ")) }
}

impl ProgramGenerator {
    /// Variables of module scope.
    pub(crate) fn table_declarations(&mut self) -> Vec<ProgramNode> {
        let mut bytes = |n: usize| {
            let list: Vec<String> = (0..n).map(|_| (self.random.edge_case_bits(8)).to_string()).collect();
            list.join(", ")
        };
        vec![
            fixed_line(format!(".const .align 16 .b8 ctable[{TABLE_BYTES}] = {{{}}};", bytes(TABLE_BYTES))),
            fixed_line(format!(".global .align 16 .b8 gtable[{TABLE_BYTES}] = {{{}}};", bytes(TABLE_BYTES))),
            fixed_line(format!(".shared .align 16 .b8 sslots[{}];", MAX_BLOCK_THREADS * SHARED_SLOT_BYTES)),
            fixed_line(format!(".shared .align 16 .b8 sphase[{}];", MAX_BLOCK_THREADS * 8)),
            fixed_line(".shared .align 8 .b8 smbar[8];"),
            super::coverage::shared_variable_declarations(),
        ]
    }

    /// Local memory of kernel or function, and zeros in it.
    pub(crate) fn emit_local_memory_initialization(&mut self) -> Vec<ProgramNode> {
        let zeros = (0..LOCAL_BYTES / 8).map(|i| format!("st.local.u64 [lslot+{}], %zero;", i * 8));
        let mut text = format!(
            ".local .align 16 .b8 lslot[{LOCAL_BYTES}];\n{{ .reg .b64 %zero; mov.u64 %zero, {};\n",
            self.random.next_word() as i64
        );
        text += &zeros.collect::<Vec<_>>().join("\n");
        vec![fixed_line(format!("{text} }}"))]
    }

    pub(crate) fn random_access_shape(&mut self) -> AccessShape {
        let (ty, size, letters) = ACCESS_TYPES[self.random.next_below(ACCESS_TYPES.len())];
        let letter = letters.as_bytes()[self.random.next_below(letters.len())] as char;
        let n = [1, 1, 1, 2, 4][self.random.next_below(5)];
        let n = if n * size > 16 { 1 } else { n };
        let suffix = if n == 1 { ty.to_owned() } else { format!("v{n}.{ty}") };
        AccessShape { suffix, letter, n, bytes: n * size }
    }

    pub(crate) fn access_registers(&mut self, shape: &AccessShape, written: bool) -> String {
        let names = self.register_names(shape, written);
        braced_registers(shape, names)
    }

    fn register_names(&mut self, shape: &AccessShape, written: bool) -> Vec<String> {
        let mut names: Vec<String> = vec![];
        while names.len() < shape.n {
            let name = if written && shape.n > 1 && self.random.chance_one_in(8) {
                "_".to_owned()
            } else {
                self.pool_register(shape.letter)
            };
            if name == "_" && names.len() + 1 == shape.n && names.iter().all(|n| n == "_") {
                continue;
            }
            if !written || name == "_" || !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Code that leaves an offset below `size`, a multiple of `align`, in a 64-bit register.
    fn emit_offset(&mut self, size: usize, align: usize, nodes: &mut Vec<ProgramNode>) -> String {
        let (r, d) = (self.scratch_register('r'), self.scratch_register('d'));
        let mask = (size - 1) & !(align - 1);
        let from = match self.random.next_below(5) {
            0 => "%u1".to_owned(),
            1 => "%lin".to_owned(),
            _ => self.pool_register('r'),
        };
        nodes.push(fixed_line(match self.random.next_below(3) {
            0 => format!("and.b32 {r}, {from}, {mask};\ncvt.u64.u32 {d}, {r};"),
            1 => format!("mul.lo.u32 {r}, {from}, {align};\nand.b32 {r}, {r}, {mask};\ncvt.s64.s32 {d}, {r};"),
            _ => format!("mul.wide.u32 {d}, {from}, {align};\nand.b64 {d}, {d}, {mask};"),
        }));
        d
    }

    pub(crate) fn pick_str(&mut self, list: &[&'static str]) -> &'static str {
        list[self.random.next_below(list.len())]
    }

    pub(crate) fn emit_memory_access(&mut self, place: &GenContext) -> ProgramNode {
        match self.random.next_below(if place.function { 7 } else { 10 }) {
            0 => self.emit_table_load(),
            1 => self.emit_input_load(),
            2 => self.emit_adjacent_lane_load(),
            3 | 4 => self.emit_thread_global_access(),
            5 => self.emit_thread_local_access(),
            6 => self.emit_thread_atomic("global"),
            7 => self.emit_thread_shared_access(),
            8 => self.emit_grid_counter_atomic(),
            _ => {
                if self.random.chance_one_in(3) {
                    self.emit_parameter_load()
                } else {
                    self.emit_thread_shared_access()
                }
            }
        }
    }

    /// Any element of a table that nobody writes.
    fn emit_table_load(&mut self) -> ProgramNode {
        let mut nodes = vec![];
        let shape = self.random_access_shape();
        let (space, name) = [("const", "ctable"), ("global", "gtable")][self.random.next_below(2)];
        let (guard, dst) = (self.random_guard(), self.access_registers(&shape, true));
        if self.random.chance_one_in(4) {
            let at = self.random.next_below(TABLE_BYTES / shape.bytes) * shape.bytes;
            return removable_line(format!("{guard}ld.{space}.{} {dst}, [{name}+{at}];", shape.suffix));
        }
        let d = self.emit_offset(TABLE_BYTES, shape.bytes, &mut nodes);
        let base = self.scratch_register('d');
        let generic = self.random.chance_one_in(4);
        let convert = if generic { format!("cvta.{space}.u64 {base}, {base};\n") } else { String::new() };
        let space = if generic { String::new() } else { format!(".{space}") };
        nodes.push(fixed_line(format!("mov.u64 {base}, {name};\n{convert}add.s64 {base}, {base}, {d};")));
        nodes.push(fixed_line(format!("{guard}ld{space}.{} {dst}, [{base}];", shape.suffix)));
        ProgramNode::Group(nodes)
    }

    /// Any element of the input.
    fn emit_input_load(&mut self) -> ProgramNode {
        let mut nodes = vec![];
        let shape = self.random_access_shape();
        let (guard, dst) = (self.random_guard(), self.access_registers(&shape, true));
        let d = self.emit_offset(INPUT_BYTES, shape.bytes, &mut nodes);
        let base = self.scratch_register('d');
        let space = self.pick_str(&[".global", ".global.nc", "", ".global"]);
        nodes.push(fixed_line(format!("add.s64 {base}, %in, {d};")));
        nodes.push(fixed_line(format!("{guard}ld{space}.{} {dst}, [{base}];", shape.suffix)));
        ProgramNode::Group(nodes)
    }

    /// Elements of the input that lie next to each other from lane to lane; the index may wrap
    /// around, and lanes whose index lies outside read nothing.
    fn emit_adjacent_lane_load(&mut self) -> ProgramNode {
        let shape = self.random_access_shape();
        let (p, r, d) = (self.scratch_register('p'), self.scratch_register('r'), self.scratch_register('d'));
        let base = self.pick_str(&["%lin", "%tx", "%lane", "%gid"]);
        let stride = shape.bytes * [0, 1, 1, 1, 2, 3][self.random.next_below(6)];
        let first = match self.random.next_below(4) {
            0 => -((self.random.next_below(64) * shape.bytes) as i64),
            1 => (INPUT_BYTES - self.random.next_below(64) * shape.bytes) as i64,
            _ => (self.random.next_below(32) * shape.bytes) as i64,
        };
        let dst = self.access_registers(&shape, true);
        let widen = self.pick_str(&["cvt.u64.u32", "cvt.s64.s32"]);
        let mut nodes = vec![];
        // In bounds: index + bytes <= INPUT, as unsigned numbers of 32 bits.
        nodes.push(fixed_line(format!(
            "mad.lo.u32 {r}, {base}, {stride}, {first};\nsetp.le.u32 {p}, {r}, {};\n{widen} {d}, {r};\nadd.s64 {d}, %in, {d};",
            INPUT_BYTES - shape.bytes
        )));
        let text = format!("ld.global.{} {dst}, [{d}];", shape.suffix);
        if self.random.chance_one_in(3) {
            let end = self.new_label();
            nodes.push(fixed_line(format!("@!{p} bra {end};\n{text}\n{end}:")));
        } else {
            nodes.push(fixed_line(format!("@{p} {text}")));
        }
        ProgramNode::Group(nodes)
    }

    fn emit_load_or_store(&mut self, space: &str, address: &str) -> ProgramNode {
        let shape = self.random_access_shape();
        self.emit_access(space, address, &shape)
    }

    fn emit_access(&mut self, space: &str, address: &str, shape: &AccessShape) -> ProgramNode {
        let guard = self.random_guard();
        let store = self.random.chance_one_in(2);
        let sem = if shape.n == 1 && space != ".local" && self.random.chance_one_in(6) {
            self.pick_str(&[".volatile", ".relaxed.cta", if store { ".release.gpu" } else { ".acquire.gpu" }])
        } else {
            ""
        };
        let mut names = self.register_names(shape, !store);
        let cut = if store && self.target.real {
            self.truncate_store_operands(&mut names, shape.bytes / shape.n)
        } else {
            String::new()
        };
        let names = braced_registers(shape, names);
        fixed_line(match store {
            true => format!("{cut}{guard}st{sem}{space}.{} [{address}], {names};", shape.suffix),
            false => format!("{guard}ld{sem}{space}.{} {names}, [{address}];", shape.suffix),
        })
    }

    /// The thread's own global memory, at a constant or any offset.
    fn emit_thread_global_access(&mut self) -> ProgramNode {
        let shape = self.random_access_shape();
        let space = self.pick_str(&[".global", ".global", ""]);
        if self.random.chance_one_in(2) {
            let at = self.random.next_below(THREAD_SLOT_BYTES / shape.bytes) * shape.bytes;
            let ProgramNode::Fixed(text) = self.emit_access(space, &format!("%slot+{at}"), &shape) else {
                return fixed_line("");
            };
            return removable_line(text);
        }
        let mut nodes = vec![];
        let d = self.emit_offset(THREAD_SLOT_BYTES, shape.bytes, &mut nodes);
        nodes.push(fixed_line(format!("add.s64 {d}, %slot, {d};")));
        nodes.push(self.emit_access(space, &d, &shape));
        ProgramNode::Group(nodes)
    }

    fn emit_thread_local_access(&mut self) -> ProgramNode {
        let shape = self.random_access_shape();
        let mut nodes = vec![];
        if self.random.chance_one_in(2) {
            let at = self.random.next_below(LOCAL_BYTES / shape.bytes) * shape.bytes;
            let ProgramNode::Fixed(text) = self.emit_access(".local", &format!("lslot+{at}"), &shape) else {
                return fixed_line("");
            };
            return removable_line(text);
        }
        let d = self.emit_offset(LOCAL_BYTES, shape.bytes, &mut nodes);
        let base = self.scratch_register('d');
        let generic = self.random.chance_one_in(3);
        let convert = if generic { format!("cvta.local.u64 {base}, {base};\n") } else { String::new() };
        nodes.push(fixed_line(format!("mov.u64 {base}, lslot;\n{convert}add.s64 {base}, {base}, {d};")));
        nodes.push(self.emit_access(if generic { "" } else { ".local" }, &base, &shape));
        ProgramNode::Group(nodes)
    }

    /// The address of the thread's own shared memory, in 32 or 64 bits, or generic.
    fn emit_shared_base_address(&mut self, nodes: &mut Vec<ProgramNode>) -> (String, &'static str) {
        let (r, d) = (self.scratch_register('r'), self.scratch_register('d'));
        match self.random.next_below(3) {
            0 => {
                nodes
                    .push(fixed_line(format!("mov.u32 {r}, sslots;\nmad.lo.u32 {r}, %lin, {SHARED_SLOT_BYTES}, {r};")));
                (r, ".shared")
            }
            1 => {
                nodes.push(fixed_line(format!(
                    "mov.u64 {d}, sslots;\nmad.wide.u32 {d}, %lin, {SHARED_SLOT_BYTES}, {d};"
                )));
                (d, ".shared")
            }
            _ => {
                let text = format!(
                    "mov.u64 {d}, sslots;\ncvta.shared.u64 {d}, {d};\nmad.wide.u32 {d}, %lin, {SHARED_SLOT_BYTES}, {d};"
                );
                nodes.push(fixed_line(text));
                (d, "")
            }
        }
    }

    /// Writes the thread's own shared memory, then reads some of it.
    fn emit_thread_shared_access(&mut self) -> ProgramNode {
        let mut nodes = vec![];
        let (base, space) = self.emit_shared_base_address(&mut nodes);
        let (a, b) = (self.pool_register('d'), self.pool_register('d'));
        nodes.push(fixed_line(format!(
            "st{space}.v2.b64 [{base}], {{{a}, {b}}};\nst{space}.v2.b64 [{base}+16], {{{b}, {a}}};"
        )));
        for _ in 0..1 + self.random.next_below(4) {
            let shape = self.random_access_shape();
            let at = self.random.next_below(SHARED_SLOT_BYTES / shape.bytes) * shape.bytes;
            let ProgramNode::Fixed(text) = self.emit_access(space, &format!("{base}+{at}"), &shape) else { continue };
            nodes.push(removable_line(text));
        }
        if self.random.chance_one_in(3) {
            nodes.push(self.emit_thread_atomic_at(space, &base, SHARED_SLOT_BYTES));
        }
        if self.random.chance_one_in(6) && !space.is_empty() {
            let n = [4, 8, 16][self.random.next_below(3)];
            let (to, from) =
                (self.random.next_below(SHARED_SLOT_BYTES / n) * n, self.random.next_below(THREAD_SLOT_BYTES / n) * n);
            let level = if n == 16 && self.random.chance_one_in(2) { "cg" } else { "ca" };
            nodes.push(removable_line(format!(
                "cp.async.{level}.shared.global [{base}+{to}], [%slot+{from}], {n};\ncp.async.commit_group;\ncp.async.wait_group 0;"
            )));
            nodes.push(self.emit_removable_load_or_store(space, &base));
        }
        if self.has_bulk_copies() && !space.is_empty() {
            match self.random.next_below(6) {
                0 => nodes.push(self.emit_bulk_store(&base, SHARED_SLOT_BYTES)),
                1 => nodes.push(self.emit_16_byte_atomic_exchange(space, &base, SHARED_SLOT_BYTES)),
                _ => {}
            }
        }
        ProgramNode::Group(nodes)
    }

    fn emit_removable_load_or_store(&mut self, space: &str, base: &str) -> ProgramNode {
        match self.emit_load_or_store(space, base) {
            ProgramNode::Fixed(text) => removable_line(text),
            other => other,
        }
    }

    fn emit_thread_atomic(&mut self, space: &str) -> ProgramNode {
        if self.target.capability >= 90 && !self.target.real && self.random.chance_one_in(4) {
            return self.emit_vector_atomic();
        }
        if self.has_bulk_copies() && self.random.chance_one_in(5) {
            return self.emit_16_byte_atomic_exchange(&format!(".{space}"), "%slot", THREAD_SLOT_BYTES);
        }
        self.emit_thread_atomic_at(&format!(".{space}"), "%slot", THREAD_SLOT_BYTES)
    }

    /// An atomic on the thread's own memory: its result is known.
    fn emit_thread_atomic_at(&mut self, space: &str, base: &str, size: usize) -> ProgramNode {
        let (mut op, mut n) = ATOMIC_OPS[self.random.next_below(ATOMIC_OPS.len())];
        if op.ends_with("f16x2") && space != ".global" {
            // The driver of an H200 adds only the low half in shared memory.
            (op, n) = ("add.u32", 4);
        }
        let letter = ['h', 'r', 'd'][n.ilog2() as usize - 1];
        let at = self.random.next_below(size / n) * n;
        let (guard, dst, b, c) =
            (self.random_guard(), self.pool_register(letter), self.pool_register(letter), self.pool_register(letter));
        let sem = self.pick_str(&["", "", ".relaxed.cta", ".acq_rel.gpu"]);
        let third = if op.starts_with("cas") { format!(", {c}") } else { String::new() };
        removable_line(format!("{guard}atom{sem}{space}.{op} {dst}, [{base}+{at}], {b}{third};"))
    }

    /// An atomic sum of several elements.
    fn emit_vector_atomic(&mut self) -> ProgramNode {
        const VECTOR_ATOMIC_FORMS: &[(&str, usize, usize)] = &[
            ("add.noftz.v2.f16", 2, 2),
            ("add.noftz.v4.f16", 4, 2),
            ("add.noftz.v2.f16x2", 2, 4),
            ("add.v2.f32", 2, 4),
            ("add.v4.f32", 4, 4),
        ];
        let (op, n, bytes) = VECTOR_ATOMIC_FORMS[self.random.next_below(VECTOR_ATOMIC_FORMS.len())];
        let letter = if bytes == 2 { 'h' } else { 'r' };
        let at = self.random.next_below(THREAD_SLOT_BYTES / (n * bytes)) * n * bytes;
        let shape = AccessShape { suffix: String::new(), letter, n, bytes: n * bytes };
        let (dst, b) = (self.access_registers(&shape, true), self.access_registers(&shape, false));
        let guard = self.random_guard();
        removable_line(match self.random.chance_one_in(3) {
            true => format!("{guard}red.global.{op} [%slot+{at}], {b};"),
            false => format!("{guard}atom.global.{op} {dst}, [%slot+{at}], {b};"),
        })
    }

    /// An atomic on a counter of the whole grid, whose old value nobody looks at.
    fn emit_grid_counter_atomic(&mut self) -> ProgramNode {
        let which = self.random.next_below(COMMUTING_UPDATES.len());
        let op = COMMUTING_UPDATES[which];
        let letter = if op.ends_with("64") { 'd' } else { 'r' };
        let (guard, b) = (self.random_guard(), self.pool_register(letter));
        let address = format!("%counters+{}", which * COUNTERS_PER_UPDATE * 8);
        let space = self.pick_str(&[".global", ""]);
        removable_line(match self.random.next_below(3) {
            0 => format!("{guard}atom{space}.{op} _, [{address}], {b};"),
            _ => format!("{guard}red{space}.{op} [{address}], {b};"),
        })
    }

    /// A part of a kernel parameter.
    fn emit_parameter_load(&mut self) -> ProgramNode {
        let (r, h) = (self.pool_register('r'), self.pool_register('h'));
        let texts = [
            format!("ld.param.u8 {r}, [u0+1];"),
            format!("ld.param.s16 {r}, [u2+2];"),
            format!("ld.param.u16 {h}, [u1];"),
            format!("ld.param.s8 {h}, [u2+7];"),
            format!("ld.param.b32 {r}, [u2+4];"),
        ];
        removable_line(texts[self.random.next_below(texts.len())].clone())
    }
}
