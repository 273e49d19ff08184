//! Calls: arguments and results as bytes, a frame per call, local memory as a stack.

use super::memory::{value_from_bytes, value_to_bytes};
use super::{CallFrame, LOCAL_BASE, MAX_CALL_DEPTH, SimThread, ThreadState};
use crate::interpreter::function_at_address;
use crate::interpreter::thread::SimBlock;
use crate::memory::MemoryRegion;
use rtcg_ptx::ast::*;

impl<'m> SimThread<'m> {
    pub(super) fn enter_function(&mut self, function: usize, arguments: Vec<Vec<u8>>) -> Result<(), String> {
        let f = &self.module.functions[function];
        if !f.defined {
            return Err(format!("the oracle does not know the function {}", f.name));
        }
        if self.frames.len() == MAX_CALL_DEPTH {
            return Err("calls are nested too deeply".into());
        }
        let local_end = self.local.bytes.len();
        let (mut local, mut end) = (vec![], local_end as u64);
        for var in &f.vars {
            let is_local = var.space == Space::Local;
            let align = u64::from(var.align.max(1));
            end = if is_local { end.next_multiple_of(align) } else { end };
            local.push(LOCAL_BASE + end);
            end += if is_local { var.size } else { 0 };
        }
        let params = f.vars.iter().map(|v| vec![0; if v.space == Space::Param { v.size as usize } else { 0 }]);
        let mut grown = MemoryRegion::new_uninitialised(LOCAL_BASE, end as usize);
        std::mem::swap(&mut grown, &mut self.local);
        self.local.copy_from_region(&grown);
        let mut frame = CallFrame {
            function,
            pc: 0,
            regs: vec![None; f.regs.len()],
            carry: None,
            params: params.collect(),
            local,
            results: f.returns.iter().map(|p| vec![0; p.size as usize]).collect(),
            arguments,
            local_end,
        };
        for (param, bytes) in f.params.iter().zip(&frame.arguments) {
            if let Some(reg) = param.reg {
                frame.regs[reg.index()] = Some(value_from_bytes(bytes));
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    pub(super) fn execute_call(
        &mut self,
        block: &mut SimBlock<'_>,
        callee: &Callee,
        args: &[CallArg],
    ) -> Result<(), String> {
        let mut target = match callee {
            Callee::Direct(f) => *f,
            Callee::Indirect { target, .. } => {
                let address = self.read_register(*target)? as u64;
                function_at_address(self.module, address)
                    .ok_or_else(|| format!("calls {address:#x}, which is no function"))?
            }
        };
        if let Some((_, other)) = self.module.aliases.iter().find(|(name, _)| *name == target) {
            target = *other;
        }
        let params = &self.module.functions[target.index()].params;
        if params.len() != args.len() {
            return Err("calls a function with a wrong number of arguments".into());
        }
        let mut arguments = vec![];
        for (arg, param) in args.iter().zip(params) {
            arguments.push(match arg {
                CallArg::Param(v) => self.current_frame()?.params[v.index()].clone(),
                CallArg::Reg(r) => value_to_bytes(self.read_register(*r)?, param.size as usize),
                CallArg::Imm(o) => value_to_bytes(self.read_operand(block, o, param.size * 8)?, param.size as usize),
            });
        }
        self.enter_function(target.index(), arguments)
    }

    /// Returns from a function, or ends the thread.
    pub(super) fn return_or_end(&mut self) -> Result<(), String> {
        let f = self.current_function()?;
        let frame = self.frames.pop().ok_or("a finished thread returns")?;
        if self.frames.is_empty() {
            self.frames.push(frame);
            self.state = ThreadState::Done;
            return Ok(());
        }
        self.local.shrink_to(frame.local_end);
        let statement = self.current_statement()?;
        let Some(Statement { inst: Inst::Call { rets, .. }, .. }) = statement else {
            return Err("returns to where no call is".into());
        };
        for ((ret, param), bytes) in rets.iter().zip(&f.returns).zip(&frame.results) {
            let bytes = match param.reg {
                Some(reg) => value_to_bytes(
                    frame.regs[reg.index()].ok_or("returns a register that was never written")?,
                    param.size as usize,
                ),
                None => bytes.clone(),
            };
            match ret {
                CallArg::Param(v) => self.frame_mut()?.params[v.index()].copy_from_slice(&bytes),
                CallArg::Reg(r) => self.write_register(*r, value_from_bytes(&bytes))?,
                CallArg::Imm(_) => return Err("returns to a constant".into()),
            }
        }
        self.advance_to_next_statement()
    }
}
