//! Loads, stores and atomics, always inside memory that the thread may use.

use super::body::{GenContext, Generator, fixed, line};
use super::coverage::{BINS, COMMUTING};
use super::{INPUT, Node, SLOT};

/// Bytes of a thread's own shared memory.
pub(crate) const SHARED_SLOT: usize = 32;
/// Bytes of a thread's own local memory in kernel or function.
pub(crate) const LOCAL: usize = 64;
/// Bytes of the tables of constants.
pub(crate) const TABLE: usize = 256;
/// Threads of the largest block.
const THREADS: usize = 256;

/// Types with their size and the registers that hold them.
const TYPES: &[(&str, usize, &str)] = &[
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
pub(crate) const OPS: &[(&str, usize)] = &[
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
pub(crate) struct Shape {
    pub(crate) suffix: String,
    pub(crate) letter: char,
    pub(crate) n: usize,
    pub(crate) bytes: usize,
}

/// The registers of an access as its operand.
pub(crate) fn braced(shape: &Shape, mut names: Vec<String>) -> String {
    if shape.n == 1 { names.remove(0) } else { format!("{{{}}}", names.join(", ")) }
}

impl Generator {
    /// Variables of module scope.
    pub(crate) fn tables(&mut self) -> Vec<Node> {
        let mut bytes = |n: usize| {
            let list: Vec<String> = (0..n).map(|_| (self.random.interesting(8)).to_string()).collect();
            list.join(", ")
        };
        vec![
            fixed(format!(".const .align 16 .b8 ctable[{TABLE}] = {{{}}};", bytes(TABLE))),
            fixed(format!(".global .align 16 .b8 gtable[{TABLE}] = {{{}}};", bytes(TABLE))),
            fixed(format!(".shared .align 16 .b8 sslots[{}];", THREADS * SHARED_SLOT)),
            fixed(format!(".shared .align 16 .b8 sphase[{}];", THREADS * 8)),
            fixed(".shared .align 8 .b8 smbar[8];"),
            super::coverage::variables(),
        ]
    }

    /// Local memory of kernel or function, and zeros in it.
    pub(crate) fn own_memory(&mut self) -> Vec<Node> {
        let zeros = (0..LOCAL / 8).map(|i| format!("st.local.u64 [lslot+{}], %zero;", i * 8));
        let mut text = format!(
            ".local .align 16 .b8 lslot[{LOCAL}];\n{{ .reg .b64 %zero; mov.u64 %zero, {};\n",
            self.random.word() as i64
        );
        text += &zeros.collect::<Vec<_>>().join("\n");
        vec![fixed(format!("{text} }}"))]
    }

    pub(crate) fn shape(&mut self) -> Shape {
        let (ty, size, letters) = TYPES[self.random.below(TYPES.len())];
        let letter = letters.as_bytes()[self.random.below(letters.len())] as char;
        let n = [1, 1, 1, 2, 4][self.random.below(5)];
        let n = if n * size > 16 { 1 } else { n };
        let suffix = if n == 1 { ty.to_owned() } else { format!("v{n}.{ty}") };
        Shape { suffix, letter, n, bytes: n * size }
    }

    pub(crate) fn registers(&mut self, shape: &Shape, written: bool) -> String {
        let names = self.names(shape, written);
        braced(shape, names)
    }

    fn names(&mut self, shape: &Shape, written: bool) -> Vec<String> {
        let mut names: Vec<String> = vec![];
        while names.len() < shape.n {
            let name =
                if written && shape.n > 1 && self.random.one_in(8) { "_".to_owned() } else { self.reg(shape.letter) };
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
    fn offset(&mut self, size: usize, align: usize, nodes: &mut Vec<Node>) -> String {
        let (r, d) = (self.scratch('r'), self.scratch('d'));
        let mask = (size - 1) & !(align - 1);
        let from = match self.random.below(5) {
            0 => "%u1".to_owned(),
            1 => "%lin".to_owned(),
            _ => self.reg('r'),
        };
        nodes.push(fixed(match self.random.below(3) {
            0 => format!("and.b32 {r}, {from}, {mask};\ncvt.u64.u32 {d}, {r};"),
            1 => format!("mul.lo.u32 {r}, {from}, {align};\nand.b32 {r}, {r}, {mask};\ncvt.s64.s32 {d}, {r};"),
            _ => format!("mul.wide.u32 {d}, {from}, {align};\nand.b64 {d}, {d}, {mask};"),
        }));
        d
    }

    pub(crate) fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.random.below(list.len())]
    }

    pub(crate) fn memory(&mut self, place: &GenContext) -> Node {
        match self.random.below(if place.function { 7 } else { 10 }) {
            0 => self.read_table(),
            1 => self.read_input(),
            2 => self.read_adjacent_lanes(),
            3 | 4 => self.own_global(),
            5 => self.own_local(),
            6 => self.own_atomic("global"),
            7 => self.own_shared(),
            8 => self.count(),
            _ => {
                if self.random.one_in(3) {
                    self.read_parameter()
                } else {
                    self.own_shared()
                }
            }
        }
    }

    /// Any element of a table that nobody writes.
    fn read_table(&mut self) -> Node {
        let mut nodes = vec![];
        let shape = self.shape();
        let (space, name) = [("const", "ctable"), ("global", "gtable")][self.random.below(2)];
        let (guard, dst) = (self.guard(), self.registers(&shape, true));
        if self.random.one_in(4) {
            let at = self.random.below(TABLE / shape.bytes) * shape.bytes;
            return line(format!("{guard}ld.{space}.{} {dst}, [{name}+{at}];", shape.suffix));
        }
        let d = self.offset(TABLE, shape.bytes, &mut nodes);
        let base = self.scratch('d');
        let generic = self.random.one_in(4);
        let convert = if generic { format!("cvta.{space}.u64 {base}, {base};\n") } else { String::new() };
        let space = if generic { String::new() } else { format!(".{space}") };
        nodes.push(fixed(format!("mov.u64 {base}, {name};\n{convert}add.s64 {base}, {base}, {d};")));
        nodes.push(fixed(format!("{guard}ld{space}.{} {dst}, [{base}];", shape.suffix)));
        Node::Group(nodes)
    }

    /// Any element of the input.
    fn read_input(&mut self) -> Node {
        let mut nodes = vec![];
        let shape = self.shape();
        let (guard, dst) = (self.guard(), self.registers(&shape, true));
        let d = self.offset(INPUT, shape.bytes, &mut nodes);
        let base = self.scratch('d');
        let space = self.pick(&[".global", ".global.nc", "", ".global"]);
        nodes.push(fixed(format!("add.s64 {base}, %in, {d};")));
        nodes.push(fixed(format!("{guard}ld{space}.{} {dst}, [{base}];", shape.suffix)));
        Node::Group(nodes)
    }

    /// Elements of the input that lie next to each other from lane to lane; the index may wrap
    /// around, and lanes whose index lies outside read nothing.
    fn read_adjacent_lanes(&mut self) -> Node {
        let shape = self.shape();
        let (p, r, d) = (self.scratch('p'), self.scratch('r'), self.scratch('d'));
        let base = self.pick(&["%lin", "%tx", "%lane", "%gid"]);
        let stride = shape.bytes * [0, 1, 1, 1, 2, 3][self.random.below(6)];
        let first = match self.random.below(4) {
            0 => -((self.random.below(64) * shape.bytes) as i64),
            1 => (INPUT - self.random.below(64) * shape.bytes) as i64,
            _ => (self.random.below(32) * shape.bytes) as i64,
        };
        let dst = self.registers(&shape, true);
        let widen = self.pick(&["cvt.u64.u32", "cvt.s64.s32"]);
        let mut nodes = vec![];
        // In bounds: index + bytes <= INPUT, as unsigned numbers of 32 bits.
        nodes.push(fixed(format!(
            "mad.lo.u32 {r}, {base}, {stride}, {first};\nsetp.le.u32 {p}, {r}, {};\n{widen} {d}, {r};\nadd.s64 {d}, %in, {d};",
            INPUT - shape.bytes
        )));
        let text = format!("ld.global.{} {dst}, [{d}];", shape.suffix);
        if self.random.one_in(3) {
            let end = self.label();
            nodes.push(fixed(format!("@!{p} bra {end};\n{text}\n{end}:")));
        } else {
            nodes.push(fixed(format!("@{p} {text}")));
        }
        Node::Group(nodes)
    }

    fn load_or_store(&mut self, space: &str, address: &str) -> Node {
        let shape = self.shape();
        self.access(space, address, &shape)
    }

    fn access(&mut self, space: &str, address: &str, shape: &Shape) -> Node {
        let guard = self.guard();
        let store = self.random.one_in(2);
        let sem = if shape.n == 1 && space != ".local" && self.random.one_in(6) {
            self.pick(&[".volatile", ".relaxed.cta", if store { ".release.gpu" } else { ".acquire.gpu" }])
        } else {
            ""
        };
        let mut names = self.names(shape, !store);
        let cut = if store && self.target.real { self.cut(&mut names, shape.bytes / shape.n) } else { String::new() };
        let names = braced(shape, names);
        fixed(match store {
            true => format!("{cut}{guard}st{sem}{space}.{} [{address}], {names};", shape.suffix),
            false => format!("{guard}ld{sem}{space}.{} {names}, [{address}];", shape.suffix),
        })
    }

    /// The thread's own global memory, at a constant or any offset.
    fn own_global(&mut self) -> Node {
        let shape = self.shape();
        let space = self.pick(&[".global", ".global", ""]);
        if self.random.one_in(2) {
            let at = self.random.below(SLOT / shape.bytes) * shape.bytes;
            let Node::Fixed(text) = self.access(space, &format!("%slot+{at}"), &shape) else { return fixed("") };
            return line(text);
        }
        let mut nodes = vec![];
        let d = self.offset(SLOT, shape.bytes, &mut nodes);
        nodes.push(fixed(format!("add.s64 {d}, %slot, {d};")));
        nodes.push(self.access(space, &d, &shape));
        Node::Group(nodes)
    }

    fn own_local(&mut self) -> Node {
        let shape = self.shape();
        let mut nodes = vec![];
        if self.random.one_in(2) {
            let at = self.random.below(LOCAL / shape.bytes) * shape.bytes;
            let Node::Fixed(text) = self.access(".local", &format!("lslot+{at}"), &shape) else { return fixed("") };
            return line(text);
        }
        let d = self.offset(LOCAL, shape.bytes, &mut nodes);
        let base = self.scratch('d');
        let generic = self.random.one_in(3);
        let convert = if generic { format!("cvta.local.u64 {base}, {base};\n") } else { String::new() };
        nodes.push(fixed(format!("mov.u64 {base}, lslot;\n{convert}add.s64 {base}, {base}, {d};")));
        nodes.push(self.access(if generic { "" } else { ".local" }, &base, &shape));
        Node::Group(nodes)
    }

    /// The address of the thread's own shared memory, in 32 or 64 bits, or generic.
    fn shared_base(&mut self, nodes: &mut Vec<Node>) -> (String, &'static str) {
        let (r, d) = (self.scratch('r'), self.scratch('d'));
        match self.random.below(3) {
            0 => {
                nodes.push(fixed(format!("mov.u32 {r}, sslots;\nmad.lo.u32 {r}, %lin, {SHARED_SLOT}, {r};")));
                (r, ".shared")
            }
            1 => {
                nodes.push(fixed(format!("mov.u64 {d}, sslots;\nmad.wide.u32 {d}, %lin, {SHARED_SLOT}, {d};")));
                (d, ".shared")
            }
            _ => {
                let text = format!(
                    "mov.u64 {d}, sslots;\ncvta.shared.u64 {d}, {d};\nmad.wide.u32 {d}, %lin, {SHARED_SLOT}, {d};"
                );
                nodes.push(fixed(text));
                (d, "")
            }
        }
    }

    /// Writes the thread's own shared memory, then reads some of it.
    fn own_shared(&mut self) -> Node {
        let mut nodes = vec![];
        let (base, space) = self.shared_base(&mut nodes);
        let (a, b) = (self.reg('d'), self.reg('d'));
        nodes.push(fixed(format!(
            "st{space}.v2.b64 [{base}], {{{a}, {b}}};\nst{space}.v2.b64 [{base}+16], {{{b}, {a}}};"
        )));
        for _ in 0..1 + self.random.below(4) {
            let shape = self.shape();
            let at = self.random.below(SHARED_SLOT / shape.bytes) * shape.bytes;
            let Node::Fixed(text) = self.access(space, &format!("{base}+{at}"), &shape) else { continue };
            nodes.push(line(text));
        }
        if self.random.one_in(3) {
            nodes.push(self.atomic(space, &base, SHARED_SLOT));
        }
        if self.random.one_in(6) && !space.is_empty() {
            let n = [4, 8, 16][self.random.below(3)];
            let (to, from) = (self.random.below(SHARED_SLOT / n) * n, self.random.below(SLOT / n) * n);
            let level = if n == 16 && self.random.one_in(2) { "cg" } else { "ca" };
            nodes.push(line(format!(
                "cp.async.{level}.shared.global [{base}+{to}], [%slot+{from}], {n};\ncp.async.commit_group;\ncp.async.wait_group 0;"
            )));
            nodes.push(self.load_or_store_at(space, &base));
        }
        if self.has_bulk_copies() && !space.is_empty() {
            match self.random.below(6) {
                0 => nodes.push(self.bulk_store(&base, SHARED_SLOT)),
                1 => nodes.push(self.wide_exchange(space, &base, SHARED_SLOT)),
                _ => {}
            }
        }
        Node::Group(nodes)
    }

    fn load_or_store_at(&mut self, space: &str, base: &str) -> Node {
        match self.load_or_store(space, base) {
            Node::Fixed(text) => line(text),
            other => other,
        }
    }

    fn own_atomic(&mut self, space: &str) -> Node {
        if self.target.capability >= 90 && !self.target.real && self.random.one_in(4) {
            return self.vector_atomic();
        }
        if self.has_bulk_copies() && self.random.one_in(5) {
            return self.wide_exchange(&format!(".{space}"), "%slot", SLOT);
        }
        self.atomic(&format!(".{space}"), "%slot", SLOT)
    }

    /// An atomic on the thread's own memory: its result is known.
    fn atomic(&mut self, space: &str, base: &str, size: usize) -> Node {
        let (mut op, mut n) = OPS[self.random.below(OPS.len())];
        if op.ends_with("f16x2") && space != ".global" {
            // The driver of an H200 adds only the low half in shared memory.
            (op, n) = ("add.u32", 4);
        }
        let letter = ['h', 'r', 'd'][n.ilog2() as usize - 1];
        let at = self.random.below(size / n) * n;
        let (guard, dst, b, c) = (self.guard(), self.reg(letter), self.reg(letter), self.reg(letter));
        let sem = self.pick(&["", "", ".relaxed.cta", ".acq_rel.gpu"]);
        let third = if op.starts_with("cas") { format!(", {c}") } else { String::new() };
        line(format!("{guard}atom{sem}{space}.{op} {dst}, [{base}+{at}], {b}{third};"))
    }

    /// An atomic sum of several elements.
    fn vector_atomic(&mut self) -> Node {
        const FORMS: &[(&str, usize, usize)] = &[
            ("add.noftz.v2.f16", 2, 2),
            ("add.noftz.v4.f16", 4, 2),
            ("add.noftz.v2.f16x2", 2, 4),
            ("add.v2.f32", 2, 4),
            ("add.v4.f32", 4, 4),
        ];
        let (op, n, bytes) = FORMS[self.random.below(FORMS.len())];
        let letter = if bytes == 2 { 'h' } else { 'r' };
        let at = self.random.below(SLOT / (n * bytes)) * n * bytes;
        let shape = Shape { suffix: String::new(), letter, n, bytes: n * bytes };
        let (dst, b) = (self.registers(&shape, true), self.registers(&shape, false));
        let guard = self.guard();
        line(match self.random.one_in(3) {
            true => format!("{guard}red.global.{op} [%slot+{at}], {b};"),
            false => format!("{guard}atom.global.{op} {dst}, [%slot+{at}], {b};"),
        })
    }

    /// An atomic on a counter of the whole grid, whose old value nobody looks at.
    fn count(&mut self) -> Node {
        let which = self.random.below(COMMUTING.len());
        let op = COMMUTING[which];
        let letter = if op.ends_with("64") { 'd' } else { 'r' };
        let (guard, b) = (self.guard(), self.reg(letter));
        let address = format!("%counters+{}", which * BINS * 8);
        let space = self.pick(&[".global", ""]);
        line(match self.random.below(3) {
            0 => format!("{guard}atom{space}.{op} _, [{address}], {b};"),
            _ => format!("{guard}red{space}.{op} [{address}], {b};"),
        })
    }

    /// A part of a kernel parameter.
    fn read_parameter(&mut self) -> Node {
        let (r, h) = (self.reg('r'), self.reg('h'));
        let texts = [
            format!("ld.param.u8 {r}, [u0+1];"),
            format!("ld.param.s16 {r}, [u2+2];"),
            format!("ld.param.u16 {h}, [u1];"),
            format!("ld.param.s8 {h}, [u2+7];"),
            format!("ld.param.b32 {r}, [u2+4];"),
        ];
        line(texts[self.random.below(texts.len())].clone())
    }
}
