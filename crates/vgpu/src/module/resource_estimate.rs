//! Figures that a real driver has from its assembler and that programs print: registers and local
//! memory of a kernel. Nothing depends on them.

use rtcg_ptx::ast::{FuncId, Function, Module, Reg, Space};
use rtcg_vgpu_jit::operands::{for_each_def, for_each_use};
use rtcg_vgpu_jit::reachable_functions;

/// Registers that are live at once at most, in text order, in words of 32 bits.
pub(super) fn estimate_registers(f: &Function) -> u32 {
    let mut range: Vec<Option<(usize, usize)>> = vec![None; f.regs.len()];
    for (at, st) in f.body.iter().enumerate() {
        let mut touch = |r: Reg| {
            if let Some(slot) = range.get_mut(r.index()) {
                let first = slot.map_or(at, |(first, _)| first);
                *slot = Some((first, at));
            }
        };
        for_each_def(&st.inst, &mut touch);
        for_each_use(&st.inst, &mut touch);
        st.guard.iter().for_each(|g| touch(g.reg));
    }
    let mut change = vec![0_i64; f.body.len() + 1];
    for (reg, range) in f.regs.iter().zip(&range) {
        if let Some((first, last)) = range {
            let words = i64::from(reg.ty.bits().div_ceil(32) * u32::from(reg.ty.bits() > 1));
            change[*first] += words;
            change[*last] -= words;
        }
    }
    let mut live = 0;
    let most = change.iter().map(|c| {
        live += c;
        live
    });
    // Addresses and predicates take a few more; ptxas never uses fewer than about eight.
    (most.max().unwrap_or(0) + 6).clamp(8, 255) as u32
}

/// Local variables of a kernel and the functions it can call, bytes per thread.
pub(super) fn estimate_local_bytes(ptx: &Module, kernel: FuncId) -> u32 {
    let bytes = |f: FuncId| {
        let locals = ptx.functions[f.index()].vars.iter().filter(|v| v.space == Space::Local);
        locals.map(|v| v.size).sum::<u64>()
    };
    reachable_functions(ptx, kernel).into_iter().map(bytes).sum::<u64>().min(u64::from(u32::MAX)) as u32
}
