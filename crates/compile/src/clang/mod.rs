//! Compiles OpenCL C to PTX, with a clang that has the NVPTX back end.
//!
//! The wheel `ziglang` contains one; any other will do. A program is compiled in two steps: source to LLVM IR, which
//! has the types of the kernels' arguments, and the IR, with a library of builtins, to PTX. In between, the IR becomes
//! that of a whole program (`whole_program.rs`).
//!
//! If a step of ours fails, rather than the program's source, the error says which clang failed in which step.

mod cache;
mod call_places;
pub(crate) mod cuda;
mod cuda_headers;
mod cuda_source;
mod find;
mod library;
mod metadata;
mod precompiled;
mod printf;
mod whole_program;

use crate::error::{CompileError, ErrorKind};
use rtcg_disk_cache::TemporaryFolder;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use cache::{OpenClBuild, OpenClDependencies, cached_opencl_build};
pub use cuda_headers::{MATHEMATICS_DOUBLE, MATHEMATICS_FLOAT};
pub(crate) use cuda_headers::{additions_key, header_folders, is_in_place_of_cccl};
use cuda_source::{with_bytes_in_shared_memory, with_device_variables};
pub use find::{Clang, find_clang};
pub use library::{BuiltinLibrary, LibraryPart};
pub use metadata::{AddressSpace, KernelArgument, KernelMetadata};
pub use whole_program::functions_that_can_tell_groups;

/// An OpenCL program to compile.
#[derive(Clone, Debug)]
pub struct OpenClRequest<'a> {
    /// The text of the program.
    pub source: &'a str,
    /// The name that messages use for it.
    pub name: &'a str,
    /// Options for clang, one word each.
    pub options: &'a [String],
    /// Headers in memory: the name in `#include` and the text.
    pub headers: &'a [(String, String)],
    /// The header that is included before all others.
    pub base_header: &'a str,
}

/// The LLVM IR of a program that has not been linked with builtins yet.
#[derive(Clone, Debug)]
pub struct OpenClObject {
    /// The IR as text.
    pub ir: String,
    /// The kernels that it defines.
    pub kernels: Vec<KernelMetadata>,
    /// Warnings.
    pub log: String,
    /// Headers that were read, other than those in memory; absolute paths.
    pub included: Vec<PathBuf>,
}

/// The target that all devices can load: the same text for each, so that one cache serves all.
const TARGET: &[&str] = &[
    "-target",
    "nvptx64-nvidia-cuda",
    "-Xclang",
    "-target-cpu",
    "-Xclang",
    "sm_80",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "+ptx70",
    "-nocudalib",
    "-Wno-unknown-cuda-version",
];

impl Clang {
    /// Compiles source to LLVM IR.
    ///
    /// # Errors
    /// [`ErrorKind::Source`] with clang's log if clang refused the program; other kinds if it could not be run.
    pub fn compile_opencl(&self, request: &OpenClRequest<'_>) -> Result<OpenClObject, CompileError> {
        let folder = WorkFolder::new()?;
        for (name, text) in request.headers {
            folder.write(name, text)?;
        }
        folder.write(BASE_HEADER, request.base_header)?;
        folder.write(request.name, request.source)?;
        let mut arguments: Vec<String> =
            ["-x", "cl", "-cl-no-stdinc", "-Xclang", "-fdeclare-opencl-builtins", "-include", BASE_HEADER]
                .map(str::to_owned)
                .to_vec();
        arguments.extend(TARGET.iter().map(|&word| word.to_owned()));
        arguments.extend(["-O3", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"].map(str::to_owned));
        arguments.extend(
            ["-Xclang", EXTENSIONS, "-cl-kernel-arg-info", "-I", ".", "-fdebug-compilation-dir=."].map(str::to_owned),
        );
        arguments.extend(words(MACROS));
        arguments.extend(request.options.iter().cloned());
        arguments.extend(["-MD", "-MF", "program.d", "-o", "program.ll", request.name].map(str::to_owned));
        let log = self.run(&folder, &arguments, request, COMPILING)?;
        let ir = printf::with_vprintf(&with_functions_defined(&folder.read("program.ll")?))
            + library::mark_of(request.options);
        let kernels = metadata::kernels_of(&ir);
        let mut included = cache::prerequisites(&folder.read("program.d")?);
        included.retain(|path| path.is_absolute() && !path.starts_with(folder.path()));
        Ok(OpenClObject { ir, kernels, log, included })
    }

    /// Links LLVM IR with what it needs from the library of builtins, and compiles it to PTX.
    ///
    /// # Errors
    /// As [`Clang::compile_opencl`]; also when a function is undefined, with the place of a call if the IR has line
    /// tables.
    pub fn link_opencl(&self, ir: &str, builtins: &BuiltinLibrary) -> Result<String, CompileError> {
        let (_, missing) = builtins.undefined(ir);
        if !missing.is_empty() {
            let line = |symbol: &&str| {
                let place = call_places::first_call(ir, symbol).map(|place| place + ": ").unwrap_or_default();
                format!("{place}error: the function {} is not defined\n", library::name_of(symbol))
            };
            let log: String = missing.iter().map(line).collect();
            let error = CompileError::new(ErrorKind::Source, "a function is not defined");
            return Err(error.with_compiler_log(Vec::new(), log, "program.ll", ""));
        }
        let folder = WorkFolder::new()?;
        let request = OpenClRequest { source: ir, name: "program.ll", options: &[], headers: &[], base_header: "" };
        let mut arguments = self.input_of_ir(&folder, &whole_program::with_kernels_for_launches_only(ir), &request)?;
        for part in builtins.files_for(ir) {
            arguments.extend(words(&["-Xclang", "-mlink-builtin-bitcode", "-Xclang", &part.display().to_string()]));
        }
        if library::is_relaxed(ir) {
            arguments.extend(words(&["-mllvm", "-nvptx-prec-divf32=1"]));
        }
        arguments.extend(words(&["-O3", "-S", "-o", "program.ptx"]));
        self.run(&folder, &arguments, &request, "linking with the builtins")?;
        folder.read("program.ptx")
    }

    /// A log line that says which of our steps failed.
    pub fn failed_in(&self, step: &str) -> String {
        format!("note: {} has failed in a step of the platform: {step}\n", self.description())
    }

    /// The words with which LLVM's text is what other texts are linked to. Before version 17 clang links nothing to such
    /// an input: there the program is linked to an empty source, as the first one.
    fn input_of_ir(
        &self,
        folder: &WorkFolder,
        ir: &str,
        request: &OpenClRequest<'_>,
    ) -> Result<Vec<String>, CompileError> {
        folder.write("program.ll", ir)?;
        let input: &[&str] = if self.version.is_none_or(|version| version >= 17) {
            &["-x", "ir", "program.ll"]
        } else {
            self.assemble(folder, "program.ll", Path::new("program.bc"), request)?;
            folder.write("empty.cl", "")?;
            &["-x", "cl", "-cl-no-stdinc", "-Xclang", "-mlink-bitcode-file", "-Xclang", "program.bc", "empty.cl"]
        };
        Ok(words(&[input, TARGET].concat()))
    }

    /// LLVM's text as bitcode.
    fn assemble(
        &self,
        folder: &WorkFolder,
        ir: &str,
        to: &Path,
        request: &OpenClRequest<'_>,
    ) -> Result<(), CompileError> {
        let mut arguments = words(&["-x", "ir"]);
        arguments.extend(words(TARGET));
        arguments.extend(words(&["-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o"]));
        arguments.extend([to.display().to_string(), ir.to_owned()]);
        self.run(folder, &arguments, request, "assembling LLVM's text").map(drop)
    }

    /// Links several objects into one.
    ///
    /// # Errors
    /// As [`Clang::compile_opencl`]; also when two of them define the same name.
    pub fn merge_opencl(
        &self,
        objects: &[impl std::borrow::Borrow<OpenClObject>],
    ) -> Result<OpenClObject, CompileError> {
        let folder = WorkFolder::new()?;
        let request = OpenClRequest { source: "", name: "program.ll", options: &[], headers: &[], base_header: "" };
        let first = objects.first().map_or("", |object| &object.borrow().ir);
        let mut arguments = self.input_of_ir(&folder, first, &request)?;
        for (number, object) in objects.iter().enumerate().skip(1) {
            let (text, bitcode) = (format!("{number}.ll"), format!("{number}.bc"));
            folder.write(&text, &object.borrow().ir)?;
            self.assemble(&folder, &text, Path::new(&bitcode), &request)?;
            arguments.extend(words(&["-Xclang", "-mlink-bitcode-file", "-Xclang", &bitcode]));
        }
        arguments.extend(words(&["-O3", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", "-o", "linked.ll"]));
        let log = self.run(&folder, &arguments, &request, "linking objects")?;
        let ir = folder.read("linked.ll")?;
        let kernels = metadata::kernels_of(&ir);
        Ok(OpenClObject { ir, kernels, log, included: Vec::new() })
    }

    /// Runs clang for a step, and returns its warnings.
    fn run(
        &self,
        folder: &WorkFolder,
        arguments: &[String],
        request: &OpenClRequest<'_>,
        step: &str,
    ) -> Result<String, CompileError> {
        let output = Command::new(&self.program)
            .args(&self.first_arguments)
            .args(arguments)
            .current_dir(folder.path())
            .env_remove("CPATH")
            .env_remove("C_INCLUDE_PATH")
            .output()
            .map_err(|error| io_error(&self.program, &error))?;
        let mut log = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(log);
        }
        let command: Vec<String> =
            std::iter::once(self.program.display().to_string()).chain(arguments.iter().cloned()).collect();
        if let Some(complaint) = complaint_of_option(&log, request) {
            let error = CompileError::bad_option(complaint.as_str());
            return Err(error.with_compiler_log(command, complaint, request.name, ""));
        }
        if step != COMPILING || !names_a_place(&log) {
            log += &self.failed_in(step);
        }
        let message = format!("clang failed ({})", output.status);
        Err(CompileError::new(ErrorKind::Source, message).with_compiler_log(command, log, request.name, request.source))
    }
}

/// What the compiler said about one of the program's options: lines without a place in the source that quote it.
fn complaint_of_option(log: &str, request: &OpenClRequest<'_>) -> Option<String> {
    let quotes_one = |text: &str| request.options.iter().any(|option| text.contains(&format!("'{option}'")));
    let complaints = log.lines().filter_map(|line| {
        let (head, text) = line.split_once("error: ")?;
        (!head.contains(request.name) && quotes_one(text)).then(|| format!("error: {text}\n"))
    });
    Some(complaints.collect::<String>()).filter(|text| !text.is_empty())
}

/// Whether an error in a log has a place in the program: `file:line:column: error: `.
fn names_a_place(log: &str) -> bool {
    log.lines().filter_map(|line| line.split_once("error: ")).any(|(head, _)| {
        let place = head.trim_end_matches("fatal ").trim_end_matches(": ");
        place.ends_with(|c: char| c.is_ascii_digit()) && !place.contains(BASE_HEADER)
    })
}

/// The symbols that a line of LLVM's text names, from left to right.
fn symbols_in(line: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    line.split('@').skip(1).map(move |rest| rest.split(|c| !is_of_name(c)).next().unwrap_or_default())
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

/// The step whose errors are those of the program, where they have a place in it.
const COMPILING: &str = "compiling the source";

const BASE_HEADER: &str = "rtcg_opencl_base.h";

/// Macros that OpenCL C has and clang leaves to its caller, and those of CUDA, which the target brings along.
const MACROS: &[&str] = &[
    "-D__OPENCL_VERSION__=300",
    "-D__IMAGE_SUPPORT__=1",
    "-U__CUDA_ARCH__",
    "-U__CUDACC__",
    "-U__CUDA__",
    "-U__NVPTX__",
    "-U__PTX__",
];

/// The extensions and optional features that programs find, in place of those that clang supposes of the target.
const EXTENSIONS: &str = "-cl-ext=-all,+cl_khr_byte_addressable_store,+cl_khr_global_int32_base_atomics,\
    +cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,\
    +cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+cl_khr_fp64,+cl_khr_3d_image_writes,+cl_khr_depth_images,+cl_khr_subgroups,\
    +__opencl_c_3d_image_writes,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,\
    +__opencl_c_atomic_scope_device,+__opencl_c_fp64,+__opencl_c_generic_address_space,+__opencl_c_images,\
    +__opencl_c_int64,+__opencl_c_program_scope_global_variables,+__opencl_c_read_write_images,\
    +__opencl_c_subgroups,+__opencl_c_work_group_collective_functions";

/// From LLVM 21 on the body of a kernel is a function of its own. LLVM 21 defines it as a kernel, but calls it as a
/// function.
///
/// A function that is declared `inline` only is defined for inlining only, as in C. No other definition would be there
/// where it is not inlined, so that it becomes a static one.
fn with_functions_defined(ir: &str) -> String {
    let body = format!("@{}", whole_program::BODY);
    let rewritten = |line: &str| {
        if line.starts_with("define available_externally ") {
            line.replacen("available_externally ", "internal ", 1).replacen("dso_local ", "", 1)
        } else if line.contains(&body) {
            line.replacen(" ptx_kernel ", " ", 1)
        } else {
            line.to_owned()
        }
    };
    ir.lines().map(rewritten).collect::<Vec<_>>().join("\n")
}

/// A folder of this process that is removed with its files.
struct WorkFolder(TemporaryFolder);

impl WorkFolder {
    fn new() -> Result<Self, CompileError> {
        TemporaryFolder::new("rtcg-clang").map(Self).map_err(|error| io_error(&std::env::temp_dir(), &error))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) -> Result<(), CompileError> {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| io_error(parent, &error))?;
        }
        std::fs::write(&path, text).map_err(|error| io_error(&path, &error))
    }

    fn read(&self, name: &str) -> Result<String, CompileError> {
        let path = self.path().join(name);
        std::fs::read_to_string(&path).map_err(|error| io_error(&path, &error))
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> CompileError {
    CompileError::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "__attribute__((overloadable)) ulong get_global_id(uint axis) {\n\
        return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); }\n\
        __attribute__((overloadable)) float never_called(float a) { return a; }\n";
    const BASE: &str = "typedef unsigned int uint; typedef unsigned long ulong; typedef ulong size_t;\n";
    const KERNEL: &str = "__attribute__((reqd_work_group_size(8, 1, 1)))\n\
        kernel void scale(global float *y, global const float *x, local int *s, float a) {\n\
        y[get_global_id(0)] += a * x[get_global_id(0)]; }\n";

    /// Calls of `printf` with no arguments and with some, and a function that C defines for inlining only.
    const CALLS: &str = "int printf(__constant const char *format, ...);\n\
        inline int next(int a) { return a + 1; }\n\
        kernel void show(int a) { printf(\"none\"); if (a) printf(\"%d %v2hlf %s\", next(a), (float2)(1, a), \"text\"); }\n";

    /// A kernel that another one and a function call.
    const CALLED: &str = "kernel void inner(global int *b, int n) { b[n] = 42; }\n\
        __attribute__((noinline)) void through(global int *b) { inner(b, 1); }\n\
        kernel void outer(global int *b) { through(b); inner(b, 2); }\n";

    /// A program that says a version and targets as clang does, and otherwise does what a line of the shell says. It
    /// writes its name into the file `asked` when it is asked. Another process writes it: one that is open for writing
    /// cannot run.
    pub(super) fn fake_clang(folder: &WorkFolder, name: &str, version: &str, targets: &str, line: &str) -> PathBuf {
        let path = folder.path().join(name);
        let script = format!(
            "#!/bin/sh\ncase $1 in\n-v) echo {name} >>'{}'; echo '{version}' >&2; echo '{targets}' ;;\n\
             --version) echo '{version}' ;;\n*) {line} ;;\nesac\n",
            folder.path().join("asked").display()
        );
        let write = "printf %s \"$1\" >\"$0\" && chmod +x \"$0\"";
        let status = Command::new("sh").args(["-c", write]).arg(&path).arg(script).status().unwrap();
        assert!(status.success());
        path
    }

    #[test]
    fn failures_of_our_own_steps_name_the_clang() {
        let folder = WorkFolder::new().unwrap();
        let complaint = "echo 'part.ll:18:17: error: invalid cast' >&2; exit 1";
        let path = fake_clang(&folder, "clang", "Some clang version 15.0.7", "nvptx64", complaint);
        let fake = Clang::at(&path).unwrap();
        let note = |step: &str| {
            let path = path.display();
            format!(
                "invalid cast\nnote: {path} (Some clang version 15.0.7) has failed in a step of the platform: {step}\n"
            )
        };
        let parts = [("atomics", LIBRARY.to_owned())];
        let error = fake.compile_library(&parts, BASE, &folder.path().join("library")).unwrap_err();
        assert!(error.log.ends_with(&note("compiling the builtins atomics")), "{}", error.log);
        let object = OpenClObject { ir: String::new(), kernels: Vec::new(), log: String::new(), included: Vec::new() };
        let error = fake.merge_opencl(&[object]).unwrap_err();
        assert!(error.log.ends_with(&note("assembling LLVM's text")), "{}", error.log);

        let logs = |base_header: &str, source: &str| {
            let request = OpenClRequest { source, name: "a.cl", options: &[], headers: &[], base_header };
            find_clang().unwrap().compile_opencl(&request).unwrap_err().log
        };
        let own = logs(BASE, "kernel void f() { g(; }");
        assert!(own.contains("error:") && !own.contains("note: /"), "an error of the program: {own}");
        let ours = logs("typedef nothing uint;", "kernel void f() {}");
        assert!(ours.contains("has failed in a step of the platform: compiling the source"), "{ours}");
    }

    /// Each clang that is found, and those that `RTCG_TEST_CLANGS` lists as PATH does.
    pub(super) fn all_clangs() -> Vec<Clang> {
        let listed = std::env::var_os("RTCG_TEST_CLANGS").unwrap_or_default();
        let paths = find::candidates().into_iter().chain(std::env::split_paths(&listed));
        let clangs: Vec<Clang> = paths.filter(|path| path.is_file()).filter_map(|path| Clang::at(&path).ok()).collect();
        assert!(!clangs.is_empty(), "there is no clang");
        clangs
    }

    #[test]
    fn every_clang_compiles_a_kernel() {
        for clang in all_clangs() {
            let folder = WorkFolder::new().unwrap();
            let parts = [("ids", LIBRARY.to_owned())];
            let library = clang.compile_library(&parts, BASE, &folder.path().join("library")).unwrap();
            let request =
                OpenClRequest { source: KERNEL, name: "scale.cl", options: &[], headers: &[], base_header: BASE };
            let object = clang.compile_opencl(&request).unwrap();
            let kernel = &object.kernels[0];
            let spaces: Vec<_> = kernel.arguments.iter().map(|argument| argument.space).collect();
            let expected = [AddressSpace::Global, AddressSpace::Global, AddressSpace::Local, AddressSpace::Private];
            assert_eq!((kernel.name.as_str(), spaces.as_slice()), ("scale", expected.as_slice()), "{clang:?}");
            assert_eq!((object.kernels.len(), kernel.required_size), (1, Some([8, 1, 1])), "{clang:?}");
            let ptx = clang.link_opencl(&object.ir, &library).unwrap();
            // All in one function: a call would hide what is known about addresses.
            assert!(ptx.contains("%ctaid.x") && ptx.contains("st.global."), "{clang:?}\n{ptx}");
            assert!(!ptx.contains("call") && !ptx.contains("never_called"), "{clang:?}\n{ptx}");

            for options in [&[][..], &["-gline-tables-only".to_owned()]] {
                let request =
                    OpenClRequest { source: CALLED, name: "called.cl", options, headers: &[], base_header: BASE };
                let ptx = clang.link_opencl(&clang.compile_opencl(&request).unwrap().ir, &library).unwrap();
                let stores = ptx.lines().filter(|line| line.contains("st.global.") && line.contains(", 42")).count();
                assert!(stores >= 2 || ptx.matches(", 42;").count() >= 3, "{clang:?}\n{ptx}");
                assert!(ptx.contains("call") && ptx.contains("through"), "as the program says: {clang:?}\n{ptx}");
                assert!(!ptx.contains("__clang_ocl_kern_imp"), "bodies are in their kernels: {clang:?}\n{ptx}");
            }

            let base = &format!("{BASE} typedef float float2 __attribute__((ext_vector_type(2)));");
            let options = &["-cl-std=CL1.2".to_owned()];
            let request = OpenClRequest { source: CALLS, name: "show.cl", options, headers: &[], base_header: base };
            let object = clang.compile_opencl(&request).unwrap();
            assert!(object.ir.contains("define internal i32 @next("), "{clang:?}\n{}", object.ir);
            // As a linked program has it.
            let object = clang.merge_opencl(&[object]).unwrap();
            let ptx = clang.link_opencl(&object.ir, &library).unwrap();
            let external: Vec<&str> = ptx.lines().filter(|line| line.contains(".extern")).collect();
            assert!(external.len() == 1 && external[0].contains("vprintf"), "{clang:?}\n{ptx}");
            assert!(ptx.matches("st.local.").count() >= 4, "{clang:?}\n{ptx}");
        }
    }
}
