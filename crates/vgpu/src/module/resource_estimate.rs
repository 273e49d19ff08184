//! Figures that a real driver has from its assembler: registers and local memory of a kernel.
//!
//! `.maxnreg`, the loader's options and launch bounds limit registers exactly. What a kernel takes below its limit only an
//! allocator knows; the estimate here was fitted to 3,500 kernels that an H200's driver compiled, and half of them are
//! within a quarter of it. Launches are refused only by what is certain: no kernel of those took fewer.

use rtcg_ptx::ast::{FuncId, Function, Module, Space};
use rtcg_vgpu_abi::model::launch::{
    MAX_REGISTERS, MIN_REGISTER_LIMIT, MIN_REGISTERS, max_registers_for_block, max_threads_by_registers,
};
use rtcg_vgpu_jit::{RegisterNeeds, reachable_functions, register_needs};

/// Registers of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegisterUse {
    /// `CU_FUNC_ATTRIBUTE_NUM_REGS`
    pub(super) registers: u32,
    /// The largest block that surely finds registers.
    pub(super) max_threads: u32,
    /// Bytes of local memory for values that find no register.
    pub(super) spilled_bytes: u32,
}

/// What limits the registers of a kernel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RegisterLimits {
    /// `CU_JIT_MAX_REGISTERS`
    pub(super) registers: Option<u32>,
    /// `CU_JIT_THREADS_PER_BLOCK`
    pub(super) threads: Option<u32>,
}

impl RegisterLimits {
    /// The limit of a kernel, from its directives or the options.
    fn of(self, f: &Function) -> u32 {
        let threads = f.bounds.req_ntid.or(f.bounds.max_ntid).map(|n| n.iter().product()).or(self.threads);
        // As many threads as all the blocks have that a multiprocessor is to hold.
        let blocks = f.bounds.min_ncta_per_sm.unwrap_or(1).max(1);
        let by_block = threads.map(|n: u32| max_registers_for_block(n.saturating_mul(blocks)));
        let given = f.bounds.max_nreg.or(self.registers).map(|n| n.max(MIN_REGISTER_LIMIT));
        given.or(by_block).unwrap_or(MAX_REGISTERS).min(MAX_REGISTERS)
    }
}

/// Registers that a kernel takes below `limits`.
pub(super) fn register_use(f: &Function, limits: RegisterLimits) -> RegisterUse {
    let limit = limits.of(f);
    let needs = register_needs(f).unwrap_or_default();
    let (certain, estimated) = (certain_registers(needs), estimated_registers(needs));
    let least = certain.min(limit);
    RegisterUse {
        registers: estimated.min(limit),
        max_threads: max_threads_by_registers(least),
        spilled_bytes: certain.saturating_sub(limit) * 4,
    }
}

/// Registers that no allocation can do without.
fn certain_registers(needs: RegisterNeeds) -> u32 {
    let in_loops = if needs.loop_carried < 8 { MIN_REGISTERS } else { needs.loop_carried + 16 };
    in_loops.max(needs.ordered)
}

/// Registers that an allocation is likely to take: steps of 2, from 24 on of 8.
fn estimated_registers(needs: RegisterNeeds) -> u32 {
    let likely = (needs.live * 7 / 10 + if needs.live == 0 { 0 } else { 4 }).max(certain_registers(needs));
    let step = if likely > 24 { 8 } else { 2 };
    likely.next_multiple_of(step).max(MIN_REGISTERS)
}

/// Local variables of a kernel and the functions it can call, bytes per thread.
pub(super) fn estimate_local_bytes(ptx: &Module, kernel: FuncId) -> u32 {
    let bytes = |f: FuncId| {
        let locals = ptx.functions[f.index()].vars.iter().filter(|v| v.space == Space::Local);
        locals.map(|v| v.size).sum::<u64>()
    };
    reachable_functions(ptx, kernel).into_iter().map(bytes).sum::<u64>().min(u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn use_of_ordered_values(n: usize, directives: &str) -> RegisterUse {
        let loads: String = (0..n).map(|i| format!("ld.volatile.global.u32 %r{i}, [%p+{}];\n", 4 * i)).collect();
        let stores: String = (0..n).map(|i| format!("st.volatile.global.u32 [%p+{}], %r{i};\n", 4 * i)).collect();
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) {directives}\n\
             {{ .reg .u32 %r<{n}>; .reg .u64 %p; ld.param.u64 %p, [a];\n{loads}{stores}ret; }}"
        );
        let parsed = rtcg_ptx::parse(text.as_str());
        assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("ptx"));
        register_use(&parsed.module.functions[0], RegisterLimits::default())
    }

    #[test]
    fn values_between_volatile_accesses_take_registers_or_spill() {
        for (directives, threads, spills) in [
            ("", 256, false),
            (".maxnreg 32", 2048, true),
            (".maxnreg 255", 256, false),
            (".maxntid 1024", 1024, true),
            (".maxntid 512", 512, true),
            (".maxntid 256", 256, false),
            (".maxntid 256\n.minnctapersm 4", 1024, true),
            (".maxntid 1024\n.maxnreg 255", 256, false),
        ] {
            let used = use_of_ordered_values(200, directives);
            assert_eq!((used.max_threads, used.spilled_bytes > 0), (threads, spills), "{directives}");
        }
        assert!(use_of_ordered_values(20, "").max_threads >= 2048);
    }
}
