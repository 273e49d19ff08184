//! Addresses of a thread's operands, and its loads, stores and atomics: parameters, local and shared memory, and that
//! of the grid.

use super::{LOCAL_WINDOW, SHARED_WINDOW, SimBlock, SimThread, WINDOW_BYTES};
use crate::exact_rounding::F64;
use crate::interpreter::warp::apply_atomic_op;
use crate::interpreter::{GridState, function_address};
use crate::memory::RecordedAccess;
use rtcg_ptx::ast::*;

/// Little-endian bytes of a value.
pub(super) fn value_to_bytes(value: u128, n: usize) -> Vec<u8> {
    value.to_le_bytes()[..n].to_vec()
}

pub(super) fn value_from_bytes(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |x, &b| x << 8 | u128::from(b))
}

impl SimThread<'_> {
    /// The address of a symbol in its own space.
    pub(super) fn symbol_address(&self, grid: &GridState, symbol: Symbol) -> Result<u64, String> {
        let frame = self.current_frame()?;
        match symbol {
            Symbol::Func(f) => Ok(function_address(f)),
            Symbol::Global(v) => Ok(grid.variables[v.index()]),
            Symbol::Local(v) => match self.current_function()?.vars[v.index()].space {
                Space::Local => Ok(frame.local[v.index()]),
                Space::Shared => Ok(grid.shared_variables[&(frame.function, v.index())]),
                other => Err(format!("the oracle does not know the address of a variable in {other:?}")),
            },
            Symbol::Param(_) | Symbol::Return(_) => Err("the oracle does not know the address of a parameter".into()),
        }
    }

    /// The space of a symbol.
    fn space_of_symbol(&self, symbol: Symbol) -> Result<Space, String> {
        Ok(match symbol {
            Symbol::Global(v) => self.module.vars[v.index()].space,
            Symbol::Local(v) => self.current_function()?.vars[v.index()].space,
            Symbol::Func(_) => Space::Global,
            Symbol::Param(_) | Symbol::Return(_) => Space::Param,
        })
    }

    pub(super) fn execute_atomic(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::Atom { space, op, ty, dst, addr, b, c, .. } = inst else { return Ok(()) };
        let b = self.read_operand(block, b, ty.bits())?;
        let c = c.as_ref().map_or(Ok(0), |c| self.read_operand(block, c, ty.bits()))?;
        let (n, address) = (ty.bytes() as usize, self.generic_address(block, *space, addr)?);
        let old = self.access_memory(block, address, n, true, None)?;
        // Sums in global memory flush subnormal numbers of single precision, in shared ones not.
        let flush = address.wrapping_sub(SHARED_WINDOW) >= WINDOW_BYTES;
        if *op == AtomOp::Add && *ty == Type::F64 && [old, b].iter().any(|&x| F64.is_nan(x as u64)) {
            block.grid.unspecified.set(true);
        }
        let new = apply_atomic_op(*op, *ty, flush, old, b, c)?;
        self.access_memory(block, address, n, true, Some(new))?;
        dst.map_or(Ok(()), |dst| self.write_register(dst, old))
    }

    pub(super) fn execute_vector_atomic(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::AtomVector { space, op, ty, dsts, addr, srcs, .. } = inst else { return Ok(()) };
        let (n, address) = (ty.bytes() as usize, self.generic_address(block, *space, addr)?);
        if address % (n * srcs.len()) as u64 != 0 {
            return Err(format!("an atomic of {} elements at {address:#x} is not aligned", srcs.len()));
        }
        // A source may be a destination too.
        let values: Result<Vec<u128>, String> = srcs.iter().map(|s| self.read_operand(block, s, ty.bits())).collect();
        for (i, b) in values?.into_iter().enumerate() {
            let at = address + (i * n) as u64;
            let old = self.access_memory(block, at, n, true, None)?;
            let new = apply_atomic_op(*op, *ty, true, old, b, 0)?;
            self.access_memory(block, at, n, true, Some(new))?;
            let dst = dsts.as_ref().and_then(|list| list[i]);
            dst.map_or(Ok(()), |dst| self.write_register(dst, old))?;
        }
        Ok(())
    }

    /// `cvta` and `isspacep`.
    pub(super) fn execute_address_conversion(&mut self, block: &SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        match inst {
            Inst::Cvta { space, to, ty, dst, src } => {
                let value = self.read_operand(block, src, ty.bits())? as u64;
                let window = match space {
                    Space::Shared => SHARED_WINDOW,
                    Space::Local => LOCAL_WINDOW,
                    _ => 0,
                };
                self.write_register(
                    *dst,
                    if *to { value.wrapping_sub(window) } else { value.wrapping_add(window) }.into(),
                )
            }
            Inst::Isspacep { space, dst, a } => {
                let address = self.read_operand(block, a, 64)? as u64;
                let truth = match space {
                    Space::Shared => address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES,
                    Space::Local => address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES,
                    Space::Global => address < SHARED_WINDOW,
                    other => return Err(format!("the oracle does not know isspacep of {other:?}")),
                };
                self.write_register(*dst, truth.into())
            }
            _ => Ok(()),
        }
    }

    /// The generic address of a memory operand.
    pub(crate) fn generic_address(&self, block: &SimBlock<'_>, space: Space, addr: &Addr) -> Result<u64, String> {
        let (base, space) = match addr.base {
            AddrBase::Reg(r) => {
                let value = self.read_register(r)? as u64;
                // A 32-bit register holds an offset in its space; generic ones have 64.
                (value, space)
            }
            AddrBase::Symbol(s) => {
                let home = self.space_of_symbol(s)?;
                (self.symbol_address(block.grid, s)?, if space == Space::Generic { home } else { space })
            }
            AddrBase::Absolute => (0, space),
        };
        let address = base.wrapping_add_signed(addr.offset);
        Ok(match space {
            Space::Shared => SHARED_WINDOW + (address & (WINDOW_BYTES - 1)),
            Space::Local => LOCAL_WINDOW + (address & (WINDOW_BYTES - 1)),
            _ => address,
        })
    }

    /// Bytes of a `.param` object that a memory operand names, if it names one.
    fn param_bytes(&mut self, addr: &Addr) -> Result<&mut Vec<u8>, String> {
        let AddrBase::Symbol(symbol) = addr.base else {
            return Err("the oracle does not know parameters behind registers".into());
        };
        let frame = self.frame_mut()?;
        let bytes = match symbol {
            Symbol::Param(n) => frame.arguments.get_mut(n as usize),
            Symbol::Return(n) => frame.results.get_mut(n as usize),
            Symbol::Local(v) => frame.params.get_mut(v.index()),
            _ => None,
        };
        bytes.ok_or_else(|| "no such parameter".into())
    }

    pub(super) fn load_values(
        &mut self,
        block: &mut SimBlock<'_>,
        space: Space,
        addr: &Addr,
        size: usize,
        n: usize,
    ) -> Result<Vec<u128>, String> {
        if space == Space::Param {
            let at = usize::try_from(addr.offset).map_err(|_| "a negative offset in a parameter")?;
            let bytes = self.param_bytes(addr)?;
            let bytes = bytes.get(at..at + size * n).ok_or("reads beyond a parameter")?;
            return Ok(bytes.chunks(size).map(value_from_bytes).collect());
        }
        let address = self.generic_address(block, space, addr)?;
        if address % (size * n) as u64 != 0 {
            return Err(format!("a load of {} bytes at {address:#x} is not aligned", size * n));
        }
        (0..n).map(|i| self.access_memory(block, address + (i * size) as u64, size, false, None)).collect()
    }

    pub(super) fn store_values(
        &mut self,
        block: &mut SimBlock<'_>,
        space: Space,
        addr: &Addr,
        size: usize,
        values: &[u128],
    ) -> Result<(), String> {
        if space == Space::Param {
            let at = usize::try_from(addr.offset).map_err(|_| "a negative offset in a parameter")?;
            let bytes = self.param_bytes(addr)?;
            let bytes = bytes.get_mut(at..at + size * values.len()).ok_or("writes beyond a parameter")?;
            for (place, &value) in bytes.chunks_mut(size).zip(values) {
                place.copy_from_slice(&value_to_bytes(value, size));
            }
            return Ok(());
        }
        let address = self.generic_address(block, space, addr)?;
        if address % (size * values.len()) as u64 != 0 {
            return Err(format!("a store of {} bytes at {address:#x} is not aligned", size * values.len()));
        }
        for (i, &value) in values.iter().enumerate() {
            self.access_memory(block, address + (i * size) as u64, size, false, Some(value))?;
        }
        Ok(())
    }

    /// Reads, or writes when there is a value, `n` bytes at a generic address.
    pub(crate) fn access_memory(
        &mut self,
        block: &mut SimBlock<'_>,
        address: u64,
        n: usize,
        atomic: bool,
        value: Option<u128>,
    ) -> Result<u128, String> {
        let access = RecordedAccess { thread: self.global_number, block: block.number, epoch: block.epoch, atomic };
        let (region, offset) = if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES {
            (Some(&mut block.shared), address - SHARED_WINDOW)
        } else if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
            (Some(&mut self.local), address - LOCAL_WINDOW)
        } else {
            (block.grid.memory.iter_mut().find(|r| r.offset_of(address, n).is_some()), address)
        };
        let place = region.and_then(|r| r.offset_of(offset, n).map(|at| (r, at)));
        let (region, at) = place.ok_or_else(|| format!("accesses {n} bytes at {address:#x}, where no memory is"))?;
        match value {
            Some(value) => region.write_bytes(at, n, value, access).map(|()| value),
            None => region.read_bytes(at, n, access),
        }
        .map_err(|e| format!("{e} (address {address:#x}, thread {})", self.number))
    }
}
