//! `mutants`: plants the faults of `tests/mutants/`, one at a time, in a copy of the working tree and
//! asks whether the tests that each names fail. The copy and its builds lie under `target/mutants`.

mod check;
mod command;
mod mutant;
mod mutant_tree;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use crate::Result;
use check::{CheckOutcome, MutantCheck, SHORT_TEST_TIMEOUT, TEST_TIMEOUT};
use mutant::Mutant;
use mutant_tree::MutantTree;

/// Plants the named faults, or all; true if each is caught.
pub(crate) fn run_mutants(root: &Path, names: &[String]) -> Result<bool> {
    let faults = mutant::read_mutants(root, names)?;
    let tree = MutantTree::new(root);
    tree.restore_sources()?;
    check_tests_pass_without_mutants(&tree, &faults)?;
    let mut table = String::new();
    let mut n_caught = 0;
    for fault in &faults {
        let start = Instant::now();
        let verdict = apply_and_test(&tree, fault);
        tree.restore_sources()?;
        let verdict = verdict?;
        n_caught += usize::from(verdict == MutantVerdict::Caught);
        let seconds = start.elapsed().as_secs_f32();
        let line = format!("{:44} {:8} {} ({seconds:.0} s)\n", fault.name, fault.crate_dir, verdict.verdict_text());
        print!("{line}");
        table += &line;
    }
    let text = format!("{table}{n_caught} of {} caught\n", faults.len());
    std::fs::write(tree.target_folder().join("table.txt"), &text)?;
    println!("{n_caught} of {} caught", faults.len());
    Ok(n_caught == faults.len())
}

#[derive(PartialEq)]
enum MutantVerdict {
    Caught,
    NotCaught(String),
    DoesNotApply(String),
    DoesNotBuild(String),
}

impl MutantVerdict {
    fn verdict_text(&self) -> String {
        match self {
            Self::Caught => "caught".into(),
            Self::NotCaught(why) => format!("NOT CAUGHT: {why}"),
            Self::DoesNotApply(why) => format!("does not apply: {why}"),
            Self::DoesNotBuild(why) => format!("does not build: {why}"),
        }
    }
}

/// A fault that a failing test lets through proves nothing: all named tests pass without faults.
fn check_tests_pass_without_mutants(tree: &MutantTree, faults: &[Mutant]) -> Result<()> {
    let checks: BTreeSet<&MutantCheck> = faults.iter().flat_map(|fault| &fault.checks).collect();
    for check in &checks {
        check.build_test(tree).map_err(|why| format!("without faults, {} does not build:\n{why}", check.line))?;
        match check.run_test(tree, TEST_TIMEOUT)? {
            CheckOutcome::Passed => {}
            other => return Err(format!("without faults, {} {}", check.line, other.outcome_text()).into()),
        }
    }
    println!("{} tests pass without faults", checks.len());
    Ok(())
}

fn apply_and_test(tree: &MutantTree, fault: &Mutant) -> Result<MutantVerdict> {
    if let Err(why) = tree.apply_patch(&fault.file) {
        return Ok(MutantVerdict::DoesNotApply(why));
    }
    let limit = if fault.may_hang { SHORT_TEST_TIMEOUT } else { TEST_TIMEOUT };
    for check in &fault.checks {
        if let Err(why) = check.build_test(tree) {
            return Ok(MutantVerdict::DoesNotBuild(why));
        }
        match check.run_test(tree, limit)? {
            CheckOutcome::Failed => {}
            CheckOutcome::TimedOut if fault.may_hang => {}
            other => return Ok(MutantVerdict::NotCaught(format!("{} {}", check.line, other.outcome_text()))),
        }
    }
    Ok(MutantVerdict::Caught)
}
