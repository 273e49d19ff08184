//! The loop on the host: enqueue iterations, poll, and decide by a residual that is computed from the solution.

use super::launches::Launches;
use super::state_reader::{MAX_PENDING_READS, State, StateReader, read_state};
use super::workspace::Workspace;
use super::{CgCallback, CgOptions, CgReport, SolverMode, StopReason};
use crate::kernels::cg::{
    NEGATIVE_CURVATURE, RESIDUAL2, RHS2, STOP_BREAKDOWN, STOP_CONVERGED, STOP_FLAG, THRESHOLD, TRUE_RESIDUAL2,
};
use crate::{ArrayError, GpuArray, Result};
use rtcg_array::{LaunchableGraph, Order, check_interrupt};

/// How often iterations begin anew where the recurrence has drifted away from the residual.
const MAX_RESTARTS: usize = 20;

/// A system with the launches that solve it.
pub(super) struct Solver<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) launches: &'a Launches<'a>,
    pub(super) options: &'a CgOptions,
}

/// How iterations are enqueued, and how many were.
struct Feed<'a> {
    mode: SolverMode,
    graph: Option<Box<dyn LaunchableGraph>>,
    callback: Option<CgCallback<'a>>,
    reader: StateReader,
    enqueued: usize,
}

impl Solver<'_> {
    pub(super) fn solve(&self, has_x0: bool, callback: Option<CgCallback<'_>>) -> Result<CgReport> {
        let mode = self.chosen_mode(callback.is_some())?;
        let graph = self.launches.record(mode, self.options.check_every)?;
        let reader = StateReader::new(&self.workspace.ctx)?;
        let mut feed = Feed { mode, graph, callback, reader, enqueued: 0 };
        self.launches.enqueue_begin(!has_x0)?;
        let (mut restarts, mut best) = (0, f64::INFINITY);
        loop {
            let state = self.iterate(&mut feed)?;
            self.launches.enqueue_begin(false)?;
            let verified = read_state(&self.workspace.state)?;
            let residual = verified.0[TRUE_RESIDUAL2].sqrt();
            let reason = match state.0[STOP_FLAG] {
                STOP_BREAKDOWN => StopReason::Breakdown,
                _ if verified.0[STOP_FLAG] == STOP_CONVERGED => StopReason::Converged,
                STOP_CONVERGED if restarts < MAX_RESTARTS && residual < 0.5 * best => {
                    (restarts, best) = (restarts + 1, residual);
                    continue;
                }
                STOP_CONVERGED => StopReason::Stagnated,
                _ => StopReason::MaxIterations,
            };
            return self.report(reason, restarts, state, verified, &feed);
        }
    }

    fn chosen_mode(&self, has_callback: bool) -> Result<SolverMode> {
        let has_graphs = self.workspace.ctx.device_runtime().graphs().is_some() && self.launches.is_recordable();
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
        let state = &self.workspace.state;
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
            feed.enqueued += if feed.mode == SolverMode::Device { 0 } else { self.options.check_every };
            return graph.launch();
        }
        for _ in 0..self.options.check_every {
            self.launches.enqueue_iteration()?;
            if let Some(callback) = &mut feed.callback {
                callback(&self.workspace.x)?;
            }
        }
        feed.enqueued += self.options.check_every;
        Ok(())
    }

    fn report(
        &self,
        reason: StopReason,
        restarts: usize,
        state: State,
        verified: State,
        feed: &Feed<'_>,
    ) -> Result<CgReport> {
        let w = self.workspace;
        if verified.0[RHS2] == 0.0 {
            w.x.memset_zero()?;
        }
        let iterations = state.iterations();
        Ok(CgReport {
            x: w.x.clone(),
            reason,
            iterations,
            wasted_iterations: feed.enqueued.max(iterations) - iterations,
            restarts,
            waits_in_loop: feed.reader.waits,
            waits_at_end: restarts + 1,
            residual: verified.0[TRUE_RESIDUAL2].sqrt(),
            recurrence_residual: state.0[RESIDUAL2].sqrt(),
            threshold: verified.0[THRESHOLD],
            negative_curvature: verified.0[NEGATIVE_CURVATURE] as usize,
            mode: feed.mode,
            history: w.history.as_ref().map(|history| read_history(history, iterations)).transpose()?,
        })
    }
}

fn read_history(history: &GpuArray, iterations: usize) -> Result<Vec<f64>> {
    let mut bytes = vec![0; history.nbytes()];
    history.read(&mut bytes, Order::C)?;
    let numbers = bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    Ok(numbers.take(iterations + 1).collect())
}
