//! What NVRTC does otherwise than nvcc and this crate puts right: layouts, names, options. The expectations are what
//! nvcc 13.5 does.

use rtcg_compile::{Arch, Artifact, CachePolicy, CompileError, CompileRequest, Compiler, ErrorKind, Target};
use std::path::PathBuf;

fn build_request(source: &str, options: &[&str]) -> CompileRequest {
    let options = options.iter().map(|o| o.to_string()).collect();
    let cache = CachePolicy::Off;
    CompileRequest { options, cache, ..CompileRequest::new(source, Target::ptx_for_arch(Arch::new(8, 0))) }
}

fn compile(source: &str, options: &[&str]) -> Result<Artifact, CompileError> {
    Compiler.compile(&build_request(source, options))
}

/// Compiles statements of a kernel with `int *a`, outside of `extern "C"` where `declarations` need it.
fn compile_kernel(declarations: &str, body: &str) -> Result<Artifact, CompileError> {
    let source = format!("{declarations}\n__global__ void k(int *a, float *f, double *d) {{\n{body}\n}}");
    Compiler.compile(&CompileRequest { no_extern_c: true, ..build_request(&source, &[]) })
}

#[test]
fn attributes_after_the_brace_set_the_layout() {
    for (declaration, name, size, alignment) in [
        ("typedef struct { int x; short y; int n; } __align__(32) a1;", "a1", 32, 32),
        ("typedef union { int x; } __align__(16) a2;", "a2", 16, 16),
        ("struct a3 { int x; short y; int n; }\n__attribute__((packed));", "a3", 10, 1),
        ("struct a4 { int x; char y; } __attribute__((packed, aligned(2)));", "a4", 6, 2),
        ("enum a5 { A, B } __attribute__((packed));", "a5", 1, 1),
        ("class a6 { struct { int x; char c; } __attribute__((packed)) m; char b; };", "a6", 6, 1),
        ("#define A16 __align__(16)\ntemplate <class T> struct t { T x; } A16;\ntypedef t<int> a7;", "a7", 16, 16),
        ("#define DECLARE(n) struct n { int x; } \\\n __align__(16)\nDECLARE(a8);", "a8", 16, 16),
    ] {
        let check = format!("static_assert(sizeof({name}) == {size} && alignof({name}) == {alignment}, \"layout\");");
        let artifact = compile_kernel(&format!("{declaration}\n{check}"), "");
        assert_eq!(artifact.map(|a| a.log).as_deref(), Ok(""), "{declaration}");
    }
}

#[test]
fn lines_keep_their_numbers_when_attributes_move() {
    let source = "typedef struct {\n int x;\n}\n__align__(32)\na1;\n__global__ void k(a1 *a) {\n a->y = 1;\n}";
    let error = compile(source, &[]).unwrap_err();
    assert!(error.log.contains("kernel.cu(7): error"), "{error}");
    assert!(error.excerpt.contains("> 7 |  a->y = 1;"), "{error}");
    let ptx = compile(&source.replace("a->y", "a->x"), &["-lineinfo"]).unwrap();
    let text = String::from_utf8_lossy(&ptx.bytes).into_owned();
    let is_on_line_7 =
        |line: &str| line.trim_start().starts_with(".loc") && line.split_whitespace().nth(2) == Some("7");
    assert!(text.lines().any(is_on_line_7), "{text}");
}

#[test]
fn attributes_that_cannot_be_moved_are_reported() {
    let source = "#if 1\nstruct S { int x;\n#else\nstruct T { int x;\n#endif\n}\n__align__(32) s;";
    let log = compile(source, &[]).unwrap().log;
    assert!(log.starts_with("kernel.cu(7): warning: NVRTC ignores the attributes"), "{log}");
    let dir = std::env::temp_dir().join(format!("rtcg-as-nvcc-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("types.cuh"), "struct S {\n int x;\n} __align__(32);\n").unwrap();
    let include_dirs = vec![PathBuf::from(&dir)];
    let log = Compiler.compile(&CompileRequest {
        include_dirs,
        ..build_request("#include \"types.cuh\"\n__global__ void k() {}", &[])
    });
    let log = log.unwrap().log;
    assert!(log.contains("types.cuh(3): warning: NVRTC ignores the attributes"), "{log}");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn implicit_header_names_are_declared() {
    let macros = "INT_MAX CHAR_BIT UINT_MAX LONG_MAX RAND_MAX EOF FP_NAN MAXFLOAT M_PIl M_PIf __FLT_MAX__ HUGE_VALF \
                  SHRT_MIN ULLONG_MAX PATH_MAX __DBL_EPSILON__ __SIZEOF_LONG__ __GNUC__ __NVCC__ __linux__ NAN";
    for name in macros.split_whitespace() {
        let artifact = compile_kernel(&format!("#ifndef {name}\n#error missing\n#endif"), &format!("d[0] = {name};"));
        assert!(artifact.is_ok(), "{name}: {artifact:?}");
    }
    let types = "float_t double_t ssize_t time_t u_int u_char off_t std::size_t std::pair<int,float>";
    for name in types.split_whitespace() {
        assert!(compile_kernel("", &format!("a[0] = sizeof({name});")).is_ok(), "{name}");
    }
    for value in [
        "std::abs(f[0])",
        "std::abs(-a[0])",
        "std::sqrt(f[0])",
        "std::pow(d[0], 2.0)",
        "std::pow(2, a[0])",
        "std::isnan(f[0])",
        "strlen(\"abc\")",
        "pow(2, a[0])",
        "pow(2L, a[0])",
        "pow(f[0], d[0])",
        "pow(f[0], a[0]) + pow(f[0], f[0]) + pow(d[0], a[0])",
    ] {
        let artifact = compile_kernel("", &format!("d[0] = {value};"));
        assert_eq!(artifact.map(|a| a.log).as_deref(), Ok(""), "{value}");
    }
    for name in ["FLT_MAX", "INT32_MAX", "std::max(a[0], a[1])"] {
        assert!(compile_kernel("", &format!("d[0] = {name};")).is_err(), "nvcc does not give {name}");
    }
}

#[test]
fn headers_may_redeclare_implicit_names() {
    let headers =
        ["limits.h", "math.h", "stdio.h", "stdlib.h", "string.h", "sys/types.h", "cmath", "utility", "time.h"];
    let includes: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
    let body = "d[0] = CHAR_MIN + INT_MAX + M_PI + HUGE_VALF + EOF + RAND_MAX + strlen(\"a\") + pow(2, 3) + NAN;
                float_t x = std::abs(f[0]); ssize_t y = 3; std::pair<int, u_int> p(1, 2); f[1] = x + y + p.first;";
    assert_eq!(compile_kernel(&includes, body).map(|a| a.log).as_deref(), Ok(""));
    let own = "__device__ int strlen(const char *s) { return 7; }\n__device__ int pow(int a, int b) { return a; }";
    assert_eq!(compile_kernel(own, "a[0] = strlen(\"\") + pow(1, 2);").map(|a| a.log).as_deref(), Ok(""));
    let toolkit = "#include <cuda/std/limits>\n#ifdef __GNUC__\n#define X 1\n#else\n#define X INT_MAX\n#endif";
    assert_eq!(
        compile_kernel(toolkit, "a[0] = X - cuda::std::numeric_limits<int>::max();").map(|a| a.log).as_deref(),
        Ok("")
    );
}

#[test]
fn conditionally_defined_macros_are_provided() {
    let source = "#ifdef _MSC_VER\n#define NAN 1\n#endif\n__global__ void k(float *a) { a[0] = NAN; }";
    assert_eq!(compile(source, &[]).map(|a| a.log).as_deref(), Ok(""));
}

#[test]
fn front_end_options_work_without_nvcc() {
    let source = "__global__ void k(int *a) { int unused; a[0] = 1; }";
    for options in
        [&["-e", "k"][..], &["--entries=k"], &["-src-in-ptx"], &["-shared"], &["-dlcm=cg"], &["-Werror", "reorder"]]
    {
        assert!(compile(source, options).unwrap().log.contains("177-D"), "{options:?}");
    }
    assert_eq!(compile(source, &["-Xcudafe", "--diag_suppress=177"]).unwrap().log, "");
    let error = compile(source, &["-Werror", "all-warnings"]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Source);
    assert!(error.log.contains("177-D") && error.message.contains("-Werror all-warnings"), "{error}");
    assert!(compile("__global__ void k(int *a) { a[0] = 1; }", &["-Werror", "all-warnings"]).is_ok());
}

#[test]
fn messages_are_short_however_long_the_source_is() {
    let line = format!("__global__ void k(int *a) {{ {} a[0] = wrong; }}", "a[0] += 1; ".repeat(100_000));
    let error = compile(&line, &[]).unwrap_err();
    let message = error.to_string();
    assert!(message.len() < 5000, "{} characters", message.len());
    assert!(message.contains("a[0] = wrong;") && message.contains("\"wrong\" is undefined"), "{message}");
    assert_eq!(&*error.source, line);
    assert!(error.log.len() > 1_000_000);
    let lines: String = (0..2000).map(|i| format!("int x{i} = wrong{i};\n")).collect();
    let error = compile(&lines, &[]).unwrap_err();
    assert!(error.to_string().len() < 30_000 && error.excerpt.contains("x0 = wrong0"), "{}", error.excerpt);
}
