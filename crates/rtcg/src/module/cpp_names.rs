//! C++ names of kernels and variables: `f<float>`, `ns::value`, an overload.
//!
//! A name that is not a plain identifier, or that the loaded program does not have, is a *name expression*: the
//! compiler returns its mangled name. A template that the program does not instantiate has no code in the module, so
//! the same source is compiled with the instance into another module. That module has its own copy of all variables,
//! and a warning names them. Loaded modules are searched first and in order, so a plain name is that of the program's
//! own module.

use rtcg_compile::{Artifact, BinaryKind, CompileError, CompileRequest, Compiler};
use rtcg_cuda::{Error, Result};
use rtcg_driver::sys::CUresult;
use rtcg_driver::{CUdeviceptr, Function, Module, SurfaceReference, TextureReference};
use rtcg_hal::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// The names of a program and the modules that contain them.
pub struct CppNames {
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

impl CppNames {
    /// The names in the program that `request` describes.
    pub fn new(request: CompileRequest) -> Self {
        Self { request, state: Mutex::default() }
    }

    /// Compiles the program, with the request's name expressions resolved.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn compile_program(&self) -> std::result::Result<Artifact, CompileError> {
        let artifact = Compiler.compile(&self.request)?;
        self.lock_name_state().mangled.extend(artifact.lowered_names.iter().cloned());
        Ok(artifact)
    }

    /// The request that the program is compiled from.
    pub fn compile_request(&self) -> &CompileRequest {
        &self.request
    }

    fn lock_name_state(&self) -> MutexGuard<'_, NameState> {
        lock_ignoring_poison(&self.state)
    }

    /// Finds the kernel `name` in `module` or in a further instance.
    ///
    /// # Errors
    /// When there is no such kernel, or the expression does not compile.
    pub fn function(&self, module: &Module, name: &str) -> Result<Function> {
        self.find_by_name(module, name, name, |module, name| module.function(name))
    }

    /// `(address, nbytes)` of a variable.
    ///
    /// # Errors
    /// As [`CppNames::function`].
    pub fn global_variable(&self, module: &Module, name: &str) -> Result<(CUdeviceptr, usize)> {
        self.find_by_name(module, name, &address_expression(name), |module, name| module.global(name))
    }

    /// A texture reference.
    ///
    /// # Errors
    /// As [`CppNames::function`].
    pub fn texref(&self, module: &Module, name: &str) -> Result<TextureReference> {
        self.find_by_name(module, name, &address_expression(name), |module, name| module.texref(name))
    }

    /// A surface reference.
    ///
    /// # Errors
    /// As [`CppNames::function`].
    pub fn surfref(&self, module: &Module, name: &str) -> Result<SurfaceReference> {
        self.find_by_name(module, name, &address_expression(name), |module, name| module.surfref(name))
    }

    /// Looks for a plain name, then for the mangled one in all modules, last in one made for it.
    fn find_by_name<T>(
        &self,
        module: &Module,
        name: &str,
        expression: &str,
        look: impl Fn(&Module, &str) -> rtcg_driver::Result<T>,
    ) -> Result<T> {
        let plain = look(module, name);
        let error = match plain {
            Err(error) if error.code == CUresult::CUDA_ERROR_NOT_FOUND => error,
            other => return Ok(other?),
        };
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
