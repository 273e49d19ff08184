//! Prints trees exactly like cgen, byte for byte.

use super::declarator::{Declarator, Place, Struct};
use super::node::{ArrayInitializer, Conditional, Enum, Initializer, Node, Position, Start};
use super::split_lines;
use crate::expr::Expr;

/// Lines under way. A "line" may hold line breaks of the text it came from; only its start is indented.
#[derive(Default)]
struct Printer {
    lines: Vec<String>,
    indent: String,
}

impl Printer {
    fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", self.indent, text.as_ref()));
    }

    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.indent.push_str("  ");
        print(self);
        self.indent.truncate(self.indent.len() - 2);
    }

    fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| node.print(self, None));
    }

    fn braces(&mut self, nodes: &[Node]) {
        self.line("{");
        self.indented(|p| p.nodes(nodes));
        self.line("}");
    }

    /// The body of a loop or an `if`: blocks and collections stand as they are, others are indented.
    fn body(&mut self, body: &Node) {
        if body.is_block() {
            body.print(self, None);
        } else {
            self.indented(|p| body.print(p, None));
        }
    }
}

fn end(semicolon: bool) -> &'static str {
    if semicolon { ";" } else { "" }
}

impl Declarator {
    /// The lines of the type, at least one, and the declarator after it.
    pub fn pair(&self) -> (Vec<String>, Option<String>) {
        match self {
            Self::Pod(dtype, name) => (vec![dtype.ctype().to_owned()], Some(name.clone())),
            Self::Value(typename, name) => (vec![typename.clone()], Some(name.clone())),
            Self::VectorPod(element, count, name) => (vec![format!("{element}{count}")], Some(name.clone())),
            Self::Wrapped(wrapper, inner) => wrap(&wrapper.place(), inner.pair()),
            Self::Function(inner, parameters) => {
                let (lines, declarator) = inner.pair();
                let parameters: Vec<_> = parameters.iter().map(Self::inline).collect();
                let name = declarator.as_deref().unwrap_or(ABSENT);
                (lines, Some(format!("{name}({})", parameters.join(", "))))
            }
            Self::Struct(body) => (body.lines(), body.declarator.clone()),
            Self::Template(_, inner) => inner.pair(),
            Self::Literal(lines, declarator, _) => (lines.clone(), declarator.clone()),
        }
    }

    /// The declarator on one line, without a semicolon.
    pub fn inline(&self) -> String {
        let (lines, declarator) = self.pair();
        let typename = lines.join(" ");
        declarator.map_or(typename.clone(), |d| format!("{typename} {d}"))
    }

    /// `semicolon` None is the node's own way: with one, but for templates.
    fn print(&self, p: &mut Printer, semicolon: Option<bool>) {
        if let Self::Template(parameters, inner) = self {
            p.line(format!("template <{parameters}>"));
            return inner.print(p, Some(semicolon.unwrap_or(false)));
        }
        let terminated = matches!(self, Self::Literal(_, _, true));
        let (lines, declarator) = self.pair();
        let end = end(semicolon.unwrap_or(true) && !terminated);
        let Some((last, first)) = lines.split_last() else { return };
        first.iter().for_each(|line| p.line(line));
        match declarator {
            Some(declarator) => p.line(format!("{last} {declarator}{end}")),
            None => p.line(format!("{last}{end}")),
        }
    }
}

/// What cgen prints where a declarator is needed and there is none; such trees do not pass the check.
const ABSENT: &str = "None";

fn wrap(place: &Place, pair: (Vec<String>, Option<String>)) -> (Vec<String>, Option<String>) {
    let (mut lines, declarator) = pair;
    match place {
        Place::BeforeType(text) => {
            if let Some(first) = lines.first_mut() {
                first.insert_str(0, text);
            }
        }
        Place::AfterType(text) => {
            if let Some(last) = lines.last_mut() {
                last.push_str(text);
            }
        }
        Place::Around(before, after) => {
            let name = declarator.as_deref().unwrap_or(ABSENT);
            return (lines, Some(format!("{before}{name}{after}")));
        }
    }
    (lines, declarator)
}

impl Struct {
    fn lines(&self) -> Vec<String> {
        let mut p = Printer::default();
        p.line(self.name.as_ref().map_or("struct".to_owned(), |name| format!("struct {name}")));
        p.line("{");
        p.indented(|p| self.fields.iter().for_each(|field| field.print(p, None)));
        if self.pad_bytes > 0 {
            p.line(format!("  unsigned char _cgen_pad[{}];", self.pad_bytes));
        }
        p.line(format!("}} {}", self.attributes));
        p.lines
    }
}

impl Node {
    /// Whether a body of this kind stands without indentation: all that is a `Block` in cgen.
    fn is_block(&self) -> bool {
        match self {
            Self::Block(_) | Self::Collection(_) | Self::PrivateNamespace(..) | Self::Conditional(_) => true,
            Self::Literal(literal) => literal.is_block,
            Self::At(_, node) => node.is_block(),
            _ => false,
        }
    }

    /// The lines, with or without a semicolon for nodes that may have one; `None` means the node's default.
    pub fn lines(&self, semicolon: Option<bool>) -> Vec<String> {
        let mut p = Printer::default();
        self.print(&mut p, semicolon);
        p.lines
    }

    /// The unchecked text, without white space at the ends of lines.
    pub fn text(&self) -> String {
        let blank = |c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
        let lines: Vec<_> = self.lines(None).iter().map(|line| line.trim_end_matches(blank).to_owned()).collect();
        lines.join("\n")
    }

    fn print(&self, p: &mut Printer, semicolon: Option<bool>) {
        let end = end(semicolon.unwrap_or(true));
        match self {
            Self::Declaration(declarator) => declarator.print(p, semicolon),
            Self::If(node) => {
                print_condition(p, &node.condition);
                p.body(&node.then);
                if let Some(otherwise) = &node.otherwise {
                    p.line("else");
                    p.body(otherwise);
                }
            }
            Self::For(node) => {
                p.line(format!("for ({}; {}; {})", node.start.text(), node.condition, node.update));
                p.body(&node.body);
            }
            Self::While(node) => {
                p.line(format!("while ({})", node.condition));
                p.body(&node.body);
            }
            Self::DoWhile(node) => {
                p.line("do");
                p.body(&node.body);
                p.line(format!("while ({});", node.condition));
            }
            Self::CustomLoop(node) => {
                node.intro.iter().for_each(|line| p.line(line));
                p.body(&node.body);
                node.outro.iter().for_each(|line| p.line(line));
            }
            Self::Initializer(node) => node.print(p, end),
            Self::ArrayInitializer(node) => node.print(p, end),
            Self::FunctionBody(node) => {
                node.declaration.print(p, Some(false));
                node.body.print(p, None);
            }
            Self::Block(block) => p.braces(&block.contents),
            Self::Collection(nodes) => p.nodes(nodes),
            Self::PrivateNamespace(name, nodes) => {
                p.line(format!("namespace {name}"));
                p.braces(nodes);
                p.line("");
                p.line(format!("using namespace {name}{end}"));
            }
            Self::Conditional(node) => node.print(p),
            Self::Enum(node) => node.print(p),
            Self::Assign(node) => p.line(format!("{} = {}{end}", node.target, node.value)),
            Self::ExpressionStatement(expr) => p.line(format!("{expr}{end}")),
            Self::Statement(text) => p.line(format!("{text}{end}")),
            Self::Literal(literal) => literal.lines.iter().for_each(|line| p.line(line)),
            Self::At(position, node) => {
                p.line(position.directive());
                node.print(p, semicolon);
            }
            _ => self.print_preprocessor_or_comment(p),
        }
    }

    fn print_preprocessor_or_comment(&self, p: &mut Printer) {
        match self {
            Self::Define(symbol, value) => p.line(format!("#define {symbol} {value}")),
            Self::Include(name, true) => p.line(format!("#include <{name}>")),
            Self::Include(name, false) => p.line(format!("#include \"{name}\"")),
            Self::Pragma(text) => p.line(format!("#pragma {text}")),
            Self::Line(text) => p.line(text),
            Self::Comment(text, false) => p.line(format!("/* {text} */")),
            Self::Comment(text, true) => p.line(format!("/*{text}*/")),
            Self::LineComment(text) => p.line(format!("// {text}")),
            Self::MultilineComment(text, skip_space) => {
                let (start, last) = if *skip_space { ("*", "*/") } else { (" * ", " */") };
                p.line("/**");
                split_lines(text).iter().for_each(|line| p.line(format!("{start}{line}")));
                p.line(last);
            }
            _ => {}
        }
    }
}

fn print_condition(p: &mut Printer, condition: &Expr) {
    let text = condition.to_string();
    if !text.contains('\n') {
        return p.line(format!("if ({text})"));
    }
    p.line("if (");
    text.split('\n').for_each(|line| p.line(format!("    {line}")));
    p.line("  )");
}

impl Start {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Expr(expr) => expr.to_string(),
            Self::Declaration(initializer) => Node::from(initializer.clone()).lines(Some(false)).join("\n"),
        }
    }
}

impl Initializer {
    fn print(&self, p: &mut Printer, end: &str) {
        let (lines, declarator) = self.declarator.pair();
        let Some((last, first)) = lines.split_last() else { return };
        first.iter().for_each(|line| p.line(line));
        let name = declarator.as_deref().unwrap_or(ABSENT);
        let value = self.value.to_string();
        if !value.contains('\n') {
            return p.line(format!("{last} {name} = {value}{end}"));
        }
        p.line(format!("{last} {name} ="));
        p.indented(|p| value.split('\n').for_each(|line| p.line(line)));
        if let Some(line) = p.lines.last_mut() {
            line.push_str(end);
        }
    }
}

impl ArrayInitializer {
    fn print(&self, p: &mut Printer, end: &str) {
        self.declarator.print(p, Some(false));
        let values: Vec<_> = self.values.iter().map(Expr::to_string).collect();
        p.line(format!("  = {{ {} }}{end}", values.join(", ")));
    }
}

impl Conditional {
    fn print(&self, p: &mut Printer) {
        p.line(format!("#{} {}", if self.negated { "ifndef" } else { "ifdef" }, self.symbol));
        p.nodes(&self.then);
        if !self.otherwise.is_empty() {
            p.line("#else");
            p.nodes(&self.otherwise);
        }
        p.line("#endif");
    }
}

impl Enum {
    fn print(&self, p: &mut Printer) {
        p.line(format!("typedef {} {};", self.dtype.ctype(), self.name));
        self.values.iter().for_each(|(name, value)| p.line(format!("#define {}{name} {value}", self.prefix)));
    }
}

impl Position {
    fn directive(&self) -> String {
        let file = self.file.replace('\\', "\\\\").replace('"', "\\\"");
        format!("#line {} \"{file}\"", self.line)
    }
}
