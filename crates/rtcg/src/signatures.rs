//! What the compiler's reading of a source tells the driver about a kernel's parameters.

use rtcg_compile::KernelDeclarations;
use rtcg_driver::Module;
use rtcg_driver::signature::{ParamDeclaration, Signature};
use std::sync::OnceLock;

/// Tells `module` the source it was compiled from and the options, so that the arguments of its
/// kernels are checked by type. The source is read when the first kernel asks.
///
/// `RTCG_ARGUMENT_TYPES=0` in the environment leaves it at sizes, for programs that pass arrays
/// of one type where another is declared.
pub fn declare_source(module: &Module, source: String, options: Vec<String>) {
    if std::env::var_os("RTCG_ARGUMENT_TYPES").is_some_and(|value| value == "0") {
        return;
    }
    if source.contains("texture") {
        module.note_texture_references();
    }
    let declarations = OnceLock::new();
    module.set_signatures(move |kernel| {
        let all = declarations.get_or_init(|| KernelDeclarations::read(&source, &options));
        let declare = |p: &rtcg_compile::KernelParameter| {
            ParamDeclaration::new(&p.base, p.pointers, &p.c_type, p.name.as_deref())
        };
        let params = all.get(kernel)?.iter().map(declare).collect();
        Some(Signature { params, textures: all.textures(kernel).to_vec() })
    });
}
