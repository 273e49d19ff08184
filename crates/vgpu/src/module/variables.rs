//! Module variables in device memory.
//!
//! Establishes: all variables of a module lie in one slab of the window's data area, aligned,
//! initialised, with nothing accessible right before and behind it; the slab goes back when the
//! module is dropped.

use super::LoadError;
use crate::device::device_by_ordinal;
use crate::memory::allocation_report as allocation;
use rtcg_ptx::ast::{Module, Space, Symbol, Var, VarInit};
use rtcg_vgpu_abi::model::ptx::GLOBAL_VARIABLE_ALIGNMENT;
use rtcg_vgpu_abi::{IgnorePoison, error::ResultCode};
use rtcg_vgpu_exec::check::{self, shadow};
use rtcg_vgpu_exec::window::{WindowError, device_window, page_size};
use rtcg_vgpu_jit::function_token;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Bytes of the red zone behind each variable, when accesses are checked.
const RED_ZONE_BYTES: u64 = 32;

/// Memory of one module; empty for a module without variables.
#[derive(Debug)]
pub(super) struct ModuleMemory {
    start: usize,
    len: usize,
    /// The device that reports the memory as in use, and the bytes.
    reported: (u32, u64),
}

/// Free parts of the data area, start to length; filled at the first use.
static FREE_RANGES: Mutex<Option<BTreeMap<usize, usize>>> = Mutex::new(None);

impl ModuleMemory {
    /// Zero-filled memory for `bytes` and an inaccessible page behind it.
    fn new(bytes: u64, device: u32) -> Result<ModuleMemory, WindowError> {
        if bytes == 0 {
            return Ok(ModuleMemory { start: 0, len: 0, reported: (device, 0) });
        }
        let w = device_window()?;
        let none = || WindowError { what: format!("{bytes} bytes of module variables"), errno: libc::ENOMEM };
        let pages =
            usize::try_from(bytes).ok().and_then(|b| b.checked_next_multiple_of(page_size())).ok_or_else(none)?;
        let len = pages.checked_add(page_size()).ok_or_else(none)?;
        let mut free = FREE_RANGES.lock().ignore_poison();
        let free = free.get_or_insert_with(|| BTreeMap::from([(w.globals_area().start, w.globals_area().len)]));
        let (&start, &have) = free.iter().find(|(_, have)| **have >= len).ok_or_else(none)?;
        w.commit_pages(start, pages)?;
        free.remove(&start);
        if have > len {
            free.insert(start + len, have - len);
        }
        if let Ok(device) = device_by_ordinal(device as i32) {
            device.report().add_allocation(bytes);
        }
        Ok(ModuleMemory { start, len, reported: (device, bytes) })
    }
}

impl Drop for ModuleMemory {
    fn drop(&mut self) {
        let Ok(w) = device_window() else { return };
        if self.len == 0 {
            return;
        }
        if let Ok(device) = device_by_ordinal(self.reported.0 as i32) {
            device.report().remove_allocation(self.reported.1);
        }
        allocation::remove_variables(self.start as u64, self.len as u64);
        shadow::mark_freed(self.start, self.len);
        // SAFETY: the module is gone, and with it every kernel that could access the slab.
        let gone = unsafe { w.decommit_pages(self.start, self.len) };
        let mut free = FREE_RANGES.lock().ignore_poison();
        // Memory that the system does not take back is not zero, so it is not used again.
        let (Some(free), Ok(())) = (free.as_mut(), gone) else { return };
        let (mut start, mut len) = (self.start, self.len);
        if let Some((&before, &n)) = free.range(..start).next_back()
            && before + n == start
        {
            free.remove(&before);
            (start, len) = (before, n + len);
        }
        if let Some(n) = free.remove(&(self.start + self.len)) {
            len += n;
        }
        free.insert(start, len);
    }
}

/// Places and initialises the variables of `ptx`: their memory, and the address of each (0 for
/// those that have none in a module: shared ones, textures).
pub(super) fn allocate_variables(ptx: &Module, device: u32) -> Result<(ModuleMemory, Vec<u64>), LoadError> {
    let (offsets, total) = variable_offsets(&ptx.vars);
    let out_of_memory = |e: WindowError| LoadError { code: ResultCode::OUT_OF_MEMORY, log: e.to_string() };
    let slab = ModuleMemory::new(total, device).map_err(out_of_memory)?;
    let addresses: Vec<u64> = offsets.iter().map(|o| o.map_or(0, |o| slab.start as u64 + o)).collect();
    for (var, &address) in ptx.vars.iter().zip(&addresses) {
        if address != 0 {
            let bytes = initial_bytes(ptx, var, &addresses)?;
            // SAFETY: the slab was just committed for all variables; `initial_bytes` is cut to the
            // variable's size.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
            let constant = var.space == Space::Const;
            allocation::add_variable(address, var.size, &var.name, constant);
            if constant {
                shadow::mark_constant(address as usize, var.size as usize);
            } else {
                shadow::mark_allocated(address as usize, var.size as usize, true);
            }
        }
    }
    Ok((slab, addresses))
}

/// Offsets of the variables that have memory, and the bytes of all.
fn variable_offsets(vars: &[Var]) -> (Vec<Option<u64>>, u64) {
    let mut next = 0_u64;
    let gap = if check::enabled_checks().memory { RED_ZONE_BYTES } else { 0 };
    let mut offsets = vec![None; vars.len()];
    let mut place = |v: &Var, alignment: u64| {
        // A texture, sampler or surface is the place of an object's handle; a variable without a size still has an
        // address of its own.
        let size = if v.opaque.is_some() { 8 } else { v.size.max(1).saturating_add(gap) };
        let at = next.next_multiple_of(alignment.max(u64::from(v.align)));
        next = at.saturating_add(size);
        Some(at)
    };
    let in_space = |space| vars.iter().enumerate().filter(move |(_, v)| v.space == space);
    // Constants follow each other as in the device's constant bank.
    let mut alignment = GLOBAL_VARIABLE_ALIGNMENT;
    for (i, v) in in_space(Space::Const) {
        offsets[i] = place(v, if v.opaque.is_some() { alignment.max(8) } else { alignment });
        alignment = 1;
    }
    for (i, v) in in_space(Space::Global) {
        offsets[i] = place(v, GLOBAL_VARIABLE_ALIGNMENT);
    }
    (offsets, next)
}

/// Initial bytes of a variable; zeros follow.
fn initial_bytes(ptx: &Module, var: &Var, addresses: &[u64]) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    for init in &var.init {
        match init {
            VarInit::Bytes(b) => bytes.extend_from_slice(b),
            VarInit::Address { symbol, offset, size, shift, .. } => {
                let base = symbol_address(ptx, var, *symbol, addresses)?;
                let value = base.wrapping_add_signed(*offset).checked_shr(*shift).unwrap_or(0);
                bytes.extend_from_slice(&value.to_le_bytes()[..(*size as usize).min(8)]);
            }
        }
    }
    bytes.truncate(usize::try_from(var.size).unwrap_or(usize::MAX));
    Ok(bytes)
}

fn symbol_address(ptx: &Module, var: &Var, symbol: Symbol, addresses: &[u64]) -> Result<u64, LoadError> {
    let refuse = |what: String| {
        let (line, column, _) = rtcg_ptx::line_and_column(&ptx.source, var.span.start);
        let log = format!("ptx:{line}:{column}: the initialiser of {} {what}", var.name);
        Err(LoadError { code: ResultCode::INVALID_PTX, log })
    };
    match symbol {
        Symbol::Global(g) => match addresses.get(g.index()) {
            Some(&a) if a != 0 => Ok(a),
            _ => refuse("takes an address that is not the same for all blocks".into()),
        },
        Symbol::Func(f) => Ok(function_token(f)),
        _ => refuse("takes the address of a variable of a function".into()),
    }
}
