//! The frame of a program: the module, its kernel and its device functions, the first values of registers, and what is
//! stored at the end.

use super::generator::{GenContext, ProgramGenerator, REGISTER_POOL_SIZES, fixed_line, removable_line};
use super::{
    N_16_BIT_REGISTERS, N_32_BIT_REGISTERS, N_64_BIT_REGISTERS, N_PREDICATE_REGISTERS, ProgramNode, RESULT_BYTES,
    THREAD_SLOT_BYTES,
};

impl ProgramGenerator {
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

    /// Whether some registers of a function are read without having been written, by all threads or by some.
    fn leaves_registers_unwritten(&mut self) -> bool {
        !self.target.real && self.random.chance_one_in(5)
    }

    /// Adds the first value of a register of the pool; where registers are left unwritten, for some of them and some lanes.
    fn push_first_value(&mut self, nodes: &mut Vec<ProgramNode>, leaves: bool, value: String) {
        match if leaves { self.random.next_below(6) } else { 5 } {
            0 => {}
            1 => {
                let (not, p) = (["", "!"][self.random.next_below(2)], self.scratch_register('p'));
                nodes.push(removable_line(format!("@{not}{p} {value}")));
            }
            2 => {
                let (p, k) = (self.scratch_register('p'), self.random.next_below(33));
                nodes.push(removable_line(format!("setp.lt.u32 {p}, %lane, {k};\n@{p} {value}")));
            }
            3 => {
                let (p, k, end) = (self.scratch_register('p'), self.random.next_below(33), self.new_label());
                nodes.push(ProgramNode::Group(vec![
                    fixed_line(format!("setp.ge.u32 {p}, %lane, {k};\n@{p} bra {end};")),
                    removable_line(value),
                    fixed_line(format!("{end}:")),
                ]));
            }
            _ => nodes.push(removable_line(value)),
        }
    }

    /// First values of all registers of the pool: the same in all threads, one after another, or any.
    fn emit_initial_register_values(&mut self, nodes: &mut Vec<ProgramNode>) {
        let leaves = self.leaves_registers_unwritten();
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
            self.push_first_value(nodes, leaves, value);
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
            self.push_first_value(nodes, leaves, value);
        }
        for i in 0..N_16_BIT_REGISTERS {
            let value = match self.random.next_below(4) {
                0 => format!("mov.u16 %h{i}, {};", self.random_immediate(16)),
                1 => format!("cvt.u16.u32 %h{i}, %r{};", self.random.next_below(N_32_BIT_REGISTERS)),
                _ => format!("ld.global.u16 %h{i}, [%slot+{}];", 2 * self.random.next_below(THREAD_SLOT_BYTES / 2)),
            };
            self.push_first_value(nodes, leaves, value);
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
            self.push_first_value(nodes, leaves, value);
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
        let leaves = self.leaves_registers_unwritten();
        for i in 0..N_32_BIT_REGISTERS {
            let value = match self.random.next_below(3) {
                0 => format!("mov.u32 %r{i}, {};", self.random_immediate(32)),
                1 => format!("mad.lo.u32 %r{i}, %u0, {}, {};", self.random.next_below(9), self.random.next_below(9)),
                _ => format!("ld.global.u32 %r{i}, [%slot+{}];", 4 * self.random.next_below(THREAD_SLOT_BYTES / 4)),
            };
            self.push_first_value(nodes, leaves, value);
        }
        for i in 0..N_64_BIT_REGISTERS {
            let value = format!("add.u64 %d{i}, %u2, {};", self.random_immediate(64));
            self.push_first_value(nodes, leaves, value);
        }
        for i in 0..N_16_BIT_REGISTERS {
            self.push_first_value(nodes, leaves, format!("cvt.u16.u32 %h{i}, %r{i};"));
        }
        for i in 0..N_PREDICATE_REGISTERS {
            self.push_first_value(nodes, leaves, format!("setp.lt.u32 %p{i}, %u0, %r{i};"));
        }
        nodes.extend(self.emit_uniform_register_values(true));
    }
}
