//! Types of kernel parameters, passed from the declarations that `rtcg-compile` reads in the source to the driver's
//! checks.

use rtcg_compile::{CompileRequest, KernelDeclarations};
use rtcg_driver::signature::{NumberType, ParamDeclaration, Signature};
use rtcg_driver::{Module, ModuleSource};
use rtcg_hal::DType;
use std::sync::{Arc, OnceLock};

/// Whether arguments of kernels are checked by type. `RTCG_ARGUMENT_TYPES=0` in the environment checks sizes only,
/// for programs that pass arrays of one type where another is declared; it is read once.
pub fn argument_types_are_checked() -> bool {
    static ARE_ARGUMENT_TYPES_CHECKED: OnceLock<bool> = OnceLock::new();
    *ARE_ARGUMENT_TYPES_CHECKED.get_or_init(|| std::env::var_os("RTCG_ARGUMENT_TYPES").is_none_or(|value| value != "0"))
}

/// Whether `RTCG_ARGUMENT_TYPES=strict` asks for an error when an argument has the right size but not the type that the
/// kernel's source declares. Read once.
pub fn argument_types_are_strict() -> bool {
    static ARE_ARGUMENT_TYPES_STRICT: OnceLock<bool> = OnceLock::new();
    *ARE_ARGUMENT_TYPES_STRICT
        .get_or_init(|| std::env::var_os("RTCG_ARGUMENT_TYPES").is_some_and(|value| value == "strict"))
}

/// The number type of array elements; `None` for records.
#[inline]
pub fn element_number_type(dtype: DType) -> Option<NumberType> {
    let int = |nbytes, signed| Some(NumberType::Int { nbytes, signed });
    match dtype {
        DType::Bool => Some(NumberType::Bool),
        DType::I8 => int(1, true),
        DType::I16 => int(2, true),
        DType::I32 => int(4, true),
        DType::I64 => int(8, true),
        DType::U8 => int(1, false),
        DType::U16 => int(2, false),
        DType::U32 => int(4, false),
        DType::U64 => int(8, false),
        DType::F16 => Some(NumberType::Half),
        DType::BF16 => Some(NumberType::BFloat16),
        DType::F32 => Some(NumberType::Float),
        DType::F64 => Some(NumberType::Double),
        DType::C64 => Some(NumberType::Complex64),
        DType::C128 => Some(NumberType::Complex128),
        DType::Void(_) => None,
    }
}

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
