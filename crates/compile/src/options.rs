//! Translates nvcc's options to NVRTC's.
//!
//! Options that affect device compilation are translated. Those that only concern host code, linking or nvcc's own
//! operation are dropped, because none of that takes place. Those that change the result in a way that NVRTC cannot
//! reproduce are listed in [`TranslatedOptions::nvcc_only`].

use crate::arch::Arch;
use crate::error::CompileError;
use crate::request::{BinaryKind, Target};
use std::path::PathBuf;

/// Whether nvcc's `options` ask for link-time optimisation (`-dlto`), and if so the options for nvJitLink in its own
/// spelling, because code is generated at link time.
///
/// # Errors
/// When options cannot be parsed.
pub fn lto_options(options: &[String]) -> Result<Option<Vec<String>>, CompileError> {
    let translated = translate_options(options, BinaryKind::LtoIr)?;
    Ok(translated.lto.is_some().then(|| linker_options(&translated.nvrtc)))
}

/// The options of NVRTC that nvJitLink needs too, since it generates the code.
pub(crate) fn linker_options(nvrtc: &[String]) -> Vec<String> {
    nvrtc.iter().flat_map(|option| linker_option(option)).collect()
}

fn linker_option(option: &str) -> Vec<String> {
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

/// Options in NVRTC's terms.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TranslatedOptions {
    /// For NVRTC, in order, without architecture and include directories.
    pub(crate) nvrtc: Vec<String>,
    /// `-I`, in order.
    pub(crate) include_dirs: Vec<PathBuf>,
    /// `-include`, in order.
    pub(crate) forced_includes: Vec<String>,
    /// `-D`, in order.
    pub(crate) macros: Vec<String>,
    /// `-arch`.
    pub(crate) arch: Option<Arch>,
    /// `-code` and the `code=` of `-gencode`: machine code, and PTX.
    pub(crate) real_codes: Vec<Arch>,
    pub(crate) virtual_codes: Vec<Arch>,
    /// `--keep`.
    pub(crate) keep: bool,
    /// `-Werror all-warnings`.
    pub(crate) warnings_are_errors: bool,
    /// `-dlto` as it was spelled.
    pub(crate) lto: Option<String>,
    /// The first option that NVRTC has no equivalent for.
    pub(crate) nvcc_only: Option<String>,
    /// Options that are in no table, to ask NVRTC for.
    pub(crate) unknown: Vec<String>,
}

/// How an option is written down in [`OPTION_RULES`]: with a value, and what becomes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OptionRule {
    /// A flag that NVRTC has under this name.
    Flag(&'static str),
    /// A flag without meaning here.
    DropFlag,
    /// A value that NVRTC takes as `name=value`.
    Value(&'static str),
    /// A value without meaning here.
    DropValue,
    /// Only nvcc knows it; flag, or with a value.
    NvccFlag,
    NvccValue,
    /// Treated by name in `OptionTranslator::apply_special_option`; all take values.
    Special(&'static str),
    /// A flag treated by name.
    SpecialFlag(&'static str),
}

use OptionRule::*;

/// Options by all their spellings.
const OPTION_RULES: &[(&[&str], OptionRule)] = &[
    (&["-D", "--define-macro"], Special("define")),
    (&["-U", "--undefine-macro"], Special("undefine")),
    (&["-I", "--include-path", "-isystem", "--system-include"], Special("include-dir")),
    (&["-include", "--pre-include"], Special("include")),
    (&["-arch", "--gpu-architecture"], Special("arch")),
    (&["-code", "--gpu-code"], Special("code")),
    (&["-gencode", "--generate-code"], Special("gencode")),
    (&["-O", "--optimize"], DropValue),
    (&["-std", "--std"], Value("--std")),
    (&["-maxrregcount", "--maxrregcount"], Value("--maxrregcount")),
    (&["-ftz", "--ftz"], Value("--ftz")),
    (&["-prec-div", "--prec-div"], Value("--prec-div")),
    (&["-prec-sqrt", "--prec-sqrt"], Value("--prec-sqrt")),
    (&["-fmad", "--fmad"], Value("--fmad")),
    (&["-rdc", "--relocatable-device-code"], Value("--relocatable-device-code")),
    (&["-split-compile", "--split-compile"], Value("--split-compile")),
    (&["-opt-info", "--optimization-info"], Value("--optimization-info")),
    (&["-diag-error", "--diag-error"], Value("--diag-error")),
    (&["-diag-suppress", "--diag-suppress"], Value("--diag-suppress")),
    (&["-diag-warn", "--diag-warn"], Value("--diag-warn")),
    (&["-brief-diag", "--brief-diagnostics"], Value("--brief-diagnostics")),
    (&["-Ofc", "--Ofast-compile"], Value("--Ofast-compile")),
    (&["-dopt", "--dopt"], Value("--dopt")),
    (&["-Xptxas", "--ptxas-options"], Special("ptxas")),
    (&["-fdevice-time-trace", "--fdevice-time-trace"], Value("--fdevice-time-trace")),
    (&["-builtin-move-forward", "--builtin-move-forward"], Value("--builtin-move-forward")),
    (&["-builtin-initializer-list", "--builtin-initializer-list"], Value("--builtin-initializer-list")),
    (&["-modify-stack-limit", "--modify-stack-limit"], Value("--modify-stack-limit")),
    (&["-lineinfo", "--generate-line-info"], Flag("--generate-line-info")),
    (&["-use_fast_math", "--use_fast_math"], Flag("--use_fast_math")),
    (&["-G", "--device-debug"], Flag("--device-debug")),
    (&["-w", "--disable-warnings"], Flag("--disable-warnings")),
    (&["-restrict", "--restrict"], Flag("--restrict")),
    (&["-ewp", "--extensible-whole-program"], Flag("--extensible-whole-program")),
    (&["-extra-device-vectorization", "--extra-device-vectorization"], Flag("--extra-device-vectorization")),
    (&["-err-no", "--display-error-number"], Flag("--display-error-number")),
    (&["-no-err-no", "--no-display-error-number"], Flag("--no-display-error-number")),
    (&["-dc", "--device-c"], Flag("--device-c")),
    (&["-dw", "--device-w"], Flag("--device-w")),
    (&["-default-device", "--device-as-default-execution-space"], Flag("--device-as-default-execution-space")),
    (&["-device-int128", "--device-int128"], Flag("--device-int128")),
    (&["-device-float128", "--device-float128"], Flag("--device-float128")),
    (&["-minimal", "--minimal"], Flag("--minimal")),
    (&["-no-cache", "--no-cache"], Flag("--no-cache")),
    (&["-keep", "--keep"], SpecialFlag("keep")),
    (&["-res-usage", "--resource-usage"], SpecialFlag("resource-usage")),
    (&["-dlto", "--dlink-time-opt", "-lto"], SpecialFlag("lto")),
    (&["-m32", "-m 32"], SpecialFlag("m32")),
    (&["-cubin", "--cubin"], SpecialFlag("cubin")),
    (&["-ptx", "--ptx"], SpecialFlag("ptx")),
    (&["-fatbin", "--fatbin"], SpecialFlag("fatbin")),
    (&["-Xcompiler", "--compiler-options"], Special("compiler-options")),
    (&["-g", "--debug"], DropFlag),
    (&["-m64"], DropFlag),
    (&["-v", "--verbose"], DropFlag),
    (&["-expt-relaxed-constexpr", "--expt-relaxed-constexpr"], DropFlag),
    (&["-expt-extended-lambda", "--expt-extended-lambda", "-extended-lambda", "--extended-lambda"], DropFlag),
    (&["-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets"], DropFlag),
    (&["-Wno-deprecated-declarations", "--Wno-deprecated-declarations"], DropFlag),
    (&["-Wreorder", "--Wreorder", "-Wdefault-stream-launch", "--Wdefault-stream-launch"], DropFlag),
    (&["-allow-unsupported-compiler", "--allow-unsupported-compiler"], DropFlag),
    (&["-noeh", "--no-exceptions", "-nodlink", "-cudadevrt", "-noprof", "--no-host-device-initializer-list"], DropFlag),
    (&["-ccbin", "--compiler-bindir"], DropValue),
    (&["-m", "--machine"], Special("machine")),
    (&["-cudart", "--cudart", "-cudadevrt", "--cudadevrt"], DropValue),
    (&["-default-stream", "--default-stream"], DropValue),
    (&["-t", "--threads"], DropValue),
    (&["-L", "--library-path"], DropValue),
    (&["-l", "--library"], DropValue),
    (&["-x", "--x"], DropValue),
    (&["-odir", "--output-directory", "-keep-dir", "--keep-dir"], DropValue),
    (&["-Xlinker", "--linker-options", "-Xarchive", "--archive-options", "-Xnvlink", "--nvlink-options"], DropValue),
    (&["-Xfatbin", "--fatbin-options"], NvccValue),
    (&["-Xcudafe", "--Xcudafe"], Special("front-end")),
    (&["-Werror", "--Werror"], Special("error")),
    (&["-dlcm", "--dlcm"], Special("load-caching")),
    (&["-e", "--entries"], DropValue),
    (&["-src-in-ptx", "--source-in-ptx", "-shared", "--shared"], DropFlag),
    (&["-o", "--output-file"], NvccValue),
    (&["-E", "--preprocess", "-M", "-MD", "-dryrun", "--dryrun", "-link", "--link", "-c", "--compile"], NvccFlag),
    (&["-dlink", "--device-link", "-lib", "--lib", "-optix-ir", "--optix-ir"], NvccFlag),
];

/// Single-letter options whose value may follow without a separator.
const JOINED_VALUE_OPTIONS: &[&str] = &["-D", "-U", "-I", "-O", "-L", "-l"];

struct OptionTranslator<'a> {
    rest: std::slice::Iter<'a, String>,
    kind: BinaryKind,
    out: TranslatedOptions,
}

/// Translates options. An error is an option that cannot be understood by any compiler.
pub(crate) fn translate_options(options: &[String], kind: BinaryKind) -> Result<TranslatedOptions, CompileError> {
    let mut translator = OptionTranslator { rest: options.iter(), kind, out: TranslatedOptions::default() };
    while let Some(option) = translator.rest.next() {
        let option = option.trim();
        if !option.is_empty() {
            translator.translate_option(option)?;
        }
    }
    Ok(translator.out)
}

fn find_rule(name: &str) -> Option<OptionRule> {
    OPTION_RULES.iter().find(|(names, _)| names.contains(&name)).map(|(_, rule)| *rule)
}

impl OptionTranslator<'_> {
    fn translate_option(&mut self, option: &str) -> Result<(), CompileError> {
        if let Some(rule) = find_rule(option) {
            return self.apply_rule(rule, option, None);
        }
        if let Some((name, value)) = option.split_once('=')
            && let Some(rule) = find_rule(name)
        {
            return self.apply_rule(rule, name, Some(value));
        }
        // One string may hold an option and its value: "-arch sm_80", "-I /some/dir".
        if let Some((name, value)) = option.split_once(char::is_whitespace)
            && let Some(rule) = find_rule(name)
        {
            return self.apply_rule(rule, name, Some(value.trim()));
        }
        for name in JOINED_VALUE_OPTIONS {
            if let (Some(value), Some(rule)) = (option.strip_prefix(name), find_rule(name)) {
                return self.apply_rule(rule, name, Some(value));
            }
        }
        self.out.unknown.push(option.to_owned());
        Ok(())
    }

    fn note_nvcc_only_option(&mut self, option: &str) {
        self.out.nvcc_only.get_or_insert_with(|| option.to_owned());
    }

    fn option_value(&mut self, name: &str, given: Option<&str>) -> Result<String, CompileError> {
        let value = match given {
            Some(value) => Some(value.to_owned()),
            None => self.rest.next().map(|v| v.trim().to_owned()),
        };
        value.filter(|v| !v.is_empty()).ok_or_else(|| CompileError::bad_option(format!("option {name} needs a value")))
    }

    fn apply_rule(&mut self, rule: OptionRule, name: &str, given: Option<&str>) -> Result<(), CompileError> {
        match rule {
            Flag(nvrtc) if given.is_none() => self.out.nvrtc.push(nvrtc.to_owned()),
            DropFlag if given.is_none() => {}
            SpecialFlag(what) if given.is_none() => self.apply_special_flag(what, name)?,
            // nvcc writes some booleans as `--use_fast_math=true`.
            Flag(nvrtc) if given == Some("true") => self.out.nvrtc.push(nvrtc.to_owned()),
            Flag(_) if given == Some("false") => {}
            Flag(_) | DropFlag | SpecialFlag(_) => {
                let value = given.unwrap_or_default();
                return Err(CompileError::bad_option(format!("option {name} takes no value, but {value:?} was given")));
            }
            NvccFlag => self.note_nvcc_only_option(name),
            Value(nvrtc) => {
                let value = self.option_value(name, given)?;
                self.out.nvrtc.push(format!("{nvrtc}={value}"));
            }
            DropValue => drop(self.option_value(name, given)?),
            NvccValue => {
                let value = self.option_value(name, given)?;
                self.note_nvcc_only_option(&format!("{name} {value}"));
            }
            Special(what) => {
                let value = self.option_value(name, given)?;
                self.apply_special_option(what, name, &value)?;
            }
        }
        Ok(())
    }

    fn apply_special_option(&mut self, what: &str, name: &str, value: &str) -> Result<(), CompileError> {
        let out = &mut self.out;
        match what {
            "define" => {
                out.nvrtc.push(format!("--define-macro={value}"));
                out.macros.push(value.to_owned());
            }
            // nvcc separates several by commas, NVRTC takes one at a time.
            "ptxas" => {
                let parts = value.split(',').filter(|part| !part.is_empty());
                out.nvrtc.extend(parts.map(|part| format!("--ptxas-options={part}")));
            }
            "load-caching" => out.nvrtc.push(format!("--ptxas-options=-dlcm={value}")),
            // The other kinds are about host code and deprecated declarations.
            "error" => out.warnings_are_errors |= value.split(',').any(|kind| kind == "all-warnings"),
            "front-end" => self.apply_front_end_option(name, value),
            "undefine" => out.nvrtc.push(format!("--undefine-macro={value}")),
            "include-dir" => out.include_dirs.push(PathBuf::from(value)),
            "include" => out.forced_includes.push(value.to_owned()),
            "arch" => self.translate_arch(name, value)?,
            "code" => value.split(',').try_for_each(|code| self.translate_code(name, code))?,
            "gencode" => self.translate_gencode(name, value)?,
            "machine" if value == "64" => {}
            "machine" => return Err(unsupported_32_bit()),
            "compiler-options" => {
                // Code generation and warnings of the host compiler; a macro or an include path
                // handed through it would change device code too.
                let harmless =
                    |o: &str| ["-f", "-W", "-O", "-m", "-g", "-p", "-std", "-w", "/"].iter().any(|p| o.starts_with(p));
                let unquoted = value.trim_matches(['"', '\'']);
                if !unquoted.split([',', ' ']).filter(|o| !o.is_empty()).all(harmless) {
                    self.note_nvcc_only_option(&format!("{name} {value}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Options of nvcc's front end, which is NVRTC's: of numbered diagnostics, and how they are shown. By their
    /// names NVRTC does not know them; they are shown then.
    fn apply_front_end_option(&mut self, name: &str, value: &str) {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let mut kind = "";
        for part in value.trim_matches(['"', '\'']).split([',', ' ']).filter(|part| !part.is_empty()) {
            let (option, what) = part.split_once('=').unwrap_or((part, ""));
            let (option, what) = if is_number(part) && !kind.is_empty() { (kind, part) } else { (option, what) };
            let nvrtc = match option {
                "--diag_suppress" => "--diag-suppress",
                "--diag_warning" => "--diag-warn",
                "--diag_error" => "--diag-error",
                "--display_error_number" => {
                    self.out.nvrtc.push("--display-error-number".to_owned());
                    continue;
                }
                _ => {
                    self.note_nvcc_only_option(&format!("{name} {value}"));
                    continue;
                }
            };
            kind = option;
            if is_number(what) {
                self.out.nvrtc.push(format!("{nvrtc}={what}"));
            }
        }
    }

    fn apply_special_flag(&mut self, what: &str, name: &str) -> Result<(), CompileError> {
        match what {
            "keep" => self.out.keep = true,
            "resource-usage" => self.out.nvrtc.push("--ptxas-options=-v".to_owned()),
            "m32" => return Err(unsupported_32_bit()),
            "lto" => self.out.lto = Some(name.to_owned()),
            asked if asked == self.kind.extension() => {}
            asked => {
                return Err(CompileError::bad_option(format!(
                    "option {name} asks for {asked}, but target {} was requested",
                    self.kind.extension()
                )));
            }
        }
        Ok(())
    }

    fn translate_arch(&mut self, name: &str, value: &str) -> Result<(), CompileError> {
        if matches!(value, "native" | "all" | "all-major") {
            // The device that the caller compiles for is the one meant.
            return Ok(());
        }
        self.out.arch = Some(parse_arch(name, value)?);
        Ok(())
    }

    fn translate_code(&mut self, name: &str, value: &str) -> Result<(), CompileError> {
        let arch = parse_arch(name, value)?;
        let codes = if value.starts_with("compute_") { &mut self.out.virtual_codes } else { &mut self.out.real_codes };
        codes.push(arch);
        Ok(())
    }

    fn translate_gencode(&mut self, name: &str, value: &str) -> Result<(), CompileError> {
        let mut codes_seen = false;
        // Inside code=[a,b] the comma does not separate keys.
        for part in value.split(',') {
            let (key, text) = part.split_once('=').unwrap_or(("code", part));
            let text = text.trim_matches(['[', ']', '"', '\'']);
            match key.trim() {
                "arch" => drop(parse_arch(name, text)?),
                "code" => {
                    codes_seen = true;
                    self.translate_code(name, text)?;
                }
                _ => return Err(CompileError::bad_option(format!("option {name}: cannot understand {value:?}"))),
            }
        }
        if !codes_seen {
            let arch = value.trim_start_matches("arch=");
            self.translate_code(name, arch)?;
        }
        Ok(())
    }
}

fn parse_arch(name: &str, value: &str) -> Result<Arch, CompileError> {
    value.parse().map_err(|e| CompileError::bad_option(format!("option {name}: {e}")))
}

fn unsupported_32_bit() -> CompileError {
    CompileError::bad_option("option -m32: CUDA has had no 32-bit device code since version 12")
}

impl TranslatedOptions {
    /// Gives NVRTC those unknown options that it has, and leaves others to nvcc.
    pub(crate) fn ask_for_unknown(&mut self, has_option: impl Fn(&str) -> bool) {
        for option in std::mem::take(&mut self.unknown) {
            if has_option(&option) {
                self.nvrtc.push(option);
            } else {
                self.nvcc_only.get_or_insert(option);
            }
        }
    }

    /// The architecture to compile for: the target's unless options say otherwise.
    pub(crate) fn choose_arch(&self, target: Target) -> Result<Option<Arch>, CompileError> {
        let Some(device) = target.arch else {
            let asked = self.real_codes.iter().chain(&self.virtual_codes).max().copied();
            return Ok(self.arch.or(asked));
        };
        if self.real_codes.is_empty() && self.virtual_codes.is_empty() {
            return Ok(Some(self.arch.unwrap_or(device)));
        }
        if target.kind == BinaryKind::Cubin {
            // PTX for an older architecture would be compiled for the device by its driver; doing
            // it right away is the same.
            let real = self.real_codes.iter().filter(|code| code.runs_on_device(device)).max();
            let through_ptx = self.virtual_codes.iter().any(|code| code.number <= device.number).then_some(&device);
            if let Some(&arch) = real.or(through_ptx) {
                return Ok(Some(arch));
            }
        } else {
            let all = self.virtual_codes.iter().chain(&self.real_codes);
            if let Some(&arch) = all.filter(|code| code.number <= device.number && code.suffix.is_none()).max() {
                return Ok(Some(arch));
            }
        }
        let codes: Vec<String> = self
            .real_codes
            .iter()
            .map(|c| c.real_name())
            .chain(self.virtual_codes.iter().map(|c| c.virtual_name()))
            .collect();
        let codes = codes.join(", ");
        Err(CompileError::bad_option(format!(
            "none of the architectures asked for ({codes}) runs on {}",
            device.real_name()
        )))
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
