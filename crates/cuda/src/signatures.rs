//! Types of kernel parameters, passed from the declarations that `rtcg-compile` reads in the source to the driver's
//! checks.

use rtcg_compile::{CompileRequest, KernelDeclarations};
use rtcg_driver::signature::{ParamDeclaration, Signature};
use rtcg_driver::{Module, ModuleSource};
use rtcg_hal::argument_types_are_checked;
use std::sync::{Arc, OnceLock};

/// Attaches to `module` the source it was compiled from ([`Module::source`]), so that its kernels' arguments are
/// checked by type if `argument_types_are_checked`. The source is parsed when the first kernel needs it.
pub fn attach_module_source(module: &Module, request: &CompileRequest) {
    let (source, options): (Arc<str>, Arc<[String]>) = (request.source.as_str().into(), request.options.clone().into());
    module.set_source(ModuleSource {
        text: Arc::clone(&source),
        options: Arc::clone(&options),
        include_dirs: request.include_dirs.clone(),
        no_extern_c: request.no_extern_c,
    });
    if !argument_types_are_checked() {
        return;
    }
    if source.contains("texture") {
        module.set_has_texture_references();
    }
    let declarations = OnceLock::new();
    module.set_signatures(move |kernel| {
        let all = declarations.get_or_init(|| KernelDeclarations::parse_source(&source, &options));
        let declare = |p: &rtcg_compile::KernelParameter| {
            ParamDeclaration::new(&p.base, p.pointers, &p.c_type, p.name.as_deref())
        };
        let params = all.params_of_kernel(kernel)?.iter().map(declare).collect();
        Some(Signature { params, textures: all.textures_of_kernel(kernel).to_vec() })
    });
}

/// The parameters of a kernel as its source declares them, as types and names; `None` if the declaration is missing or
/// cannot be parsed. Compiles nothing.
pub fn kernel_parameters(source: &str, options: &[String], kernel: &str) -> Option<Vec<(String, Option<String>)>> {
    let declarations = KernelDeclarations::parse_source(source, options);
    let params = declarations.params_of_kernel(kernel)?;
    Some(params.iter().map(|param| (param.c_type.clone(), param.name.clone())).collect())
}
