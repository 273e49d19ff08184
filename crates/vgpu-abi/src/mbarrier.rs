//! The 64 bits of an `mbarrier` object.
//!
//! Establishes: a phase ends when no arrival and no byte is pending any more; the next one begins
//! at once with the expected number of arrivals. A state is the object's value before an arrival,
//! of which the phase and the pending arrivals can be read. CUDA leaves the layout open; ours is,
//! from bit 0: pending arrivals (20 bits), expected arrivals (20), pending bytes (21, two's
//! complement, for they may come before they are expected), number of the phase (3).

/// Arrivals of a phase, at most; also the bytes that may be pending.
pub(crate) const MAX_COUNT: u32 = (1 << 20) - 1;

/// An `mbarrier` taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mbarrier {
    pending: u32,
    expected: u32,
    bytes: i32,
    phase: u32,
}

/// Why an operation on an `mbarrier` is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MbarrierError {
    /// The number of arrivals of `init` or `arrive_counted` is 0 or too large.
    BadArrivalCount,
    /// More arrivals than the phase expects.
    TooManyArrivals,
    /// More pending bytes than can be counted.
    TooManyPendingBytes,
    /// `arrive.noComplete` that ends the phase.
    NoCompleteEndsPhase,
}

impl MbarrierError {
    /// For an error message.
    #[inline]
    pub fn error_message(self) -> &'static str {
        match self {
            MbarrierError::BadArrivalCount => "an mbarrier counts from 1 to 1048575 arrivals",
            MbarrierError::TooManyArrivals => "more threads arrive at an mbarrier than its phase expects",
            MbarrierError::TooManyPendingBytes => "an mbarrier cannot wait for more than 1048575 bytes",
            MbarrierError::NoCompleteEndsPhase => "mbarrier.arrive.noComplete completes the phase",
        }
    }
}

/// Pending arrivals in a state.
#[inline]
pub fn pending_count(state: u64) -> u32 {
    Mbarrier::unpack(state).pending
}

impl Mbarrier {
    /// A new object.
    #[inline]
    pub fn new(count: u32) -> Result<Mbarrier, MbarrierError> {
        if count == 0 || count > MAX_COUNT {
            return Err(MbarrierError::BadArrivalCount);
        }
        Ok(Mbarrier { pending: count, expected: count, bytes: 0, phase: 0 })
    }

    /// The object of these 64 bits.
    #[inline]
    pub fn unpack(word: u64) -> Mbarrier {
        let field = |at: u32, bits: u32| (word >> at & ((1 << bits) - 1)) as u32;
        Mbarrier {
            pending: field(0, 20),
            expected: field(20, 20),
            bytes: ((field(40, 21) << 11) as i32) >> 11,
            phase: field(61, 3),
        }
    }

    /// The 64 bits.
    #[inline]
    pub fn pack(self) -> u64 {
        let bytes = u64::from(self.bytes as u32 & 0x1f_ffff);
        u64::from(self.pending) | u64::from(self.expected) << 20 | bytes << 40 | u64::from(self.phase & 7) << 61
    }

    fn end_phase_if_done(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase = (self.phase + 1) & 7;
        }
    }

    /// `count` arrivals, which with `drop` later phases do not expect.
    #[inline]
    pub fn arrive_counted(&mut self, count: u32, drop: bool) -> Result<(), MbarrierError> {
        if count == 0 || count > MAX_COUNT {
            return Err(MbarrierError::BadArrivalCount);
        }
        self.pending = self.pending.checked_sub(count).ok_or(MbarrierError::TooManyArrivals)?;
        if drop {
            self.expected = self.expected.checked_sub(count).ok_or(MbarrierError::TooManyArrivals)?;
        }
        self.end_phase_if_done();
        Ok(())
    }

    /// As [`Mbarrier::arrive_counted`], but the phase must go on.
    #[inline]
    pub fn arrive_no_complete(&mut self, count: u32, drop: bool) -> Result<(), MbarrierError> {
        let phase = self.phase;
        self.arrive_counted(count, drop)?;
        if self.phase == phase { Ok(()) } else { Err(MbarrierError::NoCompleteEndsPhase) }
    }

    /// The phase waits for `n` more bytes.
    #[inline]
    pub fn expect_bytes(&mut self, n: u32) -> Result<(), MbarrierError> {
        self.bytes = self
            .bytes
            .checked_add_unsigned(n)
            .filter(|b| b.unsigned_abs() <= MAX_COUNT)
            .ok_or(MbarrierError::TooManyPendingBytes)?;
        Ok(())
    }

    /// `n` bytes have come.
    #[inline]
    pub fn complete_bytes(&mut self, n: u32) -> Result<(), MbarrierError> {
        self.bytes = self
            .bytes
            .checked_sub_unsigned(n)
            .filter(|b| b.unsigned_abs() <= MAX_COUNT)
            .ok_or(MbarrierError::TooManyPendingBytes)?;
        self.end_phase_if_done();
        Ok(())
    }

    /// Whether the phase of `state` has ended.
    #[inline]
    pub fn phase_has_ended(self, state: u64) -> bool {
        Mbarrier::unpack(state).phase != self.phase
    }

    /// Whether the phase of that parity has ended, which is the current one or the one before.
    #[inline]
    pub fn parity_phase_has_ended(self, parity: u32) -> bool {
        self.phase & 1 != parity & 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_words_round_trip() {
        for bytes in [0, 1, -1, 5000, -(MAX_COUNT as i32), MAX_COUNT as i32] {
            for (pending, expected, phase) in [(1, 1, 0), (0, MAX_COUNT, 7), (MAX_COUNT, 3, 5)] {
                let b = Mbarrier { pending, expected, bytes, phase };
                assert_eq!(Mbarrier::unpack(b.pack()), b);
            }
        }
    }

    #[test]
    fn phase_ends_with_the_last_arrival_and_byte() {
        let mut b = Mbarrier::new(3).unwrap();
        let state = b.pack();
        b.arrive_counted(2, false).unwrap();
        assert!(!b.phase_has_ended(state) && !b.parity_phase_has_ended(0) && b.parity_phase_has_ended(1));
        assert_eq!(pending_count(b.pack()), 1);
        b.complete_bytes(16).unwrap();
        b.expect_bytes(48).unwrap();
        b.arrive_counted(1, true).unwrap();
        assert!(!b.phase_has_ended(state));
        b.complete_bytes(32).unwrap();
        assert!(b.phase_has_ended(state) && b.parity_phase_has_ended(0) && !b.parity_phase_has_ended(1));
        // One thread has left for good.
        assert_eq!(pending_count(b.pack()), 2);
        assert_eq!(b.arrive_counted(3, false), Err(MbarrierError::TooManyArrivals));
    }

    #[test]
    fn invalid_operations_are_errors() {
        assert_eq!(Mbarrier::new(0), Err(MbarrierError::BadArrivalCount));
        assert_eq!(Mbarrier::new(1 << 20), Err(MbarrierError::BadArrivalCount));
        let mut b = Mbarrier::new(2).unwrap();
        assert_eq!(b.arrive_no_complete(1, false), Ok(()));
        assert_eq!(b.arrive_no_complete(1, false), Err(MbarrierError::NoCompleteEndsPhase));
        let mut b = Mbarrier::new(1).unwrap();
        assert_eq!(b.expect_bytes(MAX_COUNT), Ok(()));
        assert_eq!(b.expect_bytes(1), Err(MbarrierError::TooManyPendingBytes));
    }
}
