//! Compiles CUDA C++ to PTX with clang, as NVRTC would: the same job, the same form of result.
//!
//! clang's front end is called directly (`-cc1`), so that nothing on the machine is searched. All headers are ours
//! (`cuda_headers.rs`); the prelude among them is precompiled. What NVRTC takes and clang does not is rewritten in the
//! source before (`cuda_source.rs`).

use super::cuda_headers::{self, PreludeVariant};
use super::cuda_source::adapt_to_clang;
use super::{Clang, WorkFolder};
use crate::arch::Arch;
use crate::error::{CompileError, ErrorKind};
use crate::nvrtc::{NvrtcFailure, NvrtcJob, NvrtcOutput, mark_fma_contraction_off};
use crate::request::BinaryKind;
use crate::signals::{self, NoResult};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Architectures that clang compiles for.
const ARCHITECTURES: &[u32] = &[75, 80, 86, 87, 89, 90];

/// What makes CCCL's headers take clang for NVRTC.
pub(crate) const LINES_FOR_CCCL: &str = "#include <rtcg_cccl.h>\n";

/// PTX of a program with CCCL's headers, whose assembly has instructions of version 8.0.
pub(crate) fn with_version_for_cccl(output: NvrtcOutput) -> NvrtcOutput {
    let text = String::from_utf8_lossy(&output.bytes);
    let (line, old) = ("\n.version 8.0\n", ["\n.version 7.5\n", "\n.version 7.8\n"]);
    let text = old.iter().fold(text, |text, old| Cow::Owned(text.replacen(old, line, 1)));
    NvrtcOutput { bytes: text.into_owned().into_bytes(), ..output }
}

/// The version of PTX, which decides which instructions there are: what the architecture needs at least, or that of
/// CUDA 11.8, which has `alloca`; with clusters 8.4 where clang knows it.
fn ptx_version(arch: Arch, clang_version: Option<u32>) -> u32 {
    match (clang_version, arch.number) {
        (Some(..=15), _) => 75,
        (Some(16..=18), 90) if arch.suffix.is_some() => 80,
        (Some(16..=18), _) => 78,
        (_, 90) => 84,
        _ => 78,
    }
}

/// The architecture that clang compiles for if `arch` is asked for: a newer device runs PTX for an older one.
pub(crate) fn supported_arch(clang: &Clang, arch: Arch) -> Result<Arch, CompileError> {
    let oldest = ARCHITECTURES[0];
    let known = ARCHITECTURES.iter().copied();
    let newest = if clang.version.is_some_and(|version| version < 16) { 86 } else { 90 };
    match known.filter(|&number| number <= arch.number.min(newest)).max() {
        Some(number) if number == arch.number => {
            let has_features = arch.suffix == Some('a') && clang.version.is_none_or(|version| version >= 18);
            Ok(Arch { number, suffix: arch.suffix.filter(|_| has_features) })
        }
        Some(number) => Ok(Arch { number, suffix: None }),
        None => {
            let message = format!("clang compiles for sm_{oldest} and newer here, not for {}", arch.real_name());
            Err(CompileError::new(ErrorKind::Unsupported, message))
        }
    }
}

/// A job's options in clang's words.
struct ClangOptions {
    variant: PreludeVariant,
    /// Arguments of code generation that no header can see.
    arguments: Vec<String>,
    include_dirs: Vec<String>,
    /// Lines before the source: macros and headers that options name.
    lines: String,
}

impl ClangOptions {
    fn of(job: &NvrtcJob, clang: &Clang) -> Self {
        let (mut arguments, mut include_dirs, mut lines) = (Vec::new(), Vec::new(), String::new());
        let mut variant = PreludeVariant { clang_version: clang.version, ..PreludeVariant::default() };
        let is_true = |value: &str| value == "true" || value == "1";
        let (mut divides_approximately, mut has_fast_math) = (false, false);
        for option in &job.options {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "--gpu-architecture" => variant.arch = value.parse().unwrap_or(variant.arch),
                "--std" => variant.standard = value.replace("gnu", "c"),
                "--ftz" => variant.flushes = is_true(value),
                "--prec-div" => divides_approximately = !is_true(value),
                "--prec-sqrt" => variant.has_exact_roots = is_true(value),
                "--fmad" => variant.fuses = is_true(value),
                "--use_fast_math" => {
                    has_fast_math = true;
                    (variant.flushes, variant.has_exact_roots) = (true, false);
                }
                "--relocatable-device-code" => variant.is_relocatable = is_true(value),
                "--device-c" => variant.is_relocatable = true,
                "--generate-line-info" => arguments.extend(LINE_DIRECTIVES.map(str::to_owned)),
                "--device-debug" => {
                    variant.has_debug_information = true;
                    arguments.extend(
                        ["-debug-info-kind=constructor", "-dwarf-version=2", "-fno-dwarf-directory-asm"]
                            .map(str::to_owned),
                    );
                }
                "--disable-warnings" => arguments.push("-w".to_owned()),
                "--define-macro" => {
                    let (name, text) = value.split_once('=').unwrap_or((value, "1"));
                    lines += &format!("#define {name} {text}\n");
                }
                "--undefine-macro" => lines += &format!("#undef {value}\n"),
                "--pre-include" => lines += &format!("#include \"{value}\"\n"),
                "--include-path" => include_dirs.push(value.to_owned()),
                // About machine code, diagnostics of NVRTC, and its own time.
                _ => {}
            }
        }
        variant.has_fast_math = has_fast_math;
        variant.has_exact_division = !divides_approximately && !has_fast_math;
        if divides_approximately || has_fast_math {
            let level = if has_fast_math { 0 } else { 1 };
            arguments.extend(["-mllvm".to_owned(), format!("-nvptx-prec-divf32={level}")]);
        }
        if !variant.has_exact_roots {
            arguments.extend(["-mllvm", "-nvptx-prec-sqrtf32=0"].map(str::to_owned));
        }
        Self { variant, arguments, include_dirs, lines }
    }
}

/// Compiles, in a thread of its own; an interrupt ends the wait for it.
pub(crate) fn compile_cuda(clang: &Clang, job: &NvrtcJob) -> Result<NvrtcOutput, NvrtcFailure> {
    let failed = |kind, message| Err(NvrtcFailure { kind, message, log: String::new() });
    let (clang, job) = (clang.clone(), job.clone());
    match signals::run_in_compiler_thread(move |_| compile_in_this_thread(&clang, &job)) {
        Ok(result) => result,
        Err(NoResult::Interrupted) => failed(ErrorKind::Interrupted, "the compilation was interrupted".to_owned()),
        Err(NoResult::Broken(message)) => failed(ErrorKind::Io, message),
    }
}

fn compile_in_this_thread(clang: &Clang, job: &NvrtcJob) -> Result<NvrtcOutput, NvrtcFailure> {
    let failed = |error: CompileError| NvrtcFailure { kind: error.kind, message: error.message, log: error.log };
    if job.kind == BinaryKind::LtoIr {
        let message = "clang makes no LTO-IR; RTCG_COMPILER=nvrtc does";
        return Err(failed(CompileError::new(ErrorKind::Unsupported, message)));
    }
    let options = ClangOptions::of(job, clang);
    let folder = WorkFolder::new().map_err(failed)?;
    let headers_dir = folder.path().join("headers");
    for (name, text) in &job.headers {
        folder.write(&format!("headers/{name}"), &adapt_to_clang(text)).map_err(failed)?;
    }
    let source = options.lines.clone() + &adapt_to_clang(&job.source) + &kept_names(&job.name_expressions);
    folder.write(SOURCE, &source).map_err(failed)?;

    let mut arguments = front_end_arguments(&options.variant);
    arguments.extend(options.arguments.iter().cloned());
    arguments.extend(["-emit-llvm", "-disable-llvm-passes", "-o", MODULE].map(str::to_owned));
    arguments.extend(["-x", "cuda", "-ferror-limit", "0"].map(str::to_owned));
    arguments.push("-include-pch".to_owned());
    arguments.push(cuda_headers::precompiled_prelude(clang, &options.variant).map_err(failed)?.display().to_string());
    let user = options.include_dirs.iter().map(PathBuf::from);
    for dir in [headers_dir].into_iter().chain(user) {
        arguments.extend(["-I".to_owned(), dir.display().to_string()]);
    }
    arguments.push(SOURCE.to_owned());
    let (succeeded, log) = run_front_end(clang, &arguments, folder.path()).map_err(failed)?;
    let log = separate_diagnostics(&log);
    if !succeeded {
        let message = format!("{} refused the source", clang.version_text());
        return Err(NvrtcFailure { kind: ErrorKind::Source, message, log });
    }
    let ir = folder.read(MODULE).map_err(failed)?;
    folder.write(MODULE, &with_conversions_of_the_device(&ir)).map_err(failed)?;
    let mut arguments = back_end_arguments(&options.variant);
    arguments.extend(options.arguments.iter().cloned());
    arguments.extend(["-S", "-o", OUTPUT, "-x", "ir", MODULE].map(str::to_owned));
    let (succeeded, said) = run_front_end(clang, &arguments, folder.path()).map_err(failed)?;
    let log = log + &separate_diagnostics(&said);
    if !succeeded {
        let message = format!("{} makes no PTX of the program", clang.version_text());
        return Err(NvrtcFailure { kind: ErrorKind::Source, message, log });
    }
    let ptx = folder.read(OUTPUT).map_err(failed)?;
    let (ptx, lowered_names) = take_kept_names(&ptx, &job.name_expressions);
    let mut bytes = ptx.into_bytes();
    mark_fma_contraction_off(&mut bytes, &job.options);
    Ok(NvrtcOutput { bytes, log, lowered_names })
}

/// With names of files as PTX has them.
const LINE_DIRECTIVES: [&str; 3] =
    ["-debug-info-kind=line-directives-only", "-dwarf-version=2", "-fno-dwarf-directory-asm"];

const SOURCE: &str = "program.cu";
const MODULE: &str = "program.ll";
const OUTPUT: &str = "program.ptx";

/// LLVM's text in which numbers become integers by the device's instructions. Those of LLVM have no result for numbers
/// that are too large: what uses one may be left out. The device saturates, and narrow integers are cut off those of 32
/// bits, as by NVRTC. A byte in memory that is read as `bool` is true where it is not 0, and not only where it is 1: such
/// are masks of 0 and 255.
fn with_conversions_of_the_device(ir: &str) -> String {
    let mut text = String::with_capacity(ir.len() + ir.len() / 16);
    let mut declared = BTreeSet::new();
    for (number, line) in ir.lines().enumerate() {
        match truth_of_byte(line).or_else(|| conversion(line, number, &mut declared)) {
            Some(converted) => text.push_str(&converted),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    let is_new = |declaration: &&String| {
        declaration.split_once('@').is_some_and(|(_, name)| !ir.contains(&format!("@{}", name.trim_end())))
    };
    declared.iter().filter(is_new).for_each(|declaration| text.push_str(declaration));
    text
}

/// What a line becomes that reads a byte as `bool`, or makes a truth value of it.
fn truth_of_byte(line: &str) -> Option<String> {
    let (head, rest) = line.split_once(" = ")?;
    if let Some(rest) = rest.strip_prefix("trunc i8 ") {
        let (value, tail) = rest.split_once(" to i1")?;
        return Some(format!("{head} = icmp ne i8 {value}, 0{tail}"));
    }
    let is_load = ["load i8, ", "load volatile i8, "].iter().any(|load| rest.starts_with(load));
    let (before, after) = line.split_once(", !range !").filter(|_| is_load)?;
    Some([before, after.trim_start_matches(|c: char| c.is_ascii_digit())].concat())
}

/// What a line with `fptosi` or `fptoui` becomes, or with the intrinsic that saturates: constants are converted by the
/// latter, where clang would take the former for undefined at once.
fn conversion(line: &str, number: usize, declared: &mut BTreeSet<String>) -> Option<String> {
    let (head, rest) = line.split_once(" = ")?;
    let (sign, kind, value, to, tail) = if let Some((call, rest)) = rest.split_once(" @llvm.fpto") {
        let to = call.strip_prefix("call ")?;
        let (name, rest) = rest.split_once('(')?;
        let (value, tail) = rest.rsplit_once(')')?;
        let (kind, value) = value.split_once(' ')?;
        (if name.starts_with('u') { "u" } else { "" }, kind, value, to, tail)
    } else {
        let (sign, rest) = match rest.strip_prefix("fptosi ") {
            Some(rest) => ("", rest),
            None => ("u", rest.strip_prefix("fptoui ")?),
        };
        let (from, to) = rest.split_once(" to ")?;
        let (to, tail) = to.split_at(to.find([',', ' ']).unwrap_or(to.len()));
        let (kind, value) = from.split_once(' ')?;
        (sign, kind, value, to, tail)
    };
    let bits: u32 = to.strip_prefix('i')?.parse().ok().filter(|bits| *bits <= 64)?;
    let mut lines = String::new();
    let (kind, value) = match kind {
        "float" | "double" => (kind, value.to_owned()),
        "half" | "bfloat" => {
            lines = format!("  %rtcg.wide.{number} = fpext {kind} {value} to float\n");
            ("float", format!("%rtcg.wide.{number}"))
        }
        _ => return None,
    };
    let (wide, width) = if bits > 32 { ("i64", "ll") } else { ("i32", "i") };
    // LLVM takes `llvm.nvvm.f2i.rz` for its own instruction; with `.ftz` it does not, and the result is the same. There
    // is no such form for double precision, and with 64 bits LLVM 20 has another result for NaN.
    let call = if kind == "float" && bits <= 32 {
        let name = format!("llvm.nvvm.f2{sign}{width}.rz.ftz");
        declared.insert(format!("declare {wide} @{name}(float)\n"));
        format!("call {wide} @{name}(float {value})")
    } else {
        let (letter, register) = (if sign.is_empty() { 's' } else { 'u' }, if bits > 32 { 'l' } else { 'r' });
        let (width, of) = if kind == "float" { ("f32", 'f') } else { ("f64", 'd') };
        let text = format!("cvt.rzi.{letter}{}.{width} $0, $1;", &wide[1..]);
        format!("call {wide} asm \"{text}\", \"={register},{of}\"({kind} {value})")
    };
    if to == wide {
        return Some(lines + &format!("{head} = {call}{tail}"));
    }
    lines += &format!("  %rtcg.whole.{number} = {call}\n");
    Some(lines + &format!("{head} = trunc {wide} %rtcg.whole.{number} to {to}{tail}"))
}

/// Runs `clang -cc1`; whether it succeeded, and its log.
pub(super) fn run_front_end(
    clang: &Clang,
    arguments: &[String],
    folder: &Path,
) -> Result<(bool, String), CompileError> {
    let output = Command::new(&clang.program)
        .args(&clang.first_arguments)
        .arg("-cc1")
        .args(arguments)
        .current_dir(folder)
        .env_remove("CPATH")
        .env_remove("C_INCLUDE_PATH")
        .env_remove("CPLUS_INCLUDE_PATH")
        .output()
        .map_err(|error| super::io_error(&clang.program, &error))?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// The arguments that must be the same for the prelude and for a program.
pub(super) fn front_end_arguments(variant: &PreludeVariant) -> Vec<String> {
    let arch = variant.arch;
    let mut arguments: Vec<String> = [
        "-triple",
        "nvptx64-nvidia-cuda",
        // For the sizes of types, which are the same on all hosts.
        "-aux-triple",
        "x86_64-unknown-linux-gnu",
        "-fcuda-is-device",
        "-fcuda-allow-variadic-functions",
        "-fdeclspec",
        "-nostdsysteminc",
        "-nobuiltininc",
        "-fgnuc-version=4.2.1",
        "-mframe-pointer=none",
        // Tables of addresses stay such: LLVM 20 would make tables of differences, which PTX cannot have.
        "-mcmodel=medium",
        // Values that nobody reads may be undefined: shuffles read them of lanes that take no part.
        "-no-enable-noundef-analysis",
        // NVRTC does not conclude from the types of pointers what they may point to, leaves loops without an end where
        // they are, and returns from functions whose end is reached without a value.
        "-relaxed-aliasing",
        "-fno-finite-loops",
        "-fno-strict-return",
        // An access that is known to be invalid is a fault of the device, rather than left out.
        "-fno-delete-null-pointer-checks",
        // Conversions of constants stay in LLVM's text, where they become those of the device.
        "-fno-strict-float-cast-overflow",
        "-fno-rtti",
        // Of the warnings those about what NVRTC would warn about, too: others would be new to programs that it compiles.
        "-Wno-everything",
        "-Warray-bounds",
        "-Wdivision-by-zero",
        "-Wformat",
        "-Winfinite-recursion",
        "-Wreturn-type",
        "-Wshift-count-negative",
        "-Wshift-count-overflow",
        "-Wuninitialized",
        "-Wunused-variable",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.extend(["-target-cpu".to_owned(), arch.real_name()]);
    arguments.extend(["-target-feature".to_owned(), format!("+ptx{}", ptx_version(arch, variant.clang_version))]);
    arguments.push(format!("-std={}", variant.standard));
    arguments.push(if variant.has_debug_information { "-O0" } else { "-O3" }.to_owned());
    arguments.push(format!("-ffp-contract={}", if variant.fuses { "fast-honor-pragmas" } else { "off" }));
    arguments.extend(variant.is_relocatable.then(|| "-fgpu-rdc".to_owned()));
    arguments.extend(variant.flushes.then(|| "-fdenormal-fp-math-f32=preserve-sign,preserve-sign".to_owned()));
    arguments.extend(variant.macros().into_iter().map(|text| format!("-D{text}")));
    arguments
}

/// The arguments for LLVM's text of a program.
fn back_end_arguments(variant: &PreludeVariant) -> Vec<String> {
    let all = front_end_arguments(variant);
    let of_language = |argument: &&String| {
        let is_of_source = ["-D", "-W", "-std=", "-fcuda", "-fdeclspec", "-fgnuc", "-fgpu-rdc", "-nostd", "-nobuiltin"];
        !is_of_source.iter().any(|head| argument.starts_with(head))
            && !argument.starts_with("-aux")
            && *argument != "x86_64-unknown-linux-gnu"
    };
    all.iter().filter(of_language).cloned().collect()
}

/// Text behind a program: for each name expression a variable with the address of what it names.
fn kept_names(expressions: &[String]) -> String {
    let line = |(number, expression): (usize, &String)| {
        let name = expression.trim().trim_start_matches('&');
        format!("\n__device__ __attribute__((used)) const void *const {KEPT_NAME}{number} = (const void *)&{name};")
    };
    expressions.iter().enumerate().map(line).collect()
}

const KEPT_NAME: &str = "__rtcg_kept_name_";

/// The PTX without the variables of [`kept_names`], and what each expression is called.
fn take_kept_names(ptx: &str, expressions: &[String]) -> (String, Vec<(String, String)>) {
    if expressions.is_empty() {
        return (ptx.to_owned(), Vec::new());
    }
    let (mut text, mut names) = (String::with_capacity(ptx.len()), Vec::new());
    for line in ptx.lines() {
        let Some((head, value)) = line.split_once(" = ").filter(|(head, _)| head.contains(KEPT_NAME)) else {
            if !line.contains(KEPT_NAME) {
                text.push_str(line);
                text.push('\n');
            }
            continue;
        };
        let digits = head.rsplit(KEPT_NAME).next().unwrap_or_default();
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        let value = value.trim_end_matches(';').trim_start_matches('{').trim_end_matches('}');
        let name = value.strip_prefix("generic(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(value);
        if let Some(expression) = digits.parse::<usize>().ok().and_then(|number| expressions.get(number)) {
            names.push((expression.clone(), name.to_owned()));
        }
    }
    (text, names)
}

/// A log of clang with blank lines between diagnostics, without the count of errors and what it says of lines that are
/// not the user's.
fn separate_diagnostics(log: &str) -> String {
    let of_ours = |line: &str| line.starts_with(SOURCE) && line.contains(": note: ");
    let (mut text, mut leads_in, mut is_left_out) = (String::new(), false, false);
    for line in log.lines() {
        let leads = line.starts_with("In file included from ");
        let is_head = [": error: ", ": fatal error: ", ": warning: "].iter().any(|kind| line.contains(kind));
        let is_count = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" generated");
        is_left_out = of_ours(line) || (is_left_out && !leads && !is_head && !line.contains(": note: "));
        if is_count || is_left_out || (leads && line.contains(SOURCE)) {
            continue;
        }
        if (is_head || leads) && !leads_in && !text.is_empty() {
            text.push('\n');
        }
        leads_in = leads;
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The lines and columns in `name` of what a log says.
fn places_of(log: &str, name: &str, message: &str) -> Vec<(usize, usize)> {
    let lines = log.lines().filter_map(|line| line.split_once(message));
    let mut found: Vec<(usize, usize)> = lines
        .filter_map(|(place, _)| {
            let mut parts = place.strip_prefix(name)?.strip_prefix(':')?.split(':');
            Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The source called `name` changed to what NVRTC would make of what a log has errors in: variables of the host that
/// code of the device refers to, and objects in shared memory.
pub(crate) fn improved_source(source: &str, name: &str, log: &str) -> Option<String> {
    let of_host = places_of(log, name, ": note: host variable declared here");
    let objects = places_of(log, name, ": error: initialization is not supported for __shared__ variables");
    super::with_device_variables(source, &of_host).or_else(|| super::with_bytes_in_shared_memory(source, &objects))
}

/// What clang says in NVRTC's words, as far as a program can be changed because of it.
pub(crate) fn log_in_words_of_nvrtc(log: &str) -> String {
    let mut text = String::new();
    for line in log.lines() {
        let Some((place, message)) = [": error: ", ": fatal error: "].iter().find_map(|kind| line.split_once(kind))
        else {
            continue;
        };
        let mut parts = place.rsplitn(3, ':');
        let (_column, number, file) = (parts.next(), parts.next().unwrap_or("1"), parts.next().unwrap_or(place));
        let quoted = message.split('\'').nth(1).unwrap_or_default();
        let said = if message.starts_with("unknown type name") || message.starts_with("use of undeclared identifier") {
            format!("error: identifier \"{quoted}\" is undefined")
        } else if message.starts_with("redefinition of") || message.starts_with("typedef redefinition") {
            format!("error: invalid redeclaration of type name \"{quoted}\"")
        } else if message.ends_with("file not found") {
            format!("catastrophic error: cannot open source file \"{quoted}\"")
        } else if message.ends_with("must have C++ linkage") {
            "error: this declaration may not have extern \"C\" linkage".to_owned()
        } else {
            format!("error: {message}")
        };
        text.push_str(&format!("{file}({number}): {said}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_0_are_true() {
        let ir = "  %0 = load i8, ptr %p, align 1, !tbaa !4, !range !6, !noundef !7\n  %b = trunc i8 %0 to i1\n  \
                  %1 = load i32, ptr %q, align 4, !range !8\n  %c = trunc i32 %1 to i8\n";
        let expected = "  %0 = load i8, ptr %p, align 1, !tbaa !4, !noundef !7\n  %b = icmp ne i8 %0, 0\n  \
                        %1 = load i32, ptr %q, align 4, !range !8\n  %c = trunc i32 %1 to i8\n";
        assert_eq!(with_conversions_of_the_device(ir), expected);
    }

    #[test]
    fn names_are_taken_from_their_variables() {
        let ptx = "\t// .globl\t__rtcg_kept_name_0\n.visible .global .align 8 .u64 __rtcg_kept_name_0 = _Z1fIfEvPT_;\n\
                   .visible .global .align 8 .u64 __rtcg_kept_name_1 = generic(_Z5table);\nret;\n";
        let expressions = ["f<float>".to_owned(), "&table".to_owned()];
        let (text, names) = take_kept_names(ptx, &expressions);
        assert_eq!(text, "ret;\n");
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["_Z1fIfEvPT_", "_Z5table"]);
    }

    #[test]
    fn numbers_become_integers_as_on_the_device() {
        let ir = "  %1 = fptoui float %0 to i8, !dbg !3\n  %2 = fptosi double %0 to i64\n  %3 = fptosi half %h to i32\n  \
                  %4 = call i8 @llvm.fptoui.sat.i8.f32(float 3.000000e+02), !dbg !5\n";
        let expected = "  %rtcg.whole.0 = call i32 @llvm.nvvm.f2ui.rz.ftz(float %0)\n  \
                        %1 = trunc i32 %rtcg.whole.0 to i8, !dbg !3\n  \
                        %2 = call i64 asm \"cvt.rzi.s64.f64 $0, $1;\", \"=l,d\"(double %0)\n  \
                        %rtcg.wide.2 = fpext half %h to float\n  %3 = call i32 @llvm.nvvm.f2i.rz.ftz(float %rtcg.wide.2)\n  \
                        %rtcg.whole.3 = call i32 @llvm.nvvm.f2ui.rz.ftz(float 3.000000e+02)\n  \
                        %4 = trunc i32 %rtcg.whole.3 to i8, !dbg !5\n\
                        declare i32 @llvm.nvvm.f2i.rz.ftz(float)\ndeclare i32 @llvm.nvvm.f2ui.rz.ftz(float)\n";
        assert_eq!(with_conversions_of_the_device(ir), expected);
    }

    #[test]
    fn logs_are_said_in_words_of_nvrtc() {
        let log = "kernel.cu:3:5: error: unknown type name 'uint'\n    3 |     uint x;\n      |     ^\n\
                   kernel.cu:1:10: fatal error: 'vector' file not found\n2 errors generated.\n";
        let expected = "kernel.cu(3): error: identifier \"uint\" is undefined\n\
                        kernel.cu(1): catastrophic error: cannot open source file \"vector\"\n";
        assert_eq!(log_in_words_of_nvrtc(log), expected);
        let separated = separate_diagnostics(log);
        assert!(separated.contains("\n\nkernel.cu:1:10") && !separated.contains("generated"), "{separated}");
    }
}
