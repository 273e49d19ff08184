//! `mbarrier` objects, kept beside the memory that they lie in. A thread that tests a phase which has not
//! ended waits for its end: programs test in a loop, so that is their only result.

use rtcg_ptx::ast::*;

/// An object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mbarrier {
    /// Arrivals that it was made for.
    count: u64,
    expected: u64,
    pending: u64,
    bytes: i64,
    /// Phases that have ended.
    phase: u64,
}

/// Arrivals and bytes are counted up to this number.
const MAX_PENDING_COUNT: u64 = (1 << 20) - 1;
/// A state: the phase, and below it the pending arrivals.
const PENDING_COUNT_BITS: u32 = 32;

/// Pending arrivals in a state.
pub(crate) fn pending_arrivals(state: u128) -> u128 {
    state & ((1 << PENDING_COUNT_BITS) - 1)
}

impl Mbarrier {
    /// A new object.
    pub(crate) fn new(count: u128) -> Result<Mbarrier, String> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        if count == 0 || count > MAX_PENDING_COUNT {
            return Err(format!("an mbarrier of {count} arrivals"));
        }
        Ok(Mbarrier { count, expected: count, pending: count, bytes: 0, phase: 0 })
    }

    /// Arrivals that it was made for, some of which may have been dropped since.
    pub(crate) fn expected_arrivals(&self) -> u64 {
        self.count
    }

    /// Performs an operation with operand `a`; gives the state before, and whether the phase ended.
    pub(crate) fn perform_op(&mut self, op: MbarrierOp, a: Option<u128>) -> Result<(u128, bool), String> {
        let state = u128::from(self.phase) << PENDING_COUNT_BITS | u128::from(self.pending);
        let number = || a.map(|a| a as u64).ok_or("an mbarrier operation without its number");
        let before = self.phase;
        match op {
            MbarrierOp::ExpectTx => self.expect_tx(number()?)?,
            MbarrierOp::CompleteTx => {
                self.bytes -= number()? as i64;
                self.advance_phase_if_complete();
            }
            MbarrierOp::Arrive { drop, no_complete } => {
                self.count_arrivals(a.map_or(1, |a| a as u64), drop)?;
                if no_complete && self.phase != before {
                    return Err("mbarrier.arrive.noComplete completes the phase".into());
                }
            }
            MbarrierOp::ArriveExpectTx { drop } => {
                self.expect_tx(number()?)?;
                self.count_arrivals(1, drop)?;
            }
            MbarrierOp::CopiesArrive { noinc: true } => self.count_arrivals(1, false)?,
            // The arrival is added to those that the phase waits for, and comes at once.
            MbarrierOp::CopiesArrive { noinc: false } => {}
            MbarrierOp::Init | MbarrierOp::Inval | MbarrierOp::Wait { .. } => {
                return Err(format!("{op:?} is no operation on a living mbarrier"));
            }
        }
        Ok((state, self.phase != before))
    }

    /// Whether the phase that `a` names, by state or parity, has ended.
    pub(crate) fn has_phase_ended(&self, parity: bool, a: u128) -> bool {
        if parity { u128::from(self.phase & 1) != a & 1 } else { u128::from(self.phase) != a >> PENDING_COUNT_BITS }
    }

    fn expect_tx(&mut self, n: u64) -> Result<(), String> {
        self.bytes += n as i64;
        if self.bytes.unsigned_abs() > MAX_PENDING_COUNT { Err("too many pending bytes".into()) } else { Ok(()) }
    }

    fn count_arrivals(&mut self, count: u64, drop: bool) -> Result<(), String> {
        if count == 0 || count > self.pending {
            return Err("more arrivals at an mbarrier than it expects".into());
        }
        self.pending -= count;
        self.expected -= if drop { count } else { 0 };
        self.advance_phase_if_complete();
        Ok(())
    }

    fn advance_phase_if_complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}
