//! Loop splitting and unrolling.

use super::{Amount, CountedLoop, Result, Transformed, error, product};
use crate::expr::Expr;
use crate::names::unused;
use crate::tree::{Block, For, If, Node};

/// How a split loop treats the values that do not fill a whole part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// Compares every value with the end.
    Guard,
    /// Runs whole parts without comparisons, and a separate loop for the rest.
    Slab,
    /// Assumes that there are none: the caller guarantees that `n` divides the number of values.
    None,
}

/// Splits a loop into parts of `n` values: a loop over parts around a loop over the values of one part, which is
/// unrolled if `unrolled`. `end + n * step` must fit into the variable's type, and the body must not change the
/// variable.
pub fn split(node: For, n: impl Into<Amount>, remainder: Remainder, unrolled: bool) -> Result<Transformed> {
    let counted = CountedLoop::from_for(&node)?;
    let text = Node::from(node.clone()).text();
    let body = *node.body;
    if leaves_loop(&body) {
        return error("the loop's body holds 'break' or 'goto', which would leave one part only");
    }
    let mut parameters = Vec::new();
    let n = n.into().resolve("n", &[1, 2, 4, 8, 16], |n| n > 0, &mut parameters)?;
    let part = product(n.clone(), &counted.step);
    let outer_name = unused(&format!("{}_outer", counted.name), &text);
    let outer = Expr::var(&outer_name, None);
    let values = |body: Node| {
        let condition = counted.variable().less(&outer + &part);
        let inner = counted.for_loop(&counted.name, outer.clone(), condition, &counted.step, body);
        if unrolled { unrolled_by(None, inner) } else { inner.into() }
    };
    let first = counted.first.clone();
    let node = match remainder {
        Remainder::Guard => {
            let guarded = If::new(counted.contains(&counted.variable()), Block::new([body]));
            counted.for_loop(&outer_name, first, counted.contains(&outer), &part, values(guarded.into())).into()
        }
        Remainder::None => counted.for_loop(&outer_name, first, counted.contains(&outer), &part, values(body)).into(),
        Remainder::Slab => {
            let left = &counted.end - &outer;
            let last = product(&n - 1, &counted.step);
            let whole = if counted.inclusive { left.greater_equal(last) } else { left.greater(last) };
            // Compared first: the difference of unsigned values behind the end is a large number.
            let condition = counted.contains(&outer).and(whole);
            let parts = For::new("", condition, outer.add_assign(&part), values(body.clone()));
            let rest = counted.contains(&counted.variable());
            let rest = counted.for_loop(&counted.name, outer.clone(), rest, &counted.step, body);
            Block::new([counted.declare(&outer_name, first).into(), parts.into(), rest.into()]).into()
        }
    };
    Ok(Transformed { node, parameters, value: None })
}

/// Unrolls a loop `n` times, or completely without `n`.
pub fn unroll(node: For, n: Option<Amount>) -> Result<Transformed> {
    let mut parameters = Vec::new();
    let n = n.map(|n| n.resolve("n", &[1, 2, 4, 8], |n| n > 0, &mut parameters)).transpose()?;
    Ok(Transformed { node: unrolled_by(n, node), parameters, value: None })
}

/// In a block, so that the two lines are one statement.
fn unrolled_by(n: Option<Expr>, node: For) -> Node {
    let pragma = n.map_or("unroll".to_owned(), |n| format!("unroll {n}"));
    Block::new([Node::Pragma(pragma), node.into()]).into()
}

/// Whether the text has a word that leaves loops. Words in loops within leave those only; they count all the same,
/// as this is text.
fn leaves_loop(body: &Node) -> bool {
    let text = body.text();
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.any(|word| word == "break" || word == "goto")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Parameter;

    fn node() -> For {
        For::new("int i = 0", "i < n", "++i", Node::Statement("f(i)".to_owned()))
    }

    fn text(node: &Node) -> String {
        node.source().unwrap().replace("i_outer", "o")
    }

    #[test]
    fn values_are_guarded_or_in_slabs() {
        let guarded = split(node(), 4, Remainder::Guard, false).unwrap();
        assert_eq!(
            text(&guarded.node),
            "for (int o = 0; o < n; o += 4)\n  for (int i = o; i < o + 4; ++i)\n    if (i < n)\n    {\n      f(i);\n    }"
        );
        let slab = split(node(), "T", Remainder::Slab, true).unwrap();
        assert_eq!(
            text(&slab.node),
            "{\n  int o = 0;\n  for (; o < n && n - o > T - 1; o += T)\n  {\n    #pragma unroll\n    \
             for (int i = o; i < o + T; ++i)\n      f(i);\n  }\n  for (int i = o; i < n; ++i)\n    f(i);\n}"
        );
        assert_eq!(slab.parameters, [Parameter { name: "T".into(), values: vec![1, 2, 4, 8, 16] }]);
    }

    #[test]
    fn loops_are_split_twice() {
        let Node::For(once) = split(node(), 8, Remainder::Guard, false).unwrap().node else { panic!("a loop") };
        let Node::For(inner) = *once.body else { panic!("a loop") };
        let twice = split(inner, 2, Remainder::None, false).unwrap().node.source().unwrap();
        assert!(twice.starts_with("for (int i_outer_1 = i_outer; i_outer_1 < i_outer + 8; i_outer_1 += 2)"), "{twice}");
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let leaving = For::new("int i = 0", "i < n", "++i", Node::Statement("if (x) break".to_owned()));
        assert!(split(leaving, 4, Remainder::Guard, false).unwrap_err().to_string().contains("break"));
        assert!(split(node(), 0, Remainder::Guard, false).unwrap_err().to_string().contains("n is 0"));
        assert!(split(node(), "2x", Remainder::Guard, false).unwrap_err().to_string().contains("'2x'"));
        let tuned = Amount::tuned("T", [2, -1]);
        assert!(split(node(), tuned, Remainder::Guard, false).unwrap_err().to_string().contains("-1"));
    }

    #[test]
    fn unrolling_is_a_line_before_the_loop() {
        let unrolled = unroll(node(), Some("U".into())).unwrap();
        assert!(unrolled.node.source().unwrap().starts_with("{\n  #pragma unroll U\n  for (int i = 0;"));
        assert_eq!(unrolled.parameters[0].values, [1, 2, 4, 8]);
    }
}
