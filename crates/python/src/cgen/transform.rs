//! `rtcg.cgen.transform`: the core's transformations on trees of Python objects.
//!
//! A loop's body and what callables return stay the objects they are: they travel through the core below a mark
//! that names them, and stand in the result again.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};
use rtcg::cgen::expr::Expr;
use rtcg::cgen::transform::{self, Amount, Remainder, Stage, TransformError, Transformed};
use rtcg::cgen::tree::*;

use super::dtype_of;
use super::expr::{PyExpr, required};
use super::walk::node_of;

type Any<'a, 'py> = &'a Bound<'py, PyAny>;
type Made<'py> = (Bound<'py, PyAny>, Bound<'py, PyDict>, Option<PyExpr>);

/// No path of a file starts with it.
const MARK: &str = "\0object";

/// Python objects on their way through a transformation.
#[derive(Default)]
struct Objects<'py>(Vec<Bound<'py, PyAny>>);

impl<'py> Objects<'py> {
    fn pass(&mut self, object: Bound<'py, PyAny>) -> PyResult<Node> {
        let node = node_of(&object)?;
        let number = u32::try_from(self.0.len()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.0.push(object);
        Ok(node.at(MARK, number))
    }

    fn counted_loop(&mut self, node: Any<'_, 'py>) -> PyResult<For> {
        let part = |name: &str| -> PyResult<Expr> {
            let attribute = node.getattr(name).map_err(|_| {
                PyTypeError::new_err(format!("loop is {node}, expected rtcg.cgen.For; it has no attribute '{name}'"))
            })?;
            match attribute.cast::<PyExpr>() {
                Ok(expr) => Ok(expr.get().0.clone()),
                Err(_) => Ok(Expr::raw(attribute.str()?.to_str()?.trim_end_matches(';'))),
            }
        };
        let (start, condition, update) = (part("start")?, part("condition")?, part("update")?);
        Ok(For::new(start, condition, update, self.pass(node.getattr("body")?)?))
    }

    fn made(&self, py: Python<'py>, made: Result<Transformed, TransformError>) -> PyResult<Made<'py>> {
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let module = py.import("rtcg.cgen")?;
        let parameters = PyDict::new(py);
        for parameter in made.parameters {
            parameters.set_item(parameter.name, parameter.values)?;
        }
        Ok((self.object(&module, made.node)?, parameters, made.value.map(PyExpr)))
    }

    /// The node as an object of `rtcg.cgen`.
    fn object(&self, module: Any<'_, 'py>, node: Node) -> PyResult<Bound<'py, PyAny>> {
        let py = module.py();
        let class = |name: &str| module.getattr(name);
        match node {
            Node::At(position, inner) => match self.0.get(position.line as usize) {
                Some(object) if position.file == MARK => Ok(object.clone()),
                _ => self.object(module, *inner),
            },
            Node::Block(block) => class("Block")?.call1((self.list(module, block.contents)?,)),
            Node::Collection(nodes) => class("Collection")?.call1((self.list(module, nodes)?,)),
            Node::If(node) => {
                let otherwise = node.otherwise.map(|otherwise| self.object(module, *otherwise)).transpose()?;
                class("If")?.call1((PyExpr(node.condition), self.object(module, *node.then)?, otherwise))
            }
            Node::For(node) => {
                let start = match node.start {
                    Start::Declaration(init) => {
                        let declarator = declarator(module, init.declarator)?;
                        class("InlineInitializer")?.call1((declarator, PyExpr(init.value)))?
                    }
                    Start::Expr(expr) => PyString::new(py, &expr.to_string()).into_any(),
                };
                let body = self.object(module, *node.body)?;
                class("For")?.call1((start, PyExpr(node.condition), PyExpr(node.update), body))
            }
            Node::Initializer(init) => {
                class("Initializer")?.call1((declarator(module, init.declarator)?, PyExpr(init.value)))
            }
            Node::Assign(node) => class("Assign")?.call1((PyExpr(node.target), PyExpr(node.value))),
            Node::ExpressionStatement(expr) => class("ExpressionStatement")?.call1((PyExpr(expr),)),
            Node::Statement(text) => class("Statement")?.call1((text,)),
            Node::Pragma(text) => class("Pragma")?.call1((text,)),
            Node::Define(symbol, value) => class("Define")?.call1((symbol, value)),
            Node::Declaration(inner) => declarator(module, inner),
            other => class("Line")?.call1((other.text(),)),
        }
    }

    fn list(&self, module: Any<'_, 'py>, nodes: Vec<Node>) -> PyResult<Bound<'py, PyList>> {
        let objects: PyResult<Vec<_>> = nodes.into_iter().map(|node| self.object(module, node)).collect();
        PyList::new(module.py(), objects?)
    }
}

fn declarator<'py>(module: Any<'_, 'py>, node: Declarator) -> PyResult<Bound<'py, PyAny>> {
    let class = |name: &str| module.getattr(name);
    match node {
        Declarator::Pod(dtype, name) => class("POD")?.call1((format!("{dtype:?}").to_lowercase(), name)),
        Declarator::Value(typename, name) => class("Value")?.call1((typename, name)),
        Declarator::Wrapped(Wrapper::Array(count), inner) => {
            class("ArrayOf")?.call1((declarator(module, *inner)?, count.map(PyExpr)))
        }
        Declarator::Wrapped(Wrapper::Aligned(bytes), inner) => {
            class("AlignedAttribute")?.call1((PyExpr(bytes), declarator(module, *inner)?))
        }
        Declarator::Wrapped(Wrapper::CudaShared, inner) => {
            module.py().import("rtcg.cgen.cuda")?.getattr("CudaShared")?.call1((declarator(module, *inner)?,))
        }
        other => class("Line")?.call1((Node::from(other).text(),)),
    }
}

/// A number, a parameter's name, or a pair of name and values.
fn amount(argument: &str, value: Any<'_, '_>) -> PyResult<Amount> {
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(name.to_str()?.into());
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<i64>()?.into());
    }
    let Ok((name, values)) = value.extract::<(String, Vec<i64>)>() else {
        return Err(PyTypeError::new_err(format!(
            "{argument} is {value}, expected a number, the name of a tunable parameter or a pair of name and values"
        )));
    };
    Ok(Amount::tuned(name, values))
}

fn expressions(values: Any<'_, '_>) -> PyResult<Vec<Expr>> {
    values.try_iter()?.map(|value| required(&value?, None)).collect()
}

#[pyfunction]
pub(crate) fn cgen_split<'py>(
    node: &Bound<'py, PyAny>,
    n: &Bound<'py, PyAny>,
    remainder: Option<&str>,
    unrolled: bool,
) -> PyResult<Made<'py>> {
    let remainder = match remainder {
        Some("guard") => Remainder::Guard,
        Some("slab") => Remainder::Slab,
        None => Remainder::None,
        Some(other) => {
            return Err(PyValueError::new_err(format!("remainder is '{other}', expected 'guard', 'slab' or None")));
        }
    };
    let mut objects = Objects::default();
    let made = transform::split(objects.counted_loop(node)?, amount("n", n)?, remainder, unrolled);
    objects.made(node.py(), made)
}

#[pyfunction]
pub(crate) fn cgen_unroll<'py>(node: &Bound<'py, PyAny>, n: Option<Bound<'py, PyAny>>) -> PyResult<Made<'py>> {
    let n = n.map(|n| amount("n", &n)).transpose()?;
    let mut objects = Objects::default();
    // Any loop may be unrolled; it passes as it is.
    let pragma = transform::unroll(objects.counted_loop(node)?, n).map(|mut made| {
        if let Node::Block(block) = &mut made.node {
            block.contents.truncate(1);
        }
        made
    });
    let made = objects.made(node.py(), pragma)?;
    made.0.call_method1("append", (node,))?;
    Ok(made)
}

#[pyfunction]
pub(crate) fn cgen_stage<'py>(
    array: &Bound<'py, PyAny>,
    tile: &Bound<'py, PyAny>,
    origin: &Bound<'py, PyAny>,
    pitch: Option<Bound<'py, PyAny>>,
    bounds: Option<Bound<'py, PyAny>>,
    pad: &Bound<'py, PyAny>,
    name: Option<String>,
) -> PyResult<Made<'py>> {
    let tile: PyResult<Vec<_>> = tile.try_iter()?.map(|size| amount("tile", &size?)).collect();
    let made = transform::stage(Stage {
        array: required(array, None)?,
        tile: tile?,
        origin: expressions(origin)?,
        pitch: pitch.map(|pitch| required(&pitch, None)).transpose()?,
        bounds: bounds.map(|bounds| expressions(&bounds)).transpose()?,
        name,
        pad: amount("pad", pad)?,
    });
    Objects::default().made(array.py(), made)
}

#[pyfunction]
pub(crate) fn cgen_vectorise<'py>(
    load: &Bound<'py, PyAny>,
    width: &Bound<'py, PyAny>,
    name: Option<&str>,
) -> PyResult<Made<'py>> {
    let made = transform::vectorise(&required(load, None)?, amount("width", width)?, name);
    Objects::default().made(load.py(), made)
}

#[pyfunction]
pub(crate) fn cgen_double_buffer<'py>(
    node: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    size: &Bound<'py, PyAny>,
    buffers: &Bound<'py, PyAny>,
    load: &Bound<'py, PyAny>,
    use_tile: &Bound<'py, PyAny>,
) -> PyResult<Made<'py>> {
    let mut objects = Objects::default();
    let counted = objects.counted_loop(node)?;
    let objects = std::cell::RefCell::new(objects);
    let failure = std::cell::Cell::new(None);
    let call = |function: &Bound<'py, PyAny>, i: &Expr, buffer: &Expr| {
        let made = function
            .call1((PyExpr(i.clone()), PyExpr(buffer.clone())))
            .and_then(|object| objects.borrow_mut().pass(object));
        made.map_err(|error| {
            let message = TransformError(error.to_string());
            failure.set(Some(error));
            message
        })
    };
    let made = transform::double_buffer(
        &counted,
        dtype_of(dtype)?,
        required(size, None)?,
        amount("buffers", buffers)?,
        |i, buffer| call(load, i, buffer),
        |i, buffer| call(use_tile, i, buffer),
    );
    if let Some(error) = failure.take() {
        return Err(error);
    }
    objects.into_inner().made(node.py(), made)
}
