//! What came with compute capability 9.0 to move memory: bulk copies into and out of shared memory, and
//! exchanges of 16 bytes.

use super::generator::{ProgramGenerator, fixed_line, removable_line};
use super::{INPUT_BYTES, ProgramNode, THREAD_SLOT_BYTES};

/// Bytes of shared memory that all threads exchange values in.
const EXCHANGE_BYTES: usize = 2048;

impl ProgramGenerator {
    /// Whether the device has them.
    pub(crate) fn has_bulk_copies(&self) -> bool {
        self.target.capability >= 90
    }

    /// A part of the input comes to shared memory, for which all threads wait by an `mbarrier`; each reads a word.
    pub(crate) fn emit_bulk_load(&mut self) -> ProgramNode {
        let (object, at, from) = (self.scratch_register('r'), self.scratch_register('r'), self.scratch_register('r'));
        let (first, over, state) = (self.scratch_register('p'), self.scratch_register('p'), self.scratch_register('d'));
        let (dst, index, wait) = (self.pool_register('r'), self.pool_register('r'), self.new_label());
        let packs = 1 + self.random.next_below(EXCHANGE_BYTES / 16);
        let bytes = 16 * packs;
        let (to, source) = (
            16 * self.random.next_below(EXCHANGE_BYTES / 16 - packs + 1),
            16 * self.random.next_below((INPUT_BYTES - bytes) / 16 + 1),
        );
        // In one piece or two.
        let cut = 16 * self.random.next_below(packs);
        let copies: String = [(0, cut), (cut, bytes - cut)]
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(skip, n)| {
                format!(
                    "@{first} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{at}+{}], [%in+{}], {n}, [{object}];\n",
                    to + skip,
                    source + skip
                )
            })
            .collect();
        ProgramNode::Group(vec![fixed_line(format!(
            "mov.u32 {object}, smbar;\nmov.u32 {at}, sphase;\nsetp.eq.u32 {first}, %lin, 0;\n\
             @{first} mbarrier.init.shared.b64 [{object}], %threads;\n@{first} fence.mbarrier_init.release.cluster;\n\
             @{first} fence.proxy.async;\nbar.sync 0;\n\
             @!{first} mbarrier.arrive.shared.b64 {state}, [{object}];\n\
             @{first} mbarrier.arrive.expect_tx.shared.b64 {state}, [{object}], {bytes};\n{copies}\
             {wait}:\nmbarrier.try_wait.parity.shared.b64 {over}, [{object}], 0;\n@!{over} bra {wait};\n\
             rem.u32 {from}, {index}, {words};\nmad.lo.u32 {from}, {from}, 4, {at};\nld.shared.b32 {dst}, [{from}+{to}];\n\
             bar.sync 0;\n@{first} mbarrier.inval.shared.b64 [{object}];\nbar.sync 0;",
            words = bytes / 4,
        ))])
    }

    /// The thread's own shared memory at `base`, all of whose `size` bytes are written, goes to its own global memory.
    pub(crate) fn emit_bulk_store(&mut self, base: &str, size: usize) -> ProgramNode {
        const BULK_REDUCE_OPS: &[&str] = &[
            "add.u32", "add.s32", "add.u64", "min.u32", "max.s32", "min.s64", "max.u64", "and.b32", "or.b64",
            "xor.b32", "inc.u32", "dec.u32",
        ];
        let n = 16 * (1 + self.random.next_below(size / 16));
        let (from, to) = (
            16 * self.random.next_below((size - n) / 16 + 1),
            16 * self.random.next_below((THREAD_SLOT_BYTES - n) / 16 + 1),
        );
        let reduces = self.random.chance_one_in(2);
        let (what, op) = match reduces {
            true => ("cp.reduce", format!(".{}", self.pick_str(BULK_REDUCE_OPS))),
            false => ("cp", String::new()),
        };
        removable_line(format!(
            "fence.proxy.async;\n{what}.async.bulk.global.shared::cta.bulk_group{op} [%slot+{to}], [{base}+{from}], {n};\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;"
        ))
    }

    /// An exchange of 16 bytes of the thread's own memory, compared or not.
    pub(crate) fn emit_16_byte_atomic_exchange(&mut self, space: &str, base: &str, size: usize) -> ProgramNode {
        let at = 16 * self.random.next_below(size / 16);
        let low = self.pool_register('d');
        let high = loop {
            let high = self.pool_register('d');
            if high != low {
                break high;
            }
        };
        let (x, y, z, w) =
            (self.pool_register('d'), self.pool_register('d'), self.pool_register('d'), self.pool_register('d'));
        let sem = self.pick_str(&["", ".relaxed.cta", ".acq_rel.gpu"]);
        let guard = self.random_guard();
        let exchange = match self.random.next_below(3) {
            0 => format!("{guard}atom{sem}{space}.exch.b128 %wq0, [{base}+{at}], %wq1;"),
            // What is there now, so that half of the comparisons succeed.
            1 => format!(
                "{guard}ld{space}.v2.b64 {{%wd0, %wd1}}, [{base}+{at}];\nmov.b128 %wq2, {{%wd0, %wd1}};\n\
                 {guard}atom{sem}{space}.cas.b128 %wq0, [{base}+{at}], %wq2, %wq1;"
            ),
            _ => format!("{guard}atom{sem}{space}.cas.b128 %wq0, [{base}+{at}], %wq2, %wq1;"),
        };
        removable_line(format!(
            "{{ .reg .b128 %wq<3>; .reg .b64 %wd<2>;\nmov.u64 %wd0, {x};\nmov.u64 %wd1, {y};\nmov.b128 %wq0, {{{x}, {y}}};\n\
             mov.b128 %wq1, {{{z}, {w}}};\nmov.b128 %wq2, {{{y}, {z}}};\n{exchange}\nmov.b128 {{{low}, {high}}}, %wq0; }}"
        ))
    }
}
