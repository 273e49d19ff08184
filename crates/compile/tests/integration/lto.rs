//! Link-time optimisation: `-dlto` and LTO-IR. Needs NVRTC and nvJitLink, which `make` installs into `.venv`.

use crate::own_process::{is_child, rerun};
use rtcg_compile::{
    Arch, Artifact, BinaryKind, CachePolicy, CompileError, CompileRequest, Compiler, ErrorKind, Target,
};
use rtcg_cuda_sys::NvJitLinkTable;
use rtcg_cuda_sys::nvjitlink::{LinkInput, LinkSource, nvJitLinkInputType};

const AMPERE: Arch = Arch::new(8, 0);
const KERNEL_SOURCE: &str = "__device__ __noinline__ float third(float x) { return x / 3; }
                      __global__ void k(float *a, float *b) { *a = third(*b) * b[1] + b[2]; }";

fn compile(options: &[&str], target: Target) -> Result<Artifact, CompileError> {
    let options = options.iter().map(|o| o.to_string()).collect();
    Compiler.compile(&CompileRequest { options, cache: CachePolicy::Off, ..CompileRequest::new(KERNEL_SOURCE, target) })
}

fn artifact_text(artifact: &Artifact) -> String {
    String::from_utf8(artifact.bytes.to_vec()).unwrap()
}

#[test]
fn lto_programs_are_linked_to_the_requested_kind() {
    let ptx = compile(&["-dlto"], Target::ptx_for_arch(AMPERE)).unwrap();
    assert_eq!(ptx.kind, BinaryKind::Ptx);
    assert!(
        artifact_text(&ptx).contains(".entry k(") && artifact_text(&ptx).contains(".target sm_80"),
        "{}",
        artifact_text(&ptx)
    );
    assert!(!ptx.bytes.contains(&0));
    let cubin = compile(&["-dlto"], Target::cubin_for_arch(AMPERE)).unwrap();
    assert_eq!(cubin.kind, BinaryKind::Cubin);
    assert!(cubin.bytes.starts_with(b"\x7fELF"));
}

#[test]
fn lto_ir_is_a_compile_target() {
    for options in [&[][..], &["-dlto"]] {
        let artifact = compile(options, Target::ltoir_for_arch(AMPERE)).unwrap();
        assert_eq!(artifact.kind, BinaryKind::LtoIr);
        assert!(artifact.bytes.starts_with(b"\xedCN\x7f"), "{:?}", &artifact.bytes[..4]);
    }
}

#[test]
fn arithmetic_options_are_passed_to_the_link() {
    let plain = artifact_text(&compile(&["-dlto"], Target::ptx_for_arch(AMPERE)).unwrap());
    assert!(plain.contains("div.rn.f32") && plain.contains("fma.rn.f32"), "{plain}");
    let options = ["-dlto", "-prec-div=false", "-fmad=false"];
    let asked = artifact_text(&compile(&options, Target::ptx_for_arch(AMPERE)).unwrap());
    assert!(asked.contains("div.full.f32") && !asked.contains("fma.rn.f32"), "{asked}");
    assert!(asked.contains("compiled with -fmad=false"), "{asked}");
}

#[test]
fn lto_results_are_cached_separately() {
    let dir = std::env::temp_dir().join(format!("rtcg-lto-cache-{}", std::process::id()));
    let compile = |options: &[&str]| {
        let options = options.iter().map(|o| o.to_string()).collect();
        let request = CompileRequest::new(KERNEL_SOURCE, Target::ptx_for_arch(AMPERE));
        Compiler.compile(&CompileRequest { options, cache: CachePolicy::Dir(dir.clone()), ..request }).unwrap()
    };
    let first = compile(&["-dlto"]);
    let plain = compile(&[]);
    let again = compile(&["-dlto"]);
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!([&first, &plain, &again].map(|artifact| artifact.from_cache), [false, false, true]);
    assert_eq!(first.bytes, again.bytes);
}

#[test]
fn lto_is_not_delegated_to_nvcc() {
    let error = compile(&["-dlto", "-lib"], Target::ptx_for_arch(AMPERE)).unwrap_err();
    let missing = error.message.contains("nvcc was not found");
    assert!(missing || error.message.contains("option -dlto: link-time optimisation is done by NVRTC"), "{error}");
}

#[test]
fn without_the_library_the_error_names_its_wheel() {
    if is_child() {
        let error = compile(&["-dlto"], Target::ptx_for_arch(AMPERE)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::CompilerMissing);
        println!("{error}");
        return;
    }
    let output = rerun(module_path!(), "without_the_library_the_error_names_its_wheel")
        .env("RTCG_NVJITLINK", "none")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("(-dlto) needs nvJitLink: could not load nvJitLink"), "{text}");
    assert!(text.contains("RTCG_NVJITLINK=none: nvJitLink is switched off"), "{text}");
    assert!(text.contains("pip install nvidia-nvjitlink") && text.contains("nvidia-nvjitlink-cu12"), "{text}");
}

fn lto_input(bytes: &[u8]) -> LinkInput<'_> {
    let kind = nvJitLinkInputType::NVJITLINK_INPUT_LTOIR;
    LinkInput { kind, source: LinkSource::Bytes(bytes), name: "program" }
}

/// Two programs become one: the function of one is inlined into the kernel of the other.
#[test]
fn linked_programs_are_inlined_into_each_other() {
    let compile = |source: &str| {
        let request = CompileRequest::new(source, Target::ltoir_for_arch(AMPERE));
        Compiler.compile(&CompileRequest { cache: CachePolicy::Off, ..request }).unwrap().bytes
    };
    let images = [
        compile("__device__ float twice(float x) { return 2 * x; }"),
        compile("__device__ float twice(float); __global__ void k(float *a) { *a = twice(*a); }"),
    ];
    let link = |images: &[&[u8]]| {
        let inputs: Vec<LinkInput> = images.iter().map(|bytes| lto_input(bytes)).collect();
        let options = ["-lto", "-arch=sm_80", "-ptx"].map(str::to_owned);
        String::from_utf8(NvJitLinkTable::load().unwrap().link_inputs(&inputs, &options).unwrap().bytes).unwrap()
    };
    let alone = link(&[&images[1]]);
    assert!(alone.contains("call.uni") && alone.contains(".extern .func"), "{alone}");
    let both = link(&[&images[0], &images[1]]);
    assert!(both.contains(".entry k(") && !both.contains("call") && !both.contains(".func"), "{both}");
}
