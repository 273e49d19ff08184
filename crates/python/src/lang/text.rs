//! The text of a function, and its node in the tree that Python's parser makes of it.

use pyo3::exceptions::PySyntaxError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyDict, PyFunction, PyIterator, PyList, PyModule, PyString, PyType};
use rtcg::lang::problem::Code;
use rtcg::lang::span::File;

/// `ast.PyCF_ONLY_AST`: the tree instead of code.
const ONLY_AST: u32 = 0x400;
/// Flags of code for what it imports from `__future__`, which `compile` takes.
const FUTURE_FEATURES: u32 = 0x1fe_0000;
/// The flag of code that is in a function.
const IS_NESTED: u32 = 0x10;

type Node<'py> = Bound<'py, PyAny>;

/// The node of a function, and the lines of its file from `def` or `lambda` to its end.
///
/// Raises `UntranslatableError` if there is no text, or if the text is not that of the code.
pub(super) fn find<'py>(function: &Bound<'py, PyFunction>) -> PyResult<(Node<'py>, File)> {
    let text = Text::of(function)?;
    let node = text.find_node()?;
    let (first, last): (usize, usize) = (node.getattr("lineno")?.extract()?, node.getattr("end_lineno")?.extract()?);
    let lines = (first..=last).map(|line| Ok(text.line(line)?.trim_end_matches('\n').to_owned()));
    let lines = lines.collect::<PyResult<Vec<String>>>()?;
    Ok((node, File { name: text.file.as_str().into(), first_line: first as u32, lines: lines.into() }))
}

/// The file of a function, with what its code says of it.
struct Text<'py> {
    function: Bound<'py, PyFunction>,
    code: Bound<'py, PyAny>,
    /// The name in the code, which is `<lambda>` for a lambda.
    name: String,
    file: String,
    lines: Bound<'py, PyList>,
    /// The line where the code begins, that of the first decorator, from 1.
    first: usize,
    flags: u32,
}

impl<'py> Text<'py> {
    fn of(function: &Bound<'py, PyFunction>) -> PyResult<Self> {
        let py = function.py();
        let code = function.getattr(intern!(py, "__code__"))?;
        let name: String = code.getattr(intern!(py, "co_name"))?.extract()?;
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        let linecache = py.import(intern!(py, "linecache"))?;
        linecache.call_method1(intern!(py, "checkcache"), (&file,))?;
        let globals = function.getattr(intern!(py, "__globals__"))?;
        let lines = linecache.call_method1(intern!(py, "getlines"), (&file, globals))?;
        if lines.len()? == 0 {
            return Err(no_source(
                py,
                &format!(
                    "the source of `{name}` was not found: its file is {file:?}. Programs are compiled from their \
                     source; write the function into a file or a cell of a notebook"
                ),
            ));
        }
        let first = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
        let flags = code.getattr(intern!(py, "co_flags"))?.extract()?;
        Ok(Text { function: function.clone(), code, name, file, lines: lines.cast_into()?, first, flags })
    }

    fn line(&self, line: usize) -> PyResult<String> {
        self.lines.get_item(line.saturating_sub(1))?.extract()
    }

    fn find_node(&self) -> PyResult<Node<'py>> {
        // Most functions are found without a parse of the whole file.
        if self.name != "<lambda>"
            && let Some(block) = self.block()?
            && let Some(node) = self.node_of_code(&block, &mut Vec::new())?
        {
            return Ok(node);
        }
        let whole: String = PyString::new(self.function.py(), "").call_method1("join", (&self.lines,))?.extract()?;
        let mut nodes = Vec::new();
        if let Some(node) = self.node_of_code(&whole, &mut nodes)? {
            return Ok(node);
        }
        // Code depends a little on the rest of its module.
        let is_right = self.compile(whole, 0).map_or(Ok(false), |compiled| self.is_in(&compiled))?;
        match (nodes.pop(), nodes.len()) {
            (Some(node), 0) if is_right || contains_assert(&node)? => Ok(node),
            (Some(_), 1..) if is_right => {
                let message = format!(
                    "line {} of {:?} has several functions of the name `{}`, and which of them this one is cannot be told; \
                     write each on a line of its own",
                    self.first, self.file, self.name
                );
                Err(no_source(self.function.py(), &message))
            }
            _ => Err(self.changed()),
        }
    }

    fn changed(&self) -> PyErr {
        let seen = self.line(self.first).unwrap_or_default();
        let seen = if seen.is_empty() { "no such line".to_owned() } else { format!("`{}`", seen.trim()) };
        let message = format!(
            "the source of `{}` is not that of the function that runs: it began at line {} of {:?}, which is now {seen}. \
             If the file was changed, import it again",
            self.name, self.first, self.file
        );
        no_source(self.function.py(), &message)
    }

    /// The text of a `def` at its lines, if it ends where it seems to: before a line that is indented no more than it.
    fn block(&self) -> PyResult<Option<String>> {
        if self.first == 0 || self.first > self.lines.len() {
            return Ok(None);
        }
        let first = self.line(self.first)?;
        let indent = &first[..first.len() - first.trim_start().len()];
        let mut text = "\n".repeat(self.first - 1);
        if !indent.is_empty() {
            // The block of a statement in the line before.
            if text.pop().is_none() {
                return Ok(None);
            }
            text.push_str("if 1:\n");
        }
        let mut is_in_body = false;
        for number in self.first..=self.lines.len() {
            let line = self.line(number)?;
            let start = line.strip_prefix(indent).unwrap_or(&line);
            let is_indented = line.starts_with(indent) && start.starts_with([' ', '\t']);
            // Brackets end parameters that have lines of their own.
            let continues =
                is_indented || start.trim().is_empty() || start.trim_start().starts_with(['#', ')', ']', '}']);
            if is_in_body && !continues {
                break;
            }
            is_in_body |= start.starts_with("def ") || start.starts_with("async ");
            text.push_str(&line);
        }
        Ok(Some(text))
    }

    /// The tree of a text whose lines are those of the file; `None` if it is not Python.
    fn parse(&self, text: &str) -> PyResult<Option<Node<'py>>> {
        match self.compile(text, ONLY_AST) {
            Ok(tree) => Ok(Some(tree)),
            Err(error) if error.is_instance_of::<PySyntaxError>(self.function.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The node of the function in a text whose lines are those of the file; `seen` are those of its name and line.
    fn node_of_code(&self, text: &str, seen: &mut Vec<Node<'py>>) -> PyResult<Option<Node<'py>>> {
        let Some(tree) = self.parse(text)? else { return Ok(None) };
        for stmt in tree.getattr("body")?.try_iter()? {
            let stmt = stmt?;
            if self.first < first_line(&stmt)? || self.first > stmt.getattr("end_lineno")?.extract()? {
                continue;
            }
            for node in walk(&stmt)? {
                let node = node?;
                if self.has_name_and_line(&node)? {
                    if self.compiles_to_code(&node)? {
                        return Ok(Some(node));
                    }
                    seen.push(node);
                }
            }
        }
        Ok(None)
    }

    /// Whether name and line are those of the code.
    fn has_name_and_line(&self, node: &Node<'py>) -> PyResult<bool> {
        let class = node.get_type().name()?;
        let has_name = match class.to_str()? {
            "FunctionDef" | "AsyncFunctionDef" => node.getattr("name")?.extract::<String>()? == self.name,
            "Lambda" => self.name == "<lambda>",
            _ => return Ok(false),
        };
        Ok(has_name && first_line(node)? == self.first)
    }

    /// Whether the node, compiled in scopes like those of the function, is the function's code. This tells a changed file
    /// from the one that was imported, and the lambdas of a line from each other.
    fn compiles_to_code(&self, node: &Node<'py>) -> PyResult<bool> {
        let (text, scopes) = self.scopes()?;
        let Some(tree) = self.parse(&text)? else { return Ok(false) };
        let mut body = tree.getattr("body")?;
        loop {
            let last = body.get_item(body.len()? - 1)?;
            match last.getattr("body") {
                Ok(inner) => body = inner,
                Err(_) if self.name == "<lambda>" => break last.setattr("value", node)?,
                Err(_) => break body.set_item(body.len()? - 1, node)?,
            }
        }
        let Ok(mut code) = self.compile(tree, 0) else { return Ok(false) };
        for scope in scopes.iter().chain([&self.name]) {
            // Default values, which may be lambdas, come before what they are for.
            let mut last = None;
            for constant in code.getattr("co_consts")?.try_iter()? {
                let constant = constant?;
                if constant.is_instance_of::<PyCode>() && constant.getattr("co_name")?.extract::<String>()? == *scope {
                    last = Some(constant);
                }
            }
            let Some(last) = last else { return Ok(false) };
            code = last;
        }
        code.eq(&self.code)
    }

    /// A text whose last and innermost statement, `0`, is in scopes like those of the function, and the names of
    /// these. Calls of attributes have other code if the module imported what they belong to.
    fn scopes(&self) -> PyResult<(String, Vec<String>)> {
        let (mut text, mut end, mut names) = (String::new(), "0", Vec::new());
        let globals = self.function.getattr("__globals__")?.cast_into::<PyDict>()?;
        for (name, value) in globals {
            if value.is_instance_of::<PyModule>() && name.call_method0("isidentifier")?.is_truthy()? {
                text += &format!("import {name}\n");
            }
        }
        if self.flags & IS_NESTED != 0 {
            let free: Vec<String> = self.code.getattr("co_freevars")?.extract()?;
            text += &format!("def _({}):\n ", free.join(", "));
            names.push("_".to_owned());
        }
        // Names that begin with two underscores are other ones in a class.
        let qualname = self.function.getattr("__qualname__")?;
        let parts = qualname.call_method1("rsplit", (".", 2))?.extract::<Vec<String>>()?;
        if let [.., class, _] = &parts[..]
            && class != "<locals>"
        {
            text += &format!("class {class}:");
            end = " 0";
            names.push(class.clone());
        }
        Ok((text + end, names))
    }

    /// Whether the code is among the constants of another one, or of one in it.
    fn is_in(&self, compiled: &Bound<'py, PyAny>) -> PyResult<bool> {
        for constant in compiled.getattr("co_consts")?.try_iter()? {
            let constant = constant?;
            if constant.is_instance_of::<PyCode>() && (constant.eq(&self.code)? || self.is_in(&constant)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn compile(&self, source: impl IntoPyObject<'py>, flags: u32) -> PyResult<Bound<'py, PyAny>> {
        let py = self.function.py();
        let options = PyDict::new(py);
        options.set_item("flags", flags | self.flags & FUTURE_FEATURES)?;
        options.set_item("dont_inherit", true)?;
        let compile = py.import(intern!(py, "builtins"))?.getattr(intern!(py, "compile"))?;
        compile.call((source, &self.file, "exec"), Some(&options))
    }
}

/// The line where a node begins, with its decorators.
fn first_line(node: &Node<'_>) -> PyResult<usize> {
    let line = node.getattr("lineno")?.extract()?;
    match node.getattr("decorator_list") {
        Ok(decorators) if decorators.len()? > 0 => decorators.get_item(0)?.getattr("lineno")?.extract(),
        _ => Ok(line),
    }
}

/// Test frameworks compile functions with other code for `assert`. Such a function is refused anyway, for what it is.
fn contains_assert(node: &Node<'_>) -> PyResult<bool> {
    for node in walk(node)? {
        if node?.get_type().name()? == "Assert" {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A node and all nodes in it.
fn walk<'py>(node: &Node<'py>) -> PyResult<Bound<'py, PyIterator>> {
    node.py().import(intern!(node.py(), "ast"))?.call_method1(intern!(node.py(), "walk"), (node,))?.try_iter()
}

/// The error of a function whose source is not known.
pub(super) fn no_source(py: Python<'_>, message: &str) -> PyErr {
    untranslatable(py, format!("{message} [{}]", Code::Source.name()))
}

/// `UntranslatableError`, a class of Python's side.
pub(super) fn untranslatable(py: Python<'_>, message: String) -> PyErr {
    static ERROR_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match ERROR_CLASS.import(py, "rtcg.copperhead._errors", "UntranslatableError") {
        Ok(class) => PyErr::from_type(class.clone(), (message,)),
        Err(error) => error,
    }
}
