//! A source as text, for tests: each node with its place, as in `(Add x@2:11-2:12 1@2:15-2:16)@2:11-2:16`.

use rtcg::lang::ir::Number;
use rtcg::lang::span::Span;
use rtcg::lang::surface::{Expr, ExprKind, Function, Outside, Pattern, Source, Stmt, Unsupported};
use std::fmt::{Display, Write};

/// All functions, with what they take from outside.
pub(super) fn source(source: &Source) -> String {
    let mut text = String::new();
    for (index, function) in source.functions.iter().enumerate() {
        text += &format!("#{index} {:?} {}\n", source.files.0[index].name, self::function(function, 0));
        for (name, outside) in function.outside.iter() {
            writeln!(text, "  {name} = {}", self::outside(outside)).expect("a string takes all");
        }
    }
    text
}

fn function(function: &Function, depth: usize) -> String {
    let body: String = function.body.iter().map(|stmt| self::stmt(stmt, depth + 1)).collect();
    at(
        format!("def {}({}):{body}\n{}", function.name, listed(&function.params, pattern), "  ".repeat(depth)),
        function.span,
    )
}

fn stmt(stmt: &Stmt, depth: usize) -> String {
    let block = |body: &[Stmt]| body.iter().map(|stmt| self::stmt(stmt, depth + 1)).collect::<String>();
    let text = match stmt {
        Stmt::Assign(to, value, span) => at(format!("{} = {}", pattern(to), expr(value)), *span),
        Stmt::Return(value, span) => at(format!("return {}", value.as_ref().map_or_else(String::new, expr)), *span),
        Stmt::If(condition, then, other, span) => {
            at(format!("if {} then{} else{}", expr(condition), block(then), block(other)), *span)
        }
        Stmt::Def(function) => self::function(function, depth),
        Stmt::Nothing => "nothing".into(),
        Stmt::Unsupported(problem, span) => at(unsupported(problem), *span),
    };
    format!("\n{}{text}", "  ".repeat(depth))
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Name(name, span) => at(name, *span),
        Pattern::Tuple(patterns, span) => at(format!("({})", listed(patterns, self::pattern)), *span),
    }
}

fn expr(expr: &Expr) -> String {
    let text = match &expr.kind {
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Attribute(value, name) => format!("(. {} {name})", self::expr(value)),
        ExprKind::Number(number) => self::number(*number),
        ExprKind::Call(function, arguments) => {
            format!("(call {} {})", self::expr(function), listed(arguments, self::expr))
        }
        ExprKind::Binary(op, left, right) => format!("({op:?} {} {})", self::expr(left), self::expr(right)),
        ExprKind::Unary(op, operand) => format!("({op:?} {})", self::expr(operand)),
        ExprKind::Compare(first, others) => {
            let others = listed(others, |(op, operand)| format!("{op:?} {}", self::expr(operand)));
            format!("(compare {} {others})", self::expr(first))
        }
        ExprKind::Logical { is_and, operands } => {
            format!("({} {})", if *is_and { "and" } else { "or" }, listed(operands, self::expr))
        }
        ExprKind::IfElse(condition, then, other) => {
            format!("(if {} {} {})", self::expr(condition), self::expr(then), self::expr(other))
        }
        ExprKind::Tuple(elements) => format!("(tuple {})", listed(elements, self::expr)),
        ExprKind::List(elements) => format!("(list {})", listed(elements, self::expr)),
        ExprKind::Subscript(value, index) => format!("(subscript {} {})", self::expr(value), self::expr(index)),
        ExprKind::Lambda(function) => {
            let body: String = function.body.iter().map(|stmt| self::stmt(stmt, 0).replace('\n', " ")).collect();
            format!("(lambda ({}){body})", listed(&function.params, pattern))
        }
        ExprKind::Comprehension { element, generators } => {
            let generators = listed(generators, |generator| {
                let conditions = generator.conditions.iter().map(|condition| format!(" if {}", self::expr(condition)));
                let conditions: String = conditions.collect();
                format!("for {} in {}{conditions}", pattern(&generator.pattern), self::expr(&generator.sequence))
            });
            format!("(comprehension {} {generators})", self::expr(element))
        }
        ExprKind::Unsupported(problem) => unsupported(problem),
    };
    at(text, expr.span)
}

fn number(number: Number) -> String {
    match number {
        Number::Bool(value) => (if value { "True" } else { "False" }).into(),
        Number::Int(value) => value.to_string(),
        Number::Float(value) => format!("{value:?}"),
        Number::Complex(real, imaginary) => format!("complex({real:?},{imaginary:?})"),
    }
}

fn outside(outside: &Outside) -> String {
    match outside {
        Outside::Prelude(name) => format!("prelude {name}"),
        Outside::Function(index) => format!("function #{index}"),
        Outside::WeakNumber(number) => format!("number {}", self::number(*number)),
        Outside::Number(number, dtype) => format!("{dtype} {}", self::number(*number)),
        Outside::Elementwise(name) => format!("elementwise {name}"),
        Outside::DType(dtype) => format!("dtype {dtype}"),
        Outside::Tuple(items) => format!("({})", items.iter().map(self::outside).collect::<Vec<_>>().join(", ")),
        Outside::Module(name, attributes) => {
            let attributes = attributes.iter().map(|(name, value)| format!("{name} = {}", self::outside(value)));
            format!("module {name} {{{}}}", attributes.collect::<Vec<_>>().join(", "))
        }
        Outside::Unusable { what, advice } => format!("unusable {what:?} {advice:?}"),
    }
}

fn unsupported(problem: &Unsupported) -> String {
    format!("!{:?} {:?}", problem.what, problem.advice)
}

fn listed<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn at(text: impl Display, span: Span) -> String {
    format!("{text}@{}:{}-{}:{}", span.line, span.column, span.end_line, span.end_column)
}
