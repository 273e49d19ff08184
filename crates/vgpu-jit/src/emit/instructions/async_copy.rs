//! `cp.async`, which is executed at once: a load and a store, with zeros for what is not copied.

use crate::JitError;
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::register_values::{CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::simt::body::Stmt;
use cranelift_codegen::ir::{InstBuilder, condcodes::IntCC};
use rtcg_ptx::ast::*;

impl<'a> FunctionEmitter<'a, '_> {
    /// `cp.async` is executed at once: a load and a store.
    pub(crate) fn emit_cp_async(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::CpAsync { dst, src, size, src_size, ignore_src } = &*st.inst else { return Ok(()) };
        let words = (*size / 4) as usize;
        for c in 0..CHUNKS_PER_WARP {
            let mask = self.active_mask(st, c);
            let zero = self.splat_i32x4(0);
            let wanted = match ignore_src {
                Some(p) => Some(self.source_bytes_unless_ignored(*p, c)),
                None => src_size.map(|n| self.operand_lanes(n, RegWidth::W32, c)),
            };
            let some: Option<LaneParts> =
                wanted.as_ref().map(|n| n.iter().map(|&v| self.b.ins().icmp(IntCC::NotEqual, v, zero)).collect());
            let from_mask = match (&mask, &some) {
                (Some(m), Some(s)) => Some(m.iter().zip(s).map(|(&a, &b)| self.b.ins().band(a, b)).collect()),
                (m, s) => m.clone().or_else(|| s.clone()),
            };
            let mut values = self.async_copy_load(src, words, c, from_mask.as_ref())?;
            if let Some(n) = &wanted {
                for (e, v) in values.iter_mut().enumerate() {
                    *v = self.zero_bytes_past_limit(v, n, e as i64 * 4);
                }
            }
            self.async_copy_store(dst, &values, c, mask.as_ref())?;
        }
        Ok(())
    }

    /// Bytes that a copy reads: none where `p` holds, else as many as it wants.
    fn source_bytes_unless_ignored(&mut self, p: PredSrc, chunk: usize) -> LaneParts {
        match p {
            PredSrc::Const(ignore) => {
                let v = self.splat_i32x4(if ignore { 0 } else { 16 });
                LaneParts::from_slice(&[v, v])
            }
            PredSrc::Reg { reg, negated } => {
                let p = self.read_lanes(reg, chunk);
                if negated { p } else { p.iter().map(|&v| self.b.ins().bnot(v)).collect() }
            }
        }
    }

    /// The bytes of word `at / 4` that lie below `limit`, the others zero.
    fn zero_bytes_past_limit(&mut self, word: &LaneParts, limit: &LaneParts, at: i64) -> LaneParts {
        (0..2)
            .map(|i| {
                let mut kept = self.splat_i32x4(0);
                for byte in 0..4 {
                    let position = self.splat_i32x4(at + byte);
                    let inside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, limit[i], position);
                    let mask = self.splat_i32x4(0xff << (8 * byte));
                    let mask = self.b.ins().band(inside, mask);
                    kept = self.b.ins().bor(kept, mask);
                }
                self.b.ins().band(word[i], kept)
            })
            .collect()
    }
}
