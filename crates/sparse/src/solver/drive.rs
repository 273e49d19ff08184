//! The host loop of solvers: it enqueues iterations, polls, and decides by a residual that is computed from the
//! solution.

use super::launches::Launches;
use super::program::{STOP_CONVERGED, STOP_LIMIT};
use super::state_reader::{MAX_PENDING_READS, NormReader, State, StateReader, read_numbers, read_state};
use super::{SolveCallback, SolveOptions, SolveProgress, SolveReport, SolverMode, StopReason, modes};
use rtcg_array::{GpuArray, Index};
use rtcg_hal::{LaunchableGraph, Result, check_interrupt};

/// How often iterations begin anew where the recurrence has drifted away from the residual.
const MAX_RESTARTS: usize = 20;

/// Iterations of a turn of a loop in a graph: a turn costs as much as a kernel or two.
const LOOP_ITERATIONS: usize = 8;

/// A system with the launches that solve it.
pub(super) struct Driver<'a> {
    pub(super) launches: &'a Launches<'a>,
    pub(super) options: &'a SolveOptions,
}

/// How iterations are enqueued, and how many were.
struct Feed<'a> {
    mode: SolverMode,
    mode_reason: String,
    graph: Option<Box<dyn LaunchableGraph>>,
    callback: Option<SolveCallback<'a>>,
    /// Norms for the callback, of solvers whose iterations are enqueued in cycles.
    norms: Option<NormReader>,
    reader: StateReader,
    enqueued: usize,
    /// Iterations that the callback knows of.
    called: usize,
    /// Iterations between two looks.
    group: usize,
}

impl Feed<'_> {
    /// Whether one launch is all iterations.
    fn is_loop(&self) -> bool {
        matches!(self.mode, SolverMode::Device | SolverMode::Persistent)
    }
}

impl Driver<'_> {
    /// A report for each right side.
    pub(super) fn solve(&self, has_x0: bool, callback: Option<SolveCallback<'_>>) -> Result<Vec<SolveReport>> {
        let (mode, mode_reason) = modes::choose(self.launches, self.options, callback.is_some())?;
        let group = match mode {
            _ if callback.is_some() => 1,
            SolverMode::Device => self.options.check_every.min(LOOP_ITERATIONS),
            _ => self.options.check_every,
        };
        let graph = self.launches.record(mode, group)?;
        let launches = self.launches;
        let len = launches.layout.len;
        let reader = StateReader::new(&launches.ctx, len, launches.count)?;
        let norms = match &launches.history {
            Some(history) if callback.is_some() && launches.runs_many_iterations() => {
                Some(NormReader::new(&launches.ctx, history, self.options.restart)?)
            }
            _ => None,
        };
        let mut feed = Feed { mode, mode_reason, graph, callback, norms, reader, enqueued: 0, called: 0, group };
        launches.enqueue_begin(!has_x0)?;
        let mut best = vec![f64::INFINITY; launches.count];
        let mut restarts = 0;
        loop {
            if restarts > 0 {
                launches.enqueue_restart()?;
            }
            let state = self.iterate(&mut feed)?;
            launches.enqueue_end()?;
            let verified = read_state(&launches.end_state, len)?;
            let verdict = |(k, best): (usize, &mut f64)| {
                let reason = self.verdict(state.stop(k), verified.stop(k));
                let residual = self.number(verified.of(k), "residual");
                if reason.is_some() || restarts >= MAX_RESTARTS || residual >= 0.5 * *best || verified.stop(k) != 0.0 {
                    return Some(reason.unwrap_or(StopReason::Stagnated));
                }
                *best = residual;
                None
            };
            let reasons: Vec<_> = best.iter_mut().enumerate().map(verdict).collect();
            if let Some(reasons) = reasons.into_iter().collect::<Option<Vec<_>>>() {
                let report = |(k, reason)| self.report(k, reason, restarts, [&state, &verified], &feed);
                return reasons.into_iter().enumerate().map(report).collect();
            }
            restarts += 1;
        }
    }

    /// Why iterations ended; nothing where the residual, computed from the solution, is not small enough.
    fn verdict(&self, stop: f64, verified: f64) -> Option<StopReason> {
        if stop < 0.0 {
            return Some(StopReason::Breakdown(stop as i32));
        }
        if [stop, verified].contains(&STOP_LIMIT) && verified != STOP_CONVERGED {
            return Some(StopReason::MaxIterations);
        }
        (verified == STOP_CONVERGED).then_some(StopReason::Converged)
    }

    fn number(&self, state: &[f64], name: &str) -> f64 {
        self.launches.layout.places.get(name).map_or(f64::NAN, |&place| state[place])
    }

    /// Enqueues iterations until the state says that they have stopped.
    fn iterate(&self, feed: &mut Feed<'_>) -> Result<State> {
        let state = &self.launches.state;
        // A loop on the device ends by itself, and a callback is called as often as there are iterations.
        let is_exact = feed.is_loop() || feed.callback.is_some();
        if is_exact && let Some(stopped) = feed.reader.poll(state, 0)?.filter(State::has_stopped) {
            return Ok(stopped);
        }
        let most = if is_exact { 0 } else { MAX_PENDING_READS };
        loop {
            check_interrupt()?;
            self.enqueue_group(feed)?;
            let Some(state) = feed.reader.poll(state, most)? else { continue };
            self.call_back(feed, &state)?;
            if state.has_stopped() {
                feed.reader.drain()?;
                return Ok(state);
            }
        }
    }

    fn enqueue_group(&self, feed: &mut Feed<'_>) -> Result<()> {
        if let Some(graph) = &feed.graph {
            feed.enqueued += if feed.is_loop() { 0 } else { feed.group };
            return graph.launch();
        }
        for _ in 0..feed.group {
            self.launches.enqueue_iteration()?;
        }
        feed.enqueued += feed.group;
        Ok(())
    }

    /// Tells the callback of an iteration that changed the solution.
    fn call_back(&self, feed: &mut Feed<'_>, state: &State) -> Result<()> {
        let Some(callback) = &mut feed.callback else { return Ok(()) };
        let numbers = |name| (0..self.launches.count).map(move |k| self.number(state.of(k), name));
        let iterations = numbers("iterations").fold(0.0, f64::max) as usize;
        if iterations <= feed.called {
            return Ok(());
        }
        feed.called = iterations;
        let residuals = match &mut feed.norms {
            Some(norms) => {
                let (residuals, has_waited) = norms.read(iterations)?;
                feed.reader.waits += usize::from(has_waited);
                residuals
            }
            None => numbers("residual").collect(),
        };
        let right_norms = numbers("bb").map(f64::sqrt).collect();
        callback(&SolveProgress { x: &self.launches.x.transpose(None)?, iterations, residuals, right_norms })
    }

    fn report(
        &self,
        k: usize,
        reason: StopReason,
        restarts: usize,
        [state, verified]: [&State; 2],
        feed: &Feed<'_>,
    ) -> Result<SolveReport> {
        let launches = self.launches;
        let (state, verified) = (state.of(k), verified.of(k));
        let x = row(&launches.x, k)?;
        let is_damped = self.options.numbers.get("damp").is_some_and(|&damp| damp != 0.0);
        if self.number(verified, "bb") == 0.0 && !is_damped {
            x.memset_zero()?;
        }
        let iterations = self.number(state, "iterations") as usize;
        let made = launches.layout.places.get("outer").map_or(iterations, |&place| state[place] as usize);
        let history =
            launches.history.as_ref().map(|history| read_history(&row(history, k)?, iterations)).transpose()?;
        Ok(SolveReport {
            x,
            reason,
            iterations,
            wasted_iterations: match feed.mode {
                SolverMode::Device => made.next_multiple_of(feed.group) - made,
                _ => feed.enqueued.max(made) - made,
            },
            restarts,
            waits_in_loop: feed.reader.waits,
            waits_at_end: restarts + 1,
            residual: self.number(verified, "residual"),
            recurrence_residual: self.number(state, "residual"),
            threshold: self.number(verified, "threshold"),
            mode: feed.mode,
            mode_reason: feed.mode_reason.clone(),
            history,
            scalars: launches.layout.places.iter().map(|(name, &place)| (name.clone(), verified[place])).collect(),
        })
    }
}

/// What belongs to a right side.
fn row(array: &GpuArray, k: usize) -> Result<GpuArray> {
    if array.ndim() == 1 { Ok(array.clone()) } else { array.index(&[Index::At(k as isize)]) }
}

/// As many norms as there are; the array has room for the most iterations.
fn read_history(history: &GpuArray, iterations: usize) -> Result<Vec<f64>> {
    let known = (iterations + 1).min(history.size()) as isize;
    read_numbers(&history.index(&[Index::Slice(None, Some(known), None)])?)
}
