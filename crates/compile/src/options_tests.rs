//! Tests of option translation, by option.

use super::*;

fn to_strings(options: &[&str]) -> Vec<String> {
    options.iter().map(|o| o.to_string()).collect()
}

fn nvrtc_options(options: &[&str]) -> Vec<String> {
    let translated = translate_options(&to_strings(options), BinaryKind::Cubin).unwrap();
    assert_eq!(translated.nvcc_only, None, "{options:?}");
    translated.nvrtc
}

fn nvcc_only_option(options: &[&str]) -> Option<String> {
    let mut translated = translate_options(&to_strings(options), BinaryKind::Cubin).unwrap();
    translated.ask_for_unknown(|option| option == "--known");
    translated.nvcc_only
}

fn option_error(options: &[&str]) -> String {
    translate_options(&to_strings(options), BinaryKind::Cubin).unwrap_err().message
}

#[test]
fn options_of_the_device_compiler_are_kept() {
    assert_eq!(nvrtc_options(&["-lineinfo"]), ["--generate-line-info"]);
    assert_eq!(nvrtc_options(&["-use_fast_math", "--use_fast_math"]), ["--use_fast_math"; 2]);
    for spelling in
        [&["-maxrregcount", "32"][..], &["-maxrregcount=32"], &["--maxrregcount 32"], &["--maxrregcount=32"]]
    {
        assert_eq!(nvrtc_options(spelling), ["--maxrregcount=32"]);
    }
    assert_eq!(nvrtc_options(&["-std=c++14"]), ["--std=c++14"]);
    assert_eq!(nvrtc_options(&["--std", "c++20"]), ["--std=c++20"]);
    assert_eq!(nvrtc_options(&["-Xptxas", "-v,-dlcm=cg"]), ["--ptxas-options=-v", "--ptxas-options=-dlcm=cg"]);
    assert_eq!(nvrtc_options(&["--ptxas-options=-O1"]), ["--ptxas-options=-O1"]);
    assert_eq!(
        nvrtc_options(&["-DA", "-D", "B=1", "-D C=2", "--define-macro=D=3", "-UA"]),
        ["--define-macro=A", "--define-macro=B=1", "--define-macro=C=2", "--define-macro=D=3", "--undefine-macro=A"]
    );
    assert_eq!(
        nvrtc_options(&["-rdc=true", "-ftz=true", "--fmad=false", "-G", "-w"]),
        ["--relocatable-device-code=true", "--ftz=true", "--fmad=false", "--device-debug", "--disable-warnings"]
    );
    assert_eq!(nvrtc_options(&["-diag-suppress", "177,550"]), ["--diag-suppress=177,550"]);
}

#[test]
fn options_without_meaning_are_dropped() {
    for option in [
        "-O3",
        "-O0",
        "--optimize=2",
        "-O 1",
        "-g",
        "-m64",
        "--expt-relaxed-constexpr",
        "-lcudadevrt",
        "-L/x",
        "",
        "  ",
    ] {
        assert!(nvrtc_options(&[option]).is_empty(), "{option}");
    }
    for pair in [["-Xcompiler", "-fPIC,-Wall"], ["-ccbin", "/usr/bin/g++"], ["--machine", "64"], ["-l", "m"]] {
        assert!(nvrtc_options(&pair).is_empty(), "{pair:?}");
    }
}

#[test]
fn options_of_nvcc_alone_are_translated_where_they_can_be() {
    for options in [&["-e", "k"][..], &["--entries=k"], &["-src-in-ptx"], &["-shared"], &["-Werror", "reorder"]] {
        assert!(nvrtc_options(options).is_empty(), "{options:?}");
    }
    assert_eq!(nvrtc_options(&["-dlcm=cg"]), ["--ptxas-options=-dlcm=cg"]);
    assert_eq!(nvrtc_options(&["-Xcudafe", "--diag_suppress=177"]), ["--diag-suppress=177"]);
    assert_eq!(
        nvrtc_options(&["-Xcudafe", "\"--diag_suppress=177,550,--diag_error=20,--display_error_number\""]),
        ["--diag-suppress=177", "--diag-suppress=550", "--diag-error=20", "--display-error-number"]
    );
    assert!(nvrtc_options(&["-Xcudafe", "--diag_suppress=set_but_not_used"]).is_empty());
    let strict =
        |options: &[&str]| translate_options(&to_strings(options), BinaryKind::Ptx).unwrap().warnings_are_errors;
    assert!(strict(&["-Werror", "all-warnings"]) && strict(&["-Werror=reorder,all-warnings"]));
    assert!(!strict(&["-Werror", "cross-execution-space-call"]));
}

#[test]
fn include_paths_and_forced_headers_are_collected() {
    let t = translate_options(
        &to_strings(&["-I/a", "-I", "/b", "--include-path=/c", "-isystem /d", "-include", "x.h"]),
        BinaryKind::Ptx,
    )
    .unwrap();
    assert_eq!(t.include_dirs, ["/a", "/b", "/c", "/d"].map(PathBuf::from));
    assert_eq!(t.forced_includes, ["x.h"]);
    assert!(t.nvrtc.is_empty());
}

#[test]
fn nvcc_only_options_are_recorded_by_name() {
    assert_eq!(nvcc_only_option(&["-O3", "--frobnicate"]).as_deref(), Some("--frobnicate"));
    assert_eq!(nvcc_only_option(&["--known", "-O3"]), None);
    assert_eq!(nvcc_only_option(&["--known", "--frobnicate"]).as_deref(), Some("--frobnicate"));
    assert_eq!(nvcc_only_option(&["-Xcompiler", "-DX=1"]).as_deref(), Some("-Xcompiler -DX=1"));
    assert_eq!(nvcc_only_option(&["-Xcudafe", "--frobnicate"]).as_deref(), Some("-Xcudafe --frobnicate"));
    assert_eq!(nvcc_only_option(&["file.cu"]).as_deref(), Some("file.cu"));
}

#[test]
fn contradictions_are_errors_that_name_the_option() {
    assert!(option_error(&["-maxrregcount"]).contains("-maxrregcount needs a value"));
    assert!(option_error(&["-m32"]).contains("-m32"));
    assert!(option_error(&["-arch=sm_banana"]).contains("sm_banana"));
    assert!(option_error(&["--ptx"]).contains("--ptx"));
    assert!(option_error(&["-lineinfo=3"]).contains("takes no value"));
}

#[test]
fn architectures_follow_options_before_the_device() {
    let choose = |options: &[&str], target: Target| {
        translate_options(&to_strings(options), target.kind)
            .unwrap()
            .choose_arch(target)
            .map(|a| a.map(|a| a.to_string()))
    };
    let h200 = Target::cubin_for_arch(Arch::new(9, 0));
    let ok = |text: &str| Ok(Some(text.to_owned()));
    assert_eq!(choose(&[], h200), ok("90"));
    assert_eq!(choose(&["-arch=sm_80"], h200), ok("80"));
    assert_eq!(choose(&["-arch=native"], h200), ok("90"));
    assert_eq!(choose(&["-arch", "sm_90a"], h200), ok("90a"));
    assert_eq!(
        choose(&["-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"], h200),
        ok("90")
    );
    assert_eq!(choose(&["-gencode", "arch=compute_80,code=compute_80"], h200), ok("90"));
    assert_eq!(choose(&["-gencode", "arch=compute_80,code=[sm_80,compute_80]"], h200), ok("90"));
    assert!(choose(&["-gencode", "arch=compute_80,code=sm_80"], h200).unwrap_err().message.contains("sm_80"));
    let virtual_gpu = Target::ptx_for_arch(Arch::new(8, 0));
    assert_eq!(
        choose(&["-gencode", "arch=compute_75,code=sm_75", "-gencode=arch=compute_90,code=sm_90"], virtual_gpu),
        ok("75")
    );
    assert_eq!(choose(&[], Target::new(BinaryKind::Cubin, None)), Ok(None));
}

#[test]
fn lto_is_recognized_and_keeps_code_generation_options() {
    let asked = |options: &[&str]| super::lto_options(&options.iter().map(|o| o.to_string()).collect::<Vec<_>>());
    assert_eq!(asked(&["-fmad=false"]), Ok(None));
    assert_eq!(asked(&["-fmad=false", "-dlto", "-DX"]), Ok(Some(vec!["-fma=0".to_owned()])));
    assert!(asked(&["-dlto", "-maxrregcount"]).unwrap_err().message.contains("-maxrregcount needs a value"));
}

#[test]
fn options_that_code_generation_needs_go_to_the_link() {
    let told = |given: &[&str]| linker_options(&given.iter().map(|o| o.to_string()).collect::<Vec<_>>());
    assert_eq!(told(&["--fmad=false", "--define-macro=X=true"]), ["-fma=0"]);
    assert_eq!(told(&["--use_fast_math"]), ["-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"]);
    assert_eq!(told(&["--maxrregcount=32", "--generate-line-info"]), ["-maxrregcount=32", "-lineinfo"]);
}
