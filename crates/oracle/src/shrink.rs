//! Makes a program smaller while it keeps a property, such as a wrong result.

use crate::generate::{ProgramNode, TestProgram};

/// The smallest program found for which `fails` holds, as it does for `program`. Calls `fails` at
/// most `budget` times.
pub fn shrink_program(
    program: &TestProgram,
    budget: usize,
    mut fails: impl FnMut(&TestProgram) -> bool,
) -> TestProgram {
    let mut best = program.clone();
    let mut left = budget;
    let mut attempt = |best: &mut TestProgram, candidate: TestProgram| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let good = fails(&candidate);
        if good {
            *best = candidate;
        }
        good
    };
    loop {
        let before = best.ptx_text().len();
        shrink_grid(&mut best, &mut attempt);
        remove_nodes(&mut best, &mut attempt);
        if best.ptx_text().len() == before {
            return best;
        }
    }
}

type ReplaceIfStillFailing<'a> = dyn FnMut(&mut TestProgram, TestProgram) -> bool + 'a;

/// Fewer blocks and threads.
fn shrink_grid(best: &mut TestProgram, attempt: &mut ReplaceIfStillFailing<'_>) {
    attempt(best, TestProgram { grid: [1, 1, 1], ..best.clone() });
    for block in [[1, 1, 1], [2, 1, 1], [8, 1, 1], [32, 1, 1], [8, 4, 1], [16, 2, 1], [64, 1, 1]] {
        if block.iter().product::<u32>() < best.block.iter().product()
            && attempt(best, TestProgram { block, ..best.clone() })
        {
            break;
        }
    }
}

/// Leaves out runs of nodes, long ones first, at all levels; and takes constructs off their contents.
fn remove_nodes(best: &mut TestProgram, attempt: &mut ReplaceIfStillFailing<'_>) {
    let n = count_nodes(&best.nodes);
    let mut length = (n / 2).max(1);
    loop {
        let mut at = 0;
        while at < count_nodes(&best.nodes) {
            let candidate = TestProgram { nodes: without_nodes(&best.nodes, at, length), ..best.clone() };
            if !attempt(best, candidate) {
                at += length;
            }
        }
        if length == 1 {
            break;
        }
        length /= 2;
    }
    let mut at = 0;
    while at < count_nodes(&best.nodes) {
        let candidate = TestProgram { nodes: unwrap_group(&best.nodes, at), ..best.clone() };
        attempt(best, candidate);
        at += 1;
    }
}

/// Nodes that can be left out, inner ones too, in the order of a walk.
fn count_nodes(nodes: &[ProgramNode]) -> usize {
    nodes
        .iter()
        .map(|n| match n {
            ProgramNode::Line(_) => 1,
            ProgramNode::Fixed(_) => 0,
            ProgramNode::Group(inner) => 1 + count_nodes(inner),
            ProgramNode::Block(inner) => count_nodes(inner),
        })
        .sum()
}

/// Without the nodes that stand from `at` on, `length` of them.
fn without_nodes(nodes: &[ProgramNode], at: usize, length: usize) -> Vec<ProgramNode> {
    fn rebuild_nodes(nodes: &[ProgramNode], i: &mut usize, range: &std::ops::Range<usize>) -> Vec<ProgramNode> {
        let mut out = vec![];
        for node in nodes {
            match node {
                ProgramNode::Fixed(_) => out.push(node.clone()),
                ProgramNode::Block(inner) => out.push(ProgramNode::Block(rebuild_nodes(inner, i, range))),
                ProgramNode::Line(_) => {
                    if !range.contains(i) {
                        out.push(node.clone());
                    }
                    *i += 1;
                }
                ProgramNode::Group(inner) => {
                    let dropped = range.contains(i) && range.end > *i;
                    *i += 1;
                    let rest = rebuild_nodes(inner, i, range);
                    if !dropped {
                        out.push(ProgramNode::Group(rest));
                    }
                }
            }
        }
        out
    }
    rebuild_nodes(nodes, &mut 0, &(at..at + length))
}

/// The group that stands at `at` replaced by what in it is not fixed.
fn unwrap_group(nodes: &[ProgramNode], at: usize) -> Vec<ProgramNode> {
    fn rebuild_nodes(nodes: &[ProgramNode], i: &mut usize, at: usize) -> Vec<ProgramNode> {
        let mut out = vec![];
        for node in nodes {
            match node {
                ProgramNode::Fixed(_) => out.push(node.clone()),
                ProgramNode::Block(inner) => out.push(ProgramNode::Block(rebuild_nodes(inner, i, at))),
                ProgramNode::Line(_) => {
                    *i += 1;
                    out.push(node.clone());
                }
                ProgramNode::Group(inner) => {
                    let here = *i == at;
                    *i += 1;
                    let inner = rebuild_nodes(inner, i, at);
                    match here {
                        true => out.extend(inner.into_iter().filter(|n| !matches!(n, ProgramNode::Fixed(_)))),
                        false => out.push(ProgramNode::Group(inner)),
                    }
                }
            }
        }
        out
    }
    rebuild_nodes(nodes, &mut 0, at)
}
