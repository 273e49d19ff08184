//! What is printed means what was built: a parser of C's expressions gives back the expression, and no
//! parenthesis can be left out.

use proptest::prelude::*;
use rtcg_cgen::dtype::Dtype;
use rtcg_cgen::expr::{Binary, Expr, Unary};

const TYPES: [&str; 3] = ["float", "int", "unsigned int"];

/// Operators from the loosest to the tightest binding, as C11 6.5 has them.
const LEVELS: [&[(&str, Binary)]; 10] = [
    &[("||", Binary::Or)],
    &[("&&", Binary::And)],
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[("==", Binary::Equal), ("!=", Binary::NotEqual)],
    &[("<", Binary::Less), ("<=", Binary::LessEqual), (">", Binary::Greater), (">=", Binary::GreaterEqual)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

const ASSIGNMENTS: [(&str, Binary); 5] = [
    ("=", Binary::Assign),
    ("+=", Binary::AddAssign),
    ("-=", Binary::SubtractAssign),
    ("*=", Binary::MultiplyAssign),
    ("/=", Binary::DivideAssign),
];

const PREFIXES: [(&str, Unary); 7] = [
    ("++", Unary::PreIncrement),
    ("--", Unary::PreDecrement),
    ("-", Unary::Negate),
    ("!", Unary::Not),
    ("~", Unary::Complement),
    ("*", Unary::Dereference),
    ("&", Unary::AddressOf),
];

/// Words and operators, the longest operator first, as C splits text.
fn tokens(text: &str) -> Vec<String> {
    const OPERATORS: [&str; 22] = [
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "+=", "-=", "*=", "/=", "(", ")", "[", "]",
        "?", ":", ",",
    ];
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let number = rest.starts_with(|c: char| c.is_ascii_digit());
        let word = rest.find(|c: char| !(is_word(c) || (number && c == '.'))).unwrap_or(rest.len());
        let operator = OPERATORS.iter().find(|o| rest.starts_with(**o)).map_or(1, |o| o.len());
        let (token, tail) = rest.split_at(if word > 0 { word } else { operator });
        found.push(token.to_owned());
        rest = tail.trim_start();
    }
    found
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn parse(text: &str) -> Option<Expr> {
        let mut parser = Self { tokens: tokens(text), at: 0 };
        let expr = parser.assignment()?;
        (parser.at == parser.tokens.len()).then_some(expr)
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.take(token).then_some(())
    }

    /// C's grammar wants a unary expression on the left of an assignment.
    fn assignment(&mut self) -> Option<Expr> {
        let start = self.at;
        let left = self.unary();
        let assignment = ASSIGNMENTS.iter().find(|(token, _)| *token == self.peek());
        if let (Some(left), Some((token, operator))) = (left, assignment) {
            self.expect(token)?;
            return Some(Expr::binary(*operator, left, self.assignment()?));
        }
        self.at = start;
        self.conditional()
    }

    fn conditional(&mut self) -> Option<Expr> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Some(condition);
        }
        let yes = self.assignment()?;
        self.expect(":")?;
        Some(condition.conditional(yes, self.conditional()?))
    }

    fn binary(&mut self, level: usize) -> Option<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((token, operator)) = operators.iter().find(|(token, _)| *token == self.peek()) {
            self.expect(token)?;
            left = Expr::binary(*operator, left, self.binary(level + 1)?);
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        if let Some((token, operator)) = PREFIXES.iter().find(|(token, _)| *token == self.peek()) {
            self.expect(token)?;
            return Some(Expr::unary(*operator, self.unary()?));
        }
        let start = self.at;
        if self.take("(") {
            let words = self.tokens[self.at..].iter().take_while(|t| *t != ")").cloned().collect::<Vec<_>>();
            let name = words.join(" ");
            if TYPES.contains(&name.as_str()) {
                self.at += words.len() + 1;
                return Some(self.unary()?.cast(name));
            }
        }
        self.at = start;
        self.postfix()
    }

    fn postfix(&mut self) -> Option<Expr> {
        let mut expr = self.primary()?;
        loop {
            if self.take("[") {
                expr = expr.index(self.assignment()?);
                self.expect("]")?;
            } else if self.take("(") {
                expr = expr.call(self.arguments()?);
            } else if self.take(".") {
                expr = expr.member(self.word()?);
            } else if self.take("->") {
                expr = expr.arrow(self.word()?);
            } else if self.take("++") {
                expr = Expr::unary(Unary::PostIncrement, expr);
            } else if self.take("--") {
                expr = Expr::unary(Unary::PostDecrement, expr);
            } else {
                return Some(expr);
            }
        }
    }

    fn arguments(&mut self) -> Option<Vec<Expr>> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.assignment()?);
        }
        Some(arguments)
    }

    fn word(&mut self) -> Option<String> {
        let word = self.peek().to_owned();
        self.at += 1;
        word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_').then_some(word)
    }

    fn primary(&mut self) -> Option<Expr> {
        if self.take("(") {
            let expr = self.assignment()?;
            self.expect(")")?;
            return Some(expr);
        }
        self.word().map(|word| Expr::var(word, None))
    }
}

fn expressions() -> impl Strategy<Value = Expr> {
    let operators: Vec<Binary> = LEVELS.iter().flat_map(|l| l.iter()).chain(&ASSIGNMENTS).map(|o| o.1).collect();
    let postfix = [Unary::PostIncrement, Unary::PostDecrement];
    let unary: Vec<Unary> = PREFIXES.iter().map(|o| o.1).chain(postfix).collect();
    let leaf = prop_oneof![
        prop::sample::select(vec!["a", "b", "x1"]).prop_map(|name| Expr::var(name, None)),
        any::<i32>().prop_map(Expr::from),
        any::<u32>().prop_map(Expr::from),
        (-100_i32..100).prop_map(|v| Expr::from(v as f32 / 8.0)),
    ];
    leaf.prop_recursive(6, 40, 3, move |inner| {
        prop_oneof![
            4 => (prop::sample::select(operators.clone()), inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| Expr::binary(operator, a, b)),
            2 => (prop::sample::select(unary.clone()), inner.clone()).prop_map(|(op, a)| Expr::unary(op, a)),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| a.conditional(b, c)),
            1 => (inner.clone(), prop::collection::vec(inner.clone(), 0..3)).prop_map(|(f, list)| f.call(list)),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, i)| a.index(i)),
            1 => inner.clone().prop_map(|a| a.member("field")),
            1 => inner.clone().prop_map(|a| a.arrow("field")),
            1 => (prop::sample::select(TYPES.to_vec()), inner).prop_map(|(t, a)| a.cast(t)),
        ]
    })
}

/// `text` without its n-th pair of parentheses.
fn without_pair(text: &str, n: usize) -> Option<String> {
    let open = text.match_indices('(').nth(n)?.0;
    let mut depth = 0;
    let close = text[open..].char_indices().find(|&(_, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    let close = open + close.0;
    Some(format!("{} {} {}", &text[..open], &text[open + 1..close], &text[close + 1..]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_printed_parses_back(expr in expressions()) {
        let text = expr.to_string();
        prop_assert_eq!(Parser::parse(&text), Some(expr), "{}", text);
    }

    /// Signs that would run together (`-(-a)`) have parentheses where a space would do too, and a number has
    /// them before a point.
    #[test]
    fn no_parenthesis_is_too_many(expr in expressions()) {
        let text = expr.to_string();
        let excepted = ["-(-", "+(+", "&(&"].iter().any(|signs| text.contains(signs))
            || tokens(&text).windows(3).any(|w| w[0] == ")" && w[1] == "." && w[2] == "field")
            || text.contains(")->field");
        for n in 0..text.matches('(').count() {
            let Some(bare) = without_pair(&text, n) else { break };
            prop_assert!(excepted || Parser::parse(&bare) != Some(expr.clone()), "{} could be {}", text, bare);
        }
    }
}

#[test]
fn the_parser_knows_precedence() {
    let (a, b, c) = (Expr::var("a", None), Expr::var("b", None), Expr::var("c", None));
    assert_eq!(Parser::parse("a + b * c"), Some(&a + (&b * &c)));
    assert_eq!(Parser::parse("a - b - c"), Some((&a - &b) - &c));
    assert_eq!(Parser::parse("a = b = c"), Some(a.assign(b.assign(&c))));
    assert_eq!(Parser::parse("a + b = c"), None);
    assert_eq!(Parser::parse("(float)a + b"), Some(a.cast("float") + &b));
    assert_eq!(Parser::parse("a +"), None);
}

#[test]
fn numbers_take_the_type_of_their_neighbour() {
    use rtcg_cgen::expr::Number;
    let beside = |dtype| Expr::var("x", dtype).with_number(Binary::Multiply, Number::Float(1.5)).to_string();
    assert_eq!(beside(Dtype::Float32), "x * 1.5f");
    assert_eq!(beside(Dtype::Float64), "x * 1.5");
    assert_eq!(beside(Dtype::Complex64), "x * 1.5f");
    assert_eq!(Expr::var("n", Dtype::Uint64).with_number(Binary::Add, Number::Int(1)).to_string(), "n + 1ull");
}

#[test]
fn raw_text_keeps_its_meaning() {
    let raw = || Expr::raw("a + b");
    assert_eq!((raw() * Expr::raw("c")).to_string(), "(a + b) * c");
    let factor = |text: &str| (Expr::raw(text) * Expr::raw("c")).to_string();
    for tight in ["a", "blockIdx.x", "std::f(a + b)[i - 1].y", "1.5f"] {
        assert_eq!(factor(tight), format!("{tight} * c"));
    }
    for loose in ["-a", "(int)a", "a ? b : c", "f(x) + g(y)", "sizeof a", "a)(b", "1e-5", "p->q", "a, b"] {
        assert_eq!(factor(loose), format!("({loose}) * c"));
    }
    assert_eq!(Expr::raw("f").call([Expr::raw("a, b"), Expr::raw("g(a, b)")]).to_string(), "f((a, b), g(a, b))");
    assert_eq!(raw().substitute("a", &Expr::from(1)), raw());
}
