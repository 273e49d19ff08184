//! The state of iterations as the host sees it, and asynchronous reads of it.

use super::program::STOP_NOT_FINITE;
use crate::kernels::STOP_FLAG;
use rtcg_array::{GpuArray, Index, Order};
use rtcg_hal::{ArrayContext, ReadSlot, Result, blocking_region, check_interrupt};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Reads under way, at most: the host runs ahead by no more groups of iterations.
pub(super) const MAX_PENDING_READS: usize = 2;

/// Where the scalars of a state are, and how many doubles it has.
pub(super) struct StateLayout {
    pub(super) places: BTreeMap<String, usize>,
    pub(super) len: usize,
}

/// The states of all right sides as they were read.
#[derive(Clone)]
pub(super) struct State {
    numbers: Vec<f64>,
    len: usize,
}

pub(super) fn numbers_of(bytes: &[u8]) -> Vec<f64> {
    let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    bytes.chunks_exact(8).map(number).collect()
}

impl State {
    /// The state of a right side.
    pub(super) fn of(&self, k: usize) -> &[f64] {
        &self.numbers[k * self.len..(k + 1) * self.len]
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.numbers.chunks_exact(self.len).all(|state| state[STOP_FLAG] != 0.0)
    }

    /// Why iterations have stopped.
    pub(super) fn stop(&self, k: usize) -> f64 {
        let stop = self.of(k)[STOP_FLAG];
        if stop.is_nan() { STOP_NOT_FINITE } else { stop }
    }
}

/// Looks at the state without waiting, where the device has such reads.
pub(super) struct StateReader {
    free: Vec<Box<dyn ReadSlot>>,
    pending: VecDeque<Box<dyn ReadSlot>>,
    has_slots: bool,
    len: usize,
    /// How often it had to wait after all.
    pub(super) waits: usize,
}

impl StateReader {
    /// For states of `len` numbers of so many right sides.
    pub(super) fn new(ctx: &ArrayContext, len: usize, count: usize) -> Result<Self> {
        let nbytes = 8 * len * count;
        let free = match ctx.device().pinned_reads() {
            Some(reads) => (0..=MAX_PENDING_READS).map(|_| reads.read_slot(nbytes)).collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        Ok(Self { has_slots: !free.is_empty(), free, len, pending: VecDeque::new(), waits: 0 })
    }

    /// Starts a read behind what is enqueued, and gives the newest state that has arrived. With `most` reads under way
    /// it asks until the oldest has arrived.
    pub(super) fn poll(&mut self, state: &GpuArray, most: usize) -> Result<Option<State>> {
        if !self.has_slots {
            self.waits += 1;
            return read_state(state, self.len).map(Some);
        }
        if let Some(mut slot) = self.free.pop() {
            slot.start(state.first_element_address())?;
            self.pending.push_back(slot);
        }
        let mut newest = None;
        let mut attempts = 0u32;
        while let Some(slot) = self.pending.front() {
            if let Some(bytes) = slot.poll()? {
                newest = Some(State { numbers: numbers_of(bytes), len: self.len });
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

    /// Waits for reads whose results are no longer needed.
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

/// Waits for an array of doubles.
pub(super) fn read_numbers(array: &GpuArray) -> Result<Vec<f64>> {
    let mut bytes = vec![0; array.nbytes()];
    blocking_region(|| array.read(&mut bytes, Order::C))?;
    Ok(numbers_of(&bytes))
}

pub(super) fn read_state(state: &GpuArray, len: usize) -> Result<State> {
    Ok(State { numbers: read_numbers(state)?, len })
}

/// Norms of a history as they become known.
pub(super) struct NormReader {
    history: GpuArray,
    slot: Option<Box<dyn ReadSlot>>,
    /// Norms that are read at once, and the first that was not read yet.
    window: usize,
    next: usize,
}

impl NormReader {
    /// Of at most `window` norms between two looks, behind the one at the beginning.
    pub(super) fn new(ctx: &ArrayContext, history: &GpuArray, window: usize) -> Result<Self> {
        let window = window.min(history.size());
        let slot = ctx.device().pinned_reads().map(|reads| reads.read_slot(8 * window)).transpose()?;
        Ok(Self { history: history.clone(), slot, window, next: 1 })
    }

    /// Norms up to that of an iteration, and whether the host had to wait for them: not where the device has such reads.
    pub(super) fn read(&mut self, iterations: usize) -> Result<(Vec<f64>, bool)> {
        let first = self.next.min(self.history.size() - self.window);
        let Some(slot) = &mut self.slot else {
            let end = (first + self.window) as isize;
            let part = self.history.index(&[Index::Slice(Some(first as isize), Some(end), None)])?;
            return Ok((self.take(&read_numbers(&part)?, first, iterations), true));
        };
        slot.start(self.history.first_element_address() + 8 * first as u64)?;
        let mut attempts = 0u32;
        let numbers = loop {
            match slot.poll()? {
                Some(bytes) => break numbers_of(bytes),
                None => pause(attempts)?,
            }
            attempts = attempts.saturating_add(1);
        };
        Ok((self.take(&numbers, first, iterations), false))
    }

    fn take(&mut self, numbers: &[f64], first: usize, iterations: usize) -> Vec<f64> {
        let end = (iterations + 1).min(first + numbers.len());
        let taken = numbers.get(self.next - first..end.saturating_sub(first)).unwrap_or(&[]).to_vec();
        self.next = self.next.max(iterations + 1);
        taken
    }
}
