//! Parses text to a tree, by recursive descent over Python's precedence levels.

use super::tokens::{Token, TokenKind, tokenize};
use super::{BinaryOp, CompareOp, ExpressionError, FUNCTIONS, Node, UnaryOp};
use crate::value::Value;

/// Parts within each other, at most: a hostile text must not exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Operators within each other, at most: the tree of `1 + 1 + 1 ...` is as deep as it is long, and is evaluated by
/// recursion.
const MAX_OPERATORS: usize = 1000;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    names: Vec<String>,
    /// The variables of lists.
    variables: Vec<String>,
}

type Parsed = Result<Node, ExpressionError>;

/// The tree, the names in it, and those of them that are variables of lists.
pub(super) fn parse_expression(text: &str) -> Result<(Node, Vec<String>, Vec<String>), ExpressionError> {
    let tokens = tokenize(text).map_err(|(position, message)| ExpressionError {
        text: text.to_owned(),
        position: Some(position),
        message,
    })?;
    if let Some(position) = too_deep_at(&tokens) {
        let message = format!("more than {MAX_OPERATORS} operators within each other");
        return Err(ExpressionError { text: text.to_owned(), position: Some(position), message });
    }
    let mut parser = Parser { text, tokens, at: 0, depth: 0, names: Vec::new(), variables: Vec::new() };
    let root = parser.tuple_or_single()?;
    match parser.current() {
        TokenKind::End => Ok((root, parser.names, parser.variables)),
        _ => Err(parser.error("expected an operator or the end")),
    }
}

/// Where more operators are within each other than are allowed. Those of a list or of arguments are beside each other;
/// all others count as within each other.
fn too_deep_at(tokens: &[Token]) -> Option<usize> {
    // The counts up to each open bracket.
    let (mut outer, mut depth) = (Vec::new(), 0);
    let found = tokens.iter().find(|token| {
        match &token.kind {
            TokenKind::Symbol("(" | "[") => {
                depth += 1;
                outer.push(depth);
            }
            TokenKind::Symbol(")" | "]") => depth = outer.pop().unwrap_or(depth),
            TokenKind::Symbol(",") => depth = outer.last().copied().unwrap_or(0),
            TokenKind::Symbol(_) => depth += 1,
            TokenKind::Word(word) => {
                depth += usize::from(matches!(word.as_str(), "and" | "or" | "not" | "in" | "if" | "else" | "for"));
            }
            TokenKind::Constant(_) | TokenKind::End => {}
        }
        depth > MAX_OPERATORS
    });
    found.map(|token| token.position)
}

/// Binary operators of one level each, the loosest first.
const BINARY_LEVELS: &[&[(&str, BinaryOp)]] = &[
    &[("|", BinaryOp::BitOr)],
    &[("^", BinaryOp::BitXor)],
    &[("&", BinaryOp::BitAnd)],
    &[("<<", BinaryOp::ShiftLeft), (">>", BinaryOp::ShiftRight)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
    &[("*", BinaryOp::Mul), ("/", BinaryOp::Div), ("//", BinaryOp::FloorDiv), ("%", BinaryOp::Modulo)],
];

const COMPARISONS: &[(&str, CompareOp)] = &[
    ("==", CompareOp::Equal),
    ("!=", CompareOp::NotEqual),
    ("<=", CompareOp::LessEqual),
    (">=", CompareOp::GreaterEqual),
    ("<", CompareOp::Less),
    (">", CompareOp::Greater),
];

impl Parser<'_> {
    fn current(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn error(&self, message: &str) -> ExpressionError {
        let position = Some(self.tokens[self.at].position);
        ExpressionError { text: self.text.to_owned(), position, message: message.to_owned() }
    }

    fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.current(), TokenKind::Symbol(found) if *found == symbol);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.current(), TokenKind::Word(found) if found == word);
        self.at += usize::from(found);
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.error(&format!("expected {symbol:?}"))) }
    }

    fn tuple_or_single(&mut self) -> Parsed {
        let first = self.if_else()?;
        if !self.take_symbol(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        self.more_items(&mut items)?;
        Ok(Node::Tuple(items))
    }

    /// Items up to a closing bracket or the end, which stays.
    fn more_items(&mut self, items: &mut Vec<Node>) -> Result<(), ExpressionError> {
        while !matches!(self.current(), TokenKind::End | TokenKind::Symbol(")" | "]")) {
            items.push(self.if_else()?);
            if !self.take_symbol(",") {
                break;
            }
        }
        Ok(())
    }

    fn if_else(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("more than {MAX_DEPTH} expressions within each other")));
        }
        let value = self.disjunction()?;
        let node = if self.take_word("if") {
            let condition = self.disjunction()?;
            if !self.take_word("else") {
                return Err(self.error("expected \"else\""));
            }
            Node::IfElse(Box::new([condition, value, self.if_else()?]))
        } else {
            value
        };
        self.depth -= 1;
        Ok(node)
    }

    fn disjunction(&mut self) -> Parsed {
        let mut node = self.conjunction()?;
        while self.take_word("or") || self.take_symbol("||") {
            node = Node::Or(Box::new(node), Box::new(self.conjunction()?));
        }
        Ok(node)
    }

    fn conjunction(&mut self) -> Parsed {
        let mut node = self.negation()?;
        while self.take_word("and") || self.take_symbol("&&") {
            node = Node::And(Box::new(node), Box::new(self.negation()?));
        }
        Ok(node)
    }

    fn negation(&mut self) -> Parsed {
        let mut count = 0;
        while self.take_word("not") {
            count += 1;
        }
        let node = self.comparison()?;
        Ok((0..count.min(2 - count % 2)).fold(node, |node, _| Node::Unary(UnaryOp::Not, Box::new(node))))
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(op) = self.take_comparison()? {
            rest.push((op, self.binary(0)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Compare(Box::new(first), rest) })
    }

    fn take_comparison(&mut self) -> Result<Option<CompareOp>, ExpressionError> {
        if let Some((_, op)) = COMPARISONS.iter().find(|(symbol, _)| self.take_symbol(symbol)) {
            return Ok(Some(*op));
        }
        if self.take_word("in") {
            return Ok(Some(CompareOp::In));
        }
        if self.take_word("not") {
            return if self.take_word("in") { Ok(Some(CompareOp::NotIn)) } else { Err(self.error("expected \"in\"")) };
        }
        Ok(None)
    }

    fn binary(&mut self, level: usize) -> Parsed {
        let Some(operators) = BINARY_LEVELS.get(level) else { return self.unary() };
        let mut node = self.binary(level + 1)?;
        while let Some((_, op)) = operators.iter().find(|(symbol, _)| self.take_symbol(symbol)) {
            node = Node::Binary(*op, Box::new(node), Box::new(self.binary(level + 1)?));
        }
        Ok(node)
    }

    fn unary(&mut self) -> Parsed {
        const OPERATORS: &[(&str, UnaryOp)] =
            &[("-", UnaryOp::Negate), ("+", UnaryOp::Plus), ("~", UnaryOp::Invert), ("!", UnaryOp::Not)];
        let mut operators = Vec::new();
        while let Some((_, op)) = OPERATORS.iter().find(|(symbol, _)| self.take_symbol(symbol)) {
            operators.push(*op);
            if operators.len() > MAX_DEPTH {
                return Err(self.error("too many operators before a value"));
            }
        }
        let node = self.power()?;
        Ok(operators.into_iter().rev().fold(node, |node, op| Node::Unary(op, Box::new(node))))
    }

    fn power(&mut self) -> Parsed {
        let base = self.postfix()?;
        if !self.take_symbol("**") {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("too many powers of powers"));
        }
        let exponent = self.unary()?;
        self.depth -= 1;
        Ok(Node::Binary(BinaryOp::Power, Box::new(base), Box::new(exponent)))
    }

    fn postfix(&mut self) -> Parsed {
        let mut node = self.atom()?;
        while self.take_symbol("[") {
            let index = self.if_else()?;
            self.expect_symbol("]")?;
            node = Node::Index(Box::new(node), Box::new(index));
        }
        Ok(node)
    }

    fn atom(&mut self) -> Parsed {
        match self.current().clone() {
            TokenKind::Constant(value) => {
                self.at += 1;
                Ok(Node::Constant(value))
            }
            TokenKind::Word(word) => self.word(&word),
            TokenKind::Symbol("(") => self.bracketed(")"),
            TokenKind::Symbol("[") => self.bracketed("]"),
            _ => Err(self.error("expected a value")),
        }
    }

    fn bracketed(&mut self, end: &str) -> Parsed {
        self.at += 1;
        let mut items = Vec::new();
        self.more_items(&mut items)?;
        if end == "]" && items.len() == 1 && self.take_word("for") {
            return self.comprehension(items.remove(0));
        }
        let has_comma = matches!(self.tokens[self.at - 1].kind, TokenKind::Symbol(","));
        self.expect_symbol(end)?;
        match items.pop() {
            Some(single) if items.is_empty() && end == ")" && !has_comma => Ok(single),
            last => {
                items.extend(last);
                Ok(Node::Tuple(items))
            }
        }
    }

    fn comprehension(&mut self, body: Node) -> Parsed {
        let TokenKind::Word(name) = self.current().clone() else { return Err(self.error("expected a variable")) };
        self.at += 1;
        let Node::Name(variable) = self.name(&name) else { return Err(self.error("expected a variable")) };
        self.variables.push(name);
        if !self.take_word("in") {
            return Err(self.error("expected \"in\""));
        }
        let sequence = Box::new(self.disjunction()?);
        self.expect_symbol("]")?;
        Ok(Node::Comprehension { variable, body: Box::new(body), sequence })
    }

    fn word(&mut self, word: &str) -> Parsed {
        match word {
            "and" | "or" | "in" | "if" | "else" | "is" | "lambda" | "for" => {
                return Err(self.error(&format!("expected a value, not {word:?}")));
            }
            _ => self.at += 1,
        }
        match word {
            "True" | "true" => Ok(Node::Constant(Value::Bool(true))),
            "False" | "false" => Ok(Node::Constant(Value::Bool(false))),
            _ if self.take_symbol("(") => self.call(word),
            // Kernel Tuner's way to name a parameter.
            "p" if matches!(self.current(), TokenKind::Symbol("[")) => self.quoted_name(),
            _ => Ok(self.name(word)),
        }
    }

    fn quoted_name(&mut self) -> Parsed {
        self.at += 1;
        let TokenKind::Constant(Value::Str(name)) = self.current().clone() else {
            return Err(self.error("expected the name of a parameter in quotes"));
        };
        self.at += 1;
        self.expect_symbol("]")?;
        Ok(self.name(&name))
    }

    fn name(&mut self, name: &str) -> Node {
        let known = self.names.iter().position(|known| known == name);
        Node::Name(known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }))
    }

    fn call(&mut self, name: &str) -> Parsed {
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
            self.at -= 2;
            return Err(self.error(&format!("{name} is no known function; expected one of {}", known.join(", "))));
        };
        let mut arguments = Vec::new();
        self.more_items(&mut arguments)?;
        self.expect_symbol(")")?;
        Ok(Node::Call(*function, arguments))
    }
}
