//! Random PTX programs compiled in every way give what the oracle gives; mutated modules are
//! refused or compiled, never a panic. `make fuzz` does the same for longer.

use crate::depth::at_depth;
use crate::fuzz_support::{check_variant, find_mismatch, launch_variants, mutants};
use rtcg_oracle::{GenerationTarget, Random, TestProgram, generate_program};

/// Ways in which each of them is compiled.
const VARIANTS_PER_PROGRAM: usize = 3;

#[test]
fn random_programs_agree_with_the_oracle() {
    let mut random = Random::new(1);
    for seed in 0..at_depth(40, 120) {
        let capability = if seed % 2 == 0 { 80 } else { 90 };
        let program = generate_program(seed, GenerationTarget { capability, real: false });
        let mut ways = launch_variants(program.block);
        while ways.len() > VARIANTS_PER_PROGRAM {
            ways.remove(random.next_below(ways.len()));
        }
        match find_mismatch(&program, &ways) {
            Ok(None) => {}
            Ok(Some((variant, what))) => panic!("seed {seed}: {what}\n{variant:?}"),
            Err(e) => panic!("seed {seed} is not well-formed: {e}"),
        }
    }
}

/// Programs that once went wrong, made small by the fuzzer.
fn load_fuzz_findings() -> Vec<(String, TestProgram)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/finds");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("kernel-")));
    files.sort();
    let read =
        |path: &std::path::PathBuf| TestProgram::from_annotated_ptx(&std::fs::read_to_string(path).unwrap()).unwrap();
    files.iter().map(|p| (p.display().to_string(), read(p))).collect()
}

#[test]
fn earlier_finds_stay_right() {
    for (name, program) in load_fuzz_findings() {
        if let Some((variant, what)) = find_mismatch(&program, &launch_variants(program.block)).unwrap() {
            panic!("{name}: {what}\n{variant:?}");
        }
    }
}

/// A program with another input has other results: the comparison sees them.
#[test]
fn a_wrong_result_is_noticed() {
    let program = generate_program(7, GenerationTarget { capability: 80, real: false });
    let mut expected = program.expected_buffers().unwrap();
    let way = launch_variants(program.block)[0];
    assert_eq!(check_variant(&program, &expected, way), Ok(()));
    let last = expected[1].bytes.len() - 1;
    expected[1].bytes[last] ^= 1;
    assert!(check_variant(&program, &expected, way).is_err());
}

/// What surfaces hold in the end is compared.
#[test]
fn a_wrong_texel_is_noticed() {
    let mut programs = (0..100).map(|seed| generate_program(seed, GenerationTarget { capability: 80, real: false }));
    let program = programs.find(|p| p.objects.first().is_some_and(|o| o.sampler.is_none())).unwrap();
    let mut expected = program.expected_buffers().unwrap();
    let way = launch_variants(program.block)[0];
    assert_eq!(check_variant(&program, &expected, way), Ok(()));
    expected[4].bytes[0] ^= 1;
    assert!(check_variant(&program, &expected, way).unwrap_err().contains("texels of object 0"));
}

#[test]
fn mutated_modules_never_panic() {
    let mut mutator = crate::common::mutate::Mutator::new(&crate::common::load_corpus(), 3);
    let good = (0..at_depth(100, 300)).filter(|_| mutants::load_and_compile(&mutator.next_mutated_module())).count();
    assert!(good > 6, "only {good} of the mutants are programs");
}
