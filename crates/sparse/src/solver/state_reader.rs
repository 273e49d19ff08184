//! The state of iterations as the host sees it, and looks at it that do not wait.

use super::program::STOP_NOT_FINITE;
use crate::kernels::STOP_FLAG;
use crate::{ArrayContext, GpuArray, Result};
use rtcg_array::{Order, ReadSlot, blocking_region, check_interrupt};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Reads under way, at most: the host runs ahead by no more groups of iterations.
pub(super) const MAX_PENDING_READS: usize = 2;

/// Where the scalars of a state are, and how many doubles it has.
pub(super) struct StateLayout {
    pub(super) places: BTreeMap<String, usize>,
    pub(super) len: usize,
}

/// The state as it was read.
#[derive(Clone)]
pub(super) struct State(pub(super) Vec<f64>);

impl State {
    fn from_bytes(bytes: &[u8]) -> Self {
        let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        Self(bytes.chunks_exact(8).map(number).collect())
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.0[STOP_FLAG] != 0.0
    }

    /// Why iterations have stopped.
    pub(super) fn stop(&self) -> f64 {
        if self.0[STOP_FLAG].is_nan() { STOP_NOT_FINITE } else { self.0[STOP_FLAG] }
    }
}

/// Looks at the state without waiting, where the device has such reads.
pub(super) struct StateReader {
    free: Vec<Box<dyn ReadSlot>>,
    pending: VecDeque<Box<dyn ReadSlot>>,
    has_slots: bool,
    /// How often it had to wait after all.
    pub(super) waits: usize,
}

impl StateReader {
    pub(super) fn new(ctx: &ArrayContext, len: usize) -> Result<Self> {
        let free = match ctx.device_runtime().pinned_reads() {
            Some(reads) => (0..=MAX_PENDING_READS).map(|_| reads.read_slot(8 * len)).collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        Ok(Self { has_slots: !free.is_empty(), free, pending: VecDeque::new(), waits: 0 })
    }

    /// Starts a read behind what is enqueued, and gives the newest state that has arrived. With `most` reads under way
    /// it asks until the oldest has arrived.
    pub(super) fn poll(&mut self, state: &GpuArray, most: usize) -> Result<Option<State>> {
        if !self.has_slots {
            self.waits += 1;
            return read_state(state).map(Some);
        }
        if let Some(mut slot) = self.free.pop() {
            slot.start(state.first_element_address())?;
            self.pending.push_back(slot);
        }
        let mut newest = None;
        let mut attempts = 0u32;
        while let Some(slot) = self.pending.front() {
            if let Some(bytes) = slot.poll()? {
                newest = Some(State::from_bytes(bytes));
                self.free.extend(self.pending.pop_front());
                if newest.as_ref().is_some_and(State::has_stopped) {
                    break;
                }
            } else if self.pending.len() > most {
                pause(attempts)?;
                attempts = attempts.saturating_add(1);
            } else {
                break;
            }
        }
        Ok(newest)
    }

    /// Lets reads arrive whose results nobody needs.
    pub(super) fn drain(&mut self) -> Result<()> {
        let mut attempts = 0;
        while let Some(slot) = self.pending.front() {
            if slot.poll()?.is_some() {
                self.free.extend(self.pending.pop_front());
            } else {
                pause(attempts)?;
                attempts = attempts.saturating_add(1);
            }
        }
        Ok(())
    }
}

/// Between two looks: first at once, then after some microseconds, so that the processor can do something else.
fn pause(attempts: u32) -> Result<()> {
    if attempts < 200 {
        std::hint::spin_loop();
        std::thread::yield_now();
        return Ok(());
    }
    std::thread::sleep(Duration::from_micros(20));
    check_interrupt()
}

pub(super) fn read_state(state: &GpuArray) -> Result<State> {
    let mut bytes = vec![0; state.nbytes()];
    blocking_region(|| state.read(&mut bytes, Order::C))?;
    Ok(State::from_bytes(&bytes))
}
