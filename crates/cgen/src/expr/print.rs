//! Prints expressions, with the precedence and associativity of C11, 6.5.

use std::fmt;

use super::{Binary, Expr, Kind, Unary};

const PRIMARY: u8 = 15;
const UNARY: u8 = 14;
pub(super) const SHIFT: u8 = 11;
pub(super) const AND: u8 = 5;
const CONDITIONAL: u8 = 3;
pub(super) const ASSIGNMENT: u8 = 2;
const LOWEST: u8 = 0;

/// Precedence and text of an operator.
const fn row(operator: Binary) -> (u8, &'static str) {
    match operator {
        Binary::Multiply => (13, "*"),
        Binary::Divide => (13, "/"),
        Binary::Remainder => (13, "%"),
        Binary::Add => (12, "+"),
        Binary::Subtract => (12, "-"),
        Binary::ShiftLeft => (SHIFT, "<<"),
        Binary::ShiftRight => (SHIFT, ">>"),
        Binary::Less => (10, "<"),
        Binary::LessEqual => (10, "<="),
        Binary::Greater => (10, ">"),
        Binary::GreaterEqual => (10, ">="),
        Binary::Equal => (9, "=="),
        Binary::NotEqual => (9, "!="),
        Binary::BitAnd => (8, "&"),
        Binary::BitXor => (7, "^"),
        Binary::BitOr => (6, "|"),
        Binary::And => (AND, "&&"),
        Binary::Or => (4, "||"),
        Binary::Assign => (ASSIGNMENT, "="),
        Binary::AddAssign => (ASSIGNMENT, "+="),
        Binary::SubtractAssign => (ASSIGNMENT, "-="),
        Binary::MultiplyAssign => (ASSIGNMENT, "*="),
        Binary::DivideAssign => (ASSIGNMENT, "/="),
    }
}

pub(super) fn level_of(operator: Binary) -> u8 {
    row(operator).0
}

fn unary_text(operator: Unary) -> (&'static str, &'static str) {
    match operator {
        Unary::Negate => ("-", ""),
        Unary::Not => ("!", ""),
        Unary::Complement => ("~", ""),
        Unary::Dereference => ("*", ""),
        Unary::AddressOf => ("&", ""),
        Unary::PreIncrement => ("++", ""),
        Unary::PreDecrement => ("--", ""),
        Unary::PostIncrement => ("", "++"),
        Unary::PostDecrement => ("", "--"),
    }
}

impl Expr {
    fn level(&self) -> u8 {
        match &*self.kind {
            Kind::Raw(text) if !is_postfix(text) => LOWEST,
            Kind::Unary(Unary::PostIncrement | Unary::PostDecrement, _) => PRIMARY,
            Kind::Unary(..) | Kind::Cast(..) => UNARY,
            Kind::Binary(operator, ..) => level_of(*operator),
            Kind::Conditional(..) => CONDITIONAL,
            _ => PRIMARY,
        }
    }

    /// As an operand that has to bind at least as tightly as `least`.
    fn operand(&self, least: u8) -> Operand<'_> {
        Operand { expr: self, in_parentheses: self.level() < least }
    }

    /// `operator` and operand; two signs must not run together, as `--a` is another operator than `-` and `-a`.
    fn prefixed(&self, operator: &str) -> String {
        let text = self.operand(UNARY).to_string();
        let last = operator.chars().last();
        if last.is_some() && text.chars().next() == last && matches!(last, Some('-' | '+' | '&')) {
            return format!("{operator}({text})");
        }
        format!("{operator}{text}")
    }

    /// A number before a point or a subscript would run into it.
    fn base(&self) -> Operand<'_> {
        let is_number = matches!(&*self.kind, Kind::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()));
        Operand { expr: self, in_parentheses: is_number || self.level() < PRIMARY }
    }

    /// As an argument: raw text with a comma outside parentheses would become two.
    fn argument(&self) -> Operand<'_> {
        let in_parentheses = matches!(&*self.kind, Kind::Raw(text) if has_outer_comma(text));
        Operand { expr: self, in_parentheses }
    }
}

/// An expression inside another one.
struct Operand<'e> {
    expr: &'e Expr,
    in_parentheses: bool,
}

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.in_parentheses { write!(f, "({})", self.expr) } else { self.expr.fmt(f) }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            Kind::Raw(text) | Kind::Word(text) => f.write_str(text),
            Kind::Unary(operator, operand) => match unary_text(*operator) {
                (prefix, "") => f.write_str(&operand.prefixed(prefix)),
                (_, suffix) => write!(f, "{}{suffix}", operand.operand(PRIMARY)),
            },
            Kind::Binary(operator, left, right) => {
                let (level, text) = row(*operator);
                let (least_left, least_right) =
                    if level == ASSIGNMENT { (UNARY, ASSIGNMENT) } else { (level, level + 1) };
                write!(f, "{} {text} {}", left.operand(least_left), right.operand(least_right))
            }
            Kind::Conditional(condition, yes, no) => {
                let condition = condition.operand(CONDITIONAL + 1);
                write!(f, "{condition} ? {} : {}", yes.operand(ASSIGNMENT), no.operand(CONDITIONAL))
            }
            Kind::Call(callee, arguments) => {
                write!(f, "{}(", callee.operand(PRIMARY))?;
                for (i, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, argument.argument())?;
                }
                f.write_str(")")
            }
            Kind::Index(base, index) => write!(f, "{}[{index}]", base.operand(PRIMARY)),
            Kind::Member(base, separator, name) => write!(f, "{}{separator}{name}", base.base()),
            Kind::Cast(typename, operand) => write!(f, "({typename}){}", operand.operand(UNARY)),
        }
    }
}

/// Whether text from elsewhere binds as tightly as one word: a word with members, subscripts and calls behind it.
fn is_postfix(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut depth = 0_i32;
    let mut balanced = text.starts_with(word);
    for c in text.chars() {
        let outer = depth == 0;
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        balanced &= depth >= 0 && (!outer || word(c) || ".:([".contains(c));
    }
    balanced && depth == 0
}

fn has_outer_comma(text: &str) -> bool {
    let mut depth = 0_i32;
    text.chars().any(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        c == ',' && depth == 0
    })
}
