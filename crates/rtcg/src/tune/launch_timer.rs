//! Times launches of candidates between events: back to back, in a graph, or each with cold caches.

use rtcg_driver::memory::CacheFlush;
use rtcg_driver::sys::{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_NON_BLOCKING};
use rtcg_driver::{Error, Event, GraphExec, HiddenCapture, Result, Stream};
use rtcg_tune::WindowKind;
use rtcg_tune::statistics::interquartile_mean;
use std::collections::HashMap;
use std::time::Instant;

/// Below this, launching can take longer than what is launched.
const SHORT_SECONDS: f64 = 20e-6;
/// Launches that tell whether one is short.
const PROBE_LAUNCHES: u32 = 8;
/// The best of so many windows decides.
const PROBES: usize = 3;
/// A graph is used where it is faster by so much, since only then launches were what took the time.
const GRAPH_GAIN: f64 = 0.98;
/// Cold launches of a window at most: each takes as long as flushing the caches.
const MAX_COLD_LAUNCHES: u32 = 50;
/// What a window of several cold launches may last: some processors have caches that take a tenth of a second to write.
const COLD_WINDOW_SECONDS: f64 = 0.5;

/// Why a window was not timed.
#[derive(Debug)]
pub enum EnqueueError<E> {
    /// The driver's error.
    Driver(Error),
    /// The error of the function that enqueues the launches.
    Enqueue(E),
}

impl<E> From<Error> for EnqueueError<E> {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

/// Times windows of launches in the current context.
///
/// If one launch takes less than 20 us, the launches are captured in a graph, once per candidate and count. If the
/// graph is faster than the same launches back to back, then launch overhead rather than the kernel dominated, and
/// every candidate that short is timed in a graph from then on. Launches that cannot be captured are made back to back.
///
/// ```
/// use rtcg::prelude::*;
/// use rtcg::tune::{EnqueueError, LaunchTimer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ctx = Context::new()?;
/// ctx.driver_context().push()?;
/// let module = ctx.compile("__global__ void twice(float *z) { z[threadIdx.x] *= 2; }")?;
/// let (twice, z) = (module.function("twice")?, ctx.zeros::<f32>(32)?);
/// let mut timer = LaunchTimer::new(256);
/// timer.start_candidate("twice");
/// let seconds = timer.time(100, |launches| {
///     // SAFETY: there are as many threads as elements.
///     (0..launches).try_for_each(|_| unsafe { twice.launch(Grid::new(1, 32), &[&z]) })
/// });
/// match seconds {
///     Ok(seconds) => println!("{seconds} s by {}", timer.window_kind().name()),
///     Err(EnqueueError::Driver(error)) => return Err(error.into()),
///     Err(EnqueueError::Enqueue(error)) => return Err(error.into()),
/// }
/// rtcg::driver::Context::pop()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LaunchTimer {
    /// Of cold windows.
    cold: Option<CacheFlush>,
    cold_events: Vec<(Event, Event)>,
    /// Seconds that a cold launch and the flush before it took in the last window, on the host's clock; 0 before it.
    cold_seconds: f64,
    max_captured: u32,
    candidate: String,
    /// How each candidate is timed, so that it is timed alike in later rounds.
    kinds: HashMap<String, WindowKind>,
    /// Whether a graph was faster than launches in a row.
    is_graph_faster: bool,
    capture_stream: Option<Stream>,
    /// The present candidate's, and how many launches it has.
    graph: Option<(u32, GraphExec)>,
}

impl LaunchTimer {
    /// A timer of launches with warm caches. A graph gets at most `max_captured` of them, and is launched several times
    /// for more.
    pub fn new(max_captured: u32) -> Self {
        Self {
            cold: None,
            cold_events: Vec::new(),
            cold_seconds: 0.0,
            max_captured: max_captured.max(1),
            candidate: String::new(),
            kinds: HashMap::new(),
            is_graph_faster: false,
            capture_stream: None,
            graph: None,
        }
    }

    /// A timer of launches with cold caches: before each launch, outside of the timed interval, it writes a buffer of
    /// twice the L2 cache's size, which is allocated here.
    ///
    /// # Errors
    /// When there is no current context, or no memory.
    pub fn cold() -> Result<Self> {
        Ok(Self { cold: Some(CacheFlush::new()?), ..Self::new(1) })
    }

    /// Starts timing the candidate of this name.
    pub fn start_candidate(&mut self, name: &str) {
        name.clone_into(&mut self.candidate);
        self.graph = None;
    }

    /// How windows of the current candidate are timed.
    pub fn window_kind(&self) -> WindowKind {
        match self.cold {
            Some(_) => WindowKind::Cold,
            None => self.kinds.get(&self.candidate).copied().unwrap_or(WindowKind::Launches),
        }
    }

    /// Seconds per launch over `launches` launches. `enqueue(n)` makes n launches in the thread's current stream, and
    /// must not wait. Waits for the device.
    ///
    /// # Errors
    /// What `enqueue` or the driver reports.
    pub fn time<E>(
        &mut self,
        launches: u32,
        mut enqueue: impl FnMut(u32) -> std::result::Result<(), E>,
    ) -> std::result::Result<f64, EnqueueError<E>> {
        if self.cold.is_some() {
            return self.time_cold(cold_launches(launches, self.cold_seconds), &mut enqueue);
        }
        if launches > 1 {
            if !self.kinds.contains_key(&self.candidate) {
                let kind = self.choose_kind(launches, &mut enqueue)?;
                self.kinds.insert(self.candidate.clone(), kind);
            }
            if self.window_kind() == WindowKind::Graph && self.capture(launches, &mut enqueue) {
                return Ok(self.time_graph(launches)?);
            }
        }
        time_in_a_row(launches, &mut enqueue)
    }

    fn choose_kind<E>(
        &mut self,
        launches: u32,
        enqueue: &mut impl FnMut(u32) -> std::result::Result<(), E>,
    ) -> std::result::Result<WindowKind, EnqueueError<E>> {
        let mut is_short = false;
        for _ in 0..PROBES {
            is_short |= time_in_a_row(launches.min(PROBE_LAUNCHES), enqueue)? < SHORT_SECONDS;
        }
        if !is_short || !self.capture(launches, enqueue) {
            return Ok(WindowKind::Launches);
        }
        if !self.is_graph_faster {
            let count = launches.min(self.max_captured);
            let (mut in_graph, mut in_a_row) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..PROBES {
                in_graph = in_graph.min(self.time_graph(count)?);
                in_a_row = in_a_row.min(time_in_a_row(count, enqueue)?);
            }
            self.is_graph_faster = in_graph < GRAPH_GAIN * in_a_row;
        }
        Ok(if self.is_graph_faster { WindowKind::Graph } else { WindowKind::Launches })
    }

    /// Whether there is a graph of the present candidate now, for windows of `launches`.
    fn capture<E>(&mut self, launches: u32, enqueue: &mut impl FnMut(u32) -> std::result::Result<(), E>) -> bool {
        let count = launches.min(self.max_captured);
        if self.graph.as_ref().is_none_or(|(captured, _)| *captured != count) {
            self.graph = self.capture_launches(count, enqueue).ok().flatten().map(|graph| (count, graph));
        }
        self.graph.is_some()
    }

    fn capture_launches<E>(
        &mut self,
        count: u32,
        enqueue: &mut impl FnMut(u32) -> std::result::Result<(), E>,
    ) -> Result<Option<GraphExec>> {
        let stream = match &self.capture_stream {
            Some(stream) => stream.clone(),
            None => self.capture_stream.insert(Stream::new(CU_STREAM_NON_BLOCKING.0)?).clone(),
        };
        let _hidden = HiddenCapture::new();
        stream.push_current_stream()?;
        let captured = stream.capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, || Ok(enqueue(count).is_ok()));
        stream.pop_current_stream()?;
        let (graph, is_complete) = captured?;
        // Work in streams of a function's own is not in the graph.
        if !is_complete || graph.nodes()?.len() < count as usize {
            return Ok(None);
        }
        graph.instantiate(0).map(Some)
    }

    fn time_graph(&self, launches: u32) -> Result<f64> {
        let Some((count, graph)) = &self.graph else { return Ok(f64::NAN) };
        let repeats = launches.div_ceil(*count);
        let (start, end) = (Event::new(0)?, Event::new(0)?);
        start.record(None)?;
        for _ in 0..repeats {
            graph.launch(None)?;
        }
        end.record(None)?;
        end.synchronize()?;
        Ok(f64::from(start.time_till(&end)?) * 1e-3 / (f64::from(repeats) * f64::from(*count)))
    }

    fn time_cold<E>(
        &mut self,
        launches: u32,
        enqueue: &mut impl FnMut(u32) -> std::result::Result<(), E>,
    ) -> std::result::Result<f64, EnqueueError<E>> {
        while self.cold_events.len() < launches as usize {
            self.cold_events.push((Event::new(0)?, Event::new(0)?));
        }
        let begun = Instant::now();
        let events = &self.cold_events[..launches as usize];
        for (start, end) in events {
            if let Some(flush) = &self.cold {
                flush.flush(None)?;
            }
            start.record(None)?;
            enqueue(1).map_err(EnqueueError::Enqueue)?;
            end.record(None)?;
        }
        if let Some((_, last)) = events.last() {
            last.synchronize()?;
        }
        self.cold_seconds = begun.elapsed().as_secs_f64() / f64::from(launches);
        let seconds = events.iter().map(|(start, end)| Ok(f64::from(start.time_till(end)?) * 1e-3));
        Ok(interquartile_mean(&seconds.collect::<Result<Vec<_>>>()?))
    }
}

/// How many of `launches` cold ones a window has, where each took `seconds` last time.
fn cold_launches(launches: u32, seconds: f64) -> u32 {
    let lasting = (COLD_WINDOW_SECONDS / seconds) as u32;
    launches.min(lasting.clamp(1, MAX_COLD_LAUNCHES))
}

fn time_in_a_row<E>(
    launches: u32,
    enqueue: &mut impl FnMut(u32) -> std::result::Result<(), E>,
) -> std::result::Result<f64, EnqueueError<E>> {
    let (start, end) = (Event::new(0)?, Event::new(0)?);
    start.record(None)?;
    enqueue(launches).map_err(EnqueueError::Enqueue)?;
    end.record(None)?;
    end.synchronize()?;
    Ok(f64::from(start.time_till(&end)?) * 1e-3 / f64::from(launches))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_windows_are_bounded_in_launches_and_in_time() {
        for (launches, seconds, expected) in
            [(1, 0.0, 1), (7, 0.0, 7), (1000, 25e-6, 50), (1000, 0.12, 4), (3, 0.12, 3), (1000, 2.0, 1)]
        {
            assert_eq!(cold_launches(launches, seconds), expected, "{launches} launches of {seconds} s");
        }
    }
}
