//! Results that come with the library: for each decision and problem what was chosen and the ten best, with their raw
//! samples, as `python -m rtcg tune builtin --publish` writes them from a folder of results.

use crate::tune::store::{KernelKey, Records};

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
    "fft.pass",
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

/// Which of the shipped results are read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shipped {
    /// Only the results that searches chose: enough for launches, and read in a tenth of the time.
    Chosen,
    /// The ten best too, which a search on a sister device begins with.
    Best,
}

/// The shipped results of a decision on devices of a back end.
pub(super) fn shipped_records(key: &KernelKey, backend: &str, which: Shipped) -> Records {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == key.name) else { return Records::default() };
    // Other lines are not worth parsing.
    let marker = format!("\"backend\":\"{backend}\"");
    let is_wanted = |line: &str| which == Shipped::Best || line.contains("\"chosen\":true");
    let is_read = |line: &&str| line.starts_with("{\"rtcg_tuning\"") || (line.contains(&marker) && is_wanted(line));
    let lines: Vec<&str> = text.lines().filter(is_read).collect();
    Records::from_text(&lines.join("\n"), key).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array_tuning::{config_from_values, decision_key, find_decision};

    #[test]
    fn chosen_results_are_found_without_reading_the_others() {
        for (name, _) in FILES {
            let key = decision_key(find_decision(name).expect("a decision"));
            for backend in ["cuda", "virtual"] {
                let read = |which| shipped_records(&key, backend, which).records;
                let mut best = read(Shipped::Best);
                best.retain(|record| record.is_chosen);
                assert_eq!(read(Shipped::Chosen), best, "{name}, {backend}");
            }
        }
    }

    #[test]
    fn every_shipped_result_is_of_a_decision_and_its_candidates() {
        for (name, text) in FILES {
            let decision = find_decision(name).unwrap_or_else(|| panic!("{name} is no decision"));
            let records = Records::from_text(text, &decision_key(decision)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(records.damaged, Vec::<String>::new(), "{name}");
            assert!(!records.records.is_empty(), "{name}");
            for record in &records.records {
                assert!(config_from_values(decision, &record.config).is_some(), "{name}: {:?}", record.config);
                assert!(!record.samples.is_empty(), "{name}: no samples");
            }
        }
    }
}
