//! Makes a program smaller while it keeps a property, such as a wrong result.

use crate::generate::{Node, Program};

/// The smallest program found for which `fails` holds, as it does for `program`. Calls `fails` at
/// most `budget` times.
pub fn shrink(program: &Program, budget: usize, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut left = budget;
    let mut attempt = |best: &mut Program, candidate: Program| {
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
        let before = best.text().len();
        shapes(&mut best, &mut attempt);
        pieces(&mut best, &mut attempt);
        if best.text().len() == before {
            return best;
        }
    }
}

type Attempt<'a> = dyn FnMut(&mut Program, Program) -> bool + 'a;

/// Fewer blocks and threads.
fn shapes(best: &mut Program, attempt: &mut Attempt<'_>) {
    attempt(best, Program { grid: [1, 1, 1], ..best.clone() });
    for block in [[1, 1, 1], [2, 1, 1], [8, 1, 1], [32, 1, 1], [8, 4, 1], [16, 2, 1], [64, 1, 1]] {
        if block.iter().product::<u32>() < best.block.iter().product()
            && attempt(best, Program { block, ..best.clone() })
        {
            break;
        }
    }
}

/// Leaves out runs of nodes, long ones first, at all levels; and takes constructs off their contents.
fn pieces(best: &mut Program, attempt: &mut Attempt<'_>) {
    let n = count(&best.nodes);
    let mut length = (n / 2).max(1);
    loop {
        let mut at = 0;
        while at < count(&best.nodes) {
            let candidate = Program { nodes: without(&best.nodes, at, length), ..best.clone() };
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
    while at < count(&best.nodes) {
        let candidate = Program { nodes: unwrapped(&best.nodes, at), ..best.clone() };
        attempt(best, candidate);
        at += 1;
    }
}

/// Nodes that can be left out, inner ones too, in the order of a walk.
fn count(nodes: &[Node]) -> usize {
    nodes
        .iter()
        .map(|n| match n {
            Node::Line(_) => 1,
            Node::Fixed(_) => 0,
            Node::Group(inner) => 1 + count(inner),
            Node::Block(inner) => count(inner),
        })
        .sum()
}

/// Without the nodes that stand from `at` on, `length` of them.
fn without(nodes: &[Node], at: usize, length: usize) -> Vec<Node> {
    fn walk(nodes: &[Node], i: &mut usize, range: &std::ops::Range<usize>) -> Vec<Node> {
        let mut out = vec![];
        for node in nodes {
            match node {
                Node::Fixed(_) => out.push(node.clone()),
                Node::Block(inner) => out.push(Node::Block(walk(inner, i, range))),
                Node::Line(_) => {
                    if !range.contains(i) {
                        out.push(node.clone());
                    }
                    *i += 1;
                }
                Node::Group(inner) => {
                    let dropped = range.contains(i) && range.end > *i;
                    *i += 1;
                    let rest = walk(inner, i, range);
                    if !dropped {
                        out.push(Node::Group(rest));
                    }
                }
            }
        }
        out
    }
    walk(nodes, &mut 0, &(at..at + length))
}

/// The group that stands at `at` replaced by what in it is not fixed.
fn unwrapped(nodes: &[Node], at: usize) -> Vec<Node> {
    fn walk(nodes: &[Node], i: &mut usize, at: usize) -> Vec<Node> {
        let mut out = vec![];
        for node in nodes {
            match node {
                Node::Fixed(_) => out.push(node.clone()),
                Node::Block(inner) => out.push(Node::Block(walk(inner, i, at))),
                Node::Line(_) => {
                    *i += 1;
                    out.push(node.clone());
                }
                Node::Group(inner) => {
                    let here = *i == at;
                    *i += 1;
                    let inner = walk(inner, i, at);
                    match here {
                        true => out.extend(inner.into_iter().filter(|n| !matches!(n, Node::Fixed(_)))),
                        false => out.push(Node::Group(inner)),
                    }
                }
            }
        }
        out
    }
    walk(nodes, &mut 0, at)
}
