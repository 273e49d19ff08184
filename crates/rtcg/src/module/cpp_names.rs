//! C++ names of kernels and variables: `f<float>`, `ns::value`, an overload.
//!
//! A name that is not a plain identifier, or that the loaded program does not have, is a *name expression*: the
//! compiler returns its mangled name. A template that the program does not instantiate has no code in the module, so
//! the same source is compiled with the instance into another module. That module has its own copy of all variables,
//! and a warning names them. Loaded modules are searched first and in order, so a plain name is that of the program's
//! own module.

use rtcg_compile::{Artifact, BinaryKind, CompileRequest, Compiler};
use rtcg_cuda::{Error, Result, attach_module_source};
use rtcg_driver::sys::CUresult;
use rtcg_driver::{CUdeviceptr, Function, Module, SurfaceReference, TextureReference};
use rtcg_hal::lock_ignoring_poison;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

/// A loaded module. Where it was compiled from one source, any C++ name finds a kernel or variable of it.
#[derive(Clone, Debug)]
pub struct NamedModule {
    module: Module,
    /// `None` for what was loaded as a binary: its names are those in the binary.
    names: Option<Arc<CppNames>>,
}

/// The names of a program and the modules that contain them.
struct CppNames {
    request: CompileRequest,
    state: Mutex<NameState>,
}

#[derive(Default)]
struct NameState {
    /// Expressions with their mangled names.
    mangled: HashMap<String, String>,
    /// Modules with the instances that were requested later, by expression.
    further: Vec<Module>,
}

impl std::fmt::Debug for CppNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CppNames").field("name", &self.request.name).finish_non_exhaustive()
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The compiler wants the address of a variable.
fn address_expression(name: &str) -> String {
    if name.starts_with('&') { name.to_owned() } else { format!("&{name}") }
}

impl From<Module> for NamedModule {
    fn from(module: Module) -> Self {
        Self { module, names: None }
    }
}

impl Deref for NamedModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}

impl NamedModule {
    /// Loads what `request` was compiled to into the current context. Its kernels check their arguments by the types
    /// that the source declares.
    ///
    /// # Errors
    /// When the driver refuses the binary.
    pub fn load(request: CompileRequest, artifact: &Artifact) -> rtcg_driver::Result<Self> {
        let module = Module::from_image(&artifact.bytes)?;
        attach_module_source(&module, &request);
        let state = NameState { mangled: artifact.lowered_names.iter().cloned().collect(), further: Vec::new() };
        Ok(Self { module, names: Some(Arc::new(CppNames { request, state: Mutex::new(state) })) })
    }

    /// Finds the kernel `name`, in this module or in one for a further instance of a template.
    ///
    /// # Errors
    /// When there is no such kernel, or the expression does not compile.
    pub fn function(&self, name: &str) -> Result<Function> {
        self.find_by_name(name, str::to_owned, Module::function)
    }

    /// `(address, nbytes)` of a variable.
    ///
    /// # Errors
    /// As [`NamedModule::function`].
    pub fn global(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        self.find_by_name(name, address_expression, Module::global)
    }

    /// A texture reference.
    ///
    /// # Errors
    /// As [`NamedModule::function`].
    pub fn texref(&self, name: &str) -> Result<TextureReference> {
        self.find_by_name(name, address_expression, Module::texref)
    }

    /// A surface reference.
    ///
    /// # Errors
    /// As [`NamedModule::function`].
    pub fn surfref(&self, name: &str) -> Result<SurfaceReference> {
        self.find_by_name(name, address_expression, Module::surfref)
    }

    /// Looks for a plain name, then for the C++ name.
    fn find_by_name<T>(
        &self,
        name: &str,
        expression: impl FnOnce(&str) -> String,
        look: impl Fn(&Module, &str) -> rtcg_driver::Result<T>,
    ) -> Result<T> {
        match (look(&self.module, name), &self.names) {
            (Err(error), Some(names)) if error.code == CUresult::CUDA_ERROR_NOT_FOUND => {
                names.find_mangled(&self.module, name, &expression(name), error, look)
            }
            (found, _) => Ok(found?),
        }
    }
}

impl CppNames {
    fn lock_name_state(&self) -> MutexGuard<'_, NameState> {
        lock_ignoring_poison(&self.state)
    }

    /// Looks for the mangled name of `expression` in all modules, last in one made for it. `error` says that `name` is
    /// no plain name.
    fn find_mangled<T>(
        &self,
        module: &Module,
        name: &str,
        expression: &str,
        error: rtcg_driver::Error,
        look: impl Fn(&Module, &str) -> rtcg_driver::Result<T>,
    ) -> Result<T> {
        // Where everything has C linkage, a plain name that is not there is a mistake.
        if is_identifier(name) && !self.request.no_extern_c {
            return Err(error.into());
        }
        let (mangled, image) = match self.mangled_name(expression) {
            Ok(found) => found,
            Err(_) if is_identifier(name) => return Err(error.into()),
            Err(other) => return Err(other),
        };
        let further = self.lock_name_state().further.clone();
        for module in std::iter::once(module).chain(&further) {
            match look(module, &mangled) {
                Err(error) if error.code == CUresult::CUDA_ERROR_NOT_FOUND => {}
                other => return Ok(other?),
            }
        }
        let image = match image {
            Some(image) => image,
            None => self.compile_with_name_expression(expression)?.0,
        };
        let instance = module.context().with_current(|| Module::from_image(&image))?;
        let found = look(&instance, &mangled)?;
        self.warn_of_duplicate_variables(name, module, &instance);
        self.lock_name_state().further.push(instance);
        Ok(found)
    }

    /// Says which variables the module of an instance has for itself although the program has them too: what
    /// is written to the program's does not reach the instance. Variables in namespaces are not looked for.
    fn warn_of_duplicate_variables(&self, name: &str, program: &Module, instance: &Module) {
        let has = |module: &Module, variable: &str| module.global(variable).is_ok();
        let candidates = rtcg_compile::expanded_identifiers(&self.request.source);
        let doubled: Vec<_> = candidates.iter().filter(|v| has(instance, v) && has(program, v)).cloned().collect();
        if !doubled.is_empty() {
            rtcg_driver::show_notice(&format!(
                "'{name}' is not used in its source, so it was compiled into a module of its own, which does not share \
                 the variables of the first: {}. name_expressions=['{name}'] compiles it with the rest.",
                doubled.join(", ")
            ));
        }
    }

    /// The mangled name, and the program that it was learnt from unless it was known.
    fn mangled_name(&self, name: &str) -> Result<(String, Option<Vec<u8>>)> {
        if let Some(known) = self.lock_name_state().mangled.get(name) {
            return Ok((known.clone(), None));
        }
        let (image, mangled) = self.compile_with_name_expression(name)?;
        self.lock_name_state().mangled.insert(name.to_owned(), mangled.clone());
        Ok((mangled, Some(image)))
    }

    /// Compiles the same source with one more name asked for; the cache knows it the next time.
    fn compile_with_name_expression(&self, name: &str) -> Result<(Vec<u8>, String)> {
        let mut request = self.request.clone();
        request.name_expressions = vec![name.to_owned()];
        request.keep = false;
        if request.target.kind == BinaryKind::Fatbin {
            request.target.kind = BinaryKind::Cubin;
        }
        let artifact = Compiler.compile(&request).map_err(|mut error| {
            if !request.no_extern_c {
                error.message.push_str("; names of C++ need a source with no_extern_c");
            }
            error
        })?;
        let mangled = artifact.lowered_names.into_iter().find(|(asked, _)| asked == name);
        let mangled = mangled.map(|(_, mangled)| mangled).ok_or_else(|| {
            let detail = format!("the compiler has no name for '{name}'");
            Error::from(rtcg_driver::Error::new("cuModuleGetFunction", CUresult::CUDA_ERROR_NOT_FOUND, detail))
        })?;
        Ok((artifact.bytes.to_vec(), mangled))
    }
}

#[cfg(test)]
mod tests {
    use super::is_identifier;

    #[test]
    fn identifiers_are_distinguished_from_expressions() {
        assert!(["f", "_Z1fIfEvPT_", "a$b", "x1"].into_iter().all(is_identifier));
        assert!(!["f<float>", "ns::f", "", "1x", "&value", "f <int>"].into_iter().any(is_identifier));
    }
}
