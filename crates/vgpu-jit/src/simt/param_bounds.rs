//! Accesses to parameters and results by name, which compiled code makes without a check.
//!
//! Establishes, for the loader: a load or store whose constant offset leads out of its parameter, or between
//! the units of its record, is refused. The records of device functions lie on the native stack, so nothing
//! else stands between such an offset and the process. A kernel's parameters lie in the device window, one
//! after the other; there the whole block counts.

use rtcg_ptx::ast::*;

/// Bytes of a unit of a record; no element of an access may lie in two.
const UNIT_BYTES: i64 = 8;

/// Why an access of `f` to a parameter or result cannot be executed.
pub fn param_access_problem(f: &Function, inst: &Inst) -> Option<String> {
    let (store, ty, addr, n_elements) = match inst {
        Inst::Ld { space: Space::Param, ty, addr, dsts, .. } => (false, *ty, addr, dsts.len()),
        Inst::St { space: Space::Param, ty, addr, srcs, .. } => (true, *ty, addr, srcs.len()),
        _ => return None,
    };
    let AddrBase::Symbol(symbol) = addr.base else { return None };
    let (name, bytes, before) = parameter_extent(f, symbol)?;
    if store && matches!(symbol, Symbol::Param(_)) {
        return Some(format!("parameter `{name}` cannot be written"));
    }
    let (offset, element) = (addr.offset, i64::from(ty.bytes()));
    let length = element * n_elements as i64;
    let inside = offset >= -before && offset.checked_add(length).is_some_and(|end| end <= bytes);
    if !inside {
        return Some(format!(
            "an access of {length} bytes at offset {offset} is outside of `{name}`, of {bytes} bytes"
        ));
    }
    // A kernel's parameters are plain memory.
    let split = !f.entry || !matches!(symbol, Symbol::Param(_));
    (split && offset % element.min(UNIT_BYTES) != 0)
        .then(|| format!("an access to `{name}` at offset {offset} is not aligned to its {element} bytes"))
}

/// Name of a parameter, the bytes that may be accessed from its beginning on, and before it.
fn parameter_extent(f: &Function, symbol: Symbol) -> Option<(&str, i64, i64)> {
    let of = |p: &Param| i64::from(p.size);
    Some(match symbol {
        Symbol::Param(n) if f.entry => {
            let (p, last) = (f.params.get(n as usize)?, f.params.last()?);
            let end = (last.offset + last.size).next_multiple_of(UNIT_BYTES as u32);
            (&p.name, i64::from(end - p.offset), i64::from(p.offset))
        }
        Symbol::Param(n) => f.params.get(n as usize).map(|p| (&*p.name, of(p), 0))?,
        Symbol::Return(n) => f.returns.get(n as usize).map(|p| (&*p.name, of(p), 0))?,
        Symbol::Local(v) => {
            let v = f.vars.get(v.index())?;
            (&v.name, i64::try_from(v.size).unwrap_or(i64::MAX), 0)
        }
        Symbol::Global(_) | Symbol::Func(_) => return None,
    })
}
