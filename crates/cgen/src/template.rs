//! Source templates, with minijinja (the syntax of Jinja2).
//!
//! An undefined name is an error, blocks leave no blank lines (trim and lstrip blocks), and every error gives the
//! template's line. The rendered [`Source`] maps each of its lines to a line of the template, so that compiler messages
//! refer to the template.

mod nesting;
mod python;
mod value_depth;

use crate::source::Source;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use std::fmt;

/// The default name of templates in messages.
pub const DEFAULT_NAME: &str = "template";

/// Around the number of a template's line, until the text is rendered: characters that no source has.
const MARK_START: char = '\u{e000}';
const MARK_END: char = '\u{e001}';

/// What a template may do: steps of the engine, and what they make in characters and elements.
const MAX_STEPS: u64 = 10_000_000;

/// A parsed template.
///
/// ```
/// use rtcg_cgen::template::{Template, context};
///
/// let template = Template::new("{% for i in range(n) %}\n  x[{{ i }}] = ({{ 'float32'|ctype }}) 1;\n{% endfor %}\n")?;
/// let source = template.render(context! { n => 2 })?;
/// assert_eq!(source.text(), "  x[0] = (float) 1;\n  x[1] = (float) 1;\n");
/// assert_eq!(source.origin_of(2), Some(2));
/// # Ok::<(), rtcg_cgen::template::TemplateError>(())
/// ```
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    name: String,
    text: String,
}

pub use minijinja::context;
pub use minijinja::value::{Tuple as TemplateTuple, Value as TemplateValue};

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// When its syntax is wrong; the error gives the line.
    pub fn new(text: &str) -> Result<Self, TemplateError> {
        Self::with_name(DEFAULT_NAME, text)
    }

    /// Parses a template that messages call `name`.
    ///
    /// # Errors
    /// As [`Template::new`].
    pub fn with_name(name: &str, text: &str) -> Result<Self, TemplateError> {
        let text = &text.replace("\r\n", "\n").replace('\r', "\n");
        let refused = |line, message| TemplateError { name: name.into(), line: Some(line), message };
        if let Some(place) = text.find([MARK_START, MARK_END]) {
            return Err(refused(text[..place].matches('\n').count() + 1, "a character for private use".into()));
        }
        nesting::check_nesting(text).map_err(|(line, message)| refused(line, message))?;
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(MAX_STEPS));
        environment.set_syntax(block_syntax());
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(python::call_method);
        environment.set_formatter(|out, state, value| match python::printed(value) {
            Some(text) => Ok(out.write_str(&text)?),
            None => {
                value_depth::check_depth(value, false)?;
                minijinja::escape_formatter(out, state, value)
            }
        });
        environment.add_filter(value_depth::FILTER, value_depth::bounded);
        minijinja_contrib::add_to_environment(&mut environment);
        add_functions(&mut environment);
        let prepared = mark_lines(&value_depth::bound_assignments(text));
        let added = value_depth::run_on_large_stack(|| environment.add_template_owned(name.to_owned(), prepared))
            .map_err(|message| TemplateError { name: name.into(), line: None, message })?;
        let template = Self { environment, name: name.to_owned(), text: text.to_owned() };
        added.map_err(|error| template.error(&error))?;
        Ok(template)
    }

    /// Renders the template with these values.
    ///
    /// # Errors
    /// When a name is undefined, or a value does not fit; the error gives the line.
    pub fn render(&self, values: Value) -> Result<Source, TemplateError> {
        let template = self.environment.get_template(&self.name).map_err(|error| self.error(&error))?;
        let rendered = value_depth::run_on_large_stack(|| {
            template.render(&values).map_err(|error| self.render_error(&error, &values))
        });
        let broken = |message| TemplateError { name: self.name.clone(), line: None, message };
        let rendered = rendered.map_err(broken)??;
        let (text, origins) = strip_marks(&rendered);
        Ok(Source::of_template(text, origins, self.name.clone(), self.text.clone()))
    }

    fn error(&self, error: &minijinja::Error) -> TemplateError {
        let message = match error.kind() {
            ErrorKind::OutOfFuel => format!("more than {MAX_STEPS} steps, or characters and elements that they make"),
            kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
        };
        TemplateError { name: self.name.clone(), line: error.line(), message }
    }

    /// An error of values: where it is about something undefined, names on that line that have no value are named.
    fn render_error(&self, error: &minijinja::Error, values: &Value) -> TemplateError {
        let mut told = self.error(error);
        let is_undefined = error.kind() == ErrorKind::UndefinedError || told.message.contains("undefined");
        let line = told.line.and_then(|line| self.text.lines().nth(line - 1));
        let (Some(line), Ok(template), true) = (line, self.environment.get_template(&self.name), is_undefined) else {
            return told;
        };
        let has_no_value = |name: &String| values.get_attr(name).is_ok_and(|value| value.is_undefined());
        let is_on_line =
            |name: &String| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        let mut names: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        let is_function = |name: &String| self.environment.globals().any(|(known, _)| known == name);
        names.retain(|name| has_no_value(name) && is_on_line(name) && !is_function(name));
        names.sort();
        match names.len() {
            0 => {}
            1 => told.message = format!("{} has no value", names[0]),
            _ => told.message = format!("{} have no values", names.join(", ")),
        }
        told
    }
}

/// Blocks leave neither a newline after them nor blanks before them.
fn block_syntax() -> SyntaxConfig {
    let mut builder = SyntaxConfig::builder();
    builder.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    builder.build().unwrap_or_default()
}

/// An error in a template or its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    name: String,
    /// The template's line, from 1.
    pub line: Option<usize>,
    message: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}, line {line}: {}", self.name, self.message),
            None => write!(f, "{}: {}", self.name, self.message),
        }
    }
}

impl std::error::Error for TemplateError {}

/// The text with a mark before the first character of each line that is no tag's. A mark comes after the line's blanks
/// and never before a tag that strips blanks, so that stripping goes on as without it.
fn mark_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut inside: Option<&str> = None;
    let mut rest = text;
    let mut line = 1;
    let mut is_line_start = true;
    while let Some(c) = rest.chars().next() {
        if is_line_start && inside.is_none() && !c.is_whitespace() {
            let is_block = rest.starts_with("{%") || rest.starts_with("{#") || rest.starts_with("{{-");
            if !is_block {
                out.push(MARK_START);
                out.push_str(&line.to_string());
                out.push(MARK_END);
            }
            is_line_start = false;
        }
        let mut length = c.len_utf8();
        match inside {
            None => {
                if let Some((open, close)) =
                    [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].into_iter().find(|tag| rest.starts_with(tag.0))
                {
                    (inside, length) = (Some(close), open.len());
                }
            }
            Some(close) if rest.starts_with(close) => (inside, length) = (None, close.len()),
            Some(_) => {}
        }
        let taken = &rest[..length];
        if taken == "\n" {
            line += 1;
            is_line_start = true;
        }
        out.push_str(taken);
        rest = &rest[length..];
    }
    out
}

/// The text without marks, and the template's line of each of its lines; 0 where it is unknown.
fn strip_marks(rendered: &str) -> (String, Vec<u32>) {
    let mut text = String::with_capacity(rendered.len());
    let mut origins = Vec::new();
    let mut last = 0;
    for line in rendered.split('\n') {
        let mut own = None;
        let mut rest = line;
        while let Some((before, marked)) = rest.split_once(MARK_START) {
            text.push_str(before);
            let (number, after) = marked.split_once(MARK_END).unwrap_or((marked, ""));
            own = own.or_else(|| number.parse().ok());
            rest = after;
        }
        text.push_str(rest);
        text.push('\n');
        last = own.unwrap_or(last);
        origins.push(last);
    }
    text.pop();
    (text, origins)
}

fn add_functions(environment: &mut Environment<'_>) {
    let wrong = |message: String| minijinja::Error::new(ErrorKind::InvalidOperation, message);
    environment.add_filter("ctype", move |dtype: &str| {
        ctype_of_dtype(dtype).ok_or_else(|| wrong(format!("{dtype:?} is no dtype that C has a type for")))
    });
    environment.add_filter("literal", move |value: Value, dtype: &str| literal(&value, dtype).map_err(wrong));
    let ceil_div = move |a: i64, b: i64| match b {
        0 => Err(wrong(format!("ceil_div({a}, 0)"))),
        b => Ok(-(-a).div_euclid(b)),
    };
    let next_pow2 = move |n: i64| match u64::try_from(n).ok().filter(|n| (1..=1 << 62).contains(n)) {
        Some(n) => Ok(n.next_power_of_two() as i64),
        None => Err(wrong(format!("next_pow2({n})"))),
    };
    environment.add_function("ceil_div", ceil_div);
    environment.add_filter("ceil_div", ceil_div);
    environment.add_function("next_pow2", next_pow2);
    environment.add_filter("next_pow2", next_pow2);
    environment.add_function("raise", move |message: &str, _rest: Kwargs| Err::<Value, _>(wrong(message.to_owned())));
}

/// The C type of a dtype's name, as NumPy says it: `float32`, `f4`, `<f4`.
fn ctype_of_dtype(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix(['<', '=', '|']).unwrap_or(name);
    Some(match bare {
        "bool" | "bool_" | "b1" | "?" => "bool",
        "int8" | "i1" => "signed char",
        "uint8" | "u1" => "unsigned char",
        "int16" | "i2" => "short",
        "uint16" | "u2" => "unsigned short",
        "int32" | "i4" => "int",
        "uint32" | "u4" => "unsigned",
        "int64" | "i8" => "long long",
        "uint64" | "u8" => "unsigned long long",
        "float16" | "f2" => "__half",
        "bfloat16" => "__nv_bfloat16",
        "float32" | "f4" => "float",
        "float64" | "f8" | "float" => "double",
        _ => return None,
    })
}

/// A number as a literal of a dtype: `1.5f`, `3u`, `true`.
fn literal(value: &Value, dtype: &str) -> Result<String, String> {
    let ctype = ctype_of_dtype(dtype).ok_or_else(|| format!("{dtype:?} is no dtype that C has a type for"))?;
    let number: f64 = value.clone().try_into().map_err(|_| format!("{value} is no number"))?;
    let integer = || i64::try_from(value.clone()).map_err(|_| format!("{value} is no integer for {dtype}"));
    Ok(match ctype {
        "bool" => (number != 0.0).to_string(),
        "float" | "__half" | "__nv_bfloat16" if number.is_finite() => format!("{number:?}f"),
        "double" if number.is_finite() => format!("{number:?}"),
        "float" | "double" | "__half" | "__nv_bfloat16" => return Err(format!("{value} is not finite")),
        "unsigned" => format!("{}u", integer()?),
        "long long" => format!("{}ll", integer()?),
        "unsigned long long" => format!("{}ull", integer()?),
        _ => integer()?.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, values: Value) -> Source {
        Template::new(text).unwrap().render(values).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn blocks_leave_no_lines_and_numbers_are_literals() {
        let text = "a\n  {% for i in range(2) %}\n  b{{ i }} {{ 'f4'|ctype }} {{ 1.5|literal('float32') }}\n  {% endfor %}\nc {{ ceil_div(7, 2) }} {{ 33|next_pow2 }}\n";
        let source = render(text, context! {});
        assert_eq!(source.text(), "a\n  b0 float 1.5f\n  b1 float 1.5f\nc 4 64\n");
        let origins: Vec<_> = (1..=4).map(|line| source.origin_of(line)).collect();
        assert_eq!(origins, [Some(1), Some(3), Some(3), Some(5)]);
    }

    #[test]
    fn stripping_tags_work_as_without_marks() {
        let text = "x = {\n  {%- for i in range(3) -%}\n    {{ i }},\n  {%- endfor -%}\n}; {{- '!' }}\n  {{- 'y' }}\nz";
        let mut environment = Environment::new();
        environment.set_syntax(block_syntax());
        let plain = environment.render_str(text, context! {}).unwrap();
        assert_eq!(render(text, context! {}).text(), plain);
    }

    #[test]
    fn values_of_several_lines_belong_to_their_place() {
        let source =
            render("{% raw %}{{ raw }}{% endraw %};\n{{ body }}\nlast", context! { body => "one\ntwo\nthree" });
        assert_eq!(source.text(), "{{ raw }};\none\ntwo\nthree\nlast");
        let origins: Vec<_> = (2..=5).map(|line| source.origin_of(line)).collect();
        assert_eq!(origins, [Some(2), Some(2), Some(2), Some(3)]);
    }

    /// What a template can ask for by one number, it gets or is told; it never ends the process.
    #[test]
    fn large_numbers_are_refused() {
        for text in [
            "{{ 'a\nb'|indent(N) }}",
            "{{ [1, 2]|batch(N, 0)|list }}",
            "{{ [1, 2]|slice(N)|list }}",
            "{{ '{:N}'.format(1) }}",
            "{{ '{:>N}'.format('a') }}",
            "{{ 'a 1 {x:.N}'.format(x=1.5) }}",
            "{{ '{:{}}'.format('a', N) }}",
            "{{ '%Nd'|format(1) }}",
            "{{ 'a' * N }}",
            "{{ [1] * N }}",
            "{{ range(N) }}",
            "{{ 'a'.center(N) }}",
            "{{ 'a'.ljust(N) }}",
            "{{ 'a'.zfill(N) }}",
            "{{ 'a\tb'.expandtabs(N) }}",
        ] {
            for number in ["3000000000000", "18446744073709551615", "4000000000"] {
                let text = &text.replace('N', number);
                let rendered = Template::new(text).and_then(|template| template.render(context! {}));
                assert!(rendered.is_err(), "{text}");
            }
        }
        let endless = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}";
        let error = Template::new(endless).unwrap().render(context! {}).unwrap_err();
        assert_eq!(
            error.to_string(),
            "template, line 1: more than 10000000 steps, or characters and elements that they make"
        );
        let doubling = "{% set x = namespace(t='ab') %}{% for i in range(99) %}{% set x.t = x.t ~ x.t %}{% endfor %}";
        assert!(Template::new(doubling).unwrap().render(context! {}).is_err());
        assert_eq!(render("{{ '#define N 1000000 {:>3}'.format(7) }}", context! {}).text(), "#define N 1000000   7");
        assert!(render("{{ 'a'.center(65536) }}", context! {}).text().len() == 65536);
        let long = render("{% for i in range(100000) %}x[{{ i }}] = {{ i * 2 }};\n{% endfor %}", context! {});
        assert!(long.text().ends_with("x[99999] = 199998;\n"));
    }

    #[test]
    fn compilers_are_told_the_template_lines() {
        let text = "a\n{% for i in range(2) %}\nb\nc\n{% endfor %}\n#define M \\\n  1\nd\n";
        let source = render(text, context! {});
        let expected = "#line 1 \"template\"\na\n#line 3 \"template\"\nb\nc\n#line 3 \"template\"\nb\nc\n#line 6 \"template\"\n#define M \\\n  1\nd\n";
        assert_eq!(source.text_with_line_directives(), expected);
    }

    #[test]
    fn dictionaries_have_their_order() {
        let text = "{% for k, v in p.items() %}{{ v }} {{ k }}, {% endfor %}{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}";
        let p = Value::from_pairs([("out", "float *"), ("in", "const float *"), ("n", "int")]);
        assert_eq!(render(text, context! { p }).text(), "float * out, const float * in, int n, ba");
        let keys = Value::from_pairs([(Value::from(2), "two"), (Value::from(1), "one")]);
        assert_eq!(render("{{ keys[1] }} {{ keys }}", context! { keys }).text(), "one {2: 'two', 1: 'one'}");
    }

    #[test]
    fn values_have_the_methods_of_python() {
        let cases = [
            ("{{ 'aB'.swapcase() }}", "Ab"),
            ("{{ 'ab'.center(5, '*') }}", "**ab*"),
            ("{{ '-7'.zfill(4) }}", "-007"),
            ("{{ 'a.b.c'.rpartition('.')[0] }}", "a.b"),
            ("{{ 'a b  c'.rsplit(none, 1)|join('|') }}", "a b|c"),
            ("{{ 'abc'.index('c') }}", "2"),
            ("{{ [3, 4].index(4) }}", "1"),
            ("{{ 'x.h'.removesuffix('.h') }}", "x"),
            ("{{ 'a\tb'.expandtabs(4) }}", "a   b"),
            ("{{ {'a': 1}.copy().get('a') }}", "1"),
        ];
        cases.iter().for_each(|(text, expected)| assert_eq!(render(text, context! {}).text(), *expected, "{text}"));
        let refused = |text: &str| Template::new(text).unwrap().render(context! {}).unwrap_err().to_string();
        assert!(refused("{{ [1].append(2) }}").contains("append() would change a value"));
        assert!(refused("{{ 'a'.index('b') }}").contains("\"b\" is not in it"));
    }

    #[test]
    fn long_and_deep_templates_are_refused() {
        let refused = |text: &str| Template::new(text).unwrap_err().to_string();
        assert!(
            refused(&format!("\n{{{{ 1{} }}}}", " + 1".repeat(100_000))).starts_with("template, line 2: more than")
        );
        let longest = format!("{{{{ 1{} }}}}", " + 1".repeat(500));
        let small = std::thread::Builder::new().stack_size(1 << 20);
        let rendered = small.spawn(move || render(&longest, context! {}).text().to_owned());
        assert_eq!(rendered.unwrap().join().unwrap(), "501");
    }

    #[test]
    fn values_that_grow_are_refused_on_a_small_stack() {
        let in_loop = |set: &str| {
            format!("\n{{% set ns = namespace(x=0) %}}{{% for i in range(99999) %}}{{% {set} %}}{{% endfor %}}")
        };
        let refused = [
            in_loop("set ns.x = [ns.x]"),
            in_loop("set ns.x = (1, [ns.x])"),
            in_loop("set ns.x = {'a': ns.x}"),
            in_loop("set ns.x = dict(a=ns.x)"),
            in_loop("set ns.x = 2, ns.x"),
            in_loop("set ns.x = ns"),
            in_loop("set ns.x = [namespace(a=ns.x)]"),
            format!("\n{{% set a = 1 %}}{}", "{% set a = [a] %}".repeat(10_000)),
        ];
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let check = move || {
            for text in refused {
                let told = Template::new(&text).and_then(|t| t.render(context! {})).unwrap_err().to_string();
                assert!(told.contains(", line 2: ") && told.contains("contain") | told.contains("hold"), "{told}");
            }
        };
        small.spawn(check).unwrap().join().unwrap();
    }

    #[test]
    fn blocks_and_brackets_within_each_other_are_refused_on_a_small_stack() {
        let opened = ["{% for i in [1] %}", "{% block a %}", "{% macro f() %}", "{% set a %}", "{% call f() %}"]
            .into_iter()
            .chain([
                "{% with %}",
                "{% filter upper %}",
                "{% if 1 %}",
                "{% autoescape true %}",
                "{% for i in [1] recursive %}",
            ]);
        let mut texts: Vec<String> = opened.map(|tag| tag.repeat(100_000)).collect();
        for sign in ["(", "[", "{1:", "-", "not ", "f(", "a[", "1 if ", "1 ~ ", "1 ** ", "a is "] {
            texts.push(format!("{{{{ {} }}}}", sign.repeat(100_000)));
            texts.push(format!("{{% set a = {} %}}", sign.repeat(100_000)));
        }
        let check = move || {
            for text in texts {
                let told = Template::new(&text).map(drop).unwrap_err().to_string();
                assert!(told.starts_with("template, line 1: "), "{told}");
            }
        };
        std::thread::Builder::new().stack_size(256 << 10).spawn(check).unwrap().join().unwrap();
    }

    #[test]
    fn assignments_are_what_they_were() {
        let cases = [
            ("{% set a = zz %}{{ a is defined }}", "false"),
            ("{% set a = 1 if 0 %}{{ a is defined }}", "false"),
            ("{% set a, (b, c) = 1, (2, 3) %}{{ a + b + c }}", "6"),
            ("{% raw %}{% set a = 1 %}{% endraw %}{% set b = 'c=%}' -%}  {{ b }}", "{% set a = 1 %}c=%}"),
            ("{% set a | replace('b', 'c=') %}ab{% endset %}{{ a }}", "ac="),
            ("{% set a = range(3) %}{{ a|list }}{% set b = a[1:] %}{{ b|list }}{{ b|length }}", "[0, 1, 2][1, 2]2"),
            ("{% set a = [1] == [1] %}{{ a }}{% set a = none %}{{ a is none }}", "truetrue"),
            ("{%- set a = [\n1,\n2] +%}\n{{ a }}", "\n[1, 2]"),
        ];
        cases.iter().for_each(|(text, expected)| assert_eq!(render(text, context! {}).text(), *expected, "{text}"));
    }

    #[test]
    fn mistakes_name_line_and_name() {
        let render = |text: &str| Template::new(text).and_then(|template| template.render(context! { n => 3 }));
        let message = |text: &str| render(text).unwrap_err().to_string();
        assert_eq!(message("a\nb {{ width * 2 }}"), "template, line 2: width has no value");
        assert!(message("a\n{% for i in %}").starts_with("template, line 2: "));
        assert!(message("\n\n{{ 'object'|ctype }}").contains("line 3: \"object\" is no dtype"));
        assert!(message("{{ ceil_div(n, 0) }}").contains("ceil_div(3, 0)"));
        assert!(message("{{ 2.5|literal('int32') }}").contains("2.5 is no integer for int32"));
    }
}
