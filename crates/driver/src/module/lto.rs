//! Link-time optimisation: the part of a link that nvJitLink does, because no driver accepts LTO-IR.
//!
//! If the device loads machine code, nvJitLink links all inputs to a cubin. Otherwise it turns the LTO-IR inputs into
//! PTX, which the driver then links with the others: LTO-IR functions may call PTX functions, but LTO-IR functions that
//! only PTX calls have been removed by then.

use crate::error::{Error, Result};
use rtcg_cuda_sys::nvjitlink::{LinkFailure, LinkInput, LinkSource, nvJitLinkInputType, nvJitLinkResult};
use rtcg_cuda_sys::*;
use std::path::PathBuf;

/// What an input consists of.
enum InputData {
    Bytes(Vec<u8>),
    File(PathBuf),
}

struct LtoInput {
    kind: CUjitInputType,
    data: InputData,
    name: String,
}

/// What nvJitLink would need of a link.
#[derive(Default)]
pub(crate) struct LtoLinker {
    inputs: Vec<LtoInput>,
    /// Names and values of nvJitLink's own options.
    options: Vec<(String, Option<String>)>,
    /// Whether the program asked for link-time optimisation of everything (`CU_JIT_LTO`).
    common_options: bool,
    /// Whether the first input of nvJitLink's makes all of them so, also those that came before.
    links_all: bool,
}

impl LtoLinker {
    /// Takes from JIT options those that only nvJitLink knows, and notes those that it knows too. Returns the ones
    /// for the driver. Where `links_all`, one input of nvJitLink's makes all of them so.
    pub(crate) fn new(options: &[(CUjit_option, usize)], links_all: bool) -> (Self, Vec<(CUjit_option, usize)>) {
        let mut this = Self { links_all, ..Self::default() };
        let for_driver = options.iter().copied().filter(|&(key, value)| this.add_jit_option(key, value)).collect();
        (this, for_driver)
    }

    /// Whether an option is also the driver's.
    fn add_jit_option(&mut self, key: CUjit_option, value: usize) -> bool {
        let number = usize::from(value != 0);
        let option = match key {
            CU_JIT_LTO => {
                self.common_options = value != 0;
                return false;
            }
            CU_JIT_FTZ => (format!("-ftz={number}"), false),
            CU_JIT_PREC_DIV => (format!("-prec-div={number}"), false),
            CU_JIT_PREC_SQRT => (format!("-prec-sqrt={number}"), false),
            CU_JIT_FMA => (format!("-fma={number}"), false),
            CU_JIT_MAX_REGISTERS => (format!("-maxrregcount={value}"), true),
            // nvJitLink knows two levels.
            CU_JIT_OPTIMIZATION_LEVEL => (format!("-O{}", if value == 0 { 0 } else { 3 }), true),
            CU_JIT_GENERATE_DEBUG_INFO if value != 0 => ("-g".to_owned(), true),
            CU_JIT_GENERATE_LINE_INFO if value != 0 => ("-lineinfo".to_owned(), true),
            CU_JIT_LOG_VERBOSE if value != 0 => ("-verbose".to_owned(), true),
            _ => return true,
        };
        self.add_jitlink_option(&option.0);
        option.1
    }

    fn add_jitlink_option(&mut self, option: &str) {
        let (name, value) = split_option(option);
        self.options.retain(|(known, _)| *known != name || REPEATABLE_OPTIONS.contains(&known.as_str()));
        self.options.push((name, value));
    }

    /// Adds one of nvJitLink's own options (`-fma=0`).
    pub(crate) fn add_option(&mut self, option: &str) -> Result<()> {
        let (name, value) = split_option(option);
        let other = self.options.iter().find(|(known, other)| *known == name && *other != value);
        match other {
            Some(other) if !REPEATABLE_OPTIONS.contains(&name.as_str()) => Err(Error::new(
                "nvJitLinkCreate",
                CUresult::CUDA_ERROR_INVALID_VALUE,
                format!("the option {option} contradicts {}, which was given before", format_option(other)),
            )),
            _ => {
                self.add_jitlink_option(option);
                Ok(())
            }
        }
    }

    /// Remembers an input in memory.
    ///
    /// # Errors
    /// When it needs nvJitLink, and there is none.
    pub(crate) fn add_bytes(&mut self, data: &[u8], kind: CUjitInputType, name: &str) -> Result<()> {
        self.add_input(kind, || LtoInput { kind, data: InputData::Bytes(data.to_vec()), name: name.to_owned() })
    }

    /// Remembers a file.
    ///
    /// # Errors
    /// As [`LtoLinker::add_bytes`].
    pub(crate) fn add_file(&mut self, path: &std::path::Path, kind: CUjitInputType) -> Result<()> {
        self.add_input(kind, || LtoInput {
            kind,
            data: InputData::File(path.to_owned()),
            name: path.display().to_string(),
        })
    }

    /// What can never be nvJitLink's is not copied.
    fn add_input(&mut self, kind: CUjitInputType, input: impl FnOnce() -> LtoInput) -> Result<()> {
        let takes = self.is_nvjitlink_input(kind);
        if takes {
            nvjitlink_table()?;
        }
        if takes || self.links_all {
            self.inputs.push(input());
        }
        Ok(())
    }

    /// Whether an input of this kind is nvJitLink's, also where the driver links the rest.
    pub(crate) fn is_nvjitlink_input(&self, kind: CUjitInputType) -> bool {
        let may_hold_it = [CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT].contains(&kind);
        kind == CU_JIT_INPUT_NVVM || (self.common_options && may_hold_it)
    }

    /// Whether nvJitLink has anything to do.
    pub(crate) fn needs_nvjitlink(&self) -> bool {
        self.common_options || self.inputs.iter().any(|input| self.is_nvjitlink_input(input.kind))
    }

    /// A cubin of all inputs.
    pub(crate) fn link_to_cubin(&self, capability: (u32, u32)) -> Result<nvjitlink::LinkOutput> {
        self.link_inputs(self.inputs.iter().collect(), &[], capability)
    }

    /// PTX of the inputs that hold LTO-IR; `None` if none does.
    pub(crate) fn link_to_ptx(&self, capability: (u32, u32)) -> Result<Option<nvjitlink::LinkOutput>> {
        let inputs: Vec<&LtoInput> = self.inputs.iter().filter(|input| self.is_nvjitlink_input(input.kind)).collect();
        if inputs.is_empty() {
            return Ok(None);
        }
        let mut linked = self.link_inputs(inputs, &["-ptx"], capability)?;
        if self.options.iter().any(|option| format_option(option) == "-fma=0") {
            linked.bytes.extend_from_slice(format!("\n{}\n", nvrtc::FMAD_DISABLED_COMMENT).as_bytes());
        }
        Ok(Some(linked))
    }

    fn link_inputs(
        &self,
        inputs: Vec<&LtoInput>,
        more: &[&str],
        capability: (u32, u32),
    ) -> Result<nvjitlink::LinkOutput> {
        let mut options = vec!["-lto".to_owned()];
        if !self.options.iter().any(|(name, _)| name == "-arch") {
            options.push(format!("-arch=sm_{}{}", capability.0, capability.1));
        }
        options.extend(more.iter().map(|option| option.to_string()));
        options.extend(self.options.iter().map(format_option));
        let inputs: Vec<LinkInput> = inputs.into_iter().map(|input| self.nvjitlink_input(input)).collect();
        nvjitlink_table()?.link_inputs(&inputs, &options).map_err(driver_error_from_link_failure)
    }

    fn nvjitlink_input<'a>(&self, input: &'a LtoInput) -> LinkInput<'a> {
        let kind = match input.kind {
            CU_JIT_INPUT_CUBIN => nvJitLinkInputType::NVJITLINK_INPUT_CUBIN,
            CU_JIT_INPUT_PTX => nvJitLinkInputType::NVJITLINK_INPUT_PTX,
            CU_JIT_INPUT_FATBINARY => nvJitLinkInputType::NVJITLINK_INPUT_FATBIN,
            CU_JIT_INPUT_OBJECT => nvJitLinkInputType::NVJITLINK_INPUT_OBJECT,
            CU_JIT_INPUT_LIBRARY => nvJitLinkInputType::NVJITLINK_INPUT_LIBRARY,
            CU_JIT_INPUT_NVVM => nvJitLinkInputType::NVJITLINK_INPUT_LTOIR,
            _ => nvJitLinkInputType::NVJITLINK_INPUT_ANY,
        };
        let source = match &input.data {
            InputData::Bytes(bytes) => LinkSource::Bytes(bytes),
            InputData::File(path) => LinkSource::File(path),
        };
        LinkInput { kind, source, name: &input.name }
    }
}

fn nvjitlink_table() -> Result<&'static NvJitLinkTable> {
    NvJitLinkTable::load().map_err(|error| {
        let detail = format!("link-time optimisation needs nvJitLink: {error}");
        Error::new("nvJitLinkCreate", CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND, detail)
    })
}

/// Options that may be given several times.
const REPEATABLE_OPTIONS: &[&str] = &["-Xptxas", "-Xnvvm", "-kernels-used", "-variables-used"];

fn split_option(option: &str) -> (String, Option<String>) {
    match option.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (option.to_owned(), None),
    }
}

fn format_option((name, value): &(String, Option<String>)) -> String {
    value.as_ref().map_or_else(|| name.clone(), |value| format!("{name}={value}"))
}

/// The driver's code that says most nearly the same.
fn driver_error_from_link_failure(failure: LinkFailure) -> Error {
    use nvJitLinkResult as R;
    let code = match failure.code {
        R::NVJITLINK_ERROR_UNRECOGNIZED_OPTION
        | R::NVJITLINK_ERROR_MISSING_ARCH
        | R::NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS
        | R::NVJITLINK_ERROR_UNRECOGNIZED_ARCH
        | R::NVJITLINK_ERROR_NULL_INPUT => CUresult::CUDA_ERROR_INVALID_VALUE,
        R::NVJITLINK_ERROR_PTX_COMPILE => CUresult::CUDA_ERROR_INVALID_PTX,
        R::NVJITLINK_ERROR_INVALID_INPUT
        | R::NVJITLINK_ERROR_UNRECOGNIZED_INPUT
        | R::NVJITLINK_ERROR_INCORRECT_INPUT_TYPE
        | R::NVJITLINK_ERROR_LTO_NOT_ENABLED
        | R::NVJITLINK_ERROR_MISSING_FATBIN => CUresult::CUDA_ERROR_INVALID_IMAGE,
        R::NVJITLINK_ERROR_ARCH_MISMATCH | R::NVJITLINK_ERROR_UNSUPPORTED_ARCH => {
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        }
        R::NVJITLINK_ERROR_OUTDATED_LIBRARY => CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        R::RTCG_NVJITLINK_FUNCTION_MISSING => CUresult::CUDA_ERROR_NOT_SUPPORTED,
        _ => CUresult::CUDA_ERROR_UNKNOWN,
    };
    Error::new(failure.call, code, format!("{:?}: {}", failure.code, failure.log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jit_options_are_split_between_nvjitlink_and_driver() {
        let given = [
            (CU_JIT_MAX_REGISTERS, 32),
            (CU_JIT_FMA, 0),
            (CU_JIT_OPTIMIZATION_LEVEL, 2),
            (CU_JIT_CACHE_MODE, 1),
            (CU_JIT_LTO, 1),
        ];
        let (lto, driver) = LtoLinker::new(&given, true);
        assert!(lto.needs_nvjitlink());
        assert_eq!(driver, [(CU_JIT_MAX_REGISTERS, 32), (CU_JIT_OPTIMIZATION_LEVEL, 2), (CU_JIT_CACHE_MODE, 1)]);
        let spelled: Vec<String> = lto.options.iter().map(format_option).collect();
        assert_eq!(spelled, ["-maxrregcount=32", "-fma=0", "-O3"]);
    }

    #[test]
    fn only_inputs_that_nvjitlink_may_need_are_kept() {
        for (links_all, n_kept) in [(true, 1), (false, 0)] {
            let (mut lto, _) = LtoLinker::new(&[], links_all);
            lto.add_bytes(b".version 7.0", CU_JIT_INPUT_PTX, "x").unwrap();
            assert_eq!(lto.inputs.len(), n_kept);
        }
    }

    #[test]
    fn contradicting_options_are_errors() {
        let (mut lto, _) = LtoLinker::new(&[(CU_JIT_FMA, 0)], true);
        lto.add_option("-fma=0").unwrap();
        lto.add_option("-Xptxas=-v").unwrap();
        lto.add_option("-Xptxas=-O1").unwrap();
        let error = lto.add_option("-fma=1").unwrap_err();
        assert!(error.to_string().contains("-fma=1 contradicts -fma=0"), "{error}");
        assert_eq!(lto.options.len(), 3);
    }
}
