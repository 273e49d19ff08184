//! The loop on the host: enqueue iterations, poll, and decide by a residual that is computed from the solution.

use super::launches::Launches;
use super::program::{STOP_CONVERGED, STOP_LIMIT};
use super::state_reader::{MAX_PENDING_READS, State, StateReader, read_state};
use super::{SolveCallback, SolveOptions, SolveReport, SolverMode, StopReason};
use crate::{ArrayError, GpuArray, Result};
use rtcg_array::{LaunchableGraph, Order, check_interrupt};

/// How often iterations begin anew where the recurrence has drifted away from the residual.
const MAX_RESTARTS: usize = 20;

/// A system with the launches that solve it.
pub(super) struct Driver<'a> {
    pub(super) launches: &'a Launches<'a>,
    pub(super) options: &'a SolveOptions,
}

/// How iterations are enqueued, and how many were.
struct Feed<'a> {
    mode: SolverMode,
    graph: Option<Box<dyn LaunchableGraph>>,
    callback: Option<SolveCallback<'a>>,
    reader: StateReader,
    enqueued: usize,
    /// Iterations between two looks.
    group: usize,
}

impl Driver<'_> {
    pub(super) fn solve(&self, has_x0: bool, callback: Option<SolveCallback<'_>>) -> Result<SolveReport> {
        let mode = self.chosen_mode(callback.is_some())?;
        let group = if callback.is_some() { 1 } else { self.options.check_every };
        let graph = self.launches.record(mode, group)?;
        let reader = StateReader::new(&self.launches.ctx, self.launches.layout.len)?;
        let mut feed = Feed { mode, graph, callback, reader, enqueued: 0, group };
        self.launches.enqueue_begin(!has_x0)?;
        let (mut restarts, mut best) = (0, f64::INFINITY);
        loop {
            let state = self.iterate(&mut feed)?;
            self.launches.enqueue_end()?;
            let verified = read_state(&self.launches.end_state)?;
            let residual = self.number(&verified, "residual");
            let stop = state.stop();
            let reason = if stop < 0.0 {
                StopReason::Breakdown(stop as i32)
            } else if [stop, verified.stop()].contains(&STOP_LIMIT) && verified.stop() != STOP_CONVERGED {
                StopReason::MaxIterations
            } else if !self.launches.can_restart() || verified.stop() == STOP_CONVERGED {
                StopReason::Converged
            } else if restarts < MAX_RESTARTS && residual < 0.5 * best && verified.stop() == 0.0 {
                (restarts, best) = (restarts + 1, residual);
                continue;
            } else {
                StopReason::Stagnated
            };
            return self.report(reason, restarts, &state, &verified, &feed);
        }
    }

    fn number(&self, state: &State, name: &str) -> f64 {
        self.launches.layout.places.get(name).map_or(f64::NAN, |&place| state.0[place])
    }

    fn chosen_mode(&self, has_callback: bool) -> Result<SolverMode> {
        let has_graphs = self.launches.ctx.device_runtime().graphs().is_some() && self.launches.is_recordable();
        // A graph costs about as much as launching what is in it.
        let is_short = self.options.max_iterations < 2 * self.options.check_every;
        match self.options.mode {
            SolverMode::Auto if has_callback || !has_graphs || is_short => Ok(SolverMode::Stream),
            SolverMode::Auto => Ok(SolverMode::Graph),
            SolverMode::Graph | SolverMode::Device if has_callback => {
                Err(ArrayError::value_error("mode: a callback is called in mode 'stream' only"))
            }
            mode => Ok(mode),
        }
    }

    /// Enqueues iterations until the state says that they have stopped.
    fn iterate(&self, feed: &mut Feed<'_>) -> Result<State> {
        let state = &self.launches.state;
        // A loop on the device ends by itself, and a callback is called as often as there are iterations.
        let is_exact = feed.mode == SolverMode::Device || feed.callback.is_some();
        if is_exact && let Some(stopped) = feed.reader.poll(state, 0)?.filter(State::has_stopped) {
            return Ok(stopped);
        }
        let most = if is_exact { 0 } else { MAX_PENDING_READS };
        loop {
            check_interrupt()?;
            self.enqueue_group(feed)?;
            if let Some(stopped) = feed.reader.poll(state, most)?.filter(State::has_stopped) {
                feed.reader.drain()?;
                return Ok(stopped);
            }
        }
    }

    fn enqueue_group(&self, feed: &mut Feed<'_>) -> Result<()> {
        if let Some(graph) = &feed.graph {
            feed.enqueued += if feed.mode == SolverMode::Device { 0 } else { feed.group };
            return graph.launch();
        }
        for _ in 0..feed.group {
            self.launches.enqueue_iteration()?;
            if let Some(callback) = &mut feed.callback {
                callback(&self.launches.x)?;
            }
        }
        feed.enqueued += feed.group;
        Ok(())
    }

    fn report(
        &self,
        reason: StopReason,
        restarts: usize,
        state: &State,
        verified: &State,
        feed: &Feed<'_>,
    ) -> Result<SolveReport> {
        let launches = self.launches;
        if self.number(verified, "bb") == 0.0 {
            launches.x.memset_zero()?;
        }
        let iterations = self.number(state, "iterations") as usize;
        let made = launches.layout.places.get("outer").map_or(iterations, |&place| state.0[place] as usize);
        Ok(SolveReport {
            x: launches.x.clone(),
            reason,
            iterations,
            wasted_iterations: feed.enqueued.max(made) - made,
            restarts,
            waits_in_loop: feed.reader.waits,
            waits_at_end: restarts + 1,
            residual: self.number(verified, "residual"),
            recurrence_residual: self.number(state, "residual"),
            threshold: self.number(verified, "threshold"),
            mode: feed.mode,
            history: launches.history.as_ref().map(|history| read_history(history, iterations)).transpose()?,
            scalars: launches.layout.places.iter().map(|(name, &place)| (name.clone(), verified.0[place])).collect(),
        })
    }
}

fn read_history(history: &GpuArray, iterations: usize) -> Result<Vec<f64>> {
    let mut bytes = vec![0; history.nbytes()];
    history.read(&mut bytes, Order::C)?;
    let numbers = bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    Ok(numbers.take(iterations + 1).collect())
}
