//! Kernels that may wait: one or more resident blocks per worker.
//!
//! Establishes: a worker runs one block at a time as long as its warps make progress. When they can only
//! wait (all of them yield in spin loops), more blocks become resident, up to the limit of the device, and
//! run round robin. So a barrier over the grid, hand-made or cooperative, completes on any number of cores.

use super::block::{Block, BlockRunResult};
use super::grid_job::{GridJob, SharedMemoryUnavailable};
use super::memory_slots;
use super::worker::Worker;
use rtcg_vgpu_abi::IgnorePoison;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Turns of all resident blocks without progress before the core is offered to other threads.
const MAX_IDLE_BLOCK_ROUNDS: u32 = 8;

/// Blocks resident now, of all launches.
static N_RESIDENT_BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Launches that want more blocks resident, the first one first. Only that one gets them, so that two
/// grids whose blocks wait for each other do not each hold half of the room.
static GROWING_LAUNCHES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct ResidentBlocks<'a, 'j> {
    job: &'j GridJob<'a>,
    running: Vec<Block>,
    /// Block numbers that this worker has taken and not started.
    taken: std::ops::Range<u64>,
    done: u64,
    /// Whether this worker has put the launch on the list of those that grow.
    wants_more: bool,
}

/// Runs blocks of `job` until none is left or the job is stopped; how many.
pub(crate) fn run_resident_blocks(job: &GridJob<'_>, worker: &mut Worker, first: std::ops::Range<u64>) -> u64 {
    let mut residents = ResidentBlocks { job, running: Vec::new(), taken: first, done: 0, wants_more: false };
    residents.run_until_done(worker);
    residents.stop_admitting_more();
    for block in residents.running {
        block.retire_block(worker);
        N_RESIDENT_BLOCKS.fetch_sub(1, Ordering::Relaxed);
    }
    residents.done
}

impl ResidentBlocks<'_, '_> {
    fn run_until_done(&mut self, worker: &mut Worker) {
        let mut idle = 0;
        loop {
            if self.job.interrupt_check_requested() && worker.index == 0 {
                self.job.check_interrupt();
            }
            if self.job.is_stopped() || (self.running.is_empty() && !self.admit_block(worker, true)) {
                return;
            }
            if self.job.has_random_schedule() && self.running.len() < 2 + (self.job.next_random_word() % 4) as usize {
                self.admit_block(worker, false);
            }
            match self.run_round(worker) {
                None => return,
                Some(true) => idle = 0,
                Some(false) if self.admit_more_blocks(worker) => idle = 0,
                Some(false) => idle += 1,
            }
            if idle > MAX_IDLE_BLOCK_ROUNDS {
                std::thread::yield_now();
            }
        }
    }

    /// Lets every resident block run until it waits. Whether one got on; `None` when stopped.
    fn run_round(&mut self, worker: &mut Worker) -> Option<bool> {
        let mut progress = false;
        let mut i = 0;
        if self.job.has_random_schedule() {
            let n = self.running.len() as u64;
            self.running.rotate_left((self.job.next_random_word() % n) as usize);
        }
        while i < self.running.len() {
            match self.running[i].run_until_blocked(self.job) {
                BlockRunResult::Stopped => return None,
                BlockRunResult::Yielded { progress: p } => {
                    progress |= p;
                    i += 1;
                }
                BlockRunResult::Done => {
                    progress = true;
                    self.done += 1;
                    self.replace_finished_block(worker, i);
                }
            }
        }
        if self.job.is_stopped() { None } else { Some(progress) }
    }

    /// A block has ended: the next one takes its place, if there is one.
    fn replace_finished_block(&mut self, worker: &mut Worker, i: usize) {
        match self.next_block() {
            Some(number) => self.running[i].start_block(self.job, number),
            None => {
                self.running.swap_remove(i).retire_block(worker);
                N_RESIDENT_BLOCKS.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn next_block(&mut self) -> Option<u64> {
        if self.taken.is_empty() {
            self.taken = self.job.claim_blocks();
        }
        self.taken.next()
    }

    fn has_more_blocks(&self) -> bool {
        !self.taken.is_empty() || self.job.has_unclaimed_blocks()
    }

    /// Makes up to twice as many blocks resident as there are: a barrier over a large grid gets all
    /// of its blocks after few turns. Whether there is a new one.
    fn admit_more_blocks(&mut self, worker: &mut Worker) -> bool {
        if !self.may_admit_more() {
            return false;
        }
        let before = self.running.len();
        while self.running.len() < 2 * before && self.admit_block(worker, false) {}
        self.running.len() > before
    }

    /// Whether it is this launch's turn to get more resident blocks.
    fn may_admit_more(&mut self) -> bool {
        if !self.has_more_blocks() {
            self.stop_admitting_more();
            return false;
        }
        let mut growing = GROWING_LAUNCHES.lock().ignore_poison();
        if !growing.contains(&self.job.grid_id) {
            growing.push(self.job.grid_id);
        }
        self.wants_more = true;
        growing.first() == Some(&self.job.grid_id)
    }

    fn stop_admitting_more(&mut self) {
        if std::mem::take(&mut self.wants_more) {
            GROWING_LAUNCHES.lock().ignore_poison().retain(|&id| id != self.job.grid_id);
        }
    }

    /// Makes one more block resident. With `must`, waits for room. False when there is no block
    /// left, no room, or the job was stopped.
    fn admit_block(&mut self, worker: &mut Worker, must: bool) -> bool {
        if !self.has_more_blocks() {
            return false;
        }
        loop {
            match self.try_admit_block(worker) {
                Ok(admitted) => return admitted,
                Err(SharedMemoryUnavailable::Failed) => return false,
                Err(SharedMemoryUnavailable::Busy) if !must || self.job.is_stopped() => return false,
                Err(SharedMemoryUnavailable::Busy) if self.job.interrupt_check_requested() && worker.index == 0 => {
                    self.job.check_interrupt()
                }
                Err(SharedMemoryUnavailable::Busy) => std::thread::yield_now(),
            }
        }
    }

    fn try_admit_block(&mut self, worker: &mut Worker) -> Result<bool, SharedMemoryUnavailable> {
        if N_RESIDENT_BLOCKS.fetch_add(1, Ordering::Relaxed) >= memory_slots::resident_block_limit() {
            N_RESIDENT_BLOCKS.fetch_sub(1, Ordering::Relaxed);
            return Err(SharedMemoryUnavailable::Busy);
        }
        let admitted = self.start_admitted_block(worker);
        if admitted != Ok(true) {
            N_RESIDENT_BLOCKS.fetch_sub(1, Ordering::Relaxed);
        }
        admitted
    }

    fn start_admitted_block(&mut self, worker: &mut Worker) -> Result<bool, SharedMemoryUnavailable> {
        let shared = self.job.alloc_shared_memory()?;
        let mut block = Block::new(self.job, worker, shared).ok_or(SharedMemoryUnavailable::Failed)?;
        let number = self.next_block();
        match number {
            Some(number) => {
                block.start_block(self.job, number);
                self.running.push(block);
            }
            // Another worker has taken the last block in the meantime.
            None => block.retire_block(worker),
        }
        Ok(number.is_some())
    }
}
