//! Link-time optimisation (`-dlto`): NVRTC stops at LTO-IR, which nvJitLink turns into a binary.

use crate::arch::Arch;
use crate::error::{CompileError, ErrorKind};
use crate::nvrtc::{self, NvrtcFailure, NvrtcOutput};
use crate::options::linker_options;
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
    options.extend(linker_options(nvrtc));
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
