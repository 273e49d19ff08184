//! `mutants`: plants the faults of `tests/mutants/`, one at a time, in a copy of the working tree and
//! asks whether the tests that each names fail. The copy and its builds lie under `target/mutants`.

mod check;
mod command;
mod fault;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use crate::Result;
use check::{Check, LIMIT, Outcome, SHORT_LIMIT};
use fault::Mutant;
use tree::Tree;

/// Plants the named faults, or all; true if each is caught.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<bool> {
    let faults = fault::read(root, names)?;
    let tree = Tree::new(root);
    tree.restore()?;
    tests_pass(&tree, &faults)?;
    let mut table = String::new();
    let mut n_caught = 0;
    for fault in &faults {
        let start = Instant::now();
        let verdict = apply_and_test(&tree, fault);
        tree.restore()?;
        let verdict = verdict?;
        n_caught += usize::from(verdict == Verdict::Caught);
        let seconds = start.elapsed().as_secs_f32();
        let line = format!("{:44} {:8} {} ({seconds:.0} s)\n", fault.name, fault.crate_dir, verdict.text());
        print!("{line}");
        table += &line;
    }
    let text = format!("{table}{n_caught} of {} caught\n", faults.len());
    std::fs::write(tree.folder().join("table.txt"), &text)?;
    println!("{n_caught} of {} caught", faults.len());
    Ok(n_caught == faults.len())
}

#[derive(PartialEq)]
enum Verdict {
    Caught,
    NotCaught(String),
    DoesNotApply(String),
    DoesNotBuild(String),
}

impl Verdict {
    fn text(&self) -> String {
        match self {
            Self::Caught => "caught".into(),
            Self::NotCaught(why) => format!("NOT CAUGHT: {why}"),
            Self::DoesNotApply(why) => format!("does not apply: {why}"),
            Self::DoesNotBuild(why) => format!("does not build: {why}"),
        }
    }
}

/// A fault that a failing test lets through proves nothing: all named tests pass without faults.
fn tests_pass(tree: &Tree, faults: &[Mutant]) -> Result<()> {
    let checks: BTreeSet<&Check> = faults.iter().flat_map(|fault| &fault.checks).collect();
    for check in &checks {
        check.build(tree).map_err(|why| format!("without faults, {} does not build:\n{why}", check.line))?;
        match check.run(tree, LIMIT)? {
            Outcome::Passed => {}
            other => return Err(format!("without faults, {} {}", check.line, other.text()).into()),
        }
    }
    println!("{} tests pass without faults", checks.len());
    Ok(())
}

fn apply_and_test(tree: &Tree, fault: &Mutant) -> Result<Verdict> {
    if let Err(why) = tree.apply(&fault.file) {
        return Ok(Verdict::DoesNotApply(why));
    }
    let limit = if fault.may_hang { SHORT_LIMIT } else { LIMIT };
    for check in &fault.checks {
        if let Err(why) = check.build(tree) {
            return Ok(Verdict::DoesNotBuild(why));
        }
        match check.run(tree, limit)? {
            Outcome::Failed => {}
            Outcome::TimedOut if fault.may_hang => {}
            other => return Ok(Verdict::NotCaught(format!("{} {}", check.line, other.text()))),
        }
    }
    Ok(Verdict::Caught)
}
