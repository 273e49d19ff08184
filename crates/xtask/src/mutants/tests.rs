use super::check::{Check, filter_in};
use super::fault::parse;

const PATCH: &str = "\
Breaks: nothing.
caught-by: cargo -p rtcg-vgpu --test jit_lanes masks
caught-by: pytest tests/python/test_x.py::test_y -k z
may-hang: yes

--- a/crates/vgpu/src/x.rs
+++ b/crates/vgpu/src/x.rs
@@ -1 +1 @@
-a
+caught-by: b
";

#[test]
fn a_patch_says_its_crate_and_its_tests() {
    let fault = parse("x".into(), "x.patch".into(), PATCH).expect("well formed");
    assert_eq!((fault.krate.as_str(), fault.may_hang), ("vgpu", true));
    let lines: Vec<_> = fault.checks.iter().map(|c| c.line.as_str()).collect();
    assert_eq!(lines, ["cargo -p rtcg-vgpu --test jit_lanes masks", "pytest tests/python/test_x.py::test_y -k z"]);
}

#[test]
fn a_patch_without_tests_or_with_an_odd_line_is_refused() {
    let refused = |text: &str| parse("x".into(), "x.patch".into(), text).err();
    assert!(refused(&PATCH.replace("\ncaught-by", "\n#")).is_some());
    assert!(refused(&PATCH.replace("Breaks", "Does")).is_some());
    assert!(refused(&PATCH.replace("b/crates/", "b/docs/")).is_some());
    assert!(Check::parse("cargo -p rtcg-vgpu jit_lanes").is_err());
}

#[test]
fn a_file_of_tests_is_a_program_or_a_module_of_one() {
    let folder = std::env::temp_dir().join(format!("rtcg-xtask-programs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("all")).expect("a temporary folder");
    std::fs::write(folder.join("all/main.rs"), "mod support;\nmod jit_lanes;\n").expect("a temporary file");
    std::fs::write(folder.join("alone.rs"), "").expect("a temporary file");
    assert_eq!(filter_in(&folder, "jit_lanes", "f"), ("all".into(), "jit_lanes::f".into()));
    assert_eq!(filter_in(&folder, "alone", "f"), ("alone".into(), "f".into()));
    assert_eq!(filter_in(&folder, "all", "f"), ("all".into(), "f".into()));
    std::fs::remove_dir_all(&folder).expect("it is there");
}
