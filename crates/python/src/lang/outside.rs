//! What the names stand for that a function takes from outside.

use super::dependencies::{Dependency, bytes_of};
use super::tree::number;
use super::unsupported::unsupported;
use super::uses::{self, Use};
use crate::errors::shown;
use crate::gpuarray::dtype_of_descr;
use numpy::PyArrayDescr;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyTuple, PyType};
use rtcg::array::{DType, Op};
use rtcg::codegen::DTypeKind;
use rtcg::lang::surface::{Function, Outside, Unsupported};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Python's functions that are the prelude's in a program.
/// Functions and classes of Python and NumPy that programs do not have, and what to write instead.
const INSTEAD: &[(&[&str], &str)] = &[
    (&["print"], "return what to print: a program is compiled, and its values are on a device"),
    (&["list", "tuple", "iter"], "leave it out: the prelude's functions give sequences"),
    (&["reduce"], "write the prelude's `reduce`, whose function is associative"),
    (&["ceil"], "write `int64(numpy.ceil(x))`"),
    (&["floor"], "write `int64(numpy.floor(x))`"),
    (&["trunc"], "write `int64(numpy.trunc(x))`"),
    (&["round", "around"], "write `numpy.rint(x)`, or `numpy.rint(x * 10**n) / 10**n` for n digits"),
    (&["divmod"], "write `(x // y, x % y)`"),
    (&["prod"], "write `reduce(op_mul, x, 1)`"),
    (&["fsum"], "write `sum(x)`"),
    (&["isclose"], "write `abs(x - y) <= tolerance`"),
    (&["reversed", "flip"], "write `[x[len(x) - 1 - i] for i in indices(x)]`"),
    (&["sorted"], "write `sort(op, x)`, as in `sort(cmp_lt, x)`"),
    (&["concatenate"], "write `join([x, y])`"),
    (&["zeros", "ones", "full"], "write `replicate(value, n)`"),
    (&["arange"], "write `range(n)`"),
    (&["dot", "inner", "vdot"], "write `sum(map(op_mul, x, y))`"),
    (&["cumsum"], "write `scan(op_add, x)`"),
    (&["str", "repr", "bytes"], "leave it out: values are numbers, tuples and sequences"),
    (&["complex"], "write `complex128(x)`"),
];

const BUILTINS: [&str; 16] = [
    "abs",
    "all",
    "any",
    "bool",
    "enumerate",
    "filter",
    "float",
    "int",
    "len",
    "map",
    "max",
    "min",
    "pow",
    "range",
    "sum",
    "zip",
];

/// Functions of Python's modules with NumPy's name, where it is another one. Functions that give an int where NumPy's give
/// a float, such as `math.floor`, have no counterpart.
const RENAMED: &[(&str, &str, &str)] = &[
    ("math", "acos", "arccos"),
    ("math", "acosh", "arccosh"),
    ("math", "asin", "arcsin"),
    ("math", "asinh", "arcsinh"),
    ("math", "atan", "arctan"),
    ("math", "atan2", "arctan2"),
    ("math", "atanh", "arctanh"),
    ("math", "degrees", "rad2deg"),
    ("math", "pow", "float_power"),
    ("math", "radians", "deg2rad"),
    ("_operator", "abs", "absolute"),
    ("_operator", "add", "add"),
    ("_operator", "and_", "bitwise_and"),
    ("_operator", "eq", "equal"),
    ("_operator", "floordiv", "floor_divide"),
    ("_operator", "ge", "greater_equal"),
    ("_operator", "gt", "greater"),
    ("_operator", "invert", "invert"),
    ("_operator", "le", "less_equal"),
    ("_operator", "lshift", "left_shift"),
    ("_operator", "lt", "less"),
    ("_operator", "mod", "remainder"),
    ("_operator", "mul", "multiply"),
    ("_operator", "ne", "not_equal"),
    ("_operator", "neg", "negative"),
    ("_operator", "not_", "logical_not"),
    ("_operator", "or_", "bitwise_or"),
    ("_operator", "pos", "positive"),
    ("_operator", "pow", "power"),
    ("_operator", "rshift", "right_shift"),
    ("_operator", "sub", "subtract"),
    ("_operator", "truediv", "divide"),
    ("_operator", "xor", "bitwise_xor"),
];

/// Functions of `math` that are others than NumPy's of the same name.
const OTHERS: [&str; 4] = ["ceil", "floor", "trunc", "remainder"];

const AS_ARGUMENT: &str = "pass it as an argument";

type Object<'py> = Bound<'py, PyAny>;

/// Looks up names of functions, and collects the functions that it finds.
pub(super) struct Resolver<'py> {
    py: Python<'py>,
    /// In the order in which they are found.
    functions: Vec<Bound<'py, PyFunction>>,
    /// Indices by address.
    indices: HashMap<usize, usize>,
    pub(super) dependencies: Vec<Dependency>,
}

impl<'py> Resolver<'py> {
    /// For a program that begins with this function, plain or decorated.
    pub(super) fn new(function: &Object<'py>) -> PyResult<Self> {
        let py = function.py();
        let mut resolver = Resolver { py, functions: Vec::new(), indices: HashMap::new(), dependencies: Vec::new() };
        let plain = resolver.plain_function(function)?.or_else(|| function.cast::<PyFunction>().ok().cloned());
        let plain = plain.ok_or_else(|| {
            let message = format!("{} cannot be translated; expected a function written in Python", shown(function));
            super::text::no_source(py, &message)
        })?;
        resolver.index_of(&plain)?;
        Ok(resolver)
    }

    /// What a function is that the program is given: one of the program's own, decorated or not, or of the prelude.
    pub(super) fn argument(&mut self, value: &Object<'py>) -> PyResult<Outside> {
        if let Ok(function) = value.cast::<PyFunction>()
            && elementwise(value)?.is_none()
            && !prelude(self.py)?.contains_key(&address(value))
        {
            return Ok(Outside::Function(self.index_of(function)?));
        }
        self.resolve(value, &Use { name: "".into(), attributes: Vec::new() })
    }

    /// A function that was found, by its index.
    pub(super) fn function(&self, index: usize) -> Option<Bound<'py, PyFunction>> {
        self.functions.get(index).cloned()
    }

    /// The tree of a function, with what its names stand for.
    pub(super) fn with_outside(&mut self, function: &Bound<'py, PyFunction>, tree: Function) -> PyResult<Function> {
        let names = Names::of(function)?;
        let mut outside = Vec::new();
        for name in uses::of_function(&tree) {
            // Assigned in a statement that the language does not have: no name of the outside.
            if names.is_own(&name.name) {
                continue;
            }
            let found = match self.look_up(&names, &name.name)? {
                Some(value) => self.resolve(&value, &name)?,
                None => unusable(unsupported("a name that is not defined", &self.nearest(&name.name)?)),
            };
            outside.push((name.name, found));
        }
        Ok(Function { outside: outside.into(), ..tree })
    }

    /// The value of a name, in the order of Python.
    fn look_up(&mut self, names: &Names<'py>, name: &str) -> PyResult<Option<Object<'py>>> {
        if let Some(cell) = names.cell(name)? {
            let (dependency, value) = Dependency::of_cell(&cell);
            self.dependencies.push(dependency);
            return Ok(value);
        }
        for names in [&names.globals, &names.builtins] {
            let (dependency, value) = Dependency::of_name(names, name)?;
            self.dependencies.push(dependency);
            if value.is_some() {
                return Ok(value);
            }
        }
        Ok(None)
    }

    /// What an object is for a program.
    fn resolve(&mut self, value: &Object<'py>, name: &Use) -> PyResult<Outside> {
        if let Some(function) = self.plain_function(value)? {
            return Ok(Outside::Function(self.index_of(&function)?));
        }
        if let Some(dtype) = dtype(value)? {
            return Ok(Outside::DType(dtype));
        }
        if let Some(name) = prelude(self.py)?.get(&address(value)) {
            return Ok(Outside::Prelude(name.clone()));
        }
        if let Some(found) = self.number(value)? {
            return Ok(found);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            let items =
                tuple.iter().map(|item| self.resolve(&item, &Use { name: name.name.clone(), attributes: vec![] }));
            return Ok(Outside::Tuple(items.collect::<PyResult<_>>()?));
        }
        if let Ok(module) = value.cast::<PyModule>() {
            return self.module(module, name);
        }
        if value.is_callable() {
            return self.callable(value);
        }
        let kind = value.get_type().name()?;
        Ok(unusable(match kind.to_str()? {
            "NoneType" => super::unsupported::node("NoneType"),
            "str" => super::unsupported::node("str"),
            "list" => unsupported("a list", "pass it as an argument, or make it a tuple if it is short"),
            _ => unsupported(format!("an object of type {}", type_name(value)?), AS_ARGUMENT),
        }))
    }

    /// The attributes of a module that the program uses.
    fn module(&mut self, module: &Bound<'py, PyModule>, name: &Use) -> PyResult<Outside> {
        let module_name = module.name()?;
        let mut attributes = Vec::new();
        for attribute in &name.attributes {
            let (dependency, value) = Dependency::of_name(&module.dict(), &attribute.name)?;
            self.dependencies.push(dependency);
            // A module may make attributes when they are asked for.
            let found = match value.or_else(|| module.getattr(&*attribute.name).ok()) {
                Some(value) => self.resolve(&value, attribute)?,
                None => unusable(unsupported(
                    format!("a name that {module_name} does not have"),
                    &self.nearest(&attribute.name)?,
                )),
            };
            attributes.push((attribute.name.clone(), found));
        }
        Ok(Outside::Module(module_name.to_str()?.into(), attributes))
    }

    /// A function or a class.
    fn callable(&self, value: &Object<'py>) -> PyResult<Outside> {
        if let Some(op) = elementwise(value)? {
            return Ok(Outside::Elementwise(op.name().into()));
        }
        let Ok(name) = value.getattr(intern!(self.py, "__name__")).and_then(|name| name.extract::<String>()) else {
            return Ok(unusable(unsupported(format!("an object of type {}", type_name(value)?), AS_ARGUMENT)));
        };
        let module = module_of(value)?;
        if module == "builtins" && BUILTINS.contains(&name.as_str()) {
            return Ok(Outside::Prelude(name.into()));
        }
        let known = INSTEAD.iter().find(|(names, _)| names.contains(&name.as_str()));
        let advice = match (known, module.split('.').next()) {
            (Some((_, advice)), Some("builtins" | "math" | "numpy" | "_functools")) => (*advice).to_owned(),
            _ => self.nearest(&name)?,
        };
        Ok(unusable(if value.is_instance_of::<PyFunction>() && module.split('.').next() != Some("numpy") {
            unsupported("a function that is not decorated with @cu", "decorate it with @cu")
        } else if value.is_instance_of::<PyType>() {
            unsupported(format!("the class `{name}`"), &advice)
        } else {
            let module = if module.is_empty() || module == "builtins" { String::new() } else { format!("{module}.") };
            unsupported(format!("`{module}{name}`, which programs do not have"), &advice)
        }))
    }

    /// A number of Python or NumPy.
    fn number(&mut self, value: &Object<'py>) -> PyResult<Option<Outside>> {
        if is_of_numpy(value, "generic")?
            || (is_of_numpy(value, "ndarray")? && value.getattr("ndim")?.extract::<usize>()? == 0)
        {
            let Some(dtype) = dtype(&value.getattr(intern!(self.py, "dtype"))?)? else { return Ok(None) };
            if is_of_numpy(value, "ndarray")? {
                let bytes = bytes_of(value)?;
                self.dependencies.push(Dependency::Bytes { array: value.clone().unbind(), bytes });
            }
            let found = number(&value.call_method0(intern!(self.py, "item"))?)?;
            // Types of other packages give themselves.
            let found = match found {
                Some(found) => Some(found),
                None => number(&value.call_method0("__float__")?)?,
            };
            return Ok(found.and_then(Result::ok).map(|number| Outside::Number(number, dtype)));
        }
        Ok(number(value)?.map(|number| number.map_or_else(unusable, Outside::WeakNumber)))
    }

    /// The Python function of a decorated one, or a plain one that is part of the program.
    fn plain_function(&self, value: &Object<'py>) -> PyResult<Option<Bound<'py, PyFunction>>> {
        if value.is_instance(program_class(self.py)?)? {
            let plain = value.getattr(intern!(self.py, "__wrapped__"))?;
            return Ok(plain.cast_into::<PyFunction>().ok());
        }
        Ok(self.indices.get(&address(value)).map(|&index| self.functions[index].clone()))
    }

    fn index_of(&mut self, function: &Bound<'py, PyFunction>) -> PyResult<usize> {
        if let Some(&index) = self.indices.get(&address(function)) {
            return Ok(index);
        }
        let code = function.getattr(intern!(self.py, "__code__"))?.unbind();
        self.dependencies.push(Dependency::Code { function: function.clone().into_any().unbind(), code });
        self.indices.insert(address(function), self.functions.len());
        self.functions.push(function.clone());
        Ok(self.functions.len() - 1)
    }

    /// Advice that names the known function with the nearest name, if there is one.
    fn nearest(&self, name: &str) -> PyResult<String> {
        let known = prelude(self.py)?.values().map(|name| &**name);
        let known: BTreeSet<&str> = known.chain(BUILTINS).chain(operations().map(Op::name)).collect();
        let arguments = (name, Vec::from_iter(known), 1, 0.75);
        let near = self.py.import("difflib")?.call_method1("get_close_matches", arguments)?;
        let near: Vec<String> = near.extract()?;
        Ok(near.first().map_or_else(String::new, |near| format!("the nearest known name is `{near}`")))
    }
}

/// Where the names of a function have their values.
struct Names<'py> {
    /// Those that only the function itself has.
    own: Vec<String>,
    free: Vec<String>,
    closure: Option<Bound<'py, PyTuple>>,
    globals: Bound<'py, PyDict>,
    builtins: Bound<'py, PyDict>,
}

impl<'py> Names<'py> {
    fn of(function: &Bound<'py, PyFunction>) -> PyResult<Self> {
        let py = function.py();
        let code = function.getattr(intern!(py, "__code__"))?;
        let mut own: Vec<String> = code.getattr(intern!(py, "co_varnames"))?.extract()?;
        own.extend(code.getattr(intern!(py, "co_cellvars"))?.extract::<Vec<String>>()?);
        // From 3.12 on, variables of comprehensions are there too, which other parts of the function do not see.
        let mut looked_up = HashSet::new();
        add_names(&code, &mut looked_up)?;
        own.retain(|name| !looked_up.contains(name));
        Ok(Names {
            own,
            free: code.getattr(intern!(py, "co_freevars"))?.extract()?,
            closure: function.getattr(intern!(py, "__closure__"))?.cast_into().ok(),
            globals: function.getattr(intern!(py, "__globals__"))?.cast_into()?,
            builtins: function.getattr(intern!(py, "__builtins__"))?.cast_into()?,
        })
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| own == name)
    }

    /// The variable of a function around this one.
    fn cell(&self, name: &str) -> PyResult<Option<Object<'py>>> {
        let position = self.free.iter().position(|free| free == name);
        position.zip(self.closure.as_ref()).map(|(position, closure)| closure.get_item(position)).transpose()
    }
}

/// The names that code and the functions in it look up outside of them, and those of attributes.
fn add_names(code: &Object<'_>, names: &mut HashSet<String>) -> PyResult<()> {
    names.extend(code.getattr(intern!(code.py(), "co_names"))?.extract::<Vec<String>>()?);
    for constant in code.getattr(intern!(code.py(), "co_consts"))?.try_iter()? {
        let constant = constant?;
        if constant.is_instance_of::<PyCode>() {
            add_names(&constant, names)?;
        }
    }
    Ok(())
}

/// The names of the prelude's functions, by the addresses of these.
fn prelude(py: Python<'_>) -> PyResult<&'static HashMap<usize, Arc<str>>> {
    static PRELUDE: PyOnceLock<HashMap<usize, Arc<str>>> = PyOnceLock::new();
    PRELUDE.get_or_try_init(py, || {
        // The module is never unloaded, so that no other object takes an address.
        let module = py.import("rtcg.copperhead._prelude")?;
        let names: Vec<String> = module.getattr("__all__")?.extract()?;
        let found = names.iter().map(|name| Ok((address(&module.getattr(&**name)?), name.as_str().into())));
        found.collect()
    })
}

/// The class of functions that are decorated with `cu`.
fn program_class(py: Python<'_>) -> PyResult<&Object<'_>> {
    static PROGRAM_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok(PROGRAM_CLASS.import(py, "rtcg.copperhead._function", "CuFunction")?.as_any())
}

fn address(object: &Object<'_>) -> usize {
    object.as_ptr() as usize
}

fn unusable(problem: Unsupported) -> Outside {
    Outside::Unusable { what: problem.what, advice: problem.advice }
}

/// Whether an object is an instance of a class of NumPy.
fn is_of_numpy(object: &Object<'_>, class: &str) -> PyResult<bool> {
    object.is_instance(&object.py().import(intern!(object.py(), "numpy"))?.getattr(class)?)
}

/// The dtype that an object is, or that a class of NumPy's scalars stands for, if elements can have it.
fn dtype(object: &Object<'_>) -> PyResult<Option<DType>> {
    let py = object.py();
    let descr = if let Ok(descr) = object.cast::<PyArrayDescr>() {
        descr.clone()
    } else if let Ok(class) = object.cast::<PyType>()
        && class.is_subclass(&py.import(intern!(py, "numpy"))?.getattr(intern!(py, "generic"))?)?
        && let Ok(descr) = PyArrayDescr::new(py, class)
        // Not so for a class of several types, such as `numpy.floating`.
        && descr.getattr(intern!(py, "type"))?.is(class)
    {
        descr
    } else {
        return Ok(None);
    };
    Ok(dtype_of_descr(&descr).ok().filter(|dtype| dtype.kind() != DTypeKind::Record))
}

/// The operations that are functions of NumPy.
fn operations() -> impl Iterator<Item = Op> {
    Op::all_ops().filter(|op| !matches!(op, Op::Index | Op::IfPositive | Op::Axpby | Op::SquaredDeviation))
}

/// The operation that a function is, of NumPy, `rtcg.numpy`, or Python's modules `math` and `operator`.
fn elementwise(function: &Object<'_>) -> PyResult<Option<Op>> {
    let py = function.py();
    let Ok(name) = function.getattr(intern!(py, "__name__")).and_then(|name| name.extract::<String>()) else {
        return Ok(None);
    };
    if !function.is_instance_of::<PyCFunction>() {
        let has_name = |module: &str| -> PyResult<bool> {
            let module = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.get_item(module)?;
            Ok(module.is_some_and(|module| module.getattr(&*name).is_ok_and(|known| known.is(function))))
        };
        let found = operations().find(|op| op.name() == name);
        return Ok(if found.is_some() && (has_name("numpy")? || has_name("rtcg.numpy")?) { found } else { None });
    }
    let module = module_of(function)?;
    if let Some((.., numpy_name)) = RENAMED.iter().find(|(of, known, _)| *of == module && *known == name) {
        return Ok(Op::from_name(numpy_name));
    }
    let is_known = module == "math" && !OTHERS.contains(&name.as_str());
    Ok(if is_known { Op::from_name(&name) } else { None })
}

fn module_of(function: &Object<'_>) -> PyResult<String> {
    Ok(function.getattr(intern!(function.py(), "__module__"))?.extract().unwrap_or_default())
}

/// The type of an object with its module.
fn type_name(object: &Object<'_>) -> PyResult<String> {
    Ok(object.get_type().fully_qualified_name()?.to_str()?.to_owned())
}
