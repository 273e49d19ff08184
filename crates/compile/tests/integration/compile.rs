//! Real compilations: headers, options, messages. Needs NVRTC and the header wheels, which
//! `make` installs into `.venv`.

use rtcg_compile::{
    Arch, Artifact, BinaryKind, CachePolicy, CompileError, CompileRequest, Compiler, ErrorKind, Target,
};

const PTX_TARGET: Target = Target::ptx_for_arch(Arch::new(8, 0));
const CUBIN_TARGET: Target = Target::cubin_for_arch(Arch::new(9, 0));

fn build_request(source: &str, target: Target) -> CompileRequest {
    CompileRequest { options: Vec::new(), cache: CachePolicy::Off, ..CompileRequest::new(source, target) }
}

fn compile(source: &str, target: Target) -> Result<Artifact, CompileError> {
    Compiler.compile(&build_request(source, target))
}

fn compile_with_options(source: &str, options: &[&str], target: Target) -> Result<Artifact, CompileError> {
    let options = options.iter().map(|o| o.to_string()).collect();
    Compiler.compile(&CompileRequest { options, ..build_request(source, target) })
}

fn artifact_text(artifact: &Artifact) -> String {
    String::from_utf8(artifact.bytes.to_vec()).unwrap()
}

const KERNEL_SOURCE: &str = "__global__ void k(float *a) { a[threadIdx.x] *= 2; }";

#[test]
fn ptx_and_cubin_hold_the_kernel_unmangled() {
    let ptx = artifact_text(&compile(KERNEL_SOURCE, PTX_TARGET).unwrap());
    assert!(ptx.contains(".entry k("), "{ptx}");
    assert!(ptx.contains(".target sm_80"), "{ptx}");
    let cubin = compile(KERNEL_SOURCE, CUBIN_TARGET).unwrap();
    assert_eq!(cubin.kind, BinaryKind::Cubin);
    assert!(cubin.bytes.starts_with(b"\x7fELF"));
    let request = CompileRequest { no_extern_c: true, ..build_request(KERNEL_SOURCE, PTX_TARGET) };
    assert!(artifact_text(&Compiler.compile(&request).unwrap()).contains(".entry _Z1kPf("));
}

#[test]
fn a_cubin_without_an_architecture_is_compiled() {
    let artifact = compile(KERNEL_SOURCE, Target::new(BinaryKind::Cubin, None)).unwrap();
    assert!(artifact.bytes.starts_with(b"\x7fELF"));
}

/// Every header this project promises, each with a kernel that uses what it declares.
const HEADERS_WITH_TEST_BODIES: &[(&str, &str)] = &[
    ("stdio.h", "printf(\"%d\\n\", (int)a[0]);"),
    ("cstdio", "printf(\"%d\\n\", (int)a[0]);"),
    ("stdlib.h", "void *p = malloc(16); a[0] = p != NULL; free(p);"),
    ("cstdlib", "a[0] = std::abs(-3);"),
    ("string.h", "memcpy(a, a + 4, 16); memset(a, 0, 4); a[0] = strcmp(\"a\", \"b\") + strlen(\"abc\");"),
    ("cstring", "std::memcpy(a, a + 4, 16);"),
    ("math.h", "a[0] = sqrt(a[1]) + M_PI + M_SQRT2 + INFINITY; if (isnan(a[2])) a[3] = NAN;"),
    ("cmath", "a[0] = std::sqrt(a[1]) + std::pow(a[1], 2.0f) + std::fmax(a[1], a[2]); a[1] = std::isfinite(a[0]);"),
    ("stdint.h", "uint8_t b = 255; int64_t c = INT64_MAX; a[0] = b + c + sizeof(uintptr_t); a[1] = UINT32_MAX;"),
    ("cstdint", "std::uint32_t b = 1; a[0] = b << 3;"),
    ("inttypes.h", "printf(\"%\" PRIu64, (uint64_t)a[0]);"),
    ("stddef.h", "size_t n = 3; ptrdiff_t d = -1; a[0] = n + d;"),
    ("cstddef", "std::size_t n = 3; a[0] = n;"),
    ("limits.h", "a[0] = INT_MAX; a[1] = UINT_MAX; a[2] = CHAR_BIT; a[3] = LLONG_MIN;"),
    ("climits", "a[0] = INT_MIN;"),
    ("float.h", "a[0] = FLT_MAX + FLT_EPSILON; a[1] = DBL_EPSILON;"),
    ("cfloat", "a[0] = FLT_MIN;"),
    ("assert.h", "assert(a[0] > 0);"),
    ("cassert", "assert(a[0] > 0);"),
    ("stdbool.h", "bool b = true; a[0] = b;"),
    ("time.h", "clock_t t = clock(); a[0] = t;"),
    ("sys/types.h", "u_int x = 1; ulong y = 2; a[0] = x + y;"),
    ("new", "int *p = new int(3); a[0] = *p; delete p;"),
    ("iostream", "a[0] = 1;"),
    ("type_traits", "a[0] = std::is_same<int, std::remove_cv<const int>::type>::value;"),
    (
        "limits",
        "a[0] = std::numeric_limits<float>::max(); a[1] = std::numeric_limits<int>::min(); a[2] = std::numeric_limits<double>::infinity();",
    ),
    ("utility", "float x = 1, y = 2; std::swap(x, y); a[0] = std::move(x);"),
    ("algorithm", "a[0] = std::min(a[1], a[2]) + std::max(1, 2);"),
    ("functional", "a[0] = std::plus<float>()(a[1], a[2]);"),
    ("cuda.h", "a[0] = CUDA_VERSION / 1000;"),
    ("cuda_runtime.h", "float4 v = make_float4(1, 2, 3, 4); a[0] = v.w;"),
    ("device_launch_parameters.h", "a[threadIdx.x] = blockDim.x;"),
    ("vector_types.h", "float2 v = {1, 2}; a[0] = v.y;"),
    ("math_constants.h", "a[0] = CUDART_PI_F; a[1] = CUDART_INF;"),
    ("cuComplex.h", "cuFloatComplex z = make_cuFloatComplex(a[0], a[1]); z = cuCmulf(z, z); a[0] = cuCrealf(z);"),
    ("cuda_fp16.h", "__half h = __float2half(a[0]); h = h * h; a[0] = __half2float(h);"),
    ("cuda_bf16.h", "__nv_bfloat16 h = __float2bfloat16(a[0]); a[0] = __bfloat162float(h + h);"),
    ("cooperative_groups.h", "auto g = cooperative_groups::this_thread_block(); g.sync(); a[0] = g.size();"),
    (
        "curand_kernel.h",
        "curandStatePhilox4_32_10_t s; curand_init(1, 2, 3, &s); a[0] = curand_uniform(&s) + curand_normal(&s);",
    ),
    (
        "mma.h",
        "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; nvcuda::wmma::fill_fragment(f, 0.0f); a[0] = f.x[0];",
    ),
    ("cuda/std/complex", "cuda::std::complex<float> z(a[0], a[1]); a[0] = (z * z).real();"),
    (
        "cub/block/block_reduce.cuh",
        "typedef cub::BlockReduce<float, 128> R; __shared__ R::TempStorage t; a[0] = R(t).Sum(a[threadIdx.x]);",
    ),
    ("pycuda-complex.hpp", "pycuda::complex<float> z(a[0], a[1]); z = exp(z) * conj(z) / 2; a[0] = abs(z);"),
    ("pycuda-helpers.hpp", "fp_tex_double v = make_int2(1, 2); a[0] = v.x;"),
];

fn compile_each_header(target: Target) {
    let mut failures = Vec::new();
    for (header, body) in HEADERS_WITH_TEST_BODIES {
        for no_extern_c in [false, true] {
            // One linkage is enough for the slow headers.
            if no_extern_c && target == CUBIN_TARGET {
                continue;
            }
            let source = format!("#include <{header}>\n__global__ void k(float *a) {{ {body} }}\n");
            match Compiler.compile(&CompileRequest { no_extern_c, ..build_request(&source, target) }) {
                Ok(artifact) if artifact.log.is_empty() => {}
                Ok(artifact) => failures.push(format!("<{header}> printed: {}", artifact.log)),
                Err(error) => failures.push(format!("<{header}> no_extern_c={no_extern_c}: {error}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_promised_header_compiles_to_ptx() {
    compile_each_header(PTX_TARGET);
}

#[test]
fn every_promised_header_compiles_to_a_cubin() {
    compile_each_header(CUBIN_TARGET);
}

#[test]
fn all_headers_compile_together() {
    let includes: String = HEADERS_WITH_TEST_BODIES.iter().map(|(h, _)| format!("#include <{h}>\n")).collect();
    let artifact = compile(&format!("{includes}{KERNEL_SOURCE}"), PTX_TARGET).unwrap();
    assert_eq!(artifact.log, "");
}

/// Headers that are of no use below a standard, with what NVRTC says there. The toolkit's own Thrust has the same
/// demand: its complex numbers are those of `cuda::std`, which since CCCL 3 are C++17.
const HEADERS_THAT_NEED_CPP17: [(&str, &str); 1] = [("thrust/complex.h", "requires at least C++ 17")];

#[test]
fn every_provided_header_compiles_in_every_dialect() {
    for header in rtcg_compile::provided_headers() {
        for standard in ["c++11", "c++14", "c++17", "c++20"] {
            let source = format!("#include <{header}>\n{KERNEL_SOURCE}");
            let result = compile_with_options(&source, &[&format!("-std={standard}")], PTX_TARGET);
            let refusal = HEADERS_THAT_NEED_CPP17.iter().find(|(name, _)| *name == header && standard < "c++17");
            if let Some((_, message)) = refusal {
                let error = result.err().unwrap_or_else(|| panic!("<{header}> compiles as {standard}")).to_string();
                assert!(error.contains(message), "<{header}> as {standard}: {error}");
                continue;
            }
            let log = result.map(|a| a.log).unwrap_or_else(|e| e.to_string());
            assert_eq!(log, "", "<{header}> as {standard}");
        }
    }
}

#[test]
fn names_nvcc_declares_need_no_include() {
    let source = "
        typedef unsigned char byte;
        __constant__ float table[4];
        __device__ inline float twice(float x) { return 2 * x; }
        __global__ void k(uint *a, const uint8_t *b, ulong n, size_t m) {
            uint i = threadIdx.x; int64_t w = 1; byte c = 2;
            if (i < n) a[i] = min(3, 4) + max(1u, 2u) + abs(-1) + c + w;
            assert(a != NULL);
            printf(\"%f\", M_PI);
            a[0] = twice(table[0]) < INFINITY;
        }";
    assert_eq!(compile(source, PTX_TARGET).unwrap().log, "");
    let own = "typedef unsigned long uint64_t; typedef unsigned uint;\n#define M_PI 3.0\n__global__ void k(uint64_t *a, uint b) { *a = b * M_PI; }";
    assert_eq!(compile(own, PTX_TARGET).unwrap().log, "");
}

#[test]
fn unmarked_functions_are_device_functions() {
    let source = "float half_of(float x) { return x / 2; }\n__global__ void k(float *a) { *a = half_of(*a); }";
    compile(source, PTX_TARGET).unwrap();
}

#[test]
fn options_reach_the_compiler() {
    let source = "__global__ void k(float *a) { a[0] = sinf(a[1]) / a[2] + VALUE; }";
    let ptx = |options: &[&str]| artifact_text(&compile_with_options(source, options, PTX_TARGET).unwrap());
    assert!(ptx(&["-DVALUE=1"]).contains("div.rn.f32"));
    let fast = ptx(&["-D", "VALUE=1", "-use_fast_math", "-O3"]);
    assert!(fast.contains("sin.approx.ftz.f32") && !fast.contains("div.rn.f32"), "{fast}");
    let lines = ptx(&["-DVALUE=1", "-lineinfo"]);
    assert!(lines.contains(".loc\t1 1 "), "{lines}");
    assert!(lines.contains("kernel.cu"), "{lines}");
    assert!(ptx(&["-DVALUE=1", "-arch=sm_75"]).contains(".target sm_75"));
    compile_with_options(
        source,
        &["-DVALUE=1", "-Xptxas", "-v,-dlcm=cg", "-maxrregcount", "32", "-std=c++20", "-rdc=true"],
        CUBIN_TARGET,
    )
    .unwrap();
    compile_with_options(source, &["-DVALUE=1", "-G", "-g", "--expt-relaxed-constexpr"], CUBIN_TARGET).unwrap();
}

#[test]
fn unknown_options_are_reported() {
    // No nvcc is on the path of this test.
    let error = compile_with_options(KERNEL_SOURCE, &["--frobnicate"], PTX_TARGET).unwrap_err();
    if error.kind == ErrorKind::Option {
        assert!(error.message.contains("--frobnicate"), "{error}");
    } else {
        assert!(error.to_string().contains("frobnicate"), "{error}");
    }
    let error = compile_with_options(KERNEL_SOURCE, &["-std=c++1000"], PTX_TARGET).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Option);
    assert!(error.to_string().contains("std"), "{error}");
}

#[test]
fn errors_show_log_options_and_numbered_lines() {
    let source = "// one\n#include <math.h>\n__global__ void k(float *a)\n{\n    a[0] = undefined_name;\n}\n";
    let error = compile_with_options(source, &["-lineinfo"], PTX_TARGET).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Source);
    assert!(error.log.contains("kernel.cu(5): error"), "{error}");
    assert!(error.command_line.iter().any(|o| o == "--generate-line-info"), "{error}");
    assert!(error.excerpt.contains("> 5 |     a[0] = undefined_name;"), "{error}");
    assert!(error.excerpt.contains("  4 | {"), "{error}");
}

#[test]
fn a_missing_header_gets_a_hint() {
    let error = compile("#include <no_such_header.h>\n", PTX_TARGET).unwrap_err();
    assert!(error.message.contains("no_such_header.h") && error.message.contains("include_dirs"), "{error}");
}

#[test]
fn old_architectures_fail_and_newer_ones_get_ptx() {
    let error = compile(KERNEL_SOURCE, Target::cubin_for_arch(Arch::new(3, 5))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("sm_35"), "{error}");
    let newer = compile(KERNEL_SOURCE, Target::cubin_for_arch(Arch::new(99, 0))).unwrap();
    assert_eq!(newer.kind, BinaryKind::Ptx);
}

#[test]
fn name_expressions_return_mangled_names() {
    let source = "template <class T> __global__ void fill(T *a, T x) { a[threadIdx.x] = x; }";
    let request = CompileRequest {
        no_extern_c: true,
        name_expressions: vec!["fill<float>".to_owned(), "fill<int>".to_owned()],
        ..build_request(source, PTX_TARGET)
    };
    let artifact = Compiler.compile(&request).unwrap();
    assert_eq!(artifact.lowered_names.len(), 2);
    for (expression, name) in &artifact.lowered_names {
        assert!(artifact_text(&artifact).contains(&format!(".entry {name}(")), "{expression}");
    }
    let bad = CompileRequest { name_expressions: vec!["nothing<int>".to_owned()], ..request };
    assert!(Compiler.compile(&bad).unwrap_err().to_string().contains("nothing<int>"));
}

#[test]
fn templates_inside_extern_c_get_a_hint() {
    let error = compile("template <class T> __device__ T f(T x) { return x; }\n", PTX_TARGET).unwrap_err();
    assert!(error.message.contains("no_extern_c"), "{error}");
}

#[test]
fn complex_arithmetic_and_functions_compile() {
    let source = "
        #include <pycuda-complex.hpp>
        typedef pycuda::complex<float> cf;
        typedef pycuda::complex<double> cd;
        __global__ void k(cf *a, cd *b, cf s, float f, volatile cf *v) {
            cf x = a[0]; cd y = b[0];
            x += f; x *= s; x /= 2; x -= cf(1, 2); y = x; y *= x; y = y * x + x * y; x = cf(y);
            x = x * 2 + 2 * x - x / 3 + 1.5; x = f * x + x * f; x = -x; x = +x;
            a[1] = x == s ? x : s; if (x != f && 1.0f != x) a[2] = x;
            v[0] = v[1] + v[2]; v[0] = v[1] * v[2]; v[0] += v[3]; v[0] = x; cf q = v[0]; x = v[1]; v[2] = 1.0f;
            v[0] = v[1] - v[2]; v[0] = v[1] / v[2]; v[0] = v[1] * 2.0f; v[0] = f + v[1]; v[0] *= v[1]; v[3] = v[0] + x * x;
            a[3] = pow(x, 2) + pow(x, -3) + pow(x, 2.5) + pow(x, f) + pow(2.0f, x) + pow(x, q) + pow(f, x);
            b[1] = pow(y, 2) + pow(y, 2.5f) + pow(2.0, y);
            a[4] = sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + tanh(x) + exp(x) + log(x) + log10(x) + sqrt(x);
            a[5] = asin(x) + acos(x) + atan(x) + asinh(x) + acosh(x) + atanh(x) + conj(x) + pycuda::polar(f, f);
            a[6] = real(x) + imag(x) + abs(x) + arg(x) + norm(x) + x.real() + x.imag(); x.real(3); x.imag(4);
            a[7] = pycuda::conj(v[3]); a[8] = 0; a[9] = pycuda::abs(v[1]); a[10] = f; a[11] = (cf)y;
            cf z(2); z = 3; cf w = 4; a[12] = z + w; y = y + 1; y = 2 * y; y += 1; a[13] = x.real() > 0 ? x : cf(0);
        }";
    for target in [PTX_TARGET, CUBIN_TARGET] {
        for standard in ["-std=c++11", "-std=c++17", "-std=c++20"] {
            assert_eq!(compile_with_options(source, &[standard], target).unwrap().log, "", "{standard}");
        }
    }
}

#[test]
fn threads_compile_concurrently() {
    let threads: Vec<_> = (0..8)
        .map(|i| {
            std::thread::spawn(move || {
                artifact_text(&compile(&KERNEL_SOURCE.replace(" k(", &format!(" k{i}(")), PTX_TARGET).unwrap())
            })
        })
        .collect();
    for (i, thread) in threads.into_iter().enumerate() {
        assert!(thread.join().unwrap().contains(&format!(".entry k{i}(")));
    }
}
