//! Rules for a module as a whole: its version, its target, its address size, the bytes of parameters.

use super::LoadError;
use rtcg_ptx::ast;
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_abi::model::ptx::{
    FP8_VERSION_ON_SM_89, MAX_LARGE_PARAM_BYTES, MAX_PARAM_BYTES, MAX_PTX_MAJOR_VERSION, PTX_TARGETS,
};

/// Fails for a text of a version that no driver of this age knows, whatever else it says.
pub(super) fn check_version_is_known(text: &str) -> Result<(), LoadError> {
    let line = text.lines().map(str::trim_start).find_map(|line| line.strip_prefix(".version"));
    let version = line.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    let major = version.split('.').next().and_then(|n| n.parse::<u32>().ok());
    if major.is_none_or(|n| n <= MAX_PTX_MAJOR_VERSION) {
        return Ok(());
    }
    let log = format!("PTX version {version} is not known: the latest is {MAX_PTX_MAJOR_VERSION}.x");
    Err(LoadError { code: ResultCode::UNSUPPORTED_PTX_VERSION, log })
}

/// What is wrong with a module's header.
pub(super) fn header_problem(ptx: &ast::Module) -> Option<String> {
    let ast::Module { version, target, target_suffix, address_size, .. } = *ptx;
    let suffix = target_suffix.map(String::from).unwrap_or_default();
    let Some(&(_, since)) = PTX_TARGETS.iter().find(|(known, _)| *known == target) else {
        return Some(format!("the target sm_{target}{suffix} is not known"));
    };
    let since = if target_suffix.is_some() { since.max((8, 0)) } else { since };
    if version < since {
        let (major, minor) = since;
        return Some(format!("sm_{target}{suffix} needs PTX {major}.{minor}, this is {}.{}", version.0, version.1));
    }
    if address_size != 64 {
        return Some(format!("addresses of {address_size} bits are not supported"));
    }
    let is_debug = ptx.target_options.iter().any(|option| &**option == "debug");
    (is_debug && !ptx.source.contains(".section")).then(|| "the target debug needs debug sections".to_owned())
}

/// What is wrong with an instruction in a module of this version: conversions of 8-bit floats came to sm_89 later than
/// to sm_90.
pub(super) fn version_problem(ptx: &ast::Module, inst: &ast::Inst) -> Option<String> {
    use ast::Type::{E4M3x2, E5M2x2};
    let is_small = |ty: &ast::Type| matches!(ty, E4M3x2 | E5M2x2);
    let converts = match inst {
        ast::Inst::Cvt { dty, sty, .. } => is_small(dty) || is_small(sty),
        ast::Inst::CvtPack { dty, .. } => is_small(dty),
        _ => false,
    };
    let too_old = converts && ptx.target == 89 && ptx.version < FP8_VERSION_ON_SM_89;
    too_old.then(|| "conversions of 8-bit floats need PTX 8.1 on sm_89".to_owned())
}

/// The most bytes of parameters that a kernel of a module may have.
pub(super) fn max_param_bytes(ptx: &ast::Module) -> usize {
    let (large, version, target) = MAX_LARGE_PARAM_BYTES;
    if ptx.version >= version && ptx.target >= target { large } else { MAX_PARAM_BYTES }
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, load_image};
    use rtcg_vgpu_abi::error::ResultCode;

    fn load(version: &str, target: &str, rest: &str) -> Result<(), ResultCode> {
        let text = format!(".version {version}\n.target {target}\n{rest}\n.visible .entry k() {{ ret; }}\n");
        load_image(text.as_bytes(), &LoadOptions::default()).map(drop).map_err(|e| e.code)
    }

    #[test]
    fn versions_and_targets_must_be_known_and_fit() {
        for (version, target) in
            [("8.0", "sm_80"), ("8.0", "sm_20"), ("8.0", "sm_50"), ("7.8", "sm_90"), ("8.0", "sm_90a")]
        {
            assert_eq!(load(version, target, ""), Ok(()), "{version} {target}");
        }
        for (version, target) in [
            ("1.0", "sm_80"),
            ("3.0", "sm_80"),
            ("7.7", "sm_90"),
            ("7.8", "sm_90a"),
            ("8.0", "sm_999"),
            ("8.0", "sm_81"),
            ("8.5", "sm_100"),
            ("8.0", "sm_80, debug"),
        ] {
            assert_eq!(load(version, target, ""), Err(ResultCode::INVALID_PTX), "{version} {target}");
        }
        assert_eq!(load("99.0", "sm_80", ""), Err(ResultCode::UNSUPPORTED_PTX_VERSION));
        assert_eq!(load("8.0", "sm_80", ".address_size 32"), Err(ResultCode::INVALID_PTX));
    }

    #[test]
    fn large_parameters_need_a_recent_version() {
        for (version, target, bytes, good) in [
            ("8.0", "sm_80", 4352, true),
            ("8.0", "sm_80", 4356, false),
            ("8.1", "sm_80", 32_764, true),
            ("8.1", "sm_61", 4356, false),
            ("8.1", "sm_80", 32_768, false),
        ] {
            let kernel = format!(".visible .entry j(.param .align 4 .b8 p[{bytes}]) {{ ret; }}");
            assert_eq!(load(version, target, &kernel).is_ok(), good, "{version} {target} {bytes}");
        }
    }
}
