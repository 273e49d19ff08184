//! Calls: arguments and results as bytes, a frame per call, local memory as a stack.

use super::{Frame, LOCAL_BASE, MAX_DEPTH, State, Thread, bytes_of, value_of};
use crate::machine::function_at;
use crate::memory::Region;
use crate::thread::Block;
use rtcg_ptx::ast::*;

impl<'m> Thread<'m> {
    pub(super) fn enter(&mut self, function: usize, arguments: Vec<Vec<u8>>) -> Result<(), String> {
        let f = &self.module.functions[function];
        if !f.defined {
            return Err(format!("the oracle does not know the function {}", f.name));
        }
        if self.frames.len() == MAX_DEPTH {
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
        let mut grown = Region::unwritten(LOCAL_BASE, end as usize);
        std::mem::swap(&mut grown, &mut self.local);
        self.local.take_from(&grown);
        let mut frame = Frame {
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
                frame.regs[reg.index()] = Some(value_of(bytes));
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    pub(super) fn call(&mut self, block: &mut Block<'_>, callee: &Callee, args: &[CallArg]) -> Result<(), String> {
        let mut target = match callee {
            Callee::Direct(f) => *f,
            Callee::Indirect { target, .. } => {
                let address = self.reg(*target)? as u64;
                function_at(self.module, address).ok_or_else(|| format!("calls {address:#x}, which is no function"))?
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
                CallArg::Param(v) => self.frame()?.params[v.index()].clone(),
                CallArg::Reg(r) => bytes_of(self.reg(*r)?, param.size as usize),
                CallArg::Imm(o) => bytes_of(self.get(block, o, param.size * 8)?, param.size as usize),
            });
        }
        self.enter(target.index(), arguments)
    }

    /// Returns from a function, or ends the thread.
    pub(super) fn leave(&mut self) -> Result<(), String> {
        let f = self.function()?;
        let frame = self.frames.pop().ok_or("a finished thread returns")?;
        if self.frames.is_empty() {
            self.frames.push(frame);
            self.state = State::Done;
            return Ok(());
        }
        self.local.truncate(frame.local_end);
        let statement = self.statement()?;
        let Some(Statement { inst: Inst::Call { rets, .. }, .. }) = statement else {
            return Err("returns to where no call is".into());
        };
        for ((ret, param), bytes) in rets.iter().zip(&f.returns).zip(&frame.results) {
            let bytes = match param.reg {
                Some(reg) => bytes_of(
                    frame.regs[reg.index()].ok_or("returns a register that was never written")?,
                    param.size as usize,
                ),
                None => bytes.clone(),
            };
            match ret {
                CallArg::Param(v) => self.frame_mut()?.params[v.index()].copy_from_slice(&bytes),
                CallArg::Reg(r) => self.set(*r, value_of(&bytes))?,
                CallArg::Imm(_) => return Err("returns to a constant".into()),
            }
        }
        self.advance()
    }
}
