//! What a class decides for all its objects: which node they are, and which of our methods it overrides.

use std::collections::HashMap;
use std::rc::Rc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A class as the walk over a tree sees it.
#[derive(Default)]
pub(super) struct Class {
    /// It derives from `rtcg.cgen.Generable`.
    pub is_ours: bool,
    /// It derives from `rtcg.cgen.Declarator`.
    pub is_declarator: bool,
    pub keeps_generate: bool,
    pub keeps_pair: bool,
    pub keeps_inline: bool,
    /// `_kind`: which node prints its objects.
    pub kind: String,
    /// Held, so that no other class gets its address while it is known by it.
    _class: Option<Py<PyType>>,
}

/// The base classes, whose methods are compared with those of other classes.
pub(super) struct Bases {
    generable: Py<PyType>,
    declarator: Py<PyType>,
    generate: Py<PyAny>,
    get_decl_pair: Py<PyAny>,
    inline: Py<PyAny>,
}

impl Bases {
    pub(super) fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static BASES: PyOnceLock<Bases> = PyOnceLock::new();
        BASES.get_or_try_init(py, || {
            let module = py.import("rtcg.cgen")?;
            let generable = module.getattr("Generable")?.cast_into::<PyType>()?;
            let declarator = module.getattr("Declarator")?.cast_into::<PyType>()?;
            Ok(Self {
                generate: generable.getattr("generate")?.unbind(),
                get_decl_pair: declarator.getattr("get_decl_pair")?.unbind(),
                inline: declarator.getattr("inline")?.unbind(),
                generable: generable.unbind(),
                declarator: declarator.unbind(),
            })
        })
    }

    fn class(&self, class: &Bound<'_, PyType>) -> PyResult<Class> {
        let py = class.py();
        let _class = Some(class.clone().unbind());
        if !class.is_subclass(self.generable.bind(py))? {
            return Ok(Class { _class, ..Class::default() });
        }
        let kind: Option<String> = class.getattr(intern!(py, "_kind"))?.extract()?;
        let keeps = |name: &str, method: &Py<PyAny>| Ok::<_, PyErr>(class.getattr(name)?.is(method));
        let is_declarator = class.is_subclass(self.declarator.bind(py))?;
        Ok(Class {
            is_ours: true,
            is_declarator,
            keeps_generate: keeps("generate", &self.generate)?,
            keeps_pair: is_declarator && keeps("get_decl_pair", &self.get_decl_pair)?,
            keeps_inline: is_declarator && keeps("inline", &self.inline)?,
            kind: kind.unwrap_or_default(),
            _class,
        })
    }
}

/// The classes that one walk has met.
pub(super) struct Classes {
    bases: &'static Bases,
    known: HashMap<usize, Rc<Class>>,
}

impl Classes {
    pub(super) fn new(bases: &'static Bases) -> Self {
        Self { bases, known: HashMap::new() }
    }

    pub(super) fn of(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Rc<Class>> {
        let class = object.get_type();
        let address = class.as_ptr().addr();
        if let Some(known) = self.known.get(&address) {
            return Ok(Rc::clone(known));
        }
        let made = Rc::new(self.bases.class(&class)?);
        self.known.insert(address, Rc::clone(&made));
        Ok(made)
    }
}
