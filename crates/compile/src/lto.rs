//! Link-time optimisation (`-dlto`): NVRTC stops at LTO-IR, of which nvJitLink makes a binary.

use crate::arch::Arch;
use crate::error::{CompileError, ErrorKind};
use crate::nvrtc::{self, NvrtcFailure, NvrtcOutput};
use crate::request::BinaryKind;
use rtcg_cuda_sys::NvJitLinkTable;
use rtcg_cuda_sys::nvjitlink::{LinkFailure, LinkInput, LinkSource, nvJitLinkInputType, nvJitLinkResult};

/// nvJitLink, or the error that says how to get it.
pub(crate) fn load_nvjitlink() -> Result<&'static NvJitLinkTable, CompileError> {
    NvJitLinkTable::load().map_err(|error| {
        let message = format!("link-time optimisation (-dlto) needs nvJitLink: {error}");
        CompileError::new(ErrorKind::CompilerMissing, message)
    })
}

/// The options of NVRTC that nvJitLink needs too, since it generates the code.
pub(crate) fn linker_options(nvrtc: &[String]) -> Vec<String> {
    nvrtc.iter().flat_map(|option| translate_option(option)).collect()
}

fn translate_option(option: &str) -> Vec<String> {
    let number = |value: &str| if value == "true" { "1" } else { "0" };
    let named = match option.split_once('=') {
        Some(("--ftz", value)) => format!("-ftz={}", number(value)),
        Some(("--prec-div", value)) => format!("-prec-div={}", number(value)),
        Some(("--prec-sqrt", value)) => format!("-prec-sqrt={}", number(value)),
        Some(("--fmad", value)) => format!("-fma={}", number(value)),
        Some(("--maxrregcount", value)) => format!("-maxrregcount={value}"),
        Some(("--split-compile", value)) => format!("-split-compile={value}"),
        Some(("--ptxas-options", value)) => format!("-Xptxas={value}"),
        None if option == "--use_fast_math" => {
            return ["-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"].map(str::to_owned).to_vec();
        }
        None if option == "--generate-line-info" => "-lineinfo".to_owned(),
        None if option == "--device-debug" => "-g".to_owned(),
        _ => return Vec::new(),
    };
    vec![named]
}

/// Makes the binary of one program of LTO-IR. `nvrtc` are the options that it was compiled with.
pub(crate) fn link_ltoir(
    table: &NvJitLinkTable,
    mut output: NvrtcOutput,
    name: &str,
    arch: Option<Arch>,
    kind: BinaryKind,
    nvrtc: &[String],
) -> Result<NvrtcOutput, NvrtcFailure> {
    let mut options = vec!["-lto".to_owned()];
    options.extend(arch.map(|arch| format!("-arch={}", arch.real_name())));
    options.extend((kind == BinaryKind::Ptx).then(|| "-ptx".to_owned()));
    options.extend(self::linker_options(nvrtc));
    let input =
        LinkInput { kind: nvJitLinkInputType::NVJITLINK_INPUT_LTOIR, source: LinkSource::Bytes(&output.bytes), name };
    let linked = table.link_inputs(&[input], &options).map_err(nvrtc_failure_from_link)?;
    output.bytes = linked.bytes;
    if kind == BinaryKind::Ptx {
        nvrtc::mark_fma_contraction_off(&mut output.bytes, nvrtc);
    }
    if !linked.log.is_empty() {
        output.log = format!("{}\n{}", output.log.trim_end(), linked.log).trim_start().to_owned();
    }
    Ok(output)
}

fn nvrtc_failure_from_link(failure: LinkFailure) -> NvrtcFailure {
    let kind = match failure.code {
        nvJitLinkResult::NVJITLINK_ERROR_UNRECOGNIZED_OPTION
        | nvJitLinkResult::NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS => ErrorKind::Option,
        nvJitLinkResult::NVJITLINK_ERROR_OUTDATED_LIBRARY
        | nvJitLinkResult::NVJITLINK_ERROR_UNRECOGNIZED_ARCH
        | nvJitLinkResult::NVJITLINK_ERROR_UNSUPPORTED_ARCH
        | nvJitLinkResult::RTCG_NVJITLINK_FUNCTION_MISSING => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    };
    let message = format!("link-time optimisation failed: {} returned {:?}", failure.call, failure.code);
    NvrtcFailure { kind, message, log: failure.log }
}

#[cfg(test)]
mod tests {
    use super::linker_options;

    #[test]
    fn options_that_code_generation_needs_go_to_the_link() {
        let told = |given: &[&str]| linker_options(&given.iter().map(|o| o.to_string()).collect::<Vec<_>>());
        assert_eq!(told(&["--fmad=false", "--define-macro=X=true"]), ["-fma=0"]);
        assert_eq!(told(&["--use_fast_math"]), ["-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"]);
        assert_eq!(told(&["--maxrregcount=32", "--generate-line-info"]), ["-maxrregcount=32", "-lineinfo"]);
    }
}
