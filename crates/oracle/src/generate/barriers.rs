//! What all threads of a block do together: barriers, their reductions, and values that threads give
//! each other through shared memory.

use super::ProgramNode;
use super::generator::{ProgramGenerator, fixed_line, removable_line};

impl ProgramGenerator {
    /// Threads exchange values through shared memory: write, barrier, read another's, barrier.
    pub(crate) fn emit_shared_exchange(&mut self) -> ProgramNode {
        match self.random.next_below(8) {
            0..3 => return self.emit_barrier_reduction(),
            3 => return self.emit_exchange_by_mbarrier(),
            5 if self.has_bulk_copies() && self.random.chance_one_in(2) => return self.emit_bulk_load(),
            4 if self.full_warps && self.threads >= 64 => return self.emit_exchange_by_barrier_arrive(),
            _ => {}
        }
        let (at, from) = (self.scratch_register('r'), self.scratch_register('r'));
        let wide = self.random.chance_one_in(3);
        let (letter, ty, size) = if wide { ('d', "b64", 8) } else { ('r', "b32", 4) };
        let (value, dst) = (self.pool_register(letter), self.pool_register(letter));
        let barrier = self.random_barrier_instruction();
        let index = self.emit_partner_thread_index(&from);
        ProgramNode::Group(vec![fixed_line(format!(
            "mov.u32 {at}, sphase;\nmad.lo.u32 {at}, %lin, {size}, {at};\nst.shared.{ty} [{at}], {value};\n{barrier}\n\
             {index}\nmov.u32 {at}, sphase;\nmad.lo.u32 {at}, {from}, {size}, {at};\nld.shared.{ty} {dst}, [{at}];\n{barrier}"
        ))])
    }

    fn random_barrier_instruction(&mut self) -> String {
        match self.random.next_below(6) {
            0 => format!("bar.sync {};", self.random.next_below(16)),
            1 if self.full_warps => format!("bar.sync {}, %threads;", self.random.next_below(16)),
            2 => "barrier.sync 0;".to_owned(),
            3 => "barrier.sync.aligned 1;".to_owned(),
            _ => "bar.sync 0;".to_owned(),
        }
    }

    fn emit_barrier_reduction(&mut self) -> ProgramNode {
        let (p, q, r) = (self.pool_register('p'), self.pool_register('p'), self.pool_register('r'));
        let texts = [
            format!("bar.red.popc.u32 {r}, 0, {p};"),
            format!("bar.red.popc.u32 {r}, 2, !{p};"),
            format!("bar.red.and.pred {q}, 0, {p};"),
            format!("bar.red.or.pred {q}, 1, !{p};"),
        ];
        removable_line(texts[self.random.next_below(4)].clone())
    }

    /// Code that leaves in `from` the number of a thread that exists.
    fn emit_partner_thread_index(&mut self, from: &str) -> String {
        match self.random.next_below(3) {
            0 => {
                format!("add.u32 {from}, %lin, {};\nrem.u32 {from}, {from}, %threads;", 1 + self.random.next_below(40))
            }
            1 => format!("sub.u32 {from}, %threads, 1;\nsub.u32 {from}, {from}, %lin;"),
            _ => format!("rem.u32 {from}, {}, %threads;", self.pool_register('r')),
        }
    }

    /// Warps with even numbers give a value to the odd ones, for which they do not wait.
    fn emit_exchange_by_barrier_arrive(&mut self) -> ProgramNode {
        let (at, p, give, end) =
            (self.scratch_register('r'), self.scratch_register('p'), self.new_label(), self.new_label());
        let (value, dst, id) = (self.pool_register('r'), self.pool_register('r'), 1 + self.random.next_below(15));
        let sync = ["bar.sync", "barrier.sync"][self.random.next_below(2)];
        let arrive = ["bar.arrive", "barrier.arrive"][self.random.next_below(2)];
        ProgramNode::Group(vec![fixed_line(format!(
            "mov.u32 {at}, sphase;\nmad.lo.u32 {at}, %lin, 4, {at};\nst.shared.b32 [{at}], {value};\n\
             and.b32 {at}, %lin, 32;\nsetp.eq.u32 {p}, {at}, 0;\n@{p} bra {give};\n\
             {sync} {id}, %threads;\nmov.u32 {at}, sphase;\nmad.lo.u32 {at}, %lin, 4, {at};\n\
             ld.shared.b32 {dst}, [{at}+-128];\nbra {end};\n{give}:\n{arrive} {id}, %threads;\n{end}:\nbar.sync 0;"
        ))])
    }

    /// As [`ProgramGenerator::emit_shared_exchange`], with an `mbarrier` between writing and reading.
    fn emit_exchange_by_mbarrier(&mut self) -> ProgramNode {
        let (object, at, from) = (self.scratch_register('r'), self.scratch_register('r'), self.scratch_register('r'));
        let (first, over, state) = (self.scratch_register('p'), self.scratch_register('p'), self.scratch_register('d'));
        let (value, dst, wait) = (self.pool_register('r'), self.pool_register('r'), self.new_label());
        let hopper = self.target.capability >= 90;
        // What thread 0 does besides; its own arrival comes after it.
        let (count, extra) = match self.random.next_below(if hopper { 4 } else { 2 }) {
            0 => {
                let one = self.scratch_register('r');
                let extra = format!(
                    "mov.u32 {one}, 1;\n@{first} mbarrier.arrive.noComplete.shared.b64 {state}, [{object}], {one};\n"
                );
                (format!("add.u32 {at}, %threads, 1;"), extra)
            }
            1 => (format!("mov.u32 {at}, %threads;"), String::new()),
            _ => {
                let bytes = 16 * (1 + self.random.next_below(20));
                let extra = format!(
                    "@{first} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{object}], {bytes};\n\
                     @{first} mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [{object}], {bytes};\n"
                );
                (format!("mov.u32 {at}, %threads;"), extra)
            }
        };
        let plus_one = count.starts_with("add");
        let test = match self.random.next_below(if hopper { 4 } else { 2 }) {
            0 => format!("mbarrier.test_wait.shared.b64 {over}, [{object}], {state};"),
            1 => format!("mbarrier.test_wait.parity.shared.b64 {over}, [{object}], 0;"),
            2 => format!("mbarrier.try_wait.shared.b64 {over}, [{object}], {state};"),
            _ => format!("mbarrier.try_wait.parity.shared.b64 {over}, [{object}], 0;"),
        };
        let drop = if !plus_one && self.random.chance_one_in(4) { "_drop" } else { "" };
        let partner = self.emit_partner_thread_index(&from);
        ProgramNode::Group(vec![fixed_line(format!(
            "mov.u32 {object}, smbar;\nsetp.eq.u32 {first}, %lin, 0;\n{count}\n\
             @{first} mbarrier.init.shared.b64 [{object}], {at};\nbar.sync 0;\n{extra}\
             mov.u32 {at}, sphase;\nmad.lo.u32 {at}, %lin, 4, {at};\nst.shared.b32 [{at}], {value};\n\
             mbarrier.arrive{drop}.shared.b64 {state}, [{object}];\n{wait}:\n{test}\n@!{over} bra {wait};\n\
             {partner}\nmov.u32 {at}, sphase;\nmad.lo.u32 {at}, {from}, 4, {at};\nld.shared.b32 {dst}, [{at}];\n\
             bar.sync 0;\n@{first} mbarrier.inval.shared.b64 [{object}];\nbar.sync 0;"
        ))])
    }
}
