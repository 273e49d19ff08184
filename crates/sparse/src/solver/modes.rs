//! Chooses the mode in which iterations are launched, if it is left open, and says why.

use super::launches::Launches;
use super::persistent::{fits_cluster, obstacle};
use super::{SolveOptions, SolverMode};
use rtcg_hal::{ArrayError, Result};

/// The mode of a solution, and why.
pub(super) fn choose(
    launches: &Launches<'_>,
    options: &SolveOptions,
    has_callback: bool,
) -> Result<(SolverMode, String)> {
    match options.mode {
        SolverMode::Auto => Ok(automatic(launches, options, has_callback)),
        SolverMode::Stream => Ok((SolverMode::Stream, "asked for".to_owned())),
        _ if has_callback => Err(ArrayError::value_error("mode: a callback is called in mode 'stream' only")),
        mode => Ok((mode, "asked for".to_owned())),
    }
}

fn automatic(launches: &Launches<'_>, options: &SolveOptions, has_callback: bool) -> (SolverMode, String) {
    if has_callback {
        return (SolverMode::Stream, "a callback is called on the host after each iteration".to_owned());
    }
    let Some(lacking) = no_persistent(launches) else {
        let rows = launches.x.size();
        return (SolverMode::Persistent, format!("{rows} rows are so few that blocks are one cluster"));
    };
    if let Some(graph) = no_graph(launches, options) {
        return (SolverMode::Stream, format!("'graph' {graph}; 'persistent' {lacking}"));
    }
    if launches.count > 1 {
        return (
            SolverMode::Graph,
            format!("'device' and 'persistent' end for one right side, not for {}", launches.count),
        );
    }
    if launches.ctx.device_info().is_simd_cpu() {
        // Short launches run in the thread that makes them; a loop is handed to another one.
        return (SolverMode::Graph, format!("'device' repays itself on a GPU; 'persistent' {lacking}"));
    }
    // The device ends a loop by itself: nobody polls, and fewer iterations are in vain.
    match launches.ctx.device().graphs().map(|graphs| graphs.check_loops()) {
        Some(Err(error)) => (SolverMode::Graph, format!("{error}; 'persistent' {lacking}")),
        _ => (SolverMode::Device, format!("'persistent' {lacking}")),
    }
}

/// Why iterations are not one kernel. Barriers in memory take as long as the next kernel of a graph needs to begin; the
/// barrier of a cluster takes less.
fn no_persistent(launches: &Launches<'_>) -> Option<String> {
    if launches.count > 1 {
        return Some("ends for one right side".to_owned());
    }
    let kernels = launches.kernels();
    if let Some(obstacle) = obstacle(&launches.ctx, kernels.as_deref()) {
        return Some(obstacle);
    }
    let rows = launches.x.size();
    let is_small = kernels.is_some_and(|kernels| fits_cluster(&launches.ctx, &kernels));
    (!is_small).then(|| format!("repays itself where blocks are one cluster, not for {rows} rows on this device"))
}

/// Why iterations are not recorded.
fn no_graph(launches: &Launches<'_>, options: &SolveOptions) -> Option<String> {
    let SolveOptions { max_iterations, check_every, .. } = *options;
    if launches.ctx.device().graphs().is_none() {
        return Some("needs graphs, which the device does not have".to_owned());
    }
    if !launches.is_recordable() {
        return Some("needs sparse arrays, not functions".to_owned());
    }
    // A graph costs about as much as launching what is in it.
    (max_iterations < 2 * check_every).then(|| format!("does not repay itself in {max_iterations} iterations"))
}
