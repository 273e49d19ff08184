//! Counting loops: `for (int i = first; i < end; i += step)`.

use super::{Result, error};
use crate::expr::Expr;
use crate::names::is_identifier;
use crate::tree::{Declarator, For, Initializer, Node, Start};

/// The parts of a loop that counts up.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedLoop {
    /// The C type of the loop variable.
    pub typename: String,
    /// The loop variable.
    pub name: String,
    /// Its value in the first iteration.
    pub first: Expr,
    /// The end value of the comparison.
    pub end: Expr,
    /// Whether `end` itself is included: `<=` instead of `<`.
    pub inclusive: bool,
    /// The increment after each iteration.
    pub step: Expr,
}

impl CountedLoop {
    /// Parses the head of `node` from its text, so that nodes and raw text are treated alike.
    pub fn from_for(node: &For) -> Result<Self> {
        let (start, condition, update) = node.head();
        let Some((declared, first)) = start.split_once('=') else {
            return error(format!("the loop starts with '{start}', expected 'int i = first'"));
        };
        let words: Vec<_> = declared.split_whitespace().collect();
        let [typename @ .., name] = words.as_slice() else {
            return error(format!("the loop starts with '{start}', expected 'int i = first'"));
        };
        if typename.is_empty() || !is_identifier(name) || has_outer(first, &[",", "="]) {
            return error(format!("the loop starts with '{start}', expected a variable of its own: 'int i = first'"));
        }
        let (inclusive, end) = end_of(&condition, name)?;
        let step = step_of(&update, name)?;
        // Where the head is made of expressions these stay, and need no parentheses as text does.
        let first = match &node.start {
            Start::Declaration(init) => init.value.clone(),
            Start::Expr(_) => Expr::raw(first.trim()),
        };
        let end = node.condition.right_of(name).unwrap_or_else(|| Expr::raw(end));
        let step = node.update.right_of(name).unwrap_or(step);
        Ok(Self { typename: typename.join(" "), name: (*name).to_owned(), first, end, inclusive, step })
    }

    /// The loop variable as an expression.
    pub fn variable(&self) -> Expr {
        Expr::var(&self.name, None)
    }

    /// The condition that `value` has not passed the end of the loop.
    pub fn contains(&self, value: &Expr) -> Expr {
        if self.inclusive { value.less_equal(&self.end) } else { value.less(&self.end) }
    }

    /// A declaration of a variable of the loop's type.
    pub(super) fn declare(&self, name: &str, value: impl Into<Expr>) -> Initializer {
        Initializer::new(Declarator::value(&self.typename, name), value)
    }

    /// `for (int name = first; condition; name += step)`
    pub(super) fn for_loop(&self, name: &str, first: Expr, condition: Expr, step: &Expr, body: Node) -> For {
        let variable = Expr::var(name, None);
        let update = if step.to_string() == "1" { variable.increment() } else { variable.add_assign(step) };
        For::new(self.declare(name, first), condition, update, body)
    }
}

fn end_of<'t>(condition: &'t str, name: &str) -> Result<(bool, &'t str)> {
    let expected = || format!("the loop's condition is '{condition}', expected '{name} < end' or '{name} <= end'");
    let Some(rest) = condition.trim().strip_prefix(name).map(str::trim_start) else { return error(expected()) };
    let Some(rest) = rest.strip_prefix('<') else { return error(expected()) };
    let (inclusive, end) = rest.strip_prefix('=').map_or((false, rest), |end| (true, end));
    if end.trim().is_empty() || end.starts_with('<') || has_outer(end, &["&&", "||", "?", ",", "=", "<", ">"]) {
        return error(expected());
    }
    Ok((inclusive, end.trim()))
}

fn step_of(update: &str, name: &str) -> Result<Expr> {
    let bare: String = update.split_whitespace().collect();
    if bare == format!("++{name}") || bare == format!("{name}++") {
        return Ok(Expr::from(1));
    }
    let step = update.trim().strip_prefix(name).map(str::trim_start).and_then(|rest| rest.strip_prefix("+="));
    match step.map(str::trim) {
        Some(step) if !step.is_empty() && !step.starts_with('-') && !has_outer(step, &[","]) => Ok(Expr::raw(step)),
        _ => error(format!("the loop goes on with '{update}', expected '++{name}' or '{name} += step'")),
    }
}

/// Whether one of `tokens` stands outside all parentheses.
fn has_outer(text: &str, tokens: &[&str]) -> bool {
    let mut depth = 0_i32;
    text.char_indices().any(|(at, c)| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth == 0 && tokens.iter().any(|token| text[at..].starts_with(token))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype::Uint32;

    fn counted_loop(start: &str, condition: &str, update: &str) -> Result<CountedLoop> {
        CountedLoop::from_for(&For::new(start, condition, update, Node::Line(String::new())))
    }

    #[test]
    fn text_and_nodes_are_understood_alike() {
        let text = counted_loop("unsigned int i = 0u", "i < n", "i += 2u").unwrap();
        let i = Expr::var("i", Uint32);
        let node = For::range(&i, 0_u32, Expr::var("n", None), 2_u32, Node::Line(String::new()));
        let node = CountedLoop::from_for(&node).unwrap();
        assert_eq!((&text.typename, &text.name), (&node.typename, &node.name));
        let parts = |counted: &CountedLoop| [&counted.first, &counted.end, &counted.step].map(Expr::to_string);
        assert_eq!(parts(&text), parts(&node));
        assert!(counted_loop("int i=a[b==c]", "i<=f(x, y)", "i++").unwrap().inclusive);
    }

    #[test]
    fn other_loops_are_refused_with_what_they_say() {
        let cases = [
            ("i = 0", "i < n", "++i", "i = 0"),
            ("int i = 0, j = 1", "i < n", "++i", "j = 1"),
            ("int i = 0", "i < n && ok", "++i", "i < n && ok"),
            ("int i = 0", "i > n", "++i", "i > n"),
            ("int i = 0", "j < n", "++i", "j < n"),
            ("int i = 0", "i < n", "--i", "--i"),
            ("int i = 0", "i < n", "i += -1", "i += -1"),
        ];
        for (start, condition, update, named) in cases {
            let message = counted_loop(start, condition, update).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
