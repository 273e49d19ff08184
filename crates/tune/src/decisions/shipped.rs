//! Results that come with the library: for each decision and problem what was chosen and the ten best, with their raw
//! samples, as `python -m rtcg tune builtin --publish` writes them from a folder of results.

use crate::store::{KernelKey, Records};

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("shipped/", $name, ".jsonl")))),*]
    };
}

/// Each file by the name of its decision.
const FILES: &[(&str, &str)] = shipped![
    "einsum.block",
    "einsum.route",
    "fft.lengths",
    "linalg.panel",
    "linalg.panel_kernel",
    "linalg.triangular",
    "linalg.update",
    "matmul.route",
    "matmul.simple",
    "matmul.skinny",
    "matmul.split_k",
    "matmul.tile",
    "reduce.partition",
    "scan.route",
    "scan.tiles",
    "sort.radix",
    "sort.route",
];

/// The names of the decisions with shipped results.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Which of the shipped results are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shipped {
    /// Only the results that searches chose: enough for launches, and read in a tenth of the time.
    Chosen,
    /// The ten best too, which a search on a sister device begins with.
    Best,
}

/// The shipped results of a decision on devices of a back end.
pub fn shipped_records(key: &KernelKey, backend: &str, which: Shipped) -> Records {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == key.name) else { return Records::default() };
    // Other lines are not worth parsing.
    let marker = format!("\"backend\":\"{backend}\"");
    let is_wanted = |line: &str| which == Shipped::Best || line.contains("\"chosen\":true");
    let is_read = |line: &&str| line.starts_with("{\"rtcg_tuning\"") || (line.contains(&marker) && is_wanted(line));
    let lines: Vec<&str> = text.lines().filter(is_read).collect();
    Records::from_text(&lines.join("\n"), key).unwrap_or_default()
}
