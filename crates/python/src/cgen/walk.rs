//! Trees of Python objects as trees of the core.
//!
//! A class of `rtcg.cgen` says by `_kind` which node it is, and its attributes are the node's parts. What a
//! program overrides (`generate`, `get_decl_pair`, `inline`, a loop's lines) is called and its text taken
//! as it stands; so is what any other object generates.

use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rtcg::cgen::expr::Expr;
use rtcg::cgen::tree::*;

use super::classes::{Bases, Classes};
use super::dtype_of;
use super::expr::PyExpr;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;

/// Nodes within one another; the walk goes down by recursion, some 2 KiB of stack each.
const DEEPEST: usize = 1000;

/// An attribute whose name is made a Python string once.
macro_rules! attribute {
    ($object:expr, $name:literal) => {
        $object.getattr(intern!($object.py(), $name))
    };
}

fn text(object: Any<'_, '_>) -> PyResult<String> {
    Ok(object.str()?.to_str()?.to_owned())
}

fn expr(object: Any<'_, '_>) -> PyResult<Expr> {
    match object.cast::<PyExpr>() {
        Ok(expr) => Ok(expr.get().0.clone()),
        Err(_) => text(object).map(Expr::raw),
    }
}

fn optional<'py, T>(
    object: Bound<'py, PyAny>,
    convert: impl FnOnce(Any<'_, 'py>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    if object.is_none() { Ok(None) } else { convert(&object).map(Some) }
}

fn list<'py, T>(object: Any<'_, 'py>, mut convert: impl FnMut(Any<'_, 'py>) -> PyResult<T>) -> PyResult<Vec<T>> {
    object.try_iter()?.map(|item| convert(&item?)).collect()
}

fn generated(object: Any<'_, '_>) -> PyResult<Vec<String>> {
    list(&object.call_method0(intern!(object.py(), "generate"))?, text)
}

/// One walk; counts how deep it is.
struct Walk {
    classes: Classes,
    depth: usize,
}

impl Walk {
    fn enter(&mut self) -> PyResult<()> {
        if self.depth >= DEEPEST {
            return Err(PyRecursionError::new_err(format!("a tree of more than {DEEPEST} nodes within one another")));
        }
        self.depth += 1;
        Ok(())
    }

    // Nodes go up in boxes, and each kind has a frame of its own that is not inlined: the walk is as deep as the
    // tree, on threads with small stacks too.
    fn node(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        self.enter()?;
        let node = if self.classes.of(object)?.keeps_generate { self.own_node(object) } else { foreign_node(object) };
        self.depth -= 1;
        node
    }

    fn attribute_node(&mut self, attribute: Bound<'_, PyAny>) -> PyResult<Box<Node>> {
        self.node(&attribute)
    }

    /// Items of a block, each after a `#line` where its position was recorded.
    fn contents(&mut self, object: Any<'_, '_>) -> PyResult<Vec<Node>> {
        let mut nodes = Vec::new();
        for item in attribute!(object, "contents")?.try_iter()? {
            let item = item?;
            let node = self.node(&item)?;
            self.push_located(&mut nodes, *node, &item)?;
        }
        Ok(nodes)
    }

    #[inline(never)]
    fn push_located(&mut self, nodes: &mut Vec<Node>, node: Node, item: Any<'_, '_>) -> PyResult<()> {
        let position = match self.classes.of(item)?.is_ours {
            true => attribute!(item, "_position")?.extract::<Option<(String, u32)>>()?,
            false => None,
        };
        nodes.push(match position {
            Some((file, line)) => node.at(file, line),
            None => node,
        });
        Ok(())
    }

    fn own_node(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let class = self.classes.of(object)?;
        if class.is_declarator {
            return self.declaration(object);
        }
        match class.kind.as_str() {
            "block" => self.block(object),
            "collection" => self.collection(object),
            "private_namespace" => self.private_namespace(object),
            "if" => self.conditional(object),
            "loop" => self.custom_loop(object),
            "initializer" => self.initializer_node(object),
            "inline_initializer" => self.inline_initializer(object),
            "array_initializer" => self.array_initializer(object),
            "function_body" => self.function_body(object),
            kind => leaf(kind, object),
        }
    }

    #[inline(never)]
    fn declaration(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        Ok(Box::new(self.declarator(object)?.into()))
    }

    #[inline(never)]
    fn block(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let contents = self.contents(object)?;
        Ok(Box::new(Node::Block(Block { contents })))
    }

    #[inline(never)]
    fn collection(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let contents = self.contents(object)?;
        Ok(Box::new(Node::Collection(contents)))
    }

    #[inline(never)]
    fn initializer_node(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        Ok(Box::new(self.initializer(object)?.into()))
    }

    #[inline(never)]
    fn private_namespace(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let name = text(&object.call_method0(intern!(object.py(), "get_namespace_name"))?)?;
        let contents = self.contents(object)?;
        Ok(Box::new(Node::PrivateNamespace(name, contents)))
    }

    #[inline(never)]
    fn conditional(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let condition = expr(&attribute!(object, "condition")?)?;
        let then = self.attribute_node(attribute!(object, "then_")?)?;
        let otherwise = optional(attribute!(object, "else_")?, |node| self.node(node))?;
        Ok(Box::new(Node::If(If { condition, then, otherwise })))
    }

    #[inline(never)]
    fn custom_loop(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let intro = optional(object.call_method0(intern!(object.py(), "intro_line"))?, text)?;
        let body = self.attribute_node(attribute!(object, "body")?)?;
        let outro = optional(object.call_method0(intern!(object.py(), "outro_line"))?, text)?;
        Ok(Box::new(Node::CustomLoop(CustomLoop { intro, body, outro })))
    }

    #[inline(never)]
    fn array_initializer(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let declarator = self.printed(&attribute!(object, "vdecl")?)?;
        let values = list(&attribute!(object, "data")?, expr)?;
        Ok(Box::new(ArrayInitializer::new(declarator, values).into()))
    }

    #[inline(never)]
    fn function_body(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let declaration = self.printed(&attribute!(object, "fdecl")?)?;
        let body = self.attribute_node(attribute!(object, "body")?)?;
        Ok(Box::new(Node::FunctionBody(FunctionBody { declaration, body })))
    }

    #[inline(never)]
    fn initializer(&mut self, object: Any<'_, '_>) -> PyResult<Initializer> {
        let value = expr(&attribute!(object, "data")?)?;
        Ok(Initializer::new(self.declarator(&attribute!(object, "vdecl")?)?, value))
    }

    /// Without any semicolon at the end of a line.
    #[inline(never)]
    fn inline_initializer(&mut self, object: Any<'_, '_>) -> PyResult<Box<Node>> {
        let lines = Node::from(self.initializer(object)?).lines(None);
        let cut = |line: String| line.strip_suffix(';').map(str::to_owned).unwrap_or(line);
        Ok(Box::new(Literal { lines: lines.into_iter().map(cut).collect(), is_block: false }.into()))
    }

    /// A declarator by its pair of type and name.
    fn declarator(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        self.enter()?;
        let declarator =
            if self.classes.of(object)?.keeps_pair { self.own_declarator(object) } else { foreign_declarator(object) };
        self.depth -= 1;
        declarator
    }

    /// A declarator by the lines it prints, as it stands alone or as a member.
    fn printed(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        let class = self.classes.of(object)?;
        if !class.is_ours {
            let foreign = object.hasattr("generate")?;
            let lines = if foreign { generated_without_semicolon(object)? } else { vec![text(object)?] };
            return Ok(Declarator::Literal(lines, None, false));
        }
        if class.is_declarator && class.keeps_generate {
            return self.declarator(object);
        }
        Ok(Declarator::Literal(generated_without_semicolon(object)?, None, false))
    }

    fn member(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        let class = self.classes.of(object)?;
        if class.is_declarator && class.keeps_generate {
            return self.declarator(object);
        }
        Ok(Declarator::Literal(self.node(object)?.lines(None), None, true))
    }

    fn parameter(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        if self.classes.of(object)?.keeps_inline {
            return self.declarator(object);
        }
        let line = if object.hasattr("inline")? {
            text(&object.call_method0(intern!(object.py(), "inline"))?)?
        } else {
            text(object)?
        };
        Ok(Declarator::Literal(vec![line], None, false))
    }

    #[inline(never)]
    fn own_declarator(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        match self.classes.of(object)?.kind.as_str() {
            kind @ ("pod" | "value" | "cl_vector") => variable(kind, object),
            "function" => self.function(object),
            "struct" => self.structure(object),
            "template" => self.template(object),
            "nested" => self.declarator(&attribute!(object, "subdecl")?),
            kind => self.wrapped(kind, object),
        }
    }

    #[inline(never)]
    fn wrapped(&mut self, kind: &str, object: Any<'_, '_>) -> PyResult<Declarator> {
        let inner = self.declarator(&attribute!(object, "subdecl")?)?;
        Ok(inner.wrapped(wrapper(kind, object)?))
    }

    #[inline(never)]
    fn function(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        let parameters = list(&attribute!(object, "arg_decls")?, |p| self.parameter(p))?;
        Ok(self.declarator(&attribute!(object, "subdecl")?)?.function(parameters))
    }

    #[inline(never)]
    fn template(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        let parameters = text(&attribute!(object, "template_spec")?)?;
        Ok(self.printed(&attribute!(object, "subdecl")?)?.template(parameters))
    }

    #[inline(never)]
    fn structure(&mut self, object: Any<'_, '_>) -> PyResult<Declarator> {
        Ok(Declarator::Struct(Struct {
            name: optional(attribute!(object, "tpname")?, text)?,
            fields: list(&attribute!(object, "fields")?, |field| self.member(field))?,
            declarator: optional(attribute!(object, "declname")?, text)?,
            pad_bytes: attribute!(object, "pad_bytes")?.extract()?,
            attributes: text(&object.call_method0(intern!(object.py(), "struct_attributes"))?)?,
        }))
    }
}

#[inline(never)]
fn foreign_node(object: Any<'_, '_>) -> PyResult<Box<Node>> {
    if let Ok(expr) = object.cast::<PyExpr>() {
        return Ok(Box::new(expr.get().0.clone().into()));
    }
    if object.hasattr("generate")? {
        return Ok(Box::new(Literal { lines: generated(object)?, is_block: is_block(object)? }.into()));
    }
    let text = text(object)?;
    Ok(Box::new(Literal { lines: text.split('\n').map(str::to_owned).collect(), is_block: false }.into()))
}

#[inline(never)]
fn foreign_declarator(object: Any<'_, '_>) -> PyResult<Declarator> {
    if object.is_instance_of::<PyString>() || !object.hasattr("get_decl_pair")? {
        return Ok(Declarator::Literal(vec![text(object)?], None, false));
    }
    let (lines, declarator) = object.call_method0(intern!(object.py(), "get_decl_pair"))?.extract()?;
    Ok(Declarator::Literal(lines, declarator, false))
}

#[inline(never)]
fn variable(kind: &str, object: Any<'_, '_>) -> PyResult<Declarator> {
    Ok(match kind {
        "pod" => Declarator::pod(dtype_of(&attribute!(object, "dtype")?)?, text(&attribute!(object, "name")?)?),
        "value" => Declarator::value(text(&attribute!(object, "typename")?)?, text(&attribute!(object, "name")?)?),
        _ => {
            let element = super::cgen_cltype(Some(attribute!(object, "dtype")?))?;
            Declarator::value(
                format!("{element}{}", text(&attribute!(object, "count")?)?),
                text(&attribute!(object, "name")?)?,
            )
        }
    })
}

#[inline(never)]
fn wrapper(kind: &str, object: Any<'_, '_>) -> PyResult<Wrapper> {
    let dims = || list(&attribute!(object, "dim")?, expr);
    Ok(match kind {
        "specifier" => Wrapper::Specifier(text(&attribute!(object, "spec")?)? + &text(&attribute!(object, "sep")?)?),
        "const" => Wrapper::Const,
        "volatile" => Wrapper::Volatile,
        "pointer" => Wrapper::Pointer,
        "restrict_pointer" => Wrapper::RestrictPointer,
        "reference" => Wrapper::Reference,
        "maybe_unused" => Wrapper::MaybeUnused,
        "template_specializer" => Wrapper::TemplateArguments(text(&attribute!(object, "specializer")?)?),
        "aligned" => Wrapper::Aligned(expr(&attribute!(object, "align_bytes")?)?),
        "align_value" => Wrapper::AlignValue(expr(&attribute!(object, "align_bytes")?)?),
        "array" => Wrapper::Array(optional(attribute!(object, "count")?, expr)?),
        "launch_bounds" => Wrapper::CudaLaunchBounds(
            expr(&attribute!(object, "max_threads_per_block")?)?,
            optional(attribute!(object, "min_blocks_per_mp")?, expr)?,
        ),
        // The order of cgen's text, in which type and declarator have changed places.
        "vec_type_hint" => Wrapper::Around(
            "__attribute__ ((vec_type_hint(".to_owned(),
            format!("))) {}", text(&attribute!(object, "type_str")?)?),
        ),
        "work_group_size_hint" => Wrapper::ClWorkGroupSizeHint(dims()?),
        "required_work_group_size" => Wrapper::ClRequiredWorkGroupSize(dims()?),
        _ => return Err(PyTypeError::new_err(format!("{} has no text; define get_decl_pair", object.get_type()))),
    })
}

/// A node without nodes within.
#[inline(never)]
fn leaf(kind: &str, object: Any<'_, '_>) -> PyResult<Box<Node>> {
    let lines = || list(&attribute!(object, "lines")?, text);
    Ok(Box::new(match kind {
        "define" => Node::Define(text(&attribute!(object, "symbol")?)?, text(&attribute!(object, "value")?)?),
        "include" => Node::Include(text(&attribute!(object, "filename")?)?, attribute!(object, "system")?.is_truthy()?),
        "pragma" => Node::Pragma(text(&attribute!(object, "value")?)?),
        "statement" => Node::Statement(text(&attribute!(object, "text")?)?),
        "expression_statement" => Node::ExpressionStatement(expr(&attribute!(object, "expr")?)?),
        "assign" => Assign::new(expr(&attribute!(object, "lvalue")?)?, expr(&attribute!(object, "rvalue")?)?).into(),
        "line" => Node::Line(text(&attribute!(object, "text")?)?),
        "comment" => Node::Line(text(&object.call_method0(intern!(object.py(), "_comment"))?)?),
        "multiline_comment" => {
            Node::MultilineComment(text(&attribute!(object, "text")?)?, attribute!(object, "skip_space")?.is_truthy()?)
        }
        "line_comment" => Node::LineComment(text(&attribute!(object, "text")?)?),
        "literal_lines" => Literal { lines: lines()?, is_block: false }.into(),
        "literal_block" => {
            // Not a block for cgen: as a body it is indented.
            let block = Block::new(lines()?.into_iter().map(Node::Line));
            Literal { lines: Node::from(block).lines(None), is_block: false }.into()
        }
        _ => {
            return Err(PyTypeError::new_err(format!("{} has no text of its own; define generate", object.get_type())));
        }
    }))
}

fn generated_without_semicolon(object: Any<'_, '_>) -> PyResult<Vec<String>> {
    list(&object.call_method1("generate", (false,))?, text)
}

/// Whether an object of any package stands as a block where cgen asks: `Block` and what derives from it.
fn is_block(object: Any<'_, '_>) -> PyResult<bool> {
    let names_block = |class: Bound<'_, PyAny>| -> PyResult<bool> {
        let module: String = class.getattr("__module__")?.extract()?;
        Ok(class.getattr("__name__")?.eq("Block")? && (module == "cgen" || module.starts_with("rtcg.cgen")))
    };
    let classes: Vec<_> = object.get_type().mro().iter().collect();
    Ok(classes.into_iter().map(names_block).collect::<PyResult<Vec<_>>>()?.contains(&true))
}

fn walk<T>(py: Python<'_>, take: impl FnOnce(&mut Walk) -> PyResult<T>) -> PyResult<T> {
    take(&mut Walk { classes: Classes::new(Bases::get(py)?), depth: 0 })
}

/// The node that any object is.
pub(crate) fn node_of(object: Any<'_, '_>) -> PyResult<Node> {
    walk(object.py(), |w| w.node(object)).map(|node| *node)
}

/// The lines that a node of `rtcg.cgen` generates.
#[pyfunction]
pub(crate) fn cgen_lines(node: &Bound<'_, PyAny>, with_semicolon: Option<bool>) -> PyResult<Vec<String>> {
    Ok(walk(node.py(), |w| w.own_node(node))?.lines(with_semicolon))
}

/// The text of a node, without trailing white space.
#[pyfunction]
pub(crate) fn cgen_text(node: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(node_of(node)?.text())
}

/// Lines of the type, and the declarator.
#[pyfunction]
pub(crate) fn cgen_declarator(declarator: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Option<String>)> {
    Ok(walk(declarator.py(), |w| w.own_declarator(declarator))?.pair())
}
